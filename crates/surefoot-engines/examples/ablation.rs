//! Verifies a task by IC3 with some of its improvements switched off; the Rust side of `bench/ic3-ablation`.
//!
//! ```text
//! ablation MODEL --policy FILE [--property FILE] [--property INDEX] [--const NAME=VALUE,…] [--filter on|off]
//!     [--goal ignore|terminal] [--out-of-domain error|block] [--time-limit SECONDS] [--memory-limit BYTES] [--options NAME=VALUE,…]
//! ```
//!
//! prints the verdict and some figures as JSON. Arguments about the task are those of `surefoot verify`. The options are those of
//! [`Options`], more than the command line has.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use surefoot_engines::ic3::{Options, Reasons, verify};
use surefoot_engines::{Control, Goal, OutOfDomain, Semantics, Task, Verdict};
use surefoot_model::jani::{self, LoadedProperty};
use surefoot_policy::Arithmetic;

/// What is asked for.
struct Arguments {
    model: PathBuf,
    property_file: Option<PathBuf>,
    index: Option<usize>,
    policy: PathBuf,
    constants: Vec<(String, String)>,
    semantics: Semantics,
    seconds: Option<u64>,
    memory_limit: Option<u64>,
    options: Options,
}

fn main() {
    let arguments = arguments();
    let task = task(&arguments);
    let deadline = arguments.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let control = Control { deadline, memory_limit: arguments.memory_limit, ..Control::unlimited() };
    let proof = verify(&task, arguments.options, &control).expect("the task suits the engine");
    let verdict = match proof.outcome.verdict {
        Verdict::Safe => "SAFE",
        Verdict::Unsafe(_) => "UNSAFE",
        Verdict::Unknown(_) => "UNKNOWN",
    };
    let regions = proof.certificate.map_or(0, |certificate| certificate.regions.len());
    let (depth, reasons) = (proof.statistics.depth, proof.statistics.reasons);
    println!(r#"{{"verdict": "{verdict}", "depth": {depth}, "reasons": {reasons}, "regions": {regions}}}"#);
}

fn arguments() -> Arguments {
    let mut words = std::env::args().skip(1);
    let mut arguments = Arguments {
        model: words.next().expect("a model").into(),
        property_file: None,
        index: None,
        policy: PathBuf::new(),
        constants: Vec::new(),
        semantics: Semantics {
            filter: false,
            goal: Goal::Ignore,
            out_of_domain: OutOfDomain::Error,
            arithmetic: Arithmetic::F64,
        },
        seconds: None,
        memory_limit: None,
        options: Options::default(),
    };
    while let Some(name) = words.next() {
        let value = words.next().expect("a value");
        let number = || value.parse().expect("a number");
        match name.as_str() {
            "--property" => match value.parse() {
                Ok(index) => arguments.index = Some(index),
                Err(_) => arguments.property_file = Some(value.into()),
            },
            "--policy" => arguments.policy = value.into(),
            "--const" => arguments.constants.extend(pairs(&value)),
            "--filter" => arguments.semantics.filter = value == "on",
            "--goal" if value == "terminal" => arguments.semantics.goal = Goal::Terminal,
            "--goal" if value == "ignore" => {}
            "--out-of-domain" if value == "block" => arguments.semantics.out_of_domain = OutOfDomain::Block,
            "--out-of-domain" if value == "error" => {}
            "--time-limit" => arguments.seconds = Some(number()),
            "--memory-limit" => arguments.memory_limit = Some(number()),
            "--options" => pairs(&value).for_each(|pair| set(&mut arguments.options, pair)),
            _ => panic!("`{name} {value}` means nothing here"),
        }
    }
    arguments
}

/// `a=1,b=2`.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pair = |text: &str| text.split_once('=').map(|(name, value)| (name.into(), value.into()));
    text.split(',').filter(|text| !text.is_empty()).map(move |text| pair(text).expect("NAME=VALUE"))
}

fn set(options: &mut Options, (name, value): (String, String)) {
    let number = || value.parse().expect("a number");
    let switch = || value.parse().expect("`true` or `false`");
    match name.as_str() {
        "paper" if value == "true" => *options = Options::paper(),
        "reasons" if value == "assignment" => options.reasons = Reasons::Assignment,
        "reasons" if value == "box" => options.reasons = Reasons::Box,
        "generalize" => options.generalize = switch(),
        "reschedule" => options.reschedule = switch(),
        "samples" => options.samples = number(),
        "list" => options.list = number(),
        "growth" => options.growth = number(),
        "splits" => options.splits = number(),
        "cores" => options.cores = number(),
        "trials" => options.trials = number(),
        "relative" => options.relative = switch(),
        "push" => options.push = switch(),
        "laws" => options.laws = switch(),
        _ => panic!("there is no option `{name}={value}`"),
    }
}

fn task(arguments: &Arguments) -> Task {
    let options =
        jani::ReadOptions { constants: arguments.constants.clone(), ..jani::ReadOptions::default() };
    let loaded = jani::read(&arguments.model, arguments.property_file.as_deref(), &options);
    let mut loaded = loaded.expect("a model");
    let file: &Path = arguments.property_file.as_ref().unwrap_or(&arguments.model);
    let is_candidate = |property: &&LoadedProperty| property.file == file && property.operator == "PA";
    let chosen = match arguments.index {
        Some(index) => &loaded.properties[index],
        None => loaded.properties.iter().find(is_candidate).expect("a PA property"),
    };
    let property = chosen.question.clone().expect("a question");
    let mut warnings = Vec::new();
    let policy = surefoot_policy::read(&arguments.policy, &loaded.system, &mut loaded.sources, &mut warnings);
    let mut policy = policy.expect("a policy");
    policy.filter = arguments.semantics.filter;
    Task { system: loaded.system, property, policy: Some(policy), semantics: arguments.semantics }
}

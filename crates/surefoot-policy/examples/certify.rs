//! Makes sets of questions about random policies and answers them; the Rust side of `bench/certify`.
//!
//! ```text
//! certify make DIR [--queries N]         writes a folder per set: model, policy, interface, queries.json
//! certify run DIR/SET [--arithmetic A] [--boxes N] [--limit N] [--seconds S]   prints answers and times as JSON
//! ```
//!
//! A question frees some variables of a random state to their whole domain and asks for one label; each box is asked
//! for every label. Sparse networks have no file: both commands make them from the name of the set.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use surefoot_model::domains::blocksworld::{self, Parameters};
use surefoot_model::domains::policy::{
    EnsembleShape, Interface, PolicyFiles, random_ensemble, random_network,
};
use surefoot_model::domains::{Generated, InputVariable};
use surefoot_model::jani;
use surefoot_model::json::{Document, Json};
use surefoot_model::{LabelId, VarId};
use surefoot_policy::certify::{Budget, Certifier, OutputSet, Possibility, Question};
use surefoot_policy::{Activation, Arithmetic, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

/// Random numbers without a dependency (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

enum Kind {
    Network(&'static [usize]),
    Ensemble(EnsembleShape),
    /// Hidden layers of this size.
    Sparse {
        layers: usize,
        neurons: usize,
    },
}

/// Shape of the sparse networks besides their hidden layers: inputs over 0 to 7, and labels.
const SPARSE_INPUTS: usize = 60;
const SPARSE_LABELS: usize = 12;

fn sets() -> Vec<(&'static str, usize, Kind)> {
    let ensemble = |trees, depth, boosted| Kind::Ensemble(EnsembleShape { trees, depth, boosted });
    vec![
        ("2x16", 4, Kind::Network(&[16, 16])),
        ("2x32", 6, Kind::Network(&[32, 32])),
        ("2x64", 6, Kind::Network(&[64, 64])),
        ("2x256", 6, Kind::Network(&[256, 256])),
        ("4x512", 6, Kind::Network(&[512, 512, 512, 512])),
        ("sparse-8k", 0, Kind::Sparse { layers: 4, neurons: 2000 }),
        ("sparse-34k", 0, Kind::Sparse { layers: 4, neurons: 8500 }),
        ("forest-5x4", 6, ensemble(5, 4, false)),
        ("forest-30x6", 6, ensemble(30, 6, false)),
        ("forest-30x10", 6, ensemble(30, 10, false)),
        ("boosted-30x6", 6, ensemble(30, 6, true)),
        ("boosted-30x10", 6, ensemble(30, 10, true)),
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(place + 1).expect("an option has a value").as_str())
    };
    let number = |name: &str| option(name).map(|value| value.parse().expect("a number"));
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder, ..] => make(Path::new(folder), number("--queries").unwrap_or(300)),
        ["run", folder, ..] => {
            let arithmetic = option("--arithmetic").unwrap_or("f64").parse().expect("an arithmetic");
            let limits = Limits {
                boxes: number("--boxes").map_or(u64::MAX, |boxes| boxes as u64),
                seconds: number("--seconds").unwrap_or(10) as u64,
                queries: number("--limit").unwrap_or(usize::MAX),
            };
            run(Path::new(folder), arithmetic, &limits);
        }
        _ => panic!("usage: certify make DIR | certify run DIR/SET"),
    }
}

fn make(folder: &Path, queries: usize) {
    for (seed, (name, blocks, kind)) in sets().into_iter().enumerate() {
        if let Kind::Sparse { .. } = kind {
            let variable = |index| InputVariable { name: format!("x{index}"), lower: 0, upper: 7 };
            let variables: Vec<_> = (0..SPARSE_INPUTS).map(variable).collect();
            let questions =
                questions(&variables, SPARSE_LABELS, queries.min(10 * SPARSE_LABELS), seed as u64);
            write_queries(&folder.join(name), name, "sparse network", "random sparse network", &questions);
            continue;
        }
        let parameters = Parameters { blocks, table_limit: blocks - 1, ..Parameters::default() };
        let generated = blocksworld::generate(&parameters).expect("valid parameters");
        let interface = Interface::of(&generated, "policy");
        let (kind, files) = match kind {
            Kind::Network(hidden) => ("network", random_network(&interface, hidden, seed as u64)),
            Kind::Ensemble(shape) => ("ensemble", random_ensemble(&interface, shape, seed as u64)),
            Kind::Sparse { .. } => continue,
        };
        let folder = folder.join(name);
        fs::create_dir_all(&folder).expect("a folder");
        write_files(&folder, &generated, &files.expect("valid parameters"));
        let questions = questions(&generated.variables, generated.labels.len(), queries, seed as u64);
        let description = format!("random policy on blocksworld with {blocks} blocks");
        write_queries(&folder, name, kind, &description, &questions);
    }
}

fn write_queries(folder: &Path, name: &str, kind: &str, description: &str, questions: &str) {
    fs::create_dir_all(folder).expect("a folder");
    let text = format!(
        "{{\"name\": \"{name}\", \"kind\": \"{kind}\", \"description\": \"{description}\", \
         \"queries\": [\n{questions}\n]}}\n"
    );
    fs::write(folder.join("queries.json"), text).expect("a file");
}

/// A network whose neurons read eight random values of the layer before each.
fn sparse_network(layers: usize, neurons: usize) -> Policy {
    let mut random = Random(7);
    let mut sizes = vec![SPARSE_INPUTS];
    sizes.extend(std::iter::repeat_n(neurons, layers));
    sizes.push(SPARSE_LABELS);
    let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
        let activation = if index + 2 == sizes.len() { Activation::Identity } else { Activation::Relu };
        let mut number = || Parameter::from(random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0);
        let biases = (0..pair[1]).map(|_| number()).collect();
        let rows = (0..pair[1]).map(|_| {
            let terms = if index + 2 == sizes.len() { neurons / 8 } else { 8 };
            let mut row: Vec<(u32, Parameter)> =
                (0..terms).map(|_| (random.below(pair[0]) as u32, Parameter::from(0.0))).collect();
            row.sort_by_key(|entry| entry.0);
            row.dedup_by_key(|entry| entry.0);
            for entry in &mut row {
                entry.1 = Parameter::from(random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0);
            }
            row
        });
        let rows = rows.collect();
        Layer::sparse(pair[0], rows, biases, activation).expect("well formed")
    });
    let network = Network::new(layers.collect()).expect("layers fit");
    let inputs = (0..SPARSE_INPUTS).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    let labels = (0..SPARSE_LABELS).map(|label| LabelId(label as u32)).collect();
    Policy::new(inputs, labels, false, Scorer::Network(network)).expect("sizes agree")
}

fn write_files(folder: &Path, generated: &Generated, files: &PolicyFiles) {
    fs::write(folder.join("model.jani"), &generated.files[0].contents).expect("a file");
    let extension = Path::new(&files.policy.name).extension().expect("it has one");
    let name = Path::new("policy").with_extension(extension);
    let name = name.to_str().expect("plain letters");
    fs::write(folder.join(name), &files.policy.contents).expect("a file");
    let interface = files.interface.contents.replace(&files.policy.name, name);
    fs::write(folder.join("interface.json"), interface).expect("a file");
}

fn questions(variables: &[InputVariable], labels: usize, count: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut lines = Vec::new();
    while lines.len() < count {
        let value = |random: &mut Random, variable: &InputVariable| {
            variable.lower + random.below((variable.upper - variable.lower + 1) as usize) as i64
        };
        let mut lower: Vec<i64> = variables.iter().map(|variable| value(&mut random, variable)).collect();
        let mut upper = lower.clone();
        for _ in 0..=random.below(variables.len() / 2) {
            let freed = random.below(variables.len());
            (lower[freed], upper[freed]) = (variables[freed].lower, variables[freed].upper);
        }
        for label in 0..labels {
            lines.push(format!("{{\"lower\": {lower:?}, \"upper\": {upper:?}, \"label\": {label}}}"));
        }
    }
    lines.truncate(count);
    lines.join(",\n")
}

struct Query {
    lower: Vec<i32>,
    upper: Vec<i32>,
    label: usize,
}

/// The policy of a set, and the number of variables of its system.
fn read_policy(folder: &Path) -> (Policy, usize) {
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a set has a name");
    for (set, _, kind) in sets() {
        if let Kind::Sparse { layers, neurons } = kind
            && set == name
        {
            return (sparse_network(layers, neurons), SPARSE_INPUTS);
        }
    }
    let loaded =
        jani::read(&folder.join("model.jani"), None, &jani::ReadOptions::default()).expect("a model");
    let (mut sources, interface) = (loaded.sources, folder.join("interface.json"));
    let policy = surefoot_policy::read(&interface, &loaded.system, &mut sources, &mut Vec::new());
    (policy.expect("a policy"), loaded.system.variables.len())
}

fn read(folder: &Path) -> (Policy, Vec<Query>) {
    let (policy, states) = read_policy(folder);
    let file = folder.join("queries.json");
    let text = fs::read_to_string(&file).expect("queries");
    let document = Document::parse(&file, &text).expect("JSON");
    let variables = policy.variables();
    let ends = |query: Json<'_>, key: &str| {
        let mut ends = vec![0; states];
        let values = query.require(key).expect("ends").array().expect("a list");
        for (variable, value) in variables.iter().zip(values) {
            ends[variable.index()] = value.i64().expect("an integer") as i32;
        }
        ends
    };
    let queries = document.root().require("queries").expect("queries").array().expect("a list");
    let query = |query: Json<'_>| Query {
        lower: ends(query, "lower"),
        upper: ends(query, "upper"),
        label: query.require("label").expect("a label").i64().expect("an integer") as usize,
    };
    let queries = queries.map(query).collect();
    (policy, queries)
}

/// How many queries are asked, and how long each may take.
struct Limits {
    boxes: u64,
    seconds: u64,
    queries: usize,
}

fn run(folder: &Path, arithmetic: Arithmetic, limits: &Limits) {
    let (policy, queries) = read(folder);
    let mut certifier = Certifier::new(&policy, arithmetic);
    let all = OutputSet::all(policy.outputs.len());
    let (mut answers, mut seconds, mut witnesses, mut boxes) = (vec![], vec![], vec![], vec![]);
    let variables = policy.variables();
    // The first round is for warming up.
    for round in 0..2 {
        for query in queries.iter().take(limits.queries) {
            let question = Question {
                lower: &query.lower,
                upper: &query.upper,
                facts: &[],
                output: query.label,
                competing: &all,
            };
            let start = Instant::now();
            let stop = || start.elapsed().as_secs() >= limits.seconds;
            let budget = Budget { boxes: limits.boxes, stop: Some(&stop) };
            let answer = certifier.possible(&question, &budget);
            let time = start.elapsed().as_secs_f64();
            if round == 0 {
                continue;
            }
            seconds.push(time);
            let (name, witness) = match answer {
                Possibility::Never(_) => ("never", "null".to_string()),
                Possibility::Unknown => ("unknown", "null".to_string()),
                Possibility::Possible(state) => {
                    let values: Vec<i32> = variables.iter().map(|variable| state[variable.index()]).collect();
                    ("possible", format!("{values:?}"))
                }
            };
            answers.push(format!("\"{name}\""));
            witnesses.push(witness);
            boxes.push(certifier.effort().boxes);
        }
    }
    let mut text = format!("{{\"solver\": \"surefoot\", \"version\": \"{}\", ", env!("CARGO_PKG_VERSION"));
    write!(text, "\"arithmetic\": \"{arithmetic}\", \"answers\": [{}], ", answers.join(", "))
        .expect("a string");
    let most = boxes.into_iter().max().unwrap_or(0);
    write!(
        text,
        "\"seconds\": {seconds:?}, \"most_boxes\": {most}, \"witness\": [{}]}}",
        witnesses.join(", ")
    )
    .expect("a string");
    println!("{text}");
}

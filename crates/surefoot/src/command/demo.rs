//! `surefoot demo`: two policies of a small robot, one safe and one not, with explanations.

use std::path::Path;

use surefoot_engines::explicit::{self, Options};
use surefoot_engines::{Control, Goal, OutOfDomain, Semantics, Task, Verdict};
use surefoot_model::InputError;
use surefoot_model::jani::{self, ReadOptions};
use surefoot_policy::Arithmetic;

use crate::answer::Answer;
use crate::arguments::DemoArguments;
use crate::command::generate::write;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, report};

const MODEL: &str = "robot.jani";

/// The demo's files by name.
const FILES: [(&str, &str); 5] = [
    (MODEL, include_str!("../../demo/robot.jani")),
    ("careful.jani2nnet", include_str!("../../demo/careful.jani2nnet")),
    ("careful.nnet", include_str!("../../demo/careful.nnet")),
    ("hasty.jani2nnet", include_str!("../../demo/hasty.jani2nnet")),
    ("hasty.nnet", include_str!("../../demo/hasty.nnet")),
];

const ENVIRONMENT: &str = "\
The environment
  A robot carries parcels along a corridor. The dock with the charger is at position 0, the doors are
  at positions 3, 5 and 8. A step forward or back takes one unit of the battery; now and then the wheels
  spin, and it takes two. A full battery has 40 units.

The question
  The robot begins at the dock, without a parcel and with any charge. Can it ever be stranded: in the
  corridor with an empty battery?

";

const CAREFUL: &str = "\
The careful policy
  A neural network that charges at the dock whenever the battery is not full, fetches a parcel, drives
  to its door, drops it there and drives back.

";

const HASTY: &str = "\
The hasty policy
  The same network but for one number: it charges only when the battery is below 10.

";

const SAFE_MEANS: &str = "  \
SAFE means proved: whatever parcels come and however often the wheels spin, no run of this network,
  from none of the start states, is ever stranded. Every state that it can reach was looked at.
";

const UNSAFE_MEANS: &str = "  \
UNSAFE comes with a shortest run to an unsafe state, which was replayed step by step through the model
  and the network before it was shown.
";

const NEXT: &str = "\
What to run next
  surefoot demo --out robot                    write these files to the folder `robot`, then:
  surefoot verify robot/robot.jani --policy robot/careful.jani2nnet
  surefoot verify robot/robot.jani --policy robot/hasty.jani2nnet --per-start --trace trace.json
  surefoot replay trace.json robot/robot.jani --policy robot/hasty.jani2nnet
  surefoot verify robot/robot.jani --policy robot/careful.jani2nnet --engine ic3 --certificate safe.cert
  surefoot check safe.cert --model robot/robot.jani --policy robot/careful.jani2nnet
  surefoot simulate robot/robot.jani --policy robot/hasty.jani2nnet --episodes 3
  surefoot info robot/robot.jani               what the model consists of
  surefoot gen blocksworld --blocks 4 --table-limit 3 --out blocks
";

/// Shows the demo, or writes its files.
pub fn run(arguments: &DemoArguments) -> Result<Exit, Failure> {
    match &arguments.out {
        Some(folder) => write_files(folder, arguments.force),
        None => show(),
    }
}

fn write_files(folder: &Path, force: bool) -> Result<Exit, Failure> {
    let written = write::files(folder, &FILES, force)?;
    let model = folder.join(MODEL);
    let policy = folder.join("careful.jani2nnet");
    let [model, policy] = [write::quoted(&model), write::quoted(&policy)];
    output::print(&format!("{written}next: surefoot verify {model} --policy {policy}\n"))?;
    Ok(Exit::Done)
}

fn show() -> Result<Exit, Failure> {
    let careful = verdict("careful.jani2nnet")?;
    let hasty = verdict("hasty.jani2nnet")?;
    let text = format!("{ENVIRONMENT}{CAREFUL}{careful}{SAFE_MEANS}\n{HASTY}{hasty}{UNSAFE_MEANS}\n{NEXT}");
    output::print(&text)?;
    Ok(Exit::Done)
}

/// Verifies one of the policies: the trace if there is one, and the verdict line.
fn verdict(policy: &str) -> Result<String, Failure> {
    let task = task(policy)?;
    let answer = Answer::explicit(explicit::verify(&task, Options::default(), &Control::unlimited())?);
    let mut text = String::new();
    if let Verdict::Unsafe(trace) = &answer.outcome.verdict {
        text += &report::trace::text(&task, trace, "unsafe state");
    }
    text += &report::outcome::verdict(&answer);
    Ok(report::trace::indented(&text) + "\n")
}

fn task(policy_name: &str) -> Result<Task, Failure> {
    let loaded = jani::read_text(&FILES, MODEL, None, &ReadOptions::default())?;
    let property = loaded.properties[0].question.clone()?;
    let policy = surefoot_policy::parse(
        Path::new(policy_name),
        contents(Path::new(policy_name))?,
        &loaded.system,
        &surefoot_policy::ReadOptions::default(),
        |file| contents(file).map(Vec::from),
        &mut Vec::new(),
    )?;
    let semantics = Semantics {
        filter: policy.filter,
        goal: Goal::Ignore,
        out_of_domain: OutOfDomain::Error,
        arithmetic: Arithmetic::F64,
    };
    Ok(Task { system: loaded.system, property, policy: Some(policy), semantics })
}

fn contents(path: &Path) -> Result<&'static str, InputError> {
    let file = FILES.iter().find(|(name, _)| Path::new(name) == path);
    file.map(|&(_, text)| text).ok_or_else(|| InputError::in_file(path, "not a file of the demo"))
}

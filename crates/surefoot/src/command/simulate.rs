//! `surefoot simulate`: random runs, step by step.

use serde_json::{Value, json};
use surefoot_engines::Control;
use surefoot_engines::replay::is_start;
use surefoot_engines::simulate::{Ending, Episode, Simulator, StartFrom, Starts};
use surefoot_engines::{Task, TaskError};
use surefoot_model::enumerate::first_solution;

use crate::arguments::SimulateArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load;
use crate::output::{self, Reader};
use crate::report::number::{counted, grouped};
use crate::{interrupt, report, state};

/// Simulates and reports.
pub fn run(arguments: SimulateArguments) -> Result<Exit, Failure> {
    let SimulateArguments { task, episodes, steps, seed, start, json, quiet } = arguments;
    let problem = load::problem(&task.check()?)?;
    if !quiet {
        output::warnings(&problem.warnings);
    }
    let from = start_from(&problem.task, &start)?;
    let control = Control { cancelled: interrupt::install(), ..Control::unlimited() };
    let mut simulator = Simulator::new(&problem.task, from, seed, &control)?;
    if simulator.starts().states().is_empty() {
        return Err(Failure::Task(
            "no state satisfies the start condition: there is nothing to simulate".into(),
        ));
    }
    if !simulator.starts().is_complete() {
        let cap = grouped(Starts::CAP as u64);
        output::note(&format!("more than {cap} start states: not all are equally likely to be drawn"));
    }
    let show = !json && !quiet;
    if show {
        output::print(&report::outcome::subject(&problem))?;
    }
    let mut summary = Summary::default();
    let mut documents = Vec::new();
    for index in 0..episodes {
        let Some(episode) = simulator.episode(index, steps, &control).map_err(TaskError::Model)? else {
            break;
        };
        summary.add(episode.ending);
        if json {
            documents.push(document(&problem.task, index, &episode));
        }
        if show && output::print(&text(&problem.task, index, &episode))? == Reader::Gone {
            break;
        }
        if control.interrupted().is_some() {
            break;
        }
    }
    if json {
        let mut all = report::json::header("surefoot-simulation/1");
        all.extend(report::json::subject(&problem));
        all.extend(report::json::members(json!({
            "seed": seed,
            "steps": steps,
            "start": start,
            "start_states": {
                "collected": simulator.starts().states().len(),
                "complete": simulator.starts().is_complete(),
            },
            "episodes": documents,
            "summary": summary.document(),
            "warnings": report::json::warnings(&problem.warnings),
            "files": report::json::files(&problem.sources),
        })));
        output::print_json(&Value::Object(all))?;
    } else {
        output::print(&summary.text())?;
    }
    Ok(Exit::Done)
}

/// How many runs ended how.
#[derive(Default)]
struct Summary {
    counts: [u64; Ending::ALL.len()],
}

impl Summary {
    fn add(&mut self, ending: Ending) {
        for (count, other) in self.counts.iter_mut().zip(Ending::ALL) {
            *count += u64::from(other == ending);
        }
    }

    fn text(&self) -> String {
        let counts = self.counts.iter().zip(Ending::ALL).filter(|(count, _)| **count > 0);
        let parts: Vec<String> =
            counts.map(|(&count, ending)| format!("{} {}", grouped(count), ending.name())).collect();
        format!("\n{}: {}\n", counted(self.counts.iter().sum(), "episode"), parts.join(", "))
    }

    fn document(&self) -> Value {
        let counts = self.counts.iter().zip(Ending::ALL);
        Value::Object(counts.map(|(&count, ending)| (ending.name().to_string(), count.into())).collect())
    }
}

fn text(task: &Task, index: u64, episode: &Episode) -> String {
    let steps = counted(episode.trace.steps.len() as u64, "step");
    let run = report::trace::text(task, &episode.trace, &episode.ending.to_string());
    format!("\nepisode {}: {}, {steps}\n{run}", index + 1, episode.ending.name())
}

fn document(task: &Task, index: u64, episode: &Episode) -> Value {
    json!({
        "index": index,
        "ending": episode.ending.name(),
        "trace": report::json::run(task, &episode.trace),
    })
}

/// The meaning of `--start`.
fn start_from(task: &Task, text: &str) -> Result<StartFrom, Failure> {
    match text {
        "random" => return Ok(StartFrom::Property),
        "initial" => return Ok(StartFrom::Initial),
        _ => {}
    }
    let mut values = initial_state(task)?;
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Err(Failure::Usage(format!(
                "`--start` is `{text}`, but must be `random`, `initial` or values such as `x=1,y=2`"
            )));
        };
        let (variable, value) = state::assignment(task, "--start", name.trim(), value.trim())?;
        values[variable] = value;
    }
    if !is_start(task, &values) {
        output::warning("the state given by `--start` is not a start state of the property");
    }
    Ok(StartFrom::State(values))
}

/// An initial state of the model.
fn initial_state(task: &Task) -> Result<Vec<i32>, Failure> {
    let system = &task.system;
    let bounds: Option<Vec<(i32, i32)>> = system.variables.iter().map(|v| v.ty.bounds()).collect();
    let found = system.initial.zip(bounds).and_then(|(condition, bounds)| {
        let (lower, upper): (Vec<i32>, Vec<i32>) = bounds.into_iter().unzip();
        first_solution(&system.exprs, condition, &lower, &upper)
    });
    found.ok_or_else(|| Failure::Task("the model has no initial state that `--start` could change".into()))
}

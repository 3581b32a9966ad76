//! `surefoot simulate`: random runs, step by step.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use surefoot_engines::replay::is_start;
use surefoot_engines::simulate::{Ending, Episode, Simulator, StartFrom, Starts};
use surefoot_engines::{NoObserver, Task, TaskError};
use surefoot_model::enumerate::first_solution;

use crate::arguments::SimulateArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::Host;
use crate::load::{self, Problem};
use crate::output::{self, Reader};
use crate::report::number::{counted, grouped};
use crate::{report, state};

/// Simulates and reports.
pub fn run(arguments: &SimulateArguments) -> Result<Exit, Failure> {
    let SimulateArguments { task, json, quiet, .. } = arguments;
    let problem = load::problem(&task.clone().check()?)?;
    if !quiet {
        output::warnings(&problem.warnings);
    }
    let host = Host::terminal(&NoObserver);
    let show = !json && !quiet;
    if show {
        output::print(&report::outcome::subject(&problem))?;
    }
    let runs = simulate(&problem, arguments, &host, |index, episode| {
        let goes_on = !show || output::print(&text(&problem.task, index, episode))? == Reader::Listening;
        Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if !runs.start_states.1 {
        let cap = grouped(Starts::CAP as u64);
        output::note(&format!("more than {cap} start states: not all are equally likely to be drawn"));
    }
    if !runs.begins_at_start {
        output::warning("the state given by `--start` is not a start state of the property");
    }
    if *json {
        output::print_json(&runs.document(&problem, arguments))?;
    } else {
        output::print(&runs.summary.text())?;
    }
    Ok(Exit::Done)
}

/// Runs that were made.
pub struct Runs {
    summary: Summary,
    /// The runs as JSON.
    documents: Vec<Value>,
    /// Start states that were collected, and whether these are all.
    start_states: (usize, bool),
    /// Whether the given state is a start state of the property.
    begins_at_start: bool,
}

/// Makes runs and tells `watch` about each.
pub fn simulate(
    problem: &Problem,
    arguments: &SimulateArguments,
    host: &Host<'_>,
    mut watch: impl FnMut(u64, &Episode) -> Result<ControlFlow<()>, Failure>,
) -> Result<Runs, Failure> {
    let task = &problem.task;
    let from = start_from(task, &arguments.start)?;
    let begins_at_start = match &from {
        StartFrom::State(state) => is_start(task, state),
        _ => true,
    };
    let control = host.control(None);
    let mut simulator = Simulator::new(task, from, arguments.seed, &control)?;
    let starts = simulator.starts();
    // If the search for start states was stopped, there may be some.
    if starts.states().is_empty() && control.interrupted().is_none() {
        return Err(Failure::Task(
            "no state satisfies the start condition: there is nothing to simulate".into(),
        ));
    }
    let mut runs = Runs {
        summary: Summary::default(),
        documents: Vec::new(),
        start_states: (starts.states().len(), starts.is_complete()),
        begins_at_start,
    };
    let episodes = if starts.states().is_empty() { 0 } else { arguments.episodes };
    for index in 0..episodes {
        let episode = simulator.episode(index, arguments.steps, &control).map_err(TaskError::Model)?;
        let Some(episode) = episode else { break };
        runs.summary.add(episode.ending);
        if arguments.json {
            runs.documents.push(document(task, index, &episode));
        }
        if watch(index, &episode)?.is_break() || control.interrupted().is_some() {
            break;
        }
    }
    Ok(runs)
}

impl Runs {
    /// The result as JSON.
    pub fn document(self, problem: &Problem, arguments: &SimulateArguments) -> Value {
        let mut all = report::json::header("surefoot-simulation/1");
        all.extend(report::json::subject(problem));
        all.extend(report::json::members(json!({
            "seed": arguments.seed,
            "steps": arguments.steps,
            "start": arguments.start,
            "start_states": {"collected": self.start_states.0, "complete": self.start_states.1},
            "episodes": null,
            "summary": self.summary.document(),
            "warnings": report::json::warnings(&problem.warnings),
            "files": report::json::files(&problem.sources),
        })));
        // They may be gigabytes, which the macro would copy.
        all.insert("episodes".into(), Value::Array(self.documents));
        Value::Object(all)
    }
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

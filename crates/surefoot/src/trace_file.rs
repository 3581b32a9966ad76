//! Trace files: what `verify --trace` writes and `replay` reads back.
//!
//! A trace file binds a run to its question: the reading, the property, the constants, and hashes of all files.

use std::path::Path;

use serde_json::{Value, json};
use surefoot_engines::{Goal, OutOfDomain, Task, Trace, TraceStep};
use surefoot_model::json::{Document, Json};
use surefoot_model::{InputError, Sources};
use surefoot_policy::Arithmetic;

use crate::arguments::task::{PolicyChoice, Reading, TaskOptions};
use crate::failure::Failure;
use crate::load::Problem;
use crate::replace::replace;
use crate::{report, state};

const SCHEMA: &str = "surefoot-trace/1";

/// Writes a trace.
pub fn write(path: &Path, problem: &Problem, trace: &Trace) -> Result<(), Failure> {
    let text = format!("{:#}\n", document(problem, trace));
    replace(path, text.as_bytes())
}

/// What stands in the file.
pub fn document(problem: &Problem, trace: &Trace) -> Value {
    let mut document = report::json::header(SCHEMA);
    document.extend(report::json::subject(problem));
    document.extend(report::json::members(json!({
        "trace": report::json::run(&problem.task, trace),
        "files": report::json::files(&problem.sources),
    })));
    Value::Object(document)
}

/// A trace file that was read.
pub struct TraceFile {
    document: Document,
}

impl TraceFile {
    /// Reads a trace file.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let text = Sources::default().read(path)?;
        let document = Document::parse(path, &text)?;
        let hint = "traces are written by `surefoot verify … --trace FILE`";
        let schema = document.root().require("schema").map_err(|error| error.with_hint(hint))?;
        if schema.str()? != SCHEMA {
            let message = format!("expected {SCHEMA:?}, found {}", schema.describe());
            return Err(schema.error(message).with_hint(hint));
        }
        Ok(TraceFile { document })
    }

    /// Where the command line is silent, the task is the one that the trace was found in.
    pub fn complete(&self, options: &mut TaskOptions) -> Result<(), InputError> {
        let root = self.document.root();
        options.reading = options.reading.or(self.reading()?);
        if options.property.is_none() {
            options.property = Some(root.require("property")?.str()?.to_string());
        }
        if options.constants.is_empty() {
            for (name, value) in root.require("constants")?.object()?.members() {
                options.constants.push((name.to_string(), value.str()?.to_string()));
            }
        }
        if options.policy == PolicyChoice::Property && root.require("policy")?.is_null() {
            options.policy = PolicyChoice::Without;
        }
        Ok(())
    }

    fn reading(&self) -> Result<Reading, InputError> {
        let semantics = self.document.root().require("semantics")?;
        let goal = semantics.require("goal")?;
        let out_of_domain = semantics.require("out_of_domain")?;
        let arithmetic = semantics.require("arithmetic")?;
        Ok(Reading {
            filter: Some(semantics.require("filter")?.bool()?),
            goal: Some(named(goal, [Goal::Ignore, Goal::Terminal, Goal::Strict], report::reading::goal)?),
            out_of_domain: Some(named(
                out_of_domain,
                [OutOfDomain::Error, OutOfDomain::Block],
                report::reading::out_of_domain,
            )?),
            arithmetic: Some(named(arithmetic, Arithmetic::ALL, Arithmetic::name)?),
        })
    }

    /// Files of the trace whose contents are not among those read now.
    pub fn changed_files(&self, sources: &Sources) -> Result<Vec<String>, InputError> {
        let mut changed = Vec::new();
        for file in self.document.root().require("files")?.array()? {
            let hash = file.require("sha256")?.str()?;
            if !sources.files.iter().any(|source| source.sha256 == hash) {
                changed.push(file.require("path")?.str()?.to_string());
            }
        }
        Ok(changed)
    }

    /// The run, in terms of the variables and commands of a task.
    pub fn trace(&self, task: &Task) -> Result<Trace, InputError> {
        let trace = self.document.root().require("trace")?;
        let mut steps = Vec::new();
        for json in trace.require("steps")?.array()? {
            steps.push(step(task, json)?);
        }
        Ok(Trace { start: state::from_json(task, trace.require("start")?)?, steps })
    }
}

/// The alternative of this name.
fn named<T: Copy>(
    json: Json<'_>,
    alternatives: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str,
) -> Result<T, InputError> {
    let text = json.str()?;
    let found = alternatives.into_iter().find(|&alternative| name(alternative) == text);
    found.ok_or_else(|| json.error(format!("the reading {text:?} is unknown")))
}

fn step(task: &Task, json: Json<'_>) -> Result<TraceStep, InputError> {
    let commands = &task.system.commands;
    let command = index(json.require("command")?, commands.len(), "commands of the model")?;
    let outcome =
        index(json.require("outcome")?, commands[command].outcomes.len(), "outcomes of the command")?;
    let label = json.require("label")?;
    let expected = commands[command].label.map(|label| task.system.labels[label.index()].name.as_str());
    if label.as_str() != expected {
        let expected = expected.map_or("no label".into(), |name| format!("the label {name:?}"));
        return Err(
            label.error(format!("command {command} of the model has {expected}, not {}", label.describe()))
        );
    }
    Ok(TraceStep { command, outcome, state: state::from_json(task, json.require("state")?)? })
}

fn index(json: Json<'_>, length: usize, what: &str) -> Result<usize, InputError> {
    let number = json.i64()?;
    usize::try_from(number)
        .ok()
        .filter(|&index| index < length)
        .ok_or_else(|| json.error(format!("{number} is none of the {length} {what}")))
}

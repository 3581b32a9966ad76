//! `surefoot replay`: whether a trace is a counterexample, found out step by step with the point evaluator.

use serde_json::{Value, json};
use surefoot_engines::TaskError;
use surefoot_engines::replay::{ReplayError, replay};

use crate::arguments::ReplayArguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::number::counted;
use crate::trace_file::TraceFile;
use crate::{load, output, report};

/// Replays and reports.
pub fn run(arguments: ReplayArguments) -> Result<Exit, Failure> {
    let ReplayArguments { trace: path, task, json } = arguments;
    let file = TraceFile::read(&path)?;
    let mut options = task.check()?;
    file.complete(&mut options)?;
    let problem = load::problem(&options)?;
    output::warnings(&problem.warnings);
    let changed = file.changed_files(&problem.sources)?;
    for name in &changed {
        output::warning(&format!(
            "{name} is not the file that the trace was found with: its contents differ"
        ));
    }
    let task = &problem.task;
    if let Some(variable) = task.system.variables.iter().find(|v| v.ty.bounds().is_none()) {
        return Err(TaskError::RealVariable { variable: variable.name.clone(), engine: "replay" }.into());
    }
    let trace = file.trace(task)?;
    let rejection = match replay(task, &trace) {
        Ok(()) => None,
        Err(ReplayError::Model(error)) => return Err(TaskError::Model(error).into()),
        Err(error) => Some(error.to_string()),
    };
    let steps = counted(trace.steps.len() as u64, "step");
    if json {
        let mut document = report::json::header("surefoot-replay/1");
        document.extend(report::json::members(json!({
            "accepted": rejection.is_none(),
            "reason": rejection,
        })));
        document.extend(report::json::subject(&problem));
        document.extend(report::json::members(json!({
            "steps": trace.steps.len(),
            "changed_files": changed,
            "warnings": report::json::warnings(&problem.warnings),
            "files": report::json::files(&problem.sources),
        })));
        output::print_json(&Value::Object(document))?;
    } else {
        let last = if rejection.is_none() { "unsafe state" } else { "last state" };
        let verdict = match &rejection {
            None => format!("UNSAFE  the trace is a counterexample of {steps}"),
            Some(reason) => format!("REJECTED  {reason}"),
        };
        let run = report::trace::text(task, &trace, last);
        output::print(&format!("{}\n{run}\n{verdict}\n", report::outcome::subject(&problem)))?;
    }
    Ok(if rejection.is_none() { Exit::Unsafe } else { Exit::BadInput })
}

//! `surefoot verify`: the verdict, with what was covered and the trace.

use std::path::Path;
use std::time::Instant;

use surefoot_engines::explicit::{self, Options};
use surefoot_engines::{Control, Outcome, Task, Verdict};

use crate::arguments::limit::LimitArguments;
use crate::arguments::{Engine, SearchArguments, VerifyArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::ProgressLine;
use crate::{interrupt, load, output, report, trace_file};

/// Verifies and reports.
pub fn run(arguments: VerifyArguments) -> Result<Exit, Failure> {
    let began = Instant::now();
    let VerifyArguments { task, search, limits, json, trace, quiet } = arguments;
    let SearchArguments { engine, exhaustive, per_start, slice } = search;
    if let Some(file) = &trace {
        check_folder(file)?;
    }
    let problem = load::problem(&task.check()?)?;
    if !quiet {
        output::warnings(&problem.warnings);
    }
    let options = Options { exhaustive, per_start, slice };
    let outcome = verify(&problem.task, engine, options, &limits, began, !quiet)?;
    if json {
        output::print_json(&report::json::result(&problem, engine, &outcome))?;
    } else if quiet {
        output::print(&format!("{}\n", report::outcome::verdict(&outcome)))?;
    } else {
        output::print(&report::outcome::text(&problem, &outcome))?;
    }
    if per_start && outcome.per_start.is_none() {
        output::note(
            "the start states were not classified: that needs a complete search, and memory for its transitions",
        );
    }
    if let Some(file) = &trace {
        match &outcome.verdict {
            Verdict::Unsafe(found) => trace_file::write(file, &problem, found)?,
            _ => output::note(&format!(
                "{} was not written: there is no trace to an unsafe state",
                file.display()
            )),
        }
    }
    Ok(Exit::from(&outcome.verdict))
}

fn verify(
    task: &Task,
    engine: Engine,
    options: Options,
    limits: &LimitArguments,
    began: Instant,
    show_progress: bool,
) -> Result<Outcome, Failure> {
    let progress = ProgressLine::new(show_progress);
    let control = Control {
        // A limit beyond the end of time is no limit.
        deadline: limits.time_limit.and_then(|limit| began.checked_add(limit)),
        memory_limit: limits.memory_limit(),
        cancelled: interrupt::install(),
        threads: limits.threads(),
        observer: &progress,
    };
    match engine {
        Engine::Explicit => Ok(explicit::verify(task, options, &control)?),
    }
}

/// Refuses a file that cannot be written because of its folder, before hours are spent on its contents.
fn check_folder(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("`--trace`: there is no folder {}", folder.display())));
    }
    if file.is_dir() {
        return Err(Failure::Usage(format!("`--trace`: {} is a folder, not a file", file.display())));
    }
    Ok(())
}

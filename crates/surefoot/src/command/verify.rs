//! `surefoot verify`: the verdict, with what was covered, the trace and the certificate.

use std::path::Path;
use std::time::Instant;

use surefoot_engines::{Control, Verdict, explicit, ic3};

use crate::answer::Answer;
use crate::arguments::VerifyArguments;
use crate::arguments::limit::LimitArguments;
use crate::arguments::search::Search;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::Problem;
use crate::progress::ProgressLine;
use crate::{interrupt, load, output, report, trace_file};

/// Verifies and reports.
pub fn run(arguments: VerifyArguments) -> Result<Exit, Failure> {
    let began = Instant::now();
    let VerifyArguments { task, search: arguments, limits, json, trace, quiet } = arguments;
    let search = arguments.check()?;
    let certificate = arguments.ic3.certificate;
    for (option, file) in [("--trace", &trace), ("--certificate", &certificate)] {
        if let Some(file) = file {
            check_folder(option, file)?;
        }
    }
    let problem = load::problem(&task.check()?)?;
    if !quiet {
        output::warnings(&problem.warnings);
    }
    let answer = verify(&problem, search, &limits, began, !quiet)?;
    let outcome = &answer.outcome;
    if json {
        output::print_json(&report::json::result(&problem, &answer, certificate.as_deref()))?;
    } else if quiet {
        output::print(&format!("{}\n", report::outcome::verdict(&answer)))?;
    } else {
        output::print(&report::outcome::text(&problem, &answer))?;
    }
    if arguments.explicit.per_start && outcome.per_start.is_none() {
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
    if let Some(file) = &certificate {
        match answer.certificate() {
            Some(issued) => {
                std::fs::write(file, &issued.contents).map_err(|error| Failure::writing(file, &error))?;
            }
            None => {
                output::note(&format!("{} was not written: there is no proof of SAFE", file.display()));
            }
        }
    }
    Ok(Exit::from(&outcome.verdict))
}

fn verify(
    problem: &Problem,
    search: Search,
    limits: &LimitArguments,
    began: Instant,
    show_progress: bool,
) -> Result<Answer, Failure> {
    let progress = ProgressLine::new(show_progress);
    let control = Control {
        // A limit beyond the end of time is no limit.
        deadline: limits.time_limit.and_then(|limit| began.checked_add(limit)),
        memory_limit: limits.memory_limit(),
        cancelled: interrupt::install(),
        threads: limits.threads(),
        observer: &progress,
    };
    match search {
        Search::Explicit(options) => {
            Ok(Answer::explicit(explicit::verify(&problem.task, options, &control)?))
        }
        Search::Ic3(options) => {
            Ok(Answer::ic3(ic3::verify(&problem.task, options, &control)?, &problem.inputs))
        }
    }
}

/// Refuses a file that cannot be written because of its folder, before hours are spent on its contents.
pub fn check_folder(option: &str, file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("`{option}`: there is no folder {}", folder.display())));
    }
    if file.is_dir() {
        return Err(Failure::Usage(format!("`{option}`: {} is a folder, not a file", file.display())));
    }
    Ok(())
}

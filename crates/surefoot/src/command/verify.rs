//! `surefoot verify`: the verdict, with what was covered, the trace, the certificate and the state.

use std::path::Path;
use std::time::Instant;

use surefoot_engines::ic3::{self, SavedFrames};
use surefoot_engines::{Control, Verdict, explicit, pa, ppa};

use crate::answer::Answer;
use crate::arguments::VerifyArguments;
use crate::arguments::limit::LimitArguments;
use crate::arguments::search::{Engine, Ic3Arguments, ProofArguments, Search};
use crate::arguments::task::TaskOptions;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::Host;
use crate::load::Problem;
use crate::progress::ProgressLine;
use crate::replace::replace;
use crate::{load, output, report, state_file, trace_file};

/// Verifies and reports.
pub fn run(arguments: VerifyArguments) -> Result<Exit, Failure> {
    let began = Instant::now();
    let VerifyArguments { task, search: arguments, limits, json, trace, quiet } = arguments;
    let search = arguments.check()?;
    let Ic3Arguments { save_state, resume, .. } = arguments.ic3;
    let ProofArguments { certificate, .. } = arguments.proof;
    for (option, file) in
        [("--trace", &trace), ("--certificate", &certificate), ("--save-state", &save_state)]
    {
        if let Some(file) = file {
            check_folder(option, file)?;
        }
    }
    let options = TaskOptions { predicate_file: arguments.abstraction.predicates, ..task.check()? };
    let problem = load::problem(&options)?;
    if !quiet {
        output::warnings(&problem.warnings);
    }
    let frames = resume.map(|file| state_file::read(&file, &problem)).transpose()?;
    let progress = ProgressLine::new(!quiet);
    let answer = answer(&problem, search, frames, &limits, began, &Host::terminal(&progress))?;
    drop(progress);
    let outcome = &answer.outcome;
    // The report says what was written; there is one even if that fails.
    let (written, failure) = match save_state.as_ref().zip(answer.frames()) {
        Some((file, frames)) => match state_file::write(file, frames) {
            Ok(written) => (Some(written), None),
            Err(failure) => (None, Some(failure)),
        },
        None => (None, None),
    };
    if json {
        let files = report::json::Files { certificate: certificate.as_deref(), state: written.as_ref() };
        output::print_json(&report::json::result(&problem, &answer, files))?;
    } else if quiet {
        output::print(&format!("{}\n", report::outcome::verdict(&answer)))?;
    } else {
        output::print(&report::outcome::text(&problem, &answer, written.as_ref()))?;
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let Some(file) = save_state.filter(|_| written.is_none()) {
        let old = if file.exists() { ", it is as it was" } else { "" };
        output::note(&format!("{} was not written: the run came to an end{old}", file.display()));
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
            Some(issued) => replace(file, &issued.contents)?,
            None => {
                output::note(&format!("{} was not written: there is no proof of SAFE", file.display()));
            }
        }
    }
    Ok(Exit::from(&outcome.verdict))
}

/// What the engine says.
pub fn answer(
    problem: &Problem,
    search: Search,
    frames: Option<SavedFrames>,
    limits: &LimitArguments,
    began: Instant,
    host: &Host<'_>,
) -> Result<Answer, Failure> {
    let control = Control {
        memory_limit: limits.memory_limit(),
        threads: limits.threads(),
        // A limit beyond the end of time is no limit.
        ..host.control(limits.time_limit.and_then(|limit| began.checked_add(limit)))
    };
    match search {
        Search::Explicit(options) => {
            Ok(Answer::explicit(explicit::verify(&problem.task, options, &control)?))
        }
        Search::Ic3(options) => {
            let proof = match frames {
                Some(frames) => ic3::resume(&problem.task, frames, options, &control),
                None => ic3::verify(&problem.task, options, &control),
            };
            Ok(Answer::ic3(proof?, problem))
        }
        Search::Pa(options) => {
            Ok(Answer::pa(Engine::Pa, pa::verify(&problem.task, options, &control)?, problem))
        }
        Search::Ppa(options) => {
            Ok(Answer::pa(Engine::Ppa, ppa::verify(&problem.task, options, &control)?, problem))
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

//! `surefoot check`: whether a certificate proves that a task is safe, found out without any engine.
//!
//! The task is the one of the command line; only its reading comes from the certificate where the command line is silent.

use std::path::Path;
use std::time::Instant;

use surefoot_certificate::{Certificate, Limits, Rejection, Subject, check, dump};
use surefoot_engines::{Control, NoObserver, Semantics};
use surefoot_model::{InputError, Sources};

use crate::arguments::CheckArguments;
use crate::arguments::task::Reading;
use crate::command::verify::check_folder;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::Host;
use crate::load::{self, Problem};
use crate::report::check::{Answer, Checked};
use crate::{output, report};

/// Checks and reports.
pub fn run(arguments: CheckArguments) -> Result<Exit, Failure> {
    let began = Instant::now();
    let CheckArguments { certificate: file, model, question, time_limit, dump: dump_file, json } = arguments;
    if let Some(file) = &dump_file {
        check_folder("--dump", file)?;
    }
    let (contents, certificate) = read(&file, Sources::default())?;
    let mut options = question.about(model)?;
    options.reading = options.reading.or(reading(certificate.semantics));
    let problem = load::problem(&options)?;
    output::warnings(&problem.warnings);
    let host = Host::terminal(&NoObserver);
    let control = host.control(time_limit.and_then(|limit| began.checked_add(limit)));
    let checked = checked(&file, contents.len(), &certificate, &problem, &control)?;
    if json {
        output::print_json(&report::check::document(&problem, &checked))?;
    } else {
        output::print(&report::check::text(&problem, &checked))?;
    }
    if let Some(file) = &dump_file {
        // The second checker would take variables of other kinds for ones without values.
        if matches!(checked.answer, Answer::Rejected(Rejection::Unsupported(_))) {
            output::note(&format!("{} was not written: the task is not supported", file.display()));
        } else {
            std::fs::write(file, dump(&subject(&problem))).map_err(|error| Failure::writing(file, &error))?;
        }
    }
    Ok(match checked.answer {
        Answer::Accepted(_) => Exit::Done,
        Answer::Rejected(_) => Exit::BadInput,
        Answer::Unknown(_) => Exit::Unknown,
    })
}

/// Reads a certificate; its contents, too.
pub fn read(file: &Path, mut sources: Sources) -> Result<(Vec<u8>, Certificate), Failure> {
    let contents = sources.read_bytes(file)?;
    let certificate =
        Certificate::read(&contents).map_err(|error| InputError::in_file(file, error.to_string()))?;
    Ok((contents, certificate))
}

/// What a certificate is worth.
pub fn checked<'f>(
    file: &'f Path,
    bytes: usize,
    certificate: &Certificate,
    problem: &Problem,
    control: &Control<'_>,
) -> Result<Checked<'f>, Failure> {
    let began = Instant::now();
    let answer = decide(certificate, problem, control)?;
    let regions = certificate.regions.len() as u64;
    Ok(Checked { file, bytes: bytes as u64, regions, answer, time: began.elapsed() })
}

/// The reading of a certificate.
pub fn reading(semantics: Semantics) -> Reading {
    let Semantics { filter, goal, out_of_domain, arithmetic } = semantics;
    Reading {
        filter: Some(filter),
        goal: Some(goal),
        arithmetic: Some(arithmetic),
        out_of_domain: Some(out_of_domain),
    }
}

fn subject(problem: &Problem) -> Subject<'_> {
    let task = &problem.task;
    Subject {
        system: &task.system,
        property: &task.property,
        policy: task.policy.as_ref(),
        semantics: task.semantics,
        inputs: &problem.inputs,
    }
}

fn decide(certificate: &Certificate, problem: &Problem, control: &Control<'_>) -> Result<Answer, Failure> {
    let asked = problem.task.semantics;
    if certificate.semantics != asked {
        let [claimed, asked] =
            [certificate.semantics, asked].map(|semantics| report::reading::describe(semantics, true));
        let text = format!("it is for the reading `{claimed}`, the one asked for is `{asked}`");
        return Ok(Answer::Rejected(Rejection::Mismatch(text)));
    }
    let mut limits = Limits { parts: u64::MAX, stop: &mut || control.interrupted().is_some() };
    match check(certificate, &subject(problem), &mut limits) {
        Ok(report) => Ok(Answer::Accepted(report)),
        Err(Rejection::NotChecked(text)) => {
            control.interrupted().map(Answer::Unknown).ok_or(Failure::Internal(text))
        }
        Err(rejection) => Ok(Answer::Rejected(rejection)),
    }
}

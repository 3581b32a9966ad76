//! Certificates and their checker against brute force: what is a proof is accepted, everything else is rejected.

mod close;
mod engine;
mod facts;
mod make;
mod oracle;
mod python;
mod random;
mod tamper;

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_certificate::{Certificate, Limits, Rejection, Report, Subject, check as check_certificate};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::explore;
use surefoot_harness::run::{cases, check};

use make::{certificate, inputs, subject};
use oracle::{LIMIT, Oracle};
use random::Random;

fn verdict(certificate: &Certificate, subject: &Subject<'_>) -> Result<Report, Rejection> {
    let mut limits = Limits { parts: 10_000_000, stop: &mut || false };
    check_certificate(certificate, subject, &mut limits)
}

/// The checker must say what brute force says, and name a state where it fails.
fn agrees(certificate: &Certificate, subject: &Subject<'_>, proves: bool) -> Result<(), TestCaseError> {
    let verdict = verdict(certificate, subject);
    match (&verdict, proves) {
        (Ok(_), true) | (Err(Rejection::Failed { .. }), false) => Ok(()),
        _ => {
            Err(TestCaseError::fail(format!("brute force: {proves}, checker: {verdict:?}\n{certificate:?}")))
        }
    }
}

/// What the checker must say of a file, and says: it is accepted if it is about the same task as `made`, and a proof.
fn file_agrees(
    bytes: &[u8],
    subject: &Subject<'_>,
    made: &Certificate,
    oracle: &Oracle<'_>,
) -> Result<bool, TestCaseError> {
    let Ok(read) = Certificate::read(bytes) else { return Ok(false) };
    prop_assert_eq!(read.write(), bytes);
    let same = Certificate { regions: made.regions.clone(), ..read.clone() } == *made;
    let proves = same && oracle.proves(&read);
    prop_assert_eq!(verdict(&read, subject).is_ok(), proves);
    Ok(proves)
}

#[test]
fn proofs_are_accepted_and_nothing_else() {
    check(&(tasks(Size::Small), any::<u64>()), 5000, |(random_task, seed): (RandomTask, u64)| {
        let task = &random_task.task;
        let (Ok(exploration), Some(oracle)) = (explore(task, LIMIT), Oracle::new(task)) else {
            return Ok(());
        };
        let made = certificate(&oracle, task, &exploration.states, &mut Random(seed));
        prop_assert_eq!(Certificate::read(&made.write()), Ok(made.clone()));
        let safe = !exploration.has_error() && exploration.unsafe_states == 0;
        prop_assert_eq!(oracle.proves(&made), safe, "the certificate is made wrong");
        agrees(&made, &subject(task, &inputs()), safe)
    });
}

#[test]
fn proofs_over_wide_domains_are_accepted_and_nothing_else() {
    check(&(tasks(Size::Wide), any::<u64>()), 3000, |(random_task, seed): (RandomTask, u64)| {
        let task = &random_task.task;
        let Ok(exploration) = explore(task, 300) else { return Ok(()) };
        let made = certificate(&Oracle::local(task), task, &exploration.states, &mut Random(seed));
        prop_assert_eq!(Certificate::read(&made.write()), Ok(made.clone()));
        let safe = !exploration.has_error() && exploration.unsafe_states == 0;
        agrees(&made, &subject(task, &inputs()), safe)
    });
}

/// Random tasks that are safe, each with a certificate.
fn certified(cases: u32, test: impl Fn(&RandomTask, &Certificate, &mut Random) -> Result<(), TestCaseError>) {
    check(&(tasks(Size::Small), any::<u64>()), cases, |(random_task, seed): (RandomTask, u64)| {
        let task = &random_task.task;
        let (Ok(exploration), Some(oracle)) = (explore(task, LIMIT), Oracle::new(task)) else {
            return Ok(());
        };
        if exploration.has_error() || exploration.unsafe_states > 0 {
            return Ok(());
        }
        let mut random = Random(seed);
        let made = certificate(&oracle, task, &exploration.states, &mut random);
        test(&random_task, &made, &mut random)
    });
}

#[test]
fn changed_contents_are_accepted_only_if_they_are_a_proof() {
    certified(3000, |random_task, made, random| {
        let task = &random_task.task;
        let oracle = Oracle::new(task).expect("small");
        for (_, change) in tamper::CONTENTS {
            let mut changed = made.clone();
            if change(&mut changed, random).is_some() {
                agrees(&changed, &subject(task, &inputs()), oracle.proves(&changed))?;
            }
        }
        Ok(())
    });
}

#[test]
fn certificates_about_another_task_are_rejected() {
    certified(2000, |random_task, made, random| {
        let task = &random_task.task;
        for (name, change) in tamper::BINDING {
            let mut changed = made.clone();
            if change(&mut changed).is_some() {
                let verdict = verdict(&changed, &subject(task, &inputs()));
                let rejected = matches!(verdict, Err(Rejection::Mismatch(_) | Rejection::Malformed(_)));
                prop_assert!(rejected, "{}: {:?}: {:?}", name, verdict, changed);
            }
        }
        let mut other = task.clone();
        let _ = tamper::TASKS[random.below(tamper::TASKS.len())].1(&mut other, random);
        let proves = Oracle::new(&other).expect("small").proves(made);
        agrees(made, &subject(&other, &inputs()), proves)
    });
}

#[test]
fn changed_files_are_accepted_only_if_they_are_a_proof() {
    certified(2000, |random_task, made, random| {
        let task = &random_task.task;
        let oracle = Oracle::new(task).expect("small");
        for (_, change) in tamper::FILES.iter().cycle().take(20) {
            let mut bytes = made.write();
            change(&mut bytes, random);
            file_agrees(&bytes, &subject(task, &inputs()), made, &oracle)?;
        }
        Ok(())
    });
}

#[test]
fn limits_end_a_check_without_acceptance() {
    certified(500, |random_task, made, _| {
        let inputs = inputs();
        let subject = subject(&random_task.task, &inputs);
        let report = verdict(made, &subject).expect("accepted");
        let needed: u64 = report.parts.iter().sum();
        for parts in 0..needed.min(20) {
            let verdict = check_certificate(made, &subject, &mut Limits { parts, stop: &mut || false });
            prop_assert!(matches!(verdict, Err(Rejection::NotChecked(_))), "{:?}", verdict);
        }
        let stopped = check_certificate(made, &subject, &mut Limits { parts: needed, stop: &mut || true });
        prop_assert!(needed == 0 || matches!(stopped, Err(Rejection::NotChecked(_))));
        Ok(())
    });
}

#[test]
fn the_second_checker_agrees() {
    let Some(python) = python::Python::new() else { return };
    let (python, checked) = (RefCell::new(python), Cell::new(0));
    certified(1000, |random_task, made, random| {
        let task = &random_task.task;
        let inputs = inputs();
        let oracle = Oracle::new(task).expect("small");
        let mut changed = made.clone();
        let change = tamper::CONTENTS[random.below(tamper::CONTENTS.len())].1;
        let _ = change(&mut changed, random);
        for (certificate, proves) in [(made, true), (&changed, oracle.proves(&changed))] {
            let about = subject(task, &inputs);
            let answered = python.borrow_mut().agrees(&certificate.write(), &about, proves)?;
            checked.set(checked.get() + u32::from(answered));
        }
        Ok(())
    });
    assert!(checked.get() >= cases(300), "only {} certificates were checked twice", checked.get());
}

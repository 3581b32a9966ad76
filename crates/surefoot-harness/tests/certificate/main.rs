//! Certificates and their checker against brute force: what is a proof is accepted, everything else is rejected.

mod make;
mod oracle;
mod random;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_certificate::{Certificate, Limits, Rejection, Report, Subject, check as check_certificate};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::explore;
use surefoot_harness::run::check;

use make::{certificate, inputs, subject};
use oracle::{LIMIT, Oracle};
use random::Random;

pub fn verdict(certificate: &Certificate, subject: &Subject<'_>) -> Result<Report, Rejection> {
    let mut limits = Limits { parts: 10_000_000, stop: &mut || false };
    check_certificate(certificate, subject, &mut limits)
}

/// The checker must say what brute force says, and name a state where it fails.
pub fn agrees(certificate: &Certificate, subject: &Subject<'_>, proves: bool) -> Result<(), TestCaseError> {
    let verdict = verdict(certificate, subject);
    match (&verdict, proves) {
        (Ok(_), true) | (Err(Rejection::Failed { .. }), false) => Ok(()),
        _ => Err(TestCaseError::fail(format!("brute force: {proves}, checker: {verdict:?}\n{certificate:?}"))),
    }
}

#[test]
fn proofs_are_accepted_and_nothing_else() {
    check(&(tasks(Size::Small), any::<u64>()), 5000, |(random_task, seed): (RandomTask, u64)| {
        let task = &random_task.task;
        let (Ok(exploration), Some(oracle)) = (explore(task, LIMIT), Oracle::new(task)) else { return Ok(()) };
        let made = certificate(&oracle, task, &exploration.states, &mut Random(seed));
        prop_assert_eq!(Certificate::read(&made.write()), Ok(made.clone()));
        let safe = !exploration.has_error() && exploration.unsafe_states == 0;
        prop_assert_eq!(oracle.proves(&made), safe, "the certificate is made wrong");
        agrees(&made, &subject(task, &inputs()), safe)
    });
}

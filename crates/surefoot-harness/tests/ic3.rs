//! IC3 against the reference semantics, on random tasks; its invariants state by state.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_certificate::{Bound, Region};
use surefoot_engines::ic3::{Options, Proof, Reasons, verify};
use surefoot_engines::step::Stepper;
use surefoot_engines::{Control, Task, TaskError, Verdict, replay};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::{Exploration, all_states, explore};
use surefoot_harness::run::check;

/// Tasks with more states are passed over.
const LIMIT: usize = 20_000;

/// Long enough for all but tasks whose counters run away.
const PATIENCE: Duration = Duration::from_secs(10);

fn run(task: &Task, options: Options) -> Result<Proof, TaskError> {
    let deadline = Some(Instant::now() + PATIENCE);
    verify(task, options, &Control { deadline, ..Control::unlimited() })
}

/// Checks a verdict, and the invariant of a proof.
fn right(task: &Task, exploration: &Exploration, options: Options) -> Result<bool, TestCaseError> {
    let answer = run(task, options);
    if let Ok(Proof { outcome, certificate, .. }) = &answer {
        if let Verdict::Unknown(_) = outcome.verdict {
            return Ok(false);
        }
        prop_assert_eq!(certificate.is_some(), outcome.verdict == Verdict::Safe);
        if let Some(certificate) = certificate {
            inductive(task, &certificate.regions)?;
        }
    }
    let answer = answer.map(|proof| proof.outcome);
    let expected = Expected::of(exploration, Coverage::Any);
    expected.check(task, &answer, false).map_err(TestCaseError::fail)?;
    Ok(true)
}

/// Start states are in the regions, unsafe states are not, and no step leads out of them.
fn inductive(task: &Task, regions: &[Region]) -> Result<(), TestCaseError> {
    let mut stepper = Stepper::new(task);
    let holds =
        |bound: &Bound, state: &[i32]| (bound.lower..=bound.upper).contains(&state[bound.variable as usize]);
    let inside =
        |state: &[i32]| regions.iter().any(|region| region.bounds.iter().all(|bound| holds(bound, state)));
    for state in all_states(task, LIMIT).unwrap_or_default() {
        if replay::is_start(task, &state) {
            prop_assert!(inside(&state), "the start state {:?} is in no region", state);
        }
        if !inside(&state) {
            continue;
        }
        let status = stepper.status(&state).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(!status.is_unsafe, "{:?} is unsafe", state);
        if status.ends_run {
            continue;
        }
        let steps = stepper.successors(&state).map_err(|error| TestCaseError::fail(error.to_string()))?;
        for step in steps {
            prop_assert!(inside(&step.state), "{:?} leads to {:?}, outside", state, step.state);
        }
    }
    Ok(())
}

fn compare(size: Size, cases: u32, limit: usize, options: Options, most_open: u32) {
    let open = std::cell::Cell::new(0);
    check(&tasks(size), cases, |random: RandomTask| {
        let Ok(exploration) = explore(&random.task, limit) else { return Ok(()) };
        if !right(&random.task, &exploration, options)? {
            open.set(open.get() + 1);
        }
        Ok(())
    });
    assert!(open.get() <= most_open, "{} of {cases} tasks were not decided", open.get());
}

#[test]
fn small_tasks() {
    compare(Size::Small, 3000, LIMIT, Options::default(), 0);
}

#[test]
fn wide_tasks() {
    compare(Size::Wide, 300, 500, Options::default(), 3);
}

#[test]
fn options_do_not_change_verdicts() {
    let default = Options::default();
    for options in [
        Options { reasons: Reasons::Assignment, ..default },
        Options { generalize: false, ..default },
        Options { reschedule: true, ..default },
        Options { splits: 0, ..default },
    ] {
        compare(Size::Small, 500, 3000, options, 0);
    }
}

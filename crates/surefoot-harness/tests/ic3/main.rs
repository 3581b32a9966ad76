//! IC3 against the reference semantics, on random tasks; its invariants state by state.

mod laws;
mod resume;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::ic3::{Options, Order, Proof, Reasons, verify};
use surefoot_engines::{Control, Outcome, Task, TaskError, Vacuity, Verdict};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::proof::inductive;
use surefoot_harness::random::{RandomTask, Size, blinded, tasks};
use surefoot_harness::reference::{Exploration, all_states, explore, holds};
use surefoot_harness::run::check;

/// Tasks with more states are passed over.
const LIMIT: usize = 20_000;

/// Tasks with wide domains whose counters run away are left undecided after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Checks a verdict, and the invariant of a proof. With a limit, there may be none.
fn right(
    task: &Task,
    exploration: &Exploration,
    options: Options,
    limit: Option<Duration>,
) -> Result<(), TestCaseError> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    let answer = verify(task, options, &Control { deadline, ..Control::unlimited() });
    right_answer(task, exploration, answer, limit.is_some())
}

/// Checks a verdict, and the invariant of a proof.
fn right_answer(
    task: &Task,
    exploration: &Exploration,
    answer: Result<Proof, TaskError>,
    is_limited: bool,
) -> Result<(), TestCaseError> {
    if let Ok(Proof { outcome, certificate, .. }) = &answer {
        if let Verdict::Unknown(_) = outcome.verdict {
            prop_assert!(is_limited, "there was no limit");
            return Ok(());
        }
        prop_assert_eq!(certificate.is_some(), outcome.verdict == Verdict::Safe);
        if let Some(certificate) = certificate {
            inductive(task, &certificate.regions, LIMIT).map_err(TestCaseError::fail)?;
            right_vacuity(task, exploration, outcome, is_limited)?;
        }
    }
    let answer = answer.map(|proof| proof.outcome);
    let expected = Expected::of(exploration, Coverage::Any);
    expected.check(task, &answer, false).map_err(TestCaseError::fail)
}

/// A proof that says little is known to do so; within limits, that may be left open.
fn right_vacuity(
    task: &Task,
    exploration: &Exploration,
    outcome: &Outcome,
    is_limited: bool,
) -> Result<(), TestCaseError> {
    let is_unsafe = |state: &Vec<i32>| holds(&task.system.exprs, task.property.unsafe_states, state);
    let none_is_unsafe =
        all_states(task, LIMIT).map(|states| states.iter().all(|state| is_unsafe(state) == Some(false)));
    let no_steps = !exploration.starts.is_empty() && exploration.transitions == 0;
    let all_stall = no_steps && exploration.stalls == exploration.states.len();
    for (vacuity, expected) in [
        (Vacuity::NoStartState, Some(exploration.starts.is_empty())),
        (Vacuity::NoUnsafeState, none_is_unsafe),
        (Vacuity::AllStall, Some(all_stall)),
        (Vacuity::NoSteps, Some(no_steps && !all_stall)),
    ] {
        let Some(expected) = expected else { continue };
        let has = outcome.vacuity.contains(&vacuity);
        prop_assert!(has == expected || is_limited && !has, "{:?}: expected {}", vacuity, expected);
    }
    Ok(())
}

/// Without the list of reachable states, which decides small tasks.
fn unlisted() -> Options {
    Options { list: 0, ..Options::default() }
}

fn compare(size: Size, cases: u32, states: usize, options: Options, limit: Option<Duration>) {
    check(&tasks(size), cases, |random: RandomTask| match explore(&random.task, states) {
        Ok(exploration) => right(&random.task, &exploration, options, limit),
        Err(_) => Ok(()),
    });
}

#[test]
fn small_tasks() {
    compare(Size::Small, 3000, LIMIT, unlisted(), None);
}

#[test]
fn small_tasks_whose_states_are_listed() {
    compare(Size::Small, 1000, LIMIT, Options::default(), None);
    // A limit that some tasks exceed, as precise as it is.
    compare(Size::Small, 1000, LIMIT, Options { list: 1, ..Options::default() }, None);
}

/// What the policy does not see may be left out of the list, if that has too many states otherwise.
#[test]
fn small_tasks_whose_policies_see_half_of_the_variables() {
    let projections = AtomicUsize::new(0);
    check(&tasks(Size::Small), 1000, |random: RandomTask| {
        for (seen, list) in [(0, 10), (1, 10), (0, 100), (1, 100)] {
            let task = blinded(&random.task, |v| v.index() % 2 == seen);
            let Ok(exploration) = explore(&task, LIMIT) else { continue };
            let answer = verify(&task, Options { list, ..Options::default() }, &Control::unlimited());
            let is_projected = answer.as_ref().is_ok_and(|proof| proof.statistics.left_out > 0);
            projections.fetch_add(usize::from(is_projected), Ordering::Relaxed);
            right_answer(&task, &exploration, answer, false)?;
        }
        Ok(())
    });
    let projections = projections.into_inner();
    assert!(projections > 10, "{projections}");
}

/// Random runs see every state of most small tasks, and growing regions prove most of them. Without these, frames have more to do.
#[test]
fn small_tasks_by_frames_alone() {
    compare(Size::Small, 3000, LIMIT, Options { samples: 0, growth: 0, ..unlisted() }, None);
    compare(Size::Small, 1000, LIMIT, Options { growth: 0, ..unlisted() }, None);
}

/// With little effort, regions of a part of the keys are closed, and frames do the rest.
#[test]
fn small_tasks_with_little_growth() {
    for growth in [10, 30, 100] {
        compare(Size::Small, 1000, LIMIT, Options { samples: 0, growth, ..unlisted() }, None);
    }
}

#[test]
fn wide_tasks() {
    compare(Size::Wide, 300, 500, unlisted(), Some(PATIENCE));
    compare(Size::Wide, 300, 500, Options { growth: 0, ..unlisted() }, Some(PATIENCE));
}

#[test]
fn options_do_not_change_verdicts() {
    let default = Options { samples: 0, growth: 0, ..unlisted() };
    for options in [
        Options::paper(),
        Options { generalize: false, ..Options::paper() },
        Options { reasons: Reasons::Assignment, ..default },
        Options { generalize: false, ..default },
        Options { reschedule: true, ..default },
        Options { order: Order::Narrowest, ..default },
        Options { splits: 0, ..default },
        Options { cores: 0, ..default },
        Options { trials: 0, ..default },
        Options { relative: false, ..default },
        Options { push: false, ..default },
    ] {
        compare(Size::Small, 500, 3000, options, None);
    }
}

/// Both back ends give the same verdict, and the checker has accepted both proofs.
#[cfg(feature = "z3")]
#[test]
fn back_ends_agree() {
    use surefoot_engines::ic3::Backend;

    let verdict = |task: &Task, options: Options| {
        let proof = verify(task, options, &Control::unlimited()).ok()?;
        Some((std::mem::discriminant(&proof.outcome.verdict), proof.check.is_some()))
    };
    for samples in [0, Options::default().samples] {
        let [sat, z3] = [Backend::Sat, Backend::Z3].map(|solver| Options { solver, samples, ..unlisted() });
        check(&tasks(Size::Small), 200, |RandomTask { task, .. }| {
            let Ok(exploration) = explore(&task, 3000) else { return Ok(()) };
            right(&task, &exploration, sat, None)?;
            right(&task, &exploration, z3, None)?;
            prop_assert_eq!(verdict(&task, sat), verdict(&task, z3));
            Ok(())
        });
    }
}

//! Predicate abstraction with predicates that are found, against the reference semantics, on random tasks.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::explain::Order;
use surefoot_engines::ppa::{Options, Refinement, Search, SplitPoint, Variables, verify};
use surefoot_engines::{Control, Task, Verdict};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::proof::inductive;
use surefoot_harness::random::{RandomTask, Size, tasks, tasks_with_predicates};
use surefoot_harness::reference::{Exploration, explore};
use surefoot_harness::run::check;

/// Tasks with more states are passed over.
const LIMIT: usize = 20_000;

/// Checks a verdict, and the invariant of a proof. With a limit, there may be none.
fn right(
    task: &Task,
    exploration: &Exploration,
    options: Options,
    limit: Option<Duration>,
) -> Result<(), TestCaseError> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    let answer = verify(task, options, &Control { deadline, ..Control::unlimited() });
    if let Ok(proof) = &answer {
        if let Verdict::Unknown(_) = proof.outcome.verdict {
            prop_assert!(limit.is_some(), "there was no limit");
            return Ok(());
        }
        prop_assert_eq!(proof.certificate.is_some(), proof.outcome.verdict == Verdict::Safe);
        if let Some(certificate) = &proof.certificate {
            inductive(task, &certificate.regions, LIMIT).map_err(TestCaseError::fail)?;
        }
    }
    let answer = answer.map(|proof| proof.outcome);
    let expected = Expected::of(exploration, Coverage::Any);
    expected.check(task, &answer, false).map_err(TestCaseError::fail)
}

fn compare(tasks: &impl Strategy<Value = RandomTask>, cases: u32, options: Options, limit: Option<Duration>) {
    check(tasks, cases, |random: RandomTask| match explore(&random.task, LIMIT) {
        Ok(exploration) => right(&random.task, &exploration, options, limit),
        Err(_) => Ok(()),
    });
}

/// Without a first look at reachable states, which finds the unsafe ones of small tasks.
fn unlisted() -> Options {
    Options { list: 0, ..Options::default() }
}

#[test]
fn small_tasks_with_a_first_look() {
    compare(&tasks(Size::Small), 500, Options::default(), None);
}

#[test]
fn small_tasks() {
    compare(&tasks(Size::Small), 3000, unlisted(), None);
}

#[test]
fn small_tasks_with_predicates() {
    compare(&tasks_with_predicates(Size::Small), 1000, unlisted(), None);
}

#[test]
fn small_tasks_without_a_policy() {
    let tasks = tasks(Size::Small).prop_map(|mut random| {
        random.task.policy = None;
        random
    });
    compare(&tasks, 500, unlisted(), None);
}

/// Counters that run away are left undecided after a while.
#[test]
fn wide_tasks() {
    compare(&tasks(Size::Wide), 200, unlisted(), Some(Duration::from_secs(1)));
}

#[test]
fn options_do_not_change_verdicts() {
    let order = Order::Sensitivity;
    let witness = |variables, split| Refinement::Witness { variables, split };
    for refinement in [
        Refinement::Barriers,
        Refinement::Values,
        witness(Variables::All, SplitPoint::Witness),
        witness(Variables::All, SplitPoint::Middle),
        witness(Variables::Verix { epsilon: 0.5, order }, SplitPoint::Epsilon),
        witness(Variables::Bsearch { tau: 0.05, order: Order::Declared }, SplitPoint::Witness),
        witness(Variables::Bsearch { tau: 0.05, order: Order::Random(3) }, SplitPoint::Epsilon),
        witness(Variables::Sensitive, SplitPoint::Middle),
        witness(Variables::Random, SplitPoint::Random),
    ] {
        for search in [Search::Breadth, Search::Hamming, Search::Coarse] {
            let options = Options { refinement, search, seed: 5, ..unlisted() };
            compare(&tasks(Size::Small), 200, options, None);
        }
    }
}

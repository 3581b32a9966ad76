//! Predicate abstraction with predicates that are found, against the reference semantics, on random tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::explain::Order;
use surefoot_engines::pa::{Enhancements, Proof};
use surefoot_engines::ppa::{Begin, Laws, Options, Refinement, Search, SplitPoint, Variables, verify};
use surefoot_engines::{Control, Task, TaskError, Verdict};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::proof::inductive;
use surefoot_harness::random::{
    RandomTask, Size, blinded, tasks, tasks_with_predicates, tasks_with_transfers,
};
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
    right_answer(task, exploration, answer, limit.is_some())
}

/// Checks a verdict, and the invariant of a proof.
fn right_answer(
    task: &Task,
    exploration: &Exploration,
    answer: Result<Proof, TaskError>,
    is_limited: bool,
) -> Result<(), TestCaseError> {
    if let Ok(proof) = &answer {
        if let Verdict::Unknown(_) = proof.outcome.verdict {
            prop_assert!(is_limited, "there was no limit");
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

/// What such a policy does not see is left out, if the property does not read it either.
#[test]
fn small_tasks_whose_policies_see_half_of_the_variables() {
    let projections = AtomicUsize::new(0);
    let tasks = prop_oneof![tasks(Size::Small).boxed(), tasks_with_predicates(Size::Small).boxed()];
    check(&tasks, 2000, |random: RandomTask| {
        for (seen, list) in [(0, 0), (1, 0), (0, 10), (1, 10)] {
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
    assert!(projections > 1000, "{projections}");
}

/// Sums that no step changes are facts of all abstract states.
#[test]
fn small_tasks_with_laws() {
    for laws in [Laws::Obeyed, Laws::InTurn] {
        let with_sums = AtomicUsize::new(0);
        let options = Options { laws, ..unlisted() };
        check(&tasks_with_transfers(Size::Small), 1000, |RandomTask { task, .. }| {
            let Ok(exploration) = explore(&task, LIMIT) else { return Ok(()) };
            let answer = verify(&task, options, &Control::unlimited());
            let is_safe_by_sums = answer.as_ref().is_ok_and(|proof| {
                proof.outcome.verdict == Verdict::Safe && proof.laws.iter().any(|law| law.contains(" + "))
            });
            with_sums.fetch_add(usize::from(is_safe_by_sums), Ordering::Relaxed);
            right_answer(&task, &exploration, answer, false)
        });
        let with_sums = with_sums.into_inner();
        assert!(with_sums > 50, "only {with_sums} with {laws:?}");
    }
}

/// Counters that run away are left undecided after a while.
#[test]
fn wide_tasks() {
    compare(&tasks(Size::Wide), 200, unlisted(), Some(Duration::from_secs(1)));
}

/// One of several.
fn any_of<T: Clone + std::fmt::Debug + 'static>(choices: &[T]) -> impl Strategy<Value = T> + use<T> {
    proptest::sample::select(choices.to_vec())
}

fn any_order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Sensitivity), Just(Order::Declared), (0..9_u64).prop_map(Order::Random)]
}

fn any_refinement() -> impl Strategy<Value = Refinement> {
    let part = || any_of(&[0.0, 0.05, 0.3, 0.5, 1.0]);
    let variables = prop_oneof![
        Just(Variables::All),
        Just(Variables::Sensitive),
        Just(Variables::Random),
        (part(), any_order()).prop_map(|(epsilon, order)| Variables::Verix { epsilon, order }),
        (any_of(&[0.01, 0.05, 0.4, 1.0]), any_order())
            .prop_map(|(tau, order)| Variables::Bsearch { tau, order }),
    ];
    let splits = [SplitPoint::Witness, SplitPoint::Middle, SplitPoint::Epsilon, SplitPoint::Random];
    prop_oneof![
        Just(Refinement::Barriers),
        Just(Refinement::Values),
        (variables, any_of(&splits)).prop_map(|(variables, split)| Refinement::Witness { variables, split }),
    ]
}

/// All options, in all combinations.
fn any_options() -> impl Strategy<Value = Options> {
    let enhancements =
        any::<[bool; 4]>().prop_map(|[per_operator, shared_terms, entailed_operators, entailed_bounds]| {
            Enhancements { per_operator, shared_terms, entailed_operators, entailed_bounds }
        });
    let searches = [Search::Breadth, Search::Hamming, Search::Coarse];
    (
        any_of(&[0, 0, 0, 3]),
        any_of(&[Begin::Unsafe, Begin::Commands]),
        any_of(&searches),
        any_refinement(),
        0..9_u64,
        enhancements,
        any_of(&[Laws::Ignored, Laws::Obeyed, Laws::InTurn]),
    )
        .prop_map(|(list, begin, search, refinement, seed, enhancements, laws)| Options {
            list,
            laws,
            begin,
            search,
            refinement,
            seed,
            enhancements,
            ..Options::default()
        })
}

#[test]
fn options_do_not_change_verdicts() {
    let tasks = prop_oneof![
        tasks(Size::Small).boxed(),
        tasks_with_predicates(Size::Small).boxed(),
        tasks_with_transfers(Size::Small).boxed()
    ];
    check(&(tasks, any_options()), 6000, |(random, options): (RandomTask, Options)| {
        match explore(&random.task, LIMIT) {
            Ok(exploration) => right(&random.task, &exploration, options, None),
            Err(_) => Ok(()),
        }
    });
}

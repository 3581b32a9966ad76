//! Once its working memory has grown, a certifier answers questions without allocating.
//!
//! The random policies and questions are those that answers are compared with brute force on. Each box is also asked
//! wider than it can be enumerated, so that searches go deep.

// An allocator is unsafe by nature. This one counts and passes everything on.
#![allow(unsafe_code)]

#[path = "certify/random/mod.rs"]
#[allow(dead_code)]
mod random;
#[path = "../../surefoot-harness/src/run.rs"]
mod run;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use proptest::test_runner::TestCaseError;
use surefoot_policy::certify::{Budget, Certifier, OutputSet};
use surefoot_policy::{Arithmetic, Scorer};

use random::{Asked, Case, cases};
use run::check;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: everything is passed on to the allocator of the system; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread during a call.
fn allocations(call: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

/// The questions of a case, and about wider boxes.
fn questions(case: &Case) -> Vec<Asked> {
    let wider = |asked: &Asked| {
        let widened = |ends: &[i32], by: i32| ends.iter().map(|end| end.saturating_add(by)).collect();
        Asked { lower: widened(&asked.lower, -20), upper: widened(&asked.upper, 20), ..asked.clone() }
    };
    case.questions.iter().flat_map(|asked| [asked.clone(), wider(asked)]).collect()
}

/// Asks the questions of a case several times. After the first round, none may allocate more than it gives back: `call`
/// says how often it may.
///
/// There is one exception. The evaluator of a network may, once, stop to compute in single precision what it has to
/// compute in double precision anyway, after 1024 states or later.
fn check_rounds(case: &Case, call: impl Fn(&mut Certifier, &Asked) -> u64) -> Result<(), TestCaseError> {
    const ROUNDS: usize = 3;
    let is_network = matches!(case.policy.scorer, Scorer::Network(_));
    let mut spare = usize::from(is_network && case.arithmetic == Arithmetic::F64);
    let mut certifier = Certifier::new(&case.policy, case.arithmetic);
    let questions = questions(case);
    for round in 0..ROUNDS {
        for asked in &questions {
            let mut allowed = 0;
            let count = allocations(|| allowed = call(&mut certifier, asked));
            if round > 0 && count > allowed {
                if spare == 0 {
                    let message = format!("{count} allocations in round {round} for {asked:?}");
                    return Err(TestCaseError::fail(message));
                }
                spare -= 1;
            }
        }
    }
    Ok(())
}

/// In this arithmetic, states that enclosures leave open are evaluated with large integers.
fn is_exempt(case: &Case) -> bool {
    case.arithmetic == Arithmetic::Real
}

#[test]
fn questions_allocate_nothing_after_warm_up() {
    let [networks, ensembles, with_facts] = [const { Cell::new(false) }; 3];
    check(&cases(3), 1500, |case| {
        if is_exempt(&case) {
            return Ok(());
        }
        match case.policy.scorer {
            Scorer::Network(_) => networks.set(true),
            Scorer::Ensemble(_) => ensembles.set(true),
        }
        let outputs = case.policy.outputs.len();
        check_rounds(&case, |certifier, asked| {
            with_facts.set(with_facts.get() || !asked.facts.is_empty());
            let (question, budget) = (asked.question(), Budget::boxes(100));
            certifier.possible(&question, &budget);
            certifier.decide(&question, &budget);
            certifier.dominator(&question);
            let (lower, upper) = &asked.core;
            certifier.score_bounds(lower, upper, asked.output);
            certifier.margin_bounds(lower, upper, asked.output, (asked.output + 1) % outputs);
            0
        })
    });
    assert!(networks.get() && ensembles.get() && with_facts.get(), "all kinds of questions were asked");
}

#[test]
fn choices_allocate_their_result() {
    // A set grows at most once for each 64 outputs.
    let growth = |set: &OutputSet| set.iter().last().map_or(0, |last| last as u64 / 64 + 1);
    check(&cases(3), 500, |case| {
        if is_exempt(&case) {
            return Ok(());
        }
        check_rounds(&case, |certifier, asked| {
            let choices = certifier.choices(&asked.question(), &Budget::boxes(100));
            growth(&choices.possible) + growth(&choices.unknown)
        })
    });
}

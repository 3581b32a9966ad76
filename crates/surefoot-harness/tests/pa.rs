//! Predicate abstraction against an abstraction that is computed state by state, on random tasks.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::pa::{Enhancements, Options, Proof, verify};
use surefoot_engines::{Control, StopReason, Task, TaskError, Verdict};
use surefoot_harness::proof::inductive;
use surefoot_harness::random::{RandomTask, Size, tasks_with_predicates};
use surefoot_harness::reference::{Model, all_states, check_trace, holds};
use surefoot_harness::run::check;

/// Tasks with more states are passed over.
const LIMIT: usize = 5000;

/// The locations and the values of all predicates.
type Signature = Vec<i32>;

/// The abstraction.
#[derive(Debug, Default, PartialEq)]
struct Reference {
    start_states: usize,
    states: usize,
    transitions: usize,
    /// Those from abstract states with start states.
    start_transitions: usize,
    unsafe_states: usize,
    /// Abstract states in which the model is wrong.
    errors: usize,
}

fn signature(task: &Task, state: &[i32]) -> Signature {
    let locations = task.system.variables.iter().zip(state).filter(|(v, _)| !v.value_names.is_empty());
    let value = |&predicate| i32::from(holds(&task.system.exprs, predicate, state) == Some(true));
    locations.map(|(_, &value)| value).chain(task.property.predicates.iter().map(value)).collect()
}

/// The abstraction, state by state; `None` if the start condition is undefined somewhere or there are too many states.
fn reference(task: &Task) -> Option<Reference> {
    let model = Model::new(task);
    let mut cells: BTreeMap<Signature, Vec<Vec<i32>>> = BTreeMap::new();
    let mut open = BTreeSet::new();
    for state in all_states(task, LIMIT)? {
        let cell = signature(task, &state);
        if model.is_start(&state).ok()? || task.property.start.listed.contains(&state) {
            open.insert(cell.clone());
        }
        cells.entry(cell).or_default().push(state);
    }
    let mut found = Reference { start_states: open.len(), ..Reference::default() };
    let starts = open.clone();
    let mut open: Vec<Signature> = open.into_iter().collect();
    let mut seen: BTreeSet<Signature> = open.iter().cloned().collect();
    while let Some(cell) = open.pop() {
        let mut targets = BTreeSet::new();
        let (mut is_unsafe, mut is_wrong) = (false, false);
        for state in &cells[&cell] {
            let Ok(status) = model.status(state) else {
                is_wrong = true;
                continue;
            };
            is_unsafe |= status.is_unsafe;
            if status.ends_run {
                continue;
            }
            match model.steps(state) {
                Err(_) => is_wrong = true,
                Ok(steps) => targets.extend(steps.steps.iter().map(|step| signature(task, &step.state))),
            }
        }
        found.states += 1;
        found.transitions += targets.len();
        found.start_transitions += if starts.contains(&cell) { targets.len() } else { 0 };
        found.unsafe_states += usize::from(is_unsafe);
        found.errors += usize::from(is_wrong);
        open.extend(targets.into_iter().filter(|target| seen.insert(target.clone())));
    }
    Some(found)
}

fn right(task: &Task, expected: &Reference, options: Options) -> Result<(), TestCaseError> {
    let answer = verify(task, options, &Control::unlimited());
    let Proof { outcome, statistics, certificate, .. } = match answer {
        Ok(proof) => proof,
        Err(TaskError::Model(_)) if expected.errors > 0 => return Ok(()),
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    match &outcome.verdict {
        Verdict::Unsafe(trace) => {
            prop_assert!(expected.unsafe_states > 0);
            return check_trace(task, trace).map_err(TestCaseError::fail);
        }
        Verdict::Safe => {
            prop_assert_eq!(expected.unsafe_states + expected.errors, 0);
            let certificate = certificate.expect("it is safe");
            inductive(task, &certificate.regions, LIMIT).map_err(TestCaseError::fail)?;
        }
        Verdict::Unknown(reason) => {
            prop_assert_eq!(*reason, StopReason::Abstraction);
            prop_assert!(expected.unsafe_states + expected.errors > 0);
        }
    }
    // Where the model is wrong, there is no abstraction to compare with.
    if expected.errors == 0 {
        let found = Reference {
            start_states: statistics.start_states as usize,
            states: statistics.states as usize,
            transitions: statistics.transitions as usize,
            start_transitions: statistics.start_transitions as usize,
            unsafe_states: statistics.unsafe_states as usize,
            errors: statistics.errors as usize,
        };
        prop_assert_eq!(&found, expected);
    } else {
        prop_assert!(statistics.errors > 0);
    }
    Ok(())
}

#[test]
fn the_abstraction_of_small_tasks() {
    check(&tasks_with_predicates(Size::Small), 3000, |random: RandomTask| match reference(&random.task) {
        Some(expected) => right(&random.task, &expected, Options::default()),
        None => Ok(()),
    });
}

#[test]
fn the_abstraction_without_a_policy() {
    check(&tasks_with_predicates(Size::Small), 500, |mut random: RandomTask| {
        random.task.policy = None;
        match reference(&random.task) {
            Some(expected) => right(&random.task, &expected, Options::default()),
            None => Ok(()),
        }
    });
}

#[test]
fn enhancements_do_not_change_the_abstraction() {
    let all = Enhancements::default();
    for enhancements in [
        Enhancements { per_operator: false, ..all },
        Enhancements { shared_terms: false, ..all },
        Enhancements { entailed_operators: false, ..all },
        Enhancements { entailed_bounds: false, ..all },
        Enhancements { entailed_operators: false, entailed_bounds: false, ..all },
    ] {
        let options = Options { enhancements, ..Options::default() };
        check(&tasks_with_predicates(Size::Small), 400, |random: RandomTask| match reference(&random.task) {
            Some(expected) => right(&random.task, &expected, options),
            None => Ok(()),
        });
    }
}

/// The tasks are worth it: some abstractions prove a property, some do not, and most have several states.
#[test]
fn the_tasks_have_variety() {
    let (safe, coarse, large) = (std::cell::Cell::new(0), std::cell::Cell::new(0), std::cell::Cell::new(0));
    let add = |cell: &std::cell::Cell<u32>, is: bool| cell.set(cell.get() + u32::from(is));
    check(&tasks_with_predicates(Size::Small), 500, |random: RandomTask| {
        if let Some(found) = reference(&random.task) {
            add(&safe, found.errors + found.unsafe_states == 0);
            add(&coarse, found.errors == 0 && found.unsafe_states > 0);
            add(&large, found.states >= 4);
        }
        Ok(())
    });
    let counts = (safe.get(), coarse.get(), large.get());
    assert!(counts.0 >= 50 && counts.1 >= 50 && counts.2 >= 50, "{counts:?}");
}

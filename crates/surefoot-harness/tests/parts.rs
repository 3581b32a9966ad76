//! The parts that engines are made of against the reference: enumeration, passes, the semantics at single states.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::Task;
use surefoot_engines::step::Stepper;
use surefoot_harness::random::{RandomTask, Size, blinded, tasks};
use surefoot_harness::reference::{Exploration, Model, all_states, explore, holds};
use surefoot_harness::run::check;
use surefoot_model::enumerate::{Enumerated, narrow, solutions};
use surefoot_model::pass::{Fate, Reduction};
use surefoot_model::{ExprId, VarId};
use surefoot_policy::{Policy, PolicyInput};

/// Tasks with more states are passed over.
const LIMIT: usize = 20_000;

/// All conditions of a task.
fn conditions(task: &Task) -> Vec<ExprId> {
    let guards = task.system.commands.iter().map(|command| command.guard);
    let property = &task.property;
    let others = [property.start.condition, Some(property.unsafe_states), property.goal, property.hold];
    guards.chain(others.into_iter().flatten()).collect()
}

fn bounds(task: &Task) -> (Vec<i32>, Vec<i32>) {
    task.system.variables.iter().map(|v| v.ty.bounds().expect("discrete")).unzip()
}

#[test]
fn every_solution_is_enumerated_once() {
    check(&tasks(Size::Small), 1500, |random: RandomTask| {
        let task = &random.task;
        let Some(states) = all_states(task, LIMIT) else { return Ok(()) };
        let (lower, upper) = bounds(task);
        for condition in conditions(task) {
            let exprs = &task.system.exprs;
            let value = |state: &[i32]| holds(exprs, condition, state);
            let mut found = Vec::new();
            let go_on = || ControlFlow::Continue(());
            let end = solutions(exprs, condition, &lower, &upper, go_on, |state| {
                found.push(state.to_vec());
                ControlFlow::Continue(())
            });
            match end {
                Enumerated::All => {
                    found.sort();
                    prop_assert!(states.iter().all(|state| value(state).is_some()), "undefined somewhere");
                    let expected = states.iter().filter(|state| value(state) == Some(true));
                    prop_assert_eq!(found, expected.cloned().collect::<Vec<_>>());
                }
                Enumerated::Undefined(at) => prop_assert_eq!(value(&at.state), None),
                Enumerated::Stopped => prop_assert!(false, "nothing stops it"),
            }
            // The box of the solutions also holds the states where the condition has no value.
            let narrowed = narrow(exprs, condition, &lower, &upper);
            for state in states.iter().filter(|state| value(state) != Some(false)) {
                let Some((lower, upper)) = &narrowed else {
                    return Err(TestCaseError::fail("narrowed to nothing"));
                };
                let inside = (0..state.len()).all(|v| lower[v] <= state[v] && state[v] <= upper[v]);
                prop_assert!(inside, "{state:?} is outside {narrowed:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn single_states_mean_the_same() {
    let test = |random: RandomTask| {
        let task = &random.task;
        // Also states that are not reachable, as long as they are few.
        let states = all_states(task, 300).or_else(|| explore(task, 300).ok().map(|found| found.states));
        let model = Model::new(task);
        let mut stepper = Stepper::new(task);
        for state in states.unwrap_or_default() {
            match (model.status(&state), stepper.status(&state)) {
                (Ok(expected), Ok(found)) => {
                    prop_assert_eq!(found.is_unsafe, expected.is_unsafe, "unsafe at {:?}", state);
                    prop_assert_eq!(found.is_goal, expected.is_goal, "goal at {:?}", state);
                    prop_assert_eq!(found.ends_run, expected.ends_run, "end at {:?}", state);
                }
                (expected, found) => {
                    prop_assert_eq!(found.is_ok(), expected.is_ok(), "status at {:?}: {:?}", state, expected);
                }
            }
            match (model.steps(&state), stepper.successors(&state)) {
                (Ok(expected), Ok(found)) => {
                    let found: Vec<_> = found.into_iter().map(|t| (t.command, t.outcome, t.state)).collect();
                    let steps = expected.steps.into_iter().map(|s| (s.command, s.outcome, s.state));
                    prop_assert_eq!(found, steps.collect::<Vec<_>>(), "steps at {:?}", state);
                    let enabled = stepper.enabled(&state).expect("successors were computed");
                    let choice = stepper.choice(&state, &enabled);
                    prop_assert_eq!(choice.stalls, expected.stalls, "stall at {:?}", state);
                }
                (expected, found) => {
                    prop_assert_eq!(found.is_ok(), expected.is_ok(), "steps at {:?}: {:?}", state, expected);
                }
            }
        }
        Ok(())
    };
    check(&tasks(Size::Small), 2500, test);
    check(&tasks(Size::Wide), 1000, test);
}

/// The policy's variables are those of the original system.
fn reduced_task(task: &Task, reduction: &Reduction) -> Task {
    let policy = task.policy.as_ref().map(|policy| {
        policy.map_inputs(|v| match reduction.restore.variables[v.index()] {
            Fate::Kept(v) => PolicyInput::Variable(v),
            Fate::Constant(value) => PolicyInput::Constant(value),
            Fate::Sliced { .. } => panic!("an input of the policy was sliced"),
        })
    });
    Task {
        system: reduction.system.clone(),
        property: reduction.property.clone(),
        policy,
        semantics: task.semantics,
    }
}

/// A pass, given the variables that the policy reads.
type Pass = fn(Reduction, &[VarId]) -> Reduction;

const PASSES: [(&str, Pass); 5] = [
    ("identity", |reduction, _| reduction),
    ("fix constants", |reduction, _| reduction.fix_constants()),
    ("remove dead commands", |reduction, _| reduction.remove_dead_commands()),
    ("slice", |reduction, inputs| reduction.slice(inputs)),
    ("simplify", |reduction, inputs| reduction.simplify(inputs)),
];

#[test]
fn passes_change_no_answer() {
    let test = |random: RandomTask| {
        let task = &random.task;
        let Ok(original) = explore(task, LIMIT) else { return Ok(()) };
        let inputs = task.policy.as_ref().map_or(Vec::new(), Policy::variables);
        for (name, pass) in PASSES {
            let reduction = pass(Reduction::identity(task.system.clone(), task.property.clone()), &inputs);
            let reduced_task = reduced_task(task, &reduction);
            let reduced = explore(&reduced_task, LIMIT).expect("smaller than the original");
            let same = same_answers(&original, &reduced)
                .and_then(|()| same_steps(task, &original, &reduction, &reduced_task));
            same.map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        }
        Ok(())
    };
    check(&tasks(Size::Small), 2500, test);
    check(&tasks(Size::Wide), 500, test);
}

#[test]
fn projections_keep_all_runs() {
    let [projections, weaker] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let test = |task: &Task| {
        let Ok(original) = explore(task, LIMIT) else { return Ok(()) };
        let inputs = task.policy.as_ref().map_or(Vec::new(), Policy::variables);
        let identity = Reduction::identity(task.system.clone(), task.property.clone());
        let smaller = identity.fix_constants().remove_dead_commands();
        let Some(projection) = smaller.project(&inputs, task.semantics.filter) else { return Ok(()) };
        let Ok(projected) = explore(&reduced_task(task, &projection), LIMIT) else { return Ok(()) };
        projections.fetch_add(1, Ordering::Relaxed);
        // What is wrong or unsafe is so in the projection, not later.
        let nearest = |e: &Exploration| {
            let error = e.error.as_ref().map(|(distance, _)| *distance);
            error.into_iter().chain(e.unsafe_distance).chain(e.start_error.as_ref().map(|_| 0)).min()
        };
        let (before, after) = (nearest(&original), nearest(&projected));
        prop_assert!(
            before.is_none_or(|before| after.is_some_and(|after| after <= before)),
            "{before:?} became {after:?}"
        );
        if !projected.has_error() {
            let known: HashSet<Vec<i32>> = projected.states.into_iter().collect();
            let states: HashSet<Vec<i32>> =
                original.states.iter().map(|state| projection.restore.project(state)).collect();
            prop_assert!(states.is_subset(&known), "{:?} are lost", states.difference(&known));
            weaker.fetch_add(usize::from(states.len() < known.len()), Ordering::Relaxed);
        }
        Ok(())
    };
    let test = |random: RandomTask| {
        test(&random.task)?;
        (0..2).try_for_each(|seen| test(&blinded(&random.task, |v| v.index() % 2 == seen)))
    };
    check(&tasks(Size::Small), 2500, test);
    check(&tasks(Size::Wide), 500, test);
    // Many tasks have something to leave out, and some have more states by it.
    let counts = [projections.into_inner(), weaker.into_inner()];
    assert!(counts[0] > 1000 && counts[1] > 20, "{counts:?}");
}

fn same_answers(original: &Exploration, reduced: &Exploration) -> Result<(), String> {
    let answers = |e: &Exploration| {
        let error = e.error.as_ref().map(|(distance, _)| *distance);
        (e.start_error.is_some(), error, e.unsafe_distance)
    };
    if answers(original) == answers(reduced) {
        Ok(())
    } else {
        Err(format!("{:?} became {:?}", answers(original), answers(reduced)))
    }
}

/// Each step of an original state is a step of the projected state, and the other way round.
fn same_steps(
    task: &Task,
    original: &Exploration,
    reduction: &Reduction,
    reduced: &Task,
) -> Result<(), String> {
    if original.has_error() {
        return Ok(());
    }
    let restore = &reduction.restore;
    let (model, small) = (Model::new(task), Model::new(reduced));
    for state in &original.states {
        let projected = restore.project(state);
        let (Ok(status), Ok(small_status)) = (model.status(state), small.status(&projected)) else {
            return Err(format!("the conditions have no value at {projected:?}"));
        };
        if status != small_status {
            return Err(format!("{status:?} became {small_status:?} at {state:?}"));
        }
        if status.ends_run {
            continue;
        }
        let (Ok(steps), Ok(small_steps)) = (model.steps(state), small.steps(&projected)) else {
            return Err(format!("the model became wrong at {projected:?}"));
        };
        let steps = steps.steps.into_iter();
        let expected: HashSet<_> =
            steps.map(|step| (step.command, step.outcome, restore.project(&step.state))).collect();
        let found = small_steps.steps.into_iter().map(|step| {
            let outcome = restore.outcomes[step.command][step.outcome];
            (restore.commands[step.command], outcome, step.state)
        });
        let found: HashSet<_> = found.collect();
        if found != expected {
            return Err(format!("the steps of {state:?} became {found:?}, not {expected:?}"));
        }
    }
    Ok(())
}

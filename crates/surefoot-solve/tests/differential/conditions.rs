//! Conditions of random tasks: guards, properties, outcomes, in all combinations.

use std::ops::ControlFlow;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::Task;
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::run::check;
use surefoot_model::{ExprId, Type, Value};
use surefoot_solve::{Answer, Arithmetic, Bound, Enumerated, Limits, Lit, SatSolver, States, enumerate};

use super::states::{all_states, bound_genes, bounds, successor, types, value};

/// Something that is true or not at a state.
#[derive(Debug, Clone, Copy)]
enum Fact {
    True(ExprId),
    False(ExprId),
    Undefined(ExprId),
    Possible(usize, usize),
    Positive(usize, usize),
    Bound(Bound),
}

type Gene = (u8, u16, bool);

/// A condition of the task, chosen by a random number.
fn condition(task: &Task, number: u16) -> ExprId {
    let commands = task.system.commands.iter().flat_map(|command| {
        let requirements = command.outcomes.iter().flat_map(|outcome| &outcome.requirements);
        std::iter::once(command.guard).chain(requirements.map(|requirement| requirement.condition))
    });
    let property = &task.property;
    let mut all: Vec<ExprId> = commands.chain([property.unsafe_states]).collect();
    all.extend(property.start.condition);
    all.extend(property.hold);
    all.extend(property.goal);
    all.extend(&property.predicates);
    // Conditions inside of others count, too.
    let inside = task.system.exprs.reachable(all.iter().copied());
    all.extend(inside.into_iter().filter(|&id| task.system.exprs.ty(id) == Type::Bool));
    all[usize::from(number) % all.len()]
}

fn fact(task: &Task, (kind, number, _): Gene) -> Fact {
    let steps: Vec<(usize, usize)> = (0..task.system.commands.len())
        .flat_map(|c| (0..task.system.commands[c].outcomes.len()).map(move |o| (c, o)))
        .collect();
    match kind % 10 {
        0..=2 => Fact::True(condition(task, number)),
        3..=4 => Fact::False(condition(task, number)),
        5 => Fact::Undefined(condition(task, number)),
        6 | 7 if !steps.is_empty() => {
            let (command, outcome) = steps[usize::from(number) % steps.len()];
            if kind % 10 == 6 { Fact::Possible(command, outcome) } else { Fact::Positive(command, outcome) }
        }
        _ => Fact::Bound(bounds(&task.system, &[(number as u8, (number >> 8) as u8, kind > 128)])[0]),
    }
}

fn holds(task: &Task, fact: Fact, state: &[i32]) -> bool {
    let system = &task.system;
    let at = |id| value(&system.exprs, &types(system), id, state);
    match fact {
        Fact::True(id) => at(id) == Some(Value::Bool(true)),
        Fact::False(id) => at(id) == Some(Value::Bool(false)),
        Fact::Undefined(id) => at(id).is_none(),
        Fact::Possible(c, o) => successor(system, &system.commands[c].outcomes[o], state).is_some(),
        Fact::Positive(c, o) => {
            let probability = at(system.commands[c].outcomes[o].probability);
            probability.and_then(Value::as_real).is_some_and(|p| p > 0.0)
        }
        Fact::Bound(bound) => bound.holds(state),
    }
}

fn literal<S: Arithmetic + Default>(states: &mut States<'_, S>, fact: Fact) -> Lit {
    match fact {
        Fact::True(id) => states.condition(id).is_true,
        Fact::False(id) => states.condition(id).is_false,
        Fact::Undefined(id) => {
            let truths = states.condition(id);
            states.encoder().undefined(truths)
        }
        Fact::Possible(c, o) => states.possible(c, o),
        Fact::Positive(c, o) => states.positive(c, o).is_true,
        Fact::Bound(bound) => states.bound(bound),
    }
}

fn questions() -> impl Strategy<Value = Vec<Vec<Gene>>> {
    prop::collection::vec(prop::collection::vec(any::<Gene>(), 0..6), 1..8)
}

fn ask_all<S: Arithmetic + Default>(
    task: &Task,
    questions: &[Vec<Gene>],
    limits: Limits,
) -> Result<(), TestCaseError> {
    let all = all_states(&task.system);
    let mut states = States::<S>::new(&task.system).expect("discrete");
    states.encoder().set_limits(limits);
    for genes in questions {
        let facts: Vec<(Fact, bool)> = genes.iter().map(|&gene| (fact(task, gene), gene.2)).collect();
        let assumptions: Vec<Lit> = facts
            .iter()
            .map(|&(fact, positive)| {
                let literal = literal(&mut states, fact);
                if positive { literal } else { !literal }
            })
            .collect();
        let satisfies = |state: &[i32], part: &dyn Fn(usize) -> bool| {
            let mut asked = facts.iter().enumerate().filter(|&(i, _)| part(i));
            asked.all(|(_, &(fact, positive))| holds(task, fact, state) == positive)
        };
        match states.query(&assumptions) {
            Answer::Satisfiable => {
                let state = states.state();
                prop_assert!(satisfies(&state, &|_| true), "{state:?} does not satisfy {facts:?}");
                prop_assert!(assumptions.iter().all(|&a| surefoot_solve::Solve::holds(states.encoder(), a)));
            }
            Answer::Unsatisfiable => {
                let state = all.iter().find(|state| satisfies(state, &|_| true));
                prop_assert!(state.is_none(), "{state:?} satisfies {facts:?}");
                let core = states.core();
                prop_assert!(core.iter().all(|literal| assumptions.contains(literal)));
                let in_core = |i: usize| core.contains(&assumptions[i]);
                prop_assert!(!all.iter().any(|state| satisfies(state, &in_core)), "{core:?} is no core");
                prop_assert_eq!(states.query(&core), Answer::Unsatisfiable);
            }
            Answer::Unknown => prop_assert!(false, "nobody interrupted"),
        }
    }
    // All states that satisfy the first question, and nothing else.
    let facts: Vec<(Fact, bool)> = questions[0].iter().map(|&gene| (fact(task, gene), gene.2)).collect();
    let assumptions: Vec<Lit> = facts
        .iter()
        .map(|&(fact, positive)| {
            let literal = literal(&mut states, fact);
            if positive { literal } else { !literal }
        })
        .collect();
    let encoder = states.encoder();
    let variables: Vec<_> =
        (0..task.system.variables.len()).map(|v| encoder.integer(surefoot_model::VarId(v as u32))).collect();
    let mut found = Vec::new();
    let end = enumerate(encoder, &assumptions, &variables, |state| {
        found.push(state.to_vec());
        ControlFlow::Continue(())
    });
    prop_assert_eq!(end, Enumerated::All);
    found.sort();
    let expected =
        all.iter().filter(|state| facts.iter().all(|&(f, positive)| holds(task, f, state) == positive));
    prop_assert_eq!(found, expected.cloned().collect::<Vec<_>>());
    Ok(())
}

fn questions_about_tasks<S: Arithmetic + Default>(cases: u32, limits: Limits) {
    check(&(tasks(Size::Small), questions()), cases, |(RandomTask { task, .. }, questions)| {
        ask_all::<S>(&task, &questions, limits)
    });
}

#[test]
fn conditions_of_random_tasks_agree_with_brute_force() {
    questions_about_tasks::<SatSolver>(5000, Limits::default());
}

#[test]
fn lazily_explained_conditions_of_random_tasks_agree_with_brute_force() {
    questions_about_tasks::<SatSolver>(3000, Limits::LAZY);
}

#[cfg(feature = "z3")]
#[test]
fn conditions_of_random_tasks_agree_with_brute_force_in_z3() {
    questions_about_tasks::<surefoot_solve::Z3Solver>(300, Limits::default());
}

#[test]
fn frames_are_turned_on_by_their_literals() {
    let strategy = (tasks(Size::Small), prop::collection::vec((any::<bool>(), bound_genes(4)), 1..12));
    check(&strategy, 1000, |(RandomTask { task, .. }, clauses)| {
        let all = all_states(&task.system);
        let mut states = States::<SatSolver>::new(&task.system).expect("discrete");
        let frames = [states.add_frame(), states.add_frame()];
        let clauses: Vec<(usize, Vec<Bound>)> = clauses
            .iter()
            .map(|(second, genes)| (usize::from(*second), bounds(&task.system, genes)))
            .collect();
        for (frame, clause) in &clauses {
            states.add_clause(frames[*frame], clause);
        }
        for chosen in [vec![], vec![0], vec![1], vec![0, 1]] {
            let literals: Vec<Lit> = chosen.iter().map(|&frame| states.frame(frames[frame])).collect();
            let inside = |state: &Vec<i32>| {
                let mut demanded = clauses.iter().filter(|(frame, _)| chosen.contains(frame));
                demanded.all(|(_, clause)| clause.iter().any(|bound| bound.holds(state)))
            };
            let expected = if all.iter().any(inside) { Answer::Satisfiable } else { Answer::Unsatisfiable };
            prop_assert_eq!(states.query(&literals), expected);
            if expected == Answer::Satisfiable {
                prop_assert!(inside(&states.state()));
            }
        }
        Ok(())
    });
}

/// What an engine needs to find model errors, against the semantics at single states.
#[test]
fn errors_are_where_the_semantics_has_them() {
    use surefoot_engines::step::Stepper;
    use surefoot_engines::{ModelErrorKind, OutOfDomain};
    check(&tasks(Size::Small), 1000, |RandomTask { mut task, .. }| {
        task.policy = None;
        task.semantics.out_of_domain = OutOfDomain::Error;
        let mut states = States::<SatSolver>::new(&task.system).expect("discrete");
        let mut errors = Vec::new();
        for command in 0..task.system.commands.len() {
            let guard = states.guard(command);
            errors.push(states.encoder().undefined(guard));
            for outcome in 0..task.system.commands[command].outcomes.len() {
                let (positive, possible) =
                    (states.positive(command, outcome), states.possible(command, outcome));
                errors.push(states.encoder().and(&[guard.is_true, positive.is_true, !possible]));
            }
        }
        let error = states.encoder().or(&errors);
        let mut stepper = Stepper::new(&task);
        for state in all_states(&task.system) {
            let expected = match stepper.successors(&state) {
                Ok(_) => Answer::Unsatisfiable,
                // Wrong distributions are the point evaluator's business, and hide what comes after them.
                Err(error) if matches!(error.kind, ModelErrorKind::Probabilities(_)) => continue,
                Err(_) => Answer::Satisfiable,
            };
            let mut literals: Vec<Lit> =
                Bound::of_state(&state).into_iter().map(|bound| states.bound(bound)).collect();
            literals.push(error);
            prop_assert_eq!(states.query(&literals), expected, "{:?}", state);
        }
        Ok(())
    });
}

#[test]
fn solvers_can_move_to_other_threads() {
    fn is_send<T: Send>() {}
    is_send::<surefoot_solve::Encoder<SatSolver>>();
    is_send::<surefoot_solve::Transitions<'static, SatSolver>>();
}

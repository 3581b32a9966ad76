//! Steps from boxes into frames, against a loop over all states.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::step::Stepper;
use surefoot_engines::{OutOfDomain, Task};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::run::check;
use surefoot_model::{ExprId, Value};
use surefoot_solve::{Answer, Arithmetic, Bound, FrameId, Limits, SatSolver, Step, Transitions};

use super::states::{all_states, bound_genes, bounds, successor, types, value};

type BoundGenes = Vec<(u8, u8, bool)>;

/// What happens to the solvers, in order.
#[derive(Debug, Clone)]
enum Action {
    Clause(u8, BoundGenes),
    Condition(u8, u8),
    Restrict(u8, bool),
    Query { step: u16, current: BoundGenes, frames: u8 },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        4 => (any::<u8>(), bound_genes(4)).prop_map(|(frame, genes)| Action::Clause(frame, genes)),
        1 => any::<(u8, u8)>().prop_map(|(frame, condition)| Action::Condition(frame, condition)),
        1 => any::<(u8, bool)>().prop_map(|(condition, value)| Action::Restrict(condition, value)),
        12 => (any::<u16>(), bound_genes(6), any::<u8>())
            .prop_map(|(step, current, frames)| Action::Query { step, current, frames }),
    ];
    prop::collection::vec(action, 1..40)
}

const FRAMES: usize = 3;

/// What the frames and sources demand, by brute force.
#[derive(Default)]
struct Demands {
    clauses: Vec<(usize, Vec<Bound>)>,
    conditions: Vec<(usize, ExprId)>,
    sources: Vec<(ExprId, bool)>,
}

impl Demands {
    fn frame(&self, task: &Task, frame: usize, state: &[i32]) -> bool {
        let clauses = self.clauses.iter().filter(|(f, _)| *f == frame);
        let conditions = self.conditions.iter().filter(|(f, _)| *f == frame);
        clauses.into_iter().all(|(_, clause)| clause.iter().any(|bound| bound.holds(state)))
            && conditions.into_iter().all(|&(_, id)| truth(task, id, state) == Some(true))
    }

    /// The state after a step, if the step is possible from a source.
    fn step(&self, task: &Task, step: Step, state: &[i32]) -> Option<Vec<i32>> {
        let command = &task.system.commands[step.command];
        let outcome = &command.outcomes[step.outcome];
        let probability =
            value(&task.system.exprs, &types(&task.system), outcome.probability, state)?.as_real()?;
        let enabled = truth(task, command.guard, state) == Some(true)
            && probability > 0.0
            && self.sources.iter().all(|&(id, value)| truth(task, id, state) == Some(value));
        if enabled { successor(&task.system, outcome, state) } else { None }
    }
}

fn truth(task: &Task, id: ExprId, state: &[i32]) -> Option<bool> {
    value(&task.system.exprs, &types(&task.system), id, state).and_then(Value::as_bool)
}

fn run<S: Arithmetic + Default>(
    task: &Task,
    actions: &[Action],
    limits: Limits,
) -> Result<(), TestCaseError> {
    let all = all_states(&task.system);
    let steps: Vec<Step> = (0..task.system.commands.len())
        .flat_map(|command| {
            let outcomes = 0..task.system.commands[command].outcomes.len();
            outcomes.map(move |outcome| Step { command, outcome })
        })
        .collect();
    if steps.is_empty() {
        return Ok(());
    }
    let mut transitions = Transitions::<S>::new(&task.system).expect("discrete");
    transitions.set_limits(limits);
    let frames: Vec<FrameId> = (0..FRAMES).map(|_| transitions.add_frame()).collect();
    let mut demands = Demands::default();
    let property = &task.property;
    let conditions: Vec<ExprId> =
        [Some(property.unsafe_states), property.goal, property.hold, property.start.condition]
            .into_iter()
            .flatten()
            .chain(property.predicates.iter().copied())
            .collect();
    for action in actions {
        match action {
            Action::Clause(frame, genes) => {
                let (frame, clause) = (usize::from(*frame) % FRAMES, bounds(&task.system, genes));
                transitions.add_clause(frames[frame], &clause);
                demands.clauses.push((frame, clause));
            }
            Action::Condition(frame, condition) => {
                let frame = usize::from(*frame) % FRAMES;
                let condition = conditions[usize::from(*condition) % conditions.len()];
                transitions.add_condition(frames[frame], condition);
                demands.conditions.push((frame, condition));
            }
            Action::Restrict(condition, value) => {
                let condition = conditions[usize::from(*condition) % conditions.len()];
                transitions.restrict_sources(condition, *value);
                demands.sources.push((condition, *value));
            }
            Action::Query { step, current, frames: chosen } => {
                let step = steps[usize::from(*step) % steps.len()];
                let current = bounds(&task.system, current);
                let chosen: Vec<usize> = (0..FRAMES).filter(|frame| chosen >> frame & 1 == 1).collect();
                let asked: Vec<FrameId> = chosen.iter().map(|&frame| frames[frame]).collect();
                let leads = |state: &[i32], bounds: &[Bound], frames: &[FrameId]| {
                    bounds.iter().all(|bound| bound.holds(state))
                        && demands.step(task, step, state).is_some_and(|after| {
                            frames.iter().all(|frame| demands.frame(task, frame.0 as usize, &after))
                        })
                };
                match transitions.query(step, &current, &asked) {
                    Answer::Satisfiable => {
                        let state = transitions.state();
                        prop_assert!(leads(&state, &current, &asked), "{state:?}");
                        prop_assert_eq!(demands.step(task, step, &state), Some(transitions.successor()));
                    }
                    Answer::Unsatisfiable => {
                        let state = all.iter().find(|state| leads(state, &current, &asked));
                        prop_assert!(state.is_none(), "{state:?} was overlooked");
                        let core = transitions.core().clone();
                        prop_assert!(!core.is_relative);
                        prop_assert!(core.bounds.iter().all(|bound| current.contains(bound)));
                        prop_assert!(core.frames.iter().all(|frame| asked.contains(frame)));
                        let state = all.iter().find(|state| leads(state, &core.bounds, &core.frames));
                        prop_assert!(state.is_none(), "{core:?} is no core: {state:?}");
                        let again = transitions.query(step, &core.bounds, &core.frames);
                        prop_assert_eq!(again, Answer::Unsatisfiable);
                    }
                    Answer::Unknown => prop_assert!(false, "nobody interrupted"),
                }
                // Out of a box around the states within the bounds.
                let stay: Vec<Bound> = current.iter().step_by(2).copied().collect();
                let leaves = |state: &[i32]| {
                    let after = demands.step(task, step, state);
                    after.is_some_and(|after| stay.iter().any(|bound| !bound.holds(&after)))
                };
                match transitions.query_leaving(step, &current, &asked, &stay) {
                    Answer::Satisfiable => {
                        let state = transitions.state();
                        prop_assert!(leads(&state, &current, &asked) && leaves(&state), "{state:?}");
                    }
                    Answer::Unsatisfiable => {
                        let leaving = |bounds: &[Bound], frames: &[FrameId], any: bool| {
                            all.iter().find(|state| leads(state, bounds, frames) && (any || leaves(state)))
                        };
                        let state = leaving(&current, &asked, false);
                        prop_assert!(state.is_none(), "{state:?} was overlooked");
                        let core = transitions.core();
                        prop_assert!(core.bounds.iter().all(|bound| current.contains(bound)));
                        prop_assert!(core.frames.iter().all(|frame| asked.contains(frame)));
                        let state = leaving(&core.bounds, &core.frames, !core.is_relative);
                        prop_assert!(state.is_none(), "{core:?} is no core: {state:?}");
                    }
                    Answer::Unknown => prop_assert!(false, "nobody interrupted"),
                }
            }
        }
    }
    Ok(())
}

#[test]
fn steps_of_random_tasks_agree_with_brute_force() {
    check(&(tasks(Size::Small), actions()), 5000, |(RandomTask { task, .. }, actions)| {
        run::<SatSolver>(&task, &actions, Limits::default())
    });
}

#[test]
fn lazily_explained_steps_of_random_tasks_agree_with_brute_force() {
    check(&(tasks(Size::Small), actions()), 2000, |(RandomTask { task, .. }, actions)| {
        run::<SatSolver>(&task, &actions, Limits::LAZY)
    });
}

#[cfg(feature = "z3")]
#[test]
fn steps_of_random_tasks_agree_with_brute_force_in_z3() {
    check(&(tasks(Size::Small), actions()), 200, |(RandomTask { task, .. }, actions)| {
        run::<surefoot_solve::Z3Solver>(&task, &actions, Limits::default())
    });
}

/// In both readings of updates that leave a domain, steps are those of the semantics at single states.
#[test]
fn steps_are_those_of_the_semantics() {
    check(&tasks(Size::Small), 500, |RandomTask { mut task, .. }| {
        task.policy = None;
        let mut transitions = Transitions::<SatSolver>::new(&task.system).expect("discrete");
        for out_of_domain in [OutOfDomain::Block, OutOfDomain::Error] {
            task.semantics.out_of_domain = out_of_domain;
            let task = task.clone();
            let mut stepper = Stepper::new(&task);
            for state in all_states(&task.system) {
                // Where the reading has an error, there are no steps to compare.
                let Ok(expected) = stepper.successors(&state) else { continue };
                let current = Bound::of_state(&state);
                for (command, command_data) in task.system.commands.iter().enumerate() {
                    for outcome in 0..command_data.outcomes.len() {
                        let step = Step { command, outcome };
                        let expected = expected.iter().find(|t| (t.command, t.outcome) == (command, outcome));
                        match transitions.query(step, &current, &[]) {
                            Answer::Satisfiable => {
                                prop_assert_eq!(transitions.state(), state.clone());
                                prop_assert_eq!(
                                    Some(transitions.successor()),
                                    expected.map(|t| t.state.clone())
                                );
                            }
                            answer => {
                                prop_assert_eq!(answer, Answer::Unsatisfiable);
                                prop_assert!(expected.is_none(), "{:?} from {:?}", step, state);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    });
}

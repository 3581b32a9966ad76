//! Where runs must not go: unsafe states, and states or steps at which the model is wrong.

use surefoot_solve::{Answer, AnySolver, Lit, States};

use super::problem::Problem;

/// Literals of a solver for states.
pub struct Bad {
    /// Implies that the state is unsafe.
    pub unsafe_state: Lit,
    /// Implies that something is undefined that never may be.
    pub undefined: Lit,
    /// One of both.
    pub state: Lit,
    /// For each command, a literal that implies that taking it is an error; `None` if it never is.
    pub errors: Vec<Option<Lit>>,
}

impl Bad {
    /// Tells a solver what is bad.
    pub fn new(problem: &Problem, states: &mut States<'_, AnySolver>) -> Bad {
        let unsafe_state = states.condition(problem.unsafe_states).is_true;
        let mut undefined = Vec::new();
        for &condition in &problem.conditions {
            let truths = states.condition(condition);
            undefined.push(states.encoder().undefined(truths));
        }
        let mut goes_on = Vec::new();
        for &(condition, value) in &problem.sources {
            let truths = states.condition(condition);
            goes_on.push(if value { truths.is_true } else { truths.is_false });
        }
        let mut errors = Vec::new();
        for command in 0..problem.commands.len() {
            let guard = states.guard(command);
            if problem.has_errors() {
                let mut literals = goes_on.clone();
                literals.push(states.encoder().undefined(guard));
                undefined.push(states.encoder().and(&literals));
            }
            let wrong = wrong(problem, states, command);
            let mut literals = goes_on.clone();
            literals.extend([guard.is_true, wrong]);
            let error = states.encoder().and(&literals);
            let can_be = states.query(&[error]) != Answer::Unsatisfiable;
            errors.push(can_be.then_some(error));
        }
        let undefined = states.encoder().or(&undefined);
        let state = states.encoder().or(&[unsafe_state, undefined]);
        Bad { unsafe_state, undefined, state, errors }
    }
}

/// A literal that is true where the steps of a command, if it is enabled, are wrong.
fn wrong(problem: &Problem, states: &mut States<'_, AnySolver>, command: usize) -> Lit {
    let mut wrong = Vec::new();
    if let Some(distribution) = problem.distributions[command] {
        wrong.push(!states.condition(distribution).is_true);
    }
    if problem.has_errors() {
        for outcome in 0..problem.task.system.commands[command].outcomes.len() {
            let positive = states.positive(command, outcome).is_true;
            let possible = states.possible(command, outcome);
            wrong.push(states.encoder().and(&[positive, !possible]));
        }
    }
    states.encoder().or(&wrong)
}

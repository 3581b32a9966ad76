//! What a learner gains by a step.

use surefoot_model::{ExprPool, PointValue, Program, Rewards, Undefined};

/// Gains; expressions of the objective take the place of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gains {
    /// Gained in a goal state.
    pub goal: f64,
    /// Gained in an unsafe state.
    pub unsafe_state: f64,
    /// Gained by each step.
    pub step: f64,
    /// Gained by choosing a label that is not applicable, if nothing else happens.
    pub stall: f64,
    /// Gained in a state where nothing is possible.
    pub deadlock: f64,
    /// What the objective says.
    pub rewards: Rewards,
}

/// Evaluates the expressions of an objective.
pub(super) struct Rewarder {
    pub(super) gains: Gains,
    potential: Option<Program>,
    step: Option<Program>,
}

impl Rewarder {
    pub(super) fn new(exprs: &ExprPool, gains: Gains) -> Self {
        let program = |id| Program::new(exprs, &[id]);
        let Rewards { potential, step } = gains.rewards;
        Rewarder { gains, potential: potential.map(program), step: step.map(program) }
    }

    /// Whether the gain of a step depends on states.
    pub(super) fn needs_state(&self) -> bool {
        self.potential.is_some() || self.step.is_some()
    }

    /// The gain of a step from a state.
    pub(super) fn step(&self, before: &[i32], slots: &mut Vec<PointValue>) -> Result<f64, Undefined> {
        self.step.as_ref().map_or(Ok(self.gains.step), |program| number(program, before, slots))
    }

    /// The potential of a state.
    pub(super) fn potential(&self, state: &[i32], slots: &mut Vec<PointValue>) -> Result<f64, Undefined> {
        self.potential.as_ref().map_or(Ok(0.0), |program| number(program, state, slots))
    }
}

fn number(program: &Program, state: &[i32], slots: &mut Vec<PointValue>) -> Result<f64, Undefined> {
    program.run_state(state, slots);
    Ok(program.output(0, slots)?.as_real().expect("rewards are numbers"))
}

//! Boxes of states.

use surefoot_model::VarId;

use crate::task::Task;

/// A box of states: the least and the greatest value of each variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBox {
    /// The least values.
    pub lower: Vec<i32>,
    /// The greatest values.
    pub upper: Vec<i32>,
}

impl StateBox {
    /// All states of a task, whose variables are discrete.
    pub fn of_domains(task: &Task) -> StateBox {
        let bounds = task.system.variables.iter().map(|v| v.ty.bounds().expect("variables are discrete"));
        let (lower, upper) = bounds.unzip();
        StateBox { lower, upper }
    }

    /// The box of one state.
    pub fn of_state(state: &[i32]) -> StateBox {
        StateBox { lower: state.to_vec(), upper: state.to_vec() }
    }

    /// Whether a state is in the box.
    pub fn contains(&self, state: &[i32]) -> bool {
        let inside = |((value, lower), upper): ((&i32, &i32), &i32)| lower <= value && value <= upper;
        state.iter().zip(&self.lower).zip(&self.upper).all(inside)
    }

    /// The state of the box that is nearest to another, variable by variable.
    pub(super) fn nearest_to(&self, state: &[i32]) -> Vec<i32> {
        let ends = self.lower.iter().zip(&self.upper);
        state.iter().zip(ends).map(|(&value, (&lower, &upper))| value.clamp(lower, upper)).collect()
    }

    /// The states up to a value of a variable, and those above it. Neither part may be empty.
    pub(super) fn split(self, variable: usize, at: i32) -> [StateBox; 2] {
        debug_assert!(self.lower[variable] <= at && at < self.upper[variable], "both parts have states");
        let (mut low, mut high) = (self.clone(), self);
        low.upper[variable] = at;
        high.lower[variable] = at + 1;
        [low, high]
    }

    /// Two parts of which each has one of two states, which differ in one of some variables.
    pub(super) fn split_between(self, a: &[i32], b: &[i32], variables: &[VarId]) -> [StateBox; 2] {
        let gap = |variable: &VarId| a[variable.index()].abs_diff(b[variable.index()]);
        let variable = variables.iter().max_by_key(|variable| gap(variable)).expect("the states differ");
        let variable = variable.index();
        let (least, greatest) = (a[variable].min(b[variable]), a[variable].max(b[variable]));
        self.split(variable, i32::midpoint(least, greatest - 1))
    }
}

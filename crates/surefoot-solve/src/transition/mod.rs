//! Questions about states and steps of a transition system.
//!
//! [`States`] is one solver for conditions at a state: start, unsafe, goal, guards, and whether an outcome stays in the domains.
//! [`Transitions`] answers what IC3 asks: is there a state in a box in which a command is enabled, and from which an outcome leads into a frame?
//!
//! Both speak of states in terms of [`Bound`]s, not of a solver's literals, so that what an engine has learnt can be told to
//! several solvers.

mod outcome;
mod states;
mod transitions;

use surefoot_model::VarId;

pub use states::States;
pub use transitions::{Core, Step, Transitions};

/// A bound on a state variable. A box is a conjunction of them, and what is outside of a box is a disjunction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// `variable ≥ value`.
    AtLeast(VarId, i64),
    /// `variable ≤ value`.
    AtMost(VarId, i64),
}

impl Bound {
    /// The bounds that say that the variables of a state have these values.
    pub fn of_state(state: &[i32]) -> Vec<Bound> {
        let bounds = |(v, &value): (usize, &i32)| {
            let (v, value) = (VarId(v as u32), i64::from(value));
            [Bound::AtLeast(v, value), Bound::AtMost(v, value)]
        };
        state.iter().enumerate().flat_map(bounds).collect()
    }

    /// The variable.
    pub fn variable(self) -> VarId {
        match self {
            Bound::AtLeast(v, _) | Bound::AtMost(v, _) => v,
        }
    }

    /// Whether a state keeps the bound.
    pub fn holds(self, state: &[i32]) -> bool {
        match self {
            Bound::AtLeast(v, value) => i64::from(state[v.index()]) >= value,
            Bound::AtMost(v, value) => i64::from(state[v.index()]) <= value,
        }
    }
}

impl std::ops::Not for Bound {
    type Output = Bound;

    fn not(self) -> Bound {
        match self {
            Bound::AtLeast(v, value) => Bound::AtMost(v, value - 1),
            Bound::AtMost(v, value) => Bound::AtLeast(v, value + 1),
        }
    }
}

/// A set of conditions on states that can be asked for together: a frame of IC3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

impl FrameId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

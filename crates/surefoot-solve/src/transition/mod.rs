//! Questions about states and steps of a transition system.
//!
//! [`States`] is one solver for conditions at a state: start, unsafe, goal, guards, and whether an outcome stays in the domains.
//! [`Transitions`] answers what IC3 asks: is there a state in a box in which a command is enabled, and from which an outcome leads into a frame?
//! [`PredicateSteps`] answers what predicate abstraction asks: does an outcome lead from one abstract state to another? And [`Path`]: is there a run that takes
//! given steps?
//!
//! Both speak of states in terms of [`Bound`]s, not of a solver's literals, so that what an engine has learnt can be told to
//! several solvers.

mod outcome;
mod path;
mod predicates;
mod states;
mod transitions;

use surefoot_model::VarId;

pub use path::Path;
pub use predicates::{Excluded, PredicateSteps};
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
            // Values have 32 bits, so bounds at the ends of 64 bits mean the same as those next to them.
            Bound::AtLeast(v, value) => Bound::AtMost(v, value.saturating_sub(1)),
            Bound::AtMost(v, value) => Bound::AtLeast(v, value.saturating_add(1)),
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

#[cfg(test)]
mod tests {
    use surefoot_model::{TransitionSystem, Variable, VariableType};

    use super::*;
    use crate::{Answer, SatSolver, UnsupportedVariable};

    fn system(ty: VariableType) -> TransitionSystem {
        TransitionSystem { variables: vec![Variable::new("x", ty)], ..TransitionSystem::default() }
    }

    #[test]
    fn negated_bounds_are_complements_up_to_the_ends_of_64_bits() {
        let system = system(VariableType::Int { lower: i32::MIN, upper: i32::MAX });
        let mut states = States::<SatSolver>::new(&system).expect("an integer");
        let x = VarId(0);
        for value in [i64::MIN, i64::from(i32::MIN), -1, 0, i64::from(i32::MAX), i64::MAX] {
            for bound in [Bound::AtLeast(x, value), Bound::AtMost(x, value)] {
                let (literal, negated) = (states.bound(bound), states.bound(!bound));
                assert_eq!(literal, !negated, "{bound:?}");
                for state in [[i32::MIN], [-1], [0], [1], [i32::MAX]] {
                    assert_eq!(bound.holds(&state), !(!bound).holds(&state), "{bound:?} at {state:?}");
                    let mut question: Vec<_> =
                        Bound::of_state(&state).into_iter().map(|bound| states.bound(bound)).collect();
                    question.push(literal);
                    let answer = states.query(&question) == Answer::Satisfiable;
                    assert_eq!(answer, bound.holds(&state), "{bound:?} at {state:?}");
                }
            }
        }
    }

    #[test]
    fn real_variables_are_refused_by_name() {
        let system = system(VariableType::Real { lower: 0.0, upper: 1.0 });
        let error = UnsupportedVariable { name: "x".into() };
        assert_eq!(Transitions::<SatSolver>::new(&system).err(), Some(error.clone()));
        assert_eq!(States::<SatSolver>::new(&system).err(), Some(error.clone()));
        assert!(error.to_string().contains("`x` is real"));
    }
}

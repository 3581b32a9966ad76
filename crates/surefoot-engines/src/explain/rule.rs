//! Rules: boxes around a state in which the choice is the same, as large as can be.
//!
//! Relevant variables are fixed to their values. Often a choice holds for more values than that: `battery ≥ 3` instead of `battery = 7`. So the bounds of
//! the box are moved outwards, one by one, each as far as the choice stays the same. The result is maximal: a bound that could not be moved in a
//! smaller box cannot be moved in a larger one either.

use surefoot_model::VarId;

use super::relevant::Relevance;
use super::{Explainer, Neighbourhood, Stopped};
use crate::symbolic::StateBox;

/// A box of states in which the choice is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The states: the choice in them is proved to be the same.
    pub states: StateBox,
    /// Whether no bound can be moved further out within the neighbourhood. Not if a limit was reached.
    pub is_maximal: bool,
}

impl Explainer<'_> {
    /// Widens the states for which relevant variables were computed, within the same neighbourhood.
    pub fn rule(&mut self, state: &[i32], within: Neighbourhood<'_>, relevance: &Relevance) -> Rule {
        let chosen = self.begin(state);
        let free = self.neighbours(state, within);
        let mut rule = Rule { states: relevance.same_in.clone(), is_maximal: true };
        for &variable in relevance.relevant.iter().chain(&relevance.open) {
            for side in [Side::Upper, Side::Lower] {
                if self.move_bound(&mut rule.states, variable, side, &free, &chosen).is_err() {
                    rule.is_maximal = false;
                }
            }
        }
        rule
    }

    /// Moves one bound as far as the choice stays the same.
    fn move_bound(
        &mut self,
        states: &mut StateBox,
        variable: VarId,
        side: Side,
        free: &StateBox,
        chosen: &[usize],
    ) -> Result<(), Stopped> {
        let index = variable.index();
        let start = side.bound(states, index);
        // By how much the bound can be moved, and the least by which it cannot.
        let (mut good, mut bad) = (0, u64::from(start.abs_diff(side.bound(free, index))) + 1);
        while good + 1 < bad {
            let next = (2 * good + 1).min(good.midpoint(bad));
            let mut wider = states.clone();
            side.set(&mut wider, index, side.moved(start, next));
            match self.other(&wider, &[], chosen)? {
                None => {
                    good = next;
                    *states = wider;
                }
                // The box is the same up to `good`, so this state lies behind it.
                Some(other) => bad = u64::from(start.abs_diff(other[index])),
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

impl Side {
    fn bound(self, states: &StateBox, index: usize) -> i32 {
        match self {
            Side::Lower => states.lower[index],
            Side::Upper => states.upper[index],
        }
    }

    fn set(self, states: &mut StateBox, index: usize, value: i32) {
        match self {
            Side::Lower => states.lower[index] = value,
            Side::Upper => states.upper[index] = value,
        }
    }

    /// A bound moved outwards; it stays in the domain.
    fn moved(self, bound: i32, by: u64) -> i32 {
        let by = by as i64;
        let moved = i64::from(bound) + if matches!(self, Side::Lower) { -by } else { by };
        i32::try_from(moved).expect("within the domain")
    }
}

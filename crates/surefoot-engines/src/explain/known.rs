//! States that are known to have another choice: they answer questions about boxes that hold them, at no cost.
//!
//! Before a state is explained, each variable alone is moved away from its value until the choice is another. That finds most of what matters:
//! proofs are then needed only for what is true.

use surefoot_policy::certify::Fact;

use super::Explainer;
use crate::symbolic::StateBox;

/// Values of a variable that are tried in each direction.
const TRIED: u32 = 64;

/// States that are remembered; the oldest are forgotten.
const REMEMBERED: usize = 1024;

/// States with another choice than one in which certain outputs can be chosen.
#[derive(Debug, Default)]
pub struct Known {
    chosen: Vec<usize>,
    states: Vec<Vec<i32>>,
    /// The state whose surroundings were looked at.
    state: Vec<i32>,
}

impl Known {
    /// One that is in a box, and in which facts hold.
    pub fn find(&self, states: &StateBox, facts: &[Fact]) -> Option<&Vec<i32>> {
        let holds = |state: &&Vec<i32>| states.contains(state) && facts.iter().all(|fact| fact.holds(state));
        self.states.iter().find(holds)
    }

    /// All of them.
    pub fn states(&self) -> &[Vec<i32>] {
        &self.states
    }

    /// Remembers one.
    pub fn add(&mut self, state: Vec<i32>) {
        if self.states.len() == REMEMBERED {
            self.states.remove(0);
        }
        self.states.push(state);
    }
}

impl Explainer<'_> {
    /// The outputs that can be chosen in a state, which is going to be explained.
    pub(super) fn begin(&mut self, state: &[i32]) -> Vec<usize> {
        let chosen = self.choice(state);
        if self.known.state == state {
            return chosen;
        }
        let states =
            if self.known.chosen == chosen { std::mem::take(&mut self.known.states) } else { Vec::new() };
        self.known = Known { chosen: chosen.clone(), states, state: state.to_vec() };
        for variable in self.variables.clone() {
            let index = variable.index();
            let (lower, upper) = (self.domain.lower[index], self.domain.upper[index]);
            let above = (1..=TRIED).map_while(|step| state[index].checked_add_unsigned(step));
            let below = (1..=TRIED).map_while(|step| state[index].checked_sub_unsigned(step));
            let above: Vec<i32> = above.take_while(|&value| value <= upper).collect();
            let below: Vec<i32> = below.take_while(|&value| value >= lower).collect();
            for values in [above, below] {
                let mut moved = state.to_vec();
                let other = values.into_iter().find(|&value| {
                    moved[index] = value;
                    self.is_other(&moved, &chosen)
                });
                if other.is_some() {
                    self.known.add(moved);
                }
            }
        }
        chosen
    }
}

//! Relevant variables: paper 004, Algorithm 1 (`VeriX`, after Wu, Wu and Barrett 2022).
//!
//! Variables are looked at one by one. If the choice stays the same while this variable and all that were found irrelevant before stray freely within the
//! neighbourhood, it is irrelevant too; otherwise it is relevant. The result is minimal (Theorem 2): the choice stays the same as long as the relevant
//! variables keep their values, and each of them is needed for that.
//!
//! Different from the paper: variables that the choice cannot depend on by construction need no question.

use surefoot_model::VarId;
use surefoot_policy::Score;

use super::{Explainer, Neighbourhood, Stopped};
use crate::random::Random;
use crate::symbolic::StateBox;

/// In which order variables are looked at: those that come last tend to be relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The least sensitive first (paper 004, Definition 3): by the sum over all outputs of how much the score changes between the
    /// ends of the variable's domain.
    #[default]
    Sensitivity,
    /// As declared in the model.
    Declared,
    /// Random, by this seed.
    Random(u64),
}

/// On which variables a choice depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relevance {
    /// Those that it depends on.
    pub relevant: Vec<VarId>,
    /// Those that may stray, all of them at once, without changing it: proved.
    pub irrelevant: Vec<VarId>,
    /// Those that were not decided before a limit: the choice is proved to stay the same if they keep their values, too.
    pub open: Vec<VarId>,
    /// Where the choice was proved to stay the same: the irrelevant variables are free, all others have their values.
    pub same_in: StateBox,
}

impl Explainer<'_> {
    /// The relevant variables of the choice in a state, within a neighbourhood.
    pub fn relevant(&mut self, state: &[i32], within: Neighbourhood<'_>, order: Order) -> Relevance {
        let chosen = self.begin(state);
        let free = self.neighbours(state, within);
        let mut result = Relevance {
            relevant: Vec::new(),
            irrelevant: Vec::new(),
            open: Vec::new(),
            same_in: StateBox::of_state(state),
        };
        let all = (0..state.len()).map(|index| VarId(index as u32));
        for variable in all.filter(|variable| !self.variables.contains(variable)) {
            result.free(variable, &free);
        }
        for variable in self.traversal(state, order) {
            let mut wider = result.same_in.clone();
            widen(&mut wider, variable, &free);
            if wider == result.same_in {
                result.free(variable, &free);
            } else {
                match self.other(&wider, &[], &chosen) {
                    Ok(None) => result.free(variable, &free),
                    Ok(Some(_)) => result.relevant.push(variable),
                    Err(Stopped) => result.open.push(variable),
                }
            }
        }
        for variables in [&mut result.relevant, &mut result.irrelevant, &mut result.open] {
            variables.sort_unstable();
        }
        result
    }

    /// The variables that a choice can depend on, in order.
    fn traversal(&mut self, state: &[i32], order: Order) -> Vec<VarId> {
        let mut variables = self.variables.clone();
        match order {
            Order::Declared => {}
            Order::Random(seed) => {
                let mut random = Random::new(seed, 0);
                for i in (1..variables.len()).rev() {
                    variables.swap(i, random.below(i as u64 + 1) as usize);
                }
            }
            Order::Sensitivity => {
                let key = |variable: &VarId| self.sensitivity(state, *variable);
                let mut keyed: Vec<(f64, VarId)> = variables.iter().map(|v| (key(v), *v)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                variables = keyed.into_iter().map(|(_, variable)| variable).collect();
            }
        }
        variables
    }

    /// How much scores change between the ends of a variable's domain.
    pub fn sensitivity(&self, state: &[i32], variable: VarId) -> f64 {
        let scores_at = |value: i32| {
            let mut state = state.to_vec();
            state[variable.index()] = value;
            self.policy.scores(self.task.semantics.arithmetic, &state)
        };
        let ends = [&self.domain.upper, &self.domain.lower].map(|ends| scores_at(ends[variable.index()]));
        let [upper, lower] = ends;
        let middle = |score: Score| f64::midpoint(score.lower, score.upper);
        let change = |(a, b): (Score, Score)| {
            let change = (middle(a) - middle(b)).abs();
            if change.is_nan() { 0.0 } else { change }
        };
        upper.into_iter().zip(lower).map(change).sum()
    }
}

impl Relevance {
    /// Notes that a variable is irrelevant.
    fn free(&mut self, variable: VarId, free: &StateBox) {
        self.irrelevant.push(variable);
        widen(&mut self.same_in, variable, free);
    }
}

/// Gives a variable the values that it has in another box.
fn widen(states: &mut StateBox, variable: VarId, free: &StateBox) {
    let index = variable.index();
    states.lower[index] = free.lower[index];
    states.upper[index] = free.upper[index];
}

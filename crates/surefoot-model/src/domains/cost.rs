//! Moves that may fail at a cost, as in blocksworld and npuzzle.
//!
//! Each movable item (block or tile) counts its failures in `cost_<item>`, up to `item_cost_bound`. A move of an item
//! whose count is below the bound fails with `failing_probability`: nothing moves and the count grows. At the bound the
//! item either cannot be moved any more (*cost-terminal*) or never fails again. `step_cost` keeps the count that the
//! moved item had before the last move.

use serde_json::Value;

use super::build::{Chance, Model, add, assign, at_least, choice, eq, le, shift};
use super::parameter::{self, ParameterError};

const BOUND: &str = "item_cost_bound";
const STEP_COST: &str = "step_cost";

/// The cost part of the two domains' parameters.
pub(super) struct Costs {
    pub(super) bound: usize,
    pub(super) failing: Chance,
    pub(super) terminal: bool,
    /// The probabilistic variants' mishap, 0 in the plain ones; happens whatever the item's cost.
    pub(super) hazard: Chance,
}

impl Costs {
    /// Checks the parameters that the two domains share and puts them together.
    pub(super) fn new(
        bound: usize,
        failing_probability: f64,
        terminal: bool,
        hazard: Chance,
    ) -> Result<Self, ParameterError> {
        parameter::count("cost_bound", bound, 1..=1_000_000)?;
        parameter::probability("failing_probability", failing_probability)?;
        parameter::remaining_probability("hazard_probability", hazard.value, failing_probability)?;
        let failing = Chance { constant: "failing_probability", value: failing_probability };
        Ok(Self { bound, failing, terminal, hazard })
    }

    /// Declares the constants.
    pub(super) fn declare_constants(&self, model: &mut Model) {
        model.chance(self.failing);
        model.integer(BOUND, self.bound);
        model.chance_if_positive(self.hazard);
    }

    /// Declares the cost variables of `items` and the step cost.
    pub(super) fn declare_variables(&self, model: &mut Model, items: impl Iterator<Item = String>) {
        for item in items {
            model.variable_up_to(cost(&item), 0, (self.bound as i64, BOUND.into()), 0);
        }
        model.variable_up_to(STEP_COST, 0, (self.bound as i64, BOUND.into()), 0);
    }

    /// Adds the edges for one move of `item`: while it may fail and, unless costs are terminal, when it cannot.
    pub(super) fn add_edges(
        &self,
        model: &mut Model,
        label: &str,
        item: &str,
        guard: &[Value],
        success: &[Value],
        mishap: Option<&[Value]>,
    ) {
        let cost = cost(item);
        let record = assign(STEP_COST, cost.as_str());
        let recorded = |effect: &[Value]| [effect, std::slice::from_ref(&record)].concat();
        let mishap: Vec<_> = mishap.map(|effect| (self.hazard, recorded(effect))).into_iter().collect();

        let failure = (self.failing, vec![record.clone(), shift(&cost, 1)]);
        let exceptions = [vec![failure], mishap.clone()].concat();
        let may_fail = [guard, &[le(add(cost.as_str(), 1), BOUND)]].concat();
        model.edge(label, may_fail, choice(recorded(success), exceptions));
        if !self.terminal {
            let exhausted = [guard, &[at_least(cost.as_str(), BOUND)]].concat();
            model.edge(label, exhausted, choice(recorded(success), mishap));
        }
    }

    /// No item of `items` has failed yet.
    pub(super) fn start(items: impl Iterator<Item = String>) -> impl Iterator<Item = Value> {
        items.map(|item| eq(cost(&item), 0)).chain([eq(STEP_COST, 0)])
    }
}

fn cost(item: &str) -> String {
    format!("cost_{item}")
}

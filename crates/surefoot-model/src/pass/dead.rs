//! Commands whose guard is false everywhere, and outcomes whose probability is 0 everywhere, do not exist.

use super::Reduction;
use crate::expr::{Program, Range, Truth};

impl Reduction {
    /// Removes dead commands and outcomes.
    #[must_use]
    pub fn remove_dead_commands(mut self) -> Self {
        let Some((lower, upper)) = self.bounds() else { return self };
        let mut slots = Vec::new();
        let mut enclosure = |exprs: &_, id| Program::new(exprs, &[id]).over_box(&lower, &upper, &mut slots);
        let (mut commands, mut origins, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
        for (i, mut command) in self.system.commands.into_iter().enumerate() {
            if enclosure(&self.system.exprs, command.guard).truth() == Truth::False {
                continue;
            }
            let mut kept = Vec::new();
            let mut original = Vec::new();
            for (outcome, &origin) in command.outcomes.into_iter().zip(&self.restore.outcomes[i]) {
                let probability = enclosure(&self.system.exprs, outcome.probability);
                // A negative probability is a mistake that must stay visible.
                let never = match probability.values {
                    Range::Int(lower, upper) => lower == 0 && upper == 0,
                    Range::Real(lower, upper) => lower == 0.0 && upper == 0.0,
                    Range::Bool { .. } => unreachable!("probabilities are numbers"),
                };
                if probability.undefined || !never {
                    kept.push(outcome);
                    original.push(origin);
                }
            }
            command.outcomes = kept;
            commands.push(command);
            origins.push(self.restore.commands[i]);
            outcomes.push(original);
        }
        self.system.commands = commands;
        self.restore.commands = origins;
        self.restore.outcomes = outcomes;
        self
    }
}

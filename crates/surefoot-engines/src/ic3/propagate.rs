//! `propagateClauses` (paper 000, §3.1): reasons that hold for one step more move up.

use super::steps::Target;
use super::{Run, Stop};

impl Run<'_> {
    /// Moves all reasons up as far as they hold; whether two frames have become the same, and at which level.
    pub(super) fn propagate_clauses(&mut self) -> Result<Option<usize>, Stop> {
        self.frames.tidy();
        for level in 1..self.levels {
            for index in 0..self.frames.entries().len() {
                if self.frames.entries()[index].level == level {
                    self.push(index)?;
                }
            }
            if self.frames.count(level) == 0 {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// Moves a reason up by one level if it holds there; whether it did.
    pub(super) fn push(&mut self, index: usize) -> Result<bool, Stop> {
        let entry = &self.frames.entries()[index];
        let (reason, level) = (entry.reason.clone(), entry.level);
        let target = Target { level, except: &reason };
        let holds = !self.steps.leads(&mut self.states, &reason, target)?;
        if holds {
            self.frames.raise(index, level + 1);
            self.tell(&reason, level + 1);
        }
        Ok(holds)
    }
}

//! `propagateClauses` (paper 000, §3.1): reasons that hold for one step more move up.

use super::frames::Entry;
use super::steps::{Leads, Target};
use super::{Run, Stop};

impl Run<'_> {
    /// Moves all reasons up as far as they hold; whether two frames have become the same, and at which level.
    pub(super) fn propagate_clauses(&mut self) -> Result<Option<usize>, Stop> {
        self.frames.tidy();
        for level in 1..self.levels {
            for index in 0..self.frames.entries().len() {
                if self.frames.entries()[index].level == level {
                    self.look_around()?;
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
    ///
    /// A state that led into the frame is remembered: as long as it does, nothing else needs to be asked.
    pub(super) fn push(&mut self, index: usize) -> Result<bool, Stop> {
        let Entry { reason, level, obstacle } = self.frames.entries()[index].clone();
        let target = Target { level, except: self.options.relative.then_some(&reason) };
        if obstacle.is_some_and(|state| self.steps.state_leads(&self.frames, &state, target)) {
            return Ok(false);
        }
        match self.steps.leads(&mut self.states, &self.frames, &reason, target)? {
            Leads::No => {
                self.steps.keep();
                self.frames.raise(index, level + 1);
                self.tell(&reason, level + 1);
                Ok(true)
            }
            Leads::From(state) => {
                self.frames.set_obstacle(index, state);
                Ok(false)
            }
            Leads::Perhaps => Ok(false),
        }
    }
}

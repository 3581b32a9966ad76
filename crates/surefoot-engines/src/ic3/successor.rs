//! `selectSuccessorState` (paper 000, §3.3.3): steps of single states, by evaluation.

use super::obligations::Obligation;
use super::{Run, Stop};
use crate::step::Transition;

/// Where the steps of a state lead.
pub(super) enum Successor {
    /// Into an unsafe state.
    Unsafe(Transition),
    /// Into the frame.
    Inside(Transition),
    /// Nowhere into the frame of this level, the highest for which that is so.
    Outside(usize),
}

impl Run<'_> {
    /// A step of an obligation's state into an unsafe state, or into the frame of one step less.
    pub(super) fn select_successor_state(&mut self, obligation: Obligation) -> Result<Successor, Stop> {
        let state = self.obligations.state(obligation.visit).to_vec();
        let level = obligation.steps - 1;
        if self.status(&state)?.ends_run {
            return Ok(Successor::Outside(self.levels));
        }
        let mut inside = None;
        let mut highest = self.levels;
        for step in self.successors(&state)? {
            if self.status(&step.state)?.is_unsafe {
                return Ok(Successor::Unsafe(step));
            }
            let safe_for = self.frames.level_of(&step.state);
            if safe_for < level {
                inside = inside.or(Some(step));
            } else {
                highest = highest.min(safe_for);
            }
        }
        Ok(inside.map_or(Successor::Outside(highest), Successor::Inside))
    }
}

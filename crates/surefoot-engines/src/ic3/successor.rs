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
    /// Nowhere into the frame.
    Outside,
}

impl Run<'_> {
    /// A step of an obligation's state into an unsafe state, or into the frame of one step less.
    pub(super) fn select_successor_state(&mut self, obligation: Obligation) -> Result<Successor, Stop> {
        let state = self.obligations.state(obligation.visit).to_vec();
        let level = obligation.steps - 1;
        if self.status(&state)?.ends_run {
            return Ok(Successor::Outside);
        }
        let mut inside = None;
        for step in self.successors(&state)? {
            if self.status(&step.state)?.is_unsafe {
                return Ok(Successor::Unsafe(step));
            }
            if level > 0 && inside.is_none() && !self.frames.blocks(&step.state, level) {
                inside = Some(step);
            }
        }
        Ok(inside.map_or(Successor::Outside, Successor::Inside))
    }
}

//! `selectStartState` (paper 000, §3.2): a start state that is in the last frame.

use super::{Run, Stop};
use crate::outcome::Trace;

impl Run<'_> {
    /// A start state that is in the last frame.
    pub(super) fn select_start_state(&mut self) -> Result<Option<Vec<i32>>, Stop> {
        let listed = &self.problem.task.property.start.listed;
        if let Some(state) = listed.iter().find(|state| !self.frames.blocks(state, self.levels)) {
            return Ok(Some(state.clone()));
        }
        self.states.start(self.levels)
    }

    /// A start state that is unsafe, which the paper assumes that there is not.
    pub(super) fn unsafe_start(&mut self) -> Result<Option<Trace>, Stop> {
        if let Some(state) = self.states.undefined_start()? {
            return Err(self.problem.undefined_start(&state));
        }
        let mut candidates = self.problem.task.property.start.listed.clone();
        candidates.extend(self.states.bad_start()?);
        for state in candidates {
            let status = self.status(&state)?;
            if status.is_unsafe {
                return Ok(Some(Trace { start: state, steps: Vec::new() }));
            }
            if !status.ends_run {
                // Where the model is wrong, this says how.
                self.successors(&state)?;
            }
        }
        Ok(None)
    }
}

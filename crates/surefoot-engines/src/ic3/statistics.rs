//! Counts of a run.

use std::time::Duration;

/// What a run has done, at its end or so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of frames besides that of the unsafe states: `N` of the paper.
    pub depth: u64,
    /// Reasons in the frames.
    pub reasons: u64,
    /// Obligations that were taken from the queue.
    pub obligations: u64,
    /// States whose successors were computed.
    pub states: u64,
    /// Time.
    pub time: Duration,
    /// Bytes of reasons and obligations.
    pub memory: u64,
}

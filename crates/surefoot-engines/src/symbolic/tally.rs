//! Counts of questions.

use std::time::{Duration, Instant};

/// Questions and the time for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// The time.
    pub time: Duration,
}

impl Tally {
    /// Counts a question that was asked at this moment and has been answered now.
    pub fn add(&mut self, asked: Instant) {
        self.count += 1;
        self.time += asked.elapsed();
    }

    /// Those that were not there at an earlier moment.
    pub(crate) fn since(self, earlier: Tally) -> Tally {
        Tally { count: self.count - earlier.count, time: self.time.saturating_sub(earlier.time) }
    }
}

//! Frames: for each number of steps, the states that are not known to be safe for so long.
//!
//! `F_n` is what is left when the reasons of level `n` and above are taken away from all states. A reason of level `n` holds states
//! that cannot reach an unsafe state within `n` steps, so each reason is stored once, at the highest level where it is known to hold,
//! and frames shrink with their number going down (delta encoding; Eén et al., 2011). `F_0` is the set of unsafe states.

use surefoot_solve::Bound;

use super::reason::Reason;

/// The level of reasons that hold for any number of steps.
pub const FOREVER: usize = usize::MAX / 2;

/// A reason, and the highest level at which it holds.
#[derive(Debug, Clone)]
pub struct Entry {
    pub reason: Reason,
    pub level: usize,
    /// A state of it that led into the frame of this level when it was last looked at.
    pub obstacle: Option<Vec<i32>>,
}

/// All reasons.
#[derive(Debug, Default)]
pub struct Frames {
    entries: Vec<Entry>,
}

impl Frames {
    /// Whether a state is known to be safe for this many steps, at least one.
    pub fn blocks(&self, state: &[i32], level: usize) -> bool {
        // Newer reasons are more often asked for.
        self.entries.iter().rev().any(|entry| entry.level >= level && entry.reason.contains(state))
    }

    /// Whether one reason shows that a box is safe for this many steps.
    pub fn holds(&self, states: &Reason, level: usize) -> bool {
        self.entries.iter().any(|entry| entry.level >= level && entry.reason.includes(states))
    }

    /// For how many steps a state is known to be safe.
    pub fn level_of(&self, state: &[i32]) -> usize {
        let holding = self.entries.iter().filter(|entry| entry.reason.contains(state));
        holding.map(|entry| entry.level).max().unwrap_or(0)
    }

    /// Adds a reason; its index.
    pub fn add(&mut self, reason: Reason, level: usize) -> usize {
        self.entries.push(Entry { reason, level, obstacle: None });
        self.entries.len() - 1
    }

    /// All reasons.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Raises a reason to a level.
    pub fn raise(&mut self, index: usize, level: usize) {
        self.entries[index].level = level;
        self.entries[index].obstacle = None;
    }

    /// Gives a reason another level, perhaps a lower one.
    pub fn set_level(&mut self, index: usize, level: usize) {
        self.entries[index].level = level;
    }

    /// Removes a reason; the last one takes its place.
    pub fn remove(&mut self, index: usize) {
        self.entries.swap_remove(index);
    }

    /// Remembers why a reason does not hold at the next level.
    pub fn set_obstacle(&mut self, index: usize, state: Vec<i32>) {
        self.entries[index].obstacle = Some(state);
    }

    /// Number of reasons at exactly this level.
    pub fn count(&self, level: usize) -> usize {
        self.entries.iter().filter(|entry| entry.level == level).count()
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        // An obstacle is half as large as a reason.
        let width = self.entries.first().map_or(0, |entry| entry.reason.lower.len());
        (self.entries.len() * (size_of::<Entry>() + 12 * width)) as u64
    }

    /// Drops reasons that others of the same or a higher level include, except those that hold for any number of steps.
    pub fn tidy(&mut self) {
        self.entries.sort_by_key(|entry| entry.level);
        let entries = &self.entries;
        let is_covered = |index: usize| {
            let Entry { reason, level, .. } = &entries[index];
            let covers = |(other, entry): (usize, &Entry)| {
                other != index
                    && entry.level >= *level
                    && entry.reason.includes(reason)
                    && (entry.reason != *reason || entry.level > *level || other < index)
            };
            *level < FOREVER && entries.iter().enumerate().any(covers)
        };
        let mut covered = (0..entries.len()).map(is_covered).collect::<Vec<bool>>().into_iter();
        self.entries.retain(|_| covered.next() == Some(false));
    }
}

/// The clause that a reason adds to a frame: some bound does not hold.
pub fn clause(reason: &Reason, domain: &Reason) -> Vec<Bound> {
    reason.bounds(domain).into_iter().map(|bound| !bound).collect()
}

//! Counting what a cache does.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a cache was asked and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStatistics {
    /// Questions that were looked up: the sum of all hits and misses.
    pub questions: u64,
    /// Answered *never* or *always* because the same question was answered before.
    pub exact_hits: u64,
    /// Answered *never* because a box that contains this one is known.
    pub never_hits: u64,
    /// Answered *always* because a box that contains this one is known.
    pub always_hits: u64,
    /// Answered *possible* because a state inside the box is known.
    pub witness_hits: u64,
    /// Not answered.
    pub misses: u64,
    /// Answers that were stored.
    pub stored: u64,
    /// Stored answers that took the place of a weaker one.
    pub replaced: u64,
    /// Answers that were removed to make room.
    pub evicted: u64,
    /// Answers that are held now.
    pub entries: u64,
    /// Bytes that are in use now.
    pub bytes: u64,
}

impl CacheStatistics {
    /// Questions that were answered.
    pub fn hits(&self) -> u64 {
        self.exact_hits + self.never_hits + self.always_hits + self.witness_hits
    }

    /// The part of the questions that was answered, between 0 and 1; 0 if nothing was asked.
    pub fn hit_rate(&self) -> f64 {
        if self.questions == 0 { 0.0 } else { self.hits() as f64 / self.questions as f64 }
    }
}

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    ExactHit,
    NeverHit,
    AlwaysHit,
    WitnessHit,
    Miss,
    Stored,
    Replaced,
    Evicted,
}

/// Counters of events, one set per shard so that threads seldom share a cache line.
#[derive(Debug, Default)]
pub(super) struct Counters([AtomicU64; 8]);

impl Counters {
    pub(super) fn add(&self, event: Event, count: u64) {
        self.0[event as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// Adds these counts to the statistics.
    pub(super) fn report(&self, statistics: &mut CacheStatistics) {
        let count = |event: Event| self.0[event as usize].load(Ordering::Relaxed);
        statistics.exact_hits += count(Event::ExactHit);
        statistics.never_hits += count(Event::NeverHit);
        statistics.always_hits += count(Event::AlwaysHit);
        statistics.witness_hits += count(Event::WitnessHit);
        statistics.misses += count(Event::Miss);
        statistics.stored += count(Event::Stored);
        statistics.replaced += count(Event::Replaced);
        statistics.evicted += count(Event::Evicted);
        statistics.questions = statistics.hits() + statistics.misses;
    }
}

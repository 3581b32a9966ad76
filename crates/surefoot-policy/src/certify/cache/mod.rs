//! The decision cache: what was decided about a box also answers questions about other boxes.
//!
//! Fix a policy and an arithmetic. A question names an output `o`, competitors `C` (without `o`) and a box; only the
//! ends of variables that the policy reads matter, since it chooses the same in states that agree on them. At a
//! state, `o` *can be chosen* among `C` if and only if it can win against each `c ∈ C` alone (the conditions of
//! [`crate::score`] are one per competitor). Hence at each state:
//!
//! 1. If `o` cannot be chosen among `C`, it cannot be among any `C′ ⊇ C`.
//! 2. If `o` can be chosen among `C`, it can be among any `C′ ⊆ C`.
//! 3. Only `o` can be chosen among `C ∪ {o}` if and only if no `c ∈ C` can win against `o` alone. *If*: some output
//!    can always be chosen, and no `c` can. *Only if*: of the outputs whose scores have the greatest lower end, the
//!    first can be chosen, so it is `o`. A competitor `c` that cannot be chosen loses to some output: its upper end
//!    is below that one's lower end, or equal to it and `c` comes later. The lower end of `o` is not less, and where
//!    it is equal, `o` comes not later. So `c` loses to `o`.
//!
//! So three kinds of records answer questions about a box `B′` and competitors `C′`:
//!
//! - *never* in `B` among `C` (no state of `B` lets `o` be chosen) answers *never* if `B′ ⊆ B` and `C ⊆ C′`, by 1;
//! - a *witness* `w`, where `o` can be chosen among `C`, answers *possible* if `w ∈ B′`, the facts of the question
//!   hold at `w`, and `C′ ⊆ C`, by 2;
//! - *always* in `B` among `C` answers *always* if `B′ ⊆ B` has a state and `C′ ⊆ C`: by 3 no `c ∈ C` can win
//!   against `o`, so none of `C′` can.
//!
//! Facts make the set of states smaller. *Never* and *always* of fewer states than a box has are not true of the box.
//! So the box is first clipped by the facts, and an answer is stored for the clipped box only if the search used the
//! facts in no other way. A question with facts may be answered by a record that contains its clipped box, which
//! holds all its states. For *always*, there must be a state at all: with facts, a witness shows it first.
//!
//! Records that are not found are no harm. So lookups may give up early, and old records may go at any time.

mod certifier;
mod grid;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

pub use certifier::{CachedAnswer, CachedCertifier, CachedPossibility};
pub use statistics::CacheStatistics;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use grid::Grid;
use statistics::{Counters, Event};
use table::{CLASSES, Competitors, Record, Table};

/// Outputs are spread over this many locks.
const SHARDS: usize = 16;

/// Kinds of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Never,
    Always,
    Witness,
}

const KINDS: [Kind; 3] = [Kind::Never, Kind::Always, Kind::Witness];

/// Answers about a policy in an arithmetic, shared by [`CachedCertifier`]s in several threads.
///
/// Its memory is bounded. Answers are held in blocks of 512. When a new block does not fit, the outputs whose answers
/// take most of the memory lose their oldest block that answered nothing since the last time. So that lookups stay
/// short, the outputs of a shard also share no more than 8192 boxes of a kind and 4096 witnesses.
#[derive(Debug)]
pub struct DecisionCache {
    grid: Grid,
    shards: Box<[Shard]>,
    limit: usize,
    bytes: AtomicUsize,
}

/// What belongs to some of the outputs. Aligned, so that shards do not share cache lines.
#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    /// One per kind.
    tables: RwLock<[Table; 3]>,
    bytes: AtomicUsize,
    counters: Counters,
}

impl Shard {
    fn read(&self) -> RwLockReadGuard<'_, [Table; 3]> {
        self.tables.read().expect("no thread panics while it writes")
    }

    fn write(&self) -> RwLockWriteGuard<'_, [Table; 3]> {
        self.tables.write().expect("no thread panics while it writes")
    }
}

impl DecisionCache {
    /// A cache for a policy whose variables have these least and greatest values. They only serve to find answers
    /// fast.
    fn new(domains: &[(i32, i32)], outputs: usize, limit: usize) -> DecisionCache {
        let grid = Grid::new(domains, CLASSES);
        let words = outputs.div_ceil(64);
        let table = |kind| match kind {
            Kind::Never => Table::new(&grid, Competitors::Subset, false, words),
            Kind::Always => Table::new(&grid, Competitors::Superset, false, words),
            Kind::Witness => Table::new(&grid, Competitors::Superset, true, words),
        };
        let shard = || Shard {
            tables: RwLock::new(KINDS.map(table)),
            bytes: AtomicUsize::new(0),
            counters: Counters::default(),
        };
        let shards = (0..outputs.min(SHARDS)).map(|_| shard()).collect();
        DecisionCache { grid, shards, limit, bytes: AtomicUsize::new(0) }
    }

    /// What was asked so far and what is held now. Counts of threads that are at work may be missing.
    pub fn statistics(&self) -> CacheStatistics {
        let mut statistics = CacheStatistics { bytes: self.bytes() as u64, ..CacheStatistics::default() };
        for shard in &self.shards {
            shard.counters.report(&mut statistics);
            statistics.entries += shard.read().iter().map(|table| table.records() as u64).sum::<u64>();
        }
        statistics
    }

    /// The bytes that answers take now.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The most bytes that answers may take.
    pub fn limit(&self) -> usize {
        self.limit
    }

    fn shard(&self, output: usize) -> &Shard {
        &self.shards[output % self.shards.len()]
    }

    /// Finds a record that answers a query and is accepted.
    fn find<R>(
        &self,
        kind: Kind,
        query: Record<'_>,
        accept: impl FnMut(Record<'_>) -> Option<R>,
    ) -> Option<R> {
        self.shard(query.output).read()[kind as usize].find(&self.grid, query, accept)
    }

    fn count(&self, output: usize, event: Event) {
        self.shard(output).counters.add(event, 1);
    }

    /// Adds a record, if there is memory for it.
    fn store(&self, kind: Kind, record: Record<'_>) {
        let shard = self.shard(record.output);
        let mut reserved = 0;
        loop {
            let mut tables = shard.write();
            let table = &mut tables[kind as usize];
            let needed = table.block_bytes(&self.grid);
            if reserved > 0 && !table.has_room() {
                table.add_block(&self.grid);
                shard.bytes.fetch_add(reserved, Ordering::Relaxed);
                reserved = 0;
            }
            if !table.has_room() && table.is_full() {
                self.evict_from(shard, table);
            }
            if table.has_room() {
                if table.insert(&self.grid, record) {
                    shard.counters.add(Event::Replaced, 1);
                }
                shard.counters.add(Event::Stored, 1);
                break;
            }
            drop(tables);
            if !self.reserve(needed) {
                return;
            }
            reserved = needed;
        }
        // Another thread made room in the meantime.
        self.bytes.fetch_sub(reserved, Ordering::Relaxed);
    }

    /// Takes bytes from what is left, after evicting as much as that needs. `false` if they can never fit.
    fn reserve(&self, bytes: usize) -> bool {
        loop {
            let add = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
            if self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok() {
                return true;
            }
            if !self.evict() {
                return false;
            }
        }
    }

    /// Removes a block from the largest shard; `false` if there is none.
    fn evict(&self) -> bool {
        let size = |shard: &&Shard| shard.bytes.load(Ordering::Relaxed);
        let Some(shard) = self.shards.iter().max_by_key(size) else { return false };
        let mut tables = shard.write();
        let bytes = |table: &Table| table.blocks() * table.block_bytes(&self.grid);
        let Some(table) = tables.iter_mut().max_by_key(|table| bytes(table)) else { return false };
        let is_something = table.blocks() > 0;
        if is_something {
            self.evict_from(shard, table);
        }
        is_something
    }

    /// Removes a block from a table of a shard that has one.
    fn evict_from(&self, shard: &Shard, table: &mut Table) {
        shard.counters.add(Event::Evicted, table.evict() as u64);
        let freed = table.block_bytes(&self.grid);
        shard.bytes.fetch_sub(freed, Ordering::Relaxed);
        self.bytes.fetch_sub(freed, Ordering::Relaxed);
    }
}

//! The regions of a partition: for each cell, the hull of what was found to be reachable in it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::partition::Partition;
use crate::ic3::reason::Reason;

/// How often a region grows by what is needed; afterwards it grows by more than that.
const PATIENCE: u32 = 32;

/// What was found to be reachable in a cell.
#[derive(Debug)]
pub struct Region {
    /// The states.
    pub states: Reason,
    cell: Reason,
    /// A state that is unsafe, or at which the model is wrong.
    pub bad: Option<Vec<i32>>,
    /// The command that is wrong there, if that is why.
    pub error: Option<usize>,
    /// Regions from which steps lead here, and the commands.
    pub from: FxHashSet<(usize, usize)>,
    /// How often it has grown.
    grown: u32,
    is_queued: bool,
}

/// The regions of a partition.
#[derive(Debug)]
pub struct Regions {
    partition: Partition,
    all: Vec<Region>,
    /// By the least corner of a cell.
    of_cell: FxHashMap<Vec<i32>, usize>,
    queue: VecDeque<usize>,
}

impl Regions {
    /// No regions yet.
    pub fn new(partition: Partition) -> Regions {
        let (all, of_cell, queue) = (Vec::new(), FxHashMap::default(), VecDeque::new());
        Regions { partition, all, of_cell, queue }
    }

    /// The regions.
    pub fn all(&self) -> &[Region] {
        &self.all
    }

    /// How states are divided.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// How states are divided.
    pub fn into_partition(self) -> Partition {
        self.partition
    }

    /// The region of the cell of a state.
    pub fn of_state(&self, state: &[i32]) -> Option<usize> {
        self.of_cell.get(&self.partition.cell(state).lower).copied()
    }

    /// A region that has grown since it was last looked at.
    pub fn next(&mut self) -> Option<usize> {
        let index = self.queue.pop_front()?;
        self.all[index].is_queued = false;
        Some(index)
    }

    /// Remembers that a region holds a state that it must not.
    pub fn set_bad(&mut self, index: usize, state: Vec<i32>, error: Option<usize>) {
        self.all[index].bad = Some(state);
        self.all[index].error = error;
    }

    /// Lets regions grow until they hold the states of a box, to which a command leads from a region; `false` if the box meets too many cells.
    pub fn add(&mut self, states: &Reason, from: Option<(usize, usize)>) -> bool {
        let Some(parts) = self.partition.parts(states) else { return false };
        for (part, cell) in parts {
            self.add_to_cell(part, cell, from);
        }
        true
    }

    fn add_to_cell(&mut self, states: Reason, cell: Reason, from: Option<(usize, usize)>) {
        let Some(&index) = self.of_cell.get(&cell.lower) else {
            let index = self.all.len();
            self.of_cell.insert(cell.lower.clone(), index);
            let from = from.into_iter().collect();
            let region = Region { states, cell, bad: None, error: None, from, grown: 0, is_queued: true };
            self.all.push(region);
            self.queue.push_back(index);
            return;
        };
        let region = &mut self.all[index];
        region.from.extend(from);
        if region.states.includes(&states) {
            return;
        }
        region.states = if region.grown < PATIENCE {
            region.states.hull(&states)
        } else {
            region.states.stretch(&states, &region.cell)
        };
        region.grown += 1;
        if region.bad.is_none() && !std::mem::replace(&mut region.is_queued, true) {
            self.queue.push_back(index);
        }
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        // The states, the cell, its corner, and some regions before.
        let width = self.all.first().map_or(0, |region| region.states.lower.len());
        (self.all.len() * (size_of::<Region>() + 20 * width + 128)) as u64
    }

    /// Which regions may lead to a bad one.
    pub fn doomed(&self) -> Vec<bool> {
        let mut doomed: Vec<bool> = self.all.iter().map(|region| region.bad.is_some()).collect();
        let mut queue: Vec<usize> = (0..doomed.len()).filter(|&index| doomed[index]).collect();
        while let Some(index) = queue.pop() {
            for &(from, _) in &self.all[index].from {
                if !std::mem::replace(&mut doomed[from], true) {
                    queue.push(from);
                }
            }
        }
        doomed
    }
}

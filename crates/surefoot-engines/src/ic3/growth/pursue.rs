//! Runs towards bad regions: what regions seem to do, reachable states may really do.
//!
//! States that were seen are followed, first those whose region has the fewest steps to a bad one. This finds runs to unsafe states that random runs miss. Otherwise
//! it finds reachable states in regions of which none was known, and cells are cut in better places.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Grown;
use super::regions::Regions;
use crate::ic3::{Run, Stop};
use crate::outcome::Trace;

/// States that are followed before cells are cut.
const STATES: usize = 2000;

impl Run<'_> {
    /// Follows states into bad regions; a run to an unsafe state, if one is met.
    pub(super) fn pursue(&mut self) -> Result<Option<Trace>, Stop> {
        let Some(grown) = self.growth.grown.take() else { return Ok(None) };
        let visit = self.follow(&grown)?;
        self.growth.grown = Some(grown);
        self.look_around()?;
        Ok(visit.map(|visit| self.samples.trace(visit)))
    }

    /// The visit of an unsafe state, if one is met.
    fn follow(&mut self, Grown { regions, doomed }: &Grown) -> Result<Option<usize>, Stop> {
        let distances = distances(regions);
        let distance = |state: &[i32]| {
            regions.of_state(state).filter(|&region| doomed[region]).map(|region| distances[region])
        };
        let mut queue = BinaryHeap::new();
        for visit in 0..self.samples.len() {
            queue.extend(distance(self.samples.state(visit)).map(|distance| Reverse((distance, visit))));
        }
        let mut left = STATES;
        while left > 0 {
            let Some(Reverse((_, visit))) = queue.pop() else { break };
            if !self.samples.follow_once(visit) {
                continue;
            }
            left -= 1;
            let state = self.samples.state(visit).to_vec();
            if self.status(&state)?.ends_run {
                continue;
            }
            for step in self.successors(&state)? {
                let is_unsafe = self.status(&step.state)?.is_unsafe;
                let next = self.samples.follow(visit, step);
                if is_unsafe {
                    return Ok(Some(next));
                }
                queue.extend(distance(self.samples.state(next)).map(|distance| Reverse((distance, next))));
            }
        }
        Ok(None)
    }
}

/// The least number of steps from each region to a bad one.
fn distances(regions: &Regions) -> Vec<usize> {
    let all = regions.all();
    let mut distances = vec![usize::MAX; all.len()];
    let mut queue: VecDeque<usize> = (0..all.len()).filter(|&index| all[index].bad.is_some()).collect();
    for &index in &queue {
        distances[index] = 0;
    }
    while let Some(index) = queue.pop_front() {
        for &(from, _) in &all[index].from {
            if distances[from] == usize::MAX {
                distances[from] = distances[index] + 1;
                queue.push_back(from);
            }
        }
    }
    distances
}

//! Proof obligations: states that must be shown not to reach an unsafe state within so many steps.
//!
//! Every obligation is a state that runs reach: a start state, or a successor of one that is in the queue. So an unsafe state among them is
//! the end of a trace, which their parents spell out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::visits::Visits;
use crate::outcome::Trace;
use crate::step::Transition;

/// The queue.
#[derive(Debug, Default)]
pub struct Obligations {
    visits: Visits,
    /// The number of steps that is left, then the newest visit first.
    queue: BinaryHeap<(Reverse<usize>, usize)>,
}

/// An entry of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obligation {
    /// Which visit.
    pub visit: usize,
    /// The steps that are left.
    pub steps: usize,
}

impl Obligations {
    /// Empties the queue and begins with a start state.
    pub fn start(&mut self, state: Vec<i32>, steps: usize) {
        self.visits.clear();
        self.queue.clear();
        let visit = self.visits.start(state);
        self.insert(Obligation { visit, steps });
    }

    /// Puts an obligation back, perhaps with another number of steps.
    pub fn insert(&mut self, obligation: Obligation) {
        self.queue.push((Reverse(obligation.steps), obligation.visit));
    }

    /// Adds the state that a step leads to.
    pub fn visit(&mut self, from: usize, step: Transition) -> usize {
        self.visits.follow(from, step)
    }

    /// Takes an obligation with the fewest steps.
    pub fn pop(&mut self) -> Option<Obligation> {
        self.queue.pop().map(|(Reverse(steps), visit)| Obligation { visit, steps })
    }

    /// The state of a visit.
    pub fn state(&self, visit: usize) -> &[i32] {
        self.visits.state(visit)
    }

    /// The run that led to a visit.
    pub fn trace(&self, visit: usize) -> Trace {
        self.visits.trace(visit)
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.visits.memory() + self.queue.len() as u64 * 24
    }
}

//! Proof obligations: states that must be shown not to reach an unsafe state within so many steps.
//!
//! Every obligation is a state that runs reach: a start state, or a successor of one that is in the queue. So an unsafe state among them is
//! the end of a trace, which their parents spell out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::outcome::{Trace, TraceStep};
use crate::step::Transition;

/// A state on the way, and how it was reached.
#[derive(Debug)]
struct Visit {
    state: Vec<i32>,
    /// The visit before it, and the command and outcome that led here.
    from: Option<(usize, usize, usize)>,
}

/// The queue.
#[derive(Debug, Default)]
pub struct Obligations {
    visits: Vec<Visit>,
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
        self.visits.push(Visit { state, from: None });
        self.insert(Obligation { visit: 0, steps });
    }

    /// Puts an obligation back, perhaps with another number of steps.
    pub fn insert(&mut self, obligation: Obligation) {
        self.queue.push((Reverse(obligation.steps), obligation.visit));
    }

    /// Adds the state that a step leads to.
    pub fn visit(&mut self, from: usize, step: Transition) -> usize {
        self.visits.push(Visit { state: step.state, from: Some((from, step.command, step.outcome)) });
        self.visits.len() - 1
    }

    /// Takes an obligation with the fewest steps.
    pub fn pop(&mut self) -> Option<Obligation> {
        self.queue.pop().map(|(Reverse(steps), visit)| Obligation { visit, steps })
    }

    /// The state of a visit.
    pub fn state(&self, visit: usize) -> &[i32] {
        &self.visits[visit].state
    }

    /// The run that led to a visit.
    pub fn trace(&self, visit: usize) -> Trace {
        let mut steps = Vec::new();
        let mut current = visit;
        while let Some((from, command, outcome)) = self.visits[current].from {
            steps.push(TraceStep { command, outcome, state: self.visits[current].state.clone() });
            current = from;
        }
        steps.reverse();
        Trace { start: self.visits[current].state.clone(), steps }
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        let width = self.visits.first().map_or(0, |visit| visit.state.len());
        (self.visits.len() * (size_of::<Visit>() + 4 * width) + self.queue.len() * 24) as u64
    }
}

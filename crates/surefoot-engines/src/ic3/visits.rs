//! States that runs reach, and how each was reached.

use crate::outcome::{Trace, TraceStep};
use crate::step::Transition;

/// A state on the way, and how it was reached.
#[derive(Debug)]
struct Visit {
    state: Vec<i32>,
    /// The visit before it, and the command and outcome that led here.
    from: Option<(usize, usize, usize)>,
}

/// Visits, numbered from 0.
#[derive(Debug, Default)]
pub struct Visits(Vec<Visit>);

impl Visits {
    /// Adds a state in which runs start.
    pub fn start(&mut self, state: Vec<i32>) -> usize {
        self.0.push(Visit { state, from: None });
        self.0.len() - 1
    }

    /// Adds the state that a step leads to.
    pub fn follow(&mut self, from: usize, step: Transition) -> usize {
        self.0.push(Visit { state: step.state, from: Some((from, step.command, step.outcome)) });
        self.0.len() - 1
    }

    /// The number of visits.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The state of a visit.
    pub fn state(&self, visit: usize) -> &[i32] {
        &self.0[visit].state
    }

    /// The run that led to a visit.
    pub fn trace(&self, visit: usize) -> Trace {
        let mut steps = Vec::new();
        let mut current = visit;
        while let Some((from, command, outcome)) = self.0[current].from {
            steps.push(TraceStep { command, outcome, state: self.0[current].state.clone() });
            current = from;
        }
        steps.reverse();
        Trace { start: self.0[current].state.clone(), steps }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        let width = self.0.first().map_or(0, |visit| visit.state.len());
        (self.0.len() * (size_of::<Visit>() + 4 * width)) as u64
    }
}

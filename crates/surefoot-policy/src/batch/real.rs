//! Choices in real arithmetic: enclosures for all states, exact scores for those that they leave open.

use std::sync::Arc;

use super::LANES;
use super::enclosed::EnclosedScorer;
use super::instruction_set::InstructionSet;
use crate::enclosure::Rounding;
use crate::policy::Scorer;
use crate::real;
use crate::score::{Score, winners};

/// Computes the enclosures of a batch, and exact scores on demand.
#[derive(Debug, Clone)]
pub(super) struct RealScorer {
    scorer: Arc<Scorer>,
    enclosed: EnclosedScorer,
    /// The inputs of the batch: for each chunk a row of lanes per input.
    columns: Vec<i32>,
}

impl RealScorer {
    pub(super) fn new(scorer: &Scorer) -> Self {
        let enclosed = EnclosedScorer::new(scorer, Rounding::REAL);
        RealScorer { scorer: Arc::new(scorer.clone()), enclosed, columns: Vec::new() }
    }

    /// Makes room for a batch.
    pub(super) fn reserve(&mut self, chunks: usize) {
        self.enclosed.reserve(chunks);
        self.columns.clear();
    }

    /// Computes the enclosures of the next chunk.
    pub(super) fn run(&mut self, set: InstructionSet, chunk: usize, used: usize, columns: &[i32]) {
        self.columns.extend_from_slice(columns);
        self.enclosed.run(set, chunk, used, columns);
    }

    #[inline]
    pub(super) fn score(&self, state: usize, output: usize) -> Score {
        self.enclosed.score(state, output)
    }

    /// Calls `found` with each output that can be chosen.
    pub(super) fn possible(
        &self,
        state: usize,
        applicable: impl Fn(usize) -> bool,
        mut found: impl FnMut(usize),
    ) {
        let (mut first, mut others) = (None, Vec::new());
        winners(
            self.scorer.outputs(),
            |output| self.enclosed.score(state, output),
            applicable,
            |output| match first {
                None => first = Some(output),
                Some(_) => others.push(output),
            },
        );
        if !others.is_empty() {
            others.splice(..0, first.take());
            real::decide(&self.scorer, &self.inputs(state), &mut others);
        }
        first.into_iter().chain(others).for_each(&mut found);
    }

    /// The inputs in a state of the batch.
    fn inputs(&self, state: usize) -> Vec<i32> {
        let inputs = self.scorer.inputs();
        let first = state / LANES * inputs * LANES + state % LANES;
        (0..inputs).map(|input| self.columns[first + input * LANES]).collect()
    }
}

//! The scores of a batch, and the choice among them.

use super::LANES;
use super::instruction_set::InstructionSet;
use super::kernel::{self, VectorNumber};

/// Scores of all states of a batch: for each chunk a row of lanes per output. None is NaN.
#[derive(Debug, Clone)]
pub(super) struct ScoreTable<T> {
    outputs: usize,
    scores: Vec<T>,
    choices: Vec<u32>,
}

impl<T: VectorNumber> ScoreTable<T> {
    pub(super) fn new(outputs: usize) -> Self {
        ScoreTable { outputs, scores: Vec::new(), choices: Vec::new() }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Makes room for a batch.
    pub(super) fn reserve(&mut self, chunks: usize) {
        let size = chunks * self.outputs * LANES;
        if self.scores.len() < size {
            self.scores.resize(size, T::ZERO);
        }
        self.choices.clear();
    }

    /// The rows of a chunk.
    pub(super) fn chunk(&mut self, chunk: usize) -> &mut [T] {
        &mut self.scores[chunk * self.outputs * LANES..][..self.outputs * LANES]
    }

    #[inline]
    pub(super) fn score(&self, state: usize, output: usize) -> T {
        self.scores[self.place(state, output)]
    }

    pub(super) fn set_score(&mut self, state: usize, output: usize, score: T) {
        let place = self.place(state, output);
        self.scores[place] = score;
    }

    #[inline]
    fn place(&self, state: usize, output: usize) -> usize {
        (state / LANES * self.outputs + output) * LANES + state % LANES
    }

    /// The applicable output with the highest score, the lowest index on ties.
    #[inline]
    pub(super) fn best(&self, state: usize, applicable: impl Fn(usize) -> bool) -> Option<usize> {
        let scores = self.scores[self.place(state, 0)..].iter().step_by(LANES).take(self.outputs);
        let mut best: Option<(usize, T)> = None;
        for (output, &score) in scores.enumerate() {
            if applicable(output) && best.is_none_or(|(_, highest)| score > highest) {
                best = Some((output, score));
            }
        }
        best.map(|(output, _)| output)
    }

    /// The choices among all outputs in the first `count` states.
    pub(super) fn choices(&mut self, set: InstructionSet, count: usize) -> &[u32] {
        if self.choices.is_empty() {
            self.choices.resize(count.div_ceil(LANES) * LANES, 0);
            let scores = self.scores.chunks_exact(self.outputs * LANES);
            for (scores, choices) in scores.zip(self.choices.chunks_exact_mut(LANES)) {
                kernel::choose(set, scores, choices);
            }
        }
        &self.choices[..count]
    }
}

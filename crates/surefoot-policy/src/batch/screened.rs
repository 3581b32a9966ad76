//! Double-precision choices, most of them found in single precision: see [`super::screen`].

use std::sync::Arc;

use super::LANES;
use super::exact::ExactScorer;
use super::instruction_set::InstructionSet;
use super::screen::Screen;
use super::table::ScoreTable;
use crate::policy::Scorer;

/// Screening stops for good when more than one in this many states has to be computed twice.
const WORTHWHILE: usize = 3;

/// Ranks outputs as double precision does. What it writes into the table are scores in single precision where they
/// settle the ranking, and ranks where they do not.
#[derive(Debug, Clone)]
pub(super) struct ScreenedScorer {
    screen: Arc<Screen>,
    values: [Vec<f32>; 2],
    exact: ExactScorer<f64>,
    exact_scores: Vec<f64>,
    /// States that wait for double precision, and their inputs as a chunk.
    waiting: Vec<usize>,
    waiting_columns: Vec<i32>,
    states: usize,
    unsettled: usize,
}

impl ScreenedScorer {
    /// A screened scorer, where screening is possible.
    pub(super) fn new(scorer: &Scorer) -> Option<Self> {
        let Scorer::Network(network) = scorer else { return None };
        let rows = network.sizes().into_iter().max().unwrap_or(0);
        Some(ScreenedScorer {
            screen: Arc::new(Screen::new(network)?),
            values: [vec![0.0; rows * LANES], vec![0.0; rows * LANES]],
            exact: ExactScorer::new(scorer),
            exact_scores: vec![0.0; network.outputs() * LANES],
            waiting: Vec::with_capacity(LANES),
            waiting_columns: vec![0; network.inputs() * LANES],
            states: 0,
            unsettled: 0,
        })
    }

    /// The scorer for double precision alone, if screening turned out not to pay.
    pub(super) fn given_up(&self) -> Option<ExactScorer<f64>> {
        let enough = self.states >= 16 * LANES;
        (enough && self.unsettled * WORTHWHILE > self.states).then(|| self.exact.clone())
    }

    /// Ranks the first `used` states of a chunk. Some may wait until [`Self::finish`].
    pub(super) fn run(
        &mut self,
        set: InstructionSet,
        chunk: usize,
        used: usize,
        columns: &[i32],
        table: &mut ScoreTable<f32>,
    ) {
        let mut unsettled = self.screen.run(set, columns, &mut self.values, table.chunk(chunk));
        self.states += used;
        while unsettled != 0 {
            let lane = unsettled.trailing_zeros() as usize;
            unsettled &= unsettled - 1;
            if lane >= used {
                break;
            }
            self.unsettled += 1;
            let place = self.waiting.len();
            self.waiting.push(chunk * LANES + lane);
            let rows = columns.chunks_exact(LANES).zip(self.waiting_columns.chunks_exact_mut(LANES));
            for (from, to) in rows {
                to[place] = from[lane];
            }
            if self.waiting.len() == LANES {
                self.finish(set, table);
            }
        }
    }

    /// Ranks the states that wait.
    pub(super) fn finish(&mut self, set: InstructionSet, table: &mut ScoreTable<f32>) {
        if self.waiting.is_empty() {
            return;
        }
        self.exact.run(set, self.waiting.len(), &self.waiting_columns, &mut self.exact_scores);
        let outputs = table.outputs();
        for (lane, state) in self.waiting.drain(..).enumerate() {
            let score = |output: usize| self.exact_scores[output * LANES + lane];
            for output in 0..outputs {
                let rank = (0..outputs).filter(|&other| score(other) < score(output)).count();
                table.set_score(state, output, rank as f32);
            }
        }
    }
}

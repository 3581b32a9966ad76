//! Evaluation of many states at once, with the results of [`crate::point`], bit for bit.
//!
//! States come as columns, one per input, and are evaluated in chunks of [`LANES`] states. Within a chunk every value
//! is an array over the states, so vector instructions do for several states what the definition does for one: the
//! same operations in the same order, only side by side.

mod dense;
mod enclosed;
mod enclosed_graph;
mod exact;
mod forest;
mod graph;
mod instruction_set;
mod kernel;
mod plan;
mod real;
mod screen;
mod screened;
mod sparse;
mod table;

use std::sync::Arc;

pub use instruction_set::InstructionSet;

use crate::arithmetic::Arithmetic;
use crate::enclosure::Rounding;
use crate::policy::{Policy, PolicyInput, Scorer};
use crate::score::{Score, winners};
use enclosed::EnclosedScorer;
use exact::ExactScorer;
use real::RealScorer;
use screened::ScreenedScorer;
use table::ScoreTable;

/// States of a chunk.
pub(crate) const LANES: usize = 64;

/// Evaluates batches of states. It owns its working memory, so each thread needs its own: make one and clone it.
#[derive(Debug, Clone)]
pub struct Evaluator {
    arithmetic: Arithmetic,
    instruction_set: InstructionSet,
    inputs: Arc<[PolicyInput]>,
    outputs: usize,
    /// States of the last batch.
    count: usize,
    /// The inputs of a chunk, one row of lanes per input.
    columns: Vec<i32>,
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Double(ExactScorer<f64>, ScoreTable<f64>),
    Screened(ScreenedScorer, ScoreTable<f32>),
    Single(ExactScorer<f32>, ScoreTable<f32>),
    Enclosed(EnclosedScorer),
    Real(RealScorer),
}

impl Engine {
    fn double(scorer: &Scorer) -> Self {
        Engine::Double(ExactScorer::new(scorer), ScoreTable::new(scorer.outputs()))
    }
}

impl Policy {
    /// An evaluator of this policy.
    pub fn evaluator(&self, arithmetic: Arithmetic) -> Evaluator {
        let engine = match arithmetic {
            Arithmetic::F64 => match ScreenedScorer::new(&self.scorer) {
                Some(screened) => Engine::Screened(screened, ScoreTable::new(self.scorer.outputs())),
                None => Engine::double(&self.scorer),
            },
            Arithmetic::F32 => {
                Engine::Single(ExactScorer::new(&self.scorer), ScoreTable::new(self.scorer.outputs()))
            }
            Arithmetic::Real => Engine::Real(RealScorer::new(&self.scorer)),
            Arithmetic::AnyF32 => Engine::Enclosed(EnclosedScorer::new(&self.scorer, Rounding::ANY_F32)),
        };
        Evaluator::new(self, arithmetic, engine)
    }

    /// An evaluator that computes the exact score of every output in every state, which [`Policy::evaluator`] avoids
    /// where the choice is clear without. Its choices are the same.
    pub fn scoring_evaluator(&self, arithmetic: Arithmetic) -> Evaluator {
        match arithmetic {
            Arithmetic::F64 => Evaluator::new(self, arithmetic, Engine::double(&self.scorer)),
            Arithmetic::F32 | Arithmetic::Real | Arithmetic::AnyF32 => self.evaluator(arithmetic),
        }
    }
}

impl Evaluator {
    fn new(policy: &Policy, arithmetic: Arithmetic, engine: Engine) -> Self {
        let columns = policy.inputs.iter().flat_map(|input| match *input {
            PolicyInput::Variable(_) => [0; LANES],
            PolicyInput::Constant(value) => [value; LANES],
        });
        Evaluator {
            arithmetic,
            instruction_set: InstructionSet::best(),
            inputs: policy.inputs.clone().into(),
            outputs: policy.outputs.len(),
            count: 0,
            columns: columns.collect(),
            engine,
        }
    }

    /// The same evaluator on other instructions; `None` if this machine does not have them. Results do not change.
    #[must_use]
    pub fn with_instruction_set(mut self, instruction_set: InstructionSet) -> Option<Self> {
        self.instruction_set = instruction_set;
        instruction_set.is_available().then_some(self)
    }

    /// The arithmetic in which this evaluator computes.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Number of outputs of the policy.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Evaluates `count` states. `column(i)` gives the values of the policy's input `i` in all of them; it is not
    /// asked for constant inputs. Replaces the results of the last batch.
    pub fn run<'c>(&mut self, count: usize, column: impl Fn(usize) -> &'c [i32]) {
        self.count = count;
        if let Engine::Screened(scorer, _) = &self.engine
            && let Some(exact) = scorer.given_up()
        {
            self.engine = Engine::Double(exact, ScoreTable::new(self.outputs));
        }
        let chunks = count.div_ceil(LANES);
        match &mut self.engine {
            Engine::Double(_, table) => table.reserve(chunks),
            Engine::Screened(_, table) | Engine::Single(_, table) => table.reserve(chunks),
            Engine::Enclosed(scorer) => scorer.reserve(chunks),
            Engine::Real(scorer) => scorer.reserve(chunks),
        }
        let set = self.instruction_set;
        for chunk in 0..chunks {
            let used = LANES.min(count - chunk * LANES);
            self.fill(chunk * LANES, used, &column);
            match &mut self.engine {
                Engine::Double(scorer, table) => scorer.run(set, used, &self.columns, table.chunk(chunk)),
                Engine::Screened(scorer, table) => scorer.run(set, chunk, used, &self.columns, table),
                Engine::Single(scorer, table) => scorer.run(set, used, &self.columns, table.chunk(chunk)),
                Engine::Enclosed(scorer) => scorer.run(set, chunk, used, &self.columns),
                Engine::Real(scorer) => scorer.run(set, chunk, used, &self.columns),
            }
        }
        if let Engine::Screened(scorer, table) = &mut self.engine {
            scorer.finish(set, table);
        }
    }

    /// Copies the inputs of a chunk that begins at state `first`. Lanes from `used` on keep inputs of an earlier chunk:
    /// what is computed from them is not read.
    fn fill<'c>(&mut self, first: usize, used: usize, column: impl Fn(usize) -> &'c [i32]) {
        for (input, row) in self.columns.chunks_exact_mut(LANES).enumerate() {
            if let PolicyInput::Variable(_) = self.inputs[input] {
                row[..used].copy_from_slice(&column(input)[first..first + used]);
            }
        }
    }

    /// The output that is chosen in a state of the last batch if those competing are `applicable`; `None` if none is.
    ///
    /// # Panics
    ///
    /// In the arithmetics `any-f32` and `real`, where a state can have several choices: see [`Evaluator::possible`].
    #[inline]
    pub fn best(&self, state: usize, applicable: impl Fn(usize) -> bool) -> Option<usize> {
        self.check(state);
        match &self.engine {
            Engine::Double(_, table) => table.best(state, applicable),
            Engine::Screened(_, table) | Engine::Single(_, table) => table.best(state, applicable),
            Engine::Enclosed(_) | Engine::Real(_) => panic!("{} has no single choice", self.arithmetic),
        }
    }

    /// The output that is chosen in each state of the last batch if all compete.
    ///
    /// # Panics
    ///
    /// In the arithmetics `any-f32` and `real`, where a state can have several choices: see [`Evaluator::possible`].
    pub fn choices(&mut self) -> &[u32] {
        let (set, count) = (self.instruction_set, self.count);
        match &mut self.engine {
            Engine::Double(_, table) => table.choices(set, count),
            Engine::Screened(_, table) | Engine::Single(_, table) => table.choices(set, count),
            Engine::Enclosed(_) | Engine::Real(_) => panic!("{} has no single choice", self.arithmetic),
        }
    }

    /// Calls `found` with each output that can be chosen in a state of the last batch if those competing are
    /// `applicable`, in ascending order: those of [`Policy::possible`].
    #[inline]
    pub fn possible(&self, state: usize, applicable: impl Fn(usize) -> bool, mut found: impl FnMut(usize)) {
        if let Engine::Enclosed(scorer) = &self.engine {
            self.check(state);
            winners(self.outputs, |output| scorer.score(state, output), applicable, found);
        } else if let Engine::Real(scorer) = &self.engine {
            self.check(state);
            scorer.possible(state, applicable, found);
        } else if let Some(output) = self.best(state, applicable) {
            found(output);
        }
    }

    /// The score of an output in a state of the last batch; `None` if the choice was clear without it. A
    /// [`Policy::scoring_evaluator`] has all scores.
    pub fn score(&self, state: usize, output: usize) -> Option<Score> {
        self.check(state);
        assert!(output < self.outputs, "the policy has {} outputs, not {output}", self.outputs);
        match &self.engine {
            Engine::Double(_, table) => Some(Score::exactly(table.score(state, output))),
            Engine::Screened(..) => None,
            Engine::Single(_, table) => Some(Score::exactly(table.score(state, output).into())),
            Engine::Enclosed(scorer) => Some(scorer.score(state, output)),
            Engine::Real(scorer) => Some(scorer.score(state, output)),
        }
    }

    #[inline]
    fn check(&self, state: usize) {
        assert!(state < self.count, "the last batch has {} states, not {state}", self.count);
    }
}

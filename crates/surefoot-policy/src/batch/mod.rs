//! Evaluation of many states at once, with the results of [`crate::point`], bit for bit.
//!
//! States come as columns, one per input, and are evaluated in chunks of [`LANES`] states. Within a chunk every value is an
//! array over the states, so vector instructions do for several states what the definition does for one: the same operations in
//! the same order, only side by side.

mod dense;
mod forest;
mod instruction_set;
mod kernel;
mod scorer;

use std::sync::Arc;

pub use instruction_set::InstructionSet;

use crate::arithmetic::Arithmetic;
use crate::policy::{Policy, PolicyInput};
use crate::score::{Score, winners};
use scorer::{EnclosedScorer, ExactScorer};

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
    Double(ExactScorer<f64>),
    Single(ExactScorer<f32>),
    Enclosed(EnclosedScorer),
}

impl Policy {
    /// An evaluator of this policy.
    pub fn evaluator(&self, arithmetic: Arithmetic) -> Evaluator {
        let columns = self.inputs.iter().flat_map(|input| match *input {
            PolicyInput::Variable(_) => [0; LANES],
            PolicyInput::Constant(value) => [value; LANES],
        });
        Evaluator {
            arithmetic,
            instruction_set: InstructionSet::best(),
            inputs: self.inputs.clone().into(),
            outputs: self.outputs.len(),
            count: 0,
            columns: columns.collect(),
            engine: match arithmetic {
                Arithmetic::F64 => Engine::Double(ExactScorer::new(&self.scorer)),
                Arithmetic::F32 => Engine::Single(ExactScorer::new(&self.scorer)),
                Arithmetic::AnyF32 => Engine::Enclosed(EnclosedScorer::new(&self.scorer)),
            },
        }
    }
}

impl Evaluator {
    /// The same evaluator on other instructions; `None` if this machine does not have them. Results do not change.
    pub fn with_instruction_set(mut self, instruction_set: InstructionSet) -> Option<Self> {
        self.instruction_set = instruction_set;
        instruction_set.is_available().then_some(self)
    }

    /// The arithmetic in which this evaluator computes.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Evaluates `count` states. `column(i)` gives the values of the policy's input `i` in all of them; it is not asked for
    /// constant inputs. Replaces the results of the last batch.
    pub fn run<'c>(&mut self, count: usize, column: impl Fn(usize) -> &'c [i32]) {
        self.count = count;
        let chunks = count.div_ceil(LANES);
        match &mut self.engine {
            Engine::Double(scorer) => scorer.reserve(chunks),
            Engine::Single(scorer) => scorer.reserve(chunks),
            Engine::Enclosed(scorer) => scorer.reserve(chunks),
        }
        for chunk in 0..chunks {
            let first = chunk * LANES;
            let used = LANES.min(count - first);
            for (input, row) in self.columns.chunks_exact_mut(LANES).enumerate() {
                if let PolicyInput::Variable(_) = self.inputs[input] {
                    row[..used].copy_from_slice(&column(input)[first..first + used]);
                    row[used..].fill(0);
                }
            }
            match &mut self.engine {
                Engine::Double(scorer) => scorer.run(self.instruction_set, chunk, &self.columns),
                Engine::Single(scorer) => scorer.run(self.instruction_set, chunk, &self.columns),
                Engine::Enclosed(scorer) => scorer.run(self.instruction_set, chunk, &self.columns),
            }
        }
    }

    /// The output that is chosen in a state of the last batch if those competing are `applicable`; `None` if none is.
    ///
    /// # Panics
    ///
    /// In the arithmetic `any-f32`, where a state can have several choices: see [`Evaluator::possible`].
    #[inline]
    pub fn best(&self, state: usize, applicable: impl Fn(usize) -> bool) -> Option<usize> {
        assert!(state < self.count, "the last batch has {} states, not {state}", self.count);
        match &self.engine {
            Engine::Double(scorer) => scorer.best(state, applicable),
            Engine::Single(scorer) => scorer.best(state, applicable),
            Engine::Enclosed(_) => panic!("any-f32 has no single choice"),
        }
    }

    /// The output that is chosen in each state of the last batch if all compete.
    ///
    /// # Panics
    ///
    /// In the arithmetic `any-f32`, where a state can have several choices: see [`Evaluator::possible`].
    pub fn choices(&mut self) -> &[u32] {
        match &mut self.engine {
            Engine::Double(scorer) => scorer.choices(self.instruction_set, self.count),
            Engine::Single(scorer) => scorer.choices(self.instruction_set, self.count),
            Engine::Enclosed(_) => panic!("any-f32 has no single choice"),
        }
    }

    /// Calls `found` with each output that can be chosen in a state of the last batch if those competing are `applicable`, in
    /// ascending order. In `f64` and `f32` that is one output, or none if none is applicable.
    #[inline]
    pub fn possible(&self, state: usize, applicable: impl Fn(usize) -> bool, mut found: impl FnMut(usize)) {
        assert!(state < self.count, "the last batch has {} states, not {state}", self.count);
        match &self.engine {
            Engine::Double(scorer) => scorer.best(state, applicable).into_iter().for_each(found),
            Engine::Single(scorer) => scorer.best(state, applicable).into_iter().for_each(found),
            Engine::Enclosed(scorer) => {
                winners(self.outputs, |output| scorer.score(state, output), applicable, &mut found);
            }
        }
    }

    /// The score of an output in a state of the last batch.
    pub fn score(&self, state: usize, output: usize) -> Score {
        assert!(state < self.count && output < self.outputs, "no such state or output in the last batch");
        match &self.engine {
            Engine::Double(scorer) => Score::exactly(scorer.value(state, output)),
            Engine::Single(scorer) => Score::exactly(scorer.value(state, output).into()),
            Engine::Enclosed(scorer) => scorer.score(state, output),
        }
    }
}

//! Evaluation of single states during a search: samples, candidates and small boxes.
//!
//! Engines ask about one box for one output after the other. Which outputs can be chosen at the samples of a box does
//! not depend on the output in question, so it is kept until another box is sampled. Samples depend on nothing but the
//! question: that they are kept changes no answer.

use super::question::Question;
use super::space::{InputOrigin, Space};
use crate::arithmetic::Arithmetic;
use crate::batch::Evaluator;
use crate::policy::Policy;

/// States that are evaluated together.
const BATCH: usize = 64;
/// Samples of a box, at most.
const SAMPLES: usize = 16;
/// Points that have room: those of a batch, then the samples.
const ROOM: usize = BATCH + SAMPLES;
/// Marks an output that can be chosen at no sample.
const NONE: u32 = u32::MAX;

/// Collects points and asks the evaluator about them.
#[derive(Debug, Clone)]
pub(super) struct Points {
    evaluator: Evaluator,
    origins: Vec<InputOrigin>,
    /// Values of each dimension, [`ROOM`] per dimension.
    values: Vec<i32>,
    /// Points of the batch.
    count: usize,
    sampled: Sampled,
}

/// What the samples of the last box showed.
#[derive(Debug, Clone, Default)]
struct Sampled {
    /// Whether it holds for another output in question.
    is_shared: bool,
    lower: Vec<i32>,
    upper: Vec<i32>,
    /// The outputs that compete.
    competing: Vec<u64>,
    /// For each output, the first sample at which it can be chosen.
    first: Vec<u32>,
}

impl Sampled {
    /// Whether it answers a question about a box.
    fn answers(&self, question: &Question<'_>, lower: &[i32], upper: &[i32]) -> bool {
        self.is_shared
            && is_shared(question)
            && self.lower == lower
            && self.upper == upper
            && self.competing == question.competing.words()
    }

    /// Begins with another question: no output can be chosen yet.
    fn clear(&mut self, question: &Question<'_>, lower: &[i32], upper: &[i32], outputs: usize) {
        self.is_shared = is_shared(question);
        self.lower.clear();
        self.lower.extend_from_slice(lower);
        self.upper.clear();
        self.upper.extend_from_slice(upper);
        self.competing.clear();
        self.competing.extend_from_slice(question.competing.words());
        self.first.clear();
        self.first.resize(outputs, NONE);
    }
}

/// Whether the states in question and the outputs that compete would be the same for another of these outputs.
fn is_shared(question: &Question<'_>) -> bool {
    question.facts.is_empty() && question.competing.contains(question.output)
}

impl Points {
    pub(super) fn new(policy: &Policy, arithmetic: Arithmetic, origins: Vec<InputOrigin>) -> Self {
        let evaluator = policy.evaluator(arithmetic);
        Points { evaluator, origins, values: Vec::new(), count: 0, sampled: Sampled::default() }
    }

    /// Forgets the points of the batch; makes room for the dimensions of a space.
    pub(super) fn clear(&mut self, space: &Space) {
        self.count = 0;
        let needed = space.size() * ROOM;
        if self.values.len() < needed {
            self.values.resize(needed, 0);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == BATCH
    }

    /// Adds a point, given by its value in each dimension, if the facts hold there; whether they do.
    pub(super) fn add(&mut self, space: &Space, point: impl Fn(usize) -> i32) -> bool {
        debug_assert!(!self.is_full(), "full batches are asked before they grow");
        let holds = self.put(self.count, space, point);
        self.count += usize::from(holds);
        holds
    }

    /// Puts a point somewhere, if the facts hold there; whether they do.
    fn put(&mut self, place: usize, space: &Space, point: impl Fn(usize) -> i32) -> bool {
        if space.has_facts() && !space.holds(&point) {
            return false;
        }
        for (dimension, values) in self.values.chunks_exact_mut(ROOM).take(space.size()).enumerate() {
            values[place] = point(dimension);
        }
        true
    }

    /// Looks at a few points of a box: its ends, its middle, random corners and random points. Gives the first at which the
    /// output in question can be chosen.
    pub(super) fn sample(
        &mut self,
        space: &Space,
        question: &Question<'_>,
        lower: &[i32],
        upper: &[i32],
        count: usize,
    ) -> Option<usize> {
        if !self.sampled.answers(question, lower, upper) {
            self.sampled.clear(question, lower, upper, self.evaluator.outputs());
            let count = self.choose_samples(space, lower, upper, count);
            self.evaluate(BATCH, count);
            let mut first = std::mem::take(&mut self.sampled.first);
            for sample in (0..count).rev() {
                self.winners(sample, question, |output| first[output] = sample as u32);
            }
            self.sampled.first = first;
        }
        let first = self.sampled.first[question.output];
        (first != NONE).then_some(BATCH + first as usize)
    }

    /// Chooses samples; their number.
    fn choose_samples(&mut self, space: &Space, lower: &[i32], upper: &[i32], count: usize) -> usize {
        let mut random = 0x9E37_79B9_7F4A_7C15;
        let mut place = BATCH;
        for kind in 0..count.min(SAMPLES) {
            let bits = next(&mut random);
            let holds = match kind {
                0 => self.put(place, space, |dimension| lower[dimension]),
                1 => self.put(place, space, |dimension| upper[dimension]),
                2 => self.put(place, space, |dimension| i32::midpoint(lower[dimension], upper[dimension])),
                _ => {
                    let corner = kind % 2 == 1;
                    self.put(place, space, |dimension| {
                        let hash = mix(bits ^ (dimension as u64 + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93));
                        if corner {
                            return if hash & 1 == 0 { lower[dimension] } else { upper[dimension] };
                        }
                        let width = (i64::from(upper[dimension]) - i64::from(lower[dimension]) + 1) as u64;
                        let offset = (u128::from(hash) * u128::from(width)) >> 64;
                        (i64::from(lower[dimension]) + offset as i64) as i32
                    })
                }
            };
            place += usize::from(holds);
        }
        place - BATCH
    }

    /// Evaluates the points that were added since the last time. Gives the first at which the output in question can be chosen.
    pub(super) fn ask(&mut self, question: &Question<'_>) -> Option<usize> {
        let count = std::mem::take(&mut self.count);
        self.evaluate(0, count);
        (0..count).find(|&point| {
            let mut chosen = false;
            self.winners(point, question, |output| chosen |= output == question.output);
            chosen
        })
    }

    /// Evaluates `count` points from the `first` on, for [`Points::winners`].
    fn evaluate(&mut self, first: usize, count: usize) {
        if count > 0 {
            let (values, origins) = (&self.values, &self.origins);
            self.evaluator.run(count, |input| match origins[input] {
                InputOrigin::Dimension(dimension) => &values[dimension * ROOM + first..][..count],
                InputOrigin::Constant(_) => &[],
            });
        }
    }

    /// A competing output that beats the one in question at a point of the policy, whether or not the facts hold there.
    /// If there is none, the output in question can be chosen.
    pub(super) fn dominator(
        &mut self,
        space: &Space,
        point: &[i32],
        question: &Question<'_>,
    ) -> Option<usize> {
        debug_assert!(self.count == 0, "points were asked before");
        debug_assert!(point.len() == space.of_policy(), "a value for each dimension of the policy");
        for (dimension, &value) in point.iter().enumerate() {
            self.values[dimension * ROOM] = value;
        }
        self.evaluate(0, 1);
        let beats = |&rival: &usize| {
            let mut chosen = false;
            let pair = |output| output == rival || output == question.output;
            self.evaluator.possible(0, pair, |output| chosen |= output == question.output);
            !chosen
        };
        question.competing.iter().filter(|&rival| rival != question.output).find(beats)
    }

    /// Calls `found` with the outputs that can be chosen at one of the points that were evaluated last.
    fn winners(&self, point: usize, question: &Question<'_>, found: impl FnMut(usize)) {
        let applicable = |output| output == question.output || question.competing.contains(output);
        self.evaluator.possible(point, applicable, found);
    }

    /// The value of a dimension at a point of the last batch or a sample.
    pub(super) fn value(&self, point: usize, dimension: usize) -> i32 {
        self.values[dimension * ROOM + point]
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mix(*state)
}

/// Scrambles the bits of a number.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

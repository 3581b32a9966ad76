//! Evaluation of single states during a search: samples, candidates and small boxes.

use super::question::Question;
use super::space::{InputOrigin, Space};
use crate::arithmetic::Arithmetic;
use crate::batch::Evaluator;
use crate::policy::Policy;

/// States that are evaluated together.
pub(super) const BATCH: usize = 64;

/// Collects points and asks the evaluator about them.
#[derive(Debug, Clone)]
pub(super) struct Points {
    evaluator: Evaluator,
    origins: Vec<InputOrigin>,
    /// Values of each dimension, [`BATCH`] per dimension.
    values: Vec<i32>,
    count: usize,
    /// State of the generator of samples.
    random: u64,
}

impl Points {
    pub(super) fn new(policy: &Policy, arithmetic: Arithmetic, origins: Vec<InputOrigin>) -> Self {
        let evaluator = policy.evaluator(arithmetic);
        Points { evaluator, origins, values: Vec::new(), count: 0, random: 0 }
    }

    /// Forgets all points; makes room for the dimensions of a space. Samples depend on nothing but the question.
    pub(super) fn clear(&mut self, space: &Space) {
        self.count = 0;
        self.random = 0x9E37_79B9_7F4A_7C15;
        let needed = space.size() * BATCH;
        if self.values.len() < needed {
            self.values.resize(needed, 0);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == BATCH
    }

    /// Adds a point, given by its value in each dimension, if the facts hold there; whether they do.
    pub(super) fn add(&mut self, space: &Space, point: impl Fn(usize) -> i32) -> bool {
        if space.has_facts() && !space.holds(&point) {
            return false;
        }
        debug_assert!(!self.is_full(), "full batches are asked before they grow");
        for dimension in 0..space.size() {
            self.values[dimension * BATCH + self.count] = point(dimension);
        }
        self.count += 1;
        true
    }

    /// Adds a few points of a box: its ends, its middle, random corners and random points.
    pub(super) fn sample(&mut self, space: &Space, lower: &[i32], upper: &[i32], count: usize) {
        for kind in 0..count.min(BATCH - self.count) {
            let mut random = self.random;
            let bits = next(&mut random);
            match kind {
                0 => _ = self.add(space, |dimension| lower[dimension]),
                1 => _ = self.add(space, |dimension| upper[dimension]),
                2 => _ = self.add(space, |dimension| i32::midpoint(lower[dimension], upper[dimension])),
                _ => {
                    let corner = kind % 2 == 1;
                    self.add(space, |dimension| {
                        let hash = mix(bits ^ (dimension as u64 + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93));
                        if corner {
                            return if hash & 1 == 0 { lower[dimension] } else { upper[dimension] };
                        }
                        let width = (i64::from(upper[dimension]) - i64::from(lower[dimension]) + 1) as u64;
                        let offset = (u128::from(hash) * u128::from(width)) >> 64;
                        (i64::from(lower[dimension]) + offset as i64) as i32
                    });
                }
            }
            self.random = random;
        }
    }

    /// Evaluates the points that were added since the last time. Gives the first at which the output in question can be chosen.
    pub(super) fn ask(&mut self, question: &Question<'_>) -> Option<usize> {
        self.evaluate();
        let count = std::mem::take(&mut self.count);
        (0..count).find(|&point| {
            let mut chosen = false;
            self.winners(point, question, |output| chosen |= output == question.output);
            chosen
        })
    }

    /// Evaluates the points that were added since the last time, for [`Points::winners`]. Their number.
    pub(super) fn evaluate(&mut self) -> usize {
        if self.count > 0 {
            let (values, origins) = (&self.values, &self.origins);
            self.evaluator.run(self.count, |input| match origins[input] {
                InputOrigin::Dimension(dimension) => &values[dimension * BATCH..][..BATCH],
                InputOrigin::Constant(_) => &[],
            });
        }
        self.count
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
            self.values[dimension * BATCH] = value;
        }
        self.count = 1;
        self.evaluate();
        self.count = 0;
        let beats = |&rival: &usize| {
            let mut chosen = false;
            let pair = |output| output == rival || output == question.output;
            self.evaluator.possible(0, pair, |output| chosen |= output == question.output);
            !chosen
        };
        question.competing.iter().filter(|&rival| rival != question.output).find(beats)
    }

    /// Calls `found` with the outputs that can be chosen at a point of the last batch.
    pub(super) fn winners(&self, point: usize, question: &Question<'_>, found: impl FnMut(usize)) {
        let applicable = |output| output == question.output || question.competing.contains(output);
        self.evaluator.possible(point, applicable, found);
    }

    /// The value of a dimension at a point of the last batch.
    pub(super) fn value(&self, point: usize, dimension: usize) -> i32 {
        self.values[dimension * BATCH + point]
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

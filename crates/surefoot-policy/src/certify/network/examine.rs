//! What the bounds of a box say about it: decided, cut or to be split.
//!
//! For each rival, a linear function of the dimensions is below its score minus that of the output in question. If its
//! minimum over the box exceeds what rounding can do, the rival dominates. Otherwise it still dominates where the function
//! does: moving a dimension away from the end where the function is least raises it by the slope per step. That cuts the box; since steps are
//! integers, cuts are rounded inwards. The point where the function is least is the best guess for a witness, and the
//! dimension that contributes most to the minimum is split.

use super::super::evidence::Phase;
use super::super::question::Question;
use super::super::search::{Bounder, Candidates, Finding};
use super::super::space::{Cut, InputOrigin, Space};
use super::backward::ScoreFunction;
use super::branch::widest;
use super::{EXPENSIVE, NetworkBounder, TOO_EXPENSIVE};

/// More than the relative rounding error of what is computed here from a bound.
const SLACK: f64 = 1e-9;

impl Bounder for NetworkBounder {
    /// A batch of points takes less time than a box of a large network, and not much more than one of a small network.
    fn enumerated(&self) -> u64 {
        64
    }

    fn samples(&self) -> usize {
        16
    }

    fn begin(&mut self, question: &Question<'_>, _lower: &[i32], _upper: &[i32]) {
        self.output = question.output;
        self.rivals.clear();
        let rivals = question.competing.iter().filter(|&rival| rival != question.output);
        self.rivals.extend(rivals.map(|rival| rival as u32));
    }

    fn take_facts(&mut self, space: &Space, lower: &[i32], upper: &[i32]) {
        let facts = &mut self.backward.facts;
        self.has_root &= !facts.load(space, lower, upper, &self.model.first_inputs);
        facts.are_used = false;
    }

    fn used_facts(&self) -> bool {
        self.backward.facts.are_used
    }

    fn dominator(&mut self, lower: &[i32], upper: &[i32]) -> Option<usize> {
        if self.rivals.is_empty() {
            return None;
        }
        self.forget_facts();
        self.bound(0, lower, upper, None, self.model.graph.refine_cost <= TOO_EXPENSIVE);
        let best = self.bound_differences(0)?;
        (self.backward.minimum(best) > self.tolerance).then(|| self.rivals[best] as usize)
    }

    fn examine(
        &mut self,
        depth: usize,
        lower: &[i32],
        upper: &[i32],
        phase: Option<Phase>,
        cuts: &mut Vec<(Cut, usize)>,
        candidates: &mut Candidates<'_>,
    ) -> Finding {
        if self.rivals.is_empty() {
            return Finding::Won;
        }
        let cost = self.model.graph.refine_cost;
        let mut best = None;
        for refine in [false, true] {
            if if refine { cost <= TOO_EXPENSIVE } else { cost > EXPENSIVE } {
                if !self.bound(depth, lower, upper, phase, refine) {
                    return Finding::Empty;
                }
                best = self.bound_differences(depth);
                if let Some(best) = best
                    && self.backward.minimum(best) > self.tolerance
                {
                    return Finding::Dominated(self.rivals[best] as usize);
                }
            }
        }
        let Some(best) = best else { return widest(lower, upper) };
        self.left.clear();
        self.left.extend(lower.iter().copied().zip(upper.iter().copied()));
        self.load_slopes(depth, best);
        self.suggest(depth, lower, upper, candidates);
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        self.backward.find_rises(&bounds.slots);
        let mut loaded = best;
        for lane in 0..self.rivals.len() {
            let minimum = self.backward.minimum(lane);
            // The first cut takes one dimension that makes up for all that is missing. Cuts make room for others.
            let can_cut = !cuts.is_empty() || self.backward.rise(lane) > self.tolerance - minimum;
            if !minimum.is_finite() || !can_cut {
                continue;
            }
            self.load_slopes(depth, lane);
            loaded = lane;
            if self.cut(lane, lower, upper, cuts) {
                return Finding::Dominated(self.rivals[lane] as usize);
            }
        }
        if loaded != best {
            self.load_slopes(depth, best);
        }
        self.branch(depth, best)
    }
}

impl NetworkBounder {
    /// Bounds the differences between all rivals and the output in question, a lane per rival; the lane of the best
    /// bound, if there is any.
    fn bound_differences(&mut self, depth: usize) -> Option<usize> {
        if !self.tolerance.is_finite() {
            return None;
        }
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        let output = self.output;
        let function = |&rival: &u32| ScoreFunction { plus: Some(rival as usize), minus: Some(output) };
        self.backward.scores(&self.model.graph, self.set, &bounds.slots, self.rivals.iter().map(function));
        let minimum = |lane: usize| self.backward.minimum(lane);
        (0..self.rivals.len())
            .filter(|&lane| minimum(lane).is_finite())
            .max_by(|&a, &b| minimum(a).total_cmp(&minimum(b)))
    }

    /// Loads the coefficients of a lane, dimension by dimension.
    fn load_slopes(&mut self, depth: usize, lane: usize) {
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        self.slopes.clear();
        self.slopes.resize(self.model.first_inputs.len(), 0.0);
        for &input in &bounds.slots[0].alive {
            if let InputOrigin::Dimension(dimension) = self.model.origins[input as usize] {
                self.slopes[dimension] += self.backward.coefficient(input as usize, lane);
            }
        }
    }

    /// Suggests the point where the current linear function is least.
    fn suggest(&mut self, depth: usize, lower: &[i32], upper: &[i32], candidates: &mut Candidates<'_>) {
        let slopes = std::mem::take(&mut self.slopes);
        let corner = |dimension: usize| {
            if slopes[dimension] > 0.0 { lower[dimension] } else { upper[dimension] }
        };
        if self.is_promising(depth, corner) {
            candidates.add(corner);
        }
        self.slopes = slopes;
    }

    /// Cuts off where the current linear function is above the tolerance; whether it is everywhere in what is left.
    fn cut(&mut self, lane: usize, lower: &[i32], upper: &[i32], cuts: &mut Vec<(Cut, usize)>) -> bool {
        // What the minimum gains where earlier cuts have taken its place away.
        let mut gain = 0.0;
        for (dimension, &slope) in self.slopes.iter().enumerate() {
            let (low, high) = self.left[dimension];
            let steps = if slope > 0.0 {
                i64::from(low) - i64::from(lower[dimension])
            } else {
                i64::from(upper[dimension]) - i64::from(high)
            };
            gain += steps as f64 * slope.abs();
        }
        let minimum = self.backward.minimum(lane) + gain * (1.0 - SLACK);
        if minimum > self.tolerance {
            return true;
        }
        let room = (self.tolerance - minimum) * (1.0 + SLACK);
        for (dimension, &slope) in self.slopes.iter().enumerate() {
            let (low, high) = &mut self.left[dimension];
            let steps = room / slope.abs() * (1.0 + SLACK);
            // False where the slope is 0.
            if steps < f64::from(*high) - f64::from(*low) {
                // Rounded down: only whole steps are left.
                let steps = steps as i64;
                let cut = if slope > 0.0 {
                    *high = (i64::from(*low) + steps) as i32;
                    Cut::Above { dimension, at: *high }
                } else {
                    *low = (i64::from(*high) - steps) as i32;
                    Cut::Below { dimension, at: *low }
                };
                cuts.push((cut, self.rivals[lane] as usize));
            }
        }
        false
    }
}

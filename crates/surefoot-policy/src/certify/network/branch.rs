//! Where to split a box: by an input, or by the phases of a `ReLU`.
//!
//! An input counts by its slope in the bound, which says how much better the part is in which the bound is not least, and by its
//! impact on undecided activations, which says how much better the bound of both parts gets. Both are times its width.
//!
//! If a box has more free inputs than undecided `ReLU`s, halving inputs takes longer than deciding `ReLU`s: it is split by phases.
//! The `ReLU` is the one whose lines cost the bound most: the distance of the line from the function, times the coefficient that meets
//! it.

use super::super::evidence::Phase;
use super::super::search::Finding;
use super::super::space::InputOrigin;
use super::NetworkBounder;
use super::backward::ScoreFunction;
use super::bounds::{Bounds, SlotBounds};
use super::graph::{Function, Operation};
use super::{kernel, priced};

/// Steps of gradient ascent for slopes and prices.
const STEPS: usize = 20;

/// What impact counts, relative to slope.
const IMPACT: f64 = 0.5;

/// Steps aim a bit higher than needed: this part of what is missing at first.
const OVERSHOOT: f64 = 0.05;

impl NetworkBounder {
    /// What to do with the last box at a depth, of which [`NetworkBounder::left`] is left, and whose slopes for a rival, in a
    /// lane, are loaded.
    pub(super) fn branch(&mut self, depth: usize, lane: usize) -> Finding {
        let rival = self.rivals[lane];
        let function = ScoreFunction { plus: Some(rival as usize), minus: Some(self.output) };
        if priced::is_supported(&self.model.graph) {
            let free = self.left.iter().filter(|(low, high)| low < high).count();
            if self.undecided(depth) < free {
                if self.is_positive(depth, function) {
                    return Finding::Dominated(rival as usize);
                }
                if let Some(phase) = self.costliest(depth) {
                    return Finding::Undecided(phase);
                }
            }
            self.add_impacts(depth, lane);
        }
        self.split()
    }

    fn bounds(&self, depth: usize) -> &Bounds {
        if depth == 0 { &self.root_bounds } else { &self.bounds }
    }

    /// Number of `ReLU`s that are undecided; other activations always are.
    fn undecided(&self, depth: usize) -> usize {
        let count = |slot: &SlotBounds| slot.alive.iter().filter(|&&value| slot.lines.is_open(value)).count();
        self.bounds(depth).slots[1..].iter().map(count).sum()
    }

    /// Whether a function exceeds the tolerance in all states that have the phases of the box, for some slopes and prices.
    fn is_positive(&mut self, depth: usize, function: ScoreFunction) -> bool {
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        let (graph, slots, set) = (&self.model.graph, &bounds.slots, self.set);
        self.priced.start(graph, slots, self.levels[depth].phases());
        let mut target = None;
        for _ in 0..STEPS {
            let bound = self.priced.bound(graph, set, slots, self.backward.rounding(), function);
            if bound > self.tolerance {
                return true;
            }
            if !bound.is_finite() {
                break;
            }
            let missing = self.tolerance - bound;
            let target = *target.get_or_insert(self.tolerance + OVERSHOOT * missing);
            self.priced.evaluate(graph, set, slots);
            self.priced.ascend(graph, slots, target - bound);
        }
        false
    }

    /// The undecided `ReLU` whose line costs the last bound most, in the phase that the bound prefers.
    fn costliest(&self, depth: usize) -> Option<Phase> {
        let arguments = &self.levels[depth];
        let (mut start, mut most, mut best) = (0, 0.0, None);
        for (index, slot) in self.model.graph.slots.iter().enumerate() {
            let Operation::Layer(layer) = &slot.operation else { continue };
            if matches!(layer.function, Function::Relu | Function::LeakyRelu(_)) {
                for &neuron in &self.bounds(depth).slots[index].alive {
                    let (low, high) = arguments.ends(start + neuron as usize);
                    if low >= 0.0 || high <= 0.0 {
                        continue;
                    }
                    let met = self.priced.coefficient(index, neuron);
                    let distance = if met < 0.0 { -low * high / (high - low) } else { 0.5 * high.min(-low) };
                    let cost = met.abs() * distance;
                    if cost > most || best.is_none() {
                        most = cost;
                        best = Some(Phase { node: index as u32 - 1, neuron, active: met < 0.0 });
                    }
                }
            }
            start += kernel::padded(slot.size);
        }
        best
    }

    /// Adds the impact of inputs to the magnitudes of their slopes.
    fn add_impacts(&mut self, depth: usize, lane: usize) {
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        let (graph, slots) = (&self.model.graph, &bounds.slots);
        self.impacts.find(graph, self.set, slots, &self.backward, lane);
        for &input in &slots[0].alive {
            if let InputOrigin::Dimension(dimension) = self.model.origins[input as usize] {
                let impact = IMPACT * self.impacts.of(input);
                self.slopes[dimension] += impact.copysign(self.slopes[dimension]);
            }
        }
    }

    /// Splits what is left of the box in the dimension that counts most.
    fn split(&self) -> Finding {
        // Where nothing counts, the widest dimension.
        let (mut dimension, mut most, mut widest) = (0, 0.0, 0.0);
        for (index, (&slope, &(low, high))) in self.slopes.iter().zip(&self.left).enumerate() {
            let width = f64::from(high) - f64::from(low);
            let score = slope.abs() * width;
            if score > most || (score == most && width > widest) {
                (dimension, most, widest) = (index, score, width);
            }
        }
        let (low, high) = self.left[dimension];
        Finding::Open { dimension, at: middle(low, high), low_first: self.slopes[dimension] > 0.0 }
    }
}

/// Where to split without knowing anything: in the middle of the widest dimension.
pub(super) fn widest(lower: &[i32], upper: &[i32]) -> Finding {
    let width = |dimension: &usize| i64::from(upper[*dimension]) - i64::from(lower[*dimension]);
    let dimension = (0..lower.len()).max_by_key(width).expect("the box has more than one point");
    Finding::Open { dimension, at: middle(lower[dimension], upper[dimension]), low_first: true }
}

/// The end of the low half.
fn middle(lower: i32, upper: i32) -> i32 {
    i32::midpoint(lower, upper.saturating_sub(1)).max(lower)
}

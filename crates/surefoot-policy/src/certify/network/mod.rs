//! Bounds of neural networks.
//!
//! An output is dominated in a box if the score of a rival, minus its own, is certainly positive. [`bounds`] bounds all
//! values of the network over the box, [`backward`] bounds the differences by linear functions of the inputs, and [`rounding`]
//! says how far the arithmetic in question can be from that. The linear functions also cut off parts of the box, suggest
//! where a witness might be, and show which input to split.

mod backward;
mod bounds;
mod graph;
mod kernel;
mod relaxation;
mod rounding;
mod sample;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::question::Question;
use super::search::{Bounder, Candidates, Finding};
use super::space::{Cut, InputOrigin};
use crate::arithmetic::Arithmetic;
use crate::batch::InstructionSet;
use crate::network::Network;
use crate::score::Score;
use backward::{Backward, ScoreFunction};
use bounds::{Arguments, Bounds};
use graph::Graph;
use rounding::Deviation;
use sample::Sample;

/// Bounds the scores of a network over boxes.
#[derive(Debug, Clone)]
pub(super) struct NetworkBounder {
    model: Arc<Model>,
    set: InstructionSet,
    /// The last box at depth 0, over the policy's dimensions, and what is known of it.
    root: Vec<(i32, i32)>,
    root_bounds: Bounds,
    /// How far differences of scores can be from the nominal ones in that box.
    tolerance: f64,
    /// The last box at another depth.
    bounds: Bounds,
    /// The last box at each depth.
    levels: Vec<Arguments>,
    backward: Backward,
    sample: Sample,
    output: usize,
    rivals: Vec<u32>,
    /// The part of the current box that is left.
    left: Vec<(i32, i32)>,
    /// The coefficient of each dimension in a lane.
    slopes: Vec<f64>,
}

#[derive(Debug)]
struct Model {
    graph: Graph,
    deviation: Deviation,
    origins: Vec<InputOrigin>,
    dimensions: usize,
}

impl NetworkBounder {
    pub(super) fn new(network: &Network, arithmetic: Arithmetic, origins: &[InputOrigin]) -> Self {
        let graph = Graph::new(network, arithmetic);
        let first = |(input, origin): (usize, &InputOrigin)| match origin {
            InputOrigin::Constant(_) => input as u32,
            InputOrigin::Dimension(_) => {
                origins.iter().position(|other| other == origin).expect("it is there") as u32
            }
        };
        let backward = Backward::new(&graph, origins.iter().enumerate().map(first).collect());
        let dimensions = origins.iter().filter_map(|origin| match origin {
            InputOrigin::Dimension(dimension) => Some(dimension + 1),
            InputOrigin::Constant(_) => None,
        });
        let bounds = Bounds::new(&graph);
        let sample = Sample::new(&graph);
        let deviation = Deviation::new(&graph, arithmetic);
        let model =
            Model { graph, deviation, dimensions: dimensions.max().unwrap_or(0), origins: origins.to_vec() };
        NetworkBounder {
            model: Arc::new(model),
            set: InstructionSet::best(),
            root: Vec::new(),
            root_bounds: bounds.clone(),
            tolerance: f64::INFINITY,
            bounds,
            levels: Vec::new(),
            backward,
            sample,
            output: 0,
            rivals: Vec::new(),
            left: Vec::new(),
            slopes: Vec::new(),
        }
    }

    /// Bounds the values of the network in a box.
    fn bound(&mut self, depth: usize, lower: &[i32], upper: &[i32]) {
        let ends = || lower.iter().copied().zip(upper.iter().copied());
        if depth == 0 && self.root.len() == lower.len() && ends().eq(self.root.iter().copied()) {
            return;
        }
        while self.levels.len() <= depth {
            self.levels.push(Arguments::default());
        }
        let model = &*self.model;
        let (parents, level) = self.levels.split_at_mut(depth);
        let bounds = if depth == 0 { &mut self.root_bounds } else { &mut self.bounds };
        let input = |input: usize| match model.origins[input] {
            InputOrigin::Dimension(dimension) => (f64::from(lower[dimension]), f64::from(upper[dimension])),
            InputOrigin::Constant(value) => (f64::from(value), f64::from(value)),
        };
        bounds.compute(
            &model.graph,
            self.set,
            input,
            parents.last(),
            &mut level[0],
            &mut self.backward,
            true,
        );
        if depth == 0 {
            self.root.clear();
            self.root.extend(ends());
            self.tolerance =
                model.deviation.of_difference(&model.graph, |slot| bounds.slots[slot].magnitudes());
        }
    }

    /// Bounds of a score over a box, given by the ends of the policy's dimensions.
    pub(super) fn score_bounds(&mut self, lower: &[i32], upper: &[i32], output: usize) -> Score {
        self.bound(0, lower, upper);
        self.function_bounds(ScoreFunction { plus: Some(output), minus: None }, 0.5 * self.tolerance)
    }

    /// Bounds of the score of `a` minus that of `b` over a box.
    pub(super) fn margin_bounds(&mut self, lower: &[i32], upper: &[i32], a: usize, b: usize) -> Score {
        self.bound(0, lower, upper);
        self.function_bounds(ScoreFunction { plus: Some(a), minus: Some(b) }, self.tolerance)
    }

    /// Bounds a function over the last box at depth 0, off by at most a tolerance.
    fn function_bounds(&mut self, function: ScoreFunction, tolerance: f64) -> Score {
        if !tolerance.is_finite() {
            return Score::ANYTHING;
        }
        let negated = ScoreFunction { plus: function.minus, minus: function.plus };
        let slots = &self.root_bounds.slots;
        self.backward.scores(&self.model.graph, self.set, slots, [function, negated].into_iter());
        let (lower, upper) = (self.backward.minimum(0) - tolerance, -self.backward.minimum(1) + tolerance);
        if !(lower.is_finite() && upper.is_finite()) {
            return Score::ANYTHING;
        }
        Score { lower: lower.next_down(), upper: upper.next_up() }
    }

    /// Whether the output in question seems to win at a point, given by its dimensions.
    fn is_promising(&mut self, point: impl Fn(usize) -> i32) -> bool {
        let model = &*self.model;
        self.sample.evaluate(&model.graph, self.set, |input| match model.origins[input] {
            InputOrigin::Dimension(dimension) => f64::from(point(dimension)),
            InputOrigin::Constant(value) => f64::from(value),
        });
        let own = self.sample.score(self.output);
        let tolerance = if self.tolerance.is_finite() { self.tolerance } else { 0.0 };
        self.rivals.iter().all(|&rival| self.sample.score(rival as usize) <= own + tolerance)
    }

    /// Where to split without knowing better: the widest dimension.
    fn widest(lower: &[i32], upper: &[i32]) -> Finding {
        let width = |dimension: &usize| i64::from(upper[*dimension]) - i64::from(lower[*dimension]);
        let dimension = (0..lower.len()).max_by_key(width).expect("there is more than one point");
        Finding::Open { dimension, at: middle(lower[dimension], upper[dimension]), low_first: true }
    }

    /// Loads the coefficients of a lane, dimension by dimension.
    fn load_slopes(&mut self, bounds_alive: &[u32], lane: usize) {
        self.slopes.clear();
        self.slopes.resize(self.model.dimensions, 0.0);
        for &input in bounds_alive {
            if let InputOrigin::Dimension(dimension) = self.model.origins[input as usize] {
                self.slopes[dimension] += self.backward.coefficient(input as usize, lane);
            }
        }
    }
}

/// The end of the low half.
fn middle(lower: i32, upper: i32) -> i32 {
    i32::midpoint(lower, upper - 1).max(lower)
}

impl Bounder for NetworkBounder {
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

    fn examine(
        &mut self,
        depth: usize,
        lower: &[i32],
        upper: &[i32],
        cuts: &mut Vec<(Cut, usize)>,
        candidates: &mut Candidates<'_>,
    ) -> Finding {
        self.bound(depth, lower, upper);
        if self.rivals.is_empty() {
            return Finding::Won;
        }
        if !self.tolerance.is_finite() {
            return NetworkBounder::widest(lower, upper);
        }
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        let output = self.output;
        let function = |&rival: &u32| ScoreFunction { plus: Some(rival as usize), minus: Some(output) };
        self.backward.scores(&self.model.graph, self.set, &bounds.slots, self.rivals.iter().map(function));
        let alive = bounds.slots[0].alive.clone();
        let best = (0..self.rivals.len())
            .max_by(|&a, &b| self.backward.minimum(a).total_cmp(&self.backward.minimum(b)))
            .expect("there are rivals");
        if self.backward.minimum(best) > self.tolerance && self.backward.minimum(best).is_finite() {
            return Finding::Dominated(self.rivals[best] as usize);
        }
        self.left.clear();
        self.left.extend(lower.iter().copied().zip(upper.iter().copied()));
        for lane in 0..self.rivals.len() {
            let minimum = self.backward.minimum(lane);
            if !minimum.is_finite() {
                continue;
            }
            self.load_slopes(&alive, lane);
            let slopes = std::mem::take(&mut self.slopes);
            let corner = |dimension: usize| {
                if slopes[dimension] > 0.0 { lower[dimension] } else { upper[dimension] }
            };
            if self.is_promising(corner) {
                candidates.add(corner);
            }
            self.slopes = slopes;
            let slopes = &self.slopes;
            // What the bound gains where earlier cuts have taken its minimum away.
            let gain = |(&(low, high), slope): (&(i32, i32), &f64), dimension: usize| {
                let distance = if *slope > 0.0 {
                    f64::from(low) - f64::from(lower[dimension])
                } else {
                    f64::from(upper[dimension]) - f64::from(high)
                };
                distance * slope.abs()
            };
            let gains: f64 =
                self.left.iter().zip(slopes).enumerate().map(|(dimension, pair)| gain(pair, dimension)).sum();
            let minimum = minimum + gains * (1.0 - 1e-9);
            if minimum > self.tolerance {
                return Finding::Dominated(self.rivals[lane] as usize);
            }
            let room = (self.tolerance - minimum) * (1.0 + 1e-9);
            for (dimension, &slope) in slopes.iter().enumerate() {
                let (low, high) = self.left[dimension];
                let steps = room / slope.abs() * (1.0 + 1e-9);
                // False for NaN.
                if steps < f64::from(high) - f64::from(low) {
                    let steps = steps as i64;
                    let cut = if slope > 0.0 {
                        let at = (i64::from(low) + steps) as i32;
                        self.left[dimension].1 = at;
                        Cut::Above { dimension, at }
                    } else {
                        let at = (i64::from(high) - steps) as i32;
                        self.left[dimension].0 = at;
                        Cut::Below { dimension, at }
                    };
                    cuts.push((cut, self.rivals[lane] as usize));
                }
            }
        }
        self.load_slopes(&alive, best);
        let score = |dimension: usize| {
            let (low, high) = self.left[dimension];
            self.slopes[dimension].abs() * (f64::from(high) - f64::from(low))
        };
        let dimension = (0..lower.len())
            .max_by(|&a, &b| score(a).total_cmp(&score(b)))
            .expect("there is more than one point");
        if score(dimension) <= 0.0 {
            return NetworkBounder::widest(lower, upper);
        }
        let (low, high) = self.left[dimension];
        Finding::Open { dimension, at: middle(low, high), low_first: self.slopes[dimension] > 0.0 }
    }
}

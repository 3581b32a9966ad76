//! Bounds of neural networks.
//!
//! An output is dominated in a box if the score of a rival, minus its own, is certainly positive. [`bounds`] bounds all
//! values of the network over the box, [`backward`] bounds the differences by linear functions of the inputs, and [`rounding`]
//! says how far the arithmetic in question can be from that. The linear functions also cut off parts of the box, suggest
//! where a witness might be, and show which input to split.

mod backward;
mod bounds;
mod branch;
mod examine;
mod facts;
mod graph;
mod impact;
mod indices;
mod kernel;
mod lanes;
mod lines;
mod priced;
mod relaxation;
mod rounding;
mod sample;
mod slopes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::evidence::Phase;
use super::space::InputOrigin;
use crate::arithmetic::Arithmetic;
use crate::batch::InstructionSet;
use crate::network::Network;
use crate::score::Score;
use backward::{Backward, ScoreFunction};
use bounds::{Arguments, Bounds};
use graph::Graph;
use impact::Impacts;
use priced::Priced;
use rounding::Deviation;
use sample::Sample;

/// Bounds the scores of a network over boxes.
#[derive(Debug, Clone)]
pub(super) struct NetworkBounder {
    model: Arc<Model>,
    set: InstructionSet,
    /// The last box at depth 0, over the policy's dimensions, and what is known of it.
    root: Vec<(i32, i32)>,
    has_root: bool,
    /// Whether backward passes were made for it.
    root_is_refined: bool,
    /// Whether facts had prices in it.
    root_used_facts: bool,
    root_bounds: Bounds,
    /// How far differences of scores can be from the nominal ones in that box.
    tolerance: f64,
    /// The last box at another depth.
    bounds: Bounds,
    /// The last box at each depth.
    levels: Vec<Arguments>,
    backward: Backward,
    priced: Priced,
    impacts: Impacts,
    sample: Sample,
    output: usize,
    rivals: Vec<u32>,
    /// The part of the current box that is left.
    left: Vec<(i32, i32)>,
    /// The coefficient of each dimension in a lane.
    slopes: Vec<f64>,
}

/// Networks whose backward passes for hidden values cost more are first bounded without.
const EXPENSIVE: f64 = 4e7;

/// Networks whose backward passes for hidden values cost more are split instead.
const TOO_EXPENSIVE: f64 = 2e9;

#[derive(Debug)]
struct Model {
    graph: Graph,
    deviation: Deviation,
    origins: Vec<InputOrigin>,
    /// The first input that reads each dimension.
    first_inputs: Vec<u32>,
}

impl NetworkBounder {
    pub(super) fn new(network: &Network, arithmetic: Arithmetic, origins: &[InputOrigin]) -> Self {
        let graph = Graph::new(network, arithmetic);
        let mut first_inputs = Vec::new();
        for (input, origin) in origins.iter().enumerate() {
            if let InputOrigin::Dimension(dimension) = *origin {
                first_inputs.resize(first_inputs.len().max(dimension + 1), u32::MAX);
                first_inputs[dimension] = first_inputs[dimension].min(input as u32);
            }
        }
        let leader = |(input, origin): (usize, &InputOrigin)| match *origin {
            InputOrigin::Constant(_) => input as u32,
            InputOrigin::Dimension(dimension) => first_inputs[dimension],
        };
        let backward = Backward::new(&graph, origins.iter().enumerate().map(leader).collect());
        let bounds = Bounds::new(&graph);
        let sample = Sample::new(&graph);
        let deviation = Deviation::new(&graph, arithmetic);
        let model = Model { graph, deviation, origins: origins.to_vec(), first_inputs };
        NetworkBounder {
            model: Arc::new(model),
            set: InstructionSet::best(),
            root: Vec::new(),
            has_root: false,
            root_is_refined: false,
            root_used_facts: false,
            root_bounds: bounds.clone(),
            tolerance: f64::INFINITY,
            bounds,
            levels: Vec::new(),
            backward,
            priced: Priced::default(),
            impacts: Impacts::default(),
            sample,
            output: 0,
            rivals: Vec::new(),
            left: Vec::new(),
            slopes: Vec::new(),
        }
    }

    /// Bounds the values of the network in a box, with backward passes for hidden values if `refine`; `false` if no
    /// state has all phases.
    fn bound(
        &mut self,
        depth: usize,
        lower: &[i32],
        upper: &[i32],
        phase: Option<Phase>,
        refine: bool,
    ) -> bool {
        let ends = || lower.iter().copied().zip(upper.iter().copied());
        let is_known = self.has_root && ends().eq(self.root.iter().copied());
        if depth == 0 && is_known && (self.root_is_refined || !refine) {
            self.backward.facts.are_used |= self.root_used_facts;
            return true;
        }
        while self.levels.len() <= depth {
            self.levels.push(Arguments::default());
        }
        let used_facts = std::mem::take(&mut self.backward.facts.are_used);
        let model = &*self.model;
        let (parents, level) = self.levels.split_at_mut(depth);
        let bounds = if depth == 0 { &mut self.root_bounds } else { &mut self.bounds };
        let input = |input: usize| match model.origins[input] {
            InputOrigin::Dimension(dimension) => (f64::from(lower[dimension]), f64::from(upper[dimension])),
            InputOrigin::Constant(value) => (f64::from(value), f64::from(value)),
        };
        let something = bounds.compute(
            &model.graph,
            self.set,
            input,
            parents.last(),
            phase,
            &mut level[0],
            &mut self.backward,
            refine,
        );
        if depth == 0 {
            self.root.clear();
            self.root.extend(ends());
            self.has_root = true;
            self.root_is_refined = refine;
            self.root_used_facts = self.backward.facts.are_used;
            self.tolerance = model.deviation.of_difference(&bounds.slots);
        }
        self.backward.facts.are_used |= used_facts;
        something
    }

    /// Bounds are about all states of boxes from here on.
    fn forget_facts(&mut self) {
        self.has_root &= !self.backward.facts.clear();
    }

    /// Bounds of a score over a box, given by the ends of the policy's dimensions.
    pub(super) fn score_bounds(&mut self, lower: &[i32], upper: &[i32], output: usize) -> Score {
        self.forget_facts();
        self.bound(0, lower, upper, None, self.model.graph.refine_cost <= TOO_EXPENSIVE);
        self.function_bounds(ScoreFunction { plus: Some(output), minus: None }, 0.5 * self.tolerance)
    }

    /// Bounds of the score of `a` minus that of `b` over a box.
    pub(super) fn margin_bounds(&mut self, lower: &[i32], upper: &[i32], a: usize, b: usize) -> Score {
        self.forget_facts();
        self.bound(0, lower, upper, None, self.model.graph.refine_cost <= TOO_EXPENSIVE);
        self.function_bounds(ScoreFunction { plus: Some(a), minus: Some(b) }, self.tolerance)
    }

    /// Bounds a function over the last box at depth 0, off by at most a tolerance.
    fn function_bounds(&mut self, function: ScoreFunction, tolerance: f64) -> Score {
        if !tolerance.is_finite() {
            return Score::ANYTHING;
        }
        let negated = ScoreFunction { plus: function.minus, minus: function.plus };
        let slots = &self.root_bounds.slots;
        let functions = [function, negated];
        self.backward.scores(&self.model.graph, self.set, slots, functions.iter().copied());
        self.backward.optimise(&self.model.graph, self.set, slots, &functions);
        let (lower, upper) = (self.backward.minimum(0) - tolerance, -self.backward.minimum(1) + tolerance);
        if !(lower.is_finite() && upper.is_finite()) {
            return Score::ANYTHING;
        }
        Score { lower: lower.next_down(), upper: upper.next_up() }
    }

    /// Whether the output in question seems to win at a point of the last box at a depth, given by its dimensions.
    fn is_promising(&mut self, depth: usize, point: impl Fn(usize) -> i32) -> bool {
        let model = &*self.model;
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        self.sample.evaluate(&model.graph, self.set, &bounds.slots, |input| match model.origins[input] {
            InputOrigin::Dimension(dimension) => f64::from(point(dimension)),
            InputOrigin::Constant(value) => f64::from(value),
        });
        let own = self.sample.score(self.output);
        let tolerance = if self.tolerance.is_finite() { self.tolerance } else { 0.0 };
        self.rivals.iter().all(|&rival| self.sample.score(rival as usize) <= own + tolerance)
    }
}

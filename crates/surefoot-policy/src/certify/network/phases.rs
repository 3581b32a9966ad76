//! Splits by the phases of `ReLU`s, for boxes so wide that halving them gets nowhere.
//!
//! In a part with phases, the arguments of some `ReLU`s have a known sign, so that these are lines. That alone helps little: the
//! bound must also use that states of other signs are not in the part. So each phase has a *price*: where the argument `z` is not
//! negative, `f ≥ f − price·z`, and where it is not positive, `f ≥ f + price·z`, for any price that is not negative. Prices and the slopes of lines
//! below undecided `ReLU`s are found by gradient ascent (β-CROWN, Wang et al., 2021), with steps as long as they have to be
//! if the bound is to reach what would decide the part (Polyak's rule). Whatever the prices and slopes, the bound is sound.
//!
//! A part is split by the `ReLU` whose lines cost the bound most: the distance of the line from the function, times the
//! coefficient that meets it.

use super::super::search::Phase;
use super::NetworkBounder;
use super::backward::ScoreFunction;
use super::bounds::{Arguments, SlotBounds};
use super::graph::{Affine, Function, Graph, Matrix, Operation};
use super::kernel::{self, Centred, Lines};
use super::rounding::UNDERFLOW;
use crate::batch::InstructionSet;

/// Steps of gradient ascent.
const STEPS: usize = 20;

/// The slope of the line below an undecided `ReLU`, and the price of the phase of a decided one.
#[derive(Debug, Clone, Copy)]
struct Tuning {
    slope: f64,
    price: f64,
}

/// The working memory of bounds with prices.
#[derive(Debug, Clone, Default)]
pub(super) struct Priced {
    /// Per slot, for each value that can differ from 0.
    tunings: Vec<Vec<Tuning>>,
    /// −1 where the argument is known not to be negative, 1 where it is known not to be positive.
    signs: Vec<Vec<f64>>,
    /// Per slot, the coefficients of its values, padded.
    coefficients: Vec<Vec<f64>>,
    /// Per slot, its arguments at the point where the bound is least.
    arguments: Vec<Vec<f64>>,
    /// The point where the bound is least.
    point: Vec<f64>,
    weighted: Vec<Centred>,
    radii: Vec<f64>,
}

/// The layer of a slot of a chain of dense layers.
fn dense(graph: &Graph, index: usize) -> Option<(&Affine, &[f64], &[f64])> {
    match &graph.slots[index].operation {
        Operation::Layer(layer) => match &layer.matrix {
            Matrix::Dense { rows, columns, .. } if layer.from + 1 == index => Some((layer, rows, columns)),
            _ => None,
        },
        _ => None,
    }
}

fn is_relu(function: Function) -> bool {
    matches!(function, Function::Relu | Function::LeakyRelu(_))
}

/// Whether a network can be split by phases.
pub(super) fn has_phases(graph: &Graph) -> bool {
    (1..graph.slots.len()).all(|index| dense(graph, index).is_some())
        && (1..graph.slots.len()).any(|index| dense(graph, index).is_some_and(|layer| is_relu(layer.0.function)))
}

impl Priced {
    /// Begins with the slopes of the lines that are there and prices of 0.
    fn start(&mut self, graph: &Graph, slots: &[SlotBounds], phases: &[Phase]) {
        let count = graph.slots.len();
        self.tunings.resize(count, Vec::new());
        self.signs.resize(count, Vec::new());
        self.coefficients.resize(count, Vec::new());
        self.arguments.resize(count, Vec::new());
        for (index, slot) in slots.iter().enumerate() {
            let (tunings, signs) = (&mut self.tunings[index], &mut self.signs[index]);
            tunings.clear();
            tunings.extend(slot.lines.iter().map(|lines| Tuning { slope: lines.low.0, price: 0.0 }));
            signs.clear();
            signs.resize(slot.lines.len(), 0.0);
        }
        for phase in phases {
            let index = phase.node as usize + 1;
            if let Ok(place) = slots[index].alive.binary_search(&phase.neuron) {
                self.signs[index][place] = if phase.active { -1.0 } else { 1.0 };
            }
        }
    }

    /// Bounds a function of the scores from below with the current slopes and prices.
    fn bound(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        leaders: &[u32],
        growth: f64,
        function: ScoreFunction,
    ) -> f64 {
        let last = graph.slots.len() - 1;
        for (slot, coefficients) in graph.slots.iter().zip(&mut self.coefficients) {
            coefficients.clear();
            coefficients.resize(kernel::padded(slot.size), 0.0);
        }
        for (output, sign) in [(function.plus, 1.0), (function.minus, -1.0)] {
            if let Some(output) = output {
                self.coefficients[last][output] += sign;
            }
        }
        let (mut constant, mut magnitude) = (0.0, 0.0);
        for index in (1..=last).rev() {
            let Some((layer, rows, _)) = dense(graph, index) else { return f64::NEG_INFINITY };
            let (before, rest) = self.coefficients.split_at_mut(index);
            self.weighted.clear();
            for (place, (&value, lines)) in slots[index].alive.iter().zip(&slots[index].lines).enumerate() {
                let coefficient = rest[0][value as usize];
                let tuning = self.tunings[index][place];
                let line = line(coefficient, lines, tuning);
                let argument = coefficient * line.0 + tuning.price * self.signs[index][place];
                constant += coefficient * line.1 + argument * lines.bias;
                magnitude += (coefficient.abs() + tuning.price) * lines.magnitude;
                self.weighted.push(Centred { index: value, centre: argument, radius: 0.0 });
            }
            let to = &mut before[layer.from];
            self.radii.clear();
            self.radii.resize(to.len(), 0.0);
            kernel::forward(set, rows, &self.weighted, to, &mut self.radii);
        }
        let (inputs, coefficients) = (&slots[0], &mut self.coefficients[0]);
        for &input in &inputs.alive {
            let input = input as usize;
            magnitude += coefficients[input].abs() * inputs.high[input].abs().max(inputs.low[input].abs());
            let leader = leaders[input] as usize;
            if leader != input {
                coefficients[leader] += std::mem::take(&mut coefficients[input]);
            }
        }
        let mut minimum = constant;
        self.point.clear();
        self.point.extend_from_slice(&inputs.low);
        for &input in &inputs.alive {
            let input = input as usize;
            let centre = 0.5 * (inputs.low[input] + inputs.high[input]);
            let radius = inputs.high[input] - centre;
            let coefficient = coefficients[input];
            minimum += coefficient * centre - coefficient.abs() * radius;
            if coefficients[leaders[input] as usize] <= 0.0 {
                self.point[input] = inputs.high[input];
            }
        }
        minimum - (growth * magnitude + UNDERFLOW)
    }

    /// Computes the arguments of all slots, with lines in place of activations, at the point where the bound is least.
    fn evaluate(&mut self, graph: &Graph, set: InstructionSet, slots: &[SlotBounds]) {
        self.weighted.clear();
        let inputs = slots[0].alive.iter();
        self.weighted.extend(inputs.map(|&index| Centred { index, centre: self.point[index as usize], radius: 0.0 }));
        for (index, slot) in slots.iter().enumerate().skip(1) {
            let Some((layer, _, columns)) = dense(graph, index) else { return };
            let arguments = &mut self.arguments[index];
            arguments.clear();
            arguments.resize(layer.biases.len(), 0.0);
            for (&value, lines) in slot.alive.iter().zip(&slot.lines) {
                arguments[value as usize] = lines.bias;
            }
            self.radii.clear();
            self.radii.resize(arguments.len(), 0.0);
            kernel::forward(set, columns, &self.weighted, arguments, &mut self.radii);
            self.weighted.clear();
            for (place, (&value, lines)) in slot.alive.iter().zip(&slot.lines).enumerate() {
                let line = line(self.coefficients[index][value as usize], lines, self.tunings[index][place]);
                let centre = line.0 * arguments[value as usize] + line.1;
                self.weighted.push(Centred { index: value, centre, radius: 0.0 });
            }
        }
    }

    /// Moves slopes and prices so that the bound grows by `missing`, if it were linear.
    fn ascend(&mut self, graph: &Graph, slots: &[SlotBounds], missing: f64) {
        let mut squares = 0.0;
        let mut step = 0.0;
        for is_measured in [false, true] {
            if is_measured {
                if squares == 0.0 {
                    return;
                }
                step = missing / squares;
            }
            for (index, slot) in slots.iter().enumerate().skip(1) {
                let Operation::Layer(layer) = &graph.slots[index].operation else { return };
                let least = match layer.function {
                    Function::Relu => 0.0,
                    Function::LeakyRelu(slope) => slope,
                    _ => continue,
                };
                for (place, (&value, lines)) in slot.alive.iter().zip(&slot.lines).enumerate() {
                    let argument = self.arguments[index][value as usize];
                    let sign = self.signs[index][place];
                    let tuning = &mut self.tunings[index][place];
                    if sign != 0.0 {
                        let gradient = sign * argument;
                        if tuning.price > 0.0 || gradient > 0.0 {
                            squares += gradient * gradient;
                            tuning.price = (tuning.price + step * gradient).max(0.0);
                        }
                    } else if lines.low.0 != lines.high.0 {
                        let gradient = self.coefficients[index][value as usize].max(0.0) * argument;
                        if if gradient > 0.0 { tuning.slope < 1.0 } else { tuning.slope > least } {
                            squares += gradient * gradient;
                            tuning.slope = (tuning.slope + step * gradient).clamp(least, 1.0);
                        }
                    }
                }
            }
        }
    }
}

/// The line that takes the place of an activation whose value has this coefficient.
fn line(coefficient: f64, lines: &Lines, tuning: Tuning) -> (f64, f64) {
    if coefficient > 0.0 { (tuning.slope, lines.low.1) } else { lines.high }
}

impl NetworkBounder {
    /// Number of `ReLU`s that are undecided in the last box at a depth.
    pub(super) fn undecided(&self, depth: usize) -> usize {
        let slots = if depth == 0 { &self.root_bounds.slots } else { &self.bounds.slots };
        slots.iter().flat_map(|slot| &slot.lines).filter(|lines| lines.low.0 != lines.high.0).count()
    }

    /// Whether a rival wins everywhere in the last box at a depth, with its phases. If not, [`NetworkBounder::costliest`]
    /// says how to go on.
    pub(super) fn wins_with_prices(&mut self, depth: usize, rival: u32) -> bool {
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        let (graph, slots) = (&self.model.graph, &bounds.slots);
        let function = ScoreFunction { plus: Some(rival as usize), minus: Some(self.output) };
        let priced = &mut self.priced;
        priced.start(graph, slots, self.levels[depth].phases());
        let (leaders, growth) = self.backward.rounding();
        let mut target = f64::NAN;
        for step in 0..STEPS {
            let bound = priced.bound(graph, self.set, slots, leaders, growth, function);
            if bound > self.tolerance {
                return true;
            }
            if step == 0 {
                target = self.tolerance + 0.05 * (self.tolerance - bound);
            }
            if step + 1 == STEPS || !bound.is_finite() {
                break;
            }
            priced.evaluate(graph, self.set, slots);
            priced.ascend(graph, slots, target - bound);
        }
        false
    }

    /// The neuron whose line costs the last bound with prices most, in the phase that the bound prefers.
    pub(super) fn costliest(&self, depth: usize) -> Option<Phase> {
        let bounds = if depth == 0 { &self.root_bounds } else { &self.bounds };
        let arguments: &Arguments = &self.levels[depth];
        let (mut start, mut best) = (0, None);
        let mut most = 0.0;
        for (index, slot) in self.model.graph.slots.iter().enumerate().skip(1) {
            let Operation::Layer(layer) = &slot.operation else { return None };
            if is_relu(layer.function) {
                for &neuron in &bounds.slots[index].alive {
                    let (low, high) = arguments.ends(start + neuron as usize);
                    if low >= 0.0 || high <= 0.0 {
                        continue;
                    }
                    let met = self.priced.coefficients[index][neuron as usize];
                    let distance = if met < 0.0 { -low * high / (high - low) } else { 0.5 * (-low).min(high) };
                    let cost = met.abs() * distance;
                    if cost > most || best.is_none() {
                        most = cost;
                        best = Some(Phase { node: index as u32 - 1, neuron, active: met < 0.0 });
                    }
                }
            }
            start += slot.size;
        }
        best
    }
}

//! Bounds of one function at a time, with prices for the phases of `ReLU`s.
//!
//! In a part with phases, the arguments of some `ReLU`s have a known sign, so that these are lines. That alone helps little: the
//! bound must also use that states of other signs are not in the part. So each phase has a *price*: where the argument `z` is not
//! negative, `f ≥ f − price·z`, and where it is not positive, `f ≥ f + price·z`, for any price that is not negative. Prices and
//! the slopes of lines below undecided `ReLU`s are found by gradient ascent (β-CROWN, Wang et al., 2021), with steps as long as
//! they have to be if the bound is to reach what would decide the part (Polyak's rule). Whatever the prices and slopes, the
//! bound is sound.
//!
//! Rounding is covered as in other backward passes ([`super::rounding`]): a price is one more coefficient of an argument.
//!
//! This is for chains of dense layers.

use super::super::evidence::Phase;
use super::backward::ScoreFunction;
use super::bounds::SlotBounds;
use super::graph::{Affine, Function, Graph, Matrix, Operation};
use super::kernel;
use super::lines::Lines;
use super::rounding::UNDERFLOW;
use crate::batch::InstructionSet;

/// The slope of the line below an undecided `ReLU`, and the price of the phase of a decided one.
#[derive(Debug, Clone, Copy)]
struct Tuning {
    slope: f64,
    price: f64,
}

/// The working memory of bounds with prices.
#[derive(Debug, Clone, Default)]
pub(super) struct Priced {
    /// Per slot, for each value.
    tunings: Vec<Vec<Tuning>>,
    /// Per slot, for each value: −1 where the argument is known not to be negative, 1 where it is known not to be positive.
    signs: Vec<Vec<f64>>,
    /// Per slot, the coefficients of its values, padded.
    coefficients: Vec<Vec<f64>>,
    /// Per slot, its arguments at the point where the bound is least.
    arguments: Vec<Vec<f64>>,
    /// The point where the bound is least.
    point: Vec<f64>,
    /// What is multiplied by the weights of a layer, a number per value that the layer has or reads.
    factors: Vec<f64>,
}

/// The layer of a slot of a chain of dense layers; its weights by neuron and by input.
pub(super) fn dense(graph: &Graph, index: usize) -> Option<(&Affine, &[f64], &[f64])> {
    match &graph.slots[index].operation {
        Operation::Layer(layer) => match &layer.matrix {
            Matrix::Dense { rows, columns, .. } if layer.from + 1 == index => Some((layer, rows, columns)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether functions of the scores of a network can be bounded here.
pub(super) fn is_supported(graph: &Graph) -> bool {
    (1..graph.slots.len()).all(|index| dense(graph, index).is_some())
}

impl Priced {
    /// Begins with the slopes of the lines that are there and prices of 0.
    pub(super) fn start(&mut self, graph: &Graph, slots: &[SlotBounds], phases: &[Phase]) {
        let count = graph.slots.len();
        self.tunings.resize(count, Vec::new());
        self.signs.resize(count, Vec::new());
        self.coefficients.resize(count, Vec::new());
        self.arguments.resize(count, Vec::new());
        for (index, slot) in slots.iter().enumerate() {
            let (tunings, signs) = (&mut self.tunings[index], &mut self.signs[index]);
            tunings.clear();
            tunings.extend(slot.lines.low_slopes.iter().map(|&slope| Tuning { slope, price: 0.0 }));
            signs.clear();
            signs.resize(tunings.len(), 0.0);
        }
        for phase in phases {
            let sign = if phase.active { -1.0 } else { 1.0 };
            self.signs[phase.node as usize + 1][phase.neuron as usize] = sign;
        }
    }

    /// Bounds a function of the scores from below with the current slopes and prices.
    pub(super) fn bound(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        (leaders, growth): (&[u32], f64),
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
            let SlotBounds { alive, lines, .. } = &slots[index];
            self.factors.resize(self.factors.len().max(rest[0].len()), 0.0);
            for &value in alive {
                let value = value as usize;
                let coefficient = rest[0][value];
                let tuning = self.tunings[index][value];
                let line = line(coefficient, lines, value, tuning);
                let argument = coefficient * line.0 + tuning.price * self.signs[index][value];
                constant += coefficient * line.1 + argument * lines.biases[value];
                magnitude += (coefficient.abs() + tuning.price) * lines.magnitudes[value];
                self.factors[value] = argument;
            }
            kernel::add_products(set, rows, alive, &self.factors, &mut before[layer.from]);
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

    /// The coefficient of a slot's value in the last bound.
    pub(super) fn coefficient(&self, slot: usize, value: u32) -> f64 {
        self.coefficients[slot][value as usize]
    }

    /// Computes the arguments of all slots, with lines in place of activations, at the point where the bound is least.
    pub(super) fn evaluate(&mut self, graph: &Graph, set: InstructionSet, slots: &[SlotBounds]) {
        let largest = slots.iter().map(|slot| slot.low.len()).max().unwrap_or(0);
        self.factors.resize(self.factors.len().max(largest), 0.0);
        for &input in &slots[0].alive {
            self.factors[input as usize] = self.point[input as usize];
        }
        for (index, slot) in slots.iter().enumerate().skip(1) {
            let Some((layer, _, columns)) = dense(graph, index) else { return };
            let arguments = &mut self.arguments[index];
            arguments.clone_from(&slot.lines.biases);
            kernel::add_products(set, columns, &slots[layer.from].alive, &self.factors, arguments);
            for &value in &slot.alive {
                let value = value as usize;
                let (coefficient, tuning) = (self.coefficients[index][value], self.tunings[index][value]);
                let line = line(coefficient, &slot.lines, value, tuning);
                self.factors[value] = line.0 * arguments[value] + line.1;
            }
        }
    }

    /// Moves slopes and prices so that the bound grows by `missing`, if it were linear.
    pub(super) fn ascend(&mut self, graph: &Graph, slots: &[SlotBounds], missing: f64) {
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
                for &value in &slot.alive {
                    let is_open = slot.lines.is_open(value);
                    let value = value as usize;
                    let argument = self.arguments[index][value];
                    let sign = self.signs[index][value];
                    let tuning = &mut self.tunings[index][value];
                    if sign != 0.0 {
                        let gradient = sign * argument;
                        if tuning.price > 0.0 || gradient > 0.0 {
                            squares += gradient * gradient;
                            tuning.price = (tuning.price + step * gradient).max(0.0);
                        }
                    } else if is_open {
                        let gradient = self.coefficients[index][value].max(0.0) * argument;
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

/// The line that takes the place of an activation if its value has this coefficient.
fn line(coefficient: f64, lines: &Lines, value: usize, tuning: Tuning) -> (f64, f64) {
    if coefficient > 0.0 {
        (tuning.slope, lines.low_constants[value])
    } else {
        (lines.high_slopes[value], lines.high_constants[value])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::Arithmetic;
    use crate::certify::network::backward::Backward;
    use crate::certify::network::bounds::{Arguments, Bounds};
    use crate::layer::{Activation, Layer};
    use crate::network::Network;
    use crate::parameter::Parameter;

    fn layer(weights: &[f64], biases: &[f64], activation: Activation) -> Layer {
        let numbers = |values: &[f64]| values.iter().map(|&value| Parameter::from(value)).collect();
        Layer::new(weights.len() / biases.len(), numbers(weights), numbers(biases), activation).expect("fits")
    }

    /// With these prices, the exact bound is 10¹⁵ · (0.3 − 0.1 − 0.2) for the doubles next to these numbers, below 0; computed it is 0.
    #[test]
    fn prices_pay_for_their_rounding() {
        let leaky = Activation::LeakyRelu { slope: Parameter::from(0.5) };
        let layers = vec![
            layer(&[0.0; 3], &[-0.1, -0.2, 0.3], leaky),
            layer(&[0.0; 6], &[0.0; 2], Activation::Identity),
        ];
        let graph = Graph::new(&Network::new(layers).expect("fits"), Arithmetic::F64);
        let (mut bounds, mut backward) = (Bounds::new(&graph), Backward::new(&graph, vec![0]));
        let (set, mut arguments) = (InstructionSet::best(), Arguments::default());
        bounds.compute(&graph, set, |_| (-1.0, 1.0), None, None, &mut arguments, &mut backward, true);
        let phases = [0, 1, 2].map(|neuron| Phase { node: 0, neuron, active: false });
        let mut priced = Priced::default();
        priced.start(&graph, &bounds.slots, &phases);
        for tuning in &mut priced.tunings[1] {
            tuning.price = 1e15;
        }
        let function = ScoreFunction { plus: Some(0), minus: Some(1) };
        let bound = priced.bound(&graph, set, &bounds.slots, backward.rounding(), function);
        assert!(bound <= -0.0277, "{bound}");
    }
}

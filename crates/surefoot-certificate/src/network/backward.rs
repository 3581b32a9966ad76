//! Backward passes: lower bounds of linear functions of values, from the outputs to the variables.

use surefoot_policy::{Activation, Layer, Node, PolicyInput, Source};

use super::{Bound, Bounds, SLACK, Slot, TINY, UNIT, UP};
use crate::certificate::Fact;
use crate::part::Part;

/// A linear function during a backward pass: `constant + Σ coefficient · value`, to be lowered by `error`.
#[derive(Debug)]
struct Function {
    /// Per slot; slot 0 holds the inputs.
    coefficients: Vec<Vec<f64>>,
    constant: f64,
    /// Sum of the magnitudes of the terms of the constant, and their number.
    magnitude: f64,
    terms: f64,
    error: f64,
}

impl Function {
    fn add(&mut self, term: f64) {
        self.constant += term;
        self.magnitude += term.abs();
        self.terms += 1.0;
    }

    /// Adds to one coefficient, which is then rounded.
    fn push(&mut self, slot: usize, index: usize, coefficient: f64, of: Bound) {
        let sum = &mut self.coefficients[slot][index];
        *sum += coefficient;
        self.error += 2.0 * UNIT * (sum.abs() + coefficient.abs()) * of.magnitude() + TINY;
    }
}

impl Bounds<'_> {
    /// A lower bound of `constant + Σ coefficient · value` over values of one slot, and its slopes by the variables once
    /// everything is replaced by lines.
    pub(super) fn least(
        &self,
        slots: &[Slot],
        states: (&Part, &[&Fact]),
        slot: usize,
        terms: impl IntoIterator<Item = (usize, f64)>,
        constant: f64,
    ) -> (f64, Vec<f64>) {
        let coefficients = slots[..=slot].iter().map(|slot| vec![0.0; slot.values.len()]).collect();
        let mut function = Function { coefficients, constant: 0.0, magnitude: 0.0, terms: 0.0, error: 0.0 };
        function.add(constant);
        for (index, coefficient) in terms {
            function.coefficients[slot][index] = coefficient;
        }
        for slot in (1..function.coefficients.len()).rev() {
            let coefficients = std::mem::take(&mut function.coefficients[slot]);
            let open = coefficients.into_iter().enumerate().filter(|(_, coefficient)| *coefficient != 0.0);
            match &self.network.nodes()[slot - 1] {
                Node::Layer { from, layer } => {
                    let open = open.map(|(neuron, coefficient)| {
                        let line = self.line(layer.activation(), &slots[slot], neuron, coefficient > 0.0);
                        (neuron, coefficient, line)
                    });
                    let open: Vec<_> = open.collect();
                    self.through_layer(&mut function, layer, *from, &open, slots, slot);
                }
                Node::Arrange { elements } => {
                    for (index, coefficient) in open {
                        let (source, index) =
                            (Self::slot(elements[index].source), elements[index].index as usize);
                        function.push(source, index, coefficient, slots[source].values[index]);
                    }
                }
                Node::Maximum { left, right } => {
                    for (index, coefficient) in open {
                        let [(a, left), (b, right)] = [*left, *right]
                            .map(|source| (Self::slot(source), slots[Self::slot(source)].values[index]));
                        // The maximum is at least either operand; it is at most one of them only if that is surely the
                        // larger one.
                        if left.lower >= right.upper || coefficient > 0.0 && left.lower >= right.lower {
                            function.push(a, index, coefficient, left);
                        } else if right.lower >= left.upper || coefficient > 0.0 {
                            function.push(b, index, coefficient, right);
                        } else {
                            function.add(coefficient * left.upper.max(right.upper));
                        }
                    }
                }
                Node::Quotient { from, divisors } => {
                    for (index, coefficient) in open {
                        let (source, of) = (Self::slot(*from), slots[Self::slot(*from)].values[index]);
                        let quotient = coefficient / self.number(divisors[index]);
                        function.error += 2.0 * UNIT * quotient.abs() * of.magnitude() + TINY;
                        function.push(source, index, quotient, of);
                    }
                }
            }
        }
        self.concretise(function, &slots[0], states)
    }

    /// Replaces the values of a layer, each by a line over its sum, by what the layer reads.
    fn through_layer(
        &self,
        function: &mut Function,
        layer: &Layer,
        from: Source,
        open: &[(usize, f64, (f64, f64))],
        slots: &[Slot],
        slot: usize,
    ) {
        let source = Self::slot(from);
        let mut magnitudes: Vec<f64> = function.coefficients[source].iter().map(|old| old.abs()).collect();
        for &(neuron, coefficient, (slope, offset)) in open {
            function.add(coefficient * offset);
            let factor = coefficient * slope;
            function.error += 2.0 * UNIT * factor.abs() * slots[slot].sums[neuron].magnitude() + TINY;
            if factor == 0.0 {
                continue;
            }
            function.add(factor * self.number(layer.bias(neuron)));
            for (input, weight) in layer.row(neuron) {
                let product = factor * self.number(weight);
                function.coefficients[source][input] += product;
                magnitudes[input] += product.abs();
            }
        }
        let rounding = 2.0 * (open.len() as f64 + 8.0) * UNIT;
        for (magnitude, value) in magnitudes.iter().zip(&slots[source].values) {
            function.error += rounding * magnitude * value.magnitude() + TINY;
        }
    }

    /// Slope and offset of a line that lies below (or above) an activation for all sums within their bounds.
    fn line(&self, activation: Activation, slot: &Slot, neuron: usize, below: bool) -> (f64, f64) {
        let (sum, value) = (slot.sums[neuron], slot.values[neuron]);
        let (lower, upper) = (sum.lower, sum.upper);
        let least = match self.nominal(activation) {
            Activation::Identity => return (1.0, 0.0),
            Activation::Relu => 0.0,
            Activation::LeakyRelu { slope } => slope.double,
            Activation::Clip { low, high } if lower >= low.double && upper <= high.double => {
                return (1.0, 0.0);
            }
            Activation::Clip { .. } | Activation::Tanh | Activation::Sigmoid | Activation::Elu { .. } => {
                return (0.0, if below { value.lower } else { value.upper });
            }
        };
        // From here on: slope 1 above 0 and slope `least` below, which is convex.
        match (lower >= 0.0, upper <= 0.0) {
            (true, _) => (1.0, 0.0),
            (_, true) => (least, 0.0),
            _ if below => (if upper > -lower { 1.0 } else { least }, 0.0),
            _ => {
                let slope = (upper - least * lower) / (upper - lower);
                // A line that is above at both ends is above between them, whatever its slope.
                let offset = (least * lower - slope * lower).max(upper - slope * upper);
                (slope, offset + SLACK * (upper - lower) + TINY)
            }
        }
    }

    /// The least value of a linear function of the inputs.
    fn concretise(
        &self,
        mut function: Function,
        inputs: &Slot,
        (part, facts): (&Part, &[&Fact]),
    ) -> (f64, Vec<f64>) {
        let mut slopes = vec![0.0; part.0.len()];
        let coefficients = std::mem::take(&mut function.coefficients[0]);
        for ((coefficient, input), bound) in
            coefficients.into_iter().zip(&self.policy.inputs).zip(&inputs.values)
        {
            match *input {
                PolicyInput::Constant(value) => function.add(coefficient * f64::from(value)),
                PolicyInput::Variable(variable) => {
                    let slope: &mut f64 = &mut slopes[variable.index()];
                    *slope += coefficient;
                    function.error +=
                        2.0 * UNIT * (slope.abs() + coefficient.abs()) * bound.magnitude() + TINY;
                }
            }
        }
        for fact in facts {
            let price = price(&slopes, part, fact);
            if price > 0.0 {
                function.add(-price * fact.limit as f64);
                for &(variable, factor) in &fact.terms {
                    let (slope, product) = (&mut slopes[variable as usize], price * f64::from(factor));
                    *slope += product;
                    function.error +=
                        2.0 * UNIT * (slope.abs() + product.abs()) * part.magnitude(variable as usize) + TINY;
                }
            }
        }
        for (&slope, &(lower, upper)) in slopes.iter().zip(&part.0) {
            function.add(if slope >= 0.0 { slope * f64::from(lower) } else { slope * f64::from(upper) });
        }
        let rounding = 2.0 * (function.terms + 8.0) * UNIT * function.magnitude;
        (function.constant - (function.error + rounding) * UP - TINY, slopes)
    }
}

/// A price of a fact for which the least value of a linear function in a part grows; 0 if there is none. Each variable
/// for which function and fact want opposite ends changes its end at some price. The first of these prices at which the
/// fact holds is the best one.
fn price(slopes: &[f64], part: &Part, fact: &Fact) -> f64 {
    let mut excess = -(fact.limit as f64);
    let mut turns = Vec::new();
    for &(variable, factor) in &fact.terms {
        let (slope, factor) = (slopes[variable as usize], f64::from(factor));
        let (lower, upper) = part.0[variable as usize];
        let is_low = slope > 0.0 || slope == 0.0 && factor > 0.0;
        excess += factor * f64::from(if is_low { lower } else { upper });
        if slope * factor < 0.0 {
            turns.push((-slope / factor, factor.abs() * f64::from(part.width(variable as usize))));
        }
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut price = 0.0;
    for (turn, change) in turns {
        if excess <= 0.0 {
            break;
        }
        price = turn;
        excess -= change;
    }
    price
}

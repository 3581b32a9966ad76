//! Intervals of all nominal values of a network in a part, and their deviations.

use surefoot_policy::{Activation, Arithmetic, Layer, Node, PolicyInput, Source, point};

use super::{Bound, Bounds, LIBRARY, MOST_TERMS, SLACK, Slot, TINY, UNIT};
use crate::certificate::Fact;
use crate::part::Part;

impl Bounds<'_> {
    /// Bounds of all values; `None` if something could overflow or is out of the range of the proof.
    pub(super) fn forward(&self, states: (&Part, &[&Fact])) -> Option<Vec<Slot>> {
        let inputs = self.policy.inputs.iter().map(|input| {
            let (lower, upper) = match *input {
                PolicyInput::Constant(value) => (value, value),
                PolicyInput::Variable(variable) => states.0.0[variable.index()],
            };
            let bound = Bound { lower: lower.into(), upper: upper.into(), deviation: 0.0 };
            let rounded = self.precision.single && bound.magnitude() > f64::from(1 << 24);
            bound.with(if rounded { 2.0 * self.precision.unit * bound.magnitude() } else { 0.0 })
        });
        let mut slots = vec![Slot { values: inputs.collect(), sums: Vec::new() }];
        for node in self.network.nodes() {
            let of = |source: Source| &slots[Self::slot(source)].values;
            let slot = match node {
                Node::Layer { from, layer } => self.layer(layer, *from, &slots, states)?,
                Node::Arrange { elements } => {
                    let copy = elements.iter().map(|element| of(element.source)[element.index as usize]);
                    Slot { values: copy.collect(), sums: Vec::new() }
                }
                Node::Maximum { left, right } => {
                    let pairs = of(*left).iter().zip(of(*right));
                    let values = pairs.map(|(&left, &right)| self.maximum(left, right));
                    Slot { values: values.collect(), sums: Vec::new() }
                }
                Node::Quotient { from, divisors } => {
                    let pairs = of(*from).iter().zip(divisors);
                    let values = pairs.map(|(&value, &divisor)| self.quotient(value, self.number(divisor)));
                    Slot { values: values.collect::<Option<_>>()?, sums: Vec::new() }
                }
            };
            let fits = |bound: &Bound| bound.magnitude() + bound.deviation <= self.precision.limit;
            if !slot.values.iter().all(fits) {
                return None;
            }
            slots.push(slot);
        }
        Some(slots)
    }

    fn maximum(&self, left: Bound, right: Bound) -> Bound {
        let bound = Bound { lower: left.lower.max(right.lower), upper: left.upper.max(right.upper), ..left };
        let deviation = left.deviation.max(right.deviation);
        bound.with(deviation + SLACK * (bound.magnitude() + deviation) + 16.0 * self.precision.smallest)
    }

    fn quotient(&self, value: Bound, divisor: f64) -> Option<Bound> {
        let size = divisor.abs();
        if self.precision.single && !(self.precision.smallest..=1.0 / self.precision.smallest).contains(&size)
        {
            return None;
        }
        let (a, b) = (value.lower / divisor, value.upper / divisor);
        let magnitude = value.magnitude() / size;
        let pad = SLACK * magnitude + TINY;
        let bound = Bound { lower: a.min(b) - pad, upper: a.max(b) + pad, deviation: 0.0 };
        let deviation = value.deviation / size;
        let rounding = 68.0 * self.precision.unit * (magnitude + deviation)
            + 16.0 * self.precision.smallest * (1.0 + 1.0 / size);
        Some(bound.with(deviation + rounding))
    }

    fn layer(&self, layer: &Layer, from: Source, slots: &[Slot], states: (&Part, &[&Fact])) -> Option<Slot> {
        let mut slot = Slot::default();
        for neuron in 0..layer.neurons() {
            let mut sum = self.sum(layer, neuron, &slots[Self::slot(from)].values)?;
            let bends = matches!(layer.activation(), Activation::Relu | Activation::LeakyRelu { .. });
            // Intervals of sums of inputs are exact but for facts.
            let is_rough = from != Source::Input || !states.1.is_empty();
            if bends && is_rough && sum.lower < 0.0 && sum.upper > 0.0 {
                let row = |sign: f64| {
                    let terms = layer.row(neuron).map(|(input, weight)| (input, sign * self.number(weight)));
                    let bias = sign * self.number(layer.bias(neuron));
                    self.least(slots, states, Self::slot(from), terms, bias).0
                };
                // If a bound is NaN, the other operand stands.
                sum.lower = sum.lower.max(row(1.0));
                sum.upper = sum.upper.min(-row(-1.0));
            }
            slot.sums.push(sum);
            slot.values.push(self.activate(layer.activation(), sum));
        }
        Some(slot)
    }

    /// A weighted sum and its deviation.
    fn sum(&self, layer: &Layer, neuron: usize, inputs: &[Bound]) -> Option<Bound> {
        let terms = layer.terms(neuron);
        if terms > MOST_TERMS {
            return None;
        }
        let bias = self.number(layer.bias(neuron));
        let (mut lower, mut upper, mut magnitude) = (bias, bias, bias.abs());
        let (mut spread, mut weights) = (0.0, 0.0);
        for (input, weight) in layer.row(neuron) {
            let (weight, input) = (self.number(weight), inputs[input]);
            let (a, b) = (weight * input.lower, weight * input.upper);
            lower += a.min(b);
            upper += a.max(b);
            let size = weight.abs() + if self.precision.single { 2.0_f64.powi(-99) } else { 0.0 };
            magnitude += size * (input.magnitude() + input.deviation);
            spread += size * input.deviation;
            weights += size;
        }
        let count = terms as f64;
        let pad = 2.0 * (count + 8.0) * UNIT * magnitude + TINY;
        let kappa = 4.0 * (count + 16.0) * self.precision.unit;
        let underflow = 16.0 * self.precision.smallest * (count + 8.0 + weights);
        let sum = Bound { lower: lower - pad, upper: upper + pad, deviation: 0.0 };
        let sum = sum.with((1.0 + kappa) * spread + kappa * magnitude + underflow);
        (magnitude <= self.precision.limit && sum.deviation <= self.precision.limit).then_some(sum)
    }

    /// The value of an activation. All of them are monotone. What they add to the deviation `d`, with `m` the magnitude
    /// of their values: linear pieces a few roundings of enclosures (`2⁻⁴⁸·(m + d)`), leaky `ReLU` a product (`16u·(m +
    /// d)`, `η` if the slope is flushed), tanh, sigmoid and ELU the error of `libm` and a rounding (`(2⁻⁴⁰ + 4u)·(m +
    /// d)`), and in `any-f32` twice the error that is assumed of libraries.
    fn activate(&self, activation: Activation, sum: Bound) -> Bound {
        let nominal = self.nominal(activation);
        let (a, b) = (point::activate(nominal, sum.lower), point::activate(nominal, sum.upper));
        let (steepness, relative, assumed) = match nominal {
            Activation::Identity => return sum,
            Activation::Relu | Activation::Clip { .. } => (1.0, SLACK, 0.0),
            Activation::LeakyRelu { .. } => (1.0, SLACK + 16.0 * self.precision.unit, 0.0),
            Activation::Tanh | Activation::Sigmoid => (1.0, LIBRARY + 4.0 * self.precision.unit, 1.0),
            Activation::Elu { scale } => {
                (scale.double.max(1.0), LIBRARY + 4.0 * self.precision.unit, scale.double.max(1.0))
            }
        };
        let own = if assumed > 0.0 { LIBRARY } else { SLACK };
        let exact = matches!(nominal, Activation::Relu | Activation::Clip { .. });
        let pad = |value: f64| if exact { 0.0 } else { own * value.abs() + TINY };
        let bound = Bound { lower: a - pad(a), upper: b + pad(b), deviation: 0.0 };
        let assumed = if self.arithmetic == Arithmetic::AnyF32 { assumed / (1 << 19) as f64 } else { 0.0 };
        let passed = steepness * sum.deviation;
        let flushed = 16.0 * self.precision.smallest * (1.0 + sum.magnitude() + sum.deviation);
        bound.with(passed + relative * (bound.magnitude() + passed) + assumed + flushed)
    }
}

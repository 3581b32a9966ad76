//! That one output of a neural network beats another one everywhere in a part.
//!
//! **Nominal values.** The *nominal* network has the parameters of the arithmetic (singles or doubles), exact integer
//! inputs, and computes in real numbers. [`Bounds::forward`] encloses its values by intervals, node by node. Sums whose
//! `ReLU` is undecided are then enclosed once more by a backward pass. A backward pass ([`Bounds::backward`], CROWN)
//! bounds a linear function of values from below: it replaces each activation by a line below or above it, as the sign
//! of its coefficient asks for, until a linear function of the variables is left.
//!
//! **Deviation.** Let `v` be a nominal value and `d` a bound on the distance from `v` to whatever the arithmetic makes
//! of it: the computed number in `f64` and `f32`, the further end of the enclosure that *defines* the choice in
//! `any-f32` and `real` (`docs/semantics.md`). A sum of `n` products and a bias satisfies
//!
//! > `d' ≤ (1 + κ)·Σ w'·d + κ·(Σ w'·(|v| + d) + |b|) + 16η·(n + 8 + Σ|w|)`,  `κ = 4·(n + 16)·u`,
//!
//! with `u = 2⁻⁵³` or `2⁻²⁴`, `η = 2⁻⁹⁰⁰` or `2⁻¹²⁶`, and `w' = |w|`, in single precision `|w| + 2⁻⁹⁹`. For computed
//! numbers this is Higham's `γ_{n+1}` with room. For an enclosure of centre `c` and radius `r`, take `d = |c − v| + r`;
//! the next radius is `Σ(|w| + 2⁻¹⁰⁰)(r + g(|c| + r)) + g|b| + 8η'(n + 1 + Σ|w|)` with `g = γ_{n+2}` (`any-f32`) or
//! `γ_{2(n+8)}` (`real`, `η' = 2⁻¹⁰⁰⁰`), the next centre is off by `γ_{n+1}` of doubles, and `|c| + r ≤ |v| + d`; both
//! `g` and that `γ` together are below `κ` for `n ≤ 2¹⁹`, with room for the rounding of radii. Activations have slopes
//! of at most 1 (ELU: `max(1, scale)`), so they pass `d` on and add errors of their own, listed at
//! [`Bounds::activate`]. All this holds while nothing overflows, which is so while all sums of magnitudes and
//! deviations stay below `2³⁰⁰` (singles: `2¹⁰⁰`); otherwise there is no bound, and single states are evaluated.
//!
//! **Our own rounding.** Sums of doubles are computed as they stand. Next to each we compute the sum of magnitudes `M`
//! of its terms and widen the result by `2·(n + 8)·2⁻⁵³·M`, which is more than `n + 2` roundings can do, and by `TINY`
//! for underflow. A coefficient of a backward pass is taken as computed; what it may be off by, times the largest
//! magnitude of its value, is subtracted from the bound. If anything becomes infinite or NaN, so does the bound, and no
//! comparison with it succeeds.

use surefoot_policy::{
    Activation, Arithmetic, Layer, Network, Node, Parameter, Policy, PolicyInput, Source, point,
};

use crate::part::{Cut, Part};

const UNIT: f64 = f64::EPSILON / 2.0;
/// More than underflow can do, whatever finite numbers below `2³⁰⁰` it is multiplied with.
const TINY: f64 = f64::from_bits((1023 - 600) << 52);
/// A relative error above those of `libm`, and one above a few roundings.
const LIBRARY: f64 = 1.0 / (1_u64 << 40) as f64;
const SLACK: f64 = 1.0 / (1_u64 << 48) as f64;
/// Covers the rounding of sums of positive numbers.
const UP: f64 = 1.0 + 1.0 / (1_u64 << 20) as f64;
const MOST_TERMS: usize = 1 << 19;
/// Rivals that are tried before a part is split.
const RIVALS: usize = 3;

/// Nominal bounds of one value, and its deviation.
#[derive(Debug, Clone, Copy)]
struct Bound {
    lower: f64,
    upper: f64,
    deviation: f64,
}

impl Bound {
    fn magnitude(self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    fn with(self, deviation: f64) -> Bound {
        Bound { deviation: deviation * UP, ..self }
    }
}

/// The values of a node, and for a layer its sums before the activation.
#[derive(Debug, Default)]
struct Slot {
    values: Vec<Bound>,
    sums: Vec<Bound>,
}

/// Bounds a network.
#[derive(Debug)]
pub(crate) struct Bounds<'p> {
    policy: &'p Policy,
    network: &'p Network,
    arithmetic: Arithmetic,
    single: bool,
    unit: f64,
    smallest: f64,
    limit: f64,
}

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

impl<'p> Bounds<'p> {
    pub fn new(policy: &'p Policy, network: &'p Network, arithmetic: Arithmetic) -> Self {
        let single = matches!(arithmetic, Arithmetic::F32 | Arithmetic::AnyF32);
        let power = |exponent: i32| 2.0_f64.powi(exponent);
        Bounds {
            policy,
            network,
            arithmetic,
            single,
            unit: if single { power(-24) } else { UNIT },
            smallest: if single { power(-126) } else { power(-900) },
            limit: if single { power(100) } else { power(300) },
        }
    }

    /// Removes from `open` the outputs that are beaten everywhere in a part by one that competes there. `scores` are
    /// those of some state: better rivals are tried first. Suggests where to split the part for the others.
    pub fn beaten(
        &self,
        part: &Part,
        open: &mut Vec<usize>,
        competes: &[bool],
        scores: &[f64],
    ) -> Option<Cut> {
        let slots = self.forward(part)?;
        let last = &slots[slots.len() - 1].values;
        let mut rivals: Vec<usize> = (0..competes.len()).filter(|&rival| competes[rival]).collect();
        rivals.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut cut = None;
        open.retain(|&output| {
            let others = rivals.iter().filter(|&&rival| rival != output).take(RIVALS);
            for (rank, &rival) in others.enumerate() {
                let mut function = Self::zero(&slots, slots.len() - 1);
                function.coefficients[slots.len() - 1][rival] = 1.0;
                function.coefficients[slots.len() - 1][output] = -1.0;
                let (difference, slopes) = self.backward(function, &slots, part);
                let two = [last[rival], last[output]];
                let error = two.map(|bound| bound.deviation + SLACK * (bound.magnitude() + bound.deviation));
                if difference > (error[0] + error[1]) * UP {
                    return false;
                }
                if rank == 0 && cut.is_none() {
                    let gain = |&variable: &usize| slopes[variable].abs() * f64::from(part.width(variable));
                    let best = (0..slopes.len()).max_by(|a, b| gain(a).total_cmp(&gain(b)));
                    cut =
                        best.filter(|&variable| part.width(variable) > 0).map(|variable| part.half(variable));
                }
            }
            true
        });
        cut
    }

    fn number(&self, parameter: Parameter) -> f64 {
        if self.single { parameter.single.into() } else { parameter.double }
    }

    /// The slot that a source is.
    fn slot(source: Source) -> usize {
        match source {
            Source::Input => 0,
            Source::Node(node) => node as usize + 1,
        }
    }

    /// Bounds of all values; `None` if something could overflow or is out of the range of the proof.
    fn forward(&self, part: &Part) -> Option<Vec<Slot>> {
        let inputs = self.policy.inputs.iter().map(|input| {
            let (lower, upper) = match *input {
                PolicyInput::Constant(value) => (value, value),
                PolicyInput::Variable(variable) => part.0[variable.index()],
            };
            let bound = Bound { lower: lower.into(), upper: upper.into(), deviation: 0.0 };
            let rounded = self.single && bound.magnitude() > f64::from(1 << 24);
            bound.with(if rounded { 2.0 * self.unit * bound.magnitude() } else { 0.0 })
        });
        let mut slots = vec![Slot { values: inputs.collect(), sums: Vec::new() }];
        for node in self.network.nodes() {
            let of = |source: Source| &slots[Self::slot(source)].values;
            let slot = match node {
                Node::Layer { from, layer } => self.layer(layer, *from, &slots, part)?,
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
            let fits = |bound: &Bound| bound.magnitude() + bound.deviation <= self.limit;
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
        bound.with(deviation + SLACK * (bound.magnitude() + deviation) + 16.0 * self.smallest)
    }

    fn quotient(&self, value: Bound, divisor: f64) -> Option<Bound> {
        let size = divisor.abs();
        if self.single && !(self.smallest..=1.0 / self.smallest).contains(&size) {
            return None;
        }
        let (a, b) = (value.lower / divisor, value.upper / divisor);
        let magnitude = value.magnitude() / size;
        let pad = SLACK * magnitude + TINY;
        let bound = Bound { lower: a.min(b) - pad, upper: a.max(b) + pad, deviation: 0.0 };
        let deviation = value.deviation / size;
        let rounding = 68.0 * self.unit * (magnitude + deviation) + 16.0 * self.smallest * (1.0 + 1.0 / size);
        Some(bound.with(deviation + rounding))
    }

    fn layer(&self, layer: &Layer, from: Source, slots: &[Slot], part: &Part) -> Option<Slot> {
        let mut slot = Slot::default();
        for neuron in 0..layer.neurons() {
            let mut sum = self.sum(layer, neuron, &slots[Self::slot(from)].values)?;
            let bends = matches!(layer.activation(), Activation::Relu | Activation::LeakyRelu { .. });
            if bends && from != Source::Input && sum.lower < 0.0 && sum.upper > 0.0 {
                for sign in [1.0, -1.0] {
                    let mut function = Self::zero(slots, slots.len() - 1);
                    let source = Self::slot(from);
                    layer.row(neuron).for_each(|(input, weight)| {
                        function.coefficients[source][input] = sign * self.number(weight);
                    });
                    function.add(sign * self.number(layer.bias(neuron)));
                    let (bound, _) = self.backward(function, slots, part);
                    if sign > 0.0 && bound > sum.lower {
                        sum.lower = bound;
                    } else if sign < 0.0 && -bound < sum.upper {
                        sum.upper = -bound;
                    }
                }
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
            let size = weight.abs() + if self.single { 2.0_f64.powi(-99) } else { 0.0 };
            magnitude += size * (input.magnitude() + input.deviation);
            spread += size * input.deviation;
            weights += size;
        }
        let count = terms as f64;
        let pad = 2.0 * (count + 8.0) * UNIT * magnitude + TINY;
        let kappa = 4.0 * (count + 16.0) * self.unit;
        let underflow = 16.0 * self.smallest * (count + 8.0 + weights);
        let sum = Bound { lower: lower - pad, upper: upper + pad, deviation: 0.0 };
        let sum = sum.with((1.0 + kappa) * spread + kappa * magnitude + underflow);
        (magnitude <= self.limit && sum.deviation <= self.limit).then_some(sum)
    }

    /// The activation with the parameters of the arithmetic, as doubles.
    fn nominal(&self, activation: Activation) -> Activation {
        let number = |parameter| Parameter::from(self.number(parameter));
        match activation {
            Activation::LeakyRelu { slope } => Activation::LeakyRelu { slope: number(slope) },
            Activation::Elu { scale } => Activation::Elu { scale: number(scale) },
            Activation::Clip { low, high } => Activation::Clip { low: number(low), high: number(high) },
            Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => activation,
        }
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
            Activation::LeakyRelu { .. } => (1.0, SLACK + 16.0 * self.unit, 0.0),
            Activation::Tanh | Activation::Sigmoid => (1.0, LIBRARY + 4.0 * self.unit, 1.0),
            Activation::Elu { scale } => {
                (scale.double.max(1.0), LIBRARY + 4.0 * self.unit, scale.double.max(1.0))
            }
        };
        let own = if assumed > 0.0 { LIBRARY } else { SLACK };
        let exact = matches!(nominal, Activation::Relu | Activation::Clip { .. });
        let pad = |value: f64| if exact { 0.0 } else { own * value.abs() + TINY };
        let bound = Bound { lower: a - pad(a), upper: b + pad(b), deviation: 0.0 };
        let assumed = if self.arithmetic == Arithmetic::AnyF32 { assumed / (1 << 19) as f64 } else { 0.0 };
        let passed = steepness * sum.deviation;
        let flushed = 16.0 * self.smallest * (1.0 + sum.magnitude() + sum.deviation);
        bound.with(passed + relative * (bound.magnitude() + passed) + assumed + flushed)
    }

    /// A function without terms of the slots up to one.
    fn zero(slots: &[Slot], last: usize) -> Function {
        let coefficients = slots[..=last].iter().map(|slot| vec![0.0; slot.values.len()]).collect();
        Function { coefficients, constant: 0.0, magnitude: 0.0, terms: 0.0, error: 0.0 }
    }

    /// A lower bound of a function in a part, and its slopes by the variables once everything is replaced by lines.
    fn backward(&self, mut function: Function, slots: &[Slot], part: &Part) -> (f64, Vec<f64>) {
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
        self.concretise(function, &slots[0], part)
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
    fn concretise(&self, mut function: Function, inputs: &Slot, part: &Part) -> (f64, Vec<f64>) {
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
        for (&slope, &(lower, upper)) in slopes.iter().zip(&part.0) {
            function.add(if slope >= 0.0 { slope * f64::from(lower) } else { slope * f64::from(upper) });
        }
        let rounding = 2.0 * (function.terms + 8.0) * UNIT * function.magnitude;
        (function.constant - (function.error + rounding) * UP - TINY, slopes)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use surefoot_model::{LabelId, VarId};
    use surefoot_policy::Scorer;

    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }

        /// Numbers of all sizes: sums of them cancel.
        fn number(&mut self) -> f64 {
            (self.below(1 << 30) as f64 / 3.0 - 1.7e8) * 2.0_f64.powi(self.below(40) as i32 - 20)
        }
    }

    fn exact(value: f64) -> BigRational {
        BigRational::from_float(value).expect("finite")
    }

    /// A chain of layers with `ReLU` between them.
    fn policy(random: &mut Random) -> Policy {
        let sizes = [2, 1 + random.below(4) as usize, 1 + random.below(4) as usize, 2];
        let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
            let numbers = |count: usize, random: &mut Random| {
                (0..count).map(|_| Parameter::from(random.number())).collect::<Vec<_>>()
            };
            let activation = match index {
                2 => Activation::Identity,
                _ if random.below(4) == 0 => Activation::LeakyRelu { slope: Parameter::from(0.1) },
                _ => Activation::Relu,
            };
            let (weights, biases) = (numbers(pair[0] * pair[1], random), numbers(pair[1], random));
            Layer::new(pair[0], weights, biases, activation).expect("well formed")
        });
        let network = Network::new(layers.collect()).expect("fits");
        let inputs = vec![PolicyInput::Variable(VarId(0)), PolicyInput::Variable(VarId(1))];
        Policy::new(inputs, vec![LabelId(0), LabelId(1)], false, Scorer::Network(network)).expect("fits")
    }

    /// The values of all nodes without rounding; sums and activations.
    fn values(network: &Network, inputs: &[i32]) -> Vec<(Vec<BigRational>, Vec<BigRational>)> {
        let zero = exact(0.0);
        let mut values: Vec<BigRational> =
            inputs.iter().map(|&value| BigRational::from_integer(BigInt::from(value))).collect();
        let layer = |layer: &Layer| {
            let sum = |neuron| {
                let products = layer.row(neuron).map(|(input, weight)| exact(weight.double) * &values[input]);
                products.sum::<BigRational>() + exact(layer.bias(neuron).double)
            };
            let sums: Vec<BigRational> = (0..layer.neurons()).map(sum).collect();
            values = match layer.activation() {
                Activation::Relu => sums.iter().map(|sum| sum.max(&zero).clone()).collect(),
                Activation::LeakyRelu { slope } => {
                    let leak =
                        |sum: &BigRational| if *sum < zero { sum * exact(slope.double) } else { sum.clone() };
                    sums.iter().map(leak).collect()
                }
                _ => sums.clone(),
            };
            (sums, values.clone())
        };
        network.layers().map(layer).collect()
    }

    /// Without their rounding terms the bounds are exact up to a few last bits, and half of them are on the wrong side.
    #[test]
    fn bounds_hold_the_exact_values_of_the_nominal_network() {
        let mut random = Random(1);
        let mut tight = 0;
        for _ in 0..3000 {
            let policy = policy(&mut random);
            let Scorer::Network(network) = &policy.scorer else { unreachable!("it is a network") };
            let bounds = Bounds::new(&policy, network, Arithmetic::Real);
            let (x, y) = (random.below(100) as i32 - 50, random.below(100) as i32 - 50);
            let part = Part(vec![(x, x + random.below(2) as i32), (y, y + random.below(2) as i32)]);
            let slots = bounds.forward(&part).expect("no overflow");
            let mut function = Bounds::zero(&slots, slots.len() - 1);
            function.coefficients[3] = vec![1.0, -1.0];
            let difference = bounds.backward(function, &slots, &part).0;
            let states =
                (part.0[0].0..=part.0[0].1).flat_map(|x| (part.0[1].0..=part.0[1].1).map(move |y| [x, y]));
            for state in states {
                let exact_values = values(network, &state);
                for (slot, (sums, values)) in slots[1..].iter().zip(&exact_values) {
                    let pairs = slot.sums.iter().zip(sums).chain(slot.values.iter().zip(values));
                    for (bound, value) in pairs {
                        assert!(
                            exact(bound.lower) <= *value && *value <= exact(bound.upper),
                            "{value} in {bound:?}"
                        );
                    }
                }
                let scores = &exact_values[2].1;
                let found = &scores[0] - &scores[1];
                assert!(exact(difference) <= found);
                let size = slots[3].values[0].magnitude() + slots[3].values[1].magnitude();
                tight += u32::from(found - exact(difference) < exact(size * 1e-9));
            }
        }
        assert!(tight > 1000, "the bounds of {tight} states only are tight");
    }

    /// A network of all kinds of nodes, each of which may be the last one, whose values may be tiny, so that absolute errors show.
    fn curved(random: &mut Random) -> Policy {
        let number = |text: &str| Parameter::parse(text).expect("a number");
        let activations = [
            Activation::Identity,
            Activation::Relu,
            Activation::LeakyRelu { slope: number("0.1") },
            Activation::Tanh,
            Activation::Sigmoid,
            Activation::Elu { scale: number("1.7") },
            Activation::Clip { low: number("-0.3"), high: number("1.1") },
        ];
        let layer = |inputs: usize, neurons: usize, activation, random: &mut Random| {
            let scale = [1.0, 1e-3, 1e-7, 1e-20, 1e3][random.below(5) as usize];
            let zero = random.below(2) as f64;
            let number = |random: &mut Random| scale * (random.below(2001) as f64 / 1000.0 - 1.0);
            let weights = (0..inputs * neurons).map(|_| Parameter::from(number(random))).collect();
            let biases = (0..neurons).map(|_| Parameter::from(zero * number(random))).collect();
            Layer::new(inputs, weights, biases, activation).expect("well formed")
        };
        let any = |random: &mut Random| activations[random.below(7) as usize];
        let (first, second) = (any(random), any(random));
        let divisors =
            ["3", "-0.7", ["1e-5", "1e-39"][usize::from(random.below(20) == 0)]].map(number).to_vec();
        let mut nodes = vec![
            Node::Layer { from: Source::Input, layer: layer(2, 3, first, random) },
            Node::Quotient { from: Source::Node(0), divisors },
            Node::Maximum { left: Source::Node(0), right: Source::Node(1) },
            Node::Layer { from: Source::Node(2), layer: layer(3, 3, second, random) },
            Node::Layer { from: Source::Node(3), layer: layer(3, 2, Activation::Identity, random) },
        ];
        nodes.truncate(1 + random.below(5) as usize);
        if random.below(6) == 0 {
            nodes =
                vec![Node::Quotient { from: Source::Input, divisors: ["3", "-0.7"].map(number).to_vec() }];
        }
        let network = Network::from_nodes(2, nodes).expect("fits");
        let inputs = vec![PolicyInput::Variable(VarId(0)), PolicyInput::Variable(VarId(1))];
        let labels = (0..network.outputs() as u32).map(LabelId).collect();
        Policy::new(inputs, labels, false, Scorer::Network(network)).expect("fits")
    }

    /// What a deviation is for: at a state, both ends of a score are within it of the nominal value.
    #[test]
    fn scores_of_each_arithmetic_are_within_their_deviation() {
        let mut random = Random(3);
        let mut bounded = 0;
        for _ in 0..20_000 {
            let policy = curved(&mut random);
            let Scorer::Network(network) = &policy.scorer else { unreachable!("it is a network") };
            let offset = if random.below(8) == 0 { 16_777_215 } else { 0 };
            let state = [random.below(30) as i32 - 15 + offset, random.below(30) as i32 - 15];
            let part = Part(state.map(|value| (value, value)).to_vec());
            for arithmetic in Arithmetic::ALL {
                let Some(slots) = Bounds::new(&policy, network, arithmetic).forward(&part) else { continue };
                bounded += 1;
                for (score, bound) in
                    policy.scores(arithmetic, &state).iter().zip(&slots[slots.len() - 1].values)
                {
                    let reach = bound.deviation + SLACK * (bound.magnitude() + bound.deviation);
                    let within = bound.lower - reach <= score.lower && score.upper <= bound.upper + reach;
                    assert!(within, "{arithmetic}: {score:?} in {bound:?}, {network:?}");
                }
            }
        }
        assert!(bounded > 70_000, "only {bounded} of 80,000 were bounded");
    }
}

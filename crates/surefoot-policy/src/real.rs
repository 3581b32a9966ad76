//! Exact scores: the arithmetic `real`, without any rounding.
//!
//! Parameters are doubles, so they are integers times powers of two, and so are all sums and products. Quotients bring
//! in other denominators. The values of one node are kept as integers with a common exponent and a common denominator,
//!
//! > `number · 2^exponent / denominator`,  the denominator odd and positive.
//!
//! A layer multiplies integers by integers and leaves the denominator alone; the scores of the last node are compared by
//! their integers. There are no fractions to be reduced.
//!
//! Only scorers of linear pieces have such scores: tanh, sigmoid and ELU have not. Exact values are needed where
//! [enclosures](crate::enclosure) overlap, which is rare, so this is simple rather than fast.

use num_bigint::BigInt;

use crate::ensemble::Ensemble;
use crate::layer::{Activation, Layer};
use crate::network::{Network, Node, Source};
use crate::parameter::Parameter;
use crate::point::leaf_of;
use crate::policy::Scorer;

/// Numbers of more bits are given up: a network that multiplies huge and tiny weights over and over could fill the memory.
const MOST_BITS: u64 = 1 << 18;

/// Keeps of the outputs that `enclosures` could not tell apart the one with the highest exact score, the lowest index on
/// ties. Keeps all of them if the scores are no fractions or take too many digits.
pub(crate) fn decide(scorer: &Scorer, inputs: &[i32], outputs: &mut Vec<usize>) {
    if let Some(scores) = scores(scorer, inputs) {
        let best = outputs.iter().copied().reduce(
            |best, output| {
                if scores[output] > scores[best] { output } else { best }
            },
        );
        outputs.retain(|&output| Some(output) == best);
    }
}

/// All scores, times a common positive factor; `None` if they are no fractions.
fn scores(scorer: &Scorer, inputs: &[i32]) -> Option<Vec<BigInt>> {
    match scorer {
        Scorer::Network(network) => network_scores(network, inputs),
        Scorer::Ensemble(ensemble) => ensemble_scores(ensemble, inputs),
    }
}

/// The values of one node.
#[derive(Debug, Clone)]
struct Values {
    numbers: Vec<BigInt>,
    exponent: i64,
    denominator: BigInt,
}

/// `mantissa · 2^exponent`; the mantissa is odd, or both are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dyadic {
    mantissa: i64,
    exponent: i64,
}

impl Dyadic {
    /// A parameter; `None` if it is not finite.
    fn new(parameter: Parameter) -> Option<Dyadic> {
        const FRACTION: u64 = (1 << 52) - 1;
        let value = parameter.double;
        if !value.is_finite() {
            return None;
        }
        let (exponent, fraction) = ((value.to_bits() >> 52 & 0x7ff) as i64, value.to_bits() & FRACTION);
        let (magnitude, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | (FRACTION + 1), exponent - 1075) };
        if magnitude == 0 {
            return Some(Dyadic { mantissa: 0, exponent: 0 });
        }
        let zeros = magnitude.trailing_zeros();
        let magnitude = (magnitude >> zeros) as i64;
        let mantissa = if value < 0.0 { -magnitude } else { magnitude };
        Some(Dyadic { mantissa, exponent: exponent + i64::from(zeros) })
    }

    fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The number over `2^exponent`, which is not above its own.
    fn over(self, exponent: i64) -> BigInt {
        if self.is_zero() { BigInt::ZERO } else { BigInt::from(self.mantissa) << (self.exponent - exponent) }
    }
}

/// The least exponent, at most `start`. Zeros have none.
fn least_exponent(start: i64, numbers: impl IntoIterator<Item = Dyadic>) -> i64 {
    let exponents = numbers.into_iter().filter(|number| !number.is_zero()).map(|number| number.exponent);
    exponents.fold(start, i64::min)
}

fn network_scores(network: &Network, inputs: &[i32]) -> Option<Vec<BigInt>> {
    let numbers = inputs.iter().map(|&value| BigInt::from(value)).collect();
    let first = Values { numbers, exponent: 0, denominator: BigInt::from(1) };
    let mut all: Vec<Values> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let of = |source| match source {
            Source::Input => &first,
            Source::Node(node) => &all[node as usize],
        };
        let values = match node {
            Node::Layer { from, layer } => of(*from).layer(layer)?.activate(layer.activation())?,
            Node::Quotient { from, divisors } => of(*from).divide(divisors)?,
            Node::Maximum { left, right } => {
                let common = Common::of([of(*left), of(*right)]);
                let pairs = of(*left).numbers.iter().zip(&of(*right).numbers);
                let larger = |(a, b)| common.number(of(*left), a).max(common.number(of(*right), b));
                let numbers = pairs.map(larger).collect();
                common.values(numbers)
            }
            Node::Arrange { elements } => {
                let common = Common::of(elements.iter().map(|element| of(element.source)));
                let number =
                    |source, index: u32| common.number(of(source), &of(source).numbers[index as usize]);
                let numbers = elements.iter().map(|element| number(element.source, element.index)).collect();
                common.values(numbers)
            }
        };
        if values.is_excessive() {
            return None;
        }
        all.push(values);
    }
    all.pop().map(|values| values.numbers)
}

impl Values {
    fn is_excessive(&self) -> bool {
        let numbers = self.numbers.iter().chain([&self.denominator]);
        // The exponent too: later numbers are shifted by it.
        numbers.map(BigInt::bits).chain([self.exponent.unsigned_abs()]).any(|bits| bits > MOST_BITS)
    }

    /// The weighted sums of a layer.
    fn layer(&self, layer: &Layer) -> Option<Values> {
        let rows = (0..layer.neurons()).map(|neuron| {
            layer.row(neuron).map(|(input, weight)| Some((input, Dyadic::new(weight)?))).collect()
        });
        let rows: Vec<Vec<(usize, Dyadic)>> = rows.collect::<Option<_>>()?;
        let biases: Vec<Dyadic> =
            (0..layer.neurons()).map(|neuron| Dyadic::new(layer.bias(neuron))).collect::<Option<_>>()?;
        let weights = rows.iter().flatten().map(|&(_, weight)| weight);
        let unit = least_exponent(i64::MAX, weights);
        let unit = if unit == i64::MAX { 0 } else { unit };
        let exponent = least_exponent(self.exponent + unit, biases.iter().copied());
        let shift = self.exponent + unit - exponent;
        let neuron = |(row, bias): (&Vec<(usize, Dyadic)>, &Dyadic)| {
            let products = row.iter().map(|&(input, weight)| &self.numbers[input] * weight.over(unit));
            let sum: BigInt = products.sum();
            (sum << shift) + bias.over(exponent) * &self.denominator
        };
        let numbers = rows.iter().zip(&biases).map(neuron).collect();
        Some(Values { numbers, exponent, denominator: self.denominator.clone() })
    }

    fn activate(self, activation: Activation) -> Option<Values> {
        match activation {
            Activation::Identity => Some(self),
            Activation::Relu => {
                let numbers = self.numbers.into_iter().map(|number| number.max(BigInt::ZERO)).collect();
                Some(Values { numbers, ..self })
            }
            Activation::LeakyRelu { slope } => {
                let slope = Dyadic::new(slope)?;
                // The slope is at most 1, so its exponent is at most 0.
                let exponent = self.exponent + slope.exponent;
                let leak = |number: BigInt| {
                    if number < BigInt::ZERO { number * slope.mantissa } else { number << -slope.exponent }
                };
                Some(Values { numbers: self.numbers.into_iter().map(leak).collect(), exponent, ..self })
            }
            Activation::Clip { low, high } => Some(self.clip(Dyadic::new(low), Dyadic::new(high))),
            Activation::Tanh | Activation::Sigmoid | Activation::Elu { .. } => None,
        }
    }

    /// Cuts off below and above; infinite limits are `None`.
    fn clip(self, low: Option<Dyadic>, high: Option<Dyadic>) -> Values {
        let exponent = least_exponent(self.exponent, low.into_iter().chain(high));
        let limit = |limit: Dyadic| limit.over(exponent) * &self.denominator;
        let (low, high) = (low.map(limit), high.map(limit));
        let cut = |number: &BigInt| {
            let number = number << (self.exponent - exponent);
            let number = low.iter().fold(number, |number, low| number.max(low.clone()));
            high.iter().fold(number, |number, high| number.min(high.clone()))
        };
        let numbers = self.numbers.iter().map(cut).collect();
        Values { numbers, exponent, denominator: self.denominator }
    }

    /// Quotients; the denominator becomes a multiple of all odd parts of the divisors.
    fn divide(&self, divisors: &[Parameter]) -> Option<Values> {
        let divisors: Vec<Dyadic> = divisors.iter().map(|&d| Dyadic::new(d)).collect::<Option<_>>()?;
        let largest = divisors.iter().map(|divisor| divisor.exponent).max().unwrap_or(0);
        let mut factor = BigInt::from(1);
        for divisor in &divisors {
            factor = multiple(factor, &BigInt::from(divisor.mantissa.abs()));
        }
        let quotient = |(number, divisor): (&BigInt, &Dyadic)| {
            (number * (&factor / divisor.mantissa)) << (largest - divisor.exponent)
        };
        let numbers = self.numbers.iter().zip(&divisors).map(quotient).collect();
        Some(Values { numbers, exponent: self.exponent - largest, denominator: &self.denominator * factor })
    }
}

/// A multiple of both, `a` itself if it is one.
fn multiple(a: BigInt, b: &BigInt) -> BigInt {
    if &a % b == BigInt::ZERO { a } else { a * b }
}

/// An exponent and a denominator for the values of several nodes.
struct Common {
    exponent: i64,
    denominator: BigInt,
}

impl Common {
    fn of<'v>(nodes: impl IntoIterator<Item = &'v Values>) -> Common {
        let one = Common { exponent: i64::MAX, denominator: BigInt::from(1) };
        nodes.into_iter().fold(one, |common, values| Common {
            exponent: common.exponent.min(values.exponent),
            denominator: multiple(common.denominator, &values.denominator),
        })
    }

    /// One of the numbers of a node, for the common exponent and denominator.
    fn number(&self, values: &Values, number: &BigInt) -> BigInt {
        (number * (&self.denominator / &values.denominator)) << (values.exponent - self.exponent)
    }

    fn values(self, numbers: Vec<BigInt>) -> Values {
        Values { numbers, exponent: self.exponent, denominator: self.denominator }
    }
}

fn ensemble_scores(ensemble: &Ensemble, inputs: &[i32]) -> Option<Vec<BigInt>> {
    let leaves = ensemble.trees().iter().map(|tree| tree.values(leaf_of::<f64>(tree, inputs)));
    let terms = std::iter::once(ensemble.base()).chain(leaves);
    let terms = terms.map(|values| values.iter().map(|&value| Dyadic::new(value)).collect());
    let terms: Vec<Vec<Dyadic>> = terms.collect::<Option<_>>()?;
    let exponent = least_exponent(0, terms.iter().flatten().copied());
    let score = |output: usize| terms.iter().map(|values| values[output].over(exponent)).sum();
    Some((0..ensemble.outputs()).map(score).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Element;

    fn numbers(values: &[f64]) -> Vec<Parameter> {
        values.iter().map(|&value| Parameter::from(value)).collect()
    }

    fn dyadic(value: f64) -> Option<(i64, i64)> {
        Dyadic::new(Parameter::from(value)).map(|number| (number.mantissa, number.exponent))
    }

    #[test]
    fn doubles_are_dyadic() {
        assert_eq!(dyadic(0.0), Some((0, 0)));
        assert_eq!(dyadic(-6.0), Some((-3, 1)));
        assert_eq!(dyadic(0.375), Some((3, -3)));
        assert_eq!(dyadic(5e-324), Some((1, -1074)));
        assert_eq!(dyadic(f64::MAX), Some(((1 << 53) - 1, 971)));
        assert_eq!(dyadic(0.1), Some((3_602_879_701_896_397, -55)));
        assert_eq!((dyadic(f64::INFINITY), dyadic(f64::NAN)), (None, None));
    }

    /// Exact scores decide what no rounding to doubles could.
    fn decided(network: Network, inputs: &[i32]) -> Vec<usize> {
        let mut outputs = (0..network.outputs()).collect();
        decide(&Scorer::Network(network), inputs, &mut outputs);
        outputs
    }

    fn layer(inputs: usize, weights: &[f64], biases: &[f64], activation: Activation) -> Layer {
        Layer::new(inputs, numbers(weights), numbers(biases), activation).expect("well formed")
    }

    #[test]
    fn tiny_terms_decide() {
        // 1e300 + 1e-300 - 1e300, against 0 and against itself.
        let weights = [0.0, 0.0, 0.0, 1e300, 1e-300, -1e300, -1e300, 1e-300, 1e300];
        let network = Network::new(vec![layer(3, &weights, &[0.0; 3], Activation::Identity)]).expect("fits");
        assert_eq!(decided(network.clone(), &[1, 1, 1]), [1]);
        assert_eq!(decided(network.clone(), &[1, -1, 1]), [0]);
        assert_eq!(decided(network, &[0, 0, 0]), [0]);
    }

    #[test]
    fn thirds_add_up() {
        // x/3 + x/3 + x/3 ties with x, and wins against x - 2⁻¹⁰⁰⁰.
        let source = Source::Node;
        let element = |index| Element { source: source(1), index };
        let copy = |index| Element { source: Source::Input, index };
        let nodes = vec![
            Node::Arrange { elements: vec![copy(0); 4] },
            Node::Quotient { from: source(0), divisors: numbers(&[3.0, 6.0, -0.75, 1.0]) },
            Node::Arrange { elements: (0..4).map(element).collect() },
            Node::Layer {
                from: source(2),
                layer: layer(
                    4,
                    &[0.0, 0.0, 0.0, 1.0, 1.0, 2.0, -0.25, 0.0, 3.0, 0.0, 0.0, 0.0],
                    &[-2.0_f64.powi(-1000), 0.0, 0.0],
                    Activation::Identity,
                ),
            },
        ];
        let network = Network::from_nodes(1, nodes).expect("fits");
        for x in [-7, 0, 5] {
            assert_eq!(decided(network.clone(), &[x]), [1]);
        }
    }

    #[test]
    fn activations_are_exact() {
        let number = Parameter::from;
        for activation in [
            Activation::Identity,
            Activation::Relu,
            Activation::LeakyRelu { slope: number(0.1) },
            Activation::LeakyRelu { slope: number(0.0) },
            Activation::LeakyRelu { slope: number(1.0) },
            Activation::Clip { low: number(-0.75), high: number(f64::INFINITY) },
            Activation::Clip { low: number(f64::NEG_INFINITY), high: number(1.0 / 1024.0) },
            Activation::Clip { low: number(8.0), high: number(9.0) },
        ] {
            for quarters in [-4096, -3, 0, 1, 30, 34, 100] {
                // The quarters as multiples of 1/12. With slope 0.1 only the power of two is exact in double precision.
                let numbers = vec![BigInt::from(3 * quarters)];
                let values = Values { numbers, exponent: -2, denominator: BigInt::from(3) };
                let image = values.activate(activation).expect("of linear pieces");
                let rounded = crate::point::activate(activation, f64::from(quarters) / 4.0);
                let expected = Dyadic::new(number(rounded)).expect("finite");
                let exponent = least_exponent(image.exponent, [expected]);
                let exact = &image.numbers[0] << (image.exponent - exponent);
                let agrees = exact == expected.over(exponent) * &image.denominator;
                let is_rounded = activation == Activation::LeakyRelu { slope: number(0.1) } && quarters == -3;
                assert_eq!(agrees, !is_rounded, "{activation:?} at {quarters}/4");
            }
        }
        let curved = Network::new(vec![layer(1, &[1.0, 1.0], &[0.0, 0.0], Activation::Tanh)]).expect("fits");
        assert_eq!(decided(curved, &[1]), [0, 1]);
    }

    #[test]
    fn numbers_without_end_are_given_up() {
        let alternating = |index: usize| {
            layer(1, &[if index.is_multiple_of(2) { 1e300 } else { 1.1e-300 }], &[0.0], Activation::Identity)
        };
        let mut layers: Vec<Layer> = (0..10_000).map(alternating).collect();
        layers.push(layer(1, &[1.0, 1.0], &[0.0, 0.0], Activation::Identity));
        assert_eq!(decided(Network::new(layers).expect("fits"), &[1]), [0, 1]);
    }
}

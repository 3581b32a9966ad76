//! Hostile tests: networks of some size, scores that differ by less than rounding errors, numbers of all magnitudes, and
//! the limits of what the proofs cover. `claims` holds every statement of the bounder against all points.

mod claims;
mod extremes;
mod facts;
mod roundings;

use super::backward::Backward;
use super::bounds::{Arguments, Bounds, SlotBounds};
use super::graph::{Graph, Operation, Slot};
use crate::arithmetic::Arithmetic;
use crate::batch::InstructionSet;
use crate::certify::{Budget, Certifier, OutputSet, Possibility, Question};
use crate::layer::{Activation, Layer};
use crate::network::{Element, Network, Node, Source};
use crate::parameter::Parameter;
use crate::policy::PolicyInput;
use claims::{check_answers, check_bounds, check_claims, policy, policy_over};

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Between -1 and 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn numbers(&mut self, count: usize, scale: f64) -> Vec<Parameter> {
        (0..count).map(|_| Parameter::from(self.unit() * scale)).collect()
    }
}

/// Bounds that say of every value that it is 1.
fn ones(graph: &Graph) -> Vec<SlotBounds> {
    let slot = |slot: &Slot| {
        let ends = || vec![1.0; slot.size];
        SlotBounds { low: ends(), high: ends(), largest: 1.0, ..SlotBounds::default() }
    };
    graph.slots.iter().map(slot).collect()
}

fn numbers(values: &[f64]) -> Vec<Parameter> {
    values.iter().map(|&value| Parameter::from(value)).collect()
}

fn dense(inputs: usize, weights: &[f64], biases: &[f64], activation: Activation) -> Layer {
    Layer::new(inputs, numbers(weights), numbers(biases), activation).expect("well formed")
}

fn random_layer(inputs: usize, neurons: usize, activation: Activation, random: &mut Random) -> Layer {
    let scale = 2.0 / (inputs as f64).sqrt();
    let weights = random.numbers(inputs * neurons, scale);
    Layer::new(inputs, weights, random.numbers(neurons, 0.5), activation).expect("well formed")
}

fn any_activation(random: &mut Random) -> Activation {
    let number = Parameter::from;
    match random.below(7) {
        0 => Activation::Relu,
        1 => Activation::LeakyRelu { slope: number(0.1) },
        2 => Activation::Tanh,
        3 => Activation::Sigmoid,
        4 => Activation::Elu { scale: number([0.7, 1.0, 3.0][random.below(3)]) },
        5 => Activation::Clip { low: number(-0.5), high: number(1.0) },
        _ => Activation::Identity,
    }
}

#[test]
fn larger_networks() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        let activation =
            |random: &mut Random| if seed < 4 { Activation::Relu } else { any_activation(random) };
        let mut layers = Vec::new();
        let mut inputs = 5;
        for neurons in [30, 30, 30] {
            let activation = activation(&mut random);
            layers.push(random_layer(inputs, neurons, activation, &mut random));
            inputs = neurons;
        }
        layers.push(random_layer(inputs, 4, Activation::Identity, &mut random));
        let policy = policy(Network::new(layers).expect("fits"));
        let (lower, upper) = ([-3, 0, -1, 2, -7], [4, 6, 2, 5, 0]);
        assert!(check_claims(&policy, arithmetic, &lower, &upper) > 50, "something is claimed");
        check_bounds(&policy, arithmetic, &lower, &upper);
        // About 10⁵ points.
        check_answers(&policy, arithmetic, &[-9, 0, -1, 2, -12], &[9, 9, 9, 9, -7]);
    }
}

/// Their hidden values are bounded by parallel lines.
#[test]
fn wide_networks() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        let mut layers = Vec::new();
        let mut inputs = 5;
        for neurons in [70, 70, 70] {
            let activation = if seed < 4 { Activation::Relu } else { any_activation(&mut random) };
            layers.push(random_layer(inputs, neurons, activation, &mut random));
            inputs = neurons;
        }
        layers.push(random_layer(inputs, 4, Activation::Identity, &mut random));
        let policy = policy(Network::new(layers).expect("fits"));
        let (lower, upper) = ([-1, 0, -1, 2, -3], [1, 2, 1, 4, 0]);
        assert!(check_claims(&policy, arithmetic, &lower, &upper) > 10, "something is claimed");
        check_bounds(&policy, arithmetic, &lower, &upper);
    }
}

/// Blocks of neighbours are bounded straight from the weights; neurons that are far from each other are gathered.
#[test]
fn neurons_are_bounded_alike_alone_and_in_blocks() {
    for size in [32, 70, 120] {
        let mut random = Random(size as u64);
        let layers = [(5, size), (size, size), (size, size), (size, 4)];
        let layers = layers.map(|(inputs, size)| random_layer(inputs, size, Activation::Relu, &mut random));
        let network = Network::new(layers.into()).expect("fits");
        let graph = Graph::new(&network, Arithmetic::F64);
        for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            let (mut bounds, mut backward) = (Bounds::new(&graph), Backward::new(&graph, (0..5).collect()));
            let mut arguments = Arguments::default();
            bounds.compute(&graph, set, |_| (-1.0, 1.0), None, None, &mut arguments, &mut backward, true);
            let Operation::Layer(layer) = &graph.slots[3].operation else { panic!("a layer") };
            let mut refine = |open: &[u32]| {
                let (mut low, mut high) = (vec![f64::NEG_INFINITY; 120], vec![f64::INFINITY; 120]);
                let ends = (&mut low[..], &mut high[..]);
                backward.refine(&graph, set, &bounds.slots, (layer, &layer.biases), open, ends);
                (low, high)
            };
            let all: Vec<u32> = (0..size as u32).collect();
            let few: Vec<u32> = all.iter().copied().step_by(8).collect();
            let ((low, high), (few_low, few_high)) = (refine(&all), refine(&few));
            assert_eq!(few_low[1], f64::NEG_INFINITY, "gathered");
            for neuron in few.into_iter().map(|neuron| neuron as usize) {
                assert!(low[neuron] < high[neuron], "neuron {neuron} of {size}");
                assert!((low[neuron] - few_low[neuron]).abs() < 1e-9, "neuron {neuron} of {size}, {set}");
                assert!((high[neuron] - few_high[neuron]).abs() < 1e-9, "neuron {neuron} of {size}, {set}");
            }
        }
    }
}

/// Two outputs weigh the same hidden neurons by weights that differ by less than roundings do.
#[test]
fn scores_that_differ_by_roundings() {
    for seed in 0..160 {
        let mut random = Random(seed);
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        let unit = match arithmetic {
            Arithmetic::F64 | Arithmetic::Real => f64::EPSILON / 2.0,
            Arithmetic::F32 | Arithmetic::AnyF32 => f64::from(f32::EPSILON) / 2.0,
        };
        let neurons = 2 + random.below(20);
        let activation = any_activation(&mut random);
        let hidden = random_layer(2, neurons, activation, &mut random);
        let row: Vec<f64> = (0..neurons).map(|_| f64::from((random.unit() * 4.0) as f32)).collect();
        let steps = [0.5, 3.0, 20.0, 100.0, 400.0][random.below(5)] * unit;
        let mut nudged = |value: &f64| value + value * random.unit() * steps;
        let other: Vec<f64> = row.iter().map(&mut nudged).collect();
        let bias = random.unit() * steps;
        let last = dense(neurons, &[row, other].concat(), &[0.25, 0.25 + 0.25 * bias], Activation::Identity);
        let policy = policy(Network::new(vec![hidden, last]).expect("fits"));
        let (lower, upper) = ([-20, 3], [20, 12]);
        check_claims(&policy, arithmetic, &lower, &upper);
        check_bounds(&policy, arithmetic, &lower, &upper);
    }
}

/// A graph whose nodes read any nodes before them.
fn graph(inputs: usize, outputs: usize, scale: f64, random: &mut Random) -> Network {
    let mut sizes = vec![inputs];
    let mut nodes = Vec::new();
    let source = |index: usize| if index == 0 { Source::Input } else { Source::Node(index as u32 - 1) };
    for _ in 0..4 + random.below(8) {
        let index = if random.below(3) == 0 { random.below(sizes.len()) } else { sizes.len() - 1 };
        let (from, read) = (source(index), sizes[index]);
        let node = match random.below(7) {
            0 => {
                let element = |random: &mut Random| {
                    let index = random.below(sizes.len());
                    Element { source: source(index), index: random.below(sizes[index]) as u32 }
                };
                Node::Arrange { elements: (0..2 + random.below(8)).map(|_| element(random)).collect() }
            }
            1 | 2 => {
                let fitting: Vec<usize> = (0..sizes.len()).filter(|&other| sizes[other] == read).collect();
                Node::Maximum { left: from, right: source(fitting[random.below(fitting.len())]) }
            }
            3 => {
                let divisors = (0..read).map(|_| Parameter::from(0.3 + random.unit().abs())).collect();
                Node::Quotient { from, divisors }
            }
            4 => {
                let mut row = || {
                    let stored: Vec<u32> = (0..read as u32).filter(|_| random.below(2) == 0).collect();
                    stored.into_iter().map(|input| (input, Parameter::from(random.unit() * scale))).collect()
                };
                let rows: Vec<_> = (0..5).map(|_| row()).collect();
                let activation = any_activation(random);
                let layer = Layer::sparse(read, rows, random.numbers(5, scale), activation);
                Node::Layer { from, layer: layer.expect("rows ascend") }
            }
            _ => {
                let activation = any_activation(random);
                let weights = random.numbers(read * 6, scale);
                let layer = Layer::new(read, weights, random.numbers(6, scale), activation);
                Node::Layer { from, layer: layer.expect("well formed") }
            }
        };
        sizes.push(match &node {
            Node::Layer { layer, .. } => layer.neurons(),
            Node::Arrange { elements } => elements.len(),
            Node::Maximum { .. } | Node::Quotient { .. } => read,
        });
        nodes.push(node);
    }
    let last = sizes.len() - 1;
    let layer = random_layer(sizes[last], outputs, Activation::Identity, random);
    nodes.push(Node::Layer { from: source(last), layer });
    Network::from_nodes(inputs, nodes).expect("the sizes agree")
}

#[test]
fn deep_graphs() {
    for seed in 0..240 {
        let mut random = Random(seed + 1000);
        let scale = [1.0, 1.0, 3.0, 1e-3, 1e4, 1e-12][random.below(6)];
        let network = graph(3, 3, scale, &mut random);
        let inputs = (0..3).map(|input| {
            let variable = surefoot_model::VarId([0, 1, [1, 2][seed as usize % 2]][input]);
            crate::policy::PolicyInput::Variable(variable)
        });
        let policy = policy_over(network, inputs.collect());
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        let size = policy.variables().len();
        let (lower, upper) = ([-4, 2, -6], [7, 9, 3]);
        check_claims(&policy, arithmetic, &lower[..size], &upper[..size]);
        check_bounds(&policy, arithmetic, &lower[..size], &upper[..size]);
        check_answers(&policy, arithmetic, &lower[..size], &upper[..size]);
    }
}

/// Inputs beyond 2²⁴ are rounded in single precision.
#[test]
fn inputs_that_singles_cannot_hold() {
    for seed in 0..60 {
        let mut random = Random(seed + 5000);
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        let close = 1.0 + random.unit() * 1e-7;
        let first =
            dense(2, &[1.0, -close, -close, 1.0], &[random.unit() * 4.0, 0.0], any_activation(&mut random));
        let last = dense(2, &[1.0, 0.5, 0.5, 1.0], &[0.0, random.unit()], Activation::Identity);
        let policy = policy(Network::new(vec![first, last]).expect("fits"));
        let start = [1 << 24, (1 << 25) - 7, 1_000_000_007, i32::MAX - 14, i32::MIN][random.below(5)];
        let (lower, upper) = ([start, start + 2], [start + 14, start + 13]);
        check_claims(&policy, arithmetic, &lower, &upper);
        check_bounds(&policy, arithmetic, &lower, &upper);
    }
}

/// What is kept of a box is not taken for another one.
#[test]
fn boxes_are_not_confused() {
    let layers = vec![
        dense(1, &[1.0, -1.0], &[0.0, 200.0], Activation::Relu),
        dense(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0], Activation::Identity),
    ];
    let mut certifier = Certifier::new(&policy(Network::new(layers).expect("fits")), Arithmetic::F64);
    let competing = OutputSet::all(2);
    for lower in [0, 300, 0, 7, 300, 90, 7] {
        let upper = lower + 80;
        let bounds = certifier.score_bounds(&[lower], &[upper], 0);
        let is_near = |bound: f64, exact: i32| (bound - f64::from(exact)).abs() < 1e-9;
        assert!(is_near(bounds.lower, lower) && is_near(bounds.upper, upper), "{lower}: {bounds:?}");
        // The same box, then another one of the same shape.
        for lower in [lower, lower + 1] {
            let (ends, facts) = (([lower], [lower + 80]), []);
            let mut is_possible = |output| {
                let (lower, upper) = (&ends.0[..], &ends.1[..]);
                let question = Question { lower, upper, facts: &facts, output, competing: &competing };
                matches!(certifier.possible(&question, &Budget::UNLIMITED), Possibility::Possible(_))
            };
            assert_eq!(is_possible(0), lower + 80 >= 100, "{lower}");
            assert_eq!(is_possible(1), lower < 100, "{lower}");
        }
    }
}

/// A policy that reads no variable has one box, without dimensions.
#[test]
fn constant_inputs_have_bounds() {
    let network = Network::new(vec![dense(1, &[2.0, 3.0], &[0.5, 0.0], Activation::Identity)]).expect("fits");
    let policy = policy_over(network, vec![PolicyInput::Constant(4)]);
    let score = Certifier::new(&policy, Arithmetic::F64).score_bounds(&[], &[], 0);
    assert!(score.lower <= 8.5 && 8.5 <= score.upper && score.upper - score.lower < 1e-9, "{score:?}");
}

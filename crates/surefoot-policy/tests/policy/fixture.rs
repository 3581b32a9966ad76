//! A small transition system, readers over texts in memory, and random policies.

use std::path::Path;

use proptest::test_runner::{Config, RngSeed};
use surefoot_model::{
    InputError, Label, LabelId, Origin, Position, Scope, Symbol, TransitionSystem, VarId, Variable,
    VariableType,
};
use surefoot_policy::{
    Activation, Element, Ensemble, Layer, Network, Node, Parameter, Policy, PolicyInput, ReadOptions, Scorer,
    Source, Tree, TreeNode, parse,
};

/// Globals `x`, `b`, `a[0..3]`, `speed` (real); automaton `robot` as element 1 of the composition with local `y` and
/// a location; the labels `left`, `right` and `stay`.
pub fn system() -> TransitionSystem {
    let int = VariableType::Int { lower: -5, upper: 5 };
    let robot = || Some(Scope { automaton: "robot".into(), instance: 1 });
    let placed =
        |name: &str, scope, symbol| Variable { origin: Origin { scope, symbol }, ..Variable::new(name, int) };
    let mut variables = vec![Variable::new("x", int), Variable::new("b", VariableType::Bool)];
    variables.extend((0..3).map(|i| placed(&format!("a[{i}]"), None, Symbol::Element("a".into(), i))));
    variables.push(Variable::new("speed", VariableType::Real { lower: 0.0, upper: 1.0 }));
    variables.push(placed("robot.y", robot(), Symbol::Scalar("y".into())));
    variables.push(placed("robot.location", robot(), Symbol::Location));
    let labels = ["left", "right", "stay"].map(|name| Label { name: name.into() }).to_vec();
    TransitionSystem { name: "test".into(), variables, labels, ..TransitionSystem::default() }
}

/// Reads a policy from two texts; also gives the warnings.
pub fn read(interface: &str, scorer: &str) -> (Result<Policy, InputError>, Vec<InputError>) {
    let mut warnings = Vec::new();
    let path = Path::new("folder/policy.jani2nnet");
    let open = |_: &Path| Ok(scorer.as_bytes().to_vec());
    let policy = parse(path, interface, &system(), &ReadOptions::default(), open, &mut warnings);
    (policy, warnings)
}

/// Asserts that an error has this place and mentions these words.
#[track_caller]
pub fn assert_error(error: &InputError, line: u64, column: u64, words: &[&str]) {
    assert_eq!(error.position, Some(Position { line, column }), "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{error}\ndoes not mention {word:?}");
    }
}

/// A configuration of property tests that finds the same cases in every run.
pub fn seeded(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(20_240_607), failure_persistence: None, ..Config::default() }
}

/// Random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Between -1 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Which numbers a random policy is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// As training leaves them.
    Trained,
    /// Few different ones: many exact ties.
    Coarse,
    /// All magnitudes, subnormal and overflowing ones too.
    Extreme,
}

pub const FLAVOURS: [Flavour; 3] = [Flavour::Trained, Flavour::Coarse, Flavour::Extreme];

impl Flavour {
    pub fn parameter(self, random: &mut Random) -> Parameter {
        Parameter::from(match self {
            Flavour::Trained => 3.0 * random.unit(),
            Flavour::Coarse => (random.below(5) as f64 - 2.0) * 0.5,
            Flavour::Extreme => random.unit() * 10.0_f64.powi(random.below(90) as i32 - 48),
        })
    }

    pub fn input(self, random: &mut Random) -> i32 {
        match self {
            Flavour::Trained | Flavour::Coarse => random.below(21) as i32 - 10,
            Flavour::Extreme => match random.below(4) {
                0 => random.next() as i32,
                1 => 16_777_216 + random.below(9) as i32,
                2 => [i32::MIN, i32::MAX, 0][random.below(3)],
                _ => random.below(100) as i32,
            },
        }
    }
}

pub fn network(sizes: &[usize], flavour: Flavour, random: &mut Random) -> Network {
    let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
        let activation = if index + 2 == sizes.len() { Activation::Identity } else { Activation::Relu };
        let weights = (0..pair[0] * pair[1]).map(|_| flavour.parameter(random)).collect();
        let biases = (0..pair[1]).map(|_| flavour.parameter(random)).collect();
        Layer::new(pair[0], weights, biases, activation).expect("well formed")
    });
    Network::new(layers.collect()).expect("layers fit")
}

/// Any activation.
fn activation(flavour: Flavour, random: &mut Random) -> Activation {
    let size = |random: &mut Random| flavour.parameter(random).double.abs();
    match random.below(9) {
        0 => Activation::Identity,
        1 | 2 => Activation::Relu,
        3 => Activation::LeakyRelu { slope: Parameter::from(size(random).min(1.0)) },
        4 => Activation::Tanh,
        5 => Activation::Sigmoid,
        6 => Activation::Elu { scale: Parameter::from(size(random)) },
        _ => {
            let ends = [flavour.parameter(random).double, flavour.parameter(random).double];
            let low = if random.chance(20) { f64::NEG_INFINITY } else { ends[0].min(ends[1]) };
            let high = if random.chance(20) { f64::INFINITY } else { ends[0].max(ends[1]) };
            Activation::Clip { low: Parameter::from(low), high: Parameter::from(high) }
        }
    }
}

/// A layer of any kind.
fn layer(inputs: usize, neurons: usize, flavour: Flavour, random: &mut Random) -> Layer {
    let activation = activation(flavour, random);
    let biases = (0..neurons).map(|_| flavour.parameter(random)).collect();
    if random.chance(50) {
        let weights = (0..inputs * neurons).map(|_| flavour.parameter(random)).collect();
        return Layer::new(inputs, weights, biases, activation).expect("well formed");
    }
    let mut row = || {
        let density = random.below(101);
        let inputs: Vec<u32> = (0..inputs as u32).filter(|_| random.chance(density)).collect();
        inputs.into_iter().map(|input| (input, flavour.parameter(random))).collect()
    };
    let rows = (0..neurons).map(|_| row()).collect();
    Layer::sparse(inputs, rows, biases, activation).expect("well formed")
}

/// A network of nodes of all kinds, each reading any that were before it.
pub fn graph(inputs: usize, nodes: usize, outputs: usize, flavour: Flavour, random: &mut Random) -> Network {
    let mut made: Vec<Node> = Vec::new();
    let mut sizes: Vec<usize> = vec![inputs];
    let source = |place: usize| place.checked_sub(1).map_or(Source::Input, |node| Source::Node(node as u32));
    for node in 0..nodes {
        // Mostly the last node, so that graphs get deep.
        let from = if random.chance(60) { node } else { random.below(node + 1) };
        let size = sizes[from];
        let kind = if node + 1 == nodes { 9 } else { random.below(10) };
        let (node, size) = match kind {
            0..=2 => {
                let elements = (0..=random.below(10)).map(|_| {
                    let place = random.below(node + 1);
                    Element { source: source(place), index: random.below(sizes[place]) as u32 }
                });
                let elements: Vec<Element> = elements.collect();
                let size = elements.len();
                (Node::Arrange { elements }, size)
            }
            3 | 4 => {
                let partners: Vec<usize> = (0..=node).filter(|&place| sizes[place] == size).collect();
                let right = source(partners[random.below(partners.len())]);
                (Node::Maximum { left: source(from), right }, size)
            }
            5 => {
                // All single-precision divisors are numbers but 0.
                let mut divisor = || loop {
                    let divisor = flavour.parameter(random);
                    if divisor.single != 0.0 {
                        return divisor;
                    }
                };
                let divisors = (0..size).map(|_| divisor()).collect();
                (Node::Quotient { from: source(from), divisors }, size)
            }
            _ => {
                let neurons = if kind == 9 && node + 1 == nodes { outputs } else { 1 + random.below(8) };
                let layer = layer(size, neurons, flavour, random);
                (Node::Layer { from: source(from), layer }, neurons)
            }
        };
        made.push(node);
        sizes.push(size);
    }
    Network::from_nodes(inputs, made).expect("nodes fit")
}

/// A network whose outputs tie in exact arithmetic, so that rounding decides. Each neuron of its last hidden layer
/// has a copy, and each output divides the same weight between the two in another way.
pub fn near_ties(inputs: usize, outputs: usize, random: &mut Random) -> Network {
    const NEURONS: usize = 24;
    let hidden = network(&[inputs, 16, NEURONS], Flavour::Trained, random);
    let layers: Vec<&Layer> = hidden.layers().collect();
    let original = layers[1];
    let row = |neuron| original.weights(neuron % NEURONS).expect("dense").to_vec();
    let weights = (0..2 * NEURONS).flat_map(row).collect();
    let biases = (0..2 * NEURONS).map(|neuron| original.bias(neuron % NEURONS)).collect();
    let doubled = Layer::new(16, weights, biases, Activation::Relu).expect("well formed");
    // Few bits, so that all shares are exact.
    let weights: Vec<f64> = (0..NEURONS).map(|_| (random.unit() * 1024.0).round() / 1024.0).collect();
    let mut rows = Vec::new();
    for _ in 0..outputs {
        let shares: Vec<f64> = (0..NEURONS).map(|_| if random.chance(50) { 0.25 } else { 0.75 }).collect();
        let terms = || weights.iter().zip(&shares);
        rows.extend(terms().map(|(weight, share)| Parameter::from(weight * share)));
        rows.extend(terms().map(|(weight, share)| Parameter::from(weight * (1.0 - share))));
    }
    let biases = vec![Parameter::from(0.1); outputs];
    let last = Layer::new(2 * NEURONS, rows, biases, Activation::Identity).expect("well formed");
    Network::new(vec![layers[0].clone(), doubled, last]).expect("layers fit")
}

/// A network whose outputs have the same weights but for a difference that shrinks with `rarity`.
pub fn almost_equal_outputs(sizes: &[usize], rarity: i32, random: &mut Random) -> Network {
    let network = network(sizes, Flavour::Trained, random);
    let layers: Vec<&Layer> = network.layers().collect();
    let (last, hidden) = layers.split_last().expect("networks have layers");
    let mut weights = Vec::new();
    for _ in 0..last.neurons() {
        weights.extend(last.row(0).map(|(_, weight)| {
            Parameter::from(weight.double * (1.0 + random.unit() * 2.0_f64.powi(-rarity)))
        }));
    }
    let biases = vec![last.bias(0); last.neurons()];
    let last = Layer::new(last.inputs(), weights, biases, Activation::Identity).expect("well formed");
    Network::new(hidden.iter().copied().cloned().chain([last]).collect()).expect("layers fit")
}

pub fn ensemble(
    (inputs, outputs): (usize, usize),
    trees: usize,
    flavour: Flavour,
    random: &mut Random,
) -> Ensemble {
    let base = (0..outputs).map(|_| flavour.parameter(random)).collect();
    let trees = (0..trees).map(|_| tree((inputs, outputs), flavour, random)).collect();
    Ensemble::new(inputs, base, trees).expect("trees fit")
}

/// A tree grown by splitting leaves at random.
fn tree((inputs, outputs): (usize, usize), flavour: Flavour, random: &mut Random) -> Tree {
    let mut nodes = vec![TreeNode::Leaf(0)];
    for _ in 0..random.below(12) {
        let place = random.below(nodes.len());
        if let TreeNode::Leaf(_) = nodes[place] {
            let threshold = Parameter::from(f64::from(flavour.input(random)) + random.unit().round() * 0.5);
            let left = nodes.len() as u32;
            let feature = random.below(inputs) as u32;
            nodes[place] = TreeNode::Split { feature, threshold, left, right: left + 1 };
            nodes.extend([TreeNode::Leaf(0); 2]);
        }
    }
    // Some trees change a single output, as boosting makes them.
    let only = random.chance(50).then(|| random.below(outputs));
    let mut values = Vec::new();
    let mut leaves = 0;
    for node in &mut nodes {
        if let TreeNode::Leaf(leaf) = node {
            *leaf = leaves;
            leaves += 1;
            values.extend((0..outputs).map(|output| match only {
                Some(only) if only != output => Parameter::from(0.0),
                _ => flavour.parameter(random),
            }));
        }
    }
    Tree::new(outputs, nodes, values).expect("well formed")
}

/// A policy that reads one variable per input.
pub fn policy(scorer: Scorer) -> Policy {
    let inputs = (0..scorer.inputs()).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    let outputs = (0..scorer.outputs()).map(|output| LabelId(output as u32)).collect();
    Policy::new(inputs, outputs, false, scorer).expect("sizes fit")
}

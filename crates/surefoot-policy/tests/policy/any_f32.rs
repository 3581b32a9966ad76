//! Whatever order and operations a single-precision evaluation uses, `any-f32` has its scores and its choice.

use proptest::prelude::*;
use surefoot_policy::{
    Activation, Arithmetic, Ensemble, Layer, Network, Node, Parameter, Policy, Scorer, Source, Tree,
    TreeNode, point,
};

use crate::fixture::{FLAVOURS, Flavour, Random, ensemble, graph, near_ties, network, policy, seeded};

/// An evaluation in single precision that takes every freedom at random.
struct Freely<'r> {
    random: &'r mut Random,
    /// Chance in percent that a subnormal number is taken for zero.
    flush: usize,
}

impl Freely<'_> {
    fn flushed(&mut self, value: f32) -> f32 {
        if value.is_subnormal() && self.random.chance(self.flush) { 0.0 } else { value }
    }

    fn add(&mut self, a: f32, b: f32) -> f32 {
        let sum = self.flushed(a) + self.flushed(b);
        self.flushed(sum)
    }

    fn multiply(&mut self, a: f32, b: f32) -> f32 {
        let product = self.flushed(a) * self.flushed(b);
        self.flushed(product)
    }

    fn multiply_add(&mut self, a: f32, b: f32, c: f32) -> f32 {
        let fused = self.flushed(a).mul_add(self.flushed(b), self.flushed(c));
        self.flushed(fused)
    }

    /// Adds up products and single numbers in a random order and association.
    fn sum(&mut self, mut products: Vec<(f32, f32)>, mut numbers: Vec<f32>) -> f32 {
        // Some evaluations are sequential, some are random trees.
        let sequential = self.random.chance(50);
        loop {
            if !products.is_empty() && (numbers.len() < 2 || self.random.chance(60)) {
                let (a, b) = products.swap_remove(self.random.below(products.len()));
                let value = if numbers.is_empty() || self.random.chance(40) {
                    let product = self.multiply(a, b);
                    if self.random.chance(30) { self.add(0.0, product) } else { product }
                } else {
                    let place = if sequential { numbers.len() - 1 } else { self.random.below(numbers.len()) };
                    let other = numbers.swap_remove(place);
                    self.multiply_add(a, b, other)
                };
                numbers.push(value);
            } else if numbers.len() > 1 {
                let a = numbers.pop().expect("two numbers");
                let place = self.random.below(numbers.len());
                let b = numbers.swap_remove(place);
                let sum = self.add(a, b);
                numbers.push(sum);
            } else {
                return numbers.pop().expect("a sum has terms");
            }
        }
    }

    fn network(&mut self, network: &Network, inputs: &[i32]) -> Vec<f32> {
        let mut all: Vec<Vec<f32>> = vec![inputs.iter().map(|&value| value as f32).collect()];
        let place = |source| match source {
            Source::Input => 0,
            Source::Node(node) => node as usize + 1,
        };
        for node in network.nodes() {
            let values = match node {
                Node::Layer { from, layer } => {
                    let from = &all[place(*from)];
                    (0..layer.neurons()).map(|neuron| self.neuron(layer, neuron, from)).collect()
                }
                Node::Arrange { elements } => elements
                    .iter()
                    .map(|element| all[place(element.source)][element.index as usize])
                    .collect(),
                Node::Maximum { left, right } => {
                    let pairs = all[place(*left)].iter().zip(&all[place(*right)]);
                    pairs.map(|(&left, &right)| self.maximum(left, right)).collect()
                }
                Node::Quotient { from, divisors } => {
                    let pairs = all[place(*from)].iter().zip(divisors);
                    pairs.map(|(&value, divisor)| self.divide(value, divisor.single)).collect()
                }
            };
            all.push(values);
        }
        all.pop().expect("there are nodes")
    }

    fn neuron(&mut self, layer: &Layer, neuron: usize, from: &[f32]) -> f32 {
        let mut products: Vec<(f32, f32)> =
            layer.row(neuron).map(|(input, weight)| (weight.single, from[input])).collect();
        if layer.is_sparse() && self.random.chance(30) {
            // A library may store the layer densely.
            let missing = |input: &usize| !layer.row(neuron).any(|(other, _)| other == *input);
            products.extend((0..from.len()).filter(missing).map(|input| (0.0, from[input])));
        }
        let sum = self.sum(products, vec![layer.bias(neuron).single]);
        self.activate(layer.activation(), sum)
    }

    /// NaN comes out or not.
    fn maximum(&mut self, left: f32, right: f32) -> f32 {
        let (left, right) = (self.flushed(left), self.flushed(right));
        let greater = if left > right { left } else { right };
        if self.random.chance(50) { greater } else { left.max(right) }
    }

    fn divide(&mut self, value: f32, divisor: f32) -> f32 {
        let (value, divisor) = (self.flushed(value), self.flushed(divisor));
        if self.random.chance(50) {
            return self.flushed(value / divisor);
        }
        let reciprocal = self.flushed(1.0 / divisor);
        self.multiply(value, reciprocal)
    }

    /// A function as accurate as libraries are.
    fn inaccurate(&mut self, exact: f64, scale: f64) -> f32 {
        // The result is rounded once more, by less than the sixteenth of this error that is left.
        let error = 2.0_f64.powi(-20) * scale.max(1.0) * (15.0 / 16.0);
        (exact + error * self.random.unit()) as f32
    }

    fn activate(&mut self, activation: Activation, sum: f32) -> f32 {
        let sum = self.flushed(sum);
        let exact = f64::from(sum);
        match activation {
            Activation::Identity => sum,
            Activation::Relu => {
                if sum < 0.0 {
                    0.0
                } else {
                    sum
                }
            }
            Activation::LeakyRelu { slope } => {
                let product = self.multiply(slope.single, sum);
                if sum < 0.0 { product } else { sum }
            }
            Activation::Tanh => self.inaccurate(exact.tanh(), 1.0),
            Activation::Sigmoid => self.inaccurate(1.0 / (1.0 + (-exact).exp()), 1.0),
            Activation::Elu { scale } => {
                let scale = f64::from(scale.single);
                let image = self.inaccurate(scale * exact.exp_m1(), scale);
                if sum < 0.0 { image } else { sum }
            }
            Activation::Clip { low, high } => {
                let (low, high) = (self.flushed(low.single), self.flushed(high.single));
                if self.random.chance(50) { sum.max(low).min(high) } else { sum.min(high).max(low) }
            }
        }
    }

    fn ensemble(&mut self, ensemble: &Ensemble, inputs: &[i32]) -> Vec<f32> {
        let leaf = |output: usize| {
            let values = ensemble.trees().iter().map(move |tree| {
                let mut node = tree.nodes()[0];
                while let TreeNode::Split { feature, threshold, left, right } = node {
                    let below = (inputs[feature as usize] as f32) < threshold.single;
                    node = tree.nodes()[if below { left } else { right } as usize];
                }
                let TreeNode::Leaf(leaf) = node else { unreachable!("the walk ends in a leaf") };
                tree.values(leaf)[output].single
            });
            values.chain([ensemble.base()[output].single]).collect()
        };
        (0..ensemble.outputs()).map(|output| self.sum(Vec::new(), leaf(output))).collect()
    }

    fn scores(&mut self, policy: &Policy, inputs: &[i32]) -> Vec<f32> {
        match &policy.scorer {
            Scorer::Network(network) => self.network(network, inputs),
            Scorer::Ensemble(ensemble) => self.ensemble(ensemble, inputs),
        }
    }
}

fn choice(scores: &[f32], applicable: impl Fn(usize) -> bool) -> Option<usize> {
    let clean = |score: f32| if score.is_nan() { f32::NEG_INFINITY } else { score };
    let mut best: Option<usize> = None;
    for output in (0..scores.len()).filter(|&output| applicable(output)) {
        if best.is_none_or(|best| clean(scores[output]) > clean(scores[best])) {
            best = Some(output);
        }
    }
    best
}

/// Checks that free evaluations stay within the enclosures. Gives how many chose otherwise than double precision does.
fn check(policy: &Policy, flavour: Flavour, states: usize, random: &mut Random) -> usize {
    let mut surprises = 0;
    for _ in 0..states {
        let inputs: Vec<i32> = (0..policy.inputs.len()).map(|_| flavour.input(random)).collect();
        let enclosures = policy.scores(Arithmetic::AnyF32, &inputs);
        let mask = random.next() | random.next();
        let applicable = |output: usize| mask >> output & 1 == 1;
        let possible = policy.possible(Arithmetic::AnyF32, &inputs, applicable);
        let fixed = policy.possible(Arithmetic::F32, &inputs, applicable);
        assert!(fixed.iter().all(|output| possible.contains(output)), "{fixed:?} is not in {possible:?}");
        let double = policy.possible(Arithmetic::F64, &inputs, applicable);
        for _ in 0..8 {
            let flush = [0, 50, 100][random.below(3)];
            let scores = Freely { random, flush }.scores(policy, &inputs);
            for (score, enclosure) in scores.iter().zip(&enclosures) {
                let score = f64::from(*score);
                let inside = enclosure.lower <= score && score <= enclosure.upper;
                let unknown = enclosure.lower == f64::NEG_INFINITY && enclosure.upper == f64::INFINITY;
                assert!(inside || unknown, "{score} is not in {enclosure:?}");
            }
            let chosen = choice(&scores, applicable);
            assert!(
                chosen.is_none_or(|output| possible.contains(&output)),
                "{chosen:?} is not in {possible:?}"
            );
            surprises += usize::from(chosen != double.first().copied());
        }
    }
    surprises
}

fn flavour() -> impl Strategy<Value = Flavour> {
    prop::sample::select(&FLAVOURS[..])
}

proptest! {
    #![proptest_config(seeded(200))]

    #[test]
    fn networks(sizes in prop::collection::vec(1_usize..20, 2..5), flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Network(network(&sizes, flavour, &mut random)));
        check(&policy, flavour, 10, &mut random);
    }

    #[test]
    fn graphs(inputs in 1_usize..6, nodes in 1_usize..8, outputs in 1_usize..6, flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Network(graph(inputs, nodes, outputs, flavour, &mut random)));
        check(&policy, flavour, 10, &mut random);
    }

    #[test]
    fn ensembles(outputs in 2_usize..6, trees in 0_usize..40, flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Ensemble(ensemble((4, outputs), trees, flavour, &mut random)));
        check(&policy, flavour, 10, &mut random);
    }
}

#[test]
fn rounding_decides_near_ties_and_is_covered() {
    let mut random = Random(11);
    let mut surprises = 0;
    for _ in 0..30 {
        let policy = policy(Scorer::Network(near_ties(6, 4, &mut random)));
        surprises += check(&policy, Flavour::Trained, 20, &mut random);
    }
    // Without its error term, any-f32 would have missed these.
    assert!(surprises > 1000, "only {surprises} of 4800 evaluations differ");
}

#[test]
fn a_threshold_may_be_flushed_to_zero() {
    // 0 is below the threshold, unless that is taken for zero.
    for (threshold, expected) in [(1e-40, &[0, 1][..]), (2e-38, &[0]), (-1e-40, &[1]), (0.0, &[1])] {
        let split = TreeNode::Split { feature: 0, threshold: Parameter::from(threshold), left: 1, right: 2 };
        let values = [1.0, 0.0, 0.0, 1.0].map(Parameter::from).to_vec();
        let tree = Tree::new(2, vec![split, TreeNode::Leaf(0), TreeNode::Leaf(1)], values).expect("fits");
        let ensemble = Ensemble::new(1, vec![Parameter::from(0.0); 2], vec![tree]).expect("fits");
        let policy = policy(Scorer::Ensemble(ensemble));
        assert_eq!(policy.possible(Arithmetic::AnyF32, &[0], |_| true), expected);
        let mut evaluator = policy.evaluator(Arithmetic::AnyF32);
        evaluator.run(1, |_| &[0]);
        let mut found = Vec::new();
        evaluator.possible(0, |_| true, |output| found.push(output));
        assert_eq!(found, expected);
    }
}

#[test]
fn clear_decisions_stay_single() {
    let mut random = Random(12);
    let policy = policy(Scorer::Network(network(&[20, 32, 32, 7], Flavour::Trained, &mut random)));
    let several = (0..1000).filter(|_| {
        let inputs: Vec<i32> = (0..20).map(|_| Flavour::Trained.input(&mut random)).collect();
        policy.possible(Arithmetic::AnyF32, &inputs, |_| true).len() > 1
    });
    assert!(several.count() < 20);
}

#[test]
fn layer_values_match_by_hand() {
    // The definition in f32 and the free evaluation with one input agree: there is nothing to reorder but the bias.
    let mut random = Random(13);
    let network = network(&[1, 1], Flavour::Trained, &mut random);
    let value = point::network_values::<f32>(&network, &[3])[0];
    let layer = network.layers().next().expect("there is one");
    let weight = layer.weights(0).expect("dense")[0].single;
    assert_eq!(value, weight * 3.0 + layer.bias(0).single);
}

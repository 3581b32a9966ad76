//! Whatever order and operations a single-precision evaluation uses, `any-f32` has its scores and its choice.

use proptest::prelude::*;
use surefoot_policy::{
    Activation, Arithmetic, Ensemble, Network, Parameter, Policy, Scorer, Tree, TreeNode, point,
};

use crate::fixture::{FLAVOURS, Flavour, Random, ensemble, near_ties, network, policy, seeded};

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
        let mut values: Vec<f32> = inputs.iter().map(|&value| value as f32).collect();
        for layer in network.layers() {
            let neuron = |neuron| {
                let weights = layer.weights(neuron).iter().map(|weight| weight.single);
                let sum =
                    self.sum(weights.zip(values.iter().copied()).collect(), vec![layer.bias(neuron).single]);
                if layer.activation() == Activation::Relu && sum < 0.0 { 0.0 } else { sum }
            };
            values = (0..layer.neurons()).map(neuron).collect();
        }
        values
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
    let weight = network.layers()[0].weights(0)[0].single;
    assert_eq!(value, weight * 3.0 + network.layers()[0].bias(0).single);
}

//! The arithmetic `real`: enclosures hold the exact scores, and choices are those of exact scores.

use num_rational::BigRational;
use proptest::prelude::*;
use surefoot_policy::{
    Activation, Arithmetic, Ensemble, Layer, Network, Node, Parameter, Policy, Scorer, Source, TreeNode,
};

use crate::fixture::{FLAVOURS, Flavour, Random, ensemble, graph, near_ties, network, policy, seeded};

fn fraction(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

fn activate(activation: Activation, sum: BigRational) -> Option<BigRational> {
    let zero = fraction(0.0);
    match activation {
        Activation::Identity => Some(sum),
        Activation::Relu => Some(sum.max(zero)),
        Activation::LeakyRelu { slope } => Some(if sum < zero { sum * fraction(slope.double) } else { sum }),
        Activation::Clip { low, high } => {
            let sum = BigRational::from_float(low.double).map_or(sum.clone(), |low| sum.max(low));
            Some(BigRational::from_float(high.double).map_or(sum.clone(), |high| sum.min(high)))
        }
        Activation::Tanh | Activation::Sigmoid | Activation::Elu { .. } => None,
    }
}

fn neuron(layer: &Layer, neuron: usize, from: &[BigRational]) -> Option<BigRational> {
    let mut sum = fraction(layer.bias(neuron).double);
    for (input, weight) in layer.row(neuron) {
        sum += fraction(weight.double) * &from[input];
    }
    activate(layer.activation(), sum)
}

fn network_scores(network: &Network, inputs: &[i32]) -> Option<Vec<BigRational>> {
    let mut all: Vec<Vec<BigRational>> = vec![inputs.iter().map(|&value| fraction(value.into())).collect()];
    let place = |source| match source {
        Source::Input => 0,
        Source::Node(node) => node as usize + 1,
    };
    for node in network.nodes() {
        let values = match node {
            Node::Layer { from, layer } => {
                let from = &all[place(*from)];
                (0..layer.neurons()).map(|index| neuron(layer, index, from)).collect::<Option<_>>()?
            }
            Node::Arrange { elements } => {
                let copy = |source, index: u32| all[place(source)][index as usize].clone();
                elements.iter().map(|element| copy(element.source, element.index)).collect()
            }
            Node::Maximum { left, right } => {
                let pairs = all[place(*left)].iter().zip(&all[place(*right)]);
                pairs.map(|(left, right)| left.max(right).clone()).collect()
            }
            Node::Quotient { from, divisors } => {
                let pairs = all[place(*from)].iter().zip(divisors);
                pairs.map(|(value, divisor)| value / fraction(divisor.double)).collect()
            }
        };
        all.push(values);
    }
    all.pop()
}

fn ensemble_scores(ensemble: &Ensemble, inputs: &[i32]) -> Vec<BigRational> {
    let mut scores: Vec<BigRational> = ensemble.base().iter().map(|base| fraction(base.double)).collect();
    for tree in ensemble.trees() {
        let mut node = tree.nodes()[0];
        while let TreeNode::Split { feature, threshold, left, right } = node {
            let below = f64::from(inputs[feature as usize]) < threshold.double;
            node = tree.nodes()[if below { left } else { right } as usize];
        }
        let TreeNode::Leaf(leaf) = node else { unreachable!("the walk ends in a leaf") };
        for (score, value) in scores.iter_mut().zip(tree.values(leaf)) {
            *score += fraction(value.double);
        }
    }
    scores
}

/// Checks enclosures and choices. Gives how many choices differ from those of double precision.
fn check(policy: &Policy, flavour: Flavour, states: usize, random: &mut Random) -> usize {
    let mut surprises = 0;
    for _ in 0..states {
        let inputs: Vec<i32> = (0..policy.inputs.len()).map(|_| flavour.input(random)).collect();
        let exact = match &policy.scorer {
            Scorer::Network(network) => network_scores(network, &inputs),
            Scorer::Ensemble(ensemble) => Some(ensemble_scores(ensemble, &inputs)),
        };
        let Some(exact) = exact else { return 0 };
        let above = |end: f64, score: &BigRational| match BigRational::from_float(end) {
            Some(end) => *score <= end,
            None => end == f64::INFINITY,
        };
        for (score, enclosure) in exact.iter().zip(policy.scores(Arithmetic::Real, &inputs)) {
            assert!(above(enclosure.upper, score), "{score} is above {enclosure:?}");
            assert!(above(-enclosure.lower, &-score.clone()), "{score} is below {enclosure:?}");
        }
        let mask = random.next() | random.next();
        let applicable = |output: usize| mask >> output & 1 == 1;
        let mut best: Option<usize> = None;
        for output in (0..exact.len()).filter(|&output| applicable(output)) {
            if best.is_none_or(|best| exact[output] > exact[best]) {
                best = Some(output);
            }
        }
        let expected: Vec<usize> = best.into_iter().collect();
        assert_eq!(policy.possible(Arithmetic::Real, &inputs, applicable), expected);
        surprises += usize::from(policy.possible(Arithmetic::F64, &inputs, applicable) != expected);
    }
    surprises
}

fn flavour() -> impl Strategy<Value = Flavour> {
    prop::sample::select(&FLAVOURS[..])
}

proptest! {
    #![proptest_config(seeded(200))]

    #[test]
    fn networks(sizes in prop::collection::vec(1_usize..12, 2..5), flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Network(network(&sizes, flavour, &mut random)));
        check(&policy, flavour, 10, &mut random);
    }

    #[test]
    fn graphs(inputs in 1_usize..6, nodes in 1_usize..6, outputs in 1_usize..6, flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Network(graph(inputs, nodes, outputs, flavour, &mut random)));
        check(&policy, flavour, 5, &mut random);
    }

    #[test]
    fn ensembles(outputs in 2_usize..6, trees in 0_usize..20, flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Ensemble(ensemble((4, outputs), trees, flavour, &mut random)));
        check(&policy, flavour, 10, &mut random);
    }
}

#[test]
fn rounding_does_not_decide_ties() {
    let mut random = Random(21);
    let mut surprises = 0;
    for _ in 0..10 {
        let policy = policy(Scorer::Network(near_ties(6, 4, &mut random)));
        surprises += check(&policy, Flavour::Trained, 30, &mut random);
    }
    // Exact ties go to the lowest index; double precision decides them by its rounding errors.
    assert!(surprises > 100, "only {surprises} of 300 choices differ");
}

#[test]
fn parameters_are_doubles_and_not_their_text() {
    // As decimal numbers 0.1 + 0.2 ties with 0.3; as doubles it is more.
    let numbers = ["0.3", "0", "0.1", "0.2"].map(|text| Parameter::parse(text).expect("a number"));
    let biases = vec![Parameter::from(0.0); 2];
    let layer = Layer::new(2, numbers.to_vec(), biases, Activation::Identity).expect("well formed");
    let policy = policy(Scorer::Network(Network::new(vec![layer]).expect("fits")));
    assert_eq!(policy.possible(Arithmetic::Real, &[1, 1], |_| true), [1]);
    assert_eq!(policy.possible(Arithmetic::Real, &[0, 0], |_| true), [0]);
}

#[test]
fn curved_networks_have_narrow_enclosures() {
    let mut random = Random(22);
    let parameters =
        |count: usize, random: &mut Random| (0..count).map(|_| Flavour::Trained.parameter(random)).collect();
    for activation in [Activation::Tanh, Activation::Sigmoid, Activation::Elu { scale: Parameter::from(1.5) }]
    {
        let mut layer = |inputs, neurons, activation| {
            let weights = parameters(inputs * neurons, &mut random);
            Layer::new(inputs, weights, parameters(neurons, &mut random), activation).expect("well formed")
        };
        let layers =
            vec![layer(3, 16, activation), layer(16, 16, activation), layer(16, 4, Activation::Identity)];
        let policy = policy(Scorer::Network(Network::new(layers).expect("fits")));
        for _ in 0..100 {
            let inputs: Vec<i32> = (0..3).map(|_| Flavour::Trained.input(&mut random)).collect();
            let rounded = policy.scores(Arithmetic::F64, &inputs);
            for (score, rounded) in policy.scores(Arithmetic::Real, &inputs).into_iter().zip(rounded) {
                assert!(score.lower <= rounded.lower && rounded.upper <= score.upper);
                assert!(score.upper - score.lower < 1e-6, "{score:?}");
            }
        }
    }
    // What ties exactly stays open.
    let weights = vec![Parameter::from(0.5); 2];
    let last = Layer::new(1, weights, vec![Parameter::from(0.0); 2], Activation::Tanh).expect("well formed");
    let policy = policy(Scorer::Network(Network::new(vec![last]).expect("fits")));
    assert_eq!(policy.possible(Arithmetic::Real, &[3], |_| true), [0, 1]);
}

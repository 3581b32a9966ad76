//! Bounds of random networks against exact values and against the scores of each arithmetic.

use num_bigint::BigInt;
use num_rational::BigRational;
use surefoot_model::{LabelId, VarId};
use surefoot_policy::{Layer, Node, PolicyInput, Scorer};

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
        let width = [2, 2, 6][random.below(3) as usize];
        let part = Part(vec![(x, x + random.below(width) as i32), (y, y + random.below(width) as i32)]);
        let facts: Vec<Fact> = (0..random.below(3)).map(|_| fact(&part, &mut random)).collect();
        let listed: Vec<&Fact> = facts.iter().collect();
        let slots = bounds.forward((&part, &listed)).expect("no overflow");
        let difference = bounds.least(&slots, (&part, &listed), 3, [(0, 1.0), (1, -1.0)], 0.0).0;
        for state in states(&part).into_iter().filter(|state| facts.iter().all(|fact| holds(fact, state))) {
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

/// A random fact that holds in some states near the middle of a part.
fn fact(part: &Part, random: &mut Random) -> Fact {
    let factors = [0, 1].map(|variable| (variable, [1, -1, 2, -3, 1_000_000][random.below(5) as usize]));
    let middle = factors.map(|(variable, factor)| {
        let (lower, upper) = part.0[variable as usize];
        i64::from(factor) * i64::from(i32::midpoint(lower, upper))
    });
    Fact { terms: factors.to_vec(), limit: middle.iter().sum::<i64>() + random.below(3) as i64 - 1 }
}

fn holds(fact: &Fact, state: &[i32]) -> bool {
    let term = |&(variable, factor): &(u32, i32)| i64::from(factor) * i64::from(state[variable as usize]);
    fact.terms.iter().map(term).sum::<i64>() <= fact.limit
}

/// Large weights meet inputs near zero and factors of very different sizes, so that coefficients become large between two facts and then
/// cancel. One variable is read twice, one is not read.
#[test]
fn prices_pay_for_their_rounding() {
    let mut random = Random(1);
    let mut tighter = 0;
    for case in 0..20_000 {
        let size = [1.0, 9.0, 1e5, 9e15][random.below(4) as usize];
        let integer = |random: &mut Random| {
            let unit = (random.below(1 << 30) << 23 | random.below(1 << 23)) as f64 / (1_u64 << 53) as f64;
            Parameter::from(((unit * 2.0 - 1.0) * size).trunc())
        };
        let activation = [Activation::Relu, Activation::Identity][random.below(2) as usize];
        let weights: Vec<Parameter> = (0..4).map(|_| integer(&mut random)).collect();
        let first = Layer::new(4, weights, vec![integer(&mut random)], activation).expect("well formed");
        let [sign, zero] = [[1.0, -1.0][random.below(2) as usize], 0.0].map(Parameter::from);
        let last = Layer::new(1, vec![sign, zero], vec![zero; 2], Activation::Identity).expect("well formed");
        let network = Network::new(vec![first, last]).expect("fits");
        let inputs = [0, 1, 2, 1].map(|variable| PolicyInput::Variable(VarId(variable))).to_vec();
        let outputs = vec![LabelId(0), LabelId(1)];
        let policy = Policy::new(inputs, outputs, false, Scorer::Network(network.clone())).expect("fits");
        let bounds = Bounds::new(&policy, &network, Arithmetic::Real);
        let part = Part(Vec::from([(); 4].map(|()| {
            let lower = [0, 0, -1, -1, 3, 1_000_003][random.below(6) as usize];
            (lower, lower + [0, 1, 2, 2][random.below(4) as usize])
        })));
        let all = states(&part);
        let state = &all[random.below(all.len() as u64) as usize];
        let facts: Vec<Fact> = (0..=random.below(5)).map(|_| wild_fact(state, &mut random)).collect();
        let listed: Vec<&Fact> = facts.iter().collect();
        let least = |facts: &[&Fact]| {
            let slots = bounds.forward((&part, facts)).expect("no overflow");
            bounds.least(&slots, (&part, facts), 2, [(0, 1.0), (1, -1.0)], 0.0)
        };
        let slots = bounds.forward((&part, &listed)).expect("no overflow");
        let (least_difference, slopes) = least(&listed);
        tighter += usize::from(least_difference > least(&[]).0);
        for state in all.iter().filter(|state| facts.iter().all(|fact| holds(fact, state))) {
            let exact_values = values(&network, &[state[0], state[1], state[2], state[1]]);
            let (sums, _) = &exact_values[0];
            let bound = &slots[1].sums[0];
            assert!(
                exact(bound.lower) <= sums[0] && sums[0] <= exact(bound.upper),
                "case {case} at {state:?}: {} is not in {bound:?}",
                sums[0]
            );
            let (_, scores) = &exact_values[1];
            let difference = &scores[0] - &scores[1];
            // Away from where it is least, the linear function grows by its slopes.
            let growth = |((slope, &value), &(lower, upper)): ((&f64, &i32), &(i32, i32))| {
                let from = if *slope >= 0.0 { lower } else { upper };
                exact(*slope) * BigRational::from_integer(BigInt::from(value - from))
            };
            let growths = slopes.iter().zip(state).zip(&part.0).map(growth);
            let function = exact(least_difference) + growths.sum::<BigRational>();
            assert!(function <= difference, "case {case} at {state:?}: {difference} is below {function}");
        }
    }
    assert!(tighter > 3000, "facts tighten only {tighter} bounds");
}

/// A fact that holds at a state, with factors of all sizes.
fn wild_fact(state: &[i32], random: &mut Random) -> Fact {
    const FACTORS: [i32; 12] = [0, 0, 0, 0, 1, -1, 3, -7, 1_000_003, -999_983, i32::MAX, i32::MIN];
    let terms: Vec<(u32, i32)> =
        (0..state.len() as u32).map(|variable| (variable, FACTORS[random.below(12) as usize])).collect();
    let products = terms.iter().zip(state).map(|(term, &value)| i64::from(term.1) * i64::from(value));
    let limit = products.sum();
    Fact { terms, limit }
}

fn states(part: &Part) -> Vec<Vec<i32>> {
    let mut states = vec![Vec::new()];
    for &(lower, upper) in &part.0 {
        let longer = |state: &Vec<i32>| {
            let with = |value| state.iter().copied().chain([value]).collect();
            (lower..=upper).map(with).collect::<Vec<_>>()
        };
        states = states.iter().flat_map(longer).collect();
    }
    states
}

#[test]
fn facts_make_bounds_tighter() {
    // The two scores are x and y, both between 0 and 9; the least difference is -9, and with x + y ≥ 10 it is -8.
    let identity = {
        let number = |value: f64| Parameter::from(value);
        let weights = [1.0, 0.0, 0.0, 1.0].map(number).to_vec();
        Layer::new(2, weights, vec![number(0.0); 2], Activation::Relu).expect("well formed")
    };
    let nodes = vec![Node::Layer { from: Source::Input, layer: identity }];
    let network = Network::from_nodes(2, nodes).expect("fits");
    let inputs = vec![PolicyInput::Variable(VarId(0)), PolicyInput::Variable(VarId(1))];
    let policy = Policy::new(inputs, vec![LabelId(0), LabelId(1)], false, Scorer::Network(network.clone()));
    let policy = policy.expect("fits");
    let bounds = Bounds::new(&policy, &network, Arithmetic::F64);
    let part = Part(vec![(0, 9), (0, 9)]);
    let least = |facts: &[&Fact]| {
        let slots = bounds.forward((&part, facts)).expect("no overflow");
        bounds.least(&slots, (&part, facts), 1, [(0, 1.0), (1, -1.0)], 0.0).0
    };
    let near = |found: f64, expected: f64| found <= expected && expected - found < 1e-9;
    assert!(near(least(&[]), -9.0));
    let fact = |terms, limit| Fact { terms, limit };
    assert!(near(least(&[&fact(vec![(0, -1), (1, -1)], -10)]), -8.0));
    assert!(near(least(&[&fact(vec![(0, -2), (1, 1)], 3)]), -6.0));
    assert!(near(least(&[&fact(vec![(0, 1), (1, -1)], 3)]), -9.0));
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
    let divisors = ["3", "-0.7", ["1e-5", "1e-39"][usize::from(random.below(20) == 0)]].map(number).to_vec();
    let mut nodes = vec![
        Node::Layer { from: Source::Input, layer: layer(2, 3, first, random) },
        Node::Quotient { from: Source::Node(0), divisors },
        Node::Maximum { left: Source::Node(0), right: Source::Node(1) },
        Node::Layer { from: Source::Node(2), layer: layer(3, 3, second, random) },
        Node::Layer { from: Source::Node(3), layer: layer(3, 2, Activation::Identity, random) },
    ];
    nodes.truncate(1 + random.below(5) as usize);
    if random.below(6) == 0 {
        nodes = vec![Node::Quotient { from: Source::Input, divisors: ["3", "-0.7"].map(number).to_vec() }];
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
            let Some(slots) = Bounds::new(&policy, network, arithmetic).forward((&part, &[])) else {
                continue;
            };
            bounded += 1;
            for (score, bound) in policy.scores(arithmetic, &state).iter().zip(&slots[slots.len() - 1].values)
            {
                let reach = bound.deviation + SLACK * (bound.magnitude() + bound.deviation);
                let within = bound.lower - reach <= score.lower && score.upper <= bound.upper + reach;
                assert!(within, "{arithmetic}: {score:?} in {bound:?}, {network:?}");
            }
        }
    }
    assert!(bounded > 70_000, "only {bounded} of 80,000 were bounded");
}

/// Facts about variables that the policy does not read do not take the place of those that help.
#[test]
fn facts_about_what_is_not_read_take_no_room() {
    let number = |value: f64| Parameter::from(value);
    let weights = [1.0, 0.0, 0.0, 1.0].map(number).to_vec();
    let layer = Layer::new(2, weights, vec![number(0.0); 2], Activation::Relu).expect("well formed");
    let network = Network::new(vec![layer]).expect("fits");
    let inputs = vec![PolicyInput::Variable(VarId(0)), PolicyInput::Variable(VarId(1))];
    let outputs = vec![LabelId(0), LabelId(1)];
    let policy = Policy::new(inputs, outputs, false, Scorer::Network(network.clone())).expect("fits");
    let bounds = Bounds::new(&policy, &network, Arithmetic::F64);
    let part = Part(vec![(0, 9); 4]);
    let mut facts: Vec<Fact> =
        (0..FACTS as i64).map(|more| Fact { terms: vec![(2, 1), (3, 1)], limit: 10 + more }).collect();
    facts.push(Fact { terms: vec![(0, 1), (1, -1)], limit: -1 });
    // The scores are x and y, and x < y: the first output is never chosen.
    let mut open = vec![0];
    let _ = bounds.beaten(&part, &facts, &mut open, &[true, true], &[0.0, 9.0]);
    assert!(open.is_empty());
}

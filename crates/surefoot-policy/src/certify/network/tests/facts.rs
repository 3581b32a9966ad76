//! Facts tighten bounds, and only for the states where they hold.

use num_rational::BigRational;
use surefoot_model::VarId;

use super::claims::{check_claims_with, policy};
use super::{Random, any_activation, dense, random_layer};
use crate::arithmetic::Arithmetic;
use crate::batch::InstructionSet;
use crate::certify::network::NetworkBounder;
use crate::certify::network::backward::{Backward, ScoreFunction};
use crate::certify::network::bounds::{Arguments, Bounds, SlotBounds};
use crate::certify::network::facts::Facts;
use crate::certify::network::graph::Graph;
use crate::certify::network::lanes::Constants;
use crate::certify::network::rounding::UNIT;
use crate::certify::points::Points;
use crate::certify::search::{End, Search};
use crate::certify::space::Space;
use crate::certify::{Budget, Certifier, Fact, OutputSet, Possibility, Question};
use crate::layer::Activation;
use crate::network::Network;
use crate::policy::Scorer;

fn fact(terms: &[(u32, i32)], at_most: i64) -> Fact {
    Fact { terms: terms.iter().map(|&(variable, factor)| (VarId(variable), factor)).collect(), at_most }
}

/// A fact over all variables that holds at a point of a box, and often at few others.
fn fact_at(point: &[i32], factors: &[i32], random: &mut Random) -> Fact {
    let terms: Vec<(u32, i32)> =
        (0..point.len()).map(|variable| (variable as u32, factors[random.below(factors.len())])).collect();
    let sum: i64 =
        terms.iter().map(|&(variable, factor)| i64::from(factor) * i64::from(point[variable as usize])).sum();
    fact(&terms, sum + random.below(3) as i64)
}

fn point_of(lower: &[i32], upper: &[i32], random: &mut Random) -> Vec<i32> {
    let value = |(&lower, &upper): (&i32, &i32)| lower + random.below((upper - lower) as usize + 1) as i32;
    lower.iter().zip(upper).map(value).collect()
}

/// Small networks are bounded by the tightest lines, wide ones by parallel lines, to which prices must not be added.
#[test]
fn claims_hold_where_facts_do() {
    let mut claims = 0;
    for seed in 0..60 {
        let mut random = Random(seed);
        let width = if seed % 6 == 0 { 70 } else { 12 };
        let mut layers = Vec::new();
        let mut inputs = 5;
        for _ in 0..3 {
            let activation = if seed % 2 == 0 { Activation::Relu } else { any_activation(&mut random) };
            layers.push(random_layer(inputs, width, activation, &mut random));
            inputs = width;
        }
        layers.push(random_layer(inputs, 4, Activation::Identity, &mut random));
        let policy = policy(Network::new(layers).expect("fits"));
        let (lower, upper) = ([-1, 0, -1, 2, -3], [1, 3, 2, 4, 0]);
        let point = point_of(&lower, &upper, &mut random);
        let facts: Vec<Fact> =
            (0..=random.below(3)).map(|_| fact_at(&point, &[-2, -1, 0, 1, 1, 3], &mut random)).collect();
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        claims += check_claims_with(&policy, arithmetic, &lower, &upper, &facts);
    }
    assert!(claims > 1000, "only {claims} claims");
}

/// The states of a box where facts hold.
fn states(lower: &[i32], upper: &[i32], facts: &[Fact]) -> Vec<Vec<i32>> {
    let mut states = vec![Vec::new()];
    for (&lower, &upper) in lower.iter().zip(upper) {
        let longer = |state: &Vec<i32>| {
            let with = |value| state.iter().copied().chain([value]).collect();
            (lower..=upper).map(with).collect::<Vec<_>>()
        };
        states = states.iter().flat_map(longer).collect();
    }
    states.retain(|state| facts.iter().all(|fact| fact.holds(state)));
    states
}

/// A neuron with integer weights, so that its sums are known exactly.
struct Neuron {
    weights: Vec<f64>,
    bias: f64,
}

impl Neuron {
    /// Most weights have 53 bits. Where inputs have one value, what is folded into the bias often cancels.
    fn any(lower: &[i32], upper: &[i32], random: &mut Random) -> Neuron {
        let size = [1.0, 8.0, 1e5, 9e15][random.below(4)];
        let mut weights: Vec<f64> = lower.iter().map(|_| (random.unit() * size).trunc()).collect();
        let mut bias = (random.unit() * size).trunc();
        let fixed: Vec<usize> =
            (0..lower.len()).filter(|&input| lower[input] == upper[input] && lower[input] != 0).collect();
        if random.below(2) == 0 {
            match fixed[..] {
                [] => {}
                [only] => {
                    weights[only] = (random.unit() * 9e15 / f64::from(lower[only])).trunc();
                    bias = (random.unit() * 9.0).trunc() - weights[only] * f64::from(lower[only]);
                }
                [first, second, ..] => {
                    weights[first] = (random.unit() * 1e9).trunc() * f64::from(lower[second]);
                    weights[second] = -weights[first] / f64::from(lower[second]) * f64::from(lower[first]);
                }
            }
        }
        Neuron { weights, bias }
    }

    fn sum(&self, state: &[i32]) -> i128 {
        let products = state.iter().zip(&self.weights);
        products.map(|(&value, &weight)| i128::from(value) * weight as i128).sum::<i128>() + self.bias as i128
    }
}

/// Factors of very different sizes make coefficients that are large between two facts and then cancel.
#[test]
fn bounds_with_prices_pay_for_their_rounding() {
    let set = InstructionSet::best();
    let mut tighter = 0;
    for seed in 0..60_000 {
        let mut random = Random(seed);
        let inputs = 2 + random.below(4);
        let lower: Vec<i32> =
            (0..inputs).map(|_| [0, 0, -1, -1, -1, 3, 5, 1_000_003, -7_000_001][random.below(9)]).collect();
        let upper: Vec<i32> = lower.iter().map(|lower| lower + [0, 1, 2, 2][random.below(4)]).collect();
        let neuron = Neuron::any(&lower, &upper, &mut random);
        let activation = [Activation::Relu, Activation::Identity][random.below(2)];
        let sign = [1.0, -1.0][random.below(2)];
        let layers = vec![
            dense(inputs, &neuron.weights, &[neuron.bias], activation),
            dense(1, &[sign, 0.0], &[0.0; 2], Activation::Identity),
        ];
        let policy = policy(Network::new(layers.clone()).expect("fits"));
        let graph = Graph::new(&Network::new(layers).expect("fits"), Arithmetic::F64);
        let point = point_of(&lower, &upper, &mut random);
        let factors = [0, 0, 0, 0, 1, -1, 3, -7, 1_000_003, -999_983, 2_000_000_011, -1_999_999_973];
        let facts: Vec<Fact> =
            (0..=random.below(6)).map(|_| fact_at(&point, &factors, &mut random)).collect();

        let bounded = |facts: &[Fact]| {
            let first_inputs: Vec<u32> = (0..inputs as u32).collect();
            let (mut bounds, mut backward) =
                (Bounds::new(&graph), Backward::new(&graph, first_inputs.clone()));
            let mut space = Space::new(&policy);
            let competing = OutputSet::all(2);
            space.load(&Question { lower: &lower, upper: &upper, facts, output: 0, competing: &competing });
            backward.facts.load(&space, &lower, &upper, &first_inputs);
            let ends = |input: usize| (f64::from(lower[input]), f64::from(upper[input]));
            let mut arguments = Arguments::default();
            bounds.compute(&graph, set, ends, None, None, &mut arguments, &mut backward, true);
            let function = ScoreFunction { plus: Some(0), minus: None };
            backward.scores(&graph, set, &bounds.slots, std::iter::once(function));
            (bounds.slots[1].low[0], bounds.slots[1].high[0], backward.minimum(0))
        };
        let (low, high, minimum) = bounded(&facts);
        tighter += usize::from(minimum > bounded(&[]).2);
        for state in states(&lower, &upper, &facts) {
            let sum = neuron.sum(&state);
            let value = if matches!(activation, Activation::Relu) { sum.max(0) } else { sum };
            let score = sign as i128 * value;
            // Numbers are integers, so a bound is below one if its next integer is.
            assert!(
                low.ceil() as i128 <= value && high.floor() as i128 >= value,
                "seed {seed} at {state:?}: {value} is not between {low} and {high}"
            );
            assert!(
                minimum.ceil() as i128 <= score,
                "seed {seed} at {state:?}: {score} is not above {minimum}"
            );
        }
    }
    assert!(tighter > 6000, "facts tighten only {tighter} bounds");
}

/// What facts are added to stays below the function wherever they hold, up to the roundings that are charged.
#[test]
fn prices_keep_functions_below() {
    const LANES: usize = 2;
    let rational = |value: f64| BigRational::from_float(value).expect("finite");
    let of = |value: i32| rational(f64::from(value));
    let mut priced = 0;
    for seed in 0..5000 {
        let mut random = Random(seed);
        let inputs = 2 + random.below(3);
        let lower: Vec<i32> = (0..inputs).map(|_| [0, -1, -1, 3, 1_000_003][random.below(5)]).collect();
        let upper: Vec<i32> = lower.iter().map(|lower| lower + [0, 1, 2, 2][random.below(4)]).collect();
        let slot = SlotBounds {
            low: lower.iter().map(|&end| end.into()).collect(),
            high: upper.iter().map(|&end| end.into()).collect(),
            ..SlotBounds::default()
        };
        let number = |random: &mut Random| random.unit() * [1.0, 1e6, 1e16][random.below(3)];
        let before: Vec<f64> = (0..inputs * LANES).map(|_| number(&mut random)).collect();
        let constant = number(&mut random);
        let mut constants = Constants {
            low: vec![constant; LANES],
            high: Vec::new(),
            magnitude: vec![constant.abs(); LANES],
        };
        for (place, coefficient) in before.iter().enumerate() {
            let input = place / LANES;
            constants.magnitude[place % LANES] += coefficient.abs() * slot.high[input].max(-slot.low[input]);
        }
        let point = point_of(&lower, &upper, &mut random);
        let factors = [0, 0, 0, 1, -1, 3, -7, 1_000_003, -2_000_000_011];
        let listed: Vec<Fact> =
            (0..=random.below(4)).map(|_| fact_at(&point, &factors, &mut random)).collect();
        let layer = dense(inputs, &vec![0.0; inputs], &[0.0], Activation::Identity);
        let mut space = Space::new(&policy(Network::new(vec![layer]).expect("fits")));
        let competing = OutputSet::all(1);
        let (lower, upper) = (&lower[..], &upper[..]);
        space.load(&Question { lower, upper, facts: &listed, output: 0, competing: &competing });
        let mut facts = Facts::default();
        facts.load(&space, lower, upper, &(0..inputs as u32).collect::<Vec<_>>());
        let mut after = before.clone();
        facts.price(&slot, LANES, &mut after, &mut constants);
        priced += usize::from(facts.are_used);

        for state in states(lower, upper, &listed) {
            for lane in 0..LANES {
                let sum = |coefficients: &[f64], is_moving: bool| {
                    let moves = |input: &usize| !is_moving || lower[*input] < upper[*input];
                    let term = |input: usize| rational(coefficients[input * LANES + lane]) * of(state[input]);
                    (0..inputs).filter(moves).map(term).sum::<BigRational>()
                };
                // What is fixed has its coefficient as before.
                let change = sum(&after, true) - sum(&before, true) + rational(constants.low[lane])
                    - rational(constant);
                let charged = rational(Facts::ROUNDINGS as f64 * UNIT) * rational(constants.magnitude[lane]);
                assert!(change <= charged, "seed {seed} at {state:?}: {change} is more than {charged}");
            }
        }
    }
    assert!(priced > 1500, "only {priced} functions have prices");
}

#[test]
fn facts_with_another_limit_are_others() {
    let layer = dense(2, &[0.0; 2], &[0.0], Activation::Identity);
    let mut space = Space::new(&policy(Network::new(vec![layer]).expect("fits")));
    let (competing, ends) = (OutputSet::all(1), ([0, 0], [9, 9]));
    let mut facts = Facts::default();
    let mut load = |listed: &[Fact]| {
        space.load(&Question {
            lower: &ends.0,
            upper: &ends.1,
            facts: listed,
            output: 0,
            competing: &competing,
        });
        facts.load(&space, &ends.0, &ends.1, &[0, 1])
    };
    let sum = |limit| [fact(&[(0, 1), (1, 1)], limit)];
    assert!(!load(&[]));
    assert!(load(&sum(9)));
    assert!(!load(&sum(9)));
    assert!(load(&sum(10)));
    assert!(load(&[]));
    // What doubles cannot hold is left out.
    assert!(!load(&sum(i64::MAX)));
}

/// What is kept of a box is not taken for the same box with other facts.
#[test]
fn facts_are_not_confused() {
    let layers = vec![
        dense(2, &[1.0, 1.0, -1.0, -1.0], &[-99.5, 99.5], Activation::Relu),
        dense(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0], Activation::Identity),
    ];
    let mut certifier = Certifier::new(&policy(Network::new(layers).expect("fits")), Arithmetic::F64);
    let competing = OutputSet::all(2);
    // Output 0 is chosen where x + y > 99, output 1 where it is not.
    let at_most = |limit| vec![fact(&[(0, 1), (1, 1)], limit)];
    let at_least = |limit: i64| vec![fact(&[(0, -1), (1, -1)], -limit)];
    let choices = [
        (vec![], [true, true]),
        (at_most(99), [false, true]),
        (at_most(100), [true, true]),
        (at_least(100), [true, false]),
        (at_least(99), [true, true]),
    ];
    let mut random = Random(0);
    for _ in 0..400 {
        let (facts, expected) = &choices[random.below(choices.len())];
        let output = random.below(2);
        let question = Question { lower: &[0, 0], upper: &[99, 99], facts, output, competing: &competing };
        match random.below(3) {
            // A dominator is one in the whole box, and bounds are those of the whole box.
            0 => assert_eq!(certifier.dominator(&question), None, "{output} with {facts:?}"),
            1 => {
                let bounds = certifier.score_bounds(&[0, 0], &[99, 99], 0);
                assert!(bounds.lower <= 0.0 && bounds.upper >= 98.5, "{bounds:?}");
            }
            _ => {
                let answer = certifier.possible(&question, &Budget::UNLIMITED);
                let is_possible = matches!(answer, Possibility::Possible(_));
                assert_eq!(is_possible, expected[output], "{output} with {facts:?}");
            }
        }
    }
}

/// Questions one after the other, some of them twice, also with facts about variables that the policy does not read. What is said to hold
/// without facts, since it is kept for other questions, holds without facts.
#[test]
fn answers_in_a_row_hold_where_facts_do() {
    let (mut nevers, mut without_facts) = (0, 0);
    for seed in 0..600 {
        let mut random = Random(seed);
        let (read, outputs) = (2 + random.below(2), 2 + random.below(3));
        let variables = read + random.below(2);
        let hidden = 1 + random.below(8);
        let activation = [Activation::Relu, Activation::Relu, any_activation(&mut random)][random.below(3)];
        let layers = vec![
            random_layer(read, hidden, activation, &mut random),
            random_layer(hidden, outputs, Activation::Identity, &mut random),
        ];
        let policy = policy(Network::new(layers).expect("fits"));
        let arithmetic = Arithmetic::ALL[seed as usize % 4];
        let lower: Vec<i32> = (0..variables).map(|_| random.below(5) as i32 - 4).collect();
        let upper: Vec<i32> = lower.iter().map(|lower| lower + [3, 9, 14][random.below(3)]).collect();
        let facts_of = |random: &mut Random| -> Vec<Fact> {
            let point = point_of(&lower, &upper, random);
            let mut facts: Vec<Fact> =
                (0..random.below(3)).map(|_| fact_at(&point, &[-2, -1, 0, 1, 1, 3], random)).collect();
            for fact in &mut facts {
                fact.at_most += [0, 5, 10][random.below(3)];
            }
            facts
        };
        let choices = [facts_of(&mut random), facts_of(&mut random)];
        let chosen: Vec<(Vec<i32>, Vec<usize>)> = states(&lower, &upper, &[])
            .into_iter()
            .map(|state| (policy.possible(arithmetic, &state, |_| true), state))
            .map(|(outputs, state)| (state, outputs))
            .collect();

        let Scorer::Network(network) = &policy.scorer else { panic!("a network") };
        let space = Space::new(&policy);
        let origins = space.inputs(&policy);
        let mut bounder = NetworkBounder::new(network, arithmetic, &origins);
        let mut search = Search::new(space, Points::new(&policy, arithmetic, origins));
        let competing = OutputSet::all(outputs);
        for _ in 0..12 {
            let facts = &choices[random.below(2)];
            let output = random.below(outputs);
            let question = Question { lower: &lower, upper: &upper, facts, output, competing: &competing };
            let mut last = None;
            for _ in 0..=random.below(2) {
                let is_never = search.run(&mut bounder, &question, &Budget::UNLIMITED) == End::Never;
                let used_facts = search.used_facts;
                assert!(last.is_none_or(|last| last == (is_never, used_facts)), "seed {seed}: {question:?}");
                last = Some((is_never, used_facts));
                let is_chosen = |(state, outputs): &(Vec<i32>, Vec<usize>)| {
                    outputs.contains(&output) && facts.iter().all(|fact| fact.holds(state))
                };
                assert_eq!(is_never, !chosen.iter().any(is_chosen), "seed {seed}: {question:?}");
                nevers += usize::from(is_never);
                if is_never && !used_facts && search.load(&question) {
                    without_facts += usize::from(!facts.is_empty());
                    let (lower, upper) = search.ends();
                    let is_inside = |state: &[i32]| {
                        (0..read).all(|input| lower[input] <= state[input] && state[input] <= upper[input])
                    };
                    let any =
                        chosen.iter().find(|(state, outputs)| outputs.contains(&output) && is_inside(state));
                    assert_eq!(any, None, "seed {seed}: {question:?}");
                }
            }
        }
    }
    assert!(
        nevers > 1000 && without_facts > 100,
        "{nevers} times never, {without_facts} of them without facts"
    );
}

/// Whether facts were used is said of this question, not of the box that was asked about before.
#[test]
fn facts_that_another_box_needed_are_not_used_here() {
    let layers = vec![
        dense(2, &[1.0, 1.0, -1.0, -1.0], &[-99.5, 99.5], Activation::Relu),
        dense(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0], Activation::Identity),
    ];
    let policy = policy(Network::new(layers).expect("fits"));
    let Scorer::Network(network) = &policy.scorer else { panic!("a network") };
    let space = Space::new(&policy);
    let origins = space.inputs(&policy);
    let mut bounder = NetworkBounder::new(network, Arithmetic::F64, &origins);
    let mut search = Search::new(space, Points::new(&policy, Arithmetic::F64, origins));
    let competing = OutputSet::all(2);
    let facts = [fact(&[(0, 1), (1, 1)], 99)];
    // Output 0 is chosen where x + y > 99. In the smaller box there is no such state, fact or not.
    for (end, is_used) in [(99, true), (40, false), (99, true), (99, true)] {
        let (lower, upper) = ([0, 0], [end, end]);
        let question =
            Question { lower: &lower, upper: &upper, facts: &facts, output: 0, competing: &competing };
        assert_eq!(search.run(&mut bounder, &question, &Budget::UNLIMITED), End::Never);
        assert_eq!(search.used_facts, is_used, "up to {end}");
    }
}

/// Facts that contradict each other can be clipped towards each other for so long that clipping gives up just before it sees that.
#[test]
fn facts_that_contradict_each_other_leave_nothing() {
    let layers = vec![
        dense(3, &[1.0, 1.0, 1.0, 1.0, -1.0, 0.0], &[0.0, 0.0], Activation::Relu),
        dense(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0], Activation::Identity),
    ];
    let policy = policy(Network::new(layers).expect("fits"));
    // y ≤ x and x < y
    let facts = [fact(&[(0, -1), (1, 1)], 0), fact(&[(0, 1), (1, -1)], -1)];
    // Without a rival, the output is chosen wherever there is a state.
    let mut competing = OutputSet::new();
    competing.insert(0);
    for end in 1..200 {
        let (lower, upper) = ([0; 3], [end, end, 99]);
        let question =
            Question { lower: &lower, upper: &upper, facts: &facts, output: 0, competing: &competing };
        let mut certifier = Certifier::new(&policy, Arithmetic::F64);
        let answer = certifier.possible(&question, &Budget::UNLIMITED);
        assert!(matches!(answer, Possibility::Never(_)), "up to {end}: {answer:?}");
    }
}

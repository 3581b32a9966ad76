//! Facts tighten bounds, and only for the states where they hold.

use surefoot_model::VarId;

use super::claims::{check_claims_with, policy};
use super::{Random, any_activation, dense, random_layer};
use crate::arithmetic::Arithmetic;
use crate::batch::InstructionSet;
use crate::certify::network::backward::{Backward, ScoreFunction};
use crate::certify::network::bounds::{Arguments, Bounds};
use crate::certify::network::graph::Graph;
use crate::certify::space::Space;
use crate::certify::{Budget, Certifier, Fact, OutputSet, Possibility, Question};
use crate::layer::Activation;
use crate::network::Network;

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

/// Weights are integers, most of which have 53 bits, so that sums are known exactly. Factors of very different sizes make coefficients that are large between two facts and
/// then cancel.
#[test]
fn bounds_with_prices_pay_for_their_rounding() {
    const INPUTS: usize = 3;
    let set = InstructionSet::best();
    let mut tighter = 0;
    for seed in 0..30_000 {
        let mut random = Random(seed);
        let weight = |random: &mut Random| {
            let size = [1.0, 3.0, 1e6, 9e15][random.below(4)];
            (random.unit() * size).trunc()
        };
        let weights: Vec<f64> = (0..2 * INPUTS).map(|_| weight(&mut random)).collect();
        let biases = [weight(&mut random), weight(&mut random)];
        let activation = [Activation::Relu, Activation::Identity][random.below(2)];
        let first = dense(INPUTS, &weights, &biases, activation);
        let last = [[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0]][random.below(3)];
        let network =
            Network::new(vec![first, dense(2, &last, &[0.0; 2], Activation::Identity)]).expect("fits");
        let lower: Vec<i32> =
            (0..INPUTS).map(|_| [0, 1, -2, 1_000_003, -7_000_001][random.below(5)]).collect();
        let upper: Vec<i32> = lower.iter().map(|lower| lower + random.below(4) as i32).collect();
        let point = point_of(&lower, &upper, &mut random);
        let factors = [1, -1, 3, -7, 1_000_003, -999_983, 2_000_000_011, -1_999_999_973];
        let facts: Vec<Fact> =
            (0..=random.below(3)).map(|_| fact_at(&point, &factors, &mut random)).collect();

        let policy = policy(network.clone());
        let graph = Graph::new(&network, Arithmetic::F64);
        let function = ScoreFunction { plus: Some(0), minus: Some(1) };
        let inputs: Vec<u32> = (0..INPUTS as u32).collect();
        let bounded = |facts: &[Fact]| {
            let (mut bounds, mut backward) = (Bounds::new(&graph), Backward::new(&graph, inputs.clone()));
            let mut space = Space::new(&policy);
            let competing = OutputSet::all(2);
            let ends = (&lower[..], &upper[..]);
            space.load(&Question { lower: ends.0, upper: ends.1, facts, output: 0, competing: &competing });
            backward.facts.load(&space, ends.0, ends.1, &inputs);
            let input = |input: usize| (f64::from(lower[input]), f64::from(upper[input]));
            let mut arguments = Arguments::default();
            bounds.compute(&graph, set, input, None, None, &mut arguments, &mut backward, true);
            backward.scores(&graph, set, &bounds.slots, std::iter::once(function));
            (bounds, backward.minimum(0))
        };
        let (bounds, minimum) = bounded(&facts);
        tighter += usize::from(minimum > bounded(&[]).1);

        // Numbers are integers, so a bound is below one if its next integer is.
        let is_below = |bound: f64, exact: i128| bound.ceil() as i128 <= exact;
        let is_above = |bound: f64, exact: i128| bound.floor() as i128 >= exact;
        for states in 0..4_i32.pow(INPUTS as u32) {
            let state: Vec<i32> =
                (0..INPUTS).map(|input| lower[input] + (states >> (2 * input)) % 4).collect();
            let is_inside = state.iter().zip(&upper).all(|(value, upper)| value <= upper);
            if !is_inside || !facts.iter().all(|fact| fact.holds(&state)) {
                continue;
            }
            let value = |neuron: usize| {
                let products = state.iter().zip(&weights[neuron * INPUTS..]);
                let sum: i128 =
                    products.map(|(&value, &weight)| i128::from(value) * weight as i128).sum::<i128>()
                        + biases[neuron] as i128;
                if matches!(activation, Activation::Relu) { sum.max(0) } else { sum }
            };
            let values = [value(0), value(1)];
            for (neuron, &value) in values.iter().enumerate() {
                let (low, high) = (bounds.slots[1].low[neuron], bounds.slots[1].high[neuron]);
                assert!(
                    is_below(low, value) && is_above(high, value),
                    "seed {seed}, neuron {neuron} at {state:?}: {value} is not between {low} and {high}"
                );
            }
            let score = |row: &[f64]| row[0] as i128 * values[0] + row[1] as i128 * values[1];
            let exact = score(&last[..2]) - score(&last[2..]);
            assert!(is_below(minimum, exact), "seed {seed} at {state:?}: {exact} is not above {minimum}");
        }
    }
    assert!(tighter > 3000, "facts tighten only {tighter} bounds");
}

/// What is kept of a box is not taken for the same box with other facts.
#[test]
fn facts_are_not_confused() {
    let layers = vec![
        dense(2, &[1.0, 1.0, -1.0, -1.0], &[-4.5, 4.5], Activation::Relu),
        dense(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0], Activation::Identity),
    ];
    let mut certifier = Certifier::new(&policy(Network::new(layers).expect("fits")), Arithmetic::F64);
    let competing = OutputSet::all(2);
    // Output 0 is chosen where x + y > 4, output 1 where it is not.
    let (few, many) = (fact(&[(0, 1), (1, 1)], 4), fact(&[(0, -1), (1, -1)], -5));
    let choices = [(vec![], [true, true]), (vec![few], [false, true]), (vec![many], [true, false])];
    for index in [0, 1, 2, 1, 0, 2, 0, 1, 1, 2] {
        let (facts, expected) = &choices[index];
        let question =
            |output| Question { lower: &[0, 0], upper: &[4, 4], facts, output, competing: &competing };
        for output in [0, 1] {
            let answer = certifier.possible(&question(output), &Budget::UNLIMITED);
            assert_eq!(
                matches!(answer, Possibility::Possible(_)),
                expected[output],
                "{output} with {facts:?}"
            );
            // A dominator is one in the whole box.
            assert_eq!(certifier.dominator(&question(output)), None, "{output} with {facts:?}");
            let bounds = certifier.score_bounds(&[0, 0], &[4, 4], 0);
            assert!(bounds.lower <= 0.0 && bounds.upper >= 3.5, "{bounds:?}");
        }
    }
}

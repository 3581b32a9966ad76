//! Batches give what the definition gives, bit for bit, in all arithmetics and on all instruction sets.

use proptest::prelude::*;
use surefoot_model::VarId;
use surefoot_policy::{Arithmetic, InstructionSet, Policy, PolicyInput, Scorer};

use crate::fixture::{
    FLAVOURS, Flavour, Random, almost_equal_outputs, ensemble, graph, near_ties, network, policy, seeded,
};

/// Compares a batch of random states with the definition.
fn compare(policy: &Policy, count: usize, flavour: Flavour, random: &mut Random) {
    let variables = policy.variables().iter().map(|variable| variable.index() + 1).max().unwrap_or(0);
    let columns: Vec<Vec<i32>> =
        (0..variables).map(|_| (0..count).map(|_| flavour.input(random)).collect()).collect();
    let masks: Vec<u64> = (0..count).map(|_| random.next()).collect();
    let state_of = |state: usize| columns.iter().map(|column| column[state]).collect::<Vec<i32>>();
    for arithmetic in Arithmetic::ALL {
        let possible = |state: &[i32], mask: u64| {
            (mask, policy.possible(arithmetic, state, |output| mask >> output & 1 == 1))
        };
        let expect = |state: usize| {
            let values = state_of(state);
            let choices = [u64::MAX, masks[state], 0].map(|mask| possible(&values, mask));
            (policy.scores(arithmetic, &values), choices)
        };
        let expected: Vec<_> = (0..count).map(expect).collect();
        for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            for evaluator in [policy.evaluator(arithmetic), policy.scoring_evaluator(arithmetic)] {
                let mut evaluator = evaluator.with_instruction_set(set).expect("available");
                // The second run must not see anything of the first.
                for _ in 0..2 {
                    evaluator.run(count, |input| match policy.inputs[input] {
                        PolicyInput::Variable(variable) => &columns[variable.index()],
                        PolicyInput::Constant(_) => unreachable!("constants have no column"),
                    });
                }
                for (state, (scores, choices)) in expected.iter().enumerate() {
                    for (output, &score) in scores.iter().enumerate() {
                        let computed = evaluator.score(state, output);
                        assert!(computed.is_none_or(|computed| computed == score), "{arithmetic} on {set}");
                    }
                    for (mask, possible) in choices {
                        let applicable = |output: usize| mask >> output & 1 == 1;
                        let mut found = Vec::new();
                        evaluator.possible(state, applicable, |output| found.push(output));
                        assert_eq!(found, *possible, "{arithmetic} on {set}");
                        assert!(found.len() <= 1 || !arithmetic.has_single_choice());
                    }
                }
                if arithmetic.has_single_choice() {
                    let best: Vec<_> = (0..count).map(|state| evaluator.best(state, |_| true)).collect();
                    let choices: Vec<_> =
                        evaluator.choices().iter().map(|&output| Some(output as usize)).collect();
                    assert_eq!(choices, best);
                }
            }
        }
    }
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..13, 2..5)
}

fn count() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(1), Just(7), Just(64), Just(65), Just(1000)]
}

fn flavour() -> impl Strategy<Value = Flavour> {
    prop::sample::select(&FLAVOURS[..])
}

proptest! {
    #![proptest_config(seeded(150))]

    #[test]
    fn networks(sizes in sizes(), flavour in flavour(), count in count(), seed: u64) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Network(network(&sizes, flavour, &mut random)));
        compare(&policy, count, flavour, &mut random);
    }

    #[test]
    fn graphs(
        inputs in 1_usize..6,
        nodes in 1_usize..12,
        outputs in 1_usize..6,
        flavour in flavour(),
        count in count(),
        seed: u64,
    ) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Network(graph(inputs, nodes, outputs, flavour, &mut random)));
        compare(&policy, count, flavour, &mut random);
    }

    #[test]
    fn ensembles(
        inputs in 1_usize..6,
        outputs in 2_usize..6,
        trees in 0_usize..8,
        flavour in flavour(),
        count in count(),
        seed: u64,
    ) {
        let mut random = Random(seed);
        let policy = policy(Scorer::Ensemble(ensemble((inputs, outputs), trees, flavour, &mut random)));
        compare(&policy, count, flavour, &mut random);
    }

    #[test]
    fn constant_inputs(sizes in sizes(), flavour in flavour(), seed: u64) {
        let mut random = Random(seed);
        let constants: Vec<Option<i32>> =
            (0..sizes[0]).map(|_| random.chance(50).then(|| flavour.input(&mut random))).collect();
        let policy = policy(Scorer::Network(network(&sizes, flavour, &mut random)));
        let folded = policy.map_inputs(|variable| match constants[variable.index()] {
            Some(value) => PolicyInput::Constant(value),
            None => PolicyInput::Variable(VarId(variable.0 / 2)),
        });
        compare(&folded, 70, flavour, &mut random);
    }
}

#[test]
fn larger_networks() {
    let mut random = Random(3);
    for sizes in [&[20, 32, 32, 7][..], &[3, 65, 33, 2], &[40, 64, 64, 64, 9]] {
        let policy = policy(Scorer::Network(network(sizes, Flavour::Trained, &mut random)));
        compare(&policy, 200, Flavour::Trained, &mut random);
    }
}

/// Screening in single precision must never change a choice, least of all where rounding decides it.
#[test]
fn screened_states_near_ties() {
    let mut random = Random(5);
    let mut close = 0;
    for round in 0..50 {
        let network = match round % 5 {
            0 => near_ties(6, 4, &mut random),
            1 => network(&[6, 12, 4], Flavour::Coarse, &mut random),
            2 => network(&[6, 12, 10, 5], Flavour::Trained, &mut random),
            _ => almost_equal_outputs(&[6, 10, 4], round, &mut random),
        };
        let policy = policy(Scorer::Network(network));
        let mut evaluator = policy.evaluator(Arithmetic::F64);
        for _ in 0..20 {
            let columns: Vec<Vec<i32>> =
                (0..6).map(|_| (0..1000).map(|_| Flavour::Trained.input(&mut random)).collect()).collect();
            evaluator.run(1000, |input| &columns[input]);
            for state in 0..1000 {
                let values: Vec<i32> = columns.iter().map(|column| column[state]).collect();
                let mask = random.next() | random.next();
                let applicable = |output: usize| mask >> output & 1 == 1;
                let expected = policy.possible(Arithmetic::F64, &values, applicable);
                assert_eq!(evaluator.best(state, applicable), expected.first().copied(), "{values:?}");
                close += usize::from(policy.possible(Arithmetic::F32, &values, applicable) != expected);
            }
        }
    }
    assert!(close > 10_000, "single precision must be wrong for the test to mean something: {close}");
}

#[test]
fn smaller_batches_after_larger_ones() {
    let mut random = Random(4);
    let policy = policy(Scorer::Network(network(&[2, 4, 3], Flavour::Trained, &mut random)));
    let column: Vec<i32> = (0..500).collect();
    let mut evaluator = policy.evaluator(Arithmetic::F64);
    for count in [500, 3, 130, 0, 64] {
        evaluator.run(count, |_| &column);
        assert_eq!(evaluator.choices().len(), count);
        for state in 0..count {
            let expected = policy.possible(Arithmetic::F64, &[state as i32; 2], |_| true);
            assert_eq!(evaluator.best(state, |_| true), Some(expected[0]));
        }
    }
}

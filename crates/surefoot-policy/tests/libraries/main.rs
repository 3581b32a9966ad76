//! Compares scores with those of the libraries that made the policies: bit for bit where the library adds in a known
//! order or sums are exact, elsewhere by the enclosures of `any-f32`.
//!
//! The fixtures lie next to this file, see `README.md`. The environment variable `SUREFOOT_LIBRARIES` names another
//! folder with fixtures; `bench/libraries` makes one.

mod fixture;

use fixture::{Case, Fixture};
use surefoot_policy::{Activation, Arithmetic, Evaluator, Network, Scorer};

/// States that are evaluated at once.
const BATCH: usize = 8;

#[test]
fn scores_are_those_of_the_library() {
    for Fixture { name, arithmetic, policy, cases, .. } in fixture::all().into_iter().filter(|f| f.exact) {
        for Case { state, scores, .. } in cases {
            let ours = policy.scores(arithmetic, &state);
            // The sign of a zero is no part of a score.
            let same = |ours: f64, theirs: f64| (ours + 0.0).to_bits() == (theirs + 0.0).to_bits();
            let all = scores.iter().zip(&ours).all(|(s, o)| s.is_none_or(|s| same(o.lower, s)));
            assert!(all, "{name} at {state:?}: {ours:?} instead of {scores:?}");
        }
    }
}

/// Runs the evaluator on all states in batches, and gives it with each case and the case's index in the batch.
fn evaluate(fixture: &Fixture, arithmetic: Arithmetic, check: impl Fn(&mut Evaluator, usize, &Case)) {
    let Fixture { policy, cases, .. } = fixture;
    let column = |input: usize| cases.iter().map(|case| case.state[input]).collect::<Vec<_>>();
    let columns: Vec<_> = (0..policy.inputs.len()).map(column).collect();
    let mut evaluator = policy.evaluator(arithmetic);
    for (from, batch) in (0..).step_by(BATCH).zip(cases.chunks(BATCH)) {
        evaluator.run(batch.len(), |input| &columns[input][from..from + batch.len()]);
        for (index, case) in batch.iter().enumerate() {
            check(&mut evaluator, index, case);
        }
    }
}

/// The first of the highest scores, if all are known.
fn highest(scores: &[Option<f64>]) -> Option<usize> {
    let known: Option<Vec<f64>> = scores.iter().copied().collect();
    let best = known.as_ref()?.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    known?.iter().position(|&score| score == best)
}

#[test]
fn choices_are_those_of_the_library() {
    for fixture in fixture::all() {
        let Fixture { name, arithmetic, exact, .. } = &fixture;
        evaluate(&fixture, *arithmetic, |evaluator, index, Case { state, scores, choice }| {
            let best = evaluator.best(index, |_| true);
            let by_scores = highest(scores).filter(|_| *exact);
            assert!(!exact || by_scores.or(*choice).is_some(), "{name} at {state:?} has no choice");
            for expected in [by_scores, *choice].into_iter().flatten() {
                assert_eq!(best, Some(expected), "{name} at {state:?}");
            }
        });
    }
}

#[test]
fn any_f32_allows_the_choices_of_libraries_in_single_precision() {
    for fixture in fixture::all().iter().filter(|f| f.arithmetic != Arithmetic::F64) {
        evaluate(fixture, Arithmetic::AnyF32, |evaluator, index, Case { state, scores, choice }| {
            let mut possible = Vec::new();
            evaluator.possible(index, |_| true, |output| possible.push(output));
            let chosen = highest(scores).or(*choice).expect("a choice");
            assert!(possible.contains(&chosen), "{} at {state:?}: {chosen} in {possible:?}", fixture.name);
        });
    }
}

#[test]
fn enclosures_hold_the_scores_of_libraries_in_single_precision() {
    for Fixture { name, policy, cases, .. } in
        fixture::all().into_iter().filter(|f| f.arithmetic != Arithmetic::F64)
    {
        for Case { state, scores, .. } in cases {
            let ours = policy.scores(Arithmetic::F32, &state);
            let enclosures = policy.scores(Arithmetic::AnyF32, &state);
            for (output, enclosure) in enclosures.iter().enumerate() {
                for score in [scores[output], Some(ours[output].lower)].into_iter().flatten() {
                    let holds = enclosure.lower <= score && score <= enclosure.upper;
                    assert!(holds, "{name} at {state:?}, output {output}: {score} in {enclosure:?}");
                    // The enclosure must mean something.
                    let width = enclosure.upper - enclosure.lower;
                    assert!(width <= 1e-2 * score.abs().max(1.0), "{name} at {state:?}: {enclosure:?}");
                }
            }
        }
    }
}

fn network(name: &str) -> Network {
    match fixture::named(name).policy.scorer {
        Scorer::Network(network) => network,
        Scorer::Ensemble(_) => panic!("{name} is a network"),
    }
}

#[test]
fn what_was_trained_with_masks_chooses_among_applicable_labels() {
    for Fixture { name, policy, .. } in fixture::all() {
        assert_eq!(policy.filter, name.contains("maskable"), "{name}");
    }
}

#[test]
fn perceptrons_of_onnx_are_chains_of_dense_layers() {
    let network = network("onnx-mlp-relu-0");
    assert_eq!(network.sizes(), [6, 32, 32, 4]);
    let chain = network.chain().expect("a chain");
    assert!(chain.iter().all(|layer| !layer.is_sparse()));
    assert_eq!(chain[1].activation(), Activation::Relu);
}

#[test]
fn critics_are_left_out() {
    let network = network("onnx-actor-critic-0");
    assert_eq!(network.sizes(), [5, 24, 24, 3]);
    assert_eq!(network.chain().expect("a chain")[0].activation(), Activation::Tanh);
}

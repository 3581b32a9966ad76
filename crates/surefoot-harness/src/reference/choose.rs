//! What a policy chooses in a state.

use surefoot_policy::{Arithmetic, Ensemble, Node, Policy, PolicyInput, Scorer, TreeNode};

use super::exact::exact_scores;
use super::network::{Precision, network_scores};

/// The outputs that the policy may choose if those competing are `applicable`, ascending.
pub fn choose(
    policy: &Policy,
    arithmetic: Arithmetic,
    state: &[i32],
    applicable: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let rounded = |single| scores(policy, state, Precision { single });
    match arithmetic {
        Arithmetic::F64 => best(&rounded(false), applicable).into_iter().collect(),
        Arithmetic::F32 => best(&rounded(true), applicable).into_iter().collect(),
        Arithmetic::Real => match exact_scores(&policy.scorer, &inputs(policy, state)) {
            Some(scores) => best(&scores, applicable).into_iter().collect(),
            None => curved(policy, state, &rounded(false), applicable),
        },
        Arithmetic::AnyF32 => {
            // The enclosures are the policy crate's own; whatever they are, they must contain `f32`.
            let best = best(&rounded(true), &applicable);
            let possible = policy.possible(arithmetic, state, applicable);
            assert!(
                best.is_none_or(|best| possible.contains(&best)),
                "any-f32 allows {possible:?}, but f32 chooses {best:?}"
            );
            assert_eq!(
                possible.is_empty(),
                best.is_none(),
                "any-f32 and f32 differ in whether there is a choice"
            );
            possible
        }
    }
}

/// The choices in real arithmetic where scores are no fractions. The enclosures are the policy crate's own; they must
/// contain the choice in double precision, and nothing else, where it is clear.
fn curved(policy: &Policy, state: &[i32], scores: &[f64], applicable: impl Fn(usize) -> bool) -> Vec<usize> {
    let best = best(scores, &applicable);
    let is_close = |output: usize| {
        let size = scores.iter().fold(1.0, |size: f64, score| size.max(score.abs()));
        best.is_some_and(|best| scores[best] - scores[output] <= 1e-9 * size)
    };
    // Values that double precision cannot hold, and weights that enlarge errors, make nothing clear.
    let tame = scores.iter().all(|score| score.abs() < 1e6) && is_tame(policy);
    let close: Vec<usize> =
        (0..scores.len()).filter(|&output| applicable(output) && is_close(output)).collect();
    let possible = policy.possible(Arithmetic::Real, state, applicable);
    assert_eq!(possible.is_empty(), best.is_none(), "real and f64 differ in whether there is a choice");
    assert!(
        !tame || possible.iter().all(|output| close.contains(output)),
        "real allows {possible:?}, but f64 has {scores:?}"
    );
    assert!(
        !tame || close.len() != 1 || possible == close,
        "real allows {possible:?}, but f64 has {scores:?}"
    );
    possible
}

/// Whether the parameters of a network are so small that double precision is accurate.
fn is_tame(policy: &Policy) -> bool {
    let Scorer::Network(network) = &policy.scorer else { return true };
    network.nodes().iter().all(|node| match node {
        Node::Layer { layer, .. } => (0..layer.neurons()).all(|neuron| {
            let weights = layer.row(neuron).map(|(_, weight)| weight.double.abs());
            weights.chain([layer.bias(neuron).double.abs()]).all(|number| number < 10.0)
        }),
        Node::Quotient { divisors, .. } => divisors.iter().all(|divisor| divisor.double.abs() > 0.01),
        Node::Arrange { .. } | Node::Maximum { .. } => true,
    })
}

/// The highest score, the lowest index on ties.
fn best<T: PartialOrd>(scores: &[T], applicable: impl Fn(usize) -> bool) -> Option<usize> {
    let mut best: Option<usize> = None;
    for output in 0..scores.len() {
        if applicable(output) && best.is_none_or(|best| scores[output] > scores[best]) {
            best = Some(output);
        }
    }
    best
}

fn inputs(policy: &Policy, state: &[i32]) -> Vec<i32> {
    let value = |input: &PolicyInput| match *input {
        PolicyInput::Variable(v) => state[v.index()],
        PolicyInput::Constant(value) => value,
    };
    policy.inputs.iter().map(value).collect()
}

fn scores(policy: &Policy, state: &[i32], precision: Precision) -> Vec<f64> {
    let inputs = inputs(policy, state).into_iter().map(|value| precision.round(value.into()));
    let inputs: Vec<f64> = inputs.collect();
    let scores = match &policy.scorer {
        Scorer::Network(network) => network_scores(network, &inputs, precision),
        Scorer::Ensemble(ensemble) => ensemble_scores(ensemble, &inputs, precision),
    };
    scores.into_iter().map(|score| if score.is_nan() { f64::NEG_INFINITY } else { score }).collect()
}

fn ensemble_scores(ensemble: &Ensemble, inputs: &[f64], precision: Precision) -> Vec<f64> {
    let mut scores: Vec<f64> = ensemble.base().iter().map(|&base| precision.parameter(base)).collect();
    for tree in ensemble.trees() {
        let mut node = 0;
        let leaf = loop {
            match tree.nodes()[node as usize] {
                TreeNode::Leaf(leaf) => break leaf,
                TreeNode::Split { feature, threshold, left, right } => {
                    let less = inputs[feature as usize] < precision.parameter(threshold);
                    node = if less { left } else { right };
                }
            }
        };
        for (score, &value) in scores.iter_mut().zip(tree.values(leaf)) {
            *score = precision.add(*score, precision.parameter(value));
        }
    }
    scores
}

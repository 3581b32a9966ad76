//! What a policy chooses in a state.

use surefoot_policy::{Arithmetic, Ensemble, Policy, PolicyInput, Scorer, TreeNode};

use super::network::{Precision, network_scores};

/// The outputs that the policy may choose if those competing are `applicable`, ascending.
pub fn choose(
    policy: &Policy,
    arithmetic: Arithmetic,
    state: &[i32],
    applicable: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let single = arithmetic != Arithmetic::F64;
    let best = best(&scores(policy, state, Precision { single }), &applicable);
    if arithmetic != Arithmetic::AnyF32 {
        return best.into_iter().collect();
    }
    // The enclosures are the policy crate's own; whatever they are, they must contain `f32`.
    let possible = policy.possible(arithmetic, state, applicable);
    assert!(
        best.is_none_or(|best| possible.contains(&best)),
        "any-f32 allows {possible:?}, but f32 chooses {best:?}"
    );
    assert_eq!(possible.is_empty(), best.is_none(), "any-f32 and f32 differ in whether there is a choice");
    possible
}

/// The highest score, the lowest index on ties.
fn best(scores: &[f64], applicable: impl Fn(usize) -> bool) -> Option<usize> {
    let mut best: Option<usize> = None;
    for output in 0..scores.len() {
        if applicable(output) && best.is_none_or(|best| scores[output] > scores[best]) {
            best = Some(output);
        }
    }
    best
}

fn scores(policy: &Policy, state: &[i32], precision: Precision) -> Vec<f64> {
    let inputs = policy.inputs.iter().map(|input| match *input {
        PolicyInput::Variable(v) => state[v.index()],
        PolicyInput::Constant(value) => value,
    });
    let inputs: Vec<f64> = inputs.map(|value| precision.round(value.into())).collect();
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

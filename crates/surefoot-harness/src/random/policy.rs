//! Random policies: small networks, chains and graphs, and ensembles whose scores tie often, exactly or nearly.

use surefoot_model::{LabelId, TransitionSystem, VarId};
use surefoot_policy::{
    Activation, Ensemble, Layer, Network, Parameter, Policy, PolicyInput, Scorer, Tree, TreeNode,
};

use super::choices::Choices;
use super::graph::graph;

/// A policy, or none.
pub fn policy(system: &TransitionSystem, filter: bool, choices: &mut Choices<'_>) -> Option<Policy> {
    let kind = choices.weighted(&[3, 3, 3, 2, 4]);
    if kind == 0 {
        return None;
    }
    let labels: Vec<LabelId> = (0..system.labels.len()).map(|label| LabelId(label as u32)).collect();
    let outputs = choices.some(&labels, 1);
    // Any variables in any order, also repeated.
    let variable = |choices: &mut Choices<'_>| VarId(choices.below(system.variables.len()) as u32);
    let inputs: Vec<PolicyInput> =
        (0..=choices.below(4)).map(|_| PolicyInput::Variable(variable(choices))).collect();
    if kind == 3 {
        let (twice, other) = (inputs[0], inputs[inputs.len() - 1]);
        let scorer = Scorer::Network(near_tie(outputs.len(), choices));
        let policy = Policy::new(vec![twice, twice, other], outputs, filter, scorer);
        return Some(policy.expect("the sizes agree"));
    }
    let scorer = match kind {
        1 => Scorer::Network(network(inputs.len(), outputs.len(), choices)),
        4 => Scorer::Network(graph(inputs.len(), outputs.len(), choices)),
        _ => Scorer::Ensemble(ensemble(inputs.len(), outputs.len(), choices)),
    };
    Some(Policy::new(inputs, outputs, filter, scorer).expect("the sizes agree"))
}

/// Small integers make exact ties; the decimals make sums that tie in one precision and not in the other.
pub fn parameter(choices: &mut Choices<'_>) -> Parameter {
    let text = match choices.weighted(&[20, 12, 1]) {
        0 => choices.pick(&["0", "1", "-1", "2", "-2", "0.5", "3"]),
        1 => choices.pick(&["0.1", "0.2", "0.3", "-0.1", "-0.3", "0.7", "1.1"]),
        _ => choices.pick(&["16777217", "1e-9", "1e20", "-1e30", "3e38", "1e39"]),
    };
    number(text)
}

/// The number that a text is.
pub fn number(text: &str) -> Parameter {
    Parameter::parse(text).expect("a number")
}

pub fn parameters(count: usize, choices: &mut Choices<'_>) -> Vec<Parameter> {
    (0..count).map(|_| parameter(choices)).collect()
}

/// Scores that are equal in exact arithmetic, computed from different decimals: rounding decides.
fn near_tie(outputs: usize, choices: &mut Choices<'_>) -> Network {
    let [p, q, sum] = choices.pick(&[
        ["0.1", "0.2", "0.3"],
        ["0.1", "0.7", "0.8"],
        ["0.3", "0.6", "0.9"],
        ["1.1", "2.2", "3.3"],
        ["0.7", "0.6", "1.3"],
    ]);
    let shared = parameter(choices);
    let bias = parameter(choices);
    let mut weights = Vec::new();
    for _ in 0..outputs {
        let pair = choices.pick(&[[p, q], [sum, "0"], [q, p], ["0", sum]]);
        weights.extend(pair.map(number));
        weights.push(shared);
    }
    let layer = Layer::new(3, weights, vec![bias; outputs], Activation::Identity).expect("the sizes agree");
    Network::new(vec![layer]).expect("one layer")
}

fn network(inputs: usize, outputs: usize, choices: &mut Choices<'_>) -> Network {
    let mut sizes = vec![inputs];
    sizes.extend((0..choices.below(3)).map(|_| 1 + choices.below(3)));
    sizes.push(outputs);
    let last = sizes.len() - 2;
    let layers = sizes.windows(2).enumerate().map(|(position, pair)| {
        let weights = parameters(pair[0] * pair[1], choices);
        let biases = parameters(pair[1], choices);
        let activation = if position == last { Activation::Identity } else { Activation::Relu };
        Layer::new(pair[0], weights, biases, activation).expect("the sizes agree")
    });
    Network::new(layers.collect()).expect("the sizes agree")
}

fn ensemble(inputs: usize, outputs: usize, choices: &mut Choices<'_>) -> Ensemble {
    let base = parameters(outputs, choices);
    let trees = (0..choices.below(4)).map(|_| tree(inputs, outputs, choices)).collect();
    Ensemble::new(inputs, base, trees).expect("the sizes agree")
}

/// A tree of up to three levels of splits.
fn tree(inputs: usize, outputs: usize, choices: &mut Choices<'_>) -> Tree {
    let mut nodes = Vec::new();
    let mut values = Vec::new();
    // Subtrees that are still to be made: their parent, whether they are its left child, and their level.
    let mut open = vec![(None, false, 0)];
    while let Some((parent, is_left, level)) = open.pop() {
        let index = nodes.len() as u32;
        if let Some(parent) = parent {
            let TreeNode::Split { left, right, .. } = &mut nodes[parent] else {
                unreachable!("leaves have no children")
            };
            *(if is_left { left } else { right }) = index;
        }
        if level == 3 || !choices.one_in(2) {
            nodes.push(TreeNode::Leaf((values.len() / outputs) as u32));
            values.extend(parameters(outputs, choices));
        } else {
            let feature = choices.below(inputs) as u32;
            let threshold =
                choices.pick(&["0.5", "1", "-0.5", "0", "2", "1.5", "-1", "4999.5", "2147483646.5"]);
            let threshold = number(threshold);
            nodes.push(TreeNode::Split { feature, threshold, left: 0, right: 0 });
            open.extend([(Some(index as usize), false, level + 1), (Some(index as usize), true, level + 1)]);
        }
    }
    Tree::new(outputs, nodes, values).expect("children come after their parents")
}

//! Random tree ensembles.

use surefoot_policy::{Ensemble, Parameter, Tree, TreeNode};

use super::choices::Choices;
use super::number::Flavour;

/// Trees with a value for each output in each leaf.
pub fn forest(size: (usize, usize), flavour: Flavour, choices: &mut Choices<'_>) -> Ensemble {
    let count = choices.below(6);
    let trees = (0..count).map(|_| tree(size, flavour, None, choices)).collect();
    Ensemble::new(size.0, vec![Parameter::from(0.0); size.1], trees).expect("the sizes agree")
}

/// Base scores, and trees that change one output each.
pub fn boosted(size: (usize, usize), flavour: Flavour, choices: &mut Choices<'_>) -> Ensemble {
    let base = flavour.parameters(size.1, choices);
    let rounds = 1 + choices.below(2);
    // Of many outputs, most keep their base score.
    let changed = size.1.min(4);
    let trees =
        (0..rounds * changed).map(|index| tree(size, flavour, Some(index % changed), choices)).collect();
    Ensemble::new(size.0, base, trees).expect("the sizes agree")
}

/// A tree of up to three levels of splits.
fn tree(
    (inputs, outputs): (usize, usize),
    flavour: Flavour,
    only: Option<usize>,
    choices: &mut Choices<'_>,
) -> Tree {
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
        if level == 3 || choices.below(8) < 2 + 2 * level {
            nodes.push(TreeNode::Leaf((values.len() / outputs) as u32));
            values.extend((0..outputs).map(|output| match only {
                Some(only) if only != output => Parameter::from(0.0),
                _ => flavour.parameter(choices),
            }));
        } else {
            let feature = choices.below(inputs) as u32;
            nodes.push(TreeNode::Split { feature, threshold: threshold(choices), left: 0, right: 0 });
            open.extend([(Some(index as usize), false, level + 1), (Some(index as usize), true, level + 1)]);
        }
    }
    Tree::new(outputs, nodes, values).expect("children come after their parents")
}

fn threshold(choices: &mut Choices<'_>) -> Parameter {
    let text = match choices.weighted(&[8, 1, 1]) {
        0 => choices.pick(&["0.5", "1", "-0.5", "0", "2", "1.5", "-1", "-3.5", "4", "6.25", "3", "-2"]),
        1 => choices.pick(&["1e-40", "-1e-40", "0.99999999", "2.00000001", "1e-320"]),
        _ => choices.pick(&["16777216.5", "16777217", "2147483646.5", "-2147483648", "1e300", "4e38"]),
    };
    Parameter::parse(text).expect("a number")
}

//! Trees as boosting makes them: each leaf has one value, which counts for one output.
//!
//! Files give nodes in any order, and a file may be wrong. A [`Tree`] wants children after their parents and each node
//! at most once, so the nodes are numbered again in preorder. That finds circles and shared nodes too.

use surefoot_model::InputError;

use crate::ensemble::{Tree, TreeNode};
use crate::parameter::Parameter;

/// A node as the file numbers it.
pub(super) enum Node {
    /// Inputs below the threshold go to node `left`, others to node `right`. Both exist.
    Split { feature: u32, threshold: Parameter, left: usize, right: usize },
    /// The value of the tree's output.
    Leaf(Parameter),
}

/// What the tree changes in other outputs. Adding negative zero keeps every number, even the sign of a zero.
const NOTHING: f64 = -0.0;

/// The tree with root 0 of `count` nodes. Its leaves count for `output` of `outputs` outputs. `node` reads a node, and
/// `repeated` is the error for one that is reached twice.
pub(super) fn tree(
    count: usize,
    (output, outputs): (usize, usize),
    node: impl Fn(usize) -> Result<Node, InputError>,
    repeated: impl Fn(usize) -> InputError,
) -> Result<Tree, InputError> {
    let mut nodes: Vec<TreeNode> = Vec::new();
    let mut values = Vec::new();
    let mut leaves = 0;
    let mut seen = vec![false; count];
    // Nodes to read, each with the split whose right child it is; a left child follows its parent.
    let mut open: Vec<(usize, Option<usize>)> = vec![(0, None)];
    while let Some((index, parent)) = open.pop() {
        if std::mem::replace(&mut seen[index], true) {
            return Err(repeated(index));
        }
        let here = nodes.len();
        if let Some(TreeNode::Split { right, .. }) = parent.and_then(|parent| nodes.get_mut(parent)) {
            *right = here as u32;
        }
        match node(index)? {
            Node::Leaf(value) => {
                values.extend((0..outputs).map(|k| if k == output { value } else { NOTHING.into() }));
                nodes.push(TreeNode::Leaf(leaves));
                leaves += 1;
            }
            Node::Split { feature, threshold, left, right } => {
                nodes.push(TreeNode::Split { feature, threshold, left: here as u32 + 1, right: 0 });
                open.push((right, Some(here)));
                open.push((left, None));
            }
        }
    }
    Ok(Tree::new(outputs, nodes, values).expect("preorder puts children after parents, leaves are counted"))
}

//! Sums of decision trees.

use crate::parameter::Parameter;
use crate::shape::ShapeError;

/// A node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TreeNode {
    /// Inputs below the threshold go left, all others right.
    Split {
        /// Index of the tested input.
        feature: u32,
        /// The threshold.
        threshold: Parameter,
        /// Index of the node for `input < threshold`, larger than the index of this node.
        left: u32,
        /// Index of the node for `input ≥ threshold`, larger than the index of this node.
        right: u32,
    },
    /// An end of the tree; its values are [`Tree::values`] of this index.
    Leaf(u32),
}

/// A decision tree that gives one value per output.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    outputs: usize,
    nodes: Vec<TreeNode>,
    values: Vec<Parameter>,
}

impl Tree {
    /// A tree whose root is node 0. `values` holds `outputs` values for leaf 0, then those for leaf 1, and so on.
    pub fn new(outputs: usize, nodes: Vec<TreeNode>, values: Vec<Parameter>) -> Result<Tree, ShapeError> {
        if outputs == 0 || nodes.is_empty() || !values.len().is_multiple_of(outputs) {
            return Err(ShapeError::Tree);
        }
        let leaves = values.len() / outputs;
        let fits = nodes.iter().enumerate().all(|(i, node)| match *node {
            TreeNode::Leaf(leaf) => (leaf as usize) < leaves,
            TreeNode::Split { left, right, .. } => {
                [left, right].iter().all(|&child| (child as usize) > i && (child as usize) < nodes.len())
            }
        });
        if fits { Ok(Tree { outputs, nodes, values }) } else { Err(ShapeError::Tree) }
    }

    /// The nodes, the root first, children after their parents.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// The values of a leaf, one per output.
    pub fn values(&self, leaf: u32) -> &[Parameter] {
        &self.values[leaf as usize * self.outputs..][..self.outputs]
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, TreeNode::Leaf(_))).count()
    }

    /// Largest number of splits from the root to a leaf.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if let TreeNode::Split { left, right, .. } = *node {
                for child in [left, right] {
                    depths[child as usize] = depths[child as usize].max(depths[i] + 1);
                }
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Largest feature index plus one; 0 if the tree tests nothing.
    fn inputs(&self) -> usize {
        let feature = |node: &TreeNode| match *node {
            TreeNode::Split { feature, .. } => feature as usize + 1,
            TreeNode::Leaf(_) => 0,
        };
        self.nodes.iter().map(feature).max().unwrap_or(0)
    }
}

/// Trees whose leaf values are added, with a base score per output.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    inputs: usize,
    base: Vec<Parameter>,
    trees: Vec<Tree>,
}

impl Ensemble {
    /// An ensemble over `inputs` inputs with one output per base score.
    pub fn new(inputs: usize, base: Vec<Parameter>, trees: Vec<Tree>) -> Result<Ensemble, ShapeError> {
        for (index, tree) in trees.iter().enumerate() {
            if tree.outputs != base.len() {
                return Err(ShapeError::TreeOutputs { tree: index, outputs: tree.outputs, base: base.len() });
            }
            if tree.inputs() > inputs {
                return Err(ShapeError::TreeFeature { tree: index, feature: tree.inputs() - 1, inputs });
            }
        }
        if base.is_empty() { Err(ShapeError::NoOutputs) } else { Ok(Ensemble { inputs, base, trees }) }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// The score that each output has before any tree is added.
    pub fn base(&self) -> &[Parameter] {
        &self.base
    }

    /// The trees, in the order in which their values are added.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> Parameter {
        Parameter::from(value)
    }

    fn stump(feature: u32) -> Tree {
        let split = TreeNode::Split { feature, threshold: number(0.5), left: 1, right: 2 };
        let values = vec![number(0.0), number(1.0), number(2.0), number(3.0)];
        Tree::new(2, vec![split, TreeNode::Leaf(0), TreeNode::Leaf(1)], values).expect("well formed")
    }

    #[test]
    fn trees_know_their_size() {
        assert_eq!((stump(0).depth(), stump(0).leaves()), (1, 2));
        let leaf = Tree::new(1, vec![TreeNode::Leaf(0)], vec![number(1.0)]).expect("well formed");
        assert_eq!((leaf.depth(), leaf.leaves()), (0, 1));
    }

    #[test]
    fn cycles_and_dangling_indices_are_refused() {
        let split = |left, right| TreeNode::Split { feature: 0, threshold: number(0.0), left, right };
        let values = vec![number(1.0)];
        for nodes in [
            vec![split(0, 1), TreeNode::Leaf(0)],
            vec![split(1, 2), TreeNode::Leaf(0)],
            vec![TreeNode::Leaf(1)],
            vec![],
        ] {
            assert_eq!(Tree::new(1, nodes, values.clone()), Err(ShapeError::Tree));
        }
    }

    #[test]
    fn features_must_be_inputs() {
        let made = Ensemble::new(2, vec![number(0.0); 2], vec![stump(1), stump(2)]);
        assert_eq!(made, Err(ShapeError::TreeFeature { tree: 1, feature: 2, inputs: 2 }));
        let made = Ensemble::new(3, vec![number(0.0); 3], vec![stump(1)]);
        assert_eq!(made, Err(ShapeError::TreeOutputs { tree: 0, outputs: 2, base: 3 }));
    }
}

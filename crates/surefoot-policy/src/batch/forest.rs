//! Tree ensembles as flat arrays over integer thresholds.
//!
//! Inputs are integers, so each split `x < t` is `x < k` for an integer `k`. A split that sends all integers the same
//! way disappears. All states of a chunk walk a tree together, level by level; a state that reached its leaf stays
//! there.

use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::parameter::{Number, Parameter};
use crate::threshold::{IntegerThreshold, integer_threshold};

use super::LANES;

/// An ensemble, arranged for batches.
#[derive(Debug)]
pub(super) struct Forest<T> {
    base: Vec<T>,
    trees: Vec<FlatTree<T>>,
}

#[derive(Debug)]
struct FlatTree<T> {
    depth: usize,
    nodes: Vec<FlatNode>,
    /// The outputs that some leaf changes; all others have value zero in all leaves.
    outputs: Vec<u32>,
    /// One value per changed output for leaf 0, then for leaf 1, and so on.
    values: Vec<T>,
}

/// A split, or a leaf: a split that sends every input to itself.
#[derive(Debug, Clone, Copy)]
struct FlatNode {
    /// First lane of the tested input.
    row: u32,
    /// Inputs up to the limit go to `next`, all others to the node after it.
    limit: i32,
    next: u32,
    /// Where the values of a leaf begin.
    values: u32,
}

impl<T: Number> Forest<T> {
    /// Arranges an ensemble whose inputs are compared as numbers of type `C`. Each of `values` turns its parameters
    /// into a group of outputs.
    pub(super) fn new<C: Number>(ensemble: &Ensemble, values: &[fn(Parameter) -> T]) -> Self {
        let expand = |parameters: &[Parameter]| -> Vec<T> {
            values.iter().flat_map(|value| parameters.iter().map(|&parameter| value(parameter))).collect()
        };
        Forest {
            base: expand(ensemble.base()),
            trees: ensemble.trees().iter().map(|tree| FlatTree::new::<C>(tree, expand)).collect(),
        }
    }

    pub(super) fn outputs(&self) -> usize {
        self.base.len()
    }

    /// Adds up the values of a chunk: `columns` has a row of lanes per input, `sums` gets one per output.
    /// Lanes from `used` on are left as they are.
    pub(super) fn run(&self, used: usize, columns: &[i32], sums: &mut [T]) {
        for (row, &base) in sums.chunks_exact_mut(LANES).zip(&self.base) {
            row[..used].fill(base);
        }
        for tree in &self.trees {
            tree.run(used, columns, sums);
        }
    }
}

impl<T: Number> FlatTree<T> {
    fn new<C: Number>(tree: &Tree, expand: impl Fn(&[Parameter]) -> Vec<T>) -> Self {
        // The values of each leaf; splits have none.
        let values_of = |node: &TreeNode| match *node {
            TreeNode::Leaf(leaf) => expand(tree.values(leaf)),
            TreeNode::Split { .. } => Vec::new(),
        };
        let leaves: Vec<Vec<T>> = tree.nodes().iter().map(values_of).collect();
        let width = leaves.iter().map(Vec::len).max().unwrap_or(0);
        let is_changed = |output: &usize| {
            leaves.iter().any(|values| values.get(*output).is_some_and(|&value| value != T::ZERO))
        };
        let outputs: Vec<u32> = (0..width).filter(is_changed).map(|output| output as u32).collect();
        // Breadth first: the two children of a split lie together, and so do the levels that all states share.
        let mut order = vec![(0, 0)];
        let mut nodes: Vec<FlatNode> = Vec::new();
        let mut values = Vec::new();
        let mut depth = 0;
        while let Some(&(index, level)) = order.get(nodes.len()) {
            depth = level;
            let here = nodes.len() as u32;
            nodes.push(match skip_constant_splits::<C>(tree, index) {
                Remaining::Leaf(index) => {
                    let first = values.len() as u32;
                    let leaf = &leaves[index as usize];
                    values.extend(outputs.iter().map(|&output| leaf[output as usize]));
                    FlatNode { row: 0, limit: i32::MAX, next: here, values: first }
                }
                Remaining::Split { feature, limit, left, right } => {
                    let next = order.len() as u32;
                    order.extend([(left, level + 1), (right, level + 1)]);
                    FlatNode { row: feature * LANES as u32, limit, next, values: 0 }
                }
            });
        }
        FlatTree { depth, nodes, outputs, values }
    }

    fn run(&self, used: usize, columns: &[i32], sums: &mut [T]) {
        let mut at = [0_u32; LANES];
        for _ in 0..self.depth {
            for (lane, at) in at.iter_mut().take(used).enumerate() {
                let node = &self.nodes[*at as usize];
                *at = node.next + u32::from(columns[node.row as usize + lane] > node.limit);
            }
        }
        for at in &mut at[..used] {
            *at = self.nodes[*at as usize].values;
        }
        for (position, &output) in self.outputs.iter().enumerate() {
            let row = &mut sums[output as usize * LANES..][..LANES];
            for (sum, &first) in row.iter_mut().zip(&at[..used]) {
                *sum = *sum + self.values[first as usize + position];
            }
        }
    }
}

/// The first node on a path that depends on the input, or its leaf (given by its node).
enum Remaining {
    Leaf(u32),
    Split { feature: u32, limit: i32, left: u32, right: u32 },
}

/// Walks down while all integers go the same way.
fn skip_constant_splits<C: Number>(tree: &Tree, mut index: u32) -> Remaining {
    loop {
        let TreeNode::Split { feature, threshold, left, right } = tree.nodes()[index as usize] else {
            return Remaining::Leaf(index);
        };
        index = match integer_threshold::<C>(threshold) {
            IntegerThreshold::AlwaysLeft => left,
            IntegerThreshold::AlwaysRight => right,
            IntegerThreshold::Below(threshold) => {
                return Remaining::Split { feature, limit: threshold - 1, left, right };
            }
        };
    }
}

//! Tree ensembles as flat arrays over integer thresholds.
//!
//! Inputs are integers, so each split `x < t` is `x < k` for an integer `k`. A split that sends all integers the same way
//! disappears. All states of a chunk walk a tree together, level by level; a state that reached its leaf stays there.

use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::parameter::{Number, Parameter};

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

/// A split, or a leaf, which is its own child whatever the input.
#[derive(Debug, Clone, Copy)]
struct FlatNode {
    /// First lane of the tested input.
    row: u32,
    threshold: i32,
    /// Where to go if the input is below the threshold, and if it is not.
    children: [u32; 2],
    leaf: u32,
}

impl<T: Number> Forest<T> {
    /// Arranges an ensemble whose inputs are compared as numbers of type `C`. Each of `values` turns its parameters into a
    /// group of outputs.
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
    pub(super) fn run(&self, columns: &[i32], sums: &mut [T]) {
        for (row, &base) in sums.chunks_exact_mut(LANES).zip(&self.base) {
            row.fill(base);
        }
        for tree in &self.trees {
            tree.run(columns, sums);
        }
    }
}

impl<T: Number> FlatTree<T> {
    fn new<C: Number>(tree: &Tree, expand: impl Fn(&[Parameter]) -> Vec<T>) -> Self {
        let mut nodes = Vec::new();
        let mut leaves = Vec::new();
        // Where each node of the tree went; children come after their parents, so we go backwards.
        let mut place = vec![0; tree.nodes().len()];
        let mut depths: Vec<usize> = Vec::new();
        for (index, node) in tree.nodes().iter().enumerate().rev() {
            let here = nodes.len() as u32;
            match *node {
                TreeNode::Leaf(leaf) => {
                    let end =
                        FlatNode { row: 0, threshold: 0, children: [here; 2], leaf: leaves.len() as u32 };
                    leaves.push(expand(tree.values(leaf)));
                    nodes.push(end);
                    depths.push(0);
                    place[index] = here;
                }
                TreeNode::Split { feature, threshold, left, right } => {
                    let (left, right) = (place[left as usize], place[right as usize]);
                    place[index] = match integer_threshold::<C>(threshold) {
                        IntegerThreshold::AlwaysLeft => left,
                        IntegerThreshold::AlwaysRight => right,
                        IntegerThreshold::Below(threshold) => {
                            let row = feature * LANES as u32;
                            nodes.push(FlatNode { row, threshold, children: [left, right], leaf: 0 });
                            depths.push(1 + depths[left as usize].max(depths[right as usize]));
                            here
                        }
                    };
                }
            }
        }
        Self::trim(&nodes, &leaves, place[0], depths[place[0] as usize])
    }

    /// Renumbers the nodes below `root` so that it is node 0, and keeps only outputs that some leaf changes.
    fn trim(nodes: &[FlatNode], leaves: &[Vec<T>], root: u32, depth: usize) -> Self {
        let width = leaves[0].len();
        let changed = |output: &usize| leaves.iter().any(|values| values[*output] != T::ZERO);
        let outputs: Vec<u32> = (0..width).filter(changed).map(|output| output as u32).collect();
        // Breadth first: the levels that all states share lie together.
        let mut order = vec![root];
        let mut flat: Vec<FlatNode> = Vec::new();
        let mut values = Vec::new();
        while let Some(&old) = order.get(flat.len()) {
            let here = flat.len() as u32;
            let mut node = nodes[old as usize];
            if node.children[0] == old {
                node.children = [here; 2];
                let leaf = &leaves[node.leaf as usize];
                node.leaf = values.len() as u32;
                values.extend(outputs.iter().map(|&output| leaf[output as usize]));
            } else {
                let next = order.len() as u32;
                order.extend(node.children);
                node.children = [next, next + 1];
            }
            flat.push(node);
        }
        FlatTree { depth, nodes: flat, outputs, values }
    }

    fn run(&self, columns: &[i32], sums: &mut [T]) {
        let mut at = [0_u32; LANES];
        for _ in 0..self.depth {
            for (lane, at) in at.iter_mut().enumerate() {
                let node = &self.nodes[*at as usize];
                let right = columns[node.row as usize + lane] >= node.threshold;
                *at = node.children[usize::from(right)];
            }
        }
        let first = at.map(|node| self.nodes[node as usize].leaf as usize);
        for (position, &output) in self.outputs.iter().enumerate() {
            let row = &mut sums[output as usize * LANES..][..LANES];
            for (sum, first) in row.iter_mut().zip(first) {
                *sum = *sum + self.values[first + position];
            }
        }
    }
}

/// How a threshold divides the integers.
#[derive(Debug, PartialEq, Eq)]
enum IntegerThreshold {
    AlwaysLeft,
    AlwaysRight,
    /// Integers below it go left.
    Below(i32),
}

/// Finds the smallest integer that does not go left, by bisection: conversion to a floating-point number is monotone.
fn integer_threshold<C: Number>(threshold: Parameter) -> IntegerThreshold {
    let goes_left = |value: i32| C::of_int(value) < C::of(threshold);
    if goes_left(i32::MAX) {
        return IntegerThreshold::AlwaysLeft;
    }
    if !goes_left(i32::MIN) {
        return IntegerThreshold::AlwaysRight;
    }
    let (mut left, mut right) = (i32::MIN, i32::MAX);
    while i64::from(right) - i64::from(left) > 1 {
        let middle = i64::midpoint(i64::from(left), i64::from(right)) as i32;
        if goes_left(middle) { left = middle } else { right = middle }
    }
    IntegerThreshold::Below(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_between_integers() {
        let double = |t: f64| integer_threshold::<f64>(Parameter::from(t));
        assert_eq!(double(0.5), IntegerThreshold::Below(1));
        assert_eq!(double(1.0), IntegerThreshold::Below(1));
        assert_eq!(double(-0.5), IntegerThreshold::Below(0));
        assert_eq!(double(5e-324), IntegerThreshold::Below(1));
        assert_eq!(double(2_147_483_647.0), IntegerThreshold::Below(i32::MAX));
        assert_eq!(double(2_147_483_647.5), IntegerThreshold::AlwaysLeft);
        assert_eq!(double(-2_147_483_648.0), IntegerThreshold::AlwaysRight);
        assert_eq!(double(-2_147_483_647.5), IntegerThreshold::Below(i32::MIN + 1));
    }

    #[test]
    fn thresholds_among_rounded_integers() {
        let single = |t: f64| integer_threshold::<f32>(Parameter::from(t));
        // 2^24 + 1 rounds to 2^24, 2^24 + 3 to 2^24 + 4: ties go to the even single.
        assert_eq!(single(16_777_216.0), IntegerThreshold::Below(16_777_216));
        assert_eq!(single(16_777_218.0), IntegerThreshold::Below(16_777_218));
        assert_eq!(single(16_777_220.0), IntegerThreshold::Below(16_777_219));
        assert_eq!(single(5e-324), IntegerThreshold::Below(0));
        assert_eq!(single(2_147_483_648.0), IntegerThreshold::Below(2_147_483_584));
        assert_eq!(single(1e39), IntegerThreshold::AlwaysLeft);
    }
}

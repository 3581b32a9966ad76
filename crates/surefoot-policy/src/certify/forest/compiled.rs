//! A tree ensemble over the cells of its dimensions.
//!
//! All limits that a dimension is compared with cut its integers into *cells*: no tree tells two values of a cell
//! apart. Cells are numbered, so splits and leaves are stated over small integers, whatever the domain.

use crate::arithmetic::Arithmetic;
use crate::certify::space::InputOrigin;
use crate::ensemble::{Ensemble, Tree, TreeNode};
use crate::threshold::{IntegerThreshold, integer_threshold};

/// The structure of all trees. Nodes and leaves are numbered through all of them.
#[derive(Debug)]
pub(super) struct CompiledForest {
    /// The greatest value of each cell but the last, per dimension.
    pub(super) limits: Vec<Vec<i32>>,
    pub(super) trees: Vec<CompiledTree>,
    pub(super) nodes: Vec<Node>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) sides: Vec<Side>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CompiledTree {
    pub(super) root: Child,
    /// Its leaves, from left to right.
    pub(super) first_leaf: u32,
    pub(super) end_leaf: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    Node(u32),
    Leaf(u32),
}

/// A split: cells up to `limit` go low, all others high.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) dimension: u32,
    pub(super) limit: u32,
    /// Low, then high.
    pub(super) children: [Child; 2],
}

/// A leaf that some integers reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    /// Its values in [`Tree::values`].
    pub(super) index: u32,
    /// Where it is: a range of [`CompiledForest::sides`].
    pub(super) first_side: u32,
    pub(super) end_side: u32,
}

/// The cells of a leaf in a dimension that it restricts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) dimension: u32,
    pub(super) lower: u32,
    pub(super) upper: u32,
}

impl CompiledForest {
    pub(super) fn new(ensemble: &Ensemble, arithmetic: Arithmetic, origins: &[InputOrigin]) -> Self {
        let dimension = |origin: &InputOrigin| match *origin {
            InputOrigin::Dimension(dimension) => dimension + 1,
            InputOrigin::Constant(_) => 0,
        };
        let dimensions = origins.iter().map(dimension).max().unwrap_or(0);
        let splits: Vec<Vec<Split>> = ensemble
            .trees()
            .iter()
            .map(|tree| tree.nodes().iter().map(|node| Split::new(node, arithmetic, origins)).collect())
            .collect();
        let mut limits = vec![Vec::new(); dimensions];
        for split in splits.iter().flatten() {
            if let Split::Test { dimension, limit } = *split {
                limits[dimension].push(limit);
            }
        }
        for limits in &mut limits {
            limits.sort_unstable();
            limits.dedup();
        }
        let mut forest = CompiledForest {
            limits,
            trees: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            sides: Vec::new(),
        };
        for (tree, splits) in ensemble.trees().iter().zip(&splits) {
            forest.add(tree, splits);
        }
        forest
    }

    pub(super) fn dimensions(&self) -> usize {
        self.limits.len()
    }

    /// The cell of a value.
    pub(super) fn cell(&self, dimension: usize, value: i32) -> u32 {
        self.limits[dimension].partition_point(|&limit| limit < value) as u32
    }

    /// The cell of a value; `guess` if it is that.
    pub(super) fn cell_near(&self, dimension: usize, value: i32, guess: u32) -> u32 {
        let (limits, place) = (&self.limits[dimension], guess as usize);
        let is_above = place == 0 || limits[place - 1] < value;
        let is_below = limits.get(place).is_none_or(|&limit| value <= limit);
        if is_above && is_below { guess } else { self.cell(dimension, value) }
    }

    /// A value of a cell that is at most `most`, which is not below the cell.
    pub(super) fn value(&self, dimension: usize, cell: u32, most: i32) -> i32 {
        self.limits[dimension].get(cell as usize).map_or(most, |&limit| limit.min(most))
    }

    /// The leaf of a tree that holds the given cells, counted within the tree.
    pub(super) fn leaf(&self, tree: usize, cells: &[u32]) -> u32 {
        let mut at = self.trees[tree].root;
        loop {
            match at {
                Child::Leaf(leaf) => return leaf - self.trees[tree].first_leaf,
                Child::Node(node) => {
                    let node = &self.nodes[node as usize];
                    at = node.children[usize::from(cells[node.dimension as usize] > node.limit)];
                }
            }
        }
    }

    /// Adds a tree, without the splits that all integers on their path pass in the same way.
    fn add(&mut self, tree: &Tree, splits: &[Split]) {
        let first_leaf = self.leaves.len() as u32;
        // The cells of the path to the current node, and how to undo its steps.
        let mut path: Vec<[u32; 2]> = self.limits.iter().map(|limits| [0, limits.len() as u32]).collect();
        let whole = path.clone();
        let mut steps = vec![Step::Enter { index: 0, parent: None }];
        let mut root = Child::Leaf(first_leaf);
        while let Some(step) = steps.pop() {
            let (mut index, parent) = match step {
                Step::Restrict { dimension, cells } => {
                    path[dimension] = cells;
                    continue;
                }
                Step::Enter { index, parent } => (index, parent),
            };
            // Walk down while there is one way to go.
            let child = loop {
                let TreeNode::Split { left, right, .. } = tree.nodes()[index as usize] else {
                    break Child::Leaf(self.add_leaf(tree, index, &path, &whole));
                };
                let (dimension, limit) = match splits[index as usize] {
                    Split::Low => {
                        index = left;
                        continue;
                    }
                    Split::High => {
                        index = right;
                        continue;
                    }
                    Split::Test { dimension, limit } => (dimension, self.cell(dimension, limit)),
                };
                let [lower, upper] = path[dimension];
                if upper <= limit {
                    index = left;
                } else if lower > limit {
                    index = right;
                } else {
                    let node = self.nodes.len() as u32;
                    let children = [Child::Leaf(0); 2];
                    self.nodes.push(Node { dimension: dimension as u32, limit, children });
                    steps.extend([
                        Step::Restrict { dimension, cells: [lower, upper] },
                        Step::Enter { index: right, parent: Some((node, 1)) },
                        Step::Restrict { dimension, cells: [limit + 1, upper] },
                        Step::Enter { index: left, parent: Some((node, 0)) },
                        Step::Restrict { dimension, cells: [lower, limit] },
                    ]);
                    break Child::Node(node);
                }
            };
            match parent {
                None => root = child,
                Some((node, side)) => self.nodes[node as usize].children[side] = child,
            }
        }
        self.trees.push(CompiledTree { root, first_leaf, end_leaf: self.leaves.len() as u32 });
    }

    fn add_leaf(&mut self, tree: &Tree, node: u32, path: &[[u32; 2]], whole: &[[u32; 2]]) -> u32 {
        let TreeNode::Leaf(index) = tree.nodes()[node as usize] else { unreachable!("paths end at leaves") };
        let first_side = self.sides.len() as u32;
        for (dimension, (cells, all)) in path.iter().zip(whole).enumerate() {
            if cells != all {
                let [lower, upper] = *cells;
                self.sides.push(Side { dimension: dimension as u32, lower, upper });
            }
        }
        let end_side = self.sides.len() as u32;
        self.leaves.push(Leaf { index, first_side, end_side });
        self.leaves.len() as u32 - 1
    }

    /// The cells of a leaf.
    pub(super) fn sides(&self, leaf: u32) -> &[Side] {
        let leaf = &self.leaves[leaf as usize];
        &self.sides[leaf.first_side as usize..leaf.end_side as usize]
    }
}

/// What is left to do while a tree is added.
enum Step {
    Enter { index: u32, parent: Option<(u32, usize)> },
    Restrict { dimension: usize, cells: [u32; 2] },
}

/// A node of the ensemble over dimensions.
#[derive(Debug, Clone, Copy)]
enum Split {
    /// All integers go low; also leaves, where nothing goes.
    Low,
    High,
    /// Integers up to the limit go low.
    Test {
        dimension: usize,
        limit: i32,
    },
}

impl Split {
    fn new(node: &TreeNode, arithmetic: Arithmetic, origins: &[InputOrigin]) -> Split {
        let TreeNode::Split { feature, threshold, .. } = *node else { return Split::Low };
        let threshold = match arithmetic {
            Arithmetic::F64 | Arithmetic::Real => integer_threshold::<f64>(threshold),
            Arithmetic::F32 | Arithmetic::AnyF32 => integer_threshold::<f32>(threshold),
        };
        match (threshold, origins[feature as usize]) {
            (IntegerThreshold::AlwaysLeft, _) => Split::Low,
            (IntegerThreshold::AlwaysRight, _) => Split::High,
            (IntegerThreshold::Below(threshold), InputOrigin::Constant(value)) => {
                if value < threshold {
                    Split::Low
                } else {
                    Split::High
                }
            }
            (IntegerThreshold::Below(threshold), InputOrigin::Dimension(dimension)) => {
                Split::Test { dimension, limit: threshold - 1 }
            }
        }
    }
}

//! Trees as the attributes of a node list them.
//!
//! Every branch has one parent at most and every tree one root, so following children ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use surefoot_model::InputError;

use super::numbers;
use crate::parameter::Parameter;
use crate::read::onnx::call::Call;
use crate::read::onnx::tensor::Numbers;

/// How a branch compares its input with its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    Different,
}

/// A branch or a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    Branch {
        feature: usize,
        mode: Mode,
        threshold: Parameter,
        /// Where inputs go that pass the test.
        yes: usize,
        /// Where the others go.
        no: usize,
    },
    Leaf,
}

/// What has a weight wherever inputs lead.
pub(super) struct Weighed {
    /// The outputs to which one of the trees gives a weight in all its leaves.
    pub(super) outputs: BTreeSet<usize>,
    /// Whether one of the trees gives a weight to some output in all its leaves.
    pub(super) is_some_always: bool,
}

/// All trees of a node.
#[derive(Debug, Clone)]
pub(super) struct Forest {
    pub(super) entries: Vec<Entry>,
    pub(super) roots: Vec<usize>,
    /// Outputs and their weights, by entry.
    leaves: HashMap<usize, BTreeMap<usize, Parameter>>,
}

impl Forest {
    /// The weights of a leaf.
    pub(super) fn leaf(&self, entry: usize) -> impl Iterator<Item = (usize, Parameter)> {
        self.leaves.get(&entry).into_iter().flatten().map(|(&output, &weight)| (output, weight))
    }

    /// The outputs that have weights, ascending.
    pub(super) fn outputs(&self) -> Vec<usize> {
        let outputs: BTreeSet<usize> = self.leaves.values().flat_map(BTreeMap::keys).copied().collect();
        outputs.into_iter().collect()
    }

    /// All weights.
    pub(super) fn weights(&self) -> impl Iterator<Item = Parameter> {
        self.leaves.values().flat_map(BTreeMap::values).copied()
    }

    /// What all leaves of some tree weigh.
    pub(super) fn always_weighed(&self) -> Weighed {
        let mut weighed = Weighed { outputs: BTreeSet::new(), is_some_always: false };
        for &root in &self.roots {
            let leaves = self.leaves_below(root);
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for &leaf in &leaves {
                self.leaf(leaf).for_each(|(output, _)| *counts.entry(output).or_default() += 1);
            }
            let always = counts.into_iter().filter(|&(_, count)| count == leaves.len());
            weighed.outputs.extend(always.map(|(output, _)| output));
            weighed.is_some_always |= leaves.iter().all(|&leaf| self.leaf(leaf).next().is_some());
        }
        weighed
    }

    /// The leaves of a tree, once for each way that leads to them.
    fn leaves_below(&self, root: usize) -> Vec<usize> {
        let (mut open, mut leaves) = (vec![root], Vec::new());
        while let Some(entry) = open.pop() {
            match self.entries[entry] {
                Entry::Branch { yes, no, .. } => open.extend([yes, no]),
                Entry::Leaf => leaves.push(entry),
            }
        }
        leaves
    }

    /// The same trees, whose weights are all for one output, with these for another.
    pub(super) fn moved_to(&self, output: usize) -> Forest {
        let moved = |weights: &BTreeMap<usize, Parameter>| weights.values().map(|&it| (output, it)).collect();
        let leaves = self.leaves.iter().map(|(&entry, weights)| (entry, moved(weights))).collect();
        Forest { entries: self.entries.clone(), roots: self.roots.clone(), leaves }
    }

    fn add_weight(&mut self, entry: usize, output: usize, weight: Parameter) -> Result<(), String> {
        if !matches!(self.entries[entry], Entry::Leaf) {
            return Err(format!("tree node {entry} has a weight, but it is no leaf"));
        }
        match self.leaves.entry(entry).or_default().insert(output, weight) {
            None => Ok(()),
            Some(_) => Err(format!("a leaf has two weights for output {output}")),
        }
    }

    /// Makes sure that following children ends and leads everywhere: no branch is the child of two others, roots are
    /// of none, and each branch belongs to the tree of a root.
    fn check(&self) -> Result<(), String> {
        let mut seen = vec![false; self.entries.len()];
        for &root in &self.roots {
            if std::mem::replace(&mut seen[root], true) {
                return Err(format!("tree node {root} is the root of two trees"));
            }
        }
        let mut open = self.roots.clone();
        let mut branches = 0;
        while let Some(entry) = open.pop() {
            let Entry::Branch { yes, no, mode, threshold, .. } = self.entries[entry] else { continue };
            branches += 1;
            if !is_portable(mode, threshold) {
                return Err(format!(
                    "the threshold {} of tree node {entry} is subnormal: where such numbers are flushed to zero, the \
                     test ends otherwise for 0",
                    threshold.double
                ));
            }
            for child in [yes, no] {
                let branch = matches!(self.entries[child], Entry::Branch { .. });
                if std::mem::replace(&mut seen[child], true) && branch {
                    return Err(format!("tree node {child} has two parents"));
                }
                open.push(child);
            }
        }
        let all = self.entries.iter().filter(|entry| matches!(entry, Entry::Branch { .. })).count();
        if branches == all { Ok(()) } else { Err("a tree node belongs to no root".into()) }
    }
}

/// `TreeEnsembleClassifier` and `TreeEnsembleRegressor`: nodes have numbers within numbered trees.
impl Forest {
    /// Reads the trees; `kind` is `class` or `target`.
    pub(super) fn with_ids(call: &mut Call<'_>, kind: &str, outputs: usize) -> Result<Forest, InputError> {
        let trees = ints(call, "nodes_treeids")?;
        let count = trees.len();
        call.pay(Some(count))?;
        let nodes = listed(call, "nodes_nodeids", count)?;
        let features = listed(call, "nodes_featureids", count)?;
        let yes = listed(call, "nodes_truenodeids", count)?;
        let no = listed(call, "nodes_falsenodeids", count)?;
        let modes = call.attribute_strings("nodes_modes")?.unwrap_or(&[]);
        let thresholds = numbers(call, "nodes_values")?.unwrap_or_default();
        if modes.len() != count || thresholds.len() != count {
            return Err(call.error(format!("there are {count} tree nodes, but not as many modes and values")));
        }
        let mut places = HashMap::new();
        for (place, id) in trees.iter().copied().zip(nodes.iter().copied()).enumerate() {
            if places.insert(id, place).is_some() {
                return Err(call.error(format!("tree {} has two nodes {}", id.0, id.1)));
            }
        }
        let find = |tree: i64, node: i64| {
            let missing = || call.error(format!("tree {tree} has no node {node}"));
            places.get(&(tree, node)).copied().ok_or_else(missing)
        };
        let mut entries = Vec::with_capacity(count);
        for place in 0..count {
            if modes[place] == b"LEAF" {
                entries.push(Entry::Leaf);
                continue;
            }
            let name = || String::from_utf8_lossy(&modes[place]);
            entries.push(Entry::Branch {
                feature: index(call, "nodes_featureids", features[place])?,
                mode: mode(&modes[place]).ok_or_else(|| call.error(unknown_mode(&name())))?,
                threshold: thresholds[place],
                yes: find(trees[place], yes[place])?,
                no: find(trees[place], no[place])?,
            });
        }
        let roots = roots(&trees, &entries);
        let mut forest = Forest { entries, roots, leaves: HashMap::new() };
        let tree_ids = ints(call, &format!("{kind}_treeids"))?;
        let node_ids = listed(call, &format!("{kind}_nodeids"), tree_ids.len())?;
        let output_ids = listed(call, &format!("{kind}_ids"), tree_ids.len())?;
        let weights = numbers(call, &format!("{kind}_weights"))?.unwrap_or_default();
        if weights.len() != tree_ids.len() {
            return Err(call.error(format!("`{kind}_weights` and `{kind}_treeids` differ in number")));
        }
        for (position, &weight) in weights.iter().enumerate() {
            let entry = find(tree_ids[position], node_ids[position])?;
            let output = output(call, output_ids[position], outputs)?;
            forest.add_weight(entry, output, weight).map_err(|message| call.error(message))?;
        }
        forest.check().map_err(|message| call.error(message))?;
        let trees: BTreeSet<i64> = trees.into_iter().collect();
        if forest.roots.len() != trees.len() {
            return Err(call.error("a tree has no root or several"));
        }
        Ok(forest)
    }
}

/// The nodes that are no child, in order.
fn roots(trees: &[i64], entries: &[Entry]) -> Vec<usize> {
    let mut child = vec![false; trees.len()];
    for entry in entries {
        if let Entry::Branch { yes, no, .. } = *entry {
            child[yes] = true;
            child[no] = true;
        }
    }
    (0..trees.len()).filter(|&place| !child[place]).collect()
}

/// `TreeEnsemble`: branches and leaves are listed apart.
impl Forest {
    pub(super) fn with_leaves(call: &mut Call<'_>, outputs: usize) -> Result<Forest, InputError> {
        let features = ints(call, "nodes_featureids")?;
        let count = features.len();
        call.pay(Some(count))?;
        let yes = listed(call, "nodes_truenodeids", count)?;
        let no = listed(call, "nodes_falsenodeids", count)?;
        let yes_leaf = listed(call, "nodes_trueleafs", count)?;
        let no_leaf = listed(call, "nodes_falseleafs", count)?;
        let thresholds = tensor(call, "nodes_splits", count)?;
        let modes = call.attribute_bytes("nodes_modes")?;
        if modes.len() != count {
            return Err(call.error(format!("there are {count} tree nodes, but {} modes", modes.len())));
        }
        let targets = ints(call, "leaf_targetids")?;
        let weights = tensor(call, "leaf_weights", targets.len())?;
        let child = |node: i64, leaf: i64| {
            let (offset, end) = if leaf == 0 { (0, count) } else { (count, targets.len()) };
            let node = usize::try_from(node).ok().filter(|&node| node < end);
            node.map(|node| offset + node)
                .ok_or_else(|| call.error("a tree node has a child that is not there"))
        };
        let mut entries = Vec::with_capacity(count + targets.len());
        for place in 0..count {
            let mode = numbered_mode(modes[place])
                .ok_or_else(|| call.error(unknown_mode(&modes[place].to_string())))?;
            entries.push(Entry::Branch {
                feature: index(call, "nodes_featureids", features[place])?,
                mode,
                threshold: thresholds[place],
                yes: child(yes[place], yes_leaf[place])?,
                no: child(no[place], no_leaf[place])?,
            });
        }
        entries.extend(targets.iter().map(|_| Entry::Leaf));
        let roots = ints(call, "tree_roots")?.into_iter().map(|root| child(root, 0));
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        let mut forest = Forest { entries, roots, leaves: HashMap::new() };
        for (leaf, (&target, &weight)) in targets.iter().zip(&weights).enumerate() {
            let output = output(call, target, outputs)?;
            forest.add_weight(count + leaf, output, weight).map_err(|message| call.error(message))?;
        }
        forest.check().map_err(|message| call.error(message))?;
        Ok(forest)
    }
}

/// Whether runtimes agree on a test of 0, whether or not they flush subnormal numbers to zero. Positive thresholds are left to
/// the arithmetic; negative ones of tests that equality passes become another number, which no longer shows it.
fn is_portable(mode: Mode, threshold: Parameter) -> bool {
    let subnormal = threshold.double < 0.0 && threshold.double > -f64::from(f32::MIN_POSITIVE);
    !subnormal || matches!(mode, Mode::Below | Mode::AtLeast)
}

/// A mode by its name.
fn mode(name: &[u8]) -> Option<Mode> {
    Some(match name {
        b"BRANCH_LEQ" => Mode::AtMost,
        b"BRANCH_LT" => Mode::Below,
        b"BRANCH_GTE" => Mode::AtLeast,
        b"BRANCH_GT" => Mode::Above,
        b"BRANCH_EQ" => Mode::Equal,
        b"BRANCH_NEQ" => Mode::Different,
        _ => return None,
    })
}

/// A mode by its number.
fn numbered_mode(number: u8) -> Option<Mode> {
    [Mode::AtMost, Mode::Below, Mode::AtLeast, Mode::Above, Mode::Equal, Mode::Different]
        .get(usize::from(number))
        .copied()
}

fn unknown_mode(mode: &str) -> String {
    format!("the mode {mode} of a tree node is not supported")
}

fn ints(call: &Call<'_>, name: &str) -> Result<Vec<i64>, InputError> {
    call.attribute_ints(name)?.ok_or_else(|| call.error(format!("the attribute `{name}` is missing")))
}

fn listed(call: &Call<'_>, name: &str, count: usize) -> Result<Vec<i64>, InputError> {
    let list = ints(call, name)?;
    if list.len() == count {
        return Ok(list);
    }
    Err(call.error(format!("the attribute `{name}` needs {count} numbers, it has {}", list.len())))
}

fn tensor(call: &Call<'_>, name: &str, count: usize) -> Result<Vec<Parameter>, InputError> {
    match call.attribute_tensor(name)?.map(|tensor| tensor.numbers) {
        Some(Numbers::Float(list))
            if list.len() == count && list.iter().all(|number| number.double.is_finite()) =>
        {
            Ok(list)
        }
        _ => Err(call.error(format!("the attribute `{name}` must hold {count} finite numbers"))),
    }
}

fn index(call: &Call<'_>, name: &str, number: i64) -> Result<usize, InputError> {
    usize::try_from(number).map_err(|_| call.error(format!("`{name}` holds {number}")))
}

fn output(call: &Call<'_>, id: i64, outputs: usize) -> Result<usize, InputError> {
    let output = usize::try_from(id).ok().filter(|&output| output < outputs);
    output.ok_or_else(|| call.error(format!("a leaf weighs output {id}, but there are {outputs} outputs")))
}

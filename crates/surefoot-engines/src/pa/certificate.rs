//! The proof as a certificate has it: the reachable abstract states as regions, each with a tree that says what the policy may choose where.
//!
//! An abstract state is a box and linear facts; only conditions that are not linear must be cut into such regions first. A region is split until no part lists an output
//! that leads out of the reachable abstract states, since the checker goes by what is listed. Boxes side by side become one, with a split
//! where they met.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use surefoot_certificate as certificate;
use surefoot_certificate::TreeNode;
use surefoot_policy::certify::{Fact, OutputSet};
use surefoot_solve::{Answer, Excluded, Step};

use super::abstraction::Abstraction;
use super::cell::Cell;
use super::predicates::Region;
use crate::symbolic::{Choice, POLICY_BOXES, Split, StateBox, Stop, halve};

impl Abstraction<'_> {
    /// The regions of abstract states that are an invariant. `look_around` is told how many bytes are in use.
    pub fn regions(
        &mut self,
        cells: &[Cell],
        mut look_around: impl FnMut(u64) -> Result<(), Stop>,
    ) -> Result<Vec<certificate::Region>, Stop> {
        let all: FxHashSet<&Cell> = cells.iter().collect();
        let mut trees = Vec::new();
        let size =
            (2 * self.problem().domain.lower.len() * size_of::<i32>() + size_of::<RegionTree>()) as u64;
        let mut nodes = 0;
        for cell in cells {
            let bytes = self.memory() + trees.len() as u64 * size + nodes * size_of::<TreeNode>() as u64;
            let mut excluded = BTreeMap::new();
            let regions =
                self.predicates.exact_regions(cell, |more| look_around(bytes + more as u64 * size))?;
            for region in regions {
                look_around(bytes)?;
                let tree = self.tree(cell, &region, &all, &mut excluded)?;
                nodes += 2 * tree.len() as u64;
                trees.push(RegionTree { region, tree });
            }
            for (_, excluded) in excluded {
                self.steps.forget(excluded);
            }
        }
        Ok(merge(trees).into_iter().map(|tree| self.written(tree)).collect())
    }

    /// What the policy may choose in the parts of a region, split until no part leads out of the invariant.
    fn tree(
        &mut self,
        cell: &Cell,
        region: &Region,
        all: &FxHashSet<&Cell>,
        excluded: &mut BTreeMap<Step, Excluded>,
    ) -> Result<Vec<TreeNode>, Stop> {
        let mut tree = Vec::new();
        if self.problem().task.policy.is_none() {
            return Ok(tree);
        }
        let mut parts = vec![region.states.clone()];
        while let Some(part) = parts.pop() {
            let region = Region { states: part, facts: region.facts.clone() };
            let mut outputs = OutputSet::new();
            if let Some((variable, low, high)) = self.split(cell, &region, all, excluded, &mut outputs)? {
                tree.push(TreeNode::Split { variable: variable as u32, at: high.lower[variable] });
                parts.extend([high, low]);
            } else {
                tree.push(TreeNode::Leaf(outputs.iter().map(|output| output as u32).collect()));
            }
        }
        Ok(tree)
    }

    /// Where to split a region of an abstract state because an output that the policy may choose in it leads out of the invariant. If there is no need,
    /// `outputs` has all that it may choose.
    fn split(
        &mut self,
        cell: &Cell,
        region: &Region,
        all: &FxHashSet<&Cell>,
        excluded: &mut BTreeMap<Step, Excluded>,
        outputs: &mut OutputSet,
    ) -> Result<Option<Split>, Stop> {
        for output in 0..self.problem().commands_of.len() {
            let choice = self.policy.test_with(&region.states, &region.facts, output, POLICY_BOXES)?;
            if matches!(choice, Choice::Never) {
                continue;
            }
            outputs.insert(output);
            for &command in &self.problem().commands_of[output] {
                if self.images.enabled(command, &region.states).is_none() {
                    continue;
                }
                let from = match self.states.error(command, cell, &region.states)? {
                    Some(state) => Some(state),
                    None => self.way_out(cell, &region.states, command, all, excluded)?,
                };
                let Some(from) = from else { continue };
                let split = match &choice {
                    Choice::At(chosen) => self.policy.divide(&region.states, &from, chosen),
                    _ => halve(&region.states),
                };
                if split.is_some() {
                    return Ok(split);
                }
            }
        }
        Ok(None)
    }

    /// A state of an abstract state and a box from which a command leads out of the invariant.
    fn way_out(
        &mut self,
        cell: &Cell,
        part: &StateBox,
        command: usize,
        all: &FxHashSet<&Cell>,
        excluded: &mut BTreeMap<Step, Excluded>,
    ) -> Result<Option<Vec<i32>>, Stop> {
        let bounds = part.bounds(&self.problem().domain);
        for outcome in 0..self.problem().task.system.commands[command].outcomes.len() {
            let step = Step { command, outcome };
            let excluded = *excluded.entry(step).or_insert_with(|| self.steps.exclude_nothing(step));
            loop {
                match self.steps.leave(|index| cell.value(index), &bounds, &excluded) {
                    Answer::Unknown => return Err(Stop::Limit),
                    Answer::Unsatisfiable => break,
                    Answer::Satisfiable => {}
                }
                let (from, to) = (self.steps.state(), self.steps.successor());
                let target = self.predicates.cell(&to);
                if !all.contains(&target) {
                    return Ok(Some(from));
                }
                self.steps.exclude(&excluded, |index| target.value(index));
            }
        }
        Ok(None)
    }

    /// A region as a certificate has it.
    fn written(&self, RegionTree { region, tree }: RegionTree) -> certificate::Region {
        let fact = |fact: &Fact| certificate::Fact {
            terms: fact.terms.iter().map(|&(v, factor)| (v.0, factor)).collect(),
            limit: fact.at_most,
        };
        certificate::Region {
            bounds: region.states.certificate_bounds(&self.problem().domain),
            facts: region.facts.iter().map(fact).collect(),
            tree,
        }
    }
}

/// A region and what the policy may choose in its parts.
struct RegionTree {
    region: Region,
    tree: Vec<TreeNode>,
}

/// The same states in fewer regions: boxes that stand side by side, with the same facts, become one.
fn merge(mut trees: Vec<RegionTree>) -> Vec<RegionTree> {
    let variables = trees.first().map_or(0, |tree| tree.region.states.lower.len());
    for variable in 0..variables {
        let others = |ends: &[i32]| [&ends[..variable], &ends[variable + 1..]].concat();
        trees.sort_by_cached_key(|RegionTree { region: Region { states, facts }, .. }| {
            let facts: Vec<_> = facts.iter().map(|fact| (fact.terms.clone(), fact.at_most)).collect();
            (facts, others(&states.lower), others(&states.upper), states.lower[variable])
        });
        let mut merged: Vec<RegionTree> = Vec::with_capacity(trees.len());
        for tree in trees {
            let is_beside = |last: &&mut RegionTree| {
                let (last, next) = (&last.region, &tree.region);
                last.facts == next.facts
                    && i64::from(last.states.upper[variable]) + 1 == i64::from(next.states.lower[variable])
                    && others(&last.states.lower) == others(&next.states.lower)
                    && others(&last.states.upper) == others(&next.states.upper)
            };
            match merged.last_mut().filter(is_beside) {
                None => merged.push(tree),
                Some(last) => {
                    let at = tree.region.states.lower[variable];
                    last.region.states.upper[variable] = tree.region.states.upper[variable];
                    // What is the same everywhere needs no split.
                    let is_same = last.tree == tree.tree && last.tree.len() <= 1;
                    if !is_same {
                        last.tree.insert(0, TreeNode::Split { variable: variable as u32, at });
                        last.tree.extend(tree.tree);
                    }
                }
            }
        }
        trees = merged;
    }
    trees
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The outputs that a tree lists for a state.
    fn listed(tree: &[TreeNode], state: &[i32]) -> Vec<u32> {
        fn skip(tree: &[TreeNode], at: usize) -> usize {
            match tree[at] {
                TreeNode::Leaf(_) => at + 1,
                TreeNode::Split { .. } => skip(tree, skip(tree, at + 1)),
            }
        }
        let mut at = 0;
        loop {
            match &tree[at] {
                TreeNode::Leaf(outputs) => return outputs.clone(),
                TreeNode::Split { variable, at: bound } => {
                    at = if state[*variable as usize] < *bound { at + 1 } else { skip(tree, at + 1) };
                }
            }
        }
    }

    proptest! {
        #[test]
        fn merged_regions_say_the_same(cells in proptest::collection::btree_map(proptest::array::uniform2(0..4_i32), (0..3_u32, 0..2_i64), 0..17)) {
            let tree = |(state, (output, limit)): (&[i32; 2], &(u32, i64))| RegionTree {
                region: Region {
                    states: StateBox::of_state(state),
                    facts: vec![Fact { terms: Vec::new(), at_most: *limit }],
                },
                tree: vec![TreeNode::Leaf(vec![*output])],
            };
            let merged = merge(cells.iter().map(tree).collect());
            for code in 0..16 {
                let state = [code % 4, code / 4];
                let holding: Vec<&RegionTree> =
                    merged.iter().filter(|tree| tree.region.states.contains(&state)).collect();
                match cells.get(&state) {
                    None => prop_assert!(holding.is_empty()),
                    Some((output, limit)) => {
                        prop_assert_eq!(holding.len(), 1);
                        prop_assert_eq!(listed(&holding[0].tree, &state), vec![*output]);
                        prop_assert_eq!(holding[0].region.facts[0].at_most, *limit);
                    }
                }
            }
        }
    }
}

//! Regions of the smaller system as regions of the original: what was left out is free within the bounds that the pass relied on.

use surefoot_certificate::{Fact, Region, TreeNode};
use surefoot_model::pass::{Fate, Reduction};

use super::bounds_of;
use crate::symbolic::StateBox;

/// The regions of the original task, whose domains are given, for those of the reduced one.
pub fn lift_regions(reduction: &Reduction, domain: &StateBox, regions: Vec<Region>) -> Vec<Region> {
    let mut originals = vec![0; reduction.system.variables.len()];
    for (original, fate) in reduction.restore.variables.iter().enumerate() {
        if let Fate::Kept(variable) = fate {
            originals[variable.index()] = original as u32;
        }
    }
    let (lower, upper) = reduction.system.variables.iter().filter_map(|v| v.ty.bounds()).unzip();
    let all = StateBox { lower, upper };
    let lift = |region: Region| {
        let mut states = all.clone();
        for bound in &region.bounds {
            let variable = bound.variable as usize;
            (states.lower[variable], states.upper[variable]) = (bound.lower, bound.upper);
        }
        let (lower, upper) = (bounds_of(reduction, &states.lower).0, bounds_of(reduction, &states.upper).1);
        let fact = |fact: Fact| {
            let mut terms: Vec<(u32, i32)> =
                fact.terms.iter().map(|&(variable, factor)| (originals[variable as usize], factor)).collect();
            terms.sort_unstable();
            Fact { terms, ..fact }
        };
        let node = |node: TreeNode| match node {
            TreeNode::Split { variable, at } => {
                TreeNode::Split { variable: originals[variable as usize], at }
            }
            TreeNode::Leaf(outputs) => TreeNode::Leaf(outputs),
        };
        Region {
            bounds: StateBox { lower, upper }.certificate_bounds(domain),
            facts: region.facts.into_iter().map(fact).collect(),
            tree: region.tree.into_iter().map(node).collect(),
        }
    };
    regions.into_iter().map(lift).collect()
}

//! Ways to falsify a certificate.

use surefoot_certificate::{Certificate, Fact, Region, TreeNode};
use surefoot_engines::{Goal, OutOfDomain, Task};
use surefoot_model::LabelId;
use surefoot_policy::{Arithmetic, Ensemble, Parameter, Policy, Scorer};

use crate::oracle::size;
use crate::random::Random;

/// Changes the regions. The certificate stays well formed, and brute force says whether it is still a proof.
pub const CONTENTS: [fn(&mut Certificate, &mut Random) -> Option<()>; 18] = [
    shrink,
    widen,
    widen_to_domain,
    shift,
    |certificate, random| {
        let at = random.below(certificate.regions.len());
        (!certificate.regions.is_empty()).then(|| drop(certificate.regions.remove(at)))
    },
    |certificate, random| {
        let copy = region(certificate, random)?.clone();
        certificate.regions.push(copy);
        Some(())
    },
    |certificate, _| {
        certificate.regions.reverse();
        Some(())
    },
    |certificate, random| {
        let outputs = leaf(certificate, random)?;
        let at = random.below(outputs.len());
        (!outputs.is_empty()).then(|| outputs.remove(at)).map(|_| ())
    },
    |certificate, random| {
        let all = certificate.outputs.as_ref()?.len();
        let outputs = leaf(certificate, random)?;
        outputs.push(random.below(all) as u32);
        outputs.sort_unstable();
        outputs.dedup();
        Some(())
    },
    |certificate, random| {
        leaf(certificate, random)?.clear();
        Some(())
    },
    drop_leaf,
    |certificate, random| {
        let split = node(certificate, random, |node| matches!(node, TreeNode::Split { .. }))?;
        let TreeNode::Split { at, .. } = split else { return None };
        *at += if random.one_in(2) { 1 } else { -1 };
        Some(())
    },
    |certificate, random| {
        let (a, b) = (random.below(certificate.regions.len()), random.below(certificate.regions.len()));
        let tree = certificate.regions.get(a)?.tree.clone();
        certificate.regions[b].tree = tree;
        Some(())
    },
    |certificate, random| {
        let all = certificate.outputs.as_ref()?.len() as u32;
        region(certificate, random)?.tree = vec![TreeNode::Leaf((0..all).collect())];
        Some(())
    },
    |certificate, random| {
        fact(certificate, random)?.limit += if random.one_in(2) { 1 } else { -1 };
        Some(())
    },
    |certificate, random| {
        let fact = fact(certificate, random)?;
        let at = random.below(fact.terms.len());
        fact.terms.get_mut(at)?.1 *= -1;
        Some(())
    },
    |certificate, random| {
        let region = region(certificate, random)?;
        let at = random.below(region.facts.len());
        (!region.facts.is_empty()).then(|| drop(region.facts.remove(at)))
    },
    |certificate, random| {
        let variables = certificate.variables.len();
        let terms = vec![(random.below(variables) as u32, if random.one_in(2) { 1 } else { -1 })];
        let limit = random.below(5) as i64 - 2;
        region(certificate, random)?.facts.push(Fact { terms, limit });
        Some(())
    },
];

fn region<'c>(certificate: &'c mut Certificate, random: &mut Random) -> Option<&'c mut Region> {
    let at = random.below(certificate.regions.len());
    certificate.regions.get_mut(at)
}

fn fact<'c>(certificate: &'c mut Certificate, random: &mut Random) -> Option<&'c mut Fact> {
    let mut facts: Vec<&mut Fact> =
        certificate.regions.iter_mut().flat_map(|region| &mut region.facts).collect();
    let at = random.below(facts.len());
    (!facts.is_empty()).then(|| facts.swap_remove(at))
}

fn node<'c>(
    certificate: &'c mut Certificate,
    random: &mut Random,
    is_kind: fn(&TreeNode) -> bool,
) -> Option<&'c mut TreeNode> {
    let nodes = certificate.regions.iter_mut().flat_map(|region| &mut region.tree);
    let mut nodes: Vec<&mut TreeNode> = nodes.filter(|node| is_kind(node)).collect();
    let at = random.below(nodes.len());
    (!nodes.is_empty()).then(|| nodes.swap_remove(at))
}

fn leaf<'c>(certificate: &'c mut Certificate, random: &mut Random) -> Option<&'c mut Vec<u32>> {
    match node(certificate, random, |node| matches!(node, TreeNode::Leaf(_)))? {
        TreeNode::Leaf(outputs) => Some(outputs),
        TreeNode::Split { .. } => None,
    }
}

fn bound<'c>(
    certificate: &'c mut Certificate,
    random: &mut Random,
) -> Option<(&'c mut surefoot_certificate::Bound, (i32, i32))> {
    let bounds = certificate.regions.iter_mut().flat_map(|region| &mut region.bounds);
    let mut bounds: Vec<_> = bounds.collect();
    let at = random.below(bounds.len());
    if bounds.is_empty() {
        return None;
    }
    let bound = bounds.swap_remove(at);
    let domain = &certificate.variables[bound.variable as usize];
    Some((bound, (domain.lower, domain.upper)))
}

fn shrink(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let (bound, _) = bound(certificate, random)?;
    match random.one_in(2) {
        _ if bound.lower == bound.upper => return None,
        true => bound.lower += 1,
        false => bound.upper -= 1,
    }
    Some(())
}

fn widen(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let (bound, (lower, upper)) = bound(certificate, random)?;
    match random.one_in(2) {
        true if bound.lower > lower => bound.lower -= 1,
        _ if bound.upper < upper => bound.upper += 1,
        _ => return None,
    }
    Some(())
}

fn widen_to_domain(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let (bound, (lower, upper)) = bound(certificate, random)?;
    (bound.lower, bound.upper) = (lower, upper);
    Some(())
}

fn shift(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let (bound, (lower, upper)) = bound(certificate, random)?;
    let by = if random.one_in(2) { 1 } else { -1 };
    if bound.lower + by < lower || bound.upper + by > upper {
        return None;
    }
    bound.lower += by;
    bound.upper += by;
    Some(())
}

/// A split is replaced by one of its children.
fn drop_leaf(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let region = region(certificate, random)?;
    let splits = region.tree.iter().enumerate().filter(|(_, node)| matches!(node, TreeNode::Split { .. }));
    let splits: Vec<usize> = splits.map(|(at, _)| at).collect();
    let at = *splits.get(random.below(splits.len()))?;
    let left = at + 1..at + 1 + size(&region.tree[at + 1..]);
    let right = left.end..left.end + size(&region.tree[left.end..]);
    let kept = region.tree[if random.one_in(2) { left } else { right.clone() }].to_vec();
    region.tree.splice(at..right.end, kept);
    Some(())
}

/// Changes what the certificate is about. None of this may be accepted for the task as it was.
pub const BINDING: [fn(&mut Certificate) -> Option<()>; 13] = [
    |certificate| {
        let mut others =
            Arithmetic::ALL.into_iter().filter(|&other| other != certificate.semantics.arithmetic);
        certificate.semantics.arithmetic = others.next_back()?;
        Some(())
    },
    |certificate| {
        certificate.semantics.filter ^= true;
        Some(())
    },
    |certificate| {
        let goal = &mut certificate.semantics.goal;
        *goal = if *goal == Goal::Strict { Goal::Terminal } else { Goal::Strict };
        Some(())
    },
    |certificate| {
        let reading = &mut certificate.semantics.out_of_domain;
        *reading = if *reading == OutOfDomain::Error { OutOfDomain::Block } else { OutOfDomain::Error };
        Some(())
    },
    |certificate| {
        let (first, second) = (certificate.inputs[0].sha256, certificate.inputs[1].sha256);
        (certificate.inputs[0].sha256, certificate.inputs[1].sha256) = (second, first);
        Some(())
    },
    |certificate| {
        certificate.inputs[1].sha256[31] ^= 1;
        Some(())
    },
    |certificate| certificate.inputs.pop().map(drop),
    |certificate| {
        certificate.inputs.push(certificate.inputs[0]);
        Some(())
    },
    |certificate| {
        certificate.variables[0].name.push('_');
        Some(())
    },
    |certificate| {
        certificate.variables[0].upper = certificate.variables[0].upper.checked_add(1)?;
        Some(())
    },
    |certificate| {
        let last = certificate.labels.last()?.clone();
        *certificate.labels.last_mut()? = last + "_";
        Some(())
    },
    |certificate| {
        let outputs = certificate.outputs.as_mut()?;
        outputs.rotate_left(1);
        (outputs.len() > 1).then_some(())
    },
    |certificate| {
        certificate.outputs = match certificate.outputs {
            Some(_) => None,
            None => Some(Vec::new()),
        };
        for region in &mut certificate.regions {
            region.tree =
                if certificate.outputs.is_some() { vec![TreeNode::Leaf(Vec::new())] } else { Vec::new() };
        }
        Some(())
    },
];

/// Another task whose files happen to have the same hashes: the checker must look at the task itself.
pub fn other_task(task: &Task, random: &mut Random) -> Task {
    let mut other = task.clone();
    let exprs = &mut other.system.exprs;
    match random.below(4) {
        0 => other.property.unsafe_states = exprs.not(other.property.unsafe_states).expect("a condition"),
        1 => other.property.start.condition = Some(exprs.bool(true)),
        2 => {
            let count = other.system.commands.len();
            if let Some(command) = other.system.commands.get_mut(random.below(count)) {
                command.guard = exprs.bool(true);
            }
        }
        _ => {
            let labels: Vec<LabelId> = task.policy.iter().flat_map(|policy| policy.outputs.clone()).collect();
            let base = labels.iter().map(|_| Parameter::from(random.below(3) as f64)).collect();
            if let Some(policy) = &task.policy {
                let scorer = Ensemble::new(policy.inputs.len(), base, Vec::new()).expect("well formed");
                let inputs = policy.inputs.clone();
                let made = Policy::new(inputs, labels, policy.filter, Scorer::Ensemble(scorer));
                other.policy = Some(made.expect("the sizes agree"));
            }
        }
    }
    other
}

//! Ways to falsify a certificate.

use surefoot_certificate::{Bound, Certificate, Fact, Region, TreeNode};
use surefoot_engines::{Goal, OutOfDomain, Task};
use surefoot_model::{Assignment, Command, Outcome, VarId, VariableType};
use surefoot_policy::{Arithmetic, Ensemble, Parameter, Scorer};

use crate::oracle::size;
use crate::random::Random;

// Kinds of changes, by name; `None` if it does not apply.
type OfContents = (&'static str, fn(&mut Certificate, &mut Random) -> Option<()>);
type OfBinding = (&'static str, fn(&mut Certificate) -> Option<()>);
type OfTask = (&'static str, fn(&mut Task, &mut Random) -> Option<()>);
type OfFile = (&'static str, fn(&mut Vec<u8>, &mut Random));

/// Changes the regions. The certificate stays well formed, and brute force says whether it is still a proof.
pub const CONTENTS: [OfContents; 22] = [
    ("a bound moved inwards by one", shrink),
    ("a bound moved outwards by one", widen),
    ("a bound removed", widen_to_domain),
    ("both bounds of a variable moved by one", shift),
    ("a bound added", add_bound),
    ("a region cut down to one of its states", to_a_point),
    ("a region removed", |certificate, random| {
        let at = random.below(certificate.regions.len());
        (!certificate.regions.is_empty()).then(|| drop(certificate.regions.remove(at)))
    }),
    ("all regions removed", |certificate, _| {
        let had = !certificate.regions.is_empty();
        certificate.regions.clear();
        had.then_some(())
    }),
    ("a region widened to all states", |certificate, random| {
        let region = region(certificate, random)?;
        let had = !region.bounds.is_empty() || !region.facts.is_empty();
        (region.bounds, region.facts) = (Vec::new(), Vec::new());
        had.then_some(())
    }),
    ("a region listed twice", |certificate, random| {
        let copy = region(certificate, random)?.clone();
        certificate.regions.push(copy);
        Some(())
    }),
    ("regions in another order", |certificate, _| {
        certificate.regions.reverse();
        Some(())
    }),
    ("an output not listed", |certificate, random| {
        let outputs = leaf(certificate, random)?;
        let at = random.below(outputs.len());
        (!outputs.is_empty()).then(|| outputs.remove(at)).map(|_| ())
    }),
    ("another output listed too", |certificate, random| {
        let all = certificate.outputs.as_ref()?.len();
        let outputs = leaf(certificate, random)?;
        outputs.push(random.below(all) as u32);
        outputs.sort_unstable();
        outputs.dedup();
        Some(())
    }),
    ("another output listed instead", |certificate, random| {
        let all = certificate.outputs.as_ref()?.len() as u32;
        let outputs = leaf(certificate, random)?;
        let others: Vec<u32> = (0..all).filter(|output| !outputs.contains(output)).collect();
        *outputs = vec![*others.get(random.below(others.len()))?];
        Some(())
    }),
    ("no output listed", |certificate, random| {
        leaf(certificate, random)?.clear();
        Some(())
    }),
    ("a split replaced by one of its sides", drop_leaf),
    ("a split moved by one", |certificate, random| {
        let split = node(certificate, random, |node| matches!(node, TreeNode::Split { .. }))?;
        let TreeNode::Split { at, .. } = split else { return None };
        *at += if random.one_in(2) { 1 } else { -1 };
        Some(())
    }),
    ("the tree of another region", |certificate, random| {
        let (a, b) = (random.below(certificate.regions.len()), random.below(certificate.regions.len()));
        let tree = certificate.regions.get(a)?.tree.clone();
        certificate.regions[b].tree = tree;
        Some(())
    }),
    ("a tree without splits that lists all", |certificate, random| {
        let all = certificate.outputs.as_ref()?.len() as u32;
        region(certificate, random)?.tree = vec![TreeNode::Leaf((0..all).collect())];
        Some(())
    }),
    ("the limit of a fact moved by one", |certificate, random| {
        fact(certificate, random)?.limit += if random.one_in(2) { 1 } else { -1 };
        Some(())
    }),
    ("a factor of a fact negated, or the fact removed", |certificate, random| {
        let remove = random.one_in(2);
        let region = region(certificate, random)?;
        let at = random.below(region.facts.len());
        let fact = region.facts.get_mut(at)?;
        let term = random.below(fact.terms.len());
        match fact.terms.get_mut(term) {
            Some(term) if !remove => term.1 *= -1,
            _ => drop(region.facts.remove(at)),
        }
        Some(())
    }),
    ("a fact added", |certificate, random| {
        let variables = certificate.variables.len();
        let terms = vec![(random.below(variables) as u32, if random.one_in(2) { 1 } else { -1 })];
        let limit = random.below(5) as i64 - 2;
        region(certificate, random)?.facts.push(Fact { terms, limit });
        Some(())
    }),
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

fn bound<'c>(certificate: &'c mut Certificate, random: &mut Random) -> Option<(&'c mut Bound, (i32, i32))> {
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

fn add_bound(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let variable = random.below(certificate.variables.len());
    let (lower, upper) = (certificate.variables[variable].lower, certificate.variables[variable].upper);
    let region = region(certificate, random)?;
    let at = region.bounds.partition_point(|bound| (bound.variable as usize) < variable);
    if lower == upper || region.bounds.get(at).is_some_and(|bound| bound.variable as usize == variable) {
        return None;
    }
    let (lower, upper) = if random.one_in(2) { (lower + 1, upper) } else { (lower, upper - 1) };
    region.bounds.insert(at, Bound { variable: variable as u32, lower, upper });
    Some(())
}

fn to_a_point(certificate: &mut Certificate, random: &mut Random) -> Option<()> {
    let domains: Vec<(i32, i32)> = certificate.variables.iter().map(|d| (d.lower, d.upper)).collect();
    let region = region(certificate, random)?;
    let bounds = domains.iter().enumerate().map(|(variable, &domain)| {
        let variable = variable as u32;
        let bound = region.bounds.iter().find(|bound| bound.variable == variable);
        let (lower, upper) = bound.map_or(domain, |bound| (bound.lower, bound.upper));
        let value = if random.one_in(2) { lower } else { upper };
        Bound { variable, lower: value, upper: value }
    });
    let bounds = bounds.collect();
    let changed = region.bounds != bounds;
    region.bounds = bounds;
    changed.then_some(())
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
pub const BINDING: [OfBinding; 13] = [
    ("another arithmetic named", |certificate| {
        let mut others =
            Arithmetic::ALL.into_iter().filter(|&other| other != certificate.semantics.arithmetic);
        certificate.semantics.arithmetic = others.next_back()?;
        Some(())
    }),
    ("the other filter named", |certificate| {
        certificate.semantics.filter ^= true;
        Some(())
    }),
    ("another reading of goals named", |certificate| {
        let goal = &mut certificate.semantics.goal;
        *goal = if *goal == Goal::Strict { Goal::Terminal } else { Goal::Strict };
        Some(())
    }),
    ("the other reading of domains named", |certificate| {
        let reading = &mut certificate.semantics.out_of_domain;
        *reading = if *reading == OutOfDomain::Error { OutOfDomain::Block } else { OutOfDomain::Error };
        Some(())
    }),
    ("files exchanged", |certificate| {
        let (first, second) = (certificate.inputs[0].sha256, certificate.inputs[1].sha256);
        (certificate.inputs[0].sha256, certificate.inputs[1].sha256) = (second, first);
        Some(())
    }),
    ("a bit of a file changed", |certificate| {
        certificate.inputs[1].sha256[31] ^= 1;
        Some(())
    }),
    ("a file less", |certificate| certificate.inputs.pop().map(drop)),
    ("a file more", |certificate| {
        certificate.inputs.push(certificate.inputs[0]);
        Some(())
    }),
    ("a variable of another name", |certificate| {
        certificate.variables[0].name.push('_');
        Some(())
    }),
    ("a larger domain", |certificate| {
        certificate.variables[0].upper = certificate.variables[0].upper.checked_add(1)?;
        Some(())
    }),
    ("a label of another name", |certificate| {
        let last = certificate.labels.last()?.clone();
        *certificate.labels.last_mut()? = last + "_";
        Some(())
    }),
    ("outputs in another order", |certificate| {
        let outputs = certificate.outputs.as_mut()?;
        outputs.rotate_left(1);
        (outputs.len() > 1).then_some(())
    }),
    ("a policy where there is none, or none where there is one", |certificate| {
        certificate.outputs = match certificate.outputs {
            Some(_) => None,
            None => Some(Vec::new()),
        };
        for region in &mut certificate.regions {
            region.tree =
                if certificate.outputs.is_some() { vec![TreeNode::Leaf(Vec::new())] } else { Vec::new() };
        }
        Some(())
    }),
];

/// Changes the file.
pub const FILES: [OfFile; 4] = [
    ("a file cut off", |bytes, random| bytes.truncate(random.below(bytes.len()))),
    ("a byte after the end", |bytes, random| bytes.push(random.below(256) as u8)),
    ("a bit flipped", |bytes, random| {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }),
    ("a byte exchanged", |bytes, random| {
        let at = random.below(bytes.len());
        bytes[at] = random.below(256) as u8;
    }),
];

/// Changes the task, whose files happen to have the same hashes: the checker must look at the task itself.
pub const TASKS: [OfTask; 5] = [
    ("a task whose safe states are unsafe", |task, _| {
        let exprs = &mut task.system.exprs;
        task.property.unsafe_states = exprs.not(task.property.unsafe_states).expect("a condition");
        Some(())
    }),
    ("a task that starts anywhere", |task, _| {
        task.property.start.condition = Some(task.system.exprs.bool(true));
        Some(())
    }),
    ("a task with a guard that is always true", |task, random| {
        let count = task.system.commands.len();
        let command = task.system.commands.get_mut(random.below(count))?;
        command.guard = task.system.exprs.bool(true);
        Some(())
    }),
    ("a task with a command more", |task, random| {
        let number = random.below(task.system.variables.len());
        let (lower, upper) = task.system.variables[number].ty.bounds()?;
        let value = if random.one_in(2) { lower } else { upper };
        let exprs = &mut task.system.exprs;
        let value = match task.system.variables[number].ty {
            VariableType::Bool => exprs.bool(value == 1),
            _ => exprs.int(value.into()),
        };
        let assignments = vec![Assignment { variable: VarId(number as u32), value }];
        let outcomes = vec![Outcome { probability: exprs.int(1), assignments, requirements: Vec::new() }];
        let guard = exprs.bool(true);
        task.system.commands.push(Command { label: None, guard, outcomes, origin: String::new() });
        Some(())
    }),
    ("a task with another policy", |task, random| {
        let policy = task.policy.as_mut()?;
        let base = policy.outputs.iter().map(|_| Parameter::from(random.below(3) as f64)).collect();
        let scorer = Ensemble::new(policy.inputs.len(), base, Vec::new()).expect("well formed");
        policy.scorer = Scorer::Ensemble(scorer);
        Some(())
    }),
];

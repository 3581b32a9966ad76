//! Certificates made from what brute force found: boxes of reachable states, grown greedily.

use std::collections::HashSet;

use surefoot_certificate::{Bound, Certificate, Domain, Fact, Input, Region, Role, Subject, TreeNode};
use surefoot_engines::Task;

use crate::oracle::{Oracle, satisfies};
use crate::random::Random;

/// What stands for the files of a random task.
pub fn inputs() -> Vec<Input> {
    vec![Input::new(Role::Model, b"a model"), Input::new(Role::Policy, b"a policy")]
}

pub fn subject<'t>(task: &'t Task, inputs: &'t [Input]) -> Subject<'t> {
    Subject {
        system: &task.system,
        property: &task.property,
        policy: task.policy.as_ref(),
        semantics: task.semantics,
        inputs,
    }
}

pub fn domains(task: &Task) -> Vec<Domain> {
    let domain = |variable: &surefoot_model::Variable| {
        let (lower, upper) = variable.ty.bounds().expect("random variables are discrete");
        Domain { name: variable.name.clone(), lower, upper }
    };
    task.system.variables.iter().map(domain).collect()
}

/// A certificate whose regions cover some states and nothing else.
pub fn certificate(
    oracle: &Oracle<'_>,
    task: &Task,
    states: &[Vec<i32>],
    random: &mut Random,
) -> Certificate {
    let reached: HashSet<&[i32]> = states.iter().map(Vec::as_slice).collect();
    let domains = domains(task);
    let mut covered: HashSet<Vec<i32>> = HashSet::new();
    let mut regions = Vec::new();
    for state in states {
        if covered.contains(state) {
            continue;
        }
        let facts = if random.one_in(3) { vec![fact(state, random)] } else { Vec::new() };
        let ranges = grow(state, &facts, &domains, &reached, random);
        let inside: Vec<Vec<i32>> =
            points(&ranges).into_iter().filter(|s| facts.iter().all(|fact| satisfies(fact, s))).collect();
        let mut tree = Vec::new();
        if task.policy.is_some() {
            plant(oracle, &ranges, &inside, &reached, random, &mut tree);
        }
        let bounds = ranges.iter().zip(&domains).enumerate();
        let bounds = bounds.filter(|(_, (range, domain))| **range != (domain.lower, domain.upper));
        let bounds =
            bounds.map(|(v, (range, _))| Bound { variable: v as u32, lower: range.0, upper: range.1 });
        regions.push(Region { bounds: bounds.collect(), facts, tree });
        covered.extend(inside);
    }
    Certificate {
        inputs: inputs(),
        variables: domains,
        labels: task.system.labels.iter().map(|label| label.name.clone()).collect(),
        outputs: task.policy.as_ref().map(|policy| policy.outputs.iter().map(|label| label.0).collect()),
        semantics: task.semantics,
        regions,
    }
}

/// A fact that holds at a state, with nothing to spare.
fn fact(state: &[i32], random: &mut Random) -> Fact {
    let mut terms = Vec::new();
    for variable in 0..state.len() {
        let factor = [0, 1, -1, 2, -3][random.below(5)];
        if factor != 0 {
            terms.push((variable as u32, factor));
        }
    }
    let limit = terms.iter().map(|&(v, factor)| i64::from(factor) * i64::from(state[v as usize])).sum();
    Fact { terms, limit }
}

type Ranges = Vec<(i32, i32)>;

pub fn points(ranges: &[(i32, i32)]) -> Vec<Vec<i32>> {
    let mut points = vec![Vec::new()];
    for &(lower, upper) in ranges {
        let longer = points.into_iter().flat_map(|point: Vec<i32>| {
            (lower..=upper).map(move |value| point.iter().copied().chain([value]).collect())
        });
        points = longer.collect();
    }
    points
}

/// A box around a state, in which all states that satisfy the facts are reached.
fn grow(
    state: &[i32],
    facts: &[Fact],
    domains: &[Domain],
    reached: &HashSet<&[i32]>,
    random: &mut Random,
) -> Ranges {
    let mut ranges: Ranges = state.iter().map(|&value| (value, value)).collect();
    for _ in 0..4 * state.len() {
        let v = random.below(state.len());
        let mut slice = ranges.clone();
        if random.one_in(2) && ranges[v].1 < domains[v].upper {
            slice[v] = (ranges[v].1 + 1, ranges[v].1 + 1);
        } else if ranges[v].0 > domains[v].lower {
            slice[v] = (ranges[v].0 - 1, ranges[v].0 - 1);
        } else {
            continue;
        }
        let fits = |s: &Vec<i32>| reached.contains(s.as_slice()) || !facts.iter().all(|f| satisfies(f, s));
        if points(&slice).iter().all(fits) {
            ranges[v] = (ranges[v].0.min(slice[v].0), ranges[v].1.max(slice[v].1));
        }
    }
    ranges
}

/// Appends a tree whose leaves list what is chosen in them, split until the successors of each leaf are reached.
fn plant(
    oracle: &Oracle<'_>,
    ranges: &[(i32, i32)],
    inside: &[Vec<i32>],
    reached: &HashSet<&[i32]>,
    random: &mut Random,
    tree: &mut Vec<TreeNode>,
) {
    let goes_on: Vec<&Vec<i32>> = inside.iter().filter(|state| !oracle.ends(state)).collect();
    let chosen = goes_on.iter().flat_map(|state| oracle.choices(state).unwrap_or_default());
    let mut chosen: Vec<u32> = chosen.collect();
    chosen.sort_unstable();
    chosen.dedup();
    let taken = || (0..oracle.commands()).filter(|&command| oracle.is_taken(command, Some(&chosen)));
    let closed = goes_on.iter().all(|state| {
        taken().all(|command| {
            let after = oracle.successors(command, state);
            after.is_ok_and(|after| after.iter().all(|state| reached.contains(state.as_slice())))
        })
    });
    let wide: Vec<usize> = (0..ranges.len()).filter(|&v| ranges[v].0 < ranges[v].1).collect();
    if wide.is_empty() || closed && !random.one_in(4) {
        tree.push(TreeNode::Leaf(chosen));
        return;
    }
    let v = wide[random.below(wide.len())];
    let at = ranges[v].0 + 1 + random.below((ranges[v].1 - ranges[v].0) as usize) as i32;
    tree.push(TreeNode::Split { variable: v as u32, at });
    for (lower, upper) in [(ranges[v].0, at - 1), (at, ranges[v].1)] {
        let mut part = ranges.to_vec();
        part[v] = (lower, upper);
        let inside: Vec<Vec<i32>> =
            inside.iter().filter(|s| (lower..=upper).contains(&s[v])).cloned().collect();
        plant(oracle, &part, &inside, reached, random, tree);
    }
}

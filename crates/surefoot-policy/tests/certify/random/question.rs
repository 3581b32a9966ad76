//! Random questions about a policy.

use surefoot_model::VarId;
use surefoot_policy::Policy;
use surefoot_policy::certify::{Fact, OutputSet, Question};

use super::choices::Choices;

/// A question that owns its parts.
#[derive(Debug, Clone)]
pub struct Asked {
    pub lower: Vec<i32>,
    pub upper: Vec<i32>,
    pub facts: Vec<Fact>,
    pub output: usize,
    pub competing: OutputSet,
    /// A box that holds all states of the question; small in the variables that matter.
    pub core: (Vec<i32>, Vec<i32>),
    /// A number of boxes that might not suffice.
    pub boxes: u64,
}

impl Asked {
    pub fn question(&self) -> Question<'_> {
        Question {
            lower: &self.lower,
            upper: &self.upper,
            facts: &self.facts,
            output: self.output,
            competing: &self.competing,
        }
    }
}

/// A question about a box that is three values wide in nearly all variables.
pub fn wide(policy: &Policy, variables: usize, choices: &mut Choices<'_>) -> Asked {
    let outputs = policy.outputs.len();
    let output = choices.below(outputs);
    let lower: Vec<i32> = (0..variables).map(|_| choices.between(-2, 1)).collect();
    let upper: Vec<i32> = lower.iter().map(|lower| lower + if choices.one_in(8) { 0 } else { 2 }).collect();
    let facts = if choices.one_in(4) { vec![fact(&lower, &upper, choices)] } else { Vec::new() };
    let core = (lower.clone(), upper.clone());
    let boxes = choices.below(12) as u64;
    Asked { lower, upper, facts, output, competing: OutputSet::all(outputs), core, boxes }
}

/// A question about a policy over a system with this many variables.
pub fn question(policy: &Policy, variables: usize, choices: &mut Choices<'_>) -> Asked {
    let outputs = policy.outputs.len();
    let output = choices.below(outputs);
    let competing = competing(output, outputs, choices);
    let boxes = choices.below(12) as u64;
    let (mut lower, mut upper) = region(variables, choices);
    let read = policy.variables();
    let mut facts = Vec::new();
    if choices.one_in(8) {
        flatten(&mut lower, &mut upper, &read, choices);
        facts.extend(equation(&lower, &upper, &read, choices));
    }
    for _ in 0..choices.weighted(&[5, 3, 2, 1]) {
        facts.push(fact(&lower, &upper, choices));
        if choices.one_in(4) {
            facts.extend(reversed(&facts[facts.len() - 1]));
        }
    }
    let core = (lower.clone(), upper.clone());
    if choices.one_in(8) {
        widen(&mut lower, &mut upper, &mut facts, choices);
    }
    for variable in 0..variables {
        // What neither the policy nor a fact reads may have any bounds.
        let is_mentioned = |fact: &Fact| fact.terms.iter().any(|term| term.0.index() == variable);
        let matters = read.contains(&VarId(variable as u32)) || facts.iter().any(is_mentioned);
        if !matters && choices.one_in(3) {
            (lower[variable], upper[variable]) = (i32::MIN, i32::MAX);
        }
    }
    let any = choices.below(variables);
    if lower[any] > i32::MIN && choices.below(32) == 31 {
        upper[any] = lower[any] - 1;
    }
    Asked { lower, upper, facts, output, competing, core, boxes }
}

fn competing(output: usize, outputs: usize, choices: &mut Choices<'_>) -> OutputSet {
    let mut set = match choices.weighted(&[8, 1, 1, 2, 6]) {
        0 => OutputSet::all(outputs),
        1 => OutputSet::new(),
        2 => std::iter::once(output).collect(),
        3 => std::iter::once(choices.below(outputs)).collect(),
        _ => (0..outputs).filter(|_| choices.one_in(2)).collect(),
    };
    if choices.one_in(4) {
        set.remove(output);
    }
    set
}

/// A box with few states.
fn region(variables: usize, choices: &mut Choices<'_>) -> (Vec<i32>, Vec<i32>) {
    let mut left = [40, 150, 600, 3000][choices.weighted(&[12, 12, 6, 1])];
    let mut bounds = Vec::new();
    let first = choices.below(variables);
    for _ in 0..variables {
        let lower = match choices.weighted(&[12, 2, 2, 1]) {
            0 => choices.between(-6, 4),
            1 => 16_777_212 + choices.between(0, 6),
            2 => choices.pick(&[-16_777_219, 1_000_000_007, -2_000_000_000, 33_554_431]),
            _ => choices.pick(&[i32::MAX - 3, i32::MIN]),
        };
        let largest = [1, 2, 12, 200][choices.weighted(&[2, 4, 8, 1])].min(left);
        let width = 1 + choices.below(largest);
        left /= width;
        bounds.push((lower, lower.saturating_add(width as i32 - 1)));
    }
    // Not always the last variables are the narrow ones.
    bounds.rotate_left(first);
    bounds.into_iter().unzip()
}

/// Makes a box wide only in what the policy does not read.
fn flatten(lower: &mut [i32], upper: &mut [i32], read: &[VarId], choices: &mut Choices<'_>) {
    let mut left = 1600;
    for variable in 0..lower.len() {
        let is_read = read.contains(&VarId(variable as u32));
        let width = if is_read { 1 } else { 1 + choices.below(60.min(left)) };
        left /= width;
        upper[variable] = lower[variable].saturating_add(width as i32 - 1);
    }
}

/// An equation of two variables that the policy does not read. Few states satisfy it, and bounds do not show which.
fn equation(lower: &[i32], upper: &[i32], read: &[VarId], choices: &mut Choices<'_>) -> Vec<Fact> {
    let variables = (0..lower.len() as u32).map(VarId);
    let unread: Vec<VarId> = variables.filter(|variable| !read.contains(variable)).collect();
    let &[first, second, ..] = &unread[..] else { return Vec::new() };
    let (a, b) = choices.pick(&[(1, 1), (1, -1), (2, -3), (3, 2)]);
    let mut value = |variable: VarId| {
        let (lower, upper) = (i64::from(lower[variable.index()]), i64::from(upper[variable.index()]));
        lower + choices.below((upper - lower + 1) as usize) as i64
    };
    let at_most = i64::from(a) * value(first) + i64::from(b) * value(second);
    let fact = Fact { terms: vec![(first, a), (second, b)], at_most };
    reversed(&fact).into_iter().chain([fact]).collect()
}

/// The fact that makes an equation of a fact.
fn reversed(fact: &Fact) -> Option<Fact> {
    let negated = |&(variable, coefficient): &(VarId, i32)| Some((variable, coefficient.checked_neg()?));
    let terms = fact.terms.iter().map(negated).collect::<Option<_>>()?;
    Some(Fact { terms, at_most: fact.at_most.checked_neg()? })
}

/// A condition that holds in some states of the box and, often, not in all.
fn fact(lower: &[i32], upper: &[i32], choices: &mut Choices<'_>) -> Fact {
    let coefficients = [1, -1, 2, 0, -3, 1000, i32::MAX, i32::MIN];
    let term = |choices: &mut Choices<'_>| {
        let coefficient = coefficients[choices.weighted(&[8, 8, 3, 1, 3, 1, 1, 1])];
        (VarId(choices.below(lower.len()) as u32), coefficient)
    };
    let terms: Vec<(VarId, i32)> = (0..choices.weighted(&[1, 6, 8, 3])).map(|_| term(choices)).collect();
    let point: Vec<i32> = lower
        .iter()
        .zip(upper)
        .map(|(&lower, &upper)| choices.pick(&[lower, i32::midpoint(lower, upper), upper]))
        .collect();
    let sum: i64 = terms
        .iter()
        .map(|&(variable, coefficient)| i64::from(coefficient) * i64::from(point[variable.index()]))
        .fold(0, i64::saturating_add);
    let at_most = match choices.weighted(&[20, 1]) {
        0 => sum.saturating_add(choices.between(-3, 5).into()),
        _ => choices.pick(&[i64::MAX, i64::MIN, 0, -1]),
    };
    Fact { terms, at_most }
}

/// Opens the box in one variable, and adds the facts that take back what was added.
fn widen(lower: &mut [i32], upper: &mut [i32], facts: &mut Vec<Fact>, choices: &mut Choices<'_>) {
    let variable = choices.below(lower.len());
    let at_most = |coefficient: i32, bound: i64| Fact {
        terms: vec![(VarId(variable as u32), coefficient)],
        at_most: bound,
    };
    facts.push(at_most(1, upper[variable].into()));
    facts.push(at_most(-1, -i64::from(lower[variable])));
    (lower[variable], upper[variable]) = choices.pick(&[(i32::MIN, i32::MAX), (-100, i32::MAX)]);
    lower[variable] = lower[variable].min(-facts[facts.len() - 1].at_most as i32);
}

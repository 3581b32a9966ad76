//! Certificates with facts, true ones and false ones, about tasks whose start conditions and updates are made of sums: some of these
//! overflow, have no value, or are real. The checker says what brute force says.

use std::cell::Cell;

use proptest::prelude::*;
use surefoot_certificate::{Bound, Certificate, Fact, Region, TreeNode};
use surefoot_engines::Task;
use surefoot_harness::random::{RandomTask, Size, tasks_with_transfers};
use surefoot_harness::reference::{Model, all_states, explore};
use surefoot_harness::run::{cases, check};
use surefoot_model::{ExprId, Type, VarId};

use crate::agrees;
use crate::make::{domains, inputs, subject};
use crate::oracle::{LIMIT, Oracle};
use crate::random::Random;

/// Changes a task.
struct Change<'t> {
    task: &'t mut Task,
    random: &'t mut Random,
    integers: Vec<VarId>,
}

impl Change<'_> {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len())]
    }

    fn sum(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.random.one_in(4) {
            if !self.integers.is_empty() && !self.random.one_in(3) {
                let variable = self.integers[self.random.below(self.integers.len())];
                return self.task.system.exprs.variable_of_type(variable, Type::Int);
            }
            let number = if self.random.one_in(12) {
                self.pick(&[i64::MAX, 1 << 40, -(1 << 39)])
            } else {
                self.pick(&[0, 1, 2, -1, 3])
            };
            return self.task.system.exprs.int(number);
        }
        let (a, b) = (self.sum(depth - 1), self.sum(depth - 1));
        let factor = self.pick(&[2, -1, 1 << 31, -(1 << 31), 1 << 62, 0]);
        let kind = self.random.below(12);
        let exprs = &mut self.task.system.exprs;
        let made = match kind {
            0..5 => exprs.add(a, b),
            5..8 => exprs.sub(a, b),
            8 => exprs.mul(a, b),
            9 => {
                let factor = exprs.int(factor);
                exprs.mul(factor, a)
            }
            10 => exprs.min(a, b),
            _ => {
                let half = exprs.real(0.5);
                exprs.add(a, half)
            }
        };
        made.expect("numbers")
    }

    fn condition(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.random.one_in(4) {
            let (a, b, kind) = (self.sum(2), self.sum(2), self.random.below(6));
            let exprs = &mut self.task.system.exprs;
            let made = match kind {
                0 => exprs.lt(a, b),
                1 | 2 => exprs.le(a, b),
                3 | 4 => exprs.eq(a, b),
                _ => {
                    let (quotient, zero) = (exprs.div(a, b).expect("numbers"), exprs.int(0));
                    exprs.le(zero, quotient)
                }
            };
            return made.expect("numbers");
        }
        let (a, b, kind) = (self.condition(depth - 1), self.condition(depth - 1), self.random.below(8));
        let exprs = &mut self.task.system.exprs;
        let made = match kind {
            0..3 => exprs.and(a, b),
            3..6 => exprs.or(a, b),
            6 => {
                let not = exprs.not(a).expect("a condition");
                exprs.or(not, b)
            }
            _ => exprs.eq(a, b),
        };
        made.expect("conditions")
    }

    /// Another start condition, mostly one that is defined everywhere.
    fn start(&mut self) {
        for _ in 0..3 {
            let mut other = self.task.clone();
            let condition = self.condition(3);
            other.system.exprs = self.task.system.exprs.clone();
            other.property.start.condition = Some(condition);
            let model = Model::new(&other);
            let states = all_states(&other, LIMIT).expect("small");
            if self.random.one_in(10) || states.iter().all(|state| model.is_start(state).is_ok()) {
                self.task.property.start.condition = Some(condition);
                return;
            }
        }
    }

    /// Adds something to some of the new values; mostly, it is subtracted again.
    fn updates(&mut self) {
        let mut commands = std::mem::take(&mut self.task.system.commands);
        for assignment in commands
            .iter_mut()
            .flat_map(|command| command.outcomes.iter_mut().flat_map(|outcome| &mut outcome.assignments))
        {
            if self.integers.contains(&assignment.variable) && self.random.one_in(3) {
                let (extra, is_kept) = (self.sum(1), self.random.one_in(4));
                let exprs = &mut self.task.system.exprs;
                if exprs.ty(extra) == Type::Int && exprs.ty(assignment.value) == Type::Int {
                    let more = exprs.add(assignment.value, extra).expect("integers");
                    assignment.value = if is_kept { more } else { exprs.sub(more, extra).expect("integers") };
                }
            }
        }
        self.task.system.commands = commands;
    }
}

/// A fact that holds in some states, or nearly does.
fn fact(states: &[Vec<i32>], terms: &[(u32, i32)], beyond: i64) -> Fact {
    let value = |state: &Vec<i32>| -> i64 {
        terms.iter().map(|&(v, factor)| i64::from(factor) * i64::from(state[v as usize])).sum()
    };
    Fact { terms: terms.to_vec(), limit: states.iter().map(value).max().unwrap_or(0) + beyond }
}

/// A region around some states; its facts and its list may be wrong.
fn region(task: &Task, states: &[Vec<i32>], random: &mut Random, is_right: bool) -> Region {
    let variables = task.system.variables.len();
    let mut facts = Vec::new();
    for _ in 0..random.below(5) {
        let factors: &[i32] = if random.one_in(2) { &[0, 1, 1] } else { &[0, 1, -1, 2, -3] };
        let terms: Vec<(u32, i32)> = (0..variables as u32)
            .map(|variable| (variable, factors[random.below(factors.len())]))
            .filter(|term| term.1 != 0)
            .collect();
        let beyond = if is_right { 0 } else { [0, 0, 0, -1, 1][random.below(5)] };
        facts.push(fact(states, &terms, beyond));
        if random.one_in(2) {
            let negated: Vec<(u32, i32)> = terms.iter().map(|&(v, factor)| (v, -factor)).collect();
            facts.push(fact(states, &negated, beyond));
        }
    }
    let mut bounds = Vec::new();
    for variable in 0..variables {
        let values = states.iter().map(|state| state[variable]);
        if let (Some(lower), Some(upper), true) = (values.clone().min(), values.max(), random.one_in(5)) {
            bounds.push(Bound { variable: variable as u32, lower, upper });
        }
    }
    let mut list = |outputs: usize| (0..outputs as u32).filter(|_| is_right || !random.one_in(8)).collect();
    let tree = task.policy.as_ref().map(|policy| vec![TreeNode::Leaf(list(policy.outputs.len()))]);
    Region { bounds, facts, tree: tree.unwrap_or_default() }
}

#[test]
fn facts_are_believed_only_if_they_hold() {
    let (proofs, others) = (Cell::new(0), Cell::new(0));
    let tasks = (tasks_with_transfers(Size::Small), any::<u64>());
    check(&tasks, 2000, |(RandomTask { mut task, .. }, seed): (RandomTask, u64)| {
        let mut random = Random(seed);
        if all_states(&task, LIMIT).is_none() {
            return Ok(());
        }
        let is_integer =
            |v: &VarId| task.system.variables[v.index()].ty != surefoot_model::VariableType::Bool;
        let integers = (0..task.system.variables.len() as u32).map(VarId).filter(is_integer).collect();
        let mut change = Change { task: &mut task, random: &mut random, integers };
        change.start();
        change.updates();
        if random.one_in(2) {
            task.property.unsafe_states = task.system.exprs.bool(false);
        }
        let (Ok(exploration), Some(oracle)) = (explore(&task, LIMIT), Oracle::new(&task)) else {
            return Ok(());
        };
        let inputs = inputs();
        for round in 0..8 {
            let is_right = round < 2;
            let count = 1 + random.below(2);
            let regions = (0..count).map(|_| region(&task, &exploration.states, &mut random, is_right));
            let certificate = Certificate {
                inputs: inputs.clone(),
                variables: domains(&task),
                labels: task.system.labels.iter().map(|label| label.name.clone()).collect(),
                outputs: task.policy.as_ref().map(|p| p.outputs.iter().map(|label| label.0).collect()),
                semantics: task.semantics,
                regions: regions.collect(),
            };
            let proves = oracle.proves(&certificate);
            let has_facts = certificate.regions.iter().any(|region| !region.facts.is_empty());
            let counter = if proves { &proofs } else { &others };
            counter.set(counter.get() + u32::from(has_facts));
            agrees(&certificate, &subject(&task, &inputs), proves)?;
        }
        Ok(())
    });
    assert!(proofs.get() >= cases(2000) && others.get() >= cases(2000), "{proofs:?} {others:?}");
}

//! Random small tasks.
//!
//! A task is decoded from *genes*: lists of random numbers, one list for each part of the task (variables, each command,
//! property, policy, semantics). Every decision takes the next gene; a gene of 0, and every gene after the end of the list,
//! takes the simplest alternative. So proptest shrinks a task by shrinking lists of numbers, commands go away one by one, and
//! what depends on earlier decisions (the type of a value, the number of outputs) needs no care.

mod choices;
mod condition;
mod display;
mod graph;
mod number;
mod policy;
mod property;
mod system;
mod transfer;

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use surefoot_engines::{Goal, OutOfDomain, Semantics, Task};
use surefoot_model::{TransitionSystem, VarId};
use surefoot_policy::{Arithmetic, PolicyInput};

use choices::Choices;

/// What kinds of tasks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Up to five variables with a few values each: the whole product of the domains can be enumerated.
    Small,
    /// Some domains are too large for tables and for one machine word. Start states are listed.
    Wide,
    /// Thousands of start states, so that a layer of the search is cut into several parts.
    Deep,
}

/// A random task; prints in a form that people can read.
#[derive(Clone)]
pub struct RandomTask {
    /// The task.
    pub task: Task,
    /// What kind it is.
    pub size: Size,
}

/// The task with a policy that does not see some of the variables: a constant stands in their place.
#[must_use]
pub fn blinded(task: &Task, is_seen: impl Fn(VarId) -> bool) -> Task {
    let lower = |v: VarId| task.system.variables[v.index()].ty.bounds().map_or(0, |(lower, _)| lower);
    let input = |v| if is_seen(v) { PolicyInput::Variable(v) } else { PolicyInput::Constant(lower(v)) };
    let policy = task.policy.as_ref().map(|policy| policy.map_inputs(input));
    Task { policy, ..task.clone() }
}

impl fmt::Debug for RandomTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

/// The random numbers that a task is decoded from.
#[derive(Debug, Clone)]
struct Genes {
    variables: Vec<u16>,
    commands: Vec<Vec<u16>>,
    property: Vec<u16>,
    policy: Vec<u16>,
    semantics: Vec<u16>,
}

/// Random tasks of one size.
pub fn tasks(size: Size) -> impl Strategy<Value = RandomTask> {
    let gene = any::<u16>;
    let genes =
        (vec(gene(), 16), vec(vec(gene(), 40), 0..9), vec(gene(), 50), vec(gene(), 120), vec(gene(), 4));
    genes.prop_map(move |(variables, commands, property, policy, semantics)| {
        decode(size, &Genes { variables, commands, property, policy, semantics })
    })
}

/// Random tasks of one size whose properties have up to seven predicates, many of them over several variables.
pub fn tasks_with_predicates(size: Size) -> impl Strategy<Value = RandomTask> {
    (tasks(size), vec(vec(any::<u16>(), 12), 0..8)).prop_map(|(mut random, genes)| {
        let system = &mut random.task.system;
        let predicate = |genes: &Vec<u16>| property::predicate(system, &mut Choices::new(genes));
        random.task.property.predicates = genes.iter().map(predicate).collect();
        random
    })
}

/// Random tasks of one size most of whose steps leave sums of variables as they are.
pub fn tasks_with_transfers(size: Size) -> impl Strategy<Value = RandomTask> {
    (tasks(size), vec(any::<u16>(), 60)).prop_map(|(mut random, genes)| {
        transfer::transfer(&mut random.task, &mut Choices::new(&genes));
        random
    })
}

fn decode(size: Size, genes: &Genes) -> RandomTask {
    let mut system = TransitionSystem { name: "random".into(), ..TransitionSystem::default() };
    system::add_variables(&mut system, size, &mut Choices::new(&genes.variables));
    for genes in &genes.commands {
        system::add_command(&mut system, &mut Choices::new(genes));
    }
    let property = property::property(&mut system, size, &mut Choices::new(&genes.property));
    let mut semantics = semantics(&mut Choices::new(&genes.semantics));
    if property.goal.is_none() {
        semantics.goal = Goal::Ignore;
    }
    let policy = policy::policy(&system, semantics.filter, &mut Choices::new(&genes.policy));
    RandomTask { task: Task { system, property, policy, semantics }, size }
}

fn semantics(choices: &mut Choices<'_>) -> Semantics {
    Semantics {
        filter: choices.one_in(2),
        goal: [Goal::Ignore, Goal::Terminal, Goal::Strict][choices.below(3)],
        out_of_domain: if choices.one_in(2) { OutOfDomain::Block } else { OutOfDomain::Error },
        arithmetic: Arithmetic::ALL[choices.below(Arithmetic::ALL.len())],
    }
}

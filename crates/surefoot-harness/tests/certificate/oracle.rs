//! The claim of a certificate, decided state by state with the reference semantics.

use std::cell::OnceCell;

use surefoot_certificate::{Certificate, Fact, Region, TreeNode};
use surefoot_engines::{OutOfDomain, Task};
use surefoot_harness::reference::{Model, Status, Wrong, all_states, choose, holds};

/// The most states of the domains that are tried.
pub const LIMIT: usize = 3000;

/// A task at single states.
pub struct Oracle<'t> {
    task: &'t Task,
    /// The task with one command each, and without policy.
    commands: Vec<Task>,
    states: Vec<(Vec<i32>, OnceCell<Known>)>,
}

/// What is asked about a state again and again.
struct Known {
    status: Result<Status, Wrong>,
    choices: Result<Vec<u32>, Wrong>,
    /// By command.
    successors: Vec<Result<Vec<Vec<i32>>, Wrong>>,
}

impl<'t> Oracle<'t> {
    /// `None` if there are too many states.
    pub fn new(task: &'t Task) -> Option<Oracle<'t>> {
        let states = all_states(task, LIMIT)?.into_iter().map(|state| (state, OnceCell::new()));
        Some(Oracle { states: states.collect(), ..Oracle::local(task) })
    }

    /// For single states only.
    pub fn local(task: &'t Task) -> Oracle<'t> {
        let single = |command: usize| {
            let mut single = Task { policy: None, ..task.clone() };
            single.system.commands = vec![task.system.commands[command].clone()];
            single
        };
        let commands = (0..task.system.commands.len()).map(single).collect();
        Oracle { task, commands, states: Vec::new() }
    }

    /// Whether a certificate is a proof.
    pub fn proves(&self, certificate: &Certificate) -> bool {
        let covered = |state: &[i32]| certificate.regions.iter().any(|region| contains(region, state));
        let model = Model::new(self.task);
        let starts = self.states.iter().all(|(state, _)| match model.is_start(state) {
            Ok(is_start) => !is_start || covered(state),
            Err(_) => false,
        });
        let listed = &self.task.property.start.listed;
        starts
            && listed.iter().all(|state| covered(state))
            && certificate.regions.iter().all(|region| {
                let mut states = self.states.iter().filter(|(state, _)| contains(region, state));
                states.all(|(state, known)| self.is_fine(state, known, region, &covered))
            })
    }

    fn is_fine(
        &self,
        state: &[i32],
        known: &OnceCell<Known>,
        region: &Region,
        covered: &dyn Fn(&[i32]) -> bool,
    ) -> bool {
        let known = known.get_or_init(|| Known {
            status: Model::new(self.task).status(state),
            choices: self.choices(state),
            successors: (0..self.commands.len()).map(|command| self.successors(command, state)).collect(),
        });
        match &known.status {
            Err(_) => return false,
            Ok(status) if status.is_unsafe => return false,
            Ok(status) if status.ends_run => return true,
            Ok(_) => {}
        }
        let Ok(choices) = &known.choices else { return false };
        let listed = self.task.policy.as_ref().map(|_| leaf(region, state));
        if listed.is_some_and(|listed| choices.iter().any(|choice| !listed.contains(choice))) {
            return false;
        }
        (0..self.commands.len()).filter(|&command| self.is_taken(command, listed)).all(|command| {
            let after = known.successors[command].as_ref();
            after.is_ok_and(|after| after.iter().all(|state| covered(state)))
        })
    }

    /// Number of commands.
    pub fn commands(&self) -> usize {
        self.commands.len()
    }

    fn output(&self, command: usize) -> Option<u32> {
        let label = self.task.system.commands[command].label?;
        let outputs = &self.task.policy.as_ref()?.outputs;
        outputs.iter().position(|&output| output == label).map(|output| output as u32)
    }

    /// Whether a command may be taken if these outputs may be chosen.
    pub fn is_taken(&self, command: usize, listed: Option<&[u32]>) -> bool {
        self.output(command).zip(listed).is_none_or(|(output, listed)| listed.contains(&output))
    }

    /// The outputs that may be chosen; every guard must have a value, or those without are blocked.
    pub fn choices(&self, state: &[i32]) -> Result<Vec<u32>, Wrong> {
        let mut enabled = Vec::new();
        for (number, command) in self.task.system.commands.iter().enumerate() {
            match holds(&self.task.system.exprs, command.guard, state) {
                Some(true) => enabled.push(number),
                None if self.task.semantics.out_of_domain == OutOfDomain::Error => {
                    return Err(Wrong("guard".into()));
                }
                _ => {}
            }
        }
        let Some(policy) = &self.task.policy else { return Ok(Vec::new()) };
        let semantics = self.task.semantics;
        let applicable = |output: usize| enabled.iter().any(|&c| self.output(c) == Some(output as u32));
        let chosen =
            choose(policy, semantics.arithmetic, state, |output| !semantics.filter || applicable(output));
        Ok(chosen.into_iter().map(|output| output as u32).collect())
    }

    /// The states after one command.
    pub fn successors(&self, command: usize, state: &[i32]) -> Result<Vec<Vec<i32>>, Wrong> {
        let steps = Model::new(&self.commands[command]).steps(state)?;
        Ok(steps.steps.into_iter().map(|step| step.state).collect())
    }

    /// Whether runs end in a state; false if the model is wrong there.
    pub fn ends(&self, state: &[i32]) -> bool {
        Model::new(self.task).status(state).is_ok_and(|status| status.ends_run)
    }
}

pub fn satisfies(fact: &Fact, state: &[i32]) -> bool {
    let sum: i64 =
        fact.terms.iter().map(|&(v, factor)| i64::from(factor) * i64::from(state[v as usize])).sum();
    sum <= fact.limit
}

pub fn contains(region: &Region, state: &[i32]) -> bool {
    let within = |bound: &surefoot_certificate::Bound| {
        (bound.lower..=bound.upper).contains(&state[bound.variable as usize])
    };
    region.bounds.iter().all(within) && region.facts.iter().all(|fact| satisfies(fact, state))
}

/// What the leaf of a state lists, by recursion over the tree.
fn leaf<'r>(region: &'r Region, state: &[i32]) -> &'r [u32] {
    let mut at = 0;
    loop {
        match &region.tree[at] {
            TreeNode::Leaf(outputs) => return outputs,
            TreeNode::Split { variable, at: value } => {
                at += 1;
                if state[*variable as usize] >= *value {
                    at += size(&region.tree[at..]);
                }
            }
        }
    }
}

/// Number of nodes of the first tree of a list.
pub fn size(tree: &[TreeNode]) -> usize {
    match &tree[0] {
        TreeNode::Leaf(_) => 1,
        TreeNode::Split { .. } => {
            let left = size(&tree[1..]);
            1 + left + size(&tree[1 + left..])
        }
    }
}

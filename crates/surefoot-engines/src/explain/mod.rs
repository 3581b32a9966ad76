//! Explanations of single decisions: on which variables the policy's choice in a state depends, how far it reaches, and where
//! the nearest other choice is.
//!
//! Everything is made of one question, *is there a state with another choice in this box?* (`other.rs`), which certification and
//! solving answer completely. So an explanation is a proof, in the arithmetic of the task with all its rounding.
//!
//! - [`Explainer::relevant`]: the relevant variables of paper 004 (Algorithm 1, `VeriX`), within a [`Neighbourhood`] that is given;
//! - [`Explainer::radius`], [`Explainer::epsilon`]: the least neighbourhood that has relevant variables (Algorithm 2, BSEARCH);
//! - [`Explainer::rule`]: a box around the state in which the choice is the same, as large as can be;
//! - [`Explainer::nearest`]: the nearest state with another choice;
//! - [`decision`]: the choice itself, with scores and margin.
//!
//! All of it is about the states of the variables' domains, whether a run reaches them or not. `docs/explain.md` says what the
//! answers mean, and where they differ from the paper.

mod decision;
mod known;
mod nearest;
mod neighbourhood;
mod other;
mod relevant;
mod rule;
mod search;
#[cfg(test)]
mod tests;

use surefoot_model::VarId;
use surefoot_policy::Policy;
use surefoot_policy::certify::Certifier;
use surefoot_solve::Poll;

use crate::control::Control;
use crate::symbolic::Applicability;
pub use crate::symbolic::{StateBox, Stopped};
use crate::task::{Task, TaskError};
pub use decision::{Decision, decision};
use known::Known;
pub use nearest::Nearest;
pub use neighbourhood::Neighbourhood;
pub use relevant::{Order, Relevance};
pub use rule::Rule;
pub use search::Radius;

/// Explains decisions of a policy.
pub struct Explainer<'t> {
    task: &'t Task,
    policy: &'t Policy,
    domain: StateBox,
    /// The variables that a choice can depend on: the policy's inputs and, if it filters, those of its labels' guards.
    variables: Vec<VarId>,
    certifier: Certifier,
    /// `None` if the policy does not filter: then guards have no say.
    applicability: Option<Applicability<'t>>,
    known: Known,
    poll: Poll,
}

impl<'t> Explainer<'t> {
    /// Prepares a task. The control's limits are those of all questions together.
    pub fn new(task: &'t Task, control: &Control<'_>) -> Result<Explainer<'t>, TaskError> {
        Explainer::polled(task, control.poll())
    }

    /// The same, stopped by a poll.
    fn polled(task: &'t Task, poll: Poll) -> Result<Explainer<'t>, TaskError> {
        let policy = task.policy.as_ref().ok_or(TaskError::NoPolicy)?;
        if let Some(variable) = task.system.variables.iter().find(|v| v.ty.bounds().is_none()) {
            return Err(TaskError::RealVariable { variable: variable.name.clone(), engine: "explain" });
        }
        let applicability = task.semantics.filter.then(|| Applicability::new(task, poll.clone()));
        let mut variables = policy.variables();
        if let Some(applicability) = &applicability {
            let outputs = 0..policy.outputs.len();
            variables.extend(outputs.flat_map(|output| applicability.variables(output)));
        }
        variables.sort_unstable();
        variables.dedup();
        Ok(Explainer {
            task,
            policy,
            domain: StateBox::of_domains(task),
            variables,
            certifier: Certifier::new(policy, task.semantics.arithmetic),
            applicability,
            known: Known::default(),
            poll,
        })
    }

    /// Whether the values of a variable have no order: they are locations.
    fn is_nominal(&self, variable: usize) -> bool {
        !self.task.system.variables[variable].value_names.is_empty()
    }
}

//! What a certificate is checked against, and what comes out.

use std::fmt;

use surefoot_model::{Property, TransitionSystem};
use surefoot_policy::{Goal, Policy, Semantics};

use crate::certificate::{Certificate, Domain, FormatError, Input};

/// The task that a certificate is checked against, as the caller read it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'t> {
    /// The environment.
    pub system: &'t TransitionSystem,
    /// The safety question.
    pub property: &'t Property,
    /// The policy, if there is one.
    pub policy: Option<&'t Policy>,
    /// How the task is read.
    pub semantics: Semantics,
    /// The files that the task was read from.
    pub inputs: &'t [Input],
}

/// When to give up.
pub struct Limits<'s> {
    /// The largest number of parts to look at.
    pub parts: u64,
    /// Asked now and then; the check ends if it says so.
    pub stop: &'s mut dyn FnMut() -> bool,
}

/// What there is to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obligation {
    /// Every start state is in a region.
    Start,
    /// No state of a region is unsafe, or wrong in the model.
    Safe,
    /// The policy chooses nothing else than what a leaf lists.
    Choice,
    /// Every successor is in a region.
    Successor,
}

impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obligation::Start => "start states",
            Obligation::Safe => "safety of regions",
            Obligation::Choice => "choices of the policy",
            Obligation::Successor => "successors",
        })
    }
}

/// What it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of regions.
    pub regions: u64,
    /// Number of leaves of their trees.
    pub leaves: u64,
    /// Number of parts, by obligation in the order in which they are declared.
    pub parts: [u64; 4],
    /// Number of states that were tried alone.
    pub points: u64,
}

/// Why a certificate is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It is not well formed.
    #[error("{0}")]
    Malformed(#[from] FormatError),
    /// It is about another task.
    #[error("the certificate is about another task: {0}")]
    Mismatch(String),
    /// The task is none that certificates are for.
    #[error("{0}")]
    Unsupported(String),
    /// An obligation fails.
    #[error("{obligation}: {message}")]
    Failed {
        /// Which.
        obligation: Obligation,
        /// The region, if it is about one.
        region: Option<usize>,
        /// A state at which it fails.
        state: Vec<i32>,
        /// What is wrong there.
        message: String,
    },
    /// A limit was reached. Nothing is known.
    #[error("not checked: {0}")]
    NotChecked(String),
}

/// Whether a certificate is about a task. What it names must be exactly what the task has.
pub(crate) fn bind(certificate: &Certificate, subject: &Subject<'_>) -> Result<(), Rejection> {
    let mismatch = |text: String| Err(Rejection::Mismatch(text));
    let system = subject.system;
    let mut domains = Vec::new();
    for variable in &system.variables {
        let name = variable.name.clone();
        let Some((lower, upper)) = variable.ty.bounds() else {
            let text = format!("the variable `{name}` is real-valued; certificates are for discrete ones");
            return Err(Rejection::Unsupported(text));
        };
        domains.push(Domain { name, lower, upper });
    }
    if subject.semantics.goal != Goal::Ignore && subject.property.goal.is_none() {
        return Err(Rejection::Unsupported("goals end runs, but the property has no goal".into()));
    }
    if certificate.variables.len() != domains.len() {
        let (claimed, found) = (certificate.variables.len(), domains.len());
        return mismatch(format!("it has {claimed} variables, the model has {found}"));
    }
    if let Some((claimed, found)) = first_difference(&certificate.variables, &domains) {
        // A name from a file may hold anything, such as what controls a terminal.
        let show = |domain: &Domain| {
            format!("`{}` in {}..{}", domain.name.escape_debug(), domain.lower, domain.upper)
        };
        return mismatch(format!("it has a variable {}, the model has {}", show(claimed), show(found)));
    }
    if !certificate.labels.iter().eq(system.labels.iter().map(|label| &label.name)) {
        return mismatch("its labels are not those of the model".into());
    }
    let outputs = subject.policy.map(|policy| policy.outputs.iter().map(|label| label.0).collect::<Vec<_>>());
    if certificate.outputs != outputs {
        return mismatch("its policy has other outputs, or one of them has no policy".into());
    }
    let (claimed, found) = (certificate.semantics, subject.semantics);
    if claimed != found {
        return mismatch(format!("it is for {claimed:?}, the task is read as {found:?}"));
    }
    let sorted = |inputs: &[Input]| {
        let mut inputs = inputs.to_vec();
        inputs.sort_by_key(|input| (input.role, input.sha256));
        inputs
    };
    let (claimed, found) = (sorted(&certificate.inputs), sorted(subject.inputs));
    if let Some((claimed, found)) = first_difference(&claimed, &found) {
        let (role, claimed, found) = (found.role.name(), claimed.hex(), found.hex());
        return mismatch(format!("its {role} has SHA-256 {claimed}, the one given has {found}"));
    }
    if claimed.len() != found.len() {
        return mismatch(format!("it names {} files, {} are given", claimed.len(), found.len()));
    }
    Ok(())
}

fn first_difference<'l, T: PartialEq>(claimed: &'l [T], found: &'l [T]) -> Option<(&'l T, &'l T)> {
    claimed.iter().zip(found).find(|(claimed, found)| claimed != found)
}

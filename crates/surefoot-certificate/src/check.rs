//! The checker: from a certificate and a task to acceptance or the first obligation that fails.
//!
//! Each obligation is about all states of some box. It is tried for the box as a whole; where that does not decide it,
//! one state of the box is evaluated, which may refute it, and the box is split. Boxes of one state are decided by that
//! evaluation. So the checker is complete, up to its limit, and the trees of a certificate are only hints: they decide
//! how much is to be split, not what is believed.

use std::fmt;

use surefoot_model::{Property, TransitionSystem};
use surefoot_policy::{Goal, Policy, Scorer, Semantics};

use crate::certificate::{Certificate, Domain, FormatError, Input, TreeNode};
use crate::cover::Cover;
use crate::expression::Slots;
use crate::part::{Cut, Part};
use crate::point::Task;
use crate::{forest, network};

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
    /// Number of states that were evaluated.
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

/// What obligations share.
pub(crate) struct Checker<'a, 's> {
    pub subject: Subject<'a>,
    pub certificate: &'a Certificate,
    pub task: Task,
    pub cover: Cover<'a>,
    pub scores: Scores<'a>,
    pub slots: Slots,
    pub report: Report,
    limits: &'a mut Limits<'s>,
}

/// What bounds the policy.
pub(crate) enum Scores<'a> {
    None,
    Network(network::Bounds<'a>),
    Forest(forest::Bounds<'a>),
}

/// Checks that a certificate proves that a task is safe.
pub fn check(
    certificate: &Certificate,
    subject: &Subject<'_>,
    limits: &mut Limits<'_>,
) -> Result<Report, Rejection> {
    certificate.validate()?;
    bind(certificate, subject)?;
    let arithmetic = subject.semantics.arithmetic;
    let scores = match subject.policy.map(|policy| (policy, &policy.scorer)) {
        None => Scores::None,
        Some((policy, Scorer::Network(network))) => {
            Scores::Network(network::Bounds::new(policy, network, arithmetic))
        }
        Some((policy, Scorer::Ensemble(ensemble))) => {
            Scores::Forest(forest::Bounds::new(policy, ensemble, arithmetic))
        }
    };
    let mut checker = Checker {
        subject: *subject,
        certificate,
        task: Task::new(subject.system, subject.property, subject.policy, subject.semantics),
        cover: Cover::new(&certificate.variables, &certificate.regions),
        scores,
        slots: Slots::default(),
        report: Report { regions: certificate.regions.len() as u64, ..Report::default() },
        limits,
    };
    checker.check_start()?;
    for region in 0..certificate.regions.len() {
        checker.check_status(region)?;
    }
    for region in 0..certificate.regions.len() {
        checker.check_leaves(region)?;
    }
    Ok(checker.report)
}

/// Whether a certificate is about a task. What it names must be exactly what the task has.
fn bind(certificate: &Certificate, subject: &Subject<'_>) -> Result<(), Rejection> {
    let mismatch = |text: String| Err(Rejection::Mismatch(text));
    let system = subject.system;
    let mut domains = Vec::new();
    for variable in &system.variables {
        let Some((lower, upper)) = variable.ty.bounds() else {
            let text = format!(
                "the variable `{}` is real-valued; certificates are for discrete ones",
                variable.name
            );
            return Err(Rejection::Unsupported(text));
        };
        domains.push(Domain { name: variable.name.clone(), lower, upper });
    }
    if subject.semantics.goal != Goal::Ignore && subject.property.goal.is_none() {
        return Err(Rejection::Unsupported("goals end runs, but the property has no goal".into()));
    }
    if certificate.variables.len() != domains.len() {
        return mismatch(format!(
            "it has {} variables, the model has {}",
            certificate.variables.len(),
            domains.len()
        ));
    }
    for (claimed, domain) in certificate.variables.iter().zip(&domains) {
        if claimed != domain {
            let show = |domain: &Domain| format!("`{}` in {}..{}", domain.name, domain.lower, domain.upper);
            return mismatch(format!("it has a variable {}, the model has {}", show(claimed), show(domain)));
        }
    }
    let labels: Vec<&str> = system.labels.iter().map(|label| label.name.as_str()).collect();
    if certificate.labels != labels {
        return mismatch(format!(
            "its labels are {:?}, those of the model are {labels:?}",
            certificate.labels
        ));
    }
    let outputs = subject.policy.map(|policy| policy.outputs.iter().map(|label| label.0).collect::<Vec<_>>());
    if certificate.outputs != outputs {
        return mismatch("its policy has other outputs, or one of them has no policy".into());
    }
    if certificate.semantics != subject.semantics {
        return mismatch(format!(
            "it is for {:?}, the task is read as {:?}",
            certificate.semantics, subject.semantics
        ));
    }
    let sorted = |inputs: &[Input]| {
        let mut inputs = inputs.to_vec();
        inputs.sort_by_key(|input| (input.role, input.sha256));
        inputs
    };
    let (claimed, found) = (sorted(&certificate.inputs), sorted(subject.inputs));
    if let Some((claimed, found)) = claimed.iter().zip(&found).find(|(claimed, found)| claimed != found) {
        let (role, claimed, found) = (found.role.name(), claimed.hex(), found.hex());
        return mismatch(format!("its {role} has SHA-256 {claimed}, the one given has {found}"));
    }
    if claimed.len() != found.len() {
        return mismatch(format!("it names {} files, {} are given", claimed.len(), found.len()));
    }
    Ok(())
}

impl<'a> Checker<'a, '_> {
    /// Counts a part; the check ends here if a limit is reached.
    pub fn count(&mut self, obligation: Obligation) -> Result<(), Rejection> {
        self.report.parts[obligation as usize] += 1;
        let all: u64 = self.report.parts.iter().sum();
        if all > self.limits.parts {
            return Err(Rejection::NotChecked(format!("{} parts were not enough", self.limits.parts)));
        }
        if all % 16 == 1 && (self.limits.stop)() {
            return Err(Rejection::NotChecked("the check was stopped".into()));
        }
        Ok(())
    }

    /// The rejection of a certificate because of a state.
    pub fn failed<T>(
        &self,
        obligation: Obligation,
        region: Option<usize>,
        state: &[i32],
        what: &str,
    ) -> Result<T, Rejection> {
        let place = region.map_or(String::new(), |region| format!(" of region {region}"));
        let message = format!("the state {}{place} {what}", self.describe(state));
        Err(Rejection::Failed { obligation, region, state: state.to_vec(), message })
    }

    /// A state as text: `x = 1, y = 2`.
    pub fn describe(&self, state: &[i32]) -> String {
        let pairs = self.subject.system.variables.iter().zip(state);
        let pairs: Vec<String> =
            pairs.map(|(v, &value)| format!("{} = {}", v.name, v.display(value))).collect();
        pairs.join(", ")
    }

    /// Whether no state of a part is in a region whose bounds contain the part.
    pub fn is_excluded(&self, region: usize, part: &Part) -> bool {
        self.certificate.regions[region].facts.iter().any(|fact| part.excludes(fact))
    }

    /// A cut by a variable of a fact that a state violates; `None` if the state satisfies all of them.
    pub fn fact_cut(&self, region: usize, part: &Part, state: &[i32]) -> Option<Cut> {
        let facts = &self.certificate.regions[region].facts;
        let violated = facts.iter().find(|fact| !crate::part::holds(fact, state))?;
        let variable = part.widest(violated.terms.iter().map(|term| term.0 as usize))?;
        Some(part.half(variable))
    }

    /// Obligations 3 and 4 for a region, leaf by leaf. A leaf without states needs nothing.
    fn check_leaves(&mut self, region: usize) -> Result<(), Rejection> {
        let certificate: &'a Certificate = self.certificate;
        let all = Part::of_region(&certificate.variables, &certificate.regions[region]);
        if self.subject.policy.is_none() {
            return self.check_successors(region, &all, None);
        }
        let mut open = vec![Some(all)];
        for node in &certificate.regions[region].tree {
            let part = open.pop().expect("the tree is complete");
            match (node, part) {
                (TreeNode::Split { variable, at }, Some(part)) => {
                    let [left, right] = part.split(Cut { variable: *variable as usize, at: *at });
                    open.extend([right, left]);
                }
                (TreeNode::Split { .. }, None) => open.extend([None, None]),
                (TreeNode::Leaf(outputs), Some(part)) => {
                    self.report.leaves += 1;
                    self.check_choices(region, &part, outputs)?;
                    self.check_successors(region, &part, Some(outputs))?;
                }
                (TreeNode::Leaf(_), None) => {}
            }
        }
        Ok(())
    }
}

/// What bounds say about a part.
pub(crate) enum Tried {
    /// All its states are fine.
    Done,
    /// It is to be split, best like this.
    Split(Option<Cut>),
}

/// The sides of a cut, or of the widest variable if there is no cut or it cuts nothing. A part of one state has none.
pub(crate) fn split(part: Part, cut: Option<Cut>) -> impl Iterator<Item = Part> {
    let cut = cut.filter(|&cut| part.is_cut(cut));
    let cut = cut.or_else(|| part.widest(0..part.0.len()).map(|variable| part.half(variable)));
    cut.map(|cut| part.split(cut)).into_iter().flatten().flatten()
}

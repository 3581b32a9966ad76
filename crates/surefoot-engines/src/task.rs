//! Tasks: what is to be verified, under which reading; and what can turn out to be wrong with the model on the way.

use std::fmt;

use surefoot_model::{Property, TransitionSystem, Undefined};
use surefoot_policy::Policy;
pub use surefoot_policy::{Goal, OutOfDomain, Semantics};

/// A verification problem. Without a policy every enabled command may be taken.
#[derive(Debug, Clone)]
pub struct Task {
    /// The environment.
    pub system: TransitionSystem,
    /// The safety question.
    pub property: Property,
    /// The policy that chooses labels.
    pub policy: Option<Policy>,
    /// How the parts are read.
    pub semantics: Semantics,
}

/// A mistake in the model that showed at a reachable state.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelError {
    /// The state, as text.
    pub state: String,
    /// The command, as text; `None` if a condition of the property is at fault.
    pub command: Option<String>,
    /// What is wrong.
    pub kind: ModelErrorKind,
}

/// What is wrong with a model at a state.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelErrorKind {
    /// An assignment leaves the domain of its variable.
    LeavesDomain {
        /// The variable.
        variable: String,
        /// The value that it would get.
        value: i64,
        /// Its domain.
        domain: (i32, i32),
    },
    /// A requirement of an update fails.
    Requirement(String),
    /// An expression has no value.
    Undefined {
        /// What is evaluated: `guard`, `unsafe condition`, …
        what: String,
        /// Why there is no value.
        reason: Undefined,
    },
    /// Probabilities that are negative or do not sum to 1.
    Probabilities(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ModelErrorKind::LeavesDomain { variable, value, domain: (lower, upper) } => {
                write!(f, "an update sets `{variable}` to {value}, outside its domain {lower}..{upper}")?;
            }
            ModelErrorKind::Requirement(message) => write!(f, "an update is not possible: {message}")?,
            ModelErrorKind::Undefined { what, reason } => write!(f, "the {what} has no value: {reason}")?,
            ModelErrorKind::Probabilities(message) => f.write_str(message)?,
        }
        if let Some(command) = &self.command {
            write!(f, "\n  command: {command}")?;
        }
        write!(f, "\n  state: {}", self.state)?;
        let can_block = !matches!(self.kind, ModelErrorKind::Probabilities(_)) && self.command.is_some();
        if can_block {
            write!(
                f,
                "\n  hint: mend the model, or pass `--out-of-domain block` to read such steps as impossible"
            )?;
        }
        Ok(())
    }
}

/// Why a task has no outcome: its input is at fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TaskError {
    /// The engine takes discrete variables only.
    #[error(
        "the variable `{variable}` is real-valued; the {engine} engine takes Boolean and bounded integer variables only"
    )]
    RealVariable {
        /// The first real-valued variable.
        variable: String,
        /// The engine.
        engine: &'static str,
    },
    /// `--goal terminal` or `strict` without a goal.
    #[error("goal states are to be terminal, but the property has no goal condition")]
    NoGoal,
    /// There is no policy, but the question is about one.
    #[error("there is no policy whose choices could be explained")]
    NoPolicy,
    /// A listed start state has the wrong number of values or a value outside its domain.
    #[error("a listed start state is not a state of the model: {0}")]
    Start(String),
    /// The model is wrong at a state.
    #[error("{0}")]
    Model(ModelError),
    /// Saved frames are not about states of the model.
    #[error("{0}")]
    Saved(crate::ic3::SavedError),
    /// Two parts of surefoot disagree: a bug. No verdict is given.
    #[error("internal error: {0}")]
    Internal(String),
}

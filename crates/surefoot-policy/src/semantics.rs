//! The reading of a task where there is a choice. Engines and the checker of certificates share it; what each reading
//! means stands in `docs/semantics.md`.

use crate::arithmetic::Arithmetic;

/// The reading of a task where there is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semantics {
    /// Whether the policy chooses among the applicable labels only.
    pub filter: bool,
    /// What goal states are.
    pub goal: Goal,
    /// What an update is that leaves a domain.
    pub out_of_domain: OutOfDomain,
    /// The arithmetic of the policy's scores.
    pub arithmetic: Arithmetic,
}

/// What goal states are (design: reach-avoid).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// States like others.
    Ignore,
    /// Runs end there; a goal state that is unsafe counts as unsafe.
    Terminal,
    /// Runs end there; a goal state that is unsafe counts as safe.
    Strict,
}

/// What an update is that leaves a variable's domain, or that is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfDomain {
    /// A mistake in the model, reported as an error.
    Error,
    /// No transition (the reading of the papers' SMT encodings). A guard that is undefined does not hold.
    Block,
}

//! Properties: where runs start, what is unsafe, what is a goal.

use std::path::PathBuf;

use crate::expr::ExprId;

/// A safety question about a [`crate::TransitionSystem`]; its expressions live in the system's pool.
#[derive(Debug, Clone)]
pub struct Property {
    /// Name in the file.
    pub name: String,
    /// Where runs start.
    pub start: Start,
    /// Boolean condition: the states that must not be reached.
    pub unsafe_states: ExprId,
    /// Boolean condition: runs end in states that violate it (the left side of an until), unless they are unsafe.
    pub hold: Option<ExprId>,
    /// Boolean condition: goal states; terminal if the task says so (reach-avoid).
    pub goal: Option<ExprId>,
    /// Predicates that the property suggests for abstraction.
    pub predicates: Vec<ExprId>,
    /// The policy interface that the property names, resolved against the property's folder.
    pub policy_file: Option<PathBuf>,
}

/// What a learner is rewarded for, as far as the objective says; numeric expressions of the system's pool. They mean nothing to
/// verification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewards {
    /// A potential: each step gains the difference that it makes.
    pub potential: Option<ExprId>,
    /// Gained by each step, by the state before it.
    pub step: Option<ExprId>,
}

/// Start states: the union of a condition's solutions and a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    /// Boolean condition; `None` contributes no state.
    pub condition: Option<ExprId>,
    /// Listed states, one value for each variable of the system.
    pub listed: Vec<Vec<i32>>,
}

//! The transition system: labels and guarded commands over a flat vector of variables.

use crate::expr::{ExprId, ExprPool};
use crate::variable::{Origin, VarId, Variable};

/// Index of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The position in [`TransitionSystem::labels`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An action label: what a policy chooses. It owns every command that carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Unique name.
    pub name: String,
}

/// A guarded command `label: guard → p₁: update₁ + … + pₙ: updateₙ`.
///
/// Several enabled commands with one label are nondeterminism under the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The label, or `None` for a silent step, which no policy controls.
    pub label: Option<LabelId>,
    /// Boolean condition under which the command is enabled.
    pub guard: ExprId,
    /// The possible effects, at least one.
    pub outcomes: Vec<Outcome>,
    /// Where the command comes from, for messages (`automaton edge 3`).
    pub origin: String,
}

/// One probabilistic effect of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Probability (numeric expression over the state before the step). Outcomes with probability 0 do not exist.
    pub probability: ExprId,
    /// Simultaneous assignments, each to another variable; all read the state before the step. Unassigned variables keep
    /// their values.
    pub assignments: Vec<Assignment>,
    /// What must hold before the step for the effect to be meaningful, beyond "each assigned value is in the domain".
    pub requirements: Vec<Requirement>,
}

/// `variable := value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// The assigned variable.
    pub variable: VarId,
    /// The value, an expression over the state before the step, of the variable's type.
    pub value: ExprId,
}

/// A condition on the state before a step. Its failure counts like an update that leaves a domain: a modelling error, or no such
/// transition where the user asks for that reading. Writes to array elements and ordered assignments leave them behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Boolean expression.
    pub condition: ExprId,
    /// What its failure means, for the message: `index of array "a" out of 0..2`.
    pub message: String,
}

/// Guarded commands over bounded variables, with the condition on initial states.
#[derive(Debug, Clone, Default)]
pub struct TransitionSystem {
    /// Name of the model.
    pub name: String,
    /// All expressions.
    pub exprs: ExprPool,
    /// The state vector.
    pub variables: Vec<Variable>,
    /// Action labels.
    pub labels: Vec<Label>,
    /// Guarded commands.
    pub commands: Vec<Command>,
    /// Boolean condition: the model's own initial states.
    pub initial: Option<ExprId>,
}

impl TransitionSystem {
    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<VarId> {
        self.variables.iter().position(|v| v.name == name).map(|i| VarId(i as u32))
    }

    /// The variable that stands at this place of the model file.
    pub fn variable_at(&self, origin: &Origin) -> Option<VarId> {
        self.variables.iter().position(|v| v.origin == *origin).map(|i| VarId(i as u32))
    }

    /// The label of this name.
    pub fn label(&self, name: &str) -> Option<LabelId> {
        self.labels.iter().position(|l| l.name == name).map(|i| LabelId(i as u32))
    }
}

//! A task, ready for evaluation: over parts, and at single states exactly as `docs/semantics.md` says.

use surefoot_model::{
    BinaryOp, ExprId, ExprPool, Node, Property, TransitionSystem, Undefined, Value, VariableType,
};
use surefoot_policy::{Goal, OutOfDomain, Policy, Semantics};

use crate::expression::{Expression, Slots};
use crate::part::Part;

/// A distribution may miss 1 by this much.
const PROBABILITY_TOLERANCE: f64 = 1e-8;

/// A task with its expressions compiled.
#[derive(Debug)]
pub(crate) struct Task {
    pub start: Option<Expression>,
    pub unsafe_states: Expression,
    /// Only if goals end runs.
    pub goal: Option<Expression>,
    pub hold: Option<Expression>,
    pub commands: Vec<Command>,
    pub semantics: Semantics,
    domains: Vec<(i64, i64)>,
}

/// A guarded command.
#[derive(Debug)]
pub(crate) struct Command {
    /// The output of the policy that controls it, if one does.
    pub output: Option<usize>,
    pub guard: Expression,
    pub outcomes: Vec<Outcome>,
    /// Its label and origin, for messages.
    pub name: String,
}

/// One probabilistic effect.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub probability: Expression,
    pub requirements: Vec<Expression>,
    pub assignments: Vec<Assignment>,
}

/// A new value of a variable.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub variable: usize,
    pub value: Expression,
    /// Where the value is another variable plus a number.
    pub shift: Option<(usize, i64)>,
}

/// What a state is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Status {
    pub is_unsafe: bool,
    pub ends_run: bool,
}

/// A mistake of the model at a state.
#[derive(Debug)]
pub(crate) struct Wrong(pub String);

impl Task {
    /// Compiles a task over discrete variables.
    pub fn new(
        system: &TransitionSystem,
        property: &Property,
        policy: Option<&Policy>,
        semantics: Semantics,
    ) -> Task {
        let expression = |id: ExprId| Expression::new(&system.exprs, id);
        let commands = system.commands.iter().map(|command| Command {
            output: command
                .label
                .zip(policy)
                .and_then(|(label, policy)| policy.outputs.iter().position(|&output| output == label)),
            guard: expression(command.guard),
            outcomes: command.outcomes.iter().map(|outcome| Outcome::new(system, outcome)).collect(),
            name: match command.label {
                Some(label) => format!("{} ({})", system.labels[label.index()].name, command.origin),
                None => format!("silent step ({})", command.origin),
            },
        });
        let bounds =
            |ty: VariableType| ty.bounds().map_or((0, 0), |(lower, upper)| (lower.into(), upper.into()));
        let has_goal = semantics.goal != Goal::Ignore;
        Task {
            start: property.start.condition.map(expression),
            unsafe_states: expression(property.unsafe_states),
            goal: property.goal.filter(|_| has_goal).map(expression),
            hold: property.hold.map(expression),
            commands: commands.collect(),
            semantics,
            domains: system.variables.iter().map(|variable| bounds(variable.ty)).collect(),
        }
    }

    /// Whether updates that leave a domain, and undefined guards, are no transitions.
    pub fn blocks(&self) -> bool {
        self.semantics.out_of_domain == OutOfDomain::Block
    }

    /// The domain of a variable.
    pub fn domain(&self, variable: usize) -> (i64, i64) {
        self.domains[variable]
    }

    /// Whether runs end at every state of a part, for sure.
    pub fn ends_over(&self, part: &Part, slots: &mut Slots) -> bool {
        let is_goal = self.goal.as_ref().map(|goal| goal.over(part, slots));
        let holds = self.hold.as_ref().map(|hold| hold.over(part, slots));
        is_goal.is_some_and(|goal| !goal.no() && !goal.undefined)
            || holds.is_some_and(|holds| !holds.yes() && !holds.undefined)
    }

    /// What a state is.
    pub fn status(&self, state: &[i32], slots: &mut Slots) -> Result<Status, Wrong> {
        let mut condition = |what: &str, expression: &Expression| {
            let value = expression.holds_at(state, slots);
            value.map_err(|reason| Wrong(format!("the {what} has no value: {reason}")))
        };
        let bad = condition("unsafe condition", &self.unsafe_states)?;
        let is_goal = match &self.goal {
            Some(goal) => condition("goal condition", goal)?,
            None => false,
        };
        let holds = match &self.hold {
            Some(hold) => condition("condition that must hold", hold)?,
            None => true,
        };
        let spared = is_goal && self.semantics.goal == Goal::Strict;
        Ok(Status { is_unsafe: bad && !spared, ends_run: is_goal || !holds })
    }

    /// Whether a command is enabled in a state.
    pub fn enabled(&self, command: usize, state: &[i32], slots: &mut Slots) -> Result<bool, Wrong> {
        match self.commands[command].guard.holds_at(state, slots) {
            Ok(holds) => Ok(holds),
            Err(_) if self.blocks() => Ok(false),
            Err(reason) => {
                Err(Wrong(format!("the guard of {} has no value: {reason}", self.commands[command].name)))
            }
        }
    }

    /// Whether an output competes in a state.
    pub fn competes(&self, output: usize, state: &[i32], slots: &mut Slots) -> bool {
        !self.semantics.filter
            || (0..self.commands.len()).any(|command| {
                self.commands[command].output == Some(output)
                    && self.enabled(command, state, slots).unwrap_or(false)
            })
    }

    /// The states after a command that is enabled, each with its outcome.
    pub fn successors(
        &self,
        command: usize,
        state: &[i32],
        slots: &mut Slots,
    ) -> Result<Vec<(usize, Vec<i32>)>, Wrong> {
        let command = &self.commands[command];
        let wrong = |text: String| Wrong(format!("{}: {text}", command.name));
        let mut probabilities = Vec::new();
        for outcome in &command.outcomes {
            let value = outcome.probability.at(state, slots);
            let value = value.map_err(|reason| wrong(format!("a probability has no value: {reason}")))?;
            probabilities.push(value.as_real().unwrap_or(f64::NAN));
        }
        if !is_distribution(&probabilities) {
            return Err(wrong(format!("the probabilities {probabilities:?} are no distribution")));
        }
        let mut successors = Vec::new();
        for (index, outcome) in command.outcomes.iter().enumerate() {
            if probabilities[index] == 0.0 {
                continue;
            }
            match self.after(outcome, state, slots) {
                Ok(after) => successors.push((index, after)),
                Err(_) if self.blocks() => {}
                Err(text) => return Err(wrong(text)),
            }
        }
        Ok(successors)
    }

    /// The state after an outcome, or why it is impossible.
    fn after(&self, outcome: &Outcome, state: &[i32], slots: &mut Slots) -> Result<Vec<i32>, String> {
        let undefined = |reason: Undefined| format!("an update is undefined: {reason}");
        for requirement in &outcome.requirements {
            if !requirement.holds_at(state, slots).map_err(undefined)? {
                return Err("a requirement of an update fails".into());
            }
        }
        let mut after = state.to_vec();
        for assignment in &outcome.assignments {
            let value = assignment.value.at(state, slots).map_err(undefined)?;
            let (lower, upper) = self.domains[assignment.variable];
            match value.as_int() {
                Some(value) if (lower..=upper).contains(&value) => after[assignment.variable] = value as i32,
                _ => return Err(format!("an update leaves a domain: {value}")),
            }
        }
        Ok(after)
    }
}

/// Whether numbers are probabilities that sum up to 1.
pub(crate) fn is_distribution(probabilities: &[f64]) -> bool {
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter().all(|p| (0.0..=1.0 + PROBABILITY_TOLERANCE).contains(p))
        && (sum - 1.0).abs() <= PROBABILITY_TOLERANCE
}

impl Outcome {
    fn new(system: &TransitionSystem, outcome: &surefoot_model::Outcome) -> Outcome {
        let expression = |id: ExprId| Expression::new(&system.exprs, id);
        let assignments = outcome.assignments.iter().map(|assignment| Assignment {
            variable: assignment.variable.index(),
            value: expression(assignment.value),
            shift: shift(&system.exprs, assignment.value),
        });
        Outcome {
            probability: expression(outcome.probability),
            requirements: outcome.requirements.iter().map(|r| expression(r.condition)).collect(),
            assignments: assignments.collect(),
        }
    }
}

/// The variable and the number that an expression adds to it, if it is of that form. Truth values have no such form.
fn shift(pool: &ExprPool, id: ExprId) -> Option<(usize, i64)> {
    let variable = |id: ExprId| match pool.node(id) {
        Node::Variable(variable) if pool.ty(id) == surefoot_model::Type::Int => Some(variable.index()),
        _ => None,
    };
    let number = |id: ExprId| match pool.as_constant(id) {
        Some(Value::Int(value)) if value.unsigned_abs() < 1 << 40 => Some(value),
        _ => None,
    };
    match pool.node(id) {
        Node::Variable(_) => variable(id).map(|variable| (variable, 0)),
        Node::Binary(BinaryOp::Add, a, b) => {
            variable(*a).zip(number(*b)).or_else(|| variable(*b).zip(number(*a)))
        }
        Node::Binary(BinaryOp::Sub, a, b) => variable(*a).zip(number(*b).map(|number| -number)),
        _ => None,
    }
}

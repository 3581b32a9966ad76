//! The semantics at single states, spelled out: conditions, the policy's choices, successors.
//!
//! This is the reading that all engines share, written to be checked by eye and slow. Replay and simulation run on it, and
//! faster engines must agree with it. The policy's choice is that of its definition, not of the faster batches.

use surefoot_model::{Command, PointValue, Program, Value, VariableType};

use crate::task::{Goal, ModelError, ModelErrorKind, OutOfDomain, Semantics, Task};

/// A distribution may miss 1 by this much: probabilities are written as decimals and summed in double precision.
pub const PROBABILITY_TOLERANCE: f64 = 1e-8;

/// What a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// It counts as unsafe.
    pub is_unsafe: bool,
    /// It ends runs because it is a goal.
    pub is_goal: bool,
    /// It ends runs: a goal, or the condition that must hold does not.
    pub ends_run: bool,
}

/// What a policy does in a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Outputs of the policy that it may choose (several only under `any-f32` and `real`).
    pub outputs: Vec<usize>,
    /// Whether one of them is not applicable.
    pub stalls: bool,
}

/// A step that is possible in a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// Index of the command.
    pub command: usize,
    /// Index of its outcome.
    pub outcome: usize,
    /// Its probability, given the command.
    pub probability: f64,
    /// The state after it.
    pub state: Vec<i32>,
}

/// Evaluates a task at single states.
pub struct Stepper<'t> {
    task: &'t Task,
    guards: Vec<Program>,
    unsafe_states: Program,
    hold: Option<Program>,
    goal: Option<Program>,
    slots: Vec<PointValue>,
}

impl<'t> Stepper<'t> {
    /// Prepares a task. Its variables must be discrete.
    pub fn new(task: &'t Task) -> Self {
        let exprs = &task.system.exprs;
        let program = |id| Program::new(exprs, &[id]);
        Stepper {
            task,
            guards: task.system.commands.iter().map(|command| program(command.guard)).collect(),
            unsafe_states: program(task.property.unsafe_states),
            hold: task.property.hold.map(program),
            goal: task.property.goal.map(program),
            slots: Vec::new(),
        }
    }

    /// The task.
    pub fn task(&self) -> &'t Task {
        self.task
    }

    fn error(&self, state: &[i32], command: Option<usize>, kind: ModelErrorKind) -> ModelError {
        ModelError {
            state: describe_state(self.task, state),
            command: command.map(|c| describe_command(self.task, &self.task.system.commands[c])),
            kind,
        }
    }

    /// A condition of the property; it must be defined.
    fn condition(&mut self, state: &[i32], what: &str, program: &Program) -> Result<bool, ModelError> {
        program.holds(state, &mut self.slots).map_err(|reason| {
            self.error(state, None, ModelErrorKind::Undefined { what: what.into(), reason })
        })
    }

    /// Whether the state is unsafe, a goal, an end.
    pub fn status(&mut self, state: &[i32]) -> Result<Status, ModelError> {
        let program = self.unsafe_states.clone();
        let is_unsafe = self.condition(state, "unsafe condition", &program)?;
        let is_goal = match (self.task.semantics.goal, self.goal.clone()) {
            (Goal::Terminal | Goal::Strict, Some(program)) => {
                self.condition(state, "goal condition", &program)?
            }
            _ => false,
        };
        let holds = match self.hold.clone() {
            Some(program) => self.condition(state, "condition that must hold", &program)?,
            None => true,
        };
        let is_unsafe = is_unsafe && !(is_goal && self.task.semantics.goal == Goal::Strict);
        Ok(Status { is_unsafe, is_goal, ends_run: is_goal || !holds })
    }

    /// The commands whose guards hold.
    pub fn enabled(&mut self, state: &[i32]) -> Result<Vec<usize>, ModelError> {
        self.enabled_among(state, 0..self.guards.len())
    }

    /// The same among commands in ascending order; the guards of all others are false.
    fn enabled_among(
        &mut self,
        state: &[i32],
        commands: impl Iterator<Item = usize>,
    ) -> Result<Vec<usize>, ModelError> {
        let mut enabled = Vec::new();
        for command in commands {
            match self.guards[command].holds(state, &mut self.slots) {
                Ok(true) => enabled.push(command),
                Ok(false) => {}
                Err(_) if self.task.semantics.out_of_domain == OutOfDomain::Block => {}
                Err(reason) => {
                    let kind = ModelErrorKind::Undefined { what: "guard".into(), reason };
                    return Err(self.error(state, Some(command), kind));
                }
            }
        }
        Ok(enabled)
    }

    /// What the policy chooses, given the enabled commands. Without a policy: nothing.
    pub fn choice(&self, state: &[i32], enabled: &[usize]) -> Choice {
        let Some(policy) = &self.task.policy else { return Choice::default() };
        let labels: Vec<_> = enabled.iter().filter_map(|&c| self.task.system.commands[c].label).collect();
        let applicable = |output: usize| labels.contains(&policy.outputs[output]);
        let Semantics { filter, arithmetic, .. } = self.task.semantics;
        let outputs = policy.possible(arithmetic, state, |output| !filter || applicable(output));
        let stalls = outputs.iter().any(|&output| !applicable(output));
        Choice { outputs, stalls }
    }

    /// The steps that are possible in a state that does not end runs.
    pub fn successors(&mut self, state: &[i32]) -> Result<Vec<Transition>, ModelError> {
        let enabled = self.enabled(state)?;
        self.steps(state, enabled)
    }

    /// The same, given commands in ascending order such that the guards of all others are false.
    pub(crate) fn successors_among(
        &mut self,
        state: &[i32],
        commands: &[usize],
    ) -> Result<Vec<Transition>, ModelError> {
        let enabled = self.enabled_among(state, commands.iter().copied())?;
        self.steps(state, enabled)
    }

    fn steps(&mut self, state: &[i32], enabled: Vec<usize>) -> Result<Vec<Transition>, ModelError> {
        let choice = self.choice(state, &enabled);
        let mut transitions = Vec::new();
        for command in enabled {
            if self.allows(command, &choice) {
                self.fire(state, command, &mut transitions)?;
            }
        }
        Ok(transitions)
    }

    /// Looks at everything that is enabled, whatever a policy chooses.
    pub(crate) fn anything_wrong(&mut self, state: &[i32]) -> Result<(), ModelError> {
        for command in self.enabled(state)? {
            self.fire(state, command, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Whether a command may be taken: it is not controlled by the policy, or the policy may choose its label.
    fn allows(&self, command: usize, choice: &Choice) -> bool {
        let (Some(policy), Some(label)) = (&self.task.policy, self.task.system.commands[command].label)
        else {
            return true;
        };
        match policy.outputs.iter().position(|&output| output == label) {
            Some(output) => choice.outputs.contains(&output),
            None => true,
        }
    }

    /// Appends the outcomes of an enabled command.
    fn fire(
        &mut self,
        state: &[i32],
        command: usize,
        transitions: &mut Vec<Transition>,
    ) -> Result<(), ModelError> {
        let outcomes = &self.task.system.commands[command].outcomes;
        let mut probabilities = Vec::with_capacity(outcomes.len());
        for outcome in outcomes {
            let value = self.task.system.exprs.evaluate(outcome.probability, point(self.task, state));
            let probability = value.map_err(|reason| {
                let message = format!("a probability has no value: {reason}");
                self.error(state, Some(command), ModelErrorKind::Probabilities(message))
            })?;
            probabilities.push(probability.as_real().expect("probabilities are numbers"));
        }
        if let Some(message) = wrong_distribution(&probabilities) {
            return Err(self.error(state, Some(command), ModelErrorKind::Probabilities(message)));
        }
        for (outcome, probability) in probabilities.into_iter().enumerate() {
            if probability == 0.0 {
                continue;
            }
            match self.update(state, command, outcome) {
                Ok(after) => transitions.push(Transition { command, outcome, probability, state: after }),
                Err(_) if self.task.semantics.out_of_domain == OutOfDomain::Block => {}
                Err(kind) => return Err(self.error(state, Some(command), kind)),
            }
        }
        Ok(())
    }

    /// The state after an outcome.
    fn update(&self, state: &[i32], command: usize, outcome: usize) -> Result<Vec<i32>, ModelErrorKind> {
        let system = &self.task.system;
        let outcome = &system.commands[command].outcomes[outcome];
        let undefined = |what: String| move |reason| ModelErrorKind::Undefined { what, reason };
        for requirement in &outcome.requirements {
            let holds = system.exprs.evaluate(requirement.condition, point(self.task, state));
            if holds.map_err(undefined("update".into()))? != Value::Bool(true) {
                return Err(ModelErrorKind::Requirement(requirement.message.clone()));
            }
        }
        let mut after = state.to_vec();
        for assignment in &outcome.assignments {
            let variable = &system.variables[assignment.variable.index()];
            let value = system.exprs.evaluate(assignment.value, point(self.task, state));
            let value = value.map_err(undefined(format!("new value of `{}`", variable.name)))?;
            let value = value.as_int().expect("discrete variables get discrete values");
            let (lower, upper) = variable.ty.bounds().expect("tasks of this module are discrete");
            if value < i64::from(lower) || value > i64::from(upper) {
                let variable = variable.name.clone();
                return Err(ModelErrorKind::LeavesDomain { variable, value, domain: (lower, upper) });
            }
            after[assignment.variable.index()] = value as i32;
        }
        Ok(after)
    }
}

/// What is wrong with a distribution, if anything.
pub fn wrong_distribution(probabilities: &[f64]) -> Option<String> {
    if let Some(p) = probabilities.iter().find(|&&p| !(0.0..=1.0 + PROBABILITY_TOLERANCE).contains(&p)) {
        return Some(format!("a probability is {p}, outside 0..1"));
    }
    let sum: f64 = probabilities.iter().sum();
    ((sum - 1.0).abs() > PROBABILITY_TOLERANCE).then(|| format!("the probabilities sum to {sum}, not to 1"))
}

/// A discrete state as a point.
fn point<'a>(task: &'a Task, state: &'a [i32]) -> impl Fn(surefoot_model::VarId) -> Value + 'a {
    |v| match task.system.variables[v.index()].ty {
        VariableType::Bool => Value::Bool(state[v.index()] != 0),
        _ => Value::Int(i64::from(state[v.index()])),
    }
}

/// `x = 1, y = 2`.
pub fn describe_state(task: &Task, state: &[i32]) -> String {
    let pairs = task.system.variables.iter().zip(state);
    let pairs: Vec<String> = pairs.map(|(v, &value)| format!("{} = {}", v.name, v.display(value))).collect();
    pairs.join(", ")
}

/// `label (automaton edge 3)`.
pub fn describe_command(task: &Task, command: &Command) -> String {
    let label = command.label.map_or("silent step", |label| &task.system.labels[label.index()].name);
    if command.origin.is_empty() { label.to_string() } else { format!("{label} ({})", command.origin) }
}

//! What engines ask about a task again and again: its commands, who controls them, where they can be enabled.

use surefoot_model::enumerate::narrow;
use surefoot_model::expr::Truth;
use surefoot_model::{ExprId, Program, TransitionSystem, Type, VarId};
use surefoot_policy::certify::Fact;

use super::conserved::Law;
use super::state_box::StateBox;
use super::stop::Stop;
use crate::step::describe_state;
use crate::task::{Goal, ModelError, ModelErrorKind, OutOfDomain, Task, TaskError};

/// A command, prepared for boxes.
#[derive(Debug)]
pub struct CommandInfo {
    /// The policy's output that must be chosen for it; `None` if it is not controlled.
    pub output: Option<usize>,
    /// A box that holds all states in which it is enabled; `None` if there is none.
    pub hull: Option<StateBox>,
    /// The guard.
    pub guard: Program,
}

/// A task, prepared.
#[derive(Debug)]
pub struct Problem {
    /// The task, whose pool holds the conditions below.
    pub task: Task,
    /// All states.
    pub domain: StateBox,
    /// The commands, in the order of the system.
    pub commands: Vec<CommandInfo>,
    /// The states that count as unsafe.
    pub unsafe_states: ExprId,
    /// Conditions and the values that they have where runs go on.
    pub sources: Vec<(ExprId, bool)>,
    /// Conditions that must be defined in each state.
    pub conditions: Vec<ExprId>,
    /// For each command, that its distribution is one; `None` if it always is.
    pub distributions: Vec<Option<ExprId>>,
    /// The output whose label each command has, by output.
    pub commands_of: Vec<Vec<usize>>,
    /// What all reachable states obey. Only states that do are looked at.
    pub laws: Vec<Law>,
    /// The laws, as the certifier has them.
    pub facts: Vec<Fact>,
    /// The laws, as solvers have them.
    pub law_conditions: Vec<ExprId>,
}

impl Problem {
    /// Prepares a task. Its variables are discrete.
    pub fn new(task: &Task) -> Problem {
        let mut task = task.clone();
        let domain = StateBox::of_domains(&task);
        let goal = task.property.goal.filter(|_| task.semantics.goal != Goal::Ignore);
        let pool = &mut task.system.exprs;
        let unsafe_states = match (goal, task.semantics.goal) {
            (Some(goal), Goal::Strict) => {
                let other = pool.not(goal).expect("a condition");
                pool.and(task.property.unsafe_states, other).expect("conditions")
            }
            _ => task.property.unsafe_states,
        };
        let mut sources: Vec<(ExprId, bool)> = goal.map(|goal| (goal, false)).into_iter().collect();
        sources.extend(task.property.hold.map(|hold| (hold, true)));
        let conditions = [Some(task.property.unsafe_states), goal, task.property.hold];
        let conditions = conditions.into_iter().flatten().collect();
        let distributions =
            (0..task.system.commands.len()).map(|command| distribution(&mut task, command)).collect();
        let outputs = task.policy.as_ref().map_or(&[][..], |policy| &policy.outputs);
        let mut commands_of = vec![Vec::new(); outputs.len()];
        let mut commands = Vec::new();
        for (index, command) in task.system.commands.iter().enumerate() {
            let output = command.label.and_then(|label| outputs.iter().position(|&output| output == label));
            if let Some(output) = output {
                commands_of[output].push(index);
            }
            let hull = narrow(&task.system.exprs, command.guard, &domain.lower, &domain.upper);
            commands.push(CommandInfo {
                output,
                hull: hull.map(|(lower, upper)| StateBox { lower, upper }),
                guard: Program::new(&task.system.exprs, &[command.guard]),
            });
        }
        Problem {
            task,
            domain,
            commands,
            unsafe_states,
            sources,
            conditions,
            distributions,
            commands_of,
            laws: Vec::new(),
            facts: Vec::new(),
            law_conditions: Vec::new(),
        }
    }

    /// From now on, only states that obey these laws are looked at.
    pub fn obey(&mut self, laws: Vec<Law>) {
        for law in &laws {
            let (terms, at_most) = law.at_most();
            self.law_conditions.push(condition(&mut self.task.system, &terms, at_most));
            self.facts.push(Fact { terms, at_most });
        }
        self.laws = laws;
    }

    /// Whether a state obeys the laws.
    pub fn is_lawful(&self, state: &[i32]) -> bool {
        self.laws.iter().all(|law| law.holds(state))
    }

    /// A part of a box that holds all of its states that obey the laws; `None` if there are none, as far as bounds tell.
    pub fn lawful(&self, mut states: StateBox) -> Option<StateBox> {
        let StateBox { lower, upper } = &mut states;
        self.laws.iter().all(|law| law.inequality.narrow(law.value, lower, upper)).then_some(states)
    }

    /// Whether steps that leave a domain are errors.
    pub fn has_errors(&self) -> bool {
        self.task.semantics.out_of_domain == OutOfDomain::Error
    }

    /// The error that the start condition is undefined at a state.
    pub fn undefined_start(&self, state: &[i32]) -> Stop {
        let condition = self.task.property.start.condition.expect("it is undefined somewhere");
        let program = Program::new(&self.task.system.exprs, &[condition]);
        let reason = program.holds(state, &mut Vec::new()).expect_err("it is undefined here");
        Stop::Error(TaskError::Model(ModelError {
            state: describe_state(&self.task, state),
            command: None,
            kind: ModelErrorKind::Undefined { what: "start condition".into(), reason },
        }))
    }

    /// Whether the label of an output is applicable in all states of a box, as far as single guards tell.
    pub fn is_applicable(
        &self,
        output: usize,
        states: &StateBox,
        slots: &mut Vec<surefoot_model::expr::Enclosure>,
    ) -> bool {
        self.commands_of[output].iter().any(|&command| {
            let info = &self.commands[command];
            info.hull.as_ref().is_some_and(|hull| hull.includes(states))
                && info.guard.over_box(&states.lower, &states.upper, slots).truth() == Truth::True
        })
    }
}

/// The condition that a sum is at most a number.
fn condition(system: &mut TransitionSystem, terms: &[(VarId, i32)], at_most: i64) -> ExprId {
    let pool = &mut system.exprs;
    let (zero, one) = (pool.int(0), pool.int(1));
    let mut sum = zero;
    for &(variable, factor) in terms {
        let mut value = pool.variable(variable, &system.variables[variable.index()]);
        if pool.ty(value) == Type::Bool {
            value = pool.ite(value, one, zero).expect("a condition and numbers");
        }
        let factor = pool.int(factor.into());
        let term = pool.mul(factor, value).expect("numbers");
        sum = pool.add(sum, term).expect("numbers");
    }
    let most = pool.int(at_most);
    pool.le(sum, most).expect("numbers")
}

/// The condition that the probabilities of a command are a distribution, as [`crate::step::wrong_distribution`] computes it.
fn distribution(task: &mut Task, command: usize) -> Option<ExprId> {
    let probabilities: Vec<ExprId> =
        task.system.commands[command].outcomes.iter().map(|outcome| outcome.probability).collect();
    let pool = &mut task.system.exprs;
    let constants: Option<Vec<f64>> =
        probabilities.iter().map(|&probability| pool.as_constant(probability)?.as_real()).collect();
    if constants.is_some_and(|constants| crate::step::wrong_distribution(&constants).is_none()) {
        return None;
    }
    let tolerance = crate::step::PROBABILITY_TOLERANCE;
    let (zero, one) = (pool.real(0.0), pool.real(1.0));
    let (most, tolerance) = (pool.real(1.0 + tolerance), pool.real(tolerance));
    let mut sum = zero;
    let mut conditions = Vec::new();
    for probability in probabilities {
        conditions.push(pool.ge(probability, zero).expect("numbers"));
        conditions.push(pool.le(probability, most).expect("numbers"));
        sum = pool.add(sum, probability).expect("numbers");
    }
    let difference = pool.sub(sum, one).expect("numbers");
    let error = pool.abs(difference).expect("a number");
    conditions.push(pool.le(error, tolerance).expect("numbers"));
    Some(pool.all(conditions).expect("conditions"))
}

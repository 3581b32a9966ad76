//! Environments for reinforcement learning: a learner chooses labels, and the task does the rest.
//!
//! A step is one of the semantics that engines verify ([`crate::step`]), with what is left open drawn at random as in
//! [`crate::simulate`]: among the enabled commands of the chosen label and all enabled commands that the learner does not control,
//! each is as likely as the others; then an outcome has its probability. The policy of the task is not looked at.
//!
//! States are packed, guards are decision trees and updates work on words, as in the explicit engine: millions of steps a second.
//! What compiled code finds wrong is told by the slow definition.

mod batch;
mod reward;
mod step;
#[cfg(test)]
mod tests;

use std::sync::Mutex;

use surefoot_model::pack::Layout;
use surefoot_model::{LabelId, PointValue, VarId};

use crate::control::Control;
use crate::explicit::condition::{Compiler, Condition};
use crate::explicit::generator::Generator;
use crate::explicit::update::Update;
use crate::random::Random;
use crate::simulate::{StartFrom, Starts};
use crate::task::{Goal, OutOfDomain, Task, TaskError};

pub use batch::{Autoreset, Batch, Observation, Rows};
pub use reward::Gains;
use reward::Rewarder;
use step::Distribution;

/// How a task is made an environment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The labels that the learner chooses from; all others are not controlled.
    pub actions: Vec<LabelId>,
    /// The variables that it sees.
    pub observed: Vec<VarId>,
    /// What it gains.
    pub gains: Gains,
    /// What choosing a label does that is not applicable.
    pub inapplicable: Inapplicable,
    /// Whether an unsafe state ends the run.
    pub ends_at_unsafe: bool,
    /// Whether a goal state ends the run.
    pub ends_at_goal: bool,
    /// Steps after which a run is cut off.
    pub max_steps: u64,
}

/// What choosing a label does that is not applicable, if nothing else happens either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inapplicable {
    /// The run ends: the policy stalls.
    Stall,
    /// Nothing changes.
    Stay,
}

/// How a run ended, or that it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Ending {
    /// It goes on.
    None = 0,
    /// In an unsafe state.
    Unsafe = 1,
    /// In a goal state.
    Goal = 2,
    /// In a state that violates the condition that must hold.
    Left = 3,
    /// By a label that is not applicable.
    Stall = 4,
    /// In a state where nothing is possible.
    Deadlock = 5,
    /// It was cut off.
    StepLimit = 6,
}

impl Ending {
    /// All endings, by number.
    pub const ALL: [Ending; 7] = [
        Ending::None,
        Ending::Unsafe,
        Ending::Goal,
        Ending::Left,
        Ending::Stall,
        Ending::Deadlock,
        Ending::StepLimit,
    ];

    /// A short name, that of [`crate::simulate::Ending`]; empty while the run goes on.
    pub fn name(self) -> &'static str {
        match self {
            Ending::None => "",
            Ending::Unsafe => "unsafe",
            Ending::Goal => "goal",
            Ending::Left => "left",
            Ending::Stall => "stall",
            Ending::Deadlock => "deadlock",
            Ending::StepLimit => "step-limit",
        }
    }
}

/// A task in which learners act.
pub struct Environment {
    task: Task,
    options: Options,
    layout: Layout,
    guards: Vec<Condition>,
    generator: Generator,
    commands: Vec<Compiled>,
    unsafe_states: Condition,
    hold: Option<Condition>,
    goal: Option<Condition>,
    rewarder: Rewarder,
    /// Drawing counts the search that it takes.
    starts: Mutex<Starts>,
}

/// A command, compiled.
struct Compiled {
    /// The action that chooses it; `None` if it is not controlled.
    action: Option<u32>,
    updates: Vec<Update>,
    distribution: Distribution,
}

/// A run that goes on.
#[derive(Debug)]
pub struct Run {
    packed: Vec<u64>,
    /// Enabled commands.
    enabled: Vec<u32>,
    steps: u64,
    random: Random,
    ending: Ending,
    /// The potential of the state.
    potential: f64,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// What it gained.
    pub reward: f64,
    /// Whether the run ended.
    pub ending: Ending,
    /// The command that was taken; `None` if nothing happened.
    pub command: Option<u32>,
}

/// Space to compute in.
#[derive(Debug, Default)]
pub struct Scratch {
    state: Vec<i32>,
    slots: Vec<PointValue>,
    after: Vec<u64>,
    candidates: Vec<u32>,
}

impl Environment {
    /// Compiles a task.
    ///
    /// # Errors
    /// It has real-valued variables or no goal where one is needed, or its start condition is undefined somewhere.
    pub fn new(task: Task, options: Options, control: &Control<'_>) -> Result<Self, TaskError> {
        let variables = &task.system.variables;
        let layout = Layout::new(variables).map_err(|variable| TaskError::RealVariable {
            variable: variables[variable.index()].name.clone(),
            engine: "environment",
        })?;
        if task.semantics.goal != Goal::Ignore && task.property.goal.is_none() {
            return Err(TaskError::NoGoal);
        }
        let starts =
            Starts::collect(&task, StartFrom::Property, u64::MAX, control).map_err(TaskError::Model)?;
        let mut compiler = Compiler::new(&task.system.exprs, &layout);
        let guards: Vec<Condition> =
            task.system.commands.iter().map(|command| compiler.condition(command.guard)).collect();
        let commands = task.system.commands.iter().map(|command| {
            let updates: Vec<Update> =
                command.outcomes.iter().map(|outcome| Update::new(&compiler, outcome)).collect();
            let action = command.label.and_then(|label| options.actions.iter().position(|&a| a == label));
            Compiled {
                action: action.map(|action| action as u32),
                distribution: Distribution::new(&updates),
                updates,
            }
        });
        let commands = commands.collect();
        let goal = task.property.goal.filter(|_| options.ends_at_goal);
        Ok(Environment {
            generator: Generator::new(guards.iter().enumerate().map(|(c, guard)| (c as u32, guard))),
            unsafe_states: compiler.condition(task.property.unsafe_states),
            hold: task.property.hold.map(|condition| compiler.condition(condition)),
            goal: goal.map(|condition| compiler.condition(condition)),
            rewarder: Rewarder::new(&task.system.exprs, options.gains),
            guards,
            commands,
            starts: Mutex::new(starts),
            layout,
            options,
            task,
        })
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How many start states were collected, and whether these are all.
    pub fn start_states(&self) -> (usize, bool) {
        let starts = self.starts.lock().expect("drawing does not panic");
        (starts.states().len(), starts.is_complete())
    }

    /// A run that has yet to be started.
    pub fn run(&self, seed: u64, stream: u64) -> Run {
        Run {
            packed: vec![0; self.layout.words()],
            enabled: Vec::new(),
            steps: 0,
            random: Random::new(seed, stream),
            ending: Ending::Deadlock,
            potential: 0.0,
        }
    }

    /// The values of all variables.
    pub fn state(&self, run: &Run) -> Vec<i32> {
        let mut state = vec![0; self.layout.fields().len()];
        self.layout.unpack(&run.packed, &mut state);
        state
    }

    /// Whether blocked steps do not exist.
    fn blocks(&self) -> bool {
        self.task.semantics.out_of_domain == OutOfDomain::Block
    }

    /// Whether goal states count as safe.
    fn is_strict(&self) -> bool {
        self.task.semantics.goal == Goal::Strict
    }
}

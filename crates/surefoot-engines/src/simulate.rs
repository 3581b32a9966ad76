//! Simulation: single runs of a task, drawn at random.
//!
//! Where the task leaves several commands open, each is as likely as the others; outcomes have their probabilities. Runs are made
//! with the [`Stepper`], so they are runs of exactly the semantics that engines verify. Equal seeds give equal runs, and a run
//! does not depend on how many are made before it.

mod start;

use crate::control::Control;
use crate::outcome::{Trace, TraceStep};
use crate::step::{Stepper, Transition};
use crate::task::{Goal, ModelError, Task, TaskError};

use crate::random::Random;
pub use start::{StartFrom, Starts};

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// Its states and steps.
    pub trace: Trace,
    /// Why it ended.
    pub ending: Ending,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In an unsafe state.
    Unsafe,
    /// In a goal state that ends runs.
    Goal,
    /// In a state that violates the condition that must hold.
    Left,
    /// In a state where the policy chooses a label that is not applicable.
    Stall,
    /// In a state where nothing is possible.
    Deadlock,
    /// It reached the limit of steps.
    StepLimit,
    /// The user stopped it.
    Cancelled,
}

impl Ending {
    /// All endings, in the order in which they are reported.
    pub const ALL: [Ending; 7] = [
        Ending::Unsafe,
        Ending::Goal,
        Ending::Left,
        Ending::Stall,
        Ending::Deadlock,
        Ending::StepLimit,
        Ending::Cancelled,
    ];

    /// A short name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Unsafe => "unsafe",
            Ending::Goal => "goal",
            Ending::Left => "left",
            Ending::Stall => "stall",
            Ending::Deadlock => "deadlock",
            Ending::StepLimit => "step-limit",
            Ending::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ending::Unsafe => "unsafe state",
            Ending::Goal => "goal state",
            Ending::Left => "state that violates the condition that must hold",
            Ending::Stall => "stall: the policy chooses a label that is not applicable here",
            Ending::Deadlock => "deadlock: nothing is possible here",
            Ending::StepLimit => "last state before the limit of steps",
            Ending::Cancelled => "last state before the run was stopped",
        })
    }
}

/// Makes runs of a task.
pub struct Simulator<'t> {
    stepper: Stepper<'t>,
    starts: Starts,
    seed: u64,
}

impl<'t> Simulator<'t> {
    /// Prepares runs of a task.
    ///
    /// # Errors
    /// The task has real-valued variables or no goal where one is needed, or its start condition is undefined somewhere.
    pub fn new(task: &'t Task, from: StartFrom, seed: u64, control: &Control<'_>) -> Result<Self, TaskError> {
        if let Some(variable) = task.system.variables.iter().find(|v| v.ty.bounds().is_none()) {
            return Err(TaskError::RealVariable { variable: variable.name.clone(), engine: "simulation" });
        }
        if task.semantics.goal != Goal::Ignore && task.property.goal.is_none() {
            return Err(TaskError::NoGoal);
        }
        let starts = Starts::collect(task, from, u64::MAX, control).map_err(TaskError::Model)?;
        Ok(Simulator { stepper: Stepper::new(task), starts, seed })
    }

    /// The states in which runs start.
    pub fn starts(&self) -> &Starts {
        &self.starts
    }

    /// Run number `index`, of at most `steps` steps; `None` if there is no start state.
    pub fn episode(
        &mut self,
        index: u64,
        steps: u64,
        control: &Control<'_>,
    ) -> Result<Option<Episode>, ModelError> {
        let mut random = Random::new(self.seed, index);
        let Some(start) = self.starts.draw(self.stepper.task(), &mut random) else { return Ok(None) };
        let mut trace = Trace { start, steps: Vec::new() };
        loop {
            let state = trace.last();
            let status = self.stepper.status(state)?;
            let ending = if status.is_unsafe {
                Some(Ending::Unsafe)
            } else if status.is_goal {
                Some(Ending::Goal)
            } else if status.ends_run {
                Some(Ending::Left)
            } else if trace.steps.len() as u64 >= steps {
                Some(Ending::StepLimit)
            } else if control.interrupted().is_some() {
                Some(Ending::Cancelled)
            } else {
                None
            };
            if let Some(ending) = ending {
                return Ok(Some(Episode { trace, ending }));
            }
            let possible = self.stepper.successors(state)?;
            let Some(Transition { command, outcome, state, .. }) = choose(possible, &mut random) else {
                let enabled = self.stepper.enabled(state)?;
                let stalls = self.stepper.choice(state, &enabled).stalls;
                let ending = if stalls { Ending::Stall } else { Ending::Deadlock };
                return Ok(Some(Episode { trace, ending }));
            };
            trace.steps.push(TraceStep { command, outcome, state });
        }
    }
}

/// One of the possible steps: first a command, then its outcome.
fn choose(mut possible: Vec<Transition>, random: &mut Random) -> Option<Transition> {
    let mut commands: Vec<usize> = possible.iter().map(|transition| transition.command).collect();
    commands.dedup();
    if commands.is_empty() {
        return None;
    }
    let command = commands[random.below(commands.len() as u64) as usize];
    possible.retain(|transition| transition.command == command);
    // Outcomes that are blocked are missing: the others share their probability.
    let total: f64 = possible.iter().map(|transition| transition.probability).sum();
    let mut rest = random.unit() * total;
    let position = possible.iter().position(|transition| {
        rest -= transition.probability;
        rest < 0.0
    });
    // Rounding may leave a crumb beyond the last outcome.
    let position = position.unwrap_or(possible.len() - 1);
    Some(possible.swap_remove(position))
}

#[cfg(test)]
mod tests {
    use surefoot_model::jani::{ReadOptions, read_text};
    use surefoot_model::{Start, VarId, Variable, VariableType};
    use surefoot_policy::Arithmetic;

    use super::*;
    use crate::task::{OutOfDomain, Semantics};

    /// A walk on 0..9 from any of the states `x ≤ 3`, two steps up or one down; 9 is unsafe.
    fn walk() -> Task {
        let text = r#"{
            "jani-version": 1, "name": "walk", "type": "mdp", "actions": [{"name": "up"}, {"name": "down"}],
            "variables": [{"name": "x", "initial-value": 0,
                "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}}],
            "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
                {"location": "l", "action": "up", "guard": {"exp": {"op": "≤", "left": "x", "right": 7}},
                 "destinations": [
                    {"location": "l", "probability": {"exp": 0.75},
                     "assignments": [{"ref": "x", "value": {"op": "+", "left": "x", "right": 2}}]},
                    {"location": "l", "probability": {"exp": 0.25}}]},
                {"location": "l", "action": "down", "guard": {"exp": {"op": "≥", "left": "x", "right": 1}},
                 "destinations": [{"location": "l",
                    "assignments": [{"ref": "x", "value": {"op": "-", "left": "x", "right": 1}}]}]}]}],
            "system": {"elements": [{"automaton": "a"}],
                "syncs": [{"synchronise": ["up"], "result": "up"}, {"synchronise": ["down"], "result": "down"}]},
            "properties": [{"name": "p", "expression": {"op": "PA",
                "start": {"op": "≤", "left": "x", "right": 3}, "reach": {"op": "=", "left": "x", "right": 9}}}]
        }"#;
        let loaded =
            read_text(&[("walk.jani", text)], "walk.jani", None, &ReadOptions::default()).expect("valid");
        let property = loaded.properties[0].question.clone().expect("supported");
        let semantics = Semantics {
            filter: false,
            goal: Goal::Ignore,
            out_of_domain: OutOfDomain::Error,
            arithmetic: Arithmetic::F64,
        };
        Task { system: loaded.system, property, policy: None, semantics }
    }

    fn episodes(task: &Task, from: StartFrom, seed: u64, steps: u64) -> Vec<Episode> {
        let control = Control::unlimited();
        let mut simulator = Simulator::new(task, from, seed, &control).expect("suits");
        (0..200).map(|i| simulator.episode(i, steps, &control).expect("defined").expect("start")).collect()
    }

    #[test]
    fn equal_seeds_give_equal_runs_and_others_do_not() {
        let task = walk();
        let first = episodes(&task, StartFrom::Property, 7, 50);
        assert_eq!(first, episodes(&task, StartFrom::Property, 7, 50));
        assert_ne!(first, episodes(&task, StartFrom::Property, 8, 50));
    }

    #[test]
    fn unsafe_runs_replay_and_all_start_states_are_drawn() {
        let task = walk();
        let mut drawn = std::collections::BTreeSet::new();
        for Episode { trace, ending } in episodes(&task, StartFrom::Property, 1, 50) {
            drawn.insert(trace.start.clone());
            match ending {
                Ending::Unsafe => assert_eq!(crate::replay::replay(&task, &trace), Ok(())),
                _ => assert_eq!((ending, trace.steps.len()), (Ending::StepLimit, 50)),
            }
        }
        assert_eq!(drawn.len(), 4);
    }

    #[test]
    fn outcomes_have_their_probabilities_and_commands_are_equally_likely() {
        let task = walk();
        let mut counts = [0u32; 3];
        for Episode { trace, .. } in episodes(&task, StartFrom::State(vec![0, 4]), 3, 1) {
            counts[trace.steps[0].command + trace.steps[0].outcome] += u32::from(trace.steps[0].command == 0);
            counts[2] += u32::from(trace.steps[0].command == 1);
        }
        // 200 draws: 75, 25 and 100 are expected; the bounds are four standard deviations away.
        assert!((48..=102).contains(&counts[0]), "{counts:?}");
        assert!((6..=44).contains(&counts[1]), "{counts:?}");
        assert!((72..=128).contains(&counts[2]), "{counts:?}");
    }

    #[test]
    fn start_states_beyond_the_cap_are_drawn_too() {
        // Pairs `a < b` of 0..999: half a million.
        let mut task = walk();
        let system = &mut task.system;
        system.variables =
            ["a", "b"].map(|name| Variable::new(name, VariableType::Int { lower: 0, upper: 999 })).into();
        system.commands.clear();
        let [a, b] = [0, 1].map(|v| system.exprs.variable(VarId(v), &system.variables[v as usize]));
        task.property.start =
            Start { condition: Some(system.exprs.lt(a, b).expect("numbers")), listed: Vec::new() };
        task.property.unsafe_states = system.exprs.bool(false);
        task.property.goal = None;
        let control = Control::unlimited();
        let mut simulator = Simulator::new(&task, StartFrom::Property, 0, &control).expect("suits");
        assert!(!simulator.starts().is_complete());
        let mut drawn = std::collections::BTreeSet::new();
        for i in 0..100 {
            let Episode { trace, ending } =
                simulator.episode(i, 10, &control).expect("defined").expect("start");
            assert!(trace.start[0] < trace.start[1]);
            assert_eq!(ending, Ending::Deadlock);
            drawn.insert(trace.start);
        }
        assert!(drawn.len() > 90);
        // The first states of the enumeration all have a small `a`.
        assert!(drawn.iter().any(|state| state[0] > 500));
    }

    #[test]
    fn the_initial_state_is_one_of_the_model() {
        let task = walk();
        for Episode { trace, .. } in episodes(&task, StartFrom::Initial, 3, 1) {
            assert_eq!(trace.start, [0, 0]);
        }
    }
}

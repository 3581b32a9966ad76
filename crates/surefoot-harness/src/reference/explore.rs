//! All reachable states, breadth first, with everything that an engine could be asked about them.

use std::collections::{HashMap, HashSet};

use surefoot_engines::Task;

use super::model::{Model, Wrong, all_states};

/// The task has more states than the reference is willing to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// What a task is.
#[derive(Debug, Clone, Default)]
pub struct Exploration {
    /// A state of the domains at which the start condition has no value. If there is one, nothing else is filled in.
    pub start_error: Option<Wrong>,
    /// Distance from the start of the nearest state at which the model is wrong, and how. Runs end there.
    pub error: Option<(usize, Wrong)>,
    /// Distance from the start of the nearest unsafe state.
    pub unsafe_distance: Option<usize>,
    /// The start states, in the order of the domains.
    pub starts: Vec<Vec<i32>>,
    /// Every reachable state, nearest first.
    pub states: Vec<Vec<i32>>,
    /// Start states from which an unsafe state is reachable.
    pub unsafe_starts: HashSet<Vec<i32>>,
    /// Number of steps between reachable states.
    pub transitions: usize,
    /// Number of unsafe states.
    pub unsafe_states: usize,
    /// Number of states where the policy may choose a label that is not applicable.
    pub stalls: usize,
    /// Number of states without a step.
    pub terminal_states: usize,
    /// Number of goal states that end runs.
    pub goal_states: usize,
    /// Distance of the farthest state.
    pub depth: usize,
}

impl Exploration {
    /// Whether anything is wrong with the model at a reachable state or with the start condition.
    pub fn has_error(&self) -> bool {
        self.start_error.is_some() || self.error.is_some()
    }
}

/// Explores a task of up to `limit` states. The start condition is tried on every state of the domains, so without one the
/// domains may be of any size.
pub fn explore(task: &Task, limit: usize) -> Result<Exploration, TooLarge> {
    let model = Model::new(task);
    let mut result = Exploration::default();
    let mut starts = HashSet::new();
    if task.property.start.condition.is_some() {
        for state in all_states(task, limit).ok_or(TooLarge)? {
            match model.is_start(&state) {
                Ok(true) => {
                    starts.insert(state);
                }
                Ok(false) => {}
                Err(wrong) => return Ok(Exploration { start_error: Some(wrong), ..Exploration::default() }),
            }
        }
    }
    starts.extend(task.property.start.listed.iter().cloned());
    result.starts = starts.into_iter().collect();
    result.starts.sort();
    let mut search =
        Search { model, result, numbers: HashMap::new(), predecessors: Vec::new(), bad: Vec::new() };
    search.run(limit)?;
    search.classify_starts();
    Ok(search.result)
}

struct Search<'t> {
    model: Model<'t>,
    result: Exploration,
    numbers: HashMap<Vec<i32>, usize>,
    /// By state: the states with a step to it.
    predecessors: Vec<Vec<usize>>,
    /// Numbers of the unsafe states.
    bad: Vec<usize>,
}

impl Search<'_> {
    fn run(&mut self, limit: usize) -> Result<(), TooLarge> {
        let mut layer: Vec<usize> =
            self.result.starts.clone().into_iter().filter_map(|s| self.add(s)).collect();
        for distance in 0.. {
            let mut next = Vec::new();
            for &number in &layer {
                if let Err(wrong) = self.expand(number, distance, &mut next) {
                    self.result.error.get_or_insert((distance, wrong));
                }
            }
            if self.result.states.len() > limit {
                return Err(TooLarge);
            }
            if next.is_empty() {
                self.result.depth = distance;
                return Ok(());
            }
            layer = next;
        }
        unreachable!("the loop ends by returning")
    }

    /// The number of a new state.
    fn add(&mut self, state: Vec<i32>) -> Option<usize> {
        if self.numbers.contains_key(&state) {
            return None;
        }
        let number = self.result.states.len();
        self.numbers.insert(state.clone(), number);
        self.result.states.push(state);
        self.predecessors.push(Vec::new());
        Some(number)
    }

    fn expand(&mut self, number: usize, distance: usize, next: &mut Vec<usize>) -> Result<(), Wrong> {
        let state = self.result.states[number].clone();
        let status = self.model.status(&state)?;
        if status.is_unsafe {
            self.result.unsafe_states += 1;
            self.result.unsafe_distance.get_or_insert(distance);
            self.bad.push(number);
        }
        self.result.goal_states += usize::from(status.is_goal);
        if status.ends_run {
            self.result.terminal_states += 1;
            return Ok(());
        }
        let steps = self.model.steps(&state)?;
        self.result.stalls += usize::from(steps.stalls);
        self.result.terminal_states += usize::from(steps.steps.is_empty());
        self.result.transitions += steps.steps.len();
        for step in steps.steps {
            next.extend(self.add(step.state.clone()));
            let after = self.numbers[&step.state];
            self.predecessors[after].push(number);
        }
        Ok(())
    }

    /// Backwards from the unsafe states.
    fn classify_starts(&mut self) {
        let mut doomed: HashSet<usize> = self.bad.iter().copied().collect();
        let mut open = self.bad.clone();
        while let Some(number) = open.pop() {
            for &before in &self.predecessors[number] {
                if doomed.insert(before) {
                    open.push(before);
                }
            }
        }
        let starts = self.result.starts.iter().filter(|state| doomed.contains(&self.numbers[*state]));
        self.result.unsafe_starts = starts.cloned().collect();
    }
}

//! States that random runs reach, before anything is proved.
//!
//! IC3 follows runs of at most as many steps as it has frames. Where a counter must be driven far before the policy changes its mind, reasons that
//! were made without the far side fall one level at a time. So each start state that is selected is first simulated for a while, and what is seen
//! on the way becomes an obligation of its own: reasons are made for near and far states alike. Unsafe policies often fall here.
//!
//! Runs have habits: for a while they meet mostly the first outcomes of commands, then mostly the last. Runs that draw outcomes by their
//! probabilities see too little.

use rustc_hash::{FxHashMap, FxHashSet};

use super::visits::Visits;
use super::{Run, Stop};
use crate::outcome::Trace;
use crate::random::Random;
use crate::simulate::{StartFrom, Starts};
use crate::step::Transition;
use crate::task::TaskError;

/// Runs.
const RUNS: usize = 512;

/// Search nodes that may be spent on start states of runs.
const START_NODES: u64 = 20_000;

/// Start states that the solver gives, where they are too many or too hard to list.
const SOLVED_STARTS: usize = 32;

/// Steps of a run.
const LENGTH: usize = 1000;

/// Steps, and runs, without a new state after which it is enough.
const IDLE: usize = 40;

/// One step out of so many changes the habit.
const HABIT: u64 = 24;

/// How often an outcome is passed over for the next.
const HABITS: [f64; 5] = [0.01, 0.2, 0.5, 0.8, 0.99];

/// What random runs have seen.
pub struct Samples {
    visits: Visits,
    /// The visit of each state.
    seen: FxHashMap<Vec<i32>, usize>,
    most: usize,
    random: Random,
    /// The visits of which all steps were followed.
    followed: FxHashSet<usize>,
}

impl Samples {
    /// No samples yet, and at most so many.
    pub fn new(most: usize) -> Samples {
        let (visits, random) = (Visits::default(), Random::new(0, 0));
        Samples { visits, seen: FxHashMap::default(), most, random, followed: FxHashSet::default() }
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.visits.len()
    }

    /// One of the states.
    pub fn state(&self, index: usize) -> &[i32] {
        self.visits.state(index)
    }

    /// Remembers that all steps of a visit are followed; whether they were not before.
    pub fn follow_once(&mut self, visit: usize) -> bool {
        self.followed.insert(visit)
    }

    /// The run that led to a state.
    pub fn trace(&self, index: usize) -> Trace {
        self.visits.trace(index)
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        // Each state is stored twice.
        2 * self.visits.memory()
    }

    fn is_full(&self) -> bool {
        self.visits.len() >= self.most
    }

    /// The visit of a start state: the first one of that state.
    pub fn start(&mut self, state: Vec<i32>) -> usize {
        *self.seen.entry(state).or_insert_with_key(|state| self.visits.start(state.clone()))
    }

    /// The visit of the state that a step leads to: the first one of that state.
    pub fn follow(&mut self, from: usize, step: Transition) -> usize {
        let visits = &mut self.visits;
        *self.seen.entry(step.state.clone()).or_insert_with(|| visits.follow(from, step))
    }
}

impl Run<'_> {
    /// Simulates from random start states; a run to an unsafe state, if one is met.
    pub(super) fn sample(&mut self) -> Result<Option<Trace>, Stop> {
        if self.samples.is_full() {
            return Ok(None);
        }
        let starts = Starts::collect(&self.problem.task, StartFrom::Property, START_NODES, self.control);
        let starts = starts.map_err(|error| Stop::Error(TaskError::Model(error)))?;
        let solved = if starts.is_complete() { Vec::new() } else { self.solved_starts()? };
        let mut idle = 0;
        for run in 0..RUNS {
            let random = &mut self.samples.random;
            let drawn = solved.get(run).cloned().or_else(|| starts.draw(&self.problem.task, random));
            let again = || solved.get(random.below(solved.len() as u64) as usize).cloned();
            let Some(start) = drawn.or_else(again) else { break };
            let known = self.samples.len();
            let start = self.samples.start(start);
            if let Some(unsafe_visit) = self.walk(start)? {
                return Ok(Some(self.samples.trace(unsafe_visit)));
            }
            idle = if self.samples.len() > known { 0 } else { idle + 1 };
            if idle == IDLE {
                break;
            }
        }
        Ok(None)
    }

    /// Start states near random states.
    fn solved_starts(&mut self) -> Result<Vec<Vec<i32>>, Stop> {
        let mut starts = Vec::new();
        for _ in 0..SOLVED_STARTS {
            let near = self.problem.domain.draw(&mut self.samples.random);
            starts.extend(self.states.start_near(&near)?);
        }
        Ok(starts)
    }

    /// One run; the visit of an unsafe state, if it meets one.
    fn walk(&mut self, start: usize) -> Result<Option<usize>, Stop> {
        let mut visit = start;
        let mut habit = 0.5;
        let mut idle = 0;
        for _ in 0..LENGTH {
            let state = self.samples.state(visit).to_vec();
            if self.samples.is_full() || self.status(&state)?.ends_run {
                break;
            }
            let steps = self.successors(&state)?;
            if self.samples.random.below(HABIT) == 0 {
                habit = HABITS[self.samples.random.below(HABITS.len() as u64) as usize];
            }
            let Some(step) = choose(steps, habit, &mut self.samples.random) else { break };
            let is_unsafe = self.status(&step.state)?.is_unsafe;
            let known = self.samples.len();
            visit = self.samples.follow(visit, step);
            if is_unsafe {
                return Ok(Some(visit));
            }
            idle = if self.samples.len() > known { 0 } else { idle + 1 };
            if idle == IDLE {
                break;
            }
        }
        self.look_around()?;
        Ok(None)
    }
}

/// A command at random, then one of its outcomes: each but the last gives way to the next as often as the habit says.
fn choose(mut steps: Vec<Transition>, habit: f64, random: &mut Random) -> Option<Transition> {
    let mut commands: Vec<usize> = steps.iter().map(|step| step.command).collect();
    commands.dedup();
    if commands.is_empty() {
        return None;
    }
    let command = commands[random.below(commands.len() as u64) as usize];
    steps.retain(|step| step.command == command);
    let mut position = 0;
    while position + 1 < steps.len() && random.unit() < habit {
        position += 1;
    }
    Some(steps.swap_remove(position))
}

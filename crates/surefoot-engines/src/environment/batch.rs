//! Many runs side by side, with numbers in rows: what vectorised environments are made of.

use super::{Ending, Environment, Run, Scratch, Step};
use crate::task::TaskError;

/// When a run that has ended starts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Autoreset {
    /// In the next step, whose action is ignored.
    NextStep,
    /// At once; the last observation is kept apart.
    SameStep,
    /// Never.
    Disabled,
}

/// A number that observations consist of.
pub trait Observation: Copy {
    /// The value of a variable.
    fn of(value: i32) -> Self;
}

impl Observation for i32 {
    fn of(value: i32) -> Self {
        value
    }
}

impl Observation for f32 {
    fn of(value: i32) -> Self {
        value as f32
    }
}

/// Where results are written, row by row.
#[derive(Debug)]
pub struct Rows<'r, O> {
    /// Observations after the step.
    pub observations: &'r mut [O],
    /// Last observations of runs that ended and started again in the same step; other rows are left as they are.
    pub last_observations: &'r mut [O],
    /// Which actions are applicable; all, where none is.
    pub masks: &'r mut [bool],
    /// Gains of the step.
    pub rewards: &'r mut [f64],
    /// [`Ending`]s of the step, by number.
    pub endings: &'r mut [u8],
    /// Numbers of the commands that were taken; -1 if nothing happened.
    pub commands: &'r mut [i32],
}

/// Runs of one environment.
#[derive(Debug)]
pub struct Batch {
    runs: Vec<Run>,
    autoreset: Autoreset,
    scratch: Scratch,
}

impl Batch {
    /// So many runs. They must be started before the first step.
    pub fn new(environment: &Environment, count: usize, autoreset: Autoreset, seed: u64) -> Self {
        let runs = (0..count as u64).map(|stream| environment.run(seed, stream)).collect();
        Batch { runs, autoreset, scratch: Scratch::default() }
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// A run.
    pub fn run(&self, index: usize) -> &Run {
        &self.runs[index]
    }

    /// Begins the random numbers of a run anew.
    pub fn seed(&mut self, environment: &Environment, index: usize, seed: u64) {
        self.runs[index] = environment.run(seed, 0);
    }

    /// Starts a run in a start state, or in a given state.
    pub fn start(
        &mut self,
        environment: &Environment,
        index: usize,
        state: Option<&[i32]>,
    ) -> Result<(), TaskError> {
        let Batch { runs, scratch, .. } = self;
        match state {
            Some(state) => environment.start_in(&mut runs[index], state, scratch),
            None => environment.start(&mut runs[index], scratch),
        }
    }

    /// Writes what is seen in the states of all runs.
    pub fn observe<O: Observation>(&self, environment: &Environment, rows: &mut Rows<'_, O>) {
        for (index, run) in self.runs.iter().enumerate() {
            environment.observe(run, row(rows.observations, index, environment.options.observed.len()));
            environment.mask(run, row(rows.masks, index, environment.options.actions.len()));
        }
    }

    /// One step of each run. Actions are numbers of labels; rows have one entry for each run.
    pub fn step<O: Observation>(
        &mut self,
        environment: &Environment,
        actions: &[i64],
        rows: &mut Rows<'_, O>,
    ) -> Result<(), TaskError> {
        let width = environment.options.observed.len();
        let Batch { runs, scratch, autoreset } = self;
        for (index, (run, &action)) in runs.iter_mut().zip(actions).enumerate() {
            let step = if *autoreset == Autoreset::NextStep && run.ending != Ending::None {
                environment.start(run, scratch)?;
                Step { reward: 0.0, ending: Ending::None, command: None }
            } else {
                environment.step(run, action as u32, scratch)?
            };
            rows.rewards[index] = step.reward;
            rows.endings[index] = step.ending as u8;
            rows.commands[index] = step.command.map_or(-1, |command| command as i32);
            if *autoreset == Autoreset::SameStep && step.ending != Ending::None {
                environment.observe(run, row(rows.last_observations, index, width));
                environment.start(run, scratch)?;
            }
            environment.observe(run, row(rows.observations, index, width));
            environment.mask(run, row(rows.masks, index, environment.options.actions.len()));
        }
        Ok(())
    }
}

fn row<T>(all: &mut [T], index: usize, width: usize) -> &mut [T] {
    &mut all[index * width..][..width]
}

impl Environment {
    /// Writes the values of the observed variables.
    pub fn observe<O: Observation>(&self, run: &Run, row: &mut [O]) {
        for (value, &variable) in row.iter_mut().zip(&self.options.observed) {
            *value = O::of(self.layout.field(variable).get(&run.packed));
        }
    }

    /// Writes which actions are applicable; all, where none is: then it does not matter which one is chosen.
    pub fn mask(&self, run: &Run, row: &mut [bool]) {
        row.fill(false);
        let mut any = false;
        for &command in &run.enabled {
            if let Some(action) = self.commands[command as usize].action {
                row[action as usize] = true;
                any = true;
            }
        }
        if !any {
            row.fill(true);
        }
    }
}

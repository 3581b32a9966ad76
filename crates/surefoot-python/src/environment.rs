//! Environments for learners: many runs side by side, numbers in `NumPy` arrays.

use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use surefoot::Failure;
use surefoot_engines::Control;
use surefoot_engines::environment::{
    Autoreset, Batch as Runs, Ending, Environment, Gains, Inapplicable, Observation, Options, Rows,
};
use surefoot_model::{LabelId, Rewards, VarId};

use crate::call::{Files, run};
use crate::failure::exception;
use crate::question::Question;

/// Runs of one environment.
#[pyclass(module = "surefoot._native")]
pub struct Batch {
    environment: Environment,
    runs: Runs,
}

/// Where results are written, an array for each row of [`Rows`].
type Arrays<'py, O> = (
    PyReadwriteArray2<'py, O>,
    PyReadwriteArray2<'py, O>,
    PyReadwriteArray2<'py, bool>,
    PyReadwriteArray1<'py, f64>,
    PyReadwriteArray1<'py, u8>,
    PyReadwriteArray1<'py, i32>,
);

/// What a learner gains: in goal states, in unsafe states, by each step, by a stall, in a deadlock; and whether the objective of
/// the property says otherwise.
type GainNumbers = (f64, f64, f64, f64, f64, bool);

#[pymethods]
impl Batch {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "only one caller, which names them")]
    fn new(
        py: Python<'_>,
        question: &Question,
        actions: Vec<u32>,
        observed: Vec<u32>,
        gains: GainNumbers,
        stall_ends: bool,
        unsafe_ends: bool,
        goal_ends: bool,
        max_steps: u64,
        count: usize,
        autoreset: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let question = &question.question;
        let (goal, unsafe_state, step, stall, deadlock, by_objective) = gains;
        let rewards = match (by_objective, &question.rewards) {
            (true, Ok(rewards)) => *rewards,
            (true, Err(error)) => return Err(exception(Failure::from(error.clone()))),
            (false, _) => Rewards::default(),
        };
        let options = Options {
            actions: actions.into_iter().map(LabelId).collect(),
            observed: observed.into_iter().map(VarId).collect(),
            gains: Gains { goal, unsafe_state, step, stall, deadlock, rewards },
            inapplicable: if stall_ends { Inapplicable::Stall } else { Inapplicable::Stay },
            ends_at_unsafe: unsafe_ends,
            ends_at_goal: goal_ends,
            max_steps,
        };
        let autoreset = match autoreset {
            "next-step" => Autoreset::NextStep,
            "same-step" => Autoreset::SameStep,
            _ => Autoreset::Disabled,
        };
        let task = question.task.clone();
        let environment = run(py, Files::new(), None, |host| {
            let control = Control { cancelled: Arc::clone(&host.cancelled), ..Control::unlimited() };
            Environment::new(task, options, &control).map_err(Failure::from)
        })?;
        let runs = Runs::new(&environment, count, autoreset, seed);
        Ok(Batch { environment, runs })
    }

    /// How many start states were collected, and whether these are all.
    #[getter]
    fn start_states(&self) -> (usize, bool) {
        self.environment.start_states()
    }

    /// Names of endings, by number.
    #[staticmethod]
    fn endings() -> Vec<&'static str> {
        Ending::ALL.into_iter().map(Ending::name).collect()
    }

    /// The label of each command; `None` for silent ones.
    fn labels(&self) -> Vec<Option<String>> {
        let system = &self.environment.task().system;
        let name = |label: LabelId| system.labels[label.index()].name.clone();
        system.commands.iter().map(|command| command.label.map(name)).collect()
    }

    /// Begins the random numbers of a run anew.
    fn seed(&mut self, index: usize, seed: u64) -> PyResult<()> {
        self.check(index)?;
        self.runs.seed(&self.environment, index, seed);
        Ok(())
    }

    /// Starts a run in a start state, or in a given state.
    fn start(&mut self, py: Python<'_>, index: usize, state: Option<Vec<i32>>) -> PyResult<()> {
        self.check(index)?;
        let Batch { environment, runs } = self;
        py.detach(|| runs.start(environment, index, state.as_deref()))
            .map_err(|error| exception(error.into()))
    }

    /// The values of all variables in the state of a run.
    fn state(&self, index: usize) -> PyResult<Vec<i32>> {
        self.check(index)?;
        Ok(self.environment.state(self.runs.run(index)))
    }

    /// Writes what is seen in the states of all runs, as integers.
    fn observe_i32(&self, mut arrays: Arrays<'_, i32>) -> PyResult<()> {
        self.runs.observe(&self.environment, &mut self.rows(&mut arrays)?);
        Ok(())
    }

    /// Writes what is seen in the states of all runs, as singles.
    fn observe_f32(&self, mut arrays: Arrays<'_, f32>) -> PyResult<()> {
        self.runs.observe(&self.environment, &mut self.rows(&mut arrays)?);
        Ok(())
    }

    /// One step of each run, seen as integers.
    fn step_i32(
        &mut self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        mut arrays: Arrays<'_, i32>,
    ) -> PyResult<()> {
        self.step(py, &actions, &mut arrays)
    }

    /// One step of each run, seen as singles.
    fn step_f32(
        &mut self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        mut arrays: Arrays<'_, f32>,
    ) -> PyResult<()> {
        self.step(py, &actions, &mut arrays)
    }
}

impl Batch {
    fn check(&self, index: usize) -> PyResult<()> {
        let count = self.runs.len();
        if index < count { Ok(()) } else { Err(PyIndexError::new_err(format!("there are {count} runs"))) }
    }

    /// The arrays as rows, if they have the right sizes.
    fn rows<'r, O: Observation + numpy::Element>(
        &self,
        arrays: &'r mut Arrays<'_, O>,
    ) -> PyResult<Rows<'r, O>> {
        let (observations, last_observations, masks, rewards, endings, commands) = arrays;
        let rows = Rows {
            observations: observations.as_slice_mut()?,
            last_observations: last_observations.as_slice_mut()?,
            masks: masks.as_slice_mut()?,
            rewards: rewards.as_slice_mut()?,
            endings: endings.as_slice_mut()?,
            commands: commands.as_slice_mut()?,
        };
        let count = self.runs.len();
        let options = self.environment.options();
        let (observed, actions) = (count * options.observed.len(), count * options.actions.len());
        let sizes = [
            (rows.observations.len(), observed),
            (rows.last_observations.len(), observed),
            (rows.masks.len(), actions),
            (rows.rewards.len(), count),
            (rows.endings.len(), count),
            (rows.commands.len(), count),
        ];
        if sizes.iter().any(|(found, expected)| found != expected) {
            return Err(PyValueError::new_err("an array has another size than the environment"));
        }
        Ok(rows)
    }

    fn step<O: Observation + numpy::Element + Send>(
        &mut self,
        py: Python<'_>,
        actions: &PyReadonlyArray1<'_, i64>,
        arrays: &mut Arrays<'_, O>,
    ) -> PyResult<()> {
        let actions = actions.as_slice()?;
        let labels = self.environment.options().actions.len() as i64;
        if actions.len() != self.runs.len() {
            let message = format!("there are {} runs, but {} actions", self.runs.len(), actions.len());
            return Err(exception(Failure::Usage(message)));
        }
        if let Some(action) = actions.iter().find(|&&action| !(0..labels).contains(&action)) {
            let message = format!("{action} is none of the actions 0 to {}", labels - 1);
            return Err(exception(Failure::Usage(message)));
        }
        let mut rows = self.rows(arrays)?;
        let Batch { environment, runs } = self;
        py.detach(|| runs.step(environment, actions, &mut rows)).map_err(|error| exception(error.into()))
    }
}

//! Few reachable states are listed before anything else is tried: nothing is faster.

use super::stop::Stop;
use crate::control::Control;
use crate::explicit::list::{Error, Listed, list};
use crate::simulate::{StartFrom, Starts};
use crate::task::{Task, TaskError};

/// Search nodes that may be spent on start states.
const START_NODES: u64 = 200_000;

/// Lists the reachable states of a task, if they are not more than so many, roughly.
pub fn list_reachable(task: &Task, most: usize, control: &Control<'_>) -> Result<Listed, Stop> {
    let starts = Starts::collect(task, StartFrom::Property, START_NODES, control);
    let starts = starts.map_err(|error| Stop::Error(TaskError::Model(error)))?;
    if !starts.is_complete() {
        return Ok(Listed::TooMany);
    }
    let mut task = task.clone();
    task.property.start.condition = None;
    task.property.start.listed = starts.states().to_vec();
    list(&task, most, control).map_err(|error| match error {
        Error::Stopped => Stop::Limit,
        Error::Task(error) => Stop::Error(error),
    })
}

//! All reachable states, where they are few: for engines that want to know them.

use std::sync::Arc;
use std::time::Instant;

use surefoot_model::pack::Layout;
use surefoot_model::pass::Fate;

use super::expand::Compiled;
use super::search::{End, Search};
use super::{lift, reduce, reduced_task, start};
use crate::control::{Control, NoObserver};
use crate::outcome::{StopReason, Trace};
use crate::task::{Task, TaskError};

/// Chunks of a round: few, so that the limit is looked at often.
const ROUND: usize = 4;

/// What there is.
pub(crate) enum Listed {
    /// These states, all safe.
    All(Vec<Vec<i32>>),
    /// Too many states.
    TooMany,
    /// A run to an unsafe state.
    Unsafe(Trace),
}

/// Lists all reachable states, if there are not many more than so many, and if start states are few. The error is a limit or a mistake.
pub(crate) fn list(task: &Task, most: usize, control: &Control<'_>) -> Result<Listed, Error> {
    let reduction = reduce(task, false);
    let reduced = reduced_task(task, &reduction);
    let layout = Layout::new(&reduced.system.variables).expect("all variables are discrete");
    let state_bytes = 2 * (8 * layout.words() as u64 + 16);
    let compiled = Compiled::new(&reduced, layout);
    let mut search = Search::new(&compiled, 1);
    search.round = ROUND;
    let limit = search.memory() + most as u64 * state_bytes;
    let control = Control {
        deadline: control.deadline,
        memory_limit: Some(control.memory_limit.map_or(limit, |all| all.min(limit))),
        cancelled: Arc::clone(&control.cancelled),
        threads: 1,
        observer: &NoObserver,
    };
    let stopped = start::add_all(&reduced, &mut search, &control).map_err(Error::Task)?;
    let end = stopped.map_or_else(|| search.run(false, &control, Instant::now()), End::Stopped);
    match end {
        End::Wrong(id) => Err(Error::Task(lift::model_error(task, &reduction, &search, id))),
        End::Unsafe(id) => {
            lift::trace(task, &reduction, &search, id).map(Listed::Unsafe).map_err(Error::Task)
        }
        End::Stopped(StopReason::Memory) => Ok(Listed::TooMany),
        End::Stopped(_) => Err(Error::Stopped),
        End::Complete => {
            let mut values = vec![0; compiled.layout.fields().len()];
            let packed =
                search.shards.iter().flat_map(|shard| (0..shard.len()).map(|local| shard.state(local)));
            let states = packed.map(|packed| {
                compiled.layout.unpack(packed, &mut values);
                let value = |fate: &Fate| match fate {
                    Fate::Kept(v) => values[v.index()],
                    Fate::Constant(value) => *value,
                    Fate::Sliced => unreachable!("nothing is sliced"),
                };
                reduction.restore.variables.iter().map(value).collect()
            });
            Ok(Listed::All(states.collect()))
        }
    }
}

/// Why there is no list.
pub(crate) enum Error {
    /// Time is over, or the user stopped the run.
    Stopped,
    /// The model is wrong at a reachable state.
    Task(TaskError),
}

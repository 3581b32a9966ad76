//! All reachable states, where they are few: for engines that want to know them.

use std::time::Instant;

use surefoot_model::VarId;
use surefoot_model::pack::Layout;
use surefoot_model::pass::{Fate, Reduction};

use super::expand::Compiled;
use super::search::{End, Search};
use super::{lift, start};
use crate::control::{Control, NoObserver};
use crate::outcome::{StopReason, Trace};
use crate::reduction::{bounds_of, follow, project, reduce, reduced_task};
use crate::task::{Task, TaskError};

/// Chunks of a round: few, so that the limit is looked at often.
const ROUND: usize = 4;

/// What there is.
pub(crate) enum Listed {
    /// These states, all safe.
    All(States),
    /// Too many states.
    TooMany,
    /// A run to an unsafe state.
    Unsafe(Trace),
}

/// All reachable states, and perhaps others: each stands for all that differ from it in free variables only.
pub(crate) struct States {
    pub states: Vec<Vec<i32>>,
    /// The variables that are free, with their bounds.
    pub free: Vec<(VarId, (i32, i32))>,
}

/// Lists all reachable states, if there are not many more than so many, and if start states are few. The error is a limit or a mistake.
pub(crate) fn list(task: &Task, most: usize, control: &Control<'_>) -> Result<Listed, Error> {
    let listed = list_reduced(task, &reduce(task, false), false, most, control)?;
    let listed = listed.expect("only projections leave the answer open");
    let is_projected = matches!(listed, Listed::TooMany);
    let Some(projection) = is_projected.then(|| project(task)).flatten() else { return Ok(listed) };
    Ok(list_reduced(task, &projection, true, most, control)?.unwrap_or(Listed::TooMany))
}

/// Lists the states of a reduction. `None` if it is a projection that gives no answer.
fn list_reduced(
    task: &Task,
    reduction: &Reduction,
    is_projection: bool,
    most: usize,
    control: &Control<'_>,
) -> Result<Option<Listed>, Error> {
    let reduced = reduced_task(task, reduction);
    let layout = Layout::new(&reduced.system.variables).expect("all variables are discrete");
    let compiled = Compiled::new(&reduced, layout);
    let mut search = Search::new(&compiled, 1);
    search.round = ROUND;
    search.most = most;
    let control = Control { threads: 1, observer: &NoObserver, ..control.clone() };
    let stopped = start::add_all(&reduced, &mut search, &control).map_err(Error::Task)?;
    let end = stopped.map_or_else(|| search.run(false, &control, Instant::now()), End::Stopped);
    match end {
        End::Unsafe(id) if is_projection => {
            let (start, states) = search.states_to(id);
            let trace = follow(task, reduction, &start, states, &control).map_err(Error::Task)?;
            Ok(trace.map(Listed::Unsafe))
        }
        End::Wrong(_) if is_projection => Ok(None),
        End::Wrong(id) => Err(Error::Task(lift::model_error(task, reduction, &search, id))),
        End::Unsafe(id) => {
            let trace = lift::trace(task, reduction, &search, id).map_err(Error::Task)?;
            Ok(Some(Listed::Unsafe(trace)))
        }
        End::TooMany | End::Stopped(StopReason::Memory) => Ok(Some(Listed::TooMany)),
        End::Stopped(_) => Err(Error::Stopped),
        End::Complete => {
            let mut values = vec![0; compiled.layout.fields().len()];
            let packed =
                search.shards.iter().flat_map(|shard| (0..shard.len()).map(|local| shard.state(local)));
            let states = packed.map(|packed| {
                compiled.layout.unpack(packed, &mut values);
                bounds_of(reduction, &values).0
            });
            let states = states.collect();
            let free =
                reduction.restore.variables.iter().enumerate().filter_map(|(variable, fate)| match *fate {
                    Fate::Sliced { lower, upper } => Some((VarId(variable as u32), (lower, upper))),
                    _ => None,
                });
            Ok(Some(Listed::All(States { states, free: free.collect() })))
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

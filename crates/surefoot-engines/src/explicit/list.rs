//! All reachable states, where they are few: for engines that want to know them.

use std::time::Instant;

use surefoot_model::Variable;
use surefoot_model::pack::Layout;
use surefoot_model::pass::{Fate, Reduction};

use super::expand::Compiled;
use super::search::{End, Search};
use super::{concretize, lift, limit_states, project, reduce, reduced_task, start};
use crate::control::{Control, NoObserver};
use crate::outcome::{StopReason, Trace};
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
    /// Which variables are free.
    pub free: Vec<bool>,
}

/// Lists all reachable states, if there are not many more than so many, and if start states are few. The error is a limit or a mistake.
pub(crate) fn list(task: &Task, most: usize, control: &Control<'_>) -> Result<Listed, Error> {
    // The checker does not see that a filter changes nothing.
    if let Some(projection) = (!task.semantics.filter).then(|| project(task)).flatten()
        && let Some(listed) = list_reduced(task, &projection, true, most, control)?
    {
        return Ok(listed);
    }
    let listed = list_reduced(task, &reduce(task, false), false, most, control)?;
    Ok(listed.expect("only projections leave the answer open"))
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
    let mut control = Control { threads: 1, observer: &NoObserver, ..control.clone() };
    limit_states(&mut control, &search, most);
    let stopped = start::add_all(&reduced, &mut search, &control).map_err(Error::Task)?;
    let end = stopped.map_or_else(|| search.run(false, &control, Instant::now()), End::Stopped);
    match end {
        End::Unsafe(id) if is_projection => {
            let trace = concretize::trace(task, reduction, &search, id).map_err(Error::Task)?;
            Ok(trace.map(Listed::Unsafe))
        }
        End::Wrong(_) | End::Stopped(StopReason::Memory) if is_projection => Ok(None),
        End::Wrong(id) => Err(Error::Task(lift::model_error(task, reduction, &search, id))),
        End::Unsafe(id) => {
            let trace = lift::trace(task, reduction, &search, id).map_err(Error::Task)?;
            Ok(Some(Listed::Unsafe(trace)))
        }
        End::Stopped(StopReason::Memory) => Ok(Some(Listed::TooMany)),
        End::Stopped(_) => Err(Error::Stopped),
        End::Complete => {
            let mut values = vec![0; compiled.layout.fields().len()];
            let packed =
                search.shards.iter().flat_map(|shard| (0..shard.len()).map(|local| shard.state(local)));
            let states = packed.map(|packed| {
                compiled.layout.unpack(packed, &mut values);
                let value = |(variable, fate): (&Variable, &Fate)| match fate {
                    Fate::Kept(v) => values[v.index()],
                    Fate::Constant(value) => *value,
                    Fate::Sliced => variable.ty.bounds().expect("all variables are discrete").0,
                };
                task.system.variables.iter().zip(&reduction.restore.variables).map(value).collect()
            });
            let states = states.collect();
            let free = reduction.restore.variables.iter().map(|&fate| fate == Fate::Sliced).collect();
            Ok(Some(Listed::All(States { states, free })))
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

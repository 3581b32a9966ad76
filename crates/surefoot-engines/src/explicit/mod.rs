//! Exhaustive search (the papers' BRFS): every state that the policy can reach, breadth first.
//!
//! 1. The system is reduced by passes ([`surefoot_model::pass`]) and compiled for packed states (`expand.rs`).
//! 2. Start states are enumerated by propagation and search (`start.rs`).
//! 3. Layers are expanded until nothing is new (`search.rs`), in a set of packed states (`store.rs`).
//! 4. A path to an unsafe state is lifted to the original system and replayed there (`lift.rs`).
//!
//! A projection may be searched first. What is safe there is safe; a path to an unsafe state is an answer if the original has
//! a run along it. If it has none, the original is searched.

pub(crate) mod condition;
mod expand;
pub(crate) mod generator;
mod lift;
pub(crate) mod list;
mod per_start;
mod search;
mod start;
mod store;
pub(crate) mod update;

use std::ops::ControlFlow;
use std::time::Instant;

use surefoot_model::enumerate::solutions;
use surefoot_model::pack::Layout;
use surefoot_model::pass::Reduction;

use crate::control::Control;
use crate::outcome::{Outcome, Statistics, StopReason, Vacuity, Verdict};
use crate::reduction::{follow, left_out, project, reduce, reduced_task};
use crate::replay::check_state;
use crate::task::{Goal, Task, TaskError};
use crate::without_steps::without_steps;
use expand::Compiled;
use search::{End, Search};

/// What to search for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Go on after the first unsafe state and count everything.
    pub exhaustive: bool,
    /// Say for each start state whether it is unsafe (implies `exhaustive`).
    pub per_start: bool,
    /// Leave out variables that influence nothing. The counts are then those of the smaller system.
    pub slice: bool,
    /// How many states of the projection to what the policy and the property read may be searched first, roughly (not with
    /// `exhaustive`). If that gives the answer, the counts are those of the projection.
    pub project: usize,
}

/// Chunks of a round in a projection, which may have far more states than the original.
const PROJECTION_ROUND: usize = 32;

/// Verifies a task by exhaustive search.
///
/// # Errors
/// The task does not suit this engine, or its model is wrong at a reachable state.
pub fn verify(task: &Task, options: Options, control: &Control<'_>) -> Result<Outcome, TaskError> {
    let began = Instant::now();
    if let Some(variable) = task.system.variables.iter().find(|v| v.ty.bounds().is_none()) {
        return Err(TaskError::RealVariable { variable: variable.name.clone(), engine: "explicit" });
    }
    if task.semantics.goal != Goal::Ignore && task.property.goal.is_none() {
        return Err(TaskError::NoGoal);
    }
    for state in &task.property.start.listed {
        check_state(task, state).map_err(TaskError::Start)?;
    }
    let exhaustive = options.exhaustive || options.per_start;
    if let Some(projection) = (options.project > 0 && !exhaustive).then(|| project(task)).flatten()
        && let Some(outcome) = search_reduced(task, &projection, true, options, control, began)?
    {
        return Ok(outcome);
    }
    let outcome = search_reduced(task, &reduce(task, options.slice), false, options, control, began)?;
    Ok(outcome.expect("only projections leave the answer open"))
}

/// Searches a reduction. `None` if it is a projection that gives no answer.
fn search_reduced(
    task: &Task,
    reduction: &Reduction,
    is_projection: bool,
    options: Options,
    control: &Control<'_>,
    began: Instant,
) -> Result<Option<Outcome>, TaskError> {
    let reduced = reduced_task(task, reduction);
    let layout = Layout::new(&reduced.system.variables).expect("all variables are discrete");
    let compiled = Compiled::new(&reduced, layout);
    let mut search = Search::new(&compiled, control.threads);
    if is_projection {
        search.round = PROJECTION_ROUND;
        search.most = options.project;
    }
    let stopped_at_start = start::add_all(&reduced, &mut search, control)?;
    let start_states = search.states();
    let start_time = began.elapsed();
    let exhaustive = options.exhaustive || options.per_start;
    let end = stopped_at_start.map_or_else(|| search.run(exhaustive, control, began), End::Stopped);
    let mut statistics = statistics(&search, &reduced);
    statistics.start_states = start_states;
    statistics.start_time = start_time;
    statistics.complete = end == End::Complete;
    statistics.projected = is_projection.then(|| left_out(reduction));
    let verdict = match (end, search.first_unsafe) {
        (End::Unsafe(id), _) if is_projection => {
            let (start, states) = search.states_to(id);
            match follow(task, reduction, &start, states, control)? {
                Some(trace) => Verdict::Unsafe(trace),
                None => return Ok(None),
            }
        }
        (End::Wrong(_) | End::TooMany | End::Stopped(StopReason::Memory), _) if is_projection => {
            return Ok(None);
        }
        (End::TooMany, _) => unreachable!("all states are asked for"),
        (End::Wrong(id), _) => return Err(lift::model_error(task, reduction, &search, id)),
        (End::Unsafe(id), _) | (_, Some(id)) => Verdict::Unsafe(lift::trace(task, reduction, &search, id)?),
        (End::Stopped(reason), None) => Verdict::Unknown(reason),
        (End::Complete, None) => Verdict::Safe,
    };
    let mut per_start = None;
    if options.per_start && statistics.complete {
        per_start = per_start::classify(task, reduction, &search, control);
    }
    statistics.time = began.elapsed();
    let vacuity = vacuity(task, &statistics, stopped_at_start, control);
    let stopped = match end {
        End::Stopped(reason) => Some(reason),
        _ => None,
    };
    Ok(Some(Outcome { verdict, stopped, statistics, vacuity, per_start }))
}

fn statistics(search: &Search<'_>, reduced: &Task) -> Statistics {
    let counts = search.counts;
    Statistics {
        states: search.states(),
        expanded: counts.expanded,
        transitions: counts.transitions,
        unsafe_states: counts.unsafe_states,
        stalls: counts.stalls,
        terminal_states: counts.terminal_states,
        goal_states: counts.goal_states,
        depth: search.depth,
        memory: search.memory(),
        state_bits: search.compiled.layout.bits(),
        variables: reduced.system.variables.len(),
        ..Statistics::default()
    }
}

/// Search nodes after which the question whether an unsafe state exists at all is left open.
const VACUITY_BUDGET: u32 = 2000;

fn vacuity(
    task: &Task,
    statistics: &Statistics,
    stopped: Option<StopReason>,
    control: &Control<'_>,
) -> Vec<Vacuity> {
    let mut vacuity = Vec::new();
    if stopped.is_none() && statistics.start_states == 0 {
        vacuity.push(Vacuity::NoStartState);
    }
    let (lower, upper): (Vec<i32>, Vec<i32>) =
        task.system.variables.iter().filter_map(|v| v.ty.bounds()).unzip();
    let mut possible = false;
    let nodes = std::cell::Cell::new(0);
    let poll = || {
        nodes.set(nodes.get() + 1);
        let stop = nodes.get() > VACUITY_BUDGET || control.interrupted().is_some();
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let end = solutions(&task.system.exprs, task.property.unsafe_states, &lower, &upper, poll, |_| {
        possible = true;
        ControlFlow::Break(())
    });
    if !possible && end == surefoot_model::enumerate::Enumerated::All {
        vacuity.push(Vacuity::NoUnsafeState);
    }
    let has_start = statistics.complete && statistics.start_states > 0;
    if has_start && statistics.projected.is_some() {
        vacuity.extend(without_steps(task, control));
    } else if has_start && statistics.transitions == 0 {
        let all_stall = statistics.stalls == statistics.states;
        vacuity.push(if all_stall { Vacuity::AllStall } else { Vacuity::NoSteps });
    }
    vacuity
}

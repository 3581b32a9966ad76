//! Whether a proof says less than it seems to: there is nothing to start from, nothing unsafe to reach, or no step to take.
//!
//! Asked apart from the search, which need not know. What cannot be answered within the limits is left open.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use surefoot_model::ExprId;
use surefoot_model::enumerate::{Enumerated, solutions};
use surefoot_solve::{Answer, Backend, States};

use crate::control::Control;
use crate::outcome::Vacuity;
use crate::step::Stepper;
use crate::task::Task;

/// Start states after which the question whether any of them has a successor is left open.
const START_BUDGET: u32 = 2000;

/// Reasons for which the proof of a task says little.
pub fn vacuity(task: &Task, solver: Backend, control: &Control<'_>) -> Vec<Vacuity> {
    let mut vacuity = Vec::new();
    let start = &task.property.start;
    let has_start = !start.listed.is_empty()
        || start.condition.is_some_and(|start| !is_false(task, start, solver, control));
    if !has_start {
        vacuity.push(Vacuity::NoStartState);
    }
    if is_false(task, task.property.unsafe_states, solver, control) {
        vacuity.push(Vacuity::NoUnsafeState);
    }
    if has_start {
        vacuity.extend(without_steps(task, control));
    }
    vacuity
}

/// Whether a condition is known to be false in all states.
fn is_false(task: &Task, condition: ExprId, solver: Backend, control: &Control<'_>) -> bool {
    let states = States::with_solver(&task.system, solver.maker()());
    let mut states = states.expect("variables are discrete");
    let (cancelled, deadline) = (control.cancelled.clone(), control.deadline);
    let poll = Control { deadline, cancelled, ..Control::unlimited() };
    states.set_interrupt(Some(Arc::new(move || poll.interrupted().is_some())));
    let truths = states.condition(condition);
    states.query(&[!truths.is_false]) == Answer::Unsatisfiable
}

/// Whether no start state has a successor, if there are few enough of them to tell.
pub fn without_steps(task: &Task, control: &Control<'_>) -> Option<Vacuity> {
    let mut stepper = Stepper::new(task);
    let mut all_stall = true;
    let mut has_no_step = |state: &[i32]| {
        if stepper.status(state).ok()?.ends_run {
            all_stall = false;
            return Some(());
        }
        if !stepper.successors(state).ok()?.is_empty() {
            return None;
        }
        let enabled = stepper.enabled(state).ok()?;
        all_stall &= stepper.choice(state, &enabled).stalls;
        Some(())
    };
    for state in &task.property.start.listed {
        has_no_step(state)?;
    }
    if let Some(condition) = task.property.start.condition {
        let (lower, upper): (Vec<i32>, Vec<i32>) =
            task.system.variables.iter().filter_map(|v| v.ty.bounds()).unzip();
        let nodes = Cell::new(0);
        let poll = || {
            nodes.set(nodes.get() + 1);
            let stop = nodes.get() > START_BUDGET || control.interrupted().is_some();
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let end = solutions(&task.system.exprs, condition, &lower, &upper, poll, |state| {
            if poll().is_continue() && has_no_step(state).is_some() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        if end != Enumerated::All {
            return None;
        }
    }
    Some(if all_stall { Vacuity::AllStall } else { Vacuity::NoSteps })
}

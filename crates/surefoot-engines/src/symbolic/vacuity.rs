//! Whether a proof says less than it seems to: there is nothing to start from, nothing unsafe to reach, or no step to take.
//!
//! Asked apart from the search, which need not know. What cannot be answered within the limits is left open.

use std::sync::Arc;

use surefoot_model::ExprId;
use surefoot_solve::{Answer, Backend, States};

use crate::control::Control;
use crate::outcome::Vacuity;
use crate::task::Task;
use crate::without_steps::without_steps;

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

//! Whether there is no step to take: then a proof says less than it seems to. Asked of the task itself, for searches that do not see it.

use std::cell::Cell;
use std::ops::ControlFlow;

use surefoot_model::enumerate::{Enumerated, solutions};

use crate::control::Control;
use crate::outcome::Vacuity;
use crate::step::Stepper;
use crate::task::Task;

/// Start states after which the question whether any of them has a successor is left open.
const START_BUDGET: u32 = 2000;

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

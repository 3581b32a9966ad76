//! Start states: every solution of the start condition and every listed state, packed into the store.

use std::cell::Cell;
use std::ops::ControlFlow;

use surefoot_model::enumerate::{Enumerated, solutions};

use super::search::Search;
use crate::control::Control;
use crate::outcome::StopReason;
use crate::step::describe_state;
use crate::task::{ModelError, ModelErrorKind, Task, TaskError};

/// How many steps pass between looks at the clock and at the memory.
const PATIENCE: u32 = 1024;

/// Adds all start states; says why if it had to stop before.
pub fn add_all(
    task: &Task,
    search: &mut Search<'_>,
    control: &Control<'_>,
) -> Result<Option<StopReason>, TaskError> {
    let mut packed = vec![0; search.compiled.layout.words()];
    for state in &task.property.start.listed {
        search.compiled.layout.pack(state, &mut packed);
        search.add_start(&packed);
    }
    let Some(condition) = task.property.start.condition else { return Ok(None) };
    let (lower, upper): (Vec<i32>, Vec<i32>) =
        search.compiled.layout.fields().iter().map(|field| (field.lower, field.upper)).unzip();
    let stopped = Cell::new(None);
    let steps = Cell::new(0u32);
    let due = || {
        steps.set(steps.get().wrapping_add(1));
        steps.get().is_multiple_of(PATIENCE)
    };
    let end_if = |reason: Option<StopReason>| {
        stopped.set(reason);
        if reason.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let poll = || if due() { end_if(control.interrupted()) } else { ControlFlow::Continue(()) };
    let end = solutions(&task.system.exprs, condition, &lower, &upper, poll, |state| {
        search.compiled.layout.pack(state, &mut packed);
        search.add_start(&packed);
        if due() { end_if(control.exhausted(search.memory())) } else { ControlFlow::Continue(()) }
    });
    match end {
        Enumerated::All | Enumerated::Stopped => Ok(stopped.get()),
        Enumerated::Undefined(at) => Err(TaskError::Model(ModelError {
            state: describe_state(task, &at.state),
            command: None,
            kind: ModelErrorKind::Undefined { what: "start condition".into(), reason: at.reason },
        })),
    }
}

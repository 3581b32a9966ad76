//! Whether a trace is a run to an unsafe state, by the reference's own steps.

use surefoot_engines::{Task, Trace};

use super::model::{Model, Step};

/// Checks a trace; says what is wrong with it.
pub fn check_trace(task: &Task, trace: &Trace) -> Result<(), String> {
    let model = Model::new(task);
    if model.is_start(&trace.start) != Ok(true) {
        return Err(format!("{:?} is no start state", trace.start));
    }
    let mut state = &trace.start;
    for step in &trace.steps {
        let status = model.status(state).map_err(|wrong| wrong.0)?;
        if status.ends_run {
            return Err(format!("runs end in {state:?}"));
        }
        let steps = model.steps(state).map_err(|wrong| wrong.0)?;
        let taken = Step { command: step.command, outcome: step.outcome, state: step.state.clone() };
        if !steps.steps.contains(&taken) {
            return Err(format!("from {state:?}, {taken:?} is not possible"));
        }
        state = &step.state;
    }
    match model.status(state) {
        Ok(status) if status.is_unsafe => Ok(()),
        _ => Err(format!("{state:?} is not unsafe")),
    }
}

//! From what a search has found to a verdict: certificates are made and checked, traces are replayed.

use std::time::Instant;

use surefoot_certificate::{Certificate, Region};
use surefoot_solve::Backend;

use super::stop::Stop;
use super::vacuity::vacuity;
use crate::certificate::{Checked, certificate, check_certificate};
use crate::control::Control;
use crate::outcome::{Outcome, Statistics, StopReason, Trace, Vacuity, Verdict};
use crate::replay::{check_state, replay};
use crate::task::{Goal, Task, TaskError};

/// How a search ended.
#[derive(Clone)]
pub enum End {
    /// The regions are an invariant.
    Safe(Vec<Region>),
    /// An unsafe state is reachable.
    Unsafe(Trace),
    /// Neither was shown, though no limit was reached.
    Unknown(StopReason),
}

/// A verdict and what it rests on.
pub struct Conclusion {
    pub verdict: Verdict,
    /// The proof if the verdict is SAFE. It names no files.
    pub certificate: Option<Certificate>,
    /// How the proof was checked.
    pub check: Option<Checked>,
    vacuity: Vec<Vacuity>,
}

/// Whether a task suits engines that reason about sets of states.
pub fn suits(task: &Task, engine: &'static str) -> Result<(), TaskError> {
    if let Some(variable) = task.system.variables.iter().find(|v| v.ty.bounds().is_none()) {
        return Err(TaskError::RealVariable { variable: variable.name.clone(), engine });
    }
    if task.semantics.goal != Goal::Ignore && task.property.goal.is_none() {
        return Err(TaskError::NoGoal);
    }
    for state in &task.property.start.listed {
        check_state(task, state).map_err(TaskError::Start)?;
    }
    Ok(())
}

/// The verdict of a search. `stopped` is the limit that was reached, if one was; a proof is checked if `check` says so.
pub fn conclude(
    task: &Task,
    found: Result<End, Stop>,
    stopped: Option<StopReason>,
    solver: Backend,
    check: bool,
    control: &Control<'_>,
) -> Result<Conclusion, TaskError> {
    let without_proof = |verdict| Conclusion { verdict, certificate: None, check: None, vacuity: Vec::new() };
    let unknown = |reason| without_proof(Verdict::Unknown(reason));
    match found {
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Limit) => Ok(unknown(limit(stopped)?)),
        Ok(End::Unknown(reason)) => Ok(unknown(reason)),
        Ok(End::Unsafe(trace)) => {
            replay(task, &trace).map_err(|error| TaskError::Internal(error.to_string()))?;
            Ok(without_proof(Verdict::Unsafe(trace)))
        }
        Ok(End::Safe(regions)) => {
            let certificate = certificate(task, regions, Vec::new());
            let mut checked = None;
            if check {
                let began = Instant::now();
                let Some(report) = check_certificate(&certificate, task, control)? else {
                    return Ok(unknown(limit(control.interrupted())?));
                };
                checked = Some(Checked { report, time: began.elapsed() });
            }
            Ok(Conclusion {
                verdict: Verdict::Safe,
                certificate: Some(certificate),
                check: checked,
                vacuity: vacuity(task, solver, control),
            })
        }
    }
}

impl Conclusion {
    /// The outcome of a run with these counts.
    pub fn outcome(&self, statistics: Statistics) -> Outcome {
        let stopped = match self.verdict {
            Verdict::Unknown(reason) => Some(reason),
            Verdict::Safe | Verdict::Unsafe(_) => None,
        };
        let (verdict, vacuity) = (self.verdict.clone(), self.vacuity.clone());
        Outcome { verdict, stopped, statistics, vacuity, per_start: None }
    }
}

/// The limit that ended a run.
fn limit(reason: Option<StopReason>) -> Result<StopReason, TaskError> {
    reason.ok_or_else(|| TaskError::Internal("a solver gave up without a limit".into()))
}

//! From the regions of a proof to a certificate, which is checked before a verdict rests on it.

use std::time::Duration;

use surefoot_certificate::{Certificate, Domain, Input, Limits, Region, Rejection, Report, Subject, check};

use crate::control::Control;
use crate::task::{Task, TaskError};

/// The certificate that the regions are an invariant of a task, which was read from these files.
pub fn certificate(task: &Task, regions: Vec<Region>, inputs: Vec<Input>) -> Certificate {
    let domain = |variable: &surefoot_model::Variable| {
        let (lower, upper) = variable.ty.bounds().expect("variables are discrete");
        Domain { name: variable.name.clone(), lower, upper }
    };
    let outputs = |policy: &surefoot_policy::Policy| policy.outputs.iter().map(|label| label.0).collect();
    Certificate {
        inputs,
        variables: task.system.variables.iter().map(domain).collect(),
        labels: task.system.labels.iter().map(|label| label.name.clone()).collect(),
        outputs: task.policy.as_ref().map(outputs),
        semantics: task.semantics,
        regions,
    }
}

/// A check that ended with acceptance.
#[derive(Debug, Clone, Copy)]
pub struct Checked {
    /// What it took.
    pub report: Report,
    /// How long it took.
    pub time: Duration,
}

/// Checks a certificate of a task; `None` if a limit was reached.
///
/// # Errors
/// The certificate does not prove that the task is safe: a bug of the engine that made it.
pub fn check_certificate(
    certificate: &Certificate,
    task: &Task,
    control: &Control<'_>,
) -> Result<Option<Report>, TaskError> {
    let subject = Subject {
        system: &task.system,
        property: &task.property,
        policy: task.policy.as_ref(),
        semantics: task.semantics,
        inputs: &certificate.inputs,
    };
    let mut limits = Limits { parts: u64::MAX, stop: &mut || control.interrupted().is_some() };
    match check(certificate, &subject, &mut limits) {
        Ok(report) => Ok(Some(report)),
        Err(Rejection::NotChecked(_)) => Ok(None),
        Err(rejection) => Err(TaskError::Internal(format!("the proof was rejected: {rejection}"))),
    }
}

//! What an engine must answer, given what the reference found.

use std::fmt;

use surefoot_engines::{Outcome, Task, TaskError, Verdict, replay};

use crate::reference::{Exploration, check_trace};

/// How far an engine looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It stops at the first unsafe state. Of an unsafe state and a wrong one it must report the nearer; at the same distance
    /// it may report either.
    FirstUnsafe,
    /// It looks at every reachable state: a wrong one counts more than unsafe ones.
    Everything,
    /// It stops at any state that is unsafe or wrong, in any order.
    Any,
}

/// The answers that are right for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// The model may be reported as wrong.
    pub error: bool,
    /// The task may be reported as unsafe, with a shortest trace of this length.
    pub unsafe_distance: Option<usize>,
}

impl Expected {
    /// The right answers.
    pub fn of(exploration: &Exploration, coverage: Coverage) -> Self {
        if exploration.start_error.is_some() {
            return Expected { error: true, unsafe_distance: None };
        }
        let error = exploration.error.as_ref().map(|(distance, _)| *distance);
        match (error, exploration.unsafe_distance) {
            (Some(error), Some(bad)) if coverage == Coverage::FirstUnsafe => {
                Expected { error: error <= bad, unsafe_distance: (bad <= error).then_some(bad) }
            }
            (Some(_), unsafe_distance) if coverage == Coverage::Any => {
                Expected { error: true, unsafe_distance }
            }
            (Some(_), _) => Expected { error: true, unsafe_distance: None },
            (None, unsafe_distance) => Expected { error: false, unsafe_distance },
        }
    }

    /// Whether an answer is right: the verdict, and the trace if there is one. `shortest` asks for a shortest trace.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn check(
        self,
        task: &Task,
        answer: &Result<Outcome, TaskError>,
        shortest: bool,
    ) -> Result<(), String> {
        let outcome = match answer {
            Err(TaskError::Model(_)) if self.error => return Ok(()),
            Err(error) => return Err(format!("expected {self}, got the error: {error}")),
            Ok(outcome) => outcome,
        };
        match (&outcome.verdict, self.unsafe_distance) {
            (Verdict::Safe, None) if !self.error => Ok(()),
            (Verdict::Unsafe(trace), Some(distance)) => {
                let length = trace.steps.len();
                if length < distance || (shortest && length > distance) {
                    return Err(format!("expected {self}, got a trace of length {length}"));
                }
                check_trace(task, trace)?;
                replay::replay(task, trace).map_err(|error| error.to_string())
            }
            (verdict, _) => Err(format!("expected {self}, got {verdict:?}")),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.error, self.unsafe_distance) {
            (false, None) => f.write_str("SAFE"),
            (true, None) => f.write_str("a model error"),
            (false, Some(distance)) => write!(f, "UNSAFE after {distance} steps"),
            (true, Some(distance)) => write!(f, "a model error or UNSAFE after {distance} steps"),
        }
    }
}

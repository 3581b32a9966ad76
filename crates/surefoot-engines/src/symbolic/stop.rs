//! Why a procedure did not finish.

use crate::task::TaskError;

/// A limit was reached, or the run was stopped from outside, before a question was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Why a procedure did not finish.
#[derive(Debug)]
pub enum Stop {
    /// A limit was reached, or the user stopped the run.
    Limit,
    /// The input is at fault.
    Error(TaskError),
}

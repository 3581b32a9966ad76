//! Why a procedure did not finish.

use crate::task::TaskError;

/// Why a procedure did not finish.
#[derive(Debug)]
pub enum Stop {
    /// A limit was reached, or the user stopped the run.
    Limit,
    /// The input is at fault.
    Error(TaskError),
}

//! Why a command has no result.

use std::fmt;
use std::path::Path;

use surefoot_engines::TaskError;
use surefoot_model::InputError;

use crate::exit::Exit;

/// Why a command has no result; printed after `error: `.
#[derive(Debug)]
pub enum Failure {
    /// Arguments that make no sense together.
    Usage(String),
    /// A file is wrong.
    Input(Box<InputError>),
    /// The task is wrong in a way that shows only when it is run.
    Task(String),
    /// A file or the result cannot be written.
    Output(String),
    /// A bug.
    Internal(String),
}

impl Failure {
    /// A file that cannot be written.
    pub fn writing(path: &Path, error: &std::io::Error) -> Self {
        Failure::Output(format!("{}: cannot write the file: {error}", path.display()))
    }

    /// The exit code that stands for it.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) => Exit::Usage,
            Failure::Input(_) | Failure::Task(_) => Exit::BadInput,
            Failure::Output(_) | Failure::Internal(_) => Exit::Internal,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Task(message) | Failure::Output(message) => {
                f.write_str(message)
            }
            Failure::Input(error) => error.fmt(f),
            Failure::Internal(message) => write!(
                f,
                "internal error: {message}\n  No verdict is given. This is a bug in surefoot: please report it, with the \
                 command and the files, at {}",
                concat!(env!("CARGO_PKG_REPOSITORY"), "/issues")
            ),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Input(Box::new(error))
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Internal(message) => Failure::Internal(message),
            TaskError::NoGoal => Failure::Task(format!(
                "{error}\n  hint: choose a property with an objective, or leave out `--goal`"
            )),
            other => Failure::Task(other.to_string()),
        }
    }
}

//! Failures as exceptions. Their arguments are what the Python side makes its own exceptions of.

use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};
use surefoot::Failure;
use surefoot_model::InputError;

create_exception!(
    _native,
    UsageFailure,
    PyException,
    "Arguments that make no sense; its argument is the message."
);
create_exception!(
    _native,
    InputFailure,
    PyException,
    "A file is wrong; its arguments are the text, the message, path, line, column, JSON path and hint."
);
create_exception!(
    _native,
    TaskFailure,
    PyException,
    "A task is wrong at a state; its argument is the message."
);
create_exception!(
    _native,
    OutputFailure,
    PyException,
    "A file cannot be written; its argument is the message."
);
create_exception!(_native, InternalFailure, PyException, "A bug; its argument is the message.");

/// The exception for a failure.
pub fn exception(failure: Failure) -> PyErr {
    let text = failure.to_string();
    match failure {
        Failure::Usage(_) => UsageFailure::new_err(text),
        Failure::Input(error) => input(text, *error),
        Failure::Task(_) => TaskFailure::new_err(text),
        Failure::Output(_) => OutputFailure::new_err(text),
        Failure::Internal(_) => InternalFailure::new_err(text),
    }
}

fn input(text: String, error: InputError) -> PyErr {
    let InputError { path, position, json_path, message, hint } = error;
    let (line, column) = position.map(|position| (position.line, position.column)).unzip();
    let json_path = Some(json_path).filter(|path| !path.is_empty());
    InputFailure::new_err((text, message, path.display().to_string(), line, column, json_path, hint))
}

//! Tasks that were read: the scores of their policies.

use std::sync::Arc;

use numpy::{PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use surefoot::Host;
use surefoot::service;
use surefoot_policy::Classes;

use crate::call::{Files, memory};
use crate::failure::exception;

/// What the classes of an ONNX model are called: names or numbers, or nothing.
#[pyfunction]
pub fn onnx_classes(py: Python<'_>, contents: &[u8]) -> PyResult<Option<Py<PyAny>>> {
    Ok(match surefoot_policy::onnx_classes(contents) {
        None => None,
        Some(Classes::Names(names)) => Some(names.into_pyobject(py)?.into_any().unbind()),
        Some(Classes::Numbers(numbers)) => Some(numbers.into_pyobject(py)?.into_any().unbind()),
    })
}

/// A task that was read.
#[pyclass(frozen, module = "surefoot._native")]
pub struct Question {
    pub question: Arc<service::Question>,
}

#[pymethods]
impl Question {
    /// Reads a task; arguments are those of `info`.
    #[new]
    fn new(py: Python<'_>, arguments: Vec<String>, files: Files) -> PyResult<Self> {
        let host = Host { memory: memory(files), ..Host::default() };
        let question = py.detach(|| service::question(&arguments, &host)).map_err(exception)?;
        Ok(Question { question: Arc::new(question) })
    }

    /// The scores of the policy at states: lower and upper end by state and output.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        states: PyReadonlyArray2<'py, i32>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let width = self.question.task.system.variables.len();
        if states.shape()[1] != width {
            return Err(PyValueError::new_err(format!("states have {width} values")));
        }
        let count = states.shape()[0];
        let states: Vec<i32> = states.as_array().iter().copied().collect();
        let ends = py.detach(|| {
            let mut ends = Vec::new();
            for row in 0..count {
                let scores = self.question.scores(&states[row * width..(row + 1) * width])?;
                ends.extend(scores.into_iter().flat_map(|score| [score.lower, score.upper]));
            }
            Ok(ends)
        });
        let ends: Vec<f64> = ends.map_err(exception)?;
        let outputs = self.question.task.policy.as_ref().map_or(0, |policy| policy.outputs.len());
        PyArray1::from_vec(py, ends).reshape([count, outputs, 2])
    }
}

//! The native module of the Python package `surefoot`. It converts, and nothing else: commands are those of
//! [`surefoot::service`], results go to Python as JSON text, and what users see is written in Python (`python/surefoot`).

#![expect(clippy::needless_pass_by_value, reason = "PyO3 makes owned values of arguments")]

mod call;
mod environment;
mod failure;
mod question;

use pyo3::pymodule;

/// The module `surefoot._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::call::{check, explain, generate, info, options, simulate, verify};
    #[pymodule_export]
    use crate::environment::Batch;
    #[pymodule_export]
    use crate::failure::{InputFailure, InternalFailure, OutputFailure, TaskFailure, UsageFailure};
    #[pymodule_export]
    use crate::question::{Question, onnx_classes};

    use pyo3::prelude::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

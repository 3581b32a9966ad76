//! Commands as functions: arguments as on the command line, files in memory by name, results as JSON text.
//!
//! A command runs on a thread of its own, without the lock of the interpreter. The calling thread waits, lets Python handle signals
//! (Ctrl-C stops the run) and tells the callback about progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use surefoot::service::{self, Progress, Reported, Verified};
use surefoot::{Failure, Host};
use surefoot_engines::Observer;
use surefoot_model::MemoryFile;

use crate::failure::exception;

/// Files in memory: names and contents.
pub type Files = Vec<(PathBuf, Vec<u8>)>;

/// How long the calling thread waits before it looks at signals and progress.
const WAIT: Duration = Duration::from_millis(50);

/// Time between two calls of the callback.
const INTERVAL: Duration = Duration::from_millis(200);

/// Keeps the line about the latest progress.
#[derive(Default)]
struct Latest {
    line: Mutex<Option<String>>,
    asked: AtomicBool,
}

impl Observer for Latest {
    fn progress(&self, progress: &Progress) {
        // Making the line is dear; it is made when somebody wants it.
        if self.asked.swap(false, Ordering::Relaxed)
            && let Ok(mut line) = self.line.lock()
        {
            *line = Some(service::progress_line(progress));
        }
    }
}

/// Files in memory, for the library.
pub fn memory(files: Files) -> Vec<MemoryFile> {
    files.into_iter().map(|(path, contents)| MemoryFile { path, contents }).collect()
}

/// Runs a command.
pub fn run<T: Send>(
    py: Python<'_>,
    files: Files,
    progress: Option<&Bound<'_, PyAny>>,
    command: impl FnOnce(&Host<'_>) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let latest = Latest::default();
    let result = std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let host = Host { cancelled: Arc::clone(&cancelled), observer: &latest, memory: memory(files) };
        scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| command(&host)));
            // Somebody waits as long as this thread runs.
            let _ = sender.send(result);
        });
        let mut interrupted = None;
        let mut told = Instant::now();
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(WAIT)) {
                Ok(result) => break interrupted.map_or(Ok(result), Err),
                Err(RecvTimeoutError::Disconnected) => break Err(exception(lost())),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupted.is_some() {
                continue;
            }
            let line = latest.line.lock().ok().and_then(|mut line| line.take());
            let outcome = py.check_signals().and_then(|()| match (progress, line) {
                (Some(callback), Some(line)) => callback.call1((line,)).map(drop),
                _ => Ok(()),
            });
            if let Err(error) = outcome {
                cancelled.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
            if progress.is_some() && told.elapsed() >= INTERVAL {
                told = Instant::now();
                latest.asked.store(true, Ordering::Relaxed);
            }
        }
    })?;
    match result {
        Ok(result) => result.map_err(exception),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Err(exception(Failure::Internal(text.unwrap_or_else(|| "a panic".into()))))
        }
    }
}

fn lost() -> Failure {
    Failure::Internal("the run ended without a result".into())
}

/// A verdict: the result as JSON, the report, the certificate, the contents of a trace file.
type Verdict<'py> = (String, String, Option<Bound<'py, PyBytes>>, Option<String>);

/// Verifies.
#[pyfunction]
pub fn verify<'py>(
    py: Python<'py>,
    arguments: Vec<String>,
    files: Files,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Verdict<'py>> {
    let Verified { document, text, certificate, trace } =
        run(py, files, progress, |host| service::verify(&arguments, host))?;
    let certificate = certificate.map(|contents| PyBytes::new(py, &contents));
    Ok((document.to_string(), text, certificate, trace.map(|trace| format!("{trace:#}\n"))))
}

/// Makes random runs: the result as JSON.
#[pyfunction]
pub fn simulate(py: Python<'_>, arguments: Vec<String>, files: Files) -> PyResult<String> {
    run(py, files, None, |host| service::simulate(&arguments, host).map(|document| document.to_string()))
}

/// Explains a choice: the result as JSON, the report.
#[pyfunction]
pub fn explain(py: Python<'_>, arguments: Vec<String>, files: Files) -> PyResult<(String, String)> {
    run(py, files, None, |host| service::explain(&arguments, host)).map(reported)
}

/// Checks a certificate: the result as JSON, the report.
#[pyfunction]
pub fn check(py: Python<'_>, arguments: Vec<String>, files: Files) -> PyResult<(String, String)> {
    run(py, files, None, |host| service::check(&arguments, host)).map(reported)
}

/// Says what a model consists of: the result as JSON, the report.
#[pyfunction]
pub fn info(py: Python<'_>, arguments: Vec<String>, files: Files) -> PyResult<(String, String)> {
    run(py, files, None, |host| service::info(&arguments, host)).map(reported)
}

/// Generates files: names and contents.
#[pyfunction]
pub fn generate(py: Python<'_>, arguments: Vec<String>, files: Files) -> PyResult<Vec<(String, String)>> {
    let made = run(py, files, None, |host| service::generate(&arguments, host))?;
    Ok(made.into_iter().map(|file| (file.name, file.contents)).collect())
}

/// The options of a command, and which of them are flags.
#[pyfunction]
pub fn options(command: Vec<String>) -> PyResult<Vec<(String, bool)>> {
    service::options(&command).map_err(exception)
}

fn reported(reported: Reported) -> (String, String) {
    (reported.document.to_string(), reported.text)
}

//! Exit codes, and the last line of defence: whatever panics becomes an exit code with a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use surefoot_engines::Verdict;

use crate::failure::Failure;
use crate::output;

/// How the program ends. The numbers are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command did what it should; for `verify`: SAFE.
    Done = 0,
    /// For `bench`: an answer contradicts what is known, or another one.
    Contradicted = 1,
    /// Wrong arguments.
    Usage = 2,
    /// A file, model, policy, property or trace is wrong.
    BadInput = 3,
    /// A bug, or a result that could not be written.
    Internal = 4,
    /// UNSAFE; for `replay`: the trace is a counterexample.
    Unsafe = 10,
    /// UNKNOWN.
    Unknown = 11,
}

/// The exit code after a second Ctrl-C: that of a process ended by the signal.
pub const INTERRUPTED: i32 = 130;

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl From<&Verdict> for Exit {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Safe => Exit::Done,
            Verdict::Unsafe(_) => Exit::Unsafe,
            Verdict::Unknown(_) => Exit::Unknown,
        }
    }
}

/// What the last panic said.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program and turns failures and panics into messages and exit codes.
pub fn run(program: impl FnOnce() -> Result<Exit, Failure>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        // Nothing is printed unless RUST_BACKTRACE asks for it.
        let backtrace = std::backtrace::Backtrace::capture();
        let mut text = panic.to_string();
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            text = format!("{text}\n{backtrace}");
        }
        if let Ok(mut last) = PANIC.lock() {
            last.get_or_insert(text);
        }
    }));
    let exit = match catch_unwind(AssertUnwindSafe(program)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            output::error(&failure.to_string());
            failure.exit()
        }
        Err(_) => {
            let text = PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
            output::error(&Failure::Internal(text).to_string());
            Exit::Internal
        }
    };
    exit.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_and_failures_become_exit_codes() {
        let code = |exit: Exit| format!("{:?}", ExitCode::from(exit));
        let result = |result: Result<Exit, Failure>| format!("{:?}", run(|| result));
        assert_eq!(result(Ok(Exit::Unknown)), code(Exit::Unknown));
        assert_eq!(result(Err(Failure::Usage("no".into()))), code(Exit::Usage));
        assert_eq!(format!("{:?}", run(|| panic!("on purpose"))), code(Exit::Internal));
        // Other tests report their panics as usual.
        drop(std::panic::take_hook());
    }
}

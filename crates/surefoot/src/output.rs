//! Where text goes: results to stdout, everything else to stderr.
//!
//! A reader that goes away (`| head`) is no mistake: what it does not want is dropped, the exit code stays what it was.

use std::io::{self, ErrorKind, IsTerminal, Write};

use surefoot_model::InputError;

use crate::failure::Failure;

/// Whether somebody still reads the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Yes.
    Listening,
    /// No: further results need not be computed.
    Gone,
}

/// Prints results.
pub fn print(text: &str) -> Result<Reader, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Reader::Listening),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::Output(format!("cannot write the result: {error}"))),
    }
}

/// Prints a JSON document.
pub fn print_json(document: &serde_json::Value) -> Result<Reader, Failure> {
    print(&format!("{document:#}\n"))
}

/// Prints a message about why there is no result.
pub fn error(message: &str) {
    message_line("error", message);
}

/// Prints a message about what looks wrong.
pub fn warning(message: &str) {
    message_line("warning", message);
}

/// Prints a message about what was done.
pub fn note(message: &str) {
    message_line("note", message);
}

/// Warnings of one run that are printed; the others are counted.
const MANY_WARNINGS: usize = 20;

/// Prints what looks wrong in the input files.
pub fn warnings(warnings: &[InputError]) {
    for found in warnings.iter().take(MANY_WARNINGS) {
        warning(&found.to_string());
    }
    if warnings.len() > MANY_WARNINGS {
        warning(&format!("{} more warnings (all are in `--json`)", warnings.len() - MANY_WARNINGS));
    }
}

fn message_line(kind: &str, message: &str) {
    // A progress line may stand there.
    let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    // Without a stderr there is nobody to tell.
    let _ = writeln!(io::stderr(), "{clear}{kind}: {message}");
}

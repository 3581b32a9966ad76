//! The command line of surefoot: does a learned policy, run in its environment, ever do something unsafe?
//!
//! Arguments are read and checked (`arguments`), files become a task (`load`), one module per subcommand runs it
//! (`command`), and `report` makes text or JSON of what came out. Exit codes are a contract, see `exit`.
//!
//! Programs that do not want to start another program use [`service`]: the same commands with the same arguments, whose
//! results are values. The Python package is made of it.

mod answer;
mod arguments;
mod bench;
mod command;
mod exit;
mod failure;
mod host;
mod interrupt;
mod load;
mod output;
mod progress;
mod property;
mod replace;
mod report;
pub mod service;
mod state;
mod state_file;
mod trace_file;

pub use failure::Failure;
pub use host::Host;

use std::process::ExitCode;

/// Runs the command that the program was called with.
pub fn main() -> ExitCode {
    exit::run(|| {
        let arguments = match arguments::parse() {
            Ok(arguments) => arguments,
            Err(code) => return Ok(code),
        };
        command::run(arguments)
    })
}

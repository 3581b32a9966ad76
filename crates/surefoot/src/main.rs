//! The command line of surefoot: does a learned policy, run in its environment, ever do something unsafe?
//!
//! Arguments are read and checked ([`arguments`]), files become a task ([`load`]), one module per subcommand runs it
//! ([`command`]), and [`report`] makes text or JSON of what came out. Exit codes are a contract, see [`exit`].

mod answer;
mod arguments;
mod bench;
mod command;
mod exit;
mod failure;
mod interrupt;
mod load;
mod output;
mod progress;
mod property;
mod replace;
mod report;
mod state;
mod state_file;
mod trace_file;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::run(|| {
        let arguments = match arguments::parse() {
            Ok(arguments) => arguments,
            Err(code) => return Ok(code),
        };
        command::run(arguments)
    })
}

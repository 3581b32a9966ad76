//! The subcommands.

pub mod check;
mod demo;
pub mod explain;
pub mod generate;
pub mod info;
mod replay;
pub mod simulate;
pub mod verify;

use crate::arguments::Command;
use crate::bench;
use crate::exit::Exit;
use crate::failure::Failure;

/// Runs a command.
pub fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Verify(arguments) => verify::run(*arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Gen(arguments) => generate::run(arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Measure(arguments) => bench::measure::run(&arguments),
    }
}

//! The command line: raw arguments as clap reads them, and what they mean once checked.

pub mod bench;
pub mod explain;
pub mod generate;
pub mod limit;
mod refinement;
pub mod search;
pub mod task;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::exit::Exit;
use bench::{BenchArguments, MeasureArguments};
use explain::ExplainArguments;
use generate::GenerateArguments;
use limit::LimitArguments;
use search::SearchArguments;
use task::{QuestionArguments, TaskArguments};

const EXIT_CODES: &str = "\
Exit codes: 0 SAFE (or done), 10 UNSAFE, 11 UNKNOWN, 2 wrong arguments, 3 bad input, 4 internal error.";

/// Verify learned action policies: does this policy, run in this environment, ever do something unsafe?
///
/// The answer is SAFE if that is proved, UNSAFE with a trace that was replayed, or UNKNOWN with the reason.
/// Begin with `surefoot demo`.
#[derive(Debug, Parser)]
#[command(name = "surefoot", version, after_help = EXIT_CODES, max_term_width = 110)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prove that no unsafe state is reachable, or find a way to one
    #[command(after_help = EXIT_CODES)]
    Verify(Box<VerifyArguments>),
    /// Check a certificate that `verify --certificate` has written, without the engine that found it
    #[command(after_help = "The reading is the certificate's; one that is given must be the same.\n\n\
                      Exit codes: 0 accepted, 3 rejected, 11 not checked within the limit.")]
    Check(CheckArguments),
    /// Run the policy from random start states and show what happens
    Simulate(SimulateArguments),
    /// Check a trace that `verify --trace` has written, step by step
    #[command(after_help = "Exit codes: 10 if the trace is a counterexample, 3 if it is not.")]
    Replay(ReplayArguments),
    /// Say why the policy chooses what it does in a state: which variables matter, and where the nearest other choice is
    #[command(after_help = "Exit codes: 0 if everything was decided, 11 if a limit was reached before.")]
    Explain(ExplainArguments),
    /// Show what a model, its properties and a policy consist of
    Info(InfoArguments),
    /// Generate benchmark models, properties and random policies
    Gen(GenerateArguments),
    /// Run a suite of instances with several engines, and show tables and plots
    #[command(
        after_help = "Exit codes: 0 done, 1 if an answer contradicts what the suite expects or another answer, \
                      11 if runs were stopped."
    )]
    Bench(BenchArguments),
    /// Verify two policies of a small delivery robot, with explanations
    Demo(DemoArguments),
    /// Run the program once and measure it; `bench` does this
    #[command(hide = true)]
    Measure(MeasureArguments),
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    #[command(flatten)]
    pub task: TaskArguments,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// Print one JSON document (schema surefoot-result/1) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the trace to an unsafe state to FILE, as JSON for `surefoot replay`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Print the verdict line only: no progress, no warnings
    #[arg(long, short, conflicts_with = "json", help_heading = "Output")]
    pub quiet: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The certificate, as `verify --certificate` writes it
    pub certificate: PathBuf,
    /// The model (JANI)
    #[arg(long, value_name = "FILE", help_heading = "Task")]
    pub model: PathBuf,
    #[command(flatten)]
    pub question: QuestionArguments,
    /// Stop with UNKNOWN after this time: `90s`, `5m`, `1h30m`; a plain number is seconds
    #[arg(long, value_name = "TIME", value_parser = limit::duration, help_heading = "Limits")]
    pub time_limit: Option<Duration>,
    /// Write the task to FILE, flattened, for the second checker (`tools/check_certificate.py`)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dump: Option<PathBuf>,
    /// Print one JSON document (schema surefoot-check/1) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArguments {
    #[command(flatten)]
    pub task: TaskArguments,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Simulation")]
    pub episodes: u64,
    /// Steps after which a run is ended
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Simulation")]
    pub steps: u64,
    /// Seed of the random numbers; equal seeds give equal runs
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Simulation")]
    pub seed: u64,
    /// Where runs start: `random` (a start state of the property), `initial` (the model's initial state) or values such as
    /// `x=1,y=2` (all other variables as in the initial state)
    #[arg(long, value_name = "START", default_value = "random", help_heading = "Simulation")]
    pub start: String,
    /// Print one JSON document (schema surefoot-simulation/1) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the summary only
    #[arg(long, short, conflicts_with = "json", help_heading = "Output")]
    pub quiet: bool,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The trace, as `verify --trace` writes it
    pub trace: PathBuf,
    #[command(flatten)]
    pub task: TaskArguments,
    /// Print one JSON document (schema surefoot-replay/1) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArguments {
    #[command(flatten)]
    pub task: TaskArguments,
    /// Print one JSON document (schema surefoot-info/1) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Write the files of the demo to this folder, to play with them
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Overwrite files that differ
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// The command that the program was called with; or the exit code, after help or a message was printed.
pub fn parse() -> Result<Command, Exit> {
    match Arguments::try_parse() {
        Ok(arguments) => Ok(arguments.command),
        Err(message) => {
            // If nobody reads the help, it need not be printed.
            let _ = message.print();
            Err(if message.use_stderr() { Exit::Usage } else { Exit::Done })
        }
    }
}

/// The arguments of a call of `verify`, given without the name of the program; or what is wrong with them.
pub fn verify_arguments(arguments: &[String]) -> Result<VerifyArguments, String> {
    let all = std::iter::once("surefoot").chain(arguments.iter().map(String::as_str));
    match Arguments::try_parse_from(all).map(|arguments| arguments.command) {
        Ok(Command::Verify(arguments)) => Ok(*arguments),
        Ok(_) => Err("the arguments are not those of `verify`".into()),
        Err(message) => Err(message.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}

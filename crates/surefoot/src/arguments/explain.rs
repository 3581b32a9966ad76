//! Arguments of `explain`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use surefoot_engines::explain::Order;

use super::limit;
use super::task::TaskArguments;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    pub task: TaskArguments,
    /// The state: values of all variables, such as `x=1,y=2`, or a JSON file with them [default: the first start state of the property]
    #[arg(long, value_name = "VALUES|FILE", conflicts_with = "trace", help_heading = "State")]
    pub state: Option<String>,
    /// A trace that `verify --trace` has written: a state of it is explained, in its reading
    #[arg(long, value_name = "FILE", help_heading = "State")]
    pub trace: Option<PathBuf>,
    /// Which state of the trace: the one in which this step is taken
    #[arg(long, value_name = "N", default_value_t = 1, requires = "trace", help_heading = "State")]
    pub step: usize,
    /// How far the values of other variables may stray: by at most N, or by the `least` N for which there are relevant variables [default:
    /// anywhere in their domains]
    #[arg(long, value_name = "N|least", value_parser = epsilon, help_heading = "Explanation")]
    pub epsilon: Option<Epsilon>,
    /// In which order variables are tried
    #[arg(long, value_enum, default_value_t = OrderName::Sensitivity, help_heading = "Explanation")]
    pub order: OrderName,
    /// Seed of the order `random`
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Explanation")]
    pub seed: u64,
    /// Stop after this time with what is proved so far: `90s`, `5m`, `1h30m`; a plain number is seconds
    #[arg(long, value_name = "TIME", value_parser = limit::duration, help_heading = "Limits")]
    pub time_limit: Option<Duration>,
    /// Print one JSON document (schema surefoot-explanation/1) instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// How far values may stray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epsilon {
    /// By at most so much.
    Given(u32),
    /// By the least that makes variables relevant.
    Least,
}

fn epsilon(text: &str) -> Result<Epsilon, String> {
    match text {
        "least" => Ok(Epsilon::Least),
        _ => text
            .parse()
            .map(Epsilon::Given)
            .map_err(|_| "expected a whole number that is not negative, or `least`".into()),
    }
}

/// Orders of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// Those first whose values change the scores least
    Sensitivity,
    /// As declared in the model
    Declared,
    /// Random, by `--seed`
    Random,
}

impl OrderName {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            OrderName::Sensitivity => "sensitivity",
            OrderName::Declared => "declared",
            OrderName::Random => "random",
        }
    }

    /// The order, given the seed.
    pub fn order(self, seed: u64) -> Order {
        match self {
            OrderName::Sensitivity => Order::Sensitivity,
            OrderName::Declared => Order::Declared,
            OrderName::Random => Order::Random(seed),
        }
    }
}

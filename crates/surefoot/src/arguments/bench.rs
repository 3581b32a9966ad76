//! Arguments of `bench`, and of the process that it starts for each run.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::limit;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// The suite: a TOML file that lists instances
    #[arg(required_unless_present = "compare")]
    pub suite: Option<PathBuf>,
    /// Engines or configurations of the suite to run [default: those of the suite, else explicit, ic3 and ppa]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Runs")]
    pub engines: Vec<String>,
    /// Only instances whose name contains PATTERN; `*` stands for any text
    #[arg(long, value_name = "PATTERN", help_heading = "Runs")]
    pub filter: Option<String>,
    /// Only instances of these families
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Runs")]
    pub family: Vec<String>,
    /// Time limit of each run
    #[arg(long, value_name = "TIME", value_parser = limit::duration, default_value = "10m", help_heading = "Limits")]
    pub time_limit: Duration,
    /// Memory limit of each run
    #[arg(long, value_name = "SIZE", value_parser = limit::size, default_value = "4GB", help_heading = "Limits")]
    pub memory_limit: u64,
    /// Threads of each run
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Limits")]
    pub threads: NonZeroUsize,
    /// Runs at the same time [default: as many as there are cores for their threads]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub jobs: Option<NonZeroUsize>,
    /// Where results are kept; what is there already is not run again
    #[arg(long, value_name = "DIR", default_value = "bench-results", help_heading = "Output")]
    pub out: PathBuf,
    /// Compare the results in two folders instead
    #[arg(long, num_args = 2, value_names = ["RUN1", "RUN2"], help_heading = "Output")]
    #[arg(conflicts_with_all = ["suite", "engines", "filter", "family", "time_limit", "memory_limit", "threads", "out", "jobs"])]
    pub compare: Vec<PathBuf>,
}

/// Arguments of the process that runs `verify` once and measures it.
#[derive(Debug, Args)]
pub struct MeasureArguments {
    /// Seconds after which the run is killed
    #[arg(long, default_value_t = f64::INFINITY)]
    pub kill_after: f64,
    /// Bytes of memory beyond which the run cannot go
    #[arg(long, default_value_t = u64::MAX)]
    pub kill_above: u64,
    /// Be the run that the process with this number measures
    #[arg(long, value_name = "PID")]
    pub run_of: Option<u32>,
    /// The arguments of the run
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

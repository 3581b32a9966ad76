//! Which engine verifies, and its options. An option of one engine given to another is a mistake.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use surefoot_engines::{explicit, ic3};

use crate::failure::Failure;

/// How to search.
#[derive(Debug, Args)]
pub struct SearchArguments {
    /// How to verify
    #[arg(long, value_enum, default_value_t = Engine::Explicit, help_heading = "Search")]
    pub engine: Engine,
    #[command(flatten)]
    pub explicit: ExplicitArguments,
    #[command(flatten)]
    pub ic3: Ic3Arguments,
}

/// Options of the explicit engine.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search, --engine explicit")]
pub struct ExplicitArguments {
    /// Go on after the first unsafe state and count everything
    #[arg(long)]
    pub exhaustive: bool,
    /// Say for each start state whether it is unsafe (implies --exhaustive)
    #[arg(long)]
    pub per_start: bool,
    /// Leave out variables that influence nothing; the counts are then those of the smaller system
    #[arg(long)]
    pub slice: bool,
}

/// Options of IC3.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search, --engine ic3")]
pub struct Ic3Arguments {
    /// What reasons look like [default: box]
    #[arg(long, value_enum)]
    pub reasons: Option<ReasonsName>,
    /// In which order variables of reasons are widened [default: widest]
    #[arg(long, value_enum)]
    pub order: Option<OrderName>,
    /// Do not generalise reasons (the paper's POLIC3-nog)
    #[arg(long)]
    pub no_generalize: bool,
    /// Put an obligation that was met back with one step more
    #[arg(long)]
    pub reschedule: bool,
    /// How many states of random runs become obligations; 0 as in the paper [default: 20000]
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// How many reachable states may be listed, roughly; 0 as in the paper [default: 100000]
    #[arg(long, value_name = "N")]
    pub list: Option<usize>,
    /// How many questions growing regions may ask; 0 as in the paper [default: 1000000]
    #[arg(long, value_name = "N")]
    pub growth: Option<usize>,
    /// Who answers questions about the environment [default: sat]
    #[arg(long, value_enum)]
    pub solver: Option<SolverName>,
    /// Write the certificate of a SAFE to FILE, for `surefoot check`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Do not check the certificate of a SAFE before it is printed
    #[arg(long)]
    pub no_check: bool,
    /// Write the frames of an UNKNOWN to FILE, for `--resume`
    #[arg(long, value_name = "FILE")]
    pub save_state: Option<PathBuf>,
    /// Begin with the frames that `--save-state` wrote to FILE, as far as they hold
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Breadth-first search over all states that the policy can reach
    Explicit,
    /// Proof by frames of boxes that cannot reach an unsafe state; SAFE has a certificate
    Ic3,
}

impl Engine {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Explicit => "explicit",
            Engine::Ic3 => "ic3",
        }
    }
}

/// What reasons look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReasonsName {
    /// A lower and an upper bound for each variable
    Box,
    /// A value for some of the variables, as in the paper
    Assignment,
}

/// In which order variables of reasons are widened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// Those with the largest domains first
    Widest,
    /// Those with the smallest domains first
    Narrowest,
    /// As in the model
    Declared,
}

/// Who answers questions about the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    /// A SAT solver with an order encoding of integers
    Sat,
    /// Z3 with linear arithmetic, for cross-checks; only in programs that were built with it
    Z3,
}

impl SolverName {
    #[cfg_attr(feature = "z3", expect(clippy::unnecessary_wraps, reason = "without Z3 it can fail"))]
    fn check(self) -> Result<ic3::Backend, Failure> {
        match self {
            SolverName::Sat => Ok(ic3::Backend::Sat),
            #[cfg(feature = "z3")]
            SolverName::Z3 => Ok(ic3::Backend::Z3),
            #[cfg(not(feature = "z3"))]
            SolverName::Z3 => Err(Failure::Usage(
                "`--solver z3`: this program was built without Z3\n  \
                 hint: install the library (`libz3-dev` of Debian and Ubuntu) and build with `cargo build --release --features z3`"
                    .into(),
            )),
        }
    }
}

/// An engine with its options, checked.
#[derive(Debug, Clone, Copy)]
pub enum Search {
    Explicit(explicit::Options),
    Ic3(ic3::Options),
}

impl SearchArguments {
    /// The checked form.
    pub fn check(&self) -> Result<Search, Failure> {
        let SearchArguments { engine, explicit, ic3 } = self;
        let of_explicit = [
            ("--exhaustive", explicit.exhaustive),
            ("--per-start", explicit.per_start),
            ("--slice", explicit.slice),
        ];
        let of_ic3 = [
            ("--reasons", ic3.reasons.is_some()),
            ("--order", ic3.order.is_some()),
            ("--no-generalize", ic3.no_generalize),
            ("--reschedule", ic3.reschedule),
            ("--samples", ic3.samples.is_some()),
            ("--list", ic3.list.is_some()),
            ("--growth", ic3.growth.is_some()),
            ("--solver", ic3.solver.is_some()),
            ("--certificate", ic3.certificate.is_some()),
            ("--no-check", ic3.no_check),
            ("--save-state", ic3.save_state.is_some()),
            ("--resume", ic3.resume.is_some()),
        ];
        let (other, options) = match engine {
            Engine::Explicit => (Engine::Ic3, &of_ic3[..]),
            Engine::Ic3 => (Engine::Explicit, &of_explicit[..]),
        };
        if let Some((name, _)) = options.iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::Usage(format!("`{name}` needs `--engine {}`", other.name())));
        }
        Ok(match engine {
            Engine::Explicit => Search::Explicit(explicit.options()),
            Engine::Ic3 => Search::Ic3(ic3.options()?),
        })
    }
}

impl ExplicitArguments {
    fn options(&self) -> explicit::Options {
        let &ExplicitArguments { exhaustive, per_start, slice } = self;
        explicit::Options { exhaustive, per_start, slice }
    }
}

impl Ic3Arguments {
    fn options(&self) -> Result<ic3::Options, Failure> {
        let default = ic3::Options::default();
        Ok(ic3::Options {
            reasons: match self.reasons {
                Some(ReasonsName::Assignment) => ic3::Reasons::Assignment,
                Some(ReasonsName::Box) | None => ic3::Reasons::Box,
            },
            order: match self.order {
                Some(OrderName::Narrowest) => ic3::Order::Narrowest,
                Some(OrderName::Declared) => ic3::Order::Declared,
                Some(OrderName::Widest) | None => ic3::Order::Widest,
            },
            generalize: !self.no_generalize,
            reschedule: self.reschedule,
            samples: self.samples.unwrap_or(default.samples),
            list: self.list.unwrap_or(default.list),
            growth: self.growth.unwrap_or(default.growth),
            solver: self.solver.map_or(Ok(default.solver), SolverName::check)?,
            check: !self.no_check,
            ..default
        })
    }
}

//! Which engine verifies, and its options. An option of one engine given to another is a mistake.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use surefoot_engines::{Backend, explicit, ic3, pa, ppa};

use super::refinement::RefinementArguments;
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
    #[command(flatten)]
    pub abstraction: AbstractionArguments,
    #[command(flatten)]
    pub refinement: RefinementArguments,
    #[command(flatten)]
    pub proof: ProofArguments,
}

/// Options of predicate abstraction.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search, --engine pa or ppa")]
pub struct AbstractionArguments {
    /// Take the predicates from FILE, a JSON array of conditions [default: those of the property]. For ppa they are the first ones
    #[arg(long, value_name = "FILE")]
    pub predicates: Option<PathBuf>,
    /// Do without some of the enhancements of paper 001, to see what they are worth
    #[arg(long, value_enum, value_name = "ENHANCEMENT,…", value_delimiter = ',')]
    pub without: Vec<EnhancementName>,
}

/// What makes abstract transitions faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EnhancementName {
    /// Labels that are applicable in a box take choices away there
    PerOpDisj,
    /// Bounds of the same linear term know of each other
    OptSlackVar,
    /// Commands that are enabled nowhere in a box are passed over
    EntailOp,
    /// Boxes are clipped by guards and targets
    EntailGen,
}

impl AbstractionArguments {
    /// The enhancements that are left.
    fn enhancements(&self) -> pa::Enhancements {
        let has = |name| !self.without.contains(&name);
        pa::Enhancements {
            per_operator: has(EnhancementName::PerOpDisj),
            shared_terms: has(EnhancementName::OptSlackVar),
            entailed_operators: has(EnhancementName::EntailOp),
            entailed_bounds: has(EnhancementName::EntailGen),
        }
    }
}

/// Options of engines that prove SAFE by certificates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search, --engine ic3, pa or ppa")]
pub struct ProofArguments {
    /// How many reachable states may be visited first, roughly; 0 as in the papers [default: 300000 for ic3, 60000 for ppa]
    #[arg(long, value_name = "N")]
    pub list: Option<usize>,
    /// Do not look for sums that no step changes, as in the papers
    #[arg(long)]
    pub no_laws: bool,
    /// Who answers questions about the environment [default: sat]
    #[arg(long, value_enum)]
    pub solver: Option<SolverName>,
    /// Write the certificate of a SAFE to FILE, for `surefoot check`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Do not check the certificate of a SAFE before it is printed
    #[arg(long)]
    pub no_check: bool,
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
    /// Search without the variables that neither the policy nor the property reads first, up to some N states. If that gives the
    /// answer, the counts are those of that search
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "100000000")]
    #[arg(conflicts_with_all = ["exhaustive", "per_start"])]
    pub project: Option<usize>,
}

/// Options of IC3.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search, --engine ic3")]
pub struct Ic3Arguments {
    /// POLIC3 as in paper 000, without what `surefoot` adds to it; with --no-generalize POLIC3-nog
    #[arg(long, conflicts_with_all = ["reasons", "samples", "growth", "list", "no_laws"])]
    pub paper: bool,
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
    /// How many questions growing regions may ask; 0 as in the paper [default: 1000000]
    #[arg(long, value_name = "N")]
    pub growth: Option<usize>,
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
    /// Proof by predicate abstraction, with given predicates; SAFE has a certificate
    Pa,
    /// The same with predicates that are found by counterexamples
    Ppa,
}

impl Engine {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Explicit => "explicit",
            Engine::Ic3 => "ic3",
            Engine::Pa => "pa",
            Engine::Ppa => "ppa",
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
    fn check(self) -> Result<Backend, Failure> {
        match self {
            SolverName::Sat => Ok(Backend::Sat),
            #[cfg(feature = "z3")]
            SolverName::Z3 => Ok(Backend::Z3),
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
    Pa(pa::Options),
    Ppa(ppa::Options),
}

/// Engines that know an option.
const EXPLICIT: &[Engine] = &[Engine::Explicit];
const IC3: &[Engine] = &[Engine::Ic3];
const IC3_PPA: &[Engine] = &[Engine::Ic3, Engine::Ppa];
const PPA: &[Engine] = &[Engine::Ppa];
const PA: &[Engine] = &[Engine::Pa, Engine::Ppa];
const PROOF: &[Engine] = &[Engine::Ic3, Engine::Pa, Engine::Ppa];

impl SearchArguments {
    /// The checked form.
    pub fn check(&self) -> Result<Search, Failure> {
        let SearchArguments { engine, explicit, ic3, abstraction, refinement, proof } = self;
        let options = [
            ("--exhaustive", explicit.exhaustive, EXPLICIT),
            ("--per-start", explicit.per_start, EXPLICIT),
            ("--slice", explicit.slice, EXPLICIT),
            ("--project", explicit.project.is_some(), EXPLICIT),
            ("--paper", ic3.paper, IC3),
            ("--reasons", ic3.reasons.is_some(), IC3),
            ("--order", ic3.order.is_some(), IC3),
            ("--no-generalize", ic3.no_generalize, IC3),
            ("--reschedule", ic3.reschedule, IC3),
            ("--samples", ic3.samples.is_some(), IC3),
            ("--list", proof.list.is_some(), IC3_PPA),
            ("--growth", ic3.growth.is_some(), IC3),
            ("--no-laws", proof.no_laws, IC3_PPA),
            ("--save-state", ic3.save_state.is_some(), IC3),
            ("--resume", ic3.resume.is_some(), IC3),
            ("--predicates", abstraction.predicates.is_some(), PA),
            ("--without", !abstraction.without.is_empty(), PA),
            ("--begin", refinement.begin.is_some(), PPA),
            ("--search", refinement.search.is_some(), PPA),
            ("--refine", refinement.refine.is_some(), PPA),
            ("--variables", refinement.variables.is_some(), PPA),
            ("--split", refinement.split.is_some(), PPA),
            ("--epsilon", refinement.epsilon.is_some(), PPA),
            ("--tau", refinement.tau.is_some(), PPA),
            ("--traversal", refinement.traversal.is_some(), PPA),
            ("--seed", refinement.seed.is_some(), PPA),
            ("--solver", proof.solver.is_some(), PROOF),
            ("--certificate", proof.certificate.is_some(), PROOF),
            ("--no-check", proof.no_check, PROOF),
        ];
        for (name, is_given, engines) in options {
            if is_given && !engines.contains(engine) {
                let engines: Vec<String> =
                    engines.iter().map(|engine| format!("`--engine {}`", engine.name())).collect();
                return Err(Failure::Usage(format!("`{name}` needs {}", engines.join(" or "))));
            }
        }
        Ok(match engine {
            Engine::Explicit => Search::Explicit(explicit.options()),
            Engine::Ic3 => Search::Ic3(ic3.options(proof)?),
            Engine::Pa => Search::Pa(pa::Options {
                enhancements: abstraction.enhancements(),
                solver: proof.solver()?,
                check: !proof.no_check,
            }),
            Engine::Ppa => Search::Ppa(refinement.options(abstraction.enhancements(), proof)?),
        })
    }
}

impl ProofArguments {
    /// The checked solver.
    pub fn solver(&self) -> Result<Backend, Failure> {
        self.solver.map_or(Ok(Backend::default()), SolverName::check)
    }
}

impl ExplicitArguments {
    fn options(&self) -> explicit::Options {
        let &ExplicitArguments { exhaustive, per_start, slice, project } = self;
        explicit::Options { exhaustive, per_start, slice, project: project.unwrap_or(0) }
    }
}

impl Ic3Arguments {
    fn options(&self, proof: &ProofArguments) -> Result<ic3::Options, Failure> {
        let default = if self.paper { ic3::Options::paper() } else { ic3::Options::default() };
        Ok(ic3::Options {
            reasons: match self.reasons {
                Some(ReasonsName::Assignment) => ic3::Reasons::Assignment,
                Some(ReasonsName::Box) => ic3::Reasons::Box,
                None => default.reasons,
            },
            order: match self.order {
                Some(OrderName::Narrowest) => ic3::Order::Narrowest,
                Some(OrderName::Declared) => ic3::Order::Declared,
                Some(OrderName::Widest) | None => ic3::Order::Widest,
            },
            generalize: !self.no_generalize,
            reschedule: self.reschedule,
            samples: self.samples.unwrap_or(default.samples),
            list: proof.list.unwrap_or(default.list),
            growth: self.growth.unwrap_or(default.growth),
            laws: default.laws && !proof.no_laws,
            solver: proof.solver()?,
            check: !proof.no_check,
            ..default
        })
    }
}

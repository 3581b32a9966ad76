//! How `--engine ppa` finds predicates: our way, and the variants of papers 001 and 004.

use clap::{Args, ValueEnum};
use surefoot_engines::{explain, pa, ppa};

use VariablesName::{Bsearch, Verix};

use super::search::ProofArguments;
use crate::failure::Failure;

/// Options of predicate abstraction that finds predicates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search, --engine ppa")]
pub struct RefinementArguments {
    /// With which predicates to begin, besides given ones [default: unsafe]
    #[arg(long, value_enum)]
    pub begin: Option<BeginName>,
    /// Where abstract paths are looked for first [default: breadth]
    #[arg(long, value_enum)]
    pub search: Option<SearchName>,
    /// What becomes a predicate if the policy does not take an abstract path [default: barriers]
    #[arg(long, value_enum)]
    pub refine: Option<RefineName>,
    /// With `--refine witness`: on which variables witnesses are split [default: bsearch]
    #[arg(long, value_enum)]
    pub variables: Option<VariablesName>,
    /// With `--refine witness`: where witnesses are split [default: witness]
    #[arg(long, value_enum)]
    pub split: Option<SplitName>,
    /// With `--variables verix`: the part of the way between both states, from 0 to 1 [default: 0.5]
    #[arg(long, value_name = "E", value_parser = part)]
    pub epsilon: Option<f64>,
    /// With `--variables bsearch`: the precision of the least such part [default: 0.05]
    #[arg(long, value_name = "T", value_parser = part)]
    pub tau: Option<f64>,
    /// With `--variables verix` or `bsearch`: in which order variables are looked at [default: sensitivity]
    #[arg(long, value_enum)]
    pub traversal: Option<TraversalName>,
    /// Seed of what is random [default: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// A number from 0 to 1.
fn part(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

/// With which predicates to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BeginName {
    /// Those of the unsafe condition, as in the papers
    Unsafe,
    /// These, and those of all commands: guards, ends of runs, ends of domains
    Commands,
}

/// Where abstract paths are looked for first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchName {
    /// Near the start
    Breadth,
    /// Where few atoms must change until the unsafe condition is true
    Hamming,
    /// Where an unsafe abstract state was near in the last iteration
    Coarse,
}

/// What becomes a predicate if the policy does not take an abstract path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RefineName {
    /// Bounds of boxes in which the policy never takes the step
    Barriers,
    /// Values that the path entails, or halves of domains (paper 001)
    Values,
    /// Bounds between a state in which the policy takes the step and one where it does not (paper 004)
    Witness,
}

/// On which variables witnesses are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VariablesName {
    /// All on which the states differ
    All,
    /// The relevant ones up to a part of the way
    Verix,
    /// The relevant ones for the least such part
    Bsearch,
    /// The most sensitive one
    Sens,
    /// Some, by chance
    Random,
}

/// Where witnesses are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitName {
    /// At the state in which the policy takes the step
    Witness,
    /// In the middle
    Middle,
    /// At the part of the way by which the variables were found
    Epsilon,
    /// Anywhere
    Random,
}

/// In which order variables are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraversalName {
    /// The least sensitive first
    Sensitivity,
    /// As in the model
    Declared,
    /// Random, by the seed
    Random,
}

impl RefinementArguments {
    /// The checked form.
    pub fn options(
        &self,
        enhancements: pa::Enhancements,
        proof: &ProofArguments,
    ) -> Result<ppa::Options, Failure> {
        let is_witness = self.refine == Some(RefineName::Witness);
        let of_variables = |names: &[VariablesName]| {
            is_witness && names.contains(&self.variables.unwrap_or(VariablesName::Bsearch))
        };
        for (option, is_given, is_known, needs) in [
            ("--variables", self.variables.is_some(), is_witness, "--refine witness"),
            ("--split", self.split.is_some(), is_witness, "--refine witness"),
            (
                "--epsilon",
                self.epsilon.is_some(),
                of_variables(&[Verix]),
                "--refine witness --variables verix",
            ),
            ("--tau", self.tau.is_some(), of_variables(&[Bsearch]), "--refine witness --variables bsearch"),
            (
                "--traversal",
                self.traversal.is_some(),
                of_variables(&[Verix, Bsearch]),
                "--refine witness --variables verix` or `bsearch",
            ),
        ] {
            if is_given && !is_known {
                return Err(Failure::Usage(format!("`{option}` needs `{needs}`")));
            }
        }
        let seed = self.seed.unwrap_or(0);
        let order = match self.traversal {
            Some(TraversalName::Declared) => explain::Order::Declared,
            Some(TraversalName::Random) => explain::Order::Random(seed),
            Some(TraversalName::Sensitivity) | None => explain::Order::Sensitivity,
        };
        let variables = match self.variables {
            Some(VariablesName::All) => ppa::Variables::All,
            Some(Verix) => ppa::Variables::Verix { epsilon: self.epsilon.unwrap_or(0.5), order },
            Some(Bsearch) | None => ppa::Variables::Bsearch { tau: self.tau.unwrap_or(0.05), order },
            Some(VariablesName::Sens) => ppa::Variables::Sensitive,
            Some(VariablesName::Random) => ppa::Variables::Random,
        };
        let split = match self.split {
            Some(SplitName::Witness) | None => ppa::SplitPoint::Witness,
            Some(SplitName::Middle) => ppa::SplitPoint::Middle,
            Some(SplitName::Epsilon) => ppa::SplitPoint::Epsilon,
            Some(SplitName::Random) => ppa::SplitPoint::Random,
        };
        Ok(ppa::Options {
            list: proof.list.unwrap_or(ppa::Options::default().list),
            laws: if proof.no_laws { ppa::Laws::Ignored } else { ppa::Laws::InTurn },
            begin: match self.begin {
                Some(BeginName::Unsafe) | None => ppa::Begin::Unsafe,
                Some(BeginName::Commands) => ppa::Begin::Commands,
            },
            search: match self.search {
                Some(SearchName::Hamming) => ppa::Search::Hamming,
                Some(SearchName::Coarse) => ppa::Search::Coarse,
                Some(SearchName::Breadth) | None => ppa::Search::Breadth,
            },
            refinement: match self.refine {
                Some(RefineName::Barriers) | None => ppa::Refinement::Barriers,
                Some(RefineName::Values) => ppa::Refinement::Values,
                Some(RefineName::Witness) => ppa::Refinement::Witness { variables, split },
            },
            seed,
            enhancements,
            solver: proof.solver()?,
            check: !proof.no_check,
        })
    }
}

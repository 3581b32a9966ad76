//! Choices of the engine: ours, and those of papers 001 and 004 to compare with.

use surefoot_solve::Backend;

use crate::explain::Order;
use crate::pa::Enhancements;

/// Choices of the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// How many reachable states may be visited first, in search of an unsafe one.
    pub list: usize,
    /// Whether abstract states hold only states that obey the laws of the task.
    pub laws: Laws,
    /// With which predicates to begin.
    pub begin: Begin,
    /// Where abstract paths are looked for first.
    pub search: Search,
    /// What becomes a predicate if the policy does not take an abstract path.
    pub refinement: Refinement,
    /// For what is random.
    pub seed: u64,
    /// How abstract transitions are found.
    pub enhancements: Enhancements,
    /// Who answers questions about the environment.
    pub solver: Backend,
    /// Whether a proof is checked before the verdict is SAFE.
    pub check: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            list: 60_000,
            laws: Laws::InTurn,
            begin: Begin::Unsafe,
            search: Search::Breadth,
            refinement: Refinement::Barriers,
            seed: 0,
            enhancements: Enhancements::default(),
            solver: Backend::Sat,
            check: true,
        }
    }
}

/// Whether abstract states hold only states that obey the laws of the task: sums that no step changes.
///
/// With laws, fewer abstract paths are spurious because of the environment. Where few predicates are enough, that is what makes a proof possible. Where
/// many are needed, such paths are what most of them come from, and without them others are found that tell less apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Laws {
    /// No, as in the papers.
    Ignored,
    /// Yes, and nothing is projected.
    Obeyed,
    /// First yes, until a path is spurious, then no, and when half of the limits is used up, yes.
    InTurn,
}

/// With which predicates to begin, besides given ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// The atoms of the unsafe condition, as in the papers.
    Unsafe,
    /// These, and what decides whether commands are possible. Where most of it is needed in the end, it saves iterations over large abstract states; where guards name
    /// every value, it tells all states apart.
    Commands,
}

/// Where abstract paths are looked for first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Near the start: paths are shortest ones.
    Breadth,
    /// Where the fewest atoms must change until the unsafe condition is true (the Hamming distance of the papers). Ties are broken by the seed.
    Hamming,
    /// Where a bad abstract state was near in the last iteration, which had fewer predicates; in the first iteration as [`Search::Hamming`].
    Coarse,
}

/// What becomes a predicate if the policy does not take an abstract path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refinement {
    /// Ours: bounds of boxes in which the policy never takes the step.
    Barriers,
    /// Paper 001, Algorithm 2: values that all runs of the environment along the path have where the policy strays, or else halves of domains.
    Values,
    /// Paper 004: bounds between a state in which the policy takes the step and the one where it does not.
    Witness {
        /// On which variables.
        variables: Variables,
        /// Where between the states.
        split: SplitPoint,
    },
}

/// On which variables witnesses are split (paper 004, §4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Variables {
    /// All on which the states differ.
    All,
    /// The relevant ones up to a part ε of the way (`VeriX`), looked at in this order.
    Verix {
        /// ε.
        epsilon: f64,
        /// The order.
        order: Order,
    },
    /// The relevant ones for the least such ε, up to a precision τ (BSEARCH).
    Bsearch {
        /// τ.
        tau: f64,
        /// The order.
        order: Order,
    },
    /// The most sensitive one.
    Sensitive,
    /// Some, by chance.
    Random,
}

/// Where witnesses are split (paper 004, §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitPoint {
    /// At the state in which the policy takes the step.
    Witness,
    /// In the middle.
    Middle,
    /// At ε, if the variables were found by it; else in the middle.
    Epsilon,
    /// Anywhere.
    Random,
}

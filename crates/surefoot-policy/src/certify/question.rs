//! What can be asked about the decisions of a policy, and what the answers are.

use surefoot_model::VarId;

use super::evidence::Evidence;
use super::output_set::OutputSet;

/// A linear condition on a state: the sum of `coefficient · variable` is at most a bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fact {
    /// The terms of the sum. A variable may occur several times.
    pub terms: Vec<(VarId, i32)>,
    /// The bound.
    pub at_most: i64,
}

impl Fact {
    /// Whether the condition holds in a state.
    pub fn holds(&self, state: &[i32]) -> bool {
        let sum: i128 = self
            .terms
            .iter()
            .map(|&(variable, coefficient)| i128::from(coefficient) * i128::from(state[variable.index()]))
            .sum();
        sum <= i128::from(self.at_most)
    }
}

/// A question: in which states of a box does the policy choose an output?
///
/// The states are those between `lower` and `upper` in which all `facts` hold. The policy is understood to choose
/// among the outputs in `competing`, and `output` itself: all outputs for a policy that does not filter, and those
/// whose labels are known to be applicable everywhere in the box for one that does. Further labels that are applicable
/// in some states can only take choices away from `output`, so *never* remains true with them.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// The least value of each variable of the system.
    pub lower: &'q [i32],
    /// The greatest value of each variable of the system.
    pub upper: &'q [i32],
    /// What else holds in the states in question.
    pub facts: &'q [Fact],
    /// The output in question.
    pub output: usize,
    /// The outputs that it competes with.
    pub competing: &'q OutputSet,
}

impl Question<'_> {
    /// Whether a state is one of those in question.
    pub fn covers(&self, state: &[i32]) -> bool {
        let inside = |((value, lower), upper): ((&i32, &i32), &i32)| lower <= value && value <= upper;
        state.iter().zip(self.lower).zip(self.upper).all(inside)
            && self.facts.iter().all(|fact| fact.holds(state))
    }
}

/// How long a question may take.
#[derive(Clone, Copy)]
pub struct Budget<'b> {
    /// How many boxes may be bounded or enumerated.
    pub boxes: u64,
    /// Asked before each box whether to stop.
    pub stop: Option<&'b dyn Fn() -> bool>,
}

impl Budget<'_> {
    /// As long as it takes.
    pub const UNLIMITED: Budget<'static> = Budget { boxes: u64::MAX, stop: None };

    /// At most this many boxes.
    pub fn boxes(boxes: u64) -> Budget<'static> {
        Budget { boxes, stop: None }
    }
}

impl std::fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("boxes", &self.boxes).finish_non_exhaustive()
    }
}

/// Whether an output can be chosen in some state of a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Possibility<'a> {
    /// In no state, and why.
    Never(&'a Evidence),
    /// In this state.
    Possible(&'a [i32]),
    /// The budget was spent before it was decided.
    Unknown,
}

/// In which states of a box an output is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer<'a> {
    /// In no state, and why. This is the answer for a box without states.
    Never(&'a Evidence),
    /// In every state, and no other output can be.
    Always,
    /// In some, but another output can be chosen in some.
    Sometimes {
        /// A state in which it can be chosen.
        chosen: &'a [i32],
        /// A state in which another output can be chosen.
        other: &'a [i32],
    },
    /// The budget was spent before it was decided.
    Unknown,
}

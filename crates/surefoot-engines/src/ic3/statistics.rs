//! What a run has done and where its time went.

use std::time::Duration;

use super::frames::Entry;
use super::reason::Reason;
use crate::symbolic::Tally;

/// What a run has done, at its end or so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// The number of frames besides that of the unsafe states: `N` of the paper.
    pub depth: u64,
    /// Reasons in the frames.
    pub reasons: u64,
    /// Those that hold for any number of steps: closed regions.
    pub closed: u64,
    /// The other reasons by the highest level at which they are known to hold, from 1 to one more than the depth.
    pub levels: Vec<u64>,
    /// On how many variables reasons have a bound.
    pub sizes: Option<Sizes>,
    /// Obligations that were taken from the queue.
    pub obligations: u64,
    /// States whose successors were computed.
    pub states: u64,
    /// States that random runs saw.
    pub samples: u64,
    /// All reachable states, if they were listed.
    pub listed: u64,
    /// How many variables a projection left out of them.
    pub left_out: usize,
    /// Time of the search.
    pub time: Duration,
    /// Parts of it, and the time of the check.
    pub times: Times,
    /// Questions about boxes.
    pub tests: Tests,
    /// Bytes, roughly.
    pub memory: u64,
    /// What became of saved frames, if the run began with some.
    pub resumed: Option<Resumed>,
}

/// What became of saved frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// Their depth.
    pub depth: u64,
    /// Their reasons.
    pub reasons: u64,
    /// What of them holds; `None` as long as that is not known.
    pub kept: Option<Kept>,
}

/// What holds of saved frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Reasons that hold.
    pub reasons: u64,
    /// Of these, for fewer steps than was claimed.
    pub weaker: u64,
}

/// Time by procedure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Testing saved frames.
    pub resume: Duration,
    /// Listing reachable states.
    pub listing: Duration,
    /// Random runs.
    pub samples: Duration,
    /// Growing regions.
    pub growth: Duration,
    /// `selectStartState`, and whether start states are unsafe.
    pub start: Duration,
    /// `selectSuccessorState`.
    pub successor: Duration,
    /// `generalizeReason`.
    pub generalize: Duration,
    /// `propagateClauses`, and moving new reasons up.
    pub propagate: Duration,
    /// Making a certificate of the invariant.
    pub certificate: Duration,
    /// Checking the certificate.
    pub check: Duration,
}

impl Times {
    /// The time that frames took.
    pub(super) fn frames(&self) -> Duration {
        self.start + self.successor + self.generalize + self.propagate
    }
}

/// Questions about boxes, and how many needed no work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tests {
    /// Whether the policy leads from a box into a frame. The time is that of evaluating a few states first.
    pub boxes: Tally,
    /// Of these, answered by these states.
    pub boxes_by_state: u64,
    /// Environment tests: whether an outcome of a command leads there. Those that a solver was asked.
    pub environment: Tally,
    /// Environment tests that a remembered core answered.
    pub environment_known: u64,
    /// Questions about states alone: start states, unsafe states, errors of the model.
    pub state: Tally,
    /// Policy tests: whether the policy chooses an output somewhere in a box.
    pub policy: Tally,
    /// Of these, answered by the decision cache.
    pub policy_known: u64,
}

/// A distribution of sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The least.
    pub least: usize,
    /// A quarter is not above this.
    pub lower_quartile: usize,
    /// Half of them are not above this.
    pub median: usize,
    /// Three quarters are not above this.
    pub upper_quartile: usize,
    /// The greatest.
    pub greatest: usize,
    /// The mean.
    pub mean: f64,
}

impl Sizes {
    /// The numbers of variables that reasons bound; `None` if there are no reasons.
    pub(super) fn of(entries: &[Entry], domain: &Reason) -> Option<Sizes> {
        let size = |entry: &Entry| entry.reason.narrow(domain).count();
        let mut sizes: Vec<usize> = entries.iter().map(size).collect();
        sizes.sort_unstable();
        let last = sizes.len().checked_sub(1)?;
        Some(Sizes {
            least: sizes[0],
            lower_quartile: sizes[last / 4],
            median: sizes[last / 2],
            upper_quartile: sizes[last - last / 4],
            greatest: sizes[last],
            mean: sizes.iter().sum::<usize>() as f64 / sizes.len() as f64,
        })
    }
}

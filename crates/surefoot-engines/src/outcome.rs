//! Outcomes: the verdict, its evidence and what was covered.

use std::time::Duration;

/// What a run found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The limit that ended the search, if one did.
    pub stopped: Option<StopReason>,
    /// What was covered.
    pub statistics: Statistics,
    /// Reasons for which the answer says less than it seems to.
    pub vacuity: Vec<Vacuity>,
    /// Which start states are unsafe, where that was asked for and the search was complete.
    pub per_start: Option<PerStart>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No unsafe state is reachable. Proved.
    Safe,
    /// An unsafe state is reachable: the trace was replayed.
    Unsafe(Trace),
    /// Neither was shown.
    Unknown(StopReason),
}

/// Why a run ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// The user stopped it.
    Cancelled,
    /// The predicates tell too few states apart.
    Abstraction,
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StopReason::Time => "time limit",
            StopReason::Memory => "memory limit",
            StopReason::Cancelled => "cancelled",
            StopReason::Abstraction => "abstraction too coarse",
        })
    }
}

/// A run from a start state to an unsafe state, over the variables and commands of the original system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The start state.
    pub start: Vec<i32>,
    /// The steps.
    pub steps: Vec<TraceStep>,
}

impl Trace {
    /// The last state.
    pub fn last(&self) -> &[i32] {
        self.steps.last().map_or(&self.start, |step| &step.state)
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// Index of the command.
    pub command: usize,
    /// Index of its outcome.
    pub outcome: usize,
    /// The state after the step.
    pub state: Vec<i32>,
}

/// Counts of a run. They are exact where the search was complete, and what was covered otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Distinct start states.
    pub start_states: u64,
    /// Distinct states.
    pub states: u64,
    /// States whose successors were computed.
    pub expanded: u64,
    /// Distinct (state, command, outcome).
    pub transitions: u64,
    /// Unsafe states among the expanded.
    pub unsafe_states: u64,
    /// States where the policy chooses a label that is not applicable.
    pub stalls: u64,
    /// States without successor, whatever the reason.
    pub terminal_states: u64,
    /// States that end runs because they are goals.
    pub goal_states: u64,
    /// Length of the longest shortest run from a start state.
    pub depth: u64,
    /// Whether everything reachable was expanded.
    pub complete: bool,
    /// Time.
    pub time: Duration,
    /// Part of the time that went into the start states.
    pub start_time: Duration,
    /// Bytes of the engine's data at the end.
    pub memory: u64,
    /// Bits of a packed state.
    pub state_bits: u32,
    /// Variables of the searched system, after slicing.
    pub variables: usize,
    /// How many variables a projection left out, if it gave the answer.
    pub projected: Option<usize>,
}

/// A reason for which an answer says less than it seems to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vacuity {
    /// There is no start state.
    NoStartState,
    /// No state of the variables' domains is unsafe.
    NoUnsafeState,
    /// No start state has a successor.
    NoSteps,
    /// Every run ends because the policy chooses a label that is not applicable.
    AllStall,
}

impl std::fmt::Display for Vacuity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Vacuity::NoStartState => "no state satisfies the start condition",
            Vacuity::NoUnsafeState => "no state of the variables' domains is unsafe",
            Vacuity::NoSteps => "no start state has a successor",
            Vacuity::AllStall => {
                "every start state stalls: the policy chooses a label that is not applicable there"
            }
        })
    }
}

/// Start states by verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerStart {
    /// Start states from which an unsafe state is reachable.
    pub unsafe_starts: Vec<Vec<i32>>,
    /// Number of the others.
    pub safe_count: u64,
}

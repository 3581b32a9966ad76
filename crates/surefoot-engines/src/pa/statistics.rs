//! What an abstraction has taken.

use std::time::Duration;

use crate::symbolic::Tally;

/// What a run has done, at its end or so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Variables that were left out.
    pub left_out: usize,
    /// Predicates, without those for locations.
    pub predicates: u64,
    /// Abstract states that hold start states.
    pub start_states: u64,
    /// Abstract states so far.
    pub states: u64,
    /// Those whose transitions are known.
    pub expanded: u64,
    /// Distinct pairs of an abstract state and one that the policy leads to from there.
    pub transitions: u64,
    /// Those of them that begin in abstract states that hold start states, where the predicates are given.
    pub start_transitions: u64,
    /// Expansions of abstract states that had to be computed, in all iterations.
    pub computed: u64,
    /// Abstract states that hold unsafe states.
    pub unsafe_states: u64,
    /// Abstract states in which the model may be wrong.
    pub errors: u64,
    /// Questions.
    pub tests: Tests,
    /// What was done to find the predicates.
    pub iterations: Vec<Iteration>,
    /// Time of the search.
    pub time: Duration,
    /// Time to make a certificate.
    pub certificate: Duration,
    /// Time to check it.
    pub check: Duration,
    /// Bytes, roughly.
    pub memory: u64,
}

/// A predicate of an abstraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// As text.
    pub text: String,
    /// Where it comes from.
    pub source: Source,
}

/// Where a predicate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// It tells locations of automata apart. These are not counted.
    Location,
    /// The user, or the property.
    Given,
    /// The unsafe condition.
    Unsafe,
    /// A path that the environment does not allow.
    Environment,
    /// A path that the policy does not take.
    Policy,
    /// Halves of domains, where nothing else helps.
    Domain,
}

/// How many predicates there are, by where they come from; those for locations are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PredicateCounts {
    /// The user, or the property.
    pub given: u64,
    /// The unsafe condition.
    pub unsafe_condition: u64,
    /// Paths that the environment does not allow.
    pub environment: u64,
    /// Paths that the policy does not take.
    pub policy: u64,
    /// Halves of domains.
    pub domain: u64,
}

impl PredicateCounts {
    /// Counts predicates.
    pub fn of(sources: impl Iterator<Item = Source>) -> PredicateCounts {
        let mut counts = PredicateCounts::default();
        for source in sources {
            match source {
                Source::Location => {}
                Source::Given => counts.given += 1,
                Source::Unsafe => counts.unsafe_condition += 1,
                Source::Environment => counts.environment += 1,
                Source::Policy => counts.policy += 1,
                Source::Domain => counts.domain += 1,
            }
        }
        counts
    }

    /// How many there are in all.
    pub fn all(&self) -> u64 {
        let PredicateCounts { given, unsafe_condition, environment, policy, domain } = self;
        given + unsafe_condition + environment + policy + domain
    }
}

/// An abstract path that was spurious, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Predicates.
    pub predicates: PredicateCounts,
    /// Abstract states that were found before the path was.
    pub states: u64,
    /// Steps of the path.
    pub steps: u64,
    /// Why it was spurious.
    pub cause: Cause,
    /// Predicates that were added.
    pub added: u64,
    /// Questions of this iteration.
    pub tests: Tests,
    /// Time since the run began.
    pub time: Duration,
}

/// Why an abstract path is spurious.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The environment does not allow it.
    Environment,
    /// The policy does something else.
    Policy,
}

/// Questions about abstract states, and how they were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tests {
    /// Questions about single states: start states, unsafe states, errors of the model.
    pub state: Tally,
    /// Questions about steps of the environment.
    pub environment: Tally,
    /// Questions about the policy in a box.
    pub policy: Tally,
    /// Of these, answered by the decision cache.
    pub policy_known: u64,
    /// Commands whose labels the policy chooses nowhere in an abstract state.
    pub never: u64,
    /// Commands and steps that the policy was known not to take, from an abstract state with fewer predicates.
    pub inherited: u64,
    /// States that were executed.
    pub executed: u64,
    /// Steps that the environment allows where the policy chooses something else, so that other states had to be looked for.
    pub pursued: u64,
    /// Splits of boxes on the way.
    pub splits: u64,
}

impl Tests {
    /// Those that were not there at an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Tests) -> Tests {
        Tests {
            state: self.state.since(earlier.state),
            environment: self.environment.since(earlier.environment),
            policy: self.policy.since(earlier.policy),
            policy_known: self.policy_known - earlier.policy_known,
            never: self.never - earlier.never,
            inherited: self.inherited - earlier.inherited,
            executed: self.executed - earlier.executed,
            pursued: self.pursued - earlier.pursued,
            splits: self.splits - earlier.splits,
        }
    }
}

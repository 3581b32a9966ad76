//! A certifier that looks up before it searches, and stores what it finds.

use std::sync::Arc;

use super::statistics::Event;
use super::table::Record;
use super::{DecisionCache, Kind};
use crate::arithmetic::Arithmetic;
use crate::certify::evidence::Evidence;
use crate::certify::question::{Budget, Possibility, Question};
use crate::certify::{Certifier, Choices, OutputSet};
use crate::policy::Policy;

/// Whether an output can be chosen in some state of a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CachedPossibility<'a> {
    /// In no state, and why, unless that was known before.
    Never(Option<&'a Evidence>),
    /// In this state.
    Possible(&'a [i32]),
    /// The budget was spent before it was decided.
    Unknown,
}

/// In which states of a box an output is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CachedAnswer<'a> {
    /// In no state, and why, unless that was known before. This is the answer for a box without states.
    Never(Option<&'a Evidence>),
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

/// A [`Certifier`] with a [`DecisionCache`].
///
/// It gives the answers of the certifier, but for three things. *Never* comes without evidence if it was known
/// before; who needs evidence asks the [`CachedCertifier::certifier`]. Witnesses may be other states. And what is
/// known is answered even if the budget would not suffice to find it out.
///
/// Clones share the cache: make one and clone it for other threads.
#[derive(Debug, Clone)]
pub struct CachedCertifier {
    certifier: Certifier,
    cache: Arc<DecisionCache>,
    scratch: Scratch,
    /// The last witness, a value for each variable of the system.
    witness: Vec<i32>,
    /// A second witness, for answers that have two.
    other: Vec<i32>,
    /// Boxes that the last answer took; 0 if it was known.
    boxes: u64,
}

/// The question at hand, in terms of the policy.
#[derive(Debug, Clone)]
struct Scratch {
    /// Indices of the variables that the policy reads.
    variables: Vec<usize>,
    lower: Vec<i32>,
    upper: Vec<i32>,
    point: Vec<i32>,
    competing: Vec<u64>,
}

/// An answer, apart from its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    /// `in_box`: in no state of the clipped box, whether or not the facts hold there.
    Never {
        known: bool,
        in_box: bool,
    },
    Possible,
    Unknown,
}

impl CachedCertifier {
    /// Prepares to answer questions about a policy in an arithmetic. The cache takes at most `bytes` bytes, and
    /// stores nothing if that is less than a block of 512 answers. `lower` and `upper` are the ends of the variables'
    /// domains, for which lookups are tuned; questions about other values are welcome.
    pub fn new(policy: &Policy, arithmetic: Arithmetic, lower: &[i32], upper: &[i32], bytes: usize) -> Self {
        let variables: Vec<usize> = policy.variables().iter().map(|variable| variable.index()).collect();
        let end = |ends: &[i32], variable: usize| ends.get(variable).copied().unwrap_or(0);
        let domains: Vec<(i32, i32)> =
            variables.iter().map(|&variable| (end(lower, variable), end(upper, variable))).collect();
        let outputs = policy.outputs.len();
        let scratch = Scratch {
            lower: vec![0; variables.len()],
            upper: vec![0; variables.len()],
            point: vec![0; variables.len()],
            variables,
            competing: vec![0; outputs.div_ceil(64)],
        };
        CachedCertifier {
            certifier: Certifier::new(policy, arithmetic),
            cache: Arc::new(DecisionCache::new(&domains, outputs, bytes)),
            scratch,
            witness: Vec::new(),
            other: Vec::new(),
            boxes: 0,
        }
    }

    /// The certifier, which neither asks the cache nor fills it.
    pub fn certifier(&mut self) -> &mut Certifier {
        &mut self.certifier
    }

    /// The cache, which all clones share.
    pub fn cache(&self) -> &DecisionCache {
        &self.cache
    }

    /// Whether the output can be chosen in some state of the box.
    pub fn possible(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> CachedPossibility<'_> {
        match self.run(question, budget) {
            Decision::Never { known, .. } => CachedPossibility::Never(self.evidence(known)),
            Decision::Possible => CachedPossibility::Possible(&self.witness),
            Decision::Unknown => CachedPossibility::Unknown,
        }
    }

    /// Whether the output is chosen in no state of the box, in all, or in some.
    pub fn decide(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> CachedAnswer<'_> {
        // Without facts, a box that is one has states.
        if question.facts.is_empty() && self.load(question) && self.is_always(question) {
            return CachedAnswer::Always;
        }
        match self.run(question, budget) {
            Decision::Never { known, .. } => return CachedAnswer::Never(self.evidence(known)),
            Decision::Unknown => return CachedAnswer::Unknown,
            Decision::Possible => std::mem::swap(&mut self.witness, &mut self.other),
        }
        let left = Budget { boxes: budget.boxes.saturating_sub(self.boxes), ..*budget };
        // The witness shows that there are states.
        if !question.facts.is_empty() && self.load(question) && self.is_always(question) {
            return CachedAnswer::Always;
        }
        let alone: OutputSet = std::iter::once(question.output).collect();
        let (mut decided, mut everywhere) = (true, true);
        for rival in question.competing.iter().filter(|&rival| rival != question.output) {
            match self.run(&Question { output: rival, competing: &alone, ..*question }, &left) {
                Decision::Never { in_box, .. } => everywhere &= in_box,
                Decision::Possible => {
                    return CachedAnswer::Sometimes { chosen: &self.other, other: &self.witness };
                }
                Decision::Unknown => decided = false,
            }
        }
        if !decided {
            return CachedAnswer::Unknown;
        }
        if everywhere && self.load(question) {
            self.cache.store(Kind::Always, self.scratch.as_box(question.output));
        }
        CachedAnswer::Always
    }

    /// The outputs among `question.competing` that can be chosen in the box; `question.output` does not matter unless
    /// it competes.
    pub fn choices(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> Choices {
        let mut choices = Choices::default();
        for output in question.competing.iter() {
            match self.run(&Question { output, ..*question }, budget) {
                Decision::Never { .. } => {}
                Decision::Possible => _ = choices.possible.insert(output),
                Decision::Unknown => _ = choices.unknown.insert(output),
            }
        }
        choices
    }

    fn evidence(&self, known: bool) -> Option<&Evidence> {
        (!known).then_some(&self.certifier.search.evidence)
    }

    /// Decides whether the output in question can be chosen somewhere.
    fn run(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> Decision {
        self.boxes = 0;
        if self.load(question) {
            if let Some(decision) = self.look_up(question) {
                return decision;
            }
            let decision = self.search(question, budget);
            self.store(question.output, decision);
            return decision;
        }
        self.search(question, budget)
    }

    fn search(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> Decision {
        let decision = match self.certifier.possible(question, budget) {
            Possibility::Possible(state) => {
                self.witness.clear();
                self.witness.extend_from_slice(state);
                Decision::Possible
            }
            Possibility::Unknown => Decision::Unknown,
            Possibility::Never(_) => {
                Decision::Never { known: false, in_box: !self.certifier.search.used_facts }
            }
        };
        self.boxes = self.certifier.effort().boxes;
        decision
    }

    /// Takes over a question, with its box clipped by its facts; `false` if nothing is left of it.
    fn load(&mut self, question: &Question<'_>) -> bool {
        let scratch = &mut self.scratch;
        scratch.competing.fill(0);
        for (word, &bits) in scratch.competing.iter_mut().zip(question.competing.words()) {
            *word = bits;
        }
        scratch.competing[question.output / 64] &= !(1 << (question.output % 64));
        if question.facts.is_empty() {
            for (index, &variable) in scratch.variables.iter().enumerate() {
                scratch.lower[index] = question.lower[variable];
                scratch.upper[index] = question.upper[variable];
            }
            return question.lower.iter().zip(question.upper).all(|(lower, upper)| lower <= upper);
        }
        let something = self.certifier.search.load(question);
        let (lower, upper) = self.certifier.search.ends();
        scratch.lower.copy_from_slice(lower);
        scratch.upper.copy_from_slice(upper);
        something
    }

    /// Answers the loaded question from the cache.
    fn look_up(&mut self, question: &Question<'_>) -> Option<Decision> {
        let query = self.scratch.as_box(question.output);
        let found = self.cache.find(Kind::Never, query, |record| Some(same(record, query)));
        let (event, decision) = match found {
            Some(true) => (Event::ExactHit, Some(Decision::Never { known: true, in_box: true })),
            Some(false) => (Event::NeverHit, Some(Decision::Never { known: true, in_box: true })),
            None if self.find_witness(question) => (Event::WitnessHit, Some(Decision::Possible)),
            None => (Event::Miss, None),
        };
        self.cache.count(question.output, event);
        decision
    }

    /// Looks for a known state of the loaded question in which its output can be chosen.
    fn find_witness(&mut self, question: &Question<'_>) -> bool {
        let Scratch { variables, lower, upper, competing, .. } = &self.scratch;
        let witness = &mut self.witness;
        // A point `p` of the box has `p ≤ upper` and `p ≥ lower`.
        let query = Record { output: question.output, competing, first: upper, second: lower };
        let accept = |record: Record<'_>| {
            witness.clear();
            witness.extend_from_slice(question.lower);
            for (&variable, &value) in variables.iter().zip(record.first) {
                witness[variable] = value;
            }
            question.facts.iter().all(|fact| fact.holds(witness)).then_some(())
        };
        self.cache.find(Kind::Witness, query, accept).is_some()
    }

    /// Whether the output of the loaded question is known to be chosen in the whole box. Only hits are counted: what
    /// is not found is looked up in other ways.
    fn is_always(&mut self, question: &Question<'_>) -> bool {
        let query = self.scratch.as_box(question.output);
        let found = self.cache.find(Kind::Always, query, |record| Some(same(record, query)));
        if let Some(same) = found {
            self.cache.count(question.output, if same { Event::ExactHit } else { Event::AlwaysHit });
        }
        found.is_some()
    }

    /// Stores an answer to the loaded question.
    fn store(&mut self, output: usize, decision: Decision) {
        match decision {
            Decision::Never { in_box: true, .. } => {
                self.cache.store(Kind::Never, self.scratch.as_box(output));
            }
            Decision::Possible => {
                let Scratch { variables, point, competing, .. } = &mut self.scratch;
                for (value, &variable) in point.iter_mut().zip(variables.iter()) {
                    *value = self.witness[variable];
                }
                self.cache.store(Kind::Witness, Record { output, competing, first: point, second: point });
            }
            Decision::Never { .. } | Decision::Unknown => {}
        }
    }
}

impl Scratch {
    /// The clipped box as a record.
    fn as_box(&self, output: usize) -> Record<'_> {
        Record { output, competing: &self.competing, first: &self.lower, second: &self.upper }
    }
}

fn same(record: Record<'_>, query: Record<'_>) -> bool {
    record.first == query.first && record.second == query.second && record.competing == query.competing
}

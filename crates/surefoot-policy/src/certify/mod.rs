//! Certification: sound and complete statements about a policy's decisions over a box of states.
//!
//! The question is always the same: *in this box, can this output be chosen?* ([`Question`]). Papers hand it to a
//! solver for neural networks or for tree ensembles (POLIC3 §3.3, policy predicate abstraction with applicability filtering §4). Here
//! it is answered by a cascade, cheapest first: a few points; bounds on score differences over the whole box; cuts and
//! splits of the box; enumeration of what is small. States are integers, so that is complete.
//!
//! The one invariant: an answer is about the arithmetic of the certifier, *including its rounding errors*, exactly as
//! [`crate::point`] defines it. The argument is in `docs/certification.md`.

mod cache;
mod evidence;
mod forest;
mod network;
mod output_set;
mod points;
mod question;
mod search;
mod space;

pub use cache::{CacheStatistics, CachedAnswer, CachedCertifier, CachedPossibility, DecisionCache};
pub use evidence::{Evidence, Leaf, Phase, Step};
pub use output_set::OutputSet;
pub use question::{Answer, Budget, Fact, Possibility, Question};

use crate::arithmetic::Arithmetic;
use crate::policy::{Policy, Scorer};
use crate::score::Score;
use forest::ForestBounder;
use network::NetworkBounder;
use points::Points;
use search::{Bounder, End, Search};
use space::Space;

/// Answers questions about a policy. It owns its working memory, so each thread needs its own: make one and clone it.
///
/// Once this memory has grown to what the questions need, [`Certifier::possible`], [`Certifier::decide`] and the bounds
/// allocate nothing, and [`Certifier::choices`] only its result. The exception is [`Arithmetic::Real`], where states that
/// enclosures leave open are evaluated with large integers.
#[derive(Debug, Clone)]
pub struct Certifier {
    arithmetic: Arithmetic,
    search: Search,
    bounder: AnyBounder,
    /// A second witness, for answers that have two.
    other: Vec<i32>,
    /// The output in question alone, while others are asked whether they can win against it.
    alone: OutputSet,
    /// The ends of a box in the dimensions of the policy.
    lower: Vec<i32>,
    upper: Vec<i32>,
}

#[derive(Debug, Clone)]
enum AnyBounder {
    Network(Box<NetworkBounder>),
    Forest(Box<ForestBounder>),
}

/// What answering the last question took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effort {
    /// Boxes that were bounded or enumerated.
    pub boxes: u64,
}

/// The outputs that can be chosen in a box.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// Those that can, each in some state.
    pub possible: OutputSet,
    /// Those for which the budget did not suffice.
    pub unknown: OutputSet,
}

impl Certifier {
    /// Prepares to answer questions about a policy in an arithmetic.
    pub fn new(policy: &Policy, arithmetic: Arithmetic) -> Certifier {
        let space = Space::new(policy);
        let origins = space.inputs(policy);
        let bounder = match &policy.scorer {
            Scorer::Network(network) => {
                AnyBounder::Network(Box::new(NetworkBounder::new(network, arithmetic, &origins)))
            }
            Scorer::Ensemble(ensemble) => {
                AnyBounder::Forest(Box::new(ForestBounder::new(ensemble, arithmetic, &origins)))
            }
        };
        let points = Points::new(policy, arithmetic, origins);
        Certifier {
            arithmetic,
            search: Search::new(space, points),
            bounder,
            other: Vec::new(),
            alone: OutputSet::new(),
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }

    /// The arithmetic that answers are about.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Whether the output can be chosen in some state of the box.
    pub fn possible(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> Possibility<'_> {
        match self.run(question, budget) {
            End::Never => Possibility::Never(&self.search.evidence),
            End::Possible => Possibility::Possible(&self.search.witness),
            End::OutOfBudget => Possibility::Unknown,
        }
    }

    /// Whether the output is chosen in no state of the box, in all, or in some.
    pub fn decide(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> Answer<'_> {
        match self.run(question, budget) {
            End::Never => return Answer::Never(&self.search.evidence),
            End::OutOfBudget => return Answer::Unknown,
            End::Possible => self.other.clone_from(&self.search.witness),
        }
        let mut alone = std::mem::take(&mut self.alone);
        alone.clear();
        alone.insert(question.output);
        let end = self.rival(question, &alone, budget);
        self.alone = alone;
        match end {
            End::Never => Answer::Always,
            End::Possible => Answer::Sometimes { chosen: &self.other, other: &self.search.witness },
            End::OutOfBudget => Answer::Unknown,
        }
    }

    /// Whether another output can be chosen in some state of the box: if and only if some output can win against this
    /// one `alone` somewhere. What the last answer took counts towards the budget.
    fn rival(&mut self, question: &Question<'_>, alone: &OutputSet, budget: &Budget<'_>) -> End {
        let mut boxes = self.search.boxes;
        let mut end = End::Never;
        for rival in question.competing.iter().filter(|&rival| rival != question.output) {
            let reversed = Question { output: rival, competing: alone, ..*question };
            let left = Budget { boxes: budget.boxes.saturating_sub(boxes), ..*budget };
            let result = self.run(&reversed, &left);
            boxes += self.search.boxes;
            self.search.boxes = boxes;
            match result {
                End::Never => {}
                End::Possible => return End::Possible,
                End::OutOfBudget => end = End::OutOfBudget,
            }
        }
        end
    }

    /// The outputs among `question.competing` that can be chosen in the box; `question.output` does not matter unless
    /// it competes. The budget is for each output.
    pub fn choices(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> Choices {
        let mut choices = Choices::default();
        for output in question.competing.iter() {
            match self.run(&Question { output, ..*question }, budget) {
                End::Never => {}
                End::Possible => _ = choices.possible.insert(output),
                End::OutOfBudget => _ = choices.unknown.insert(output),
            }
        }
        choices
    }

    /// A competing output that bounds show to win everywhere in the box, which has a state: then the output in question is never chosen. This is
    /// the first step of a search alone. No state is evaluated and the box is not split, so `None` means nothing.
    pub fn dominator(&mut self, question: &Question<'_>) -> Option<usize> {
        if !self.search.load(question) {
            return None;
        }
        let (lower, upper) = self.search.ends();
        match &mut self.bounder {
            AnyBounder::Network(bounder) => first_bounds(&mut **bounder, question, lower, upper),
            AnyBounder::Forest(bounder) => first_bounds(&mut **bounder, question, lower, upper),
        }
    }

    /// Bounds of an output's score in the states between `lower` and `upper`, which are not none.
    pub fn score_bounds(&mut self, lower: &[i32], upper: &[i32], output: usize) -> Score {
        self.load(lower, upper);
        match &mut self.bounder {
            AnyBounder::Network(bounder) => bounder.score_bounds(&self.lower, &self.upper, output),
            AnyBounder::Forest(bounder) => bounder.score_bounds(&self.lower, &self.upper, output),
        }
    }

    /// Bounds of the score of output `a` minus that of `b` in the states between `lower` and `upper`, which are not none.
    /// Scores that are not finite have no margin.
    pub fn margin_bounds(&mut self, lower: &[i32], upper: &[i32], a: usize, b: usize) -> Score {
        self.load(lower, upper);
        match &mut self.bounder {
            AnyBounder::Network(bounder) => bounder.margin_bounds(&self.lower, &self.upper, a, b),
            AnyBounder::Forest(bounder) => bounder.margin_bounds(&self.lower, &self.upper, a, b),
        }
    }

    /// Takes over the ends of a box, dimension by dimension.
    fn load(&mut self, lower: &[i32], upper: &[i32]) {
        let space = &self.search.space;
        for (ends, state) in [(&mut self.lower, lower), (&mut self.upper, upper)] {
            ends.clear();
            ends.extend((0..space.of_policy()).map(|dimension| state[space.variable(dimension).index()]));
        }
    }

    /// What the last answer took; for [`Certifier::choices`], that about the last output.
    pub fn effort(&self) -> Effort {
        Effort { boxes: self.search.boxes }
    }

    fn run(&mut self, question: &Question<'_>, budget: &Budget<'_>) -> End {
        match &mut self.bounder {
            AnyBounder::Network(bounder) => self.search.run(&mut **bounder, question, budget),
            AnyBounder::Forest(bounder) => self.search.run(&mut **bounder, question, budget),
        }
    }
}

/// What bounds of a question's box show.
fn first_bounds(
    bounder: &mut impl Bounder,
    question: &Question<'_>,
    lower: &[i32],
    upper: &[i32],
) -> Option<usize> {
    bounder.begin(question, lower, upper);
    bounder.dominator(lower, upper)
}

//! The space that a search works in: the variables that the policy reads, and those that only facts mention.
//!
//! Each variable is one *dimension*, however many inputs read it. The dimensions of the policy come first and are the
//! same for all questions.

use surefoot_model::VarId;

use super::question::Question;
use crate::policy::{Policy, PolicyInput};

/// Where an input of the scorer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputOrigin {
    Dimension(usize),
    Constant(i32),
}

/// Marks variables that are no dimension.
const NONE: u32 = u32::MAX;

/// Dimensions and facts of a question.
#[derive(Debug, Clone)]
pub(super) struct Space {
    /// The variable of each dimension.
    variables: Vec<VarId>,
    /// Number of dimensions that the policy reads.
    of_policy: usize,
    /// The dimension of each variable, by its index.
    dimensions: Vec<u32>,
    facts: Vec<CompiledFact>,
    terms: Vec<(u32, i64)>,
}

/// A fact over dimensions; its terms are a range of [`Space::terms`].
#[derive(Debug, Clone, Copy)]
struct CompiledFact {
    start: usize,
    end: usize,
    at_most: i128,
}

/// A change of a box: one bound of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Values above `at` are excluded.
    Above { dimension: usize, at: i32 },
    /// Values below `at` are excluded.
    Below { dimension: usize, at: i32 },
}

impl Space {
    pub(super) fn new(policy: &Policy) -> Self {
        let variables = policy.variables();
        let mut dimensions = Vec::new();
        for (dimension, variable) in variables.iter().enumerate() {
            if variable.index() >= dimensions.len() {
                dimensions.resize(variable.index() + 1, NONE);
            }
            dimensions[variable.index()] = dimension as u32;
        }
        let of_policy = variables.len();
        Space { variables, of_policy, dimensions, facts: Vec::new(), terms: Vec::new() }
    }

    /// The origin of each input of the policy.
    pub(super) fn inputs(&self, policy: &Policy) -> Vec<InputOrigin> {
        let origin = |input: &PolicyInput| match *input {
            PolicyInput::Variable(variable) => {
                InputOrigin::Dimension(self.dimensions[variable.index()] as usize)
            }
            PolicyInput::Constant(value) => InputOrigin::Constant(value),
        };
        policy.inputs.iter().map(origin).collect()
    }

    /// Number of dimensions.
    pub(super) fn size(&self) -> usize {
        self.variables.len()
    }

    /// Number of dimensions that the policy reads.
    pub(super) fn of_policy(&self) -> usize {
        self.of_policy
    }

    pub(super) fn variable(&self, dimension: usize) -> VarId {
        self.variables[dimension]
    }

    pub(super) fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// Takes over the facts of a question.
    pub(super) fn load(&mut self, question: &Question<'_>) {
        for variable in self.variables.drain(self.of_policy..) {
            self.dimensions[variable.index()] = NONE;
        }
        self.facts.clear();
        self.terms.clear();
        for fact in question.facts {
            let start = self.terms.len();
            for &(variable, coefficient) in &fact.terms {
                let dimension = self.dimension(variable);
                match self.terms[start..].iter_mut().find(|term| term.0 == dimension) {
                    Some(term) => term.1 += i64::from(coefficient),
                    None => self.terms.push((dimension, i64::from(coefficient))),
                }
            }
            let end = self.terms.len();
            self.facts.push(CompiledFact { start, end, at_most: fact.at_most.into() });
        }
    }

    fn dimension(&mut self, variable: VarId) -> u32 {
        if variable.index() >= self.dimensions.len() {
            self.dimensions.resize(variable.index() + 1, NONE);
        }
        let dimension = &mut self.dimensions[variable.index()];
        if *dimension == NONE {
            *dimension = self.variables.len() as u32;
            self.variables.push(variable);
        }
        *dimension
    }

    /// The facts: sums over dimensions, and their greatest values.
    pub(super) fn facts(&self) -> impl Iterator<Item = (&[(u32, i64)], i128)> {
        self.facts.iter().map(|fact| (&self.terms[fact.start..fact.end], fact.at_most))
    }

    /// Whether all facts hold at a point.
    pub(super) fn holds(&self, point: impl Fn(usize) -> i32) -> bool {
        self.facts().all(|(terms, at_most)| {
            let value = |&(dimension, coefficient): &(u32, i64)| {
                i128::from(coefficient) * i128::from(point(dimension as usize))
            };
            terms.iter().map(value).sum::<i128>() <= at_most
        })
    }

    /// A dimension, wider than a point, of a fact that does not hold everywhere in the box.
    pub(super) fn undecided(&self, lower: &[i32], upper: &[i32]) -> Option<usize> {
        let largest = |&(dimension, coefficient): &(u32, i64)| {
            let end = if coefficient > 0 { upper } else { lower }[dimension as usize];
            i128::from(coefficient) * i128::from(end)
        };
        let width = |dimension: usize| i64::from(upper[dimension]) - i64::from(lower[dimension]);
        self.facts()
            .filter(|(terms, at_most)| terms.iter().map(largest).sum::<i128>() > *at_most)
            .flat_map(|(terms, _)| terms.iter().map(|term| term.0 as usize))
            .filter(|&dimension| width(dimension) > 0)
            .max_by_key(|&dimension| width(dimension))
    }

    /// Narrows a box to what the facts leave of it and appends the changes to `cuts`. `false` if nothing is left.
    pub(super) fn clip(&self, lower: &mut [i32], upper: &mut [i32], cuts: &mut Vec<Cut>) -> bool {
        /// Bounds can creep towards each other for long; what is left over is split anyway.
        const ROUNDS: usize = 8;
        for _ in 0..ROUNDS {
            let before = cuts.len();
            for fact in &self.facts {
                if !self.clip_by(fact, lower, upper, cuts) {
                    return false;
                }
            }
            if cuts.len() == before {
                break;
            }
        }
        true
    }

    fn clip_by(
        &self,
        fact: &CompiledFact,
        lower: &mut [i32],
        upper: &mut [i32],
        cuts: &mut Vec<Cut>,
    ) -> bool {
        let terms = &self.terms[fact.start..fact.end];
        let least = |lower: &[i32], upper: &[i32], (dimension, coefficient): (u32, i64)| {
            let end = if coefficient > 0 { lower } else { upper }[dimension as usize];
            i128::from(coefficient) * i128::from(end)
        };
        let sum: i128 = terms.iter().map(|&term| least(lower, upper, term)).sum();
        let room = fact.at_most - sum;
        if room < 0 {
            return false;
        }
        for &(dimension, coefficient) in terms {
            let (index, coefficient) = (dimension as usize, i128::from(coefficient));
            // How far the variable may move from the end where its term is least.
            if coefficient > 0 {
                let at = i128::from(lower[index]) + room / coefficient;
                if at < i128::from(upper[index]) {
                    upper[index] = at as i32;
                    cuts.push(Cut::Above { dimension: index, at: at as i32 });
                }
            } else if coefficient < 0 {
                let at = i128::from(upper[index]) - room / -coefficient;
                if at > i128::from(lower[index]) {
                    lower[index] = at as i32;
                    cuts.push(Cut::Below { dimension: index, at: at as i32 });
                }
            }
        }
        true
    }
}

//! Parts of the state space: boxes of integer points.

use crate::certificate::{Domain, Fact, Region};

/// A box: the smallest and the largest value of each variable. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part(pub Vec<(i32, i32)>);

impl Part {
    /// All states.
    pub fn all(domains: &[Domain]) -> Part {
        Part(domains.iter().map(|domain| (domain.lower, domain.upper)).collect())
    }

    /// The states within the bounds of a region.
    pub fn of_region(domains: &[Domain], region: &Region) -> Part {
        let mut part = Part::all(domains);
        for bound in &region.bounds {
            part.0[bound.variable as usize] = (bound.lower, bound.upper);
        }
        part
    }

    pub fn is_point(&self) -> bool {
        self.0.iter().all(|(lower, upper)| lower == upper)
    }

    /// A part that is one of its states.
    pub fn corner(&self) -> Part {
        Part(self.0.iter().map(|range| (range.0, range.0)).collect())
    }

    /// The state at the lower ends.
    pub fn state(&self) -> Vec<i32> {
        self.0.iter().map(|range| range.0).collect()
    }

    /// One less than the number of values of a variable.
    pub fn width(&self, variable: usize) -> u32 {
        self.0[variable].1.abs_diff(self.0[variable].0)
    }

    /// The cut that halves the widest of some variables, if one of them has several values.
    pub fn halves(&self, variables: impl IntoIterator<Item = usize>) -> Option<Cut> {
        let open = variables.into_iter().filter(|&variable| self.width(variable) > 0);
        let widest = open.reduce(
            |best, variable| {
                if self.width(variable) > self.width(best) { variable } else { best }
            },
        );
        widest.map(|variable| {
            let middle = i64::from(self.0[variable].0) + i64::from(self.width(variable) / 2);
            Cut { variable, at: (middle + 1) as i32 }
        })
    }

    /// Whether both sides of a cut have states.
    pub fn is_cut(&self, cut: Cut) -> bool {
        let (lower, upper) = self.0[cut.variable];
        lower < cut.at && cut.at <= upper
    }

    /// Both sides of a cut; those without states are missing.
    pub fn split(self, cut: Cut) -> [Option<Part>; 2] {
        let (lower, upper) = self.0[cut.variable];
        if upper < cut.at {
            return [Some(self), None];
        }
        if lower >= cut.at {
            return [None, Some(self)];
        }
        let mut left = self.clone();
        let mut right = self;
        left.0[cut.variable].1 = cut.at - 1;
        right.0[cut.variable].0 = cut.at;
        [Some(left), Some(right)]
    }

    /// The largest value of `Σ factor · variable`.
    pub fn largest(&self, terms: &[(u32, i32)]) -> i128 {
        self.sum(terms, |factor| factor >= 0)
    }

    fn sum(&self, terms: &[(u32, i32)], takes_upper: impl Fn(i32) -> bool) -> i128 {
        let term = |&(variable, factor): &(u32, i32)| {
            let (lower, upper) = self.0[variable as usize];
            i128::from(factor) * i128::from(if takes_upper(factor) { upper } else { lower })
        };
        terms.iter().map(term).sum()
    }

    /// Whether a fact fails at every state.
    pub fn excludes(&self, fact: &Fact) -> bool {
        self.sum(&fact.terms, |factor| factor < 0) > i128::from(fact.limit)
    }

    /// Whether a fact holds at every state.
    pub fn entails(&self, fact: &Fact) -> bool {
        self.largest(&fact.terms) <= i128::from(fact.limit)
    }
}

/// Where a part is split: values below `at` on one side, all others on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub variable: usize,
    pub at: i32,
}

impl Fact {
    /// The variables that it is about.
    pub(crate) fn variables(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().map(|term| term.0 as usize)
    }
}

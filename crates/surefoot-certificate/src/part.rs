//! Parts of the state space: boxes of integer points.

use crate::certificate::{Domain, Fact, Region};

/// Known facts that are looked at, as facts about the same sum and as others: what is hostile takes time in proportion
/// to its size.
const MOST_EQUAL: usize = 4096;
const MOST_KNOWN: usize = 64;

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

    /// The largest magnitude of a variable.
    pub fn magnitude(&self, variable: usize) -> f64 {
        let (lower, upper) = self.0[variable];
        f64::from(lower).abs().max(f64::from(upper).abs())
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
    fn excludes(&self, fact: &Fact) -> bool {
        self.sum(&fact.terms, |factor| factor < 0) > i128::from(fact.limit)
    }

    /// A part that has all states at which facts hold; `None` if there are none, as far as bounds tell.
    ///
    /// The least value of a sum leaves room up to the limit; no variable can use more than that.
    pub fn clip(mut self, facts: &[Fact]) -> Option<Part> {
        for fact in facts {
            let room = i128::from(fact.limit) - self.sum(&fact.terms, |factor| factor < 0);
            if room < 0 {
                return None;
            }
            for &(variable, factor) in fact.terms.iter().filter(|term| term.1 != 0) {
                let (lower, upper) = &mut self.0[variable as usize];
                let steps = room / i128::from(factor).abs();
                if factor > 0 {
                    *upper = i128::from(*upper).min(i128::from(*lower) + steps) as i32;
                } else {
                    *lower = i128::from(*lower).max(i128::from(*upper) - steps) as i32;
                }
            }
        }
        Some(self)
    }

    /// Whether a fact holds at every state that satisfies the facts that are `known`.
    pub fn entails(&self, fact: &Fact, known: &[Fact]) -> bool {
        let terms = fact.terms.iter().map(|&(variable, factor)| (variable, factor.into()));
        self.bounds_sum(terms.collect(), fact.limit.into(), known)
    }

    /// Whether a sum, in which variables may occur several times, is at most a limit at every state that satisfies the
    /// facts that are `known`.
    ///
    /// It is if its largest value is. It also is if a known fact bounds one sum, and the largest value of the
    /// difference of both is at most the difference of the limits. Facts about the same sum are looked for first.
    pub fn bounds_sum(&self, terms: Vec<(u32, i128)>, limit: i128, known: &[Fact]) -> bool {
        let terms = collected(terms);
        let differs_by = |fact: &Fact, difference: &[(u32, i128)]| {
            self.largest_sum(difference) <= limit - i128::from(fact.limit)
        };
        let is_same = |fact: &&Fact| {
            let own = fact.terms.iter().map(|&(variable, factor)| (variable, i128::from(factor)));
            terms.len() == fact.terms.len() && own.eq(terms.iter().copied())
        };
        let minus = |fact: &Fact| {
            let negated = fact.terms.iter().map(|&(variable, factor)| (variable, -i128::from(factor)));
            collected(terms.iter().copied().chain(negated).collect())
        };
        self.largest_sum(&terms) <= limit
            || known.iter().take(MOST_EQUAL).filter(is_same).any(|fact| differs_by(fact, &[]))
            || known.iter().take(MOST_KNOWN).any(|fact| differs_by(fact, &minus(fact)))
    }

    fn largest_sum(&self, terms: &[(u32, i128)]) -> i128 {
        let term = |&(variable, factor): &(u32, i128)| {
            let (lower, upper) = self.0[variable as usize];
            factor * i128::from(if factor >= 0 { upper } else { lower })
        };
        terms.iter().map(term).sum()
    }

    /// A part that is one of its states and satisfies some facts, if that one is easily found: from the lower ends,
    /// variables go to where a fact that fails wants them, as far as need be.
    pub fn corner_with(&self, facts: &[Fact]) -> Option<Part> {
        let mut corner = self.corner();
        for fact in facts {
            let mut excess = corner.largest(&fact.terms) - i128::from(fact.limit);
            for &(variable, factor) in fact.terms.iter().filter(|term| term.1 != 0) {
                if excess <= 0 {
                    break;
                }
                let (lower, upper) = self.0[variable as usize];
                let value = i128::from(corner.0[variable as usize].0);
                // The least change of the value that is enough.
                let factor = i128::from(factor);
                let change = -(-excess).div_euclid(factor.abs()) * -factor.signum();
                let next = (value + change).clamp(lower.into(), upper.into());
                excess += factor * (next - value);
                corner.0[variable as usize] = (next as i32, next as i32);
            }
        }
        (!facts.iter().any(|fact| corner.excludes(fact))).then_some(corner)
    }
}

/// The terms of a sum with each variable once, ascending. Factors are products of numbers of 32 bits: 128 bits hold the
/// sum of all that there can be.
fn collected(mut terms: Vec<(u32, i128)>) -> Vec<(u32, i128)> {
    terms.sort_unstable();
    let same = terms.chunk_by(|a, b| a.0 == b.0);
    let sums = same.map(|same| (same[0].0, same.iter().map(|term| term.1).sum()));
    sums.filter(|term: &(u32, i128)| term.1 != 0).collect()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts() -> impl Strategy<Value = Part> {
        let range = (-3..4, 0..4).prop_map(|(lower, width)| (lower, lower + width));
        proptest::collection::vec(range, 3).prop_map(Part)
    }

    fn facts() -> impl Strategy<Value = Vec<Fact>> {
        let fact = (proptest::collection::vec(-2..3, 3), -6_i64..7)
            .prop_map(|(factors, limit)| Fact { terms: (0..).zip(factors).collect(), limit });
        proptest::collection::vec(fact, 0..4)
    }

    fn states(part: &Part) -> Vec<Part> {
        let mut states = vec![Vec::new()];
        for &(lower, upper) in &part.0 {
            let with = |state: &Vec<(i32, i32)>| {
                let state = state.clone();
                (lower..=upper).map(move |value| [state.clone(), vec![(value, value)]].concat())
            };
            states = states.iter().flat_map(with).collect();
        }
        states.into_iter().map(Part).collect()
    }

    fn holds(facts: &[Fact], state: &Part) -> bool {
        facts.iter().all(|fact| state.largest(&fact.terms) <= i128::from(fact.limit))
    }

    fn is_in(state: &Part, part: &Part) -> bool {
        state.0.iter().zip(&part.0).all(|(value, range)| range.0 <= value.0 && value.0 <= range.1)
    }

    proptest! {
        #[test]
        fn clipping_keeps_all_states_with_the_facts(part in parts(), facts in facts()) {
            let clipped = part.clone().clip(&facts);
            for state in states(&part).iter().filter(|state| holds(&facts, state)) {
                prop_assert!(clipped.as_ref().is_some_and(|clipped| is_in(state, clipped)));
            }
            prop_assert!(clipped.is_none_or(|clipped| states(&clipped).iter().all(|state| is_in(state, &part))));
        }

        #[test]
        fn corners_are_states_with_the_facts(part in parts(), facts in facts()) {
            if let Some(corner) = part.corner_with(&facts) {
                prop_assert!(corner.is_point() && is_in(&corner, &part) && holds(&facts, &corner));
            } else {
                prop_assert!(!part.is_point() || !holds(&facts, &part));
            }
        }

        #[test]
        fn entailed_facts_hold_where_known_ones_do(part in parts(), known in facts(), fact in facts()) {
            for fact in fact.iter().filter(|fact| part.entails(fact, &known)) {
                let with_known = states(&part).into_iter().filter(|state| holds(&known, state));
                prop_assert!(with_known.into_iter().all(|state| holds(std::slice::from_ref(fact), &state)));
            }
            prop_assert!(known.iter().all(|fact| part.entails(fact, &known)));
        }
    }
}

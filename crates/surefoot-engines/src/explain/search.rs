//! The least neighbourhood that has relevant variables: paper 004, Algorithm 2 (BSEARCH).
//!
//! The paper runs `VeriX` for each ε. Whether the result is empty does not depend on the order of variables (Lemma C): it is, if and only if the
//! choice is the same in the whole neighbourhood. So one question for each ε is enough, and `VeriX` runs once, for the result.
//!
//! Radii are integers, so the least is found exactly, without the precision τ.

use super::{Explainer, Neighbourhood, Stopped};

/// How far the choice is the same in all directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Radius {
    /// The choice is the same in all states whose values differ by at most so much: proved.
    pub same_within: u32,
    /// There is a state with another choice whose values differ by at most so much. `None` if there is none in the domains, or if none was
    /// found before a limit.
    pub differs_within: Option<u32>,
    /// Whether that was decided: the second number, if there is one, is the first plus 1. Not if a limit was reached.
    pub is_exact: bool,
}

impl Explainer<'_> {
    /// The least radius of a neighbourhood with another choice, which is the least ε with relevant variables.
    pub fn radius(&mut self, state: &[i32]) -> Radius {
        let chosen = self.begin(state);
        let most = self.variables.iter().map(|v| self.reach(state, v.index())).max().unwrap_or(0);
        let mut radius = Radius { same_within: 0, differs_within: None, is_exact: false };
        loop {
            // What lies between the two ends is open. Small neighbourhoods are cheap, so the first steps are small.
            let bound = radius.differs_within.map_or(most, |differs| differs - 1);
            if radius.same_within >= bound {
                radius.is_exact = true;
                return radius;
            }
            let middle = radius.same_within + (bound - radius.same_within).div_ceil(2);
            let next = radius.same_within.saturating_mul(2).saturating_add(1).min(middle);
            match self.other(&self.neighbours(state, Neighbourhood::Within(next)), &[], &chosen) {
                Ok(None) => radius.same_within = next,
                Ok(Some(other)) => radius.differs_within = Some(self.largest_change(state, &other)),
                Err(Stopped) => return radius,
            }
        }
    }

    /// The least ε, up to a precision `tau`, for which the part of the way from a state to another has relevant variables; `None` if the choice
    /// is the same all the way.
    pub fn epsilon(&mut self, state: &[i32], other: &[i32], tau: f64) -> Result<Option<f64>, Stopped> {
        let chosen = self.begin(state);
        let differs = |explainer: &mut Self, epsilon| {
            let states = explainer.neighbours(state, Neighbourhood::Towards { other, epsilon });
            Ok(explainer.other(&states, &[], &chosen)?.is_some())
        };
        if !differs(self, 1.0)? {
            return Ok(None);
        }
        let (mut same, mut least) = (0.0, 1.0);
        while least - same > tau {
            let epsilon = f64::midpoint(same, least);
            if epsilon <= same || epsilon >= least {
                break;
            }
            if differs(self, epsilon)? {
                least = epsilon;
            } else {
                same = epsilon;
            }
        }
        Ok(Some(least))
    }

    /// The farthest that a variable can stray from its value.
    fn reach(&self, state: &[i32], variable: usize) -> u32 {
        let (lower, upper) = (self.domain.lower[variable], self.domain.upper[variable]);
        if self.is_nominal(variable) {
            return u32::from(lower < upper);
        }
        lower.abs_diff(state[variable]).max(upper.abs_diff(state[variable]))
    }

    /// How much the variable that changes most does change.
    fn largest_change(&self, state: &[i32], other: &[i32]) -> u32 {
        let pairs = state.iter().zip(other).enumerate();
        let change = |(variable, (a, b)): (usize, (&i32, &i32))| {
            if self.is_nominal(variable) { u32::from(a != b) } else { a.abs_diff(*b) }
        };
        // Variables that the choice cannot depend on are no reason for another choice.
        pairs
            .filter(|(index, _)| self.variables.iter().any(|v| v.index() == *index))
            .map(change)
            .max()
            .unwrap_or(0)
    }
}

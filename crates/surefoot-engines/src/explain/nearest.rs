//! The nearest state with another choice: exact, by branch and bound.
//!
//! The distance of two states is the sum of the differences of their values; a location counts 1 if it differs, because locations have no order.
//!
//! A box is *one-sided* in a variable if its values lie all above or all below that of the state. There the difference is linear, so
//! "nearer than the best state so far" is a linear fact, which the certifier uses. In other variables the difference counts as 0 in the fact, which
//! excludes fewer states. A state that is found and not nearer lies far off in such a variable, or comes from the solver, which does not get the fact: then the box is
//! split there. Boxes are taken by the least distance that they allow, so the search ends when no box allows less than the best. Whatever is found is first moved
//! towards the state, value by value, as long as its choice stays another.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use surefoot_model::VarId;
use surefoot_policy::certify::Fact;

use super::{Explainer, Stopped};
use crate::symbolic::StateBox;

/// The nearest state with another choice, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The nearest state that was found, and its distance.
    pub state: Option<(Vec<i32>, u64)>,
    /// Every state with another choice is at least so far away: proved.
    pub at_least: u64,
    /// Whether the state is the nearest of all; if there is none, no state has another choice. Not if a limit was reached.
    pub is_exact: bool,
}

impl Explainer<'_> {
    /// The nearest state with another choice.
    pub fn nearest(&mut self, state: &[i32]) -> Nearest {
        let chosen = self.begin(state);
        let mut root = StateBox::of_state(state);
        for variable in self.variables.iter().map(|v| v.index()) {
            root.lower[variable] = self.domain.lower[variable];
            root.upper[variable] = self.domain.upper[variable];
        }
        let known = self.known.states().iter().min_by_key(|other| self.distance(state, other)).cloned();
        let mut best = known.map(|other| {
            let other = self.approach(&root, state, other, &chosen);
            let distance = self.distance(state, &other);
            (other, distance)
        });
        // Boxes by the least distance that they allow, the newest first.
        let mut open = BTreeMap::from([((0, Reverse(0)), root)]);
        let mut made = 0;
        while let Some(((least, number), mut states)) = open.pop_first() {
            if best.as_ref().is_some_and(|(_, distance)| least >= *distance) {
                break;
            }
            let most = best.as_ref().map(|(_, distance)| distance - 1);
            let facts = match most {
                Some(most) => vec![self.nearer(&mut states, state, most)],
                None => Vec::new(),
            };
            let found = match self.other(&states, &facts, &chosen) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(Stopped) => return Nearest { state: best, at_least: least.max(1), is_exact: false },
            };
            let found = self.approach(&states, state, found, &chosen);
            let distance = self.distance(state, &found);
            if most.is_none_or(|most| distance <= most) {
                best = Some((found, distance));
                open.insert((least, number), states);
            } else {
                for part in self.split_off(states, state, &found) {
                    made += 1;
                    open.insert((self.distance(state, &part.nearest_to(state)), Reverse(made)), part);
                }
            }
        }
        let at_least = best.as_ref().map_or(u64::MAX, |(_, distance)| *distance);
        Nearest { state: best, at_least, is_exact: true }
    }

    /// What a difference in one variable counts.
    fn cost(&self, variable: usize, a: i32, b: i32) -> u64 {
        if self.is_nominal(variable) { u64::from(a != b) } else { u64::from(a.abs_diff(b)) }
    }

    /// The distance of two states.
    pub fn distance(&self, a: &[i32], b: &[i32]) -> u64 {
        (0..a.len()).map(|variable| self.cost(variable, a[variable], b[variable])).sum()
    }

    /// Clips a box to values that states of at most this distance can have, and gives the fact that they satisfy. The box allows that distance.
    fn nearer(&self, states: &mut StateBox, state: &[i32], most: u64) -> Fact {
        let nearest = states.nearest_to(state);
        let least: Vec<u64> = (0..state.len()).map(|v| self.cost(v, state[v], nearest[v])).collect();
        let room = most - least.iter().sum::<u64>();
        let mut fact = Fact { terms: Vec::new(), at_most: most as i64 };
        for (v, &value) in state.iter().enumerate() {
            let (lower, upper) = (&mut states.lower[v], &mut states.upper[v]);
            if self.is_nominal(v) {
                if room == 0 && least[v] == 0 {
                    (*lower, *upper) = (value, value);
                }
                fact.at_most -= least[v] as i64;
                continue;
            }
            let farthest = u32::try_from(room + least[v]).unwrap_or(u32::MAX);
            *lower = value.saturating_sub_unsigned(farthest).max(*lower);
            *upper = value.saturating_add_unsigned(farthest).min(*upper);
            let sign = i64::from(*lower >= value) - i64::from(*upper <= value);
            if sign != 0 {
                fact.terms.push((VarId(v as u32), sign as i32));
                fact.at_most += sign * i64::from(value);
            }
        }
        fact
    }

    /// Moves a state with another choice towards the state, within a box.
    fn approach(
        &mut self,
        states: &StateBox,
        state: &[i32],
        mut found: Vec<i32>,
        chosen: &[usize],
    ) -> Vec<i32> {
        let nearest = states.nearest_to(state);
        loop {
            let before = found.clone();
            for v in 0..state.len() {
                let mut target = nearest[v];
                while found[v] != target {
                    let kept = std::mem::replace(&mut found[v], target);
                    if self.is_other(&found, chosen) {
                        break;
                    }
                    found[v] = kept;
                    if self.is_nominal(v) {
                        break;
                    }
                    // Half of the way is tried next, rounded towards where it is.
                    let way = i64::from(kept) - i64::from(target);
                    target = (i64::from(kept) - way / 2) as i32;
                }
            }
            if found == before {
                return found;
            }
        }
    }

    /// Splits a box so that a state that is farther away than allowed and the nearest state are in different parts.
    fn split_off(&self, states: StateBox, state: &[i32], found: &[i32]) -> [StateBox; 2] {
        let nearest = states.nearest_to(state);
        let excess = |v: &usize| self.cost(*v, state[*v], found[*v]) - self.cost(*v, state[*v], nearest[*v]);
        let v = (0..state.len()).max_by_key(excess).expect("there are variables");
        let (lower, upper, value) = (states.lower[v], states.upper[v], state[v]);
        let is_inside = lower < value && value < upper || self.is_nominal(v);
        let at = match (is_inside, found[v] > value) {
            (true, true) => value,
            (true, false) => value - 1,
            (false, _) => {
                let (least, greatest) = (found[v].min(nearest[v]), found[v].max(nearest[v]));
                i32::midpoint(least, greatest - 1)
            }
        };
        states.split(v, at)
    }
}

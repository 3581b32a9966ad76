//! Boxes of states: a lower and an upper bound for each variable.

use surefoot_certificate as certificate;
use surefoot_model::VarId;
use surefoot_solve::Bound;

use crate::random::Random;
use crate::task::Task;

/// A box of states: the least and the greatest value of each variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StateBox {
    /// The least values.
    pub lower: Vec<i32>,
    /// The greatest values.
    pub upper: Vec<i32>,
}

impl StateBox {
    /// All states of a task, whose variables are discrete.
    pub fn of_domains(task: &Task) -> StateBox {
        let bounds = task.system.variables.iter().map(|v| v.ty.bounds().expect("variables are discrete"));
        let (lower, upper) = bounds.unzip();
        StateBox { lower, upper }
    }

    /// The box of one state.
    pub fn of_state(state: &[i32]) -> StateBox {
        StateBox { lower: state.to_vec(), upper: state.to_vec() }
    }

    /// Whether a state is in the box.
    pub fn contains(&self, state: &[i32]) -> bool {
        let inside = |((value, lower), upper): ((&i32, &i32), &i32)| lower <= value && value <= upper;
        state.iter().zip(&self.lower).zip(&self.upper).all(inside)
    }

    /// A random state of the box.
    pub fn draw(&self, random: &mut Random) -> Vec<i32> {
        let value = |(&lower, &upper): (&i32, &i32)| {
            let size = i64::from(upper) - i64::from(lower) + 1;
            (i64::from(lower) + random.below(size as u64) as i64) as i32
        };
        self.lower.iter().zip(&self.upper).map(value).collect()
    }

    /// Whether another box is part of this one.
    pub fn includes(&self, other: &StateBox) -> bool {
        self.lower.iter().zip(&other.lower).all(|(own, other)| own <= other)
            && self.upper.iter().zip(&other.upper).all(|(own, other)| own >= other)
    }

    /// The part that is in another box, if there is any.
    pub fn intersection(&self, other: &StateBox) -> Option<StateBox> {
        let ends = |ours: &[i32], theirs: &[i32], pick: fn(i32, i32) -> i32| {
            ours.iter().zip(theirs).map(|(&ours, &theirs)| pick(ours, theirs)).collect::<Vec<i32>>()
        };
        let lower = ends(&self.lower, &other.lower, i32::max);
        let upper = ends(&self.upper, &other.upper, i32::min);
        let something = lower.iter().zip(&upper).all(|(lower, upper)| lower <= upper);
        something.then_some(StateBox { lower, upper })
    }

    /// The least box that holds this and another one.
    #[must_use]
    pub fn hull(&self, other: &StateBox) -> StateBox {
        let ends = |ours: &[i32], theirs: &[i32], pick: fn(i32, i32) -> i32| {
            ours.iter().zip(theirs).map(|(&ours, &theirs)| pick(ours, theirs)).collect()
        };
        StateBox {
            lower: ends(&self.lower, &other.lower, i32::min),
            upper: ends(&self.upper, &other.upper, i32::max),
        }
    }

    /// A box that holds this and another one, at least twice as wide where it must be wider, as far as the domain goes.
    #[must_use]
    pub fn stretch(&self, other: &StateBox, domain: &StateBox) -> StateBox {
        let mut hull = self.hull(other);
        for index in 0..self.lower.len() {
            let width = i64::from(self.upper[index]) - i64::from(self.lower[index]) + 1;
            if hull.lower[index] < self.lower[index] {
                let least = (i64::from(self.lower[index]) - width).max(domain.lower[index].into()) as i32;
                hull.lower[index] = hull.lower[index].min(least);
            }
            if hull.upper[index] > self.upper[index] {
                let most = (i64::from(self.upper[index]) + width).min(domain.upper[index].into()) as i32;
                hull.upper[index] = hull.upper[index].max(most);
            }
        }
        hull
    }

    /// The variables that have fewer values here than in the domain.
    pub fn narrow<'r>(&'r self, domain: &'r StateBox) -> impl Iterator<Item = usize> + 'r {
        let is_narrow = |&index: &usize| {
            self.lower[index] > domain.lower[index] || self.upper[index] < domain.upper[index]
        };
        (0..self.lower.len()).filter(is_narrow)
    }

    /// The bounds that a region of a certificate has.
    pub fn certificate_bounds(&self, domain: &StateBox) -> Vec<certificate::Bound> {
        let bound = |variable: usize| certificate::Bound {
            variable: variable as u32,
            lower: self.lower[variable],
            upper: self.upper[variable],
        };
        self.narrow(domain).map(bound).collect()
    }

    /// The bounds that are narrower than the domains.
    pub fn bounds(&self, domain: &StateBox) -> Vec<Bound> {
        let mut bounds = Vec::new();
        for index in 0..self.lower.len() {
            let variable = VarId(index as u32);
            if self.lower[index] > domain.lower[index] {
                bounds.push(Bound::AtLeast(variable, self.lower[index].into()));
            }
            if self.upper[index] < domain.upper[index] {
                bounds.push(Bound::AtMost(variable, self.upper[index].into()));
            }
        }
        bounds
    }

    /// The state of the box that is nearest to another, variable by variable.
    pub(crate) fn nearest_to(&self, state: &[i32]) -> Vec<i32> {
        let ends = self.lower.iter().zip(&self.upper);
        state.iter().zip(ends).map(|(&value, (&lower, &upper))| value.clamp(lower, upper)).collect()
    }

    /// The states up to a value of a variable, and those above it. Neither part may be empty.
    pub(crate) fn split(self, variable: usize, at: i32) -> [StateBox; 2] {
        debug_assert!(self.lower[variable] <= at && at < self.upper[variable], "both parts have states");
        let (mut low, mut high) = (self.clone(), self);
        low.upper[variable] = at;
        high.lower[variable] = at + 1;
        [low, high]
    }

    /// Two parts of which each has one of two states, which differ in one of some variables.
    pub(crate) fn split_between(self, a: &[i32], b: &[i32], variables: &[VarId]) -> [StateBox; 2] {
        let gap = |variable: &VarId| a[variable.index()].abs_diff(b[variable.index()]);
        let variable = variables.iter().max_by_key(|variable| gap(variable)).expect("the states differ");
        let variable = variable.index();
        let (least, greatest) = (a[variable].min(b[variable]), a[variable].max(b[variable]));
        self.split(variable, i32::midpoint(least, greatest - 1))
    }
}

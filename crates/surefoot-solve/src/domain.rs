//! The literals of one integer variable.

use rustc_hash::FxHashMap;

use crate::literal::Lit;

/// Bounds and the literals that were asked for.
#[derive(Debug)]
pub struct Domain {
    lower: i32,
    upper: i32,
    /// `v ≥ c` for some c in `lower + 1..=upper`, ascending.
    at_least: Vec<(i32, Lit)>,
    /// `v = c` for some c strictly between the bounds.
    pub equals: FxHashMap<i32, Lit>,
}

impl Domain {
    pub fn new(lower: i32, upper: i32) -> Self {
        Domain { lower, upper, at_least: Vec::new(), equals: FxHashMap::default() }
    }

    pub fn bounds(&self) -> (i32, i32) {
        (self.lower, self.upper)
    }

    /// The literal `v ≥ bound`, or the place where it is to be inserted.
    pub fn find(&self, bound: i64) -> Result<Lit, usize> {
        if bound <= i64::from(self.lower) {
            return Ok(Lit::TRUE);
        }
        if bound > i64::from(self.upper) {
            return Ok(Lit::FALSE);
        }
        self.at_least.binary_search_by_key(&bound, |&(c, _)| i64::from(c)).map(|place| self.at_least[place].1)
    }

    /// Inserts `v ≥ bound` and returns its neighbours: the next smaller and the next larger bound.
    pub fn insert(&mut self, place: usize, bound: i32, literal: Lit) -> (Option<Lit>, Option<Lit>) {
        let below = place.checked_sub(1).map(|below| self.at_least[below].1);
        let above = self.at_least.get(place).map(|&(_, above)| above);
        self.at_least.insert(place, (bound, literal));
        (below, above)
    }

    /// The values that no literal tells apart from this one.
    pub fn around(&self, value: i32) -> (i32, i32) {
        let count = self.at_least.partition_point(|&(c, _)| c <= value);
        let lower = if count == 0 { self.lower } else { self.at_least[count - 1].0 };
        let upper = self.at_least.get(count).map_or(self.upper, |&(c, _)| c - 1);
        (lower, upper)
    }

    /// The least value of a model. Literals are true up to some bound, so the largest true one is found by bisection.
    pub fn value(&self, holds: impl Fn(Lit) -> bool) -> i32 {
        let count = self.at_least.partition_point(|&(_, literal)| holds(literal));
        if count == 0 { self.lower } else { self.at_least[count - 1].0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_true_bound_is_the_value() {
        let mut domain = Domain::new(-3, 1_000_000);
        for (bound, literal) in [(5, 1), (900_000, 2), (7, 3)] {
            let place = domain.find(bound).expect_err("new");
            domain.insert(place, bound as i32, Lit::positive(literal));
        }
        assert_eq!(domain.value(|_| false), -3);
        assert_eq!(domain.value(|literal| literal != Lit::positive(2)), 7);
        assert_eq!(domain.value(|_| true), 900_000);
        for (value, around) in [
            (-3, (-3, 4)),
            (4, (-3, 4)),
            (5, (5, 6)),
            (899_999, (7, 899_999)),
            (1_000_000, (900_000, 1_000_000)),
        ] {
            assert_eq!(domain.around(value), around);
        }
        assert_eq!(domain.find(-3), Ok(Lit::TRUE));
        assert_eq!(domain.find(1_000_001), Ok(Lit::FALSE));
        assert_eq!(domain.find(7), Ok(Lit::positive(3)));
    }
}

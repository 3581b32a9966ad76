//! The values that are left for each variable of a search node: bounds, and for domains of up to 64 values also the holes.

use crate::variable::VarId;

/// Remaining values per variable, never empty.
#[derive(Debug, Clone)]
pub struct Domains {
    variables: Vec<Remaining>,
}

#[derive(Debug, Clone, Copy)]
struct Remaining {
    lower: i32,
    upper: i32,
    /// Lower bound of the original domain: bit `i` of `mask` stands for `base + i`.
    base: i32,
    /// The values left, if the original domain has at most 64 values; else 0, and only the bounds count.
    mask: u64,
}

impl Remaining {
    fn span(&self) -> u64 {
        (i64::from(self.upper) - i64::from(self.lower)) as u64
    }

    /// Keeps the values between the bounds; false if none is left.
    fn restrict(&mut self, lower: i64, upper: i64) -> bool {
        let lower = lower.max(i64::from(self.lower));
        let upper = upper.min(i64::from(self.upper));
        if lower > upper {
            return false;
        }
        (self.lower, self.upper) = (lower as i32, upper as i32);
        if self.mask != 0 {
            let low_bit = (self.lower - self.base) as u32;
            let width = self.span() as u32 + 1;
            self.mask &= (u64::MAX >> (64 - width)) << low_bit;
            return self.tighten();
        }
        true
    }

    fn remove(&mut self, value: i64) -> bool {
        if value < i64::from(self.lower) || value > i64::from(self.upper) {
            return true;
        }
        if self.mask != 0 {
            self.mask &= !(1 << (value as i32 - self.base));
            return self.tighten();
        }
        if value == i64::from(self.lower) {
            return self.restrict(value + 1, i64::MAX);
        }
        value != i64::from(self.upper) || self.restrict(i64::MIN, value - 1)
    }

    /// Moves the bounds to the outermost values of the mask.
    fn tighten(&mut self) -> bool {
        if self.mask == 0 {
            return false;
        }
        self.lower = self.base + self.mask.trailing_zeros() as i32;
        self.upper = self.base + self.mask.ilog2() as i32;
        true
    }
}

impl Domains {
    /// All values between the bounds.
    pub fn new(lower: &[i32], upper: &[i32]) -> Self {
        let variables = lower
            .iter()
            .zip(upper)
            .map(|(&lower, &upper)| {
                let size = i64::from(upper) - i64::from(lower) + 1;
                let mask = if size <= 64 { u64::MAX >> (64 - size) } else { 0 };
                Remaining { lower, upper, base: lower, mask }
            })
            .collect();
        Domains { variables }
    }

    /// The smallest value left.
    pub fn lower(&self, v: VarId) -> i32 {
        self.variables[v.index()].lower
    }

    /// The largest value left.
    pub fn upper(&self, v: VarId) -> i32 {
        self.variables[v.index()].upper
    }

    /// Lower and upper bounds of all variables.
    pub fn bounds(&self) -> (Vec<i32>, Vec<i32>) {
        self.variables.iter().map(|r| (r.lower, r.upper)).unzip()
    }

    /// Whether one value is left.
    pub fn is_fixed(&self, v: VarId) -> bool {
        self.lower(v) == self.upper(v)
    }

    /// Whether every value can be removed, not only the outermost ones.
    pub fn has_holes(&self, v: VarId) -> bool {
        self.variables[v.index()].mask != 0
    }

    /// How many values are left.
    pub fn size(&self, v: VarId) -> u64 {
        let r = &self.variables[v.index()];
        if r.mask != 0 { u64::from(r.mask.count_ones()) } else { r.span() + 1 }
    }

    /// The state of smallest values.
    pub fn first_state(&self) -> Vec<i32> {
        self.variables.iter().map(|r| r.lower).collect()
    }

    /// The next value left above `value`.
    pub fn next_value(&self, v: VarId, value: i32) -> Option<i32> {
        let r = &self.variables[v.index()];
        if value >= r.upper {
            return None;
        }
        if r.mask == 0 {
            return Some(value + 1);
        }
        // `value` is below the upper bound, so the shift is below 64 and a set bit remains.
        let above = r.mask >> (value - r.base + 1);
        Some(value + 1 + above.trailing_zeros() as i32)
    }

    /// Keeps the values between the bounds: whether anything changed, or `None` if no value is left.
    pub fn restrict(&mut self, v: VarId, lower: i64, upper: i64) -> Option<bool> {
        let r = &mut self.variables[v.index()];
        let before = (r.lower, r.upper);
        r.restrict(lower, upper).then(|| before != (r.lower, r.upper))
    }

    /// Removes a value: whether anything changed, or `None` if no value is left. An inner value of a large domain stays.
    pub fn remove(&mut self, v: VarId, value: i64) -> Option<bool> {
        let r = &mut self.variables[v.index()];
        let before = (r.lower, r.upper, r.mask);
        r.remove(value).then(|| before != (r.lower, r.upper, r.mask))
    }

    /// Splits the node: one branch per value of a small domain, two halves of a large one.
    pub fn branches(&self, v: VarId) -> Vec<Domains> {
        let with = |lower: i32, upper: i32| {
            let mut branch = self.clone();
            branch.restrict(v, i64::from(lower), i64::from(upper)).expect("branches are not empty");
            branch
        };
        let r = &self.variables[v.index()];
        if r.mask == 0 {
            let middle = (i64::from(r.lower) + i64::from(r.upper)).div_euclid(2) as i32;
            return vec![with(r.lower, middle), with(middle + 1, r.upper)];
        }
        let values = std::iter::successors(Some(r.lower), |&value| self.next_value(v, value));
        values.map(|value| with(value, value)).collect()
    }
}

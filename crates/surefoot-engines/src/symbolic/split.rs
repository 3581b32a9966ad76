//! Where boxes are split.

use super::state_box::StateBox;

/// A variable, and the parts of a box with its values below and from some number on.
pub type Split = (usize, StateBox, StateBox);

/// The first value of the upper half of several values. (Midpoints are rounded towards zero.)
pub fn middle(lower: i32, upper: i32) -> i32 {
    i32::midpoint(lower, upper - 1) + 1
}

/// Splits a box in the middle of its widest variable.
pub fn halve(source: &StateBox) -> Option<Split> {
    let width = |&index: &usize| source.upper[index].abs_diff(source.lower[index]);
    let widest = (0..source.lower.len()).max_by_key(width).filter(|index| width(index) > 0)?;
    Some(cut(source, widest, middle(source.lower[widest], source.upper[widest])))
}

/// Splits a box between two states of it: the variable and the parts; `None` if the states are the same.
pub fn separate(part: &StateBox, one: &[i32], other: &[i32]) -> Option<Split> {
    // Relative to the width of the box: what is far apart in a wide variable may be close.
    let distance = |&index: &usize| {
        let width = i64::from(part.upper[index]) - i64::from(part.lower[index]);
        let apart = (i64::from(one[index]) - i64::from(other[index])).abs();
        if apart == 0 { 0 } else { 1 + 1000 * apart / width }
    };
    let index = (0..one.len()).max_by_key(distance).filter(|index| distance(index) > 0)?;
    let at = i32::midpoint(one[index].min(other[index]), one[index].max(other[index]) - 1);
    Some(cut(part, index, at + 1))
}

/// The parts of a box with values of a variable below and from a number on.
pub fn cut(part: &StateBox, index: usize, at: i32) -> Split {
    let (mut low, mut high) = (part.clone(), part.clone());
    low.upper[index] = at - 1;
    high.lower[index] = at;
    (index, low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_halves_have_values(lower in any::<i32>(), width in 1..i32::MAX) {
            let upper = lower.saturating_add(width);
            prop_assume!(lower < upper);
            let middle = middle(lower, upper);
            prop_assert!(lower < middle && middle <= upper);
        }
    }

    #[test]
    fn halves_of_values_around_zero_are_smaller() {
        let states = StateBox { lower: vec![-1], upper: vec![0] };
        let (_, low, high) = halve(&states).expect("two states");
        assert_eq!((low.upper[0], high.lower[0]), (-1, 0));
    }
}

//! Thresholds of splits as integers.
//!
//! Inputs are integers, so each split `x < t` is `x < k` for an integer `k`, or sends all integers the same way.

use crate::parameter::{Number, Parameter};

/// How a threshold divides the integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntegerThreshold {
    AlwaysLeft,
    AlwaysRight,
    /// Integers below it go left. It is above the smallest integer, which goes left.
    Below(i32),
}

/// Finds the smallest integer that does not go left, by bisection: conversion to a floating-point number is monotone.
pub(crate) fn integer_threshold<C: Number>(threshold: Parameter) -> IntegerThreshold {
    let goes_left = |value: i32| C::of_int(value) < C::of(threshold);
    if goes_left(i32::MAX) {
        return IntegerThreshold::AlwaysLeft;
    }
    if !goes_left(i32::MIN) {
        return IntegerThreshold::AlwaysRight;
    }
    let (mut left, mut right) = (i32::MIN, i32::MAX);
    while i64::from(right) - i64::from(left) > 1 {
        let middle = i64::midpoint(i64::from(left), i64::from(right)) as i32;
        if goes_left(middle) { left = middle } else { right = middle }
    }
    IntegerThreshold::Below(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_between_integers() {
        let double = |t: f64| integer_threshold::<f64>(Parameter::from(t));
        assert_eq!(double(0.5), IntegerThreshold::Below(1));
        assert_eq!(double(1.0), IntegerThreshold::Below(1));
        assert_eq!(double(-0.5), IntegerThreshold::Below(0));
        assert_eq!(double(5e-324), IntegerThreshold::Below(1));
        assert_eq!(double(2_147_483_647.0), IntegerThreshold::Below(i32::MAX));
        assert_eq!(double(2_147_483_647.5), IntegerThreshold::AlwaysLeft);
        assert_eq!(double(-2_147_483_648.0), IntegerThreshold::AlwaysRight);
        assert_eq!(double(-2_147_483_647.5), IntegerThreshold::Below(i32::MIN + 1));
    }

    #[test]
    fn thresholds_among_rounded_integers() {
        let single = |t: f64| integer_threshold::<f32>(Parameter::from(t));
        // 2^24 + 1 rounds to 2^24, 2^24 + 3 to 2^24 + 4: ties go to the even single.
        assert_eq!(single(16_777_216.0), IntegerThreshold::Below(16_777_216));
        assert_eq!(single(16_777_218.0), IntegerThreshold::Below(16_777_218));
        assert_eq!(single(16_777_220.0), IntegerThreshold::Below(16_777_219));
        assert_eq!(single(5e-324), IntegerThreshold::Below(0));
        assert_eq!(single(2_147_483_648.0), IntegerThreshold::Below(2_147_483_584));
        assert_eq!(single(1e39), IntegerThreshold::AlwaysLeft);
    }
}

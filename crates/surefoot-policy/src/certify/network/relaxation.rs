//! Lines below and above an activation on an interval of its arguments.
//!
//! Each line is sound for the slope as computed: the slope is chosen first, with whatever rounding, and the constant is
//! then taken from the exact worst case for that slope, rounded outwards.
//!
//! - Piecewise linear functions are furthest from a line at their kinks or at the ends of the interval.
//! - Where the slope is at most the least derivative, the function minus the line increases, so its extremes are at
//!   the ends.
//! - A convex function minus a line is greatest at an end; a concave one is least at an end.
//! - A concave function lies below each tangent, a convex one above. A tangent with a slope that is off by `ε` is off by at most `ε`
//!   times the distance from the point of contact.

use super::graph::Function;

/// A line: slope and constant.
pub(super) type Line = (f64, f64);

/// What is known of an activation on an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Relaxation {
    /// A line below and a line above the function, as tight as we know.
    pub(super) low: Line,
    pub(super) high: Line,
    /// Constants of two more lines, below and above, of the same slope.
    pub(super) slope: f64,
    pub(super) parallel: (f64, f64),
    /// The least and greatest value.
    pub(super) values: (f64, f64),
}

/// Enlarges magnitudes against their own rounding, and that of the portable functions.
pub(super) const SLACK: f64 = 1.0 / (1_u64 << 44) as f64;

/// The line below an undecided `ReLU` has the slope of the branch on which most of the interval is, and where both are about the same,
/// one in between: measured, that is better than either.
pub(super) const STEEPNESS: f64 = 4.0;

/// Covers underflow.
pub(super) const TINY: f64 = f64::MIN_POSITIVE;

/// The relaxation of a function for arguments between `l` and `u`.
pub(super) fn relax(function: Function, l: f64, u: f64) -> Relaxation {
    match function {
        Function::Identity => line((1.0, 0.0), (l, u)),
        Function::Relu => relu(0.0, l, u),
        Function::LeakyRelu(slope) => relu(slope, l, u),
        Function::Clip(low, high) => clip(low, high, l, u),
        Function::Tanh => smooth(Smooth::TANH, l, u),
        Function::Sigmoid => smooth(Smooth::SIGMOID, l, u),
        Function::Elu(scale) => elu(scale, l, u),
    }
}

/// The relaxation of a line.
fn line(line: Line, values: (f64, f64)) -> Relaxation {
    Relaxation { low: line, high: line, slope: line.0, parallel: (line.1, line.1), values }
}

/// The relaxation by the least and greatest value alone.
fn constant(values: (f64, f64)) -> Relaxation {
    Relaxation { low: (0.0, values.0), high: (0.0, values.1), slope: 0.0, parallel: values, values }
}

/// `ReLU` with a slope below 0.
fn relu(below: f64, l: f64, u: f64) -> Relaxation {
    if l >= 0.0 {
        return line((1.0, 0.0), (l, u));
    }
    if u <= 0.0 {
        let outward = |value: f64| value.abs() * SLACK + TINY;
        let values = (below * l - outward(below * l), below * u + outward(below * u));
        return if below == 0.0 { line((0.0, 0.0), (0.0, 0.0)) } else { line((below, 0.0), values) };
    }
    if !(u - l).is_finite() {
        return constant((if below == 0.0 { 0.0 } else { f64::NEG_INFINITY }, f64::INFINITY));
    }
    let at_l = below * l;
    let chord = ((u - at_l) / (u - l)).clamp(below, 1.0);
    let above = above(&[(l, at_l), (u, u)], chord);
    let side = (u + l) / (u - l);
    let steep = (0.5 + STEEPNESS * side).clamp(0.0, 1.0);
    let steep = (below + (1.0 - below) * steep).clamp(below, 1.0);
    Relaxation {
        low: (steep, 0.0),
        high: (chord, above),
        slope: chord,
        // Any slope between the two is below both branches.
        parallel: (0.0, above),
        values: (at_l - at_l.abs() * SLACK, u),
    }
}

/// The least constant, rounded up, with which a line of this slope is above the points.
fn above(points: &[(f64, f64)], slope: f64) -> f64 {
    let constant = |&(x, y): &(f64, f64)| y - slope * x + (y.abs() + (slope * x).abs()) * SLACK;
    points.iter().map(constant).fold(f64::NEG_INFINITY, f64::max) + TINY
}

/// The greatest constant, rounded down, with which a line of this slope is below the points.
fn below(points: &[(f64, f64)], slope: f64) -> f64 {
    let constant = |&(x, y): &(f64, f64)| y - slope * x - (y.abs() + (slope * x).abs()) * SLACK;
    points.iter().map(constant).fold(f64::INFINITY, f64::min) - TINY
}

fn clip(low: f64, high: f64, l: f64, u: f64) -> Relaxation {
    let value = |x: f64| x.max(low).min(high);
    let values = (value(l), value(u));
    if low <= l && u <= high {
        return line((1.0, 0.0), values);
    }
    if u <= low || l >= high || !(u - l).is_finite() {
        return constant(values);
    }
    // Kinks inside of the interval, and its ends.
    let (first, last) = (low.max(l), high.min(u));
    let points = [(l, values.0), (first, value(first)), (last, value(last)), (u, values.1)];
    let slope_of = |from: (f64, f64), to: (f64, f64)| {
        let slope = (to.1 - from.1) / (to.0 - from.0);
        if slope.is_finite() { slope.clamp(0.0, 1.0) } else { 1.0 }
    };
    // The line above runs from the left end to the upper kink, the line below from the lower kink to the right end;
    // where there is no such kink, one of the two pieces is chosen.
    let high_slope = if u > high && l >= low {
        if high - l > u - high { 1.0 } else { 0.0 }
    } else {
        slope_of(points[0], points[2])
    };
    let low_slope = if l < low && u <= high {
        if u - low > low - l { 1.0 } else { 0.0 }
    } else {
        slope_of(points[1], points[3])
    };
    let slope = slope_of(points[0], points[3]);
    Relaxation {
        low: (low_slope, below(&points, low_slope)),
        high: (high_slope, above(&points, high_slope)),
        slope,
        parallel: (below(&points, slope), above(&points, slope)),
        values,
    }
}

/// An increasing function that is convex below 0 and concave above.
#[derive(Clone, Copy)]
struct Smooth {
    value: fn(f64) -> f64,
    /// The derivative, from a value; within [`DERIVATIVE_ERROR`].
    derivative: fn(f64) -> f64,
    range: (f64, f64),
}

/// Derivatives are at most 1 and computed from values by two operations.
const DERIVATIVE_ERROR: f64 = 1.0 / (1_u64 << 40) as f64;

impl Smooth {
    const TANH: Smooth = Smooth { value: libm::tanh, derivative: |y| 1.0 - y * y, range: (-1.0, 1.0) };
    const SIGMOID: Smooth =
        Smooth { value: |x| 1.0 / (1.0 + libm::exp(-x)), derivative: |y| y * (1.0 - y), range: (0.0, 1.0) };
}

fn smooth(function: Smooth, l: f64, u: f64) -> Relaxation {
    let (at_l, at_u) = ((function.value)(l), (function.value)(u));
    let outward = |value: f64, sign: f64| {
        (value + sign * (value.abs() * SLACK + TINY)).clamp(function.range.0, function.range.1)
    };
    let values = (outward(at_l, -1.0), outward(at_u, 1.0));
    if !(u - l).is_finite() {
        // Unknown arguments have unknown values, but not outside of the range.
        return constant(function.range);
    }
    let ends = [(l, at_l), (u, at_u)];
    let least = (function.derivative)(at_l).min((function.derivative)(at_u)) - DERIVATIVE_ERROR;
    let slope = least.max(0.0);
    let parallel = (below(&ends[..1], slope), above(&ends[1..], slope));
    let chord = ((at_u - at_l) / (u - l)).clamp(0.0, 1.0);
    let chord = if chord.is_nan() { slope } else { chord };
    let middle = f64::midpoint(l, u);
    let at_middle = (function.value)(middle);
    let tangent = (function.derivative)(at_middle).max(0.0);
    let error = 2.0 * DERIVATIVE_ERROR * (u - l);
    let (low, high) = if l >= 0.0 {
        ((chord, below(&ends, chord)), (tangent, above(&[(middle, at_middle)], tangent) + error))
    } else if u <= 0.0 {
        ((tangent, below(&[(middle, at_middle)], tangent) - error), (chord, above(&ends, chord)))
    } else {
        ((slope, parallel.0), (slope, parallel.1))
    };
    Relaxation { low, high, slope, parallel, values }
}

fn elu(scale: f64, l: f64, u: f64) -> Relaxation {
    if l >= 0.0 {
        return line((1.0, 0.0), (l, u));
    }
    let value = |x: f64| if x < 0.0 { scale * libm::expm1(x) } else { x };
    let (at_l, at_u) = (value(l), value(u));
    let outward = |value: f64| value.abs() * SLACK + TINY;
    let values = (at_l - outward(at_l), at_u + outward(at_u));
    // With a larger scale it is neither convex nor concave at 0.
    if scale > 1.0 || !(u - l).is_finite() {
        return constant(values);
    }
    let ends = [(l, at_l), (u, at_u)];
    // Convex: the derivative, scale · eˣ, is least at the left end.
    let slope = (scale * libm::exp(l) - DERIVATIVE_ERROR).max(0.0);
    let parallel = (below(&ends[..1], slope), above(&ends[1..], slope));
    let chord = ((at_u - at_l) / (u - l)).clamp(0.0, 1.0);
    let chord = if chord.is_nan() { slope } else { chord };
    let high = (chord, above(&ends, chord));
    let middle = f64::midpoint(l, u);
    let tangent = if middle >= 0.0 { 1.0 } else { scale * libm::exp(middle) };
    let error = 2.0 * DERIVATIVE_ERROR * (u - l);
    let low = (tangent, below(&[(middle, value(middle))], tangent) - error);
    Relaxation { low, high, slope, parallel, values }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn functions() -> impl Strategy<Value = Function> {
        prop_oneof![
            Just(Function::Identity),
            Just(Function::Relu),
            Just(Function::Tanh),
            Just(Function::Sigmoid),
            (0.0..1.0).prop_map(Function::LeakyRelu),
            (0.0..2.0).prop_map(Function::Elu),
            (-2.0..1.0, 0.0..2.0).prop_map(|(low, width)| Function::Clip(low, low + width)),
        ]
    }

    fn value(function: Function, x: f64) -> f64 {
        match function {
            Function::Identity => x,
            Function::Relu => x.max(0.0),
            Function::LeakyRelu(slope) => {
                if x < 0.0 {
                    slope * x
                } else {
                    x
                }
            }
            Function::Tanh => libm::tanh(x),
            Function::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
            Function::Elu(scale) => {
                if x < 0.0 {
                    scale * libm::expm1(x)
                } else {
                    x
                }
            }
            Function::Clip(low, high) => x.max(low).min(high),
        }
    }

    fn magnitudes() -> impl Strategy<Value = f64> {
        prop_oneof![-3.0_f64..3.0, -40.0..40.0, -1e-9..1e-9, Just(0.0), Just(1.0), Just(-1.0)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn the_function_is_between_its_lines(function in functions(), a in magnitudes(), b in magnitudes(), part in 0.0_f64..=1.0) {
            let (l, u) = (f64::min(a, b), f64::max(a, b));
            let relaxation = relax(function, l, u);
            for x in [l, u, (l + (u - l) * part).clamp(l, u), 0.0_f64.clamp(l, u)] {
                let y = value(function, x);
                // The comparison itself is rounded.
                let error = 1e-15 * (1.0 + x.abs() + y.abs());
                let Relaxation { low, high, slope, parallel, values } = relaxation;
                prop_assert!(low.0 * x + low.1 <= y + error, "{relaxation:?} at {x}: {y}");
                prop_assert!(high.0 * x + high.1 >= y - error, "{relaxation:?} at {x}: {y}");
                prop_assert!(slope * x + parallel.0 <= y + error, "{relaxation:?} at {x}: {y}");
                prop_assert!(slope * x + parallel.1 >= y - error, "{relaxation:?} at {x}: {y}");
                prop_assert!(values.0 <= y && y <= values.1, "{relaxation:?} at {x}: {y}");
                for slope in [low.0, high.0, slope] {
                    prop_assert!((0.0..=function.lipschitz()).contains(&slope), "{relaxation:?}");
                }
            }
        }
    }
}

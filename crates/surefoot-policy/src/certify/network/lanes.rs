//! Steps of backward passes between matrix products, on all lanes at once, compiled once per instruction set.
//!
//! This module needs `unsafe` code for the reasons given in [`crate::vector`]. Each public function checks the sizes of
//! its slices, and the indices that it is given, before the loops start.
#![allow(unsafe_code)]
// Everything must be inlined into the function that is compiled for the instructions; indices mirror the formulas.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

use super::indices::Indices;
use super::kernel::{LANE_BLOCK, for_each_instruction_set};
use super::lines::LinePairs;
use super::rounding::UNDERFLOW;
use crate::vector::Vector;

/// What a backward pass has collected besides coefficients, a number per lane.
#[derive(Debug, Clone, Default)]
pub(super) struct Constants {
    /// Constant part of a lower bound of each function.
    pub(super) low: Vec<f64>,
    /// Constant part of an upper bound, where both bounds have the same coefficients: with parallel lines.
    pub(super) high: Vec<f64>,
    /// Sum of the magnitudes of all terms that were added.
    pub(super) magnitude: Vec<f64>,
}

impl Constants {
    pub(super) fn reset(&mut self, lanes: usize) {
        for constants in [&mut self.low, &mut self.high, &mut self.magnitude] {
            constants.clear();
            constants.resize(lanes, 0.0);
        }
    }

    /// Panics unless there is a number of each kind for all lanes.
    fn check(&self, lanes: usize) {
        let all = [&self.low, &self.high, &self.magnitude];
        assert!(all.iter().all(|constants| constants.len() >= lanes), "constants for each lane");
    }
}

for_each_instruction_set! {
    /// Replaces values by their weighted sums, for lower bounds: coefficients below 0 meet the upper line, others the lower one. `from` has
    /// the coefficients of the values, `to` gets those of the sums.
    fn relax(
        alive: &Indices,
        lines: LinePairs<'_>,
        lanes: usize,
        from: &[f64],
        to: &mut [f64],
        constants: &mut Constants,
    ) by relax_body where {
        check_relax(alive, lines, lanes, from, to, constants);
    }
}

for_each_instruction_set! {
    /// Replaces values by their weighted sums, as [`relax`] does, for lower and upper bounds at once: the two lines of a value are parallel.
    fn relax_parallel(
        alive: &Indices,
        lines: LinePairs<'_>,
        lanes: usize,
        from: &[f64],
        to: &mut [f64],
        constants: &mut Constants,
    ) by relax_parallel_body where {
        check_relax(alive, lines, lanes, from, to, constants);
    }
}

/// Panics unless all values have lines and coefficients.
fn check_relax(
    alive: &Indices,
    lines: LinePairs<'_>,
    lanes: usize,
    from: &[f64],
    to: &[f64],
    constants: &Constants,
) {
    assert!(lanes.is_multiple_of(LANE_BLOCK), "whole blocks of lanes");
    constants.check(lanes);
    let height = (from.len().min(to.len()) / lanes.max(1)).min(lines.len());
    assert!(alive.bound() <= height, "each value has lines and coefficients");
}

#[inline(always)]
unsafe fn relax_body<V: Vector<Element = f64>>(
    alive: &Indices,
    lines: LinePairs<'_>,
    lanes: usize,
    from: &[f64],
    to: &mut [f64],
    constants: &mut Constants,
) {
    // Safety: as promised by the caller.
    unsafe { relax_all::<V, false>(alive, lines, lanes, from, to, constants) }
}

#[inline(always)]
unsafe fn relax_parallel_body<V: Vector<Element = f64>>(
    alive: &Indices,
    lines: LinePairs<'_>,
    lanes: usize,
    from: &[f64],
    to: &mut [f64],
    constants: &mut Constants,
) {
    // Safety: as promised by the caller.
    unsafe { relax_all::<V, true>(alive, lines, lanes, from, to, constants) }
}

#[inline(always)]
unsafe fn relax_all<V: Vector<Element = f64>, const PARALLEL: bool>(
    alive: &Indices,
    lines: LinePairs<'_>,
    lanes: usize,
    from: &[f64],
    to: &mut [f64],
    constants: &mut Constants,
) {
    let mut lane = 0;
    // Safety: lanes are within rows of `lanes` numbers; values were checked.
    unsafe {
        while lane + 4 * V::WIDTH <= lanes {
            relax_lanes::<V, PARALLEL, 4>(alive, lines, lanes, lane, from, to, constants);
            lane += 4 * V::WIDTH;
        }
        while lane + 2 * V::WIDTH <= lanes {
            relax_lanes::<V, PARALLEL, 2>(alive, lines, lanes, lane, from, to, constants);
            lane += 2 * V::WIDTH;
        }
        while lane < lanes {
            relax_lanes::<V, PARALLEL, 1>(alive, lines, lanes, lane, from, to, constants);
            lane += V::WIDTH;
        }
    }
}

#[inline(always)]
unsafe fn relax_lanes<V: Vector<Element = f64>, const PARALLEL: bool, const N: usize>(
    alive: &Indices,
    lines: LinePairs<'_>,
    lanes: usize,
    lane: usize,
    from: &[f64],
    to: &mut [f64],
    constants: &mut Constants,
) {
    // Safety: as for `relax_all`.
    unsafe {
        let mut low: [V; N] = read(&constants.low, lane);
        let mut high: [V; N] = read(&constants.high, lane);
        let mut magnitude: [V; N] = read(&constants.magnitude, lane);
        for &value in alive {
            let value = value as usize;
            let splat = |numbers: &[f64]| V::splat(*numbers.as_ptr().add(value));
            let (low_slope, low_constant) = (splat(lines.low.0), splat(lines.low.1));
            let (high_slope, high_constant) = (splat(lines.high.0), splat(lines.high.1));
            let bound = splat(lines.magnitudes);
            for v in 0..N {
                let place = value * lanes + lane + v * V::WIDTH;
                let coefficient = V::load(from.as_ptr().add(place));
                let positive = coefficient.relu();
                let negative = coefficient.subtract(positive);
                let new = if PARALLEL {
                    coefficient.multiply(low_slope)
                } else {
                    positive.multiply_add(low_slope, negative.multiply(high_slope))
                };
                new.store(to.as_mut_ptr().add(place));
                low[v] = low[v].add(positive.multiply_add(low_constant, negative.multiply(high_constant)));
                if PARALLEL {
                    high[v] =
                        high[v].add(positive.multiply_add(high_constant, negative.multiply(low_constant)));
                }
                magnitude[v] = coefficient.abs().multiply_add(bound, magnitude[v]);
            }
        }
        write(low, &mut constants.low, lane);
        if PARALLEL {
            write(high, &mut constants.high, lane);
        }
        write(magnitude, &mut constants.magnitude, lane);
    }
}

/// Reads vectors one after the other, from an index on.
#[inline(always)]
unsafe fn read<V: Vector<Element = f64>, const N: usize>(from: &[f64], first: usize) -> [V; N] {
    // Safety: the caller makes sure that the numbers are there.
    unsafe { std::array::from_fn(|v| V::load(from.as_ptr().add(first + v * V::WIDTH))) }
}

/// Writes vectors one after the other, from an index on.
#[inline(always)]
unsafe fn write<V: Vector<Element = f64>, const N: usize>(vectors: [V; N], to: &mut [f64], first: usize) {
    for (v, vector) in vectors.into_iter().enumerate() {
        // Safety: the caller makes sure that there is room.
        unsafe { vector.store(to.as_mut_ptr().add(first + v * V::WIDTH)) };
    }
}

for_each_instruction_set! {
    /// Takes the extremes of linear functions over a box: what was constant so far becomes the bounds. The box is given by centres
    /// and radii, which are exact; `growth` is `G` of [`super::rounding`].
    fn concretise(
        alive: &Indices,
        centres: &[f64],
        radii: &[f64],
        lanes: usize,
        coefficients: &[f64],
        growth: f64,
        constants: &mut Constants,
    ) by concretise_body where {
        assert!(lanes.is_multiple_of(LANE_BLOCK), "whole blocks of lanes");
        constants.check(lanes);
        let height = (coefficients.len() / lanes.max(1)).min(centres.len()).min(radii.len());
        assert!(alive.bound() <= height, "each input has ends and coefficients");
    }
}

#[inline(always)]
unsafe fn concretise_body<V: Vector<Element = f64>>(
    alive: &Indices,
    centres: &[f64],
    radii: &[f64],
    lanes: usize,
    coefficients: &[f64],
    growth: f64,
    constants: &mut Constants,
) {
    for lane in (0..lanes).step_by(V::WIDTH) {
        // Safety: lanes are within rows of `lanes` numbers; inputs were checked.
        unsafe {
            let [mut low]: [V; 1] = read(&constants.low, lane);
            let [mut high]: [V; 1] = read(&constants.high, lane);
            let [mut magnitude]: [V; 1] = read(&constants.magnitude, lane);
            for &input in alive {
                let input = input as usize;
                let (centre, radius) = (*centres.as_ptr().add(input), *radii.as_ptr().add(input));
                let coefficient = V::load(coefficients.as_ptr().add(input * lanes + lane));
                let size = coefficient.abs();
                let middle = coefficient.multiply(V::splat(centre));
                let reach = size.multiply(V::splat(radius));
                low = low.add(middle.subtract(reach));
                high = high.add(middle.add(reach));
                // The largest magnitude of the input.
                magnitude = size.multiply_add(V::splat(centre.abs() + radius), magnitude);
            }
            let error = magnitude.multiply_add(V::splat(growth), V::splat(UNDERFLOW));
            write([low.subtract(error)], &mut constants.low, lane);
            write([high.add(error)], &mut constants.high, lane);
            write([magnitude], &mut constants.magnitude, lane);
        }
    }
}

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

for_each_instruction_set! {
    /// Begins lower bounds of the weighted sums of neurons and of their negations, and replaces the values that are summed, as [`relax`]
    /// does. Neurons come in blocks of [`LANE_BLOCK`], of which the first is given; `columns` has `stride` weights, one per neuron, for each
    /// value. The first half of the lanes is for the sums.
    fn relax_weights(
        alive: &Indices,
        lines: LinePairs<'_>,
        columns: &[f64],
        stride: usize,
        blocks: &[u32],
        to: &mut [f64],
        constants: &mut Constants,
    ) by relax_weights_body where {
        check_weights(alive, lines, columns, stride, blocks, to, 2);
        constants.check(2 * LANE_BLOCK * blocks.len());
    }
}

for_each_instruction_set! {
    /// Begins lower and upper bounds of the weighted sums of neurons, as [`relax_weights`] and [`relax_parallel`] do.
    fn relax_weights_parallel(
        alive: &Indices,
        lines: LinePairs<'_>,
        columns: &[f64],
        stride: usize,
        blocks: &[u32],
        to: &mut [f64],
        constants: &mut Constants,
    ) by relax_weights_parallel_body where {
        check_weights(alive, lines, columns, stride, blocks, to, 1);
        constants.check(LANE_BLOCK * blocks.len());
    }
}

/// Panics unless all values have lines, weights and room for coefficients of `sides` lanes per neuron.
fn check_weights(
    alive: &Indices,
    lines: LinePairs<'_>,
    columns: &[f64],
    stride: usize,
    blocks: &[u32],
    to: &[f64],
    sides: usize,
) {
    assert!(blocks.iter().all(|&first| first as usize + LANE_BLOCK <= stride), "weights of all neurons");
    let room = to.len() / (sides * LANE_BLOCK * blocks.len()).max(1);
    let height = room.min(columns.len() / stride.max(1)).min(lines.len());
    assert!(alive.bound() <= height, "each value has lines, weights and coefficients");
}

#[inline(always)]
unsafe fn relax_weights_body<V: Vector<Element = f64>>(
    alive: &Indices,
    lines: LinePairs<'_>,
    columns: &[f64],
    stride: usize,
    blocks: &[u32],
    to: &mut [f64],
    constants: &mut Constants,
) {
    // Safety: as promised by the caller.
    unsafe { relax_all_weights::<V, false>(alive, lines, columns, stride, blocks, to, constants) }
}

#[inline(always)]
unsafe fn relax_weights_parallel_body<V: Vector<Element = f64>>(
    alive: &Indices,
    lines: LinePairs<'_>,
    columns: &[f64],
    stride: usize,
    blocks: &[u32],
    to: &mut [f64],
    constants: &mut Constants,
) {
    // Safety: as promised by the caller.
    unsafe { relax_all_weights::<V, true>(alive, lines, columns, stride, blocks, to, constants) }
}

#[inline(always)]
unsafe fn relax_all_weights<V: Vector<Element = f64>, const PARALLEL: bool>(
    alive: &Indices,
    lines: LinePairs<'_>,
    columns: &[f64],
    stride: usize,
    blocks: &[u32],
    to: &mut [f64],
    constants: &mut Constants,
) {
    let parts = LANE_BLOCK / V::WIDTH;
    let all = parts * blocks.len();
    // The place of a vector of neurons in a row of weights.
    let place = |vector: usize| blocks[vector / parts] as usize + vector % parts * V::WIDTH;
    let mut vector = 0;
    // Safety: vectors are within the blocks, which were checked, as were the values.
    unsafe {
        while vector + 4 <= all {
            let places = std::array::from_fn::<_, 4, _>(|v| place(vector + v));
            relax_weight_vectors::<V, PARALLEL, 4>(
                alive, lines, columns, stride, blocks, vector, places, to, constants,
            );
            vector += 4;
        }
        while vector < all {
            let places = [place(vector)];
            relax_weight_vectors::<V, PARALLEL, 1>(
                alive, lines, columns, stride, blocks, vector, places, to, constants,
            );
            vector += 1;
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn relax_weight_vectors<V: Vector<Element = f64>, const PARALLEL: bool, const N: usize>(
    alive: &Indices,
    lines: LinePairs<'_>,
    columns: &[f64],
    stride: usize,
    blocks: &[u32],
    vector: usize,
    places: [usize; N],
    to: &mut [f64],
    constants: &mut Constants,
) {
    let above = LANE_BLOCK * blocks.len();
    let lanes = if PARALLEL { above } else { 2 * above };
    let lane = vector * V::WIDTH;
    // Safety: as for `relax_all_weights`.
    unsafe {
        let mut low: [V; N] = read(&constants.low, lane);
        // Of the upper bounds or, negated, of the lower bounds of the negated functions.
        let mut high: [V; N] = read(&constants.high, lane);
        let mut magnitude: [V; N] = read(&constants.magnitude, lane);
        for &value in alive {
            let value = value as usize;
            let splat = |numbers: &[f64]| V::splat(*numbers.as_ptr().add(value));
            let (low_slope, low_constant) = (splat(lines.low.0), splat(lines.low.1));
            let (high_slope, high_constant) = (splat(lines.high.0), splat(lines.high.1));
            let bound = splat(lines.magnitudes);
            for v in 0..N {
                let coefficient = V::load(columns.as_ptr().add(value * stride + places[v]));
                let positive = coefficient.relu();
                let negative = coefficient.subtract(positive);
                let row = to.as_mut_ptr().add(value * lanes + lane + v * V::WIDTH);
                if PARALLEL {
                    coefficient.multiply(low_slope).store(row);
                } else {
                    positive.multiply_add(low_slope, negative.multiply(high_slope)).store(row);
                    let upper = positive.multiply_add(high_slope, negative.multiply(low_slope));
                    V::splat(0.0).subtract(upper).store(row.add(above));
                }
                low[v] = low[v].add(positive.multiply_add(low_constant, negative.multiply(high_constant)));
                high[v] = high[v].add(positive.multiply_add(high_constant, negative.multiply(low_constant)));
                magnitude[v] = coefficient.abs().multiply_add(bound, magnitude[v]);
            }
        }
        write(low, &mut constants.low, lane);
        write(magnitude, &mut constants.magnitude, lane);
        if PARALLEL {
            write(high, &mut constants.high, lane);
        } else {
            write(high.map(|sum| V::splat(0.0).subtract(sum)), &mut constants.low, above + lane);
            write(magnitude, &mut constants.magnitude, above + lane);
        }
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

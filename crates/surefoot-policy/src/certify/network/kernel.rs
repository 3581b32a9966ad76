//! The inner loops of bounding, compiled once per instruction set.
//!
//! All numbers are doubles. Sums are fused and in any order: what is rounded away is accounted for in
//! [`super::rounding`].
//!
//! Backward passes carry many linear functions at once. Their coefficients are stored value by value, a row of
//! *lanes* per value, one lane per function; the number of lanes is a multiple of [`LANE_BLOCK`].
//!
//! This module needs `unsafe` code for the reasons given in [`crate::vector`]. Each public function checks the sizes of
//! its slices, and the indices that it is given, before the loops start.
#![allow(unsafe_code)]
// Everything must be inlined into the function that is compiled for the instructions; indices mirror the formulas.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

use crate::batch::InstructionSet;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86;
use crate::vector::{Portable, Vector};

/// Lanes come in multiples of this number.
pub(super) const LANE_BLOCK: usize = 8;

/// Rows of values are padded to multiples of this number.
pub(super) const PADDING: usize = 8;

/// The smallest multiple of [`PADDING`] that is not below `size`.
pub(super) fn padded(size: usize) -> usize {
    size.next_multiple_of(PADDING)
}

/// Defines a function whose body is compiled for each instruction set.
macro_rules! for_each_instruction_set {
    ($(#[$doc:meta])* fn $name:ident ($($argument:ident: $type:ty),* $(,)?) by $body:ident where $check:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(super) fn $name(set: InstructionSet, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($argument: $type),*) {
                // Safety: as promised by the caller.
                unsafe { $body::<x86::__m256d>($($argument),*) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            unsafe fn avx512($($argument: $type),*) {
                // Safety: as promised by the caller.
                unsafe { $body::<x86::__m512d>($($argument),*) }
            }

            debug_assert!(set.is_available(), "this machine has no {set} instructions");
            $check
            // Safety: the sizes were just checked; sets are only made where they are available.
            unsafe {
                match set {
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Avx512 => avx512($($argument),*),
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Avx2 => avx2($($argument),*),
                    _ => $body::<Portable<f64, 2>>($($argument),*),
                }
            }
        }
    };
}

/// An input of a forward pass: its index, centre and radius.
#[derive(Debug, Clone, Copy)]
pub(super) struct Centred {
    pub(super) index: u32,
    pub(super) centre: f64,
    pub(super) radius: f64,
}

for_each_instruction_set! {
    /// Adds weighted inputs to sums: `centres += W·c` and `radii += |W|·r`. `columns` has a padded row of weights, one
    /// per sum, for each input.
    fn forward(columns: &[f64], inputs: &[Centred], centres: &mut [f64], radii: &mut [f64]) by forward_body where {
        assert!(centres.len().is_multiple_of(PADDING) && centres.len() == radii.len(), "padded sums");
        let rows = columns.len() / centres.len().max(1);
        assert!(inputs.iter().all(|input| (input.index as usize) < rows), "a row per input");
    }
}

#[inline(always)]
unsafe fn forward_body<V: Vector<Element = f64>>(
    columns: &[f64],
    inputs: &[Centred],
    centres: &mut [f64],
    radii: &mut [f64],
) {
    let size = centres.len();
    let mut first = 0;
    // Safety: `first` stays within the padded sums; rows of `columns` are as long as the sums.
    unsafe {
        while first + 4 * V::WIDTH <= size {
            forward_block::<V, 4>(columns, size, inputs, first, centres, radii);
            first += 4 * V::WIDTH;
        }
        while first < size {
            forward_block::<V, 1>(columns, size, inputs, first, centres, radii);
            first += V::WIDTH;
        }
    }
}

#[inline(always)]
unsafe fn forward_block<V: Vector<Element = f64>, const N: usize>(
    columns: &[f64],
    stride: usize,
    inputs: &[Centred],
    first: usize,
    centres: &mut [f64],
    radii: &mut [f64],
) {
    // Safety: as for `forward_body`.
    unsafe {
        let mut centre: [V; N] = std::array::from_fn(|v| V::load(centres.as_ptr().add(first + v * V::WIDTH)));
        let mut radius: [V; N] = std::array::from_fn(|v| V::load(radii.as_ptr().add(first + v * V::WIDTH)));
        for input in inputs {
            let row = columns.as_ptr().add(input.index as usize * stride + first);
            let by = V::splat(input.centre);
            let weights: [V; N] = std::array::from_fn(|v| V::load(row.add(v * V::WIDTH)));
            for v in 0..N {
                centre[v] = weights[v].multiply_add(by, centre[v]);
            }
            if input.radius != 0.0 {
                let by = V::splat(input.radius);
                for v in 0..N {
                    radius[v] = weights[v].abs().multiply_add(by, radius[v]);
                }
            }
        }
        for v in 0..N {
            centre[v].store(centres.as_mut_ptr().add(first + v * V::WIDTH));
            radius[v].store(radii.as_mut_ptr().add(first + v * V::WIDTH));
        }
    }
}

for_each_instruction_set! {
    /// Multiplies coefficients by a matrix: for each column `c` of `columns`, `to[c] += Σ weights[k][c] · from[k]` over
    /// the rows `k` of `rows`. `weights` has `stride` numbers per row; `from` and `to` have `lanes` numbers per value.
    fn backward(
        weights: &[f64],
        stride: usize,
        rows: &[u32],
        columns: &[u32],
        lanes: usize,
        from: &[f64],
        to: &mut [f64],
    ) by backward_body where {
        assert!(lanes.is_multiple_of(LANE_BLOCK), "whole blocks of lanes");
        let height = (from.len() / lanes.max(1)).min(weights.len() / stride.max(1));
        assert!(rows.iter().all(|&row| (row as usize) < height), "each row has weights and coefficients");
        let width = (to.len() / lanes.max(1)).min(stride);
        assert!(columns.iter().all(|&column| (column as usize) < width), "each column has a place");
    }
}

#[inline(always)]
unsafe fn backward_body<V: Vector<Element = f64>>(
    weights: &[f64],
    stride: usize,
    rows: &[u32],
    columns: &[u32],
    lanes: usize,
    from: &[f64],
    to: &mut [f64],
) {
    let mut lane = 0;
    // Safety: lanes are within rows of `lanes` numbers; rows and columns were checked.
    unsafe {
        while lane + 4 * V::WIDTH <= lanes {
            backward_lanes::<V, 4>(weights, stride, rows, columns, lanes, lane, from, to);
            lane += 4 * V::WIDTH;
        }
        while lane + 2 * V::WIDTH <= lanes {
            backward_lanes::<V, 2>(weights, stride, rows, columns, lanes, lane, from, to);
            lane += 2 * V::WIDTH;
        }
        while lane < lanes {
            backward_lanes::<V, 1>(weights, stride, rows, columns, lanes, lane, from, to);
            lane += V::WIDTH;
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn backward_lanes<V: Vector<Element = f64>, const N: usize>(
    weights: &[f64],
    stride: usize,
    rows: &[u32],
    columns: &[u32],
    lanes: usize,
    lane: usize,
    from: &[f64],
    to: &mut [f64],
) {
    // Safety: as for `backward_body`.
    unsafe {
        let (blocks, rest) = columns.as_chunks::<4>();
        for block in blocks {
            backward_block::<V, N, 4>(weights, stride, rows, *block, lanes, lane, from, to);
        }
        for &column in rest {
            backward_block::<V, N, 1>(weights, stride, rows, [column], lanes, lane, from, to);
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn backward_block<V: Vector<Element = f64>, const N: usize, const COLUMNS: usize>(
    weights: &[f64],
    stride: usize,
    rows: &[u32],
    columns: [u32; COLUMNS],
    lanes: usize,
    lane: usize,
    from: &[f64],
    to: &mut [f64],
) {
    // Safety: as for `backward_body`.
    unsafe {
        let target = |column: usize, v: usize| columns[column] as usize * lanes + lane + v * V::WIDTH;
        let mut sums = [[V::splat(0.0); N]; COLUMNS];
        for column in 0..COLUMNS {
            for v in 0..N {
                sums[column][v] = V::load(to.as_ptr().add(target(column, v)));
            }
        }
        for &row in rows {
            let coefficients = from.as_ptr().add(row as usize * lanes + lane);
            let values: [V; N] = std::array::from_fn(|v| V::load(coefficients.add(v * V::WIDTH)));
            let row = weights.as_ptr().add(row as usize * stride);
            for column in 0..COLUMNS {
                let weight = V::splat(*row.add(columns[column] as usize));
                for v in 0..N {
                    sums[column][v] = weight.multiply_add(values[v], sums[column][v]);
                }
            }
        }
        for column in 0..COLUMNS {
            for v in 0..N {
                sums[column][v].store(to.as_mut_ptr().add(target(column, v)));
            }
        }
    }
}

/// Bounds of an activation around one value, `x` being its argument: between `low.0·x + low.1` and `high.0·x + high.1`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lines {
    pub(super) low: (f64, f64),
    pub(super) high: (f64, f64),
    /// A constant that is added to the argument's coefficient times itself: the bias of the weighted sum.
    pub(super) bias: f64,
    /// Bounds all magnitudes that meet a coefficient here, for the rounding error.
    pub(super) magnitude: f64,
}

/// What a backward pass has collected besides coefficients, a number per lane.
#[derive(Debug, Clone, Default)]
pub(super) struct Constants {
    /// Constant part of a lower bound of each function.
    pub(super) low: Vec<f64>,
    /// Constant part of an upper bound, where both bounds have the same coefficients.
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
}

for_each_instruction_set! {
    /// Replaces values by their arguments: coefficients below 0 meet the upper line, others the lower one.
    fn relax(
        alive: &[u32],
        lines: &[Lines],
        lanes: usize,
        coefficients: &mut [f64],
        constants: &mut Constants,
    ) by relax_body where {
        assert!(lanes.is_multiple_of(LANE_BLOCK), "whole blocks of lanes");
        assert_eq!(lines.len(), alive.len(), "lines for each value");
        assert!(constants.low.len() >= lanes && constants.high.len() >= lanes && constants.magnitude.len() >= lanes);
        let height = coefficients.len() / lanes.max(1);
        assert!(alive.iter().all(|&value| (value as usize) < height), "each value has coefficients");
    }
}

#[inline(always)]
unsafe fn relax_body<V: Vector<Element = f64>>(
    alive: &[u32],
    lines: &[Lines],
    lanes: usize,
    coefficients: &mut [f64],
    constants: &mut Constants,
) {
    let mut lane = 0;
    // Safety: lanes are within rows of `lanes` numbers; values were checked.
    unsafe {
        while lane + 2 * V::WIDTH <= lanes {
            relax_lanes::<V, 2>(alive, lines, lanes, lane, coefficients, constants);
            lane += 2 * V::WIDTH;
        }
        while lane < lanes {
            relax_lanes::<V, 1>(alive, lines, lanes, lane, coefficients, constants);
            lane += V::WIDTH;
        }
    }
}

#[inline(always)]
unsafe fn relax_lanes<V: Vector<Element = f64>, const N: usize>(
    alive: &[u32],
    lines: &[Lines],
    lanes: usize,
    lane: usize,
    coefficients: &mut [f64],
    constants: &mut Constants,
) {
    // Safety: as for `relax_body`.
    unsafe {
        let read = |from: &[f64]| -> [V; N] {
            std::array::from_fn(|v| V::load(from.as_ptr().add(lane + v * V::WIDTH)))
        };
        let mut low = read(&constants.low);
        let mut high = read(&constants.high);
        let mut magnitude = read(&constants.magnitude);
        for (&value, lines) in alive.iter().zip(lines) {
            let row = coefficients.as_mut_ptr().add(value as usize * lanes + lane);
            let [low_slope, low_constant] = [V::splat(lines.low.0), V::splat(lines.low.1)];
            let [high_slope, high_constant] = [V::splat(lines.high.0), V::splat(lines.high.1)];
            let bias = V::splat(lines.bias);
            let bound = V::splat(lines.magnitude);
            for v in 0..N {
                let coefficient = V::load(row.add(v * V::WIDTH));
                let positive = coefficient.relu();
                let negative = coefficient.subtract(positive);
                let new = positive.multiply_add(low_slope, negative.multiply(high_slope));
                new.store(row.add(v * V::WIDTH));
                let constant = new.multiply(bias);
                low[v] = low[v]
                    .add(positive.multiply_add(low_constant, negative.multiply_add(high_constant, constant)));
                high[v] = high[v]
                    .add(positive.multiply_add(high_constant, negative.multiply_add(low_constant, constant)));
                magnitude[v] = coefficient.abs().multiply_add(bound, magnitude[v]);
            }
        }
        for v in 0..N {
            low[v].store(constants.low.as_mut_ptr().add(lane + v * V::WIDTH));
            high[v].store(constants.high.as_mut_ptr().add(lane + v * V::WIDTH));
            magnitude[v].store(constants.magnitude.as_mut_ptr().add(lane + v * V::WIDTH));
        }
    }
}

//! The inner loops of bounding, compiled once per instruction set.
//!
//! All numbers are doubles. Sums are fused and in any order: what is rounded away is accounted for in
//! [`super::rounding`].
//!
//! Here are matrix products; [`super::lanes`] and [`super::lines`] have the rest.
//!
//! Backward passes carry many linear functions at once. Their coefficients are stored value by value, a row of
//! *lanes* per value, one lane per function; the number of lanes is a multiple of [`LANE_BLOCK`].
//!
//! This module needs `unsafe` code for the reasons given in [`crate::vector`]. Each public function checks the sizes of
//! its slices, and the indices that it is given, before the loops start.
#![allow(unsafe_code)]
// Everything must be inlined into the function that is compiled for the instructions; indices mirror the formulas.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

use super::indices::Indices;
use crate::vector::Vector;

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
        pub(super) fn $name(set: $crate::batch::InstructionSet, $($argument: $type),*) {
            use $crate::batch::InstructionSet;
            #[cfg(target_arch = "x86_64")]
            use $crate::vector::x86;

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
                    _ => $body::<$crate::vector::Portable<f64, 2>>($($argument),*),
                }
            }
        }
    };
}

pub(super) use for_each_instruction_set;

for_each_instruction_set! {
    /// Adds weighted inputs to sums: `centres += W·c` and `radii += |W|·r`, over the inputs in `alive`. `columns` has a padded
    /// row of weights, one per sum, for each input.
    fn forward(
        columns: &[f64],
        alive: &Indices,
        from_centres: &[f64],
        from_radii: &[f64],
        centres: &mut [f64],
        radii: &mut [f64],
    ) by forward_body where {
        assert_eq!(centres.len(), radii.len(), "a radius per centre");
        check_inputs(columns, alive, from_centres.len().min(from_radii.len()), centres);
    }
}

for_each_instruction_set! {
    /// Adds weighted inputs to sums: `sums += W·v`, over the inputs in `alive`; `columns` as for [`forward`].
    fn add_products(columns: &[f64], alive: &Indices, values: &[f64], sums: &mut [f64]) by add_products_body where {
        check_inputs(columns, alive, values.len(), sums);
    }
}

for_each_instruction_set! {
    /// Adds inputs, weighted by magnitudes, to sums: `sums += |W|·v`, over the inputs in `alive`; `columns` as for [`forward`].
    fn add_magnitudes(columns: &[f64], alive: &Indices, values: &[f64], sums: &mut [f64]) by add_magnitudes_body where {
        check_inputs(columns, alive, values.len(), sums);
    }
}

/// Panics unless all inputs have a value, and a row of weights that is as long as the sums.
fn check_inputs(columns: &[f64], alive: &Indices, values: usize, sums: &[f64]) {
    assert!(sums.len().is_multiple_of(PADDING), "padded sums");
    let height = values.min(columns.len() / sums.len().max(1));
    assert!(alive.bound() <= height, "each input has weights and a value");
}

#[inline(always)]
unsafe fn forward_body<V: Vector<Element = f64>>(
    columns: &[f64],
    alive: &Indices,
    from_centres: &[f64],
    from_radii: &[f64],
    centres: &mut [f64],
    radii: &mut [f64],
) {
    // Safety: the inputs were checked.
    unsafe {
        add_weighted::<V, false>(columns, alive, from_centres, centres);
        add_weighted::<V, true>(columns, alive, from_radii, radii);
    }
}

#[inline(always)]
unsafe fn add_products_body<V: Vector<Element = f64>>(
    columns: &[f64],
    alive: &Indices,
    values: &[f64],
    sums: &mut [f64],
) {
    // Safety: the inputs were checked.
    unsafe { add_weighted::<V, false>(columns, alive, values, sums) }
}

#[inline(always)]
unsafe fn add_magnitudes_body<V: Vector<Element = f64>>(
    columns: &[f64],
    alive: &Indices,
    values: &[f64],
    sums: &mut [f64],
) {
    // Safety: the inputs were checked.
    unsafe { add_weighted::<V, true>(columns, alive, values, sums) }
}

#[inline(always)]
unsafe fn add_weighted<V: Vector<Element = f64>, const MAGNITUDES: bool>(
    columns: &[f64],
    alive: &Indices,
    values: &[f64],
    sums: &mut [f64],
) {
    let size = sums.len();
    let mut first = 0;
    // Safety: `first` stays within the padded sums; rows of `columns` are as long as the sums.
    unsafe {
        while first + 4 * V::WIDTH <= size {
            add_weighted_block::<V, MAGNITUDES, 4, 2>(columns, alive, values, first, sums);
            first += 4 * V::WIDTH;
        }
        while first + 2 * V::WIDTH <= size {
            add_weighted_block::<V, MAGNITUDES, 2, 4>(columns, alive, values, first, sums);
            first += 2 * V::WIDTH;
        }
        while first < size {
            add_weighted_block::<V, MAGNITUDES, 1, 4>(columns, alive, values, first, sums);
            first += V::WIDTH;
        }
    }
}

/// Adds to `N` vectors of sums, with `CHAINS` partial sums each, so that additions need not wait for each other.
#[inline(always)]
unsafe fn add_weighted_block<
    V: Vector<Element = f64>,
    const MAGNITUDES: bool,
    const N: usize,
    const CHAINS: usize,
>(
    columns: &[f64],
    alive: &Indices,
    values: &[f64],
    first: usize,
    sums: &mut [f64],
) {
    let stride = sums.len();
    // Safety: as for `add_weighted`.
    unsafe {
        let mut chains = [[V::splat(0.0); N]; CHAINS];
        chains[0] = std::array::from_fn(|v| V::load(sums.as_ptr().add(first + v * V::WIDTH)));
        let add = |chain: &mut [V; N], input: u32| {
            let row = columns.as_ptr().add(input as usize * stride + first);
            let by = V::splat(*values.as_ptr().add(input as usize));
            for v in 0..N {
                let weights = V::load(row.add(v * V::WIDTH));
                let weights = if MAGNITUDES { weights.abs() } else { weights };
                chain[v] = weights.multiply_add(by, chain[v]);
            }
        };
        let (groups, rest) = alive.as_chunks::<CHAINS>();
        for group in groups {
            for (chain, &input) in chains.iter_mut().zip(group) {
                add(chain, input);
            }
        }
        for (chain, &input) in chains.iter_mut().zip(rest) {
            add(chain, input);
        }
        for v in 0..N {
            let mut sum = chains[0][v];
            for chain in &chains[1..] {
                sum = sum.add(chain[v]);
            }
            sum.store(sums.as_mut_ptr().add(first + v * V::WIDTH));
        }
    }
}

for_each_instruction_set! {
    /// Multiplies coefficients by a matrix: for each column `c` of `columns`, `to[c] += Σ weights[k][c] · from[k]` over
    /// the rows `k` of `rows`; if `is_new`, `to` counts as 0. `weights` has `stride` numbers per row; `from` and `to` have `lanes`
    /// numbers per value.
    fn backward(
        weights: &[f64],
        stride: usize,
        rows: &Indices,
        columns: &Indices,
        lanes: usize,
        from: &[f64],
        to: &mut [f64],
        is_new: bool,
    ) by backward_body where {
        assert!(lanes.is_multiple_of(LANE_BLOCK), "whole blocks of lanes");
        let height = (from.len() / lanes.max(1)).min(weights.len() / stride.max(1));
        assert!(rows.bound() <= height, "each row has weights and coefficients");
        let width = (to.len() / lanes.max(1)).min(stride);
        assert!(columns.bound() <= width, "each column has a place");
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn backward_body<V: Vector<Element = f64>>(
    weights: &[f64],
    stride: usize,
    rows: &Indices,
    columns: &Indices,
    lanes: usize,
    from: &[f64],
    to: &mut [f64],
    is_new: bool,
) {
    let mut lane = 0;
    // Safety: lanes are within rows of `lanes` numbers; rows and columns were checked.
    unsafe {
        while lane + 4 * V::WIDTH <= lanes {
            backward_lanes::<V, 4>(weights, stride, rows, columns, lanes, lane, from, to, is_new);
            lane += 4 * V::WIDTH;
        }
        while lane + 2 * V::WIDTH <= lanes {
            backward_lanes::<V, 2>(weights, stride, rows, columns, lanes, lane, from, to, is_new);
            lane += 2 * V::WIDTH;
        }
        while lane < lanes {
            backward_lanes::<V, 1>(weights, stride, rows, columns, lanes, lane, from, to, is_new);
            lane += V::WIDTH;
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn backward_lanes<V: Vector<Element = f64>, const N: usize>(
    weights: &[f64],
    stride: usize,
    rows: &Indices,
    columns: &Indices,
    lanes: usize,
    lane: usize,
    from: &[f64],
    to: &mut [f64],
    is_new: bool,
) {
    // Safety: as for `backward_body`.
    unsafe {
        let mut columns = &**columns;
        // With few lanes, more columns keep the processor busy.
        if N == 1 {
            let (blocks, rest) = columns.as_chunks::<8>();
            for block in blocks {
                backward_block::<V, N, 8>(weights, stride, rows, *block, lanes, lane, from, to, is_new);
            }
            columns = rest;
        }
        // So does a last block of two columns instead of one.
        while columns.len() == 4 || columns.len() > 5 {
            let (block, rest) = columns.split_first_chunk::<4>().expect("four columns are left");
            backward_block::<V, N, 4>(weights, stride, rows, *block, lanes, lane, from, to, is_new);
            columns = rest;
        }
        if let Some((block, rest)) = columns.split_first_chunk::<3>() {
            backward_block::<V, N, 3>(weights, stride, rows, *block, lanes, lane, from, to, is_new);
            columns = rest;
        }
        if let Some((block, rest)) = columns.split_first_chunk::<2>() {
            backward_block::<V, N, 2>(weights, stride, rows, *block, lanes, lane, from, to, is_new);
            columns = rest;
        }
        for &column in columns {
            backward_block::<V, N, 1>(weights, stride, rows, [column], lanes, lane, from, to, is_new);
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn backward_block<V: Vector<Element = f64>, const N: usize, const COLUMNS: usize>(
    weights: &[f64],
    stride: usize,
    rows: &Indices,
    columns: [u32; COLUMNS],
    lanes: usize,
    lane: usize,
    from: &[f64],
    to: &mut [f64],
    is_new: bool,
) {
    // Safety: as for `backward_body`.
    unsafe {
        let columns = columns.map(|column| column as usize);
        let target = |column: usize, v: usize| columns[column] * lanes + lane + v * V::WIDTH;
        let mut sums = [[V::splat(0.0); N]; COLUMNS];
        if !is_new {
            for column in 0..COLUMNS {
                for v in 0..N {
                    sums[column][v] = V::load(to.as_ptr().add(target(column, v)));
                }
            }
        }
        let weights = columns.map(|column| weights.as_ptr().add(column));
        for &row in rows {
            let coefficients = from.as_ptr().add(row as usize * lanes + lane);
            let values: [V; N] = std::array::from_fn(|v| V::load(coefficients.add(v * V::WIDTH)));
            let row = row as usize * stride;
            for column in 0..COLUMNS {
                let weight = V::splat(*weights[column].add(row));
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

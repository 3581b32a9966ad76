//! The inner loops, compiled once per instruction set.
//!
//! [`dense`] is written once, over an abstract vector of lanes, and instantiated for 512-bit, 256-bit and portable
//! vectors. It keeps [`BLOCK`] neurons times a few vectors of lanes in registers and walks the inputs in index order:
//! per lane exactly the operations of [`crate::point`], with separate multiplications and additions. The other loops
//! are plain Rust, compiled once for each instruction set.
//!
//! This module needs `unsafe` code for the reasons given in [`crate::vector`]. What it relies on: an
//! [`InstructionSet`] is only passed in where it is available, and [`dense`] checks the sizes of all its slices
//! before the kernel starts.
#![allow(unsafe_code)]
// Everything must be inlined into the function that is compiled for the instructions; indices mirror the formulas.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

use super::LANES;
use super::dense::{BLOCK, DenseLayer};
use super::instruction_set::InstructionSet;
use super::sparse::SparseLayer;
use crate::enclosure::Enclosure;
use crate::layer::Activation;
use crate::parameter::Number;
use crate::point;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86;
use crate::vector::{Portable, Vector};

/// Computes `ROWS` neurons in `VECTORS` vectors of lanes, with fused multiply-adds if `FUSED`.
///
/// # Safety
///
/// `weights` has `ROWS` numbers per input, `biases` has `ROWS`; `from` and `to` have a row of [`LANES`] numbers per
/// input and per neuron, of which the first `VECTORS · WIDTH` are used.
#[inline(always)]
unsafe fn block<V: Vector, const FUSED: bool, const ROWS: usize, const VECTORS: usize>(
    inputs: usize,
    weights: *const V::Element,
    biases: *const V::Element,
    relu: bool,
    from: *const V::Element,
    to: *mut V::Element,
) {
    // Safety: all offsets are within what the caller promises.
    unsafe {
        let mut sums = [[V::splat(V::Element::ZERO); VECTORS]; ROWS];
        for row in 0..ROWS {
            let weight = V::splat(*weights.add(row));
            for vector in 0..VECTORS {
                sums[row][vector] = weight.multiply(V::load(from.add(vector * V::WIDTH)));
            }
        }
        for input in 1..inputs {
            let from = from.add(input * LANES);
            let mut values = [V::splat(V::Element::ZERO); VECTORS];
            for vector in 0..VECTORS {
                values[vector] = V::load(from.add(vector * V::WIDTH));
            }
            for row in 0..ROWS {
                let weight = V::splat(*weights.add(input * ROWS + row));
                for vector in 0..VECTORS {
                    let sum = sums[row][vector];
                    sums[row][vector] = if FUSED {
                        weight.multiply_add(values[vector], sum)
                    } else {
                        sum.add(weight.multiply(values[vector]))
                    };
                }
            }
        }
        for row in 0..ROWS {
            let bias = V::splat(*biases.add(row));
            for vector in 0..VECTORS {
                let sum = sums[row][vector].add(bias);
                let value = if relu { sum.relu() } else { sum };
                value.store(to.add(row * LANES + vector * V::WIDTH));
            }
        }
    }
}

/// Computes a layer for a chunk.
///
/// # Safety
///
/// As for [`dense`], and the machine has the instructions of `V`. `VECTORS · WIDTH` divides [`LANES`].
#[inline(always)]
unsafe fn layer<V: Vector, const FUSED: bool, const VECTORS: usize>(
    layer: &DenseLayer<V::Element>,
    from: *const V::Element,
    to: *mut V::Element,
) {
    let (inputs, relu) = (layer.inputs, layer.relu);
    for lane in (0..LANES).step_by(VECTORS * V::WIDTH) {
        for first in (0..layer.neurons()).step_by(BLOCK) {
            // Safety: blocks of neurons and lanes lie within the layer and the chunk.
            unsafe {
                let weights = layer.weights.as_ptr().add(first * inputs);
                let biases = layer.biases.as_ptr().add(first);
                let from = from.add(lane);
                let to = to.add(first * LANES + lane);
                match layer.neurons() - first {
                    1 => block::<V, FUSED, 1, VECTORS>(inputs, weights, biases, relu, from, to),
                    2 => block::<V, FUSED, 2, VECTORS>(inputs, weights, biases, relu, from, to),
                    3 => block::<V, FUSED, 3, VECTORS>(inputs, weights, biases, relu, from, to),
                    _ => block::<V, FUSED, BLOCK, VECTORS>(inputs, weights, biases, relu, from, to),
                }
            }
        }
    }
}

/// Numbers with vector kernels for each instruction set.
pub(super) trait VectorNumber: Number {
    /// Computes a layer for a chunk, with fused multiply-adds if `FUSED` and where there are such instructions.
    ///
    /// # Safety
    ///
    /// `set` is available; `from` and `to` have a row of [`LANES`] numbers per input and per neuron.
    unsafe fn layer<const FUSED: bool>(
        set: InstructionSet,
        layer: &DenseLayer<Self>,
        from: *const Self,
        to: *mut Self,
    );
}

macro_rules! vector_number {
    ($number:ty, $portable:literal, $avx2:ident, $avx512:ident) => {
        impl VectorNumber for $number {
            unsafe fn layer<const FUSED: bool>(
                set: InstructionSet,
                dense: &DenseLayer<Self>,
                from: *const Self,
                to: *mut Self,
            ) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                unsafe fn avx2<const FUSED: bool>(
                    dense: &DenseLayer<$number>,
                    from: *const $number,
                    to: *mut $number,
                ) {
                    // Safety: as promised by the caller of `VectorNumber::layer`.
                    unsafe { layer::<x86::$avx2, FUSED, 2>(dense, from, to) }
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f")]
                unsafe fn avx512<const FUSED: bool>(
                    dense: &DenseLayer<$number>,
                    from: *const $number,
                    to: *mut $number,
                ) {
                    // Safety: as promised by the caller of `VectorNumber::layer`.
                    unsafe { layer::<x86::$avx512, FUSED, 4>(dense, from, to) }
                }
                // Safety: the sizes are those that the caller promises, and so are the instructions.
                unsafe {
                    match set {
                        #[cfg(target_arch = "x86_64")]
                        InstructionSet::Avx512 => avx512::<FUSED>(dense, from, to),
                        #[cfg(target_arch = "x86_64")]
                        InstructionSet::Avx2 => avx2::<FUSED>(dense, from, to),
                        _ => layer::<Portable<$number, $portable>, FUSED, 2>(dense, from, to),
                    }
                }
            }
        }
    };
}

vector_number!(f64, 2, __m256d, __m512d);
vector_number!(f32, 4, __m256, __m512);

/// Computes a layer for a chunk: `from` has a row of lanes per input, `to` gets one per neuron.
pub(super) fn dense<T: VectorNumber>(set: InstructionSet, layer: &DenseLayer<T>, from: &[T], to: &mut [T]) {
    check(set, layer, from, to);
    // Safety: just checked.
    unsafe { T::layer::<false>(set, layer, from.as_ptr(), to.as_mut_ptr()) }
}

/// Like [`dense`], with fused multiply-adds where there are such instructions: faster, but not reproducible.
pub(super) fn dense_fused(set: InstructionSet, layer: &DenseLayer<f32>, from: &[f32], to: &mut [f32]) {
    check(set, layer, from, to);
    // Safety: just checked.
    unsafe { f32::layer::<true>(set, layer, from.as_ptr(), to.as_mut_ptr()) }
}

fn check<T>(set: InstructionSet, layer: &DenseLayer<T>, from: &[T], to: &[T]) {
    assert!(set.is_available(), "this machine has no {set} instructions");
    assert!(layer.weights.len() == layer.inputs * layer.neurons(), "one weight per input and neuron");
    assert!(from.len() >= layer.inputs * LANES, "one row per input");
    assert!(to.len() >= layer.neurons() * LANES, "one row per neuron");
}

/// Defines a function whose body, plain Rust, is compiled for each instruction set.
macro_rules! for_each_instruction_set {
    ($(#[$doc:meta])* fn $name:ident $(<$number:ident>)? ($($argument:ident: $type:ty),*) $body:block) => {
        $(#[$doc])*
        pub(super) fn $name $(<$number: VectorNumber>)? (set: InstructionSet, $($argument: $type),*) {
            #[inline(always)]
            fn body $(<$number: VectorNumber>)? ($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2 $(<$number: VectorNumber>)? ($($argument: $type),*) {
                body($($argument),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            fn avx512 $(<$number: VectorNumber>)? ($($argument: $type),*) {
                body($($argument),*);
            }

            assert!(set.is_available(), "this machine has no {set} instructions");
            match set {
                // Safety: the machine has the instructions, as just checked.
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx512 => unsafe { avx512($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx2 => unsafe { avx2($($argument),*) },
                _ => body($($argument),*),
            }
        }
    };
}

for_each_instruction_set! {
    /// Converts integers to numbers.
    fn convert<T>(from: &[i32], to: &mut [T]) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = T::of_int(from);
        }
    }
}

for_each_instruction_set! {
    /// Turns NaN, which never wins, into minus infinity.
    fn replace_nan<T>(values: &mut [T]) {
        for value in values {
            *value = if value.partial_cmp(&value).is_none() { T::NEG_INFINITY } else { *value };
        }
    }
}

for_each_instruction_set! {
    /// Finds the highest of a chunk's scores in each lane, the lowest output on ties.
    fn choose<T>(scores: &[T], choices: &mut [u32]) {
        let mut highest = [T::NEG_INFINITY; LANES];
        let choices = &mut choices[..LANES];
        choices.fill(0);
        for (output, row) in scores.chunks_exact(LANES).enumerate() {
            for lane in 0..LANES {
                let better = row[lane] > highest[lane];
                highest[lane] = if better { row[lane] } else { highest[lane] };
                choices[lane] = if better { output as u32 } else { choices[lane] };
            }
        }
    }
}

for_each_instruction_set! {
    /// Adds a factor times the magnitude of each value to its lane.
    fn add_magnitudes(factors: &[f32], values: &[f32], sums: &mut [f32; LANES]) {
        let mut local = *sums;
        for (&factor, row) in factors.iter().zip(values.chunks_exact(LANES)) {
            for lane in 0..LANES {
                local[lane] += factor * row[lane].abs();
            }
        }
        *sums = local;
    }
}

for_each_instruction_set! {
    /// Finds the smallest distance between any two of a chunk's scores in each lane.
    fn smallest_gaps(scores: &[f32], gaps: &mut [f32; LANES]) {
        let mut local = *gaps;
        for (output, row) in scores.chunks_exact(LANES).enumerate() {
            for other in scores[(output + 1) * LANES..].chunks_exact(LANES) {
                for lane in 0..LANES {
                    let gap = (row[lane] - other[lane]).abs();
                    local[lane] = if gap < local[lane] { gap } else { local[lane] };
                }
            }
        }
        *gaps = local;
    }
}

for_each_instruction_set! {
    /// Computes a sparse layer without its activation: `from` has a row of lanes per input, `to` gets one per neuron.
    fn sparse<T>(layer: &SparseLayer<T>, from: &[T], to: &mut [T]) {
        for (to, (entries, bias)) in to.chunks_exact_mut(LANES).zip(layer.rows()) {
            let Some((&(first, weight), others)) = entries.split_first() else {
                to.fill(bias);
                continue;
            };
            let row = |input: u32| &from[input as usize * LANES..][..LANES];
            let mut sums = [T::ZERO; LANES];
            for (sum, &value) in sums.iter_mut().zip(row(first)) {
                *sum = weight * value;
            }
            for &(input, weight) in others {
                for (sum, &value) in sums.iter_mut().zip(row(input)) {
                    *sum = *sum + weight * value;
                }
            }
            for (to, &sum) in to.iter_mut().zip(&sums) {
                *to = sum + bias;
            }
        }
    }
}

for_each_instruction_set! {
    /// Applies an activation to sums.
    fn activate<T>(values: &mut [T], activation: Activation) {
        if activation != Activation::Identity {
            for value in values {
                *value = point::activate(activation, *value);
            }
        }
    }
}

for_each_instruction_set! {
    /// Computes from enclosures what their values contribute to the radius of a sum.
    fn spread(centres: &[f64], radii: &[f64], growth: f64, spreads: &mut [f64]) {
        for ((spread, &centre), &radius) in spreads.iter_mut().zip(centres).zip(radii) {
            *spread = Enclosure { centre, radius }.spread(growth);
        }
    }
}

for_each_instruction_set! {
    /// Turns sums into enclosures of a layer's values, before any activation but `ReLU`.
    fn enclose(centres: &mut [f64], radii: &mut [f64], limit: f64, relu: bool) {
        for (centre, radius) in centres.iter_mut().zip(radii) {
            let sum = Enclosure::of_sum(*centre, *radius, limit);
            Enclosure { centre: *centre, radius: *radius } = if relu { sum.relu() } else { sum };
        }
    }
}

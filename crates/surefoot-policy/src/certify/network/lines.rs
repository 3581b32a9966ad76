//! Bounds of a layer's weighted sums and lines around its activations, for all neurons at once.
//!
//! `ReLU`s are bounded many at a time, without branches, compiled once per instruction set. The formulas are those of
//! [`super::relaxation`], operation by operation, so that both give the same numbers.
//!
//! This module needs `unsafe` code for the reasons given in [`crate::vector`]. Each public function checks the sizes of
//! its slices before the loops start.
#![allow(unsafe_code)]
// Everything must be inlined into the function that is compiled for the instructions.
#![allow(clippy::inline_always)]

use super::graph::Function;
use super::kernel::{PADDING, for_each_instruction_set};
use super::relaxation::{SLACK, STEEPNESS, TINY, relax};
use crate::batch::InstructionSet;
use crate::vector::Doubles;

/// Lines below and above activations, a number per value each. `x` being the weighted sum of a value without its bias, the value is
/// between `low.0·x + low.1` and `high.0·x + high.1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinePairs<'l> {
    pub(super) low: (&'l [f64], &'l [f64]),
    pub(super) high: (&'l [f64], &'l [f64]),
    /// Bounds all magnitudes that meet a coefficient here, for the rounding error.
    pub(super) magnitudes: &'l [f64],
}

impl LinePairs<'_> {
    /// Values that have all numbers.
    pub(super) fn len(&self) -> usize {
        let all = [self.low.0, self.low.1, self.high.0, self.high.1, self.magnitudes];
        all.map(<[f64]>::len).into_iter().min().unwrap_or(0)
    }
}

/// Lines around the activations of a layer, a number per neuron each; padded.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// Slopes and constants of lines below and above, as tight as we know.
    pub(super) low_slopes: Vec<f64>,
    pub(super) low_constants: Vec<f64>,
    pub(super) high_slopes: Vec<f64>,
    pub(super) high_constants: Vec<f64>,
    /// The constants, and what the slopes make of the biases.
    low_offsets: Vec<f64>,
    high_offsets: Vec<f64>,
    /// Slopes of parallel lines; their constants below and above, and what the slopes make of the biases.
    slopes: Vec<f64>,
    parallel_low: Vec<f64>,
    parallel_high: Vec<f64>,
    /// Biases of the weighted sums, with fixed inputs folded in.
    pub(super) biases: Vec<f64>,
    /// See [`LinePairs::magnitudes`].
    pub(super) magnitudes: Vec<f64>,
}

impl Lines {
    pub(super) fn resize(&mut self, size: usize) {
        for numbers in [
            &mut self.low_slopes,
            &mut self.low_constants,
            &mut self.high_slopes,
            &mut self.high_constants,
            &mut self.low_offsets,
            &mut self.high_offsets,
            &mut self.slopes,
            &mut self.parallel_low,
            &mut self.parallel_high,
            &mut self.biases,
            &mut self.magnitudes,
        ] {
            numbers.resize(size, 0.0);
        }
    }

    /// The lines that are as tight as we know.
    pub(super) fn tight(&self) -> LinePairs<'_> {
        LinePairs {
            low: (&self.low_slopes, &self.low_offsets),
            high: (&self.high_slopes, &self.high_offsets),
            magnitudes: &self.magnitudes,
        }
    }

    /// The parallel lines.
    pub(super) fn parallel(&self) -> LinePairs<'_> {
        LinePairs {
            low: (&self.slopes, &self.parallel_low),
            high: (&self.slopes, &self.parallel_high),
            magnitudes: &self.magnitudes,
        }
    }

    /// Whether the lines below and above a value differ: of `ReLU`s, those of undecided ones do.
    pub(super) fn is_open(&self, value: u32) -> bool {
        self.low_constants[value as usize] != self.high_constants[value as usize]
    }
}

/// What is known of the values of a layer besides lines, a number per neuron each; padded.
pub(super) struct Values<'v> {
    pub(super) low: &'v mut [f64],
    pub(super) high: &'v mut [f64],
    pub(super) centres: &'v mut [f64],
    pub(super) radii: &'v mut [f64],
    /// The largest magnitude of a value; NaN if one is not finite.
    pub(super) largest: &'v mut f64,
}

for_each_instruction_set! {
    /// Makes ends of weighted sums from their centres and radii, widened by what rounding can do: `slack` times the sum of magnitudes,
    /// which goes into `reaches`, if no value that is summed has a larger magnitude than `largest`. Other ends that hold, if there
    /// are any, are kept where they are better. There must be either.
    fn bound_sums(
        slack: f64,
        largest: f64,
        norms: &[f64],
        biases: &[f64],
        sums: Option<(&[f64], &[f64])>,
        others: Option<(&[f64], &[f64])>,
        low: &mut [f64],
        high: &mut [f64],
        reaches: &mut [f64],
    ) by bound_sums_body where {
        let size = low.len();
        assert!(size.is_multiple_of(PADDING), "padded");
        let sizes = [norms.len(), biases.len(), high.len(), reaches.len()];
        assert!(sizes.iter().all(|&other| other >= size), "a number of each kind for each neuron");
        assert!(sums.is_none_or(|(one, other)| one.len().min(other.len()) >= size), "sums of all neurons");
        assert!(others.is_none_or(|(one, other)| one.len().min(other.len()) >= size), "ends of all neurons");
        assert!(sums.is_some() || others.is_some(), "something to make ends from");
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn bound_sums_body<V: Doubles>(
    slack: f64,
    largest: f64,
    norms: &[f64],
    biases: &[f64],
    sums: Option<(&[f64], &[f64])>,
    others: Option<(&[f64], &[f64])>,
    low: &mut [f64],
    high: &mut [f64],
    reaches: &mut [f64],
) {
    for first in (0..low.len()).step_by(V::WIDTH) {
        // Safety: the sizes were checked.
        unsafe {
            let get = |from: &[f64]| V::load(from.as_ptr().add(first));
            let reach = get(norms).multiply_add(V::splat(largest), get(biases).abs());
            let error = reach.multiply_add(V::splat(slack), V::splat(TINY));
            let (mut least, mut greatest) = (V::splat(f64::NEG_INFINITY), V::splat(f64::INFINITY));
            if let Some((centres, radii)) = sums {
                let (centre, radius) = (get(centres), get(radii).add(error));
                (least, greatest) = (centre.subtract(radius), centre.add(radius));
            }
            if let Some((other_low, other_high)) = others {
                let (other_least, other_greatest) = (get(other_low), get(other_high));
                least = other_least.if_below(least, least, other_least);
                greatest = greatest.if_below(other_greatest, greatest, other_greatest);
            }
            least.store(low.as_mut_ptr().add(first));
            greatest.store(high.as_mut_ptr().add(first));
            reach.store(reaches.as_mut_ptr().add(first));
        }
    }
}

/// Finds lines around the activations of `size` neurons, whose arguments are between the ends, and whose biases are loaded. `reaches` are the sums of magnitudes of
/// the terms of each argument.
pub(super) fn relax_layer(
    set: InstructionSet,
    function: Function,
    size: usize,
    ends: (&[f64], &[f64]),
    reaches: &[f64],
    lines: &mut Lines,
    values: &mut Values<'_>,
) {
    match function {
        Function::Relu => relax_relus(set, 0.0, ends.0, ends.1, reaches, lines, values),
        Function::LeakyRelu(below) => relax_relus(set, below, ends.0, ends.1, reaches, lines, values),
        _ => relax_each(function, (&ends.0[..size], &ends.1[..size]), reaches, lines, values),
    }
}

fn relax_each(
    function: Function,
    (low, high): (&[f64], &[f64]),
    reaches: &[f64],
    lines: &mut Lines,
    values: &mut Values<'_>,
) {
    *values.largest = 0.0;
    for neuron in 0..low.len() {
        let relaxation = relax(function, low[neuron], high[neuron]);
        (lines.low_slopes[neuron], lines.low_constants[neuron]) = relaxation.low;
        (lines.high_slopes[neuron], lines.high_constants[neuron]) = relaxation.high;
        lines.slopes[neuron] = relaxation.slope;
        let offset = |slope: f64, constant: f64| constant + slope * lines.biases[neuron];
        lines.low_offsets[neuron] = offset(relaxation.low.0, relaxation.low.1);
        lines.high_offsets[neuron] = offset(relaxation.high.0, relaxation.high.1);
        lines.parallel_low[neuron] = offset(relaxation.slope, relaxation.parallel.0);
        lines.parallel_high[neuron] = offset(relaxation.slope, relaxation.parallel.1);
        let constants = [relaxation.low.1, relaxation.high.1, relaxation.parallel.0, relaxation.parallel.1];
        let constant = constants.iter().map(|constant| constant.abs()).fold(0.0, f64::max);
        lines.magnitudes[neuron] = ((1.0 + function.lipschitz()) * reaches[neuron] + 2.0 * constant) * 1.01;
        let (least, greatest) = relaxation.values;
        let centre = 0.5 * (least + greatest);
        (values.low[neuron], values.high[neuron]) = (least, greatest);
        values.centres[neuron] = centre;
        values.radii[neuron] = (greatest - centre).max(centre - least);
        let is_finite = greatest.is_finite() && least.is_finite();
        let magnitude = if is_finite { greatest.max(-least) } else { f64::NAN };
        // `max` would ignore NaN.
        if !(magnitude <= *values.largest || values.largest.is_nan()) {
            *values.largest = magnitude;
        }
    }
}

for_each_instruction_set! {
    /// As [`relax_layer`], for `ReLU`s with a slope below 0.
    fn relax_relus(
        below: f64,
        low: &[f64],
        high: &[f64],
        reaches: &[f64],
        lines: &mut Lines,
        values: &mut Values<'_>,
    ) by relax_relus_body where {
        let size = low.len();
        assert!(size.is_multiple_of(PADDING), "padded");
        let sizes = [
            high.len(),
            reaches.len(),
            lines.low_slopes.len(),
            lines.low_constants.len(),
            lines.high_slopes.len(),
            lines.high_constants.len(),
            lines.slopes.len(),
            lines.parallel_low.len(),
            lines.parallel_high.len(),
            lines.low_offsets.len(),
            lines.high_offsets.len(),
            lines.biases.len(),
            lines.magnitudes.len(),
            values.low.len(),
            values.high.len(),
            values.centres.len(),
            values.radii.len(),
        ];
        assert!(sizes.iter().all(|&other| other >= size), "a number of each kind for each neuron");
    }
}

#[inline(always)]
unsafe fn relax_relus_body<V: Doubles>(
    below: f64,
    low: &[f64],
    high: &[f64],
    reaches: &[f64],
    lines: &mut Lines,
    values: &mut Values<'_>,
) {
    /// `u` is not above 0 if it is below this, and not NaN.
    const SMALLEST: f64 = f64::from_bits(1);
    // Safety: the machine has the instructions.
    let (mut largest, mut poison) = unsafe { (V::splat(0.0), V::splat(0.0)) };
    for first in (0..low.len()).step_by(V::WIDTH) {
        // Safety: the sizes were checked.
        unsafe {
            let [zero, one, infinity] = [0.0, 1.0, f64::INFINITY].map(|number| V::splat(number));
            let [slack, tiny] = [SLACK, TINY].map(|number| V::splat(number));
            let slope_below = V::splat(below);
            let (l, u) = (V::load(low.as_ptr().add(first)), V::load(high.as_ptr().add(first)));
            let (at_l, at_u) = (slope_below.multiply(l), slope_below.multiply(u));
            let width = u.subtract(l);
            let limit = |slope: V, least: V| {
                let slope = slope.if_below(least, least, slope);
                one.if_below(slope, one, slope)
            };
            let chord = limit(u.subtract(at_l).divide(width), slope_below);
            // The constant of a line above a point.
            let above = |x: V, y: V| {
                let on_line = chord.multiply(x);
                y.subtract(on_line).add(y.abs().add(on_line.abs()).multiply(slack))
            };
            let (left, right) = (above(l, at_l), above(u, u));
            let above = left.if_below(right, right, left).add(tiny);
            let side = u.add(l).divide(width);
            let steep = limit(V::splat(0.5).add(V::splat(STEEPNESS).multiply(side)), zero);
            let steep = limit(slope_below.add(one.subtract(slope_below).multiply(steep)), slope_below);
            let outward = |value: V| value.abs().multiply(slack).add(tiny);
            let (dead_low, dead_high, least) = if below == 0.0 {
                (zero, zero, zero)
            } else {
                (at_l.subtract(outward(at_l)), at_u.add(outward(at_u)), V::splat(f64::NEG_INFINITY))
            };
            // Active, else dead, else undecided, else without finite ends.
            let choose = |active: V, dead: V, undecided: V, unknown: V| {
                let open = width.abs().if_below(infinity, undecided, unknown);
                let open = u.if_below(V::splat(SMALLEST), dead, open);
                V::splat(-SMALLEST).if_below(l, active, open)
            };
            let low_slope = choose(one, slope_below, steep, zero);
            let high_slope = choose(one, slope_below, chord, zero);
            let low_constant = choose(zero, zero, zero, least);
            let high_constant = choose(zero, zero, above, infinity);
            let value_low = choose(l, dead_low, at_l.subtract(at_l.abs().multiply(slack)), least);
            let value_high = choose(u, dead_high, u, infinity);
            let put = |to: &mut [f64], vector: V| vector.store(to.as_mut_ptr().add(first));
            put(&mut lines.low_slopes, low_slope);
            put(&mut lines.low_constants, low_constant);
            put(&mut lines.high_slopes, high_slope);
            put(&mut lines.high_constants, high_constant);
            // Any slope between the two is below both branches.
            put(&mut lines.slopes, high_slope);
            let bias = V::load(lines.biases.as_ptr().add(first));
            let (low_part, high_part) = (low_slope.multiply(bias), high_slope.multiply(bias));
            put(&mut lines.low_offsets, low_constant.add(low_part));
            put(&mut lines.high_offsets, high_constant.add(high_part));
            put(&mut lines.parallel_low, low_constant.add(high_part));
            put(&mut lines.parallel_high, high_constant.add(high_part));
            let (one_size, other_size) = (low_constant.abs(), high_constant.abs());
            let constant = one_size.if_below(other_size, other_size, one_size);
            let reach = V::load(reaches.as_ptr().add(first));
            let two = V::splat(2.0);
            let magnitude = two.multiply(reach).add(two.multiply(constant)).multiply(V::splat(1.01));
            put(&mut lines.magnitudes, magnitude);
            let centre = V::splat(0.5).multiply(value_low.add(value_high));
            let (up, down) = (value_high.subtract(centre), centre.subtract(value_low));
            put(values.low, value_low);
            put(values.high, value_high);
            put(values.centres, centre);
            put(values.radii, down.if_below(up, up, down));
            let negated = zero.subtract(value_low);
            let magnitude = negated.if_below(value_high, value_high, negated);
            largest = largest.if_below(magnitude, magnitude, largest);
            // 0 for finite numbers, else NaN.
            let own = value_high.subtract(value_high).add(value_low.subtract(value_low));
            poison = poison.add(own);
        }
    }
    let mut numbers = [[0.0; PADDING]; 2];
    // Safety: vectors have at most as many lanes.
    unsafe {
        largest.store(numbers[0].as_mut_ptr());
        poison.store(numbers[1].as_mut_ptr());
    }
    *values.largest = numbers[0].into_iter().fold(0.0, f64::max) + numbers[1].iter().sum::<f64>();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ends() -> impl Strategy<Value = f64> {
        prop_oneof![
            -10.0..10.0,
            (-300.0..300.0_f64).prop_map(f64::exp2),
            (-300.0..300.0_f64).prop_map(|exponent| -exponent.exp2()),
            Just(0.0),
            Just(-0.0),
            Just(f64::from_bits(1)),
            Just(-f64::from_bits(1)),
            Just(f64::MAX),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(f64::NAN),
        ]
    }

    #[derive(Debug, Default)]
    struct Numbers {
        all: [[f64; PADDING]; 4],
        largest: f64,
    }

    impl Numbers {
        fn values(&mut self) -> Values<'_> {
            let [low, high, centres, radii] = &mut self.all;
            Values { low, high, centres, radii, largest: &mut self.largest }
        }
    }

    fn is_same(one: f64, other: f64) -> bool {
        one == other || (one.is_nan() && other.is_nan())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn many_relus_are_bounded_as_each_of_them(
            below in prop_oneof![Just(0.0), 0.0..1.0],
            pairs in prop::collection::vec((ends(), ends()), PADDING),
            biases in prop::collection::vec(-10.0..10.0, PADDING),
        ) {
            let (low, high): (Vec<f64>, Vec<f64>) =
                pairs.iter().map(|&(a, b)| if a > b { (b, a) } else { (a, b) }).unzip();
            let reaches = [1.5; PADDING];
            let mut lines = Lines::default();
            lines.resize(PADDING);
            lines.biases.copy_from_slice(&biases);
            let mut expected = lines.clone();
            let mut numbers = Numbers::default();
            let mut expected_numbers = Numbers::default();
            let function = Function::LeakyRelu(below);
            relax_each(function, (&low, &high), &reaches, &mut expected, &mut expected_numbers.values());
            for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
                relax_relus(set, below, &low, &high, &reaches, &mut lines, &mut numbers.values());
                prop_assert!(is_same(numbers.largest, expected_numbers.largest), "{set}: {numbers:?}");
                let (numbers, expected_numbers) = (&numbers.all, &expected_numbers.all);
                for neuron in 0..PADDING {
                    let pairs = [
                        (&lines.low_slopes, &expected.low_slopes),
                        (&lines.low_constants, &expected.low_constants),
                        (&lines.high_slopes, &expected.high_slopes),
                        (&lines.high_constants, &expected.high_constants),
                        (&lines.low_offsets, &expected.low_offsets),
                        (&lines.high_offsets, &expected.high_offsets),
                        (&lines.slopes, &expected.slopes),
                        (&lines.parallel_low, &expected.parallel_low),
                        (&lines.parallel_high, &expected.parallel_high),
                        (&lines.magnitudes, &expected.magnitudes),
                    ];
                    for (one, other) in pairs {
                        prop_assert!(is_same(one[neuron], other[neuron]), "{set}: {lines:?}, not {expected:?}");
                    }
                    // Where a value has no finite ends, its radius is of no use.
                    let kinds = if (numbers[1][neuron] - numbers[0][neuron]).is_finite() { 4 } else { 2 };
                    for (one, other) in numbers.iter().zip(expected_numbers).take(kinds) {
                        prop_assert!(is_same(one[neuron], other[neuron]), "{set}: {numbers:?}, not {expected_numbers:?}");
                    }
                }
            }
        }
    }
}

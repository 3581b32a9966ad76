//! What activations do to enclosures.
//!
//! All activations are monotone, so a value between `l` and `h` is mapped between `f(l)` and `f(h)`. What is unknown
//! stays unknown: it may be NaN, and no activation is sure to make a number of that.
//!
//! **`ReLU`** keeps an enclosure that lies above 0, turns one that lies below 0 into 0, and otherwise halves
//! `[0, c + r]`, with `c + r` enlarged by the factor `1 + 2⁻⁵⁰` against its own rounding.
//!
//! **Leaky `ReLU`** keeps what lies above 0. A negative value `x̂` is multiplied by the slope `s ≤ 1`: one product, off by at
//! most `u·|s·x̂| + 2η`, or 0 if the slope is flushed. Our ends are off by 2⁻⁵³ of themselves and `2⁻¹⁰⁷⁴`. The radius grows by `8u·(|c| +
//! r) + 8η`, which covers both and the rounding of the radius.
//!
//! **Clip** changes nothing where the enclosure lies within the limits, by `η` at least. Otherwise its ends are
//! clipped, and the radius grows by `8η`, for limits that are flushed.
//!
//! # Tanh, sigmoid, ELU
//!
//! No library rounds these correctly. **Assumption** (it is part of what `any-f32` means): for each single `x̂` a library's
//! tanh and sigmoid are within `2⁻²⁰` of the exact value at `x̂`, and its ELU with scale `a` is within `2⁻²⁰·max(1, a)`
//! for negative `x̂` and `x̂` itself otherwise. Measured over 1.4·10⁸ singles (every third one of magnitude 2⁻¹² to 128, and 3·10⁷
//! random bit patterns), the worst errors were
//!
//! | | tanh | sigmoid | ELU |
//! |---|---|---|---|
//! | ONNX Runtime 1.31 | 2⁻²¹·⁶ | 2⁻²²·⁴ | 2⁻²³·⁸ |
//! | `PyTorch` 2.15 | 2⁻²⁴·⁹ | 2⁻²³·⁴ | 2⁻²⁴·⁰ |
//! | `NumPy` 2.4 | 2⁻²⁴·⁰ | 2⁻²³·³ (`1/(1+exp(-x))`) | 2⁻²²·⁷ (`exp(x)-1`) |
//!
//! so there is room for a factor of three. The exact functions at the ends are computed by `libm`, in double precision. We
//! assume a relative error below `2⁻⁴⁵` of its `tanh`, `exp` and `expm1` (a test compares them with a computation of higher
//! precision), so below `2⁻⁴⁴` of what is made of them here. The radius grows by `2⁻⁴³·(|c| + r)`, which covers that and
//! the rounding of the radius. Where `e⁻ˣ` overflows, the logistic function is less than `2⁻¹⁰⁰⁰` above the 0
//! that is computed; in `real`, that is the only other error.
//!
//! The definition of `f64` and `f32` *is* the result of `libm`, so it needs no bound there.

use super::{Enclosure, Rounding};
use crate::layer::Activation;
use crate::parameter::{Number, Parameter};
use crate::score::Score;

/// A relative error above that of everything that is computed with `libm` here.
const LIBRARY_ERROR: f64 = 1.0 / (1_u64 << 43) as f64;

impl Enclosure {
    #[inline(always)]
    pub(crate) fn relu(self) -> Self {
        let top = (self.centre + self.radius) * (1.0 + 4.0 * f64::EPSILON);
        let middle = Enclosure { centre: top * 0.5, radius: top * 0.5 };
        let below = if self.centre <= -self.radius { Enclosure::exactly(0.0) } else { middle };
        // What is unknown stays unknown: NaN would come of halving infinity.
        if self.centre >= self.radius || self.radius == f64::INFINITY { self } else { below }
    }

    /// The enclosure of an activation's value.
    pub(crate) fn activate(self, activation: Activation, rounding: &Rounding) -> Self {
        if self.is_unknown() {
            return self;
        }
        match activation {
            Activation::Identity => self,
            Activation::Relu => self.relu(),
            Activation::LeakyRelu { slope } => self.leaky_relu(rounding.number(slope), rounding),
            Activation::Tanh => self.mapped(Number::tanh).of_library(rounding.function_error, rounding),
            Activation::Sigmoid => self.mapped(Number::sigmoid).of_library(rounding.function_error, rounding),
            Activation::Elu { scale } => self.elu(rounding.number(scale), rounding),
            Activation::Clip { low, high } => self.clip(low, high, rounding),
        }
    }

    /// The numbers between the images of the ends.
    fn mapped(self, function: impl Fn(f64) -> f64) -> Self {
        let Score { lower, upper } = self.score();
        Enclosure::between(function(lower), function(upper))
    }

    /// Wider by the errors of a library's function and of ours.
    fn of_library(self, error: f64, rounding: &Rounding) -> Self {
        let own = LIBRARY_ERROR * (self.centre.abs() + self.radius) + 8.0 * rounding.smallest;
        self.widened(error + own)
    }

    fn leaky_relu(self, slope: f64, rounding: &Rounding) -> Self {
        if self.centre >= self.radius {
            return self;
        }
        let Score { lower, upper } = self.score();
        let top = match upper < 0.0 {
            true if rounding.is_flushable(slope) => 0.0,
            true => slope * upper,
            false => upper,
        };
        let image = Enclosure::between(slope * lower, top);
        image.widened(rounding.one_product(image.centre.abs() + image.radius))
    }

    fn elu(self, scale: f64, rounding: &Rounding) -> Self {
        if self.centre >= self.radius {
            return self;
        }
        let image = self.mapped(|end| if end < 0.0 { end.elu(scale) } else { end });
        image.of_library(rounding.function_error * scale.max(1.0), rounding)
    }

    fn clip(self, low: Parameter, high: Parameter, rounding: &Rounding) -> Self {
        let (low, high) = (rounding.number(low), rounding.number(high));
        let Score { lower, upper } = self.score();
        if lower >= low + rounding.smallest && upper <= high - rounding.smallest {
            return self;
        }
        self.mapped(|end| end.max(low).min(high)).widened(8.0 * rounding.smallest)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    const BOTH: [Rounding; 2] = [Rounding::ANY_F32, Rounding::REAL];

    fn enclosure(centre: f64, radius: f64) -> Enclosure {
        Enclosure { centre, radius }
    }

    fn activations() -> [Activation; 9] {
        let number = Parameter::from;
        [
            Activation::Identity,
            Activation::Relu,
            Activation::LeakyRelu { slope: number(0.25) },
            Activation::LeakyRelu { slope: number(0.0) },
            Activation::Tanh,
            Activation::Sigmoid,
            Activation::Elu { scale: number(3.0) },
            Activation::Clip { low: number(-1.0), high: number(2.0) },
            Activation::Clip { low: number(f64::NEG_INFINITY), high: number(0.5) },
        ]
    }

    #[test]
    fn relu_keeps_cuts_or_clears() {
        assert_eq!(enclosure(2.0, 1.0).relu(), enclosure(2.0, 1.0));
        assert_eq!(enclosure(-2.0, 1.0).relu(), enclosure(0.0, 0.0));
        let cut = enclosure(1.0, 3.0).relu();
        assert!(cut.centre - cut.radius <= 0.0 && cut.centre + cut.radius >= 4.0 && cut.radius < 2.000_001);
        assert_eq!(Enclosure::UNKNOWN.relu().score(), Score::ANYTHING);
    }

    #[test]
    fn the_images_of_points_are_enclosed() {
        for rounding in &BOTH {
            for activation in activations() {
                for (centre, radius) in
                    [(0.0, 0.0), (0.1, 3.0), (-4.0, 3.0), (-0.5, 0.0), (40.0, 45.0), (1e-9, 1e-12)]
                {
                    let image = enclosure(centre, radius).activate(activation, rounding).score();
                    for step in -8..=8 {
                        let value = centre + radius * f64::from(step) / 8.0;
                        let exact = crate::point::activate(activation, value);
                        assert!(
                            image.lower <= exact && exact <= image.upper,
                            "{activation:?} of {value}: {image:?}"
                        );
                    }
                    let (low, high) = (centre - radius, centre + radius);
                    let ends = [low, high].map(|end| crate::point::activate(activation, end));
                    let room = 4e-6 + 1e-6 * (ends[0].abs() + ends[1].abs());
                    assert!(
                        image.upper - image.lower <= ends[1] - ends[0] + room,
                        "{activation:?}: {image:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        for rounding in &BOTH {
            for activation in activations() {
                assert!(Enclosure::UNKNOWN.activate(activation, rounding).is_unknown());
            }
        }
    }

    #[test]
    fn limits_and_slopes_may_be_flushed() {
        let tiny = Parameter::from(1e-40);
        let clipped = |low, high| {
            let clip = Activation::Clip { low: Parameter::from(low), high: Parameter::from(high) };
            enclosure(0.0, 1e-41).activate(clip, &Rounding::ANY_F32).score()
        };
        // From below 1e-40 to the limit, or to the 0 that is left of it.
        let score = clipped(1e-40, 1.0);
        assert!(score.lower <= 0.0 && score.upper >= 1e-40);
        let score = clipped(-1.0, -1e-40);
        assert!(score.lower <= -1e-40 && score.upper >= 0.0);
        let leaky =
            enclosure(-1e30, 1.0).activate(Activation::LeakyRelu { slope: tiny }, &Rounding::ANY_F32).score();
        assert!(leaky.lower <= -0.99e-10 && leaky.upper >= 0.0);
        let exact =
            enclosure(-1e30, 1.0).activate(Activation::LeakyRelu { slope: tiny }, &Rounding::REAL).score();
        assert!(exact.upper < 0.0);
    }

    /// Bits behind the point of the numbers below.
    const BITS: u64 = 2400;

    /// A double, times 2^BITS.
    fn fixed(value: f64) -> BigInt {
        let (bits, sign) = (value.abs().to_bits(), if value < 0.0 { -1 } else { 1 });
        let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (mantissa, shift) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
        (BigInt::from(sign) * mantissa) << (BITS + shift - 1075)
    }

    /// `eˣ - 1` for `0 ≤ x ≤ 1500`, times 2^BITS, with a relative error far below that of double precision.
    fn exponential_minus_one(x: &BigInt) -> BigInt {
        const HALVINGS: u64 = 12;
        let small = x >> HALVINGS;
        let (mut term, mut sum) = (small.clone(), small.clone());
        for divisor in 2..400_u32 {
            term = ((term * &small) >> BITS) / divisor;
            sum += &term;
        }
        // e²ˣ - 1 = (eˣ - 1)·(eˣ - 1 + 2)
        let two = BigInt::from(2) << BITS;
        for _ in 0..HALVINGS {
            sum = (&sum * (&sum + &two)) >> BITS;
        }
        sum
    }

    /// Whether a double is within 2⁻⁴⁵ of a quotient, relative to it.
    fn is_accurate(computed: f64, numerator: &BigInt, denominator: &BigInt) -> bool {
        let difference = fixed(computed) * denominator - (numerator << BITS);
        let magnitude = |number: BigInt| if number < BigInt::ZERO { -number } else { number };
        magnitude(difference) << 45 < magnitude(numerator << BITS)
    }

    /// The assumption on `libm`.
    #[test]
    fn the_library_is_accurate() {
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let one = BigInt::from(1) << BITS;
        for round in 0..2000 {
            // All magnitudes from 2⁻⁶⁰ to where results leave the range of doubles.
            let x = (1.0 + random())
                * 2.0_f64.powf(random() * if round % 2 == 0 { 69.0 } else { 12.0 } - 60.0)
                * if round % 2 == 0 { 1.0 } else { 2.0_f64.powi(56) };
            let x = x.min(700.0);
            let e = exponential_minus_one(&fixed(x));
            let whole = &e + &one;
            assert!(is_accurate(libm::exp(x), &whole, &one), "exp {x}");
            assert!(is_accurate(libm::exp(-x), &one, &whole), "exp -{x}");
            assert!(is_accurate(libm::expm1(x), &e, &one), "expm1 {x}");
            assert!(is_accurate(libm::expm1(-x), &-&e, &whole), "expm1 -{x}");
            let e = exponential_minus_one(&(fixed(x) << 1));
            let sum = &e + (&one << 1);
            assert!(is_accurate(libm::tanh(x), &e, &sum), "tanh {x}");
            assert!(is_accurate(libm::tanh(-x), &-&e, &sum), "tanh -{x}");
        }
    }

    /// The error of `libm` must be part of the radius: where functions are flat, nothing else is.
    #[test]
    fn enclosures_of_real_values_hold_exact_ones() {
        let one = BigInt::from(1) << BITS;
        // Whether the enclosure holds a quotient with a positive denominator.
        let holds = |activation, x: f64, numerator: &BigInt, denominator: &BigInt| {
            let Enclosure { centre, radius } = Enclosure::exactly(x).activate(activation, &Rounding::REAL);
            let (centre, radius, exact) = (fixed(centre), fixed(radius), numerator << BITS);
            (&centre - &radius) * denominator <= exact && exact <= (centre + radius) * denominator
        };
        let scale = Parameter::from(1.0);
        for step in 1..600 {
            let x = f64::from(step) / 17.0;
            let e = exponential_minus_one(&fixed(x));
            let whole = &e + &one;
            let elu = Activation::Elu { scale };
            assert!(holds(elu, -x, &-&e, &whole), "elu -{x}");
            assert!(holds(Activation::Sigmoid, x, &whole, &(&whole + &one)), "sigmoid {x}");
            assert!(holds(Activation::Sigmoid, -x, &one, &(&whole + &one)), "sigmoid -{x}");
            let e = exponential_minus_one(&(fixed(x) << 1));
            let sum = &e + (&one << 1);
            assert!(holds(Activation::Tanh, x, &e, &sum), "tanh {x}");
            assert!(holds(Activation::Tanh, -x, &-&e, &sum), "tanh -{x}");
        }
        // Where the exponential overflows, the logistic function is not 0.
        let tiny = Enclosure::exactly(-720.0).activate(Activation::Sigmoid, &Rounding::REAL).score();
        assert!(tiny.lower <= 0.0 && tiny.upper >= 2.0_f64.powi(-1030));
    }
}

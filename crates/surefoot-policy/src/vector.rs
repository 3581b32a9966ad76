//! Vectors of numbers, for loops that are compiled once per instruction set.
//!
//! Loops are written once over [`Vector`] and instantiated for 512-bit, 256-bit and portable vectors.
//!
//! This module needs `unsafe` code to load and store vectors without a bounds check per vector, and to use
//! instructions that not every machine has. Whoever calls it makes sure of both.
#![allow(unsafe_code)]
// Everything must be inlined into the function that is compiled for the instructions.
#![allow(clippy::inline_always)]

use crate::parameter::Number;

/// A vector of lanes, each a number of its own.
///
/// # Safety
///
/// Functions may only be called on machines that have the instructions of the vector.
pub(crate) trait Vector: Copy {
    type Element: Number;
    /// Lanes of a vector.
    const WIDTH: usize;

    /// Reads [`Self::WIDTH`] numbers.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// Writes [`Self::WIDTH`] numbers.
    unsafe fn store(self, to: *mut Self::Element);
    /// The same number in all lanes.
    unsafe fn splat(value: Self::Element) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn subtract(self, other: Self) -> Self;
    unsafe fn multiply(self, other: Self) -> Self;
    /// `self · other + addend`, rounded once or twice, whichever is faster.
    unsafe fn multiply_add(self, other: Self, addend: Self) -> Self;
    /// Zero where the lane is below zero, the lane itself otherwise.
    unsafe fn relu(self) -> Self;
    unsafe fn abs(self) -> Self;
}

/// Vectors for the target's base instructions; the compiler maps them to what there is.
#[derive(Clone, Copy)]
pub(crate) struct Portable<T, const WIDTH: usize>([T; WIDTH]);

impl<T: Number, const N: usize> Vector for Portable<T, N> {
    type Element = T;
    const WIDTH: usize = N;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // Safety: the caller passes WIDTH readable numbers; arrays have the alignment of their elements.
        Portable(unsafe { *from.cast::<[T; N]>() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // Safety: as for `load`.
        unsafe { *to.cast::<[T; N]>() = self.0 };
    }

    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Portable([value; N])
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Portable(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        Portable(std::array::from_fn(|lane| self.0[lane] - other.0[lane]))
    }

    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        Portable(std::array::from_fn(|lane| self.0[lane] * other.0[lane]))
    }

    #[inline(always)]
    unsafe fn multiply_add(self, other: Self, addend: Self) -> Self {
        // Where fused operations are no instructions, they are calls.
        Portable(std::array::from_fn(|lane| self.0[lane] * other.0[lane] + addend.0[lane]))
    }

    #[inline(always)]
    unsafe fn relu(self) -> Self {
        Portable(self.0.map(|value| if value < T::ZERO { T::ZERO } else { value }))
    }

    #[inline(always)]
    unsafe fn abs(self) -> Self {
        Portable(self.0.map(|value| if value < T::ZERO { T::ZERO - value } else { value }))
    }
}

/// Implements [`Vector`] by the intrinsics of one register type.
///
/// `max(0, x)` of x86 returns its second operand if that is NaN or if both are zero, which is what `ReLU` means here.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_vector {
    ($register:ident, $element:ty, $width:literal, $load:ident, $store:ident, $splat:ident, $add:ident, $subtract:ident, $multiply:ident, $multiply_add:ident, $max:ident, $zero:ident, $abs:expr) => {
        impl Vector for x86::$register {
            type Element = $element;
            const WIDTH: usize = $width;

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // Safety: the caller passes WIDTH readable numbers.
                unsafe { x86::$load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // Safety: the caller passes WIDTH writable numbers.
                unsafe { x86::$store(to, self) }
            }

            #[inline(always)]
            unsafe fn splat(value: $element) -> Self {
                // Safety: the machine has the instruction.
                unsafe { x86::$splat(value) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // Safety: the machine has the instruction.
                unsafe { x86::$add(self, other) }
            }

            #[inline(always)]
            unsafe fn subtract(self, other: Self) -> Self {
                // Safety: the machine has the instruction.
                unsafe { x86::$subtract(self, other) }
            }

            #[inline(always)]
            unsafe fn multiply(self, other: Self) -> Self {
                // Safety: the machine has the instruction.
                unsafe { x86::$multiply(self, other) }
            }

            #[inline(always)]
            unsafe fn multiply_add(self, other: Self, addend: Self) -> Self {
                // Safety: the machine has the instruction.
                unsafe { x86::$multiply_add(self, other, addend) }
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                // Safety: the machine has the instruction.
                unsafe { x86::$max(x86::$zero(), self) }
            }

            #[inline(always)]
            unsafe fn abs(self) -> Self {
                // Safety: the machine has the instruction.
                unsafe { $abs(self) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    pub(crate) use std::arch::x86_64::*;
}

#[cfg(target_arch = "x86_64")]
x86_vector!(
    __m512d,
    f64,
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    _mm512_max_pd,
    _mm512_setzero_pd,
    |value| x86::_mm512_abs_pd(value)
);
#[cfg(target_arch = "x86_64")]
x86_vector!(
    __m256d,
    f64,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    _mm256_max_pd,
    _mm256_setzero_pd,
    |value| x86::_mm256_andnot_pd(x86::_mm256_set1_pd(-0.0), value)
);
#[cfg(target_arch = "x86_64")]
x86_vector!(
    __m512,
    f32,
    16,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_fmadd_ps,
    _mm512_max_ps,
    _mm512_setzero_ps,
    |value| x86::_mm512_abs_ps(value)
);
#[cfg(target_arch = "x86_64")]
x86_vector!(
    __m256,
    f32,
    8,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    _mm256_max_ps,
    _mm256_setzero_ps,
    |value| x86::_mm256_andnot_ps(x86::_mm256_set1_ps(-0.0), value)
);

/// Vectors of doubles that can be divided and compared.
pub(crate) trait Doubles: Vector<Element = f64> {
    unsafe fn divide(self, other: Self) -> Self;
    /// `then` where the lane is below that of `limit`, `otherwise` elsewhere and where either is NaN.
    unsafe fn if_below(self, limit: Self, then: Self, otherwise: Self) -> Self;
}

impl<const N: usize> Doubles for Portable<f64, N> {
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        Portable(std::array::from_fn(|lane| self.0[lane] / other.0[lane]))
    }

    #[inline(always)]
    unsafe fn if_below(self, limit: Self, then: Self, otherwise: Self) -> Self {
        let choice =
            |lane: usize| if self.0[lane] < limit.0[lane] { then.0[lane] } else { otherwise.0[lane] };
        Portable(std::array::from_fn(choice))
    }
}

#[cfg(target_arch = "x86_64")]
impl Doubles for x86::__m512d {
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        // Safety: the machine has the instruction.
        unsafe { x86::_mm512_div_pd(self, other) }
    }

    #[inline(always)]
    unsafe fn if_below(self, limit: Self, then: Self, otherwise: Self) -> Self {
        // Safety: the machine has the instructions.
        unsafe {
            let is_below = x86::_mm512_cmp_pd_mask::<{ x86::_CMP_LT_OQ }>(self, limit);
            x86::_mm512_mask_blend_pd(is_below, otherwise, then)
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Doubles for x86::__m256d {
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        // Safety: the machine has the instruction.
        unsafe { x86::_mm256_div_pd(self, other) }
    }

    #[inline(always)]
    unsafe fn if_below(self, limit: Self, then: Self, otherwise: Self) -> Self {
        // Safety: the machine has the instructions.
        unsafe {
            let is_below = x86::_mm256_cmp_pd::<{ x86::_CMP_LT_OQ }>(self, limit);
            x86::_mm256_blendv_pd(otherwise, then, is_below)
        }
    }
}

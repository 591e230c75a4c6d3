//! Vector operations, and their portable implementation.
//!
//! The loops have no branches, so that the compiler vectorizes them. Where an operation has special cases that would need branches (infinities,
//! mostly), the loop also finds out whether any element is one, and the reference function is then applied to all elements.
//!
//! # Rounding toward zero
//! The host rounds to nearest, and its rounding mode is left alone. A sum is followed by its exact error [Knuth's two-sum], which tells whether it
//! was rounded away from zero; if so, the result is one step too large. A product of two floats is exact in double precision, where the surplus bits
//! are cut off; a host with a fused multiply-add computes a product's error with that.

use super::SimdTask;
use super::words::{PortableWords, Words};
use crate::qpu::float;
use crate::qpu::lanes::{Lanes, Mask};
use v3d_hw::qpu::LANES;

pub(crate) const SIGN: u32 = 0x8000_0000;
pub(crate) const EXPONENT: u32 = 0x7f80_0000;
/// The greatest finite float.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const GREATEST: u32 = 0x7f7f_ffff;

/// The operations that differ between SIMD levels.
pub trait Vectors {
    /// Vectors in registers of the host.
    type Words: Words;

    /// Runs a task in these vectors, in a function of its own: what is large and rare takes no registers of the host from what is small and frequent.
    fn apart<W: SimdTask>(work: W) -> W::Output;
    /// Floating point sum.
    fn fadd(a: &Lanes, b: &Lanes) -> Lanes;
    /// Floating point difference.
    fn fsub(a: &Lanes, b: &Lanes) -> Lanes;
    /// Floating point product.
    fn fmul(a: &Lanes, b: &Lanes) -> Lanes;
    /// Floats to signed integers.
    fn ftoi(a: &Lanes) -> Lanes;
    /// Signed integers to floats.
    fn itof(a: &Lanes) -> Lanes;
    /// Elements that are 0.
    fn zero(a: &Lanes) -> Mask;
    /// Elements whose highest bit is set.
    fn negative(a: &Lanes) -> Mask;
    /// Elements in which `a` is greater as a signed number.
    fn greater(a: &Lanes, b: &Lanes) -> Mask;
    /// Elements in which `a` is greater as an unsigned number.
    fn above(a: &Lanes, b: &Lanes) -> Mask;
    /// Replaces the elements of a mask.
    fn blend(old: &mut Lanes, new: &Lanes, mask: Mask);
    /// The integer parts of a number times shares of it, which are limited to the range from 0 to 1; NaN counts as 1. The number is at most 2^31 - 1.
    fn parts_of(shares: &[f64; LANES], number: f64) -> Lanes;
    /// Elements from a limit to another; not NaN.
    fn within(numbers: &[f64; LANES], low: f64, high: f64) -> Mask;
    /// Linear functions at the pixels of four quads, one function a quad, as floats. `slopes`: their differences along x and along y; `distances`: those of the
    /// quads' first pixels from the functions' origins, in the same unit, of which a pixel has `pixel`. `first + right + up` is rounded step by step, in
    /// doubles.
    fn planes(slopes: &[[f64; LANES / 4]; 2], distances: &[[f64; LANES / 4]; 2], pixel: f64) -> Lanes;
}

/// Plain loops. `FMA`: the host has a fused multiply-add, whose single rounding gives the exact error of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable<const FMA: bool>;

impl<const FMA: bool> Vectors for Portable<FMA> {
    type Words = PortableWords;

    #[inline(never)]
    fn apart<W: SimdTask>(work: W) -> W::Output {
        work.run::<Self>()
    }

    #[inline(always)]
    fn fadd(a: &Lanes, b: &Lanes) -> Lanes {
        sum(a, b, 0)
    }

    #[inline(always)]
    fn fsub(a: &Lanes, b: &Lanes) -> Lanes {
        sum(a, b, SIGN)
    }

    #[inline(always)]
    fn fmul(a: &Lanes, b: &Lanes) -> Lanes {
        if FMA { product_fused(a, b) } else { product(a, b) }
    }

    #[inline(always)]
    fn ftoi(a: &Lanes) -> Lanes {
        a.map(|x| {
            // From 2^31 on the significand is shifted to its place, or out of it: by 105 if infinite.
            let by = (x >> 23 & 0xff).wrapping_sub(127 + 23);
            let significand = x & 0x7f_ffff | 0x80_0000;
            let low = if by < 32 { significand << (by & 31) } else { 0 };
            let low = if x & SIGN == 0 { low } else { low.wrapping_neg() };
            if x & EXPONENT < (127 + 31) << 23 { f32::from_bits(x) as i32 as u32 } else { low }
        })
    }

    #[inline(always)]
    fn itof(a: &Lanes) -> Lanes {
        a.map(|x| {
            let exact = f64::from(x as i32);
            (f64::from_bits(exact.to_bits() & !((1 << 29) - 1)) as f32).to_bits()
        })
    }

    #[inline(always)]
    fn zero(a: &Lanes) -> Mask {
        bits(|i| a.0[i] == 0)
    }

    #[inline(always)]
    fn negative(a: &Lanes) -> Mask {
        bits(|i| (a.0[i] as i32) < 0)
    }

    #[inline(always)]
    fn greater(a: &Lanes, b: &Lanes) -> Mask {
        bits(|i| a.0[i] as i32 > b.0[i] as i32)
    }

    #[inline(always)]
    fn above(a: &Lanes, b: &Lanes) -> Mask {
        bits(|i| a.0[i] > b.0[i])
    }

    #[inline(always)]
    fn blend(old: &mut Lanes, new: &Lanes, mask: Mask) {
        for i in 0..LANES {
            old.0[i] = if mask & 1 << i == 0 { old.0[i] } else { new.0[i] };
        }
    }

    #[inline(always)]
    fn parts_of(shares: &[f64; LANES], number: f64) -> Lanes {
        let mut parts = Lanes::default();
        for (part, &share) in parts.0.iter_mut().zip(shares) {
            let share = if share < 1.0 { share } else { 1.0 };
            let share = if share > 0.0 { share } else { 0.0 };
            *part = truncated(share * number);
        }
        parts
    }

    #[inline(always)]
    fn within(numbers: &[f64; LANES], low: f64, high: f64) -> Mask {
        bits(|i| numbers[i] >= low && numbers[i] <= high)
    }

    #[inline(always)]
    fn planes([a, b]: &[[f64; LANES / 4]; 2], [dx, dy]: &[[f64; LANES / 4]; 2], pixel: f64) -> Lanes {
        let mut values = Lanes::default();
        for (quad, values) in values.0.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let first = a[quad] * dx[quad] + b[quad] * dy[quad];
            let (right, up) = (a[quad] * pixel, b[quad] * pixel);
            // Adding -0 changes nothing, not even a zero's sign.
            let (right, up) = ([-0.0, right, -0.0, right], [-0.0, -0.0, up, up]);
            for (element, value) in values.iter_mut().enumerate() {
                *value = ((first + right[element] + up[element]) as f32).to_bits();
            }
        }
        values
    }
}

/// The integer part of a number from 0 to 2^31, without a cast's checks for other numbers.
#[inline(always)]
fn truncated(number: f64) -> u32 {
    /// From 2^52 on the lowest bit of a double counts 1.
    const INTEGERS: f64 = (1u64 << 52) as f64;
    let nearest = number + INTEGERS;
    let above = nearest - INTEGERS > number;
    (nearest.to_bits() as u32).wrapping_sub(u32::from(above))
}

#[inline(always)]
fn bits(holds: impl Fn(usize) -> bool) -> Mask {
    (0..LANES).fold(0, |bits, i| bits | if holds(i) { 1 << i } else { 0 })
}

/// Denormals and -0 to +0.
#[inline(always)]
fn flush(x: u32) -> u32 {
    if x & EXPONENT == 0 { 0 } else { x }
}

#[inline(always)]
fn sum(a: &Lanes, b: &Lanes, flip: u32) -> Lanes {
    let mut special = 0;
    let mut result = Lanes::default();
    for i in 0..LANES {
        let (x, y) = (flush(a.0[i]), flush(b.0[i] ^ flip));
        let (x, y) = (f32::from_bits(x), f32::from_bits(y));
        let sum = x + y;
        let part = sum - x;
        let error = (x - (sum - part)) + (y - part);
        let bits = sum.to_bits();
        // Infinities and intermediate overflows make the error NaN.
        special |= u32::from(error.is_nan());
        let away = u32::from(error != 0.0) & (error.to_bits() ^ bits) >> 31;
        result.0[i] = flush(bits.wrapping_sub(away));
    }
    if special == 0 { result } else { special_sum(a, b, flip) }
}

/// A sum with infinities among its operands.
#[cold]
pub(crate) fn special_sum(a: &Lanes, b: &Lanes, flip: u32) -> Lanes {
    a.zip(*b, |a, b| float::fadd(a, b ^ flip))
}

#[inline(always)]
fn product(a: &Lanes, b: &Lanes) -> Lanes {
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    let mut special = 0;
    let mut result = Lanes::default();
    for i in 0..LANES {
        let (x, y) = (a.0[i], b.0[i]);
        special |= u32::from(x & EXPONENT == EXPONENT) | u32::from(y & EXPONENT == EXPONENT);
        let product = f64::from(f32::from_bits(flush(x))) * f64::from(f32::from_bits(flush(y)));
        let cut = f64::from_bits(product.to_bits() & !((1 << 29) - 1));
        let cut = if product.abs() < SMALLEST { 0.0 } else { cut };
        result.0[i] = (cut as f32).to_bits();
    }
    if special == 0 { result } else { special_product(a, b) }
}

/// Multiplies, and computes the difference between the exact product and the rounded one with a fused multiply-add.
#[inline(always)]
fn product_fused(a: &Lanes, b: &Lanes) -> Lanes {
    /// Below this the difference may be too small for a float.
    const SAFE: u32 = 30 << 23;
    let mut special = 0;
    let mut result = Lanes::default();
    for i in 0..LANES {
        let (x, y) = (f32::from_bits(flush(a.0[i])), f32::from_bits(flush(b.0[i])));
        let product = x * y;
        let error = x.mul_add(y, -product);
        let bits = product.to_bits();
        let magnitude = bits & !SIGN;
        let zero = x == 0.0 || y == 0.0;
        special |= u32::from(magnitude >= EXPONENT) | u32::from(magnitude < SAFE) & u32::from(!zero);
        let away = u32::from(error != 0.0) & (error.to_bits() ^ bits) >> 31;
        result.0[i] = if zero { 0 } else { bits.wrapping_sub(away) };
    }
    if special == 0 { result } else { special_product(a, b) }
}

/// A product with infinities or very small numbers.
#[cold]
pub(crate) fn special_product(a: &Lanes, b: &Lanes) -> Lanes {
    a.zip(*b, float::fmul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::simd::{SimdDispatch, SimdLevel, SimdTask};
    use std::array::from_fn;

    struct Depths<'a>(&'a [f64; LANES], (f64, f64));

    impl SimdTask for Depths<'_> {
        type Output = (Lanes, Mask);

        #[inline(always)]
        fn run<V: Vectors>(self) -> Self::Output {
            let Self(depths, (low, high)) = self;
            (V::parts_of(depths, 16_777_215.0), V::within(depths, low, high))
        }
    }

    /// At each level, of numbers in the range and beyond, and of NaN.
    #[test]
    fn parts_and_limits_are_those_of_each_element() {
        crate::simd::report_missing_levels();
        const SPECIAL: [f64; 12] = [
            0.0,
            -0.0,
            1.0,
            0.5,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.0 - f64::EPSILON,
            1.0 + f64::EPSILON,
            f64::MIN_POSITIVE,
            -f64::MIN_POSITIVE,
            3.0 / 16_777_215.0,
        ];
        let mut random = Random::new(0, 44);
        for round in 0..2000 {
            let depths: [f64; LANES] = from_fn(|_| match random.one_in(3) {
                true => random.pick(&SPECIAL),
                false => f64::from(random.next_u64() as u32) / 4e9,
            });
            let limits = if random.one_in(2) { (0.0, 1.0) } else { (0.25, 0.5) };
            let parts = depths.map(|depth| match depth {
                _ if depth.is_nan() => 16_777_215,
                _ => (depth.clamp(0.0, 1.0) * 16_777_215.0) as u32,
            });
            let within = (0..LANES).filter(|&i| (limits.0..=limits.1).contains(&depths[i]));
            let expected = (Lanes(parts), within.fold(0, |mask, i| mask | 1 << i));
            for level in [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512] {
                let found = SimdDispatch::limited_to(level).run(Depths(&depths, limits));
                assert_eq!(found, expected, "round {round}, {level:?}, of {depths:?}");
            }
        }
    }
}

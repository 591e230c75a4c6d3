//! The vector operations that make or take masks, in instructions of AVX2; the others are the portable loops.

#![allow(unsafe_code)]

use super::SimdTask;
use super::vectors::{Portable, SIGN, Vectors};
use crate::qpu::lanes::{ALL, Lanes, Mask};
use std::arch::x86_64::*;
use std::mem::transmute;
use std::sync::atomic::AtomicU32;

#[target_feature(enable = "avx2,fma")]
pub(super) fn work<W: SimdTask>(work: W) -> W::Output {
    work.run::<Avx2>()
}

/// AVX2 and FMA. Nothing but [`work`] can name it.
struct Avx2;

/// Elements 0 to 7, and 8 to 15.
type Halves = [__m256i; 2];

#[inline(always)]
fn halves(lanes: &Lanes) -> Halves {
    // SAFETY: both are 64 bytes, and any bits are a value of either.
    unsafe { transmute::<Lanes, Halves>(*lanes) }
}

#[inline(always)]
fn lanes(halves: Halves) -> Lanes {
    // SAFETY: both are 64 bytes, and any bits are a value of either.
    unsafe { transmute::<Halves, Lanes>(halves) }
}

/// The highest bit of each element.
#[target_feature(enable = "avx2")]
fn signs([low, high]: Halves) -> Mask {
    let signs = |half| _mm256_movemask_ps(_mm256_castsi256_ps(half)) as Mask;
    signs(low) | signs(high) << 8
}

#[target_feature(enable = "avx2")]
fn zero(a: &Lanes) -> Mask {
    signs(halves(a).map(|half| _mm256_cmpeq_epi32(half, _mm256_setzero_si256())))
}

#[target_feature(enable = "avx2")]
fn negative(a: &Lanes) -> Mask {
    signs(halves(a))
}

#[target_feature(enable = "avx2")]
fn greater(a: &Lanes, b: &Lanes) -> Mask {
    let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
    signs([_mm256_cmpgt_epi32(a0, b0), _mm256_cmpgt_epi32(a1, b1)])
}

#[target_feature(enable = "avx2")]
fn above(a: &Lanes, b: &Lanes) -> Mask {
    // With the highest bits inverted, signed numbers have the order of the unsigned ones.
    let sign = Lanes::splat(SIGN);
    greater(&a.zip(sign, |a, sign| a ^ sign), &b.zip(sign, |b, sign| b ^ sign))
}

#[target_feature(enable = "avx2")]
fn blend(old: &mut Lanes, new: &Lanes, mask: Mask) {
    const BITS: Lanes = {
        let mut bits = Lanes::ELEMENT_NUMBERS;
        let mut element = 0;
        while element < bits.0.len() {
            bits.0[element] = 1 << element;
            element += 1;
        }
        bits
    };
    let mask = _mm256_set1_epi32(i32::from(mask as i16));
    let ([old0, old1], [new0, new1], [bits0, bits1]) = (halves(old), halves(new), halves(&BITS));
    let selected = |bits| _mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits);
    *old = lanes([_mm256_blendv_epi8(old0, new0, selected(bits0)), _mm256_blendv_epi8(old1, new1, selected(bits1))]);
}

/// The words with some indices; `None` if one does not exist.
#[target_feature(enable = "avx2")]
fn gather(words: &[AtomicU32], indices: &Lanes) -> Option<Lanes> {
    // Indices are compared as signed numbers, and a gather has signed ones.
    let length = i32::try_from(words.len()).unwrap_or(i32::MAX);
    let all = halves(indices);
    let inside = all.map(|half| {
        let beyond = _mm256_cmpgt_epi32(_mm256_set1_epi32(length), half);
        _mm256_andnot_si256(half, beyond)
    });
    if signs(inside) != ALL {
        return None;
    }
    let start = words.as_ptr().cast::<i32>();
    // SAFETY: all indices are at least 0 and less than the number of words. The words are atomic because other threads, of the guest too, may write them:
    // each is read at once, since it is aligned, which is what a relaxed load is on this architecture.
    Some(lanes(all.map(|half| unsafe { _mm256_i32gather_epi32::<4>(start, half) })))
}

/// Implements functions of [`Vectors`] by those of the same name.
macro_rules! instructions {
    ($( fn $name:ident($( $argument:ident: $kind:ty ),*) $(-> $result:ty)?; )*) => {$(
        #[inline(always)]
        fn $name($( $argument: $kind ),*) $(-> $result)? {
            // SAFETY: the function needs AVX2 only, and nothing but `work` can name this type, which runs only where `super::has_avx2` has found it.
            unsafe { $name($( $argument ),*) }
        }
    )*};
}

impl Vectors for Avx2 {
    instructions! {
        fn zero(a: &Lanes) -> Mask;
        fn negative(a: &Lanes) -> Mask;
        fn greater(a: &Lanes, b: &Lanes) -> Mask;
        fn above(a: &Lanes, b: &Lanes) -> Mask;
        fn blend(old: &mut Lanes, new: &Lanes, mask: Mask);
        fn gather(words: &[AtomicU32], indices: &Lanes) -> Option<Lanes>;
    }

    #[inline(always)]
    fn fadd(a: &Lanes, b: &Lanes) -> Lanes {
        Portable::<true>::fadd(a, b)
    }

    #[inline(always)]
    fn fsub(a: &Lanes, b: &Lanes) -> Lanes {
        Portable::<true>::fsub(a, b)
    }

    #[inline(always)]
    fn fmul(a: &Lanes, b: &Lanes) -> Lanes {
        Portable::<true>::fmul(a, b)
    }

    #[inline(always)]
    fn ftoi(a: &Lanes) -> Lanes {
        Portable::<true>::ftoi(a)
    }

    #[inline(always)]
    fn itof(a: &Lanes) -> Lanes {
        Portable::<true>::itof(a)
    }
}

//! The vector operations that make or take masks, in instructions of AVX2; the others are the portable loops.

#![allow(unsafe_code)]

use super::vectors::{Portable, SIGN, Vectors};
use super::words::Words;
use super::{SimdTask, logarithm};
use crate::qpu::lanes::{Lanes, Mask};
use std::arch::x86_64::*;
use std::mem::transmute;
use std::sync::atomic::AtomicU32;
use v3d_hw::qpu::LANES;

#[target_feature(enable = "avx2,fma,bmi1,popcnt,f16c")]
pub(crate) fn work<W: SimdTask>(work: W) -> W::Output {
    work.run::<Avx2>()
}

/// The same, never inlined.
#[target_feature(enable = "avx2,fma,bmi1,popcnt,f16c")]
#[inline(never)]
fn work_apart<W: SimdTask>(work: W) -> W::Output {
    work.run::<Avx2>()
}

/// What [`SimdLevel::Avx2`](super::SimdLevel::Avx2) lists. Nothing but [`work`] and [`work_apart`] can name it.
struct Avx2;

/// Elements 0 to 7, and 8 to 15.
pub(super) type Halves = [__m256i; 2];

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

/// The numbers of each quad.
#[inline(always)]
fn quads(numbers: &[f64; LANES]) -> [__m256d; 4] {
    // SAFETY: both are 16 doubles, and any bits are a value of either.
    unsafe { transmute::<[f64; LANES], [__m256d; 4]>(*numbers) }
}

#[target_feature(enable = "avx2")]
fn parts_of(shares: &[f64; LANES], number: f64) -> Lanes {
    let (zero, one, number) = (_mm256_setzero_pd(), _mm256_set1_pd(1.0), _mm256_set1_pd(number));
    // The second operand is the result if the first is NaN.
    let limited = |shares| _mm256_max_pd(_mm256_min_pd(shares, one), zero);
    let [a, b, c, d] = quads(shares).map(|shares| _mm256_cvttpd_epi32(_mm256_mul_pd(limited(shares), number)));
    lanes([_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)])
}

#[target_feature(enable = "avx2")]
fn within(numbers: &[f64; LANES], low: f64, high: f64) -> Mask {
    let (low, high) = (_mm256_set1_pd(low), _mm256_set1_pd(high));
    let within =
        |numbers| _mm256_and_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(numbers, low), _mm256_cmp_pd::<_CMP_LE_OQ>(numbers, high));
    let [a, b, c, d] = quads(numbers).map(|numbers| _mm256_movemask_pd(within(numbers)) as Mask);
    a | b << 4 | c << 8 | d << 12
}

/// A number in each quad.
#[inline(always)]
fn of_quads(numbers: [f64; LANES / 4]) -> __m256d {
    // SAFETY: both are four doubles, and any bits are a value of either.
    unsafe { transmute::<[f64; LANES / 4], __m256d>(numbers) }
}

#[target_feature(enable = "avx2")]
pub(super) fn planes([a, b]: &[[f64; LANES / 4]; 2], [dx, dy]: &[[f64; LANES / 4]; 2], pixel: f64) -> Lanes {
    let (a, b, pixel) = (of_quads(*a), of_quads(*b), _mm256_set1_pd(pixel));
    let firsts = _mm256_add_pd(_mm256_mul_pd(a, of_quads(*dx)), _mm256_mul_pd(b, of_quads(*dy)));
    let (right, up) = (_mm256_mul_pd(a, pixel), _mm256_mul_pd(b, pixel));
    let rights = _mm256_add_pd(firsts, right);
    // One pixel of all quads each.
    let first = _mm256_cvtpd_ps(firsts);
    let right = _mm256_cvtpd_ps(rights);
    let above = _mm256_cvtpd_ps(_mm256_add_pd(firsts, up));
    let opposite = _mm256_cvtpd_ps(_mm256_add_pd(rights, up));
    // Two quads each, of which the lower and the upper pixels.
    let (lower, upper) = (_mm_unpacklo_ps(first, right), _mm_unpacklo_ps(above, opposite));
    let low = _mm256_set_m128(_mm_movehl_ps(upper, lower), _mm_movelh_ps(lower, upper));
    let (lower, upper) = (_mm_unpackhi_ps(first, right), _mm_unpackhi_ps(above, opposite));
    let high = _mm256_set_m128(_mm_movehl_ps(upper, lower), _mm_movelh_ps(lower, upper));
    lanes([_mm256_castps_si256(low), _mm256_castps_si256(high)])
}

/// Replaces indices by the words that have them; `false`, and no change, if one does not exist.
#[target_feature(enable = "avx2")]
fn gather_all<const N: usize>(words: &[AtomicU32], indices: &mut [Avx2Words; N]) -> bool {
    // A gather has signed indices.
    let length = i32::try_from(words.len()).unwrap_or(i32::MAX);
    let mut greatest = _mm256_setzero_si256();
    for Avx2Words([low, high]) in &*indices {
        greatest = _mm256_max_epu32(greatest, _mm256_max_epu32(*low, *high));
    }
    let beyond = _mm256_cmpeq_epi32(_mm256_max_epu32(greatest, _mm256_set1_epi32(length)), greatest);
    if _mm256_testz_si256(beyond, beyond) == 0 {
        return false;
    }
    let start = words.as_ptr().cast::<i32>();
    for Avx2Words([low, high]) in indices {
        // SAFETY: all indices are less than the number of words, and than 2^31. The words are atomic because other threads, of the guest too, may write them:
        // each is read at once, since it is aligned, which is what a relaxed load is on this architecture.
        unsafe {
            *low = _mm256_i32gather_epi32::<4>(start, *low);
            *high = _mm256_i32gather_epi32::<4>(start, *high);
        }
    }
    true
}

/// As [`Words::gather_pairs`].
#[target_feature(enable = "avx2")]
fn gather_pairs<const N: usize>(words: &[AtomicU32], numbers: [Avx2Words; N]) -> Option<[[Avx2Words; 2]; N]> {
    let pairs = i32::try_from(words.len() / 2).unwrap_or(i32::MAX);
    let mut greatest = _mm256_setzero_si256();
    for Avx2Words([low, high]) in &numbers {
        greatest = _mm256_max_epu32(greatest, _mm256_max_epu32(*low, *high));
    }
    let beyond = _mm256_cmpeq_epi32(_mm256_max_epu32(greatest, _mm256_set1_epi32(pairs)), greatest);
    if _mm256_testz_si256(beyond, beyond) == 0 {
        return None;
    }
    let start = words.as_ptr().cast::<i64>();
    let mut gathered = [[Avx2Words([_mm256_setzero_si256(); 2]); 2]; N];
    for (gathered, Avx2Words(halves)) in gathered.iter_mut().zip(numbers) {
        for (part, numbers) in halves.into_iter().enumerate() {
            let (low, high) = (_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
            // SAFETY: all pairs are among the words, and their numbers are less than 2^31. Each word is read at once, as in `gather_all`; a pair need not be.
            let (low, high) =
                unsafe { (_mm256_i32gather_epi64::<8>(start, low), _mm256_i32gather_epi64::<8>(start, high)) };
            // The firsts and the seconds of pairs 0, 1, 4, 5, 2, 3, 6 and 7.
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            let (firsts, seconds) = (_mm256_shuffle_ps::<0x88>(low, high), _mm256_shuffle_ps::<0xdd>(low, high));
            for (gathered, words) in gathered.iter_mut().zip([firsts, seconds]) {
                gathered.0[part] = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(words));
            }
        }
    }
    Some(gathered)
}

/// As [`Words::blend_float_halves`]. The two floats of a word stay side by side.
#[target_feature(enable = "avx2,f16c")]
fn blend_float_halves(texels: [Halves; 4], share_x: Halves, share_y: Halves) -> Option<Halves> {
    let (greatest, minus_zero) = (_mm256_set1_epi16(0x7bff), _mm256_set1_epi16(i16::MIN));
    let mut unusual = _mm256_setzero_si256();
    for word in texels.as_flattened() {
        let negative = _mm256_andnot_si256(_mm256_cmpeq_epi16(*word, minus_zero), _mm256_srai_epi16::<15>(*word));
        unusual = _mm256_or_si256(unusual, _mm256_or_si256(negative, _mm256_cmpgt_epi16(*word, greatest)));
    }
    if _mm256_testz_si256(unusual, unusual) == 0 {
        return None;
    }
    let mut blended = [_mm256_setzero_si256(); 2];
    for (i, blended) in blended.iter_mut().enumerate() {
        let [upper_left, upper_right, lower_left, lower_right] = texels;
        let mut words = [_mm_setzero_si128(); 2];
        for (part, words) in words.iter_mut().enumerate() {
            let (right, lower) = (shares_of_halves(share_x[i], part), shares_of_halves(share_y[i], part));
            let upper = mix(floats_of_halves(upper_left[i], part), floats_of_halves(upper_right[i], part), right);
            let below = mix(floats_of_halves(lower_left[i], part), floats_of_halves(lower_right[i], part), right);
            *words = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(mix(upper, below, lower));
        }
        *blended = _mm256_set_m128i(words[1], words[0]);
    }
    Some(blended)
}

/// The 16-bit floats of the first four words, or of the others.
#[target_feature(enable = "avx2,f16c")]
fn floats_of_halves(words: __m256i, part: usize) -> __m256 {
    _mm256_cvtph_ps(if part == 0 { _mm256_castsi256_si128(words) } else { _mm256_extracti128_si256::<1>(words) })
}

/// Shares of the first four words, or of the others, each twice; from 1/256 to floats.
#[target_feature(enable = "avx2")]
fn shares_of_halves(shares: __m256i, part: usize) -> __m256 {
    let twice =
        if part == 0 { _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3) } else { _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7) };
    _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_permutevar8x32_epi32(shares, twice)), _mm256_set1_ps(1.0 / 256.0))
}

/// `a` and `b` by the share of `b`. With a share of 0 it is `a`, to its sign.
#[target_feature(enable = "avx2")]
fn mix(a: __m256, b: __m256, share: __m256) -> __m256 {
    let rest = _mm256_sub_ps(_mm256_set1_ps(1.0), share);
    let mixed = _mm256_add_ps(_mm256_mul_ps(a, rest), _mm256_mul_ps(b, share));
    _mm256_blendv_ps(mixed, a, _mm256_cmp_ps::<_CMP_EQ_OQ>(share, _mm256_setzero_ps()))
}

/// As [`logarithm::log2`].
#[target_feature(enable = "avx2")]
pub(super) fn log2(values: __m128) -> __m128 {
    let high_words = _mm256_set1_epi64x(-1 << 32);
    let bits = _mm256_castpd_si256(_mm256_cvtps_pd(values));
    // In the high words. The low ones have no part in it.
    let roots = _mm256_set1_epi64x(i64::from(logarithm::ROOT_OF_HALF) << 32);
    let exponents = _mm256_srai_epi32::<20>(_mm256_sub_epi32(bits, roots));
    let rests = _mm256_sub_epi64(bits, _mm256_and_si256(_mm256_slli_epi32::<20>(exponents), high_words));
    let rests = _mm256_castsi256_pd(rests);
    let exponents = _mm256_permutevar8x32_epi32(exponents, _mm256_setr_epi32(1, 3, 5, 7, 0, 0, 0, 0));
    let exponents = _mm256_cvtepi32_pd(_mm256_castsi256_si128(exponents));

    let one = _mm256_set1_pd(1.0);
    let z = _mm256_div_pd(_mm256_sub_pd(rests, one), _mm256_add_pd(rests, one));
    let square = _mm256_mul_pd(z, z);
    let fourth = _mm256_mul_pd(square, square);
    let odd = _mm256_mul_pd(square, polynomial(fourth, &logarithm::ODD));
    let sum = _mm256_add_pd(polynomial(fourth, &logarithm::EVEN), odd);
    let scaled = _mm256_mul_pd(_mm256_mul_pd(_mm256_set1_pd(logarithm::SCALE), z), sum);
    let logarithms = _mm256_cvtpd_ps(_mm256_add_pd(exponents, scaled));
    let infinity = _mm_set1_ps(f32::INFINITY);
    _mm_blendv_ps(logarithms, infinity, _mm_cmpeq_ps(values, infinity))
}

/// The sums of powers of `x` with these factors, of the highest power first.
#[target_feature(enable = "avx2")]
fn polynomial(x: __m256d, factors: &[f64]) -> __m256d {
    let mut sum = _mm256_setzero_pd();
    for (power, &factor) in factors.iter().enumerate() {
        let factor = _mm256_set1_pd(factor);
        sum = if power == 0 { factor } else { _mm256_add_pd(_mm256_mul_pd(sum, x), factor) };
    }
    sum
}

/// [`Words`] in two registers. Nothing but [`work`] can name it.
#[derive(Clone, Copy)]
pub(super) struct Avx2Words(Halves);

/// Implements operations of [`Words`] by functions of registers.
macro_rules! words {
    ($( fn $name:ident($( $argument:ident ),*) = $call:expr; )*) => {$(
        #[inline(always)]
        fn $name($( $argument: Self ),*) -> Self {
            let all = ($( $argument.0, )*);
            // Not by a closure, which would be compiled without AVX2.
            let ($( [$argument, _], )*) = all;
            // SAFETY: the call needs AVX2 only, and nothing but `work` can name this type, which runs only where `super::has_avx2` has found it.
            let low = unsafe { $call };
            let ($( [_, $argument], )*) = all;
            // SAFETY: as above.
            Self([low, unsafe { $call }])
        }
    )*};
}

/// The same for shifts by a number of bits.
macro_rules! shifts {
    ($( fn $name:ident = $instruction:ident; )*) => {$(
        #[inline(always)]
        fn $name(x: Self, by: u32) -> Self {
            let [low, high] = x.0;
            // SAFETY: as above.
            unsafe {
                let by = _mm_cvtsi32_si128(by as i32);
                Self([$instruction(low, by), $instruction(high, by)])
            }
        }
    )*};
}

/// An operation on floats.
macro_rules! float {
    ($instruction:expr, $x:expr, $y:expr) => {
        _mm256_castps_si256($instruction(_mm256_castsi256_ps($x), _mm256_castsi256_ps($y)))
    };
}

/// The bytes of each word, of four, that are the lowest in both of its halves. A number with the highest bit makes a byte 0.
pub(super) const LOWEST_TWICE: i128 = 0x800c_800c_8008_8008_8004_8004_8000_8000_u128 as i128;
/// The same with the middle 16 bits.
pub(super) const MIDDLE_TWICE: i128 = 0x0e0d_0e0d_0a09_0a09_0605_0605_0201_0201;

/// Bytes of four words, in both halves of a register.
#[target_feature(enable = "avx2")]
fn of_quads_bytes(bytes: i128) -> __m256i {
    _mm256_broadcastsi128_si256(_mm_set_epi64x((bytes >> 64) as i64, bytes as i64))
}

#[target_feature(enable = "avx2")]
fn weigh_halves(x: __m256i, y: __m256i, share: __m256i) -> __m256i {
    // Signed products of pairs: halves less 2^15, which the weights make 2^23.
    const OFFSET: i32 = (1 << 23) + (1 << 15);
    const ODD: i32 = 0b1010_1010;
    // In the low halves 256 less the shares.
    let weights = _mm256_add_epi16(_mm256_xor_si256(share, _mm256_set1_epi32(0xffff)), _mm256_set1_epi32(257));
    let sign = _mm256_set1_epi16(i16::MIN);
    let (x, y) = (_mm256_xor_si256(x, sign), _mm256_xor_si256(y, sign));
    let low = _mm256_blend_epi16::<ODD>(x, _mm256_slli_epi32::<16>(y));
    let high = _mm256_blend_epi16::<ODD>(_mm256_srli_epi32::<16>(x), y);
    let offset = _mm256_set1_epi32(OFFSET);
    let low = _mm256_add_epi32(_mm256_madd_epi16(low, weights), offset);
    let high = _mm256_add_epi32(_mm256_madd_epi16(high, weights), offset);
    _mm256_blend_epi16::<ODD>(_mm256_srli_epi32::<16>(low), high)
}

impl Words for Avx2Words {
    type Held = Self;

    words! {
        fn and(x, y) = _mm256_and_si256(x, y);
        fn or(x, y) = _mm256_or_si256(x, y);
        fn xor(x, y) = _mm256_xor_si256(x, y);
        fn add(x, y) = _mm256_add_epi32(x, y);
        fn subtract(x, y) = _mm256_sub_epi32(x, y);
        fn multiply(x, y) = _mm256_mullo_epi32(x, y);
        fn min_signed(x, y) = _mm256_min_epi32(x, y);
        fn max_signed(x, y) = _mm256_max_epi32(x, y);
        fn shift_right_each(x, by) = _mm256_srlv_epi32(x, by);
        fn add_halves(x, y) = _mm256_add_epi16(x, y);
        fn subtract_halves(x, y) = _mm256_sub_epi16(x, y);
        fn multiply_halves(x, y) = _mm256_mullo_epi16(x, y);
        fn min_signed_halves(x, y) = _mm256_min_epi16(x, y);
        fn max_signed_halves(x, y) = _mm256_max_epi16(x, y);
        fn min_unsigned_halves(x, y) = _mm256_min_epu16(x, y);
        fn add_products_of_halves(x, y) = _mm256_madd_epi16(x, y);
        fn lowest_twice(x) = _mm256_shuffle_epi8(x, of_quads_bytes(LOWEST_TWICE));
        fn middle_twice(x) = _mm256_shuffle_epi8(x, of_quads_bytes(MIDDLE_TWICE));
        fn weigh_halves(x, y, share) = weigh_halves(x, y, share);
        fn float_add(x, y) = float!(_mm256_add_ps, x, y);
        fn float_subtract(x, y) = float!(_mm256_sub_ps, x, y);
        fn float_multiply(x, y) = float!(_mm256_mul_ps, x, y);
        fn float_divide(x, y) = float!(_mm256_div_ps, x, y);
        fn float_min(x, y) = float!(_mm256_min_ps, x, y);
        fn float_max(x, y) = float!(_mm256_max_ps, x, y);
        fn float_square_root(x) = _mm256_castps_si256(_mm256_sqrt_ps(_mm256_castsi256_ps(x)));
        fn float_floor(x) = _mm256_castps_si256(_mm256_floor_ps(_mm256_castsi256_ps(x)));
        fn to_integer(x) = _mm256_cvttps_epi32(_mm256_castsi256_ps(x));
        fn to_float(x) = _mm256_castps_si256(_mm256_cvtepi32_ps(x));
        fn equal(x, y) = _mm256_cmpeq_epi32(x, y);
        fn greater(x, y) = _mm256_cmpgt_epi32(x, y);
        fn float_greater(x, y) = float!(_mm256_cmp_ps::<_CMP_GT_OQ>, x, y);
        fn float_at_least(x, y) = float!(_mm256_cmp_ps::<_CMP_GE_OQ>, x, y);
        fn either(x, y) = _mm256_or_si256(x, y);
        fn both(x, y) = _mm256_and_si256(x, y);
        fn select(x, y, held) = _mm256_blendv_epi8(x, y, held);
        fn keep(x, held) = _mm256_and_si256(x, held);
        fn firsts(x) = _mm256_shuffle_epi32::<0>(x);
        fn neighbours(x) = _mm256_shuffle_epi32::<0b11_11_10_01>(x);
    }

    shifts! {
        fn shift_left = _mm256_sll_epi32;
        fn shift_right = _mm256_srl_epi32;
        fn shift_right_signed = _mm256_sra_epi32;
        fn shift_left_halves = _mm256_sll_epi16;
        fn shift_right_halves = _mm256_srl_epi16;
    }

    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self::load(&Lanes::splat(word))
    }

    #[inline(always)]
    fn load(x: &Lanes) -> Self {
        Self(halves(x))
    }

    #[inline(always)]
    fn store(x: Self) -> Lanes {
        lanes(x.0)
    }

    #[inline(always)]
    fn bits(held: Self) -> Mask {
        // SAFETY: as above.
        unsafe { signs(held.0) }
    }

    #[inline(always)]
    fn logarithms_of_firsts(x: Self) -> Self {
        // SAFETY: as above.
        unsafe {
            let [low, high] = x.0.map(|half| _mm256_castsi256_ps(half));
            // Those of quads 0, 2, 1 and 3, each twice.
            let firsts = _mm256_shuffle_ps::<0>(low, high);
            let firsts = _mm256_permutevar8x32_ps(firsts, _mm256_setr_epi32(0, 4, 2, 6, 0, 0, 0, 0));
            let logarithms = _mm256_castps128_ps256(log2(_mm256_castps256_ps128(firsts)));
            let of_two = |quads| _mm256_castps_si256(_mm256_permutevar8x32_ps(logarithms, quads));
            Self([of_two(_mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1)), of_two(_mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3))])
        }
    }

    #[inline(always)]
    fn blend_float_halves([p, q, r, s]: [Self; 4], share_x: Self, share_y: Self) -> Option<Self> {
        // SAFETY: as above, with F16C, which comes with AVX2.
        unsafe { blend_float_halves([p.0, q.0, r.0, s.0], share_x.0, share_y.0) }.map(Self)
    }

    #[inline(always)]
    fn gather_pairs<const N: usize>(words: &[AtomicU32], numbers: [Self; N]) -> Option<[[Self; 2]; N]> {
        // SAFETY: as above.
        unsafe { gather_pairs(words, numbers) }
    }

    #[inline(always)]
    fn gather<const N: usize>(words: &[AtomicU32], mut indices: [Self; N]) -> Option<[Self; N]> {
        // SAFETY: as above.
        unsafe { gather_all(words, &mut indices) }.then_some(indices)
    }
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
    type Words = Avx2Words;

    #[inline(always)]
    fn apart<W: SimdTask>(task: W) -> W::Output {
        // SAFETY: nothing but functions with these features can name the type.
        unsafe { work_apart(task) }
    }

    instructions! {
        fn zero(a: &Lanes) -> Mask;
        fn negative(a: &Lanes) -> Mask;
        fn greater(a: &Lanes, b: &Lanes) -> Mask;
        fn above(a: &Lanes, b: &Lanes) -> Mask;
        fn blend(old: &mut Lanes, new: &Lanes, mask: Mask);
        fn parts_of(shares: &[f64; LANES], number: f64) -> Lanes;
        fn within(numbers: &[f64; LANES], low: f64, high: f64) -> Mask;
        fn planes(slopes: &[[f64; LANES / 4]; 2], distances: &[[f64; LANES / 4]; 2], pixel: f64) -> Lanes;
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

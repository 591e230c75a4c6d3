//! The vector operations in instructions of AVX-512, which round as the QPU does.

#![allow(unsafe_code)]

use super::SimdTask;
use super::vectors::{
    EXPONENT, GREATEST, Portable, SIGN, Vectors, special_product as reference_product, special_sum as reference_sum,
};
use super::words::Words;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use std::arch::x86_64::*;
use std::mem::transmute;
use std::sync::atomic::AtomicU32;
use v3d_hw::qpu::LANES;

#[target_feature(enable = "avx2,fma,bmi1,popcnt,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(crate) fn work<W: SimdTask>(work: W) -> W::Output {
    work.run::<Avx512>()
}

/// The same, never inlined.
#[target_feature(enable = "avx2,fma,bmi1,popcnt,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
#[inline(never)]
fn work_apart<W: SimdTask>(work: W) -> W::Output {
    work.run::<Avx512>()
}

/// AVX-512. Nothing but [`work`] and [`work_apart`] can name it.
struct Avx512;

const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

#[inline(always)]
fn vector(lanes: &Lanes) -> __m512i {
    // SAFETY: both are 64 bytes, and any bits are a value of either.
    unsafe { transmute::<Lanes, __m512i>(*lanes) }
}

#[inline(always)]
fn lanes(vector: __m512i) -> Lanes {
    // SAFETY: both are 64 bytes, and any bits are a value of either.
    unsafe { transmute::<__m512i, Lanes>(vector) }
}

/// Elements 0 to 7, and 8 to 15.
#[inline(always)]
fn two(vector: __m512i) -> super::avx2::Halves {
    // SAFETY: both are 64 bytes, and any bits are a value of either.
    unsafe { transmute::<__m512i, super::avx2::Halves>(vector) }
}

/// Denormals and -0 to +0.
#[target_feature(enable = "avx512f")]
fn flush(x: __m512i) -> __m512i {
    _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(x, splat(EXPONENT)), x)
}

#[inline(always)]
fn splat(bits: u32) -> __m512i {
    vector(&Lanes::splat(bits))
}

/// Without the sign.
#[target_feature(enable = "avx512f")]
fn magnitude(x: __m512i) -> __m512i {
    _mm512_andnot_si512(splat(SIGN), x)
}

/// Infinity with the sign of each element.
#[target_feature(enable = "avx512f")]
fn infinite(sign: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_and_si512(sign, splat(SIGN)), splat(EXPONENT))
}

/// Elements with the highest exponent: infinities.
#[target_feature(enable = "avx512f")]
fn is_infinite(x: __m512i) -> Mask {
    _mm512_cmpge_epu32_mask(magnitude(x), splat(EXPONENT))
}

/// Results that are the greatest float or beyond: infinity, NaN or overflow.
#[target_feature(enable = "avx512f")]
fn special(result: __m512i) -> Mask {
    _mm512_cmpge_epu32_mask(magnitude(result), splat(GREATEST))
}

#[target_feature(enable = "avx512f")]
fn sum(a: &Lanes, b: &Lanes, flip: u32) -> Lanes {
    let x = flush(vector(a));
    let y = flush(_mm512_xor_si512(vector(b), splat(flip)));
    let sum = _mm512_add_round_ps::<TOWARD_ZERO>(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
    let sum = flush(_mm512_castps_si512(sum));
    let special = special(sum);
    if special == 0 {
        return lanes(sum);
    }
    let (infinite_x, infinite_y) = (is_infinite(x), is_infinite(y));
    // An overflow, or nearly one.
    let large = special & !infinite_x & !infinite_y != 0;
    let with_x = _mm512_mask_mov_epi32(sum, infinite_x, infinite(x));
    let with_both = _mm512_mask_mov_epi32(with_x, infinite_y, infinite(y));
    lanes(if large { vector(&reference_sum(a, b, flip)) } else { with_both })
}

#[target_feature(enable = "avx512f")]
fn product(a: &Lanes, b: &Lanes) -> Lanes {
    let (x, y) = (flush(vector(a)), flush(vector(b)));
    let product = _mm512_mul_round_ps::<TOWARD_ZERO>(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
    let product = flush(_mm512_castps_si512(product));
    let special = special(product);
    if special == 0 {
        return lanes(product);
    }
    let is_infinite = is_infinite(x) | is_infinite(y);
    let large = special & !is_infinite != 0;
    // 0 times infinity is 0.
    let numbers = _mm512_test_epi32_mask(x, x) & _mm512_test_epi32_mask(y, y);
    let infinite = _mm512_maskz_mov_epi32(numbers, infinite(_mm512_xor_si512(x, y)));
    let with_infinite = _mm512_mask_mov_epi32(product, is_infinite, infinite);
    lanes(if large { vector(&reference_product(a, b)) } else { with_infinite })
}

#[target_feature(enable = "avx512f")]
fn ftoi(a: &Lanes) -> Lanes {
    let x = vector(a);
    let integer = _mm512_cvttps_epi32(_mm512_castsi512_ps(x));
    let exponent = _mm512_and_si512(x, splat(EXPONENT));
    let large = _mm512_cmpge_epu32_mask(exponent, splat((127 + 31) << 23));
    if large == 0 {
        return lanes(integer);
    }
    // The significand is shifted to its place, or out of it: by 105 if infinite.
    let by = _mm512_sub_epi32(_mm512_srli_epi32::<23>(exponent), splat(127 + 23));
    let significand = _mm512_or_si512(_mm512_and_si512(x, splat(0x7f_ffff)), splat(0x80_0000));
    let low = _mm512_sllv_epi32(significand, by);
    let low = _mm512_mask_sub_epi32(low, _mm512_cmplt_epi32_mask(x, splat(0)), splat(0), low);
    lanes(_mm512_mask_mov_epi32(integer, large, low))
}

#[target_feature(enable = "avx512f")]
fn itof(a: &Lanes) -> Lanes {
    lanes(_mm512_castps_si512(_mm512_cvt_roundepi32_ps::<TOWARD_ZERO>(vector(a))))
}

#[target_feature(enable = "avx512f")]
fn zero(a: &Lanes) -> Mask {
    _mm512_testn_epi32_mask(vector(a), vector(a))
}

#[target_feature(enable = "avx512dq")]
fn negative(a: &Lanes) -> Mask {
    _mm512_movepi32_mask(vector(a))
}

#[target_feature(enable = "avx512f")]
fn greater(a: &Lanes, b: &Lanes) -> Mask {
    _mm512_cmpgt_epi32_mask(vector(a), vector(b))
}

#[target_feature(enable = "avx512f")]
fn above(a: &Lanes, b: &Lanes) -> Mask {
    _mm512_cmpgt_epu32_mask(vector(a), vector(b))
}

#[target_feature(enable = "avx512f")]
fn blend(old: &mut Lanes, new: &Lanes, mask: Mask) {
    *old = lanes(_mm512_mask_mov_epi32(vector(old), mask, vector(new)));
}

/// Replaces indices by the words that have them; `false`, and no change, if one does not exist.
#[target_feature(enable = "avx512f")]
fn gather_all<const N: usize>(words: &[AtomicU32], indices: &mut [Avx512Words; N]) -> bool {
    // A gather has signed indices.
    let length = words.len().min(i32::MAX as usize) as u32;
    let mut greatest = splat(0);
    for indices in &*indices {
        greatest = _mm512_max_epu32(greatest, indices.0);
    }
    if _mm512_cmplt_epu32_mask(greatest, splat(length)) != ALL {
        return false;
    }
    let start = words.as_ptr().cast::<i32>();
    for indices in indices {
        // SAFETY: all indices are less than the number of words, and than 2^31. The words are atomic because other threads, of the guest too, may write them:
        // each is read at once, since it is aligned, which is what a relaxed load is on this architecture.
        indices.0 = unsafe { _mm512_i32gather_epi32::<4>(indices.0, start) };
    }
    true
}

/// As [`Words::gather_pairs`].
#[target_feature(enable = "avx512f")]
fn gather_pairs<const N: usize>(words: &[AtomicU32], numbers: [Avx512Words; N]) -> Option<[[Avx512Words; 2]; N]> {
    let pairs = (words.len() / 2).min(i32::MAX as usize) as u32;
    let mut greatest = splat(0);
    for numbers in &numbers {
        greatest = _mm512_max_epu32(greatest, numbers.0);
    }
    if _mm512_cmplt_epu32_mask(greatest, splat(pairs)) != ALL {
        return None;
    }
    let start = words.as_ptr().cast::<i64>();
    let mut gathered = [[Avx512Words(splat(0)); 2]; N];
    for (gathered, numbers) in gathered.iter_mut().zip(numbers) {
        let [low, high] = two(numbers.0);
        // SAFETY: all pairs are among the words, and their numbers are less than 2^31. Each word is read at once, as in `gather_all`; a pair need not be.
        let (low, high) =
            unsafe { (_mm512_i32gather_epi64::<8>(low, start), _mm512_i32gather_epi64::<8>(high, start)) };
        *gathered =
            [EVEN_WORDS, ODD_WORDS].map(|places| Avx512Words(_mm512_permutex2var_epi32(low, vector(&places), high)));
    }
    Some(gathered)
}

/// As [`Words::blend_float_halves`]. The two floats of a word stay side by side.
#[target_feature(enable = "avx512f,avx512bw")]
fn blend_float_halves(texels: [__m512i; 4], share_x: __m512i, share_y: __m512i) -> Option<__m512i> {
    let (greatest, minus_zero) = (splat(0x7bff_7bff), splat(0x8000_8000));
    let mut unusual = 0;
    for words in texels {
        unusual |= _mm512_mask_cmpneq_epu16_mask(_mm512_cmpgt_epu16_mask(words, greatest), words, minus_zero);
    }
    if unusual != 0 {
        return None;
    }
    let texels = texels.map(two);
    let mut blended = [_mm256_setzero_si256(); 2];
    for ((part, blended), twice) in blended.iter_mut().enumerate().zip([LOW_WORDS_TWICE, HIGH_WORDS_TWICE]) {
        let [upper_left, upper_right, lower_left, lower_right] = texels.map(|words| _mm512_cvtph_ps(words[part]));
        let [right, lower] = [share_x, share_y].map(|shares| {
            let shares = _mm512_cvtepi32_ps(_mm512_permutexvar_epi32(vector(&twice), shares));
            _mm512_mul_ps(shares, _mm512_set1_ps(1.0 / 256.0))
        });
        let upper = mix(upper_left, upper_right, right);
        let mixed = mix(upper, mix(lower_left, lower_right, right), lower);
        *blended = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(mixed);
    }
    let [low, high] = blended;
    Some(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
}

/// `a` and `b` by the share of `b`. With a share of 0 it is `a`, to its sign.
#[target_feature(enable = "avx512f")]
fn mix(a: __m512, b: __m512, share: __m512) -> __m512 {
    let rest = _mm512_sub_ps(_mm512_set1_ps(1.0), share);
    let shared = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(share, _mm512_setzero_ps());
    _mm512_mask_add_ps(a, shared, _mm512_mul_ps(a, rest), _mm512_mul_ps(b, share))
}

/// The even words of two vectors, and the odd ones.
const EVEN_WORDS: Lanes = Lanes([0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]);
const ODD_WORDS: Lanes = Lanes([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]);
/// Words 0 to 7 twice, and words 8 to 15.
const LOW_WORDS_TWICE: Lanes = Lanes([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
const HIGH_WORDS_TWICE: Lanes = Lanes([8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15]);

/// The first elements of quads, in elements 0 to 3.
const QUAD_FIRSTS: Lanes = Lanes([0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// The quad of each element.
const QUADS: Lanes = Lanes([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);

/// [`Words`] in a register. Nothing but [`work`] can name it.
#[derive(Clone, Copy)]
pub(super) struct Avx512Words(__m512i);

/// Implements operations of [`Words`] by functions of registers.
macro_rules! words {
    ($( fn $name:ident($( $argument:ident ),*) = $call:expr; )*) => {$(
        #[inline(always)]
        fn $name($( $argument: Self ),*) -> Self {
            // SAFETY: the call needs AVX-512 only, and nothing but `work` can name this type, which runs only where `super::has_avx512` has found it.
            Self(unsafe { let ($( $argument, )*) = ($( $argument.0, )*); $call })
        }
    )*};
}

/// The same for shifts by a number of bits.
macro_rules! shifts {
    ($( fn $name:ident = $instruction:ident; )*) => {$(
        #[inline(always)]
        fn $name(x: Self, by: u32) -> Self {
            // SAFETY: as above.
            Self(unsafe { $instruction(x.0, _mm_cvtsi32_si128(by as i32)) })
        }
    )*};
}

/// The same for comparisons.
macro_rules! comparisons {
    ($( fn $name:ident($x:ident, $y:ident) = $call:expr; )*) => {$(
        #[inline(always)]
        fn $name($x: Self, $y: Self) -> Mask {
            // SAFETY: as above.
            unsafe { let ($x, $y) = ($x.0, $y.0); $call }
        }
    )*};
}

/// An operation on floats.
macro_rules! float {
    ($instruction:expr, $x:expr, $y:expr) => {
        _mm512_castps_si512($instruction(_mm512_castsi512_ps($x), _mm512_castsi512_ps($y)))
    };
}

/// Bytes of four words, in all quarters of a register.
#[target_feature(enable = "avx512f")]
fn of_quads_bytes(bytes: i128) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x((bytes >> 64) as i64, bytes as i64))
}

#[target_feature(enable = "avx512f,avx512bw")]
fn weigh_halves(x: __m512i, y: __m512i, share: __m512i) -> __m512i {
    // Signed products of pairs: halves less 2^15, which the weights make 2^23.
    const OFFSET: u32 = (1 << 23) + (1 << 15);
    const ODD: u32 = 0xaaaa_aaaa;
    // In the low halves 256 less the shares.
    let weights = _mm512_add_epi16(_mm512_xor_si512(share, splat(0xffff)), splat(257));
    let sign = splat(0x8000_8000);
    let (x, y) = (_mm512_xor_si512(x, sign), _mm512_xor_si512(y, sign));
    let low = _mm512_mask_blend_epi16(ODD, x, _mm512_slli_epi32::<16>(y));
    let high = _mm512_mask_blend_epi16(ODD, _mm512_srli_epi32::<16>(x), y);
    let low = _mm512_add_epi32(_mm512_madd_epi16(low, weights), splat(OFFSET));
    let high = _mm512_add_epi32(_mm512_madd_epi16(high, weights), splat(OFFSET));
    _mm512_mask_blend_epi16(ODD, _mm512_srli_epi32::<16>(low), high)
}

impl Words for Avx512Words {
    type Held = Mask;

    words! {
        fn and(x, y) = _mm512_and_si512(x, y);
        fn or(x, y) = _mm512_or_si512(x, y);
        fn xor(x, y) = _mm512_xor_si512(x, y);
        fn add(x, y) = _mm512_add_epi32(x, y);
        fn subtract(x, y) = _mm512_sub_epi32(x, y);
        fn multiply(x, y) = _mm512_mullo_epi32(x, y);
        fn min_signed(x, y) = _mm512_min_epi32(x, y);
        fn max_signed(x, y) = _mm512_max_epi32(x, y);
        fn shift_right_each(x, by) = _mm512_srlv_epi32(x, by);
        fn add_halves(x, y) = _mm512_add_epi16(x, y);
        fn subtract_halves(x, y) = _mm512_sub_epi16(x, y);
        fn multiply_halves(x, y) = _mm512_mullo_epi16(x, y);
        fn min_signed_halves(x, y) = _mm512_min_epi16(x, y);
        fn max_signed_halves(x, y) = _mm512_max_epi16(x, y);
        fn min_unsigned_halves(x, y) = _mm512_min_epu16(x, y);
        fn add_products_of_halves(x, y) = _mm512_madd_epi16(x, y);
        fn lowest_twice(x) = _mm512_shuffle_epi8(x, of_quads_bytes(super::avx2::LOWEST_TWICE));
        fn middle_twice(x) = _mm512_shuffle_epi8(x, of_quads_bytes(super::avx2::MIDDLE_TWICE));
        fn weigh_halves(x, y, share) = weigh_halves(x, y, share);
        fn float_add(x, y) = float!(_mm512_add_ps, x, y);
        fn float_subtract(x, y) = float!(_mm512_sub_ps, x, y);
        fn float_multiply(x, y) = float!(_mm512_mul_ps, x, y);
        fn float_divide(x, y) = float!(_mm512_div_ps, x, y);
        fn float_min(x, y) = float!(_mm512_min_ps, x, y);
        fn float_max(x, y) = float!(_mm512_max_ps, x, y);
        fn float_square_root(x) = _mm512_castps_si512(_mm512_sqrt_ps(_mm512_castsi512_ps(x)));
        fn float_floor(x) = _mm512_castps_si512(_mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(_mm512_castsi512_ps(x)));
        fn to_integer(x) = _mm512_cvttps_epi32(_mm512_castsi512_ps(x));
        fn to_float(x) = _mm512_castps_si512(_mm512_cvtepi32_ps(x));
        fn firsts(x) = _mm512_shuffle_epi32::<0>(x);
        fn neighbours(x) = _mm512_shuffle_epi32::<0b11_11_10_01>(x);
    }

    shifts! {
        fn shift_left = _mm512_sll_epi32;
        fn shift_right = _mm512_srl_epi32;
        fn shift_right_signed = _mm512_sra_epi32;
        fn shift_left_halves = _mm512_sll_epi16;
        fn shift_right_halves = _mm512_srl_epi16;
    }

    comparisons! {
        fn equal(x, y) = _mm512_cmpeq_epi32_mask(x, y);
        fn greater(x, y) = _mm512_cmpgt_epi32_mask(x, y);
        fn float_greater(x, y) = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
        fn float_at_least(x, y) = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
    }

    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self(splat(word))
    }

    #[inline(always)]
    fn load(x: &Lanes) -> Self {
        Self(vector(x))
    }

    #[inline(always)]
    fn store(x: Self) -> Lanes {
        lanes(x.0)
    }

    #[inline(always)]
    fn either(x: Mask, y: Mask) -> Mask {
        x | y
    }

    #[inline(always)]
    fn both(x: Mask, y: Mask) -> Mask {
        x & y
    }

    #[inline(always)]
    fn bits(held: Mask) -> Mask {
        held
    }

    #[inline(always)]
    fn select(x: Self, y: Self, held: Mask) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_mask_mov_epi32(x.0, held, y.0) })
    }

    #[inline(always)]
    fn keep(x: Self, held: Mask) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_maskz_mov_epi32(held, x.0) })
    }

    #[inline(always)]
    fn logarithms_of_firsts(x: Self) -> Self {
        // SAFETY: as above; the function needs AVX2, which every processor with AVX-512 has.
        Self(unsafe {
            let firsts = _mm512_permutexvar_ps(vector(&QUAD_FIRSTS), _mm512_castsi512_ps(x.0));
            let logarithms = _mm512_castps128_ps512(super::avx2::log2(_mm512_castps512_ps128(firsts)));
            _mm512_castps_si512(_mm512_permutexvar_ps(vector(&QUADS), logarithms))
        })
    }

    #[inline(always)]
    fn blend_float_halves([p, q, r, s]: [Self; 4], share_x: Self, share_y: Self) -> Option<Self> {
        // SAFETY: as above.
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
    ($( fn $name:ident($( $argument:ident: $kind:ty ),*) $(-> $result:ty)? = $call:expr; )*) => {$(
        #[inline(always)]
        fn $name($( $argument: $kind ),*) $(-> $result)? {
            // SAFETY: the function needs AVX-512 only, and nothing but `work` can name this type, which runs only where `super::has_avx512` has found
            // it.
            unsafe { $call }
        }
    )*};
}

impl Vectors for Avx512 {
    type Words = Avx512Words;

    #[inline(always)]
    fn apart<W: SimdTask>(task: W) -> W::Output {
        // SAFETY: nothing but functions with these features can name the type.
        unsafe { work_apart(task) }
    }

    instructions! {
        fn fadd(a: &Lanes, b: &Lanes) -> Lanes = sum(a, b, 0);
        fn fsub(a: &Lanes, b: &Lanes) -> Lanes = sum(a, b, SIGN);
        fn fmul(a: &Lanes, b: &Lanes) -> Lanes = product(a, b);
        fn ftoi(a: &Lanes) -> Lanes = ftoi(a);
        fn itof(a: &Lanes) -> Lanes = itof(a);
        fn zero(a: &Lanes) -> Mask = zero(a);
        fn negative(a: &Lanes) -> Mask = negative(a);
        fn greater(a: &Lanes, b: &Lanes) -> Mask = greater(a, b);
        fn above(a: &Lanes, b: &Lanes) -> Mask = above(a, b);
        fn blend(old: &mut Lanes, new: &Lanes, mask: Mask) = blend(old, new, mask);
    }

    #[inline(always)]
    fn parts_of(shares: &[f64; LANES], number: f64) -> Lanes {
        Portable::<true>::parts_of(shares, number)
    }

    #[inline(always)]
    fn planes(slopes: &[[f64; LANES / 4]; 2], distances: &[[f64; LANES / 4]; 2], pixel: f64) -> Lanes {
        // SAFETY: the function needs AVX2 only, which every processor with AVX-512 has; nothing but `work` can name this type.
        unsafe { super::avx2::planes(slopes, distances, pixel) }
    }

    #[inline(always)]
    fn within(numbers: &[f64; LANES], low: f64, high: f64) -> Mask {
        Portable::<true>::within(numbers, low, high)
    }
}

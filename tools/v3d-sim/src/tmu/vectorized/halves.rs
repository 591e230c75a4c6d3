//! Texels of 16-bit floats, RGBA64 and S16F, by the rules of [`filter`](crate::tmu::filter).
//!
//! A word holds two channels. Lookups for which that module reports a fault, and texels that are infinite or NaN and blended, are left to it.

use super::texel::{self, Places, fetch};
use crate::qpu::lanes::ALL;
use crate::simd::vectors::SIGN;
use crate::simd::words::Words;
use std::sync::atomic::AtomicU32;
use v3d_hw::texture::TextureType;

/// The bits of a half without its sign, and of an infinite one.
const MAGNITUDE: u32 = 0x7fff;
const INFINITY: u32 = 0x7c00;
/// The smallest half that is no denormal, and the same as a float.
const SMALLEST_NORMAL: u32 = 0x0400;
const SMALLEST_NORMAL_FLOAT: u32 = 0x3880_0000;
/// What the exponent of a half lacks to be that of a float, in its place.
const EXPONENT_OFFSET: u32 = 112 << 23;
/// The unit of denormal halves is 2^-24.
const UNITS: f32 = 16_777_216.0;

/// Words of texels: their red and green channels, and blue and alpha. Types with one channel have zeros in the others.
pub(super) type Pairs<W> = [W; 2];

/// Reads texels; `None` if one is not in memory.
#[inline(always)]
pub(super) fn read<W: Words, const N: usize>(
    texture_type: TextureType,
    words: &[AtomicU32],
    places: &[Places<W>; N],
) -> Option<[Pairs<W>; N]> {
    let first = fetch(words, places, 0, ALL)?;
    let mut texels = [[W::splat(0); 2]; N];
    if texture_type == TextureType::S16F {
        for ((texel, word), places) in texels.iter_mut().zip(first).zip(places) {
            let before = W::shift_left(W::and(places.offsets, W::splat(2)), 3);
            texel[0] = W::and(W::shift_right_each(word, before), W::splat(0xffff));
        }
        return Some(texels);
    }
    let second = fetch(words, places, 1, ALL)?;
    for ((texel, first), second) in texels.iter_mut().zip(first).zip(second) {
        *texel = [first, second];
    }
    Some(texels)
}

/// Reads texels by their numbers in memory; `None` if one is not in memory.
#[inline(always)]
pub(super) fn read_compact<W: Words, const N: usize>(
    texture_type: TextureType,
    words: &[AtomicU32],
    numbers: [W; N],
) -> Option<[Pairs<W>; N]> {
    if texture_type == TextureType::Rgba64 {
        return W::gather_pairs(words, numbers);
    }
    let shifted = texel::halves(words, numbers)?;
    let mut texels = [[W::splat(0); 2]; N];
    for (texel, word) in texels.iter_mut().zip(shifted) {
        texel[0] = W::and(word, W::splat(0xffff));
    }
    Some(texels)
}

/// Texels as they are; `None` if one is NaN, of which only the sign would stay.
#[inline(always)]
pub(super) fn unchanged<W: Words>(texels: Pairs<W>) -> Option<Pairs<W>> {
    let mut greatest = W::splat(0);
    for pair in texels {
        for half in halves(pair) {
            greatest = W::max_signed(greatest, W::and(half, W::splat(MAGNITUDE)));
        }
    }
    let has_nan = W::bits(W::greater(greatest, W::splat(INFINITY))) != 0;
    (!has_nan).then_some(texels)
}

/// Blends texels upper left, upper right, lower left, lower right; the shares, in 1/256, are the right and the lower ones'.
#[inline(always)]
pub(super) fn blend<W: Words>(texels: [Pairs<W>; 4], share_x: W, share_y: W) -> Option<Pairs<W>> {
    let scale = W::splat_float(1.0 / 256.0);
    let right = W::float_multiply(W::to_float(share_x), scale);
    let lower = W::float_multiply(W::to_float(share_y), scale);
    let mut blended = [W::splat(0); 2];
    for (pair, blended) in blended.iter_mut().enumerate() {
        let [p, q, r, s] = &texels;
        if let Some(of_pair) = W::blend_float_halves([p[pair], q[pair], r[pair], s[pair]], share_x, share_y) {
            *blended = of_pair;
            continue;
        }
        let mut of_pair = W::splat(0);
        for half in 0..2 {
            let mut floats = [W::splat(0); 4];
            for (float, texel) in floats.iter_mut().zip(texels) {
                *float = to_float(halves(texel[pair])[half])?;
            }
            let [upper_left, upper_right, lower_left, lower_right] = floats;
            let upper = mix(upper_left, upper_right, right);
            let mixed = from_float(mix(upper, mix(lower_left, lower_right, right), lower));
            of_pair = W::or(of_pair, if half == 0 { mixed } else { W::shift_left(mixed, 16) });
        }
        *blended = of_pair;
    }
    Some(blended)
}

/// Both halves of words.
#[inline(always)]
fn halves<W: Words>(words: W) -> [W; 2] {
    [W::and(words, W::splat(0xffff)), W::shift_right(words, 16)]
}

/// `a` and `b` by the share of `b`. With a share of 0 it is `a`, to its sign.
#[inline(always)]
fn mix<W: Words>(a: W, b: W, share: W) -> W {
    let rest = W::float_subtract(W::splat_float(1.0), share);
    let mixed = W::float_add(W::float_multiply(a, rest), W::float_multiply(b, share));
    W::select(mixed, a, W::equal(share, W::splat(0)))
}

/// The values of halves; `None` if one is infinite, NaN or a negative power of two.
#[inline(always)]
fn to_float<W: Words>(halves: W) -> Option<W> {
    let magnitude = W::and(halves, W::splat(MAGNITUDE));
    let normal = W::add(W::shift_left(magnitude, 13), W::splat(EXPONENT_OFFSET));
    let denormal = W::float_multiply(W::to_float(magnitude), W::splat_float(1.0 / UNITS));
    let float = W::select(normal, denormal, W::greater(W::splat(SMALLEST_NORMAL), magnitude));
    let float = W::or(float, W::shift_left(W::and(halves, W::splat(!MAGNITUDE)), 16));
    let negative = W::bits(W::greater(W::splat(0), float)) & !W::bits(W::equal(float, W::splat(SIGN)));
    let power = W::bits(W::equal(W::shift_left(float, 9), W::splat(0)));
    let beyond = W::bits(W::greater(magnitude, W::splat(INFINITY - 1)));
    (beyond | negative & power == 0).then_some(float)
}

/// The nearest halves, ties to even, of floats that have one.
#[inline(always)]
fn from_float<W: Words>(floats: W) -> W {
    let magnitude = W::and(floats, W::splat(!SIGN));
    let odd = W::and(W::shift_right(magnitude, 13), W::splat(1));
    let rounded = W::add(W::add(W::subtract(magnitude, W::splat(EXPONENT_OFFSET)), W::splat(0xfff)), odd);
    let normal = W::shift_right(rounded, 13);
    /// From here on, the lowest bit of a float counts 1.
    const WHOLE: f32 = 8_388_608.0;
    let units = W::float_add(W::float_multiply(magnitude, W::splat_float(UNITS)), W::splat_float(WHOLE));
    let denormal = W::and(units, W::splat(0x7f_ffff));
    let half = W::select(normal, denormal, W::greater(W::splat(SMALLEST_NORMAL_FLOAT), magnitude));
    W::or(half, W::and(W::shift_right(floats, 16), W::splat(!MAGNITUDE & 0xffff)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::lanes::Lanes;
    use crate::random::Random;
    use crate::simd::vectors::Vectors;
    use crate::simd::{SimdDispatch, SimdLevel, SimdTask};
    use crate::tmu::half;

    /// A blend of the texels upper left, upper right, lower left, lower right.
    struct Blend<'a> {
        texels: &'a [[Lanes; 2]; 4],
        shares: &'a [Lanes; 2],
    }

    impl SimdTask for Blend<'_> {
        type Output = Option<[Lanes; 2]>;

        #[inline(always)]
        fn run<V: Vectors>(self) -> Self::Output {
            let Self { texels, shares: [x, y] } = self;
            let mut words = [[V::Words::splat(0); 2]; 4];
            for (words, texel) in words.iter_mut().zip(texels) {
                *words = [V::Words::load(&texel[0]), V::Words::load(&texel[1])];
            }
            let [first, second] = blend(words, V::Words::load(x), V::Words::load(y))?;
            Some([V::Words::store(first), V::Words::store(second)])
        }
    }

    /// `a` and `b` by the share of `b` in 1/256.
    fn mixed(a: f32, b: f32, share: u32) -> f32 {
        let share = share as f32 / 256.0;
        if share == 0.0 { a } else { a * (1.0 - share) + b * share }
    }

    /// At each level, with texels that the host's own conversion serves (no negative numbers but -0), and with others, of which some are infinite or NaN.
    #[test]
    fn blends_are_those_of_each_channel() {
        crate::simd::report_missing_levels();
        let mut random = Random::new(0, 16);
        let (mut positive, mut refused) = (0, 0);
        for round in 0..3000 {
            let is_positive = random.one_in(2);
            let mut half = || match random.next_u64() as u32 {
                bits if bits >> 28 == 0 => [0, 1, 0x3ff, 0x400, 0x7bff, 0x8000][bits as usize % 6],
                bits if is_positive => bits % 0x7c00,
                // Mostly finite.
                bits if bits >> 16 & 0xff != 0 => (bits % 0x7c00) | bits & 0x8000,
                bits => bits & 0xffff,
            };
            let mut words = || Lanes(std::array::from_fn(|_| half() | half() << 16));
            let texels: [[Lanes; 2]; 4] = std::array::from_fn(|_| [words(), words()]);
            let shares = [(); 2].map(|()| Lanes(std::array::from_fn(|_| random.below(256))));
            let expected: [Lanes; 2] = std::array::from_fn(|pair| {
                Lanes(std::array::from_fn(|lane| {
                    let channel = |by: u32| {
                        let [p, q, r, s] =
                            texels.each_ref().map(|texel| half::to_f32((texel[pair].0[lane] >> by) as u16));
                        let (x, y) = (shares[0].0[lane], shares[1].0[lane]);
                        u32::from(half::from_f32(mixed(mixed(p, q, x), mixed(r, s, x), y)))
                    };
                    channel(0) | channel(16) << 16
                }))
            });
            for level in [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512] {
                let found = SimdDispatch::limited_to(level).run(Blend { texels: &texels, shares: &shares });
                if is_positive {
                    assert!(found.is_some(), "round {round}, {level:?}");
                    positive += 1;
                }
                refused += u32::from(found.is_none());
                assert!(found.is_none_or(|found| found == expected), "round {round}, {level:?}: {texels:?} {shares:?}");
            }
        }
        assert!(positive > 4000 && refused > 100, "{positive} of positive numbers, {refused} refused");
    }
}

//! Vectors of 16 words in registers of the host.
//!
//! They stay there from one operation to the next, for units with long computations.
//!
//! [`Vectors`](super::vectors::Vectors) works on the contents of QPU registers, which are in memory.

use super::logarithm;
use crate::qpu::lanes::{Lanes, Mask};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use v3d_hw::qpu::LANES;

/// 16 words, signed or unsigned, or floats. Floats are rounded to nearest.
pub trait Words: Copy {
    /// The elements for which a comparison holds.
    type Held: Copy;

    /// The same word in all elements.
    fn splat(word: u32) -> Self;
    /// Words of a QPU register.
    fn load(lanes: &Lanes) -> Self;
    /// The words as contents of a QPU register.
    fn store(x: Self) -> Lanes;

    /// Bits in both.
    fn and(x: Self, y: Self) -> Self;
    /// Bits in either.
    fn or(x: Self, y: Self) -> Self;
    /// Bits in one of both.
    fn xor(x: Self, y: Self) -> Self;
    /// Sums.
    fn add(x: Self, y: Self) -> Self;
    /// Differences.
    fn subtract(x: Self, y: Self) -> Self;
    /// The low words of products.
    fn multiply(x: Self, y: Self) -> Self;
    /// The minimum of signed integers.
    fn min_signed(x: Self, y: Self) -> Self;
    /// The maximum of signed integers.
    fn max_signed(x: Self, y: Self) -> Self;
    /// A shift of all elements, by less than 32 bits.
    fn shift_left(x: Self, by: u32) -> Self;
    /// The same to the right.
    fn shift_right(x: Self, by: u32) -> Self;
    /// The same with the sign.
    fn shift_right_signed(x: Self, by: u32) -> Self;
    /// A shift of each element, by less than 32 bits.
    fn shift_right_each(x: Self, by: Self) -> Self;

    /// Sums of 16-bit halves.
    fn add_halves(x: Self, y: Self) -> Self;
    /// Differences of halves.
    fn subtract_halves(x: Self, y: Self) -> Self;
    /// The low 16 bits of products of halves.
    fn multiply_halves(x: Self, y: Self) -> Self;
    /// The minimum of signed halves.
    fn min_signed_halves(x: Self, y: Self) -> Self;
    /// The maximum of signed halves.
    fn max_signed_halves(x: Self, y: Self) -> Self;
    /// The minimum of unsigned halves.
    fn min_unsigned_halves(x: Self, y: Self) -> Self;
    /// A shift of all halves, by less than 16 bits.
    fn shift_left_halves(x: Self, by: u32) -> Self;
    /// The same to the right.
    fn shift_right_halves(x: Self, by: u32) -> Self;
    /// The products of both signed halves, added.
    fn add_products_of_halves(x: Self, y: Self) -> Self;
    /// Bits 0 to 7 in both halves.
    fn lowest_twice(x: Self) -> Self;
    /// Bits 8 to 23 in both halves.
    fn middle_twice(x: Self) -> Self;
    /// Halves weighted with a share of `y` in 1/256, less than 1, for each half, the same in both, and rounded:
    /// `(x * (256 - share) + y * share + 2^15) / 2^16`.
    fn weigh_halves(x: Self, y: Self, share: Self) -> Self;

    /// Blends both 16-bit floats of words, upper left, upper right, lower left and lower right, with the shares of the right and the lower ones in 1/256. Each
    /// operation is rounded as a float, the result to the nearest 16-bit float. `None` if the host does not have that, or if one of them is infinite, NaN, or
    /// less than 0.
    #[inline(always)]
    fn blend_float_halves(_: [Self; 4], _share_x: Self, _share_y: Self) -> Option<Self> {
        None
    }

    /// Sums of floats.
    fn float_add(x: Self, y: Self) -> Self;
    /// Differences.
    fn float_subtract(x: Self, y: Self) -> Self;
    /// Products.
    fn float_multiply(x: Self, y: Self) -> Self;
    /// Quotients.
    fn float_divide(x: Self, y: Self) -> Self;
    /// Square roots.
    fn float_square_root(x: Self) -> Self;
    /// The [logarithm](super::logarithm::log2) of element 0 of each quad, in all of its elements; any value if that is not positive.
    fn logarithms_of_firsts(x: Self) -> Self;
    /// The smaller of two floats; the second if one of them is NaN.
    fn float_min(x: Self, y: Self) -> Self;
    /// The greater of two floats; the second if one of them is NaN.
    fn float_max(x: Self, y: Self) -> Self;
    /// The integers below, as floats.
    fn float_floor(x: Self) -> Self;
    /// Integral floats as signed integers; any values beyond their range.
    fn to_integer(x: Self) -> Self;
    /// Signed integers as floats.
    fn to_float(x: Self) -> Self;

    /// Elements that are equal.
    fn equal(x: Self, y: Self) -> Self::Held;
    /// Elements in which `x` is greater as a signed number.
    fn greater(x: Self, y: Self) -> Self::Held;
    /// Elements in which `x` is greater as a float; not with NaN.
    fn float_greater(x: Self, y: Self) -> Self::Held;
    /// Elements in which `x` is greater or equal as a float; not with NaN.
    fn float_at_least(x: Self, y: Self) -> Self::Held;
    /// Elements of either.
    fn either(x: Self::Held, y: Self::Held) -> Self::Held;
    /// Elements of both.
    fn both(x: Self::Held, y: Self::Held) -> Self::Held;
    /// One bit for each element.
    fn bits(held: Self::Held) -> Mask;
    /// `y` where it holds, `x` elsewhere.
    fn select(x: Self, y: Self, held: Self::Held) -> Self;
    /// `x` where it holds, 0 elsewhere.
    fn keep(x: Self, held: Self::Held) -> Self;

    /// Element 0 of each quad in all of its elements.
    fn firsts(x: Self) -> Self;
    /// Elements 1 and 2 of each quad in its elements 0 and 1; any in the others.
    fn neighbours(x: Self) -> Self;

    /// The words with some indices; `None` if one does not exist.
    fn gather<const N: usize>(words: &[AtomicU32], indices: [Self; N]) -> Option<[Self; N]>;

    /// Pairs of words with some numbers, words 0 and 1 being pair 0: their first words, and their second ones. `None` if one does not exist.
    #[inline(always)]
    fn gather_pairs<const N: usize>(words: &[AtomicU32], numbers: [Self; N]) -> Option<[[Self; 2]; N]> {
        // A number whose double is too large for a word is none of a pair.
        let (mut firsts, mut seconds) = (numbers, numbers);
        for (first, second) in firsts.iter_mut().zip(&mut seconds) {
            if Self::bits(Self::greater(Self::splat(0), *first)) != 0 {
                return None;
            }
            *first = Self::shift_left(*first, 1);
            *second = Self::or(*first, Self::splat(1));
        }
        let (firsts, seconds) = (Self::gather(words, firsts)?, Self::gather(words, seconds)?);
        let mut pairs = [[Self::splat(0); 2]; N];
        for ((pair, first), second) in pairs.iter_mut().zip(firsts).zip(seconds) {
            *pair = [first, second];
        }
        Some(pairs)
    }

    /// The same float in all elements.
    #[inline(always)]
    fn splat_float(value: f32) -> Self {
        Self::splat(value.to_bits())
    }
}

/// Arrays, whose loops have no branches, so that the compiler vectorizes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableWords([u32; LANES]);

#[inline(always)]
fn each(f: impl Fn(usize) -> u32) -> PortableWords {
    let mut words = [0; LANES];
    for (i, word) in words.iter_mut().enumerate() {
        *word = f(i);
    }
    PortableWords(words)
}

/// All bits of an element, or none.
#[inline(always)]
fn held(f: impl Fn(usize) -> bool) -> PortableWords {
    each(|i| if f(i) { !0 } else { 0 })
}

impl PortableWords {
    #[inline(always)]
    fn float(&self, i: usize) -> f32 {
        f32::from_bits(self.0[i])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        each(|i| f(self.0[i], other.0[i]))
    }

    #[inline(always)]
    fn zip_halves(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        self.zip(other, |x, y| f(x, y) & 0xffff | f(x >> 16, y >> 16) << 16)
    }

    #[inline(always)]
    fn zip_floats(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        each(|i| f(self.float(i), other.float(i)).to_bits())
    }
}

// Not `inline(always)`: an operation is then vectorized before it is inlined. A whole lookup of loops over elements, inlined first, took LLVM five minutes
// [measured].
impl Words for PortableWords {
    type Held = Self;

    #[inline]
    fn splat(word: u32) -> Self {
        Self([word; LANES])
    }

    #[inline]
    fn load(lanes: &Lanes) -> Self {
        Self(lanes.0)
    }

    #[inline]
    fn store(x: Self) -> Lanes {
        Lanes(x.0)
    }

    #[inline]
    fn and(x: Self, y: Self) -> Self {
        x.zip(y, |x, y| x & y)
    }

    #[inline]
    fn or(x: Self, y: Self) -> Self {
        x.zip(y, |x, y| x | y)
    }

    #[inline]
    fn xor(x: Self, y: Self) -> Self {
        x.zip(y, |x, y| x ^ y)
    }

    #[inline]
    fn add(x: Self, y: Self) -> Self {
        x.zip(y, u32::wrapping_add)
    }

    #[inline]
    fn subtract(x: Self, y: Self) -> Self {
        x.zip(y, u32::wrapping_sub)
    }

    #[inline]
    fn multiply(x: Self, y: Self) -> Self {
        x.zip(y, u32::wrapping_mul)
    }

    #[inline]
    fn min_signed(x: Self, y: Self) -> Self {
        x.zip(y, |x, y| if (x as i32) < y as i32 { x } else { y })
    }

    #[inline]
    fn max_signed(x: Self, y: Self) -> Self {
        x.zip(y, |x, y| if x as i32 > y as i32 { x } else { y })
    }

    #[inline]
    fn shift_left(x: Self, by: u32) -> Self {
        each(|i| x.0[i] << (by & 31))
    }

    #[inline]
    fn shift_right(x: Self, by: u32) -> Self {
        each(|i| x.0[i] >> (by & 31))
    }

    #[inline]
    fn shift_right_signed(x: Self, by: u32) -> Self {
        each(|i| (x.0[i] as i32 >> (by & 31)) as u32)
    }

    #[inline]
    fn shift_right_each(x: Self, by: Self) -> Self {
        x.zip(by, |x, by| x >> (by & 31))
    }

    #[inline]
    fn add_halves(x: Self, y: Self) -> Self {
        x.zip_halves(y, u32::wrapping_add)
    }

    #[inline]
    fn subtract_halves(x: Self, y: Self) -> Self {
        x.zip_halves(y, u32::wrapping_sub)
    }

    #[inline]
    fn multiply_halves(x: Self, y: Self) -> Self {
        x.zip_halves(y, u32::wrapping_mul)
    }

    #[inline]
    fn min_signed_halves(x: Self, y: Self) -> Self {
        x.zip_halves(y, |x, y| if (x as i16) < y as i16 { x } else { y })
    }

    #[inline]
    fn max_signed_halves(x: Self, y: Self) -> Self {
        x.zip_halves(y, |x, y| if x as i16 > y as i16 { x } else { y })
    }

    #[inline]
    fn min_unsigned_halves(x: Self, y: Self) -> Self {
        x.zip_halves(y, |x, y| (x & 0xffff).min(y & 0xffff))
    }

    #[inline]
    fn shift_left_halves(x: Self, by: u32) -> Self {
        let kept = (0xffff << (by & 15) & 0xffff) * 0x0001_0001;
        each(|i| x.0[i] << (by & 15) & kept)
    }

    #[inline]
    fn shift_right_halves(x: Self, by: u32) -> Self {
        let kept = (0xffff >> (by & 15)) * 0x0001_0001;
        each(|i| x.0[i] >> (by & 15) & kept)
    }

    #[inline]
    fn add_products_of_halves(x: Self, y: Self) -> Self {
        let product = |x: u32, y: u32| i32::from(x as i16) * i32::from(y as i16);
        x.zip(y, |x, y| product(x, y).wrapping_add(product(x >> 16, y >> 16)) as u32)
    }

    #[inline]
    fn lowest_twice(x: Self) -> Self {
        each(|i| (x.0[i] & 0xff) * 0x0001_0001)
    }

    #[inline]
    fn middle_twice(x: Self) -> Self {
        each(|i| (x.0[i] >> 8 & 0xffff) * 0x0001_0001)
    }

    #[inline]
    fn weigh_halves(x: Self, y: Self, share: Self) -> Self {
        let weigh = |x: u32, y: u32, share: u32| (x * (256 - share) + y * share + 0x8000) >> 16;
        each(|i| {
            let (x, y, share) = (x.0[i], y.0[i], share.0[i] & 0xff);
            weigh(x & 0xffff, y & 0xffff, share) | weigh(x >> 16, y >> 16, share) << 16
        })
    }

    #[inline]
    fn float_add(x: Self, y: Self) -> Self {
        x.zip_floats(y, |x, y| x + y)
    }

    #[inline]
    fn float_subtract(x: Self, y: Self) -> Self {
        x.zip_floats(y, |x, y| x - y)
    }

    #[inline]
    fn float_multiply(x: Self, y: Self) -> Self {
        x.zip_floats(y, |x, y| x * y)
    }

    #[inline]
    fn float_divide(x: Self, y: Self) -> Self {
        x.zip_floats(y, |x, y| x / y)
    }

    #[inline]
    fn float_square_root(x: Self) -> Self {
        each(|i| x.float(i).sqrt().to_bits())
    }

    #[inline]
    fn logarithms_of_firsts(x: Self) -> Self {
        let mut logarithms = Self([0; LANES]);
        for (quad, logarithms) in logarithms.0.chunks_exact_mut(4).enumerate() {
            logarithms.fill(logarithm::log2(x.float(4 * quad)).to_bits());
        }
        logarithms
    }

    #[inline]
    fn float_min(x: Self, y: Self) -> Self {
        x.zip_floats(y, |x, y| if x < y { x } else { y })
    }

    #[inline]
    fn float_max(x: Self, y: Self) -> Self {
        x.zip_floats(y, |x, y| if x > y { x } else { y })
    }

    #[inline]
    fn float_floor(x: Self) -> Self {
        /// From here on, floats have no fraction.
        const WHOLE: f32 = 8_388_608.0;
        each(|i| {
            let x = x.float(i);
            let truncated = x as i32 as f32;
            let below = if truncated > x { truncated - 1.0 } else { truncated };
            if x.abs() < WHOLE { below.to_bits() } else { x.to_bits() }
        })
    }

    #[inline]
    fn to_integer(x: Self) -> Self {
        each(|i| x.float(i) as i32 as u32)
    }

    #[inline]
    fn to_float(x: Self) -> Self {
        each(|i| (x.0[i] as i32 as f32).to_bits())
    }

    #[inline]
    fn equal(x: Self, y: Self) -> Self {
        held(|i| x.0[i] == y.0[i])
    }

    #[inline]
    fn greater(x: Self, y: Self) -> Self {
        held(|i| x.0[i] as i32 > y.0[i] as i32)
    }

    #[inline]
    fn float_greater(x: Self, y: Self) -> Self {
        held(|i| x.float(i) > y.float(i))
    }

    #[inline]
    fn float_at_least(x: Self, y: Self) -> Self {
        held(|i| x.float(i) >= y.float(i))
    }

    #[inline]
    fn either(x: Self, y: Self) -> Self {
        Self::or(x, y)
    }

    #[inline]
    fn both(x: Self, y: Self) -> Self {
        Self::and(x, y)
    }

    #[inline]
    fn bits(held: Self) -> Mask {
        (0..LANES).fold(0, |bits, i| bits | ((held.0[i] & 1) as Mask) << i)
    }

    #[inline]
    fn select(x: Self, y: Self, held: Self) -> Self {
        each(|i| x.0[i] & !held.0[i] | y.0[i] & held.0[i])
    }

    #[inline]
    fn keep(x: Self, held: Self) -> Self {
        Self::and(x, held)
    }

    #[inline]
    fn firsts(x: Self) -> Self {
        each(|i| x.0[i & !3])
    }

    #[inline]
    fn neighbours(x: Self) -> Self {
        each(|i| x.0[if i % 4 < 2 { i + 1 } else { i }])
    }

    #[inline]
    fn gather<const N: usize>(words: &[AtomicU32], indices: [Self; N]) -> Option<[Self; N]> {
        let mut gathered = [Self([0; LANES]); N];
        for (to, indices) in gathered.iter_mut().zip(indices) {
            for (word, index) in to.0.iter_mut().zip(indices.0) {
                *word = words.get(index as usize)?.load(Relaxed);
            }
        }
        Some(gathered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::simd::vectors::Vectors;
    use crate::simd::{SimdDispatch, SimdLevel, SimdTask};
    use std::array::from_fn;

    /// Results of every operation for some operands, in the order of the trait.
    struct Every<'a> {
        operands: &'a [Lanes; 3],
        words: &'a [AtomicU32],
    }

    impl SimdTask for Every<'_> {
        type Output = (Vec<Lanes>, Option<[Lanes; 2]>);

        #[inline(always)]
        fn run<V: Vectors>(self) -> Self::Output {
            every::<V::Words>(self.operands, self.words)
        }
    }

    #[inline(always)]
    fn every<W: Words>([x, y, share]: &[Lanes; 3], words: &[AtomicU32]) -> (Vec<Lanes>, Option<[Lanes; 2]>) {
        let (x, y, share) = (W::load(x), W::load(y), W::load(share));
        let floats =
            |f: fn(W, W) -> W| W::store(f(x, y)).map(|bits| if f32::from_bits(bits).is_nan() { !0 } else { bits });
        let small = W::float_multiply(W::to_float(W::shift_right_signed(x, 3)), W::splat_float(1.0 / 64.0));
        let mut results: Vec<Lanes> = vec![
            W::splat(0x1234_5678),
            W::and(x, y),
            W::or(x, y),
            W::xor(x, y),
            W::add(x, y),
            W::subtract(x, y),
            W::multiply(x, y),
            W::min_signed(x, y),
            W::max_signed(x, y),
            W::shift_left(x, 7),
            W::shift_right(x, 7),
            W::shift_right_signed(x, 7),
            W::shift_right_each(x, W::and(y, W::splat(31))),
            W::add_halves(x, y),
            W::subtract_halves(x, y),
            W::multiply_halves(x, y),
            W::min_signed_halves(x, y),
            W::max_signed_halves(x, y),
            W::min_unsigned_halves(x, y),
            W::shift_left_halves(x, 5),
            W::shift_right_halves(x, 5),
            W::add_products_of_halves(x, y),
            W::lowest_twice(x),
            W::middle_twice(x),
            W::weigh_halves(W::shift_left_halves(x, 8), W::shift_left_halves(y, 8), W::lowest_twice(share)),
            W::float_floor(small),
            W::to_integer(W::float_floor(small)),
            W::to_float(x),
            W::select(x, y, W::equal(share, W::splat(0))),
            W::select(x, y, W::greater(x, y)),
            W::keep(x, W::float_greater(x, y)),
            W::keep(x, W::float_at_least(x, y)),
            W::keep(x, W::either(W::greater(x, y), W::equal(share, W::splat(3)))),
            W::keep(x, W::both(W::greater(x, y), W::greater(share, W::splat(100)))),
            W::splat(W::bits(W::greater(x, y)).into()),
            W::firsts(x),
            W::and(W::neighbours(x), W::load(&Lanes(from_fn(|i| if i % 4 < 2 { !0 } else { 0 })))),
        ]
        .into_iter()
        .map(W::store)
        .collect();
        results.extend(
            [W::float_add, W::float_subtract, W::float_multiply, W::float_divide, W::float_min, W::float_max]
                .map(floats),
        );
        let size = W::and(x, W::splat(0x7fff_ffff));
        results.push(W::store(W::keep(W::float_square_root(size), W::float_at_least(size, size))));
        let positive = W::float_greater(W::firsts(size), W::splat(0));
        results.push(W::store(W::keep(W::logarithms_of_firsts(size), positive)));
        let pairs = W::gather_pairs(words, [W::shift_right(share, 1), W::shift_right(x, 25)]);
        results.extend(pairs.iter().flatten().flatten().map(|&words| W::store(words)));
        let gathered = W::gather(words, [share, W::shift_right(x, 24)]);
        (results, gathered.map(|gathered| gathered.map(W::store)))
    }

    /// At each level, of random words and floats, numbers that are not finite among them.
    #[test]
    fn every_level_has_the_portable_results() {
        crate::simd::report_missing_levels();
        let mut random = Random::new(0, 41);
        let (mut gathered, mut failed) = (0, 0);
        for round in 0..3000 {
            let words: Vec<AtomicU32> =
                (0..256 - round % 3).map(|_| AtomicU32::new(random.next_u64() as u32)).collect();
            let share = Lanes(from_fn(|_| random.below(256 - round % 3)));
            let operands = [random.lanes(), random.lanes(), share];
            let expected = every::<PortableWords>(&operands, &words);
            for level in [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512] {
                let found = SimdDispatch::limited_to(level).run(Every { operands: &operands, words: &words });
                assert_eq!(found, expected, "round {round}, {level:?}, of {operands:x?}");
            }
            gathered += u32::from(expected.1.is_some());
            failed += u32::from(expected.1.is_none());
        }
        assert!(gathered > 100 && failed > 100, "{gathered} gathers, {failed} beyond the end");
    }

    /// Weighted halves, against whole numbers.
    #[test]
    fn halves_are_weighted_and_rounded() {
        for (x, y, share, expected) in
            [(65280, 65280, 77, 255), (0, 65280, 128, 128), (0, 65280, 0, 0), (512, 256, 255, 1)]
        {
            let weighed = PortableWords::weigh_halves(
                PortableWords::splat(x | x << 16),
                PortableWords::splat(y | y << 16),
                PortableWords::splat(share | share << 16),
            );
            assert_eq!(PortableWords::store(weighed), Lanes::splat(expected | expected << 16), "{x} {y} {share}");
        }
    }
}

//! Blends of packed RGBA8888 with shares in 1/256, as in [`super::super::filter`].
//!
//! A word holds two channels in fields of 16 bits, which is as much as a blend needs.

use crate::simd::words::Words;

/// The lowest bytes of both halves.
const FIELDS: u32 = 0x00ff_00ff;

/// Red and blue.
#[inline(always)]
fn even<W: Words>(words: W) -> W {
    W::and(words, W::splat(FIELDS))
}

/// Green and alpha.
#[inline(always)]
fn odd<W: Words>(words: W) -> W {
    even(W::shift_right(words, 8))
}

/// Blends fields, which become 256 times as large. The shares are the second ones', in both halves.
#[inline(always)]
fn mix<W: Words>(a: W, b: W, shares: W) -> W {
    W::add_halves(W::shift_left(a, 8), W::multiply_halves(W::subtract_halves(b, a), shares))
}

/// The same number in both halves.
#[inline(always)]
fn in_both_halves<W: Words>(share: W) -> W {
    W::or(share, W::shift_left(share, 16))
}

/// Blends two vectors; the share is the second one's.
#[inline(always)]
pub(super) fn two<W: Words>(first: W, second: W, share: W) -> W {
    /// Half of what follows.
    const HALF: u32 = 0x0080_0080;
    let shares = in_both_halves(share);
    let even = W::add_halves(mix(even(first), even(second), shares), W::splat(HALF));
    let odd = W::add_halves(mix(odd(first), odd(second), shares), W::splat(HALF));
    W::or(W::and(W::shift_right(even, 8), W::splat(FIELDS)), W::and(odd, W::splat(!FIELDS)))
}

/// Blends texels upper left, upper right, lower left, lower right; the shares are the right and the lower ones'.
#[inline(always)]
pub(super) fn four<W: Words>(texels: [W; 4], share_x: W, share_y: W) -> W {
    let [upper_left, upper_right, lower_left, lower_right] = texels;
    let shares = in_both_halves(share_x);
    let even = W::weigh_halves(
        mix(even(upper_left), even(upper_right), shares),
        mix(even(lower_left), even(lower_right), shares),
        share_y,
    );
    let odd = W::weigh_halves(
        mix(odd(upper_left), odd(upper_right), shares),
        mix(odd(lower_left), odd(lower_right), shares),
        share_y,
    );
    W::or(even, W::shift_left(odd, 8))
}

//! Blends of packed RGBA8888 with shares in 1/256, as in [`super::super::filter`].
//!
//! A word holds two channels in fields of 16 bits, which is as much as a blend needs.

use crate::simd::words::Words;

/// The lowest bytes of both halves.
const FIELDS: u32 = 0x00ff_00ff;

/// The channels of texels: red and blue, and green and alpha.
#[inline(always)]
fn channels<W: Words>(texels: W) -> [W; 2] {
    [W::and(texels, W::splat(FIELDS)), W::shift_right_halves(texels, 8)]
}

/// Blends two vectors of texels, whose channels become 256 times as large. The shares are the second ones', in both halves.
#[inline(always)]
fn mix<W: Words>(first: W, second: W, shares: W) -> [W; 2] {
    let scaled = [W::shift_left_halves(first, 8), W::and(first, W::splat(!FIELDS))];
    let ([first_even, first_odd], [second_even, second_odd]) = (channels(first), channels(second));
    [
        W::add_halves(scaled[0], W::multiply_halves(W::subtract_halves(second_even, first_even), shares)),
        W::add_halves(scaled[1], W::multiply_halves(W::subtract_halves(second_odd, first_odd), shares)),
    ]
}

/// Blends two vectors; the share is the second one's.
#[inline(always)]
pub(super) fn two<W: Words>(first: W, second: W, share: W) -> W {
    /// Half of what follows.
    const HALF: u32 = 0x0080_0080;
    let [even, odd] = mix(first, second, W::lowest_twice(share));
    let even = W::shift_right_halves(W::add_halves(even, W::splat(HALF)), 8);
    W::or(even, W::and(W::add_halves(odd, W::splat(HALF)), W::splat(!FIELDS)))
}

/// Blends texels upper left, upper right, lower left, lower right; the shares are the right and the lower ones', in both halves.
#[inline(always)]
pub(super) fn four<W: Words>(texels: [W; 4], share_x: W, share_y: W) -> W {
    let [upper_left, upper_right, lower_left, lower_right] = texels;
    let [upper_even, upper_odd] = mix(upper_left, upper_right, share_x);
    let [lower_even, lower_odd] = mix(lower_left, lower_right, share_x);
    let odd = W::weigh_halves(upper_odd, lower_odd, share_y);
    W::or(W::weigh_halves(upper_even, lower_even, share_y), W::shift_left_halves(odd, 8))
}

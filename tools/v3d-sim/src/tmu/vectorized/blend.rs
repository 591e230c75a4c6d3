//! Blends of packed RGBA8888 with shares in 1/256, as in [`super::super::filter`].
//!
//! A word holds two channels in fields of 16 bits, which is as much as a blend needs.

use super::{Words, each};

/// The lowest bytes of both halves.
const FIELDS: u32 = 0x00ff_00ff;

/// Red and blue.
#[inline(always)]
const fn even(word: u32) -> u32 {
    word & FIELDS
}

/// Green and alpha.
#[inline(always)]
const fn odd(word: u32) -> u32 {
    word >> 8 & FIELDS
}

/// Blends fields, which become 256 times as large. A difference that borrows from the upper field returns it.
#[inline(always)]
const fn mix(a: u32, b: u32, share: u32) -> u32 {
    (a << 8).wrapping_add(b.wrapping_sub(a).wrapping_mul(share))
}

/// Blends two vectors; the share is the second one's.
#[inline(always)]
pub(super) fn two(first: &Words, second: &Words, share: &Words) -> Words {
    /// Half of what follows.
    const HALF: u32 = 0x0080_0080;
    each(|i| {
        let even = mix(even(first[i]), even(second[i]), share[i]) + HALF;
        let odd = mix(odd(first[i]), odd(second[i]), share[i]) + HALF;
        even >> 8 & FIELDS | odd & !FIELDS
    })
}

/// Blends texels upper left, upper right, lower left, lower right; the shares are the right and the lower ones'.
#[inline(always)]
pub(super) fn four(texels: &[Words; 4], share_x: &Words, share_y: &Words) -> Words {
    let [upper_left, upper_right, lower_left, lower_right] = texels;
    let column = |upper: u32, lower: u32, share: u32| (mix(upper, lower, share) + 0x8000) >> 16;
    each(|i| {
        let pair = |channels: fn(u32) -> u32| {
            let upper = mix(channels(upper_left[i]), channels(upper_right[i]), share_x[i]);
            let lower = mix(channels(lower_left[i]), channels(lower_right[i]), share_x[i]);
            column(upper & 0xffff, lower & 0xffff, share_y[i]) | column(upper >> 16, lower >> 16, share_y[i]) << 16
        };
        pair(even) | pair(odd) << 8
    })
}

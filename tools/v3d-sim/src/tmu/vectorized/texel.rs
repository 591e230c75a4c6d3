//! Texels of 16 elements: from memory to packed RGBA8888, by the rules of [`format`].

use super::Prepared;
use super::address::Layout;
use crate::qpu::lanes::{Lanes, Mask};
use crate::simd::words::Words;
use crate::tmu::{etc1, format};
use std::sync::atomic::AtomicU32;
use v3d_hw::texture::TextureType;

/// The place of a texel, or the places of 16.
#[derive(Clone, Copy)]
pub(super) struct Places<W> {
    /// Columns and rows.
    pub(super) texels: (W, W),
    /// Offsets in memory.
    pub(super) offsets: W,
}

/// Reads texels; `None` if one that is needed is not in memory.
#[inline(always)]
pub(super) fn read<W: Words, const N: usize>(
    texture: &Prepared,
    layout: &Layout,
    words: &[AtomicU32],
    places: &[Places<W>; N],
    needed: Mask,
) -> Option<[W; N]> {
    let mut texels = fetch(words, places, 0, needed)?;
    if matches!(texture.texture_type, TextureType::Rgba8888 | TextureType::Rgba32R) {
        return Some(texels);
    }
    let lower = if texture.texture_type == TextureType::Etc1 { fetch(words, places, 1, needed)? } else { texels };
    for ((texels, places), lower) in texels.iter_mut().zip(places).zip(lower) {
        *texels = in_colours(texture, layout, places, *texels, lower)?;
    }
    Some(texels)
}

/// Reads texels of 16 or 32 bits by their numbers in memory; `None` if one is not in memory. `WORDS`: they [are words](are_words).
#[inline(always)]
pub(super) fn read_compact<W: Words, const WORDS: bool, const N: usize>(
    texture_type: TextureType,
    words: &[AtomicU32],
    numbers: [W; N],
) -> Option<[W; N]> {
    if WORDS || are_words(texture_type) {
        let mut texels = W::gather(words, numbers)?;
        if texture_type == TextureType::Rgbx8888 {
            for texels in &mut texels {
                *texels = W::or(*texels, W::splat(format::OPAQUE));
            }
        }
        return Some(texels);
    }
    let mut texels = halves(words, numbers)?;
    for texels in &mut texels {
        *texels = colours(texture_type, *texels)?;
    }
    Some(texels)
}

/// Whether texels of a type are words of memory, as packed RGBA8888.
pub(super) const fn are_words(texture_type: TextureType) -> bool {
    matches!(texture_type, TextureType::Rgba8888 | TextureType::Rgba32R | TextureType::Rgbx8888)
}

/// Halves of words in the low halves of others, by their numbers in memory; `None` if one is not in memory.
#[inline(always)]
pub(super) fn halves<W: Words, const N: usize>(words: &[AtomicU32], numbers: [W; N]) -> Option<[W; N]> {
    let mut halves = numbers;
    for halves in &mut halves {
        *halves = W::shift_right(*halves, 1);
    }
    let mut halves = W::gather(words, halves)?;
    for (halves, numbers) in halves.iter_mut().zip(numbers) {
        let before = W::shift_left(W::and(numbers, W::splat(1)), 4);
        *halves = W::shift_right_each(*halves, before);
    }
    Some(halves)
}

/// Texels in their words, as packed RGBA8888. `lower`: the other words of their blocks.
#[inline(always)]
fn in_colours<W: Words>(texture: &Prepared, layout: &Layout, places: &Places<W>, words: W, lower: W) -> Option<W> {
    // From the lowest bit on.
    let before = W::add(W::shift_left(W::and(places.offsets, W::splat(3)), 3), layout.bits(places.texels.0));
    let shifted = W::shift_right_each(words, before);
    Some(match texture.texture_type {
        TextureType::Yuyv422R => {
            let (words, columns) = (W::store(words), W::store(places.texels.0));
            W::load(&words.zip(columns, |word, column| format::yuyv(word, column & 1 == 1)))
        }
        TextureType::Etc1 => {
            let (high, low) = (W::store(words), W::store(lower));
            let (column, row) = (W::store(places.texels.0), W::store(places.texels.1));
            let mut texels = Lanes::default();
            for (i, texel) in texels.0.iter_mut().enumerate() {
                let y = if texture.etc_flip { row.0[i] } else { !row.0[i] };
                *texel = etc1::texel(high.0[i].swap_bytes(), low.0[i].swap_bytes(), column.0[i], y);
            }
            W::load(&texels)
        }
        texture_type => return colours(texture_type, shifted),
    })
}

/// Texels in the lowest bits of words, as packed RGBA8888; `None` if more than a word is needed.
#[inline(always)]
fn colours<W: Words>(texture_type: TextureType, shifted: W) -> Option<W> {
    let opaque = W::splat(format::OPAQUE);
    Some(match texture_type {
        TextureType::Rgba8888 | TextureType::Rgba32R => shifted,
        TextureType::Rgbx8888 => W::or(shifted, opaque),
        TextureType::Rgb565 => rgb565(shifted),
        TextureType::Luminance => {
            let luminance = W::and(shifted, W::splat(0xff));
            let two = W::or(luminance, W::shift_left(luminance, 8));
            W::or(W::or(two, W::shift_left(luminance, 16)), opaque)
        }
        TextureType::Alpha => W::shift_left(shifted, 24),
        TextureType::S8 => W::and(shifted, W::splat(0xff)),
        TextureType::S16 => W::and(shifted, W::splat(0xffff)),
        TextureType::Rgba4444 => one_by_one(shifted, |texel| format::rgba4444(texel as u16)),
        TextureType::Rgba5551 => one_by_one(shifted, |texel| format::rgba5551(texel as u16)),
        TextureType::LumAlpha => one_by_one(shifted, |texel| format::luminance_alpha(texel as u8, (texel >> 8) as u8)),
        TextureType::Bw1 => one_by_one(shifted, |texel| format::luminance_alpha(format::one_bit(texel), 0xff)),
        TextureType::A1 => one_by_one(shifted, |texel| u32::from(format::one_bit(texel)) << 24),
        TextureType::A4 => one_by_one(shifted, |texel| format::widen_4(texel as u16) << 24),
        TextureType::Yuyv422R
        | TextureType::Etc1
        | TextureType::S16F
        | TextureType::Rgba64
        | TextureType::Reserved(_) => return None,
    })
}

/// A conversion of types that are rare.
#[inline(always)]
fn one_by_one<W: Words>(texels: W, convert: impl Fn(u32) -> u32) -> W {
    W::load(&W::store(texels).map(convert))
}

/// As [`format::rgb565`].
#[inline(always)]
fn rgb565<W: Words>(texels: W) -> W {
    let red = W::or(channel(texels, 0xf800, 0, 8), channel(texels, 0xe000, 0, 13));
    let green = W::or(channel(texels, 0x07e0, 5, 0), channel(texels, 0x0600, 0, 1));
    let blue = W::or(channel(texels, 0x001f, 19, 0), channel(texels, 0x001c, 14, 0));
    W::or(W::or(red, green), W::or(blue, W::splat(format::OPAQUE)))
}

/// Bits of a channel at another place, to the left or to the right.
#[inline(always)]
fn channel<W: Words>(texels: W, mask: u32, left: u32, right: u32) -> W {
    W::shift_right(W::shift_left(W::and(texels, W::splat(mask)), left), right)
}

/// Words of texels, by their number from that with the texel's start on; `None` if one that is needed is outside of memory.
#[inline(always)]
pub(super) fn fetch<W: Words, const N: usize>(
    words: &[AtomicU32],
    places: &[Places<W>; N],
    word: u32,
    needed: Mask,
) -> Option<[W; N]> {
    let mut numbers = [W::splat(0); N];
    for (numbers, places) in numbers.iter_mut().zip(places) {
        *numbers = W::shift_right(W::add(places.offsets, W::splat(4 * word)), 2);
    }
    if let Some(words) = W::gather(words, numbers) {
        return Some(words);
    }
    let mut kept = Lanes::default();
    for (i, kept) in kept.0.iter_mut().enumerate() {
        *kept = if needed >> i & 1 == 1 { !0 } else { 0 };
    }
    for numbers in &mut numbers {
        *numbers = W::and(*numbers, W::load(&kept));
    }
    W::gather(words, numbers)
}

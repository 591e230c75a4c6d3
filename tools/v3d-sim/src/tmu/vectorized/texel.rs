//! Texels of 16 elements: from memory to packed RGBA8888, by the rules of [`format`].

use super::address::{self, Column, Row};
use super::{Words, each};
use crate::memory::Memory;
use crate::qpu::lanes::{Lanes, Mask};
use crate::simd::vectors::Vectors;
use crate::tmu::{etc1, format};
use v3d_hw::qpu::LANES;
use v3d_hw::texture::TextureType;

/// Reads texels by column and row; `None` if one that is needed is not in memory.
#[inline(always)]
pub(super) fn read<V: Vectors, const N: usize>(
    texture_type: TextureType,
    etc_flip: bool,
    memory: Memory<'_>,
    places: &[(&Column, &Row); N],
    needed: Mask,
) -> Option<[Words; N]> {
    let mut offsets = [[0; LANES]; N];
    for tap in 0..N {
        let (column, row) = places[tap];
        offsets[tap] = address::offsets(column, row);
    }
    let mut words = fetch::<V, N>(memory, &offsets, needed)?;
    if texture_type == TextureType::Etc1 {
        offsets.as_flattened_mut().iter_mut().for_each(|offset| *offset = offset.wrapping_add(4));
        let lower = fetch::<V, N>(memory, &offsets, needed)?;
        for tap in 0..N {
            let (column, row) = places[tap];
            let (high, low) = (words[tap], lower[tap]);
            words[tap] = each(|i| {
                let y = if etc_flip { row.texel[i] } else { !row.texel[i] };
                etc1::texel(high[i].swap_bytes(), low[i].swap_bytes(), column.texel[i], y)
            });
        }
        return Some(words);
    }
    // Bits of the words before the texels.
    let mut before = [[0; LANES]; N];
    for tap in 0..N {
        let (column, _) = places[tap];
        before[tap] = if texture_type == TextureType::Yuyv422R {
            each(|i| 16 * (column.texel[i] & 1))
        } else {
            each(|i| 8 * (offsets[tap][i] & 3) + column.bit[i])
        };
    }
    let texels = words.as_flattened_mut().iter_mut().zip(before.as_flattened());
    match texture_type {
        TextureType::Rgba8888 | TextureType::Rgba32R => {}
        TextureType::Rgbx8888 => texels.for_each(|(word, _)| *word |= format::OPAQUE),
        TextureType::Rgba4444 => texels.for_each(|(word, before)| *word = format::rgba4444((*word >> before) as u16)),
        TextureType::Rgba5551 => texels.for_each(|(word, before)| *word = format::rgba5551((*word >> before) as u16)),
        TextureType::Rgb565 => texels.for_each(|(word, before)| *word = format::rgb565((*word >> before) as u16)),
        TextureType::Luminance => {
            texels.for_each(|(word, before)| *word = format::luminance_alpha((*word >> before) as u8, 0xff));
        }
        TextureType::Alpha => texels.for_each(|(word, before)| *word = *word >> before << 24),
        TextureType::LumAlpha => texels.for_each(|(word, before)| {
            let [luminance, alpha, ..] = (*word >> before).to_le_bytes();
            *word = format::luminance_alpha(luminance, alpha);
        }),
        TextureType::S8 => texels.for_each(|(word, before)| *word = *word >> before & 0xff),
        TextureType::S16 => texels.for_each(|(word, before)| *word = *word >> before & 0xffff),
        TextureType::Bw1 => {
            texels.for_each(|(word, before)| *word = format::luminance_alpha(format::one_bit(*word >> before), 0xff));
        }
        TextureType::A1 => {
            texels.for_each(|(word, before)| *word = u32::from(format::one_bit(*word >> before)) << 24);
        }
        TextureType::A4 => texels.for_each(|(word, before)| *word = format::widen_4((*word >> before) as u16) << 24),
        TextureType::Yuyv422R => texels.for_each(|(word, before)| *word = format::yuyv(*word, *before != 0)),
        TextureType::Etc1 | TextureType::S16F | TextureType::Rgba64 | TextureType::Reserved(_) => return None,
    }
    Some(words)
}

/// The words at some offsets; `None` if one that is needed is outside of memory.
#[inline(always)]
fn fetch<V: Vectors, const N: usize>(memory: Memory<'_>, offsets: &[Words; N], needed: Mask) -> Option<[Words; N]> {
    let mut words = [[0; LANES]; N];
    for (words, offsets) in words.iter_mut().zip(offsets) {
        let mut numbers = Lanes(each(|i| offsets[i] / 4));
        let gathered = V::gather(memory.words(), &numbers).or_else(|| {
            V::blend(&mut numbers, &Lanes::default(), !needed);
            V::gather(memory.words(), &numbers)
        });
        *words = gathered?.0;
    }
    Some(words)
}

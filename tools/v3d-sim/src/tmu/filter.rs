//! Filters: from coordinates to the result of a lookup [AG p.43].
//!
//! All four elements of a quad are sampled from the same levels. A linear filter blends the 2x2 texels around the place; with two levels, the results of both
//! are blended by the fraction of the level of detail.

use super::lod::{self, Selection};
use super::texture::Texture;
use super::{LookedUp, TmuFault, border, cube, half, wrap};
use crate::lanes::Lanes;
use crate::memory::Memory;
use v3d_hw::texture::{MagFilter, MinFilter, TextureType, Wrap};

/// How a type's texels are blended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blend {
    /// Four channels of 8 bits.
    Bytes,
    /// 16-bit floats.
    Halves,
    /// Not at all.
    Never,
}

/// One lookup under way.
struct Lookup<'a> {
    texture: &'a Texture,
    memory: Memory<'a>,
    /// Packed RGBA8888.
    border: u32,
    fault: Option<TmuFault>,
}

/// The place of a 2x2 neighbourhood in a level, and the shares of its second column and row in 1/256.
struct Neighbourhood {
    x: [Option<u32>; 2],
    y: [Option<u32>; 2],
    share_x: u32,
    share_y: u32,
}

/// Looks a vector of coordinates up.
pub(super) fn sample(texture: &Texture, memory: Memory<'_>, s: &Lanes, t: &Lanes, r: &Lanes, b: &Lanes) -> LookedUp {
    let mut lookup = Lookup { texture, memory, border: 0, fault: texture.misuse };
    if texture.wrap_s == Wrap::Border || texture.wrap_t == Wrap::Border {
        match border::color(texture.texture_type, r.0[0]) {
            Ok(color) => lookup.border = color,
            Err(fault) => lookup.report(fault),
        }
    }
    let blend = match texture.texture_type {
        TextureType::S16F | TextureType::Rgba64 => Blend::Halves,
        TextureType::S16 => Blend::Never,
        _ => Blend::Bytes,
    };
    let mut looked_up = LookedUp::default();
    let mut second = Lanes::splat(0);
    for quad in 0..4 {
        let elements = |lanes: &Lanes| -> [f32; 4] { std::array::from_fn(|i| f32::from_bits(lanes.0[4 * quad + i])) };
        let (mut s, mut t, bias) = (elements(s), elements(t), elements(b));
        let mut faces = [0; 4];
        let derivative = if texture.cube_stride.is_some() {
            lookup.to_faces(&mut s, &mut t, elements(r), &mut faces)
        } else if !needs_level_of_detail(texture.mag, texture.min) {
            0.0
        } else {
            let (width, height) = texture.span(0);
            let texels = |c: [f32; 4], size: u32| c.map(|c| c * size as f32);
            lod::largest_derivative(texels(s, width), texels(t, height))
        };
        let automatic = if texture.bias_only { 0.0 } else { lod::level_of_detail(derivative) };
        for element in 0..4 {
            let lod = automatic + bias[element];
            let mut selection = lod::select(lod, texture.mag, texture.min, texture.last_level);
            if blend == Blend::Never {
                lookup.refuse_blending(&mut selection);
            }
            let (s, t, face) = (s[element], t[element], faces[element]);
            let lane = 4 * quad + element;
            if blend == Blend::Halves {
                let [red, green, blue, alpha] = lookup.halves(&selection, s, t, face);
                looked_up.result.0[lane] = u32::from(red) | u32::from(green) << 16;
                second.0[lane] = u32::from(blue) | u32::from(alpha) << 16;
            } else {
                looked_up.result.0[lane] = lookup.bytes(&selection, s, t, face);
            }
        }
    }
    if texture.texture_type == TextureType::Rgba64 {
        looked_up.second = Some(second);
    }
    looked_up.fault = lookup.fault;
    looked_up
}

impl Lookup<'_> {
    fn report(&mut self, fault: TmuFault) {
        self.fault = self.fault.or(Some(fault));
    }

    fn refuse_blending(&mut self, selection: &mut Selection) {
        if selection.linear || selection.next_share > 0 {
            self.report(TmuFault::NotBlendable);
        }
        (selection.linear, selection.next_share) = (false, 0);
    }

    /// Turns the directions of a quad into faces and coordinates on them, and gives their largest derivative.
    ///
    /// It is taken of the directions, which do not jump where two faces meet; a face is two units wide.
    fn to_faces(&mut self, s: &mut [f32; 4], t: &mut [f32; 4], r: [f32; 4], faces: &mut [u32; 4]) -> f32 {
        let (width, _) = self.texture.span(0);
        let texels = |c: [f32; 4]| c.map(|c| 0.5 * c * width as f32);
        let derivative =
            lod::largest_derivative(texels(*s), texels(*t)).max(lod::largest_derivative(texels(r), [0.0; 4]));
        let stride = self.texture.cube_stride.unwrap_or(0);
        for element in 0..4 {
            let point = cube::face_point([s[element], t[element], r[element]]);
            if !point.normalized {
                self.report(TmuFault::CubeMapDirection);
            }
            s[element] = point.s;
            t[element] = point.t;
            faces[element] = stride.wrapping_mul(point.face);
        }
        derivative
    }

    /// Position in texels in a level, of the filter's own kind: the nearest texel's, or that of the blended ones' corner.
    #[inline]
    fn position(&self, level: usize, s: f32, t: f32) -> (f32, f32) {
        let (width, height) = self.texture.span(level);
        (wrap::scale(self.texture.wrap_s, s, width), wrap::scale(self.texture.wrap_t, t, height))
    }

    #[inline]
    fn neighbourhood(&self, level: usize, s: f32, t: f32) -> Neighbourhood {
        let (x, y) = self.position(level, s, t);
        let fixed = |position: f32| {
            let from_centre = position - 0.5;
            let texel = from_centre.floor();
            (texel as i32, ((from_centre - texel) * 256.0) as u32 & 0xff)
        };
        let ((x, share_x), (y, share_y)) = (fixed(x), fixed(y));
        Neighbourhood {
            x: [self.column(level, x), self.column(level, x + 1)],
            y: [self.line(level, y), self.line(level, y + 1)],
            share_x,
            share_y,
        }
    }

    /// Column in memory of a column of texels; `None`: border.
    #[inline]
    fn column(&self, level: usize, x: i32) -> Option<u32> {
        let within = wrap::wrap(self.texture.wrap_s, x, self.texture.span(level).0)?;
        Some(within + self.texture.child.map_or(0, |child| child.x >> level))
    }

    /// Row of a level of a row of texels; `None`: border.
    #[inline]
    fn line(&self, level: usize, y: i32) -> Option<u32> {
        let within = wrap::wrap(self.texture.wrap_t, y, self.texture.span(level).1)?;
        Some(within + self.texture.child.map_or(0, |child| child.y >> level))
    }

    #[inline]
    fn nearest(&self, level: usize, s: f32, t: f32) -> (Option<u32>, Option<u32>) {
        let (x, y) = self.position(level, s, t);
        (self.column(level, x.floor() as i32), self.line(level, y.floor() as i32))
    }

    #[inline]
    fn texel(&mut self, level: usize, face: u32, x: Option<u32>, y: Option<u32>) -> u32 {
        let (Some(x), Some(y)) = (x, y) else { return self.border };
        match self.texture.texel(self.memory, &self.texture.levels[level], face, x, y) {
            Ok(texel) => texel,
            Err(error) => {
                self.report(error.into());
                0
            }
        }
    }

    fn half_texel(&mut self, level: usize, face: u32, x: Option<u32>, y: Option<u32>) -> [f32; 4] {
        let (Some(x), Some(y)) = (x, y) else { return [0.0; 4] };
        match self.texture.half_texel(self.memory, &self.texture.levels[level], face, x, y) {
            Ok(texel) => texel,
            Err(error) => {
                self.report(error.into());
                [0.0; 4]
            }
        }
    }

    /// Packed RGBA8888.
    #[inline]
    fn bytes(&mut self, selection: &Selection, s: f32, t: f32, face: u32) -> u32 {
        let first = self.bytes_of_level(selection.level, selection.linear, s, t, face);
        if selection.next_share == 0 {
            return first;
        }
        let next = self.bytes_of_level(selection.level + 1, selection.linear, s, t, face);
        blend_bytes([first, next, first, next], selection.next_share, 0)
    }

    #[inline]
    fn bytes_of_level(&mut self, level: usize, linear: bool, s: f32, t: f32, face: u32) -> u32 {
        if !linear {
            let (x, y) = self.nearest(level, s, t);
            return self.texel(level, face, x, y);
        }
        let Neighbourhood { x, y, share_x, share_y } = self.neighbourhood(level, s, t);
        let texels = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| self.texel(level, face, x[i], y[j]));
        blend_bytes(texels, share_x, share_y)
    }

    fn halves(&mut self, selection: &Selection, s: f32, t: f32, face: u32) -> [u16; 4] {
        let first = self.halves_of_level(selection.level, selection.linear, s, t, face);
        if selection.next_share == 0 {
            return first.map(half::from_f32);
        }
        let next = self.halves_of_level(selection.level + 1, selection.linear, s, t, face);
        let share = selection.next_share as f32 / 256.0;
        for (&a, &b) in first.iter().zip(&next) {
            if a < 0.0 && b == f32::INFINITY || b < 0.0 && a == f32::INFINITY {
                self.report(TmuFault::InfinityAndNegative);
            }
        }
        std::array::from_fn(|i| half::from_f32(first[i] * (1.0 - share) + next[i] * share))
    }

    fn halves_of_level(&mut self, level: usize, linear: bool, s: f32, t: f32, face: u32) -> [f32; 4] {
        if !linear {
            let (x, y) = self.nearest(level, s, t);
            return self.half_texel(level, face, x, y);
        }
        let Neighbourhood { x, y, share_x, share_y } = self.neighbourhood(level, s, t);
        let texels = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| self.half_texel(level, face, x[i], y[j]));
        if texels.as_flattened().iter().any(|&channel| is_negative_power_of_two(channel)) {
            self.report(TmuFault::NegativePowerOfTwo);
        }
        let (right, lower) = (share_x as f32 / 256.0, share_y as f32 / 256.0);
        std::array::from_fn(|i| {
            let row = |a: f32, b: f32| if right == 0.0 { a } else { a * (1.0 - right) + b * right };
            let (first, second) = (row(texels[0][i], texels[1][i]), row(texels[2][i], texels[3][i]));
            if lower == 0.0 { first } else { first * (1.0 - lower) + second * lower }
        })
    }
}

fn is_negative_power_of_two(value: f32) -> bool {
    value < 0.0 && value.is_finite() && value.to_bits() & 0x007f_ffff == 0
}

/// The four bytes of a word in four fields of 16 bits.
#[inline]
const fn spread(word: u32) -> u64 {
    let halves = (word as u64 | (word as u64) << 16) & 0x0000_ffff_0000_ffff;
    (halves | halves << 8) & 0x00ff_00ff_00ff_00ff
}

/// Blends the texels upper left, upper right, lower left, lower right, byte by byte; the shares are the right and the lower ones', in 1/256.
#[inline]
fn blend_bytes(texels: [u32; 4], share_x: u32, share_y: u32) -> u32 {
    const EVEN: u64 = 0x0000_ffff_0000_ffff;
    let (right, lower) = (u64::from(share_x), u64::from(share_y));
    // At most 255 * 256: it fits in 16 bits, and the product of two shares in 32.
    let row = |a: u32, b: u32| spread(a) * (256 - right) + spread(b) * right;
    let (first, second) = (row(texels[0], texels[1]), row(texels[2], texels[3]));
    let column = |a: u64, b: u64| (a * (256 - lower) + b * lower + 0x0000_8000_0000_8000) >> 16 & 0x0000_00ff_0000_00ff;
    let even = column(first & EVEN, second & EVEN);
    let odd = column(first >> 16 & EVEN, second >> 16 & EVEN);
    (even | even >> 16) as u32 & 0x00ff_00ff | ((odd | odd >> 16) as u32 & 0x00ff_00ff) << 8
}

/// Whether the filters of a texture ever look at the level of detail.
#[inline]
fn needs_level_of_detail(mag: MagFilter, min: MinFilter) -> bool {
    !matches!((mag, min), (MagFilter::Linear, MinFilter::Linear) | (MagFilter::Nearest, MinFilter::Nearest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against plain arithmetic, channel by channel.
    #[test]
    fn bytes_blend_like_numbers() {
        let mut state = 12345u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state ^ state >> 15
        };
        for _ in 0..2000 {
            let texels: [u32; 4] = std::array::from_fn(|_| random());
            let (x, y) = (random() % 256, random() % 256);
            let expected: [u8; 4] = std::array::from_fn(|channel| {
                let [a, b, c, d] = texels.map(|texel| f64::from(texel.to_le_bytes()[channel]));
                let (x, y) = (f64::from(x) / 256.0, f64::from(y) / 256.0);
                let blended = (a * (1.0 - x) + b * x) * (1.0 - y) + (c * (1.0 - x) + d * x) * y;
                (blended + 0.5).floor() as u8
            });
            assert_eq!(blend_bytes(texels, x, y).to_le_bytes(), expected);
        }
    }

    #[test]
    fn equal_texels_blend_to_themselves() {
        for word in [0, 0xffff_ffff, 0x0180_7fff] {
            assert_eq!(blend_bytes([word; 4], 77, 201), word);
        }
    }
}

//! Filters: from coordinates to the result of a lookup [AG p.43].
//!
//! The reference meaning of a lookup, element by element; [`super::vectorized`] computes the same for all elements at once.
//!
//! All four elements of a quad are sampled from the same levels. A linear filter blends the 2x2 texels around the position; with two levels, both
//! results are blended by the fraction of the level of detail.

pub(super) mod footprint;

use super::format::{self, Texel};
use super::lod::{self, Selection};
use super::texture::{Level, Texture};
use super::wrap::BORDER;
use super::{LookedUp, TmuFault, border, cube, half};
use crate::memory::Memory;
use crate::qpu::lanes::Lanes;
use v3d_hw::texture::{TextureType, Wrap};

/// A lookup in progress.
struct Lookup<'a> {
    texture: &'a Texture,
    memory: Memory<'a>,
    /// Packed RGBA8888.
    border: u32,
    fault: Option<TmuFault>,
}

/// Position of an element.
#[derive(Clone, Copy, Default)]
struct Point {
    s: f32,
    t: f32,
    /// Offset of its face from the first.
    face: u32,
}

/// The texels around a position: columns and rows, and the shares of the second ones in 1/256.
struct Neighbourhood {
    x: [u32; 2],
    y: [u32; 2],
    share_x: u32,
    share_y: u32,
}

/// Looks up a vector of coordinates.
pub(super) fn sample(texture: &Texture, memory: Memory<'_>, coordinates: [&Lanes; 4]) -> LookedUp {
    let mut lookup = Lookup { texture, memory, border: 0, fault: texture.misuse };
    if texture.wrap_s == Wrap::Border || texture.wrap_t == Wrap::Border {
        match border::color(texture.texture_type, coordinates[2].0[0]) {
            Ok(color) => lookup.border = color,
            Err(fault) => lookup.report(fault),
        }
    }
    match texture.texture_type {
        TextureType::Rgba8888 | TextureType::Rgba32R => lookup.bytes::<format::Rgba8888>(coordinates),
        TextureType::Rgbx8888 => lookup.bytes::<format::Rgbx8888>(coordinates),
        TextureType::Rgba4444 => lookup.bytes::<format::Rgba4444>(coordinates),
        TextureType::Rgba5551 => lookup.bytes::<format::Rgba5551>(coordinates),
        TextureType::Rgb565 => lookup.bytes::<format::Rgb565>(coordinates),
        TextureType::Luminance => lookup.bytes::<format::Luminance>(coordinates),
        TextureType::Alpha => lookup.bytes::<format::Alpha>(coordinates),
        TextureType::LumAlpha => lookup.bytes::<format::LumAlpha>(coordinates),
        TextureType::Etc1 if texture.etc_flip => lookup.bytes::<format::Etc1<true>>(coordinates),
        TextureType::Etc1 => lookup.bytes::<format::Etc1<false>>(coordinates),
        TextureType::S8 => lookup.bytes::<format::S8>(coordinates),
        TextureType::S16 => lookup.bytes::<format::S16>(coordinates),
        TextureType::Bw1 => lookup.bytes::<format::Bw1>(coordinates),
        TextureType::A1 => lookup.bytes::<format::A1>(coordinates),
        TextureType::A4 => lookup.bytes::<format::A4>(coordinates),
        TextureType::Yuyv422R => lookup.bytes::<format::Yuyv422R>(coordinates),
        TextureType::S16F | TextureType::Rgba64 => lookup.halves(coordinates),
        TextureType::Reserved(code) => LookedUp { fault: Some(TmuFault::ReservedType(code)), ..LookedUp::default() },
    }
}

impl Lookup<'_> {
    #[cold]
    fn report(&mut self, fault: TmuFault) {
        self.fault = self.fault.or(Some(fault));
    }

    /// The positions of the elements of a quad, and their levels.
    #[inline]
    fn quad(&mut self, quad: usize, [s, t, r, b]: [&Lanes; 4]) -> ([Point; 4], [Selection; 4]) {
        let texture = self.texture;
        let elements = |lanes: &Lanes| -> [f32; 4] { std::array::from_fn(|i| f32::from_bits(lanes.0[4 * quad + i])) };
        let (s, t, bias) = (elements(s), elements(t), elements(b));
        let (points, change) = if texture.cube_stride.is_some() {
            self.face_points(s, t, elements(r))
        } else {
            let points = std::array::from_fn(|i| Point { s: s[i], t: t[i], face: 0 });
            let Level { x, y, .. } = texture.levels[0];
            let size = [x.size as f32, y.size as f32];
            let change = if lod::matters(texture.mag, texture.min) && !texture.bias_only {
                lod::flat_change([s.map(|s| s * size[0]), t.map(|t| t * size[1])], size)
            } else {
                0.0
            };
            (points, change)
        };
        let automatic = if texture.bias_only { 0.0 } else { lod::level_of_detail(change) };
        let select = |bias: f32| lod::select(automatic + bias, texture.mag, texture.min, texture.last_level);
        let first = select(bias[0]);
        let same = bias[1..].iter().all(|other| other.to_bits() == bias[0].to_bits());
        let mut selections = if same { [first; 4] } else { bias.map(select) };
        if texture.texture_type == TextureType::S16 {
            for selection in &mut selections {
                if selection.linear || selection.next_share > 0 {
                    self.report(TmuFault::NotBlendable);
                }
                (selection.linear, selection.next_share) = (false, 0);
            }
        }
        (points, selections)
    }

    /// Turns the directions of a quad into faces and coordinates on them; returns the greater of their derivatives in texels.
    ///
    /// Derivatives are of the directions, which are continuous where two faces meet; a face is two units wide.
    fn face_points(&mut self, s: [f32; 4], t: [f32; 4], r: [f32; 4]) -> ([Point; 4], f32) {
        let width = self.texture.levels[0].x.size as f32;
        let change = lod::cube_change([s, t, r].map(|c| c.map(|c| 0.5 * c * width)), width);
        let stride = self.texture.cube_stride.unwrap_or(0);
        let mut points = [Point::default(); 4];
        for (i, target) in points.iter_mut().enumerate() {
            let point = cube::face_point([s[i], t[i], r[i]]);
            if !point.normalized {
                self.report(TmuFault::CubeMapDirection);
            }
            *target = Point { s: point.s, t: point.t, face: stride.wrapping_mul(point.face) };
        }
        (points, change)
    }

    fn bytes<T: Texel>(mut self, coordinates: [&Lanes; 4]) -> LookedUp {
        let mut result = Lanes::splat(0);
        for quad in 0..4 {
            let (points, selections) = self.quad(quad, coordinates);
            for (i, (&point, selection)) in points.iter().zip(&selections).enumerate() {
                result.0[4 * quad + i] = self.bytes_of::<T>(selection, point);
            }
        }
        LookedUp { result, second: None, fault: self.fault }
    }

    fn bytes_of<T: Texel>(&mut self, selection: &Selection, point: Point) -> u32 {
        let first = self.bytes_of_level::<T>(selection.level, selection.linear, point);
        if selection.next_share == 0 {
            return first;
        }
        let next = self.bytes_of_level::<T>(selection.level + 1, selection.linear, point);
        blend_bytes([first, next, first, next], selection.next_share, 0)
    }

    fn bytes_of_level<T: Texel>(&mut self, level: usize, linear: bool, point: Point) -> u32 {
        let texture = self.texture;
        let level = &texture.levels[level];
        let (x, y) = (level.x.position(point.s), level.y.position(point.t));
        if !linear {
            return self.texel::<T>(level, point.face, level.x.texel(x >> 8), level.y.texel(y >> 8));
        }
        let Neighbourhood { x, y, share_x, share_y } = neighbourhood(level, x, y);
        let texels = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| self.texel::<T>(level, point.face, x[i], y[j]));
        blend_bytes(texels, share_x, share_y)
    }

    fn texel<T: Texel>(&mut self, level: &Level, face: u32, x: u32, y: u32) -> u32 {
        if x == BORDER || y == BORDER {
            return self.border;
        }
        T::read(self.memory, T::place(level, face, x, y)).unwrap_or_else(|error| {
            self.report(error.into());
            0
        })
    }

    fn halves(mut self, coordinates: [&Lanes; 4]) -> LookedUp {
        let (mut result, mut second) = (Lanes::splat(0), Lanes::splat(0));
        for quad in 0..4 {
            let (points, selections) = self.quad(quad, coordinates);
            for (i, (&point, selection)) in points.iter().zip(&selections).enumerate() {
                let [red, green, blue, alpha] = self.halves_of(selection, point).map(half::from_f32);
                result.0[4 * quad + i] = u32::from(red) | u32::from(green) << 16;
                second.0[4 * quad + i] = u32::from(blue) | u32::from(alpha) << 16;
            }
        }
        let second = (self.texture.texture_type == TextureType::Rgba64).then_some(second);
        LookedUp { result, second, fault: self.fault }
    }

    fn halves_of(&mut self, selection: &Selection, point: Point) -> [f32; 4] {
        let first = self.halves_of_level(selection.level, selection.linear, point);
        if selection.next_share == 0 {
            return first;
        }
        let next = self.halves_of_level(selection.level + 1, selection.linear, point);
        let share = selection.next_share as f32 / 256.0;
        for (&a, &b) in first.iter().zip(&next) {
            if a < 0.0 && b == f32::INFINITY || b < 0.0 && a == f32::INFINITY {
                self.report(TmuFault::InfinityAndNegative);
            }
        }
        std::array::from_fn(|i| first[i] * (1.0 - share) + next[i] * share)
    }

    fn halves_of_level(&mut self, level: usize, linear: bool, point: Point) -> [f32; 4] {
        let texture = self.texture;
        let level = &texture.levels[level];
        if !linear {
            let (x, y) = (level.x.position(point.s) >> 8, level.y.position(point.t) >> 8);
            return self.half_texel(level, point.face, level.x.texel(x), level.y.texel(y));
        }
        let Neighbourhood { x, y, share_x, share_y } =
            neighbourhood(level, level.x.position(point.s), level.y.position(point.t));
        let texels = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| self.half_texel(level, point.face, x[i], y[j]));
        if texels.as_flattened().iter().any(|&channel| is_negative_power_of_two(channel)) {
            self.report(TmuFault::NegativePowerOfTwo);
        }
        let (right, lower) = (share_x as f32 / 256.0, share_y as f32 / 256.0);
        // A share of 0 must not turn infinity into NaN.
        let mix = |a: f32, b: f32, share: f32| if share == 0.0 { a } else { a * (1.0 - share) + b * share };
        std::array::from_fn(|i| {
            let (first, second) = (mix(texels[0][i], texels[1][i], right), mix(texels[2][i], texels[3][i], right));
            mix(first, second, lower)
        })
    }

    fn half_texel(&mut self, level: &Level, face: u32, x: u32, y: u32) -> [f32; 4] {
        if x == BORDER || y == BORDER {
            return [0.0; 4];
        }
        format::halves(self.memory, self.texture.texture_type, level, face, x, y).unwrap_or_else(|error| {
            self.report(error.into());
            [0.0; 4]
        })
    }
}

/// The texels whose centres are around a position, in 1/256 texel.
#[inline(always)]
fn neighbourhood(level: &Level, x: i32, y: i32) -> Neighbourhood {
    // From the corner of a texel to its centre.
    const HALF_TEXEL: i32 = 128;
    let (x, y) = (x - HALF_TEXEL, y - HALF_TEXEL);
    Neighbourhood {
        x: [level.x.texel(x >> 8), level.x.texel((x >> 8) + 1)],
        y: [level.y.texel(y >> 8), level.y.texel((y >> 8) + 1)],
        share_x: (x & 255) as u32,
        share_y: (y & 255) as u32,
    }
}

fn is_negative_power_of_two(value: f32) -> bool {
    value < 0.0 && value.is_finite() && value.to_bits() & 0x007f_ffff == 0
}

/// Blends the texels upper left, upper right, lower left, lower right, byte by byte; the shares, in 1/256, belong to the right and the lower ones.
fn blend_bytes(texels: [u32; 4], share_x: u32, share_y: u32) -> u32 {
    const HALF: u32 = 0x8000;
    let texels = texels.map(u32::to_le_bytes);
    u32::from_le_bytes(std::array::from_fn(|channel| {
        let [upper_left, upper_right, lower_left, lower_right] = texels.map(|texel| u32::from(texel[channel]));
        let mix = |first: u32, second: u32, share: u32| first * (256 - share) + second * share;
        let (upper, lower) = (mix(upper_left, upper_right, share_x), mix(lower_left, lower_right, share_x));
        ((mix(upper, lower, share_y) + HALF) >> 16) as u8
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Against plain arithmetic, channel by channel.
    #[test]
    fn bytes_blend_like_numbers() {
        let mut random = Random::new(0, 1);
        for _ in 0..2000 {
            let texels: [u32; 4] = std::array::from_fn(|_| random.next_u64() as u32);
            let (x, y) = (random.below(256), random.below(256));
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

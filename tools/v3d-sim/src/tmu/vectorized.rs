//! Vectorized lookups: what [`super::filter`] computes element by element, for all 16 elements at once.
//!
//! Everything that depends on a texture's parameters alone is computed once ([`Prepared`]). A lookup then proceeds level by level: positions
//! ([`axis`]), addresses ([`address`]), words of memory, colours ([`texel`]), and their blend ([`blend`]), each a short loop over 16 elements without
//! branches, which the compiler vectorizes. Mostly all elements are sampled from the same level; if not, each level that is needed is sampled for all
//! of them, and each element selects its own.
//!
//! Rare cases are left to the reference: faults, and types of 16-bit floats.

mod address;
mod axis;
mod blend;
mod level;
mod texel;

use super::border;
use super::cube;
use super::lod;
use super::texture::{Texture, layout_bits};
use crate::memory::Memory;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::simd::vectors::Vectors;
use crate::simd::{SimdDispatch, SimdTask};
use address::{Column, Layout, Row};
use axis::Axis;
use level::Choice;
use v3d_hw::BusAddr;
use v3d_hw::qpu::LANES;
use v3d_hw::texture::{MagFilter, MinFilter, TextureType, Wrap};

/// 16 floats.
type Floats = [f32; LANES];
/// 16 words.
type Words = [u32; LANES];
/// 16 signed integers.
type Ints = [i32; LANES];

/// `f` of each element's index.
#[inline(always)]
fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; LANES] {
    let mut result = [T::default(); LANES];
    for (i, element) in result.iter_mut().enumerate() {
        *element = f(i);
    }
    result
}

/// The integer equal to a float of at most 2^22, taken from the lowest bits of a larger float: conversions of all floats are slow.
#[inline(always)]
fn integer(whole: f32) -> i32 {
    const UNITS: f32 = 12_582_912.0;
    (whole + UNITS).to_bits().wrapping_sub(UNITS.to_bits()) as i32
}

/// A texture, with all that its lookups have in common computed in advance.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    texture_type: TextureType,
    levels: Box<[Level]>,
    filters: level::Filters,
    /// Cube map: coordinates are directions, and faces are this many bytes apart.
    cube_stride: Option<u32>,
    /// Some texels have the border colour.
    border: bool,
    etc_flip: bool,
}

/// A level of a texture.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Offset in memory of its first byte.
    base: u32,
    x: Axis,
    y: Axis,
    layout: Layout,
}

/// Positions of the elements.
struct Points {
    s: Floats,
    t: Floats,
    /// Offset of each element's face from the first.
    face: Words,
}

impl Prepared {
    /// Prepares a texture; `None` if its lookups are left to the reference.
    pub(super) fn new(texture: &Texture) -> Option<Self> {
        let Texture { texture_type, mag, min, .. } = *texture;
        let nearest = mag == MagFilter::Nearest && matches!(min, MinFilter::Nearest | MinFilter::NearMipNear);
        let faulty = texture.misuse.is_some()
            || match texture_type {
                TextureType::S16F | TextureType::Rgba64 | TextureType::Reserved(_) => true,
                TextureType::S16 => !nearest,
                _ => false,
            };
        let border = texture.wrap_s == Wrap::Border || texture.wrap_t == Wrap::Border;
        if faulty || border && border::color(texture_type, 0).is_err() {
            return None;
        }
        let bits = layout_bits(texture_type);
        let levels = texture.levels.iter().take(texture.last_level as usize + 1).map(|level| Level {
            base: BusAddr(level.base).offset(),
            x: Axis::new(&level.x),
            y: Axis::new(&level.y),
            layout: Layout::new(level.tiling, level.layout_width, bits),
        });
        Some(Self {
            texture_type,
            levels: levels.collect(),
            filters: level::Filters::new(texture),
            cube_stride: texture.cube_stride,
            border,
            etc_flip: texture.etc_flip,
        })
    }

    /// Looks up a vector of coordinates s, t, r and b; `None` if that is left to the reference.
    #[inline]
    pub(super) fn sample(&self, simd: SimdDispatch, memory: Memory<'_>, coordinates: [&Lanes; 4]) -> Option<Lanes> {
        simd.run(Lookup { texture: self, memory, coordinates })
    }
}

/// A lookup.
struct Lookup<'a> {
    texture: &'a Prepared,
    memory: Memory<'a>,
    coordinates: [&'a Lanes; 4],
}

impl SimdTask for Lookup<'_> {
    type Output = Option<Lanes>;

    #[inline(always)]
    fn run<V: Vectors>(self) -> Option<Lanes> {
        let texture = self.texture;
        let [s, t, r, b] = self.coordinates;
        let floats = |lanes: &Lanes| -> Floats { each(|i| f32::from_bits(lanes.0[i])) };
        let (s, t, r, b) = (floats(s), floats(t), floats(r), floats(b));
        let border =
            if texture.border { border::color(texture.texture_type, self.coordinates[2].0[0]).ok()? } else { 0 };
        let width = texture.levels[0].x.size as f32;
        let height = texture.levels[0].y.size as f32;
        let changes = || match texture.cube_stride {
            None => lod::of_quads([each(|i| s[i] * width), each(|i| t[i] * height)], |quad| {
                lod::flat_change(quad, [width, height])
            }),
            Some(_) => {
                lod::of_quads([s, t, r].map(|c| each(|i| 0.5 * c[i] * width)), |quad| lod::cube_change(quad, width))
            }
        };
        let choice = texture.filters.choose(&b, changes);
        let points = match texture.cube_stride {
            None => Points { s, t, face: [0; LANES] },
            Some(stride) => face_points(&s, &t, &r, stride)?,
        };
        self.blend_levels::<V>(&points, &choice, border)
    }
}

/// Turns directions into faces and positions on them; `None` if one of them is invalid.
#[inline(always)]
fn face_points(s: &Floats, t: &Floats, r: &Floats, stride: u32) -> Option<Points> {
    let mut points = Points { s: [0.0; LANES], t: [0.0; LANES], face: [0; LANES] };
    let mut normalized = true;
    for i in 0..LANES {
        let point = cube::face_point([s[i], t[i], r[i]]);
        normalized &= point.normalized;
        (points.s[i], points.t[i], points.face[i]) = (point.s, point.t, stride.wrapping_mul(point.face));
    }
    normalized.then_some(points)
}

impl Lookup<'_> {
    /// Samples each element from its level, and blends it with the next one if that has a share.
    #[inline(always)]
    fn blend_levels<V: Vectors>(&self, points: &Points, choice: &Choice, border: u32) -> Option<Lanes> {
        let mut result = [0; LANES];
        for next in 0..2 {
            let mut left = if next == 0 { ALL } else { choice.shared };
            // The elements of each level.
            let mut sampled = [0; LANES];
            while left != 0 {
                let first = left.trailing_zeros() as usize % LANES;
                let group = if choice.uniform { ALL } else { choice.like(first) } & left;
                let level = self.texture.levels.get(choice.level[first] as usize + next)?;
                let texels = self.level::<V>(level, choice.linear[first] != 0, points, border, group)?;
                sampled = if group == ALL {
                    texels
                } else {
                    each(|i| if group >> i & 1 == 1 { texels[i] } else { sampled[i] })
                };
                left &= !group;
            }
            if next == 0 {
                result = sampled;
                if choice.shared == 0 {
                    break;
                }
            } else {
                result = blend::two(&result, &sampled, &choice.next_share);
            }
        }
        Some(Lanes(result))
    }

    /// The texels of a level, blended or not. `needed`: the elements that must be in memory.
    #[inline(always)]
    fn level<V: Vectors>(
        &self,
        level: &Level,
        linear: bool,
        points: &Points,
        border: u32,
        needed: Mask,
    ) -> Option<Words> {
        let (x, y) = (level.x.positions(&points.s), level.y.positions(&points.t));
        if !linear {
            let column = self.column(level, each(|i| x[i] >> 8));
            let row = self.row(level, each(|i| y[i] >> 8), &points.face);
            return Some(self.texels::<V, 1>([(&column, &row)], border, needed)?[0]);
        }
        // From the corner of a texel to its centre.
        const HALF_TEXEL: i32 = 128;
        let (x, y) = (each(|i| x[i] - HALF_TEXEL), each(|i| y[i] - HALF_TEXEL));
        let left = self.column(level, each(|i| x[i] >> 8));
        let right = self.column(level, each(|i| (x[i] >> 8) + 1));
        let upper = self.row(level, each(|i| y[i] >> 8), &points.face);
        let lower = self.row(level, each(|i| (y[i] >> 8) + 1), &points.face);
        let texels = [(&left, &upper), (&right, &upper), (&left, &lower), (&right, &lower)];
        let texels = self.texels::<V, 4>(texels, border, needed)?;
        let (share_x, share_y) = (each(|i| (x[i] & 255) as u32), each(|i| (y[i] & 255) as u32));
        Some(blend::four(&texels, &share_x, &share_y))
    }

    #[inline(always)]
    fn column(&self, level: &Level, position: Ints) -> Column {
        let (texel, outside) = level.x.texels(&position);
        Column::new(&level.layout, self.block_log2(), texel, outside)
    }

    #[inline(always)]
    fn row(&self, level: &Level, position: Ints, face: &Words) -> Row {
        let (texel, outside) = level.y.texels(&position);
        Row::new(&level.layout, self.block_log2(), each(|i| level.base.wrapping_add(face[i])), texel, outside)
    }

    /// Texels of a unit of the layout in each direction, as a power of two.
    #[inline(always)]
    fn block_log2(&self) -> u32 {
        if self.texture.texture_type == TextureType::Etc1 { 2 } else { 0 }
    }

    /// The colours of texels in columns and rows.
    #[inline(always)]
    fn texels<V: Vectors, const N: usize>(
        &self,
        places: [(&Column, &Row); N],
        border: u32,
        needed: Mask,
    ) -> Option<[Words; N]> {
        let mut texels =
            texel::read::<V, N>(self.texture.texture_type, self.texture.etc_flip, self.memory, &places, needed)?;
        if self.texture.border {
            for (texels, (column, row)) in texels.iter_mut().zip(places) {
                *texels = each(|i| if column.outside[i] | row.outside[i] != 0 { border } else { texels[i] });
            }
        }
        Some(texels)
    }
}

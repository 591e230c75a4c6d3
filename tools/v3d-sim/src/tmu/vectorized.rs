//! Vectorized lookups: what [`super::filter`] computes element by element, for all 16 elements at once.
//!
//! Everything that depends on a texture's parameters alone is computed once ([`Prepared`]). A lookup then proceeds level by level: positions
//! ([`axis`]), addresses ([`address`]), words of memory, colours ([`texel`]), and their blend ([`blend`]), in [vectors](Words) of the host without
//! branches. Mostly all elements are sampled from the same level; if not, each level that is needed is sampled for all of them, and each element selects its
//! own.
//!
//! Positions and addresses in most levels need halves of 16 bits only, of which a vector has twice as many: [`compact`] has those.
//!
//! Texels of 16-bit floats are read and blended by [`halves`]. Rare cases are left to the reference: faults, and 16-bit floats with a border or of two levels.

mod address;
mod axis;
mod blend;
mod compact;
mod halves;
mod level;
mod texel;

use super::border;
use super::cube;
use super::format;
use super::texture::{Texture, layout_bits};
use crate::memory::Memory;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::simd::SimdTask;
use crate::simd::vectors::{SIGN, Vectors};
use crate::simd::words::Words;
use address::{Layout, Rows};
use axis::{Axis, Texels};
use compact::{Around, Compact};
use level::{Changes, Choice};
use std::sync::atomic::AtomicU32;
use texel::Places;
use v3d_hw::BusAddr;
use v3d_hw::qpu::LANES;
use v3d_hw::texture::{MagFilter, MinFilter, TextureType, Wrap};

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
    /// An image whose texels are words, and all of whose levels [`compact`] has.
    plain: bool,
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
    /// `None`: [`axis`] and [`address`] have its places.
    compact: Option<Compact>,
}

/// Positions of the elements.
struct Points<W> {
    s: W,
    t: W,
    /// Offset of each element's face from the first.
    face: W,
}

impl Prepared {
    /// Prepares a texture; `None` if its lookups are left to the reference.
    pub(super) fn new(texture: &Texture) -> Option<Self> {
        let Texture { texture_type, mag, min, .. } = *texture;
        let nearest = mag == MagFilter::Nearest && matches!(min, MinFilter::Nearest | MinFilter::NearMipNear);
        let border = texture.wrap_s == Wrap::Border || texture.wrap_t == Wrap::Border;
        let faulty = texture.misuse.is_some()
            || match texture_type {
                TextureType::Reserved(_) => true,
                TextureType::S16F | TextureType::Rgba64 => border,
                TextureType::S16 => !nearest,
                _ => false,
            };
        if faulty || border && border::color(texture_type, 0).is_err() {
            return None;
        }
        let bits = layout_bits(texture_type);
        let levels = texture.levels.iter().take(texture.last_level as usize + 1).map(|level| Level {
            base: BusAddr(level.base).offset(),
            x: Axis::new(&level.x),
            y: Axis::new(&level.y),
            layout: Layout::new(level.tiling, level.layout_width, bits),
            compact: Compact::new(texture, level),
        });
        let levels: Box<[Level]> = levels.collect();
        let is_compact = levels.iter().all(|level| level.compact.is_some());
        Some(Self {
            texture_type,
            plain: is_compact && texel::are_words(texture_type) && !border && texture.cube_stride.is_none(),
            levels,
            filters: level::Filters::new(texture),
            cube_stride: texture.cube_stride,
            border,
            etc_flip: texture.etc_flip,
        })
    }

    /// Looks up a vector of coordinates s, t, r and b; returns the number of results, two for RGBA64. `None` if that is left to the reference: then the results
    /// are undefined.
    #[inline(always)]
    pub(super) fn sample<V: Vectors>(
        &self,
        memory: Memory<'_>,
        coordinates: [&Lanes; 4],
        results: [&mut Lanes; 2],
    ) -> Option<u32> {
        let lookup = Lookup { texture: self, words: memory.words_to_read(), coordinates };
        if self.plain
            && let Some(texels) = lookup.plain::<V::Words>()
        {
            let [result, _] = results;
            *result = V::Words::store(texels);
            return Some(1);
        }
        if format::has_halves(self.texture_type) {
            return V::apart(LookupApart::<true> { lookup, results });
        }
        V::apart(LookupApart::<false> { lookup, results })
    }
}

/// A lookup.
struct Lookup<'a> {
    texture: &'a Prepared,
    words: &'a [AtomicU32],
    coordinates: [&'a Lanes; 4],
}

/// A lookup in a function of its own, of 16-bit floats or of any other texture, and where its results go.
struct LookupApart<'a, const HALVES: bool> {
    lookup: Lookup<'a>,
    results: [&'a mut Lanes; 2],
}

impl<const HALVES: bool> SimdTask for LookupApart<'_, HALVES> {
    /// The number of results.
    type Output = Option<u32>;

    #[inline(always)]
    fn run<V: Vectors>(self) -> Option<u32> {
        let Self { lookup, results } = self;
        if HALVES { lookup.halves::<V::Words>(results) } else { lookup.any::<V::Words>(results) }
    }
}

/// The positions of directions on the faces of a cube, as [`cube::face_point`] has them; `None` if one of them is invalid.
#[inline(always)]
fn face_points<W: Words>(x: W, y: W, z: W, stride: u32) -> Option<Points<W>> {
    let (zero, one) = (W::splat(0), W::splat_float(1.0));
    let (width, height, depth) = (magnitude(x), magnitude(y), magnitude(z));
    let (right, up, front) = (W::float_at_least(x, zero), W::float_at_least(y, zero), W::float_at_least(z, zero));
    // First as if on the faces of z, then those of y, then those of x.
    let (s, t, major) = (W::select(opposite(x), x, front), opposite(y), z);
    let face = W::select(W::splat(5), W::splat(4), front);
    let of_y = W::float_at_least(height, depth);
    let (s, t) = (W::select(s, x, of_y), W::select(t, W::select(opposite(z), z, up), of_y));
    let face = W::select(face, W::select(W::splat(3), W::splat(2), up), of_y);
    let major = W::select(major, y, of_y);
    let of_x = W::both(W::float_at_least(width, height), W::float_at_least(width, depth));
    let (s, t) = (W::select(s, W::select(z, opposite(z), right), of_x), W::select(t, opposite(y), of_x));
    let face = W::select(face, W::select(W::splat(1), zero, right), of_x);
    let extent = magnitude(W::select(major, x, of_x));
    let difference = magnitude(W::float_subtract(extent, one));
    let normalized = W::bits(W::float_at_least(W::splat_float(cube::NORMALIZED_TOLERANCE), difference));
    let none = W::bits(W::equal(extent, zero)) | !W::bits(W::float_greater(W::splat_float(f32::INFINITY), extent));
    if normalized | none != ALL {
        return None;
    }
    let half = W::splat_float(0.5);
    Some(Points {
        s: W::float_multiply(half, W::float_add(s, one)),
        t: W::float_multiply(half, W::float_add(t, one)),
        face: W::multiply(face, W::splat(stride)),
    })
}

/// Floats with the other sign.
#[inline(always)]
fn opposite<W: Words>(x: W) -> W {
    W::xor(x, W::splat(SIGN))
}

/// Floats without their signs.
#[inline(always)]
fn magnitude<W: Words>(x: W) -> W {
    W::and(x, W::splat(!SIGN))
}

/// The whole texels of positions.
#[inline(always)]
fn whole<W: Words>(position: W) -> W {
    W::shift_right_signed(position, 8)
}

/// The columns from a position and from the next one, and the rows. `block_log2`: texels of a unit of the layout in each direction, as a power of two.
#[inline(always)]
fn around<W: Words>(level: &Level, x: W, y: W, face: W, block_log2: u32) -> ([Column<W>; 2], [Row<W>; 2]) {
    let one = W::splat(1);
    let columns = [column(level, x, block_log2), column(level, W::add(x, one), block_log2)];
    (columns, [row(level, y, face, block_log2), row(level, W::add(y, one), face, block_log2)])
}

#[inline(always)]
fn column<W: Words>(level: &Level, position: W, block_log2: u32) -> Column<W> {
    let texels = level.x.texels(position);
    let part = address::columns(&level.layout, W::shift_right(texels.number, block_log2));
    Column { texels, part }
}

#[inline(always)]
fn row<W: Words>(level: &Level, position: W, face: W, block_log2: u32) -> Row<W> {
    let texels = level.y.texels(position);
    let base = W::add(W::splat(level.base), face);
    let place = Rows::new(&level.layout, base, W::shift_right(texels.number, block_log2));
    Row { texels, place }
}

/// What works on vectors of the host is in functions that are inlined: a closure would be compiled without them.
impl Lookup<'_> {
    /// Samples the texels of a [plain](Prepared::plain) texture, all elements from the same levels; `None` if that is not possible.
    #[inline(always)]
    fn plain<W: Words>(&self) -> Option<W> {
        let (points, choice) = self.points_and_choice::<W>()?;
        let (level, linear) = choice.uniform?;
        let mut result = W::splat(0);
        for next in 0..2 {
            let sampled =
                self.compact_level::<W, true>(self.texture.levels.get(level as usize + next)?, linear, &points)?;
            if next == 1 {
                return Some(blend::two(result, sampled, choice.next_share));
            }
            if choice.shared == 0 {
                return Some(sampled);
            }
            result = sampled;
        }
        None
    }

    /// Samples any texture without 16-bit floats; returns the number of results.
    #[inline(always)]
    fn any<W: Words>(&self, [result, _]: [&mut Lanes; 2]) -> Option<u32> {
        let texture = self.texture;
        let [_, _, r, _] = self.coordinates;
        let border = if texture.border { border::color(texture.texture_type, r.0[0]).ok()? } else { 0 };
        let (points, choice) = self.points_and_choice::<W>()?;
        *result = W::store(self.blend_levels(&points, &choice, border)?);
        Some(1)
    }

    /// The elements' positions, levels and filters.
    #[inline(always)]
    fn points_and_choice<W: Words>(&self) -> Option<(Points<W>, Choice<W>)> {
        let texture = self.texture;
        let [s, t, r, b] = self.coordinates;
        let (s, t, r, b) = (W::load(s), W::load(t), W::load(r), W::load(b));
        let choice = if texture.filters.always_magnified {
            Choice::magnified(texture.filters.mag)
        } else {
            texture.filters.choose(b, self.changes(s, t, r)?)
        };
        let points = match texture.cube_stride {
            None => Points { s, t, face: W::splat(0) },
            Some(stride) => face_points(s, t, r, stride)?,
        };
        Some((points, choice))
    }

    /// Samples 16-bit floats, all elements from one level; returns the number of results.
    #[inline(always)]
    fn halves<W: Words>(&self, results: [&mut Lanes; 2]) -> Option<u32> {
        let (points, choice) = self.points_and_choice::<W>()?;
        let (level, linear) = choice.uniform.filter(|_| choice.shared == 0)?;
        let level = self.texture.levels.get(level as usize)?;
        let halves = match self.compact_halves(level, linear, &points) {
            Some(halves) => halves,
            None => self.any_halves(level, linear, &points)?,
        };
        let entries = if self.texture.texture_type == TextureType::Rgba64 { 2 } else { 1 };
        for (result, halves) in results.into_iter().zip(halves).take(entries) {
            *result = W::store(halves);
        }
        Some(entries as u32)
    }

    /// 16-bit floats by [`compact`]; `None` if that is not possible.
    #[inline(always)]
    fn compact_halves<W: Words>(&self, level: &Level, linear: bool, points: &Points<W>) -> Option<halves::Pairs<W>> {
        let (texture_type, compact) = (self.texture.texture_type, level.compact.as_ref()?);
        if !linear {
            let [texels] = halves::read_compact(texture_type, self.words, [compact.nearest(points)])?;
            return halves::unchanged(texels);
        }
        let Around { texels, shares: [x, y] } = compact.around(points);
        let share = W::splat(0xff);
        halves::blend(halves::read_compact(texture_type, self.words, texels)?, W::and(x, share), W::and(y, share))
    }

    /// The same in any other case.
    #[inline(always)]
    fn any_halves<W: Words>(&self, level: &Level, linear: bool, points: &Points<W>) -> Option<halves::Pairs<W>> {
        let texture_type = self.texture.texture_type;
        if !linear {
            let (column, row) = self.nearest(level, points);
            let [texels] = halves::read(texture_type, self.words, &places([(&column, &row)]))?;
            return halves::unchanged(texels);
        }
        let around = self.neighbourhood(level, points);
        let [x, y] = around.shares;
        halves::blend(halves::read(texture_type, self.words, &places(around.texels()))?, x, y)
    }

    /// The changes of coordinates in texels of level 0.
    #[inline(always)]
    fn changes<W: Words>(&self, s: W, t: W, r: W) -> Option<Changes<W>> {
        let texture = self.texture;
        if texture.filters.bias_only {
            return Some(Changes::Sums(W::splat_float(1.0)));
        }
        let Level { x, y, .. } = texture.levels.first()?;
        let (width, height) = (x.size as f32, y.size as f32);
        Some(if texture.cube_stride.is_none() {
            let s = level::derivatives(W::float_multiply(s, W::splat_float(width)), width);
            let t = level::derivatives(W::float_multiply(t, W::splat_float(height)), height);
            Changes::Squares(W::float_add(W::float_multiply(s, s), W::float_multiply(t, t)))
        } else {
            // A face is two units wide.
            let (half, scale) = (W::splat_float(0.5), W::splat_float(width));
            let s = level::derivatives(W::float_multiply(W::float_multiply(half, s), scale), width);
            let t = level::derivatives(W::float_multiply(W::float_multiply(half, t), scale), width);
            let r = level::derivatives(W::float_multiply(W::float_multiply(half, r), scale), width);
            Changes::Sums(W::float_add(W::float_add(s, t), r))
        })
    }

    /// Samples each element from its level, and blends it with the next one if that has a share.
    #[inline(always)]
    fn blend_levels<W: Words>(&self, points: &Points<W>, choice: &Choice<W>, border: u32) -> Option<W> {
        let mut result = W::splat(0);
        for next in 0..2 {
            let mut left = if next == 0 { ALL } else { choice.shared };
            // The elements of each level.
            let mut sampled = W::splat(0);
            while left != 0 {
                let first = left.trailing_zeros() as usize % LANES;
                let (level, linear) = choice.of(first);
                let group = if choice.uniform.is_some() { left } else { choice.like(level, linear) & left };
                let place = self.texture.levels.get(level as usize + next)?;
                let texels = self.level(place, linear, points, border, group)?;
                sampled = if group == ALL {
                    texels
                } else {
                    let of_group =
                        W::equal(W::and(W::load(&ELEMENT_BITS), W::splat(group.into())), W::load(&ELEMENT_BITS));
                    W::select(sampled, texels, of_group)
                };
                left &= !group;
            }
            if next == 0 {
                result = sampled;
                if choice.shared == 0 {
                    break;
                }
            } else {
                result = blend::two(result, sampled, choice.next_share);
            }
        }
        Some(result)
    }

    /// The texels of a level, blended or not. `needed`: the elements that must be in memory.
    #[inline(always)]
    fn level<W: Words>(&self, level: &Level, linear: bool, points: &Points<W>, border: u32, needed: Mask) -> Option<W> {
        if let Some(texels) = self.compact_level::<W, false>(level, linear, points) {
            return Some(texels);
        }
        if !linear {
            let (column, row) = self.nearest(level, points);
            return Some(self.texels(level, [(&column, &row)], border, needed)?[0]);
        }
        let around = self.neighbourhood(level, points);
        let [x, y] = around.shares.map(W::lowest_twice);
        Some(blend::four(self.texels(level, around.texels(), border, needed)?, x, y))
    }

    /// The same by [`compact`]; `None` if that is not possible. `WORDS`: its texels [are words](texel::are_words).
    #[inline(always)]
    fn compact_level<W: Words, const WORDS: bool>(&self, level: &Level, linear: bool, points: &Points<W>) -> Option<W> {
        let (texture_type, words) = (self.texture.texture_type, self.words);
        let compact = level.compact.as_ref()?;
        if !linear {
            let [texels] = texel::read_compact::<W, WORDS, _>(texture_type, words, [compact.nearest(points)])?;
            return Some(texels);
        }
        let Around { texels, shares: [x, y] } = compact.around(points);
        Some(blend::four(texel::read_compact::<W, WORDS, _>(texture_type, words, texels)?, x, y))
    }

    /// The texels at positions.
    #[inline(always)]
    fn nearest<W: Words>(&self, level: &Level, points: &Points<W>) -> (Column<W>, Row<W>) {
        let (x, y) = (whole(level.x.positions(points.s)), whole(level.y.positions(points.t)));
        let block_log2 = self.block_log2();
        (column(level, x, block_log2), row(level, y, points.face, block_log2))
    }

    /// The texels whose centres are around positions.
    #[inline(always)]
    fn neighbourhood<W: Words>(&self, level: &Level, points: &Points<W>) -> Neighbourhood<W> {
        // From the corner of a texel to its centre.
        let half_texel = W::splat(128);
        let x = W::subtract(level.x.positions(points.s), half_texel);
        let y = W::subtract(level.y.positions(points.t), half_texel);
        let fraction = W::splat(255);
        let shares = [W::and(x, fraction), W::and(y, fraction)];
        let (columns, rows) = around(level, whole(x), whole(y), points.face, self.block_log2());
        Neighbourhood { columns, rows, shares }
    }

    /// Texels of a unit of the layout in each direction, as a power of two.
    #[inline(always)]
    fn block_log2(&self) -> u32 {
        if self.texture.texture_type == TextureType::Etc1 { 2 } else { 0 }
    }

    /// The colours of texels in columns and rows.
    #[inline(always)]
    fn texels<W: Words, const N: usize>(
        &self,
        level: &Level,
        around: [(&Column<W>, &Row<W>); N],
        border: u32,
        needed: Mask,
    ) -> Option<[W; N]> {
        let read = places(around);
        let mut texels = texel::read(self.texture, &level.layout, self.words, &read, needed)?;
        if self.texture.border {
            for (texels, (column, row)) in texels.iter_mut().zip(around) {
                if let Some(outside) = column.texels.outside {
                    *texels = W::select(*texels, W::splat(border), outside);
                }
                if let Some(outside) = row.texels.outside {
                    *texels = W::select(*texels, W::splat(border), outside);
                }
            }
        }
        Some(texels)
    }
}

/// Columns of texels, with their parts of the addresses.
struct Column<W: Words> {
    texels: Texels<W>,
    part: W,
}

/// Rows of texels, with their parts of the addresses.
struct Row<W: Words> {
    texels: Texels<W>,
    place: Rows<W>,
}

/// The texels around positions: columns and rows, and the shares of the second ones in 1/256.
struct Neighbourhood<W: Words> {
    columns: [Column<W>; 2],
    rows: [Row<W>; 2],
    shares: [W; 2],
}

impl<W: Words> Neighbourhood<W> {
    /// The texels upper left, upper right, lower left, lower right.
    #[inline(always)]
    fn texels(&self) -> [(&Column<W>, &Row<W>); 4] {
        let Self { columns: [left, right], rows: [upper, lower], .. } = self;
        [(left, upper), (right, upper), (left, lower), (right, lower)]
    }
}

/// The places of texels in columns and rows.
#[inline(always)]
fn places<W: Words, const N: usize>(around: [(&Column<W>, &Row<W>); N]) -> [Places<W>; N] {
    let nowhere = W::splat(0);
    let mut places = [Places { texels: (nowhere, nowhere), offsets: nowhere }; N];
    for (places, (column, row)) in places.iter_mut().zip(around) {
        places.texels = (column.texels.number, row.texels.number);
        places.offsets = address::offsets(column.part, row.place);
    }
    places
}

/// The bit of each element in a mask.
const ELEMENT_BITS: Lanes = {
    let mut bits = Lanes::ELEMENT_NUMBERS;
    let mut element = 0;
    while element < LANES {
        bits.0[element] = 1 << element;
        element += 1;
    }
    bits
};

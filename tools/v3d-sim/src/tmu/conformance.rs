//! Random lookups that vectors must compute exactly as the reference does.
//!
//! A case is a suite and a number: together they are the seed of a texture's parameters and of the coordinates of some lookups. The texels are noise,
//! the same in all cases. Each lookup is computed by the reference and at each SIMD level; results and faults are compared. Lookups that are left to
//! the reference are counted, as are those with the same value everywhere, which prove little.

use super::texture::Texture;
use super::{Tmu, VectorLookup, filter, format};
use crate::memory::{Memory, OwnedMemory};
use crate::qpu::lanes::Lanes;
use crate::random::{Failure, Random};
use crate::simd::{SimdDispatch, SimdLevel};
use std::ops::Range;
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::texture::{
    ChildDimensions, ChildOffsets, CubeMapStride, MagFilter, MinFilter, Parameter0, Parameter1, ParameterType,
    TextureType, Wrap,
};
use v3d_hw::{Aligned, BusAddr, Layout};

/// The kind of textures in a case. All suites have all texel types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// All sizes, flipped or not.
    Sizes,
    /// Mipmaps with all filters, biases and levels.
    Filters,
    /// All wrap modes on both axes, borders with their colours.
    Wraps,
    /// Cube maps.
    Cubes,
    /// Child images.
    Children,
    /// Any parameters and coordinates.
    Parameters,
}

impl Suite {
    /// All suites with their names.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Sizes, "texture-sizes"),
        (Self::Filters, "texture-filters"),
        (Self::Wraps, "texture-wraps"),
        (Self::Cubes, "texture-cubes"),
        (Self::Children, "texture-children"),
        (Self::Parameters, "texture-parameters"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(suite, _)| *suite == self).map_or("", |&(_, name)| name)
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases that were executed.
    pub cases: u64,
    /// Lookups of 16 elements.
    pub lookups: u64,
    /// Lookups computed in vectors; the others are left to the reference.
    pub in_vectors: u64,
    /// Lookups in vectors whose elements are not all the same.
    pub varied: u64,
    /// Lookups in vectors that blend 16-bit floats.
    pub blended_halves: u64,
    /// Lookups with a fault.
    pub with_faults: u64,
}

const MEMORY_BYTES: u32 = 4 << 20;
const PAGE_BYTES: u32 = 4096;
const LOOKUPS: u64 = 4;

/// Executes cases of a suite, until one fails.
pub fn run(suite: Suite, cases: Range<u64>) -> Result<Summary, Failure> {
    // Noise has 16-bit floats that are infinite or NaN nearly everywhere. Without their highest exponent bit all are finite.
    let memories = [!0, !0x4000_4000].map(|kept| {
        let owned = OwnedMemory::new(MEMORY_BYTES as usize);
        let mut noise = Random::new(0, 0);
        for word in 0..MEMORY_BYTES / 4 {
            // All of these addresses are inside.
            let _ = owned.view().set_word(BusAddr(4 * word), noise.next_u64() as u32 & kept);
        }
        owned
    });
    let mut summary = Summary::default();
    for case in cases {
        summary.cases += 1;
        run_case(suite, case, memories[(case % 2) as usize].view(), &mut summary).map_err(|what| Failure {
            suite: suite.name(),
            case,
            what,
        })?;
    }
    Ok(summary)
}

fn run_case(suite: Suite, case: u64, memory: Memory<'_>, summary: &mut Summary) -> Result<(), String> {
    let mut random = Random::new(100 + suite as u64, case);
    let parameters = parameters(suite, &mut random);
    // Parameters that are no texture are not looked up at all.
    let Ok(texture) = Texture::decode(parameters) else { return Ok(()) };
    let levels = [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512];
    let mut tmus = levels.map(|level| (level, Tmu::new()));
    for _ in 0..LOOKUPS {
        let coordinates = coordinates(suite, &texture, &mut random);
        let coordinates = coordinates.each_ref();
        let reference = filter::sample(&texture, memory, coordinates);
        summary.lookups += 1;
        summary.with_faults += u64::from(reference.fault.is_some());
        for (level, tmu) in &mut tmus {
            tmu.reset();
            let [s, t, r, b] = coordinates;
            let [of_t, of_r, of_b, of_s] = parameters;
            let before = [(TmuCoordinate::T, t, of_t), (TmuCoordinate::R, r, of_r), (TmuCoordinate::B, b, of_b)];
            for (coordinate, value, parameter) in before {
                tmu.write(coordinate, value, parameter, memory).map_err(|fault| fault.to_string())?;
            }
            let lookup = VectorLookup { tmu, s, uniform: of_s, memory };
            if SimdDispatch::limited_to(*level).run(lookup).is_none() {
                continue;
            }
            let mut results = tmu.results();
            let (result, second) = (results.next().unwrap_or_default(), results.next());
            if reference.fault.is_some() || (reference.result, reference.second) != (result, second) {
                return Err(format!(
                    "{level:?}: {result:x?} and {second:x?} instead of {reference:x?} with parameters {parameters:x?} at {coordinates:x?}"
                ));
            }
            if *level == SimdLevel::Avx512 {
                summary.in_vectors += 1;
                summary.varied += u64::from(result != Lanes::splat(result.0[0]));
                let blends = texture.mag == MagFilter::Linear;
                summary.blended_halves += u64::from(blends && format::has_halves(texture.texture_type));
            }
        }
    }
    Ok(())
}

fn word(layout: &impl Layout) -> u32 {
    layout.to_word().unwrap_or(0)
}

const WRAPS: [Wrap; 4] = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::Border];

const MIN_FILTERS: [MinFilter; 6] = [
    MinFilter::Linear,
    MinFilter::Nearest,
    MinFilter::NearMipNear,
    MinFilter::NearMipLin,
    MinFilter::LinMipNear,
    MinFilter::LinMipLin,
];

/// The parameters of a texture.
fn parameters(suite: Suite, random: &mut Random) -> [u32; 4] {
    if suite == Suite::Parameters {
        let base = random.below(MEMORY_BYTES / PAGE_BYTES) * PAGE_BYTES;
        let mut rest = || if random.one_in(2) { 0 } else { random.value() };
        return [base | rest() & 0xfff, rest(), rest(), rest()];
    }
    let texture_type = random.pick(TextureType::ALL);
    let (type_low, type_high) = texture_type.split();
    let filters = suite == Suite::Filters || random.one_in(3);
    let any_wrap = suite == Suite::Wraps || random.one_in(4);
    let wraps = if any_wrap { &WRAPS[..] } else { &WRAPS[..2] };
    let mut size = || match random.below(8) {
        // Powers of two; sizes around the edges of tiles and micro-tiles; any.
        0..=2 => 1 << random.below(9),
        3..=5 => 1 + random.below(70),
        6 => 1 + random.below(400),
        _ => random.below(2048),
    };
    let (width, height) = (size(), size());
    let width = if texture_type.is_raster() { width.next_power_of_two() & 2047 } else { width };
    let height = if suite == Suite::Cubes { width } else { height };
    let page = MEMORY_BYTES / PAGE_BYTES / 2 + random.below(64);
    let p0 = Parameter0 {
        base: Aligned(BusAddr(page * PAGE_BYTES)),
        type_low,
        cube_map: suite == Suite::Cubes,
        flip_y: random.one_in(4),
        mip_levels_minus_1: if filters { random.below(12) as u8 } else { 0 },
        ..Parameter0::from_word(0)
    };
    let linear = random.one_in(2);
    let p1 = Parameter1 {
        type_high,
        width: width as u16,
        height: height as u16,
        etc_flip: random.one_in(2),
        mag_filter: random.pick(&[MagFilter::Linear, MagFilter::Nearest]),
        min_filter: random.pick(&MIN_FILTERS),
        wrap_s: random.pick(wraps),
        wrap_t: random.pick(wraps),
    };
    let p1 = match (filters, linear) {
        (true, _) => p1,
        (false, true) => Parameter1 { mag_filter: MagFilter::Linear, min_filter: MinFilter::Linear, ..p1 },
        (false, false) => Parameter1 { mag_filter: MagFilter::Nearest, min_filter: MinFilter::Nearest, ..p1 },
    };
    let rest = match suite {
        Suite::Cubes => {
            let stride = Aligned(BusAddr(random.below(64) * PAGE_BYTES));
            let disable_lod = random.one_in(4);
            [word(&CubeMapStride { ptype: ParameterType::CubeMapStride, stride, disable_lod }), 0]
        }
        Suite::Children => {
            let mut part =
                |size: u32| (random.below(size.max(1)) as u16, 1 + random.below(size.max(1)).min(2046) as u16);
            let ((x, width), (y, height)) = (part(width), part(height));
            let size = ChildDimensions { ptype: ParameterType::ChildDimensions, width, height };
            [word(&size), word(&ChildOffsets { ptype: ParameterType::ChildOffsets, x, y })]
        }
        Suite::Filters if random.one_in(4) => {
            let bias =
                CubeMapStride { ptype: ParameterType::CubeMapStride, disable_lod: true, ..CubeMapStride::from_word(0) };
            [word(&bias), 0]
        }
        _ => [0, 0],
    };
    [word(&p0), word(&p1), rest[0], rest[1]]
}

/// s, t, r and b of a lookup.
fn coordinates(suite: Suite, texture: &Texture, random: &mut Random) -> [Lanes; 4] {
    let (width, height) = (texture.levels[0].x.size, texture.levels[0].y.size);
    let (s, t) = match random.below(if suite == Suite::Parameters { 5 } else { 4 }) {
        // As on a flat surface: 8x2 pixels.
        0 | 1 => (surface(width, random), surface(height, random)),
        // Exactly between texels, and at their centres.
        2 => (between(width, random), between(height, random)),
        3 => (anywhere(random), anywhere(random)),
        _ => (random.lanes(), random.lanes()),
    };
    let bias = match random.below(4) {
        0 => Lanes::splat(eighth(random)),
        1 => Lanes(std::array::from_fn(|_| eighth(random))),
        _ => Lanes::splat(0),
    };
    if suite == Suite::Cubes {
        let [s, t, r] = directions(random);
        return [s, t, r, bias];
    }
    [s, t, random.lanes(), bias]
}

/// A fraction from 0 to 1.
fn share(random: &mut Random) -> f32 {
    random.below(1 << 24) as f32 / (1 << 24) as f32
}

/// A bias in steps of 1/8, from -4 to 12.
fn eighth(random: &mut Random) -> u32 {
    (random.below(128) as f32 / 8.0 - 4.0).to_bits()
}

fn surface(size: u32, random: &mut Random) -> Lanes {
    let mut step = || (share(random) - 0.5) * 2f32.powi(random.below(12) as i32 - 3) / size as f32;
    let (along_x, along_y) = (step(), step());
    let start = share(random) * 2.0 - 0.5;
    let start = if random.one_in(16) { start * 1e6 } else { start };
    Lanes::from_f32(std::array::from_fn(|i| {
        let (x, y) = (i & 1 | i >> 1 & 6, i >> 1 & 1);
        start + x as f32 * along_x + y as f32 * along_y
    }))
}

fn between(size: u32, random: &mut Random) -> Lanes {
    Lanes::from_f32(std::array::from_fn(|_| (random.below(12 * size) as f32 - 4.0 * size as f32) / (2 * size) as f32))
}

fn anywhere(random: &mut Random) -> Lanes {
    Lanes::from_f32(std::array::from_fn(|_| 8.0 * share(random) - 4.0))
}

/// Directions, divided by their largest component; some are 0, like those of elements without a pixel.
fn directions(random: &mut Random) -> [Lanes; 3] {
    let spread = 2f32.powi(-(random.below(8) as i32));
    let centre: [f32; 3] = std::array::from_fn(|_| 2.0 * share(random) - 1.0);
    let mut directions = [Lanes::splat(0); 3];
    for lane in 0..16 {
        let direction = centre.map(|c| c + spread * (share(random) - 0.5));
        let largest = direction.iter().fold(0f32, |largest, c| largest.max(c.abs()));
        if largest == 0.0 || random.one_in(64) {
            continue;
        }
        for (target, c) in directions.iter_mut().zip(direction) {
            target.0[lane] = (c / largest).to_bits();
        }
    }
    directions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_what_the_reference_has() {
        crate::simd::report_missing_levels();
        for (suite, name) in Suite::ALL {
            let summary = run(suite, 0..4000).unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(summary.cases, 4000, "{name}");
            // Random parameters mostly are no texture in memory.
            let least = if suite == Suite::Parameters { summary.lookups / 20 } else { summary.lookups * 2 / 3 };
            assert!(summary.in_vectors > least, "{name}: {summary:?}");
            assert!(summary.varied > summary.in_vectors / 2, "{name}: {summary:?}");
            assert!(suite == Suite::Parameters || summary.blended_halves > 100, "{name}: {summary:?}");
        }
    }
}

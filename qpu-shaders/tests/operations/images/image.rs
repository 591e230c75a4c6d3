//! Images in the memory layout of the TMU, and as a simple table of texels.

use v3d_hw::layout::Layout;
use v3d_hw::texture::{CubeMapStride, MagFilter, MinFilter, Parameter0, Parameter1, ParameterType, TextureType, Wrap};
use v3d_hw::tiling::{self, Tiling};
use v3d_hw::{Aligned, BusAddr};
use v3d_sim::memory::OwnedMemory;

/// One level: texels row by row, the first row at t = 0.
pub(super) struct Level {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) texels: Vec<u64>,
    /// Address of its first byte.
    pub(super) base: u32,
    pub(super) tiling: Tiling,
}

impl Level {
    pub(super) fn texel(&self, x: u32, y: u32) -> u64 {
        self.texels[(y * self.width + x) as usize]
    }

    /// Width in tiles (T-format), microtiles (LT-format) or bytes (raster), as image_memory.qinc expects it.
    fn across(&self, bits: u32) -> u32 {
        let (micro, _) = tiling::micro_tile_px(bits).unwrap();
        match self.tiling {
            Tiling::Raster => self.width * bits / 8,
            Tiling::LtFormat => self.width.div_ceil(micro),
            Tiling::TFormat => self.width.div_ceil(8 * micro),
        }
    }
}

/// An image whose sides are powers of two, with all levels.
pub(super) struct Image {
    pub(super) bits: u32,
    pub(super) levels: Vec<Level>,
}

/// The sampler of a lookup: filters and wrap modes.
#[derive(Clone, Copy)]
pub(super) struct Filters {
    pub(super) mag: MagFilter,
    pub(super) min: MinFilter,
    pub(super) wrap: Wrap,
}

impl Filters {
    pub(super) const NEAREST: Self = Self { mag: MagFilter::Nearest, min: MinFilter::NearMipNear, wrap: Wrap::Repeat };
    pub(super) const LINEAR: Self = Self { mag: MagFilter::Linear, min: MinFilter::LinMipNear, wrap: Wrap::Repeat };
    pub(super) const TRILINEAR: Self = Self { mag: MagFilter::Linear, min: MinFilter::LinMipLin, wrap: Wrap::Repeat };
}

/// The image's base address; smaller levels are below it.
const BASE: u32 = 0x8000;
/// Address of the words that describe the levels, for image_memory.qinc.
pub(super) const LEVEL_WORDS: u32 = 0x2_f000;

impl Image {
    /// An image whose texels are computed from level, column and row. There are `count` levels: level 0 is at the base address, and the others are below it,
    /// level 1 nearest [AG p.40].
    pub(super) fn new(
        bits: u32,
        [width, height]: [u32; 2],
        count: u32,
        mut texel: impl FnMut(u32, u32, u32) -> u64,
    ) -> Self {
        let mut end = BASE;
        let levels = (0..count).map(|number| {
            let (width, height) = ((width >> number).max(1), (height >> number).max(1));
            let tiling = tiling::level_format(width, height, bits).unwrap();
            if number > 0 {
                end -= tiling::image_bytes(tiling, width, height, bits).unwrap() as u32;
            }
            let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            let texels = places.map(|(x, y)| texel(number, x, y)).collect();
            Level { width, height, texels, base: end, tiling }
        });
        Self { bits, levels: levels.collect() }
    }

    /// Writes all texels, and the words that describe the levels.
    pub(super) fn put(&self, memory: &OwnedMemory) {
        for (number, level) in (0..).zip(&self.levels) {
            for (place, &texel) in (0..).zip(&level.texels) {
                self.store(memory, number, place % level.width, place / level.width, texel);
            }
            let arrangement = match level.tiling {
                Tiling::Raster => 0,
                Tiling::LtFormat => 1,
                Tiling::TFormat => 2,
            };
            for (word, value) in (0..).zip([level.base, level.across(self.bits), arrangement, 0]) {
                memory.view().set_word(BusAddr(LEVEL_WORDS + 16 * number + 4 * word), value).unwrap();
            }
        }
    }

    fn address(&self, level: u32, x: u32, y: u32) -> u32 {
        let level = &self.levels[level as usize];
        let offset = tiling::pixel_offset_bits(level.tiling, level.width, self.bits, x, y).unwrap();
        level.base + (offset / 8) as u32
    }

    fn store(&self, memory: &OwnedMemory, level: u32, x: u32, y: u32, texel: u64) {
        let bytes = &texel.to_le_bytes()[..(self.bits / 8) as usize];
        memory.view().write(BusAddr(self.address(level, x, y)), bytes).unwrap();
    }

    /// A texel's bits in memory.
    pub(super) fn load(&self, memory: &OwnedMemory, level: u32, x: u32, y: u32) -> u64 {
        let mut bytes = [0; 8];
        memory.view().read(BusAddr(self.address(level, x, y)), &mut bytes[..(self.bits / 8) as usize]).unwrap();
        u64::from_le_bytes(bytes)
    }

    /// The three uniforms of `image_resource`.
    pub(super) fn resource(&self) -> [u32; 3] {
        [self.levels[0].width, self.levels[0].height, self.levels.len() as u32 - 1]
    }

    /// Texture parameters 0, 1 and 2 for a lookup with an explicit level.
    pub(super) fn lookup(&self, texture_type: TextureType, filters: Filters) -> [u32; 3] {
        let (type_low, type_high) = texture_type.split();
        let [width, height, last] = self.resource();
        let parameter_0 = Parameter0 {
            base: Aligned(BusAddr(BASE)),
            cswiz: 0,
            cube_map: false,
            flip_y: false,
            type_low,
            mip_levels_minus_1: last as u8,
        };
        let parameter_1 = Parameter1 {
            type_high,
            height: height as u16,
            etc_flip: false,
            width: width as u16,
            mag_filter: filters.mag,
            min_filter: filters.min,
            wrap_t: filters.wrap,
            wrap_s: filters.wrap,
        };
        let parameter_2 =
            CubeMapStride { ptype: ParameterType::CubeMapStride, stride: Aligned(BusAddr(0)), disable_lod: true };
        [parameter_0.to_word().unwrap(), parameter_1.to_word().unwrap(), parameter_2.to_word().unwrap()]
    }
}

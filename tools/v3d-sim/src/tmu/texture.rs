//! Textures as their parameters describe them: size, type, filters, and the addresses of their levels.
//!
//! Level 0 is at the base address. The smaller levels are before it, level 1 nearest, each as large as the padded level of a texture whose size is
//! rounded up to powers of two [AG p.40]; level 0 alone keeps its own size. Rows of raster textures have at least four texels [piegpu]; that this holds for
//! smaller levels and for YUYV422R, too, is a guess. The padded size of a level decides between T-format and LT-format. ETC1
//! counts blocks of 4x4 texels as pixels of 64 bits [AG p.105] [mesa vc4_resource.c].

use super::TmuFault;
use super::wrap::Axis;
use std::ops::Range;
use v3d_hw::BusAddr;
use v3d_hw::layout::Layout;
use v3d_hw::texture::{
    ChildDimensions, ChildOffsets, CubeMapStride, MAX_SIZE, MIN_RASTER_ROW_TEXELS, MIN_YUYV_ROW_TEXELS, MagFilter,
    MinFilter, Parameter0, Parameter1, ParameterType, TextureType, Wrap,
};
use v3d_hw::tiling::{self, Tiling};

/// Maximum number of levels, in 4 bits.
const MAX_LEVELS: usize = 16;
/// Images of a cube map.
const CUBE_FACES: u64 = 6;

/// A level of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Bus address of its first byte, in face 0.
    pub(super) base: u32,
    /// Columns.
    pub(super) x: Axis,
    /// Rows.
    pub(super) y: Axis,
    /// Width that determines the padding, in units of the layout: texels, or blocks.
    pub(super) layout_width: u32,
    /// Arrangement in memory.
    pub(super) tiling: Tiling,
}

/// A texture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Texture {
    pub(super) texture_type: TextureType,
    pub(super) levels: [Level; MAX_LEVELS],
    /// Number of the smallest level.
    pub(super) last_level: u32,
    /// Distance in bytes from face to face; `None`: not a cube map.
    pub(super) cube_stride: Option<u32>,
    /// Rows of level 0 with its padding, in units of the layout.
    layout_height: u32,
    /// The bias alone is the level of detail.
    pub(super) bias_only: bool,
    pub(super) etc_flip: bool,
    pub(super) mag: MagFilter,
    pub(super) min: MinFilter,
    pub(super) wrap_s: Wrap,
    pub(super) wrap_t: Wrap,
    /// A misuse in spite of which lookups are possible.
    pub(super) misuse: Option<TmuFault>,
}

/// 0 means 2048.
fn size(code: u16) -> u32 {
    if code == 0 { MAX_SIZE } else { u32::from(code) }
}

impl Texture {
    /// Decodes the parameters of a lookup.
    pub(super) fn decode(parameters: [u32; 4]) -> Result<Self, TmuFault> {
        let [p0, p1, rest @ ..] = parameters;
        let (p0, p1) = (Parameter0::from_word(p0), Parameter1::from_word(p1));
        let texture_type = TextureType::join(p0.type_low, p1.type_high);
        if let TextureType::Reserved(code) = texture_type {
            return Err(TmuFault::ReservedType(code));
        }
        if let MinFilter::Reserved(code) = p1.min_filter {
            return Err(TmuFault::ReservedMinFilter(code));
        }
        let mut misuse = None;
        let (mut stride, mut dimensions, mut offsets) = (None, None, None);
        for word in rest {
            match CubeMapStride::from_word(word).ptype {
                ParameterType::NotUsed => {}
                ParameterType::CubeMapStride => stride = Some(CubeMapStride::from_word(word)),
                ParameterType::ChildDimensions => dimensions = Some(ChildDimensions::from_word(word)),
                ParameterType::ChildOffsets => offsets = Some(ChildOffsets::from_word(word)),
            }
        }
        let child = match (dimensions, offsets) {
            (Some(dimensions), Some(offsets)) => {
                if dimensions.width == 0 || dimensions.height == 0 {
                    misuse = Some(TmuFault::ChildTooLarge);
                }
                let x = Window { offset: u32::from(offsets.x), size: size(dimensions.width) };
                let y = Window { offset: u32::from(offsets.y), size: size(dimensions.height) };
                Some((x, y))
            }
            (None, None) => None,
            _ => return Err(TmuFault::ChildIncomplete),
        };
        let cube_stride = match (p0.cube_map, stride) {
            (true, Some(stride)) => Some(stride.stride.0.0),
            (true, None) => return Err(TmuFault::NoCubeMapStride),
            (false, _) => None,
        };
        if p0.cube_map && (p1.wrap_s == Wrap::Border || p1.wrap_t == Wrap::Border) {
            misuse = Some(TmuFault::CubeMapBorder);
        }
        let width = size(p1.width);
        if texture_type.is_raster() && !width.is_power_of_two() {
            misuse = Some(TmuFault::RasterWidth(width));
        } else if texture_type == TextureType::Yuyv422R && width < MIN_YUYV_ROW_TEXELS && size(p1.height) > 1 {
            misuse = Some(TmuFault::YuyvRow(width));
        }
        Ok(Self {
            texture_type,
            levels: levels(p0, p1, texture_type, child),
            last_level: u32::from(p0.mip_levels_minus_1),
            cube_stride,
            layout_height: layout_blocks(texture_type, size(p1.height)),
            bias_only: stride.is_some_and(|stride| stride.disable_lod),
            etc_flip: p1.etc_flip,
            mag: p1.mag_filter,
            min: p1.min_filter,
            wrap_s: p1.wrap_s,
            wrap_t: p1.wrap_t,
            misuse,
        })
    }

    /// Whether no lookup can fail, whatever its coordinates are, in a memory of `bytes` bytes: all texels are in memory, and none is a float, whose sums may be
    /// undefined. Directions may miss a cube map.
    pub(super) fn cannot_fail(&self, bytes: u64) -> bool {
        let is_float = matches!(self.texture_type, TextureType::S16F | TextureType::Rgba64);
        let in_memory = self.extent().is_some_and(|extent| extent.end <= bytes);
        !is_float && in_memory && self.cube_stride.is_none() && self.misuse.is_none()
    }

    /// The bytes of memory that lookups may read; `None` if they are not successive.
    pub(super) fn extent(&self) -> Option<Range<u64>> {
        let [largest, smallest] = [0, self.last_level].map(|level| self.levels.get(level as usize));
        let (largest, smallest) = (largest?, smallest?);
        let (start, first) = (BusAddr(smallest.base).offset(), BusAddr(largest.base).offset());
        let bits = layout_bits(self.texture_type);
        let bytes = tiling::image_bytes(largest.tiling, largest.layout_width, self.layout_height, bits)?;
        let faces = u64::from(self.cube_stride.unwrap_or(0)) * (CUBE_FACES - 1);
        (start <= first).then_some(u64::from(start)..u64::from(first) + faces + bytes)
    }
}

/// Position of a child image along one axis.
#[derive(Clone, Copy)]
struct Window {
    offset: u32,
    size: u32,
}

/// Computes the addresses of the levels.
fn levels(
    p0: Parameter0,
    p1: Parameter1,
    texture_type: TextureType,
    child: Option<(Window, Window)>,
) -> [Level; MAX_LEVELS] {
    let bits = layout_bits(texture_type);
    let blocks = |texels| layout_blocks(texture_type, texels);
    let (width, height) = (size(p1.width), size(p1.height));
    let (layout_width, layout_height) = (blocks(width), blocks(height));
    let (container_width, container_height) = (layout_width.next_power_of_two(), layout_height.next_power_of_two());
    let row = |width: u32| if texture_type.is_raster() { width.max(MIN_RASTER_ROW_TEXELS) } else { width };
    let mut end = p0.base.0.0;
    std::array::from_fn(|number| {
        let smaller = |size: u32| (size >> number).max(1);
        let (layout_width, layout_height) = if number == 0 {
            // Rows of raster textures are always padded [AG p.109 HW-2898].
            (row(if texture_type.is_raster() { container_width } else { layout_width }), layout_height)
        } else {
            (row(smaller(container_width)), smaller(container_height))
        };
        let tiling = if texture_type.is_raster() {
            Tiling::Raster
        } else {
            tiling::level_format(layout_width, layout_height, bits).unwrap_or(Tiling::Raster)
        };
        if number > 0 {
            let bytes = tiling::image_bytes(tiling, layout_width, layout_height, bits).unwrap_or(0);
            end = end.wrapping_sub(bytes as u32);
        }
        let axis = |mode, size, window: Option<Window>, flip: bool| Axis {
            mode,
            size: smaller(window.map_or(size, |window| window.size)),
            offset: window.map_or(0, |window| window.offset >> number),
            flipped_from: flip.then(|| smaller(size) - 1),
        };
        Level {
            base: end,
            x: axis(p1.wrap_s, width, child.map(|(x, _)| x), false),
            y: axis(p1.wrap_t, height, child.map(|(_, y)| y), p0.flip_y),
            layout_width,
            tiling,
        }
    })
}

/// A number of texels along an axis, in units of a type's layout.
const fn layout_blocks(texture_type: TextureType, texels: u32) -> u32 {
    if matches!(texture_type, TextureType::Etc1) { texels.div_ceil(4) } else { texels }
}

/// Bits of a unit of a type's layout: a texel, or a block of ETC1. 0 for reserved types.
pub(super) const fn layout_bits(texture_type: TextureType) -> u32 {
    match (texture_type, texture_type.bits_per_texel()) {
        (TextureType::Etc1, _) => 64,
        (_, Some(bits)) => bits,
        (_, None) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether lookups of a texture of 64x32 texels at 0x10000 may fail, with further bits of its parameters and in a memory.
    fn check(p0: u32, p2: u32, bytes: u64, cannot_fail: bool) {
        let texture = Texture::decode([0x1_0000 | p0, 32 << 20 | 64 << 8, p2, 0]).unwrap();
        assert_eq!(texture.cannot_fail(bytes), cannot_fail, "{texture:?} in {bytes} bytes");
    }

    #[test]
    fn lookups_cannot_fail_in_memory() {
        let (cube, etc1, s16f, rgba64, levels) = (1 << 9, 8 << 4, 9 << 4, 15 << 4, 5);
        check(0, 0, 0x1_2000, true);
        check(0, 0, 0x1_1fff, false);
        check(etc1, 0, 0x1_0400, true);
        check(levels, 0, 0x1_2000, true);
        for float in [s16f, rgba64] {
            check(float, 0, 0x10_0000, false);
        }
        // With a stride of 0x2000 bytes.
        check(cube, 1 << 30 | 0x2000, 0x10_0000, false);
    }
}

//! A texture as its parameters describe it: size, type, filters, and where its levels stand.
//!
//! Level 0 stands at the base address. The smaller levels stand in front of it, level 1 nearest, each as large as the padded level of a
//! texture whose size is rounded up to powers of two [AG p.40]; level 0 alone keeps its own size. Whether a level is T-format or LT-format follows from
//! its padded size. ETC1 counts blocks of 4x4 texels as pixels of 64 bits [AG p.105] [mesa vc4_resource.c].

use super::TmuFault;
use v3d_hw::layout::Layout;
use v3d_hw::texture::{
    ChildDimensions, ChildOffsets, CubeMapStride, MAX_SIZE, MagFilter, MinFilter, Parameter0, Parameter1,
    ParameterType, TextureType, Wrap,
};
use v3d_hw::tiling::{self, Tiling};

/// Levels that 4 bits can count.
const MAX_LEVELS: usize = 16;

/// A level of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Bus address of its first byte, without regard to faces.
    pub(super) base: u32,
    /// Size in texels.
    pub(super) width: u32,
    /// Size in texels.
    pub(super) height: u32,
    /// Width from which the padding follows, in units of the layout: texels, or blocks.
    pub(super) layout_width: u32,
    /// Arrangement in memory.
    pub(super) tiling: Tiling,
}

/// The window of a child image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Child {
    /// Position in texels.
    pub(super) x: u32,
    /// Position in texels.
    pub(super) y: u32,
    /// Size in texels.
    pub(super) width: u32,
    /// Size in texels.
    pub(super) height: u32,
}

/// A texture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Texture {
    pub(super) texture_type: TextureType,
    /// Bits of a unit of the layout: a texel, or a block of ETC1.
    pub(super) layout_bits: u32,
    pub(super) levels: [Level; MAX_LEVELS],
    /// Number of the smallest level.
    pub(super) last_level: u32,
    /// Distance in bytes from face to face; `None`: not a cube map.
    pub(super) cube_stride: Option<u32>,
    /// Only the bias makes the level of detail.
    pub(super) bias_only: bool,
    pub(super) flip_y: bool,
    pub(super) etc_flip: bool,
    pub(super) mag: MagFilter,
    pub(super) min: MinFilter,
    pub(super) wrap_s: Wrap,
    pub(super) wrap_t: Wrap,
    pub(super) child: Option<Child>,
    /// A misuse that does not keep the lookup from being made.
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
        let Some(bits) = texture_type.bits_per_texel() else {
            return Err(TmuFault::ReservedType(texture_type.code()));
        };
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
                let (width, height) = (size(dimensions.width), size(dimensions.height));
                Some(Child { x: u32::from(offsets.x), y: u32::from(offsets.y), width, height })
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
        let (width, height) = (size(p1.width), size(p1.height));
        if texture_type.is_raster() && !width.is_power_of_two() {
            misuse = Some(TmuFault::RasterWidth(width));
        }
        let last_level = u32::from(p0.mip_levels_minus_1);
        let mut texture = Self {
            texture_type,
            layout_bits: if texture_type == TextureType::Etc1 { 64 } else { bits },
            levels: [Level { base: p0.base.0.0, width, height, layout_width: width, tiling: Tiling::Raster };
                MAX_LEVELS],
            last_level,
            cube_stride,
            bias_only: stride.is_some_and(|stride| stride.disable_lod),
            flip_y: p0.flip_y,
            etc_flip: p1.etc_flip,
            mag: p1.mag_filter,
            min: p1.min_filter,
            wrap_s: p1.wrap_s,
            wrap_t: p1.wrap_t,
            child,
            misuse,
        };
        texture.place_levels();
        Ok(texture)
    }

    /// Finds out where the levels stand.
    fn place_levels(&mut self) {
        let Level { base, width, height, .. } = self.levels[0];
        let blocks = |texels: u32| if self.texture_type == TextureType::Etc1 { texels.div_ceil(4) } else { texels };
        let (layout_width, layout_height) = (blocks(width), blocks(height));
        let (container_width, container_height) = (layout_width.next_power_of_two(), layout_height.next_power_of_two());
        let mut end = base;
        for (number, level) in self.levels.iter_mut().enumerate() {
            let smaller = |size: u32| (size >> number).max(1);
            let (layout_width, layout_height) = if number == 0 {
                // Rows of raster textures are padded in any case [AG p.109 HW-2898].
                (if self.texture_type.is_raster() { container_width } else { layout_width }, layout_height)
            } else {
                (smaller(container_width), smaller(container_height))
            };
            let tiling = if self.texture_type.is_raster() {
                Tiling::Raster
            } else {
                tiling::level_format(layout_width, layout_height, self.layout_bits).unwrap_or(Tiling::Raster)
            };
            if number > 0 {
                let bytes = tiling::image_bytes(tiling, layout_width, layout_height, self.layout_bits).unwrap_or(0);
                end = end.wrapping_sub(bytes as u32);
            }
            *level = Level { base: end, width: smaller(width), height: smaller(height), layout_width, tiling };
        }
    }

    /// Size in texels of what the coordinates 0 to 1 span in a level.
    pub(super) fn span(&self, level: usize) -> (u32, u32) {
        match self.child {
            Some(child) => ((child.width >> level).max(1), (child.height >> level).max(1)),
            None => {
                let Level { width, height, .. } = self.levels[level];
                (width, height)
            }
        }
    }
}

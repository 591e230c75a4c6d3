//! Textures: the memory that a lookup with given parameters can access.
//!
//! Level 0 starts at the base address and smaller levels precede it, each padded to whole micro-tiles or tiles. Faces of cube maps follow each other with the
//! stride of parameter 2 or 3. A child image is a window on each level, and must be inside of it.
//!
//! Parameters that the guide does not define are rejected, and so are types whose lookups are not documented well enough: the memory that the TMU would read is
//! not known.

use super::Reason;
use v3d_hw::texture::{
    ChildDimensions, ChildOffsets, CubeMapStride, MAX_SIZE, MIN_RASTER_ROW_TEXELS, MIN_YUYV_ROW_TEXELS, MagFilter,
    MinFilter, Parameter0, Parameter1, ParameterType, TextureType, Wrap,
};
use v3d_hw::tiling::{self, Tiling};
use v3d_hw::{BusAddr, Layout};

/// Width and height of an ETC1 block in texels, and its bits.
const ETC1: (u32, u32) = (4, 64);
/// Smallest number of bytes that the TMU reads at once.
const WORD: u64 = 4;

/// Start and length in bytes of all memory that a lookup can access.
pub(super) fn extent(parameters: &[u32]) -> Result<(BusAddr, u64), Reason> {
    let (Some(&zero), Some(&one)) = (parameters.first(), parameters.get(1)) else {
        return Err(Reason::Value("a texture has at least two parameters"));
    };
    let (zero, one) = (Parameter0::from_word(zero), Parameter1::from_word(one));
    let texture_type = TextureType::join(zero.type_low, one.type_high);
    let side = |stored: u16| if stored == 0 { MAX_SIZE } else { u32::from(stored) };
    let (width, height) = (side(one.width), side(one.height));
    let further = Further::of(parameters)?;
    supported(texture_type, &one, width)?;
    further.child_fits(width, height)?;

    let first = level_bytes(texture_type, width, height)?;
    let mut smaller = 0;
    for level in 1..=u32::from(zero.mip_levels_minus_1) {
        // Smaller levels are those of the next power of two.
        let at_level = |side: u32| (side.next_power_of_two() >> level).max(1);
        smaller += level_bytes(texture_type, at_level(width), at_level(height))?;
    }
    let smaller = u32::try_from(smaller).map_err(|_| Reason::Value("the texture's levels are too large"))?;
    let base = zero.base.0;
    if base.offset() < smaller {
        return Err(Reason::Value("levels below address 0"));
    }
    let start = BusAddr(base.0 - smaller);

    let faces = match (zero.cube_map, further.stride) {
        (false, _) => 0,
        (true, _) if one.wrap_s == Wrap::Border || one.wrap_t == Wrap::Border => {
            return Err(Reason::Value("a cube map has no border"));
        }
        (true, Some(stride)) => 5 * u64::from(stride),
        (true, None) => return Err(Reason::Value("a cube map has a stride")),
    };
    Ok((start, (u64::from(smaller) + faces + first).next_multiple_of(WORD)))
}

/// The contents of parameters 2 and 3.
#[derive(Clone, Copy, Default)]
struct Further {
    /// Distance between the faces of a cube map.
    stride: Option<u32>,
    dimensions: Option<ChildDimensions>,
    offsets: Option<ChildOffsets>,
}

impl Further {
    /// Each may be given once: which of two the TMU uses is not documented.
    fn of(parameters: &[u32]) -> Result<Self, Reason> {
        let mut further = Self::default();
        for &word in parameters.iter().skip(2) {
            let stride = CubeMapStride::from_word(word);
            let twice = match stride.ptype {
                ParameterType::NotUsed => false,
                ParameterType::CubeMapStride => further.stride.replace(stride.stride.0.0).is_some(),
                ParameterType::ChildDimensions => {
                    further.dimensions.replace(ChildDimensions::from_word(word)).is_some()
                }
                ParameterType::ChildOffsets => further.offsets.replace(ChildOffsets::from_word(word)).is_some(),
            };
            if twice {
                return Err(Reason::Value("a texture has one parameter of each kind"));
            }
        }
        Ok(further)
    }

    /// Checks that the child image is inside of the image. Then it also is on each level, since both are halved.
    fn child_fits(&self, width: u32, height: u32) -> Result<(), Reason> {
        let (dimensions, offsets) = match (self.dimensions, self.offsets) {
            (None, None) => return Ok(()),
            (Some(dimensions), Some(offsets)) => (dimensions, offsets),
            _ => return Err(Reason::Value("a child image has dimensions and offsets")),
        };
        if dimensions.width == 0 || dimensions.height == 0 {
            return Err(Reason::Value("child images of 2048 texels fail (HW-2753)"));
        }
        let inside = |offset: u16, child: u16, parent: u32| u32::from(offset) + u32::from(child) <= parent;
        if inside(offsets.x, dimensions.width, width) && inside(offsets.y, dimensions.height, height) {
            Ok(())
        } else {
            Err(Reason::Value("the child image lies outside of the image"))
        }
    }
}

/// Checks that everything that determines the accessed memory is documented.
fn supported(texture_type: TextureType, one: &Parameter1, width: u32) -> Result<(), Reason> {
    if texture_type.is_raster() && !width.is_power_of_two() {
        return Err(Reason::Value("the width of a raster texture is a power of two (HW-2898)"));
    }
    if matches!(one.min_filter, MinFilter::Reserved(_)) {
        return Err(Reason::Value("the minification filter is reserved"));
    }
    if texture_type == TextureType::Rgba64 {
        return Err(Reason::Value("lookups of RGBA64 have two results each and are not supported"));
    }
    let unknown = matches!(texture_type, TextureType::S16 | TextureType::S16F | TextureType::Yuyv422R);
    if unknown && (one.wrap_s == Wrap::Border || one.wrap_t == Wrap::Border) {
        return Err(Reason::Value("the border colour of this texture type is not documented"));
    }
    // The height does not matter: one row may be read by words, too.
    if texture_type == TextureType::Yuyv422R && width < MIN_YUYV_ROW_TEXELS {
        return Err(Reason::Value("how far apart the rows of YUYV422R are is known from 8 texels on"));
    }
    let nearest =
        one.mag_filter == MagFilter::Nearest && matches!(one.min_filter, MinFilter::Nearest | MinFilter::NearMipNear);
    if texture_type == TextureType::S16 && !nearest {
        return Err(Reason::Value("textures of type S16 cannot be blended"));
    }
    Ok(())
}

/// Size of one level in bytes.
fn level_bytes(texture_type: TextureType, width: u32, height: u32) -> Result<u64, Reason> {
    let reserved = Reason::Value("the texture type is reserved");
    let bits = texture_type.bits_per_texel().ok_or(reserved)?;
    let (width, height, bits) = match texture_type {
        TextureType::Etc1 => (width.div_ceil(ETC1.0), height.div_ceil(ETC1.0), ETC1.1),
        _ if texture_type.is_raster() => (width.max(MIN_RASTER_ROW_TEXELS), height, bits),
        _ => (width, height, bits),
    };
    let format =
        if texture_type.is_raster() { Some(Tiling::Raster) } else { tiling::level_format(width, height, bits) };
    format.and_then(|format| tiling::image_bytes(format, width, height, bits)).ok_or(reserved)
}

//! Errors of a texture.

use crate::image::tiler::{LayoutError, Rectangle};
use core::fmt;
use v3d_hw::texture::{MAX_SIZE, MIN_YUYV_ROW_TEXELS, MinFilter, TextureType};
use v3d_hw::{BusAddr, FieldError};

/// Why a texture cannot be created, accessed or looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextureError {
    /// A type that does not exist.
    Type(TextureType),
    /// Sides that are not 1 to 2048 texels.
    Size {
        /// Width in texels.
        width_px: u32,
        /// Height in texels.
        height_px: u32,
    },
    /// The number of levels is 0, or more than a texture of this size can have.
    Levels {
        /// Requested number of levels.
        levels: u32,
        /// Maximum for this size.
        most: u32,
    },
    /// A cube map whose faces are not square.
    CubeNotSquare {
        /// Width in texels.
        width_px: u32,
        /// Height in texels.
        height_px: u32,
    },
    /// A raster type whose row length is not a power of two.
    RasterWidth(u32),
    /// A texture of type YUYV422R that is so narrow that it is not known how far apart its rows are.
    YuyvWidth(u32),
    /// A raster type with more than one level, or faces.
    RasterLevels(TextureType),
    /// The level does not exist.
    NoLevel {
        /// The level.
        level: u32,
        /// How many there are.
        levels: u32,
    },
    /// The face does not exist.
    NoFace {
        /// The face.
        face: u32,
        /// How many there are.
        faces: u32,
    },
    /// A rectangle that exceeds its level, or a child image that exceeds its texture.
    Outside {
        /// The rectangle.
        rectangle: Rectangle,
        /// Width of the level or texture in texels.
        width_px: u32,
        /// Height of the level or texture in texels.
        height_px: u32,
    },
    /// A rectangle of a compressed texture that cuts through blocks.
    Blocks(Rectangle),
    /// The number of bytes differs from the texels' size.
    Bytes {
        /// Bytes that were given.
        given: usize,
        /// Bytes that the texels take.
        needed: usize,
    },
    /// A minification filter that does not exist.
    Filter(MinFilter),
    /// Type S16 with a linear filter.
    NotBlendable,
    /// A cube map with wrap mode border.
    CubeBorder,
    /// A border colour for a type whose format is not known.
    Border(TextureType),
    /// A child image with a side of 2048 texels.
    ChildSize {
        /// Width in texels.
        width_px: u32,
        /// Height in texels.
        height_px: u32,
    },
    /// A child image of a cube map.
    ChildOfCube,
    /// An address that is not a multiple of 4096.
    Address(BusAddr),
    /// The pixels cannot be copied.
    Layout(LayoutError),
    /// A value does not fit its field.
    Field(FieldError),
}

impl fmt::Display for TextureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Type(kind) => write!(f, "texture type {} does not exist", kind.code()),
            Self::Size { width_px, height_px } => {
                write!(f, "a texture of {width_px} x {height_px} texels: sides are 1 to {MAX_SIZE}")
            }
            Self::Levels { levels, most } => write!(f, "{levels} levels: a texture of this size has 1 to {most}"),
            Self::CubeNotSquare { width_px, height_px } => {
                write!(f, "faces of a cube map are square, not {width_px} x {height_px} texels")
            }
            Self::RasterWidth(width) => {
                write!(f, "rows of raster textures are powers of two long (HW-2898), not {width} texels")
            }
            Self::YuyvWidth(width) => {
                write!(f, "textures of type YUYV422R are at least {MIN_YUYV_ROW_TEXELS} texels wide, not {width}")
            }
            Self::RasterLevels(kind) => {
                write!(f, "textures of type {} are in raster order and have one level and one face", kind.name())
            }
            Self::NoLevel { level, levels } => write!(f, "there is no level {level}: the texture has {levels}"),
            Self::NoFace { face, faces } => write!(f, "there is no face {face}: the texture has {faces}"),
            Self::Outside { rectangle: Rectangle { x_px, y_px, width_px: w, height_px: h }, width_px, height_px } => {
                write!(f, "{w} x {h} texels at ({x_px}, {y_px}) are not in {width_px} x {height_px} texels")
            }
            Self::Blocks(Rectangle { x_px, y_px, width_px, height_px }) => write!(
                f,
                "{width_px} x {height_px} texels at ({x_px}, {y_px}) cut through compressed blocks of 4 x 4 texels"
            ),
            Self::Bytes { given, needed } => write!(f, "the texels take {needed} bytes, {given} are given"),
            Self::Filter(filter) => write!(f, "minification filter {} does not exist", filter.code()),
            Self::NotBlendable => f.write_str("texture type S16 cannot be blended: its filters are nearest only"),
            Self::CubeBorder => f.write_str("a cube map has no border"),
            Self::Border(kind) => write!(f, "the border colour of texture type {} is not known", kind.name()),
            Self::ChildSize { width_px, height_px } => {
                write!(f, "child images of {MAX_SIZE} texels fail (HW-2753): {width_px} x {height_px}")
            }
            Self::ChildOfCube => f.write_str("a cube map has no child images"),
            Self::Address(address) => write!(f, "a texture cannot stand at {address}: not a multiple of 4096"),
            Self::Layout(ref error) => error.fmt(f),
            Self::Field(ref error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TextureError {}

impl From<FieldError> for TextureError {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl From<LayoutError> for TextureError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

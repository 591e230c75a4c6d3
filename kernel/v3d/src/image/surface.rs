//! Pictures in memory that the tile buffer is stored to and loaded from.

use v3d_hw::BusAddr;
use v3d_hw::control_list::{FrameBufferFormat, MemoryFormat, PixelFormat};

/// Pixels of a colour picture in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorFormat {
    /// 32 bits: red, green, blue, alpha from the lowest byte.
    Rgba8888,
    /// 16 bits: red in the highest five, green in six, blue in the lowest five.
    Bgr565,
    /// The same, dithered when it is stored.
    Bgr565Dithered,
    /// 64 bits: red, green, blue, alpha as half floats, red lowest. The tile buffer can also hold such colours ([`TileBuffer::HalfFloat`]).
    ///
    /// [`TileBuffer::HalfFloat`]: crate::image::tile_grid::TileBuffer::HalfFloat
    Rgba16161616,
}

impl ColorFormat {
    /// Bits of a pixel.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bgr565 | Self::Bgr565Dithered => 16,
            Self::Rgba8888 => 32,
            Self::Rgba16161616 => 64,
        }
    }

    /// The format in Tile Rendering Mode Configuration, which ignores it for 64-bit pixels [AG p.71].
    pub const fn frame_buffer(self) -> FrameBufferFormat {
        match self {
            Self::Rgba8888 | Self::Rgba16161616 => FrameBufferFormat::Rgba8888,
            Self::Bgr565 => FrameBufferFormat::Bgr565,
            Self::Bgr565Dithered => FrameBufferFormat::Bgr565Dithered,
        }
    }

    /// The format in general loads and stores, which ignore it for 64-bit pixels [AG p.67].
    pub const fn pixel_format(self) -> PixelFormat {
        match self {
            Self::Rgba8888 | Self::Rgba16161616 => PixelFormat::Rgba8888,
            Self::Bgr565 => PixelFormat::Bgr565,
            Self::Bgr565Dithered => PixelFormat::Bgr565Dithered,
        }
    }
}

/// A colour picture in memory.
///
/// Rows of a raster picture are contiguous: the hardware has no pitch other than the width. A picture with gaps between its rows is therefore described as one
/// that is wider than the drawn part. The first row in memory is the lowest in the GPU's coordinates; a display shows it at the top, so the viewport flips an
/// upright picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// First byte, 16-byte aligned.
    pub address: BusAddr,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Pixels.
    pub format: ColorFormat,
    /// Their arrangement.
    pub arrangement: MemoryFormat,
}

impl Surface {
    /// A raster picture of 32 bits per pixel, red in the lowest byte, as a display needs it.
    pub const fn display(address: BusAddr, width_px: u32, height_px: u32) -> Self {
        Self { address, width_px, height_px, format: ColorFormat::Rgba8888, arrangement: MemoryFormat::Raster }
    }
}

/// A picture of depth and stencil in memory: depth in bits 31:8, stencil in 7:0, tiled, never raster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthSurface {
    /// First byte, 16-byte aligned.
    pub address: BusAddr,
    /// Arrangement of the 32-bit values.
    pub arrangement: MemoryFormat,
}

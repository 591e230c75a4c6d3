//! Pictures in memory that the tile buffer is stored to and loaded from.

use v3d_hw::BusAddr;
use v3d_hw::control_list::{FrameBufferFormat, MemoryFormat};

/// A colour picture in memory.
///
/// A row of a raster picture begins right after the one before it: the hardware has no other stride than the width. A picture with gaps between its rows is
/// therefore told as one that is wider than what is drawn on it. The first row in memory is the lowest of the GPU's coordinates; a display shows it at the
/// top, so an upright picture is flipped by the viewport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// First byte, 16-byte aligned.
    pub address: BusAddr,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Pixels.
    pub format: FrameBufferFormat,
    /// Their arrangement.
    pub arrangement: MemoryFormat,
}

impl Surface {
    /// A raster picture of 32 bits a pixel, red in the lowest byte: what a display shows.
    pub const fn display(address: BusAddr, width_px: u32, height_px: u32) -> Self {
        Self { address, width_px, height_px, format: FrameBufferFormat::Rgba8888, arrangement: MemoryFormat::Raster }
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

//! Depth and stencil that outlive a pass.

use v3d::hw::control_list::MemoryFormat;
use v3d::hw::tiling::tile_px;
use v3d::platform::Platform;
use v3d::pool::Buffer;
use v3d::surface::DepthSurface;
use v3d::tile_grid::{TileBuffer, TileGrid};

use crate::device::Device;
use crate::error::Error;

/// Bits of a pixel's depth and stencil: 24 and 8.
const BITS: u32 = 32;

/// Memory for the depths and stencils of pictures of one size. Without it a pass forgets both when it ends.
#[derive(Clone, Debug)]
pub struct DepthTarget {
    label: &'static str,
    memory: Buffer,
    width_px: u32,
    height_px: u32,
}

impl DepthTarget {
    /// Takes memory; what is in it is nothing to be loaded until a pass has kept its depths there.
    ///
    /// # Errors
    /// When the sides are not 1 to 2048 pixels, or the pool has not enough memory.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        width_px: u32,
        height_px: u32,
    ) -> Result<Self, Error> {
        let why = "sides are 1 to 2048 pixels";
        let refuse = |_| Error::TargetSize { label, width_px, height_px, why };
        TileGrid::new(width_px, height_px, TileBuffer::Single).map_err(refuse)?;
        let (tile_width, tile_height) = tile_px(BITS).unwrap_or((1, 1));
        let bytes = width_px.next_multiple_of(tile_width) * height_px.next_multiple_of(tile_height) * BITS / 8;
        let memory = device.driver()?.allocate(bytes, 4096)?;
        Ok(Self { label, memory, width_px, height_px })
    }

    /// The name that it was made with.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    /// Width and height in pixels.
    pub const fn size_px(&self) -> (u32, u32) {
        (self.width_px, self.height_px)
    }

    pub(crate) const fn memory(&self) -> &Buffer {
        &self.memory
    }

    /// As lists name it: depth and stencil are never stored in rows.
    pub(crate) fn surface(&self) -> DepthSurface {
        DepthSurface { address: self.memory.address(), arrangement: MemoryFormat::TFormat }
    }
}

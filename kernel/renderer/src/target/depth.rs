//! Depths and stencils that are stored for later passes.

use v3d::hw::control_list::MemoryFormat;
use v3d::hw::tiling::tile_px;
use v3d::platform::Platform;
use v3d::pool::Buffer;
use v3d::surface::DepthSurface;
use v3d::tile_grid::{TileBuffer, TileGrid};

use crate::device::Device;
use crate::error::Error;

/// Bits per pixel: 24 of depth and 8 of stencil.
const BITS: u32 = 32;

/// Memory for the depths and stencils of one image. A pass without it discards both at its end.
#[derive(Clone, Debug)]
pub struct DepthTarget {
    label: &'static str,
    memory: Buffer,
    width_px: u32,
    height_px: u32,
}

impl DepthTarget {
    /// Allocates memory. Its contents are undefined until a pass has stored its depths there.
    ///
    /// # Errors
    /// When a side is not 1 to 2048 pixels, or the pool has not enough memory.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        width_px: u32,
        height_px: u32,
    ) -> Result<Self, Error> {
        let why = "each side must be 1 to 2048 pixels";
        let refuse = |_| Error::TargetSize { label, width_px, height_px, why };
        TileGrid::new(width_px, height_px, TileBuffer::Single).map_err(refuse)?;
        let (tile_width, tile_height) = tile_px(BITS).unwrap_or((1, 1));
        let bytes = width_px.next_multiple_of(tile_width) * height_px.next_multiple_of(tile_height) * BITS / 8;
        let memory = device.driver()?.allocate(bytes, 4096)?;
        device.name(&memory, label, "depths and stencils")?;
        Ok(Self { label, memory, width_px, height_px })
    }

    /// The label that it was created with.
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

    /// The surface for control lists. Depth and stencil are never stored in raster format.
    pub(crate) fn surface(&self) -> DepthSurface {
        DepthSurface { address: self.memory.address(), arrangement: MemoryFormat::TFormat }
    }
}

//! Targets: pictures that passes render to.

use v3d::draw_state::Viewport;
use v3d::hw::BusAddr;
use v3d::hw::control_list::MemoryFormat;
use v3d::hw::tiling::{Tiling, micro_tile_px, tile_px};
use v3d::platform::Platform;
use v3d::pool::Buffer;
use v3d::surface::{ColorFormat, Surface};
use v3d::tile_grid::{TileBuffer, TileGrid};

mod depth;

use crate::device::Device;
use crate::error::Error;

pub use depth::DepthTarget;

/// Pixel format of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 32 bits: red, green, blue, alpha, from the lowest byte.
    Rgba8888,
    /// 16 bits: red in the highest five, green in six, blue in the lowest five.
    Rgb565,
    /// 64 bits: red, green, blue, alpha as half floats, red lowest, neither clamped nor quantised to 8 bits. The guide calls it HDR rendering. Fragment
    /// shaders for it write half floats (`.output half_color`), with one sample per pixel; a texture of type `Rgba64` reads it.
    Rgba16Float,
}

impl Format {
    /// Bits per pixel.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Rgba8888 => 32,
            Self::Rgb565 => 16,
            Self::Rgba16Float => 64,
        }
    }

    pub(crate) const fn color(self) -> ColorFormat {
        match self {
            Self::Rgba8888 => ColorFormat::Rgba8888,
            Self::Rgb565 => ColorFormat::Bgr565,
            Self::Rgba16Float => ColorFormat::Rgba16161616,
        }
    }
}

/// Size and format of a target in the device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetDescriptor {
    /// The name in error messages.
    pub label: &'static str,
    /// Width in pixels, 1 to 2048.
    pub width_px: u32,
    /// Height in pixels, 1 to 2048.
    pub height_px: u32,
    /// The pixel format.
    pub format: Format,
    /// The memory layout of the pixels.
    pub tiling: Tiling,
}

/// A row of a raster image takes a whole multiple of this many pixels in memory: the hardware rounds a surface's width up to micro-tiles
/// [mesa vc4_resource.c].
fn raster_unit_px(format: Format) -> u32 {
    micro_tile_px(format.bits()).map_or(1, |(width, _)| width)
}

/// An image in memory that passes render to. Its first row in memory is the top one.
#[derive(Clone, Debug)]
pub struct Target {
    label: &'static str,
    surface: Surface,
    width_px: u32,
    /// `None` if the memory was not allocated from the device's pool.
    memory: Option<Buffer>,
}

impl Target {
    /// Allocates memory for an image.
    ///
    /// # Errors
    /// When width or height is out of range, or the pool has not enough memory.
    pub fn new<P: Platform>(device: &Device<'_, P>, descriptor: &TargetDescriptor) -> Result<Self, Error> {
        let TargetDescriptor { label, width_px, height_px, format, tiling } = *descriptor;
        let refuse = |why| Error::TargetSize { label, width_px, height_px, why };
        TileGrid::new(width_px, height_px, TileBuffer::Single)
            .map_err(|_| refuse("each side must be 1 to 2048 pixels"))?;
        let (unit_width, unit_height) = match tiling {
            Tiling::Raster => (raster_unit_px(format), 1),
            Tiling::TFormat => tile_px(format.bits()).unwrap_or((1, 1)),
            Tiling::LtFormat => micro_tile_px(format.bits()).unwrap_or((1, 1)),
        };
        let (stored_width, stored_height) =
            (width_px.next_multiple_of(unit_width), height_px.next_multiple_of(unit_height));
        let bytes = stored_width * stored_height * format.bits() / 8;
        let memory = device.driver()?.allocate(bytes, 4096)?;
        device.name(&memory, label, "target")?;
        let surface = Surface {
            address: memory.address(),
            width_px,
            height_px,
            format: format.color(),
            arrangement: match tiling {
                Tiling::Raster => MemoryFormat::Raster,
                Tiling::TFormat => MemoryFormat::TFormat,
                Tiling::LtFormat => MemoryFormat::LtFormat,
            },
        };
        Ok(Self { label, surface, width_px, memory: Some(memory) })
    }

    /// A page of a display: memory outside of the device's pool, with rows of 32-bit pixels at a distance of `pitch_bytes`.
    ///
    /// # Errors
    /// When the pitch is not a whole number of micro-tiles, which have rows of 16 bytes, or width or height is out of range.
    pub fn page(
        label: &'static str,
        address: BusAddr,
        width_px: u32,
        height_px: u32,
        pitch_bytes: u32,
    ) -> Result<Self, Error> {
        let refuse = |why| Error::TargetSize { label, width_px, height_px, why };
        TileGrid::new(width_px, height_px, TileBuffer::Single)
            .map_err(|_| refuse("each side must be 1 to 2048 pixels"))?;
        // The hardware has no separate pitch: it is the surface's width in pixels, rounded up to whole micro-tiles [mesa vc4_resource.c, linux vc4_validate.c].
        if !pitch_bytes.is_multiple_of(16) || pitch_bytes / 4 < width_px || pitch_bytes / 4 > u32::from(u16::MAX) {
            return Err(refuse("its pitch is not a multiple of 16 bytes, or less than its width"));
        }
        let surface = Surface::display(address, pitch_bytes / 4, height_px);
        Ok(Self { label, surface, width_px, memory: None })
    }

    /// A mip level of a texture.
    pub(crate) const fn of_level(label: &'static str, surface: Surface, width_px: u32, memory: Option<Buffer>) -> Self {
        Self { label, surface, width_px, memory }
    }

    /// The pixel format.
    pub const fn format(&self) -> Format {
        match self.surface.format {
            ColorFormat::Bgr565 | ColorFormat::Bgr565Dithered => Format::Rgb565,
            ColorFormat::Rgba8888 => Format::Rgba8888,
            ColorFormat::Rgba16161616 => Format::Rgba16Float,
        }
    }

    /// The memory layout of the pixels.
    pub const fn tiling(&self) -> Tiling {
        match self.surface.arrangement {
            MemoryFormat::TFormat => Tiling::TFormat,
            MemoryFormat::LtFormat => Tiling::LtFormat,
            _ => Tiling::Raster,
        }
    }

    /// The label that it was created with.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    /// Width in pixels.
    pub const fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Height in pixels.
    pub const fn height_px(&self) -> u32 {
        self.surface.height_px
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.width_px as f32 / self.surface.height_px as f32
    }

    /// A viewport that covers the target, for vertices that are shaded by the CPU.
    pub fn viewport(&self) -> Viewport {
        // Both sides are at most 2048 pixels.
        Viewport::display(self.width_px as u16, self.surface.height_px as u16)
    }

    /// The surface for control lists.
    pub const fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Its memory, if it was allocated from the device's pool.
    pub const fn memory(&self) -> Option<&Buffer> {
        self.memory.as_ref()
    }

    /// Copies the image from memory, in the layout of its tiling; rows of a raster image without the padding between them. The GPU must be done with it.
    ///
    /// # Errors
    /// When the memory is not of the device's pool, or `bytes` is longer than the image.
    pub fn read<P: Platform>(&self, device: &Device<'_, P>, bytes: &mut [u8]) -> Result<(), Error> {
        let label = self.label;
        let memory = self.memory.as_ref().ok_or(Error::ForeignDevice { label })?;
        device.expect_own(label, memory)?;
        let (region, driver) = (memory.region(), device.driver_ref()?);
        let platform = driver.platform();
        let bits = self.format().bits();
        let row_bytes = self.width_px * bits / 8;
        let pitch_bytes = self.width_px.next_multiple_of(raster_unit_px(self.format())) * bits / 8;
        if self.tiling() != Tiling::Raster || pitch_bytes == row_bytes {
            return Ok(region.load(platform, 0, bytes)?);
        }
        for (row, bytes) in (0..).zip(bytes.chunks_mut(row_bytes as usize)) {
            region.load(platform, row * pitch_bytes, bytes)?;
        }
        Ok(())
    }
}

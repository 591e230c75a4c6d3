//! Memory and layout, which both texture types have.

use v3d::hw::BusAddr;
use v3d::hw::control_list::MemoryFormat;
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;
use v3d::pool::{Buffer, Owner};
use v3d::surface::{ColorFormat, Surface};
use v3d::texture::{ALIGNMENT, LevelPart, Parameters, Sampler, TextureError, TextureLayout};
use v3d::tiler::{GpuImage, Rectangle};
use v3d::{Platform, region::Region};

use crate::device::Device;
use crate::error::Error;
use crate::target::Target;

/// A texture's memory and layout.
#[derive(Clone, Debug)]
pub(super) struct Image {
    label: &'static str,
    layout: TextureLayout,
    memory: Buffer,
}

impl Image {
    pub(super) fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        layout: Result<TextureLayout, TextureError>,
    ) -> Result<Self, Error> {
        let layout = layout.map_err(|error| Error::Texture { label, error })?;
        let memory = device.driver()?.allocate(layout.bytes(), ALIGNMENT)?;
        device.name(&memory, label, "texture")?;
        memory.region().zero(device.driver_ref()?.platform());
        Ok(Self { label, layout, memory })
    }

    /// A texture in memory that was allocated before.
    pub(super) const fn of(label: &'static str, layout: TextureLayout, memory: Buffer) -> Self {
        Self { label, layout, memory }
    }

    pub(super) const fn label(&self) -> &'static str {
        self.label
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.layout == other.layout && self.memory.is_same(&other.memory)
    }

    pub(super) const fn layout(&self) -> &TextureLayout {
        &self.layout
    }

    pub(super) fn address(&self) -> BusAddr {
        self.memory.address()
    }

    pub(super) fn owner(&self) -> Owner {
        self.memory.owner()
    }

    pub(super) const fn error(&self, error: TextureError) -> Error {
        Error::Texture { label: self.label, error }
    }

    pub(super) fn parameters(&self, sampler: &Sampler) -> Result<Parameters, Error> {
        self.layout.parameters(self.address(), sampler).map_err(|error| self.error(error))
    }

    /// Returns an error if lookups do not have `expected` results.
    pub(super) fn expect_results(&self, expected: u32) -> Result<(), Error> {
        let texture_type = self.layout.texture_type();
        let results = if texture_type == TextureType::Rgba64 { 2 } else { 1 };
        if results == expected { Ok(()) } else { Err(Error::Results { label: self.label, texture_type, results }) }
    }

    /// A rectangle of a level and the memory of the level.
    fn part(&self, face: u32, level: u32, rectangle: Option<Rectangle>) -> Result<(LevelPart, Region), Error> {
        let part = match rectangle {
            Some(rectangle) => self.layout.part(face, level, rectangle),
            None => self.layout.level(face, level),
        };
        let part = part.map_err(|error| self.error(error))?;
        let region = self.memory.region().part(part.offset, part.image.bytes())?;
        Ok((part, region))
    }

    pub(super) fn write<P: Platform>(
        &self,
        device: &Device<'_, P>,
        face: u32,
        level: u32,
        rectangle: Option<Rectangle>,
        texels: &[u8],
    ) -> Result<(), Error> {
        device.expect_own(self.label, &self.memory)?;
        let (part, region) = self.part(face, level, rectangle)?;
        let driver = device.driver_ref()?;
        part.put(&mut GpuImage::new(driver.platform(), region), texels).map_err(|error| self.error(error))
    }

    pub(super) fn read<P: Platform>(
        &self,
        device: &Device<'_, P>,
        face: u32,
        level: u32,
        rectangle: Option<Rectangle>,
        texels: &mut [u8],
    ) -> Result<(), Error> {
        device.expect_own(self.label, &self.memory)?;
        let (part, region) = self.part(face, level, rectangle)?;
        let driver = device.driver_ref()?;
        part.get(&GpuImage::new(driver.platform(), region), texels).map_err(|error| self.error(error))
    }

    /// A level of the first face as a target. `exclusive`: a pass that renders to it must not sample the texture.
    pub(super) fn target(&self, level: u32, exclusive: bool) -> Result<Target, Error> {
        let texture_type = self.layout.texture_type();
        let format = match texture_type {
            TextureType::Rgba8888 | TextureType::Rgbx8888 | TextureType::Rgba32R => ColorFormat::Rgba8888,
            TextureType::Rgb565 => ColorFormat::Bgr565,
            TextureType::Rgba64 => ColorFormat::Rgba16161616,
            _ => return Err(Error::NotDrawable { label: self.label, texture_type }),
        };
        let (part, region) = self.part(0, level, None)?;
        let surface = Surface {
            address: region.address(),
            // The padded width, which determines the pitch.
            width_px: part.image.width_px(),
            height_px: part.rectangle.height_px,
            format,
            arrangement: match part.image.tiling() {
                Tiling::Raster => MemoryFormat::Raster,
                Tiling::TFormat => MemoryFormat::TFormat,
                Tiling::LtFormat => MemoryFormat::LtFormat,
            },
        };
        let memory = exclusive.then(|| self.memory.clone());
        Ok(Target::of_level(self.label, surface, part.rectangle.width_px, memory))
    }
}

//! Textures: pictures that fragment shaders look colours up in.
//!
//! A [`Texture`] has two dimensions, a [`CubeTexture`] six faces; their lookups are different, and so are the types of what shaders take:
//! ```text
//! let wood = Texture::new(&device, &TextureDescriptor::new("wood", TextureType::Rgb565, 256, 256).mipmapped())?;
//! wood.write_all(&device, &pixels)?;                                     // level 0; or compressed blocks
//! wood.generate_mipmaps(&mut frame)?;                                    // the GPU draws the smaller levels
//! let uniforms = textured::FragmentUniforms { image: wood.bind(&Sampler::TRILINEAR)? };
//! ```
//! A cube map where a shader declares `2d` does not compile:
//! ```compile_fail,E0308
//! use renderer::texture::{CubeTexture, Sampler, Texture};
//! fn uniforms(sky: &CubeTexture) -> qpu_shaders::textured::FragmentUniforms {
//!     qpu_shaders::textured::FragmentUniforms { image: sky.bind(&Sampler::LINEAR).unwrap() }
//! }
//! ```
//! and neither does a two-dimensional texture where it declares `cube`:
//! ```compile_fail,E0308
//! use renderer::texture::{CubeTexture, Sampler, Texture};
//! fn uniforms(wood: &Texture) -> qpu_shaders::cube_mapped::FragmentUniforms {
//!     qpu_shaders::cube_mapped::FragmentUniforms { surroundings: wood.bind(&Sampler::LINEAR).unwrap() }
//! }
//! ```
//! while the right one does:
//! ```
//! use renderer::texture::{CubeTexture, Sampler, Texture};
//! fn uniforms(sky: &CubeTexture) -> qpu_shaders::cube_mapped::FragmentUniforms {
//!     qpu_shaders::cube_mapped::FragmentUniforms { surroundings: sky.bind(&Sampler::LINEAR).unwrap() }
//! }
//! ```
//!
//! Pixels are rows that follow each other directly, the first one that of t = 0; a row begins with a whole byte. Textures own their memory and can be dropped
//! at any time: whatever was bound keeps it until the GPU is done.

mod image;
mod mipmaps;

pub use v3d::hw::texture::{MagFilter, MinFilter, TextureType, Wrap};
pub use v3d::texture::{Sampler, TextureError, TextureLayout};
pub use v3d::tiler::Rectangle as TexelRectangle;

use shader_interface::{Texture2d, Texture2d64, TextureBinding, TextureChild, TextureCube};
use v3d::Platform;
use v3d::hw::tiling::Tiling;

use crate::device::Device;
use crate::error::Error;
use crate::target::{Format, Target};
use image::Image;

/// What a two-dimensional texture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureDescriptor {
    /// What errors call it.
    pub label: &'static str,
    /// Its texels.
    pub texture_type: TextureType,
    /// Texels across, 1 to 2048.
    pub width_px: u32,
    /// Texels up, 1 to 2048.
    pub height_px: u32,
    /// Levels, the one of full size among them.
    pub levels: u32,
}

impl TextureDescriptor {
    /// One level.
    pub const fn new(label: &'static str, texture_type: TextureType, width_px: u32, height_px: u32) -> Self {
        Self { label, texture_type, width_px, height_px, levels: 1 }
    }

    /// All levels until one texel is left.
    #[must_use]
    pub const fn mipmapped(self) -> Self {
        Self { levels: TextureLayout::max_levels(self.width_px, self.height_px), ..self }
    }
}

/// A two-dimensional texture.
#[derive(Clone, Debug)]
pub struct Texture(Image);

impl Texture {
    /// Takes memory for a texture, all zeros.
    ///
    /// # Errors
    /// When the hardware has no such texture, or the pool has not enough memory.
    pub fn new<P: Platform>(device: &Device<'_, P>, descriptor: &TextureDescriptor) -> Result<Self, Error> {
        let TextureDescriptor { label, texture_type, width_px, height_px, levels } = *descriptor;
        let layout = TextureLayout::two_dimensional(texture_type, width_px, height_px, levels);
        Ok(Self(Image::new(device, label, layout)?))
    }

    /// A texture with these pixels, or compressed blocks, as its level 0.
    ///
    /// # Errors
    /// As [`Texture::new`], and when there are more or fewer bytes than the level has.
    pub fn from_pixels<P: Platform>(
        device: &Device<'_, P>,
        descriptor: &TextureDescriptor,
        pixels: &[u8],
    ) -> Result<Self, Error> {
        let texture = Self::new(device, descriptor)?;
        texture.write_all(device, pixels)?;
        Ok(texture)
    }

    /// What was drawn to a target, without a copy: both are the same memory. A pass cannot draw to it and read it at once.
    ///
    /// # Errors
    /// When the target's arrangement is not the one that a TMU expects: T-format, but LT-format for small pictures, or 32-bit pixels in rows of a power
    /// of two; or its memory is not the device's.
    pub fn of_target(target: &Target) -> Result<Self, Error> {
        let label = target.label();
        let memory = target.memory().ok_or(Error::ForeignDevice { label })?;
        let texture_type = match (target.format(), target.tiling()) {
            (Format::Rgba8888, Tiling::Raster) => TextureType::Rgba32R,
            (Format::Rgba8888, _) => TextureType::Rgba8888,
            (Format::Rgb565, _) => TextureType::Rgb565,
            (Format::Rgba16Float, _) => TextureType::Rgba64,
        };
        let wrap = |error| Error::Texture { label, error };
        let layout =
            TextureLayout::two_dimensional(texture_type, target.width_px(), target.height_px(), 1).map_err(wrap)?;
        let expected = layout.level(0, 0).map_err(wrap)?.image.tiling();
        if expected != target.tiling() {
            return Err(Error::TargetTiling { label, tiling: target.tiling(), expected });
        }
        Ok(Self(Image::of(label, layout, memory.clone())))
    }

    /// A level as a target of passes. While it is drawn to, the texture cannot be read.
    ///
    /// # Errors
    /// When there is no such level, or passes cannot draw texels of its type.
    pub fn target(&self, level: u32) -> Result<Target, Error> {
        self.0.target(level, true)
    }

    /// Writes the texels, or compressed blocks, of all of level 0. The GPU must not be using the texture.
    ///
    /// # Errors
    /// When there are more or fewer bytes than the level has, or the texture is another device's.
    pub fn write_all<P: Platform>(&self, device: &Device<'_, P>, texels: &[u8]) -> Result<(), Error> {
        self.0.write(device, 0, 0, None, texels)
    }

    /// Writes a rectangle of a level, or all of it. The GPU must not be using the texture.
    ///
    /// # Errors
    /// When there is no such level, the rectangle leaves it or cuts through compressed blocks, the bytes are more or fewer, or the texture is another
    /// device's.
    pub fn write<P: Platform>(
        &self,
        device: &Device<'_, P>,
        level: u32,
        rectangle: Option<TexelRectangle>,
        texels: &[u8],
    ) -> Result<(), Error> {
        self.0.write(device, 0, level, rectangle, texels)
    }

    /// Reads a rectangle of a level, or all of it: what the GPU has drawn before its job was found to be done, or what was written.
    ///
    /// # Errors
    /// As [`Texture::write`].
    pub fn read<P: Platform>(
        &self,
        device: &Device<'_, P>,
        level: u32,
        rectangle: Option<TexelRectangle>,
        texels: &mut [u8],
    ) -> Result<(), Error> {
        self.0.read(device, 0, level, rectangle, texels)
    }

    /// The texture for lookups of two dimensions.
    ///
    /// # Errors
    /// When the hardware cannot look such a texture up so; and when its texels have 64 bits ([`Texture::bind_64`]).
    pub fn bind(&self, sampler: &Sampler) -> Result<Texture2d, Error> {
        self.0.expect_results(1)?;
        Ok(TextureBinding::new(self.0.parameters(sampler)?.words(), self.0.owner()))
    }

    /// The texture for lookups of two dimensions that have two results: texels of 64 bits, which shaders declare as `2d64`.
    ///
    /// # Errors
    /// When its texels have not 64 bits: the second result would never come.
    pub fn bind_64(&self, sampler: &Sampler) -> Result<Texture2d64, Error> {
        self.0.expect_results(2)?;
        Ok(TextureBinding::new(self.0.parameters(sampler)?.words(), self.0.owner()))
    }

    /// The texture for lookups whose bias alone is the level of detail.
    ///
    /// # Errors
    /// As [`Texture::bind`].
    pub fn bind_for_levels(&self, sampler: &Sampler) -> Result<Texture2d, Error> {
        self.0.expect_results(1)?;
        let alone = self.0.parameters(sampler)?.bias_alone().map_err(|error| self.0.error(error.into()))?;
        Ok(TextureBinding::new(alone.words(), self.0.owner()))
    }

    /// The same for texels of 64 bits.
    ///
    /// # Errors
    /// As [`Texture::bind_64`].
    pub fn bind_64_for_levels(&self, sampler: &Sampler) -> Result<Texture2d64, Error> {
        self.0.expect_results(2)?;
        let alone = self.0.parameters(sampler)?.bias_alone().map_err(|error| self.0.error(error.into()))?;
        Ok(TextureBinding::new(alone.words(), self.0.owner()))
    }

    /// Part of the texture, as if it were all of it.
    ///
    /// # Errors
    /// As [`Texture::bind`], and when the rectangle has no texels, leaves the texture, or has a side of 2048.
    pub fn bind_child(&self, sampler: &Sampler, child: TexelRectangle) -> Result<TextureChild, Error> {
        let image = &self.0;
        image.expect_results(1)?;
        let parameters = image.layout().child_parameters(image.address(), sampler, child);
        Ok(TextureBinding::new(parameters.map_err(|error| image.error(error))?.words(), image.owner()))
    }

    /// The word that shaders give to lookups for the colour of the border: red, green, blue, alpha.
    ///
    /// # Errors
    /// When nothing is known of the border colour of the texture's type.
    pub fn border(&self, color: [u8; 4]) -> Result<u32, Error> {
        self.0.layout().border_word(color).map_err(|error| self.0.error(error))
    }

    /// Whether both are the same texture.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.is_same(&other.0)
    }

    /// The name that it was made with.
    pub const fn label(&self) -> &'static str {
        self.0.label()
    }

    /// How it stands in memory.
    pub const fn layout(&self) -> &TextureLayout {
        self.0.layout()
    }
}

/// Faces of a cube map, in the order in which they stand in memory [AG p.44].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Towards x.
    PositiveX,
    /// Against x.
    NegativeX,
    /// Towards y.
    PositiveY,
    /// Against y.
    NegativeY,
    /// Towards z.
    PositiveZ,
    /// Against z.
    NegativeZ,
}

impl Face {
    /// All faces.
    pub const ALL: [Self; 6] =
        [Self::PositiveX, Self::NegativeX, Self::PositiveY, Self::NegativeY, Self::PositiveZ, Self::NegativeZ];
}

/// What a cube map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubeDescriptor {
    /// What errors call it.
    pub label: &'static str,
    /// Its texels.
    pub texture_type: TextureType,
    /// Texels across and up of each face, 1 to 2048.
    pub size_px: u32,
    /// Levels, the one of full size among them.
    pub levels: u32,
}

/// A cube map.
#[derive(Clone, Debug)]
pub struct CubeTexture(Image);

impl CubeTexture {
    /// Takes memory for a cube map, all zeros.
    ///
    /// # Errors
    /// When the hardware has no such texture, or the pool has not enough memory.
    pub fn new<P: Platform>(device: &Device<'_, P>, descriptor: &CubeDescriptor) -> Result<Self, Error> {
        let CubeDescriptor { label, texture_type, size_px, levels } = *descriptor;
        Ok(Self(Image::new(device, label, TextureLayout::cube(texture_type, size_px, levels))?))
    }

    /// Writes a rectangle of a level of a face, or all of it. The GPU must not be using the texture.
    ///
    /// # Errors
    /// As [`Texture::write`].
    pub fn write<P: Platform>(
        &self,
        device: &Device<'_, P>,
        face: Face,
        level: u32,
        rectangle: Option<TexelRectangle>,
        texels: &[u8],
    ) -> Result<(), Error> {
        self.0.write(device, face as u32, level, rectangle, texels)
    }

    /// Reads a rectangle of a level of a face, or all of it.
    ///
    /// # Errors
    /// As [`Texture::write`].
    pub fn read<P: Platform>(
        &self,
        device: &Device<'_, P>,
        face: Face,
        level: u32,
        rectangle: Option<TexelRectangle>,
        texels: &mut [u8],
    ) -> Result<(), Error> {
        self.0.read(device, face as u32, level, rectangle, texels)
    }

    /// The texture for lookups by direction.
    ///
    /// # Errors
    /// When the hardware cannot look such a texture up so.
    pub fn bind(&self, sampler: &Sampler) -> Result<TextureCube, Error> {
        self.0.expect_results(1)?;
        Ok(TextureBinding::new(self.0.parameters(sampler)?.words(), self.0.owner()))
    }

    /// The name that it was made with.
    pub const fn label(&self) -> &'static str {
        self.0.label()
    }

    /// How it stands in memory.
    pub const fn layout(&self) -> &TextureLayout {
        self.0.layout()
    }
}

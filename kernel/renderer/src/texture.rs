//! Textures: images that fragment shaders sample.
//!
//! A [`Texture`] has two dimensions, a [`CubeTexture`] has six faces. Shaders declare which of them they sample, and each binding has its own type:
//! ```text
//! let wood = Texture::new(&device, &TextureDescriptor::new("wood", TextureType::Rgb565, 256, 256).mipmapped())?;
//! wood.write_all(&device, &pixels)?;                                     // level 0: pixels or compressed blocks
//! wood.generate_mipmaps(&mut frame)?;                                    // the GPU draws the smaller mip levels
//! let uniforms = textured::FragmentUniforms { image: wood.bind(&Sampler::TRILINEAR)? };
//! ```
//! Binding a cube map where a shader declares `2d` does not compile:
//! ```compile_fail,E0308
//! use renderer::texture::{CubeTexture, Sampler, Texture};
//! fn uniforms(sky: &CubeTexture) -> qpu_shaders::textured::FragmentUniforms {
//!     qpu_shaders::textured::FragmentUniforms { image: sky.bind(&Sampler::LINEAR).unwrap() }
//! }
//! ```
//! nor does a two-dimensional texture where it declares `cube`:
//! ```compile_fail,E0308
//! use renderer::texture::{CubeTexture, Sampler, Texture};
//! fn uniforms(wood: &Texture) -> qpu_shaders::cube_mapped::FragmentUniforms {
//!     qpu_shaders::cube_mapped::FragmentUniforms { surroundings: wood.bind(&Sampler::LINEAR).unwrap() }
//! }
//! ```
//! The right type compiles:
//! ```
//! use renderer::texture::{CubeTexture, Sampler, Texture};
//! fn uniforms(sky: &CubeTexture) -> qpu_shaders::cube_mapped::FragmentUniforms {
//!     qpu_shaders::cube_mapped::FragmentUniforms { surroundings: sky.bind(&Sampler::LINEAR).unwrap() }
//! }
//! ```
//!
//! Pixels are passed in rows without padding, the first one at t = 0; each row begins at a whole byte. Textures own their memory and can be dropped at any
//! time: a binding holds a reference until the GPU is done.

mod image;
mod mipmaps;

pub use v3d::hw::texture::{MagFilter, MinFilter, TextureType, Wrap};
pub use v3d::texture::{Sampler, TextureError, TextureLayout};
pub use v3d::tiler::Rectangle as TexelRectangle;

use glam::Vec3;
use shader_interface::{Texture2d, Texture2d64, TextureBinding, TextureChild, TextureCube};
use v3d::Platform;
use v3d::hw::tiling::Tiling;

use crate::device::Device;
use crate::error::Error;
use crate::target::{DepthTarget, Format, Target};
use image::Image;

/// Size and format of a two-dimensional texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureDescriptor {
    /// The name in error messages.
    pub label: &'static str,
    /// The texel format.
    pub texture_type: TextureType,
    /// Width in texels, 1 to 2048.
    pub width_px: u32,
    /// Height in texels, 1 to 2048.
    pub height_px: u32,
    /// Number of mip levels, including the one of full size.
    pub levels: u32,
}

impl TextureDescriptor {
    /// A texture with one mip level.
    pub const fn new(label: &'static str, texture_type: TextureType, width_px: u32, height_px: u32) -> Self {
        Self { label, texture_type, width_px, height_px, levels: 1 }
    }

    /// The same with all mip levels, down to a single texel.
    #[must_use]
    pub const fn mipmapped(self) -> Self {
        Self { levels: TextureLayout::max_levels(self.width_px, self.height_px), ..self }
    }
}

/// A two-dimensional texture.
#[derive(Clone, Debug)]
pub struct Texture(Image);

impl Texture {
    /// Allocates memory for a texture, filled with zeros.
    ///
    /// # Errors
    /// When the hardware does not support the texture, or the pool has not enough memory.
    pub fn new<P: Platform>(device: &Device<'_, P>, descriptor: &TextureDescriptor) -> Result<Self, Error> {
        let TextureDescriptor { label, texture_type, width_px, height_px, levels } = *descriptor;
        let layout = TextureLayout::two_dimensional(texture_type, width_px, height_px, levels);
        Ok(Self(Image::new(device, label, layout)?))
    }

    /// Creates a texture and writes pixels, or compressed blocks, to its level 0.
    ///
    /// # Errors
    /// As [`Texture::new`], and when the length of `pixels` is not that of the level.
    pub fn from_pixels<P: Platform>(
        device: &Device<'_, P>,
        descriptor: &TextureDescriptor,
        pixels: &[u8],
    ) -> Result<Self, Error> {
        let texture = Self::new(device, descriptor)?;
        texture.write_all(device, pixels)?;
        Ok(texture)
    }

    /// A texture that shares a target's memory, without a copy. It cannot be sampled in a pass that renders to the target.
    ///
    /// # Errors
    /// When the target's tiling is not the one that a TMU expects: T-format, except LT-format for small pictures, or raster rows whose width in 32-bit pixels
    /// is a power of two of at least 4; or when its memory is not of the device's pool.
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
        let (pitch_px, expected_px) = (target.surface().width_px, layout.level(0, 0).map_err(wrap)?.image.width_px());
        if expected == Tiling::Raster && pitch_px != expected_px {
            return Err(Error::TargetPitch { label, pitch_px, expected_px });
        }
        Ok(Self(Image::of(label, layout, memory.clone())))
    }

    /// A texture that shares the memory of a depth target, without a copy: in WGSL a `texture_depth_2d`. Each texel has a stencil in its lowest byte and 24
    /// bits of depth above, which must not be filtered: shaders compare the nearest texels, and interpolate between the results. It cannot be sampled in a
    /// pass that stores to the target.
    ///
    /// # Errors
    /// When a side is so small that a TMU expects another memory layout.
    pub fn of_depth(target: &DepthTarget) -> Result<Self, Error> {
        let label = target.label();
        let (width_px, height_px) = target.size_px();
        let wrap = |error| Error::Texture { label, error };
        let layout = TextureLayout::two_dimensional(TextureType::Rgba8888, width_px, height_px, 1).map_err(wrap)?;
        let expected = layout.level(0, 0).map_err(wrap)?.image.tiling();
        if expected != Tiling::TFormat {
            return Err(Error::TargetTiling { label, tiling: Tiling::TFormat, expected });
        }
        Ok(Self(Image::of(label, layout, target.memory().clone())))
    }

    /// A mip level as a target of passes. While a pass renders to it, the texture cannot be sampled.
    ///
    /// # Errors
    /// When there is no such level, or passes cannot render to texels of its type.
    pub fn target(&self, level: u32) -> Result<Target, Error> {
        self.0.target(level, true)
    }

    /// Writes all texels, or compressed blocks, of level 0. The GPU must not be using the texture.
    ///
    /// # Errors
    /// When the length of `texels` is not that of the level, or the texture belongs to another device.
    pub fn write_all<P: Platform>(&self, device: &Device<'_, P>, texels: &[u8]) -> Result<(), Error> {
        self.0.write(device, 0, 0, None, texels)
    }

    /// Writes a rectangle of a level, or all of it for `None`. The GPU must not be using the texture.
    ///
    /// # Errors
    /// When there is no such level, the rectangle is not inside it or cuts through compressed blocks, the number of bytes does not match, or the texture
    /// belongs to another device.
    pub fn write<P: Platform>(
        &self,
        device: &Device<'_, P>,
        level: u32,
        rectangle: Option<TexelRectangle>,
        texels: &[u8],
    ) -> Result<(), Error> {
        self.0.write(device, 0, level, rectangle, texels)
    }

    /// Reads a rectangle of a level, or all of it for `None`. Results of the GPU are visible once its job is known to be done.
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

    /// Binds the texture for two-dimensional lookups.
    ///
    /// # Errors
    /// When the hardware does not support this texture with this sampler, or its texels have 64 bits ([`Texture::bind_64`]).
    pub fn bind(&self, sampler: &Sampler) -> Result<Texture2d, Error> {
        self.0.expect_results(1)?;
        Ok(TextureBinding::new(self.0.parameters(sampler)?.words(), self.0.owner()))
    }

    /// Binds the texture for lookups with two results: texels of 64 bits, which shaders declare as `2d64`.
    ///
    /// # Errors
    /// When its texels do not have 64 bits: the shader would wait for the second result forever.
    pub fn bind_64(&self, sampler: &Sampler) -> Result<Texture2d64, Error> {
        self.0.expect_results(2)?;
        Ok(TextureBinding::new(self.0.parameters(sampler)?.words(), self.0.owner()))
    }

    /// Binds the texture for lookups that select the mip level by their bias alone.
    ///
    /// # Errors
    /// As [`Texture::bind`].
    pub fn bind_for_levels(&self, sampler: &Sampler) -> Result<Texture2d, Error> {
        self.0.expect_results(1)?;
        let alone = self.0.parameters(sampler)?.bias_alone().map_err(|error| self.0.error(error.into()))?;
        Ok(TextureBinding::new(alone.words(), self.0.owner()))
    }

    /// Like [`Texture::bind_for_levels`], for texels of 64 bits.
    ///
    /// # Errors
    /// As [`Texture::bind_64`].
    pub fn bind_64_for_levels(&self, sampler: &Sampler) -> Result<Texture2d64, Error> {
        self.0.expect_results(2)?;
        let alone = self.0.parameters(sampler)?.bias_alone().map_err(|error| self.0.error(error.into()))?;
        Ok(TextureBinding::new(alone.words(), self.0.owner()))
    }

    /// Binds a rectangle of the texture as if it were a separate texture.
    ///
    /// # Errors
    /// As [`Texture::bind`], and when the rectangle is empty, not inside the texture, or has a side of 2048.
    pub fn bind_child(&self, sampler: &Sampler, child: TexelRectangle) -> Result<TextureChild, Error> {
        let image = &self.0;
        image.expect_results(1)?;
        let parameters = image.layout().child_parameters(image.address(), sampler, child);
        Ok(TextureBinding::new(parameters.map_err(|error| image.error(error))?.words(), image.owner()))
    }

    /// The uniform for the border colour of lookups: red, green, blue, alpha.
    ///
    /// # Errors
    /// When the border colour's format for the texture's type is not known.
    pub fn border(&self, color: [u8; 4]) -> Result<u32, Error> {
        self.0.layout().border_word(color).map_err(|error| self.0.error(error))
    }

    /// Whether both share memory and layout.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.is_same(&other.0)
    }

    /// The label that it was created with.
    pub const fn label(&self) -> &'static str {
        self.0.label()
    }

    /// Its memory layout.
    pub const fn layout(&self) -> &TextureLayout {
        self.0.layout()
    }
}

/// Faces of a cube map, in their order in memory [AG p.44].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// The face at +x.
    PositiveX,
    /// The face at -x.
    NegativeX,
    /// The face at +y.
    PositiveY,
    /// The face at -y.
    NegativeY,
    /// The face at +z.
    PositiveZ,
    /// The face at -z.
    NegativeZ,
}

impl Face {
    /// All faces.
    pub const ALL: [Self; 6] =
        [Self::PositiveX, Self::NegativeX, Self::PositiveY, Self::NegativeY, Self::PositiveZ, Self::NegativeZ];

    /// The direction from the middle of the cube to a place of the face: `s` goes from -1 in the first column to 1 in the last one, `t` from -1 in the first
    /// row to 1 in the last one. Its length is 1 in the middle of the face, and grows towards its edges [AG p.44; OpenGL ES 2.0 table 3.11].
    pub const fn direction(self, s: f32, t: f32) -> Vec3 {
        match self {
            Self::PositiveX => Vec3::new(1.0, -t, -s),
            Self::NegativeX => Vec3::new(-1.0, -t, s),
            Self::PositiveY => Vec3::new(s, 1.0, t),
            Self::NegativeY => Vec3::new(s, -1.0, -t),
            Self::PositiveZ => Vec3::new(s, -t, 1.0),
            Self::NegativeZ => Vec3::new(-s, -t, -1.0),
        }
    }
}

/// Size and format of a cube map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubeDescriptor {
    /// The name in error messages.
    pub label: &'static str,
    /// The texel format.
    pub texture_type: TextureType,
    /// Width and height of each face in texels, 1 to 2048.
    pub size_px: u32,
    /// Number of mip levels, including the one of full size.
    pub levels: u32,
}

/// A cube map.
#[derive(Clone, Debug)]
pub struct CubeTexture(Image);

impl CubeTexture {
    /// Allocates memory for a cube map, filled with zeros.
    ///
    /// # Errors
    /// When the hardware does not support the texture, or the pool has not enough memory.
    pub fn new<P: Platform>(device: &Device<'_, P>, descriptor: &CubeDescriptor) -> Result<Self, Error> {
        let CubeDescriptor { label, texture_type, size_px, levels } = *descriptor;
        Ok(Self(Image::new(device, label, TextureLayout::cube(texture_type, size_px, levels))?))
    }

    /// Writes a rectangle of a face's level, or all of it for `None`. The GPU must not be using the texture.
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

    /// Reads a rectangle of a face's level, or all of it for `None`.
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

    /// Binds the cube map for lookups by direction.
    ///
    /// # Errors
    /// When the hardware does not support this texture with this sampler.
    pub fn bind(&self, sampler: &Sampler) -> Result<TextureCube, Error> {
        self.0.expect_results(1)?;
        Ok(TextureBinding::new(self.0.parameters(sampler)?.words(), self.0.owner()))
    }

    /// The label that it was created with.
    pub const fn label(&self) -> &'static str {
        self.0.label()
    }

    /// Its memory layout.
    pub const fn layout(&self) -> &TextureLayout {
        self.0.layout()
    }
}

//! What can go wrong, with the name of the resource and the numbers in it.

use core::fmt;
use shader_interface::PrimitiveKind;
use v3d::hw::FieldError;
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;
use v3d::texture::TextureError;

use crate::rectangle::Rectangle;

/// Why something could not be made or drawn. Labels are those that the resources were made with.
///
/// After an error everything is as it was before the call: a frame goes on without the draw that failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The driver refused.
    Driver(v3d::Error),
    /// The device was closed.
    DeviceClosed,
    /// The device's driver is borrowed by somebody else.
    DeviceInUse,
    /// The resource belongs to another device.
    ForeignDevice {
        /// The resource.
        label: &'static str,
    },
    /// An index has no vertex.
    Index {
        /// The mesh.
        label: &'static str,
        /// The index's place among the indices.
        at: usize,
        /// Its value.
        index: u32,
        /// How many vertices there are.
        vertices: u32,
    },
    /// Bytes that are no vertices or no indices.
    MeshBytes {
        /// The mesh.
        label: &'static str,
        /// What they should be.
        what: &'static str,
        /// How many bytes there are.
        bytes: usize,
        /// Bytes of one vertex or index.
        unit: usize,
    },
    /// A mesh of more bytes than there can be.
    MeshSize {
        /// The mesh.
        label: &'static str,
        /// How many vertices there are.
        vertices: usize,
    },
    /// The bytes of one vertex are too many for the hardware.
    VertexSize {
        /// The pipeline or mesh.
        label: &'static str,
        /// Bytes of a vertex.
        bytes: usize,
        /// Most bytes that there may be.
        most: usize,
    },
    /// No vertex shader may have so many attributes.
    Attributes {
        /// The pipeline.
        label: &'static str,
        /// Attributes that the shader reads.
        attributes: usize,
        /// Most attributes that there may be.
        most: usize,
    },
    /// The hardware does not interpolate so many varyings.
    Varyings {
        /// The pipeline.
        label: &'static str,
        /// Varyings that the fragment shader reads.
        varyings: usize,
        /// Most varyings that there may be.
        most: usize,
    },
    /// A float among the uniforms is not a number.
    NotANumber {
        /// The pipeline.
        label: &'static str,
        /// Which program's uniforms.
        stage: Stage,
        /// The word in the stream of uniforms.
        word: usize,
    },
    /// A number of a pipeline or a pass is none that can be drawn with.
    Number {
        /// The pipeline, or the pass's target.
        label: &'static str,
        /// What it is for.
        what: &'static str,
        /// The number.
        value: f32,
    },
    /// A pass is to draw a part of a target that has no pixels of it.
    Area {
        /// The target.
        label: &'static str,
        /// The part.
        area: Rectangle,
        /// Width of the target in pixels.
        width_px: u32,
        /// Height of the target in pixels.
        height_px: u32,
    },
    /// Kept depths are those of pictures of another size.
    DepthSize {
        /// The depths.
        label: &'static str,
        /// Their width and height in pixels.
        depth_px: (u32, u32),
        /// Width and height of the target in pixels.
        target_px: (u32, u32),
    },
    /// A target's sides are no sides of a picture that can be drawn.
    TargetSize {
        /// The target.
        label: &'static str,
        /// Width in pixels.
        width_px: u32,
        /// Height in pixels.
        height_px: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such texture, or it cannot be used so.
    Texture {
        /// The texture.
        label: &'static str,
        /// Why.
        error: TextureError,
    },
    /// Passes cannot draw texels of this type.
    NotDrawable {
        /// The texture.
        label: &'static str,
        /// Its type.
        texture_type: TextureType,
    },
    /// Lookups of a texture have another number of results than the shader takes.
    Results {
        /// The texture.
        label: &'static str,
        /// Its type.
        texture_type: TextureType,
        /// Results of a lookup.
        results: u32,
    },
    /// A target stands in memory as no texture of its size does.
    TargetTiling {
        /// The target.
        label: &'static str,
        /// Its arrangement.
        tiling: Tiling,
        /// That of a texture of this size.
        expected: Tiling,
    },
    /// Two things that a pipeline was asked for are not possible together.
    Impossible {
        /// The pipeline or pass.
        label: &'static str,
        /// What does not go together, as a sentence.
        why: &'static str,
    },
    /// A pipeline's colours have not as many bits as the pass's target.
    ColorBits {
        /// The pipeline.
        label: &'static str,
        /// The target.
        target: &'static str,
        /// Bits of the target's pixels.
        bits: u32,
    },
    /// A pipeline draws with another number of samples than the pass has.
    Samples {
        /// The pipeline.
        label: &'static str,
        /// Samples of the pipeline.
        pipeline: u8,
        /// Samples of the pass.
        pass: u8,
    },
    /// The heap has no room for what is to be remembered until it is drawn.
    HeapFull {
        /// Who wants to remember it.
        label: &'static str,
        /// How many bytes more it asked for.
        bytes: usize,
    },
    /// A place, a length or a colour is not a number, or infinite.
    NotFinite {
        /// What was to be drawn on.
        label: &'static str,
        /// What it is.
        value: f32,
    },
    /// What is to be drawn was made for a target of another size.
    OtherSize {
        /// What was to be drawn.
        label: &'static str,
        /// Width and height in pixels that it was made for.
        size_px: [u32; 2],
        /// Width and height in pixels of the target.
        target_px: [u32; 2],
    },
    /// A pipeline's fragment shader draws other primitives than a mesh has: points and lines have varyings of their own, which it reads or does not.
    Primitives {
        /// The pipeline.
        label: &'static str,
        /// What its fragment shader draws.
        pipeline: PrimitiveKind,
        /// What the mesh has.
        mesh: PrimitiveKind,
    },
    /// A draw would read the target that it draws to.
    TargetInUse {
        /// The target.
        label: &'static str,
    },
}

/// A program of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Coordinate shader.
    Coordinate,
    /// Vertex shader.
    Vertex,
    /// Fragment shader.
    Fragment,
    /// User program.
    User,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Coordinate => "coordinate shader",
            Self::Vertex => "vertex shader",
            Self::Fragment => "fragment shader",
            Self::User => "user program",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(error) => error.fmt(f),
            Self::DeviceClosed => f.write_str("the device is closed"),
            Self::DeviceInUse => f.write_str("the device's driver is borrowed already"),
            Self::ForeignDevice { label } => write!(f, "{label}: it belongs to another device"),
            Self::Index { label, at, index, vertices } => {
                write!(f, "{label}: index {at} is {index}, and there are {vertices} vertices")
            }
            Self::MeshBytes { label, what, bytes, unit } => {
                write!(f, "{label}: {bytes} bytes are no {what} of {unit} bytes each")
            }
            Self::MeshSize { label, vertices } => write!(f, "{label}: there is no mesh of {vertices} vertices"),
            Self::VertexSize { label, bytes, most } => {
                write!(f, "{label}: a vertex has {bytes} bytes and may have {most}")
            }
            Self::Attributes { label, attributes, most } => {
                write!(f, "{label}: the vertex shader reads {attributes} attributes and may read 1 to {most}")
            }
            Self::Varyings { label, varyings, most } => {
                write!(f, "{label}: the fragment shader reads {varyings} varyings and may read {most}")
            }
            Self::NotANumber { label, stage, word } => {
                write!(f, "{label}: word {word} of the {stage}'s uniforms is not a number")
            }
            Self::Number { label, what, value } => write!(f, "{label}: {what} of {value} cannot be drawn with"),
            Self::Area {
                label,
                area: Rectangle { x_px, y_px, width_px: wide, height_px: high },
                width_px,
                height_px,
            } => {
                write!(
                    f,
                    "{label}: {wide} x {high} pixels at {x_px}, {y_px} are no part of {width_px} x {height_px} pixels"
                )
            }
            Self::DepthSize { label, depth_px: (width, height), target_px } => {
                write!(
                    f,
                    "{label}: depths of {width} x {height} pixels, and the target has {} x {}",
                    target_px.0, target_px.1
                )
            }
            Self::TargetSize { label, width_px, height_px, why } => {
                write!(f, "{label}: {width_px} x {height_px} pixels: {why}")
            }
            Self::Texture { label, error } => write!(f, "{label}: {error}"),
            Self::NotDrawable { label, texture_type } => {
                write!(f, "{label}: passes draw no texels of type {}", texture_type.name())
            }
            Self::Results { label, texture_type, results: 2 } => {
                let name = texture_type.name();
                write!(
                    f,
                    "{label}: a lookup of type {name} has two results, which only shaders with `2d64` take: bind_64"
                )
            }
            Self::Results { label, texture_type, .. } => {
                let name = texture_type.name();
                write!(f, "{label}: a lookup of type {name} has one result, and shaders with `2d64` wait for two: bind")
            }
            Self::TargetTiling { label, tiling, expected } => {
                write!(f, "{label}: it stands in memory as {tiling:?}, and a texture of its size as {expected:?}")
            }
            Self::Impossible { label, why } => write!(f, "{label}: {why}"),
            Self::ColorBits { label, target, bits: bits @ 64 } => {
                write!(
                    f,
                    "{label}: its fragment shader leaves 8-bit channels, and {target} has {bits} bits a pixel: half floats"
                )
            }
            Self::ColorBits { label, target, bits } => {
                write!(f, "{label}: its fragment shader leaves half floats, and {target} has {bits} bits a pixel")
            }
            Self::Samples { label, pipeline, pass } => {
                write!(f, "{label}: it draws {pipeline} samples a pixel, and the pass has {pass}")
            }
            Self::HeapFull { label, bytes } => write!(f, "{label}: the heap has no room for {bytes} bytes more"),
            Self::NotFinite { label, value } => write!(f, "{label}: {value} is no place, length or colour"),
            Self::OtherSize { label, size_px: [width, height], target_px: [target_width, target_height] } => write!(
                f,
                "{label}: it is made for {width} x {height} pixels, and the target has {target_width} x {target_height}"
            ),
            Self::Primitives { label, pipeline, mesh } => {
                write!(
                    f,
                    "{label}: its fragment shader draws {}, and what is drawn is {}",
                    pipeline.name(),
                    mesh.name()
                )
            }
            Self::TargetInUse { label } => write!(f, "{label}: it is drawn to and read by the same pass"),
        }
    }
}

impl core::error::Error for Error {}

impl From<v3d::Error> for Error {
    fn from(error: v3d::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::Driver(error.into())
    }
}

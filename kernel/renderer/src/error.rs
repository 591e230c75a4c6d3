//! Errors, with the label of the resource and the values that caused them.

use core::fmt;
use shader_interface::PrimitiveKind;
use v3d::hw::FieldError;
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;
use v3d::texture::TextureError;

use crate::rectangle::Rectangle;

/// The reason that a resource could not be created or something could not be drawn. A label is the one that the resource was created with.
///
/// After an error the state is as it was before the call: a frame can continue without the draw that failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An error of the driver.
    Driver(v3d::Error),
    /// The device was closed.
    DeviceClosed,
    /// The device's driver is already borrowed.
    DeviceInUse,
    /// The resource belongs to another device.
    ForeignDevice {
        /// The resource.
        label: &'static str,
    },
    /// An index is not less than the number of vertices.
    Index {
        /// The mesh.
        label: &'static str,
        /// Position of the index in the index data.
        at: usize,
        /// Its value.
        index: u32,
        /// Number of vertices.
        vertices: u32,
    },
    /// The length of vertex or index data is 0, or not a multiple of the size of an element.
    MeshBytes {
        /// The mesh.
        label: &'static str,
        /// What the elements are.
        what: &'static str,
        /// Length of the data in bytes.
        bytes: usize,
        /// Size of one vertex or index in bytes.
        unit: usize,
    },
    /// A mesh is too large for a 32-bit size.
    MeshSize {
        /// The mesh.
        label: &'static str,
        /// Number of vertices.
        vertices: usize,
    },
    /// A vertex has more bytes than the hardware's stride can express.
    VertexSize {
        /// The pipeline or mesh.
        label: &'static str,
        /// Bytes of a vertex.
        bytes: usize,
        /// Greatest number of bytes.
        most: usize,
    },
    /// A vertex shader has no attributes or more than the hardware supports.
    Attributes {
        /// The pipeline.
        label: &'static str,
        /// Attributes that the shader reads.
        attributes: usize,
        /// Number of vertex arrays that these need: adjacent attributes share one.
        arrays: usize,
        /// Greatest number of arrays.
        most: usize,
    },
    /// A fragment shader reads more varyings than the hardware interpolates.
    Varyings {
        /// The pipeline.
        label: &'static str,
        /// Varyings that the fragment shader reads.
        varyings: usize,
        /// Greatest number of varyings.
        most: usize,
    },
    /// A float among the uniforms is NaN.
    NotANumber {
        /// The pipeline.
        label: &'static str,
        /// The program whose uniforms they are.
        stage: Stage,
        /// Index of the word in the stream of uniforms.
        word: usize,
    },
    /// A storage buffer among the uniforms has fewer bytes than the program requires.
    TooShort {
        /// The pipeline.
        label: &'static str,
        /// The program whose uniforms they are.
        stage: Stage,
        /// Bytes that the first such buffer has.
        given: u32,
        /// Bytes that it must have at least.
        needed: u32,
    },
    /// A number of a pipeline or a pass is out of range.
    Number {
        /// The pipeline, or the pass's target.
        label: &'static str,
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f32,
    },
    /// The area of a pass has no pixels of its target.
    Area {
        /// The target.
        label: &'static str,
        /// The area.
        area: Rectangle,
        /// Width of the target in pixels.
        width_px: u32,
        /// Height of the target in pixels.
        height_px: u32,
    },
    /// A depth target's size differs from that of the colour target.
    DepthSize {
        /// The depth target.
        label: &'static str,
        /// Their width and height in pixels.
        depth_px: (u32, u32),
        /// Width and height of the target in pixels.
        target_px: (u32, u32),
    },
    /// A target's size or pitch is not supported.
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
    /// A texture that the hardware does not support, or a use that its type does not allow.
    Texture {
        /// The texture.
        label: &'static str,
        /// The reason.
        error: TextureError,
    },
    /// Passes cannot render to texels of this type.
    NotDrawable {
        /// The texture.
        label: &'static str,
        /// Its type.
        texture_type: TextureType,
    },
    /// A texture lookup returns a different number of results than the shader reads.
    Results {
        /// The texture.
        label: &'static str,
        /// Its type.
        texture_type: TextureType,
        /// Results of a lookup.
        results: u32,
    },
    /// The tiling of a target differs from the one that a TMU expects for its size.
    TargetTiling {
        /// The target.
        label: &'static str,
        /// Its tiling.
        tiling: Tiling,
        /// The tiling of a texture of this size.
        expected: Tiling,
    },
    /// The pitch of a raster target differs from the one that a TMU expects for its width.
    TargetPitch {
        /// The target.
        label: &'static str,
        /// Pixels from one row to the next in the target.
        pitch_px: u32,
        /// The same in a texture of this width.
        expected_px: u32,
    },
    /// Two requested features cannot be combined.
    Impossible {
        /// The pipeline or pass.
        label: &'static str,
        /// The reason, as a sentence.
        why: &'static str,
    },
    /// A shader that was changed while the program runs cannot replace the one that was built.
    #[cfg(feature = "wgsl")]
    Replaced {
        /// The pipeline.
        label: &'static str,
        /// The reason, as a sentence.
        why: alloc::string::String,
    },
    /// A pipeline's colour format has a different number of bits than the pass's target.
    ColorBits {
        /// The pipeline.
        label: &'static str,
        /// The target.
        target: &'static str,
        /// Bits of the target's pixels.
        bits: u32,
    },
    /// A pipeline's number of samples differs from the pass's.
    Samples {
        /// The pipeline.
        label: &'static str,
        /// Samples of the pipeline.
        pipeline: u8,
        /// Samples of the pass.
        pass: u8,
    },
    /// The heap has no memory for a retained list.
    HeapFull {
        /// The draw list or canvas.
        label: &'static str,
        /// Number of bytes that could not be allocated.
        bytes: usize,
    },
    /// A coordinate, a length or a colour is NaN or infinite.
    NotFinite {
        /// The canvas.
        label: &'static str,
        /// The value.
        value: f32,
    },
    /// A draw list or canvas was created for a target of another size.
    OtherSize {
        /// The draw list or canvas.
        label: &'static str,
        /// Width and height in pixels that it was made for.
        size_px: [u32; 2],
        /// Width and height in pixels of the target.
        target_px: [u32; 2],
    },
    /// A pipeline's fragment shader is for other primitives than the mesh has: shaders for points and lines read implicit varyings, which other primitives do
    /// not have.
    Primitives {
        /// The pipeline.
        label: &'static str,
        /// Primitives that its fragment shader is for.
        pipeline: PrimitiveKind,
        /// Primitives of the mesh.
        mesh: PrimitiveKind,
    },
    /// A draw would read the target that its pass renders to.
    TargetInUse {
        /// The target.
        label: &'static str,
    },
}

/// A stage of a pipeline, or a user program.
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
                write!(f, "{label}: index {at} is {index}, but there are only {vertices} vertices")
            }
            Self::MeshBytes { label, what, bytes, unit } => {
                write!(f, "{label}: {bytes} bytes are not a whole number of {what} of {unit} bytes, or there are none")
            }
            Self::MeshSize { label, vertices } => write!(f, "{label}: a mesh of {vertices} vertices is too large"),
            Self::VertexSize { label, bytes, most } => {
                write!(f, "{label}: a vertex has {bytes} bytes, more than the {most} that are possible")
            }
            Self::Attributes { label, attributes, arrays, most } => {
                write!(f, "{label}: the vertex shader reads {attributes} attributes in {arrays} arrays of 1 to {most}")
            }
            Self::Varyings { label, varyings, most } => {
                write!(
                    f,
                    "{label}: the fragment shader reads {varyings} varyings, more than the {most} that are possible"
                )
            }
            Self::TooShort { label, stage, given, needed } => {
                write!(f, "{label}: a buffer of the {stage} has {given} bytes, at least {needed} are needed")
            }
            Self::NotANumber { label, stage, word } => {
                write!(f, "{label}: word {word} of the {stage}'s uniforms is NaN")
            }
            Self::Number { label, what, value } => write!(f, "{label}: {what} of {value} is not valid"),
            Self::Area {
                label,
                area: Rectangle { x_px, y_px, width_px: wide, height_px: high },
                width_px,
                height_px,
            } => {
                write!(
                    f,
                    "{label}: {wide} x {high} pixels at {x_px}, {y_px} are outside of {width_px} x {height_px} pixels"
                )
            }
            Self::DepthSize { label, depth_px: (width, height), target_px } => {
                write!(
                    f,
                    "{label}: the depth target has {width} x {height} pixels, and the colour target has {} x {}",
                    target_px.0, target_px.1
                )
            }
            Self::TargetSize { label, width_px, height_px, why } => {
                write!(f, "{label}: {width_px} x {height_px} pixels: {why}")
            }
            Self::Texture { label, error } => write!(f, "{label}: {error}"),
            Self::NotDrawable { label, texture_type } => {
                write!(f, "{label}: passes cannot render to texels of type {}", texture_type.name())
            }
            Self::Results { label, texture_type, results: 2 } => {
                let name = texture_type.name();
                write!(
                    f,
                    "{label}: a lookup of type {name} has two results, which only shaders that declare `2d64` read: use bind_64"
                )
            }
            Self::Results { label, texture_type, .. } => {
                let name = texture_type.name();
                write!(
                    f,
                    "{label}: a lookup of type {name} has one result, and shaders that declare `2d64` wait for two: use bind"
                )
            }
            Self::TargetTiling { label, tiling, expected } => {
                write!(f, "{label}: its tiling is {tiling:?}, but a texture of its size needs {expected:?}")
            }
            Self::TargetPitch { label, pitch_px, expected_px } => {
                write!(
                    f,
                    "{label}: its rows are {pitch_px} pixels apart, but those of a texture of its width {expected_px}"
                )
            }
            Self::Impossible { label, why } => write!(f, "{label}: {why}"),
            #[cfg(feature = "wgsl")]
            Self::Replaced { label, why } => write!(f, "{label}: {why}"),
            Self::ColorBits { label, target, bits: bits @ 64 } => {
                write!(
                    f,
                    "{label}: its fragment shader writes 8-bit channels, and {target} has {bits} bits per pixel (half floats)"
                )
            }
            Self::ColorBits { label, target, bits } => {
                write!(f, "{label}: its fragment shader writes half floats, and {target} has {bits} bits per pixel")
            }
            Self::Samples { label, pipeline, pass } => {
                write!(f, "{label}: it draws {pipeline} samples per pixel, and the pass has {pass}")
            }
            Self::HeapFull { label, bytes } => write!(f, "{label}: the heap has no room for {bytes} more bytes"),
            Self::NotFinite { label, value } => {
                write!(f, "{label}: {value} is not a valid coordinate, length or colour")
            }
            Self::OtherSize { label, size_px: [width, height], target_px: [target_width, target_height] } => write!(
                f,
                "{label}: it is made for {width} x {height} pixels, and the target has {target_width} x {target_height}"
            ),
            Self::Primitives { label, pipeline, mesh } => {
                write!(f, "{label}: its fragment shader is for {}, and the mesh has {}", pipeline.name(), mesh.name())
            }
            Self::TargetInUse { label } => write!(f, "{label}: it is rendered to and read by the same pass"),
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

//! The inputs of a program: uniform fields, textures, attributes, varyings, and the stream of uniforms.

use alloc::string::String;
use alloc::vec::Vec;

use v3d_hw::control_list::Threading;

use crate::ssa::StreamWord;

/// Stage of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Coordinate shader: computes the clip coordinates that the binner reads.
    Coordinate,
    /// Vertex shader: computes the shaded vertex that is used for rendering.
    Vertex,
    /// Fragment shader.
    Fragment,
    /// Compute shader: a user program.
    Compute,
}

impl Stage {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coordinate => "coordinate",
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
            Self::Compute => "compute",
        }
    }
}

/// Scalar type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// `f32`.
    Float,
    /// `i32`.
    Int,
    /// `u32`.
    Uint,
    /// `f16`, two per word; in attributes only.
    Half,
}

/// A field of the uniforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name: of a member of a uniform structure, or of a uniform variable that is not a structure.
    pub name: String,
    /// Scalar type.
    pub number: Number,
    /// Scalars per element: 1, or those of a vector or a matrix, in row-major order.
    pub components: u32,
    /// Number of elements of an array; `None` if it is not one.
    pub count: Option<u32>,
}

/// A texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Name.
    pub name: String,
    /// Whether it is a cube map; otherwise it is two-dimensional.
    pub cube: bool,
}

/// An attribute of a vertex: a whole number of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Components.
    pub components: u32,
    /// Scalar type.
    pub number: Number,
    /// It is the vertex index, which the code that creates a mesh fills in.
    pub is_vertex_index: bool,
    /// Offset in words in memory, and in what the vertex shader reads.
    pub offset_words: u32,
    /// Offset in words in what the coordinate shader reads, if it reads the attribute.
    pub coordinate_offset_words: Option<u32>,
}

impl Attribute {
    /// Its words in memory.
    pub const fn words(&self) -> u32 {
        match self.number {
            Number::Half => self.components.div_ceil(2),
            _ => self.components,
        }
    }
}

/// A storage buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Name.
    pub name: String,
    /// The program may write to it.
    pub writable: bool,
    /// The scalar type, if all numbers have the same one.
    pub number: Option<Number>,
    /// Bytes before the runtime-sized array at its end; the size in bytes if there is none.
    pub fixed_bytes: u32,
    /// Stride in bytes of that array; 0 if there is none.
    pub stride_bytes: u32,
}

/// Number of words of a compute program's stream that are read once; the others are read in each iteration.
pub const WORDS_BEFORE_ITERATION: u32 = 6;

/// Rows of the VPM that each program of a compute job has for what DMA transfers.
pub const TRANSFER_ROWS: u32 = 4;

/// How a compute program's work is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workgroups {
    /// Invocations of a workgroup along three axes.
    pub size: [u32; 3],
    /// Number of groups of 16 invocations in a workgroup.
    pub parts: u32,
    /// The parts of a workgroup synchronise: each runs on a QPU of its own.
    pub together: bool,
    /// Bytes of main memory that a workgroup's invocations share.
    pub memory_bytes: u32,
    /// Rows of the VPM that they share.
    pub vpm_rows: u32,
}

/// The interface of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// All uniforms of the source; the program reads those that occur in `stream`.
    pub fields: Vec<Field>,
    /// All textures of the source; the program reads those that occur in `stream`.
    pub textures: Vec<Texture>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Number of components of the varyings.
    pub varyings: u32,
    /// Flat varyings, one bit for each component.
    pub flat_varyings: u32,
    /// The words that the program reads, in order.
    pub stream: Vec<StreamWord>,
    /// The program writes a depth to rb15.
    pub writes_depth: bool,
    /// The program discards some fragments.
    pub discards: bool,
    /// A fragment shader for points, which reads the position in the point before the varyings.
    pub points: bool,
    /// A coordinate or vertex shader that writes the size of a point in pixels after 1/Wc.
    pub point_size: bool,
    /// The program leaves its colour as half floats in r0 and r1.
    pub half_color: bool,
    /// All storage buffers of the source.
    pub buffers: Vec<Buffer>,
    /// The division of the work.
    pub workgroups: Workgroups,
    /// Whether a fragment program shares its QPU with another thread, which runs while it waits for a texture.
    pub threading: Threading,
}

impl Interface {
    /// Whether the program reads any component of a field.
    pub fn reads_field(&self, number: u32) -> bool {
        self.stream.iter().any(|word| matches!(word, StreamWord::Field { field, .. } if *field == number))
    }

    /// Whether the program reads or writes a buffer.
    pub fn reads_buffer(&self, number: u32) -> bool {
        self.stream.iter().any(|word| match word {
            StreamWord::Buffer { buffer, .. } | StreamWord::Length(buffer) => *buffer == number,
            _ => false,
        })
    }

    /// Whether the program samples a texture, or queries its size.
    pub fn reads_texture(&self, number: u32) -> bool {
        self.stream.iter().any(|word| word.texture() == Some(number))
    }

    /// Number of threads per QPU.
    pub fn threads(&self) -> u8 {
        match self.threading {
            Threading::Dual => 2,
            Threading::Single => 1,
        }
    }

    /// Whether the program samples any texture.
    pub fn looks_up(&self) -> bool {
        self.stream.iter().any(StreamWord::is_texture_parameter)
    }

    /// Number of words of a vertex that the program of a stage reads.
    pub fn attribute_words(&self, stage: Stage) -> u32 {
        let reads = |attribute: &&Attribute| match stage {
            Stage::Coordinate => attribute.coordinate_offset_words.is_some(),
            Stage::Vertex => true,
            Stage::Fragment | Stage::Compute => false,
        };
        self.attributes.iter().filter(reads).map(Attribute::words).sum()
    }
}

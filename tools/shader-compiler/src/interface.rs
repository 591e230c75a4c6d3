//! The inputs of a program: uniform fields, textures, attributes, varyings, and the stream of uniforms.

use alloc::string::String;
use alloc::vec::Vec;

use v3d_hw::control_list::Threading;

use crate::ssa::StreamWord;

/// Stage of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Computes the part of a vertex that the binner reads.
    Coordinate,
    /// Computes the shaded vertex that the renderer reads.
    Vertex,
    /// Colours.
    Fragment,
    /// A user program.
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

/// A number's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// `f32`.
    Float,
    /// `i32`.
    Int,
    /// `u32`.
    Uint,
    /// `f16`, two in a word: of attributes only.
    Half,
}

/// A field of the uniforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name: of a member of the uniform structure, or of a uniform that is no structure.
    pub name: String,
    /// Kind of its numbers.
    pub number: Number,
    /// Numbers of one element: 1, a vector's, or a matrix's, which are given row by row.
    pub components: u32,
    /// Elements of an array; `None` for what is none.
    pub count: Option<u32>,
}

/// A texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Name.
    pub name: String,
    /// A cube map, else of two dimensions.
    pub cube: bool,
}

/// An attribute of a vertex: whole words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Components.
    pub components: u32,
    /// Kind of its numbers.
    pub number: Number,
    /// It is the number of the vertex, which whoever makes a mesh fills in.
    pub is_vertex_index: bool,
    /// Words before it in memory and in what the vertex shader reads.
    pub offset_words: u32,
    /// Words before it in what the coordinate shader reads, if it reads the attribute.
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
    /// Kind of all its numbers; `None` if there are several.
    pub number: Option<Number>,
    /// Bytes before the array at its end whose length is that of the buffer, or bytes of all of it.
    pub fixed_bytes: u32,
    /// Bytes of an element of that array; 0 if there is none.
    pub stride_bytes: u32,
}

/// Words of a compute program's stream that it reads once; the others it reads each iteration.
pub const WORDS_BEFORE_ITERATION: u32 = 6;

/// Rows of the VPM that each program of a compute job has for what DMA transfers.
pub const TRANSFER_ROWS: u32 = 4;

/// How a compute program's work is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workgroups {
    /// Invocations along three axes.
    pub size: [u32; 3],
    /// How often 16 invocations make a workgroup.
    pub parts: u32,
    /// The parts of a workgroup wait for each other: each has a QPU of its own.
    pub together: bool,
    /// Bytes of main memory that a workgroup's invocations share.
    pub memory_bytes: u32,
    /// Rows of the VPM that they share.
    pub vpm_rows: u32,
}

/// The interface of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// All uniforms of the source; those that the stream has words of are the program's.
    pub fields: Vec<Field>,
    /// All textures of the source, likewise.
    pub textures: Vec<Texture>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Components of the varyings.
    pub varyings: u32,
    /// Those that are not interpolated, a bit each.
    pub flat_varyings: u32,
    /// The words that the program reads, in their order.
    pub stream: Vec<StreamWord>,
    /// The program leaves a depth of its own in rb15.
    pub writes_depth: bool,
    /// The program discards some fragments.
    pub discards: bool,
    /// A fragment shader of points, which reads the place in the point before the varyings.
    pub points: bool,
    /// A coordinate or vertex shader that writes the size of a point in pixels behind 1/Wc.
    pub point_size: bool,
    /// The program leaves its colour as half floats in r0 and r1.
    pub half_color: bool,
    /// All storage buffers of the source.
    pub buffers: Vec<Buffer>,
    /// How the work is divided.
    pub workgroups: Workgroups,
    /// Whether a fragment program shares its QPU with another, which goes on while it waits for a texture.
    pub threading: Threading,
}

impl Interface {
    /// Whether the program reads anything of a field.
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

    /// Whether the program looks a texture up, or asks for its size.
    pub fn reads_texture(&self, number: u32) -> bool {
        self.stream.iter().any(|word| word.texture() == Some(number))
    }

    /// Threads of a QPU that the program is for.
    pub fn threads(&self) -> u8 {
        match self.threading {
            Threading::Dual => 2,
            Threading::Single => 1,
        }
    }

    /// Whether the program looks any texture up.
    pub fn looks_up(&self) -> bool {
        self.stream.iter().any(StreamWord::is_texture_parameter)
    }

    /// Words of a vertex that the program of a stage reads.
    pub fn attribute_words(&self, stage: Stage) -> u32 {
        let reads = |attribute: &&Attribute| match stage {
            Stage::Coordinate => attribute.coordinate_offset_words.is_some(),
            Stage::Vertex => true,
            Stage::Fragment | Stage::Compute => false,
        };
        self.attributes.iter().filter(reads).map(Attribute::words).sum()
    }
}

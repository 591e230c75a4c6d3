//! Programs, vertices and uniforms whose layout is known only at run time: for languages other than Rust.
//!
//! The compiler cannot check here that a mesh matches a pipeline, or uniforms a program. Checks are made when a draw is recorded: a slot that refers to a
//! word or a texture that the draw does not have is an error, and nothing is drawn.

use alloc::vec::Vec;

use shader_interface::{AnyKind, TextureBinding, UniformData, UniformStream, VertexData, VertexUniforms};
use v3d::Platform;

use crate::device::Device;
use crate::error::Error;
use crate::mesh::{Indices, Mesh, Primitive};
use crate::pipeline::{Pipeline, PipelineDescriptor};

/// Vertices whose size is known at run time; they are created from bytes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntypedVertex;

impl VertexData for UntypedVertex {
    /// The size of the smallest vertex. Meshes and pipelines of this type are created with their actual size.
    const BYTES: usize = 4;

    fn push(&self, words: &mut Vec<u32>) {
        words.push(0);
    }
}

/// One word that a program reads from its uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// This word.
    Constant(u32),
    /// The draw's word with this index.
    Word(u32),
    /// Half of the viewport's width.
    ViewportHalfWidth,
    /// Half of its height.
    ViewportHalfHeight,
    /// The scale of depths.
    ViewportZScale,
    /// The offset of depths.
    ViewportZOffset,
    /// A parameter word of a texture of the draw.
    Texture {
        /// Index of the draw's texture.
        texture: u32,
        /// Number of the parameter, 0 to 3.
        parameter: u32,
    },
}

/// The uniforms that a draw passes to the programs of its pipeline, and how the programs read them.
#[derive(Clone, Debug)]
pub struct UntypedUniforms<'a> {
    /// The uniform words of the program, in order: of the vertex shader, or of the fragment shader.
    pub slots: &'a [Slot],
    /// The uniform words of the coordinate shader, if there is a vertex shader.
    pub coordinate_slots: &'a [Slot],
    /// The draw's words.
    pub words: &'a [u32],
    /// The draw's textures.
    pub textures: &'a [TextureBinding<AnyKind>],
}

/// Maximum number of words that a program reads; the hardware has no limit.
pub const MAX_SLOTS: usize = 256;

impl UntypedUniforms<'_> {
    /// The first slot that refers to a word or a texture that the draw does not have.
    pub fn missing(&self) -> Option<Slot> {
        let is_missing = |slot: &&Slot| match **slot {
            Slot::Word(number) => number as usize >= self.words.len(),
            Slot::Texture { texture, parameter } => texture as usize >= self.textures.len() || parameter > 3,
            _ => false,
        };
        self.slots.iter().chain(self.coordinate_slots).find(is_missing).copied()
    }

    fn push_slots(&self, slots: &[Slot], stream: &mut UniformStream<'_>) {
        for slot in slots {
            let viewport = *stream.viewport();
            match *slot {
                Slot::Constant(word) => stream.word(word),
                Slot::Word(number) => stream.word(self.words.get(number as usize).copied().unwrap_or(0)),
                Slot::ViewportHalfWidth => stream.float(viewport.half_width),
                Slot::ViewportHalfHeight => stream.float(viewport.half_height),
                Slot::ViewportZScale => stream.float(viewport.z_scale),
                Slot::ViewportZOffset => stream.float(viewport.z_offset),
                Slot::Texture { texture, parameter } => {
                    let words = self.textures.get(texture as usize).map_or([0; 4], TextureBinding::words);
                    stream.word(words.get(parameter as usize).copied().unwrap_or(0));
                }
            }
        }
        // The words were written already; this keeps the textures' memory allocated.
        self.textures.iter().for_each(|texture| texture.push(stream, 0, 0));
    }
}

impl UniformData for UntypedUniforms<'_> {
    const WORDS: usize = MAX_SLOTS;

    fn push(&self, stream: &mut UniformStream<'_>) {
        self.push_slots(self.slots, stream);
    }
}

impl VertexUniforms for UntypedUniforms<'_> {
    const WORDS: usize = 2 * MAX_SLOTS;

    fn push_vertex(&self, stream: &mut UniformStream<'_>) {
        self.push_slots(self.slots, stream);
    }

    fn push_coordinate(&self, stream: &mut UniformStream<'_>) {
        self.push_slots(self.coordinate_slots, stream);
    }
}

impl Mesh<UntypedVertex> {
    /// Creates a mesh of vertices of `stride` bytes, in the layout that its pipelines expect.
    ///
    /// # Errors
    /// As [`Mesh::from_bytes`].
    pub fn of_stride<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[u8],
        stride: usize,
        indices: Option<Indices<'_>>,
    ) -> Result<Self, Error> {
        Self::place(device, label, primitive, (vertices.into(), stride), indices)
    }
}

impl<U, F> Pipeline<UntypedVertex, U, F> {
    /// Creates a pipeline for vertices of `vertex_bytes` bytes, and for programs with a given number of varyings.
    ///
    /// # Errors
    /// As [`Pipeline::new`].
    pub fn untyped<P: Platform>(
        device: &Device<'_, P>,
        descriptor: &PipelineDescriptor<'_, UntypedVertex, U, F, 0>,
        vertex_bytes: usize,
        varyings: usize,
    ) -> Result<Self, Error> {
        Self::of_sizes(device, descriptor, vertex_bytes, varyings)
    }
}

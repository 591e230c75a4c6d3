//! Meshes: vertices, and perhaps indices, in GPU memory.

use alloc::vec::Vec;
use core::marker::PhantomData;
use shader_interface::VertexData;
use v3d::Platform;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{IndexType, PrimitiveMode};
use v3d::pool::Buffer;
use v3d::primitives::Primitives;

use crate::device::Device;
use crate::error::Error;

/// Alignment of vertices and indices in bytes.
const ALIGNMENT: usize = 16;

/// What vertices make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Each a point.
    Points,
    /// Two by two a line.
    Lines,
    /// A line through all of them.
    LineStrip,
    /// A line through all of them and back to the first.
    LineLoop,
    /// Three by three a triangle.
    Triangles,
    /// Each with the two before it a triangle.
    TriangleStrip,
    /// Each with the one before it and the first a triangle.
    TriangleFan,
}

impl Primitive {
    pub(crate) const fn mode(self) -> PrimitiveMode {
        match self {
            Self::Points => PrimitiveMode::Points,
            Self::Lines => PrimitiveMode::Lines,
            Self::LineStrip => PrimitiveMode::LineStrip,
            Self::LineLoop => PrimitiveMode::LineLoop,
            Self::Triangles => PrimitiveMode::Triangles,
            Self::TriangleStrip => PrimitiveMode::TriangleStrip,
            Self::TriangleFan => PrimitiveMode::TriangleFan,
        }
    }
}

/// Vertices of one kind in GPU memory, and what they make.
#[derive(Clone, Debug)]
pub struct Mesh<V> {
    label: &'static str,
    memory: Buffer,
    primitives: Primitives,
    kind: PhantomData<fn(V)>,
}

impl<V: VertexData> Mesh<V> {
    /// Vertices in the order in which they are drawn.
    ///
    /// # Errors
    /// When there are none, or the pool has not enough memory.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[V],
    ) -> Result<Self, Error> {
        let count = count(label, vertices)?;
        let memory = device.driver()?.upload(&bytes_of(vertices), ALIGNMENT as u32)?;
        let primitives = Primitives::Array { mode: primitive.mode(), first: 0, count };
        Ok(Self { label, memory, primitives, kind: PhantomData })
    }

    /// Vertices that indices name.
    ///
    /// # Errors
    /// When an index has no vertex, there are no vertices, or the pool has not enough memory.
    pub fn indexed<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[V],
        indices: &[u16],
    ) -> Result<Self, Error> {
        let vertex_count = count(label, vertices)?;
        if let Some(at) = indices.iter().position(|&index| u32::from(index) >= vertex_count) {
            let index = u32::from(indices[at]);
            return Err(Error::Index { label, at, index, vertices: vertex_count });
        }
        let mut bytes = bytes_of(vertices);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let start = bytes.len();
        bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
        let memory = device.driver()?.upload(&bytes, ALIGNMENT as u32)?;
        let primitives = Primitives::Indexed {
            mode: primitive.mode(),
            indices: memory.address() + start as u32,
            index_type: IndexType::Bits16,
            count: indices.len() as u32,
            maximum: vertex_count - 1,
        };
        Ok(Self { label, memory, primitives, kind: PhantomData })
    }

    /// The name that it was made with.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    pub(crate) const fn memory(&self) -> &Buffer {
        &self.memory
    }

    /// The first vertex.
    pub(crate) fn vertices(&self) -> BusAddr {
        self.memory.address()
    }

    /// What a list says to draw it.
    pub(crate) const fn primitives(&self) -> &Primitives {
        &self.primitives
    }
}

/// How many vertices there are, at least one.
fn count<V: VertexData>(label: &'static str, vertices: &[V]) -> Result<u32, Error> {
    let error = Error::MeshSize { label, vertices: vertices.len() };
    let bytes = vertices.len().checked_mul(V::BYTES).and_then(|bytes| u32::try_from(bytes).ok());
    match (bytes, u32::try_from(vertices.len())) {
        (Some(_), Ok(count)) if count > 0 => Ok(count),
        _ => Err(error),
    }
}

/// Vertices as they stand in memory.
pub(crate) fn bytes_of<V: VertexData>(vertices: &[V]) -> Vec<u8> {
    let mut words = Vec::with_capacity(vertices.len() * V::BYTES / 4);
    vertices.iter().for_each(|vertex| vertex.push(&mut words));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

//! Meshes: vertices, and perhaps indices, in GPU memory.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::marker::PhantomData;
use shader_interface::{PrimitiveKind, VertexData};
use v3d::Platform;
use v3d::hw::control_list::PrimitiveMode;
use v3d::pool::Buffer;

use crate::device::Device;
use crate::error::Error;

mod indices;
pub(crate) mod layout;

pub use indices::Indices;
use layout::{ALIGNMENT, Layout, Parts, PlacedPart};

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
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Points,
        Self::Lines,
        Self::LineStrip,
        Self::LineLoop,
        Self::Triangles,
        Self::TriangleStrip,
        Self::TriangleFan,
    ];

    pub(crate) const fn kind(self) -> PrimitiveKind {
        match self {
            Self::Points => PrimitiveKind::Points,
            Self::Lines | Self::LineStrip | Self::LineLoop => PrimitiveKind::Lines,
            Self::Triangles | Self::TriangleStrip | Self::TriangleFan => PrimitiveKind::Triangles,
        }
    }

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
///
/// There may be any number of vertices and indices: what is too much for one record of the hardware is drawn in parts.
#[derive(Clone, Debug)]
pub struct Mesh<V> {
    label: &'static str,
    memory: Buffer,
    primitive: PrimitiveKind,
    parts: Parts<PlacedPart>,
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
        Self::place(device, label, primitive, bytes_of(vertices).into(), None)
    }

    /// Vertices that indices name.
    ///
    /// # Errors
    /// When an index has no vertex, there are no vertices or indices, or the pool has not enough memory.
    pub fn indexed<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[V],
        indices: &[u16],
    ) -> Result<Self, Error> {
        Self::with_indices(device, label, primitive, vertices, Indices::U16(indices))
    }

    /// Vertices that indices of any width name.
    ///
    /// # Errors
    /// As [`Mesh::indexed`].
    pub fn with_indices<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[V],
        indices: Indices<'_>,
    ) -> Result<Self, Error> {
        Self::place(device, label, primitive, bytes_of(vertices).into(), Some(indices))
    }

    /// Vertices as they stand in memory, [`VertexData::BYTES`] each, and perhaps indices: what a build script has laid out is only copied. The vertices'
    /// values are not looked at.
    ///
    /// # Errors
    /// When the bytes are no whole number of vertices or indices, and as [`Mesh::indexed`].
    pub fn from_bytes<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[u8],
        indices: Option<Indices<'_>>,
    ) -> Result<Self, Error> {
        Self::place(device, label, primitive, vertices.into(), indices)
    }

    fn place<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: Cow<'_, [u8]>,
        indices: Option<Indices<'_>>,
    ) -> Result<Self, Error> {
        let layout = layout::<V>(label, primitive, vertices, indices)?;
        let count = layout.vertices.len() / V::BYTES;
        let bytes = layout.bytes().ok_or(Error::MeshSize { label, vertices: count })?;
        let mut driver = device.driver()?;
        let memory = driver.allocate(bytes, ALIGNMENT)?;
        let region = memory.region();
        region.store(driver.platform(), 0, &layout.vertices)?;
        if !layout.indices.is_empty() {
            region.store(driver.platform(), layout.indices_offset(), &layout.indices)?;
        }
        let parts = layout.parts.place(memory.address())?;
        Ok(Self { label, memory, primitive: primitive.kind(), parts, kind: PhantomData })
    }

    /// The name that it was made with.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    pub(crate) const fn memory(&self) -> &Buffer {
        &self.memory
    }

    /// What its primitives are.
    pub(crate) const fn primitive(&self) -> PrimitiveKind {
        self.primitive
    }

    /// What is drawn, if that is one record.
    #[inline]
    pub(crate) const fn only_part(&self) -> Option<&PlacedPart> {
        match &self.parts {
            Parts::One(part) => Some(part),
            Parts::Many(_) => None,
        }
    }

    /// What is drawn, record by record.
    pub(crate) fn parts(&self) -> &[PlacedPart] {
        self.parts.as_slice()
    }
}

/// How vertices of one kind are laid out, if they and their indices are possible.
pub(crate) fn layout<'a, V: VertexData>(
    label: &'static str,
    primitive: Primitive,
    vertices: Cow<'a, [u8]>,
    indices: Option<Indices<'a>>,
) -> Result<Layout<'a>, Error> {
    let whole = |bytes: usize, unit: usize, what| {
        if bytes > 0 && bytes.is_multiple_of(unit) {
            Ok(())
        } else {
            Err(Error::MeshBytes { label, what, bytes, unit })
        }
    };
    let count = vertices.len() / V::BYTES;
    whole(vertices.len(), V::BYTES, "vertices")?;
    let vertex_count = u32::try_from(count).map_err(|_| Error::MeshSize { label, vertices: count })?;
    if let Some(indices) = &indices {
        whole(indices.bytes(), indices.width(), "indices")?;
        if let Some(at) = indices.first_beyond(vertex_count) {
            return Err(Error::Index { label, at, index: indices.at(at), vertices: vertex_count });
        }
    }
    Layout::new(primitive, vertices, V::BYTES, indices).ok_or(Error::MeshSize { label, vertices: count })
}

/// Vertices as they stand in memory.
pub(crate) fn bytes_of<V: VertexData>(vertices: &[V]) -> Vec<u8> {
    let mut words = Vec::with_capacity(vertices.len() * V::BYTES / 4);
    vertices.iter().for_each(|vertex| vertex.push(&mut words));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

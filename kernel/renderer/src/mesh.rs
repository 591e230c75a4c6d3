//! Meshes: vertices, and optionally indices, in GPU memory.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::marker::PhantomData;
use shader_interface::{PrimitiveKind, VertexData};
use v3d::Platform;
use v3d::hw::control_list::PrimitiveMode;
use v3d::platform::Named;
use v3d::pool::Buffer;

use crate::device::Device;
use crate::error::Error;

mod indices;
pub(crate) mod layout;

pub use indices::Indices;
use layout::{ALIGNMENT, Layout, Parts, PlacedPart};

/// How vertices are assembled to points, lines or triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Each vertex is a point.
    Points,
    /// Each two vertices are a line.
    Lines,
    /// A line through all vertices.
    LineStrip,
    /// A line through all vertices and back to the first.
    LineLoop,
    /// Each three vertices are a triangle.
    Triangles,
    /// Each vertex forms a triangle with the two before it.
    TriangleStrip,
    /// Each vertex forms a triangle with the one before it and the first.
    TriangleFan,
}

impl Primitive {
    /// All primitives.
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

/// Vertices of one type in GPU memory, and their primitive.
///
/// The number of vertices and indices is not limited: a mesh that exceeds the limits of a hardware record is drawn by several.
#[derive(Clone, Debug)]
pub struct Mesh<V> {
    label: &'static str,
    memory: Buffer,
    primitive: PrimitiveKind,
    parts: Parts<PlacedPart>,
    kind: PhantomData<fn(V)>,
}

impl<V: VertexData> Mesh<V> {
    /// Creates a mesh of vertices that are drawn in their order.
    ///
    /// # Errors
    /// When there are none, or the pool has not enough memory.
    pub fn new<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[V],
    ) -> Result<Self, Error> {
        Self::place(device, label, primitive, (bytes_of(vertices).into(), V::BYTES), None)
    }

    /// Creates a mesh of vertices that are drawn in the order of 16-bit indices.
    ///
    /// # Errors
    /// When an index is not less than the number of vertices, there are no vertices or indices, or the pool has not enough memory.
    pub fn indexed<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[V],
        indices: &[u16],
    ) -> Result<Self, Error> {
        Self::with_indices(device, label, primitive, vertices, Indices::U16(indices))
    }

    /// Creates a mesh with indices of any width.
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
        Self::place(device, label, primitive, (bytes_of(vertices).into(), V::BYTES), Some(indices))
    }

    /// Creates a mesh from vertices in the layout of GPU memory, [`VertexData::BYTES`] each, and optional indices. The data, prepared by a build script, are
    /// only copied, with the number of each vertex added if a shader reads it. Values are not checked.
    ///
    /// # Errors
    /// When the bytes are not a whole number of vertices or indices, and as [`Mesh::indexed`].
    pub fn from_bytes<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        vertices: &[u8],
        indices: Option<Indices<'_>>,
    ) -> Result<Self, Error> {
        Self::place(device, label, primitive, (vertices.into(), V::BYTES), indices)
    }

    /// Creates a mesh of vertices that are in memory already, such as the results of a user program. They are drawn in their order, as they are when the GPU
    /// draws them.
    ///
    /// # Errors
    /// When the memory is of another device or too short, or when there are more vertices than one record can draw, 65,535, or none.
    pub fn in_memory<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        memory: &Buffer,
        vertices: u32,
    ) -> Result<Self, Error> {
        device.expect_own(label, memory)?;
        let fits = u64::from(vertices) * V::BYTES as u64 <= u64::from(memory.region().bytes());
        if !fits || !(1..=layout::MAX_VERTICES).contains(&vertices) {
            return Err(Error::MeshSize { label, vertices: vertices as usize });
        }
        let parts = Parts::One(PlacedPart::in_order(primitive.mode(), memory.address(), vertices)?);
        Ok(Self { label, memory: memory.clone(), primitive: primitive.kind(), parts, kind: PhantomData })
    }

    pub(crate) fn place<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        (vertices, stride): (Cow<'_, [u8]>, usize),
        indices: Option<Indices<'_>>,
    ) -> Result<Self, Error> {
        let layout = layout(label, primitive, (vertices, stride), indices)?;
        let count = layout.vertices.len() / stride.max(1);
        let bytes = layout.bytes().ok_or(Error::MeshSize { label, vertices: count })?;
        let mut driver = device.driver()?;
        let memory = driver.allocate(bytes, ALIGNMENT)?;
        let region = memory.region();
        let what = Named::Memory { bytes: region.bytes() };
        driver.platform().name(memory.address(), what, format_args!("{label}: mesh"));
        region.store(driver.platform(), 0, &layout.vertices)?;
        if !layout.indices.is_empty() {
            region.store(driver.platform(), layout.indices_offset(), &layout.indices)?;
        }
        let parts = layout.parts.place(memory.address())?;
        Ok(Self { label, memory, primitive: primitive.kind(), parts, kind: PhantomData })
    }

    /// The label that it was created with.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    pub(crate) const fn memory(&self) -> &Buffer {
        &self.memory
    }

    /// The type of its primitives.
    pub(crate) const fn primitive(&self) -> PrimitiveKind {
        self.primitive
    }

    /// The part, if one record draws the whole mesh.
    #[inline]
    pub(crate) const fn only_part(&self) -> Option<&PlacedPart> {
        match &self.parts {
            Parts::One(part) => Some(part),
            Parts::Many(_) => None,
        }
    }

    /// The parts, each of which one record draws.
    pub(crate) fn parts(&self) -> &[PlacedPart] {
        self.parts.as_slice()
    }
}

/// Checks vertices of `stride` bytes and indices, and computes their layout in memory.
pub(crate) fn layout<'a>(
    label: &'static str,
    primitive: Primitive,
    (vertices, stride): (Cow<'a, [u8]>, usize),
    indices: Option<Indices<'a>>,
) -> Result<Layout<'a>, Error> {
    let whole = |bytes: usize, unit: usize, what| {
        if bytes > 0 && unit > 0 && bytes.is_multiple_of(unit) {
            Ok(())
        } else {
            Err(Error::MeshBytes { label, what, bytes, unit })
        }
    };
    let count = vertices.len() / stride.max(1);
    whole(vertices.len(), stride, "vertices")?;
    let vertex_count = u32::try_from(count).map_err(|_| Error::MeshSize { label, vertices: count })?;
    if let Some(indices) = &indices {
        whole(indices.bytes(), indices.width(), "indices")?;
        if let Some(at) = indices.first_beyond(vertex_count) {
            return Err(Error::Index { label, at, index: indices.at(at), vertices: vertex_count });
        }
    }
    Layout::new(primitive, vertices, stride, indices).ok_or(Error::MeshSize { label, vertices: count })
}

/// Vertices in the layout of GPU memory.
pub(crate) fn bytes_of<V: VertexData>(vertices: &[V]) -> Vec<u8> {
    let mut words = Vec::with_capacity(vertices.len() * V::BYTES / 4);
    (0..).zip(vertices).for_each(|(number, vertex)| vertex.push_numbered(number, &mut words));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

//! Memory layout of vertices and indices, and the split of a mesh into parts that one record can draw.
//!
//! One record draws at most 65,535 vertices and addresses them with 16 bits [GFXH-515: mesa vc4_draw.c]. A longer mesh is split into parts, each with its own
//! vertices: lists are split between primitives, strips repeat the last vertices of the previous part, fans repeat their first vertex, and a loop becomes a
//! strip that ends with its first vertex. A triangle strip is split at even positions, so that its triangles keep their winding.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{IndexType, IndexedPrimitiveList, PrimitiveMode, VertexArrayPrimitives};
use v3d::record_list::EncodedRecord;

use super::Primitive;
use super::indices::Indices;

/// Alignment of vertices and of indices in bytes: that of a frame's memory, where transient meshes are.
pub(crate) const ALIGNMENT: u32 = crate::frame::memory::ALIGNMENT;
/// Maximum number of vertices of one record [GFXH-515].
pub(crate) const MAX_VERTICES: u32 = 65535;
/// Number of vertices that 16-bit indices can address.
const MAX_NAMED: u32 = 1 << 16;

/// One record's draw, with offsets from the start of the mesh's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshPart {
    vertices: u32,
    mode: PrimitiveMode,
    count: u32,
    indices: Option<PartIndices>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartIndices {
    offset: u32,
    index_type: IndexType,
    /// The greatest valid index.
    maximum: u32,
}

impl MeshPart {
    /// Resolves the offsets for a mesh at address `start`.
    fn place(&self, start: BusAddr) -> Result<PlacedPart, v3d::Error> {
        let Self { mode, count: length, indices, .. } = *self;
        let primitives = match indices {
            None => EncodedRecord::new(VertexArrayPrimitives { first_vertex: 0, length, mode })?,
            Some(PartIndices { offset, index_type, maximum }) => EncodedRecord::new(IndexedPrimitiveList {
                maximum_index: maximum,
                address: start + offset,
                length,
                index_type,
                mode,
            })?,
        };
        Ok(PlacedPart { vertices: start + self.vertices, primitives })
    }
}

/// One record's draw, with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedPart {
    /// Address of the first vertex.
    pub(crate) vertices: BusAddr,
    /// The record that draws it.
    pub(crate) primitives: EncodedRecord,
}

impl PlacedPart {
    /// Rectangles of four vertices each, drawn as two triangles by 16-bit indices.
    pub(crate) fn rectangles(vertices: BusAddr, indices: BusAddr, vertex_count: u32) -> Result<Self, v3d::Error> {
        let list = IndexedPrimitiveList {
            maximum_index: vertex_count.saturating_sub(1),
            address: indices,
            length: vertex_count / 4 * 6,
            index_type: IndexType::Bits16,
            mode: PrimitiveMode::Triangles,
        };
        Ok(Self { vertices, primitives: EncodedRecord::new(list)? })
    }

    /// Points of one vertex each, at most as many as one record can draw.
    pub(crate) fn points(vertices: BusAddr, count: u32) -> Result<Self, v3d::Error> {
        Self::in_order(PrimitiveMode::Points, vertices, count)
    }

    /// Vertices in their order, at most as many as one record can draw.
    pub(crate) fn in_order(mode: PrimitiveMode, vertices: BusAddr, count: u32) -> Result<Self, v3d::Error> {
        let list = VertexArrayPrimitives { first_vertex: 0, length: count, mode };
        Ok(Self { vertices, primitives: EncodedRecord::new(list)? })
    }
}

/// The parts of a mesh; few meshes have more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parts<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Parts<T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(part) => core::slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }
}

impl Parts<MeshPart> {
    /// Resolves the offsets for a mesh at address `start`.
    pub(crate) fn place(&self, start: BusAddr) -> Result<Parts<PlacedPart>, v3d::Error> {
        Ok(match self {
            Self::One(part) => Parts::One(part.place(start)?),
            Self::Many(parts) => Parts::Many(parts.iter().map(|part| part.place(start)).collect::<Result<_, _>>()?),
        })
    }
}

/// The contents of a mesh's memory: vertices, then indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout<'a> {
    pub(crate) vertices: Cow<'a, [u8]>,
    pub(crate) indices: Cow<'a, [u8]>,
    pub(crate) parts: Parts<MeshPart>,
}

impl<'a> Layout<'a> {
    /// Lays out vertices of `stride` bytes and optional indices, which must be valid. `None` if a size or an offset exceeds 32 bits.
    pub(crate) fn new(
        primitive: Primitive,
        vertices: Cow<'a, [u8]>,
        stride: usize,
        indices: Option<Indices<'a>>,
    ) -> Option<Self> {
        let vertex_count = u32::try_from(vertices.len() / stride.max(1)).ok()?;
        let count = match &indices {
            Some(indices) => u32::try_from(indices.count()).ok()?,
            None => vertex_count,
        };
        let segments = Segment::all(primitive, count);
        let layout = match (segments, indices) {
            (None, None) => {
                let parts = Parts::One(MeshPart { vertices: 0, mode: primitive.mode(), count, indices: None });
                Self { vertices, indices: Cow::Borrowed(&[]), parts }
            }
            (Some(segments), None) => Self::ordered_parts(&segments, &vertices, stride)?,
            (segments, Some(indices)) if vertex_count > MAX_NAMED => {
                let one =
                    || vec![Segment { mode: primitive.mode(), lead: false, start: 0, length: count, close: false }];
                Self::remapped_parts(&segments.unwrap_or_else(one), &vertices, stride, &indices, vertex_count)?
            }
            (None, Some(indices)) => {
                let index_type = if indices.width() == 1 { IndexType::Bits8 } else { IndexType::Bits16 };
                let offset = u32::try_from(vertices.len()).ok()?.checked_next_multiple_of(ALIGNMENT)?;
                let part_indices = PartIndices { offset, index_type, maximum: vertex_count.saturating_sub(1) };
                let parts =
                    Parts::One(MeshPart { vertices: 0, mode: primitive.mode(), count, indices: Some(part_indices) });
                Self { vertices, indices: indices.stored(), parts }
            }
            (Some(segments), Some(indices)) => {
                let start = u32::try_from(vertices.len()).ok()?.checked_next_multiple_of(ALIGNMENT)?;
                let mut parts = Vec::with_capacity(segments.len());
                let mut stored = Vec::new();
                for segment in segments {
                    let offset = start.checked_add(u32::try_from(stored.len()).ok()?)?;
                    stored.extend(segment.places().flat_map(|place| (indices.at(place) as u16).to_le_bytes()));
                    let maximum = vertex_count.saturating_sub(1);
                    let indices = Some(PartIndices { offset, index_type: IndexType::Bits16, maximum });
                    parts.push(MeshPart { vertices: 0, mode: segment.mode, count: segment.count(), indices });
                }
                Self { vertices, indices: Cow::Owned(stored), parts: Parts::Many(parts) }
            }
        };
        layout.bytes().map(|_| layout)
    }

    /// Parts of a mesh without indices: each segment has copies of its vertices.
    fn ordered_parts(segments: &[Segment], vertices: &[u8], stride: usize) -> Option<Self> {
        let mut stored = Vec::with_capacity(vertices.len() + 3 * stride * segments.len());
        let mut parts = Vec::with_capacity(segments.len());
        for segment in segments {
            let offset = align(&mut stored)?;
            for place in segment.places() {
                stored.extend_from_slice(vertices.get(place * stride..(place + 1) * stride)?);
            }
            parts.push(MeshPart { vertices: offset, mode: segment.mode, count: segment.count(), indices: None });
        }
        Some(Self { vertices: Cow::Owned(stored), indices: Cow::Borrowed(&[]), parts: Parts::Many(parts) })
    }

    /// Parts of an indexed mesh with more vertices than 16 bits can address: each segment has copies of its vertices, and new indices into these.
    fn remapped_parts(
        segments: &[Segment],
        vertices: &[u8],
        stride: usize,
        indices: &Indices<'_>,
        vertex_count: u32,
    ) -> Option<Self> {
        let mut stored = Vec::with_capacity(vertices.len());
        let mut new_indices = Vec::with_capacity(2 * indices.count());
        let mut parts = Vec::with_capacity(segments.len());
        // For each vertex: the number (from 1) of the last part that has a copy of it, and its index there.
        let mut known = vec![(0u32, 0u16); vertex_count as usize];
        for (number, segment) in (1..).zip(segments) {
            let offset = align(&mut stored)?;
            let first_index = new_indices.len();
            let mut count = 0u32;
            for place in segment.places() {
                let index = indices.at(place) as usize;
                let (part, new) = known.get_mut(index)?;
                if *part != number {
                    (*part, *new) = (number, u16::try_from(count).ok()?);
                    stored.extend_from_slice(vertices.get(index * stride..(index + 1) * stride)?);
                    count += 1;
                }
                new_indices.extend(new.to_le_bytes());
            }
            // The offset of the index data is added below, when it is known.
            let offset_of_indices = u32::try_from(first_index).ok()?;
            let maximum = count.saturating_sub(1);
            let indices = Some(PartIndices { offset: offset_of_indices, index_type: IndexType::Bits16, maximum });
            parts.push(MeshPart { vertices: offset, mode: segment.mode, count: segment.count(), indices });
        }
        let start = u32::try_from(stored.len()).ok()?.checked_next_multiple_of(ALIGNMENT)?;
        for indices in parts.iter_mut().filter_map(|part| part.indices.as_mut()) {
            indices.offset = indices.offset.checked_add(start)?;
        }
        Some(Self { vertices: Cow::Owned(stored), indices: Cow::Owned(new_indices), parts: Parts::Many(parts) })
    }

    /// Offset of the first index in bytes.
    pub(crate) fn indices_offset(&self) -> u32 {
        (self.vertices.len() as u32).next_multiple_of(ALIGNMENT)
    }

    /// Size in memory in bytes; `None` if it exceeds 32 bits.
    pub(crate) fn bytes(&self) -> Option<u32> {
        let vertices = u32::try_from(self.vertices.len()).ok()?.checked_next_multiple_of(ALIGNMENT)?;
        vertices.checked_add(u32::try_from(self.indices.len()).ok()?)
    }
}

/// Pads to the alignment, and returns the new length.
fn align(stored: &mut Vec<u8>) -> Option<u32> {
    stored.resize(stored.len().next_multiple_of(ALIGNMENT as usize), 0);
    u32::try_from(stored.len()).ok()
}

/// A range of a sequence of vertices or indices, which one record draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    mode: PrimitiveMode,
    /// The sequence's first element is inserted before the range.
    lead: bool,
    start: u32,
    length: u32,
    /// The sequence's first element is appended after the range.
    close: bool,
}

impl Segment {
    /// The segments of a sequence that is too long for one record; `None` if one record is enough.
    fn all(primitive: Primitive, count: u32) -> Option<Vec<Self>> {
        if count <= MAX_VERTICES {
            return None;
        }
        // Primitives begin at multiples of `unit`, and the first `shared` elements of a segment are the last ones of the segment before.
        let (mode, unit, shared) = match primitive {
            Primitive::Points => (PrimitiveMode::Points, 1, 0),
            Primitive::Lines => (PrimitiveMode::Lines, 2, 0),
            Primitive::Triangles => (PrimitiveMode::Triangles, 3, 0),
            Primitive::LineStrip | Primitive::LineLoop => (PrimitiveMode::LineStrip, 1, 1),
            Primitive::TriangleStrip => (PrimitiveMode::TriangleStrip, 2, 2),
            Primitive::TriangleFan => (PrimitiveMode::TriangleFan, 1, 1),
        };
        let (leads, closes) = (primitive == Primitive::TriangleFan, primitive == Primitive::LineLoop);
        // One element may be inserted or appended.
        let most = MAX_VERTICES - u32::from(leads || closes);
        let step = (most - shared) / unit * unit;
        let mut segments = Vec::new();
        let mut start = 0;
        while start + shared < count {
            let length = (step + shared).min(count - start);
            let close = closes && start + length == count;
            segments.push(Self { mode, lead: leads && start > 0, start, length, close });
            start += step;
        }
        Some(segments)
    }

    /// Number of elements that are drawn.
    fn count(&self) -> u32 {
        self.length + u32::from(self.lead) + u32::from(self.close)
    }

    /// Positions of its elements in the sequence.
    fn places(&self) -> impl Iterator<Item = usize> {
        let own = self.start as usize..self.start as usize + self.length as usize;
        self.lead.then_some(0).into_iter().chain(own).chain(self.close.then_some(0))
    }
}

#[cfg(test)]
mod tests;

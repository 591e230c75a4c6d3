//! Draws: vertices in order, or by indices.
//!
//! # Errata
//! - GFXH-515: a draw of more than 65535 vertices goes wrong, and has to be split [mesa vc4_draw.c]. Where to split depends on the mode: lists are split
//!   between primitives, strips repeat the last vertices of the part before, fans cannot be split without a new first vertex.

use crate::errata::Erratum;
use crate::error::Error;
use crate::lists::record_list::RecordList;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{IndexType, IndexedPrimitiveList, PrimitiveMode, VertexArrayPrimitives};

/// Most vertices of one draw, GFXH-515.
const MAX_VERTICES: u32 = 65535;

/// Primitives of one draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitives {
    /// Vertices in their order.
    Array {
        /// The kind of primitive.
        mode: PrimitiveMode,
        /// Index of the first vertex.
        first: u32,
        /// Number of vertices.
        count: u32,
    },
    /// Vertices by index.
    Indexed {
        /// The kind of primitive.
        mode: PrimitiveMode,
        /// Address of the indices.
        indices: BusAddr,
        /// Width of an index.
        index_type: IndexType,
        /// Number of indices.
        count: u32,
        /// The greatest index that has a vertex.
        maximum: u32,
    },
}

impl Primitives {
    /// Appends the draw, in as many records as GFXH-515 requires.
    pub fn emit(&self, list: &mut RecordList) -> Result<(), Error> {
        match *self {
            Self::Array { mode, first, count } => {
                for (start, length) in parts(mode, count)? {
                    list.push(VertexArrayPrimitives { first_vertex: first + start, length, mode });
                }
            }
            Self::Indexed { mode, indices, index_type, count, maximum } => {
                let index_bytes = match index_type {
                    IndexType::Bits8 => 1,
                    IndexType::Bits16 => 2,
                    IndexType::Reserved(_) => return Err(Error::Draw("indices have 8 or 16 bits")),
                };
                for (start, length) in parts(mode, count)? {
                    list.push(IndexedPrimitiveList {
                        maximum_index: maximum,
                        address: indices + index_bytes * start,
                        length,
                        index_type,
                        mode,
                    });
                }
            }
        }
        Ok(())
    }
}

/// Start and length of the parts into which a draw of `count` vertices is split.
fn parts(mode: PrimitiveMode, count: u32) -> Result<impl Iterator<Item = (u32, u32)>, Error> {
    let (unit, repeated) = match mode {
        PrimitiveMode::Points => (1, 0),
        PrimitiveMode::Lines => (2, 0),
        PrimitiveMode::Triangles => (3, 0),
        PrimitiveMode::LineStrip => (1, 1),
        // an even number of new vertices keeps the winding of the strip's triangles
        PrimitiveMode::TriangleStrip => (2, 2),
        PrimitiveMode::LineLoop | PrimitiveMode::TriangleFan if count <= MAX_VERTICES => (1, 0),
        PrimitiveMode::LineLoop | PrimitiveMode::TriangleFan => {
            return Err(Error::Erratum(Erratum::Gfxh515));
        }
        PrimitiveMode::Reserved(_) => return Err(Error::Draw("the primitive mode is reserved")),
    };
    let step = (MAX_VERTICES - repeated) / unit * unit;
    let whole = if count <= MAX_VERTICES { count } else { step + repeated };
    let mut start = 0;
    let mut done = false;
    Ok(core::iter::from_fn(move || {
        if done {
            return None;
        }
        let length = whole.min(count - start);
        let part = (start, length);
        done = start + length >= count;
        start += step;
        Some(part)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn split(mode: PrimitiveMode, count: u32) -> Vec<(u32, u32)> {
        parts(mode, count).unwrap().collect()
    }

    #[test]
    fn a_small_draw_is_one_record() {
        assert_eq!(split(PrimitiveMode::Triangles, 3), [(0, 3)]);
        assert_eq!(split(PrimitiveMode::TriangleFan, 65535), [(0, 65535)]);
        assert!(parts(PrimitiveMode::TriangleFan, 65536).is_err());
    }

    #[test]
    fn lists_are_split_between_primitives() {
        assert_eq!(split(PrimitiveMode::Triangles, 65538), [(0, 65535), (65535, 3)]);
        assert_eq!(split(PrimitiveMode::Lines, 131_070), [(0, 65534), (65534, 65534), (131_068, 2)]);
    }

    /// Every triangle of the strip is in exactly one part, with the parity of its position in the whole strip.
    #[test]
    fn strips_keep_all_their_triangles_and_windings() {
        let count = 200_001;
        let mut seen = Vec::new();
        for (start, length) in split(PrimitiveMode::TriangleStrip, count) {
            assert!(length <= MAX_VERTICES && start % 2 == 0);
            seen.extend(start..start + length - 2);
        }
        assert_eq!(seen, (0..count - 2).collect::<Vec<_>>());
    }
}

//! Vertices as they stand in memory.

use alloc::vec::Vec;

/// A vertex as it stands in memory.
pub trait VertexData {
    /// Bytes of one vertex, a multiple of 4.
    const BYTES: usize;

    /// Appends the vertex's words.
    fn push(&self, words: &mut Vec<u32>);
}

/// One attribute: where it stands in a vertex in memory, and in a vertex's column in the VPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name in the source.
    pub name: &'static str,
    /// Bytes.
    pub bytes: u16,
    /// First byte from the start of the vertex in memory.
    pub memory_offset: u32,
    /// First byte in the column that the vertex shader reads.
    pub vertex_offset: u8,
    /// First byte in the column that the coordinate shader reads, if it reads the attribute.
    pub coordinate_offset: Option<u8>,
}

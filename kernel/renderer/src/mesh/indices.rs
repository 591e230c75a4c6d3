//! Indices: which vertices are drawn, in which order.

use alloc::borrow::Cow;

/// Indices of 8, 16 or 32 bits. The hardware reads 8 and 16 bits; 32-bit indices are narrowed, and a mesh of more than 65,536 vertices is split into parts
/// that need only 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indices<'a> {
    /// 8 bits each.
    U8(&'a [u8]),
    /// 16 bits each.
    U16(&'a [u16]),
    /// 32 bits each.
    U32(&'a [u32]),
    /// 16 bits each, as little-endian bytes.
    Bytes16(&'a [u8]),
    /// 32 bits each, as little-endian bytes.
    Bytes32(&'a [u8]),
}

impl<'a> Indices<'a> {
    /// Number of indices, without an incomplete one at the end.
    pub(crate) const fn count(&self) -> usize {
        match self {
            Self::U8(indices) => indices.len(),
            Self::U16(indices) => indices.len(),
            Self::U32(indices) => indices.len(),
            Self::Bytes16(bytes) => bytes.len() / 2,
            Self::Bytes32(bytes) => bytes.len() / 4,
        }
    }

    /// Length in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        match self {
            Self::U8(indices) => indices.len(),
            Self::U16(indices) => 2 * indices.len(),
            Self::U32(indices) => 4 * indices.len(),
            Self::Bytes16(bytes) | Self::Bytes32(bytes) => bytes.len(),
        }
    }

    /// Bytes of one index.
    pub(crate) const fn width(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) | Self::Bytes16(_) => 2,
            Self::U32(_) | Self::Bytes32(_) => 4,
        }
    }

    /// The index at a position; 0 beyond the end.
    pub(crate) fn at(&self, place: usize) -> u32 {
        let found = match self {
            Self::U8(indices) => indices.get(place).map(|&index| u32::from(index)),
            Self::U16(indices) => indices.get(place).map(|&index| u32::from(index)),
            Self::U32(indices) => indices.get(place).copied(),
            Self::Bytes16(bytes) => bytes.as_chunks().0.get(place).map(|&index| u32::from(u16::from_le_bytes(index))),
            Self::Bytes32(bytes) => bytes.as_chunks().0.get(place).map(|&index| u32::from_le_bytes(index)),
        };
        found.unwrap_or(0)
    }

    /// Position of the first index that is not less than `vertices`.
    pub(crate) fn first_beyond(&self, vertices: u32) -> Option<usize> {
        match self {
            // No index of this width can be out of range.
            Self::U8(_) if vertices > u32::from(u8::MAX) => None,
            Self::U16(_) | Self::Bytes16(_) if vertices > u32::from(u16::MAX) => None,
            Self::U8(indices) => indices.iter().position(|&index| u32::from(index) >= vertices),
            Self::U16(indices) => indices.iter().position(|&index| u32::from(index) >= vertices),
            Self::U32(indices) => indices.iter().position(|&index| index >= vertices),
            Self::Bytes16(bytes) => {
                bytes.as_chunks().0.iter().position(|&index| u32::from(u16::from_le_bytes(index)) >= vertices)
            }
            Self::Bytes32(bytes) => bytes.as_chunks().0.iter().position(|&index| u32::from_le_bytes(index) >= vertices),
        }
    }

    /// Bytes as the hardware reads them: 8-bit indices unchanged, all others as 16 bits. All are less than 65,536.
    pub(crate) fn stored(&self) -> Cow<'a, [u8]> {
        let narrowed = |index: u32| (index as u16).to_le_bytes();
        match *self {
            Self::U8(bytes) | Self::Bytes16(bytes) => Cow::Borrowed(bytes),
            Self::U16(indices) => indices.iter().flat_map(|index| index.to_le_bytes()).collect(),
            Self::U32(indices) => indices.iter().flat_map(|&index| narrowed(index)).collect(),
            Self::Bytes32(bytes) => {
                bytes.as_chunks().0.iter().flat_map(|&index| narrowed(u32::from_le_bytes(index))).collect()
            }
        }
    }
}

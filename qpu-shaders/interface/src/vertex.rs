//! Memory layout of vertices.

use alloc::vec::Vec;
use half::f16;

/// A vertex with its memory layout.
pub trait VertexData {
    /// Bytes of one vertex, a multiple of 4.
    const BYTES: usize;

    /// Appends the vertex's words.
    fn push(&self, words: &mut Vec<u32>);

    /// The same with the index of the vertex, which is one of the words if a shader reads it.
    fn push_numbered(&self, _number: u32, words: &mut Vec<u32>) {
        self.push(words);
    }
}

/// One attribute: its position in a vertex in memory, and in a vertex's column in the VPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name in the source.
    pub name: &'static str,
    /// Size in bytes.
    pub bytes: u16,
    /// Offset in the vertex in memory, in bytes.
    pub memory_offset: u32,
    /// Offset in the column that the vertex shader reads, in bytes.
    pub vertex_offset: u8,
    /// Offset in the column that the coordinate shader reads, in bytes, if it reads the attribute.
    pub coordinate_offset: Option<u8>,
}

impl Attribute {
    /// Maximum number of attribute arrays in a shader record, and maximum number of bytes of an array [AG p.79].
    pub const MAX_ARRAYS: usize = 8;
    const MAX_BYTES: u16 = 256;

    /// Merges this attribute and the next one into one array, if they are adjacent in memory and in what each shader reads: the coordinate shader reads
    /// either both, adjacent in its column, or neither.
    #[must_use]
    pub fn joined(&self, next: &Self) -> Option<Self> {
        let bytes = self.bytes.checked_add(next.bytes).filter(|bytes| *bytes <= Self::MAX_BYTES)?;
        let is_behind = |offset: u8, other: u8| u16::from(offset) + self.bytes == u16::from(other);
        let together = self.bytes.is_multiple_of(4)
            && self.memory_offset + u32::from(self.bytes) == next.memory_offset
            && is_behind(self.vertex_offset, next.vertex_offset)
            && match (self.coordinate_offset, next.coordinate_offset) {
                (Some(offset), Some(other)) => is_behind(offset, other),
                (None, None) => true,
                _ => false,
            };
        together.then_some(Self { bytes, ..*self })
    }

    /// Merges attributes into shared arrays, as [`Attribute::joined`] does with two, if there are more of them than a record has arrays. Returns the number
    /// of arrays, which are at the start of the slice.
    pub fn share_arrays(attributes: &mut [Self]) -> usize {
        if attributes.len() <= Self::MAX_ARRAYS {
            return attributes.len();
        }
        let mut count = 0usize;
        for at in 0..attributes.len() {
            let next = attributes[at];
            match count.checked_sub(1).and_then(|last| attributes[last].joined(&next).map(|both| (last, both))) {
                Some((last, both)) => attributes[last] = both,
                None => {
                    attributes[count] = next;
                    count += 1;
                }
            }
        }
        count
    }
}

/// A component of an attribute: a number of 1, 2 or 4 bytes.
pub trait AttributeComponent: Copy {
    /// Components per word of 32 bits.
    const IN_A_WORD: usize;

    /// Its bits, zero-extended.
    fn bits(self) -> u32;
}

impl AttributeComponent for f32 {
    const IN_A_WORD: usize = 1;

    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl AttributeComponent for f16 {
    const IN_A_WORD: usize = 2;

    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }
}

/// Integers, each with the unsigned integer of the same size.
macro_rules! integer_components {
    ($($integer:ty as $unsigned:ty: $in_a_word:literal,)*) => {$(
        impl AttributeComponent for $integer {
            const IN_A_WORD: usize = $in_a_word;

            fn bits(self) -> u32 {
                u32::from(self as $unsigned)
            }
        }
    )*};
}

integer_components! {
    i8 as u8: 4,
    u8 as u8: 4,
    i16 as u16: 2,
    u16 as u16: 2,
    i32 as u32: 1,
    u32 as u32: 1,
}

/// Appends an attribute in its memory layout: whole words, the first component in the lowest bits.
pub fn push_attribute<C: AttributeComponent, const N: usize>(attribute: &[C; N], words: &mut Vec<u32>) {
    let bits = 32 / C::IN_A_WORD;
    words.extend(attribute.chunks(C::IN_A_WORD).map(|components| {
        let parts = components.iter().enumerate();
        parts.fold(0, |word, (index, component)| word | component.bits() << (bits * index))
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes in memory are those of C arrays of the same numbers, padded to multiples of 4.
    #[test]
    fn components_stand_in_memory_one_behind_the_other() {
        let mut words = Vec::new();
        push_attribute(&[1.0f32, -2.0], &mut words);
        push_attribute(&[1u8, 2, 3], &mut words);
        push_attribute(&[-1i8, 2, -3, 4, -5], &mut words);
        push_attribute(&[-2i16, 3, 0x1234], &mut words);
        push_attribute(&[f16::from_f32(1.0), f16::from_f32(-0.5)], &mut words);
        push_attribute(&[-1i32], &mut words);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let expected: [&[u8]; 6] = [
            &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0],
            &[1, 2, 3, 0],
            &[0xff, 2, 0xfd, 4, 0xfb, 0, 0, 0],
            &[0xfe, 0xff, 3, 0, 0x34, 0x12, 0, 0],
            &[0x00, 0x3c, 0x00, 0xb8],
            &[0xff; 4],
        ];
        assert_eq!(bytes, expected.concat());
    }

    /// Attributes of given sizes in words, one after the other; the second number is 1 for those that the coordinate shader reads.
    fn attributes(sizes: &[(u16, u8)]) -> Vec<Attribute> {
        let (mut offset, mut in_coordinate) = (0, 0);
        let place = |&(words, read): &(u16, u8)| {
            let attribute = Attribute {
                name: "",
                bytes: 4 * words,
                memory_offset: u32::from(offset),
                vertex_offset: offset,
                coordinate_offset: (read == 1).then_some(in_coordinate),
            };
            offset += 4 * words as u8;
            in_coordinate += 4 * words as u8 * read;
            attribute
        };
        sizes.iter().map(place).collect()
    }

    fn check(sizes: &[(u16, u8)], expected: &[(u16, u8)]) {
        let mut shared = attributes(sizes);
        let count = Attribute::share_arrays(&mut shared);
        assert_eq!(shared[..count], attributes(expected), "{sizes:?}");
    }

    #[test]
    fn neighbours_share_an_array_if_there_are_too_many() {
        let eight = [(3, 1), (2, 1), (3, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1)];
        check(&eight, &eight);
        // The vertex and the instance of a tutorial: a 4x4 matrix for positions, and a 3x3 matrix for normals.
        let instances = [(3, 1), (2, 0), (3, 0), (4, 1), (4, 1), (4, 1), (4, 1), (3, 0), (3, 0), (3, 0)];
        check(&instances, &[(3, 1), (5, 0), (16, 1), (9, 0)]);
        let in_turn: Vec<(u16, u8)> = (0..9).map(|at| (1, at % 2)).collect();
        check(&in_turn, &in_turn);
    }

    #[test]
    fn attributes_that_are_apart_do_not_share() {
        let [first, second] = [(1, 1), (1, 1)].map(|size| attributes(&[size])[0]);
        assert_eq!(first.joined(&second), None, "both are at the start");
        let next = Attribute { memory_offset: 4, vertex_offset: 4, coordinate_offset: Some(4), ..second };
        assert_eq!(first.joined(&next), Some(Attribute { bytes: 8, ..first }));
        assert_eq!(first.joined(&Attribute { memory_offset: 8, ..next }), None);
        assert_eq!(first.joined(&Attribute { coordinate_offset: Some(8), ..next }), None);
        assert_eq!(first.joined(&Attribute { coordinate_offset: None, ..next }), None);
        assert_eq!(first.joined(&Attribute { bytes: 253, ..next }), None, "257 bytes");
    }
}

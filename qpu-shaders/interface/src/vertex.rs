//! Memory layout of vertices.

use alloc::vec::Vec;
use half::f16;

/// A vertex with its memory layout.
pub trait VertexData {
    /// Bytes of one vertex, a multiple of 4.
    const BYTES: usize;

    /// Appends the vertex's words.
    fn push(&self, words: &mut Vec<u32>);

    /// The same for the vertex with a number, which is one of the words if a shader asks for it.
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

/// Integers, by the unsigned integer of their size.
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
}

//! Block access: how a QPU reads and writes vectors of 16 elements.
//!
//! A block is a sequence of vectors, each at a fixed stride from the one before. The address of a vector counts sub-vectors: below the row (and, in
//! vertical access, the column) are one bit for the half-word or two for the byte. Packed sub-vectors are 16 successive elements of a row or column;
//! laned ones are the same half-word or byte of 16 words.
//!
//! # Sources
//! [AG p.53-58], figures 8 and 9.

use super::{Vpm, VpmAddress, VpmError, get, set};
use crate::qpu::lanes::{Lanes, Mask};
use v3d_hw::qpu::LANES;
use v3d_hw::vpm::{ElementSize, Location, ReadSetup, WriteSetup};

/// Position of the next vector of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    horizontal: bool,
    laned: bool,
    size: ElementSize,
    address: u8,
    stride: u8,
}

impl Cursor {
    /// The first vector of a block to be read; `None` for the reserved element size.
    pub fn to_read(setup: &ReadSetup) -> Option<Self> {
        let ReadSetup { stride, horizontal, laned, size, address, .. } = *setup;
        Self::new(horizontal, laned, size, address, stride)
    }

    /// The first vector of a block to be written; `None` for the reserved element size.
    pub fn to_write(setup: &WriteSetup) -> Option<Self> {
        let WriteSetup { stride, horizontal, laned, size, address, .. } = *setup;
        Self::new(horizontal, laned, size, address, stride)
    }

    fn new(horizontal: bool, laned: bool, size: ElementSize, address: u8, stride: u8) -> Option<Self> {
        let stride = if stride == 0 { 64 } else { stride };
        (!matches!(size, ElementSize::Reserved(_))).then_some(Self { horizontal, laned, size, address, stride })
    }

    /// Moves on to the next vector; row 63 is followed by row 0.
    pub fn advance(&mut self) {
        let bits = match self.size {
            ElementSize::Bits8 => 0xff,
            ElementSize::Bits16 => 0x7f,
            _ => 0x3f,
        };
        self.address = self.address.wrapping_add(self.stride) & bits;
    }

    /// Reads the vector.
    pub fn read(&self, vpm: &Vpm) -> Result<Lanes, VpmError> {
        if self.horizontal && self.size == ElementSize::Bits32 {
            return vpm.row(u32::from(self.address & 63)).copied();
        }
        let mut vector = Lanes::default();
        for (element, value) in vector.0.iter_mut().enumerate() {
            *value = get(vpm, self.place(element as u32), self.bytes())?;
        }
        Ok(vector)
    }

    /// Writes the elements of `mask` of the vector.
    pub fn write(&self, vpm: &mut Vpm, vector: &Lanes, mask: Mask) -> Result<(), VpmError> {
        if self.horizontal && self.size == ElementSize::Bits32 {
            let row = vpm.row_of_bytes_mut(u32::from(self.address & 63), bytes_of_words(mask))?;
            *row = row.select(*vector, mask);
            return Ok(());
        }
        for element in (0..LANES).filter(|element| mask >> element & 1 == 1) {
            set(vpm, self.place(element as u32), self.bytes(), vector.0[element])?;
        }
        Ok(())
    }

    const fn bytes(&self) -> u32 {
        match self.size {
            ElementSize::Bits8 => 1,
            ElementSize::Bits16 => 2,
            _ => 4,
        }
    }

    /// Address of an element of the vector.
    fn place(&self, element: u32) -> VpmAddress {
        let Location { y, x, part } = Location::unpack(self.address, self.horizontal, self.size).unwrap_or_default();
        let (row, column, part) = (u32::from(y), u32::from(x), u32::from(part));
        let bytes = self.bytes();
        // Bytes along the vector in front of the element.
        let (words, byte) = if self.laned || bytes == 4 {
            (element, part * bytes)
        } else {
            let offset = (part * LANES as u32 + element) * bytes;
            (offset / 4, offset % 4)
        };
        if self.horizontal {
            VpmAddress { row, column: column + words, byte }
        } else {
            VpmAddress { row: row + words, column, byte }
        }
    }
}

/// The bits of the bytes of the words of `mask`.
fn bytes_of_words(mask: Mask) -> u64 {
    if mask == !0 {
        return u64::MAX;
    }
    (0..LANES).filter(|word| mask >> word & 1 == 1).fold(0, |bytes, word| bytes | 0xf << (4 * word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes elements 1 to 16 to an empty array, and lists the changes: row, column, byte and element number.
    fn written(horizontal: bool, laned: bool, size: ElementSize, location: Location) -> Vec<(u32, u32, u32, u32)> {
        let mut vpm = Vpm::new(4, 64);
        let address = location.pack(horizontal, size).unwrap();
        let cursor = Cursor::new(horizontal, laned, size, address, 1).unwrap();
        let vector = Lanes::ELEMENT_NUMBERS.map(|element| (element + 1) * 0x0101_0101);
        cursor.write(&mut vpm, &vector, !0).unwrap();
        let read = cursor.read(&vpm).unwrap();
        let bits = u32::MAX >> (32 - 8 * cursor.bytes());
        assert_eq!(read, vector.map(|value| value & bits));
        let mut places = Vec::new();
        for (row, words) in vpm.rows().iter().enumerate() {
            for (column, word) in words.0.iter().enumerate() {
                for (byte, value) in word.to_le_bytes().into_iter().enumerate() {
                    if value != 0 {
                        places.push((row as u32, column as u32, byte as u32, u32::from(value) - 1));
                    }
                }
            }
        }
        places.sort_by_key(|&(.., element)| element);
        places
    }

    fn expect(elements: impl Fn(u32) -> Vec<(u32, u32, u32)>) -> Vec<(u32, u32, u32, u32)> {
        (0..16).flat_map(|element| elements(element).into_iter().map(move |(y, x, b)| (y, x, b, element))).collect()
    }

    #[test]
    fn figure_8_horizontal_modes() {
        let at = |y, part| Location { y, x: 0, part };
        let a = written(true, false, ElementSize::Bits8, at(0, 2));
        assert_eq!(a, expect(|e| vec![(0, 8 + e / 4, e % 4)]));
        let b = written(true, true, ElementSize::Bits8, at(1, 1));
        assert_eq!(b, expect(|e| vec![(1, e, 1)]));
        let c = written(true, true, ElementSize::Bits16, at(2, 0));
        assert_eq!(c, expect(|e| vec![(2, e, 0), (2, e, 1)]));
        let d = written(true, false, ElementSize::Bits16, at(3, 1));
        assert_eq!(d, expect(|e| vec![(3, 8 + e / 2, e % 2 * 2), (3, 8 + e / 2, e % 2 * 2 + 1)]));
        let e = written(true, false, ElementSize::Bits32, at(63, 0));
        assert_eq!(e, expect(|e| (0..4).map(|byte| (63, e, byte)).collect()));
    }

    #[test]
    fn figure_9_vertical_modes() {
        let at = |y, x, part| Location { y, x, part };
        let a = written(false, false, ElementSize::Bits8, at(0, 0, 1));
        assert_eq!(a, expect(|e| vec![(4 + e / 4, 0, e % 4)]));
        let b = written(false, true, ElementSize::Bits8, at(0, 1, 2));
        assert_eq!(b, expect(|e| vec![(e, 1, 2)]));
        let c = written(false, true, ElementSize::Bits16, at(0, 2, 0));
        assert_eq!(c, expect(|e| vec![(e, 2, 0), (e, 2, 1)]));
        let d = written(false, false, ElementSize::Bits16, at(0, 15, 1));
        assert_eq!(d, expect(|e| vec![(8 + e / 2, 15, e % 2 * 2), (8 + e / 2, 15, e % 2 * 2 + 1)]));
        let e = written(false, false, ElementSize::Bits32, at(16, 1, 0));
        assert_eq!(e, expect(|e| (0..4).map(|byte| (16 + e, 1, byte)).collect()));
    }

    #[test]
    fn addresses_wrap_beyond_row_63() {
        let mut cursor = Cursor::new(true, false, ElementSize::Bits32, 62, 3).unwrap();
        cursor.advance();
        assert_eq!(cursor.address, 1);
        // A stride of 0 means 64: the same row of 32-bit vectors, 16 rows on for bytes.
        let mut cursor = Cursor::new(true, false, ElementSize::Bits8, 0, 0).unwrap();
        cursor.advance();
        assert_eq!(cursor.place(0).row, 16);
    }

    #[test]
    fn nothing_outside_of_the_window_is_written() {
        let mut vpm = Vpm::new(12, 4);
        let cursor = Cursor::new(true, false, ElementSize::Bits32, 4, 1).unwrap();
        let outside = VpmError::WriteOutside { row: 4, rows: 4 };
        assert_eq!(cursor.write(&mut vpm, &Lanes::splat(1), !0), Err(outside));
        vpm.set_window(64);
        assert_eq!(cursor.read(&vpm), Ok(Lanes::default()));
    }
}

//! VDR: DMA from memory to the VPM; the part of the VCD that programs can use.
//!
//! A block has rows of elements that are successive in memory; the next row begins one pitch further. In the VPM a row goes along a row of words or,
//! in vertical mode, down a column; narrow elements are packed. The address of the next row is the old one plus VPITCH, where the lowest bits of an
//! address of narrow elements select the sub-vector, as in block access.
//!
//! # Sources
//! [AG p.59-60].

use super::{Vpm, VpmAddress, VpmError, set};
use crate::memory::Memory;
use v3d_hw::BusAddr;
use v3d_hw::vpm::{LoadSetup, LoadStrideSetup, ROW_WORDS};

/// Loads a block from `address`, as far as possible; returns the first error.
pub fn load(
    vpm: &mut Vpm,
    setup: &LoadSetup,
    stride: &LoadStrideSetup,
    address: u32,
    memory: Memory<'_>,
) -> Result<(), VpmError> {
    let bytes = setup.mode.bytes();
    let parts = 4 / bytes;
    let or_16 = |value: u8| if value == 0 { 16 } else { u32::from(value) };
    let (rows, length, vpitch) = (or_16(setup.rows), or_16(setup.row_length), or_16(setup.vpitch));
    let pitch = if setup.mpitch == 0 { u32::from(stride.mpitchb) } else { 8 << setup.mpitch };
    let mut result = Ok(());
    if !address.is_multiple_of(bytes) {
        result = Err(VpmError::Alignment(address));
    }
    let start = address & !(bytes - 1);
    for row in 0..rows {
        let source = start.wrapping_add(row.wrapping_mul(pitch));
        // Row and sub-vector are one number.
        let vector = u32::from(setup.y) * parts + setup.mode.part() + row * vpitch;
        for element in 0..length {
            let offset = (vector % parts * ROW_WORDS + element) * bytes;
            let (words, byte) = (offset / 4, offset % 4);
            let (y, x) = (vector / parts, u32::from(setup.x));
            let place = if setup.vertical {
                VpmAddress { row: y + words, column: x, byte }
            } else {
                VpmAddress { row: y + (x + words) / ROW_WORDS, column: (x + words) % ROW_WORDS, byte }
            };
            let at = BusAddr(source.wrapping_add(element * bytes));
            let value = match bytes {
                1 => memory.byte(at).map(u32::from),
                2 => memory.half(at).map(u32::from),
                _ => memory.word(at),
            };
            let loaded = value.map_err(VpmError::from).and_then(|value| set(vpm, place, bytes, value));
            result = result.and(loaded);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use v3d_hw::Layout;

    fn loaded(setup: u32, stride: u32) -> Vpm {
        let owned = OwnedMemory::new(4096);
        for i in 0..1024 {
            owned.view().set_word(BusAddr(4 * i), 0x100 + i).unwrap();
        }
        let mut vpm = Vpm::new(4, 64);
        let (setup, stride) = (LoadSetup::from_word(setup), LoadStrideSetup::from_word(stride));
        load(&mut vpm, &setup, &stride, 0xc000_0000, owned.view()).unwrap();
        vpm
    }

    fn filled(vpm: &Vpm) -> usize {
        vpm.rows().iter().flat_map(|row| row.0).filter(|&word| word != 0).count()
    }

    #[test]
    fn rows_go_to_rows() {
        // 3 rows of 16 words, 64 bytes apart, to every second row from 4 on.
        let vpm = loaded(1 << 31 | 3 << 24 | 3 << 16 | 2 << 12 | 4 << 4, 9 << 28);
        assert_eq!(filled(&vpm), 48);
        for row in 0..3u32 {
            for column in 0..16 {
                assert_eq!(vpm.row(4 + 2 * row).unwrap().0[column as usize], 0x100 + 16 * row + column);
            }
        }
    }

    #[test]
    fn rows_go_down_columns() {
        // 2 rows of 16 words, 100 bytes apart, to column 7, the second 16 rows further.
        let vpm = loaded(1 << 31 | 2 << 16 | 1 << 11 | 7, 9 << 28 | 100);
        assert_eq!(filled(&vpm), 32);
        for element in 0..16 {
            assert_eq!(vpm.row(element).unwrap().0[7], 0x100 + element);
            assert_eq!(vpm.row(16 + element).unwrap().0[7], 0x100 + 25 + element);
        }
    }

    #[test]
    fn bytes_are_packed_four_vectors_to_a_row() {
        // 5 rows of 16 bytes, 16 bytes apart, to sub-vector 1 of row 2 and on.
        let vpm = loaded(1 << 31 | 5 << 28 | 1 << 24 | 5 << 16 | 1 << 12 | 2 << 4, 9 << 28);
        for word in 0..20usize {
            let place = 4 + word;
            assert_eq!(vpm.row(2 + place as u32 / 16).unwrap().0[place % 16], 0x100 + word as u32);
        }
        assert_eq!(filled(&vpm), 20);
    }
}

//! VDW: stores blocks of the VPM to memory.
//!
//! A block has rows of elements that are successive in memory. In the VPM a row runs along a row of words, or, in vertical mode, down a column;
//! narrow elements are packed. The next row of the block begins one row (column) further, or, in block mode, where the last one ended.
//!
//! # Surprises
//! - The stride is from the end of a row to the start of the next, where the load's pitch is from start to start.
//! - The guide's stride field has 13 bits; silicon has 16 [vc4asm].
//!
//! # Sources
//! [AG p.58-59].

use super::{Place, Vpm, VpmError, get};
use crate::memory::Memory;
use v3d_hw::BusAddr;
use v3d_hw::vpm::{ROW_WORDS, StoreSetup, StoreStrideSetup};

/// Stores a block to `address`; the first error is given back, and everything that can be stored is.
pub fn store(
    vpm: &Vpm,
    setup: &StoreSetup,
    stride: &StoreStrideSetup,
    address: u32,
    memory: Memory<'_>,
) -> Result<(), VpmError> {
    let bytes = setup.mode.bytes();
    let part = setup.mode.part() * bytes;
    let rows = if setup.units == 0 { 128 } else { u32::from(setup.units) };
    let length = if setup.depth == 0 { 128 } else { u32::from(setup.depth) };
    let mut result = Ok(());
    if setup.laned {
        result = Err(VpmError::StoreLaned);
    }
    if !address.is_multiple_of(bytes) {
        result = Err(VpmError::Alignment(address));
    }
    let mut target = address & !(bytes - 1);
    for row in 0..rows {
        for element in 0..length {
            let along = if stride.block_mode { row * length + element } else { element };
            let across = if stride.block_mode { 0 } else { row };
            let offset = part + along * bytes;
            let place = locate(setup, offset, across);
            let stored = get(vpm, place, bytes).and_then(|value| {
                let at = BusAddr(target);
                match bytes {
                    1 => memory.set_byte(at, value as u8)?,
                    2 => memory.set_half(at, value as u16)?,
                    _ => memory.set_word(at, value)?,
                }
                Ok(())
            });
            result = result.and(stored);
            target = target.wrapping_add(bytes);
        }
        target = target.wrapping_add(u32::from(stride.stride));
    }
    result
}

/// The place `offset` bytes along a row of the block, `across` rows of the block further.
fn locate(setup: &StoreSetup, offset: u32, across: u32) -> Place {
    let (y, x) = (u32::from(setup.y), u32::from(setup.x));
    let (words, byte) = (offset / 4, offset % 4);
    if setup.horizontal {
        let column = x + words;
        Place { row: y + across + column / ROW_WORDS, column: column % ROW_WORDS, byte }
    } else {
        let column = x + across;
        // Beyond the last column the next 16 rows begin.
        Place { row: y + words + column / ROW_WORDS * ROW_WORDS, column: column % ROW_WORDS, byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use v3d_hw::Layout;

    /// Every word of the array holds its row in 15:8 and its column in 7:0.
    fn numbered() -> Vpm {
        let mut vpm = Vpm::new(4, 64);
        for row in 0..64 {
            for column in 0..16 {
                vpm.row_mut(row).unwrap().0[column] = row << 8 | column as u32;
            }
        }
        vpm
    }

    fn words(setup: u32, stride: u32, count: usize) -> Vec<u32> {
        let owned = OwnedMemory::new(1024);
        let (setup, stride) = (StoreSetup::from_word(setup), StoreStrideSetup::from_word(stride));
        store(&numbered(), &setup, &stride, 0xc000_0010, owned.view()).unwrap();
        (0..count).map(|i| owned.view().word(BusAddr(16 + 4 * i as u32)).unwrap()).collect()
    }

    #[test]
    fn the_documents_set_up_stores_seven_rows() {
        // 0x83904000: 7 rows of 16 words, horizontal, from the first word on.
        let stored = words(0x8390_4000, 3 << 30, 7 * 16);
        let expected: Vec<u32> = (0..7).flat_map(|row| (0..16).map(move |column| row << 8 | column)).collect();
        assert_eq!(stored, expected);
    }

    #[test]
    fn a_vertical_block_runs_down_columns() {
        // Two rows of three words, vertical, from row 16, column 5 on; 8 bytes between rows.
        let stored = words(2 << 30 | 2 << 23 | 3 << 16 | 16 << 7 | 5 << 3, 3 << 30 | 8, 8);
        assert_eq!(stored, [0x1005, 0x1105, 0x1205, 0, 0, 0x1006, 0x1106, 0x1206]);
    }

    #[test]
    fn block_mode_packs_rows_and_narrow_elements_are_packed() {
        // Four rows of two half-words from half-word 1 of row 1 on, horizontal.
        let setup = 2 << 30 | 4 << 23 | 2 << 16 | 1 << 14 | 1 << 7 | 3;
        let packed = words(setup, 3 << 30 | 1 << 16, 4);
        assert_eq!(packed, [0x0101_0000, 0x0102_0000, 0x0103_0000, 0x0104_0000]);
        let separate = words(setup, 3 << 30, 4);
        assert_eq!(separate, [0x0101_0000, 0x0201_0000, 0x0301_0000, 0x0401_0000]);
    }
}

//! VDW: DMA from the VPM to memory.
//!
//! A block has rows of elements that are successive in memory. In the VPM a row goes along a row of words or, in vertical mode, down 16 words of a
//! column; narrow elements are packed. The next row of the block begins one row (column) further.
//!
//! # Surprises
//! - The stride is from the end of a row to the start of the next, where the load's pitch is from start to start.
//! - The guide's stride field has 13 bits; silicon has 16 [vc4asm].
//! - A row that exceeds a row of the VPM or 16 words of a column wraps around to its start: seen on silicon for 32 words of a column [vc4asm issue
//!   27]. That the rest of a row wraps likewise is a guess.
//! - Block mode does not put short rows side by side. QPULib stores columns as 16 rows of one word with that bit set, and VC4C sets it for all of its
//!   stores, and both work on boards. So it is taken to concern rows of more than 16 words: they continue in the next row (column), and the next one
//!   begins after it. That is a guess; without it the guide's words would have no meaning.
//!
//! # Sources
//! [AG p.58-59], and where said.

use super::{Vpm, VpmAddress, VpmError, get};
use crate::memory::Memory;
use v3d_hw::BusAddr;
use v3d_hw::vpm::{ROW_WORDS, StoreSetup, StoreStrideSetup};

/// Bytes of the longest row: 128 words.
const MAX_ROW_BYTES: usize = 512;

/// Stores a block to `address`, as far as possible; returns the first error.
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
    let lines_of_a_row = lines(setup, part + length * bytes, stride.block_mode);
    for row in 0..rows {
        let line = row * lines_of_a_row;
        let values = (0..length).map(|element| {
            let place = locate(setup, part + element * bytes, line, stride.block_mode);
            get(vpm, place, bytes)
        });
        let mut stored = [0; MAX_ROW_BYTES];
        let whole = stored.get_mut(..(length * bytes) as usize).unwrap_or_default();
        let at_once = fill(whole, bytes, values.clone()) && memory.write(BusAddr(target), whole).is_ok();
        let one_by_one = if at_once { 0..0 } else { 0..length };
        for (element, value) in one_by_one.zip(values) {
            let at = BusAddr(target.wrapping_add(element * bytes));
            let stored = value.and_then(|value| {
                match bytes {
                    1 => memory.set_byte(at, value as u8)?,
                    2 => memory.set_half(at, value as u16)?,
                    _ => memory.set_word(at, value)?,
                }
                Ok(())
            });
            result = result.and(stored);
        }
        target = target.wrapping_add(length * bytes).wrapping_add(u32::from(stride.stride));
    }
    result
}

/// Fills a row with elements of 1, 2 or 4 bytes; `false` if one of them is not in the VPM.
fn fill(row: &mut [u8], bytes: u32, values: impl Iterator<Item = Result<u32, VpmError>>) -> bool {
    row.chunks_exact_mut(bytes as usize).zip(values).all(|(element, value)| {
        let value = value.map(|value| {
            element.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, value)| *byte = value);
        });
        value.is_ok()
    })
}

/// Start of a row of the block within its line, in words; a line is a row of the VPM or, in vertical mode, 16 words of a column.
fn start_in_line(setup: &StoreSetup) -> u32 {
    u32::from(if setup.horizontal { setup.x } else { setup.y }) % ROW_WORDS
}

/// Lines from a row of the block to the next, when a row ends `end` bytes from its first word.
fn lines(setup: &StoreSetup, end: u32, block_mode: bool) -> u32 {
    if block_mode { (start_in_line(setup) + end.div_ceil(4)).div_ceil(ROW_WORDS) } else { 1 }
}

/// Address of the byte at `offset` along a row of the block that begins `line` lines behind the first.
fn locate(setup: &StoreSetup, offset: u32, line: u32, block_mode: bool) -> VpmAddress {
    let (y, x) = (u32::from(setup.y), u32::from(setup.x));
    let (words, byte) = (offset / 4, offset % 4);
    let along = start_in_line(setup) + words;
    let line = if block_mode { line + along / ROW_WORDS } else { line };
    if setup.horizontal {
        VpmAddress { row: y + line, column: along % ROW_WORDS, byte }
    } else {
        // Behind the last column the next 16 rows begin.
        let column = x + line;
        let sixteenth_row = (y / ROW_WORDS + column / ROW_WORDS) * ROW_WORDS;
        VpmAddress { row: sixteenth_row + along % ROW_WORDS, column: column % ROW_WORDS, byte }
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
    fn narrow_elements_are_packed() {
        // Four rows of two half-words from half-word 1 of row 1 on, horizontal.
        let setup = 2 << 30 | 4 << 23 | 2 << 16 | 1 << 14 | 1 << 7 | 3;
        let expected = [0x0101_0000, 0x0201_0000, 0x0301_0000, 0x0401_0000];
        assert_eq!(words(setup, 3 << 30, 4), expected);
        assert_eq!(words(setup, 3 << 30 | 1 << 16, 4), expected, "block mode");
    }

    #[test]
    fn sixteen_rows_of_a_word_are_a_column_in_either_mode() {
        // 0x88014000: 16 rows of a word, horizontal; row 32, column 5.
        let setup = 0x8801_4000 | 32 << 7 | 5 << 3;
        let column: Vec<u32> = (32..48).map(|row| row << 8 | 5).collect();
        for stride in [0xc000_0000, 0xc001_0000] {
            assert_eq!(words(setup, stride, 16), column, "{stride:#x}");
        }
    }

    #[test]
    fn long_rows_wrap_or_go_on_in_block_mode() {
        // Two rows of 20 words, vertical, from row 16, column 15 on.
        let vertical = 2 << 30 | 2 << 23 | 20 << 16 | 16 << 7 | 15 << 3;
        let down = |first_row: u32, column: u32, count: u32| (0..count).map(move |i| (first_row + i) << 8 | column);
        let wrapped: Vec<u32> =
            down(16, 15, 16).chain(down(16, 15, 4)).chain(down(32, 0, 16)).chain(down(32, 0, 4)).collect();
        assert_eq!(words(vertical, 3 << 30, 40), wrapped);
        let packed: Vec<u32> =
            down(16, 15, 16).chain(down(32, 0, 4)).chain(down(32, 1, 16)).chain(down(32, 2, 4)).collect();
        assert_eq!(words(vertical, 3 << 30 | 1 << 16, 40), packed);

        // Two rows of 20 words, horizontal, from row 3, column 8 on.
        let horizontal = 2 << 30 | 2 << 23 | 20 << 16 | 1 << 14 | 3 << 7 | 8 << 3;
        let along = |row: u32, columns: std::ops::Range<u32>| columns.map(move |column| row << 8 | column);
        let wrapped: Vec<u32> = [3, 4].into_iter().flat_map(|row| along(row, 8..16).chain(along(row, 0..12))).collect();
        assert_eq!(words(horizontal, 3 << 30, 40), wrapped);
        let packed: Vec<u32> =
            [3, 5].into_iter().flat_map(|row| along(row, 8..16).chain(along(row + 1, 0..12))).collect();
        assert_eq!(words(horizontal, 3 << 30 | 1 << 16, 40), packed);
    }
}

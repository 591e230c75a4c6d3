//! Where the file system is on a card: the first FAT partition, or the whole card
//!
//! # Sources
//! The classic master boot record: four entries of 16 bytes from byte 446 on, each with a type at 4, the first block at 8 and their number at 12, and 0x55
//! 0xAA at the end. Microsoft's "FAT32 File System Specification" 1.03 for the first bytes of a volume.

use core::fmt;

use super::blocks::BLOCK_BYTES;

/// The types of partitions with FAT: FAT12, FAT16 and FAT32, by cylinders or by block numbers.
const FAT_TYPES: [u8; 6] = [0x01, 0x04, 0x06, 0x0b, 0x0c, 0x0e];
/// The type of the only entry on a card that is divided by a GUID partition table.
const PROTECTIVE: u8 = 0xee;

/// A range of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Number of its first block on the card.
    pub first: u32,
    /// Number of blocks, at least one.
    pub count: u32,
}

/// Why no file system was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionError {
    /// The card's first block is neither a partition table nor the start of a FAT file system.
    NoTable,
    /// The card has a GUID partition table, which is not read.
    Guid,
    /// No partition has a FAT file system.
    NoFat,
    /// The partition does not lie on the card.
    Outside(Partition),
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTable => f.write_str("the card has neither a partition table nor a FAT file system"),
            Self::Guid => f.write_str("the card has a GUID partition table, and only a master boot record is read"),
            Self::NoFat => f.write_str("the card has no partition with a FAT file system"),
            Self::Outside(Partition { first, count }) => {
                write!(f, "the card's partition of {count} blocks from number {first} on does not lie on the card")
            }
        }
    }
}

impl core::error::Error for PartitionError {}

impl Partition {
    /// Finds the partition by the first block of a card with `blocks` blocks.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(block: &[u8; BLOCK_BYTES], blocks: u32) -> Result<Self, PartitionError> {
        if block[510..] != [0x55, 0xaa] {
            return Err(PartitionError::NoTable);
        }
        // A volume begins with a jump, and says how many bytes a sector has; a table's boot code may begin with a jump, too.
        let is_volume = (block[0] == 0xeb || block[0] == 0xe9) && block[11..13] == [0, 2];
        if is_volume {
            return Ok(Self { first: 0, count: blocks });
        }
        let entries = block[446..510].as_chunks::<16>().0;
        if entries[0][4] == PROTECTIVE {
            return Err(PartitionError::Guid);
        }
        let entry = entries.iter().find(|entry| FAT_TYPES.contains(&entry[4])).ok_or(PartitionError::NoFat)?;
        let word = |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        let found = Self { first: word(8), count: word(12) };
        let lies_on_card = found.count > 0 && found.first.checked_add(found.count).is_some_and(|end| end <= blocks);
        if lies_on_card { Ok(found) } else { Err(PartitionError::Outside(found)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with entries of a type, a first block and a number of blocks.
    fn table(entries: &[(u8, u32, u32)]) -> [u8; BLOCK_BYTES] {
        let mut block = [0; BLOCK_BYTES];
        for (entry, &(kind, first, count)) in block[446..510].as_chunks_mut::<16>().0.iter_mut().zip(entries) {
            entry[4] = kind;
            entry[8..12].copy_from_slice(&first.to_le_bytes());
            entry[12..].copy_from_slice(&count.to_le_bytes());
        }
        block[510..].copy_from_slice(&[0x55, 0xaa]);
        block
    }

    #[test]
    fn the_first_fat_partition_is_taken() {
        let find = |entries: &[(u8, u32, u32)]| Partition::find(&table(entries), 10_000);
        assert_eq!(find(&[(0x0c, 2048, 1000), (0x83, 4000, 10)]), Ok(Partition { first: 2048, count: 1000 }));
        assert_eq!(find(&[(0x83, 1, 9), (0x06, 100, 9900)]), Ok(Partition { first: 100, count: 9900 }));
        assert_eq!(find(&[(0x83, 1, 9)]), Err(PartitionError::NoFat));
        assert_eq!(find(&[(0xee, 1, 9), (0x0c, 20, 20)]), Err(PartitionError::Guid));
        for (first, count) in [(100, 9901), (u32::MAX, 2), (5, 0)] {
            assert_eq!(find(&[(0x0b, first, count)]), Err(PartitionError::Outside(Partition { first, count })));
        }
    }

    #[test]
    fn a_card_without_a_table_may_be_a_volume() {
        let mut block = table(&[]);
        block[..3].copy_from_slice(&[0xeb, 0x58, 0x90]);
        assert_eq!(Partition::find(&block, 77), Err(PartitionError::NoFat));
        block[11..13].copy_from_slice(&512u16.to_le_bytes());
        assert_eq!(Partition::find(&block, 77), Ok(Partition { first: 0, count: 77 }));
        assert_eq!(Partition::find(&[0; BLOCK_BYTES], 77), Err(PartitionError::NoTable));
    }
}

//! Translation tables of the MMU: 4 KiB granule, 32-bit addresses, identity mapping
//!
//! With T0SZ = 32, the walk starts at level 1, with four entries of 1 GiB; a level 2 entry maps 2 MiB or points to a level 3 table of 512 pages.
//! [`PageTables::map`] uses 2 MiB blocks where address and length allow it, and pages elsewhere.
//!
//! This module only computes descriptors; [`crate::arch::mmu`] activates them.
//!
//! # Sources
//! ARM DDI 0487, D8.3 (descriptor formats), D8.5 (memory attributes).

use core::{fmt, ops::Range};

use super::layout::PAGE_BYTES;

/// Bytes that one level 2 entry maps.
pub const BLOCK_BYTES: usize = 2 << 20;
/// Entries of a table.
const ENTRIES: usize = 512;
/// Number of tables: one of level 1, and enough of levels 2 and 3 for the kernel's map and a framebuffer.
const TABLES: usize = 32;

/// Permitted use of a memory range; the attribute index selects a byte of `MAIR_EL1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Instructions: cached, read and execute.
    Code,
    /// Constants: cached, read-only.
    ReadOnly,
    /// Normal memory: cached, readable and writable, never executable.
    ReadWrite,
    /// Memory shared with the GPU: normal non-cacheable, so accesses may be gathered and reordered; never executable.
    Shared,
    /// Device-nGnRE: accesses are neither gathered nor reordered, and writes may be acknowledged early.
    Device,
}

/// Values of the attribute index, whose memory types [`crate::arch::mmu`] defines.
pub mod attribute_index {
    /// Normal memory, inner and outer write-back, allocating.
    pub const CACHED: u64 = 0;
    /// Normal memory, non-cacheable.
    pub const NOT_CACHED: u64 = 1;
    /// Device-nGnRE.
    pub const DEVICE: u64 = 2;
}

impl Access {
    /// Bits of a block or page descriptor, except for address and type.
    fn bits(self) -> u64 {
        const ACCESS_FLAG: u64 = 1 << 10;
        const INNER_SHAREABLE: u64 = 0b11 << 8;
        const OUTER_SHAREABLE: u64 = 0b10 << 8;
        const READ_ONLY: u64 = 0b10 << 6;
        const PRIVILEGED_EXECUTE_NEVER: u64 = 1 << 53;
        const EXECUTE_NEVER: u64 = 1 << 54;
        const NEVER: u64 = PRIVILEGED_EXECUTE_NEVER | EXECUTE_NEVER;

        let index = |index: u64| index << 2;
        ACCESS_FLAG
            | match self {
                Self::Code => index(attribute_index::CACHED) | INNER_SHAREABLE | READ_ONLY | EXECUTE_NEVER,
                Self::ReadOnly => index(attribute_index::CACHED) | INNER_SHAREABLE | READ_ONLY | NEVER,
                Self::ReadWrite => index(attribute_index::CACHED) | INNER_SHAREABLE | NEVER,
                Self::Shared => index(attribute_index::NOT_CACHED) | OUTER_SHAREABLE | NEVER,
                Self::Device => index(attribute_index::DEVICE) | OUTER_SHAREABLE | NEVER,
            }
    }
}

/// Why a range could not be mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapError {
    /// The range is empty, not on page boundaries, or beyond 4 GiB.
    BadRange(Range<usize>),
    /// Part of the range, at this address, is already mapped.
    AlreadyMapped(usize),
    /// All tables are in use.
    NoTableLeft,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRange(range) => write!(f, "{:#x}..{:#x} is not a range of whole pages", range.start, range.end),
            Self::AlreadyMapped(address) => write!(f, "{address:#x} is mapped already"),
            Self::NoTableLeft => f.write_str("all translation tables are in use"),
        }
    }
}

impl core::error::Error for MapError {}

/// A table in the MMU's format.
#[derive(Clone, Debug)]
#[repr(C, align(4096))]
struct Table([u64; ENTRIES]);

/// The tree of tables; table 0 is the root.
#[derive(Clone, Debug)]
#[repr(C, align(4096))]
pub struct PageTables {
    tables: [Table; TABLES],
    /// Number of tables in use besides the root. An empty tree is all zero, so that a static one takes no space in the image.
    beyond_root: usize,
}

impl Default for PageTables {
    fn default() -> Self {
        Self::new()
    }
}

const VALID: u64 = 1;
const TABLE_OR_PAGE: u64 = 1 << 1;
const ADDRESS_MASK: u64 = 0x0000_ffff_ffff_f000;

impl PageTables {
    /// Tables without mappings.
    #[must_use]
    pub const fn new() -> Self {
        Self { tables: [const { Table([0; ENTRIES]) }; TABLES], beyond_root: 0 }
    }

    /// Address of the root table, for `TTBR0_EL1`.
    #[must_use]
    pub fn root_address(&self) -> u64 {
        self.table_address(0)
    }

    /// Number of tables in use, and in total.
    #[must_use]
    pub fn usage(&self) -> (usize, usize) {
        (1 + self.beyond_root, TABLES)
    }

    fn table_address(&self, number: usize) -> u64 {
        &raw const self.tables[number] as u64
    }

    /// Identity-maps `range`.
    ///
    /// # Errors
    /// When the range does not consist of whole pages below 4 GiB, when part of it is already mapped, or when no table is left. Pages before the one that
    /// failed stay mapped.
    pub fn map(&mut self, range: Range<usize>, access: Access) -> Result<(), MapError> {
        let whole_pages = range.start.is_multiple_of(PAGE_BYTES) && range.end.is_multiple_of(PAGE_BYTES);
        if range.is_empty() || !whole_pages || range.end as u64 > 1 << 32 {
            return Err(MapError::BadRange(range));
        }
        let mut address = range.start;
        while address < range.end {
            let block = address.is_multiple_of(BLOCK_BYTES) && range.end - address >= BLOCK_BYTES;
            let level_2 = self.descend(0, address >> 30, address)?;
            let slot = address >> 21 & (ENTRIES - 1);
            if block {
                self.set(level_2, slot, address as u64 | access.bits() | VALID, address)?;
                address += BLOCK_BYTES;
            } else {
                let level_3 = self.descend(level_2, slot, address)?;
                let slot = address >> 12 & (ENTRIES - 1);
                self.set(level_3, slot, address as u64 | access.bits() | TABLE_OR_PAGE | VALID, address)?;
                address += PAGE_BYTES;
            }
        }
        Ok(())
    }

    /// The table to which entry `slot` of `table` points; allocated if there is none.
    fn descend(&mut self, table: usize, slot: usize, address: usize) -> Result<usize, MapError> {
        let entry = self.tables[table].0[slot];
        if entry & VALID == 0 {
            let new = 1 + self.beyond_root;
            if new == TABLES {
                return Err(MapError::NoTableLeft);
            }
            self.beyond_root += 1;
            self.tables[table].0[slot] = self.table_address(new) | TABLE_OR_PAGE | VALID;
            return Ok(new);
        }
        if entry & TABLE_OR_PAGE == 0 {
            return Err(MapError::AlreadyMapped(address));
        }
        let offset = (entry & ADDRESS_MASK) - self.table_address(0);
        Ok(offset as usize / size_of::<Table>())
    }

    fn set(&mut self, table: usize, slot: usize, entry: u64, address: usize) -> Result<(), MapError> {
        let place = &mut self.tables[table].0[slot];
        if *place & VALID != 0 {
            return Err(MapError::AlreadyMapped(address));
        }
        *place = entry;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks the tables as the MMU does; returns the last descriptor and its level.
    fn walk(tables: &PageTables, address: usize) -> Option<(u64, u32)> {
        let mut table = 0;
        for level in 1..=3u32 {
            let slot = address >> (39 - 9 * level) & (ENTRIES - 1);
            let entry = tables.tables[table].0[slot];
            if entry & 1 == 0 {
                return None;
            }
            let points_on = entry & 2 != 0;
            if level == 3 || !points_on {
                return Some((entry, level));
            }
            let next = entry & ADDRESS_MASK;
            table = (0..TABLES).find(|&n| tables.table_address(n) == next)?;
        }
        None
    }

    #[test]
    fn a_range_is_mapped_by_blocks_inside_and_pages_at_its_ends() {
        let mut tables = Box::new(PageTables::new());
        tables.map(0x001f_f000..0x0040_1000, Access::ReadWrite).unwrap();
        assert_eq!(walk(&tables, 0x001f_e000), None);
        assert_eq!(walk(&tables, 0x001f_f000).unwrap().1, 3);
        assert_eq!(walk(&tables, 0x0020_0000).unwrap().1, 2);
        assert_eq!(walk(&tables, 0x003f_f000).unwrap().1, 2);
        assert_eq!(walk(&tables, 0x0040_0000).unwrap().1, 3);
        assert_eq!(walk(&tables, 0x0040_1000), None);
        // root, one level 2, two level 3
        assert_eq!(tables.usage().0, 4);
    }

    /// Descriptors derived by hand from figures D8-14 to D8-16 of the manual.
    #[test]
    fn descriptors_carry_the_bits_of_the_manual() {
        let mut tables = Box::new(PageTables::new());
        tables.map(0x0008_0000..0x0008_1000, Access::Code).unwrap();
        tables.map(0x0008_1000..0x0008_2000, Access::ReadOnly).unwrap();
        tables.map(0x0008_2000..0x0008_3000, Access::ReadWrite).unwrap();
        tables.map(0x0800_0000..0x0820_0000, Access::Shared).unwrap();
        tables.map(0x3f00_0000..0x3f20_0000, Access::Device).unwrap();
        assert_eq!(walk(&tables, 0x0008_0000), Some((0x0040_0000_0008_0783, 3)));
        assert_eq!(walk(&tables, 0x0008_1000), Some((0x0060_0000_0008_1783, 3)));
        assert_eq!(walk(&tables, 0x0008_2000), Some((0x0060_0000_0008_2703, 3)));
        assert_eq!(walk(&tables, 0x0800_0000), Some((0x0060_0000_0800_0605, 2)));
        assert_eq!(walk(&tables, 0x3f00_0000), Some((0x0060_0000_3f00_0609, 2)));
    }

    #[test]
    fn overlaps_and_odd_ranges_are_refused() {
        let mut tables = Box::new(PageTables::new());
        tables.map(0x20_0000..0x40_0000, Access::ReadWrite).unwrap();
        assert_eq!(tables.map(0x20_0000..0x20_1000, Access::Code), Err(MapError::AlreadyMapped(0x20_0000)));
        assert_eq!(tables.map(0x20_0000..0x40_0000, Access::Code), Err(MapError::AlreadyMapped(0x20_0000)));
        assert!(matches!(tables.map(0x10..0x1000, Access::Code), Err(MapError::BadRange(_))));
        assert!(matches!(tables.map(0x1000..0x1000, Access::Code), Err(MapError::BadRange(_))));
        assert!(matches!(tables.map(0x1000..0x1_0000_1000, Access::Code), Err(MapError::BadRange(_))));
    }

    #[test]
    fn running_out_of_tables_is_an_error() {
        let mut tables = Box::new(PageTables::new());
        let failed = (0..64usize)
            .map(|n| n * BLOCK_BYTES)
            .find_map(|at| tables.map(at..at + PAGE_BYTES, Access::ReadWrite).err());
        assert_eq!(failed, Some(MapError::NoTableLeft));
    }
}

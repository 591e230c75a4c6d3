//! What the guest's CPU caches: a walk through its translation tables, for the coherence check.
//!
//! QEMU emulates no caches, so a kernel that shares cached memory with the V3D works there and fails on a board. Which memory the CPU caches is in the tables:
//! each entry selects a memory type of `MAIR_EL1`. A physical page counts as cached if any entry maps it so. The walk covers EL1 with 48-bit addresses and a
//! granule of 4 KiB, in both halves of the address space; a guest that runs at another level or with its MMU or data cache off caches nothing.
//!
//! Normal memory that is not cached is what a kernel shares with the V3D or the firmware; its virtual addresses are returned too.
//!
//! # Sources
//! ARM DDI 0487, D8.2 (address size and first level), D8.3 (descriptors), D19.2 (`MAIR_EL1`, `SCTLR_EL1`, `TCR_EL1`, `TTBRn_EL1`).

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Address bits that a level translates.
const LEVEL_BITS: u32 = 9;
/// Address bits within a page.
const PAGE_BITS: u32 = 12;
/// Address bits that an output address or a table's address can have.
const ADDRESS_MASK: u64 = 0x0000_ffff_ffff_f000;

/// The system registers that determine what the CPU caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TranslationRegisters {
    pub(crate) sctlr_el1: u64,
    pub(crate) tcr_el1: u64,
    pub(crate) mair_el1: u64,
    pub(crate) ttbr0_el1: u64,
    pub(crate) ttbr1_el1: u64,
}

/// Tables that this walk does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnknownTables {
    /// The granule is not 4 KiB.
    Granule,
    /// `TnSZ` is not 16 to 39.
    AddressSize(u32),
}

impl fmt::Display for UnknownTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the CPU caches is not checked: ")?;
        match self {
            Self::Granule => f.write_str("its translation tables have a granule other than 4 KiB"),
            Self::AddressSize(size) => write!(f, "TnSZ of TCR_EL1 is {size}, and the check knows 16 to 39"),
        }
    }
}

/// Memory by its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Map {
    /// Physical ranges that the CPU caches, in the order of their virtual addresses.
    pub(crate) cached: Vec<Range<u64>>,
    /// Virtual ranges of normal memory that it does not cache.
    pub(crate) uncached: Vec<Range<u64>>,
}

/// One half of the address space: its table, and its fields in `TCR_EL1`.
struct Half {
    table: u64,
    size: u32,
    granule: u64,
    disabled: bool,
    /// Bits of all its virtual addresses above those that are translated.
    upper_bits: u64,
}

impl TranslationRegisters {
    /// Walks through the tables. `memory` starts at address 0.
    pub(crate) fn map(&self, memory: &[AtomicU32]) -> Result<Map, UnknownTables> {
        const MMU: u64 = 1 << 0;
        const DATA_CACHE: u64 = 1 << 2;
        let mut walk = Walk { memory, mair: self.mair_el1, map: Map::default() };
        if self.sctlr_el1 & MMU == 0 || self.sctlr_el1 & DATA_CACHE == 0 {
            return Ok(walk.map);
        }
        let bits = |first: u32, count: u32| self.tcr_el1 >> first & ((1 << count) - 1);
        let lower = Half {
            table: self.ttbr0_el1,
            size: bits(0, 6) as u32,
            granule: bits(14, 2),
            disabled: bits(7, 1) == 1,
            upper_bits: 0,
        };
        let upper = Half {
            table: self.ttbr1_el1,
            size: bits(16, 6) as u32,
            // TG1 has other codes than TG0: 2 for 4 KiB, instead of 0.
            granule: bits(30, 2) ^ 2,
            disabled: bits(23, 1) == 1,
            upper_bits: u64::MAX,
        };
        for Half { table, size, granule, upper_bits, .. } in [lower, upper].into_iter().filter(|half| !half.disabled) {
            if granule != 0 {
                return Err(UnknownTables::Granule);
            }
            if !(16..=39).contains(&size) {
                return Err(UnknownTables::AddressSize(size));
            }
            let bits = 64 - size - PAGE_BITS;
            let levels = bits.div_ceil(LEVEL_BITS);
            let entries = 1 << (bits - (levels - 1) * LEVEL_BITS);
            walk.table(table & ADDRESS_MASK, 4 - levels, entries, upper_bits << (64 - size));
        }
        Ok(walk.map)
    }
}

/// A walk through tables.
struct Walk<'a> {
    memory: &'a [AtomicU32],
    mair: u64,
    map: Map,
}

impl Walk<'_> {
    /// Walks through a table of a level with a number of entries, which translate the virtual addresses from `first` on. Tables outside of memory are empty.
    fn table(&mut self, address: u64, level: u32, entries: u64, first: u64) {
        for number in 0..entries {
            let entry = self.entry(address + 8 * number);
            let bytes = 1 << (PAGE_BITS + LEVEL_BITS * (3 - level));
            let at = first.wrapping_add(number * bytes);
            match (level, entry & 3) {
                (0..=2, 3) => self.table(entry & ADDRESS_MASK, level + 1, 1 << LEVEL_BITS, at),
                (1..=2, 1) | (3, 3) => self.memory_of(entry, at, bytes),
                _ => {}
            }
        }
    }

    /// Adds the memory of a block or a page by its type.
    fn memory_of(&mut self, entry: u64, at: u64, bytes: u64) {
        const NOT_CACHED: u64 = 0b0100;
        let attribute = self.mair >> (8 * (entry >> 2 & 7)) & 0xff;
        let (outer, inner) = (attribute >> 4, attribute & 0xf);
        let (ranges, start) = match (outer, inner) {
            // Device memory.
            (0, _) => return,
            (NOT_CACHED, NOT_CACHED) => (&mut self.map.uncached, at),
            _ => (&mut self.map.cached, entry & ADDRESS_MASK & !(bytes - 1)),
        };
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end += bytes,
            _ => ranges.push(start..start.saturating_add(bytes)),
        }
    }

    fn entry(&self, at: u64) -> u64 {
        let word = |at: u64| self.memory.get(at as usize / 4).map_or(0, |word| u64::from(word.load(Relaxed)));
        word(at) | word(at + 4) << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Device-nGnRE, normal write-back, normal non-cacheable, inner non-cacheable and outer write-through.
    const MAIR: u64 = 0xa4_44_ff_04;
    const CACHED: u64 = 1 << 2;
    const NOT_CACHED: u64 = 2 << 2;
    const OUTER_CACHED: u64 = 3 << 2;
    const DEVICE: u64 = 0;
    const TABLE: u64 = 3;
    const BLOCK: u64 = 1;
    const PAGE: u64 = 3;
    /// T0SZ = 32, EPD1.
    const TCR: u64 = 32 | 1 << 23;

    /// The map with these registers, when the tables are at 0x1000 (first), 0x2000 and 0x3000 and have these entries: address, value.
    fn map(registers: TranslationRegisters, entries: &[(usize, u64)]) -> Result<Map, UnknownTables> {
        let memory: Vec<AtomicU32> = (0..0x4000).map(|_| AtomicU32::new(0)).collect();
        for &(at, entry) in entries {
            memory[at / 4].store(entry as u32, Relaxed);
            memory[at / 4 + 1].store((entry >> 32) as u32, Relaxed);
        }
        registers.map(&memory)
    }

    fn cached(registers: TranslationRegisters, entries: &[(usize, u64)]) -> Vec<Range<u64>> {
        map(registers, entries).unwrap().cached
    }

    fn on() -> TranslationRegisters {
        TranslationRegisters { sctlr_el1: 5, tcr_el1: TCR, mair_el1: MAIR, ttbr0_el1: 0x1000, ttbr1_el1: 0x1000 }
    }

    /// As the kernel's own tables: a first level of 4 entries, blocks of 2 MiB and pages.
    const ENTRIES: [(usize, u64); 9] = [
        (0x1000, 0x2000 | TABLE),
        (0x2000, 0x3000 | TABLE),
        (0x2008, 0x20_0000 | CACHED | BLOCK),
        (0x2010, 0x40_0000 | CACHED | BLOCK),
        (0x2018, 0x60_0000 | NOT_CACHED | BLOCK),
        (0x2020, 0x80_0000 | OUTER_CACHED | BLOCK),
        (0x2028, 0x3f00_0000 | DEVICE | BLOCK),
        (0x3ff0, 0x0040_0000_001f_e000 | NOT_CACHED | PAGE),
        (0x3ff8, 0x0060_0000_001f_f000 | CACHED | PAGE),
    ];

    #[test]
    fn pages_and_blocks_of_cached_types_are_found() {
        assert_eq!(cached(on(), &ENTRIES), [0x1f_f000..0x60_0000, 0x80_0000..0xa0_0000]);
        assert_eq!(map(on(), &ENTRIES).unwrap().uncached, vec![0x1f_e000..0x1f_f000, 0x60_0000..0x80_0000]);
        // A block of 1 GiB, and an entry that is not valid.
        let gigabyte = cached(on(), &[(0x1008, 0x4000_0000 | CACHED | BLOCK), (0x1010, CACHED)]);
        assert_eq!(gigabyte, std::iter::once(0x4000_0000..0x8000_0000).collect::<Vec<_>>());
        // The fifth entry of the first level does not exist with 32-bit addresses.
        assert_eq!(cached(on(), &[(0x1020, CACHED | BLOCK)]), []);
        assert_eq!(
            cached(TranslationRegisters { tcr_el1: 25 | 1 << 23, ..on() }, &[(0x1020, CACHED | BLOCK)]),
            vec![0..0x4000_0000]
        );
    }

    #[test]
    fn four_levels_and_the_upper_half_are_walked() {
        let tables = [
            (0x1ff8, 0x2000 | TABLE),
            (0x2000, 0x3000 | TABLE),
            (0x3000, 0x4000 | TABLE),
            (0x4000, 0x9000 | CACHED | PAGE),
        ];
        let upper = 16 << 16 | 2 << 30;
        let registers = TranslationRegisters { tcr_el1: upper | 1 << 7, ttbr0_el1: 0, ..on() };
        assert_eq!(cached(registers, &tables), vec![0x9000..0xa000]);
        let uncached = [&tables[..3], &[(0x4008, 0x7000 | NOT_CACHED | PAGE)]].concat();
        let start = 0xffff_ff80_0000_1000;
        assert_eq!(map(registers, &uncached).unwrap().uncached, vec![start..start + 0x1000]);
    }

    #[test]
    fn without_mmu_or_data_cache_nothing_is_cached() {
        for sctlr_el1 in [0, 1, 4] {
            assert_eq!(cached(TranslationRegisters { sctlr_el1, ..on() }, &ENTRIES), []);
        }
    }

    #[test]
    fn tables_that_lead_in_circles_or_out_of_memory_end() {
        assert_eq!(cached(on(), &[(0x1000, 0x1000 | TABLE)]), []);
        assert_eq!(cached(on(), &[(0x1000, 0x0000_ffff_ffff_f000 | TABLE)]), []);
        assert_eq!(cached(TranslationRegisters { ttbr0_el1: 0xf_fff8, ..on() }, &ENTRIES), []);
    }

    #[test]
    fn unknown_tables_are_told() {
        let told = |tcr_el1| map(TranslationRegisters { tcr_el1, ..on() }, &ENTRIES).unwrap_err().to_string();
        assert!(told(TCR | 1 << 14).contains("a granule other than 4 KiB"));
        assert!(told(40 | 1 << 23).contains("TnSZ of TCR_EL1 is 40"));
    }
}

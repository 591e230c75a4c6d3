//! Structures that QEMU and the plugin share, and a check that this QEMU uses the same layouts.
//!
//! QEMU does not guarantee the layout of `MemoryRegionOps`. But it exports constants of that type whose contents are known from its sources: they are compared
//! before a block of registers is registered.
//!
//! # Sources
//! `include/exec/memory.h` (`include/system/memory.h` since 10.1), `include/exec/cpu-common.h` (`enum device_endian`),
//! `hw/pci/pci_host.c` (`pci_host_conf_le_ops`: a read and a write function, little-endian; `pci_host_conf_be_ops`: the same,
//! big-endian), `memory.c` (`unassigned_mem_ops`: `valid.accepts` and nothing else).

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// `DEVICE_BIG_ENDIAN`.
const BIG_ENDIAN: c_int = 1;
/// `DEVICE_LITTLE_ENDIAN`.
const LITTLE_ENDIAN: c_int = 2;

/// `MemoryRegionOps.read`: owner's pointer, offset, bytes.
pub(super) type Read = extern "C" fn(*mut c_void, u64, c_uint) -> u64;
/// `MemoryRegionOps.write`: owner's pointer, offset, value, bytes.
pub(super) type Write = extern "C" fn(*mut c_void, u64, u64, c_uint);

/// The anonymous `valid` of `MemoryRegionOps`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Valid {
    min_access_size: c_uint,
    max_access_size: c_uint,
    unaligned: u8,
    accepts: *const c_void,
}

/// The anonymous `impl` of `MemoryRegionOps`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Implementation {
    min_access_size: c_uint,
    max_access_size: c_uint,
    unaligned: u8,
}

/// `MemoryRegionOps`: how QEMU accesses a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MemoryRegionOps {
    read: Option<Read>,
    write: Option<Write>,
    read_with_attrs: *const c_void,
    write_with_attrs: *const c_void,
    endianness: c_int,
    valid: Valid,
    implementation: Implementation,
}

// SAFETY: never written after its creation; its pointers are null or functions.
unsafe impl Sync for MemoryRegionOps {}

impl MemoryRegionOps {
    /// A block of little-endian registers of 32 bits: QEMU refuses every other access.
    pub(super) const fn registers(read: Read, write: Write) -> Self {
        Self {
            read: Some(read),
            write: Some(write),
            read_with_attrs: ptr::null(),
            write_with_attrs: ptr::null(),
            endianness: LITTLE_ENDIAN,
            valid: Valid { min_access_size: 4, max_access_size: 4, unaligned: 0, accepts: ptr::null() },
            implementation: Implementation { min_access_size: 4, max_access_size: 4, unaligned: 0 },
        }
    }

    /// Whether this is `pci_host_conf_le_ops` or `pci_host_conf_be_ops`.
    fn is_read_write(&self, endianness: c_int) -> bool {
        self.read.is_some()
            && self.write.is_some()
            && self.endianness == endianness
            && self.rest_is_clear()
            && self.valid.accepts.is_null()
    }

    /// Whether this is `unassigned_mem_ops`.
    fn is_unassigned(&self) -> bool {
        self.read.is_none() && self.write.is_none() && self.rest_is_clear() && !self.valid.accepts.is_null()
    }

    /// Whether everything is zero except `read`, `write`, `endianness` and `valid.accepts`.
    fn rest_is_clear(&self) -> bool {
        let (valid, implementation) = (&self.valid, &self.implementation);
        let sizes = [
            valid.min_access_size,
            valid.max_access_size,
            implementation.min_access_size,
            implementation.max_access_size,
        ];
        self.read_with_attrs.is_null()
            && self.write_with_attrs.is_null()
            && sizes == [0; 4]
            && valid.unaligned == 0
            && implementation.unaligned == 0
    }
}

/// Whether QEMU's own constants have the values that they must have if `MemoryRegionOps` has the layout defined here.
pub(super) fn is_as_written(
    little_endian: &MemoryRegionOps,
    big_endian: &MemoryRegionOps,
    unassigned: &MemoryRegionOps,
) -> bool {
    little_endian.is_read_write(LITTLE_ENDIAN) && big_endian.is_read_write(BIG_ENDIAN) && unassigned.is_unassigned()
}

/// Room for a `MemoryRegion`. Its real size is under 512 bytes from QEMU 7.2 to 11.1; only QEMU looks inside.
#[repr(C, align(16))]
pub(super) struct MemoryRegion(pub(super) [u8; 4096]);

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants as bytes: words of 8 bytes, as a dump of Debian's three programs shows them at the addresses of these
    /// symbols (7.2.22, 10.0.13, 11.1.3: the same but for where the functions are).
    fn from_words(words: [u64; 10]) -> MemoryRegionOps {
        // SAFETY: as large, and any bits are a value: pointers and integers, and functions that are never called and not null.
        unsafe { std::mem::transmute(words) }
    }

    const LITTLE: [u64; 10] = [0x7b_38a0, 0x7b_3880, 0, 0, 2, 0, 0, 0, 0, 0];
    const BIG: [u64; 10] = [0x7b_38a0, 0x7b_3880, 0, 0, 1, 0, 0, 0, 0, 0];
    const UNASSIGNED: [u64; 10] = [0, 0, 0, 0, 0, 0, 0, 0xc4_5c40, 0, 0];

    fn holds(little: [u64; 10], big: [u64; 10], unassigned: [u64; 10]) -> bool {
        is_as_written(&from_words(little), &from_words(big), &from_words(unassigned))
    }

    #[test]
    fn the_programs_of_debian_have_this_layout() {
        assert!(holds(LITTLE, BIG, UNASSIGNED));
    }

    /// An additional function at the front, other codes for endianness, an additional member before `accepts`.
    #[test]
    fn another_layout_is_noticed() {
        let later = |mut words: [u64; 10], from: usize| {
            words[from..].rotate_right(1);
            words
        };
        for from in 0..5 {
            assert!(!holds(later(LITTLE, from), later(BIG, from), later(UNASSIGNED, from)), "a word more at {from}");
        }
        assert!(!holds(LITTLE, BIG, later(UNASSIGNED, 5)));
        assert!(!holds(BIG, LITTLE, UNASSIGNED));
        let mut renumbered = LITTLE;
        renumbered[4] = 0;
        assert!(!holds(renumbered, BIG, UNASSIGNED));
    }
}

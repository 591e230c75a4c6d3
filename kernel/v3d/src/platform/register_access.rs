//! Access to the V3D's registers.
//!
//! All registers are 32 bits wide and accessed as a whole. An implementation must keep the order of accesses, and ensure that earlier writes to GPU-visible
//! memory are visible to the GPU when a register write arrives (on the Pi: a data synchronisation barrier before the store).

use v3d_hw::Layout;
use v3d_hw::registers::Register;

/// Reads and writes the V3D's registers.
pub trait RegisterAccess {
    /// The register's value. An unpowered V3D answers [`v3d_hw::registers::UNPOWERED_VALUE`], an absent one 0.
    fn read(&self, register: Register) -> u32;

    /// Writes the register. All earlier writes to [`GpuMemory`](super::GpuMemory) are visible to the GPU when this arrives.
    fn write(&self, register: Register, value: u32);
}

/// The word of a register whose values are known to fit: single bits and constants.
pub(crate) fn flags(fields: impl Layout) -> u32 {
    fields.to_word().unwrap_or(0)
}

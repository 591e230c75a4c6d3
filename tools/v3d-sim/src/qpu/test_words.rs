//! Shared by the QPU's tests: instruction words, memory that contains them, and a QPU without units.

use crate::memory::OwnedMemory;
use crate::qpu::io::Io;
use v3d_hw::BusAddr;

/// nop
pub(in crate::qpu) const NOP: u64 = 0x1000_09e7_009e_7000;
/// thrend
pub(in crate::qpu) const END: u64 = 0x3000_09e7_009e_7000;
/// brr.anyz -, -48: from the third instruction to the first.
pub(in crate::qpu) const BACK: u64 = 0xf028_09e7_ffff_ffd0;
/// sub.setf -, ra14, 1
pub(in crate::qpu) const READS_RA14: u64 = 0xd002_29e7_0d38_1dc0;
/// mov r0, unif
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(in crate::qpu) const UNIFORM_TO_R0: u64 = 0x1002_0827_1582_7d80;
/// mov tlbc, r1
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(in crate::qpu) const COLOUR: u64 = 0x1002_0ba7_159e_7240;

/// Memory of some size with instructions at its start.
pub(crate) fn memory_of(bytes: usize, words: &[u64]) -> OwnedMemory {
    let owned = OwnedMemory::new(bytes);
    for (i, word) in words.iter().enumerate() {
        owned.view().write(BusAddr(8 * i as u32), &word.to_le_bytes()).unwrap();
    }
    owned
}

/// A QPU with no units around it.
pub(in crate::qpu) struct NoUnits;

impl Io for NoUnits {}

//! Routines that compute programs call, in assembly, and which registers they use.
//!
//! What cannot be one instruction for all elements is a routine: an access of memory through the VPM and its DMA, a barrier.
//!
//! # Registers
//! `prologue.qasm` says which registers stay as they are in all of the program. A routine's link is ra14, its addresses are in ra15, 0 in elements that take no
//! part, and its result is in rb14. Those registers are not for values; r0 to r3 are as before when a routine returns.
//!
//! # Sources
//! [AG p.22] for uniforms, semaphores and the mutex, [AG p.53-60] for VPM and DMA.

use alloc::vec;
use alloc::vec::Vec;

use crate::ssa::Atomic;

/// File A: the link of routines.
pub(crate) const LINK: u8 = 14;
/// File A: addresses that a routine is given.
pub(crate) const ADDRESS: u8 = 15;
/// File B: what a routine gives, and the words that are stored in the VPM.
pub(crate) const RESULT: u8 = 14;
/// File A: the operand of an atomic operation.
pub(crate) const DATA: u8 = 25;
/// File A: the word that a compare and exchange expects.
pub(crate) const COMPARE: u8 = 24;
/// File A: the number of the workgroup along x; y and z follow.
pub(crate) const WORKGROUP: u8 = 28;
/// File A: which 16 invocations of the workgroup.
pub(crate) const PART: u8 = 31;
/// File B: the set-up word of writes to the VPM.
pub(crate) const WRITE_SETUP: u8 = 26;
/// The first register of each file that is not for values: of programs with atomic operations, and of others.
const RESERVED: [u8; 2] = [22, 26];

/// Code that a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routine {
    /// Stores words, from the VPM to memory.
    Store { words: u32, stride: u32 },
    /// Loads a word, past all caches.
    Load,
    /// Changes a word under the mutex.
    Atomic { function: Atomic, in_vpm: bool },
    /// Waits for the other programs of the workgroup.
    Barrier { programs: u32, in_vpm: bool },
    /// Fills lines of 64 bytes with 0.
    Clear { lines: u32 },
    /// Loads a word for each element from the VPM.
    VpmLoad,
    /// Stores a word of each element in the VPM, to which other programs of the workgroup may store, too.
    VpmStore { has_others: bool },
    /// Fills rows of the VPM with 0.
    VpmClear { rows: u32 },
}

impl Routine {
    /// Its source and the names that are defined for it.
    pub(crate) fn source(self) -> (&'static str, &'static str, Vec<(&'static str, u32)>) {
        match self {
            Self::Store { words, stride } => {
                ("store.qasm", include_str!("routine/store.qasm"), vec![("words", words), ("stride", stride)])
            }
            Self::Load => ("load.qasm", include_str!("routine/load.qasm"), Vec::new()),
            Self::Atomic { function, in_vpm } => (
                "atomic.qasm",
                include_str!("routine/atomic.qasm"),
                vec![("function", function as u32), ("in_vpm", in_vpm.into())],
            ),
            Self::Barrier { programs, in_vpm } => (
                "barrier.qasm",
                include_str!("routine/barrier.qasm"),
                vec![("programs", programs), ("in_vpm", in_vpm.into())],
            ),
            Self::Clear { lines } => ("clear.qasm", include_str!("routine/clear.qasm"), vec![("lines", lines)]),
            Self::VpmLoad => ("vpm_load.qasm", include_str!("routine/vpm_load.qasm"), Vec::new()),
            Self::VpmStore { has_others } => {
                ("vpm_store.qasm", include_str!("routine/vpm_store.qasm"), vec![("has_others", has_others.into())])
            }
            Self::VpmClear { rows } => ("vpm_clear.qasm", include_str!("routine/vpm_clear.qasm"), vec![("rows", rows)]),
        }
    }
}

/// The first register that is not for values in a program with these routines.
pub(crate) fn reserved_from(routines: &[Routine]) -> u8 {
    let atomic = routines.iter().any(|routine| matches!(routine, Routine::Atomic { .. }));
    RESERVED[usize::from(!atomic)]
}

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
/// File B: what a routine gives.
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
    Atomic(Atomic),
    /// Waits for the other programs of the workgroup.
    Barrier { programs: u32 },
    /// Fills lines of 64 bytes with 0.
    Clear { lines: u32 },
}

impl Routine {
    /// Its source and the names that are defined for it.
    pub(crate) fn source(self) -> (&'static str, &'static str, Vec<(&'static str, u32)>) {
        match self {
            Self::Store { words, stride } => {
                ("store.qasm", include_str!("routine/store.qasm"), vec![("words", words), ("stride", stride)])
            }
            Self::Load => ("load.qasm", include_str!("routine/load.qasm"), Vec::new()),
            Self::Atomic(function) => {
                ("atomic.qasm", include_str!("routine/atomic.qasm"), vec![("function", function as u32)])
            }
            Self::Barrier { programs } => {
                ("barrier.qasm", include_str!("routine/barrier.qasm"), vec![("programs", programs)])
            }
            Self::Clear { lines } => ("clear.qasm", include_str!("routine/clear.qasm"), vec![("lines", lines)]),
        }
    }
}

/// The first register that is not for values in a program with these routines.
pub(crate) fn reserved_from(routines: &[Routine]) -> u8 {
    let atomic = routines.iter().any(|routine| matches!(routine, Routine::Atomic(_)));
    RESERVED[usize::from(!atomic)]
}

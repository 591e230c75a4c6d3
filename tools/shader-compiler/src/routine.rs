//! Routines that compute programs call, in assembly, and the registers that they use.
//!
//! A routine implements what no single instruction can do for all elements: a memory access through the VPM and its DMA, or a barrier.
//!
//! # Registers
//! The comment of `prologue.qasm` lists the registers that are constant during the whole program. The link of a routine is ra14, its addresses are in ra15 (0
//! in inactive elements), and its result is in rb14. Those registers are reserved; a routine preserves r0 to r3.
//!
//! # Sources
//! [AG p.22] for uniforms, semaphores and the mutex, [AG p.53-60] for VPM and DMA.

use alloc::vec;
use alloc::vec::Vec;

use crate::ssa::Atomic;

/// File A: the return address of routines.
pub(crate) const LINK: u8 = 14;
/// File A: the addresses for a routine.
pub(crate) const ADDRESS: u8 = 15;
/// File B: what a routine gives, and the words that are stored in the VPM.
pub(crate) const RESULT: u8 = 14;
/// File A: the operand of an atomic operation.
pub(crate) const DATA: u8 = 25;
/// File A: the expected word of a compare and exchange.
pub(crate) const COMPARE: u8 = 24;
/// File A: the index of the workgroup along x; y and z follow.
pub(crate) const WORKGROUP: u8 = 28;
/// File A: the index of the 16 invocations in the workgroup.
pub(crate) const PART: u8 = 31;
/// File B: the set-up word of writes to the VPM.
pub(crate) const WRITE_SETUP: u8 = 26;
/// The first reserved register of each file: for programs with atomic operations, and for others.
const RESERVED: [u8; 2] = [22, 26];

/// A routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routine {
    /// Stores words, from the VPM to memory.
    Store { words: u32, stride: u32 },
    /// Loads a word, bypassing all caches.
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

/// The first reserved register in a program with these routines.
pub(crate) fn reserved_from(routines: &[Routine]) -> u8 {
    let atomic = routines.iter().any(|routine| matches!(routine, Routine::Atomic { .. }));
    RESERVED[usize::from(!atomic)]
}

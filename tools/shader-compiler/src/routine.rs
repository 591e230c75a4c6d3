//! Code around and beside a compute program's own: its begin and end, and routines that it calls, in assembly.
//!
//! A compute program runs once for each 16 invocations of its share, as a loop around all of it: the stream of uniforms begins anew each turn. What cannot be
//! one instruction for all elements is a routine: an access of memory through the VPM and its DMA, a barrier.
//!
//! # Registers
//! `prologue.qasm` says which registers stay as they are in all of the program. A routine's link is ra14, its addresses are in ra15, 0 in elements that take no
//! part, and its result is in rb14. Those registers are not for values; r0 to r3 are as before when a routine returns.
//!
//! # Sources
//! [AG p.22] for uniforms, semaphores and the mutex, [AG p.53-60] for VPM and DMA.

use naga::Span;
use qpu::{Assembly, Source};
use v3d_hw::Layout;
use v3d_hw::qpu::{Alu, Branch, BranchCondition, Instruction, Signal, address_map};

use crate::diagnostic::{Result, fault};
use crate::schedule::{Line, Scheduled};
use crate::ssa::{Atomic, Share, StreamWord};

/// File A: the link of routines.
const LINK: u8 = 14;
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
/// The register address of the stream of uniforms.
const UNIFORM: u8 = 32;

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
    fn source(self) -> (&'static str, &'static str, Vec<(&'static str, u32)>) {
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

/// Puts begin, end and routines around a program. `parts` is how many turns make a workgroup.
pub(crate) fn link(scheduled: Scheduled, routines: &[Routine], parts: u32) -> Result<Vec<Line>> {
    let mut begin =
        [Share::First(0), Share::First(1), Share::First(2), Share::Part, Share::Turns, Share::Row].into_iter();
    let mut end = [Share::Count(0), Share::Count(1), Share::Stream].into_iter();
    let mut lines = lines("prologue.qasm", include_str!("routine/prologue.qasm"), &[], &mut begin)?;
    let turn = lines.len();
    lines.extend(scheduled.lines);
    let text = include_str!("routine/epilogue.qasm");
    lines.extend(self::lines("epilogue.qasm", text, &[("parts", parts)], &mut end)?);
    // The program's end is three instructions; before them is the branch to the next turn, with three behind it.
    let again = lines.len().saturating_sub(7);
    set(&mut lines, again, branch(again, turn, BranchCondition::AnyZClear, address_map::NOP));
    let mut starts = Vec::new();
    for routine in routines {
        starts.push(lines.len());
        let (name, text, defines) = routine.source();
        lines.extend(self::lines(name, text, &defines, &mut std::iter::empty())?);
    }
    for (at, routine) in scheduled.calls {
        let at = turn + at;
        let target = starts.get(routine).copied().unwrap_or(at);
        set(&mut lines, at, branch(at, target, BranchCondition::Always, LINK));
    }
    Ok(lines)
}

fn set(lines: &mut [Line], at: usize, word: u64) {
    if let Some(line) = lines.get_mut(at) {
        line.word = word;
    }
}

fn branch(at: usize, target: usize, cond_br: BranchCondition, link: u8) -> u64 {
    let distance = target as i64 - (at as i64 + 4);
    let branch = Branch {
        sig: Signal::Branch,
        unused: 0,
        cond_br,
        rel: true,
        reg: false,
        raddr_a: 0,
        ws: false,
        waddr_add: link,
        waddr_mul: address_map::NOP,
        immediate: (distance * 8) as i32,
    };
    Instruction::Branch(branch).encode().unwrap_or_else(|_| Alu::NOP.to_bits().map_or(0, |bits| bits as u64))
}

/// Assembles a text. Its instructions read these words of the uniforms one after the other.
fn lines(
    name: &str,
    text: &str,
    defines: &[(&str, u32)],
    shares: &mut dyn Iterator<Item = Share>,
) -> Result<Vec<Line>> {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    let options = qpu::Options { defines, ..qpu::Options::default() };
    let Assembly { words, .. } = match qpu::assemble(&[Source::new(name, text)], &options) {
        Ok(assembly) => assembly,
        Err(diagnostics) => return fault(Span::default(), diagnostics),
    };
    let line = |word: u64| {
        let reads = match Instruction::decode(word) {
            Instruction::Alu(alu) => {
                alu.raddr_a == UNIFORM || alu.raddr_b == UNIFORM && alu.sig != Signal::SmallImmediate
            }
            _ => false,
        };
        let reads = if reads { shares.next().map(StreamWord::Share) } else { None };
        Line { word, span: Span::default(), reads }
    };
    Ok(words.into_iter().map(line).collect())
}

//! Programs: the memory that an instruction stream can access.
//!
//! A program reaches memory in four ways: it reads uniforms, it looks textures up, it moves VPM data by DMA, and it moves the address of its own
//! uniforms. DMA is refused. For the rest the program is followed along all its paths, twice.
//!
//! First, each program of a job is followed without its uniforms ([`walk`]): every instruction is checked against the rules of the instruction set, since the
//! behaviour of a program that breaks a rule is undefined, and its uses of uniforms are recorded, identified by their order. Then each pair of program and
//! uniforms is followed ([`uniforms`]) with the exact address of the next uniform: it starts at the shader record's address, is incremented with each uniform
//! that is read, and may be set to an address that can be computed here. So all uniforms that can be read are known, and with them the textures that can be
//! looked up.
//!
//! - Branches lead to a fixed address, where nothing is assumed about registers.
//! - A new address of the uniforms is a uniform, a constant, or the sum of both, and is not used in the two instructions that follow [AG p.20].
//! - A lookup by address adds a uniform to an offset that was limited immediately before: `max(x, 0)`, then `min` with another uniform.
//!
//! # Sources
//! [AG p.18-38], [AG p.39-43] for texture parameters; [linux vc4_validate_shaders.c] for the two patterns, which compilers therefore keep to.

mod lookups;
mod path;
mod registers;
mod rules;
mod uniforms;
mod vpm;
mod walk;

use super::{Checker, Reason};
use crate::platform::GpuMemory;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use lookups::Parameters;
use path::Path;
use v3d_hw::BusAddr;

/// The kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProgramKind {
    Fragment {
        /// Two threads share a QPU.
        threaded: bool,
    },
    Vertex,
}

/// A use of uniforms, which are numbered by their order in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// It reads the next one.
    Read,
    /// The next one is at the sum of a uniform and a constant.
    Move { uniform: Option<u32>, plus: u32 },
    /// It looks up a word between a uniform and that plus another.
    LookUpWord { base: u32, limit: u32 },
    /// It looks a texture up.
    LookUp(Parameters),
}

/// A basic block: up to a branch with its delay slots, or to the end.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Uses of uniforms, with the addresses of their instructions.
    events: Vec<(BusAddr, Event)>,
    /// The successors.
    exits: [Option<usize>; 2],
}

/// Properties of a program that do not depend on its uniforms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// Varyings that it reads, on every path; `None` if it does not end.
    pub(super) varyings: Option<u8>,
    /// Greatest number of samples of a pixel whose colour it accesses one by one.
    pub(super) samples: u8,
    /// It reads coverage.
    pub(super) reads_coverage: bool,
    /// It is declared two-threaded, and switches threads on some path.
    pub(super) switches_threads: bool,
    /// It is declared two-threaded, and ends on some path without a switch.
    pub(super) never_switches: bool,
    /// Rows of attributes that it reads.
    pub(super) input_rows: u32,
    /// Rows of shaded vertices that it writes.
    pub(super) output_rows: u32,
}

impl Facts {
    /// Called when a path reaches the program's end.
    fn ends_with(&mut self, path: &Path) -> Result<(), &'static str> {
        if path.is_in_lookup() {
            return Err("ends the program in the middle of a lookup");
        }
        if self.varyings.is_some_and(|varyings| varyings != path.varyings()) {
            return Err("ends the program with another number of varyings read than on another path");
        }
        self.varyings = Some(path.varyings());
        self.switches_threads |= path.thread_use() == Some(true);
        self.never_switches |= path.thread_use() == Some(false);
        Ok(())
    }
}

/// A program that has been followed.
#[derive(Debug)]
struct Program {
    /// The first one is the entry.
    blocks: Vec<Block>,
    facts: Facts,
}

/// The validated programs of a job.
#[derive(Debug, Default)]
pub(super) struct Programs {
    followed: BTreeMap<(ProgramKind, BusAddr), Program>,
    with_uniforms: BTreeSet<(ProgramKind, BusAddr, BusAddr)>,
}

impl Programs {
    /// Checks a program and the uniforms that it reads, unless that was done before.
    pub(super) fn check<M: GpuMemory>(
        &mut self,
        checker: &Checker<'_, M>,
        kind: ProgramKind,
        code: BusAddr,
        uniforms: BusAddr,
    ) -> Result<Facts, Reason> {
        let program = match self.followed.entry((kind, code)) {
            alloc::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            alloc::collections::btree_map::Entry::Vacant(new) => {
                checker.keep::<((ProgramKind, BusAddr), Program)>(1)?;
                new.insert(walk::walk(checker, kind, code)?)
            }
        };
        if self.with_uniforms.insert((kind, code, uniforms)) {
            checker.keep::<(ProgramKind, BusAddr, BusAddr)>(1)?;
            uniforms::check(checker, program, uniforms)?;
        }
        Ok(program.facts)
    }
}

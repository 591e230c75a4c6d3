//! Programs: what an instruction stream can reach.
//!
//! A program reaches memory in four ways: it reads uniforms, it looks textures up, it moves VPM data by DMA, and it moves the address of its own
//! uniforms. DMA is refused. For the rest the program is followed along all its paths, twice.
//!
//! First without its uniforms, once for each program of a job ([`walk`]): every instruction is held against the rules of the instruction set, since
//! nothing could be said of a program that breaks one, and what it does with uniforms is written down, which are named by their order. Then, once for
//! each pair of program and uniforms ([`uniforms`]), with the address of the next uniform known exactly at each of these places: it begins where the
//! shader record says, goes on by a word with each uniform that is read, and may be moved to an address that can be computed here. So every uniform that
//! can be read is known, and with it the textures that can be looked up.
//!
//! - Branches lead to a fixed place, and nothing is assumed there of what registers hold.
//! - A new address of the uniforms is a uniform, a constant, or the sum of both, and is not used in the two instructions that follow [AG p.20].
//! - A lookup by plain address adds a uniform to an offset that was limited just so: `max(x, 0)`, then `min` with another uniform.
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

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Fragment {
        /// Two threads share a QPU.
        threaded: bool,
    },
    Vertex,
}

/// Something that a program does with its uniforms, which are numbered by their order in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// It reads the next one.
    Read,
    /// The next one stands at the sum of a uniform and a constant.
    Move { uniform: Option<u32>, plus: u32 },
    /// It looks a word up, from a uniform to that plus another.
    LookUpWord { base: u32, limit: u32 },
    /// It looks a texture up.
    LookUp(Parameters),
}

/// A basic block of a program: up to a branch with its delay slots, or to the end.
#[derive(Clone, Debug, Default)]
struct Block {
    /// With the addresses of their instructions.
    events: Vec<(BusAddr, Event)>,
    /// The blocks behind it.
    exits: [Option<usize>; 2],
}

/// What is known of a program whatever its uniforms are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// Varyings that it reads, on every path; `None` if it does not end.
    pub(super) varyings: Option<u8>,
    /// Samples of a pixel whose colour it reads or writes one by one, at most.
    pub(super) samples: u8,
    /// It reads coverage.
    pub(super) reads_coverage: bool,
    /// Rows of attributes that it reads.
    pub(super) input_rows: u32,
    /// Rows of shaded vertices that it writes.
    pub(super) output_rows: u32,
}

impl Facts {
    /// A path has come to the program's end.
    fn ends_with(&mut self, path: &Path) -> Result<(), &'static str> {
        if path.is_in_lookup() {
            return Err("ends the program in the middle of a lookup");
        }
        if self.varyings.is_some_and(|varyings| varyings != path.varyings()) {
            return Err("ends the program with another number of varyings read than on another path");
        }
        self.varyings = Some(path.varyings());
        Ok(())
    }
}

/// A program whose paths have been followed.
#[derive(Debug)]
struct Program {
    /// The first is where it begins.
    blocks: Vec<Block>,
    facts: Facts,
}

/// The programs of a job that have been checked.
#[derive(Debug, Default)]
pub(super) struct Programs {
    followed: BTreeMap<(Kind, BusAddr), Program>,
    with_uniforms: BTreeSet<(Kind, BusAddr, BusAddr)>,
}

impl Programs {
    /// Checks a program and the uniforms that it reads, unless that was done before.
    pub(super) fn check<M: GpuMemory>(
        &mut self,
        checker: &Checker<'_, M>,
        kind: Kind,
        code: BusAddr,
        uniforms: BusAddr,
    ) -> Result<Facts, Reason> {
        let program = match self.followed.entry((kind, code)) {
            alloc::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            alloc::collections::btree_map::Entry::Vacant(new) => new.insert(walk::walk(checker, kind, code)?),
        };
        if self.with_uniforms.insert((kind, code, uniforms)) {
            uniforms::check(checker, program, uniforms)?;
        }
        Ok(program.facts)
    }
}

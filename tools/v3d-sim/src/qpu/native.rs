//! Stretches of QPU code translated to the host's own instructions.
//!
//! The engines of [`super::fast`] take one action after the other and find out for each what it is. A stretch that is executed often is worth more: here its
//! [actions](super::action) become instructions of x86-64 with AVX-512, whose registers are a vector of the QPU, and which round as the QPU does. Only what
//! [`ahead`] executes without the sequencer is translated. What needs another unit (varyings, TMU, SFU, VPM) and whatever is rare is a call back to the
//! action's own execution, so that each action has one meaning and translated code never knows more than [`ahead`] does.
//!
//! | module | what it holds |
//! |---|---|
//! | `translate` | blocks, branches, uniforms, calls |
//! | `arithmetic` | the operations |
//! | `copies` | what the host's registers hold |
//! | `frame` | what the code shares with the model while it runs |
//! | `machine` | executable memory, the way in and the way back |
//!
//! Hosts without AVX-512, and hosts that give no executable memory, do without: the results are the same.

mod arithmetic;
mod copies;
mod frame;
mod machine;
mod translate;

use super::Qpu;
use super::ahead;
use super::code::Stretch;
use super::datapath::{Datapath, Results};
use super::fast::Fast;
use super::io::Io;
use super::micro_op::MicroOp;
use super::registers::{Flags, Registers};
use super::vectors::Vectors;
use crate::memory::Memory;
pub(super) use frame::{Calls, Frame};
pub(super) use machine::{act, group};
use machine::Code;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Instructions of a stretch that are executed before it is translated: about what the translation costs.
const WORTH_TRANSLATING: u32 = 20_000;
/// Most instructions that are executed before it is looked at again whether to translate; more than a stretch has.
const SLICE: u64 = 4096;

/// Vectors that translated code can call.
pub(super) trait Translated: Vectors {
    /// The calls.
    const CALLS: Calls;
}

/// The place for the translation of a stretch.
#[derive(Debug)]
pub(super) struct Slot {
    /// Nothing in it if there can be none.
    code: OnceLock<Option<Code>>,
    executed: AtomicU32,
}

impl Slot {
    /// Nothing translated. `at_once`: not to wait until it is worth it.
    pub(super) fn new(at_once: bool) -> Self {
        Self { code: OnceLock::new(), executed: AtomicU32::new(if at_once { WORTH_TRANSLATING } else { 0 }) }
    }

    /// Whether the stretch has been executed often enough.
    fn is_worth_it(&self) -> bool {
        self.executed.load(Relaxed) >= WORTH_TRANSLATING
    }
}

/// In translated code as far as there is some, else in vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Native<V>(PhantomData<V>);

impl<V: Translated> Datapath for Native<V> {
    const TRUSTS_DECODER: bool = true;

    #[inline(always)]
    fn execute(registers: &mut Registers, flags: &mut Flags, op: &MicroOp, results: &mut Results) {
        Fast::<V>::execute(registers, flags, op, results);
    }

    #[inline(always)]
    fn run_ahead(
        qpu: &mut Qpu,
        stretch: &Stretch,
        index: usize,
        io: &mut dyn Io,
        memory: Memory<'_>,
        budget: &mut u64,
    ) -> usize {
        let slot = &stretch.native;
        let code = match slot.code.get() {
            Some(code) => code,
            None if slot.is_worth_it() => slot.code.get_or_init(|| translation(stretch)),
            None => {
                let slice = SLICE.min(*budget);
                let mut left = slice;
                let next = ahead::run::<V>(qpu, stretch, index, io, memory, &mut left);
                *budget -= slice - left;
                slot.executed.fetch_add((slice - left) as u32, Relaxed);
                return next;
            }
        };
        if let Some(code) = code
            && qpu.may_run_ahead(stretch, index)
            && let Some(block) = code.block(index)
        {
            let before = *budget;
            let next = machine::run::<V>(qpu, stretch, code, block, io, memory, budget);
            if *budget != before {
                return next;
            }
        }
        ahead::run::<V>(qpu, stretch, index, io, memory, budget)
    }
}

/// The translation of a stretch. Without one, for whatever reason, it is only slower.
fn translation(stretch: &Stretch) -> Option<Code> {
    let translation = translate::translate(stretch).ok()??;
    Code::new(&translation).ok()
}

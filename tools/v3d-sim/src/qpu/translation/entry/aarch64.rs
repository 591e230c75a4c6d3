//! Entry on AArch64: the calling convention is that of C, on every operating system with the same registers.

#![allow(unsafe_code)]

use super::{access_unit, advance, begin_group, each, execute_lookup, execute_micro_op, lookup};
use crate::memory::Memory;
use crate::qpu::block::{Block, execution};
use crate::qpu::io::Io;
use crate::qpu::isa::sfu::Function;
use crate::qpu::lanes::Lanes;
use crate::qpu::translation::frame::{Calls, Frame};
use crate::qpu::{EngineKind, Qpu};
use crate::simd::SimdTask;
use crate::simd::vectors::Portable;
use std::sync::atomic::AtomicU32;

functions_for_code!("C");

/// FPCR for the QPU's arithmetic: exceptions masked, rounding toward zero, denormals read and written as zeros. NaN is the default one, so that no result
/// depends on which operand was NaN; which one it is does not matter, since translated code finds NaN and infinities in results.
pub(super) const QPU_ROUNDING: u32 = 3 << 22 | 1 << 24 | 1 << 25;

/// Interprets, from an index of a block on, as [`execution::run`] does. Not inlined: the interpreter is large, and its caller has few registers left around it.
#[inline(never)]
pub(in crate::qpu::translation) fn interpret(
    qpu: &mut Qpu,
    block: &Block,
    at: usize,
    io: &mut dyn Io,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    execution::run::<Portable<true>>(qpu, block, at, io, memory, budget)
}

/// The calls of translated code.
pub(in crate::qpu::translation) fn calls(kind: EngineKind) -> Option<Calls> {
    (kind == EngineKind::Neon).then_some(CALLS)
}

const CALLS: Calls = Calls {
    execute_micro_op: execute_micro_op_for_code,
    execute_lookup: execute_lookup_for_code,
    look_up: look_up_for_code,
    access_unit: access_unit_for_code,
    begin_group: begin_group_for_code,
    special: [special_exp::<4>, special_log::<4>],
};

unsafe extern "C" fn execute_micro_op_for_code(frame: *mut Frame, micro_op: u32) {
    // SAFETY: translated code calls this with its own frame.
    unsafe { execute_micro_op(frame, micro_op) }
}

unsafe extern "C" fn look_up_for_code(
    frame: *mut Frame,
    which: u32,
    s: *const Lanes,
    uniform: *const AtomicU32,
) -> u32 {
    // SAFETY: translated code calls this with its own frame, a register, and a uniform.
    advance(unsafe { lookup(frame, which, s, uniform) }.and_then(|lookup| lookup.run::<Portable<true>>()))
}

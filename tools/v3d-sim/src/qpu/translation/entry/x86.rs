//! Entry on x86-64: the calling convention is that of System V on every operating system.

#![allow(unsafe_code)]

use super::{access_unit, begin_group, each, execute_lookup, execute_micro_op};
use crate::memory::Memory;
use crate::qpu::block::{Block, execution};
use crate::qpu::io::Io;
use crate::qpu::isa::sfu::Function;
use crate::qpu::translation::frame::{Calls, Frame};
use crate::qpu::{EngineKind, Qpu};
use crate::simd::vectors::Portable;

/// The entry of translated code: takes the frame and a segment's address, returns the index of the next instruction.
pub(super) type Entry = unsafe extern "sysv64" fn(*mut Frame, *const u8) -> u32;
/// A call back for a micro-op: the frame, and the micro-op's index in the block.
pub(in crate::qpu) type ExecuteMicroOp = unsafe extern "sysv64" fn(*mut Frame, u32);
/// A call back before a group: the frame, and the group's index. Not 0 if its micro-ops may be executed now.
pub(in crate::qpu) type BeginGroup = unsafe extern "sysv64" fn(*mut Frame, u32) -> u32;
/// A call for results of a function that are infinite, have overflowed or are uncertain: the argument, and the place of the result. Each is a vector register
/// of the host.
pub(in crate::qpu) type SpecialResult = unsafe extern "sysv64" fn(*const u32, *mut u32);

/// MXCSR for the QPU's arithmetic: exceptions masked, rounding toward zero, denormals read and written as zeros.
pub(super) const QPU_ROUNDING: u32 = 0x1f80 | 3 << 13 | 1 << 15 | 1 << 6;

/// Interprets, from an index of a block on, as [`execution::run`] does. Not inlined: the interpreter is large, and its caller has few registers left around it.
#[inline(always)]
pub(in crate::qpu::translation) fn interpret(
    qpu: &mut Qpu,
    block: &Block,
    at: usize,
    io: &mut dyn Io,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    // SAFETY: a code cache has an engine that translates for AVX2 or more only if the host has AVX2 and FMA, which is all that the call requires.
    unsafe { interpret_avx2(qpu, block, at, io, memory, budget) }
}

#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn interpret_avx2(
    qpu: &mut Qpu,
    block: &Block,
    at: usize,
    io: &mut dyn Io,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    execution::run::<Portable<true>>(qpu, block, at, io, memory, budget)
}

/// The calls of translated code for a host that has the vectors of that kind.
pub(in crate::qpu::translation) fn calls(kind: EngineKind) -> Option<Calls> {
    match kind {
        EngineKind::Avx2 => Some(CALLS_AVX2),
        EngineKind::Avx512 => Some(CALLS_AVX512),
        EngineKind::Reference | EngineKind::Vectors | EngineKind::Neon => None,
    }
}

/// The calls of code with AVX-512. They need that, which was found before any code was made; micro-ops need no more than AVX2.
const CALLS_AVX512: Calls = Calls {
    execute_micro_op: execute_micro_op_avx2,
    execute_lookup: execute_lookup_for_code,
    access_unit: access_unit_for_code,
    begin_group: begin_group_for_code,
    special: [special_exp::<16>, special_log::<16>],
};

/// The same with AVX2.
const CALLS_AVX2: Calls = Calls { special: [special_exp::<8>, special_log::<8>], ..CALLS_AVX512 };

#[target_feature(enable = "avx2,fma")]
unsafe extern "sysv64" fn execute_micro_op_avx2(frame: *mut Frame, micro_op: u32) {
    // SAFETY: translated code calls this with its own frame.
    unsafe { execute_micro_op(frame, micro_op) }
}

unsafe extern "sysv64" fn execute_lookup_for_code(frame: *mut Frame, micro_op: u32) {
    // SAFETY: as above.
    unsafe { execute_lookup(frame, micro_op) }
}

unsafe extern "sysv64" fn access_unit_for_code(frame: *mut Frame, micro_op: u32) {
    // SAFETY: as above.
    unsafe { access_unit(frame, micro_op) }
}

unsafe extern "sysv64" fn begin_group_for_code(frame: *mut Frame, at: u32) -> u32 {
    // SAFETY: as above.
    unsafe { begin_group(frame, at) }
}

unsafe extern "sysv64" fn special_exp<const N: usize>(argument: *const u32, result: *mut u32) {
    // SAFETY: translated code calls this with two vectors of the host on its stack.
    unsafe { each::<N>(argument, result, Function::Exp) }
}

unsafe extern "sysv64" fn special_log<const N: usize>(argument: *const u32, result: *mut u32) {
    // SAFETY: as above.
    unsafe { each::<N>(argument, result, Function::Log) }
}

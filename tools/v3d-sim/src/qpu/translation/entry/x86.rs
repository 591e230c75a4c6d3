//! Entry on x86-64: the calling convention is that of System V on every operating system.

#![allow(unsafe_code)]

use super::{access_unit, advance, begin_group, each, execute_lookup, execute_micro_op, lookup};
use crate::memory::Memory;
use crate::qpu::block::{Block, execution};
use crate::qpu::io::Io;
use crate::qpu::isa::sfu::Function;
use crate::qpu::lanes::Lanes;
use crate::qpu::translation::frame::{Calls, Frame};
use crate::qpu::{EngineKind, Qpu};
use crate::simd::vectors::Portable;
use crate::simd::{avx2, avx512};
use std::sync::atomic::AtomicU32;

functions_for_code!("sysv64");

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

/// The calls of code with AVX-512. Lookups need that, which was found before any code was made; micro-ops need no more than AVX2.
const CALLS_AVX512: Calls = Calls {
    execute_micro_op: execute_micro_op_avx2,
    execute_lookup: execute_lookup_for_code,
    look_up: look_up_avx512,
    access_unit: access_unit_for_code,
    begin_group: begin_group_for_code,
    special: [special_exp::<16>, special_log::<16>],
};

/// The same with AVX2.
const CALLS_AVX2: Calls =
    Calls { look_up: look_up_avx2, special: [special_exp::<8>, special_log::<8>], ..CALLS_AVX512 };

#[target_feature(enable = "avx2,fma")]
unsafe extern "sysv64" fn execute_micro_op_avx2(frame: *mut Frame, micro_op: u32) {
    // SAFETY: translated code calls this with its own frame.
    unsafe { execute_micro_op(frame, micro_op) }
}

#[target_feature(enable = "avx2,fma,bmi1,popcnt,f16c")]
unsafe extern "sysv64" fn look_up_avx2(
    frame: *mut Frame,
    which: u32,
    s: *const Lanes,
    uniform: *const AtomicU32,
) -> u32 {
    // SAFETY: translated code calls this with its own frame, a register, and a uniform.
    advance(unsafe { lookup(frame, which, s, uniform) }.and_then(|lookup| avx2::work(lookup)))
}

#[target_feature(enable = "avx2,fma,bmi1,popcnt,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
unsafe extern "sysv64" fn look_up_avx512(
    frame: *mut Frame,
    which: u32,
    s: *const Lanes,
    uniform: *const AtomicU32,
) -> u32 {
    // SAFETY: as above.
    advance(unsafe { lookup(frame, which, s, uniform) }.and_then(|lookup| avx512::work(lookup)))
}

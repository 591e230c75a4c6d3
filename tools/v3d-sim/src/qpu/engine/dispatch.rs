//! Dispatch at run time to the best engine that the host supports.

#![allow(unsafe_code)]

use crate::memory::Memory;
#[cfg(target_arch = "aarch64")]
use crate::qpu::datapath::vector::Vectorized;
#[cfg(target_arch = "x86_64")]
use crate::qpu::translation::Translated;
use crate::qpu::{CodeCache, Exit, Io, Qpu};
#[cfg(target_arch = "x86_64")]
use crate::simd;
#[cfg(target_arch = "aarch64")]
use crate::simd::vectors::Portable;

/// Runs a program with the best engine that the host supports.
pub(in crate::qpu) fn run(
    qpu: &mut Qpu,
    io: &mut dyn Io,
    memory: Memory<'_>,
    code: &CodeCache,
    budget: &mut u64,
) -> Exit {
    #[cfg(target_arch = "x86_64")]
    if simd::has_avx2() {
        // SAFETY: `has_avx2` has just found the only feature that the call requires.
        return unsafe { run_avx2(qpu, io, memory, code, budget) };
    }
    #[cfg(target_arch = "aarch64")]
    return qpu.run_with::<Vectorized<Portable<true>>>(io, memory, code, budget);
    #[cfg(not(target_arch = "aarch64"))]
    qpu.run_baseline(io, memory, code, budget)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(qpu: &mut Qpu, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
    qpu.run_with::<Translated>(io, memory, code, budget)
}

//! The fast engine compiled for the vector instructions that the host turns out to have.
//!
//! What is built for any processor of an architecture may only use the vectors that all of them have. Here the whole engine is compiled once more
//! for x86-64 with AVX2 and FMA, and that is what runs where they are found. On AArch64 all processors have what the engine can use.

#![allow(unsafe_code)]

use super::fast::Fast;
use super::{CodeCache, Exit, Io, Qpu};
use crate::memory::Memory;

/// Runs a program with the fast engine in the best form that the host can execute.
pub(super) fn run(qpu: &mut Qpu, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the only condition of the call is that the processor has AVX2 and FMA, which has just been asked.
        return unsafe { run_avx2(qpu, io, memory, code, budget) };
    }
    qpu.run_with::<Fast<{ cfg!(target_arch = "aarch64") }>>(io, memory, code, budget)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(qpu: &mut Qpu, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
    qpu.run_with::<Fast<true>>(io, memory, code, budget)
}

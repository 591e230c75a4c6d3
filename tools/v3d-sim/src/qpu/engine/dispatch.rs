//! Dispatch at run time to the engine of a code cache.

#![allow(unsafe_code)]

use crate::memory::Memory;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::qpu::translation::{self, Translated};
use crate::qpu::{CodeCache, EngineKind, Exit, Io, Qpu};

/// Runs a program with the engine of the code cache.
pub(in crate::qpu) fn run(
    qpu: &mut Qpu,
    io: &mut dyn Io,
    memory: Memory<'_>,
    code: &CodeCache,
    budget: &mut u64,
) -> Exit {
    match code.engine() {
        EngineKind::Reference => qpu.run_reference(io, memory, code, budget),
        // SAFETY: a code cache has an engine that translates for AVX2 or more only if the host has AVX2, which is all that the call requires.
        #[cfg(target_arch = "x86_64")]
        EngineKind::Avx2 | EngineKind::Avx512 => unsafe { run_translated(qpu, io, memory, code, budget) },
        #[cfg(target_arch = "aarch64")]
        EngineKind::Neon => qpu.run_with::<Translated>(io, memory, code, budget),
        _ => qpu.run_vectors(io, memory, code, budget),
    }
}

/// Runs the program that was [restarted](Qpu::restart) in one call of translated code; whether it has ended. If not, it goes on as any other.
#[inline(always)]
pub(in crate::qpu) fn rerun<I: Io>(
    qpu: &mut Qpu,
    io: &mut I,
    memory: Memory<'_>,
    code: &CodeCache,
    budget: &mut u64,
) -> bool {
    match code.engine() {
        // SAFETY: as in `run`.
        #[cfg(target_arch = "x86_64")]
        EngineKind::Avx2 | EngineKind::Avx512 => unsafe { rerun_translated(qpu, io, memory, budget) },
        #[cfg(target_arch = "aarch64")]
        EngineKind::Neon => translation::rerun(qpu, io, memory, budget),
        _ => {
            // Hosts without translated code repeat nothing.
            let _ = (qpu, io, memory, budget);
            false
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn rerun_translated<I: Io>(qpu: &mut Qpu, io: &mut I, memory: Memory<'_>, budget: &mut u64) -> bool {
    translation::rerun(qpu, io, memory, budget)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_translated(qpu: &mut Qpu, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
    qpu.run_with::<Translated>(io, memory, code, budget)
}

//! What is compiled for the vector instructions that the host turns out to have.
//!
//! What is built for any processor of an architecture may only use the vectors that all of them have. Here the [work](SimdTask) of units is compiled again for
//! x86-64 with AVX2 and FMA, and with AVX-512. What the host has is what runs. On AArch64 all processors have what can be used.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod vectors;

#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;
use vectors::{Portable, Vectors};

/// Work of another unit that is worth compiling for the host's vectors. What `run` calls has to be inlined into it.
pub(crate) trait SimdTask {
    /// What comes out of it.
    type Output;

    /// Does it, with the vectors that this level of it may use.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// The forms of work, from the one that any processor of the architecture can execute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SimdLevel {
    /// With what all processors have.
    Baseline,
    /// Without AVX-512, which is what most hosts execute.
    Avx2,
    /// With everything that can be used.
    Avx512,
}

/// The level of work that the host can execute. Only [`SimdDispatch::limited_to`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimdDispatch(SimdLevel);

impl SimdDispatch {
    /// The host as it is.
    #[inline]
    pub(crate) fn new() -> Self {
        Self::limited_to(SimdLevel::Avx512)
    }

    /// The host as if it had nothing better than a level.
    #[inline]
    pub(crate) fn limited_to(level: SimdLevel) -> Self {
        #[cfg(target_arch = "x86_64")]
        let found = match () {
            () if has_avx512() => SimdLevel::Avx512,
            () if has_avx2() => SimdLevel::Avx2,
            () => SimdLevel::Baseline,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let found = SimdLevel::Baseline;
        Self(level.min(found))
    }

    /// Does some work.
    #[inline]
    pub(crate) fn run<W: SimdTask>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: the only condition of the calls is that the processor has what `limited_to` has found when it made `self`.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { avx512::work(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { work_avx2(work) },
            _ => work.run::<Portable<{ cfg!(target_arch = "aarch64") }>>(),
        }
    }
}

/// Whether the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
}

/// Whether the processor has what [`avx512`] and translated code need.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        has_avx2()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn work_avx2<W: SimdTask>(work: W) -> W::Output {
    work.run::<Portable<true>>()
}

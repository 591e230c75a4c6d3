//! SIMD dispatch: work compiled for several SIMD levels; the best that the host supports is chosen at run time.
//!
//! Code for any processor of an architecture may only use the vectors that all of them have. A [`SimdTask`] is compiled again for x86-64 with AVX2
//! and what comes with it ([`SimdLevel::Avx2`]), and with AVX-512. On AArch64 the baseline has everything that can be used.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod logarithm;
pub(crate) mod vectors;
pub(crate) mod words;

#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;
use vectors::{Portable, Vectors};

/// Work of a unit that is worth compiling for several SIMD levels. Everything that `run` calls has to be inlined into it.
pub trait SimdTask {
    /// Its result.
    type Output;

    /// Does the work in the vectors of a level.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// SIMD levels, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SimdLevel {
    /// What every processor of the architecture has.
    Baseline,
    /// AVX2, FMA, F16C, BMI1 and POPCNT.
    Avx2,
    /// AVX-512.
    Avx512,
}

/// Dispatches tasks to a SIMD level that the host supports. Only [`SimdDispatch::limited_to`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimdDispatch(SimdLevel);

impl SimdDispatch {
    /// The best level that the host supports.
    #[inline]
    pub(crate) fn new() -> Self {
        Self::limited_to(SimdLevel::Avx512)
    }

    /// The best level that the host supports, up to a limit.
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

    /// Runs a task.
    #[inline]
    pub(crate) fn run<W: SimdTask>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: `limited_to` has found the level when it made `self`, which is all that the calls require.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { avx512::work(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { avx2::work(work) },
            _ => work.run::<Portable<{ cfg!(target_arch = "aarch64") }>>(),
        }
    }
}

/// Whether the processor has AVX2 and FMA, and F16C, BMI1 and POPCNT, which all processors with these have.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
    })
}

/// Whether the processor has the features that [`avx512`] and translated code need.
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

/// Says in the output of the tests, once, which of them this host cannot do as they are meant.
#[cfg(test)]
pub(crate) fn report_missing_levels() {
    use std::io::Write;
    static ONCE: std::sync::Once = std::sync::Once::new();
    #[cfg(target_arch = "x86_64")]
    let missing = match () {
        () if !has_avx2() => "AVX2 and AVX-512",
        () if !has_avx512() => "AVX-512",
        () => return,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let missing = "AVX2 and AVX-512";
    // Straight to the stream: what passing tests print is not shown.
    ONCE.call_once(|| {
        let note = "tests of that SIMD level run at a lower one, and its translated code is encoded, but not executed";
        let _ = writeln!(std::io::stderr(), "note: this host has no {missing}: {note}");
    });
}

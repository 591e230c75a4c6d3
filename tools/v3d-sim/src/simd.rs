//! What is compiled for the vector instructions that the host turns out to have.
//!
//! What is built for any processor of an architecture may only use the vectors that all of them have. Here the [work](Work) of units is compiled again for
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
pub(crate) trait Work {
    /// What comes out of it.
    type Output;

    /// Does it, with the vectors that this form of it may use.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// The forms of work, from the one that any processor of the architecture can execute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// With what all processors have.
    Narrow,
    /// Without AVX-512, which is what most hosts execute.
    Medium,
    /// With everything that can be used.
    Wide,
}

/// The form of work that the host can execute. Only [`Host::limited_to`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host(Form);

impl Host {
    /// The host as it is.
    #[inline]
    pub(crate) fn new() -> Self {
        Self::limited_to(Form::Wide)
    }

    /// The host as if it had nothing better than a form.
    #[inline]
    pub(crate) fn limited_to(form: Form) -> Self {
        #[cfg(target_arch = "x86_64")]
        let found = match () {
            () if has_avx512() => Form::Wide,
            () if has_avx2() => Form::Medium,
            () => Form::Narrow,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let found = Form::Narrow;
        Self(form.min(found))
    }

    /// Does some work.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            // SAFETY: the only condition of the calls is that the processor has what `limited_to` has found when it made `self`.
            #[cfg(target_arch = "x86_64")]
            Form::Wide => unsafe { avx512::work(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Form::Medium => unsafe { work_avx2(work) },
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
fn work_avx2<W: Work>(work: W) -> W::Output {
    work.run::<Portable<true>>()
}

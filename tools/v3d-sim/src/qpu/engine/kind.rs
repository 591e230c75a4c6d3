//! The kinds of engines that a user can choose from.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::qpu::translation;
#[cfg(target_arch = "x86_64")]
use crate::simd;
use crate::simd::{SimdDispatch, SimdLevel};
use std::fmt;
use std::str::FromStr;

/// What executes QPU programs. All kinds have the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Instruction by instruction, element by element, as the guide defines them.
    Reference,
    /// Blocks of decoded instructions, in vectors that every host of this architecture has.
    Vectors,
    /// Hot blocks translated to x86-64 code with AVX2 and FMA; the units around the QPUs use no more than these, either.
    Avx2,
    /// Hot blocks translated to AArch64 code with NEON.
    Neon,
    /// Hot blocks translated to x86-64 code with AVX-512.
    Avx512,
}

/// An engine's name is unknown, or the host does not have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// No engine has this name.
    #[error("there is no engine {0:?}; the engines are {names}", names = names(&EngineKind::ALL))]
    Unknown(String),
    /// This host lacks what the engine needs.
    #[error("the engine {0} needs {needs}, which this host does not have; it has {names}", needs = .0.needs(), names = names(&EngineKind::available()))]
    Unavailable(EngineKind),
}

fn names(kinds: &[EngineKind]) -> String {
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

impl EngineKind {
    /// All kinds, the slowest first.
    pub const ALL: [Self; 5] = [Self::Reference, Self::Vectors, Self::Avx2, Self::Neon, Self::Avx512];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Vectors => "vectors",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Avx512 => "avx512",
        }
    }

    /// What a host needs for it.
    const fn needs(self) -> &'static str {
        match self {
            Self::Reference | Self::Vectors => "nothing",
            Self::Avx2 => "an x86-64 processor with AVX2 and FMA, and memory that may be executed",
            Self::Neon => "an AArch64 processor, and memory that may be executed (on macOS it is not)",
            Self::Avx512 => "an x86-64 processor with AVX-512 (F, BW, CD, DQ and VL), and memory that may be executed",
        }
    }

    /// Whether this host has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Reference | Self::Vectors => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => simd::has_avx2() && translation::is_possible(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => simd::has_avx512() && translation::is_possible(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => translation::is_possible(),
            _ => false,
        }
    }

    /// The kinds that this host has, the slowest first.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|kind| kind.is_available()).collect()
    }

    /// The fastest kind that this host has.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::Vectors)
    }

    /// The SIMD level of the units around it: none above that of the host which it is meant for, so that it is as fast here as there.
    pub(crate) fn simd(self) -> SimdDispatch {
        SimdDispatch::limited_to(if self == Self::Avx2 { SimdLevel::Avx2 } else { SimdLevel::Avx512 })
    }

    /// Whether it translates blocks to host code.
    pub const fn translates(self) -> bool {
        matches!(self, Self::Avx2 | Self::Neon | Self::Avx512)
    }
}

impl Default for EngineKind {
    /// The fastest kind that this host has.
    fn default() -> Self {
        Self::best()
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An engine by its name, if this host has it.
impl FromStr for EngineKind {
    type Err = EngineError;

    fn from_str(name: &str) -> Result<Self, EngineError> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| EngineError::Unknown(name.to_owned()))?;
        if kind.is_available() { Ok(kind) } else { Err(EngineError::Unavailable(kind)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_found_by_their_names() {
        for kind in EngineKind::available() {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "fast".parse::<EngineKind>().unwrap_err().to_string();
        assert_eq!(error, "there is no engine \"fast\"; the engines are reference, vectors, avx2, neon, avx512");
    }

    #[test]
    fn engines_of_other_hosts_are_refused_by_name() {
        let missing = EngineKind::ALL.into_iter().filter(|kind| !kind.is_available());
        for kind in missing {
            let error = kind.name().parse::<EngineKind>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("the engine {kind} needs ")), "{error}");
            assert!(error.contains("it has reference, vectors"), "{error}");
        }
        assert!(EngineKind::Reference.is_available() && EngineKind::Vectors.is_available());
        // No host has both.
        assert!(!(EngineKind::Neon.is_available() && EngineKind::Avx2.is_available()));
    }
}

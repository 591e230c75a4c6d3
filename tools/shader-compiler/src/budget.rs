//! Limits of time, memory and stack for a compilation: hostile sources are refused before they exceed them.

/// Limits of a compilation. The comment of each names the error that is reported when it is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Size of a source in bytes: [`Limit::SOURCE_SIZE`](crate::limit::Limit::SOURCE_SIZE).
    pub source_bytes: usize,
    /// Nesting depth of brackets, plus the operators of the expressions around each; the use of the stack is proportional to it: `Limit::NESTING`.
    pub nesting: usize,
    /// Number of components of constants and types, counted at each use as expressions and members of structures: `Limit::PARTS`.
    pub parts: u64,
    /// Steps of lowering, including those of attempts that are discarded: values that it requests, and copies: `Limit::WORK`. The random programs of the
    /// compiler's tests need less than a tenth of what [`Budget::LARGE`] allows.
    pub work: u64,
    /// Computations of a program: `Limit::PROGRAM_SIZE`. The longest shader of the repository has a tenth of what [`Budget::LARGE`] allows.
    pub computations: usize,
}

impl Budget {
    /// For a machine with gigabytes of memory, where each compilation has a stack of 256 MiB.
    pub const LARGE: Self =
        Self { source_bytes: 256 << 10, nesting: 1000, parts: 1 << 19, work: 1 << 22, computations: 20_000 };

    /// For a kernel that compiles on a stack of 8 MiB: several times what the longest shader of this repository needs.
    pub const SMALL: Self =
        Self { source_bytes: 64 << 10, nesting: 100, parts: 1 << 14, work: 1 << 18, computations: 5_000 };
}

impl Default for Budget {
    fn default() -> Self {
        Self::LARGE
    }
}

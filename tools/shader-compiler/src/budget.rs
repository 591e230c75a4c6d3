//! What a compilation may take of time, memory and stack: hostile sources are refused before they take more.

/// Bounds of a compilation. Each is refused by the limit that is named with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of a source: [`Limit::SOURCE_SIZE`](crate::limit::Limit::SOURCE_SIZE).
    pub source_bytes: usize,
    /// Brackets within each other, with the operators of the expression that each stands in; the stack grows with it: `Limit::NESTING`.
    pub nesting: usize,
    /// Parts that constants and types have where they are used, expressions and members of structures: `Limit::PARTS`.
    pub parts: u64,
    /// What lowering does, also for what it gives up again: values that it asks for, and what it copies: `Limit::WORK`. The random programs of the compiler's
    /// tests take less than a tenth of what [`Budget::LARGE`] allows.
    pub work: u64,
    /// Computations of a program, of which the longest shader of the repository has a tenth of what [`Budget::LARGE`] allows: `Limit::PROGRAM_SIZE`.
    pub computations: usize,
}

impl Budget {
    /// For a machine with gigabytes, where a stack of 256 MiB is taken for each compilation.
    pub const LARGE: Self =
        Self { source_bytes: 256 << 10, nesting: 1000, parts: 1 << 19, work: 1 << 22, computations: 20_000 };

    /// For a kernel that compiles on a stack of 8 MiB: several times of what the longest shader of this repository takes.
    pub const SMALL: Self =
        Self { source_bytes: 64 << 10, nesting: 100, parts: 1 << 14, work: 1 << 18, computations: 5_000 };
}

impl Default for Budget {
    fn default() -> Self {
        Self::LARGE
    }
}

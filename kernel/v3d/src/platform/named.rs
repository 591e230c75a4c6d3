//! What is at an address, for captures that carry names.

/// A thing in memory that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// An allocation of this many bytes.
    Memory {
        /// Its size.
        bytes: u32,
    },
    /// A rendering list: its pass.
    Pass,
    /// A shader record: its draw.
    Draw,
    /// A program's first instruction.
    Program {
        /// Size of its instructions.
        bytes: u32,
    },
    /// An instruction of a program: the line of the source that it and those behind it are for.
    Line,
    /// The program at this address: a word of its uniforms.
    Uniform {
        /// Number of the word.
        word: u32,
    },
}

impl Named {
    /// The word for its kind in the description of a job.
    #[must_use]
    pub const fn word_for_kind(self) -> &'static str {
        match self {
            Self::Memory { .. } => "memory",
            Self::Pass => "pass",
            Self::Draw => "draw",
            Self::Program { .. } => "program",
            Self::Line => "line",
            Self::Uniform { .. } => "uniform",
        }
    }
}

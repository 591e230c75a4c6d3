//! Why a program cannot be optimized, and where.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::assembler::Assembly;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::Span;

/// A reason not to optimize a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There are data between the instructions.
    Data,
    /// Addresses of code are used other than to branch there, so that it can be seen that code has moved.
    Addresses,
    /// The target of a branch is unknown: an absolute or computed address, or outside of the program.
    UnknownTarget,
    /// A branch goes to an address that is computed from something else than places in the code, or from too many of them.
    ComputedTarget,
    /// A branch in the delay slots of another can be taken with it.
    NestedBranch,
    /// An instruction reads the stale value of a register file port or of the mul ALU, through the address NOP.
    LeftOver,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "the program has data between its instructions",
            Self::Addresses => "this depends on where code is, other than to branch there",
            Self::UnknownTarget => "a branch goes to a place that is not known",
            Self::ComputedTarget => "this decides where a branch goes, other than by return addresses, distances between labels and an index into a table",
            Self::NestedBranch => "this branch is in the delay slots of another, and both can be taken",
            Self::LeftOver => "an instruction uses what an earlier one has left on the way to the ALUs",
        })
    }
}

/// Why a program cannot be optimized, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The reason.
    pub reason: Reason,
    /// Index of the word that is the reason, if there is one.
    pub word: Option<usize>,
    /// Source location of that word.
    pub span: Option<Span>,
}

impl Refused {
    /// A refusal caused by a word.
    pub(super) const fn at(reason: Reason, word: usize) -> Self {
        Self { reason, word: Some(word), span: None }
    }

    /// The refusal as a warning with its place.
    pub fn diagnostics(&self, assembly: &Assembly) -> Diagnostics {
        let list = vec![Diagnostic {
            code: Code::NotOptimized,
            severity: Severity::Warning,
            message: format!("not optimized: {self}"),
            span: self.span,
            related: Vec::new(),
            help: None,
        }];
        Diagnostics { list, sources: assembly.warnings.sources.clone() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl core::error::Error for Refused {}

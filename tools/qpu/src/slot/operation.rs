//! Operations of the two ALUs.

use v3d_hw::qpu::{AddOp, MulOp};

/// An operation of one of the ALUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add(AddOp),
    Mul(MulOp),
}

impl Op {
    /// The equivalent operation of the other ALU, if there is one.
    pub(super) const fn twin(self) -> Option<Self> {
        Some(match self {
            Self::Add(AddOp::Nop) => Self::Mul(MulOp::Nop),
            Self::Add(AddOp::V8adds) => Self::Mul(MulOp::V8adds),
            Self::Add(AddOp::V8subs) => Self::Mul(MulOp::V8subs),
            Self::Mul(MulOp::Nop) => Self::Add(AddOp::Nop),
            Self::Mul(MulOp::V8adds) => Self::Add(AddOp::V8adds),
            Self::Mul(MulOp::V8subs) => Self::Add(AddOp::V8subs),
            _ => return None,
        })
    }

    /// Number of sources.
    pub(super) const fn sources(self) -> usize {
        match self {
            Self::Add(op) => op.row().operands as usize,
            Self::Mul(op) => op.row().operands as usize,
        }
    }
}

//! The operations of both ALUs as one set, whichever ALU executes them.

use v3d_hw::qpu::{AddOp, MulOp};

/// An operation on vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Floating point add.
    Fadd,
    /// Floating point subtract.
    Fsub,
    /// Floating point multiply.
    Fmul,
    /// The first operand: a move.
    Move,
    /// Floating point minimum.
    Fmin,
    /// Floating point maximum.
    Fmax,
    /// Floating point minimum of absolute values.
    Fminabs,
    /// Floating point maximum of absolute values.
    Fmaxabs,
    /// Floating point to signed integer.
    Ftoi,
    /// Signed integer to floating point.
    Itof,
    /// Integer add.
    Add,
    /// Integer subtract.
    Sub,
    /// Shift right.
    Shr,
    /// Arithmetic shift right.
    Asr,
    /// Rotate right.
    Ror,
    /// Shift left.
    Shl,
    /// Signed minimum.
    Min,
    /// Signed maximum.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise not.
    Not,
    /// Count leading zeros.
    Clz,
    /// Multiply the lower 24 bits.
    Mul24,
    /// Multiply bytes as fractions of 255.
    V8muld,
    /// Minimum of bytes.
    V8min,
    /// Maximum of bytes.
    V8max,
    /// Add bytes with saturation.
    V8adds,
    /// Subtract bytes with saturation.
    V8subs,
}

impl Operation {
    /// An operation of the add ALU; `same`: both operands are the same. `None` for a nop and for reserved codes.
    pub const fn of_add(op: AddOp, same: bool) -> Option<Self> {
        Some(match op {
            AddOp::Nop | AddOp::Reserved(_) => return None,
            AddOp::Fmin | AddOp::Fmax | AddOp::Min | AddOp::Max | AddOp::And | AddOp::Or if same => Self::Move,
            AddOp::Fadd => Self::Fadd,
            AddOp::Fsub => Self::Fsub,
            AddOp::Fmin => Self::Fmin,
            AddOp::Fmax => Self::Fmax,
            AddOp::Fminabs => Self::Fminabs,
            AddOp::Fmaxabs => Self::Fmaxabs,
            AddOp::Ftoi => Self::Ftoi,
            AddOp::Itof => Self::Itof,
            AddOp::Add => Self::Add,
            AddOp::Sub => Self::Sub,
            AddOp::Shr => Self::Shr,
            AddOp::Asr => Self::Asr,
            AddOp::Ror => Self::Ror,
            AddOp::Shl => Self::Shl,
            AddOp::Min => Self::Min,
            AddOp::Max => Self::Max,
            AddOp::And => Self::And,
            AddOp::Or => Self::Or,
            AddOp::Xor => Self::Xor,
            AddOp::Not => Self::Not,
            AddOp::Clz => Self::Clz,
            AddOp::V8adds => Self::V8adds,
            AddOp::V8subs => Self::V8subs,
        })
    }

    /// An operation of the mul ALU, likewise.
    pub const fn of_mul(op: MulOp, same: bool) -> Option<Self> {
        Some(match op {
            MulOp::Nop => return None,
            MulOp::V8min | MulOp::V8max if same => Self::Move,
            MulOp::Fmul => Self::Fmul,
            MulOp::Mul24 => Self::Mul24,
            MulOp::V8muld => Self::V8muld,
            MulOp::V8min => Self::V8min,
            MulOp::V8max => Self::V8max,
            MulOp::V8adds => Self::V8adds,
            MulOp::V8subs => Self::V8subs,
        })
    }
}

//! The two ALUs: the reference meaning of each operation on one element.
//!
//! Floating point is single precision without the edges: denormals and -0 are read as +0 and never produced, rounding is toward zero, and there are
//! no NaN results, only infinities.
//!
//! # Flags
//! Z and N are those of the result, whatever the operation. C depends on the operation: carry, borrow, the last bit shifted out, whether the
//! first operand of a minimum or maximum is the greater one, whether a floating point result is positive. Overflow is not a flag that software
//! sees; packing uses it.
//!
//! # Sources
//! [AG p.35-36] for the list of operations; their results and flags are [silicon] (`tests/vectors`). The flags of operations that only the mul ALU
//! has were never recorded: C is 0 here, as it is for the two operations that both ALUs have.
//!
//! All recorded products are exact. That others are rounded toward zero as sums are shows in GPU_FFT: on this model its transforms of 2^8 to 2^16
//! points are wrong by 0.327, 0.460, 0.519, 0.587, 0.776, 0.832, 0.917, 0.981 and 1.03 ppm rms [measured]; its author found 0.33, 0.46, 0.52, 0.59,
//! 0.78, 0.83, 0.92, 0.98 and 1.0 on boards [hello_fft gpu_fft.txt]. That sums overflow to infinity, as products do, is a guess.

use crate::float::{SIGN, fadd, fmul, ftoi, itof};
use v3d_hw::qpu::{AddOp, MulOp};

/// Outputs of an ALU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The result.
    pub value: u32,
    /// The C flag.
    pub carry: bool,
    /// Signed overflow of an integer addition or subtraction.
    pub overflow: bool,
}

impl Outcome {
    /// A result that leaves C clear.
    const fn of(value: u32) -> Self {
        Self { value, carry: false, overflow: false }
    }

    /// A floating point result: C says that it is greater than 0.
    const fn float(value: u32) -> Self {
        Self { value, carry: value != 0 && value & SIGN == 0, overflow: false }
    }
}

/// Performs an operation of the add ALU; `None` for reserved codes.
pub fn add(op: AddOp, a: u32, b: u32) -> Option<Outcome> {
    Some(match op {
        AddOp::Nop => Outcome::default(),
        AddOp::Fadd => Outcome::float(fadd(a, b)),
        AddOp::Fsub => Outcome::float(fadd(a, b ^ SIGN)),
        AddOp::Fmin => select(greater(a, b), b, a),
        AddOp::Fmax => select(greater(a, b), a, b),
        AddOp::Fminabs => select(a & !SIGN > b & !SIGN, b & !SIGN, a & !SIGN),
        AddOp::Fmaxabs => select(a & !SIGN > b & !SIGN, a & !SIGN, b & !SIGN),
        AddOp::Ftoi => Outcome::of(ftoi(a)),
        AddOp::Itof => Outcome::float(itof(a)),
        AddOp::Add => {
            let (value, carry) = a.overflowing_add(b);
            Outcome { value, carry, overflow: (a as i32).overflowing_add(b as i32).1 }
        }
        AddOp::Sub => {
            let (value, carry) = a.overflowing_sub(b);
            Outcome { value, carry, overflow: (a as i32).overflowing_sub(b as i32).1 }
        }
        AddOp::Shr => Outcome { value: a >> (b & 31), carry: shifted_out_right(a, b), overflow: false },
        AddOp::Asr => Outcome { value: (a as i32 >> (b & 31)) as u32, carry: shifted_out_right(a, b), overflow: false },
        AddOp::Ror => Outcome::of(a.rotate_right(b & 31)),
        AddOp::Shl => {
            let wide = u64::from(a) << (b & 31);
            Outcome { value: wide as u32, carry: wide >> 32 & 1 == 1, overflow: false }
        }
        AddOp::Min => select(a as i32 > b as i32, b, a),
        AddOp::Max => select(a as i32 > b as i32, a, b),
        AddOp::And => Outcome::of(a & b),
        AddOp::Or => Outcome::of(a | b),
        AddOp::Xor => Outcome::of(a ^ b),
        AddOp::Not => Outcome::of(!a),
        AddOp::Clz => Outcome::of(a.leading_zeros()),
        AddOp::V8adds => Outcome::of(bytes(a, b, u8::saturating_add)),
        AddOp::V8subs => Outcome::of(bytes(a, b, u8::saturating_sub)),
        AddOp::Reserved(_) => return None,
    })
}

/// Performs an operation of the mul ALU.
pub fn mul(op: MulOp, a: u32, b: u32) -> Outcome {
    match op {
        MulOp::Nop => Outcome::default(),
        MulOp::Fmul => Outcome::of(fmul(a, b)),
        MulOp::Mul24 => Outcome::of((a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
        MulOp::V8muld => Outcome::of(bytes(a, b, |x, y| ((u32::from(x) * u32::from(y) + 127) / 255) as u8)),
        MulOp::V8min => Outcome::of(bytes(a, b, u8::min)),
        MulOp::V8max => Outcome::of(bytes(a, b, u8::max)),
        MulOp::V8adds => Outcome::of(bytes(a, b, u8::saturating_add)),
        MulOp::V8subs => Outcome::of(bytes(a, b, u8::saturating_sub)),
    }
}

fn select(greater: bool, if_greater: u32, otherwise: u32) -> Outcome {
    Outcome { value: if greater { if_greater } else { otherwise }, carry: greater, overflow: false }
}

/// Compares as sign and magnitude; no float is special, and the two zeros are equal.
fn greater(a: u32, b: u32) -> bool {
    let key = |x: u32| if x & SIGN != 0 { -((x & !SIGN) as i32) } else { x as i32 };
    key(a) > key(b)
}

fn shifted_out_right(a: u32, by: u32) -> bool {
    let by = by & 31;
    by != 0 && a >> (by - 1) & 1 == 1
}

fn bytes(a: u32, b: u32, f: impl Fn(u8, u8) -> u8) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes(std::array::from_fn(|i| f(a[i], b[i])))
}

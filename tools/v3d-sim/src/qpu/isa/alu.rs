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

use crate::qpu::float::{SIGN, fadd, fmul, ftoi, itof};
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of `v3d-hw` against the operations themselves, whose results and flags are recorded.
    #[test]
    fn operations_do_what_their_rows_say() {
        use v3d_hw::qpu::operation::{Carry, OfEqual};
        const VALUES: [u32; 16] = [
            0,
            1,
            2,
            31,
            33,
            0xff,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x4049_0fdb,
            0x7f80_0000,
            0x80ff_7f01,
            0x0012_3456,
        ];
        for (a, b) in VALUES.into_iter().flat_map(|a| VALUES.map(|b| (a, b))) {
            for &op in AddOp::ALL {
                let Outcome { value, carry, .. } = add(op, a, b).unwrap();
                let (shift, row) = (b & 31, op.row());
                let expected = match row.carry {
                    Carry::Clear => false,
                    Carry::Positive => value as i32 > 0,
                    Carry::FirstGreater if matches!(op, AddOp::Fminabs | AddOp::Fmaxabs) => a & !SIGN > b & !SIGN,
                    Carry::FirstGreater if op.takes_floats() => greater(a, b),
                    Carry::FirstGreater => a as i32 > b as i32,
                    Carry::Carry => a.checked_add(b).is_none(),
                    Carry::Borrow => a < b,
                    Carry::LastBit if op == AddOp::Shl => shift > 0 && a >> (32 - shift) & 1 == 1,
                    Carry::LastBit => shift > 0 && a >> (shift - 1) & 1 == 1,
                };
                assert_eq!(carry, expected, "{op:?} of {a:#x} and {b:#x}");
                let ignores_second = row.operands < 2;
                assert!(!ignores_second || add(op, a, !b) == add(op, a, b), "{op:?} of {a:#x}");
                let of_equal = add(op, a, a).unwrap().value;
                assert!(row.of_equal != OfEqual::Copy || of_equal == a, "{op:?} of {a:#x}");
                assert!(row.of_equal != OfEqual::Zero || of_equal == 0, "{op:?} of {a:#x}");
            }
            for &op in MulOp::ALL {
                let (row, of_equal) = (op.row(), mul(op, a, a).value);
                assert_eq!(mul(op, a, b).carry, row.carry != Carry::Clear, "{op:?}");
                assert!(row.of_equal != OfEqual::Copy || of_equal == a, "{op:?} of {a:#x}");
                assert!(row.of_equal != OfEqual::Zero || of_equal == 0, "{op:?} of {a:#x}");
            }
        }
    }
}

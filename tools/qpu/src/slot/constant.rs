//! Evaluation of operations on two equal operands: constants that need no load immediate.
//!
//! # Sources
//! [AG p.35-36]; denormals, infinities and rounding as recorded on boards [silicon].

use v3d_hw::qpu::{AddOp, MulOp};

use super::{PackMode, Slot};
use crate::value::Number;

const INFINITY: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;

/// Denormals and both zeros are read as +0.
fn flushed(bits: u32) -> u32 {
    if bits & INFINITY == 0 { 0 } else { bits }
}

fn is_infinite(bits: u32) -> bool {
    bits & INFINITY == INFINITY
}

/// The result of an operation of the add ALU on `(value, value)`; `None` where it is not exactly known.
pub(super) fn add_result(op: AddOp, value: u32) -> Option<u32> {
    let float = f64::from(f32::from_bits(flushed(value)));
    let shift = value & 31;
    Some(match op {
        AddOp::Nop | AddOp::Reserved(_) => return None,
        AddOp::Fadd if is_infinite(value) => value & SIGN | INFINITY,
        AddOp::Fadd => exact(float + float)?,
        AddOp::Fsub if is_infinite(value) => !value & SIGN | INFINITY,
        AddOp::Fsub => 0,
        AddOp::Fmin | AddOp::Fmax => value,
        AddOp::Fminabs | AddOp::Fmaxabs => value & !SIGN,
        AddOp::Ftoi if is_infinite(value) => 0,
        // On overflow, the low 32 bits; small immediates are at most 128 as floats.
        AddOp::Ftoi => (float % 4_294_967_296.0) as i64 as u32,
        AddOp::Itof => exact(f64::from(value as i32))?,
        AddOp::Add => value.wrapping_add(value),
        AddOp::Sub | AddOp::Xor => 0,
        AddOp::Shr => value >> shift,
        AddOp::Asr => (value as i32 >> shift) as u32,
        AddOp::Ror => value.rotate_right(shift),
        AddOp::Shl => value << shift,
        AddOp::Min | AddOp::Max | AddOp::And | AddOp::Or => value,
        AddOp::Not => !value,
        AddOp::Clz => value.leading_zeros(),
        AddOp::V8adds => per_byte(value, |byte| (2 * byte).min(255)),
        AddOp::V8subs => 0,
    })
}

/// The result of an operation of the mul ALU on `(value, value)`; `None` where it is not exactly known.
pub(super) fn mul_result(op: MulOp, value: u32) -> Option<u32> {
    Some(match op {
        MulOp::Nop => return None,
        MulOp::Fmul if flushed(value) == 0 => 0,
        MulOp::Fmul if is_infinite(value) => INFINITY,
        // The square of a 24-bit mantissa has at most 48 bits.
        MulOp::Fmul => {
            let float = f64::from(f32::from_bits(value));
            exact(float * float)?
        }
        MulOp::Mul24 => (value & 0xff_ffff).wrapping_mul(value & 0xff_ffff),
        MulOp::V8muld => per_byte(value, |byte| (byte * byte + 127) / 255),
        MulOp::V8min | MulOp::V8max => value,
        MulOp::V8adds => per_byte(value, |byte| (2 * byte).min(255)),
        MulOp::V8subs => 0,
    })
}

/// The bits of a result, if it is zero or a normal number that needs no rounding.
fn exact(result: f64) -> Option<u32> {
    let rounded = result as f32;
    (f64::from(rounded) == result && (rounded.is_normal() || rounded == 0.0)).then(|| (rounded + 0.0).to_bits())
}

fn per_byte(value: u32, op: impl Fn(u32) -> u32) -> u32 {
    (0..4).map(|n| (op(value >> (8 * n) & 255) & 255) << (8 * n)).sum()
}

/// The value after a pack that writes all 32 bits; `None` for packs that write fewer bits or depend on flags.
pub(super) fn packed(pack: PackMode, mul_pack: bool, value: u32) -> Option<u32> {
    let byte = match (pack.mode & 7, mul_pack) {
        (0, _) if pack.mode == 0 => return Some(value),
        (3, true) if f32::from_bits(value).is_nan() => return None,
        (3, true) => (f64::from(f32::from_bits(flushed(value))).clamp(0.0, 1.0) * 255.0 + 0.5) as u32,
        (3, false) if pack.mode >= 8 => (value as i32).clamp(0, 255) as u32,
        (3, false) if pack.number != Number::Float => value & 255,
        _ => return None,
    };
    Some(byte * 0x0101_0101)
}

impl Slot {
    /// The packed result of the add operation, with `value` as both operands.
    pub(super) fn add_constant(&self, value: u32) -> Option<u32> {
        let result = add_result(self.op_add, value)?;
        if self.pm || self.ws { Some(result) } else { packed(self.pack, false, result) }
    }

    /// The packed result of the mul operation, with `value` as both operands.
    pub(super) fn mul_constant(&self, value: u32) -> Option<u32> {
        let result = mul_result(self.op_mul, value)?;
        if !self.pm && !self.ws { Some(result) } else { packed(self.pack, self.pm, result) }
    }
}

#[cfg(all(test, feature = "model"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use v3d_hw::qpu::{PackA, PackMul};
    use v3d_sim::qpu::isa::{alu, pack};
    use v3d_sim::random::Random;

    /// Edge cases of integers, floats and bytes, all small immediates, and random values.
    fn values() -> Vec<u32> {
        const EDGES: [u32; 26] = [
            0,
            1,
            2,
            0x7f,
            0x80,
            0xff,
            0x100,
            0x7fff,
            0x8000,
            0xffff,
            0xff_ffff,
            0x0100_0001,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_ff00,
            0x0080_0000,
            0x8080_0000,
            0x007f_ffff,
            0x3f7f_ffff,
            0x4eff_ffff,
            0x4f00_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0001,
        ];
        let immediates = (0..64).filter_map(|code| v3d_hw::qpu::SmallImmediate::from_code(code).value());
        let mut random = Random::named("constants");
        EDGES.into_iter().chain(immediates).chain((0..20_000).map(|_| random.value())).collect()
    }

    #[test]
    fn results_are_those_of_the_reference_alu() {
        for &op in AddOp::ALL {
            let mut known = 0;
            for value in values() {
                let Some(result) = add_result(op, value) else { continue };
                known += 1;
                let expected = alu::add(op, value, value).map(|outcome| outcome.value);
                assert_eq!(Some(result), expected, "{op:?} of {value:#010x}");
            }
            assert!(known > 100 || op == AddOp::Nop, "{op:?}: {known}");
        }
        for &op in MulOp::ALL {
            let mut known = 0;
            for value in values() {
                let Some(result) = mul_result(op, value) else { continue };
                known += 1;
                assert_eq!(result, alu::mul(op, value, value).value, "{op:?} of {value:#010x}");
            }
            assert!(known > 100 || op == MulOp::Nop, "{op:?}: {known}");
        }
    }

    #[test]
    fn packed_results_are_those_of_the_reference_packers() {
        let mut known = 0;
        for (mode, value) in (0..16).flat_map(|mode| values().into_iter().map(move |value| (mode, value))) {
            for number in [Number::Any, Number::Int, Number::Float] {
                let pack = PackMode { mode, number };
                if let Some(result) = packed(pack, true, value) {
                    let expected = pack::pack_mul(PackMul::of_field(mode), value).unwrap();
                    assert_eq!((result, !0), (expected.value, expected.mask), "colour {mode} of {value:#010x}");
                    known += 1;
                }
                if let Some(result) = packed(pack, false, value) {
                    let outcome = alu::Outcome { value, carry: false, overflow: false };
                    let expected = pack::pack_a(PackA::from_code(mode), outcome, number == Number::Float);
                    assert_eq!((result, !0), (expected.value, expected.mask), "file A {mode} of {value:#010x}");
                    known += 1;
                }
            }
        }
        assert!(known > 100_000, "{known}");
    }
}

//! What the ALUs make of one value in both operands: constants without a load immediate.
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
    let float = f32::from_bits(flushed(value));
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
        // The low 32 bits of what does not fit; small immediates as floats are at most 128.
        AddOp::Ftoi => f64::from(float).trunc().rem_euclid(4_294_967_296.0) as u32,
        AddOp::Itof => exact(value as i32 as f32)?,
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
        MulOp::Fmul => exact(f32::from_bits(value) * f32::from_bits(value))?,
        MulOp::Mul24 => (value & 0xff_ffff).wrapping_mul(value & 0xff_ffff),
        MulOp::V8muld => per_byte(value, |byte| (byte * byte + 127) / 255),
        MulOp::V8min | MulOp::V8max => value,
        MulOp::V8adds => per_byte(value, |byte| (2 * byte).min(255)),
        MulOp::V8subs => 0,
    })
}

/// Bits of a result that is a normal number or zero.
fn exact(result: f32) -> Option<u32> {
    (result.is_normal() || result == 0.0).then(|| (result + 0.0).to_bits())
}

fn per_byte(value: u32, op: impl Fn(u32) -> u32) -> u32 {
    (0..4).map(|n| (op(value >> (8 * n) & 255) & 255) << (8 * n)).sum()
}

/// The value after a pack that writes all 32 bits; `None` for packs that write less or need flags.
pub(super) fn packed(pack: PackMode, mul_pack: bool, value: u32) -> Option<u32> {
    let byte = match (pack.mode & 7, mul_pack) {
        (0, _) if pack.mode == 0 => return Some(value),
        (3, true) => {
            let float = f32::from_bits(flushed(value));
            if is_infinite(value) && value & SIGN == 0 { 255 } else { (float.clamp(0.0, 1.0) * 255.0 + 0.5) as u32 }
        }
        (3, false) if pack.mode >= 8 => (value as i32).clamp(0, 255) as u32,
        (3, false) if pack.number != Number::Float => value & 255,
        _ => return None,
    };
    Some(byte * 0x0101_0101)
}

impl Slot {
    /// What the add operation makes of `value` in both operands, packed.
    pub(super) fn add_constant(&self, value: u32) -> Option<u32> {
        let result = add_result(self.op_add, value)?;
        if self.pm || self.ws { Some(result) } else { packed(self.pack, false, result) }
    }

    /// What the mul operation makes of `value` in both operands, packed.
    pub(super) fn mul_constant(&self, value: u32) -> Option<u32> {
        let result = mul_result(self.op_mul, value)?;
        if !self.pm && !self.ws { Some(result) } else { packed(self.pack, self.pm, result) }
    }
}

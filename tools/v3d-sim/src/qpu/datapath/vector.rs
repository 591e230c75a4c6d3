//! The vectorized datapath: each instruction as a few operations on whole vectors.
//!
//! Block execution (`qpu/block/execution.rs`) performs micro-ops with the functions here, one at a time; [`Vectorized::execute`] does all of an
//! instruction at once, for the sequencer.

use crate::qpu::datapath::reference::Reference;
use crate::qpu::datapath::{Datapath, Results};
use crate::qpu::isa::instruction::{
    AluOperation, DecodedInstruction, Destination, FlagSource, Pack, Rotation, Unpacking,
};
use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::pack;
use crate::qpu::isa::registers::{self, ACCUMULATORS, Flags, RegisterIndex, Registers};
use crate::qpu::lanes::{Lanes, Mask};
use crate::simd::vectors::{SIGN, Vectors};
use std::marker::PhantomData;
use v3d_hw::qpu::{AddOp, Condition, LANES, PackA, PackMul, Unpack};

/// Computes in vectors.
#[derive(Clone, Copy, Debug)]
pub struct Vectorized<V>(PhantomData<V>);

impl<V: Vectors> Datapath for Vectorized<V> {
    #[inline(always)]
    fn execute(registers: &mut Registers, flags: &mut Flags, instruction: &DecodedInstruction, results: &mut Results) {
        // An overflowed sum needs a packer that receives more than the result.
        if matches!(instruction.add.op, AddOp::Add | AddOp::Sub) && matches!(instruction.add.pack, Pack::FileA { .. }) {
            return Reference::execute(registers, flags, instruction, results);
        }
        match instruction.unpacking {
            Unpacking::None => {}
            Unpacking::PortA { from, mode, float } => unpack(registers, from, mode, float),
            Unpacking::R4 { from, mode } => unpack(registers, from, mode, true),
        }
        let (mut add, mut mul) = ((Lanes::default(), 0), (Lanes::default(), 0));
        if instruction.mul_runs
            && let Some(operation) = Operation::of_mul(instruction.mul.op, instruction.mul.a == instruction.mul.b)
        {
            mul.0 = rotated::<V>(registers, operation, (instruction.mul.a, instruction.mul.b), instruction.rotation);
        }
        if instruction.add_runs
            && let Some(operation) = Operation::of_add(instruction.add.op, instruction.add.a == instruction.add.b)
        {
            let (a, b) = (registers.at(instruction.add.a), registers.at(instruction.add.b));
            add.0 = compute::<V>(operation, a, b);
            add.1 = carry::<V>(operation, a, b, &add.0);
        }
        if instruction.add_runs {
            results.add = write::<V, _>(registers, flags, &instruction.add, &add.0);
        }
        if instruction.mul_runs {
            results.mul = write::<V, _>(registers, flags, &instruction.mul, &mul.0);
        }
        match instruction.flags {
            FlagSource::None => {}
            FlagSource::Add => set_flags::<V>(flags, &add.0, add.1, instruction.add.condition),
            FlagSource::Mul => set_flags::<V>(flags, &mul.0, mul.1, instruction.mul.condition),
        }
    }
}

/// Sets the flags in the elements in which a condition holds.
#[inline(always)]
pub(in crate::qpu) fn set_flags<V: Vectors>(flags: &mut Flags, result: &Lanes, carry: Mask, condition: Condition) {
    let new = Flags { zero: V::zero(result), negative: V::negative(result), carry };
    flags.replace(new, flags.holds(condition));
}

/// Some bits in the elements of a mask, 0 in the others.
#[inline(always)]
fn widened(mask: Mask, bits: u32) -> Lanes {
    Lanes(std::array::from_fn(|i| if mask & 1 << i == 0 { 0 } else { bits }))
}

/// Packs a result, writes it if it goes to a register, and returns it if it goes to a peripheral.
#[inline(always)]
fn write<V: Vectors, Op>(
    registers: &mut Registers,
    flags: &Flags,
    half: &AluOperation<Op>,
    value: &Lanes,
) -> (Lanes, Mask) {
    let packed;
    let (value, kept) = match half.pack {
        Pack::None | Pack::Colour(PackMul::None) => (value, !0),
        Pack::Colour(mode) => {
            let part = pack::pack_mul_mask(mode).unwrap_or(!0);
            packed = colours(value).map(|value| value & part);
            (&packed, part)
        }
        Pack::FileA { mode, float } => {
            let part = pack::pack_a_mask(mode);
            packed = pack_a(mode, float, value).map(|value| value & part);
            (&packed, part)
        }
    };
    let mask = flags.holds(half.condition);
    match half.to {
        Destination::Register(register) if kept == !0 => V::blend(registers.at_mut(register), value, mask),
        Destination::Register(register) => replace_bits(registers.at_mut(register), value, &widened(mask, kept)),
        Destination::R5 { replicated } => {
            let r5 = registers.at_mut(registers::R5);
            for quad in 0..4 {
                let from = if replicated { 0 } else { quad * 4 };
                if mask >> from & 1 == 1 {
                    r5.0[quad * 4..quad * 4 + 4].fill(value.0[from]);
                }
            }
        }
        Destination::Nowhere => {}
        Destination::Sfu(_) | Destination::Tmu(..) | Destination::Peripheral(_) => return (*value, mask),
    }
    (Lanes::default(), 0)
}

#[inline(always)]
fn replace_bits(old: &mut Lanes, new: &Lanes, bits: &Lanes) {
    for i in 0..LANES {
        old.0[i] ^= (old.0[i] ^ new.0[i]) & bits.0[i];
    }
}

/// Packs results as colours into some bits of a register.
#[inline(always)]
pub(in crate::qpu) fn pack_colours(register: &mut Lanes, value: &Lanes, part: u32) {
    replace_bits(register, &colours(value), &Lanes::splat(part));
}

/// Packs results that have not overflowed into a register of file A, or a part of it.
#[inline(always)]
pub(in crate::qpu) fn pack_to_a(register: &mut Lanes, value: &Lanes, mode: PackA, float: bool) {
    replace_bits(register, &pack_a(mode, float, value), &Lanes::splat(pack::pack_a_mask(mode)));
}

/// Floats in the range [0, 1] to bytes, each four times.
#[inline(always)]
fn colours(value: &Lanes) -> Lanes {
    value.map(|value| float_to_colour(value) * 0x0101_0101)
}

/// Packs results that have not overflowed for file A. Bits that the mode does not write are arbitrary.
#[inline(always)]
fn pack_a(mode: PackA, float: bool, value: &Lanes) -> Lanes {
    match mode {
        PackA::None | PackA::Saturated => *value,
        PackA::Half0 | PackA::Half0Saturated | PackA::Half1 | PackA::Half1Saturated if float => {
            value.map(|value| pack::float_to_half(value) * 0x1_0001)
        }
        PackA::Half0 | PackA::Half1 => value.map(|value| (value & 0xffff) * 0x1_0001),
        PackA::Half0Saturated | PackA::Half1Saturated => {
            value.map(|value| ((value as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff) * 0x1_0001)
        }
        PackA::Replicated | PackA::Byte0 | PackA::Byte1 | PackA::Byte2 | PackA::Byte3 => {
            value.map(|value| (value & 0xff) * 0x0101_0101)
        }
        _ => value.map(|value| (value as i32).clamp(0, 255) as u32 * 0x0101_0101),
    }
}

/// Unpacks an operand; `float`: for an operation that takes floats.
#[inline(always)]
pub(in crate::qpu) fn unpack(registers: &mut Registers, from: RegisterIndex, mode: Unpack, float: bool) {
    let word = registers.at(from);
    let unpacked = match mode {
        Unpack::None => *word,
        Unpack::Half0 => half_of(word, 0, float),
        Unpack::Half1 => half_of(word, 16, float),
        Unpack::Byte3Replicated => word.map(|word| (word >> 24) * 0x0101_0101),
        Unpack::Byte0 => byte_of(word, 0, float),
        Unpack::Byte1 => byte_of(word, 8, float),
        Unpack::Byte2 => byte_of(word, 16, float),
        Unpack::Byte3 => byte_of(word, 24, float),
    };
    *registers.at_mut(registers::UNPACKED) = unpacked;
}

/// Unpacks the half that begins at a bit.
#[inline(always)]
fn half_of(word: &Lanes, shift: u32, float: bool) -> Lanes {
    if float {
        word.map(|word| pack::half_to_float(word >> shift & 0xffff))
    } else {
        word.map(|word| (word >> shift) as u16 as i16 as u32)
    }
}

/// Unpacks the byte that begins at a bit.
#[inline(always)]
fn byte_of(word: &Lanes, shift: u32, float: bool) -> Lanes {
    if float { word.map(|word| byte_to_float(word >> shift & 0xff)) } else { word.map(|word| word >> shift & 0xff) }
}

/// The mul ALU with its rotation, as in the reference datapath.
#[inline(always)]
pub(in crate::qpu) fn rotated<V: Vectors>(
    registers: &Registers,
    operation: Operation,
    (first, second): (RegisterIndex, RegisterIndex),
    rotation: Rotation,
) -> Lanes {
    let by = match rotation {
        Rotation::None => 0,
        Rotation::By(by) => usize::from(by),
        Rotation::ByR5 => registers.at(registers::R5).0[0] as usize & 15,
    };
    let is_rotated = |register: RegisterIndex| (ACCUMULATORS..ACCUMULATORS + 4).contains(&register);
    let (mut a, mut b) = (*registers.at(first), *registers.at(second));
    // If both operands are rotated, both halves of the rotation together move whole results.
    let whole = is_rotated(first) && is_rotated(second);
    if by != 0 && !whole {
        for (register, operand) in [(first, &mut a), (second, &mut b)] {
            if is_rotated(register) {
                *operand = Lanes(std::array::from_fn(|i| operand.0[(i / 4 * 4 + (i + by) % 4 + LANES - by) % LANES]));
            }
        }
    }
    let product = compute::<V>(operation, &a, &b);
    if by == 0 {
        return product;
    }
    if !whole {
        return Lanes(std::array::from_fn(|i| product.0[i / 4 * 4 + (i + LANES - by) % 4]));
    }
    let mut twice = [0; 2 * LANES];
    twice[..LANES].copy_from_slice(&product.0);
    twice[LANES..].copy_from_slice(&product.0);
    let mut result = Lanes::default();
    result.0.copy_from_slice(&twice[LANES - by..2 * LANES - by]);
    result
}

/// Writes the results of an operation to a register. Frequent operations write where they compute, without joining in a common result first.
#[inline(always)]
pub(in crate::qpu) fn operate<V: Vectors>(
    registers: &mut Registers,
    operation: Operation,
    a: RegisterIndex,
    b: RegisterIndex,
    to: RegisterIndex,
) {
    let (x, y) = (registers.at(a), registers.at(b));
    match operation {
        Operation::Fmul => *registers.at_mut(to) = V::fmul(x, y),
        Operation::Fadd => *registers.at_mut(to) = V::fadd(x, y),
        Operation::Fsub => *registers.at_mut(to) = V::fsub(x, y),
        Operation::Move => *registers.at_mut(to) = *x,
        Operation::Add => *registers.at_mut(to) = zip(x, y, u32::wrapping_add),
        Operation::Sub => *registers.at_mut(to) = zip(x, y, u32::wrapping_sub),
        Operation::And => *registers.at_mut(to) = zip(x, y, |a, b| a & b),
        Operation::Or => *registers.at_mut(to) = zip(x, y, |a, b| a | b),
        Operation::Itof => *registers.at_mut(to) = V::itof(x),
        Operation::Ftoi => *registers.at_mut(to) = V::ftoi(x),
        _ => *registers.at_mut(to) = compute::<V>(operation, x, y),
    }
}

/// The results of an operation.
#[inline(always)]
pub(in crate::qpu) fn compute<V: Vectors>(operation: Operation, a: &Lanes, b: &Lanes) -> Lanes {
    match operation {
        Operation::Fadd => V::fadd(a, b),
        Operation::Fsub => V::fsub(a, b),
        Operation::Fmul => V::fmul(a, b),
        Operation::Move => *a,
        Operation::Fmin => zip(a, b, |a, b| if order(a) > order(b) { b } else { a }),
        Operation::Fmax => zip(a, b, |a, b| if order(a) > order(b) { a } else { b }),
        Operation::Fminabs => zip(a, b, |a, b| (a & !SIGN).min(b & !SIGN)),
        Operation::Fmaxabs => zip(a, b, |a, b| (a & !SIGN).max(b & !SIGN)),
        Operation::Ftoi => V::ftoi(a),
        Operation::Itof => V::itof(a),
        Operation::Add => zip(a, b, u32::wrapping_add),
        Operation::Sub => zip(a, b, u32::wrapping_sub),
        Operation::Shr => zip(a, b, |a, b| a >> (b & 31)),
        Operation::Asr => zip(a, b, |a, b| (a as i32 >> (b & 31)) as u32),
        Operation::Ror => zip(a, b, |a, b| a.rotate_right(b & 31)),
        Operation::Shl => zip(a, b, |a, b| a << (b & 31)),
        Operation::Min => zip(a, b, |a, b| (a as i32).min(b as i32) as u32),
        Operation::Max => zip(a, b, |a, b| (a as i32).max(b as i32) as u32),
        Operation::And => zip(a, b, |a, b| a & b),
        Operation::Or => zip(a, b, |a, b| a | b),
        Operation::Xor => zip(a, b, |a, b| a ^ b),
        Operation::Not => a.map(|a| !a),
        Operation::Clz => a.map(u32::leading_zeros),
        Operation::Mul24 => zip(a, b, |a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
        Operation::V8muld => bytes(a, b, |a, b| {
            // Exact for all products of bytes: a multiplication in place of the division by 255.
            (((u32::from(a) * u32::from(b) + 127) * 0x8081) >> 23) as u8
        }),
        Operation::V8min => bytes(a, b, u8::min),
        Operation::V8max => bytes(a, b, u8::max),
        Operation::V8adds => bytes(a, b, u8::saturating_add),
        Operation::V8subs => bytes(a, b, u8::saturating_sub),
    }
}

/// The C flags of an operation.
#[inline(always)]
pub(in crate::qpu) fn carry<V: Vectors>(operation: Operation, a: &Lanes, b: &Lanes, result: &Lanes) -> Mask {
    // The last bit shifted out; 0 if none was.
    let lost = |bit: fn(u32, u32) -> u32| V::negative(&zip(a, b, |a, b| if b & 31 == 0 { 0 } else { bit(a, b & 31) }));
    match operation {
        Operation::Fadd | Operation::Fsub | Operation::Itof => V::greater(result, &Lanes::splat(0)),
        Operation::Fmin | Operation::Fmax => V::greater(&a.map(|a| order(a) as u32), &b.map(|b| order(b) as u32)),
        Operation::Fminabs | Operation::Fmaxabs => V::above(&a.map(|a| a & !SIGN), &b.map(|b| b & !SIGN)),
        Operation::Add => V::above(a, result),
        Operation::Sub => V::above(b, a),
        Operation::Min | Operation::Max => V::greater(a, b),
        Operation::Shr | Operation::Asr => lost(|a, by| a << (32 - by)),
        Operation::Shl => lost(|a, by| a << (by - 1)),
        _ => 0,
    }
}

#[inline(always)]
fn zip(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    let mut result = Lanes::default();
    for i in 0..LANES {
        result.0[i] = f(a.0[i], b.0[i]);
    }
    result
}

/// `f` of each pair of bytes.
#[inline(always)]
fn bytes(a: &Lanes, b: &Lanes, f: impl Fn(u8, u8) -> u8) -> Lanes {
    let split = |lanes: &Lanes| {
        let mut bytes = [0; 4 * LANES];
        for (bytes, lane) in bytes.chunks_exact_mut(4).zip(lanes.0) {
            bytes.copy_from_slice(&lane.to_le_bytes());
        }
        bytes
    };
    let (a, b) = (split(a), split(b));
    let mut results = [0; 4 * LANES];
    for i in 0..4 * LANES {
        results[i] = f(a[i], b[i]);
    }
    let mut joined = Lanes::default();
    for (lane, bytes) in joined.0.iter_mut().zip(results.chunks_exact(4)) {
        *lane = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    joined
}

/// A float in the range [0, 1] to a byte.
#[inline(always)]
fn float_to_colour(x: u32) -> u32 {
    let x = f32::from_bits(x);
    // NaN fails the comparison and becomes 0.
    let clamped = if x > 0.0 { x.min(1.0) } else { 0.0 };
    (f64::from(clamped) * 255.0 + 0.5) as i32 as u32
}

/// An integer that compares as the float does, as sign and magnitude.
#[inline(always)]
fn order(x: u32) -> i32 {
    let sign = x as i32 >> 31;
    ((x & !SIGN) as i32 ^ sign) - sign
}

/// Byte / 255, rounded toward zero.
#[inline(always)]
fn byte_to_float(byte: u32) -> u32 {
    // Slightly more than the quotient, so that 1.0 is reached; for all other bytes the difference is below the spacing of floats, as the test shows.
    let quotient = f64::from(byte) * (1.000_000_000_1 / 255.0);
    (f64::from_bits(quotient.to_bits() & !((1 << 29) - 1)) as f32).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_the_floats_of_the_table() {
        for byte in 0..256 {
            assert_eq!(byte_to_float(byte), pack::colour_to_float(byte), "{byte}");
        }
    }
}

//! The fast engine: each instruction as a few loops over 16 elements that the compiler turns into vector instructions.
//!
//! Loops have no branches in them. Where an operation has cases that would need some (infinities, mostly), the loop also finds out whether any
//! element is such a case, and then the reference's function is applied to all of them.
//!
//! # Rounding toward zero
//! The host rounds to nearest, and its rounding mode is left alone. A sum is followed by its exact error [Knuth's two-sum], which says whether
//! rounding went away from zero; if so, the result is one step too large. A product of two floats is exact in double precision, where the
//! surplus bits are cut off; a host with a fused multiply-add finds a product's error with that.

use super::alu;
use super::datapath::{Datapath, Results};
use super::micro_op::{Destination, FlagSource, Half, MicroOp, Pack, Rotation, Unpacking};
use super::pack;
use super::reference::Reference;
use super::registers::{self, ACCUMULATORS, Flags, Place, Registers, SMALL_IMMEDIATES};
use crate::lanes::{ALL, Lanes, Mask};
use v3d_hw::qpu::{AddOp, Condition, LANES, MulOp, PackA, PackMul, Unpack};

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7f80_0000;

/// In vectors. `FMA` says that the host has a fused multiply-add, whose one rounding gives the exact error of a product.
#[derive(Clone, Copy, Debug)]
pub struct Fast<const FMA: bool>;

impl<const FMA: bool> Datapath for Fast<FMA> {
    const RUNS_AHEAD: bool = true;

    #[inline(always)]
    fn execute(registers: &mut Registers, flags: &mut Flags, op: &MicroOp, results: &mut Results) {
        // Where a sum can overflow, the packer of file A needs more than results.
        if matches!(op.add.op, AddOp::Add | AddOp::Sub) && matches!(op.add.pack, Pack::FileA { .. }) {
            return Reference::execute(registers, flags, op, results);
        }
        unpack(registers, op.unpacking);
        let mul = if op.mul_runs { rotated::<FMA>(registers, op) } else { Lanes::default() };
        let mut add = Lanes::default();
        let mut carry = Lanes::default();
        if op.add_runs {
            let (a, b) = (registers.at(op.add.a), registers.at(op.add.b));
            add = add_result(op.add.op, a, b, op.add.b);
            if op.flags == FlagSource::Add {
                carry = add_carry(op.add.op, a, b, &add);
            }
        }
        if op.add_runs {
            results.add = write(registers, flags, &op.add, &add);
        }
        if op.mul_runs {
            results.mul = write(registers, flags, &op.mul, &mul);
        }
        match op.flags {
            FlagSource::None => {}
            FlagSource::Add => set_flags(flags, &add, &carry, op.add.condition),
            FlagSource::Mul => set_flags(flags, &mul, &carry, op.mul.condition),
        }
    }

    #[inline(always)]
    fn execute_simple(registers: &mut Registers, flags: &mut Flags, op: &MicroOp) {
        match (op.add_runs, op.mul_runs) {
            (true, false) => {
                let (a, b) = (registers.at(op.add.a), registers.at(op.add.b));
                let add = add_result(op.add.op, a, b, op.add.b);
                if op.flags == FlagSource::None {
                    write_simple(registers, flags, &op.add, &add);
                } else {
                    let carry = add_carry(op.add.op, a, b, &add);
                    write_simple(registers, flags, &op.add, &add);
                    set_flags(flags, &add, &carry, op.add.condition);
                }
            }
            (_, true) => {
                let mul =
                    mul_result::<FMA>(op.mul.op, registers.at(op.mul.a), registers.at(op.mul.b), op.mul.a == op.mul.b);
                let mut carry = Lanes::default();
                let mut add = Lanes::default();
                if op.add_runs {
                    let (a, b) = (registers.at(op.add.a), registers.at(op.add.b));
                    add = add_result(op.add.op, a, b, op.add.b);
                    if op.flags == FlagSource::Add {
                        carry = add_carry(op.add.op, a, b, &add);
                    }
                    write_simple(registers, flags, &op.add, &add);
                }
                write_simple(registers, flags, &op.mul, &mul);
                match op.flags {
                    FlagSource::None => {}
                    FlagSource::Add => set_flags(flags, &add, &carry, op.add.condition),
                    FlagSource::Mul => set_flags(flags, &mul, &carry, op.mul.condition),
                }
            }
            (false, false) => {}
        }
    }
}

/// In vectors, one instruction at a time, with a trace for the clock.
#[derive(Clone, Copy, Debug)]
pub struct Recorded;

impl Datapath for Recorded {
    const RUNS_AHEAD: bool = false;
    const RECORDS: bool = true;

    fn execute(registers: &mut Registers, flags: &mut Flags, op: &MicroOp, results: &mut Results) {
        Fast::<false>::execute(registers, flags, op, results);
    }

    fn execute_simple(registers: &mut Registers, flags: &mut Flags, op: &MicroOp) {
        Fast::<false>::execute_simple(registers, flags, op);
    }
}

/// All bits of the elements in which a condition holds.
#[inline(always)]
fn mask_of(flags: &Flags, condition: Condition) -> Lanes {
    let all_if = |holds: bool| if holds { !0 } else { 0 };
    match condition {
        Condition::Never => Lanes::splat(0),
        Condition::Always => Lanes::splat(!0),
        Condition::ZSet => flags.result.map(|value| all_if(value == 0)),
        Condition::ZClear => flags.result.map(|value| all_if(value != 0)),
        Condition::NSet => flags.result.map(|value| (value as i32 >> 31) as u32),
        Condition::NClear => flags.result.map(|value| !(value as i32 >> 31) as u32),
        Condition::CSet => flags.carry,
        Condition::CClear => flags.carry.map(|value| !value),
    }
}

/// One bit for each element.
#[inline(always)]
fn bits(mask: &Lanes) -> Mask {
    (0..LANES).fold(0, |bits, i| bits | ((mask.0[i] & 1) as Mask) << i)
}

#[inline(always)]
fn blend(old: &mut Lanes, new: &Lanes, mask: &Lanes) {
    for i in 0..LANES {
        old.0[i] ^= (old.0[i] ^ new.0[i]) & mask.0[i];
    }
}

#[inline(always)]
fn set_flags(flags: &mut Flags, result: &Lanes, carry: &Lanes, condition: Condition) {
    if condition == Condition::Always {
        *flags = Flags { result: *result, carry: *carry };
    } else {
        let mask = mask_of(flags, condition);
        blend(&mut flags.result, result, &mask);
        blend(&mut flags.carry, carry, &mask);
    }
}

/// Writes a result to a register, if that is where it goes.
#[inline(always)]
fn write_simple<Op>(registers: &mut Registers, flags: &Flags, half: &Half<Op>, value: &Lanes) {
    let Destination::Register(place) = half.to else { return };
    match half.condition {
        Condition::Never => {}
        Condition::Always => *registers.at_mut(place) = *value,
        condition => {
            let mask = mask_of(flags, condition);
            blend(registers.at_mut(place), value, &mask);
        }
    }
}

/// Converts a result to a colour if it is to be packed, writes it if it goes to a register, and gives it back for a peripheral.
#[inline(always)]
fn write<Op>(registers: &mut Registers, flags: &Flags, half: &Half<Op>, value: &Lanes) -> (Lanes, Mask) {
    let packed;
    let (value, kept) = match half.pack {
        Pack::None | Pack::Colour(PackMul::None) => (value, !0),
        Pack::Colour(mode) => {
            let part = pack::pack_mul_mask(mode).unwrap_or(!0);
            packed = value.map(|value| (float_to_colour(value) * 0x0101_0101) & part);
            (&packed, part)
        }
        Pack::FileA { mode, float } => {
            packed = pack_a(mode, float, value);
            (&packed, pack::pack_a_mask(mode))
        }
    };
    match half.to {
        Destination::Register(place) if half.condition == Condition::Always && kept == !0 => {
            *registers.at_mut(place) = *value;
        }
        Destination::Register(place) => {
            let mask = mask_of(flags, half.condition).map(|element| element & kept);
            blend(registers.at_mut(place), value, &mask);
        }
        Destination::R5 { replicated } => {
            let mask = mask_of(flags, half.condition);
            let r5 = registers.at_mut(registers::R5);
            for quad in 0..4 {
                let from = if replicated { 0 } else { quad * 4 };
                if mask.0[from] != 0 {
                    r5.0[quad * 4..quad * 4 + 4].fill(value.0[from]);
                }
            }
        }
        Destination::Nowhere => {}
        Destination::Sfu(_) | Destination::Tmu(..) | Destination::Peripheral(_) => {
            let mask = if half.condition == Condition::Always { ALL } else { bits(&mask_of(flags, half.condition)) };
            return (*value, mask);
        }
    }
    (Lanes::default(), 0)
}

/// Packs results that have not overflowed for file A.
#[inline(always)]
fn pack_a(mode: PackA, float: bool, value: &Lanes) -> Lanes {
    let part = pack::pack_a_mask(mode);
    match mode {
        PackA::None | PackA::Saturated => *value,
        PackA::Half0 | PackA::Half0Saturated | PackA::Half1 | PackA::Half1Saturated if float => {
            value.map(|value| (pack::float_to_half(value) * 0x1_0001) & part)
        }
        PackA::Half0 | PackA::Half1 => value.map(|value| ((value & 0xffff) * 0x1_0001) & part),
        PackA::Half0Saturated | PackA::Half1Saturated => {
            value.map(|value| (((value as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff) * 0x1_0001) & part)
        }
        PackA::Replicated | PackA::Byte0 | PackA::Byte1 | PackA::Byte2 | PackA::Byte3 => {
            value.map(|value| ((value & 0xff) * 0x0101_0101) & part)
        }
        _ => value.map(|value| ((value as i32).clamp(0, 255) as u32 * 0x0101_0101) & part),
    }
}

#[inline(always)]
fn unpack(registers: &mut Registers, unpacking: Unpacking) {
    let (from, mode, float) = match unpacking {
        Unpacking::None => return,
        Unpacking::PortA { from, mode, float } => (from, mode, float),
        Unpacking::R4 { from, mode } => (from, mode, true),
    };
    let word = *registers.at(from);
    let half = |shift: u32| {
        if float {
            word.map(|word| pack::half_to_float(word >> shift & 0xffff))
        } else {
            word.map(|word| (word >> shift) as u16 as i16 as u32)
        }
    };
    let byte = |shift: u32| {
        if float {
            word.map(|word| pack::colour_to_float(word >> shift))
        } else {
            word.map(|word| word >> shift & 0xff)
        }
    };
    *registers.at_mut(registers::UNPACKED) = match mode {
        Unpack::None => word,
        Unpack::Half0 => half(0),
        Unpack::Half1 => half(16),
        Unpack::Byte3Replicated => word.map(|word| (word >> 24) * 0x0101_0101),
        Unpack::Byte0 => byte(0),
        Unpack::Byte1 => byte(8),
        Unpack::Byte2 => byte(16),
        Unpack::Byte3 => byte(24),
    };
}

/// The mul ALU with its rotation; see the reference engine.
#[inline(always)]
fn rotated<const FMA: bool>(registers: &Registers, op: &MicroOp) -> Lanes {
    let by = match op.rotation {
        Rotation::None => 0,
        Rotation::By(by) => usize::from(by),
        Rotation::ByR5 => registers.at(registers::R5).0[0] as usize & 15,
    };
    let same = op.mul.a == op.mul.b;
    if by == 0 {
        return mul_result::<FMA>(op.mul.op, registers.at(op.mul.a), registers.at(op.mul.b), same);
    }
    let is_rotated = |place: Place| (ACCUMULATORS..ACCUMULATORS + 4).contains(&place);
    if is_rotated(op.mul.a) && is_rotated(op.mul.b) {
        // Both halves of the rotation together move whole results.
        let product = mul_result::<FMA>(op.mul.op, registers.at(op.mul.a), registers.at(op.mul.b), same);
        let mut twice = [0; 2 * LANES];
        twice[..LANES].copy_from_slice(&product.0);
        twice[LANES..].copy_from_slice(&product.0);
        let mut result = Lanes::default();
        result.0.copy_from_slice(&twice[LANES - by..2 * LANES - by]);
        return result;
    }
    let operand = |place: Place| {
        let register = registers.at(place);
        if is_rotated(place) {
            Lanes(std::array::from_fn(|i| register.0[(i / 4 * 4 + (i + by) % 4 + LANES - by) % LANES]))
        } else {
            *register
        }
    };
    let product = mul_result::<FMA>(op.mul.op, &operand(op.mul.a), &operand(op.mul.b), same);
    Lanes(std::array::from_fn(|i| product.0[i / 4 * 4 + (i + LANES - by) % 4]))
}

#[inline(always)]
fn zip(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    let mut result = Lanes::default();
    for i in 0..LANES {
        result.0[i] = f(a.0[i], b.0[i]);
    }
    result
}

/// Results of the add ALU; `b_place` tells whether all elements of `b` are the same.
#[inline(always)]
fn add_result(op: AddOp, a: &Lanes, b: &Lanes, b_place: Place) -> Lanes {
    let same_shift = b_place >= SMALL_IMMEDIATES;
    let by = b.0[0] & 31;
    match op {
        AddOp::Nop | AddOp::Reserved(_) => Lanes::default(),
        AddOp::Fadd => fadd(a, b, 0),
        AddOp::Fsub => fadd(a, b, SIGN),
        AddOp::Fmin => zip(a, b, |a, b| if order(a) > order(b) { b } else { a }),
        AddOp::Fmax => zip(a, b, |a, b| if order(a) > order(b) { a } else { b }),
        AddOp::Fminabs => zip(a, b, |a, b| (a & !SIGN).min(b & !SIGN)),
        AddOp::Fmaxabs => zip(a, b, |a, b| (a & !SIGN).max(b & !SIGN)),
        AddOp::Ftoi => a.map(ftoi),
        AddOp::Itof => a.map(itof),
        AddOp::Add => zip(a, b, u32::wrapping_add),
        AddOp::Sub => zip(a, b, u32::wrapping_sub),
        AddOp::Shr if same_shift => a.map(|a| a >> by),
        AddOp::Shr => zip(a, b, |a, b| a >> (b & 31)),
        AddOp::Asr if same_shift => a.map(|a| (a as i32 >> by) as u32),
        AddOp::Asr => zip(a, b, |a, b| (a as i32 >> (b & 31)) as u32),
        AddOp::Ror => zip(a, b, |a, b| a.rotate_right(b & 31)),
        AddOp::Shl if same_shift => a.map(|a| a << by),
        AddOp::Shl => zip(a, b, |a, b| a << (b & 31)),
        AddOp::Min => zip(a, b, |a, b| (a as i32).min(b as i32) as u32),
        AddOp::Max => zip(a, b, |a, b| (a as i32).max(b as i32) as u32),
        AddOp::And => zip(a, b, |a, b| a & b),
        AddOp::Or => zip(a, b, |a, b| a | b),
        AddOp::Xor => zip(a, b, |a, b| a ^ b),
        AddOp::Not => a.map(|a| !a),
        AddOp::Clz => a.map(u32::leading_zeros),
        AddOp::V8adds => bytes(a, b, u8::saturating_add),
        AddOp::V8subs => bytes(a, b, u8::saturating_sub),
    }
}

/// C of the add ALU's results, as all bits or none of each element.
#[inline(always)]
fn add_carry(op: AddOp, a: &Lanes, b: &Lanes, result: &Lanes) -> Lanes {
    let all_if = |holds: bool| if holds { !0 } else { 0 };
    match op {
        AddOp::Fadd | AddOp::Fsub | AddOp::Itof => result.map(|value| all_if(value as i32 > 0)),
        AddOp::Fmin | AddOp::Fmax => zip(a, b, |a, b| all_if(order(a) > order(b))),
        AddOp::Fminabs | AddOp::Fmaxabs => zip(a, b, |a, b| all_if(a & !SIGN > b & !SIGN)),
        AddOp::Add => zip(a, result, |a, result| all_if(result < a)),
        AddOp::Sub => zip(a, b, |a, b| all_if(a < b)),
        AddOp::Min | AddOp::Max => zip(a, b, |a, b| all_if(a as i32 > b as i32)),
        AddOp::Shr | AddOp::Asr | AddOp::Shl => {
            zip(a, b, |a, b| all_if(alu::add(op, a, b).is_some_and(|outcome| outcome.carry)))
        }
        _ => Lanes::default(),
    }
}

/// Results of the mul ALU; `same` says that both operands are one, which is how moves are written.
#[inline(always)]
fn mul_result<const FMA: bool>(op: MulOp, a: &Lanes, b: &Lanes, same: bool) -> Lanes {
    match op {
        MulOp::Nop => Lanes::default(),
        MulOp::Fmul if FMA => fmul_fused(a, b),
        MulOp::Fmul => fmul(a, b),
        MulOp::Mul24 => zip(a, b, |a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
        MulOp::V8min | MulOp::V8max if same => *a,
        MulOp::V8muld => bytes(a, b, |a, b| {
            // Exact for all products of bytes: division by 255 is a multiplication.
            (((u32::from(a) * u32::from(b) + 127) * 0x8081) >> 23) as u8
        }),
        MulOp::V8min => bytes(a, b, u8::min),
        MulOp::V8max => bytes(a, b, u8::max),
        MulOp::V8adds => bytes(a, b, u8::saturating_add),
        MulOp::V8subs => bytes(a, b, u8::saturating_sub),
    }
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

/// A float in the range [0, 1] as a byte.
#[inline(always)]
fn float_to_colour(x: u32) -> u32 {
    let x = f32::from_bits(x);
    // The comparison sends NaN to 0.
    let clamped = if x > 0.0 { x.min(1.0) } else { 0.0 };
    (f64::from(clamped) * 255.0 + 0.5) as i32 as u32
}

/// Denormals and -0 as +0.
#[inline(always)]
fn flush(x: u32) -> u32 {
    if x & EXPONENT == 0 { 0 } else { x }
}

/// A number that compares as the float does, as sign and magnitude.
#[inline(always)]
fn order(x: u32) -> i32 {
    let sign = x as i32 >> 31;
    ((x & !SIGN) as i32 ^ sign) - sign
}

#[inline(always)]
fn fadd(a: &Lanes, b: &Lanes, flip: u32) -> Lanes {
    let mut special = 0;
    let mut result = Lanes::default();
    for i in 0..LANES {
        let (x, y) = (flush(a.0[i]), flush(b.0[i] ^ flip));
        let (x, y) = (f32::from_bits(x), f32::from_bits(y));
        let sum = x + y;
        let part = sum - x;
        let error = (x - (sum - part)) + (y - part);
        let bits = sum.to_bits();
        // Infinities, and whatever overflows on the way, leave no number here.
        special |= u32::from(error.is_nan());
        let away = u32::from(error != 0.0) & (error.to_bits() ^ bits) >> 31;
        result.0[i] = flush(bits.wrapping_sub(away));
    }
    if special == 0 {
        return result;
    }
    let op = if flip == 0 { AddOp::Fadd } else { AddOp::Fsub };
    zip(a, b, |a, b| alu::add(op, a, b).unwrap_or_default().value)
}

#[inline(always)]
fn fmul(a: &Lanes, b: &Lanes) -> Lanes {
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    let mut special = 0;
    let mut result = Lanes::default();
    for i in 0..LANES {
        let (x, y) = (a.0[i], b.0[i]);
        special |= u32::from(x & EXPONENT == EXPONENT) | u32::from(y & EXPONENT == EXPONENT);
        let product = f64::from(f32::from_bits(flush(x))) * f64::from(f32::from_bits(flush(y)));
        let cut = f64::from_bits(product.to_bits() & !((1 << 29) - 1));
        let cut = if product.abs() < SMALLEST { 0.0 } else { cut };
        result.0[i] = (cut as f32).to_bits();
    }
    if special == 0 {
        return result;
    }
    zip(a, b, |a, b| alu::mul(MulOp::Fmul, a, b).value)
}

/// Multiplies with a fused multiply-add: a product, and then the difference between the exact product and it.
#[inline(always)]
fn fmul_fused(a: &Lanes, b: &Lanes) -> Lanes {
    /// Below this the difference may be too small to be a float.
    const SAFE: u32 = 30 << 23;
    let mut special = 0;
    let mut result = Lanes::default();
    for i in 0..LANES {
        let (x, y) = (f32::from_bits(flush(a.0[i])), f32::from_bits(flush(b.0[i])));
        let product = x * y;
        let error = x.mul_add(y, -product);
        let bits = product.to_bits();
        let magnitude = bits & !SIGN;
        let zero = x == 0.0 || y == 0.0;
        special |= u32::from(magnitude >= EXPONENT) | u32::from(magnitude < SAFE) & u32::from(!zero);
        let away = u32::from(error != 0.0) & (error.to_bits() ^ bits) >> 31;
        result.0[i] = if zero { 0 } else { bits.wrapping_sub(away) };
    }
    if special == 0 {
        return result;
    }
    zip(a, b, |a, b| alu::mul(MulOp::Fmul, a, b).value)
}

#[inline(always)]
fn ftoi(x: u32) -> u32 {
    // Exponents from 2^31 on: only 2^31 itself has an integer.
    if x & EXPONENT < (127 + 31) << 23 {
        f32::from_bits(x) as i32 as u32
    } else if x & !SIGN == (127 + 31) << 23 {
        SIGN
    } else {
        0
    }
}

#[inline(always)]
fn itof(x: u32) -> u32 {
    let exact = f64::from(x as i32);
    (f64::from_bits(exact.to_bits() & !((1 << 29) - 1)) as f32).to_bits()
}

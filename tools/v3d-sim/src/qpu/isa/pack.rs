//! Packing of results and unpacking of operands.
//!
//! Register file A has an unpacker on its read port and a packer on its write port; r4 has an unpacker for results of textures and the tile buffer;
//! the mul ALU can convert its result to an 8-bit colour. The bit `pm` of an instruction selects between the first pair and the others.
//!
//! # Surprises
//! - Saturation depends on the overflow and carry of an addition or subtraction, not on the value, even for parts of a word.
//! - 16-bit and 8-bit parts leave the rest of the destination as it is.
//! - Floats become half floats by rounding half away from zero, the only rounding of the QPU that is not toward zero.
//!
//! # Sources
//! [AG p.30-32]; the details are [silicon] (`tests/vectors`), except for the colours of the mul ALU [AG p.30] [pyvc].

use crate::qpu::isa::alu::Outcome;
use v3d_hw::qpu::{PackA, PackMul, Unpack};

/// Output of a packer: a value, and the bits of the destination that it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The bits, in their position.
    pub value: u32,
    /// The bits of the destination that change.
    pub mask: u32,
}

/// Bits of the destination that a mode of file A's packer changes.
pub const fn pack_a_mask(mode: PackA) -> u32 {
    match mode {
        PackA::None | PackA::Replicated | PackA::Saturated | PackA::ReplicatedSaturated => !0,
        PackA::Half0 | PackA::Half0Saturated => 0xffff,
        PackA::Half1 | PackA::Half1Saturated => 0xffff_0000,
        PackA::Byte0 | PackA::Byte0Saturated => 0xff,
        PackA::Byte1 | PackA::Byte1Saturated => 0xff00,
        PackA::Byte2 | PackA::Byte2Saturated => 0xff_0000,
        PackA::Byte3 | PackA::Byte3Saturated => 0xff00_0000,
    }
}

/// Packs a result for register file A; `float`: the operation produces a float.
pub fn pack_a(mode: PackA, result: Outcome, float: bool) -> Packed {
    let Outcome { value, carry, overflow } = result;
    let half = |saturate: bool| {
        if float {
            return float_to_half(value);
        }
        let limit = if carry { 0x8000 } else { 0x7fff };
        let fits = value as i32 == i32::from(value as i16);
        match (overflow, saturate) {
            (false, false) => value & 0xffff,
            (false, true) => clamp_to_half(value),
            (true, true) if !fits => clamp_to_half(value) & limit,
            (true, _) => limit,
        }
    };
    let byte = |saturate: bool| {
        let limit = if carry { 0 } else { 0xff };
        match (overflow, saturate) {
            (false, false) => value & 0xff,
            (false, true) => clamp_to_byte(value),
            (true, true) if value > 0xff => clamp_to_byte(value) & limit,
            (true, _) => limit,
        }
    };
    let bits = match mode {
        PackA::None => value,
        PackA::Saturated if overflow => {
            if carry {
                0x8000_0000
            } else {
                0x7fff_ffff
            }
        }
        PackA::Saturated => value,
        PackA::Half0 => half(false),
        PackA::Half1 => half(false) << 16,
        PackA::Half0Saturated => half(true),
        PackA::Half1Saturated => half(true) << 16,
        PackA::Replicated => byte(false) * 0x0101_0101,
        PackA::Byte0 => byte(false),
        PackA::Byte1 => byte(false) << 8,
        PackA::Byte2 => byte(false) << 16,
        PackA::Byte3 => byte(false) << 24,
        PackA::ReplicatedSaturated => byte(true) * 0x0101_0101,
        PackA::Byte0Saturated => byte(true),
        PackA::Byte1Saturated => byte(true) << 8,
        PackA::Byte2Saturated => byte(true) << 16,
        PackA::Byte3Saturated => byte(true) << 24,
    };
    let mask = pack_a_mask(mode);
    Packed { value: bits & mask, mask }
}

/// Bits of the destination that a mode of the mul ALU's packer changes; `None` for reserved codes.
pub const fn pack_mul_mask(mode: PackMul) -> Option<u32> {
    Some(match mode {
        PackMul::None | PackMul::Replicated => !0,
        PackMul::Byte0 => 0xff,
        PackMul::Byte1 => 0xff00,
        PackMul::Byte2 => 0xff_0000,
        PackMul::Byte3 => 0xff00_0000,
        PackMul::Reserved(_) => return None,
    })
}

/// Packs a result of the mul ALU as a colour; `None` for reserved codes.
pub fn pack_mul(mode: PackMul, value: u32) -> Option<Packed> {
    let mask = pack_mul_mask(mode)?;
    let bits = if mode == PackMul::None { value } else { float_to_colour(value) * 0x0101_0101 };
    Some(Packed { value: bits & mask, mask })
}

/// Unpacks an operand read from register file A; `float`: the operation that consumes it takes floats.
pub fn unpack_a(mode: Unpack, word: u32, float: bool) -> u32 {
    let half = |half: u32| if float { half_to_float(half) } else { half as u16 as i16 as u32 };
    let byte = |byte: u32| if float { colour_to_float(byte) } else { byte & 0xff };
    match mode {
        Unpack::None => word,
        Unpack::Half0 => half(word & 0xffff),
        Unpack::Half1 => half(word >> 16),
        Unpack::Byte3Replicated => (word >> 24) * 0x0101_0101,
        Unpack::Byte0 => byte(word),
        Unpack::Byte1 => byte(word >> 8),
        Unpack::Byte2 => byte(word >> 16),
        Unpack::Byte3 => byte(word >> 24),
    }
}

/// Unpacks r4: always to floats.
pub fn unpack_r4(mode: Unpack, word: u32) -> u32 {
    unpack_a(mode, word, true)
}

/// Clamps a signed integer to 16 bits.
fn clamp_to_half(value: u32) -> u32 {
    (value as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff
}

/// Clamps a signed integer to 0 to 255.
fn clamp_to_byte(value: u32) -> u32 {
    (value as i32).clamp(0, 255) as u32
}

/// A float as a half float, rounded half away from zero; half denormals become 0, NaN infinite.
pub fn float_to_half(x: u32) -> u32 {
    let sign = x >> 16 & 0x8000;
    let magnitude = x & 0x7fff_ffff;
    // Adding half of the last kept bit carries into the exponent where it must.
    let rounded = magnitude + 0x1000;
    let exponent = (rounded >> 23) as i32 - 127 + 15;
    match exponent {
        ..=0 => 0,
        31.. => sign | 0x7c00,
        _ => sign | (exponent as u32) << 10 | rounded >> 13 & 0x3ff,
    }
}

/// A half float as a float. A denormal keeps its bits and so becomes a denormal of another value; the highest exponent stays the highest.
pub fn half_to_float(half: u32) -> u32 {
    let sign = (half & 0x8000) << 16;
    let mantissa = (half & 0x3ff) << 13;
    match half >> 10 & 31 {
        0 => sign | mantissa,
        31 => sign | 0x7f80_0000 | mantissa,
        exponent => sign | (exponent + 127 - 15) << 23 | mantissa,
    }
}

/// Byte / 255 as a float, rounded toward zero.
pub fn colour_to_float(byte: u32) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 1;
        while byte < 256 {
            table[byte] = quotient_by_255(byte as u64);
            byte += 1;
        }
        table
    };
    TABLE[(byte & 0xff) as usize]
}

/// `numerator` / 255 for 1 to 255, truncated to 24 significant bits.
const fn quotient_by_255(numerator: u64) -> u32 {
    let quotient = (numerator << 40) / 255;
    let highest = 63 - quotient.leading_zeros();
    let significand = (quotient >> (highest - 23)) as u32;
    (127 + highest - 40) << 23 | significand & 0x7f_ffff
}

/// A float in the range [0, 1] as a byte: clamped, scaled by 255 and rounded to nearest.
pub fn float_to_colour(x: u32) -> u32 {
    let x = f32::from_bits(x);
    // NaN becomes 0.
    if x.is_nan() || x <= 0.0 {
        return 0;
    }
    (f64::from(x.min(1.0)) * 255.0 + 0.5) as u32
}

//! Conversions between integers and floats.

use crate::case::Case;
use crate::samples::OperandKind;
use crate::table::{Document, Row};
use std::cmp::Ordering;

const FILE: &str = "convert.qinc";

/// Types of integers: the document's name, and bits, negative for signed ones.
pub(crate) const INTEGERS: [(&str, i32); 6] =
    [("u8", 8), ("u16", 16), ("u32", 32), ("s8", -8), ("s16", -16), ("s32", -32)];

/// Rounding modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

/// The document's letters for rounding modes.
pub(crate) const ROUNDINGS: [(&str, Rounding); 4] =
    [("n", Rounding::Nearest), ("z", Rounding::Zero), ("m", Rounding::Down), ("p", Rounding::Up)];

impl Rounding {
    /// A number rounded to an integer.
    pub(crate) fn whole(self, x: f64) -> f64 {
        match self {
            Self::Nearest => x.round_ties_even(),
            Self::Zero => x.trunc(),
            Self::Down => x.floor(),
            Self::Up => x.ceil(),
        }
    }

    /// A number rounded to `bits` bits of significand, the lowest of which is at least 2^`least`.
    pub(crate) fn to_precision(self, x: f64, bits: i32, least: i32) -> f64 {
        if x == 0.0 || !x.is_finite() {
            return x;
        }
        let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let unit = f64::from((exponent - bits + 1).max(least)).exp2();
        self.whole(x / unit) * unit
    }
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (to_name, to) in INTEGERS {
        for (from_name, from) in INTEGERS {
            let case = case(format!("cvt {to_name} {from_name}"), format!("cvt_int {to}, {from}"), kind(from));
            rows.push(case.exact(move |x| vec![fit(value(x[0], from) as f64, to)]));
        }
        for (letter, rounding) in ROUNDINGS {
            let to_integer = case(
                format!("cvt r{letter}i {to_name} f32"),
                format!("cvt_f32_int {to}, round_{letter}"),
                OperandKind::Float,
            );
            rows.push(to_integer.exact(move |x| vec![fit(rounding.whole(operand(x[0])), to)]));
            let to_float =
                case(format!("cvt r{letter} f32 {to_name}"), format!("cvt_int_f32 {to}, round_{letter}"), kind(to));
            rows.push(
                to_float
                    .exact(move |x| vec![(rounding.to_precision(value(x[0], to) as f64, 24, -149) as f32).to_bits()]),
            );
        }
    }
    for (letter, rounding) in ROUNDINGS {
        let whole =
            case(format!("cvt r{letter}i f32 f32"), format!("cvt_f32_whole round_{letter}"), OperandKind::Float);
        rows.push(whole.judged(move |x, results| {
            let expected = rounding.whole(operand(x[0]));
            expected.is_nan() || f64::from(f32::from_bits(results[0])) == expected
        }));
        let to_half = case(format!("cvt r{letter} f16 f32"), format!("cvt_f32_f16 round_{letter}"), OperandKind::Float);
        rows.push(to_half.exact(move |x| vec![half(operand(x[0]), x[0] >> 31, rounding)]));
    }
    rows.extend(between_halves_and_integers());
    let from_half = case("cvt f32 f16", "cvt_f16_f32", OperandKind::HalfFloat);
    rows.push(from_half.exact(|x| vec![float_of_half(x[0])]));
    rows.push(case("cvt f32 f32", "mov r0, r0", OperandKind::Float).exact(|x| vec![x[0]]));
    rows
}

/// Conversions that the document does not have, through floats of 32 bits.
///
/// Every float of 16 bits is exact in 32. So are integers of up to 16 bits; longer ones that are rounded there exceed the range of 16-bit floats.
fn between_halves_and_integers() -> Vec<Row> {
    let case =
        |operation: String, name: String, kind| Case::new(Document::Beside, operation, FILE, name).input("r0", kind);
    let mut rows = Vec::new();
    for ((ty, bits), (letter, rounding)) in INTEGERS.into_iter().flat_map(|ty| ROUNDINGS.map(|rounding| (ty, rounding)))
    {
        let name = format!("cvt_f16_f32; cvt_f32_int {bits}, round_{letter}");
        let to_integer = case(format!("cvt r{letter}i {ty} f16"), name, OperandKind::HalfFloat);
        rows.push(
            to_integer.exact(move |x| vec![fit(rounding.whole(f64::from(f32::from_bits(float_of_half(x[0])))), bits)]),
        );
        let name = format!("cvt_int_f32 {bits}, round_{letter}; cvt_f32_f16 round_{letter}");
        let to_half = case(format!("cvt r{letter} f16 {ty}"), name, kind(bits));
        rows.push(to_half.exact(move |x| {
            let exact = value(x[0], bits) as f64;
            vec![half(exact, u32::from(exact < 0.0), rounding)]
        }));
    }
    rows
}

fn case(operation: impl Into<String>, name: impl Into<String>, kind: OperandKind) -> Case {
    Case::new(Document::Instructions, operation, FILE, name).input("r0", kind)
}

pub(crate) fn kind(ty: i32) -> OperandKind {
    match ty.abs() {
        8 => OperandKind::Byte,
        16 => OperandKind::Half,
        _ => OperandKind::Word,
    }
}

/// The value of an integer's bits.
pub(crate) fn value(x: u32, ty: i32) -> i64 {
    match ty {
        -8 => i64::from(x as i8),
        -16 => i64::from(x as i16),
        -32 => i64::from(x as i32),
        _ => i64::from(x),
    }
}

/// The integer of a type that is nearest to a whole number, as bits; NaN is 0.
pub(crate) fn fit(whole: f64, ty: i32) -> u32 {
    let bits = ty.unsigned_abs();
    let mask = u32::MAX >> (32 - bits);
    let (least, most) = if ty < 0 { (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1) } else { (0, i64::from(mask)) };
    (whole as i64).clamp(least, most) as u32 & mask
}

/// A float operand: denormals count as 0.
pub(crate) fn operand(bits: u32) -> f64 {
    let float = f32::from_bits(bits);
    f64::from(if float.is_subnormal() { float * 0.0 } else { float })
}

/// The bits of a number as a float of 16 bits.
pub(crate) fn half(x: f64, sign: u32, rounding: Rounding) -> u32 {
    let magnitude = if x.is_nan() {
        0x7fff
    } else {
        let rounded = rounding.to_precision(x, 11, -24).abs();
        let outward = match rounding {
            Rounding::Nearest => true,
            Rounding::Zero => false,
            Rounding::Down => sign == 1,
            Rounding::Up => sign == 0,
        };
        match rounded.partial_cmp(&65536.0) {
            Some(Ordering::Less) if rounded >= 6.103515625e-5 => {
                ((rounded.to_bits() >> 42) as u32) - ((1023 - 15) << 10)
            }
            Some(Ordering::Less) => (rounded * 16_777_216.0) as u32,
            _ if outward || x.is_infinite() => 0x7c00,
            _ => 0x7bff,
        }
    };
    sign << 15 | magnitude
}

/// The bits of a float of 16 bits as one of 32.
pub(crate) fn float_of_half(half: u32) -> u32 {
    let (exponent, fraction) = (half >> 10 & 31, half & 0x3ff);
    let magnitude = match exponent {
        0 => (f64::from(fraction) / 16_777_216.0) as f32,
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => ((1.0 + f64::from(fraction) / 1024.0) * f64::from(exponent as i32 - 15).exp2()) as f32,
    };
    (half >> 15) << 31 | magnitude.to_bits()
}

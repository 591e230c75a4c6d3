//! Floats of 64 bits.

use crate::case::Case;
use crate::convert::{INTEGERS, ROUNDINGS, Rounding, fit, float_of_half, half, kind, operand, value};
use crate::float::conditions;
use crate::integer::sign_and_zero;
use crate::samples::OperandKind;
use crate::table::{Document, Row};
use std::cmp::Ordering;

const FILE: &str = "double.qinc";

fn case(operation: impl Into<String>, name: impl Into<String>) -> Case {
    let case = Case::new(Document::Instructions, operation, FILE, name).input("r0", OperandKind::DoubleLow);
    case.input("r1", OperandKind::DoubleHigh).input("r2", OperandKind::DoubleLow).input("r3", OperandKind::DoubleHigh)
}

fn double(low: u32, high: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![extremum("min"), extremum("max")];
    for subset in 0..16 {
        rows.extend(comparison(subset));
    }
    rows.extend(conversions());
    rows
}

fn conversions() -> Vec<Row> {
    let new = |operation: String, name: String| Case::new(Document::Instructions, operation, FILE, name);
    let words = |double: f64| vec![double.to_bits() as u32, (double.to_bits() >> 32) as u32];
    let mut rows = Vec::new();
    for (ty, bits) in INTEGERS {
        let case = new(format!("cvt f64 {ty}"), format!("cvt_int_f64 {bits}")).input("r0", kind(bits));
        rows.push(case.outputs(&["r0", "r1"]).exact(|x| words(value(x[0], bits) as f64)));
        for (letter, rounding) in ROUNDINGS {
            let case = new(format!("cvt r{letter}i {ty} f64"), format!("cvt_f64_int {bits}, round_{letter}"));
            let case = case.input("r0", OperandKind::Fraction).input("r1", OperandKind::DoubleHigh);
            rows.push(case.exact(move |x| vec![fit(rounding.whole(double(x[0], x[1])), bits)]));
        }
    }
    let longer =
        new("cvt f64 f32".to_owned(), "cvt_f32_f64".to_owned()).input("r0", OperandKind::Float).outputs(&["r0", "r1"]);
    rows.push(longer.judged(|x, results| {
        let (expected, result) = (operand(x[0]), double(results[0], results[1]));
        result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan()
    }));
    let from_half =
        new("cvt f64 f16".to_owned(), "cvt_f16_f32; cvt_f32_f64".to_owned()).input("r0", OperandKind::HalfFloat);
    rows.push(from_half.outputs(&["r0", "r1"]).judged(|x, results| {
        let (expected, result) = (f64::from(f32::from_bits(float_of_half(x[0]))), double(results[0], results[1]));
        result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan()
    }));
    for (letter, rounding) in ROUNDINGS {
        let shorter = new(format!("cvt r{letter} f32 f64"), format!("cvt_f64_f32 round_{letter}"));
        let shorter = shorter.input("r0", OperandKind::Word).input("r1", OperandKind::DoubleHigh);
        rows.push(shorter.judged(move |x, results| {
            let (exact, result) = (double(x[0], x[1]), f32::from_bits(results[0]));
            let outward = match rounding {
                Rounding::Nearest => true,
                Rounding::Zero => false,
                Rounding::Down => exact < 0.0,
                Rounding::Up => exact > 0.0,
            };
            let expected = rounding.to_precision(exact, 24, -149);
            let expected = match expected.abs() {
                denormal if denormal < f64::from(f32::MIN_POSITIVE) => 0.0 * exact.signum(),
                large @ 340_282_366_920_938_463_463_374_607_431_768_211_456.0.. if !outward && large.is_finite() => {
                    f64::from(f32::MAX).copysign(exact)
                }
                _ => expected,
            };
            result.to_bits() == (expected as f32).to_bits() || result.is_nan() && exact.is_nan()
        }));
    }
    for (letter, rounding) in ROUNDINGS {
        let to_half = new(format!("cvt r{letter} f16 f64"), format!("cvt_f64_f16 round_{letter}"));
        let to_half = to_half.input("r0", OperandKind::Fraction).input("r1", OperandKind::DoubleAsHalf);
        rows.push(to_half.exact(move |x| vec![half(double(x[0], x[1]), x[1] >> 31, rounding)]));
    }
    for (letter, rounding) in ROUNDINGS {
        let whole = new(format!("cvt r{letter}i f64 f64"), format!("cvt_f64_whole round_{letter}"));
        let whole = whole
            .input("r0", OperandKind::Fraction)
            .input("r1", OperandKind::DoubleWithFraction)
            .outputs(&["r0", "r1"]);
        rows.push(whole.exact(move |x| {
            let exact = double(x[0], x[1]);
            if exact.is_nan() { x.to_vec() } else { words(rounding.whole(exact)) }
        }));
    }
    rows
}

fn extremum(op: &'static str) -> Row {
    case(format!("{op} f64"), format!("{op}_f64")).outputs(&["r0", "r1"]).judged(move |x, results| {
        let (a, b) = (double(x[0], x[1]), double(x[2], x[3]));
        let result = double(results[0], results[1]);
        match (a.is_nan(), b.is_nan()) {
            (true, true) => result.is_nan(),
            (true, false) => result == b,
            (false, true) => result == a,
            (false, false) => result == if (a < b) == (op == "min") { a } else { b },
        }
    })
}

fn comparison(subset: u32) -> [Row; 2] {
    let operation = format!("set {{{}}} f64", conditions(subset, ",", ""));
    let name = format!("set_f64 {subset}");
    let set = move |x: &[u32]| {
        let condition = match double(x[0], x[1]).partial_cmp(&double(x[2], x[3])) {
            Some(Ordering::Less) => 1,
            Some(Ordering::Equal) => 2,
            Some(Ordering::Greater) => 4,
            None => 8,
        };
        if subset & condition != 0 { u32::MAX } else { 0 }
    };
    let with_flags = case(format!("{operation} CDST"), format!("{name}; cdst_sz")).outputs(&["r0", "r3"]);
    [case(operation, name).exact(|x| vec![set(x)]), with_flags.exact(|x| vec![set(x), sign_and_zero(set(x), 32)])]
}

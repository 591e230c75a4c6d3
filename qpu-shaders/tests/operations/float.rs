//! Floats of 32 bits.

use crate::case::Case;
use crate::integer::sign_and_zero;
use crate::samples::OperandKind;
use crate::table::{Document, Row};
use std::cmp::Ordering;

const FILE: &str = "float.qinc";

fn case(operation: impl Into<String>, name: impl Into<String>) -> Case {
    Case::new(Document::Instructions, operation, FILE, name)
        .input("r0", OperandKind::Float)
        .input("r1", OperandKind::Float)
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for rounding in [Rounding::Nearest, Rounding::Zero] {
        for saturate in [false, true] {
            rows.push(arithmetic("add", rounding, saturate, sum));
            rows.push(arithmetic("mul", rounding, saturate, |a, b| (a * b, 0.0)));
        }
    }
    rows.push(multiply_and_add());
    rows.extend([extremum("min"), extremum("max")]);
    for subset in 0..16 {
        rows.extend(comparison(subset));
    }
    let slct = Case::new(Document::Instructions, "slct b32 f32", FILE, "slct_f32").input("r0", OperandKind::Word);
    let slct = slct.input("r1", OperandKind::Word).input("r2", OperandKind::Float);
    rows.push(slct.exact(|x| vec![if f32::from_bits(x[2]) >= 0.0 { x[0] } else { x[1] }]));
    rows
}

/// Rounding modes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// rn: to nearest, ties to even.
    Nearest,
    /// rz: toward zero.
    Zero,
}

/// The sum of two doubles: rounded, and the exact error [Knuth, two-sum].
pub(crate) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let short = (a - (sum - of_b)) + (b - of_b);
    (sum, if short.is_finite() { short } else { 0.0 })
}

/// The float for an exact value, given as a double and its error: 0 instead of a denormal, infinite if it is too large.
pub(crate) fn rounded((value, short): (f64, f64), rounding: Rounding) -> f32 {
    let nearest = value as f32;
    if value.is_nan() || value.abs() >= 2_f64.powi(128) {
        return if value < 0.0 {
            f32::NEG_INFINITY
        } else if value.is_nan() {
            value as f32
        } else {
            f32::INFINITY
        };
    }
    // The next float towards 0: the conversion rounds to nearest, so the result is that one or the one before it.
    let excess = |float: f32| ((f64::from(float) - value) - short) * value.signum();
    let is_beyond = nearest.is_infinite() || excess(nearest) > 0.0;
    let below = if is_beyond { f32::from_bits(nearest.to_bits() - 1) } else { nearest };
    if below.abs() < f32::MIN_POSITIVE {
        let is_normal = rounding == Rounding::Nearest && nearest.abs() == f32::MIN_POSITIVE;
        return if is_normal { nearest } else { 0.0 };
    }
    let above = f32::from_bits(below.to_bits() + 1);
    let unit = 2_f64.powi((below.to_bits() >> 23 & 0xff) as i32 - 127 - 23);
    let is_odd = below.to_bits() & 1 == 1;
    match (rounding, (-excess(below)).partial_cmp(&(unit / 2.0))) {
        (Rounding::Nearest, Some(Ordering::Greater)) => above,
        (Rounding::Nearest, Some(Ordering::Equal)) if is_odd => above,
        _ => below,
    }
}

/// A float operand: denormals count as 0.
pub(crate) fn operand(bits: u32) -> f64 {
    let float = f32::from_bits(bits);
    f64::from(if float.is_subnormal() { 0.0 } else { float })
}

fn arithmetic(op: &str, rounding: Rounding, saturate: bool, exact: fn(f64, f64) -> (f64, f64)) -> Row {
    let suffix = if rounding == Rounding::Nearest { "rn" } else { "rz" };
    let operation = format!("{op}{} {suffix} f32", if saturate { " sat" } else { "" });
    let name = format!("{op}_{suffix}_f32{}", if saturate { "; saturate_f32" } else { "" });
    case(operation, name).judged(move |x, results| {
        let result = rounded(exact(operand(x[0]), operand(x[1])), rounding);
        let result = if saturate { result.clamp(0.0, 1.0) } else { result };
        result.is_nan() || f32::from_bits(results[0]) == result
    })
}

fn multiply_and_add() -> Row {
    case("add mul f32", "mad_f32").input("r2", OperandKind::Float).judged(|x, results| {
        let product = rounded((operand(x[0]) * operand(x[1]), 0.0), Rounding::Zero);
        let result = rounded(sum(f64::from(product), operand(x[2])), Rounding::Zero);
        result.is_nan() || f32::from_bits(results[0]) == result
    })
}

fn extremum(op: &'static str) -> Row {
    case(format!("{op} f32"), format!("{op}_f32")).judged(move |x, results| {
        let [a, b, result] = [x[0], x[1], results[0]].map(f32::from_bits);
        match (a.is_nan(), b.is_nan()) {
            (true, true) => result.is_nan(),
            (true, false) => result == b,
            (false, true) => result == a,
            (false, false) => result == if (a < b) == (op == "min") { a } else { b },
        }
    })
}

/// The names of a set of conditions.
pub(crate) fn conditions(subset: u32, separator: &str, prefix: &str) -> String {
    let names = ["l", "e", "g", "u"].iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1);
    names.map(|(_, name)| format!("{prefix}{name}")).collect::<Vec<_>>().join(separator)
}

/// For a set of conditions by bits: less, equal, greater, unordered.
fn comparison(subset: u32) -> [Row; 2] {
    let operation = format!("set {{{}}} f32", conditions(subset, ",", ""));
    let name =
        if subset == 0 { "set_f32 0".to_owned() } else { format!("set_f32 {}", conditions(subset, " + ", "setf_")) };
    let set = move |x: &[u32]| {
        let condition = match f32::from_bits(x[0]).partial_cmp(&f32::from_bits(x[1])) {
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

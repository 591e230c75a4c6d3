//! Functions of a float.

use crate::case::Case;
use crate::samples::{Kind, operand_sets};
use crate::table::{Document, LargestError, Row};

const FILE: &str = "functions.qinc";

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    vec![function("rcp", "rcp_f32", |x| 1.0 / x)]
}

/// A row of a function of normal floats, where its results are normal, too; 0 and infinity have to be right.
fn function(operation: &str, name: &str, oracle: impl Fn(f64) -> f64) -> Row {
    let case = Case::new(Document::Instructions, format!("{operation} f32"), FILE, name).input("r0", Kind::Float);
    let sets = operand_sets(name, &[Kind::Float]);
    case.check(&sets, LargestError::Exact, |operands, results| {
        let argument = f32::from_bits(operands[0]);
        let argument = if argument.is_subnormal() { 0.0 } else { argument };
        if argument.is_nan() {
            return Ok(LargestError::Exact);
        }
        let exact = oracle(f64::from(argument));
        let result = f32::from_bits(results[0]);
        if exact.abs() < f64::from(f32::MIN_POSITIVE) {
            return if result == 0.0 { Ok(LargestError::Exact) } else { Err("0".to_owned()) };
        }
        match ulps(result, exact) {
            0.0 => Ok(LargestError::Exact),
            few @ ..1000.0 => Ok(LargestError::Ulp(few)),
            _ => Err(format!("{exact} = {:08x}", (exact as f32).to_bits())),
        }
    })
}

/// The difference of a float to an exact value, in units of that value's last place; magnitudes are compared where the exact one is infinite.
pub(crate) fn ulps(result: f32, exact: f64) -> f64 {
    if exact.abs() > f64::from(f32::MAX) {
        return if result.is_infinite() { 0.0 } else { f64::INFINITY };
    }
    let exponent = (exact.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    (f64::from(result) - exact).abs() / f64::from(exponent.max(-126) - 23).exp2()
}

//! Floats of 64 bits.

use crate::case::Case;
use crate::float::conditions;
use crate::integer::sign_and_zero;
use crate::samples::Kind;
use crate::table::{Document, Row};
use std::cmp::Ordering;

const FILE: &str = "double.qinc";
/// Why arithmetic of doubles has no row with figures.
const UNBUILT: &str =
    "not built: the chip has no unit for it, and the soft form, from products of 16 bits, is not written yet";

fn case(operation: impl Into<String>, name: impl Into<String>) -> Case {
    let case = Case::new(Document::Instructions, operation, FILE, name).input("r0", Kind::DoubleLow);
    case.input("r1", Kind::DoubleHigh).input("r2", Kind::DoubleLow).input("r3", Kind::DoubleHigh)
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
    let absent = |operation: &str| Row::absent(Document::Instructions, operation, UNBUILT);
    rows.extend(["fma f64", "cvt f64 integers", "cvt integers f64", "cvt f64 floats", "cvt floats f64"].map(absent));
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

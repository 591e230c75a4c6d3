//! Sums, differences, minima, maxima and comparisons of integers.

use crate::case::Case;
use crate::samples::OperandKind;
use crate::table::{Document, Row};

const FILE: &str = "integer.qinc";

/// The four operations of the add family.
pub(crate) const FAMILY: [&str; 4] = ["add", "sub", "subr", "addc"];

/// Bits of CDST.
pub(crate) const Z: u32 = 1;
pub(crate) const S: u32 = 2;
pub(crate) const O: u32 = 4;
pub(crate) const C: u32 = 8;

/// DST and CDST of the add family, by the document's pseudo-code: `s1` and `s2` are the operands before any of them is inverted.
pub(crate) fn add_family(op: &str, saturate: bool, bits: u32, s1: u32, s2: u32, condition: u32) -> (u32, u32) {
    let mask = u32::MAX >> (32 - bits);
    let (s1, s2, carry) = match op {
        "add" => (s1, s2, 0),
        "sub" => (s1, !s2 & mask, 1),
        "subr" => (!s1 & mask, s2, 1),
        _ => (s1, s2, u64::from(condition & C != 0)),
    };
    let sign = |x: u32| x >> (bits - 1) & 1;
    let sum = u64::from(s1) + u64::from(s2) + carry;
    let mut flags = if sum >> bits & 1 == 1 { C } else { 0 };
    let mut result = sum as u32 & mask;
    if sign(s1) == sign(s2) && sign(s1) != sign(result) {
        flags |= O;
        if saturate {
            result = if sign(result) == 1 { mask >> 1 } else { mask ^ mask >> 1 };
        }
    }
    (result, flags | sign_and_zero(result, bits))
}

/// S and Z of a result.
pub(crate) fn sign_and_zero(result: u32, bits: u32) -> u32 {
    (if result >> (bits - 1) & 1 == 1 { S } else { 0 }) | (if result == 0 { Z } else { 0 })
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for op in FAMILY {
        for saturate in [false, true] {
            for bits in [32, 16] {
                for flags in [false, true] {
                    rows.push(add_family_row(op, saturate, bits, flags));
                }
            }
        }
    }
    for ty in ["u16", "s16", "u32", "s32"] {
        for op in ["min", "max"] {
            let pick = move |a: u32, b: u32| if (value(ty, a) < value(ty, b)) == (op == "min") { a } else { b };
            rows.extend(with_flags(&format!("{op} {ty}"), &format!("{op}_{ty}"), ty, pick));
        }
        for subset in 0..8 {
            let conditions = |separator: &str, prefix: &str| {
                let names = ["l", "e", "g"].iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1);
                names.map(|(_, name)| format!("{prefix}{name}")).collect::<Vec<_>>().join(separator)
            };
            let operation = format!("set {{{}}} {ty}", conditions(",", ""));
            let name = match subset {
                0 => format!("set_{ty} 0"),
                _ => format!("set_{ty} {}", conditions(" + ", "set_")),
            };
            let set = move |a: u32, b: u32| {
                let condition = match value(ty, a).cmp(&value(ty, b)) {
                    std::cmp::Ordering::Less => 1,
                    std::cmp::Ordering::Equal => 2,
                    std::cmp::Ordering::Greater => 4,
                };
                if subset & condition != 0 { u32::MAX >> (32 - bits(ty)) } else { 0 }
            };
            rows.extend(with_flags(&operation, &name, ty, set));
        }
        for flags in [false, true] {
            rows.push(sad_row(ty, flags));
        }
    }
    rows
}

fn bits(ty: &str) -> u32 {
    if ty.ends_with("16") { 16 } else { 32 }
}

/// The value of an operand of a type.
fn value(ty: &str, x: u32) -> i64 {
    match ty {
        "u16" => i64::from(x as u16),
        "s16" => i64::from(x as i16),
        "u32" => i64::from(x),
        _ => i64::from(x as i32),
    }
}

fn kind(ty: &str) -> OperandKind {
    if bits(ty) == 16 { OperandKind::Half } else { OperandKind::Word }
}

/// An operation on two operands, without and with flags, whose O and C are 0.
fn with_flags(operation: &str, name: &str, ty: &str, oracle: impl Fn(u32, u32) -> u32) -> [Row; 2] {
    let case = |operation: String, name: String| {
        Case::new(Document::Instructions, operation, FILE, name).input("r0", kind(ty)).input("r1", kind(ty))
    };
    let flags = if bits(ty) == 16 { "cdst_sz_b16" } else { "cdst_sz" };
    [
        case(operation.to_owned(), name.to_owned()).exact(|x| vec![oracle(x[0], x[1])]),
        case(format!("{operation} CDST"), format!("{name}; {flags}")).outputs(&["r0", "r3"]).exact(|x| {
            let result = oracle(x[0], x[1]);
            vec![result, sign_and_zero(result, bits(ty))]
        }),
    ]
}

/// The difference is an unsigned word, so its bit 31 is 0 for 16-bit operands.
fn sad_row(ty: &str, flags: bool) -> Row {
    let operation = format!("sad {ty}{}", if flags { " CDST" } else { "" });
    let name = format!("sad_{ty}{}", if flags { "_c" } else { "" });
    let case = Case::new(Document::Instructions, operation, FILE, name);
    let case = case.input("r0", kind(ty)).input("r1", kind(ty)).input("r2", kind(ty));
    let case = if flags { case.outputs(&["r0", "r3"]) } else { case };
    case.exact(|x| {
        let difference = (value(ty, x[0]) - value(ty, x[1])).unsigned_abs() as u32;
        let sum = u64::from(difference) + u64::from(x[2]);
        let mask = u32::MAX >> (32 - bits(ty));
        let result = sum as u32 & mask;
        let sign = |x: u32| x >> (bits(ty) - 1) & 1;
        let mut cdst = sign_and_zero(result, bits(ty)) | if sum >> bits(ty) & 1 == 1 { C } else { 0 };
        if difference >> 31 == sign(x[2]) && difference >> 31 != sign(result) {
            cdst |= O;
        }
        if flags { vec![result, cdst] } else { vec![result] }
    })
}

fn add_family_row(op: &str, saturate: bool, bits: u32, flags: bool) -> Row {
    let (spaced, joined) = if saturate { (" sat", "_sat") } else { ("", "") };
    let operation = format!("{op}{spaced} b{bits}{}", if flags { " CDST" } else { "" });
    let name = format!("{op}{joined}_b{bits}{}", if flags { "_c" } else { "" });
    let kind = if bits == 32 { OperandKind::Word } else { OperandKind::Half };
    let case = Case::new(Document::Instructions, operation, FILE, name).input("r0", kind).input("r1", kind);
    let case = if op == "addc" { case.input("r3", OperandKind::Flags) } else { case };
    let case = if flags { case.outputs(&["r0", "r3"]) } else { case };
    case.exact(|x| {
        let (result, cdst) = add_family(op, saturate, bits, x[0], x[1], x.get(2).copied().unwrap_or(0));
        if flags { vec![result, cdst] } else { vec![result] }
    })
}

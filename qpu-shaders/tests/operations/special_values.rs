//! Results of float operations for zeros, denormals, infinities and NaN.
//!
//! They are those of the model's ALUs, which follow recordings of a chip.

use crate::case::Case;
use crate::samples::OperandKind;
use crate::table::Document;
use std::fmt::Write;

const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0000;
const DENORMAL: u32 = 0x0040_0000;
const LARGEST: u32 = 0x7f7f_ffff;
const SIGN: u32 = 1 << 31;
const ONE: u32 = 0x3f80_0000;

/// Pairs of operands.
const PAIRS: [[u32; 2]; 10] = [
    [SIGN, SIGN],
    [0, SIGN],
    [ONE, ONE | SIGN],
    [0, INFINITY],
    [INFINITY, INFINITY | SIGN],
    [LARGEST, LARGEST],
    [LARGEST | SIGN, LARGEST],
    [DENORMAL, ONE],
    [NAN, ONE],
    [ONE, NAN],
];
/// Operations of two operands: file, macro.
const OF_PAIRS: [(&str, &str); 6] = [
    ("float.qinc", "add_rn_f32"),
    ("float.qinc", "add_rz_f32"),
    ("float.qinc", "mul_rn_f32"),
    ("float.qinc", "mul_rz_f32"),
    ("float.qinc", "min_f32"),
    ("float.qinc", "max_f32"),
];

/// Single operands.
const SINGLE: [u32; 9] = [0, SIGN, DENORMAL, DENORMAL | SIGN, ONE | SIGN, LARGEST, INFINITY, INFINITY | SIGN, NAN];
/// Operations of one operand: file, macro, form of the result.
const OF_SINGLE: [(&str, &str, Form); 13] = [
    ("float.qinc", "saturate_f32", Form::Float),
    ("functions.qinc", "rcp_f32", Form::Float),
    ("functions.qinc", "rcp_f32_fast", Form::Float),
    ("functions.qinc", "rsqrt_f32", Form::Float),
    ("functions.qinc", "lg2_f32", Form::Float),
    ("functions.qinc", "preex2_f32; ex2_f32", Form::Float),
    ("functions.qinc", "presin_f32; sin_f32", Form::Float),
    ("functions.qinc", "presin_f32; cos_f32", Form::Float),
    ("convert.qinc", "cvt_f32_whole round_n", Form::Float),
    ("convert.qinc", "cvt_f32_int -32, round_z", Form::Word),
    ("convert.qinc", "cvt_f32_int 32, round_z", Form::Word),
    ("convert.qinc", "cvt_f32_f16 round_n", Form::Word),
    ("double.qinc", "cvt_f32_f64", Form::TwoWords),
];

/// The format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Float,
    Word,
    /// Two words, the higher one first.
    TwoWords,
}

impl Form {
    fn text(self, results: &[u32]) -> String {
        match self {
            Self::Float => float(results[0]),
            Self::Word => format!("{:#x}", results[0]),
            Self::TwoWords => format!("{:08x} {:08x}", results[1], results[0]),
        }
    }
}

fn float(bits: u32) -> String {
    let sign = if bits & SIGN == 0 { "" } else { "-" };
    let magnitude = match bits & !SIGN {
        0 => "0".to_owned(),
        INFINITY => "inf".to_owned(),
        LARGEST => "max".to_owned(),
        above if above > INFINITY => "NaN".to_owned(),
        below if below < 0x80_0000 => "denormal".to_owned(),
        other if f32::from_bits(other) > 1e6 || f32::from_bits(other) < 1e-3 => {
            format!("{:.2e}", f32::from_bits(other))
        }
        other => f32::from_bits(other).to_string(),
    };
    format!("{sign}{magnitude}")
}

/// The tables in `OPERATIONS.md`.
pub(crate) fn tables() -> String {
    let mut text = include_str!("special_values.txt").to_owned();
    let row = |text: &mut String, name: &str, cells: Vec<String>| {
        let _ = writeln!(text, "| `{name}` | {} |", cells.join(" | "));
    };
    let heading = |text: &mut String, cells: Vec<String>| {
        let _ = writeln!(text, "\n| of | {} |\n|---|{}", cells.join(" | "), "---|".repeat(cells.len()));
    };
    heading(&mut text, PAIRS.iter().map(|pair| pair.map(float).join(", ")).collect());
    for (file, name) in OF_PAIRS {
        let case = Case::new(Document::Instructions, name, file, name)
            .input("r0", OperandKind::Float)
            .input("r1", OperandKind::Float);
        let results = case.of_sets(&PAIRS.map(Vec::from));
        row(&mut text, name, results.iter().map(|results| float(results[0])).collect());
    }
    heading(&mut text, SINGLE.iter().map(|&operand| float(operand)).collect());
    for (file, name, form) in OF_SINGLE {
        let case = Case::new(Document::Instructions, name, file, name).input("r0", OperandKind::Float);
        let case = if form == Form::TwoWords { case.outputs(&["r0", "r1"]) } else { case };
        let results = case.of_sets(&SINGLE.map(|operand| vec![operand]));
        row(&mut text, name, results.iter().map(|results| form.text(results)).collect());
    }
    text
}

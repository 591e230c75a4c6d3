//! Functions of a float.

use crate::case::Case;
use crate::samples::OperandKind;
use crate::table::{Document, LargestError, Row};

const FILE: &str = "functions.qinc";

/// Stride of the arguments among the 2^32 floats: a prime, so that all exponents and all kinds of mantissas occur. `OPERATIONS_SWEEP=N` takes every Nth
/// instead.
const STRIDE: u64 = 65_521;
/// Number of arguments of one run.
const CHUNK: usize = 1 << 16;

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        function(Document::Instructions, "rcp f32", "rcp_f32", |x| 1.0 / x, Measure::Ulp),
        function(Document::Beside, "rcp f32, as the SFU has it", "rcp_f32_fast", |x| 1.0 / x, Measure::Ulp),
        function(Document::Instructions, "rsqrt f32", "rsqrt_f32", |x| 1.0 / x.abs().sqrt(), Measure::Ulp),
        function(Document::Instructions, "lg2 f32", "lg2_f32", |x| x.abs().log2(), Measure::Ulp),
        function(Document::Instructions, "preex2 f32, ex2 f32", "preex2_f32; ex2_f32", f64::exp2, Measure::Ulp),
        function(
            Document::Instructions,
            "presin f32, sin f32",
            "presin_f32; sin_f32",
            f64::sin,
            Measure::AbsoluteWithin(32768.0),
        ),
        function(
            Document::Instructions,
            "presin f32, cos f32",
            "presin_f32; cos_f32",
            f64::cos,
            Measure::AbsoluteWithin(32768.0),
        ),
    ]
}

/// Error measures.
#[derive(Clone, Copy)]
enum Measure {
    /// In units in the last place of the exact result.
    Ulp,
    /// As differences, for arguments of up to this magnitude.
    AbsoluteWithin(f64),
}

/// A row of a function of floats: denormals count as 0, results that would be denormal have to be 0 or the smallest normal number, and NaN is not an
/// argument.
fn function(document: Document, operation: &str, name: &str, oracle: impl Fn(f64) -> f64, measure: Measure) -> Row {
    let stride = std::env::var("OPERATIONS_SWEEP").ok().and_then(|stride| stride.parse().ok()).unwrap_or(STRIDE);
    let arguments = (0..1_u64 << 32).step_by(stride as usize).map(|bits| bits as u32);
    let mut arguments = arguments.chain(OperandKind::Float.edges().iter().copied());
    let chunks = std::iter::from_fn(|| {
        let chunk: Vec<Vec<u32>> = arguments.by_ref().take(CHUNK).map(|bits| vec![bits]).collect();
        (!chunk.is_empty()).then_some(chunk)
    });
    let case = Case::new(document, operation, FILE, name).input("r0", OperandKind::Float);
    case.check(chunks, |operands, results| {
        let argument = f32::from_bits(operands[0]);
        let argument = f64::from(if argument.is_subnormal() { argument * 0.0 } else { argument });
        let (exact, result) = (oracle(argument), f32::from_bits(results[0]));
        let told = || format!("{exact} = {:08x}", (exact as f32).to_bits());
        match measure {
            Measure::AbsoluteWithin(limit) if argument.abs() <= limit => {
                let difference = (f64::from(result) - exact).abs();
                if difference < 1e-3 { Ok(LargestError::Absolute(difference)) } else { Err(told()) }
            }
            Measure::Ulp if !argument.is_nan() => match ulps(result, exact) {
                few @ ..10_000.0 => Ok(LargestError::Ulp(few)),
                _ => Err(told()),
            },
            _ => Ok(LargestError::Exact),
        }
    })
}

/// The error of a float in units in the last place of the exact value; 0 is correct up to the smallest normal float, and infinity above the largest.
pub(crate) fn ulps(result: f32, exact: f64) -> f64 {
    if exact.abs() > f64::from(f32::MAX) {
        // The sign of 1 / 0 is ignored.
        return if result.is_infinite() { 0.0 } else { f64::INFINITY };
    }
    if exact.abs() <= f64::from(f32::MIN_POSITIVE) && result == 0.0 {
        return 0.0;
    }
    let exponent = (exact.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    (f64::from(result) - exact).abs() / f64::from(exponent.max(-126) - 23).exp2()
}

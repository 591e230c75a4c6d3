//! The special functions unit: reciprocal, reciprocal square root, exponential and logarithm to base 2.
//!
//! Each result has a mantissa of 15 bits, of which 10 to 12 are good. No table of the exact bits is known. The functions are computed in double
//! precision and cut down so that the values recorded on silicon (`tests/vectors/sfu.txt`) come out as closely as a rule can make it: all 16 recorded
//! exponentials exactly, the others within 2^-12.
//!
//! # What the recordings show
//! - All results are multiples of 2^-15 of their binade.
//! - EXP turns its argument into fixed point with 15 bits of fraction, negative numbers by inverting the bits, so that -1.0 counts as a little
//!   less; its results are one to two steps too high.
//! - RECIP(1.0) is 1.0, but RECIP of other powers of two is a little low (RECIP(4.0) < 0.25).
//! - RSQRT and LOG take the absolute value.
//!
//! Each function is rounded toward zero, flushes denormals, and gives infinities where the function has poles or leaves the range.
//!
//! # Sources
//! [AG p.23]; [silicon].

use crate::qpu::lanes::Lanes;

/// A function of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// 1 / x.
    Recip,
    /// 1 / sqrt(|x|).
    RecipSqrt,
    /// 2^x.
    Exp,
    /// log2(|x|).
    Log,
}

/// Applies a function to all elements, without branches.
#[inline(always)]
pub fn apply_all(function: Function, lanes: &Lanes) -> Lanes {
    match function {
        Function::Recip => recip_all(lanes),
        Function::RecipSqrt => recip_sqrt_all(lanes).unwrap_or_else(|| lanes.map(|x| recip_sqrt(x & !SIGN))),
        Function::Exp => exp_all(lanes).unwrap_or_else(|| lanes.map(exp)),
        Function::Log => log_all(lanes).unwrap_or_else(|| lanes.map(|x| log(x & !SIGN))),
    }
}

/// An approximation counts if it is at least this far from a step; its error is far less.
pub(in crate::qpu) const DOUBT: f64 = 1e-4;

/// The integer part of a number from -2^31 to 2^31, rounded down. A cast would check each element for overflow, one after the other.
#[inline(always)]
fn floor(value: f64) -> i32 {
    /// A number whose unit in the last place is 1: adding it rounds to an integer, in the lowest bits.
    const UNITS: f64 = 6_755_399_441_055_744.0;
    let rounded = value + UNITS;
    rounded.to_bits() as i32 - i32::from(rounded - UNITS > value)
}

/// Whether an approximation is so close to a step that it may be on the wrong side of it.
#[inline(always)]
fn is_doubtful(steps: f64) -> bool {
    let fraction = steps - f64::from(floor(steps));
    !(DOUBT..=1.0 - DOUBT).contains(&fraction)
}

/// The value of a polynomial, its lowest coefficient first; pairs of terms, and pairs of those, are computed independently.
#[inline(always)]
fn polynomial<const N: usize>(mut terms: [f64; N], mut x: f64) -> f64 {
    let mut count = N;
    while count > 1 {
        let pairs = count / 2;
        for i in 0..pairs {
            terms[i] = terms[2 * i] + terms[2 * i + 1] * x;
        }
        if count % 2 == 1 {
            terms[pairs] = terms[count - 1];
        }
        count = pairs + count % 2;
        x *= x;
    }
    terms[0]
}

/// ln(2)^n / n! for n from 0 to 8, times the square root of 2: the Taylor series of 2^x around 1/2. Its error from 0 to 1 is below 3e-10.
pub(in crate::qpu) const EXP_SERIES: [f64; 9] = {
    let mut terms = [std::f64::consts::SQRT_2; 9];
    let mut n = 1;
    while n <= 8 {
        terms[n] = terms[n - 1] * std::f64::consts::LN_2 / n as f64;
        n += 1;
    }
    terms
};
/// Added to the steps of an exponential.
pub(in crate::qpu) const EXP_OFFSET: f64 = 1.85;

/// 2 / ln(2) / n for odd n from 1 to 11: the series of the logarithm in (m - c) / (m + c), where c is the square root of 2. Its error from 1 to 2 is
/// below 3e-11.
pub(in crate::qpu) const LOG_SERIES: [f64; 6] = {
    let mut terms = [0.0; 6];
    let mut i = 0;
    while i < 6 {
        terms[i] = 2.0 * std::f64::consts::LOG2_E / (2 * i + 1) as f64;
        i += 1;
    }
    terms
};
/// Added to the steps of a logarithm.
pub(in crate::qpu) const LOG_OFFSET: f64 = -1.2;

/// A float by its bits, as a double.
#[inline(always)]
fn number(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// [`recip`] of all elements, with their signs.
///
/// A quotient of single precision, increased a little, is the result or one step too large. Its product with the argument, which is exact in double
/// precision, tells which.
#[inline(always)]
fn recip_all(lanes: &Lanes) -> Lanes {
    lanes.map(|x| {
        let magnitude = x & !SIGN;
        let above = ((1.0 / f32::from_bits(magnitude)).to_bits() + 1) & KEPT;
        let bits = above.wrapping_sub(if number(above) * number(magnitude) > 1.0 { STEP } else { 0 });
        let is_low = x & 0x7f_ffff == 0 && magnitude >> 23 != 127;
        let bits = bits.wrapping_sub(if is_low { 2 * STEP } else { 0 });
        let bits = if magnitude > MAX_WITH_RECIPROCAL { 0 } else { bits };
        if magnitude >> 23 == 0 { INFINITY } else { x & SIGN | bits }
    })
}

/// [`recip_sqrt`] of the magnitudes of all elements, like [`recip_all`]; `None` if any is doubtful, since here the product is not always exact.
#[inline(always)]
fn recip_sqrt_all(lanes: &Lanes) -> Option<Lanes> {
    let mut doubtful = false;
    let mut results = Lanes::default();
    for (result, &x) in results.0.iter_mut().zip(&lanes.0) {
        let magnitude = x & !SIGN;
        let above = ((1.0 / f32::from_bits(magnitude).sqrt()).to_bits() + 2) & KEPT;
        let product = number(above) * number(above) * number(magnitude);
        let bits = above.wrapping_sub(if product > 1.0 { STEP } else { 0 });
        // As with the reciprocal, an exact power of two comes out a little low.
        let is_power_of_four = x & 0xff_ffff == 0x80_0000;
        doubtful |= product == 1.0 && !is_power_of_four;
        let bits = bits.wrapping_sub(if is_power_of_four { 2 * STEP } else { 0 });
        let bits = if magnitude >> 23 == 255 { 0 } else { bits };
        *result = if magnitude >> 23 == 0 { INFINITY } else { bits };
    }
    (!doubtful).then_some(results)
}

/// [`exp`] of all elements; `None` if any is doubtful.
#[inline(always)]
fn exp_all(lanes: &Lanes) -> Option<Lanes> {
    let mut doubtful = false;
    let mut results = Lanes::default();
    for (result, &x) in results.0.iter_mut().zip(&lanes.0) {
        let exponent = x >> 23 & 0xff;
        let in_range = exponent < FIRST_EXPONENT_BEYOND;
        let magnitude = f64::from(f32::from_bits(if exponent != 0 && in_range { x & !SIGN } else { 0 }));
        let negative = x & SIGN != 0 && exponent != 0;
        let fixed = floor(magnitude * STEPS);
        let fixed = if negative { !fixed } else { fixed };
        let whole = fixed >> 15;
        let exact = magnitude - f64::from(floor(magnitude));
        let fraction = if negative { f64::from(fixed & 0x7fff) / STEPS } else { exact };
        let steps = polynomial(EXP_SERIES, fraction - 0.5) * STEPS + EXP_OFFSET;
        doubtful |= is_doubtful(steps);
        let steps = floor(steps).min(65534);
        let biased = whole + 127;
        let number = (biased as u32) << 23 | (steps as u32 & 0x7fff) << 8;
        let beyond = if x & SIGN != 0 { 0 } else { INFINITY };
        let number = if biased <= 0 { 0 } else { number };
        let number = if biased >= 255 { INFINITY } else { number };
        *result = if in_range { number } else { beyond };
    }
    (!doubtful).then_some(results)
}

/// [`log`] of the magnitudes of all elements; `None` if any is doubtful.
#[inline(always)]
fn log_all(lanes: &Lanes) -> Option<Lanes> {
    let mut doubtful = false;
    let mut results = Lanes::default();
    for (result, &x) in results.0.iter_mut().zip(&lanes.0) {
        let exponent = x >> 23 & 0xff;
        let mantissa = f64::from(f32::from_bits(x & 0x7f_ffff | 0x3f80_0000));
        let ratio = (mantissa - std::f64::consts::SQRT_2) / (mantissa + std::f64::consts::SQRT_2);
        let steps = ratio * polynomial(LOG_SERIES, ratio * ratio) * STEPS + (0.5 * STEPS + LOG_OFFSET);
        doubtful |= is_doubtful(steps);
        let fraction = floor(steps).max(0);
        let fixed = (exponent as i32 - 127) * 32768 + fraction;
        let magnitude = if fixed < 0 { !fixed } else { fixed };
        let bits = (magnitude as f32 * (1.0 / 32768.0)).to_bits();
        let sign = if fixed < 0 && magnitude != 0 { SIGN } else { 0 };
        let number = if exponent == 255 { INFINITY } else { sign | bits };
        *result = if exponent == 0 { SIGN | INFINITY } else { number };
    }
    (!doubtful).then_some(results)
}

/// The sign of a float.
pub(in crate::qpu) const SIGN: u32 = 0x8000_0000;
/// Infinity as a float.
pub(in crate::qpu) const INFINITY: u32 = 0x7f80_0000;
/// The bits of a float that the unit produces.
pub(in crate::qpu) const KEPT: u32 = !(STEP - 1);
/// The lowest of them.
pub(in crate::qpu) const STEP: u32 = 0x100;
/// 2^126, whose reciprocal is the smallest normal float.
const MAX_WITH_RECIPROCAL: u32 = 0x7e80_0000;
/// The exponent of arguments, as it stands in a float, from which on 2^x leaves the range of results whatever the mantissa.
pub(in crate::qpu) const FIRST_EXPONENT_BEYOND: u32 = 127 + 8;
/// Steps of a result in one binade.
pub(in crate::qpu) const STEPS: f64 = 32768.0;

/// Applies a function to one element.
pub fn apply(function: Function, x: u32) -> u32 {
    match function {
        Function::Recip => x & SIGN & sign_unless_zero(x) | recip(x & !SIGN),
        Function::RecipSqrt => recip_sqrt(x & !SIGN),
        Function::Exp => exp(x),
        Function::Log => log(x & !SIGN),
    }
}

/// All bits for a normal number, none for a zero or denormal: those have no sign.
const fn sign_unless_zero(x: u32) -> u32 {
    if x >> 23 & 0xff == 0 { 0 } else { !0 }
}

/// A positive, finite value cut down to the unit's precision.
fn truncate(value: f64) -> u32 {
    let bits = (value as f32).to_bits();
    // Conversion to single precision may have rounded up to the next step; the step below is meant.
    let bits = if f64::from(f32::from_bits(bits)) > value { bits - 1 } else { bits };
    if bits >> 23 == 0 { 0 } else { bits & KEPT }
}

fn recip(x: u32) -> u32 {
    match x >> 23 {
        0 => INFINITY,
        255 => 0,
        exponent => {
            let result = truncate(1.0 / f64::from(f32::from_bits(x)));
            let power_of_two = x & 0x7f_ffff == 0;
            if power_of_two && exponent != 127 && result != 0 { result - 2 * STEP } else { result }
        }
    }
}

fn recip_sqrt(x: u32) -> u32 {
    match x >> 23 {
        0 => INFINITY,
        255 => 0,
        _ => {
            let result = 1.0 / f64::from(f32::from_bits(x)).sqrt();
            let bits = truncate(result);
            // As with the reciprocal, an exact power of two comes out a little low.
            if bits & 0x7f_ffff == 0 && f64::from(f32::from_bits(bits)) == result { bits - 2 * STEP } else { bits }
        }
    }
}

fn exp(x: u32) -> u32 {
    let exponent = x >> 23 & 0xff;
    let negative = x & SIGN != 0;
    if exponent >= FIRST_EXPONENT_BEYOND {
        return if negative { 0 } else { INFINITY };
    }
    let magnitude = if exponent == 0 { 0.0 } else { f64::from(f32::from_bits(x & !SIGN)) };
    let negative = negative && exponent != 0;
    let (fixed, exact) = if negative {
        // Inverting all bits of the magnitude gives one step less than the negated magnitude.
        (!((magnitude * STEPS) as i64), None)
    } else {
        ((magnitude * STEPS) as i64, Some(magnitude))
    };
    let whole = fixed >> 15;
    let fraction = match exact {
        Some(value) => value - value.floor(),
        None => (fixed & 0x7fff) as f64 / STEPS,
    };
    let steps = ((fraction.exp2() * STEPS + 1.85) as u32).min(65534);
    let biased = whole + 127;
    match biased {
        ..=0 => 0,
        255.. => INFINITY,
        _ => (biased as u32) << 23 | (steps & 0x7fff) << 8,
    }
}

fn log(x: u32) -> u32 {
    match x >> 23 {
        0 => SIGN | INFINITY,
        255 => INFINITY,
        exponent => {
            let whole = i64::from(exponent) - 127;
            let mantissa = f64::from(f32::from_bits(x & 0x7f_ffff | 0x3f80_0000));
            let fraction = if mantissa == 1.0 { 0 } else { (mantissa.log2() * STEPS - 1.2).max(0.0) as i64 };
            let fixed = whole * 32768 + fraction;
            // A negative result is turned into sign and magnitude by inverting its bits: one step short.
            let magnitude = if fixed < 0 { !fixed } else { fixed };
            let bits = (magnitude as f64 / STEPS) as f32;
            if fixed < 0 && magnitude != 0 { SIGN | bits.to_bits() } else { bits.to_bits() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [measured] for all of the 2^32 arguments; here for edges and a sample.
    #[test]
    fn all_elements_get_what_one_gets() {
        let edges =
            [0, 1, 0x7f_ffff, 0x80_0000, 0x3f80_0000, 0x4080_0000, 0x7e80_0000, 0x7f00_0000, 0x7f7f_ffff, 0x7f80_0000];
        let edges = edges.into_iter().chain([0x7fc0_0000, 0x3f7f_ffff, 0x3f80_0001, 0x7e80_0001, 0x7e7f_ffff]);
        let many = (0..200_000).map(|i: u32| i.wrapping_mul(0x9e37_79b9));
        let values: Vec<u32> = edges.flat_map(|x| [x, x | SIGN]).chain(many).collect();
        for function in [Function::Recip, Function::RecipSqrt, Function::Exp, Function::Log] {
            for chunk in values.chunks_exact(16) {
                let lanes = Lanes(std::array::from_fn(|i| chunk[i]));
                assert_eq!(apply_all(function, &lanes), lanes.map(|x| apply(function, x)), "{function:?} {lanes:x?}");
            }
        }
    }
}

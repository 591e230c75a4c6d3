//! Binary logarithms with the same result on every host: not a library's, because libraries differ in their last bits.
//!
//! `ln x = 2 artanh z = 2 (z + z^3 / 3 + z^5 / 5 + ...)` with `z = (x - 1) / (x + 1)`, for an `x` between the roots of 1/2 and of 2.

/// The factors of the even powers of `z^2` in the sum of `z^(2n) / (2n + 1)`, highest power first, and of the odd ones. The remainder is less than 1e-15.
pub(super) const EVEN: [f64; 5] = [1.0 / 17.0, 1.0 / 13.0, 1.0 / 9.0, 1.0 / 5.0, 1.0];
pub(super) const ODD: [f64; 4] = [1.0 / 15.0, 1.0 / 11.0, 1.0 / 7.0, 1.0 / 3.0];
/// The upper half of the root of 1/2.
pub(super) const ROOT_OF_HALF: u32 = (std::f64::consts::FRAC_1_SQRT_2.to_bits() >> 32) as u32;
/// The factor from artanh to the binary logarithm.
pub(super) const SCALE: f64 = 2.0 * std::f64::consts::LOG2_E;

/// The binary logarithm of a positive number.
pub(crate) fn log2(value: f32) -> f32 {
    if value == f32::INFINITY {
        return value;
    }
    let bits = f64::from(value).to_bits();
    // The exponent that leaves a factor between the roots.
    let exponent = ((bits >> 32) as u32).wrapping_sub(ROOT_OF_HALF) as i32 >> 20;
    let rest = f64::from_bits(bits.wrapping_sub(u64::from(exponent as u32) << 52));
    let z = (rest - 1.0) / (rest + 1.0);
    let square = z * z;
    let fourth = square * square;
    // Two sums, each of which has to wait for itself only.
    let polynomial = |factors: &[f64]| factors.iter().fold(0.0, |sum, factor| sum * fourth + factor);
    let sum = polynomial(&EVEN) + square * polynomial(&ODD);
    (f64::from(exponent) + SCALE * z * sum) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the host's, which is not exact to the last bit either, and exactly where the result is a whole number.
    #[test]
    fn logarithms_are_right_to_the_last_bit_but_one() {
        for bits in (1..0x7f80_0000u32).step_by(1009) {
            let value = f32::from_bits(bits);
            let (own, host) = (log2(value), value.log2());
            let difference = (own.to_bits() as i32 - host.to_bits() as i32).abs();
            assert!(
                difference <= 1 || own.abs() < 1e-6 && (own - host).abs() < 1e-12,
                "{value:e}: {own} instead of {host}"
            );
        }
        for exponent in -149..128 {
            assert_eq!(log2(2f64.powi(exponent) as f32), exponent as f32);
        }
        assert_eq!(log2(f32::INFINITY), f32::INFINITY);
    }
}

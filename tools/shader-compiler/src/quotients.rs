//! Quotients and roots, refined from the special function unit's estimates.
//!
//! An estimate has 10 to 12 accurate bits [AG p.23], and all operations truncate to 24 bits: the QPU rounds toward zero. One step of Newton's method yields a
//! nearly exact result, which is mostly slightly too small. For most uses in shaders that is sufficient; but 6.0 / 3.0 must not be 1.9999999, for which
//! `floor` and `%` return other results.

use v3d_hw::qpu::AddOp;

use crate::ssa::{Op, Program, Relation, Special, Value};

/// Maximum error of a quotient in units in the last place, rounded up to a power of two.
const UNITS_LOW: u32 = 8;
/// Mask of the bits of a quotient that are kept for the test of exactness: 20 of the mantissa's 24.
const KEPT: u32 = -16i32 as u32;
/// 2^-23.5, the maximum error of a refined reciprocal of a power of two: the square of the estimate's error, which is assumed to be below 2^-11.75. For
/// powers of two the estimate is known to be accurate: RECIP(RECIP(2)), with two estimates, is 2.000183 [silicon].
const SQUARE_OF_ERROR: f32 = 8.429_369_6e-8;

impl Program {
    /// The reciprocal: the SFU's 12 accurate bits and one step of Newton's method, r * (2 - x * r).
    pub(crate) fn recip(&mut self, x: Value) -> Value {
        if let Some(bits) = self.constant(x) {
            return self.float(1.0 / f32::from_bits(bits));
        }
        let near = self.value(Op::Special(Special::Recip, x));
        let product = self.fmul(near, x);
        let two = self.float(2.0);
        let rest = self.fsub(two, product);
        self.fmul(near, rest)
    }

    /// a / x to within 2.5 units in the last place: q + q * (1 - x * r) for the estimate q = a * r. The correction is small, so truncating it loses nothing,
    /// unlike truncating the product with a refined reciprocal.
    pub(crate) fn near_quotient(&mut self, a: Value, x: Value) -> Value {
        if let Some(bits) = self.constant(x) {
            let inverse = self.float(1.0 / f32::from_bits(bits));
            return self.fmul(a, inverse);
        }
        let near = self.value(Op::Special(Special::Recip, x));
        let (product, estimate) = (self.fmul(near, x), self.fmul(a, near));
        let one = self.float(1.0);
        let rest = self.fsub(one, product);
        let correction = self.fmul(estimate, rest);
        self.fadd(estimate, correction)
    }

    /// The same, but exact if the quotient has at most 20 bits, as whole quotients of integers up to 2^20 have.
    ///
    /// Such a quotient is found by rounding the result to 20 bits, if its error is less than half of the dropped bits. The product of the rounded quotient
    /// and the divisor is compared with the dividend to test whether it is exact.
    pub(crate) fn quotient(&mut self, a: Value, x: Value) -> Value {
        let dividend = self.constant(a).map(f32::from_bits);
        let Some(divisor) = self.constant(x).map(f32::from_bits) else {
            if dividend.is_some_and(is_power_of_two) {
                return self.power_over(a, x);
            }
            let near = self.near_quotient(a, x);
            let units = self.bits(UNITS_LOW);
            let rounded = self.alu(AddOp::Add, near, units);
            return self.exact_or(near, rounded, a, x);
        };
        if let Some(dividend) = dividend {
            return self.float(dividend / divisor);
        }
        let Inverse { value, is_exact } = Inverse::of(divisor);
        let inverse = self.float(value);
        let near = self.fmul(a, inverse);
        // The result is known not to be too small.
        if is_exact { near } else { self.exact_or(near, near, a, x) }
    }

    /// A power of two divided by x: exact only if x is a power of two. Then the error of the refined estimate is the square of the first estimate's error;
    /// adding a bound of it makes the result exceed the quotient by less than a unit in the last place, which is truncated.
    fn power_over(&mut self, a: Value, x: Value) -> Value {
        let near = self.value(Op::Special(Special::Recip, x));
        let (product, estimate) = (self.fmul(near, x), self.fmul(a, near));
        let (one, more) = (self.float(1.0), self.float(SQUARE_OF_ERROR));
        let rest = self.fsub(one, product);
        let rest = self.fadd(rest, more);
        let correction = self.fmul(estimate, rest);
        self.fadd(estimate, correction)
    }

    /// A quotient's first 20 bits if their product with the divisor is the dividend, else the quotient.
    fn exact_or(&mut self, near: Value, rounded: Value, a: Value, x: Value) -> Value {
        let kept = self.bits(KEPT);
        let short = self.and(rounded, kept);
        let product = self.fmul(short, x);
        let is_exact = self.compare(Relation::Equal, product, a);
        self.select(is_exact, short, near)
    }

    /// 1 / sqrt(x) to within 2 units in the last place: r + r * (0.5 - 0.5 * x * r * r). The products are ordered such that none underflows for any x.
    pub(crate) fn exact_recip_sqrt(&mut self, x: Value) -> Value {
        if self.constant(x).is_some() {
            return self.recip_sqrt(x);
        }
        let near = self.value(Op::Special(Special::RecipSqrt, x));
        let half = self.float(0.5);
        let root = self.fmul(x, near);
        let square = self.fmul(root, near);
        let product = self.fmul(square, half);
        let rest = self.fsub(half, product);
        let correction = self.fmul(near, rest);
        self.fadd(near, correction)
    }

    /// sqrt(x) to within 4.5 units in the last place: x * r * 0.5 * (3 - x * r * r). For 0, where r is infinite, r of the smallest normal float is used.
    pub(crate) fn sqrt(&mut self, x: Value) -> Value {
        if let Some(bits) = self.constant(x) {
            return self.float(libm::sqrtf(f32::from_bits(bits)));
        }
        let least = self.float(f32::MIN_POSITIVE);
        let not_zero = self.alu(AddOp::Fmax, x, least);
        let near = self.value(Op::Special(Special::RecipSqrt, not_zero));
        let root = self.fmul(x, near);
        let (half, three) = (self.float(0.5), self.float(3.0));
        let square = self.fmul(root, near);
        let rest = self.fsub(three, square);
        let halved = self.fmul(root, half);
        self.fmul(halved, rest)
    }

    /// 1 / sqrt(x) as r * (1.5 - 0.5 * x * r * r), for numbers from 2^-125 to 2^125.
    pub(crate) fn recip_sqrt(&mut self, x: Value) -> Value {
        if let Some(bits) = self.constant(x) {
            return self.float(1.0 / libm::sqrtf(f32::from_bits(bits)));
        }
        let near = self.value(Op::Special(Special::RecipSqrt, x));
        let half = self.float(0.5);
        let half = self.fmul(x, half);
        let square = self.fmul(near, near);
        let product = self.fmul(half, square);
        let three_halves = self.float(1.5);
        let rest = self.fsub(three_halves, product);
        self.fmul(near, rest)
    }

    /// sqrt(x) by the same formula, with a tiny number in place of 0.
    pub(crate) fn fast_sqrt(&mut self, x: Value) -> Value {
        let tiny = self.float(1e-30);
        let not_zero = self.alu(AddOp::Fmax, x, tiny);
        let inverse = self.recip_sqrt(not_zero);
        self.fmul(x, inverse)
    }
}

fn is_power_of_two(number: f32) -> bool {
    number.is_normal() && number.to_bits() << 9 == 0
}

/// The reciprocal of a constant divisor, as a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inverse {
    value: f32,
    /// All quotients that are exact are obtained by truncated products with it.
    is_exact: bool,
}

impl Inverse {
    /// The smallest float that is not less than the reciprocal, so that no product is less than the quotient: if no product exceeds its quotient by a unit in
    /// the last place, truncation removes the excess.
    fn of(divisor: f32) -> Self {
        let nearest = 1.0 / divisor;
        if !divisor.is_normal() || !nearest.is_normal() {
            // The reciprocal or the divisor is not representable on the QPU: no quotient is exact.
            return Self { value: nearest, is_exact: true };
        }
        // The product of two floats is exact as a double.
        let product = |inverse: f32| f64::from(inverse) * f64::from(divisor);
        let further = f32::from_bits(nearest.to_bits() + 1);
        let value = if product(nearest) < 1.0 { further } else { nearest };
        Self { value, is_exact: product(value) - 1.0 < 0.5 * f64::from(f32::EPSILON) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::qpu::MulOp;
    use v3d_sim::qpu::isa::alu;

    /// Whole quotients below 2^20 for 2,000 divisors, every 37th quotient, by the reference ALU.
    #[test]
    fn a_product_with_an_exact_inverse_is_the_quotient() {
        let mut exact = 0;
        for divisor in 1..2000u32 {
            let divisor = divisor as f32;
            let inverse = Inverse::of(divisor);
            exact += u32::from(inverse.is_exact);
            for quotient in (1..1u32 << 20).step_by(37).filter(|quotient| *quotient as f32 * divisor < 16_777_216.0) {
                let quotient = quotient as f32;
                let found = f32::from_bits(
                    alu::mul(MulOp::Fmul, (quotient * divisor).to_bits(), inverse.value.to_bits()).value,
                );
                let off = found.to_bits() - quotient.to_bits();
                assert!(off <= u32::from(!inverse.is_exact), "{quotient} * {divisor} / {divisor} is {found}");
            }
        }
        assert!((1200..2000).contains(&exact), "{exact} of 1999 inverses are exact");
    }

    #[test]
    fn inverses_of_what_has_none_are_as_they_were() {
        for divisor in [0.0, f32::INFINITY, 1e-39, 3e38] {
            assert_eq!(Inverse::of(divisor).value.to_bits(), (1.0 / divisor).to_bits(), "{divisor}");
        }
    }
}

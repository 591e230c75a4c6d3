//! Quotients and roots, from the special function unit's estimates.
//!
//! An estimate has 10 to 12 good bits [AG p.23], and all that is computed is cut off after 24 bits: the QPU rounds toward zero. One step of Newton's method
//! makes the result nearly right, and mostly a little too small. For most of what shaders compute that is enough; but 6.0 / 3.0 must not be 1.9999999, of
//! which `floor` and `%` make another number.

use v3d_hw::qpu::AddOp;

use crate::ssa::{Op, Program, Relation, Special, Value};

/// Units of the last place by which a quotient is too small at most, to a power of two.
const UNITS_LOW: u32 = 8;
/// The bits of a float that are kept of a quotient that is tried for being exact: 20 of the mantissa's 24.
const KEPT: u32 = -16i32 as u32;
/// 2^-23.5, the most by which a corrected reciprocal of a power of two is too small: the square of the estimate's error, which is taken to be below 2^-11.75.
/// Of powers of two the estimate's error is known to be small: RECIP(RECIP(2)), which has two of them, is 2.000183 [silicon].
const SQUARE_OF_ERROR: f32 = 8.429_369_6e-8;

impl Program {
    /// The reciprocal: the SFU's 12 good bits and one step of Newton's method, r * (2 - x * r).
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

    /// a / x within 2.5 units of the last place: q + q * (1 - x * r) for the estimate q = a * r. The small correction loses nothing where it is cut off, as
    /// the product with a corrected reciprocal would.
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

    /// The same, and exact where the quotient has 20 bits or less, as that of whole numbers up to 2^20 has if it is whole.
    ///
    /// Such a quotient comes out if the result is rounded to 20 bits, as long as it is off by less than half of what they leave. Whether it is one is seen by
    /// its product with the divisor, which is then the dividend.
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
        // It is not too small.
        if is_exact { near } else { self.exact_or(near, near, a, x) }
    }

    /// A power of two divided by x: exact only where x is a power of two. There the corrected estimate lacks the square of the estimate's error, and what is
    /// added for that makes it exceed the quotient by less than a unit of the last place, which is cut off.
    fn power_over(&mut self, a: Value, x: Value) -> Value {
        let near = self.value(Op::Special(Special::Recip, x));
        let (product, estimate) = (self.fmul(near, x), self.fmul(a, near));
        let (one, more) = (self.float(1.0), self.float(SQUARE_OF_ERROR));
        let rest = self.fsub(one, product);
        let rest = self.fadd(rest, more);
        let correction = self.fmul(estimate, rest);
        self.fadd(estimate, correction)
    }

    /// A quotient's first 20 bits where their product with the divisor is the dividend, else the quotient as it is.
    fn exact_or(&mut self, near: Value, rounded: Value, a: Value, x: Value) -> Value {
        let kept = self.bits(KEPT);
        let short = self.and(rounded, kept);
        let product = self.fmul(short, x);
        let is_exact = self.compare(Relation::Equal, product, a);
        self.select(is_exact, short, near)
    }

    /// 1 / sqrt(x) within 2 units of the last place: r + r * (0.5 - 0.5 * x * r * r). The products are made such that none of them is too small for a float,
    /// whatever x is.
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

    /// sqrt(x) within 4.5 units of the last place: x * r * 0.5 * (3 - x * r * r). Of 0, for which there is no r, that of the smallest float will do.
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

    /// 1 / sqrt(x) as r * (1.5 - 0.5 * x * r * r), of numbers from 2^-125 to 2^125.
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

    /// sqrt(x) by that, where a tiny number stands for 0.
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

/// The inverse of a number that is known, as a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inverse {
    value: f32,
    /// Products with it, cut off, are all quotients that are exact.
    is_exact: bool,
}

impl Inverse {
    /// The float that is not less than the inverse, so that no product is less than the quotient: if it is so near that a product exceeds no quotient by a unit
    /// of the last place, nothing of the excess is left when the product is cut off.
    fn of(divisor: f32) -> Self {
        let nearest = 1.0 / divisor;
        if !divisor.is_normal() || !nearest.is_normal() {
            // The inverse or the divisor is none of the QPU's numbers: nothing is exact.
            return Self { value: nearest, is_exact: true };
        }
        // A product of two floats is exact as a double.
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

    /// All whole quotients below 2^20 of 2,000 divisors, every 37th quotient, by the reference ALU.
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

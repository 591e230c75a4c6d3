//! Exponentials, logarithms, and functions that are based on them: powers and hyperbolic functions.
//!
//! The special function unit has both to base 2, accurate to about 12 bits [AG p.23]; WGSL requires up to 22. So both are split into the exponent, which is
//! exact by the format of floats, and a polynomial for the rest. With [`Options::fast_math`](crate::Options) the unit's results are used unchanged.
//!
//! The polynomials are minimax fits. Each operation truncates, as the QPU rounds toward zero; the results stay within 1.7 units in the last place (2^x), and
//! within 0.55 and 0.65 of WGSL's bounds (logarithms).

use naga::MathFunction;
use v3d_hw::qpu::AddOp;

use super::Lowering;
use crate::ssa::{Op, Relation, Special, Value};

/// (2^f - 1) / f in powers of f, for f from 0 to 1.
const POWER: [f32; 6] = [0.693_147_06, 0.240_229_46, 0.055_483_37, 0.009_681_204, 0.001_240_135_4, 0.000_218_775_05];
/// log2(1 + t) / t in powers of t, for t from -0.29 to 0.41.
const LOGARITHM_2: [f32; 8] =
    [1.442_694_8, -0.721_357_17, 0.480_939_45, -0.360_087_22, 0.286_707_46, -0.250_069_02, 0.236_890_4, -0.145_744_53];
/// ln(1 + t) / t, in the same range.
const LOGARITHM_E: [f32; 8] =
    [0.999_999_8, -0.500_006_7, 0.333_361_83, -0.249_593_44, 0.198_730_47, -0.173_334_64, 0.164_199_92, -0.101_022_415];
/// 1.5 * 2^23 + 127: after adding it to a float, the lowest bits are the float's integer part plus the bias of exponents.
const INTEGER: f32 = 12_583_039.0;
/// The bits of the square root of 1/2: mantissas are normalised to the range from there to the square root of 2.
const ROOT_OF_HALF: u32 = 0x3f35_04f3;
/// A shift by 23, the position of the exponent, as a small immediate: only the five lowest bits count.
const TO_EXPONENT: u32 = -9i32 as u32;

/// 2^20: for larger numbers, the roots of the square plus or minus 1 equal the number.
const LARGE: f32 = 1_048_576.0;

/// Base of a logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Two,
    E,
}

impl Lowering<'_> {
    /// 2^a.
    pub(super) fn power_of_two(&mut self, a: Value) -> Value {
        if let Some(bits) = self.program.constant(a) {
            return self.program.float(libm::exp2(f64::from(f32::from_bits(bits))) as f32);
        }
        if self.fast_math {
            return self.program.value(Op::Special(Special::Exp, a));
        }
        // Below this range the result is 0, as small results are; above, it is infinite.
        let a = self.clamped(a, -127.0, 128.0);
        let integer = self.program.float(INTEGER);
        let biased = self.program.fadd(a, integer);
        let whole = self.program.fsub(biased, integer);
        let rest = self.program.fsub(a, whole);
        let (by, one) = (self.program.bits(TO_EXPONENT), self.program.float(1.0));
        let scale = self.program.alu(AddOp::Shl, biased, by);
        let sum = self.polynomial(&POWER, rest);
        let sum = self.program.fmul(sum, rest);
        let sum = self.program.fadd(sum, one);
        self.program.fmul(sum, scale)
    }

    /// e^a.
    fn power_of_e(&mut self, a: Value) -> Value {
        let exponent = self.scaled(a, core::f32::consts::LOG2_E);
        self.power_of_two(exponent)
    }

    /// The logarithm; minus infinity for numbers that are not positive, so that powers of 0 are 0.
    pub(super) fn logarithm(&mut self, base: Base, a: Value) -> Value {
        if let Some(bits) = self.program.constant(a) {
            let a = f64::from(f32::from_bits(bits));
            let logarithm = if base == Base::Two { libm::log2(a) } else { libm::log(a) };
            return self.program.float(if a > 0.0 { logarithm as f32 } else { f32::NEG_INFINITY });
        }
        if self.fast_math {
            let logarithm = self.program.value(Op::Special(Special::Log, a));
            return if base == Base::Two { logarithm } else { self.scaled(logarithm, core::f32::consts::LN_2) };
        }
        let (root, one) = (self.program.bits(ROOT_OF_HALF), self.program.float(1.0));
        let (by, zero) = (self.program.bits(TO_EXPONENT), self.program.bits(0));
        let exponent = self.program.alu(AddOp::Sub, a, root);
        let exponent = self.program.alu(AddOp::Asr, exponent, by);
        let scale = self.program.alu(AddOp::Shl, exponent, by);
        let mantissa = self.program.alu(AddOp::Sub, a, scale);
        let rest = self.program.fsub(mantissa, one);
        let sum = self.polynomial(if base == Base::Two { &LOGARITHM_2 } else { &LOGARITHM_E }, rest);
        let sum = self.program.fmul(sum, rest);
        let mut whole = self.float_of(exponent);
        if base == Base::E {
            whole = self.scaled(whole, core::f32::consts::LN_2);
        }
        let is_positive = self.program.compare(Relation::FloatLess, zero, a);
        let (logarithm, least) = (self.program.fadd(sum, whole), self.program.float(f32::NEG_INFINITY));
        self.program.select(is_positive, logarithm, least)
    }

    /// a^b; unspecified for negative a.
    fn power(&mut self, a: Value, b: Value) -> Value {
        if let Some(exponent) = self.program.constant(b)
            && let Some(product) = self.power_by_products(a, f32::from_bits(exponent))
        {
            return product;
        }
        let logarithm = self.logarithm(Base::Two, a);
        let exponent = self.program.fmul(logarithm, b);
        self.power_of_two(exponent)
    }

    /// asinh or acosh: the logarithm of |a| + sqrt(a^2 +- 1), with the sign of a. For large numbers it is the logarithm of 2 |a|: the root equals the number
    /// long before the square overflows, and the sum could overflow.
    fn inverse_hyperbolic(&mut self, is_sine: bool, a: Value) -> Value {
        let (zero, one) = (self.program.bits(0), self.program.float(1.0));
        let magnitude = if is_sine { self.magnitude(a) } else { a };
        let limit = self.program.float(LARGE);
        let is_large = self.program.compare(Relation::MagnitudeGreater, a, limit);
        let square = self.program.fmul(a, a);
        let square = if is_sine { self.program.fadd(square, one) } else { self.program.fsub(square, one) };
        let root = self.root(square);
        let sum = self.program.fadd(magnitude, root);
        let argument = self.program.select(is_large, magnitude, sum);
        let logarithm = self.logarithm(Base::E, argument);
        let of_two = self.program.float(core::f32::consts::LN_2);
        let more = self.program.select(is_large, of_two, zero);
        let result = self.program.fadd(logarithm, more);
        if !is_sine {
            return result;
        }
        let opposite = self.program.fsub(zero, result);
        let is_negative = self.program.compare(Relation::FloatLess, a, zero);
        self.program.select(is_negative, opposite, result)
    }

    /// The functions of this file, by naga's names; `None` for others.
    pub(super) fn exponential(&mut self, function: MathFunction, a: Value, b: Value) -> Option<Value> {
        use MathFunction as F;
        let (half, one) = (self.program.float(0.5), self.program.float(1.0));
        Some(match function {
            F::Exp => self.power_of_e(a),
            F::Exp2 => self.power_of_two(a),
            F::Log => self.logarithm(Base::E, a),
            F::Log2 => self.logarithm(Base::Two, a),
            F::Pow => self.power(a, b),
            F::Sinh | F::Cosh => {
                let up = self.power_of_e(a);
                let down = self.program.recip(up);
                let twice = if function == F::Sinh { self.program.fsub(up, down) } else { self.program.fadd(up, down) };
                self.program.fmul(twice, half)
            }
            F::Tanh => {
                // Beyond 10 the result is 1 to the last bit, and the powers would overflow.
                let within = self.clamped(a, -10.0, 10.0);
                let up = self.power_of_e(within);
                let down = self.program.recip(up);
                let (difference, sum) = (self.program.fsub(up, down), self.program.fadd(up, down));
                self.quotient(difference, sum)
            }
            F::Asinh | F::Acosh if !self.fast_math => self.inverse_hyperbolic(function == F::Asinh, a),
            F::Asinh | F::Acosh => {
                let square = self.program.fmul(a, a);
                let square =
                    if function == F::Asinh { self.program.fadd(square, one) } else { self.program.fsub(square, one) };
                let root = self.root(square);
                let sum = self.program.fadd(a, root);
                self.logarithm(Base::E, sum)
            }
            F::Atanh => {
                let (above, below) = (self.program.fadd(one, a), self.program.fsub(one, a));
                let ratio = self.quotient(above, below);
                let logarithm = self.logarithm(Base::E, ratio);
                self.program.fmul(logarithm, half)
            }
            _ => return None,
        })
    }
}

//! The functions of the SFU.
//!
//! Translated code rounds toward zero, so that the host's quotient, truncated to the unit's precision, is the unit's reciprocal. A reciprocal square root
//! computed from two such results is exact or one unit too large, which an exact product decides. Exponentials and logarithms use the model's
//! [series](crate::qpu::isa::sfu) in double precision, for half of the elements at a time; if a result is too close to a rounding boundary, [a
//! call](crate::qpu::translation::frame::Calls) computes all of them.

use super::Lowering;
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::isa::sfu::{self, Function};
use crate::qpu::translation::constants::Constant;
use crate::qpu::translation::host::{Half, Host, Mask, Special, Vector};

impl<H: Host> Lowering<H> {
    /// A function of the SFU; its result goes to r4.
    pub(in crate::qpu::translation) fn special_function(&mut self, function: Function, from: RegisterIndex) {
        let old = self.load(registers::R4);
        self.host.save_stale_r4(self.part, old);
        let argument = self.load(from);
        self.load_constants();
        let result = self.new_value();
        self.host.point_at_numbers();
        match function {
            Function::Recip => self.recip(argument, result),
            Function::RecipSqrt => self.recip_sqrt(argument, result),
            Function::Exp => self.exp(argument, result),
            Function::Log => self.log(argument, result),
        }
        self.store(registers::R4, result);
    }

    fn recip(&mut self, x: Vector, z: Vector) {
        let [magnitude, one, ..] = H::TEMPORARY;
        let (special, finite) = (self.new_mask(0), self.new_mask(1));
        let host = &mut self.host;
        host.and(magnitude, x, Constant::Magnitude.into());
        host.load_constant(one, Constant::One);
        host.below(finite, magnitude, Constant::Infinity);
        host.float_divide_where(z, finite, one, magnitude);
        host.and(z, z, Constant::Kept.into());
        // The results for powers of two are slightly low, except for 1.
        host.has_none(special, x, Constant::Mantissa);
        host.and_differs(special, magnitude, one);
        host.and_not_zero(special, z);
        host.subtract_where(z, special, Constant::TwoSteps);
        host.or_sign(z, x);
        self.infinite_for_zero(magnitude, z, special);
        self.release_masks([special, finite]);
    }

    fn recip_sqrt(&mut self, x: Vector, z: Vector) {
        let [magnitude, t1, t2, t3] = H::TEMPORARY;
        let (low, high) = (self.new_mask(0), self.new_mask(1));
        let host = &mut self.host;
        host.and(magnitude, x, Constant::Magnitude.into());
        host.load_constant(t1, Constant::One);
        host.float_root(t2, magnitude);
        host.float_divide(z, t1, t2);
        // Each of the two factors may be one unit in the last place too small. If both are incremented, the result is exact or one unit too large.
        host.add(z, z, Constant::LastPlaces.into());
        host.and(z, z, Constant::Kept.into());
        // The square of the result, times the argument, minus 1: the square is exact, and the sign of the difference tells whether the result is too large.
        for (half, above) in [(Half::Low, low), (Half::High, high)] {
            host.extract(t1, z, half);
            host.extract(t2, magnitude, half);
            host.to_doubles(t1, t1);
            host.to_doubles(t2, t2);
            host.double_multiply(t1, t1, t1.into());
            host.double_multiply_subtract(t1, t2, Constant::OneDouble);
            host.double_greater(above, t1, Constant::Zero);
        }
        host.join_masks(low, low, high);
        host.subtract_where(z, low, Constant::Step);
        // The results for powers of four are powers of two, which are slightly low.
        host.and(t3, x, Constant::MantissaAndOdd.into());
        host.equal(low, t3, Constant::Odd);
        host.subtract_where(z, low, Constant::TwoSteps);
        host.below(high, magnitude, Constant::Infinity);
        host.keep_where(z, high);
        self.infinite_for_zero(magnitude, z, low);
        self.release_masks([low, high]);
    }

    /// Sets results to infinity where the argument is 0 or denormal.
    fn infinite_for_zero(&mut self, magnitude: Vector, result: Vector, mask: Mask) {
        self.host.below(mask, magnitude, Constant::Smallest);
        self.host.replace_where(result, mask, Constant::Infinity);
    }

    fn exp(&mut self, x: Vector, z: Vector) {
        let (low, high) = (self.new_value(), self.new_value());
        let whole = self.new_value();
        let masks = [0, 1, 2].map(|number| self.new_mask(number));
        let [condition, second, doubtful] = masks;
        let [magnitude, t1, t2, t3] = H::TEMPORARY;
        let host = &mut self.host;
        host.and(magnitude, x, Constant::Magnitude.into());
        // Fixed point with 15 bits of fraction; negative numbers by inverting the bits. A denormal has no sign.
        host.float_multiply(t1, magnitude, Constant::Steps.into());
        host.float_to_integer(whole, t1);
        host.has_sign(condition, x);
        host.and_not_below(condition, magnitude, Constant::Smallest);
        host.ones(t2);
        host.invert_where(whole, condition, t2);
        // The fraction: exact for positive numbers, that of the fixed point for negative ones.
        host.float_truncate(t1, magnitude);
        host.float_subtract(t1, magnitude, t1.into());
        host.and(t2, whole, Constant::Low15Bits.into());
        host.integer_to_float(t2, t2);
        host.float_multiply_where(t1, condition, t2, Constant::StepSize);
        host.shift_right_signed(whole, whole, 15);
        host.add(whole, whole, Constant::Bias.into());

        host.extract(t2, t1, Half::High);
        for (sum, half, fraction) in [(low, t1, t1), (high, t2, t2)] {
            let host = &mut self.host;
            host.to_doubles(fraction, half);
            host.double_subtract(fraction, fraction, Constant::Half.into());
            polynomial(host, Constant::ExpSeries, sfu::EXP_SERIES.len(), fraction, sum);
            host.load_double(t3, Constant::StepsDouble);
            host.double_multiply_add(sum, t3, Constant::ExpOffset);
        }
        self.whole_steps([low, high], z, [second, doubtful]);

        let host = &mut self.host;
        host.load_constant(t1, Constant::MostSteps);
        host.min_signed(z, z, t1.into());
        // 15 of its bits become the highest of the mantissa.
        host.shift_left(z, z, 32 - 15);
        host.shift_right(z, z, 32 - 23);
        host.shift_left(t1, whole, 23);
        host.greater(condition, whole, Constant::Zero.into());
        host.or_where(z, condition, t1);
        host.greater(condition, whole, Constant::LargestExponent.into());
        host.replace_where(z, condition, Constant::Infinity);
        // Out of range for any mantissa.
        host.not_below(condition, magnitude, Constant::BeyondExp);
        host.replace_where(z, condition, Constant::Infinity);
        host.has_sign(second, x);
        host.and_masks(condition, condition, second);
        host.clear_where(z, condition);
        host.find_any_double(doubtful);
        self.detour(x, x, z, Special::Exp);
        self.release_values([low, high, whole]);
        self.release_masks(masks);
    }

    fn log(&mut self, x: Vector, z: Vector) {
        let (low, high) = (self.new_value(), self.new_value());
        let masks = [0, 1, 2].map(|number| self.new_mask(number));
        let [condition, second, doubtful] = masks;
        let [magnitude, t1, t2, t3] = H::TEMPORARY;
        let host = &mut self.host;
        host.and(magnitude, x, Constant::Magnitude.into());
        host.and(t1, x, Constant::Mantissa.into());
        host.or(t1, t1, Constant::One.into());
        host.extract(t2, t1, Half::High);
        for (sum, half, mantissa) in [(low, t1, t1), (high, t2, t2)] {
            let host = &mut self.host;
            host.to_doubles(mantissa, half);
            host.double_add(t3, mantissa, Constant::Root);
            host.double_subtract(mantissa, mantissa, Constant::Root.into());
            // The ratio, and its square.
            host.double_divide(mantissa, mantissa, t3);
            host.double_multiply(t3, mantissa, mantissa.into());
            polynomial(host, Constant::LogSeries, sfu::LOG_SERIES.len(), t3, sum);
            host.double_multiply(mantissa, mantissa, Constant::StepsDouble.into());
            host.double_multiply_add(sum, mantissa, Constant::LogOffset);
        }
        self.whole_steps([low, high], z, [second, doubtful]);

        let host = &mut self.host;
        host.max_signed(z, z, Constant::Zero.into());
        host.shift_right(t1, magnitude, 23);
        host.subtract(t1, t1, Constant::Bias.into());
        host.shift_left(t1, t1, 15);
        host.add(z, z, t1.into());
        // Sign and magnitude by inverting the bits. 0 has no sign.
        host.shift_right_signed(t1, z, 31);
        host.xor(z, z, t1.into());
        host.not_zero(condition, z);
        host.shift_left_where(t1, condition, t1, 31);
        host.integer_to_float(z, z);
        host.float_multiply(z, z, Constant::StepSize.into());
        host.or(z, z, t1.into());
        host.not_below(condition, magnitude, Constant::Infinity);
        host.replace_where(z, condition, Constant::Infinity);
        host.below(condition, magnitude, Constant::Smallest);
        host.replace_where(z, condition, Constant::MinusInfinity);
        host.find_any_double(doubtful);
        self.detour(x, x, z, Special::Log);
        self.release_values([low, high]);
        self.release_masks(masks);
    }

    /// Joins the integer parts of two halves of doubles, and sets a mask where any of them is too close to a rounding boundary; another is lost.
    fn whole_steps(&mut self, halves: [Vector; 2], result: Vector, [other, doubtful]: [Mask; 2]) {
        let [_, t1, t2, _] = H::TEMPORARY;
        let host = &mut self.host;
        for (steps, whole, mask) in [(halves[0], t1, doubtful), (halves[1], t2, other)] {
            host.double_floor(whole, steps);
            host.double_subtract(steps, steps, whole.into());
            host.double_subtract(steps, steps, Constant::Half.into());
            host.double_magnitude(steps, steps);
            host.double_greater(mask, steps, Constant::Certain);
        }
        host.or_double_masks(doubtful, doubtful, other);
        host.double_to_integer(t1, t1);
        host.double_to_integer(t2, t2);
        host.join_halves(result, t1, t2);
    }
}

/// The value of a polynomial in doubles; the lowest coefficient has the number 0.
fn polynomial<H: Host>(host: &mut H, coefficient: fn(u8) -> Constant, count: usize, x: Vector, sum: Vector) {
    let mut coefficients = (0..count as u8).rev().map(coefficient);
    if let Some(last) = coefficients.next() {
        host.load_double(sum, last);
    }
    for constant in coefficients {
        host.double_multiply_add(sum, x, constant);
    }
}

#[cfg(test)]
mod tests {
    use crate::qpu::isa::sfu::{self, Function};
    use crate::qpu::lanes::Lanes;
    use crate::qpu::test_words::{END, NOP, NoUnits, memory_of};
    use crate::qpu::{CodeCache, Exit, Launch, Qpu, registers};

    /// Compares the result that translated code leaves in r4 with the result that the model computes for one element.
    fn check(function: Function, values: impl Iterator<Item = u32>) {
        crate::simd::report_missing_levels();
        let write = match function {
            // mov sfu_recip, ra15, and the others
            Function::Recip => 0x1002_0d27_153e_7d80,
            Function::RecipSqrt => 0x1002_0d67_153e_7d80,
            Function::Exp => 0x1002_0da7_153e_7d80,
            Function::Log => 0x1002_0de7_153e_7d80,
        };
        let owned = memory_of(4096, &[write, NOP, NOP, END, NOP, NOP]);
        let memory = owned.view();
        let code = CodeCache::new().translating_eagerly();
        let mut qpu = Qpu::new();
        let mut values = values.peekable();
        while values.peek().is_some() {
            let ra15 = Lanes(std::array::from_fn(|_| values.next().unwrap_or(0)));
            qpu.start(&Launch { ra15, ..Launch::default() });
            assert_eq!(qpu.run(&mut NoUnits, memory, &code, &mut 100), Exit::Ended);
            let expected = ra15.map(|x| sfu::apply(function, x));
            assert_eq!(*qpu.registers().at(registers::R4), expected, "{function:?} {ra15:x?}");
        }
    }

    /// [measured] for all 2^32 arguments; the test uses special values and a sample.
    #[test]
    fn functions_give_what_the_model_computes() {
        let exponents =
            (0..=255_u32).flat_map(|exponent| [0, 1, 0x1234, 0x40_0000, 0x7f_ffff].map(|m| exponent << 23 | m));
        let edges: Vec<u32> = exponents.flat_map(|x| [x, x | sfu::SIGN]).collect();
        for function in [Function::Recip, Function::RecipSqrt, Function::Exp, Function::Log] {
            let sample = (0..100_000).map(|i: u32| i.wrapping_mul(0x9e37_79b9));
            check(function, edges.iter().copied().chain(sample));
        }
    }
}

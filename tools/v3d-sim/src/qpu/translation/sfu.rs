//! The functions of the SFU in instructions of AVX-512.
//!
//! Translated code rounds toward zero, so that the host's quotient, truncated to the unit's precision, is the unit's reciprocal. A reciprocal square root
//! computed from two such results is exact or one unit too large, which an exact product decides. Exponentials and logarithms use the model's
//! [series](crate::qpu::isa::sfu) in double precision, for half of the elements at a time; if a result is too close to a rounding boundary, [a
//! call](super::frame::Calls) computes all of them.

use super::arithmetic::{Emitter, FRAME, MAGNITUDE, TEMPORARY, Value, ZERO};
use super::frame::{SPECIAL_EXP, SPECIAL_LOG, at};
use super::numbers::Numbers;
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::isa::sfu::{self, Function};
use iced_x86::IcedError;
use iced_x86::code_asm::*;
use std::mem::offset_of;

/// Predicates of comparisons of integers.
const EQUAL: i32 = 0;
const LESS: i32 = 1;
const NOT_EQUAL: i32 = 4;
const NOT_LESS: i32 = 5;
const GREATER: i32 = 6;
/// A predicate of comparisons of floats: greater, and neither is NaN.
const GREATER_NUMBER: i32 = 0x1e;
/// Immediates of `vrndscale`: round down, and toward zero.
const DOWN: i32 = 9;
const TOWARD_ZERO: i32 = 0xb;
/// An immediate of `vpternlogd` with a value, a second value and a mask: the value ORed with the bits of the second value outside of the mask.
const OR_OUTSIDE: i32 = 0xf4;

/// The lower halves of [`TEMPORARY`].
const HALVES: [AsmRegisterYmm; 4] = [ymm16, ymm17, ymm18, ymm19];
/// Address of the [`Numbers`].
const POINTER: AsmRegister64 = rax;

/// Address of one of the [`Numbers`].
macro_rules! address {
    ($field:ident) => {
        POINTER + offset_of!(Numbers, $field) as i32
    };
}

/// One of the [`Numbers`], broadcast to all elements.
macro_rules! number {
    ($field:ident) => {
        dword_bcst(address!($field))
    };
}

/// One of the [`Numbers`] in double precision, broadcast to all elements.
macro_rules! double {
    ($field:ident) => {
        qword_bcst(address!($field))
    };
}

impl Emitter {
    /// A function of the SFU; its result goes to r4.
    pub(super) fn special_function(&mut self, function: Function, from: RegisterIndex) -> Result<(), IcedError> {
        let old = self.load(registers::R4)?;
        self.asm.mov(rax, qword_ptr(FRAME + at::STALE_R4))?;
        self.asm.vmovdqa32(zmmword_ptr(rax), old.register())?;
        let argument = self.load(from)?;
        self.load_constants()?;
        let result = self.new_value()?;
        self.asm.mov(POINTER, qword_ptr(FRAME + at::NUMBERS))?;
        match function {
            Function::Recip => self.recip(argument, result)?,
            Function::RecipSqrt => self.recip_sqrt(argument, result)?,
            Function::Exp => self.exp(argument, result)?,
            Function::Log => self.log(argument, result)?,
        }
        self.store(registers::R4, result)
    }

    fn recip(&mut self, argument: Value, result: Value) -> Result<(), IcedError> {
        let (x, z) = (argument.register(), result.register());
        let [magnitude, one, ..] = TEMPORARY;
        let asm = &mut self.asm;
        asm.vpandd(magnitude, x, MAGNITUDE)?;
        asm.vpbroadcastd(one, dword_ptr(address!(one)))?;
        asm.vpcmpud(k6, magnitude, number!(infinity), LESS)?;
        asm.vdivps(z.k6().z(), one, magnitude.rz_sae())?;
        asm.vpandd(z, z, number!(kept))?;
        // The results for powers of two are slightly low, except for 1.
        asm.vptestnmd(k5, x, number!(mantissa))?;
        asm.vpcmpud(k5.k5(), magnitude, one, NOT_EQUAL)?;
        asm.vptestmd(k5.k5(), z, z)?;
        asm.vpsubd(z.k5(), z, number!(two_steps))?;
        asm.vpternlogd(z, x, MAGNITUDE, OR_OUTSIDE)?;
        self.infinite_for_zero(magnitude, result)
    }

    fn recip_sqrt(&mut self, argument: Value, result: Value) -> Result<(), IcedError> {
        let (x, z) = (argument.register(), result.register());
        let [magnitude, t1, t2, t3] = TEMPORARY;
        let asm = &mut self.asm;
        asm.vpandd(magnitude, x, MAGNITUDE)?;
        asm.vpbroadcastd(t1, dword_ptr(address!(one)))?;
        asm.vsqrtps(t2, magnitude.rz_sae())?;
        asm.vdivps(z, t1, t2.rz_sae())?;
        // Each of the two factors may be one unit in the last place too small. If both are incremented, the result is exact or one unit too large.
        asm.vpaddd(z, z, number!(last_places))?;
        asm.vpandd(z, z, number!(kept))?;
        // The square of the result, times the argument, minus 1: the square is exact, and the sign of the difference tells whether the result is too large.
        for (high, above) in [(0, k5), (1, k6)] {
            asm.vextractf64x4(HALVES[1], z, high)?;
            asm.vextractf64x4(HALVES[2], magnitude, high)?;
            asm.vcvtps2pd(t1, HALVES[1])?;
            asm.vcvtps2pd(t2, HALVES[2])?;
            asm.vmulpd(t1, t1, t1)?;
            asm.vfmsub213pd(t1, t2, double!(one_double))?;
            asm.vcmppd(above, t1, ZERO, GREATER_NUMBER)?;
        }
        asm.kunpckbw(k5, k6, k5)?;
        asm.vpsubd(z.k5(), z, number!(step))?;
        // The results for powers of four are powers of two, which are slightly low.
        asm.vpandd(t3, x, number!(mantissa_and_odd))?;
        asm.vpcmpud(k5, t3, number!(odd), EQUAL)?;
        asm.vpsubd(z.k5(), z, number!(two_steps))?;
        asm.vpcmpud(k6, magnitude, number!(infinity), LESS)?;
        asm.vmovdqa32(z.k6().z(), z)?;
        self.infinite_for_zero(magnitude, result)
    }

    /// Sets results to infinity where the argument is 0 or denormal.
    fn infinite_for_zero(&mut self, magnitude: AsmRegisterZmm, result: Value) -> Result<(), IcedError> {
        self.asm.vpcmpud(k5, magnitude, number!(smallest), LESS)?;
        self.asm.vpbroadcastd(result.register().k5(), dword_ptr(address!(infinity)))
    }

    fn exp(&mut self, argument: Value, result: Value) -> Result<(), IcedError> {
        let (low, high) = (self.new_value()?, self.new_value()?);
        let fixed = self.new_value()?;
        let (x, z, whole) = (argument.register(), result.register(), fixed.register());
        let [magnitude, t1, t2, t3] = TEMPORARY;
        let asm = &mut self.asm;
        asm.vpandd(magnitude, x, MAGNITUDE)?;
        // Fixed point with 15 bits of fraction; negative numbers by inverting the bits. A denormal has no sign.
        asm.vmulps(t1, magnitude, number!(steps))?;
        asm.vcvttps2dq(whole, t1)?;
        asm.vpmovd2m(k5, x)?;
        asm.vpcmpud(k5.k5(), magnitude, number!(smallest), NOT_LESS)?;
        asm.vpternlogd(t2, t2, t2, 0xff)?;
        asm.vpxord(whole.k5(), whole, t2)?;
        // The fraction: exact for positive numbers, that of the fixed point for negative ones.
        asm.vrndscaleps(t1, magnitude, TOWARD_ZERO)?;
        asm.vsubps(t1, magnitude, t1)?;
        asm.vpandd(t2, whole, number!(low_15_bits))?;
        asm.vcvtdq2ps(t2, t2)?;
        asm.vmulps(t1.k5(), t2, number!(step_size))?;
        asm.vpsrad(whole, whole, 15)?;
        asm.vpaddd(whole, whole, number!(bias))?;

        asm.vextractf64x4(HALVES[2], t1, 1)?;
        for (sum, half, fraction) in [(low, HALVES[1], t1), (high, HALVES[2], t2)] {
            let sum = sum.register();
            asm.vcvtps2pd(fraction, half)?;
            asm.vsubpd(fraction, fraction, double!(half))?;
            polynomial(asm, address!(exp_series), sfu::EXP_SERIES.len(), fraction, sum)?;
            asm.vbroadcastsd(t3, qword_ptr(address!(steps_double)))?;
            asm.vfmadd213pd(sum, t3, double!(exp_offset))?;
        }
        self.whole_steps(low, high, result)?;

        let asm = &mut self.asm;
        asm.vpbroadcastd(t1, dword_ptr(address!(most_steps)))?;
        asm.vpminsd(z, z, t1)?;
        // 15 of its bits become the highest of the mantissa.
        asm.vpslld(z, z, 32 - 15)?;
        asm.vpsrld(z, z, 32 - 23)?;
        asm.vpslld(t1, whole, 23)?;
        asm.vpcmpgtd(k5, whole, ZERO)?;
        asm.vpord(z.k5().z(), z, t1)?;
        asm.vpcmpd(k5, whole, number!(largest_exponent), GREATER)?;
        asm.vpbroadcastd(z.k5(), dword_ptr(address!(infinity)))?;
        // Out of range for any mantissa.
        asm.vpcmpud(k5, magnitude, number!(beyond_exp), NOT_LESS)?;
        asm.vpbroadcastd(z.k5(), dword_ptr(address!(infinity)))?;
        asm.vpmovd2m(k6, x)?;
        asm.kandw(k5, k5, k6)?;
        asm.vpxord(z.k5(), z, z)?;
        self.call_if_doubtful(argument, result, SPECIAL_EXP)?;
        self.release_values([low, high, fixed]);
        Ok(())
    }

    fn log(&mut self, argument: Value, result: Value) -> Result<(), IcedError> {
        let (low, high) = (self.new_value()?, self.new_value()?);
        let (x, z) = (argument.register(), result.register());
        let [magnitude, t1, t2, t3] = TEMPORARY;
        let asm = &mut self.asm;
        asm.vpandd(magnitude, x, MAGNITUDE)?;
        asm.vpandd(t1, x, number!(mantissa))?;
        asm.vpord(t1, t1, number!(one))?;
        asm.vextractf64x4(HALVES[2], t1, 1)?;
        for (sum, half, mantissa) in [(low, HALVES[1], t1), (high, HALVES[2], t2)] {
            let sum = sum.register();
            asm.vcvtps2pd(mantissa, half)?;
            asm.vaddpd(t3, mantissa, double!(root))?;
            asm.vsubpd(mantissa, mantissa, double!(root))?;
            // The ratio, and its square.
            asm.vdivpd(mantissa, mantissa, t3)?;
            asm.vmulpd(t3, mantissa, mantissa)?;
            polynomial(asm, address!(log_series), sfu::LOG_SERIES.len(), t3, sum)?;
            asm.vmulpd(mantissa, mantissa, double!(steps_double))?;
            asm.vfmadd213pd(sum, mantissa, double!(log_offset))?;
        }
        self.whole_steps(low, high, result)?;

        let asm = &mut self.asm;
        asm.vpmaxsd(z, z, ZERO)?;
        asm.vpsrld(t1, magnitude, 23)?;
        asm.vpsubd(t1, t1, number!(bias))?;
        asm.vpslld(t1, t1, 15)?;
        asm.vpaddd(z, z, t1)?;
        // Sign and magnitude by inverting the bits. 0 has no sign.
        asm.vpsrad(t1, z, 31)?;
        asm.vpxord(z, z, t1)?;
        asm.vptestmd(k5, z, z)?;
        asm.vpslld(t1.k5().z(), t1, 31)?;
        asm.vcvtdq2ps(z, z)?;
        asm.vmulps(z, z, number!(step_size))?;
        asm.vpord(z, z, t1)?;
        asm.vpcmpud(k5, magnitude, number!(infinity), NOT_LESS)?;
        asm.vpbroadcastd(z.k5(), dword_ptr(address!(infinity)))?;
        asm.vpcmpud(k5, magnitude, number!(smallest), LESS)?;
        asm.vpbroadcastd(z.k5(), dword_ptr(address!(minus_infinity)))?;
        self.call_if_doubtful(argument, result, SPECIAL_LOG)?;
        self.release_values([low, high]);
        Ok(())
    }

    /// Joins the integer parts of two halves of doubles, and sets `k7` if any of them is too close to a rounding boundary.
    fn whole_steps(&mut self, low: Value, high: Value, result: Value) -> Result<(), IcedError> {
        let [_, t1, t2, _] = TEMPORARY;
        let asm = &mut self.asm;
        for (steps, whole, doubtful) in [(low, t1, k7), (high, t2, k6)] {
            let steps = steps.register();
            asm.vrndscalepd(whole, steps, DOWN)?;
            asm.vsubpd(steps, steps, whole)?;
            asm.vsubpd(steps, steps, double!(half))?;
            asm.vpandq(steps, steps, double!(magnitude_double))?;
            asm.vcmppd(doubtful, steps, double!(certain), GREATER_NUMBER)?;
        }
        asm.korw(k7, k7, k6)?;
        asm.vcvttpd2dq(HALVES[1], t1)?;
        asm.vcvttpd2dq(HALVES[2], t2)?;
        asm.vinserti64x4(result.register(), t1, HALVES[2], 1)
    }

    /// Calls the model for all results if `k7` is not 0.
    fn call_if_doubtful(&mut self, argument: Value, result: Value, call: usize) -> Result<(), IcedError> {
        self.asm.kortestw(k7, k7)?;
        self.detour(argument, argument, result, call)
    }
}

/// The value of a polynomial in doubles; its coefficients are in memory, the lowest first.
fn polynomial(
    asm: &mut CodeAssembler,
    coefficients: AsmMemoryOperand,
    count: usize,
    x: AsmRegisterZmm,
    sum: AsmRegisterZmm,
) -> Result<(), IcedError> {
    let mut offsets = (0..count as i32).rev().map(|index| 8 * index);
    if let Some(last) = offsets.next() {
        asm.vbroadcastsd(sum, qword_ptr(coefficients + last))?;
    }
    offsets.try_for_each(|offset| asm.vfmadd213pd(sum, x, qword_bcst(coefficients + offset)))
}

#[cfg(test)]
mod tests {
    use crate::lanes::Lanes;
    use crate::qpu::isa::sfu::{self, Function};
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
        let code = CodeCache::translating_eagerly();
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

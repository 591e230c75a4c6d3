//! AVX2 and FMA: a register holds 8 of 16 elements, and a condition of each in its highest bit.
//!
//! All masks but the flags have all bits of an element set or none.

use super::assembler;
use super::assembler::{
    Assembled, Assembler, Xmm, Ymm, al, byte_ptr, dword_ptr, eax, ptr, qword_ptr, r13, rax, rdi, rsi, rsp, word_ptr,
    ymm8, ymmword_ptr,
};
use super::x86::{FLAGS, FRAME, TAKEN, TAKEN_BYTE, UNIFORMS, VECTORS, X86};
use super::{BranchTest, Half, Held, Host, Mask, Operand, Special, Vector};
use crate::qpu::isa::registers::RegisterIndex;
use crate::qpu::translation::constants::{Constant, VECTOR_BYTES};
use crate::qpu::translation::frame::at;

/// For intermediate values within one operation; also [`Host::HOLD`], which no operation needs that has another use for it.
const SCRATCH: Ymm = ymm8;

/// A predicate of comparisons of floats: greater, and neither is NaN.
const GREATER_NUMBER: i32 = 0x1e;
/// Immediates of `vroundps` and `vroundpd`: round down, and toward zero, without an exception.
const DOWN: i32 = 9;
const TOWARD_ZERO: i32 = 0xb;
/// Order of the quarters of a register that joins two registers of each half.
const INTERLEAVED: i32 = 0b11_01_10_00;
/// Even words of two registers.
const EVEN_WORDS: i32 = 0b10_00_10_00;
/// Size of a part of a register of the QPU.
const PART_BYTES: i32 = 32;

/// AVX2 and FMA.
pub(in crate::qpu::translation) struct Avx2 {
    code: X86,
}

/// A second operand as an instruction has it.
enum Second {
    Register(Ymm),
    Memory(assembler::Operand),
}

fn ymm(vector: Vector) -> Ymm {
    Ymm::numbered(vector.0 & 15)
}

fn xmm(vector: Vector) -> Xmm {
    Xmm::numbered(vector.0 & 15)
}

fn mask(mask: Mask) -> Ymm {
    Ymm::numbered(mask.0 & 15)
}

fn memory(constant: Constant) -> assembler::Operand {
    ymmword_ptr(VECTORS + (constant.index() * VECTOR_BYTES) as i32)
}

fn second(operand: Operand) -> Second {
    match operand {
        Operand::Vector(vector) => Second::Register(ymm(vector)),
        Operand::Constant(constant) => Second::Memory(memory(constant)),
    }
}

fn part_of(register: RegisterIndex, part: usize) -> assembler::Operand {
    ymmword_ptr(X86::register(register) + PART_BYTES * part as i32)
}

impl Avx2 {
    /// No code.
    pub(in crate::qpu::translation) fn new() -> Self {
        Self { code: X86::new(true) }
    }

    fn emit(&mut self, instruction: impl FnOnce(&mut Assembler) -> Assembled) {
        self.code.emit(instruction);
    }

    /// [`Host::special`] for sums, differences and products.
    fn special_arithmetic(&mut self, special: Special) {
        let [a, b, result, t] = Self::TEMPORARY.map(ymm);
        let s = SCRATCH;
        let constant = |constant: Constant| memory(constant);
        let magnitude = constant(Constant::Magnitude);
        self.emit(|asm| {
            // Where a result is infinite, an operand is, since overflow would be rounded to the greatest float. Then the QPU has the same result. Loops that
            // diverge get many of these. Others of interest become positive or zero here, infinity and all else negative.
            let others = asm.create_label();
            asm.vpand(t, result, constant(Constant::Magnitude))?;
            asm.vpaddd(t, t, constant(Constant::BeyondGreatest))?;
            asm.vpxor(t, t, constant(Constant::InfinityBeyondGreatest))?;
            asm.vpaddd(t, t, constant(Constant::Ones))?;
            asm.vmovmskps(eax, t)?;
            asm.cmp(eax, 0xff)?;
            asm.jne(others)?;
            asm.ret()?;
            asm.set_label(others)?;
            asm.sub(rsp, PART_BYTES)?;
            asm.vmovdqu(ymmword_ptr(rsp), s)?;
            asm.vmulps(t, a, constant(Constant::HalfOfFrame))?;
            if special == Special::Product {
                asm.vmulps(t, t, b)?;
            } else {
                asm.vmulps(s, b, constant(Constant::HalfOfFrame))?;
                if special == Special::Sum { asm.vaddps(t, t, s)? } else { asm.vsubps(t, t, s)? }
            }
            // Infinite with the sign of `t` where the sign of `s` is set.
            let infinite = |asm: &mut Assembler| {
                asm.vpand(t, t, constant(Constant::Sign))?;
                asm.vpor(t, t, constant(Constant::Infinity))?;
                asm.vblendvps(result, result, t, s)
            };
            asm.vpand(s, t, magnitude)?;
            asm.vpaddd(s, s, constant(Constant::BeyondHalfOfRange))?;
            infinite(asm)?;
            if special == Special::Product {
                asm.vpand(s, a, magnitude)?;
                asm.vpand(t, b, magnitude)?;
                asm.vpmaxsd(s, s, t)?;
                asm.vpaddd(s, s, constant(Constant::BeyondFinite))?;
                asm.vpxor(t, a, b)?;
                infinite(asm)?;
                asm.vpand(s, a, magnitude)?;
                asm.vpand(t, b, magnitude)?;
                asm.vpminsd(s, s, t)?;
                asm.vpsubd(s, s, constant(Constant::SmallestNormal))?;
                asm.vpxor(t, t, t)?;
                asm.vblendvps(result, result, t, s)?;
            } else {
                for operand in [a, b] {
                    asm.vpand(s, operand, magnitude)?;
                    asm.vpaddd(s, s, constant(Constant::BeyondFinite))?;
                    if operand == b && special == Special::Difference {
                        asm.vpxor(t, operand, constant(Constant::Sign))?;
                    } else {
                        asm.vmovdqa(t, operand)?;
                    }
                    infinite(asm)?;
                }
            }
            asm.vmovdqu(s, ymmword_ptr(rsp))?;
            asm.add(rsp, PART_BYTES)?;
            asm.ret()
        });
    }
}

/// Operations that are one instruction with two operands, the second of which may be in memory.
macro_rules! binary {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Operand) {
            self.emit(|asm| match second(y) {
                Second::Register(y) => asm.$mnemonic(ymm(z), ymm(x), y),
                Second::Memory(y) => asm.$mnemonic(ymm(z), ymm(x), y),
            });
        }
    )*};
}

/// Operations that are one instruction with two registers.
macro_rules! registers {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Vector) {
            self.emit(|asm| asm.$mnemonic(ymm(z), ymm(x), ymm(y)));
        }
    )*};
}

/// Operations that are one instruction with a number.
macro_rules! shifts {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, by: u32) {
            self.emit(|asm| asm.$mnemonic(ymm(z), ymm(x), by));
        }
    )*};
}

/// Operations on doubles with a constant.
macro_rules! with_double {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Constant) {
            self.emit(|asm| asm.$mnemonic(ymm(z), ymm(x), memory(y)));
        }
    )*};
}

impl Host for Avx2 {
    type Control = X86;
    const ELEMENTS: usize = 8;
    const POOL: &'static [u8] = &[0, 1, 2, 3, 4, 5, 6, 7];
    const POOL_WITHOUT_FLAGS: &'static [u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 13, 14, 15];
    const TEMPORARY: [Vector; 4] = [Vector(9), Vector(10), Vector(11), Vector(12)];
    const FLAGS: [Mask; 3] = [Mask(13), Mask(14), Mask(15)];
    const HOLD: Mask = Mask(8);
    const MASKS: Option<[Mask; 3]> = None;

    fn control(&mut self) -> &mut X86 {
        &mut self.code
    }

    fn hold(&mut self, flag: Mask, complement: bool, lasting: bool) -> Held {
        if !lasting {
            return Held { mask: flag, complement };
        }
        self.emit(|asm| asm.vmovdqa(SCRATCH, mask(flag)));
        Held { mask: Self::HOLD, complement }
    }

    fn load_constants(&mut self) {}

    fn load_register(&mut self, z: Vector, register: RegisterIndex, part: usize) {
        self.emit(|asm| asm.vmovdqa(ymm(z), part_of(register, part)));
    }

    fn store_register(&mut self, register: RegisterIndex, part: usize, x: Vector) {
        self.emit(|asm| asm.vmovdqa(part_of(register, part), ymm(x)));
    }

    fn save_stale_r4(&mut self, part: usize, x: Vector) {
        self.emit(|asm| {
            asm.mov(rax, qword_ptr(FRAME + at::STALE_R4))?;
            asm.vmovdqa(ymmword_ptr(rax + PART_BYTES * part as i32), ymm(x))
        });
    }

    fn load_uniform(&mut self, z: Vector, index: i32) {
        self.emit(|asm| asm.vpbroadcastd(ymm(z), dword_ptr(UNIFORMS + 4 * index)));
    }

    fn load_uniforms(&mut self, z: Vector, first: i32, mask: u16) {
        let byte = |element: u64| if mask >> element & 1 == 1 { 0xff_u64 << (8 * element) } else { 0 };
        let bytes = (0..8).fold(0_u64, |bytes, element| bytes | byte(element));
        self.emit(|asm| {
            asm.mov(rax, bytes)?;
            asm.vmovq(xmm(z), rax)?;
            asm.vpmovsxbd(ymm(z), xmm(z))?;
            asm.vpmaskmovd(ymm(z), ymm(z), ymmword_ptr(UNIFORMS + 4 * first))
        });
    }

    fn point_at_varyings(&mut self) {
        self.emit(|asm| asm.mov(rax, qword_ptr(FRAME + at::VARYINGS)));
    }

    fn load_varying(&mut self, z: Vector, offset: i32) {
        self.emit(|asm| asm.vmovdqa(ymm(z), ymmword_ptr(rax + offset)));
    }

    fn splat(&mut self, z: Vector, word: u32) {
        self.emit(|asm| match word {
            0 => asm.vpxor(ymm(z), ymm(z), ymm(z)),
            u32::MAX => asm.vpcmpeqd(ymm(z), ymm(z), ymm(z)),
            _ => {
                asm.mov(eax, word)?;
                asm.vmovd(xmm(z), eax)?;
                asm.vpbroadcastd(ymm(z), xmm(z))
            }
        });
    }

    fn load_constant(&mut self, z: Vector, constant: Constant) {
        self.emit(|asm| asm.vmovdqa(ymm(z), memory(constant)));
    }

    fn point_at_numbers(&mut self) {}

    fn copy(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vmovdqa(ymm(z), ymm(x)));
    }

    fn first_element(&mut self, x: Vector) {
        self.emit(|asm| asm.vmovd(eax, xmm(x)));
    }

    fn load_flags(&mut self, part: usize) {
        let bits = memory(if part == 0 { Constant::ElementBits0 } else { Constant::ElementBits8 });
        self.emit(|asm| {
            for (number, held) in Self::FLAGS.into_iter().enumerate() {
                asm.vpbroadcastw(mask(held), word_ptr(FLAGS + 2 * number as i32))?;
                asm.vpand(mask(held), mask(held), bits)?;
                asm.vpcmpeqd(mask(held), mask(held), bits)?;
            }
            Ok(())
        });
    }

    fn save_flags(&mut self, part: usize) {
        self.emit(|asm| {
            for (number, held) in Self::FLAGS.into_iter().enumerate() {
                asm.vmovmskps(eax, mask(held))?;
                asm.mov(byte_ptr(FLAGS + (2 * number as i32 + part as i32)), al)?;
            }
            Ok(())
        });
    }

    fn test_flag(&mut self, test: BranchTest, held: Mask, part: usize) {
        self.emit(|asm| {
            if part == 0 {
                return asm.vmovmskps(TAKEN, mask(held));
            }
            asm.vmovmskps(eax, mask(held))?;
            asm.shl(eax, 8)?;
            asm.or(eax, TAKEN)?;
            asm.xor(TAKEN, TAKEN)?;
            asm.cmp(eax, if test.all_set { 0xffff } else { 0 })?;
            if test.equal { asm.sete(TAKEN_BYTE) } else { asm.setne(TAKEN_BYTE) }
        });
    }

    fn hold_all(&mut self, z: Mask, all: bool) {
        let z = mask(z);
        self.emit(|asm| if all { asm.vpcmpeqd(z, z, z) } else { asm.vpxor(z, z, z) });
    }

    fn merge_flag(&mut self, flag: Mask, held: Held, new: Mask) {
        let (flag, new) = (mask(flag), mask(new));
        let (clear, set) = if held.complement { (new, flag) } else { (flag, new) };
        self.emit(|asm| asm.vblendvps(flag, clear, set, mask(held.mask)));
    }

    fn blend(&mut self, z: Vector, held: Held, old: Vector, new: Vector) {
        let (clear, set) = if held.complement { (new, old) } else { (old, new) };
        self.emit(|asm| asm.vblendvps(ymm(z), ymm(clear), ymm(set), mask(held.mask)));
    }

    fn clear_flag(&mut self, z: Mask) {
        self.emit(|asm| asm.vpxor(mask(z), mask(z), mask(z)));
    }

    fn zero_flag(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vpcmpeqd(mask(z), ymm(x), memory(Constant::Zero)));
    }

    fn sign_flag(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vmovdqa(mask(z), ymm(x)));
    }

    fn greater_flag(&mut self, z: Mask, x: Vector, y: Operand) {
        self.greater(z, x, y);
    }

    fn above_flag(&mut self, z: Mask, x: Vector, y: Vector) {
        let z = mask(z);
        self.emit(|asm| {
            asm.vpmaxud(z, ymm(x), ymm(y))?;
            asm.vpcmpeqd(z, z, ymm(y))?;
            asm.vpxor(z, z, memory(Constant::Ones))
        });
    }

    binary! {
        and = vpand;
        or = vpor;
        xor = vpxor;
        add = vpaddd;
        subtract = vpsubd;
        multiply = vpmulld;
        min_signed = vpminsd;
        max_signed = vpmaxsd;
        min_unsigned = vpminud;
        max_unsigned = vpmaxud;
        float_min = vminps;
        float_max = vmaxps;
        float_add = vaddps;
        float_subtract = vsubps;
        float_multiply = vmulps;
        double_subtract = vsubpd;
        double_multiply = vmulpd;
    }

    registers! {
        shift_left_each = vpsllvd;
        shift_right_each = vpsrlvd;
        shift_right_signed_each = vpsravd;
        multiply_words = vpmullw;
        add_words = vpaddw;
        multiply_words_high = vpmulhuw;
        join_bytes = vpackuswb;
        min_bytes = vpminub;
        max_bytes = vpmaxub;
        add_bytes = vpaddusb;
        subtract_bytes = vpsubusb;
        float_divide = vdivps;
        double_divide = vdivpd;
    }

    shifts! {
        shift_left = vpslld;
        shift_right = vpsrld;
        shift_right_signed = vpsrad;
        shift_words_right = vpsrlw;
    }

    with_double! {
        double_add = vaddpd;
        double_multiply_add = vfmadd213pd;
        double_multiply_subtract = vfmsub213pd;
    }

    fn not(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vpxor(ymm(z), ymm(x), memory(Constant::Ones)));
    }

    fn ones(&mut self, z: Vector) {
        self.emit(|asm| asm.vpcmpeqd(ymm(z), ymm(z), ymm(z)));
    }

    fn rotate_right_each(&mut self, z: Vector, x: Vector, by: Vector) {
        let [t0, t1, ..] = Self::TEMPORARY.map(ymm);
        self.emit(|asm| {
            asm.vpand(t0, ymm(by), memory(Constant::ShiftBits))?;
            asm.vpsrlvd(ymm(z), ymm(x), t0)?;
            // A shift by 32 is 0.
            asm.vmovdqa(t1, memory(Constant::WordBits))?;
            asm.vpsubd(t1, t1, t0)?;
            asm.vpsllvd(t1, ymm(x), t1)?;
            asm.vpor(ymm(z), ymm(z), t1)
        });
    }

    fn leading_zeros(&mut self, z: Vector, x: Vector) {
        let [t0, ..] = Self::TEMPORARY.map(ymm);
        self.emit(|asm| {
            // The exponent of the number, rounded toward zero as a float, is the place of its highest bit.
            asm.vcvtdq2ps(t0, ymm(x))?;
            asm.vpsrld(t0, t0, 23)?;
            asm.vmovdqa(ymm(z), memory(Constant::LeadingExponent))?;
            asm.vpsubd(ymm(z), ymm(z), t0)?;
            // 0 has the exponent 0; numbers with the highest bit have no leading zero.
            asm.vpminsd(ymm(z), ymm(z), memory(Constant::WordBits))?;
            asm.vpsrad(t0, ymm(x), 31)?;
            asm.vpandn(ymm(z), t0, ymm(z))
        });
    }

    fn widen_bytes(&mut self, z: Vector, x: Vector, half: Half) {
        let zero = memory(Constant::Zero);
        self.emit(|asm| match half {
            Half::Low => asm.vpunpcklbw(ymm(z), ymm(x), zero),
            Half::High => asm.vpunpckhbw(ymm(z), ymm(x), zero),
        });
    }

    fn float_multiply_add(&mut self, z: Vector, x: Constant, y: Vector) {
        self.emit(|asm| asm.vfmadd132ps(ymm(z), ymm(y), memory(x)));
    }

    fn insert_bits(&mut self, z: Vector, old: Vector, mask: u32) {
        let [select, ..] = Self::TEMPORARY;
        match mask {
            0xff => self.load_constant(select, Constant::LowByte),
            0xff00 => self.load_constant(select, Constant::SecondByte),
            0xff_0000 => self.load_constant(select, Constant::ThirdByte),
            0xff00_0000 => self.load_constant(select, Constant::HighByte),
            _ => self.splat(select, mask),
        }
        self.emit(|asm| asm.vpblendvb(ymm(z), ymm(old), ymm(z), ymm(select)));
    }

    fn float_root(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vsqrtps(ymm(z), ymm(x)));
    }

    fn float_clamp(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| {
            // The second operand is the result for NaN.
            asm.vmaxps(ymm(z), ymm(x), memory(Constant::Zero))?;
            asm.vminps(ymm(z), ymm(z), memory(Constant::One))
        });
    }

    fn float_truncate(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vroundps(ymm(z), ymm(x), TOWARD_ZERO));
    }

    fn float_to_integer(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvttps2dq(ymm(z), ymm(x)));
    }

    fn integer_to_float(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvtdq2ps(ymm(z), ymm(x)));
    }

    fn find_special(&mut self, x: Vector) {
        let [t0, ..] = Self::TEMPORARY.map(ymm);
        self.emit(|asm| {
            asm.vpand(t0, ymm(x), memory(Constant::Magnitude))?;
            asm.vpaddd(t0, t0, memory(Constant::BeyondGreatest))?;
            asm.vmovmskps(eax, t0)?;
            asm.test(eax, eax)
        });
    }

    fn find_large(&mut self, x: Vector, y: Vector) {
        let [t0, t1, ..] = Self::TEMPORARY.map(ymm);
        self.emit(|asm| {
            asm.vpand(t0, ymm(x), memory(Constant::Magnitude))?;
            if x != y {
                asm.vpand(t1, ymm(y), memory(Constant::Magnitude))?;
                asm.vpmaxsd(t0, t0, t1)?;
            }
            asm.vpaddd(t0, t0, memory(Constant::BeyondSmall))?;
            asm.vmovmskps(eax, t0)?;
            asm.test(eax, eax)
        });
    }

    fn below(&mut self, z: Mask, x: Vector, y: Constant) {
        let z = mask(z);
        self.emit(|asm| {
            asm.vmovdqa(z, memory(y))?;
            asm.vpcmpgtd(z, z, ymm(x))
        });
    }

    fn not_below(&mut self, z: Mask, x: Vector, y: Constant) {
        let z = mask(z);
        self.emit(|asm| {
            asm.vpmaxud(z, ymm(x), memory(y))?;
            asm.vpcmpeqd(z, z, ymm(x))
        });
    }

    fn and_not_below(&mut self, z: Mask, x: Vector, y: Constant) {
        self.not_below(Self::HOLD, x, y);
        self.emit(|asm| asm.vpand(mask(z), mask(z), SCRATCH));
    }

    fn equal(&mut self, z: Mask, x: Vector, y: Constant) {
        self.emit(|asm| asm.vpcmpeqd(mask(z), ymm(x), memory(y)));
    }

    fn has_none(&mut self, z: Mask, x: Vector, y: Constant) {
        let z = mask(z);
        self.emit(|asm| {
            asm.vpand(z, ymm(x), memory(y))?;
            asm.vpcmpeqd(z, z, memory(Constant::Zero))
        });
    }

    fn not_zero(&mut self, z: Mask, x: Vector) {
        let z = mask(z);
        self.emit(|asm| {
            asm.vpcmpeqd(z, ymm(x), memory(Constant::Zero))?;
            asm.vpxor(z, z, memory(Constant::Ones))
        });
    }

    fn and_differs(&mut self, z: Mask, x: Vector, y: Vector) {
        self.emit(|asm| {
            asm.vpcmpeqd(SCRATCH, ymm(x), ymm(y))?;
            asm.vpandn(mask(z), SCRATCH, mask(z))
        });
    }

    fn and_not_zero(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| {
            asm.vpcmpeqd(SCRATCH, ymm(x), memory(Constant::Zero))?;
            asm.vpandn(mask(z), SCRATCH, mask(z))
        });
    }

    fn has_sign(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vpsrad(mask(z), ymm(x), 31));
    }

    fn greater(&mut self, z: Mask, x: Vector, y: Operand) {
        self.emit(|asm| match second(y) {
            Second::Register(y) => asm.vpcmpgtd(mask(z), ymm(x), y),
            Second::Memory(y) => asm.vpcmpgtd(mask(z), ymm(x), y),
        });
    }

    fn and_masks(&mut self, z: Mask, x: Mask, y: Mask) {
        self.emit(|asm| asm.vpand(mask(z), mask(x), mask(y)));
    }

    fn or_double_masks(&mut self, z: Mask, x: Mask, y: Mask) {
        self.emit(|asm| asm.vpor(mask(z), mask(x), mask(y)));
    }

    fn find_any_double(&mut self, x: Mask) {
        self.emit(|asm| {
            asm.vmovmskpd(eax, mask(x))?;
            asm.test(eax, eax)
        });
    }

    fn float_divide_where(&mut self, z: Vector, held: Mask, x: Vector, y: Vector) {
        self.emit(|asm| {
            asm.vdivps(ymm(z), ymm(x), ymm(y))?;
            asm.vpand(ymm(z), ymm(z), mask(held))
        });
    }

    fn float_multiply_where(&mut self, z: Vector, held: Mask, x: Vector, y: Constant) {
        self.emit(|asm| {
            asm.vmulps(SCRATCH, ymm(x), memory(y))?;
            asm.vblendvps(ymm(z), ymm(z), SCRATCH, mask(held))
        });
    }

    fn subtract_where(&mut self, z: Vector, held: Mask, y: Constant) {
        self.emit(|asm| {
            asm.vpand(SCRATCH, mask(held), memory(y))?;
            asm.vpsubd(ymm(z), ymm(z), SCRATCH)
        });
    }

    fn invert_where(&mut self, z: Vector, held: Mask, _: Vector) {
        self.emit(|asm| asm.vpxor(ymm(z), ymm(z), mask(held)));
    }

    fn replace_where(&mut self, z: Vector, held: Mask, y: Constant) {
        self.emit(|asm| asm.vblendvps(ymm(z), ymm(z), memory(y), mask(held)));
    }

    fn clear_where(&mut self, z: Vector, held: Mask) {
        self.emit(|asm| asm.vpandn(ymm(z), mask(held), ymm(z)));
    }

    fn keep_where(&mut self, z: Vector, held: Mask) {
        self.emit(|asm| asm.vpand(ymm(z), ymm(z), mask(held)));
    }

    fn or_where(&mut self, z: Vector, held: Mask, x: Vector) {
        self.emit(|asm| {
            asm.vpor(ymm(z), ymm(z), ymm(x))?;
            asm.vpand(ymm(z), ymm(z), mask(held))
        });
    }

    fn shift_left_where(&mut self, z: Vector, held: Mask, x: Vector, by: u32) {
        self.emit(|asm| {
            asm.vpslld(ymm(z), ymm(x), by)?;
            asm.vpand(ymm(z), ymm(z), mask(held))
        });
    }

    fn or_sign(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| {
            asm.vpand(SCRATCH, ymm(x), memory(Constant::Sign))?;
            asm.vpor(ymm(z), ymm(z), SCRATCH)
        });
    }

    fn extract(&mut self, z: Vector, x: Vector, half: Half) {
        self.emit(|asm| match half {
            Half::Low => asm.vmovaps(xmm(z), xmm(x)),
            Half::High => asm.vextractf128(xmm(z), ymm(x), 1),
        });
    }

    fn to_doubles(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvtps2pd(ymm(z), xmm(x)));
    }

    fn load_double(&mut self, z: Vector, constant: Constant) {
        self.load_constant(z, constant);
    }

    fn double_floor(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vroundpd(ymm(z), ymm(x), DOWN));
    }

    fn double_magnitude(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vandpd(ymm(z), ymm(x), memory(Constant::MagnitudeDouble)));
    }

    fn double_greater(&mut self, z: Mask, x: Vector, y: Constant) {
        self.emit(|asm| asm.vcmppd(mask(z), ymm(x), memory(y), GREATER_NUMBER));
    }

    fn join_masks(&mut self, z: Mask, low: Mask, high: Mask) {
        self.emit(|asm| {
            asm.vshufps(mask(z), mask(low), mask(high), EVEN_WORDS)?;
            asm.vpermq(mask(z), mask(z), INTERLEAVED)
        });
    }

    fn double_to_integer(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvttpd2dq(xmm(z), ymm(x)));
    }

    fn join_halves(&mut self, z: Vector, low: Vector, high: Vector) {
        self.emit(|asm| asm.vinserti128(ymm(z), ymm(low), xmm(high), 1));
    }

    fn special(&mut self, special: Special) {
        let Some(call) = special.call() else { return self.special_arithmetic(special) };
        let place = |vector: Vector| PART_BYTES * i32::from(vector.0);
        let [argument, _, result, _] = Self::TEMPORARY;
        self.emit(|asm| {
            asm.push(r13)?;
            asm.mov(r13, rsp)?;
            asm.sub(rsp, 16 * PART_BYTES)?;
            asm.and(rsp, -PART_BYTES)?;
            for (i, register) in (0..16).map(Ymm::numbered).enumerate() {
                asm.vmovdqa(ymmword_ptr(rsp + PART_BYTES * i as i32), register)?;
            }
            asm.lea(rdi, ptr(rsp + place(argument)))?;
            asm.lea(rsi, ptr(rsp + place(result)))
        });
        self.code.call_function(at::SPECIAL + 8 * call);
        self.code.point_at_vectors();
        self.emit(|asm| {
            for (i, register) in (0..16).map(Ymm::numbered).enumerate() {
                asm.vmovdqa(register, ymmword_ptr(rsp + PART_BYTES * i as i32))?;
            }
            asm.mov(rsp, r13)?;
            asm.pop(r13)?;
            asm.ret()
        });
    }
}

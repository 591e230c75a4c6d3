//! AVX-512: a register holds all 16 elements, and a mask register a condition of each.

use super::assembler::{
    self, Address, Assembled, Assembler, Gpr64, Masked, Ymm, Zmm, dword_bcst, dword_ptr, eax, k0, k1, k5, ptr,
    qword_bcst, qword_ptr, r13, rax, rdi, rsi, rsp, word_ptr, xmm16, zmm16, zmm17, zmm20, zmm21, zmm22, zmmword_ptr,
};
use super::x86::{FLAGS, FRAME, TAKEN, TAKEN_BYTE, UNIFORMS, X86};
use super::{BranchTest, Half, Held, Host, Mask, Operand, Special, Vector};
use crate::qpu::isa::registers::RegisterIndex;
use crate::qpu::translation::constants::{Constant, Place};
use crate::qpu::translation::frame::at;

/// Constants that most float operations need.
const MAGNITUDE: Zmm = zmm20;
const GREATEST: Zmm = zmm21;
const ZERO: Zmm = zmm22;
/// Address of the numbers.
const NUMBERS: Gpr64 = rax;

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
/// An immediate of `vpternlogd` with a value, an old value and a mask: selects the value where the mask is set, and the old value elsewhere.
const WHERE_SET: i32 = 0xe4;
/// An immediate of `vpternlogd` with a value, a second value and a mask: the value ORed with the bits of the second value outside of the mask.
const OR_OUTSIDE: i32 = 0xf4;
/// An immediate of `vpternlogd`: all bits set, whatever the operands are.
const ALL_BITS: i32 = 0xff;

/// AVX-512.
pub(in crate::qpu::translation) struct Avx512 {
    code: X86,
}

/// A second operand as an instruction has it.
enum Second {
    Register(Zmm),
    Memory(assembler::Operand),
}

fn zmm(vector: Vector) -> Zmm {
    Zmm::numbered(vector.0)
}

fn ymm(vector: Vector) -> Ymm {
    Ymm::numbered(vector.0)
}

fn k(mask: Mask) -> assembler::Mask {
    assembler::Mask::numbered(mask.0)
}

/// A register with a write mask.
fn masked(vector: Vector, mask: Mask) -> Zmm {
    zmm(vector).masked(k(mask))
}

/// A mask register that is ANDed with itself.
fn itself(mask: Mask) -> assembler::Mask {
    k(mask).masked(k(mask))
}

fn memory(constant: Constant) -> assembler::Operand {
    match constant.place() {
        Some(Place::Frame(offset)) => dword_bcst(FRAME + offset),
        Some(Place::Number(offset)) => dword_bcst(NUMBERS + offset),
        Some(Place::Double(offset)) => qword_bcst(NUMBERS + offset),
        None => dword_bcst(FRAME + at::MAGNITUDE),
    }
}

/// The address of a constant, without a size.
fn address(constant: Constant) -> Address {
    match constant.place() {
        Some(Place::Frame(offset)) => FRAME + offset,
        Some(Place::Number(offset) | Place::Double(offset)) => NUMBERS + offset,
        None => FRAME + at::MAGNITUDE,
    }
}

fn second(operand: Operand) -> Second {
    match operand {
        Operand::Vector(vector) => Second::Register(zmm(vector)),
        Operand::Constant(Constant::Magnitude) => Second::Register(MAGNITUDE),
        Operand::Constant(Constant::Zero) => Second::Register(ZERO),
        Operand::Constant(constant) => Second::Memory(memory(constant)),
    }
}

impl Avx512 {
    /// No code.
    pub(in crate::qpu::translation) fn new() -> Self {
        Self { code: X86::new(false) }
    }

    fn emit(&mut self, instruction: impl FnOnce(&mut Assembler) -> Assembled) {
        self.code.emit(instruction);
    }

    /// [`Host::special`] for sums, differences and products.
    fn special_arithmetic(&mut self, special: Special) {
        let [a, b, result, t] = Self::TEMPORARY.map(zmm);
        let where_held = result.masked(k1);
        let constant = |offset: i32| dword_bcst(FRAME + offset);
        // Compares the bits of floats, shifted left by one, with a constant.
        let compare = |asm: &mut Assembler, to: assembler::Mask, x: Zmm, limit: i32, predicate: i32| {
            asm.vpslld(t, x, 1)?;
            asm.vpcmpud(to, t, constant(limit), predicate)
        };
        self.emit(|asm| {
            // Where a result is infinite, an operand is, since overflow would be rounded to the greatest float. Then the QPU has the same result. Loops that
            // diverge get many of these.
            let others = asm.create_label();
            asm.vpandd(t, result, MAGNITUDE)?;
            asm.vpcmpud(k1, t, GREATEST, EQUAL)?;
            asm.vpcmpud(k5, t, constant(at::INFINITY), GREATER)?;
            asm.kortestw(k1, k5)?;
            asm.jne(others)?;
            asm.ret()?;
            asm.set_label(others)?;
            asm.vmulps(t, a, constant(at::HALF))?;
            match special {
                Special::Product => asm.vmulps(t, t, b)?,
                Special::Sum => asm.vfmadd231ps(t, b, constant(at::HALF))?,
                _ => asm.vfnmadd231ps(t, b, constant(at::HALF))?,
            }
            compare(asm, k1, t, at::OVERFLOWED_DOUBLED, NOT_LESS)?;
            asm.vpandnd(where_held, MAGNITUDE, result)?;
            asm.vpord(where_held, result, constant(at::INFINITY))?;
            if special == Special::Product {
                compare(asm, k1, a, at::INFINITY_DOUBLED, NOT_LESS)?;
                compare(asm, k5, b, at::INFINITY_DOUBLED, NOT_LESS)?;
                asm.korw(k1, k1, k5)?;
                asm.vpxord(t, a, b)?;
                asm.vpandnd(t, MAGNITUDE, t)?;
                asm.vpord(where_held, t, constant(at::INFINITY))?;
                compare(asm, k1, a, at::SMALLEST_DOUBLED, LESS)?;
                compare(asm, k5, b, at::SMALLEST_DOUBLED, LESS)?;
                asm.korw(k1, k1, k5)?;
                asm.vpxord(where_held, result, result)?;
            } else {
                for operand in [a, b] {
                    compare(asm, k1, operand, at::INFINITY_DOUBLED, NOT_LESS)?;
                    asm.vpandd(where_held, operand, constant(at::MINUS_INFINITY))?;
                    if operand == b && special == Special::Difference {
                        asm.vpxord(where_held, result, constant(at::SIGN))?;
                    }
                }
            }
            asm.ret()
        });
    }
}

/// Operations that are one instruction with two operands, the second of which may be in memory.
macro_rules! binary {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Operand) {
            self.emit(|asm| match second(y) {
                Second::Register(y) => asm.$mnemonic(zmm(z), zmm(x), y),
                Second::Memory(y) => asm.$mnemonic(zmm(z), zmm(x), y),
            });
        }
    )*};
}

/// The same with a rounding mode where there is no operand in memory.
macro_rules! rounded {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Operand) {
            self.emit(|asm| match second(y) {
                Second::Register(y) => asm.$mnemonic(zmm(z), zmm(x), y.rz_sae()),
                Second::Memory(y) => asm.$mnemonic(zmm(z), zmm(x), y),
            });
        }
    )*};
}

/// Operations that are one instruction with two registers.
macro_rules! registers {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Vector) {
            self.emit(|asm| asm.$mnemonic(zmm(z), zmm(x), zmm(y)));
        }
    )*};
}

/// Operations that are one instruction with a number.
macro_rules! shifts {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, by: u32) {
            self.emit(|asm| asm.$mnemonic(zmm(z), zmm(x), by));
        }
    )*};
}

/// Comparisons with a constant.
macro_rules! comparisons {
    ($( $name:ident = $predicate:ident; )*) => {$(
        fn $name(&mut self, z: Mask, x: Vector, y: Constant) {
            self.emit(|asm| asm.vpcmpud(k(z), zmm(x), memory(y), $predicate));
        }
    )*};
}

/// Operations on doubles with a constant.
macro_rules! with_double {
    ($( $name:ident = $mnemonic:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Constant) {
            self.emit(|asm| asm.$mnemonic(zmm(z), zmm(x), memory(y)));
        }
    )*};
}

impl Host for Avx512 {
    type Control = X86;
    const ELEMENTS: usize = 16;
    const POOL: &'static [u8] =
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 23, 24, 25, 26, 27, 28, 29, 30, 31];
    const POOL_WITHOUT_FLAGS: &'static [u8] = Self::POOL;
    const TEMPORARY: [Vector; 4] = [Vector(16), Vector(17), Vector(18), Vector(19)];
    const FLAGS: [Mask; 3] = [Mask(2), Mask(3), Mask(4)];
    const HOLD: Mask = Mask(1);
    const MASKS: Option<[Mask; 3]> = Some([Mask(5), Mask(6), Mask(7)]);

    fn control(&mut self) -> &mut X86 {
        &mut self.code
    }

    fn load_constants(&mut self) {
        self.emit(|asm| {
            asm.vpbroadcastd(MAGNITUDE, dword_ptr(FRAME + at::MAGNITUDE))?;
            asm.vpbroadcastd(GREATEST, dword_ptr(FRAME + at::GREATEST))?;
            asm.vpxord(ZERO, ZERO, ZERO)
        });
    }

    fn load_register(&mut self, z: Vector, register: RegisterIndex, _: usize) {
        self.emit(|asm| asm.vmovdqa32(zmm(z), zmmword_ptr(X86::register(register))));
    }

    fn store_register(&mut self, register: RegisterIndex, _: usize, x: Vector) {
        self.emit(|asm| asm.vmovdqa32(zmmword_ptr(X86::register(register)), zmm(x)));
    }

    fn save_stale_r4(&mut self, _: usize, x: Vector) {
        self.emit(|asm| {
            asm.mov(rax, qword_ptr(FRAME + at::STALE_R4))?;
            asm.vmovdqa32(zmmword_ptr(rax), zmm(x))
        });
    }

    fn load_uniform(&mut self, z: Vector, index: i32) {
        self.emit(|asm| asm.vpbroadcastd(zmm(z), dword_ptr(UNIFORMS + 4 * index)));
    }

    fn load_uniforms(&mut self, z: Vector, first: i32, mask: u16) {
        self.emit(|asm| {
            asm.mov(eax, u32::from(mask))?;
            asm.kmovw(k1, eax)?;
            asm.vmovdqu32(zmm(z).masked(k1).z(), zmmword_ptr(UNIFORMS + 4 * first))
        });
    }

    fn point_at_varyings(&mut self) {
        self.emit(|asm| asm.mov(rax, qword_ptr(FRAME + at::VARYINGS)));
    }

    fn load_varying(&mut self, z: Vector, offset: i32) {
        self.emit(|asm| asm.vmovdqa32(zmm(z), zmmword_ptr(rax + offset)));
    }

    fn splat(&mut self, z: Vector, word: u32) {
        self.emit(|asm| {
            asm.mov(eax, word)?;
            asm.vpbroadcastd(zmm(z), eax)
        });
    }

    fn load_constant(&mut self, z: Vector, constant: Constant) {
        let address = address(constant);
        let is_float =
            matches!(constant, Constant::Bytes | Constant::ByteShare | Constant::ByteRest | Constant::HalfOfFrame);
        self.emit(|asm| {
            if is_float {
                asm.vbroadcastss(zmm(z), dword_ptr(address))
            } else {
                asm.vpbroadcastd(zmm(z), dword_ptr(address))
            }
        });
    }

    fn point_at_numbers(&mut self) {
        self.emit(|asm| asm.mov(NUMBERS, qword_ptr(FRAME + at::NUMBERS)));
    }

    fn copy(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vmovdqa32(zmm(z), zmm(x)));
    }

    fn first_element(&mut self, x: Vector) {
        self.emit(|asm| {
            asm.vmovdqa32(zmm16, zmm(x))?;
            asm.vmovd_evex(eax, xmm16)
        });
    }

    fn load_flags(&mut self, _: usize) {
        self.emit(|asm| {
            Self::FLAGS
                .into_iter()
                .enumerate()
                .try_for_each(|(number, held)| asm.kmovw(k(held), word_ptr(FLAGS + 2 * number as i32)))
        });
    }

    fn save_flags(&mut self, _: usize) {
        self.emit(|asm| {
            Self::FLAGS
                .into_iter()
                .enumerate()
                .try_for_each(|(number, held)| asm.kmovw(word_ptr(FLAGS + 2 * number as i32), k(held)))
        });
    }

    fn test_flag(&mut self, test: BranchTest, held: Mask, _: usize) {
        self.emit(|asm| {
            asm.kmovw(eax, k(held))?;
            asm.xor(TAKEN, TAKEN)?;
            asm.cmp(eax, if test.all_set { 0xffff } else { 0 })?;
            if test.equal { asm.sete(TAKEN_BYTE) } else { asm.setne(TAKEN_BYTE) }
        });
    }

    fn hold(&mut self, flag: Mask, complement: bool, _: bool) -> Held {
        let held = k(Self::HOLD);
        self.emit(|asm| if complement { asm.knotw(held, k(flag)) } else { asm.kmovw(held, k(flag)) });
        Self::HOLD.into()
    }

    fn hold_all(&mut self, z: Mask, all: bool) {
        self.emit(|asm| {
            asm.kxnorw(k(z), k(z), k(z))?;
            if all { Ok(()) } else { asm.knotw(k(z), k(z)) }
        });
    }

    fn merge_flag(&mut self, flag: Mask, held: Held, new: Mask) {
        self.emit(|asm| {
            asm.kandnw(k0, k(held.mask), k(flag))?;
            asm.kandw(k(new), k(held.mask), k(new))?;
            asm.korw(k(flag), k(new), k0)
        });
    }

    fn blend(&mut self, z: Vector, held: Held, old: Vector, new: Vector) {
        self.emit(|asm| asm.vpblendmd(masked(z, held.mask), zmm(old), zmm(new)));
    }

    fn clear_flag(&mut self, z: Mask) {
        self.emit(|asm| asm.kxorw(k(z), k(z), k(z)));
    }

    fn zero_flag(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vptestnmd(k(z), zmm(x), zmm(x)));
    }

    fn sign_flag(&mut self, z: Mask, x: Vector) {
        self.has_sign(z, x);
    }

    fn greater_flag(&mut self, z: Mask, x: Vector, y: Operand) {
        self.greater(z, x, y);
    }

    fn above_flag(&mut self, z: Mask, x: Vector, y: Vector) {
        self.emit(|asm| asm.vpcmpud(k(z), zmm(x), zmm(y), GREATER));
    }

    binary! {
        and = vpandd;
        or = vpord;
        xor = vpxord;
        add = vpaddd;
        subtract = vpsubd;
        multiply = vpmulld;
        min_signed = vpminsd;
        max_signed = vpmaxsd;
        min_unsigned = vpminud;
        max_unsigned = vpmaxud;
        float_min = vminps;
        float_max = vmaxps;
        double_subtract = vsubpd;
        double_multiply = vmulpd;
    }

    rounded! {
        float_add = vaddps;
        float_subtract = vsubps;
        float_multiply = vmulps;
    }

    registers! {
        shift_left_each = vpsllvd;
        shift_right_each = vpsrlvd;
        shift_right_signed_each = vpsravd;
        rotate_right_each = vprorvd;
        multiply_words = vpmullw;
        add_words = vpaddw;
        multiply_words_high = vpmulhuw;
        join_bytes = vpackuswb;
        min_bytes = vpminub;
        max_bytes = vpmaxub;
        add_bytes = vpaddusb;
        subtract_bytes = vpsubusb;
        double_divide = vdivpd;
    }

    shifts! {
        shift_left = vpslld;
        shift_right = vpsrld;
        shift_right_signed = vpsrad;
        shift_words_right = vpsrlw;
    }

    comparisons! {
        below = LESS;
        not_below = NOT_LESS;
        equal = EQUAL;
    }

    with_double! {
        double_add = vaddpd;
        double_multiply_add = vfmadd213pd;
        double_multiply_subtract = vfmsub213pd;
    }

    fn not(&mut self, z: Vector, x: Vector) {
        self.ones(z);
        self.emit(|asm| asm.vpxord(zmm(z), zmm(z), zmm(x)));
    }

    fn ones(&mut self, z: Vector) {
        self.emit(|asm| asm.vpternlogd(zmm(z), zmm(z), zmm(z), ALL_BITS));
    }

    fn leading_zeros(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vplzcntd(zmm(z), zmm(x)));
    }

    fn widen_bytes(&mut self, z: Vector, x: Vector, half: Half) {
        self.emit(|asm| match half {
            Half::Low => asm.vpunpcklbw(zmm(z), zmm(x), ZERO),
            Half::High => asm.vpunpckhbw(zmm(z), zmm(x), ZERO),
        });
    }

    fn insert_bits(&mut self, z: Vector, old: Vector, mask: u32) {
        self.emit(|asm| {
            asm.mov(eax, mask)?;
            asm.vpbroadcastd(zmm16, eax)?;
            asm.vpternlogd(zmm(z), zmm(old), zmm16, WHERE_SET)
        });
    }

    fn float_divide(&mut self, z: Vector, x: Vector, y: Vector) {
        self.emit(|asm| asm.vdivps(zmm(z), zmm(x), zmm(y).rz_sae()));
    }

    fn float_root(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vsqrtps(zmm(z), zmm(x).rz_sae()));
    }

    fn float_clamp(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| {
            // The second operand is the result for NaN.
            asm.vmaxps(zmm(z), zmm(x), ZERO)?;
            asm.vminps(zmm(z), zmm(z), memory(Constant::OneOfFrame))
        });
    }

    fn float_multiply_add(&mut self, z: Vector, x: Constant, y: Vector) {
        let [factor, ..] = Self::TEMPORARY;
        self.load_constant(factor, x);
        self.emit(|asm| asm.vfmadd213ps(zmm(z), zmm(factor), zmm(y).rz_sae()));
    }

    fn float_truncate(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vrndscaleps(zmm(z), zmm(x), TOWARD_ZERO));
    }

    fn float_to_integer(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvttps2dq(zmm(z), zmm(x).sae()));
    }

    fn integer_to_float(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvtdq2ps(zmm(z), zmm(x).rz_sae()));
    }

    fn find_special(&mut self, x: Vector) {
        self.emit(|asm| {
            asm.vpandd(zmm16, zmm(x), MAGNITUDE)?;
            asm.vpcmpud(k1, zmm16, GREATEST, NOT_LESS)?;
            asm.kortestw(k1, k1)
        });
    }

    fn find_large(&mut self, x: Vector, y: Vector) {
        self.emit(|asm| {
            asm.vpandd(zmm16, zmm(x), MAGNITUDE)?;
            if x != y {
                asm.vpandd(zmm17, zmm(y), MAGNITUDE)?;
                asm.vpmaxud(zmm16, zmm16, zmm17)?;
            }
            asm.vpcmpud(k1, zmm16, dword_bcst(FRAME + at::LARGE), NOT_LESS)?;
            asm.kortestw(k1, k1)
        });
    }

    fn and_not_below(&mut self, z: Mask, x: Vector, y: Constant) {
        self.emit(|asm| asm.vpcmpud(itself(z), zmm(x), memory(y), NOT_LESS));
    }

    fn has_none(&mut self, z: Mask, x: Vector, y: Constant) {
        self.emit(|asm| asm.vptestnmd(k(z), zmm(x), memory(y)));
    }

    fn not_zero(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vptestmd(k(z), zmm(x), zmm(x)));
    }

    fn and_differs(&mut self, z: Mask, x: Vector, y: Vector) {
        self.emit(|asm| asm.vpcmpud(itself(z), zmm(x), zmm(y), NOT_EQUAL));
    }

    fn and_not_zero(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vptestmd(itself(z), zmm(x), zmm(x)));
    }

    fn has_sign(&mut self, z: Mask, x: Vector) {
        self.emit(|asm| asm.vpmovd2m(k(z), zmm(x)));
    }

    fn greater(&mut self, z: Mask, x: Vector, y: Operand) {
        self.emit(|asm| match second(y) {
            Second::Register(y) => asm.vpcmpgtd(k(z), zmm(x), y),
            Second::Memory(y) => asm.vpcmpd(k(z), zmm(x), y, GREATER),
        });
    }

    fn and_masks(&mut self, z: Mask, x: Mask, y: Mask) {
        self.emit(|asm| asm.kandw(k(z), k(x), k(y)));
    }

    fn or_double_masks(&mut self, z: Mask, x: Mask, y: Mask) {
        self.emit(|asm| asm.korw(k(z), k(x), k(y)));
    }

    fn find_any_double(&mut self, x: Mask) {
        self.emit(|asm| asm.kortestw(k(x), k(x)));
    }

    fn float_divide_where(&mut self, z: Vector, held: Mask, x: Vector, y: Vector) {
        self.emit(|asm| asm.vdivps(masked(z, held).z(), zmm(x), zmm(y).rz_sae()));
    }

    fn float_multiply_where(&mut self, z: Vector, held: Mask, x: Vector, y: Constant) {
        self.emit(|asm| asm.vmulps(masked(z, held), zmm(x), memory(y)));
    }

    fn subtract_where(&mut self, z: Vector, held: Mask, y: Constant) {
        self.emit(|asm| asm.vpsubd(masked(z, held), zmm(z), memory(y)));
    }

    fn invert_where(&mut self, z: Vector, held: Mask, ones: Vector) {
        self.emit(|asm| asm.vpxord(masked(z, held), zmm(z), zmm(ones)));
    }

    fn replace_where(&mut self, z: Vector, held: Mask, y: Constant) {
        self.emit(|asm| asm.vpbroadcastd(masked(z, held), dword_ptr(address(y))));
    }

    fn clear_where(&mut self, z: Vector, held: Mask) {
        self.emit(|asm| asm.vpxord(masked(z, held), zmm(z), zmm(z)));
    }

    fn keep_where(&mut self, z: Vector, held: Mask) {
        self.emit(|asm| asm.vmovdqa32(masked(z, held).z(), zmm(z)));
    }

    fn or_where(&mut self, z: Vector, held: Mask, x: Vector) {
        self.emit(|asm| asm.vpord(masked(z, held).z(), zmm(z), zmm(x)));
    }

    fn shift_left_where(&mut self, z: Vector, held: Mask, x: Vector, by: u32) {
        self.emit(|asm| asm.vpslld(masked(z, held).z(), zmm(x), by));
    }

    fn or_sign(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vpternlogd(zmm(z), zmm(x), MAGNITUDE, OR_OUTSIDE));
    }

    fn extract(&mut self, z: Vector, x: Vector, half: Half) {
        self.emit(|asm| asm.vextractf64x4(ymm(z), zmm(x), i32::from(half == Half::High)));
    }

    fn to_doubles(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvtps2pd(zmm(z), ymm(x)));
    }

    fn load_double(&mut self, z: Vector, constant: Constant) {
        self.emit(|asm| asm.vbroadcastsd(zmm(z), qword_ptr(address(constant))));
    }

    fn double_floor(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vrndscalepd(zmm(z), zmm(x), DOWN));
    }

    fn double_magnitude(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vpandq(zmm(z), zmm(x), memory(Constant::MagnitudeDouble)));
    }

    fn double_greater(&mut self, z: Mask, x: Vector, y: Constant) {
        self.emit(|asm| match second(y.into()) {
            Second::Register(y) => asm.vcmppd(k(z), zmm(x), y, GREATER_NUMBER),
            Second::Memory(y) => asm.vcmppd(k(z), zmm(x), y, GREATER_NUMBER),
        });
    }

    fn join_masks(&mut self, z: Mask, low: Mask, high: Mask) {
        self.emit(|asm| asm.kunpckbw(k(z), k(high), k(low)));
    }

    fn double_to_integer(&mut self, z: Vector, x: Vector) {
        self.emit(|asm| asm.vcvttpd2dq(ymm(z), zmm(x)));
    }

    fn join_halves(&mut self, z: Vector, low: Vector, high: Vector) {
        self.emit(|asm| asm.vinserti64x4(zmm(z), zmm(low), ymm(high), 1));
    }

    fn special(&mut self, special: Special) {
        let Some(call) = special.call() else { return self.special_arithmetic(special) };
        self.emit(|asm| {
            asm.push(r13)?;
            asm.mov(r13, rsp)?;
            asm.sub(rsp, 33 * 64)?;
            asm.and(rsp, -64)?;
            for (i, register) in (0..32).map(Zmm::numbered).enumerate() {
                asm.vmovdqa32(zmmword_ptr(rsp + 64 * i as i32), register)?;
            }
            for (i, held) in Self::FLAGS.into_iter().enumerate() {
                asm.kmovw(word_ptr(rsp + 64 * 32 + 2 * i as i32), k(held))?;
            }
            asm.lea(rdi, ptr(rsp + 64 * 16))?;
            asm.lea(rsi, ptr(rsp + 64 * 18))
        });
        self.code.call_function(at::SPECIAL + 8 * call);
        self.emit(|asm| {
            for (i, register) in (0..32).map(Zmm::numbered).enumerate() {
                asm.vmovdqa32(register, zmmword_ptr(rsp + 64 * i as i32))?;
            }
            for (i, held) in Self::FLAGS.into_iter().enumerate() {
                asm.kmovw(k(held), word_ptr(rsp + 64 * 32 + 2 * i as i32))?;
            }
            asm.mov(rsp, r13)?;
            asm.pop(r13)?;
            asm.ret()
        });
    }
}

//! NEON: a register holds 4 of 16 elements, and a condition of each in all its bits.
//!
//! Instructions have no operands in memory, so that constants need registers. Those of many bit patterns are made by one instruction; others are loaded. The
//! last few stay in registers of their own until code is joined from elsewhere or calls.

#![expect(
    clippy::useless_conversion,
    reason = "the assembler's macro converts the numbers of registers, which have the right type"
)]

use super::aarch64::{AArch64, Reach, encode, offset};
use super::{BranchTest, Half, Held, Host, Mask, Operand, Special, Vector};
use crate::qpu::isa::registers::RegisterIndex;
use crate::qpu::translation::constants::{Constant, VECTOR_BYTES};
use crate::qpu::translation::frame::{CONSTANTS, at};
use dynasmrt::aarch64::encode_floating_point_immediate;
use dynasmrt::{DynasmApi, dynasm};

/// Size of a part of a register of the QPU.
const PART_BYTES: u32 = 16;
/// Registers for intermediate values within one operation.
const SCRATCH: [u8; 2] = [24, 25];
/// Registers for constants.
const CONSTANT_REGISTERS: [u8; 6] = [26, 27, 28, 29, 30, 31];
/// The greatest offset of a vector from an address, in its size.
const MAX_OFFSET: i32 = 0xfff;

/// NEON.
pub(in crate::qpu::translation) struct Neon {
    code: AArch64,
    /// The registers for constants, those used last first, and what they hold: the offset of a constant in the table.
    constants: [(u8, Option<u32>); CONSTANT_REGISTERS.len()],
    /// The joins of the code at which that was the case.
    joins: u32,
}

/// An instruction that sets all elements to a word.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Immediate {
    /// A byte shifted to the left, or the complement of that.
    Shifted { byte: u32, shift: u32, complement: bool },
    /// A byte with ones shifted in from the right, or the complement.
    WithOnes { byte: u32, shift: u32, complement: bool },
    /// The same byte four times.
    Bytes(u32),
    /// A byte in both halves of the word, shifted to the left.
    Halves { byte: u32, shift: u32 },
    /// A float with few places.
    Float(f32),
}

impl Immediate {
    /// The instruction for a word, if there is one.
    fn of(word: u32) -> Option<Self> {
        for (word, complement) in [(word, false), (!word, true)] {
            for shift in [0, 8, 16, 24] {
                let byte = word >> shift & 0xff;
                if byte << shift == word {
                    return Some(Self::Shifted { byte, shift, complement });
                }
            }
            for shift in [8, 16] {
                let byte = word >> shift & 0xff;
                if byte << shift | ((1 << shift) - 1) == word {
                    return Some(Self::WithOnes { byte, shift, complement });
                }
            }
        }
        let byte = word & 0xff;
        if word == byte * 0x0101_0101 {
            return Some(Self::Bytes(byte));
        }
        for shift in [0, 8] {
            let byte = word >> shift & 0xff;
            if word == (byte << shift) * 0x1_0001 {
                return Some(Self::Halves { byte, shift });
            }
        }
        let float = f32::from_bits(word);
        encode_floating_point_immediate(float).map(|_| Self::Float(float))
    }
}

/// The offset of a constant in the table of their vectors.
fn place(constant: Constant) -> u32 {
    (constant.index() * VECTOR_BYTES) as u32
}

impl Neon {
    /// No code.
    pub(in crate::qpu::translation) fn new(reach: Reach) -> Self {
        Self { code: AArch64::new(reach), constants: CONSTANT_REGISTERS.map(|register| (register, None)), joins: 0 }
    }

    /// Sets all elements to a word by one instruction, if there is one.
    fn immediate(&mut self, z: u8, word: u32) -> bool {
        match Immediate::of(word) {
            None => return false,
            Some(Immediate::Shifted { byte, shift, complement: false }) => {
                encode!(self.code, ; movi V(z).s4, byte, LSL shift);
            }
            Some(Immediate::Shifted { byte, shift, complement: true }) => {
                encode!(self.code, ; mvni V(z).s4, byte, LSL shift);
            }
            Some(Immediate::WithOnes { byte, shift, complement: false }) => {
                encode!(self.code, ; movi V(z).s4, byte, MSL shift);
            }
            Some(Immediate::WithOnes { byte, shift, complement: true }) => {
                encode!(self.code, ; mvni V(z).s4, byte, MSL shift);
            }
            Some(Immediate::Bytes(byte)) => encode!(self.code, ; movi V(z).b16, byte),
            Some(Immediate::Halves { byte, shift }) => encode!(self.code, ; movi V(z).h8, byte, LSL shift),
            Some(Immediate::Float(float)) => encode!(self.code, ; fmov V(z).s4, float),
        }
        true
    }

    /// Loads a constant into a register.
    fn load(&mut self, z: u8, constant: Constant) {
        if constant.word().is_none_or(|word| !self.immediate(z, word)) {
            encode!(self.code, ; ldr Q(z), [vectors, place(constant)]);
        }
    }

    /// A register that holds a constant until five others are wanted.
    fn constant(&mut self, constant: Constant) -> u8 {
        self.kept(place(constant)).unwrap_or_else(|register| {
            self.load(register, constant);
            register
        })
    }

    /// A register with the bits that stand for the elements of a part in the model's flags.
    fn element_bits(&mut self, part: usize) -> u8 {
        let bits = if part < 2 { Constant::ElementBits0 } else { Constant::ElementBits8 };
        let place = place(bits) + PART_BYTES * (part as u32 & 1);
        self.kept(place).unwrap_or_else(|register| {
            encode!(self.code, ; ldr Q(register), [vectors, place]);
            register
        })
    }

    /// The register that holds what has an offset in the table, or into which it must be loaded.
    fn kept(&mut self, place: u32) -> Result<u8, u8> {
        if self.joins != self.code.joins {
            self.joins = self.code.joins;
            self.constants = CONSTANT_REGISTERS.map(|register| (register, None));
        }
        // The one that holds it, or the least recently used one.
        let held = self.constants.iter().position(|&(_, held)| held == Some(place));
        self.constants[..=held.unwrap_or(CONSTANT_REGISTERS.len() - 1)].rotate_right(1);
        let (register, holds) = &mut self.constants[0];
        *holds = Some(place);
        if held.is_some() { Ok(*register) } else { Err(*register) }
    }

    /// The register of a second operand.
    fn second(&mut self, operand: Operand) -> u8 {
        match operand {
            Operand::Vector(vector) => vector.0,
            Operand::Constant(constant) => self.constant(constant),
        }
    }

    /// Sets w9 to the greatest element of a register, which is lost.
    fn greatest(&mut self, x: u8) {
        encode!(self.code,
            ; umaxv S(x), V(x).s4
            ; fmov w9, S(x)
        );
    }

    /// [`Host::special`] for sums, differences and products.
    fn special_arithmetic(&mut self, special: Special) {
        let [a, b, result, t] = Self::TEMPORARY.map(|vector| vector.0);
        let [s, held] = SCRATCH;
        let half = self.constant(Constant::HalfOfFrame);
        encode!(self.code, ; fmul V(t).s4, V(a).s4, V(half).s4);
        match special {
            Special::Product => encode!(self.code, ; fmul V(t).s4, V(t).s4, V(b).s4),
            Special::Difference => {
                encode!(self.code, ; fmul V(s).s4, V(b).s4, V(half).s4 ; fsub V(t).s4, V(t).s4, V(s).s4);
            }
            _ => encode!(self.code, ; fmul V(s).s4, V(b).s4, V(half).s4 ; fadd V(t).s4, V(t).s4, V(s).s4),
        }
        // From 2^127 on the whole is beyond the greatest float. Magnitudes are compared without their signs, which are shifted out.
        encode!(self.code, ; shl V(s).s4, V(t).s4, 1);
        self.infinite_from(result, CONSTANTS.overflowed_doubled, t);
        if special == Special::Product {
            encode!(self.code,
                ; shl V(s).s4, V(a).s4, 1
                ; shl V(t).s4, V(b).s4, 1
                ; umax V(s).s4, V(s).s4, V(t).s4
                ; eor V(t).b16, V(a).b16, V(b).b16
            );
            self.infinite_from(result, CONSTANTS.infinity_doubled, t);
            encode!(self.code,
                ; shl V(s).s4, V(a).s4, 1
                ; shl V(t).s4, V(b).s4, 1
                ; umin V(s).s4, V(s).s4, V(t).s4
            );
            self.splat(Vector(held), CONSTANTS.smallest_doubled);
            encode!(self.code,
                ; cmhs V(held).s4, V(s).s4, V(held).s4
                ; and V(result).b16, V(result).b16, V(held).b16
            );
        } else {
            for operand in [a, b] {
                encode!(self.code, ; shl V(s).s4, V(operand).s4, 1);
                if operand == b && special == Special::Difference {
                    encode!(self.code, ; not V(t).b16, V(operand).b16);
                } else {
                    encode!(self.code, ; mov V(t).b16, V(operand).b16);
                }
                self.infinite_from(result, CONSTANTS.infinity_doubled, t);
            }
        }
        encode!(self.code, ; ret);
    }

    /// Infinity with a sign where the first scratch register is at least some number; both are lost.
    fn infinite_from(&mut self, result: u8, least: u32, sign: u8) {
        let [s, held] = SCRATCH;
        let (mask, infinity) = (self.constant(Constant::Sign), self.constant(Constant::Infinity));
        self.splat(Vector(held), least);
        encode!(self.code,
            ; cmhs V(held).s4, V(s).s4, V(held).s4
            ; mov V(s).b16, V(infinity).b16
            ; bit V(s).b16, V(sign).b16, V(mask).b16
            ; bit V(result).b16, V(s).b16, V(held).b16
        );
    }
}

/// Operations that are one instruction with two operands, the second of which may be a constant.
macro_rules! binary {
    ($( $name:ident = $mnemonic:ident $kind:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Operand) {
            let y = self.second(y);
            encode!(self.code, ; $mnemonic V(z.0).$kind, V(x.0).$kind, V(y).$kind);
        }
    )*};
}

/// Operations that are one instruction with two registers.
macro_rules! registers {
    ($( $name:ident = $mnemonic:ident $kind:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, y: Vector) {
            encode!(self.code, ; $mnemonic V(z.0).$kind, V(x.0).$kind, V(y.0).$kind);
        }
    )*};
}

/// Operations that are one instruction with one register.
macro_rules! unary {
    ($( $name:ident = $mnemonic:ident $to:ident $from:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector) {
            encode!(self.code, ; $mnemonic V(z.0).$to, V(x.0).$from);
        }
    )*};
}

/// Operations that are one instruction with a number.
macro_rules! shifts {
    ($( $name:ident = $mnemonic:ident $kind:ident; )*) => {$(
        fn $name(&mut self, z: Vector, x: Vector, by: u32) {
            encode!(self.code, ; $mnemonic V(z.0).$kind, V(x.0).$kind, by);
        }
    )*};
}

/// Comparisons of a register with a constant.
macro_rules! comparisons {
    ($( $name:ident = $mnemonic:ident $kind:ident; )*) => {$(
        fn $name(&mut self, z: Mask, x: Vector, y: Constant) {
            let y = self.constant(y);
            encode!(self.code, ; $mnemonic V(z.0).$kind, V(x.0).$kind, V(y).$kind);
        }
    )*};
}

impl Host for Neon {
    type Control = AArch64;
    const ELEMENTS: usize = 4;
    const POOL: &'static [u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const POOL_WITHOUT_FLAGS: &'static [u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22];
    const TEMPORARY: [Vector; 4] = [Vector(16), Vector(17), Vector(18), Vector(19)];
    const FLAGS: [Mask; 3] = [Mask(20), Mask(21), Mask(22)];
    const HOLD: Mask = Mask(23);
    const MASKS: Option<[Mask; 3]> = None;

    fn control(&mut self) -> &mut AArch64 {
        &mut self.code
    }

    fn hold(&mut self, flag: Mask, complement: bool, lasting: bool) -> Held {
        if !lasting {
            return Held { mask: flag, complement };
        }
        encode!(self.code, ; mov V(Self::HOLD.0).b16, V(flag.0).b16);
        Held { mask: Self::HOLD, complement }
    }

    fn load_constants(&mut self) {}

    fn load_register(&mut self, z: Vector, register: RegisterIndex, part: usize) {
        encode!(self.code, ; ldr Q(z.0), [registers, AArch64::register(register) + PART_BYTES * part as u32]);
    }

    fn store_register(&mut self, register: RegisterIndex, part: usize, x: Vector) {
        encode!(self.code, ; str Q(x.0), [registers, AArch64::register(register) + PART_BYTES * part as u32]);
    }

    fn save_stale_r4(&mut self, part: usize, x: Vector) {
        encode!(self.code,
            ; ldr x9, [frame, offset(at::STALE_R4)]
            ; str Q(x.0), [x9, PART_BYTES * part as u32]
        );
    }

    fn load_uniform(&mut self, z: Vector, index: i32) {
        if index == 0 {
            encode!(self.code, ; ld1r { V(z.0).s4 * 1 }, [uniforms]);
        } else {
            self.code.add(9, 23, 4 * index as u64);
            encode!(self.code, ; ld1r { V(z.0).s4 * 1 }, [x9]);
        }
    }

    fn load_uniforms(&mut self, z: Vector, first: i32, mask: u16) {
        self.code.add(9, 23, 4 * first as u64);
        if mask & 0xf == 0xf {
            encode!(self.code, ; ldr Q(z.0), [x9]);
            return;
        }
        // The others may be behind the last.
        encode!(self.code, ; movi V(z.0).s4, 0);
        for element in (0..4_u32).filter(|element| mask >> element & 1 == 1) {
            encode!(self.code,
                ; add x10, x9, 4 * element
                ; ld1 { V(z.0).s * 1 }[element], [x10]
            );
        }
    }

    fn point_at_varyings(&mut self) {
        encode!(self.code, ; ldr x10, [frame, offset(at::VARYINGS)]);
    }

    fn load_varying(&mut self, z: Vector, offset: i32) {
        if offset / PART_BYTES as i32 <= MAX_OFFSET {
            encode!(self.code, ; ldr Q(z.0), [x10, offset as u32]);
        } else {
            self.code.add(9, 10, offset as u64);
            encode!(self.code, ; ldr Q(z.0), [x9]);
        }
    }

    fn splat(&mut self, z: Vector, word: u32) {
        if !self.immediate(z.0, word) {
            self.code.number(9, u64::from(word));
            encode!(self.code, ; dup V(z.0).s4, w9);
        }
    }

    fn load_constant(&mut self, z: Vector, constant: Constant) {
        self.load(z.0, constant);
    }

    fn point_at_numbers(&mut self) {}

    fn copy(&mut self, z: Vector, x: Vector) {
        encode!(self.code, ; mov V(z.0).b16, V(x.0).b16);
    }

    fn first_element(&mut self, x: Vector) {
        encode!(self.code, ; fmov w0, S(x.0));
    }

    fn load_flags(&mut self, part: usize) {
        let bits = self.element_bits(part);
        encode!(self.code, ; mov x9, flags);
        for held in Self::FLAGS {
            // The word has the bits of all elements twice.
            encode!(self.code,
                ; ld1r { V(held.0).h8 * 1 }, [x9], 2
                ; cmtst V(held.0).s4, V(held.0).s4, V(bits).s4
            );
        }
    }

    fn save_flags(&mut self, part: usize) {
        let bits = self.element_bits(part);
        let [zero, negative, carry] = Self::FLAGS.map(|flag| flag.0);
        let [s, t] = SCRATCH;
        let others = !(0x000f_000f_u32 << (4 * part));
        encode!(self.code,
            ; and V(s).b16, V(zero).b16, V(bits).b16
            ; and V(t).b16, V(negative).b16, V(bits).b16
            ; addp V(s).s4, V(s).s4, V(t).s4
            ; and V(t).b16, V(carry).b16, V(bits).b16
            ; addp V(t).s4, V(t).s4, V(t).s4
            ; addp V(s).s4, V(s).s4, V(t).s4
            ; xtn V(s).h4, V(s).s4
            // Z, N and C of this part, in their places. Those of the others stay.
            ; fmov x9, D(s)
            ; ldr w10, [flags]
            ; ldrh w11, [flags, 4]
            ; and w10, w10, others
            ; and w11, w11, others
            ; orr w10, w10, w9
            ; lsr x9, x9, 32
            ; orr w11, w11, w9
            ; str w10, [flags]
            ; strh w11, [flags, 4]
        );
    }

    fn test_flag(&mut self, test: BranchTest, held: Mask, part: usize) {
        let [s, _] = SCRATCH;
        if test.all_set {
            encode!(self.code, ; uminv S(s), V(held.0).s4 ; fmov w9, S(s));
        } else {
            encode!(self.code, ; umaxv S(s), V(held.0).s4 ; fmov w9, S(s));
        }
        // All bits are the same. They are collected from all parts, and then compared.
        match (part, test.all_set) {
            (0, _) => encode!(self.code, ; mov taken, w9),
            (_, true) => encode!(self.code, ; and taken, taken, w9),
            (_, false) => encode!(self.code, ; orr taken, taken, w9),
        }
        if part + 1 == Self::PARTS {
            encode!(self.code, ; cmp taken, 0);
            if test.equal == test.all_set {
                encode!(self.code, ; cset taken, ne);
            } else {
                encode!(self.code, ; cset taken, eq);
            }
        }
    }

    fn hold_all(&mut self, z: Mask, all: bool) {
        self.splat(Vector(z.0), if all { !0 } else { 0 });
    }

    fn merge_flag(&mut self, flag: Mask, held: Held, new: Mask) {
        if held.complement {
            encode!(self.code, ; bif V(flag.0).b16, V(new.0).b16, V(held.mask.0).b16);
        } else {
            encode!(self.code, ; bit V(flag.0).b16, V(new.0).b16, V(held.mask.0).b16);
        }
    }

    fn blend(&mut self, z: Vector, held: Held, old: Vector, new: Vector) {
        let (clear, set) = if held.complement { (new, old) } else { (old, new) };
        let (z, mask) = (z.0, held.mask.0);
        if z == set.0 {
            encode!(self.code, ; bif V(z).b16, V(clear.0).b16, V(mask).b16);
            return;
        }
        if z != clear.0 {
            encode!(self.code, ; mov V(z).b16, V(clear.0).b16);
        }
        encode!(self.code, ; bit V(z).b16, V(set.0).b16, V(mask).b16);
    }

    fn clear_flag(&mut self, z: Mask) {
        encode!(self.code, ; movi V(z.0).s4, 0);
    }

    fn zero_flag(&mut self, z: Mask, x: Vector) {
        encode!(self.code, ; cmeq V(z.0).s4, V(x.0).s4, 0);
    }

    fn sign_flag(&mut self, z: Mask, x: Vector) {
        self.has_sign(z, x);
    }

    fn greater_flag(&mut self, z: Mask, x: Vector, y: Operand) {
        self.greater(z, x, y);
    }

    fn above_flag(&mut self, z: Mask, x: Vector, y: Vector) {
        encode!(self.code, ; cmhi V(z.0).s4, V(x.0).s4, V(y.0).s4);
    }

    binary! {
        and = and b16;
        or = orr b16;
        xor = eor b16;
        add = add s4;
        subtract = sub s4;
        multiply = mul s4;
        min_signed = smin s4;
        max_signed = smax s4;
        min_unsigned = umin s4;
        max_unsigned = umax s4;
        float_min = fmin s4;
        float_max = fmax s4;
        float_add = fadd s4;
        float_subtract = fsub s4;
        float_multiply = fmul s4;
        double_subtract = fsub d2;
        double_multiply = fmul d2;
    }

    registers! {
        shift_left_each = ushl s4;
        multiply_words = mul h8;
        add_words = add h8;
        join_bytes = uzp1 b16;
        min_bytes = umin b16;
        max_bytes = umax b16;
        add_bytes = uqadd b16;
        subtract_bytes = uqsub b16;
        float_divide = fdiv s4;
        double_divide = fdiv d2;
        join_halves = zip1 d2;
    }

    unary! {
        not = not b16 b16;
        leading_zeros = clz s4 s4;
        float_root = fsqrt s4 s4;
        float_truncate = frintz s4 s4;
        float_to_integer = fcvtzs s4 s4;
        integer_to_float = scvtf s4 s4;
        to_doubles = fcvtl d2 s2;
        double_floor = frintm d2 d2;
        double_magnitude = fabs d2 d2;
    }

    shifts! {
        shift_left = shl s4;
        shift_right = ushr s4;
        shift_right_signed = sshr s4;
        shift_words_right = ushr h8;
    }

    comparisons! {
        not_below = cmhs s4;
        equal = cmeq s4;
        double_greater = fcmgt d2;
    }

    fn ones(&mut self, z: Vector) {
        self.splat(z, !0);
    }

    fn shift_right_each(&mut self, z: Vector, x: Vector, by: Vector) {
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; neg V(s).s4, V(by.0).s4
            ; ushl V(z.0).s4, V(x.0).s4, V(s).s4
        );
    }

    fn shift_right_signed_each(&mut self, z: Vector, x: Vector, by: Vector) {
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; neg V(s).s4, V(by.0).s4
            ; sshl V(z.0).s4, V(x.0).s4, V(s).s4
        );
    }

    fn rotate_right_each(&mut self, z: Vector, x: Vector, by: Vector) {
        let bits = self.constant(Constant::ShiftBits);
        let width = self.constant(Constant::WordBits);
        let [s, t] = SCRATCH;
        encode!(self.code,
            ; and V(s).b16, V(by.0).b16, V(bits).b16
            ; sub V(t).s4, V(width).s4, V(s).s4
            ; neg V(s).s4, V(s).s4
            ; ushl V(z.0).s4, V(x.0).s4, V(s).s4
            // A shift by 32 is 0.
            ; ushl V(t).s4, V(x.0).s4, V(t).s4
            ; orr V(z.0).b16, V(z.0).b16, V(t).b16
        );
    }

    fn widen_bytes(&mut self, z: Vector, x: Vector, half: Half) {
        match half {
            Half::Low => encode!(self.code, ; ushll V(z.0).h8, V(x.0).b8, 0),
            Half::High => encode!(self.code, ; ushll2 V(z.0).h8, V(x.0).b16, 0),
        }
    }

    fn multiply_words_high(&mut self, z: Vector, x: Vector, y: Vector) {
        let [s, t] = SCRATCH;
        encode!(self.code,
            ; umull V(s).s4, V(x.0).h4, V(y.0).h4
            ; umull2 V(t).s4, V(x.0).h8, V(y.0).h8
            ; uzp2 V(z.0).h8, V(s).h8, V(t).h8
        );
    }

    fn insert_bits(&mut self, z: Vector, old: Vector, mask: u32) {
        let [s, _] = SCRATCH;
        self.splat(Vector(s), mask);
        encode!(self.code, ; bif V(z.0).b16, V(old.0).b16, V(s).b16);
    }

    fn float_clamp(&mut self, z: Vector, x: Vector) {
        let one = self.constant(Constant::OneOfFrame);
        let [s, _] = SCRATCH;
        // The minimum of NaN would be NaN. A number that is not greater than 0 becomes 0, and so does NaN.
        encode!(self.code,
            ; fcmgt V(s).s4, V(x.0).s4, 0.0
            ; and V(z.0).b16, V(x.0).b16, V(s).b16
            ; fmin V(z.0).s4, V(z.0).s4, V(one).s4
        );
    }

    fn float_multiply_add(&mut self, z: Vector, x: Constant, y: Vector) {
        let [s, _] = SCRATCH;
        let [factor, ..] = Self::TEMPORARY;
        self.load_constant(factor, x);
        encode!(self.code,
            ; mov V(s).b16, V(y.0).b16
            ; fmla V(s).s4, V(z.0).s4, V(factor.0).s4
            ; mov V(z.0).b16, V(s).b16
        );
    }

    fn find_special(&mut self, x: Vector) {
        let [s, _] = SCRATCH;
        encode!(self.code, ; shl V(s).s4, V(x.0).s4, 1);
        self.greatest(s);
        encode!(self.code, ; cmp w9, special);
    }

    fn find_large(&mut self, x: Vector, y: Vector) {
        let [s, t] = SCRATCH;
        encode!(self.code, ; shl V(s).s4, V(x.0).s4, 1);
        if x != y {
            encode!(self.code,
                ; shl V(t).s4, V(y.0).s4, 1
                ; umax V(s).s4, V(s).s4, V(t).s4
            );
        }
        self.greatest(s);
        encode!(self.code, ; cmp w9, large);
    }

    fn below(&mut self, z: Mask, x: Vector, y: Constant) {
        let y = self.constant(y);
        encode!(self.code, ; cmhi V(z.0).s4, V(y).s4, V(x.0).s4);
    }

    fn and_not_below(&mut self, z: Mask, x: Vector, y: Constant) {
        let y = self.constant(y);
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; cmhs V(s).s4, V(x.0).s4, V(y).s4
            ; and V(z.0).b16, V(z.0).b16, V(s).b16
        );
    }

    fn has_none(&mut self, z: Mask, x: Vector, y: Constant) {
        let y = self.constant(y);
        encode!(self.code,
            ; and V(z.0).b16, V(x.0).b16, V(y).b16
            ; cmeq V(z.0).s4, V(z.0).s4, 0
        );
    }

    fn not_zero(&mut self, z: Mask, x: Vector) {
        encode!(self.code, ; cmtst V(z.0).s4, V(x.0).s4, V(x.0).s4);
    }

    fn and_differs(&mut self, z: Mask, x: Vector, y: Vector) {
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; cmeq V(s).s4, V(x.0).s4, V(y.0).s4
            ; bic V(z.0).b16, V(z.0).b16, V(s).b16
        );
    }

    fn and_not_zero(&mut self, z: Mask, x: Vector) {
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; cmtst V(s).s4, V(x.0).s4, V(x.0).s4
            ; and V(z.0).b16, V(z.0).b16, V(s).b16
        );
    }

    fn has_sign(&mut self, z: Mask, x: Vector) {
        encode!(self.code, ; cmlt V(z.0).s4, V(x.0).s4, 0);
    }

    fn greater(&mut self, z: Mask, x: Vector, y: Operand) {
        if let Operand::Constant(Constant::Zero) = y {
            encode!(self.code, ; cmgt V(z.0).s4, V(x.0).s4, 0);
            return;
        }
        let y = self.second(y);
        encode!(self.code, ; cmgt V(z.0).s4, V(x.0).s4, V(y).s4);
    }

    fn and_masks(&mut self, z: Mask, x: Mask, y: Mask) {
        encode!(self.code, ; and V(z.0).b16, V(x.0).b16, V(y.0).b16);
    }

    fn or_double_masks(&mut self, z: Mask, x: Mask, y: Mask) {
        encode!(self.code, ; orr V(z.0).b16, V(x.0).b16, V(y.0).b16);
    }

    fn find_any_double(&mut self, x: Mask) {
        let [s, _] = SCRATCH;
        encode!(self.code, ; mov V(s).b16, V(x.0).b16);
        self.greatest(s);
        encode!(self.code, ; cmp w9, 1);
    }

    fn float_divide_where(&mut self, z: Vector, held: Mask, x: Vector, y: Vector) {
        encode!(self.code,
            ; fdiv V(z.0).s4, V(x.0).s4, V(y.0).s4
            ; and V(z.0).b16, V(z.0).b16, V(held.0).b16
        );
    }

    fn float_multiply_where(&mut self, z: Vector, held: Mask, x: Vector, y: Constant) {
        let y = self.constant(y);
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; fmul V(s).s4, V(x.0).s4, V(y).s4
            ; bit V(z.0).b16, V(s).b16, V(held.0).b16
        );
    }

    fn subtract_where(&mut self, z: Vector, held: Mask, y: Constant) {
        let y = self.constant(y);
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; and V(s).b16, V(held.0).b16, V(y).b16
            ; sub V(z.0).s4, V(z.0).s4, V(s).s4
        );
    }

    fn invert_where(&mut self, z: Vector, held: Mask, _: Vector) {
        encode!(self.code, ; eor V(z.0).b16, V(z.0).b16, V(held.0).b16);
    }

    fn replace_where(&mut self, z: Vector, held: Mask, y: Constant) {
        let y = self.constant(y);
        encode!(self.code, ; bit V(z.0).b16, V(y).b16, V(held.0).b16);
    }

    fn clear_where(&mut self, z: Vector, held: Mask) {
        encode!(self.code, ; bic V(z.0).b16, V(z.0).b16, V(held.0).b16);
    }

    fn keep_where(&mut self, z: Vector, held: Mask) {
        encode!(self.code, ; and V(z.0).b16, V(z.0).b16, V(held.0).b16);
    }

    fn or_where(&mut self, z: Vector, held: Mask, x: Vector) {
        encode!(self.code,
            ; orr V(z.0).b16, V(z.0).b16, V(x.0).b16
            ; and V(z.0).b16, V(z.0).b16, V(held.0).b16
        );
    }

    fn shift_left_where(&mut self, z: Vector, held: Mask, x: Vector, by: u32) {
        encode!(self.code,
            ; shl V(z.0).s4, V(x.0).s4, by
            ; and V(z.0).b16, V(z.0).b16, V(held.0).b16
        );
    }

    fn or_sign(&mut self, z: Vector, x: Vector) {
        let sign = self.constant(Constant::Sign);
        encode!(self.code, ; bit V(z.0).b16, V(x.0).b16, V(sign).b16);
    }

    fn extract(&mut self, z: Vector, x: Vector, half: Half) {
        match half {
            Half::Low => encode!(self.code, ; mov V(z.0).b16, V(x.0).b16),
            Half::High => encode!(self.code, ; dup V(z.0).d2, V(x.0).d[1]),
        }
    }

    fn load_double(&mut self, z: Vector, constant: Constant) {
        self.load(z.0, constant);
    }

    fn double_add(&mut self, z: Vector, x: Vector, y: Constant) {
        let y = self.constant(y);
        encode!(self.code, ; fadd V(z.0).d2, V(x.0).d2, V(y).d2);
    }

    fn double_multiply_add(&mut self, z: Vector, x: Vector, y: Constant) {
        let [s, _] = SCRATCH;
        self.load(s, y);
        encode!(self.code,
            ; fmla V(s).d2, V(z.0).d2, V(x.0).d2
            ; mov V(z.0).b16, V(s).b16
        );
    }

    fn double_multiply_subtract(&mut self, z: Vector, x: Vector, y: Constant) {
        let y = self.constant(y);
        let [s, _] = SCRATCH;
        encode!(self.code,
            ; fneg V(s).d2, V(y).d2
            ; fmla V(s).d2, V(z.0).d2, V(x.0).d2
            ; mov V(z.0).b16, V(s).b16
        );
    }

    fn join_masks(&mut self, z: Mask, low: Mask, high: Mask) {
        encode!(self.code, ; uzp1 V(z.0).s4, V(low.0).s4, V(high.0).s4);
    }

    fn double_to_integer(&mut self, z: Vector, x: Vector) {
        encode!(self.code,
            ; fcvtzs V(z.0).d2, V(x.0).d2
            ; xtn V(z.0).s2, V(z.0).d2
        );
    }

    fn special(&mut self, special: Special) {
        const SAVED_BYTES: u32 = 32 * PART_BYTES + 16;
        let Some(call) = special.call() else { return self.special_arithmetic(special) };
        let place = |vector: Vector| PART_BYTES * u32::from(vector.0);
        let [argument, _, result, _] = Self::TEMPORARY;
        encode!(self.code,
            ; sub sp, sp, SAVED_BYTES
            ; str x30, [sp, 32 * PART_BYTES]
        );
        for register in (0..32_u8).step_by(2) {
            encode!(self.code, ; stp Q(register), Q(register + 1), [sp, 16 * i32::from(register)]);
        }
        encode!(self.code,
            ; add x0, sp, place(argument)
            ; add x1, sp, place(result)
        );
        self.code.call_function(at::SPECIAL + 8 * call);
        for register in (0..32_u8).step_by(2) {
            encode!(self.code, ; ldp Q(register), Q(register + 1), [sp, 16 * i32::from(register)]);
        }
        encode!(self.code,
            ; ldr x30, [sp, 32 * PART_BYTES]
            ; add sp, sp, SAVED_BYTES
            ; ret
        );
    }
}

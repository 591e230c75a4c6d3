//! The instructions of x86-64 that translated code has, each with the forms in which it has them.
//!
//! iced-x86 has an assembler of its own, with every instruction of every processor: without it, that crate takes a fifth of the time to build. What is here
//! chooses the code of an instruction by its operands; iced-x86 encodes it, and finds how far jumps are.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Instruction, InstructionBlock, OpKind, Register, RoundingControl,
};
use std::ops::{Add, Mul};

/// An instruction that does not exist, or a label that is used wrongly.
#[derive(Clone, Debug)]
pub(in crate::qpu::translation) struct AssemblyError(String);

impl std::fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What each instruction returns.
pub(super) type Assembled = Result<(), AssemblyError>;

/// Kinds of operands, as a set: one for an operand, those that it takes for an instruction.
type Kinds = u32;

const R8: Kinds = 1 << 0;
const R32: Kinds = 1 << 1;
const R64: Kinds = 1 << 2;
/// Vectors of 128, 256 and 512 bits.
const X: Kinds = 1 << 3;
const Y: Kinds = 1 << 4;
const Z: Kinds = 1 << 5;
/// Masks.
const K: Kinds = 1 << 6;
/// Memory of so many bits.
const M8: Kinds = 1 << 7;
const M16: Kinds = 1 << 8;
const M32: Kinds = 1 << 9;
const M64: Kinds = 1 << 10;
const M128: Kinds = 1 << 11;
const M256: Kinds = 1 << 12;
const M512: Kinds = 1 << 13;
/// One element in memory, for all elements of a vector.
const B32: Kinds = 1 << 14;
const B64: Kinds = 1 << 15;
/// An address alone.
const A: Kinds = 1 << 16;
/// Numbers of 8 bits; of 8 bits that are extended by their sign to 32 and 64; of 32; of 32 that are extended to 64; of 64.
const I8: Kinds = 1 << 17;
const I8S32: Kinds = 1 << 18;
const I8S64: Kinds = 1 << 19;
const I32: Kinds = 1 << 20;
const I32S64: Kinds = 1 << 21;
const I64: Kinds = 1 << 22;
/// The number 1.
const ONE: Kinds = 1 << 23;

const R32M: Kinds = R32 | M32;
const R64M: Kinds = R64 | M64;
const XM: Kinds = X | M128;
const YM: Kinds = Y | M256;
const ZM: Kinds = Z | M512;
const ZB32: Kinds = Z | B32;
const ZB64: Kinds = Z | B64;

/// A register, with what EVEX adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decorated {
    register: Register,
    mask: Register,
    zeroes: bool,
    rounding: RoundingControl,
    ignores_exceptions: bool,
}

impl Decorated {
    const fn plain(register: Register) -> Self {
        Self {
            register,
            mask: Register::None,
            zeroes: false,
            rounding: RoundingControl::None,
            ignores_exceptions: false,
        }
    }
}

/// Types of registers, and the registers that are used by name.
macro_rules! registers {
    ($( #[$doc:meta] $type:ident = $kind:ident: $( $name:ident $register:ident )*; )*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) struct $type(Decorated);

        impl From<$type> for Operand {
            fn from(register: $type) -> Self {
                Self { kinds: $kind, value: Value::Register(register.0) }
            }
        }

        $(
            #[allow(non_upper_case_globals, reason = "as in assembly language")]
            pub(super) const $name: $type = $type(Decorated::plain(Register::$register));
        )*
    )*};
}

registers! {
    /// A register of 8 bits.
    Gpr8 = R8: al AL r13b R13L;
    /// A register of 32 bits.
    Gpr32 = R32: eax EAX ecx ECX edx EDX esi ESI r8d R8D r10d R10D r13d R13D;
    /// A register of 64 bits.
    Gpr64 = R64: rax RAX rcx RCX rdx RDX rbx RBX rsp RSP rbp RBP rsi RSI rdi RDI r9 R9 r11 R11 r12 R12 r13 R13 r14 R14 r15 R15;
    /// A vector register of 128 bits.
    Xmm = X: xmm10 XMM10 xmm16 XMM16;
    /// A vector register of 256 bits.
    Ymm = Y: ymm0 YMM0 ymm1 YMM1 ymm2 YMM2 ymm3 YMM3 ymm4 YMM4 ymm5 YMM5 ymm6 YMM6 ymm7 YMM7 ymm8 YMM8 ymm10 YMM10 ymm11 YMM11 ymm12 YMM12
        ymm13 YMM13 ymm14 YMM14 ymm15 YMM15;
    /// A vector register of 512 bits.
    Zmm = Z: zmm16 ZMM16 zmm17 ZMM17 zmm20 ZMM20 zmm21 ZMM21 zmm22 ZMM22;
    /// A mask register.
    Mask = K: k0 K0 k1 K1 k5 K5;
}

/// A vector register by its number.
macro_rules! numbered {
    ($( $type:ident $first:ident $count:literal; )*) => {$(
        impl $type {
            pub(super) fn numbered(number: u8) -> Self {
                Self(Decorated::plain(Register::$first + u32::from(number % $count)))
            }
        }
    )*};
}

numbered! {
    Xmm XMM0 32;
    Ymm YMM0 32;
    Zmm ZMM0 32;
    Mask K0 8;
}

/// The operand of a masked instruction that is written.
pub(super) trait Masked: Sized {
    /// Writes only where the mask is set.
    fn masked(self, mask: Mask) -> Self;
}

macro_rules! masked {
    ($( $type:ident )*) => {$(
        impl Masked for $type {
            fn masked(self, mask: Mask) -> Self {
                Self(Decorated { mask: mask.0.register, ..self.0 })
            }
        }
    )*};
}

masked!(Zmm Mask);

impl Zmm {
    /// What is not written becomes 0.
    pub(super) fn z(self) -> Self {
        Self(Decorated { zeroes: true, ..self.0 })
    }

    /// As the last operand: rounds toward zero.
    pub(super) fn rz_sae(self) -> Self {
        Self(Decorated { rounding: RoundingControl::RoundTowardZero, ..self.0 })
    }

    /// As the last operand: without exceptions.
    pub(super) fn sae(self) -> Self {
        Self(Decorated { ignores_exceptions: true, ..self.0 })
    }
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    base: Register,
    index: Register,
    scale: u32,
    displacement: i32,
}

/// An index with its factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled(Register, u32);

impl From<Gpr64> for Address {
    fn from(base: Gpr64) -> Self {
        Self { base: base.0.register, index: Register::None, scale: 1, displacement: 0 }
    }
}

impl Mul<u32> for Gpr64 {
    type Output = Scaled;

    fn mul(self, scale: u32) -> Scaled {
        Scaled(self.0.register, scale)
    }
}

impl Add<i32> for Gpr64 {
    type Output = Address;

    fn add(self, displacement: i32) -> Address {
        Address { displacement, ..self.into() }
    }
}

impl Add for Gpr64 {
    type Output = Address;

    fn add(self, index: Self) -> Address {
        self + index * 1
    }
}

impl Add<Scaled> for Gpr64 {
    type Output = Address;

    fn add(self, Scaled(index, scale): Scaled) -> Address {
        Address { index, scale, ..self.into() }
    }
}

impl Add<i32> for Address {
    type Output = Self;

    fn add(self, displacement: i32) -> Self {
        Self { displacement: self.displacement + displacement, ..self }
    }
}

/// Operands in memory, by their size.
macro_rules! memory {
    ($( $name:ident $kind:ident; )*) => {$(
        pub(super) fn $name(address: impl Into<Address>) -> Operand {
            Operand { kinds: $kind, value: Value::Memory(address.into()) }
        }
    )*};
}

memory! {
    byte_ptr M8;
    word_ptr M16;
    dword_ptr M32;
    qword_ptr M64;
    xmmword_ptr M128;
    ymmword_ptr M256;
    zmmword_ptr M512;
    dword_bcst B32;
    qword_bcst B64;
    ptr A;
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    kinds: Kinds,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Register(Decorated),
    Memory(Address),
    Number(i64),
}

/// Numbers. A shorter form takes a number that its extension does not change.
macro_rules! numbers {
    ($( $type:ident )*) => {$(
        impl From<$type> for Operand {
            fn from(number: $type) -> Self {
                let number = number as i64;
                let kinds = if number == 1 { ONE } else { 0 }
                    | if u8::try_from(number).is_ok() { I8 } else { 0 }
                    | if i8::try_from(number).is_ok() { I8S32 | I8S64 } else { 0 }
                    | if i32::try_from(number).is_ok() { I32 | I32S64 } else { 0 }
                    | if u32::try_from(number).is_ok() { I32 } else { 0 }
                    | I64;
                Self { kinds, value: Value::Number(number) }
            }
        }
    )*};
}

numbers!(i32 u32 u64);

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLabel(u64);

/// Machine code.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    /// Offset of each instruction.
    offsets: Vec<u32>,
    /// The instruction at each label.
    places: Vec<Option<usize>>,
}

impl Encoded {
    /// Offset of a label.
    pub(super) fn offset(&self, label: CodeLabel) -> Option<u32> {
        let place = (*self.places.get(usize::try_from(label.0).ok()?)?)?;
        self.offsets.get(place).copied().filter(|&offset| offset != u32::MAX)
    }
}

/// Instructions that are to be encoded.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    instructions: Vec<Instruction>,
    /// The instruction at each label. The first one is none's: an instruction without a label has the address 0.
    places: Vec<Option<usize>>,
    /// The last instruction that has a label.
    labelled: Option<usize>,
}

impl Assembler {
    /// How many instructions there are.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    /// A label that has no place yet.
    pub(super) fn create_label(&mut self) -> CodeLabel {
        if self.places.is_empty() {
            self.places.push(None);
        }
        self.places.push(None);
        CodeLabel(self.places.len() as u64 - 1)
    }

    /// Puts a label before the next instruction, which has no other.
    pub(super) fn set_label(&mut self, label: CodeLabel) -> Assembled {
        let here = self.instructions.len();
        if self.labelled.replace(here) == Some(here) {
            return Err(AssemblyError("an instruction has two labels".to_owned()));
        }
        match self.places.get_mut(label.0 as usize) {
            Some(place @ None) => *place = Some(here),
            _ => return Err(AssemblyError("a label has two places".to_owned())),
        }
        Ok(())
    }

    /// No bytes, for a label to be at.
    pub(super) fn zero_bytes(&mut self) -> Assembled {
        self.append(Instruction::with(Code::Zero_bytes))
    }

    fn append(&mut self, instruction: Instruction) -> Assembled {
        self.instructions.push(instruction);
        Ok(())
    }

    /// An instruction in the first form that takes its operands.
    fn put<const N: usize>(&mut self, name: &str, forms: &[([Kinds; N], Code)], operands: [Operand; N]) -> Assembled {
        let takes = |kinds: &[Kinds; N]| kinds.iter().zip(&operands).all(|(kinds, operand)| kinds & operand.kinds != 0);
        let Some(&(kinds, code)) = forms.iter().find(|(kinds, _)| takes(kinds)) else {
            return Err(AssemblyError(format!("there is no {name} of {operands:?}")));
        };
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        for ((number, operand), kinds) in (0..).zip(operands).zip(kinds) {
            match operand.value {
                Value::Register(decorated) => {
                    instruction.set_op_kind(number, OpKind::Register);
                    instruction.set_op_register(number, decorated.register);
                    if decorated.mask != Register::None {
                        instruction.set_op_mask(decorated.mask);
                        instruction.set_zeroing_masking(decorated.zeroes);
                    }
                    if decorated.rounding != RoundingControl::None {
                        instruction.set_rounding_control(decorated.rounding);
                    }
                    if decorated.ignores_exceptions {
                        instruction.set_suppress_all_exceptions(true);
                    }
                }
                Value::Memory(address) => {
                    instruction.set_op_kind(number, OpKind::Memory);
                    instruction.set_memory_base(address.base);
                    instruction.set_memory_index(address.index);
                    instruction.set_memory_index_scale(address.scale);
                    instruction.set_memory_displacement64(i64::from(address.displacement) as u64);
                    instruction.set_memory_displ_size(u32::from(address.displacement != 0));
                    instruction.set_is_broadcast(operand.kinds & (B32 | B64) != 0);
                }
                Value::Number(value) => {
                    let kind = match kinds {
                        I8S32 => OpKind::Immediate8to32,
                        I8S64 => OpKind::Immediate8to64,
                        I32 => OpKind::Immediate32,
                        I32S64 => OpKind::Immediate32to64,
                        I64 => OpKind::Immediate64,
                        _ => OpKind::Immediate8,
                    };
                    instruction.set_op_kind(number, kind);
                    instruction.set_immediate_i64(number, value);
                }
            }
        }
        self.append(instruction)
    }

    /// Encodes the instructions.
    pub(super) fn encode(&mut self) -> Result<Encoded, AssemblyError> {
        for (label, place) in (0..).zip(&self.places) {
            if let Some(instruction) = place.and_then(|place| self.instructions.get_mut(place)) {
                instruction.set_ip(label);
            }
        }
        let block = InstructionBlock::new(&self.instructions, 0);
        let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let result = BlockEncoder::encode(64, block, options).map_err(|error| AssemblyError(error.to_string()))?;
        Ok(Encoded {
            bytes: result.code_buffer,
            offsets: result.new_instruction_offsets,
            places: std::mem::take(&mut self.places),
        })
    }
}

/// Instructions: a method for each, and a line for each form.
macro_rules! instructions {
    ($( $name:ident($( $operand:ident )*): $( $( $kind:ident )* => $code:ident ),+; )*) => {
        impl Assembler {$(
            pub(super) fn $name(&mut self, $( $operand: impl Into<Operand> ),*) -> Assembled {
                self.put(stringify!($name), &[$( ([$( $kind ),*], Code::$code) ),+], [$( $operand.into() ),*])
            }
        )*}
    };
}

/// Instructions whose only operand is a label.
macro_rules! jumps {
    ($( $name:ident $code:ident; )*) => {
        impl Assembler {$(
            pub(super) fn $name(&mut self, to: CodeLabel) -> Assembled {
                let branch = Instruction::with_branch(Code::$code, to.0);
                self.append(branch.map_err(|error| AssemblyError(error.to_string()))?)
            }
        )*}
    };
}

jumps! {
    jmp Jmp_rel8_64;
    ja Ja_rel8_64;
    jae Jae_rel8_64;
    jb Jb_rel8_64;
    je Je_rel8_64;
    jne Jne_rel8_64;
    call Call_rel32_64;
}

instructions! {
    add(z x): R32 R32M => Add_r32_rm32, R64 R64M => Add_r64_rm64, M32 R32 => Add_rm32_r32, R32M I8S32 => Add_rm32_imm8, R64M I8S64 => Add_rm64_imm8,
        R32M I32 => Add_rm32_imm32, R64M I32S64 => Add_rm64_imm32;
    and(z x): R32 R32M => And_r32_rm32, R64 R64M => And_r64_rm64, M32 R32 => And_rm32_r32, R32M I8S32 => And_rm32_imm8, R64M I8S64 => And_rm64_imm8,
        R32M I32 => And_rm32_imm32, R64M I32S64 => And_rm64_imm32;
    or(z x): R32 R32M => Or_r32_rm32, R64 R64M => Or_r64_rm64, M32 R32 => Or_rm32_r32, R32M I8S32 => Or_rm32_imm8, R32M I32 => Or_rm32_imm32;
    sub(z x): R32 R32M => Sub_r32_rm32, R64 R64M => Sub_r64_rm64, M32 R32 => Sub_rm32_r32, R32M I8S32 => Sub_rm32_imm8, R64M I8S64 => Sub_rm64_imm8,
        R32M I32 => Sub_rm32_imm32, R64M I32S64 => Sub_rm64_imm32;
    xor(z x): R32 R32M => Xor_r32_rm32;
    cmp(x y): R32 R32M => Cmp_r32_rm32, R64 R64M => Cmp_r64_rm64, R32M I8S32 => Cmp_rm32_imm8, R64M I8S64 => Cmp_rm64_imm8,
        R32M I32 => Cmp_rm32_imm32, R64M I32S64 => Cmp_rm64_imm32;
    test(x y): R32M R32 => Test_rm32_r32, R32M I32 => Test_rm32_imm32;
    not(z): R32M => Not_rm32;
    inc(z): R32M => Inc_rm32;
    dec(z): R32M => Dec_rm32;
    shl(z by): R32 ONE => Shl_rm32_1, R32 I8 => Shl_rm32_imm8;
    shr(z by): R32 ONE => Shr_rm32_1, R32 I8 => Shr_rm32_imm8;
    imul(z x): R64 R64M => Imul_r64_rm64;
    popcnt(z x): R32 R32M => Popcnt_r32_rm32;
    mov(z x): R32 R32M => Mov_r32_rm32, R64 R64M => Mov_r64_rm64, M8 R8 => Mov_rm8_r8, M32 R32 => Mov_rm32_r32, M64 R64 => Mov_rm64_r64,
        R32 I32 => Mov_r32_imm32, M32 I32 => Mov_rm32_imm32, R64 I64 => Mov_r64_imm64;
    cmove(z x): R32 R32M => Cmove_r32_rm32;
    sete(z): R8 => Sete_rm8;
    setne(z): R8 => Setne_rm8;
    lea(z x): R64 A => Lea_r64_m;
    push(x): R64 => Push_r64;
    pop(z): R64 => Pop_r64;
    call_at(x): R64M => Call_rm64;
    jmp_to(x): R64M => Jmp_rm64;
    ret(): => Retnq;
    ldmxcsr(x): M32 => Ldmxcsr_m32;
    stmxcsr(z): M32 => Stmxcsr_m32;
    vzeroupper(): => VEX_Vzeroupper;

    kmovw(z x): K R32 => VEX_Kmovw_kr_r32, R32 K => VEX_Kmovw_r32_kr, M16 K => VEX_Kmovw_m16_kr, K M16 => VEX_Kmovw_kr_km16, K K => VEX_Kmovw_kr_km16;
    kandw(z x y): K K K => VEX_Kandw_kr_kr_kr;
    kandnw(z x y): K K K => VEX_Kandnw_kr_kr_kr;
    korw(z x y): K K K => VEX_Korw_kr_kr_kr;
    kxorw(z x y): K K K => VEX_Kxorw_kr_kr_kr;
    kxnorw(z x y): K K K => VEX_Kxnorw_kr_kr_kr;
    kunpckbw(z x y): K K K => VEX_Kunpckbw_kr_kr_kr;
    knotw(z x): K K => VEX_Knotw_kr_kr;
    kortestw(x y): K K => VEX_Kortestw_kr_kr;

    vmovd(z x): X R32 => VEX_Vmovd_xmm_rm32, R32 X => VEX_Vmovd_rm32_xmm;
    vmovd_evex(z x): R32 X => EVEX_Vmovd_rm32_xmm;
    vmovq(z x): X R64 => VEX_Vmovq_xmm_rm64;
    vmovaps(z x): X XM => VEX_Vmovaps_xmm_xmmm128;
    vmovdqa(z x): Y YM => VEX_Vmovdqa_ymm_ymmm256, M256 Y => VEX_Vmovdqa_ymmm256_ymm;
    vmovdqa32(z x): Z ZM => EVEX_Vmovdqa32_zmm_k1z_zmmm512, M512 Z => EVEX_Vmovdqa32_zmmm512_k1z_zmm;
    vmovdqu(z x): X XM => VEX_Vmovdqu_xmm_xmmm128, Y YM => VEX_Vmovdqu_ymm_ymmm256, M128 X => VEX_Vmovdqu_xmmm128_xmm, M256 Y => VEX_Vmovdqu_ymmm256_ymm;
    vmovdqu32(z x): Z ZM => EVEX_Vmovdqu32_zmm_k1z_zmmm512;
    vmovmskps(z x): R32 Y => VEX_Vmovmskps_r32_ymm;
    vmovmskpd(z x): R32 Y => VEX_Vmovmskpd_r32_ymm;
    vpmovd2m(z x): K Z => EVEX_Vpmovd2m_kr_zmm;
    vpmaskmovd(z x y): Y Y M256 => VEX_Vpmaskmovd_ymm_ymm_m256;
    vpmovsxbd(z x): Y X => VEX_Vpmovsxbd_ymm_xmmm64;
    vpbroadcastd(z x): Y X => VEX_Vpbroadcastd_ymm_xmmm32, Y M32 => VEX_Vpbroadcastd_ymm_xmmm32, Z M32 => EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
        Z R32 => EVEX_Vpbroadcastd_zmm_k1z_r32;
    vpbroadcastw(z x): Y M16 => VEX_Vpbroadcastw_ymm_xmmm16;
    vbroadcastss(z x): Z M32 => EVEX_Vbroadcastss_zmm_k1z_xmmm32;
    vbroadcastsd(z x): Z M64 => EVEX_Vbroadcastsd_zmm_k1z_xmmm64;

    vextracti128(z x half): XM Y I8 => VEX_Vextracti128_xmmm128_ymm_imm8;
    vextractf128(z x half): XM Y I8 => VEX_Vextractf128_xmmm128_ymm_imm8;
    vextractf64x4(z x half): YM Z I8 => EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8;
    vinserti128(z x y half): Y Y XM I8 => VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
    vinserti64x4(z x y half): Z Z YM I8 => EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
    vpermq(z x order): Y YM I8 => VEX_Vpermq_ymm_ymmm256_imm8;
    vshufps(z x y order): Y Y YM I8 => VEX_Vshufps_ymm_ymm_ymmm256_imm8;
    vpunpcklbw(z x y): Y Y YM => VEX_Vpunpcklbw_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpunpcklbw_zmm_k1z_zmm_zmmm512;
    vpunpckhbw(z x y): Y Y YM => VEX_Vpunpckhbw_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpunpckhbw_zmm_k1z_zmm_zmmm512;

    vpand(z x y): Y Y YM => VEX_Vpand_ymm_ymm_ymmm256;
    vpandd(z x y): Z Z ZB32 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32;
    vpandq(z x y): Z Z ZB64 => EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64;
    vandpd(z x y): Y Y YM => VEX_Vandpd_ymm_ymm_ymmm256;
    vpandn(z x y): Y Y YM => VEX_Vpandn_ymm_ymm_ymmm256;
    vpandnd(z x y): Z Z ZB32 => EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32;
    vpor(z x y): Y Y YM => VEX_Vpor_ymm_ymm_ymmm256;
    vpord(z x y): Z Z ZB32 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32;
    vpxor(z x y): Y Y YM => VEX_Vpxor_ymm_ymm_ymmm256;
    vpxord(z x y): Z Z ZB32 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32;
    vpternlogd(z x y function): Z Z ZB32 I8 => EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
    vblendvps(z x y select): Y Y YM Y => VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
    vpblendvb(z x y select): Y Y YM Y => VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
    vpblendmd(z x y): Z Z ZB32 => EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;

    vpcmpeqd(z x y): Y Y YM => VEX_Vpcmpeqd_ymm_ymm_ymmm256;
    vpcmpgtd(z x y): Y Y YM => VEX_Vpcmpgtd_ymm_ymm_ymmm256, K Z ZB32 => EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32;
    vpcmpd(z x y predicate): K Z ZB32 I8 => EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
    vpcmpud(z x y predicate): K Z ZB32 I8 => EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
    vptestmd(z x y): K Z ZB32 => EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
    vptestnmd(z x y): K Z ZB32 => EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32;
    vcmppd(z x y predicate): Y Y YM I8 => VEX_Vcmppd_ymm_ymm_ymmm256_imm8, K Z ZB64 I8 => EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;

    vpaddd(z x y): Y Y YM => VEX_Vpaddd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
    vpsubd(z x y): Y Y YM => VEX_Vpsubd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
    vpmulld(z x y): Y Y YM => VEX_Vpmulld_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32;
    vpminsd(z x y): Y Y YM => VEX_Vpminsd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32;
    vpmaxsd(z x y): Y Y YM => VEX_Vpmaxsd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32;
    vpminud(z x y): Y Y YM => VEX_Vpminud_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32;
    vpmaxud(z x y): Y Y YM => VEX_Vpmaxud_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32;
    vplzcntd(z x): Z ZB32 => EVEX_Vplzcntd_zmm_k1z_zmmm512b32;
    vpaddw(z x y): Y Y YM => VEX_Vpaddw_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpaddw_zmm_k1z_zmm_zmmm512;
    vpmullw(z x y): Y Y YM => VEX_Vpmullw_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpmullw_zmm_k1z_zmm_zmmm512;
    vpmulhuw(z x y): Y Y YM => VEX_Vpmulhuw_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpmulhuw_zmm_k1z_zmm_zmmm512;
    vpackuswb(z x y): Y Y YM => VEX_Vpackuswb_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpackuswb_zmm_k1z_zmm_zmmm512;
    vpminub(z x y): Y Y YM => VEX_Vpminub_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpminub_zmm_k1z_zmm_zmmm512;
    vpmaxub(z x y): Y Y YM => VEX_Vpmaxub_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512;
    vpaddusb(z x y): Y Y YM => VEX_Vpaddusb_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpaddusb_zmm_k1z_zmm_zmmm512;
    vpsubusb(z x y): Y Y YM => VEX_Vpsubusb_ymm_ymm_ymmm256, Z Z ZM => EVEX_Vpsubusb_zmm_k1z_zmm_zmmm512;

    vpslld(z x by): Y Y I8 => VEX_Vpslld_ymm_ymm_imm8, Z Z I8 => EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8;
    vpsrld(z x by): Y Y I8 => VEX_Vpsrld_ymm_ymm_imm8, Z Z I8 => EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8;
    vpsrad(z x by): Y Y I8 => VEX_Vpsrad_ymm_ymm_imm8, Z Z I8 => EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;
    vpsrlw(z x by): Y Y I8 => VEX_Vpsrlw_ymm_ymm_imm8, Z Z I8 => EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8;
    vpsllvd(z x by): Y Y YM => VEX_Vpsllvd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32;
    vpsrlvd(z x by): Y Y YM => VEX_Vpsrlvd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32;
    vpsravd(z x by): Y Y YM => VEX_Vpsravd_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32;
    vprorvd(z x by): Z Z ZB32 => EVEX_Vprorvd_zmm_k1z_zmm_zmmm512b32;

    vaddps(z x y): Y Y YM => VEX_Vaddps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er;
    vsubps(z x y): Y Y YM => VEX_Vsubps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er;
    vmulps(z x y): Y Y YM => VEX_Vmulps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
    vdivps(z x y): Y Y YM => VEX_Vdivps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er;
    vsqrtps(z x): Y YM => VEX_Vsqrtps_ymm_ymmm256, Z ZB32 => EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er;
    vminps(z x y): Y Y YM => VEX_Vminps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae;
    vmaxps(z x y): Y Y YM => VEX_Vmaxps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae;
    vfmadd213ps(z x y): Y Y YM => VEX_Vfmadd213ps_ymm_ymm_ymmm256, Z Z ZB32 => EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    vfmadd132ps(z x y): Y Y YM => VEX_Vfmadd132ps_ymm_ymm_ymmm256;
    vfmadd231ps(z x y): Z Z ZB32 => EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    vfnmadd231ps(z x y): Z Z ZB32 => EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er;
    vroundps(z x how): Y YM I8 => VEX_Vroundps_ymm_ymmm256_imm8;
    vrndscaleps(z x how): Z ZB32 I8 => EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
    vcvttps2dq(z x): Y YM => VEX_Vcvttps2dq_ymm_ymmm256, Z ZB32 => EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
    vcvtdq2ps(z x): Y YM => VEX_Vcvtdq2ps_ymm_ymmm256, Z ZB32 => EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;

    vaddpd(z x y): Y Y YM => VEX_Vaddpd_ymm_ymm_ymmm256, Z Z ZB64 => EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
    vsubpd(z x y): Y Y YM => VEX_Vsubpd_ymm_ymm_ymmm256, Z Z ZB64 => EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
    vmulpd(z x y): Y Y YM => VEX_Vmulpd_ymm_ymm_ymmm256, Z Z ZB64 => EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
    vdivpd(z x y): Y Y YM => VEX_Vdivpd_ymm_ymm_ymmm256, Z Z ZB64 => EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
    vfmadd213pd(z x y): Y Y YM => VEX_Vfmadd213pd_ymm_ymm_ymmm256, Z Z ZB64 => EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    vfmsub213pd(z x y): Y Y YM => VEX_Vfmsub213pd_ymm_ymm_ymmm256, Z Z ZB64 => EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
    vroundpd(z x how): Y YM I8 => VEX_Vroundpd_ymm_ymmm256_imm8;
    vrndscalepd(z x how): Z ZB64 I8 => EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
    vcvtps2pd(z x): Y XM => VEX_Vcvtps2pd_ymm_xmmm128, Z YM => EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
    vcvttpd2dq(z x): X YM => VEX_Vcvttpd2dq_xmm_ymmm256, Y ZB64 => EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae;
}

//! The operations of the ALUs in instructions of AVX-512.
//!
//! Translated code sets the host's floating-point mode to the QPU's: rounding toward zero, denormals read and written as zeros. Two differences remain: a
//! negative zero becomes positive when zero is added, and infinities and the greatest floats go to [a call](super::frame::Calls), since the QPU overflows
//! differently and has no NaN.

use super::frame::{MIDDLE, SPECIAL_DIFFERENCE, SPECIAL_PRODUCT, SPECIAL_SUM, SPECIALS, at};
use super::register_cache::RegisterCache;
use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::registers::{self, RegisterIndex};
use iced_x86::IcedError;
use iced_x86::code_asm::*;
use v3d_hw::qpu::{Condition, PackA, Unpack};

/// Address of the frame, while translated code runs.
pub(super) const FRAME: AsmRegister64 = rbp;
/// Address of the register array.
pub(super) const REGISTERS: AsmRegister64 = rbx;
/// Address of the flags: Z, N and C, two bytes each.
pub(super) const FLAGS: AsmRegister64 = r12;

/// Registers for intermediate values.
pub(super) const TEMPORARY: [AsmRegisterZmm; 4] = [zmm16, zmm17, zmm18, zmm19];
/// Registers that cache the flags: Z, N and C.
pub(super) const CACHED_FLAGS: [AsmRegisterK; 3] = [k2, k3, k4];
/// Constants that most float operations need.
pub(super) const MAGNITUDE: AsmRegisterZmm = zmm20;
const GREATEST: AsmRegisterZmm = zmm21;
pub(super) const ZERO: AsmRegisterZmm = zmm22;

/// The registers by number.
const ZMM: [AsmRegisterZmm; 32] = [
    zmm0, zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7, zmm8, zmm9, zmm10, zmm11, zmm12, zmm13, zmm14, zmm15, zmm16, zmm17,
    zmm18, zmm19, zmm20, zmm21, zmm22, zmm23, zmm24, zmm25, zmm26, zmm27, zmm28, zmm29, zmm30, zmm31,
];

/// A predicate of `vpcmpud`: not less than.
const NOT_LESS: i32 = 5;
/// A predicate of `vpcmpud`: less or equal.
const LESS_OR_EQUAL: i32 = 2;
/// An immediate of `vpternlogd` with a value, an old value and a mask: selects the value where the mask is set, and the old value elsewhere.
const WHERE_SET: i32 = 0xe4;

/// A register of the host that holds the result of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value(u8);

impl Value {
    pub(super) fn register(self) -> AsmRegisterZmm {
        ZMM[usize::from(self.0 & 31)]
    }
}

/// Out-of-line code that calls for special results and jumps back.
struct Detour {
    from: CodeLabel,
    back: CodeLabel,
    a: Value,
    b: Value,
    result: Value,
    call: usize,
}

/// Whether the results of a micro-op are overwritten before anything reads them, unless they are saved before a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeadStores {
    pub(super) result: bool,
    pub(super) flags: bool,
}

/// Emits instructions.
pub(super) struct Emitter {
    pub(super) asm: CodeAssembler,
    cache: RegisterCache,
    /// For the micro-op that is being translated.
    pub(super) dead_stores: DeadStores,
    has_constants: bool,
    /// [`CACHED_FLAGS`] hold the flags.
    has_flags: bool,
    /// Memory has older flags.
    flags_dirty: bool,
    detours: Vec<Detour>,
}

impl Emitter {
    pub(super) fn new() -> Result<Self, IcedError> {
        Ok(Self {
            asm: CodeAssembler::new(64)?,
            cache: RegisterCache::new(),
            dead_stores: DeadStores::default(),
            has_constants: false,
            has_flags: false,
            flags_dirty: false,
            detours: Vec::new(),
        })
    }

    /// Empties the cache: code is joined here from elsewhere, or has called. Memory has everything by now.
    pub(super) fn clear_cache(&mut self) {
        debug_assert!(!self.flags_dirty, "flags would be lost");
        self.cache.clear();
        self.has_constants = false;
        self.has_flags = false;
    }

    /// A member of the frame, broadcast to all elements.
    fn frame_constant(offset: i32) -> AsmMemoryOperand {
        dword_bcst(FRAME + offset)
    }

    /// The address of a register of the QPU.
    pub(super) fn address(register: RegisterIndex) -> AsmMemoryOperand {
        REGISTERS + (i32::from(register) - MIDDLE) * 64
    }

    fn memory(register: RegisterIndex) -> AsmMemoryOperand {
        zmmword_ptr(Self::address(register))
    }

    /// A register of the host for a new value.
    pub(super) fn new_value(&mut self) -> Result<Value, IcedError> {
        let (number, displaced) = self.cache.take();
        for register in displaced {
            self.asm.vmovdqa32(Self::memory(register), Value(number).register())?;
        }
        Ok(Value(number))
    }

    /// Marks values as dead: their registers are taken first.
    pub(super) fn release_values<const N: usize>(&mut self, values: [Value; N]) {
        for value in values {
            self.cache.release(value.0);
        }
    }

    /// Empties the cache of what lives for one instruction only.
    pub(super) fn end_instruction(&mut self) {
        self.cache.end_instruction();
    }

    /// Saves what memory does not have yet.
    pub(super) fn write_back(&mut self) -> Result<(), IcedError> {
        for (register, number) in self.cache.take_dirty() {
            self.asm.vmovdqa32(Self::memory(register), Value(number).register())?;
        }
        if std::mem::take(&mut self.flags_dirty) {
            self.save_flags()?;
        }
        Ok(())
    }

    fn save_flags(&mut self) -> Result<(), IcedError> {
        for (number, held) in CACHED_FLAGS.into_iter().enumerate() {
            self.asm.kmovw(word_ptr(FLAGS + 2 * number as i32), held)?;
        }
        Ok(())
    }

    /// The value of a register.
    pub(super) fn load(&mut self, register: RegisterIndex) -> Result<Value, IcedError> {
        if let Some(number) = self.cache.get(register) {
            return Ok(Value(number));
        }
        let value = self.new_value()?;
        self.asm.vmovdqa32(value.register(), Self::memory(register))?;
        self.cache.insert_clean(register, value.0);
        Ok(value)
    }

    /// Writes a value to a register.
    pub(super) fn store(&mut self, register: RegisterIndex, value: Value) -> Result<(), IcedError> {
        if register == registers::NOWHERE {
            return Ok(());
        }
        if self.dead_stores.result || RegisterCache::is_instruction_local(register) {
            self.cache.insert_dirty(register, value.0);
            return Ok(());
        }
        self.asm.vmovdqa32(Self::memory(register), value.register())?;
        self.cache.insert_clean(register, value.0);
        Ok(())
    }

    /// Writes a value to the elements of a register in which `k1` is set.
    fn store_masked(&mut self, register: RegisterIndex, value: Value) -> Result<(), IcedError> {
        if register == registers::NOWHERE {
            return Ok(());
        }
        let old = self.load(register)?;
        let joined = self.new_value()?;
        self.asm.vpblendmd(joined.register().k1(), old.register(), value.register())?;
        self.store(register, joined)
    }

    /// The same word in all elements.
    pub(super) fn constant(&mut self, word: u32) -> Result<Value, IcedError> {
        let value = self.new_value()?;
        self.asm.mov(eax, word)?;
        self.asm.vpbroadcastd(value.register(), eax)?;
        Ok(value)
    }

    /// A word of memory in all elements.
    pub(super) fn broadcast(&mut self, from: AsmMemoryOperand) -> Result<Value, IcedError> {
        let value = self.new_value()?;
        self.asm.vpbroadcastd(value.register(), from)?;
        Ok(value)
    }

    /// A vector of memory.
    pub(super) fn vector(&mut self, from: AsmMemoryOperand) -> Result<Value, IcedError> {
        let value = self.new_value()?;
        self.asm.vmovdqa32(value.register(), zmmword_ptr(from))?;
        Ok(value)
    }

    /// Moves the first element of a value.
    pub(super) fn first_element(&mut self, value: Value, to: AsmRegister32) -> Result<(), IcedError> {
        self.asm.vmovdqa32(TEMPORARY[0], value.register())?;
        self.asm.evex().vmovd(to, xmm16)
    }

    /// The register that holds a flag: 0 for Z, 1 for N, 2 for C.
    fn flag(&mut self, number: usize) -> Result<AsmRegisterK, IcedError> {
        if !self.has_flags {
            self.load_flags()?;
            self.has_flags = true;
        }
        Ok(CACHED_FLAGS[number])
    }

    fn load_flags(&mut self) -> Result<(), IcedError> {
        for (number, held) in CACHED_FLAGS.into_iter().enumerate() {
            self.asm.kmovw(held, word_ptr(FLAGS + 2 * number as i32))?;
        }
        Ok(())
    }

    /// A flag of all elements, in the lower half of a register.
    pub(super) fn flag_bits(&mut self, number: usize, to: AsmRegister32) -> Result<(), IcedError> {
        let held = self.flag(number)?;
        self.asm.kmovw(to, held)
    }

    /// Sets `k1` to the elements in which a condition holds.
    fn hold(&mut self, condition: Condition) -> Result<(), IcedError> {
        let (number, clear) = match condition {
            Condition::Never | Condition::Always => {
                self.asm.kxnorw(k1, k1, k1)?;
                return if condition == Condition::Never { self.asm.knotw(k1, k1) } else { Ok(()) };
            }
            Condition::ZSet => (0, false),
            Condition::ZClear => (0, true),
            Condition::NSet => (1, false),
            Condition::NClear => (1, true),
            Condition::CSet => (2, false),
            Condition::CClear => (2, true),
        };
        let held = self.flag(number)?;
        if clear { self.asm.knotw(k1, held) } else { self.asm.kmovw(k1, held) }
    }

    /// An operation whose result goes to all elements of a register.
    pub(super) fn operate(
        &mut self,
        operation: Operation,
        a: RegisterIndex,
        b: RegisterIndex,
        to: RegisterIndex,
    ) -> Result<(), IcedError> {
        let (a, b) = (self.load(a)?, self.load(b)?);
        let result = self.compute(operation, a, b)?;
        self.store(to, result)
    }

    /// An operation whose result goes to the elements of a register in which a condition holds.
    pub(super) fn operate_where(
        &mut self,
        operation: Operation,
        (a, b): (RegisterIndex, RegisterIndex),
        to: RegisterIndex,
        condition: Condition,
    ) -> Result<(), IcedError> {
        let (a, b) = (self.load(a)?, self.load(b)?);
        let result = self.compute(operation, a, b)?;
        self.hold(condition)?;
        self.store_masked(to, result)
    }

    /// An operation that sets the flags where a condition on the old flags holds.
    pub(super) fn operate_with_flags(
        &mut self,
        operation: Operation,
        (a, b): (RegisterIndex, RegisterIndex),
        to: RegisterIndex,
        condition: Condition,
    ) -> Result<(), IcedError> {
        let (a, b) = (self.load(a)?, self.load(b)?);
        let result = self.compute(operation, a, b)?;
        self.load_constants()?;
        if condition == Condition::Always {
            self.set_flags(operation, (a, b), result, CACHED_FLAGS)?;
            self.store(to, result)?;
        } else {
            self.hold(condition)?;
            self.store_masked(to, result)?;
            self.set_flags(operation, (a, b), result, [k5, k6, k7])?;
            for (number, new) in [k5, k6, k7].into_iter().enumerate() {
                let held = self.flag(number)?;
                self.asm.kandnw(k0, k1, held)?;
                self.asm.kandw(new, k1, new)?;
                self.asm.korw(held, new, k0)?;
            }
        }
        (self.has_flags, self.flags_dirty) = (true, self.dead_stores.flags);
        if self.flags_dirty { Ok(()) } else { self.save_flags() }
    }

    /// Sets registers to the flags of an operation's results.
    fn set_flags(
        &mut self,
        operation: Operation,
        operands: (Value, Value),
        result: Value,
        [zero, negative, carry]: [AsmRegisterK; 3],
    ) -> Result<(), IcedError> {
        self.carry(operation, operands, result, carry)?;
        self.asm.vptestnmd(zero, result.register(), result.register())?;
        self.asm.vpmovd2m(negative, result.register())
    }

    /// Loads [`MAGNITUDE`] and its neighbours.
    pub(super) fn load_constants(&mut self) -> Result<(), IcedError> {
        if !self.has_constants {
            self.asm.vpbroadcastd(MAGNITUDE, dword_ptr(FRAME + at::MAGNITUDE))?;
            self.asm.vpbroadcastd(GREATEST, dword_ptr(FRAME + at::GREATEST))?;
            self.asm.vpxord(ZERO, ZERO, ZERO)?;
            self.has_constants = true;
        }
        Ok(())
    }

    /// The results of an operation.
    fn compute(&mut self, operation: Operation, a: Value, b: Value) -> Result<Value, IcedError> {
        if operation == Operation::Move {
            return Ok(a);
        }
        self.load_constants()?;
        let result = self.new_value()?;
        let (x, y, z) = (a.register(), b.register(), result.register());
        let [t0, t1, t2, t3] = TEMPORARY;
        let asm = &mut self.asm;
        match operation {
            Operation::Move => {}
            Operation::Fadd | Operation::Fsub | Operation::Fmul => return self.float(operation, a, b, result),
            Operation::Fmin | Operation::Fmax => {
                self.order(x, t0, t1)?;
                self.order(y, t2, t3)?;
                self.asm.vpcmpgtd(k1, t0, t2)?;
                let (first, second) = if operation == Operation::Fmin { (x, y) } else { (y, x) };
                self.asm.vpblendmd(z.k1(), first, second)?;
            }
            Operation::Fminabs | Operation::Fmaxabs => {
                asm.vpandd(t0, x, MAGNITUDE)?;
                asm.vpandd(t1, y, MAGNITUDE)?;
                if operation == Operation::Fminabs { asm.vpminud(z, t0, t1)? } else { asm.vpmaxud(z, t0, t1)? }
            }
            Operation::Ftoi => {
                asm.vpandd(t0, x, MAGNITUDE)?;
                asm.vpcmpud(k1, t0, Self::frame_constant(at::INTEGER_LIMIT), LESS_OR_EQUAL)?;
                // The significand is shifted to its place, or out of it: by 105 if infinite.
                asm.vpsrld(t0, t0, 23)?;
                asm.vpsubd(t0, t0, Self::frame_constant(at::INTEGER_EXPONENT))?;
                asm.vpandd(t1, x, Self::frame_constant(at::SIGNIFICAND))?;
                asm.vpord(t1, t1, Self::frame_constant(at::HIGHEST_PLACE))?;
                asm.vpsllvd(t1, t1, t0)?;
                asm.vpsrad(t2, x, 31)?;
                asm.vpxord(t1, t1, t2)?;
                asm.vpsubd(t1, t1, t2)?;
                // For magnitudes that `vcvttps2dq` cannot convert.
                asm.vcvttps2dq(t0, x.sae())?;
                asm.vpblendmd(z.k1(), t1, t0)?;
            }
            Operation::Itof => asm.vcvtdq2ps(z, x.rz_sae())?,
            Operation::Add => asm.vpaddd(z, x, y)?,
            Operation::Sub => asm.vpsubd(z, x, y)?,
            Operation::Shr | Operation::Asr | Operation::Shl => {
                asm.vpandd(t0, y, Self::frame_constant(at::SHIFT_BITS))?;
                match operation {
                    Operation::Shr => asm.vpsrlvd(z, x, t0)?,
                    Operation::Asr => asm.vpsravd(z, x, t0)?,
                    _ => asm.vpsllvd(z, x, t0)?,
                }
            }
            Operation::Ror => asm.vprorvd(z, x, y)?,
            Operation::Min => asm.vpminsd(z, x, y)?,
            Operation::Max => asm.vpmaxsd(z, x, y)?,
            Operation::And => asm.vpandd(z, x, y)?,
            Operation::Or => asm.vpord(z, x, y)?,
            Operation::Xor => asm.vpxord(z, x, y)?,
            Operation::Not => {
                // All ones, whatever the operands are.
                asm.vpternlogd(z, z, z, 0xff)?;
                asm.vpxord(z, z, x)?;
            }
            Operation::Clz => asm.vplzcntd(z, x)?,
            Operation::Mul24 => {
                asm.vpandd(t0, x, Self::frame_constant(at::LOW_24_BITS))?;
                asm.vpandd(t1, y, Self::frame_constant(at::LOW_24_BITS))?;
                asm.vpmulld(z, t0, t1)?;
            }
            Operation::V8muld => {
                asm.vpunpcklbw(t0, x, ZERO)?;
                asm.vpunpcklbw(t1, y, ZERO)?;
                asm.vpmullw(t0, t0, t1)?;
                asm.vpunpckhbw(t1, x, ZERO)?;
                asm.vpunpckhbw(t2, y, ZERO)?;
                asm.vpmullw(t1, t1, t2)?;
                asm.vpbroadcastd(t2, dword_ptr(FRAME + at::WORD_ROUNDING))?;
                asm.vpbroadcastd(t3, dword_ptr(FRAME + at::WORD_QUOTIENT))?;
                for t in [t0, t1] {
                    asm.vpaddw(t, t, t2)?;
                    asm.vpmulhuw(t, t, t3)?;
                    asm.vpsrlw(t, t, 7)?;
                }
                asm.vpackuswb(z, t0, t1)?;
            }
            Operation::V8min => asm.vpminub(z, x, y)?,
            Operation::V8max => asm.vpmaxub(z, x, y)?,
            Operation::V8adds => asm.vpaddusb(z, x, y)?,
            Operation::V8subs => asm.vpsubusb(z, x, y)?,
        }
        Ok(result)
    }

    fn float(&mut self, operation: Operation, a: Value, b: Value, result: Value) -> Result<Value, IcedError> {
        let (x, y, z) = (a.register(), b.register(), result.register());
        let asm = &mut self.asm;
        let call = match operation {
            Operation::Fadd => {
                asm.vaddps(z, x, y.rz_sae())?;
                SPECIAL_SUM
            }
            Operation::Fsub => {
                asm.vsubps(z, x, y.rz_sae())?;
                SPECIAL_DIFFERENCE
            }
            _ => {
                asm.vmulps(z, x, y.rz_sae())?;
                SPECIAL_PRODUCT
            }
        };
        asm.vaddps(z, z, ZERO.rz_sae())?;
        asm.vpandd(TEMPORARY[0], z, MAGNITUDE)?;
        asm.vpcmpud(k1, TEMPORARY[0], GREATEST, NOT_LESS)?;
        asm.kortestw(k1, k1)?;
        self.detour(a, b, result, call)?;
        Ok(result)
    }

    /// Calls for results if the host's zero flag is not set.
    pub(super) fn detour(&mut self, a: Value, b: Value, result: Value, call: usize) -> Result<(), IcedError> {
        let asm = &mut self.asm;
        let from = asm.create_label();
        let mut back = asm.create_label();
        asm.jne(from)?;
        asm.set_label(&mut back)?;
        asm.zero_bytes()?;
        self.detours.push(Detour { from, back, a, b, result, call });
        Ok(())
    }

    /// Integers in `to` that compare as the floats do.
    fn order(&mut self, x: AsmRegisterZmm, to: AsmRegisterZmm, sign: AsmRegisterZmm) -> Result<(), IcedError> {
        self.asm.vpsrad(sign, x, 31)?;
        self.asm.vpandd(to, x, MAGNITUDE)?;
        self.asm.vpxord(to, to, sign)?;
        self.asm.vpsubd(to, to, sign)
    }

    /// Sets a register to C of an operation's results.
    fn carry(
        &mut self,
        operation: Operation,
        (a, b): (Value, Value),
        result: Value,
        carry: AsmRegisterK,
    ) -> Result<(), IcedError> {
        let (x, y, z) = (a.register(), b.register(), result.register());
        let [t0, t1, t2, t3] = TEMPORARY;
        match operation {
            Operation::Fadd | Operation::Fsub | Operation::Itof => self.asm.vpcmpgtd(carry, z, ZERO),
            Operation::Fmin | Operation::Fmax => {
                self.order(x, t0, t1)?;
                self.order(y, t2, t3)?;
                self.asm.vpcmpgtd(carry, t0, t2)
            }
            Operation::Fminabs | Operation::Fmaxabs => {
                self.asm.vpandd(t0, x, MAGNITUDE)?;
                self.asm.vpandd(t1, y, MAGNITUDE)?;
                self.asm.vpcmpnleud(carry, t0, t1)
            }
            Operation::Add => self.asm.vpcmpnleud(carry, x, z),
            Operation::Sub => self.asm.vpcmpnleud(carry, y, x),
            Operation::Min | Operation::Max => self.asm.vpcmpgtd(carry, x, y),
            Operation::Shr | Operation::Asr | Operation::Shl => {
                // The last bit shifted out, moved to the sign. Shifts by 0 lose nothing: the host shifts everything out then.
                self.asm.vpandd(t0, y, Self::frame_constant(at::SHIFT_BITS))?;
                if operation == Operation::Shl {
                    self.asm.vpternlogd(t1, t1, t1, 0xff)?;
                    self.asm.vpaddd(t0, t0, t1)?;
                } else {
                    self.asm.mov(eax, 32)?;
                    self.asm.vpbroadcastd(t1, eax)?;
                    self.asm.vpsubd(t0, t1, t0)?;
                }
                self.asm.vpsllvd(t1, x, t0)?;
                self.asm.vpmovd2m(carry, t1)
            }
            _ => self.asm.kxorw(carry, carry, carry),
        }
    }

    /// Unpacks an operand; `false` if there is no translation.
    pub(super) fn unpack(&mut self, from: RegisterIndex, mode: Unpack, float: bool) -> Result<bool, IcedError> {
        let word = self.load(from)?;
        let result = self.new_value()?;
        let (x, z) = (word.register(), result.register());
        let asm = &mut self.asm;
        let byte = match mode {
            Unpack::Byte0 => Some(0),
            Unpack::Byte1 => Some(8),
            Unpack::Byte2 => Some(16),
            Unpack::Byte3 => Some(24),
            _ => None,
        };
        match (mode, byte) {
            (_, Some(shift)) => {
                let shifted = if shift == 0 { x } else { z };
                if shift != 0 {
                    asm.vpsrld(z, x, shift)?;
                }
                if shift != 24 {
                    asm.vpandd(z, shifted, Self::frame_constant(at::LOW_BYTE))?;
                }
                if float {
                    asm.vcvtdq2ps(z, z)?;
                    asm.vbroadcastss(TEMPORARY[0], dword_ptr(FRAME + at::BYTES))?;
                    asm.vdivps(z, z, TEMPORARY[0].rz_sae())?;
                }
            }
            (Unpack::Byte3Replicated, _) => {
                asm.vpsrld(z, x, 24)?;
                asm.vpmulld(z, z, Self::frame_constant(at::EVERY_BYTE))?;
            }
            (Unpack::Half0, _) if !float => {
                asm.vpslld(z, x, 16)?;
                asm.vpsrad(z, z, 16)?;
            }
            (Unpack::Half1, _) if !float => asm.vpsrad(z, x, 16)?,
            _ => return Ok(false),
        }
        self.store(registers::UNPACKED, result)?;
        Ok(true)
    }

    /// Packs a value as colours into the bytes of a register that a mask has.
    pub(super) fn pack_colour(&mut self, from: RegisterIndex, to: RegisterIndex, part: u32) -> Result<(), IcedError> {
        let value = self.load(from)?;
        self.load_constants()?;
        let result = self.new_value()?;
        let z = result.register();
        let asm = &mut self.asm;
        // The second operand is the result for NaN.
        asm.vmaxps(z, value.register(), ZERO)?;
        asm.vminps(z, z, Self::frame_constant(at::ONE))?;
        asm.vbroadcastss(TEMPORARY[0], dword_ptr(FRAME + at::BYTES))?;
        asm.vbroadcastss(TEMPORARY[1], dword_ptr(FRAME + at::HALF))?;
        // Rounding toward zero twice is the same as once.
        asm.vfmadd213ps(z, TEMPORARY[0], TEMPORARY[1].rz_sae())?;
        asm.vcvttps2dq(z, z)?;
        self.insert(result, to, part)
    }

    /// Writes the lowest byte of each element to the bytes of a register that a mask has.
    fn insert(&mut self, bytes: Value, to: RegisterIndex, part: u32) -> Result<(), IcedError> {
        let z = bytes.register();
        if part == !0 {
            self.asm.vpmulld(z, z, Self::frame_constant(at::EVERY_BYTE))?;
            return self.store(to, bytes);
        }
        let shift = part.trailing_zeros();
        if shift != 0 {
            self.asm.vpslld(z, z, shift)?;
        }
        self.merge(bytes, to, part)
    }

    /// Replaces the bits of a register that a mask has.
    fn merge(&mut self, bits: Value, to: RegisterIndex, part: u32) -> Result<(), IcedError> {
        let old = self.load(to)?;
        self.asm.mov(eax, part)?;
        self.asm.vpbroadcastd(TEMPORARY[0], eax)?;
        self.asm.vpternlogd(bits.register(), old.register(), TEMPORARY[0], WHERE_SET)?;
        self.store(to, bits)
    }

    /// Packs a value for file A; `false` if there is no translation.
    pub(super) fn pack_a(
        &mut self,
        from: RegisterIndex,
        to: RegisterIndex,
        mode: PackA,
        float: bool,
    ) -> Result<bool, IcedError> {
        let part = crate::qpu::isa::pack::pack_a_mask(mode);
        let half = part == 0xffff || part == 0xffff_0000;
        let plain = matches!(
            mode,
            PackA::Half0 | PackA::Half1 | PackA::Replicated | PackA::Byte0 | PackA::Byte1 | PackA::Byte2 | PackA::Byte3
        );
        if !plain || half && float {
            return Ok(false);
        }
        let value = self.load(from)?;
        let result = self.new_value()?;
        let (x, z) = (value.register(), result.register());
        if half {
            let shift = part.trailing_zeros();
            self.asm.vpslld(z, x, shift)?;
            self.merge(result, to, part)?;
        } else {
            self.asm.vpandd(z, x, Self::frame_constant(at::LOW_BYTE))?;
            self.insert(result, to, part)?;
        }
        Ok(true)
    }

    /// Calls, with the host's arithmetic as the host expects it. The cache has been saved and is empty afterwards.
    pub(super) fn call(&mut self, call: i32) -> Result<(), IcedError> {
        self.write_back()?;
        self.asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
        self.asm.vzeroupper()?;
        self.asm.call(qword_ptr(FRAME + call))?;
        self.asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING))?;
        self.clear_cache();
        Ok(())
    }

    /// Emits the detours so far, and what they share.
    pub(super) fn finish(&mut self) -> Result<(), IcedError> {
        let mut shared = [(); SPECIALS].map(|()| self.asm.create_label());
        for detour in std::mem::take(&mut self.detours) {
            let Detour { mut from, back, a, b, result, call } = detour;
            self.asm.set_label(&mut from)?;
            self.asm.vmovdqa32(TEMPORARY[0], a.register())?;
            self.asm.vmovdqa32(TEMPORARY[1], b.register())?;
            self.asm.call(shared[call])?;
            self.asm.vmovdqa32(result.register(), TEMPORARY[2])?;
            self.asm.jmp(back)?;
        }
        for (call, label) in shared.iter_mut().enumerate() {
            self.asm.set_label(label)?;
            self.special(call as i32)?;
        }
        Ok(())
    }

    /// Calls for a special result, and preserves all vectors but that one, and the flags.
    fn special(&mut self, call: i32) -> Result<(), IcedError> {
        let asm = &mut self.asm;
        asm.push(r13)?;
        asm.mov(r13, rsp)?;
        asm.sub(rsp, 33 * 64)?;
        asm.and(rsp, -64)?;
        for (i, register) in ZMM.into_iter().enumerate() {
            asm.vmovdqa32(zmmword_ptr(rsp + 64 * i as i32), register)?;
        }
        for (i, held) in CACHED_FLAGS.into_iter().enumerate() {
            asm.kmovw(word_ptr(rsp + 64 * 32 + 2 * i as i32), held)?;
        }
        asm.lea(rdi, ptr(rsp + 64 * 16))?;
        asm.lea(rsi, ptr(rsp + 64 * 17))?;
        asm.lea(rdx, ptr(rsp + 64 * 18))?;
        asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
        asm.vzeroupper()?;
        asm.call(qword_ptr(FRAME + at::SPECIAL + call * 8))?;
        asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING))?;
        for (i, register) in ZMM.into_iter().enumerate() {
            asm.vmovdqa32(register, zmmword_ptr(rsp + 64 * i as i32))?;
        }
        for (i, held) in CACHED_FLAGS.into_iter().enumerate() {
            asm.kmovw(held, word_ptr(rsp + 64 * 32 + 2 * i as i32))?;
        }
        asm.mov(rsp, r13)?;
        asm.pop(r13)?;
        asm.ret()
    }
}

//! The register array of a QPU thread: register files, accumulators, and everything else that can be an operand.
//!
//! Decoding resolves each operand to an index of this array, so that reading one is an array access and nothing more, whether it is a register, a
//! constant or the value of a peripheral.

use crate::qpu::lanes::{Lanes, Mask};
use v3d_hw::qpu::{Condition, SmallImmediate};

/// Index of the register array.
pub type RegisterIndex = u8;

/// Register file A.
pub const FILE_A: RegisterIndex = 0;
/// Register file B.
pub const FILE_B: RegisterIndex = 32;
/// Accumulators r0 to r5.
pub const ACCUMULATORS: RegisterIndex = 64;
/// Their bits in a mask.
pub const ALL_ACCUMULATORS: u8 = 0x3f;
/// Accumulator r4.
pub const R4: RegisterIndex = ACCUMULATORS + 4;
/// Accumulator r5.
pub const R5: RegisterIndex = ACCUMULATORS + 5;
/// The element numbers.
pub const ELEMENTS: RegisterIndex = 70;
/// The QPU's number.
pub const QPU_NUMBER: RegisterIndex = 71;
/// The value that this instruction has read from a peripheral through port A. Like everything that belongs to one instruction, it may be gone after
/// it.
pub const PORT_A: RegisterIndex = 72;
/// The same for port B.
pub const PORT_B: RegisterIndex = 73;
/// The unpacked operand of this instruction.
pub const UNPACKED: RegisterIndex = 74;
/// The immediate or link address of this instruction.
pub const IMMEDIATE: RegisterIndex = 75;
/// The old value of a register of file A.
pub const STALE_A: RegisterIndex = 76;
/// The old value of a register of file B.
pub const STALE_B: RegisterIndex = 77;
/// The old value of r4.
pub const STALE_R4: RegisterIndex = 78;
/// The first of the 48 small immediates.
pub const SMALL_IMMEDIATES: RegisterIndex = 80;
/// A result of the add ALU on its way to the packer or a peripheral.
pub const RESULT_ADD: RegisterIndex = 128;
/// A result of the mul ALU on its way to the packer or a peripheral.
pub const RESULT_MUL: RegisterIndex = 129;
/// Destination of results of which only the flags are used.
pub const NOWHERE: RegisterIndex = 130;
/// The C coefficients of the varying that this instruction has read.
pub const COEFFICIENTS: RegisterIndex = 131;
/// Size of the array: one element for each value of a [`RegisterIndex`], so that none is out of range.
const SIZE: usize = 256;

/// Index of a small immediate; rotation codes read as -16 to -1 [vc4asm].
pub const fn small_immediate(code: u8) -> RegisterIndex {
    let code = code & 63;
    SMALL_IMMEDIATES + if code < SmallImmediate::FIRST_ROTATION { code } else { code - 32 }
}

/// Some registers that programs can write to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet {
    /// Those of files A and B: bits 0 to 31 for A, then those of B.
    pub files: u64,
    /// Accumulators r0 to r5.
    pub accumulators: u8,
}

/// Registers, accumulators and constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers(Box<[Lanes; SIZE]>);

impl Registers {
    /// Zeroed registers, and the constants.
    pub fn new() -> Self {
        let mut array = Box::new([Lanes::default(); SIZE]);
        array[usize::from(ELEMENTS)] = Lanes::ELEMENT_NUMBERS;
        for code in 0..48 {
            let value = SmallImmediate::from_code(code).value().unwrap_or(0);
            array[usize::from(small_immediate(code))] = Lanes::splat(value);
        }
        Self(array)
    }

    /// Sets the registers of a set to 0.
    #[inline(always)]
    pub fn clear(&mut self, RegisterSet { mut files, accumulators }: RegisterSet) {
        while files != 0 {
            self.0[files.trailing_zeros() as usize] = Lanes::splat(0);
            files &= files - 1;
        }
        let mut accumulators = accumulators & ALL_ACCUMULATORS;
        while accumulators != 0 {
            self.0[usize::from(ACCUMULATORS) + accumulators.trailing_zeros() as usize] = Lanes::splat(0);
            accumulators &= accumulators - 1;
        }
    }

    /// The value at an index.
    #[inline(always)]
    pub fn at(&self, index: RegisterIndex) -> &Lanes {
        &self.0[usize::from(index)]
    }

    /// The value at an index, to be written.
    #[inline(always)]
    pub fn at_mut(&mut self, index: RegisterIndex) -> &mut Lanes {
        &mut self.0[usize::from(index)]
    }

    /// Address of index 0, for translated code.
    pub fn as_mut_ptr(&mut self) -> *mut Lanes {
        self.0.as_mut_ptr()
    }

    /// The registers that software sees: files A and B, then r0 to r5.
    pub fn visible(&self) -> &[Lanes] {
        &self.0[..usize::from(ELEMENTS)]
    }
}

impl Default for Registers {
    fn default() -> Self {
        Self::new()
    }
}

/// The flags, one bit for each element, in this order in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Z.
    pub zero: Mask,
    /// N.
    pub negative: Mask,
    /// C.
    pub carry: Mask,
}

impl Flags {
    /// Elements in which a condition holds.
    #[inline(always)]
    pub const fn holds(&self, condition: Condition) -> Mask {
        match condition {
            Condition::Never => 0,
            Condition::Always => !0,
            Condition::ZSet => self.zero,
            Condition::ZClear => !self.zero,
            Condition::NSet => self.negative,
            Condition::NClear => !self.negative,
            Condition::CSet => self.carry,
            Condition::CClear => !self.carry,
        }
    }

    /// Takes the flags of some elements from others.
    #[inline(always)]
    pub const fn replace(&mut self, new: Self, elements: Mask) {
        self.zero = self.zero & !elements | new.zero & elements;
        self.negative = self.negative & !elements | new.negative & elements;
        self.carry = self.carry & !elements | new.carry & elements;
    }
}

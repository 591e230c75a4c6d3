//! QPU instructions: 64 bits, in four kinds told apart by the signal [AG p.26-38].
//!
//! An ALU instruction reads at most one value from each register file, performs one operation in the add ALU and one in the mul ALU, and writes
//! both results. Where a result goes is two fields: a 6-bit address and the write-swap bit `ws`, which says whether the add ALU writes to file A (0) or to
//! file B (1); the mul ALU takes the other. Signal 13 turns the file B read address into a small immediate; 14 is a load immediate or a semaphore
//! instruction, told apart by the bits that are `unpack` elsewhere; 15 is a branch.
//!
//! | module | what it says |
//! |---|---|
//! | [`operation`] | a row for each operation: operands, their kinds, how C is made |
//! | [`address_map`] | what stands behind the addresses of each file |
//! | [`access`] | a row for each address and signal: unit, stream, stages, latency |
//! | [`address_sets`] | the addresses of a unit as a set |
//! | [`hazard`] | how far apart instructions must stand |
//! | [`accesses`] | from these what one instruction reads, writes and sets off |
//! | [`small_immediate`] | constants and rotations in place of a read address |
//!
//! # Surprises
//! - In the branch instruction `raddr_a` has only 5 bits and the condition stands where `pack` is elsewhere.
//! - `unpack` and `pack` mean different things by `pm`: register file A with 0, r4 and the mul ALU with 1.
//! - All write addresses above 31 are the same for both files but for 37 (r5), 41, 42, 49 and 50.
//!
//! # Sources
//! [AG p.26-38]; [vc4asm] for what the guide leaves out, said where it is used.

use crate::layout::{FieldError, Layout};
use crate::{codes, layout};

pub mod access;
pub mod accesses;
pub mod address_map;
pub mod address_sets;
pub mod hazard;
pub mod operation;
pub mod small_immediate;

pub use accesses::Accesses;
pub use address_map::{File, ReadSource, WriteTarget};
pub use hazard::Hazard;
pub use operation::{AddOp, MulOp};
pub use small_immediate::SmallImmediate;

codes! {
    /// The signal field [AG p.29].
    pub enum Signal: 4 bits {
        /// Software breakpoint.
        0 => Breakpoint "bkpt",
        /// Nothing.
        1 => None "none",
        /// Thread switch, not the last.
        2 => ThreadSwitch "thrsw",
        /// Program end, after two more instructions.
        3 => ProgramEnd "thrend",
        /// Wait until the tile buffer may be accessed.
        4 => ScoreboardWait "sbwait",
        /// Let other QPUs access these pixels. It may go with the last access itself [brcm glsl_allocator_4.c].
        5 => ScoreboardUnlock "sbdone",
        /// Last thread switch.
        6 => LastThreadSwitch "lthrsw",
        /// Coverage to r4.
        7 => LoadCoverage "loadcv",
        /// Colour to r4.
        8 => LoadColor "loadc",
        /// Colour to r4, and program end.
        9 => LoadColorEnd "ldcend",
        /// Result of TMU 0 to r4.
        10 => LoadTmu0 "ldtmu0",
        /// Result of TMU 1 to r4.
        11 => LoadTmu1 "ldtmu1",
        /// Alpha mask to r4.
        12 => LoadAlpha "loadam",
        /// The file B read address is a small immediate or a rotation.
        13 => SmallImmediate "small_imm",
        /// Load immediate or semaphore.
        14 => LoadImmediate "ldi",
        /// Branch.
        15 => Branch "bra",
    }
}

codes! {
    /// Write condition of an ALU, per element [AG p.28].
    pub enum Condition: 3 bits {
        /// Never.
        0 => Never "never",
        /// Always.
        1 => Always "always",
        /// Z set.
        2 => ZSet "zs",
        /// Z clear.
        3 => ZClear "zc",
        /// N set.
        4 => NSet "ns",
        /// N clear.
        5 => NClear "nc",
        /// C set.
        6 => CSet "cs",
        /// C clear.
        7 => CClear "cc",
    }
}

codes! {
    /// Where an ALU takes an operand from [AG p.28].
    pub enum Mux: 3 bits {
        /// Accumulator 0.
        0 => R0 "r0",
        /// Accumulator 1.
        1 => R1 "r1",
        /// Accumulator 2.
        2 => R2 "r2",
        /// Accumulator 3.
        3 => R3 "r3",
        /// Accumulator 4.
        4 => R4 "r4",
        /// Accumulator 5.
        5 => R5 "r5",
        /// What is read from register file A.
        6 => A "a",
        /// What is read from register file B, or the small immediate.
        7 => B "b",
    }
}

codes! {
    /// Unpacking of a file A read (`pm` 0) or of r4 (`pm` 1) [AG p.31-32].
    ///
    /// With `pm` 0 the conversion depends on the operation that consumes the value: floating point operations get floats.
    pub enum Unpack: 3 bits {
        /// All 32 bits.
        0 => None "nop",
        /// Low half.
        1 => Half0 "16a",
        /// High half.
        2 => Half1 "16b",
        /// Byte 3, in all bytes.
        3 => Byte3Replicated "8dr",
        /// Byte 0.
        4 => Byte0 "8a",
        /// Byte 1.
        5 => Byte1 "8b",
        /// Byte 2.
        6 => Byte2 "8c",
        /// Byte 3.
        7 => Byte3 "8d",
    }
}

codes! {
    /// Packing of a file A write (`pm` 0) [AG p.31].
    pub enum PackA: 4 bits {
        /// All 32 bits.
        0 => None "nop",
        /// To the low half.
        1 => Half0 "16a",
        /// To the high half.
        2 => Half1 "16b",
        /// The low byte, to all bytes.
        3 => Replicated "8abcd",
        /// To byte 0.
        4 => Byte0 "8a",
        /// To byte 1.
        5 => Byte1 "8b",
        /// To byte 2.
        6 => Byte2 "8c",
        /// To byte 3.
        7 => Byte3 "8d",
        /// All 32 bits, saturated.
        8 => Saturated "32s",
        /// To the low half, saturated.
        9 => Half0Saturated "16as",
        /// To the high half, saturated.
        10 => Half1Saturated "16bs",
        /// To all bytes, saturated.
        11 => ReplicatedSaturated "8abcds",
        /// To byte 0, saturated.
        12 => Byte0Saturated "8as",
        /// To byte 1, saturated.
        13 => Byte1Saturated "8bs",
        /// To byte 2, saturated.
        14 => Byte2Saturated "8cs",
        /// To byte 3, saturated.
        15 => Byte3Saturated "8ds",
    }
}

codes! {
    /// Packing of the mul ALU's result as a colour (`pm` 1) [AG p.32].
    ///
    /// The guide's table names byte a four times; the codes 4 to 7 are the four bytes in order [vc4asm] [mesa qir]. The field has a bit more than the
    /// code, which is ignored: see [`PackMul::of_field`].
    pub enum PackMul: 3 bits {
        /// All 32 bits.
        0 => None "nop",
        /// To all bytes.
        3 => Replicated "8abcd",
        /// To byte 0.
        4 => Byte0 "8a",
        /// To byte 1.
        5 => Byte1 "8b",
        /// To byte 2.
        6 => Byte2 "8c",
        /// To byte 3.
        7 => Byte3 "8d",
        _ => Reserved,
    }
}

impl PackMul {
    /// The bit of the pack field that the mul ALU ignores; for register file A it is saturation, which colours always have.
    pub const IGNORED: u8 = 8;

    /// The code in a pack field of four bits: bit 3 makes no difference.
    ///
    /// vc4asm up to V0.2.3 writes it as 0, from revision ff16f63 on as 1, and programs of both kinds run on boards [vc4asm] [kumaashi].
    #[inline]
    pub const fn of_field(pack: u8) -> Self {
        Self::from_code(pack & !Self::IGNORED)
    }
}

codes! {
    /// Condition of a branch, over the flags of all elements [AG p.34].
    pub enum BranchCondition: 4 bits {
        /// All Z set.
        0 => AllZSet "allz",
        /// All Z clear.
        1 => AllZClear "allnz",
        /// Any Z set.
        2 => AnyZSet "anyz",
        /// Any Z clear.
        3 => AnyZClear "anynz",
        /// All N set.
        4 => AllNSet "alln",
        /// All N clear.
        5 => AllNClear "allnn",
        /// Any N set.
        6 => AnyNSet "anyn",
        /// Any N clear.
        7 => AnyNClear "anynn",
        /// All C set.
        8 => AllCSet "allc",
        /// All C clear.
        9 => AllCClear "allnc",
        /// Any C set.
        10 => AnyCSet "anyc",
        /// Any C clear.
        11 => AnyCClear "anync",
        /// Always.
        15 => Always "always",
        _ => Reserved,
    }
}

codes! {
    /// What a load immediate instruction loads: the field that is `unpack` elsewhere [AG p.33].
    pub enum ImmediateKind: 3 bits {
        /// 32 bits to all elements.
        0 => Word "32",
        /// 2 bits for each element, signed.
        1 => PerElementSigned "per-element signed",
        /// 2 bits for each element, unsigned.
        3 => PerElementUnsigned "per-element unsigned",
        /// Not an immediate: a semaphore instruction.
        4 => Semaphore "semaphore",
        _ => Reserved,
    }
}

layout! {
    /// ALU instruction, with or without a small immediate [AG p.26].
    pub struct Alu: 64 bits "ALU instruction" {
        /// Signal.
        63:60 sig: Signal,
        /// Unpack mode.
        59:57 unpack: Unpack,
        /// 0: unpack and pack are register file A's; 1: r4's and the mul ALU's.
        56:56 pm: bool,
        /// Pack mode by `pm`: [`PackA`], or [`PackMul`] with a bit that is ignored.
        55:52 pack: u8,
        /// Condition of the add ALU.
        51:49 cond_add: Condition,
        /// Condition of the mul ALU.
        48:46 cond_mul: Condition,
        /// Set flags.
        45:45 sf: bool,
        /// Write swap: the add ALU writes to file B, the mul ALU to file A.
        44:44 ws: bool,
        /// Write address of the add ALU.
        43:38 waddr_add: u8,
        /// Write address of the mul ALU.
        37:32 waddr_mul: u8,
        /// Operation of the mul ALU.
        31:29 op_mul: MulOp,
        /// Operation of the add ALU.
        28:24 op_add: AddOp,
        /// Read address of file A.
        23:18 raddr_a: u8,
        /// Read address of file B, or the small immediate.
        17:12 raddr_b: u8,
        /// First operand of the add ALU.
        11:9 add_a: Mux,
        /// Second operand of the add ALU.
        8:6 add_b: Mux,
        /// First operand of the mul ALU.
        5:3 mul_a: Mux,
        /// Second operand of the mul ALU.
        2:0 mul_b: Mux,
    }
}

impl Alu {
    /// An ALU instruction that does nothing: what a program states of an instruction is what differs from this.
    pub const NOP: Self = Self {
        sig: Signal::None,
        unpack: Unpack::None,
        pm: false,
        pack: 0,
        cond_add: Condition::Never,
        cond_mul: Condition::Never,
        sf: false,
        ws: false,
        waddr_add: address_map::NOP,
        waddr_mul: address_map::NOP,
        op_mul: MulOp::Nop,
        op_add: AddOp::Nop,
        raddr_a: address_map::NOP,
        raddr_b: address_map::NOP,
        add_a: Mux::R0,
        add_b: Mux::R0,
        mul_a: Mux::R0,
        mul_b: Mux::R0,
    };
}

layout! {
    /// Load immediate instruction [AG p.33].
    pub struct LoadImmediate: 64 bits "load immediate instruction" {
        /// Signal: 14.
        63:60 sig: Signal,
        /// What is loaded.
        59:57 kind: ImmediateKind,
        /// Pack select.
        56:56 pm: bool,
        /// Pack mode.
        55:52 pack: u8,
        /// Condition of the add ALU.
        51:49 cond_add: Condition,
        /// Condition of the mul ALU.
        48:46 cond_mul: Condition,
        /// Set flags.
        45:45 sf: bool,
        /// Write swap.
        44:44 ws: bool,
        /// Write address of the add ALU.
        43:38 waddr_add: u8,
        /// Write address of the mul ALU.
        37:32 waddr_mul: u8,
        /// The immediate; per element: high bits in 31:16, low bits in 15:0.
        31:0 immediate: u32,
    }
}

layout! {
    /// Semaphore instruction [AG p.33].
    pub struct Semaphore: 64 bits "semaphore instruction" {
        /// Signal: 14.
        63:60 sig: Signal,
        /// 4.
        59:57 kind: ImmediateKind,
        /// Pack select.
        56:56 pm: bool,
        /// Pack mode.
        55:52 pack: u8,
        /// Condition of the add ALU.
        51:49 cond_add: Condition,
        /// Condition of the mul ALU.
        48:46 cond_mul: Condition,
        /// Set flags.
        45:45 sf: bool,
        /// Write swap.
        44:44 ws: bool,
        /// Write address of the add ALU.
        43:38 waddr_add: u8,
        /// Write address of the mul ALU.
        37:32 waddr_mul: u8,
        /// No effect on the semaphore; the ALUs pass the whole lower word on, as a load immediate does.
        31:5 unused: u32,
        /// 0: increment, 1: decrement.
        4:4 sa: bool,
        /// Which semaphore.
        3:0 semaphore: u8,
    }
}

layout! {
    /// Branch instruction; three more instructions are executed before it takes effect [AG p.34].
    pub struct Branch: 64 bits "branch instruction" {
        /// Signal: 15.
        63:60 sig: Signal,
        /// No meaning.
        59:56 unused: u8,
        /// Condition.
        55:52 cond_br: BranchCondition,
        /// The target is relative to the instruction after the delay slots: PC + 4 instructions.
        51:51 rel: bool,
        /// The value of `raddr_a` is added to the target.
        50:50 reg: bool,
        /// Register of file A.
        49:45 raddr_a: u8,
        /// Write swap.
        44:44 ws: bool,
        /// Write address of the link address by the add ALU.
        43:38 waddr_add: u8,
        /// Write address of the link address by the mul ALU.
        37:32 waddr_mul: u8,
        /// Added to the target, in bytes.
        31:0 immediate: i32,
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// ALU, signal 0 to 13.
    Alu(Alu),
    /// Load immediate, signal 14 with kind other than 4.
    LoadImmediate(LoadImmediate),
    /// Semaphore, signal 14 with kind 4.
    Semaphore(Semaphore),
    /// Branch, signal 15.
    Branch(Branch),
}

impl Instruction {
    /// Decodes a word; every word is an instruction, though some have reserved codes in them.
    #[inline]
    pub fn decode(word: u64) -> Self {
        let bits = u128::from(word);
        match word >> 60 {
            14 if word >> 57 & 7 == 4 => Self::Semaphore(Semaphore::from_bits(bits)),
            14 => Self::LoadImmediate(LoadImmediate::from_bits(bits)),
            15 => Self::Branch(Branch::from_bits(bits)),
            _ => Self::Alu(Alu::from_bits(bits)),
        }
    }

    /// The instruction's word.
    #[inline]
    pub fn encode(&self) -> Result<u64, FieldError> {
        let bits = match self {
            Self::Alu(alu) => alu.to_bits(),
            Self::LoadImmediate(load) => load.to_bits(),
            Self::Semaphore(semaphore) => semaphore.to_bits(),
            Self::Branch(branch) => branch.to_bits(),
        };
        Ok(bits? as u64)
    }

    /// The rows of this kind's table.
    pub fn fields(&self) -> &'static [crate::Field] {
        match self {
            Self::Alu(_) => Alu::FIELDS,
            Self::LoadImmediate(_) => LoadImmediate::FIELDS,
            Self::Semaphore(_) => Semaphore::FIELDS,
            Self::Branch(_) => Branch::FIELDS,
        }
    }

    /// The signal.
    pub const fn signal(&self) -> Signal {
        match self {
            Self::Alu(alu) => alu.sig,
            Self::LoadImmediate(_) | Self::Semaphore(_) => Signal::LoadImmediate,
            Self::Branch(_) => Signal::Branch,
        }
    }
}

/// Bytes of an instruction.
pub const INSTRUCTION_BYTES: u32 = 8;
/// Instructions executed after a branch before it takes effect [AG p.34].
pub const BRANCH_DELAY_SLOTS: u32 = 3;
/// Instructions executed after a program end or thread switch signal [AG p.21].
pub const THREAD_DELAY_SLOTS: u32 = 2;
/// Instructions from a write to the SFU to the first that can read its result in r4 [AG p.23].
pub const SFU_LATENCY: u32 = Hazard::SfuResult.distance();
/// Elements of a vector.
pub const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// The word that the guide's vendor code and vc4asm have for it.
    #[test]
    fn nothing_is_the_word_that_others_use() {
        assert_eq!(Alu::NOP.to_bits(), Ok(0x1000_09e7_009e_7000));
    }
}

//! Micro-operations: instructions decoded once, with all that can be known before they run.
//!
//! A micro-operation says where in the register array its operands are, where its results go, what peripherals it touches, and which rules it
//! breaks by itself. Load immediate, semaphore and branch instructions become moves of a constant: that is what the hardware does with them too
//! [AG p.33-34].
//!
//! # Sources
//! [AG p.26-38].

use super::registers::RegisterIndex;
use super::sfu::Function;
use super::touches::Touches;
use crate::fault::rule::Rules;
use crate::lanes::Lanes;
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{AddOp, BranchCondition, Condition, MulOp, PackA, PackMul, Signal, Unpack};

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Nowhere,
    /// A register or accumulator r0 to r3.
    Register(RegisterIndex),
    /// r5.
    R5 {
        /// From element 0 for all, else from the first element of each quad.
        replicated: bool,
    },
    /// r4, through the SFU.
    Sfu(Function),
    /// A coordinate of a TMU.
    Tmu(u8, TmuCoordinate),
    /// Another peripheral.
    Peripheral(WriteTarget),
}

/// What happens to a result on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pack {
    /// Nothing.
    None,
    /// The packer of register file A; `float` says that the result is a float.
    FileA {
        /// Mode.
        mode: PackA,
        /// The result is a float.
        float: bool,
    },
    /// Conversion to a colour in the mul ALU.
    Colour(PackMul),
}

/// What one ALU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AluOperation<Op> {
    /// The operation.
    pub op: Op,
    /// First operand.
    pub a: RegisterIndex,
    /// Second operand.
    pub b: RegisterIndex,
    /// In which elements the result is written.
    pub condition: Condition,
    /// Packing.
    pub pack: Pack,
    /// Where the result goes.
    pub to: Destination,
}

/// Which ALU's result the flags are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagSource {
    /// Flags stay.
    None,
    /// The add ALU.
    Add,
    /// The mul ALU.
    Mul,
}

/// What is unpacked into [`registers::UNPACKED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacking {
    /// Nothing.
    None,
    /// A value of port A.
    PortA {
        /// Where it is.
        from: RegisterIndex,
        /// How.
        mode: Unpack,
        /// An operation that takes floats consumes it.
        float: bool,
    },
    /// r4, always to floats.
    R4 {
        /// Where it is.
        from: RegisterIndex,
        /// How.
        mode: Unpack,
    },
}

/// The rotation of the mul ALU's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// None.
    None,
    /// By 1 to 15 elements upwards.
    By(u8),
    /// By r5, element 0, bits 3:0.
    ByR5,
}

/// What is special about an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// ALU instruction.
    Alu,
    /// The same value for all elements, to [`registers::IMMEDIATE`].
    Immediate(u32),
    /// 2 bits for each element: high bits in 31:16, low bits in 15:0.
    PerElement {
        /// The bits.
        bits: u32,
        /// Sign-extend.
        signed: bool,
    },
    /// A semaphore; its whole lower word is the value.
    Semaphore {
        /// The lower word.
        word: u32,
        /// Which.
        number: u8,
        /// Decrement, else increment.
        decrement: bool,
    },
    /// A branch; the link address is the value.
    Branch {
        /// Condition.
        condition: BranchCondition,
        /// Relative to the address after the delay slots.
        relative: bool,
        /// Added to the target, in bytes.
        offset: u32,
        /// A register of file A, added to the target.
        register: Option<RegisterIndex>,
    },
}

impl Kind {
    /// What is at [`registers::IMMEDIATE`] for the instruction; `link`: the address behind its delay slots.
    #[inline]
    pub fn constant(self, link: u32) -> Option<Lanes> {
        match self {
            Self::Alu => None,
            Self::Immediate(value) | Self::Semaphore { word: value, .. } => Some(Lanes::splat(value)),
            Self::PerElement { bits, signed } => Some(Lanes(std::array::from_fn(|i| {
                let (high, low) = (bits >> (16 + i) & 1, bits >> i & 1);
                if signed && high == 1 { low.wrapping_sub(2) } else { high << 1 | low }
            }))),
            Self::Branch { .. } => Some(Lanes::splat(link)),
        }
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodedInstruction {
    /// The add ALU.
    pub add: AluOperation<AddOp>,
    /// The mul ALU.
    pub mul: AluOperation<MulOp>,
    /// The rotation of the mul ALU.
    pub rotation: Rotation,
    /// Where flags come from.
    pub flags: FlagSource,
    /// What is unpacked.
    pub unpacking: Unpacking,
    /// What port A reads, if it is a peripheral.
    pub port_a: Option<ReadSource>,
    /// What port B reads, if it is a peripheral.
    pub port_b: Option<ReadSource>,
    /// What stays on ports A and B for instructions that consume them without reading anything.
    pub latches: [Option<RegisterIndex>; 2],
    /// The signal.
    pub signal: Signal,
    /// What is special.
    pub kind: Kind,
    /// What it touches.
    pub touches: Touches,
    /// The rules that it breaks by itself.
    pub broken: Rules,
    /// Neither waits nor branches nor ends nor switches threads, and breaks no rule by itself.
    pub plain: bool,
    /// The same, but for what has to do with the tile buffer and its scoreboard, with the program's end and with thread switches.
    pub quiet: bool,
    /// Something that the sequencer has to look at beyond the neighbours: tile buffer, TMU writes, ends and thread switches.
    pub notable: bool,
    /// The add ALU's result, or flags from it, go somewhere.
    pub add_runs: bool,
    /// The mul ALU's result, or flags from it, go somewhere.
    pub mul_runs: bool,
    /// A result goes to a peripheral.
    pub peripheral_writes: bool,
}

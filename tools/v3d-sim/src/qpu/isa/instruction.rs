//! Decoded instructions: the form in which instructions are executed, with all that is known before they run.
//!
//! A decoded instruction has the indices of its operands and results in the register array, the peripherals that it accesses, and the rules that it
//! breaks by itself. Load immediate, semaphore and branch instructions become moves of a constant, as in hardware [AG p.33-34].
//!
//! # Sources
//! [AG p.26-38].

use super::registers::RegisterIndex;
use super::sfu::Function;
use super::touches::Touches;
use crate::fault::rule::Rules;
use crate::qpu::lanes::Lanes;
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{AddOp, BranchCondition, Condition, MulOp, PackA, PackMul, Signal, Unpack};

/// Destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Nowhere,
    /// A register or accumulator r0 to r3.
    Register(RegisterIndex),
    /// Accumulator r5.
    R5 {
        /// Element 0 for all elements, else the first element of each quad.
        replicated: bool,
    },
    /// Accumulator r4, through the SFU.
    Sfu(Function),
    /// A coordinate of a TMU.
    Tmu(u8, TmuCoordinate),
    /// Another peripheral.
    Peripheral(WriteTarget),
}

/// Packing of a result.
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

/// The operation of one ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AluOperation<Op> {
    /// The operation.
    pub op: Op,
    /// First operand.
    pub a: RegisterIndex,
    /// Second operand.
    pub b: RegisterIndex,
    /// Condition on the elements that are written.
    pub condition: Condition,
    /// Packing.
    pub pack: Pack,
    /// Destination.
    pub to: Destination,
}

/// The source of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagSource {
    /// Flags stay.
    None,
    /// The add ALU.
    Add,
    /// The mul ALU.
    Mul,
}

/// The operand that is unpacked into [`registers::UNPACKED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacking {
    /// Nothing.
    None,
    /// A value read through port A.
    PortA {
        /// Its index.
        from: RegisterIndex,
        /// How.
        mode: Unpack,
        /// For an operation that takes floats.
        float: bool,
    },
    /// Accumulator r4, always to floats.
    R4 {
        /// Its index.
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

/// Kind of instruction.
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
    /// The value of [`registers::IMMEDIATE`] for the instruction; `link`: the address behind its delay slots.
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
    /// Rotation of the mul ALU's result.
    pub rotation: Rotation,
    /// Source of the flags.
    pub flags: FlagSource,
    /// The unpacked operand.
    pub unpacking: Unpacking,
    /// The peripheral that port A reads, if it reads one.
    pub port_a: Option<ReadSource>,
    /// The same for port B.
    pub port_b: Option<ReadSource>,
    /// The values that stay on ports A and B, for instructions that consume them without reading anything.
    pub latches: [Option<RegisterIndex>; 2],
    /// The signal.
    pub signal: Signal,
    /// Kind.
    pub kind: Kind,
    /// What it touches.
    pub touches: Touches,
    /// The rules that it breaks by itself.
    pub broken: Rules,
    /// Runs without the sequencer: neither waits nor branches nor ends nor switches threads, and breaks no rule by itself.
    pub plain: bool,
    /// The same, but may access the tile buffer, wait for the scoreboard, end the program or switch threads.
    pub quiet: bool,
    /// Depends on the state of the program beyond its neighbours: tile buffer, TMU writes, ends and thread switches.
    pub notable: bool,
    /// The add ALU's result, or its flags, are used.
    pub add_runs: bool,
    /// The mul ALU's result, or its flags, are used.
    pub mul_runs: bool,
    /// A result goes to a peripheral.
    pub peripheral_writes: bool,
}

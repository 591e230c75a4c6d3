//! Operations of the hardware on virtual registers: the result of instruction selection.
//!
//! Results are in virtual registers; elements of streams are operands.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use naga::Span;
use v3d_hw::qpu::access::{AccessRow, Stream};
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{AddOp, Condition, File, MulOp, PackA, PackMul, ReadSource, Unpack, WriteTarget};

use crate::routine::Routine;
use crate::ssa::StreamWord;

/// Number of registers of a file.
const REGISTERS_OF_A_FILE: u8 = 32;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Register(pub(crate) u32);

impl Register {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The source of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand {
    Register(Register),
    /// An unpacked part of a register, as a float.
    Part(Register, Unpack),
    /// A small immediate, by its code.
    Small(u8),
    /// The next uniform, which must be this word.
    Uniform(StreamWord),
    /// An operand that is not a virtual register: a register with a fixed purpose, an input, or the next element of a stream. The file is ignored if both
    /// files have it at the same address.
    Input(File, ReadSource),
    /// What the move in the other ALU reads in the same instruction. Operands of both ALUs select from what the two read ports deliver [AG p.27], so the
    /// element of a stream is taken once.
    Shared(ReadSource),
    /// r5: the coefficient C that comes with a varying, or what was copied to its elements.
    Coefficient,
}

impl Operand {
    /// The register that the operand reads.
    pub(crate) const fn register(&self) -> Option<Register> {
        match *self {
            Self::Register(register) | Self::Part(register, _) => Some(register),
            _ => None,
        }
    }
}

/// The kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Add(AddOp),
    Mul(MulOp),
    /// A move, which either ALU can execute.
    Move,
    /// A load of a 32-bit immediate.
    Load(u32),
    /// A load of a lookup's result into r4.
    LoadTexture,
    /// A rotation: the operand of the element `n` places before.
    Rotate(u8),
}

/// The destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Nothing,
    Register(Register),
    /// A function of the special function unit; its result, in r4, is this register.
    Special(WriteTarget, Register),
    /// A parameter of TMU 0; the write consumes this uniform.
    Texture(TmuCoordinate, StreamWord),
    /// A general memory lookup by TMU 0.
    Memory,
    /// A unit, or a register with a fixed purpose. The file is ignored if both files have it at the same address.
    Output(File, WriteTarget),
    /// r0 at the end of a fragment program.
    Color,
    /// r1 at the end of a fragment program whose colour is half floats.
    BlueAlpha,
}

/// The packing of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pack {
    None,
    /// By the packer of the mul ALU, as a colour.
    Mul(PackMul),
    /// By the packer of register file A.
    A(PackA),
}

/// One operation of one ALU.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) work: Work,
    pub(crate) operands: Vec<Operand>,
    pub(crate) target: Target,
    pub(crate) condition: Condition,
    pub(crate) sets_flags: bool,
    pub(crate) pack: Pack,
    /// The register whose other bytes or elements the result keeps.
    pub(crate) merges: Option<Register>,
    pub(crate) span: Span,
}

impl Operation {
    pub(crate) fn new(work: Work, operands: Vec<Operand>, target: Target, span: Span) -> Self {
        Self {
            work,
            operands,
            target,
            condition: Condition::Always,
            sets_flags: false,
            pack: Pack::None,
            merges: None,
            span,
        }
    }

    /// Registers that it reads, including the one that it merges with; a register that is read twice occurs twice.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Register> + use<> {
        let operand = |at: usize| self.operands.get(at).and_then(Operand::register);
        [operand(0), operand(1), self.merges].into_iter().flatten()
    }

    /// How often it reads a register.
    pub(crate) fn reads_of(&self, register: Register) -> u32 {
        let operands = self.operands.iter().filter(|operand| operand.register() == Some(register)).count() as u32;
        operands + u32::from(self.merges == Some(register))
    }

    /// The uniform that it reads.
    pub(crate) fn uniform(&self) -> Option<StreamWord> {
        if let Target::Texture(_, word) = self.target {
            return Some(word);
        }
        self.operands.iter().find_map(|operand| match operand {
            Operand::Uniform(word) => Some(*word),
            _ => None,
        })
    }

    /// Whether it accesses a unit of which an instruction accesses one only. Uniforms, varyings and the words of the VPM can be accessed at any time [AG p.25];
    /// of the others, those that are not closely coupled are kept apart as well.
    pub(crate) fn accesses_unit(&self) -> bool {
        let is_apart = |row: AccessRow| {
            let is_free =
                matches!(row.stream, Some(Stream::Uniforms | Stream::Varyings | Stream::VpmReads | Stream::VpmWrites));
            row.peripheral.is_some() && !is_free
        };
        let writes = match self.target {
            Target::Special(..) | Target::Texture(..) | Target::Memory => true,
            Target::Output(_, target) => is_apart(target.row().access),
            Target::Nothing | Target::Register(_) | Target::Color | Target::BlueAlpha => false,
        };
        let reads = |operand: &Operand| matches!(operand, Operand::Input(_, source) if is_apart(source.row()));
        writes || self.work == Work::LoadTexture || self.operands.iter().any(reads)
    }

    /// Whether it reads a word of the VPM.
    pub(crate) fn reads_vpm(&self) -> bool {
        self.operands.iter().any(|operand| matches!(operand, Operand::Input(_, ReadSource::VpmRead)))
    }

    /// Whether it writes a word of the VPM.
    pub(crate) const fn writes_vpm(&self) -> bool {
        matches!(self.target, Target::Output(_, WriteTarget::VpmWrite))
    }

    /// Whether it sets up reads or writes of the VPM, which no access to words goes with.
    pub(crate) const fn sets_up_vpm(&self) -> bool {
        matches!(self.target, Target::Output(_, WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup))
    }

    /// The element of a stream that it moves to a register, unchanged, and the register.
    pub(crate) fn moved_element(&self) -> Option<(ReadSource, Register)> {
        let is_plain = self.work == Work::Move
            && self.condition == Condition::Always
            && !self.sets_flags
            && self.pack == Pack::None
            && self.merges.is_none();
        let source = match self.operands.first() {
            Some(Operand::Uniform(_)) => ReadSource::Uniform,
            Some(&Operand::Input(_, source @ (ReadSource::Varying | ReadSource::VpmRead))) => source,
            _ => return None,
        };
        match self.target {
            Target::Register(register) if is_plain => Some((source, register)),
            _ => None,
        }
    }

    /// The same operation with another operand instead of a register.
    pub(crate) fn with_operand(&self, register: Register, other: Operand) -> Self {
        let mut operation = self.clone();
        let operands = operation.operands.iter_mut().filter(|operand| **operand == Operand::Register(register));
        operands.for_each(|operand| *operand = other);
        operation
    }

    /// The register that it writes, if any.
    pub(crate) const fn writes(&self) -> Option<Register> {
        match self.target {
            Target::Register(register) | Target::Special(_, register) => Some(register),
            _ => None,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands: Vec<String> = self.operands.iter().map(operand_name).collect();
        let target = match self.target {
            Target::Nothing => "-".to_owned(),
            Target::Register(register) => format!("v{}", register.0),
            Target::Special(function, register) => format!("v{} by {function:?}", register.0),
            Target::Texture(coordinate, _) => format!("tmu0.{coordinate:?}"),
            Target::Memory => "tmu0.memory".to_owned(),
            Target::Output(_, target) => format!("{target:?}"),
            Target::Color => "color".to_owned(),
            Target::BlueAlpha => "blue_alpha".to_owned(),
        };
        let text = described(self.work, &target, &operands, self.condition, self.sets_flags, self.pack);
        let merges = self.merges.map_or_else(String::new, |base| format!(" in v{}", base.0));
        f.pad(&(text + &merges))
    }
}

fn operand_name(operand: &Operand) -> String {
    match operand {
        Operand::Register(register) => format!("v{}", register.0),
        Operand::Part(register, unpack) => format!("v{}.{unpack:?}", register.0),
        Operand::Small(code) => format!("small {code}"),
        Operand::Uniform(word) => format!("{word:?}"),
        Operand::Input(_, source) => format!("{source:?}"),
        Operand::Shared(source) => format!("the same {source:?}"),
        Operand::Coefficient => "r5".to_owned(),
    }
}

/// An operation as text.
pub(crate) fn described(
    work: Work,
    target: &str,
    operands: &[String],
    condition: Condition,
    sets_flags: bool,
    pack: Pack,
) -> String {
    let name = match work {
        Work::Add(op) => format!("{op:?}"),
        Work::Mul(op) => format!("{op:?}"),
        Work::Move => "mov".to_owned(),
        Work::Load(bits) => format!("ldi {bits:#x}"),
        Work::LoadTexture => "ldtmu0".to_owned(),
        Work::Rotate(places) => format!("rotate{places}"),
    };
    let condition = if condition == Condition::Always { String::new() } else { format!(".{condition:?}") };
    let flags = if sets_flags { ".setf" } else { "" };
    let pack = match pack {
        Pack::None => String::new(),
        Pack::Mul(pack) => format!(".{pack:?}"),
        Pack::A(pack) => format!(".{pack:?}"),
    };
    let operands = if operands.is_empty() { String::new() } else { format!(", {}", operands.join(", ")) };
    format!("{}{} {target}{}{operands}", name.to_lowercase(), condition.to_lowercase() + flags, pack.to_lowercase())
}

/// The blocks of a program as text.
pub(crate) fn dump(machine: &Machine) -> String {
    use core::fmt::Write;
    let mut text = String::new();
    for (number, block) in machine.blocks.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "block {number}");
        for operation in &block.operations {
            let _ = writeln!(text, "  {operation}");
        }
        let _ = writeln!(text, "  # {:?}", block.end);
    }
    text
}

/// The terminator of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Falls through to the next block.
    Falls,
    /// A branch back to the start of a block, taken as long as any element has its zero flag clear.
    Again(usize),
    /// A call of a routine, by its index in [`Machine::routines`]; then falls through to the next block.
    Calls(usize),
}

/// A basic block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) operations: Vec<Operation>,
    pub(crate) end: End,
    /// Registers that are live at the end of the block.
    pub(crate) kept: Vec<Register>,
    /// Order of pairs of operations that read uniforms: the first must read before the second.
    pub(crate) uniform_order: Vec<(usize, usize)>,
}

impl Block {
    /// Whether results of lookups are loaded in the block.
    pub(crate) fn looks_up(&self) -> bool {
        self.operations.iter().any(|operation| operation.work == Work::LoadTexture)
    }
}

/// The register of file B that holds a fragment's depth, initially and at the end.
pub(crate) const DEPTH: u8 = 15;
/// The register of file A with a fragment's W.
pub(crate) const FRAGMENT_W: u8 = 15;

/// A program after instruction selection.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) blocks: Vec<Block>,
    pub(crate) registers: u32,
    /// Registers that must be in file A, since parts of them are read or written there.
    pub(crate) in_file_a: Vec<Register>,
    /// The register that must be the colour, in r0, at the end.
    pub(crate) color: Option<Register>,
    /// The register with blue and alpha, if the colour is half floats: then both are in file A, so that neither is in the other's accumulator.
    pub(crate) blue_alpha: Option<Register>,
    /// Loops keep uniforms in registers, and do not reread the stream.
    pub(crate) keeps_words: bool,
    /// Routines that the program calls.
    pub(crate) routines: Vec<Routine>,
    /// In each file, registers from this one on are reserved.
    pub(crate) reserved_from: u8,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            registers: 0,
            in_file_a: Vec::new(),
            color: None,
            blue_alpha: None,
            keeps_words: false,
            routines: Vec::new(),
            reserved_from: REGISTERS_OF_A_FILE,
        }
    }
}

impl Machine {
    /// Whether the program loads results of lookups.
    pub(crate) fn looks_up(&self) -> bool {
        self.blocks.iter().any(Block::looks_up)
    }

    pub(crate) fn register(&mut self) -> Register {
        self.registers += 1;
        Register(self.registers - 1)
    }
}

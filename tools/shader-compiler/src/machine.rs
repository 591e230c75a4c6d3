//! Operations of the hardware on virtual registers.
//!
//! Registers are virtual, and what comes out of a stream is an operand.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use naga::Span;
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{AddOp, Condition, File, MulOp, PackA, PackMul, ReadSource, Unpack, WriteTarget};

use crate::routine::Routine;
use crate::ssa::StreamWord;

/// Registers of file A, and of file B.
const REGISTERS_OF_A_FILE: u8 = 32;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Register(pub(crate) u32);

impl Register {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand {
    Register(Register),
    /// A part of a register, as a float.
    Part(Register, Unpack),
    /// A small immediate, by its code.
    Small(u8),
    /// The next word of the uniforms, which is to be this one.
    Uniform(StreamWord),
    /// An operand that is no virtual register: a register with a fixed purpose, an input, or the next element of a stream. The file makes no
    /// difference where both have it at the same address.
    Input(File, ReadSource),
    /// r5: the coefficient C that comes with a varying, or what was copied to its elements.
    Coefficient,
}

impl Operand {
    /// The register that is read.
    pub(crate) const fn register(&self) -> Option<Register> {
        match *self {
            Self::Register(register) | Self::Part(register, _) => Some(register),
            _ => None,
        }
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Add(AddOp),
    Mul(MulOp),
    /// The operand as it is, by either ALU.
    Move,
    /// A number of 32 bits.
    Load(u32),
    /// A texture's result, into r4.
    LoadTexture,
    /// The operand of the element so many places before.
    Rotate(u8),
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Nothing,
    Register(Register),
    /// A function of the special function unit, whose result comes into r4 as a register.
    Special(WriteTarget, Register),
    /// A parameter of TMU 0, which takes this word from the uniforms.
    Texture(TmuCoordinate, StreamWord),
    /// A general memory lookup by TMU 0.
    Memory,
    /// A unit, or a register with a fixed purpose. The file makes no difference where both have it at the same address.
    Output(File, WriteTarget),
    /// r0 at the end of a fragment program.
    Color,
    /// r1 at the end of a fragment program whose colour is half floats.
    BlueAlpha,
}

/// How a result is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pack {
    None,
    /// Behind the mul ALU, as a colour.
    Mul(PackMul),
    /// On the way into register file A.
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
    /// The register that the result is merged into: some of its bytes or elements are kept.
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

    /// Registers that it reads, the one that it merges with among them; each as often as it is read.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Register> + use<> {
        let operand = |at: usize| self.operands.get(at).and_then(Operand::register);
        [operand(0), operand(1), self.merges].into_iter().flatten()
    }

    /// The word of the uniforms that it reads.
    pub(crate) fn uniform(&self) -> Option<StreamWord> {
        if let Target::Texture(_, word) = self.target {
            return Some(word);
        }
        self.operands.iter().find_map(|operand| match operand {
            Operand::Uniform(word) => Some(*word),
            _ => None,
        })
    }

    /// The register that it writes.
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
        Operand::Coefficient => "r5".to_owned(),
    }
}

/// An operation for people.
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

/// The blocks of a program, for people.
pub(crate) fn dump(machine: &Machine) -> String {
    use core::fmt::Write;
    let mut text = String::new();
    for (number, block) in machine.blocks.iter().enumerate() {
        // Writing to a string does not fail.
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
    /// The next block follows.
    Falls,
    /// Back to the start of a block as long as an element has the flags clear that say zero.
    Again(usize),
    /// A routine is called, by its index in [`Machine::routines`], and the next block follows.
    Calls(usize),
}

/// Operations without a jump between them.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) operations: Vec<Operation>,
    pub(crate) end: End,
    /// Registers that are needed until the block has ended.
    pub(crate) kept: Vec<Register>,
    /// Operations that read words of the uniforms: the first only when the second has read.
    pub(crate) uniform_order: Vec<(usize, usize)>,
}

/// The register of file B with a fragment's depth, also when the program has replaced it.
pub(crate) const DEPTH: u8 = 15;
/// The register of file A with a fragment's W.
pub(crate) const FRAGMENT_W: u8 = 15;

/// A program of operations.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) blocks: Vec<Block>,
    pub(crate) registers: u32,
    /// Registers that must be in file A, since parts of them are read or written there.
    pub(crate) in_file_a: Vec<Register>,
    /// The register that is the colour at the end.
    pub(crate) color: Option<Register>,
    /// The register with blue and alpha, if the colour is half floats: both are in file A then, so that none is in the accumulator that the other goes to.
    pub(crate) blue_alpha: Option<Register>,
    /// Loops keep words of the uniforms in registers, and do not read the stream.
    pub(crate) keeps_words: bool,
    /// Routines that are called.
    pub(crate) routines: Vec<Routine>,
    /// Registers of each file from this one on are not for values.
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
    pub(crate) fn register(&mut self) -> Register {
        self.registers += 1;
        Register(self.registers - 1)
    }
}

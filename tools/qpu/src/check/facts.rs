//! Facts about one instruction that the rules use: reads, writes, triggered units, branch target.

use v3d_hw::qpu::accesses::{Accesses, FlagSource, Write, accumulators};
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{
    AddOp, Alu, BranchCondition, Condition, File, ImmediateKind, Instruction, MulOp, PackMul, ReadSource, Signal,
    WriteTarget, address_sets,
};
use v3d_hw::vpm::ReadSetupWord;

/// A register: one of a file, or an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A register of a file, 0 to 31.
    InFile(File, u8),
    /// Accumulator r0 to r3.
    Accumulator(u8),
}

impl Register {
    /// The register that a write goes to, if it is one.
    pub const fn written(write: &Write) -> Option<Self> {
        match write.target {
            WriteTarget::Register(number) => Some(Self::InFile(write.file, number)),
            WriteTarget::Accumulator(number) => Some(Self::Accumulator(number)),
            _ => None,
        }
    }
}

impl core::fmt::Display for Register {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::InFile(File::A, number) => write!(f, "ra{number}"),
            Self::InFile(File::B, number) => write!(f, "rb{number}"),
            Self::Accumulator(number) => write!(f, "r{number}"),
        }
    }
}

/// Properties of one instruction, independent of its neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The source wrote it as data; it is still an instruction if execution reaches it.
    pub data: bool,
    /// What it reads, writes and triggers.
    pub accesses: Accesses,
    /// The branch, if it is one.
    pub branch: Option<BranchFact>,
    /// A field has a reserved value.
    pub reserved: bool,
    /// The constant, if it loads the same one into all elements.
    pub immediate: Option<u32>,
    /// Registers that the result depends on, a subset of [`Accesses::registers_read`]: operands of operations that are always zero (`xor x, x`) are left out.
    pub registers_needed: u64,
    /// Accumulators r0 to r5 that the result depends on.
    pub accumulators_needed: u8,
}

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchFact {
    /// It is taken unconditionally.
    pub always: bool,
    /// Distance in words from the instruction after the delay slots to the target; `None` if it is not a constant.
    pub distance: Option<i64>,
    /// It stores the address of the instruction after the delay slots: a call.
    pub links: bool,
    /// The register of file A that is added to the target address.
    pub register: Option<u8>,
    /// Bit 45 is set, which is both the lowest bit of the register's number and the bit that sets flags [brcm HW-2780].
    pub sets_flags: bool,
}

impl Facts {
    /// The facts of a word.
    pub fn of(word: u64) -> Self {
        let instruction = Instruction::decode(word);
        let reserved_pack = |pm: bool, pack: u8| pm && matches!(PackMul::of_field(pack), PackMul::Reserved(_));
        let (reserved, branch) = match &instruction {
            Instruction::Alu(alu) => {
                (matches!(alu.op_add, AddOp::Reserved(_)) || reserved_pack(alu.pm, alu.pack), None)
            }
            Instruction::LoadImmediate(load) => {
                (matches!(load.kind, ImmediateKind::Reserved(_)) || reserved_pack(load.pm, load.pack), None)
            }
            Instruction::Semaphore(semaphore) => (reserved_pack(semaphore.pm, semaphore.pack), None),
            Instruction::Branch(branch) => {
                let known = branch.rel && !branch.reg && branch.immediate % 8 == 0;
                let fact = BranchFact {
                    always: branch.cond_br == BranchCondition::Always,
                    distance: known.then_some(i64::from(branch.immediate) / 8),
                    links: instruction.accesses().written().count() > 0,
                    register: branch.reg.then_some(branch.raddr_a),
                    sets_flags: branch.raddr_a & 1 != 0,
                };
                (matches!(branch.cond_br, BranchCondition::Reserved(_)), Some(fact))
            }
        };
        let accesses = instruction.accesses();
        let needed = match &instruction {
            Instruction::Alu(alu) if alu.cancels() != [false; 2] => without_zeros(alu).accesses(),
            _ => accesses,
        };
        Self {
            data: false,
            accesses,
            branch,
            reserved,
            immediate: instruction.loaded_word(),
            registers_needed: needed.registers_read(),
            accumulators_needed: needed.accumulators_read() & accumulators::R0_TO_R5,
        }
    }

    /// The signal.
    #[inline]
    pub fn signal(&self) -> Signal {
        self.accesses.signal
    }

    /// Whether one of the two register files is read at an address, even if no operation uses the value.
    #[inline]
    pub fn reads(&self, source: ReadSource) -> bool {
        self.accesses.reads(source)
    }

    /// Whether it writes a target, perhaps under a condition.
    #[inline]
    pub fn writes_to(&self, target: WriteTarget) -> bool {
        self.accesses.writes_to(target)
    }

    /// Registers of both files whose values it uses, with the elements that it uses.
    #[inline]
    pub fn registers_read(&self) -> impl Iterator<Item = (Register, Condition)> {
        self.accesses.read().filter_map(|read| match read.source {
            ReadSource::Register(number) if read.used != Condition::Never => {
                Some((Register::InFile(read.file, number), read.used))
            }
            _ => None,
        })
    }

    /// Registers of the files and accumulators r0 to r3 that it writes, with the elements.
    #[inline]
    pub fn registers_written(&self) -> impl Iterator<Item = (Register, Condition)> {
        self.accesses.written().filter_map(|write| Some((Register::written(write)?, write.condition)))
    }

    /// Whether a register of a file is read that another instruction writes.
    #[inline]
    pub fn reads_register_of(&self, writer: &Self) -> bool {
        self.accesses.registers_read() & writer.accesses.registers_written() != 0
    }

    /// Whether the result depends on these registers only, in the numbering of [`Accesses::registers_read`], and on these accumulators of r0 to r5 only.
    #[inline]
    pub fn needs_only(&self, registers: u64, accumulators: u8) -> bool {
        self.registers_needed & !registers == 0 && self.accumulators_needed & !accumulators == 0
    }

    /// Whether an operation of the mul ALU sets the flags.
    #[inline]
    pub fn mul_sets_flags(&self) -> bool {
        self.accesses.flags == Some(FlagSource::Mul)
    }

    /// Whether it sets flags, in any element.
    #[inline]
    pub fn sets_flags(&self) -> bool {
        self.accesses.flags.is_some() || self.branch.is_some_and(|branch| branch.sets_flags)
    }

    /// Whether it reads an accumulator, r0 to r5 by number.
    #[inline]
    pub fn reads_accumulator(&self, number: u8) -> bool {
        self.accesses.accumulators_read() >> number & 1 != 0
    }

    /// Whether it starts an operation of the SFU.
    #[inline]
    pub fn writes_sfu(&self) -> bool {
        self.accesses.writes_any(address_sets::SFU)
    }

    /// Whether it writes a parameter of a TMU.
    #[inline]
    pub fn writes_tmu(&self) -> bool {
        self.accesses.writes_any(address_sets::TMU)
    }

    /// Whether it starts a lookup of a TMU.
    #[inline]
    pub fn starts_lookup(&self, unit: u8) -> bool {
        self.writes_to(WriteTarget::Tmu { unit, coordinate: TmuCoordinate::S })
    }

    /// Whether it waits for the scoreboard. The stencil set-up does not wait [mesa vc4_qpu_schedule.c].
    #[inline]
    pub fn locks_scoreboard(&self) -> bool {
        self.accesses.accesses_samples() || self.signal() == Signal::ScoreboardWait
    }

    /// Whether it sets up a block of VPM reads, or may do so, if the word is not a constant: DMA loads are set up at the same address.
    #[inline]
    pub fn sets_up_vpm_read(&self) -> bool {
        let reads = |word| matches!(ReadSetupWord::decode(word), ReadSetupWord::Read(_));
        self.writes_to(WriteTarget::VpmVcdRdSetup) && self.immediate.is_some_and(reads)
    }
}

/// The instruction without the operations whose result is zero for any operands.
fn without_zeros(alu: &Alu) -> Instruction {
    let [add, mul] = alu.cancels();
    let op_add = if add { AddOp::Nop } else { alu.op_add };
    let op_mul = if mul { MulOp::Nop } else { alu.op_mul };
    Instruction::Alu(Alu { op_add, op_mul, ..*alu })
}

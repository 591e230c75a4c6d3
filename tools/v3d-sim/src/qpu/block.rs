//! Blocks: decoded code with its static properties.
//!
//! A block begins at an address and ends where execution cannot fall through, after the delay slots of a program end or of an unconditional branch, unless
//! one of its branches leads to what follows. It is a superblock: conditional branches may leave it anywhere, and execution may enter it anywhere. Two
//! blocks may overlap.
//!
//! For each instruction a block knows which rules it breaks together with its predecessors in memory, and how many instructions from there on run
//! without the sequencer ([`Run`], [`Group`]). [`micro_op`] decomposes instructions, `execution` executes the micro-ops, `accumulators` says what a run
//! needs, `cache` keeps blocks by address.

pub(in crate::qpu) mod accumulators;
mod cache;
pub(crate) mod effects;
pub(in crate::qpu) mod execution;
pub mod micro_op;

pub use cache::CodeCache;

use crate::fault::rule::Rules;
use crate::memory::{Memory, OutOfMemory, Path};
use crate::qpu::isa::instruction::{DecodedInstruction, Destination, Kind};
use crate::qpu::isa::registers::RegisterSet;
use crate::qpu::isa::touches::Touches;
use crate::qpu::{CodeSize, EngineKind};
use accumulators::Uses;
use effects::Effects;
use micro_op::MicroOp;
use std::ops::Range;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::ReadSource;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, BranchCondition, INSTRUCTION_BYTES, Signal, THREAD_DELAY_SLOTS};

/// Maximum length of a block.
const MAX_BLOCK_INSTRUCTIONS: usize = 1024;
/// Registers 16 to 31 of both files, in the form of [`Touches`].
pub const UPPER_REGISTERS: u64 = 0xffff_0000_ffff_0000;
/// An instruction of a block, with the effects of its neighbours in memory.
#[derive(Clone, Copy, Debug)]
pub struct BlockInstruction {
    /// The instruction.
    pub instruction: DecodedInstruction,
    /// Rules that it breaks together with the two instructions before it in memory, provided that these were executed before it.
    pub hazards: Rules,
    /// The instruction is [plain](DecodedInstruction::plain) and breaks no rule with its neighbours, provided that it was reached through its
    /// predecessors in memory.
    pub plain: bool,
    /// The same for [quiet](DecodedInstruction::quiet).
    pub quiet: bool,
    /// The next instruction reads, or may read, what this one writes: the old value is kept for it.
    pub keeps: bool,
    /// A later instruction consumes what this one leaves on a port.
    pub latches: bool,
}

/// The straight-line run that begins at an index of a block: the instructions up to the first that is not [plain](BlockInstruction::plain), and what
/// they touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Instructions in it.
    pub count: u16,
    /// Accumulators and flags, in the form of [`Touches`], whose values from before the run are read.
    pub needs: u8,
    /// Accumulators and flags of which all elements are replaced.
    pub replaces: u8,
    /// Registers 16 to 31 are accessed, which threaded programs must not do.
    pub upper_registers: bool,
    /// The group that begins at this index, if one does.
    pub group: Option<Group>,
    /// Micro-ops of the block before this index.
    first_micro_op: u32,
}

/// Instructions that are no part of a run, but are executed together without the sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A branch and its delay slots.
    Branch(PlainBranch),
    /// One instruction that accesses the tile buffer or waits for the scoreboard.
    Tile,
    /// A thread switch and its delay slots.
    Switch,
    /// The end of the program and its delay slots.
    End,
}

impl Group {
    /// Number of instructions.
    #[inline(always)]
    pub const fn instructions(self) -> usize {
        match self {
            Self::Branch(_) => 1 + BRANCH_DELAY_SLOTS as usize,
            Self::Tile => 1,
            Self::Switch | Self::End => 1 + THREAD_DELAY_SLOTS as usize,
        }
    }
}

/// A branch to a fixed index of the same block; neither its delay slots nor its target break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainBranch {
    /// When it is taken.
    pub condition: BranchCondition,
    /// Index of its target in the block.
    pub target: u16,
}

/// Decoded code from an address on.
#[derive(Debug)]
pub struct Block {
    /// Address of the first instruction, as the program counter has it.
    pub start: u32,
    /// The instructions.
    pub instructions: Vec<BlockInstruction>,
    /// The words that were decoded.
    words: Vec<u64>,
    /// Registers of files A and B that some instruction of the block writes, in the form of [`Touches`].
    pub writes: u64,
    /// The run at each index: one more than there are instructions.
    pub runs: Vec<Run>,
    /// The effects of the program that begins with the block, if they are the same in each run.
    pub(crate) effects: Option<Effects>,
    /// The micro-ops of all instructions, in order.
    micro_ops: Vec<MicroOp>,
    /// The translation to host code.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(super) translation: super::translation::slot::TranslationSlot,
}

impl Block {
    /// Decodes from an address on. `engine`: what the block is translated for. `eager`: before it is first executed.
    fn decode(memory: Memory<'_>, start: u32, engine: EngineKind, eager: bool) -> Result<Self, OutOfMemory> {
        let mut instructions: Vec<BlockInstruction> = Vec::new();
        let mut words = Vec::new();
        let mut last = MAX_BLOCK_INSTRUCTIONS;
        // The furthest index that a branch leads to.
        let mut furthest = 0;
        while instructions.len() <= last && instructions.len() < MAX_BLOCK_INSTRUCTIONS {
            let at = BusAddr(start.wrapping_add(instructions.len() as u32 * INSTRUCTION_BYTES));
            let word = match fetch(memory, at) {
                Ok(word) => word,
                // Code outside of memory is a fault only if it is executed.
                Err(_) if !instructions.is_empty() => break,
                Err(error) => return Err(error),
            };
            let instruction = DecodedInstruction::decode(word);
            words.push(word);
            if last == MAX_BLOCK_INSTRUCTIONS {
                furthest = furthest.max(branch_target(&instruction, instructions.len()).unwrap_or(0));
                let slots = match (instruction.signal, instruction.kind) {
                    (Signal::ProgramEnd | Signal::LoadColorEnd, _) => Some(THREAD_DELAY_SLOTS),
                    (_, Kind::Branch { condition: BranchCondition::Always, .. }) => Some(BRANCH_DELAY_SLOTS),
                    _ => None,
                };
                last = slots
                    .map(|slots| instructions.len() + slots as usize)
                    .filter(|&end| furthest <= end)
                    .unwrap_or(last);
            }
            instructions.push(BlockInstruction {
                instruction,
                hazards: Rules::default(),
                plain: false,
                quiet: false,
                keeps: false,
                latches: false,
            });
        }
        // A port that reads nothing still shows what the last reading instruction left there.
        for i in 0..instructions.len() {
            for (port, source) in
                [instructions[i].instruction.port_a, instructions[i].instruction.port_b].into_iter().enumerate()
            {
                if source == Some(ReadSource::Nop)
                    && let Some(last) =
                        instructions.iter_mut().take(i).rev().find(|placed| placed.instruction.latches[port].is_some())
                {
                    last.latches = true;
                }
            }
        }
        let touches = |instructions: &[BlockInstruction], i: Option<usize>| {
            i.and_then(|i| instructions.get(i)).map_or(Touches::default(), |placed| placed.instruction.touches)
        };
        for i in 0..instructions.len() {
            let instruction = instructions[i].instruction;
            let hazards = instruction
                .touches
                .hazards(&touches(&instructions, i.checked_sub(1)), &touches(&instructions, i.checked_sub(2)));
            // The successor of the last instruction is not known here.
            let keeps = i + 1 == instructions.len()
                || instruction.touches.writes & touches(&instructions, Some(i + 1)).reads != 0;
            instructions[i].hazards = hazards;
            instructions[i].keeps = keeps;
            let harmless = hazards.is_empty() && !keeps && !instructions[i].latches;
            instructions[i].plain = instruction.plain && harmless;
            instructions[i].quiet = instruction.quiet && harmless;
        }
        let (runs, micro_ops) = find_runs(&instructions);
        let writes = instructions.iter().fold(0, |writes, placed| writes | placed.instruction.touches.writes);
        // No other architecture has a translation.
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = (engine, eager);
        let effects = Effects::of(&instructions);
        Ok(Self {
            start,
            effects,
            instructions,
            words,
            writes,
            runs,
            micro_ops,
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            translation: crate::qpu::translation::slot::TranslationSlot::new(engine, eager),
        })
    }

    /// The registers that a program which begins with this block may read before it has written them. `None` without a translation.
    #[inline]
    pub(super) fn first_reads(&self) -> Option<RegisterSet> {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        return self.translation.first_reads();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        None
    }

    /// How much host code its translation is: nothing if there is none.
    pub fn code_size(&self) -> CodeSize {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        return self.translation.size();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        CodeSize::default()
    }

    /// Whether memory still holds these words.
    fn is_in(&self, memory: Memory<'_>) -> bool {
        let addresses = (0..self.words.len()).map(|index| BusAddr(self.address_of(index)));
        addresses.zip(&self.words).all(|(at, word)| fetch(memory, at) == Ok(*word))
    }

    /// Address of an instruction.
    #[inline(always)]
    pub fn address_of(&self, index: usize) -> u32 {
        self.start.wrapping_add(index as u32 * INSTRUCTION_BYTES)
    }

    /// Instructions that run without the sequencer from an index on, up to where a branch may lead elsewhere.
    #[inline(always)]
    pub fn run_from(&self, index: usize) -> u64 {
        let Some(run) = self.runs.get(index) else { return 0 };
        let count = usize::from(run.count);
        let group = self.runs.get(index + count).and_then(|behind| behind.group);
        (count + group.map_or(0, Group::instructions)) as u64
    }

    /// The micro-ops of some instructions.
    #[inline(always)]
    pub fn micro_ops_of(&self, first: usize, count: usize) -> &[MicroOp] {
        self.micro_ops.get(self.micro_op_indices(first, count)).unwrap_or_default()
    }

    /// Their indices among all micro-ops of the block.
    #[inline(always)]
    pub fn micro_op_indices(&self, first: usize, count: usize) -> Range<usize> {
        let bound = |index: usize| self.runs.get(index).map_or(0, |run| run.first_micro_op as usize);
        bound(first)..bound(first + count)
    }

    /// A micro-op by its index.
    pub fn micro_op(&self, index: usize) -> Option<&MicroOp> {
        self.micro_ops.get(index)
    }

    /// Index of the instruction at an address.
    pub fn index_of(&self, address: u32) -> Option<usize> {
        let index = address.checked_sub(self.start)? / INSTRUCTION_BYTES;
        (address % INSTRUCTION_BYTES == self.start % INSTRUCTION_BYTES && (index as usize) < self.instructions.len())
            .then_some(index as usize)
    }
}

/// Fetches the instruction word at an address.
pub(crate) fn fetch(memory: Memory<'_>, at: BusAddr) -> Result<u64, OutOfMemory> {
    let memory = memory.through(Path::Instructions);
    let (low, high) = (memory.word(at)?, memory.word(BusAddr(at.0.wrapping_add(4)))?);
    Ok(u64::from(high) << 32 | u64::from(low))
}

/// Finds the run and the group at each index, and decomposes the instructions.
fn find_runs(instructions: &[BlockInstruction]) -> (Vec<Run>, Vec<MicroOp>) {
    let mut micro_ops = Vec::new();
    let mut runs = vec![Run::default(); instructions.len() + 1];
    for (at, placed) in instructions.iter().enumerate() {
        runs[at].first_micro_op = micro_ops.len() as u32;
        micro_op::append(&mut micro_ops, &placed.instruction, at as u16);
    }
    runs[instructions.len()].first_micro_op = micro_ops.len() as u32;
    let mut uses = Uses::default();
    for (at, placed) in instructions.iter().enumerate().rev() {
        if !placed.plain {
            uses = Uses::default();
            continue;
        }
        uses = uses.preceded_by(placed);
        let next = runs[at + 1];
        let touches = &placed.instruction.touches;
        runs[at].count = next.count + 1;
        runs[at].needs = uses.needs();
        runs[at].replaces = uses.replaces();
        runs[at].upper_registers = (touches.reads | touches.writes) & UPPER_REGISTERS != 0 || next.upper_registers;
    }
    for at in 0..instructions.len() {
        runs[at].group = group(instructions, &runs, at);
    }
    (runs, micro_ops)
}

/// The group at an index.
fn group(instructions: &[BlockInstruction], runs: &[Run], at: usize) -> Option<Group> {
    let placed = instructions.get(at)?;
    match placed.instruction.signal {
        Signal::Branch => plain_branch(instructions, runs, at).map(Group::Branch),
        Signal::ThreadSwitch | Signal::LastThreadSwitch => {
            let slots = usize::from(runs.get(at + 1)?.count);
            (placed.quiet && !placed.instruction.touches.tlb && slots >= THREAD_DELAY_SLOTS as usize)
                .then_some(Group::Switch)
        }
        Signal::ProgramEnd | Signal::LoadColorEnd => ends_quietly(instructions, at).then_some(Group::End),
        _ => (placed.quiet && !placed.plain).then_some(Group::Tile),
    }
}

/// Whether the program end at an index breaks no rule.
fn ends_quietly(instructions: &[BlockInstruction], at: usize) -> bool {
    let last = at + THREAD_DELAY_SLOTS as usize;
    let Some(instructions) = instructions.get(at..=last) else { return false };
    instructions.iter().enumerate().all(|(i, placed)| {
        let Touches { writes, register_14, uniform, tmu_write, varying, vpm, tlb_z, .. } = placed.instruction.touches;
        let controls = matches!(
            placed.instruction.signal,
            Signal::ThreadSwitch
                | Signal::LastThreadSwitch
                | Signal::ProgramEnd
                | Signal::LoadColorEnd
                | Signal::ScoreboardWait
        );
        // The last instruction has no successor that could read an old value.
        let quiet = placed.quiet
            || at + i == last
                && placed.instruction.quiet
                && placed.hazards.is_empty()
                && writes == 0
                && !placed.latches;
        quiet
            && !(uniform || tmu_write || varying || vpm || register_14)
            && !(i == 0 && writes != 0)
            && !(i > 0 && controls)
            && !(at + i == last && tlb_z)
    })
}

/// The index that a relative branch at an index leads to, if that is a place of an instruction from the start of the block on.
fn branch_target(instruction: &DecodedInstruction, at: usize) -> Option<usize> {
    let Kind::Branch { relative: true, offset, register: None, .. } = instruction.kind else { return None };
    if offset % INSTRUCTION_BYTES != 0 {
        return None;
    }
    let from = i64::try_from(at + 1 + BRANCH_DELAY_SLOTS as usize).ok()?;
    usize::try_from(from + i64::from(offset as i32) / i64::from(INSTRUCTION_BYTES)).ok()
}

/// The branch at an index, if the sequencer is not needed for it.
fn plain_branch(instructions: &[BlockInstruction], runs: &[Run], at: usize) -> Option<PlainBranch> {
    const SLOTS: usize = BRANCH_DELAY_SLOTS as usize;
    let placed = instructions.get(at)?;
    let Kind::Branch { condition, .. } = placed.instruction.kind else { return None };
    let target = branch_target(&placed.instruction, at)?;
    let links = [placed.instruction.add.to, placed.instruction.mul.to].iter().any(|to| *to != Destination::Nowhere);
    let harmless =
        placed.instruction.broken.is_empty() && placed.hazards.is_empty() && !placed.keeps && !placed.latches;
    if links || !harmless || usize::from(runs.get(at + 1)?.count) < SLOTS {
        return None;
    }
    let slots =
        [instructions.get(at + SLOTS)?.instruction.touches, instructions.get(at + SLOTS - 1)?.instruction.touches];
    let first = &instructions.get(target)?.instruction;
    let second = &instructions.get(target + 1)?.instruction;
    let broken = first.touches.hazards(&slots[0], &slots[1]).union(second.touches.hazards(&first.touches, &slots[0]));
    broken.is_empty().then_some(PlainBranch { condition, target: u16::try_from(target).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::test_words::{BACK, END, NOP, READS_RA14, memory_of};

    /// mov ra14, rb1
    const WRITES_RA14: u64 = 0x1002_03a7_159c_1fc0;

    /// The length of the run at each index, and the target of the branch at index 2.
    fn check(words: &[u64], counts: &[u16], target: Option<u16>) {
        let owned = memory_of(8 * words.len(), words);
        let block = Block::decode(owned.view(), 0, EngineKind::Vectors, false).unwrap();
        let found: Vec<u16> = block.runs.iter().map(|run| run.count).collect();
        assert_eq!(found, counts);
        let found = block.runs[2].group.map(|group| match group {
            Group::Branch(branch) => Some(branch.target),
            _ => None,
        });
        assert_eq!(found, target.map(Some));
    }

    #[test]
    fn branches_without_hazards_run_without_the_sequencer() {
        check(&[NOP, NOP, BACK, NOP, NOP, NOP, END, NOP, NOP], &[2, 1, 0, 3, 2, 1, 0, 1, 0, 0], Some(0));
        // The target reads what the last delay slot writes.
        let stale = [READS_RA14, NOP, BACK, NOP, NOP, WRITES_RA14, END, NOP, NOP];
        check(&stale, &[2, 1, 0, 3, 2, 1, 0, 1, 0, 0], None);
        // The program ends in a delay slot.
        check(&[NOP, NOP, BACK, NOP, NOP, END, NOP, NOP], &[2, 1, 0, 2, 1, 0, 1, 0, 0], None);
    }
}

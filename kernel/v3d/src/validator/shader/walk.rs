//! All paths through a program, followed once, as basic blocks.
//!
//! A block is an address together with the state with which a path arrives; a path ends where another one has arrived with the same state.

use super::super::{Checker, Reason};
use super::path::{Carried, Path};
use super::{Block, Event, Facts, Program, ProgramKind};
use crate::platform::GpuMemory;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use v3d_hw::BusAddr;
use v3d_hw::qpu::{
    BRANCH_DELAY_SLOTS, Branch, BranchCondition, INSTRUCTION_BYTES, Instruction, THREAD_DELAY_SLOTS, WriteTarget,
};

/// Maximum number of instructions that are followed on all paths.
const MAX_STEPS: u32 = 1 << 16;

/// Follows a program.
pub(super) fn walk<M: GpuMemory>(
    checker: &Checker<'_, M>,
    kind: ProgramKind,
    code: BusAddr,
) -> Result<Program, Reason> {
    if !code.is_aligned(INSTRUCTION_BYTES) {
        return Err(Reason::Value("a program is 8-byte aligned"));
    }
    let mut found = Found::default();
    let mut program = Program { blocks: Vec::new(), facts: Facts::default() };
    let mut steps = 0;
    found.block(code, Carried::default());
    while let Some((number, start, carried)) = found.waiting.pop() {
        let mut path = Path::new(kind, carried);
        let mut address = start;
        let mut end = End::Open;
        let exits = loop {
            steps += 1;
            if steps > MAX_STEPS {
                return Err(Reason::Instruction { address, why: "is on too many paths to be followed" });
            }
            checker.spend(1)?;
            let (low, high) = (checker.word(address)?, checker.word(address + 4)?);
            let instruction = Instruction::decode(u64::from(high) << 32 | u64::from(low));
            let refused = |why| Reason::Instruction { address, why };
            let next = end.after(address, &instruction, &path).map_err(refused)?;
            if let Instruction::Branch(branch) = instruction
                && !branch.rel
            {
                checker.note(|survey| survey.note_fixed(address));
            }
            let before = path.events();
            path.instruction(address, &instruction, end.slots_to_end(), &mut program.facts).map_err(refused)?;
            checker.keep::<(BusAddr, Event)>(path.events() - before)?;
            match next {
                End::Reached => {
                    program.facts.ends_with(&path).map_err(refused)?;
                    break [None; 2];
                }
                End::Left { target, falls_through } => {
                    let behind = address + INSTRUCTION_BYTES;
                    leave(&path, target).map_err(|why| Reason::Instruction { address: behind, why })?;
                    break [Some(target), falls_through.then_some(behind)];
                }
                other => end = other,
            }
            address = address + INSTRUCTION_BYTES;
        };
        let (events, carried) = path.into_parts();
        checker
            .keep::<(Block, (BusAddr, Carried), usize, (usize, BusAddr, Carried))>(exits.iter().flatten().count())?;
        let exits = exits.map(|exit| exit.map(|place| found.block(place, carried)));
        if program.blocks.len() <= number {
            program.blocks.resize_with(number + 1, Block::default);
        }
        program.blocks[number] = Block { events, exits };
    }
    Ok(program)
}

/// Blocks by their address and the state with which they begin.
#[derive(Default)]
struct Found {
    numbers: BTreeMap<(BusAddr, Carried), usize>,
    waiting: Vec<(usize, BusAddr, Carried)>,
}

impl Found {
    /// The number of a block; a new one is followed later.
    fn block(&mut self, place: BusAddr, carried: Carried) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry((place, carried)).or_insert(next);
        if number == next {
            self.waiting.push((number, place, carried));
        }
        number
    }
}

/// Checks that a path may continue at a branch's target.
fn leave(path: &Path, target: BusAddr) -> Result<(), &'static str> {
    if path.is_in_lookup() {
        return Err("is branched around in the middle of a lookup");
    }
    if path.is_moving_uniforms() {
        return Err("follows a new address of the uniforms too soon");
    }
    if !target.is_aligned(INSTRUCTION_BYTES) {
        return Err("branches between instructions");
    }
    Ok(())
}

/// How a path continues.
#[derive(Clone, Copy)]
enum End {
    /// With the next instruction.
    Open,
    /// A program end takes effect after this number of instructions.
    Ending(u32),
    /// A branch takes effect after this number of instructions.
    Branching { slots: u32, target: BusAddr, falls_through: bool },
    /// The program has ended.
    Reached,
    /// At the branch's target, and after the branch if that is conditional.
    Left { target: BusAddr, falls_through: bool },
}

impl End {
    /// Remaining instructions, if the end has been signalled.
    const fn slots_to_end(self) -> Option<u32> {
        match self {
            Self::Ending(slots) => Some(slots),
            _ => None,
        }
    }

    /// How it continues after the instruction at `address`.
    fn after(self, address: BusAddr, instruction: &Instruction, path: &Path) -> Result<Self, &'static str> {
        let ends = instruction.signal().ends_program();
        let switches = instruction.signal().switches_threads();
        let branches = matches!(instruction, Instruction::Branch(_));
        if (ends || branches) && path.is_switching() {
            return Err("branches or ends the program before a thread switch has taken effect");
        }
        match (self, instruction) {
            (Self::Open, Instruction::Branch(branch)) => {
                let slots = BRANCH_DELAY_SLOTS;
                let falls_through = branch.cond_br != BranchCondition::Always;
                Ok(Self::Branching { slots, target: target(address, branch)?, falls_through })
            }
            (Self::Open, _) if ends => Ok(Self::Ending(THREAD_DELAY_SLOTS)),
            (Self::Open, _) => Ok(self),
            (_, Instruction::Branch(_)) => Err("branches before another branch or the end has taken effect"),
            _ if switches => Err("switches threads before a branch or the end has taken effect"),
            (Self::Branching { .. }, _) if ends => Err("ends the program before a branch has taken effect"),
            (Self::Ending(1), _) => Ok(Self::Reached),
            (Self::Ending(slots), _) => Ok(Self::Ending(slots.saturating_sub(1))),
            (Self::Branching { slots: 1, target, falls_through }, _) => Ok(Self::Left { target, falls_through }),
            (Self::Branching { slots, target, falls_through }, _) => {
                Ok(Self::Branching { slots: slots.saturating_sub(1), target, falls_through })
            }
            (other, _) => Ok(other),
        }
    }
}

/// The target of the branch at `address`.
fn target(address: BusAddr, branch: &Branch) -> Result<BusAddr, &'static str> {
    if branch.reg {
        return Err("branches to where a register says");
    }
    let accesses = Instruction::Branch(*branch).accesses();
    if accesses.writes.iter().any(|write| write.target != WriteTarget::Nop) {
        return Err("branches and keeps the address behind it");
    }
    let behind_slots = address.0.wrapping_add(INSTRUCTION_BYTES * (BRANCH_DELAY_SLOTS + 1));
    Ok(BusAddr(if branch.rel { behind_slots } else { 0 }.wrapping_add_signed(branch.immediate)))
}

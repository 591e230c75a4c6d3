//! Programs: what an instruction stream can reach.
//!
//! A program reaches memory in four ways: it reads uniforms, it looks textures up, it moves VPM data by DMA, and it moves the address of its own
//! uniforms. DMA is refused. For the rest the program is followed along all its paths, with the address of the next uniform known exactly at each
//! instruction: it begins where the shader record says, goes on by a word with each uniform that is read, and may be moved to an address that can be
//! computed here. So every uniform that can be read is known, and with it the textures that can be looked up.
//!
//! - Branches lead to a fixed place, and nothing is assumed there of what registers hold. A path ends where another has come with the same next uniform.
//! - A new address of the uniforms is a uniform, a constant, or the sum of both, and is not used in the two instructions that follow [AG p.20].
//! - A lookup by plain address adds a uniform to an offset that was limited just so: `max(x, 0)`, then `min` with another uniform.
//!
//! # Sources
//! [AG p.18-38], [AG p.39-43] for texture parameters; [linux vc4_validate_shaders.c] for the two patterns, which compilers therefore keep to.

mod registers;

use super::{Checker, Reason, texture};
use crate::platform::GpuMemory;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use registers::{Known, Registers};
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{
    AddOp, Alu, BRANCH_DELAY_SLOTS, Branch, BranchCondition, Condition, File, INSTRUCTION_BYTES, ImmediateKind,
    Instruction, LoadImmediate, Mux, ReadSource, Signal, SmallImmediate, THREAD_DELAY_SLOTS, WriteTarget,
};

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fragment,
    Vertex,
}

/// Units of TMU that a program can write to.
const TMUS: usize = 2;
/// Instructions that are followed at most, over all paths.
const MOST_STEPS: u32 = 1 << 16;
/// Instructions after a new address of the uniforms in which none may be read [AG p.20].
const UNIFORM_DELAY_SLOTS: u32 = 2;

/// Checks a program and the uniforms that it reads.
pub(super) fn check<M: GpuMemory>(
    checker: &Checker<'_, M>,
    kind: Kind,
    code: BusAddr,
    uniforms: BusAddr,
) -> Result<(), Reason> {
    if !code.is_aligned(INSTRUCTION_BYTES) {
        return Err(Reason::Value("a program is 8-byte aligned"));
    }
    let (mut begun, mut waiting) = (BTreeSet::new(), Vec::new());
    let mut steps = 0;
    let mut go_on = |place: (BusAddr, BusAddr), waiting: &mut Vec<_>| {
        if begun.insert(place) {
            waiting.push(place);
        }
    };
    go_on((code, uniforms), &mut waiting);
    while let Some((start, uniform)) = waiting.pop() {
        let mut path = Path::new(checker, kind, uniform);
        let mut address = start;
        let mut end = End::Open;
        loop {
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Reason::Instruction { address, why: "is on too many paths to be followed" });
            }
            let (low, high) = (checker.word(address)?, checker.word(address + 4)?);
            let instruction = Instruction::decode(u64::from(high) << 32 | u64::from(low));
            path.instruction(&instruction).map_err(|refused| match refused {
                Refused::Because(why) => Reason::Instruction { address, why },
                Refused::For(reason) => reason,
            })?;
            let next = end.after(address, &instruction).map_err(|why| Reason::Instruction { address, why })?;
            address = address + INSTRUCTION_BYTES;
            match next {
                End::Reached => break,
                End::Left { target, falls_through } => {
                    if path.pending.iter().any(|pending| !pending.is_empty()) {
                        return Err(Reason::Instruction {
                            address,
                            why: "is branched around in the middle of a lookup",
                        });
                    }
                    if path.uniform_delay > 0 {
                        return Err(Reason::Instruction {
                            address,
                            why: "follows a new address of the uniforms too soon",
                        });
                    }
                    if !target.is_aligned(INSTRUCTION_BYTES) {
                        return Err(Reason::Instruction { address, why: "branches between instructions" });
                    }
                    go_on((target, path.uniform), &mut waiting);
                    if falls_through {
                        go_on((address, path.uniform), &mut waiting);
                    }
                    break;
                }
                other => end = other,
            }
        }
    }
    Ok(())
}

/// How the path goes on.
#[derive(Clone, Copy)]
enum End {
    /// Straight on.
    Open,
    /// A program end takes effect after so many more instructions.
    Ending(u32),
    /// A branch takes effect after so many more instructions.
    Branching { slots: u32, target: BusAddr, falls_through: bool },
    /// The program has ended.
    Reached,
    /// The path goes on at the branch's target, and behind the branch if that is conditional.
    Left { target: BusAddr, falls_through: bool },
}

impl End {
    /// How it goes on after the instruction at `address`.
    fn after(self, address: BusAddr, instruction: &Instruction) -> Result<Self, &'static str> {
        let ends = matches!(instruction.signal(), Signal::ProgramEnd | Signal::LoadColorEnd);
        match (self, instruction) {
            (Self::Open, Instruction::Branch(branch)) => {
                let slots = BRANCH_DELAY_SLOTS;
                let falls_through = branch.cond_br != BranchCondition::Always;
                Ok(Self::Branching { slots, target: target(address, branch)?, falls_through })
            }
            (Self::Open, _) if ends => Ok(Self::Ending(THREAD_DELAY_SLOTS)),
            (_, Instruction::Branch(_)) => Err("branches before another branch or the end has taken effect"),
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

/// Where the branch at `address` leads.
fn target(address: BusAddr, branch: &Branch) -> Result<BusAddr, &'static str> {
    if branch.reg {
        return Err("branches to where a register says");
    }
    let Destinations(links) = Destinations::new(branch.ws, [branch.waddr_add, branch.waddr_mul])?;
    if links.into_iter().any(|(_, target)| target != WriteTarget::Nop) {
        return Err("branches and keeps the address behind it");
    }
    let behind_slots = address.0.wrapping_add(INSTRUCTION_BYTES * (BRANCH_DELAY_SLOTS + 1));
    Ok(BusAddr(if branch.rel { behind_slots } else { 0 }.wrapping_add_signed(branch.immediate)))
}

/// Why an instruction is refused.
enum Refused {
    /// For what it is.
    Because(&'static str),
    /// For what it reaches.
    For(Reason),
}

impl From<&'static str> for Refused {
    fn from(why: &'static str) -> Self {
        Self::Because(why)
    }
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self::For(reason)
    }
}

/// A path as far as it was followed.
struct Path<'a, M> {
    checker: &'a Checker<'a, M>,
    kind: Kind,
    /// Where the next uniform stands.
    uniform: BusAddr,
    /// Instructions in which no uniform may be read.
    uniform_delay: u32,
    /// Texture parameters of the lookup in the making, per TMU.
    pending: [Vec<u32>; TMUS],
    registers: Registers,
}

impl<'a, M: GpuMemory> Path<'a, M> {
    /// A path that begins with the uniform at this address.
    fn new(checker: &'a Checker<'a, M>, kind: Kind, uniform: BusAddr) -> Self {
        let pending = [Vec::new(), Vec::new()];
        Self { checker, kind, uniform, uniform_delay: 0, pending, registers: Registers::default() }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let may_read_uniforms = self.uniform_delay == 0;
        self.uniform_delay = self.uniform_delay.saturating_sub(1);
        self.registers.step();
        let uniform = self.uniform;
        match instruction {
            Instruction::Branch(_) => {}
            Instruction::Alu(alu) => {
                let [a, b] = sources(alu);
                self.read(a)?;
                self.read(b)?;
                let reads_uniform = a == ReadSource::Uniform || b == ReadSource::Uniform;
                if reads_uniform {
                    self.take_uniform(may_read_uniforms)?;
                }
                let sum = self.sum(alu, uniform)?;
                let destinations = Destinations::new(alu.ws, [alu.waddr_add, alu.waddr_mul])?;
                let conditions = [alu.cond_add, alu.cond_mul];
                self.write(destinations, conditions, reads_uniform, may_read_uniforms, [sum, Sum::Other])?;
            }
            Instruction::LoadImmediate(load) => {
                let sum = match load {
                    LoadImmediate { kind: ImmediateKind::Word, pack: 0, immediate, .. } => {
                        Sum::Value(Known::Constant(*immediate))
                    }
                    _ => Sum::Other,
                };
                let destinations = Destinations::new(load.ws, [load.waddr_add, load.waddr_mul])?;
                self.write(destinations, [load.cond_add, load.cond_mul], false, may_read_uniforms, [sum; 2])?;
            }
            Instruction::Semaphore(semaphore) => {
                let destinations = Destinations::new(semaphore.ws, [semaphore.waddr_add, semaphore.waddr_mul])?;
                let conditions = [semaphore.cond_add, semaphore.cond_mul];
                self.write(destinations, conditions, false, may_read_uniforms, [Sum::Other; 2])?;
            }
        }
        if matches!(instruction.signal(), Signal::ThreadSwitch | Signal::LastThreadSwitch) {
            self.registers.switch_threads();
        }
        Ok(())
    }

    fn read(&self, source: ReadSource) -> Result<(), Refused> {
        match (self.kind, source) {
            (Kind::Fragment, ReadSource::VpmRead) => Err("reads the VPM in a fragment shader".into()),
            _ => Ok(()),
        }
    }

    /// Goes on by one uniform; where it stands.
    fn take_uniform(&mut self, may_read_uniforms: bool) -> Result<BusAddr, Refused> {
        if !may_read_uniforms {
            return Err("reads a uniform too soon after their address was moved".into());
        }
        let uniform = self.uniform;
        self.checker.rights.may_read(uniform, 4)?;
        self.uniform = uniform + 4;
        Ok(uniform)
    }

    /// What the add ALU computes, as far as it matters. `uniform` is where the uniform stands that the instruction reads, if it reads one.
    fn sum(&self, alu: &Alu, uniform: BusAddr) -> Result<Sum, Reason> {
        // Packing and unpacking would change values on their way.
        if alu.unpack != v3d_hw::qpu::Unpack::None || alu.pack != 0 {
            return Ok(Sum::Other);
        }
        let operands = [alu.add_a, alu.add_b].map(|mux| self.operand(alu, mux));
        Ok(match (alu.op_add, operands) {
            (AddOp::Max, [Operand::Known(Known::Constant(0)), _] | [_, Operand::Known(Known::Constant(0))]) => {
                Sum::Value(Known::NotNegative)
            }
            (AddOp::Min, [Operand::Known(Known::NotNegative), Operand::Uniform])
            | (AddOp::Min, [Operand::Uniform, Operand::Known(Known::NotNegative)]) => {
                Sum::Value(Known::AtMost(self.checker.word(uniform)?))
            }
            (AddOp::Add, [Operand::Known(Known::AtMost(limit)), Operand::Uniform])
            | (AddOp::Add, [Operand::Uniform, Operand::Known(Known::AtMost(limit))]) => {
                Sum::Within { base: BusAddr(self.checker.word(uniform)?), limit }
            }
            (AddOp::Add, [Operand::Known(Known::Constant(offset)), Operand::Uniform])
            | (AddOp::Add, [Operand::Uniform, Operand::Known(Known::Constant(offset))]) => {
                Sum::Value(Known::Constant(self.checker.word(uniform)?.wrapping_add(offset)))
            }
            (AddOp::Or, [Operand::Uniform, Operand::Uniform]) => {
                Sum::Value(Known::Constant(self.checker.word(uniform)?))
            }
            _ => Sum::Other,
        })
    }

    /// An operand of the add ALU.
    fn operand(&self, alu: &Alu, mux: Mux) -> Operand {
        let [a, b] = sources(alu);
        let of_file = |file, source| match source {
            ReadSource::Uniform => Operand::Uniform,
            ReadSource::Register(number) => Operand::Known(self.registers.in_file(file, number)),
            _ => Operand::Known(Known::Nothing),
        };
        match mux {
            Mux::R0 => Operand::Known(self.registers.accumulator(0)),
            Mux::R1 => Operand::Known(self.registers.accumulator(1)),
            Mux::R2 => Operand::Known(self.registers.accumulator(2)),
            Mux::R3 => Operand::Known(self.registers.accumulator(3)),
            Mux::R4 | Mux::R5 => Operand::Known(Known::Nothing),
            Mux::A => of_file(File::A, a),
            Mux::B if alu.sig == Signal::SmallImmediate => {
                let value = SmallImmediate::from_code(alu.raddr_b).value();
                Operand::Known(value.map_or(Known::Nothing, Known::Constant))
            }
            Mux::B => of_file(File::B, b),
        }
    }

    /// What both ALUs write. Where both write one register nothing is known of it: the mul ALU comes last.
    fn write(
        &mut self,
        Destinations(destinations): Destinations,
        conditions: [Condition; 2],
        reads_uniform: bool,
        may_read_uniforms: bool,
        sums: [Sum; 2],
    ) -> Result<(), Refused> {
        for (((file, target), condition), sum) in destinations.into_iter().zip(conditions).zip(sums) {
            self.write_one(file, target, condition, reads_uniform, may_read_uniforms, sum)?;
        }
        Ok(())
    }

    fn write_one(
        &mut self,
        file: File,
        target: WriteTarget,
        condition: Condition,
        reads_uniform: bool,
        may_read_uniforms: bool,
        sum: Sum,
    ) -> Result<(), Refused> {
        let value = match sum {
            Sum::Value(known) if condition == Condition::Always => known,
            _ => Known::Nothing,
        };
        match target {
            WriteTarget::UniformsAddress => {
                let Known::Constant(address) = value else {
                    return Err("moves the address of the uniforms, where to, nobody can say".into());
                };
                if !BusAddr(address).is_aligned(4) {
                    return Err("moves the address of the uniforms between words".into());
                }
                (self.uniform, self.uniform_delay) = (BusAddr(address), UNIFORM_DELAY_SLOTS);
                Ok(())
            }
            WriteTarget::VpmLdAddr | WriteTarget::VpmStAddr => Err("starts a DMA of the VPM".into()),
            WriteTarget::VpmWrite | WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup
                if self.kind == Kind::Fragment =>
            {
                Err("uses the VPM in a fragment shader".into())
            }
            WriteTarget::HostInterrupt => Err("interrupts the host".into()),
            WriteTarget::Tmu { .. } if condition != Condition::Always => {
                Err("writes a texture coordinate conditionally".into())
            }
            WriteTarget::Tmu { unit, coordinate } => {
                let unit = usize::from(unit) % TMUS;
                if coordinate == TmuCoordinate::S && self.pending[unit].is_empty() {
                    return self.look_up_address(sum);
                }
                if reads_uniform {
                    return Err("reads a uniform and writes a texture coordinate at once".into());
                }
                let uniform = self.take_uniform(may_read_uniforms)?;
                self.pending[unit].push(self.checker.word(uniform)?);
                if coordinate == TmuCoordinate::S {
                    let parameters = core::mem::take(&mut self.pending[unit]);
                    let (start, bytes) = texture::extent(&parameters)?;
                    self.checker.rights.may_read(start, bytes)?;
                }
                Ok(())
            }
            WriteTarget::Register(number) => {
                self.registers.set_in_file(file, number, value);
                Ok(())
            }
            WriteTarget::Accumulator(number) => {
                self.registers.set_accumulator(number, value);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A lookup of the word at an address: it has to stay within what a uniform names.
    fn look_up_address(&self, sum: Sum) -> Result<(), Refused> {
        match sum {
            Sum::Within { base, limit } if base.is_aligned(4) && limit <= i32::MAX as u32 => {
                Ok(self.checker.rights.may_read(base, u64::from(limit) + 4)?)
            }
            Sum::Within { .. } => Err("looks memory up between words, or without a limit".into()),
            _ => Err("looks memory up by its address, which may be any".into()),
        }
    }
}

/// What an instruction reads from the two files.
fn sources(alu: &Alu) -> [ReadSource; 2] {
    let small = alu.sig == Signal::SmallImmediate;
    let b = if small { ReadSource::Nop } else { ReadSource::of(File::B, alu.raddr_b) };
    [ReadSource::of(File::A, alu.raddr_a), b]
}

/// An operand, as far as it matters.
#[derive(Clone, Copy)]
enum Operand {
    /// The uniform that the instruction reads.
    Uniform,
    /// A value of which this much is known, in all elements.
    Known(Known),
}

/// Where the add and the mul ALU write.
struct Destinations([(File, WriteTarget); 2]);

impl Destinations {
    /// What these addresses mean, with or without swapping. Two texture coordinates, or one beside a new address of the uniforms, are refused: which
    /// uniforms they take is not documented.
    fn new(swap: bool, [add, mul]: [u8; 2]) -> Result<Self, &'static str> {
        let files = if swap { [File::B, File::A] } else { [File::A, File::B] };
        let targets = [WriteTarget::of(files[0], add), WriteTarget::of(files[1], mul)];
        let takes_uniforms = |target| matches!(target, WriteTarget::Tmu { .. } | WriteTarget::UniformsAddress);
        if targets.into_iter().all(takes_uniforms) {
            return Err("writes two texture coordinates at once, or one beside an address of the uniforms");
        }
        Ok(Self([(files[0], targets[0]), (files[1], targets[1])]))
    }
}

/// What an ALU computes, as far as it matters.
#[derive(Clone, Copy)]
enum Sum {
    /// A value of which this much is known, in all elements.
    Value(Known),
    /// An address from `base` to `base + limit`, in all elements.
    Within {
        /// The lowest.
        base: BusAddr,
        /// The greatest distance from it in bytes.
        limit: u32,
    },
    /// Anything.
    Other,
}

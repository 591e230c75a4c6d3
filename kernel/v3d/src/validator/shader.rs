//! Programs: what an instruction stream can reach.
//!
//! A program reaches memory in four ways: it reads uniforms, it looks textures up, it moves VPM data by DMA, and it can move the address of its own uniforms. The last two are
//! refused, and so are branches and lookups by plain address. Then a program is a straight line in which the number of uniforms that it reads
//! is known, and which of them are texture parameters.
//!
//! # Sources
//! [AG p.18-38], [AG p.39-43] for texture parameters.

use super::{Checker, Reason, texture};
use crate::platform::GpuMemory;
use alloc::vec::Vec;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{
    Condition, File, INSTRUCTION_BYTES, Instruction, ReadSource, Signal, THREAD_DELAY_SLOTS, WriteTarget,
};

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fragment,
    Vertex,
}

/// Units of TMU that a program can write to.
const TMUS: usize = 2;

/// Checks a program and the uniforms that it reads.
pub(super) fn check<M: GpuMemory>(
    checker: &Checker<'_, M>,
    kind: Kind,
    code: BusAddr,
    uniforms: BusAddr,
) -> Result<(), Reason> {
    let mut scan = Scan { kind, uniforms: 0, pending: [Vec::new(), Vec::new()], lookups: Vec::new() };
    let mut address = code;
    let mut left = None;
    if !code.is_aligned(INSTRUCTION_BYTES) {
        return Err(Reason::Value("a program is 8-byte aligned"));
    }
    while left != Some(0) {
        let (low, high) = (checker.word(address)?, checker.word(address + 4)?);
        let instruction = Instruction::decode(u64::from(high) << 32 | u64::from(low));
        scan.instruction(&instruction).map_err(|why| Reason::Instruction { address, why })?;
        left = match (left, instruction.signal()) {
            (Some(slots), _) => Some(slots - 1),
            (None, Signal::ProgramEnd | Signal::LoadColorEnd) => Some(THREAD_DELAY_SLOTS),
            (None, _) => None,
        };
        address = address + INSTRUCTION_BYTES;
    }
    if scan.uniforms > 0 {
        checker.rights.may_read(uniforms, 4 * u64::from(scan.uniforms))?;
    }
    for lookup in &scan.lookups {
        let mut parameters = Vec::with_capacity(lookup.len());
        for &index in lookup {
            parameters.push(checker.word(uniforms + 4 * index)?);
        }
        let (start, bytes) = texture::extent(&parameters)?;
        checker.rights.may_read(start, bytes)?;
    }
    Ok(())
}

/// What was met so far.
struct Scan {
    kind: Kind,
    /// Uniforms that were taken.
    uniforms: u32,
    /// Uniforms that the lookup in the making has taken, per TMU.
    pending: [Vec<u32>; TMUS],
    /// Uniforms of complete lookups.
    lookups: Vec<Vec<u32>>,
}

impl Scan {
    fn instruction(&mut self, instruction: &Instruction) -> Result<(), &'static str> {
        let (swap, writes, reads_uniform) = match instruction {
            Instruction::Branch(_) => return Err("branches: where to, nobody can say"),
            Instruction::Alu(alu) => {
                let small = alu.sig == Signal::SmallImmediate;
                let a = ReadSource::of(File::A, alu.raddr_a);
                let b = if small { ReadSource::Nop } else { ReadSource::of(File::B, alu.raddr_b) };
                [a, b].into_iter().try_for_each(|source| self.read(source))?;
                let writes = [(alu.waddr_add, alu.cond_add), (alu.waddr_mul, alu.cond_mul)];
                (alu.ws, writes, a == ReadSource::Uniform || b == ReadSource::Uniform)
            }
            Instruction::LoadImmediate(load) => {
                (load.ws, [(load.waddr_add, load.cond_add), (load.waddr_mul, load.cond_mul)], false)
            }
            Instruction::Semaphore(semaphore) => {
                let writes = [(semaphore.waddr_add, semaphore.cond_add), (semaphore.waddr_mul, semaphore.cond_mul)];
                (semaphore.ws, writes, false)
            }
        };
        if reads_uniform {
            self.uniforms += 1;
        }
        let files = if swap { [File::B, File::A] } else { [File::A, File::B] };
        for ((address, condition), file) in writes.into_iter().zip(files) {
            self.write(WriteTarget::of(file, address), condition, reads_uniform)?;
        }
        Ok(())
    }

    fn read(&self, source: ReadSource) -> Result<(), &'static str> {
        match (self.kind, source) {
            (Kind::Fragment, ReadSource::VpmRead) => Err("reads the VPM in a fragment shader"),
            _ => Ok(()),
        }
    }

    fn write(&mut self, target: WriteTarget, condition: Condition, reads_uniform: bool) -> Result<(), &'static str> {
        match target {
            WriteTarget::UniformsAddress => Err("moves the address of the uniforms"),
            WriteTarget::VpmLdAddr | WriteTarget::VpmStAddr => Err("starts a DMA of the VPM"),
            WriteTarget::VpmWrite | WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup
                if self.kind == Kind::Fragment =>
            {
                Err("uses the VPM in a fragment shader")
            }
            WriteTarget::HostInterrupt => Err("interrupts the host"),
            WriteTarget::Tmu { .. } if condition != Condition::Always => {
                Err("writes a texture coordinate conditionally")
            }
            WriteTarget::Tmu { .. } if reads_uniform => Err("reads a uniform and writes a texture coordinate at once"),
            WriteTarget::Tmu { unit, coordinate } => {
                let pending = &mut self.pending[usize::from(unit) % TMUS];
                if coordinate == TmuCoordinate::S && pending.is_empty() {
                    return Err("looks memory up by its address");
                }
                pending.push(self.uniforms);
                self.uniforms += 1;
                if coordinate == TmuCoordinate::S {
                    let lookup = core::mem::take(pending);
                    self.lookups.push(lookup);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

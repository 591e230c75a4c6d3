//! The dependence graph of a basic block: the order of operations, with minimum distances in cycles.

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::control_list::Threading;
use v3d_hw::qpu::{Condition, File, Hazard, ReadSource, SFU_LATENCY, WriteTarget};

use crate::machine::{DEPTH, Operand, Operation, Target, Work};
use crate::routine::RESULT;
use crate::ssa::StreamWord;

/// Entries of a TMU's request queue: each parameter takes one. Two threads share them [AG p.39].
const TMU_ENTRIES: usize = 8;
/// Cycles from a set-up of VPM reads to the first read. The guide wants a latency of three instructions [AG p.55]; the captured programs of Mesa's driver,
/// which run on boards, read one to three instructions after the set-up, and tests on boards found that the read waits [vc4asm].
const VPM_SET_UP: usize = 2;
/// The same for rows of a workgroup's memory.
const ROW_SET_UP: usize = Hazard::VpmReadAfterSetup.distance() as usize;
/// Set-ups of reads that are waiting at most [AG p.56].
const QUEUED_ROWS: usize = 2;
/// Cycles from a write of the uniforms' address to the first read of a uniform.
const UNIFORMS_ADDRESS: usize = Hazard::UniformAfterAddress.distance() as usize;
/// Latency in cycles of a register of a file.
const FILE_LATENCY: usize = Hazard::ReadAfterWrite.distance() as usize;
/// Latency in cycles of the special function unit's result.
const SFU_RESULT_LATENCY: usize = SFU_LATENCY as usize;
/// The register from which the code that a pipeline appends reads the depth of a fragment.
const DEPTH_OUTPUT: Target = Target::Output(File::B, WriteTarget::Register(DEPTH));
/// Latency in cycles of a texture lookup, on a hit in the TMU's cache [vc4cl].
pub(crate) const LOOKUP_LATENCY: usize = 9;

/// The cause of a dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A register, or only the order of accesses.
    Register,
    /// Flags, r5 or the parameters of a lookup, which are lost at a thread switch and cannot be copied.
    Fixed,
    /// The TMU, from a lookup's last parameter to its result.
    Lookup,
}

/// An edge of the graph: an operation comes after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dependence {
    /// The earlier operation.
    pub(crate) on: usize,
    /// Minimum distance in cycles; the write latency of a register file is added to it.
    pub(crate) cycles: usize,
    /// Distance in cycles at which the later operation does not stall.
    pub(crate) latency: usize,
    pub(crate) carrier: Carrier,
    /// The later operation can be in the same instruction, and read the stream's element that the earlier one moves to a register.
    pub(crate) may_share: bool,
}

/// Whether it writes to the VPM, or acquires or releases the mutex under which that is done.
fn writes_rows(operation: &Operation) -> bool {
    let acquires = |operand: &Operand| matches!(operand, Operand::Input(_, ReadSource::MutexAcquire));
    let writes = matches!(
        operation.target,
        Target::Output(_, WriteTarget::VpmVcdWrSetup | WriteTarget::VpmWrite | WriteTarget::MutexRelease)
    );
    writes || operation.operands.iter().any(acquires)
}

/// The dependences of each operation of a block. The operations are in an order in which they could be executed.
pub(crate) fn dependences(operations: &[Operation], registers: usize, threading: Threading) -> Vec<Vec<Dependence>> {
    let tmu_entries = if threading == Threading::Dual { TMU_ENTRIES / 2 } else { TMU_ENTRIES };
    let mut all: Vec<Vec<Dependence>> = Vec::with_capacity(operations.len());
    let mut writer: Vec<Option<usize>> = vec![None; registers];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); registers];
    let (mut flags, mut flag_readers): (Option<usize>, Vec<usize>) = (None, Vec::new());
    let (mut varying, mut coefficient): (Option<usize>, Option<usize>) = (None, None);
    let (mut read_set_up, mut vpm_read, mut vpm_write) = (None, None, None);
    let mut texture: Option<usize> = None;
    // The last read of a loop's own address in the stream, and the cycles until other uniforms can be read.
    let mut own_address: Option<(usize, usize)> = None;
    let mut loads: Vec<(usize, usize)> = Vec::new();
    let (mut parameters, mut request): (usize, Option<usize>) = (0, None);
    let mut depth_readers: Vec<usize> = Vec::new();
    // Where rows of the VPM are read that the program writes as well, reads and writes stay in their order. Each set-up is of one read then, and up to two are
    // waiting. Of attributes and outputs, reads and writes are independent.
    let is_ordered = operations.iter().any(|operation| {
        matches!(operation.target, Target::Output(_, WriteTarget::VpmVcdRdSetup))
            && !matches!(operation.work, Work::Load(_))
    });
    let (mut row_set_ups, mut row_reads): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut row_write: Option<usize> = None;
    // The operation that takes a routine's result, from where the next routine is given an argument.
    let mut result_reader: Option<usize> = None;
    let mut has_successor = vec![false; operations.len()];
    for (at, operation) in operations.iter().enumerate() {
        let mut list: Vec<Dependence> = Vec::new();
        let mut fixed: Vec<usize> = Vec::new();
        let mut wait = |on: Option<usize>, cycles: usize, latency: usize| {
            if let Some(on) = on {
                list.push(Dependence { on, cycles, latency, carrier: Carrier::Register, may_share: false });
            }
        };
        for register in operation.reads() {
            let from = writer[register.index()];
            let latency = from.map_or(1, |from| match (operations[from].target, operations[from].work) {
                (Target::Special(..), _) => SFU_RESULT_LATENCY,
                _ => 1,
            });
            wait(from, 1, latency);
            readers[register.index()].push(at);
        }
        if let Some(register) = operation.writes() {
            for &reader in readers[register.index()].iter().filter(|reader| **reader != at) {
                wait(Some(reader), 0, 0);
            }
            wait(writer[register.index()], 1, 1);
            writer[register.index()] = Some(at);
            readers[register.index()].clear();
        }
        if operation.condition != Condition::Always {
            wait(flags, 1, 1);
            fixed.extend(flags);
            flag_readers.push(at);
        }
        if operation.sets_flags {
            flag_readers.drain(..).filter(|reader| *reader != at).for_each(|reader| wait(Some(reader), 0, 0));
            wait(flags, 1, 1);
            flags = Some(at);
        }
        if let (Some(word), before) = (operation.uniform(), own_address) {
            if let Some((on, cycles)) = before {
                wait(Some(on), cycles, cycles);
            }
            if let StreamWord::OwnAddress(_) = word {
                let moves = matches!(operation.target, Target::Output(_, WriteTarget::UniformsAddress));
                own_address = Some((at, if moves { UNIFORMS_ADDRESS } else { 1 }));
            }
        }
        for operand in &operation.operands {
            match operand {
                Operand::Input(_, ReadSource::Varying) => {
                    wait(varying, 1, 1);
                    // r5 holds the coefficient of one varying at a time.
                    wait(coefficient, 0, 0);
                    varying = Some(at);
                }
                Operand::Coefficient => {
                    wait(varying, 1, 1);
                    fixed.extend(varying);
                    coefficient = Some(at);
                }
                Operand::Input(_, ReadSource::VpmRead) => {
                    if is_ordered {
                        wait(row_set_ups.get(row_reads.len()).copied(), ROW_SET_UP, ROW_SET_UP);
                        row_reads.push(at);
                    } else {
                        wait(read_set_up, VPM_SET_UP, VPM_SET_UP);
                    }
                    wait(vpm_read, 1, 1);
                    vpm_read = Some(at);
                }
                Operand::Input(File::B, ReadSource::Register(DEPTH)) => depth_readers.push(at),
                Operand::Input(File::B, ReadSource::Register(RESULT)) => result_reader = Some(at),
                _ => {}
            }
        }
        if is_ordered && writes_rows(operation) {
            wait(row_write, 1, 1);
            wait(row_reads.last().copied(), 1, 1);
            row_write = Some(at);
        }
        match operation.target {
            Target::Output(_, WriteTarget::R5Replicated | WriteTarget::R5PerQuad) => {
                wait(varying, 1, 1);
                wait(coefficient, 0, 0);
                varying = Some(at);
            }
            Target::Output(_, WriteTarget::VpmVcdRdSetup) if is_ordered => {
                wait(row_write, 1, 1);
                wait(row_set_ups.last().copied(), 1, 1);
                let before = row_set_ups.len().checked_sub(QUEUED_ROWS);
                wait(before.and_then(|number| row_reads.get(number)).copied(), 1, 1);
                row_set_ups.push(at);
            }
            Target::Output(_, WriteTarget::VpmVcdRdSetup) => {
                wait(vpm_read, 1, 1);
                read_set_up = Some(at);
            }
            Target::Output(_, WriteTarget::VpmVcdWrSetup | WriteTarget::VpmWrite) => {
                wait(vpm_write, 1, 1);
                vpm_write = Some(at);
            }
            Target::Texture(..) | Target::Memory => {
                wait(texture, 1, 1);
                if parameters > 0 {
                    fixed.extend(texture);
                }
                // The queue has space again when an older result is loaded.
                let waiting: usize = loads.iter().map(|(_, entries)| entries).sum();
                if waiting + parameters + 1 > tmu_entries
                    && let Some((load, _)) = loads.first().copied()
                {
                    wait(Some(load), 1, 1);
                    loads.remove(0);
                }
                parameters += 1;
                (texture, request) = (Some(at), Some(at));
            }
            Target::Output(File::B, WriteTarget::Register(RESULT)) => wait(result_reader, 0, 0),
            DEPTH_OUTPUT => depth_readers.drain(..).for_each(|reader| wait(Some(reader), 0, 0)),
            _ => {}
        }
        if operation.work == Work::LoadTexture {
            wait(request, 1, LOOKUP_LATENCY);
            wait(loads.last().map(|(load, _)| *load), 1, 1);
            loads.push((at, core::mem::take(&mut parameters)));
        }
        if matches!(operation.target, Target::Color | Target::BlueAlpha) {
            // The colour comes last, and the depth must be readable when the code that a pipeline appends begins. An operation with a successor has
            // been executed by then.
            for (on, operation) in operations[..at].iter().enumerate() {
                let cycles = if operation.target == DEPTH_OUTPUT { FILE_LATENCY } else { 0 };
                if cycles > 0 || !has_successor[on] {
                    wait(Some(on), cycles, cycles);
                }
            }
        }
        for number in 0..list.len() {
            let on = list[number].on;
            if let Some((_, moved)) = operations[on].moved_element() {
                // The operation depends on the move by its operands only.
                let edges = list.iter().filter(|dependence| dependence.on == on).count();
                let operands = operation.operands.iter().filter(|operand| **operand == Operand::Register(moved));
                list[number].may_share = operands.count() == edges;
            }
        }
        for dependence in &mut list {
            has_successor[dependence.on] = true;
            if fixed.contains(&dependence.on) {
                dependence.carrier = Carrier::Fixed;
            } else if operation.work == Work::LoadTexture && Some(dependence.on) == request {
                dependence.carrier = Carrier::Lookup;
            }
        }
        all.push(list);
    }
    all
}

//! Which operations of a block must wait for which.

use v3d_hw::control_list::Threading;
use v3d_hw::qpu::{Condition, File, Hazard, ReadSource, SFU_LATENCY, WriteTarget};

use crate::machine::{DEPTH, Operand, Operation, Target, Work};

/// Entries of a TMU's request queue: each parameter takes one. Two threads share them [AG p.39].
const TMU_ENTRIES: usize = 8;
/// Cycles from a set-up of VPM reads to the first read. The guide wants a latency of three instructions [AG p.55]; the captured programs of Mesa's driver,
/// which run on boards, read one to three instructions after the set-up, and tests on boards found that the read waits [vc4asm].
const VPM_SET_UP: usize = 2;
/// Cycles until what is written to a register file can be read.
const FILE: usize = Hazard::ReadAfterWrite.distance() as usize;
/// Cycles until the special function unit's result can be read.
const SPECIAL: usize = SFU_LATENCY as usize;
/// Where a pipeline finds the depth of a fragment.
const DEPTH_OUTPUT: Target = Target::Output(File::B, WriteTarget::Register(DEPTH));
/// Cycles from a texture request to its result, if the TMU's cache has it [vc4cl].
pub(crate) const TEXTURE: usize = 9;

/// What an operation has of another that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Through {
    /// A register, or only its turn.
    Register,
    /// Flags, r5 or parameters of one lookup: what both threads have in the same place, and what cannot be moved.
    Unmovable,
    /// The result of its lookup.
    Lookup,
}

/// An operation that another waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) on: usize,
    /// Cycles between the two, at least; a register's own time comes on top.
    pub(crate) cycles: usize,
    /// Cycles that it is good to leave.
    pub(crate) better: usize,
    pub(crate) through: Through,
}

/// What each operation of a list waits for. The list is in an order in which it could be executed.
pub(crate) fn waits(operations: &[Operation], registers: usize, threading: Threading) -> Vec<Vec<Wait>> {
    let tmu_entries = if threading == Threading::Dual { TMU_ENTRIES / 2 } else { TMU_ENTRIES };
    let mut all: Vec<Vec<Wait>> = Vec::with_capacity(operations.len());
    let mut writer: Vec<Option<usize>> = vec![None; registers];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); registers];
    let (mut flags, mut flag_readers): (Option<usize>, Vec<usize>) = (None, Vec::new());
    let (mut varying, mut coefficient): (Option<usize>, Option<usize>) = (None, None);
    let (mut read_set_up, mut vpm_read, mut vpm_write) = (None, None, None);
    let mut texture: Option<usize> = None;
    let mut loads: Vec<(usize, usize)> = Vec::new();
    let (mut parameters, mut request): (usize, Option<usize>) = (0, None);
    let mut depth_readers: Vec<usize> = Vec::new();
    let mut is_waited_for = vec![false; operations.len()];
    for (at, operation) in operations.iter().enumerate() {
        let mut list: Vec<Wait> = Vec::new();
        let mut unmovable: Vec<usize> = Vec::new();
        let mut wait = |on: Option<usize>, cycles: usize, better: usize| {
            if let Some(on) = on {
                list.push(Wait { on, cycles, better, through: Through::Register });
            }
        };
        for register in operation.reads() {
            let from = writer[register.index()];
            let better = from.map_or(1, |from| match (operations[from].target, operations[from].work) {
                (Target::Special(..), _) => SPECIAL,
                _ => 1,
            });
            wait(from, 1, better);
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
            unmovable.extend(flags);
            flag_readers.push(at);
        }
        if operation.sets_flags {
            flag_readers.drain(..).filter(|reader| *reader != at).for_each(|reader| wait(Some(reader), 0, 0));
            wait(flags, 1, 1);
            flags = Some(at);
        }
        for operand in &operation.operands {
            match operand {
                Operand::Input(_, ReadSource::Varying) => {
                    wait(varying, 1, 1);
                    // r5 has the coefficient of one varying at a time.
                    wait(coefficient, 0, 0);
                    varying = Some(at);
                }
                Operand::Coefficient => {
                    wait(varying, 1, 1);
                    unmovable.extend(varying);
                    coefficient = Some(at);
                }
                Operand::Input(_, ReadSource::VpmRead) => {
                    wait(read_set_up, VPM_SET_UP, VPM_SET_UP);
                    wait(vpm_read, 1, 1);
                    vpm_read = Some(at);
                }
                Operand::Input(File::B, ReadSource::Register(DEPTH)) => depth_readers.push(at),
                _ => {}
            }
        }
        match operation.target {
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
                    unmovable.extend(texture);
                }
                // The queue has room again when an older result is loaded.
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
            DEPTH_OUTPUT => depth_readers.drain(..).for_each(|reader| wait(Some(reader), 0, 0)),
            _ => {}
        }
        if operation.work == Work::LoadTexture {
            wait(request, 1, TEXTURE);
            wait(loads.last().map(|(load, _)| *load), 1, 1);
            loads.push((at, std::mem::take(&mut parameters)));
        }
        if matches!(operation.target, Target::Color | Target::BlueAlpha) {
            // What the tile buffer gets comes last, and the depth must be there when what a pipeline puts behind begins. What others wait for is over by then.
            for (on, operation) in operations[..at].iter().enumerate() {
                let cycles = if operation.target == DEPTH_OUTPUT { FILE } else { 0 };
                if cycles > 0 || !is_waited_for[on] {
                    wait(Some(on), cycles, cycles);
                }
            }
        }
        for wait in &mut list {
            is_waited_for[wait.on] = true;
            if unmovable.contains(&wait.on) {
                wait.through = Through::Unmovable;
            } else if operation.work == Work::LoadTexture && Some(wait.on) == request {
                wait.through = Through::Lookup;
            }
        }
        all.push(list);
    }
    all
}

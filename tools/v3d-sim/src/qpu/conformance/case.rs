//! A case: a program with all its inputs, executed by several engines.
//!
//! Guard words around memory detect accesses beyond its ends.

use super::peripherals::RandomIo;
use crate::fault::FaultLog;
use crate::memory::{Memory, OwnedMemory};
use crate::qpu::lanes::{Lanes, Mask};
use crate::qpu::qps::user_io::Shared;
use crate::qpu::repetition::Relaunch;
use crate::qpu::{CodeCache, EngineKind, Exit, Launch, Qpu};
use crate::random::Random;
use crate::timing::trace::{Invocation, Trace};
use std::sync::atomic::Ordering::Relaxed;
use v3d_hw::BusAddr;

/// Size of a case's memory.
pub const MEMORY_BYTES: u32 = 0x4000;
/// Address of its code.
pub const CODE: u32 = 0x1000;
/// Maximum number of instructions.
pub const MAX_INSTRUCTIONS: usize = (MEMORY_BYTES - CODE) as usize / 16;
/// Guard words before and after memory.
const MARGIN: usize = 512;

/// A program, its data, and how it is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program's words, at [`CODE`].
    pub words: Vec<u64>,
    /// The runs in order; memory, VPM and peripherals keep the state of the last one.
    pub launches: Vec<Launch>,
    /// The seed of memory and of the peripherals' answers.
    pub data: u64,
    /// Number of varyings of each run.
    pub varyings: u32,
    /// Memory and peripherals hold floats of [ordinary sizes](Random::with_ordinary_values) alone.
    pub ordinary: bool,
    /// One in this many answers of peripherals is an error.
    pub refused: u32,
    /// Another QPU holds the scoreboard and the mutex until a run stalls for the first time.
    pub busy: bool,
    /// Budgets of a run: each continues where the last one has ended.
    pub budgets: Vec<u64>,
}

/// How a case is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The reference datapath.
    Reference,
    /// In the best way for this host.
    Fast,
    /// By a kind of engine, with code translated before its first instruction is executed if it translates.
    Kind(EngineKind),
    /// With a trace for the timing model.
    Traced,
}

/// The final state of an execution.
#[derive(Debug)]
pub struct Outcome {
    /// For each run and budget: how it ended, what is left of the budget, and the address of the next instruction.
    pub(super) exits: Vec<(Exit, u64, BusAddr)>,
    /// Instructions in its traces.
    pub(super) traced: u64,
    /// Instructions executed in all runs.
    pub(super) executed: u64,
    /// Of these, executed in translated code.
    pub(super) translated: u64,
    /// Runs that were [repetitions](crate::qpu::repetition).
    pub(super) repeated: u64,
    pub(super) qpu: Qpu,
    pub(super) written: Vec<(&'static str, Lanes, Mask)>,
    shared: Shared,
    /// The words of memory, with the guard words.
    pub(super) memory: Vec<u32>,
    pub(super) faults: FaultLog,
}

impl Case {
    /// Executes the case with several engines, whose final states must be equal to the reference's. Returns that state, with the number of instructions that
    /// engines have executed in translated code, or the difference in words.
    pub fn check(&self, engines: &[Engine]) -> Result<Outcome, String> {
        let data = self.data();
        let mut reference = self.execute(Engine::Reference, &data);
        for &engine in engines {
            let fast = self.execute(engine, &data);
            compare(&reference, &fast).map_err(|what| format!("{engine:?}: {what}"))?;
            reference.translated += fast.translated;
            reference.repeated += fast.repeated;
            let has_ended = fast.exits.iter().filter(|(exit, ..)| *exit == Exit::Ended).count() == self.launches.len();
            if engine == Engine::Traced && has_ended && fast.traced != fast.executed {
                return Err(format!("{} of {} instructions are in the trace", fast.traced, fast.executed));
            }
        }
        Ok(reference)
    }

    /// Executes the case with one engine, on [data](Self::data).
    pub(super) fn execute(&self, engine: Engine, data: &[u32]) -> Outcome {
        let owned = OwnedMemory::new(4 * data.len());
        let words = owned.view().words();
        for (word, &value) in words.iter().zip(data) {
            word.store(value, Relaxed);
        }
        let memory = Memory::new(words.get(MARGIN..words.len() - MARGIN).unwrap_or_default());
        let mut io = RandomIo::new(self.data, self.varyings, self.refused, self.busy, self.ordinary);
        let mut qpu = Qpu::new();
        let code = match engine {
            Engine::Kind(kind) => CodeCache::for_engine(kind).translating_eagerly(),
            _ => CodeCache::new(),
        };
        let (mut exits, mut executed, mut translated, mut repeated) = (Vec::new(), 0, 0, 0);
        for launch in &self.launches {
            let record = (engine == Engine::Traced).then_some(Invocation::UserProgram { qpu: launch.qpu });
            let repeats = matches!(engine, Engine::Kind(_)) && restart(&mut qpu, launch, &code);
            if !repeats {
                qpu.start(&Launch { record, ..*launch });
            }
            repeated += u64::from(repeats);
            io.start();
            for (part, &budget) in self.budgets.iter().enumerate() {
                let mut left = budget;
                let exit = match engine {
                    Engine::Reference => qpu.run_reference(&mut io, memory, &code, &mut left),
                    Engine::Kind(_) if repeats && part == 0 => qpu.rerun(&mut io, memory, &code, &mut left),
                    Engine::Fast | Engine::Kind(_) | Engine::Traced => qpu.run(&mut io, memory, &code, &mut left),
                };
                exits.push((exit, left, qpu.pc()));
                match exit {
                    Exit::Ended => break,
                    Exit::Stalled => io.release(),
                    Exit::OutOfBudget => {}
                }
            }
            executed += qpu.executed();
            translated += qpu.translated();
        }
        qpu.count_repeated();
        let traced = qpu.counters.take_traces().iter().map(Trace::instructions).sum();
        let faults = qpu.take_faults();
        let memory = words.iter().map(|word| word.load(Relaxed)).collect();
        let RandomIo { written, shared, .. } = io;
        Outcome { exits, traced, executed, translated, repeated, qpu, written, shared, memory, faults }
    }

    /// The contents of memory and of the guard words at the start.
    pub(super) fn data(&self) -> Vec<u32> {
        let mut random = Random::new(self.data, 2);
        let mut margin = || random.next_u64() as u32;
        let before: Vec<u32> = std::iter::repeat_with(&mut margin).take(MARGIN).collect();
        let behind = std::iter::repeat_with(&mut margin).take(MARGIN);
        let mut random = Random::new(self.data, 0).with_ordinary_values(self.ordinary);
        let mut memory: Vec<u32> = (0..MEMORY_BYTES / 4).map(|_| random.value()).collect();
        let place = memory.iter_mut().skip(CODE as usize / 4);
        for (word, half) in place.zip(self.words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])) {
            *word = half;
        }
        before.into_iter().chain(memory).chain(behind).collect()
    }
}

/// Starts a program once more if its launch and its predecessor allow that.
fn restart(qpu: &mut Qpu, launch: &Launch, code: &CodeCache) -> bool {
    let Launch { pc, uniforms, ref ra15, ref rb15, threading, .. } = *launch;
    let is_plain = launch.uniforms_limit.is_none() && launch.undefined_elements == 0 && launch.qpu == 0;
    is_plain && qpu.restart(&Relaunch { pc, uniforms, ra15, rb15, threading }, code)
}

/// The first difference between the states that two engines have left.
fn compare(reference: &Outcome, fast: &Outcome) -> Result<(), String> {
    let differs = |what: &str, reference: &dyn std::fmt::Debug, fast: &dyn std::fmt::Debug| {
        Err(format!("{what}: reference {reference:x?}, fast {fast:x?}"))
    };
    if reference.exits != fast.exits {
        return differs("exits", &reference.exits, &fast.exits);
    }
    if reference.faults != fast.faults {
        return differs("faults", &reference.faults, &fast.faults);
    }
    let names = |place: usize| match place {
        0..32 => format!("ra{place}"),
        32..64 => format!("rb{}", place - 32),
        _ => format!("r{}", place - 64),
    };
    let pairs = reference.qpu.registers().visible().iter().zip(fast.qpu.registers().visible());
    for (place, (expected, found)) in pairs.enumerate() {
        if expected != found {
            return differs(&names(place), expected, found);
        }
    }
    if reference.qpu.flags() != fast.qpu.flags() {
        return differs("flags", reference.qpu.flags(), fast.qpu.flags());
    }
    let position = |qpu: &Qpu| {
        let uniforms = (BusAddr(qpu.uniforms), qpu.uniforms_left);
        (qpu.pc(), qpu.executed(), uniforms, qpu.has_switched_threads(), qpu.counters.clone())
    };
    if position(&reference.qpu) != position(&fast.qpu) {
        return differs("position", &position(&reference.qpu), &position(&fast.qpu));
    }
    for (i, expected) in reference.written.iter().enumerate() {
        if fast.written.get(i) != Some(expected) {
            return differs("peripheral write", expected, &fast.written.get(i));
        }
    }
    if reference.written.len() != fast.written.len() {
        return differs("peripheral writes", &reference.written.len(), &fast.written.len());
    }
    if reference.shared.vpm != fast.shared.vpm {
        return Err("the VPM differs".to_owned());
    }
    if reference.memory != fast.memory {
        let at = reference.memory.iter().zip(&fast.memory).position(|(expected, found)| expected != found);
        let at = at.unwrap_or_default();
        let place = 4 * (at as i64 - MARGIN as i64);
        return differs(&format!("memory at {place:#x}"), &reference.memory.get(at), &fast.memory.get(at));
    }
    Ok(())
}

//! A program with all that it depends on, executed by one engine after the other.
//!
//! Memory lies between words that belong to nobody: an engine that reads or writes beyond its ends finds or leaves there what the reference engine does not.

use super::peripherals::RandomIo;
use crate::fault::FaultLog;
use crate::lanes::{Lanes, Mask};
use crate::memory::{Memory, OwnedMemory};
use crate::qpu::qps::user_io::Shared;
use crate::qpu::{CodeCache, Exit, Launch, Qpu};
use crate::random::Random;
use crate::timing::trace::{Invocation, Trace};
use std::sync::atomic::Ordering::Relaxed;
use v3d_hw::BusAddr;

/// Size of a case's memory.
pub const MEMORY_BYTES: u32 = 0x4000;
/// Where its code begins.
pub const CODE: u32 = 0x1000;
/// Most instructions that there is room for.
pub const MAX_INSTRUCTIONS: usize = (MEMORY_BYTES - CODE) as usize / 16;
/// Words before memory and behind it.
const MARGIN: usize = 512;

/// A program, its data, and how it is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program's words, which stand at [`CODE`].
    pub words: Vec<u64>,
    /// The runs, one after the other: memory, VPM and peripherals stay as the last one has left them.
    pub launches: Vec<Launch>,
    /// The seed of what is in memory and of what peripherals answer.
    pub data: u64,
    /// How many varyings each run has.
    pub varyings: u32,
    /// What peripherals refuse: one in so many answers.
    pub refused: u32,
    /// Somebody else holds the scoreboard and the mutex until a run stalls for the first time.
    pub busy: bool,
    /// Budgets of a run: it goes on with the next one where the last one has left it.
    pub budgets: Vec<u64>,
}

/// Who executes a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The reference engine.
    Reference,
    /// The fast engine, as every host can execute it.
    Baseline,
    /// The fast engine, as this host executes it best.
    Fast,
    /// The same, with code translated for the host before its first instruction is executed, if this host can do that.
    Translated,
    /// The engine that leaves a trace for the clock.
    Traced,
}

/// All that an engine leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// How each run came back from each of its budgets, how much was left of it, and where the program was.
    pub(super) exits: Vec<(Exit, u64, BusAddr)>,
    /// Instructions in its traces, if it leaves any.
    pub(super) traced: u64,
    /// Instructions that all runs have executed.
    pub(super) executed: u64,
    /// How many of them in translated code.
    pub(super) translated: u64,
    pub(super) qpu: Qpu,
    pub(super) written: Vec<(&'static str, Lanes, Mask)>,
    shared: Shared,
    /// The words of memory, and those around it.
    pub(super) memory: Vec<u32>,
    pub(super) faults: FaultLog,
}

impl Case {
    /// Executes the case with several engines, of which each has to leave what the reference engine leaves, and gives that, with how much of it others
    /// have executed in translated code: or else in words what differs.
    pub fn check(&self, engines: &[Engine]) -> Result<Outcome, String> {
        let data = self.data();
        let mut reference = self.execute(Engine::Reference, &data);
        for &engine in engines {
            let fast = self.execute(engine, &data);
            compare(&reference, &fast).map_err(|what| format!("{engine:?}: {what}"))?;
            reference.translated += fast.translated;
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
        let mut io = RandomIo::new(self);
        let mut qpu = Qpu::new();
        let code = match engine {
            Engine::Translated => CodeCache::translating_at_once(),
            _ => CodeCache::new(),
        };
        let (mut exits, mut executed, mut translated) = (Vec::new(), 0, 0);
        for launch in &self.launches {
            let record = (engine == Engine::Traced).then_some(Invocation::UserProgram { qpu: launch.qpu });
            qpu.start(&Launch { record, ..*launch });
            io.start();
            for &budget in &self.budgets {
                let mut left = budget;
                let exit = match engine {
                    Engine::Reference => qpu.run_reference(&mut io, memory, &code, &mut left),
                    Engine::Baseline => qpu.run_baseline(&mut io, memory, &code, &mut left),
                    Engine::Fast | Engine::Translated | Engine::Traced => qpu.run(&mut io, memory, &code, &mut left),
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
        let traced = qpu.counters.take_traces().iter().map(Trace::instructions).sum();
        let faults = qpu.take_faults();
        let memory = words.iter().map(|word| word.load(Relaxed)).collect();
        Outcome { exits, traced, executed, translated, qpu, written: io.written, shared: io.shared, memory, faults }
    }

    /// What is in memory and around it when the program begins.
    pub(super) fn data(&self) -> Vec<u32> {
        let mut random = Random::new(self.data, 2);
        let mut margin = || random.next_u64() as u32;
        let before: Vec<u32> = std::iter::repeat_with(&mut margin).take(MARGIN).collect();
        let behind = std::iter::repeat_with(&mut margin).take(MARGIN);
        let mut random = Random::new(self.data, 0);
        let mut memory: Vec<u32> = (0..MEMORY_BYTES / 4).map(|_| random.value()).collect();
        let place = memory.iter_mut().skip(CODE as usize / 4);
        for (word, half) in place.zip(self.words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])) {
            *word = half;
        }
        before.into_iter().chain(memory).chain(behind).collect()
    }
}

/// Finds the first difference in what two engines have left.
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
    let position =
        |qpu: &Qpu| (qpu.pc(), qpu.executed(), BusAddr(qpu.uniforms), qpu.uniforms_left, qpu.counters.clone());
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

//! QPUs that run one user program, in the model.

use v3d_hw::BusAddr;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::qps::user_io::{Setup, Shared, UserIo};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu};
use v3d_sim::timing::trace::Invocation;
use v3d_sim::timing::{self, TimingModel};

/// The VPM of the boards, in KiB [asurati].
const VPM_KIB: u8 = 12;
/// Number of VPM rows reserved for user programs: the maximum.
const VPM_WINDOW: u32 = 64;
/// Instructions of a time slice, with one QPU and with several: few, so that the instructions of several QPUs are interleaved.
const TURNS: [u64; 2] = [64, 3];
/// Number of instructions after which a program is considered to hang.
const BUDGET: u64 = 200_000_000;
/// Address of the program.
const CODE: u32 = 0x1000;
/// Address of the data.
pub(crate) const DATA: u32 = 0x2_0000;

/// A program that has ended on every QPU.
pub(crate) struct Run {
    pub(crate) memory: OwnedMemory,
    /// Instructions, all QPUs together.
    pub(crate) instructions: u64,
    /// Cycles from the first instruction to the last, by the model's clock.
    pub(crate) cycles: u64,
}

/// Assembles a program that may include the library.
///
/// # Errors
/// The diagnostics of the assembler.
pub(crate) fn assemble(name: &str, text: &str) -> Result<qpu::Assembly, String> {
    let options = qpu::Options { include_dirs: vec![env!("CARGO_MANIFEST_DIR").into()], ..qpu::Options::default() };
    qpu::assemble(&[qpu::Source::new(name, text)], &options).map_err(|diagnostics| diagnostics.to_string())
}

/// Checks a program; warnings are errors.
///
/// # Errors
/// The diagnostics of assembler and checker.
pub(crate) fn check(assembly: &qpu::Assembly) -> Result<(), String> {
    let found = format!("{}{}", assembly.warnings, qpu::check::check_assembly(assembly));
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Runs a program on one QPU for each list of uniforms. `data` is placed at [`DATA`], followed by `room` bytes for results.
///
/// # Errors
/// Programs that do not end, and faults that the model reports.
pub(crate) fn run(words: &[u64], data: &[u32], room: usize, uniforms: &[Vec<u32>]) -> Result<Run, String> {
    let memory = OwnedMemory::new(DATA as usize + 4 * data.len() + room);
    let view = memory.view();
    let write = |at: u32, words: &mut dyn Iterator<Item = u32>| {
        (0..)
            .zip(words)
            .try_for_each(|(i, word)| view.set_word(BusAddr(at + 4 * i), word))
            .map_err(|error| error.to_string())
    };
    write(CODE, &mut words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]))?;
    write(DATA, &mut data.iter().copied())?;
    let mut uniforms_at = CODE + 8 * words.len() as u32;
    let mut shared = Shared::new(VPM_KIB);
    shared.vpm.set_window(VPM_WINDOW);
    let mut units = Vec::new();
    for (number, list) in (0..).zip(uniforms) {
        uniforms_at = uniforms_at.next_multiple_of(64);
        write(uniforms_at, &mut list.iter().copied())?;
        let mut qpu = Qpu::new();
        qpu.start(&Launch {
            pc: BusAddr(CODE),
            uniforms: BusAddr(uniforms_at),
            uniforms_limit: Some(list.len() as u32),
            qpu: number,
            record: Some(Invocation::UserProgram { qpu: number }),
            ..Launch::default()
        });
        uniforms_at += 4 * list.len() as u32;
        units.push((qpu, Setup::default(), Exit::OutOfBudget));
    }
    if uniforms_at > DATA {
        return Err("the program with its uniforms is too long".to_owned());
    }
    let code = CodeCache::new();
    let turn = TURNS[usize::from(units.len() > 1)];
    while units.iter().any(|unit| unit.2 != Exit::Ended) {
        let mut progress = false;
        for (number, (qpu, setup, exit)) in (0..).zip(&mut units) {
            if *exit == Exit::Ended {
                continue;
            }
            let before = qpu.executed();
            *exit = qpu.run(&mut UserIo { qpu: number, shared: &mut shared, setup }, view, &code, &mut turn.clone());
            progress |= qpu.executed() > before || *exit == Exit::Ended;
            if qpu.executed() > BUDGET {
                return Err("it does not end".to_owned());
            }
        }
        if !progress {
            return Err("the programs wait for each other".to_owned());
        }
    }
    let mut timing_model = TimingModel::new(timing::Machine::default());
    let mut instructions = 0;
    for (qpu, ..) in &mut units {
        let faults = qpu.take_faults();
        if let Some(fault) = faults.faults().first() {
            return Err(fault.to_string());
        }
        instructions += qpu.executed();
        qpu.counters.take_traces().into_iter().for_each(|trace| timing_model.submit(trace));
    }
    Ok(Run { instructions, cycles: timing_model.take_estimate().elapsed, memory })
}

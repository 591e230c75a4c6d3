//! `qpu run`
//!
//! The program stands at address 0x1000, the uniforms of each QPU behind it; all other memory is zero but for what `--memory` loads.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use qpu::Assembly;
use v3d_hw::BusAddr;
use v3d_hw::qpu::{INSTRUCTION_BYTES, Instruction};
use v3d_sim::clock::trace::Work;
use v3d_sim::clock::{Estimate, Stall};
use v3d_sim::lanes::Lanes;
use v3d_sim::memory::{Memory, OwnedMemory};
use v3d_sim::qpu::registers::{ACCUMULATORS, FILE_A, FILE_B, Place};
use v3d_sim::qpu::{Exit, Launch, Qpu};

use super::{Input, is_source, read_words, show, write};

mod machine;

use machine::{Machine, Watched};

/// Where the program stands.
const CODE: u32 = 0x1000;
/// QPUs that can run a program: as many as the largest V3D of this family can have.
const MOST_QPUS: u8 = 16;

/// Runs a user program in the model.
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    input: Input,
    /// Number of QPUs that run the program at a time, sharing VPM, mutex and semaphores
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_QPUS)))]
    qpus: u8,
    /// The uniforms: integers, floats (with a decimal point), separated by commas; given once for each QPU, or once for all
    #[arg(long, value_parser = uniforms, allow_hyphen_values = true)]
    uniforms: Vec<Uniforms>,
    /// Loads a file into memory: FILE@ADDRESS
    #[arg(long, value_parser = placed, value_name = "FILE@ADDRESS")]
    memory: Vec<(PathBuf, u32)>,
    /// Bytes of memory
    #[arg(long, value_parser = number, default_value = "0x100000")]
    memory_size: u32,
    /// Shows memory at the end: ADDRESS+BYTES
    #[arg(long, value_parser = range, value_name = "ADDRESS+BYTES")]
    dump: Vec<(u32, u32)>,
    /// Shows each instruction with what it changes
    #[arg(long)]
    trace: bool,
    /// Instructions after which a program is stopped
    #[arg(long, default_value_t = 10_000_000)]
    budget: u64,
}

/// The uniforms of a QPU.
#[derive(Clone, Default)]
struct Uniforms(Vec<u32>);

fn uniforms(text: &str) -> Result<Uniforms, String> {
    text.split(',').map(uniform).collect::<Result<_, _>>().map(Uniforms)
}

/// An integer, decimal or hexadecimal.
fn number(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("{text}: {error}"))
}

fn uniform(text: &str) -> Result<u32, String> {
    let text = text.trim();
    if text.contains('.') {
        return text.parse::<f32>().map(f32::to_bits).map_err(|error| format!("{text}: {error}"));
    }
    match text.strip_prefix('-') {
        Some(positive) => number(positive).map(u32::wrapping_neg),
        None => number(text),
    }
}

fn placed(text: &str) -> Result<(PathBuf, u32), String> {
    let (file, address) = text.rsplit_once('@').ok_or("expected FILE@ADDRESS")?;
    Ok((file.into(), number(address)?))
}

fn range(text: &str) -> Result<(u32, u32), String> {
    let (address, bytes) = text.split_once('+').ok_or("expected ADDRESS+BYTES")?;
    Ok((number(address)?, number(bytes)?))
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let assembly = if self.input.sources.iter().all(|path| is_source(path)) {
            let Some(assembly) = self.input.assemble()? else { return Ok(ExitCode::FAILURE) };
            show(&qpu::check::check_assembly(&assembly));
            assembly
        } else {
            let [path] = self.input.sources.as_slice() else { bail!("one file of words, or sources") };
            Assembly { words: read_words(path)?, ..Assembly::default() }
        };
        let owned = OwnedMemory::new(self.memory_size as usize);
        let memory = owned.view();
        for (path, address) in &self.memory {
            let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
            memory.write(BusAddr(*address), &bytes)?;
        }
        let launches = self.load(&assembly, memory)?;
        let mut machine = Machine::new(memory, launches.into_iter());
        let mut text = String::new();
        let named = self.qpus > 1;
        if self.trace {
            machine.run_watched(self.budget, &mut |watched| traced(&mut text, &assembly, watched, named));
        } else {
            machine.run(self.budget);
        }
        for (number, unit) in machine.units.iter().enumerate() {
            if named {
                let _ = writeln!(text, "QPU {number}");
            }
            registers(&mut text, &unit.qpu);
        }
        for (row, lanes) in machine.shared.vpm.rows().iter().enumerate() {
            register(&mut text, &format!("vpm {row}"), lanes);
        }
        for &(address, bytes) in &self.dump {
            dump(&mut text, memory, address, bytes)?;
        }
        let clean = self.summary(&mut text, &mut machine);
        write(None, text.as_bytes())?;
        Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Puts the program and the uniforms of all QPUs into memory.
    fn load(&self, assembly: &Assembly, memory: Memory<'_>) -> Result<Vec<Launch>> {
        let lists = self.uniforms.len();
        ensure!(
            lists <= 1 || lists == usize::from(self.qpus),
            "{lists} lists of uniforms for {} QPUs: give one for each, or one for all",
            self.qpus
        );
        let code: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(BusAddr(CODE), &code)?;
        let mut next = CODE + code.len() as u32;
        let none = Uniforms::default();
        let mut launches = Vec::new();
        for qpu in 0..self.qpus {
            let Uniforms(words) = self.uniforms.get(usize::from(qpu).min(lists.saturating_sub(1))).unwrap_or(&none);
            let uniforms = BusAddr(next.next_multiple_of(64));
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.write(uniforms, &bytes)?;
            next = uniforms.0 + bytes.len() as u32;
            launches.push(Launch {
                pc: BusAddr(CODE),
                uniforms,
                uniforms_limit: Some(words.len() as u32),
                qpu,
                record: Some(Work::UserProgram { qpu }),
                ..Launch::default()
            });
        }
        Ok(launches)
    }

    /// How the programs ended, and what was wrong; whether all is well.
    fn summary(&self, text: &mut String, machine: &mut Machine<'_>) -> bool {
        let mut clean = true;
        for (number, unit) in machine.units.iter_mut().enumerate() {
            if self.qpus > 1 {
                let _ = write!(text, "QPU {number}: ");
            }
            let executed = unit.qpu.executed();
            let end = match unit.exit {
                Exit::Ended => "the program ended".to_owned(),
                Exit::Stalled => format!("the program waits for ever at {:#07x}", unit.qpu.pc().0.wrapping_sub(CODE)),
                Exit::OutOfBudget => "the program was stopped: its budget is used up".to_owned(),
            };
            let _ = writeln!(text, "{executed} instructions; {end}");
            let log = unit.qpu.take_faults();
            for fault in log.faults() {
                let _ = writeln!(text, "{fault}");
            }
            clean &= unit.exit == Exit::Ended && log.faults().is_empty();
        }
        if clean {
            estimated(text, &machine.estimate());
        }
        clean
    }
}

/// Cycles and stalls, for programs that have ended.
fn estimated(text: &mut String, estimate: &Estimate) {
    let _ = writeln!(text, "{} cycles until the last one ended, as estimated", estimate.elapsed);
    let waits = Stall::ALL.into_iter().filter(|&stall| estimate.stalls.get(stall) > 0);
    let waits: Vec<String> = waits.map(|stall| format!("{} {}", stall.name(), estimate.stalls.get(stall))).collect();
    if !waits.is_empty() {
        let _ =
            writeln!(text, "{} cycles of waiting, all QPUs together: {}", estimate.stalls.total(), waits.join(", "));
    }
}

fn registers(text: &mut String, qpu: &Qpu) {
    let files =
        (FILE_A..FILE_A + 32).map(|place| (place, "ra")).chain((FILE_B..FILE_B + 32).map(|place| (place, "rb")));
    for (at, name) in files {
        register(text, &format!("{name}{}", at & 31), qpu.registers().at(at));
    }
    for n in 0..6 {
        register(text, &format!("r{n}"), qpu.registers().at(ACCUMULATORS + n as Place));
    }
    let (z, n, c) = (qpu.flags().zero, qpu.flags().negative, qpu.flags().carry);
    let _ = writeln!(text, "flags  Z {z:016b}  N {n:016b}  C {c:016b}  (element 0 is the last)");
}

fn dump(text: &mut String, memory: Memory<'_>, address: u32, bytes: u32) -> Result<()> {
    let mut content = vec![0; bytes as usize];
    memory.read(BusAddr(address), &mut content)?;
    for (n, line) in content.chunks(32).enumerate() {
        let _ = write!(text, "{:08x} ", address as usize + n * 32);
        for word in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            let _ = write!(text, " {:08x}", u32::from_le_bytes(bytes));
        }
        text.push('\n');
    }
    Ok(())
}

/// A register or row, if it is not zero.
fn register(text: &mut String, name: &str, lanes: &Lanes) {
    let Lanes(values) = lanes;
    if values.iter().all(|&value| value == 0) {
        return;
    }
    if values.iter().all(|&value| value == values[0]) {
        let value = values[0];
        let _ = writeln!(text, "{name:<6} all {value:08x} = {} = {:?}", value as i32, f32::from_bits(value));
        return;
    }
    let _ = write!(text, "{name:<6}");
    for value in values {
        let _ = write!(text, " {value:08x}");
    }
    text.push('\n');
}

/// One instruction, and the registers that it changes.
fn traced(text: &mut String, assembly: &Assembly, watched: &Watched<'_>, named: bool) {
    let at = (watched.pc.0.wrapping_sub(CODE) / INSTRUCTION_BYTES) as usize;
    let Some(&word) = assembly.words.get(at) else { return };
    if named {
        let _ = write!(text, "QPU {:<2} ", watched.number);
    }
    let _ = writeln!(text, "{:05x}  {}", at * INSTRUCTION_BYTES as usize, Instruction::decode(word));
    for (place, (old, new)) in watched.before.iter().zip(watched.after).enumerate() {
        if old == new {
            continue;
        }
        let name = match place {
            0..32 => format!("ra{place}"),
            32..64 => format!("rb{}", place - 32),
            _ => format!("r{}", place - 64),
        };
        text.push_str("         ");
        let Lanes(values) = new;
        if values.iter().all(|value| value == &0) {
            let _ = writeln!(text, "{name:<6} all 00000000");
        } else {
            register(text, &name, new);
        }
    }
}

//! `qpu run`
//!
//! The program stands at address 0x1000, the uniforms behind it; all other memory is zero but for what `--memory` loads.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use qpu::Assembly;
use v3d_hw::BusAddr;
use v3d_hw::qpu::{INSTRUCTION_BYTES, Instruction};
use v3d_sim::lanes::Lanes;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::registers::{ACCUMULATORS, FILE_A, FILE_B, Place};
use v3d_sim::qpu::user_io::{Setup, Shared, UserIo};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu};

use super::{Input, is_source, read_words, show, write};

/// Where the program stands.
const CODE: u32 = 0x1000;
/// The VPM of the boards [asurati].
const VPM_KIB: u8 = 12;

/// Runs a user program in the model.
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    input: Input,
    /// The uniforms: integers, floats (with a decimal point), separated by commas
    #[arg(long, value_delimiter = ',', value_parser = uniform, allow_hyphen_values = true)]
    uniforms: Vec<u32>,
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
    /// Instructions after which the program is stopped
    #[arg(long, default_value_t = 10_000_000)]
    budget: u64,
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
        let code: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(BusAddr(CODE), &code)?;
        let uniforms = (CODE + code.len() as u32).next_multiple_of(64);
        let words: Vec<u8> = self.uniforms.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(BusAddr(uniforms), &words)?;

        let mut shared = Shared::new(VPM_KIB);
        shared.vpm.set_window(64);
        let mut setup = Setup::default();
        let cache = CodeCache::new();
        let mut qpu = Qpu::new();
        qpu.start(&Launch {
            pc: BusAddr(CODE),
            uniforms: BusAddr(uniforms),
            uniforms_limit: Some(self.uniforms.len() as u32),
            ..Launch::default()
        });
        let mut trace = String::new();
        let mut left = self.budget;
        let exit = loop {
            let mut step = if self.trace { 1 } else { left };
            let before = qpu.registers().visible().to_vec();
            let (pc, executed) = (qpu.pc().0, qpu.executed());
            let mut io = UserIo { qpu: 0, shared: &mut shared, setup: &mut setup };
            let exit = qpu.run(&mut io, memory, &cache, &mut step);
            left = left.saturating_sub(qpu.executed() - executed);
            if self.trace {
                traced(&mut trace, &assembly, pc, &before, qpu.registers().visible());
            }
            if exit != Exit::OutOfBudget || left == 0 {
                break exit;
            }
        };

        let mut text = trace;
        for (at, name) in
            (FILE_A..FILE_A + 32).map(|place| (place, "ra")).chain((FILE_B..FILE_B + 32).map(|place| (place, "rb")))
        {
            register(&mut text, &format!("{name}{}", at & 31), qpu.registers().at(at));
        }
        for n in 0..6 {
            register(&mut text, &format!("r{n}"), qpu.registers().at(ACCUMULATORS + n as Place));
        }
        let flags = qpu.flags();
        let _ = writeln!(
            text,
            "flags  Z {:016b}  N {:016b}  C {:016b}  (element 0 is the last)",
            flags.z(),
            flags.n(),
            flags.c()
        );
        for (row, lanes) in shared.vpm.rows().iter().enumerate() {
            register(&mut text, &format!("vpm {row}"), lanes);
        }
        for &(address, bytes) in &self.dump {
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
        }
        let end = match exit {
            Exit::Ended => "ended",
            Exit::Stalled => "waits for ever",
            Exit::OutOfBudget => "was stopped: its budget is used up",
        };
        let cycles = qpu.executed() * 4;
        let _ = writeln!(text, "{} instructions, {cycles} cycles without stalls; the program {end}", qpu.executed());
        let log = qpu.take_faults();
        for fault in log.faults() {
            let _ = writeln!(text, "{fault}");
        }
        write(None, text.as_bytes())?;
        let clean = exit == Exit::Ended && log.faults().is_empty();
        Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
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
fn traced(text: &mut String, assembly: &Assembly, pc: u32, before: &[Lanes], after: &[Lanes]) {
    let at = (pc.wrapping_sub(CODE) / INSTRUCTION_BYTES) as usize;
    let Some(&word) = assembly.words.get(at) else { return };
    let _ = writeln!(text, "{:05x}  {}", at * INSTRUCTION_BYTES as usize, Instruction::decode(word));
    for (place, (old, new)) in before.iter().zip(after).enumerate() {
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

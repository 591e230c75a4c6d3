//! `qpu run`
//!
//! Traces and faults report addresses as offsets from the start of the program.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use qpu::Assembly;
use v3d_hw::BusAddr;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_sim::fault::{Fault, FaultLog};
use v3d_sim::memory::Memory;
use v3d_sim::qpu::isa::registers::{ACCUMULATORS, FILE_A, FILE_B, RegisterIndex};
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::{Exit, Qpu};
use v3d_sim::timing::{Estimate, Stall};

use super::{Input, write};

mod machine;
pub(super) mod placement;

use machine::{Machine, Watched};
use placement::{Placement, number, program};

/// Maximum number of QPUs: that of the largest V3D of this family.
const MAX_QPUS: u8 = 16;

/// Runs a user program in the model.
#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    input: Input,
    /// Number of QPUs that run the program at a time, sharing VPM, mutex and semaphores
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_QPUS)))]
    qpus: u8,
    #[command(flatten)]
    placement: Placement,
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

fn range(text: &str) -> Result<(u32, u32), String> {
    let (address, bytes) = text.split_once('+').ok_or("expected ADDRESS+BYTES")?;
    Ok((number(address)?, number(bytes)?))
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Some(assembly) = program(&self.input)? else { return Ok(ExitCode::FAILURE) };
        let (owned, launches) = self.placement.load(&assembly, self.qpus)?;
        let memory = owned.view();
        let code = launches.first().map_or(BusAddr(0), |launch| launch.pc);
        let mut machine = Machine::new(memory, launches.into_iter());
        let mut text = String::new();
        let named = self.qpus > 1;
        if self.trace {
            machine.run_watched(self.budget, &mut |watched| traced(&mut text, &assembly, watched, code, named));
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
        let clean = self.summary(&mut text, &mut machine, code);
        write(None, text.as_bytes())?;
        Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Prints exits and faults; returns whether there was no fault.
    fn summary(&self, text: &mut String, machine: &mut Machine<'_>, code: BusAddr) -> bool {
        let mut clean = true;
        for (number, unit) in machine.units.iter_mut().enumerate() {
            if self.qpus > 1 {
                let _ = write!(text, "QPU {number}: ");
            }
            let executed = unit.qpu.executed();
            let end = match unit.exit {
                Exit::Ended => "the program ended".to_owned(),
                Exit::Stalled => format!("the program waits for ever at {}", place(unit.qpu.pc(), code)),
                Exit::OutOfBudget => "the program was stopped: its budget is used up".to_owned(),
            };
            let _ = writeln!(text, "{executed} instructions; {end}");
            let log = unit.qpu.take_faults();
            faults(text, &log, code);
            clean &= unit.exit == Exit::Ended && log.faults().is_empty();
        }
        if clean {
            estimated(text, &machine.estimate());
        }
        clean
    }
}

/// An address as offset from the start of the program.
fn place(pc: BusAddr, code: BusAddr) -> String {
    format!("{:#07x}", pc.0.wrapping_sub(code.0))
}

/// Prints the faults. Faults of one instruction that differ only in numbers, such as those of the rows of a DMA, are printed once.
fn faults(text: &mut String, log: &FaultLog, code: BusAddr) {
    let kind = |fault: &Fault| match fault {
        Fault::Qpu(fault) => (Some(fault.pc), without_numbers(&fault.error.to_string())),
        other => (None, without_numbers(&other.to_string())),
    };
    let mut kinds: Vec<(_, &Fault, usize)> = Vec::new();
    for fault in log.faults() {
        let kind = kind(fault);
        match kinds.iter_mut().find(|(other, ..)| *other == kind) {
            Some((.., times)) => *times += 1,
            None => kinds.push((kind, fault, 1)),
        }
    }
    for (_, fault, times) in &kinds {
        let _ = match fault {
            Fault::Qpu(fault) => write!(text, "fault at {}: {}", place(fault.pc, code), fault.error),
            other => write!(text, "fault: {other}"),
        };
        let _ = match times {
            1 => writeln!(text),
            _ => writeln!(text, " (and {} more like it)", times - 1),
        };
    }
    let kept = log.faults().len() as u64;
    if log.total() > kept {
        let _ = writeln!(
            text,
            "{} faults in all; repeated ones and those after the first {kept} are not told",
            log.total()
        );
    }
}

/// A message with all numbers removed.
fn without_numbers(sentence: &str) -> String {
    let number = |word: &&str| !word.starts_with(|first: char| first.is_ascii_digit());
    sentence.split(' ').filter(number).collect::<Vec<_>>().join(" ")
}

/// Cycles and stalls, for programs that ran to their end.
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
        register(text, &format!("r{n}"), qpu.registers().at(ACCUMULATORS + n as RegisterIndex));
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
fn traced(text: &mut String, assembly: &Assembly, watched: &Watched<'_>, code: BusAddr, named: bool) {
    let at = (watched.pc.0.wrapping_sub(code.0) / INSTRUCTION_BYTES) as usize;
    let Some(&word) = assembly.words.get(at) else { return };
    if named {
        let _ = write!(text, "QPU {:<2} ", watched.number);
    }
    let _ = writeln!(text, "{}  {}", place(watched.pc, code), qpu_text::Text(word));
    for (place, (old, new)) in watched.before.iter().zip(watched.after).enumerate() {
        if old == new {
            continue;
        }
        let name = match place {
            0..32 => format!("ra{place}"),
            32..64 => format!("rb{}", place - 32),
            _ => format!("r{}", place - 64),
        };
        text.push_str("           ");
        let Lanes(values) = new;
        if values.iter().all(|value| value == &0) {
            let _ = writeln!(text, "{name:<6} all 00000000");
        } else {
            register(text, &name, new);
        }
    }
}

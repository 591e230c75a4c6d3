//! The register block as the guest sees it: the model, its faults and its trace.
//!
//! The model executes everything that a register write starts before the write returns, so the interrupt line can only change at a register access, and
//! checking it once after each access suffices.

use crate::options::Options;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use v3d_sim::memory::Memory;
use v3d_sim::{Config, Register, V3d};

/// The model, and the outputs of its faults and trace.
pub(crate) struct Device {
    v3d: V3d,
    faults: Box<dyn Write + Send>,
    trace: Option<Box<dyn Write + Send>>,
}

impl Device {
    /// A V3D after power-on. Fails if a file of `options` cannot be created.
    pub(crate) fn new(options: &Options) -> io::Result<Self> {
        let default = Config::default();
        let instruction_budget = options.budget.unwrap_or(default.instruction_budget);
        let config = Config { check_coherence: options.coherence, instruction_budget, ..default };
        Ok(Self {
            v3d: V3d::new(config),
            faults: match &options.faults {
                Some(path) => Box::new(File::create(path)?),
                None => Box::new(io::stderr()),
            },
            trace: match &options.trace {
                Some(path) => Some(Box::new(File::create(path)?)),
                None => None,
            },
        })
    }

    /// A guest load of the register at byte `offset` of the block, when vCPU 0 has executed `instructions`.
    pub(crate) fn read(&mut self, memory: &Memory<'_>, instructions: u64, offset: u32) -> u32 {
        let value = self.v3d.read(memory, offset);
        self.record(instructions, offset, "->", value);
        value
    }

    /// A guest store to the register at byte `offset` of the block, when vCPU 0 has executed `instructions`.
    pub(crate) fn write(&mut self, memory: &Memory<'_>, instructions: u64, offset: u32, value: u32) {
        self.record(instructions, offset, "<-", value);
        self.v3d.write(memory, offset, value);
    }

    /// Sets what the CPU caches: its tables may have changed since the last start.
    pub(crate) fn set_cpu_cached(&mut self, cached: Vec<Range<u64>>) {
        self.v3d.set_cpu_cached(cached);
    }

    /// The current level of the V3D's interrupt line.
    pub(crate) fn interrupt(&self) -> bool {
        self.v3d.interrupt()
    }

    /// Returns the V3D to its state after power-on.
    pub(crate) fn reset(&mut self) {
        self.v3d.reset();
    }

    fn record(&mut self, instructions: u64, offset: u32, direction: &str, value: u32) {
        if let Some(trace) = &mut self.trace {
            let name = Register::from_offset(offset).map_or_else(|| format!("+{offset:#x}"), |it| it.name().to_owned());
            // A full disk must not stop the guest: the trace is then incomplete.
            let _ = writeln!(trace, "{instructions} {name} {direction} {value:#010x}");
        }
    }

    /// Writes the faults that the model has reported since the last call to the faults' file.
    pub(crate) fn report_faults(&mut self) {
        for fault in self.v3d.take_faults() {
            self.write_line(fault.kind(), &fault);
        }
    }

    /// Writes a fault that the model does not know of to the faults' file.
    pub(crate) fn tell(&mut self, fault: &dyn Display) {
        self.write_line("fault", fault);
    }

    fn write_line(&mut self, kind: &str, fault: &dyn Display) {
        if let Err(error) = writeln!(self.faults, "v3d {kind}: {fault}") {
            eprintln!("v3d {kind}: {fault} (and its file cannot be written: {error})");
        }
    }
}

//! The register block: what software reads and writes [AG section 10].

use crate::fault::{Fault, FaultLog};
use crate::memory::Memory;
use v3d_hw::registers::{IDENT0_VALUE, Register};

/// What varies between V3D configurations; the default is the Pi's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Slices.
    pub slices: u8,
    /// QPUs in each slice.
    pub qpus_per_slice: u8,
    /// VPM size in KiB.
    pub vpm_kib: u8,
    /// Most instructions that one start of a list or program may execute before it counts as hung.
    pub instruction_budget: u64,
    /// Most control records that one start of a list may execute before it counts as hung.
    pub record_budget: u64,
    /// Render tiles on several host threads.
    pub parallel: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            slices: 3,
            qpus_per_slice: 4,
            vpm_kib: 12,
            instruction_budget: 20_000_000_000,
            record_budget: 100_000_000,
            parallel: true,
        }
    }
}

/// The V3D as software sees it.
#[derive(Debug)]
pub struct V3d {
    config: Config,
    faults: FaultLog,
}

impl V3d {
    /// A V3D just after reset.
    pub fn new(config: Config) -> Self {
        Self { config, faults: FaultLog::default() }
    }

    /// Reads the register at a byte offset.
    pub fn read(&mut self, memory: &Memory<'_>, offset: u32) -> u32 {
        let _ = (memory, self.config);
        match Register::from_offset(offset) {
            Some(Register::IDENT0) => IDENT0_VALUE,
            _ => 0,
        }
    }

    /// Writes the register at a byte offset and executes what the write starts.
    pub fn write(&mut self, memory: &Memory<'_>, offset: u32, value: u32) {
        let _ = (memory, offset, value);
    }

    /// The level of the interrupt line.
    pub fn interrupt(&self) -> bool {
        false
    }

    /// Takes the faults that have been reported since the last call.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.faults.take()
    }
}

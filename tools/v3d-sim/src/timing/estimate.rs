//! Results of the timing model: cycles, stalls, and counts of caches and memory.

use super::caches::Lookups;
use super::memory::Traffic;
use std::collections::BTreeMap;

/// What a QPU waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    /// A result of a TMU, or an entry of its request FIFO.
    Tmu,
    /// An earlier fragment of the same pixels.
    Scoreboard,
    /// The interpolation of a varying.
    Varyings,
    /// A uniform.
    Uniforms,
    /// An instruction that is not in the cache.
    Instructions,
    /// The VPM or its DMA.
    Vpm,
    /// The mutex or a semaphore.
    Synchronisation,
}

impl Stall {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Tmu,
        Self::Scoreboard,
        Self::Varyings,
        Self::Uniforms,
        Self::Instructions,
        Self::Vpm,
        Self::Synchronisation,
    ];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tmu => "TMU",
            Self::Scoreboard => "scoreboard",
            Self::Varyings => "varyings",
            Self::Uniforms => "uniforms",
            Self::Instructions => "instructions",
            Self::Vpm => "VPM",
            Self::Synchronisation => "mutex, semaphores",
        }
    }
}

/// Cycles of waiting, by what is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls([u64; Stall::ALL.len()]);

impl Stalls {
    /// Cycles of one kind of stall.
    pub fn get(&self, stall: Stall) -> u64 {
        self.0.get(stall as usize).copied().unwrap_or(0)
    }

    /// Cycles of all stalls.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds another's cycles.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(cycles, more)| *cycles += more);
    }

    pub(super) fn add(&mut self, stall: Stall, cycles: u64) {
        if let Some(sum) = self.0.get_mut(stall as usize) {
            *sum += cycles;
        }
    }
}

/// Number of slices and QPUs, and the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Slices.
    pub slices: u8,
    /// QPUs of each slice.
    pub qpus_per_slice: u8,
    /// Clock in MHz. Costs are in cycles of it, except for those of the SDRAM.
    pub clock_mhz: u32,
}

impl Default for Machine {
    /// The Pi's, at the clock that its firmware names. A Raspberry Pi Zero W whose firmware says so too was measured at 300 MHz [bm].
    fn default() -> Self {
        Self { slices: 3, qpus_per_slice: 4, clock_mhz: 250 }
    }
}

/// Busy cycles of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCycles {
    /// All TMUs together.
    pub tmus: u64,
    /// The VPM's port.
    pub vpm: u64,
    /// VCD and VDR: from memory to the VPM.
    pub loads: u64,
    /// VDW: from the VPM to memory.
    pub stores: u64,
    /// The PTB: writing primitives to tile lists.
    pub ptb: u64,
    /// The PSE: setting up primitives.
    pub pse: u64,
    /// The TLB: loading and storing tiles.
    pub tlb: u64,
}

impl UnitCycles {
    /// Adds another's cycles.
    pub const fn merge(&mut self, other: &Self) {
        let Self { tmus, vpm, loads, stores, ptb, pse, tlb } = other;
        self.tmus += *tmus;
        self.vpm += *vpm;
        self.loads += *loads;
        self.stores += *stores;
        self.ptb += *ptb;
        self.pse += *pse;
        self.tlb += *tlb;
    }
}

/// The estimate since the last one was taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Cycles from the start to the end of all work.
    pub elapsed: u64,
    /// Busy cycles of units.
    pub units: UnitCycles,
    /// Cycles in which QPUs were idle, all QPUs together.
    pub idle: u64,
    /// Cycles in which QPUs were stalled, all QPUs together.
    pub stalls: Stalls,
    /// Of these, in vertex and coordinate shaders.
    pub vertex_stalls: u64,
    /// Of these, in fragment shaders.
    pub fragment_stalls: u64,
    /// Instructions fetched from the instruction caches, misses included.
    pub instruction_fetches: u64,
    /// Uniforms fetched from the uniforms caches, misses included.
    pub uniform_fetches: u64,
    /// Misses of the caches, and where the lines were found.
    pub lookups: Lookups,
    /// Traffic of the SDRAM.
    pub traffic: Traffic,
    /// Cycles in which the VDW waited for the VPM.
    pub vdw_stalls: u64,
    /// Cycles in which the VCD waited for the VPM.
    pub vcd_stalls: u64,
    /// For each program, by its address: the cycles in which it occupied QPUs, and the stalls among them.
    pub programs: BTreeMap<u32, (u64, Stalls)>,
    /// For each instruction, by its address, if they are counted.
    pub instructions: BTreeMap<u32, InstructionCost>,
}

/// What an instruction costs, beside its own cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCost {
    /// How often it was executed, each time for 16 elements.
    pub executed: u64,
    /// Cycles of waiting for what it reads, starts or needs before it.
    pub stalls: Stalls,
}

impl InstructionCost {
    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        self.executed += other.executed;
        self.stalls.merge(&other.stalls);
    }
}

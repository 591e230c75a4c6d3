//! Counters: the 30 sources of the performance counters [AG p.97], and counts for each program and tile.
//!
//! Every unit adds to its own sources; the registers PCTRn show those that they are mapped to. Cycles, stalls and cache hits come from the
//! [`TimingModel`]; without one they are 0. The cycles of a program without stalls are always counted. Counts for programs and tiles serve people:
//! the hardware has nothing of the kind.

use crate::Config;
use crate::timing::memory::Traffic;
use crate::timing::trace::{Trace, Work};
use crate::timing::{Estimate, InstructionCost, Machine, Stall, Stalls, TimingModel, UnitCycles, costs};
use std::collections::BTreeMap;
use v3d_hw::BusAddr;
use v3d_hw::registers::performance::CounterSource;

/// Number of sources.
pub const SOURCES: usize = CounterSource::ALL.len();

/// Counts for a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramEvents {
    /// Invocations, each for 16 elements.
    pub starts: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Quads of its texture and memory lookups.
    pub tmu_quads: u64,
    /// Estimated clock cycles in which it occupied QPUs; 0 without the timing model.
    pub cycles: u64,
    /// The stalls among them.
    pub stalls: Stalls,
}

/// Counts for a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileEvents {
    /// Primitive lists that were drawn.
    pub lists: u64,
    /// Primitives in them.
    pub primitives: u64,
    /// Quads that the rasteriser found.
    pub quads: u64,
    /// Pixels that were shaded, once for each primitive that covers them.
    pub pixels: u64,
    /// Instructions of fragment shaders.
    pub instructions: u64,
}

/// Estimated cycles in which units were busy. Of QPUs and TMUs, the mean of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyCycles {
    /// QPUs: executing instructions.
    pub qpus: u64,
    /// PTB: writing primitives to tile lists.
    pub ptb: u64,
    /// PSE: setting up primitives.
    pub pse: u64,
    /// FEP: rasterising.
    pub fep: u64,
    /// TLB: loading and storing tiles.
    pub tlb: u64,
    /// TMUs.
    pub tmus: u64,
    /// The VPM's port.
    pub vpm: u64,
    /// VCD and VDR: from memory to the VPM.
    pub loads: u64,
    /// VDW: from the VPM to memory.
    pub stores: u64,
    /// The memory, for caches and DMA.
    pub memory: u64,
}

/// All counts so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    sources: [u64; SOURCES],
    programs: BTreeMap<u32, ProgramEvents>,
    tiles: BTreeMap<(u8, u8), TileEvents>,
    instructions: BTreeMap<u32, InstructionCost>,
    /// Work for the timing model of the counters that these will be merged with.
    work: Vec<Work>,
    timing: Option<Box<TimingModel>>,
    elapsed: u64,
    units: UnitCycles,
    traffic: Traffic,
    tile_bytes_stored: u64,
    primitives: u64,
}

/// Whether the timing model counts a source, wholly or in part.
pub const fn needs_timing(source: CounterSource) -> bool {
    !matches!(source.code(), 0..=12 | 16 | 24)
}

impl Counters {
    /// Counts `events` events of a source.
    #[inline]
    pub fn add(&mut self, source: CounterSource, events: u64) {
        if let Some(count) = self.sources.get_mut(usize::from(source.code())) {
            *count = count.wrapping_add(events);
        }
    }

    /// Events of a source; 0 for sources that do not exist.
    pub fn get(&self, source: CounterSource) -> u64 {
        self.sources.get(usize::from(source.code())).copied().unwrap_or(0)
    }

    /// Counts events of the program at an address.
    pub fn add_program(&mut self, code: BusAddr, events: ProgramEvents) {
        self.programs.entry(code.0).or_default().merge(&events);
    }

    /// Counts a run of the program at an address: invocations, instructions, and quads of lookups.
    #[inline]
    pub fn add_run(&mut self, code: BusAddr, starts: u64, instructions: u64, tmu_quads: u64) {
        // An entry would reserve room for one more program first.
        let events = match self.programs.get_mut(&code.0) {
            Some(events) => events,
            None => self.programs.entry(code.0).or_default(),
        };
        events.starts = events.starts.wrapping_add(starts);
        events.instructions = events.instructions.wrapping_add(instructions);
        events.tmu_quads = events.tmu_quads.wrapping_add(tmu_quads);
    }

    /// Programs that were started, by the address of their code.
    pub fn programs(&self) -> impl Iterator<Item = (BusAddr, &ProgramEvents)> {
        self.programs.iter().map(|(&code, events)| (BusAddr(code), events))
    }

    /// Estimated costs of instructions, by their addresses, if `estimate_instructions` of [`Config`] is set.
    pub fn instructions(&self) -> impl Iterator<Item = (BusAddr, &InstructionCost)> {
        self.instructions.iter().map(|(&at, cost)| (BusAddr(at), cost))
    }

    /// Counts events of a tile, given as column and row.
    pub fn add_tile(&mut self, tile: (u8, u8), events: TileEvents) {
        self.tiles.entry(tile).or_default().merge(&events);
    }

    /// Tiles that something was drawn in, by column and row.
    pub fn tiles(&self) -> impl Iterator<Item = ((u8, u8), &TileEvents)> {
        self.tiles.iter().map(|(&tile, events)| (tile, events))
    }

    /// Counts bytes written by a tile store.
    pub const fn add_tile_store(&mut self, bytes: u64) {
        self.tile_bytes_stored += bytes;
    }

    /// Bytes written by tile stores.
    pub const fn tile_bytes_stored(&self) -> u64 {
        self.tile_bytes_stored
    }

    /// Counts primitives of a primitive record.
    pub const fn add_primitives(&mut self, primitives: usize) {
        self.primitives += primitives as u64;
    }

    /// Primitives of primitive records, each once, in however many tile lists it is.
    pub const fn primitives(&self) -> u64 {
        self.primitives
    }

    /// Starts the timing model, with empty caches.
    pub fn start_timing(&mut self, machine: Machine) {
        self.timing = Some(Box::new(TimingModel::new(machine)));
    }

    /// Stops the timing model.
    pub fn stop_timing(&mut self) {
        self.settle();
        self.timing = None;
    }

    /// Whether the timing model runs, so that programs leave traces.
    pub const fn has_timing(&self) -> bool {
        self.timing.is_some()
    }

    /// The timing model, after all traces so far.
    pub fn timing_mut(&mut self) -> Option<&mut TimingModel> {
        self.settle();
        self.timing.as_deref_mut()
    }

    /// Estimated clock cycles in which QPUs were not all idle, as far as settled.
    pub const fn elapsed_cycles(&self) -> u64 {
        self.elapsed
    }

    /// Estimated busy cycles of all units, as far as settled.
    pub fn busy_cycles(&self) -> BusyCycles {
        let Config { slices, qpus_per_slice, .. } = Config::default();
        let (slices, qpus) = (u64::from(slices), u64::from(slices) * u64::from(qpus_per_slice));
        let UnitCycles { tmus, vpm, loads, stores, ptb, pse, tlb } = self.units;
        BusyCycles {
            qpus: self.get(CounterSource::QpuInstructionCycles) / qpus,
            ptb,
            pse,
            fep: self.get(CounterSource::FepQuads) * costs::FEP_QUAD,
            tlb,
            // Each slice has two.
            tmus: tmus / (2 * slices),
            vpm,
            loads,
            stores,
            memory: self.traffic.busy,
        }
    }

    /// Estimated memory traffic of the caches and of DMA by programs, as far as settled.
    pub const fn memory_traffic(&self) -> Traffic {
        self.traffic
    }

    /// Takes a trace.
    pub fn add_trace(&mut self, trace: Trace) {
        self.add_work(Work::Program(trace));
    }

    /// Takes work for the timing model.
    pub fn add_work(&mut self, work: Work) {
        match &mut self.timing {
            Some(timing) => timing.submit_work(work),
            None => self.work.push(work),
        }
    }

    /// Takes the work that no timing model has seen yet.
    pub fn take_work(&mut self) -> Vec<Work> {
        std::mem::take(&mut self.work)
    }

    /// Advances the timing model as far as the parts of its traces allow.
    pub fn advance_timing(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.advance();
        }
    }

    /// Takes the traces that no timing model has seen yet, and drops other work.
    pub fn take_traces(&mut self) -> Vec<Trace> {
        let traces = self.take_work().into_iter().filter_map(|work| match work {
            Work::Program(trace) => Some(trace),
            Work::Binned(_) | Work::Move(_) => None,
        });
        traces.collect()
    }

    /// Advances the timing model through all traces, and counts its estimate.
    pub fn settle(&mut self) {
        let Some(timing) = &mut self.timing else { return };
        let Estimate {
            elapsed,
            units,
            idle,
            stalls,
            vertex_stalls,
            fragment_stalls,
            instruction_fetches,
            uniform_fetches,
            lookups,
            traffic,
            vdw_stalls,
            vcd_stalls,
            programs,
            instructions,
        } = timing.take_estimate();
        for (at, cost) in instructions {
            self.instructions.entry(at).or_default().merge(&cost);
        }
        self.elapsed += elapsed;
        self.units.merge(&units);
        self.traffic.merge(&traffic);
        for (source, events) in [
            (CounterSource::QpuIdleCycles, idle),
            (CounterSource::QpuVertexCycles, vertex_stalls),
            (CounterSource::QpuFragmentCycles, fragment_stalls),
            (CounterSource::QpuTmuStallCycles, stalls.get(Stall::Tmu)),
            (CounterSource::QpuScoreboardStallCycles, stalls.get(Stall::Scoreboard)),
            (CounterSource::QpuVaryingsStallCycles, stalls.get(Stall::Varyings)),
            // As on boards, each access is a "hit", those that miss included [imrc QI3].
            (CounterSource::InstructionCacheHits, instruction_fetches),
            (CounterSource::InstructionCacheMisses, lookups.instruction_misses),
            (CounterSource::UniformsCacheHits, uniform_fetches),
            (CounterSource::UniformsCacheMisses, lookups.uniform_misses),
            (CounterSource::TmuCacheMisses, lookups.texture_misses),
            (CounterSource::VdwStallCycles, vdw_stalls),
            (CounterSource::VcdStallCycles, vcd_stalls),
            (CounterSource::L2CacheHits, lookups.l2_hits),
            (CounterSource::L2CacheMisses, lookups.l2_misses),
        ] {
            self.add(source, events);
        }
        for (code, (cycles, stalls)) in programs {
            self.add_program(BusAddr(code), ProgramEvents { cycles, stalls, ..ProgramEvents::default() });
        }
    }

    /// Adds another set's counts, and hands its work to the timing model.
    pub fn merge(&mut self, other: Self) {
        other.work.into_iter().for_each(|work| self.add_work(work));
        self.elapsed += other.elapsed;
        self.units.merge(&other.units);
        self.traffic.merge(&other.traffic);
        self.tile_bytes_stored += other.tile_bytes_stored;
        self.primitives += other.primitives;
        for (count, more) in self.sources.iter_mut().zip(other.sources) {
            *count = count.wrapping_add(more);
        }
        for (code, events) in other.programs {
            self.add_program(BusAddr(code), events);
        }
        for (tile, events) in other.tiles {
            self.add_tile(tile, events);
        }
        for (at, cost) in other.instructions {
            self.instructions.entry(at).or_default().merge(&cost);
        }
    }
}

impl ProgramEvents {
    fn merge(&mut self, other: &Self) {
        let Self { starts, instructions, tmu_quads, cycles, stalls } = other;
        self.starts = self.starts.wrapping_add(*starts);
        self.instructions = self.instructions.wrapping_add(*instructions);
        self.tmu_quads = self.tmu_quads.wrapping_add(*tmu_quads);
        self.cycles = self.cycles.wrapping_add(*cycles);
        self.stalls.merge(stalls);
    }
}

impl TileEvents {
    fn merge(&mut self, other: &Self) {
        let Self { lists, primitives, quads, pixels, instructions } = other;
        self.lists = self.lists.wrapping_add(*lists);
        self.primitives = self.primitives.wrapping_add(*primitives);
        self.quads = self.quads.wrapping_add(*quads);
        self.pixels = self.pixels.wrapping_add(*pixels);
        self.instructions = self.instructions.wrapping_add(*instructions);
    }
}

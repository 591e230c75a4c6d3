//! What is counted: the 30 sources of the performance counters [AG p.97], and what each program and tile took part in.
//!
//! Every unit adds to its own sources; the registers PCTRn take what they are mapped to. Programs and tiles are counted for people: the hardware
//! has nothing of the kind.

use std::collections::BTreeMap;
use v3d_hw::BusAddr;
use v3d_hw::registers::performance::CounterSource;

/// Number of sources.
pub const SOURCES: usize = CounterSource::ALL.len();

/// What was done with a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramEvents {
    /// How often it was started, each time for 16 elements.
    pub starts: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Quads of its texture and memory lookups.
    pub tmu_quads: u64,
}

/// What was done in a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileEvents {
    /// Lists of primitives that were drawn.
    pub lists: u64,
    /// Primitives in them.
    pub primitives: u64,
    /// Quads that the rasteriser found.
    pub quads: u64,
    /// Pixels that were shaded, each once for each primitive that covers it.
    pub pixels: u64,
    /// Instructions of fragment shaders.
    pub instructions: u64,
}

/// Events counted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    sources: [u64; SOURCES],
    programs: BTreeMap<u32, ProgramEvents>,
    tiles: BTreeMap<(u8, u8), TileEvents>,
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

    /// Counts what was done with the program at an address.
    pub fn add_program(&mut self, code: BusAddr, events: ProgramEvents) {
        self.programs.entry(code.0).or_default().merge(&events);
    }

    /// Programs that were started, by the address of their code.
    pub fn programs(&self) -> impl Iterator<Item = (BusAddr, &ProgramEvents)> {
        self.programs.iter().map(|(&code, events)| (BusAddr(code), events))
    }

    /// Counts what was done in a tile, given as column and row.
    pub fn add_tile(&mut self, tile: (u8, u8), events: TileEvents) {
        self.tiles.entry(tile).or_default().merge(&events);
    }

    /// Tiles that something was drawn in, by column and row.
    pub fn tiles(&self) -> impl Iterator<Item = ((u8, u8), &TileEvents)> {
        self.tiles.iter().map(|(&tile, events)| (tile, events))
    }

    /// Adds all that another set has counted.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.sources.iter_mut().zip(other.sources) {
            *count = count.wrapping_add(more);
        }
        for (&code, events) in &other.programs {
            self.add_program(BusAddr(code), *events);
        }
        for (&tile, events) in &other.tiles {
            self.add_tile(tile, *events);
        }
    }
}

impl ProgramEvents {
    fn merge(&mut self, other: &Self) {
        let Self { starts, instructions, tmu_quads } = other;
        self.starts = self.starts.wrapping_add(*starts);
        self.instructions = self.instructions.wrapping_add(*instructions);
        self.tmu_quads = self.tmu_quads.wrapping_add(*tmu_quads);
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

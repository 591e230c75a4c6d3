//! Traces: the events of one invocation of a program that take time.
//!
//! A trace contains no values, only the accesses of the program in their order. Timing is therefore computed after the results, and cannot change them.

use super::costs::LINE_BYTES;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_hw::vpm::{LoadSetup, LoadStrideSetup, ReadSetupWord, StoreSetup, StoreStrideSetup, WriteSetupWord};
use v3d_hw::{BusAddr, Layout};

/// Maximum number of events kept of one invocation; the time of later ones is extrapolated.
const MAX_EVENTS: usize = 1 << 18;
/// The number of events of a user program that are passed on before the program ends.
pub const PART_EVENTS: usize = 1 << 14;
/// Maximum number of instructions that one event stands for: other programs may be delayed by as many.
const MAX_EVENT_INSTRUCTIONS: u32 = 32;

/// What a program is invoked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocation {
    /// Shades 16 vertices for binning.
    Coordinates {
        /// Lines of memory that the VCD fetches first, those of each vertex counted separately.
        lines: u32,
    },
    /// Shades 16 vertices for rendering.
    Vertices {
        /// Lines of memory that the VCD fetches first, those of each vertex counted separately.
        lines: u32,
    },
    /// Shades four quads.
    Fragments {
        /// Identifiers of quads, equal for the same quad of the same tile. [`Invocation::NO_QUAD`] where there is none.
        quads: [u32; 4],
        /// Varyings of each fragment.
        varyings: u32,
        /// Whether two of these programs share a QPU.
        threaded: bool,
        /// What led to the batch.
        front: FrontWork,
    },
    /// Runs a user program on a QPU that the QPS has chosen.
    UserProgram {
        /// Number of the QPU.
        qpu: u8,
    },
}

/// Work of the units in front of the QPUs since the last batch, or since the tile buffer was last loaded or stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontWork {
    /// Lines of memory that the VCD fetches for vertices that need no shading, those of each vertex counted separately.
    pub lines: u32,
    /// Primitives that the PSE sets up.
    pub primitives: u32,
    /// Quads that the rasteriser finds: those of the batch, and hidden ones.
    pub quads: u32,
}

/// A load or store of the tile buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileMove {
    /// Primitives behind the last batch, of which nothing is visible.
    pub front: FrontWork,
    /// Quads of pixels, or of samples where each sample is moved.
    pub quads: u32,
    /// Contiguous pieces of memory that a load reads; 0 for a store.
    pub pieces: u32,
    /// The next tile uses the other half of a double-buffered tile buffer.
    pub swap: bool,
}

/// Primitives that have been binned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binned {
    /// Lines of memory that the VCD fetches for vertices that need no shading, those of each vertex counted separately.
    pub lines: u32,
    /// Primitives in tile lists, counted in each tile.
    pub entries: u32,
}

/// What the timing model is given, in the order of execution.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// A program has been executed.
    Program(Trace),
    /// Primitives have been binned.
    Binned(Binned),
    /// The tile buffer has been loaded or stored.
    Move(TileMove),
}

impl Invocation {
    /// No quad.
    pub const NO_QUAD: u32 = u32::MAX;

    /// What led to it.
    pub(super) const fn front(&self) -> FrontWork {
        match self {
            Self::Fragments { front, .. } => *front,
            _ => FrontWork { lines: 0, primitives: 0, quads: 0 },
        }
    }

    /// Whether it shades vertices.
    pub const fn is_vertices(&self) -> bool {
        matches!(self, Self::Coordinates { .. } | Self::Vertices { .. })
    }
}

/// A direction of VPM DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dma {
    /// VCD: from memory to the VPM.
    Load,
    /// VDW: from the VPM to memory.
    Store,
}

/// A transfer of VPM DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bus address of its first row.
    pub address: u32,
    /// Rows in memory.
    pub rows: u32,
    /// Bytes of a row.
    pub row_bytes: u32,
    /// Bytes from the start of a row to the start of the next.
    pub pitch_bytes: u32,
}

/// An event that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Instructions at successive addresses.
    Instructions {
        /// Address of the first.
        at: u32,
        /// How many.
        count: u32,
    },
    /// A uniform is read.
    Uniform,
    /// The stream of uniforms continues at another address.
    UniformsAddress(u32),
    /// A varying is read.
    Varying,
    /// A TMU is asked for a lookup.
    TmuRequest {
        /// Number of the TMU in the program.
        unit: u8,
        /// Whether QPUs 2 and 3 of a slice use the other one [AG p.40].
        swaps: bool,
        /// How many of the trace's lines the lookup touches.
        lines: u16,
    },
    /// A result of a TMU is taken.
    TmuLoad(u8),
    /// The tile buffer is about to be accessed.
    ScoreboardWait,
    /// The tile buffer is not accessed any more.
    ScoreboardUnlock,
    /// The other thread goes on.
    ThreadSwitch,
    /// Vectors of the VPM are requested.
    VpmReadSetup,
    /// A vector of the VPM is read.
    VpmRead,
    /// A vector is written to the VPM.
    VpmWrite,
    /// VPM DMA is started: the next of the trace's transfers.
    Dma(Dma),
    /// The end of VPM DMA is waited for.
    DmaWait(Dma),
    /// The mutex is taken.
    MutexAcquire,
    /// The mutex is released.
    MutexRelease,
    /// A semaphore is counted up or down.
    Semaphore {
        /// Which.
        number: u8,
        /// Down, else up.
        decrement: bool,
    },
}

/// The events of one invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Address of the program.
    pub program: BusAddr,
    /// Address of its uniforms.
    pub uniforms: u32,
    /// What the program was invoked for.
    pub invocation: Invocation,
    /// Its events, in order.
    pub(super) events: Vec<Event>,
    /// Bus addresses of the lines that its lookups touch, in order.
    pub(super) lines: Vec<u32>,
    /// Its DMA transfers, in order.
    pub(super) transfers: Vec<Transfer>,
    /// Instructions after the last event that is kept.
    pub(super) rest: u64,
    /// Continues an earlier part.
    pub(super) continues: bool,
    /// The program has not ended: another part will come.
    pub(super) is_open: bool,
    load: (LoadSetup, LoadStrideSetup),
    store: (StoreSetup, StoreStrideSetup),
    /// Instructions of discarded events.
    dropped: u64,
}

impl Trace {
    /// A program that has not executed anything yet.
    pub fn new(program: BusAddr, uniforms: BusAddr, invocation: Invocation) -> Self {
        Self {
            program,
            uniforms: uniforms.0,
            invocation,
            events: Vec::new(),
            lines: Vec::new(),
            transfers: Vec::new(),
            rest: 0,
            continues: false,
            is_open: false,
            load: (LoadSetup::from_word(0), LoadStrideSetup::from_word(0)),
            store: (StoreSetup::from_word(0), StoreStrideSetup::from_word(0)),
            dropped: 0,
        }
    }

    /// The same program on another batch of vertices.
    pub fn for_vertices(&self, lines: u32) -> Self {
        let invocation = match self.invocation {
            Invocation::Coordinates { .. } => Invocation::Coordinates { lines },
            Invocation::Vertices { .. } => Invocation::Vertices { lines },
            other => other,
        };
        Self { invocation, ..self.clone() }
    }

    /// Takes the events since the last part as a new part; the next part begins here.
    pub fn take_part(&mut self) -> Self {
        let next = Self {
            events: Vec::new(),
            lines: Vec::new(),
            transfers: Vec::new(),
            rest: 0,
            continues: true,
            dropped: 0,
            ..*self
        };
        Self { is_open: true, ..std::mem::replace(self, next) }
    }

    /// Appends the next part. Of events beyond the maximum only the instructions are counted.
    pub(super) fn append(&mut self, part: Self) {
        self.is_open = part.is_open;
        if self.rest > 0 || self.events.len() + part.events.len() > MAX_EVENTS {
            self.rest += part.instructions();
            return;
        }
        self.events.extend(part.events);
        self.lines.extend(part.lines);
        self.transfers.extend(part.transfers);
        self.rest = part.rest;
    }

    /// Splits off the first events as a part; the rest continues the trace.
    #[cfg(test)]
    pub(super) fn split_off(&mut self, events: usize) -> Self {
        let mut part = self.take_part();
        let later = part.events.split_off(events.min(part.events.len()));
        let count = |of: fn(&Event) -> u32| part.events.iter().map(of).sum::<u32>() as usize;
        let lines = count(|event| if let Event::TmuRequest { lines, .. } = event { u32::from(*lines) } else { 0 });
        let transfers = count(|event| u32::from(matches!(event, Event::Dma(_))));
        self.events = later;
        self.lines = part.lines.split_off(lines);
        self.transfers = part.transfers.split_off(transfers);
        self.rest = std::mem::take(&mut part.rest);
        part
    }

    /// Drops the first events, lines and transfers.
    pub(super) fn drop_first(&mut self, events: usize, lines: usize, transfers: usize) {
        self.dropped += instructions_of(self.events.drain(..events.min(self.events.len())));
        self.lines.drain(..lines.min(self.lines.len()));
        self.transfers.drain(..transfers.min(self.transfers.len()));
    }

    /// Records an event.
    pub fn record(&mut self, event: Event) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }

    /// Records an instruction.
    pub fn record_instruction(&mut self, pc: u32) {
        if let Some(Event::Instructions { at, count }) = self.events.last_mut()
            && *count < MAX_EVENT_INSTRUCTIONS
            && at.wrapping_add(*count * INSTRUCTION_BYTES) == pc
        {
            *count += 1;
        } else if self.events.len() < MAX_EVENTS {
            self.events.push(Event::Instructions { at: pc, count: 1 });
        } else {
            self.rest += 1;
        }
    }

    /// Records a lookup of a TMU, and the lines that it touches.
    pub fn lookup(&mut self, unit: u8, swaps: bool, lines: &[u32]) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(Event::TmuRequest { unit, swaps, lines: lines.len() as u16 });
            self.lines.extend_from_slice(lines);
        }
    }

    /// Records a word that is written to VPMVCD_RD_SETUP.
    pub fn read_setup(&mut self, word: u32) {
        match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(_) => self.record(Event::VpmReadSetup),
            ReadSetupWord::Load(setup) => self.load.0 = setup,
            ReadSetupWord::LoadStride(setup) => self.load.1 = setup,
            ReadSetupWord::Reserved(_) => {}
        }
    }

    /// Records a word that is written to VPMVCD_WR_SETUP.
    pub fn write_setup(&mut self, word: u32) {
        match WriteSetupWord::decode(word) {
            WriteSetupWord::Store(setup) => self.store.0 = setup,
            WriteSetupWord::StoreStride(setup) => self.store.1 = setup,
            WriteSetupWord::Write(_) | WriteSetupWord::Reserved(_) => {}
        }
    }

    /// Records the start of VPM DMA, and what it moves to or from a bus address.
    pub fn dma(&mut self, dma: Dma, address: u32) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(Event::Dma(dma));
            self.transfers.push(match dma {
                Dma::Load => Transfer::of_load(&self.load.0, &self.load.1, address),
                Dma::Store => Transfer::of_store(&self.store.0, &self.store.1, address),
            });
        }
    }

    /// Number of events.
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Number of instructions.
    pub fn instructions(&self) -> u64 {
        self.instructions_before_rest() + self.rest
    }

    /// Instructions that have or had events.
    pub(super) fn instructions_before_rest(&self) -> u64 {
        self.dropped + instructions_of(self.events.iter().copied())
    }
}

/// Instructions of some events.
fn instructions_of(events: impl Iterator<Item = Event>) -> u64 {
    let counted = events.map(|event| match event {
        Event::Instructions { count, .. } => u64::from(count),
        _ => 0,
    });
    counted.sum()
}

impl Transfer {
    /// What a load moves.
    fn of_load(setup: &LoadSetup, stride: &LoadStrideSetup, address: u32) -> Self {
        let pitch_bytes = if setup.mpitch == 0 { u32::from(stride.mpitchb) } else { 8 << setup.mpitch };
        Self {
            address,
            rows: or(setup.rows, 16),
            row_bytes: or(setup.row_length, 16) * setup.mode.bytes(),
            pitch_bytes,
        }
    }

    /// What a store moves.
    fn of_store(setup: &StoreSetup, stride: &StoreStrideSetup, address: u32) -> Self {
        let row_bytes = or(setup.depth, 128) * setup.mode.bytes();
        Self { address, rows: or(setup.units, 128), row_bytes, pitch_bytes: row_bytes + u32::from(stride.stride) }
    }
}

/// Instructions of a cache line.
pub(super) const LINE_INSTRUCTIONS: u32 = LINE_BYTES / INSTRUCTION_BYTES;

/// A field in which 0 means its maximum.
fn or(field: u8, zero: u32) -> u32 {
    if field == 0 { zero } else { u32::from(field) }
}

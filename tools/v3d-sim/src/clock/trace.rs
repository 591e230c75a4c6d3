//! Traces: what one run of a program has done that takes time.
//!
//! A trace has no values in it, only what the program has accessed and in what order. So one can compute first and look at the clock later, and what is
//! computed is the same with and without.

use super::costs::LINE_BYTES;
use v3d_hw::BusAddr;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_hw::vpm::{ROW_WORDS, ReadSetupWord, WriteSetupWord};

/// Events that are kept of one run; what comes after them counts as if it went on as before.
const KEPT: usize = 1 << 18;
/// Instructions that one event stands for at most: other programs may be late by as many.
const LONGEST: u32 = 32;

/// What a program is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Shades 16 vertices for binning.
    Coordinates {
        /// Vectors of attributes that the VCD puts into the VPM first.
        rows: u32,
    },
    /// Shades 16 vertices for rendering.
    Vertices {
        /// Vectors of attributes that the VCD puts into the VPM first.
        rows: u32,
    },
    /// Shades four quads.
    Fragments {
        /// Which quads of which tiles: equal numbers are the same place. [`Work::NO_QUAD`] where there is none.
        quads: [u32; 4],
        /// Varyings of each fragment.
        varyings: u32,
        /// Whether two of these programs share a QPU.
        threaded: bool,
        /// Quads that the rasteriser has found since the last batch: those of the batch, and those that were hidden.
        rasterised: u32,
    },
    /// Is a user program, on a QPU that has been chosen already.
    UserProgram {
        /// Its number.
        qpu: u8,
    },
}

impl Work {
    /// A quad that is not there.
    pub const NO_QUAD: u32 = u32::MAX;

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

/// Something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Instructions that stand one behind the other.
    Instructions {
        /// Address of the first.
        at: u32,
        /// How many.
        count: u32,
    },
    /// A uniform is read.
    Uniform,
    /// The stream of uniforms goes on at another address.
    UniformsAddress(u32),
    /// A varying is read.
    Varying,
    /// A TMU is asked to look something up.
    TmuRequest {
        /// Number of the TMU as the program has it.
        unit: u8,
        /// Whether QPUs 2 and 3 of a slice take the other one [AG p.40].
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
    /// Vectors of the VPM are asked for.
    VpmReadSetup,
    /// A vector of the VPM is read.
    VpmRead,
    /// A vector is written to the VPM.
    VpmWrite,
    /// VPM DMA is started.
    Dma(Dma, u32),
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

/// What one run of a program has done.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Address of the program.
    pub program: BusAddr,
    /// Address of its uniforms.
    pub uniforms: u32,
    /// What it was run for.
    pub work: Work,
    /// What it did, in its order.
    pub(super) events: Vec<Event>,
    /// Addresses of the lines that its lookups touch, in their order.
    pub(super) lines: Vec<u32>,
    /// Instructions that came after the last event.
    pub(super) rest: u64,
    load_vectors: u32,
    store_vectors: u32,
}

impl Trace {
    /// A program that has done nothing yet.
    pub fn new(program: BusAddr, uniforms: BusAddr, work: Work) -> Self {
        Self {
            program,
            uniforms: uniforms.offset(),
            work,
            events: Vec::new(),
            lines: Vec::new(),
            rest: 0,
            load_vectors: 0,
            store_vectors: 0,
        }
    }

    /// Notes an event.
    pub fn note(&mut self, event: Event) {
        if self.events.len() < KEPT {
            self.events.push(event);
        }
    }

    /// Notes an instruction.
    pub fn instruction(&mut self, pc: u32) {
        let pc = BusAddr(pc).offset();
        if let Some(Event::Instructions { at, count }) = self.events.last_mut()
            && *count < LONGEST
            && at.wrapping_add(*count * INSTRUCTION_BYTES) == pc
        {
            *count += 1;
        } else if self.events.len() < KEPT {
            self.events.push(Event::Instructions { at: pc, count: 1 });
        } else {
            self.rest += 1;
        }
    }

    /// Notes a lookup of a TMU, and the lines that it touches.
    pub fn lookup(&mut self, unit: u8, swaps: bool, lines: &[u32]) {
        if self.events.len() < KEPT {
            self.events.push(Event::TmuRequest { unit, swaps, lines: lines.len() as u16 });
            self.lines.extend_from_slice(lines);
        }
    }

    /// Notes a word that is written to VPMVCD_RD_SETUP.
    pub fn read_setup(&mut self, word: u32) {
        match ReadSetupWord::decode(word) {
            ReadSetupWord::Read(_) => self.note(Event::VpmReadSetup),
            ReadSetupWord::Load(setup) => self.load_vectors = or(setup.rows, 16),
            ReadSetupWord::LoadStride(_) | ReadSetupWord::Reserved(_) => {}
        }
    }

    /// Notes a word that is written to VPMVCD_WR_SETUP.
    pub fn write_setup(&mut self, word: u32) {
        if let WriteSetupWord::Store(setup) = WriteSetupWord::decode(word) {
            self.store_vectors = or(setup.units, 128) * or(setup.depth, 128).div_ceil(ROW_WORDS);
        }
    }

    /// Notes that VPM DMA is started.
    pub fn dma(&mut self, dma: Dma) {
        self.note(Event::Dma(dma, if dma == Dma::Load { self.load_vectors } else { self.store_vectors }));
    }

    /// Instructions in it.
    pub fn instructions(&self) -> u64 {
        self.instructions_in_events() + self.rest
    }

    /// Instructions that there are events of.
    pub(super) fn instructions_in_events(&self) -> u64 {
        let counted = self.events.iter().map(|event| match event {
            Event::Instructions { count, .. } => u64::from(*count),
            _ => 0,
        });
        counted.sum()
    }
}

/// Instructions of a line.
pub(super) const LINE_INSTRUCTIONS: u32 = LINE_BYTES / INSTRUCTION_BYTES;

/// A field of which 0 means its greatest number.
fn or(field: u8, zero: u32) -> u32 {
    if field == 0 { zero } else { u32::from(field) }
}

//! Workloads that boards were timed with, to compare the timing model with.
//!
//! Each is a [row](rows::ROWS) of a table: what is drawn (vertices, fragment shader, state, texture, target), and how long a board took. The figures
//! are those of [bm], measured on a Raspberry Pi Zero W: wall-clock time with a resolution of 1 µs, first for binning, then for rendering, which do not
//! overlap, with cold caches. That system's V3D ran at a measured clock of [`BOARD_MHZ`]. Only figures are its own: lists, records and shaders are written for
//! this crate, after descriptions in words.
//!
//! To add a workload: a row in [`rows`]; if need be a function in [`geometry`] that makes its vertices, and a shader. A shader is a file `NAME.qasm` in
//! the folder `shaders`; `UPDATE_WORDS=1 cargo test -p v3d-sim --test workloads` assembles all of them into `words.rs`, as `words::NAME`, and the same test
//! without the variable fails if a source and its words differ. `v3d conform timing ROW` runs the row.

pub mod geometry;
pub mod gpu_fft;
pub mod rows;
pub mod scene;
pub mod words;

use crate::counters::Counters;
use crate::memory::{Memory, OutOfMemory, OwnedMemory};
use crate::{Config, Fault, Register, V3d};
use scene::{Lists, Scene};
use v3d_hw::FieldError;

/// Clock of the V3D in all rows of [bm], measured there; the firmware's answer was 250.
pub const BOARD_MHZ: u32 = 300;

/// A workload.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Its number in the table.
    pub row: u8,
    /// What is drawn, in words.
    pub name: &'static str,
    /// What is drawn.
    pub scene: Scene,
    /// What was measured.
    pub measured: &'static [Measured],
}

/// A measurement on a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// What was timed.
    pub part: TimedPart,
    /// The shortest and the longest time in microseconds.
    pub us: (f64, f64),
    /// How it relates to the model.
    pub mark: Mark,
}

/// The part of a job that was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedPart {
    /// From the start of the binning list to its flush.
    Binning,
    /// From the start of the rendering list to the end of the frame.
    Rendering,
    /// The sum of both.
    Both,
}

/// How a measurement relates to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A cost was fitted to it.
    Calibrated,
    /// No cost was fitted to it.
    Unseen,
    /// Nor was one to this, and the workload is not known exactly.
    Near,
}

impl TimedPart {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Binning => "binning",
            Self::Rendering => "rendering",
            Self::Both => "both",
        }
    }
}

impl Mark {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::Unseen => "unseen",
            Self::Near => "unseen, nearly the board's workload",
        }
    }

    /// Whether the ratio is expected to be near 1.
    pub const fn is_binding(self) -> bool {
        !matches!(self, Self::Near)
    }
}

impl Measured {
    /// The middle of the measured times, in cycles of the V3D.
    pub fn cycles(&self) -> f64 {
        f64::midpoint(self.us.0, self.us.1) * f64::from(BOARD_MHZ)
    }
}

/// What the model estimates for a workload, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modelled {
    /// Binning.
    pub binning: u64,
    /// Rendering.
    pub rendering: u64,
    /// Pixels that were shaded, for checks that something was drawn.
    pub pixels: u64,
}

impl Modelled {
    /// The cycles of a part.
    pub const fn cycles(&self, part: TimedPart) -> u64 {
        match part {
            TimedPart::Binning => self.binning,
            TimedPart::Rendering => self.rendering,
            TimedPart::Both => self.binning + self.rendering,
        }
    }

    /// Modelled by measured time.
    pub fn ratio(&self, measured: &Measured) -> f64 {
        self.cycles(measured.part) as f64 / measured.cycles()
    }
}

/// Why a workload could not be modelled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A value does not fit its field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// It does not fit the memory that is set aside for it.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The texture has no tiling.
    #[error("the texture's type and size have no arrangement in memory")]
    Texture,
    /// It does something that software must not do.
    #[error("it has a fault: {0}")]
    Fault(Fault),
    /// It does not end.
    #[error("the {} list does not end", .0.name())]
    Endless(TimedPart),
    /// User programs do not end.
    #[error("a user program does not end")]
    Programs,
}

impl Workload {
    /// Runs it with the timing model, on a V3D with cold caches.
    pub fn run(&self) -> Result<Modelled, WorkloadError> {
        let owned = OwnedMemory::new(scene::MEMORY_BYTES);
        let memory = owned.view();
        let lists = self.scene.build(memory)?;
        let mut board =
            Board { v3d: V3d::new(Config { estimate: true, clock_mhz: BOARD_MHZ, ..Config::default() }), memory };
        let modelled = board.run(&lists)?;
        match board.v3d.take_faults().into_iter().next() {
            Some(fault) => Err(WorkloadError::Fault(fault)),
            None => Ok(modelled),
        }
    }
}

/// The model, and its memory.
struct Board<'a> {
    v3d: V3d,
    memory: Memory<'a>,
}

impl Board<'_> {
    fn write(&mut self, register: Register, value: u32) {
        self.v3d.write(&self.memory, register.offset(), value);
    }

    fn read(&mut self, register: Register) -> u32 {
        self.v3d.read(&self.memory, register.offset())
    }

    /// Runs both lists, one after the other.
    fn run(&mut self, lists: &Lists) -> Result<Modelled, WorkloadError> {
        if let Some(binning) = &lists.binning {
            self.write(Register::CT0CA, binning.start);
            self.write(Register::CT0EA, binning.end);
            if self.read(Register::BFC) != 1 {
                return Err(WorkloadError::Endless(TimedPart::Binning));
            }
        }
        let binning = self.v3d.counters().elapsed_cycles();
        self.write(Register::CT1CA, lists.rendering.start);
        self.write(Register::CT1EA, lists.rendering.end);
        if self.read(Register::RFC) != 1 {
            return Err(WorkloadError::Endless(TimedPart::Rendering));
        }
        let counters: &Counters = self.v3d.counters();
        let pixels = counters.tiles().map(|(_, tile)| tile.pixels).sum();
        Ok(Modelled { binning, rendering: counters.elapsed_cycles() - binning, pixels })
    }
}

//! Units of rendering: one tile, or several that share the content of the tile buffer.
//!
//! A unit is a list of operations that begins with a known tile buffer. A worker executes it, and returns the bytes of its stores.

use super::load::Load;
use super::pixel_trace::PixelTrace;
use super::store::{Store, Stored};
use super::tlb::{ClearValues, Tlb};
use super::vertices::DrawList;
use crate::fault::FaultLog;
use crate::state::PipelineState;
use crate::timing::trace::Work;
use std::sync::Arc;
use v3d_hw::BusAddr;

/// The content of the tile buffer when a unit starts.
#[derive(Debug)]
pub enum Start {
    /// Unknown.
    Undefined,
    /// Just cleared.
    Cleared {
        /// The values that fill it.
        values: ClearValues,
        /// With double buffering, the values that fill the other half.
        other: ClearValues,
    },
    /// Left by an earlier part of the same unit, in the same tile.
    Kept {
        /// The tile buffer, or both.
        buffers: Buffers,
        /// Column and row of the tile.
        tile: (u8, u8),
    },
}

/// The tile buffer; with double buffering, both halves.
#[derive(Debug)]
pub struct Buffers {
    /// In use.
    pub current: Box<Tlb>,
    /// The other half, once it has been used.
    pub other: Option<Box<Tlb>>,
}

/// A primitive list with its state.
#[derive(Debug)]
pub struct Draw {
    /// The primitives.
    pub list: DrawList,
    /// The state in effect.
    pub state: Arc<PipelineState>,
}

/// One operation of a unit.
#[derive(Debug)]
pub enum Op {
    /// Tile Coordinates.
    Begin {
        /// Column and row.
        tile: (u8, u8),
    },
    /// A load.
    Load(Load),
    /// A primitive list.
    Draw(Draw),
    /// A store, and the values with which it clears.
    Store {
        /// The record.
        store: Store,
        /// Clear values at its place.
        clear: ClearValues,
        /// Double buffering: the two halves are swapped behind it.
        swap: bool,
    },
}

/// Operations that are executed one after the other, by one worker.
#[derive(Debug)]
pub struct Unit {
    /// The content of the tile buffer at the start.
    pub start: Start,
    /// The content of the tile buffer is needed at the end.
    pub keep: bool,
    /// There were Tile Coordinates.
    pub in_tile: bool,
    pub(super) ops: Vec<(BusAddr, Op)>,
}

impl Unit {
    /// A unit without operations.
    pub const fn new(start: Start) -> Self {
        Self::with_room(start, Vec::new())
    }

    /// The same, with room for operations.
    pub(super) const fn with_room(start: Start, ops: Vec<(BusAddr, Op)>) -> Self {
        Self { start, keep: false, in_tile: false, ops }
    }

    /// Adds an operation, with the address of its record.
    pub fn push(&mut self, at: BusAddr, op: Op) {
        self.ops.push((at, op));
    }

    /// Whether it has no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Its stores, with the tiles that they store.
    pub fn stores(&self) -> impl Iterator<Item = ((u8, u8), &Store)> {
        let mut tile = match self.start {
            Start::Kept { tile, .. } => tile,
            _ => (0, 0),
        };
        self.ops.iter().filter_map(move |(_, op)| match op {
            Op::Begin { tile: begun } => {
                tile = *begun;
                None
            }
            Op::Store { store, .. } => Some((tile, store)),
            _ => None,
        })
    }
}

/// How programs that are declared two-threaded make use of it; of several programs the one with the lowest address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUse {
    /// A program that ended without a thread switch.
    pub never: Option<BusAddr>,
    /// A program that switched threads.
    pub switches: Option<BusAddr>,
}

impl ThreadUse {
    /// Adds an execution of a program that is declared two-threaded.
    pub fn note(&mut self, program: BusAddr, has_switched: bool) {
        let place = if has_switched { &mut self.switches } else { &mut self.never };
        *place = lowest(*place, Some(program));
    }

    /// Adds those of another unit.
    pub fn merge(&mut self, other: Self) {
        self.never = lowest(self.never, other.never);
        self.switches = lowest(self.switches, other.switches);
    }
}

fn lowest(a: Option<BusAddr>, b: Option<BusAddr>) -> Option<BusAddr> {
    a.into_iter().chain(b).min_by_key(|address| address.0)
}

/// Results of a unit.
#[derive(Debug, Default)]
pub struct UnitResult {
    /// Room for the operations of another unit.
    pub ops: Vec<(BusAddr, Op)>,
    /// The bytes of its stores, in order.
    pub stored: Vec<(BusAddr, Stored)>,
    /// Work for the timing model, if it runs.
    pub work: Vec<Work>,
    /// Faults.
    pub faults: FaultLog,
    /// Instructions executed.
    pub instructions: u64,
    /// Pixels shaded, once for each primitive that covers them.
    pub pixels: u64,
    /// Trace of the watched pixel.
    pub pixel_trace: PixelTrace,
    /// Its two-threaded programs.
    pub thread_use: ThreadUse,
    /// The tile buffer and its tile, if they are needed.
    pub kept: Option<(Buffers, (u8, u8))>,
}

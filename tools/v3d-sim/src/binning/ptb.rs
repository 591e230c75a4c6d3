//! Primitive tile binner (PTB): from primitives to a list for each tile.
//!
//! For every primitive of the binning list the PTB takes the shaded coordinates of its vertices, clips it if need be, finds the tiles that it
//! overlaps, and appends it to the list of each, together with the state records that the list still lacks. The lists are in tile allocation memory,
//! in compressed form; thread 1 of the CLE reads them as sub-lists.
//!
//! When it needs a block and there is no memory left, the PTB stops in the middle of whatever it does, and continues from there once BPOS is written.
//!
//! # Memory
//! The list of tile n begins at the tile allocation memory's start plus n initial blocks [linux vc4_render_cl.c]; behind the initial blocks is the
//! pool of all others, and of the vertices of clipped primitives. The tile state data array has 48 bytes a tile, in a format of the hardware's own.
//! The model keeps that state to itself; when lists are finished it writes the end of each list and its state to the first two words of each entry.
//!
//! # What other units do
//! Facing is the PSE's: it culls and counts [AG p.98]. A triangle without an area goes to no tile.
//!
//! # Sources
//! [AG p.14], [AG p.62-66], [AG p.71-78], [AG p.88-89].

pub mod clip;
mod draw;
pub mod overlap;
mod pieces;
pub mod pool;
mod reach;
pub mod state_cache;
pub mod tile_list;
pub mod watch;

pub use crate::fault::binning::{PtbError, PtbFault};

use crate::binning::primitive_assembly::Assembly;
use crate::binning::primitive_list::vertices_of;
use crate::binning::vcm::{UndefinedElements, VertexWorkers};
use crate::counters::Counters;
use crate::device::supervision::Supervision;
use crate::fault::FaultLog;
use crate::memory::{Memory, OutOfMemory};
use crate::qpu::CodeCache;
use crate::render::pixel_trace::PixelTrace;
use crate::state::PipelineState;
use crate::timing::trace::{Binned, Work};
use clip::CutVertex;
use draw::{Draw, VertexTable};
use overlap::Grid;
use pieces::{Outcome, Part, Piece, Preparation, clip_window};
use pool::{Overspill, Pool};
use state_cache::{STATE_CHANGES, StateCache};
use std::sync::Arc;
use tile_list::{Blocks, TileList, WriteError};
use v3d_hw::control_list::{ClippedPrimitive, MAX_RECORD_BYTES, PrimitiveListFormat, StateRecord, TileBinningMode};
use v3d_hw::primitive_list::{CLIPPED_VERTEX_BYTES, ClippedVertex, ClippedVertexCoefficients, ListDataType};
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::tile_buffer::{TILE_STATE_BYTES, tile_size_px};
use v3d_hw::{BusAddr, Layout};

/// Memory, counters and faults for binning.
#[derive(Debug)]
pub struct Context<'a> {
    /// Guest memory.
    pub memory: Memory<'a>,
    /// Decoded programs.
    pub code: &'a CodeCache,
    /// Events are added here.
    pub counters: &'a mut Counters,
    /// Faults are reported here.
    pub faults: &'a mut FaultLog,
    /// QPU instructions that may still be executed.
    pub instructions: &'a mut u64,
    /// Vertices that may still be taken from primitive records, and primitives that may still be written to tile lists.
    pub vertices: &'a mut u64,
    /// How far the list is, and whether it is to stop.
    pub supervision: &'a Supervision,
    /// Shade batches on several host threads.
    pub parallel: bool,
    /// What elements of a batch without a vertex contain.
    pub undefined: UndefinedElements,
    /// The watched pixel, if there is one.
    pub watched: Option<(u32, u32)>,
    /// Its trace.
    pub pixel_trace: &'a mut PixelTrace,
}

/// Progress of the PTB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All done.
    Done,
    /// It waits for memory.
    OutOfMemory,
}

/// The binner.
#[derive(Debug, Default)]
pub struct Ptb {
    /// Overspill memory: BPOA and BPOS.
    pub overspill: Overspill,
    /// CLIPDISA of BXCF: nothing is clipped.
    pub clipping_disabled: bool,
    pool: Pool,
    /// It has got memory since the V3D was reset.
    has_had_memory: bool,
    bin: Option<Bin>,
    states: StateCache,
    work: Option<PendingWork>,
    /// What runs coordinate shaders.
    workers: VertexWorkers,
}

/// A frame that is being binned.
#[derive(Debug)]
struct Bin {
    mode: TileBinningMode,
    grid: Grid,
    tiles: Vec<TileList>,
}

/// The PTB's current activity.
#[derive(Debug)]
enum PendingWork {
    Draw(Box<Draw>),
    Flush { at: BusAddr, next_tile: usize, all_state: bool },
}

impl Ptb {
    /// Next address of the pool: BPCA.
    pub const fn pool_address(&self) -> u32 {
        self.pool.current
    }

    /// Bytes left in the pool: BPCS.
    pub const fn pool_remaining(&self) -> u32 {
        self.pool.remaining
    }

    /// Whether it has got memory, of whatever kind, since the V3D was reset. Before that it counts as out of memory [bm docs/DRIVERS.md].
    pub const fn has_had_memory(&self) -> bool {
        self.has_had_memory
    }

    /// Notes that so many bytes of memory were offered.
    pub const fn note_memory(&mut self, bytes: u32) {
        self.has_had_memory |= bytes > 0;
    }

    /// Whether overspill memory has been taken since the last call.
    pub fn take_spill_used(&mut self) -> bool {
        std::mem::take(&mut self.pool.spill_used)
    }

    /// Whether binning is in progress: between the configuration and the flush.
    pub const fn is_binning(&self) -> bool {
        self.bin.is_some()
    }

    /// Whether something has been started and not finished.
    pub const fn is_working(&self) -> bool {
        self.work.is_some()
    }

    /// Primitives of the current draw that are still to be binned.
    pub fn remaining(&self) -> u64 {
        match &self.work {
            Some(PendingWork::Draw(draw)) => {
                let taken = draw.primitives.len().saturating_sub(draw.next_primitive) as u64;
                // The one for which memory was missing.
                taken + draw.assembly.remaining_primitives() + 1
            }
            _ => 0,
        }
    }

    /// The state counter; 0 in the prefix.
    pub const fn state_counter(&self) -> u32 {
        self.states.counter()
    }

    /// Cancels its current activity. State and the overspill memory are kept.
    pub fn reset(&mut self) {
        self.bin = None;
        self.work = None;
        self.states.reset();
    }

    /// Executes a Tile Binning Mode Configuration.
    pub fn configure(&mut self, at: BusAddr, mode: &TileBinningMode, memory: Memory<'_>, faults: &mut FaultLog) {
        let mut report = |error| faults.report(PtbFault { at, error });
        if self.bin.is_some() {
            report(PtbError::NotFlushed);
        }
        let (tile_width_px, tile_height_px) = tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer);
        let grid = Grid {
            width_tiles: u32::from(mode.width_tiles),
            height_tiles: u32::from(mode.height_tiles),
            tile_width_px,
            tile_height_px,
        };
        self.states.reset();
        if grid.tiles() == 0 {
            report(PtbError::NoTiles);
            self.bin = None;
            return;
        }
        let block_bytes = mode.initial_block_size.bytes();
        let bytes = mode.tile_allocation_bytes;
        self.note_memory(bytes);
        if bytes == 0 {
            report(PtbError::NoTileAllocation);
        }
        let start = mode.tile_allocation;
        // Initial blocks may lie beyond the end [PeterLemon Multi_Sample]; but without any memory silicon does not find lists afterwards [asurati].
        let first = if bytes == 0 { 0 } else { block_bytes };
        let list = |tile: u32| TileList::new(start + tile * first, first);
        self.pool = Pool::configured(start.0, bytes, grid.tiles() * first);
        if let Err(error) = initialise_tile_state(memory, mode, grid.tiles()) {
            report(error);
        }
        self.bin = Some(Bin { mode: *mode, grid, tiles: (0..grid.tiles()).map(list).collect() });
    }

    /// Executes a Start Tile Binning.
    pub fn start(&mut self) {
        self.states.start();
    }

    /// Takes the bytes of a state record from the list.
    pub fn set_state(
        &mut self,
        at: BusAddr,
        record: StateRecord,
        bytes: [u8; MAX_RECORD_BYTES],
        faults: &mut FaultLog,
    ) {
        let before = self.states.counter();
        self.states.set(record, bytes);
        if before <= STATE_CHANGES && self.states.counter() > STATE_CHANGES {
            faults.report(PtbFault { at, error: PtbError::StateCounter { limit: STATE_CHANGES } });
        }
    }

    /// Starts binning primitives; [`Ptb::advance`] does the work.
    pub fn draw(&mut self, at: BusAddr, assembly: Assembly, state: Arc<PipelineState>, faults: &mut FaultLog) {
        let data_type = state.list_format.data_type;
        let coordinates = assembly.is_coordinates();
        let drawn = assembly.primitive();
        // The list format of the draw counts, not the binning list's: lists that draw by coordinates need no record 56 [PeterLemon RHT], though Broadcom's
        // driver sends one.
        let format =
            PrimitiveListFormat { data_type: if coordinates { ListDataType::Xy } else { data_type }, primitive: drawn };
        let error = if self.bin.is_none() {
            Some(PtbError::NotConfigured)
        } else if !coordinates && data_type == ListDataType::Xy {
            Some(PtbError::ListFormat(drawn))
        } else {
            if state.clip_window.width == 0 || state.clip_window.height == 0 {
                faults.report(PtbFault { at, error: PtbError::EmptyClipWindow });
            }
            self.states.set_format(format).err().map(PtbError::Field)
        };
        if let Some(error) = error {
            faults.report(PtbFault { at, error });
            return;
        }
        self.states.draw();
        self.work = Some(PendingWork::Draw(Box::new(Draw {
            at,
            assembly,
            state,
            format,
            primitives: Vec::new(),
            slots: Vec::new(),
            next_primitive: 0,
            number: 0,
            vertices: VertexTable::default(),
            part: Part::default(),
            more_parts: Vec::new().into_iter(),
            next_outcome: 0,
            next_piece: 0,
            end_piece: 0,
            tiles: Vec::new(),
            next_tile: 0,
            lost: false,
            far_vertex_reported: false,
            entries: 0,
            trace: None,
        })));
    }

    /// Starts a flush; [`Ptb::advance`] does the work.
    pub fn flush(&mut self, at: BusAddr, all_state: bool, faults: &mut FaultLog) {
        if self.bin.is_none() {
            faults.report(PtbFault { at, error: PtbError::NotConfigured });
            return;
        }
        self.work = Some(PendingWork::Flush { at, next_tile: 0, all_state });
    }

    /// Continues the current activity as far as memory allows.
    pub fn advance(&mut self, context: &mut Context<'_>) -> Progress {
        let Some(mut work) = self.work.take() else { return Progress::Done };
        let result = match &mut work {
            PendingWork::Draw(draw) => self.advance_draw(draw, context),
            PendingWork::Flush { at, next_tile, all_state } => self.advance_flush(*at, next_tile, *all_state, context),
        };
        match result {
            Ok(()) => Progress::Done,
            Err(pool::Exhausted) => {
                self.work = Some(work);
                Progress::OutOfMemory
            }
        }
    }

    fn advance_flush(
        &mut self,
        at: BusAddr,
        next_tile: &mut usize,
        all_state: bool,
        context: &mut Context<'_>,
    ) -> Result<(), pool::Exhausted> {
        let Some(bin) = &mut self.bin else { return Ok(()) };
        let memory = context.memory;
        let block_bytes = bin.mode.block_size.bytes();
        while let Some(list) = bin.tiles.get_mut(*next_tile) {
            let mut blocks = Blocks { pool: &mut self.pool, overspill: &mut self.overspill, block_bytes };
            let written = if all_state { write_state(list, &self.states, memory, &mut blocks) } else { Ok(()) };
            let written = written.and_then(|()| list.finish(memory, &mut blocks));
            refuse_or_report(written, at, context.faults)?;
            *next_tile += 1;
        }
        if let Err(error) = store_tile_state(memory, bin) {
            context.faults.report(PtbFault { at, error: error.into() });
        }
        self.bin = None;
        Ok(())
    }

    fn advance_draw(&mut self, draw: &mut Draw, context: &mut Context<'_>) -> Result<(), pool::Exhausted> {
        let result = self.bin_primitives(draw, context);
        let entries = std::mem::take(&mut draw.entries);
        if context.counters.has_timing() {
            context.counters.add_work(Work::Binned(Binned { lines: 0, entries }));
        }
        result
    }

    fn bin_primitives(&mut self, draw: &mut Draw, context: &mut Context<'_>) -> Result<(), pool::Exhausted> {
        loop {
            self.bin_pieces(draw, context)?;
            if *context.vertices == 0 {
                return Ok(());
            }
            if let Some(outcome) = draw.next_outcome() {
                report_outcome(outcome, draw, context);
            } else if draw.assembly.is_done() || *context.instructions == 0 {
                return Ok(());
            } else {
                draw.next_chunk(&self.workers, context);
                self.prepare(draw, context);
            }
        }
    }

    /// Clips the primitives of the next chunk and finds their tiles.
    fn prepare(&self, draw: &mut Draw, context: &Context<'_>) {
        let Some(bin) = &self.bin else { return };
        let (grid, clipping_disabled) = (bin.grid, self.clipping_disabled);
        let Context { watched, parallel, .. } = *context;
        let preparation = Preparation { draw, grid, clipping_disabled, watched, parallel };
        draw.more_parts = preparation.chunk().into_iter();
    }

    /// Writes the current primitive's pieces to the lists of their tiles.
    fn bin_pieces(&mut self, draw: &mut Draw, context: &mut Context<'_>) -> Result<(), pool::Exhausted> {
        let Some(bin) = &mut self.bin else { return Ok(()) };
        while draw.next_piece < draw.end_piece {
            let Some(piece) = draw.part.pieces.get_mut(draw.next_piece) else { return Ok(()) };
            if piece.tiles.is_none() && draw.next_tile == 0 {
                draw.tiles.clear();
                bin.grid.overlapped(piece.outline(), clip_window(&draw.state), &mut draw.tiles);
            }
            let tiles = match piece.tiles.clone() {
                Some(range) => draw.part.tiles.get(range).unwrap_or_default(),
                None => &draw.tiles,
            };
            while let Some(list) = tiles.get(draw.next_tile).and_then(|&tile| bin.tiles.get_mut(tile as usize)) {
                let mut blocks = Blocks {
                    pool: &mut self.pool,
                    overspill: &mut self.overspill,
                    block_bytes: bin.mode.block_size.bytes(),
                };
                let format = draw.format;
                let written = write_piece(list, piece, format, &self.states, context.memory, &mut blocks);
                refuse_or_report(written, draw.at, context.faults)?;
                draw.next_tile += 1;
                draw.entries += 1;
                *context.vertices = context.vertices.saturating_sub(1);
                if *context.vertices == 0 {
                    return Ok(());
                }
            }
            draw.next_piece += 1;
            draw.next_tile = 0;
        }
        Ok(())
    }
}

/// Reports what becomes of a draw's next primitive, before its pieces are written.
fn report_outcome(outcome: Outcome, draw: &Draw, context: &mut Context<'_>) {
    let Outcome { pieces: _, is_cut, is_outside, lacks_clip_coordinates, is_tiny, event } = outcome;
    let at = draw.at;
    for (error, is_reported) in [(PtbError::NoClipCoordinates, lacks_clip_coordinates), (PtbError::PointSize, is_tiny)]
    {
        if is_reported {
            context.faults.report(PtbFault { at, error });
        }
    }
    context.counters.add(CounterSource::PtbPrimitivesClipped, is_cut.into());
    context.counters.add(CounterSource::PtbPrimitivesOutside, is_outside.into());
    if let Some(event) = event {
        context.pixel_trace.record(at, *event);
    }
}

/// Passes on that memory is exhausted; reports any other error.
fn refuse_or_report(
    written: Result<(), WriteError>,
    at: BusAddr,
    faults: &mut FaultLog,
) -> Result<(), pool::Exhausted> {
    let error = match written {
        Ok(()) => return Ok(()),
        Err(WriteError::Exhausted) => return Err(pool::Exhausted),
        Err(WriteError::Memory(error)) => error.into(),
        Err(WriteError::Encode(error)) => PtbError::Encode(error),
        Err(WriteError::Field(error)) => PtbError::Field(error),
    };
    faults.report(PtbFault { at, error });
    Ok(())
}

/// Writes the state records that a list lacks.
fn write_state(
    list: &mut TileList,
    states: &StateCache,
    memory: Memory<'_>,
    blocks: &mut Blocks<'_>,
) -> Result<(), WriteError> {
    if list.known_state < states.counter() {
        for bytes in states.missing(list.known_state) {
            list.record(memory, blocks, bytes)?;
        }
        list.known_state = states.counter();
    }
    Ok(())
}

/// Writes a piece to one list, with the state that it needs. If memory runs out in between, all state is written again later.
fn write_piece(
    list: &mut TileList,
    piece: &mut Piece,
    format: PrimitiveListFormat,
    states: &StateCache,
    memory: Memory<'_>,
    blocks: &mut Blocks<'_>,
) -> Result<(), WriteError> {
    write_state(list, states, memory, blocks)?;
    if let (Some(cut), None) = (&piece.cut, piece.clipped) {
        piece.clipped = write_clipped(cut, vertices_of(format.primitive), memory, blocks)?;
    }
    list.primitive(memory, blocks, format, piece.vertices, piece.clipped)
}

/// Writes the new vertices of a clipped primitive to memory of the pool. `None` if there are none.
fn write_clipped(
    cut: &[CutVertex; 3],
    vertices: usize,
    memory: Memory<'_>,
    blocks: &mut Blocks<'_>,
) -> Result<Option<ClippedPrimitive>, WriteError> {
    let new = |(i, corner): (usize, &CutVertex)| match *corner {
        CutVertex::New { vertex, coefficients } => Some((i, vertex, coefficients)),
        CutVertex::Original(_) => None,
    };
    let corners = || cut.iter().enumerate().take(vertices).filter_map(new);
    let count = corners().count() as u32;
    if count == 0 {
        return Ok(None);
    }
    let address = blocks.pool.take(count * CLIPPED_VERTEX_BYTES, blocks.overspill)?;
    let mut flags = 0;
    for ((i, vertex, coefficients), n) in corners().zip(0u32..) {
        let at = address + n * CLIPPED_VERTEX_BYTES;
        memory.write(at, &vertex.to_bits()?.to_le_bytes()[..ClippedVertex::BYTES])?;
        let second = &coefficients.to_bits()?.to_le_bytes()[..ClippedVertexCoefficients::BYTES];
        memory.write(at + ClippedVertex::BYTES as u32, second)?;
        flags |= 1 << i;
    }
    Ok(Some(ClippedPrimitive { address: address.into(), vertices: flags }))
}

/// Clears the tile state data array if the configuration says so; else it must have been cleared.
fn initialise_tile_state(memory: Memory<'_>, mode: &TileBinningMode, tiles: u32) -> Result<(), PtbError> {
    for at in (0..tiles * TILE_STATE_BYTES).step_by(4).map(|offset| mode.tile_state + offset) {
        if mode.auto_initialise {
            memory.set_word(at, 0)?;
        } else if memory.word(at)? != 0 {
            return Err(PtbError::TileState);
        }
    }
    Ok(())
}

/// Writes the end of each list and its state to the tile state data array.
fn store_tile_state(memory: Memory<'_>, bin: &Bin) -> Result<(), OutOfMemory> {
    for (list, tile) in bin.tiles.iter().zip(0u32..) {
        let at = bin.mode.tile_state + tile * TILE_STATE_BYTES;
        memory.set_word(at, list.cursor().0)?;
        memory.set_word(at + 4, list.known_state)?;
    }
    Ok(())
}

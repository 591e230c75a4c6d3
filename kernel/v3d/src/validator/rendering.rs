//! Rendering lists: loads and stores of pictures, and branches to tile lists.
//!
//! A branch may only lead to the start of a tile's list, after waiting for the binner's semaphore: otherwise the memory's previous contents would be executed
//! as a list. A job's binning list increments that semaphore exactly once and its rendering list waits exactly once, so that a job leaves it as it found it:
//! with an increment left over, the *next* job's rendering would not wait [linux vc4_validate.c, vc4_render_cl.c].

use super::{Binned, Checker, Reason, Refusal, Span};
use crate::image::tile_grid::TileBuffer;
use crate::lists::record_list::ControlList;
use crate::memory::tile_memory::tile_list;
use crate::platform::GpuMemory;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{
    ControlRecord, DecimateMode, FrameBufferFormat, MemoryFormat, PixelFormat, RecordGroup, StoreGeneral, StoreMode,
    TileBufferSelect, TileCoordinates, TileRecord, TileRenderingMode,
};
use v3d_hw::registers::Thread;
use v3d_hw::tile_buffer::tile_size_px;
use v3d_hw::tiling::{self, Tiling};

/// Size of one buffer in a full-resolution dump of a tile: 64 x 64 values of 32 bits, with or without multisampling.
const FULL_TILE_BYTES: u64 = 64 * 64 * 4;

/// Alignment of a picture in bytes: that of the addresses in general stores.
const PICTURE_ALIGNMENT: u32 = 16;

/// Size of a full-resolution dump: colour, followed by depth with stencil.
const fn dump_bytes(disable_zs: bool) -> u64 {
    if disable_zs { FULL_TILE_BYTES } else { 2 * FULL_TILE_BYTES }
}

/// Checks that a picture may be stored. It must not overwrite tile lists, which are executed later.
fn may_store<M: GpuMemory>(
    checker: &Checker<'_, M>,
    binned: Option<Binned>,
    address: BusAddr,
    bytes: u64,
) -> Result<(), Reason> {
    checker.rights.may_write(address, bytes)?;
    checker.note(|survey| survey.note_store(address, bytes));
    let picture = Span { address, bytes: bytes as u32 };
    match binned {
        Some(binned) if !binned.memory.iter().all(|memory| memory.is_apart_from(&picture)) => {
            Err(Reason::Value("it overwrites the memory of tile lists"))
        }
        _ => Ok(()),
    }
}

pub(super) fn check<M: GpuMemory>(
    checker: &Checker<'_, M>,
    list: ControlList,
    binned: Option<Binned>,
) -> Result<(), Refusal> {
    let mut mode: Option<TileRenderingMode> = None;
    let mut waited = false;
    let mut tile = None;
    let mut ended = false;
    let mut end = 0;
    let mut buffer = Buffer::default();
    checker.records(Thread::Rendering, list, |offset, record| {
        end = offset;
        if ended {
            return Err(Reason::Order("nothing follows the end of the frame"));
        }
        let Some(mode) = mode else {
            return match record.group() {
                RecordGroup::Tile(TileRecord::TileRenderingMode(new)) => {
                    frame(&new, binned)?;
                    mode = Some(new);
                    Ok(())
                }
                RecordGroup::Tile(TileRecord::ClearColors(_)) => {
                    buffer.has_values = true;
                    Ok(())
                }
                _ => Err(Reason::Order("a rendering list begins with Tile Rendering Mode Configuration")),
            };
        };
        match record.group() {
            RecordGroup::Control(control) => match control {
                ControlRecord::Nop => {}
                ControlRecord::WaitOnSemaphore if binned.is_some() && waited => {
                    return Err(Reason::Order(
                        "a rendering list waits once: the binning list increments the semaphore once",
                    ));
                }
                ControlRecord::WaitOnSemaphore if binned.is_some() => waited = true,
                ControlRecord::BranchToSubList(branch) => {
                    let binned = binned.ok_or(Reason::Value("there is no binning list, so there are no tile lists"))?;
                    if !waited {
                        return Err(Reason::Order("tile lists are there after Wait on Semaphore"));
                    }
                    let tile = tile.ok_or(Reason::Order("Tile Coordinates come before a tile's list"))?;
                    buffer.is_drawn()?;
                    branch_of(binned, tile, branch.address)?;
                    // The tile's list begins in that memory, and may go on anywhere in it.
                    if binned.memory[1].holds(list.end_exclusive, 1) {
                        return Err(Reason::Value(
                            "the list's end address is in the memory of tile lists, where the V3D stops without an error",
                        ));
                    }
                }
                ControlRecord::WaitOnSemaphore
                | ControlRecord::Halt
                | ControlRecord::Branch(_)
                | ControlRecord::ReturnFromSubList
                | ControlRecord::IncrementSemaphore
                | ControlRecord::Flush
                | ControlRecord::FlushAllState
                | ControlRecord::StartTileBinning
                | ControlRecord::TileBinningMode(_) => return Err(Reason::NotAllowed),
            },
            RecordGroup::Tile(record) => match record {
                TileRecord::TileRenderingMode(_) => return Err(Reason::NotAllowed),
                TileRecord::ClearColors(_) => buffer.has_values = true,
                TileRecord::TileCoordinates(coordinates) => {
                    inside(&mode, coordinates)?;
                    tile = Some(coordinates);
                    buffer.begin_tile();
                }
                TileRecord::StoreResolved | TileRecord::StoreResolvedEndOfFrame => {
                    tile.ok_or(Reason::Order("Tile Coordinates come before a store"))?;
                    buffer.is_stored(Parts { color: true, zs: false })?;
                    may_store(checker, binned, mode.address, frame_bytes(&mode)?)?;
                    buffer.store(&mode, Parts::ALL, false);
                    ended = matches!(record, TileRecord::StoreResolvedEndOfFrame);
                }
                TileRecord::StoreGeneral(store) if store.buffer == TileBufferSelect::None => {
                    tile.ok_or(Reason::Order("Tile Coordinates come before a store"))?;
                    buffer.store(&mode, cleared(&store), store.disable_swap);
                    ended = store.last_tile;
                }
                TileRecord::StoreGeneral(store) => {
                    tile.ok_or(Reason::Order("Tile Coordinates come before a store"))?;
                    buffer.is_stored(Parts::of(store.buffer))?;
                    buffer.store(&mode, cleared(&store), store.disable_swap);
                    decimates(&mode, store.buffer, store.mode)?;
                    let bytes = picture_bytes(&mode, store.format, bits(&mode, store.buffer, store.pixel_format)?)?;
                    may_store(checker, binned, store.address.0, bytes)?;
                    ended = store.last_tile;
                }
                TileRecord::LoadGeneral(load) if load.buffer == TileBufferSelect::None => {
                    buffer.load(Parts::default(), false)?
                }
                TileRecord::LoadGeneral(load) => {
                    buffer.load(Parts::of(load.buffer), fills_tiles(&mode))?;
                    let bytes = picture_bytes(&mode, load.format, bits(&mode, load.buffer, load.pixel_format)?)?;
                    checker.may_load(load.address.0, bytes)?;
                }
                TileRecord::StoreFullResolution(store) => {
                    tile.ok_or(Reason::Order("Tile Coordinates come before a store"))?;
                    buffer.is_dumped(Parts { color: !store.disable_color, zs: !store.disable_zs })?;
                    buffer.store(&mode, if store.disable_clear { Parts::default() } else { Parts::ALL }, false);
                    may_store(checker, binned, store.address.0, dump_bytes(store.disable_zs))?;
                    ended = store.last_tile;
                }
                TileRecord::LoadFullResolution(load) => {
                    buffer.load(Parts { color: !load.disable_color, zs: !load.disable_zs }, true)?;
                    if mode.multisample && !mode.disable_early_z && !load.disable_zs {
                        return Err(Reason::Value("early Z does not know what Z is loaded in full resolution (HW-2905)"));
                    }
                    let bytes = dump_bytes(load.disable_zs);
                    checker.may_load(load.address.0, bytes)?;
                }
            },
            // State and primitives come from the tile lists.
            RecordGroup::State(_) | RecordGroup::Draw(_) => return Err(Reason::NotAllowed),
        }
        Ok(())
    })?;
    let reason = if !ended {
        "a rendering list ends with the end of the frame"
    } else if binned.is_some() && !waited {
        // The semaphore would still be raised when the next job begins, whose rendering would then not wait for its binning.
        "a rendering list waits for its binning list, whether or not it branches to tile lists"
    } else {
        return Ok(());
    };
    Err(Refusal { thread: Thread::Rendering, offset: end, record: "end of the list", reason: Reason::Order(reason) })
}

/// Parts of the tile buffer.
#[derive(Clone, Copy, Default)]
struct Parts {
    color: bool,
    zs: bool,
}

impl Parts {
    const ALL: Self = Self { color: true, zs: true };

    /// The part that a general store or load transfers.
    fn of(buffer: TileBufferSelect) -> Self {
        Self { color: buffer == TileBufferSelect::Color, zs: buffer == TileBufferSelect::ZStencil }
    }

    fn or(self, other: Self) -> Self {
        Self { color: self.color || other.color, zs: self.zs || other.zs }
    }

    fn without(self, other: Self) -> Self {
        Self { color: self.color && !other.color, zs: self.zs && !other.zs }
    }
}

/// What is known of one tile buffer.
#[derive(Clone, Copy, Default)]
struct Contents {
    /// The parts that have been cleared or loaded. Before that, they contain data of another job.
    defined: Parts,
    /// Those of them of which that is true of every pixel: a picture's edge may lie in a tile that is loaded.
    whole: Parts,
}

/// The state of the tile buffer.
#[derive(Clone, Copy, Default)]
struct Buffer {
    contents: Contents,
    /// The same for the other buffer, if there are two.
    other: Contents,
    /// The parts that are loaded at the start of the next tile, and whether the load fills the tile.
    load: Option<(Parts, bool)>,
    /// The list has set the clear values: before that, they are another job's.
    has_values: bool,
}

impl Buffer {
    fn load(&mut self, parts: Parts, fills: bool) -> Result<(), Reason> {
        if self.load.replace((parts, fills)).is_some() {
            return Err(Reason::Order("one load comes before Tile Coordinates"));
        }
        Ok(())
    }

    fn begin_tile(&mut self) {
        let (parts, fills) = self.load.take().unwrap_or_default();
        self.contents.defined = self.contents.defined.or(parts);
        if fills {
            self.contents.whole = self.contents.whole.or(parts);
        }
    }

    /// A store clears parts. With two buffers, the other one is next, unless that is disabled.
    fn store(&mut self, mode: &TileRenderingMode, cleared: Parts, disable_swap: bool) {
        let Contents { defined, whole } = self.contents;
        self.contents = if self.has_values {
            Contents { defined: defined.or(cleared), whole: whole.or(cleared) }
        } else {
            Contents { defined: defined.without(cleared), whole: whole.without(cleared) }
        };
        if mode.double_buffer && !disable_swap {
            core::mem::swap(&mut self.contents, &mut self.other);
        }
    }

    /// Checks that primitives may be drawn to it: programs can read its colour.
    fn is_drawn(self) -> Result<(), Reason> {
        Self::holds(self.contents.defined, Parts { color: true, zs: false })
    }

    /// Checks that parts of it may be stored as a picture.
    fn is_stored(self, parts: Parts) -> Result<(), Reason> {
        Self::holds(self.contents.defined, parts)
    }

    /// Checks that parts of it may be stored with all pixels of the tile.
    fn is_dumped(self, parts: Parts) -> Result<(), Reason> {
        Self::holds(self.contents.whole, parts)
    }

    fn holds(defined: Parts, parts: Parts) -> Result<(), Reason> {
        if (defined.color || !parts.color) && (defined.zs || !parts.zs) {
            Ok(())
        } else {
            Err(Reason::Order("the tile buffer is cleared or loaded before it is used"))
        }
    }
}

/// Whether a picture has whole tiles only, so that loading it fills each of them.
fn fills_tiles(mode: &TileRenderingMode) -> bool {
    let (width, height) = tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer);
    u32::from(mode.width).is_multiple_of(width) && u32::from(mode.height).is_multiple_of(height)
}

/// The parts that a general store clears.
const fn cleared(store: &StoreGeneral) -> Parts {
    Parts { color: !store.disable_color_clear, zs: !store.disable_zs_clear }
}

/// Checks that the samples of a colour store exist.
fn decimates(mode: &TileRenderingMode, buffer: TileBufferSelect, store: StoreMode) -> Result<(), Reason> {
    match store {
        StoreMode::Reserved(_) => Err(Reason::Value("the store mode is reserved")),
        StoreMode::Decimate16 if buffer == TileBufferSelect::Color && !mode.multisample => {
            Err(Reason::Value("16 samples need multisampling"))
        }
        _ => Ok(()),
    }
}

/// Checks that the frame can be rendered, and corresponds to the binning list.
fn frame(mode: &TileRenderingMode, binned: Option<Binned>) -> Result<(), Reason> {
    match mode.decimate {
        DecimateMode::Reserved(_) => return Err(Reason::Value("the decimate mode is reserved")),
        DecimateMode::X16 if !mode.multisample => return Err(Reason::Value("16 samples need multisampling")),
        _ => {}
    }
    if !mode.address.is_aligned(PICTURE_ALIGNMENT) {
        return Err(Reason::Value("the picture is 16-byte aligned"));
    }
    if mode.coverage_mode || mode.vg_mask {
        return Err(Reason::Value("coverage and mask are not supported"));
    }
    let buffer = tile_buffer(mode.multisample, mode.color_64_bit, mode.double_buffer)?;
    if mode.width == 0 || mode.height == 0 {
        return Err(Reason::Value("the picture has no pixels"));
    }
    if let Some(binned) = binned {
        let (columns, rows) = tiles(mode);
        // The width is also the pitch: a picture may be wider than what was binned. `branch_of` checks single tiles.
        if columns < u32::from(binned.grid.columns) || rows != u32::from(binned.grid.rows) {
            return Err(Reason::Value("the binning list has another number of tiles"));
        }
        if buffer != binned.grid.buffer {
            return Err(Reason::Value("the binning list has another tile buffer"));
        }
    }
    Ok(())
}

/// The configuration of the tile buffer.
pub(super) fn tile_buffer(multisample: bool, color_64_bit: bool, double_buffer: bool) -> Result<TileBuffer, Reason> {
    TileBuffer::of_mode(multisample, color_64_bit, double_buffer).ok_or(if double_buffer {
        Reason::Value("two tile buffers are for one sample a pixel and 32-bit colours")
    } else {
        Reason::Value("64-bit colours are for one sample a pixel")
    })
}

/// Checks that a branch leads to the tile's own list.
fn branch_of(binned: Binned, tile: TileCoordinates, address: BusAddr) -> Result<(), Reason> {
    // The first list of the next row follows the last list of a row.
    if tile.column >= binned.grid.columns {
        return Err(Reason::Value("the binning list has no such tile"));
    }
    if address != tile_list(binned.lists, &binned.grid, tile.row, tile.column) {
        return Err(Reason::Value("it does not lead to the tile's own list"));
    }
    Ok(())
}

/// Numbers of tile columns and rows.
fn tiles(mode: &TileRenderingMode) -> (u32, u32) {
    let (width, height) = tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer);
    (u32::from(mode.width).div_ceil(width), u32::from(mode.height).div_ceil(height))
}

fn inside(mode: &TileRenderingMode, tile: TileCoordinates) -> Result<(), Reason> {
    let (columns, rows) = tiles(mode);
    if u32::from(tile.column) < columns && u32::from(tile.row) < rows {
        Ok(())
    } else {
        Err(Reason::Value("the tile is outside of the picture"))
    }
}

/// Size of the picture that records 24 and 25 store.
fn frame_bytes(mode: &TileRenderingMode) -> Result<u64, Reason> {
    let bits = match mode.color_format {
        _ if mode.color_64_bit => 64,
        FrameBufferFormat::Rgba8888 => 32,
        FrameBufferFormat::Bgr565 | FrameBufferFormat::Bgr565Dithered => 16,
        FrameBufferFormat::Reserved(_) => return Err(Reason::Value("the colour format is reserved")),
    };
    picture_bytes(mode, mode.memory_format, bits)
}

/// Bits of a value that a general store or load transfers.
fn bits(mode: &TileRenderingMode, buffer: TileBufferSelect, format: PixelFormat) -> Result<u32, Reason> {
    match (buffer, format) {
        (TileBufferSelect::Color, _) if mode.color_64_bit => Ok(64),
        (TileBufferSelect::Color, PixelFormat::Rgba8888) | (TileBufferSelect::ZStencil, _) => Ok(32),
        (TileBufferSelect::Color, PixelFormat::Bgr565 | PixelFormat::Bgr565Dithered) => Ok(16),
        _ => Err(Reason::Value("only colour, or depth with stencil, can be stored or loaded")),
    }
}

/// Size of a picture of the frame, rounded up to whole tiles: tiled pictures are stored by whole micro-tiles. Rows of other pictures are whole
/// micro-tiles, too [linux vc4_validate.c].
fn picture_bytes(mode: &TileRenderingMode, format: MemoryFormat, bits: u32) -> Result<u64, Reason> {
    let tiling = match format {
        MemoryFormat::Raster => Tiling::Raster,
        MemoryFormat::TFormat => Tiling::TFormat,
        MemoryFormat::LtFormat => Tiling::LtFormat,
        MemoryFormat::Reserved(_) => return Err(Reason::Value("the memory format is reserved")),
    };
    let width = match (tiling, tiling::micro_tile_px(bits)) {
        (Tiling::Raster, Some((micro_tile_width, _))) => u32::from(mode.width).next_multiple_of(micro_tile_width),
        _ => mode.width.into(),
    };
    tiling::image_bytes(tiling, width, mode.height.into(), bits)
        .ok_or(Reason::Value("the picture's format has no size"))
}

//! Binning lists: tile memory, state, shader records, vertices and indices.

use super::records::{Records, Shading};
use super::rendering::tile_buffer;
use super::{Binned, Checker, Reason, Refusal, Span};
use crate::image::tile_grid::TileGrid;
use crate::lists::binning_list::MAX_STATE_CHANGES;
use crate::lists::draw_state::lets_farther_pass;
use crate::lists::record_list::ControlList;
use crate::memory::tile_memory;
use crate::platform::GpuMemory;
use v3d_hw::BusAddr;
use v3d_hw::control_list::{
    ConfigurationBits, ControlRecord, DrawRecord, IndexType, IndexedPrimitiveList, Oversample, PrimitiveListFormat,
    PrimitiveMode, RecordGroup, StateRecord, TileBinningMode, VertexArrayPrimitives,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::registers::Thread;

/// How far the list has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Empty,
    Configured,
    Binning,
    Signalled,
    Flushed,
}

/// The smallest point that the binner can handle, in pixels (HW-2726).
const MIN_POINT_PX: f32 = 0.125;
/// Alignment of tile state and tile lists in bytes. The guide asks for 16 of tile state [AG p.71].
const TILE_MEMORY_ALIGNMENT: u32 = 16;

/// Records of state that applies to all primitives, with the bits that stand for them. A thread keeps its state from job to job, so a list that leaves one
/// out would draw with another job's.
const EVERY_DRAW_NEEDS: [(u8, &str); 4] = [
    (1, "Configuration Bits come before primitives: the thread keeps those of the job before"),
    (2, "a Clip Window comes before primitives: the thread keeps that of the job before"),
    (4, "a Viewport Offset comes before primitives: the thread keeps that of the job before"),
    (8, "a Primitive List Format comes before primitives: each thread keeps its own, and the two may differ"),
];

/// State set by the records so far.
struct State {
    /// Bits of [`EVERY_DRAW_NEEDS`].
    given: u8,
    multisample: bool,
    /// How tile lists number vertices; a format takes effect with the next shader state [AG p.65].
    numbers: ListDataType,
    next_numbers: ListDataType,
    shading: Option<Shading>,
    records: Records,
    /// State has changed since the last primitives.
    is_changed: bool,
    /// The last kind of primitive, which is also state.
    last_mode: Option<PrimitiveMode>,
    changes: u32,
    /// A two-threaded program switches threads; another may end without.
    thread_use: (bool, bool),
    configuration: ConfigurationBits,
    /// Primitives have moved Z away without early-Z updates.
    early_z_is_behind: bool,
    /// The list's end address.
    end: BusAddr,
}

impl State {
    fn new(end: BusAddr) -> Self {
        let numbers = ListDataType::Index16;
        let (shading, records, last_mode) = (None, Records::default(), None);
        Self {
            given: 0,
            multisample: false,
            numbers,
            next_numbers: numbers,
            shading,
            records,
            is_changed: false,
            last_mode,
            changes: 0,
            thread_use: (false, false),
            configuration: ConfigurationBits::default(),
            early_z_is_behind: false,
            end,
        }
    }
}

pub(super) fn check<M: GpuMemory>(checker: &Checker<'_, M>, list: ControlList) -> Result<Binned, Refusal> {
    let mut progress = Progress::Empty;
    let mut binned = None;
    let mut state = State::new(list.end_exclusive);
    let mut end = 0;
    checker.records(Thread::Binning, list, |offset, record| {
        end = offset;
        match (progress, record.group()) {
            (Progress::Empty, RecordGroup::Control(ControlRecord::TileBinningMode(mode))) => {
                binned = Some(tile_memory_of(checker, &mode)?);
                state.multisample = mode.multisample;
                progress = Progress::Configured;
            }
            (Progress::Empty, _) => {
                return Err(Reason::Order("a binning list begins with Tile Binning Mode Configuration"));
            }
            (_, RecordGroup::Control(ControlRecord::Nop)) => {}
            (Progress::Configured, RecordGroup::Control(ControlRecord::StartTileBinning)) => {
                progress = Progress::Binning;
            }
            (Progress::Configured | Progress::Binning, RecordGroup::State(record)) => state.set(checker, &record)?,
            (Progress::Binning, RecordGroup::Draw(record)) => state.drawn(checker, &record)?,
            (Progress::Binning, RecordGroup::Control(ControlRecord::IncrementSemaphore)) => {
                progress = Progress::Signalled;
            }
            (Progress::Signalled, RecordGroup::Control(ControlRecord::Flush | ControlRecord::FlushAllState)) => {
                progress = Progress::Flushed;
            }
            (Progress::Signalled, _) => return Err(Reason::Order("Increment Semaphore is followed by Flush")),
            (Progress::Flushed, _) => return Err(Reason::Order("Flush ends a binning list")),
            (Progress::Configured | Progress::Binning, _) => return Err(Reason::NotAllowed),
        }
        Ok(())
    })?;
    let refusal = |reason| Refusal { thread: Thread::Binning, offset: end, record: "end of the list", reason };
    match (progress, binned) {
        (Progress::Flushed, Some(binned)) => Ok(binned),
        _ => Err(refusal(Reason::Order("a binning list ends with Increment Semaphore and Flush"))),
    }
}

impl State {
    /// A state record.
    fn set<M: GpuMemory>(&mut self, checker: &Checker<'_, M>, record: &StateRecord) -> Result<(), Reason> {
        match record {
            StateRecord::GlShaderState(state) => {
                (self.shading, self.numbers) = (Some(self.records.gl(checker, state)?), self.next_numbers);
            }
            StateRecord::NvShaderState(state) => {
                (self.shading, self.numbers) = (Some(self.records.nv(checker, state)?), self.next_numbers);
            }
            StateRecord::VgShaderState(_) | StateRecord::VgInlineShader(_) => return Err(Reason::NotAllowed),
            StateRecord::PrimitiveListFormat(format) => {
                list_format(*format)?;
                self.next_numbers = format.data_type;
                self.given |= 8;
            }
            StateRecord::ConfigurationBits(bits) => {
                self.configuration(bits)?;
                self.given |= 1;
            }
            StateRecord::ClipWindow(_) => self.given |= 2,
            StateRecord::ViewportOffset(_) => self.given |= 4,
            StateRecord::PointSize(size) if size.size < MIN_POINT_PX || size.size.is_nan() => {
                return Err(Reason::Value("a point is smaller than 1/8 pixel (HW-2726)"));
            }
            // They consist of numbers that are good for any value.
            StateRecord::PointSize(_)
            | StateRecord::FlatShadeFlags(_)
            | StateRecord::LineWidth(_)
            | StateRecord::RhtXBoundary(_)
            | StateRecord::DepthOffset(_)
            | StateRecord::ZClippingPlanes(_)
            | StateRecord::ClipperXyScaling(_)
            | StateRecord::ClipperZScaleOffset(_) => {}
        }
        self.is_changed = true;
        Ok(())
    }

    /// A record that draws.
    fn drawn<M: GpuMemory>(&mut self, checker: &Checker<'_, M>, record: &DrawRecord) -> Result<(), Reason> {
        match record {
            DrawRecord::IndexedPrimitiveList(draw) => self.indexed(checker, draw),
            DrawRecord::VertexArrayPrimitives(draw) => self.array(checker, draw),
            DrawRecord::VgCoordinateArray(_)
            | DrawRecord::VgInline(_)
            | DrawRecord::CompressedPrimitiveList
            | DrawRecord::ClippedPrimitive(_) => Err(Reason::NotAllowed),
        }
    }

    fn configuration(&mut self, bits: &ConfigurationBits) -> Result<(), Reason> {
        self.configuration = *bits;
        if bits.coverage_pipe {
            return Err(Reason::Value(
                "the coverage pipe is not supported: after varyings silicon may lock up (HW-2885)",
            ));
        }
        match bits.oversample {
            Oversample::Reserved(_) => Err(Reason::Value("the oversample mode is reserved")),
            Oversample::X16 if self.multisample => {
                Err(Reason::Value("16x oversampling does not go with multisampling"))
            }
            _ => Ok(()),
        }
    }

    fn indexed<M: GpuMemory>(&mut self, checker: &Checker<'_, M>, draw: &IndexedPrimitiveList) -> Result<(), Reason> {
        let bytes = match draw.index_type {
            IndexType::Bits8 => 1,
            IndexType::Bits16 => 2,
            IndexType::Reserved(_) => return Err(Reason::Value("indices have 8 or 16 bits")),
        };
        if !draw.address.is_aligned(bytes) {
            return Err(Reason::Value("16-bit indices are 2-byte aligned"));
        }
        let length = u64::from(draw.length) * u64::from(bytes);
        checker.may_read(draw.address, length)?;
        // An alias of an address is the same memory; whether the hardware compares the alias is not known.
        match self.end.offset().checked_sub(draw.address.offset()).map(u64::from) {
            Some(0) => {
                return Err(Reason::Value(
                    "its index data begins at the list's end address, where the V3D stops without an error",
                ));
            }
            Some(behind) if behind < length => {
                return Err(Reason::Value("the list's end address lies within its index data, where the V3D may stop"));
            }
            _ => {}
        }
        // Greater indices are an error for which the hardware fetches nothing.
        self.draw(checker, draw.mode, u64::from(draw.maximum_index) + 1)
    }

    fn array<M: GpuMemory>(&mut self, checker: &Checker<'_, M>, draw: &VertexArrayPrimitives) -> Result<(), Reason> {
        let end = u64::from(draw.first_vertex) + u64::from(draw.length);
        let most = if self.numbers == ListDataType::Index16 { 1 << 16 } else { 1 << 24 };
        if end > most {
            return Err(Reason::Value("tile lists have no numbers for so many vertices"));
        }
        self.draw(checker, draw.mode, end)
    }

    /// Primitives with vertices 0 to `count` - 1.
    fn draw<M: GpuMemory>(&mut self, checker: &Checker<'_, M>, mode: PrimitiveMode, count: u64) -> Result<(), Reason> {
        let shading = self.shading.ok_or(Reason::Order("primitives come after a shader state record"))?;
        if let Some((_, why)) = EVERY_DRAW_NEEDS.iter().find(|(bit, _)| self.given & bit == 0) {
            return Err(Reason::Order(why));
        }
        self.changes += u32::from(self.is_changed || self.last_mode != Some(mode));
        (self.is_changed, self.last_mode) = (false, Some(mode));
        if self.changes > MAX_STATE_CHANGES {
            return Err(Reason::Value("the binner cannot count so many changes of state (HW-2116)"));
        }
        let (switches, never) = shading.thread_use();
        self.thread_use = (self.thread_use.0 || switches, self.thread_use.1 || never);
        if self.thread_use == (true, true) {
            return Err(Reason::Value(
                "of the job's programs that are declared two-threaded some switch threads and one may not: boards hang",
            ));
        }
        if self.early_z_is_behind && self.configuration.early_z {
            return Err(Reason::Order(
                "early Z compares with an old depth: primitives before have moved Z away without early-Z updates",
            ));
        }
        let ConfigurationBits { z_updates, early_z_updates, depth_test, .. } = self.configuration;
        self.early_z_is_behind |= z_updates && !early_z_updates && lets_farther_pass(depth_test);
        shading.draw(checker, mode, count, self.multisample)
    }
}

/// Checks the primitive list format: primitives here have indices.
fn list_format(format: PrimitiveListFormat) -> Result<(), Reason> {
    match (format.data_type, format.primitive) {
        (ListDataType::Xy | ListDataType::Reserved(_), _) => {
            Err(Reason::Value("tile lists of these primitives have indices"))
        }
        (_, ListPrimitive::Reserved(_)) => Err(Reason::Value("the primitive list format is reserved")),
        _ => Ok(()),
    }
}

fn tile_memory_of<M: GpuMemory>(checker: &Checker<'_, M>, mode: &TileBinningMode) -> Result<Binned, Reason> {
    let buffer = tile_buffer(mode.multisample, mode.color_64_bit, mode.double_buffer)?;
    let (width, height) = buffer.tile_size_px();
    if !mode.auto_initialise {
        return Err(Reason::Value(
            "tile state has to be initialised by the hardware: what it holds would be used as addresses",
        ));
    }
    let (columns, rows) = (u32::from(mode.width_tiles), u32::from(mode.height_tiles));
    let grid = TileGrid::new(columns * width, rows * height, buffer);
    let grid = grid.map_err(|_| Reason::Value("the picture has no tiles, or too many"))?;
    // Tile lists are found by their address, so it must be the one that the driver computes.
    let expected = tile_memory::binning_mode(&grid, mode.tile_state, mode.tile_allocation, mode.tile_allocation_bytes);
    if *mode != expected {
        return Err(Reason::Value("initial blocks have 32 bytes and further blocks 128"));
    }
    for address in [mode.tile_state, mode.tile_allocation] {
        if !address.is_aligned(TILE_MEMORY_ALIGNMENT) {
            return Err(Reason::Value("tile state and tile lists are 16-byte aligned"));
        }
    }
    let state = Span { address: mode.tile_state, bytes: grid.tiles() * tile_memory::STATE_BYTES };
    let lists = Span { address: mode.tile_allocation, bytes: mode.tile_allocation_bytes };
    for span in [state, lists] {
        checker.rights.may_write(span.address, u64::from(span.bytes))?;
        checker.note(|survey| survey.note_tile_memory(span));
    }
    if !state.is_apart_from(&lists) {
        return Err(Reason::Value("tile state and tile lists share memory"));
    }
    let least = grid.tiles() * mode.initial_block_size.bytes() + tile_memory::MIN_GROWTH_BYTES;
    if mode.tile_allocation_bytes < least {
        return Err(Reason::Value(
            "tile allocation memory is too small for the tiles' first blocks and the 8 KiB that the binner takes in any case",
        ));
    }
    Ok(Binned { grid, lists: mode.tile_allocation, memory: [state, lists] })
}

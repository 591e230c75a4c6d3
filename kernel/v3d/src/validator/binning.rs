//! Binning lists: tile memory, state, shader records, vertices and indices.

use super::shader::{self, Kind};
use super::{Binned, Checker, Reason, Refusal, Span};
use crate::platform::GpuMemory;
use crate::record_list::ControlList;
use crate::tile_grid::TileGrid;
use crate::tile_memory;
use v3d_hw::control_list::{GlShaderState, IndexType, IndexedPrimitiveList, NvShaderState, Record, TileBinningMode};
use v3d_hw::registers::Thread;
use v3d_hw::shader_record::{ALIGNMENT, AttributeArray, GlFragment, GlVertex, NvShaderRecord, gl};
use v3d_hw::tile_buffer::tile_size_px;
use v3d_hw::{BusAddr, Layout};

/// What a draw fetches for vertex `n`: `bytes` bytes at `address + n * stride`.
#[derive(Clone, Copy)]
struct Fetch {
    address: BusAddr,
    stride: u32,
    bytes: u32,
}

/// How far the list has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Empty,
    Configured,
    Binning,
    Signalled,
    Flushed,
}

/// Most attribute arrays.
const FETCHES: usize = gl::MAX_ATTRIBUTES as usize;

pub(super) fn check<M: GpuMemory>(checker: &Checker<'_, M>, list: ControlList) -> Result<Binned, Refusal> {
    let mut stage = Stage::Empty;
    let mut binned = None;
    let mut fetches: Option<[Option<Fetch>; FETCHES]> = None;
    let mut end = 0;
    checker.records(Thread::Binning, list, |offset, record| {
        end = offset;
        match (stage, record) {
            (Stage::Empty, Record::TileBinningMode(mode)) => {
                binned = Some(tile_memory_of(checker, &mode)?);
                stage = Stage::Configured;
            }
            (Stage::Empty, _) => {
                return Err(Reason::Order("a binning list begins with Tile Binning Mode Configuration"));
            }
            (Stage::Configured, Record::StartTileBinning) => stage = Stage::Binning,
            (Stage::Binning, Record::IndexedPrimitiveList(draw)) => indexed(checker, &draw, fetches.as_ref())?,
            (Stage::Binning, Record::VertexArrayPrimitives(draw)) => {
                let last = u64::from(draw.first_vertex) + u64::from(draw.length);
                vertices(checker, last, fetches.as_ref())?;
            }
            (Stage::Configured | Stage::Binning, Record::GlShaderState(state)) => {
                fetches = Some(gl_record(checker, &state)?);
            }
            (Stage::Configured | Stage::Binning, Record::NvShaderState(state)) => {
                fetches = Some(nv_record(checker, &state)?);
            }
            (Stage::Binning, Record::IncrementSemaphore) => stage = Stage::Signalled,
            (Stage::Signalled, Record::Flush | Record::FlushAllState) => stage = Stage::Flushed,
            (Stage::Configured | Stage::Binning, state) if is_plain_state(&state) => {}
            (_, Record::Nop) => {}
            (Stage::Signalled, _) => return Err(Reason::Order("Increment Semaphore is followed by Flush")),
            (Stage::Flushed, _) => return Err(Reason::Order("Flush ends a binning list")),
            _ => return Err(Reason::NotAllowed),
        }
        Ok(())
    })?;
    let refusal = |reason| Refusal { thread: Thread::Binning, offset: end, record: "end of the list", reason };
    match (stage, binned) {
        (Stage::Flushed, Some(binned)) => Ok(binned),
        _ => Err(refusal(Reason::Order("a binning list ends with Increment Semaphore and Flush"))),
    }
}

/// State that is only numbers.
fn is_plain_state(record: &Record) -> bool {
    matches!(
        record,
        Record::PrimitiveListFormat(_)
            | Record::ConfigurationBits(_)
            | Record::FlatShadeFlags(_)
            | Record::PointSize(_)
            | Record::LineWidth(_)
            | Record::RhtXBoundary(_)
            | Record::DepthOffset(_)
            | Record::ClipWindow(_)
            | Record::ViewportOffset(_)
            | Record::ZClippingPlanes(_)
            | Record::ClipperXyScaling(_)
            | Record::ClipperZScaleOffset(_)
    )
}

fn tile_memory_of<M: GpuMemory>(checker: &Checker<'_, M>, mode: &TileBinningMode) -> Result<Binned, Reason> {
    let (width, height) = tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer);
    if mode.color_64_bit || mode.double_buffer {
        return Err(Reason::Value("64-bit colour and double-buffering are not supported"));
    }
    if !mode.auto_initialise {
        return Err(Reason::Value(
            "tile state has to be initialised by the hardware: what it holds would be used as addresses",
        ));
    }
    let (columns, rows) = (u32::from(mode.width_tiles), u32::from(mode.height_tiles));
    let grid = TileGrid::new(columns * width, rows * height, mode.multisample)
        .map_err(|_| Reason::Value("the picture has no tiles, or too many"))?;
    // Tile lists are found by their place, so that has to be the one that the driver uses.
    let expected = tile_memory::binning_mode(&grid, mode.tile_state, mode.tile_allocation, mode.tile_allocation_bytes);
    if *mode != expected {
        return Err(Reason::Value("initial blocks have 32 bytes and further blocks 128"));
    }
    let state = Span { address: mode.tile_state, bytes: grid.tiles() * tile_memory::STATE_BYTES };
    let lists = Span { address: mode.tile_allocation, bytes: mode.tile_allocation_bytes };
    for span in [state, lists] {
        checker.rights.may_write(span.address, u64::from(span.bytes))?;
    }
    if !state.is_apart_from(&lists) {
        return Err(Reason::Value("tile state and tile lists share memory"));
    }
    let least = grid.tiles() * mode.initial_block_size.bytes() + tile_memory::LEAST_GROWTH_BYTES;
    if mode.tile_allocation_bytes < least {
        return Err(Reason::Value("tile allocation memory is too small for the tiles' first blocks"));
    }
    Ok(Binned { grid, lists: mode.tile_allocation, memory: [state, lists] })
}

fn indexed<M: GpuMemory>(
    checker: &Checker<'_, M>,
    draw: &IndexedPrimitiveList,
    fetches: Option<&[Option<Fetch>; FETCHES]>,
) -> Result<(), Reason> {
    let bytes = match draw.index_type {
        IndexType::Bits8 => 1,
        IndexType::Bits16 => 2,
        IndexType::Reserved(_) => return Err(Reason::Value("indices have 8 or 16 bits")),
    };
    checker.rights.may_read(draw.address, u64::from(draw.length) * bytes)?;
    // Greater indices are an error of the hardware's, which fetches nothing for them.
    vertices(checker, u64::from(draw.maximum_index) + 1, fetches)
}

/// Whether vertices 0 to `count` - 1 may be fetched.
fn vertices<M: GpuMemory>(
    checker: &Checker<'_, M>,
    count: u64,
    fetches: Option<&[Option<Fetch>; FETCHES]>,
) -> Result<(), Reason> {
    let fetches = fetches.ok_or(Reason::Order("primitives come after a shader state record"))?;
    if count == 0 {
        return Ok(());
    }
    for fetch in fetches.iter().flatten() {
        checker.rights.may_read(fetch.address, (count - 1) * u64::from(fetch.stride) + u64::from(fetch.bytes))?;
    }
    Ok(())
}

/// One part of a record, from its bytes.
fn part<L: Layout>(bytes: &[u8], at: u32) -> Result<L, Reason> {
    bytes.get(at as usize..).and_then(L::read_from).ok_or(Reason::Value("the shader record is cut short"))
}

fn gl_record<M: GpuMemory>(
    checker: &Checker<'_, M>,
    state: &GlShaderState,
) -> Result<[Option<Fetch>; FETCHES], Reason> {
    if state.extended {
        return Err(Reason::Value("extended shader records are not supported"));
    }
    let count = if state.attribute_arrays == 0 { gl::MAX_ATTRIBUTES } else { u32::from(state.attribute_arrays) };
    let bytes = checker.bytes(state.address.0, gl::ATTRIBUTES + count * gl::ATTRIBUTE_BYTES)?;
    let fragment: GlFragment = part(&bytes, gl::FRAGMENT)?;
    let vertex: GlVertex = part(&bytes, gl::VERTEX)?;
    let coordinate: GlVertex = part(&bytes, gl::COORDINATE)?;
    shader::check(checker, Kind::Fragment, fragment.code, fragment.uniforms)?;
    shader::check(checker, Kind::Vertex, vertex.code, vertex.uniforms)?;
    shader::check(checker, Kind::Vertex, coordinate.code, coordinate.uniforms)?;
    let mut fetches = [None; FETCHES];
    for (index, fetch) in (0..count).zip(&mut fetches) {
        let attribute: AttributeArray = part(&bytes, gl::ATTRIBUTES + index * gl::ATTRIBUTE_BYTES)?;
        *fetch = Some(Fetch {
            address: attribute.address,
            stride: u32::from(attribute.stride),
            bytes: u32::from(attribute.bytes_minus_1) + 1,
        });
    }
    Ok(fetches)
}

fn nv_record<M: GpuMemory>(
    checker: &Checker<'_, M>,
    state: &NvShaderState,
) -> Result<[Option<Fetch>; FETCHES], Reason> {
    if !state.address.is_aligned(ALIGNMENT) {
        return Err(Reason::Value("shader records are 16-byte aligned"));
    }
    let bytes = checker.bytes(state.address, NvShaderRecord::BYTES as u32)?;
    let record: NvShaderRecord = part(&bytes, 0)?;
    shader::check(checker, Kind::Fragment, record.code, record.uniforms)?;
    let format = v3d_hw::shaded_vertex::Format { clip_header: record.clip_header, point_size: record.point_size };
    let vertex_bytes = 4 * (format.varyings() + u32::from(record.varyings));
    let mut fetches = [None; FETCHES];
    // The fetch is by whole vertices: it may reach to the end of the stride.
    fetches[0] = Some(Fetch {
        address: record.vertices,
        stride: u32::from(record.stride),
        bytes: vertex_bytes.max(u32::from(record.stride)),
    });
    Ok(fetches)
}

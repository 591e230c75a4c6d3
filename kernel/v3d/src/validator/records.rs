//! Shader records: the programs, uniforms and vertices that a shader state selects.
//!
//! A record is checked once for all states that refer to it, since memory does not change during validation.

use super::shader::{Facts, ProgramKind, Programs};
use super::{Checker, Reason};
use crate::jobs::user_program::VPM_RESERVATION;
use crate::platform::GpuMemory;
use alloc::collections::BTreeMap;
use v3d_hw::control_list::{GlShaderState, NvShaderState, PrimitiveMode, Threading};
use v3d_hw::shaded_vertex::Format;
use v3d_hw::shader_record::{ALIGNMENT, AttributeArray, GlFragment, GlVertex, NvShaderRecord, gl};
use v3d_hw::vpm::WINDOW_ROWS;
use v3d_hw::{BusAddr, Layout};

/// Rows of the VPM: 12 KiB of 64 bytes.
const VPM_ROWS: u32 = 192;
/// Rows that the driver keeps for user programs, in units of 256 bytes.
const RESERVED_ROWS: u32 = VPM_RESERVATION as u32 * 4;
/// Most attribute arrays.
const FETCHES: usize = gl::MAX_ATTRIBUTES as usize;

/// A draw reads, for vertex `n`, `bytes` bytes at `address + n * stride`.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    address: BusAddr,
    stride: u32,
    bytes: u32,
}

/// The selected programs and vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shading {
    fetches: [Option<Fetch>; FETCHES],
    /// Number of the vertices' varyings.
    varyings: u8,
    fragment: Facts,
}

impl Shading {
    /// Whether the fragment shader, as one of two threads, switches them, and whether it may end without.
    pub(super) const fn thread_use(&self) -> (bool, bool) {
        (self.fragment.switches_threads, self.fragment.never_switches)
    }

    /// Checks that primitives of this mode with vertices 0 to `count` - 1 may be drawn into pixels with this number of samples.
    pub(super) fn draw<M: GpuMemory>(
        &self,
        checker: &Checker<'_, M>,
        mode: PrimitiveMode,
        count: u64,
        multisample: bool,
    ) -> Result<(), Reason> {
        let implicit = match mode {
            PrimitiveMode::Points => 2,
            PrimitiveMode::Lines | PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => 1,
            PrimitiveMode::Triangles | PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => 0,
            PrimitiveMode::Reserved(_) => return Err(Reason::Value("the primitive mode is reserved")),
        };
        // A program that never ends need not read them all; the driver's recovery handles it.
        let read = self.fragment.varyings.map(u32::from);
        if read.is_some_and(|read| read != u32::from(self.varyings) + implicit) {
            return Err(Reason::Value("the fragment shader reads another number of varyings than primitives have"));
        }
        let samples = if multisample { 4 } else { 1 };
        if self.fragment.samples > samples {
            return Err(Reason::Value("the fragment shader accesses more samples than a pixel has"));
        }
        if self.fragment.reads_coverage && multisample {
            return Err(Reason::Value("the fragment shader reads coverage, which multisampling has not"));
        }
        if count == 0 {
            return Ok(());
        }
        for fetch in self.fetches.iter().flatten() {
            let bytes = (count - 1) * u64::from(fetch.stride) + u64::from(fetch.bytes);
            checker.may_read(fetch.address, bytes)?;
        }
        Ok(())
    }
}

/// The validated records of a job, and their programs.
#[derive(Debug, Default)]
pub(super) struct Records {
    gl: BTreeMap<(BusAddr, u8), Shading>,
    nv: BTreeMap<BusAddr, Shading>,
    programs: Programs,
}

/// Size of the longest shader record.
const RECORD_BYTES: usize = (gl::ATTRIBUTES + gl::MAX_ATTRIBUTES * gl::ATTRIBUTE_BYTES) as usize;

/// Address and bytes of a shader record.
struct RecordBytes {
    address: BusAddr,
    bytes: [u8; RECORD_BYTES],
    count: usize,
}

impl RecordBytes {
    /// Loads a record, which the job must have a right to read.
    fn load<M: GpuMemory>(checker: &Checker<'_, M>, address: BusAddr, count: u32) -> Result<Self, Reason> {
        checker.keep::<((BusAddr, u8), Shading)>(1)?;
        let (mut bytes, count) = ([0; RECORD_BYTES], RECORD_BYTES.min(count as usize));
        checker.load(address, &mut bytes[..count])?;
        Ok(Self { address, bytes, count })
    }

    /// The part of the record at offset `at`; its addresses are recorded.
    fn part<L: Layout, M: GpuMemory>(&self, checker: &Checker<'_, M>, at: u32) -> Result<L, Reason> {
        let bytes = self.bytes.get(at as usize..self.count).unwrap_or_default();
        let part = L::read_from(bytes).ok_or(Reason::Value("the shader record is cut short"))?;
        checker.note(|survey| survey.note_addresses(self.address + at, L::FIELDS, bytes));
        Ok(part)
    }
}

const fn fragment_kind(threading: Threading) -> ProgramKind {
    ProgramKind::Fragment { threaded: matches!(threading, Threading::Dual) }
}

/// Whether a batch of vertices fits into the VPM.
fn fits_the_vpm(rows: u32) -> Result<(), Reason> {
    if rows <= VPM_ROWS - RESERVED_ROWS { Ok(()) } else { Err(Reason::Value("the VPM has no room for the vertices")) }
}

impl Records {
    /// The programs and vertices that a GL shader state selects.
    pub(super) fn gl<M: GpuMemory>(
        &mut self,
        checker: &Checker<'_, M>,
        state: &GlShaderState,
    ) -> Result<Shading, Reason> {
        if state.extended {
            return Err(Reason::Value("extended shader records are not supported"));
        }
        let key = (state.address.0, state.attribute_arrays);
        if let Some(known) = self.gl.get(&key) {
            return Ok(*known);
        }
        let count = if state.attribute_arrays == 0 { gl::MAX_ATTRIBUTES } else { u32::from(state.attribute_arrays) };
        checker.spend(1 + count)?;
        let record = RecordBytes::load(checker, state.address.0, gl::ATTRIBUTES + count * gl::ATTRIBUTE_BYTES)?;
        let fragment: GlFragment = record.part(checker, gl::FRAGMENT)?;
        let kind = fragment_kind(fragment.threading);
        let facts = self.programs.check(checker, kind, fragment.code, fragment.uniforms)?;
        let screen = Format { clip_header: false, point_size: fragment.point_size };
        // Without clipping the coordinate shader's vertices have no clip coordinates either [bm docs/DRIVERS.md].
        let coordinates = Format { clip_header: fragment.clipping, ..screen };
        let more_rows = "a vertex or coordinate shader writes more rows than shaded vertices have";
        let clip_rows = if fragment.clipping {
            more_rows
        } else {
            "the coordinate shader writes clip coordinates, but the record has clipping off: boards then draw nothing"
        };
        let shaded = [
            (gl::VERTEX, screen.varyings() + u32::from(fragment.varyings), more_rows),
            (gl::COORDINATE, coordinates.varyings(), clip_rows),
        ];
        for (at, outputs, too_many) in shaded {
            let program: GlVertex = record.part(checker, at)?;
            self.vertex_program(checker, &program, outputs, too_many)?;
        }
        let mut fetches = [None; FETCHES];
        for (index, fetch) in (0..count).zip(&mut fetches) {
            let attribute: AttributeArray = record.part(checker, gl::ATTRIBUTES + index * gl::ATTRIBUTE_BYTES)?;
            *fetch = Some(Fetch {
                address: attribute.address,
                stride: u32::from(attribute.stride),
                bytes: u32::from(attribute.bytes_minus_1) + 1,
            });
        }
        let shading = Shading { fetches, varyings: fragment.varyings, fragment: facts };
        self.gl.insert(key, shading);
        Ok(shading)
    }

    /// Checks a vertex or coordinate shader whose vertices have this number of rows; `too_many` says that it writes more.
    fn vertex_program<M: GpuMemory>(
        &mut self,
        checker: &Checker<'_, M>,
        program: &GlVertex,
        outputs: u32,
        too_many: &'static str,
    ) -> Result<(), Reason> {
        let inputs = u32::from(program.attributes_bytes).div_ceil(4);
        let facts = self.programs.check(checker, ProgramKind::Vertex, program.code, program.uniforms)?;
        if facts.input_rows > inputs {
            return Err(Reason::Value("a vertex or coordinate shader reads more rows than its attributes have"));
        }
        if facts.output_rows > outputs.min(WINDOW_ROWS) {
            return Err(Reason::Value(too_many));
        }
        fits_the_vpm(inputs + outputs)
    }

    /// The programs and vertices that an NV shader state selects.
    pub(super) fn nv<M: GpuMemory>(
        &mut self,
        checker: &Checker<'_, M>,
        state: &NvShaderState,
    ) -> Result<Shading, Reason> {
        if !state.address.is_aligned(ALIGNMENT) {
            return Err(Reason::Value("shader records are 16-byte aligned"));
        }
        if let Some(known) = self.nv.get(&state.address) {
            return Ok(*known);
        }
        checker.spend(1)?;
        let bytes = RecordBytes::load(checker, state.address, NvShaderRecord::BYTES as u32)?;
        let record: NvShaderRecord = bytes.part(checker, 0)?;
        if record.clip_header && !record.vertices.is_aligned(ALIGNMENT) {
            return Err(Reason::Value("vertices with clip coordinates are 16-byte aligned"));
        }
        if record.clipping && !record.clip_header {
            return Err(Reason::Value("vertices without clip coordinates cannot be clipped"));
        }
        let fragment = self.programs.check(checker, fragment_kind(record.threading), record.code, record.uniforms)?;
        let format = Format { clip_header: record.clip_header, point_size: record.point_size };
        let rows = format.varyings() + u32::from(record.varyings);
        fits_the_vpm(rows)?;
        let mut fetches = [None; FETCHES];
        // Whole vertices are fetched, including any padding up to the stride.
        fetches[0] = Some(Fetch {
            address: record.vertices,
            stride: u32::from(record.stride),
            bytes: (4 * rows).max(u32::from(record.stride)),
        });
        let shading = Shading { fetches, varyings: record.varyings, fragment };
        self.nv.insert(state.address, shading);
        Ok(shading)
    }
}

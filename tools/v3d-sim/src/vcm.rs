//! Vertex cache manager and DMA (VCM, VCD): batches of vertices, fetched and shaded.
//!
//! The VCM collects the vertices of primitives into batches of up to 16. For each batch the VCD fetches the selected attributes into the VPM, a
//! column for each vertex, and a QPU runs the coordinate shader (binning) or the vertex shader (rendering), which leaves the shaded vertices in
//! columns as well. In NV mode vertices are already shaded and only fetched.
//!
//! Shading is a pure function of memory, the shader record and the indices: batches may be shaded on any thread in any order.
//!
//! # Sources
//! [AG p.53], [AG p.60-61], [AG p.63], [AG p.79-81]. That attributes of stride 0 are the same for all vertices: [linux vc4_validate.c].

use crate::counters::Counters;
use crate::fault::FaultLog;
use crate::lanes::Lanes;
use crate::memory::{Memory, OutOfMemory};
use crate::qpu::{CodeCache, Exit, INSTRUCTION_CYCLES, Launch, Qpu};
use crate::state::{GlShader, NvShader, Shader};
use crate::timing::trace::Invocation;
use crate::vpm::VertexIo;
use rayon::prelude::*;
use v3d_hw::BusAddr;
use v3d_hw::qpu::LANES;
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::shaded_vertex::Format;

/// Maximum number of rows of the VPM for a batch: the window of a QPU.
pub const MAX_ROWS: usize = v3d_hw::vpm::WINDOW_ROWS as usize;

/// Which of a shader record's two vertex programs is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The coordinate shader, for binning.
    Coordinate,
    /// The vertex shader, for rendering.
    Vertex,
}

/// Why vertices cannot be shaded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VcdFault {
    /// An attribute is not in memory.
    #[error("attribute array {array}, vertex {index}: {error}")]
    Attribute {
        /// Number of the attribute array.
        array: u32,
        /// Index of the vertex.
        index: u32,
        /// What is wrong.
        error: OutOfMemory,
    },
    /// A shaded vertex is not in memory.
    #[error("NV vertex {index}: {error}")]
    Shaded {
        /// Index of the vertex.
        index: u32,
        /// What is wrong.
        error: OutOfMemory,
    },
    /// Vertices with a clip header must be 16-byte aligned.
    #[error("the vertices at {0} have clip coordinates and are not 16-byte aligned")]
    Unaligned(BusAddr),
    /// A shader does not end.
    #[error("the coordinate or vertex shader at {code} does not end")]
    Endless {
        /// Address of its first instruction.
        code: BusAddr,
    },
    /// The state has no shaders, or VG shaders, which have no vertices.
    #[error("vertices are drawn without a GL or NV shader state")]
    NoShader,
}

/// The attributes of a batch: the rows that the VCD has put into the VPM, vertex n in element n.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Rows.
    pub rows: Vec<Lanes>,
}

/// Fetches the attributes of up to 16 vertices for one of the vertex programs. Elements without a vertex are 0.
///
/// Arrays may be longer than the total size of the attributes leaves room for; the excess is not stored. Drivers rely on that: they count only the
/// components that a shader reads [mesa vc4_program.c].
pub fn fetch(
    memory: Memory<'_>,
    shader: &GlShader,
    stage: Stage,
    indices: &[u32],
    mut report: impl FnMut(VcdFault),
) -> Batch {
    let program = match stage {
        Stage::Coordinate => &shader.coordinate,
        Stage::Vertex => &shader.vertex,
    };
    let total = u32::from(program.attributes_bytes);
    let mut rows = vec![Lanes::default(); total.div_ceil(4).min(MAX_ROWS as u32) as usize];
    for (array, attribute) in (0u32..).zip(&shader.attributes) {
        if program.attribute_select >> array & 1 == 0 {
            continue;
        }
        let offset = u32::from(match stage {
            Stage::Coordinate => attribute.coordinate_vpm_offset,
            Stage::Vertex => attribute.vertex_vpm_offset,
        });
        for (lane, &index) in indices.iter().enumerate().take(LANES) {
            let from = attribute.address + index.wrapping_mul(attribute.stride);
            if let Err(error) = fetch_column(memory, from, attribute.bytes, offset, lane, &mut rows) {
                report(VcdFault::Attribute { array, index, error });
            }
        }
    }
    Batch { rows }
}

/// Copies bytes of memory down a column, from byte `offset` on; bytes beyond the last row are dropped.
fn fetch_column(
    memory: Memory<'_>,
    from: BusAddr,
    bytes: u32,
    offset: u32,
    lane: usize,
    rows: &mut [Lanes],
) -> Result<(), OutOfMemory> {
    let whole_words = offset.is_multiple_of(4) && bytes.is_multiple_of(4) && from.is_aligned(4);
    if whole_words {
        for (word, row) in rows.iter_mut().skip(offset as usize / 4).take(bytes as usize / 4).enumerate() {
            row.0[lane] = memory.word(from + 4 * word as u32)?;
        }
        return Ok(());
    }
    for byte in 0..bytes {
        let to = offset + byte;
        let Some(row) = rows.get_mut(to as usize / 4) else { break };
        let shift = 8 * (to % 4);
        row.0[lane] = row.0[lane] & !(0xff << shift) | u32::from(memory.byte(from + byte)?) << shift;
    }
    Ok(())
}

/// Fetches up to 16 shaded vertices of NV mode, in the stage's format: for rendering without the clip header.
pub fn fetch_shaded(
    memory: Memory<'_>,
    shader: &NvShader,
    stage: Stage,
    indices: &[u32],
    mut report: impl FnMut(VcdFault),
) -> ShadedBatch {
    let record = &shader.record;
    if record.clip_header && !record.vertices.is_aligned(16) {
        report(VcdFault::Unaligned(record.vertices));
    }
    let stored = shader.format();
    let (format, first, words) = match stage {
        Stage::Coordinate => (stored, 0, stored.varyings()),
        Stage::Vertex => {
            let format = Format { clip_header: false, ..stored };
            (format, stored.screen_xy(), format.varyings() + u32::from(record.varyings))
        }
    };
    let mut rows = vec![Lanes::default(); words as usize];
    for (lane, &index) in indices.iter().enumerate().take(LANES) {
        let from = record.vertices + index.wrapping_mul(u32::from(record.stride)) + 4 * first;
        for (row, word) in rows.iter_mut().zip(0u32..) {
            let mut bytes = [0; 4];
            match memory.read(from + 4 * word, &mut bytes) {
                Ok(()) => row.0[lane] = u32::from_le_bytes(bytes),
                Err(error) => {
                    report(VcdFault::Shaded { index, error });
                    break;
                }
            }
        }
    }
    ShadedBatch { format, rows }
}

/// Up to 16 shaded vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadedBatch {
    /// Format of the rows.
    pub format: Format,
    /// Word n of the vertices, vertex by vertex.
    pub rows: Vec<Lanes>,
}

impl ShadedBatch {
    /// A word of a vertex; 0 beyond the last row.
    pub fn word(&self, vertex: usize, word: u32) -> u32 {
        self.rows.get(word as usize).and_then(|row| row.0.get(vertex)).copied().unwrap_or(0)
    }
}

/// The format of a GL shader's output, and its number of words.
pub fn gl_format(shader: &GlShader, stage: Stage) -> (Format, u32) {
    let format = Format { clip_header: stage == Stage::Coordinate, point_size: shader.fragment.point_size };
    let varyings = if stage == Stage::Vertex { u32::from(shader.fragment.varyings) } else { 0 };
    (format, format.varyings() + varyings)
}

/// Rows of the VPM that a batch needs, for its attributes and for its shaded vertices. In NV mode the VCD fetches vertices to where shaded ones go.
pub fn rows_needed(shader: VertexShader<'_>, stage: Stage) -> u32 {
    match shader {
        VertexShader::Gl(shader) => {
            let program = match stage {
                Stage::Coordinate => &shader.coordinate,
                Stage::Vertex => &shader.vertex,
            };
            u32::from(program.attributes_bytes).div_ceil(4) + gl_format(shader, stage).1
        }
        VertexShader::Nv(shader) => match stage {
            Stage::Coordinate => shader.format().varyings(),
            Stage::Vertex => shader.format().varyings() + u32::from(shader.record.varyings),
        },
    }
}

/// Outputs of shading beside the vertices.
#[derive(Debug)]
pub struct Reports<'a> {
    /// Counts are added here.
    pub counters: &'a mut Counters,
    /// Faults are reported here.
    pub faults: &'a mut FaultLog,
    /// QPU instructions that may still be executed.
    pub instructions: &'a mut u64,
}

/// Inputs of shading.
#[derive(Clone, Copy, Debug)]
pub struct Shading<'a> {
    /// Guest memory.
    pub memory: Memory<'a>,
    /// Decoded programs.
    pub code: &'a CodeCache,
    /// Shade batches on several host threads.
    pub parallel: bool,
}

/// Batches from which on several host threads are worth their start.
const PARALLEL_BATCHES: usize = 8;

impl Shading<'_> {
    /// Shades vertices in batches of 16. The result and the reports do not depend on the number of host threads.
    pub fn shade_all(
        &self,
        shader: VertexShader<'_>,
        stage: Stage,
        indices: &[u32],
        reports: &mut Reports<'_>,
    ) -> Vec<ShadedBatch> {
        let batches = indices.chunks(LANES);
        // Every batch has the same limit, so that their order does not matter.
        let record = reports.counters.has_timing();
        let limit = (*reports.instructions / batches.len().max(1) as u64).max(1);
        let shade = |worker: &mut VertexWorker, batch: &[u32]| {
            let (mut counters, mut faults, mut left) = (Counters::default(), FaultLog::default(), limit);
            let mut own = Reports { counters: &mut counters, faults: &mut faults, instructions: &mut left };
            let shaded = self.shade_recorded(worker, shader, stage, batch, record, &mut own);
            (shaded, counters, faults, limit - left)
        };
        let results: Vec<_> = if self.parallel && batches.len() >= PARALLEL_BATCHES {
            indices.par_chunks(LANES).map_init(VertexWorker::default, shade).collect()
        } else {
            let mut worker = VertexWorker::default();
            batches.map(|batch| shade(&mut worker, batch)).collect()
        };
        let mut shaded = Vec::with_capacity(results.len());
        for (batch, counters, faults, used) in results {
            reports.counters.merge(counters);
            reports.faults.merge(faults);
            *reports.instructions = reports.instructions.saturating_sub(used);
            shaded.push(batch);
        }
        shaded
    }

    /// Shades one batch of up to 16 vertices.
    pub fn shade(
        &self,
        worker: &mut VertexWorker,
        shader: VertexShader<'_>,
        stage: Stage,
        indices: &[u32],
        reports: &mut Reports<'_>,
    ) -> ShadedBatch {
        let record = reports.counters.has_timing();
        self.shade_recorded(worker, shader, stage, indices, record, reports)
    }

    /// The same; `record`: the program leaves a trace.
    fn shade_recorded(
        &self,
        worker: &mut VertexWorker,
        shader: VertexShader<'_>,
        stage: Stage,
        indices: &[u32],
        record: bool,
        reports: &mut Reports<'_>,
    ) -> ShadedBatch {
        let report = |fault| reports.faults.report(fault);
        let shader = match shader {
            VertexShader::Nv(shader) => return fetch_shaded(self.memory, shader, stage, indices, report),
            VertexShader::Gl(shader) => shader,
        };
        let VertexWorker { qpu, io } = worker;
        let program = match stage {
            Stage::Coordinate => &shader.coordinate,
            Stage::Vertex => &shader.vertex,
        };
        let (format, words) = gl_format(shader, stage);
        let batch = fetch(self.memory, shader, stage, indices, report);
        io.begin(batch.rows.len() as u32, words);
        for (row, attributes) in (0u32..).zip(&batch.rows) {
            if let Ok(row) = io.inputs_mut().row_mut(row) {
                *row = *attributes;
            }
        }
        let rows = batch.rows.len() as u32;
        let work = match stage {
            Stage::Coordinate => Invocation::Coordinates { rows },
            Stage::Vertex => Invocation::Vertices { rows },
        };
        let record = record.then_some(work);
        qpu.start(&Launch { pc: program.code, uniforms: program.uniforms, record, ..Launch::default() });
        let exit = qpu.run(io, self.memory, self.code, reports.instructions);
        reports.counters.merge(std::mem::take(&mut qpu.counters));
        reports.counters.add(CounterSource::QpuVertexCycles, qpu.executed() * INSTRUCTION_CYCLES);
        reports.faults.merge(qpu.take_faults());
        reports.faults.signals.raise(io.signals());
        if exit != Exit::Ended {
            reports.faults.report(VcdFault::Endless { code: program.code });
        }
        ShadedBatch { format, rows: io.outputs().rows().to_vec() }
    }
}

/// A QPU with the VPM of its batch, reused from batch to batch.
#[derive(Debug, Default)]
pub struct VertexWorker {
    qpu: Qpu,
    io: VertexIo,
}

/// Shaders that have vertices.
#[derive(Clone, Copy, Debug)]
pub enum VertexShader<'a> {
    /// GL mode.
    Gl(&'a GlShader),
    /// NV mode.
    Nv(&'a NvShader),
}

impl<'a> VertexShader<'a> {
    /// The shaders of a state; `None` without a shader state and in VG mode.
    pub fn of(shader: Option<&'a Shader>) -> Option<Self> {
        match shader? {
            Shader::Gl(shader) => Some(Self::Gl(shader)),
            Shader::Nv(shader) => Some(Self::Nv(shader)),
            Shader::Vg(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use crate::state::Attribute;
    use v3d_hw::shader_record::{GlFragment, GlVertex, NvShaderRecord};

    fn shader(total: u8, select: u8, attributes: Vec<Attribute>) -> GlShader {
        let program = GlVertex { attributes_bytes: total, attribute_select: select, ..Default::default() };
        GlShader {
            address: BusAddr(0),
            fragment: GlFragment::default(),
            vertex: program,
            coordinate: program,
            attributes,
        }
    }

    fn attribute(address: u32, bytes: u32, stride: u32, offset: u8) -> Attribute {
        Attribute {
            address: BusAddr(address),
            bytes,
            stride,
            vertex_vpm_offset: offset,
            coordinate_vpm_offset: offset + 4,
        }
    }

    /// Memory in which each byte is the low byte of its address plus 1.
    fn counting(bytes: usize) -> OwnedMemory {
        let owned = OwnedMemory::new(bytes);
        for i in 0..bytes as u32 {
            owned.view().set_byte(BusAddr(i), (i + 1) as u8).unwrap();
        }
        owned
    }

    /// Every size from 1 to 64 bytes at every alignment, strides 0 and others, compared with a byte-by-byte copy.
    #[test]
    fn columns_hold_the_bytes_of_their_vertex() {
        let owned = counting(0x1000);
        for bytes in 1..=64u32 {
            for (address, stride, offset) in [(0x100, 0, 0), (0x101, 20, 4), (0x7f, 64, 8), (0x200, 12, 3)] {
                let shader = shader(100, 1, vec![attribute(address, bytes, stride, offset)]);
                let indices = [5, 0, 9];
                let batch = fetch(owned.view(), &shader, Stage::Vertex, &indices, |fault| panic!("{fault}"));
                assert_eq!(batch.rows.len(), 25);
                for lane in 0..16 {
                    let column: Vec<u8> = batch.rows.iter().flat_map(|row| row.0[lane].to_le_bytes()).collect();
                    let mut expected = vec![0u8; 100];
                    if let Some(index) = indices.get(lane) {
                        for byte in 0..bytes {
                            expected[(u32::from(offset) + byte) as usize] = (address + index * stride + byte + 1) as u8;
                        }
                    }
                    assert_eq!(column, expected, "{bytes} bytes, stride {stride}, lane {lane}");
                }
            }
        }
    }

    #[test]
    fn eight_arrays_and_the_stage_decides_which_and_where() {
        let owned = counting(0x1000);
        let arrays = (0..8).map(|i| attribute(0x100 * (i + 1), 4, 4, 4 * i as u8)).collect();
        let mut shader = shader(36, 0xff, arrays);
        shader.coordinate.attribute_select = 0b1000_0001;
        let first_column = |stage| -> Vec<u8> {
            let batch = fetch(owned.view(), &shader, stage, &[2], |fault| panic!("{fault}"));
            batch.rows.iter().map(|row| row.0[0] as u8).collect()
        };
        // Byte 8 of each page holds 9.
        assert_eq!(first_column(Stage::Vertex), [9, 9, 9, 9, 9, 9, 9, 9, 0]);
        assert_eq!(first_column(Stage::Coordinate), [0, 9, 0, 0, 0, 0, 0, 0, 9]);
    }

    #[test]
    fn attributes_that_are_not_there_are_faults_and_those_that_do_not_fit_are_cut() {
        let owned = counting(0x100);
        let shader = shader(8, 1, vec![attribute(0xf8, 12, 4, 0)]);
        let mut faults = Vec::new();
        let batch = fetch(owned.view(), &shader, Stage::Vertex, &[0, 2], |fault| faults.push(fault));
        assert_eq!(batch.rows.len(), 2);
        assert_eq!(batch.rows[1].0[0], 0x00ff_fefd);
        assert!(matches!(faults[0], VcdFault::Attribute { array: 0, index: 2, .. }));
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn nv_vertices_lose_their_clip_header_for_rendering() {
        let owned = OwnedMemory::new(0x200);
        for i in 0..0x80 {
            owned.view().set_word(BusAddr(4 * i), i).unwrap();
        }
        let record = NvShaderRecord {
            vertices: BusAddr(0x40),
            varyings: 2,
            stride: 40,
            clip_header: true,
            point_size: true,
            ..Default::default()
        };
        let shader = NvShader { address: BusAddr(0), record };
        let view = owned.view();
        let coordinates = fetch_shaded(view, &shader, Stage::Coordinate, &[0, 3], |fault| panic!("{fault}"));
        assert_eq!(coordinates.rows.len(), 8);
        assert_eq!([coordinates.word(0, 0), coordinates.word(1, 0), coordinates.word(1, 7)], [16, 46, 53]);
        let vertices = fetch_shaded(view, &shader, Stage::Vertex, &[0, 3], |fault| panic!("{fault}"));
        assert_eq!(vertices.rows.len(), 6);
        assert_eq!([vertices.word(0, 0), vertices.word(1, 5), vertices.word(1, 6)], [20, 55, 0]);
        let mut faults = 0;
        fetch_shaded(view, &shader, Stage::Vertex, &[1000], |_| faults += 1);
        assert_eq!(faults, 1);
    }
}

//! Vertex cache manager and DMA (VCM, VCD): batches of vertices, fetched and shaded.
//!
//! The VCM collects the vertices of primitives into batches of up to 16. For each batch the VCD fetches the selected attributes into the VPM, a
//! column for each vertex, and a QPU runs the coordinate shader (binning) or the vertex shader (rendering), which leaves the shaded vertices in
//! columns as well. In NV mode vertices are already shaded and only fetched.
//!
//! A batch may have less than 16 vertices. Its program runs in all elements nevertheless, and those without a vertex contain anything: on boards a loop whose
//! end depends on them may never end [mesa CI]. Here they contain [noise](UndefinedElements), their results go nowhere, and a loop that
//! they keep from ending is reported and ended.
//!
//! Shading is a pure function of memory, the shader record and the indices: batches may be shaded on any thread in any order.
//!
//! # Sources
//! [AG p.53], [AG p.60-61], [AG p.63], [AG p.79-81]. That attributes of stride 0 are the same for all vertices: [linux vc4_validate.c].

pub mod io;
pub mod reuse;
mod vcd;

pub use crate::fault::vertex::VcdFault;
pub use io::VertexIo;
pub use vcd::UndefinedElements;

use crate::counters::Counters;
use crate::device::supervision::Supervision;
use crate::fault::FaultLog;
use crate::memory::Memory;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::qpu::repetition::Relaunch;
use crate::qpu::{CodeCache, Exit, INSTRUCTION_CYCLES, Launch, Qpu, Threading};
use crate::state::{GlShader, NvShader, Shader};
use crate::threads::{lock, map_all};
use crate::timing::trace::Invocation;
use std::sync::Mutex;
use v3d_hw::qpu::LANES;
use v3d_hw::registers::Thread;
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::shaded_vertex::Format;
use v3d_hw::shader_record::GlVertex;

/// Maximum number of rows of the VPM for a batch: the window of a QPU.
pub const MAX_ROWS: usize = v3d_hw::vpm::WINDOW_ROWS as usize;

/// Which of a shader record's two vertex programs is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexStage {
    /// The coordinate shader, for binning.
    Coordinate,
    /// The vertex shader, for rendering.
    Vertex,
}

impl VertexStage {
    /// The program of the stage.
    const fn program(self, shader: &GlShader) -> &GlVertex {
        match self {
            Self::Coordinate => &shader.coordinate,
            Self::Vertex => &shader.vertex,
        }
    }
}

/// Up to 16 shaded vertices, in the VPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadedBatch<'a> {
    /// Format of the rows.
    pub format: Format,
    /// Word n of the vertices, vertex by vertex.
    pub rows: &'a [Lanes],
    /// The program wrote more rows than the batch has: VPMEWR.
    pub overrun: bool,
}

impl ShadedBatch<'_> {
    /// A word of a vertex; 0 beyond the last row.
    pub fn word(&self, vertex: usize, word: u32) -> u32 {
        self.rows.get(word as usize).and_then(|row| row.0.get(vertex)).copied().unwrap_or(0)
    }
}

/// The format of a GL shader's output, and its number of words.
///
/// A coordinate shader's vertices have clip coordinates only if the record enables clipping: without, boards raise VPMEWR for programs that write them, and
/// draw nothing [bm docs/DRIVERS.md]. That the rows granted are those of a vertex without clip header follows from that; it was not measured.
pub fn gl_format(shader: &GlShader, stage: VertexStage) -> (Format, u32) {
    let clip_header = stage == VertexStage::Coordinate && shader.fragment.clipping;
    let format = Format { clip_header, point_size: shader.fragment.point_size };
    let varyings = if stage == VertexStage::Vertex { u32::from(shader.fragment.varyings) } else { 0 };
    (format, format.varyings() + varyings)
}

/// Rows of the VPM that a batch needs, for its attributes and for its shaded vertices. In NV mode the VCD fetches vertices to where shaded ones go.
pub fn rows_needed(shader: VertexShader<'_>, stage: VertexStage) -> u32 {
    match shader {
        VertexShader::Gl(shader) => {
            u32::from(stage.program(shader).attributes_bytes).div_ceil(4) + gl_format(shader, stage).1
        }
        VertexShader::Nv(shader) => match stage {
            VertexStage::Coordinate => shader.format().varyings(),
            VertexStage::Vertex => shader.format().varyings() + u32::from(shader.record.varyings),
        },
    }
}

/// The elements before the one with this number.
const fn first_elements(count: usize) -> Mask {
    if count >= LANES { ALL } else { (1 << count) - 1 }
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
    /// What runs the programs.
    pub workers: &'a VertexWorkers,
    /// Shade batches on several host threads.
    pub parallel: bool,
    /// What elements without a vertex contain.
    pub undefined: UndefinedElements,
    /// Programs leave traces for the timing model.
    pub record: bool,
    /// How far the list is, and whether it is to stop.
    pub supervision: &'a Supervision,
}

/// Vertices that one program shades.
#[derive(Clone, Copy, Debug)]
pub struct VertexRun<'a> {
    /// The shader record.
    pub shader: VertexShader<'a>,
    /// Which of its programs.
    pub stage: VertexStage,
    /// The vertices; each 16 are a batch.
    pub indices: &'a [u32],
}

/// What is kept of a run's shaded vertices, and what shading them reports.
#[derive(Debug, Default, PartialEq)]
pub struct ShadedRun<K> {
    /// What is kept of some batches each, in the order of the indices.
    pub parts: Vec<K>,
    /// Counts.
    pub counters: Counters,
    /// Faults, in the order of the batches.
    pub faults: FaultLog,
    /// QPU instructions executed.
    pub instructions: u64,
    /// A batch has used up its share of the instructions: its program does not end, and keeps its QPU.
    pub is_stuck: bool,
}

impl<K> ShadedRun<K> {
    /// Passes on what is reported. A program that does not end leaves no instructions to any other.
    pub fn report(self, reports: &mut Reports<'_>) -> Vec<K> {
        reports.counters.merge(self.counters);
        reports.faults.merge(self.faults);
        let left = reports.instructions.saturating_sub(self.instructions);
        *reports.instructions = if self.is_stuck { 0 } else { left };
        self.parts
    }

    /// Adds those of later batches.
    fn append(&mut self, mut later: Self) {
        self.parts.append(&mut later.parts);
        self.counters.merge(later.counters);
        self.faults.merge(later.faults);
        self.instructions += later.instructions;
        self.is_stuck |= later.is_stuck;
    }
}

/// Batches that a host thread takes at a time.
const BATCHES_AT_ONCE: usize = 8;
/// Batches from which on several host threads are worth their start.
const PARALLEL_BATCHES: usize = 32;

impl Shading<'_> {
    /// Shades vertices in batches of 16. `keep` is called for each batch, with the part of the run that it is, and adds to what is kept of some batches; that
    /// is returned, in the order of the indices. The result and the reports do not depend on the number of host threads.
    pub fn shade_all<K: Default + Send>(
        &self,
        shader: VertexShader<'_>,
        stage: VertexStage,
        indices: &[u32],
        reports: &mut Reports<'_>,
        keep: impl Fn(&mut K, &ShadedBatch<'_>, &VertexRun<'_>) + Sync + Send,
    ) -> Vec<K> {
        let shaded = self.shade_runs(&[VertexRun { shader, stage, indices }], *reports.instructions, keep);
        shaded.into_iter().flat_map(|run| run.report(reports)).collect()
    }

    /// Shades the vertices of several runs, which may execute so many instructions together. The result does not depend on the number of host threads.
    pub fn shade_runs<K: Default + Send>(
        &self,
        runs: &[VertexRun<'_>],
        instructions: u64,
        keep: impl Fn(&mut K, &ShadedBatch<'_>, &VertexRun<'_>) + Sync + Send,
    ) -> Vec<ShadedRun<K>> {
        let batches: usize = runs.iter().map(|run| run.indices.len().div_ceil(LANES)).sum();
        // Every batch has the same limit, so that their order does not matter.
        let limit = (instructions / batches.max(1) as u64).max(1);
        let shade = |(number, vertices): (usize, &[u32])| {
            // Large, and passed on several times.
            let mut shaded = Box::new(ShadedRun::default());
            let Some(run) = runs.get(number) else { return (number, shaded) };
            let mut worker = self.workers.take();
            let mut kept = K::default();
            for indices in vertices.chunks(LANES) {
                let run = VertexRun { indices, ..*run };
                let ShadedRun { counters, faults, .. } = &mut *shaded;
                let mut left = limit;
                let mut reports = Reports { counters, faults, instructions: &mut left };
                let batch = self.shade(&mut worker, &run, &mut reports);
                keep(&mut kept, &batch, &run);
                shaded.instructions += limit - left;
                shaded.is_stuck |= left == 0;
            }
            shaded.parts.push(kept);
            shaded.counters.merge(worker.qpu.take_counters());
            // The trace of a program that has not ended would go to whatever runs next.
            if !self.record {
                self.workers.give_back(worker);
            }
            (number, shaded)
        };
        let mut parts: Vec<(usize, &[u32])> = Vec::new();
        for (number, run) in runs.iter().enumerate() {
            parts.extend(run.indices.chunks(LANES * BATCHES_AT_ONCE).map(|vertices| (number, vertices)));
        }
        let is_parallel = self.parallel && batches >= PARALLEL_BATCHES;
        let mut shaded: Vec<ShadedRun<K>> = runs.iter().map(|_| ShadedRun::default()).collect();
        for (number, part) in map_all(parts, is_parallel, || (), |(), part| shade(part)) {
            if let Some(run) = shaded.get_mut(number) {
                run.append(*part);
            }
        }
        shaded
    }

    /// Shades one batch of up to 16 vertices. The worker keeps the counters of its QPU.
    fn shade<'w>(
        &self,
        worker: &'w mut VertexWorker,
        batch: &VertexRun<'_>,
        reports: &mut Reports<'_>,
    ) -> ShadedBatch<'w> {
        let VertexRun { shader, stage, indices } = *batch;
        let VertexWorker { qpu, io, fetched } = worker;
        let report = |fault| reports.faults.report(fault);
        let shader = match shader {
            VertexShader::Nv(shader) => {
                let (format, _, words) = vcd::nv_format(shader, stage);
                fetched.clear();
                fetched.resize(words as usize, Lanes::default());
                vcd::fetch_shaded(self.memory, shader, stage, indices, fetched, report);
                return ShadedBatch { format, rows: fetched, overrun: false };
            }
            VertexShader::Gl(shader) => shader,
        };
        let program = stage.program(shader);
        let (format, words) = gl_format(shader, stage);
        let rows = vcd::attribute_rows(shader, stage);
        fetched.clear();
        fetched.resize(rows as usize, Lanes::default());
        vcd::fetch(self.memory, shader, stage, indices, fetched, report);
        let undefined_elements = match self.undefined {
            UndefinedElements::Zero => 0,
            UndefinedElements::Noise => {
                vcd::fill_with_noise(fetched, indices);
                ALL & !first_elements(indices.len())
            }
        };
        io.begin(rows, words);
        for (row, attributes) in (0u32..).zip(fetched.iter()) {
            if let Ok(row) = io.inputs_mut().row_mut(row) {
                *row = *attributes;
            }
        }
        let (pc, uniforms) = (program.code, program.uniforms);
        let thread = match stage {
            VertexStage::Coordinate => Thread::Binning,
            VertexStage::Vertex => Thread::Rendering,
        };
        let Self { memory, code, supervision, .. } = *self;
        let (ra15, rb15) = (&Lanes::default(), &Lanes::default());
        let again = Relaunch { pc, uniforms, ra15, rb15, threading: Threading::Single };
        let exit = if undefined_elements == 0 && !self.record && qpu.restart(&again, code) {
            supervision.rerun(thread, qpu, io, memory, code, reports.instructions)
        } else {
            let work = || {
                let lines = indices.iter().map(|&index| reuse::lines(VertexShader::Gl(shader), stage, index)).sum();
                match stage {
                    VertexStage::Coordinate => Invocation::Coordinates { lines },
                    VertexStage::Vertex => Invocation::Vertices { lines },
                }
            };
            let record = self.record.then(work);
            qpu.start(&Launch { pc, uniforms, undefined_elements, record, ..Launch::default() });
            supervision.run(thread, qpu, io, memory, code, reports.instructions)
        };
        reports.counters.add(CounterSource::QpuVertexCycles, qpu.executed() * INSTRUCTION_CYCLES);
        if qpu.has_faults() {
            reports.faults.merge(qpu.take_faults());
        }
        reports.faults.signals.raise(io.signals());
        if exit != Exit::Ended {
            let code = program.code;
            reports.faults.report(if self.supervision.is_stopped(thread) {
                VcdFault::Stopped { code }
            } else {
                VcdFault::Endless { code }
            });
        }
        ShadedBatch { format, rows: io.outputs().rows(), overrun: io.signals().vpm_write_range }
    }
}

/// A QPU with the VPM of its batch, reused from batch to batch.
#[derive(Debug, Default)]
struct VertexWorker {
    qpu: Qpu,
    io: VertexIo,
    /// The attributes of a batch, or its vertices if they need no shading.
    fetched: Vec<Lanes>,
}

/// QPUs that shade vertices, for as many host threads as have needed one. Their programs all are of one code cache.
#[derive(Debug, Default)]
pub struct VertexWorkers(Mutex<Vec<Box<VertexWorker>>>);

impl VertexWorkers {
    fn take(&self) -> Box<VertexWorker> {
        lock(&self.0).pop().unwrap_or_default()
    }

    fn give_back(&self, worker: Box<VertexWorker>) {
        lock(&self.0).push(worker);
    }
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

    /// Number of varyings of a vertex.
    pub fn varyings(self) -> u8 {
        match self {
            Self::Gl(shader) => shader.fragment.varyings,
            Self::Nv(shader) => shader.record.varyings,
        }
    }
}

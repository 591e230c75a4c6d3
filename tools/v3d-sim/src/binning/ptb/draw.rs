//! A primitive record being binned, and its shaded vertices.

use super::clip::{self, ClipCoordinates, Viewport};
use super::pieces::{Outcome, Part};
use super::reach::Reach;
use super::{Context, PtbError, PtbFault};
use crate::binning::primitive_assembly::Assembly;
use crate::binning::primitive_list::vertices_of;
use crate::binning::vcm::{
    Reports, ShadedBatch, Shading, VcdFault, VertexRun, VertexShader, VertexStage, VertexWorkers, reuse,
};
use crate::binning::vertex_slots::{NO_SLOT, VertexSlots};
use crate::counters::Counters;
use crate::state::PipelineState;
use crate::timing::trace::{Binned, Trace, Work};
use std::sync::Arc;
use v3d_hw::control_list::PrimitiveListFormat;
use v3d_hw::shaded_vertex::{Format, ScreenXy};
use v3d_hw::{BusAddr, Layout};

/// A primitive record that is being binned.
#[derive(Debug)]
pub(super) struct Draw {
    pub(super) at: BusAddr,
    pub(super) assembly: Assembly,
    pub(super) state: Arc<PipelineState>,
    pub(super) format: PrimitiveListFormat,
    pub(super) primitives: Vec<[u32; 3]>,
    /// The slots of their vertices; none for coordinates.
    pub(super) slots: Vec<[u32; 3]>,
    pub(super) next_primitive: usize,
    /// Number of the chunk's first primitive in the draw.
    pub(super) number: usize,
    pub(super) vertices: VertexTable,
    /// The current part of the chunk, and those behind it.
    pub(super) part: Part,
    pub(super) more_parts: std::vec::IntoIter<Part>,
    /// The next outcome of the part.
    pub(super) next_outcome: usize,
    /// The next piece of the current primitive, and the one behind its last.
    pub(super) next_piece: usize,
    pub(super) end_piece: usize,
    /// Tiles of a piece for which they were not found ahead.
    pub(super) tiles: Vec<u32>,
    pub(super) next_tile: usize,
    /// The vertices had no room: nothing is drawn.
    pub(super) lost: bool,
    pub(super) far_vertex_reported: bool,
    /// Primitives written to tile lists, for the timing model.
    pub(super) entries: u32,
    /// The trace of a batch of vertices, if the timing model runs.
    pub(super) trace: Option<Trace>,
}

/// Shaded coordinates of a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coordinates {
    pub(super) clip: ClipCoordinates,
    /// The clipper has nothing to do, unless it drops a line.
    pub(super) is_inside: bool,
    pub(super) xy: ScreenXy,
    pub(super) z: f32,
    pub(super) reciprocal_w: f32,
    pub(super) point_size: f32,
}

/// Shaded coordinates of the vertices of a draw, by index.
#[derive(Debug, Default)]
pub(super) struct VertexTable {
    slots: VertexSlots,
    /// The vertices that the last primitives have added, in order of appearance.
    new: Vec<u32>,
    /// The coordinates of each slot.
    coordinates: Vec<Coordinates>,
    pub(super) format: Format,
}

/// Shaded coordinates of some batches of vertices.
#[derive(Debug, Default)]
struct ShadedCoordinates {
    coordinates: Vec<Coordinates>,
    format: Format,
    /// A program wrote more rows than its batch has.
    overrun: bool,
}

impl ShadedCoordinates {
    /// Adds the first vertices of a batch.
    fn add(&mut self, batch: &ShadedBatch<'_>, vertices: usize, viewport: &Viewport) {
        let ShadedBatch { format, overrun, .. } = *batch;
        self.format = format;
        self.overrun |= overrun;
        self.coordinates.extend((0..vertices).map(|vertex| {
            let word = |n| batch.word(vertex, n);
            let float = |n| f32::from_bits(word(n));
            let clip = if format.clip_header { [0, 1, 2, 3].map(|i| float(Format::CLIP + i)) } else { [0.0; 4] };
            Coordinates {
                clip,
                is_inside: clip::is_inside(&clip, viewport),
                xy: ScreenXy::from_word(word(format.screen_xy())),
                z: float(format.screen_z()),
                reciprocal_w: float(format.reciprocal_w()),
                point_size: format.point_size().map_or(0.0, float),
            }
        }));
    }
}

/// Vertices that a draw takes at a time.
const CHUNK_VERTICES: u64 = 12_288;

impl Draw {
    /// Takes the next vertices and shades those that are new.
    pub(super) fn next_chunk(&mut self, workers: &VertexWorkers, context: &mut Context<'_>) {
        self.number += self.primitives.len();
        self.primitives.clear();
        self.slots.clear();
        self.next_primitive = 0;
        let at = self.at;
        let faults = &mut *context.faults;
        let chunk = CHUNK_VERTICES.min(*context.vertices);
        *context.vertices -= chunk.min(self.assembly.remaining());
        let taken = self.assembly.take(context.memory, chunk, &mut self.primitives, |fault| {
            faults.report(PtbFault { at, error: fault.into() });
        });
        if let Err(fault) = taken {
            faults.report(PtbFault { at, error: fault.into() });
        }
        context.counters.add_primitives(self.primitives.len());
        if self.assembly.is_coordinates() {
            return;
        }
        let Some(shader) = VertexShader::of(self.state.shader.as_ref()) else {
            faults.report(PtbFault { at, error: VcdFault::NoShader.into() });
            self.primitives.clear();
            return;
        };
        let corners = vertices_of(self.assembly.primitive());
        self.vertices.add(&self.primitives, corners, &mut self.slots);
        let record = context.counters.has_timing();
        let Context { memory, code, parallel, undefined, supervision, .. } = *context;
        let shading = Shading { memory, code, workers, parallel, undefined, record, supervision };
        let mut counters = Counters::default();
        let report = &mut Reports { counters: &mut counters, faults, instructions: context.instructions };
        let viewport = self.viewport();
        let keep = |kept: &mut ShadedCoordinates, batch: &ShadedBatch<'_>, run: &VertexRun<'_>| {
            kept.add(batch, run.indices.len(), &viewport);
        };
        let shaded = shading.shade_all(shader, VertexStage::Coordinate, &self.vertices.new, report, keep);
        let trace = counters.take_traces().into_iter().next();
        context.counters.merge(counters);
        if record {
            self.trace = trace.or(self.trace.take());
            let primitives = self.primitives.iter().map(|vertices| &vertices[..corners]);
            for batch in reuse::batches(shader, VertexStage::Coordinate, primitives) {
                context.counters.add_work(match &self.trace {
                    Some(trace) => Work::Program(trace.for_vertices(batch.lines)),
                    None => Work::Binned(Binned { lines: batch.lines, entries: 0 }),
                });
            }
        }
        if matches!(shader, VertexShader::Gl(gl) if !gl.fragment.clipping) && shaded.iter().any(|part| part.overrun) {
            self.lost = true;
            faults.report(PtbFault { at, error: PtbError::ClippingOff });
        }
        if self.lost {
            self.primitives.clear();
        }
        // Only what no clipper sees can be too far outside.
        let reach = match shader {
            VertexShader::Nv(nv) if !nv.record.clipping && !self.far_vertex_reported => Reach::of(&self.state),
            _ => None,
        };
        let first = self.vertices.coordinates.len();
        for ShadedCoordinates { coordinates, format, .. } in &shaded {
            self.vertices.format = *format;
            self.vertices.coordinates.extend_from_slice(coordinates);
        }
        if let Some(reach) = reach {
            let coordinates = self.vertices.coordinates.get(first..).unwrap_or_default();
            let mut vertices = self.vertices.new.iter().zip(coordinates);
            if let Some(far) = vertices.find_map(|(&index, vertex)| reach.check(index, vertex.xy)) {
                self.far_vertex_reported = true;
                faults.report(PtbFault { at, error: far.into() });
            }
        }
    }

    /// Takes the outcome of the next primitive, whose pieces become the current ones. `None` at the end of the chunk.
    pub(super) fn next_outcome(&mut self) -> Option<Outcome> {
        if self.next_outcome >= self.part.outcomes.len() {
            self.part = self.more_parts.next()?;
            (self.next_outcome, self.next_piece, self.end_piece) = (0, 0, 0);
        }
        let outcome = std::mem::take(self.part.outcomes.get_mut(self.next_outcome)?);
        self.next_outcome += 1;
        self.next_primitive += 1;
        self.end_piece += outcome.pieces;
        Some(outcome)
    }

    /// The coordinates of the vertices of a primitive, given by its place in the chunk.
    pub(super) fn coordinates(&self, place: usize) -> [Coordinates; 3] {
        if self.assembly.is_coordinates() {
            let vertices = self.primitives.get(place).copied().unwrap_or_default();
            return vertices.map(|word| Coordinates { xy: ScreenXy::from_word(word), ..Default::default() });
        }
        let slots = self.slots.get(place).copied().unwrap_or([NO_SLOT; 3]);
        slots.map(|slot| self.vertices.coordinates.get(slot as usize).copied().unwrap_or_default())
    }
}

impl VertexTable {
    /// Assigns slots to the vertices of primitives, and appends those of each primitive to `slots`.
    fn add(&mut self, primitives: &[[u32; 3]], vertices: usize, slots: &mut Vec<[u32; 3]>) {
        self.new.clear();
        slots.extend(primitives.iter().map(|primitive| {
            let mut places = [NO_SLOT; 3];
            for (place, &index) in places.iter_mut().zip(primitive).take(vertices) {
                let next = (self.coordinates.len() + self.new.len()) as u32;
                *place = self.slots.slot(index, next);
                if *place == next {
                    self.new.push(index);
                }
            }
            places
        }));
    }
}

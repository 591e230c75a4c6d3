//! Shaded vertices of a wave, and the primitives that refer to them.
//!
//! Lists refer to vertices by index. Each vertex of a shader record gets a slot when a primitive of the wave first refers to it; before the wave's
//! tiles are drawn all slots are filled, 16 vertices at a time. Lists in VG mode have no vertices: they consist of screen coordinates, with W = 1 and
//! Z = 0.5 [AG p.72].
//!
//! A clipped primitive replaces some of its vertices by new ones. Their positions are in memory; their varyings are combinations of those of the
//! original vertices [AG p.78]. A flat varying keeps the value of the original primitive's last vertex, even if the clipper has replaced that vertex:
//! piglit's interpolation-none-gl_frontcolor-flat-fixed and similar tests need this, and boards pass them [mesa broadcom-rpi3-fails.txt].

pub use crate::fault::rendering::VertexError;

use super::pse::{self, Vertex};
use super::{Config, Context, RenderError};
use crate::binning::primitive_list::{Primitive, vertices_of};
use crate::binning::vcm::reuse::{self, VertexBatch};
use crate::binning::vcm::{Reports, ShadedBatch, Shading, VertexRun, VertexShader, VertexStage, VertexWorkers};
use crate::binning::vertex_slots::VertexSlots;
use crate::memory::Memory;
use crate::qpu::CodeCache;
use crate::state::{PipelineState, Shader, point_size_px};
use crate::timing::trace::Trace;
use std::ops::Range;
use std::sync::Arc;
use v3d_hw::Layout;
use v3d_hw::control_list::{ClippedPrimitive, PrimitiveListFormat};
use v3d_hw::primitive_list::{
    CLIPPED_VERTEX_BYTES, ClippedVertex, ClippedVertexCoefficients, ListDataType, ListPrimitive,
};
use v3d_hw::shaded_vertex::ScreenXy;

/// Depth of VG primitives.
const VG_Z: f32 = 0.5;
/// 1/W of VG primitives.
const VG_RECIPROCAL_W: f32 = 1.0;

/// Primitives of one draw, in the tables of [`Vertices`].
#[derive(Debug)]
pub struct DrawList {
    primitive: ListPrimitive,
    /// The vertices that the corners are slots of; `None`: the corners are coordinates.
    set: Option<usize>,
    corners: Range<usize>,
    clipped: Range<usize>,
}

impl DrawList {
    /// Kind of primitives.
    pub fn primitive(&self) -> ListPrimitive {
        self.primitive
    }

    /// Number of primitives.
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }
}

/// A vertex relative to the viewport centre.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    x: i16,
    y: i16,
    z: f32,
    reciprocal_w: f32,
    point_size: f32,
}

/// The vertices of one shader record.
#[derive(Debug)]
struct Set {
    shader: Shader,
    slots: VertexSlots,
    /// The index of each slot.
    indices: Vec<u32>,
    positions: Vec<Position>,
    varyings: Vec<f32>,
    varyings_each: usize,
    /// The trace of the first batch, if the timing model runs.
    trace: Option<Trace>,
}

impl Set {
    fn new(shader: Shader) -> Self {
        let varyings_each = usize::from(shader.fragment().varyings);
        Self {
            shader,
            slots: VertexSlots::default(),
            indices: Vec::new(),
            positions: Vec::new(),
            varyings: Vec::new(),
            varyings_each,
            trace: None,
        }
    }

    fn slot(&mut self, index: u32) -> u32 {
        let next = self.indices.len() as u32;
        let slot = self.slots.slot(index, next);
        if slot == next {
            self.indices.push(index);
        }
        slot
    }

    /// Its vertices, to be shaded. There always are some, as lists in VG mode have none and so no set.
    fn run(&self) -> Option<VertexRun<'_>> {
        let shader = VertexShader::of(Some(&self.shader))?;
        Some(VertexRun { shader, stage: VertexStage::Vertex, indices: &self.indices })
    }

    fn vertex(&self, slot: u32) -> (Position, &[f32]) {
        let slot = slot as usize;
        let position = self.positions.get(slot).copied().unwrap_or_default();
        let start = slot * self.varyings_each;
        (position, self.varyings.get(start..start + self.varyings_each).unwrap_or(&[]))
    }
}

/// Shaded vertices of some batches.
#[derive(Debug, Default)]
struct ShadedVertices {
    positions: Vec<Position>,
    varyings: Vec<f32>,
}

impl ShadedVertices {
    /// Adds those of a batch.
    fn add(&mut self, batch: &ShadedBatch<'_>, run: &VertexRun<'_>) {
        let format = batch.format;
        for vertex in 0..run.indices.len() {
            let word = |word| batch.word(vertex, word);
            let float = |at| f32::from_bits(word(at));
            let xy = ScreenXy::from_word(word(format.screen_xy()));
            self.positions.push(Position {
                x: xy.x,
                y: xy.y,
                z: float(format.screen_z()),
                reciprocal_w: float(format.reciprocal_w()),
                point_size: format.point_size().map_or(0.0, float),
            });
            let varyings = 0..u32::from(run.shader.varyings());
            self.varyings.extend(varyings.map(|varying| float(format.varyings() + varying)));
        }
    }
}

/// Whether two states use the same vertices.
fn same_vertices(a: &Shader, b: &Shader) -> bool {
    match (a, b) {
        (Shader::Gl(a), Shader::Gl(b)) => Arc::ptr_eq(a, b) || a == b,
        (Shader::Nv(a), Shader::Nv(b)) => a == b,
        _ => false,
    }
}

/// The vertices of a wave.
#[derive(Debug, Default)]
pub struct Vertices {
    sets: Vec<Set>,
    /// The corners of all primitives, list by list.
    corners: Vec<[u32; 3]>,
    /// Clipped primitives, list by list, by their index in the list, ascending.
    clipped: Vec<(usize, ClippedPrimitive)>,
    /// What runs vertex shaders.
    workers: VertexWorkers,
}

impl Vertices {
    /// Number of shader records with vertices.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Adds the vertices of a list.
    pub fn draw(
        &mut self,
        format: PrimitiveListFormat,
        primitives: &[Primitive],
        state: &PipelineState,
    ) -> Result<DrawList, RenderError> {
        let shader = state.shader.as_ref().ok_or(RenderError::NoShader)?;
        let coordinates = format.data_type == ListDataType::Xy;
        if coordinates != matches!(shader, Shader::Vg(_)) {
            return Err(RenderError::ListKind);
        }
        let set = if coordinates {
            None
        } else {
            let found = self.sets.iter().rposition(|set| same_vertices(&set.shader, shader));
            Some(found.unwrap_or_else(|| {
                self.sets.push(Set::new(shader.clone()));
                self.sets.len() - 1
            }))
        };
        let count = match format.primitive {
            ListPrimitive::Points => 1,
            ListPrimitive::Lines | ListPrimitive::Rht => 2,
            _ => 3,
        };
        let Self { sets, corners, clipped, .. } = self;
        let (first_corners, first_clipped) = (corners.len(), clipped.len());
        let mut vertices = set.and_then(|set| sets.get_mut(set));
        corners.extend(primitives.iter().map(|primitive| {
            let mut slots = primitive.vertices;
            if let Some(set) = &mut vertices {
                for vertex in &mut slots[..count] {
                    *vertex = set.slot(*vertex);
                }
            }
            slots
        }));
        let replaced = primitives.iter().enumerate();
        clipped.extend(replaced.filter_map(|(place, primitive)| Some((place, primitive.clipped?))));
        let (corners, clipped) = (first_corners..corners.len(), first_clipped..clipped.len());
        Ok(DrawList { primitive: format.primitive, set, corners, clipped })
    }

    /// Shades all vertices with a slot.
    pub fn shade(&mut self, code: &CodeCache, context: &mut Context<'_>, config: &Config) {
        let Config { parallel, undefined, .. } = *config;
        let record = context.counters.has_timing();
        let supervision = context.supervision;
        let (memory, workers) = (context.memory, &self.workers);
        let shading = Shading { memory, code, workers, parallel, undefined, record, supervision };
        let runs: Vec<VertexRun<'_>> = self.sets.iter().filter_map(Set::run).collect();
        let shaded = shading.shade_runs(&runs, *context.budget, ShadedVertices::add);
        for (set, mut shaded) in self.sets.iter_mut().zip(shaded) {
            set.trace = shaded.counters.take_traces().into_iter().next();
            let (counters, faults) = (&mut *context.counters, &mut *context.faults);
            for part in shaded.report(&mut Reports { counters, faults, instructions: context.budget }) {
                set.positions.extend_from_slice(&part.positions);
                set.varyings.extend_from_slice(&part.varyings);
            }
        }
    }

    /// The batches in which a list's vertices are fetched, and the trace of a batch's program if there is one.
    pub fn batches(&self, list: &DrawList) -> (Vec<VertexBatch>, Option<&Trace>) {
        let Some(set) = list.set.and_then(|set| self.sets.get(set)) else { return (Vec::new(), None) };
        let Some(shader) = VertexShader::of(Some(&set.shader)) else { return (Vec::new(), None) };
        let count = vertices_of(list.primitive);
        let index = |slot: u32| set.indices.get(slot as usize).copied().unwrap_or(0);
        let corners: Vec<[u32; 3]> = self.corners_of(list).iter().map(|corners| corners.map(index)).collect();
        (
            reuse::batches(shader, VertexStage::Vertex, corners.iter().map(|corners| &corners[..count])),
            set.trace.as_ref(),
        )
    }

    /// Removes all vertices and primitives.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.corners.clear();
        self.clipped.clear();
    }

    fn corners_of(&self, list: &DrawList) -> &[[u32; 3]] {
        self.corners.get(list.corners.clone()).unwrap_or_default()
    }

    /// Calls `setup` with the corners of a primitive on the screen and with the size of a point.
    pub fn with_primitive<R>(
        &self,
        list: &DrawList,
        place: usize,
        state: &PipelineState,
        memory: Memory<'_>,
        scratch: &mut Vec<f32>,
        setup: impl FnOnce([Vertex<'_>; 3], f32) -> R,
    ) -> Result<R, VertexError> {
        let corners = self.corners_of(list).get(place).copied().unwrap_or_default();
        let set = list.set.and_then(|set| self.sets.get(set));
        let mut point_size = state.point_size;
        let centre = (i32::from(state.viewport_offset.x), i32::from(state.viewport_offset.y));
        let on_screen = |x: i16, y: i16| (centre.0 + i32::from(x), centre.1 + i32::from(y));
        let mut vertices = corners.map(|corner| match set {
            Some(set) => {
                let (position, varyings) = set.vertex(corner);
                let (x, y) = on_screen(position.x, position.y);
                Vertex { x, y, z: position.z, reciprocal_w: position.reciprocal_w, varyings }
            }
            None => {
                let xy = ScreenXy::from_word(corner);
                let (x, y) = on_screen(xy.x, xy.y);
                Vertex { x, y, z: VG_Z, reciprocal_w: VG_RECIPROCAL_W, varyings: &[] }
            }
        });
        if let Some(set) = set
            && set.shader.point_size()
        {
            point_size = set.vertex(corners[0]).0.point_size;
        }
        point_size = point_size_px(point_size);
        let clipped = self.clipped.get(list.clipped.clone()).unwrap_or_default();
        let clipped = match clipped.binary_search_by_key(&place, |(place, _)| *place) {
            Ok(found) => clipped.get(found).map(|(_, data)| *data),
            Err(_) => None,
        };
        let Some(clipped) = clipped else { return Ok(setup(vertices, point_size)) };
        let original = vertices;
        let each = original[0].varyings.len();
        scratch.clear();
        let mut address = clipped.address.0;
        let mut replaced = [None; 3];
        for (corner, replaced) in replaced.iter_mut().enumerate() {
            if clipped.vertices >> corner & 1 == 0 {
                continue;
            }
            let mut bytes = [0; CLIPPED_VERTEX_BYTES as usize];
            memory.read(address, &mut bytes)?;
            address = address + CLIPPED_VERTEX_BYTES;
            let half = |from: usize| {
                let mut word = [0; 16];
                word.copy_from_slice(&bytes[from..from + 16]);
                u128::from_le_bytes(word)
            };
            let position = ClippedVertex::from_bits(half(0));
            let rest = ClippedVertexCoefficients::from_bits(half(16));
            let factors = [position.coefficient0, rest.coefficient1, rest.coefficient2];
            let used = if list.primitive == ListPrimitive::Triangles { 3 } else { 2 };
            let start = scratch.len();
            scratch.extend((0..each).map(|varying| {
                let of = |i: usize| original[i].varyings.get(varying).copied().unwrap_or(0.0);
                if pse::is_flat(state.flat_shade, varying) {
                    return of(used - 1);
                }
                (0..used).map(|i| f64::from(factors[i]) * f64::from(of(i))).sum::<f64>() as f32
            }));
            *replaced = Some((position, start));
        }
        for (vertex, replaced) in vertices.iter_mut().zip(replaced) {
            if let Some((position, start)) = replaced {
                let (x, y) = on_screen(position.x, position.y);
                let varyings = scratch.get(start..start + each).unwrap_or(&[]);
                *vertex = Vertex { x, y, z: position.z, reciprocal_w: position.reciprocal_w, varyings };
            }
        }
        Ok(setup(vertices, point_size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;
    use crate::state::GlShader;
    use v3d_hw::BusAddr;
    use v3d_hw::shader_record::{GlFragment, GlVertex};

    /// The varyings of a primitive's last corner after clipping. The vertex that replaces it mixes the original corners' varyings by `factors`.
    fn clipped(primitive: ListPrimitive, factors: [f32; 3], flat_shade: u32) -> [f32; 2] {
        let last = vertices_of(primitive) - 1;
        let shader = GlShader {
            address: BusAddr(0),
            fragment: GlFragment { varyings: 2, ..Default::default() },
            vertex: GlVertex::default(),
            coordinate: GlVertex::default(),
            attributes: Vec::new(),
        };
        let state = PipelineState { shader: Some(Shader::Gl(Arc::new(shader))), flat_shade, ..Default::default() };
        let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive };
        let clipped = ClippedPrimitive { address: BusAddr(8).into(), vertices: 1 << last };
        let memory = OwnedMemory::new(64);
        for (place, factor) in factors.into_iter().enumerate() {
            memory.view().write(BusAddr(8 + 12) + 4 * place as u32, &factor.to_le_bytes()).unwrap();
        }
        let mut vertices = Vertices::default();
        let list = vertices.draw(format, &[Primitive { vertices: [0, 1, 2], clipped: Some(clipped) }], &state).unwrap();
        vertices.sets[0].positions.resize(3, Position::default());
        vertices.sets[0].varyings = vec![1.0, 1.0, 2.0, 2.0, 8.0, 8.0];
        let varyings = |corners: [Vertex<'_>; 3], _: f32| <[f32; 2]>::try_from(corners[last].varyings).unwrap();
        vertices.with_primitive(&list, 0, &state, memory.view(), &mut Vec::new(), varyings).unwrap()
    }

    /// The coefficients mix the original's varyings [AG p.78]. OpenGL clips colours only after flat shading has given all vertices that of the last one
    /// [OpenGL 2.1, sections 2.14.7 and 2.14.8].
    #[test]
    fn flat_varyings_of_a_clipped_primitive_are_the_original_ones() {
        for (flat, expected) in [(0b00, [1.5, 1.5]), (0b10, [1.5, 8.0]), (0b01, [8.0, 1.5])] {
            assert_eq!(clipped(ListPrimitive::Triangles, [0.5, 0.5, 0.0], flat), expected);
        }
        assert_eq!(clipped(ListPrimitive::Lines, [0.75, 0.25, 0.0], 0b10), [1.25, 2.0]);
    }
}

//! Prepared draws: everything about a draw except the vertex shader's uniforms, checked and encoded once.
//!
//! [`Pass::draw`] compares each draw with the one before it, so it is fast as long as nothing but a matrix changes. A [`PreparedDraw`] contains the result of
//! that work: the shader record with the addresses of programs, vertices and fragment uniforms, the fragment uniforms in memory of their own, and references
//! to all of that memory as one. Drawing it copies the record, appends the uniforms, and keeps one reference for each pass.
//!
//! ```text
//! let chair = PreparedDraw::new(&device, &pipeline, &mesh, &model_textured::FragmentUniforms { image, .. })?;
//!
//! for place in &places {
//!     pass.draw_prepared(&chair, &model_textured::Uniforms { matrix: rows(place), .. })?;
//! }
//! ```

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::marker::PhantomData;
use shader_interface::{UniformData, UniformStream, VertexData, VertexUniforms, ViewportUniforms, place_own_addresses};
use v3d::Platform;
use v3d::binning_list::{PreparedRecords, is_empty};
use v3d::draw_state::FixedState;
use v3d::hw::BusAddr;
use v3d::pool::{Buffer, Owner, Pool};
use v3d::region::Region;
use v3d::shader_record::RecordTemplate;

use super::draw::{Labels, aligned_bytes, expect_valid, set};
use super::{Pass, Recording};
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::frame::memory::{FrameMemory, split};
use crate::mesh::Mesh;
use crate::mesh::layout::ALIGNMENT;
use crate::pipeline::Pipeline;
use crate::pipeline::state::Samples;

/// Two viewports without a common number, which show whether uniforms depend on the viewport.
const VIEWPORTS: [ViewportUniforms; 2] = [
    ViewportUniforms { half_width: 1.0, half_height: 2.0, z_scale: 3.0, z_offset: 4.0 },
    ViewportUniforms { half_width: 5.0, half_height: 6.0, z_scale: 7.0, z_offset: 8.0 },
];

/// A pipeline, a mesh and the fragment shader's uniforms with their textures, ready to be drawn with uniforms `U` of the vertex shader.
///
/// It can be drawn any number of times, in every pass that suits the pipeline, by [`Pass::draw_prepared`]. It holds references to the memory of its parts,
/// which may be dropped. Clones share everything.
#[derive(Debug)]
pub struct PreparedDraw<U> {
    prepared: Rc<Prepared>,
    feeds: PhantomData<fn(U)>,
}

impl<U> Clone for PreparedDraw<U> {
    fn clone(&self) -> Self {
        Self { prepared: self.prepared.clone(), feeds: PhantomData }
    }
}

/// A prepared draw without the type of its uniforms.
#[derive(Debug)]
pub(super) struct Prepared {
    labels: Labels,
    pool: Pool,
    samples: Samples,
    is_64_bit: Option<bool>,
    /// Address of the pipeline's programs, which identifies its state.
    pipeline: BusAddr,
    state: FixedState,
    first: PreparedPart,
    others: Vec<PreparedPart>,
    /// Owners of the memory of pipeline, mesh, fragment uniforms and textures.
    owners: Vec<Owner>,
    /// The number of the last pass that has requested a reference.
    holder: Cell<u64>,
}

/// What one shader record draws.
#[derive(Debug)]
struct PreparedPart {
    /// The shader record without the addresses of the vertex shader's uniforms.
    record: Vec<u32>,
    /// The records of the binning list without the address of the shader record.
    list: PreparedRecords,
}

impl<U: VertexUniforms> PreparedDraw<U> {
    /// Checks that the parts can be drawn together, copies the fragment shader's uniforms to GPU memory and encodes the draw.
    ///
    /// # Errors
    /// When the pipeline, the mesh or a texture belongs to another device, the pipeline and the mesh have different primitives, a uniform is NaN, the fragment
    /// shader reads the viewport, or the pool has not enough memory.
    pub fn new<P: Platform, V: VertexData, F: UniformData>(
        device: &Device<'_, P>,
        pipeline: &Pipeline<V, U, F>,
        mesh: &Mesh<V>,
        fragment_uniforms: &F,
    ) -> Result<Self, Error> {
        Self::keeping(device, pipeline, mesh, fragment_uniforms, Vec::new())
    }
}

impl<U> PreparedDraw<U> {
    /// The same for uniforms of any type that refer to memory of these owners.
    pub(crate) fn keeping<P: Platform, V: VertexData, W, F: UniformData>(
        device: &Device<'_, P>,
        pipeline: &Pipeline<V, W, F>,
        mesh: &Mesh<V>,
        fragment_uniforms: &F,
        mut owners: Vec<Owner>,
    ) -> Result<Self, Error> {
        let label = pipeline.built.label;
        device.expect_own(label, &pipeline.built.memory)?;
        device.expect_own(mesh.label(), mesh.memory())?;
        if mesh.primitive() != pipeline.built.primitive {
            return Err(Error::Primitives { label, pipeline: pipeline.built.primitive, mesh: mesh.primitive() });
        }
        owners.extend([pipeline.built.memory.owner(), mesh.memory().owner()]);
        let uniforms = place_fragment_uniforms(device, pipeline, fragment_uniforms, &mut owners)?;
        if !owners.iter().all(|owner| device.pool().may_have(owner)) {
            return Err(Error::ForeignDevice { label });
        }
        let fragment = uniforms.as_ref().unwrap_or(&pipeline.built.memory).address();
        owners.extend(uniforms.as_ref().map(Buffer::owner));
        let mut parts = mesh.parts().iter().map(|part| {
            let mut record = Vec::new();
            pipeline.built.record.write(part.vertices, &mut record);
            set(&mut record, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
            let list = PreparedRecords::new(pipeline.built.record.state(), part.primitives)?;
            Ok::<_, Error>(PreparedPart { record, list })
        });
        let Some(first) = parts.next().transpose()? else {
            return Err(Error::MeshBytes { label: mesh.label(), what: "vertices", bytes: 0, unit: V::BYTES });
        };
        let prepared = Prepared {
            labels: Labels {
                pipeline: label,
                vertices: mesh.label(),
                is_vertex_shaded: pipeline.built.is_vertex_shaded,
            },
            pool: device.pool().clone(),
            samples: pipeline.built.samples,
            is_64_bit: pipeline.built.is_64_bit,
            pipeline: pipeline.built.memory.address(),
            state: pipeline.built.state,
            first,
            others: parts.collect::<Result<_, _>>()?,
            owners,
            holder: Cell::new(0),
        };
        Ok(Self { prepared: Rc::new(prepared), feeds: PhantomData })
    }
}

/// The fragment shader's uniforms in GPU memory, and owners of what they refer to; `None` if the shader has none.
fn place_fragment_uniforms<P: Platform, V, U, F: UniformData>(
    device: &Device<'_, P>,
    pipeline: &Pipeline<V, U, F>,
    uniforms: &F,
    owners: &mut Vec<Owner>,
) -> Result<Option<Buffer>, Error> {
    let label = pipeline.built.label;
    let read = |viewport, owners: &mut Vec<Owner>| {
        let mut words = Vec::new();
        let mut stream = UniformStream::new(&mut words, owners, viewport);
        pipeline.push_fragment_uniforms(uniforms, &mut stream);
        expect_valid(&stream, label, Stage::Fragment)?;
        let own_addresses = stream.take_own_addresses();
        Ok::<_, Error>((words, own_addresses))
    };
    let [viewport, other] = VIEWPORTS;
    let (mut words, own_addresses) = read(viewport, owners)?;
    if read(other, &mut Vec::new())?.0 != words {
        let why = "its fragment shader reads the viewport, which is known only in a pass: it cannot be prepared";
        return Err(Error::Impossible { label, why });
    }
    if words.is_empty() {
        return Ok(None);
    }
    let mut driver = device.driver()?;
    let memory = driver.allocate(aligned_bytes(words.len()), ALIGNMENT)?;
    place_own_addresses(&mut words, &own_addresses, memory.address());
    memory.region().store_words(driver.platform(), &words)?;
    drop(driver);
    device.name(&memory, label, "prepared uniforms")?;
    Ok(Some(memory))
}

impl<P: Platform> Pass<'_, '_, P> {
    /// Draws what was prepared, with these uniforms of the vertex shader.
    ///
    /// # Errors
    /// When it belongs to another device, its pipeline does not suit the pass, one of its textures is the pass's target, a uniform is NaN, or memory runs out.
    /// The pass is then unchanged.
    #[inline]
    pub fn draw_prepared<U: VertexUniforms>(&mut self, draw: &PreparedDraw<U>, uniforms: &U) -> Result<(), Error> {
        self.recording.draw_prepared((self.device, self.platform), self.memory, &draw.prepared, uniforms)
    }
}

/// Allocates memory of the frame where the last block has no room.
#[cold]
#[inline(never)]
fn take_from_next<P: Platform>(device: &Device<'_, P>, memory: &mut FrameMemory, bytes: u32) -> Result<Region, Error> {
    memory.take(&mut *device.driver()?, bytes)
}

impl Recording {
    #[inline(always)]
    fn draw_prepared<P: Platform, U: VertexUniforms>(
        &mut self,
        (device, platform): (&Device<'_, P>, &P),
        memory: &mut FrameMemory,
        draw: &Rc<Prepared>,
        uniforms: &U,
    ) -> Result<(), Error> {
        if self.last.prepared != Rc::as_ptr(draw).addr() {
            if !self.begin_prepared(device, draw)? {
                return Ok(());
            }
            if !draw.others.is_empty() || !draw.labels.is_vertex_shaded || platform.keeps_names() {
                return self.draw_prepared_parts(device, memory, draw, uniforms);
            }
            self.last.prepared = Rc::as_ptr(draw).addr();
            self.last.drawn_bytes = aligned_bytes(self.last.record_words + U::WORDS);
        }
        self.list.reserve(1)?;
        // For types of uniforms with programs that are known, both are the same constant.
        let bytes = match uniforms.most_words() {
            words if words == U::WORDS => self.last.drawn_bytes,
            words => aligned_bytes(self.last.record_words + words),
        };
        let region = match memory.take_here(bytes) {
            Some(region) => region,
            None => take_from_next(device, memory, bytes)?,
        };
        self.last.words.truncate(self.last.record_words);
        let start = self.owners.len();
        if let Err(error) = self.place_uniforms(platform, draw.labels.pipeline, (0, uniforms), region) {
            self.owners.truncate(start);
            return Err(error);
        }
        if self.owners.len() != start {
            self.settle_owners(device, draw.labels.pipeline, start, Ok(()))?;
        }
        self.list.draw_prepared(&draw.first.list, region.address());
        Ok(())
    }

    /// Draws all parts of a mesh, each with a copy of the uniforms, in captures with a name.
    #[cold]
    #[inline(never)]
    fn draw_prepared_parts<P: Platform, U: VertexUniforms>(
        &mut self,
        device: &Device<'_, P>,
        memory: &mut FrameMemory,
        draw: &Rc<Prepared>,
        uniforms: &U,
    ) -> Result<(), Error> {
        let parts = || core::iter::once(&draw.first).chain(&draw.others);
        let count = 1 + draw.others.len();
        self.list.reserve(count)?;
        // Records of all parts have the same length.
        let stride = aligned_bytes(self.last.record_words + uniforms.most_words());
        let bytes = stride.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        let whole = memory.take(&mut *device.driver()?, bytes)?;
        let start = self.owners.len();
        let mut left = whole;
        let placed = parts().try_for_each(|part| {
            self.last.begin_with(&part.record);
            let (region, rest) = split(&left, stride)?;
            left = rest;
            self.place_record(device.driver_ref()?.platform(), &draw.labels, (0, uniforms), region).map(|_| ())
        });
        self.settle_owners(device, draw.labels.pipeline, start, placed)?;
        let mut record = whole.address();
        for part in parts() {
            self.list.draw_prepared(&part.list, record);
            record = record + stride;
        }
        Ok(())
    }

    /// Sets the state of a prepared draw, and makes its record the start of the words. Returns whether anything can be drawn.
    #[inline(never)]
    fn begin_prepared<P: Platform>(&mut self, device: &Device<'_, P>, draw: &Rc<Prepared>) -> Result<bool, Error> {
        let label = draw.labels.pipeline;
        if !draw.pool.is_same(device.pool()) {
            return Err(Error::ForeignDevice { label });
        }
        if draw.holder.get() != self.number {
            self.expect_fit(label, draw.is_64_bit, draw.samples)?;
            self.expect_no_target(&draw.owners)?;
            self.owners.push(draw.clone());
            draw.holder.set(self.number);
        }
        if is_empty(&self.scissor) {
            // An empty draw must be skipped: boards would draw something [piegpu].
            return Ok(false);
        }
        if self.last.state != Some(draw.pipeline) {
            self.list.set_window(self.scissor);
            self.list.set_fixed(&draw.state);
            self.last.state = Some(draw.pipeline);
        }
        self.last.begin_with(&draw.first.record);
        (self.last.drawn, self.last.prepared) = (None, 0);
        Ok(true)
    }
}

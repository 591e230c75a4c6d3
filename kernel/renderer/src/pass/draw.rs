//! One draw: its uniforms and shader records in the frame's memory, its records in the binning list.
//!
//! All that a draw writes is collected in words that are used again by the next draw, and copied at once. What is as it was in the draw before (the state,
//! the owners of memory) is not said again.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;
use shader_interface::{PrimitiveKind, UniformData, UniformStream, VertexUniforms, ViewportUniforms};
use v3d::draw_state::{DrawState, Viewport};
use v3d::hw::BusAddr;
use v3d::hw::control_list::{GlShaderState, NvShaderState};
use v3d::hw::shader_record::gl;
use v3d::pool::{Buffer, Owner};
use v3d::shader_record::RECORD_ALIGNMENT;
use v3d::{Driver, Platform};

use super::Recording;
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::frame::memory::FrameMemory;
use crate::mesh::layout::PlacedPart;
use crate::pipeline::Pipeline;
use crate::pipeline::state::Samples;

/// Words of an alignment that is right for records and uniforms.
const ALIGNED_WORDS: usize = RECORD_ALIGNMENT as usize / 4;

/// Vertices of a draw.
pub(super) struct Source<'s> {
    /// What they are in, if that is not the frame's own memory.
    pub(super) memory: Option<&'s Buffer>,
    pub(super) primitive: PrimitiveKind,
    pub(super) parts: &'s [PlacedPart],
}

/// What is kept from one draw to the next.
#[derive(Debug, Default)]
pub(crate) struct LastDraw {
    /// Room for what a draw writes.
    words: Vec<u32>,
    /// Room for where its shader records are.
    shaders: Vec<BusAddr>,
    /// The pipeline whose state is set, by its memory, of which the pass is an owner.
    state: Option<BusAddr>,
    /// Memory that the pass is an owner of.
    pipeline: Option<BusAddr>,
    mesh: Option<BusAddr>,
    /// The owners of what uniforms referred to.
    owners: Range<usize>,
}

impl LastDraw {
    /// The state of the next draw is another one.
    pub(super) const fn forget_state(&mut self) {
        self.state = None;
    }
}

impl Recording {
    /// Draws parts of a mesh, once for each instance. If it fails, the pass is as it was.
    pub(super) fn draw<P: Platform, V, U: VertexUniforms, F: UniformData>(
        &mut self,
        device: &Device<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        source: &Source<'_>,
        (instances, fragment_uniforms): (&[U], &F),
    ) -> Result<(), Error> {
        let label = pipeline.label;
        device.expect_own(label, &pipeline.memory)?;
        let pass = if self.pass.grid.multisample { Samples::Four } else { Samples::One };
        if pass != pipeline.samples {
            return Err(Error::Samples { label, pipeline: pipeline.samples.count(), pass: pass.count() });
        }
        if source.primitive != pipeline.primitive {
            return Err(Error::Primitives { label, pipeline: pipeline.primitive, mesh: source.primitive });
        }
        let driver = &mut *device.driver()?;
        let start = self.owners.len();
        let placed = self
            .place(driver, memory, pipeline, source.parts, (instances, fragment_uniforms))
            .and_then(|()| self.check_owners(label, device, start))
            .and_then(|()| Ok(self.list.reserve(self.last.shaders.len())?));
        if let Err(error) = placed {
            self.owners.truncate(start);
            return Err(error);
        }
        self.keep(pipeline, source);
        self.list_records(pipeline, source.parts)
    }

    /// Puts uniforms and shader records into memory; where the records are stands in `last.shaders`, in the order in which they are drawn with.
    fn place<P: Platform, V, U: VertexUniforms, F: UniformData>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        parts: &[PlacedPart],
        (instances, fragment_uniforms): (&[U], &F),
    ) -> Result<(), Error> {
        let viewport = self.viewport_uniforms();
        let LastDraw { words, shaders, .. } = &mut self.last;
        let (owners, label) = (&mut self.owners, pipeline.label);
        words.clear();
        shaders.clear();
        let mut stream = UniformStream::new(words, owners, viewport);
        fragment_uniforms.push(&mut stream);
        pipeline.tail_uniforms.iter().for_each(|&word| stream.word(word));
        expect_numbers(&stream, label, Stage::Fragment)?;
        // Parts with the same vertices have the same record.
        let records = 1 + parts.windows(2).filter(|pair| pair[0].vertices != pair[1].vertices).count();
        let record_words = pipeline.record.length().next_multiple_of(ALIGNED_WORDS);
        let mut fragment = None;
        for instance in instances {
            let (mut vertex, mut coordinate) = (0, 0);
            if pipeline.attributes.is_some() {
                vertex = align(words);
                let mut stream = UniformStream::new(words, owners, viewport);
                instance.push_vertex(&mut stream);
                expect_numbers(&stream, label, Stage::Vertex)?;
                coordinate = vertex;
                if !U::COORDINATE_READS_THE_SAME {
                    coordinate = align(words);
                    let mut stream = UniformStream::new(words, owners, viewport);
                    instance.push_coordinate(&mut stream);
                    expect_numbers(&stream, label, Stage::Coordinate)?;
                }
            }
            let bytes = 4 * (align(words) + records * record_words);
            let region = memory.take(driver, u32::try_from(bytes).unwrap_or(u32::MAX), RECORD_ALIGNMENT)?;
            let at = |word: usize| region.address() + 4 * word as u32;
            let uniforms = [*fragment.get_or_insert(at(0)), at(vertex), at(coordinate)];
            let mut written: Option<(BusAddr, BusAddr)> = None;
            for part in parts {
                let shader = match written {
                    Some((vertices, shader)) if vertices == part.vertices => shader,
                    _ => {
                        let shader = at(align(words));
                        pipeline.record.write(&uniforms, part.vertices, words);
                        shader
                    }
                };
                written = Some((part.vertices, shader));
                shaders.push(shader);
            }
            region.store_words(driver.platform(), words)?;
            words.clear();
        }
        Ok(())
    }

    /// Refuses uniforms that refer to another device's memory, or to what is drawn to; forgets owners that the draw before had too.
    fn check_owners<P: Platform>(
        &mut self,
        label: &'static str,
        device: &Device<'_, P>,
        start: usize,
    ) -> Result<(), Error> {
        let (before, new) = self.owners.split_at(start);
        let is_known =
            |last: &[Owner]| last.len() == new.len() && last.iter().zip(new).all(|(last, new)| Rc::ptr_eq(last, new));
        if before.get(self.last.owners.clone()).is_some_and(is_known) {
            self.owners.truncate(start);
            return Ok(());
        }
        if !new.iter().all(|owner| device.pool().may_have(owner)) {
            return Err(Error::ForeignDevice { label });
        }
        let is_target = |owner: &Owner| self.target.memory().is_some_and(|memory| memory.is_owned_by(owner));
        if new.iter().any(is_target) {
            return Err(Error::TargetInUse { label: self.target.label() });
        }
        self.last.owners = start..self.owners.len();
        Ok(())
    }

    /// Becomes an owner of what is drawn and with what.
    fn keep<V, U, F>(&mut self, pipeline: &Pipeline<V, U, F>, source: &Source<'_>) {
        if self.last.pipeline != Some(pipeline.memory.address()) {
            self.last.pipeline = Some(pipeline.memory.address());
            self.owners.push(pipeline.memory.owner());
        }
        if let Some(mesh) = source.memory
            && self.last.mesh != Some(mesh.address())
        {
            self.last.mesh = Some(mesh.address());
            self.owners.push(mesh.owner());
        }
    }

    /// Appends the draw's records.
    fn list_records<V, U, F>(&mut self, pipeline: &Pipeline<V, U, F>, parts: &[PlacedPart]) -> Result<(), Error> {
        if self.last.state != Some(pipeline.memory.address()) {
            let state = DrawState { viewport: self.viewport, clip_window: self.scissor, ..pipeline.state };
            self.list.set_state(&state);
            self.last.state = Some(pipeline.memory.address());
        }
        for (&address, part) in self.last.shaders.iter().zip(parts.iter().cycle()) {
            let Some(attributes) = pipeline.attributes else {
                self.list.set_shader(NvShaderState { address })?;
                self.list.draw_encoded(&part.primitives);
                continue;
            };
            let attribute_arrays = attributes % gl::MAX_ATTRIBUTES as u8;
            let shader = GlShaderState { address: address.into(), extended: false, attribute_arrays };
            self.list.draw_gl(shader, &part.primitives)?;
        }
        Ok(())
    }

    fn viewport_uniforms(&self) -> ViewportUniforms {
        let Viewport { half_width, half_height, z_scale, z_offset, .. } = self.viewport;
        ViewportUniforms { half_width, half_height, z_scale, z_offset }
    }
}

/// Fills up to the alignment; how many words there are then.
fn align(words: &mut Vec<u32>) -> usize {
    while !words.len().is_multiple_of(ALIGNED_WORDS) {
        words.push(0);
    }
    words.len()
}

fn expect_numbers(stream: &UniformStream<'_>, label: &'static str, stage: Stage) -> Result<(), Error> {
    match stream.not_a_number() {
        Some(word) => Err(Error::NotANumber { label, stage, word }),
        None => Ok(()),
    }
}

//! One draw: its uniforms and shader records in the frame's memory, its records in the binning list.
//!
//! All that an instance writes is collected in words that are used again by the next one, and copied at once. What is as it was in the draw before (the
//! shader record but for its uniforms, the fragment shader's uniforms, the state, the owners of memory) is not made or said again; what it was is told by
//! the addresses of pipeline and mesh, which nobody else can have as long as the pass is an owner of them.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;
use shader_interface::{PrimitiveKind, UniformData, UniformStream, VertexData, VertexUniforms};
use v3d::hw::BusAddr;
use v3d::pool::{Buffer, Owner};
use v3d::region::Region;
use v3d::shader_record::{RecordTemplate, ShaderState};
use v3d::{Driver, Platform};

use super::Recording;
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::frame::memory::{ALIGNMENT, FrameMemory};
use crate::mesh::Mesh;
use crate::mesh::layout::PlacedPart;
use crate::pipeline::Pipeline;
use crate::pipeline::state::Samples;

/// Vertices of a draw.
pub(super) struct Source<'s> {
    /// What they are in, if that is not the frame's own memory.
    pub(super) memory: Option<&'s Buffer>,
    pub(super) primitive: PrimitiveKind,
    pub(super) parts: &'s [PlacedPart],
}

impl Source<'_> {
    fn address(&self) -> Option<BusAddr> {
        self.memory.map(Buffer::address)
    }
}

/// What is drawn, by addresses that nobody else can have as long as the pass is an owner of what they are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    pipeline: BusAddr,
    mesh: BusAddr,
    /// The first vertex of the part.
    vertices: BusAddr,
}

/// What is kept from one draw to the next.
#[derive(Debug, Default)]
pub(crate) struct LastDraw {
    /// One instance of one part, whose state is set, and whose record stands in front of `words` with the address of the fragment shader's uniforms.
    drawn: Option<Drawn>,
    /// The pipeline that was drawn with, of which the pass is an owner.
    pipeline: Option<BusAddr>,
    /// The mesh, likewise.
    mesh: Option<BusAddr>,
    /// The pipeline whose state is set.
    state: Option<BusAddr>,
    /// Room for what a draw writes for each instance: its shader record, then its uniforms.
    words: Vec<u32>,
    /// The record that stands in front of them: whose it is, with which vertices.
    record: Option<(BusAddr, BusAddr)>,
    record_words: usize,
    fragment: FragmentUniforms,
    /// The owners of what uniforms referred to.
    owners: Range<usize>,
}

impl LastDraw {
    /// The state of the next draw is another one.
    pub(super) const fn forget_state(&mut self) {
        (self.state, self.drawn) = (None, None);
    }

    /// Puts a record in front of the words, and nothing behind it.
    #[inline]
    fn begin<V, U, F>(&mut self, pipeline: &Pipeline<V, U, F>, vertices: BusAddr) {
        let record = Some((pipeline.memory.address(), vertices));
        if self.record == record {
            self.words.truncate(self.record_words);
        } else {
            self.words.clear();
            pipeline.record.write(vertices, &mut self.words);
            (self.record, self.record_words) = (record, self.words.len());
        }
    }
}

/// Uniforms of fragment shaders: many draws have the same, one behind the other.
#[derive(Debug, Default)]
struct FragmentUniforms {
    /// Those that are in memory.
    words: Vec<u32>,
    /// Where; `None` if they are not.
    address: Option<BusAddr>,
    /// Room for the next ones.
    next: Vec<u32>,
}

impl FragmentUniforms {
    /// Where the words in `next` are in memory.
    fn place<P: Platform>(&mut self, driver: &mut Driver<'_, P>, memory: &mut FrameMemory) -> Result<BusAddr, Error> {
        match self.address {
            Some(address) if self.words == self.next => Ok(address),
            _ => {
                self.address = None;
                let region = memory.take(driver, bytes_of(self.next.len()))?;
                region.store_words(driver.platform(), &self.next)?;
                core::mem::swap(&mut self.words, &mut self.next);
                self.address = Some(region.address());
                Ok(region.address())
            }
        }
    }
}

/// Where shader records are.
#[derive(Clone, Copy)]
struct Placed {
    /// The record of the first instance's first part.
    first: BusAddr,
    /// From one instance to the next, in bytes.
    stride: u32,
    /// From an instance's first record to its second, in bytes: its uniforms are between.
    to_second: u32,
    /// From each further record to the next, in bytes.
    to_next: u32,
}

impl Recording {
    /// Draws what was drawn last, with other uniforms; `None` if it is not the same, or needs more than a place for its words.
    #[inline(always)]
    pub(super) fn draw_again<P: Platform, V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        device: &Device<'_, P>,
        memory: &mut FrameMemory,
        (pipeline, mesh): (&Pipeline<V, U, F>, &Mesh<V>),
        instance: &U,
    ) -> Option<Result<(), Error>> {
        let part = mesh.only_part()?;
        let drawn =
            Drawn { pipeline: pipeline.memory.address(), mesh: mesh.memory().address(), vertices: part.vertices };
        // Fragment shaders without uniforms cannot have other ones.
        if F::WORDS != 0 || self.last.drawn != Some(drawn) || self.list.reserve(1).is_err() {
            return None;
        }
        let platform = device.look().ok()?.platform();
        let start = self.owners.len();
        self.last.words.truncate(self.last.record_words);
        let region = memory.take_here(bytes_of(self.last.record_words + U::WORDS))?;
        let placed = self.place_record(platform, pipeline, instance, region);
        if self.owners.len() != start {
            self.owners.truncate(start);
            return None;
        }
        if let Err(error) = placed {
            return Some(Err(error));
        }
        self.list.draw_encoded(pipeline.record.state(), region.address(), part.primitives);
        Some(Ok(()))
    }

    /// Draws parts of a mesh, once for each instance. If it fails, the pass is as it was.
    pub(super) fn draw<P: Platform, V, U: VertexUniforms, F: UniformData>(
        &mut self,
        device: &Device<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        source: &Source<'_>,
        (instances, fragment_uniforms): (&[U], &F),
    ) -> Result<(), Error> {
        self.last.drawn = None;
        let (address, mesh) = (pipeline.memory.address(), source.address());
        let is_known = self.last.pipeline == Some(address) && self.last.mesh == mesh && mesh.is_some();
        if !is_known {
            self.check(device, pipeline, source)?;
        }
        self.list.reserve(instances.len().saturating_mul(source.parts.len()))?;
        let start = self.owners.len();
        let mut placed = Placed { first: BusAddr(0), stride: 0, to_second: 0, to_next: 0 };
        let mut result = {
            let driver = &mut *device.driver()?;
            self.place(driver, memory, pipeline, source.parts, (instances, fragment_uniforms), &mut placed)
        };
        if result.is_ok() && self.owners.len() != start {
            result = self.check_owners(pipeline.label, device, start);
        }
        if let Err(error) = result {
            self.owners.truncate(start);
            // The pass is no owner of the pipeline whose record it is, and its address may become another's.
            self.last.record = None;
            return Err(error);
        }
        if !is_known {
            self.keep(pipeline, source);
        }
        if self.last.state != Some(address) {
            self.list.set_window(self.scissor);
            self.list.set_fixed(&pipeline.state);
            self.last.state = Some(address);
        }
        let shader = pipeline.record.state();
        match (instances, source.parts) {
            ([_], [part]) => {
                self.list.draw_encoded(shader, placed.first, part.primitives);
                self.last.drawn = mesh.map(|mesh| Drawn { pipeline: address, mesh, vertices: part.vertices });
            }
            (_, parts) => self.list_all(shader, parts, instances.len(), placed),
        }
        Ok(())
    }

    /// Refuses what cannot be drawn with this pipeline, or in this pass.
    fn check<P: Platform, V, U, F>(
        &self,
        device: &Device<'_, P>,
        pipeline: &Pipeline<V, U, F>,
        source: &Source<'_>,
    ) -> Result<(), Error> {
        let label = pipeline.label;
        device.expect_own(label, &pipeline.memory)?;
        let buffer = self.pass.grid.buffer;
        if pipeline.is_64_bit.is_some_and(|is_64_bit| is_64_bit != buffer.is_64_bit()) {
            return Err(Error::ColorBits { label, target: self.target.label(), bits: self.target.format().bits() });
        }
        let pass = if buffer.is_multisample() { Samples::Four } else { Samples::One };
        if pass != pipeline.samples {
            return Err(Error::Samples { label, pipeline: pipeline.samples.count(), pass: pass.count() });
        }
        if source.primitive != pipeline.primitive {
            return Err(Error::Primitives { label, pipeline: pipeline.primitive, mesh: source.primitive });
        }
        Ok(())
    }

    /// Puts all uniforms and the shader records into memory.
    #[inline]
    fn place<P: Platform, V, U: VertexUniforms, F: UniformData>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        parts: &[PlacedPart],
        (instances, fragment_uniforms): (&[U], &F),
        placed: &mut Placed,
    ) -> Result<(), Error> {
        let fragment = if F::WORDS == 0 && pipeline.tail_uniforms.is_empty() {
            // None are read, from whatever memory of the pass.
            pipeline.memory.address()
        } else {
            self.place_fragment_uniforms(driver, memory, pipeline, fragment_uniforms)?
        };
        match (instances, parts) {
            ([instance], [part]) => {
                self.last.begin(pipeline, part.vertices);
                let region = memory.take(driver, bytes_of(self.last.record_words + U::WORDS))?;
                set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
                self.place_record(driver.platform(), pipeline, instance, region)?;
                placed.first = region.address();
                Ok(())
            }
            _ => self.place_all(driver, memory, pipeline, parts, (instances, fragment), placed),
        }
    }

    /// Puts the fragment shader's uniforms into memory; where they are.
    fn place_fragment_uniforms<P: Platform, V, U, F: UniformData>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        uniforms: &F,
    ) -> Result<BusAddr, Error> {
        let fragment = &mut self.last.fragment;
        fragment.next.clear();
        let mut stream = UniformStream::new(&mut fragment.next, &mut self.owners, self.viewport_uniforms);
        uniforms.push(&mut stream);
        pipeline.tail_uniforms.iter().for_each(|&word| stream.word(word));
        expect_numbers(&stream, pipeline.label, Stage::Fragment)?;
        fragment.place(driver, memory)
    }

    /// Puts the record that was begun and an instance's uniforms behind it into memory that was taken for them; where the programs find their uniforms.
    #[inline(always)]
    fn place_record<P: Platform, V, U: VertexUniforms, F>(
        &mut self,
        platform: &P,
        pipeline: &Pipeline<V, U, F>,
        instance: &U,
        region: Region,
    ) -> Result<Uniforms, Error> {
        let words = &mut self.last.words;
        let vertex = region.address() + 4 * words.len() as u32;
        let mut uniforms = Uniforms { vertex, coordinate: vertex };
        if pipeline.is_vertex_shaded {
            let mut stream = UniformStream::new(words, &mut self.owners, self.viewport_uniforms);
            instance.push_vertex(&mut stream);
            expect_numbers(&stream, pipeline.label, Stage::Vertex)?;
            if !U::COORDINATE_READS_THE_SAME {
                uniforms.coordinate = region.address() + 4 * words.len() as u32;
                let mut stream = UniformStream::new(words, &mut self.owners, self.viewport_uniforms);
                instance.push_coordinate(&mut stream);
                expect_numbers(&stream, pipeline.label, Stage::Coordinate)?;
            }
            uniforms.fill_in(words);
        }
        region.store_words(platform, words)?;
        Ok(uniforms)
    }

    /// Puts the records of any number of instances and parts into memory, with the uniforms of each instance behind its first.
    fn place_all<P: Platform, V, U: VertexUniforms, F>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        parts: &[PlacedPart],
        (instances, fragment): (&[U], BusAddr),
        placed: &mut Placed,
    ) -> Result<(), Error> {
        let Some((first, others)) = parts.split_first() else { return Ok(()) };
        self.last.begin(pipeline, first.vertices);
        // Parts with the same vertices have the same record.
        let more = parts.windows(2).filter(|pair| pair[0].vertices != pair[1].vertices).count();
        placed.to_second = bytes_of(self.last.record_words + U::WORDS);
        placed.to_next = bytes_of(self.last.record_words);
        placed.stride = placed.to_second.saturating_add((more as u32).saturating_mul(placed.to_next));
        let count = u32::try_from(instances.len()).unwrap_or(u32::MAX);
        let mut left = memory.take(driver, placed.stride.saturating_mul(count))?;
        placed.first = left.address();
        let mut next = |bytes| {
            let region = left.part(0, bytes)?;
            left = left.part(bytes, left.bytes() - bytes)?;
            Ok::<_, Error>(region)
        };
        for instance in instances {
            self.last.begin(pipeline, first.vertices);
            set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
            let uniforms = self.place_record(driver.platform(), pipeline, instance, next(placed.to_second)?)?;
            let mut vertices = first.vertices;
            for part in others {
                if part.vertices != vertices {
                    vertices = part.vertices;
                    self.last.begin(pipeline, vertices);
                    set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
                    if pipeline.is_vertex_shaded {
                        uniforms.fill_in(&mut self.last.words);
                    }
                    next(placed.to_next)?.store_words(driver.platform(), &self.last.words)?;
                }
            }
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
        let (before, new) = self.owners.split_at_checked(start).unwrap_or_default();
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
        let last = &mut self.last;
        (last.pipeline, last.mesh) = (Some(pipeline.memory.address()), source.address());
        for memory in [Some(&pipeline.memory), source.memory].into_iter().flatten() {
            if let Some(owner) = memory.owner_for(self.number) {
                self.owners.push(owner);
            }
        }
    }

    /// Appends the records of any number of instances and parts, for which there is room.
    fn list_all(&mut self, shader: ShaderState, parts: &[PlacedPart], instances: usize, placed: Placed) {
        let mut first = placed.first;
        for _ in 0..instances {
            let (mut record, mut step) = (first, placed.to_second);
            let mut vertices = None;
            for part in parts {
                if vertices.is_some_and(|vertices| vertices != part.vertices) {
                    record = record + step;
                    step = placed.to_next;
                }
                vertices = Some(part.vertices);
                self.list.draw_encoded(shader, record, part.primitives);
            }
            first = first + placed.stride;
        }
    }
}

/// Where vertex and coordinate shader find their uniforms.
#[derive(Clone, Copy)]
struct Uniforms {
    vertex: BusAddr,
    coordinate: BusAddr,
}

impl Uniforms {
    /// Puts them into a record.
    #[inline]
    fn fill_in(self, record: &mut [u32]) {
        set(record, RecordTemplate::COORDINATE_UNIFORMS, self.coordinate);
        set(record, RecordTemplate::VERTEX_UNIFORMS, self.vertex);
    }
}

/// Puts an address into a record.
#[inline]
fn set(record: &mut [u32], at: usize, address: BusAddr) {
    if let Some(word) = record.get_mut(at) {
        *word = address.0;
    }
}

/// Bytes that so many words take, up to the next place for a record.
#[inline]
const fn bytes_of(words: usize) -> u32 {
    // No program has uniforms for 2^28 words.
    let words = if words < 1 << 28 { words as u32 } else { 1 << 28 };
    (4 * words + ALIGNMENT - 1) & !(ALIGNMENT - 1)
}

#[inline]
fn expect_numbers(stream: &UniformStream<'_>, label: &'static str, stage: Stage) -> Result<(), Error> {
    match stream.not_a_number() {
        Some(word) => Err(Error::NotANumber { label, stage, word }),
        None => Ok(()),
    }
}

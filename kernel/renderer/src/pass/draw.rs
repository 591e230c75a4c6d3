//! A draw: its uniforms and shader records in the frame's memory, its records in the binning list.
//!
//! All words of an instance are collected in a buffer, which is reused for the next instance, and copied at once. What does not change from one draw to the
//! next is neither computed nor written again: the shader record without its uniforms, the fragment shader's uniforms, the state, the references to memory.
//! Pipelines and meshes are identified by their addresses, which are unique as long as the pass holds references to them.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;
use shader_interface::{PrimitiveKind, UniformData, UniformStream, VertexData, VertexUniforms, place_own_addresses};
use v3d::binning_list::is_empty;
use v3d::hw::BusAddr;
use v3d::platform::Named;
use v3d::pool::{Buffer, Owner};
use v3d::region::Region;
use v3d::shader_record::{RecordTemplate, ShaderState};
use v3d::{Driver, Platform};

use super::Recording;
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::frame::memory::{FrameMemory, round_up, split};
use crate::mesh::Mesh;
use crate::mesh::layout::PlacedPart;
use crate::pipeline::Pipeline;
use crate::pipeline::state::Samples;

/// The vertices of a draw.
pub(super) struct DrawVertices<'s> {
    /// Their name in captures.
    pub(super) label: &'static str,
    /// The memory of the vertices; `None` if it is the frame's own.
    pub(super) memory: Option<&'s Buffer>,
    pub(super) primitive: PrimitiveKind,
    pub(super) parts: &'s [PlacedPart],
}

impl DrawVertices<'_> {
    fn address(&self) -> Option<BusAddr> {
        self.memory.map(Buffer::address)
    }
}

/// The names of a draw in errors and captures, and whether its vertices are shaded.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) pipeline: &'static str,
    pub(super) vertices: &'static str,
    /// Whether a vertex shader runs; otherwise vertices are already shaded.
    pub(super) is_vertex_shaded: bool,
}

impl Labels {
    const fn of<V, U, F>(pipeline: &Pipeline<V, U, F>, vertices: &'static str) -> Self {
        Self { pipeline: pipeline.built.label, vertices, is_vertex_shaded: pipeline.built.is_vertex_shaded }
    }
}

/// Identifies a draw by the addresses of its pipeline and mesh, which are unique as long as the pass holds references to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    pipeline: BusAddr,
    mesh: BusAddr,
    /// The first vertex of the part.
    vertices: BusAddr,
}

/// State that is kept from one draw to the next.
#[derive(Debug, Default)]
pub(crate) struct LastDraw {
    /// The last draw, if it had one instance and one part: its state is set, and `words` begins with its record.
    pub(super) drawn: Option<Drawn>,
    /// Address of the last draw, if it was a prepared one of one part: its state is set, and `words` begins with its record. The pass holds a reference to
    /// it. 0 if there is none.
    pub(super) prepared: usize,
    /// The last draw's pipeline, to which the pass holds a reference.
    pipeline: Option<BusAddr>,
    /// The last draw's mesh, to which the pass holds a reference.
    mesh: Option<BusAddr>,
    /// The pipeline whose state is set.
    pub(super) state: Option<BusAddr>,
    /// The words of an instance: its shader record, then its uniforms.
    pub(super) words: Vec<u32>,
    /// The pipeline and the vertices of the record at the start of `words`.
    record: Option<(BusAddr, BusAddr)>,
    pub(super) record_words: usize,
    /// Bytes of a record and the uniforms behind it, for the draw in `drawn`.
    pub(super) drawn_bytes: u32,
    fragment: FragmentUniforms,
    /// The range of the pass's owners that the last draw's uniforms added.
    owners: Range<usize>,
}

impl LastDraw {
    /// Makes the next draw record its state again.
    pub(super) const fn forget_state(&mut self) {
        (self.state, self.drawn, self.prepared) = (None, None, 0);
    }

    /// Replaces the words by a prepared record.
    #[inline]
    pub(super) fn begin_with(&mut self, record: &[u32]) {
        self.words.clear();
        self.words.extend_from_slice(record);
        (self.record, self.record_words) = (None, record.len());
    }

    /// Replaces the words by a pipeline's shader record, without uniforms.
    #[inline]
    fn begin<V, U, F>(&mut self, pipeline: &Pipeline<V, U, F>, vertices: BusAddr) {
        let record = Some((pipeline.built.memory.address(), vertices));
        if self.record == record {
            self.words.truncate(self.record_words);
        } else {
            self.words.clear();
            pipeline.built.record.write(vertices, &mut self.words);
            (self.record, self.record_words) = (record, self.words.len());
        }
    }
}

/// Uniforms of the fragment shader, which are often the same in consecutive draws.
#[derive(Debug, Default)]
struct FragmentUniforms {
    /// The uniforms in memory, and the indices of those that were offsets from their start.
    words: Vec<u32>,
    word_addresses: Vec<usize>,
    /// Their address; `None` if there are none.
    address: Option<BusAddr>,
    /// Buffer for the next draw's uniforms.
    next: Vec<u32>,
    /// The indices in `next` of words that are offsets from their start, to be replaced by addresses.
    own_addresses: Vec<usize>,
}

impl FragmentUniforms {
    /// The address of the words in `next`, which are copied to memory if they differ from the previous ones.
    fn place<P: Platform>(&mut self, driver: &mut Driver<'_, P>, memory: &mut FrameMemory) -> Result<BusAddr, Error> {
        match self.address {
            Some(address) if self.words == self.next && self.word_addresses == self.own_addresses => Ok(address),
            _ => {
                self.address = None;
                let region = memory.take(driver, aligned_bytes(self.next.len()))?;
                if self.own_addresses.is_empty() {
                    region.store_words(driver.platform(), &self.next)?;
                } else {
                    let mut placed = self.next.clone();
                    place_own_addresses(&mut placed, &self.own_addresses, region.address());
                    region.store_words(driver.platform(), &placed)?;
                }
                core::mem::swap(&mut self.words, &mut self.next);
                core::mem::swap(&mut self.word_addresses, &mut self.own_addresses);
                self.address = Some(region.address());
                Ok(region.address())
            }
        }
    }
}

/// Addresses of a draw's shader records.
#[derive(Clone, Copy)]
struct Placed {
    /// The record of the first instance's first part.
    first: BusAddr,
    /// Distance of two instances' first records, in bytes.
    stride: u32,
    /// Distance of an instance's first and second record, in bytes: its uniforms are between them.
    to_second: u32,
    /// Distance of all further records, in bytes.
    to_next: u32,
}

impl Recording {
    /// Repeats the last draw with other uniforms. `false` if this draw differs in more than that, or the frame's memory
    /// needs a new block.
    #[inline(always)]
    pub(super) fn draw_again<P: Platform, V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        device: &Device<'_, P>,
        memory: &mut FrameMemory,
        (pipeline, mesh): (&Pipeline<V, U, F>, &Mesh<V>),
        instance: &U,
    ) -> Result<bool, Error> {
        let Some(part) = mesh.only_part() else { return Ok(false) };
        let drawn =
            Drawn { pipeline: pipeline.built.memory.address(), mesh: mesh.memory().address(), vertices: part.vertices };
        // Fragment uniforms could differ as well.
        if F::WORDS != 0 || self.last.drawn != Some(drawn) || self.list.reserve(1).is_err() {
            return Ok(false);
        }
        let platform = device.driver_ref()?.platform();
        let start = self.owners.len();
        self.last.words.truncate(self.last.record_words);
        let Some(region) = memory.take_here(self.last.drawn_bytes) else { return Ok(false) };
        let placed = self.place_record(platform, &Labels::of(pipeline, mesh.label()), (0, instance), region);
        if self.owners.len() != start {
            self.owners.truncate(start);
            return Ok(false);
        }
        placed?;
        self.list.draw_encoded(pipeline.built.record.state(), region.address(), part.primitives);
        Ok(true)
    }

    /// Draws the parts of a mesh, once for each instance. On an error the pass is unchanged.
    pub(super) fn draw<P: Platform, V, U: VertexUniforms, F: UniformData>(
        &mut self,
        device: &Device<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        source: &DrawVertices<'_>,
        (instances, fragment_uniforms): (&[U], &F),
    ) -> Result<(), Error> {
        (self.last.drawn, self.last.prepared) = (None, 0);
        let (address, mesh) = (pipeline.built.memory.address(), source.address());
        let is_known = self.last.pipeline == Some(address) && self.last.mesh == mesh && mesh.is_some();
        if !is_known {
            self.check(device, pipeline, source)?;
        }
        self.list.reserve(instances.len().saturating_mul(source.parts.len()))?;
        if is_empty(&self.scissor) {
            // An empty draw must be skipped: boards would draw something [piegpu].
            return Ok(());
        }
        let start = self.owners.len();
        let mut placed = Placed { first: BusAddr(0), stride: 0, to_second: 0, to_next: 0 };
        let result = {
            let driver = &mut *device.driver()?;
            self.place(driver, memory, pipeline, source, (instances, fragment_uniforms), &mut placed)
        };
        let result = match result {
            Ok(()) if self.owners.len() == start => Ok(()),
            written => self.settle_owners(device, pipeline.built.label, start, written),
        };
        if let Err(error) = result {
            // The pass holds no reference to this pipeline, so another pipeline may later have the same address.
            self.last.record = None;
            return Err(error);
        }
        if !is_known {
            self.keep(pipeline, source);
        }
        if self.last.state != Some(address) {
            self.list.set_window(self.scissor);
            self.list.set_fixed(&pipeline.built.state);
            self.last.state = Some(address);
        }
        let shader = pipeline.built.record.state();
        match (instances, source.parts) {
            ([_], [part]) => {
                self.list.draw_encoded(shader, placed.first, part.primitives);
                self.last.drawn = mesh.map(|mesh| Drawn { pipeline: address, mesh, vertices: part.vertices });
            }
            (_, parts) => self.list_all(shader, parts, instances.len(), placed),
        }
        Ok(())
    }

    /// Checks that this pipeline can draw this source in this pass.
    fn check<P: Platform, V, U, F>(
        &self,
        device: &Device<'_, P>,
        pipeline: &Pipeline<V, U, F>,
        source: &DrawVertices<'_>,
    ) -> Result<(), Error> {
        let label = pipeline.built.label;
        device.expect_own(label, &pipeline.built.memory)?;
        self.expect_fit(label, pipeline.built.is_64_bit, pipeline.built.samples)?;
        if source.primitive != pipeline.built.primitive {
            return Err(Error::Primitives { label, pipeline: pipeline.built.primitive, mesh: source.primitive });
        }
        Ok(())
    }

    /// Checks that a pipeline can draw in this pass.
    pub(super) fn expect_fit(
        &self,
        label: &'static str,
        is_64_bit: Option<bool>,
        samples: Samples,
    ) -> Result<(), Error> {
        let buffer = self.pass.grid.buffer;
        if is_64_bit.is_some_and(|is_64_bit| is_64_bit != buffer.is_64_bit()) {
            return Err(Error::ColorBits { label, target: self.target.label(), bits: self.target.format().bits() });
        }
        let pass = if buffer.is_multisample() { Samples::Four } else { Samples::One };
        if pass != samples {
            return Err(Error::Samples { label, pipeline: samples.count(), pass: pass.count() });
        }
        Ok(())
    }

    /// Writes all uniforms and the shader records to the frame's memory.
    #[inline]
    fn place<P: Platform, V, U: VertexUniforms, F: UniformData>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        source: &DrawVertices<'_>,
        (instances, fragment_uniforms): (&[U], &F),
        placed: &mut Placed,
    ) -> Result<(), Error> {
        let fragment = if F::WORDS == 0 && pipeline.built.tail_uniforms.is_empty() {
            // The program reads no uniforms: any address that the pass keeps allocated is valid.
            pipeline.built.memory.address()
        } else {
            self.place_fragment_uniforms(driver, memory, pipeline, fragment_uniforms)?
        };
        match (instances, source.parts) {
            ([instance], [part]) => {
                self.last.begin(pipeline, part.vertices);
                self.last.drawn_bytes = aligned_bytes(self.last.record_words + instance.most_words());
                let region = memory.take(driver, self.last.drawn_bytes)?;
                set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
                self.place_record(driver.platform(), &Labels::of(pipeline, source.label), (0, instance), region)?;
                placed.first = region.address();
                Ok(())
            }
            _ => self.place_all(driver, memory, pipeline, source, (instances, fragment), placed),
        }
    }

    /// Writes the fragment shader's uniforms to the frame's memory and returns their address.
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
        pipeline.push_fragment_uniforms(uniforms, &mut stream);
        expect_valid(&stream, pipeline.built.label, Stage::Fragment)?;
        fragment.own_addresses = stream.take_own_addresses();
        fragment.place(driver, memory)
    }

    /// Appends an instance's uniforms to the record in `words`, writes both to `region`, and returns the addresses of
    /// the uniforms.
    #[inline(always)]
    pub(super) fn place_record<P: Platform, U: VertexUniforms>(
        &mut self,
        platform: &P,
        labels: &Labels,
        (number, instance): (u32, &U),
        region: Region,
    ) -> Result<Uniforms, Error> {
        name_draw(platform, region.address(), labels, number);
        if labels.is_vertex_shaded {
            return self.place_uniforms(platform, labels.pipeline, (number, instance), region);
        }
        region.store_words(platform, &self.last.words)?;
        Ok(Uniforms { vertex: region.address(), coordinate: region.address() })
    }

    /// The same for a pipeline with a vertex shader, without a name.
    #[inline(always)]
    pub(super) fn place_uniforms<P: Platform, U: VertexUniforms>(
        &mut self,
        platform: &P,
        label: &'static str,
        (number, instance): (u32, &U),
        region: Region,
    ) -> Result<Uniforms, Error> {
        let words = &mut self.last.words;
        let vertex = region.address() + 4 * words.len() as u32;
        let mut uniforms = Uniforms { vertex, coordinate: vertex };
        let mut stream = UniformStream::new(words, &mut self.owners, self.viewport_uniforms).of_instance(number);
        instance.push_vertex(&mut stream);
        stream.place_at(vertex);
        expect_valid(&stream, label, Stage::Vertex)?;
        if !instance.coordinate_reads_the_same() {
            uniforms.coordinate = region.address() + 4 * words.len() as u32;
            let mut stream = UniformStream::new(words, &mut self.owners, self.viewport_uniforms).of_instance(number);
            instance.push_coordinate(&mut stream);
            stream.place_at(uniforms.coordinate);
            expect_valid(&stream, label, Stage::Coordinate)?;
        }
        uniforms.fill_in(words);
        region.store_words(platform, words)?;
        Ok(uniforms)
    }

    /// Writes the records of any number of instances and parts, with the uniforms of each instance after its first
    /// record.
    fn place_all<P: Platform, V, U: VertexUniforms, F>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        pipeline: &Pipeline<V, U, F>,
        source: &DrawVertices<'_>,
        (instances, fragment): (&[U], BusAddr),
        placed: &mut Placed,
    ) -> Result<(), Error> {
        let &DrawVertices { label, parts, .. } = source;
        let labels = &Labels::of(pipeline, label);
        let Some((first, others)) = parts.split_first() else { return Ok(()) };
        self.last.begin(pipeline, first.vertices);
        // Consecutive parts with the same vertices share a shader record.
        let more = parts.windows(2).filter(|pair| pair[0].vertices != pair[1].vertices).count();
        let words = instances.iter().map(U::most_words).max().unwrap_or(0);
        placed.to_second = aligned_bytes(self.last.record_words + words);
        placed.to_next = aligned_bytes(self.last.record_words);
        placed.stride = placed.to_second.saturating_add((more as u32).saturating_mul(placed.to_next));
        let count = u32::try_from(instances.len()).unwrap_or(u32::MAX);
        let mut left = memory.take(driver, placed.stride.saturating_mul(count))?;
        placed.first = left.address();
        let mut next = |bytes| {
            let (region, rest) = split(&left, bytes)?;
            left = rest;
            Ok::<_, Error>(region)
        };
        set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
        for (number, instance) in (0..).zip(instances) {
            if others.is_empty() {
                self.last.words.truncate(self.last.record_words);
            } else {
                self.last.begin(pipeline, first.vertices);
                set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
            }
            let region = next(placed.to_second)?;
            let uniforms = self.place_record(driver.platform(), labels, (number, instance), region)?;
            let mut vertices = first.vertices;
            for part in others {
                if part.vertices != vertices {
                    vertices = part.vertices;
                    self.last.begin(pipeline, vertices);
                    set(&mut self.last.words, RecordTemplate::FRAGMENT_UNIFORMS, fragment);
                    if pipeline.built.is_vertex_shaded {
                        uniforms.fill_in(&mut self.last.words);
                    }
                    let region = next(placed.to_next)?;
                    name_draw(driver.platform(), region.address(), labels, number);
                    region.store_words(driver.platform(), &self.last.words)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the references from `start` on that uniforms have added, and passes the result of writing them on; without those references on an error.
    #[inline(never)]
    pub(super) fn settle_owners<P: Platform, T>(
        &mut self,
        device: &Device<'_, P>,
        label: &'static str,
        start: usize,
        written: Result<T, Error>,
    ) -> Result<T, Error> {
        if self.owners.len() == start {
            return written;
        }
        let checked = written.and_then(|written| self.check_owners(label, device, start).map(|()| written));
        if checked.is_err() {
            self.owners.truncate(start);
        }
        checked
    }

    /// Returns an error for uniforms that refer to memory of another device or to the pass's target. Drops references that the last draw has already added.
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
        self.expect_no_target(new)?;
        self.last.owners = start..self.owners.len();
        Ok(())
    }

    /// Returns an error if one of these is the pass's target.
    pub(super) fn expect_no_target(&self, owners: &[Owner]) -> Result<(), Error> {
        let is_target = |owner: &Owner| self.target.memory().is_some_and(|memory| memory.is_owned_by(owner));
        if owners.iter().any(is_target) {
            return Err(Error::TargetInUse { label: self.target.label() });
        }
        Ok(())
    }

    /// Adds references to the pipeline and the mesh to the pass's owners.
    fn keep<V, U, F>(&mut self, pipeline: &Pipeline<V, U, F>, source: &DrawVertices<'_>) {
        let last = &mut self.last;
        (last.pipeline, last.mesh) = (Some(pipeline.built.memory.address()), source.address());
        for memory in [Some(&pipeline.built.memory), source.memory].into_iter().flatten() {
            if let Some(owner) = memory.owner_for(self.number) {
                self.owners.push(owner);
            }
        }
    }

    /// Appends the binning list's records of any number of instances and parts, for which room is reserved.
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

/// Addresses of the uniforms of vertex and coordinate shader.
#[derive(Clone, Copy)]
pub(super) struct Uniforms {
    vertex: BusAddr,
    coordinate: BusAddr,
}

impl Uniforms {
    /// Writes them into a shader record.
    #[inline]
    fn fill_in(self, record: &mut [u32]) {
        set(record, RecordTemplate::COORDINATE_UNIFORMS, self.coordinate);
        set(record, RecordTemplate::VERTEX_UNIFORMS, self.vertex);
    }
}

/// Reports to the platform which draw a shader record belongs to: the labels of its pipeline and vertices, and the number of the instance.
#[inline(always)]
fn name_draw<P: Platform>(platform: &P, record: BusAddr, labels: &Labels, number: u32) {
    if platform.keeps_names() {
        name_with(platform, record, labels, number);
    }
}

#[cold]
#[inline(never)]
fn name_with<P: Platform>(platform: &P, record: BusAddr, labels: &Labels, number: u32) {
    let Labels { pipeline, vertices, .. } = labels;
    platform.name(record, Named::Draw, format_args!("{pipeline}, {vertices}, instance {number}"));
}

/// Writes an address into a shader record.
#[inline]
pub(super) fn set(record: &mut [u32], at: usize, address: BusAddr) {
    if let Some(word) = record.get_mut(at) {
        *word = address.0;
    }
}

/// Size of `words` words in bytes, rounded up to the alignment of the frame's memory.
#[inline]
pub(super) const fn aligned_bytes(words: usize) -> u32 {
    // Programs have fewer than 2^28 words of uniforms; larger numbers saturate.
    let words = if words < 1 << 28 { words as u32 } else { 1 << 28 };
    round_up(4 * words)
}

/// Returns an error if a stream has what cannot be drawn with.
#[inline]
pub(crate) fn expect_valid(stream: &UniformStream<'_>, label: &'static str, stage: Stage) -> Result<(), Error> {
    match (stream.not_a_number(), stream.too_short()) {
        (Some(word), _) => Err(Error::NotANumber { label, stage, word }),
        (None, Some((given, needed))) => Err(Error::TooShort { label, stage, given, needed }),
        (None, None) => Ok(()),
    }
}

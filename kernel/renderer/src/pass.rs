//! Passes: what is drawn to one target.

use alloc::vec::Vec;
use shader_interface::{UniformData, UniformStream, VertexData, VertexUniforms, ViewportUniforms};
use v3d::binning_list::{BinningList, MOST_STATE_CHANGES};
use v3d::draw_state::{DrawState, Viewport};
use v3d::errata::Erratum;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{ClipWindow, Record};
use v3d::pool::{Buffer, Owner};
use v3d::record_list::RecordList;
use v3d::rendering_list::{ClearValues, RenderingPass};
use v3d::shader_record::{Attribute, FragmentProgram, GlRecord, NvRecord, Program, RECORD_ALIGNMENT};
use v3d::tile_grid::TileGrid;
use v3d::{Driver, Platform};

use crate::device::Device;
use crate::error::{Error, Stage};
use crate::frame::memory::FrameMemory;
use crate::mesh::layout::{ALIGNMENT, Part};
use crate::mesh::{Mesh, Primitive, bytes_of, layout};
use crate::pipeline::state::Samples;
use crate::pipeline::{Pipeline, Vertices};
use crate::target::Target;

/// Binner memory for each tile beyond the first block of its list, in bytes. A tile that needs more gets it from the driver while it is binned.
const GROWTH_BYTES_PER_TILE: u32 = 512;

/// How a pass begins and where it ends.
#[derive(Clone, Copy, Debug)]
pub struct PassDescriptor<'t> {
    /// Where it draws to.
    pub target: &'t Target,
    /// The colour that all pixels begin with: red, green, blue, alpha. Without it they begin as they are.
    pub clear: Option<[u8; 4]>,
    /// The depth that all pixels begin with, 0 to 1.
    pub clear_depth: f32,
    /// The stencil that all pixels begin with.
    pub clear_stencil: u8,
    /// Samples a pixel; the target gets their average.
    pub samples: Samples,
}

impl<'t> PassDescriptor<'t> {
    /// Draws over what is there.
    pub const fn to(target: &'t Target) -> Self {
        Self { target, clear: None, clear_depth: 1.0, clear_stencil: 0, samples: Samples::One }
    }

    /// Begins with a colour: red, green, blue, alpha.
    pub const fn clear(self, color: [u8; 4]) -> Self {
        Self { clear: Some(color), ..self }
    }
}

/// Part of a target, in pixels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Left edge.
    pub x_px: u16,
    /// Top edge.
    pub y_px: u16,
    /// Width.
    pub width_px: u16,
    /// Height.
    pub height_px: u16,
}

/// A pass as far as it was recorded.
#[derive(Debug)]
pub(crate) struct Recording {
    target: Target,
    pass: RenderingPass,
    list: BinningList,
    owners: Vec<Owner>,
    viewport: Viewport,
    scissor: ClipWindow,
}

impl Recording {
    pub(crate) fn new<P: Platform>(device: &Device<'_, P>, descriptor: &PassDescriptor<'_>) -> Result<Self, Error> {
        let PassDescriptor { target, clear, clear_depth, clear_stencil, samples } = *descriptor;
        let multisample = samples == Samples::Four;
        if multisample && clear.is_none() {
            let label = target.label();
            return Err(Error::Impossible { label, why: "a picture of one sample a pixel does not become four again" });
        }
        let mut owners = Vec::new();
        if let Some(memory) = target.memory() {
            device.expect_own(target.label(), memory)?;
            owners.push(memory.owner());
        }
        let grid = TileGrid::new(target.width_px(), target.height_px(), multisample)?;
        let tiles = device.driver()?.tile_memory(grid, GROWTH_BYTES_PER_TILE * grid.tiles())?;
        owners.push(tiles.buffer().owner());
        let color = clear.unwrap_or([0; 4]);
        let pass = RenderingPass {
            grid,
            color: *target.surface(),
            clear: Some(ClearValues { color, depth: fixed_depth(clear_depth), stencil: clear_stencil }),
            load_color: clear.is_none(),
            depth: None,
            tile_lists: Some(tiles.lists()),
            disable_early_z: false,
        };
        let list = BinningList::new(tiles.binning_mode());
        let viewport = Viewport::display(grid.width_px, grid.height_px);
        let scissor = ClipWindow { left: 0, bottom: 0, width: grid.width_px, height: grid.height_px };
        Ok(Self { target: target.clone(), pass, list, owners, viewport, scissor })
    }

    /// The binning list, what is rendered, and what owns the memory that both use.
    pub(crate) fn finish(self) -> (RecordList, RenderingPass, Vec<Owner>) {
        (self.list.finish(), self.pass, self.owners)
    }
}

/// A depth as the hardware keeps it: 24 bits.
fn fixed_depth(depth: f32) -> u32 {
    (f64::from(depth.clamp(0.0, 1.0)) * f64::from(ClearValues::FARTHEST)) as u32
}

/// A pass in the making. It ends when it is dropped.
#[derive(Debug)]
pub struct Pass<'f, 'p, P: Platform> {
    device: &'f Device<'p, P>,
    memory: &'f mut FrameMemory,
    recording: &'f mut Recording,
}

impl<'f, 'p, P: Platform> Pass<'f, 'p, P> {
    pub(crate) fn new(device: &'f Device<'p, P>, memory: &'f mut FrameMemory, recording: &'f mut Recording) -> Self {
        Self { device, memory, recording }
    }

    /// Whose pass it is.
    pub(crate) const fn device(&self) -> &'f Device<'p, P> {
        self.device
    }

    /// What is drawn to.
    pub const fn target(&self) -> &Target {
        &self.recording.target
    }

    /// From now on nothing is drawn outside of a rectangle; `None` takes that back.
    pub fn set_scissor(&mut self, scissor: Option<Rectangle>) {
        let grid = &self.recording.pass.grid;
        let (width, height) = (grid.width_px, grid.height_px);
        let all = Rectangle { x_px: 0, y_px: 0, width_px: width, height_px: height };
        let Rectangle { x_px, y_px, width_px, height_px } = scissor.unwrap_or(all);
        let (left, bottom) = (x_px.min(width), y_px.min(height));
        self.recording.scissor =
            ClipWindow { left, bottom, width: width_px.min(width - left), height: height_px.min(height - bottom) };
    }

    /// Draws a mesh.
    ///
    /// # Errors
    /// When pipeline or mesh are another device's, a uniform is not a number, or memory runs out. The pass is then as it was before.
    pub fn draw<V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        mesh: &Mesh<V>,
        vertex_uniforms: &U,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        self.device.expect_own(mesh.label(), mesh.memory())?;
        let vertices = Source { start: mesh.start(), memory: Some(mesh.memory()), parts: mesh.parts() };
        self.draw_source(pipeline, &vertices, vertex_uniforms, fragment_uniforms)
    }

    /// Draws vertices that only this frame needs: their memory is the frame's.
    ///
    /// # Errors
    /// As [`Pass::draw`].
    pub fn draw_vertices<V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        primitive: Primitive,
        vertices: &[V],
        vertex_uniforms: &U,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        if vertices.is_empty() {
            return Ok(());
        }
        let layout = layout::<V>(pipeline.label, primitive, bytes_of(vertices).into(), None)?;
        let start = self.memory.place(&mut *self.device.driver()?, &layout.vertices, ALIGNMENT)?;
        let source = Source { start, memory: None, parts: layout.parts.as_slice() };
        self.draw_source(pipeline, &source, vertex_uniforms, fragment_uniforms)
    }

    fn draw_source<V, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        source: &Source<'_>,
        vertex_uniforms: &U,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        let label = pipeline.label;
        self.device.expect_own(label, &pipeline.memory)?;
        let pass = if self.recording.pass.grid.multisample { Samples::Four } else { Samples::One };
        if pass != pipeline.samples {
            return Err(Error::Samples { label, pipeline: pipeline.samples.count(), pass: pass.count() });
        }
        let driver = &mut *self.device.driver()?;
        let mut uniforms = Uniforms { label, viewport: self.viewport_uniforms(), owners: Vec::new() };
        let fragment = FragmentProgram {
            program: Program {
                code: pipeline.fragment,
                uniforms: uniforms.place(driver, self.memory, Stage::Fragment, |stream| {
                    fragment_uniforms.push(stream);
                    pipeline.tail_uniforms.iter().for_each(|&word| stream.word(word));
                })?,
            },
            varyings: pipeline.varyings,
            threading: pipeline.threading,
        };
        let vertex = match pipeline.vertices {
            Vertices::Programs { vertex, coordinate, attributes } => {
                let vertex_words =
                    uniforms.place(driver, self.memory, Stage::Vertex, |stream| vertex_uniforms.push_vertex(stream))?;
                let coordinate_words = uniforms.place(driver, self.memory, Stage::Coordinate, |stream| {
                    vertex_uniforms.push_coordinate(stream);
                })?;
                Some(VertexPrograms {
                    vertex: Program { code: vertex, uniforms: vertex_words },
                    coordinate: Program { code: coordinate, uniforms: coordinate_words },
                    attributes,
                })
            }
            Vertices::Done => None,
        };
        let records = Records { fragment, vertex, stride: pipeline.stride };
        let Some((first, others)) = source.parts.split_first() else { return Ok(()) };
        let first_shader = records.place(driver, self.memory, first.vertices(source.start))?;
        // Parts with the same vertices have the same record.
        let mut shaders = Vec::new();
        let (mut vertices, mut shader) = (first.vertices(source.start), first_shader);
        for part in others {
            if part.vertices(source.start) != vertices {
                vertices = part.vertices(source.start);
                shader = records.place(driver, self.memory, vertices)?;
            }
            shaders.push(shader);
        }
        let Recording { target, list, owners, viewport, scissor, .. } = &mut *self.recording;
        uniforms.check_owners(self.device, target)?;
        if list.state_changes() + source.parts.len() as u32 > MOST_STATE_CHANGES {
            return Err(v3d::Error::Erratum(Erratum::Hw2116).into());
        }
        let state = DrawState { viewport: *viewport, clip_window: *scissor, ..pipeline.state };
        list.draw(&state, first_shader, &first.primitives(source.start))?;
        for (part, shader) in others.iter().zip(shaders) {
            list.draw(&state, shader, &part.primitives(source.start))?;
        }
        owners.append(&mut uniforms.owners);
        owners.push(pipeline.memory.owner());
        owners.extend(source.memory.map(Buffer::owner));
        Ok(())
    }

    fn viewport_uniforms(&self) -> ViewportUniforms {
        let Viewport { half_width, half_height, z_scale, z_offset, .. } = self.recording.viewport;
        ViewportUniforms { half_width, half_height, z_scale, z_offset }
    }
}

/// Vertices of a draw.
struct Source<'s> {
    /// Where they begin.
    start: BusAddr,
    /// What they are in, if that is not the frame's own memory.
    memory: Option<&'s Buffer>,
    parts: &'s [Part],
}

/// What makes shaded vertices of a draw's vertices.
struct VertexPrograms {
    vertex: Program,
    coordinate: Program,
    attributes: &'static [shader_interface::Attribute],
}

/// The shader records of a draw: the same programs and uniforms for each of its parts.
struct Records {
    fragment: FragmentProgram,
    /// None if the vertices are shaded already.
    vertex: Option<VertexPrograms>,
    stride: u8,
}

impl Records {
    /// Puts the record for vertices from `vertices` on into memory; the answer selects it.
    fn place<P: Platform>(
        &self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        vertices: BusAddr,
    ) -> Result<Record, Error> {
        let Some(VertexPrograms { vertex, coordinate, attributes }) = &self.vertex else {
            let record = NvRecord { fragment: self.fragment, vertices, stride: self.stride, clip_header: false };
            let address = memory.place(driver, &record.encode()?, RECORD_ALIGNMENT)?;
            return Ok(NvRecord::state(address).into());
        };
        let mut arrays = Vec::with_capacity(attributes.len());
        arrays.extend(attributes.iter().map(|attribute| Attribute {
            address: vertices + attribute.memory_offset,
            bytes: attribute.bytes,
            stride: self.stride,
            vertex_offset: Some(attribute.vertex_offset),
            coordinate_offset: attribute.coordinate_offset,
        }));
        let record = GlRecord {
            fragment: self.fragment,
            vertex: *vertex,
            coordinate: *coordinate,
            attributes: &arrays,
            point_size: false,
        };
        let address = memory.place(driver, &record.encode()?, RECORD_ALIGNMENT)?;
        Ok(record.state(address).into())
    }
}

/// The uniforms of one draw.
struct Uniforms {
    label: &'static str,
    viewport: ViewportUniforms,
    /// What owns the memory that their words refer to.
    owners: Vec<Owner>,
}

impl Uniforms {
    /// Puts one program's uniforms into memory.
    fn place<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        memory: &mut FrameMemory,
        stage: Stage,
        push: impl FnOnce(&mut UniformStream<'_>),
    ) -> Result<BusAddr, Error> {
        let mut words = Vec::new();
        let mut stream = UniformStream::new(&mut words, &mut self.owners, self.viewport);
        push(&mut stream);
        match stream.not_a_number() {
            Some(word) => Err(Error::NotANumber { label: self.label, stage, word }),
            None => memory.place_words(driver, &words),
        }
    }

    /// Refuses uniforms that refer to another device's memory, or to what is drawn to.
    fn check_owners<P: Platform>(&self, device: &Device<'_, P>, target: &Target) -> Result<(), Error> {
        if !self.owners.iter().all(|owner| device.pool().may_have(owner)) {
            return Err(Error::ForeignDevice { label: self.label });
        }
        let is_target = |owner: &Owner| target.memory().is_some_and(|memory| memory.is_owned_by(owner));
        if self.owners.iter().any(is_target) {
            return Err(Error::TargetInUse { label: target.label() });
        }
        Ok(())
    }
}

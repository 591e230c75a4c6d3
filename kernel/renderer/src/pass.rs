//! Passes: what is drawn to one target.

use alloc::vec::Vec;
use shader_interface::{UniformData, VertexData, VertexUniforms};
use v3d::Platform;
use v3d::binning_list::BinningList;
use v3d::draw_state::Viewport;
use v3d::hw::control_list::ClipWindow;
use v3d::pool::Owner;
use v3d::record_list::RecordList;
use v3d::rendering_list::{ClearValues, RenderingPass};
use v3d::tile_grid::TileGrid;

use crate::device::Device;
use crate::error::Error;
use crate::frame::memory::FrameMemory;
use crate::mesh::layout::ALIGNMENT;
use crate::mesh::{Mesh, Primitive, bytes_of, layout};
use crate::pipeline::Pipeline;
use crate::pipeline::state::Samples;
use crate::target::Target;

mod draw;

use draw::{LastDraw, Source};

/// Binner memory for each tile beyond the first block of its list, in bytes. A tile that needs more gets it from the driver while it is binned.
const GROWTH_BYTES_PER_TILE: u32 = 512;

/// How a pass begins and where it ends.
#[derive(Clone, Copy, Debug)]
pub struct PassDescriptor<'t> {
    /// Where it draws to.
    pub target: &'t Target,
    /// The colour that all pixels begin with: red, green, blue, alpha. Without it they begin as they are.
    pub clear: Option<[u8; 4]>,
    /// The depth that all pixels begin with; what is less than 0 counts as 0, and what is more than 1 as 1.
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
    last: LastDraw,
}

impl Recording {
    pub(crate) fn new<P: Platform>(device: &Device<'_, P>, descriptor: &PassDescriptor<'_>) -> Result<Self, Error> {
        let PassDescriptor { target, clear, clear_depth, clear_stencil, samples } = *descriptor;
        let multisample = samples == Samples::Four;
        if multisample && clear.is_none() {
            let label = target.label();
            return Err(Error::Impossible { label, why: "a picture of one sample a pixel does not become four again" });
        }
        if clear_depth.is_nan() {
            return Err(Error::Number { label: target.label(), what: "a depth", value: clear_depth });
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
        Ok(Self { target: target.clone(), pass, list, owners, viewport, scissor, last: LastDraw::default() })
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
        self.recording.last.forget_state();
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
        self.draw_instances(pipeline, mesh, core::slice::from_ref(vertex_uniforms), fragment_uniforms)
    }

    /// Draws a mesh once for each of some vertex uniforms.
    ///
    /// # Errors
    /// As [`Pass::draw`]; then none of them is drawn.
    pub fn draw_instances<V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        mesh: &Mesh<V>,
        instances: &[U],
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        self.device.expect_own(mesh.label(), mesh.memory())?;
        let source = Source { memory: Some(mesh.memory()), primitive: mesh.primitive(), parts: mesh.parts() };
        self.recording.draw(self.device, self.memory, pipeline, &source, (instances, fragment_uniforms))
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
        let parts = layout.parts.place(start)?;
        let source = Source { memory: None, primitive: primitive.kind(), parts: parts.as_slice() };
        let uniforms = (core::slice::from_ref(vertex_uniforms), fragment_uniforms);
        self.recording.draw(self.device, self.memory, pipeline, &source, uniforms)
    }
}

//! Passes: sequences of draws to one target.

use alloc::vec::Vec;
use shader_interface::{NoUniforms, UniformData, VertexData, VertexUniforms, ViewportUniforms};
use v3d::Platform;
use v3d::binning_list::BinningList;
use v3d::draw_state::Viewport;
use v3d::hw::control_list::ClipWindow;
use v3d::pool::{Buffer, Owner};
use v3d::record_list::RecordList;
use v3d::region::Region;
use v3d::rendering_list::{ClearValues, DepthBuffer, RenderingPass};
use v3d::tile_area::TileArea;
use v3d::tile_grid::{TileBuffer, TileGrid};
use v3d::tile_memory::TileMemory;

use crate::device::Device;
use crate::error::Error;
use crate::frame::memory::FrameMemory;
use crate::mesh::layout::PlacedPart;
use crate::mesh::{Mesh, Primitive, bytes_of, layout};
use crate::pipeline::Pipeline;
use crate::pipeline::state::Samples;
use crate::rectangle::Rectangle;
use crate::target::{DepthTarget, Format, Target};

mod clear_color;
mod draw;
pub(crate) mod part_clear;
mod prepared;

#[cfg(feature = "wgsl")]
pub(crate) use draw::expect_valid;
pub use prepared::PreparedDraw;

use clear_color::ClearColor;
use draw::{DrawVertices, LastDraw};
use part_clear::PartClear;

/// Initial binner memory per tile, in addition to the first block of its list, in bytes. When it runs out during binning, the driver adds memory.
const GROWTH_BYTES_PER_TILE: u32 = 512;

/// The target of a pass, and how its contents are loaded and stored.
#[derive(Clone, Copy, Debug)]
pub struct PassDescriptor<'t> {
    /// The colour target.
    pub target: &'t Target,
    /// The colour that all pixels are cleared to: red, green, blue, alpha. Targets of bytes clamp it to 0 to 1, those of half floats to the greatest half
    /// float, 65504. `None` loads the target's contents.
    pub clear: Option<[f32; 4]>,
    /// The depth that all pixels are cleared to, clamped to 0 to 1.
    pub clear_depth: f32,
    /// The stencil that all pixels are cleared to.
    pub clear_stencil: u8,
    /// Samples per pixel; the target receives their average.
    pub samples: Samples,
    /// A depth target that depths and stencils are loaded from or stored to. `None` clears them and discards them at
    /// the end.
    pub depth: Option<KeptDepth<'t>>,
    /// The part of the target that is drawn; the rest is unchanged, in the depth target as well. Tiles outside cost nothing. If the part ends inside a tile,
    /// the tile is loaded and cleared with a draw, and early Z is off if that clears depths: a part of whole tiles costs less.
    pub area: Option<Rectangle>,
    /// Splits the tile buffer into two, so that one tile is drawn while the previous one is stored. Tiles then have half the height, and there are twice as
    /// many: this pays if storing takes as long as drawing. It is not available with four samples per pixel.
    pub double_buffer: bool,
}

/// How a pass loads and stores depths and stencils.
#[derive(Clone, Copy, Debug)]
pub struct KeptDepth<'t> {
    /// Where they are stored.
    pub target: &'t DepthTarget,
    /// Their initial values.
    pub load: LoadOp,
    /// Whether they are stored at the end.
    pub store: StoreOp,
}

/// The initial depths and stencils of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadOp {
    /// The pass's clear values.
    Clear,
    /// Those that an earlier pass has stored.
    Load,
}

/// What happens to depths and stencils at the end of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOp {
    /// They are discarded.
    Discard,
    /// They are stored, for a later pass to load.
    Store,
}

impl<'t> PassDescriptor<'t> {
    /// A pass that draws over the target's contents.
    pub const fn to(target: &'t Target) -> Self {
        Self {
            target,
            clear: None,
            clear_depth: 1.0,
            clear_stencil: 0,
            samples: Samples::One,
            depth: None,
            area: None,
            double_buffer: false,
        }
    }

    /// Clears the target to a colour: red, green, blue, alpha, as [`unorm`](crate::unorm) makes them of bytes.
    pub const fn clear(self, color: [f32; 4]) -> Self {
        Self { clear: Some(color), ..self }
    }

    /// Restricts the pass to a part of the target.
    pub const fn within(self, area: Rectangle) -> Self {
        Self { area: Some(area), ..self }
    }

    /// Draws each tile while the previous one is stored.
    pub const fn double_buffered(self) -> Self {
        Self { double_buffer: true, ..self }
    }

    /// Loads depths and stencils from a depth target or clears them, and stores or discards them at the end.
    pub const fn with_depth(self, target: &'t DepthTarget, load: LoadOp, store: StoreOp) -> Self {
        Self { depth: Some(KeptDepth { target, load, store }), ..self }
    }
}

/// The state of a pass while it is recorded.
#[derive(Debug)]
pub(crate) struct Recording {
    target: Target,
    pass: RenderingPass,
    list: BinningList,
    owners: Vec<Owner>,
    /// Unique among the device's passes.
    number: u64,
    viewport_uniforms: ViewportUniforms,
    /// The part of the target that the pass may change.
    window: ClipWindow,
    scissor: ClipWindow,
    part_clear: Option<PartClear>,
    last: LastDraw,
}

impl Recording {
    pub(crate) fn new<P: Platform>(device: &Device<'_, P>, descriptor: &PassDescriptor<'_>) -> Result<Self, Error> {
        let PassDescriptor { target, clear, clear_depth, clear_stencil, samples, depth, area, double_buffer } =
            *descriptor;
        let label = target.label();
        let multisample = samples == Samples::Four;
        if clear_depth.is_nan() {
            return Err(Error::Number { label, what: "a depth", value: clear_depth });
        }
        if let Some(&value) = clear.iter().flatten().find(|channel| !channel.is_finite()) {
            return Err(Error::Number { label, what: "a clear colour", value });
        }
        let clear = clear.map(|color| ClearColor::new(target.format(), color));
        let (width_px, height_px) = (target.width_px(), target.height_px());
        let impossible = |why| Err(Error::Impossible { label, why });
        let is_64_bit = target.format() == Format::Rgba16Float;
        let buffer = match TileBuffer::of_mode(multisample, is_64_bit, double_buffer) {
            Some(buffer) => buffer,
            None if is_64_bit && multisample => {
                return impossible("the hardware does not resolve four samples of 64-bit colours");
            }
            None if is_64_bit => return impossible("a double tile buffer holds 32-bit colours only"),
            None => return impossible("a double tile buffer holds one sample per pixel only"),
        };
        let grid = TileGrid::new(width_px, height_px, buffer)?;
        let part = PassArea::new(label, &grid, area)?;
        // A tile that is drawn in part loads its contents, even if that part is cleared: see `part_clear`.
        let load_color = clear.is_none() || !part.is_whole_tiles;
        if multisample && load_color {
            return impossible("four samples cannot be loaded from a picture of one sample per pixel: clear all of it");
        }
        let mut owners = Vec::new();
        if let Some(memory) = target.memory() {
            device.expect_own(label, memory)?;
            owners.push(memory.owner());
        }
        let mut depth = depth.map(|depth| depth.buffer(device, target, samples, &mut owners)).transpose()?;
        let mut part_clear = None;
        if !part.is_whole_tiles {
            let color = clear.map(ClearColor::shown);
            // Depths that are not stored may be cleared outside of the part as well.
            let cleared_depth = depth.as_mut().filter(|depth| depth.store && !depth.load);
            let depth_and_stencil = cleared_depth.map(|depth| {
                depth.load = true;
                (clear_depth.clamp(0.0, 1.0), clear_stencil)
            });
            part_clear =
                (color.is_some() || depth_and_stencil.is_some()).then_some(PartClear { color, depth_and_stencil });
        }
        let tiles = TileMemory::allocate(&mut *device.driver()?, grid, GROWTH_BYTES_PER_TILE * grid.tiles())?;
        owners.push(tiles.buffer().owner());
        let color = clear.map_or(0, ClearColor::bits);
        let pass = RenderingPass {
            grid,
            area: part.tiles,
            color: *target.surface(),
            clear: Some(ClearValues { color, depth: fixed_depth(clear_depth), stencil: clear_stencil }),
            load_color,
            depth,
            tile_lists: Some(tiles.lists()),
            disable_early_z: false,
        };
        let mut list = BinningList::new(tiles.binning_mode());
        let viewport = Viewport::display(grid.width_px, grid.height_px);
        list.set_viewport(&viewport);
        let Viewport { half_width, half_height, z_scale, z_offset, .. } = viewport;
        Ok(Self {
            target: target.clone(),
            pass,
            list,
            owners,
            number: device.next_pass(),
            viewport_uniforms: ViewportUniforms { half_width, half_height, z_scale, z_offset },
            window: part.window,
            scissor: part.window,
            part_clear,
            last: LastDraw::default(),
        })
    }

    /// The target's label, which names the pass in captures.
    pub(crate) const fn label(&self) -> &'static str {
        self.target.label()
    }

    /// The binning list, the rendering pass, and references to the memory that both use.
    pub(crate) fn finish(self) -> (RecordList, RenderingPass, Vec<Owner>) {
        (self.list.finish(), self.pass, self.owners)
    }
}

impl KeptDepth<'_> {
    /// The surface for control lists. A reference to its memory is added to the pass's owners.
    fn buffer<P: Platform>(
        &self,
        device: &Device<'_, P>,
        target: &Target,
        samples: Samples,
        owners: &mut Vec<Owner>,
    ) -> Result<DepthBuffer, Error> {
        let Self { target: depth, load, store } = *self;
        let label = depth.label();
        device.expect_own(label, depth.memory())?;
        let target_px = (target.width_px(), target.height_px());
        if depth.size_px() != target_px {
            return Err(Error::DepthSize { label, depth_px: depth.size_px(), target_px });
        }
        if samples != Samples::One {
            // Loading four samples needs early Z turned off (HW-2905), and another memory layout.
            return Err(Error::Impossible {
                label,
                why: "depths are loaded and stored only with one sample per pixel",
            });
        }
        owners.push(depth.memory().owner());
        let (load, store) = (load == LoadOp::Load, store == StoreOp::Store);
        Ok(DepthBuffer { surface: depth.surface(), load, store })
    }
}

/// The area of a target that a pass draws.
struct PassArea {
    tiles: TileArea,
    window: ClipWindow,
    /// Whether the pass covers every pixel of each tile that it touches.
    is_whole_tiles: bool,
}

impl PassArea {
    fn new(label: &'static str, grid: &TileGrid, area: Option<Rectangle>) -> Result<Self, Error> {
        let whole = ClipWindow { left: 0, bottom: 0, width: grid.width_px, height: grid.height_px };
        let Some(area) = area else {
            return Ok(Self { tiles: grid.whole(), window: whole, is_whole_tiles: true });
        };
        let window = intersection(whole, area);
        let ClipWindow { left, bottom, width, height } = window;
        let (width_px, height_px) = (grid.width_px.into(), grid.height_px.into());
        let none = Error::Area { label, area, width_px, height_px };
        let tiles = grid.touched(left, bottom, width, height).ok_or(none)?;
        let is_whole_tiles = grid.is_whole(left, bottom, width, height);
        Ok(Self { tiles, window, is_whole_tiles })
    }
}

/// The intersection of two rectangles.
fn intersection(window: ClipWindow, with: Rectangle) -> ClipWindow {
    let along = |start: u16, length: u16, other: u16, other_length: u16| {
        let first = start.max(other);
        let end = (start + length).min(other.saturating_add(other_length));
        (first.min(start + length), end.saturating_sub(first))
    };
    let (left, width) = along(window.left, window.width, with.x_px, with.width_px);
    let (bottom, height) = along(window.bottom, window.height, with.y_px, with.height_px);
    ClipWindow { left, bottom, width, height }
}

/// A depth in the hardware's format: 24 bits, fixed point.
fn fixed_depth(depth: f32) -> u32 {
    (f64::from(depth.clamp(0.0, 1.0)) * f64::from(ClearValues::FARTHEST)) as u32
}

/// A pass that is being recorded. It ends when it is dropped.
#[derive(Debug)]
pub struct Pass<'f, 'p, P: Platform> {
    device: &'f Device<'p, P>,
    platform: &'p P,
    memory: &'f mut FrameMemory,
    recording: &'f mut Recording,
}

impl<'f, 'p, P: Platform> Pass<'f, 'p, P> {
    pub(crate) fn new(
        device: &'f Device<'p, P>,
        platform: &'p P,
        memory: &'f mut FrameMemory,
        recording: &'f mut Recording,
    ) -> Self {
        Self { device, platform, memory, recording }
    }

    /// The device that the pass is drawn on.
    pub(crate) const fn device(&self) -> &'f Device<'p, P> {
        self.device
    }

    /// The colour target.
    pub const fn target(&self) -> &Target {
        &self.recording.target
    }

    /// The transformation to the target's pixels.
    #[cfg(feature = "wgsl")]
    pub(crate) const fn viewport(&self) -> &ViewportUniforms {
        &self.recording.viewport_uniforms
    }

    /// Restricts the following draws to a rectangle, or to the pass's whole area for `None`. A draw whose remaining area is empty is skipped.
    pub fn set_scissor(&mut self, scissor: Option<Rectangle>) {
        let window = self.recording.window;
        self.recording.scissor = scissor.map_or(window, |scissor| intersection(window, scissor));
        self.recording.last.forget_state();
    }

    /// Draws a mesh.
    ///
    /// # Errors
    /// When the pipeline or the mesh belongs to another device, a uniform is NaN, or memory runs out. The pass is then unchanged.
    pub fn draw<V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        mesh: &Mesh<V>,
        vertex_uniforms: &U,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        if self.recording.draw_again(self.device, self.memory, (pipeline, mesh), vertex_uniforms)? {
            return Ok(());
        }
        self.draw_instances(pipeline, mesh, core::slice::from_ref(vertex_uniforms), fragment_uniforms)
    }

    /// Draws a mesh once for each element of `instances`; a shader in WGSL reads the index as `instance_index`.
    ///
    /// # Errors
    /// As [`Pass::draw`]; then no instance is drawn.
    pub fn draw_instances<V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        mesh: &Mesh<V>,
        instances: &[U],
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        self.device.expect_own(mesh.label(), mesh.memory())?;
        let (label, memory) = (mesh.label(), Some(mesh.memory()));
        let source = DrawVertices { label, memory, primitive: mesh.primitive(), parts: mesh.parts() };
        self.recording.draw(self.device, self.memory, pipeline, &source, (instances, fragment_uniforms))
    }

    /// Draws transient vertices, which are copied into the frame's memory.
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
        let layout = layout(pipeline.built.label, primitive, (bytes_of(vertices).into(), V::BYTES), None)?;
        let start = self.memory.place(&mut *self.device.driver()?, &layout.vertices)?;
        let parts = layout.parts.place(start)?;
        let label = "vertices of the frame";
        let source = DrawVertices { label, memory: None, primitive: primitive.kind(), parts: parts.as_slice() };
        let uniforms = (core::slice::from_ref(vertex_uniforms), fragment_uniforms);
        self.recording.draw(self.device, self.memory, pipeline, &source, uniforms)
    }

    /// Draws transient elements whose vertices the function `words` computes: rectangles of four vertices each if there are `indices`, which must be
    /// sufficient for all, and points otherwise.
    pub(crate) fn draw_each<T, V: VertexData, F: UniformData, const N: usize>(
        &mut self,
        pipeline: &Pipeline<V, NoUniforms, F>,
        things: &[T],
        words: impl Fn(&T) -> [u32; N],
        indices: Option<&Buffer>,
        uniforms: &F,
    ) -> Result<(), Error> {
        if let Some(indices) = indices {
            self.device.expect_own(pipeline.built.label, indices)?;
        }
        let region = self.place_each(things, words)?;
        let count = (4 * N * things.len()) as u32 / V::BYTES as u32;
        let part = match indices {
            Some(indices) => PlacedPart::rectangles(region.address(), indices.address(), count)?,
            None => PlacedPart::points(region.address(), count)?,
        };
        let label = "things of the frame";
        let source = DrawVertices { label, memory: indices, primitive: pipeline.built.primitive, parts: &[part] };
        self.recording.draw(self.device, self.memory, pipeline, &source, (&[NoUniforms], uniforms))
    }

    /// Copies the words of transient elements, which the function `words` computes, to the frame's memory.
    pub(crate) fn place_each<T, const N: usize>(
        &mut self,
        things: &[T],
        words: impl Fn(&T) -> [u32; N],
    ) -> Result<Region, Error> {
        /// Number of elements whose words are written in one batch.
        const AT_ONCE: usize = 16;
        let bytes = u32::try_from(4 * N * things.len()).unwrap_or(u32::MAX);
        let driver = &mut *self.device.driver()?;
        let region = self.memory.take(driver, bytes)?;
        let mut written = [[0; N]; AT_ONCE];
        let mut at = 0;
        for things in things.chunks(AT_ONCE) {
            for (written, thing) in written.iter_mut().zip(things) {
                *written = words(thing);
            }
            let written = written[..things.len()].as_flattened();
            let bytes = 4 * written.len() as u32;
            region.part(at, bytes)?.store_words(driver.platform(), written)?;
            at += bytes;
        }
        Ok(region)
    }

    /// Draws vertices and indices in `memory`.
    pub(crate) fn draw_part<V: VertexData, U: VertexUniforms, F: UniformData>(
        &mut self,
        pipeline: &Pipeline<V, U, F>,
        memory: &Buffer,
        part: PlacedPart,
        vertex_uniforms: &U,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        self.device.expect_own(pipeline.built.label, memory)?;
        let source = DrawVertices {
            label: pipeline.built.label,
            memory: Some(memory),
            primitive: pipeline.built.primitive,
            parts: &[part],
        };
        let uniforms = (core::slice::from_ref(vertex_uniforms), fragment_uniforms);
        self.recording.draw(self.device, self.memory, pipeline, &source, uniforms)
    }
}

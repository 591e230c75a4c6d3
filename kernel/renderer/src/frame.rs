//! Frames: from draws to a submitted job.
//!
//! A renderer has the memory of two frames, so that the CPU can write one while the GPU works on the other. Beginning a frame waits until the frame before the
//! last is done.

use alloc::vec::Vec;
use qpu_shaders::{UniformData, VertexData};
use v3d::arena::Arena;
use v3d::binning_list::BinningList;
use v3d::draw_state::DrawState;
use v3d::hw::BusAddr;
use v3d::hw::control_list::PrimitiveMode;
use v3d::platform::GpuMemory;
use v3d::primitives::Primitives;
use v3d::record_list::ControlList;
use v3d::rendering_list::{ClearValues, RenderingPass};
use v3d::shader_record::{Attribute, FragmentProgram, GlRecord, NvRecord, Program, RECORD_ALIGNMENT};
use v3d::surface::Surface;
use v3d::tile_grid::TileGrid;
use v3d::tile_memory::TileMemory;
use v3d::{Driver, Error, Fence, Job, Platform};

use crate::material::{FragmentMaterial, Material};
use crate::mesh::Mesh;

/// Frames that have memory of their own.
const FRAMES: usize = 2;

/// How much memory a renderer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Lists, records and uniforms of one frame, in bytes.
    pub arena_bytes: u32,
    /// Tile lists of one frame beyond the first block of each tile, in bytes.
    pub tile_growth_bytes: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { arena_bytes: 64 * 1024, tile_growth_bytes: 128 * 1024 }
    }
}

/// Memory of one frame.
#[derive(Debug)]
struct Slot {
    arena: Arena,
    tiles: TileMemory,
    fence: Fence,
    /// Lists of the passes that were drawn last, the latest made at the end.
    rendering: Vec<RenderingBytes>,
}

/// Rendering lists that a slot keeps: one for each page of a display that has three.
const LISTS_KEPT: usize = 3;

/// A rendering list as bytes. It only depends on the pass, and frames take turns over a few pages, so it is seldom made anew.
#[derive(Debug)]
struct RenderingBytes {
    pass: RenderingPass,
    bytes: Vec<u8>,
}

impl Slot {
    /// Puts the pass's list into the frame's memory.
    fn place_rendering_list(&mut self, memory: &impl GpuMemory, pass: RenderingPass) -> Result<ControlList, Error> {
        let index = match self.rendering.iter().position(|known| known.pass == pass) {
            Some(index) => index,
            None => {
                let bytes = pass.list()?.encode()?;
                if self.rendering.len() == LISTS_KEPT {
                    self.rendering.remove(0);
                }
                self.rendering.push(RenderingBytes { pass, bytes });
                self.rendering.len() - 1
            }
        };
        ControlList::place(memory, &mut self.arena, &self.rendering[index].bytes)
    }
}

/// Renders frames of one size.
#[derive(Debug)]
pub struct Renderer {
    grid: TileGrid,
    slots: Vec<Slot>,
    next: usize,
}

impl Renderer {
    /// Takes memory for frames of this size from the driver's pool.
    pub fn new<P: Platform>(
        driver: &mut Driver<'_, P>,
        width_px: u32,
        height_px: u32,
        sizes: Sizes,
    ) -> Result<Self, Error> {
        let mut renderer = Self { grid: TileGrid::new(width_px, height_px, false)?, slots: Vec::new(), next: 0 };
        for _ in 0..FRAMES {
            match renderer.slot(driver, sizes) {
                Ok(slot) => renderer.slots.push(slot),
                Err(error) => {
                    renderer.free(driver);
                    return Err(error);
                }
            }
        }
        Ok(renderer)
    }

    fn slot<P: Platform>(&self, driver: &mut Driver<'_, P>, sizes: Sizes) -> Result<Slot, Error> {
        let arena = driver.arena(sizes.arena_bytes)?;
        match driver.tile_memory(self.grid, sizes.tile_growth_bytes) {
            Ok(tiles) => Ok(Slot { arena, tiles, fence: Fence::NONE, rendering: Vec::new() }),
            Err(error) => {
                driver.free(arena.into_buffer());
                Err(error)
            }
        }
    }

    /// State in which everything is drawn, on the whole picture, upright on a display.
    pub fn state(&self) -> DrawState {
        DrawState::display(self.grid.width_px, self.grid.height_px)
    }

    /// Begins a frame that starts as `clear` and ends up in `target`.
    ///
    /// That the frame before the last failed is no reason not to draw this one: its memory is free either way.
    pub fn begin<'a, 'p, P: Platform>(
        &'a mut self,
        driver: &'a mut Driver<'p, P>,
        target: Surface,
        clear: ClearValues,
    ) -> Result<Frame<'a, 'p, P>, Error> {
        let index = self.next;
        self.next = (index + 1) % FRAMES;
        let grid = self.grid;
        let slot = self.slots.get_mut(index).ok_or(Error::Draw("the renderer has no memory"))?;
        match driver.wait(slot.fence) {
            Ok(()) | Err(Error::JobFailed { .. }) => {}
            Err(error) => return Err(error),
        }
        slot.arena.reset();
        let list = BinningList::new(slot.tiles.binning_mode());
        Ok(Frame { driver, slot, grid, target, clear, list })
    }

    /// Waits until all frames are done and gives the memory back.
    pub fn free<P: Platform>(self, driver: &mut Driver<'_, P>) {
        driver.wait_until_idle();
        for slot in self.slots {
            driver.free(slot.arena.into_buffer());
            driver.free(slot.tiles.into_buffer());
        }
    }
}

/// A frame in the making.
#[derive(Debug)]
pub struct Frame<'a, 'p, P> {
    driver: &'a mut Driver<'p, P>,
    slot: &'a mut Slot,
    grid: TileGrid,
    target: Surface,
    clear: ClearValues,
    list: BinningList,
}

impl<P: Platform> Frame<'_, '_, P> {
    /// Draws a mesh through the GL pipeline.
    pub fn draw<V: VertexData, U: UniformData, C: UniformData, F: UniformData, const N: usize>(
        &mut self,
        state: &DrawState,
        material: &Material<V, U, C, F, N>,
        mesh: &Mesh<V>,
        vertex_uniforms: &U,
        coordinate_uniforms: &C,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        let stride = stride::<V>()?;
        let mut attributes = Vec::with_capacity(material.attributes().len());
        for attribute in material.attributes() {
            attributes.push(Attribute {
                address: mesh.vertices() + attribute.memory_offset,
                bytes: attribute.bytes,
                stride,
                vertex_offset: Some(attribute.vertex_offset),
                coordinate_offset: attribute.coordinate_offset,
            });
        }
        let record = GlRecord {
            fragment: self.fragment(material.fragment(), fragment_uniforms)?,
            vertex: Program { code: material.vertex(), uniforms: self.uniforms(vertex_uniforms)? },
            coordinate: Program { code: material.coordinate(), uniforms: self.uniforms(coordinate_uniforms)? },
            attributes: &attributes,
            point_size: false,
        };
        let address = self.slot.arena.place(self.driver.platform(), &record.encode()?, RECORD_ALIGNMENT)?;
        self.list.draw(state, record.state(address), &mesh.primitives())
    }

    /// Draws a mesh of shaded vertices through the NV pipeline.
    pub fn draw_shaded<V: VertexData, F: UniformData, const N: usize>(
        &mut self,
        state: &DrawState,
        material: &FragmentMaterial<F, N>,
        mesh: &Mesh<V>,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        self.shaded(state, material, mesh.vertices(), stride::<V>()?, &mesh.primitives(), fragment_uniforms)
    }

    /// Draws shaded vertices that only this frame needs: their memory is the frame's.
    pub fn draw_once<V: VertexData, F: UniformData, const N: usize>(
        &mut self,
        state: &DrawState,
        material: &FragmentMaterial<F, N>,
        mode: PrimitiveMode,
        vertices: &[V],
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        if vertices.is_empty() {
            return Ok(());
        }
        let mut words = Vec::with_capacity(vertices.len() * V::BYTES / 4);
        vertices.iter().for_each(|vertex| vertex.push(&mut words));
        let address = self.place_words(&words)?;
        let primitives = Primitives::Array { mode, first: 0, count: vertices.len() as u32 };
        self.shaded(state, material, address, stride::<V>()?, &primitives, fragment_uniforms)
    }

    fn shaded<F: UniformData, const N: usize>(
        &mut self,
        state: &DrawState,
        material: &FragmentMaterial<F, N>,
        vertices: BusAddr,
        stride: u8,
        primitives: &Primitives,
        fragment_uniforms: &F,
    ) -> Result<(), Error> {
        let fragment = self.fragment(material, fragment_uniforms)?;
        let record = NvRecord { fragment, vertices, stride, clip_header: false };
        let address = self.slot.arena.place(self.driver.platform(), &record.encode()?, RECORD_ALIGNMENT)?;
        self.list.draw(state, NvRecord::state(address), primitives)
    }

    fn fragment<F: UniformData, const N: usize>(
        &mut self,
        material: &FragmentMaterial<F, N>,
        uniforms: &F,
    ) -> Result<FragmentProgram, Error> {
        let varyings =
            u8::try_from(N).map_err(|_| Error::ShaderRecord("a fragment shader has at most 255 varyings"))?;
        Ok(FragmentProgram {
            program: Program { code: material.code(), uniforms: self.uniforms(uniforms)? },
            varyings,
            threading: material.threading(),
        })
    }

    /// Puts uniforms into the frame's memory.
    fn uniforms(&mut self, uniforms: &impl UniformData) -> Result<BusAddr, Error> {
        let mut words = Vec::new();
        uniforms.push(&mut words);
        self.place_words(&words)
    }

    /// Puts words into the frame's memory.
    fn place_words(&mut self, words: &[u32]) -> Result<BusAddr, Error> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.slot.arena.place(self.driver.platform(), &bytes, 16)
    }

    /// Hands the frame to the GPU.
    pub fn submit(self) -> Result<Fence, Error> {
        let Self { driver, slot, grid, target, clear, list } = self;
        let pass = RenderingPass {
            grid,
            color: target,
            clear: Some(clear),
            load_color: false,
            depth: None,
            tile_lists: Some(slot.tiles.lists()),
            disable_early_z: false,
        };
        let binning = list.finish().place(driver.platform(), &mut slot.arena)?;
        let rendering = slot.place_rendering_list(driver.platform(), pass)?;
        slot.fence = driver.submit(Job { binning: Some(binning), rendering });
        Ok(slot.fence)
    }
}

/// Bytes from one vertex to the next, as records hold them.
fn stride<V: VertexData>() -> Result<u8, Error> {
    u8::try_from(V::BYTES).map_err(|_| Error::ShaderRecord("a vertex in memory has at most 255 bytes"))
}

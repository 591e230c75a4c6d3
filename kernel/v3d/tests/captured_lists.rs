//! The builders' lists compared with another driver's, byte for byte.
//!
//! The frames are described as in the captures; see lists/README.md.

use v3d::binning_list::BinningList;
use v3d::draw_state::{DrawState, Viewport};
use v3d::hw::BusAddr;
use v3d::hw::control_list::{CompareFunction, GlShaderState, IndexType, MemoryFormat, PrimitiveMode, TileBinningMode};
use v3d::primitives::Primitives;
use v3d::rendering_list::{ClearValues, DepthBuffer, RenderingPass};
use v3d::surface::{ColorFormat, DepthSurface, Surface};
use v3d::tile_grid::{TileBuffer, TileGrid};
use v3d::tile_memory;

/// A captured frame.
struct Frame {
    width_px: u16,
    height_px: u16,
    arrangement: MemoryFormat,
    tile_state: u32,
    /// Size of its tile allocation memory in bytes.
    list_bytes: u32,
}

impl Frame {
    fn grid(&self) -> TileGrid {
        TileGrid::new(self.width_px.into(), self.height_px.into(), TileBuffer::Single).unwrap()
    }

    /// That driver places tile lists one page after tile state.
    fn lists(&self) -> BusAddr {
        BusAddr(self.tile_state + 4096)
    }

    fn binning_mode(&self) -> TileBinningMode {
        tile_memory::binning_mode(&self.grid(), BusAddr(self.tile_state), self.lists(), self.list_bytes)
    }

    /// That driver's state: it does not flip the viewport.
    fn state(&self) -> DrawState {
        let state = DrawState::display(self.width_px, self.height_px);
        let viewport = Viewport { half_height: -state.viewport.half_height, ..state.viewport };
        DrawState { viewport, ..state }
    }

    fn rendering(&self, clear: Option<ClearValues>, depth: Option<DepthBuffer>) -> RenderingPass {
        RenderingPass {
            grid: self.grid(),
            area: self.grid().whole(),
            color: Surface {
                address: BusAddr(0x41_0000),
                width_px: self.width_px.into(),
                height_px: self.height_px.into(),
                format: ColorFormat::Rgba8888,
                arrangement: self.arrangement,
            },
            clear,
            load_color: false,
            depth,
            tile_lists: Some(self.lists()),
            disable_early_z: false,
        }
    }
}

fn triangles(frame: &Frame, shader: u32) -> Vec<u8> {
    let shader = GlShaderState { address: BusAddr(shader).into(), extended: false, attribute_arrays: 2 };
    let mut list = BinningList::new(frame.binning_mode());
    let primitives = Primitives::Array { mode: PrimitiveMode::Triangles, first: 0, count: 3 };
    list.draw(&frame.state(), shader, &primitives).unwrap();
    list.finish().encode().unwrap()
}

/// Blue 0.2, rounded as that driver does.
const BLUE: ClearValues = ClearValues { color: ClearValues::rgba8888([0, 0, 0x33, 0xff]), depth: 0, stencil: 0 };

#[test]
fn a_triangle_on_whole_tiles() {
    let frame = Frame {
        width_px: 256,
        height_px: 256,
        arrangement: MemoryFormat::TFormat,
        tile_state: 0x45_d000,
        list_bytes: 0x10_0200,
    };
    assert_eq!(triangles(&frame, 0x45_b060), include_bytes!("lists/tri_rgb-0.binning.bin"));
    let list = frame.rendering(Some(BLUE), None).list().unwrap().encode().unwrap();
    assert_eq!(list, include_bytes!("lists/tri_rgb-0.rendering.bin"));
}

#[test]
fn a_triangle_on_partial_tiles() {
    let frame = Frame {
        width_px: 200,
        height_px: 123,
        arrangement: MemoryFormat::TFormat,
        tile_state: 0x43_9000,
        list_bytes: 0x10_0100,
    };
    assert_eq!(triangles(&frame, 0x43_7060), include_bytes!("lists/tri_rgb_odd-0.binning.bin"));
    let list = frame.rendering(Some(BLUE), None).list().unwrap().encode().unwrap();
    assert_eq!(list, include_bytes!("lists/tri_rgb_odd-0.rendering.bin"));
}

#[test]
fn a_triangle_in_one_tile_of_lt_format() {
    let frame = Frame {
        width_px: 40,
        height_px: 13,
        arrangement: MemoryFormat::LtFormat,
        tile_state: 0x41_e000,
        list_bytes: 0x10_0100,
    };
    assert_eq!(triangles(&frame, 0x41_c060), include_bytes!("lists/tri_rgb_lt-0.binning.bin"));
    let list = frame.rendering(Some(BLUE), None).list().unwrap().encode().unwrap();
    assert_eq!(list, include_bytes!("lists/tri_rgb_lt-0.rendering.bin"));
}

/// Address of depth in the captures.
const DEPTH: DepthSurface = DepthSurface { address: BusAddr(0x45_1000), arrangement: MemoryFormat::TFormat };

#[test]
fn indexed_draws_with_a_depth_buffer_that_is_stored() {
    let frame = Frame {
        width_px: 256,
        height_px: 256,
        arrangement: MemoryFormat::TFormat,
        tile_state: 0x4a_0000,
        list_bytes: 0x10_0200,
    };
    let mut list = BinningList::new(frame.binning_mode());
    let primitives = Primitives::Indexed {
        mode: PrimitiveMode::Triangles,
        indices: BusAddr(0x49_6000),
        index_type: IndexType::Bits16,
        count: 36,
        maximum: 169,
    };
    for shader in [0x49_e090, 0x49_e0d0, 0x49_e110] {
        let shader = GlShaderState { address: BusAddr(shader).into(), extended: false, attribute_arrays: 2 };
        list.draw(&frame.state().with_depth_test(), shader, &primitives).unwrap();
    }
    assert_eq!(list.finish().encode().unwrap(), include_bytes!("lists/cube_depth-0.binning.bin"));

    let clear = ClearValues::color([0x1a, 0x1f, 0x26, 0xff]);
    let depth = DepthBuffer { surface: DEPTH, load: false, store: true };
    let list = frame.rendering(Some(clear), Some(depth)).list().unwrap().encode().unwrap();
    assert_eq!(list, include_bytes!("lists/cube_depth-0.rendering.bin"));
}

#[test]
fn colour_and_depth_are_loaded_one_after_the_other() {
    let frame = Frame {
        width_px: 256,
        height_px: 256,
        arrangement: MemoryFormat::TFormat,
        tile_state: 0x4a_2000,
        list_bytes: 0x10_0200,
    };
    let mut list = BinningList::new(frame.binning_mode());
    for (shader, mode, count) in
        [(0x4a_0070, PrimitiveMode::TriangleStrip, 4), (0x4a_00a0, PrimitiveMode::TriangleStrip, 4)]
    {
        let shader = GlShaderState { address: BusAddr(shader).into(), extended: false, attribute_arrays: 1 };
        let state = frame.state().with_depth_test();
        assert_eq!(state.configuration.depth_test, CompareFunction::Less);
        list.draw(&state, shader, &Primitives::Array { mode, first: 0, count }).unwrap();
    }
    assert_eq!(list.finish().encode().unwrap(), include_bytes!("lists/depth_noz_loadstore-1.binning.bin"));

    let depth = DepthBuffer { surface: DEPTH, load: true, store: true };
    let pass = RenderingPass { load_color: true, ..frame.rendering(None, Some(depth)) };
    assert_eq!(pass.list().unwrap().encode().unwrap(), include_bytes!("lists/depth_noz_loadstore-1.rendering.bin"));
}

//! Rules of the pipeline that were found on boards.

use crate::machine::Machine;
use crate::scene::{
    CORNERS, FILL, FRAGMENT_SHADER, FRAME, RECORD, SIZE, TILE_LISTS, UNIFORMS, VERTICES, draw_gl, frame, triangles,
    window,
};
use v3d_hw::control_list::{
    BranchToSubList, ClearColors, CompareFunction, ConfigurationBits, DecimateMode, DepthOffset, Float187, LineWidth,
    LoadGeneral, MemoryFormat, PixelFormat, PrimitiveMode, Record, StoreGeneral, StoreMode, Threading,
    TileBufferSelect, TileCoordinates, TileRenderingMode, VertexArrayPrimitives,
};
use v3d_hw::tiling::{self, Tiling};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::Register;

const OTHER: u32 = 0x20_0000;

/// Writes the colour of the first uniform, and Z as the tile buffer expects it.
const FILL_WITH_Z: &str = "nop\nmov r0, unif\nmov tlbz, rb15\nmov tlbc, r0\nthrend\nnop\nsbdone";
/// The same for lines, which have a varying of their own.
const FILL_LINE: &str = "nop\nmov -, vary\nmov r0, unif\nmov tlbc, r0\nthrend\nnop\nsbdone";

/// Line width keeps its value from job to job [piegpu].
#[test]
fn line_width_outlives_the_job_within_its_thread() {
    let line = VertexArrayPrimitives { first_vertex: 0, length: 2, mode: PrimitiveMode::Lines };
    let draw = |machine: &mut Machine, width: Option<f32>| {
        let state = machine.put_nv(0, &[(0, 32), (64, 32)], Threading::Single, FILL_LINE);
        let mut records: Vec<Record> = width.map(|width| LineWidth { width }.into()).into_iter().collect();
        records.extend([state, line.into()]);
        machine.bin(window(SIZE, SIZE), &records, true);
        machine.render_tile_list();
        machine.write(Register::RFC, 1);
        machine.drawn()
    };
    let mut machine = Machine::new();
    assert_eq!(draw(&mut machine, None), 64);
    assert_eq!(draw(&mut machine, Some(8.0)), 8 * 64);
    assert_eq!(draw(&mut machine, None), 8 * 64);
    machine.v3d.reset();
    assert_eq!(draw(&mut machine, None), 64);
    assert_eq!(machine.faults(), [""; 0]);
}

/// So does the depth offset, by which a driver goes that sends it in each job [piegpu].
#[test]
fn depth_offset_outlives_the_job_within_its_thread() {
    let configuration = ConfigurationBits {
        forward_facing: true,
        reverse_facing: true,
        depth_test: CompareFunction::Always,
        z_updates: true,
        depth_offset: true,
        ..ConfigurationBits::default()
    };
    let depth = |machine: &mut Machine, offset: Option<f32>| {
        let state = machine.put_nv(0, &CORNERS, Threading::Single, FILL_WITH_Z);
        let units = |units| DepthOffset { units: Float187::truncate(units), factor: Float187::truncate(0.0) };
        let mut records: Vec<Record> = offset.map(|offset| units(offset).into()).into_iter().collect();
        records.extend([configuration.into(), state, triangles(0, 3)]);
        machine.bin(window(SIZE, SIZE), &records, true);
        let store = StoreGeneral {
            address: BusAddr(OTHER).into(),
            buffer: TileBufferSelect::ZStencil,
            ..StoreGeneral::from_bits(0)
        };
        let list = BranchToSubList { address: BusAddr(TILE_LISTS) };
        let tile = TileCoordinates { column: 0, row: 0 };
        machine.render(frame(), &[list.into(), store.into(), tile.into(), Record::StoreResolvedEndOfFrame]);
        machine.memory().word(BusAddr(OTHER)).unwrap() >> 8
    };
    let mut machine = Machine::new();
    let plain = depth(&mut machine, None);
    let moved = depth(&mut machine, Some(65536.0));
    assert_eq!(moved, plain + 65536);
    assert_eq!(depth(&mut machine, None), moved);
    machine.v3d.reset();
    assert_eq!(depth(&mut machine, None), plain);
}

/// Both threads may be started together when the lists use the semaphores as Mesa does [bm].
#[test]
fn the_renderer_may_be_started_before_the_binner() {
    let mut machine = Machine::new();
    let list = BranchToSubList { address: BusAddr(TILE_LISTS) };
    machine.render(frame(), &[Record::WaitOnSemaphore, list.into(), Record::StoreResolvedEndOfFrame]);
    assert_eq!((machine.read(Register::RFC), machine.drawn()), (0, 0));
    let state = machine.put_nv(0, &CORNERS, Threading::Single, FILL);
    machine.bin(window(SIZE, SIZE), &[state, triangles(0, 3)], true);
    assert_eq!((machine.read(Register::BFC), machine.read(Register::RFC)), (1, 1));
    assert_eq!(machine.drawn(), 64 * 63 / 2);
    assert_eq!(machine.faults(), [""; 0]);
}

/// A triangle that reaches 3,000 pixels to the right of the picture is cut properly in GL mode [bm].
#[test]
fn a_triangle_that_reaches_far_beyond_the_picture_is_cut() {
    let mut machine = Machine::new();
    draw_gl(&mut machine, [(0, 0), (3064, 0), (0, 64)], true, true);
    // The edge falls by one row over 48 pixels.
    let expected =
        (0..64i64 * 64).filter(|n| (2 * (n % 64) + 1) * 64 + (2 * (n / 64) + 1) * 3064 < 2 * 64 * 3064).count();
    let drawn = machine.drawn();
    // New corners are rounded to 1/16 pixel.
    assert!(drawn.abs_diff(expected) <= 8, "{drawn} pixels, and not {expected}");
    assert_eq!(machine.faults(), [""; 0]);
}

/// Loading a raster BGR565 page into a multisampled tile gives all four samples the pixel [bm].
#[test]
fn a_565_page_fills_all_samples_of_a_pixel() {
    let mut machine = Machine::new();
    for n in 0..32 * 32 {
        machine.memory().set_half(BusAddr(OTHER + 2 * n), (n * 37) as u16).unwrap();
    }
    let mode = TileRenderingMode { multisample: true, width: 32, height: 32, decimate: DecimateMode::X4, ..frame() };
    let load = LoadGeneral {
        address: BusAddr(OTHER).into(),
        pixel_format: PixelFormat::Bgr565,
        format: MemoryFormat::Raster,
        buffer: TileBufferSelect::Color,
        ..LoadGeneral::from_bits(0)
    };
    let tile: Record = TileCoordinates { column: 0, row: 0 }.into();
    let average = StoreGeneral {
        address: BusAddr(OTHER + 0x1000).into(),
        pixel_format: PixelFormat::Bgr565,
        buffer: TileBufferSelect::Color,
        mode: StoreMode::Decimate4,
        ..StoreGeneral::from_bits(0)
    };
    machine.render(
        mode,
        &[Record::StoreResolved, load.into(), tile, average.into(), tile, Record::StoreResolvedEndOfFrame],
    );
    for n in 0..32 * 32 {
        let at = BusAddr(OTHER + 0x1000 + 2 * n);
        assert_eq!(machine.memory().half(at).unwrap(), (n * 37) as u16, "pixel {n}");
    }
    assert_eq!(machine.faults(), [""; 0]);
}

/// A job without binning may load raster and store T-format: a way to tile a texture by the GPU [piegpu].
#[test]
fn a_job_without_binning_tiles_a_picture() {
    let mut machine = Machine::new();
    for n in 0..64 * 64 {
        machine.memory().set_word(BusAddr(OTHER + 4 * n), 0x0101_0000 + n).unwrap();
    }
    let load = LoadGeneral {
        address: BusAddr(OTHER).into(),
        format: MemoryFormat::Raster,
        buffer: TileBufferSelect::Color,
        ..LoadGeneral::from_bits(0)
    };
    let tile: Record = TileCoordinates { column: 0, row: 0 }.into();
    let mode = TileRenderingMode { memory_format: MemoryFormat::TFormat, ..frame() };
    machine.render(mode, &[Record::StoreResolved, load.into(), tile, Record::StoreResolvedEndOfFrame]);
    for n in 0..64 * 64u32 {
        let bits = tiling::pixel_offset_bits(Tiling::TFormat, 64, 32, n % 64, n / 64).unwrap();
        let at = BusAddr(FRAME + (bits / 8) as u32);
        assert_eq!(machine.memory().word(at).unwrap(), 0x0101_0000 + n, "pixel {n}");
    }
    assert_eq!((machine.read(Register::RFC), machine.faults()), (1, vec![]));
}

/// "Nothing is occluded by it, whatever the depth state" [rpi-hal].
#[test]
fn a_fragment_shader_that_writes_no_z_occludes_nothing() {
    let configuration = ConfigurationBits {
        forward_facing: true,
        reverse_facing: true,
        depth_test: CompareFunction::Less,
        z_updates: true,
        ..ConfigurationBits::default()
    };
    for (first, occludes) in [(FILL, false), (FILL_WITH_Z, true)] {
        let mut machine = Machine::new();
        // Farther than what comes first, which has another colour.
        let far = machine.put_nv(0x100, &CORNERS, Threading::Single, FILL_WITH_Z);
        for n in 0..3 {
            machine.put_words(VERTICES + 0x100 + 12 * n + 4, &[0.9f32.to_bits()]);
        }
        let near = machine.put_nv(0, &CORNERS, Threading::Single, first);
        machine.put_words(UNIFORMS + 0x40, &[0x1234_5678]);
        machine.put_words(RECORD + 4, &[FRAGMENT_SHADER, UNIFORMS + 0x40]);
        machine.bin(window(SIZE, SIZE), &[configuration.into(), near, triangles(0, 3), far, triangles(0, 3)], true);
        let nothing = StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) };
        let clear = ClearColors { z: 0xff_ffff, ..ClearColors::default() };
        let list = BranchToSubList { address: BusAddr(TILE_LISTS) };
        let tile: Record = TileCoordinates { column: 0, row: 0 }.into();
        machine.render(frame(), &[clear.into(), nothing.into(), tile, list.into(), Record::StoreResolvedEndOfFrame]);
        let expected = if occludes { 0 } else { 64 * 63 / 2 };
        assert_eq!(machine.drawn(), expected, "{first}");
        assert_eq!(machine.faults(), [""; 0]);
    }
}

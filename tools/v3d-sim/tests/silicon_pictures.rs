//! Pictures recorded on boards, compared with the model's rendering in every pixel.
//!
//! Coverage must be identical. Colours may differ by 1: the silicon interpolates with less than single precision.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use v3d_hw::BusAddr;
use v3d_hw::Layout;
use v3d_hw::control_list::{
    ClearColors, ClipWindow, CompareFunction, ConfigurationBits, DecimateMode, FrameBufferFormat, MemoryFormat,
    Oversample, PrimitiveListFormat, StoreGeneral, Threading, TileBufferSelect, TileCoordinates, TileRecord,
    TileRenderingMode, ViewportOffset,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::shader_record::NvShaderRecord;
use v3d_sim::counters::Counters;
use v3d_sim::device::supervision::Supervision;
use v3d_sim::fault::FaultLog;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::primitive_list::Primitive;
use v3d_sim::render::{Config, Context, Renderer};
use v3d_sim::state::{NvShader, PipelineState, Shader};

const WIDTH: u16 = 640;
const HEIGHT: u16 = 480;
const CODE: BusAddr = BusAddr(0x1000);
const VERTICES: BusAddr = BusAddr(0x2000);
const FRAME: BusAddr = BusAddr(0x10_0000);
const CLEAR: u32 = 0xffff_ff00;

const SHADER: &str = "
    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r3.8abcd, 1.0, 1.0
    fmul r3.8c, r0, 1.0
    fmul r3.8b, r1, 1.0
    fmul r3.8a, r2, 1.0
    mov tlb_color_all, r3
    thrend
    nop
    sbdone
";

fn picture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/silicon").join(name);
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (u32::from(WIDTH), u32::from(HEIGHT)));
    assert_eq!(info.bit_depth, png::BitDepth::Eight);
    match info.color_type {
        png::ColorType::Rgb => pixels[..info.buffer_size()].to_vec(),
        png::ColorType::Rgba => pixels[..info.buffer_size()].chunks(4).flat_map(|p| p[..3].to_vec()).collect(),
        other => panic!("{other:?}"),
    }
}

/// Renders the triangle of the recorded pictures: rows of red, green, blue.
fn render(vertices: [(i16, i16); 3], multisample: bool, parallel: bool) -> Vec<u8> {
    let owned = OwnedMemory::new(0x30_0000);
    let memory = owned.view();
    let program = qpu::assemble(&[qpu::Source::new("triangle", SHADER)], &qpu::Options::default()).unwrap();
    for (half, at) in program.halves().zip(0..) {
        memory.set_word(CODE + 4 * at, half).unwrap();
    }
    let colors: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut at = VERTICES;
    for ((x, y), color) in vertices.into_iter().zip(colors) {
        let words = [u32::from(x as u16) | u32::from(y as u16) << 16, 0.94f32.to_bits(), 0.25f32.to_bits()];
        for word in words.into_iter().chain(color.map(f32::to_bits)) {
            memory.set_word(at, word).unwrap();
            at = at + 4;
        }
    }
    let record = NvShaderRecord {
        vertices: VERTICES,
        uniforms: BusAddr(0),
        code: CODE,
        varyings: 3,
        stride: 24,
        threading: Threading::Single,
        ..NvShaderRecord::default()
    };
    let state = Arc::new(PipelineState {
        configuration: ConfigurationBits {
            forward_facing: true,
            reverse_facing: true,
            depth_test: CompareFunction::Always,
            // As in the picture's program [asurati d53.c].
            oversample: if multisample { Oversample::X4 } else { Oversample::None },
            ..ConfigurationBits::default()
        },
        clip_window: ClipWindow { left: 0, bottom: 0, width: WIDTH, height: HEIGHT },
        viewport_offset: ViewportOffset { x: 320 * 16, y: 240 * 16 },
        shader: Some(Shader::Nv(Arc::new(NvShader { address: BusAddr(0), record }))),
        ..PipelineState::default()
    });
    let mut renderer = Renderer::new(Config { parallel, ..Config::default() });
    let (mut counters, mut faults, mut budget) = (Counters::default(), FaultLog::default(), u64::MAX);
    let mut context = Context {
        memory,
        counters: &mut counters,
        faults: &mut faults,
        budget: &mut budget,
        supervision: &Supervision::default(),
    };
    let mode = TileRenderingMode {
        address: FRAME,
        width: WIDTH,
        height: HEIGHT,
        multisample,
        decimate: if multisample { DecimateMode::X4 } else { DecimateMode::X1 },
        color_format: FrameBufferFormat::Rgba8888,
        memory_format: MemoryFormat::Raster,
        ..TileRenderingMode::default()
    };
    let clear =
        ClearColors { color: u64::from(CLEAR) << 32 | u64::from(CLEAR), z: 0xff_ffff, ..ClearColors::default() };
    let dummy = StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) };
    let list = [Primitive { vertices: [0, 1, 2], clipped: None }];
    let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
    let tile_px = if multisample { 32 } else { 64 };
    let (columns, rows) = (WIDTH.div_ceil(tile_px) as u8, HEIGHT.div_ceil(tile_px) as u8);
    let mut records = vec![
        TileRecord::ClearColors(clear),
        TileRecord::TileRenderingMode(mode),
        TileRecord::TileCoordinates(TileCoordinates { row: 0, column: 0 }),
        TileRecord::StoreGeneral(dummy),
    ];
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        records.push(TileRecord::TileCoordinates(TileCoordinates { row, column }));
        let last = (row, column) == (rows - 1, columns - 1);
        records.push(if last { TileRecord::StoreResolvedEndOfFrame } else { TileRecord::StoreResolved });
    }
    for (at, record) in (0..).zip(records) {
        if matches!(record, TileRecord::StoreResolved | TileRecord::StoreResolvedEndOfFrame) {
            renderer.draw(BusAddr(at), format, &list, &state, &mut context);
        }
        renderer.record(BusAddr(at), record, &mut context);
    }
    assert_eq!(renderer.take_frames(), 1);
    assert_eq!(faults.faults(), []);
    let size = usize::from(WIDTH) * usize::from(HEIGHT);
    (0..size)
        .flat_map(|i| {
            let [blue, green, red, _] = memory.word(FRAME + 4 * i as u32).unwrap().to_le_bytes();
            [red, green, blue]
        })
        .collect()
}

/// Compares pixel by pixel; returns how many pixels differ in coverage, and how many channels differ by 1 and by more.
fn compare(ours: &[u8], silicon: &[u8]) -> (usize, usize, usize, i32) {
    let background = [CLEAR >> 16, CLEAR >> 8, CLEAR].map(|byte| byte as u8);
    let (mut coverage, mut by_one, mut by_more, mut worst) = (0, 0, 0, 0i32);
    for (ours, silicon) in ours.chunks(3).zip(silicon.chunks(3)) {
        coverage += usize::from((ours == background) != (silicon == background));
        for (&a, &b) in ours.iter().zip(silicon) {
            let difference = i32::from(b) - i32::from(a);
            by_one += usize::from(difference.abs() == 1);
            by_more += usize::from(difference.abs() > 1);
            worst = if difference.abs() > worst.abs() { difference } else { worst };
        }
    }
    (coverage, by_one, by_more, worst)
}

/// Renders a triangle and compares it with a picture: coverage must be identical, and no channel may differ by more than 1.
fn check(name: &str, vertices: [(i16, i16); 3], multisample: bool) {
    let silicon = picture(name);
    let ours = render(vertices, multisample, false);
    let (coverage, by_one, by_more, worst) = compare(&ours, &silicon);
    println!("{name}: coverage {coverage}, channels off by one {by_one}, by more {by_more}, worst {worst}");
    assert_eq!((coverage, by_more), (0, 0), "{name}");
    assert!(ours.chunks(3).filter(|p| *p != [255, 255, 0]).count() > 70_000, "{name}: there is a triangle");
}

#[test]
fn the_triangle_of_a_board_without_multisampling() {
    check("triangle-nv-640x480.png", [(0, -3193), (-3195, 3193), (3195, 3193)], false);
}

#[test]
fn the_triangle_of_a_board_with_multisampling() {
    check("triangle-msaa4x-640x480.png", [(0, -3193), (-3194, 3193), (3194, 3193)], true);
}

#[test]
fn host_threads_do_not_show() {
    for multisample in [false, true] {
        let vertices = [(0, -3193), (-3195, 3193), (3195, 3193)];
        assert_eq!(render(vertices, multisample, false), render(vertices, multisample, true));
    }
}

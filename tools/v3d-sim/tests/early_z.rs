//! Early Z compares with depths of its own: what a board was seen to lose, and what it is not to lose.
//!
//! Each job draws full-screen triangles one after the other, through both lists, and looks at a pixel and at the faults.

#[path = "machine/device.rs"]
mod machine;

use machine::{Machine, put_list};
use v3d_hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, CompareFunction, ConfigurationBits, FrameBufferFormat, LoadGeneral,
    MemoryFormat, NvShaderState, Oversample, PrimitiveListFormat, PrimitiveMode, Record, StoreGeneral, Threading,
    TileBinningMode, TileBufferSelect, TileCoordinates, TileRenderingMode, VertexArrayPrimitives,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::registers::pipeline::Rfc;
use v3d_hw::shader_record::NvShaderRecord;
use v3d_hw::{BusAddr, Layout};
use v3d_sim::fault::rendering::{RenderError, RenderFault};
use v3d_sim::render::pixel_trace::Event;
use v3d_sim::{Config, Fault, Register};

const BINNING: u32 = 0x1000;
const RENDERING: u32 = 0x1800;
const CODE: u32 = 0x2000;
const TILE_STATE: u32 = 0x8000;
const TILE_LISTS: u32 = 0x1_0000;
/// Shader record, uniforms and vertices of each draw.
const DRAWS: u32 = 0x2_0000;
const DRAW_BYTES: u32 = 0x100;
const FRAME: u32 = 0x4_0000;
const DEPTHS: u32 = 0x8_0000;

/// Writes the depth and then a colour from the uniforms.
const FILL: &str = "nop\nnop\nmov tlbz, rb15\nmov tlbc, unif\nthrend\nnop\nsbdone";
/// The same, but discards all fragments first.
const DISCARD: &str = "nop\nmov ms_mask, 0\nmov tlbz, rb15\nmov tlbc, unif\nthrend\nnop\nsbdone";
/// The same with a stencil set-up from the uniforms: the general way through the Z test.
const STENCIL: &str = "nop\nnop\nmov tlb_stencil, unif\nmov tlbz, rb15\nmov tlbc, unif\nthrend\nnop\nsbdone";
/// Both facings, all bits, always passes, and keeps the stencil.
const STENCIL_KEEP: u32 = 3 << 30 | 3 << 28 | 1 << 25 | 1 << 22 | 1 << 19 | 7 << 16 | 0xff;

/// A full-screen triangle.
#[derive(Clone, Copy)]
struct Draw {
    depth: f32,
    color: u32,
    test: CompareFunction,
    z_updates: bool,
    early_z: bool,
    early_z_updates: bool,
    program: &'static str,
}

const DRAW: Draw = Draw {
    depth: 0.0,
    color: 0,
    test: CompareFunction::Less,
    z_updates: true,
    early_z: true,
    early_z_updates: true,
    program: FILL,
};

const NEAR: Draw = Draw { depth: 0.25, color: 0x11, ..DRAW };
const MIDDLE: Draw = Draw { depth: 0.5, color: 0x33, ..DRAW };
/// Takes the depth back to the farthest, without telling early Z.
const BACK: Draw =
    Draw { depth: 1.0, color: 0x22, test: CompareFunction::Always, early_z: false, early_z_updates: false, ..DRAW };

/// How a frame is drawn.
#[derive(Clone, Copy, Default)]
struct Frame {
    multisample: bool,
    disable_early_z: bool,
    /// Depths are loaded, from memory that is all 0x400000.
    load: bool,
}

fn run(frame: Frame, draws: &[Draw]) -> Machine {
    run_on(Machine::new(), frame, draws)
}

fn run_on(mut machine: Machine, frame: Frame, draws: &[Draw]) -> Machine {
    let memory = machine.memory();
    let binning = TileBinningMode {
        auto_initialise: true,
        multisample: frame.multisample,
        width_tiles: 1,
        height_tiles: 1,
        tile_state: BusAddr(TILE_STATE),
        tile_allocation: BusAddr(TILE_LISTS),
        tile_allocation_bytes: 0x8000,
        ..TileBinningMode::default()
    };
    let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
    let window = ClipWindow { left: 0, bottom: 0, width: 32, height: 32 };
    let mut list = vec![binning.into(), Record::StartTileBinning, format.into(), window.into()];
    for (draw, number) in draws.iter().zip(0..) {
        let (code, record) = (CODE + 0x100 * number, DRAWS + DRAW_BYTES * number);
        let (uniforms, vertices) = (record + 0x20, record + 0x40);
        let assembly = qpu::assemble(&[qpu::Source::new("draw", draw.program)], &qpu::Options::default()).unwrap();
        for (half, at) in assembly.halves().zip(0..) {
            memory.set_word(BusAddr(code + 4 * at), half).unwrap();
        }
        let words = if draw.program == STENCIL { [STENCIL_KEEP, draw.color] } else { [draw.color, 0] };
        for (word, at) in words.into_iter().zip(0..) {
            memory.set_word(BusAddr(uniforms + 4 * at), word).unwrap();
        }
        for ((x, y), at) in [(0, 0), (2000u32, 0), (0, 2000u32)].into_iter().zip(0..) {
            for (word, n) in [x | y << 16, draw.depth.to_bits(), 1f32.to_bits()].into_iter().zip(0..) {
                memory.set_word(BusAddr(vertices + 12 * at + 4 * n), word).unwrap();
            }
        }
        let shader = NvShaderRecord {
            vertices: BusAddr(vertices),
            uniforms: BusAddr(uniforms),
            code: BusAddr(code),
            stride: 12,
            threading: Threading::Single,
            ..NvShaderRecord::default()
        };
        memory.write(BusAddr(record), &shader.to_bits().unwrap().to_le_bytes()).unwrap();
        let configuration = ConfigurationBits {
            forward_facing: true,
            reverse_facing: true,
            depth_test: draw.test,
            z_updates: draw.z_updates,
            early_z: draw.early_z,
            early_z_updates: draw.early_z_updates,
            oversample: if frame.multisample { Oversample::X4 } else { Oversample::None },
            ..ConfigurationBits::default()
        };
        list.push(configuration.into());
        list.push(NvShaderState { address: BusAddr(record) }.into());
        list.push(VertexArrayPrimitives { first_vertex: 0, length: 3, mode: PrimitiveMode::Triangles }.into());
    }
    list.push(Record::Flush);
    let binning_end = put_list(memory, BINNING, &list);

    for pixel in 0..64 * 64 {
        memory.set_word(BusAddr(DEPTHS + 4 * pixel), 0x40_0000 << 8).unwrap();
    }
    let mode = TileRenderingMode {
        address: BusAddr(FRAME),
        width: 32,
        height: 32,
        multisample: frame.multisample,
        disable_early_z: frame.disable_early_z,
        color_format: FrameBufferFormat::Rgba8888,
        memory_format: MemoryFormat::Raster,
        ..TileRenderingMode::from_bits(0)
    };
    let clear = ClearColors { color: 0, z: 0xff_ffff, ..ClearColors::default() };
    let no_store = StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) };
    let tile = TileCoordinates { row: 0, column: 0 };
    let mut list = vec![clear.into(), mode.into(), tile.into(), no_store.into()];
    if frame.load {
        let buffer = TileBufferSelect::ZStencil;
        list.push(LoadGeneral { address: BusAddr(DEPTHS).into(), buffer, ..LoadGeneral::from_bits(0) }.into());
    }
    list.extend([
        tile.into(),
        BranchToSubList { address: BusAddr(TILE_LISTS) }.into(),
        Record::StoreResolvedEndOfFrame,
    ]);
    let rendering_end = put_list(memory, RENDERING, &list);
    machine.write(Register::CT0CA, BINNING);
    machine.write(Register::CT0EA, binning_end);
    machine.write(Register::CT1CA, RENDERING);
    machine.write(Register::CT1EA, rendering_end);
    assert_eq!(machine.get::<Rfc>(Register::RFC).rmfct, 1);
    machine
}

/// Whether early Z is reported, and the colour of the last draw that is seen; all pixels agree.
fn outcome(frame: Frame, draws: &[Draw]) -> (u32, bool) {
    let mut machine = run(frame, draws);
    let color = machine.memory().word(BusAddr(FRAME)).unwrap();
    for pixel in 0..32 * 32 {
        assert_eq!(machine.memory().word(BusAddr(FRAME + 4 * pixel)), Ok(color), "pixel {pixel}");
    }
    let faults = machine.v3d.take_faults();
    let is_early_z =
        |fault: &Fault| matches!(fault, Fault::Render(RenderFault { error: RenderError::EarlyZOutOfDate, .. }));
    assert!(faults.iter().all(is_early_z), "{faults:?}");
    (color, !faults.is_empty())
}

/// Draws with one sample and with four, and compares the colour and whether early Z is reported.
fn check(draws: &[Draw], expected: (u32, bool)) {
    for multisample in [false, true] {
        assert_eq!(outcome(Frame { multisample, ..Frame::default() }, draws), expected, "multisample: {multisample}");
    }
}

/// Seen on a Raspberry Pi Zero [bm docs/DRIVERS.md]: after a quad that always passes and writes the farthest depth without early-Z updates, primitives with
/// early Z were rejected by the depth that the quad had replaced. The same primitives came out right without early Z.
#[test]
fn early_z_rejects_what_a_depth_that_was_taken_back_behind_its_back_would_show() {
    check(&[NEAR, BACK, MIDDLE], (BACK.color, true));
    check(&[NEAR, BACK, Draw { early_z: false, ..MIDDLE }], (MIDDLE.color, false));
}

/// As Broadcom's and Mesa's drivers draw: early-Z updates are on in every draw.
#[test]
fn early_z_follows_every_depth_that_is_written_with_early_z_updates() {
    for test in
        [CompareFunction::Always, CompareFunction::Greater, CompareFunction::GreaterOrEqual, CompareFunction::NotEqual]
    {
        check(&[NEAR, Draw { test, early_z_updates: true, ..BACK }, MIDDLE], (MIDDLE.color, false));
        check(&[NEAR, Draw { test, ..BACK }, MIDDLE], (BACK.color, true));
    }
    // A draw in between that tells early Z sets it right again.
    check(&[NEAR, BACK, Draw { early_z_updates: true, ..BACK }, MIDDLE], (MIDDLE.color, false));
}

#[test]
fn early_z_updates_without_z_updates_do_nothing() {
    let in_front = Draw { depth: 0.1, test: CompareFunction::Always, z_updates: false, early_z: false, ..NEAR };
    check(&[in_front, MIDDLE], (MIDDLE.color, false));
    check(&[MIDDLE, Draw { depth: 1.0, color: 0x44, ..in_front }, Draw { depth: 0.7, ..NEAR }], (0x44, false));
}

/// Without early-Z updates a nearer depth only lets hidden fragments through to the Z test, which rejects them.
#[test]
fn depths_that_come_nearer_behind_the_back_of_early_z_do_no_harm() {
    let nearer = Draw { early_z: false, early_z_updates: false, ..NEAR };
    check(&[nearer, MIDDLE], (NEAR.color, false));
    let quads = |draws: &[Draw]| {
        let mut machine = run(Frame::default(), draws);
        let counters = machine.v3d.counters();
        [CounterSource::FepQuadsClipped, CounterSource::TlbQuadsFailed].map(|source| counters.get(source))
    };
    let all = 32 * 32 / 4;
    assert_eq!(quads(&[nearer, MIDDLE]), [0, all], "the Z test rejects them");
    assert_eq!(quads(&[NEAR, MIDDLE]), [all, 0], "early Z rejects them");
}

#[test]
fn discarded_fragments_do_not_update_early_z() {
    check(&[Draw { program: DISCARD, ..NEAR }, MIDDLE], (MIDDLE.color, false));
    check(&[NEAR, Draw { program: DISCARD, ..BACK }, MIDDLE], (NEAR.color, false));
}

#[test]
fn early_z_has_its_own_depth_with_a_stencil_test_too() {
    let stencil = |draw: Draw| Draw { program: STENCIL, ..draw };
    check(&[NEAR, stencil(BACK), MIDDLE], (BACK.color, true));
    check(&[stencil(NEAR), BACK, MIDDLE], (BACK.color, true));
    check(&[NEAR, stencil(Draw { early_z_updates: true, ..BACK }), MIDDLE], (MIDDLE.color, false));
    check(&[NEAR, BACK, stencil(Draw { early_z_updates: true, ..BACK }), MIDDLE], (MIDDLE.color, false));
}

#[test]
fn a_rendering_mode_without_early_z_draws_by_the_z_buffer_alone() {
    let frame = Frame { disable_early_z: true, ..Frame::default() };
    assert_eq!(outcome(frame, &[NEAR, BACK, MIDDLE]), (MIDDLE.color, false));
}

/// The loaded depth is 0x400000, which is nearer than the middle and farther than a fifth.
#[test]
fn early_z_begins_with_the_depth_that_is_loaded() {
    let frame = Frame { load: true, ..Frame::default() };
    assert_eq!(outcome(frame, &[MIDDLE]), (0, false));
    assert_eq!(outcome(frame, &[Draw { depth: 0.2, ..NEAR }]), (NEAR.color, false));
    assert_eq!(outcome(frame, &[BACK, MIDDLE]), (BACK.color, true));
}

/// The history of a pixel tells a fragment that is rejected wrongly from one that is hidden.
#[test]
fn a_pixel_trace_names_wrong_rejections() {
    let lines = |draws: &[Draw]| {
        let config = Config { watched_pixel: Some((3, 3)), ..Config::default() };
        let trace = run_on(Machine::with(config), Frame::default(), draws).v3d.take_pixel_trace();
        let count = |event: &Event| trace.entries().iter().filter(|entry| entry.event == *event).count();
        [Event::Hidden, Event::WronglyHidden].map(|event| count(&event))
    };
    assert_eq!(lines(&[NEAR, MIDDLE]), [1, 0]);
    assert_eq!(lines(&[NEAR, BACK, MIDDLE]), [0, 1]);
}

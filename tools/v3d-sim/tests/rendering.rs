//! Rendering records, executed in order.
//!
//! Each test is a list of rendering records for a small frame, and checks pixels in memory.

use std::sync::Arc;
use v3d_hw::BusAddr;
use v3d_hw::Layout;
use v3d_hw::control_list::{
    ClearColors, ClipWindow, CompareFunction, ConfigurationBits, DecimateMode, FrameBufferFormat, LoadFullResolution,
    LoadGeneral, MemoryFormat, Oversample, PrimitiveListFormat, Record, RecordGroup, StoreFullResolution, StoreGeneral,
    Threading, TileBufferSelect, TileCoordinates, TileRenderingMode,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::shader_record::NvShaderRecord;
use v3d_sim::Fault;
use v3d_sim::counters::Counters;
use v3d_sim::device::supervision::Supervision;
use v3d_sim::fault::FaultLog;
use v3d_sim::memory::{Memory, OwnedMemory};
use v3d_sim::primitive_list::Primitive;
use v3d_sim::render::{Config, Context, RenderError, RenderFault, Renderer};
use v3d_sim::state::{Fragment, NvShader, PipelineState, Shader, VgShader};
use v3d_sim::timing;

const CODE: BusAddr = BusAddr(0x1000);
const UNIFORMS: BusAddr = BusAddr(0x2000);
const FRAME: BusAddr = BusAddr(0x10_0000);
const OTHER: BusAddr = BusAddr(0x20_0000);
const SIZE: u16 = 128;

/// A renderer with its memory and the receiver of its reports.
struct Machine {
    owned: OwnedMemory,
    renderer: Renderer,
    counters: Counters,
    faults: FaultLog,
    budget: u64,
    next_record: u32,
}

impl Machine {
    fn new() -> Self {
        Self::with(Config { parallel: true, ..Config::default() })
    }

    fn with(config: Config) -> Self {
        Self {
            owned: OwnedMemory::new(0x40_0000),
            renderer: Renderer::new(config),
            counters: Counters::default(),
            faults: FaultLog::default(),
            budget: 1_000_000,
            next_record: 0,
        }
    }

    fn memory(&self) -> Memory<'_> {
        self.owned.view()
    }

    fn run<R>(&mut self, f: impl FnOnce(&mut Renderer, BusAddr, &mut Context<'_>) -> R) -> R {
        self.next_record += 1;
        let Self { owned, renderer, counters, faults, budget, next_record } = self;
        let mut context =
            Context { memory: owned.view(), counters, faults, budget, supervision: &Supervision::default() };
        f(renderer, BusAddr(*next_record), &mut context)
    }

    fn record(&mut self, record: impl Into<Record>) {
        let RecordGroup::Tile(record) = record.into().group() else { panic!("a record of the tile buffer") };
        self.run(|renderer, at, context| renderer.record(at, record, context));
    }

    fn records(&mut self, records: impl IntoIterator<Item = Record>) {
        records.into_iter().for_each(|record| self.record(record));
    }

    fn finish(&mut self) {
        self.run(|renderer, _, context| renderer.finish(context));
    }

    /// Draws a triangle given in pixels, with a program that takes its colour and other values from uniforms.
    fn draw(&mut self, corners: [(i16, i16); 3], program: &str, uniforms: &[u32], configuration: ConfigurationBits) {
        self.draw_with(0, corners, program, uniforms, configuration);
    }

    /// The same with a number of varyings, which are 0.
    fn draw_with(
        &mut self,
        varyings: u8,
        corners: [(i16, i16); 3],
        program: &str,
        uniforms: &[u32],
        configuration: ConfigurationBits,
    ) {
        self.draw_sixteenths(varyings, corners.map(|(x, y)| (x * 16, y * 16)), program, uniforms, configuration);
    }

    /// The same with corners in 1/16 pixel.
    fn draw_sixteenths(
        &mut self,
        varyings: u8,
        corners: [(i16, i16); 3],
        program: &str,
        uniforms: &[u32],
        configuration: ConfigurationBits,
    ) {
        let vertices = corners.map(|(x, y)| u32::from(x as u16) | u32::from(y as u16) << 16);
        self.draw_list(varyings, &[Primitive { vertices, clipped: None }], program, uniforms, configuration);
    }

    /// Draws triangles by their coordinates.
    fn draw_list(
        &mut self,
        varyings: u8,
        list: &[Primitive],
        program: &str,
        uniforms: &[u32],
        configuration: ConfigurationBits,
    ) {
        let assembly = qpu::assemble(&[qpu::Source::new("test", program)], &qpu::Options::default());
        let assembly = assembly.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        for (half, at) in assembly.halves().zip(0..) {
            self.memory().set_word(CODE + 4 * at, half).unwrap();
        }
        for (&word, at) in uniforms.iter().zip(0..) {
            self.memory().set_word(UNIFORMS + 4 * at, word).unwrap();
        }
        let fragment = Fragment { code: CODE, uniforms: UNIFORMS, varyings, threading: Threading::Single };
        let state = Arc::new(PipelineState {
            configuration,
            clip_window: ClipWindow { left: 0, bottom: 0, width: SIZE, height: SIZE },
            shader: Some(Shader::Vg(VgShader { address: BusAddr(0), fragment })),
            ..PipelineState::default()
        });
        let format = PrimitiveListFormat { data_type: ListDataType::Xy, primitive: ListPrimitive::Triangles };
        self.run(|renderer, at, context| renderer.draw(at, format, list, &state, context));
        // The next draw may replace the program and its uniforms.
        self.finish();
        self.run(|renderer, _, _| renderer.clear_code());
    }

    fn fill(&mut self, color: u32) {
        self.draw(ALL, FILL, &[color], configuration());
    }

    /// The counters, including the timing model's if it runs.
    fn counts<const N: usize>(&mut self, sources: [CounterSource; N]) -> [u64; N] {
        self.finish();
        self.counters.settle();
        sources.map(|source| self.counters.get(source))
    }

    fn pixel(&self, frame: BusAddr, x: u32, y: u32) -> u32 {
        self.memory().word(frame + 4 * (y * u32::from(SIZE) + x)).unwrap()
    }

    /// Compares some pixels of a frame.
    fn check_pixels(&self, frame: BusAddr, expected: &[((u32, u32), u32)]) {
        for &((x, y), color) in expected {
            assert_eq!(self.pixel(frame, x, y), color, "({x}, {y})");
        }
    }

    fn errors(&mut self) -> Vec<RenderError> {
        self.faults
            .take()
            .into_iter()
            .map(|fault| match fault {
                Fault::Render(RenderFault { error, .. }) => error,
                other => panic!("{other}"),
            })
            .collect()
    }
}

/// The guide does not allow waiting for the scoreboard in the first two instructions.
const FILL: &str = "nop\nmov r0, unif\nmov tlbc, r0\nthrend\nnop\nsbdone";

const ALL: [(i16, i16); 3] = [(0, 0), (1000, 0), (0, 1000)];

fn configuration() -> ConfigurationBits {
    ConfigurationBits {
        forward_facing: true,
        reverse_facing: true,
        depth_test: CompareFunction::Always,
        ..ConfigurationBits::default()
    }
}

fn mode() -> TileRenderingMode {
    TileRenderingMode {
        address: FRAME,
        width: SIZE,
        height: SIZE,
        color_format: FrameBufferFormat::Rgba8888,
        memory_format: MemoryFormat::Raster,
        ..TileRenderingMode::from_bits(0)
    }
}

fn clear(color: u32) -> Record {
    ClearColors { color: u64::from(color) << 32 | u64::from(color), ..ClearColors::default() }.into()
}

fn tile(column: u8, row: u8) -> Record {
    TileCoordinates { row, column }.into()
}

fn no_store(clear: bool) -> StoreGeneral {
    StoreGeneral {
        buffer: TileBufferSelect::None,
        disable_color_clear: !clear,
        disable_zs_clear: !clear,
        disable_vg_mask_clear: !clear,
        ..StoreGeneral::from_bits(0)
    }
}

#[test]
fn clear_colors_count_from_the_next_store_on() {
    let mut machine = Machine::new();
    machine.records([clear(0x11), mode().into(), tile(0, 0), no_store(true).into()]);
    machine.records([clear(0x22), tile(0, 0), Record::StoreResolved, tile(1, 0), Record::StoreResolvedEndOfFrame]);
    // The last tile is not stored.
    machine.check_pixels(FRAME, &[((5, 5), 0x11), ((70, 5), 0x22), ((5, 70), 0)]);
    assert_eq!(machine.run(|renderer, _, _| renderer.take_frames()), 1);
    assert_eq!(machine.errors(), []);
}

/// Linux' dummy tile [linux vc4_render_cl.c]: the colour to clear, tile coordinates and a store of nothing precede the first configuration.
#[test]
fn a_tile_may_be_cleared_before_the_first_mode() {
    let mut machine = Machine::new();
    machine.records([clear(0xff11_2233), tile(0, 0), no_store(true).into(), mode().into(), tile(0, 0)]);
    machine.record(Record::StoreResolvedEndOfFrame);
    machine.check_pixels(FRAME, &[((0, 0), 0xff11_2233), ((63, 63), 0xff11_2233)]);
    assert_eq!(machine.errors(), []);
}

#[test]
fn a_tile_before_the_first_mode_cannot_be_stored() {
    let mut machine = Machine::new();
    machine.records([clear(1), tile(0, 0), Record::StoreResolved]);
    assert_eq!(machine.errors(), [RenderError::NoMode]);
}

/// A tile stays open from a mode without an alpha mask into a mode with one. Its mask must not contain what another tile has left on the host thread that
/// continues it. Many stores keep one host thread busy, so that the thread that continues the tile varies.
#[test]
fn no_tile_sees_the_alpha_mask_of_another() {
    let masked = TileRenderingMode { vg_mask: true, ..mode() };
    let clear = |vg_mask| -> Record { ClearColors { color: 5, vg_mask, ..ClearColors::default() }.into() };
    let kept = StoreGeneral { address: OTHER.into(), buffer: TileBufferSelect::Color, ..no_store(false) };
    let mask = StoreGeneral { buffer: TileBufferSelect::VgMask, ..kept };
    let stored = |parallel| {
        let mut machine = Machine::with(Config { parallel, ..Config::default() });
        machine.records([masked.into(), clear(1), tile(0, 0), no_store(true).into(), clear(2), tile(1, 0)]);
        machine.records(std::iter::repeat_n(kept.into(), 400));
        machine.records([no_store(true).into(), clear(3), tile(0, 1), no_store(true).into(), clear(9)]);
        machine.records([mode().into(), tile(0, 0), masked.into(), tile(0, 0), mask.into()]);
        machine.finish();
        assert_eq!(machine.errors(), []);
        machine.memory().word(OTHER).unwrap()
    };
    for parallel in [false, true].into_iter().cycle().take(40) {
        assert_eq!(stored(parallel), 0x0303_0303, "parallel: {parallel}");
    }
}

#[test]
fn a_buffer_that_was_never_cleared_is_a_fault() {
    let mut machine = Machine::new();
    machine.records([clear(0x11), mode().into(), tile(0, 0), Record::StoreResolved, tile(1, 0), Record::StoreResolved]);
    machine.finish();
    assert_eq!(machine.errors(), [RenderError::NeverCleared]);
    machine.check_pixels(FRAME, &[((70, 5), 0x11)]);
}

#[test]
fn records_out_of_place_are_faults() {
    let mut machine = Machine::new();
    machine.record(Record::StoreResolved);
    assert_eq!(machine.errors(), [RenderError::NoMode]);
    machine.record(mode());
    machine.record(Record::StoreResolved);
    assert_eq!(machine.errors(), [RenderError::NoTile]);
    let load = LoadFullResolution { address: OTHER.into(), ..LoadFullResolution::from_bits(0) };
    machine.record(load);
    machine.record(load);
    assert_eq!(machine.errors(), [RenderError::LoadPending]);
}

/// The tile is drawn, stored without clearing, drawn to again, and stored.
#[test]
fn a_tile_that_is_not_cleared_goes_on() {
    let mut machine = Machine::new();
    machine.records([clear(7), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    machine.draw([(0, 0), (20, 0), (0, 20)], FILL, &[1], configuration());
    machine.records([no_store(false).into(), tile(0, 0)]);
    machine.draw([(40, 0), (60, 0), (40, 20)], FILL, &[2], configuration());
    machine.record(Record::StoreResolved);
    machine.finish();
    machine.check_pixels(FRAME, &[((2, 2), 1), ((30, 2), 7), ((42, 2), 2)]);
    assert_eq!(machine.errors(), []);
}

/// A load reads what an earlier store of the same list has written, as an image or as a dump.
#[test]
fn loads_come_after_earlier_stores() {
    for full_resolution in [false, true] {
        let mut machine = Machine::new();
        let store: Record = if full_resolution {
            StoreFullResolution { address: OTHER.into(), ..StoreFullResolution::from_bits(0) }.into()
        } else {
            StoreGeneral { address: OTHER.into(), buffer: TileBufferSelect::Color, ..StoreGeneral::from_bits(0) }.into()
        };
        let load: Record = if full_resolution {
            LoadFullResolution { address: OTHER.into(), ..LoadFullResolution::from_bits(0) }.into()
        } else {
            LoadGeneral { address: OTHER.into(), buffer: TileBufferSelect::Color, ..LoadGeneral::from_bits(0) }.into()
        };
        machine.records([clear(0x33), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0), store]);
        machine.records([clear(0x44), tile(1, 1), no_store(true).into()]);
        machine.records([load, tile(0, 0), Record::StoreResolved, tile(1, 0), Record::StoreResolved]);
        machine.finish();
        machine.check_pixels(FRAME, &[((9, 9), 0x33), ((99, 9), 0x44)]);
        assert_eq!(machine.errors(), []);
    }
}

/// The same tile twice: the later store determines the result, on any number of threads.
#[test]
fn stores_happen_in_the_order_of_the_list() {
    let mut machine = Machine::new();
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into()]);
    for color in 1..100 {
        machine.records([clear(color), tile(0, 0), Record::StoreResolved]);
    }
    machine.finish();
    assert_eq!(machine.pixel(FRAME, 0, 0), 98, "each clear counts for the tile after it");
}

#[test]
fn depth_decides_and_stencil_counts() {
    let mut machine = Machine::new();
    let clear = ClearColors { z: 0x80_0000, stencil: 3, ..ClearColors::default() };
    machine.records([clear.into(), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    let less = ConfigurationBits { depth_test: CompareFunction::Less, z_updates: true, ..configuration() };
    // The stencil set-up may come first: only accesses to samples wait.
    let program = "
        mov tlb_stencil, unif
        nop
        mov tlbz, unif
        mov r0, unif
        mov tlbc, r0
        thrend
        nop
        sbdone
    ";
    // Both sides; all bits; z fail: decrement, z pass: increment; always; reference 0.
    let stencil = 3 << 30 | 3 << 28 | 7 << 25 | 6 << 22 | 1 << 19 | 7 << 16 | 0xff;
    machine.draw([(0, 0), (20, 0), (0, 20)], program, &[stencil, 0x7f_ffff, 0xaa], less);
    machine.draw([(40, 0), (60, 0), (40, 20)], program, &[stencil, 0x80_0000, 0xbb], less);
    let zs = StoreGeneral {
        address: OTHER.into(),
        buffer: TileBufferSelect::ZStencil,
        disable_color_clear: true,
        ..StoreGeneral::from_bits(0)
    };
    machine.records([zs.into(), tile(0, 0), Record::StoreResolved]);
    machine.finish();
    let at = |machine: &Machine, x| (machine.pixel(FRAME, x, 1), machine.pixel(OTHER, x, 1));
    assert_eq!(at(&machine, 1), (0xaa, 0x7f_ffff << 8 | 4));
    assert_eq!(at(&machine, 41), (0, 0x80_0000 << 8 | 2));
    assert_eq!(at(&machine, 30), (0, 0x80_0000 << 8 | 3));
    assert_eq!(machine.errors(), []);
}

/// Blending: the program reads the colour of each sample from the tile buffer, changes it, and writes it back.
#[test]
fn colours_are_read_back_sample_by_sample() {
    for multisample in [false, true] {
        let mut machine = Machine::new();
        let mode = TileRenderingMode { multisample, ..mode() };
        machine.records([clear(0x0101_0101), mode.into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
        let once = "loadc\nadd r0, r4, unif\nmov tlbm, r0\n";
        let program = format!("nop\nnop\n{}thrend\nnop\nsbdone", once.repeat(if multisample { 4 } else { 1 }));
        machine.draw(ALL, &program, &[0x1000_0000, 0x2000_0000, 0x3000_0000, 0x4000_0000], configuration());
        let store = StoreFullResolution { address: OTHER.into(), ..StoreFullResolution::from_bits(0) };
        machine.record(store);
        machine.finish();
        assert_eq!(machine.errors(), []);
        // The samples of a quad follow each other, each with its four pixels.
        for sample in 0..if multisample { 4 } else { 1 } {
            let word = machine.memory().word(OTHER + sample * 16).unwrap();
            assert_eq!(word, 0x0101_0101 + 0x1000_0000 * (sample + 1), "sample {sample}");
        }
    }
}

#[test]
fn reading_more_samples_than_there_are_is_a_fault() {
    let mut machine = Machine::new();
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    machine.draw([(0, 0), (4, 0), (0, 4)], "nop\nnop\nloadc\nloadc\nthrend\nnop\nsbdone", &[], configuration());
    let faults = machine.faults.take();
    assert!(matches!(faults[..], [Fault::Qpu(_)]), "{faults:?}");
    assert!(faults[0].to_string().contains("sample 1"), "{}", faults[0]);
}

/// A pixel trace contains the former value of each written register, flags, the values sent to peripherals, and all values of the pixel in the tile buffer.
#[test]
fn a_pixel_trace_has_all_that_is_written() {
    let mut machine = Machine::with(Config { watched: Some((1, 1)), ..Config::default() });
    let mode = TileRenderingMode { color_64_bit: true, vg_mask: true, ..mode() };
    let clear = ClearColors { color: 0x0000_0066_0000_0055, vg_mask: 0x44, ..ClearColors::default() };
    machine.records([clear.into(), mode.into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    let program =
        "mov r0, 0\nmov.setf r1, -1\nmov.ifn tlbam, 7\nmov.ifz r2, 7\nldi recip, 1.0\nnop\nthrend\nnop\nsbdone";
    machine.draw([(0, 0), (8, 0), (0, 8)], program, &[], configuration());
    machine.finish();
    assert_eq!(machine.errors(), []);
    let pixel_trace = machine.run(|renderer, _, _| renderer.take_pixel_trace());
    let text: Vec<String> = pixel_trace.entries().iter().map(|entry| entry.event.to_string()).collect();
    let written = |instruction: &str| {
        let line = text.iter().find(|line| line.contains(instruction)).unwrap_or_else(|| panic!("{text:#?}"));
        line.split_once(" -> ").map_or("", |(_, written)| written).to_owned()
    };
    assert_eq!(written("ldi r0, 0x0"), "r0 = 0x00000000");
    assert_eq!(written("or.setf r1"), "r1 = 0xffffffff, flags = N");
    assert_eq!(written("ldi tlbam.ifn"), "tlbalphamask = 0x00000007");
    assert_eq!(written("ldi r2.ifz"), "");
    assert_eq!(written("ldi recip"), "recip = 0x3f800000 (1), r4 = 0x3f800000 (1)");
    let now = "now: colour 0x00000055 0x00000066, depth 0x000000, stencil 0x00, alpha mask 0x07";
    assert_eq!(text.last().map(String::as_str), Some(now));
}

#[test]
fn an_endless_fragment_shader_ends_as_a_fault() {
    let mut machine = Machine::new();
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    machine.draw([(0, 0), (4, 0), (0, 4)], ":top\nbrr -, :top\nnop\nnop\nnop", &[], configuration());
    assert_eq!(machine.errors(), [RenderError::OutOfBudget]);
}

/// With 64-bit colour a tile is 64x32 pixels of four half floats.
#[test]
fn colour_of_64_bits_is_stored_as_it_is() {
    let mut machine = Machine::new();
    let clear = ClearColors { color: 0x4444_3333_2222_1111, ..ClearColors::default() };
    let mode = TileRenderingMode { color_64_bit: true, ..mode() };
    machine.records([clear.into(), mode.into(), tile(0, 0), no_store(true).into(), tile(0, 1)]);
    let program = "nop\nnop\nmov tlbc, unif\nmov tlbc, unif\nthrend\nnop\nsbdone";
    machine.draw([(0, 0), (10, 32), (0, 64)], program, &[0xbbbb_aaaa, 0xdddd_cccc], configuration());
    machine.record(Record::StoreResolved);
    machine.finish();
    let pixel = |x: u32, y: u32| {
        let at = FRAME + 8 * (y * u32::from(SIZE) + x);
        let memory = machine.memory();
        u64::from(memory.word(at).unwrap()) | u64::from(memory.word(at + 4).unwrap()) << 32
    };
    assert_eq!(pixel(0, 33), 0xdddd_cccc_bbbb_aaaa);
    assert_eq!(pixel(60, 33), 0x4444_3333_2222_1111);
    assert_eq!(pixel(0, 31), 0, "the row of tiles before");
}

#[test]
fn coverage_goes_neither_with_multisampling_nor_right_behind_varyings() {
    let coverage = ConfigurationBits { coverage_pipe: true, ..configuration() };
    let mut machine = Machine::new();
    let multisample = TileRenderingMode { multisample: true, ..mode() };
    machine.records([clear(0), multisample.into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    machine.draw([(0, 0), (4, 0), (0, 4)], "thrend\nnop\nnop", &[], coverage);
    let sixteen = ConfigurationBits { oversample: Oversample::X16, ..configuration() };
    machine.draw([(0, 0), (4, 0), (0, 4)], "thrend\nnop\nnop", &[], sixteen);
    assert_eq!(machine.errors(), [RenderError::CoverageInMultisample, RenderError::Oversample]);

    let mut machine = Machine::new();
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    machine.draw_with(1, ALL, "nop\nmov r0, vary\nnop\nthrend\nnop\nsbdone", &[], configuration());
    machine.draw(ALL, "thrend\nnop\nnop", &[], coverage);
    machine.fill(1);
    machine.draw(ALL, "thrend\nnop\nnop", &[], coverage);
    assert_eq!(machine.errors(), [RenderError::CoverageAfterVaryings]);
}

#[test]
fn early_z_does_not_go_with_a_multisampled_z_that_was_loaded() {
    let early = ConfigurationBits { early_z: true, ..configuration() };
    for (multisample, disable_zs, disable_early_z, expected) in
        [(true, false, false, 1), (true, false, true, 0), (true, true, false, 0), (false, false, false, 0)]
    {
        let mut machine = Machine::new();
        let mode = TileRenderingMode { multisample, disable_early_z, ..mode() };
        let load = LoadFullResolution { address: OTHER.into(), disable_zs, ..LoadFullResolution::from_bits(0) };
        machine.records([clear(0), mode.into(), tile(0, 0), no_store(true).into(), load.into(), tile(0, 0)]);
        machine.draw(ALL, "thrend\nnop\nnop", &[], early);
        assert_eq!(machine.errors(), vec![RenderError::EarlyZAfterLoad; expected]);
        machine.records([no_store(true).into(), tile(0, 0)]);
        machine.draw(ALL, "thrend\nnop\nnop", &[], early);
        assert_eq!(machine.errors(), [], "cleared since");
    }
}

/// One sample per pixel in a tile buffer with four: all four samples take the value at the centre.
#[test]
fn multisampling_can_be_left_off_for_a_primitive() {
    for (oversample, expected) in [(Oversample::None, 0), (Oversample::X4, 0x3f3f_3f3f)] {
        let mut machine = Machine::new();
        let mode = TileRenderingMode { multisample: true, decimate: DecimateMode::X4, ..mode() };
        machine.records([clear(0), mode.into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
        // The right edge is at 5/16 of pixel 13: it covers only the sample at 2/16, and not the centre.
        let edge = 13 * 16 + 5;
        let configuration = ConfigurationBits { oversample, ..configuration() };
        machine.draw_sixteenths(0, [(edge, -4000), (edge, 4000), (-4000, 0)], FILL, &[!0], configuration);
        machine.record(Record::StoreResolved);
        machine.finish();
        assert_eq!(machine.errors(), []);
        assert_eq!([12, 13, 14].map(|x| machine.pixel(FRAME, x, 5)), [!0, expected, 0], "{oversample:?}");
    }
}

/// A primitive that covers the whole frame fills every tile, on one thread and on several.
#[test]
fn a_frame_of_tiles_is_filled() {
    for parallel in [false, true] {
        let mut machine = Machine::with(Config { parallel, ..Config::default() });
        machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into()]);
        for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            machine.record(tile(column, row));
            machine.fill(0x100 + u32::from(column) + 2 * u32::from(row));
            machine.record(Record::StoreResolved);
        }
        machine.finish();
        let corners = [(0, 0), (127, 0), (0, 127), (127, 127), (63, 64), (64, 63)];
        machine.check_pixels(FRAME, &corners.map(|(x, y)| ((x, y), 0x100 + x / 64 + 2 * (y / 64))));
        assert_eq!(machine.errors(), []);
    }
}

/// Each of the two buffers has half of the memory, so that tiles are 64x32.
#[test]
fn tiles_are_half_as_high_with_two_buffers() {
    let mut machine = Machine::new();
    let mode = TileRenderingMode { double_buffer: true, ..mode() };
    machine.records([clear(5), mode.into(), tile(0, 0), no_store(true).into(), tile(0, 1)]);
    machine.fill(9);
    machine.record(Record::StoreResolved);
    machine.finish();
    machine.check_pixels(FRAME, &[((3, 31), 0), ((3, 32), 9), ((3, 63), 9), ((3, 64), 0)]);
    assert_eq!(machine.errors(), []);
}

/// What a store does not clear reappears in the second tile after it; "disable swap" keeps the buffer.
#[test]
fn two_buffers_take_turns() {
    let keep = StoreGeneral { disable_swap: true, ..no_store(false) };
    for (parallel, between) in [(true, None), (false, None), (true, Some(keep)), (true, Some(no_store(false)))] {
        let mut machine = Machine::with(Config { parallel, ..Config::default() });
        let mode = TileRenderingMode { double_buffer: true, ..mode() };
        machine.records([clear(5), mode.into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
        machine.fill(9);
        // Half A contains 9s and is not accessed; half B contains 5s.
        machine.records([no_store(false).into(), tile(0, 0)]);
        if let Some(between) = between {
            machine.records([between.into(), tile(0, 0)]);
        }
        machine.records([Record::StoreResolved, tile(1, 0), Record::StoreResolved, tile(0, 1), Record::StoreResolved]);
        machine.finish();
        let tiles = [(3, 3), (70, 3), (3, 40)].map(|(x, y)| machine.pixel(FRAME, x, y));
        // An additional swap makes half A first.
        let swapped = between.is_some_and(|store| !store.disable_swap);
        assert_eq!(tiles, if swapped { [9, 5, 5] } else { [5, 9, 5] }, "{between:?}");
        assert_eq!(machine.errors(), []);
    }
}

/// Writes to the quad coordinates move a quad, but not out of its tile.
#[test]
fn quads_go_where_their_coordinates_say() {
    const MOVE: &str = "
        mov ra0, unif
        mov r1, x_coord
        add r0, r1, ra0
        mov quad_x, r0
        mov r2, y_coord
        add r0, r2, ra0
        mov quad_y, r0
        nop
        mov r0, y_coord
        shl r0, r0, 8
        mov r1, x_coord
        or r0, r0, r1
        mov tlbc, r0
        thrend
        nop
        sbdone";
    let mut machine = Machine::new();
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(1, 0)]);
    machine.draw([(64, 0), (72, 0), (64, 8)], MOVE, &[20], configuration());
    machine.record(Record::StoreResolved);
    machine.finish();
    assert_eq!((machine.pixel(FRAME, 65, 1), machine.pixel(FRAME, 85, 21)), (0, 21 << 8 | 85));
    assert_eq!(machine.errors(), []);
    machine.record(tile(1, 0));
    machine.draw([(120, 0), (122, 0), (120, 2)], MOVE, &[20], configuration());
    let faults: Vec<String> = machine.faults.take().iter().map(ToString::to_string).collect();
    assert!(faults[0].ends_with("a quad is moved to column 140, row 0, outside of the tile"), "{faults:?}");
}

/// Two triangles of different facing in one batch, with different stencil set-ups.
#[test]
fn different_stencils_in_one_batch_are_reported() {
    const TEST: &str = "
        mov r0, unif
        mov r1, unif
        mov tlb_stencil, r0
        mov tlb_stencil, r1
        mov tlbz, rb15
        mov tlbc, -1
        nop
        nop
        thrend
        nop
        sbdone";
    for (back, expected) in [(0u32, 0), (1, 1)] {
        let setup = |select: u32, reference: u32| select << 30 | 3 << 28 | 7 << 16 | reference << 8 | 0xff;
        let mut machine = Machine::new();
        machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
        let word = |(x, y): (u32, u32)| (x * 16) | ((y * 16) << 16);
        let triangle = |corners: [(u32, u32); 3]| Primitive { vertices: corners.map(word), clipped: None };
        let list = [triangle([(0, 0), (2, 0), (0, 2)]), triangle([(8, 0), (8, 2), (10, 0)])];
        machine.draw_list(0, &list, TEST, &[setup(3, 0), setup(2, back)], configuration());
        let faults: Vec<String> = machine.faults.take().iter().map(ToString::to_string).collect();
        assert_eq!(faults.iter().filter(|fault| fault.contains("HW-2924")).count(), expected, "{faults:?}");
        assert_eq!(faults.len(), expected, "{faults:?}");
    }
}

/// Draws an OpenGL point at (20, 30), whose program uses its three varyings as colours.
fn draw_point(machine: &mut Machine, size: f32) {
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    let program = "
        fmul r0, vary, ra15
        fadd r0, r0, r5; fmul r1, vary, ra15
        fadd r1, r1, r5; fmul r2, vary, ra15
        fadd r2, r2, r5; fmul r3.8abcd, 1.0, 1.0
        fmul r3.8a, r0, 1.0
        fmul r3.8b, r1, 1.0
        fmul r3.8c, r2, 1.0
        mov tlbc, r3
        thrend
        nop
        sbdone
    ";
    let assembly = qpu::assemble(&[qpu::Source::new("point", program)], &qpu::Options::default()).unwrap();
    for (half, at) in assembly.halves().zip(0..) {
        machine.memory().set_word(CODE + 4 * at, half).unwrap();
    }
    let vertices = BusAddr(0x3000);
    for (word, at) in
        [(20 * 16) | ((30 * 16) << 16), 0.5f32.to_bits(), 0.5f32.to_bits(), 0.6f32.to_bits()].into_iter().zip(0..)
    {
        machine.memory().set_word(vertices + 4 * at, word).unwrap();
    }
    let record = NvShaderRecord {
        vertices,
        code: CODE,
        varyings: 1,
        stride: 16,
        threading: Threading::Single,
        ..NvShaderRecord::default()
    };
    let state = Arc::new(PipelineState {
        configuration: configuration(),
        point_size: size,
        clip_window: ClipWindow { left: 0, bottom: 0, width: SIZE, height: SIZE },
        shader: Some(Shader::Nv(Arc::new(NvShader { address: BusAddr(0), record }))),
        ..PipelineState::default()
    });
    let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Points };
    let list = [Primitive { vertices: [0; 3], clipped: None }];
    machine.run(|renderer, at, context| renderer.draw(at, format, &list, &state, context));
    machine.record(Record::StoreResolved);
    machine.finish();
    assert_eq!(machine.errors(), []);
}

/// An OpenGL point in NV mode: the point coordinates precede the shader's varyings.
#[test]
fn a_point_knows_where_it_is() {
    let mut machine = Machine::new();
    draw_point(&mut machine, 10.0);
    // It is 10 pixels wide.
    machine.check_pixels(FRAME, &[((14, 30), 0), ((25, 30), 0)]);
    for (x, y) in [(15, 25), (24, 25), (15, 34), (24, 34), (20, 30)] {
        let [across, down, own, alpha] = machine.pixel(FRAME, x, y).to_le_bytes().map(i32::from);
        let at = |pixel: u32, first: u32| (255.0 * (f64::from(pixel - first) + 0.5) / 10.0).round() as i32;
        assert!((across - at(x, 15)).abs() <= 1, "({x}, {y}): {across}");
        assert!((down - (255 - at(y, 25))).abs() <= 1, "({x}, {y}): {down}");
        assert!((own - 153).abs() <= 1 && alpha == 255, "({x}, {y}): {own}");
    }
}

/// A point size of 5120 pixels is clamped to 512: the pixel at 60 is 40.5 from the centre at 20, and 296.5 of 512 from the left side.
#[test]
fn points_are_512_pixels_wide_at_most() {
    let mut machine = Machine::new();
    draw_point(&mut machine, 5120.0);
    let [across, down, ..] = machine.pixel(FRAME, 60, 30).to_le_bytes().map(i32::from);
    assert!((across - 148).abs() <= 1, "{across}");
    assert!((down - 127).abs() <= 1, "{down}");
}

// Performance counters

/// A right triangle with legs of 20 pixels: 10 + 9 + ... + 1 quads.
const SMALL: [(i16, i16); 3] = [(0, 0), (20, 0), (0, 20)];
const SMALL_QUADS: u64 = 55;
/// One quad.
const TINY: [(i16, i16); 3] = [(0, 0), (2, 0), (0, 2)];

/// A program that tests stencil and Z before it writes its colour.
const TESTED: &str = "nop\nnop\nmov tlb_stencil, unif\nmov tlbz, unif\nnop\nnop\nmov tlbc, unif\nthrend\nnop\nsbdone";

/// Draws a triangle in tile (0, 0), where Z is 0x800000, and compares the counters.
fn check_counts(
    corners: [(i16, i16); 3],
    (program, uniforms): (&str, &[u32]),
    configuration: ConfigurationBits,
    expected: &[(CounterSource, u64)],
) {
    let mut machine = Machine::new();
    let clear = ClearColors { z: 0x80_0000, ..ClearColors::default() };
    machine.records([clear.into(), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
    machine.draw(corners, program, uniforms, configuration);
    assert_eq!(machine.errors(), []);
    for &(source, count) in expected {
        assert_eq!(machine.counts([source]), [count], "{source}");
    }
}

#[test]
fn primitives_and_quads_of_the_rasteriser_are_counted() {
    use CounterSource::{
        FepPrimitives, FepPrimitivesWithoutPixels, FepQuads, FepQuadsClipped, PsePrimitivesReversed, QpuFragmentCycles,
        TlbQuadsWritten,
    };
    let fill = (FILL, [1].as_slice());
    let drawn = [
        (FepPrimitives, 1),
        (FepPrimitivesWithoutPixels, 0),
        (FepQuads, SMALL_QUADS),
        (FepQuadsClipped, 0),
        (PsePrimitivesReversed, 0),
        (TlbQuadsWritten, SMALL_QUADS),
        // Six instructions for each four quads.
        (QpuFragmentCycles, SMALL_QUADS.div_ceil(4) * 6 * 4),
    ];
    check_counts(SMALL, fill, configuration(), &drawn);
    // The primitive is in the list of a tile that it does not touch.
    let elsewhere = [(70, 0), (80, 0), (70, 10)];
    check_counts(
        elsewhere,
        fill,
        configuration(),
        &[(FepPrimitives, 1), (FepPrimitivesWithoutPixels, 1), (FepQuads, 0)],
    );
    let one_sided = ConfigurationBits { forward_facing: false, reverse_facing: false, ..configuration() };
    check_counts(SMALL, fill, one_sided, &[(PsePrimitivesReversed, 1), (FepQuads, 0)]);
    // The primitive's depth, 0x7fffff, is not greater.
    let hidden =
        ConfigurationBits { early_z: true, depth_test: CompareFunction::Greater, z_updates: true, ..configuration() };
    check_counts(SMALL, fill, hidden, &[(FepQuads, SMALL_QUADS), (FepQuadsClipped, SMALL_QUADS), (TlbQuadsWritten, 0)]);
}

#[test]
fn a_primitive_is_counted_in_each_tile() {
    let mut machine = Machine::new();
    machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into()]);
    for column in 0..2 {
        machine.record(tile(column, 0));
        machine.fill(1);
        machine.record(Record::StoreResolved);
    }
    let expected = [2, 2 * 32 * 32];
    assert_eq!(machine.counts([CounterSource::FepPrimitives, CounterSource::FepQuads]), expected);
}

#[test]
fn quads_of_the_tile_buffer_are_counted_by_what_becomes_of_them() {
    use CounterSource::{TlbQuadsFailed, TlbQuadsPassed, TlbQuadsStencilFailed, TlbQuadsWritten};
    let less = ConfigurationBits { depth_test: CompareFunction::Less, z_updates: true, ..configuration() };
    let sources = [TlbQuadsStencilFailed, TlbQuadsFailed, TlbQuadsPassed, TlbQuadsWritten];
    // Both sides, all bits; the comparison is in bits 18:16: 7 always, 0 never.
    let stencil = |function: u32| 3 << 30 | 3 << 28 | function << 16 | 0xff;
    let q = SMALL_QUADS;
    for (stencil, z, counts) in [
        (stencil(7), 0x7f_ffff, [0, 0, q, q]),
        (stencil(7), 0x80_0000, [0, q, 0, 0]),
        (stencil(0), 0x7f_ffff, [q, 0, 0, 0]),
    ] {
        let expected: Vec<_> = sources.into_iter().zip(counts).collect();
        check_counts(SMALL, (TESTED, &[stencil, z, 1]), less, &expected);
    }
}

/// The first of two fragments on the same quad unlocks the scoreboard 73 cycles after its start: its cache line (45), an instruction (4), the rest of a wait
/// for its uniform (4), five instructions (20). The second starts later, waits for the same line, and reaches its first access to the tile buffer 12 cycles
/// after the line arrives.
#[test]
fn waiting_for_the_scoreboard_is_counted() {
    for (second, waiting) in [(TINY, 73 - (45 + 12)), ([(10, 10), (12, 10), (10, 12)], 0)] {
        let mut machine = Machine::new();
        machine.counters.start_timing(timing::Machine::default());
        machine.records([clear(0), mode().into(), tile(0, 0), no_store(true).into(), tile(0, 0)]);
        machine.draw(TINY, FILL, &[1], configuration());
        machine.draw(second, FILL, &[1], configuration());
        assert_eq!(machine.counts([CounterSource::QpuScoreboardStallCycles]), [waiting], "{second:?}");
        assert_eq!(machine.errors(), []);
    }
}

/// A point of four quads: its first instruction reads a varying, which is available after two cycles; all other varyings are available in time.
#[test]
fn waiting_for_varyings_is_counted() {
    let mut machine = Machine::new();
    machine.counters.start_timing(timing::Machine::default());
    draw_point(&mut machine, 2.0);
    assert_eq!(machine.counts([CounterSource::QpuVaryingsStallCycles, CounterSource::FepQuads]), [2, 4]);
}

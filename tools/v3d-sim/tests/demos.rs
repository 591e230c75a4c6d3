//! Lists and programs in the manner of published demos that draw on boards: they draw, and nothing is reported.
//!
//! The guide does not mention, or even forbids, what they do. The geometry is this project's own.

#[path = "machine/device.rs"]
mod machine;

use machine::{Machine, put_list};
use v3d_hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, ConfigurationBits, FrameBufferFormat, LineWidth, NvShaderState,
    Oversample, PointSize, PrimitiveMode, Record, RhtXBoundary, StoreGeneral, Threading, TileBinningMode,
    TileCoordinates, TileRenderingMode, VertexArrayPrimitives, VgCoordinateArray, VgPrimitiveType, VgShaderState,
};
use v3d_hw::registers::pipeline::Pcs;
use v3d_hw::shader_record::{NvShaderRecord, VgShaderRecord};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::{Fault, Memory, Register};

const BINNING_LIST: u32 = 0x1000;
const RENDERING_LIST: u32 = 0x2000;
const SHADER: u32 = 0x8000;
const CODE: u32 = 0x8100;
const VERTICES: u32 = 0x9000;
const TILE_STATE: u32 = 0x1_0000;
const TILE_ALLOCATION: u32 = 0x2_0000;
const FRAME: u32 = 0x10_0000;

const WHITE: u32 = !0;
/// Writes white. The tile buffer is accessed, and so the scoreboard waited for, by the third instruction.
const FILL: &str = "nop\nnop\nmov tlbc, -1\nthrend\nnop\nsbdone";

/// A position in pixels.
type Point = (u32, u32);

/// A picture, and the size of tile allocation memory for it.
struct Picture {
    width: u16,
    height: u16,
    multisample: bool,
    tile_allocation_bytes: u32,
}

/// A picture of 2x2 tiles.
const SMALL: Picture = Picture { width: 128, height: 128, multisample: false, tile_allocation_bytes: 0x2000 };

impl Picture {
    fn tiles(&self) -> (u8, u8) {
        let side = if self.multisample { 32 } else { 64 };
        (self.width.div_ceil(side) as u8, self.height.div_ceil(side) as u8)
    }

    /// Bins and renders what the records draw.
    fn draw(&self, prepare: impl FnOnce(Memory<'_>), records: &[Record]) -> Drawn {
        let mut machine = Machine::new();
        prepare(machine.memory());
        let binning_end = put_list(machine.memory(), BINNING_LIST, &self.binning(records));
        let rendering_end = put_list(machine.memory(), RENDERING_LIST, &self.rendering());
        machine.write(Register::CT0CA, BINNING_LIST);
        machine.write(Register::CT0EA, binning_end);
        assert_eq!(machine.read(Register::BFC), 1, "binning does not end");
        machine.write(Register::CT1CA, RENDERING_LIST);
        machine.write(Register::CT1EA, rendering_end);
        assert_eq!(machine.read(Register::RFC), 1, "rendering does not end");
        Drawn { width: self.width.into(), machine }
    }

    fn binning(&self, records: &[Record]) -> Vec<Record> {
        let (width_tiles, height_tiles) = self.tiles();
        let mode = TileBinningMode {
            auto_initialise: true,
            multisample: self.multisample,
            width_tiles,
            height_tiles,
            tile_state: BusAddr(TILE_STATE),
            tile_allocation: BusAddr(TILE_ALLOCATION),
            tile_allocation_bytes: self.tile_allocation_bytes,
            ..TileBinningMode::default()
        };
        let configuration = ConfigurationBits {
            forward_facing: true,
            reverse_facing: true,
            oversample: if self.multisample { Oversample::X4 } else { Oversample::None },
            ..ConfigurationBits::default()
        };
        let window = ClipWindow { left: 0, bottom: 0, width: self.width, height: self.height };
        let mut list = vec![mode.into(), Record::StartTileBinning, window.into(), configuration.into()];
        list.extend_from_slice(records);
        list.push(Record::Flush);
        list
    }

    fn rendering(&self) -> Vec<Record> {
        let (columns, rows) = self.tiles();
        let mode = TileRenderingMode {
            address: BusAddr(FRAME),
            width: self.width,
            height: self.height,
            multisample: self.multisample,
            color_format: FrameBufferFormat::Rgba8888,
            ..TileRenderingMode::from_bits(0)
        };
        let mut list: Vec<Record> = vec![ClearColors::default().into(), mode.into()];
        list.push(TileCoordinates { row: 0, column: 0 }.into());
        list.push(StoreGeneral::from_bits(0).into());
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let tile = u32::from(row) * u32::from(columns) + u32::from(column);
            list.push(TileCoordinates { row, column }.into());
            list.push(BranchToSubList { address: BusAddr(TILE_ALLOCATION + 32 * tile) }.into());
            list.push(Record::StoreResolved);
        }
        list.pop();
        list.push(Record::StoreResolvedEndOfFrame);
        list
    }

    /// Draws by an NV shader without varyings of its own.
    fn draw_nv(&self, program: &str, vertices: &[Point], mode: PrimitiveMode, state: &[Record]) -> Drawn {
        self.draw_nv_record(nv_record(), program, vertices, mode, state)
    }

    fn draw_nv_record(
        &self,
        record: NvShaderRecord,
        program: &str,
        vertices: &[Point],
        mode: PrimitiveMode,
        state: &[Record],
    ) -> Drawn {
        let prepare = |memory: Memory<'_>| {
            put_program(memory, program);
            memory.write(BusAddr(SHADER), &record.to_bits().unwrap().to_le_bytes()).unwrap();
            put_words(memory, vertices.iter().flat_map(|&at| [position(at), 1f32.to_bits(), 1f32.to_bits()]));
        };
        let draw = VertexArrayPrimitives { first_vertex: 0, length: vertices.len() as u32, mode };
        self.draw(prepare, &[state, &[NvShaderState { address: BusAddr(SHADER) }.into(), draw.into()]].concat())
    }

    /// Draws coordinates by a VG shader, without a Primitive List Format record.
    fn draw_vg(&self, vertices: &[Point], primitive: VgPrimitiveType, state: &[Record]) -> Drawn {
        let record = VgShaderRecord { code: BusAddr(CODE), ..Default::default() };
        let prepare = |memory: Memory<'_>| {
            put_program(memory, FILL);
            memory.write(BusAddr(SHADER), &record.to_bits().unwrap().to_le_bytes()[..12]).unwrap();
            put_words(memory, vertices.iter().map(|&at| position(at)));
        };
        let length = vertices.len() as u32;
        let draw = VgCoordinateArray { address: BusAddr(VERTICES), length, continuation: 0, primitive };
        self.draw(prepare, &[state, &[VgShaderState { address: BusAddr(SHADER) }.into(), draw.into()]].concat())
    }
}

fn nv_record() -> NvShaderRecord {
    NvShaderRecord { code: BusAddr(CODE), vertices: BusAddr(VERTICES), stride: 12, ..Default::default() }
}

fn put_program(memory: Memory<'_>, program: &str) {
    let assembly = qpu::assemble(&[qpu::Source::new("demo", program)], &qpu::Options::default()).unwrap();
    for (half, n) in assembly.halves().zip(0..) {
        memory.set_word(BusAddr(CODE + 4 * n), half).unwrap();
    }
}

fn put_words(memory: Memory<'_>, words: impl Iterator<Item = u32>) {
    for (word, n) in words.zip(0..) {
        memory.set_word(BusAddr(VERTICES + 4 * n), word).unwrap();
    }
}

/// X and Y of a vertex.
const fn position((x, y): Point) -> u32 {
    (x * 16) | ((y * 16) << 16)
}

/// A picture that has been drawn.
struct Drawn {
    width: u32,
    machine: Machine,
}

impl Drawn {
    /// Compares pixels with white and black; nothing may have been reported.
    fn check(&mut self, white: &[Point], black: &[Point]) {
        assert_eq!(self.faults(), [""; 0]);
        for (points, expected) in [(white, WHITE), (black, 0)] {
            for &(x, y) in points {
                let pixel = self.machine.memory().word(BusAddr(FRAME + 4 * (y * self.width + x)));
                assert_eq!(pixel, Ok(expected), "({x}, {y})");
            }
        }
    }

    fn faults(&mut self) -> Vec<String> {
        self.machine.v3d.take_faults().iter().map(Fault::to_string).collect()
    }
}

/// [PeterLemon Line] and the like: the program of a line reads no varying, though a line has an implicit one, and a point two.
#[test]
fn programs_of_lines_and_points_need_not_read_the_implicit_varyings() {
    SMALL
        .draw_nv(FILL, &[(10, 20), (110, 20)], PrimitiveMode::Lines, &[LineWidth { width: 20.0 }.into()])
        .check(&[(12, 12), (60, 28), (108, 20)], &[(4, 20), (60, 32), (60, 7), (116, 20)]);
    SMALL
        .draw_nv(FILL, &[(60, 70)], PrimitiveMode::Points, &[PointSize { size: 40.0 }.into()])
        .check(&[(42, 52), (78, 88), (60, 70)], &[(38, 70), (60, 48), (82, 70)]);
}

/// [PeterLemon], all demos with a shader: they wait for the scoreboard, or access the tile buffer, in the second instruction. In the first it is a fault.
#[test]
fn a_program_may_wait_for_the_scoreboard_in_its_second_instruction() {
    let triangle = [(10, 10), (110, 10), (10, 110)];
    let draw = |program| SMALL.draw_nv(program, &triangle, PrimitiveMode::Triangles, &[]);
    for program in ["nop\nsbwait\nmov tlbc, -1\nthrend\nnop\nsbdone", "nop\nmov tlbc, -1\nnop\nthrend\nnop\nsbdone"] {
        draw(program).check(&[(12, 12), (50, 50)], &[(5, 5), (100, 100)]);
    }
    let faults = draw("sbwait\nnop\nmov tlbc, -1\nthrend\nnop\nsbdone").faults();
    assert!(faults.len() == 1 && faults[0].contains("scoreboard"), "{faults:?}");
}

/// The cube of [rpi-hal gpu_cube.rs]: a program of Mesa's for two threads, which switches, with a record that declares one thread.
#[test]
fn a_thread_switch_does_no_harm_in_a_program_that_runs_alone() {
    let program = "mov ra1, -1\nlthrsw\nnop\nnop\nmov tlbc, ra1\nthrend\nnop\nsbdone";
    let record = NvShaderRecord { threading: Threading::Single, ..nv_record() };
    let triangle = [(10, 10), (110, 10), (10, 110)];
    SMALL
        .draw_nv_record(record, program, &triangle, PrimitiveMode::Triangles, &[])
        .check(&[(12, 12), (50, 50)], &[(5, 5), (100, 100)]);
}

/// [PeterLemon RHT] and RHT_Strip: no Primitive List Format record, and the X boundary is the left side of the area.
#[test]
fn rhts_are_drawn_without_a_list_format_and_to_the_left_of_their_edge() {
    let boundary = [RhtXBoundary { x: 10 * 16 }.into()];
    // From x = 110 at y = 10 to x = 50 at y = 100.
    SMALL.draw_vg(&[(110, 10), (50, 100)], VgPrimitiveType::Rhts, &boundary).check(
        &[(11, 11), (100, 12), (11, 98), (48, 98), (70, 60)],
        &[(8, 50), (60, 98), (108, 20), (50, 102), (50, 8), (90, 60)],
    );
    // Inwards, and out again.
    SMALL
        .draw_vg(&[(110, 10), (50, 60), (110, 110)], VgPrimitiveType::RhtStrip, &boundary)
        .check(&[(11, 11), (100, 12), (48, 60), (100, 108), (11, 108)], &[(8, 60), (60, 60), (90, 60), (100, 112)]);
    SMALL
        .draw_vg(&[(10, 10), (110, 10), (10, 110)], VgPrimitiveType::Triangles, &[])
        .check(&[(12, 12), (50, 50)], &[(5, 5), (100, 100)]);
}

/// What silicon makes of an edge on both sides of the boundary is not known.
#[test]
fn an_rht_across_its_boundary_is_reported() {
    let boundary = [RhtXBoundary { x: 30 * 16 }.into()];
    let mut drawn = SMALL.draw_vg(&[(20, 10), (40, 50)], VgPrimitiveType::Rhts, &boundary);
    let faults = drawn.faults();
    assert!(
        faults.iter().all(|fault| fault.contains("crosses the RHT X boundary")) && !faults.is_empty(),
        "{faults:?}"
    );
    drawn.check(&[], &[(25, 30), (35, 30)]);
}

/// [PeterLemon Multi_Sample] and Refresh: 300 initial blocks of 32 bytes in 8,192 bytes, and a triangle in 165 tiles, each of which needs a further block.
#[test]
fn a_frame_of_300_tiles_is_drawn_with_8192_bytes_of_tile_allocation_memory() {
    let frame = Picture { width: 640, height: 480, multisample: true, tile_allocation_bytes: 8192 };
    let mut drawn = frame.draw_nv(FILL, &[(20, 20), (620, 20), (320, 460)], PrimitiveMode::Triangles, &[]);
    drawn.check(&[(30, 24), (610, 24), (320, 450), (320, 200)], &[(10, 24), (30, 100), (320, 465), (600, 200)]);
    let status: Pcs = drawn.machine.get(Register::PCS);
    assert!(!status.bmoom);
}

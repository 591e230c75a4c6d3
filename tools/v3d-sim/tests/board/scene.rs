//! Small jobs of one tile: one draw of shaded vertices or of a shader record, binned and rendered.

use crate::machine::{Machine, put_list};
use v3d_hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, ClipperXyScaling, CompareFunction, ConfigurationBits, FrameBufferFormat,
    GlShaderState, MemoryFormat, NvShaderState, PrimitiveListFormat, PrimitiveMode, Record, StoreGeneral, Threading,
    TileBinningMode, TileBufferSelect, TileCoordinates, TileRenderingMode, VertexArrayPrimitives,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::shader_record::{AttributeArray, GlFragment, GlVertex, NvShaderRecord, gl};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::{Fault, Register};

const BINNING: u32 = 0x1000;
pub(crate) const RENDERING: u32 = 0x1800;
pub(crate) const RECORD: u32 = 0x2000;
const COORDINATE_SHADER: u32 = 0x3000;
const VERTEX_SHADER: u32 = 0x3400;
pub(crate) const FRAGMENT_SHADER: u32 = 0x3800;
pub(crate) const UNIFORMS: u32 = 0x3f00;
pub(crate) const VERTICES: u32 = 0x4000;
const TILE_STATE: u32 = 0x4_0000;
pub(crate) const TILE_LISTS: u32 = 0x5_0000;
pub(crate) const FRAME: u32 = 0x10_0000;
/// Width and height of the frame, one tile.
pub(crate) const SIZE: u16 = 64;
pub(crate) const COLOR: u32 = 0xff33_22aa;

/// Writes the colour of the first uniform.
pub(crate) const FILL: &str = "nop\nmov r0, unif\nmov tlbc, r0\nthrend\nnop\nsbdone";
/// The same behind a thread switch.
pub(crate) const FILL_SWITCHING: &str = "nop; lthrsw\nnop\nnop\nmov r0, unif\nmov tlbc, r0\nthrend\nnop\nsbdone";

impl Machine {
    pub(crate) fn put<T: Layout>(&self, at: u32, value: T) {
        self.memory().write(BusAddr(at), &value.to_bits().unwrap().to_le_bytes()[..T::BYTES]).unwrap();
    }

    pub(crate) fn put_words(&self, at: u32, words: &[u32]) {
        for (word, n) in words.iter().zip(0..) {
            self.memory().set_word(BusAddr(at + 4 * n), *word).unwrap();
        }
    }

    pub(crate) fn put_program(&self, at: u32, source: &str) {
        let program = qpu::assemble(&[qpu::Source::new("board", source)], &qpu::Options::default()).unwrap();
        self.put_words(at, &program.halves().collect::<Vec<_>>());
    }

    /// Puts a fragment shader that fills, and NV vertices at corners given in pixels; returns the shader state.
    pub(crate) fn put_nv(&self, at: u32, corners: &[(i16, i16)], threading: Threading, fragment: &str) -> Record {
        let (code, vertices) = (FRAGMENT_SHADER + at / 4, VERTICES + at);
        self.put_program(code, fragment);
        self.put_words(UNIFORMS, &[COLOR]);
        for (&(x, y), n) in corners.iter().zip(0..) {
            let xy = u32::from((16 * x) as u16) | u32::from((16 * y) as u16) << 16;
            self.put_words(vertices + 12 * n, &[xy, 0.5f32.to_bits(), 1f32.to_bits()]);
        }
        let record = NvShaderRecord {
            vertices: BusAddr(vertices),
            stride: 12,
            code: BusAddr(code),
            uniforms: BusAddr(UNIFORMS),
            threading,
            ..NvShaderRecord::default()
        };
        self.put(RECORD + at, record);
        NvShaderState { address: BusAddr(RECORD + at) }.into()
    }

    /// Bins primitives in one tile, up to a Flush or without one.
    pub(crate) fn bin(&mut self, window: ClipWindow, records: &[Record], flush: bool) {
        let mode = TileBinningMode {
            auto_initialise: true,
            width_tiles: 1,
            height_tiles: 1,
            tile_state: BusAddr(TILE_STATE),
            tile_allocation: BusAddr(TILE_LISTS),
            tile_allocation_bytes: 0x1_0000,
            ..TileBinningMode::default()
        };
        let configuration = ConfigurationBits {
            forward_facing: true,
            reverse_facing: true,
            depth_test: CompareFunction::Always,
            ..ConfigurationBits::default()
        };
        let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
        let mut list: Vec<Record> =
            vec![mode.into(), Record::StartTileBinning, format.into(), configuration.into(), window.into()];
        list.extend_from_slice(records);
        list.push(Record::IncrementSemaphore);
        if flush {
            list.push(Record::Flush);
        }
        let end = put_list(self.memory(), BINNING, &list);
        self.write(Register::CT0CA, BINNING);
        self.write(Register::CT0EA, end);
    }

    /// Renders what was binned, with this as the last store.
    pub(crate) fn render(&mut self, mode: TileRenderingMode, last: &[Record]) {
        let nothing = StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) };
        let mut list: Vec<Record> = vec![
            mode.into(),
            ClearColors::default().into(),
            TileCoordinates { column: 0, row: 0 }.into(),
            nothing.into(),
            TileCoordinates { column: 0, row: 0 }.into(),
        ];
        list.extend_from_slice(last);
        let end = put_list(self.memory(), RENDERING, &list);
        self.write(Register::CT1CA, RENDERING);
        self.write(Register::CT1EA, end);
    }

    pub(crate) fn render_tile_list(&mut self) {
        let list = BranchToSubList { address: BusAddr(TILE_LISTS) };
        self.render(frame(), &[list.into(), Record::StoreResolvedEndOfFrame]);
        assert_eq!(self.read(Register::RFC), 1);
    }

    /// Number of pixels that have been drawn.
    pub(crate) fn drawn(&self) -> usize {
        let pixels =
            (0..u32::from(SIZE) * u32::from(SIZE)).map(|n| self.memory().word(BusAddr(FRAME + 4 * n)).unwrap());
        pixels.filter(|pixel| *pixel == COLOR).count()
    }

    pub(crate) fn faults(&mut self) -> Vec<String> {
        self.v3d.take_faults().iter().map(Fault::to_string).collect()
    }
}

pub(crate) fn frame() -> TileRenderingMode {
    TileRenderingMode {
        address: BusAddr(FRAME),
        width: SIZE,
        height: SIZE,
        color_format: FrameBufferFormat::Rgba8888,
        memory_format: MemoryFormat::Raster,
        ..TileRenderingMode::from_bits(0)
    }
}

pub(crate) fn window(width: u16, height: u16) -> ClipWindow {
    ClipWindow { left: 0, bottom: 0, width, height }
}

pub(crate) fn triangles(first_vertex: u32, length: u32) -> Record {
    VertexArrayPrimitives { first_vertex, length, mode: PrimitiveMode::Triangles }.into()
}

/// Half of the tile.
pub(crate) const CORNERS: [(i16, i16); 3] = [(0, 0), (64, 0), (0, 64)];

/// Positions in pixels as attributes: clip coordinates if `clip`, then screen coordinates.
fn coordinate_shader(clip: bool) -> String {
    let clip = if clip { "mov vpm, r0\nmov vpm, r1\nmov vpm, 0\nmov vpm, 1.0\n" } else { "" };
    format!(
        "ldi vr_setup, 0x00201a00\nldi vw_setup, 0x00001a00\nldi ra10, 16.0\nnop\n\
         fmul r0, vpm, ra10\nfmul r1, vpm, ra10\n{clip}ftoi ra0.16a, r0\nftoi ra0.16b, r1\nnop\n\
         mov vpm, ra0\nmov vpm, 0.5\nmov vpm, 1.0\nthrend\nnop\nnop"
    )
}

/// Puts a GL record with this coordinate shader, and draws.
pub(crate) fn draw_gl(machine: &mut Machine, corners: [(i16, i16); 3], clipping: bool, writes_clip_coordinates: bool) {
    machine.put_program(COORDINATE_SHADER, &coordinate_shader(writes_clip_coordinates));
    machine.put_program(VERTEX_SHADER, &coordinate_shader(false));
    machine.put_program(FRAGMENT_SHADER, FILL);
    machine.put_words(UNIFORMS, &[COLOR]);
    for ((x, y), n) in corners.into_iter().zip(0..) {
        machine.put_words(VERTICES + 8 * n, &[f32::from(x).to_bits(), f32::from(y).to_bits()]);
    }
    let fragment =
        GlFragment { clipping, code: BusAddr(FRAGMENT_SHADER), uniforms: BusAddr(UNIFORMS), ..GlFragment::default() };
    machine.put(RECORD + gl::FRAGMENT, fragment);
    let program =
        |code| GlVertex { code: BusAddr(code), attributes_bytes: 8, attribute_select: 1, ..GlVertex::default() };
    machine.put(RECORD + gl::VERTEX, program(VERTEX_SHADER));
    machine.put(RECORD + gl::COORDINATE, program(COORDINATE_SHADER));
    let positions =
        AttributeArray { address: BusAddr(VERTICES), bytes_minus_1: 7, stride: 8, ..AttributeArray::default() };
    machine.put(RECORD + gl::ATTRIBUTES, positions);
    let state = GlShaderState { address: BusAddr(RECORD).into(), extended: false, attribute_arrays: 1 };
    // Clip coordinates are in 1/16 pixel.
    let scale = ClipperXyScaling { half_height: 1.0, half_width: 1.0 };
    machine.bin(window(SIZE, SIZE), &[scale.into(), state.into(), triangles(0, 3)], true);
    machine.render_tile_list();
}

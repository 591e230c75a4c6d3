//! A triangle, drawn in the model by a fragment shader whose results are stored unchanged: 32 bits per pixel.

use std::sync::Arc;

use v3d_hw::control_list::{
    ClearColors, ClipWindow, CompareFunction, ConfigurationBits, FrameBufferFormat, MemoryFormat, Oversample,
    PrimitiveListFormat, StoreGeneral, Threading, TileBufferSelect, TileCoordinates, TileRecord, TileRenderingMode,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::shader_record::NvShaderRecord;
use v3d_hw::{BusAddr, Layout};
use v3d_sim::counters::Counters;
use v3d_sim::device::supervision::Supervision;
use v3d_sim::fault::FaultLog;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::primitive_list::Primitive;
use v3d_sim::render::{Config, Context, Renderer};
use v3d_sim::state::{NvShader, PipelineState, Shader};
use v3d_sim::timing;

const CODE: BusAddr = BusAddr(0x1000);
const UNIFORMS: BusAddr = BusAddr(0x2000);
const VERTICES: BusAddr = BusAddr(0x3000);
const FRAME: BusAddr = BusAddr(0x1_0000);
/// Width and height of the frame: one tile.
pub(super) const SIZE: u16 = 64;
/// The initial value of pixels, which no test computes.
const UNTOUCHED: u32 = 0x7f80_dead;

/// A shaded vertex.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    /// Position in 1/16 pixel.
    pub(super) place: [i16; 2],
    pub(super) w: f32,
    pub(super) varyings: Vec<f32>,
}

/// The rendered picture.
pub(super) struct Picture {
    words: Vec<u32>,
    /// Cycles in which QPUs executed instructions or waited for varyings, over all batches.
    pub(super) cycles: u64,
}

impl Picture {
    /// The pixels that were drawn: column, row, result.
    pub(super) fn pixels(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let size = u32::from(SIZE);
        let pixels = (0..).zip(&self.words).map(move |(n, &word)| (n % size, n / size, word));
        pixels.filter(|&(.., word)| word != UNTOUCHED)
    }
}

/// Draws three vertices. With `samples`, pixels have four samples, and the frame has four times as many tiles.
pub(super) fn draw(words: &[u64], uniforms: &[u32], vertices: &[Vertex; 3], flat: u32, samples: bool) -> Picture {
    let owned = OwnedMemory::new(0x4_0000);
    let store = |at: BusAddr, n: u32, word: u32| owned.view().set_word(at + 4 * n, word).unwrap();
    for (n, word) in (0..).zip(words) {
        store(CODE, 2 * n, *word as u32);
        store(CODE, 2 * n + 1, (word >> 32) as u32);
    }
    (0..).zip(uniforms).for_each(|(n, &word)| store(UNIFORMS, n, word));
    let varyings = vertices[0].varyings.len() as u32;
    for (vertex, n) in vertices.iter().zip([0, 1, 2]) {
        let [x, y] = vertex.place.map(|place| u32::from(place as u16));
        let fixed = [x | y << 16, 0.5f32.to_bits(), (1.0 / vertex.w).to_bits()];
        let all = fixed.into_iter().chain(vertex.varyings.iter().map(|value| value.to_bits()));
        (0..).zip(all).for_each(|(word, value)| store(VERTICES, n * (3 + varyings) + word, value));
    }
    let record = NvShaderRecord {
        vertices: VERTICES,
        code: CODE,
        uniforms: UNIFORMS,
        varyings: varyings as u8,
        stride: (4 * (3 + varyings)) as u8,
        threading: Threading::Single,
        ..NvShaderRecord::default()
    };
    let configuration = ConfigurationBits {
        forward_facing: true,
        reverse_facing: true,
        depth_test: CompareFunction::Always,
        oversample: if samples { Oversample::X4 } else { Oversample::default() },
        ..ConfigurationBits::default()
    };
    let state = Arc::new(PipelineState {
        configuration,
        flat_shade: flat,
        clip_window: ClipWindow { left: 0, bottom: 0, width: SIZE, height: SIZE },
        shader: Some(Shader::Nv(Arc::new(NvShader { address: BusAddr(0), record }))),
        ..PipelineState::default()
    });
    let mode = TileRenderingMode {
        address: FRAME,
        width: SIZE,
        height: SIZE,
        color_format: FrameBufferFormat::Rgba8888,
        memory_format: MemoryFormat::Raster,
        multisample: samples,
        ..TileRenderingMode::from_bits(0)
    };
    let clear = ClearColors { color: u64::from(UNTOUCHED) << 32 | u64::from(UNTOUCHED), ..ClearColors::default() };
    let nothing = StoreGeneral { buffer: TileBufferSelect::None, ..StoreGeneral::from_bits(0) };
    let (mut renderer, mut counters) = (Renderer::new(Config::default()), Counters::default());
    counters.start_timing(timing::Machine::default());
    let (mut faults, mut budget, mut number) = (FaultLog::default(), 1_000_000, 0);
    let mut run = |step: &mut dyn FnMut(&mut Renderer, BusAddr, &mut Context<'_>)| {
        let (counters, faults, budget) = (&mut counters, &mut faults, &mut budget);
        number += 1;
        step(
            &mut renderer,
            BusAddr(number),
            &mut Context { memory: owned.view(), counters, faults, budget, supervision: &Supervision::default() },
        );
    };
    let tile = |row, column| TileRecord::TileCoordinates(TileCoordinates { row, column });
    let start = [
        TileRecord::ClearColors(clear),
        TileRecord::TileRenderingMode(mode),
        tile(0, 0),
        TileRecord::StoreGeneral(nothing),
    ];
    for record in start {
        run(&mut |renderer, at, context| renderer.record(at, record, context));
    }
    let format = PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles };
    let list = [Primitive { vertices: [0, 1, 2], clipped: None }];
    let last = if samples { 1 } else { 0 };
    for (row, column) in (0..=last).flat_map(|row| (0..=last).map(move |column| (row, column))) {
        run(&mut |renderer, at, context| renderer.record(at, tile(row, column), context));
        run(&mut |renderer, at, context| renderer.draw(at, format, &list, &state, context));
        let is_last = (row, column) == (last, last);
        let store = if is_last { TileRecord::StoreResolvedEndOfFrame } else { TileRecord::StoreResolved };
        run(&mut |renderer, at, context| renderer.record(at, store, context));
    }
    run(&mut |renderer, _, context| renderer.finish(context));
    let found: Vec<String> = faults.take().iter().map(ToString::to_string).collect();
    assert_eq!(found, [""; 0]);
    counters.settle();
    let sources = [CounterSource::QpuInstructionCycles, CounterSource::QpuVaryingsStallCycles];
    let cycles = sources.map(|source| counters.get(source)).iter().sum();
    let size = u32::from(SIZE);
    Picture { words: (0..size * size).map(|n| owned.view().word(FRAME + 4 * n).unwrap()).collect(), cycles }
}

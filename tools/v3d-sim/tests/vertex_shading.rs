//! Vertices through programs: attributes in, shaded vertices out, batch by batch; the binner with a coordinate shader.

use v3d_hw::control_list::{
    ClipWindow, GlShaderState, IndexType, IndexedPrimitiveList, NvShaderState, PrimitiveListFormat, PrimitiveMode,
    Record, RecordGroup, TileBinningMode, VgCoordinateArray, VgInlineShader, VgPrimitiveType, ViewportOffset,
};
use v3d_hw::primitive_list::{ListDataType, ListPrimitive};
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::shader_record::{AttributeArray, GlFragment, GlVertex, gl};
use v3d_hw::{BusAddr, Layout};
use v3d_sim::counters::Counters;
use v3d_sim::device::supervision::Supervision;
use v3d_sim::fault::FaultLog;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::primitive_list::{self, Primitive};
use v3d_sim::qpu::CodeCache;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::state::{GlShader, PipelineState, ShaderRecords};
use v3d_sim::timing::{Machine, Stall};
use v3d_sim::vcm::{
    Reports, ShadedBatch, ShadedRun, Shading, UndefinedElements, VertexRun, VertexShader, VertexStage, VertexWorkers,
};
use v3d_sim::{Config, Memory, Register, V3d};

const COORDINATE_CODE: u32 = 0x1000;
const VERTEX_CODE: u32 = 0x1800;
const UNIFORMS: u32 = 0x2000;
const RECORD: u32 = 0x2100;
const POSITIONS: u32 = 0x1_0000;
const COLORS: u32 = 0x2_0000;
const INDICES: u32 = 0x3_0000;

/// The position times a uniform; as clip coordinates with z = 0 and w = 1, and as screen coordinates in 1/16 pixel.
const COORDINATE_SHADER: &str = "
    ldi vr_setup, 0x00201a00
    ldi vw_setup, 0x00001a00
    mov ra10, unif
    nop
    fmul r0, vpm, ra10
    fmul r1, vpm, ra10
    mov vpm, r0
    mov vpm, r1
    mov vpm, 0
    mov vpm, 1.0
    ftoi ra0.16a, r0
    ftoi ra0.16b, r1
    nop
    mov vpm, ra0
    mov vpm, 0.5
    mov vpm, 1.0
    thrend
    nop
    nop
";

/// The same screen coordinates, and the third attribute as a varying.
const VERTEX_SHADER: &str = "
    ldi vr_setup, 0x00301a00
    ldi vw_setup, 0x00001a00
    mov ra10, unif
    nop
    fmul r0, vpm, ra10
    fmul r1, vpm, ra10
    ftoi ra0.16a, r0
    ftoi ra0.16b, r1
    nop
    mov vpm, ra0
    mov vpm, 0.5
    mov vpm, 1.0
    mov vpm, vpm
    thrend
    nop
    nop
";

fn put<T: Layout>(memory: Memory<'_>, at: u32, value: T) {
    memory.write(BusAddr(at), &value.to_bits().unwrap().to_le_bytes()[..T::BYTES]).unwrap();
}

fn put_program(memory: Memory<'_>, at: u32, source: &str) {
    let program = qpu::assemble(&[qpu::Source::new("shader", source)], &qpu::Options::default()).unwrap();
    for (half, n) in program.halves().zip(0..) {
        memory.set_word(BusAddr(at + 4 * n), half).unwrap();
    }
}

fn position(index: u32) -> [f32; 2] {
    [(index * 37 % 101) as f32, (index * 53 % 97) as f32]
}

/// Memory with both programs, a shader record, and attributes of 256 vertices.
fn memory() -> OwnedMemory {
    let owned = OwnedMemory::new(0x10_0000);
    let memory = owned.view();
    put_program(memory, COORDINATE_CODE, COORDINATE_SHADER);
    put_program(memory, VERTEX_CODE, VERTEX_SHADER);
    memory.set_word(BusAddr(UNIFORMS), 16f32.to_bits()).unwrap();
    put(memory, RECORD + gl::FRAGMENT, GlFragment { varyings: 1, clipping: true, ..Default::default() });
    let program = |code, select, bytes| GlVertex {
        uniforms: BusAddr(UNIFORMS),
        code: BusAddr(code),
        attributes_bytes: bytes,
        attribute_select: select,
        uniform_count: 0,
    };
    put(memory, RECORD + gl::VERTEX, program(VERTEX_CODE, 3, 12));
    put(memory, RECORD + gl::COORDINATE, program(COORDINATE_CODE, 1, 8));
    let positions = AttributeArray { address: BusAddr(POSITIONS), bytes_minus_1: 7, stride: 20, ..Default::default() };
    put(memory, RECORD + gl::ATTRIBUTES, positions);
    let colors = AttributeArray {
        address: BusAddr(COLORS),
        bytes_minus_1: 3,
        stride: 4,
        vertex_vpm_offset: 8,
        ..Default::default()
    };
    put(memory, RECORD + gl::ATTRIBUTES + gl::ATTRIBUTE_BYTES, colors);
    for index in 0..256 {
        for (value, n) in position(index).iter().zip(0..) {
            memory.set_word(BusAddr(POSITIONS + 20 * index + 4 * n), value.to_bits()).unwrap();
        }
        memory.set_word(BusAddr(COLORS + 4 * index), 0xc000_0000 + index).unwrap();
    }
    owned
}

fn shader(memory: Memory<'_>) -> GlShader {
    let state = GlShaderState { address: BusAddr(RECORD).into(), extended: false, attribute_arrays: 2 };
    GlShader::read(memory, state).unwrap()
}

/// The rows of a batch.
type Rows = Vec<Lanes>;

fn keep_rows(kept: &mut Vec<Rows>, batch: &ShadedBatch<'_>, _: &VertexRun<'_>) {
    kept.push(batch.rows.to_vec());
}

fn shade(owned: &OwnedMemory, stage: VertexStage, indices: &[u32], parallel: bool) -> (Vec<Rows>, u64) {
    let memory = owned.view();
    let (shader, code) = (shader(memory), CodeCache::new());
    let (mut counters, mut faults, mut instructions) = (Counters::default(), FaultLog::default(), 1_000_000);
    let mut reports = Reports { counters: &mut counters, faults: &mut faults, instructions: &mut instructions };
    let undefined = UndefinedElements::default();
    let (workers, supervision) = (&VertexWorkers::default(), &Supervision::default());
    let shading = Shading { memory, code: &code, workers, parallel, undefined, record: false, supervision };
    let batches = shading.shade_all(VertexShader::Gl(&shader), stage, indices, &mut reports, keep_rows);
    assert_eq!(faults.faults(), []);
    (batches.concat(), 1_000_000 - instructions)
}

fn screen_xy(index: u32) -> u32 {
    let [x, y] = position(index).map(|c| (c * 16.0) as u32);
    x | y << 16
}

#[test]
fn batches_whole_and_partial_give_what_the_programs_compute() {
    let owned = memory();
    for count in [1, 15, 16, 17, 40] {
        let indices: Vec<u32> = (0..count).map(|i| i * 7 % 256).collect();
        let (batches, _) = shade(&owned, VertexStage::Coordinate, &indices, false);
        assert_eq!(batches.len(), indices.len().div_ceil(16));
        let (vertices, _) = shade(&owned, VertexStage::Vertex, &indices, false);
        for (i, &index) in indices.iter().enumerate() {
            let (batch, lane) = (i / 16, i % 16);
            let words: Vec<u32> = (0..7).map(|n| batches[batch][n].0[lane]).collect();
            let [x, y] = position(index).map(|c| (c * 16.0).to_bits());
            let (half, one) = (0.5f32.to_bits(), 1f32.to_bits());
            assert_eq!(words, [x, y, 0, one, screen_xy(index), half, one], "vertex {index}");
            let words: Vec<u32> = (0..4).map(|n| vertices[batch][n].0[lane]).collect();
            assert_eq!(words, [screen_xy(index), half, one, 0xc000_0000 + index], "vertex {index}");
        }
    }
}

#[test]
fn host_threads_change_nothing() {
    let owned = memory();
    let indices: Vec<u32> = (0..256).rev().collect();
    let serial = shade(&owned, VertexStage::Vertex, &indices, false);
    let parallel = shade(&owned, VertexStage::Vertex, &indices, true);
    assert_eq!(serial, parallel);
    // 16 batches of 16 instructions each
    assert_eq!(serial.1, 16 * 16);
}

/// Runs of both programs that are shaded together: the coordinate shader does not end, and one vertex lies outside of memory.
#[test]
fn runs_are_shaded_together_as_each_would_be_alone() {
    let owned = memory();
    put_program(owned.view(), COORDINATE_CODE, ":loop\n brr -, :loop\n nop\n nop\n nop\n");
    let (shader, code) = (shader(owned.view()), CodeCache::new());
    let shader = VertexShader::Gl(&shader);
    let many: Vec<u32> = (0..700).map(|i| i % 256).collect();
    let run = |stage, indices| VertexRun { shader, stage, indices };
    let runs = [
        run(VertexStage::Vertex, &many[..]),
        run(VertexStage::Coordinate, &[1, 2]),
        run(VertexStage::Vertex, &[]),
        run(VertexStage::Vertex, &[3, 1 << 21]),
    ];
    let together = |parallel, instructions| {
        let (memory, code, undefined) = (owned.view(), &code, UndefinedElements::default());
        let (workers, supervision) = (&VertexWorkers::default(), &Supervision::default());
        let shading = Shading { memory, code, workers, parallel, undefined, record: false, supervision };
        shading.shade_runs(&runs, instructions, keep_rows)
    };
    let shaded = together(false, 46_000);
    assert_eq!(shaded, together(true, 46_000));
    let reported =
        |run: &ShadedRun<Vec<Rows>>| (run.parts.concat().len(), run.instructions, run.is_stuck, run.faults.total());
    // 46 batches have 1,000 instructions each.
    let expected = [(44, 44 * 16, false, 0), (1, 1000, true, 1), (0, 0, false, 0), (1, 16, false, 2)];
    assert_eq!(shaded.iter().map(reported).collect::<Vec<_>>(), expected);
    assert_eq!(shaded[0].parts.concat(), shade(&owned, VertexStage::Vertex, &many, false).0);
    let (mut counters, mut faults, mut instructions) = (Counters::default(), FaultLog::default(), 46_000);
    for (run, left) in shaded.into_iter().zip([46_000 - 44 * 16, 0, 0, 0]) {
        run.report(&mut Reports { counters: &mut counters, faults: &mut faults, instructions: &mut instructions });
        assert_eq!(instructions, left);
    }
    assert_eq!((faults.total(), counters.get(CounterSource::QpuVertexCycles)), (3, 4 * (45 * 16 + 1000)));
}

/// A batch of the vertex shader takes 16 instructions. The timing model adds stalls: attributes are read three instructions after their set-up, which takes
/// five.
#[test]
fn cycles_of_vertex_shading_are_counted() {
    let owned = memory();
    let (shader, code) = (shader(owned.view()), CodeCache::new());
    let count = |clock: bool| {
        let (mut counters, mut faults, mut instructions) = (Counters::default(), FaultLog::default(), 1_000_000);
        if clock {
            counters.start_timing(Machine::default());
        }
        let mut reports = Reports { counters: &mut counters, faults: &mut faults, instructions: &mut instructions };
        let undefined = UndefinedElements::default();
        let shading = Shading {
            memory: owned.view(),
            code: &code,
            workers: &VertexWorkers::default(),
            parallel: true,
            undefined,
            record: clock,
            supervision: &Supervision::default(),
        };
        let indices: Vec<u32> = (0..20).collect();
        shading.shade_all(VertexShader::Gl(&shader), VertexStage::Vertex, &indices, &mut reports, keep_rows);
        counters.settle();
        let (_, events) = counters.programs().next().unwrap();
        let waiting = events.stalls.total();
        assert_eq!(clock, events.stalls.get(Stall::Vpm) > 0);
        (counters.get(CounterSource::QpuVertexCycles), waiting, counters.get(CounterSource::QpuFragmentCycles))
    };
    assert_eq!(count(false), (2 * 16 * 4, 0, 0));
    let (cycles, waiting, _) = count(true);
    assert_eq!(cycles, 2 * 16 * 4 + waiting);
}

#[test]
fn a_shader_without_end_is_reported() {
    let owned = memory();
    put_program(owned.view(), COORDINATE_CODE, ":loop\n brr -, :loop\n nop\n nop\n nop\n");
    let shader = shader(owned.view());
    let (mut counters, mut faults, mut instructions) = (Counters::default(), FaultLog::default(), 5000);
    let mut reports = Reports { counters: &mut counters, faults: &mut faults, instructions: &mut instructions };
    let undefined = UndefinedElements::default();
    let shading = Shading {
        memory: owned.view(),
        code: &CodeCache::new(),
        workers: &VertexWorkers::default(),
        parallel: true,
        undefined,
        record: false,
        supervision: &Supervision::default(),
    };
    shading.shade_all(VertexShader::Gl(&shader), VertexStage::Coordinate, &[1, 2, 3], &mut reports, keep_rows);
    assert_eq!(faults.faults().len(), 1);
    assert_eq!(instructions, 0);
}

const TILE_ALLOCATION: u32 = 0x8_0000;

fn bin(owned: &OwnedMemory, records: &[Record]) -> Vec<Vec<Primitive>> {
    let mode = TileBinningMode {
        auto_initialise: true,
        width_tiles: 2,
        height_tiles: 2,
        tile_state: BusAddr(0x4_0000),
        tile_allocation: BusAddr(TILE_ALLOCATION),
        tile_allocation_bytes: 0x1_0000,
        ..Default::default()
    };
    let mut at = 0x4000;
    let window = ClipWindow { left: 0, bottom: 0, width: 128, height: 128 };
    let prefix: [Record; 3] = [mode.into(), Record::StartTileBinning, window.into()];
    for record in prefix.iter().chain(records).chain(&[Record::Flush]) {
        owned.view().write(BusAddr(at), &record.encode().unwrap()[..record.bytes()]).unwrap();
        at += record.bytes() as u32;
    }
    let mut v3d = V3d::new(Config::default());
    for (register, value) in [(Register::CT0CA, 0x4000), (Register::CT0EA, at)] {
        v3d.write(&owned.view(), register.offset(), value);
    }
    assert_eq!(v3d.read(&owned.view(), Register::BFC.offset()), 1);
    assert_eq!(v3d.take_faults(), []);
    (0..4).map(|tile| follow(owned.view(), TILE_ALLOCATION + 32 * tile)).collect()
}

fn follow(memory: Memory<'_>, start: u32) -> Vec<Primitive> {
    let (mut primitives, mut state, mut at) = (Vec::new(), PipelineState::default(), BusAddr(start));
    loop {
        let mut bytes = [0; 16];
        memory.read(at, &mut bytes).unwrap();
        let record = Record::decode(&bytes).unwrap();
        let next = at + record.bytes() as u32;
        at = match record {
            Record::ReturnFromSubList => return primitives,
            Record::Branch(branch) => branch.address,
            Record::CompressedPrimitiveList => {
                primitive_list::read(memory, next, state.list_format, None, &mut 1000, &mut primitives).unwrap()
            }
            record => {
                let RecordGroup::State(set) = record.group() else { panic!("{record} in a tile list") };
                state.apply(set, memory, &mut ShaderRecords::default()).unwrap();
                next
            }
        };
    }
}

#[test]
fn the_binner_asks_the_coordinate_shader() {
    let owned = memory();
    let triangles: [[u16; 3]; 3] = [[0, 3, 9], [200, 3, 77], [255, 254, 253]];
    for (index, n) in triangles.iter().flatten().zip(0..) {
        owned.view().set_half(BusAddr(INDICES + 2 * n), *index).unwrap();
    }
    let draw = IndexedPrimitiveList {
        maximum_index: 255,
        address: BusAddr(INDICES),
        length: 9,
        index_type: IndexType::Bits16,
        mode: PrimitiveMode::Triangles,
    };
    let state = GlShaderState { address: BusAddr(RECORD).into(), extended: false, attribute_arrays: 2 };
    let offset = ViewportOffset { x: 16, y: 0 };
    let tiles = bin(&owned, &[state.into(), offset.into(), draw.into()]);
    for (tile, primitives) in tiles.iter().enumerate() {
        let (left, bottom) = ((tile % 2 * 64) as f32, (tile / 2 * 64) as f32);
        for triangle in triangles {
            let corners = triangle.map(|index| position(index.into())).map(|[x, y]| [x + 1.0, y]);
            let inside = |[x, y]: [f32; 2]| x > left && x < left + 64.0 && y > bottom && y < bottom + 64.0;
            let listed = primitives.iter().any(|primitive| primitive.vertices == triangle.map(u32::from));
            if corners.into_iter().any(inside) {
                assert!(listed, "{triangle:?} in tile {tile}");
            }
        }
    }
    assert!(tiles.iter().map(Vec::len).sum::<usize>() >= 6);
}

#[test]
fn vg_primitives_are_binned_by_their_coordinates() {
    let owned = memory();
    let word = |x: i32, y: i32| (x * 16) as u32 & 0xffff | ((y * 16) as u32) << 16;
    let points = [word(10, 10), word(50, 12), word(10, 50), word(70, 70), word(120, 70), word(100, 120)];
    for (point, n) in points.iter().zip(0..) {
        owned.view().set_word(BusAddr(INDICES + 4 * n), *point).unwrap();
    }
    let format = |primitive| PrimitiveListFormat { data_type: ListDataType::Xy, primitive };
    let array = |primitive, length| VgCoordinateArray { address: BusAddr(INDICES), length, continuation: 0, primitive };
    let tiles = bin(
        &owned,
        &[
            format(ListPrimitive::Triangles).into(),
            VgInlineShader::default().into(),
            array(VgPrimitiveType::Triangles, 6).into(),
        ],
    );
    let triangle = |n: usize| Primitive { vertices: [points[n], points[n + 1], points[n + 2]], clipped: None };
    assert_eq!(tiles, [vec![triangle(0)], vec![], vec![], vec![triangle(3)]]);
    let tiles = bin(
        &owned,
        &[format(ListPrimitive::Rht).into(), VgInlineShader::default().into(), array(VgPrimitiveType::Rhts, 6).into()],
    );
    let rhts: Vec<[u32; 3]> = tiles[0].iter().map(|rht| rht.vertices).collect();
    assert_eq!(rhts, [[points[0], points[1], 0], [points[2], points[3], 0]]);
    // Published demos lack record 56, and draw on boards [PeterLemon Triangle].
    let tiles = bin(&owned, &[VgInlineShader::default().into(), array(VgPrimitiveType::Triangles, 6).into()]);
    assert_eq!(tiles, [vec![triangle(0)], vec![], vec![], vec![triangle(3)]]);
}

#[test]
fn indices_that_no_list_can_hold_are_reported() {
    let owned = memory();
    let mut v3d = V3d::new(Config::default());
    let mode = TileBinningMode {
        auto_initialise: true,
        width_tiles: 1,
        height_tiles: 1,
        tile_state: BusAddr(0x4_0000),
        tile_allocation: BusAddr(TILE_ALLOCATION),
        tile_allocation_bytes: 0x1000,
        ..Default::default()
    };
    put(
        owned.view(),
        0x3000,
        v3d_hw::shader_record::NvShaderRecord { vertices: BusAddr(POSITIONS), stride: 0, ..Default::default() },
    );
    let draw =
        v3d_hw::control_list::VertexArrayPrimitives { first_vertex: 65_534, length: 3, mode: PrimitiveMode::Points };
    let records: [Record; 5] = [
        mode.into(),
        Record::StartTileBinning,
        NvShaderState { address: BusAddr(0x3000) }.into(),
        draw.into(),
        Record::Flush,
    ];
    let mut at = 0x4000;
    for record in records {
        owned.view().write(BusAddr(at), &record.encode().unwrap()[..record.bytes()]).unwrap();
        at += record.bytes() as u32;
    }
    v3d.write(&owned.view(), Register::CT0CA.offset(), 0x4000);
    v3d.write(&owned.view(), Register::CT0EA.offset(), at);
    let faults: Vec<String> = v3d.take_faults().iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(follow(owned.view(), TILE_ALLOCATION).len(), 2);
}

/// Shades vertices with a program in place of the vertex shader; returns the words of the vertices, and what is reported.
fn shade_with(
    owned: &OwnedMemory,
    program: &str,
    indices: &[u32],
    undefined: UndefinedElements,
) -> (Vec<[u32; 4]>, Vec<String>) {
    put_program(owned.view(), VERTEX_CODE, program);
    let (shader, code) = (shader(owned.view()), CodeCache::new());
    let (mut counters, mut faults, mut instructions) = (Counters::default(), FaultLog::default(), 1_000_000);
    let mut reports = Reports { counters: &mut counters, faults: &mut faults, instructions: &mut instructions };
    let shading = Shading {
        memory: owned.view(),
        code: &code,
        workers: &VertexWorkers::default(),
        parallel: false,
        undefined,
        record: false,
        supervision: &Supervision::default(),
    };
    let batches =
        shading.shade_all(VertexShader::Gl(&shader), VertexStage::Vertex, indices, &mut reports, keep_rows).concat();
    let word = |i: usize| [0, 1, 2, 3].map(|n: usize| batches[i / 16][n].0[i % 16]);
    let faults = faults.take().iter().map(ToString::to_string).collect();
    ((0..indices.len()).map(word).collect(), faults)
}

/// A loop of as many iterations as the third attribute says.
const LOOP: &str = "
    ldi vr_setup, 0x00301a00
    ldi vw_setup, 0x00001a00
    mov r3, 0
    nop
    mov -, vpm
    mov -, vpm
    mov r0, vpm
:loop
    sub.setf r0, r0, 1
    brr.anynn -, :loop
    add.ifnn r3, r3, 1
    nop
    nop
    mov vpm, r3
    mov vpm, r3
    mov vpm, r3
    mov vpm, r3
    thrend
    nop
    nop
";

/// Memory with numbers of iterations as the third attribute, and what the loop is to give for some vertices.
fn iterations(indices: &[u32]) -> (OwnedMemory, Vec<[u32; 4]>) {
    let owned = memory();
    for index in 0..256 {
        owned.view().set_word(BusAddr(COLORS + 4 * index), index * 37 % 101).unwrap();
    }
    (owned, indices.iter().map(|index| [index * 37 % 101; 4]).collect())
}

/// On boards all 16 elements of a batch take part, also those without a vertex, and these contain anything: such a loop may never end [mesa CI].
#[test]
fn a_loop_that_elements_without_a_vertex_would_prolong_is_reported() {
    let told = "elements of the batch that have no vertex have decided 16384 branches";
    for count in [1, 5, 15, 16, 17, 32] {
        let indices: Vec<u32> = (0..count).collect();
        let (owned, expected) = iterations(&indices);
        let (vertices, faults) = shade_with(&owned, LOOP, &indices, UndefinedElements::Noise);
        assert_eq!(vertices, expected, "{count} vertices");
        let is_partial = count % 16 != 0;
        assert_eq!(faults.iter().any(|fault| fault.contains(told)), is_partial, "{count} vertices: {faults:?}");
        let (vertices, faults) = shade_with(&owned, LOOP, &indices, UndefinedElements::Zero);
        assert_eq!((vertices, faults), (expected, vec![]), "{count} vertices");
    }
}

#[test]
fn a_loop_with_a_limit_for_all_elements_is_not_reported() {
    let limited = LOOP.replace("mov r0, vpm", "mov r0, vpm\n    ldi r1, 101\n    min r0, r0, r1");
    assert_ne!(limited, LOOP);
    let indices: Vec<u32> = (0..5).collect();
    let (owned, expected) = iterations(&indices);
    assert_eq!(shade_with(&owned, &limited, &indices, UndefinedElements::Noise), (expected, vec![]));
}

/// A lookup at the address that the third attribute gives.
const FETCH: &str = "
    ldi vr_setup, 0x00301a00
    ldi vw_setup, 0x00001a00
    nop
    nop
    mov -, vpm
    mov -, vpm
    mov t0s, vpm
    nop
    ldtmu0
    mov vpm, r4
    mov vpm, r4
    mov vpm, r4
    mov vpm, r4
    thrend
    nop
    nop
";

#[test]
fn addresses_of_elements_without_a_vertex_are_reported_where_they_leave_memory() {
    let owned = memory();
    for index in 0..16 {
        owned.view().set_word(BusAddr(COLORS + 4 * index), POSITIONS + 20 * index).unwrap();
    }
    let indices: Vec<u32> = (0..3).collect();
    let expected: Vec<[u32; 4]> = indices.iter().map(|&index| [position(index)[0].to_bits(); 4]).collect();
    let (vertices, faults) = shade_with(&owned, FETCH, &indices, UndefinedElements::Noise);
    assert_eq!(vertices, expected);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].contains("elements of the batch that have no vertex make a TMU read wherever they say"),
        "{faults:?}"
    );
    // Without them, or by an address of a vertex, it is another matter.
    let all: Vec<u32> = (0..16).collect();
    assert_eq!(shade_with(&owned, FETCH, &all, UndefinedElements::Noise).1, [""; 0]);
    owned.view().set_word(BusAddr(COLORS + 4), 0x3000_0000).unwrap();
    let (_, faults) = shade_with(&owned, FETCH, &indices, UndefinedElements::Noise);
    assert!(faults[0].contains("a TMU reads outside of memory"), "{faults:?}");
}

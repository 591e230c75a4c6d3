//! Control lists through the registers: threads, semaphores, sub-lists, errors, and what the binner writes into memory.

#[path = "machine/device.rs"]
mod machine;

use machine::{Machine, put_list};
use std::collections::BTreeMap;
use v3d_hw::control_list::{
    Branch, BranchToSubList, ClipWindow, ClipperXyScaling, ClipperZScaleOffset, FlatShadeFlags, LineWidth,
    NvShaderState, PointSize, PrimitiveListFormat, PrimitiveMode, Record, RecordGroup, StoreGeneral, TileBinningMode,
    TileBlockSize, TileCoordinates, TileRenderingMode, VertexArrayPrimitives, ViewportOffset,
};
use v3d_hw::primitive_list::{ClippedVertex, ClippedVertexCoefficients, ListDataType, ListPrimitive};
use v3d_hw::registers::cle::{Ctncs, Ctnlc};
use v3d_hw::registers::diagnostic::Errstat;
use v3d_hw::registers::interrupt::Intctl;
use v3d_hw::registers::performance::CounterSource::{self, PtbPrimitivesClipped, PtbPrimitivesOutside};
use v3d_hw::registers::pipeline::Pcs;
use v3d_hw::registers::vpm::Vpacntl;
use v3d_hw::shader_record::NvShaderRecord;
use v3d_hw::{BusAddr, Layout};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::primitive_list::{self, Primitive};
use v3d_sim::random::Random;
use v3d_sim::state::{PipelineState, ShaderRecords};
use v3d_sim::{Config, Fault, Memory, Register, V3d};

/// Control records.
#[derive(Default)]
struct List(Vec<Record>);

impl List {
    fn push(&mut self, record: impl Into<Record>) -> &mut Self {
        self.0.push(record.into());
        self
    }

    /// Writes the list to memory and returns its end.
    fn put(&self, memory: Memory<'_>, at: u32) -> u32 {
        put_list(memory, at, &self.0)
    }
}

impl Machine {
    fn bin(&mut self, list: &List) {
        let end = list.put(self.memory(), 0x1000);
        self.write(Register::CT0CA, 0x1000);
        self.write(Register::CT0EA, end);
    }

    fn render(&mut self, list: &List) {
        let end = list.put(self.memory(), 0x4000);
        self.write(Register::CT1CA, 0x4000);
        self.write(Register::CT1EA, end);
    }

    fn counts<const N: usize>(&mut self, sources: [CounterSource; N]) -> [u64; N] {
        let counters = self.v3d.counters();
        sources.map(|source| counters.get(source))
    }

    fn faults(&mut self) -> Vec<String> {
        self.v3d.take_faults().iter().map(Fault::to_string).collect()
    }
}

// Threads

#[test]
fn a_thread_runs_to_its_end_and_on_when_that_moves() {
    let mut machine = Machine::new();
    let mut list = List::default();
    list.push(Record::Nop).push(Record::Nop).push(Record::Halt).push(Record::Nop);
    list.put(machine.memory(), 0x1000);
    machine.write(Register::CT0CA, 0x1000);
    machine.write(Register::CT0EA, 0x1001);
    assert_eq!(machine.read(Register::CT0CA), 0x1001);
    assert_eq!(machine.read(Register::CT0CS), 0);
    machine.write(Register::CT0EA, 0x1002);
    assert_eq!(machine.read(Register::CT0CA), 0x1002);
    machine.write(Register::CT0EA, 0x1004);
    let halted: Ctncs = machine.get(Register::CT0CS);
    assert!(halted.ctsubs && !halted.ctrun && !halted.cterr);
    assert_eq!(machine.read(Register::CT0CA), 0x1003);
    // A halted thread does not continue when its end address changes.
    machine.write(Register::CT0EA, 0x1004);
    assert_eq!(machine.read(Register::CT0CA), 0x1003);
    machine.write(Register::CT0CS, Ctncs { ctsubs: true, ..Ctncs::default() }.to_word().unwrap());
    assert_eq!(machine.read(Register::CT0CA), 0x1004);
    assert_eq!(machine.read(Register::CT0CS), 0);
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn sub_lists_nest_two_deep_and_returns_are_counted() {
    let mut machine = Machine::new();
    let call = |address| BranchToSubList { address: BusAddr(address) };
    List::default().push(call(0x2100)).push(Record::ReturnFromSubList).put(machine.memory(), 0x2000);
    List::default().push(Record::ReturnFromSubList).put(machine.memory(), 0x2100);
    let mut list = List::default();
    // The last Return has no address to return to.
    list.push(call(0x2000)).push(call(0x2100)).push(Record::ReturnFromSubList).push(Record::Nop);
    machine.render(&list);
    assert_eq!(machine.read(Register::CT1CS), 0);
    assert_eq!(machine.get::<Ctnlc>(Register::CT1LC), Ctnlc { ctllcm: 0, ctlslcs: 4 });
    machine.write(Register::CT1LC, 1);
    assert_eq!(machine.read(Register::CT1LC), 0);
    assert_eq!(machine.faults(), [""; 0]);

    List::default().push(call(0x2200)).push(Record::ReturnFromSubList).put(machine.memory(), 0x2100);
    machine.render(&list);
    let status: Ctncs = machine.get(Register::CT1CS);
    assert!(status.cterr && !status.ctrun);
    assert_eq!(status.ctrtsd, 2);
    assert_eq!(
        machine.faults(),
        ["CLE: control list thread 1, record at 0x00002100: sub-lists are nested deeper than 2 levels"]
    );
}

#[test]
fn a_branch_leads_away_and_a_list_without_end_counts_as_hung() {
    let mut machine = Machine::with(Config { record_budget: 1000, ..Config::default() });
    let mut list = List::default();
    list.push(Branch { address: BusAddr(0x2000) });
    List::default().push(Branch { address: BusAddr(0x2000) }).put(machine.memory(), 0x2000);
    machine.bin(&list);
    let status: Ctncs = machine.get(Register::CT0CS);
    assert!(status.ctrun && !status.ctsubs && !status.cterr);
    assert_eq!(machine.faults().len(), 1);
    // A running thread ignores a new address.
    machine.write(Register::CT0CA, 0x1000);
    assert_eq!(machine.read(Register::CT0CA), 0x2000);
    assert_eq!(machine.faults(), ["register: CT0CA is written while its thread is running: the write is ignored"]);
    machine.write(Register::CT0CS, Ctncs { ctrsta: true, ..Ctncs::default() }.to_word().unwrap());
    assert_eq!(machine.read(Register::CT0CS), 0);
    let mut short = List::default();
    machine.bin(short.push(Record::Nop));
    assert_eq!(machine.read(Register::CT0CA), 0x1001);
}

#[test]
fn what_is_no_record_of_the_thread_stops_it_with_an_error() {
    let mut machine = Machine::new();
    let mut list = List::default();
    list.push(Record::Nop).push(TileCoordinates { column: 0, row: 0 });
    machine.bin(&list);
    assert!(machine.get::<Ctncs>(Register::CT0CS).cterr);
    assert_eq!(machine.read(Register::CT0CA), 0x1001);
    assert_eq!(
        machine.faults(),
        [
            "CLE: control list thread 0, record at 0x00001001: \"Tile Coordinates\" is not allowed in this thread's lists"
        ]
    );
    machine.memory().set_byte(BusAddr(0x1000), 200).unwrap();
    machine.write(Register::CT0CA, 0x1000);
    machine.write(Register::CT0EA, 0x1001);
    assert!(machine.get::<Ctncs>(Register::CT0CS).cterr);
    assert_eq!(
        machine.faults(),
        ["CLE: control list thread 0, record at 0x00001000: control record code 200 is reserved"]
    );
    // The error is cleared when the thread restarts.
    machine.bin(List::default().push(Record::Nop));
    assert_eq!(machine.read(Register::CT0CS), 0);
    machine.write(Register::CT0CA, 0x3fff_fff0);
    machine.write(Register::CT0EA, 0x10);
    assert!(machine.get::<Ctncs>(Register::CT0CS).cterr);
    assert_eq!(machine.faults().len(), 1);
}

#[test]
fn rendering_waits_for_the_flush_not_for_the_increment() {
    let mut machine = Machine::new();
    let mut render = List::default();
    render.push(Record::WaitOnSemaphore).push(Record::Nop);
    machine.render(&render);
    let waiting: Ctncs = machine.get(Register::CT1CS);
    assert!(waiting.ctrun && waiting.ctsubs);
    let mut bin = List::default();
    bin.push(binning_mode(2, 2)).push(Record::IncrementSemaphore).push(Record::Nop);
    machine.bin(&bin);
    assert!(machine.get::<Ctncs>(Register::CT1CS).ctrun, "the tile lists are not flushed yet");
    assert!(machine.get::<Ctncs>(Register::CT0CS).ctmode);
    machine.write(Register::INTENA, 2);
    bin.push(Record::Flush);
    let end = bin.put(machine.memory(), 0x1000);
    machine.write(Register::CT0EA, end);
    assert_eq!(machine.read(Register::CT1CS), 0);
    assert_eq!(machine.read(Register::CT1CA), 0x4002);
    assert_eq!(machine.read(Register::BFC), 1);
    assert!(machine.v3d.interrupt());
    machine.write(Register::INTCTL, 2);
    assert!(!machine.v3d.interrupt());
    assert_eq!(machine.get::<Ctnlc>(Register::CT0LC), Ctnlc { ctllcm: 1, ctlslcs: 0 });
    machine.write(Register::BFC, 0);
    assert_eq!(machine.read(Register::BFC), 1);
    machine.write(Register::BFC, 1);
    assert_eq!(machine.read(Register::BFC), 0);
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn binning_waits_for_the_frame_of_the_other_thread() {
    let mut machine = Machine::new();
    machine.bin(List::default().push(Record::WaitOnSemaphore).push(Record::Nop));
    let mut render = List::default();
    render
        .push(TileRenderingMode { width: 16, height: 16, address: BusAddr(0x10_0000), ..Default::default() })
        .push(TileCoordinates { column: 0, row: 0 })
        .push(StoreGeneral::default())
        .push(TileCoordinates { column: 0, row: 0 })
        .push(Record::IncrementSemaphore);
    machine.render(&render);
    assert!(machine.get::<Ctncs>(Register::CT0CS).ctsubs, "the last tile is not stored yet");
    render.push(Record::StoreResolvedEndOfFrame);
    let end = render.put(machine.memory(), 0x4000);
    machine.write(Register::CT1EA, end);
    assert_eq!(machine.read(Register::CT0CS), 0);
    assert_eq!(machine.read(Register::RFC), 1);
    assert!(machine.get::<Intctl>(Register::INTCTL).int_frdone);
}

// Binning

const TILE_STATE: u32 = 0x8000;
const TILE_ALLOCATION: u32 = 0x2_0000;
const VERTICES: u32 = 0x10_0000;
const SHADER: u32 = 0x3000;

fn binning_mode(width_tiles: u8, height_tiles: u8) -> TileBinningMode {
    TileBinningMode {
        auto_initialise: true,
        width_tiles,
        height_tiles,
        tile_state: BusAddr(TILE_STATE),
        tile_allocation: BusAddr(TILE_ALLOCATION),
        tile_allocation_bytes: 0x4_0000,
        ..Default::default()
    }
}

fn triangles_format() -> PrimitiveListFormat {
    PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles }
}

/// Vertices without clip coordinates, in 1/16 pixel from the corner of the frame.
fn put_vertices(memory: Memory<'_>, vertices: &[(i16, i16)]) {
    for (i, (x, y)) in vertices.iter().enumerate() {
        let at = VERTICES + 12 * i as u32;
        let words = [u32::from(*x as u16) | u32::from(*y as u16) << 16, 0.5f32.to_bits(), 1f32.to_bits()];
        for (word, n) in words.iter().zip(0..) {
            memory.set_word(BusAddr(at + 4 * n), *word).unwrap();
        }
    }
    put_shader(memory, NvShaderRecord { vertices: BusAddr(VERTICES), stride: 12, ..Default::default() });
}

fn put_shader(memory: Memory<'_>, record: NvShaderRecord) {
    memory.write(BusAddr(SHADER), &record.to_bits().unwrap().to_le_bytes()).unwrap();
}

fn shader_state() -> NvShaderState {
    NvShaderState { address: BusAddr(SHADER) }
}

fn draw(mode: PrimitiveMode, first_vertex: u32, length: u32) -> VertexArrayPrimitives {
    VertexArrayPrimitives { first_vertex, length, mode }
}

/// The contents of a tile list: the codes of its state records and its primitives, in order.
#[derive(Clone, Debug, Default, PartialEq)]
struct TileList {
    codes: Vec<u8>,
    primitives: Vec<Primitive>,
    /// Code and number of primitives drawn before it, for each state record.
    places: Vec<(u8, usize)>,
}

/// Reads a tile list from its first byte as the hardware would.
fn tile_list(memory: Memory<'_>, start: u32) -> TileList {
    let mut list = TileList::default();
    let mut state = PipelineState::default();
    let mut at = BusAddr(start);
    for _ in 0..100_000 {
        let mut bytes = [0; 16];
        memory.read(at, &mut bytes).unwrap();
        let record = Record::decode(&bytes).unwrap();
        let next = at + record.bytes() as u32;
        let clipped = if let Record::ClippedPrimitive(clipped) = record { Some(clipped) } else { None };
        at = match record {
            Record::ReturnFromSubList => return list,
            Record::Branch(branch) => branch.address,
            Record::CompressedPrimitiveList | Record::ClippedPrimitive(_) => {
                let (format, primitives) = (state.list_format, &mut list.primitives);
                primitive_list::read(memory, next, format, clipped, &mut 100_000, primitives).unwrap()
            }
            record => {
                let RecordGroup::State(set) = record.group() else { panic!("{record} in a tile list") };
                state.apply(set, memory, &mut ShaderRecords::default()).unwrap();
                list.codes.push(record.code());
                list.places.push((record.code(), list.primitives.len()));
                next
            }
        };
    }
    panic!("the list at {start:#x} does not end");
}

fn tile_lists(machine: &Machine, mode: &TileBinningMode) -> Vec<TileList> {
    let tiles = u32::from(mode.width_tiles) * u32::from(mode.height_tiles);
    (0..tiles)
        .map(|tile| tile_list(machine.memory(), TILE_ALLOCATION + tile * mode.initial_block_size.bytes()))
        .collect()
}

/// A reproducible set of triangles, many small and some large.
fn many_triangles(triangles: usize) -> Vec<(i16, i16)> {
    let mut generator = Random::new(0, 7);
    let mut random = move |limit: u32| generator.below(limit) as i16;
    let mut vertices = Vec::new();
    for i in 0..triangles {
        let size = if i % 50 == 0 { 6000 } else { 400 };
        let (x, y) = (random(8000) - 500, random(6000) - 500);
        vertices.extend([(); 3].map(|()| (x + random(size), y + random(size))));
    }
    vertices
}

fn binning_list(mode: &TileBinningMode, vertices: u32) -> List {
    let mut list = List::default();
    list.push(*mode)
        .push(Record::StartTileBinning)
        .push(triangles_format())
        .push(ClipWindow { left: 0, bottom: 0, width: 448, height: 320 })
        .push(shader_state())
        .push(draw(PrimitiveMode::Triangles, 0, vertices))
        .push(Record::Flush);
    list
}

/// Whether the triangle covers a pixel's centre within the rectangle of pixels.
fn covers_some(triangle: &[(i16, i16)], left: i64, bottom: i64, width: i64, height: i64) -> bool {
    let p: Vec<(i64, i64)> = triangle.iter().map(|&(x, y)| (i64::from(x), i64::from(y))).collect();
    let area = (p[1].0 - p[0].0) * (p[2].1 - p[0].1) - (p[1].1 - p[0].1) * (p[2].0 - p[0].0);
    (bottom..bottom + height).any(|row| {
        (left..left + width).any(|column| {
            let (x, y) = (column * 16 + 8, row * 16 + 8);
            area != 0
                && (0..3).all(|i| {
                    let (a, b) = (p[i], p[(i + 1) % 3]);
                    let side = (b.0 - a.0) * (y - a.1) - (b.1 - a.1) * (x - a.0);
                    side.signum() * area.signum() > 0
                })
        })
    })
}

/// One triangle inside, one beyond the clip window's right edge, one beyond its upper edge.
#[test]
fn primitives_outside_are_counted() {
    let mut machine = Machine::new();
    let triangle = |x: i16, y: i16| [(x, y), (x + 160, y), (x, y + 160)];
    let vertices = [triangle(100, 100), triangle(448 * 16 + 32, 100), triangle(100, 320 * 16 + 32)].concat();
    put_vertices(machine.memory(), &vertices);
    machine.bin(&binning_list(&binning_mode(7, 5), vertices.len() as u32));
    assert_eq!(machine.faults(), [""; 0]);
    assert_eq!(machine.counts([PtbPrimitivesClipped, PtbPrimitivesOutside]), [0, 2]);
}

#[test]
fn every_tile_gets_its_triangles_in_their_order() {
    let vertices = many_triangles(300);
    for (block_size, initial_block_size) in [
        (TileBlockSize::Bytes32, TileBlockSize::Bytes32),
        (TileBlockSize::Bytes128, TileBlockSize::Bytes32),
        (TileBlockSize::Bytes256, TileBlockSize::Bytes64),
        (TileBlockSize::Bytes64, TileBlockSize::Bytes256),
    ] {
        let mut machine = Machine::new();
        put_vertices(machine.memory(), &vertices);
        let mode = TileBinningMode { block_size, initial_block_size, ..binning_mode(7, 5) };
        machine.bin(&binning_list(&mode, vertices.len() as u32));
        assert_eq!(machine.faults(), [""; 0]);
        assert_eq!(machine.read(Register::BFC), 1);
        let mut binned = 0;
        for (tile, list) in tile_lists(&machine, &mode).into_iter().enumerate() {
            let (left, bottom) = (tile as i64 % 7 * 64, tile as i64 / 7 * 64);
            let numbers: Vec<usize> =
                list.primitives.iter().map(|primitive| primitive.vertices[0] as usize / 3).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "tile {tile}");
            for (number, triangle) in vertices.chunks(3).enumerate() {
                if covers_some(triangle, left, bottom, 64, 64) {
                    assert!(numbers.contains(&number), "triangle {number} covers tile {tile}");
                }
            }
            for (primitive, number) in list.primitives.iter().zip(&numbers) {
                let first = 3 * *number as u32;
                assert_eq!(primitive.vertices, [first, first + 1, first + 2]);
                let triangle = &vertices[3 * number..][..3];
                let reaches = |low: i64, high: i64, get: fn(&(i16, i16)) -> i16| {
                    let values = || triangle.iter().map(get).map(i64::from);
                    values().max() >= Some(low * 16) && values().min() <= Some(high * 16)
                };
                assert!(reaches(left, left + 64, |v| v.0) && reaches(bottom, bottom + 64, |v| v.1));
            }
            binned += list.primitives.len();
            if !list.primitives.is_empty() {
                assert_eq!(list.codes, [56, 65, 102]);
            }
        }
        assert!(binned > 300, "{binned} entries");
    }
}

#[test]
fn without_memory_the_binner_waits_and_then_goes_on_as_if_nothing_had_been() {
    let vertices = many_triangles(3000);
    let mode = binning_mode(7, 5);
    let mut ample = Machine::new();
    put_vertices(ample.memory(), &vertices);
    ample.bin(&binning_list(&mode, vertices.len() as u32));
    let expected = tile_lists(&ample, &mode);
    assert!(!ample.get::<Intctl>(Register::INTCTL).int_spilluse);

    let mut machine = Machine::new();
    put_vertices(machine.memory(), &vertices);
    let scarce = TileBinningMode { tile_allocation_bytes: 35 * 32 + 200, ..mode };
    machine.write(Register::INTENA, 4);
    machine.bin(&binning_list(&scarce, vertices.len() as u32));
    let mut offered = 0x20_0000;
    let mut times = 0;
    let mut primitives_left = 3000;
    while machine.get::<Intctl>(Register::INTCTL).int_outomem {
        assert!(machine.v3d.interrupt());
        let status: Ctncs = machine.get(Register::CT0CS);
        assert!(status.ctrun && !status.cterr);
        let pipeline: Pcs = machine.get(Register::PCS);
        assert!(pipeline.bmoom && pipeline.bmactive && !pipeline.bmbusy);
        let left = machine.read(Register::CT0PC);
        assert!(left > 0 && left <= primitives_left, "{left} of {primitives_left}");
        primitives_left = left;
        assert_eq!(machine.read(Register::BFC), 0);
        // Acknowledging the interrupt alone does not help.
        machine.write(Register::INTCTL, 4);
        assert!(machine.get::<Intctl>(Register::INTCTL).int_outomem);
        machine.write(Register::BPOA, offered);
        machine.write(Register::BPOS, 256);
        assert_eq!(machine.read(Register::BPOS), 0, "taken at once");
        machine.write(Register::INTCTL, 4);
        offered += 256;
        times += 1;
        assert!(times < 1000);
    }
    assert!(times > 10, "{times}");
    assert!(machine.get::<Intctl>(Register::INTCTL).int_spilluse);
    assert_eq!(machine.read(Register::BFC), 1);
    assert!(!machine.get::<Pcs>(Register::PCS).bmoom);
    let lists = tile_lists(&machine, &mode);
    for (tile, (list, expected)) in lists.iter().zip(&expected).enumerate() {
        assert_eq!(list.primitives, expected.primitives, "tile {tile}");
    }
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn state_goes_only_where_something_is_drawn_under_it() {
    let mut machine = Machine::new();
    // One triangle in tile 0, one in tile 1, and one in both.
    let left = [(100, 100), (300, 100), (100, 300)];
    let right = left.map(|(x, y)| (x + 1024, y));
    let both = [(100, 400), (1500, 400), (1500, 500)];
    put_vertices(machine.memory(), &[left, right, both].concat());
    let mode = binning_mode(3, 1);
    let mut list = List::default();
    list.push(mode)
        .push(PointSize { size: 3.0 })
        .push(Record::StartTileBinning)
        .push(triangles_format())
        .push(shader_state())
        .push(draw(PrimitiveMode::Triangles, 0, 3))
        .push(FlatShadeFlags { flags: 1 })
        .push(draw(PrimitiveMode::Triangles, 3, 3))
        .push(LineWidth { width: 2.0 })
        .push(draw(PrimitiveMode::Triangles, 6, 3))
        .push(ViewportOffset { x: 0, y: 0 });
    let mut all_state = List(list.0.clone());
    machine.bin(list.push(Record::Flush));
    let lists = tile_lists(&machine, &mode);
    assert_eq!(lists[0].places, [(56, 0), (65, 0), (97, 1), (99, 1)]);
    assert_eq!(lists[1].places, [(56, 0), (65, 0), (97, 0), (99, 1)]);
    assert_eq!(lists[2], TileList::default());
    machine.bin(all_state.push(Record::FlushAllState));
    let lists = tile_lists(&machine, &mode);
    assert_eq!(lists[0].places, [(56, 0), (65, 0), (97, 1), (99, 1), (103, 2)]);
    assert_eq!(lists[2].codes, [56, 65, 97, 99, 103]);
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn lines_and_points_have_the_width_that_the_state_gives_them() {
    let mut machine = Machine::new();
    // 4 pixels from the border between tiles 0 and 1.
    put_vertices(machine.memory(), &[(60 * 16, 100), (60 * 16, 900)]);
    let mode = binning_mode(2, 2);
    let tiles = |machine: &mut Machine, width: f32, mode_of: PrimitiveMode| {
        let mut list = List::default();
        list.push(mode)
            .push(Record::StartTileBinning)
            .push(shader_state())
            .push(LineWidth { width })
            .push(PointSize { size: width })
            .push(draw(mode_of, 0, 2))
            .push(Record::Flush);
        machine.bin(&list);
        tile_lists(machine, &mode).iter().map(|list| list.primitives.len()).collect::<Vec<_>>()
    };
    assert_eq!(tiles(&mut machine, 7.0, PrimitiveMode::Lines), [1, 0, 0, 0]);
    assert_eq!(tiles(&mut machine, 9.0, PrimitiveMode::Lines), [1, 1, 0, 0]);
    assert_eq!(tiles(&mut machine, 7.0, PrimitiveMode::Points), [2, 0, 0, 0]);
    assert_eq!(tiles(&mut machine, 9.0, PrimitiveMode::Points), [2, 2, 0, 0]);
    assert_eq!(machine.faults(), [""; 0]);
    // A diagonal line is widened along y, as in OpenGL; its end reaches the row of tiles above.
    put_vertices(machine.memory(), &[(50 * 16, 50 * 16), (58 * 16, 58 * 16)]);
    assert_eq!(tiles(&mut machine, 20.0, PrimitiveMode::Lines), [1, 0, 1, 0]);
    tiles(&mut machine, 0.0, PrimitiveMode::Points);
    assert_eq!(machine.faults().len(), 1, "points of size 0 are an erratum");
}

/// A width of 512 pixels around x = 60 ends at 316, which is in tile 4; a width of 528 would end at 324, in tile 5.
#[test]
fn points_reach_256_pixels_at_most() {
    let mut machine = Machine::new();
    put_vertices(machine.memory(), &[(60 * 16, 100)]);
    let mode = binning_mode(7, 1);
    let mut tiles = |size: f32| {
        let mut list = List::default();
        list.push(mode)
            .push(Record::StartTileBinning)
            .push(shader_state())
            .push(PointSize { size })
            .push(draw(PrimitiveMode::Points, 0, 1))
            .push(Record::Flush);
        machine.bin(&list);
        tile_lists(&machine, &mode).iter().map(|list| list.primitives.len()).collect::<Vec<_>>()
    };
    assert_eq!(tiles(528.0), [1, 1, 1, 1, 1, 0, 0]);
    assert_eq!(tiles(512.0), [1, 1, 1, 1, 1, 0, 0]);
    assert_eq!(tiles(380.0), [1, 1, 1, 1, 0, 0, 0]);
}

/// Vertices with clip coordinates: two in front of the near plane, one behind it.
#[test]
fn a_clipped_primitive_says_where_its_new_vertices_are() {
    let mut machine = Machine::new();
    let clip: [[f32; 4]; 3] = [[0.0, 0.0, -3.0, 1.0], [0.5, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 1.0]];
    for (i, position) in clip.iter().enumerate() {
        let [x, y, _, w] = *position;
        let screen = |c: f32, half: f32| (c / w * half) as i16 as u16;
        let xy = u32::from(screen(x, 1024.0)) | u32::from(screen(y, 1024.0)) << 16;
        let words = position.map(f32::to_bits).into_iter().chain([xy, 0.5f32.to_bits(), 1f32.to_bits()]);
        for (word, n) in words.zip(0..) {
            machine.memory().set_word(BusAddr(VERTICES + 28 * i as u32 + 4 * n), word).unwrap();
        }
    }
    let record = NvShaderRecord {
        vertices: BusAddr(VERTICES),
        stride: 28,
        clip_header: true,
        clipping: true,
        ..Default::default()
    };
    put_shader(machine.memory(), record);
    let mode = binning_mode(2, 2);
    let mut list = List::default();
    list.push(mode)
        .push(Record::StartTileBinning)
        .push(shader_state())
        .push(ClipperXyScaling { half_width: 1024.0, half_height: 1024.0 })
        .push(ClipperZScaleOffset { scale: 0.5, offset: 0.5 })
        .push(ViewportOffset { x: 1024, y: 1024 })
        .push(draw(PrimitiveMode::Triangles, 0, 3))
        .push(Record::Flush);
    machine.bin(&list);
    assert_eq!(machine.faults(), [""; 0]);
    assert_eq!(machine.counts([PtbPrimitivesClipped, PtbPrimitivesOutside]), [1, 0]);
    // Beyond the viewport's centre: tile (1, 1).
    let lists = tile_lists(&machine, &mode);
    let tile = &lists[3];
    assert_eq!(tile.primitives.len(), 2);
    assert!(!tile.codes.contains(&105) && !tile.codes.contains(&106), "clipper state is for binning only");
    // The edges cross the near plane at a third of the way from vertices 1 and 2 to vertex 0.
    let mut found = BTreeMap::new();
    for primitive in &tile.primitives {
        assert_eq!(primitive.vertices, [0, 1, 2]);
        let clipped = primitive.clipped.unwrap();
        let mut at = clipped.address.0;
        for corner in (0..3).filter(|corner| clipped.vertices >> corner & 1 == 1) {
            let mut bytes = [0; 32];
            machine.memory().read(at, &mut bytes).unwrap();
            at = at + 32;
            let vertex = ClippedVertex::read_from(&bytes).unwrap();
            let rest = ClippedVertexCoefficients::read_from(&bytes[16..]).unwrap();
            let coefficients = [vertex.coefficient0, rest.coefficient1, rest.coefficient2];
            assert!((coefficients.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            found.insert((vertex.x, vertex.y), (vertex.z, vertex.reciprocal_w, coefficients, corner));
        }
    }
    // z is -1 where vertex 0 has a weight of one third.
    let third = 1.0f32 / 3.0;
    let near = |x: i16, y: i16, expected: [f32; 3]| {
        let (z, reciprocal_w, coefficients, _) = found[&(x, y)];
        assert!(z.abs() < 1e-6 && (reciprocal_w - 1.0).abs() < 1e-6);
        assert!(coefficients.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{coefficients:?}");
    };
    near(341, 0, [third, 2.0 * third, 0.0]);
    near(0, 341, [third, 0.0, 2.0 * third]);
    assert_eq!(lists[0].primitives.len() + lists[1].primitives.len() + lists[2].primitives.len(), 0);
}

#[test]
fn binning_without_configuration_or_memory_is_reported() {
    let mut machine = Machine::new();
    put_vertices(machine.memory(), &[(0, 0), (100, 0), (0, 100)]);
    let mut list = List::default();
    list.push(shader_state()).push(draw(PrimitiveMode::Triangles, 0, 3)).push(Record::Flush);
    machine.bin(&list);
    assert_eq!(machine.faults().len(), 2);
    assert_eq!(machine.read(Register::BFC), 0);
    // Without any tile allocation memory, lists go to overspill memory, where rendering does not look for them.
    let mode = TileBinningMode { tile_allocation_bytes: 0, ..binning_mode(2, 2) };
    machine.write(Register::BPOA, 0x20_0000);
    machine.write(Register::BPOS, 0x1000);
    machine.bin(&binning_list(&mode, 3));
    assert_eq!(machine.read(Register::BFC), 1);
    assert_eq!(machine.faults().len(), 1);
    assert_eq!(machine.memory().word(BusAddr(TILE_ALLOCATION)), Ok(0));
}

/// 640x480 pixels with 4x multisampling are 300 tiles, whose initial blocks of 32 bytes need 9,600 bytes. Demos that run on boards give 8,192
/// [PeterLemon Multi_Sample].
#[test]
fn initial_blocks_and_8_kib_behind_them_are_used_beyond_the_end_of_the_memory() {
    let mut machine = Machine::new();
    // One triangle in the first tile, one in the last, whose block is beyond the end.
    let vertices = [(16, 16), (160, 16), (16, 160), (9800, 7400), (10_100, 7400), (9800, 7600)];
    put_vertices(machine.memory(), &vertices);
    let mode = TileBinningMode { multisample: true, tile_allocation_bytes: 8192, ..binning_mode(20, 15) };
    let mut list = List::default();
    list.push(mode)
        .push(Record::StartTileBinning)
        .push(triangles_format())
        .push(ClipWindow { left: 0, bottom: 0, width: 640, height: 480 })
        .push(shader_state())
        .push(draw(PrimitiveMode::Triangles, 0, 6))
        .push(Record::Flush);
    machine.bin(&list);
    assert_eq!(machine.read(Register::BFC), 1);
    assert!(!machine.get::<Ctncs>(Register::CT0CS).ctrun);
    let lists = tile_lists(&machine, &mode);
    for (tile, list) in lists.iter().enumerate() {
        let expected: &[[u32; 3]] = match tile {
            0 => &[[0, 1, 2]],
            299 => &[[3, 4, 5]],
            _ => &[],
        };
        assert!(list.primitives.iter().map(|primitive| primitive.vertices).eq(expected.iter().copied()), "tile {tile}");
    }
    let pool = (machine.read(Register::BPCA), machine.read(Register::BPCS));
    assert_eq!(pool, (TILE_ALLOCATION + 300 * 32 + 8192, 0));
    // A list that needs more waits for overflow memory, as it does if the memory suffices for the initial blocks.
    put_vertices(machine.memory(), &[(16, 16), (160, 16), (16, 160)].repeat(4000));
    let mut many = List::default();
    many.push(mode).push(Record::StartTileBinning).push(triangles_format()).push(shader_state());
    many.push(draw(PrimitiveMode::Triangles, 0, 12_000)).push(Record::Flush);
    machine.bin(&many);
    assert!(machine.get::<Pcs>(Register::PCS).bmoom);
    machine.write(Register::BPOA, 0x30_0000);
    machine.write(Register::BPOS, 0x1_0000);
    assert_eq!(machine.read(Register::BFC), 2);
    assert_eq!(tile_lists(&machine, &mode)[0].primitives.len(), 4000);
    assert_eq!(machine.faults(), [""; 0]);
}

#[test]
fn batches_that_the_vpm_has_no_room_for_show_in_errstat() {
    let mut machine = Machine::new();
    put_vertices(machine.memory(), &[(0, 0), (100, 0), (0, 100)]);
    let record = NvShaderRecord { vertices: BusAddr(VERTICES), stride: 12, varyings: 90, ..Default::default() };
    put_shader(machine.memory(), record);
    machine.bin(&binning_list(&binning_mode(1, 1), 3));
    assert!(!machine.get::<Errstat>(Register::ERRSTAT).vpaerrgl);
    // Rendering may have 1536 bytes: 24 rows.
    machine.write(Register::VPACNTL, Vpacntl { vpalimen: true, ..Default::default() }.to_word().unwrap());
    let mut list = List::default();
    list.push(shader_state()).push(draw(PrimitiveMode::Triangles, 0, 3));
    machine.render(&list);
    let errors: Errstat = machine.get(Register::ERRSTAT);
    assert!(errors.vpaerrgl && !errors.vpaergs && !errors.vpaebrgl);
    assert!(
        machine.faults().iter().any(|fault| fault.contains("5952 bytes of VPM, and VPACNTL allows rendering 1536"))
    );
}

#[test]
fn identity_and_scratch_registers() {
    let mut machine = Machine::new();
    assert_eq!(machine.read(Register::IDENT0), 0x0244_3356);
    // 12 KiB of VPM, HDR, 16 semaphores, 2 TMUs and 4 QPUs in each of 3 slices, revision 1 [AG p.97]
    assert_eq!(machine.read(Register::IDENT1), 0xc110_2431);
    assert_eq!(machine.read(Register::IDENT2), 0x121);
    machine.write(Register::SCRATCH, 0x1234_5678);
    assert_eq!(machine.read(Register::SCRATCH), 0x1234_5678);
    machine.write(Register::IDENT0, 0);
    assert_eq!(machine.read(Register::IDENT0), 0x0244_3356);
    machine.write(Register::INTENA, 0xff);
    machine.write(Register::INTDIS, 5);
    assert_eq!(machine.read(Register::INTDIS), 0xa);
    assert_eq!(machine.v3d.read(&machine.owned.view(), 0xffc), 0);
}

#[test]
fn performance_counters_count_while_they_are_enabled() {
    let mut machine = Machine::new();
    // Outside of the window.
    put_vertices(machine.memory(), &[(9000, 0), (9100, 0), (9000, 100)]);
    let mode = binning_mode(2, 2);
    let list = binning_list(&mode, 3);
    machine.write(Register::PCTRS3, 10);
    machine.bin(&list);
    assert_eq!(machine.read(Register::PCTR3), 0);
    // Without bit 31, nothing is counted.
    machine.write(Register::PCTRE, 1 << 3);
    machine.bin(&list);
    assert_eq!(machine.read(Register::PCTR3), 0);
    machine.write(Register::PCTRE, 1 << 31 | 1 << 3);
    machine.bin(&list);
    machine.bin(&list);
    assert_eq!(machine.read(Register::PCTR3), 2);
    machine.write(Register::PCTRE, 0);
    machine.bin(&list);
    assert_eq!(machine.read(Register::PCTR3), 2);
    machine.write(Register::PCTRC, 1 << 3);
    assert_eq!(machine.read(Register::PCTR3), 0);
}

/// Random bytes as lists, mixed with valid pieces: nothing panics, and every list ends within the budget.
#[test]
fn random_lists_neither_panic_nor_hang() {
    let config = Config { record_budget: 3000, instruction_budget: 20_000, parallel: false, ..Config::default() };
    let mut random = Random::new(0, 1);
    let mut different = 0;
    for _ in 0..400 {
        let owned = OwnedMemory::new(0x1_0000);
        for at in (0..0x2000).step_by(4) {
            // Small words are addresses within this memory; many bytes are codes of records.
            let word = match random.below(4) {
                0 => random.next_u64() as u32,
                1 => random.next_u64() as u32 & 0xffff,
                2 => u32::from(Record::TABLE[random.below(Record::TABLE.len() as u32) as usize].code) | 0x0101_0100,
                _ => 0x0101_0101,
            };
            owned.view().set_word(BusAddr(at), word).unwrap();
        }
        let mut v3d = V3d::new(config);
        let start = 0x100 + random.below(0x1000);
        let mode = TileBinningMode { tile_allocation: BusAddr(0x4000), ..binning_mode(3, 3) };
        let mut list = List::default();
        list.push(mode).push(Record::StartTileBinning).push(Branch { address: BusAddr(start) });
        let end = list.put(owned.view(), 0x3000);
        let render = TileRenderingMode { width: 99, height: 99, address: BusAddr(0x8000), ..Default::default() };
        let mut render_list = List::default();
        render_list.push(render).push(TileCoordinates::default()).push(Branch { address: BusAddr(start) });
        let render_end = render_list.put(owned.view(), 0x3800);
        for (register, value) in [
            (Register::BPOA, 0x9000),
            (Register::BPOS, random.below(0x2000)),
            (Register::CT0CA, 0x3000),
            (Register::CT0EA, end + 7),
            (Register::CT1CA, 0x3800),
            (Register::CT1EA, render_end + 7),
            (Register::BPOS, 0x100),
        ] {
            v3d.write(&owned.view(), register.offset(), value);
        }
        different += usize::from(!v3d.take_faults().is_empty());
    }
    assert!(different > 300, "{different} of 400 lists fail");
}

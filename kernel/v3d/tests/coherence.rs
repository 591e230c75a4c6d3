//! Each clear of a cache that the driver does is needed: without it, the model's coherence check reports a fault.
//!
//! The frames here reuse memory in every way that software has: programs, uniforms and data are replaced at the same addresses, and a texture is rendered
//! between two frames that look it up, while the binner is ahead of the renderer.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use v3d::hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, ClipperXyScaling, ClipperZScaleOffset, ConfigurationBits,
    FrameBufferFormat, GlShaderState, IndexType, IndexedPrimitiveList, MemoryFormat, PrimitiveListFormat,
    PrimitiveMode, Record, StoreGeneral, Threading, TileCoordinates, TileRenderingMode, ViewportOffset,
};
use v3d::hw::primitive_list::{ListDataType, ListPrimitive};
use v3d::hw::qpu::{AddOp, Alu, Condition, Instruction, Mux, Signal};
use v3d::hw::registers::Register;
use v3d::hw::registers::cache::{L2cactl, Slcactl};
use v3d::hw::{BusAddr, Layout};
use v3d::platform::{GpuMemory, Power, PowerError, RegisterAccess, Time};
use v3d::pool::Buffer;
use v3d::record_list::{ControlList, RecordList};
use v3d::shader_record::{Attribute, FragmentProgram, GlRecord, Program};
use v3d::tile_grid::{TileBuffer, TileGrid};
use v3d::tile_memory::{MIN_GROWTH_BYTES, TileMemory, tile_list};
use v3d::user_program::UserProgram;
use v3d::{Driver, Job, Limits};
use v3d_host::Model;
use v3d_sim::device::coherence::{Cache, CoherenceFault};
use v3d_sim::{Config, Fault};

/// What follows a clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Start {
    Binning,
    RenderingAfterBinning,
    RenderingAlone,
    UserPrograms,
}

/// The clears that software must do, by what they precede. The driver does these and no others.
const NEEDED: [(Start, Cache); 18] = [
    (Start::Binning, Cache::Instructions),
    (Start::Binning, Cache::Uniforms),
    (Start::Binning, Cache::Texture(0)),
    (Start::Binning, Cache::Texture(1)),
    (Start::Binning, Cache::L2),
    (Start::RenderingAfterBinning, Cache::Texture(0)),
    (Start::RenderingAfterBinning, Cache::Texture(1)),
    (Start::RenderingAfterBinning, Cache::L2),
    (Start::RenderingAlone, Cache::Instructions),
    (Start::RenderingAlone, Cache::Uniforms),
    (Start::RenderingAlone, Cache::Texture(0)),
    (Start::RenderingAlone, Cache::Texture(1)),
    (Start::RenderingAlone, Cache::L2),
    (Start::UserPrograms, Cache::Instructions),
    (Start::UserPrograms, Cache::Uniforms),
    (Start::UserPrograms, Cache::Texture(0)),
    (Start::UserPrograms, Cache::Texture(1)),
    (Start::UserPrograms, Cache::L2),
];

/// The model as a platform that can withhold a clear from the V3D, and starts rendering lists only when the driver waits.
struct Board {
    model: Model,
    /// The clear that never reaches the V3D.
    withheld: Option<(Start, Cache)>,
    /// Writes to registers of caches since the last start, whose kind is known when it comes.
    cache_writes: RefCell<Vec<(Register, u32)>>,
    /// The job that is submitted next has no binning list.
    alone: Cell<bool>,
    /// The start of a rendering list that waits.
    held: Cell<Option<u32>>,
    /// The clears so far.
    done: RefCell<BTreeSet<(Start, Cache)>>,
}

impl Board {
    fn new(withheld: Option<(Start, Cache)>) -> Self {
        let config = Config { check_coherence: true, ..Config::default() };
        Self {
            model: Model::new(4 << 20, config),
            withheld,
            cache_writes: RefCell::default(),
            alone: Cell::new(false),
            held: Cell::new(None),
            done: RefCell::default(),
        }
    }

    /// Passes on the writes to registers of caches that precede a start, except for what is withheld.
    fn write_caches(&self, start: Start) {
        let slices = |cleared: u8, cache: Cache| {
            if cleared != 0 {
                assert_eq!(cleared, 0xf, "{cache} of some slices only");
                self.done.borrow_mut().insert((start, cache));
            }
            if self.withheld == Some((start, cache)) { 0 } else { cleared }
        };
        for (register, value) in self.cache_writes.take() {
            let value = if register == Register::L2CACTL {
                let word = L2cactl::from_word(value);
                let l2cclr = slices(if word.l2cclr { 0xf } else { 0 }, Cache::L2) != 0;
                L2cactl { l2cclr, ..word }.to_word().unwrap()
            } else {
                let Slcactl { t1ccs, t0ccs, uccs, iccs } = Slcactl::from_word(value);
                let word = Slcactl {
                    t1ccs: slices(t1ccs, Cache::Texture(1)),
                    t0ccs: slices(t0ccs, Cache::Texture(0)),
                    uccs: slices(uccs, Cache::Uniforms),
                    iccs: slices(iccs, Cache::Instructions),
                };
                word.to_word().unwrap()
            };
            self.model.write(register, value);
        }
    }
}

impl RegisterAccess for Board {
    fn read(&self, register: Register) -> u32 {
        self.model.read(register)
    }

    fn write(&self, register: Register, value: u32) {
        match register {
            Register::L2CACTL | Register::SLCACTL => return self.cache_writes.borrow_mut().push((register, value)),
            Register::CT0EA => self.write_caches(Start::Binning),
            Register::CT1EA => {
                self.write_caches(if self.alone.get() { Start::RenderingAlone } else { Start::RenderingAfterBinning });
                return self.held.set(Some(value));
            }
            Register::SRQPC => self.write_caches(Start::UserPrograms),
            _ => {}
        }
        self.model.write(register, value);
    }
}

impl GpuMemory for Board {
    fn base(&self) -> BusAddr {
        self.model.base()
    }

    fn bytes(&self) -> u32 {
        self.model.bytes()
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.model.store(offset, bytes);
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        self.model.load(offset, bytes);
    }
}

impl Time for Board {
    fn now_us(&self) -> u64 {
        self.model.now_us()
    }

    fn wait_until(&self, deadline_us: u64) {
        match self.held.take() {
            Some(end) => self.model.write(Register::CT1EA, end),
            None => self.model.wait_until(deadline_us),
        }
    }
}

impl Power for Board {
    fn reset(&self) -> Result<(), PowerError> {
        self.model.reset()
    }
}

const NOP: u64 = 0x1000_09e7_009e_7000;
/// Write addresses [AG p.37].
const R0: u8 = 32;
const TMU0_S: u8 = 56;
const TLB_COLOR_ALL: u8 = 46;
const VPM: u8 = 48;
const VPM_SETUP: u8 = 49;
/// Read addresses in file B.
const UNIFORM: u8 = 32;
const VPM_READ: u8 = 48;

fn word(alu: Alu) -> u64 {
    Instruction::Alu(alu).encode().unwrap()
}

/// `mov waddr, raddr_b`.
fn copy(waddr_add: u8, raddr_b: u8) -> u64 {
    let [add_a, add_b] = [Mux::B; 2];
    word(Alu { op_add: AddOp::Or, waddr_add, add_a, add_b, raddr_b, cond_add: Condition::Always, ..Alu::NOP })
}

fn signal(sig: Signal) -> u64 {
    word(Alu { sig, ..Alu::NOP })
}

/// `ldi waddr, value` of the add ALU, in file A or B.
fn load(waddr: u8, file_b: bool, value: u32) -> u64 {
    0xe002_0000_0000_0000 | u64::from(waddr) << 38 | 39 << 32 | u64::from(file_b) << 44 | u64::from(value)
}

/// What every program here begins with: it loads a constant, takes two uniforms, and looks up the word whose address the second one is.
fn reading(constant: u32) -> Vec<u64> {
    vec![load(R0, false, constant), copy(R0, UNIFORM), copy(TMU0_S, UNIFORM), signal(Signal::LoadTmu0)]
}

fn ended(mut words: Vec<u64>, last: u64) -> Vec<u8> {
    words.extend([signal(Signal::ProgramEnd), NOP, last]);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A vertex or coordinate shader that copies the rows of its attributes.
fn copies(constant: u32, rows: u32) -> Vec<u8> {
    let setup = |count: u32| count << 20 | 1 << 12 | 1 << 11 | 2 << 8;
    let mut words = vec![load(VPM_SETUP, false, setup(rows)), load(VPM_SETUP, true, setup(0))];
    words.extend(reading(constant));
    words.extend((0..rows).map(|_| copy(VPM, VPM_READ)));
    ended(words, NOP)
}

/// A fragment shader whose colour is the word that it looks up.
fn colours(constant: u32) -> Vec<u8> {
    let r4 = Alu { op_add: AddOp::Or, add_a: Mux::R4, add_b: Mux::R4, cond_add: Condition::Always, ..Alu::NOP };
    let mut words = reading(constant);
    words.extend([signal(Signal::ScoreboardWait), word(Alu { waddr_add: TLB_COLOR_ALL, ..r4 })]);
    ended(words, signal(Signal::ScoreboardUnlock))
}

fn user_program(constant: u32) -> Vec<u8> {
    ended(reading(constant), NOP)
}

/// Side of a picture in pixels: one tile.
const SIDE: u32 = 64;

/// A program with its two uniforms and the data that it looks up. All of it is replaced at the same addresses.
struct Replaceable {
    code: Buffer,
    uniforms: Buffer,
    data: Buffer,
}

impl Replaceable {
    fn new(driver: &mut Driver<'_, Board>) -> Self {
        let mut buffer = || driver.allocate(256, 256).unwrap();
        Self { code: buffer(), uniforms: buffer(), data: buffer() }
    }

    /// Stores the program with the number as its constant, as its first uniform, and as the data; it looks these up, or another address.
    fn store(&self, board: &Board, number: u32, program: &[u8], look_up: Option<BusAddr>) {
        let address = look_up.unwrap_or(self.data.address());
        self.code.region().store(board, 0, program).unwrap();
        self.uniforms.region().store_words(board, &[number, address.0]).unwrap();
        self.data.region().store_words(board, &[number]).unwrap();
    }

    fn program(&self) -> Program {
        Program { code: self.code.address(), uniforms: self.uniforms.address() }
    }
}

/// A job that draws a triangle into a picture.
struct Frame {
    coordinate: Replaceable,
    vertex: Replaceable,
    fragment: Replaceable,
    job: Job,
    /// The rendering list without the wait for the binner.
    alone: ControlList,
    _memory: Vec<Buffer>,
    _tiles: TileMemory,
}

impl Frame {
    fn new(driver: &mut Driver<'_, Board>, picture: BusAddr) -> Self {
        let [coordinate, vertex, fragment] = [(); 3].map(|()| Replaceable::new(driver));
        let grid = TileGrid::new(SIDE, SIDE, TileBuffer::Single).unwrap();
        let tiles = TileMemory::allocate(driver, grid, MIN_GROWTH_BYTES).unwrap();
        let mut memory = Vec::new();
        let mut upload = |bytes: &[u8]| {
            memory.push(driver.upload(bytes, 32).unwrap());
            memory.last().unwrap().address()
        };
        let mut vertices = Vec::new();
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.0, 0.5f32)] {
            let sixteenths = |value: f32| (value * 8.0 * SIDE as f32) as i16 as u16;
            let screen = u32::from(sixteenths(y)) << 16 | u32::from(sixteenths(x));
            vertices.extend([x, y, 0.0, 1.0f32].map(f32::to_bits));
            vertices.extend([screen, 0.5f32.to_bits(), 1.0f32.to_bits()]);
        }
        let vertices = upload(&vertices.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        let indices = upload(&[0, 0, 1, 0, 2, 0]);
        let attribute = |word: u32, words: u16, vertex_offset, coordinate_offset| Attribute {
            address: vertices + 4 * word,
            bytes: 4 * words,
            stride: 28,
            vertex_offset,
            coordinate_offset,
        };
        let record = GlRecord {
            fragment: FragmentProgram { program: fragment.program(), varyings: 0, threading: Threading::Single },
            vertex: vertex.program(),
            coordinate: coordinate.program(),
            attributes: &[attribute(0, 4, None, Some(0)), attribute(4, 3, Some(0), Some(16))],
            point_size: false,
        };
        let record = upload(&record.encode().unwrap());
        let mut list = |records: RecordList| {
            let bytes = records.encode().unwrap();
            let start = upload(&bytes);
            ControlList { start, end_exclusive: start + bytes.len() as u32 }
        };
        let mode = tiles.binning_mode();
        let mut binning = RecordList::new();
        binning.push(mode);
        binning.push(Record::StartTileBinning);
        binning.push(PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles });
        binning.push(ClipWindow { left: 0, bottom: 0, width: SIDE as u16, height: SIDE as u16 });
        binning.push(ConfigurationBits { forward_facing: true, reverse_facing: true, ..ConfigurationBits::default() });
        binning.push(ViewportOffset { x: 8 * SIDE as i16, y: 8 * SIDE as i16 });
        binning.push(ClipperXyScaling { half_width: 8.0 * SIDE as f32, half_height: 8.0 * SIDE as f32 });
        binning.push(ClipperZScaleOffset { scale: 0.5, offset: 0.5 });
        binning.push(GlShaderState { address: record.into(), extended: false, attribute_arrays: 2 });
        binning.push(IndexedPrimitiveList {
            maximum_index: 2,
            address: indices,
            length: 3,
            index_type: IndexType::Bits16,
            mode: PrimitiveMode::Triangles,
        });
        binning.push(Record::IncrementSemaphore);
        binning.push(Record::Flush);
        let rendering = |waits: bool| {
            let mut rendering = RecordList::new();
            rendering.push(TileRenderingMode {
                memory_format: MemoryFormat::Raster,
                color_format: FrameBufferFormat::Rgba8888,
                height: SIDE as u16,
                width: SIDE as u16,
                address: picture,
                ..TileRenderingMode::default()
            });
            rendering.push(ClearColors { color: 0x4433_2211_4433_2211, ..ClearColors::default() });
            rendering.push(TileCoordinates { row: 0, column: 0 });
            rendering.push(StoreGeneral::default());
            rendering.push(TileCoordinates { row: 0, column: 0 });
            if waits {
                rendering.push(Record::WaitOnSemaphore);
            }
            rendering.push(BranchToSubList { address: tile_list(tiles.lists(), &grid, 0, 0) });
            rendering.push(Record::StoreResolvedEndOfFrame);
            rendering
        };
        let job = Job { binning: Some(list(binning)), rendering: list(rendering(true)) };
        let alone = list(rendering(false));
        Self { coordinate, vertex, fragment, job, alone, _memory: memory, _tiles: tiles }
    }

    /// Stores the programs with this number, and what the fragment shader looks up. The others look up its data, which a rendering list thus leaves in the
    /// TMUs' caches for the next binning list.
    fn store(&self, board: &Board, number: u32, look_up: Option<BusAddr>) {
        let data = Some(self.fragment.data.address());
        self.coordinate.store(board, number, &copies(number, 7), data);
        self.vertex.store(board, number, &copies(number, 3), data);
        self.fragment.store(board, number, &colours(number), look_up);
    }
}

/// Uses memory again in all ways, and returns the model's faults.
fn reuse_memory(board: &Board) -> Vec<Fault> {
    let mut driver = Driver::bring_up(board, &board.model.interrupts, Limits::default()).unwrap();
    let pictures = [(); 2].map(|()| driver.allocate(4 * SIDE * SIDE, 4096).unwrap());
    let [screen, texture] = [&pictures[0], &pictures[1]].map(Buffer::address);
    let frames = [screen, texture, screen].map(|picture| Frame::new(&mut driver, picture));

    // A frame is drawn again with other programs, uniforms and data.
    for number in 1..=3 {
        frames[0].store(board, number, None);
        let fence = driver.submit(frames[0].job);
        driver.wait(fence).unwrap();
        assert_eq!(
            pictures[0].region().load_word(board, 4 * (32 * SIDE + 32)).unwrap(),
            number,
            "the triangle's colour"
        );
    }
    // Only its fragments are shaded anew.
    board.alone.set(true);
    for number in 4..=5 {
        frames[0].fragment.store(board, number, &colours(number), None);
        let fence = driver.submit(Job { binning: None, rendering: frames[0].alone });
        driver.wait(fence).unwrap();
        assert_eq!(
            pictures[0].region().load_word(board, 4 * (32 * SIDE + 32)).unwrap(),
            number,
            "the triangle's colour"
        );
    }
    board.alone.set(false);
    // One frame looks a texture up, the next one renders it, the third one looks it up again. All are binned before the first is rendered.
    frames[0].store(board, 6, Some(texture));
    frames[1].store(board, 7, None);
    frames[2].store(board, 8, Some(texture));
    let fences = frames.each_ref().map(|frame| driver.submit(frame.job));
    driver.wait(fences[2]).unwrap();
    assert_eq!(
        pictures[0].region().load_word(board, 4 * (32 * SIDE + 32)).unwrap(),
        0x4433_2211,
        "the texture's colour"
    );

    let program = Replaceable::new(&mut driver);
    for number in 9..=10 {
        program.store(board, number, &user_program(number), None);
        let Program { code, uniforms } = program.program();
        driver.run_programs(&[UserProgram { code, uniforms, uniform_count: 2 }], 1_000_000).unwrap();
    }
    board.model.take_faults()
}

#[test]
fn without_any_one_of_the_clears_a_board_may_read_old_data() {
    for clear in NEEDED {
        let faults = reuse_memory(&Board::new(Some(clear)));
        let tells_of_it = |fault: &Fault| matches!(fault, Fault::Coherence(CoherenceFault::StaleLines { cache, .. }) if *cache == clear.1);
        assert!(!faults.is_empty() && faults.iter().all(tells_of_it), "without {clear:?}: {faults:?}");
    }
}

#[test]
fn the_driver_clears_what_is_needed_and_nothing_else() {
    let board = Board::new(None);
    assert_eq!(reuse_memory(&board), []);
    assert_eq!(*board.done.borrow(), BTreeSet::from(NEEDED));
}

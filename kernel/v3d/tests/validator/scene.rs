//! A job in memory that the validator accepts, for tests that change it.
//!
//! It consists of records and instructions only, and draws one indexed triangle into a raster picture. Its coordinate and vertex shaders copy their attributes;
//! its fragment shader interpolates three varyings and stores them as a colour.

use v3d::Job;
use v3d::hw::BusAddr;
use v3d::hw::control_list::{
    BranchToSubList, ClearColors, ClipWindow, ClipperXyScaling, ClipperZScaleOffset, ConfigurationBits,
    FrameBufferFormat, GlShaderState, IndexType, IndexedPrimitiveList, MemoryFormat, PrimitiveListFormat,
    PrimitiveMode, Record, StoreGeneral, Threading, TileCoordinates, TileRenderingMode, ViewportOffset,
};
use v3d::hw::primitive_list::{ListDataType, ListPrimitive};
use v3d::hw::qpu::{AddOp, Alu, Condition, Instruction, MulOp, Mux, Signal};
use v3d::hw::registers::Thread;
use v3d::platform::GpuMemory;
use v3d::record_list::{ControlList, RecordList};
use v3d::shader_record::{Attribute, FragmentProgram, GlRecord, Program};
use v3d::tile_grid::{TileBuffer, TileGrid};
use v3d::tile_memory::{self, STATE_BYTES};
use v3d::validator::{self, Refusal, Rights, Span};
use v3d_sim::memory::{Limits, OwnedMemory};
use v3d_sim::{Config, Fault, Memory, V3d};

pub(crate) const WIDTH: u32 = 200;
pub(crate) const HEIGHT: u32 = 100;
/// Size of the pool in bytes; the lower half is unused.
const POOL_BYTES: u32 = 4 << 20;

/// Offsets in the pool.
const BINNING: u32 = 0x30_0000;
const RENDERING: u32 = 0x30_1000;
const RECORD: u32 = 0x30_2000;
const COORDINATE: u32 = 0x30_3000;
const VERTEX: u32 = 0x30_3400;
const FRAGMENT: u32 = 0x30_3800;
const UNIFORMS: u32 = 0x30_4000;
const VERTICES: u32 = 0x30_5000;
const INDICES: u32 = 0x30_6000;
const TILE_STATE: u32 = 0x31_0000;
const TILE_LISTS: u32 = 0x31_1000;
/// The picture's size; a test places the picture there.
const TILE_LIST_BYTES: u32 = 0x1_4000;
const PICTURE: u32 = 0x33_0000;
/// Memory for tests: a program, its uniforms, and data.
const OWN_PROGRAM: u32 = 0x20_0000;
const OWN_UNIFORMS: u32 = 0x21_0000;
const OWN_DATA: u32 = 0x22_0000;

/// Varyings of the job's vertices.
const VARYINGS: u8 = 3;

/// The job's memory. It does not start at 0, so that a null address is invalid.
pub(crate) struct Pool(OwnedMemory);

impl Pool {
    const OFFSET: u32 = 0x10_0000;
}

impl GpuMemory for Pool {
    fn base(&self) -> BusAddr {
        BusAddr(BusAddr::UNCACHED | Self::OFFSET)
    }

    fn bytes(&self) -> u32 {
        POOL_BYTES
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.0.view().write(self.base() + offset, bytes).unwrap();
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        self.0.view().read(self.base() + offset, bytes).unwrap();
    }
}

/// A job in memory, with its rights.
pub(crate) struct Scene {
    pub(crate) pool: Pool,
    pub(crate) job: Job,
    pub(crate) rights: Rights,
    /// Memory that the job may read besides what it may write.
    pub(crate) readable: Vec<Span>,
    pub(crate) writable: Vec<Span>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of(TileGrid::new(WIDTH, HEIGHT, TileBuffer::Single).unwrap(), WIDTH)
    }

    /// A job with these tiles and this pitch in pixels.
    pub(crate) fn of(grid: TileGrid, row_px: u32) -> Self {
        let pool = Pool(OwnedMemory::new((Pool::OFFSET + POOL_BYTES) as usize));
        let at = |offset: u32| pool.base() + offset;
        let words = |offset: u32, words: &[u64]| {
            pool.store(offset, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        };
        words(COORDINATE, &copies(7));
        words(VERTEX, &copies(6));
        words(FRAGMENT, &colour());
        pool.store(UNIFORMS, &1.0f32.to_le_bytes());
        let mut vertices = Vec::new();
        for (x, y, color) in
            [(-0.5, -0.5, [1.0, 0.0, 0.0]), (0.5, -0.5, [0.0, 1.0, 0.0]), (0.0, 0.5, [0.0, 0.0, 1.0f32])]
        {
            let clip = [x, y, 0.0, 1.0f32].map(f32::to_bits);
            let sixteenths = |value: f32, side: u32| (value * 8.0 * side as f32) as i16 as u16;
            let screen = u32::from(sixteenths(y, HEIGHT)) << 16 | u32::from(sixteenths(x, WIDTH));
            vertices.extend(clip);
            vertices.extend([screen, 0.5f32.to_bits(), 1.0f32.to_bits()]);
            vertices.extend(color.map(f32::to_bits));
        }
        pool.store(VERTICES, &vertices.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        pool.store(INDICES, &[0, 0, 1, 0, 2, 0]);
        let attribute = |word: u32, words: u16, vertex_offset, coordinate_offset| Attribute {
            address: at(VERTICES) + 4 * word,
            bytes: 4 * words,
            stride: 40,
            vertex_offset,
            coordinate_offset,
        };
        let program = |code| Program { code: at(code), uniforms: at(UNIFORMS) };
        let record = GlRecord {
            fragment: FragmentProgram { program: program(FRAGMENT), varyings: VARYINGS, threading: Threading::Single },
            vertex: program(VERTEX),
            coordinate: program(COORDINATE),
            attributes: &[
                attribute(0, 4, None, Some(0)),
                attribute(4, 3, Some(0), Some(16)),
                attribute(7, 3, Some(12), None),
            ],
            point_size: false,
        };
        pool.store(RECORD, &record.encode().unwrap());
        let list = |offset: u32, records: RecordList| {
            let bytes = records.encode().unwrap();
            pool.store(offset, &bytes);
            ControlList { start: at(offset), end_exclusive: at(offset) + bytes.len() as u32 }
        };
        let binning = Some(list(BINNING, binning_list(&grid, pool.base())));
        let rendering = list(RENDERING, rendering_list(&grid, row_px, pool.base()));
        let span = |offset, bytes| Span { address: at(offset), bytes };
        let writable = vec![
            span(TILE_STATE, STATE_BYTES * grid.tiles()),
            span(TILE_LISTS, TILE_LIST_BYTES),
            span(PICTURE, 4 * row_px * HEIGHT),
        ];
        let readable = around(&pool, &writable);
        let rights = Rights::new(&readable, &writable).unwrap();
        Self { job: Job { binning, rendering }, rights, readable, writable, pool }
    }

    /// Removes the right to read some memory.
    pub(crate) fn forbid(&mut self, span: Span) {
        let mut holes = self.writable.clone();
        holes.push(span);
        self.readable = around(&self.pool, &holes);
        self.rights = Rights::new(&self.readable, &self.writable).unwrap();
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        validator::check(&self.pool, &self.rights, &self.job)
    }

    pub(crate) fn list(&self, thread: Thread) -> ControlList {
        match thread {
            Thread::Binning => self.job.binning.unwrap(),
            Thread::Rendering => self.job.rendering,
        }
    }

    /// The end of the pool.
    pub(crate) fn end(&self) -> BusAddr {
        self.pool.base() + self.pool.bytes()
    }

    pub(crate) fn store(&self, address: BusAddr, bytes: &[u8]) {
        self.pool.store(address - self.pool.base(), bytes);
    }

    pub(crate) fn load(&self, address: BusAddr, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.pool.load(address - self.pool.base(), &mut bytes);
        bytes
    }

    /// The verdict while these bytes are at `address`.
    pub(crate) fn refusal_with(&self, address: BusAddr, bytes: &[u8]) -> Option<Refusal> {
        let before = self.load(address, bytes.len());
        self.store(address, bytes);
        let answer = self.check();
        self.store(address, &before);
        answer.err()
    }

    /// Where the shader record is.
    pub(crate) fn record(&self) -> BusAddr {
        self.pool.base() + RECORD
    }

    /// Where the fragment shader is.
    pub(crate) fn fragment_code(&self) -> BusAddr {
        self.pool.base() + FRAGMENT
    }

    /// Unused half of the pool.
    pub(crate) fn pool_start(&self) -> BusAddr {
        self.pool.base()
    }

    /// Unused memory after the test's program and uniforms.
    pub(crate) fn data(&self) -> BusAddr {
        self.pool.base() + OWN_DATA
    }

    /// Where the uniforms of a fragment shader of one's own are.
    pub(crate) fn uniforms(&self) -> BusAddr {
        self.pool.base() + OWN_UNIFORMS
    }

    /// Replaces the job's fragment shader and its uniforms. Code that reads the varyings and ends is appended to `words`.
    pub(crate) fn set_fragment(&self, threading: Threading, words: &[u64], uniforms: &[u32]) {
        let vary = word(Alu { raddr_b: 35, ..Alu::NOP });
        let end = [vary, vary, vary, word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), NOP, NOP];
        let words: Vec<u64> = words.iter().chain(&end).copied().collect();
        self.set_fragment_words(threading, &words, uniforms);
    }

    /// The same without appending anything.
    pub(crate) fn set_fragment_words(&self, threading: Threading, words: &[u64], uniforms: &[u32]) {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.pool.store(OWN_PROGRAM, &code);
        let stream: Vec<u8> = uniforms.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.pool.store(OWN_UNIFORMS, &stream);
        let base = self.pool.base();
        let pointers: Vec<u8> =
            [base + OWN_PROGRAM, base + OWN_UNIFORMS].iter().flat_map(|word| word.0.to_le_bytes()).collect();
        self.pool.store(RECORD + 4, &pointers);
        let flags = self.load(self.record(), 1)[0] & !1 | u8::from(threading == Threading::Single);
        self.pool.store(RECORD, &[flags]);
    }

    /// Replaces the vertex shader or, at 24, the coordinate shader.
    pub(crate) fn set_vertex_words(&self, at: u32, words: &[u64]) {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.pool.store(OWN_PROGRAM, &code);
        self.pool.store(RECORD + at + 4, &(self.pool.base() + OWN_PROGRAM).0.to_le_bytes());
    }

    /// Runs the job in a memory that contains only what it has a right to, and returns the model's faults.
    pub(crate) fn run(&self) -> Vec<Fault> {
        run_within(self.pool.0.view(), &self.job, &self.readable, &self.writable)
    }
}

/// Runs a job in a memory that contains only some ranges.
pub(crate) fn run_within(memory: Memory<'_>, job: &Job, readable: &[Span], writable: &[Span]) -> Vec<Fault> {
    let range = |span: &Span| {
        let start = u64::from(span.address.offset());
        start..start + u64::from(span.bytes)
    };
    let [readable, writable] = [readable, writable].map(|spans| spans.iter().map(range).collect::<Vec<_>>());
    let limits = Limits::new(memory, &readable, &writable);
    let memory = Memory::limited(&limits);
    let config = Config { instruction_budget: 2_000_000, record_budget: 100_000, parallel: false, ..Config::default() };
    let mut device = V3d::new(config);
    use v3d_sim::Register;
    let mut write = |register: Register, value: u32| device.write(&memory, register.offset(), value);
    write(Register::VPMBASE, 16);
    if let Some(binning) = job.binning {
        write(Register::CT0CA, binning.start.0);
        write(Register::CT0EA, binning.end_exclusive.0);
    }
    write(Register::CT1CA, job.rendering.start.0);
    write(Register::CT1EA, job.rendering.end_exclusive.0);
    device.take_faults()
}

/// The whole pool except for some holes.
fn around(pool: &Pool, holes: &[Span]) -> Vec<Span> {
    let mut holes = holes.to_vec();
    holes.sort_by_key(|span| span.address);
    let mut spans = Vec::new();
    let mut start = pool.base();
    for hole in &holes {
        spans.push(Span { address: start, bytes: hole.address - start });
        start = hole.address + hole.bytes;
    }
    spans.push(Span { address: start, bytes: pool.base() + pool.bytes() - start });
    spans
}

fn binning_list(grid: &TileGrid, base: BusAddr) -> RecordList {
    let mut list = RecordList::new();
    list.push(tile_memory::binning_mode(grid, base + TILE_STATE, base + TILE_LISTS, TILE_LIST_BYTES));
    list.push(Record::StartTileBinning);
    list.push(PrimitiveListFormat { data_type: ListDataType::Index16, primitive: ListPrimitive::Triangles });
    list.push(ClipWindow { left: 0, bottom: 0, width: WIDTH as u16, height: HEIGHT as u16 });
    list.push(ConfigurationBits { forward_facing: true, reverse_facing: true, ..ConfigurationBits::default() });
    list.push(ViewportOffset { x: 8 * WIDTH as i16, y: 8 * HEIGHT as i16 });
    list.push(ClipperXyScaling { half_width: 8.0 * WIDTH as f32, half_height: 8.0 * HEIGHT as f32 });
    list.push(ClipperZScaleOffset { scale: 0.5, offset: 0.5 });
    list.push(GlShaderState { address: (base + RECORD).into(), extended: false, attribute_arrays: 3 });
    list.push(IndexedPrimitiveList {
        maximum_index: 2,
        address: base + INDICES,
        length: 3,
        index_type: IndexType::Bits16,
        mode: PrimitiveMode::Triangles,
    });
    list.push(Record::IncrementSemaphore);
    list.push(Record::Flush);
    list
}

fn rendering_list(grid: &TileGrid, row_px: u32, base: BusAddr) -> RecordList {
    let mut list = RecordList::new();
    list.push(TileRenderingMode {
        memory_format: MemoryFormat::Raster,
        color_format: FrameBufferFormat::Rgba8888,
        double_buffer: grid.buffer.is_double(),
        height: HEIGHT as u16,
        width: row_px as u16,
        address: base + PICTURE,
        ..TileRenderingMode::default()
    });
    list.push(ClearColors::default());
    // An empty store clears a tile buffer, and with two, the next store applies to the other one.
    for _ in 0..1 + u8::from(grid.buffer.is_double()) {
        list.push(TileCoordinates { row: 0, column: 0 });
        list.push(StoreGeneral::default());
    }
    for tile in 0..grid.tiles() {
        let (row, column) = ((tile / u32::from(grid.columns)) as u8, (tile % u32::from(grid.columns)) as u8);
        list.push(TileCoordinates { row, column });
        if tile == 0 {
            list.push(Record::WaitOnSemaphore);
        }
        let address = tile_memory::tile_list(base + TILE_LISTS, grid, row, column);
        list.push(BranchToSubList { address });
        let last = tile + 1 == grid.tiles();
        list.push(if last { Record::StoreResolvedEndOfFrame } else { Record::StoreResolved });
    }
    list
}

/// The records of a list with their offsets.
pub(crate) fn records(pool: &Pool, list: ControlList) -> Vec<(u32, Record)> {
    let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
    pool.load(list.start - pool.base(), &mut bytes);
    let (mut records, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let record = Record::decode(&bytes[at..]).unwrap();
        records.push((at as u32, record));
        at += record.bytes();
    }
    records
}

/// The word of an instruction.
pub(crate) fn word(alu: Alu) -> u64 {
    Instruction::Alu(alu).encode().unwrap()
}

/// `nop`.
pub(crate) const NOP: u64 = 0x1000_09e7_009e_7000;

/// An operation of the add ALU; file B reads the next uniform.
pub(crate) fn add(op_add: AddOp, waddr_add: u8, [add_a, add_b]: [Mux; 2]) -> Alu {
    Alu { op_add, waddr_add, add_a, add_b, raddr_b: 32, cond_add: Condition::Always, ..Alu::NOP }
}

/// `ldi waddr, value`, with the address's meaning in file A.
pub(crate) fn load(waddr: u64, value: u32) -> u64 {
    0xe002_0000_0000_0000 | waddr << 38 | 39 << 32 | u64::from(value)
}

/// The same in file B.
pub(crate) fn load_b(waddr: u64, value: u32) -> u64 {
    load(waddr, value) | 1 << 44
}

/// A branch over some instructions after its delay slots, always or if any element's Z is set.
pub(crate) fn branch(always: bool, instructions: i32) -> u64 {
    let condition: u64 = if always { 15 } else { 2 };
    0xf008_09e7_0000_0000 | condition << 52 | u64::from((8 * instructions) as u32)
}

/// Set-up for this number of rows of the VPM, starting at row 0.
pub(crate) const fn rows(count: u32) -> u32 {
    count << 20 | 1 << 12 | 1 << 11 | 2 << 8
}

/// Reads a row of the VPM and writes it back.
pub(crate) fn copy_row() -> u64 {
    word(Alu { raddr_b: 48, ..add(AddOp::Or, 48, [Mux::B, Mux::B]) })
}

/// A shader that reads a uniform and copies rows.
pub(crate) fn copies(count: u32) -> Vec<u64> {
    let mut words =
        vec![load(49, rows(count)), load_b(49, rows(0)), word(add(AddOp::Or, 32, [Mux::B, Mux::B])), NOP, NOP];
    words.extend((0..count).map(|_| copy_row()));
    words.extend([word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }), NOP, NOP]);
    words
}

/// A shader that stores three varyings as a colour.
fn colour() -> Vec<u64> {
    let mut words = Vec::new();
    for channel in 0..VARYINGS {
        let scaled = Alu {
            op_mul: MulOp::Fmul,
            mul_a: Mux::A,
            mul_b: Mux::B,
            raddr_a: 15,
            raddr_b: 35,
            waddr_mul: 32,
            cond_mul: Condition::Always,
            ..Alu::NOP
        };
        words.push(word(scaled));
        words.push(word(Alu { raddr_b: 39, ..add(AddOp::Fadd, 33, [Mux::R0, Mux::R5]) }));
        words.push(word(packed(Mux::R1, channel)));
    }
    // Alpha is 1: the small immediate 32 is 1.0.
    words.push(word(packed(Mux::B, 3)));
    words.push(word(Alu { sig: Signal::ScoreboardWait, ..Alu::NOP }));
    words.push(word(Alu { raddr_b: 39, ..add(AddOp::Or, 46, [Mux::R3, Mux::R3]) }));
    words.push(word(Alu { sig: Signal::ProgramEnd, ..Alu::NOP }));
    words.extend([NOP, word(Alu { sig: Signal::ScoreboardUnlock, ..Alu::NOP })]);
    words
}

/// `fmul r3.8x, operand, 1.0`.
fn packed(operand: Mux, byte: u8) -> Alu {
    Alu {
        sig: Signal::SmallImmediate,
        raddr_b: 32,
        pm: true,
        pack: 4 + byte,
        op_mul: MulOp::Fmul,
        mul_a: operand,
        mul_b: Mux::B,
        waddr_mul: 35,
        cond_mul: Condition::Always,
        ..Alu::NOP
    }
}

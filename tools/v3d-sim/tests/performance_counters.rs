//! Performance counters through the registers: user programs whose counts are known by hand.
//!
//! Counters of binning and rendering are tested with these units. The expected cycles follow from the timing model's table of costs: an instruction takes 4
//! cycles; a line of 64 bytes takes 69 cycles from an open row of the SDRAM, 79 if the row must be opened, and 15 more if it waits for the first uniforms to be
//! read.

use std::path::Path;
use v3d_hw::BusAddr;
use v3d_hw::registers::performance::CounterSource;
use v3d_sim::counters::Counters;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::run_folder;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, Register, V3d};

use CounterSource::{
    InstructionCacheHits, InstructionCacheMisses, L2CacheHits, L2CacheMisses, QpuFragmentCycles, QpuIdleCycles,
    QpuInstructionCycles, QpuTmuStallCycles, QpuVertexCycles, TmuCacheMisses, TmuQuads, UniformsCacheHits,
    UniformsCacheMisses, VcdStallCycles, VdwStallCycles,
};

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x2000;
const DATA: u32 = 0x8000;

/// Eleven instructions, in two cache lines.
const STRAIGHT: &str = "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nthrend\nnop\nnop";

/// A V3D with a program in its memory.
struct Board {
    memory: OwnedMemory,
    v3d: V3d,
}

impl Board {
    fn new(source: &str, uniforms: &[u32]) -> Self {
        let mut board = Self { memory: OwnedMemory::new(0x2_0000), v3d: V3d::new(Config::default()) };
        let program = qpu::assemble(&[qpu::Source::new("test", source)], &qpu::Options::default());
        let program = program.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        for (at, half) in (0..).zip(program.halves()) {
            board.memory.view().set_word(BusAddr(CODE + 4 * at), half).unwrap();
        }
        for (at, word) in (0..).zip(uniforms) {
            board.memory.view().set_word(BusAddr(UNIFORMS + 4 * at), *word).unwrap();
        }
        board.write(Register::VPMBASE, 16);
        board
    }

    fn write(&mut self, register: Register, value: u32) {
        self.v3d.write(&self.memory.view(), register.offset(), value);
    }

    fn counter(n: usize) -> u32 {
        Register::PCTR0.offset() + 8 * n as u32
    }

    /// Counts some sources from now on.
    fn count(&mut self, sources: impl Iterator<Item = CounterSource>) {
        let mut enables = 1 << 31;
        for (n, source) in sources.enumerate() {
            self.v3d.write(&self.memory.view(), Self::counter(n) + 4, u32::from(source.code()));
            enables |= 1 << n;
        }
        self.write(Register::PCTRC, 0xffff);
        self.write(Register::PCTRE, enables);
    }

    fn run(&mut self, times: usize) {
        for _ in 0..times {
            self.write(Register::SRQUL, 8);
            self.write(Register::SRQUA, UNIFORMS);
            self.write(Register::SRQPC, CODE);
        }
        assert_eq!(self.v3d.take_faults(), []);
    }

    fn read(&mut self, n: usize) -> u32 {
        self.v3d.read(&self.memory.view(), Self::counter(n))
    }
}

/// Runs a program several times in succession on the same QPU, and compares the counters.
fn check(source: &str, uniforms: &[u32], times: usize, expected: &[(CounterSource, u32)]) {
    let mut board = Board::new(source, uniforms);
    board.count(expected.iter().map(|(source, _)| *source));
    board.run(times);
    for (n, (source, count)) in expected.iter().enumerate() {
        assert_eq!(board.read(n), *count, "{source}");
    }
}

/// Boards count every access as a "hit", including misses, and fetch two uniforms even if none is read.
#[test]
fn instructions_and_their_caches() {
    let caches = [
        (InstructionCacheHits, 11),
        (InstructionCacheMisses, 2),
        (UniformsCacheHits, 2),
        (UniformsCacheMisses, 1),
        (L2CacheHits, 0),
        (L2CacheMisses, 3),
        (QpuVertexCycles, 0),
        (QpuFragmentCycles, 0),
    ];
    check(STRAIGHT, &[], 1, &caches);
    // Two lines and eleven instructions: 94 + 69 + 44 cycles in which eleven QPUs are idle.
    check(STRAIGHT, &[], 1, &[(QpuInstructionCycles, 44), (QpuIdleCycles, 11 * 207)]);
    check(STRAIGHT, &[], 2, &[(QpuInstructionCycles, 88), (QpuIdleCycles, 11 * 251), (L2CacheMisses, 3)]);
    check(STRAIGHT, &[], 2, &[(InstructionCacheHits, 22), (InstructionCacheMisses, 2), (UniformsCacheHits, 4)]);
}

/// Eight reads, and two uniforms fetched in advance.
#[test]
fn uniforms_that_are_read() {
    let source = "mov r0, unif\n".repeat(8) + "thrend\nnop\nnop";
    check(&source, &[1, 2, 3, 4, 5, 6, 7, 8], 1, &[(UniformsCacheHits, 10), (UniformsCacheMisses, 1)]);
}

/// Loads words `1 << shift` bytes apart; its eight instructions are in one cache line.
fn lookup(shift: u32) -> String {
    format!("shl r0, elem_num, {shift}\nnop\nmov r1, unif\nadd t0s, r0, r1\nldtmu0\nthrend\nnop\nnop")
}

#[test]
fn words_looked_up_by_a_tmu() {
    // One line from memory: 46 + 79 cycles.
    let near = [(TmuQuads, 16), (TmuCacheMisses, 1), (QpuTmuStallCycles, 125), (L2CacheMisses, 3)];
    check(&lookup(2), &[DATA], 1, &near);
    // The second time, the line is still in the cache.
    check(&lookup(2), &[DATA], 2, &[(TmuQuads, 32), (TmuCacheMisses, 1), (QpuTmuStallCycles, 125 + 46)]);
    // Across the end of a line: the second line follows 8 cycles later.
    check(&lookup(2), &[DATA + 4], 1, &[(TmuCacheMisses, 2), (QpuTmuStallCycles, 133)]);
    // Sixteen lines.
    let far = [(TmuQuads, 16), (TmuCacheMisses, 16), (QpuTmuStallCycles, 125 + 15 * 8), (L2CacheMisses, 18)];
    check(&lookup(6), &[DATA], 1, &far);
}

/// An 8x8 texture of RGBA8888 without filters; all pixels of the four quads read one texel.
#[test]
fn a_texture_looked_up_by_a_tmu() {
    let source = "mov r0, 0\nnop\nmov t0t, r0\nmov t0s, r0\nldtmu0\nthrend\nnop\nnop";
    let nearest = 8 << 20 | 8 << 8 | 1 << 7 | 1 << 4;
    check(source, &[DATA, nearest], 1, &[(TmuQuads, 4), (TmuCacheMisses, 1), (UniformsCacheHits, 4)]);
}

/// After a first-level cache is cleared, lines come from L2; after L2 is cleared, they come from memory. This applies to the lines of the program, its uniforms
/// and its data.
#[test]
fn caches_that_are_cleared() {
    for (register, value, hits, misses) in [
        (Register::SLCACTL, 0x0f0f_0f0f, 3, 0),
        (Register::SLCACTL, 0x0000_0f00, 1, 0),
        (Register::L2CACTL, 0x4, 0, 0),
        (Register::L2CACTL, 0x2, 0, 0),
    ] {
        let mut board = Board::new(&lookup(2), &[DATA]);
        board.count([L2CacheHits, L2CacheMisses].into_iter());
        board.run(1);
        assert_eq!((board.read(0), board.read(1)), (0, 3));
        board.write(register, value);
        board.run(1);
        assert_eq!((board.read(0), board.read(1)), (hits, 3 + misses), "{register} = {value:#x}");
        board.write(Register::SLCACTL, 0x0f0f_0f0f);
        board.write(Register::L2CACTL, 0x4 | 0x1);
        board.run(1);
        assert_eq!((board.read(0), board.read(1)), (hits, 6 + misses), "all again");
    }
}

/// A program writes to the VPM while DMA needs the VPM's port, which the write occupies for 4 cycles. The first run is ignored, as its write waits for an
/// instruction fetch.
#[test]
fn dma_that_waits_for_the_vpm() {
    let program = |setup: &str, start: &str, nops: usize, wait: &str| {
        let between = "nop\n".repeat(nops);
        format!(
            "
            {setup}
            mov r0, elem_num
            mov r1, unif
            ldi vw_setup, 0x1a00
            nop
            nop
            nop
            mov {start}, r1
            {between}
            mov vpm, r0
            read {wait}
            thrend
            nop
            nop
            "
        )
    };
    // Lines leave the VPM 40 and 54 cycles after the start.
    let store = program("ldi vw_setup, 0x81104000 # two rows of 16 words from row 0", "vw_addr", 9, "vw_wait");
    check(&store, &[DATA], 2, &[(VdwStallCycles, 4), (VcdStallCycles, 0)]);
    // Lines come 24 and 47 cycles after the start.
    let load = program("ldi vr_setup, 0x83021000 # two rows of 16 words to row 0", "vr_addr", 5, "vr_wait");
    check(&load, &[DATA], 2, &[(VdwStallCycles, 0), (VcdStallCycles, 4)]);
}

/// Counters count only while they are enabled.
#[test]
fn the_clock_is_there_while_a_counter_asks_for_it() {
    let mut board = Board::new(STRAIGHT, &[]);
    board.run(1);
    board.count([InstructionCacheMisses].into_iter());
    board.run(1);
    assert_eq!(board.read(0), 2);
    board.write(Register::PCTRE, 1 << 31);
    board.run(1);
    board.write(Register::PCTRE, 1 << 31 | 1);
    // A new clock has empty caches.
    board.run(1);
    assert_eq!(board.read(0), 4);
    assert_eq!(board.v3d.counters().get(QpuInstructionCycles), 4 * 44);
}

/// Frames of Mesa's driver, with and without the timing model, on one and on several host threads.
#[test]
fn counting_changes_nothing_but_counts() {
    for name in ["lit_textured", "msaa_tri", "varyings8", "overflow_bin_mem"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name);
        let folder = JobFolder::open(&path).unwrap();
        let run = |estimate, parallel| {
            let outcome = run_folder(&folder, Config { estimate, parallel, ..Config::default() }).unwrap();
            let last = outcome.jobs.into_iter().last().unwrap();
            (last.memory.to_bytes(), last.counters)
        };
        let (plain, without) = run(false, true);
        let (memory, counters) = run(true, true);
        assert!(plain == memory, "{name}: memory differs");
        let (memory, serial) = run(true, false);
        assert!(plain == memory, "{name}: memory differs on one thread");
        let counts =
            |counters: &Counters| CounterSource::ALL.iter().map(|source| counters.get(*source)).collect::<Vec<_>>();
        assert_eq!(counts(&counters), counts(&serial), "{name}: host threads show");
        for source in [QpuInstructionCycles, TmuQuads, CounterSource::TlbQuadsWritten] {
            assert_eq!(counters.get(source), without.get(source), "{name}: {source}");
        }
        let [instructions, uniforms, textures, hits, misses] =
            [InstructionCacheMisses, UniformsCacheMisses, TmuCacheMisses, L2CacheHits, L2CacheMisses]
                .map(|source| counters.get(source));
        assert_eq!(instructions + uniforms + textures, hits + misses, "{name}");
        // Vertices that are shaded again for another tile are fetched, but counted once.
        let executing = 4 * counters.get(InstructionCacheHits);
        assert!(executing >= counters.get(QpuInstructionCycles), "{name}");
        // Each QPU is idle, executes or waits.
        let waiting: u64 = counters.programs().map(|(_, events)| events.stalls.total()).sum();
        let all = counters.get(QpuIdleCycles) + executing + waiting;
        assert_eq!(all, 12 * counters.elapsed_cycles(), "{name}");
        let shading = counters.get(QpuVertexCycles) + counters.get(QpuFragmentCycles);
        assert_eq!(shading, counters.get(QpuInstructionCycles) + waiting, "{name}");
    }
}

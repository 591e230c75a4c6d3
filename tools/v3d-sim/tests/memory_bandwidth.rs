//! Memory bandwidth of user programs, compared with measurements on boards.
//!
//! [gpu_fft.txt] are the run times that Andrew Holme published with GPU_FFT 3.0 (in raspberrypi/userland), on a Raspberry Pi 1 at 250 MHz: 2^14 points
//! 1.2 ms, 2^15 3.3 ms, 2^16 7.0 ms, 2^17 17 ms, 2^18 43 ms.

use v3d_hw::BusAddr;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::timing::memory::Traffic;
use v3d_sim::{Config, Register, V3d};

const CODE: u32 = 0x1000;
const GATE: u32 = 0x2000;
const UNIFORMS: u32 = 0x3000;
const DATA: u32 = 0x10_0000;
/// Bytes of data.
const SIZE: u32 = 4 << 20;
/// The alias through which GPU_FFT reaches memory on a Raspberry Pi 1: the chip's cache is used.
const CACHED: u32 = 0x4000_0000;
const MHZ: f64 = 250.0;

/// The number of transfers that a program starts before it waits for them.
const STARTS: u32 = 16;

/// Stores or loads sixteen blocks at a time and waits for them. Uniforms: two set-up words, the address of the first block, the distance between blocks, and
/// the number of groups of sixteen.
fn dma(direction: &str) -> String {
    let starts = format!("mov {direction}_addr, ra0\nadd ra0, ra0, r1\nnop\n").repeat(STARTS as usize);
    format!(
        "
        mov {direction}_setup, unif
        mov {direction}_setup, unif
        mov ra0, unif
        mov r1, unif
        mov r2, unif
        :loop
        {starts}
        sub.setf r2, r2, 1
        read {direction}_wait
        brr.anynz -, r:loop
        nop
        nop
        nop
        thrend
        nop
        nop
        "
    )
}

/// Looks up sixteen words at equal distances repeatedly, two lookups at a time. Uniforms: the address of the first word, the distance between elements, the
/// distance between lookups, and the number of pairs of lookups.
const LOOK_UP: &str = "
    mov r0, unif
    mov r1, unif
    nop; mul24 r1, elem_num, r1
    mov ra1, unif
    mov r2, unif
    add r0, r0, r1
    :loop
    add t0s, r0, ra1
    mov t0s, r0
    add r0, r0, ra1
    ldtmu0
    ldtmu0
    sub.setf r2, r2, 1
    brr.anynz -, r:loop
    add r0, r0, ra1
    nop
    nop
    thrend
    nop
    nop
";

/// A board that counts cycles.
struct Board {
    memory: OwnedMemory,
    v3d: V3d,
}

impl Board {
    fn new(source: &str) -> Self {
        let memory = OwnedMemory::new((DATA + SIZE) as usize);
        let mut board = Self { memory, v3d: V3d::new(Config { estimate: true, ..Config::default() }) };
        board.load(CODE, &format!("sacq -, 0\n{source}"));
        board.write(Register::VPMBASE, 16);
        board
    }

    fn load(&self, at: u32, source: &str) {
        let program = qpu::assemble(&[qpu::Source::new("test", source)], &qpu::Options::default());
        let program = program.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        for (word, half) in (0..).zip(program.halves()) {
            self.memory.view().set_word(BusAddr(at + 4 * word), half).unwrap();
        }
    }

    fn write(&mut self, register: Register, value: u32) {
        self.v3d.write(&self.memory.view(), register.offset(), value);
    }

    /// Runs a program for each list of uniforms, all concurrently and with empty caches in the V3D; returns the cycles and the memory counters. The programs
    /// wait for the one that starts last, so that they run concurrently.
    fn run(&mut self, programs: &[[u32; 5]]) -> (f64, Traffic) {
        let (before, counted) = (self.v3d.counters().elapsed_cycles(), self.v3d.counters().memory_traffic());
        self.write(Register::L2CACTL, 1 << 2);
        self.write(Register::SLCACTL, 0x0f0f_0f0f);
        self.write(Register::SRQUL, 8);
        for (at, uniforms) in (UNIFORMS..).step_by(64).zip(programs) {
            for (word, uniform) in (0..).zip(uniforms) {
                self.memory.view().set_word(BusAddr(at + 4 * word), *uniform).unwrap();
            }
            self.write(Register::SRQUA, CACHED | at);
            self.write(Register::SRQPC, CACHED | CODE);
        }
        self.load(GATE, &("srel -, 0\n".repeat(programs.len()) + "thrend\nnop\nnop"));
        self.write(Register::SRQPC, CACHED | GATE);
        assert_eq!(self.v3d.take_faults(), []);
        let (after, traffic) = (self.v3d.counters().elapsed_cycles(), self.v3d.counters().memory_traffic());
        let Traffic { busy, bytes, row_changes } = traffic;
        let traffic = Traffic {
            busy: busy - counted.busy,
            bytes: bytes - counted.bytes,
            row_changes: row_changes - counted.row_changes,
        };
        ((after - before) as f64, traffic)
    }
}

/// VDW set-up: rows of 16 words, starting with the VPM's first row, with a stride between them.
const fn stores(rows: u32, pitch: u32) -> [u32; 2] {
    [2 << 30 | rows << 23 | 16 << 16 | 1 << 14, 3 << 30 | (pitch - 64)]
}

fn is_near(found: f64, published: f64, tolerance: f64, what: &str) {
    let ratio = found / published;
    assert!((1.0 - tolerance..1.0 + tolerance).contains(&ratio), "{what}: {found:.1}, published {published}");
}

/// The reported rates, 1,120 MB/s for stores and 690 MB/s for loads, come from a secondary source.
#[test]
fn dma_of_whole_lines_is_as_fast_as_reported() {
    for alias in [CACHED, BusAddr::UNCACHED] {
        let [setup, stride] = stores(64, 64);
        let (cycles, traffic) = Board::new(&dma("vw")).run(&[[setup, stride, alias | DATA, 4096, 8]]);
        is_near(8.0 * 16.0 * 4096.0 * MHZ / cycles, 1120.0, 0.1, "MB/s of stores");
        // All of the data except what is still in the chip's cache.
        let kept = if alias == CACHED { 128 << 10 } else { 0 };
        assert!(traffic.bytes.abs_diff((512 << 10) - kept) < 4096, "{traffic:?}");

        let setup = 1 << 31 | 3 << 24 | 1 << 12;
        let (cycles, traffic) = Board::new(&dma("vr")).run(&[[setup, 9 << 28, alias | DATA, 1024, 32]]);
        is_near(32.0 * 16.0 * 1024.0 * MHZ / cycles, 690.0, 0.1, "MB/s of loads");
        assert!(traffic.bytes.abs_diff(512 << 10) < 2048, "{traffic:?}");
    }
}

/// GPU_FFT of 2^17 points stores rows of 64 bytes in blocks of 16. GPU_FFT of 2^18 points stores each row separately in two of its four passes, since its
/// stride has too many bits. It takes 43 ms, while twice the time of 2^17 points is 34 ms: the difference is 34 cycles for each of the 65,536 rows.
#[test]
fn rows_that_are_stored_one_by_one_cost_what_gpu_fft_loses() {
    let [block, stride] = stores(16, 0xffc0);
    let (blocks, _) = Board::new(&dma("vw")).run(&[[block, stride, CACHED | DATA, 64, 4]]);
    let [row, stride] = stores(1, 64);
    let (rows, _) = Board::new(&dma("vw")).run(&[[row, stride, CACHED | DATA, 0x1000 - 64, 64]]);
    is_near((rows - blocks) / 1024.0, 34.0, 0.25, "cycles of a row");
}

/// From 2^15 points on, every point that the first pass of GPU_FFT reads is in a different cache line, and in a different row of the SDRAM. Twice the time of
/// 2^14 points is 2.4 ms, so that these 32,768 lines take at least 0.9 ms; the 65,536 lines of 2^16 points take at most its whole run time of 7.0 ms.
#[test]
fn lines_of_rows_of_their_own_are_as_slow_as_gpu_fft_shows() {
    // The elements are 256 KiB apart, the lookups a row and a line, the QPUs a few lines.
    let programs: Vec<_> = (0..11).map(|qpu| [CACHED | (DATA + 320 * qpu), SIZE / 16, 0x1040, 16, 0]).collect();
    let (cycles, traffic) = Board::new(LOOK_UP).run(&programs);
    let lines = 11.0 * 32.0 * 16.0;
    let ns = cycles * 1000.0 / MHZ / lines;
    assert!((0.9e6 / 32_768.0..7.0e6 / 65_536.0).contains(&ns), "{ns} ns a line");
    // Memory is the bottleneck, mostly because it opens rows.
    assert!(traffic.busy as f64 > 0.9 * cycles, "{traffic:?} in {cycles} cycles");
    assert!(traffic.row_changes as f64 > 0.9 * lines, "{traffic:?}");
}

/// Data that fit the chip's cache of 128 KiB are read from memory once, larger data on each pass.
#[test]
fn the_chip_has_a_cache_of_128_kib() {
    for (bytes, again) in [(64 << 10, 0), (1 << 20, 1 << 20)] {
        let mut board = Board::new(LOOK_UP);
        let uniforms = [CACHED | DATA, 64, 1024, bytes / 2048, 0];
        let (_, first) = board.run(&[uniforms]);
        let (_, second) = board.run(&[uniforms]);
        assert!(first.bytes.abs_diff(u64::from(bytes)) < 1024, "{first:?}");
        assert!(second.bytes.abs_diff(again) < 1024, "{second:?}");
        // Data larger than the cache are read on each pass.
        let (_, uncached) = board.run(&[[BusAddr::UNCACHED | DATA, 64, 1024, bytes / 2048, 0]]);
        assert!(uncached.bytes.abs_diff(u64::from(bytes)) < 1024, "{uncached:?}");
    }
}

//! Memory as the V3D sees it: the chip's own L2 cache, which is not the V3D's, and the SDRAM behind it.
//!
//! Addresses of the bus aliases at 0, 0x4000_0000 and 0x8000_0000 go through the chip's cache; those at 0xc000_0000 bypass it. The cache keeps written lines
//! until they are evicted, and fetches lines that are written partially; both are guesses. The SDRAM performs one access after the other. Each of its banks has
//! one row open, and opening another row takes time.
//!
//! The SDRAM's times do not depend on the V3D's clock; [`SdramTimes`] has them in cycles of it.
//!
//! The model leaves out what competes with the V3D for memory on a board: the ARM, the display's scan-out, and refresh.

use super::cache::Cache;
use super::costs::{self, LINE_BYTES};
use v3d_hw::BusAddr;

/// Traffic of the SDRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Clock cycles of the V3D in which it was busy.
    pub busy: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Accesses for which another row had to be opened.
    pub row_changes: u64,
}

impl Traffic {
    /// Adds another's traffic.
    pub const fn merge(&mut self, other: &Self) {
        let Self { busy, bytes, row_changes } = other;
        self.busy += *busy;
        self.bytes += *bytes;
        self.row_changes += *row_changes;
    }
}

/// Times of the SDRAM in cycles of the V3D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdramTimes {
    /// [`costs::SDRAM_LINE_NS`].
    pub line: u64,
    /// [`costs::SDRAM_ROW_NS`].
    pub row: u64,
    /// [`costs::SDRAM_LATENCY_NS`].
    pub latency: u64,
    /// [`costs::WRITE_BACKLOG_NS`].
    pub write_backlog: u64,
    /// [`costs::TILE_LOAD_PIECE_NS`].
    pub tile_load_piece: u64,
}

impl SdramTimes {
    /// The times at a clock of the V3D, rounded to whole cycles.
    pub const fn at(clock_mhz: u32) -> Self {
        const fn cycles(ns: u64, clock_mhz: u32) -> u64 {
            (ns * clock_mhz as u64 + 500) / 1000
        }
        Self {
            line: cycles(costs::SDRAM_LINE_NS, clock_mhz),
            row: cycles(costs::SDRAM_ROW_NS, clock_mhz),
            latency: cycles(costs::SDRAM_LATENCY_NS, clock_mhz),
            write_backlog: cycles(costs::WRITE_BACKLOG_NS, clock_mhz),
            tile_load_piece: cycles(costs::TILE_LOAD_PIECE_NS, clock_mhz),
        }
    }
}

/// The SDRAM: one access at a time, in order of arrival.
#[derive(Clone, Debug, PartialEq)]
struct Sdram {
    times: SdramTimes,
    /// The open row of each bank.
    rows: [Option<u32>; costs::SDRAM_BANKS],
    /// Time at which it is free.
    free: u64,
}

impl Sdram {
    /// Reads or writes bytes of a line; returns the time when that is done.
    fn access(&mut self, offset: u32, bytes: u32, time: u64, traffic: &mut Traffic) -> u64 {
        let row = offset / costs::SDRAM_ROW_BYTES;
        let open = &mut self.rows[row as usize % costs::SDRAM_BANKS];
        let mut cycles = self.times.line * u64::from(bytes.max(costs::SDRAM_BURST_BYTES)) / u64::from(LINE_BYTES);
        if open.replace(row) != Some(row) {
            cycles += self.times.row;
            traffic.row_changes += 1;
        }
        traffic.bytes += u64::from(bytes);
        traffic.busy += cycles;
        self.free = self.free.max(time) + cycles;
        self.free
    }
}

/// The chip's cache, with the SDRAM behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySystem {
    cache: Cache,
    sdram: Sdram,
    /// Time at which the port takes the next line.
    port: u64,
    traffic: Traffic,
}

impl MemorySystem {
    /// An empty cache, and no row open, beside a V3D with some clock.
    pub fn new(clock_mhz: u32) -> Self {
        Self {
            cache: Cache::new(costs::SYSTEM_CACHE),
            sdram: Sdram { times: SdramTimes::at(clock_mhz), rows: [None; costs::SDRAM_BANKS], free: 0 },
            port: 0,
            traffic: Traffic::default(),
        }
    }

    /// Takes the traffic since the last call.
    pub fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    /// Reads the line of a bus address, requested at a time; returns its arrival in the V3D.
    pub fn read(&mut self, address: u32, time: u64) -> u64 {
        self.fetch(address, LINE_BYTES, time) + costs::MEMORY_LATENCY
    }

    /// Reads bytes of a line, one of many in flight; returns the time at which the next can be requested.
    pub fn stream(&mut self, address: u32, bytes: u32, time: u64) -> u64 {
        self.fetch(address, bytes, time).saturating_sub(self.sdram.times.latency)
    }

    /// Writes bytes of a line at a time; returns the time at which the next can be written.
    pub fn write(&mut self, address: u32, bytes: u32, time: u64) -> u64 {
        let offset = BusAddr(address).offset();
        let begin = self.enter(time);
        let Self { cache, sdram, traffic, .. } = self;
        if is_uncached(address) {
            return sdram.access(offset, bytes, begin, traffic);
        }
        let mut is_missing = false;
        let held = cache.hold(offset, true, || {
            is_missing = true;
            begin
        });
        if is_missing && bytes < LINE_BYTES {
            sdram.access(offset, LINE_BYTES, begin, traffic);
        }
        let Some(written) = held.displaced else { return begin };
        sdram.access(written, LINE_BYTES, begin, traffic);
        begin.max(sdram.free.saturating_sub(sdram.times.write_backlog))
    }

    /// Looks up a line in the cache, or bypasses it; returns the time at which the line is found or read from the SDRAM.
    fn fetch(&mut self, address: u32, bytes: u32, time: u64) -> u64 {
        let offset = BusAddr(address).offset();
        let begin = self.enter(time);
        let Self { cache, sdram, traffic, .. } = self;
        if is_uncached(address) {
            return sdram.access(offset, bytes, begin, traffic) + sdram.times.latency;
        }
        let held = cache.hold(offset, false, || sdram.access(offset, LINE_BYTES, begin, traffic) + sdram.times.latency);
        if let Some(written) = held.displaced {
            sdram.access(written, LINE_BYTES, begin, traffic);
        }
        held.arrival.max(begin)
    }

    /// Waits for the port to memory, and occupies it for a line.
    fn enter(&mut self, time: u64) -> u64 {
        let begin = self.port.max(time);
        self.port = begin + costs::MEMORY_PORT;
        begin
    }
}

/// Whether an address bypasses the chip's cache.
const fn is_uncached(address: u32) -> bool {
    address - BusAddr(address).offset() == BusAddr::UNCACHED
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNCACHED: u32 = BusAddr::UNCACHED;
    /// Bytes between rows of the same bank.
    const SAME_BANK: u32 = costs::SDRAM_ROW_BYTES * costs::SDRAM_BANKS as u32;
    /// 4 ns a cycle.
    const CLOCK_MHZ: u32 = 250;
    const TIMES: SdramTimes = SdramTimes::at(CLOCK_MHZ);
    /// A line of an open row of the SDRAM, and one of another row.
    const OPEN: u64 = costs::MEMORY_LATENCY + TIMES.latency + TIMES.line;
    const CLOSED: u64 = OPEN + TIMES.row;

    #[test]
    fn nanoseconds_become_cycles_of_the_clock() {
        assert_eq!(TIMES, SdramTimes { line: 5, row: 10, latency: 20, write_backlog: 64, tile_load_piece: 37 });
        assert_eq!(
            SdramTimes::at(300),
            SdramTimes { line: 6, row: 12, latency: 24, write_backlog: 77, tile_load_piece: 44 }
        );
    }

    /// Lines that are read one after the other, each on the arrival of the one before it, and the cycles of each.
    fn check(addresses: &[u32], expected: &[u64]) {
        let mut memory = MemorySystem::new(CLOCK_MHZ);
        let mut time = 0;
        let mut read = |&address: &u32| {
            let before = time;
            time = memory.read(address, before);
            time - before
        };
        let found: Vec<u64> = addresses.iter().map(&mut read).collect();
        assert_eq!(found, expected, "{addresses:x?}");
    }

    #[test]
    fn a_bank_has_one_row_open() {
        check(&[UNCACHED, UNCACHED + 64, UNCACHED + 4096, UNCACHED + 128], &[CLOSED, OPEN, CLOSED, OPEN]);
        check(&[UNCACHED, UNCACHED + SAME_BANK, UNCACHED], &[CLOSED, CLOSED, CLOSED]);
    }

    #[test]
    fn the_uncached_alias_goes_past_the_cache() {
        check(&[0x4000_0000, 0x4000_0000, 0x8000_0000, 0], &[CLOSED, 32, 32, 32]);
        check(&[UNCACHED, UNCACHED, 0, 0], &[CLOSED, OPEN, OPEN, 32]);
    }

    /// 128 KiB in four ways: lines 32 KiB apart share a set.
    #[test]
    fn the_cache_holds_four_lines_of_a_set() {
        let lines = [0, 1, 2, 3, 4, 0].map(|way| way * 0x8000);
        check(&lines, &[CLOSED; 6]);
        let lines = [0, 1, 2, 3, 0, 1].map(|way| way * 0x8000);
        check(&lines, &[CLOSED, CLOSED, CLOSED, CLOSED, 32, 32]);
    }

    /// Written lines go to the SDRAM when they are evicted, once.
    #[test]
    fn written_lines_are_written_back() {
        let mut memory = MemorySystem::new(CLOCK_MHZ);
        for line in 0..2048 {
            memory.write(64 * line, 64, 0);
        }
        assert_eq!(memory.take_traffic(), Traffic::default());
        for line in 2048..4096 {
            memory.write(64 * line, 64, 100_000);
            memory.write(64 * line, 64, 100_000);
        }
        assert_eq!(memory.take_traffic().bytes, 128 * 1024);
        // The line of a word is fetched, and evicts another.
        memory.write(0, 4, 200_000);
        assert_eq!(memory.take_traffic().bytes, 2 * 64);
        memory.write(UNCACHED, 4, 200_000);
        assert_eq!(memory.take_traffic().bytes, 4);
    }

    /// 3.2 GB/s at 400 MHz and two words of 32 bits a cycle, and a row of the same bank each 60 ns.
    #[test]
    fn the_sdram_is_as_fast_as_its_data_sheet_says() {
        let rate = |pitch: u32| {
            let mut memory = MemorySystem::new(CLOCK_MHZ);
            let last = (0..1000).map(|i| memory.read(UNCACHED + i * pitch, 0)).last().unwrap();
            (last as f64 / 1000.0, memory.take_traffic())
        };
        let (rows, traffic) = rate(64);
        assert!((5.0..5.3).contains(&rows), "{rows} cycles a line");
        assert_eq!((traffic.bytes, traffic.row_changes), (64_000, 16));
        let (jumps, traffic) = rate(SAME_BANK);
        assert!((15.0..15.2).contains(&jumps), "{jumps} cycles a line");
        assert_eq!((traffic.busy, traffic.row_changes), (15_000, 1000));
    }
}

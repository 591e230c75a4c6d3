//! Memory as the V3D sees it: the chip's own L2 cache, which is not the V3D's, and the SDRAM behind it.
//!
//! Addresses of the bus aliases at 0, 0x4000_0000 and 0x8000_0000 go through the chip's cache, those at 0xc000_0000 past it. It keeps what is
//! written to it until the line has to make place, and a line that is written in part is fetched first; both are guesses. The SDRAM serves one access
//! after the other. Each of its banks has a row open, and another row of the same bank costs time.
//!
//! What contends with the V3D for memory on a board is not here: the ARM, the display's scan-out, refresh.

use super::cache::Cache;
use super::costs::{self, LINE_BYTES};
use v3d_hw::BusAddr;

/// What the SDRAM has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// TimingModel cycles of the V3D in which it was busy.
    pub busy: u64,
    /// Bytes that it has read or written.
    pub bytes: u64,
    /// Accesses for which it had to open another row.
    pub row_changes: u64,
}

impl Traffic {
    /// Adds what another has counted.
    pub const fn merge(&mut self, other: &Self) {
        let Self { busy, bytes, row_changes } = other;
        self.busy += *busy;
        self.bytes += *bytes;
        self.row_changes += *row_changes;
    }
}

/// The SDRAM: one access at a time, in the order in which they come.
#[derive(Clone, Debug, PartialEq)]
struct Sdram {
    /// The open row of each bank.
    rows: [Option<u32>; costs::SDRAM_BANKS],
    /// When it is free again.
    free: u64,
}

impl Sdram {
    /// Reads or writes bytes of a line; gives the time when that is done.
    fn access(&mut self, offset: u32, bytes: u32, time: u64, traffic: &mut Traffic) -> u64 {
        let row = offset / costs::SDRAM_ROW_BYTES;
        let open = &mut self.rows[row as usize % costs::SDRAM_BANKS];
        let mut cycles = costs::SDRAM_LINE * u64::from(bytes.max(costs::SDRAM_BURST_BYTES)) / u64::from(LINE_BYTES);
        if open.replace(row) != Some(row) {
            cycles += costs::SDRAM_ROW;
            traffic.row_changes += 1;
        }
        traffic.bytes += u64::from(bytes);
        traffic.busy += cycles;
        self.free = self.free.max(time) + cycles;
        self.free
    }
}

/// The chip's cache, and the SDRAM.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySystem {
    cache: Cache,
    sdram: Sdram,
    /// When the way to it takes the next line.
    port: u64,
    traffic: Traffic,
}

impl Default for MemorySystem {
    /// An empty cache, and no row open.
    fn default() -> Self {
        Self {
            cache: Cache::new(costs::SYSTEM_CACHE),
            sdram: Sdram { rows: [None; costs::SDRAM_BANKS], free: 0 },
            port: 0,
            traffic: Traffic::default(),
        }
    }
}

impl MemorySystem {
    /// Takes what the SDRAM has done since the last call.
    pub fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.traffic)
    }

    /// Reads the line of a bus address, asked for at a time; gives the time when it is in the V3D.
    pub fn read(&mut self, address: u32, time: u64) -> u64 {
        self.fetch(address, LINE_BYTES, time) + costs::MEMORY_LATENCY
    }

    /// Reads bytes of a line as one of many lines that are on their way at the same time; gives the time when the next can be asked for.
    pub fn stream(&mut self, address: u32, bytes: u32, time: u64) -> u64 {
        self.fetch(address, bytes, time).saturating_sub(costs::SDRAM_LATENCY)
    }

    /// Writes bytes of a line at a time; gives the time when the next can be written.
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
        begin.max(sdram.free.saturating_sub(costs::WRITE_BACKLOG))
    }

    /// Looks a line up, in the cache or past it; gives the time when it is out of the SDRAM or found.
    fn fetch(&mut self, address: u32, bytes: u32, time: u64) -> u64 {
        let offset = BusAddr(address).offset();
        let begin = self.enter(time);
        let Self { cache, sdram, traffic, .. } = self;
        if is_uncached(address) {
            return sdram.access(offset, bytes, begin, traffic) + costs::SDRAM_LATENCY;
        }
        let held =
            cache.hold(offset, false, || sdram.access(offset, LINE_BYTES, begin, traffic) + costs::SDRAM_LATENCY);
        if let Some(written) = held.displaced {
            sdram.access(written, LINE_BYTES, begin, traffic);
        }
        held.arrival.max(begin)
    }

    /// Waits for the way to memory, and takes it for a line.
    fn enter(&mut self, time: u64) -> u64 {
        let begin = self.port.max(time);
        self.port = begin + costs::MEMORY_PORT;
        begin
    }
}

/// Whether an address goes past the chip's cache.
const fn is_uncached(address: u32) -> bool {
    address - BusAddr(address).offset() == BusAddr::UNCACHED
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNCACHED: u32 = BusAddr::UNCACHED;
    /// Bytes between rows of the same bank.
    const SAME_BANK: u32 = costs::SDRAM_ROW_BYTES * costs::SDRAM_BANKS as u32;
    /// A line that the SDRAM finds in an open row, and one for which it has to open another.
    const OPEN: u64 = costs::MEMORY_LATENCY + costs::SDRAM_LATENCY + costs::SDRAM_LINE;
    const CLOSED: u64 = OPEN + costs::SDRAM_ROW;

    /// Lines that are read one after the other, each when the one before it is there, and what each takes.
    fn check(addresses: &[u32], expected: &[u64]) {
        let mut memory = MemorySystem::default();
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

    /// 128 KiB in four ways: 32 KiB apart lines share a set.
    #[test]
    fn the_cache_holds_four_lines_of_a_set() {
        let lines = [0, 1, 2, 3, 4, 0].map(|way| way * 0x8000);
        check(&lines, &[CLOSED; 6]);
        let lines = [0, 1, 2, 3, 0, 1].map(|way| way * 0x8000);
        check(&lines, &[CLOSED, CLOSED, CLOSED, CLOSED, 32, 32]);
    }

    /// What is written goes to the SDRAM when it has to make place, once.
    #[test]
    fn written_lines_are_written_back() {
        let mut memory = MemorySystem::default();
        for line in 0..2048 {
            memory.write(64 * line, 64, 0);
        }
        assert_eq!(memory.take_traffic(), Traffic::default());
        for line in 2048..4096 {
            memory.write(64 * line, 64, 100_000);
            memory.write(64 * line, 64, 100_000);
        }
        assert_eq!(memory.take_traffic().bytes, 128 * 1024);
        // The line of a word is fetched, and another makes place for it.
        memory.write(0, 4, 200_000);
        assert_eq!(memory.take_traffic().bytes, 2 * 64);
        memory.write(UNCACHED, 4, 200_000);
        assert_eq!(memory.take_traffic().bytes, 4);
    }

    /// 3.2 GB/s at 400 MHz and two words of 32 bits a cycle, and a row of the same bank each 60 ns.
    #[test]
    fn the_sdram_is_as_fast_as_its_data_sheet_says() {
        let rate = |pitch: u32| {
            let mut memory = MemorySystem::default();
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

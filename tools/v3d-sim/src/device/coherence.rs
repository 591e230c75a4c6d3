//! The coherence check: whether software clears the V3D's caches, and keeps what it shares out of the CPU's.
//!
//! The model computes with memory as it is, as if no cache held anything older. On a board, a clear that was forgotten shows old instructions, uniforms or
//! texels, or does so only now and then. With [`Config::check_coherence`](crate::Config::check_coherence) the model keeps each line as it was when a cache read
//! it, and compares every later read through that cache with it. If the bytes differ and the cache has not been cleared in between, that is a
//! [fault](CoherenceFault). Results do not depend on the check.
//!
//! # Which unit reads through which cache
//! Instructions, uniforms and texels are read through the slices' caches and L2 behind them. CLE, VCD, PTB, PSE, TLB and VPM DMA access memory directly
//! [AG p.13-14, figure 1]. No store changes a line in a cache, neither the CPU's nor the V3D's own: Linux clears L2 and the TMUs' caches before each rendering
//! list, because the list before may have stored a texture [linux vc4_gem.c, vc4_submit_next_render_job].
//!
//! # What a cache holds
//! Everything that was read through it since it was cleared. Which lines it has replaced since then depends on time, and which slice has read them on the
//! scheduler; so the check assumes that no line was replaced, and that every slice has read what one of them has. A lookup goes to both TMUs of a slice unless
//! its program switches that off [AG p.40]. On a board, a reported line may have been replaced by chance.
//!
//! # The CPU's caches
//! The V3D does not see them. [`V3d::set_cpu_cached`](crate::V3d::set_cpu_cached) says which pages the CPU caches; an access of the V3D to such a page is a
//! fault, whatever the page holds. Software that cleans its caches by instructions is reported too, since the model does not see these instructions.

pub use crate::fault::coherence::{Cache, CoherenceFault};

use crate::fault::FaultLog;
use crate::memory::{Access, Path, Watcher};
use crate::threads::lock;
use crate::timing::costs::LINE_BYTES;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use v3d_hw::registers::Register;
use v3d_hw::registers::cache::{L2cactl, Slcactl};
use v3d_hw::{BusAddr, Layout};

/// Words of a line.
const LINE_WORDS: usize = LINE_BYTES as usize / 4;
/// Number of locks for the lines: several host threads read at once.
const SHARDS: usize = 64;
/// Number of caches: the kinds of [`Cache`].
const CACHES: usize = 5;
/// Maximum number of slices: SLCACTL has this many bits for each kind.
const MAX_SLICES: usize = 4;
/// Number of pages in the V3D's address space.
const PAGES: u64 = (1 << 30) / PAGE_BYTES;
/// Bytes of a page of the CPU, the smallest unit that it can exclude from its caches.
const PAGE_BYTES: u64 = 4096;

/// A cache's index among all.
const fn index(cache: Cache) -> usize {
    match cache {
        Cache::Instructions => 0,
        Cache::Uniforms => 1,
        Cache::Texture(unit) => 2 + (unit & 1) as usize,
        Cache::L2 => 4,
    }
}

/// A line as a cache has read it.
#[derive(Clone, Copy, Debug)]
struct Copy {
    words: [u32; LINE_WORDS],
    /// The number of clears before it was read.
    clears: u64,
}

/// The copies of a line, by cache.
type Copies = [Option<Copy>; CACHES];

/// What has been found since the last report.
#[derive(Debug, Default)]
struct Found {
    /// Lines of which a cache may hold an old copy.
    stale: BTreeMap<Cache, BTreeSet<u32>>,
    /// Pages that the CPU caches and the V3D has read.
    read: BTreeSet<u32>,
    /// The same, written.
    written: BTreeSet<u32>,
}

/// The state of the check.
#[derive(Debug)]
pub struct Coherence {
    slices: usize,
    l2_enabled: bool,
    /// Number of clears of any cache so far.
    clears: u64,
    /// For each cache and slice, the number of clears up to and including its last one.
    cleared: [[u64; MAX_SLICES]; CACHES],
    /// Lines by their number, in shards.
    lines: Vec<Mutex<HashMap<u32, Copies>>>,
    /// A bit for each page that the CPU caches.
    cpu_cached: Vec<u64>,
    found: Mutex<Found>,
}

impl Coherence {
    /// Empty caches of a number of slices, as after a reset.
    pub fn new(slices: u8) -> Self {
        Self {
            slices: usize::from(slices).min(MAX_SLICES),
            l2_enabled: true,
            clears: 0,
            cleared: Default::default(),
            lines: (0..SHARDS).map(|_| Mutex::default()).collect(),
            cpu_cached: Vec::new(),
            found: Mutex::default(),
        }
    }

    /// Sets the physical address ranges that the CPU caches.
    pub fn set_cpu_cached(&mut self, ranges: impl IntoIterator<Item = Range<u64>>) {
        self.cpu_cached = vec![0; PAGES as usize / 64];
        for range in ranges {
            for page in range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES).min(PAGES) {
                self.cpu_cached[page as usize / 64] |= 1 << (page % 64);
            }
        }
    }

    /// Follows a write to a register that controls caches.
    pub fn register_written(&mut self, register: Register, value: u32) {
        match register {
            Register::L2CACTL => {
                let L2cactl { l2cclr, l2cdis, l2cena } = L2cactl::from_word(value);
                self.l2_enabled = (self.l2_enabled && !l2cdis) || l2cena;
                if l2cclr {
                    self.clear(Cache::L2, u8::MAX);
                }
            }
            Register::SLCACTL => {
                let Slcactl { t1ccs, t0ccs, uccs, iccs } = Slcactl::from_word(value);
                self.clear(Cache::Texture(1), t1ccs);
                self.clear(Cache::Texture(0), t0ccs);
                self.clear(Cache::Uniforms, uccs);
                self.clear(Cache::Instructions, iccs);
            }
            _ => {}
        }
    }

    /// Clears a cache in the slices whose bits are set.
    fn clear(&mut self, cache: Cache, slices: u8) {
        self.clears += 1;
        let of_cache = self.cleared[index(cache)].iter_mut().enumerate();
        of_cache.filter(|(slice, _)| slices >> slice & 1 == 1).for_each(|(_, last)| *last = self.clears);
    }

    /// Whether a slice may still hold a copy.
    fn may_hold(&self, cache: Cache, copy: &Copy) -> bool {
        let slices = if cache == Cache::L2 { 1 } else { self.slices };
        self.cleared[index(cache)].iter().take(slices).any(|last| *last <= copy.clears)
    }

    /// Checks whether the CPU caches pages of an access.
    fn note_pages(&self, bytes: &Range<u64>, access: Access) {
        for page in bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES) {
            if self.cpu_cached.get(page as usize / 64).is_some_and(|pages| pages >> (page % 64) & 1 == 1) {
                let mut found = lock(&self.found);
                let pages = if access == Access::Read { &mut found.read } else { &mut found.written };
                pages.insert((page * PAGE_BYTES) as u32);
            }
        }
    }

    /// Checks a read of a line, of which only some bytes are needed.
    fn note_line(&self, memory: &[AtomicU32], number: u32, bytes: &Range<u64>, path: Path) {
        let address = u64::from(number) * u64::from(LINE_BYTES);
        let first = address as usize / 4;
        let words = memory.get(first..).unwrap_or_default();
        let mut now = [0; LINE_WORDS];
        now.iter_mut().zip(words).for_each(|(now, word)| *now = word.load(Relaxed));
        let is_needed = |byte: u64| bytes.contains(&(address + byte));
        let differs = |copy: &Copy| {
            let mut words = copy.words.iter().zip(&now).enumerate();
            words.any(|(index, (old, new))| {
                old != new
                    && (0..4u64).any(|byte| is_needed(4 * index as u64 + byte) && (old ^ new) >> (8 * byte) & 0xff != 0)
            })
        };
        let mut shard = lock(&self.lines[number as usize % SHARDS]);
        let copies = shard.entry(number).or_default();
        for cache in level_1(path).chain(self.l2_enabled.then_some(Cache::L2)) {
            let place = &mut copies[index(cache)];
            let held = place.as_mut().filter(|copy| self.may_hold(cache, copy));
            match held {
                Some(copy) if !differs(copy) => {
                    // A slice that was cleared meanwhile may have read the line again now; of the bytes that nobody has compared, it has the old ones.
                    copy.clears = self.clears;
                }
                held => {
                    if held.is_some() {
                        lock(&self.found).stale.entry(cache).or_default().insert(address as u32);
                    }
                    *place = Some(Copy { words: now, clears: self.clears });
                }
            }
        }
    }

    /// Reports what has been found since the last call.
    pub fn report(&mut self, faults: &mut FaultLog) {
        let Found { stale, read, written } = std::mem::take(&mut *lock(&self.found));
        for (cache, lines) in stale {
            if let Some(&first) = lines.first() {
                let lines = lines.len() as u32;
                faults.report(CoherenceFault::StaleLines { cache, lines, first: BusAddr(first) });
            }
        }
        for (access, pages) in [(Access::Read, read), (Access::Write, written)] {
            if let Some(&first) = pages.first() {
                let pages = pages.len() as u32;
                faults.report(CoherenceFault::CachedByCpu { access, pages, first: BusAddr(first) });
            }
        }
    }
}

impl Watcher for Coherence {
    fn note(&self, memory: &[AtomicU32], bytes: Range<u64>, access: Access, path: Path) -> bool {
        self.note_pages(&bytes, access);
        if path == Path::Direct || access == Access::Write || bytes.is_empty() {
            return true;
        }
        let line = |byte: u64| (byte / u64::from(LINE_BYTES)) as u32;
        for number in line(bytes.start)..=line(bytes.end - 1) {
            self.note_line(memory, number, &bytes, path);
        }
        true
    }
}

/// The caches of the slices on a path.
fn level_1(path: Path) -> impl Iterator<Item = Cache> {
    let [first, second] = match path {
        Path::Direct => [None, None],
        Path::Instructions => [Some(Cache::Instructions), None],
        Path::Uniforms => [Some(Cache::Uniforms), None],
        Path::Textures(units) => [0, 1].map(|unit| (units >> unit & 1 == 1).then_some(Cache::Texture(unit))),
    };
    first.into_iter().chain(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Limits, Memory, OwnedMemory};

    const TMU0: Path = Path::Textures(0b01);
    const EITHER_TMU: Path = Path::Textures(0b11);

    /// Caches of three slices, as on the Pi, and some memory.
    struct Bench {
        memory: OwnedMemory,
        coherence: Coherence,
    }

    impl Bench {
        fn new() -> Self {
            Self { memory: OwnedMemory::new(0x4000), coherence: Coherence::new(3) }
        }

        /// A store by the CPU.
        fn store(&self, address: u32, word: u32) {
            self.memory.view().set_word(BusAddr(address), word).unwrap();
        }

        fn clear(&mut self, l2: bool, slices: u32) {
            self.coherence.register_written(Register::L2CACTL, u32::from(l2) << 2);
            self.coherence.register_written(Register::SLCACTL, slices);
        }

        /// Applies a function to memory as the V3D sees it on a path; returns the faults.
        fn faults(&mut self, path: Path, f: impl FnOnce(Memory<'_>)) -> Vec<CoherenceFault> {
            f(Memory::limited(&Limits::watched(self.memory.view(), &self.coherence)).through(path));
            let mut log = FaultLog::default();
            self.coherence.report(&mut log);
            let told = log.take().into_iter();
            told.map(|fault| if let crate::Fault::Coherence(fault) = fault { fault } else { panic!("{fault}") })
                .collect()
        }

        /// The caches with old lines that a read of a word reveals.
        fn read(&mut self, path: Path, address: u32) -> Vec<Cache> {
            let told = self.faults(path, |memory| assert!(memory.word(BusAddr(address)).is_ok())).into_iter();
            told.map(|fault| match fault {
                CoherenceFault::StaleLines { cache, lines: 1, first } if first.0 == address & !63 => cache,
                other => panic!("{other}"),
            })
            .collect()
        }
    }

    #[test]
    fn a_cache_keeps_its_lines_until_its_own_field_clears_it() {
        const L2: bool = true;
        for (path, slices, caches) in [
            (Path::Instructions, 0x0000_0007, &[Cache::Instructions][..]),
            (Path::Uniforms, 0x0000_0700, &[Cache::Uniforms]),
            (TMU0, 0x0007_0000, &[Cache::Texture(0)]),
            (Path::Textures(0b10), 0x0700_0000, &[Cache::Texture(1)]),
            (EITHER_TMU, 0x0707_0000, &[Cache::Texture(0), Cache::Texture(1)]),
        ] {
            let after = |l2: bool, slices: u32| {
                let mut bench = Bench::new();
                assert_eq!(bench.read(path, 0x140), []);
                bench.store(0x140, 1);
                bench.clear(l2, slices);
                let stale = bench.read(path, 0x140);
                assert_eq!(bench.read(path, 0x140), [], "reported twice");
                stale
            };
            assert_eq!(after(L2, slices), [], "{path:?}");
            assert_eq!(after(!L2, slices), [Cache::L2], "{path:?}");
            assert_eq!(after(L2, 0x0f0f_0f0f & !slices), caches, "{path:?}");
            assert_eq!(after(!L2, 0), [caches, &[Cache::L2]].concat(), "{path:?}");
        }
    }

    /// The scheduler may give any slice the program that reads it.
    #[test]
    fn all_slices_must_be_cleared() {
        for (slices, expected) in [(0x7, &[][..]), (0x3, &[Cache::Instructions]), (0x6, &[Cache::Instructions])] {
            let mut bench = Bench::new();
            bench.read(Path::Instructions, 0);
            bench.store(0, 1);
            bench.clear(true, slices);
            assert_eq!(bench.read(Path::Instructions, 0), expected, "{slices:#x}");
        }
        // A slice that was not cleared keeps its old line, whatever the others have read since.
        let mut bench = Bench::new();
        bench.read(Path::Uniforms, 4);
        bench.store(0, 1);
        bench.clear(true, 0x300);
        assert_eq!(bench.read(Path::Uniforms, 4), []);
        assert_eq!(bench.read(Path::Uniforms, 0), [Cache::Uniforms]);
    }

    #[test]
    fn a_line_has_64_bytes_and_its_neighbours_are_read_with_it() {
        let mut bench = Bench::new();
        bench.read(TMU0, 0x80);
        [0x7c, 0x84, 0xbc, 0xc0].into_iter().for_each(|address| bench.store(address, 0x0100));
        // Nobody has read the lines before and after it.
        assert_eq!((bench.read(TMU0, 0x7c), bench.read(TMU0, 0xc0)), (vec![], vec![]));
        // It is only old for those who read the changed bytes.
        assert_eq!(bench.read(TMU0, 0x80), []);
        assert_eq!(bench.faults(TMU0, |memory| assert_eq!(memory.byte(BusAddr(0xbc)), Ok(0))), []);
        assert_eq!(bench.faults(TMU0, |memory| assert_eq!(memory.byte(BusAddr(0xbd)), Ok(1))).len(), 2);
    }

    #[test]
    fn lines_are_counted_and_the_first_is_named() {
        let mut bench = Bench::new();
        let read_all =
            |memory: Memory<'_>| (0..0x400).step_by(4).for_each(|at| assert!(memory.word(BusAddr(at)).is_ok()));
        assert_eq!(bench.faults(TMU0, read_all), []);
        [0x204, 0x208, 0x104].into_iter().for_each(|address| bench.store(address, 1));
        bench.clear(false, u32::MAX);
        let told = CoherenceFault::StaleLines { cache: Cache::L2, lines: 2, first: BusAddr(0x100) };
        assert_eq!(bench.faults(TMU0, read_all), [told]);
        assert_eq!(
            told.to_string(),
            "0x00000100 is read through the L2 cache, and memory has changed there since they read it: L2CCLR of L2CACTL must be \
             written in between (2 such lines of 64 bytes)"
        );
    }

    #[test]
    fn what_goes_to_memory_directly_is_in_no_cache() {
        let mut bench = Bench::new();
        bench.read(Path::Direct, 0);
        bench.store(0, 1);
        assert_eq!(bench.read(Path::Direct, 0), []);
        assert_eq!(bench.read(TMU0, 0), []);
        // Stores do not change what the caches hold.
        assert_eq!(bench.faults(Path::Direct, |memory| memory.write(BusAddr(0), &[2; 8]).unwrap()), []);
        assert_eq!(bench.read(TMU0, 0), [Cache::Texture(0), Cache::L2]);
    }

    #[test]
    fn a_disabled_l2_holds_nothing() {
        let mut bench = Bench::new();
        bench.coherence.register_written(Register::L2CACTL, 1 << 1);
        bench.read(TMU0, 0);
        bench.store(0, 1);
        bench.clear(false, 0x000f_0000);
        assert_eq!(bench.read(TMU0, 0), []);
        bench.coherence.register_written(Register::L2CACTL, 1 << 0);
        bench.read(TMU0, 0);
        bench.store(0, 2);
        bench.clear(false, 0x000f_0000);
        assert_eq!(bench.read(TMU0, 0), [Cache::L2]);
    }

    #[test]
    fn accesses_to_what_the_cpu_caches_are_reported_by_page() {
        let mut bench = Bench::new();
        bench.coherence.set_cpu_cached([0x1000..0x2000, 0x3000..0x3001, 1 << 40..1 << 41]);
        let fault = |access, pages, first| CoherenceFault::CachedByCpu { access, pages, first: BusAddr(first) };
        let read = |bench: &mut Bench, path, at, bytes| {
            bench.faults(path, |memory| memory.read(BusAddr(at), &mut vec![0; bytes]).unwrap())
        };
        assert_eq!(read(&mut bench, Path::Direct, 0xffc, 4), []);
        assert_eq!(read(&mut bench, Path::Direct, 0x2000, 0x1000), []);
        assert_eq!(read(&mut bench, Path::Uniforms, 0xffe, 4), [fault(Access::Read, 1, 0x1000)]);
        assert_eq!(read(&mut bench, Path::Direct, 0x1ffc, 0x1008), [fault(Access::Read, 2, 0x1000)]);
        let told = bench.faults(Path::Direct, |memory| memory.write(BusAddr(0x3ffa), &[1; 6]).unwrap());
        assert_eq!(told, [fault(Access::Write, 1, 0x3000)]);
        assert_eq!(
            told[0].to_string(),
            "the page at 0x00003000 is written, and the CPU's translation tables map it as cached (1 such pages of 4096 bytes)"
        );
        bench.coherence.set_cpu_cached([]);
        assert_eq!(read(&mut bench, Path::Direct, 0x1000, 4), []);
    }
}

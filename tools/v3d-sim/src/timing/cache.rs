//! Caches: which lines they hold, and from when on. The contents of a line are always those of memory.
//!
//! A line that is still on its way is not fetched again: other requests for it wait. That is a guess.

use super::costs::{self, LINE_BYTES};
use super::memory::MemorySystem;
use v3d_hw::BusAddr;

/// A line in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    number: u32,
    /// Time of its arrival.
    arrival: u64,
    /// Written since it was fetched.
    is_written: bool,
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Time at which the line arrives or has arrived.
    pub arrival: u64,
    /// Address of a written line that it evicts.
    pub displaced: Option<u32>,
}

/// A set-associative cache; the least recently used way is replaced, which is a guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// Lines of each set, the most recently used first.
    sets: Vec<Vec<Line>>,
    ways: usize,
}

impl Cache {
    /// An empty cache of a number of bytes and ways.
    pub fn new((bytes, ways): (u32, usize)) -> Self {
        let sets = ((bytes / LINE_BYTES) as usize / ways.max(1)).max(1);
        Self { sets: vec![Vec::with_capacity(ways); sets], ways }
    }

    /// Time at which the line of an address arrives or has arrived, if the cache holds it. If not, `fetch` returns its arrival, and the cache holds
    /// it from now on.
    pub fn access(&mut self, address: u32, fetch: impl FnOnce() -> u64) -> u64 {
        self.hold(address, false, fetch).arrival
    }

    /// The same in a cache that is also written.
    pub fn hold(&mut self, address: u32, writes: bool, fetch: impl FnOnce() -> u64) -> Held {
        let number = address / LINE_BYTES;
        let sets = self.sets.len();
        let Some(set) = self.sets.get_mut(number as usize % sets) else {
            return Held { arrival: 0, displaced: None };
        };
        let mut displaced = None;
        let mut line = match set.iter().position(|held| held.number == number) {
            Some(place) => set.remove(place),
            None => {
                if set.len() >= self.ways {
                    displaced = set.pop().filter(|line| line.is_written).map(|line| line.number * LINE_BYTES);
                }
                Line { number, arrival: fetch(), is_written: false }
            }
        };
        line.is_written |= writes;
        set.insert(0, line);
        Held { arrival: line.arrival, displaced }
    }

    /// Invalidates all lines.
    pub fn clear(&mut self) {
        self.sets.iter_mut().for_each(Vec::clear);
    }
}

/// The caches of a slice.
#[derive(Clone, Debug, PartialEq)]
struct Slice {
    instructions: Cache,
    uniforms: Cache,
    tmus: [Cache; 2],
}

/// A first-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level1 {
    /// Instructions.
    Instructions,
    /// Uniforms.
    Uniforms,
    /// Textures, of TMU 0 or 1.
    Texture(u8),
}

/// Counts of lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Misses of the instruction caches.
    pub instruction_misses: u64,
    /// Misses of the uniforms caches.
    pub uniform_misses: u64,
    /// Misses of the TMUs' caches.
    pub texture_misses: u64,
    /// Hits of L2.
    pub l2_hits: u64,
    /// Misses of L2, filled from memory or from the chip's cache.
    pub l2_misses: u64,
}

/// All caches: those of the slices, with L2 behind them.
///
/// On boards the hits and misses of L2 add up to the misses of the others [vc4cl]: each miss is one access to L2.
#[derive(Clone, Debug, PartialEq)]
pub struct Caches {
    slices: Vec<Slice>,
    l2: Cache,
    /// Memory behind the caches.
    pub memory: MemorySystem,
    /// L2CACTL: whether L2 is enabled. If not, lines come from memory, and nothing is counted for L2.
    pub l2_enabled: bool,
    /// What has been looked up.
    pub lookups: Lookups,
}

impl Caches {
    /// Empty caches of a number of slices.
    pub fn new(slices: u8) -> Self {
        let texture = Cache::new(costs::TEXTURE_CACHE);
        let slice = Slice {
            instructions: Cache::new(costs::INSTRUCTION_CACHE),
            uniforms: Cache::new(costs::UNIFORMS_CACHE),
            tmus: [texture.clone(), texture],
        };
        Self {
            slices: vec![slice; usize::from(slices)],
            l2: Cache::new(costs::L2_CACHE),
            memory: MemorySystem::default(),
            l2_enabled: true,
            lookups: Lookups::default(),
        }
    }

    /// Looks up the line of an address in a slice's cache at a time; returns the cycles until it arrives, 0 if it has arrived.
    pub fn access(&mut self, slice: usize, level: Level1, address: u32, time: u64) -> u64 {
        let Self { slices, l2, memory, l2_enabled, lookups } = self;
        let offset = BusAddr(address).offset();
        let Some(caches) = slices.get_mut(slice) else { return 0 };
        let (cache, misses) = match level {
            Level1::Instructions => (&mut caches.instructions, &mut lookups.instruction_misses),
            Level1::Uniforms => (&mut caches.uniforms, &mut lookups.uniform_misses),
            Level1::Texture(unit) => (&mut caches.tmus[usize::from(unit & 1)], &mut lookups.texture_misses),
        };
        let arrival = cache.access(offset, || {
            *misses += 1;
            if !*l2_enabled {
                return memory.read(address, time);
            }
            let mut hit = true;
            let in_l2 = l2.access(offset, || {
                hit = false;
                memory.read(address, time)
            });
            *if hit { &mut lookups.l2_hits } else { &mut lookups.l2_misses } += 1;
            in_l2.max(time) + costs::L2_LATENCY
        });
        arrival.saturating_sub(time)
    }

    /// Clears L2.
    pub fn clear_l2(&mut self) {
        self.l2.clear();
    }

    /// Invalidates one kind of cache in the slices whose bits are set.
    pub fn clear(&mut self, level: Level1, slices: u8) {
        for (_, caches) in self.slices.iter_mut().enumerate().filter(|(i, _)| slices >> i & 1 == 1) {
            match level {
                Level1::Instructions => caches.instructions.clear(),
                Level1::Uniforms => caches.uniforms.clear(),
                Level1::Texture(unit) => caches.tmus[usize::from(unit & 1)].clear(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Addresses that are looked up in turn, and their misses.
    fn check(shape: (u32, usize), addresses: &[u32], misses: usize) {
        let mut cache = Cache::new(shape);
        let mut missed = 0;
        for address in addresses {
            cache.access(*address, || {
                missed += 1;
                0
            });
        }
        assert_eq!(missed, misses, "{addresses:?}");
    }

    #[test]
    fn a_line_is_64_bytes() {
        check((4096, 1), &[0, 63, 64, 127, 0], 2);
    }

    /// [imrc QT31]: two lines 4096 bytes apart evict each other, 2048 bytes apart they do not.
    #[test]
    fn a_direct_mapped_cache_holds_one_line_of_each_place() {
        check(costs::TEXTURE_CACHE, &[0, 4096, 0, 4096], 4);
        check(costs::TEXTURE_CACHE, &[0, 2048, 0, 2048], 2);
    }

    #[test]
    fn the_least_recently_used_of_four_ways_goes() {
        let way = costs::L2_CACHE.0 / 4;
        check(costs::L2_CACHE, &[0, way, 2 * way, 3 * way, 0, way], 4);
        check(costs::L2_CACHE, &[0, way, 2 * way, 3 * way, 0, 4 * way, 0, way], 6);
    }

    /// As on boards [vc4cl]: 20,723 hits and 11,539 misses of L2 there, 390 + 31,824 + 48 misses before it.
    #[test]
    fn accesses_to_l2_are_the_misses_of_the_others() {
        let mut caches = Caches::new(3);
        let mut random = Random::new(0, 1);
        for i in 0..10_000 {
            let level = [Level1::Instructions, Level1::Uniforms, Level1::Texture(0), Level1::Texture(1)][i % 4];
            caches.access(i % 3, level, random.below(1 << 18), 100 * i as u64);
        }
        let Lookups { instruction_misses, uniform_misses, texture_misses, l2_hits, l2_misses } = caches.lookups;
        assert_eq!(instruction_misses + uniform_misses + texture_misses, l2_hits + l2_misses);
        assert!(l2_hits > 1000 && l2_misses > 1000);
    }

    #[test]
    fn clearing_forgets_only_what_is_named() {
        let mut caches = Caches::new(3);
        for slice in 0..3 {
            caches.access(slice, Level1::Uniforms, 0, 0);
        }
        caches.clear(Level1::Uniforms, 0b010);
        let later = [0, 1, 2].map(|slice| caches.access(slice, Level1::Uniforms, 0, 1000));
        assert_eq!(later, [0, costs::L2_LATENCY, 0]);
        caches.clear(Level1::Uniforms, 0b111);
        caches.clear_l2();
        // The chip's cache still has it.
        assert_eq!(caches.access(0, Level1::Uniforms, 0, 2000), costs::L2_LATENCY + costs::MEMORY_LATENCY);
    }

    /// A line in flight is shared: within a slice it arrives once, from L2 it goes to each slice.
    #[test]
    fn a_line_on_its_way_is_waited_for() {
        let mut caches = Caches::new(2);
        let sdram = costs::SDRAM_LINE + costs::SDRAM_ROW + costs::SDRAM_LATENCY;
        let (memory, l2) = (sdram + costs::MEMORY_LATENCY, costs::L2_LATENCY);
        let access = |caches: &mut Caches, slice, time| caches.access(slice, Level1::Texture(0), 64, time);
        assert_eq!(access(&mut caches, 0, 100), memory + l2);
        assert_eq!(access(&mut caches, 0, 110), memory + l2 - 10);
        assert_eq!(access(&mut caches, 1, 120), memory + l2 - 20);
        assert_eq!(access(&mut caches, 0, 100 + memory + l2), 0);
        assert_eq!(access(&mut caches, 1, 121 + memory + l2), 0);
        let Lookups { texture_misses, l2_hits, l2_misses, .. } = caches.lookups;
        assert_eq!((texture_misses, l2_hits, l2_misses), (2, 1, 1));
        caches.l2_enabled = false;
        assert_eq!(caches.access(0, Level1::Texture(0), 4096, 500), memory);
    }

    /// The alias of an address decides how memory is reached; the line is the same.
    #[test]
    fn aliases_are_the_same_line() {
        let mut caches = Caches::new(1);
        caches.access(0, Level1::Texture(0), 0xc000_0040, 0);
        assert_eq!(caches.access(0, Level1::Texture(0), 0x40, 1000), 0);
        assert_eq!(caches.lookups.texture_misses, 1);
    }
}

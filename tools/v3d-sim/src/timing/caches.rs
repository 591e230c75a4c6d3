//! The caches of the slices, with L2 and memory behind them.

use super::cache::Cache;
use super::costs;
use super::memory::MemorySystem;
use v3d_hw::BusAddr;

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
    /// Empty caches of a number of slices, in a V3D with some clock.
    pub fn new(slices: u8, clock_mhz: u32) -> Self {
        let texture = Cache::new(costs::TEXTURE_CACHE);
        let slice = Slice {
            instructions: Cache::new(costs::INSTRUCTION_CACHE),
            uniforms: Cache::new(costs::UNIFORMS_CACHE),
            tmus: [texture.clone(), texture],
        };
        Self {
            slices: vec![slice; usize::from(slices)],
            l2: Cache::new(costs::L2_CACHE),
            memory: MemorySystem::new(clock_mhz),
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
    use super::super::memory::SdramTimes;
    use super::*;
    use crate::random::Random;

    const CLOCK_MHZ: u32 = 250;

    /// As on boards [vc4cl]: 20,723 hits and 11,539 misses of L2 there, 390 + 31,824 + 48 misses before it.
    #[test]
    fn accesses_to_l2_are_the_misses_of_the_others() {
        let mut caches = Caches::new(3, CLOCK_MHZ);
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
        let mut caches = Caches::new(3, CLOCK_MHZ);
        for slice in 0..3 {
            caches.access(slice, Level1::Uniforms, 0, 0);
        }
        caches.clear(Level1::Uniforms, 0b010);
        let later = [0, 1, 2].map(|slice| caches.access(slice, Level1::Uniforms, 0, 1000));
        assert_eq!(later, [0, costs::L2_LATENCY, 0]);
        caches.clear(Level1::Uniforms, 0b111);
        caches.clear_l2();
        // The chip's cache still holds it.
        assert_eq!(caches.access(0, Level1::Uniforms, 0, 2000), costs::L2_LATENCY + costs::MEMORY_LATENCY);
    }

    /// A line that has not arrived yet is shared: it arrives once within a slice, and L2 supplies it to each slice.
    #[test]
    fn a_line_on_its_way_is_waited_for() {
        let mut caches = Caches::new(2, CLOCK_MHZ);
        let SdramTimes { line, row, latency, .. } = SdramTimes::at(CLOCK_MHZ);
        let sdram = line + row + latency;
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
        let mut caches = Caches::new(1, CLOCK_MHZ);
        caches.access(0, Level1::Texture(0), 0xc000_0040, 0);
        assert_eq!(caches.access(0, Level1::Texture(0), 0x40, 1000), 0);
        assert_eq!(caches.lookups.texture_misses, 1);
    }
}

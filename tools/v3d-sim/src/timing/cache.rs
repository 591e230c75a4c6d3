//! Caches: which lines they hold, and from which time on. The contents of a line are always those of memory.
//!
//! A line that has not arrived yet is not fetched again: other requests for it wait. That is a guess.

use super::costs::LINE_BYTES;

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

#[cfg(test)]
mod tests {
    use super::super::costs;
    use super::*;

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
}

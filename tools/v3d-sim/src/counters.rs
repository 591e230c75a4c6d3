//! Performance counter sources: how often each of the 30 events has happened [AG p.97].
//!
//! Every unit adds to its own sources; the registers PCTRn take what they are mapped to.

use v3d_hw::registers::performance::CounterSource;

/// Number of sources.
pub const SOURCES: usize = CounterSource::ALL.len();

/// Events counted so far, by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters([u64; SOURCES]);

impl Counters {
    /// Counts `events` events of a source.
    #[inline]
    pub fn add(&mut self, source: CounterSource, events: u64) {
        if let Some(count) = self.0.get_mut(usize::from(source.code())) {
            *count = count.wrapping_add(events);
        }
    }

    /// Events of a source; 0 for sources that do not exist.
    pub fn get(&self, source: CounterSource) -> u64 {
        self.0.get(usize::from(source.code())).copied().unwrap_or(0)
    }

    /// Adds all that another set has counted.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.wrapping_add(more);
        }
    }
}

//! Memory that the CPU and the VideoCore share, by words

use v3d::hw::BusAddr;

/// Memory that the VideoCore reads and writes too. It is not cached, or it is cleaned and invalidated by its implementation.
pub trait SharedMemory {
    /// Address of the first word as the VideoCore sees it.
    fn bus_address(&self) -> BusAddr;

    /// Number of words.
    fn words(&self) -> usize;

    /// The word at `index`; 0 if there is none.
    fn load(&self, index: usize) -> u32;

    /// Stores a word, if `index` is inside of the memory.
    fn store(&self, index: usize, word: u32);
}

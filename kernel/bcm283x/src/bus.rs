//! Loads and stores of physical addresses: all that a kernel provides for the blocks of this crate

use v3d::hw::BusAddr;

use crate::{memory::SharedMemory, peripherals::Peripherals};

/// Loads and stores of words at physical addresses: registers, and memory that is not cached.
///
/// On a Pi, `load` is `(address as *const u32).read_volatile()`, `store` is `(address as *mut u32).write_volatile(word)`, and `complete` is the instruction
/// `dsb sy` (on an ARM1176 of the BCM2835: `mcr p15, 0, r0, c7, c10, 4`). A kernel whose addresses are not the physical ones converts them here.
pub trait Bus {
    /// Loads a word.
    fn load(&self, address: u32) -> u32;

    /// Stores a word.
    fn store(&self, address: u32, word: u32);

    /// Completes all earlier loads and stores before any later one begins: what was written to memory has to be there when a register starts the GPU.
    fn complete(&self);

    /// Stores words one behind the other.
    fn store_words(&self, address: u32, words: &[u32]) {
        for (at, &word) in (address..).step_by(4).zip(words) {
            self.store(at, word);
        }
    }
}

impl<B: Bus> Bus for &B {
    fn load(&self, address: u32) -> u32 {
        (**self).load(address)
    }

    fn store(&self, address: u32, word: u32) {
        (**self).store(address, word);
    }

    fn complete(&self) {
        (**self).complete();
    }

    fn store_words(&self, address: u32, words: &[u32]) {
        (**self).store_words(address, words);
    }
}

/// Memory behind a bus.
#[derive(Debug)]
pub struct BusMemory<'b, B> {
    bus: &'b B,
    peripherals: Peripherals,
    address: u32,
    words: usize,
}

impl<'b, B: Bus> BusMemory<'b, B> {
    /// So many words at a physical address of a chip.
    pub const fn new(bus: &'b B, peripherals: Peripherals, address: u32, words: usize) -> Self {
        Self { bus, peripherals, address, words }
    }
}

impl<B: Bus> SharedMemory for BusMemory<'_, B> {
    fn bus_address(&self) -> BusAddr {
        self.peripherals.bus_address(self.address)
    }

    fn words(&self) -> usize {
        self.words
    }

    fn load(&self, index: usize) -> u32 {
        if index < self.words { self.bus.load(self.address + 4 * index as u32) } else { 0 }
    }

    fn store(&self, index: usize, word: u32) {
        if index < self.words {
            self.bus.store(self.address + 4 * index as u32, word);
        }
    }
}

//! A V3D with its own memory, which tests of lists and registers access as a driver does.

#[path = "put_list.rs"]
mod list;

pub(crate) use list::put_list;
use v3d_hw::Layout;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::{Config, Memory, Register, V3d};

/// The memory size of each machine: enough for lists, tile memory and a small frame.
const MEMORY_BYTES: usize = 0x40_0000;

pub(crate) struct Machine {
    pub(crate) owned: OwnedMemory,
    pub(crate) v3d: V3d,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::with(Config::default())
    }

    pub(crate) fn with(config: Config) -> Self {
        Self { owned: OwnedMemory::new(MEMORY_BYTES), v3d: V3d::new(config) }
    }

    pub(crate) fn memory(&self) -> Memory<'_> {
        self.owned.view()
    }

    pub(crate) fn write(&mut self, register: Register, value: u32) {
        self.v3d.write(&self.owned.view(), register.offset(), value);
    }

    pub(crate) fn read(&mut self, register: Register) -> u32 {
        self.v3d.read(&self.owned.view(), register.offset())
    }

    pub(crate) fn get<T: Layout>(&mut self, register: Register) -> T {
        T::from_word(self.read(register))
    }
}

//! What a kernel in C provides: loads, stores, a barrier, an allocator, and addresses.

use bcm283x::{Bus, Peripherals, Pool};
use core::ffi::c_void;

/// A board, and functions of the kernel for it. Each gets `context` as its first argument.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct v3d_board {
    /// Handed on to the functions.
    pub context: *mut c_void,
    /// Loads a word from a physical address: of a register, or of memory that is not cached.
    pub load: Option<extern "C" fn(context: *mut c_void, address: u32) -> u32>,
    /// Stores a word likewise.
    pub store: Option<extern "C" fn(context: *mut c_void, address: u32, word: u32)>,
    /// Completes all earlier loads and stores before any later one begins: `dsb sy`, or on an ARM1176 `mcr p15, 0, r0, c7, c10, 4`.
    pub complete: Option<extern "C" fn(context: *mut c_void)>,
    /// Memory for the library, or NULL: so many bytes, aligned to a power of two. Only one set of functions for memory is used, that of the first device.
    pub allocate: Option<extern "C" fn(context: *mut c_void, bytes: usize, alignment: usize) -> *mut c_void>,
    /// Takes memory of `allocate` back.
    pub release: Option<extern "C" fn(context: *mut c_void, memory: *mut c_void)>,
    /// Address of the peripherals: 0x20000000 on a Pi 1 and Zero, 0x3f000000 on a Pi 2, 3 and Zero 2 W.
    pub peripherals: u32,
    /// Added to addresses of memory for the GPU: 0x40000000 on a Pi 1 and Zero, 0xc0000000 on the others.
    pub alias: u32,
    /// Memory for the GPU: its physical address, a multiple of 4096. Not cached, used by nothing else, below 256 MiB.
    pub pool: u32,
    /// Its size in bytes, a multiple of 4.
    pub pool_bytes: u32,
    /// Memory for messages to the firmware: the physical address of 12 KiB, a multiple of 16. Not cached, used by nothing else.
    pub messages: u32,
}

/// The functions of a board, all of which are there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CBus {
    context: *mut c_void,
    load: extern "C" fn(*mut c_void, u32) -> u32,
    store: extern "C" fn(*mut c_void, u32, u32),
    complete: extern "C" fn(*mut c_void),
}

impl v3d_board {
    /// The functions for the bus, if all of them are there.
    pub(crate) fn bus(&self) -> Option<CBus> {
        let Self { context, load, store, complete, .. } = *self;
        Some(CBus { context, load: load?, store: store?, complete: complete? })
    }

    pub(crate) const fn chip(&self) -> Peripherals {
        Peripherals { base: self.peripherals, alias: self.alias }
    }

    pub(crate) const fn memory(&self) -> Pool {
        Pool { address: self.pool, bytes: self.pool_bytes }
    }
}

impl Bus for CBus {
    fn load(&self, address: u32) -> u32 {
        (self.load)(self.context, address)
    }

    fn store(&self, address: u32, word: u32) {
        (self.store)(self.context, address, word);
    }

    fn complete(&self) {
        (self.complete)(self.context);
    }
}

//! Volatile accesses to the V3D's registers and to the pool.
//!
//! rpi-hal gives no access to the registers, and the GPU modifies the pool as well.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{Ordering, fence};

use crate::Pool;

/// Size of the pool. It is in `.bss`, far below 256 MiB.
pub(crate) const POOL_BYTES: u32 = 16 << 20;
/// The V3D's registers on a Pi 2 and 3.
const REGISTERS: usize = 0x3fc0_0000;

// SAFETY: only the functions of this file access it, each byte by a volatile access of one core.
unsafe impl Sync for Pool {}

static POOL: Pool = Pool(UnsafeCell::new([0; POOL_BYTES as usize]));

/// Physical address of the pool, which rpi-hal maps to itself.
pub(crate) fn pool_address() -> u32 {
    POOL.0.get().addr() as u32
}

/// Loads a register; later loads wait for it.
pub(crate) fn load_register(offset: u32) -> u32 {
    // SAFETY: the V3D's registers are there [AG section 10], and rpi-hal maps them as device memory.
    let word = unsafe { ptr::with_exposed_provenance::<u32>(REGISTERS + offset as usize).read_volatile() };
    fence(Ordering::SeqCst);
    word
}

/// Stores to a register, after all earlier stores. Those to the pool have been cleaned from the cache, which ends with a barrier.
pub(crate) fn store_register(offset: u32, word: u32) {
    fence(Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { ptr::with_exposed_provenance_mut::<u32>(REGISTERS + offset as usize).write_volatile(word) }
}

/// Stores bytes from `offset` on, up to the end of the pool; returns how many.
pub(crate) fn store_pool(offset: u32, bytes: &[u8]) -> usize {
    let places = (offset..POOL_BYTES).zip(bytes);
    let count = places.len();
    for (at, &byte) in places {
        // SAFETY: `at` is less than the pool's size.
        unsafe { POOL.0.get().cast::<u8>().add(at as usize).write_volatile(byte) }
    }
    count
}

/// Loads bytes from `offset` on, up to the end of the pool.
pub(crate) fn load_pool(offset: u32, bytes: &mut [u8]) {
    for (at, byte) in (offset..POOL_BYTES).zip(bytes) {
        // SAFETY: `at` is less than the pool's size.
        *byte = unsafe { POOL.0.get().cast::<u8>().add(at as usize).read_volatile() };
    }
}

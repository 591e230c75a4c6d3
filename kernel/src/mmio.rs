//! Device registers: the one step from an address to a reference
//!
//! A driver describes its block with tock-registers and gets it as [`Mmio`]. Blocks are made in
//! [`crate::board::peripherals`] and nowhere else.

use core::{fmt, marker::PhantomData, ops::Deref};

/// A register block at a fixed address.
pub struct Mmio<T> {
    address: usize,
    block: PhantomData<fn() -> T>,
}

impl<T> Mmio<T> {
    /// The block at `address`.
    ///
    /// # Safety
    /// - `T` describes registers only (every field a tock-registers cell or reserved bytes).
    /// - They are at `address`, which is aligned for `T` and mapped as device memory for as long as the value lives.
    #[cfg(target_os = "none")]
    pub(crate) const unsafe fn new(address: usize) -> Self {
        Self { address, block: PhantomData }
    }

    /// Where the block is, as an ARM physical address.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }
}

impl<T> Deref for Mmio<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` was promised that the registers are there, and cells of tock-registers allow shared access.
        unsafe { &*(self.address as *const T) }
    }
}

impl<T> fmt::Debug for Mmio<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "registers at {:#x}", self.address)
    }
}

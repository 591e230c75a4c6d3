//! Device registers: converts an address to a reference
//!
//! A driver defines its registers with tock-registers and accesses them through [`Mmio`]. Only [`crate::board::peripherals`] creates such blocks.

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
    /// - `T` consists of registers only (every field is a tock-registers cell or reserved bytes).
    /// - They are at `address`, which is aligned for `T` and mapped as device memory for as long as the value lives.
    #[cfg(target_os = "none")]
    pub(crate) const unsafe fn new(address: usize) -> Self {
        Self { address, block: PhantomData }
    }

    /// ARM physical address of the block.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }
}

impl<T> Deref for Mmio<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the caller of `new` has guaranteed that the registers are there, and cells of tock-registers allow shared access.
        unsafe { &*(self.address as *const T) }
    }
}

impl<T> fmt::Debug for Mmio<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "registers at {:#x}", self.address)
    }
}

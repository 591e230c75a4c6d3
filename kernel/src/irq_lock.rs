//! A lock that interrupt handlers may share with other code
//!
//! While it is held, interrupts are masked on this core, so that a handler never waits for the code that it has interrupted.

use core::ops::{Deref, DerefMut};

use spin::mutex::{SpinMutex, SpinMutexGuard};

use crate::arch::interrupt_mask::{self, Previous};

/// A value behind a spin lock that masks interrupts.
#[derive(Debug, Default)]
pub struct IrqLock<T>(SpinMutex<T>);

/// Access to the value; dropping it releases the lock.
pub struct IrqLockGuard<'a, T> {
    // Dropped explicitly before the interrupt mask is restored.
    guard: Option<SpinMutexGuard<'a, T>>,
    previous: Previous,
}

impl<T> IrqLock<T> {
    /// A lock that contains `value`.
    pub const fn new(value: T) -> Self {
        Self(SpinMutex::new(value))
    }

    /// Masks interrupts and takes the lock.
    pub fn lock(&self) -> IrqLockGuard<'_, T> {
        let previous = interrupt_mask::mask();
        IrqLockGuard { guard: Some(self.0.lock()), previous }
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<IrqLockGuard<'_, T>> {
        let previous = interrupt_mask::mask();
        match self.0.try_lock() {
            Some(guard) => Some(IrqLockGuard { guard: Some(guard), previous }),
            None => {
                interrupt_mask::restore(previous);
                None
            }
        }
    }
}

impl<T> Deref for IrqLockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.guard {
            Some(guard) => guard,
            None => unreachable!("the guard is taken only in drop"),
        }
    }
}

impl<T> DerefMut for IrqLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.guard {
            Some(guard) => guard,
            None => unreachable!("the guard is taken only in drop"),
        }
    }
}

impl<T> Drop for IrqLockGuard<'_, T> {
    fn drop(&mut self) {
        self.guard = None;
        interrupt_mask::restore(self.previous);
    }
}

#[cfg(test)]
mod tests {
    use super::IrqLock;

    #[test]
    fn the_lock_excludes_and_opens_again() {
        let lock = IrqLock::new(1);
        {
            let mut value = lock.lock();
            *value += 1;
            assert!(lock.try_lock().is_none());
        }
        assert_eq!(lock.try_lock().map(|value| *value), Some(2));
    }
}

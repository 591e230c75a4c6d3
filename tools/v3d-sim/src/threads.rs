//! Work on several host threads, with the feature `threads`; without it, on the caller's.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, even if another thread has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maps items, in their order, on several host threads if that `is_parallel`. Each thread has a state of its own, which `state` makes.
#[cfg(feature = "threads")]
pub(crate) fn map_all<T: Send, S, R: Send>(
    items: Vec<T>,
    is_parallel: bool,
    state: impl Fn() -> S + Sync + Send,
    map: impl Fn(&mut S, T) -> R + Sync + Send,
) -> Vec<R> {
    use rayon::prelude::*;
    if is_parallel {
        return items.into_par_iter().map_init(state, map).collect();
    }
    let mut own = state();
    items.into_iter().map(|item| map(&mut own, item)).collect()
}

/// Maps items, in their order, on the caller's thread, which has a state that `state` makes.
#[cfg(not(feature = "threads"))]
pub(crate) fn map_all<T, S, R>(
    items: Vec<T>,
    _is_parallel: bool,
    state: impl Fn() -> S,
    map: impl Fn(&mut S, T) -> R,
) -> Vec<R> {
    let mut own = state();
    items.into_iter().map(|item| map(&mut own, item)).collect()
}

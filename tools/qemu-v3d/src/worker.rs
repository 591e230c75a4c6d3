//! The thread that executes jobs beside the guest.
//!
//! A register access that starts a job [orders](Worker::order) it here and [waits](Worker::wait) for a moment, since most jobs are short. One that takes longer
//! goes on while the guest does, and its end is announced by the function that [`Worker::serve`] was given.

use crate::capture::Pages;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use v3d_sim::device::beside::Work;
use v3d_sim::memory::{Limits, Memory};

/// What is to be executed, and what has been.
#[derive(Debug, Default)]
struct Desk {
    next: Option<(Work, Option<Arc<Pages>>)>,
    is_busy: bool,
    done: Option<Work>,
}

/// A thread's orders and results. There is at most one job at a time.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    desk: Mutex<Desk>,
    changed: Condvar,
}

impl Worker {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has work executed, and keeps the pages that it accesses, if they are wanted. The results of earlier work, if nobody has taken them, are dropped.
    pub(crate) fn order(&self, work: Work, pages: Option<Arc<Pages>>) {
        let mut desk = self.desk();
        desk.done = None;
        desk.next = Some((work, pages));
        self.changed.notify_all();
    }

    /// Takes executed work back, which may not be there before the deadline.
    pub(crate) fn wait(&self, deadline: Instant) -> Option<Work> {
        let mut desk = self.desk();
        while desk.done.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            desk = self.changed.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        desk.done.take()
    }

    /// Waits until nothing is executed any more, and drops the results.
    pub(crate) fn drain(&self) {
        let mut desk = self.desk();
        desk.next = None;
        while desk.is_busy {
            desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
        desk.done = None;
    }

    /// Executes orders for ever, and calls `announce` after each whose result nobody waits for.
    pub(crate) fn serve(&self, memory: &Memory<'_>, announce: impl Fn()) -> ! {
        let mut desk = self.desk();
        loop {
            let Some((mut work, pages)) = desk.next.take() else {
                desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            desk.is_busy = true;
            drop(desk);
            match &pages {
                Some(pages) => work.run(&Memory::limited(&Limits::watched(*memory, &**pages))),
                None => work.run(memory),
            }
            desk = self.desk();
            desk.is_busy = false;
            // With a new order, this was work from before a reset.
            if desk.next.is_none() {
                desk.done = Some(work);
            }
            self.changed.notify_all();
            drop(desk);
            announce();
            desk = self.desk();
        }
    }
}

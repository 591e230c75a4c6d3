//! The thread that executes jobs beside the guest.
//!
//! A register access that starts a job [submits](Worker::submit) it here and [waits](Worker::wait) for a moment, since most jobs are short. One that takes
//! longer goes on while the guest does, and its end is announced by the function that [`Worker::serve`] was given.

use crate::capture::Pages;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use v3d_sim::device::beside::Work;
use v3d_sim::memory::{Limits, Memory};

/// What is to be executed, and what has been.
#[derive(Debug, Default)]
struct State {
    next: Option<(Work, Option<Arc<Pages>>)>,
    is_busy: bool,
    done: Option<Work>,
}

/// A thread's work and results. There is at most one job at a time.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    state: Mutex<State>,
    changed: Condvar,
}

impl Worker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has work executed, and keeps the pages that it accesses, if they are wanted. The results of earlier work, if nobody has taken them, are dropped.
    pub(crate) fn submit(&self, work: Work, pages: Option<Arc<Pages>>) {
        let mut state = self.state();
        state.done = None;
        state.next = Some((work, pages));
        self.changed.notify_all();
    }

    /// Takes executed work back, which may not be there before the deadline.
    pub(crate) fn wait(&self, deadline: Instant) -> Option<Work> {
        let mut state = self.state();
        while state.done.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.done.take()
    }

    /// Waits until nothing is executed any more, and drops the results.
    pub(crate) fn drain(&self) {
        let mut state = self.state();
        state.next = None;
        while state.is_busy {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.done = None;
    }

    /// Executes what is submitted, for ever, and calls `announce` after each whose result nobody waits for.
    pub(crate) fn serve(&self, memory: &Memory<'_>, announce: impl Fn()) -> ! {
        let mut state = self.state();
        loop {
            let Some((mut work, pages)) = state.next.take() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.is_busy = true;
            drop(state);
            match &pages {
                Some(pages) => work.run(&Memory::limited(&Limits::watched(*memory, &**pages))),
                None => work.run(memory),
            }
            state = self.state();
            state.is_busy = false;
            // If more was submitted, this was work from before a reset.
            if state.next.is_none() {
                state.done = Some(work);
            }
            self.changed.notify_all();
            drop(state);
            announce();
            state = self.state();
        }
    }
}

//! Lists and programs that are being executed, as another thread sees them.
//!
//! It sees how far they are, can request them to stop, and can add requests of user programs.
//!
//! Execution takes the host longer than a chip, so software that looks for progress after some time must be shown what there is. A control list executor
//! reads a list byte by byte; here the address of the record in progress and the byte behind it alternate for as long as programs end. A program without an
//! end therefore stands still, as on a chip, and a long list does not.
//!
//! Nothing here changes what is computed, unless a stop is requested: then the work that is stopped is lost.

use crate::memory::Memory;
use crate::qpu::io::Io;
use crate::qpu::qps::Request;
use crate::qpu::{CodeCache, Exit, Qpu};
use crate::threads::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
#[cfg(feature = "threads")]
use std::time::{Duration, Instant};
use v3d_hw::BusAddr;
use v3d_hw::registers::Thread;

/// Instructions that a program executes between two looks for a stop: some ten milliseconds.
const SLICE_INSTRUCTIONS: u64 = 1 << 20;

/// Software that makes no request for this long is taken to have made all of them: each takes a guest in QEMU some microseconds.
#[cfg(feature = "threads")]
const BETWEEN_REQUESTS: Duration = Duration::from_micros(40);

/// Runs with a slice of the budget.
#[inline(always)]
fn in_slice(budget: &mut u64, run: impl FnOnce(&mut u64) -> Exit) -> Exit {
    let slice = SLICE_INSTRUCTIONS.min(*budget);
    let mut left = slice;
    let exit = run(&mut left);
    *budget -= slice - left;
    exit
}

/// What is being executed, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Supervision {
    stops: [AtomicBool; 2],
    records: [AtomicU32; 2],
    has_moved: AtomicBool,
    /// Software goes on meanwhile, and may request user programs.
    #[cfg(feature = "threads")]
    is_beside: bool,
    requests: Mutex<Requests>,
}

/// Requests of user programs that have come meanwhile.
#[derive(Debug, Default)]
struct Requests {
    waiting: Vec<Request>,
    /// How many have come so far.
    count: u64,
}

impl Supervision {
    /// The same for what runs beside software.
    pub(crate) fn beside() -> Self {
        Self {
            #[cfg(feature = "threads")]
            is_beside: true,
            ..Self::default()
        }
    }

    /// Adds a request of a user program, to be executed after those that are executed now.
    pub(crate) fn add_request(&self, request: Request) {
        let mut requests = lock(&self.requests);
        requests.waiting.push(request);
        requests.count += 1;
    }

    /// Takes the requests that have come since the last call.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut lock(&self.requests).waiting)
    }

    /// Waits until no more requests come: software makes several in succession, and they can then be executed at once.
    #[cfg(feature = "threads")]
    pub(crate) fn await_requests(&self) {
        let (mut seen, mut since) = (0, Instant::now());
        while self.is_beside && since.elapsed() < BETWEEN_REQUESTS {
            std::thread::yield_now();
            let count = lock(&self.requests).count;
            if count != seen {
                (seen, since) = (count, Instant::now());
            }
        }
    }

    /// Requests a stop of a control list thread.
    pub fn stop(&self, thread: Thread) {
        self.stops[thread as usize].store(true, Ordering::Relaxed);
    }

    /// Requests a stop of both threads and of user programs.
    pub fn stop_all(&self) {
        self.stop(Thread::Binning);
        self.stop(Thread::Rendering);
    }

    /// Whether a thread is to stop.
    pub fn is_stopped(&self, thread: Thread) -> bool {
        self.stops[thread as usize].load(Ordering::Relaxed)
    }

    /// Whether everything is to stop.
    pub fn all_stopped(&self) -> bool {
        self.is_stopped(Thread::Binning) && self.is_stopped(Thread::Rendering)
    }

    /// A thread has come to a record.
    pub(crate) fn reach(&self, thread: Thread, record: BusAddr) {
        let place = &self.records[thread as usize];
        if place.load(Ordering::Relaxed) != record.0 {
            place.store(record.0, Ordering::Relaxed);
        }
    }

    /// The record to which a thread has come.
    pub fn record(&self, thread: Thread) -> BusAddr {
        BusAddr(self.records[thread as usize].load(Ordering::Relaxed))
    }

    /// Whether a program has ended since the last call.
    pub fn take_moved(&self) -> bool {
        self.has_moved.swap(false, Ordering::Relaxed)
    }

    /// Runs a program of a thread's list as [`Qpu::run`] does, and takes the rest of its budget away if the thread is stopped meanwhile.
    pub(crate) fn run(
        &self,
        thread: Thread,
        qpu: &mut Qpu,
        io: &mut dyn Io,
        memory: Memory<'_>,
        code: &CodeCache,
        budget: &mut u64,
    ) -> Exit {
        loop {
            let exit = in_slice(budget, |left| qpu.run(io, memory, code, left));
            if let Some(exit) = self.after_slice(thread, exit, budget) {
                return exit;
            }
        }
    }

    /// The same for a program that was [restarted](Qpu::restart).
    #[inline(always)]
    pub(crate) fn rerun<I: Io>(
        &self,
        thread: Thread,
        qpu: &mut Qpu,
        io: &mut I,
        memory: Memory<'_>,
        code: &CodeCache,
        budget: &mut u64,
    ) -> Exit {
        let exit = in_slice(budget, |left| qpu.rerun(io, memory, code, left));
        match self.after_slice(thread, exit, budget) {
            Some(exit) => exit,
            None => self.run(thread, qpu, io, memory, code, budget),
        }
    }

    /// Notes how a slice has ended; how the program has, unless it goes on.
    #[inline(always)]
    fn after_slice(&self, thread: Thread, exit: Exit, budget: &mut u64) -> Option<Exit> {
        if exit != Exit::OutOfBudget {
            // Written only where it changes, as all host threads read it.
            if !self.has_moved.load(Ordering::Relaxed) {
                self.has_moved.store(true, Ordering::Relaxed);
            }
            return Some(exit);
        }
        if self.is_stopped(thread) {
            *budget = 0;
        }
        (*budget == 0).then_some(exit)
    }
}

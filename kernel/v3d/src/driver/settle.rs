//! The state of the control list threads between jobs.
//!
//! A thread starts a list only with the semaphore and the return stack that the list expects. A binning list increments thread 1's semaphore, and its rendering
//! list takes the increment. A rendering list that never waits leaves it behind; then the next rendering list would run ahead of its binner, over memory that
//! holds no tile lists yet. The validator refuses such jobs; the driver does not rely on that.
//!
//! While thread 1 is idle, CTSEMA must be the number of jobs that are binned and not yet rendered. If it is more, both threads are reset, which clears all of
//! CTnCS [AG p.85], and the jobs that had been binned are binned again, one by one: a job that raises the semaphore twice is found that way, and dropped.
//!
//! An increment too few is not detected here: its job hangs, and recovery tries it again.

use super::Driver;
use crate::error::Failure;
use crate::platform::Platform;
use crate::platform::register_access::flags;
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::{Register, Thread};

/// Highest value of a semaphore, which has three bits [AG p.85]. No more jobs are binned ahead of their rendering.
const MAX_SEMAPHORE: usize = 7;

impl<P: Platform> Driver<'_, P> {
    /// Resets a control list thread, which stops it and clears its semaphore and its return stack.
    pub(super) fn reset_thread(&self, thread: Thread) {
        self.platform.write(Register::ctncs(thread), flags(Ctncs { ctrsta: true, ..Ctncs::default() }));
    }

    /// Whether another job may be binned: the semaphore has room for its increment.
    pub(super) fn can_bin_ahead(&self) -> bool {
        let most = if self.one_by_one { 1 } else { MAX_SEMAPHORE };
        self.jobs.iter().filter(|job| job.awaits_rendering() || job.runs_on(Thread::Rendering)).count() < most
    }

    /// Clears what lists of earlier jobs have left in the threads. `false` if that is not known yet: no list may be started then.
    pub(super) fn settle_threads(&mut self) -> bool {
        if self.threads_are_opaque {
            return true;
        }
        if self.is_idle(Thread::Binning) && self.has_remains(Thread::Binning, 0) {
            self.clear_remains(Thread::Binning);
        }
        if !self.is_idle(Thread::Rendering) || !self.has_remains(Thread::Rendering, self.jobs_binned()) {
            return true;
        }
        // The list that is being binned may have ended since the counters were read.
        self.observe();
        if !self.has_remains(Thread::Rendering, self.jobs_binned()) {
            return true;
        }
        if !self.is_idle(Thread::Binning) {
            return false;
        }
        self.clear_remains(Thread::Rendering);
        let mut binned = (0..self.jobs.len()).filter(|&index| self.jobs[index].awaits_rendering());
        if let (true, Some(guilty), None) = (self.one_by_one, binned.next(), binned.next()) {
            // The semaphore was 0 before it.
            self.fail_job(guilty, Failure::Semaphore);
            return false;
        }
        // Their increments are gone as well. If it was one of them, it is found.
        self.one_by_one = self.jobs_binned() > 0;
        for index in 0..self.jobs.len() {
            let job = &mut self.jobs[index];
            job.rewind();
            let blocks = core::mem::take(&mut job.blocks);
            self.return_overflow_blocks(blocks);
        }
        true
    }

    /// Number of jobs whose increment has not been taken.
    fn jobs_binned(&self) -> usize {
        self.jobs.iter().filter(|job| job.awaits_rendering()).count()
    }

    /// Whether a thread executes nothing.
    fn is_idle(&self, thread: Thread) -> bool {
        !self.jobs.iter().any(|job| job.runs_on(thread)) && !self.status(thread).ctrun
    }

    /// Whether an idle thread has more increments than expected, or return addresses.
    fn has_remains(&self, thread: Thread, increments: usize) -> bool {
        let Ctncs { ctsema, ctrtsd, .. } = self.status(thread);
        usize::from(ctsema) > increments || ctrtsd > 0
    }

    /// Resets an idle thread. If its status stays, it is not what the guide says, and is no longer evaluated.
    fn clear_remains(&mut self, thread: Thread) {
        self.statistics.threads_cleared += 1;
        self.reset_thread(thread);
        self.threads_are_opaque = self.has_remains(thread, 0);
    }
}

//! Scheduling: each thread gets its next list when it has ended the last.
//!
//! Before a list is started, the [caches](crate::memory::caches) are cleared that may hold older data than it needs.

use super::Driver;
use crate::jobs::fence::Fence;
use crate::jobs::job::Job;
use crate::lists::record_list::ControlList;
use crate::memory::caches;
use crate::memory::pool::{Buffer, Owner};
use crate::platform::Platform;
use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::pipeline::{Bfc, Rfc};
use v3d_hw::registers::{Register, Thread};

/// The state of a job in one of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobState {
    Waiting,
    /// Started at this time, when the thread's counter had this value.
    Running {
        since_us: u64,
        count: u8,
    },
    Done {
        at_us: u64,
    },
}

/// A job that is not done.
#[derive(Debug)]
pub(super) struct InFlight {
    fence: Fence,
    job: Job,
    binning: JobState,
    rendering: JobState,
    /// Number of failures.
    pub(super) failures: u32,
    /// Overflow memory that the binner took for it.
    pub(super) blocks: Vec<Buffer>,
    /// Dropped together with the job.
    owners: Vec<Owner>,
}

impl InFlight {
    pub(super) fn new(fence: Fence, job: Job, owners: Vec<Owner>) -> Self {
        let (binning, rendering) = (JobState::Waiting, JobState::Waiting);
        let mut this = Self { fence, job, binning, rendering, failures: 0, blocks: Vec::new(), owners };
        this.rewind();
        this
    }

    pub(super) const fn fence(&self) -> Fence {
        self.fence
    }

    pub(super) const fn job(&self) -> Job {
        self.job
    }

    /// Returns to the initial state after a reset.
    pub(super) fn rewind(&mut self) {
        self.binning = if self.job.binning.is_some() { JobState::Waiting } else { JobState::Done { at_us: 0 } };
        self.rendering = JobState::Waiting;
    }

    fn stage(&self, thread: Thread) -> JobState {
        match thread {
            Thread::Binning => self.binning,
            Thread::Rendering => self.rendering,
        }
    }

    fn stage_mut(&mut self, thread: Thread) -> &mut JobState {
        match thread {
            Thread::Binning => &mut self.binning,
            Thread::Rendering => &mut self.rendering,
        }
    }

    fn list(&self, thread: Thread) -> Option<ControlList> {
        match thread {
            Thread::Binning => self.job.binning,
            Thread::Rendering => Some(self.job.rendering),
        }
    }

    /// Time at which the first of both threads started this job.
    pub(super) fn running_since_us(&self) -> Option<u64> {
        let since = |stage| match stage {
            JobState::Running { since_us, .. } => Some(since_us),
            _ => None,
        };
        match (since(self.binning), since(self.rendering)) {
            (Some(binning), Some(rendering)) => Some(binning.min(rendering)),
            (one, other) => one.or(other),
        }
    }

    /// Whether it has been binned, and its rendering has not been started.
    pub(super) fn awaits_rendering(&self) -> bool {
        self.job.binning.is_some()
            && matches!((self.binning, self.rendering), (JobState::Done { .. }, JobState::Waiting))
    }

    /// Whether this thread is executing the job.
    pub(super) fn runs_on(&self, thread: Thread) -> bool {
        matches!(self.stage(thread), JobState::Running { .. })
    }
}

impl<P: Platform> Driver<'_, P> {
    /// Starts every thread that is idle and has work.
    pub(super) fn start(&mut self) {
        if self.settle_threads() {
            self.start_thread(Thread::Binning);
        }
        // An engine that executes a list immediately has already finished: without this check, all of its time would count as binning.
        self.observe();
        if self.settle_threads() {
            self.start_thread(Thread::Rendering);
        }
    }

    /// Starts the list of the oldest job that the thread has not started.
    fn start_thread(&mut self, thread: Thread) {
        let Some(index) = self.jobs.iter().position(|job| job.stage(thread) == JobState::Waiting) else { return };
        let other_runs = self.jobs.iter().any(|job| job.runs_on(thread));
        let Some(list) = self.jobs[index].list(thread) else { return };
        // A rendering list waits for its own binning, which must have been started.
        let too_early = thread == Thread::Rendering
            && match self.jobs[index].binning {
                JobState::Waiting => true,
                JobState::Running { .. } => self.one_by_one,
                JobState::Done { .. } => false,
            };
        let too_far_ahead = thread == Thread::Binning && !self.can_bin_ahead();
        if other_runs || too_early || too_far_ahead || self.status(thread).ctrun {
            return;
        }
        let is_first = thread == Thread::Binning || self.jobs[index].job.binning.is_none();
        if is_first {
            caches::clear(self.platform);
        } else {
            caches::clear_textures(self.platform);
        }
        if thread == Thread::Binning {
            // Memory that the binner received for the previous job belongs to that job's tile lists and must not be used for this one.
            self.platform.write(Register::BPOA, 0);
            self.platform.write(Register::BPOS, 0);
            self.interrupts.binning_begins(self.platform);
        }
        let count = self.count(thread);
        *self.jobs[index].stage_mut(thread) = JobState::Running { since_us: self.platform.now_us(), count };
        self.watch.moved(self.platform.now_us());
        self.platform.write(Register::ctnca(thread), list.start.0);
        self.platform.write(Register::ctnea(thread), list.end_exclusive.0);
    }

    /// Control and status of a thread.
    pub(super) fn status(&self, thread: Thread) -> Ctncs {
        Ctncs::from_word(self.platform.read(Register::ctncs(thread)))
    }

    /// The thread's counter of completed frames.
    fn count(&self, thread: Thread) -> u8 {
        match thread {
            Thread::Binning => Bfc::from_word(self.platform.read(Register::BFC)).bmfct,
            Thread::Rendering => Rfc::from_word(self.platform.read(Register::RFC)).rmfct,
        }
    }

    /// Updates the states of jobs from the counters, and removes jobs that are done.
    pub(super) fn observe(&mut self) {
        if self.was_reset() {
            // The counters have started again: another value does not mean that a frame is done.
            return;
        }
        let now = self.platform.now_us();
        for thread in [Thread::Binning, Thread::Rendering] {
            let count = self.count(thread);
            for job in &mut self.jobs {
                if let JobState::Running { since_us, count: before } = job.stage(thread)
                    && before != count
                {
                    *job.stage_mut(thread) = JobState::Done { at_us: now };
                    if thread == Thread::Binning {
                        self.interrupts.binning_ends();
                    }
                    match (thread, job.binning) {
                        (Thread::Binning, _) => self.statistics.last_binning_us = now.saturating_sub(since_us),
                        (Thread::Rendering, JobState::Done { at_us }) => {
                            self.statistics.last_rendering_us = now.saturating_sub(at_us.max(since_us));
                        }
                        (Thread::Rendering, _) => {}
                    }
                    self.watch.moved(now);
                }
            }
        }
        while self
            .jobs
            .front()
            .is_some_and(|job| matches!((job.binning, job.rendering), (JobState::Done { .. }, JobState::Done { .. })))
        {
            if let Some(InFlight { blocks, owners, .. }) = self.jobs.pop_front() {
                self.statistics.jobs_done += 1;
                self.return_overflow_blocks(blocks);
                drop(owners);
            }
        }
        self.one_by_one &= !self.jobs.is_empty();
    }
}

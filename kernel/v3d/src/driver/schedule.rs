//! Scheduling: each thread gets its next list when it has ended the last.
//!
//! Before a job's first list is started, all caches are cleared. Clearing them while the other thread still works only makes that
//! thread fetch again what it needs.

use super::Driver;
use crate::caches;
use crate::fence::Fence;
use crate::job::Job;
use crate::platform::Platform;
use crate::pool::{Buffer, Owner};
use crate::record_list::ControlList;
use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::pipeline::{Bfc, Rfc};
use v3d_hw::registers::{Register, Thread};

/// How far one thread is with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
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
    binning: Stage,
    rendering: Stage,
    /// How often it has failed.
    pub(super) failures: u32,
    /// Overflow memory that the binner took for it.
    pub(super) blocks: Vec<Buffer>,
    /// What is dropped when the job is.
    owners: Vec<Owner>,
}

impl InFlight {
    pub(super) fn new(fence: Fence, job: Job, owners: Vec<Owner>) -> Self {
        let (binning, rendering) = (Stage::Waiting, Stage::Waiting);
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

    /// Back to the start, after a reset.
    pub(super) fn rewind(&mut self) {
        self.binning = if self.job.binning.is_some() { Stage::Waiting } else { Stage::Done { at_us: 0 } };
        self.rendering = Stage::Waiting;
    }

    fn stage(&self, thread: Thread) -> Stage {
        match thread {
            Thread::Binning => self.binning,
            Thread::Rendering => self.rendering,
        }
    }

    fn stage_mut(&mut self, thread: Thread) -> &mut Stage {
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

    /// Since when a thread works for this job, the earlier of both.
    pub(super) fn running_since_us(&self) -> Option<u64> {
        let since = |stage| match stage {
            Stage::Running { since_us, .. } => Some(since_us),
            _ => None,
        };
        match (since(self.binning), since(self.rendering)) {
            (Some(binning), Some(rendering)) => Some(binning.min(rendering)),
            (one, other) => one.or(other),
        }
    }

    /// Whether this thread works for this job.
    pub(super) fn runs_on(&self, thread: Thread) -> bool {
        matches!(self.stage(thread), Stage::Running { .. })
    }
}

impl<P: Platform> Driver<'_, P> {
    /// Starts every thread that is free and has something to do.
    pub(super) fn start(&mut self) {
        self.start_thread(Thread::Binning);
        // An engine that executes a list in no time has done so by now: without a look in between, all its time would count as binning.
        self.observe();
        self.start_thread(Thread::Rendering);
    }

    /// Gives the thread the list of the oldest job that it has not begun.
    fn start_thread(&mut self, thread: Thread) {
        let Some(index) = self.jobs.iter().position(|job| job.stage(thread) == Stage::Waiting) else { return };
        let other_runs = self.jobs.iter().any(|job| job.runs_on(thread));
        let Some(list) = self.jobs[index].list(thread) else { return };
        // A rendering list waits for its own binning, which has to be begun for that.
        let too_early = thread == Thread::Rendering && self.jobs[index].binning == Stage::Waiting;
        if other_runs || too_early || self.status(thread).ctrun {
            return;
        }
        caches::clear(self.platform);
        if thread == Thread::Binning {
            // What the binner was given for the job before must not serve this one: it belongs to that job's tile lists.
            self.platform.write(Register::BPOA, 0);
            self.platform.write(Register::BPOS, 0);
            self.interrupts.binning_begins(self.platform);
        }
        let count = self.count(thread);
        *self.jobs[index].stage_mut(thread) = Stage::Running { since_us: self.platform.now_us(), count };
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

    /// Marks what the counters say is done, and takes jobs out that are done.
    pub(super) fn observe(&mut self) {
        let now = self.platform.now_us();
        for thread in [Thread::Binning, Thread::Rendering] {
            let count = self.count(thread);
            for job in &mut self.jobs {
                if let Stage::Running { since_us, count: before } = job.stage(thread)
                    && before != count
                {
                    *job.stage_mut(thread) = Stage::Done { at_us: now };
                    match (thread, job.binning) {
                        (Thread::Binning, _) => self.statistics.last_binning_us = now.saturating_sub(since_us),
                        (Thread::Rendering, Stage::Done { at_us }) => {
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
            .is_some_and(|job| matches!((job.binning, job.rendering), (Stage::Done { .. }, Stage::Done { .. })))
        {
            if let Some(InFlight { blocks, owners, .. }) = self.jobs.pop_front() {
                self.statistics.jobs_done += 1;
                self.return_overflow_blocks(blocks);
                drop(owners);
            }
        }
    }
}

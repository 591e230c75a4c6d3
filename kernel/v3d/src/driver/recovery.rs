//! Detection of hangs and errors, and recovery by a reset.
//!
//! Progress is measured by registers: the threads' addresses, the pipeline's status, the number of remaining primitives, the binner's memory. If none of them
//! changes for a while although there is work, the V3D is hung. The driver then captures a report, resets the V3D, and restarts all jobs in flight, since
//! execution does not change lists. It does the same if the V3D was reset by something else, which it detects by the scratch register. The job that hung gets
//! one more try; if it fails again it is dropped, and the next one runs. Of two jobs that hang together neither is blamed: all are restarted one by one.
//!
//! # A reset that fails
//! Where the board cannot reset the V3D, or SCRATCH shows that it has not, programs may still run. The memory that they may access is kept for ever, or until a
//! later reset works: [`Pool::keep_all`](crate::memory::pool::Pool::keep_all).
//!
//! # Sources
//! [linux vc4_gem.c] for the measure of progress, [AG p.85-88].

use super::Driver;
use crate::diagnosis::error_status;
use crate::diagnosis::report::Report;
use crate::error::Failure;
use crate::jobs::job::Submission;
use crate::platform::Platform;
use alloc::vec::Vec;
use v3d_hw::Layout;
use v3d_hw::registers::{Register, Thread};

/// Number of reports that are kept until they are taken.
const MAX_REPORTS: usize = 16;
/// Number of dropped jobs that are remembered.
const MAX_FAILED: usize = 64;

/// Value of SCRATCH from initialisation until the next reset: "rust" in ASCII.
pub(super) const MARK: u32 = 0x7275_7374;

/// Registers that change while the V3D works.
const PROGRESS: [Register; 6] =
    [Register::CT0CA, Register::CT1CA, Register::PCS, Register::CT0PC, Register::CT1PC, Register::BPCA];

/// The time of the last progress.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Whether SCRATCH keeps its value; otherwise it is not evaluated.
    pub(super) mark_holds: bool,
    seen: [u32; PROGRESS.len()],
    moved_us: u64,
}

impl Watch {
    /// Records progress.
    pub(super) fn moved(&mut self, now_us: u64) {
        self.moved_us = now_us;
    }
}

impl<P: Platform> Driver<'_, P> {
    /// Detects errors, hangs and jobs that take too long, and handles them.
    pub(super) fn check_errors(&mut self) {
        self.note_error_bits();
        let now = self.platform.now_us();
        if self.jobs.is_empty() {
            self.watch.moved(now);
            return;
        }
        for thread in [Thread::Binning, Thread::Rendering] {
            if self.status(thread).cterr {
                self.fail_thread(thread, Failure::ControlListError(thread));
                return;
            }
        }
        let seen = PROGRESS.map(|register| self.platform.read(register));
        if seen != self.watch.seen {
            self.watch.seen = seen;
            self.watch.moved(now);
        }
        let oldest = self.jobs.iter().find_map(|job| job.running_since_us());
        let too_long = oldest.is_some_and(|since| now.saturating_sub(since) > self.limits.job_us);
        let failure = if now.saturating_sub(self.watch.moved_us) > self.limits.hang_us {
            Failure::Hang
        } else if too_long {
            Failure::TooLong
        } else {
            return;
        };
        match self.guilty_job() {
            Some(index) => self.fail_job(index, failure),
            None => self.fail_nobody(failure),
        }
    }

    /// Whether something other than the driver has reset the V3D, so that its counters are meaningless.
    pub(super) fn was_reset(&self) -> bool {
        self.watch.mark_holds && self.platform.read(Register::SCRATCH) != MARK
    }

    /// Initialises a V3D that was reset by something else, and restarts all jobs in flight.
    pub(super) fn recover_from_reset(&mut self) {
        match self.guilty_job() {
            Some(index) => self.fail_job(index, Failure::UnexpectedReset),
            None if self.jobs.iter().any(|job| job.running_since_us().is_some()) => {
                self.fail_nobody(Failure::UnexpectedReset);
            }
            None => self.reset(),
        }
    }

    /// The job that makes no progress, by its index: the only one that runs. Of two, each may keep the QPUs that the other needs.
    fn guilty_job(&self) -> Option<usize> {
        let mut running = (0..self.jobs.len()).filter(|&index| self.jobs[index].running_since_us().is_some());
        let first = running.next();
        if running.next().is_some() { None } else { first }
    }

    /// Resets the V3D when it is not known which job is to blame, or when a thread is busy with the list of a job that is done. All jobs are restarted one
    /// after the other, so that each of them runs, or fails, by itself.
    fn fail_nobody(&mut self, failure: Failure) {
        let report = Report::capture(self.platform, None, failure, 1, Submission::default());
        self.reset();
        self.one_by_one = true;
        self.rewind_jobs();
        self.keep(report);
    }

    /// All jobs will be started again.
    fn rewind_jobs(&mut self) {
        self.statistics.retries += self.jobs.iter().filter(|job| job.running_since_us().is_some()).count() as u64;
        self.jobs.iter_mut().for_each(|job| job.rewind());
    }

    /// Fails the job that this thread executes.
    pub(super) fn fail_thread(&mut self, thread: Thread, failure: Failure) {
        if let Some(index) = self.jobs.iter().position(|job| job.runs_on(thread)) {
            self.fail_job(index, failure);
        }
    }

    /// Fails a job: captures a report, resets the V3D, and starts the next job.
    pub(super) fn fail_job(&mut self, index: usize, failure: Failure) {
        let job = &mut self.jobs[index];
        job.failures += 1;
        let (fence, failures) = (job.fence(), job.failures);
        let submission = Submission { programs: Vec::new(), job: Some(job.job()) };
        let mut report = Report::capture(self.platform, Some(fence), failure, failures, submission);
        // Trying again would not provide more memory, or another list.
        let is_final = matches!(failure, Failure::OutOfBinnerMemory | Failure::Semaphore);
        report.dropped = failures >= self.limits.failures || is_final;

        self.reset();
        if report.dropped {
            self.jobs.remove(index);
            self.statistics.jobs_dropped += 1;
            self.failed.push_back((fence, failure));
            if self.failed.len() > MAX_FAILED {
                self.failed.pop_front();
            }
        }
        self.rewind_jobs();
        self.keep(report);
    }

    /// Stores a report; the oldest one may be dropped.
    pub(super) fn keep(&mut self, report: Report) {
        if self.reports.len() == MAX_REPORTS {
            self.reports.remove(0);
        }
        self.reports.push(report);
    }

    /// Resets and initialises the V3D. If the board cannot reset it, at least the control list threads are reset.
    ///
    /// A program that hangs then still runs, with the memory that it knows: all memory that is allocated is kept until a reset has worked, whoever drops it.
    pub(super) fn reset(&mut self) {
        self.statistics.resets += 1;
        // SCRATCH shows whether a reset that was reported has happened.
        let has_worked =
            self.platform.reset().is_ok() && !(self.watch.mark_holds && self.platform.read(Register::SCRATCH) == MARK);
        if has_worked {
            self.pool.release_kept();
        } else {
            // `prepare` still resets both threads. On boards that alone was not enough [piegpu]: the next job fails as well, and is reported.
            self.statistics.failed_resets += 1;
            self.pool.keep_all();
        }
        self.prepare();
        self.reset_overflow_memory(has_worked);
        self.watch.moved(self.platform.now_us());
    }

    /// Accumulates the bits of ERRSTAT.
    pub(super) fn note_error_bits(&mut self) {
        let errors = error_status::errors(self.platform.read(Register::ERRSTAT));
        self.statistics.error_bits |= errors.to_word().unwrap_or(0);
    }
}

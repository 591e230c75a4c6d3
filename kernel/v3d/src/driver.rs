//! The driver: submitting jobs and waiting for their fences.
//!
//! A job is a pair of lists. Thread 0 bins one job while thread 1 renders the one before: each thread gets its next list as soon as it has ended the last,
//! and the semaphore in the lists keeps a job's rendering behind its own binning. Both threads take jobs in the order of submission.
//!
//! The counters BFC and RFC say which jobs are done; an interrupt only ends a wait early. A lost interrupt therefore costs a poll interval, and a platform
//! without interrupts works.
//!
//! The parts: `schedule` starts lists and detects their end, `settle` clears what lists leave in the threads, `overflow` supplies the binner with memory,
//! `recovery` detects hangs and errors, `programs` executes user programs.
//!
//! # State that outlives a job
//! The V3D has no contexts: all of its state is still there when the next job begins. What a job must not find is cleared, by whom and when:
//!
//! | state | cleared |
//! |---|---|
//! | thread 1's semaphore, thread 0's semaphore, return stacks | by the driver, before a list is started: `settle`; the validator accepts one increment and one wait |
//! | CTnCA, CTnEA | written for each list |
//! | BFC, RFC, CTnLC, performance counters | never: compared with their values at the start, or only read |
//! | interrupts that are latched in INTCTL | acknowledged when they are served; their causes are looked up in PCS, BFC and RFC |
//! | BPOA, BPOS | written with 0 before each binning list: `schedule` |
//! | overflow memory | returned when the job is done; its contents are tile lists, which the next owner writes before they are read |
//! | caches | cleared before each list: [`caches`] |
//! | pipeline state of a thread: records 56, 64, 65 and 96 to 106 | never: a list sets what it draws with. The validator wants a shader state record before primitives; other state that a list does not set is that of the job before, which are numbers without addresses |
//! | clear values | never: they are those of the last Clear Colors. The validator lets no tile be stored that only another job's values have cleared |
//! | tile buffer | never: it holds the last tile. The validator wants its colour to be cleared or loaded before primitives, each part before that is stored, and all pixels of a part before all are stored. Depth need not be cleared before primitives: a depth test may then compare with another job's |
//! | VPM: reservation and limits (VPMBASE, VPACNTL) | written after a reset; lists cannot change them |
//! | VPM: contents; QPU: registers, accumulators, flags | never: a program finds there what programs before it have left |
//! | QPU: mutex, 16 semaphores | by a reset only. The validator refuses programs that use them; user programs must leave the mutex free and semaphores at 0. Where they do not, the next ones do not end, and the reset that stops them clears both |
//! | QPU: interrupts of user programs (DBQITC) | never: DBQITE is 0, so that they have no effect |
//! | ERRSTAT | by a reset only: accumulated in [`Statistics::error_bits`] |
//!
//! # Surprises
//! - CTnCA is ignored while the thread runs, and a thread may still run for a moment after its frame is counted as done [aros] [reactos]; it is started only
//!   when CTRUN is clear.
//! - BFC and RFC are 8 bits wide [AG p.88]; they are compared, not subtracted.
//!
//! # Sources
//! [AG p.62-65, p.85-89], [linux vc4_gem.c, vc4_irq.c] for the order of register writes.

mod overflow;
mod programs;
mod recovery;
mod schedule;
mod settle;

use crate::diagnosis::report::Report;
use crate::diagnosis::statistics::Statistics;
use crate::error::{Error, Failure};
use crate::identity::Identity;
use crate::interrupts::Interrupts;
use crate::jobs::fence::Fence;
use crate::jobs::job::{Job, Submission};
use crate::jobs::user_program::VPM_RESERVATION;
use crate::memory::caches;
use crate::memory::pool::{Buffer, Owner, Pool};
use crate::platform::Platform;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use overflow::OverflowMemory;
use recovery::Watch;
use schedule::InFlight;
use v3d_hw::Layout;
use v3d_hw::registers::vpm::Vpmbase;
use v3d_hw::registers::{Register, Thread};

/// Usual number of jobs in flight at most, for which memory is allocated from the start: two frames of eight passes.
const JOBS_EXPECTED: usize = 16;
/// Number of jobs that [`Driver::recent_job`] knows.
pub const RECENT_JOBS: usize = 16;

/// Time limits, and limits of the binner's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Microseconds without progress after which the V3D is considered hung.
    pub hang_us: u64,
    /// Microseconds after which a job is stopped, even if it makes progress.
    pub job_us: u64,
    /// Microseconds in which the user programs of an operation have to end, for callers of [`Driver::run_programs`] that know no better limit.
    pub programs_us: u64,
    /// Microseconds between two polls while the driver waits.
    pub poll_interval_us: u64,
    /// Failures after which a job is dropped.
    pub failures: u32,
    /// Size of a block of overflow memory in bytes.
    pub overflow_block_bytes: u32,
    /// Number of blocks of overflow memory that are kept ready.
    pub overflow_blocks: u32,
    /// The greatest number of blocks of overflow memory.
    pub max_overflow_blocks: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hang_us: 200_000,
            job_us: 5_000_000,
            programs_us: 10_000_000,
            poll_interval_us: 1_000,
            failures: 2,
            overflow_block_bytes: 256 * 1024,
            overflow_blocks: 2,
            max_overflow_blocks: 32,
        }
    }
}

/// The driver of one V3D.
#[derive(Debug)]
pub struct Driver<'p, P> {
    platform: &'p P,
    interrupts: &'p Interrupts,
    identity: Identity,
    limits: Limits,
    pool: Pool,
    /// Jobs that are not done, oldest first.
    jobs: VecDeque<InFlight>,
    last: Fence,
    last_submission: Submission,
    /// Owners of memory that the programs of the last submission used.
    program_owners: Vec<Owner>,
    /// The last jobs, the newest first.
    recent_jobs: VecDeque<Job>,
    /// Dropped jobs, kept for later queries.
    failed: VecDeque<(Fence, Failure)>,
    overflow: OverflowMemory,
    watch: Watch,
    reports: Vec<Report>,
    statistics: Statistics,
    busy_since_us: Option<u64>,
    /// Until no job is in flight, each is binned and rendered before the next one is started: one of them breaks rules, and it is not known which.
    one_by_one: bool,
    /// The threads' status does not say what the guide says, so that it is not evaluated between jobs.
    threads_are_opaque: bool,
}

impl<'p, P: Platform> Driver<'p, P> {
    /// Checks that there is a V3D with power, and initialises it.
    pub fn bring_up(platform: &'p P, interrupts: &'p Interrupts, limits: Limits) -> Result<Self, Error> {
        let identity = Identity::read(platform)?;
        let mut driver = Self {
            platform,
            interrupts,
            identity,
            limits,
            pool: Pool::new(platform.base(), platform.bytes()),
            jobs: VecDeque::with_capacity(JOBS_EXPECTED),
            last: Fence::NONE,
            last_submission: Submission::default(),
            program_owners: Vec::new(),
            recent_jobs: VecDeque::with_capacity(RECENT_JOBS),
            failed: VecDeque::new(),
            overflow: OverflowMemory::default(),
            watch: Watch::default(),
            reports: Vec::new(),
            statistics: Statistics::default(),
            busy_since_us: None,
            one_by_one: false,
            threads_are_opaque: false,
        };
        driver.prepare();
        driver.prepare_overflow_memory()?;
        Ok(driver)
    }

    /// Initialises the registers, after power-on and after each reset.
    fn prepare(&mut self) {
        let registers = self.platform;
        self.interrupts.disable(registers);
        self.interrupts.binning_ends();
        // Must be written before anything is shaded, so before everything else.
        let reservation = Vpmbase { vpmursv: VPM_RESERVATION };
        registers.write(Register::VPMBASE, reservation.to_word().unwrap_or(0));
        self.reset_thread(Thread::Binning);
        self.reset_thread(Thread::Rendering);
        // The firmware leaves QPUs reserved [aros].
        registers.write(Register::SQRSV0, 0);
        registers.write(Register::SQRSV1, 0);
        caches::enable(registers);
        registers.write(Register::BPOA, 0);
        registers.write(Register::BPOS, 0);
        registers.write(Register::SCRATCH, recovery::MARK);
        self.watch.mark_holds = registers.read(Register::SCRATCH) == recovery::MARK;
        self.interrupts.enable(registers);
    }

    /// The identity of this V3D.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The platform.
    pub const fn platform(&self) -> &'p P {
        self.platform
    }

    /// The pool that all memory is taken from.
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Allocates memory from the pool. If there is none, waits until jobs in flight have freed theirs.
    pub fn allocate(&mut self, bytes: u32, alignment: u32) -> Result<Buffer, Error> {
        loop {
            match (self.pool.allocate(bytes, alignment), self.jobs.front()) {
                (Err(Error::PoolExhausted { .. }), Some(oldest)) => {
                    let fence = oldest.fence();
                    while !self.is_done(fence) {
                        self.sleep();
                    }
                }
                (answer, _) => return answer,
            }
        }
    }

    /// Allocates memory from the pool and copies `bytes` there.
    pub fn upload(&mut self, bytes: &[u8], alignment: u32) -> Result<Buffer, Error> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let buffer = self.allocate(length, alignment)?;
        buffer.region().store(self.platform, 0, bytes)?;
        Ok(buffer)
    }

    /// Number of bytes of the pool that are allocated, and in total.
    pub fn pool_use(&self) -> (u32, u32) {
        (self.pool.used(), self.pool.bytes())
    }

    /// Submits a job, which starts as soon as the threads are free. The memory of its lists, and all memory that they refer to, must not change until the job
    /// is done.
    pub fn submit(&mut self, job: Job) -> Fence {
        self.submit_with(job, Vec::new())
    }

    /// Submits a job, and keeps the owners of the memory that it uses until it is done or dropped.
    pub fn submit_with(&mut self, job: Job, mut owners: Vec<Owner>) -> Fence {
        self.last = self.last.next();
        if self.last_submission.job.is_some() {
            self.last_submission.programs.clear();
        }
        self.last_submission.job = Some(job);
        // A capture has them run before the job, with what this memory holds then.
        owners.append(&mut self.program_owners);
        self.recent_jobs.truncate(RECENT_JOBS - 1);
        self.recent_jobs.push_front(job);
        self.jobs.push_back(InFlight::new(self.last, job, owners));
        self.account();
        self.poll();
        self.last
    }

    /// Finishes jobs that are done, and starts lists that can be started. Never waits for the GPU.
    pub fn poll(&mut self) {
        if self.was_reset() {
            self.recover_from_reset();
        }
        self.interrupts.service(self.platform);
        self.collect_overflow_blocks();
        self.observe();
        self.check_errors();
        self.start();
        self.account();
    }

    /// Whether the job is done (or dropped).
    pub fn is_done(&mut self, fence: Fence) -> bool {
        self.poll();
        self.is_past(fence)
    }

    fn is_past(&self, fence: Fence) -> bool {
        self.jobs.front().map_or(fence <= self.last, |job| fence < job.fence())
    }

    /// Waits until the job is done; fails if it was dropped.
    ///
    /// The wait ends even if the GPU hangs: the job is then restarted, and finally dropped.
    pub fn wait(&mut self, fence: Fence) -> Result<(), Error> {
        if fence > self.last {
            return Err(Error::UnknownFence(fence));
        }
        while !self.is_done(fence) {
            self.sleep();
        }
        match self.failed.iter().find(|(failed, _)| *failed == fence) {
            Some(&(fence, failure)) => Err(Error::JobFailed { fence, failure }),
            None => Ok(()),
        }
    }

    /// Waits until no job is in flight. Memory of [user programs](Self::run_programs_with) is not kept any longer.
    pub fn wait_until_idle(&mut self) {
        while !self.is_done(self.last) {
            self.sleep();
        }
        self.program_owners.clear();
    }

    /// Sleeps until an interrupt or the next poll.
    fn sleep(&self) {
        self.platform.wait_until(self.platform.now_us() + self.limits.poll_interval_us);
    }

    /// Accounts the time in which jobs are in flight.
    fn account(&mut self) {
        let now = self.platform.now_us();
        match (self.busy_since_us, self.jobs.is_empty()) {
            (None, false) => self.busy_since_us = Some(now),
            (Some(since), empty) => {
                self.statistics.busy_us += now.saturating_sub(since);
                self.busy_since_us = (!empty).then_some(now);
            }
            (None, true) => {}
        }
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets limits, for jobs in flight too.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The statistics so far.
    pub fn statistics(&self) -> Statistics {
        Statistics { interrupts: u64::from(self.interrupts.served()), ..self.statistics }
    }

    /// Takes the reports of failed jobs, oldest first.
    pub fn take_reports(&mut self) -> Vec<Report> {
        core::mem::take(&mut self.reports)
    }

    /// The last submitted job, done or not. Its lists exist as long as their memory does.
    pub const fn last_job(&self) -> Option<Job> {
        self.last_submission.job
    }

    /// A job by the number of jobs that were submitted after it, for the last [`RECENT_JOBS`]. Each pass of a frame is a job.
    pub fn recent_job(&self, later: usize) -> Option<Job> {
        self.recent_jobs.get(later).copied()
    }

    /// The last submission, done or not. It exists as long as its memory does.
    pub const fn last_submission(&self) -> &Submission {
        &self.last_submission
    }

    /// The jobs that are not done, oldest first.
    pub fn jobs_in_flight(&self) -> impl Iterator<Item = (Fence, Job)> {
        self.jobs.iter().map(|job| (job.fence(), job.job()))
    }
}

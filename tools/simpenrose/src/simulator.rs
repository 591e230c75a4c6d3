//! The V3D, its jobs, and what is reported of them.

use crate::buffers::Buffers;
use crate::costs;
use crate::options::{CapturedJobs, Options};
use std::ops::Range;
use std::path::{Path, PathBuf};
use v3d_sim::job::Job;
use v3d_sim::job::capture::{CapturedJob, MemoryImage, job_of_lists, write_folder};
use v3d_sim::lists::{End, Lists, run_binning_list, run_rendering_list};
use v3d_sim::memory::Limits;
use v3d_sim::{Config, Fault, Memory, V3d};

/// A V3D with the state that its caller has set.
#[derive(Debug)]
pub struct Simulator {
    options: Options,
    device: V3d,
    overflow: Option<Range<u32>>,
    /// The caller's buffer objects.
    pub buffers: Buffers,
    /// Whether accesses outside of the buffers and of the overflow memory are faults.
    pub is_limited: bool,
    job: u32,
    /// The current job, between its lists and during them.
    current: Current,
    /// Where the next job is written to.
    next_capture: Option<PathBuf>,
}

/// The current job.
#[derive(Debug, Default)]
struct Current {
    /// A binning list, whose rendering list is yet to come.
    binned: Option<Range<u32>>,
    image: Option<MemoryImage>,
    capture: Option<PathBuf>,
    is_faulty: bool,
}

/// What has happened in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The job's number.
    pub job: u32,
    /// Whether the list is done, as far as the caller is concerned.
    pub is_done: bool,
    /// Faults, and what else is wrong, in words.
    pub faults: Vec<String>,
    /// Remarks in words: nothing is wrong.
    pub remarks: Vec<String>,
    /// The cost of the job as a line of JSON, if it is over and costs are counted.
    pub costs: Option<String>,
}

impl Report {
    fn add(&mut self, list: &str, fault: &Fault) {
        let text = format!("{list}: {}: {fault}", fault.kind());
        if fault.is_remark() { self.remarks.push(text) } else { self.faults.push(text) }
    }
}

impl Simulator {
    /// A V3D after reset, without buffers.
    pub fn new(options: Options) -> Self {
        let mut config = Config { parallel: !options.serial, estimate: options.costs.is_some(), ..Config::default() };
        if let Some(budget) = options.budget {
            config.instruction_budget = budget;
        }
        Self {
            device: V3d::new(config),
            overflow: None,
            buffers: Buffers::default(),
            is_limited: options.limits,
            job: 0,
            current: Current::default(),
            next_capture: None,
            options,
        }
    }

    /// Sets what the binner gets when it runs out of memory.
    pub fn set_overflow(&mut self, region: Range<u32>) {
        self.overflow = (!region.is_empty()).then_some(region);
    }

    /// Captures the next job.
    pub fn capture_next(&mut self, folder: PathBuf) {
        self.next_capture = Some(folder);
    }

    /// The number of the job that was started last, or 0.
    pub const fn job(&self) -> u32 {
        self.job
    }

    /// Runs a binning list, which starts a job.
    pub fn bin(&mut self, memory: Memory<'_>, list: Range<u32>) -> Report {
        self.start_job(memory);
        self.current.binned = Some(list.clone());
        let overflow = self.overflow.clone();
        let end = self.run(memory, |device, memory| run_binning_list(device, memory, list, overflow));
        let mut report = self.report("binning", &end);
        if end != End::Done {
            self.end_job(memory, None, &mut report);
        }
        report
    }

    /// Runs a rendering list, which ends the job.
    pub fn render(&mut self, memory: Memory<'_>, list: Range<u32>) -> Report {
        if self.current.binned.is_none() {
            self.start_job(memory);
        }
        let end = self.run(memory, |device, memory| run_rendering_list(device, memory, list.clone()));
        let mut report = self.report("rendering", &end);
        self.end_job(memory, Some(list), &mut report);
        report
    }

    fn start_job(&mut self, memory: Memory<'_>) {
        self.job = self.job.wrapping_add(1);
        let (capture, is_wanted) = match (self.next_capture.take(), &self.options.capture, &self.options.captured_jobs)
        {
            (Some(folder), ..) => (Some(folder), true),
            (None, Some(folder), CapturedJobs::Numbers(numbers)) => {
                (Some(self.folder_in(folder)), numbers.contains(&self.job))
            }
            (None, Some(folder), CapturedJobs::Faulty) => (Some(self.folder_in(folder)), true),
            (None, None, _) => (None, false),
        };
        let image = is_wanted.then(|| MemoryImage::new(memory));
        self.current = Current { image, capture: capture.filter(|_| is_wanted), ..Current::default() };
        // The counts are then those of this job. The caches of the timing model start empty, as a driver clears the V3D's.
        if self.options.costs.is_some() {
            self.device.reset();
        }
    }

    fn folder_in(&self, folder: &Path) -> PathBuf {
        folder.join(format!("job-{:06}", self.job))
    }

    /// Runs something, with limits if there are any.
    fn run(&mut self, memory: Memory<'_>, run: impl FnOnce(&mut V3d, Memory<'_>) -> End) -> End {
        if !self.is_limited || self.buffers.is_empty() {
            return run(&mut self.device, memory);
        }
        let wide = |range: Range<u32>| u64::from(range.start)..u64::from(range.end);
        let ranges: Vec<Range<u64>> = self.buffers.ranges().chain(self.overflow.clone()).map(wide).collect();
        run(&mut self.device, Memory::limited(&Limits::new(memory, &[], &ranges)))
    }

    /// What is to be told of a list. If it is not done, the V3D is not reset yet.
    fn report(&mut self, list: &str, end: &End) -> Report {
        let mut report = Report { job: self.job, is_done: *end == End::Done, ..Report::default() };
        for fault in self.device.take_faults() {
            report.add(list, &fault);
        }
        if !report.is_done {
            report.faults.push(format!("{list}: {end}"));
            report.is_done = self.options.go_on;
        }
        self.current.is_faulty |= !report.faults.is_empty();
        report
    }

    /// Ends the current job: writes its capture, counts its cost, and resets the V3D if it is stuck.
    fn end_job(&mut self, memory: Memory<'_>, rendering: Option<Range<u32>>, report: &mut Report) {
        let Current { binned, image, capture, is_faulty } = std::mem::take(&mut self.current);
        let lists = Lists { binning: binned, rendering, overflow: self.overflow.clone() };
        let mut job = job_of_lists(&lists, memory);
        job.buffers = self.buffers.ranges().map(|range| buffer("buffer object", range)).collect();
        job.buffers.extend(self.overflow.clone().map(|range| buffer("overflow memory", range)));
        if self.options.costs.is_some() {
            report.costs = Some(costs::line(self.job, &job, self.device.counters(), memory));
        }
        let is_wanted = is_faulty || self.options.captured_jobs != CapturedJobs::Faulty;
        if let (Some(folder), Some(image), true) = (capture, image, is_wanted) {
            self.write(&folder, job, &image, report);
        }
        if !self.device.stalls(&memory).is_empty() {
            self.device.reset();
        }
    }

    fn write(&self, folder: &Path, job: Job, image: &MemoryImage, report: &mut Report) {
        let name = format!("job {}", self.job);
        let text = match report.faults.first() {
            Some(fault) => format!("captured by libsimpenrose; {fault}"),
            None => "captured by libsimpenrose".to_owned(),
        };
        if let Err(error) = write_folder(folder, &name, &text, &[CapturedJob::new(job, image)]) {
            report.faults.push(format!("it is not captured: {error}"));
        }
    }
}

fn buffer(kind: &str, range: Range<u32>) -> v3d_sim::job::Buffer {
    v3d_sim::job::Buffer { address: range.start, size: range.end - range.start, kind: kind.to_owned() }
}

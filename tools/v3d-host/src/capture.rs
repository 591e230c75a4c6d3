//! Captures: the jobs that a model has run, as a job folder, which `v3d` replays and explains.
//!
//! A job's memory is kept as it was when its rendering list began, which is after everything before it in the frame: the binning list, which the folder's
//! reader runs again, has only written tile lists by then. User programs are jobs of their own; those that are requested one after the other, without a store
//! by the CPU in between, are one job.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;

use v3d::hw::BusAddr;
use v3d::platform::Names;
use v3d_sim::Memory;
use v3d_sim::job::capture::{CapturedJob, MemoryImage, folder_files, job_of_lists, waits_for_binner, write_folder};
use v3d_sim::job::{Job, JobError, Region, UserProgram};
use v3d_sim::lists::Lists;

use crate::names;

/// Most jobs that are kept; then the oldest ones are dropped.
const MOST_JOBS: usize = 256;
/// Memory behind the model's, for a binner that runs out of memory in a replay.
const OVERFLOW_BYTES: u32 = 16 << 20;
const PAGE_BYTES: u32 = 4096;

/// Why jobs were not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The model does not record jobs, or has run none.
    #[error("nothing has been run that could be captured")]
    Nothing,
    /// The folder exists, or cannot be written.
    #[error(transparent)]
    Folder(#[from] JobError),
}

/// The jobs that have been run, oldest first.
#[derive(Debug)]
pub(crate) struct Recorder {
    jobs: VecDeque<CapturedJob>,
    /// Number of jobs that were dropped.
    dropped: usize,
    /// Binning lists that no rendering list has waited for.
    binned: VecDeque<Range<u32>>,
    /// User programs join the last job.
    programs_go_on: bool,
    /// What is at addresses.
    pub(crate) names: Names,
}

impl Default for Recorder {
    fn default() -> Self {
        let names = Names::new(usize::MAX);
        Self { jobs: VecDeque::new(), dropped: 0, binned: VecDeque::new(), programs_go_on: false, names }
    }
}

impl Recorder {
    /// A binning list starts.
    pub(crate) fn binning(&mut self, (start, end): (u32, u32)) {
        self.programs_go_on = false;
        self.binned.push_back(BusAddr(start).offset()..BusAddr(end).offset());
    }

    /// A rendering list starts.
    pub(crate) fn rendering(&mut self, (start, end): (u32, u32), memory: Memory<'_>) {
        self.programs_go_on = false;
        let binning = if waits_for_binner(start, end, memory) { self.binned.pop_front() } else { None };
        let rendering = Some(BusAddr(start).offset()..BusAddr(end).offset());
        self.add(job_of_lists(&Lists { binning, rendering, overflow: None }, memory), memory);
    }

    /// A user program is requested: its address, and the address and number of its uniforms.
    pub(crate) fn program(&mut self, [pc, uniforms, uniforms_length]: [u32; 3], memory: Memory<'_>) {
        let (pc, uniforms) = (BusAddr(pc).offset(), BusAddr(uniforms).offset());
        let program = UserProgram { pc, uniforms, uniforms_length };
        match self.jobs.back_mut() {
            Some(last) if self.programs_go_on => last.add_program(program),
            _ => self.add(Job { user_programs: vec![program], ..Job::default() }, memory),
        }
        self.programs_go_on = true;
    }

    /// The CPU has written to memory.
    pub(crate) fn stored(&mut self) {
        self.programs_go_on = false;
    }

    /// The V3D was reset: what it was doing is started again.
    pub(crate) fn reset(&mut self) {
        self.programs_go_on = false;
        self.binned.clear();
    }

    fn add(&mut self, job: Job, memory: Memory<'_>) {
        // Memory of the model ends below 1 GiB.
        let end = (memory.bytes() as u32).next_multiple_of(PAGE_BYTES);
        let job = Job {
            overflow_memory: Some(Region { address: end, size: OVERFLOW_BYTES }),
            buffers: names::buffers(&self.names),
            names: names::others(&self.names),
            ..job
        };
        if self.jobs.len() == MOST_JOBS {
            self.jobs.pop_front();
            self.dropped += 1;
        }
        self.jobs.push_back(CapturedJob::new(job, &MemoryImage::new(memory)));
    }

    /// Writes the jobs to a new folder: all of it, or nothing.
    pub(crate) fn write(&mut self, name: &str, folder: &Path) -> Result<(), CaptureError> {
        if self.jobs.is_empty() {
            return Err(CaptureError::Nothing);
        }
        let text = self.description();
        Ok(write_folder(folder, name, &text, self.jobs.make_contiguous())?)
    }

    /// The files of the folder, with their names.
    pub(crate) fn files(&mut self, name: &str) -> Result<Vec<(String, Vec<u8>)>, CaptureError> {
        if self.jobs.is_empty() {
            return Err(CaptureError::Nothing);
        }
        let text = self.description();
        Ok(folder_files(name, &text, self.jobs.make_contiguous()))
    }

    fn description(&self) -> String {
        let mut text = "captured by v3d-host while the model ran it".to_owned();
        if self.dropped > 0 {
            text += &format!("; the first {} jobs are left out", self.dropped);
        }
        text
    }
}

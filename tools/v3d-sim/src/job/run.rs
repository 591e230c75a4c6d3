//! Execution of the jobs of a folder, through the registers alone, as by a driver.
//!
//! [`lists`] has the control lists' part.

use super::{Job, JobError, JobFolder, UserProgram};
use crate::counters::Counters;
use crate::device::{Config, V3d};
use crate::fault::Fault;
pub use crate::lists::End;
use crate::lists::{self, Registers};
use crate::memory::{Memory, OwnedMemory};
use crate::render::pixel_trace::PixelTrace;
use v3d_hw::Layout;
use v3d_hw::registers::Register;
use v3d_hw::registers::qps::Srqcs;

/// VPMBASE for jobs with user programs: 4 KiB, all that their set-up words can address [AG p.108 HW-2253].
const USER_VPM_UNITS: u32 = 16;
/// Bits of SRQCS that clear the completed count, the request count and the error.
const SRQCS_CLEAR: u32 = 1 << 16 | 1 << 8 | 1 << 7;

/// A job that has been run.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Faults.
    pub faults: Vec<Fault>,
    /// Trace of the watched pixel.
    pub pixel_trace: PixelTrace,
    /// Counts.
    pub counters: Counters,
    /// The final memory. It is empty if [`run_folder_for_result`] has not kept it.
    pub memory: OwnedMemory,
}

/// A folder whose jobs have been run.
#[derive(Debug)]
pub struct FolderOutcome {
    /// One for each job that was run; a job that does not end is the last.
    pub jobs: Vec<Outcome>,
}

impl FolderOutcome {
    /// Whether all jobs are done.
    pub fn is_done(&self, folder: &JobFolder) -> bool {
        self.jobs.len() == folder.jobs().len() && self.jobs.iter().all(|job| job.end == End::Done)
    }
}

/// Runs the jobs of a folder in turn, until one does not end, and keeps the memory of each.
pub fn run_folder(folder: &JobFolder, config: Config) -> Result<FolderOutcome, JobError> {
    run_and_keep(folder, config, |_| true)
}

/// The same, but keeps only the memory of the job whose picture is the result, and that of the last job: a folder may have hundreds of jobs, each with an
/// image of many MiB. A memory from which a later job takes regions is there until that job has been run.
pub fn run_folder_for_result(folder: &JobFolder, config: Config) -> Result<FolderOutcome, JobError> {
    run_and_keep(folder, config, |number| number == folder.result_job())
}

fn run_and_keep(
    folder: &JobFolder,
    config: Config,
    is_kept: impl Fn(usize) -> bool,
) -> Result<FolderOutcome, JobError> {
    let last_uses = last_uses(folder);
    let (mut memories, mut ends): (Vec<OwnedMemory>, Vec<_>) = (Vec::new(), Vec::new());
    for (number, job) in folder.jobs().iter().enumerate() {
        let memory = folder.image(job)?;
        folder.carry_over(number, memory.view(), &memories)?;
        for (earlier, memory) in memories.iter_mut().enumerate() {
            if !is_kept(earlier) && last_uses.get(earlier).is_none_or(|&last| last <= number) {
                *memory = OwnedMemory::new(0);
            }
        }
        let mut device = V3d::new(config);
        let end = run_job(&mut device, memory.view(), job);
        memories.push(memory);
        let stop = end != End::Done;
        ends.push((end, device.take_faults(), device.take_pixel_trace(), device.counters().clone()));
        if stop {
            break;
        }
    }
    let jobs = ends
        .into_iter()
        .zip(memories)
        .map(|((end, faults, pixel_trace, counters), memory)| Outcome { end, faults, pixel_trace, counters, memory })
        .collect();
    Ok(FolderOutcome { jobs })
}

/// For each job the number of the last one that takes regions of its memory, or 0.
fn last_uses(folder: &JobFolder) -> Vec<usize> {
    let mut last = vec![0; folder.jobs().len()];
    for (number, job) in folder.jobs().iter().enumerate() {
        for carry in &job.carry {
            if let Some(last) = last.get_mut(carry.from_job) {
                *last = number;
            }
        }
    }
    last
}

/// Runs a job on memory that has been loaded.
pub fn run_job(device: &mut V3d, memory: Memory<'_>, job: &Job) -> End {
    lists::prepare(device, memory);
    if let Some(stuck) = run_user_programs(&mut Registers { device: &mut *device, memory }, job) {
        return stuck;
    }
    lists::run_lists(device, memory, &job.lists())
}

/// Runs the user programs of a job; returns how they ended if they are not done.
fn run_user_programs(v3d: &mut Registers<'_>, job: &Job) -> Option<End> {
    if job.user_programs.is_empty() {
        return None;
    }
    v3d.write(Register::VPMBASE, USER_VPM_UNITS);
    v3d.write(Register::DBCFG, 1);
    v3d.write(Register::DBQITE, 0xffff);
    v3d.write(Register::DBQITC, 0xffff);
    v3d.write(Register::SRQCS, SRQCS_CLEAR);
    let mut interrupts = 0;
    let requests = job.user_programs.iter().map(|program| {
        let UserProgram { pc, uniforms, uniforms_length } = *program;
        [(Register::SRQUL, uniforms_length), (Register::SRQUA, uniforms), (Register::SRQPC, pc)]
    });
    // Interrupts that are counted are served one by one.
    let in_succession = if job.host_interrupts.is_some() { 1 } else { job.user_programs.len() };
    let requests: Vec<_> = requests.flatten().collect();
    for some in requests.chunks(3 * in_succession) {
        v3d.device.write_all(&v3d.memory, some);
        // One bit for each QPU, served at once, so that the next program's interrupt is seen, too.
        let latched = v3d.read(Register::DBQITC);
        v3d.write(Register::DBQITC, latched);
        interrupts += latched.count_ones();
    }
    let status = Srqcs::from_word(v3d.read(Register::SRQCS));
    let completed = status.qpurqcc;
    let programs = job.user_programs.len();
    let mut missing = Vec::new();
    // The count has 8 bits.
    if usize::from(completed) != programs % 256 {
        missing.push(format!("of {programs} user programs {completed} have ended"));
    }
    if status.qpurqerr {
        missing.push("programs have been requested while the queue was full, and are lost".to_owned());
    }
    if let Some(expected) = job.host_interrupts.filter(|expected| interrupts < *expected) {
        missing.push(format!("of {expected} host interrupts {interrupts} have come"));
    }
    (!missing.is_empty()).then(|| v3d.stuck(missing, &[Register::SRQCS, Register::DBQITC, Register::ERRSTAT]))
}

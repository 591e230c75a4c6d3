//! Execution of the jobs of a folder, through the registers alone, as by a driver.
//!
//! A driver resets both threads, clears the caches, offers no overflow memory, and then writes the threads' current and end addresses. When the binner runs out
//! of memory it interrupts, and continues once it has received an address and a size. A job is done when the counters of flushes and frames have increased by
//! one.

use super::{Job, JobError, JobFolder};
use crate::counters::Counters;
use crate::device::{Config, V3d};
use crate::fault::Fault;
use crate::memory::{Memory, OwnedMemory};
use crate::render::pixel_trace::PixelTrace;
use std::fmt;
use v3d_hw::Layout;
use v3d_hw::registers::Register;
use v3d_hw::registers::cache::{L2cactl, Slcactl};
use v3d_hw::registers::cle::Ctncs;
use v3d_hw::registers::interrupt::Intctl;
use v3d_hw::registers::pipeline::{Bfc, Rfc};
use v3d_hw::registers::qps::Srqcs;

/// VPMBASE for jobs with user programs: 4 KiB, all that their set-up words can address [AG p.108 HW-2253].
const USER_VPM_UNITS: u32 = 16;
/// Bits of SRQCS that clear the completed count, the request count and the error.
const SRQCS_CLEAR: u32 = 1 << 16 | 1 << 8 | 1 << 7;

/// The registers that show the progress of the threads of the control list executor.
const LIST_REGISTERS: [Register; 11] = [
    Register::CT0CS,
    Register::CT0CA,
    Register::CT1CS,
    Register::CT1CA,
    Register::PCS,
    Register::BFC,
    Register::RFC,
    Register::INTCTL,
    Register::BPCA,
    Register::BPCS,
    Register::ERRSTAT,
];

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// It is done.
    Done,
    /// The binner needs more memory than the job provides.
    OutOfMemory,
    /// It makes no progress; a line each for what has not happened, what waits for what, and the registers that show it, with their values and
    /// fields.
    Stuck(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::OutOfMemory => f.write_str("the binner needs more memory than the job has for it"),
            Self::Stuck(why) => write!(f, "stands still\n{why}"),
        }
    }
}

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
    let mut v3d = Registers { device, memory };
    v3d.prepare();
    if !job.user_programs.is_empty()
        && let Some(stuck) = v3d.run_user_programs(job)
    {
        return stuck;
    }
    let mut expected_frames = 0;
    if job.has_bin {
        v3d.write(Register::CT0CA, job.bin_ct0ca);
        v3d.write(Register::CT0EA, job.bin_ct0ea);
    }
    if job.render_ct1ca != job.render_ct1ea {
        expected_frames = 1;
        v3d.write(Register::CT1CA, job.render_ct1ca);
        v3d.write(Register::CT1EA, job.render_ct1ea);
    }
    let mut overflow = job.overflow_memory;
    loop {
        if Intctl::from_word(v3d.read(Register::INTCTL)).int_outomem {
            let Some(region) = overflow.take() else { return End::OutOfMemory };
            v3d.write(Register::BPOA, region.address);
            v3d.write(Register::BPOS, region.size);
            v3d.write(Register::INTCTL, word(Intctl { int_outomem: true, ..Intctl::from_word(0) }));
            continue;
        }
        let flushes = Bfc::from_word(v3d.read(Register::BFC)).bmfct;
        let frames = Rfc::from_word(v3d.read(Register::RFC)).rmfct;
        if flushes == u8::from(job.has_bin) && frames == expected_frames {
            return End::Done;
        }
        let mut missing = Vec::new();
        let counts = [
            (flushes, u8::from(job.has_bin), "binning has been flushed"),
            (frames, expected_frames, "a frame has been rendered"),
        ];
        for (count, expected, what) in counts {
            if count != expected {
                missing.push(format!("{what} {count} times, and not {expected}"));
            }
        }
        return v3d.stuck(missing, &LIST_REGISTERS);
    }
}

fn word(layout: impl Layout) -> u32 {
    // Constants of this module: they fit their fields.
    layout.to_word().unwrap_or(0)
}

/// The register block and the memory behind it.
struct Registers<'a> {
    device: &'a mut V3d,
    memory: Memory<'a>,
}

impl Registers<'_> {
    fn read(&mut self, register: Register) -> u32 {
        self.device.read(&self.memory, register.offset())
    }

    fn write(&mut self, register: Register, value: u32) {
        self.device.write(&self.memory, register.offset(), value);
    }

    /// Resets and clears what a driver does before each job [linux vc4_gem.c].
    fn prepare(&mut self) {
        for register in [Register::CT0CS, Register::CT1CS] {
            self.write(register, word(Ctncs { ctrsta: true, ..Ctncs::from_word(0) }));
        }
        self.write(Register::L2CACTL, word(L2cactl { l2cclr: true, l2cdis: false, l2cena: false }));
        self.write(Register::SLCACTL, word(Slcactl { t1ccs: 15, t0ccs: 15, uccs: 15, iccs: 15 }));
        self.write(Register::BFC, 1);
        self.write(Register::RFC, 1);
        self.write(Register::BPOA, 0);
        self.write(Register::BPOS, 0);
        self.write(Register::INTCTL, 15);
    }

    fn run_user_programs(&mut self, job: &Job) -> Option<End> {
        self.write(Register::VPMBASE, USER_VPM_UNITS);
        self.write(Register::DBCFG, 1);
        self.write(Register::DBQITE, 0xffff);
        self.write(Register::DBQITC, 0xffff);
        self.write(Register::SRQCS, SRQCS_CLEAR);
        let mut interrupts = 0;
        for program in &job.user_programs {
            self.write(Register::SRQUL, program.uniforms_length);
            self.write(Register::SRQUA, program.uniforms);
            self.write(Register::SRQPC, program.pc);
            // One bit for each QPU, served at once, so that the next program's interrupt is seen, too.
            let latched = self.read(Register::DBQITC);
            self.write(Register::DBQITC, latched);
            interrupts += latched.count_ones();
        }
        let status = Srqcs::from_word(self.read(Register::SRQCS));
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
        (!missing.is_empty()).then(|| self.stuck(missing, &[Register::SRQCS, Register::DBQITC, Register::ERRSTAT]))
    }

    /// The end of a job without progress: what has not happened, and the registers that show it.
    fn stuck(&mut self, missing: Vec<String>, registers: &[Register]) -> End {
        let why = missing.into_iter().chain(self.device.stalls(&self.memory));
        let why: String = why.map(|line| format!("  {line}\n")).collect();
        End::Stuck(why + &self.describe(registers))
    }

    /// Registers with their fields, a line each.
    fn describe(&mut self, registers: &[Register]) -> String {
        let lines = registers.iter().map(|&register| {
            let value = self.read(register);
            format!("  {register} = {value:#010x} {}", register.explain(value))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

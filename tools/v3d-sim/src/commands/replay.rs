//! `v3d replay`: runs the jobs of a folder, and compares or saves the result.

use super::limits::{Limits, run_jobs_by};
use anyhow::{Context, Result, bail};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use v3d_hw::BusAddr;
use v3d_sim::Config;
use v3d_sim::job::picture::Difference;
use v3d_sim::job::run::{FolderOutcome, run_folder, run_folder_for_result};
use v3d_sim::job::{ExpectedDifference, JobFolder};
use v3d_sim::memory::OwnedMemory;

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with a job.json and memory images
    dir: PathBuf,
    /// Write the picture to a PNG file
    #[arg(long, value_name = "PNG")]
    out: Option<PathBuf>,
    /// Compare the picture with the reference; fail if it differs more than a faithful model's may
    #[arg(long)]
    compare: bool,
    /// Write the final memory of the last job, from its first byte to its last
    #[arg(long, value_name = "FILE")]
    memory_out: Option<PathBuf>,
    /// Print the cost of the jobs, as `v3d stats` does
    #[arg(long)]
    stats: bool,
    /// Execute everything on one thread of the host
    #[arg(long)]
    serial: bool,
    /// Place samples as silicon does, even if the reference has them elsewhere
    #[arg(long)]
    silicon_samples: bool,
    #[command(flatten)]
    limits: Limits,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = JobFolder::open(&arguments.dir)?;
    super::check_outputs(&[&arguments.out, &arguments.memory_out])?;
    let mut out = std::io::stdout().lock();
    let config = super::config(&folder, arguments.limits, arguments.silicon_samples, &mut out)?;
    let config = Config { parallel: !arguments.serial, estimate: arguments.stats, ..config };
    // Statistics look at the memory of each job.
    let run = if arguments.stats { run_folder } else { run_folder_for_result };
    let outcome = run_jobs_by(run, &folder, config)?;
    report(&outcome, &mut out)?;
    super::write_left_out(&folder, &outcome, &mut out)?;
    if arguments.stats {
        out.write_all(super::stats::tables(&folder, &outcome)?.as_bytes())?;
    }
    if let (Some(path), Some(last)) = (&arguments.memory_out, outcome.jobs.last()) {
        let base = folder.jobs().get(outcome.jobs.len() - 1).map_or(0, |job| job.arena_base);
        write_memory(path, &last.memory, base)
            .with_context(|| format!("the memory cannot be written to {}", path.display()))?;
    }
    let mut passed = outcome.is_done(&folder);
    if arguments.out.is_some() || arguments.compare {
        let Some(result) = outcome.jobs.get(folder.result_job()) else {
            bail!("job {} has not been run, so that there is no picture", folder.result_job());
        };
        let picture = folder.picture(result.memory.view())?;
        if let Some(path) = &arguments.out {
            picture.write_png(path)?;
            writeln!(out, "{}: {} x {} pixels", path.display(), picture.width, picture.height)?;
        }
        if arguments.compare {
            let reference = folder.reference()?;
            let difference = picture.difference(&reference).with_context(|| {
                format!(
                    "the picture has {} x {} pixels, the reference {} x {}",
                    picture.width, picture.height, reference.width, reference.height
                )
            })?;
            passed &= compare(&folder, &difference, &mut out)?;
        }
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes memory from an address on to a file.
fn write_memory(path: &Path, memory: &OwnedMemory, base: u32) -> io::Result<()> {
    let memory = memory.view();
    let mut chunk = [0; 4096];
    whole_file::write_with(path, |file| {
        for at in (u64::from(base)..memory.bytes()).step_by(chunk.len()) {
            let chunk = &mut chunk[..(memory.bytes() - at).min(4096) as usize];
            memory.read(BusAddr(at as u32), chunk).map_err(io::Error::other)?;
            file.write_all(chunk)?;
        }
        Ok(())
    })
}

fn report(outcome: &FolderOutcome, out: &mut impl Write) -> Result<()> {
    for (number, job) in outcome.jobs.iter().enumerate() {
        for fault in &job.faults {
            writeln!(out, "job {number}: {}: {fault}", fault.kind())?;
        }
        writeln!(out, "job {number}: {}", job.end)?;
    }
    Ok(())
}

/// Prints the difference of the picture from the reference; whether it is small enough.
fn compare(folder: &JobFolder, difference: &Difference, out: &mut impl Write) -> Result<bool> {
    let Difference { over_2_percent, over_8_percent, over_32_percent, largest } = difference;
    writeln!(
        out,
        "{}: pixels that differ by more than 2: {over_2_percent:.3} %, 8: {over_8_percent:.3} %, 32: {over_32_percent:.3} %, \
         largest difference {largest}",
        folder.name()
    )?;
    let (expected, says) = match folder.expected_difference() {
        Some(expected) => (expected, ""),
        None => (ExpectedDifference::default(), " (the folder does not say what to expect)"),
    };
    let limit = Difference::limit_percent(&expected);
    let within = difference.is_within(&expected);
    let verdict = if within { "within" } else { "TOO FAR" };
    writeln!(out, "{verdict}: at most {limit:.3} % may differ by more than 8{says}")?;
    Ok(within)
}

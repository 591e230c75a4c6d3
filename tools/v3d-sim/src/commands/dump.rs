//! `v3d dump`: everything that a job consists of, in words.

use super::limits::{Limits, run_jobs};
use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_sim::dump;
use v3d_sim::job::JobFolder;

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with a job.json and memory images
    dir: PathBuf,
    /// Dump memory as the job finds it, without running the job; there are no tile lists then
    #[arg(long)]
    before: bool,
    #[command(flatten)]
    limits: Limits,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = JobFolder::open(&arguments.dir)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", super::title(&folder))?;
    if arguments.before {
        for (number, job) in folder.jobs().iter().enumerate() {
            writeln!(out, "\n==== job {number} ====")?;
            out.write_all(dump::job(job, folder.image(job)?.view()).as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = run_jobs(&folder, arguments.limits.config())?;
    for (number, (job, outcome)) in folder.jobs().iter().zip(&outcome.jobs).enumerate() {
        // The description of a job that has stopped making progress has more lines than a title.
        let end = outcome.end.to_string();
        let (end, why) = end.split_once('\n').unwrap_or((&end, ""));
        writeln!(out, "\n==== job {number}: {end} ====")?;
        if !why.is_empty() {
            writeln!(out, "{why}")?;
        }
        for fault in &outcome.faults {
            writeln!(out, "{}: {fault}", fault.kind())?;
        }
        out.write_all(dump::job(job, outcome.memory.view()).as_bytes())?;
    }
    if !outcome.is_done(&folder) {
        writeln!(out)?;
        super::write_left_out(&folder, &outcome, &mut out)?;
    }
    Ok(super::exit_code(&folder, &outcome))
}

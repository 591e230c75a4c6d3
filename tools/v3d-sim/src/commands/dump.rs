//! `v3d dump`: explains everything that a job consists of.

use anyhow::Result;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_sim::Config;
use v3d_sim::dump;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::run_folder;

/// What to explain.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with a job.json and memory images
    dir: PathBuf,
    /// Explain memory as the job finds it, without running the job; there are no tile lists then
    #[arg(long)]
    before: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = JobFolder::open(&arguments.dir)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}: {}", folder.name(), folder.description())?;
    if arguments.before {
        for (number, job) in folder.jobs().iter().enumerate() {
            writeln!(out, "\n==== job {number} ====")?;
            out.write_all(dump::job(job, folder.image(job)?.view()).as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = run_folder(&folder, Config::default())?;
    for (number, (job, outcome)) in folder.jobs().iter().zip(&outcome.jobs).enumerate() {
        writeln!(out, "\n==== job {number}: {} ====", outcome.end)?;
        for fault in &outcome.faults {
            writeln!(out, "fault: {fault}")?;
        }
        out.write_all(dump::job(job, outcome.memory.view()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

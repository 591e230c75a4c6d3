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
    let mut memories = Vec::new();
    if arguments.before {
        for job in folder.jobs() {
            memories.push(folder.image(job)?);
        }
    } else {
        memories.extend(run_folder(&folder, Config::default())?.jobs.into_iter().map(|outcome| outcome.memory));
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}: {}", folder.name(), folder.description())?;
    for (number, (job, memory)) in folder.jobs().iter().zip(&memories).enumerate() {
        writeln!(out, "\n==== job {number} ====")?;
        out.write_all(dump::job(job, memory.view()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

//! What the command `v3d` can do, one module for each of its subcommands.

pub(crate) mod bench;
pub(crate) mod conform;
pub(crate) mod debug;
pub(crate) mod dump;
pub(crate) mod replay;
pub(crate) mod stats;

mod patience;

use anyhow::{Context, Result};
use patience::Limits;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::FolderOutcome;
use v3d_sim::render::fep::SamplePlaces;
use v3d_sim::whole_file;

/// How the jobs of a folder are run: as its reference was made, so that all commands see the same. Says so where that is not as silicon does it.
fn config(folder: &JobFolder, limits: Limits, silicon_samples: bool, out: &mut impl Write) -> Result<Config> {
    let sample_places = if silicon_samples { SamplePlaces::Silicon } else { folder.reference_sample_places() };
    if sample_places != SamplePlaces::Silicon && folder.is_multisampled() {
        writeln!(out, "samples are placed as in the reference, mirrored to silicon's")?;
    }
    Ok(Config { sample_places, ..limits.config() })
}

/// An error if a file cannot be written that is to be written at the end: better before the work than behind it.
fn check_outputs(paths: &[&Option<PathBuf>]) -> Result<()> {
    for path in paths.iter().copied().flatten() {
        whole_file::check(path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The title of a folder: its name, and what it shows if it says so.
fn title(folder: &JobFolder) -> String {
    let separator = if folder.description().is_empty() { "" } else { ": " };
    format!("{}{separator}{}", folder.name(), folder.description())
}

/// Names the jobs that have not been run because one before them did not end.
fn write_left_out(folder: &JobFolder, outcome: &FolderOutcome, out: &mut impl Write) -> Result<()> {
    for number in outcome.jobs.len()..folder.jobs().len() {
        writeln!(out, "job {number}: has not been run, since a job before it did not end")?;
    }
    Ok(())
}

/// Success if all jobs are done.
fn exit_code(folder: &JobFolder, outcome: &FolderOutcome) -> ExitCode {
    if outcome.is_done(folder) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! The subcommands of `v3d`, a module for each.

pub(crate) mod bench;
pub(crate) mod conform;
pub(crate) mod debug;
pub(crate) mod dump;
pub(crate) mod explain_registers;
pub(crate) mod replay;
pub(crate) mod stats;

mod limits;

use anyhow::{Context, Result};
use limits::Limits;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::FolderOutcome;
use v3d_sim::render::fep::SamplePositions;

/// The configuration with which the jobs of a folder run: that of their reference, so that all commands show the same. Prints a note where silicon differs.
fn config(folder: &JobFolder, limits: Limits, silicon_samples: bool, out: &mut impl Write) -> Result<Config> {
    let sample_positions = if silicon_samples { SamplePositions::Silicon } else { folder.reference_sample_positions() };
    if sample_positions != SamplePositions::Silicon && folder.is_multisampled() {
        writeln!(out, "samples are placed as in the reference, mirrored to silicon's")?;
    }
    Ok(Config { sample_positions, ..limits.config() })
}

/// Checks before the work that output files can be written.
fn check_outputs(paths: &[&Option<PathBuf>]) -> Result<()> {
    for path in paths.iter().copied().flatten() {
        whole_file::check(path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The title of a folder: its name, and its description.
fn title(folder: &JobFolder) -> String {
    let separator = if folder.description().is_empty() { "" } else { ": " };
    format!("{}{separator}{}", folder.name(), folder.description())
}

/// Prints the names of jobs that were not run because an earlier one did not end.
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

//! `v3d debug`: the trace of one pixel.

use super::limits::{Limits, run_jobs};
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_hw::BusAddr;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::names::Names;
use v3d_sim::job::run::End;
use v3d_sim::render::pixel_trace::Event;

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with a job.json and memory images
    dir: PathBuf,
    /// Column and row of the pixel; row 0 is the first in memory
    #[arg(long, value_name = "X,Y", value_parser = pixel)]
    pixel: (u32, u32),
    /// Leave out the programs' instructions
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    limits: Limits,
}

fn pixel(text: &str) -> Result<(u32, u32)> {
    let (x, y) = text.split_once(',').context("a pixel is two numbers with a comma between them, such as 100,50")?;
    let number = |text: &str| text.trim().parse::<u32>().with_context(|| format!("{text:?} is not a number"));
    let (x, y) = (number(x)?, number(y)?);
    ensure!(x < 4096 && y < 4096, "frames are at most 4096 pixels wide and high");
    Ok((x, y))
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = JobFolder::open(&arguments.dir)?;
    let mut out = std::io::stdout().lock();
    let config = super::config(&folder, arguments.limits, false, &mut out)?;
    let outcome = run_jobs(&folder, Config { watched_pixel: Some(arguments.pixel), ..config })?;
    let (x, y) = arguments.pixel;
    for (number, (described, job)) in folder.jobs().iter().zip(&outcome.jobs).enumerate() {
        let names = Names::new(&described.names);
        let pass = names.pass(BusAddr(described.render_ct1ca)).map(|name| format!(" ({name})")).unwrap_or_default();
        writeln!(out, "job {number}{pass}: pixel {x}, {y}")?;
        let (mut last, mut last_line) = (None, None);
        for entry in job.pixel_trace.entries() {
            if arguments.brief && matches!(entry.event, Event::Instruction { .. } | Event::LeftOut(_)) {
                continue;
            }
            if last.replace(entry.at) != Some(entry.at) {
                writeln!(out, "record at {}", entry.at)?;
            }
            let name = match &entry.event {
                Event::Program { code, .. } => names.program(*code),
                Event::Covered { shader: Some(shader), .. }
                | Event::Clipped { shader: Some(shader), .. }
                | Event::OutsideWindow { shader: Some(shader), .. }
                | Event::Culled { shader: Some(shader), .. } => names.draw(*shader),
                Event::Instruction { pc, .. } => {
                    let line = names.line(*pc);
                    if let Some(line) = line.filter(|_| line != last_line) {
                        writeln!(out, "      {line}")?;
                    }
                    last_line = line;
                    None
                }
                _ => None,
            };
            let name = name.map(|name| format!(", {name:?}")).unwrap_or_default();
            writeln!(out, "    {}{name}", entry.event)?;
        }
        if job.pixel_trace.entries().is_empty() {
            writeln!(out, "    in no tile that the job renders")?;
        }
        for fault in &job.faults {
            writeln!(out, "{}: {fault}", fault.kind())?;
        }
        if job.end != End::Done {
            writeln!(out, "job {number}: {}", job.end)?;
        }
    }
    super::write_left_out(&folder, &outcome, &mut out)?;
    let shown = outcome.jobs.iter().any(|job| !job.pixel_trace.entries().is_empty());
    ensure!(shown, "pixel {x}, {y} is in no tile that the folder's jobs render");
    Ok(super::exit_code(&folder, &outcome))
}

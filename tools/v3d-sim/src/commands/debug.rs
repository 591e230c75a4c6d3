//! `v3d debug`: the trace of one pixel, or its program step by step.

use super::limits::{Limits, run_jobs};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_hw::BusAddr;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::names::Names;
use v3d_sim::job::run::{End, FolderOutcome};
use v3d_sim::qpu::steps::{Run, Step};
use v3d_sim::render::pixel_trace::Event;
use v3d_sim::stepper::session::{Line, Session};
use v3d_sim::stepper::{Stepper, terminal};

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
    /// Step through a program that shades the pixel, forward and back, by keys
    #[arg(long, conflicts_with = "brief")]
    step: bool,
    /// Which of the programs that shade it, in their order from 0 on; without it the last
    #[arg(long, value_name = "N", requires = "step")]
    run: Option<usize>,
    /// Take the stepper's commands from a file, one a line, instead of keys; - is standard input
    #[arg(long, value_name = "FILE", requires = "step")]
    commands: Option<PathBuf>,
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
    if arguments.step {
        drop(out);
        return step(arguments, &folder, &outcome);
    }
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

/// Steps through one of the programs that shade the pixel.
fn step(arguments: &Arguments, folder: &JobFolder, outcome: &FolderOutcome) -> Result<ExitCode> {
    let (x, y) = arguments.pixel;
    let jobs = folder.jobs().iter().zip(&outcome.jobs);
    let runs: Vec<(&Run, Names<'_>)> = jobs
        .flat_map(|(job, outcome)| outcome.pixel_trace.runs().iter().map(|run| (run, Names::new(&job.names))))
        .collect();
    let Some(last) = runs.len().checked_sub(1) else { bail!("pixel {x}, {y}: no program shades it") };
    let number = arguments.run.unwrap_or(last);
    let (run, names) = runs.get(number).with_context(|| {
        format!("pixel {x}, {y}: {} programs shade it, numbered from 0, and there is no {number}", runs.len())
    })?;
    let name = names.program(run.program).map(|name| format!(", {name:?}")).unwrap_or_default();
    eprintln!("run {number} of {} that shade pixel {x}, {y}: the program at {}{name}", runs.len(), run.program);
    let session = Session::new(Stepper::of_run((*run).clone()), listing(run, names));
    let is_well = terminal::run(session, arguments.commands.as_deref())?;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The instructions that a run has executed, with the lines of their source as far as the job names them.
fn listing(run: &Run, names: &Names<'_>) -> BTreeMap<u32, Line> {
    let line = |step: &Step| {
        let place = names.line(step.pc).and_then(|place| place.rsplit_once(':'));
        let (file, number) = place.unwrap_or_default();
        let number = number.parse().unwrap_or(0);
        (step.pc.0, Line { word: step.word, number, file: file.to_owned(), text: String::new() })
    };
    run.steps.iter().map(line).collect()
}

//! `v3d stats`: the cost of a job, by program, by unit and by tile.

use super::limits::{Limits, run_jobs};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use v3d_hw::BusAddr;
use v3d_hw::registers::performance::CounterSource;
use v3d_hw::tile_buffer::tile_size_px;
use v3d_sim::Config;
use v3d_sim::counters::{BusyCycles, Counters, TileEvents};
use v3d_sim::dump::{self, Survey};
use v3d_sim::job::names::Names;
use v3d_sim::job::picture::Picture;
use v3d_sim::job::run::{FolderOutcome, Outcome};
use v3d_sim::job::{Job, JobFolder};
use v3d_sim::timing::memory::Traffic;
use v3d_sim::timing::{Stall, Stalls, costs};

/// What the colours of a heat map show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Metric {
    /// Instructions of fragment shaders
    Instructions,
    /// Pixels shaded, once for each primitive that covers them
    Pixels,
    /// Primitives in the tile's lists
    Primitives,
    /// Bytes of the tile's list
    ListBytes,
}

impl Metric {
    const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions of fragment shaders",
            Self::Pixels => "pixels shaded",
            Self::Primitives => "primitives",
            Self::ListBytes => "bytes of lists",
        }
    }
}

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder with a job.json and memory images
    dir: PathBuf,
    /// Write the tiles of the result's job to a PNG file, the costliest brightest
    #[arg(long, value_name = "PNG")]
    heat_map: Option<PathBuf>,
    /// What the heat map shows
    #[arg(long, value_enum, default_value = "instructions", requires = "heat_map")]
    metric: Metric,
    /// Print a line for each tile of the result's job
    #[arg(long)]
    tiles: bool,
    #[command(flatten)]
    limits: Limits,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = JobFolder::open(&arguments.dir)?;
    super::check_outputs(&[&arguments.heat_map])?;
    let mut out = std::io::stdout().lock();
    let config = super::config(&folder, arguments.limits, false, &mut out)?;
    let outcome = run_jobs(&folder, Config { estimate: true, ..config })?;
    out.write_all(tables(&folder, &outcome)?.as_bytes())?;
    super::write_left_out(&folder, &outcome, &mut out)?;
    if arguments.tiles || arguments.heat_map.is_some() {
        let number = folder.result_job();
        let (Some(job), Some(outcome)) = (folder.jobs().get(number), outcome.jobs.get(number)) else {
            bail!("job {number} has not been run, so that there are no tiles to show");
        };
        let survey = dump::survey(job, outcome.memory.view());
        if arguments.tiles {
            out.write_all(tile_table(outcome, &survey)?.as_bytes())?;
        }
        if let Some(path) = &arguments.heat_map {
            let picture = heat_map(outcome, &survey, arguments.metric)
                .with_context(|| format!("job {number} renders no frame, so that there are no tiles to show"))?;
            picture.write_png(path)?;
            writeln!(out, "\n{}: {} by tile", path.display(), arguments.metric.name())?;
        }
    }
    Ok(super::exit_code(&folder, &outcome))
}

/// The cost of each tile in which something is drawn.
fn tile_table(outcome: &Outcome, survey: &Survey) -> Result<String> {
    let mut out = String::new();
    writeln!(
        out,
        "\n{:>6} {:>6} {:>10} {:>10} {:>10} {:>8} {:>12}",
        "column", "row", "list bytes", "primitives", "pixels", "overdraw", "instructions"
    )?;
    for ((column, row), events) in outcome.counters.tiles() {
        let TileEvents { primitives, pixels, instructions, .. } = events;
        let bytes = survey.tile_list_bytes.get(&(column, row)).copied().unwrap_or(0);
        let overdraw = survey.rendering_mode.map_or(0.0, |mode| {
            let (width, height) = tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer);
            *pixels as f64 / (f64::from(width) * f64::from(height))
        });
        writeln!(
            out,
            "{column:>6} {row:>6} {bytes:>10} {primitives:>10} {pixels:>10} {overdraw:>8.2} {instructions:>12}"
        )?;
    }
    Ok(out)
}

/// The tables of all jobs of a folder.
pub(crate) fn tables(folder: &JobFolder, outcome: &FolderOutcome) -> Result<String> {
    let mut out = String::new();
    writeln!(out, "{}", super::title(folder))?;
    for (number, (job, outcome)) in folder.jobs().iter().zip(&outcome.jobs).enumerate() {
        let pass = Names::new(&job.names).pass(BusAddr(job.render_ct1ca)).map(|name| format!(" ({name})"));
        writeln!(out, "\njob {number}{}: {}", pass.unwrap_or_default(), outcome.end)?;
        job_tables(job, outcome, &mut out)?;
    }
    Ok(out)
}

fn job_tables(job: &Job, outcome: &Outcome, out: &mut String) -> Result<()> {
    let survey = dump::survey(job, outcome.memory.view());
    let counters = &outcome.counters;
    let list_bytes: u64 = survey.tile_list_bytes.values().sum();
    let vertices = counted(survey.vertices, "vertex", "vertices");
    let primitives = counted(counters.primitives(), "primitive", "primitives");
    writeln!(out, "{:>14} {}, {vertices}, {primitives}", survey.draws, noun(survey.draws, "draw", "draws"))?;
    let tiles = counted(survey.tile_list_bytes.len() as u64, "tile", "tiles");
    writeln!(out, "{list_bytes:>14} {} of lists for {tiles}", noun(list_bytes, "byte", "bytes"))?;
    let mut sum = TileEvents::default();
    for (_, tile) in counters.tiles() {
        sum.primitives += tile.primitives;
        sum.pixels += tile.pixels;
    }
    writeln!(out, "{:>14} {} in tiles", sum.primitives, noun(sum.primitives, "primitive", "primitives"))?;
    if let Some(mode) = survey.rendering_mode {
        let frame = f64::from(mode.width) * f64::from(mode.height);
        let overdraw = sum.pixels as f64 / frame.max(1.0);
        writeln!(out, "{:>14} pixels shaded of {frame}: each {overdraw:.2} times", sum.pixels)?;
    }

    programs(counters, &survey, &Names::new(&job.names), out)?;
    units(counters, out)?;
    let (cycles, bytes) = (survey.list_bytes * costs::LIST_BYTE, survey.list_bytes);
    writeln!(out, "\n{cycles:>14}         CLE: reading {bytes} bytes of lists, on its own, not in that time; a guess")?;

    writeln!(out, "\n{:>14} counted", "events")?;
    for source in CounterSource::ALL {
        let events = counters.get(*source);
        if events > 0 {
            writeln!(out, "{events:>14} {source}")?;
        }
    }
    Ok(())
}

/// The singular or plural of a word.
const fn noun(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

fn counted(count: u64, one: &'static str, many: &'static str) -> String {
    format!("{count} {}", noun(count, one, many))
}

/// The cost of each program. Cycles and stalls are estimates of the timing model.
fn programs(counters: &Counters, survey: &Survey, names: &Names<'_>, out: &mut String) -> Result<()> {
    let all: u64 = counters.programs().map(|(_, events)| events.cycles).sum();
    writeln!(
        out,
        "\n{:18} {:12} {:>9} {:>12} {:>8} {:>12} {:>6} {:>7} {:>10}",
        "program", "at", "batches", "instructions", "each", "QPU cycles", "share", "waiting", "TMU quads"
    )?;
    for (code, events) in counters.programs() {
        let kinds = survey.program_kinds.get(&code.0).map(|kinds| kinds.iter().copied().collect::<Vec<_>>().join(", "));
        writeln!(
            out,
            "{:18} {:12} {:>9} {:>12} {:>8.1} {:>12} {:>6} {:>7} {:>10}",
            kinds.as_deref().unwrap_or("?"),
            code.to_string(),
            events.starts,
            events.instructions,
            events.instructions as f64 / events.starts.max(1) as f64,
            events.cycles,
            percent(events.cycles, all),
            percent(events.stalls.total(), events.cycles),
            events.tmu_quads,
        )?;
        if let Some(name) = names.program(code) {
            writeln!(out, "{:18} {name}", "")?;
        }
        let waits = waits(&events.stalls);
        if !waits.is_empty() {
            writeln!(out, "{:18} waits for {waits}", "")?;
        }
    }
    Ok(())
}

/// Stalls in words, the longest first.
fn waits(stalls: &Stalls) -> String {
    let mut causes: Vec<(u64, &str)> = Stall::ALL.iter().map(|stall| (stalls.get(*stall), stall.name())).collect();
    causes.retain(|(cycles, _)| *cycles > 0);
    causes.sort_unstable_by(|a, b| b.cmp(a));
    causes.iter().map(|(cycles, name)| format!("{name} {cycles}")).collect::<Vec<_>>().join(", ")
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The cost of each unit, as estimated by the timing model.
fn units(counters: &Counters, out: &mut String) -> Result<()> {
    let Config { slices, qpus_per_slice, .. } = Config::default();
    let (slices, each) = (u64::from(slices), u64::from(qpus_per_slice));
    let elapsed = counters.elapsed_cycles();
    let BusyCycles { qpus, ptb, pse, fep, tlb, tmus, vpm, loads, stores, memory } = counters.busy_cycles();
    let idle = counters.get(CounterSource::QpuIdleCycles);
    writeln!(out, "\n{:>14} {:>6}  of the estimated time", "cycles", "share")?;
    let mut line = |cycles: u64, unit: &str, what: String| {
        writeln!(out, "{cycles:>14} {:>6}  {unit}{what}", percent(cycles, elapsed))
    };
    line(elapsed, "all", ": from the start to the end of all work".to_owned())?;
    let busy = (elapsed * slices * each).saturating_sub(idle) / (slices * each);
    line(busy, "QPUs", format!(": each of the {} on average, waiting included", slices * each))?;
    let Traffic { bytes, row_changes, .. } = counters.memory_traffic();
    let stored = counters.tile_bytes_stored();
    let units = [
        (qpus, "QPUs", ": executing instructions".to_owned()),
        (ptb, "PTB", ": writing primitives to tile lists".to_owned()),
        (pse, "PSE", ": setting up primitives".to_owned()),
        (fep, "FEP", ": a quad each cycle".to_owned()),
        (tlb, "TLB", format!(": loading and storing tiles, {stored} bytes stored")),
        (tmus, "TMUs", format!(": each of the {} on average", 2 * slices)),
        (vpm, "VPM", ": a vector at a time".to_owned()),
        (loads, "VCD, VDR", ": vertices and DMA into the VPM".to_owned()),
        (stores, "VDW", ": DMA out of the VPM".to_owned()),
        (memory, "memory", format!(": {bytes} bytes for caches and DMA, another row {row_changes} times")),
    ];
    // The first of several that are equally busy.
    let busiest = units.iter().rev().max_by_key(|(cycles, ..)| *cycles).map(|(_, unit, _)| *unit);
    for (cycles, unit, what) in units {
        line(cycles, unit, what)?;
    }
    if let Some(unit) = busiest.filter(|_| elapsed > 0) {
        writeln!(out, "{:>21}  the busiest unit: {unit}", "")?;
    }
    Ok(())
}

/// The tiles of a job as rectangles, coloured by their cost; `None` if the job renders nothing.
fn heat_map(outcome: &Outcome, survey: &Survey, metric: Metric) -> Option<Picture> {
    let value = |tile: (u8, u8)| {
        let events =
            outcome.counters.tiles().find(|(of, _)| *of == tile).map(|(_, events)| *events).unwrap_or_default();
        match metric {
            Metric::Instructions => events.instructions,
            Metric::Pixels => events.pixels,
            Metric::Primitives => events.primitives,
            Metric::ListBytes => survey.tile_list_bytes.get(&tile).copied().unwrap_or(0),
        }
    };
    let mode = survey.rendering_mode?;
    let (tile_width, tile_height) = tile_size_px(mode.multisample, mode.color_64_bit, mode.double_buffer);
    let (width, height) = (u32::from(mode.width).max(1), u32::from(mode.height).max(1));
    let (columns, rows) = (width.div_ceil(tile_width), height.div_ceil(tile_height));
    let values: Vec<u64> =
        (0..rows).flat_map(|row| (0..columns).map(move |column| value((column as u8, row as u8)))).collect();
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let mut rgba = Vec::with_capacity(4 * width as usize * height as usize);
    for y in 0..height {
        for x in 0..width {
            let tile = (y / tile_height * columns + x / tile_width) as usize;
            let edge = x % tile_width == 0 || y % tile_height == 0;
            let heat = values.get(tile).copied().unwrap_or(0) as f64 / most as f64;
            rgba.extend(if edge { [40, 40, 40, 255] } else { color_of(heat) });
        }
    }
    Some(Picture { width, height, rgba })
}

/// Black, red, yellow, white.
fn color_of(heat: f64) -> [u8; 4] {
    let channel = |from: f64| ((heat * 3.0 - from).clamp(0.0, 1.0) * 255.0) as u8;
    [channel(0.0), channel(1.0), channel(2.0), 255]
}

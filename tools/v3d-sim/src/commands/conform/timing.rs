//! `v3d conform timing`: the timing model beside boards.

use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use v3d_sim::timing::workload::gpu_fft::{self, BATCH, TRANSFORMS};
use v3d_sim::timing::workload::rows::ROWS;
use v3d_sim::timing::workload::{BOARD_MHZ, Measured, Modelled, Workload};

/// Ratios that are near enough to 1.
const NEAR: RangeInclusive<f64> = 0.9..=1.1;

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rows of the table; the default is all of them
    rows: Vec<u8>,
    /// Run GPU_FFT instead: the folder with its programs, host_applications/linux/apps/hello_pi/hello_fft/hex of raspberrypi/userland
    #[arg(long, value_name = "DIR", conflicts_with = "rows")]
    gpu_fft: Option<PathBuf>,
}

/// Runs the command. It fails if a ratio is not near 1, except in rows whose workload is not known exactly.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(folder) = &arguments.gpu_fft {
        return gpu_fft(folder);
    }
    for row in &arguments.rows {
        ensure!(ROWS.iter().any(|workload| workload.row == *row), "there is no row {row}; there are {}", numbers());
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "cycles of a V3D at {BOARD_MHZ} MHz; modelled / measured is the ratio")?;
    writeln!(
        out,
        "{:>3} {:40} {:9} {:>10} {:>15} {:>10}",
        "row", "workload", "part", "modelled", "board, µs", "cycles"
    )?;
    let (mut worst, mut outside): (f64, Vec<String>) = (1.0, Vec::new());
    for workload in ROWS.iter().filter(|workload| arguments.rows.is_empty() || arguments.rows.contains(&workload.row)) {
        let modelled = workload.run().with_context(|| format!("row {}, {}", workload.row, workload.name))?;
        for measured in workload.measured {
            let ratio = modelled.ratio(measured);
            write_row(workload, measured, &modelled, &mut out)?;
            if measured.mark.is_binding() {
                let off = |ratio: f64| ratio.ln().abs();
                worst = if off(ratio) > off(worst) { ratio } else { worst };
                if !NEAR.contains(&ratio) {
                    outside.push(format!("{} {}", workload.row, measured.part.name()));
                }
            }
        }
    }
    writeln!(out, "\nfarthest from 1: {worst:.2}")?;
    if outside.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "not within {:.2} to {:.2}: {}", NEAR.start(), NEAR.end(), outside.join(", "))?;
    Ok(ExitCode::FAILURE)
}

/// Prints a row as soon as it is known.
fn write_row(workload: &Workload, measured: &Measured, modelled: &Modelled, out: &mut impl Write) -> Result<()> {
    let Workload { row, name, .. } = workload;
    let us = format!("{} to {}", measured.us.0, measured.us.1);
    writeln!(
        out,
        "{row:>3} {name:40} {:9} {:>10} {us:>15} {:>10.0} ratio {:.2} {}",
        measured.part.name(),
        modelled.cycles(measured.part),
        measured.cycles(),
        modelled.ratio(measured),
        measured.mark.name()
    )?;
    Ok(out.flush()?)
}

/// Prints the times of GPU_FFT. No cost was fitted to them, and no limit is set for them.
fn gpu_fft(folder: &Path) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "milliseconds for a transform, alone and in a batch of {BATCH}")?;
    writeln!(
        out,
        "{:>6} {:>10} {:>10} {:>12} {:>10} {:>10}",
        "points", "published", "modelled", "", "published", "modelled"
    )?;
    for transform in &TRANSFORMS {
        let path = folder.join(transform.file());
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let program = gpu_fft::words(&text).with_context(|| format!("{} is not a list of words", path.display()))?;
        write!(out, "{:>6}", format!("2^{}", transform.log2))?;
        for (jobs, published) in [(1, Some(transform.alone_ms)), (BATCH, transform.in_batch_ms)] {
            let Some(published) = published else { continue };
            let modelled = transform.run(&program, jobs).with_context(|| format!("{} points", 1 << transform.log2))?;
            write!(out, " {published:>10} {modelled:>10.4} ratio {:>6.2}", modelled / published)?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The numbers of all rows.
fn numbers() -> String {
    ROWS.iter().map(|workload| workload.row.to_string()).collect::<Vec<_>>().join(", ")
}

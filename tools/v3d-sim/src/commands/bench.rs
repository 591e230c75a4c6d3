//! `v3d bench`: speed of the model.
//!
//! A frame is everything that the writes to registers start: binning with coordinate shading, rendering with vertex and fragment shading, stores; it does not
//! include loading the job from disk. Instructions are QPU instructions of the job's own programs, each on a vector of 16 elements.
//!
//! A peer is a program that draws the same frames by OpenGL: it is run right after the model with each of Mesa's software renderers, so that the
//! ratio is meaningful on a machine with other work, too.

mod host;

use anyhow::{Context, Result, ensure};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use v3d_hw::registers::performance::CounterSource;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::{End, run_job};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::{CodeSize, EngineKind, INSTRUCTION_CYCLES};
use v3d_sim::{Config, Fault, V3d};

/// Captured jobs that are embedded in the program: the kernel's triangle, and some of another driver.
macro_rules! embedded {
    ($( $name:literal ),*) => {
        &[$( &[
            ("job.json", include_bytes!(concat!("../../tests/", $name, "/job.json")) as &[u8]),
            ("mem0.bin.zst", include_bytes!(concat!("../../tests/", $name, "/mem0.bin.zst")) as &[u8]),
        ] ),*]
    };
}

/// Names and contents of a folder's files.
type Files = [(&'static str, &'static [u8]); 2];

/// The jobs that are measured by default.
const SCENES: &[&Files] = embedded!(
    "kernel_job",
    "captures/gears",
    "captures/lit_textured",
    "captures/loop_mandelbrot",
    "bench/gears_640",
    "bench/lit_textured_640",
    "bench/overdraw_640",
    "bench/big_triangles_640",
    "bench/heavy_fragments_640"
);

/// Scenes that a peer can draw.
const PEER_SCENES: [&str; 5] =
    ["gears_640", "lit_textured_640", "overdraw_640", "big_triangles_640", "heavy_fragments_640"];

/// Mesa's software renderers, by the values of GALLIUM_DRIVER.
const PEER_RENDERERS: [&str; 2] = ["softpipe", "llvmpipe"];

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Job folders; the default is some embedded ones
    dirs: Vec<PathBuf>,
    /// Measure each job for this long
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Execute everything on one thread of the host
    #[arg(long)]
    serial: bool,
    /// What executes QPU programs: reference, vectors, avx2, neon or avx512; the default is the best that this host has
    #[arg(long, value_name = "KIND")]
    engine: Option<EngineKind>,
    /// Print also how much host code the jobs' programs are translated to, if the engine translates
    #[arg(long)]
    code: bool,
    /// A program that draws a scene with OpenGL, started as `PROGRAM SCENE SECONDS`, and prints frames a second: tools/v3d-sim/peer/frames.c is one
    #[arg(long, value_name = "PROGRAM")]
    peer: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    ensure!(arguments.seconds >= 0.0 && arguments.seconds <= 3600.0, "--seconds must be between 0 and 3600");
    let folders: Vec<JobFolder> = if arguments.dirs.is_empty() {
        SCENES.iter().map(|files| JobFolder::embedded(*files)).collect::<Result<_, _>>()?
    } else {
        arguments.dirs.iter().map(|dir| JobFolder::open(dir)).collect::<Result<_, _>>()?
    };
    let threads = if arguments.serial { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
    let mut out = std::io::stdout().lock();
    let engine = arguments.engine.unwrap_or_default();
    writeln!(out, "{}", host::processor())?;
    writeln!(
        out,
        "{threads} host thread{}, {} build, engine {engine}",
        if threads == 1 { "" } else { "s" },
        profile()
    )?;
    writeln!(
        out,
        "{:24} {:>11} {:>9} {:>12} {:>12} {:>14}",
        "job", "size", "frames/s", "ms/frame", "best ms", "M instr/s"
    )?;
    let config = Config { parallel: !arguments.serial, engine, ..Config::default() };
    for folder in &folders {
        let measured = measure(folder, config, Duration::from_secs_f64(arguments.seconds))
            .with_context(|| format!("{} cannot be measured", folder.name()))?;
        writeln!(out, "{:24} {measured}", folder.name())?;
        if let Some(first) = measured.faults.first() {
            let more = match measured.faults.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            writeln!(out, "{:>24} {first}{more}", "fault:")?;
        }
        if arguments.code {
            writeln!(out, "{:>24} {}", "code:", measured.code)?;
        }
        let rate = measured.frames_per_second();
        let peer = arguments.peer.as_deref().filter(|_| PEER_SCENES.contains(&folder.name()));
        for (peer, renderer) in peer.iter().flat_map(|peer| PEER_RENDERERS.map(|renderer| (peer, renderer))) {
            let theirs = measure_peer(peer, folder.name(), renderer, arguments.seconds)?;
            writeln!(out, "{renderer:>24} {:>11} {theirs:9.1}   the model is {:.2} times as fast", "", rate / theirs)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

const fn profile() -> &'static str {
    if cfg!(debug_assertions) { "unoptimised" } else { "release" }
}

/// Frames per second of a peer.
fn measure_peer(program: &Path, scene: &str, renderer: &str, seconds: f64) -> Result<f64> {
    let what = || format!("{} {scene} with {renderer}", program.display());
    let output = Command::new(program)
        .arg(scene)
        .arg(seconds.to_string())
        .envs([("GALLIUM_DRIVER", renderer), ("LIBGL_ALWAYS_SOFTWARE", "1")])
        .output()
        .with_context(what)?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {}. {}", what(), output.status, complaint.trim());
    let printed = String::from_utf8_lossy(&output.stdout);
    let rate = printed.trim().parse().with_context(|| format!("{} printed {:?}", what(), printed.trim()))?;
    ensure!(rate > 0.0, "{} draws {rate} frames a second", what());
    Ok(rate)
}

/// Measurements of a folder's jobs.
struct Measured {
    /// Size of the picture, as text.
    size: String,
    frames: u32,
    total: Duration,
    best: Duration,
    /// QPU instructions of all frames.
    instructions: f64,
    /// Faults of the first frame.
    faults: Vec<Fault>,
    /// The translations of the programs that were executed often.
    code: CodeSize,
}

impl Measured {
    fn frames_per_second(&self) -> f64 {
        f64::from(self.frames) / self.total.as_secs_f64()
    }
}

/// The columns after the job's name.
impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>11} {:9.1} {:12.2} {:12.2} {:14.2}",
            self.size,
            self.frames_per_second(),
            1000.0 * self.total.as_secs_f64() / f64::from(self.frames),
            1000.0 * self.best.as_secs_f64(),
            self.instructions / self.total.as_secs_f64() / 1e6,
        )
    }
}

/// Runs the jobs of a folder repeatedly.
fn measure(folder: &JobFolder, config: Config, duration: Duration) -> Result<Measured> {
    let mut memories: Vec<OwnedMemory> = Vec::new();
    for (number, job) in folder.jobs().iter().enumerate() {
        let memory = folder.image(job)?;
        folder.carry_over(number, memory.view(), &memories)?;
        memories.push(memory);
    }
    let mut device = V3d::new(config);
    let frame = |device: &mut V3d| -> Result<Duration> {
        let start = Instant::now();
        for (job, memory) in folder.jobs().iter().zip(&memories) {
            let end = run_job(device, memory.view(), job);
            ensure!(end == End::Done, "a job does not end: {end}");
        }
        Ok(start.elapsed())
    };
    frame(&mut device)?;
    let faults = device.take_faults();
    let start = Instant::now();
    let (mut frames, mut total, mut best) = (0u32, Duration::ZERO, Duration::MAX);
    while frames == 0 || start.elapsed() < duration {
        let time = frame(&mut device)?;
        frames += 1;
        total += time;
        best = best.min(time);
    }
    let cycles = device.counters().get(CounterSource::QpuInstructionCycles);
    // The count includes the first frame, which warms up.
    let instructions = cycles as f64 / INSTRUCTION_CYCLES as f64 * f64::from(frames) / f64::from(frames + 1);
    let size = folder.jobs().last().and_then(|job| job.color_buffer.as_ref());
    let size = size.map_or_else(String::new, |buffer| format!("{} x {}", buffer.width, buffer.height));
    Ok(Measured { size, frames, total, best, instructions, faults, code: device.code_size() })
}

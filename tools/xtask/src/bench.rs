//! `cargo xtask bench`: the kernel's size, and the instructions and time of its frames.
//!
//! The QEMU plugin counts instructions: its trace contains, for each access to a V3D register, the number of instructions that vCPU 0 has executed so far.
//! These counts do not depend on the host; frames per second do, and measure the model's speed. Scenes run without a limit of frames, because a counted run
//! also computes the CRC of each finished page, which takes longer than the frame.

mod draws;
mod gpu;
mod mesa;
mod primitives;
pub(crate) mod shaders;

use crate::build;
use crate::far_end::qemu::{self, Qemu};
use crate::interrupt;
use crate::run;
use crate::run::frame_rate::{FrameRate, Table};
use crate::setup;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask bench [--frames N] [SCENE...]

Boots the kernel in QEMU and prints, for each SCENE (triangle and cube by default):
  the size of kernel8.img
  instructions from power-on to the start of the first frame's rendering
  instructions of each following frame: the median, and the mean, which includes lists that only the first frames write
  frames per second on this machine, measured over N frames (default 60)
Then it prints:
  instructions and heap of compiling the tree's shaders in the kernel, with their goals
  instructions and bytes of control list per draw, with their goals, and the draws per second that they allow;
  for comparison, the bytes per draw of Mesa's driver in captured frames
  instructions of a frame of 10,000 prepared draws, and of a sprite of 10,000
  instructions of a texture upload, and of a copy of the same bytes
  instructions of 10,000 primitives of embedded-graphics, and with that crate's own framebuffer
  for each scene, the GPU cycles per frame that the model estimates, and what bounds them
  for each scene, frames per second on this machine over N frames, beside what the chip is estimated to reach
";

const DEFAULT_SCENES: [&str; 2] = ["triangle", "cube"];
const DEFAULT_FRAMES: usize = 60;

/// Time limit for boot and for all frames of a scene.
const PATIENCE: Duration = Duration::from_secs(300);

/// A write to this register starts the rendering of a frame [AG p.80].
const START_OF_RENDERING: &str = "CT1EA <-";

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut frames, mut scenes) = (DEFAULT_FRAMES, Vec::new());
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Long("frames") => frames = arguments.value()?.parse()?,
            Value(scene) => scenes.push(scene.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(frames >= 2, "a measurement needs at least 2 frames");
    if scenes.is_empty() {
        scenes = DEFAULT_SCENES.map(str::to_owned).to_vec();
    }
    interrupt::watch()?;
    setup::qemu()?.check_plugin()?;
    let workspace = Workspace::find()?;
    let (kernel, plugin) = build::kernel_and_plugin(&workspace, build::ShaderCompiler::Included)?;
    println!("kernel8.img: {} bytes", std::fs::metadata(&kernel.image)?.len());
    for scene in &scenes {
        eprintln!("==> {scene}");
        let measured = measure(&workspace, &kernel.image, &plugin, scene, frames);
        let Measured { to_first_frame, median, mean, frames_per_second } =
            measured.with_context(|| format!("scene {scene}"))?;
        println!("{scene}: {to_first_frame} instructions from power-on to the start of the first frame's rendering");
        println!("{scene}: {median} instructions a frame (median), {mean} (mean)");
        println!("{scene}: {frames_per_second:.1} frames a second on this machine, over {frames} frames");
    }
    eprintln!("==> shaders");
    shaders::print(&workspace, &kernel.image, &plugin)?;
    eprintln!("==> draws");
    draws::print(&workspace, &kernel.image, &plugin)?;
    mesa::print(&workspace, &build::replayer(&workspace)?)?;
    eprintln!("==> primitives");
    primitives::print(&workspace, &kernel.image, &plugin)?;
    eprintln!("==> modelled GPU cycles");
    gpu::print(&workspace, &kernel.image, &plugin)?;
    eprintln!("==> frames a second");
    println!("{}", rates(&workspace, &kernel.image, &plugin, frames)?);
    Ok(())
}

/// Frames a second of every scene, here and as estimated for the chip.
fn rates(workspace: &Workspace, image: &Path, plugin: &Path, frames: usize) -> Result<Table> {
    let machine = Qemu::start(qemu::Options::with_v3d(image, plugin), workspace.scratch()?)?;
    machine.console.wait_ready(Instant::now() + PATIENCE)?;
    let scenes = run::list_scenes(&machine.console, Instant::now() + PATIENCE)?;
    let rate = |scene: &run::SceneLine| FrameRate::of(&machine.console, &scene.name, frames as u64, PATIENCE);
    let rates = scenes.iter().map(rate).collect::<Result<_>>()?;
    machine.check_faults()?;
    Ok(Table(rates))
}

struct Measured {
    to_first_frame: u64,
    /// Instructions per frame.
    median: u64,
    /// Instructions per frame.
    mean: u64,
    frames_per_second: f64,
}

fn measure(workspace: &Workspace, image: &Path, plugin: &Path, scene: &str, frames: usize) -> Result<Measured> {
    let folder = workspace.scratch()?;
    let trace = folder.path().join("trace");
    let options = qemu::Options { trace: Some(&trace), ..qemu::Options::with_v3d(image, plugin) };
    let machine = Qemu::start(options, workspace.scratch()?)?;
    let deadline = Instant::now() + PATIENCE;
    machine.console.wait_ready(deadline)?;
    let keyboard = machine.console.keyboard();
    let ended = AtomicBool::new(false);
    let seconds = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let first = wait_for_frames(&trace, 1, deadline, &ended);
            let last = first.and_then(|first| Ok((first, wait_for_frames(&trace, frames, deadline, &ended)?)));
            // Control-C ends each scene. After a failure, the wait must end too.
            keyboard.press(&[3])?;
            last.map(|(first, last)| (last - first).as_secs_f64())
        });
        let reply = machine.console.command("scene run", &format!(" {scene}"), deadline, |_| {});
        // A scene that has ended or does not exist draws no more frames.
        ended.store(true, Ordering::Relaxed);
        reply?.lines()?;
        watch.join().map_err(|_| anyhow::anyhow!("the thread that reads the trace panicked"))?
    })?;
    machine.check_faults()?;
    let counts = counts(&std::fs::read_to_string(&trace)?);
    let Some(counts @ [first, .., last]) = counts.get(..frames) else {
        bail!("only {} frames were drawn", counts.len());
    };
    Ok(Measured {
        to_first_frame: *first,
        median: median_step(counts),
        mean: (last - first) / (frames as u64 - 1),
        frames_per_second: (frames - 1) as f64 / seconds,
    })
}

/// Waits until this number of frames has been started, and returns the time; fails if the scene ends before.
fn wait_for_frames(trace: &Path, frames: usize, deadline: Instant, ended: &AtomicBool) -> Result<Instant> {
    while Instant::now() < deadline {
        if ended.load(Ordering::Relaxed) {
            bail!("the scene ended before {frames} frames were drawn");
        }
        interrupt::check()?;
        let text = std::fs::read_to_string(trace).context("the plugin has written no trace")?;
        if counts(&text).len() >= frames {
            return Ok(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    bail!("timeout: fewer than {frames} frames were drawn");
}

/// An access to a register in a line of the plugin's trace, behind the number of instructions executed before it. The time at the start of the line is left
/// out.
fn access(line: &str) -> Option<(u64, &str)> {
    let (_, rest) = line.split_once(' ')?;
    let (count, access) = rest.split_once(' ')?;
    Some((count.parse().ok()?, access))
}

/// Number of instructions executed before each start of rendering.
fn counts(trace: &str) -> Vec<u64> {
    let accesses = trace.lines().filter_map(access);
    accesses.filter(|(_, access)| access.starts_with(START_OF_RENDERING)).map(|(count, _)| count).collect()
}

/// The median of the differences between successive counts; 0 if there is none.
fn median_step(counts: &[u64]) -> u64 {
    let mut steps: Vec<u64> = counts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_long_frames_do_not_move_the_median() {
        for (counts, expected) in [(&[][..], 0), (&[7], 0), (&[10, 15], 5), (&[0, 900, 1800, 1830, 1860, 1890], 30)] {
            assert_eq!(median_step(counts), expected);
        }
    }

    #[test]
    fn nobody_waits_for_frames_of_a_scene_that_has_ended() {
        let start = Instant::now();
        let error = wait_for_frames(Path::new("no trace"), 1, start + PATIENCE, &AtomicBool::new(true)).unwrap_err();
        assert!(error.to_string().contains("ended before 1 frames"), "{error}");
        assert!(start.elapsed() < PATIENCE / 10);
    }

    #[test]
    fn starts_of_rendering_are_counted() {
        let trace = "0.000009 9 IDENT0 -> 0x02443356\n0.081234 81234 CT1EA <- 0xc8001000\n\
            0.081240 81240 CT1EA -> 0xc8001000\n0.099999 99999 CT1EA <- 0x00000000\n";
        assert_eq!(counts(trace), [81234, 99999]);
        assert!(counts("").is_empty());
    }
}

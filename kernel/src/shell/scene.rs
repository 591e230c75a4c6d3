//! Commands about scenes: list, run, stop
//!
//! `scene run` draws into the page that is not on show, flips, and goes on. A counted run sums every finished page up as the
//! CPU reads it, so that a machine at the other end of the line can tell whether frames differ and whether they repeat.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use v3d::{
    hw::{ArmPhys, registers::performance::CounterSource},
    performance::{self, COUNTERS},
};

use super::run::Answer;
use crate::{
    arch::clock,
    bcm2837::{
        framebuffer::{Framebuffer, PAGES},
        property::PropertyError,
    },
    console::{self, Interruption},
    frame_times::FrameTimes,
    machine::{Gpu, LastPicture, Machine, NO_V3D},
    print, println,
    scenes::{SCENES, Scene, SceneContext, SceneEntry, Target},
};

/// Text of scenes, to the console if somebody wants to see it.
struct Output {
    wanted: bool,
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.wanted {
            print!("{text}");
        }
        Ok(())
    }
}

pub(super) fn list() -> Answer {
    for scene in SCENES {
        println!("scene {}: {}", scene.name, scene.description);
    }
    Ok(())
}

pub(super) fn stop() -> Answer {
    println!("no scene is running: any key stops one that is");
    Ok(())
}

pub(super) fn run(machine: &mut Machine, name: &str, frames: Option<u64>) -> Answer {
    machine.gpu()?;
    let entry = find(name)?;
    let mode = match frames {
        Some(frames) => Mode::Counted { frames },
        None => Mode::ForTheEye,
    };
    print_speed(&show(machine, entry, mode)?);
    Ok(())
}

/// Draws frames as fast as it goes, without summing them up, and prints how fast that was.
pub(super) fn measure(machine: &mut Machine, entry: &'static SceneEntry, frames: u64) -> Answer {
    print_speed(&show(machine, entry, Mode::Measured { frames })?);
    Ok(())
}

/// Draws the first frame of a scene; its sum.
pub(super) fn first_picture(machine: &mut Machine, entry: &'static SceneEntry) -> Result<u32, String> {
    let drawn = show(machine, entry, Mode::Single)?;
    drawn.crc.ok_or_else(|| "no frame was drawn".to_string())
}

fn print_speed(drawn: &Drawn) {
    let Drawn { times: FrameTimes { frames, .. }, elapsed_us, .. } = drawn;
    let per_second = (frames * 1_000_000_000).checked_div(*elapsed_us).unwrap_or(0);
    println!("{frames} frames in {} ms, {}.{:03} a second", elapsed_us / 1000, per_second / 1000, per_second % 1000);
}

/// What frames are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A number of frames, each summed up and told.
    Counted { frames: u64 },
    /// A number of frames as fast as it goes.
    Measured { frames: u64 },
    /// One frame, summed up.
    Single,
    /// Until a key is pressed, in step with the display if it can be.
    ForTheEye,
}

impl Mode {
    fn frames(self) -> Option<u64> {
        match self {
            Self::Counted { frames } | Self::Measured { frames } => Some(frames),
            Self::Single => Some(1),
            Self::ForTheEye => None,
        }
    }
}

/// Frames that were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    times: FrameTimes,
    elapsed_us: u64,
    /// The sum of the last one, if it was summed up.
    crc: Option<u32>,
}

/// What the engine's counters count while a scene is drawn: as many as there are counters.
pub(super) const COUNTED: [CounterSource; COUNTERS] = [
    CounterSource::PtbPrimitivesOutside,
    CounterSource::PtbPrimitivesClipped,
    CounterSource::PsePrimitivesReversed,
    CounterSource::FepPrimitives,
    CounterSource::FepQuads,
    CounterSource::TlbQuadsPassed,
    CounterSource::TlbQuadsFailed,
    CounterSource::TlbQuadsWritten,
    CounterSource::TmuQuads,
    CounterSource::TmuCacheMisses,
    CounterSource::QpuVertexCycles,
    CounterSource::QpuFragmentCycles,
    CounterSource::QpuInstructionCycles,
    CounterSource::QpuIdleCycles,
    CounterSource::InstructionCacheMisses,
    CounterSource::UniformsCacheMisses,
];

fn show(machine: &mut Machine, entry: &'static SceneEntry, mode: Mode) -> Result<Drawn, String> {
    let Machine { framebuffer, gpu, last_picture, last_times, hung_job, watchdog, .. } = machine;
    let gpu = gpu.as_mut().map_err(|_| NO_V3D)?;
    let framebuffer = framebuffer.ok_or("there is no framebuffer to draw into")?;
    let (used_before, _) = gpu.pool_use();
    *hung_job = None;
    // The console's text would be drawn over the picture.
    console::detach_screen();

    performance::start(gpu.platform(), &COUNTED).map_err(|error| error.to_string())?;
    let mut output = Output { wanted: matches!(mode, Mode::Counted { .. } | Mode::ForTheEye) };
    let mut context = SceneContext { gpu, target: target(&framebuffer, 1), output: &mut output };
    let answer = match (entry.start)(&mut context) {
        Ok(mut scene) => {
            let answer = draw(scene.as_mut(), &mut context, &framebuffer, mode, |target| {
                watchdog.sign_of_life();
                *last_picture = Some(LastPicture { scene: entry.name, target });
            });
            context.gpu.wait_until_idle();
            scene.end(context.gpu);
            performance::stop(context.gpu.platform());
            *last_times = answer.as_ref().ok().map(|drawn| drawn.times);
            answer
        }
        Err(error) => Err(error.to_string()),
    };
    for report in context.gpu.take_reports() {
        print!("{report}");
        *hung_job = Some(report.lists);
    }
    let (used_after, _) = context.gpu.pool_use();
    if used_after > used_before {
        log::warn!("scene {} keeps {} bytes of GPU memory", entry.name, used_after - used_before);
    }
    answer
}

/// Draws frames until there are enough, a key is pressed, or one fails. `before_each` is told where the next one goes.
fn draw(
    scene: &mut dyn Scene,
    context: &mut SceneContext<'_>,
    framebuffer: &Framebuffer,
    mode: Mode,
    mut before_each: impl FnMut(Target),
) -> Result<Drawn, String> {
    let start_us = clock::now_us();
    let mut paced = mode == Mode::ForTheEye;
    let mut number = 0;
    let mut crc = None;
    let mut times = FrameTimes::default();
    while mode.frames().is_none_or(|frames| number < frames) {
        let page = (number as usize + 1) % PAGES;
        context.target = target(framebuffer, page);
        before_each(context.target);
        let frame_start_us = clock::now_us();
        scene.frame(context, number).map_err(|error| format!("frame {number}: {error}"))?;
        times.add(clock::now_us() - frame_start_us);
        flip(context.gpu, framebuffer, page)?;
        paced = paced && framebuffer.wait_for_vsync().is_ok();
        match mode {
            Mode::Counted { .. } => {
                let sum = framebuffer.page_crc(page);
                println!("frame {number} crc {sum:08X}");
                crc = Some(sum);
            }
            Mode::Single => crc = Some(framebuffer.page_crc(page)),
            Mode::Measured { .. } | Mode::ForTheEye => {}
        }
        number += 1;
        match (mode.frames(), console::interruption()) {
            (Some(frames), Some(Interruption::ControlC)) if number < frames => {
                return Err(format!("stopped after {number} of {frames} frames"));
            }
            (None, Some(_)) => break,
            _ => {}
        }
    }
    Ok(Drawn { times, elapsed_us: clock::now_us() - start_us, crc })
}

/// Has the display show a page.
///
/// On some firmware the mailbox dies of the 3D engine's interrupt after the first frame [aros]. Then the kernel goes on without
/// it: the end of jobs is looked for instead of waited for.
fn flip(gpu: &Gpu, framebuffer: &Framebuffer, page: usize) -> Answer {
    let mut shown = framebuffer.show(page);
    if shown == Err(PropertyError::Timeout) && !gpu.platform().is_polling() {
        log::warn!("the firmware does not answer any more; going on without interrupts of the 3D engine");
        gpu.platform().poll();
        shown = framebuffer.show(page);
    }
    console::page_is_shown(page);
    shown.map_err(|error| error.to_string())
}

fn find(name: &str) -> Result<&'static SceneEntry, String> {
    SCENES.iter().find(|scene| scene.name == name).ok_or_else(|| {
        let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
        format!("no scene named \"{name}\"; there are: {}", names.join(", "))
    })
}

/// A page as the GPU is told of it.
fn target(framebuffer: &Framebuffer, page: usize) -> Target {
    Target {
        // The framebuffer is below 1 GiB, as all of memory.
        address: ArmPhys(framebuffer.page_address(page) as u32).to_bus(),
        width: framebuffer.width(),
        height: framebuffer.height(),
        pitch_bytes: framebuffer.pitch_bytes(),
    }
}

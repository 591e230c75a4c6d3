//! The state that the shell's commands share: what the boot has brought up, and what commands leave for later ones

use alloc::string::{String, ToString};
use core::cell::RefMut;

use v3d::Submission;

use crate::{
    arch::Handover,
    board::watchdog::Watchdog,
    counter_set::CounterSet,
    frame_times::FrameTimes,
    gpu::{Gpu, GpuDevice},
    pages::Pages,
    replay::Replay,
    scenes::Page,
};

/// What a command comes to: nothing more to say, or why it failed, as a sentence.
pub(super) type Answer = Result<(), String>;

/// What does what a line says, and prints what came of it.
pub(super) type Obey = fn(&str, &mut Session);

/// The state of the shell.
#[derive(Debug)]
pub struct Session {
    /// What the boot code handed over.
    pub handover: Handover,
    /// The picture, if there is a display.
    pub framebuffer: Option<Pages>,
    /// The watchdog.
    pub watchdog: Watchdog,
    /// The 3D engine, or why there is none.
    pub gpu: Result<GpuDevice, String>,
    /// What was drawn last.
    pub last_picture: Option<LastPicture>,
    /// How long the frames of the last scene took, and what was counted meanwhile.
    pub last_times: Option<(FrameTimes, CounterSet)>,
    /// What is counted while the next scene is drawn.
    pub counted: CounterSet,
    /// What failed last, if nothing was drawn since.
    pub failed_submission: Option<Submission>,
    /// A job from elsewhere, as far as it has come.
    pub replay: Replay,
    /// A line that was typed while a scene was shown, which the shell does next.
    pub next_line: Option<String>,
}

/// A frame that was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPicture {
    /// The scene.
    pub scene: &'static str,
    /// Where it went.
    pub target: Page,
}

/// What commands say that need the engine where there is none; machines look for this sentence.
pub(super) const NO_V3D: &str = "this machine has no V3D";

impl Session {
    /// The state before the first command.
    #[must_use]
    pub fn new(
        handover: Handover,
        framebuffer: Option<Pages>,
        watchdog: Watchdog,
        gpu: Result<GpuDevice, String>,
    ) -> Self {
        Self {
            handover,
            framebuffer,
            watchdog,
            gpu,
            last_picture: None,
            last_times: None,
            counted: CounterSet::default(),
            failed_submission: None,
            replay: Replay::default(),
            next_line: None,
        }
    }

    /// The 3D engine's driver.
    ///
    /// # Errors
    /// "this machine has no V3D".
    pub fn gpu(&self) -> Result<RefMut<'_, Gpu>, String> {
        self.device()?.driver().map_err(|error| error.to_string())
    }

    /// The 3D engine.
    ///
    /// # Errors
    /// "this machine has no V3D".
    pub fn device(&self) -> Result<&GpuDevice, String> {
        self.gpu.as_ref().map_err(|_| NO_V3D.into())
    }
}

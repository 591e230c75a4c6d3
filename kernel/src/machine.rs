//! What the boot has found and brought up, which the shell's commands act on

use alloc::string::{String, ToString};
use core::cell::RefMut;

use renderer::{Device, Pass};
use v3d::{Driver, Submission};

use crate::{
    board::watchdog::Watchdog, counter_set::CounterSet, frame_times::FrameTimes, pages::Pages, replay::Replay,
    scenes::Page, start::Handover, v3d_platform::V3dPlatform,
};

/// The driver of the one 3D engine that there is.
pub type Gpu = Driver<'static, V3dPlatform>;
/// The driver as scenes share it.
pub type GpuDevice = Device<'static, V3dPlatform>;
/// A pass of a frame of the 3D engine.
pub type GpuPass<'f> = Pass<'f, 'static, V3dPlatform>;

/// The machine.
#[derive(Debug)]
pub struct Machine {
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
pub const NO_V3D: &str = "this machine has no V3D";

impl Machine {
    /// The 3D engine's driver.
    ///
    /// # Errors
    /// [`NO_V3D`].
    pub fn gpu(&self) -> Result<RefMut<'_, Gpu>, String> {
        self.device()?.driver().map_err(|error| error.to_string())
    }

    /// The 3D engine.
    ///
    /// # Errors
    /// [`NO_V3D`].
    pub fn device(&self) -> Result<&GpuDevice, String> {
        self.gpu.as_ref().map_err(|_| NO_V3D.into())
    }
}

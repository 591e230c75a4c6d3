//! The state that commands share: devices, and results that later commands use

use alloc::string::{String, ToString};
use core::cell::RefMut;

use v3d::Submission;

use crate::{
    arch::Handover,
    board::{emmc::CardSlot, watchdog::Watchdog},
    boot::options::BootOptions,
    capture::replay::Replay,
    display::{frame_times::FrameTimes, pages::Pages},
    gpu::{Gpu, GpuDevice},
    report::Report,
    scenes::Page,
    shell::counter_set::CounterSet,
};

/// The result of a command; an error is a sentence.
pub(super) type CommandResult = Result<(), String>;

/// Executes the command on a line and prints its result: [`run`](super::run)'s function, for scenes during which commands are typed.
pub(super) type ExecuteLine = fn(&str, &mut Session);

/// The state of the shell.
#[derive(Debug)]
pub struct Session {
    /// What the boot code passed to the kernel.
    pub handover: Handover,
    /// The framebuffer, if there is a display.
    pub framebuffer: Option<Pages>,
    /// The watchdog.
    pub watchdog: Watchdog,
    /// The V3D, or why there is none.
    pub gpu: Result<GpuDevice, String>,
    /// The slot of the SD card.
    pub card: CardSlot,
    /// The last frame that was drawn.
    pub last_picture: Option<LastPicture>,
    /// Frame times of the last scene, and the set of counters that was active.
    pub last_times: Option<(FrameTimes, CounterSet)>,
    /// The set of counters for the next scene.
    pub counted: CounterSet,
    /// The submission that failed last, if nothing was drawn since.
    pub failed_submission: Option<Submission>,
    /// The captured job to be replayed, as far as it is loaded.
    pub replay: Replay,
    /// The options on the command line.
    pub options: BootOptions,
    /// The last report of `selftest board`.
    pub last_report: Option<Report>,
    /// A line that was typed while a scene was shown, for the shell to execute next.
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

/// The error of commands that need the V3D, where there is none or it was not started.
pub(super) const NO_V3D: &str = "there is no V3D to work with; `v3d` says why";

impl Session {
    /// The state before the first command.
    #[must_use]
    pub fn new(
        handover: Handover,
        framebuffer: Option<Pages>,
        watchdog: Watchdog,
        gpu: Result<GpuDevice, String>,
        card: CardSlot,
        options: BootOptions,
    ) -> Self {
        Self {
            handover,
            framebuffer,
            watchdog,
            gpu,
            card,
            last_picture: None,
            last_times: None,
            counted: CounterSet::default(),
            failed_submission: None,
            replay: Replay::default(),
            options,
            last_report: None,
            next_line: None,
        }
    }

    /// The V3D's driver.
    ///
    /// # Errors
    /// When there is none, or it was not started.
    pub fn gpu(&self) -> Result<RefMut<'_, Gpu>, String> {
        self.device()?.driver().map_err(|error| error.to_string())
    }

    /// The V3D.
    ///
    /// # Errors
    /// When there is none, or it was not started.
    pub fn device(&self) -> Result<&GpuDevice, String> {
        self.gpu.as_ref().map_err(|_| NO_V3D.into())
    }
}

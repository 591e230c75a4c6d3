//! What the boot has found and brought up, which the shell's commands act on

use alloc::string::String;

use v3d::identity::Identity;

use crate::{
    bcm2837::{framebuffer::Framebuffer, watchdog::Watchdog},
    start::Handover,
    v3d_platform::V3dPlatform,
};

/// The machine.
#[derive(Debug)]
pub struct Machine {
    /// What the boot code handed over.
    pub handover: Handover,
    /// The picture, if there is a display.
    pub framebuffer: Option<Framebuffer>,
    /// The watchdog.
    pub watchdog: Watchdog,
    /// The 3D engine, or why there is none.
    pub gpu: Result<Gpu, String>,
}

/// The 3D engine, awake.
#[derive(Clone, Copy, Debug)]
pub struct Gpu {
    /// What it asks of the board.
    pub platform: &'static V3dPlatform,
    /// What it says of itself.
    pub identity: Identity,
}

/// What commands say that need the engine where there is none; machines look for this sentence.
pub const NO_V3D: &str = "this machine has no V3D";

impl Machine {
    /// The 3D engine.
    ///
    /// # Errors
    /// [`NO_V3D`].
    pub fn gpu(&self) -> Result<Gpu, String> {
        self.gpu.clone().map_err(|_| NO_V3D.into())
    }
}

//! Scenes: what the kernel can draw, one small file each
//!
//! A scene is started once and then draws one frame after the other, each into a page that is not on show. It submits a frame to the
//! engine and does not wait for it: while one is rendered the next is written and binned. The shell waits, flips pages, computes their CRCs and
//! counts; a scene only draws.
//!
//! A new scene is a file in `scenes/`, a line in [`SCENES`].

use alloc::{
    boxed::Box,
    string::{String, ToString},
};
use core::fmt;

use renderer::{Error, Target};
use v3d::{Fence, hw::BusAddr};

use crate::gpu::GpuDevice;

mod compute;
mod console;
mod cube;
mod flight;
mod glow;
mod layers;
mod metal;
mod mirror;
mod model;
mod multisample;
mod textured_cube;
mod triangle;
mod triangle_nv;
mod ui;
mod vpm;
mod water;

/// The page that a frame is to be drawn into: raster lines of R8G8B8A8 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Address of the first pixel of the top line, as the GPU sees it.
    pub address: BusAddr,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Bytes from one line to the next.
    pub pitch_bytes: u32,
}

impl Page {
    /// The page as passes draw to it.
    ///
    /// # Errors
    /// When lines are not whole pixels apart.
    pub fn target(&self) -> Result<Target, Error> {
        let Self { address, width, height, pitch_bytes } = *self;
        Target::page("display", address, width, height, pitch_bytes)
    }
}

/// What a scene draws with.
pub struct SceneContext<'a> {
    /// The 3D engine.
    pub device: &'a GpuDevice,
    /// Where this frame goes.
    pub target: Target,
    /// Prints lines to the console, for scenes that compute rather than draw.
    pub output: &'a mut dyn fmt::Write,
}

impl fmt::Debug for SceneContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SceneContext").field("target", &self.target).finish_non_exhaustive()
    }
}

/// Why a frame could not be drawn, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError(pub String);

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for SceneError {}

impl From<Error> for SceneError {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl From<::compute::Error> for SceneError {
    fn from(error: ::compute::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<v3d::Error> for SceneError {
    fn from(error: v3d::Error) -> Self {
        Self(error.to_string())
    }
}

/// A scene under way. Dropping it ends it.
pub trait Scene {
    /// Hands frame `number` (counted from 0) to the engine; it is finished in memory when the fence's job is done.
    ///
    /// # Errors
    /// When it cannot be made.
    fn frame(&mut self, context: &mut SceneContext<'_>, number: u64) -> Result<Fence, SceneError>;

    /// Whether keys are commands for the shell while it is drawn without end; otherwise any key ends it.
    fn keys_are_commands(&self) -> bool {
        false
    }
}

/// A row of the table of scenes.
#[derive(Clone, Copy, Debug)]
pub struct SceneEntry {
    /// The name that `scene run` takes.
    pub name: &'static str,
    /// What is to be seen, in one line.
    pub description: &'static str,
    /// Starts it.
    pub start: fn(&mut SceneContext<'_>) -> Result<Box<dyn Scene>, SceneError>,
}

/// All scenes.
pub const SCENES: &[SceneEntry] = &[
    triangle::ENTRY,
    triangle_nv::ENTRY,
    cube::ENTRY,
    textured_cube::ENTRY,
    model::ENTRY,
    metal::ENTRY,
    mirror::ENTRY,
    water::ENTRY,
    flight::ENTRY,
    layers::ENTRY,
    multisample::ENTRY,
    glow::ENTRY,
    ui::ENTRY,
    console::ENTRY,
    vpm::ENTRY,
    compute::ENTRY,
];

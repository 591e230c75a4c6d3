//! Scenes: what the kernel can draw, one small file each
//!
//! A scene is created once and then draws one frame after the other, each into a page that is not displayed. It submits a frame to the V3D and does not wait
//! for it: while one frame is rendered, the next one is prepared and binned. The shell waits for frames, flips pages, computes CRCs and counts; a scene only
//! draws. It computes its picture from the time ([`Moment`]), and may read keys ([`Keys`]).
//!
//! To add a scene, add a file to `scenes/` and a line to [`SCENES`].

use alloc::{
    boxed::Box,
    string::{String, ToString},
};
use core::fmt;

use renderer::{Error, Target};
use v3d::{Fence, hw::BusAddr};

use crate::{gpu::GpuDevice, scene_parts::moment::Moment, terminal::keyboard::Keyboard};

mod backdrop;
mod bloom;
mod breakout;
mod compute;
mod console;
mod cube;
mod flight;
mod glow;
mod landscape;
mod layers;
#[cfg(feature = "wgsl")]
mod live;
mod metal;
mod mirror;
mod model;
mod multisample;
mod particles;
mod shadows;
mod textured_cube;
mod triangle;
mod triangle_nv;
mod ui;
mod vpm;
mod walker;
mod water;

/// The page into which a frame is drawn: lines of R8G8B8A8 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Bus address of the first pixel of the top line.
    pub address: BusAddr,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes from one line to the next.
    pub pitch_bytes: u32,
}

impl Page {
    /// The page as a target of passes.
    ///
    /// # Errors
    /// When the pitch is not a whole number of pixels.
    pub fn target(&self) -> Result<Target, Error> {
        let Self { address, width, height, pitch_bytes } = *self;
        Target::page("display", address, width, height, pitch_bytes)
    }
}

/// What a scene needs for drawing.
pub struct SceneContext<'a> {
    /// The V3D.
    pub device: &'a GpuDevice,
    /// The target of this frame.
    pub target: Target,
    /// Console output, for scenes that compute rather than draw.
    pub output: &'a mut dyn fmt::Write,
    /// The keys, for scenes that read them ([`Keys::Scene`]); otherwise none is ever down.
    pub keyboard: Keyboard,
    /// Set by a scene that ends: the frame that it returns is its last.
    pub is_over: bool,
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

/// A running scene. Dropping it ends it.
pub trait Scene {
    /// Submits the frame of a moment; it is complete in memory when the fence's job is done.
    ///
    /// # Errors
    /// When the frame cannot be drawn.
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError>;

    /// Where keys go while the scene runs without a limit of frames.
    fn keys(&self) -> Keys {
        Keys::End
    }
}

/// Where keys go while a scene runs. Control-C ends every scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any key ends the scene.
    End,
    /// Keys are shell commands.
    Commands,
    /// The scene reads them from [`SceneContext::keyboard`]; Escape or `q` ends it.
    Scene,
}

/// An entry of the table of scenes.
#[derive(Clone, Copy, Debug)]
pub struct SceneEntry {
    /// Its name in `scene run`.
    pub name: &'static str,
    /// A description of its picture, in one line.
    pub description: &'static str,
    /// Creates the scene.
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
    shadows::ENTRY,
    walker::ENTRY,
    mirror::ENTRY,
    water::ENTRY,
    landscape::ENTRY,
    flight::ENTRY,
    layers::ENTRY,
    multisample::ENTRY,
    glow::ENTRY,
    bloom::ENTRY,
    particles::ENTRY,
    ui::ENTRY,
    breakout::ENTRY,
    console::ENTRY,
    vpm::ENTRY,
    compute::ENTRY,
    #[cfg(feature = "wgsl")]
    live::ENTRY,
];

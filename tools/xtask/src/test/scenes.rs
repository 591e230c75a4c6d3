//! Expected pictures of scenes, computed independently of the renderer.
//!
//! Nothing is taken from the renderer, the driver, the shaders or the model: rays are traced instead of triangles drawn, and colours are blended as the OpenGL
//! ES specification defines it. Each check examines a picture of the whole screen and returns a remark.

mod bands;
mod bloom;
mod breakout;
mod computation;
mod console;
mod crates;
mod dashboard;
mod flight;
mod glow;
pub(super) mod hull;
mod landscape;
mod layers;
mod metal;
mod model;
mod multisample;
mod noise;
mod particles;
mod rays;
mod shadows;
mod vector;
mod walker;
mod water;

use super::Built;
use super::guest::with_v3d;
use crate::picture::Picture;
use crate::run::run_scene;
use crate::workspace::Workspace;
use anyhow::{Result, bail, ensure};

/// Size of the screen.
const WIDTH: usize = 1280;
const HEIGHT: usize = 720;
/// Minimum number of operations that the scene `compute` runs.
const MIN_OPERATIONS: usize = 10;

/// Crates on a tiled floor.
pub(super) fn textured_cube(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "textured-cube", crates::check_crates)
}

/// Crates in front of a mirror.
pub(super) fn mirror(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "mirror", crates::check_mirror)
}

/// The chart of all blend states.
pub(super) fn layers(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "layers", |_, picture| layers::check(picture))
}

/// Spokes with one sample per pixel and with four.
pub(super) fn multisample(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "multisample", |_, picture| multisample::check(picture))
}

/// Lights that are added up.
pub(super) fn glow(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "glow", |_, picture| glow::check(picture))
}

/// The lighthouse.
pub(super) fn model(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "model", |_, picture| model::check(picture))
}

/// Vessels that reflect a room.
pub(super) fn metal(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "metal", |_, picture| metal::check(picture))
}

/// Sunlight and shadows of a temple.
pub(super) fn shadows(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "shadows", |_, picture| shadows::check(picture))
}

/// The lighthouse in the sea.
pub(super) fn water(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "water", |_, picture| water::check(picture))
}

/// Hikers with skeletons.
pub(super) fn walker(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "walker", |_, picture| walker::check(picture))
}

/// Hills with trees.
pub(super) fn landscape(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "landscape", |_, picture| landscape::check(picture))
}

/// The flight through a distance field.
pub(super) fn flight(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "flight", |_, picture| flight::check(picture))
}

/// Beads with lamps, and their bloom.
pub(super) fn bloom(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "bloom", |_, picture| bloom::check(picture))
}

/// Sparks that user programs move.
pub(super) fn particles(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "particles", |_, picture| particles::check(picture))
}

/// The dashboard.
pub(super) fn ui(workspace: &Workspace, built: &Built) -> Result<String> {
    first_picture(workspace, built, "ui", |_, picture| dashboard::check(picture))
}

/// The shell's text: the output of `help`, and input while the scene runs.
pub(super) fn console(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let help = machine.console.command("help", "", deadline, |_| {})?.lines()?;
        run_scene(&machine.console, "console", 0..1, deadline)?;
        let picture = machine.screenshot()?;
        let first = kept_if_wrong(workspace, "console", &picture, console::check(&picture, &help))?;
        let live = console::check_live(machine, &help, deadline);
        Ok(format!("{first}; {}", kept_if_wrong(workspace, "console", &machine.screenshot()?, live)?))
    })
}

/// The game, played by keys.
pub(super) fn breakout(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let checked = breakout::check(machine, deadline);
        kept_if_wrong(workspace, "breakout", &machine.screenshot()?, checked)
    })
}

/// Operations of the QPUs, each reported as correct, and the Mandelbrot set.
pub(super) fn compute(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let run = run_scene(&machine.console, "compute", 0..1, deadline)?;
        let told: Vec<&String> = run.lines.iter().filter(|line| line.contains("instructions, modelled")).collect();
        ensure!(told.len() >= MIN_OPERATIONS, "only {} operations are reported", told.len());
        if let Some(wrong) = told.iter().find(|line| !line.contains(" correct; ")) {
            bail!("{wrong}");
        }
        Ok(format!("{} operations; {}", told.len(), computation::check(&machine.screenshot()?)?))
    })
}

/// Checks a scene's first picture; a wrong one is saved.
fn first_picture(
    workspace: &Workspace,
    built: &Built,
    name: &str,
    check: impl FnOnce(&Workspace, &Picture) -> Result<String>,
) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        run_scene(&machine.console, name, 0..1, deadline)?;
        let picture = machine.screenshot()?;
        let (width, height) = (picture.width, picture.height);
        ensure!((width, height) == (WIDTH, HEIGHT), "the screen has {width} x {height} pixels");
        kept_if_wrong(workspace, name, &picture, check(workspace, &picture))
    })
}

/// Saves a picture that is wrong.
fn kept_if_wrong(workspace: &Workspace, name: &str, picture: &Picture, checked: Result<String>) -> Result<String> {
    checked.or_else(|error| {
        let path = workspace.target.join(format!("xtask-{name}.png"));
        picture.write_png(&path)?;
        Err(error.context(format!("the picture is kept in {}", path.display())))
    })
}

/// Whether all channels of a pixel are within a tolerance of the expected ones, from 0 to 255.
fn is_near(pixel: [u8; 3], expected: [f64; 3], tolerance: f64) -> bool {
    pixel.iter().zip(expected).all(|(&is, expected)| (f64::from(is) - expected).abs() <= tolerance)
}

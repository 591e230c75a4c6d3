//! What the kernel shares with the V3D, with the plugin's check of caches and barriers, which QEMU does not have.

use super::Built;
use super::guest::{PATIENCE, with_machine};
use crate::far_end::qemu::{Options, Qemu};
use crate::run::run_scene;
use crate::workspace::Workspace;
use anyhow::{Result, bail, ensure};
use std::time::Instant;

/// Scenes that use memory again: new uniforms in each frame; textures that are rendered and looked up; textures that the CPU updates; shaders in place of other
/// scenes' shaders; results of user programs.
const SCENES: [&str; 6] = ["cube", "textured-cube", "mirror", "ui", "vpm", "compute"];
/// Frames of each: the fourth is the first that draws into a page for the second time.
const FRAMES: u64 = 4;

fn options(built: &Built) -> Result<Options<'_>> {
    Ok(Options { checks_coherence: true, ..Options::with_v3d(built.image()?, built.plugin()?) })
}

/// No cache holds old data, nothing that is shared is cached, and no barrier is missing: any of these would be a fault, which fails the step.
pub(super) fn memory_is_used_again(workspace: &Workspace, built: &Built) -> Result<String> {
    with_machine(workspace, options(built)?, |machine, _, deadline| {
        for scene in SCENES {
            run_scene(&machine.console, scene, 0..FRAMES, deadline)?;
            machine.check_faults()?;
        }
        machine.console.command("interrupts", " on", deadline, |_| {})?.lines()?;
        run_scene(&machine.console, "cube", 0..FRAMES, deadline)?;
        Ok(format!("{} with {FRAMES} frames each", SCENES.join(", ")))
    })
}

/// The check reports a program in memory that the kernel's tables map as cached.
pub(super) fn cached_program(workspace: &Workspace, built: &Built) -> Result<String> {
    let machine = Qemu::start(options(built)?, workspace.scratch()?)?;
    let deadline = Instant::now() + PATIENCE;
    machine.console.wait_ready(deadline)?;
    machine.check_faults()?;
    machine.console.command("fail", " cached", deadline, |_| {})?.lines()?;
    let Err(fault) = machine.check_faults() else { bail!("nothing is reported") };
    let fault = fault.to_string();
    ensure!(fault.contains("translation tables map it as cached"), "what is reported is: {fault}");
    Ok(fault)
}

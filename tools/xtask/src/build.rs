//! `cargo xtask build`: kernel8.img and the QEMU plugin.

use crate::kernel_image;
use crate::setup;
use crate::workspace::{KERNEL_TARGET, Workspace, cargo};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

const HELP: &str = "\
cargo xtask build

Builds the kernel for aarch64-unknown-none, turns its ELF file into kernel8.img (what the Pi's firmware loads at
0x80000), builds the QEMU plugin, and says where they are.
";

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if crate::no_arguments(arguments, HELP)? {
        return Ok(());
    }
    let workspace = Workspace::find()?;
    let kernel = kernel(&workspace)?;
    let plugin = plugin(&workspace)?;
    eprintln!("{}: {} bytes", kernel.image.display(), std::fs::metadata(&kernel.image)?.len());
    eprintln!("{}", plugin.display());
    Ok(())
}

/// The built kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// What the firmware and QEMU load.
    pub(crate) image: PathBuf,
}

/// Builds the kernel.
pub(crate) fn kernel(workspace: &Workspace) -> Result<Kernel> {
    setup::kernel_target()?;
    eprintln!("==> building the kernel");
    compile(workspace, &["--package", "kernel", "--bin", "kernel", "--release", "--target", KERNEL_TARGET])?;
    let folder = workspace.target.join(KERNEL_TARGET).join("release");
    let (elf, image) = (folder.join("kernel"), folder.join("kernel8.img"));
    let bytes = std::fs::read(&elf).with_context(|| format!("cannot read {}", elf.display()))?;
    let flat = kernel_image::from_elf(&bytes).with_context(|| format!("{} is not a kernel", elf.display()))?;
    std::fs::write(&image, flat).with_context(|| format!("cannot write {}", image.display()))?;
    Ok(Kernel { image })
}

/// Builds the QEMU plugin, with the model in it.
pub(crate) fn plugin(workspace: &Workspace) -> Result<PathBuf> {
    eprintln!("==> building the QEMU plugin");
    compile(workspace, &["--package", "qemu-v3d", "--release"])?;
    Ok(workspace.target.join("release/libqemu_v3d.so"))
}

/// Builds the command `v3d` as the tests have it: built by itself it would be another build of the model, since tests need more features of some crates.
pub(crate) fn model(workspace: &Workspace) -> Result<PathBuf> {
    compile(workspace, &["--workspace", "--tests", "--bin", "v3d"])?;
    Ok(workspace.target.join("debug/v3d"))
}

fn compile(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let status = Command::new(cargo())
        .args(["build", "--quiet"])
        .args(arguments)
        .current_dir(&workspace.root)
        .status()
        .context("cargo cannot be started")?;
    if !status.success() {
        bail!("`cargo build {}` failed", arguments.join(" "));
    }
    Ok(())
}

//! `cargo xtask build`: builds kernel8.img and the QEMU plugin.
//!
//! The plugin has a target folder of its own, so that both are built at the same time: the kernel's crates mostly wait for each other, the plugin's do not.

pub(crate) mod erratum;
pub(crate) mod kernel_image;

use self::erratum::Code;
use crate::setup;
use crate::target_board;
use crate::whole_file;
use crate::workspace::{KERNEL_TARGET, Workspace, cargo};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "\
cargo xtask build

Builds the kernel for aarch64-unknown-none, converts its ELF file to kernel8.img (which the Pi's firmware loads at
0x80000), patches instruction sequences that are affected by errata of the Cortex-A53, builds the QEMU plugin, and
prints the paths of both.
";

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if crate::no_arguments(arguments, HELP)? {
        return Ok(());
    }
    let workspace = Workspace::find()?;
    let (kernel, plugin) = kernel_and_plugin(&workspace, ShaderCompiler::Included)?;
    eprintln!("{}: {} bytes", kernel.image.display(), std::fs::metadata(&kernel.image)?.len());
    eprintln!("{}", plugin.display());
    Ok(())
}

/// The built kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The file that firmware and QEMU load.
    pub(crate) image: PathBuf,
    /// Addresses of its instructions.
    pub(crate) code: Code,
    /// Number of instructions that were moved because of an erratum of the processor.
    pub(crate) veneers: usize,
}

/// Whether the kernel can compile shaders. Its WGSL compiler is a third of what there is to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShaderCompiler {
    /// It can: the kernel as boards boot it.
    Included,
    /// It has no scene `live`, and no command that takes a shader's source.
    LeftOut,
}

/// Builds both.
pub(crate) fn kernel_and_plugin(workspace: &Workspace, compiler: ShaderCompiler) -> Result<(Kernel, PathBuf)> {
    let (kernel, plugin) = kernel_beside_plugin(workspace, compiler);
    Ok((kernel?, plugin?))
}

/// Builds both; one that fails leaves the other.
pub(crate) fn kernel_beside_plugin(
    workspace: &Workspace,
    compiler: ShaderCompiler,
) -> (Result<Kernel>, Result<PathBuf>) {
    std::thread::scope(|scope| {
        let plugin = scope.spawn(|| plugin(workspace));
        let kernel = kernel(workspace, compiler);
        let plugin = plugin.join().map_err(|_| anyhow::anyhow!("the thread that builds the plugin panicked"));
        (kernel, plugin.flatten())
    })
}

/// Builds the kernel.
pub(crate) fn kernel(workspace: &Workspace, compiler: ShaderCompiler) -> Result<Kernel> {
    setup::kernel_target()?;
    let folder = workspace.target.join(KERNEL_TARGET).join("release");
    let (elf, image) = (folder.join("kernel"), folder.join("kernel8.img"));
    announce("the kernel", &elf);
    let mut arguments = vec!["--package", "kernel", "--bin", "kernel", "--release", "--target", KERNEL_TARGET];
    if compiler == ShaderCompiler::LeftOut {
        arguments.push("--no-default-features");
    }
    compile(workspace, Progress::Shown, &arguments)?;
    let bytes = std::fs::read(&elf).with_context(|| format!("cannot read {}", elf.display()))?;
    let mut flat = kernel_image::from_elf(&bytes).with_context(|| format!("{} is not a kernel", elf.display()))?;
    let code = Code::of(&bytes)?;
    let veneers = code.mend(&mut flat, target_board::LOAD_ADDRESS)?;
    whole_file::write(&image, &flat)?;
    Ok(Kernel { image, code, veneers })
}

/// A kernel for a target other than this repository's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherTarget {
    /// QEMU's machine.
    pub(crate) machine: &'static str,
    /// Rust's name of the target.
    pub(crate) target: &'static str,
    /// Whether Rust has no compiled libraries for it.
    from_sources: bool,
}

/// A board of each kind, for the guide's kernel: ARMv6, ARMv7, AArch64.
pub(crate) const OTHER_TARGETS: [OtherTarget; 3] = [
    OtherTarget { machine: "raspi0", target: "armv6-none-eabi", from_sources: true },
    OtherTarget { machine: "raspi2b", target: "armv7a-none-eabi", from_sources: false },
    OtherTarget { machine: "raspi3b", target: KERNEL_TARGET, from_sources: false },
];

impl OtherTarget {
    /// Runs `cargo build --release` for the target with these arguments.
    ///
    /// There are no compiled libraries for ARMv6 without an operating system, in any release of Rust. They are compiled with the kernel, which is an option
    /// that a stable cargo only has if it is told to take itself for an unstable one.
    pub(crate) fn build(self, workspace: &Workspace, arguments: &[&str]) -> Result<PathBuf> {
        let mut all = vec!["--release", "--target", self.target];
        all.extend(arguments);
        if self.from_sources {
            setup::rust_sources()?;
            all.extend(["-Z", "build-std=core,alloc"]);
            compile_with(workspace, Progress::Shown, &all, &[("RUSTC_BOOTSTRAP", "1")])?;
        } else {
            setup::rust_target(self.target)?;
            compile(workspace, Progress::Shown, &all)?;
        }
        Ok(workspace.target.join(self.target).join("release"))
    }
}

/// Builds the guide's kernel for a machine of [`OTHER_TARGETS`]; returns the image that a board's firmware loads.
pub(crate) fn own_kernel(workspace: &Workspace, machine: &str) -> Result<PathBuf> {
    let other = OTHER_TARGETS.iter().find(|other| other.machine == machine);
    let other = other.with_context(|| format!("there is no target for {machine}"))?;
    let folder = other.build(workspace, &["--package", "own-kernel", "--bin", "own-kernel"])?;
    let (elf, image) = (folder.join("own-kernel"), folder.join("own-kernel.img"));
    let bytes = std::fs::read(&elf).with_context(|| format!("cannot read {}", elf.display()))?;
    whole_file::write(&image, &kernel_image::of_any_elf(&bytes)?)?;
    Ok(image)
}

/// Builds the QEMU plugin, which contains the model.
pub(crate) fn plugin(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("qemu-v3d");
    let library = target.join("release/libqemu_v3d.so");
    announce("the QEMU plugin, with the model in it", &library);
    let folder = target.to_str().context("the target folder's name is not UTF-8")?;
    compile(workspace, Progress::Hidden, &["--package", "qemu-v3d", "--release", "--target-dir", folder])?;
    Ok(library)
}

/// Builds the library behind Mesa's simulator seam.
pub(crate) fn simpenrose(workspace: &Workspace) -> Result<PathBuf> {
    let library = workspace.target.join("release/libsimpenrose.so");
    announce("the library for Mesa, with the model in it", &library);
    compile(workspace, Progress::Shown, &["--package", "simpenrose", "--release"])?;
    Ok(library)
}

/// Builds the command `v3d` with the features that tests use: with fewer features the model would be compiled a second time.
pub(crate) fn model(workspace: &Workspace) -> Result<PathBuf> {
    compile(workspace, Progress::Shown, &["--workspace", "--tests", "--bin", "v3d"])?;
    Ok(workspace.target.join("debug/v3d"))
}

/// Builds the program that draws the playground's pictures, with the features that tests use.
pub(crate) fn playground_pictures(workspace: &Workspace) -> Result<PathBuf> {
    compile(workspace, Progress::Shown, &["--workspace", "--example", "pictures"])?;
    Ok(workspace.target.join("debug/examples/pictures"))
}

/// Builds the command `qpuc`.
pub(crate) fn compiler(workspace: &Workspace) -> Result<PathBuf> {
    let command = workspace.target.join("debug/qpuc");
    announce("the command `qpuc`", &command);
    compile(workspace, Progress::Shown, &["--workspace", "--tests", "--bin", "qpuc"])?;
    Ok(command)
}

/// Builds the command `v3d` alone.
pub(crate) fn replayer(workspace: &Workspace) -> Result<PathBuf> {
    let command = workspace.target.join("debug/v3d");
    announce("the command `v3d`", &command);
    compile(workspace, Progress::Shown, &["--package", "v3d-sim", "--bin", "v3d"])?;
    Ok(command)
}

/// Prints what is built, and how long the first build takes.
fn announce(what: &str, product: &Path) {
    let first = if product.exists() { "" } else { " for the first time, which takes minutes; later it is seconds" };
    eprintln!("==> building {what}{first}");
}

/// Whether a build says what it compiles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// It does, also where no terminal shows its progress.
    Shown,
    /// Another build, which does, runs at the same time.
    Hidden,
}

/// Runs `cargo build`.
fn compile(workspace: &Workspace, progress: Progress, arguments: &[&str]) -> Result<()> {
    compile_with(workspace, progress, arguments, &[])
}

/// The same with variables in the environment.
fn compile_with(
    workspace: &Workspace,
    progress: Progress,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<()> {
    let quiet: &[&str] = if progress == Progress::Shown { &[] } else { &["--quiet"] };
    let status = Command::new(cargo())
        .arg("build")
        .args(quiet)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(&workspace.root)
        .status()
        .context("cargo cannot be started")?;
    if !status.success() {
        bail!("`cargo build {}` failed", arguments.join(" "));
    }
    Ok(())
}

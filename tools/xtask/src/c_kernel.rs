//! `cargo xtask c-kernel`: builds the kernel in C from the header and the library of the C interface alone.

use crate::build::kernel_image;
use crate::build::{OTHER_TARGETS, OtherTarget};
use crate::picture::Picture;
use crate::setup;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use std::process::Command;

const HELP: &str = "\
cargo xtask c-kernel

Builds the example of the C interface, kernel/c-interface/example/kernel.c, for a Pi 2 (32 bits) and a Pi 3 (64 bits):
the library libv3d_c.a with cargo, the kernel with Debian's cross compilers gcc-arm-none-eabi and gcc-aarch64-linux-gnu,
which are installed by apt-get, if run as root or if sudo needs no password. Prints the paths of the images, which a
board's firmware loads as kernel7.img and kernel8.img; `cargo xtask test \"kernel in C\"` boots them in QEMU.
";

/// Debian's compiler for a target.
struct Compiler {
    machine: &'static str,
    program: &'static str,
    package: &'static str,
    /// The first instructions, in the folder of the guide's kernel.
    start: &'static str,
    /// Address of the peripherals.
    peripherals: &'static str,
    /// Where the firmware loads the kernel.
    load: &'static str,
    options: &'static [&'static str],
}

const COMPILERS: [Compiler; 2] = [
    Compiler {
        machine: "raspi2b",
        program: "arm-none-eabi-gcc",
        package: "gcc-arm-none-eabi",
        start: "start_arm.s",
        peripherals: "0x3f000000",
        load: "0x8000",
        options: &["-mcpu=cortex-a7", "-marm", "-mfloat-abi=soft"],
    },
    Compiler {
        machine: "raspi3b",
        program: "aarch64-linux-gnu-gcc",
        package: "gcc-aarch64-linux-gnu",
        start: "start_aarch64.s",
        peripherals: "0x3f000000",
        load: "0x80000",
        options: &["-mcpu=cortex-a53", "-mstrict-align", "-mno-outline-atomics", "-fno-pic", "-no-pie"],
    },
];

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if crate::no_arguments(arguments, HELP)? {
        return Ok(());
    }
    let workspace = Workspace::find()?;
    for (machine, image) in build(&workspace)? {
        eprintln!("{machine}: {}", image.display());
    }
    Ok(())
}

/// Builds the kernel for each machine; returns the images.
pub(crate) fn build(workspace: &Workspace) -> Result<Vec<(&'static str, PathBuf)>> {
    let folder = workspace.target.join("c-kernel");
    std::fs::create_dir_all(&folder)?;
    // The compiler takes the picture as bytes.
    let picture = Picture::read_png(&workspace.root.join("kernel/assets/crate.png"))?;
    let texels: Vec<u8> = picture.pixels.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    whole_file::write(&folder.join("crate.rgba"), &texels)?;
    COMPILERS.iter().map(|compiler| Ok((compiler.machine, compiler.build(workspace, &folder)?))).collect()
}

impl Compiler {
    fn build(&self, workspace: &Workspace, folder: &std::path::Path) -> Result<PathBuf> {
        setup::compiler(self.program, self.package)?;
        let other = OTHER_TARGETS.into_iter().find(|other| other.machine == self.machine);
        let other: OtherTarget = other.with_context(|| format!("there is no target for {}", self.machine))?;
        let library = other.build(workspace, &["--package", "v3d-c", "--lib"])?.join("libv3d_c.a");
        let interface = workspace.root.join("kernel/c-interface");
        let guide = workspace.root.join("kernel/renderer/guide/own-kernel");
        let (elf, image) = (folder.join(self.machine), folder.join(format!("{}.img", self.machine)));
        let mut command = Command::new(self.program);
        command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-ffp-contract=off"]);
        command.args(["-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments"]);
        command.args(self.options);
        command.arg(format!("-DPERIPHERALS={}u", self.peripherals));
        command.arg(format!("-Wa,--defsym,PERIPHERALS={}", self.peripherals));
        command.arg(format!("-Wl,--defsym=LOAD={}", self.load));
        command.arg("-I").arg(interface.join("include"));
        command.arg(format!("-Wa,-I{}", folder.display()));
        command.arg("-T").arg(guide.join("link.ld"));
        command.arg(guide.join("src/machine").join(self.start)).arg(interface.join("example/kernel.c"));
        command.arg(&library).arg("-o").arg(&elf);
        let output = command.output().with_context(|| format!("{} cannot be started", self.program))?;
        if !output.status.success() {
            bail!("{}: {}", self.program, String::from_utf8_lossy(&output.stderr).trim());
        }
        let bytes = std::fs::read(&elf)?;
        let flat = kernel_image::of_any_elf(&bytes)?;
        ensure!(!flat.is_empty(), "{} is empty", elf.display());
        whole_file::write(&image, &flat)?;
        Ok(image)
    }
}

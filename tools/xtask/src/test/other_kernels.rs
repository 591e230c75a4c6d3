//! Other kernels than this repository's: the guide's own kernel on three machines, and a kernel in C on two.
//!
//! It is built for a Pi Zero, a Pi 2 and a Pi 3, and draws the same picture on each, which is the guide's: its CRC-32, which the kernel sends to the serial
//! port, is that of the pixels in the guide's PNG file.

use super::Built;
use crate::build::{OTHER_TARGETS, OtherTarget, own_kernel};
use crate::c_kernel;
use crate::far_end::machine::Machine;
use crate::far_end::qemu::{Options, Qemu};
use crate::picture::Picture;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time limit for a machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The CRC-32 of a picture's pixels as they are in memory: red, green, blue, 255.
fn crc_of(picture: &Picture) -> u32 {
    let bytes: Vec<u8> = picture.pixels.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    crc32fast::hash(&bytes)
}

/// Boots the guide's kernel on each machine.
pub(super) fn guide_kernel(workspace: &Workspace, built: &Built) -> Result<String> {
    let picture = Picture::read_png(&workspace.root.join("kernel/renderer/guide/10_own_kernel.png"))?;
    let expected = format!("own kernel: picture {:08X}", crc_of(&picture));
    let mut done = Vec::new();
    for OtherTarget { machine, .. } in OTHER_TARGETS {
        let image = own_kernel(workspace, machine)?;
        let said = first_line(workspace, built.plugin()?, Machine::named(machine)?, &image)?;
        ensure!(said == expected, "{machine}: the kernel says {said:?} instead of {expected:?}");
        done.push(machine);
    }
    Ok(format!("{}: {expected}", done.join(", ")))
}

/// Boots the kernel in C, which draws the first picture of the scene `textured-cube`.
pub(super) fn kernel_in_c(workspace: &Workspace, built: &Built) -> Result<String> {
    let table = workspace.root.join("kernel/src/selftest/pictures.tsv");
    let table = std::fs::read_to_string(&table).with_context(|| format!("cannot read {}", table.display()))?;
    let recorded = table.lines().find_map(|line| line.strip_prefix("textured-cube\t"));
    let expected = format!("c kernel: picture {}", recorded.context("there is no record of textured-cube")?);
    let mut done = Vec::new();
    for (machine, image) in c_kernel::build(workspace)? {
        let said = first_line(workspace, built.plugin()?, Machine::named(machine)?, &image)?;
        ensure!(said == expected, "{machine}: the kernel says {said:?} instead of {expected:?}");
        done.push(machine);
    }
    Ok(format!("{}: {expected}, as the scene textured-cube", done.join(", ")))
}

/// The first line that a kernel sends to the serial port.
fn first_line(workspace: &Workspace, plugin: &Path, machine: Machine, image: &Path) -> Result<String> {
    let scratch = workspace.scratch()?;
    let sent = scratch.path().join("sent");
    let copies: Vec<Box<dyn std::io::Write + Send>> = vec![Box::new(File::create(&sent)?)];
    let start = machine.as_firmware_starts_it();
    let options = Options { machine, start, copies, ..Options::with_v3d(image, plugin) };
    let mut qemu = Qemu::start(options, scratch)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = String::from_utf8_lossy(&std::fs::read(&sent)?).into_owned();
        if let Some((line, _)) = text.split_once('\n') {
            qemu.check_faults().context(machine.name)?;
            return Ok(line.trim_end().to_owned());
        }
        if Instant::now() > deadline {
            bail!("{}: the kernel has sent {text:?} and no whole line", machine.name);
        }
        qemu.check_running()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

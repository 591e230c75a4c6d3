//! `cargo xtask image`: creates an SD card image for the Raspberry Pi 3.
//!
//! The Pi's boot ROM reads `bootcode.bin` from the FAT file system of the first partition. This loads `start.elf` with `fixup.dat`, which reads `config.txt`
//! and starts `kernel8.img` (see `boot/README.md`). The image is reproducible: it contains neither times nor random numbers.

mod card;
mod device;
mod firmware;

use crate::build;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use card::CardFile;
use lexopt::prelude::*;
use std::path::{Path, PathBuf};

const HELP: &str = "\
cargo xtask image [-o FILE] [--firmware DIR] [--device-tree] [--device DEVICE]

Builds the kernel and creates an SD card image with it, config.txt, cmdline.txt and the Pi's boot firmware.

  -o FILE            write the image to FILE
  --firmware DIR     take bootcode.bin, start.elf and fixup.dat from DIR; the default is Debian's package
                     raspi-firmware, if it is installed
  --device-tree      also take the boards' device trees and the overlay vc4-fkms-v3d from DIR, and enable the V3D's
                     interrupts in the kernel; whether the firmware then leaves the V3D alone has not been tried
  --device DEVICE    write the image to a card, such as /dev/sdX, after confirmation; a disk in use is rejected

The firmware is not part of this repository. Without it, the image lacks only these three files: copy them to the card
from https://github.com/raspberrypi/firmware/tree/stable/boot.
";

/// Additional lines of config.txt that locate the boards' device trees on the card.
const WITH_DEVICE_TREE: &str = "
# With a device tree that contains the V3D, the firmware should leave the V3D to the kernel.
dtoverlay=vc4-fkms-v3d
";

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut output, mut folder, mut device): (Option<PathBuf>, Option<PathBuf>, Option<PathBuf>) = Default::default();
    let mut with_device_tree = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Short('o') | Long("output") => output = Some(arguments.value()?.into()),
            Long("firmware") => folder = Some(arguments.value()?.into()),
            Long("device-tree") => with_device_tree = true,
            Long("device") => device = Some(arguments.value()?.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    if output.is_none() && device.is_none() {
        bail!("an output is needed: -o FILE or --device DEVICE; see `cargo xtask image --help`");
    }
    if let Some(path) = &output {
        whole_file::check(path)?;
    }
    // A disk that must not be written is rejected before the long work starts.
    let disk = device.as_deref().map(device::Disk::find).transpose()?;
    let firmware = firmware::find(folder.as_deref())?;
    if firmware.is_none() && disk.is_some() {
        bail!("a card without the Pi's firmware does not boot; {}", firmware::HOW_TO_GET_IT);
    }
    let device_trees = match (with_device_tree, &folder) {
        (false, _) => Vec::new(),
        (true, Some(folder)) => firmware::device_trees(folder)?,
        (true, None) => bail!("--device-tree takes the device trees from a folder: name it with --firmware"),
    };
    let workspace = Workspace::find()?;
    let kernel = build::kernel(&workspace)?;
    let files = files(&workspace, &kernel.image, firmware.as_deref().unwrap_or_default(), &device_trees)?;
    let image = card::build(&files)?;
    if let Some(path) = &output {
        whole_file::write(path, &image)?;
        eprintln!("{}: {} bytes; write it to a card with any imager, or with --device", path.display(), image.len());
    }
    match disk {
        Some(disk) => disk.write(&image)?,
        None if firmware.is_none() => {
            eprintln!(
                "The image has no firmware, and a Pi does not boot from it as it is; {}.",
                firmware::HOW_TO_GET_IT
            );
        }
        None => {}
    }
    Ok(())
}

/// All files of the card, in a fixed order. With device trees, config.txt and cmdline.txt have additional lines.
fn files(
    workspace: &Workspace,
    kernel: &Path,
    firmware: &[CardFile],
    device_trees: &[CardFile],
) -> Result<Vec<CardFile>> {
    let boot = workspace.root.join("boot");
    let mut config = CardFile::read("config.txt", &boot.join("config.txt"))?;
    let mut command_line = CardFile::read("cmdline.txt", &boot.join("cmdline.txt"))?;
    if !device_trees.is_empty() {
        config.bytes.extend_from_slice(WITH_DEVICE_TREE.as_bytes());
        command_line.bytes = b"v3d.interrupts=on\n".to_vec();
    }
    let mut files = vec![CardFile::read("kernel8.img", kernel)?, config, command_line];
    files.extend_from_slice(firmware);
    files.extend_from_slice(device_trees);
    Ok(files)
}

/// The files that a test reads back from an image.
pub(crate) struct Card {
    /// kernel8.img.
    pub(crate) kernel: Vec<u8>,
    /// config.txt.
    pub(crate) config: String,
}

/// An image without firmware, and its files as read back from its file system.
pub(crate) fn card_without_firmware(workspace: &Workspace, kernel: &Path) -> Result<Card> {
    let image = card::build(&files(workspace, kernel, &[], &[])?)?;
    if card::build(&files(workspace, kernel, &[], &[])?)? != image {
        bail!("two images of the same files differ");
    }
    let config = String::from_utf8(card::read(&image, "config.txt")?).context("config.txt is not UTF-8")?;
    Ok(Card { kernel: card::read(&image, "kernel8.img")?, config })
}

//! `cargo xtask image`: an SD card that a Raspberry Pi 3 boots from.
//!
//! The Pi's boot ROM finds the first partition, reads `bootcode.bin` off its FAT file system, and that loads `start.elf`
//! with `fixup.dat`, which reads `config.txt` and starts `kernel8.img` (see `boot/README.md`). The same inputs give the
//! same bytes: no time, no random number goes into the image.

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

Builds the kernel and puts it on the image of an SD card, with config.txt, cmdline.txt and the Pi's boot firmware.

  -o FILE            write the image to FILE
  --firmware DIR     take bootcode.bin, start.elf and fixup.dat from DIR; otherwise they are taken from Debian's
                     package raspi-firmware, if it is installed
  --device-tree      take the boards' device trees and the overlay vc4-fkms-v3d from DIR, too, and have the kernel use
                     the 3D engine's interrupts: whether firmware then leaves the engine alone, nobody has tried
  --device DEVICE    write the image to a card, such as /dev/sdX, after asking; never to a disk that is in use

The firmware is not part of this repository. Without it the image is complete but for these three files: copy them onto
the card by hand, from https://github.com/raspberrypi/firmware/tree/stable/boot.
";

/// What config.txt says besides where the boards' device trees are on the card.
const WITH_DEVICE_TREE: &str = "
# With a device tree that has the 3D engine in it, the firmware should leave the engine to the kernel.
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
        bail!("say where the image goes: -o FILE or --device DEVICE; see `cargo xtask image --help`");
    }
    if let Some(path) = &output {
        whole_file::check(path)?;
    }
    // Before the long work: a disk that may not be written is refused at once.
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

/// Everything that lies on the card, in a fixed order. With device trees, config.txt and cmdline.txt have lines that use them.
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

/// What a test reads back out of an image.
pub(crate) struct Card {
    /// kernel8.img.
    pub(crate) kernel: Vec<u8>,
    /// config.txt.
    pub(crate) config: String,
}

/// An image without firmware, and its files as they are read back out of its file system.
pub(crate) fn card_without_firmware(workspace: &Workspace, kernel: &Path) -> Result<Card> {
    let image = card::build(&files(workspace, kernel, &[], &[])?)?;
    if card::build(&files(workspace, kernel, &[], &[])?)? != image {
        bail!("two images of the same files differ");
    }
    let config = String::from_utf8(card::read(&image, "config.txt")?).context("config.txt is not UTF-8")?;
    Ok(Card { kernel: card::read(&image, "kernel8.img")?, config })
}

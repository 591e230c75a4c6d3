//! `cargo xtask image`: creates an SD card image for the Raspberry Pi 3, or an archive for a card that boots one.
//!
//! The Pi's boot ROM reads `bootcode.bin` from the FAT file system of the first partition. This loads `start.elf` with `fixup.dat`, which reads `config.txt`
//! and starts `kernel8.img` (see `boot/README.md`). Image and archive are reproducible: they contain neither times nor random numbers.

mod archive;
mod device;
mod firmware;

use crate::build;
use crate::far_end::card::image::{self as card, CardFile};
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};

const HELP: &str = "\
cargo xtask image [-o FILE] [--force] [--firmware DIR] [--device-tree] [--device DEVICE]
cargo xtask image --zip -o FILE [--force]

Builds the kernel and creates an SD card image with it, config.txt, cmdline.txt, the Pi's boot firmware, and a folder of shaders, a
picture and a model to try.

  -o FILE            write the image, or the archive, to FILE; a FILE that exists is replaced only if it is an image,
                     or an archive, that this command has written
  --force            replace it, whatever it is
  --zip              write a ZIP archive instead, for a card that already boots a Pi: kernel8.img, config.txt and
                     cmdline.txt, to be copied over its boot partition, and README.txt, which says how
  --firmware DIR     take bootcode.bin, start.elf and fixup.dat from DIR; the default is Debian's package
                     raspi-firmware, if it is installed
  --device-tree      also take the boards' device trees and the overlay vc4-fkms-v3d from DIR, and enable the V3D's
                     interrupts in the kernel; whether the firmware then leaves the V3D alone has not been tried
  --device DEVICE    write the image to a card, such as /dev/sdX, after confirmation; a disk in use is rejected

The firmware is not part of this repository. Without it, the image lacks only these three files: copy them to the card
from https://github.com/raspberrypi/firmware/tree/stable/boot. A card with an operating system for the Pi has them, and
needs only the archive's files:

  cargo xtask image --zip -o card.zip
";

/// The line of config.txt that disables device trees.
const NO_DEVICE_TREE: &str = "device_tree=";

/// The lines of config.txt that are there instead of [`NO_DEVICE_TREE`] if the card has device trees.
const WITH_DEVICE_TREE: [&str; 3] = [
    "",
    "# With a device tree that contains the V3D, the firmware should leave the V3D to the kernel.",
    "dtoverlay=vc4-fkms-v3d",
];

/// The arguments.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    output: Option<PathBuf>,
    force: bool,
    zip: bool,
    firmware: Option<PathBuf>,
    device_tree: bool,
    device: Option<PathBuf>,
}

impl Request {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let mut request = Self::default();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Short('o') | Long("output") => request.output = Some(arguments.value()?.into()),
                Long("force") => request.force = true,
                Long("zip") => request.zip = true,
                Long("firmware") => request.firmware = Some(arguments.value()?.into()),
                Long("device-tree") => request.device_tree = true,
                Long("device") => request.device = Some(arguments.value()?.into()),
                other => return Err(other.unexpected().into()),
            }
        }
        if request.zip {
            let others = [
                (request.firmware.is_some(), "--firmware", "is for cards that have the firmware"),
                (request.device_tree, "--device-tree", "has a config.txt that disables device trees"),
                (request.device.is_some(), "--device", "is for a card that keeps its partition table"),
            ];
            if let Some((_, option, why)) = others.into_iter().find(|(given, ..)| *given) {
                bail!("{option} does not apply to --zip: the archive {why}");
            }
            if request.output.is_none() {
                bail!("the archive needs a name: cargo xtask image --zip -o card.zip");
            }
        }
        if request.output.is_none() && request.device.is_none() {
            bail!("an output is needed: -o FILE or --device DEVICE; see `cargo xtask image --help`");
        }
        Ok(Some(request))
    }
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(request) = Request::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    if let Some(path) = &request.output {
        whole_file::check(path)?;
        if !request.force {
            refuse_replacement(path, request.zip)?;
        }
    }
    if request.zip { write_archive(&request) } else { write_image(&request) }
}

/// Fails if there is a file that was not written by this command. Devices and pipes are written as they are.
fn refuse_replacement(path: &Path, zip: bool) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.take(if zip { archive::MOST_BYTES } else { card::HEAD_BYTES }).read_to_end(&mut head)?;
    let is_ours = if zip { is_archive(&head) } else { card::is_head(&head) };
    let what = if zip { "an archive" } else { "an image" };
    ensure!(is_ours, "{} exists, and is not {what} that this command has written; --force replaces it", path.display());
    Ok(())
}

/// Whether these are the files of an archive for a card.
fn is_archive(bytes: &[u8]) -> bool {
    let Ok(files) = archive::read(bytes) else { return false };
    let has = |name: &str| files.iter().any(|file| file.name == name);
    ["kernel8.img", "config.txt", "cmdline.txt", "README.txt"].into_iter().all(has)
}

/// Writes the archive to the output file.
fn write_archive(request: &Request) -> Result<()> {
    let workspace = Workspace::find()?;
    let kernel = build::kernel(&workspace, build::ShaderCompiler::Included)?;
    let archive = archive::build(&archive_files(&workspace, &kernel.image)?)?;
    if let Some(path) = &request.output {
        whole_file::write(path, &archive)?;
        eprintln!("{}: {} bytes; its README.txt says what to copy where", path.display(), archive.len());
    }
    Ok(())
}

/// Writes the image to the output file and to the card.
fn write_image(request: &Request) -> Result<()> {
    // A disk that must not be written is rejected before the long work starts.
    let disk = request.device.as_deref().map(device::Disk::find).transpose()?;
    let firmware = firmware::find(request.firmware.as_deref())?;
    if firmware.is_none() && disk.is_some() {
        bail!("a card without the Pi's firmware does not boot; {}", firmware::HOW_TO_GET_IT);
    }
    let device_trees = match (request.device_tree, &request.firmware) {
        (false, _) => Vec::new(),
        (true, Some(folder)) => firmware::device_trees(folder)?,
        (true, None) => bail!("--device-tree takes the device trees from a folder: name it with --firmware"),
    };
    let workspace = Workspace::find()?;
    let kernel = build::kernel(&workspace, build::ShaderCompiler::Included)?;
    let files = image_files(&workspace, &kernel.image, firmware.as_deref().unwrap_or_default(), &device_trees)?;
    let image = card::build(&files)?;
    if let Some(path) = &request.output {
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

/// The files that a card needs to boot, in a fixed order. With device trees, config.txt and cmdline.txt have other lines.
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
        config.bytes = with_device_tree(&config.bytes)?;
        command_line.bytes = [b"v3d.interrupts=on ", command_line.bytes.as_slice()].concat();
    }
    let mut files = vec![CardFile::read("kernel8.img", kernel)?, config, command_line];
    files.extend_from_slice(firmware);
    files.extend_from_slice(device_trees);
    Ok(files)
}

/// What there is to try on the card, as files of this repository.
const ASSETS: [(&str, &str); 6] = [
    ("assets/README.txt", "boot/assets/README.txt"),
    ("assets/plasma.wgsl", "boot/assets/plasma.wgsl"),
    ("assets/picture.png", "kernel/assets/crate.png"),
    ("assets/lighthouse/shader.wgsl", "boot/assets/lighthouse.wgsl"),
    ("assets/lighthouse/model.glb", "kernel/assets/lighthouse.glb"),
    ("assets/lighthouse/texture.png", "kernel/assets/crate.png"),
];

/// The folder `assets` of the card.
pub(crate) fn assets(workspace: &Workspace) -> Result<Vec<CardFile>> {
    ASSETS.iter().map(|(name, path)| CardFile::read(name, &workspace.root.join(path))).collect()
}

/// All files of an image, in a fixed order.
fn image_files(
    workspace: &Workspace,
    kernel: &Path,
    firmware: &[CardFile],
    device_trees: &[CardFile],
) -> Result<Vec<CardFile>> {
    let mut files = files(workspace, kernel, firmware, device_trees)?;
    files.extend(assets(workspace)?);
    Ok(files)
}

/// config.txt for a card with device trees.
fn with_device_tree(config: &[u8]) -> Result<Vec<u8>> {
    let config = str::from_utf8(config).context("config.txt is not UTF-8")?;
    let mut lines: Vec<&str> = config.lines().filter(|line| *line != NO_DEVICE_TREE).collect();
    if lines.len() == config.lines().count() {
        bail!("config.txt has no line {NO_DEVICE_TREE}, which --device-tree would remove");
    }
    lines.extend(WITH_DEVICE_TREE);
    Ok((lines.join("\n") + "\n").into_bytes())
}

/// The files of the archive.
fn archive_files(workspace: &Workspace, kernel: &Path) -> Result<Vec<CardFile>> {
    let mut files = files(workspace, kernel, &[], &[])?;
    files.push(CardFile::read("README.txt", &workspace.root.join("boot/archive.txt"))?);
    Ok(files)
}

/// What a test reads back from an image and an archive without firmware.
pub(crate) struct Card {
    /// The image's partition, a FAT32 file system.
    pub(crate) partition: Vec<u8>,
    /// kernel8.img in the image.
    pub(crate) kernel: Vec<u8>,
    /// config.txt.
    pub(crate) config: String,
    /// cmdline.txt.
    pub(crate) command_line: String,
    /// Names and contents of the archive's files.
    pub(crate) archive: Vec<(String, Vec<u8>)>,
}

/// An image and an archive, and their files as read back from them.
pub(crate) fn card_without_firmware(workspace: &Workspace, kernel: &Path) -> Result<Card> {
    let files = image_files(workspace, kernel, &[], &[])?;
    let image = card::build(&files)?;
    if card::build(&files)? != image {
        bail!("two images of the same files differ");
    }
    let text = |name: &str| -> Result<String> {
        String::from_utf8(card::read(&image, name)?).with_context(|| format!("{name} is not UTF-8"))
    };
    let archive = archive::read(&archive::build(&archive_files(workspace, kernel)?)?)?;
    Ok(Card {
        partition: card::partition(&image)?.to_vec(),
        kernel: card::read(&image, "kernel8.img")?,
        config: text("config.txt")?,
        command_line: text("cmdline.txt")?,
        archive: archive.into_iter().map(|file| (file.name, file.bytes)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Request>> {
        Request::parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn an_archive_has_a_name_and_neither_firmware_nor_device() {
        let request = parse(&["--zip", "-o", "card.zip"]).unwrap().unwrap();
        assert!(request.zip && request.output == Some("card.zip".into()));
        for (arguments, word) in [
            (&["--zip"][..], "needs a name"),
            (&["--zip", "-o", "x", "--firmware", "y"], "--firmware does not apply"),
            (&["--zip", "-o", "x", "--device-tree"], "--device-tree does not apply"),
            (&["--zip", "--device", "x"], "--device does not apply"),
            (&[], "an output is needed"),
        ] {
            let message = parse(arguments).unwrap_err().to_string();
            assert!(message.contains(word), "{arguments:?}: {message}");
        }
        assert_eq!(parse(&["--help"]).unwrap(), None);
    }

    #[test]
    fn only_what_this_command_has_written_is_replaced() {
        let folder = std::env::temp_dir().join(format!("xtask-image-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("card.img");
        let refused = |contents: &[u8], zip| {
            std::fs::write(&path, contents).unwrap();
            refuse_replacement(&path, zip).is_err()
        };
        let file = |name: &str| CardFile { name: name.to_owned(), bytes: b"contents".to_vec() };
        let files = ["kernel8.img", "config.txt", "cmdline.txt", "README.txt"].map(file);
        let (image, archive) = (card::build(&files).unwrap(), archive::build(&files).unwrap());
        assert!(!refused(&image, false) && !refused(&archive, true));
        assert!(refused(&image, true) && refused(&archive, false));
        assert!(refused(b"a letter", false) && refused(b"", false) && refused(b"a letter", true));
        // Another card, and another archive.
        let mut other = image;
        other[440] ^= 1;
        assert!(refused(&other, false));
        assert!(refused(&archive::build(&[file("README.txt")]).unwrap(), true));
        let message = refuse_replacement(&path, true).unwrap_err().to_string();
        assert!(message.contains("card.img exists") && message.contains("--force"), "{message}");
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(refuse_replacement(&path, false).is_ok());
        assert!(parse(&["-o", "x", "--force"]).unwrap().unwrap().force);
    }

    #[test]
    fn a_device_tree_replaces_the_line_that_disables_it() {
        let config = with_device_tree(b"arm_64bit=1\ndevice_tree=\ngpu_mem=64\n").unwrap();
        let config = String::from_utf8(config).unwrap();
        assert!(config.starts_with("arm_64bit=1\ngpu_mem=64\n") && config.ends_with("\ndtoverlay=vc4-fkms-v3d\n"));
        assert!(with_device_tree(b"arm_64bit=1\n").unwrap_err().to_string().contains("device_tree="));
    }
}

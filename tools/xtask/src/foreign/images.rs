//! Kernels in a folder: which files they are, and where each is loaded.

use crate::far_end::machine::{Machine, Start};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Where the firmware loads 32-bit kernels [raspberrypi.com config.txt, kernel_address].
const LOAD_ADDRESS_32_BIT: u64 = 0x8000;
/// The firmware's configuration; file systems of SD cards do not distinguish its spellings.
const CONFIGURATION: [&str; 2] = ["config.txt", "CONFIG.TXT"];
/// The folder beside or above kernels in which projects keep what goes on the card with them.
const BOOT: &str = "boot";

/// A kernel to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// The file, as an absolute path.
    pub(super) file: PathBuf,
    /// What it is called in tables: the file's folder, relative to the one that was searched.
    pub(super) label: String,
    /// What files of its results are called.
    pub(super) name: String,
    /// The machine to run it in.
    pub(super) machine: Machine,
    /// How it is started.
    pub(super) start: Start,
}

/// Finds the kernels for the machines in a folder, and in all folders in it. `start` is how all are started; if absent, a configuration or the machine tells.
pub(super) fn find(folder: &Path, machines: &[Machine], start: Option<Start>) -> Result<Vec<Image>> {
    let root = folder.canonicalize().with_context(|| format!("cannot look into {}", folder.display()))?;
    let mut files = Vec::new();
    if root.is_dir() {
        collect(&root, &mut files)?;
    } else {
        files.push(root.clone());
    }
    files.sort();
    let mut images = Vec::new();
    for &machine in machines {
        for file in files.iter().filter(|file| file.file_name().is_some_and(|name| name == machine.image)) {
            let folder = file.parent().unwrap_or(file);
            let label = match folder.strip_prefix(&root) {
                Ok(inner) if inner != Path::new("") => inner.display().to_string(),
                _ => folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            };
            let start = match start {
                Some(start) => start,
                None => start_of(machine, configuration(file)?.as_deref().unwrap_or_default())
                    .with_context(|| format!("the configuration of {}", file.display()))?,
            };
            let name = format!("{}-{}", file_name(&label), machine.name);
            images.push(Image { file: file.clone(), label, name, machine, start });
        }
    }
    if images.is_empty() {
        let mut names: Vec<&str> = machines.iter().map(|machine| machine.image).collect();
        names.dedup();
        bail!("{} has no file named {}", folder.display(), names.join(" or "));
    }
    Ok(images)
}

/// Adds all files in a folder and its subfolders, except hidden ones and symbolic links.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot look into {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// A label as a part of a file's name.
fn file_name(label: &str) -> String {
    label.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' }).collect()
}

/// The configuration that the firmware would have beside the image: of the nearest folder above that has one, up to the end of the checkout.
fn configuration(image: &Path) -> Result<Option<String>> {
    for folder in image.ancestors().skip(1) {
        for file in CONFIGURATION.iter().flat_map(|name| [folder.join(name), folder.join(BOOT).join(name)]) {
            if file.is_file() {
                let text = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
                return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
            }
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

/// How the firmware starts a kernel with this configuration, of which the last setting counts [raspberrypi.com config.txt].
fn start_of(machine: Machine, configuration: &str) -> Result<Start> {
    let mut start = if machine.is_64_bit { Start::Kernel } else { Start::At(LOAD_ADDRESS_32_BIT) };
    for line in configuration.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        match line.split_once('=') {
            Some(("kernel_old", "1")) => start = Start::At(0),
            Some(("kernel_address", value)) => {
                let address = number(value).with_context(|| format!("kernel_address={value} is no address"))?;
                start = Start::At(address);
            }
            _ => {}
        }
    }
    Ok(start)
}

/// An address, hexadecimal with `0x` and decimal without.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::far_end::machine::{MACHINES, RASPI3B};
    use crate::foreign::Outcome;
    use crate::picture::Picture;
    use std::fs;

    /// An image that has run.
    pub(in crate::foreign) fn outcome(picture: Picture, faults: &[&str]) -> Outcome {
        let image = Image {
            file: "/demos/a & b/kernel8.img".into(),
            label: "a & b".to_owned(),
            name: "a---b-raspi3b".to_owned(),
            machine: RASPI3B,
            start: Start::Kernel,
        };
        Outcome { image, picture, faults: faults.iter().map(|&fault| fault.to_owned()).collect(), has_spoken: true }
    }

    /// A folder of this test's own, with empty files.
    fn folder(name: &str, files: &[&str]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-foreign-{name}-{}", std::process::id()));
        for file in files {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, b"").unwrap();
        }
        folder
    }

    #[test]
    fn each_machine_gets_the_files_that_its_firmware_would_start() {
        let files =
            ["a/kernel8.img", "a/kernel.img", "b/C d/kernel8.img", "b/kernel8.asm", ".git/kernel8.img", "kernel8.img"];
        let folder = folder("found", &files);
        let found = |machines: &[Machine]| {
            let images = find(&folder, machines, Some(Start::At(0))).unwrap();
            images.into_iter().map(|image| (image.label, image.name)).collect::<Vec<_>>()
        };
        let pair = |label: &str, name: &str| (label.to_owned(), name.to_owned());
        let own = folder.file_name().unwrap().to_str().unwrap();
        let expected = [pair("a", "a-raspi3b"), pair("b/C d", "b-C-d-raspi3b"), pair(own, &format!("{own}-raspi3b"))];
        assert_eq!(found(&[RASPI3B]), expected);
        let older = [MACHINES[4], RASPI3B];
        assert_eq!(found(&older).len(), 4);
        assert_eq!(found(&older)[0], pair("a", "a-raspi0"));
        let alone = find(&folder.join("a/kernel8.img"), &[RASPI3B], None).unwrap();
        assert_eq!((alone.len(), alone[0].label.as_str(), alone[0].start), (1, "a", Start::Kernel));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_without_kernels_is_told_by_name() {
        let folder = folder("none", &["readme.txt"]);
        let message = |path: &Path| format!("{:#}", find(path, &MACHINES, None).unwrap_err());
        assert!(message(&folder).ends_with("has no file named kernel8.img or kernel7.img or kernel.img"));
        assert!(
            message(&folder.join("gone")).starts_with(&format!("cannot look into {}", folder.join("gone").display()))
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_nearest_configuration_of_the_checkout_tells_where_a_kernel_is_loaded() {
        let folder = folder(
            "configured",
            &["p/.git/x", "p/boot/config.txt", "p/a/b/kernel8.img", "p/c/kernel8.img", "config.txt"],
        );
        fs::write(folder.join("config.txt"), "kernel_address=0x1").unwrap();
        let starts = || {
            let images = find(&folder.join("p/a"), &[RASPI3B], None).unwrap();
            images.into_iter().map(|image| image.start).collect::<Vec<_>>()
        };
        assert_eq!(starts(), [Start::Kernel]);
        fs::write(folder.join("p/boot/config.txt"), "# comment\r\nkernel_old=1\r\n").unwrap();
        assert_eq!(starts(), [Start::At(0)]);
        fs::write(folder.join("p/a/CONFIG.TXT"), "kernel_address=0x200000\n").unwrap();
        assert_eq!(starts(), [Start::At(0x20_0000)]);
        fs::write(folder.join("p/a/CONFIG.TXT"), "kernel_address=x\n").unwrap();
        let message = format!("{:#}", find(&folder, &[RASPI3B], None).unwrap_err());
        assert!(message.contains("kernel_address=x is no address"), "{message}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn without_a_configuration_the_machine_tells() {
        assert_eq!(start_of(RASPI3B, "").unwrap(), Start::Kernel);
        assert_eq!(start_of(MACHINES[2], "").unwrap(), Start::At(0x8000));
    }
}

//! The Pi's boot firmware: three files of Broadcom's that are not part of this repository.

use crate::far_end::card::image::CardFile;
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The files that the boot ROM and the following stages load on a Pi 3, in this order.
const FILES: [&str; 3] = ["bootcode.bin", "start.elf", "fixup.dat"];

/// The folder in which Debian's package raspi-firmware installs them.
const DEBIAN_FOLDER: &str = "/usr/lib/raspi-firmware";

/// The end of an error message.
pub(super) const HOW_TO_GET_IT: &str = "get bootcode.bin, start.elf and fixup.dat from \
    https://github.com/raspberrypi/firmware/tree/stable/boot into a folder and name it with --firmware, or install \
    Debian's package raspi-firmware (component non-free-firmware)";

/// SHA-256 of known files, and the Debian release that they are from.
const KNOWN: [(&str, &str, &str); 6] = [
    ("bootcode.bin", "098d5a2a61c485f757733390244319d4c992807e21ffd4e199b88de42d6e52ff", "1.20220830 (Debian 12)"),
    ("start.elf", "9ab4a7281be2ae3c720b4d80209e3bf73dd5e787438e30d6a6820887d2e1adcc", "1.20220830 (Debian 12)"),
    ("fixup.dat", "d07e005f90a24f46d0e8094dadd470593d333f028d9d0e5cf6fac7eb83654280", "1.20220830 (Debian 12)"),
    ("bootcode.bin", "af603ebd97e7b692c30195563f7b25656eb05d57838cf1a715ebb470d1614ce4", "1.20240424 (Debian 13)"),
    ("start.elf", "8637fb847ff62f69fbb8b98b1beff685b47cf4095580e830724f6a27fb20fee0", "1.20240424 (Debian 13)"),
    ("fixup.dat", "94ae3ff8363a6a2832f173241597b6500cf67044d34155a1251fe58671dd6ce7", "1.20240424 (Debian 13)"),
];

/// The firmware from the user's folder, or else from the system's package; `None` if there is neither.
///
/// Prints the release of each file. All files must exist in a folder that the user has given; a file of an unknown release is accepted.
pub(super) fn find(folder: Option<&Path>) -> Result<Option<Vec<CardFile>>> {
    let folder = match folder {
        Some(folder) => folder,
        None if Path::new(DEBIAN_FOLDER).is_dir() => Path::new(DEBIAN_FOLDER),
        None => return Ok(None),
    };
    let mut files = Vec::new();
    for name in FILES {
        let path = folder.join(name);
        if !path.is_file() {
            bail!("{} has no {name}; {HOW_TO_GET_IT}", folder.display());
        }
        let file = CardFile::read(name, &path).context("the firmware")?;
        match release(name, &file.bytes) {
            Some(release) => eprintln!("firmware: {name} of raspi-firmware {release}"),
            None => eprintln!("firmware: {name} is of an unknown release; it is used unchanged"),
        }
        files.push(file);
    }
    Ok(Some(files))
}

/// The device trees of the boards with a BCM2837, and the overlay that adds the V3D to them, under the names that the firmware searches for [raspberrypi.com
/// config.txt, device trees].
pub(super) fn device_trees(folder: &Path) -> Result<Vec<CardFile>> {
    const OVERLAY: &str = "overlays/vc4-fkms-v3d.dtbo";
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.starts_with("bcm2710-") && name.ends_with(".dtb"));
    names.sort_unstable();
    if names.is_empty() || !folder.join(OVERLAY).is_file() {
        bail!("{} has no device trees: there must be bcm2710-*.dtb and {OVERLAY}", folder.display());
    }
    names.push(OVERLAY.to_owned());
    names.iter().map(|name| CardFile::read(name, &folder.join(name))).collect()
}

/// The release of this file, if it is known.
fn release(name: &str, bytes: &[u8]) -> Option<&'static str> {
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let known = KNOWN.iter().find(|(file, sum, _)| *file == name && *sum == digest);
    known.map(|(_, _, release)| *release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_well_formed_and_a_strange_file_is_unknown() {
        for (name, sum, _) in KNOWN {
            assert!(FILES.contains(&name));
            assert!(sum.len() == 64 && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        }
        assert_eq!(release("start.elf", b"something"), None);
    }

    #[test]
    fn a_folder_without_device_trees_is_refused() {
        let message = device_trees(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err().to_string();
        assert!(message.contains("bcm2710-*.dtb") && message.contains("vc4-fkms-v3d.dtbo"), "{message}");
    }

    #[test]
    fn a_folder_without_a_file_is_refused_by_name() {
        let message = find(Some(Path::new("no such folder"))).unwrap_err().to_string();
        assert!(message.contains("bootcode.bin") && message.contains("--firmware"));
    }
}

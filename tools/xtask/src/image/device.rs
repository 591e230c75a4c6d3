//! Writes the image to an SD card, after several checks.
//!
//! Rejected are: a path that is not a block device; a partition, because the image is a whole disk; a disk of which any part is mounted, used for swap or held
//! by another device (RAID, encryption); and a disk that is smaller than the image. Any other disk is shown with its name and size, and written only after the
//! user has typed its path again.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A disk that may be written.
#[derive(Debug)]
pub(super) struct Disk {
    path: PathBuf,
    description: String,
    bytes: u64,
}

impl Disk {
    /// Checks a device; the error says why it must not be written.
    pub(super) fn find(path: &Path) -> Result<Self> {
        let path = fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?;
        let shown = path.display();
        if !fs::metadata(&path)?.file_type().is_block_device() {
            bail!("{shown} is not a disk");
        }
        let name = path.file_name().and_then(|name| name.to_str()).context("a device without a name")?.to_owned();
        let system = Path::new("/sys/class/block").join(&name);
        if system.join("partition").exists() {
            bail!("{shown} is a partition; the image is a whole disk with its own partition table: name the disk");
        }
        let disk = DiskLayout::of(&system, &name)?;
        if let Some(reason) = disk.in_use(&read("/proc/self/mountinfo")?, &read("/proc/swaps")?) {
            bail!("{shown} is in use: {reason}");
        }
        let sectors: u64 = read(system.join("size"))?.trim().parse().context("the disk's size")?;
        let model = fs::read_to_string(system.join("device/model")).unwrap_or_else(|_| "disk".to_owned());
        let bytes = sectors * 512;
        let description = format!("{} of {:.1} GB", model.trim(), bytes as f64 / 1e9);
        Ok(Self { path, description, bytes })
    }

    /// Asks for confirmation, then overwrites the start of the disk with the image.
    pub(super) fn write(&self, image: &[u8]) -> Result<()> {
        let shown = self.path.display();
        if (image.len() as u64) > self.bytes {
            bail!("{shown} ({}) is smaller than the image", self.description);
        }
        if !std::io::stdin().is_terminal() {
            bail!("{shown} is written only after a person has confirmed it at a terminal");
        }
        eprintln!("Everything on {shown} ({}) will be lost.", self.description);
        eprint!("Type {shown} to go on: ");
        std::io::stderr().flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if Path::new(answer.trim_end_matches(['\r', '\n'])) != self.path {
            bail!("not confirmed; {shown} is unchanged");
        }
        // Checked again, because a desktop may have mounted the card while the user was typing.
        Self::find(&self.path)?;
        let mut device = fs::OpenOptions::new().write(true).open(&self.path);
        let device = device.as_mut().map_err(|error| anyhow::anyhow!("cannot open {shown}: {error}"))?;
        device.write_all(image).with_context(|| format!("cannot write {shown}"))?;
        device.sync_all().with_context(|| format!("{shown} has not stored all data"))?;
        eprintln!("{shown}: written; it can be taken out.");
        Ok(())
    }
}

/// A disk and its partitions, by the names that the operating system's kernel gives them.
#[derive(Debug)]
struct DiskLayout {
    parts: Vec<BlockDevice>,
}

#[derive(Debug)]
struct BlockDevice {
    name: String,
    /// `major:minor`, as in mount information.
    number: String,
    /// Devices that are built on it.
    holders: Vec<String>,
}

impl DiskLayout {
    fn of(system: &Path, disk: &str) -> Result<Self> {
        let mut parts = vec![BlockDevice::read(system, disk)?];
        for entry in fs::read_dir(system).with_context(|| format!("cannot look at {disk}"))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().and_then(|name| name.to_str())
                && path.join("partition").exists()
            {
                parts.push(BlockDevice::read(&path, name)?);
            }
        }
        Ok(Self { parts })
    }

    /// Why the disk is in use, if it is: `mountinfo` and `swaps` are the contents of these files in /proc.
    fn in_use(&self, mountinfo: &str, swaps: &str) -> Option<String> {
        for BlockDevice { name, number, holders } in &self.parts {
            for line in mountinfo.lines() {
                let mut fields = line.split(' ');
                if fields.nth(2) == Some(number) {
                    return Some(format!("{name} is mounted at {}", fields.nth(1).unwrap_or("?")));
                }
            }
            let device = format!("/dev/{name}");
            if swaps.lines().any(|line| line.split_whitespace().next() == Some(&device)) {
                return Some(format!("{name} is swapped to"));
            }
            if let Some(holder) = holders.first() {
                return Some(format!("{name} is part of {holder}"));
            }
        }
        None
    }
}

impl BlockDevice {
    fn read(system: &Path, name: &str) -> Result<Self> {
        let number = read(system.join("dev"))?.trim().to_owned();
        let holders = fs::read_dir(system.join("holders")).into_iter().flatten();
        let holders = holders.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        Ok(Self { name: name.to_owned(), number, holders })
    }
}

fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(holders: &[&str]) -> DiskLayout {
        let part = |name: &str, number: &str, holders: &[&str]| BlockDevice {
            name: name.to_owned(),
            number: number.to_owned(),
            holders: holders.iter().map(|&holder| holder.to_owned()).collect(),
        };
        DiskLayout { parts: vec![part("sdb", "8:16", &[]), part("sdb1", "8:17", holders)] }
    }

    #[test]
    fn a_disk_in_use_is_told_why() {
        let mounts = "29 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 29 8:17 / /media/card rw - vfat /dev/sdb1 rw\n";
        let swaps = "Filename Type Size Used Priority\n/dev/sdb1 partition 1 0 -2\n";
        let why = |mounts, swaps, holders| disk(holders).in_use(mounts, swaps);
        assert_eq!(why(mounts, "", &[]).unwrap(), "sdb1 is mounted at /media/card");
        assert_eq!(why("", swaps, &[]).unwrap(), "sdb1 is swapped to");
        assert_eq!(why("", "", &["dm-0"]).unwrap(), "sdb1 is part of dm-0");
        assert_eq!(why("29 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "Filename\n", &[]), None);
    }

    #[test]
    fn what_is_no_disk_is_refused() {
        assert!(Disk::find(Path::new("/dev/null")).unwrap_err().to_string().contains("not a disk"));
        assert!(Disk::find(Path::new("/dev/no such device")).unwrap_err().to_string().contains("there is no"));
    }
}

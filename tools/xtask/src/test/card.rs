//! The SD card image and the archive: their file systems are sound, and their kernel boots.

use super::Built;
use super::board::check_config;
use super::guest::with_machine;
use crate::far_end::qemu::Options;
use crate::image::{self, Card};
use crate::setup;
use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::{Command, Output};

/// The kernel from the SD card's file system boots, and config.txt has the lines that boards need.
pub(super) fn kernel_boots(workspace: &Workspace, built: &Built) -> Result<String> {
    let Card { kernel: bytes, config, command_line, .. } = image::card_without_firmware(workspace, built.image()?)?;
    check_config(&config)?;
    ensure!(command_line == "selftest.after=30\n", "cmdline.txt is {command_line:?}");
    let scratch = workspace.scratch()?;
    let path = scratch.path().join("kernel8.img");
    std::fs::write(&path, bytes)?;
    with_machine(workspace, Options::with_v3d(&path, built.plugin()?), |machine, _, deadline| {
        machine.console.command("help", "", deadline, |_| {})?.lines().map(|_| String::new())
    })
}

/// The archive holds the files of the image, the kernel that was built, and a README.
pub(super) fn archive_has_the_same_files(workspace: &Workspace, built: &Built) -> Result<String> {
    let card = image::card_without_firmware(workspace, built.image()?)?;
    let names: Vec<&str> = card.archive.iter().map(|(name, _)| name.as_str()).collect();
    ensure!(names == ["kernel8.img", "config.txt", "cmdline.txt", "README.txt"], "the archive has {names:?}");
    let [kernel, config, command_line, readme] = [0, 1, 2, 3].map(|index| card.archive[index].1.as_slice());
    ensure!(kernel == std::fs::read(built.image()?)?, "its kernel8.img is not the one that was built");
    ensure!(kernel == card.kernel, "its kernel8.img is not the image's");
    ensure!(config == card.config.as_bytes() && command_line == card.command_line.as_bytes(), "its settings differ");
    let readme = str::from_utf8(readme).context("README.txt is not UTF-8")?;
    for name in &names[..3] {
        ensure!(readme.contains(name), "README.txt does not mention {name}");
    }
    Ok(format!("{} bytes in {} files", card.archive.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(), names.len()))
}

/// `fsck.vfat -n` finds nothing wrong with the image's partition; it does with one whose second allocation table differs.
pub(super) fn file_system_is_sound(workspace: &Workspace, built: &Built) -> Result<String> {
    let mut partition = image::card_without_firmware(workspace, built.image()?)?.partition;
    let scratch = workspace.scratch()?;
    let file = scratch.path().join("partition");
    let told = ensure_sound(&file, &partition)?;
    let sum = told.lines().last().unwrap_or_default().rsplit(": ").next().unwrap_or_default().to_owned();

    let [reserved, tables, sectors] = [(14, 2), (16, 1), (36, 4)].map(|(at, bytes)| {
        partition[at..at + bytes].iter().rev().fold(0, |value: usize, &byte| value << 8 | usize::from(byte))
    });
    ensure!(tables == 2, "the partition has {tables} allocation tables");
    partition[512 * (reserved + sectors) + 3 * 4] ^= 1;
    ensure!(!check(&file, &partition)?.status.success(), "fsck.vfat accepts two different allocation tables");
    Ok(sum)
}

/// Has `fsck.vfat` check a partition, which is written to `file` for that; returns what it says if it finds nothing wrong.
pub(super) fn ensure_sound(file: &Path, partition: &[u8]) -> Result<String> {
    let checked = check(file, partition)?;
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    ensure!(checked.status.success(), "fsck.vfat says: {told}");
    Ok(told)
}

/// Checks a partition without changing it.
fn check(file: &Path, partition: &[u8]) -> Result<Output> {
    let fsck = setup::fsck()?;
    std::fs::write(file, partition)?;
    let output = Command::new(&fsck).arg("-n").arg(file).output();
    output.with_context(|| format!("{} cannot be started", fsck.display()))
}

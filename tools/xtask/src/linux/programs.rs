//! Programs for the guest.

use super::install::System;
use super::libraries::{self, FOLDERS};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian's packages have programs.
const PROGRAM_FOLDERS: [&str; 2] = ["usr/bin", "bin"];

/// Compiles a program of tools/qemu-v3d/guest for the guest, if it is older than its source.
pub(super) fn own(workspace: &Workspace, system: &System, name: &str) -> Result<PathBuf> {
    let source = workspace.root.join(format!("tools/qemu-v3d/guest/{name}.c"));
    let program = system.folder.join(name);
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    if time(&program) > time(&source) {
        return Ok(program);
    }
    let libraries = system.root.join(FOLDERS[0]);
    let mut cc = Command::new("aarch64-linux-gnu-gcc");
    cc.arg("-O2").arg(&source).arg("-o").arg(&program).arg("-idirafter").arg(system.root.join("usr/include"));
    // What these two need is found in the guest.
    cc.args(["libEGL.so.1", "libGLESv2.so.2"].map(|name| libraries.join(name)));
    cc.args(["-Wl,--allow-shlib-undefined", "-lm"]);
    eprintln!("==> compiling {}", source.display());
    let status = cc.status().context("aarch64-linux-gnu-gcc cannot be started: type `cargo xtask linux setup`")?;
    ensure!(status.success(), "{} could not be compiled", source.display());
    Ok(program)
}

/// The program of a name, and the word that starts it: a file, one of Debian's packages, or one of the guest's shell.
pub(super) fn named(system: &System, name: &OsStr) -> Result<(Option<PathBuf>, String)> {
    let file = Path::new(name);
    let word = file.file_name().context("a program has a name")?.to_string_lossy().into_owned();
    let of_debian =
        PROGRAM_FOLDERS.iter().map(|folder| system.root.join(folder).join(name)).find(|path| path.is_file());
    let found = if file.is_file() { Some(file.to_owned()) } else { of_debian };
    if let Some(found) = &found {
        let bytes = fs::read(found).with_context(|| format!("cannot read {}", found.display()))?;
        let is_script = bytes.starts_with(b"#!");
        if !is_script && !libraries::is_program(&bytes).unwrap_or(false) {
            bail!("{} is no program for arm64", found.display());
        }
    } else if name.to_string_lossy().contains('/') {
        bail!("there is no {}", file.display());
    }
    Ok((found, word))
}

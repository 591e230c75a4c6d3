//! A window system for the guest: Weston, with what it loads when it runs.
//!
//! # Sources
//! Debian 12's packages weston and libweston-10-0, version 10.0.1.

use super::archive::Archive;
use super::libraries::Libraries;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The program, its backend for the kernel's mode setting, its renderer by OpenGL ES, and the shell that places windows, with that one's own program.
const FILES: [&str; 5] = [
    "usr/bin/weston",
    "usr/lib/aarch64-linux-gnu/libweston-10/drm-backend.so",
    "usr/lib/aarch64-linux-gnu/libweston-10/gl-renderer.so",
    "usr/lib/aarch64-linux-gnu/weston/desktop-shell.so",
    "usr/lib/aarch64-linux-gnu/weston-desktop-shell",
];

/// The descriptions of keyboards, without which it does not start, though there is none.
const KEYBOARDS: (&str, &str) = ("usr/share/X11", "usr/share/X11/xkb");

/// Folders of an archive that has the system's.
const KNOWN_FOLDERS: [&str; 2] = ["usr/bin", "usr/lib/aarch64-linux-gnu"];

/// Adds Weston, what it needs, and its settings to an archive.
pub(super) fn add(workspace: &Workspace, root: &Path, libraries: &mut Libraries, archive: &mut Archive) -> Result<()> {
    let mut folders: BTreeSet<&str> = KNOWN_FOLDERS.into();
    for name in FILES {
        let file = root.join(name);
        let contents = fs::read(&file).with_context(|| {
            format!("cannot read {}; Weston is there after `cargo xtask linux setup`, for Debian 12", file.display())
        })?;
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folders.insert(folder) {
            archive.folder(folder);
        }
        archive.file(name, &contents);
        libraries.needed_by(root, &contents, archive)?;
    }
    archive.folder(KEYBOARDS.0);
    archive.tree(root, Path::new(KEYBOARDS.1))?;
    archive.copy("weston.ini", &workspace.root.join("tools/qemu-v3d/guest/weston.ini"))
}

//! Debian's kernel, Mesa and a small system for arm64.

use super::archive::Archive;
use super::libraries::{FOLDERS, LOADER, Libraries};
use super::modules;
use crate::setup;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian's packages on this machine that the tasks need.
const PACKAGES: [&str; 6] =
    ["mmdebstrap", "debian-archive-keyring", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "kmod", "xz-utils"];

/// Debian's packages for the guest: kernel, Mesa, a shell, and what a program for it is compiled with.
const GUEST_PACKAGES: &str = "linux-image-arm64,busybox-static,libgl1-mesa-dri,libegl1,libegl-mesa0,libgbm1,libgles2,libegl-dev,libgles-dev,\
    libc6-dev,kmscube,glmark2-es2-drm";

/// A window system, and a program with windows.
const WINDOW_PACKAGES: &str = "weston,mesa-utils-extra";

/// What Debian's archive is asked for.
const ARCHIVE: &str = "http://deb.debian.org/debian";

/// The libraries with which programs draw, and Mesa's behind them, as far as nothing names them that is there already.
const LIBRARIES: [&str; 5] = ["libEGL.so.1", "libGLESv2.so.2", "libEGL_mesa.so.0", "libgbm.so.1", LOADER];
/// From Mesa 24.2 on, the drivers are in the library libgallium, and this is the only file in their folder.
const NEW_DRIVER: &str = "libdril_dri.so";
/// Before, all of them are one file with several names.
const OLD_DRIVER: &str = "vc4_dri.so";
const OTHER_NAMES: [&str; 2] = ["swrast_dri.so", "kms_swrast_dri.so"];

/// Which Debian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// Linux 6.1, Mesa 22.3.6.
    Debian12,
    /// Linux 6.12, Mesa 25.0.7.
    Debian13,
}

impl Release {
    pub(super) fn parse(text: &str) -> Result<Self> {
        match text {
            "12" => Ok(Self::Debian12),
            "13" => Ok(Self::Debian13),
            other => bail!("the releases are Debian 12 and 13; --release {other} is neither"),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Debian12 => "12",
            Self::Debian13 => "13",
        }
    }

    /// Debian's packages for the guest. The window system was tried with Debian 12 only.
    fn packages(self) -> String {
        match self {
            Self::Debian12 => format!("{GUEST_PACKAGES},{WINDOW_PACKAGES}"),
            Self::Debian13 => GUEST_PACKAGES.to_owned(),
        }
    }

    const fn suite(self) -> &'static str {
        match self {
            Self::Debian12 => "bookworm",
            Self::Debian13 => "trixie",
        }
    }

    fn folder(self, workspace: &Workspace) -> PathBuf {
        workspace.target.join("linux").join(self.name())
    }
}

/// What `setup` has made.
#[derive(Debug)]
pub(super) struct System {
    /// Debian's packages, unpacked.
    pub(super) root: PathBuf,
    /// The kernel.
    pub(super) kernel: PathBuf,
    /// The board's device tree, which belongs to the kernel's package.
    pub(super) device_tree: PathBuf,
    /// The archive with shell, modules and Mesa.
    pub(super) archive: PathBuf,
    /// The folder of all of it, and of programs that are compiled for it.
    pub(super) folder: PathBuf,
}

impl System {
    /// The system of a release, if it is there.
    pub(super) fn of(workspace: &Workspace, release: Release) -> Result<Self> {
        let folder = release.folder(workspace);
        let missing = || {
            let option = if release == Release::Debian12 { "" } else { " --release 13" };
            format!("Debian {} is not in {}: type `cargo xtask linux setup{option}`", release.name(), folder.display())
        };
        let archive = folder.join("system.cpio");
        ensure!(archive.is_file(), missing());
        let root = folder.join("root");
        let kernel = first_file(&root.join("boot"), |name| name.starts_with("vmlinuz-")).with_context(missing)?;
        let device_trees = first_folder(&root.join("usr/lib"), "linux-image-").with_context(missing)?;
        let device_tree = device_trees.join("broadcom/bcm2837-rpi-3-b.dtb");
        ensure!(device_tree.is_file(), "{} is not there", device_tree.display());
        Ok(Self { root, kernel, device_tree, archive, folder })
    }
}

fn first_file(folder: &Path, is_it: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_it)).max()
}

fn first_folder(folder: &Path, start: &str) -> Option<PathBuf> {
    first_file(folder, |name| name.starts_with(start)).filter(|path| path.is_dir())
}

/// Downloads Debian, as far as it is not there yet.
pub(super) fn setup(workspace: &Workspace, release: Release) -> Result<()> {
    let folder = release.folder(workspace);
    eprintln!("Debian {} for arm64 with its kernel and Mesa, in {}", release.name(), folder.display());
    let packages = release.packages();
    eprintln!("  packages: {packages}");
    eprintln!("  200 MB to download, 900 MB unpacked; a minute or two. This machine needs {}", PACKAGES.join(", "));
    setup::apt_install_missing(&PACKAGES)?;
    setup::qemu()?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let root = folder.join("root");
    let list = folder.join("packages");
    if !root.is_dir() || fs::read_to_string(&list).ok() != Some(packages.clone()) {
        download(release, &packages, &root)?;
        whole_file::write(&list, packages.as_bytes())?;
    }
    eprintln!("==> writing the archive with shell, modules and Mesa");
    let (archive, libraries) = archive(&root)?;
    libraries.write(&folder)?;
    whole_file::write(&folder.join("system.cpio"), &archive)?;
    let option = if release == Release::Debian12 { "" } else { " --release 13" };
    eprintln!("done: cargo xtask linux run{option}");
    Ok(())
}

/// Unpacks Debian's packages; none of their scripts is run, so that it works without root and on any processor.
fn download(release: Release, packages: &str, root: &Path) -> Result<()> {
    let part = root.with_extension("part");
    // What an interruption has left.
    let _ = fs::remove_dir_all(&part);
    eprintln!("==> downloading and unpacking Debian's packages");
    let mut mmdebstrap = Command::new("mmdebstrap");
    mmdebstrap.args(["--variant=extract", "--arch=arm64", "--quiet"]).arg(format!("--include={packages}"));
    mmdebstrap.arg(release.suite()).arg(&part).arg(format!("deb {ARCHIVE} {} main", release.suite()));
    let status = mmdebstrap.stdin(Stdio::null()).status().context("mmdebstrap cannot be started")?;
    crate::interrupt::check()?;
    ensure!(status.success(), "mmdebstrap could not fetch Debian's packages: {status}");
    // An older one, with other packages.
    let _ = fs::remove_dir_all(root);
    fs::rename(&part, root).with_context(|| format!("cannot replace {}", root.display()))?;
    Ok(())
}

/// The archive that every guest starts with, and the libraries in it.
fn archive(root: &Path) -> Result<(Vec<u8>, Libraries)> {
    let mut archive = Archive::default();
    let libraries = FOLDERS[0];
    let (drivers, gbm) = (format!("{libraries}/dri"), format!("{libraries}/gbm"));
    for folder in ["bin", "sys", "usr", "usr/bin", "usr/lib", libraries, &drivers, &gbm, "usr/share", "usr/share/glvnd"]
    {
        archive.folder(folder);
    }
    archive.link("lib", "usr/lib");
    archive.link("sbin", "bin");
    archive.link(&format!("usr/lib/{LOADER}"), &format!("aarch64-linux-gnu/{LOADER}"));
    let busybox =
        ["usr/bin/busybox", "bin/busybox"].map(|path| root.join(path)).into_iter().find(|path| path.is_file());
    archive.copy("bin/busybox", &busybox.context("Debian's package busybox-static has no busybox")?)?;
    archive.link("bin/sh", "busybox");
    modules::add(root, &mut archive)?;
    let mut added = Libraries::default();
    for name in LIBRARIES {
        added.add(root, name, &mut archive)?;
    }
    let place = root.join(&drivers);
    if place.join(NEW_DRIVER).is_file() {
        archive.copy(&format!("{drivers}/{NEW_DRIVER}"), &place.join(NEW_DRIVER))?;
        for (folder, is_it) in [(libraries, "libgallium"), (&gbm[..], "dri_gbm")] {
            let file = first_file(&root.join(folder), |name| name.starts_with(is_it));
            let file = file.with_context(|| format!("Debian's Mesa has no {folder}/{is_it}*"))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if folder == libraries {
                added.add(root, &name, &mut archive)?;
            } else {
                archive.copy(&format!("{folder}/{name}"), &file)?;
            }
        }
    } else {
        let driver = place.join(OLD_DRIVER);
        let contents = fs::read(&driver).with_context(|| format!("cannot read {}", driver.display()))?;
        archive.file(&format!("{drivers}/{OLD_DRIVER}"), &contents);
        added.needed_by(root, &contents, &mut archive)?;
        OTHER_NAMES.iter().for_each(|name| archive.link(&format!("{drivers}/{name}"), OLD_DRIVER));
    }
    for folder in ["usr/share/glvnd/egl_vendor.d", "usr/share/drirc.d"] {
        archive.folder(folder);
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().filter_map(Result::ok) {
            archive.copy(&format!("{folder}/{}", entry.file_name().to_string_lossy()), &entry.path())?;
        }
    }
    Ok((archive.finish(), added))
}

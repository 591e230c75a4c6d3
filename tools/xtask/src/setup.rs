//! `cargo xtask setup`: installs the bare-metal Rust target, QEMU and a checker of file systems.
//!
//! The target is installed by rustup. The other programs are installed by apt-get if this program may use it (as root, or by sudo without a password);
//! otherwise the error contains the command.

use crate::workspace::KERNEL_TARGET;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HELP: &str = "\
cargo xtask setup

Installs what the other tasks need:
  the Rust targets aarch64-unknown-none and wasm32-unknown-unknown, by rustup
  qemu-system-aarch64, by apt-get, if run as root or if sudo needs no password
  fsck.vfat, with which `cargo xtask test` checks the SD card image, likewise
  if DISPLAY or WAYLAND_DISPLAY is set, QEMU's window support, likewise
If an installation is not permitted, the error contains the command to run.
";

/// The emulator's program.
const QEMU: &str = "qemu-system-aarch64";

/// The environment variable that names another program.
const QEMU_VARIABLE: &str = "QEMU";

/// Debian's package with QEMU.
const QEMU_PACKAGE: &str = "qemu-system-arm";

/// Debian's package with QEMU's window support.
const WINDOW_PACKAGE: &str = "qemu-system-gui";

/// Folders in which to look for programs besides the PATH: users other than root often lack these.
const ROOT_FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// The program that checks FAT file systems.
const FSCK: &str = "fsck.vfat";

/// Debian's package with that program.
const FSCK_PACKAGE: &str = "dosfstools";

/// QEMU's display types that are windows.
const WINDOWS: [&str; 3] = ["gtk", "sdl", "cocoa"];

/// The Rust target of programs in web pages.
pub(crate) const WEB_TARGET: &str = "wasm32-unknown-unknown";

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if crate::no_arguments(arguments, HELP)? {
        return Ok(());
    }
    kernel_target()?;
    eprintln!("Rust target {KERNEL_TARGET}: installed");
    rust_target(WEB_TARGET)?;
    eprintln!("Rust target {WEB_TARGET}: installed");
    let version = qemu()?;
    eprintln!("{}: version {version}", qemu_program().display());
    if let Err(problem) = version.check_plugin() {
        eprintln!("{problem:#}");
    }
    eprintln!("{}: installed", fsck()?.display());
    if has_display() {
        window()?;
        eprintln!("{}: can open a window", qemu_program().display());
    }
    Ok(())
}

/// Installs the kernel's Rust target if it is missing.
pub(crate) fn kernel_target() -> Result<()> {
    rust_target(KERNEL_TARGET)
}

/// The folder of the toolchain's libraries.
fn rustlib() -> Result<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().context("rustc cannot be started")?;
    Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib/rustlib"))
}

/// Installs a Rust target if it is missing.
pub(crate) fn rust_target(target: &str) -> Result<()> {
    if rustlib()?.join(target).join("lib").is_dir() {
        return Ok(());
    }
    rustup(&["target", "add", target], &format!("the Rust target {target}"))
}

/// Installs the sources of Rust's libraries if they are missing: a target for which there are no compiled ones is built from them.
pub(crate) fn rust_sources() -> Result<()> {
    if rustlib()?.join("src/rust/library/core").is_dir() {
        return Ok(());
    }
    rustup(&["component", "add", "rust-src"], "the sources of Rust's libraries (rust-src)")
}

/// Runs rustup, and says what it installs.
fn rustup(arguments: &[&str], what: &str) -> Result<()> {
    eprintln!("==> installing {what}: rustup {}", arguments.join(" "));
    match Command::new("rustup").args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!("rustup could not install {what}"),
        Err(_) => bail!(
            "{what} is missing and there is no rustup to install it; get rustup from https://rustup.rs, or what is missing from where \
             this Rust came from"
        ),
    }
}

/// QEMU's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QemuVersion {
    major: u32,
    minor: u32,
}

impl std::fmt::Display for QemuVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl QemuVersion {
    /// Parses the output of `--version`, whose first line contains `QEMU emulator version 7.2.22 (...)`.
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("version ")?;
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some(Self { major: numbers.next()?.ok()?, minor: numbers.next()?.ok()? })
    }

    /// Fails if QEMU of this version cannot load the V3D plugin. Versions newer than the known ones are accepted: the plugin itself reports what is missing.
    pub(crate) fn check_plugin(self) -> Result<()> {
        if self.major >= 6 {
            return Ok(());
        }
        bail!(
            "the V3D plugin needs a QEMU from 6.0 on (Debian's packages {QEMU_PACKAGE} 7.2, 10.0 and 11.1 are what it is tested \
             with), and this is {self}; with --no-v3d the kernel boots in this one, without a V3D"
        )
    }
}

/// Installs QEMU if it is missing.
pub(crate) fn qemu() -> Result<QemuVersion> {
    if let Some(version) = installed_qemu() {
        return Ok(version);
    }
    if std::env::var_os(QEMU_VARIABLE).is_some() {
        bail!("{QEMU_VARIABLE} names {}, which does not tell a version of QEMU", qemu_program().display());
    }
    apt_install(&[QEMU_PACKAGE])?;
    installed_qemu().with_context(|| format!("{QEMU_PACKAGE} was installed, but {QEMU} cannot be started"))
}

/// The program to use: the one named by the variable `QEMU`, or the one in the PATH.
pub(crate) fn qemu_program() -> PathBuf {
    std::env::var_os(QEMU_VARIABLE).filter(|name| !name.is_empty()).map_or_else(|| QEMU.into(), PathBuf::from)
}

/// Whether there is a display for a window.
pub(crate) fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Installs a compiler of Debian if it is missing.
pub(crate) fn compiler(program: &str, package: &str) -> Result<()> {
    if succeeds(program, &["--version"]) {
        return Ok(());
    }
    apt_install(&[package]).with_context(|| format!("the compiler {program} is missing"))
}

/// Installs QEMU's window support if it is missing.
pub(crate) fn window() -> Result<()> {
    if has_window_part() {
        return Ok(());
    }
    let without = "this QEMU cannot open a window";
    if std::env::var_os(QEMU_VARIABLE).is_some() {
        bail!("{without}: `{} -display help` names none of {}", qemu_program().display(), WINDOWS.join(", "));
    }
    apt_install(&[WINDOW_PACKAGE]).with_context(|| without)?;
    if !has_window_part() {
        bail!("{without}, though {WINDOW_PACKAGE} was installed");
    }
    Ok(())
}

/// The program that checks FAT file systems; it is installed if it is missing.
pub(crate) fn fsck() -> Result<PathBuf> {
    program(FSCK, FSCK_PACKAGE)
}

/// A program of one of Debian's packages, which is installed if it is missing.
pub(crate) fn program(name: &str, package: &str) -> Result<PathBuf> {
    let find = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(ROOT_FOLDERS.map(PathBuf::from));
        folders.map(|folder| folder.join(name)).find(|program| program.is_file())
    };
    if let Some(program) = find() {
        return Ok(program);
    }
    apt_install(&[package]).with_context(|| format!("{name} is missing"))?;
    find().with_context(|| format!("{package} was installed, but there is no {name}"))
}

/// Whether QEMU has a display type that is a window.
fn has_window_part() -> bool {
    let Ok(output) = Command::new(qemu_program()).args(["-display", "help"]).stderr(Stdio::null()).output() else {
        return false;
    };
    String::from_utf8_lossy(&output.stdout).lines().any(|line| WINDOWS.contains(&line.trim()))
}

fn installed_qemu() -> Option<QemuVersion> {
    let output = Command::new(qemu_program()).arg("--version").output().ok()?;
    QemuVersion::parse(&String::from_utf8_lossy(&output.stdout))
}

/// Installs those of Debian's packages that are missing.
pub(crate) fn apt_install_missing(packages: &[&str]) -> Result<()> {
    let is_missing = |package: &&str| {
        let output = Command::new("dpkg-query").args(["-W", "-f=${db:Status-Status}", package]).output();
        !output.is_ok_and(|output| output.stdout == b"installed")
    };
    let missing: Vec<&str> = packages.iter().copied().filter(is_missing).collect();
    if missing.is_empty() { Ok(()) } else { apt_install(&missing) }
}

/// Installs Debian packages; the error contains the command if it is not permitted.
pub(crate) fn apt_install(packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    let by_hand = format!("apt-get install --no-install-recommends {list}");
    if !succeeds("apt-get", &["--version"]) {
        bail!("{list} is missing and this system has no apt-get: install your system's package of the same programs");
    }
    let prefix: &[&str] = if is_root() {
        &[]
    } else if succeeds("sudo", &["--non-interactive", "true"]) {
        &["sudo", "--non-interactive"]
    } else {
        bail!("{list} is missing and needs root to install; type: sudo {by_hand}");
    };
    let apt = |arguments: &[&str]| -> Result<bool> {
        let mut words = prefix.to_vec();
        // sudo does not pass the environment on, so env sets the variable.
        words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]);
        words.extend(arguments);
        eprintln!("==> {}", words.join(" "));
        let status = Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).status();
        Ok(status.context("apt-get cannot be started")?.success())
    };
    // An update may fail partly (for a source that is gone) although the packages are available.
    if !apt(&["update"])? {
        eprintln!("apt-get update failed; continuing with the present package lists");
    }
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages);
    if !apt(&install)? {
        bail!("apt-get could not install {list}; type: sudo {by_hand}");
    }
    Ok(())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let debian = QemuVersion::parse("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\nCopyright").unwrap();
        assert_eq!(debian, QemuVersion { major: 7, minor: 2 });
        assert!(debian.check_plugin().is_ok());
        let newer = QemuVersion::parse("QEMU emulator version 10.0.2").unwrap();
        assert!(newer.check_plugin().is_ok());
        let older = QemuVersion::parse("QEMU emulator version 5.2.0").unwrap();
        assert!(older.check_plugin().unwrap_err().to_string().contains("this is 5.2"));
        assert_eq!(QemuVersion::parse("something else"), None);
    }
}

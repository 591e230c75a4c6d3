//! Translated code for AArch64, executed on other hosts in an emulator.
//!
//! The command is built for that target, and compares its engine with the reference under QEMU's emulation of one process. It needs
//! `qemu-aarch64`, a linker for that target and Rust's library for it (`.ci/run` installs them), and says what is missing where it cannot run.

#![forbid(unsafe_code)]
#![cfg(not(target_arch = "aarch64"))]

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use v3d_sim::qpu::conformance::Suite;

const TARGET: &str = "aarch64-unknown-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const LINKER: &str = "aarch64-linux-gnu-gcc";
/// The profile of Cargo.toml that builds fast.
const PROFILE: &str = "emulated";
/// Where Debian has the libraries of programs for the target.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// Cases of each suite of programs.
const CASES: u32 = 200;

/// What this host lacks.
fn missing() -> Vec<String> {
    let runs = |program: &str| {
        let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let mut missing: Vec<String> =
        [EMULATOR, LINKER].into_iter().filter(|program| !runs(program)).map(str::to_owned).collect();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let printed = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let library = printed.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    if !library.is_ok_and(|library| library.is_dir()) {
        missing.push(format!("Rust's target {TARGET}"));
    }
    missing
}

/// Builds the command, and returns its path.
fn build() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
        .args(["build", "--quiet", "--bin", "v3d", "--profile", PROFILE, "--target", TARGET])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(&folder)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .output()
        .unwrap();
    assert!(output.status.success(), "the build for {TARGET} failed: {}", String::from_utf8_lossy(&output.stderr));
    folder.join(TARGET).join(PROFILE).join("v3d")
}

/// Runs the command in the emulator; it must succeed. Returns what it prints.
fn succeed(program: &Path, arguments: &[&str]) -> String {
    let output: Output = Command::new(EMULATOR).args(["-L", LIBRARIES]).arg(program).args(arguments).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {}\n{out}{error}", output.status);
    out.into_owned()
}

#[test]
fn neon_does_what_the_reference_engine_does() {
    let missing = missing();
    if !missing.is_empty() {
        // Straight to the stream: what passing tests print is not shown.
        let note = "code for AArch64 is neither built nor executed";
        let _ = writeln!(std::io::stderr(), "note: this host has no {}: {note}", missing.join(", no "));
        return;
    }
    let program = build();
    let range = format!("0..{CASES}");
    for (_, suite) in Suite::ALL {
        let out = succeed(&program, &["conform", "--engine", "neon", "--suite", suite, "--range", &range]);
        let figures = out.lines().find_map(|line| line.strip_suffix(" instructions in translated code"));
        let translated: u32 = figures.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0);
        assert!(translated > 10 * CASES, "{out}");
    }
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/lit_textured");
    let out = succeed(&program, &["replay", capture.to_str().unwrap(), "--engine", "neon", "--compare"]);
    assert!(out.contains("within: "), "{out}");
}

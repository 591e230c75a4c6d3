//! Type checks for other hosts. Nothing is linked or run.
//!
//! Tools, examples and templates are checked for Windows and macOS, and what a web page can use for WebAssembly.

use super::run_cargo;
use crate::setup::{self, WEB_TARGET};
use crate::workspace::{SHARED_FEATURES, Workspace, cargo};
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};

/// The compiler's targets. cargo and the crate `cc` name the variables of a target with underlines.
const TARGETS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// What works on these hosts: everything except for the tasks of `cargo xtask` and QEMU's plugin.
const PACKAGES: [&str; 7] =
    ["qpu", "shader-compiler", "v3d-sim", "v3d-host", "renderer", "guide-shaders", "scene-template"];

/// The web page's module, with all crates that it uses, in the features that need neither files nor threads.
const WEB_PACKAGE: &str = "playground";

/// Programs in place of a C compiler and an archiver, which do nothing: one dependency has a window's code in Objective-C, and a type check needs none of it.
const NO_C: [(&str, &str); 2] = [("CC", "true"), ("AR", "true")];

/// Checks all packages for all targets.
pub(super) fn check(workspace: &Workspace) -> Result<String> {
    for target in TARGETS {
        setup::rust_target(target)?;
        let suffix = target.replace('-', "_");
        let status = Command::new(cargo())
            .args(["check", "--quiet", "--target", target, "--lib", "--bins", "--examples"])
            .args(PACKAGES.iter().flat_map(|name| ["--package", name]))
            .args(SHARED_FEATURES)
            .envs(NO_C.map(|(name, program)| (format!("{name}_{suffix}"), program)))
            .current_dir(&workspace.root)
            .stdin(Stdio::null())
            .status()
            .context("cargo cannot be started")?;
        ensure!(status.success(), "the type check for {target} failed");
    }
    setup::rust_target(WEB_TARGET)?;
    run_cargo(workspace, &["check", "--quiet", "--target", WEB_TARGET, "--lib", "--package", WEB_PACKAGE])?;
    Ok(format!("{} packages for {}, {WEB_PACKAGE} for {WEB_TARGET}", PACKAGES.len(), TARGETS.join(" and ")))
}

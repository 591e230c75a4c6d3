//! The workspace: its root and its target folder.

use crate::interrupt;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The bare-metal target of the kernel.
pub(crate) const KERNEL_TARGET: &str = "aarch64-unknown-none";

/// The package that is built beside others so that build scripts use crates that have already been compiled for the whole workspace; its manifest says more.
pub(crate) const SHARED_FEATURES: [&str; 2] = ["--package", "shared-features"];

/// The repository's own folders.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, as configured by the user.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Queries cargo.
    pub(crate) fn find() -> Result<Self> {
        let metadata = metadata(&["--no-deps"])?;
        let folder = |key: &str| -> Result<PathBuf> {
            let text = metadata[key].as_str();
            Ok(text.with_context(|| format!("`cargo metadata` does not tell {key}"))?.into())
        };
        Ok(Self { root: folder("workspace_root")?, target: folder("target_directory")? })
    }

    /// A temporary folder for this run in the target folder. It is removed when the returned value is dropped.
    pub(crate) fn scratch(&self) -> Result<Scratch> {
        let base = self.target.join("xtask");
        // A process never has several machines at once, but may have several in succession: the clock makes their folders different.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        let folder = base.join(format!("{}-{}", std::process::id(), now.as_nanos()));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Scratch(folder))
    }
}

/// A folder that is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed stays in the target folder, where it is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The output of `cargo metadata` for this workspace, with additional arguments.
pub(crate) fn metadata(arguments: &[&str]) -> Result<Value> {
    let output = Command::new(cargo())
        .args(["metadata", "--format-version", "1", "--quiet"])
        .args(arguments)
        .output()
        .context("cargo cannot be started")?;
    if !output.status.success() {
        anyhow::bail!("`cargo metadata` fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` did not answer with JSON")
}

/// Runs a program that must succeed, without input; `failure` says what is not possible otherwise.
pub(crate) fn run(command: &mut Command, failure: &str) -> Result<()> {
    let name = command.get_program().display().to_string();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("{name} cannot be started"))?;
    interrupt::check()?;
    ensure!(status.success(), "{failure}: {name} ended with {status}");
    Ok(())
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

//! The workspace: the root of the sources and the folder for builds.

use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The bare-metal target that the kernel is built for.
pub(crate) const KERNEL_TARGET: &str = "aarch64-unknown-none";

/// The repository's own folders.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, wherever the user's configuration puts it.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn find() -> Result<Self> {
        let metadata = metadata(&["--no-deps"])?;
        let folder = |key: &str| -> Result<PathBuf> {
            let text = metadata[key].as_str();
            Ok(text.with_context(|| format!("`cargo metadata` does not tell {key}"))?.into())
        };
        Ok(Self { root: folder("workspace_root")?, target: folder("target_directory")? })
    }

    /// A folder of its own for this run below the target folder. It is removed when the returned value is dropped.
    pub(crate) fn scratch(&self) -> Result<Scratch> {
        let base = self.target.join("xtask");
        // A process has several machines at once never, but several in a row: the clock keeps their folders apart.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        let folder = base.join(format!("{}-{}", std::process::id(), now.as_nanos()));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Scratch(folder))
    }
}

/// A folder that goes away with this value.
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
        // What is left behind lies in the target folder, where it does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `cargo metadata` of this workspace, with further arguments.
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

/// The cargo that runs this program.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

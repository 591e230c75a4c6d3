//! `cargo xtask ci`: runs the steps of continuous integration on this machine.

use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::process::Command;

const HELP: &str = "\
cargo xtask ci

Runs .ci/run: installs the toolchain, the target and QEMU if they are missing, then runs `cargo xtask test`.
";

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if crate::no_arguments(arguments, HELP)? {
        return Ok(());
    }
    let workspace = Workspace::find()?;
    let script = workspace.root.join(".ci/run");
    let status = Command::new(&script).env("CI", "true").status();
    let status = status.with_context(|| format!("{} cannot be started", script.display()))?;
    if !status.success() {
        bail!(".ci/run failed");
    }
    Ok(())
}

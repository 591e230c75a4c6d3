//! The test of the page in a browser: what people do with it, in Debian's Chromium without a window.

use super::{SITE, node};
use crate::build;
use crate::setup;
use crate::workspace::{Workspace, run};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian's package with the browser, and its program.
const BROWSER: &str = "chromium";
/// The environment variable that names another browser.
const BROWSER_VARIABLE: &str = "CHROMIUM";

/// The browser; it is installed if it is missing.
fn browser() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(BROWSER_VARIABLE).filter(|program| !program.is_empty()) {
        return Ok(program.into());
    }
    setup::program(BROWSER, BROWSER).with_context(|| format!("{BROWSER_VARIABLE}=PROGRAM names another browser"))
}

/// Builds the page and drives it.
pub(crate) fn in_browser(workspace: &Workspace) -> Result<String> {
    let browser = browser()?;
    let folder = workspace.target.join("playground/tested");
    super::build(workspace, &folder)?;
    let expected = workspace.target.join("playground/expected");
    pictures(workspace, &expected)?;
    let shots = workspace.target.join("playground/screenshots");
    let output = node(workspace)
        .arg(workspace.root.join(SITE).join("test/drive.mjs"))
        .args([&folder, &expected, &shots, &browser, &super::generated(workspace).join("playground.js")])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("node cannot be started")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let (failed, passed): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.starts_with("FAILED"));
    failed.iter().for_each(|line| println!("{line}"));
    ensure!(output.status.success() && failed.is_empty(), "{} checks failed", failed.len().max(1));
    let checks = passed.iter().filter(|line| line.starts_with("ok")).count();
    if checks == 0 {
        bail!("no check was made");
    }
    let measured = passed.iter().filter_map(|line| line.strip_prefix("measured: ")).collect::<Vec<_>>().join("; ");
    Ok(format!("{checks} checks; {measured}"))
}

/// Has the host draw the pictures that the page is to draw.
fn pictures(workspace: &Workspace, folder: &Path) -> Result<()> {
    let mut draw = Command::new(build::playground_pictures(workspace)?);
    let examples = workspace.root.join(SITE).join("examples");
    draw.args([&examples, &workspace.root.join(super::LIGHTHOUSE), folder]).current_dir(&workspace.root);
    run(&mut draw, "the host's pictures could not be drawn")
}

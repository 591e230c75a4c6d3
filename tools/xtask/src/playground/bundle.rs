//! The page's modules as two files, by esbuild, and the packages from npm that they are made of.

use super::{SITE, generated};
use crate::workspace::{Workspace, run};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest Node that esbuild and playwright-core run on.
const NODE_MAJOR: u32 = 18;

/// Where the packages are installed: not beside the sources.
fn packages(workspace: &Workspace) -> PathBuf {
    workspace.target.join("playground/npm")
}

/// A command of Node that finds the packages.
pub(crate) fn node(workspace: &Workspace) -> Command {
    let mut node = Command::new("node");
    node.env("NODE_PATH", packages(workspace).join("node_modules"));
    node
}

/// Installs the packages of the lock file, if they are not those that are installed.
pub(crate) fn npm_packages(workspace: &Workspace) -> Result<()> {
    let output = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let major =
        version.as_deref().and_then(|text| text.trim().strip_prefix('v')?.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(major) if major >= NODE_MAJOR => {}
        Some(major) => bail!("the page is bundled with Node {NODE_MAJOR} or newer, and this is {major}"),
        None => bail!("the page is bundled with Node and npm, which are missing: install Node {NODE_MAJOR} or newer"),
    }
    let (site, folder) = (workspace.root.join(SITE), packages(workspace));
    let lock = fs::read(site.join("package-lock.json")).context("package-lock.json cannot be read")?;
    if fs::read(folder.join("installed.json")).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(site.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]).current_dir(&folder);
    run(&mut npm, "the editor's packages could not be installed")?;
    fs::write(folder.join("installed.json"), lock).context("cannot write installed.json")
}

/// The script that bundles the page.
fn script(workspace: &Workspace, folder: &Path) -> Result<Command> {
    let folder = std::path::absolute(folder).with_context(|| folder.display().to_string())?;
    let mut script = node(workspace);
    script.arg(workspace.root.join(SITE).join("bundle.mjs")).args([folder, generated(workspace).join("playground.js")]);
    Ok(script)
}

/// Bundles the page.
pub(super) fn bundle(workspace: &Workspace, folder: &Path) -> Result<()> {
    run(&mut script(workspace, folder)?, "the page could not be bundled")
}

/// Serves the folder, and bundles again what changes; the page reloads by itself.
pub(super) fn serve(workspace: &Workspace, folder: &Path, port: u16) -> Result<()> {
    run(script(workspace, folder)?.arg(port.to_string()), "the page could not be served")
}

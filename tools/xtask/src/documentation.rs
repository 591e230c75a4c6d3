//! `cargo xtask doc`: the documentation of all crates, without a warning.

use crate::no_arguments;
use crate::setup;
use crate::workspace::{KERNEL_TARGET, Workspace, cargo};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "\
cargo xtask doc

Builds the documentation of all crates with rustdoc, whose warnings (a link that leads nowhere, for example) are errors, and checks
that the page of every structure of the hardware shows the bits of every field. What to open in a browser is said at the end.
";

/// The libraries that run on the developer's machine, too.
const LIBRARIES: [&str; 10] = [
    "v3d-hw",
    "v3d",
    "renderer",
    "qpu-shaders",
    "shader-interface",
    "qpu",
    "v3d-sim",
    "v3d-host",
    "shader-build",
    "asset-build",
];

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if no_arguments(arguments, HELP)? {
        return Ok(());
    }
    setup::kernel_target()?;
    let workspace = Workspace::find()?;
    let remark = build(&workspace)?;
    eprintln!("{remark}; the hardware: {}", workspace.target.join("doc/v3d_hw/index.html").display());
    Ok(())
}

/// Builds all pages and checks those of the hardware; returns a remark.
pub(crate) fn build(workspace: &Workspace) -> Result<String> {
    let mut host = rustdoc(workspace);
    LIBRARIES.iter().for_each(|library| {
        host.args(["--package", library]);
    });
    run(host.arg("--lib"))?;
    run(rustdoc(workspace).args(["--package", "kernel", "--lib", "--target", KERNEL_TARGET]))?;
    let (structures, fields) = check_bits(&workspace.target.join("doc/v3d_hw"))?;
    Ok(format!(
        "{} crates; {structures} structures of the hardware show the bits of {fields} fields",
        LIBRARIES.len() + 1
    ))
}

fn rustdoc(workspace: &Workspace) -> Command {
    let mut command = Command::new(cargo());
    command.current_dir(&workspace.root).env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--no-deps", "--quiet"]);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "`cargo doc` failed: its messages above say where");
    Ok(())
}

/// Looks at the pages of structures that have bits: each field begins with them. How many structures and fields there are.
fn check_bits(folder: &Path) -> Result<(usize, usize)> {
    let (mut structures, mut fields) = (0, 0);
    for path in pages(folder)? {
        let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if !page.contains("id=\"bits\"") {
            continue;
        }
        structures += 1;
        for section in page.split("id=\"structfield.").skip(1) {
            let name = section.split('"').next().unwrap_or_default();
            if !shows_bits(section) {
                bail!("{}: the field {name} does not show its bits", path.display());
            }
            fields += 1;
        }
    }
    ensure!(fields > 0, "there are no pages of structures with bits in {}", folder.display());
    Ok((structures, fields))
}

/// Whether the text behind a field's name begins with `Bits HI:LO.`.
fn shows_bits(section: &str) -> bool {
    let text = section.split("<p>").nth(1).and_then(|text| text.strip_prefix("Bits "));
    let range = text.and_then(|text| text.split_once('.')).and_then(|(range, _)| range.split_once(':'));
    range.is_some_and(|(high, low)| high.parse::<u32>().is_ok() && low.parse::<u32>().is_ok())
}

/// The pages of structures in a folder and those in it.
fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if name.starts_with("struct.") && name.ends_with(".html") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_first() {
        assert!(shows_bits("z\">..</span><div class=\"docblock\"><p>Bits 31:8.\nDepth.</p>"));
        assert!(!shows_bits("z\">..</span><div class=\"docblock\"><p>Depth, bits 31:8.</p>"));
        assert!(!shows_bits("z\">..</span>"));
    }
}

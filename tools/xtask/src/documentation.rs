//! `cargo xtask doc`: builds the documentation of all crates, without warnings.

use crate::no_arguments;
use crate::setup;
use crate::workspace::{KERNEL_TARGET, SHARED_FEATURES, Workspace, cargo};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "\
cargo xtask doc

Builds the documentation of all crates with rustdoc, whose warnings (broken links, for example) are errors. Checks that the
pages of v3d_hw show the bits of each field and have no broken links. Prints the pages to open in a browser.
";

/// The libraries that can also be built for the host.
const LIBRARIES: [&str; 12] = [
    "v3d-hw",
    "v3d",
    "renderer",
    "compute",
    "qpu-shaders",
    "shader-interface",
    "qpu",
    "v3d-sim",
    "v3d-host",
    "shader-build",
    "shader-compiler",
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

/// Builds all pages and checks those of `v3d_hw`; returns a remark.
pub(crate) fn build(workspace: &Workspace) -> Result<String> {
    let mut host = rustdoc(workspace);
    LIBRARIES.iter().for_each(|library| {
        host.args(["--package", library]);
    });
    run(host.arg("--lib"))?;
    run(rustdoc(workspace).args(["--package", "kernel", "--lib", "--target", KERNEL_TARGET]))?;
    let folder = workspace.target.join("doc/v3d_hw");
    let (structures, fields) = check_bits(&folder)?;
    let links = check_links(&folder)?;
    Ok(format!(
        "{} crates; {structures} structures of the hardware show the bits of {fields} fields, and {links} links of their pages lead somewhere",
        LIBRARIES.len() + 1
    ))
}

fn rustdoc(workspace: &Workspace) -> Command {
    let mut command = Command::new(cargo());
    command.current_dir(&workspace.root).env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--no-deps", "--quiet"]);
    command.args(SHARED_FEATURES);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "`cargo doc` failed: its messages above say where");
    Ok(())
}

/// Checks the pages of structures with bit fields: the text of each field starts with its bits. Returns the number of structures and fields.
fn check_bits(folder: &Path) -> Result<(usize, usize)> {
    let (mut structures, mut fields) = (0, 0);
    for path in pages(folder, &|name| name.starts_with("struct."))? {
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

/// Whether the text after a field's name starts with `Bits HI:LO.`.
fn shows_bits(section: &str) -> bool {
    let text = section.split("<p>").nth(1).and_then(|text| text.strip_prefix("Bits "));
    let range = text.and_then(|text| text.split_once('.')).and_then(|(range, _)| range.split_once(':'));
    range.is_some_and(|(high, low)| high.parse::<u32>().is_ok() && low.parse::<u32>().is_ok())
}

/// Checks that links from the pages of `v3d_hw` to other crates' pages have a target; rustdoc checks links within a crate. Returns the number of links.
///
/// Brackets that are not links, such as tags of sources, remain text in the pages: rustdoc only makes links of paths that it can resolve. A path in brackets
/// that it could not resolve would also remain text, so none is allowed.
fn check_links(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for path in pages(folder, &|_| true)? {
        let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let place = path.parent().unwrap_or(folder);
        for target in targets(&page) {
            ensure!(place.join(target).exists(), "{}: the link to {target} leads nowhere", path.display());
            count += 1;
        }
        if let Some(text) = unresolved(&page) {
            bail!("{}: {text} is no link", path.display());
        }
    }
    Ok(count)
}

/// Targets of a page's links, without fragments; links to other sites, to sources and to rustdoc's static files are left out.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    page.split("href=\"").skip(1).filter_map(|rest| {
        let target = rest.split('"').next()?.split('#').next()?;
        let elsewhere =
            target.is_empty() || target.contains("://") || target.contains("static.files/") || target.contains("/src/");
        (!elsewhere && target.ends_with(".html")).then_some(target)
    })
}

/// A path in brackets that has remained text in a page's documentation.
fn unresolved(page: &str) -> Option<&str> {
    let blocks = page.split("<div class=\"docblock").skip(1);
    let mut texts = blocks.flat_map(|block| block.split('[').skip(1)).filter_map(|rest| rest.split_once(']'));
    let is_path = |text: &str| {
        let path = text.strip_prefix("<code>").and_then(|text| text.strip_suffix("</code>"));
        path.is_some_and(|path| path.contains("::"))
    };
    texts.find(|(text, _)| is_path(text)).map(|(text, _)| text)
}

/// All pages in a folder and its subfolders whose names satisfy a condition.
fn pages(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(pages(&path, wanted)?);
        } else if wanted(name) && name.ends_with(".html") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found() {
        let page = "<a href=\"../a/index.html#b\">x</a><a href=\"https://x.org/y.html\"><a href=\"#z\"><link href=\"../static.files/s.html\">";
        assert_eq!(targets(page).collect::<Vec<_>>(), ["../a/index.html"]);
        let page = "<div class=\"docblock\"><p>[AG p.4] [<code>u8</code>] [<code>crate::no</code>]</p>";
        assert_eq!(unresolved(page), Some("<code>crate::no</code>"));
    }

    #[test]
    fn bits_come_first() {
        assert!(shows_bits("z\">..</span><div class=\"docblock\"><p>Bits 31:8.\nDepth.</p>"));
        assert!(!shows_bits("z\">..</span><div class=\"docblock\"><p>Depth, bits 31:8.</p>"));
        assert!(!shows_bits("z\">..</span>"));
    }
}

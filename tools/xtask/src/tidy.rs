//! `cargo xtask tidy`: rules for sources that the compiler does not check.
//!
//! Each rule is a function that checks all files and reports violations as sentences.

mod arrows;
mod documents;
mod packages;
mod sources;

use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

const HELP: &str = "\
cargo xtask tidy

Checks rules that the compiler does not check:
  crates depend only on allowed crates, and the kernel's crates need no std
  unsafe code is only in the listed modules
  each module starts with documentation
  lines of sources and documents have at most 160 characters, except in tables
  there are no leftovers, disabled tests, paths of one machine, or catch-all modules
  commands in documents exist, and links have targets
  packages have complete metadata, and a version for each dependency
";

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    if crate::no_arguments(arguments, HELP)? {
        return Ok(());
    }
    let workspace = Workspace::find()?;
    let mut failed = 0;
    for (name, rule) in RULES {
        match rule(&workspace) {
            Ok(()) => eprintln!("ok      {name}"),
            Err(error) => {
                failed += 1;
                eprintln!("BROKEN  {name}\n{error:#}");
            }
        }
    }
    if failed > 0 {
        bail!("{failed} of {} rules are broken", RULES.len());
    }
    Ok(())
}

/// A rule; its error has a sentence for each violation.
pub(crate) type Rule = fn(&Workspace) -> Result<()>;

/// All rules by name.
pub(crate) const RULES: [(&str, Rule); 4] = [
    ("tidy: dependency arrows", arrows::rule),
    ("tidy: sources", sources::rule),
    ("tidy: documents", documents::rule),
    ("tidy: packages", packages::rule),
];

/// A text file of the repository.
struct TextFile {
    /// Path relative to the root, with `/`.
    path: String,
    text: String,
}

/// All text files of the repository: those that git tracks, and those that it would add.
fn text_files(workspace: &Workspace) -> Result<Vec<TextFile>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&workspace.root)
        .output()
        .context("git, which lists the files of the repository, cannot be started")?;
    if !output.status.success() {
        bail!("`git ls-files` fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut files = Vec::new();
    for path in names.split('\0').filter(|name| !name.is_empty()) {
        let full: PathBuf = workspace.root.join(path);
        // Tracked files that are deleted in the work tree, links, and binary files are left out.
        if let Ok(text) = std::fs::read_to_string(&full) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    if files.is_empty() {
        bail!("git names no file of the repository");
    }
    Ok(files)
}

/// Succeeds if there are no violations, otherwise fails with all of them, one per line.
fn none(breaches: Vec<String>) -> Result<()> {
    if breaches.is_empty() {
        return Ok(());
    }
    bail!("{}", breaches.join("\n"))
}

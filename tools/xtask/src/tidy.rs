//! `cargo xtask tidy`: rules of the sources that no compiler checks.
//!
//! Each rule is a function from the tree to the sentences that say where it is broken.

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

Checks the rules that the sources keep:
  which crate may depend on which, and that the kernel's crates need no std
  unsafe code only in the modules that are named for it
  every module says at its top what it is
  lines of sources and documents are at most 160 characters long, but for tables
  nothing unfinished, nothing switched off, no path of one machine, no catch-all module
  the commands and links of the documents lead somewhere
  every package says what it is, and has a version for each package that it depends on
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

/// A rule: it fails with one sentence a breach.
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
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

/// Every text file that belongs to the repository: what git tracks, and what it would.
fn text_files(workspace: &Workspace) -> Result<Vec<TextFile>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&workspace.root)
        .output()
        .context("git, which knows the files of the repository, cannot be started")?;
    if !output.status.success() {
        bail!("`git ls-files` fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut files = Vec::new();
    for path in names.split('\0').filter(|name| !name.is_empty()) {
        let full: PathBuf = workspace.root.join(path);
        // Tracked files that are deleted in the work tree, links, and binary files have no text.
        if let Ok(text) = std::fs::read_to_string(&full) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    if files.is_empty() {
        bail!("git names no file of the repository");
    }
    Ok(files)
}

/// Succeeds if there are no breaches, otherwise fails with all of them, one a line.
fn none(breaches: Vec<String>) -> Result<()> {
    if breaches.is_empty() {
        return Ok(());
    }
    bail!("{}", breaches.join("\n"))
}

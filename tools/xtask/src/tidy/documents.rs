//! Documents: commands in them exist, and their links have targets.

use super::{TextFile, none, text_files};
use crate::workspace::Workspace;
use anyhow::Result;
use std::path::Path;

/// Checks every Markdown file.
pub(super) fn rule(workspace: &Workspace) -> Result<()> {
    let files = text_files(workspace)?;
    let mut breaches: Vec<String> = Vec::new();
    if !files.iter().any(|file| file.path == "README.md") {
        breaches.push("there is no README.md".to_owned());
    }
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        breaches.extend(check(file, |path| workspace.root.join(path).exists()));
    }
    none(breaches)
}

fn check(file: &TextFile, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let mut breaches = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let mut breach = |sentence: String| breaches.push(format!("{}:{}: {sentence}", file.path, number + 1));
        for task in tasks(line).filter(|task| !crate::task_names().any(|name| name == *task)) {
            breach(format!("there is no `cargo xtask {task}`"));
        }
        for target in links(line) {
            let path = target.split('#').next().unwrap_or(target);
            let elsewhere = target.contains("://") || path.is_empty();
            if !elsewhere && !exists(&folder.join(path)) {
                breach(format!("the link to {target} leads nowhere"));
            }
        }
    }
    breaches
}

/// The tasks in `cargo xtask TASK` on this line.
fn tasks(line: &str) -> impl Iterator<Item = &str> {
    line.split("cargo xtask ").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        Some(&rest[..end]).filter(|task| task.starts_with(|first: char| first.is_ascii_lowercase()))
    })
}

/// The targets of `[text](target)` on this line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_promises_are_found() {
        let text = "`cargo xtask run cube` and `cargo xtask fly`, `cargo xtask --help`\n\
                    [here](there.md#part) [nowhere](no.md) [web](https://x.org) [top](#top)\n";
        let file = TextFile { path: "boot/README.md".to_owned(), text: text.to_owned() };
        assert_eq!(
            check(&file, |path| path == Path::new("boot/there.md")),
            ["boot/README.md:1: there is no `cargo xtask fly`", "boot/README.md:2: the link to no.md leads nowhere",]
        );
    }
}

//! Instructions and memory of compiling the tree's shaders in the kernel, whose command `shader` marks the trace.

use super::PATIENCE;
use super::draws::marks;
use crate::far_end::qemu::{self, Qemu};
use crate::live::{self, Compilation};
use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Instructions and bytes of heap that the largest shader is to stay below.
const GOAL: (u64, u64) = (50_000_000, 16 << 20);
/// Shaders that are printed, those that take longest.
const SHOWN: usize = 5;

/// The shaders of the tree, as paths from its root.
pub(crate) fn of_the_tree(workspace: &Workspace) -> Result<Vec<String>> {
    let files = Command::new("git").args(["ls-files", "*.wgsl"]).current_dir(&workspace.root).output()?;
    let files: Vec<String> = String::from_utf8_lossy(&files.stdout).lines().map(str::to_owned).collect();
    ensure!(files.len() > 30, "git lists {} shaders", files.len());
    Ok(files)
}

/// A shader, and what compiling it takes.
struct Row {
    file: String,
    instructions: u64,
    heap_bytes: u64,
}

/// Prints what the shaders take that take most.
pub(super) fn print(workspace: &Workspace, image: &Path, plugin: &Path) -> Result<()> {
    let folder = workspace.scratch()?;
    let trace = folder.path().join("trace");
    let options = qemu::Options { trace: Some(&trace), ..qemu::Options::with_v3d(image, plugin) };
    let machine = Qemu::start(options, workspace.scratch()?)?;
    machine.console.wait_ready(Instant::now() + PATIENCE)?;
    let read = || std::fs::read_to_string(&trace).context("the plugin has written no trace");
    let mut rows = Vec::new();
    for file in of_the_tree(workspace)? {
        let path = workspace.root.join(&file);
        let before = read()?.len();
        let reply = live::send(&machine.console, &live::kernel_name(&path), &std::fs::read(&path)?)?;
        let Compilation { heap_bytes, .. } = Compilation::of(&reply.lines().with_context(|| file.clone())?)?;
        let trace = read()?;
        let marks = marks(trace.get(before..).unwrap_or_default());
        let [(_, start), (_, end)] = marks[..] else {
            anyhow::bail!("{file}: the trace has {} marks instead of two", marks.len())
        };
        rows.push(Row { file, instructions: end - start, heap_bytes });
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.instructions));
    let sum: u64 = rows.iter().map(|row| row.instructions).sum();
    println!("compiling the {} shaders of the tree in the kernel: {sum} instructions in all; most take", rows.len());
    for Row { file, instructions, heap_bytes } in rows.iter().take(SHOWN) {
        println!("  {file}: {instructions} instructions, {heap_bytes} bytes of heap");
    }
    let most = rows.iter().map(|row| row.heap_bytes).max().unwrap_or(0);
    println!("  (goal: below {} instructions and {} bytes; the most heap is {most} bytes)", GOAL.0, GOAL.1);
    Ok(())
}

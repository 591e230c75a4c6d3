//! Instructions of embedded-graphics' primitives, drawn by the GPU and by the CPU.
//!
//! The kernel's command `primitives` marks the trace around each measurement.

use super::draws;
use crate::workspace::Workspace;
use anyhow::{Result, ensure};
use std::path::Path;

/// The ratio of CPU to GPU instructions that is to be reached.
const GOAL: f64 = 10.0;
/// Marks per kind: after a first frame, and around four measurements.
const MARKS: usize = 6;

/// Instructions for a thousand primitives of a kind, or of all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    /// Drawing into embedded-graphics' own framebuffer.
    software: u64,
    /// Drawing into a target that ignores everything: embedded-graphics' decomposition of the primitives, which every target needs.
    decomposition: u64,
    /// Recording in a draw list.
    list: u64,
    /// Submitting the list as a frame.
    frame: u64,
}

impl Row {
    /// Computes them from the instruction counts at a kind's marks.
    fn of(marks: &[u64; MARKS]) -> Self {
        let [_, start, software, decomposition, list, frame] = *marks;
        Self {
            software: software - start,
            decomposition: decomposition - software,
            list: list - decomposition,
            frame: frame - list,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            software: self.software + other.software,
            decomposition: self.decomposition + other.decomposition,
            list: self.list + other.list,
            frame: self.frame + other.frame,
        }
    }

    /// The ratio of the software framebuffer's instructions to those of list and frame; and to those of the decomposition alone.
    fn times(&self) -> [f64; 2] {
        [self.list + self.frame, self.decomposition]
            .map(|instructions| self.software as f64 / instructions.max(1) as f64)
    }

    fn print(&self, what: &str) {
        let [times, most] = self.times();
        let Self { software, decomposition, list, frame } = self;
        println!(
            "{what}: {} instructions, {list} for the list and {frame} for the frame; {software} in software, {times:.1} times as many \
             (at most {most:.1} times, because embedded-graphics itself takes {decomposition})",
            list + frame
        );
    }
}

/// Prints the cost of a thousand primitives of each kind, and of all kinds.
pub(super) fn print(workspace: &Workspace, image: &Path, plugin: &Path) -> Result<()> {
    let (trace, lines) = draws::trace(workspace, image, plugin, "primitives", "")?;
    let marks: Vec<u64> = draws::marks(&trace).into_iter().map(|(_, count)| count).collect();
    let (kinds, rest) = marks.as_chunks();
    ensure!(
        rest.is_empty() && kinds.len() == lines.len() && !kinds.is_empty(),
        "{} marks are not {MARKS} for each of {} kinds",
        marks.len(),
        lines.len()
    );
    let rows: Vec<Row> = kinds.iter().map(Row::of).collect();
    for (row, line) in rows.iter().zip(&lines) {
        row.print(line.split(':').next().unwrap_or(line));
    }
    let all = rows.into_iter().fold(Row::default(), Row::and);
    all.print(&format!("all of them (goal: {GOAL} times)"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_four_parts_between_five_marks() {
        let row = Row::of(&[7, 10, 110, 130, 145, 150]);
        assert_eq!(row, Row { software: 100, decomposition: 20, list: 15, frame: 5 });
        assert_eq!(row.times(), [5.0, 5.0]);
        assert_eq!(row.and(row), Row { software: 200, decomposition: 40, list: 30, frame: 10 });
        assert_eq!(Row::default().times(), [0.0, 0.0]);
    }
}

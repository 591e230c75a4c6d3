//! A board's report: the output of the kernel's `selftest board`, and its last job as a folder.
//!
//! They show which step failed and what job the V3D had received, without access to the board.

use crate::capture;
use crate::far_end::console::Console;
use anyhow::{Context, Result};
use std::path::Path;
use std::time::{Duration, Instant};

/// Time limit for all steps, and for transferring a job's memory over a serial line.
const PATIENCE: Duration = Duration::from_secs(1800);

/// A report.
#[derive(Debug)]
pub(crate) struct Report {
    /// The output.
    pub(crate) lines: Vec<String>,
    /// The kernel's error, if a step failed.
    pub(crate) failure: Option<String>,
}

impl Report {
    /// Runs `selftest board`, and calls `each_line` for each line as it arrives, since a board may hang in the middle.
    pub(crate) fn ask(console: &Console, each_line: impl FnMut(&str)) -> Result<Self> {
        let reply = console.command("selftest", " board", Instant::now() + PATIENCE, each_line)?;
        Ok(Self { lines: reply.lines, failure: reply.result.err() })
    }

    /// Writes the output to `folder`/report.txt, and the kernel's last job, if there was one, to `folder`/job. Returns a remark about the job.
    pub(crate) fn save(&self, console: &Console, folder: &Path) -> Result<String> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join("report.txt");
        std::fs::write(&path, self.lines.join("\n") + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
        let reply = console.command("capture", "", Instant::now() + PATIENCE, |_| {})?;
        match reply.result {
            Ok(()) => capture::write_folder(reply.lines.iter().map(String::as_str), &folder.join("job")),
            Err(sentence) => Ok(format!("no job: {sentence}")),
        }
    }

    /// Number of steps that did not fail.
    pub(crate) fn steps_without_failure(&self) -> usize {
        let is_good = |line: &&String| {
            let verdict = line.strip_prefix("step ").and_then(|rest| rest.split_once(": ")).map(|(_, verdict)| verdict);
            verdict.is_some_and(|verdict| verdict.starts_with("passed, ") || verdict.starts_with("skipped, "))
        };
        self.lines.iter().filter(is_good).count()
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn verdicts_are_counted() {
        let lines = [
            "step  1: IDENT0 ...",
            "step  1: passed, 0 ms: fine",
            "step  2: FAILED, 0 ms: a bridge does not stop",
            "step  3: skipped, 0 ms: nothing there",
        ];
        let report = Report { lines: lines.map(str::to_owned).to_vec(), failure: None };
        assert_eq!(report.steps_without_failure(), 2);
    }
}

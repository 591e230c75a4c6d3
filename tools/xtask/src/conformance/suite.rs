//! What the suites of tests have in common.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The result of a case in which the program has died.
pub(super) const CRASH: &str = "Crash";

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) case: String,
    pub(super) result: String,
}

/// A build of a suite of tests.
pub(super) trait Suite: Sync {
    /// The cases that it has.
    fn cases(&self) -> Result<Vec<String>>;

    /// How many cases one process runs.
    fn cases_each(&self) -> usize;

    /// Runs cases, by a worker whose number no other has at the same time.
    fn run(&self, cases: &[String], worker: usize) -> Result<Vec<Outcome>>;
}

/// The cases in a file.
pub(super) fn read(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let cases: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    ensure!(!cases.is_empty(), "{} names no case", file.display());
    Ok(cases)
}

//! Limits of a job, and progress messages while it runs.
//!
//! The model counts instructions and records instead of time, so that a job ends the same way on every machine. The report of a job that exceeds a
//! limit says which one.

use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use v3d_sim::Config;
use v3d_sim::job::run::{FolderOutcome, run_folder};
use v3d_sim::job::{JobError, JobFolder};
use v3d_sim::qpu::EngineKind;
use v3d_sim::vcm::UndefinedElements;

/// Time after which, and interval at which, a progress message is printed.
const EACH: Duration = Duration::from_secs(5);

/// The budgets of a job.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Limits {
    /// Maximum number of QPU instructions that one list executes before it counts as endless; a user program executes at most 1,000,000,000
    #[arg(long, value_name = "N", default_value_t = Config::default().instruction_budget, value_parser = clap::value_parser!(u64).range(1..))]
    instructions: u64,
    /// Maximum number of control records, list items and vertices of one list before it counts as endless
    #[arg(long, value_name = "N", default_value_t = Config::default().record_budget, value_parser = clap::value_parser!(u64).range(1..))]
    records: u64,
    /// Let elements of a vertex batch that have no vertex be 0, and do not report what depends on them; without it they contain noise
    #[arg(long)]
    zero_undefined_elements: bool,
    /// What executes QPU programs: reference, vectors, avx2, neon or avx512; the default is the best that this host has
    #[arg(long, value_name = "KIND")]
    engine: Option<EngineKind>,
}

impl Limits {
    /// The Pi's V3D with these limits.
    pub(super) fn config(self) -> Config {
        let undefined_elements =
            if self.zero_undefined_elements { UndefinedElements::Zero } else { UndefinedElements::Noise };
        Config {
            instruction_budget: self.instructions,
            record_budget: self.records,
            undefined_elements,
            engine: self.engine.unwrap_or_default(),
            ..Config::default()
        }
    }
}

/// Runs the jobs of a folder, and keeps the memory of each; prints progress messages to standard error if it takes long.
pub(super) fn run_jobs(folder: &JobFolder, config: Config) -> Result<FolderOutcome, JobError> {
    run_jobs_by(run_folder, folder, config)
}

/// The same, by a function that runs them.
pub(super) fn run_jobs_by(
    run: fn(&JobFolder, Config) -> Result<FolderOutcome, JobError>,
    folder: &JobFolder,
    config: Config,
) -> Result<FolderOutcome, JobError> {
    let (done, is_done) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || show_life(&is_done, EACH, config, &mut std::io::stderr()));
        let outcome = run(folder, config);
        drop::<std::sync::mpsc::Sender<()>>(done);
        outcome
    })
}

/// Prints progress messages until the other end of `is_done` is dropped.
fn show_life(is_done: &Receiver<()>, each: Duration, config: Config, out: &mut impl Write) {
    let start = Instant::now();
    while is_done.recv_timeout(each) == Err(RecvTimeoutError::Timeout) {
        let Config { instruction_budget, record_budget, .. } = config;
        // Without a reader the line has no use.
        let _ = writeln!(
            out,
            "v3d: running for {:.0} s; a list ends at {instruction_budget} instructions (--instructions) or {record_budget} records \
             (--records), and Ctrl-C ends all",
            start.elapsed().as_secs_f64()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_is_shown_until_the_end() {
        let (done, is_done) = channel();
        let teller = std::thread::spawn(move || {
            let mut out = Vec::new();
            show_life(&is_done, Duration::from_millis(1), Config::default(), &mut out);
            out
        });
        std::thread::sleep(Duration::from_millis(200));
        drop(done);
        let out = teller.join().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("v3d: running for 0 s; a list ends at 5000000000 instructions"), "{text}");
    }
}

//! Jobs for the validator, which the model runs if the validator accepts them.
//!
//! They are captured jobs with some bytes changed, and generated ones.
//!
//! While a job runs, the model's memory contains only what the job may read and write, and what the driver gives to the binner when it runs out. Every access
//! beyond the job's rights is therefore a fault of the model with its address. Other faults are found too: an accepted job breaks no rule, except for those
//! that the validator's documentation lists as depending on values.
//!
//! Each case is made from bytes, which come from a fuzzer, or from a test's case number.

#![forbid(unsafe_code)]

mod captured;
mod generated;
mod mutations;

use arbitrary::{Result, Unstructured};
use captured::Captured;
use v3d_sim::Fault;

/// A kind of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Captured jobs in which some bytes are changed.
    Captures,
    /// Captured jobs with a fragment shader made up of instructions that mostly keep the rules.
    Programs,
    /// Captured jobs with a fragment shader that looks textures up, with made-up parameters.
    Lookups,
}

impl Suite {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Captures, Self::Programs, Self::Lookups];

    /// The suite's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Captures => "captures",
            Self::Programs => "programs",
            Self::Lookups => "lookups",
        }
    }
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The validator refused the job.
    Refused,
    /// The validator accepted the job, which did nothing wrong.
    Accepted,
    /// The validator accepted the job, which reported so many faults that further ones may be missing.
    Unclear,
    /// The validator accepted the job, which did something that it must not do; what.
    Escaped(String),
}

/// Most faults that the model keeps of a run.
const MAX_FAULTS: usize = 64;

/// Faults that depend on values and cannot be predicted before a job runs: parts of the model's messages.
const VALUES: [&str; 9] = [
    "is greater than the maximum of",
    "front and back facing quads of one batch",
    "cube map direction whose largest component is not 1",
    "HW-2619",
    "HW-2645",
    "a point is smaller than",
    "does not end",
    "is not at its end after as many records or instructions",
    "the list is still not at its end",
];

/// The captured jobs, loaded.
#[derive(Debug)]
pub struct Suites {
    captures: Vec<Captured>,
}

impl Suites {
    /// Loads the captures that lie beside the model's tests.
    ///
    /// # Panics
    /// If they are not there: without them there is nothing to do.
    pub fn load() -> Self {
        Self { captures: captured::load() }
    }

    /// The verdict on each captured job without changes.
    pub fn unchanged(&mut self) -> Vec<(String, Verdict)> {
        self.captures.iter_mut().map(|captured| (captured.name.clone(), verdict(captured))).collect()
    }

    /// Makes a case and tries it.
    pub fn case(&mut self, suite: Suite, u: &mut Unstructured<'_>) -> Result<Verdict> {
        let number = u.choose_index(self.captures.len())?;
        let captured = &mut self.captures[number];
        let changed = match suite {
            Suite::Captures => mutations::mutate(captured, u),
            Suite::Programs => generated::program(captured, u),
            Suite::Lookups => generated::lookups(captured, u),
        };
        let verdict = changed.map(|()| verdict(captured));
        captured.restore();
        verdict
    }
}

/// Checks a job, and runs it if it is accepted.
fn verdict(captured: &Captured) -> Verdict {
    if captured.check().is_err() {
        return Verdict::Refused;
    }
    let faults = captured.run();
    match faults.iter().map(Fault::to_string).find(|fault| !VALUES.iter().any(|value| fault.contains(value))) {
        Some(fault) => Verdict::Escaped(format!("{}: {fault}", captured.name)),
        None if faults.len() >= MAX_FAULTS => Verdict::Unclear,
        None => Verdict::Accepted,
    }
}

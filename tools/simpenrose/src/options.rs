//! The environment variables: what is reported, captured and counted.

use std::ops::RangeInclusive;
use std::path::PathBuf;

/// What the variables say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `SIMPENROSE_FAULTS`: a file for faults, to which lines are added. Without it they are written to standard error.
    pub faults: Option<PathBuf>,
    /// `SIMPENROSE_CAPTURE`: a folder for job folders.
    pub capture: Option<PathBuf>,
    /// `SIMPENROSE_CAPTURE_JOBS`: which jobs are captured.
    pub captured_jobs: CapturedJobs,
    /// `SIMPENROSE_COSTS`: a file for the cost of each job, to which lines are added.
    pub costs: Option<PathBuf>,
    /// `SIMPENROSE_THREADS=1`: without threads of its own, for a caller that runs many processes.
    pub serial: bool,
    /// `SIMPENROSE_LIMITS=1`: accesses outside of the buffers are faults.
    pub limits: bool,
    /// `SIMPENROSE_GO_ON=1`: a list that does not end counts as done for the caller, as after a reset of the V3D by Linux. Mesa's simulator aborts otherwise.
    pub go_on: bool,
    /// `SIMPENROSE_BUDGET`: the number of instructions of a list after which it counts as hung.
    pub budget: Option<u64>,
}

/// The jobs that are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturedJobs {
    /// Those with these numbers; the first is 1.
    Numbers(RangeInclusive<u32>),
    /// Those with faults, and those that do not end.
    Faulty,
}

impl Default for CapturedJobs {
    fn default() -> Self {
        Self::Numbers(1..=u32::MAX)
    }
}

/// A variable with a value that is none of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// What it takes.
    pub takes: &'static str,
}

impl Options {
    /// Reads the variables with a function that looks one up. Variables with other values than they have are left out, and returned.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> (Self, Vec<BadValue>) {
        let mut bad = Vec::new();
        let path = |variable: &str| lookup(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut parsed = |variable, takes, parse: &mut dyn FnMut(&str) -> bool| {
            if let Some(value) = lookup(variable).filter(|value| !value.is_empty())
                && !parse(&value)
            {
                bad.push(BadValue { variable, value, takes });
            }
        };
        let mut options = Self {
            faults: path("SIMPENROSE_FAULTS"),
            capture: path("SIMPENROSE_CAPTURE"),
            costs: path("SIMPENROSE_COSTS"),
            ..Self::default()
        };
        let mut flag = |variable, on: &mut bool, meaning: [&str; 2]| {
            parsed(variable, "0 or 1", &mut |value| {
                *on = value == meaning[1];
                meaning.contains(&value)
            });
        };
        flag("SIMPENROSE_LIMITS", &mut options.limits, ["0", "1"]);
        flag("SIMPENROSE_GO_ON", &mut options.go_on, ["0", "1"]);
        parsed("SIMPENROSE_THREADS", "1, or nothing for all", &mut |value| {
            options.serial = value == "1";
            options.serial
        });
        parsed("SIMPENROSE_BUDGET", "a number of instructions from 1 on", &mut |value| {
            options.budget = value.parse().ok().filter(|&budget| budget > 0);
            options.budget.is_some()
        });
        parsed("SIMPENROSE_CAPTURE_JOBS", "a number, FIRST..LAST, or faulty", &mut |value| {
            let jobs = captured_jobs(value);
            let known = jobs.is_some();
            options.captured_jobs = jobs.unwrap_or_default();
            known
        });
        (options, bad)
    }
}

fn captured_jobs(text: &str) -> Option<CapturedJobs> {
    if text == "faulty" {
        return Some(CapturedJobs::Faulty);
    }
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1..=last).contains(&first).then_some(CapturedJobs::Numbers(first..=last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> (Options, Vec<BadValue>) {
        let value =
            |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).into());
        Options::read(value)
    }

    #[test]
    fn variables_have_their_meanings() {
        assert_eq!(read(&[]), (Options::default(), Vec::new()));
        let (options, bad) = read(&[
            ("SIMPENROSE_FAULTS", "faults"),
            ("SIMPENROSE_CAPTURE", "jobs"),
            ("SIMPENROSE_CAPTURE_JOBS", "2..5"),
            ("SIMPENROSE_COSTS", "costs"),
            ("SIMPENROSE_THREADS", "1"),
            ("SIMPENROSE_LIMITS", "1"),
            ("SIMPENROSE_GO_ON", "1"),
            ("SIMPENROSE_BUDGET", "7"),
        ]);
        let expected = Options {
            faults: Some("faults".into()),
            capture: Some("jobs".into()),
            captured_jobs: CapturedJobs::Numbers(2..=5),
            costs: Some("costs".into()),
            serial: true,
            limits: true,
            go_on: true,
            budget: Some(7),
        };
        assert_eq!((options, bad), (expected, Vec::new()));
        assert!(!read(&[("SIMPENROSE_LIMITS", "0")]).0.limits);
    }

    #[test]
    fn jobs_are_numbers_or_faulty() {
        assert_eq!(captured_jobs("3"), Some(CapturedJobs::Numbers(3..=3)));
        assert_eq!(captured_jobs("faulty"), Some(CapturedJobs::Faulty));
        for wrong in ["0", "5..4", "a", "1..", "..3", "-1"] {
            assert_eq!(captured_jobs(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_values_are_told() {
        for (variable, value) in [
            ("SIMPENROSE_LIMITS", "yes"),
            ("SIMPENROSE_THREADS", "4"),
            ("SIMPENROSE_BUDGET", "0"),
            ("SIMPENROSE_CAPTURE_JOBS", "all"),
        ] {
            let (options, bad) = read(&[(variable, value)]);
            assert_eq!(options, Options::default());
            assert_eq!(
                bad.iter().map(|bad| (bad.variable, bad.value.as_str())).collect::<Vec<_>>(),
                [(variable, value)]
            );
        }
    }
}

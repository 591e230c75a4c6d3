//! dEQP-GLES2: its cases, run by its program.

use super::suite::{CRASH, Outcome, Suite};
use crate::mesa::Environment;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program in a build of VK-GL-CTS.
const IN_BUILD: [&str; 3] = ["modules/gles2/deqp-gles2", "deqp-gles2", "build/modules/gles2/deqp-gles2"];

/// Groups of cases that are left out: they measure times, or use up memory and time, and there are no expected results for them.
const MEASUREMENTS: [&str; 2] = ["dEQP-GLES2.performance.", "dEQP-GLES2.stress."];

/// A build of dEQP.
#[derive(Debug)]
pub(super) struct Deqp {
    program: PathBuf,
    environment: Environment,
    config: String,
    scratch: PathBuf,
}

impl Deqp {
    /// Finds the program in a folder, or takes the program itself.
    pub(super) fn new(build: &Path, environment: Environment, config: &str, scratch: &Path) -> Result<Self> {
        let mut candidates = std::iter::once(build.to_owned()).chain(IN_BUILD.iter().map(|place| build.join(place)));
        let program = candidates.find(|path| path.is_file());
        let program = program.with_context(|| format!("{} has no {}", build.display(), IN_BUILD[0]))?.canonicalize()?;
        Ok(Self { program, environment, config: config.to_owned(), scratch: scratch.to_owned() })
    }

    /// The program, to be started where its data are, with a frame buffer as Mesa's tests on boards have it. It needs one even to list its cases. With the
    /// surface type `fbo`, it fails by itself in some cases that use frame buffers.
    fn command(&self) -> Command {
        let mut command = self.environment.command(self.program.as_os_str());
        command.current_dir(self.program.parent().unwrap_or(Path::new(".")));
        command.arg(format!("--deqp-gl-config-name={}", self.config));
        command.args(["--deqp-surface-type=pbuffer", "--deqp-surface-width=256", "--deqp-surface-height=256"]);
        command.args(["--deqp-visibility=hidden", "--deqp-log-images=disable", "--deqp-log-shader-sources=disable"]);
        command.stdin(Stdio::null());
        command
    }
}

impl Suite for Deqp {
    fn cases(&self) -> Result<Vec<String>> {
        let output = self.command().arg("--deqp-runmode=stdout-caselist").output().context("dEQP cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let cases = text.lines().filter_map(|line| line.strip_prefix("TEST: "));
        let cases = cases.filter(|case| !MEASUREMENTS.iter().any(|group| case.starts_with(group)));
        let cases: Vec<String> = cases.map(str::to_owned).collect();
        ensure!(!cases.is_empty(), "{} lists no cases: {}", self.program.display(), complaint(&output));
        Ok(cases)
    }

    fn cases_each(&self) -> usize {
        100
    }

    /// If the program dies in a case, that one has crashed, and those behind it are run by another process.
    fn run(&self, cases: &[String], worker: usize) -> Result<Vec<Outcome>> {
        let (list, log) =
            (self.scratch.join(format!("cases-{worker}")), self.scratch.join(format!("log-{worker}.qpa")));
        let mut all = Vec::new();
        let mut left = cases.to_vec();
        while !left.is_empty() {
            fs::write(&list, left.join("\n") + "\n")?;
            let mut command = self.command();
            command
                .arg(format!("--deqp-caselist-file={}", list.display()))
                .arg(format!("--deqp-log-filename={}", log.display()));
            command.arg("--deqp-watchdog=enable");
            let output = command.output().with_context(|| format!("{} cannot be started", self.program.display()))?;
            crate::interrupt::check()?;
            let found = outcomes(&String::from_utf8_lossy(&output.stdout));
            ensure!(
                !found.is_empty(),
                "{} runs no case of {}: {}",
                self.program.display(),
                left[0],
                complaint(&output)
            );
            let is_over = found.last().is_some_and(|last| last.result != CRASH);
            all.extend(found);
            let before = left.len();
            left.retain(|case| !all.iter().any(|outcome| outcome.case == *case));
            if is_over || left.len() == before {
                break;
            }
        }
        Ok(all)
    }
}

/// What the program says about an error, or how it has ended.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().rev().find(|line| line.contains("ERROR")).map_or_else(|| output.status.to_string(), str::to_owned)
}

/// The results in the program's output.
fn outcomes(text: &str) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for line in text.lines() {
        if let Some(case) = line.strip_prefix("Test case '").and_then(|rest| rest.split('\'').next()) {
            outcomes.push(Outcome { case: case.to_owned(), result: CRASH.to_owned() });
        } else if let Some(result) = line.strip_prefix("  ").and_then(|rest| rest.split(" (").next())
            && let Some(last) = outcomes.last_mut().filter(|last| last.result == CRASH)
            && line.ends_with(')')
        {
            last.result = result.to_owned();
        }
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with dEQP's options and output, which dies in one case.
    const PROGRAM: &str = r#"#!/bin/sh
for word in "$@"; do
    case $word in
        --deqp-runmode=stdout-caselist) echo "GROUP: dEQP-GLES2.a"; echo "TEST: dEQP-GLES2.a.b"; echo "TEST: dEQP-GLES2.stress.a"; exit 0;;
        --deqp-caselist-file=*) list=${word#*=};;
    esac
done
while read -r name; do
    echo "Test case '$name'.."
    case $name in *dies) kill -9 $$;; *fails) echo "  Fail (why)";; *) echo "  Pass (Pass)";; esac
done < "$list"
"#;

    #[test]
    fn cases_behind_a_crash_are_run() {
        let folder = std::env::temp_dir().join(format!("conformance-cases-{}", std::process::id()));
        fs::create_dir_all(folder.join("modules/gles2")).unwrap();
        let program = folder.join(IN_BUILD[0]);
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let suite = Deqp::new(&folder, Environment::none(), "rgba8888d24s8ms0", &folder).unwrap();
        assert_eq!(suite.cases().unwrap(), ["dEQP-GLES2.a.b"]);
        let cases = ["one", "fails", "dies", "two", "also_dies"].map(|case| format!("dEQP-GLES2.{case}"));
        let found: Vec<String> = suite.run(&cases, 0).unwrap().into_iter().map(|outcome| outcome.result).collect();
        assert_eq!(found, ["Pass", "Fail", CRASH, "Pass", CRASH]);
        assert!(Deqp::new(&folder.join("modules"), Environment::none(), "", &folder).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn results_are_read_from_the_output() {
        let text = "Writing test log into x.qpa\n\nTest case 'dEQP-GLES2.info.vendor'..\n  Pass (Pass)\n\
            Test case 'dEQP-GLES2.a.b'..\n  Fail (Image (x) mismatch)\nTest case 'dEQP-GLES2.a.c'..\n  NotSupported (why)\n\
            Test case 'dEQP-GLES2.a.d'..\n";
        let found: Vec<(String, String)> =
            outcomes(text).into_iter().map(|outcome| (outcome.case, outcome.result)).collect();
        let expected = [("info.vendor", "Pass"), ("a.b", "Fail"), ("a.c", "NotSupported"), ("a.d", CRASH)];
        assert_eq!(found, expected.map(|(case, result)| (format!("dEQP-GLES2.{case}"), result.to_owned())));
    }
}

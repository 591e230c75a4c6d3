//! Piglit: its tests of OpenGL 2.1 and OpenGL ES 2.0, each a process.

mod profile;

use super::suite::{CRASH, Outcome, Suite};
use crate::mesa::Environment;
use anyhow::{Context, Result, bail};
use profile::Test;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

/// The program that Debian's package has.
pub(super) const INSTALLED: &str = "/usr/bin/piglit";
/// Starts a test that is ended after two minutes of the processor's time, which a busy machine does not shorten.
const LIMITED: &str = "ulimit -S -t 120; exec \"$@\"";
/// The signal that ends it then.
const SIGXCPU: i32 = 24;
/// The program that ends a test that only waits, its arguments, and the codes that it ends with then: after the signal, or after killing.
const LIMITER: (&str, [&str; 3], [i32; 2]) = ("timeout", ["-k", "10", "1800"], [124, 137]);

/// A build of piglit.
#[derive(Debug)]
pub(super) struct Piglit {
    /// Has the folders `bin` with programs, and `tests` with lists and files.
    folder: PathBuf,
    tests: Vec<Test>,
    environment: Environment,
    scratch: PathBuf,
}

impl Piglit {
    /// A build in its folder, or an installed one by its program.
    pub(super) fn new(build: &Path, mut environment: Environment, scratch: &Path) -> Result<Self> {
        let Some(folder) = folder(build) else {
            bail!(
                "{} is neither the folder of a build of piglit nor the program of an installed one (Debian: apt-get install piglit)",
                build.display()
            );
        };
        let folder = folder.canonicalize()?;
        // Some tests draw in a window, which is a buffer of GBM's here, as on boards for the tests of shaders.
        environment.set("PIGLIT_PLATFORM", "gbm");
        // Others ask EGL for its default display: without a name EGL finds out by itself which is meant.
        environment.set("EGL_PLATFORM", "");
        environment.set("WAFFLE_GBM_DEVICE", "/dev/dri/renderD128");
        environment.set("PIGLIT_SOURCE_DIR", &folder);
        Ok(Self { tests: profile::read(&folder)?, folder, environment, scratch: scratch.to_owned() })
    }
}

impl Suite for Piglit {
    fn cases(&self) -> Result<Vec<String>> {
        Ok(self.tests.iter().map(|test| name(&test.name)).collect())
    }

    /// Each is a process of its own; so few are lost by an interruption.
    fn cases_each(&self) -> usize {
        20
    }

    /// Also the results of the parts that some tests have, as `TEST@PART`.
    fn run(&self, cases: &[String], worker: usize) -> Result<Vec<Outcome>> {
        // Some tests write files where they run.
        let place = self.scratch.join(format!("piglit-{worker}"));
        fs::create_dir_all(&place)?;
        let mut all = Vec::new();
        for case in cases {
            let test = self.tests.iter().find(|test| name(&test.name) == *case || test.name == *case);
            let test = test.with_context(|| format!("piglit has no test {case} of OpenGL 2.1 or OpenGL ES 2.0"))?;
            let (program, arguments) = test.words.split_first().context("a test has no program")?;
            let program = self.folder.join("bin").join(program);
            if !program.is_file() {
                // A build leaves programs out whose libraries it does not have, but not their tests. Piglit skips them, too.
                all.push(Outcome { case: case.clone(), result: "Skip".to_owned() });
                continue;
            }
            let mut command = self.environment.command(OsStr::new(LIMITER.0));
            command.args(LIMITER.1).args(["sh", "-c", LIMITED, "sh"]).arg(program).args(arguments);
            command.envs(test.variables.iter().map(|(variable, value)| (variable, value)));
            command.current_dir(&place).stdin(Stdio::null());
            let output = command.output().with_context(|| format!("{} cannot be started", LIMITER.0))?;
            crate::interrupt::check()?;
            all.extend(outcomes(case, &String::from_utf8_lossy(&output.stdout), output.status));
        }
        Ok(all)
    }
}

/// The folder with programs and tests: `/usr/lib/x86_64-linux-gnu/piglit` for `/usr/bin/piglit`.
fn folder(build: &Path) -> Option<PathBuf> {
    let own = [Some(build), build.parent()].into_iter().flatten().map(Path::to_owned);
    let lib = build.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("lib");
    let installed =
        fs::read_dir(&lib).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path().join("piglit")));
    let mut candidates = own.chain([lib.join("piglit")]).chain(installed);
    candidates.find(|folder| folder.join("tests").is_dir() && folder.join("bin").is_dir())
}

/// The name of a test or a part in lists of results: without the characters that separate cells, as Mesa's lists write it.
fn name(case: &str) -> String {
    case.replace(',', "-").replace('\t', " ")
}

/// The results in the output of a test: of its parts, and of the whole.
fn outcomes(case: &str, output: &str, status: ExitStatus) -> Vec<Outcome> {
    let (mut parts, mut said) = (BTreeMap::new(), None);
    for line in output.lines().filter_map(|line| line.strip_prefix("PIGLIT:")) {
        let Ok(line) = serde_json::from_str::<Json>(line) else { continue };
        for (part, result) in line["subtest"].as_object().into_iter().flatten() {
            parts.insert(name(part), result_of(result));
        }
        said = line.get("result").map(result_of).or(said);
    }
    let whole = match (status.code(), said) {
        (None, _) if status.signal() == Some(SIGXCPU) => "Timeout",
        (None, _) => CRASH,
        (Some(code), _) if LIMITER.2.contains(&code) => "Timeout",
        (Some(0), Some(said)) => said,
        (Some(_), Some("Pass")) => "Warn",
        (Some(_), _) => "Fail",
    };
    let outcome = |case: String, result: &str| Outcome { case, result: result.to_owned() };
    let parts = parts.into_iter().map(|(part, result)| outcome(format!("{case}@{part}"), result));
    parts.chain([outcome(case.to_owned(), whole)]).collect()
}

/// A result by piglit's word.
fn result_of(word: &Json) -> &'static str {
    match word.as_str() {
        Some("pass") => "Pass",
        Some("skip") => "Skip",
        Some("warn") => "Warn",
        Some("crash") => CRASH,
        _ => "Fail",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    /// A test that says what it is told to, and that it runs with piglit's options.
    const PROGRAM: &str = r#"#!/bin/sh
case $* in *-auto*) ;; *) exit;; esac
case $1 in
    dies) kill -11 $$;;
    silent) exit;;
    parts) echo 'PIGLIT: {"subtest": {"GL_LINE, first": "fail"}}'; echo 'PIGLIT: {"subtest": {"second": "pass"}}'; echo 'PIGLIT: {"result": "fail"}'; exit 1;;
    *) echo 'PIGLIT: {"result": "'"$1"'"}';;
esac
"#;

    /// A build with tests whose first argument is their name.
    fn build(folder: &Path) {
        for part in ["bin", "tests"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let program = folder.join("bin/t");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        for (list, tests) in [("quick_gl", &["pass", "skip", "dies", "silent"][..]), ("quick_shader", &["parts"])] {
            let file = fs::File::create(folder.join(format!("tests/{list}.xml.gz"))).unwrap();
            let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            for test in tests {
                let command = format!(r#"<option name="command" value="['t', '{test}']" />"#);
                writeln!(packed, r#"<Test type="gl" name="spec@{test}, it">{command}</Test>"#).unwrap();
            }
            packed.finish().unwrap();
        }
    }

    #[test]
    fn each_test_is_run_and_its_parts_have_results() {
        let folder = std::env::temp_dir().join(format!("conformance-piglit-{}", std::process::id()));
        build(&folder);
        let suite = Piglit::new(&folder, Environment::none(), &folder).unwrap();
        let cases = suite.cases().unwrap();
        assert_eq!(cases, ["pass", "skip", "dies", "silent", "parts"].map(|test| format!("spec@{test}- it")));
        let found: Vec<(String, String)> =
            suite.run(&cases, 0).unwrap().into_iter().map(|outcome| (outcome.case, outcome.result)).collect();
        let expected = [
            ("pass- it", "Pass"),
            ("skip- it", "Skip"),
            ("dies- it", CRASH),
            ("silent- it", "Fail"),
            ("parts- it@GL_LINE- first", "Fail"),
            ("parts- it@second", "Pass"),
            ("parts- it", "Fail"),
        ];
        assert_eq!(found, expected.map(|(case, result)| (format!("spec@{case}"), result.to_owned())));
        assert!(suite.run(&["spec@other".to_owned()], 0).is_err());
        fs::remove_file(folder.join("bin/t")).unwrap();
        assert_eq!(suite.run(&cases[..1], 0).unwrap()[0].result, "Skip");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_status_of_the_process_counts() {
        let result = |output: &str, status: i32| {
            let outcome = outcomes("a", output, ExitStatus::from_raw(status)).pop().unwrap();
            outcome.result
        };
        let pass = "PIGLIT: {\"result\": \"pass\" }\n";
        assert_eq!(result(pass, 0), "Pass");
        assert_eq!(result(pass, 1 << 8), "Warn");
        assert_eq!(result(pass, 6), CRASH);
        assert_eq!(result("", 124 << 8), "Timeout");
        assert_eq!(result(pass, SIGXCPU), "Timeout");
        assert_eq!(result("PIGLIT: {cut\n", 0), "Fail");
    }

    #[test]
    fn the_files_of_an_installed_piglit_are_found() {
        let root = std::env::temp_dir().join(format!("conformance-installed-{}", std::process::id()));
        let sources = root.join("lib/x86_64-linux-gnu/piglit");
        fs::create_dir_all(sources.join("tests")).unwrap();
        fs::create_dir_all(sources.join("bin")).unwrap();
        fs::create_dir_all(root.join("bin")).unwrap();
        assert_eq!(folder(&root.join("bin/piglit")), Some(sources.clone()));
        assert_eq!(folder(&sources), Some(sources.clone()));
        assert_eq!(folder(&sources.join("piglit")), Some(sources));
        assert_eq!(folder(Path::new("/nothing/bin/piglit")), None);
        fs::remove_dir_all(root).unwrap();
    }
}

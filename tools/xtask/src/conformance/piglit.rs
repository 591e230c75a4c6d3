//! Piglit: its tests of OpenGL and OpenGL ES, run by its program.

use super::suite::{CRASH, Outcome, Suite};
use crate::mesa::Environment;
use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The profile: all tests but those that only compile shaders.
const PROFILE: &str = "gpu";
/// What the names of tests start with that are not of OpenGL 2.1 or OpenGL ES 2.0, but of later versions, of their extensions, or of GLX. They would only
/// skip themselves, 20,000 times.
const OTHERS: [&str; 24] = [
    "glx@",
    "spec@!opengl 3.",
    "spec@!opengl 4.",
    "spec@!opengl es 3.",
    "spec@amd_shader_trinary_minmax@",
    "spec@arb_compute_shader@",
    "spec@arb_gpu_shader",
    "spec@arb_shader_image_load_store@",
    "spec@arb_shader_storage_buffer_object@",
    "spec@arb_tessellation_shader@",
    "spec@arb_texture_gather@",
    "spec@arb_vertex_attrib_64bit@",
    "spec@ext_gpu_shader4@",
    "spec@ext_transform_feedback@",
    "spec@glsl-1.30@",
    "spec@glsl-1.40@",
    "spec@glsl-1.50@",
    "spec@glsl-3.",
    "spec@glsl-4.",
    "spec@glsl-es-3.",
    "spec@intel_",
    "spec@mesa_shader_integer_functions@",
    "spec@nv_shader_atomic_",
    "spec@nv_compute_shader_derivatives@",
];
/// The seconds after which a test is ended.
const LIMIT: &str = "120";

/// A build of piglit.
#[derive(Debug)]
pub(super) struct Piglit {
    program: PathBuf,
    environment: Environment,
    scratch: PathBuf,
}

impl Piglit {
    /// Finds the program in a folder, or takes the program itself.
    pub(super) fn new(build: &Path, mut environment: Environment, scratch: &Path) -> Result<Self> {
        let program = [build.to_owned(), build.join("piglit")].into_iter().find(|path| path.is_file());
        let program = program.with_context(|| format!("{} has no program piglit", build.display()))?.canonicalize()?;
        // Some tests draw in a window, which is a buffer of GBM's here, as on boards for the tests of shaders.
        environment.set("EGL_PLATFORM", "drm");
        environment.set("WAFFLE_GBM_DEVICE", "/dev/dri/renderD128");
        environment.set("PIGLIT_COMPRESSION", "none");
        // Without another program the quick check whether a test can be skipped answers that it can.
        environment.set("PIGLIT_NO_FAST_SKIP", "1");
        if let Some(sources) = installed_sources(&program) {
            environment.set("PIGLIT_SOURCE_DIR", sources);
        }
        Ok(Self { program, environment, scratch: scratch.to_owned() })
    }
}

impl Suite for Piglit {
    fn cases(&self) -> Result<Vec<String>> {
        // Without Mesa's variables: this draws nothing.
        let output = Command::new(&self.program).args(["print-cmd", "--format", "{name}", PROFILE]).output();
        let output = output.with_context(|| format!("{} cannot be started", self.program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let cases: Vec<String> = text.lines().filter(|name| is_asked_for(name)).map(str::to_owned).collect();
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(
            !cases.is_empty(),
            "{} lists no tests: {}",
            self.program.display(),
            complaint.lines().next_back().unwrap_or_default()
        );
        Ok(cases)
    }

    /// The program reads its profile for seconds before it begins.
    fn cases_each(&self) -> usize {
        300
    }

    /// Also the results of the parts that some tests have, as `TEST@PART`.
    fn run(&self, cases: &[String], worker: usize) -> Result<Vec<Outcome>> {
        let [list, folder] = ["cases", "results"].map(|name| self.scratch.join(format!("{name}-{worker}")));
        fs::write(&list, cases.join("\n") + "\n")?;
        let mut command = self.environment.command(self.program.as_os_str());
        command.args(["run", "--platform", "gbm", "--no-concurrency", "--overwrite", "--log-level", "quiet"]);
        command.args(["--timeout", LIMIT, "--test-list"]).arg(&list).arg(PROFILE).arg(&folder);
        let output = command.stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("{} cannot be started", self.program.display()))?;
        crate::interrupt::check()?;
        let file = folder.join("results.json");
        let text = fs::read(&file).with_context(|| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            format!("piglit has left no results: {}", complaint.lines().next_back().unwrap_or_default())
        })?;
        let results: Json = serde_json::from_slice(&text).with_context(|| format!("{} is damaged", file.display()))?;
        let found = outcomes(&results);
        for case in cases {
            ensure!(found.iter().any(|outcome| outcome.case == name(case)), "piglit has no result of {case}");
        }
        Ok(found)
    }
}

/// Where the tests' files are if piglit is installed: `/usr/lib/x86_64-linux-gnu/piglit` for `/usr/bin/piglit`. A build knows it without being told.
fn installed_sources(program: &Path) -> Option<PathBuf> {
    let prefix = program.parent()?.parent()?;
    let lib = prefix.join("lib");
    let folders = fs::read_dir(&lib).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut candidates = folders.map(|folder| folder.join("piglit")).chain([lib.join("piglit")]);
    candidates.find(|folder| folder.join("tests").is_dir())
}

/// Whether a test can be one of OpenGL 2.1 or OpenGL ES 2.0.
fn is_asked_for(case: &str) -> bool {
    !OTHERS.iter().any(|others| case.starts_with(others))
}

/// The name of a test or a part in lists of results: without the characters that separate cells, as Mesa's lists write it.
fn name(case: &str) -> String {
    case.replace(',', "-").replace('\t', " ")
}

/// The results in the program's file.
fn outcomes(results: &Json) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut add = |case: &str, result: &Json| {
        let result = match result.as_str().unwrap_or_default() {
            "pass" => "Pass",
            "skip" | "notrun" => "Skip",
            "warn" => "Warn",
            "timeout" => "Timeout",
            "crash" | "incomplete" => CRASH,
            _ => "Fail",
        };
        outcomes.push(Outcome { case: name(case), result: result.to_owned() });
    };
    for (case, test) in results["tests"].as_object().into_iter().flatten() {
        let parts = test["subtests"].as_object().into_iter().flatten();
        // The only member that is not a part.
        for (part, result) in parts.filter(|(part, _)| part.as_str() != "__type__") {
            add(&format!("{case}@{part}"), result);
        }
        add(case, &test["result"]);
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A program with piglit's options, whose every test passes but one.
    const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = print-cmd ]; then
    printf 'shaders@one\nspec@glsl-1.50@x\nspec@glsl-1.10@fails\n'
    exit
fi
while [ $# -gt 1 ]; do [ "$1" = --test-list ] && list=$2; shift; done
mkdir -p "$1"
{
    echo '{"tests": {'
    while read -r name; do
        case $name in *fails) result=fail;; *) result=pass;; esac
        echo "\"$name\": {\"result\": \"$result\"},"
    done < "$list"
    echo '"glx@none": {"result": "skip"}}}'
} > "$1/results.json"
"#;

    #[test]
    fn the_programs_results_are_read() {
        let folder = std::env::temp_dir().join(format!("conformance-piglit-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("piglit");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let suite = Piglit::new(&folder, Environment::none(), &folder).unwrap();
        let cases = suite.cases().unwrap();
        assert_eq!(cases, ["shaders@one", "spec@glsl-1.10@fails"]);
        let found = suite.run(&cases, 0).unwrap();
        let found: Vec<&str> = found.iter().map(|outcome| outcome.result.as_str()).collect();
        assert_eq!(found, ["Skip", "Pass", "Fail"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_files_of_an_installed_piglit_are_found() {
        let folder = std::env::temp_dir().join(format!("conformance-installed-{}", std::process::id()));
        let sources = folder.join("lib/x86_64-linux-gnu/piglit");
        fs::create_dir_all(sources.join("tests")).unwrap();
        assert_eq!(installed_sources(&folder.join("bin/piglit")), Some(sources));
        assert_eq!(installed_sources(&folder.join("lib/x86_64-linux-gnu/piglit")), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn parts_of_a_test_have_results_of_their_own() {
        let results = json!({ "tests": { "spec@a@b": {
            "result": "fail",
            "subtests": { "__type__": "Subtests", "GL_LINE, first": "fail", "second": "pass", "third": "notrun" },
        } } });
        let found: Vec<(String, String)> =
            outcomes(&results).into_iter().map(|outcome| (outcome.case, outcome.result)).collect();
        let expected = [
            ("spec@a@b@GL_LINE- first", "Fail"),
            ("spec@a@b@second", "Pass"),
            ("spec@a@b@third", "Skip"),
            ("spec@a@b", "Fail"),
        ];
        assert_eq!(found, expected.map(|(case, result)| (case.to_owned(), result.to_owned())));
    }
}

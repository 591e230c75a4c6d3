//! `cargo xtask test`: all checks of this repository, step by step.
//!
//! Steps on the host come first, the fastest ones at the start. Then the kernel is booted in QEMU, once for each step, and controlled over its serial console.
//! A failed step does not prevent others; the last line counts them.

mod board;
mod card;
mod coherence;
mod files_on_card;
mod firmware;
mod guest;
mod live;
mod machines;
mod other_hosts;
mod other_kernels;
mod packages;
mod report;
mod scenes;
mod triangle;

use crate::build;
use crate::documentation;
use crate::interrupt;
use crate::playground;
use crate::setup;
use crate::target_board;
use crate::tidy;
use crate::workspace::{KERNEL_TARGET, SHARED_FEATURES, Workspace, cargo};
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const HELP: &str = "\
cargo xtask test [WORDS]

Runs all steps, or those whose names contain one of WORDS (`cargo xtask test QEMU`, `cargo xtask test lints`).
Steps in QEMU need the kernel and the plugin, which are then built even if WORDS do not select them.
The last line is `N passed, N failed`; exit status 0 if none failed.

The steps:
";

/// Limit of the size of kernel8.img, which contains the models, pictures and fonts of all scenes, the lines of their shaders, and the shader compiler.
const KERNEL_LIMIT_BYTES: u64 = 9 << 20;

/// The crates that run on the Pi.
const KERNEL_CRATES: [&str; 8] =
    ["kernel", "bcm283x", "v3d-hw", "v3d", "renderer", "compute", "shader-interface", "qpu-shaders"];

/// Settings of cargo for lints. Clippy compiles the workspace's own crates that build scripts use once more; they are not optimised for that, other than
/// `asset-build`, which computes distance fields and reads pictures.
const UNOPTIMISED: [&str; 6] = [
    "--config",
    "profile.dev.package.shader-compiler.opt-level=0",
    "--config",
    "profile.dev.package.qpu.opt-level=0",
    "--config",
    "profile.dev.package.v3d-hw.opt-level=0",
];

/// A step on the host; returns a remark.
type HostStep = fn(&Workspace) -> Result<String>;

/// Steps on the host after the rules of tidy, by name.
const HOST_STEPS: &[(&str, HostStep)] = &[
    ("formatting", formatting),
    ("lints on the host", host_lints),
    ("lints on the target", target_lints),
    ("types on Windows, macOS and WebAssembly", other_hosts::check),
    ("documentation", documentation::build),
    ("host tests", host_tests),
    ("packages build alone", packages::build_alone),
    ("playground in a browser", playground::check::in_browser),
];

/// Builds for QEMU and checks of the kernel, by name.
const BUILDS: [&str; 3] = ["kernel builds", "kernel: no errata of the Cortex-A53", "QEMU plugin builds"];

/// Names of all steps, in the order in which they run.
fn names() -> impl Iterator<Item = &'static str> {
    let rules = tidy::RULES.into_iter().map(|(name, _)| name);
    let host = HOST_STEPS.iter().map(|&(name, _)| name);
    rules.chain(host).chain(BUILDS).chain(guest::STEPS.iter().map(|&(name, _)| name))
}

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let mut words = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                for name in names() {
                    eprintln!("  {name}");
                }
                return Ok(());
            }
            Value(word) => words.push(word.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    interrupt::watch()?;
    let workspace = Workspace::find()?;
    let mut steps = Steps { words, passed: 0, failed: Vec::new() };
    host(&mut steps, &workspace);
    in_qemu(&mut steps, &workspace);
    steps.finish()
}

/// Runs the steps on the host.
fn host(steps: &mut Steps, workspace: &Workspace) {
    for (name, rule) in tidy::RULES {
        steps.run(name, || rule(workspace).map(|()| String::new()));
    }
    for &(name, step) in HOST_STEPS {
        steps.run(name, || step(workspace));
    }
}

fn formatting(workspace: &Workspace) -> Result<String> {
    run_cargo(workspace, &["fmt", "--all", "--check"])
}

fn host_lints(workspace: &Workspace) -> Result<String> {
    let mut arguments = vec!["clippy", "--quiet", "--workspace", "--all-targets"];
    arguments.extend(UNOPTIMISED);
    arguments.extend(["--", "-D", "warnings"]);
    run_cargo(workspace, &arguments)
}

fn target_lints(workspace: &Workspace) -> Result<String> {
    setup::kernel_target()?;
    let lint = |selection: &[&str]| {
        let mut arguments = vec!["clippy", "--quiet", "--target", KERNEL_TARGET, "--lib", "--bins"];
        arguments.extend(UNOPTIMISED);
        arguments.extend(selection);
        arguments.extend(SHARED_FEATURES);
        arguments.extend(["--", "-D", "warnings"]);
        run_cargo(workspace, &arguments)
    };
    let crates: Vec<&str> = KERNEL_CRATES.iter().flat_map(|name| ["--package", name]).collect();
    lint(&crates)?;
    // The kernel without the shader compiler, as `cargo xtask run` builds it.
    lint(&["--package", "kernel", "--no-default-features"])
}

/// Runs the steps in QEMU.
fn in_qemu(steps: &mut Steps, workspace: &Workspace) {
    let names: Vec<&str> = BUILDS.into_iter().chain(guest::STEPS.iter().map(|&(name, _)| name)).collect();
    if !steps.any(&names) {
        return;
    }
    let mut built = Built::default();
    // All steps in QEMU need these, so they are never left out.
    let (mut code, mut plugin) = (None, None);
    steps.run_always(BUILDS[0], || {
        let (kernel, beside) = build::kernel_beside_plugin(workspace, build::ShaderCompiler::Included);
        plugin = Some(beside);
        let kernel = kernel?;
        let bytes = std::fs::metadata(&kernel.image)?.len();
        built.image = Some(kernel.image);
        code = Some((kernel.code, kernel.veneers));
        ensure!(bytes < KERNEL_LIMIT_BYTES, "kernel8.img has {bytes} bytes; it must stay below {KERNEL_LIMIT_BYTES}");
        Ok(format!("kernel8.img has {bytes} bytes"))
    });
    steps.run_always(BUILDS[1], || {
        let (code, veneers) = code.as_ref().context("there is no kernel to look through")?;
        let image = std::fs::read(built.image()?)?;
        let left = code.sequences(&image, target_board::LOAD_ADDRESS)?;
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        ensure!(left.is_empty(), "{} sequences: {}", left.len(), left.join(", "));
        Ok(format!("835769 and 843419; {veneers} multiply-accumulates were moved"))
    });
    steps.run_always(BUILDS[2], || {
        let version = setup::qemu()?;
        version.check_plugin()?;
        built.plugin = Some(plugin.context("the build was interrupted")??);
        Ok(format!("for QEMU {version}"))
    });
    for &(name, step) in guest::STEPS {
        steps.run(name, || step(workspace, &built));
    }
}

/// What has been built for QEMU.
#[derive(Default)]
struct Built {
    image: Option<PathBuf>,
    plugin: Option<PathBuf>,
}

impl Built {
    fn image(&self) -> Result<&Path> {
        self.image.as_deref().context("there is no kernel to boot")
    }

    fn plugin(&self) -> Result<&Path> {
        self.plugin.as_deref().context("there is no plugin, hence no V3D")
    }
}

/// The steps that have run so far.
struct Steps {
    words: Vec<String>,
    passed: usize,
    failed: Vec<String>,
}

impl Steps {
    fn any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.wanted(name))
    }

    fn wanted(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// Runs a step if it is selected. Its result is a remark.
    fn run(&mut self, name: &str, step: impl FnOnce() -> Result<String>) {
        if self.wanted(name) {
            self.run_always(name, step);
        }
    }

    fn run_always(&mut self, name: &str, step: impl FnOnce() -> Result<String>) {
        if interrupt::requested() {
            self.failed.push(name.to_owned());
            return;
        }
        println!("==> {name}");
        let start = Instant::now();
        let result = step();
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(remark) => {
                self.passed += 1;
                let remark = if remark.is_empty() { remark } else { format!(": {remark}") };
                println!("ok      {name} ({seconds:.1} s){remark}");
            }
            Err(error) => {
                println!("FAILED  {name} ({seconds:.1} s): {error:#}");
                self.failed.push(name.to_owned());
            }
        }
    }

    fn finish(self) -> Result<()> {
        if self.passed + self.failed.len() == 0 {
            bail!("no step has {} in its name", self.words.join(" or "));
        }
        println!();
        for name in &self.failed {
            println!("failed: {name}");
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        if !self.failed.is_empty() {
            bail!("{} of the steps failed", self.failed.len());
        }
        Ok(())
    }
}

/// Runs cargo, which prints its messages to standard error.
fn run_cargo(workspace: &Workspace, arguments: &[&str]) -> Result<String> {
    let status = Command::new(cargo())
        .args(arguments)
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be started")?;
    ensure!(status.success(), "`cargo {}` failed", arguments.join(" "));
    Ok(String::new())
}

/// Runs the tests of all crates and counts them.
fn host_tests(workspace: &Workspace) -> Result<String> {
    let mut process = Command::new(cargo())
        .args(["test", "--workspace", "--no-fail-fast"])
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cargo cannot be started")?;
    let mut bytes = Vec::new();
    process.stdout.take().context("cargo has no output")?.read_to_end(&mut bytes)?;
    let output = String::from_utf8_lossy(&bytes);
    let (passed, failed) = count_tests(&output);
    if !process.wait()?.success() {
        for line in failures(&output) {
            println!("{line}");
        }
        bail!("{failed} tests failed, {passed} passed");
    }
    ensure!(passed > 0, "not a single test ran");
    let left_out = not_executed();
    let compared: String = comparisons(&output).map(|line| format!("; {line}")).collect();
    Ok(format!("{passed} tests{compared}{left_out}"))
}

/// What translated QPU code the tests could not execute on this host, in words.
fn not_executed() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
        let avx512 = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512cd")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl");
        match (avx2, avx512) {
            (true, true) => "",
            (true, false) => "; this host has no AVX-512, so that none of them executed QPU code translated for it",
            (false, _) => "; this host has no AVX2 and FMA, so that none of them executed translated QPU code",
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        "; this host is no x86-64, so that none of them executed QPU code translated for it"
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    "; this host is neither x86-64 nor AArch64, so that none of them executed translated QPU code"
}

/// Sums up lines such as `test result: ok. 12 passed; 0 failed; ...`.
fn count_tests(output: &str) -> (u64, u64) {
    let number_before = |line: &str, word: &str| -> u64 {
        let words: Vec<&str> = line.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|&other| other == word).unwrap_or(0);
        at.checked_sub(1).and_then(|at| words[at].parse().ok()).unwrap_or(0)
    };
    output.lines().filter(|line| line.starts_with("test result: ")).fold((0, 0), |(passed, failed), line| {
        (passed + number_before(line, "passed"), failed + number_before(line, "failed"))
    })
}

/// The summaries of test suites that compare two implementations.
fn comparisons(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| line.strip_prefix("comparison: "))
}

/// The part of the tests' output that is about failures.
fn failures(output: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    output.lines().filter(move |line| {
        inside = match *line {
            "failures:" => true,
            line if line.starts_with("test result: ") => false,
            _ => inside,
        };
        inside || line.ends_with("... FAILED")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nb is wrong\n\n\
        test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
        running 3 tests\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";

    #[test]
    fn tests_are_counted() {
        assert_eq!(count_tests(OUTPUT), (4, 1));
        assert_eq!(count_tests("nothing"), (0, 0));
    }

    #[test]
    fn comparisons_are_named() {
        let output = "suite  cases\nfree  12\ncomparison: one and another on 12 programs\ntest result: ok.\n";
        assert_eq!(comparisons(output).collect::<Vec<_>>(), ["one and another on 12 programs"]);
    }

    #[test]
    fn failures_are_cut_out() {
        let lines: Vec<&str> = failures(OUTPUT).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["test b ... FAILED", "failures:", "---- b stdout ----", "b is wrong"]);
    }
}

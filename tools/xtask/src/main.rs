//! Set-up, build, run, test, image and CI of this repository: `cargo xtask TASK`.
//!
//! Each task has a file. Each task installs what it needs, so that it works in a fresh clone. Tasks print messages to standard error; standard output carries
//! the kernel's serial console only.
//!
//! `cargo xtask` is built without the feature `tasks`, so that the first picture comes soon: `run` needs half of what there is to compile. Given another task,
//! it builds itself with all tasks, and runs that.
#![forbid(unsafe_code)]
// What tasks share is used by some of them.
#![cfg_attr(not(feature = "tasks"), allow(dead_code))]

#[cfg(feature = "tasks")]
mod bench;
mod build;
#[cfg(feature = "tasks")]
mod c_kernel;
#[cfg(feature = "tasks")]
mod capture;
#[cfg(feature = "tasks")]
mod ci;
#[cfg(feature = "tasks")]
mod conformance;
#[cfg(feature = "tasks")]
mod documentation;
mod far_end;
#[cfg(feature = "tasks")]
mod foreign;
#[cfg(feature = "tasks")]
mod gallery;
#[cfg(feature = "tasks")]
mod image;
mod interrupt;
#[cfg(feature = "tasks")]
mod linux;
#[cfg(feature = "tasks")]
mod live;
#[cfg(feature = "tasks")]
mod mesa;
#[cfg(feature = "tasks")]
mod new;
mod picture;
#[cfg(feature = "tasks")]
mod playground;
#[cfg(feature = "tasks")]
mod plugin;
#[cfg(feature = "tasks")]
mod replay;
mod run;
#[cfg(feature = "tasks")]
mod selftest;
mod setup;
mod target_board;
#[cfg(feature = "tasks")]
mod test;
#[cfg(feature = "tasks")]
mod tidy;
mod watchdog;
mod whole_file;
mod workspace;

use anyhow::{Result, anyhow, bail};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK [ARGUMENTS]        (cargo xtask TASK --help describes a task)

  run       boot the kernel in QEMU, with the V3D model behind its registers, and show a scene
  test      run all checks: formatting, lints, host tests, kernel tests in QEMU, tidy
  live      send a shader to the kernel whenever its file changes, and draw with it
  gallery   save pictures and films of all scenes, a contact sheet and a page that shows them
  foreign   run other projects' kernels in QEMU with the V3D model, and show what they draw
  linux     boot Debian's Linux in QEMU with the V3D model, and run OpenGL ES programs and tests there
  mesa      run OpenGL ES programs of this machine on the model, with Mesa's vc4 driver; capture and measure their frames
  conformance  run Khronos' tests of OpenGL ES 2 that way, and compare the results with what is expected
  new       write a crate of your own that draws a scene, outside of this repository
  image     write a bootable SD card image for a Raspberry Pi 3
  setup     install what the other tasks need: the bare-metal Rust target and QEMU (each task also does this itself)
  build     build kernel8.img and the QEMU plugin, and print their paths
  plugin    write the QEMU plugin and a README of its own into a folder
  playground  build the page in which one writes shaders and steps through them, as a folder for any web server
  capture   save a job of a running kernel as a folder that `v3d replay` runs
  replay    run a job folder on a kernel, in QEMU or on a board, and compare the result with the model's
  selftest  compare the V3D, in the model or on a board, with recorded results
  bench     measure the kernel: its size, and the instructions and time per frame
  c-kernel  build the kernel in C from the header and the library of the C interface
  doc       build the documentation of all crates
  tidy      check rules for sources: dependencies, unsafe code, documentation
  ci        run the steps of continuous integration

Environment:
  QEMU=PROGRAM   the qemu-system-aarch64 to use instead of the one in the PATH

To start:
  cargo xtask run
  cargo xtask test
";

/// The function of a task.
type Task = fn(lexopt::Parser) -> Result<()>;

/// The tasks that are always there, by name.
const TASKS: [(&str, Task); 3] = [("run", run::task), ("setup", setup::task), ("build", build::task)];

/// The other tasks.
#[cfg(feature = "tasks")]
const OTHER_TASKS: [(&str, Task); 19] = [
    ("test", test::task),
    ("live", live::task),
    ("gallery", gallery::task),
    ("foreign", foreign::task),
    ("linux", linux::task),
    ("mesa", mesa::task),
    ("conformance", conformance::task),
    ("new", new::task),
    ("image", image::task),
    ("capture", capture::task),
    ("plugin", plugin::task),
    ("playground", playground::task),
    ("replay", replay::task),
    ("selftest", selftest::task),
    ("bench", bench::task),
    ("c-kernel", c_kernel::task),
    ("doc", documentation::task),
    ("tidy", tidy::task),
    ("ci", ci::task),
];

/// The names of all tasks.
#[cfg(feature = "tasks")]
fn task_names() -> impl Iterator<Item = &'static str> {
    TASKS.iter().chain(&OTHER_TASKS).map(|&(name, _)| name)
}

fn main() -> ExitCode {
    match dispatch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> Result<()> {
    let mut arguments = lexopt::Parser::from_env();
    let task = match arguments.next()? {
        Some(lexopt::Arg::Value(task)) => task.to_string_lossy().into_owned(),
        None | Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => {
            eprint!("{HELP}");
            return Ok(());
        }
        Some(other) => bail!("{}; the first argument is a task, see `cargo xtask --help`", other.unexpected()),
    };
    if task == "help" {
        eprint!("{HELP}");
        return Ok(());
    }
    match TASKS.iter().find(|(name, _)| *name == task) {
        Some((_, run)) => run(arguments),
        None => other_task(&task, arguments),
    }
}

/// The error of a task that does not exist.
fn no_task(task: &str) -> anyhow::Error {
    anyhow!("there is no task \"{task}\"; see `cargo xtask --help`")
}

/// Whether the help describes a task.
#[cfg(any(test, not(feature = "tasks")))]
fn is_described(task: &str) -> bool {
    HELP.lines().any(|line| line.starts_with("  ") && line.split_whitespace().next() == Some(task))
}

/// Runs one of the other tasks.
#[cfg(feature = "tasks")]
fn other_task(task: &str, arguments: lexopt::Parser) -> Result<()> {
    match OTHER_TASKS.iter().find(|(name, _)| *name == task) {
        Some((_, run)) => run(arguments),
        None => Err(no_task(task)),
    }
}

/// Builds the program with all tasks, and becomes it.
#[cfg(not(feature = "tasks"))]
fn other_task(task: &str, mut arguments: lexopt::Parser) -> Result<()> {
    if !is_described(task) {
        return Err(no_task(task));
    }
    let mut cargo = std::process::Command::new(workspace::cargo());
    cargo.args(["run", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--", task]);
    cargo.args(arguments.raw_args()?);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(anyhow::Error::from(cargo.exec()).context("cargo cannot be started"))
    }
    #[cfg(not(unix))]
    {
        let status = cargo.status()?;
        std::process::exit(status.code().unwrap_or(1));
    }
}

/// Parses the arguments of a task that has none but `--help`. Returns whether help was requested and printed.
fn no_arguments(mut arguments: lexopt::Parser, help: &str) -> Result<bool> {
    match arguments.next()? {
        None => Ok(false),
        Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => {
            eprint!("{help}");
            Ok(true)
        }
        Some(other) => Err(other.unexpected().into()),
    }
}

#[cfg(all(test, feature = "tasks"))]
mod tests {
    use super::*;

    #[test]
    fn the_help_describes_each_task_and_no_other() {
        for name in task_names() {
            assert!(is_described(name), "{name}");
        }
        assert!(!is_described("tests") && !is_described("") && !is_described("other"));
    }
}

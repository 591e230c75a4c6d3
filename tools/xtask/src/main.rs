//! Set-up, build, run, test, image and CI of this repository: `cargo xtask TASK`.
//!
//! One file a task. Every task does its own set-up first, so that each works in a fresh clone. What a task says about
//! itself goes to standard error; standard output carries the kernel's serial console and nothing else.
#![forbid(unsafe_code)]

mod bench;
mod board;
mod board_report;
mod build;
mod capture;
mod ci;
mod console;
mod documentation;
mod erratum;
mod far_end;
mod gallery;
mod image;
mod interrupt;
mod kernel_image;
mod picture;
mod qemu;
mod qmp;
mod replay;
mod run;
mod selftest;
mod setup;
mod span;
mod target_board;
mod terminal;
mod test;
mod tidy;
mod watchdog;
mod whole_file;
mod workspace;

use anyhow::{Result, bail};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK [ARGUMENTS]        (each TASK explains itself with --help)

  run       boot the kernel in QEMU, with the V3D model behind its registers, and show a scene
  test      everything that keeps this repository right: formatting, lints, host tests, kernel tests in QEMU, tidy
  gallery   keep every scene's picture, films of them, a contact sheet and a page that shows them
  image     write a bootable SD card image for a Raspberry Pi 3
  setup     install what the other tasks need: the bare-metal Rust target and QEMU (they do it themselves, too)
  build     build kernel8.img and the QEMU plugin, and say where they are
  capture   fetch a job from a running kernel over its serial line into a job folder that `v3d replay` runs
  replay    run a job folder on a kernel, in QEMU or on a board, and compare what it stores with the model's result
  selftest  compare the V3D, the model's or a board's, with recorded results, and save what came out
  bench     measure the kernel: its size, and the instructions and time that it takes to draw
  doc       build the documentation of all crates, without a warning
  tidy      check the rules that the sources keep (dependency arrows, unsafe code, documentation)
  ci        do what continuous integration does

Environment:
  QEMU=PROGRAM   the qemu-system-aarch64 to use, if it is not the one in the PATH

The first two to try:
  cargo xtask run
  cargo xtask test
";

/// What a task does with its arguments.
type Task = fn(lexopt::Parser) -> Result<()>;

/// All tasks by name.
const TASKS: [(&str, Task); 13] = [
    ("run", run::task),
    ("test", test::task),
    ("gallery", gallery::task),
    ("image", image::task),
    ("setup", setup::task),
    ("build", build::task),
    ("capture", capture::task),
    ("replay", replay::task),
    ("selftest", selftest::task),
    ("bench", bench::task),
    ("doc", documentation::task),
    ("tidy", tidy::task),
    ("ci", ci::task),
];

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
        Some(other) => bail!("{}; a task comes first, see `cargo xtask --help`", other.unexpected()),
    };
    if task == "help" {
        eprint!("{HELP}");
        return Ok(());
    }
    match TASKS.iter().find(|(name, _)| *name == task) {
        Some((_, run)) => run(arguments),
        None => bail!("there is no task \"{task}\"; see `cargo xtask --help`"),
    }
}

/// Reads the arguments of a task that has none but `--help`. `true` means that help was asked for and given.
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

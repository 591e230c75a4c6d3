//! Set-up, build, run, test, image and CI of this repository: `cargo xtask TASK`.
//!
//! Each task has a file. Each task installs what it needs, so that it works in a fresh clone. Tasks print messages to standard error; standard output carries
//! the kernel's serial console only.
#![forbid(unsafe_code)]

mod bench;
mod build;
mod c_kernel;
mod capture;
mod ci;
mod conformance;
mod documentation;
mod far_end;
mod foreign;
mod gallery;
mod image;
mod interrupt;
mod linux;
mod live;
mod mesa;
mod new;
mod picture;
mod playground;
mod plugin;
mod replay;
mod run;
mod selftest;
mod setup;
mod target_board;
mod test;
mod tidy;
mod watchdog;
mod whole_file;
mod workspace;

use anyhow::{Result, bail};
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

/// All tasks by name.
const TASKS: [(&str, Task); 22] = [
    ("run", run::task),
    ("test", test::task),
    ("live", live::task),
    ("gallery", gallery::task),
    ("foreign", foreign::task),
    ("linux", linux::task),
    ("mesa", mesa::task),
    ("conformance", conformance::task),
    ("new", new::task),
    ("image", image::task),
    ("setup", setup::task),
    ("build", build::task),
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
        None => bail!("there is no task \"{task}\"; see `cargo xtask --help`"),
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

//! `cargo xtask mesa`: Mesa's vc4 driver with the model behind it, and programs that draw with it.

mod costs;
mod environment;
mod install;

use crate::interrupt;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
pub(crate) use environment::Environment;
pub(crate) use install::Release;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

const HELP: &str = "\
cargo xtask mesa setup [--release 12|13] [--mesa DIR]
cargo xtask mesa run [OPTIONS] PROGRAM [ARGUMENTS]
cargo xtask mesa capture -o DIR [--jobs FIRST..LAST|faulty] [OPTIONS] PROGRAM [ARGUMENTS]
cargo xtask mesa stats [OPTIONS] PROGRAM [ARGUMENTS]

Runs OpenGL ES programs of this machine on the model of the V3D: Mesa's vc4 driver compiles their shaders and writes their control
lists as on a Raspberry Pi, and the model executes them, without a kernel, a board or an emulator in between.

  setup     builds Debian's Mesa with the model behind it, in target/mesa. It says first what it needs, takes half an hour on two
            cores, and goes on where it was interrupted. On Debian 12, Mesa 25 is built with Debian 13's meson, also in target/mesa
  run       runs a program. It must draw without a window: EGL's surfaceless platform, or GBM. Faults that the model finds in its
            jobs are written to standard error
  capture   saves each job of a program (a job is one submission to the V3D, usually a frame) as a folder that `v3d replay`,
            `dump`, `stats` and `debug` take
  stats     prints what each frame would cost on a chip, and each program of the QPUs: instructions, modelled cycles, what bounds it

PROGRAM may be tools/v3d-sim/peer/frames, whose source is in this repository: it is then built first.

  --release N       the release of Debian whose Mesa is used: 12 has 22.3.6, 13 has 25.0.7 (default 12)
  --mesa DIR        sources of Mesa that are already there, instead of Debian's; target/mesa/own is then their build
  --own             run with that build
  --limits          every access outside of Mesa's buffers is a fault; slower
  --jobs WHICH      which jobs are captured: a number, FIRST..LAST, or `faulty` (default: all)
  -o DIR            the folder for the jobs; it must not exist

To start:
  cargo xtask mesa setup
  cargo xtask mesa run tools/v3d-sim/peer/frames gears_640 5
";

/// The scenes of `peer/frames`, whose names there end in `_640`.
const SCENES: [&str; 5] = ["gears", "lit_textured", "overdraw", "big_triangles", "heavy_fragments"];

/// The program that is built from this repository, without its extension.
const FRAMES: &str = "tools/v3d-sim/peer/frames";

/// What is to be done.
#[derive(Debug, PartialEq)]
enum Action {
    Setup { sources: Option<PathBuf> },
    Run,
    Capture { folder: PathBuf, jobs: Option<String> },
    Stats,
}

#[derive(Debug, PartialEq)]
struct Options {
    action: Action,
    release: Release,
    limits: bool,
    program: Vec<OsString>,
}

impl Options {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let see = "see `cargo xtask mesa --help`";
        let verb = match arguments.next()? {
            None | Some(Long("help") | Short('h')) => return Ok(None),
            Some(Value(verb)) => verb.string()?,
            Some(other) => bail!("{}; the first argument is setup, run, capture or stats, {see}", other.unexpected()),
        };
        let (mut release, mut sources, mut own, mut limits) = (Release::Debian12, None, false, false);
        let (mut folder, mut jobs, mut program) = (None, None, Vec::new());
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("release") => release = Release::parse(&arguments.value()?.string()?)?,
                Long("mesa") => sources = Some(PathBuf::from(arguments.value()?)),
                Long("own") => own = true,
                Long("limits") => limits = true,
                Long("jobs") => jobs = Some(arguments.value()?.string()?),
                Short('o') => folder = Some(PathBuf::from(arguments.value()?)),
                Value(name) => {
                    program.push(name);
                    program.extend(arguments.raw_args()?);
                }
                other => return Err(other.unexpected().into()),
            }
        }
        if own || sources.is_some() {
            release = Release::Own;
        }
        let action = match verb.as_str() {
            "setup" => Action::Setup { sources },
            "run" => Action::Run,
            "stats" => Action::Stats,
            "capture" => Action::Capture { folder: folder.take().context("capture needs -o DIR")?, jobs: jobs.take() },
            other => bail!("there is no {other}; it is setup, run, capture or stats, {see}"),
        };
        ensure!(folder.is_none() && jobs.is_none(), "-o and --jobs are for capture, {see}");
        let is_setup = matches!(action, Action::Setup { .. });
        ensure!(is_setup == program.is_empty(), "run, capture and stats take a program, and setup none, {see}");
        Ok(Some(Self { action, release, limits, program }))
    }
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    let workspace = Workspace::find()?;
    interrupt::watch()?;
    if let Action::Setup { sources } = &options.action {
        return install::setup(&workspace, options.release, sources.as_deref());
    }
    let mut environment = Environment::of(&workspace, options.release)?;
    if options.limits {
        environment.set("SIMPENROSE_LIMITS", "1");
    }
    let program = program(&workspace, &options.program)?;
    match &options.action {
        Action::Capture { folder, jobs } => {
            ensure!(
                !folder.exists(),
                "{} exists, and a capture overwrites nothing: give another name",
                folder.display()
            );
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            environment.set("SIMPENROSE_CAPTURE", folder.canonicalize()?);
            if let Some(jobs) = jobs {
                environment.set("SIMPENROSE_CAPTURE_JOBS", jobs);
            }
            let status = environment.run(&program)?;
            let mut jobs = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
            jobs.sort();
            if let Some(first) = jobs.first() {
                let replay = "cargo run --release -p v3d-sim --bin v3d -- replay";
                eprintln!("{} jobs: {replay} {}", jobs.len(), first.display());
            } else {
                eprintln!("no job was captured");
            }
            succeeded(status)
        }
        Action::Stats => {
            let scratch = workspace.scratch()?;
            let file = scratch.path().join("costs");
            environment.set("SIMPENROSE_COSTS", &file);
            let status = environment.run(&program)?;
            let lines = std::fs::read_to_string(&file).unwrap_or_default();
            print!("{}", costs::tables(&lines)?);
            succeeded(status)
        }
        Action::Run | Action::Setup { .. } => succeeded(environment.run(&program)?),
    }
}

fn succeeded(status: ExitStatus) -> Result<()> {
    ensure!(status.success(), "the program ended with {status}");
    Ok(())
}

/// The program and its arguments; one of this repository is built.
fn program(workspace: &Workspace, words: &[OsString]) -> Result<Vec<OsString>> {
    let Some((name, arguments)) = words.split_first() else { bail!("there is no program to run") };
    let source = workspace.root.join(FRAMES).with_extension("c");
    let is_frames = Path::new(name).ends_with(FRAMES) || Path::new(name) == workspace.root.join(FRAMES);
    if !is_frames || Path::new(name).is_file() {
        return Ok(words.to_vec());
    }
    let built = workspace.target.join("mesa/frames");
    install::compile_c(&source, &built, &["-lEGL", "-lGLESv2", "-lm"])?;
    let full_name = |word: &OsString| {
        let scene = SCENES.iter().find(|scene| word == *scene);
        scene.map_or_else(|| word.clone(), |scene| OsString::from(format!("{scene}_640")))
    };
    Ok(std::iter::once(built.into_os_string()).chain(arguments.iter().map(full_name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>> {
        Options::parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn a_programs_arguments_are_its_own() {
        let options = parse(&["run", "--limits", "frames", "--limits", "-o", "5"]).unwrap().unwrap();
        assert_eq!(options.action, Action::Run);
        assert!(options.limits);
        assert_eq!(options.program, ["frames", "--limits", "-o", "5"]);
        let options = parse(&["capture", "-o", "jobs", "--jobs=2..3", "--release", "13", "x"]).unwrap().unwrap();
        assert_eq!(options.action, Action::Capture { folder: "jobs".into(), jobs: Some("2..3".into()) });
        assert_eq!(options.release, Release::Debian13);
        let options = parse(&["setup", "--mesa", "there"]).unwrap().unwrap();
        assert_eq!((options.action, options.release), (Action::Setup { sources: Some("there".into()) }, Release::Own));
        assert_eq!(parse(&[]).unwrap(), None);
        assert_eq!(parse(&["stats", "--help"]).unwrap(), None);
    }

    #[test]
    fn what_is_wrong_with_an_argument_is_told() {
        for (arguments, part) in [
            (&["draw", "x"][..], "there is no draw; it is setup, run, capture or stats"),
            (&["run"], "run, capture and stats take a program"),
            (&["setup", "x"], "setup none"),
            (&["capture", "x"], "capture needs -o DIR"),
            (&["run", "-o", "there", "x"], "-o and --jobs are for capture"),
            (&["setup", "--release", "11"], "Debian 12 and 13"),
        ] {
            let message = format!("{:#}", parse(arguments).unwrap_err());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

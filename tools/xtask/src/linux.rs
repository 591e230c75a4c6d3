//! `cargo xtask linux`: Debian's kernel and Mesa on QEMU's Raspberry Pi 3 with the V3D.

mod archive;
mod guest;
mod install;
mod libraries;
mod modules;
mod programs;
mod test;
mod window_system;

use crate::interrupt;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use guest::{Guest, Plugin};
use install::Release;
use lexopt::prelude::*;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

const HELP: &str = "\
cargo xtask linux setup [--release 12|13]
cargo xtask linux run [OPTIONS] [PROGRAM [ARGUMENTS]]
cargo xtask linux shell [OPTIONS] [FILE...]
cargo xtask linux test [OPTIONS] [--boots N] [STEP...]

Boots Debian's kernel, unmodified and with its own device tree, on QEMU's raspi3b with the V3D and a display behind it, and draws with
Mesa's vc4 driver: on the screen, or without one (EGL's surfaceless platform).

  setup   downloads Debian's kernel, Mesa and a small system for arm64 into target/linux: 200 MB, 900 MB unpacked, a minute or two.
          It installs mmdebstrap and a C compiler for arm64, if it may. Nothing of Debian is changed
  run     boots, runs PROGRAM, and brings what it leaves in /out back into the folder of -o. PROGRAM is a file for arm64, or the
          name of a program that Debian's packages have, whose data comes along. Without one, tools/qemu-v3d/guest/draw.c draws gears
          and a textured cube. kmscube, and es2gears in a window of Weston, draw on the screen, of which pictures are taken
  shell   boots, and gives the serial console with a shell; Ctrl-A X ends QEMU. FILEs are put into /usr/bin
  test    draws with the V3D and with softpipe in the same guest, and compares the pictures; then hang and recovery, overflow memory,
          power management, performance counters, two processes at once, 4x multisampling, the screen, the text console on it, and boots

  --release N     Debian 12 (Linux 6.1, Mesa 22.3.6) or 13 (Linux 6.12, Mesa 25.0.7) (default 12)
  -o DIR          the folder for what comes back (default target/linux/out)
  --capture DIR   each job that the guest starts as a folder that `v3d replay`, `dump`, `stats` and `debug` take
  --faulty        with --capture: only jobs in which the model finds faults
  --trace FILE    all accesses to the V3D's registers
  --cpus N        processors that Linux uses (default 1: the others would wait busily)
  --screen N      with run: a picture of the screen every N seconds while PROGRAM runs, unless it is dark
  --display MODE  the mode that the screen prefers: 640x480, 800x600, 1024x768, 1280x720 (default) or 1920x1080; or off
  --text          Linux shows a text console on the screen
  --window        QEMU shows the screen in a window
  --boots N       how many boots the test's step `boots` makes (default 20)

To start:
  cargo xtask linux setup
  cargo xtask linux run
  cargo xtask linux run kmscube
  cargo xtask linux run es2gears
  cargo xtask linux run glmark2-es2-drm --off-screen -s 256x256 -b texture:duration=5
";

/// What the default program draws: a picture of each tenth frame.
const DEFAULT_SCENES: [&str; 2] = ["gears:31:10", "textured:31:10"];

/// A program that draws on the screen.
struct OnScreen {
    name: &'static str,
    /// The file, and the words that start it if there are no others, so that it ends.
    file: &'static str,
    words: &'static [&'static str],
    /// Seconds between two pictures of the screen.
    every: u32,
    /// It is a program of the window system.
    has_window: bool,
}

const ON_SCREEN: [OnScreen; 2] = [
    OnScreen { name: "kmscube", file: "kmscube", words: &["kmscube", "-c", "100"], every: 5, has_window: false },
    OnScreen {
        name: "es2gears",
        file: "es2gears_wayland",
        words: &["sh", "-c", "timeout 30 es2gears_wayland; true"],
        every: 5,
        has_window: true,
    },
];

/// What is to be done.
#[derive(Debug, PartialEq)]
enum Action {
    Setup,
    Run { program: Vec<OsString> },
    Shell { files: Vec<PathBuf> },
    Test { steps: Vec<String> },
}

#[derive(Debug, PartialEq)]
struct Options {
    action: Action,
    release: Release,
    folder: Option<PathBuf>,
    plugin: Plugin,
    cpus: u32,
    boots: u32,
    /// Seconds between two pictures of the screen.
    screen: Option<u32>,
    text: bool,
    window: bool,
}

impl Options {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let see = "see `cargo xtask linux --help`";
        let verb = match arguments.next()? {
            None | Some(Long("help") | Short('h')) => return Ok(None),
            Some(Value(verb)) => verb.string()?,
            Some(other) => bail!("{}; the first argument is setup, run, shell or test, {see}", other.unexpected()),
        };
        let mut options = Self {
            action: Action::Setup,
            release: Release::Debian12,
            folder: None,
            plugin: Plugin::default(),
            cpus: 1,
            boots: 20,
            screen: None,
            text: false,
            window: false,
        };
        let mut words: Vec<OsString> = Vec::new();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("release") => options.release = Release::parse(&arguments.value()?.string()?)?,
                Short('o') => options.folder = Some(arguments.value()?.into()),
                Long("capture") => options.plugin.capture = Some(std::path::absolute(arguments.value()?)?),
                Long("faulty") => options.plugin.faulty_alone = true,
                Long("trace") => options.plugin.trace = Some(std::path::absolute(arguments.value()?)?),
                Long("cpus") => options.cpus = arguments.value()?.parse()?,
                Long("screen") => options.screen = Some(arguments.value()?.parse()?),
                Long("display") => options.plugin.display = Some(arguments.value()?.string()?),
                Long("text") => options.text = true,
                Long("window") => options.window = true,
                Long("boots") => options.boots = arguments.value()?.parse()?,
                Value(word) => {
                    words.push(word);
                    if verb == "run" {
                        words.extend(arguments.raw_args()?);
                    }
                }
                other => return Err(other.unexpected().into()),
            }
        }
        ensure!((1..=4).contains(&options.cpus), "--cpus takes 1 to 4, as a Raspberry Pi 3 has four");
        ensure!(
            !options.plugin.faulty_alone || options.plugin.capture.is_some(),
            "--faulty belongs to --capture DIR, {see}"
        );
        let texts = |words: Vec<OsString>| words.into_iter().map(|word| word.string()).collect::<Result<Vec<_>, _>>();
        options.action = match verb.as_str() {
            "setup" => Action::Setup,
            "run" => Action::Run { program: words.split_off(0) },
            "shell" => Action::Shell { files: words.split_off(0).into_iter().map(PathBuf::from).collect() },
            "test" => Action::Test { steps: texts(words.split_off(0))? },
            other => bail!("there is no {other}; it is setup, run, shell or test, {see}"),
        };
        ensure!(words.is_empty(), "setup takes no other arguments, {see}");
        Ok(Some(options))
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
    if options.action == Action::Setup {
        return install::setup(&workspace, options.release);
    }
    let system = install::System::of(&workspace, options.release)?;
    let mut guest = Guest {
        workspace: &workspace,
        system: &system,
        cpus: options.cpus,
        text: options.text,
        window: options.window,
        window_system: false,
    };
    let folder = options.folder.unwrap_or_else(|| workspace.target.join("linux/out"));
    match options.action {
        Action::Setup => Ok(()),
        Action::Shell { files } => guest.shell(&options.plugin, &files),
        Action::Test { steps } => test::run(&guest, &options.plugin, &folder, &steps, options.boots),
        Action::Run { program } => {
            let (mut files, mut words, mut screen) = (Vec::new(), Vec::new(), options.screen);
            match program.split_first() {
                None => {
                    files.push(programs::own(&workspace, &system, "draw")?);
                    words.extend(["draw", "/out"].map(str::to_owned));
                    words.extend(DEFAULT_SCENES.map(str::to_owned));
                }
                Some((name, arguments)) => {
                    let known = ON_SCREEN.iter().find(|known| name == known.name);
                    let (file, word) = programs::named(&system, known.map_or(name, |known| OsStr::new(known.file)))?;
                    files.extend(file);
                    words.push(word);
                    words.extend(arguments.iter().map(|word| word.to_string_lossy().into_owned()));
                    if let Some(known) = known {
                        screen.get_or_insert(known.every);
                        guest.window_system = known.has_window;
                        if arguments.is_empty() {
                            words = known.words.iter().map(|word| (*word).to_owned()).collect();
                        }
                    }
                }
            }
            let watch = screen.map_or_else(String::new, |every| format!("watch {every} "));
            let before = if guest.window_system { "window_system\n" } else { "" };
            let job = format!("{before}part program {watch}{}\nsend /out/*\n", guest::quoted(&words));
            let outcome = guest.run(&options.plugin, &files, &job, guest::Shown::Everything)?;
            outcome.save(&folder)?;
            let part = outcome.parts.first().context("the guest has not started the program")?;
            ensure!(part.status == Some(0), "the program ended with status {}", part.status_text());
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>> {
        Options::parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn a_programs_arguments_are_its_own() {
        let options = parse(&["run", "--release", "13", "kmscube", "-o", "x", "--faulty"]).unwrap().unwrap();
        let program = ["kmscube", "-o", "x", "--faulty"].map(OsString::from).to_vec();
        assert_eq!((options.action, options.release), (Action::Run { program }, Release::Debian13));
        let options = parse(&["test", "--boots", "2", "boots", "hang"]).unwrap().unwrap();
        assert_eq!(options.action, Action::Test { steps: vec!["boots".to_owned(), "hang".to_owned()] });
        assert_eq!((options.boots, options.cpus), (2, 1));
        assert_eq!(parse(&[]).unwrap(), None);
    }

    #[test]
    fn what_is_wrong_with_an_argument_is_told() {
        for (arguments, part) in [
            (&["boot"][..], "there is no boot; it is setup, run, shell or test"),
            (&["setup", "x"], "setup takes no other arguments"),
            (&["run", "--cpus", "5"], "--cpus takes 1 to 4"),
            (&["run", "--screen", "now"], "now"),
            (&["run", "--faulty"], "--faulty belongs to --capture"),
            (&["run", "--release", "11"], "Debian 12 and 13"),
        ] {
            let message = format!("{:#}", parse(arguments).unwrap_err());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
}

//! `cargo xtask run`: boots the kernel and shows a scene.

pub(crate) mod frame_rate;
pub(crate) mod gpu_cycles;

use self::frame_rate::{FrameRate, Table};
use crate::build::{self, ShaderCompiler};
use crate::far_end::board;
use crate::far_end::card::Card;
use crate::far_end::console::{Console, FrameLine};
use crate::far_end::qemu::{self, Lens, Qemu};
use crate::far_end::terminal::{Actions, CONTROL_C, SingleKeys};
use crate::interrupt;
use crate::setup;
use crate::whole_file;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use lexopt::prelude::*;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask run [SCENE] [OPTIONS]

Boots the kernel in QEMU's raspi3b, with the V3D model behind its registers, and runs SCENE (default: water). The kernel's
command `scene list` prints all scenes; `all` runs them in turn, and prints a table of their frames a second beside what the
chip is estimated to reach.

With a display, a window shows the scene until it is closed. The terminal, if there is one, is the kernel's shell: type `help`;
Ctrl-T saves the screen as a PNG file; Ctrl-C ends the scene, and the run if there is none. Keys are typed there, not in the
window: the kernel reads the serial line only. With --headless or --frames, or with neither a display nor a terminal, the scene
draws a number of frames and the run ends.

  --headless          no window and, without --shell, no shell: for scripts
  --shell             use the kernel's shell on this terminal
  --frames N          draw N frames, then end (default 3)
  --compiler          build the kernel with the shader compiler, for its commands `shader` and `scene load`: the first build takes
                      half as long again. For the scene live and for `all` it is always built so
  --screenshot FILE   save the screen as a PNG file, after the last frame or when Ctrl-T is pressed
  --timeout SECONDS   time limit for boot or a scene (default 300, plus 2 per frame)
  --serial FILE       also write the kernel's output to FILE
  --trace FILE        write all accesses to V3D registers to FILE, with the number of instructions executed before
  --coherence         report what works in QEMU and fails on a board because of caches: data that a cache of the V3D may hold in
                      an older state, shared memory that the CPU caches, missing barriers; several times slower
  --engine KIND       what executes shaders on this machine: reference, vectors, avx2, neon or avx512; the default is the fastest
                      that it has
  --no-v3d            QEMU without the V3D model: the kernel reports that there is no V3D
  --mailbox silent    simulate firmware that never answers: there is no display, and the V3D is left alone until the
                      kernel's command `v3d start unchecked` starts it
  --mailbox dies      simulate firmware that stops answering at the V3D's first interrupt, as was seen on a board; the
                      kernel's command `interrupts on` enables interrupts
  --firmware WORDS    simulate firmware, or a board around it, with these behaviours, with + between them: command-line,
                      pitch16, two-pages, slow-vsync, gated-clock, no-clock, frozen, stray-interrupt, board, by-hand;
                      tools/qemu-v3d/src/lib.rs explains each
  --card FILE|DIR     put a card into QEMU's SD card slot: the image FILE, which the kernel may change (cargo xtask image makes
                      one), or the files of the folder DIR, to which new files that the kernel has written are added at the end
  --board DEVICE      use a board that is connected by a serial line, such as /dev/ttyUSB0, instead of QEMU

Exit status 0 if the kernel reports all frames as done; otherwise a message gives the reason.
";

/// The default scene.
const DEFAULT_SCENE: &str = "water";
/// The argument that selects all scenes.
const EVERY_SCENE: &str = "all";
/// The scene that draws with shaders which the kernel compiles.
const LIVE_SCENE: &str = "live";
/// Default number of frames if there is neither a display nor a terminal.
const DEFAULT_FRAMES: u64 = 3;
/// Default time limit for boot or a scene, and the additional time per frame.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);
const DEFAULT_TIMEOUT_PER_FRAME: Duration = Duration::from_secs(2);

/// At least as many frames for a rate.
const FRAMES_OF_A_RATE: u64 = 2;
/// Frames of each scene before memory use is measured.
const WARM_UP_FRAMES: u64 = 8;
/// At least as many commands as the shell's history holds.
const SHELL_HISTORY_LINES: usize = 16;

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    scene: Option<String>,
    headless: bool,
    shell: bool,
    frames: Option<u64>,
    compiler: bool,
    screenshot: Option<PathBuf>,
    timeout: Option<Duration>,
    serial: Option<PathBuf>,
    trace: Option<PathBuf>,
    no_v3d: bool,
    coherence: bool,
    engine: Option<String>,
    mailbox: Option<String>,
    firmware: Option<String>,
    card: Option<PathBuf>,
    board: Option<PathBuf>,
}

impl Options {
    /// `None` if the arguments only request help.
    fn parse(mut arguments: lexopt::Parser) -> Result<Option<Self>> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("headless") => options.headless = true,
                Long("shell") => options.shell = true,
                Long("frames") => options.frames = Some(arguments.value()?.parse()?),
                Long("compiler") => options.compiler = true,
                Long("screenshot") => options.screenshot = Some(arguments.value()?.into()),
                Long("timeout") => {
                    options.timeout = Some(Duration::from_secs(arguments.value()?.parse::<u32>()?.into()))
                }
                Long("serial") => options.serial = Some(arguments.value()?.into()),
                Long("trace") => options.trace = Some(std::path::absolute(arguments.value()?)?),
                Long("no-v3d") => options.no_v3d = true,
                Long("coherence") => options.coherence = true,
                Long("engine") => options.engine = Some(arguments.value()?.parse_with(engine)?),
                Long("mailbox") => options.mailbox = Some(arguments.value()?.parse_with(silence)?),
                Long("firmware") => options.firmware = Some(arguments.value()?.parse_with(behaviours)?),
                Long("card") => options.card = Some(arguments.value()?.into()),
                Long("board") => options.board = Some(arguments.value()?.into()),
                Value(scene) if options.scene.is_none() => options.scene = Some(scene.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        if let Some(scene) = &options.scene
            && !scene.bytes().all(|byte| byte.is_ascii_graphic())
        {
            bail!("\"{scene}\" cannot be the name of a scene");
        }
        if options.frames == Some(0) {
            bail!("--frames 0 draws nothing");
        }
        if options.shell && (options.frames.is_some() || options.scene.as_deref() == Some(EVERY_SCENE)) {
            bail!("--frames does not apply to --shell: type `scene run NAME frames N` in the shell");
        }
        if options.board.is_some() && options.compiler {
            bail!("--compiler chooses the kernel for QEMU; a board has the one on its card");
        }
        if options.board.is_some() && options.screenshot.is_some() {
            bail!("--screenshot needs QEMU; a board only prints the CRCs of its frames");
        }
        if options.trace.is_some() && (options.board.is_some() || options.no_v3d) {
            bail!("--trace needs the V3D model, which --no-v3d removes");
        }
        if options.coherence && (options.board.is_some() || options.no_v3d) {
            bail!("--coherence needs the V3D model, which --no-v3d removes");
        }
        if options.engine.is_some() && (options.board.is_some() || options.no_v3d) {
            bail!("--engine needs the V3D model, which --no-v3d removes");
        }
        if options.mailbox.is_some() && (options.board.is_some() || options.no_v3d) {
            bail!("--mailbox needs the plugin with the V3D model, which --no-v3d removes");
        }
        if options.firmware.is_some() && (options.board.is_some() || options.no_v3d) {
            bail!("--firmware needs the plugin with the V3D model, which --no-v3d removes");
        }
        if options.board.is_some() && options.card.is_some() {
            bail!("--card is for QEMU; a board has a card of its own");
        }
        if options.board.is_some() && options.no_v3d {
            bail!("--no-v3d needs QEMU; a board always has a V3D");
        }
        Ok(Some(options))
    }

    /// What happens after the kernel has booted.
    fn form(&self, window: bool, terminal: bool) -> Form {
        let counted = self.frames.is_some() || self.scene.as_deref() == Some(EVERY_SCENE);
        if self.shell || (!counted && !self.headless && terminal && (window || self.screenshot.is_none())) {
            Form::Shell
        } else if window && !counted {
            Form::Watched
        } else {
            Form::Finite
        }
    }

    /// Which kernel is built.
    fn shader_compiler(&self) -> ShaderCompiler {
        let is_needed = self.compiler || matches!(self.scene.as_deref(), Some(LIVE_SCENE | EVERY_SCENE));
        if is_needed { ShaderCompiler::Included } else { ShaderCompiler::LeftOut }
    }

    fn scene(&self) -> &str {
        self.scene.as_deref().unwrap_or(DEFAULT_SCENE)
    }

    fn frames(&self) -> u64 {
        self.frames.unwrap_or(DEFAULT_FRAMES)
    }

    /// Time limit for boot or a scene.
    fn patience(&self) -> Duration {
        let frames = u32::try_from(self.frames()).unwrap_or(u32::MAX);
        self.timeout.unwrap_or_else(|| DEFAULT_TIMEOUT.saturating_add(DEFAULT_TIMEOUT_PER_FRAME.saturating_mul(frames)))
    }

    /// Standard output, and the file given by an option.
    fn copies(&self) -> Result<Vec<Box<dyn Write + Send>>> {
        let mut copies: Vec<Box<dyn Write + Send>> = vec![Box::new(std::io::stdout())];
        if let Some(path) = &self.serial {
            let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
            copies.push(Box::new(file));
        }
        Ok(copies)
    }
}

/// What happens after the kernel has booted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The terminal is the kernel's shell, until the machine ends or Ctrl-C is pressed.
    Shell,
    /// A window shows the scene until it is closed.
    Watched,
    /// The scene draws a number of frames.
    Finite,
}

/// Behaviours of the firmware. The plugin knows the words; here, only what separates QEMU's arguments is refused.
fn behaviours(words: &str) -> Result<String> {
    if words.is_empty() || !words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+".contains(&byte)) {
        bail!("--firmware takes words with + between them, not \"{words}\"");
    }
    Ok(words.to_owned())
}

/// An engine. The plugin knows which there are; here, only what separates QEMU's arguments is refused.
fn engine(name: &str) -> Result<String> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        bail!("--engine takes a word, such as avx2, not \"{name}\"");
    }
    Ok(name.to_owned())
}

/// When the mailbox stops answering.
fn silence(text: &str) -> Result<String> {
    match text {
        "silent" | "dies" => Ok(text.to_owned()),
        _ => bail!("--mailbox is `silent` or `dies`"),
    }
}

/// Runs the task.
pub(crate) fn task(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::parse(arguments)? else {
        eprint!("{HELP}");
        return Ok(());
    };
    let terminal = std::io::stdin().is_terminal();
    if options.shell && !terminal {
        bail!("--shell needs a terminal to type at; scripts use --headless");
    }
    if let Some(path) = &options.screenshot {
        whole_file::check(path)?;
    }
    interrupt::watch()?;
    match &options.board {
        Some(device) => {
            let console = board::open(device, options.copies()?)?;
            console.wait_prompt(Instant::now() + options.patience())?;
            if options.shell || (options.scene.is_none() && terminal) {
                return shell(&console, None);
            }
            finite(&console, &options)
        }
        None => in_qemu(&options, terminal),
    }
}

fn in_qemu(options: &Options, terminal: bool) -> Result<()> {
    let version = setup::qemu()?;
    if !options.no_v3d {
        version.check_plugin()?;
    }
    let workspace = Workspace::find()?;
    let (kernel, plugin) = if options.no_v3d {
        (build::kernel(&workspace, options.shader_compiler())?, None)
    } else {
        let (kernel, plugin) = build::kernel_and_plugin(&workspace, options.shader_compiler())?;
        (kernel, Some(plugin))
    };
    let window = !options.headless && setup::has_display() && can_show_window();
    let scratch = workspace.scratch()?;
    let card = options.card.as_deref().map(|path| Card::insert(path, scratch.path())).transpose()?;
    eprintln!("==> starting QEMU");
    let machine = Qemu::start(
        qemu::Options {
            plugin: plugin.as_deref(),
            trace: options.trace.as_deref(),
            mailbox: options.mailbox.as_deref(),
            firmware: options.firmware.as_deref(),
            engine: options.engine.as_deref(),
            checks_coherence: options.coherence,
            card: card.as_ref().map(Card::image),
            window,
            copies: options.copies()?,
            ..qemu::Options::without_v3d(&kernel.image)
        },
        workspace.scratch()?,
    )?;
    let result = dialogue(&machine, options, window, options.form(window, terminal));
    if let Some(card) = card {
        // What the kernel has written is in the file: QEMU keeps nothing of a card in memory of its own.
        for file in card.take_back()? {
            eprintln!("{} was written by the kernel", file.display());
        }
    }
    // A fault causes later errors, so it comes first in the message.
    match (result, machine.check_faults()) {
        (result, Ok(())) => result,
        (Ok(()), Err(fault)) => Err(fault),
        (Err(error), Err(_)) if interrupt::requested() => Err(error),
        (Err(error), Err(fault)) => bail!("{fault}; {error:#}"),
    }
}

/// Whether QEMU can open a window, after installing what is missing; otherwise the reason is printed.
fn can_show_window() -> bool {
    setup::window().inspect_err(|problem| eprintln!("{problem:#}; going on without")).is_ok()
}

fn dialogue(machine: &Qemu, options: &Options, window: bool, form: Form) -> Result<()> {
    let console = &machine.console;
    let deadline = Instant::now() + options.patience();
    console.wait_ready(deadline)?;
    if options.no_v3d {
        let reply = console.command("v3d", "", deadline, |_| {})?;
        let Err(sentence) = reply.result else {
            bail!("this machine has no V3D, and the kernel believes that it has one");
        };
        match form {
            Form::Shell => return shell(console, Some(Camera::new(machine, options))),
            Form::Watched => console.wait_end(),
            Form::Finite => screenshot(machine, options)?,
        }
        eprintln!("\nThe kernel has booted and reports: {sentence}. Nothing was drawn.");
        return Ok(());
    }
    match form {
        Form::Shell => {
            // Without a window the default scene would not be visible.
            if window || options.scene.is_some() {
                console.keyboard().press(format!("scene run {}\r", options.scene()).as_bytes())?;
            }
            shell(console, Some(Camera::new(machine, options)))
        }
        Form::Watched => {
            let scene = options.scene();
            if !list_scenes(console, deadline)?.iter().any(|known| known.name == scene) {
                bail!("the kernel has no scene {scene}");
            }
            console.keyboard().press(format!("scene run {scene}\r").as_bytes())?;
            console.wait_end();
            Ok(())
        }
        Form::Finite => {
            finite(console, options)?;
            screenshot(machine, options)
        }
    }
}

/// What Ctrl-C does: ends the scene that is drawn; if there is none, or if it has not ended since Ctrl-C was pressed before, the run.
fn stop(console: &Console) -> impl Fn() + Send + use<> {
    let (keyboard, is_drawing) = (console.keyboard(), console.is_drawing());
    let is_asked = AtomicBool::new(false);
    move || {
        let is_drawing = is_drawing.load(Ordering::Relaxed);
        let was_asked = is_asked.swap(is_drawing, Ordering::Relaxed);
        if !is_drawing || was_asked || keyboard.press(&[CONTROL_C]).is_err() {
            interrupt::request();
        }
    }
}

/// Connects the terminal to the shell until the machine ends or Ctrl-C is pressed.
fn shell(console: &Console, camera: Option<Camera>) -> Result<()> {
    let saves = if camera.is_some() { "Ctrl-T saves the screen; " } else { "" };
    eprintln!(
        "(the terminal is the kernel's shell: `help` lists its commands; {saves}Ctrl-C ends the scene, then the run)"
    );
    let actions = Actions {
        save: camera.map(|camera| Box::new(move || camera.press()) as Box<dyn Fn() + Send>),
        stop: Box::new(stop(console)),
    };
    let keys = SingleKeys::connect(console.keyboard(), actions)?;
    console.wait_end();
    drop(keys);
    eprintln!();
    Ok(())
}

/// Draws a number of frames of one scene, or of every scene.
fn finite(console: &Console, options: &Options) -> Result<()> {
    let (frames, patience) = (options.frames(), options.patience());
    if options.scene() == EVERY_SCENE {
        let rate = |scene: &str| FrameRate::of(console, scene, frames.max(FRAMES_OF_A_RATE), patience);
        let (rates, in_use) = every_scene(console, patience, rate)?;
        eprintln!("\n{}\n{in_use}", Table(rates));
    } else {
        eprintln!("\n{}", timed_scene(console, options.scene(), frames, patience)?);
    }
    Ok(())
}

/// Draws frames of every scene in turn by `draw`, and checks that no more memory is in use afterwards. `patience` is the time limit of everything else. Returns
/// what `draw` has returned, and a line about memory.
pub(crate) fn every_scene<T>(
    console: &Console,
    patience: Duration,
    draw: impl Fn(&str) -> Result<T>,
) -> Result<(Vec<T>, String)> {
    let scenes = list_scenes(console, Instant::now() + patience)?;
    // The driver's tables grow with the first frames and keep their size.
    for SceneLine { name, .. } in &scenes {
        run_scene(console, name, 0..WARM_UP_FRAMES, Instant::now() + patience)
            .with_context(|| format!("scene {name}"))?;
    }
    let before = memory_in_use(console, Instant::now() + patience)?;
    let mut drawn = Vec::new();
    for SceneLine { name, .. } in &scenes {
        drawn.push(draw(name).with_context(|| format!("scene {name}"))?);
    }
    let after = memory_in_use(console, Instant::now() + patience)?;
    // Less is no loss: buffers that the driver keeps are as large as the last frames needed them.
    if before.iter().zip(&after).any(|(before, after)| after > before) {
        bail!("memory is lost: {before:?} bytes of heap and GPU pool were in use before the scenes, {after:?} after");
    }
    Ok((drawn, format!("heap and GPU pool are no fuller than before: {after:?} bytes in use")))
}

/// Draws frames of a scene within the time limit `patience`; returns a line about them.
pub(crate) fn timed_scene(console: &Console, scene: &str, frames: u64, patience: Duration) -> Result<String> {
    let start = Instant::now();
    run_scene(console, scene, 0..frames, start + patience).with_context(|| format!("scene {scene}"))?;
    Ok(format!("{scene}: {frames} frames done in {:.2} s", start.elapsed().as_secs_f64()))
}

/// Saves screenshots while the user works in the shell.
struct Camera {
    lens: Lens,
    /// The file of the next screenshot; without it, each gets a new name.
    file: Option<PathBuf>,
}

impl Camera {
    fn new(machine: &Qemu, options: &Options) -> Self {
        Self { lens: machine.lens(), file: options.screenshot.clone() }
    }

    fn press(&self) {
        let file = self.file.clone().unwrap_or_else(free_name);
        match self.lens.screenshot().and_then(|picture| picture.write_png(&file)) {
            Ok(()) => eprintln!("\n(screen: {})", file.display()),
            Err(error) => eprintln!("\n(the screen is not saved: {error:#})"),
        }
    }
}

/// The first of `screen-1.png`, `screen-2.png` and so on that does not exist.
fn free_name() -> PathBuf {
    (1_u64..)
        .map(|number| PathBuf::from(format!("screen-{number}.png")))
        .find(|path| !path.exists())
        .unwrap_or_default()
}

fn screenshot(machine: &Qemu, options: &Options) -> Result<()> {
    match &options.screenshot {
        Some(path) => {
            machine.screenshot()?.write_png(path)?;
            eprintln!("screen: {}", path.display());
        }
        None => eprintln!("(--screenshot FILE.png keeps the picture)"),
    }
    Ok(())
}

/// A scene in the kernel's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SceneLine {
    /// The name that `scene run` takes.
    pub(crate) name: String,
    /// Its description.
    pub(crate) description: String,
}

impl SceneLine {
    /// Parses `scene NAME: description`.
    fn parse(line: &str) -> Option<Self> {
        let (name, description) = line.strip_prefix("scene ")?.split_once(": ")?;
        (!name.contains(' ')).then(|| Self { name: name.to_owned(), description: description.to_owned() })
    }
}

/// The kernel's scenes.
pub(crate) fn list_scenes(console: &Console, deadline: Instant) -> Result<Vec<SceneLine>> {
    let lines = console.command("scene list", "", deadline, |_| {})?.lines()?;
    let scenes: Vec<SceneLine> = lines.iter().filter_map(|line| SceneLine::parse(line)).collect();
    if scenes.is_empty() {
        bail!("the kernel's `scene list` names no scene");
    }
    Ok(scenes)
}

/// Bytes of the heap and of the GPU pool that are in use, according to the kernel's command `mem`.
///
/// The shell's history is on the heap, so the last commands must be the same for each measurement.
fn memory_in_use(console: &Console, deadline: Instant) -> Result<Vec<u64>> {
    let mut in_use = Vec::new();
    for _ in 0..SHELL_HISTORY_LINES.div_ceil(2) {
        console.command("scene list", "", deadline, |_| {})?.lines()?;
        let lines = console.command("mem", "", deadline, |_| {})?.lines()?;
        in_use = lines.iter().filter_map(|line| bytes_in_use(line)).collect();
    }
    if in_use.len() < 2 {
        bail!("the kernel's `mem` does not tell what is in use of heap and GPU pool");
    }
    Ok(in_use)
}

/// The number in `... 1234 bytes in use ...`.
fn bytes_in_use(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" bytes in use")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// The output of a scene.
#[derive(Debug)]
pub(crate) struct SceneRun {
    /// Its `frame` lines.
    pub(crate) frames: Vec<FrameLine>,
    /// All its lines.
    pub(crate) lines: Vec<String>,
}

/// Draws frames of a scene, by their numbers, until the kernel reports that they are finished.
pub(crate) fn run_scene(console: &Console, scene: &str, frames: Range<u64>, deadline: Instant) -> Result<SceneRun> {
    let from = if frames.start == 0 { String::new() } else { format!(" from {}", frames.start) };
    let count = frames.end.saturating_sub(frames.start);
    let reply = console.command("scene run", &format!(" {scene}{from} frames {count}"), deadline, |_| {})?;
    let lines = reply.lines()?;
    Ok(SceneRun { frames: lines.iter().filter_map(|line| FrameLine::parse(line)).collect(), lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>> {
        Options::parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn arguments() {
        let options = parse(&["cube", "--headless", "--frames", "120", "--screenshot=c.png"]).unwrap().unwrap();
        assert_eq!(
            options,
            Options {
                scene: Some("cube".to_owned()),
                headless: true,
                frames: Some(120),
                screenshot: Some("c.png".into()),
                ..Options::default()
            }
        );
        assert_eq!(parse(&["--help"]).unwrap(), None);
        assert_eq!(parse(&[]).unwrap().unwrap().scene(), "water");
    }

    #[test]
    fn what_a_run_becomes() {
        let terminal = true;
        for (arguments, with_window, without_window, without_both) in [
            (&[][..], Form::Shell, Form::Shell, Form::Finite),
            (&["cube"], Form::Shell, Form::Shell, Form::Finite),
            (&["all"], Form::Finite, Form::Finite, Form::Finite),
            (&["cube", "--frames", "7"], Form::Finite, Form::Finite, Form::Finite),
            (&["cube", "--screenshot", "c.png"], Form::Shell, Form::Finite, Form::Finite),
        ] {
            let options = parse(arguments).unwrap().unwrap();
            assert_eq!(options.form(true, terminal), with_window, "{arguments:?}");
            assert_eq!(options.form(false, terminal), without_window, "{arguments:?}");
            assert_eq!(options.form(false, !terminal), without_both, "{arguments:?}");
        }
        let form = |arguments, window, terminal| parse(arguments).unwrap().unwrap().form(window, terminal);
        assert_eq!(form(&[], true, !terminal), Form::Watched);
        assert_eq!(form(&["--headless"], false, terminal), Form::Finite);
        assert_eq!(form(&["--headless", "--shell"], false, terminal), Form::Shell);
    }

    #[test]
    fn wrong_arguments_are_told() {
        for (arguments, part) in [
            (vec!["cube", "again"], "again"),
            (vec!["--frames", "0"], "nothing"),
            (vec!["--frames", "many"], "many"),
            (vec!["--shell", "--frames", "3"], "scene run"),
            (vec!["--colour"], "--colour"),
            (vec!["a\rb"], "name of a scene"),
            (vec!["--board", "d", "--no-v3d"], "board"),
            (vec!["--trace", "t", "--no-v3d"], "model"),
            (vec!["--coherence", "--no-v3d"], "model"),
            (vec!["--engine", "avx2", "--no-v3d"], "model"),
            (vec!["--engine", "avx2,trace=x"], "a word"),
            (vec!["--mailbox", "loud"], "dies"),
            (vec!["--mailbox", "silent", "--no-v3d"], "plugin"),
            (vec!["--firmware", "board,trace=x"], "with + between"),
            (vec!["--firmware", "board", "--no-v3d"], "plugin"),
            (vec!["--compiler", "--board", "/dev/ttyUSB0"], "card"),
        ] {
            let message = format!("{:#}", parse(&arguments).unwrap_err());
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }

    #[test]
    fn only_what_compiles_shaders_builds_the_compiler() {
        let kernel = |arguments: &[&str]| parse(arguments).unwrap().unwrap().shader_compiler();
        for arguments in [vec!["live"], vec!["all"], vec!["water", "--compiler"]] {
            assert_eq!(kernel(&arguments), ShaderCompiler::Included, "{arguments:?}");
        }
        for arguments in [vec![], vec!["water"], vec!["--shell"]] {
            assert_eq!(kernel(&arguments), ShaderCompiler::LeftOut, "{arguments:?}");
        }
    }

    #[test]
    fn scene_lines() {
        let cube = SceneLine { name: "cube".to_owned(), description: "a turning cube".to_owned() };
        assert_eq!(SceneLine::parse("scene cube: a turning cube"), Some(cube));
        assert_eq!(SceneLine::parse("scene list"), None);
        assert_eq!(SceneLine::parse("[1.000000] INFO scene cube: x"), None);
        assert_eq!(bytes_in_use("heap  0x00200000  65536 KiB, 1234 bytes in use, 5678 at most"), Some(1234));
        assert_eq!(bytes_in_use("boot stack  512 KiB, 99 bytes were ever used"), None);
    }
}

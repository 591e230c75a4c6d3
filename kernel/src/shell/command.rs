//! The shell's commands: their syntax, and the table that `help` prints
//!
//! A command consists of one word, or two (`scene run`), and arguments; double quotes keep the words of a file's name together. The last line of its output
//! repeats its name.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use log::LevelFilter;

use crate::{
    boot::trace::{BootStage, MAX_STEP},
    shell::counter_set::CounterSet,
};

/// The greatest multiple of the usual time limits of jobs.
const MOST_TIMES: u32 = 1000;

/// Printed before each command.
pub const PROMPT: &str = "v3d> ";

/// A command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The table of commands.
    Help,
    /// Board, memory split, firmware.
    Info,
    /// The stages of this boot and of the one before.
    Boot,
    /// Shows whether the end of jobs is polled for or signalled by interrupt, or selects one of them.
    Interrupts(Option<bool>),
    /// Shows the time limits of jobs, or sets them to a multiple of the usual ones.
    Limits(Option<u32>),
    /// Rates of all clocks.
    Clocks,
    /// Temperature and throttling of the chip.
    Temp,
    /// Use of stacks, heap and GPU pool.
    Mem,
    /// The V3D: shows its identity, or starts it.
    V3d(V3dRequest),
    /// All registers of the V3D, field by field.
    Regs,
    /// All scenes.
    SceneList,
    /// Draws a scene.
    SceneRun {
        /// Its name.
        name: String,
        /// The number of the first frame.
        first: u64,
        /// Number of frames; `None` draws until stopped.
        frames: Option<u64>,
    },
    /// Stops the scene. While a scene is running, any key does.
    SceneStop,
    /// The files of the shaders that scenes were started with since this command was given last.
    SceneShaders,
    /// Loads what the scene `live` draws from a folder of the card.
    SceneLoad(
        /// The folder.
        String,
    ),
    /// The files of a folder of the card.
    Ls(
        /// The folder; the root has the empty path.
        String,
    ),
    /// A text file of the card.
    Cat(
        /// The file.
        String,
    ),
    /// Writes the screen to a file of the card.
    Screenshot(
        /// The file, or a free name.
        Option<String>,
    ),
    /// Statistics of recent frames, or the choice of what the performance counters count.
    Stats(Option<CounterSet>),
    /// A job, as lines for `cargo xtask capture`: the last one, or one after which a number of others were submitted.
    Capture {
        /// How many.
        later: usize,
        /// Where the lines go.
        destination: Destination,
    },
    /// Shows whether names are kept for captures, or keeps them from now on, or no longer.
    Names(Option<bool>),
    /// A step of replaying a captured job.
    Replay(ReplayRequest),
    /// Measures speed: of one scene, or of memory, firmware and all scenes.
    Bench {
        /// The scene's name; `None` measures everything.
        scene: Option<String>,
        /// Number of frames of each scene, if it is not the usual one.
        frames: Option<u64>,
    },
    /// A workload for `cargo xtask bench`.
    Draws(Draws, u32),
    /// Draws primitives of embedded-graphics, for `cargo xtask bench`.
    Primitives,
    /// Draws scenes and runs programs, and compares their results with recorded ones.
    Selftest(SelftestRequest),
    /// The shader of the scene `live`.
    Shader(ShaderRequest),
    /// Shows the log of this run or of the previous one, or sets the level.
    Log(LogRequest),
    /// Shows or sets the watchdog.
    Watchdog(WatchdogRequest),
    /// Fails deliberately.
    Fail(Failure),
    /// Restarts the board.
    Reboot,
}

/// Where a report goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// To the serial line.
    #[default]
    SerialLine,
    /// To a file of the card, or to a file with a free name.
    Card(Option<String>),
}

/// An argument of `v3d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum V3dRequest {
    /// Show its identity, or why there is none.
    Show,
    /// Start it, if the boot has left it alone and its clock runs.
    Start,
    /// Start it even if it is not known whether it has a clock.
    StartUnchecked,
}

/// An argument of `shader`. Files are those of the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShaderRequest {
    /// Print the source that compiled last.
    Show,
    /// Have a source typed.
    Edit,
    /// Compile a file.
    Load(String),
    /// Write the source that compiled last to a file.
    Save(String),
    /// Have textures show a picture.
    Texture(String),
    /// Have cube maps show six pictures: to the right, left, top, bottom, front and back.
    Cube([String; 6]),
    /// Have a model drawn.
    Model(String),
    /// Receive something over the serial line, in blocks.
    Receive(Received),
}

/// What is received over the serial line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A source.
    Source(
        /// Its file's name.
        String,
    ),
    /// A picture for the textures: four bytes a texel.
    Texture {
        /// Width and height in texels.
        size_px: [u32; 2],
    },
    /// Six pictures for the cube maps, one behind the other.
    Cube {
        /// Texels of a side.
        side_px: u32,
    },
    /// A model, as the file that it is in.
    Model,
    /// A source in place of the one that the kernel was built with.
    Replacement(
        /// Its file's name.
        String,
    ),
}

/// The scope of a self-test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelftestRequest {
    /// Processor, QPU arithmetic and pictures.
    All,
    /// The same; also prints the results of the arithmetic as rows of the table of recorded results.
    Vectors,
    /// The first test of a board, step by step from its first register on. Its report may also go to the card.
    Board(Destination),
    /// Runs the test of a board unless a key is pressed within this number of seconds, and shows its report until one is.
    After(u32),
    /// Shows a part of the last report of a board on the screen, as text and as a QR code; parts are counted from 1. `None` shows all in turn.
    Code(Option<usize>),
}

/// A step of replaying a captured job. Addresses are those of the captured job; sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayRequest {
    /// Discards the job and frees its memory.
    Clear,
    /// Allocates memory for a range of the job's memory.
    Place {
        /// Address of the first byte.
        address: u32,
        /// Size.
        bytes: u32,
    },
    /// Receives blocks of memory over the serial line.
    Load,
    /// Validates the job, runs it, and prints what it has stored.
    Run {
        /// Start and end of the binning list; equal if there is none.
        binning: [u32; 2],
        /// Start and end of the rendering list.
        rendering: [u32; 2],
    },
    /// Prints memory.
    Read {
        /// Address of the first byte.
        address: u32,
        /// Size.
        bytes: u32,
    },
}

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Draws with the same state and different uniforms.
    Same,
    /// Draws with two alternating states.
    Changed,
    /// Instances of a mesh.
    Instances,
    /// One prepared draw with different uniforms.
    Prepared,
    /// Two prepared draws with different states, alternating.
    PreparedChanged,
    /// One prepared draw of a shader that is compiled at run time, with different uniforms.
    PreparedAtRunTime,
    /// Sprites of one atlas.
    Sprites,
    /// A copy to GPU memory, and a texture of the same bytes.
    Upload,
}

impl Draws {
    /// The names of workloads.
    const NAMED: [(&'static str, Self); 8] = [
        ("same", Self::Same),
        ("changed", Self::Changed),
        ("instances", Self::Instances),
        ("prepared", Self::Prepared),
        ("prepared-changed", Self::PreparedChanged),
        ("prepared-at-run-time", Self::PreparedAtRunTime),
        ("sprites", Self::Sprites),
        ("upload", Self::Upload),
    ];
}

/// Most texels of a side of a texture that is sent.
const MAX_TEXTURE_SIDE: u32 = 512;

/// Most draws; the workload divides them among passes.
const MAX_DRAWS: u32 = 20_000;

/// An argument of `log`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRequest {
    /// Show the log of this run.
    Show,
    /// Show the log of the run before a warm reset.
    Previous,
    /// Set the level.
    Level(LevelFilter),
}

/// An argument of `watchdog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogRequest {
    /// Show whether it is armed.
    Show,
    /// Arm it.
    On,
    /// Disarm it.
    Off,
}

/// Deliberate failures, which test that failures are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A panic.
    Panic,
    /// A write to address 0.
    NullPointer,
    /// Unbounded recursion.
    StackOverflow,
    /// A write to a constant.
    WriteToConstant,
    /// Unbounded recursion in an interrupt handler: an exception inside an exception.
    Handler,
    /// A control list that waits for a semaphore for ever: the V3D hangs, and the kernel recovers.
    Job,
    /// A user program that never ends: the V3D hangs, and the kernel recovers.
    Program,
    /// A user program in memory that the CPU caches: the V3D may read something else than the CPU has stored.
    Cached,
    /// An interrupt that is never acknowledged: its line is disabled, and the kernel continues.
    Storm,
    /// The next boot halts in this stage.
    Boot(BootStage),
    /// The next `selftest board` halts in this step.
    Step(u32),
}

/// A row of the help table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The command's name.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: &'static str,
    /// What it does.
    pub help: &'static str,
}

const fn row(name: &'static str, arguments: &'static str, help: &'static str) -> Row {
    Row { name, arguments, help }
}

/// All commands.
pub const TABLE: [Row; 31] = [
    row("help", "", "this table"),
    row("info", "", "board, firmware, memory split, display, serial port"),
    row("boot", "", "the stages of this boot and of the one before, with times"),
    row("clocks", "", "the clocks, as set and as measured"),
    row("temp", "", "the chip's temperature, and whether it is throttled"),
    row("mem", "", "stacks, heap and GPU memory: in use now, and at most"),
    row(
        "v3d",
        "[start [unchecked]]",
        "the V3D's version, or why it is not in use; start it after all, even if its clock is not known to run",
    ),
    row("interrupts", "[on | off]", "wait for the V3D by interrupt (some firmware stops answering then) or by polling"),
    row("limits", "[N]", "the time limits of jobs; or set them to N times the usual ones, for a slow model of the V3D"),
    row("regs", "", "all registers of the V3D, field by field"),
    row("scene list", "", "all scenes"),
    row(
        "scene run",
        "NAME [from N] [frames N]",
        "draw a scene, starting at a frame; without `frames`, until a key is pressed",
    ),
    row("scene load", "FOLDER", "have the scene live draw what a folder of the SD card has: shader, texture, model"),
    row("scene shaders", "", "the files of the shaders that were drawn with since this was last asked"),
    row("scene stop", "", "stop drawing"),
    row("ls", "[FOLDER]", "the files on the SD card"),
    row("cat", "FILE", "a text file of the SD card"),
    row("screenshot", "[FILE]", "write the screen to the SD card, as a PNG file"),
    row(
        "stats",
        "[work | cycles]",
        "frame times, load and performance counters of the V3D; or choose what the counters count",
    ),
    row(
        "capture",
        "[before N] [save [FILE]]",
        "send the last job, or the Nth before it, or write it to the SD card, for `cargo xtask capture`",
    ),
    row(
        "names",
        "[on | off]",
        "keep names of draws, programs, lines and uniforms for `capture`, from the next scene on",
    ),
    row(
        "replay",
        "clear | place A N | load | run A E A E | read A N",
        "receive, validate and run a captured job, for `cargo xtask replay`",
    ),
    row("bench", "[NAME] [frames N]", "measure the speed of memory and scenes, or of one scene"),
    row(
        "draws",
        "[KIND] [N]",
        "a workload for `cargo xtask bench`: N draws of a kind, prepared or not, sprites, or an upload",
    ),
    row("primitives", "", "a workload for `cargo xtask bench`: 10,000 primitives of embedded-graphics, by CPU and GPU"),
    row(
        "selftest",
        "[vectors | board [save [F]] | code [N] | after S]",
        "compare with records, print them, test a board; show or save its report",
    ),
    row(
        "shader",
        "[edit | load F | save F | texture F | cube F F F F F F | model F | receive WHAT]",
        "the scene live: show, type or load it",
    ),
    row("log", "[previous | off | error | warn | info | debug | trace]", "show the log, or choose what is logged"),
    row("watchdog", "[on | off]", "show, arm or disarm the watchdog, which restarts the board when the kernel hangs"),
    row(
        "fail",
        "panic | null | stack | constant | handler | job | program | cached | storm | boot STAGE | step N",
        "fail, to test the report",
    ),
    row("reboot", "", "start again"),
];

/// The table as text.
#[must_use]
pub fn help() -> String {
    let width = TABLE.iter().map(|row| row.name.len() + 1 + row.arguments.len()).filter(|&width| width < 40).max();
    let width = width.unwrap_or(0);
    let line = |row: &Row| format!("  {:width$}  {}\n", format!("{} {}", row.name, row.arguments), row.help);
    TABLE.iter().map(line).collect()
}

/// Why a line is not a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The command's name as far as it was recognised, for the last line of the output.
    pub command: String,
    /// What is wrong.
    pub sentence: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.command, self.sentence)
    }
}

impl core::error::Error for ParseError {}

impl Command {
    /// Its name, which the last line of the answer repeats.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Info => "info",
            Self::Boot => "boot",
            Self::Interrupts(_) => "interrupts",
            Self::Limits(_) => "limits",
            Self::Clocks => "clocks",
            Self::Temp => "temp",
            Self::Mem => "mem",
            Self::V3d(_) => "v3d",
            Self::Regs => "regs",
            Self::SceneList => "scene list",
            Self::SceneRun { .. } => "scene run",
            Self::SceneStop => "scene stop",
            Self::SceneShaders => "scene shaders",
            Self::SceneLoad(_) => "scene load",
            Self::Ls(_) => "ls",
            Self::Cat(_) => "cat",
            Self::Screenshot(_) => "screenshot",
            Self::Stats(_) => "stats",
            Self::Capture { .. } => "capture",
            Self::Names(_) => "names",
            Self::Replay(_) => "replay",
            Self::Bench { .. } => "bench",
            Self::Draws(..) => "draws",
            Self::Primitives => "primitives",
            Self::Selftest(_) => "selftest",
            Self::Shader(_) => "shader",
            Self::Log(_) => "log",
            Self::Watchdog(_) => "watchdog",
            Self::Fail(_) => "fail",
            Self::Reboot => "reboot",
        }
    }

    /// Whether it uses the V3D or controls scenes: a running scene has to end first.
    #[must_use]
    pub fn takes_the_engine(&self) -> bool {
        match self {
            Self::SceneRun { .. } | Self::SceneStop | Self::Capture { .. } | Self::Selftest(_) => true,
            Self::Bench { .. } | Self::Draws(..) | Self::Primitives | Self::Replay(_) => true,
            Self::Interrupts(Some(_)) | Self::Limits(Some(_)) | Self::Names(Some(_)) => true,
            Self::V3d(request) => *request != V3dRequest::Show,
            Self::Fail(failure) => matches!(failure, Failure::Job | Failure::Program | Failure::Cached),
            Self::Help | Self::Info | Self::Boot | Self::Interrupts(None) | Self::Clocks | Self::Temp => false,
            Self::Names(None) | Self::Shader(_) | Self::Mem | Self::Regs | Self::SceneList => false,
            Self::Limits(None) | Self::Stats(_) | Self::Log(_) => false,
            Self::SceneShaders | Self::SceneLoad(_) | Self::Ls(_) | Self::Cat(_) | Self::Screenshot(_) => false,
            Self::Watchdog(_) | Self::Reboot => false,
        }
    }

    /// Parses a line; returns `None` for an empty one.
    ///
    /// # Errors
    /// When there is no such command, or its arguments are invalid.
    pub fn parse(line: &str) -> Result<Option<Self>, ParseError> {
        let words = words(line);
        let Some((&first, rest)) = words.split_first() else { return Ok(None) };
        let (command, left) = match first {
            "help" | "?" => (Self::Help, rest),
            "info" => (Self::Info, rest),
            "boot" => (Self::Boot, rest),
            "interrupts" => (Self::Interrupts(parse_switch("interrupts", rest)?), rest.get(1..).unwrap_or_default()),
            "limits" => (Self::Limits(parse_times(rest)?), rest.get(1..).unwrap_or_default()),
            "clocks" => (Self::Clocks, rest),
            "temp" => (Self::Temp, rest),
            "mem" => (Self::Mem, rest),
            "v3d" => match rest {
                ["start", "unchecked", left @ ..] => (Self::V3d(V3dRequest::StartUnchecked), left),
                ["start", left @ ..] => (Self::V3d(V3dRequest::Start), left),
                _ => (Self::V3d(V3dRequest::Show), rest),
            },
            "regs" => (Self::Regs, rest),
            "scene" => return Self::parse_scene(rest).map(Some),
            "stop" => (Self::SceneStop, rest),
            "stats" => (Self::Stats(parse_counted(rest)?), rest.get(1..).unwrap_or_default()),
            "capture" => {
                let (later, left) = number_behind("capture", "before", "how many jobs before the last?", rest)?;
                let (destination, left) = parse_destination(left);
                (Self::Capture { later: later.unwrap_or(0).try_into().unwrap_or(usize::MAX), destination }, left)
            }
            "names" => (Self::Names(parse_switch("names", rest)?), rest.get(1..).unwrap_or_default()),
            "replay" => {
                let (request, left) = parse_replay(rest)?;
                (Self::Replay(request), left)
            }
            "bench" => {
                let (scene, left) = match rest {
                    [name, left @ ..] if *name != "frames" => (Some((*name).into()), left),
                    _ => (None, rest),
                };
                let (frames, left) = number_behind("bench", "frames", "how many frames?", left)?;
                if frames.is_some_and(|frames| frames < 2) {
                    return Err(wrong("bench", "a rate needs at least 2 frames"));
                }
                (Self::Bench { scene, frames }, left)
            }
            "draws" => (parse_draws(rest)?, rest.get(2..).unwrap_or_default()),
            "primitives" => (Self::Primitives, rest),
            "selftest" => match rest {
                ["vectors", left @ ..] => (Self::Selftest(SelftestRequest::Vectors), left),
                ["board", left @ ..] => {
                    let (destination, left) = parse_destination(left);
                    (Self::Selftest(SelftestRequest::Board(destination)), left)
                }
                ["after", seconds, left @ ..] => match seconds.parse() {
                    Ok(seconds) => (Self::Selftest(SelftestRequest::After(seconds)), left),
                    Err(_) => return Err(wrong("selftest", format!("\"{seconds}\" is no number of seconds"))),
                },
                ["code", number, left @ ..] => match number.parse() {
                    Ok(number) => (Self::Selftest(SelftestRequest::Code(Some(number))), left),
                    Err(_) => return Err(wrong("selftest", format!("\"{number}\" is no number of a part"))),
                },
                ["code"] => (Self::Selftest(SelftestRequest::Code(None)), &[][..]),
                _ => (Self::Selftest(SelftestRequest::All), rest),
            },
            "shader" => {
                let (request, left) = parse_shader(rest)?;
                (Self::Shader(request), left)
            }
            "ls" => match rest {
                [folder, left @ ..] => (Self::Ls((*folder).into()), left),
                [] => (Self::Ls(String::new()), rest),
            },
            "cat" => match rest {
                [file, left @ ..] => (Self::Cat((*file).into()), left),
                [] => return Err(wrong("cat", "which file? `ls` lists them")),
            },
            "screenshot" => match rest {
                [file, left @ ..] => (Self::Screenshot(Some((*file).into())), left),
                [] => (Self::Screenshot(None), rest),
            },
            "log" => (Self::Log(parse_log(rest)?), rest.get(1..).unwrap_or_default()),
            "watchdog" => (Self::Watchdog(parse_watchdog(rest)?), rest.get(1..).unwrap_or_default()),
            "fail" => {
                let (failure, left) = parse_failure(rest)?;
                (Self::Fail(failure), left)
            }
            "reboot" => (Self::Reboot, rest),
            other => return Err(unknown(other)),
        };
        nothing_left(&command, left)?;
        Ok(Some(command))
    }

    fn parse_scene(words: &[&str]) -> Result<Self, ParseError> {
        let (command, left) = match words {
            ["list", left @ ..] => (Self::SceneList, left),
            ["stop", left @ ..] => (Self::SceneStop, left),
            ["run", name, left @ ..] => {
                let (first, left) = number_behind("scene run", "from", "from which frame?", left)?;
                let (frames, left) = number_behind("scene run", "frames", "how many frames?", left)?;
                if frames == Some(0) {
                    let message = "0 frames draw nothing; without a number it draws until a key is pressed";
                    return Err(wrong("scene run", message));
                }
                (Self::SceneRun { name: (*name).into(), first: first.unwrap_or(0), frames }, left)
            }
            ["run"] => return Err(wrong("scene run", "which scene? `scene list` names them")),
            ["shaders", left @ ..] => (Self::SceneShaders, left),
            ["load", folder, left @ ..] => (Self::SceneLoad((*folder).into()), left),
            ["load"] => return Err(wrong("scene load", "from which folder? `ls` lists those of the card")),
            [] => {
                return Err(wrong("scene", "say `scene list`, `scene run NAME`, `scene load FOLDER` or `scene stop`"));
            }
            [other, ..] => {
                let message = format!("scenes can be listed, run, loaded and stopped, but not \"{other}\"");
                return Err(wrong("scene", message));
            }
        };
        nothing_left(&command, left)?;
        Ok(command)
    }
}

/// The words of a line: what is between white space, or between double quotes.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut left = line.trim_start();
    while !left.is_empty() {
        let (word, rest) = match left.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => left.split_once(char::is_whitespace).unwrap_or((left, "")),
        };
        words.push(word);
        left = rest.trim_start();
    }
    words
}

/// `save`, and a file if there is another word.
fn parse_destination<'a, 'b>(words: &'a [&'b str]) -> (Destination, &'a [&'b str]) {
    match words {
        ["save", file, left @ ..] => (Destination::Card(Some((*file).into())), left),
        ["save"] => (Destination::Card(None), &[]),
        _ => (Destination::SerialLine, words),
    }
}

fn parse_shader<'a, 'b>(words: &'a [&'b str]) -> Result<(ShaderRequest, &'a [&'b str]), ParseError> {
    let missing = |what: &str| Err(wrong("shader", format!("{what}? `ls` lists the card's files")));
    Ok(match words {
        [] => (ShaderRequest::Show, words),
        ["edit", left @ ..] => (ShaderRequest::Edit, left),
        ["load", file, left @ ..] => (ShaderRequest::Load((*file).into()), left),
        ["save", file, left @ ..] => (ShaderRequest::Save((*file).into()), left),
        ["texture", file, left @ ..] => (ShaderRequest::Texture((*file).into()), left),
        ["model", file, left @ ..] => (ShaderRequest::Model((*file).into()), left),
        ["cube", right, left_side, top, bottom, front, back, left @ ..] => {
            (ShaderRequest::Cube([right, left_side, top, bottom, front, back].map(|file| (*file).into())), left)
        }
        ["load"] => return missing("load which file"),
        ["save"] => return missing("save to which file"),
        ["texture"] => return missing("which picture"),
        ["model"] => return missing("which model"),
        ["cube", ..] => return missing("which six pictures: right, left, top, bottom, front, back"),
        ["receive", left @ ..] => {
            let (received, left) = parse_received(left)?;
            (ShaderRequest::Receive(received), left)
        }
        [other, ..] => {
            let message = format!("a shader can be shown, edited, loaded, saved and received, but not \"{other}\"");
            return Err(wrong("shader", message));
        }
    })
}

fn parse_received<'a, 'b>(words: &'a [&'b str]) -> Result<(Received, &'a [&'b str]), ParseError> {
    let side = |word: &str| match word.parse() {
        Ok(side @ 1..=MAX_TEXTURE_SIDE) => Ok(side),
        _ => Err(wrong("shader", format!("\"{word}\" is no side of a texture, from 1 to {MAX_TEXTURE_SIDE}"))),
    };
    Ok(match words {
        ["source", name, left @ ..] => (Received::Source((*name).into()), left),
        ["texture", width, height, left @ ..] => (Received::Texture { size_px: [side(width)?, side(height)?] }, left),
        ["cube", texels, left @ ..] => (Received::Cube { side_px: side(texels)? }, left),
        ["model", left @ ..] => (Received::Model, left),
        ["replacement", file, left @ ..] => (Received::Replacement((*file).into()), left),
        _ => {
            return Err(wrong(
                "shader",
                "receive what? source NAME, texture WIDTH HEIGHT, cube SIDE, model or replacement FILE",
            ));
        }
    })
}

fn parse_log(words: &[&str]) -> Result<LogRequest, ParseError> {
    let Some(&word) = words.first() else { return Ok(LogRequest::Show) };
    if word == "previous" {
        return Ok(LogRequest::Previous);
    }
    word.parse().map(LogRequest::Level).map_err(|_| {
        wrong(
            "log",
            format!("\"{word}\" is no level; there are off, error, warn, info, debug, trace, and `log previous`"),
        )
    })
}

fn parse_counted(words: &[&str]) -> Result<Option<CounterSet>, ParseError> {
    match words.first() {
        None => Ok(None),
        Some(&"work") => Ok(Some(CounterSet::Work)),
        Some(&"cycles") => Ok(Some(CounterSet::Cycles)),
        Some(other) => Err(wrong("stats", format!("work or cycles can be counted, but not \"{other}\""))),
    }
}

fn parse_times(words: &[&str]) -> Result<Option<u32>, ParseError> {
    let Some(word) = words.first() else { return Ok(None) };
    match word.parse() {
        Ok(times) if (1..=MOST_TIMES).contains(&times) => Ok(Some(times)),
        _ => Err(wrong("limits", format!("\"{word}\" is no multiple of the usual limits, from 1 to {MOST_TIMES}"))),
    }
}

fn parse_watchdog(words: &[&str]) -> Result<WatchdogRequest, ParseError> {
    match words.first() {
        None => Ok(WatchdogRequest::Show),
        Some(&"on") => Ok(WatchdogRequest::On),
        Some(&"off") => Ok(WatchdogRequest::Off),
        Some(other) => Err(wrong("watchdog", format!("the watchdog can be on or off, but not \"{other}\""))),
    }
}

fn parse_draws(words: &[&str]) -> Result<Command, ParseError> {
    let (name, count) = match words {
        [name] => (*name, "1000"),
        [name, count, ..] => (*name, *count),
        [] => ("same", "1000"),
    };
    let Some(&(_, what)) = Draws::NAMED.iter().find(|(known, _)| *known == name) else {
        let known = Draws::NAMED.map(|(known, _)| known).join(", ");
        return Err(wrong("draws", format!("they can be {known}, but not \"{name}\"")));
    };
    match count.parse() {
        Ok(count @ 1..=MAX_DRAWS) => Ok(Command::Draws(what, count)),
        _ => Err(wrong("draws", format!("\"{count}\" is no number from 1 to {MAX_DRAWS}"))),
    }
}

fn parse_replay<'a, 'b>(words: &'a [&'b str]) -> Result<(ReplayRequest, &'a [&'b str]), ParseError> {
    let number = |word: &str| {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        u32::from_str_radix(digits, 16).map_err(|_| wrong("replay", format!("\"{word}\" is no hexadecimal number")))
    };
    match words {
        ["clear", left @ ..] => Ok((ReplayRequest::Clear, left)),
        ["load", left @ ..] => Ok((ReplayRequest::Load, left)),
        ["place", address, bytes, left @ ..] => {
            Ok((ReplayRequest::Place { address: number(address)?, bytes: number(bytes)? }, left))
        }
        ["read", address, bytes, left @ ..] => {
            Ok((ReplayRequest::Read { address: number(address)?, bytes: number(bytes)? }, left))
        }
        ["run", binning, binning_end, rendering, rendering_end, left @ ..] => {
            let binning = [number(binning)?, number(binning_end)?];
            Ok((ReplayRequest::Run { binning, rendering: [number(rendering)?, number(rendering_end)?] }, left))
        }
        _ => {
            Err(wrong("replay", "say clear, place ADDRESS BYTES, load, run with begin and end of both lists, or read"))
        }
    }
}

fn parse_switch(command: &str, words: &[&str]) -> Result<Option<bool>, ParseError> {
    match words.first() {
        None => Ok(None),
        Some(&"on") => Ok(Some(true)),
        Some(&"off") => Ok(Some(false)),
        Some(other) => Err(wrong(command, format!("they can be on or off, but not \"{other}\""))),
    }
}

fn parse_failure<'a, 'b>(words: &'a [&'b str]) -> Result<(Failure, &'a [&'b str]), ParseError> {
    let failure = match words.first() {
        Some(&"panic") => Failure::Panic,
        Some(&"null") => Failure::NullPointer,
        Some(&"stack") => Failure::StackOverflow,
        Some(&"constant") => Failure::WriteToConstant,
        Some(&"handler") => Failure::Handler,
        Some(&"job") => Failure::Job,
        Some(&"program") => Failure::Program,
        Some(&"cached") => Failure::Cached,
        Some(&"storm") => Failure::Storm,
        Some(&"boot") => {
            let number = words.get(1).and_then(|word| word.parse().ok());
            let Some(stage) = number.and_then(BootStage::from_number).filter(|stage| *stage >= BootStage::Rust) else {
                return Err(wrong(
                    "fail",
                    format!("in which stage, {} to {}? `boot` has them", BootStage::Rust as u32, BootStage::ALL.len()),
                ));
            };
            return Ok((Failure::Boot(stage), &words[2..]));
        }
        Some(&"step") => {
            let number = words.get(1).and_then(|word| word.parse().ok());
            let Some(step) = number.filter(|step| (1..=MAX_STEP).contains(step)) else {
                return Err(wrong("fail", format!("in which step of `selftest board`, 1 to {MAX_STEP}?")));
            };
            return Ok((Failure::Step(step), &words[2..]));
        }
        _ => {
            return Err(wrong(
                "fail",
                "how? panic, null, stack, constant, handler, job, program, cached, storm, boot STAGE or step N",
            ));
        }
    };
    Ok((failure, &words[1..]))
}

/// The number after a keyword of `scene run`, if the keyword is the next word, and the remaining words.
fn number_behind<'w>(
    command: &'static str,
    word: &str,
    question: &'static str,
    words: &'w [&'w str],
) -> Result<(Option<u64>, &'w [&'w str]), ParseError> {
    match words {
        [first, rest @ ..] if *first == word => match rest {
            [number, left @ ..] => match number.parse() {
                Ok(number) => Ok((Some(number), left)),
                Err(_) => Err(wrong(command, format!("\"{number}\" is no number of frames"))),
            },
            [] => Err(wrong(command, question)),
        },
        _ => Ok((None, words)),
    }
}

fn nothing_left(command: &Command, words: &[&str]) -> Result<(), ParseError> {
    match words.first() {
        None => Ok(()),
        Some(word) => Err(wrong(command.name(), format!("it does not take \"{word}\""))),
    }
}

fn wrong(command: &str, sentence: impl ToString) -> ParseError {
    ParseError { command: command.into(), sentence: sentence.to_string() }
}

/// The error for an unknown command, with the most similar name if there is one.
fn unknown(word: &str) -> ParseError {
    let nearest = TABLE
        .iter()
        .filter_map(|row| row.name.split(' ').next())
        .map(|name| (distance(word, name), name))
        .min()
        .filter(|&(distance, _)| distance <= 2);
    match nearest {
        Some((_, name)) => wrong(word, format!("no such command; did you mean `{name}`?")),
        None => wrong(word, "no such command; `help` shows all"),
    }
}

/// Edit distance: how many characters must be inserted, deleted or replaced to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (typed, from) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = typed + 1;
        for (index, &to) in to.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[index + 1];
            row[index + 1] = changed.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Command {
        Command::parse(line).unwrap().unwrap()
    }

    fn refused(line: &str) -> String {
        Command::parse(line).unwrap_err().to_string()
    }

    #[test]
    fn every_command_of_the_table_is_understood_under_its_name() {
        for row in TABLE {
            let arguments = match row.name {
                "scene run" | "scene load" => " cube",
                "cat" => " config.txt",
                "fail" => " panic",
                "replay" => " load",
                _ => "",
            };
            let command = parsed(&format!("{}{arguments}", row.name));
            assert_eq!(command.name(), row.name);
        }
    }

    #[test]
    fn arguments_are_read() {
        let run = |name: &str, frames| Command::SceneRun { name: name.into(), first: 0, frames };
        assert_eq!(parsed("  scene  run cube "), run("cube", None));
        assert_eq!(parsed("scene run cube frames 12"), run("cube", Some(12)));
        assert_eq!(parsed("scene run cube"), run("cube", None));
        let from_7 = |frames| Command::SceneRun { name: "cube".into(), first: 7, frames };
        assert_eq!(parsed("scene run cube from 7 frames 12"), from_7(Some(12)));
        assert_eq!(parsed("scene run cube from 7"), from_7(None));
        assert_eq!(parsed("bench"), Command::Bench { scene: None, frames: None });
        assert_eq!(parsed("bench frames 9"), Command::Bench { scene: None, frames: Some(9) });
        assert_eq!(parsed("bench cube frames 9"), Command::Bench { scene: Some("cube".into()), frames: Some(9) });
        assert_eq!(parsed("stop"), Command::SceneStop);
        assert_eq!(parsed("capture"), Command::Capture { later: 0, destination: Destination::SerialLine });
        assert_eq!(parsed("capture before 3"), Command::Capture { later: 3, destination: Destination::SerialLine });
        assert_eq!(parsed("capture save"), Command::Capture { later: 0, destination: Destination::Card(None) });
        let destination = Destination::Card(Some("job.txt".into()));
        assert_eq!(parsed("capture before 2 save job.txt"), Command::Capture { later: 2, destination });
        assert_eq!(parsed("log"), Command::Log(LogRequest::Show));
        assert_eq!(parsed("log debug"), Command::Log(LogRequest::Level(LevelFilter::Debug)));
        assert_eq!(parsed("log previous"), Command::Log(LogRequest::Previous));
        assert_eq!(parsed("selftest vectors"), Command::Selftest(SelftestRequest::Vectors));
        assert_eq!(parsed("selftest board"), Command::Selftest(SelftestRequest::Board(Destination::SerialLine)));
        assert_eq!(parsed("selftest board save"), Command::Selftest(SelftestRequest::Board(Destination::Card(None))));
        assert_eq!(parsed("selftest"), Command::Selftest(SelftestRequest::All));
        assert_eq!(parsed("selftest after 30"), Command::Selftest(SelftestRequest::After(30)));
        assert_eq!(parsed("fail step 9"), Command::Fail(Failure::Step(9)));
        assert_eq!(parsed("selftest code"), Command::Selftest(SelftestRequest::Code(None)));
        assert_eq!(parsed("selftest code 2"), Command::Selftest(SelftestRequest::Code(Some(2))));
        assert_eq!(parsed("interrupts on"), Command::Interrupts(Some(true)));
        assert_eq!(parsed("interrupts"), Command::Interrupts(None));
        assert_eq!(parsed("limits 100"), Command::Limits(Some(100)));
        assert_eq!(parsed("limits"), Command::Limits(None));
        assert_eq!(parsed("names on"), Command::Names(Some(true)));
        assert_eq!(parsed("names"), Command::Names(None));
        assert_eq!(parsed("v3d"), Command::V3d(V3dRequest::Show));
        assert_eq!(parsed("v3d start"), Command::V3d(V3dRequest::Start));
        assert_eq!(parsed("v3d start unchecked"), Command::V3d(V3dRequest::StartUnchecked));
        assert_eq!(parsed("fail boot 13"), Command::Fail(Failure::Boot(BootStage::Screen)));
        assert_eq!(parsed("watchdog off"), Command::Watchdog(WatchdogRequest::Off));
        let place = ReplayRequest::Place { address: 0x1000, bytes: 0x20 };
        assert_eq!(parsed("replay place 0x1000 20"), Command::Replay(place));
        let run = ReplayRequest::Run { binning: [0, 0], rendering: [0x10, 0x2f] };
        assert_eq!(parsed("replay run 0 0 10 2f"), Command::Replay(run));
        assert_eq!(parsed("stats"), Command::Stats(None));
        assert_eq!(parsed("stats cycles"), Command::Stats(Some(CounterSet::Cycles)));
        assert_eq!(Command::parse("  ").unwrap(), None);
        assert_eq!(parsed("ls"), Command::Ls(String::new()));
        assert_eq!(parsed("ls /assets"), Command::Ls("/assets".into()));
        assert_eq!(parsed("cat \"a long  name.txt\""), Command::Cat("a long  name.txt".into()));
        assert_eq!(parsed("cat \"open"), Command::Cat("open".into()));
        assert_eq!(parsed("screenshot"), Command::Screenshot(None));
        assert_eq!(parsed("scene load assets/planet"), Command::SceneLoad("assets/planet".into()));
        let shader = |line: &str| match parsed(line) {
            Command::Shader(request) => request,
            other => panic!("{other:?}"),
        };
        assert_eq!(shader("shader"), ShaderRequest::Show);
        assert_eq!(shader("shader load a.wgsl"), ShaderRequest::Load("a.wgsl".into()));
        assert_eq!(shader("shader model a.glb"), ShaderRequest::Model("a.glb".into()));
        let faces = ["1", "2", "3", "4", "5", "6"].map(String::from);
        assert_eq!(shader("shader cube 1 2 3 4 5 6"), ShaderRequest::Cube(faces));
        let texture = Received::Texture { size_px: [16, 8] };
        assert_eq!(shader("shader receive texture 16 8"), ShaderRequest::Receive(texture));
        assert_eq!(shader("shader receive cube 64"), ShaderRequest::Receive(Received::Cube { side_px: 64 }));
        assert_eq!(shader("shader receive source a"), ShaderRequest::Receive(Received::Source("a".into())));
        assert_eq!(shader("shader receive model"), ShaderRequest::Receive(Received::Model));
        let replacement = Received::Replacement("sea.wgsl".into());
        assert_eq!(shader("shader receive replacement sea.wgsl"), ShaderRequest::Receive(replacement));
        assert_eq!(parsed("scene shaders"), Command::SceneShaders);
    }

    #[test]
    fn what_is_wrong_is_said_in_a_sentence() {
        let cases = [
            ("infp", "infp: no such command; did you mean `info`?"),
            ("scnee list", "scnee: no such command; did you mean `scene`?"),
            ("rumpelstiltskin", "rumpelstiltskin: no such command; `help` shows all"),
            ("scene", "scene: say `scene list`, `scene run NAME`, `scene load FOLDER` or `scene stop`"),
            ("scene dance", "scene: scenes can be listed, run, loaded and stopped, but not \"dance\""),
            ("scene load", "scene load: from which folder? `ls` lists those of the card"),
            ("cat", "cat: which file? `ls` lists them"),
            ("cat a b", "cat: it does not take \"b\""),
            ("scene run", "scene run: which scene? `scene list` names them"),
            ("scene run cube frames", "scene run: how many frames?"),
            ("scene run cube from", "scene run: from which frame?"),
            ("scene run cube frames many", "scene run: \"many\" is no number of frames"),
            (
                "scene run cube frames 0",
                "scene run: 0 frames draw nothing; without a number it draws until a key is pressed",
            ),
            ("scene run cube twice", "scene run: it does not take \"twice\""),
            ("bench cube frames 1", "bench: a rate needs at least 2 frames"),
            ("bench frames many", "bench: \"many\" is no number of frames"),
            ("bench cube quickly", "bench: it does not take \"quickly\""),
            ("temp now", "temp: it does not take \"now\""),
            ("v3d start now", "v3d: it does not take \"now\""),
            ("v3d stop", "v3d: it does not take \"stop\""),
            (
                "log loud",
                "log: \"loud\" is no level; there are off, error, warn, info, debug, trace, and `log previous`",
            ),
            ("replay place here 20", "replay: \"here\" is no hexadecimal number"),
            (
                "replay run",
                "replay: say clear, place ADDRESS BYTES, load, run with begin and end of both lists, or read",
            ),
            ("shader load", "shader: load which file? `ls` lists the card's files"),
            ("shader eat", "shader: a shader can be shown, edited, loaded, saved and received, but not \"eat\""),
            (
                "shader cube a b",
                "shader: which six pictures: right, left, top, bottom, front, back? `ls` lists the card's files",
            ),
            ("shader receive texture 4 513", "shader: \"513\" is no side of a texture, from 1 to 512"),
            (
                "shader receive",
                "shader: receive what? source NAME, texture WIDTH HEIGHT, cube SIDE, model or replacement FILE",
            ),
            ("shader load a b", "shader: it does not take \"b\""),
            ("stats sheep", "stats: work or cycles can be counted, but not \"sheep\""),
            ("limits 0", "limits: \"0\" is no multiple of the usual limits, from 1 to 1000"),
            ("watchdog maybe", "watchdog: the watchdog can be on or off, but not \"maybe\""),
            ("names please", "names: they can be on or off, but not \"please\""),
            ("interrupts maybe", "interrupts: they can be on or off, but not \"maybe\""),
            ("selftest after lunch", "selftest: \"lunch\" is no number of seconds"),
            ("fail step 0", "fail: in which step of `selftest board`, 1 to 31?"),
            ("fail step", "fail: in which step of `selftest board`, 1 to 31?"),
            ("selftest code x", "selftest: \"x\" is no number of a part"),
            (
                "fail",
                "fail: how? panic, null, stack, constant, handler, job, program, cached, storm, boot STAGE or step N",
            ),
            ("fail panic now", "fail: it does not take \"now\""),
            ("fail boot", "fail: in which stage, 6 to 20? `boot` has them"),
            ("fail boot 3", "fail: in which stage, 6 to 20? `boot` has them"),
            ("fail boot 13 now", "fail: it does not take \"now\""),
        ];
        for (line, sentence) in cases {
            assert_eq!(refused(line), sentence);
        }
    }

    #[test]
    fn help_has_a_line_for_each_command() {
        let help = help();
        assert_eq!(help.lines().count(), TABLE.len());
        assert!(help.starts_with("  help                                this table\n"), "{help}");
        assert!(help.lines().all(|line| line.starts_with("  ") && line.len() < 150), "{help}");
    }

    #[test]
    fn a_scene_that_is_shown_ends_for_what_draws() {
        for line in [
            "scene run cube",
            "stop",
            "selftest",
            "draws",
            "primitives",
            "fail job",
            "interrupts on",
            "limits 2",
            "capture before 2",
        ] {
            assert!(parsed(line).takes_the_engine(), "{line}");
        }
        for line in [
            "help",
            "scene list",
            "regs",
            "stats",
            "log debug",
            "interrupts",
            "limits",
            "fail panic",
            "reboot",
            "shader edit",
            "ls",
            "screenshot",
        ] {
            assert!(!parsed(line).takes_the_engine(), "{line}");
        }
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}

//! `cargo xtask live`: sends a shader to a running kernel whenever its file changes.

use crate::build;
use crate::far_end::blocks::{self, BLOCK_BYTES, BLOCK_PATIENCE};
use crate::far_end::board;
use crate::far_end::console::{Console, Reply};
use crate::far_end::qemu::{self, Qemu};
use crate::far_end::terminal::{Actions, CONTROL_C, SingleKeys};
use crate::interrupt;
use crate::picture::Picture;
use crate::setup;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask live FILE.wgsl [--texture FILE.png] [--cube SIX FILES] [--model FILE.glb] [--board DEVICE] [--headless]

Boots the kernel in QEMU, or uses a board, and draws with a shader that the kernel compiles. Whenever the file changes, it is
sent over the serial line, and the picture changes. What is wrong with it is shown here and on the screen, and the last good
picture goes on. Ctrl-C ends it.

A fragment shader alone covers the screen. What it declares by these names is given to it: the uniforms time, frame,
resolution, keys (arrows, typed in this terminal), matrix and eye; textures and cube maps of any name; the attributes place,
normal, uv and color, of a sphere or a model. `kernel/src/scenes/live.rs` describes them.

  --board DEVICE   a board that is connected by a serial line, such as /dev/ttyUSB0
  --texture FILE   a PNG file of up to 512 x 512 pixels for the textures; without it, they show the model's, or a crate
  --cube SIX FILES six square PNG files of up to 512 x 512 pixels for the cube maps: right, left, top, bottom, front, back
                   (+x, -x, +y, -y, +z, -z; rows from the top, as OpenGL has them)
  --model FILE     a binary glTF file of up to 8 MiB and 65,536 triangles, which is drawn instead of the sphere
  --headless       QEMU without a window
";

/// The command that receives sources.
const COMMAND: &str = "shader";
/// Time limit for boot.
const BOOT_PATIENCE: Duration = Duration::from_secs(600);
/// Time limit for compiling.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether the file has changed.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut file, mut device): (Option<PathBuf>, Option<PathBuf>) = (None, None);
    let mut things = Things::default();
    let mut headless = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Long("board") => device = Some(arguments.value()?.into()),
            Long("texture") => things.texture = Some(Picture::read_png(Path::new(&arguments.value()?))?),
            Long("model") => things.model = Some(read(Path::new(&arguments.value()?))?),
            Long("cube") => {
                let mut faces = Vec::new();
                for _ in 0..FACES {
                    let file = arguments.value().context("--cube takes six files")?;
                    faces.push(Picture::read_png(Path::new(&file))?);
                }
                things.cube = Some(faces);
            }
            Long("headless") => headless = true,
            Value(path) if file.is_none() => file = Some(path.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    let file = file.context("a file with a shader is needed; see `cargo xtask live --help`")?;
    // A file that cannot be read is known before anything is built.
    let first = read(&file)?;
    interrupt::watch()?;
    if let Some(device) = device {
        let console = board::open(&device, Vec::new())?;
        console.wait_prompt(Instant::now() + Duration::from_secs(10))?;
        return watch(&console, &file, first, &things);
    }
    setup::qemu()?.check_plugin()?;
    let workspace = Workspace::find()?;
    let (kernel, plugin) = build::kernel_and_plugin(&workspace)?;
    let window = !headless && setup::has_display() && setup::window().is_ok();
    eprintln!("==> starting QEMU");
    let options = qemu::Options { window, ..qemu::Options::with_v3d(&kernel.image, &plugin) };
    let machine = Qemu::start(options, workspace.scratch()?)?;
    machine.console.wait_ready(Instant::now() + BOOT_PATIENCE)?;
    watch(&machine.console, &file, first, &things)?;
    machine.check_faults()
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Faces of a cube map.
const FACES: usize = 6;

/// What is sent along.
#[derive(Default)]
struct Things {
    texture: Option<Picture>,
    /// The faces of a cube map.
    cube: Option<Vec<Picture>>,
    /// A file with a model.
    model: Option<Vec<u8>>,
}

/// Sends a file and what becomes of it, until the user interrupts.
fn watch(console: &Console, file: &Path, first: Vec<u8>, things: &Things) -> Result<()> {
    if let Some(picture) = &things.texture {
        send_texture(console, picture)?.lines()?;
    }
    if let Some(faces) = &things.cube {
        send_cube(console, faces)?.lines()?;
    }
    if let Some(model) = &things.model {
        eprintln!("sending {} bytes of a model", model.len());
        tell(&send_model(console, model)?);
    }
    let name = kernel_name(file);
    let mut sent = first;
    tell(&send(console, &name, &sent)?);
    console.keyboard().press(b"scene run live\r")?;
    let keyboard = console.keyboard();
    let stop = Box::new(interrupt::request);
    let keys = std::io::stdin().is_terminal().then(|| SingleKeys::connect(keyboard, Actions { save: None, stop }));
    let _keys = keys.transpose()?;
    eprintln!("watching {}; Ctrl-C ends it", file.display());
    while !interrupt::requested() {
        std::thread::sleep(LOOK);
        // Editors write a file by replacing it: for a moment there may be none, or an empty one.
        let Ok(now) = std::fs::read(file) else { continue };
        if now == sent || now.is_empty() {
            continue;
        }
        let start = Instant::now();
        sent = now;
        match send(console, &name, &sent) {
            Ok(reply) => {
                tell(&reply);
                eprintln!("({} ms from the change to the kernel's answer)", start.elapsed().as_millis());
            }
            Err(error) if interrupt::requested() => return Err(error),
            // A cable that was pulled may be put back.
            Err(error) => eprintln!("{error:#}; it is sent again when it changes"),
        }
    }
    console.keyboard().press(&[CONTROL_C])
}

/// Prints what the kernel says of a shader.
fn tell(Reply { lines, result }: &Reply) {
    lines.iter().for_each(|line| eprintln!("{line}"));
    if let Err(sentence) = result {
        eprintln!("{sentence}");
    }
}

/// A file's name as one word of a command.
pub(crate) fn kernel_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).take(60).collect();
    if name.is_empty() { "shader.wgsl".to_owned() } else { name }
}

/// Begins to send something: the kernel waits for blocks.
pub(crate) fn begin(console: &Console, arguments: &str) -> Result<()> {
    let begun = |line: &str| match line {
        "shader loads" => Some(Ok(())),
        line => line.strip_prefix("error shader: ").map(|why| Err(why.to_owned())),
    };
    match console.exchange(COMMAND, &format!("shader receive {arguments}"), BLOCK_PATIENCE, begun)? {
        Some(Ok(())) => Ok(()),
        Some(Err(why)) => bail!("the kernel says: {why}"),
        None => bail!("the kernel does not answer `shader receive {arguments}`"),
    }
}

/// Sends a source, which the kernel compiles. The answer's lines are the programs', or the diagnostic's.
pub(crate) fn send(console: &Console, name: &str, source: &[u8]) -> Result<Reply> {
    upload(console, &format!("source {name}"), source)
}

/// Sends a picture for the textures.
pub(crate) fn send_texture(console: &Console, picture: &Picture) -> Result<Reply> {
    upload(console, &format!("texture {} {}", picture.width, picture.height), &rgba(picture))
}

/// Four bytes a pixel.
fn rgba(picture: &Picture) -> Vec<u8> {
    picture.pixels.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect()
}

/// Sends six pictures for the cube maps.
pub(crate) fn send_cube(console: &Console, faces: &[Picture]) -> Result<Reply> {
    let side = faces.first().map_or(0, |face| face.width);
    let are_squares = faces.iter().all(|face| (face.width, face.height) == (side, side));
    ensure!(faces.len() == FACES && are_squares, "the faces of a cube map are six squares of one size");
    upload(console, &format!("cube {side}"), &faces.iter().flat_map(rgba).collect::<Vec<u8>>())
}

/// Sends a model.
pub(crate) fn send_model(console: &Console, file: &[u8]) -> Result<Reply> {
    upload(console, "model", file)
}

fn upload(console: &Console, arguments: &str, source: &[u8]) -> Result<Reply> {
    begin(console, arguments)?;
    for (number, block) in source.chunks(BLOCK_BYTES).enumerate() {
        blocks::send(console, COMMAND, (number * BLOCK_BYTES) as u32, block)?;
    }
    let end = format!("end {} {:08x}", source.len(), crc32fast::hash(source));
    let mut lines = Vec::new();
    let result = console.exchange(COMMAND, &end, PATIENCE, |line| {
        if line == "ok shader" {
            return Some(Ok(()));
        }
        if let Some(why) = line.strip_prefix("error shader: ") {
            return Some(Err(why.to_owned()));
        }
        lines.push(line.to_owned());
        None
    })?;
    Ok(Reply { result: result.context("the kernel does not answer the end of a shader")?, lines })
}

/// What a kernel says of a compilation: instructions and CRC-32 of each program, microseconds, bytes of heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compilation {
    /// By stage.
    pub(crate) programs: Vec<(String, usize, u32)>,
    /// Microseconds.
    pub(crate) us: u64,
    /// Bytes of heap.
    pub(crate) heap_bytes: u64,
}

impl Compilation {
    /// Parses the kernel's lines.
    pub(crate) fn of(lines: &[String]) -> Result<Self> {
        let mut found = Self::default();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["shader", "took", us, "us,", bytes, "bytes", "of", "heap"] => {
                    (found.us, found.heap_bytes) = (us.parse()?, bytes.parse()?);
                }
                ["shader", stage, count, crc] => {
                    found.programs.push(((*stage).to_owned(), count.parse()?, u32::from_str_radix(crc, 16)?));
                }
                _ => {}
            }
        }
        ensure!(!found.programs.is_empty(), "the kernel names no program: {}", lines.join(" / "));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_word() {
        let check = |path: &str, expected: &str| assert_eq!(kernel_name(Path::new(path)), expected);
        check("shaders/clouds.wgsl", "clouds.wgsl");
        check("my clouds.wgsl", "my_clouds.wgsl");
        check("/", "shader.wgsl");
    }

    #[test]
    fn programs_are_read_from_the_kernels_lines() {
        let lines = ["shader fragment 57 8c31e2a7", "shader took 21034 us, 1234567 bytes of heap"].map(str::to_owned);
        let expected =
            Compilation { programs: vec![("fragment".to_owned(), 57, 0x8c31_e2a7)], us: 21034, heap_bytes: 1_234_567 };
        assert_eq!(Compilation::of(&lines).unwrap(), expected);
        assert!(Compilation::of(&lines[1..]).is_err());
    }
}

//! `cargo xtask live`: sends a shader to a running kernel whenever its file changes.

use crate::build;
use crate::far_end::blocks::{self, BLOCK_BYTES, BLOCK_PATIENCE};
use crate::far_end::board;
use crate::far_end::console::{Console, Reply};
use crate::far_end::qemu::{self, Qemu};
use crate::far_end::terminal::{Actions, CONTROL_C, SingleKeys};
use crate::interrupt;
use crate::picture::Picture;
use crate::run::run_scene;
use crate::setup;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask live FILE.wgsl [--texture FILE.png] [--cube SIX FILES] [--model FILE.glb] [--board DEVICE] [--headless]
cargo xtask live SCENE [--board DEVICE] [--headless]

Boots the kernel in QEMU, or uses a board, and draws with a shader that the kernel compiles. Whenever the file changes, it is
sent over the serial line, and the picture changes. What is wrong with it is shown here and on the screen, and the last good
picture goes on. Ctrl-C ends it.

A fragment shader alone covers the screen. What it declares by these names is given to it: the uniforms time, frame,
resolution, keys (arrows, typed in this terminal), matrix and eye; textures and cube maps of any name; the attributes place,
normal, uv and color, of a sphere or a model. `kernel/src/scenes/live.rs` describes them.

With a SCENE, such as model, its shaders in qpu-shaders/shaders are watched: when one changes, the running kernel compiles it, and
draws the scene on with it. The kernel has to be built of the files as they are in the beginning. A shader may then read only the
uniforms that it read before; what needs a new build is said. WGSL is the only language that the kernel compiles: shaders in
others, such as assembly or GLSL, are named and not watched.

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

/// The folder of the scenes' shaders.
const SHADERS: &str = "qpu-shaders/shaders";
/// How long a scene takes to fail when it is started.
const START: Duration = Duration::from_secs(2);

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
    let file = file.context("a file with a shader, or a scene, is needed; see `cargo xtask live --help`")?;
    let is_scene = file.extension().is_none() && !file.is_file();
    ensure!(!is_scene || things.are_none(), "--texture, --cube and --model are for a shader, not for a scene");
    // A file that cannot be read or compiled is known before anything is built.
    if !is_scene && let Some(language) = other_language(&file.to_string_lossy()) {
        bail!("{} is {language}, and the kernel compiles only WGSL, in files that end in .wgsl", file.display());
    }
    let first = if is_scene { Vec::new() } else { read(&file)? };
    let show = |console: &Console| match is_scene {
        true => watch_scene(console, &Workspace::find()?, &file.to_string_lossy()),
        false => watch(console, &file, first, &things),
    };
    interrupt::watch()?;
    if let Some(device) = device {
        let console = board::open(&device, Vec::new())?;
        console.wait_prompt(Instant::now() + Duration::from_secs(10))?;
        return show(&console);
    }
    setup::qemu()?.check_plugin()?;
    let workspace = Workspace::find()?;
    let (kernel, plugin) = build::kernel_and_plugin(&workspace, build::ShaderCompiler::Included)?;
    let window = !headless && setup::has_display() && setup::window().is_ok();
    eprintln!("==> starting QEMU");
    let options = qemu::Options { window, ..qemu::Options::with_v3d(&kernel.image, &plugin) };
    let machine = Qemu::start(options, workspace.scratch()?)?;
    machine.console.wait_ready(Instant::now() + BOOT_PATIENCE)?;
    show(&machine.console)?;
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

impl Things {
    fn are_none(&self) -> bool {
        self.texture.is_none() && self.cube.is_none() && self.model.is_none()
    }
}

/// A shader of a scene.
struct SceneShader {
    name: String,
    path: PathBuf,
    /// What the scene is drawn with.
    good: Vec<u8>,
    /// What the file had when it was looked at last.
    seen: Vec<u8>,
}

/// The shaders in WGSL of a scene, which the kernel names after one frame; it is told what they were built of.
fn shaders_of_scene(console: &Console, workspace: &Workspace, scene: &str) -> Result<Vec<SceneShader>> {
    let deadline = Instant::now() + PATIENCE;
    console.command("scene shaders", "", deadline, |_| {})?.lines()?;
    run_scene(console, scene, 0..1, deadline)?;
    let named = console.command("scene shaders", "", deadline, |_| {})?.lines()?;
    let (mut shaders, mut others) = (Vec::new(), Vec::new());
    for name in named.iter().filter_map(|line| line.strip_prefix("shader ")) {
        let path = workspace.root.join(SHADERS).join(name);
        if let Some(language) = other_language(name) {
            others.push(format!("{name} is {language}"));
            continue;
        }
        if !name.ends_with(".wgsl") || !path.is_file() {
            continue;
        }
        let source = read(&path)?;
        send_replacement(console, name, &source)?.lines().with_context(|| name.to_owned())?;
        shaders.push(SceneShader { name: name.to_owned(), path, good: source.clone(), seen: source });
    }
    let others = others.join(", ");
    let said = if others.is_empty() { String::new() } else { format!(": {others}") };
    ensure!(
        !shaders.is_empty(),
        "the scene {scene} has no shader in WGSL in {SHADERS}, and others are not reloaded{said}"
    );
    if !others.is_empty() {
        eprintln!("the kernel compiles only WGSL; what is not watched{said}");
    }
    Ok(shaders)
}

/// The language of a shader that is not in WGSL, by the extension of its file.
fn other_language(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "vert" | "frag" | "comp" | "glsl" => Some("GLSL"),
        "spv" => Some("SPIR-V"),
        "hlsl" => Some("HLSL"),
        "qasm" | "qinc" => Some("assembly"),
        _ => None,
    }
}

/// Starts a scene, from a frame on; fails if it does not go on.
fn start_scene(console: &Console, scene: &str, frame: u64) -> Result<()> {
    let line = format!("scene run {scene} from {frame}");
    let failed = console
        .exchange("scene run", &line, START, |line| line.strip_prefix("error scene run: ").map(str::to_owned))?;
    match failed {
        Some(why) => bail!("{why}"),
        None => Ok(()),
    }
}

/// Ends a scene; returns how many frames it has drawn.
pub(crate) fn end_scene(console: &Console) -> Result<u64> {
    console.keyboard().press(&[CONTROL_C])?;
    let is_last = |line: &str| line == "ok scene run" || line.starts_with("error scene run: ");
    let lines = console.lines_until(Instant::now() + PATIENCE, "scene run", is_last)?;
    let frames = lines.iter().find_map(|line| line.split_once(" frames in ")?.0.parse().ok());
    Ok(frames.unwrap_or(0))
}

/// Has a scene drawn with a changed shader, or with the last good one if it cannot be. Returns what is wrong with the changed one.
pub(crate) fn exchange_shader(
    console: &Console,
    (scene, frame): (&str, u64),
    name: &str,
    (good, changed): (&[u8], &[u8]),
) -> Result<Option<String>> {
    let reply = send_replacement(console, name, changed)?;
    tell(&reply);
    let why = match reply.result {
        Err(why) => why,
        Ok(()) => match start_scene(console, scene, frame) {
            Ok(()) => return Ok(None),
            Err(error) => {
                send_replacement(console, name, good)?.lines()?;
                format!("{error:#}")
            }
        },
    };
    start_scene(console, scene, frame)?;
    Ok(Some(why))
}

/// Draws a scene, with its shaders as they are now, until the user interrupts.
fn watch_scene(console: &Console, workspace: &Workspace, scene: &str) -> Result<()> {
    let mut shaders = shaders_of_scene(console, workspace, scene)?;
    start_scene(console, scene, 0)?;
    let names: Vec<&str> = shaders.iter().map(|shader| shader.name.as_str()).collect();
    eprintln!("watching {} in {SHADERS}; Ctrl-C ends it", names.join(", "));
    let mut frame = 0;
    while !interrupt::requested() {
        std::thread::sleep(LOOK);
        for shader in &mut shaders {
            let Ok(now) = std::fs::read(&shader.path) else { continue };
            if now == shader.seen || now.is_empty() {
                continue;
            }
            let start = Instant::now();
            shader.seen.clone_from(&now);
            frame += end_scene(console)?;
            match exchange_shader(console, (scene, frame), &shader.name, (&shader.good, &now))? {
                None => {
                    eprintln!("{} is drawn with ({} ms from the change on)", shader.name, start.elapsed().as_millis());
                    shader.good = now;
                }
                Some(why) => eprintln!("{why}; the scene goes on as before"),
            }
        }
    }
    console.keyboard().press(&[CONTROL_C])
}

/// Sends a source in place of the one of a file that the kernel was built with.
pub(crate) fn send_replacement(console: &Console, file: &str, source: &[u8]) -> Result<Reply> {
    upload(console, &format!("replacement {file}"), source)
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
    fn the_language_of_a_shader_is_known_by_its_extension() {
        for (name, expected) in [
            ("clouds.wgsl", None),
            ("clouds", None),
            ("clouds.frag", Some("GLSL")),
            ("my.clouds.vert", Some("GLSL")),
            ("clouds.spv", Some("SPIR-V")),
            ("bloom.frag.qasm", Some("assembly")),
        ] {
            assert_eq!(other_language(name), expected, "{name}");
        }
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

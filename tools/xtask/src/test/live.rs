//! Shaders that the kernel compiles: the pictures that they draw, their words, and sources that mean harm.

use super::Built;
use super::guest::with_v3d;
use super::scenes::hull;
use crate::bench::shaders;
use crate::build;
use crate::far_end::console::Console;
use crate::far_end::qemu::Qemu;
use crate::live::{self, Compilation};
use crate::picture::Picture;
use crate::run::run_scene;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A fragment shader of one colour.
pub(super) fn plain(color: &str) -> String {
    format!("@fragment fn fs_main() -> @location(0) vec4<f32> {{\n    return vec4({color}, 1.0);\n}}\n")
}

/// The pixel in the middle of the screen, where no message is.
pub(super) fn middle(picture: &Picture) -> Result<[u8; 3]> {
    picture.pixel(picture.width / 2, picture.height / 2).context("the picture has no middle")
}

/// Pixels near the bottom that have another colour than the middle: those of a message.
fn pixels_of_a_message(picture: &Picture) -> Result<usize> {
    let middle = middle(picture)?;
    let rows = picture.height - 40..picture.height;
    let pixels = rows.flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    Ok(pixels.filter(|&(x, y)| picture.pixel(x, y).is_some_and(|pixel| pixel != middle)).count())
}

/// Waits until the middle of the screen has a colour, and there is a message or none.
pub(super) fn wait_for(machine: &Qemu, color: [u8; 3], message: bool, deadline: Instant) -> Result<Duration> {
    let start = Instant::now();
    loop {
        let picture = machine.screenshot()?;
        let found = (middle(&picture)?, pixels_of_a_message(&picture)? > 0);
        if found == (color, message) {
            return Ok(start.elapsed());
        }
        if Instant::now() > deadline {
            bail!("the screen has {found:?} instead of {:?}", (color, message));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A shader is sent, changed, broken, and mended while the scene draws; and one is typed.
pub(super) fn written_while_drawn(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let console = &machine.console;
        let good =
            |source: &str| -> Result<()> { live::send(console, "plain.wgsl", source.as_bytes())?.lines().map(|_| ()) };
        good(&plain("1.0, 0.0, 0.0"))?;
        console.keyboard().press(b"scene run live\r")?;
        wait_for(machine, [255, 0, 0], false, deadline)?;
        good(&plain("0.0, 1.0, 0.0"))?;
        let changed = wait_for(machine, [0, 255, 0], false, deadline)?;

        let broken = plain("lost, 0.0, 1.0");
        let reply = live::send(console, "plain.wgsl", broken.as_bytes())?;
        let Err(sentence) = reply.result else { bail!("a shader with an undeclared name compiles") };
        ensure!(sentence.starts_with("plain.wgsl:2:17: "), "the sentence has another place: {sentence}");
        ensure!(reply.lines.iter().any(|line| line.contains("return vec4(lost")), "the diagnostic shows no source");
        wait_for(machine, [0, 255, 0], true, deadline)?;
        good(&plain("0.0, 0.0, 1.0"))?;
        wait_for(machine, [0, 0, 255], false, deadline)?;

        // The uniforms that the scene gives: time passes, the resolution is the screen's, and an arrow that is down shows.
        let uniforms = "struct Frame { time: f32, resolution: vec2<f32>, keys: vec4<f32>, frame: u32 }
            @group(0) @binding(0) var<uniform> frame: Frame;
            @fragment fn fs_main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
                let inside = all(at.xy < frame.resolution) && all(at.xy * 2.0 + 2.0 > vec2(0.0));
                return vec4(select(0.0, 1.0, frame.time > 0.5), select(0.0, 1.0, inside && frame.frame > 2), frame.keys.x, 1.0);
            }";
        good(uniforms)?;
        wait_for(machine, [255, 255, 0], false, deadline)?;
        loop {
            console.keyboard().press(b"\x1b[D")?;
            if middle(&machine.screenshot()?)? == [255, 255, 255] {
                break;
            }
            ensure!(Instant::now() < deadline, "the arrow to the left does not show");
        }

        let textured = "@group(0) @binding(0) var image: texture_2d<f32>;
            @group(0) @binding(1) var linear: sampler;
            @fragment fn fs_main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
                return textureSample(image, linear, at.xy / 100.0);
            }";
        good(textured)?;
        live::send_texture(console, &Picture::filled(16, 8, [255, 128, 0]))?.lines()?;
        wait_for(machine, [255, 128, 0], false, deadline)?;

        console.keyboard().press(b"shader edit\r")?;
        let typed = plain("1.0, 0.0, 1.0").replace('\n', "\r");
        console.keyboard().press(format!("{typed}.\r").as_bytes())?;
        wait_for(machine, [255, 0, 255], false, deadline)?;
        console.keyboard().press(&[3])?;
        let shown = console.command("shader", "", deadline, |_| {})?.lines()?;
        ensure!(shown.iter().any(|line| line.contains("vec4(1.0, 0.0, 1.0, 1.0)")), "`shader` shows {shown:?}");
        Ok(format!("{} ms from the kernel's answer to the picture", changed.as_millis()))
    })
}

/// The words of a source's programs as the host's compiler makes them.
fn host_words(qpuc: &std::path::Path, file: &std::path::Path) -> Result<Vec<(String, usize, u32)>> {
    let output = Command::new(qpuc)
        .arg(file)
        .args(["--emit", "words"])
        .stdin(Stdio::null())
        .output()
        .context("`qpuc` cannot be started")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut programs: Vec<(String, Vec<u8>)> = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match (line.strip_prefix("# "), programs.last_mut()) {
            (Some(stage), _) => programs.push((stage.to_owned(), Vec::new())),
            (None, Some((_, bytes))) => bytes.extend(u64::from_str_radix(line.trim(), 16)?.to_le_bytes()),
            (None, None) => bail!("`qpuc` prints words before a stage: {line}"),
        }
    }
    Ok(programs.into_iter().map(|(stage, bytes)| (stage, bytes.len() / 8, crc32fast::hash(&bytes))).collect())
}

/// Every shader of the tree, compiled in the kernel: the words are the host's.
pub(super) fn same_words(workspace: &Workspace, built: &Built) -> Result<String> {
    let qpuc = build::compiler(workspace)?;
    let files = shaders::of_the_tree(workspace)?;
    with_v3d(workspace, built, |machine, _, _| {
        let (mut programs, mut most_us, mut most_bytes) = (0, (0, ""), (0, ""));
        for file in &files {
            let path = workspace.root.join(file);
            let expected = host_words(&qpuc, &path).with_context(|| file.clone())?;
            let source = std::fs::read(&path)?;
            let reply = live::send(&machine.console, &live::kernel_name(&path), &source)?;
            let found = Compilation::of(&reply.lines().with_context(|| file.clone())?)?;
            // The kernel adds a vertex shader to a fragment shader alone.
            let own = found.programs.iter().filter(|(stage, ..)| expected.iter().any(|(known, ..)| known == stage));
            let own: Vec<_> = own.cloned().collect();
            ensure!(own == expected, "{file}: the kernel has {own:x?}, the host {expected:x?}");
            programs += own.len();
            most_us = most_us.max((found.us, file));
            most_bytes = most_bytes.max((found.heap_bytes, file));
        }
        Ok(format!(
            "{programs} programs of {} shaders have the host's words; the most heap, {} bytes, for {}; the longest time in QEMU, {} us, for {}",
            files.len(),
            most_bytes.0,
            most_bytes.1,
            most_us.0,
            most_us.1
        ))
    })
}

/// A cube of one colour as a binary glTF file: faces of four vertices each, wound counter-clockwise.
pub(super) fn cube_model(color: [u8; 3]) -> Vec<u8> {
    let mut binary = Vec::new();
    for axis in 0..3 {
        for side in [-1.0f32, 1.0] {
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut place = [0.0f32; 3];
                (place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]) = (side, side * a, b);
                binary.extend(place.iter().flat_map(|number| (5.0 + number).to_le_bytes()));
            }
        }
    }
    let places = binary.len();
    let faces = (0..6u16).map(|face| 4 * face).flat_map(|n| [n, n + 1, n + 2, n, n + 2, n + 3]);
    binary.extend(faces.flat_map(u16::to_le_bytes));
    let factor = color.map(|channel| f64::from(channel) / 255.0);
    let text = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1, "material": 0 }] }],
        "materials": [{ "pbrMetallicRoughness": { "baseColorFactor": [factor[0], factor[1], factor[2], 1.0] } }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 24 },
            { "bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 36 },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": places },
            { "buffer": 0, "byteOffset": places, "byteLength": binary.len() - places },
        ],
        "buffers": [{ "byteLength": binary.len() }],
    });
    let mut text = text.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let word = |number: usize| (number as u32).to_le_bytes();
    let mut file = [b"glTF".as_slice(), &word(2), &word(28 + text.len() + binary.len())].concat();
    file.extend([&word(text.len())[..], b"JSON", &text, &word(binary.len()), b"BIN\0", &binary].concat());
    file
}

/// A model is drawn in place of the sphere, and a cube map is looked up in six directions; damaged ones are refused, and the last good ones go on.
pub(super) fn model_and_cube(workspace: &Workspace, built: &Built) -> Result<String> {
    const BLUE: [u8; 3] = [0, 51, 204];
    const FACES: [[u8; 3]; 6] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255]];
    with_v3d(workspace, built, |machine, _, deadline| {
        let console = &machine.console;
        let good =
            |source: &str| -> Result<()> { live::send(console, "a.wgsl", source.as_bytes())?.lines().map(|_| ()) };
        let colored = "struct Camera { matrix: mat4x4<f32> }
            @group(0) @binding(0) var<uniform> camera: Camera;
            struct Corner { @builtin(position) at: vec4<f32>, @location(0) color: vec3<f32> }
            @vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) color: vec3<f32>) -> Corner {
                return Corner(camera.matrix * vec4(place, 1.0), color);
            }
            @fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> { return vec4(corner.color, 1.0); }";
        good(colored)?;
        let model = cube_model(BLUE);
        live::send_model(console, &model)?.lines()?;
        run_scene(console, "live", 0..1, deadline)?;
        let points = hull::check_cube(&machine.screenshot()?, BLUE)?;
        // A model that is cut off, and a cable that is cut in the middle of it.
        let said =
            live::send_model(console, &model[..model.len() - 9])?.result.err().context("half a model is taken")?;
        ensure!(said.contains("cut off") || said.contains("outside its buffer"), "half a model: {said}");
        live::begin(console, "model")?;
        let half = crate::far_end::blocks::line(0, &model[..512]);
        console.keyboard().press(&half.as_bytes()[..half.len() / 2])?;
        let cut = console.exchange("shader", "", Duration::from_secs(20), |line| {
            line.strip_prefix("error shader: ").map(str::to_owned)
        })?;
        ensure!(
            cut.is_some_and(|cut| cut.contains("no line has come")),
            "a model that ends in its middle is waited for"
        );
        run_scene(console, "live", 0..1, deadline)?;
        hull::check_cube(&machine.screenshot()?, BLUE)?;

        // Six columns, one for each direction.
        let looked_up = "@group(0) @binding(0) var sky: texture_cube<f32>;
            @group(0) @binding(1) var linear: sampler;
            struct Frame { resolution: vec2<f32> }
            @group(0) @binding(2) var<uniform> frame: Frame;
            @fragment fn fs_main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
                let column = floor(6.0 * at.x / frame.resolution.x);
                let axis = floor(0.5 * column);
                let sign = 1.0 - 2.0 * (column - 2.0 * axis);
                let along = vec3(select(0.0, sign, axis < 0.5), select(0.0, sign, axis > 0.5 && axis < 1.5),
                    select(0.0, sign, axis > 1.5));
                return textureSample(sky, linear, along + vec3(0.1, 0.05, 0.02));
            }";
        good(looked_up)?;
        live::send_cube(console, &FACES.map(|color| Picture::filled(8, 8, color)))?.lines()?;
        run_scene(console, "live", 0..1, deadline)?;
        let picture = machine.screenshot()?;
        for (column, color) in FACES.into_iter().enumerate() {
            let x = (2 * column + 1) * picture.width / 12;
            let found = picture.pixel(x, picture.height / 2);
            ensure!(found == Some(color), "face {column} is {found:?}, not {color:?}");
        }
        Ok(format!("{points} pixels of a cube; 6 faces of a cube map"))
    })
}

/// A shader of a scene is replaced: by one whose uniforms have another order and that draws the same, by one that draws something else, and not by one that has
/// a mistake or other varyings.
pub(super) fn shader_of_a_scene(workspace: &Workspace, built: &Built) -> Result<String> {
    const SCENE: &str = "metal";
    const FILE: &str = "metal.wgsl";
    const LAST: &str = "return vec4(sqrt(light / (0.7 + light)), 1.0);";
    let source = std::fs::read_to_string(workspace.root.join("qpu-shaders/shaders").join(FILE))?;
    ensure!(source.contains(LAST), "{FILE} ends otherwise");
    with_v3d(workspace, built, |machine, _, deadline| {
        let console = &machine.console;
        let picture = || -> Result<Picture> {
            run_scene(console, SCENE, 0..1, deadline)?;
            machine.screenshot()
        };
        let first = picture()?;
        let named = console.command("scene shaders", "", deadline, |_| {})?.lines()?;
        ensure!(named.iter().any(|line| line == "shader metal.wgsl"), "the scene's shaders are {named:?}");
        let built_of = live::send_replacement(console, FILE, source.as_bytes())?.lines()?;
        ensure!(picture()?.pixels == first.pixels, "the shader that was built draws something else");

        // The light is never below -1.5: another constant among the uniforms, and the same picture.
        let neutral = source.replace(LAST, "return vec4(max(sqrt(light / (0.7 + light)), vec3(-1.5)), 1.0);");
        let changed = live::send_replacement(console, FILE, neutral.as_bytes())?.lines()?;
        ensure!(changed != built_of, "the changed shader has the words of the other one");
        ensure!(picture()?.pixels == first.pixels, "the uniforms do not arrive in the changed shader's order");

        // As `cargo xtask live metal` does it, while the scene runs.
        let is_red = |pixel: &[u8; 3]| pixel[0] == 255 && pixel[1] < 10 && pixel[2] == 0;
        let reds = |picture: &Picture| picture.pixels.iter().filter(|pixel| is_red(pixel)).count();
        ensure!(reds(&first) == 0, "there are red pixels from the beginning");
        let red = source.replace(LAST, "return vec4(1.0, 0.02 * light.x, 0.0, 1.0);");
        let exchange = |good: &str, changed: &str| {
            live::exchange_shader(console, (SCENE, 0), FILE, (good.as_bytes(), changed.as_bytes()))
        };
        ensure!(exchange(&neutral, &red)?.is_none(), "a shader of another colour is refused");
        let count = reds(&machine.screenshot()?);
        ensure!(count > 10_000, "{count} pixels are red");
        let refusals = [
            (source.replace(LAST, "return lost;"), "lost"),
            (source.replace(LAST, "return vec4(1.0);"), "have changed"),
        ];
        for (wrong, word) in &refusals {
            live::end_scene(console)?;
            let why = exchange(&red, wrong)?.with_context(|| format!("a shader is not refused: {word}"))?;
            ensure!(why.contains(word), "the refusal is: {why}");
            let count = reds(&machine.screenshot()?);
            ensure!(count > 10_000, "{count} pixels are red after a shader was refused");
        }
        live::end_scene(console)?;
        // A first source that is not the one that was built.
        live::send_replacement(console, "sea.wgsl", red.as_bytes())?.lines()?;
        let Err(error) = run_scene(console, "model", 0..1, deadline) else {
            bail!("another shader is taken for the sea's")
        };
        ensure!(format!("{error:#}").contains("built of another version"), "the error is: {error:#}");
        Ok(format!("{count} pixels are drawn otherwise"))
    })
}

/// A source that means harm: its name, the source, and a word of the refusal.
type Hostile = (&'static str, Vec<u8>, &'static str);

/// What is refused by a bound of the compiler, or is no shader.
fn hostile() -> Vec<Hostile> {
    let body = |body: &str| format!("@fragment fn fs_main() -> @location(0) vec4<f32> {{ {body} }}").into_bytes();
    let (open, close) = ("(".repeat(20_000), ")".repeat(20_000));
    let constants: String = (1..24).map(|n| format!("const c{n} = array(c{0}, c{0});\n", n - 1)).collect();
    let calls: String =
        (1..20).map(|n| format!("fn f{n}(x: f32) -> f32 {{ return f{0}(x) + f{0}(x * 0.5); }}\n", n - 1)).collect();
    let calls = format!("fn f0(x: f32) -> f32 {{ return x; }}\n{calls}");
    let of_many = |head: String, value: &str| [head.into_bytes(), body(&format!("return vec4({value});"))].concat();
    vec![
        ("brackets", body(&format!("return vec4({open}1.0{close});")), "nested"),
        ("blocks", body(&format!("{}{}", "{".repeat(20_000), "}".repeat(20_000))), "nested"),
        ("operators", body(&format!("return vec4(1.0{});", " + 1.0".repeat(5_000))), "nested"),
        ("constants", of_many(format!("const c0 = array(1.0, 2.0);\n{constants}"), "c23[0]"), "components"),
        ("calls", of_many(calls, "f19(1.0)"), ""),
        ("endless", body("loop { } return vec4(1.0);"), ""),
        ("array", body("var a: array<f32, 1000000>; return vec4(a[0]);"), ""),
        ("itself", b"const a = b; const b = a;".to_vec(), ""),
        ("nothing", b" ".to_vec(), ""),
        ("zeros", vec![0; 2000], ""),
        ("bytes", (0..=255).cycle().take(3000).collect(), "no text"),
        ("long", vec![b' '; 65 << 10], "goes beyond"),
    ]
}

/// Seeds of [`with_mistakes`].
const MISTAKEN: std::ops::Range<u64> = 0..40;
/// The largest source that gets mistakes.
const MISTAKEN_BYTES: usize = 4096;

/// A shader of the tree with random mistakes: words are left out, doubled, exchanged, or replaced by those of another one. The seed decides all of it.
fn with_mistakes(shaders: &[String], seed: u64) -> String {
    let mut random = oorandom::Rand32::new(seed);
    let mut below = |limit: usize| random.rand_range(0..limit.max(1) as u32) as usize;
    let words = |shader: &str| shader.split_inclusive(char::is_whitespace).map(str::to_owned).collect::<Vec<_>>();
    let mut mistaken = words(&shaders[below(shaders.len())]);
    let other = words(&shaders[below(shaders.len())]);
    for _ in 0..=below(3) {
        let (at, with) = (below(mistaken.len()), below(mistaken.len()));
        match below(4) {
            0 => drop(mistaken.remove(at)),
            1 => mistaken.insert(at, mistaken[at].clone()),
            2 => mistaken.swap(at, with),
            _ => mistaken[at] = other[below(other.len())].clone(),
        }
    }
    mistaken.concat()
}

/// The shaders of the library that are short enough to get mistakes, in the order of their names.
fn short_shaders(workspace: &Workspace) -> Result<Vec<String>> {
    let files = shaders::of_the_tree(workspace)?;
    let files = files.iter().filter(|file| file.starts_with("qpu-shaders/shaders/"));
    let mut shaders =
        files.map(|file| std::fs::read_to_string(workspace.root.join(file))).collect::<std::io::Result<Vec<_>>>()?;
    shaders.retain(|shader| shader.len() <= MISTAKEN_BYTES && !shader.is_empty());
    ensure!(shaders.len() > 10, "{} short shaders are in the library", shaders.len());
    Ok(shaders)
}

/// Sources that mean harm, shaders with mistakes, damaged and incomplete uploads: each is refused with a sentence, and the kernel goes on.
pub(super) fn hostile_sources(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        let console = &machine.console;
        let good = plain("0.0, 1.0, 0.0");
        let goes_on = |what: &str| -> Result<()> {
            live::send(console, "good.wgsl", good.as_bytes())
                .and_then(|reply| reply.lines().map(|_| ()))
                .with_context(|| format!("after {what}"))
        };
        let sources = hostile();
        for (name, source, word) in &sources {
            let said = match live::send(console, &format!("{name}.wgsl"), source) {
                Ok(reply) => reply.result.err().with_context(|| format!("{name} compiles"))?,
                Err(error) => {
                    // A block that is not taken ends the sender, not the kernel.
                    console.keyboard().press(&[3])?;
                    console.wait_prompt(Instant::now() + Duration::from_secs(10))?;
                    format!("{error:#}")
                }
            };
            ensure!(said.contains(word), "{name}: {said}");
            goes_on(name)?;
        }
        let shaders = short_shaders(workspace)?;
        let mut mistaken = 0;
        for seed in MISTAKEN {
            let source = with_mistakes(&shaders, seed);
            let reply = live::send(console, "mistaken.wgsl", source.as_bytes())
                .with_context(|| format!("with the mistakes of seed {seed}"))?;
            mistaken += u32::from(reply.result.is_err());
        }
        // Others still compile, or are no fragment shader to begin with.
        ensure!(mistaken >= 20, "{mistaken} shaders with mistakes are refused");
        goes_on("shaders with mistakes")?;
        damaged(console, &good)?;
        goes_on("damaged uploads")?;
        run_scene(console, "live", 0..1, deadline)?;
        ensure!(middle(&machine.screenshot()?)? == [0, 255, 0], "the last good shader is not what is drawn");
        let stacks = console.command("mem", "", deadline, |_| {})?.lines()?;
        let stack = stacks.iter().find(|line| line.contains("kernel")).cloned().unwrap_or_default();
        Ok(format!("{} sources and {mistaken} shaders with mistakes refused; {stack}", sources.len()))
    })
}

/// A damaged block, a damaged whole, and a cable that is cut in the middle of a file.
fn damaged(console: &Console, good: &str) -> Result<()> {
    let answer = |line: &str| {
        console.exchange("shader", line, Duration::from_secs(10), |line| {
            let is_answer = line.starts_with("- ") || line.starts_with("+ ") || line.starts_with("error shader: ");
            is_answer.then(|| line.to_owned())
        })
    };
    live::begin(console, "source damaged.wgsl")?;
    let block = answer("00000000 352441c3 AmFiYw==")?.context("a damaged block is not answered")?;
    ensure!(block.starts_with("- 00000000 "), "a damaged block is answered by {block}");
    let block = answer(&crate::far_end::blocks::line(4096, b"gap"))?.context("a gap is not answered")?;
    ensure!(block.starts_with("- 00001000 it does not follow"), "a gap is answered by {block}");
    let end = answer(&format!("end {} 00000000", good.len()))?.context("a wrong end is not answered")?;
    ensure!(end.contains("was to have"), "a wrong end is answered by {end}");
    console.wait_prompt(Instant::now() + Duration::from_secs(10))?;

    live::begin(console, "source cut.wgsl")?;
    let half = crate::far_end::blocks::line(0, good.as_bytes());
    console.keyboard().press(&half.as_bytes()[..half.len() / 2])?;
    let cut = console.exchange("shader", "", Duration::from_secs(20), |line| {
        line.strip_prefix("error shader: ").map(str::to_owned)
    })?;
    let cut = cut.context("a file that ends in its middle is waited for")?;
    ensure!(cut.contains("no line has come for 3 s"), "a cut cable is answered by {cut}");
    Ok(())
}

//! Files on the SD card.
//!
//! The kernel reads them, draws with them, and writes some; this side reads what was written, and `fsck.vfat` finds nothing wrong.

use super::Built;
use super::card::ensure_sound;
use super::guest::with_machine;
use super::live::{cube_model, middle, plain, wait_for};
use super::scenes::hull;
use crate::capture;
use crate::far_end::card::image as card;
use crate::far_end::qemu::{Options, Qemu};
use crate::image;
use crate::picture::Picture;
use crate::run::run_scene;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use card::CardFile;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The colour of the model that is drawn, and of the picture.
const GREEN: [u8; 3] = [0, 204, 51];
const ORANGE: [u8; 3] = [255, 128, 0];

/// A kernel with a card that has these files.
struct Computer<'w> {
    workspace: &'w Workspace,
    built: &'w Built,
    image: PathBuf,
}

impl Computer<'_> {
    /// Boots it.
    fn boot(&self, work: impl FnOnce(&Qemu, Instant) -> Result<String>) -> Result<String> {
        let options =
            Options { card: Some(&self.image), ..Options::with_v3d(self.built.image()?, self.built.plugin()?) };
        with_machine(self.workspace, options, |machine, _, deadline| work(machine, deadline))
    }

    /// The files on the card, whose file system is sound.
    fn files(&self) -> Result<Vec<CardFile>> {
        let image = std::fs::read(&self.image)?;
        ensure_sound(&self.image.with_extension("partition"), card::partition(&image)?)?;
        card::read_all(&image)
    }
}

/// The lines of a command that succeeds.
fn command(machine: &Qemu, name: &str, arguments: &str, deadline: Instant) -> Result<Vec<String>> {
    machine.console.command(name, arguments, deadline, |_| {})?.lines().with_context(|| format!("`{name}{arguments}`"))
}

/// The sentence of a command that fails.
fn refused(machine: &Qemu, name: &str, arguments: &str, deadline: Instant) -> Result<String> {
    let reply = machine.console.command(name, arguments, deadline, |_| {})?;
    reply.result.err().with_context(|| format!("`{name}{arguments}` succeeds"))
}

/// A picture as a PNG file.
fn png(scratch: &Path, picture: &Picture) -> Result<Vec<u8>> {
    let path = scratch.join("picture.png");
    picture.write_png(&path)?;
    Ok(std::fs::read(&path)?)
}

/// A shader for the scene `live` that draws the colours of vertices.
const COLORED: &str = "struct Camera { matrix: mat4x4<f32> }
    @group(0) @binding(0) var<uniform> camera: Camera;
    struct Corner { @builtin(position) at: vec4<f32>, @location(0) color: vec3<f32> }
    @vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) color: vec3<f32>) -> Corner {
        return Corner(camera.matrix * vec4(place, 1.0), color);
    }
    @fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> { return vec4(corner.color, 1.0); }";
/// One that draws a texture.
const TEXTURED: &str = "@group(0) @binding(0) var image: texture_2d<f32>;
    @group(0) @binding(1) var linear: sampler;
    @fragment fn fs_main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        return textureSample(image, linear, at.xy / 100.0);
    }";

/// Files are listed, printed, compiled, drawn; a screenshot, a capture, a report and a shader are written, and are what they should be.
pub(super) fn read_and_written(workspace: &Workspace, built: &Built) -> Result<String> {
    let scratch = workspace.scratch()?;
    let mut files = image::assets(workspace)?;
    let mut add = |name: &str, bytes: &[u8]| files.push(CardFile { name: name.to_owned(), bytes: bytes.to_vec() });
    add("A shader with a long name.wgsl", plain("0.0, 0.0, 1.0").as_bytes());
    add("cube/shader.wgsl", COLORED.as_bytes());
    add("cube/model.glb", &cube_model(GREEN));
    // A folder whose texture and shader are good, and whose model is cut off.
    add("torn/shader.wgsl", plain("1.0, 0.0, 0.0").as_bytes());
    add("torn/texture.png", &png(scratch.path(), &Picture::filled(16, 8, ORANGE))?);
    add("torn/model.glb", &cube_model(GREEN)[..400]);
    add("textured.wgsl", TEXTURED.as_bytes());
    add("orange.png", &png(scratch.path(), &Picture::filled(16, 8, ORANGE))?);
    // A header, and the operation for a pixel with its colour, then for a run of three [qoiformat.org].
    add("orange.qoi", &[b"qoif\0\0\0\x02\0\0\0\x02\x03\0\xfe\xff\x80\0\xc2".as_slice(), &[0; 7], &[1]].concat());
    add("folder/text.txt", b"one\ntwo\x07\nok cat\n");
    let computer = Computer { workspace, built, image: scratch.path().join("card.img") };
    std::fs::write(&computer.image, card::build(&files)?)?;

    let mut shown = Vec::new();
    let mut captured = Vec::new();
    let mut report = Vec::new();
    computer.boot(|machine, deadline| {
        let listed = command(machine, "ls", "", deadline)?;
        let is_there = |name: &str| listed.iter().any(|line| line.ends_with(name));
        ensure!(is_there("  A shader with a long name.wgsl") && is_there("  assets/"), "`ls` lists {listed:?}");
        ensure!(
            command(machine, "ls", " folder", deadline)?[0] == "        16  text.txt",
            "`ls folder` lists otherwise"
        );
        let printed = command(machine, "cat", " folder/text.txt", deadline)?;
        ensure!(printed == ["   1 one", "   2 two?", "   3 ok cat"], "`cat` prints {printed:?}");

        // Each file of the folder `assets` is what it is there for.
        for (name, arguments) in [
            ("shader", " load assets/plasma.wgsl"),
            ("shader", " texture assets/picture.png"),
            ("scene load", " assets/lighthouse"),
        ] {
            command(machine, name, arguments, deadline)?;
            run_scene(&machine.console, "live", 0..1, deadline)?;
        }
        let mut pixels = machine.screenshot()?.pixels;
        pixels.sort_unstable();
        pixels.dedup();
        ensure!(pixels.len() > 1000, "the lighthouse has {} colours", pixels.len());

        command(machine, "scene load", " cube", deadline)?;
        run_scene(&machine.console, "live", 0..1, deadline)?;
        shown = machine.screenshot()?.pixels;
        hull::check_cube(&machine.screenshot()?, GREEN).context("the model of the card")?;
        // Nothing of a folder with a damaged file is drawn, neither its shader nor its texture.
        let said = refused(machine, "scene load", " torn", deadline)?;
        ensure!(said.contains("torn/model.glb: "), "`scene load torn` says: {said}");
        run_scene(&machine.console, "live", 0..1, deadline)?;
        ensure!(machine.screenshot()?.pixels == shown, "a folder with a damaged model has changed the picture");
        command(machine, "screenshot", "", deadline)?;
        captured = command(machine, "capture", "", deadline)?;
        command(machine, "capture", " save", deadline)?;

        command(machine, "shader", " load textured.wgsl", deadline)?;
        for file in ["orange.png", "orange.qoi"] {
            command(machine, "shader", &format!(" texture {file}"), deadline)?;
            run_scene(&machine.console, "live", 0..1, deadline)?;
            ensure!(middle(&machine.screenshot()?)? == ORANGE, "{file} is not drawn");
        }
        command(machine, "shader", " load \"A shader with a long name.wgsl\"", deadline)?;
        // While the scene runs, too.
        machine.console.keyboard().press(b"scene run live\r")?;
        wait_for(machine, [0, 0, 255], false, deadline)?;
        machine.console.keyboard().press(b"shader load textured.wgsl\r")?;
        wait_for(machine, ORANGE, false, deadline)?;
        machine.console.keyboard().press(b"screenshot \"the scene.png\"\r\x03")?;
        machine.console.wait_prompt(deadline)?;
        command(machine, "shader", " save assets/saved.wgsl", deadline)?;
        report = machine.console.command("selftest", " board save", deadline, |_| {})?.lines;

        for (name, arguments, word) in [
            ("cat", " lost.txt", "the card has no lost.txt"),
            ("cat", " orange.png", "is no text"),
            ("cat", " assets", "is a folder"),
            ("ls", " lost", "the card has no lost"),
            ("shader", " texture textured.wgsl", "neither a PNG nor a QOI"),
            ("shader", " model orange.png", "no binary glTF model"),
            ("shader", " load folder/text.txt", "folder/text.txt:1:"),
            ("shader", " save textured.wgsl", "nothing is overwritten"),
            ("scene load", " folder", "has no shader.wgsl"),
            ("screenshot", " lost/screen.png", "the card has no lost/screen.png"),
        ] {
            let said = refused(machine, name, arguments, deadline)?;
            ensure!(said.contains(word), "`{name}{arguments}` says: {said}");
        }
        Ok(String::new())
    })?;

    let written = computer.files()?;
    let file = |name: &str| {
        let found = written.iter().find(|file| file.name == name);
        found.map(|file| file.bytes.clone()).with_context(|| format!("the kernel has not written {name}"))
    };
    let path = scratch.path().join("screen.png");
    std::fs::write(&path, file("screen-1.png")?)?;
    ensure!(Picture::read_png(&path)?.pixels == shown, "the screenshot differs from the screen");
    std::fs::write(&path, file("the scene.png")?)?;
    ensure!(middle(&Picture::read_png(&path)?)? == ORANGE, "the screenshot of a running scene has another picture");
    let saved = String::from_utf8(file("capture-1.txt")?)?;
    ensure!(
        saved.lines().eq(captured.iter().map(String::as_str)),
        "the capture on the card is not the one that was sent"
    );
    capture::write_folder(saved.lines(), &scratch.path().join("job"))?;
    let saved = String::from_utf8(file("report-1.txt")?)?;
    ensure!(saved.starts_with("---- board report") && saved.lines().count() > 20, "the report is {saved}");
    ensure!(
        saved.lines().all(|line| report.iter().any(|told| told == line)),
        "the report has a line that was not told"
    );
    ensure!(file("assets/saved.wgsl")? == TEXTURED.as_bytes(), "the shader that was saved is another one");
    for CardFile { name, bytes } in &files {
        ensure!(file(name)? == *bytes, "{name} was changed");
    }
    Ok(format!("{} files, of which 5 were written; fsck.vfat finds nothing wrong", written.len()))
}

/// Each kind of card that cannot be used has its sentence, and the kernel goes on.
pub(super) fn unusable(workspace: &Workspace, built: &Built) -> Result<String> {
    let scratch = workspace.scratch()?;
    let mut sentences = Vec::new();
    let mut told = |sentence: String, words: &[&str]| {
        ensure!(words.iter().any(|word| sentence.contains(word)), "the kernel says: {sentence}");
        sentences.push(sentence);
        Ok(())
    };
    super::guest::with_v3d(workspace, built, |machine, _, deadline| {
        for (name, arguments) in [("ls", ""), ("shader", " load a.wgsl"), ("screenshot", "")] {
            told(refused(machine, name, arguments, deadline)?, &["there is no SD card"])?;
        }
        command(machine, "help", "", deadline)?;
        Ok(String::new())
    })?;

    let computer = Computer { workspace, built, image: scratch.path().join("card.img") };
    let file = |name: &str, bytes: Vec<u8>| CardFile { name: name.to_owned(), bytes };
    let mut image = card::build(&[file("file", vec![7; 5000])])?;
    let start = image.len() - card::partition(&image)?.len();
    let number =
        |at: usize, bytes: usize| image[start + at..][..bytes].iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
    // Reserved sectors, sectors of a table, clusters; then the first sector of information [FAT32 File System Specification 1.03].
    let (reserved, sectors) = (number(14, 2), number(36, 4));
    let clusters = number(32, 4) - reserved - 2 * sectors;
    // All free clusters but two are marked as bad.
    let mut free = 0;
    for cluster in 2..clusters + 2 {
        let entry = start + 512 * reserved + 4 * cluster;
        if image[entry..entry + 4] == [0; 4] {
            free += 1;
            if free > 2 {
                for table in [0, 512 * sectors] {
                    image[table + entry..][..4].copy_from_slice(&0x0fff_fff7u32.to_le_bytes());
                }
            }
        }
    }
    // The number of free clusters is not known.
    image[start + 512 + 488..][..4].fill(0xff);
    std::fs::write(&computer.image, &image)?;
    computer.boot(|machine, deadline| {
        run_scene(&machine.console, "water", 0..1, deadline)?;
        told(refused(machine, "screenshot", "", deadline)?, &["the card is full"])?;
        machine.eject_card()?;
        told(refused(machine, "screenshot", "", deadline)?, &["there is no SD card"])?;
        told(refused(machine, "ls", "", deadline)?, &["there is no SD card"])?;
        run_scene(&machine.console, "water", 0..1, deadline).map(|_| String::new())
    })?;
    ensure!(computer.files()?.len() == 1, "something is left of the file for which there was no room");

    // Damage: of the root's cluster, which leads to itself and has no end, of the boot sector, and of the partition table.
    let (table, root) = (start + 512 * reserved, start + 512 * (reserved + 2 * sectors));
    image[table + 8..][..4].copy_from_slice(&2u32.to_le_bytes());
    for (range, value, words) in [
        (root..root + 512, b'a', &["damaged", "leads in a circle"][..]),
        (start + 11..start + 40, 0xff, &["damaged"]),
        (510..512, 0, &["neither a partition table nor a FAT file system"]),
    ] {
        image[range].fill(value);
        std::fs::write(&computer.image, &image)?;
        computer.boot(|machine, deadline| {
            for (name, arguments) in [("ls", ""), ("cat", " file"), ("screenshot", "")] {
                let reply = machine.console.command(name, arguments, deadline, |_| {})?;
                match reply.result {
                    Err(sentence) if name == "ls" => told(sentence, words)?,
                    Ok(()) if words.len() == 1 => bail!("`{name}` succeeds on a damaged card"),
                    _ => {}
                }
            }
            command(machine, "help", "", deadline)?;
            Ok(String::new())
        })?;
    }
    sentences.dedup();
    Ok(sentences.join("; "))
}

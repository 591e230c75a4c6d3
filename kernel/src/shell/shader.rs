//! The command `shader`: what the scene `live` draws, from the SD card, from the serial line, or typed
//!
//! `cargo xtask live` sends these lines; they can also be typed. A source is sent in blocks, as the memory of a job to be replayed is: with its offset and its
//! CRC-32, each acknowledged. The end has the length and the CRC-32 of all of it, so that nothing is compiled that is not what was sent.
//!
//! ```text
//! shader receive source clouds.wgsl  receives lines until `end`:
//! 00000000 5a0c93f1 AAECAwSCAAAA…    offset, CRC-32, and bytes in the format of `capture`
//! + 00000000                         the kernel's answer; after `- 00000000 why` the block must be sent again
//! end 1234 8c31e2a7                  bytes and CRC-32 of the source
//! shader fragment 57 8c31e2a7        the kernel's answer: instructions and CRC-32 of each program
//! shader took 21034 us, 1234567 bytes of heap
//! ```
//!
//! Textures and cube maps come as texels, models as the file that they are in, in the same way.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use renderer::wgsl::{
    replacement::Variants,
    shader_compiler::{Compiled, Error, Options},
};

use super::{
    card, draws,
    line_editor::LineEditor,
    session::{CommandResult, Session},
    uploads::{Block, Upload},
};
use crate::{
    arch::clock,
    crc32,
    live::{
        self,
        model::Model,
        picture::{Cube, Picture},
    },
    mm::heap,
    println,
    shell::command::{Received, ShaderRequest},
    terminal::{
        console::{self, Terminal},
        keys::CONTROL_C,
    },
};

/// Bytes of the longest source, which is the compiler's bound; a longer one is refused before it takes memory.
const MAX_BYTES: usize = 64 << 10;
/// Bytes of the file of the longest picture: its texels, not compressed, and some more.
const MOST_PICTURE_BYTES: usize = 5 << 20;
/// Bytes of the longest model.
const MOST_MODEL_BYTES: usize = 8 << 20;
/// How long to wait for the sender, in microseconds: meanwhile, no frame is drawn.
const PATIENCE_US: u64 = 3_000_000;
/// Ends a source that is typed.
const LAST_LINE: &str = ".";

pub(super) fn shader(session: &mut Session, request: ShaderRequest) -> CommandResult {
    match request {
        ShaderRequest::Show => show(),
        ShaderRequest::Edit => {
            let source = edit(session)?;
            take(session, "typed.wgsl", source)
        }
        ShaderRequest::Load(file) => load(session, &file),
        ShaderRequest::Save(file) => {
            let (_, source) = live::source().ok_or(NO_SHADER)?;
            card::save(session, Some(file), ["shader", "wgsl"], source.as_bytes())
        }
        ShaderRequest::Texture(file) => texture(session, &file),
        ShaderRequest::Cube(files) => cube(session, &files),
        ShaderRequest::Model(file) => model(session, &file),
        ShaderRequest::Receive(received) => take_received(session, received),
    }
}

/// Compiles a file of the card.
fn load(session: &mut Session, file: &str) -> CommandResult {
    let source = card::text(session, file, MAX_BYTES)?;
    take(session, file, source)
}

/// Has textures show a file of the card.
fn texture(session: &mut Session, file: &str) -> CommandResult {
    let picture = read_picture(session, file)?;
    tell_picture(file, &picture);
    live::change(|things| things.picture = Some(picture.into()));
    Ok(())
}

/// Has cube maps show six files of the card.
fn cube(session: &mut Session, files: &[String; 6]) -> CommandResult {
    let cube = read_cube(session, files)?;
    tell_cube(&cube);
    live::change(|things| things.cube = Some(cube.into()));
    Ok(())
}

fn read_cube(session: &mut Session, files: &[String; 6]) -> Result<Cube, String> {
    let mut faces = Vec::new();
    for file in files {
        faces.push(read_picture(session, file)?);
    }
    let faces = faces.try_into().map_err(|_| "a cube map has six faces")?;
    Picture::cube(&faces)
}

/// Has a file of the card drawn.
fn model(session: &mut Session, file: &str) -> CommandResult {
    let model = read_model(session, file)?;
    put_model(model);
    Ok(())
}

fn read_model(session: &mut Session, file: &str) -> Result<Model, String> {
    let bytes = card::with_files(session, |volume| volume.read(file, MOST_MODEL_BYTES))?;
    Model::read(&bytes).map_err(|why| format!("{file}: {why}"))
}

fn put_model(model: Model) {
    tell_model(&model);
    live::change(|things| things.model = Some(model.into()));
}

fn tell_picture(file: &str, picture: &Picture) {
    println!("{file}: {} x {} texels", picture.size_px[0], picture.size_px[1]);
}

fn tell_cube(cube: &Cube) {
    println!("six faces of {} x {0} texels", cube.side_px);
}

fn tell_model(model: &Model) {
    let picture = if model.picture.is_some() { ", with a picture" } else { "" };
    println!("a model of {} triangles{picture}", model.corners.len() / 3);
}

fn read_picture(session: &mut Session, file: &str) -> Result<Picture, String> {
    let bytes = card::with_files(session, |volume| volume.read(file, MOST_PICTURE_BYTES))?;
    Picture::decode(&bytes).map_err(|why| format!("{file}: {why}"))
}

/// Names of the files that [`load_folder`] looks for, of a cube map in the order of its faces.
const SHADER: &str = "shader.wgsl";
const MODEL: &str = "model.glb";
const TEXTURES: [&str; 2] = ["texture.png", "texture.qoi"];
const FACES: [&str; 6] = ["right", "left", "top", "bottom", "front", "back"];

/// Has the scene `live` draw what a folder of the card has, and nothing of what it drew before: `shader.wgsl`, and as far as they are there `texture.png` or
/// `texture.qoi`, `model.glb`, and the six faces of a cube map, `right.png`, `left.png` and so on. If one of them is damaged, the scene goes on as it was.
pub(super) fn load_folder(session: &mut Session, folder: &str) -> CommandResult {
    let entries = card::with_files(session, |volume| volume.list(folder))?;
    let path = |name: &str| format!("{}/{name}", folder.trim_end_matches('/'));
    let has = |name: &str| entries.iter().any(|entry| entry.bytes.is_some() && entry.name.eq_ignore_ascii_case(name));
    if !has(SHADER) {
        return Err(format!("{folder} has no {SHADER}, so that there is nothing to draw with"));
    }
    let mut things = live::Things::default();
    if let Some(name) = TEXTURES.into_iter().find(|name| has(name)) {
        let picture = read_picture(session, &path(name))?;
        tell_picture(name, &picture);
        things.picture = Some(picture.into());
    }
    if has(MODEL) {
        let model = read_model(session, &path(MODEL))?;
        tell_model(&model);
        things.model = Some(model.into());
    }
    let faces = ["png", "qoi"].map(|extension| FACES.map(|face| format!("{face}.{extension}")));
    if let Some(faces) = faces.into_iter().find(|faces| faces.iter().all(|face| has(face))) {
        let cube = read_cube(session, &faces.map(|face| path(&face)))?;
        tell_cube(&cube);
        things.cube = Some(cube.into());
    }
    let shader = path(SHADER);
    let source = card::text(session, &shader, MAX_BYTES)?;
    let program = compiled(session, &shader, source)?;
    program.drawable().map_err(|why| format!("it compiles, and cannot be drawn: {why}"))?;
    live::put_all(program, things);
    println!("`scene run live` shows it");
    Ok(())
}

/// Receives something over the serial line.
fn take_received(session: &mut Session, received: Received) -> CommandResult {
    match received {
        Received::Source(name) => {
            let source = receive_text(session)?;
            take(session, &name, source)
        }
        Received::Texture { size_px } => {
            let rgba = receive_all(session, 4 * size_px[0] as usize * size_px[1] as usize, "texture")?;
            live::change(|things| things.picture = Some(Picture { size_px, rgba }.into()));
            Ok(())
        }
        Received::Cube { side_px } => {
            let face_bytes = 4 * (side_px * side_px) as usize;
            let rgba = receive_all(session, 6 * face_bytes, "cube map")?;
            let faces = core::array::from_fn(|face| rgba[face * face_bytes..][..face_bytes].to_vec());
            live::change(|things| things.cube = Some(Cube { side_px, faces }.into()));
            Ok(())
        }
        Received::Model => {
            let bytes = receive(session, MOST_MODEL_BYTES)?;
            put_model(Model::read(&bytes)?);
            Ok(())
        }
        Received::Replacement(file) => {
            let source = receive_text(session)?;
            replace(session, &file, &source)
        }
    }
}

/// Receives a source.
fn receive_text(session: &mut Session) -> Result<String, String> {
    String::from_utf8(receive(session, MAX_BYTES)?).map_err(|error| format!("the source is no text: {error}"))
}

/// Has scenes that are started from now on draw with a source in place of the one that the kernel was built with.
fn replace(session: &Session, file: &str, source: &str) -> CommandResult {
    let device = session.device()?;
    // As the build script of the scenes' shaders has it.
    let options = Options { fast_math: true, ..live::options() };
    let programs = Variants::compile(&options, file, source).map_err(|error| refusal(file, source, &error))?;
    programs.stages().iter().for_each(tell_program);
    device.replace_shader(file, programs).map_err(|error| error.to_string())
}

/// Prints the files of the shaders that scenes were started with since this was asked last.
pub(super) fn files_of_scene(session: &Session) -> CommandResult {
    for file in session.device()?.take_shader_files().map_err(|error| error.to_string())? {
        println!("shader {file}");
    }
    Ok(())
}

/// Receives so many bytes.
fn receive_all(session: &mut Session, bytes: usize, what: &str) -> Result<Vec<u8>, String> {
    let received = receive(session, bytes)?;
    if received.len() == bytes {
        return Ok(received);
    }
    Err(format!("a {what} of this size has {bytes} bytes, not {}", received.len()))
}

/// Why there is no source.
const NO_SHADER: &str = "no shader was loaded yet: `shader load FILE` or `shader edit`";

/// Prints the source that compiled last, with numbers of lines.
fn show() -> CommandResult {
    let (name, source) = live::source().ok_or(NO_SHADER)?;
    println!("{name}:");
    for (number, line) in (1..).zip(source.lines()) {
        println!("{number:4} {line}");
    }
    Ok(())
}

/// Receives bytes in blocks, at most `most`.
fn receive(session: &mut Session, most: usize) -> Result<Vec<u8>, String> {
    println!("shader loads");
    let mut upload = Upload::new(PATIENCE_US);
    let mut source: Vec<u8> = Vec::new();
    loop {
        let line = upload.line(session)?;
        if let Some(said) = line.strip_prefix("end ") {
            let whole = format!("{} {:08x}", source.len(), crc32::of_bytes(&source));
            if said != whole {
                return Err(format!("it was to have {said}, bytes and CRC-32, and {whole} has come"));
            }
            return Ok(source);
        }
        Block::of(line).answer(|offset, bytes| {
            let offset = offset as usize;
            // A block that was acknowledged, but not heard, is sent again.
            if offset > source.len() || offset + bytes.len() > most {
                return Err(format!("it does not follow the {} bytes before, or goes beyond {most}", source.len()));
            }
            source.truncate(offset);
            source.extend_from_slice(&bytes);
            Ok(())
        });
    }
}

/// Has a source typed, line by line.
fn edit(session: &mut Session) -> Result<String, String> {
    println!("type the shader in WGSL; a line with nothing but a period ends it, ctrl-C gives it up");
    let mut editor = LineEditor::new();
    let mut source = String::new();
    loop {
        session.watchdog.sign_of_life();
        let Some(byte) = console::read_until_tick() else { continue };
        if byte == CONTROL_C {
            return Err("given up".into());
        }
        if !editor.feed(byte, &mut Terminal) {
            continue;
        }
        let line = editor.line();
        if line.trim() == LAST_LINE {
            return Ok(source);
        }
        if source.len() + line.len() >= MAX_BYTES {
            return Err(format!("a shader has at most {MAX_BYTES} bytes"));
        }
        source.push_str(line);
        source.push('\n');
    }
}

/// Marks the trace of `cargo xtask bench`, which counts the instructions in between, if there is a V3D.
fn mark(session: &Session) {
    if let Ok(device) = session.device() {
        let _ = draws::mark(device);
    }
}

/// Prints a diagnostic; returns it as a sentence with its place.
fn refusal(name: &str, source: &str, error: &Error) -> String {
    for line in error.to_string().lines() {
        println!("{line}");
    }
    let place = error.line_and_column(source).map(|(line, column)| format!(":{line}:{column}"));
    format!("{name}{}: {}", place.unwrap_or_default(), error.message.replace('\n', " "))
}

/// Prints the length and the CRC-32 of a program.
fn tell_program(compiled: &Compiled) {
    let bytes: Vec<u8> = compiled.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    println!("shader {} {} {:08x}", compiled.stage.name(), compiled.words.len(), crc32::of_bytes(&bytes));
}

/// Compiles a source, and has the scene `live` draw with it.
fn take(session: &Session, name: &str, source: String) -> CommandResult {
    let program = compiled(session, name, source)?;
    match program.drawable() {
        Ok(_) => live::put(program),
        Err(why) => println!("it compiles, and is not drawn: {why}"),
    }
    Ok(())
}

/// Compiles a source, and says what it has become.
fn compiled(session: &Session, name: &str, source: String) -> Result<live::Program, String> {
    mark(session);
    let (start_us, used) = (clock::now_us(), heap::start_peak());
    let compiled = live::compile(name, &source);
    let (us, bytes) = (clock::now_us() - start_us, heap::peak().saturating_sub(used));
    mark(session);
    let shader = match compiled {
        Ok(shader) => shader,
        Err(error) => {
            live::refuse(&source, name, &error);
            return Err(refusal(name, &source, &error));
        }
    };
    shader.stages().iter().for_each(tell_program);
    println!("shader took {us} us, {bytes} bytes of heap");
    Ok(live::Program { name: name.to_string(), source, shader })
}

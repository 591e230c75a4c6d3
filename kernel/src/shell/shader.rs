//! The command `shader`: receives a shader, or has it typed, and compiles it for the scene `live`
//!
//! `cargo xtask live` sends these lines; they can also be typed. A source is sent in blocks, as the memory of a job to be replayed is: with its offset and its
//! CRC-32, each acknowledged. The end has the length and the CRC-32 of all of it, so that nothing is compiled that is not what was sent.
//!
//! ```text
//! shader load clouds.wgsl            receives lines until `end`:
//! 00000000 5a0c93f1 AAECAwSCAAAA…    offset, CRC-32, and bytes in the format of `capture`
//! + 00000000                         the kernel's answer; after `- 00000000 why` the block must be sent again
//! end 1234 8c31e2a7                  bytes and CRC-32 of the source
//! shader fragment 57 8c31e2a7        the kernel's answer: instructions and CRC-32 of each program
//! shader took 21034 us, 1234567 bytes of heap
//! ```

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    draws,
    line_editor::LineEditor,
    session::{CommandResult, Session},
    uploads::{Block, Upload},
};
use crate::{
    arch::clock,
    crc32,
    live::{self, Picture},
    mm::heap,
    println,
    shell::command::ShaderRequest,
    terminal::{
        console::{self, Terminal},
        keys::CONTROL_C,
    },
};

/// Bytes of the longest source, which is the compiler's bound; a longer one is refused before it takes memory.
const MAX_BYTES: usize = 64 << 10;
/// How long to wait for the sender, in microseconds: meanwhile, no frame is drawn.
const PATIENCE_US: u64 = 3_000_000;
/// Ends a source that is typed.
const LAST_LINE: &str = ".";

pub(super) fn shader(session: &mut Session, request: ShaderRequest) -> CommandResult {
    match request {
        ShaderRequest::Show => show(),
        ShaderRequest::Load(name) => {
            let source = receive(session, MAX_BYTES)?;
            let source = String::from_utf8(source).map_err(|error| format!("the source is no text: {error}"))?;
            take(session, &name, source)
        }
        ShaderRequest::Texture { size_px } => {
            let bytes = 4 * size_px[0] as usize * size_px[1] as usize;
            let rgba = receive(session, bytes)?;
            if rgba.len() != bytes {
                return Err(format!(
                    "a texture of {} x {} has {bytes} bytes, not {}",
                    size_px[0],
                    size_px[1],
                    rgba.len()
                ));
            }
            live::put_picture(Picture { size_px, rgba });
            Ok(())
        }
        ShaderRequest::Edit => {
            let source = edit(session)?;
            take(session, "typed.wgsl", source)
        }
    }
}

/// Prints the source that compiled last, with numbers of lines.
fn show() -> CommandResult {
    let (name, source) = live::source().ok_or("no shader was sent yet: `shader load NAME` or `shader edit`")?;
    println!("{name}:");
    for (number, line) in (1..).zip(source.lines()) {
        println!("{number:4} {line}");
    }
    Ok(())
}

/// Receives a source, or a texture, in blocks.
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

/// Compiles a source, says what it has become, and has the scene `live` draw with it.
fn take(session: &Session, name: &str, source: String) -> CommandResult {
    mark(session);
    let (start_us, used) = (clock::now_us(), heap::start_peak());
    let compiled = live::compile(name, &source);
    let (us, bytes) = (clock::now_us() - start_us, heap::peak().saturating_sub(used));
    mark(session);
    let shader = match compiled {
        Ok(shader) => shader,
        Err(error) => {
            for line in error.to_string().lines() {
                println!("{line}");
            }
            live::refuse(&source, name, &error);
            let place = error.line_and_column(&source).map(|(line, column)| format!(":{line}:{column}"));
            return Err(format!("{name}{}: {}", place.unwrap_or_default(), error.message.replace('\n', " ")));
        }
    };
    for compiled in shader.stages() {
        let bytes: Vec<u8> = compiled.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        println!("shader {} {} {:08x}", compiled.stage.name(), compiled.words.len(), crc32::of_bytes(&bytes));
    }
    println!("shader took {us} us, {bytes} bytes of heap");
    let program = live::Program { name: name.to_string(), source, shader };
    match program.drawable() {
        Ok(_) => live::put(program),
        Err(why) => println!("it compiles, and is not drawn: {why}"),
    }
    Ok(())
}

//! Programs as assembly text: with directives for the interface, and the source line of each instruction.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use qpu::disassembler::Style;

use crate::compile::Compiled;
use crate::interface::{Interface, Stage, WORDS_BEFORE_ITERATION};
use crate::ssa::{Share, StreamWord, Viewport};

/// Column of the comments.
const COMMENT: usize = 48;

/// Assembly text that assembles to the program's words.
pub fn qasm(program: &Compiled, source: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_qasm(&mut text, program, source);
    text
}

fn write_qasm(text: &mut String, program: &Compiled, source: &str) -> core::fmt::Result {
    let interface = &program.interface;
    let stage = if program.stage == Stage::Compute { "user" } else { program.stage.name() };
    writeln!(text, ".stage {stage}")?;
    if program.stage == Stage::Fragment {
        writeln!(text, ".threads {}", interface.threads())?;
        if !program.ended {
            writeln!(text, ".output {}", if interface.half_color { "half_color" } else { "color" })?;
        }
        if interface.points {
            writeln!(text, ".primitive points")?;
        }
    }
    if interface.point_size {
        writeln!(text, ".point_size")?;
    }
    let attributes = interface.attribute_words(program.stage);
    if attributes > 0 {
        writeln!(text, ".attribute vertex, {attributes}")?;
    }
    if interface.varyings > 0 && program.stage != Stage::Coordinate {
        writeln!(text, ".varying all, {}", interface.varyings)?;
    }
    if interface.looks_up() {
        writeln!(text, ".texture looked_up, 0")?;
    }
    for (at, word) in interface.stream.iter().enumerate() {
        let ty = if word.is_texture_parameter() { "texture" } else { "uint" };
        writeln!(text, ".uniform word{at}, {ty}  # {}", word_name(interface, *word))?;
    }
    writeln!(text)?;
    let listing = qpu::disassemble(&program.words, Style::default());
    let mut places = program.places.iter();
    let mut last = None;
    for line in listing.lines() {
        if line.starts_with(':') {
            writeln!(text, "{line}")?;
            continue;
        }
        let place = places.next().cloned().flatten().map(|place| line_of(source, place.start));
        let is_branch = line.trim_start().starts_with("br");
        match place {
            Some((number, code)) if last != Some(number) => {
                last = Some(number);
                writeln!(text, "    {line:COMMENT$}# {number}: {code}")?;
            }
            Some((number, _)) => writeln!(text, "    {line:COMMENT$}# {number}")?,
            None => writeln!(text, "    {line}")?,
        }
        if is_branch {
            writeln!(text, "    .slots")?;
        }
    }
    Ok(())
}

/// The number and text of the line that contains a byte of the source.
fn line_of(source: &str, at: usize) -> (usize, &str) {
    let before = source.get(..at).unwrap_or("");
    let number = before.matches('\n').count();
    (number + 1, source.lines().nth(number).unwrap_or("").trim())
}

/// A description of a uniform word.
pub fn word_name(interface: &Interface, word: StreamWord) -> String {
    let unnamed = || "unnamed".to_owned();
    match word {
        StreamWord::Field { field, index } => {
            let name = interface.fields.get(field as usize).map_or_else(unnamed, |field| field.name.clone());
            format!("{name}[{index}]")
        }
        StreamWord::Viewport(viewport) => match viewport {
            Viewport::HalfWidth => "viewport_half_width",
            Viewport::HalfHeight => "viewport_half_height",
            Viewport::ZScale => "viewport_z_scale",
            Viewport::ZOffset => "viewport_z_offset",
        }
        .to_owned(),
        StreamWord::Instance => "instance_index".to_owned(),
        StreamWord::Buffer { buffer, offset } => {
            let name = interface.buffers.get(buffer as usize).map_or_else(unnamed, |buffer| buffer.name.clone());
            format!("address of byte {offset} of {name}")
        }
        StreamWord::Length(buffer) => {
            let name = interface.buffers.get(buffer as usize).map_or_else(unnamed, |buffer| buffer.name.clone());
            format!("elements of {name}")
        }
        StreamWord::OwnAddress(number) => format!("address of word{number}"),
        StreamWord::WorkgroupMemory(offset) => format!("address of byte {offset} of the workgroup's memory"),
        StreamWord::VpmMemory(offset) => format!("address of byte {offset} of the workgroup's memory in the VPM"),
        StreamWord::Share(share) => match share {
            Share::First(axis) => format!("first workgroup along axis {axis}"),
            Share::Part => "first part of it".to_owned(),
            Share::Iterations => "iterations".to_owned(),
            Share::Row => "first row of the VPM".to_owned(),
            Share::Count(axis) => format!("workgroups along axis {axis}"),
            Share::Stream => format!("address of word {WORDS_BEFORE_ITERATION}"),
        },
        StreamWord::Constant(bits) => format!("{bits:#x}, as a float {}", f32::from_bits(bits)),
        StreamWord::Texture { texture, parameter, sampling } => {
            format!("parameter {parameter} of {}, {sampling:?}", texture_name(interface, texture))
        }
        StreamWord::TextureSize { texture, axis, level, form } => {
            format!("{axis:?} of level {level} of {}, {form:?}", texture_name(interface, texture))
        }
        StreamWord::TextureLevels { texture } => format!("levels of {}", texture_name(interface, texture)),
    }
}

fn texture_name(interface: &Interface, number: u32) -> &str {
    interface.textures.get(number as usize).map_or("unnamed", |texture| texture.name.as_str())
}

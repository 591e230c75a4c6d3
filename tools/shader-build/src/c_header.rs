//! Compiled WGSL as a header for kernels in C, for the interface `v3d-c`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use shader_compiler::interface::{Attribute, Field, Interface, Number, Stage, Texture};
use shader_compiler::ssa::{Sampling, StreamWord, Viewport};
use shader_compiler::{Compiled, Options, compile};

/// The environment variable with which [`expect_c_header`] writes the file.
const UPDATE: &str = "UPDATE_WORDS";

/// Compares the header of a vertex and a fragment shader in WGSL with `file`. With UPDATE_WORDS in the environment, the file is written first. For tests.
///
/// The header has the programs as `v3d_programs`, and structures with the words that its slots refer to, of the names of the source.
///
/// # Errors
/// When the file is not what the source becomes, the source has errors, or it uses what the interface for C does not have: storage buffers, cube maps, lookups
/// at a level, sizes of textures, numbers of vertices and instances.
pub fn expect_c_header(source: &Path, file: &Path, options: &Options) -> Result<(), String> {
    let io = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let text = fs::read_to_string(source).map_err(|error| io(source, error))?;
    let name = source.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let programs = compile(&text, &source.display().to_string(), options).map_err(|error| error.to_string())?;
    let made = header(name, &programs)?;
    if env::var_os(UPDATE).is_some() {
        fs::write(file, &made).map_err(|error| io(file, error))?;
    }
    if fs::read_to_string(file).map_err(|error| io(file, error))? == made {
        Ok(())
    } else {
        Err(format!("{} is not made of {}: {UPDATE}=1 writes it", file.display(), source.display()))
    }
}

/// The header's text.
fn header(name: &str, programs: &[Compiled]) -> Result<String, String> {
    let of = |stage: Stage| {
        let found = programs.iter().find(|program| program.stage == stage);
        found.ok_or_else(|| format!("{name}: there is no program of the stage {stage:?}"))
    };
    let (coordinate, vertex, fragment) = (of(Stage::Coordinate)?, of(Stage::Vertex)?, of(Stage::Fragment)?);
    let mut out =
        format!("/* Written from {name}.wgsl: its programs for v3d-c. */\n\n#pragma once\n\n#include \"v3d.h\"\n");
    let io = |error: std::fmt::Error| error.to_string();
    let attributes = &vertex.interface.attributes;
    if attributes.iter().any(|attribute| attribute.is_vertex_index) {
        return Err(format!("{name}: numbers of vertices are not in the interface for C"));
    }
    writeln!(out, "\n/* A vertex in memory. */\ntypedef struct {{").map_err(io)?;
    for Attribute { name: field, components, number, .. } in attributes {
        writeln!(out, "    {} {field}[{components}];", c_type(name, *number)?).map_err(io)?;
    }
    writeln!(out, "}} {name}_vertex;").map_err(io)?;
    for (stage, program) in [("vertex", vertex), ("fragment", fragment)] {
        let fields = &program.interface.fields;
        if !fields.is_empty() {
            writeln!(out, "\n/* Words of the {stage} shader; matrices in rows. */\ntypedef struct {{").map_err(io)?;
            for Field { name: field, number, components, count } in fields {
                let words = components * count.unwrap_or(1);
                let array = if words == 1 { String::new() } else { format!("[{words}]") };
                writeln!(out, "    {} {field}{array};", c_type(name, *number)?).map_err(io)?;
            }
            writeln!(out, "}} {name}_{stage}_words;").map_err(io)?;
        }
    }
    for (number, Texture { name: texture, cube }) in fragment.interface.textures.iter().enumerate() {
        if *cube {
            return Err(format!("{name}: cube maps are not in the interface for C"));
        }
        writeln!(out, "\n/* Texture {number} is {texture}. */").map_err(io)?;
    }
    for (stage, program) in [("vertex", vertex), ("coordinate", coordinate), ("fragment", fragment)] {
        let words: Vec<String> = program.words.iter().map(|word| format!("    {word:#018x},\n")).collect();
        writeln!(out, "\nstatic const uint64_t {name}_{stage}_code[] = {{\n{}}};", words.concat()).map_err(io)?;
        let mut slots = String::new();
        for word in &program.interface.stream {
            writeln!(slots, "    {{ {} }},", slot(name, &program.interface, *word)?).map_err(io)?;
        }
        if slots.is_empty() {
            slots = "    { V3D_SLOT_KIND_CONSTANT, 0 },\n".to_owned();
        }
        writeln!(out, "\nstatic const v3d_slot {name}_{stage}_slots[] = {{\n{slots}}};").map_err(io)?;
    }
    writeln!(out, "\nstatic const v3d_attribute {name}_attributes[] = {{").map_err(io)?;
    for attribute @ Attribute { offset_words, coordinate_offset_words, .. } in attributes {
        let (bytes, offset) = (4 * attribute.words(), 4 * offset_words);
        let read = coordinate_offset_words.map_or("V3D_NOT_READ".to_owned(), |words| (4 * words).to_string());
        writeln!(out, "    {{ {bytes}, {offset}, {offset}, {read} }},").map_err(io)?;
    }
    let count = |program: &Compiled| program.interface.stream.len();
    let interface = &fragment.interface;
    writeln!(
        out,
        "}};\n\nstatic const v3d_programs {name} = {{\n\
         \x20   .vertex = {name}_vertex_code, .vertex_count = {},\n\
         \x20   .coordinate = {name}_coordinate_code, .coordinate_count = {},\n\
         \x20   .fragment = {name}_fragment_code, .fragment_count = {},\n\
         \x20   .vertex_slots = {name}_vertex_slots, .vertex_slot_count = {},\n\
         \x20   .coordinate_slots = {name}_coordinate_slots, .coordinate_slot_count = {},\n\
         \x20   .fragment_slots = {name}_fragment_slots, .fragment_slot_count = {},\n\
         \x20   .attributes = {name}_attributes, .attribute_count = {},\n\
         \x20   .vertex_bytes = {}, .varyings = {}, .flat_varyings = {}, .threads = {},\n\
         \x20   .writes_depth = {}, .discards = {},\n}};",
        vertex.words.len(),
        coordinate.words.len(),
        fragment.words.len(),
        count(vertex),
        count(coordinate),
        count(fragment),
        attributes.len(),
        4 * attributes.iter().map(Attribute::words).sum::<u32>(),
        vertex.interface.varyings,
        interface.flat_varyings,
        if format!("{:?}", interface.threading) == "Dual" { 2 } else { 1 },
        u32::from(interface.writes_depth),
        u32::from(interface.discards),
    )
    .map_err(io)?;
    Ok(out)
}

/// The type of a number in C.
fn c_type(name: &str, number: Number) -> Result<&'static str, String> {
    match number {
        Number::Float => Ok("float"),
        Number::Int => Ok("int32_t"),
        Number::Uint => Ok("uint32_t"),
        Number::Half => Err(format!("{name}: half floats are not in the interface for C")),
    }
}

/// The initializer of a slot.
fn slot(name: &str, interface: &Interface, word: StreamWord) -> Result<String, String> {
    let viewport = |kind: &str| format!("V3D_SLOT_KIND_VIEWPORT_{kind}, 0");
    Ok(match word {
        StreamWord::Constant(bits) => format!("V3D_SLOT_KIND_CONSTANT, {bits:#x}"),
        StreamWord::Field { field, index } => {
            let before = interface.fields.iter().take(field as usize);
            let first: u32 = before.map(|field| field.components * field.count.unwrap_or(1)).sum();
            format!("V3D_SLOT_KIND_WORD, {}", first + index)
        }
        StreamWord::Viewport(Viewport::HalfWidth) => viewport("HALF_WIDTH"),
        StreamWord::Viewport(Viewport::HalfHeight) => viewport("HALF_HEIGHT"),
        StreamWord::Viewport(Viewport::ZScale) => viewport("Z_SCALE"),
        StreamWord::Viewport(Viewport::ZOffset) => viewport("Z_OFFSET"),
        StreamWord::Texture { texture, parameter, sampling: Sampling::Automatic } => {
            format!("V3D_SLOT_KIND_TEXTURE, {}", 4 * texture + u32::from(parameter))
        }
        other => return Err(format!("{name}: {other:?} among the uniforms is not in the interface for C")),
    })
}

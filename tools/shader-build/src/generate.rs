//! Generates Rust from assembled programs: one module per name.

use std::fmt::Write;
use std::path::Path;

use qpu::interface::{
    Attribute, AttributeKind, Interface, Output, PrimitiveKind, Stage, StreamItem, Texture, TextureKind, Uniform,
    UniformType,
};
use qpu::source::line_and_column;
use qpu::{Assembly, Span};

use super::Programs;
use crate::origin;

/// Appends the module of one name.
pub(crate) fn module(code: &mut String, name: &str, programs: &Programs) -> Result<(), String> {
    let mut body = String::new();
    match (&programs.coordinate, &programs.vertex) {
        (Some(coordinate), Some(vertex)) => vertex_shading(&mut body, name, coordinate, vertex)?,
        (None, None) => {}
        _ => return Err(format!("{name}: coordinate and vertex shader come in pairs")),
    }
    if let Some(fragment) = &programs.fragment {
        expect_stage(name, fragment, Stage::Fragment)?;
        let uniforms = uniform_type(&mut body, "FragmentUniforms", &fragment.interface)?;
        let ending = match fragment.interface.output {
            Output::Own => "Own",
            Output::Color => "Color",
            Output::HalfColor => "HalfColor",
        };
        words(&mut body, "FRAGMENT_CODE", fragment);
        origin(&mut body, "FRAGMENT_ORIGIN", fragment)?;
        let varyings = fragment.interface.varying_components();
        let primitive = match fragment.interface.primitive.unwrap_or_default() {
            PrimitiveKind::Triangles => "",
            PrimitiveKind::Lines => ".of(shader_interface::PrimitiveKind::Lines)",
            PrimitiveKind::Points => ".of(shader_interface::PrimitiveKind::Points)",
        };
        let threading = match fragment.interface.threads {
            Some(1) => "Single",
            Some(2) => "Dual",
            _ => return Err(format!("{name}: a fragment shader must have .threads 1 or .threads 2")),
        };
        writeln!(
            body,
            "/// The fragment shader.\npub const FRAGMENT: shader_interface::Fragment<{uniforms}, {varyings}> = \
             shader_interface::Fragment::new(&FRAGMENT_CODE, \
             shader_interface::v3d_hw::control_list::Threading::{threading}, shader_interface::Ending::{ending})\
             .with_origin(&FRAGMENT_ORIGIN){primitive};"
        )
        .map_err(|error| error.to_string())?;
    }
    if let Some(user) = &programs.user {
        expect_stage(name, user, Stage::User)?;
        let uniforms = uniform_type(&mut body, "Uniforms", &user.interface)?;
        words(&mut body, "CODE", user);
        writeln!(
            body,
            "/// The user program.\npub const PROGRAM: shader_interface::UserProgram<{uniforms}> = shader_interface::UserProgram::new(&CODE);"
        )
        .map_err(|error| error.to_string())?;
    }
    writeln!(code, "/// `{name}`, see its source for what it does.\npub mod {name} {{\n{body}}}")
        .map_err(|error| error.to_string())
}

fn expect_stage(name: &str, assembly: &Assembly, stage: Stage) -> Result<(), String> {
    if assembly.interface.stage == stage {
        Ok(())
    } else {
        Err(format!(
            "{name}: the stage is {stage:?} by the file's name and {:?} by the source",
            assembly.interface.stage
        ))
    }
}

fn vertex_shading(body: &mut String, name: &str, coordinate: &Assembly, vertex: &Assembly) -> Result<(), String> {
    expect_stage(name, coordinate, Stage::Coordinate)?;
    expect_stage(name, vertex, Stage::Vertex)?;
    let io = |error: std::fmt::Error| error.to_string();
    if coordinate.interface.point_size != vertex.interface.point_size {
        return Err(format!("{name}: only one of coordinate and vertex shader writes the size of points"));
    }
    let attributes = &vertex.interface.attributes;
    for attribute in &coordinate.interface.attributes {
        let is_same = |other: &Attribute| {
            (&other.name, other.components, other.kind) == (&attribute.name, attribute.components, attribute.kind)
        };
        if !attributes.iter().any(is_same) {
            return Err(format!(
                "{name}: the vertex shader has no attribute {} like the coordinate shader's",
                attribute.name
            ));
        }
    }

    writeln!(body, "/// One vertex in memory.\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Vertex {{")
        .map_err(io)?;
    for Attribute { name, components, kind, .. } in attributes {
        let (component, meaning) = component(*kind);
        writeln!(body, "/// `{name}`{meaning}.\npub {name}: [{component}; {components}],").map_err(io)?;
    }
    let words_of_vertex = vertex.interface.attribute_words();
    writeln!(
        body,
        "}}\nimpl shader_interface::VertexData for Vertex {{\nconst BYTES: usize = {};",
        4 * words_of_vertex
    )
    .map_err(io)?;
    writeln!(body, "fn push(&self, words: &mut shader_interface::alloc::vec::Vec<u32>) {{").map_err(io)?;
    for Attribute { name, .. } in attributes {
        writeln!(body, "shader_interface::push_attribute(&self.{name}, words);").map_err(io)?;
    }
    writeln!(body, "}}\n}}").map_err(io)?;

    let uniforms = vertex_uniform_type(body, name, &vertex.interface, &coordinate.interface)?;
    words(body, "COORDINATE_CODE", coordinate);
    words(body, "VERTEX_CODE", vertex);
    origin(body, "COORDINATE_ORIGIN", coordinate)?;
    origin(body, "VERTEX_ORIGIN", vertex)?;
    let varyings = vertex.interface.varying_components();
    writeln!(
        body,
        "/// Coordinate and vertex shader.\npub const SHADING: shader_interface::VertexShading<Vertex, {uniforms}, {varyings}> = \
         shader_interface::VertexShading::new(&VERTEX_CODE, &COORDINATE_CODE, &["
    )
    .map_err(io)?;
    for attribute in attributes {
        let in_coordinate = coordinate
            .interface
            .attributes
            .iter()
            .find(|other| other.name == attribute.name)
            .map(|other| 4 * other.offset_words);
        writeln!(
            body,
            "shader_interface::Attribute {{ name: {:?}, bytes: {}, memory_offset: {}, vertex_offset: {}, coordinate_offset: {in_coordinate:?} }},",
            attribute.name,
            4 * attribute.words(),
            4 * attribute.offset_words,
            4 * attribute.offset_words
        )
        .map_err(io)?;
    }
    let point_size = if vertex.interface.point_size { ".with_point_size()" } else { "" };
    writeln!(body, "]).with_origins(&VERTEX_ORIGIN, &COORDINATE_ORIGIN){point_size};").map_err(io)
}

/// Appends a program's origin.
fn origin(body: &mut String, name: &str, assembly: &Assembly) -> Result<(), String> {
    let sources = &assembly.warnings.sources;
    let file = sources.first().map_or("", |source| source.name.as_str());
    let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    // Of instructions in included files the line is not in this file.
    let line = |span: &Span| match sources.first() {
        Some(source) if span.file == 0 => line_and_column(&source.text, span.start as usize).0,
        _ => 0,
    };
    let lines = assembly.info.iter().map(|info| line(&info.span));
    let mut uniforms = Vec::new();
    for item in assembly.interface.stream() {
        let (name, words) = (item_name(&item), item.words());
        match words {
            1 => uniforms.push(name.to_owned()),
            _ => uniforms.extend((0..words).map(|word| format!("{name}[{word}]"))),
        }
    }
    origin::write(body, name, &file, lines, uniforms.into_iter()).map_err(|error| error.to_string())
}

/// The Rust type of an attribute's component, and the documentation of its values.
fn component(kind: AttributeKind) -> (&'static str, &'static str) {
    match kind {
        AttributeKind::F32 => ("f32", ""),
        AttributeKind::F16 => ("shader_interface::f16", ""),
        AttributeKind::I8 => ("i8", ""),
        AttributeKind::U8 => ("u8", ""),
        AttributeKind::I16 => ("i16", ""),
        AttributeKind::U16 => ("u16", ""),
        AttributeKind::I32 => ("i32", ""),
        AttributeKind::U32 => ("u32", ""),
        AttributeKind::Unorm8 => ("u8", ": 255 means 1"),
        AttributeKind::Snorm8 => ("i8", ": 127 means 1, -127 means -1"),
        AttributeKind::Unorm16 => ("u16", ": 65535 means 1"),
        AttributeKind::Snorm16 => ("i16", ": 32767 means 1, -32767 means -1"),
    }
}

/// Prefix of uniforms that the renderer fills in.
const VIEWPORT: &str = "viewport_";
const VIEWPORT_FIELDS: [&str; 4] = ["half_width", "half_height", "z_scale", "z_offset"];

/// Appends the type of the uniforms of a program with one stage and returns its name; a program without uniforms has no
/// such type.
fn uniform_type(body: &mut String, name: &str, interface: &Interface) -> Result<String, String> {
    let stream = interface.stream();
    if stream.is_empty() {
        return Ok("shader_interface::NoUniforms".to_owned());
    }
    let own: Vec<StreamItem<'_>> = stream.into_iter().filter(is_field).collect();
    structure(body, name, &own)?;
    let words = stream_words(&interface.stream());
    writeln!(body, "impl shader_interface::UniformData for {name} {{\nconst WORDS: usize = {words};")
        .map_err(|error| error.to_string())?;
    push(body, "push", interface)?;
    body.push_str("}\n");
    Ok(name.to_owned())
}

/// Appends the type of the uniforms of a vertex and its coordinate shader: the union of both.
fn vertex_uniform_type(
    body: &mut String,
    program: &str,
    vertex: &Interface,
    coordinate: &Interface,
) -> Result<String, String> {
    let mut all: Vec<StreamItem<'_>> = Vec::new();
    for item in vertex.stream().into_iter().chain(coordinate.stream()) {
        match all.iter().find(|other| item_name(other) == item_name(&item)) {
            Some(other) if !is_same(other, &item) => {
                return Err(format!("{program}: the uniform {} has two types", item_name(&item)));
            }
            Some(_) => {}
            None => all.push(item),
        }
    }
    if all.is_empty() {
        return Ok("shader_interface::NoUniforms".to_owned());
    }
    all.retain(is_field);
    structure(body, "Uniforms", &all)?;
    body.push_str("impl shader_interface::VertexUniforms for Uniforms {\n");
    let streams = (vertex.stream(), coordinate.stream());
    let same = |(one, other): (&StreamItem<'_>, &StreamItem<'_>)| {
        item_name(one) == item_name(other) && is_same(one, other) && one.words() == other.words()
    };
    let starts_with = streams.0.len() >= streams.1.len() && streams.0.iter().zip(&streams.1).all(same);
    let coordinate_words = if starts_with { 0 } else { stream_words(&streams.1) };
    let words = stream_words(&streams.0) + coordinate_words;
    writeln!(body, "const COORDINATE_READS_THE_SAME: bool = {starts_with};\nconst WORDS: usize = {words};")
        .map_err(|error| error.to_string())?;
    push(body, "push_vertex", vertex)?;
    push(body, "push_coordinate", coordinate)?;
    body.push_str("}\n");
    Ok("Uniforms".to_owned())
}

fn item_name<'i>(item: &StreamItem<'i>) -> &'i str {
    match item {
        StreamItem::Uniform(Uniform { name, .. }) | StreamItem::Texture(Texture { name, .. }, _) => name,
    }
}

/// Number of words of a program's uniforms.
fn stream_words(stream: &[StreamItem<'_>]) -> u32 {
    stream.iter().map(StreamItem::words).sum()
}

/// Whether the caller provides the value, and not the renderer.
fn is_field(item: &StreamItem<'_>) -> bool {
    !item_name(item).starts_with(VIEWPORT)
}

/// Whether two items of one name are one field.
fn is_same(one: &StreamItem<'_>, other: &StreamItem<'_>) -> bool {
    match (one, other) {
        (StreamItem::Uniform(one), StreamItem::Uniform(other)) => (one.ty, one.count) == (other.ty, other.count),
        (StreamItem::Texture(_, one), StreamItem::Texture(_, other)) => one.kind == other.kind,
        _ => false,
    }
}

/// Appends a structure with these uniforms and textures as its fields.
fn structure(body: &mut String, name: &str, items: &[StreamItem<'_>]) -> Result<(), String> {
    let io = |error: std::fmt::Error| error.to_string();
    let textures = items.iter().any(|item| matches!(item, StreamItem::Texture(..)));
    let derives = if textures { "Clone, Debug" } else { "Clone, Copy, Debug, PartialEq" };
    writeln!(body, "/// Uniforms in the order in which they are declared.\n#[derive({derives})]").map_err(io)?;
    if items.is_empty() {
        return writeln!(body, "pub struct {name};").map_err(io);
    }
    writeln!(body, "pub struct {name} {{").map_err(io)?;
    for item in items {
        match item {
            StreamItem::Uniform(uniform) => uniform_field(body, uniform)?,
            StreamItem::Texture(Texture { name, unit, .. }, words) => {
                let (kind, ty) = match words.kind {
                    TextureKind::TwoDimensional => ("two-dimensional texture", "Texture2d"),
                    TextureKind::TwoDimensional64 => ("two-dimensional texture of half floats", "Texture2d64"),
                    TextureKind::Cube => ("cube map", "TextureCube"),
                    TextureKind::Child => ("child image of a texture", "TextureChild"),
                };
                writeln!(body, "/// `{name}`: {kind}, looked up by TMU {unit}.\npub {name}: shader_interface::{ty},")
                    .map_err(io)?;
            }
        }
    }
    body.push_str("}\n");
    Ok(())
}

fn uniform_field(body: &mut String, Uniform { name, ty, count, .. }: &Uniform) -> Result<(), String> {
    let one = match ty {
        UniformType::Float => "f32".to_owned(),
        UniformType::Int => "i32".to_owned(),
        UniformType::Uint | UniformType::Texture | UniformType::Setup => "u32".to_owned(),
        UniformType::Color => "[u8; 4]".to_owned(),
        UniformType::Address => "shader_interface::v3d_hw::BusAddr".to_owned(),
        UniformType::Vec2 | UniformType::Vec3 | UniformType::Vec4 | UniformType::Mat3 | UniformType::Mat4 => {
            format!("[f32; {}]", ty.words())
        }
    };
    let whole = if *count == 1 { one } else { format!("[{one}; {count}]") };
    writeln!(body, "/// `{name}`: {}.\npub {name}: {whole},", ty.name()).map_err(|error| error.to_string())
}

/// Appends the function that writes a program's uniforms in the order in which it reads them.
fn push(body: &mut String, function: &str, interface: &Interface) -> Result<(), String> {
    let io = |error: std::fmt::Error| error.to_string();
    let items = interface.stream();
    let stream = if items.is_empty() { "_stream" } else { "stream" };
    writeln!(body, "#[inline(always)]\nfn {function}(&self, {stream}: &mut shader_interface::UniformStream<'_>) {{")
        .map_err(io)?;
    // Consecutive viewport uniforms are written together.
    let mut viewport: Vec<&str> = Vec::new();
    for item in &items {
        let field = match item {
            StreamItem::Uniform(uniform) => viewport_field(uniform)?,
            StreamItem::Texture(..) => None,
        };
        if let Some(field) = field {
            viewport.push(field);
            continue;
        }
        viewport_push(body, &mut viewport)?;
        let call = match item {
            StreamItem::Uniform(uniform) => uniform_push(uniform),
            StreamItem::Texture(Texture { name, .. }, words) => {
                format!("self.{name}.push(stream, {}, {});", words.lookups, words.lookup_words())
            }
        };
        writeln!(body, "{call}").map_err(io)?;
    }
    viewport_push(body, &mut viewport)?;
    body.push_str("}\n");
    Ok(())
}

/// The field of the viewport that a uniform refers to, if it does.
fn viewport_field(Uniform { name, ty, count, .. }: &Uniform) -> Result<Option<&str>, String> {
    match name.strip_prefix(VIEWPORT) {
        None => Ok(None),
        Some(field) if VIEWPORT_FIELDS.contains(&field) && (*ty, *count) == (UniformType::Float, 1) => Ok(Some(field)),
        Some(_) => {
            let names = VIEWPORT_FIELDS.map(|field| format!("{VIEWPORT}{field}")).join(", ");
            Err(format!(
                "{name}: uniforms that begin with {VIEWPORT} are filled in by the renderer, and must be of type float: {names}"
            ))
        }
    }
}

/// Appends code that writes fields of the viewport, if there are any.
fn viewport_push(body: &mut String, fields: &mut Vec<&str>) -> Result<(), String> {
    if fields.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = fields.drain(..).map(|field| format!("viewport.{field}.to_bits()")).collect();
    writeln!(body, "let viewport = *stream.viewport();\nstream.words(&[{}]);", words.join(", "))
        .map_err(|error| error.to_string())
}

fn uniform_push(Uniform { name, count, .. }: &Uniform) -> String {
    if *count == 1 {
        format!("shader_interface::UniformValue::push(&self.{name}, stream);")
    } else {
        format!("self.{name}.iter().for_each(|value| shader_interface::UniformValue::push(value, stream));")
    }
}

/// Appends a program's words.
fn words(body: &mut String, name: &str, assembly: &Assembly) {
    let list: Vec<String> = assembly.words.iter().map(|word| format!("{word:#018x}")).collect();
    body.push_str(&format!("const {name}: [u64; {}] = [{}];\n", list.len(), list.join(", ")));
}

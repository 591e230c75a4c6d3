//! Generates Rust from compiled WGSL: one module per source, of the same form as those of assembled programs.

use std::fmt::Write;
use std::path::Path;

use shader_compiler::interface::{
    Attribute, Buffer, Field, Interface, Number, Stage, Texture, WORDS_BEFORE_ITERATION, Workgroups,
};
use shader_compiler::ssa::{Axis, Sampling, Share, SizeForm, StreamWord, Viewport};
use shader_compiler::{Compiled, Error, Options, compile, word_name};

use crate::origin;

/// Appends the module of one source.
pub(crate) fn module(code: &mut String, name: &str, source: &CompiledSource) -> Result<(), String> {
    write_module(code, name, source).map_err(|error| error.to_string())
}

/// The programs of a source.
pub(crate) struct CompiledSource {
    /// Name of its file.
    file: String,
    text: String,
    pub(crate) programs: Vec<Compiled>,
    /// The fragment program for colours of half floats, if there is one that fits to the others.
    pub(crate) half: Option<Compiled>,
}

impl CompiledSource {
    /// Compiles a source.
    pub(crate) fn new(text: &str, path: &str, options: &Options) -> Result<Self, Error> {
        let programs = compile(text, path, options)?;
        let fragment = programs.iter().find(|program| program.stage == Stage::Fragment);
        let half = match fragment {
            None => None,
            Some(fragment) => {
                // What has too many values for half floats draws to bytes only.
                let programs = compile(text, path, &Options { half_color: true, ..options.clone() });
                let half =
                    programs.ok().and_then(|programs| programs.into_iter().find(|one| one.stage == Stage::Fragment));
                half.filter(|half| half.interface.varyings == fragment.interface.varyings)
            }
        };
        let file = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { file, text: text.to_owned(), programs, half })
    }
}

impl CompiledSource {
    /// Appends the origin of one of its programs.
    fn origin(&self, code: &mut String, name: &str, program: &Compiled) -> std::fmt::Result {
        let line = |at: usize| 1 + self.text.bytes().take(at).filter(|&byte| byte == b'\n').count();
        let lines = program.places.iter().map(|place| place.as_ref().map_or(0, |place| line(place.start)));
        let word_of = |word: &StreamWord| match word {
            StreamWord::Constant(_) => "constant".to_owned(),
            word => word_name(&program.interface, *word),
        };
        let uniforms = program.interface.stream.iter().map(word_of);
        origin::write(code, name, &self.file, lines, uniforms)
    }
}

fn write_module(code: &mut String, name: &str, source: &CompiledSource) -> std::fmt::Result {
    let CompiledSource { programs, half, .. } = source;
    let half = half.as_ref();
    let of = |stage: Stage| programs.iter().find(|program| program.stage == stage);
    writeln!(code, "/// `{name}`, see its source for what it does.\npub mod {name} {{")?;
    if let (Some(coordinate), Some(vertex)) = (of(Stage::Coordinate), of(Stage::Vertex)) {
        vertex_shading(code, source, coordinate, vertex)?;
    }
    if let Some(fragment) = of(Stage::Fragment) {
        let interface = &fragment.interface;
        let interfaces: Vec<&Interface> = std::iter::once(interface).chain(half.map(|half| &half.interface)).collect();
        let uniforms = structure(code, "FragmentUniforms", &interfaces)?;
        if uniforms != NONE {
            let words = interfaces.iter().map(|interface| interface.stream.len()).max().unwrap_or(0);
            writeln!(code, "impl shader_interface::UniformData for {uniforms} {{\nconst WORDS: usize = {words};")?;
            push(code, "push", interface)?;
            if let Some(half) = half.filter(|half| half.interface.stream != interface.stream) {
                push(code, "push_half", &half.interface)?;
            }
            writeln!(code, "}}")?;
        }
        words(code, "FRAGMENT_CODE", fragment)?;
        source.origin(code, "FRAGMENT_ORIGIN", fragment)?;
        let half = match half {
            None => String::new(),
            Some(half) => {
                words(code, "HALF_FRAGMENT_CODE", half)?;
                source.origin(code, "HALF_FRAGMENT_ORIGIN", half)?;
                let threading = half.interface.threading;
                format!(
                    ".with_half_color(&HALF_FRAGMENT_CODE, shader_interface::v3d_hw::control_list::Threading::{threading:?})\
                     .with_half_origin(&HALF_FRAGMENT_ORIGIN)"
                )
            }
        };
        let flat = match interface.flat_varyings {
            0 => String::new(),
            flat => format!(".with_flat_varyings({flat:#x})"),
        };
        let depth = if interface.writes_depth { ".writing_depth()" } else { "" };
        let discards = if interface.discards { ".discarding()" } else { "" };
        let points = if interface.points { ".of(shader_interface::PrimitiveKind::Points)" } else { "" };
        writeln!(
            code,
            "/// The fragment shader.\npub const FRAGMENT: shader_interface::Fragment<{uniforms}, {}> = shader_interface::Fragment::new(&FRAGMENT_CODE, \
             shader_interface::v3d_hw::control_list::Threading::{:?}, shader_interface::Ending::Color)\
             .with_origin(&FRAGMENT_ORIGIN){half}{flat}{depth}{discards}{points};",
            interface.varyings, interface.threading
        )?;
    }
    if let Some(program) = of(Stage::Compute) {
        compute(code, program)?;
    }
    writeln!(code, "}}")
}

fn compute(code: &mut String, program: &Compiled) -> std::fmt::Result {
    let interface = &program.interface;
    let bindings = structure(code, "Bindings", &[interface])?;
    let words_read = interface.stream.len();
    writeln!(code, "impl shader_interface::ComputeUniforms for {bindings} {{\nconst WORDS: usize = {words_read};")?;
    push(code, "push", interface)?;
    writeln!(code, "}}")?;
    words(code, "COMPUTE_CODE", program)?;
    let Workgroups { size, parts, together, memory_bytes, vpm_rows } = interface.workgroups;
    writeln!(
        code,
        "/// The compute program.\npub const COMPUTE: shader_interface::ComputeProgram<{bindings}> = shader_interface::ComputeProgram::new(&COMPUTE_CODE, \
         shader_interface::Workgroups {{ size: {size:?}, parts: {parts}, together: {together}, memory_bytes: {memory_bytes}, vpm_rows: {vpm_rows} }});"
    )
}

/// The type of uniforms of a program that has none.
const NONE: &str = "shader_interface::NoUniforms";

fn vertex_shading(
    code: &mut String,
    source: &CompiledSource,
    coordinate: &Compiled,
    vertex: &Compiled,
) -> std::fmt::Result {
    let attributes = &vertex.interface.attributes;
    writeln!(code, "/// One vertex in memory.\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Vertex {{")?;
    for Attribute { name, components, number, .. } in attributes.iter().filter(|attribute| !attribute.is_vertex_index) {
        writeln!(code, "/// `{name}`.\npub {name}: [{}; {components}],", rust_type(*number))?;
    }
    let words_of_vertex: u32 = attributes.iter().map(Attribute::words).sum();
    writeln!(
        code,
        "}}\nimpl shader_interface::VertexData for Vertex {{\nconst BYTES: usize = {};",
        4 * words_of_vertex
    )?;
    let numbered = attributes.iter().any(|attribute| attribute.is_vertex_index);
    let parameter = "words: &mut shader_interface::alloc::vec::Vec<u32>";
    writeln!(code, "fn push(&self, {parameter}) {{")?;
    if numbered {
        writeln!(code, "self.push_numbered(0, words);\n}}\nfn push_numbered(&self, number: u32, {parameter}) {{")?;
    }
    for Attribute { name, is_vertex_index, .. } in attributes {
        if *is_vertex_index {
            writeln!(code, "words.push(number);")?;
        } else {
            writeln!(code, "shader_interface::push_attribute(&self.{name}, words);")?;
        }
    }
    writeln!(code, "}}\n}}")?;

    let interfaces = [&vertex.interface, &coordinate.interface];
    let uniforms = structure(code, "Uniforms", &interfaces)?;
    if uniforms != NONE {
        writeln!(code, "impl shader_interface::VertexUniforms for {uniforms} {{")?;
        let starts_with = vertex.interface.stream.starts_with(&coordinate.interface.stream);
        let own = if starts_with { 0 } else { coordinate.interface.stream.len() };
        let words = vertex.interface.stream.len() + own;
        writeln!(code, "const COORDINATE_READS_THE_SAME: bool = {starts_with};\nconst WORDS: usize = {words};")?;
        push(code, "push_vertex", &vertex.interface)?;
        push(code, "push_coordinate", &coordinate.interface)?;
        writeln!(code, "}}")?;
    }
    words(code, "COORDINATE_CODE", coordinate)?;
    words(code, "VERTEX_CODE", vertex)?;
    source.origin(code, "COORDINATE_ORIGIN", coordinate)?;
    source.origin(code, "VERTEX_ORIGIN", vertex)?;
    writeln!(
        code,
        "/// Coordinate and vertex shader.\npub const SHADING: shader_interface::VertexShading<Vertex, {uniforms}, {}> = \
         shader_interface::VertexShading::new(&VERTEX_CODE, &COORDINATE_CODE, &[",
        vertex.interface.varyings
    )?;
    for attribute @ Attribute { name, offset_words, coordinate_offset_words, .. } in attributes {
        let in_coordinate = coordinate_offset_words.map(|words| 4 * words);
        let offset = 4 * offset_words;
        writeln!(
            code,
            "shader_interface::Attribute {{ name: {name:?}, bytes: {}, memory_offset: {offset}, vertex_offset: {offset}, \
             coordinate_offset: {in_coordinate:?} }},",
            4 * attribute.words()
        )?;
    }
    let point_size = if vertex.interface.point_size { ".with_point_size()" } else { "" };
    writeln!(code, "]).with_origins(&VERTEX_ORIGIN, &COORDINATE_ORIGIN){point_size};")
}

fn rust_type(number: Number) -> &'static str {
    match number {
        Number::Float => "f32",
        Number::Int => "i32",
        Number::Uint => "u32",
        Number::Half => "shader_interface::f16",
    }
}

/// Appends a structure with the fields and textures that programs read, and returns its name.
fn structure(code: &mut String, name: &str, interfaces: &[&Interface]) -> Result<String, std::fmt::Error> {
    if interfaces.iter().all(|interface| interface.stream.is_empty()) {
        return Ok(NONE.to_owned());
    }
    let interface = interfaces[0];
    let fields: Vec<&Field> = (0..)
        .zip(&interface.fields)
        .filter(|(number, _)| interfaces.iter().any(|interface| interface.reads_field(*number)))
        .map(|(_, field)| field)
        .collect();
    let textures: Vec<&Texture> = (0..)
        .zip(&interface.textures)
        .filter(|(number, _)| interfaces.iter().any(|interface| interface.reads_texture(*number)))
        .map(|(_, texture)| texture)
        .collect();
    let buffers: Vec<&Buffer> = (0..)
        .zip(&interface.buffers)
        .filter(|(number, _)| interfaces.iter().any(|interface| interface.reads_buffer(*number)))
        .map(|(_, buffer)| buffer)
        .collect();
    let derives =
        if textures.is_empty() && buffers.is_empty() { "Clone, Copy, Debug, PartialEq" } else { "Clone, Debug" };
    writeln!(code, "/// Uniforms in the order in which they are declared.\n#[derive({derives})]")?;
    if fields.is_empty() && textures.is_empty() && buffers.is_empty() {
        writeln!(code, "pub struct {name};")?;
        return Ok(name.to_owned());
    }
    writeln!(code, "pub struct {name} {{")?;
    for Field { name, number, components, count } in fields {
        let one = match components {
            1 => rust_type(*number).to_owned(),
            components => format!("[{}; {components}]", rust_type(*number)),
        };
        let whole = count.map_or(one.clone(), |count| format!("[{one}; {count}]"));
        writeln!(code, "/// `{name}`.\npub {name}: {whole},")?;
    }
    for Texture { name, cube } in textures {
        let (kind, ty) = if *cube { ("cube map", "TextureCube") } else { ("two-dimensional texture", "Texture2d") };
        writeln!(code, "/// `{name}`: {kind}.\npub {name}: shader_interface::{ty},")?;
    }
    for Buffer { name, writable, number, .. } in buffers {
        let ty = if *writable { "StorageMut" } else { "Storage" };
        // Arrays of numbers of several types are words.
        let number = number.map_or("u32", rust_type);
        writeln!(code, "/// `{name}`.\npub {name}: shader_interface::{ty}<{number}>,")?;
    }
    writeln!(code, "}}")?;
    Ok(name.to_owned())
}

/// Appends the function that writes a program's uniforms in the order in which it reads them.
fn push(code: &mut String, function: &str, interface: &Interface) -> std::fmt::Result {
    let stream = if interface.stream.is_empty() { "_stream" } else { "stream" };
    let compute = interface.workgroups.parts > 0;
    let share = if compute { "share: &shader_interface::Share, " } else { "" };
    writeln!(
        code,
        "#[inline(always)]\nfn {function}(&self, {share}{stream}: &mut shader_interface::UniformStream<'_>) {{"
    )?;
    // Consecutive floats are written together.
    let mut floats: Vec<(String, bool)> = Vec::new();
    for word in &interface.stream {
        let (value, is_float) = value_of(interface, *word);
        if !is_float && !floats.is_empty() {
            push_floats(code, &floats)?;
            floats.clear();
        }
        if is_float {
            floats.push((value, matches!(word, StreamWord::Viewport(_))));
        } else if let (StreamWord::OwnAddress(number), false) = (word, compute) {
            writeln!(code, "stream.own_address({number});")?;
        } else {
            writeln!(code, "stream.word({value});")?;
        }
    }
    if !floats.is_empty() {
        push_floats(code, &floats)?;
    }
    for (number, Texture { name, .. }) in (0..).zip(&interface.textures) {
        if interface.reads_texture(number) {
            // The parameter words are already written; this only keeps the texture alive.
            writeln!(code, "self.{name}.push(stream, 0, 0);")?;
        }
    }
    for (number, Buffer { name, fixed_bytes, stride_bytes, .. }) in (0..).zip(&interface.buffers) {
        if interface.reads_buffer(number) {
            writeln!(code, "self.{name}.keep({fixed_bytes}, {stride_bytes}, stream);")?;
        }
    }
    writeln!(code, "}}")
}

/// Appends code that writes floats, each with whether it is the viewport's.
fn push_floats(code: &mut String, floats: &[(String, bool)]) -> std::fmt::Result {
    let listed = |floats: &mut dyn Iterator<Item = &(String, bool)>| {
        floats.map(|(value, _)| value.as_str()).collect::<Vec<_>>().join(", ")
    };
    let all = listed(&mut floats.iter());
    if floats.iter().any(|(_, is_viewport)| *is_viewport) {
        let unsure = listed(&mut floats.iter().filter(|(_, is_viewport)| !is_viewport));
        writeln!(code, "stream.floats_of(&[{all}], &[{unsure}]);")
    } else {
        writeln!(code, "stream.floats(&[{all}]);")
    }
}

/// The Rust expression of a word of the stream, and whether it is a float.
fn value_of(interface: &Interface, word: StreamWord) -> (String, bool) {
    match word {
        StreamWord::Field { field, index } => {
            let Some(Field { name, number, components, count }) = interface.fields.get(field as usize) else {
                return ("0".to_owned(), false);
            };
            let element = count.map_or_else(String::new, |_| format!("[{}]", index / components));
            let component = if *components == 1 { String::new() } else { format!("[{}]", index % components) };
            let value = format!("self.{name}{element}{component}");
            match number {
                Number::Float => (value, true),
                Number::Int => (format!("{value} as u32"), false),
                Number::Uint | Number::Half => (value, false),
            }
        }
        StreamWord::Viewport(viewport) => {
            let field = match viewport {
                Viewport::HalfWidth => "half_width",
                Viewport::HalfHeight => "half_height",
                Viewport::ZScale => "z_scale",
                Viewport::ZOffset => "z_offset",
            };
            (format!("stream.viewport().{field}"), true)
        }
        StreamWord::Instance => ("stream.instance()".to_owned(), false),
        StreamWord::Constant(bits) => (format!("{bits:#x}"), false),
        StreamWord::Buffer { buffer, offset } => {
            let name = interface.buffers.get(buffer as usize).map_or("", |buffer| buffer.name.as_str());
            (behind(&format!("self.{name}.address().0"), offset), false)
        }
        StreamWord::Length(buffer) => match interface.buffers.get(buffer as usize) {
            Some(Buffer { name, fixed_bytes, stride_bytes, .. }) => {
                (format!("self.{name}.elements({fixed_bytes}, {stride_bytes})"), false)
            }
            None => ("0".to_owned(), false),
        },
        StreamWord::OwnAddress(_) if interface.workgroups.parts == 0 => (String::new(), false),
        StreamWord::OwnAddress(number) => (behind("share.stream.0", 4 * number), false),
        StreamWord::WorkgroupMemory(offset) => (behind("share.workgroup_memory.0", offset), false),
        StreamWord::VpmMemory(offset) => (behind("share.vpm_memory", offset), false),
        StreamWord::Share(share) => {
            let value = match share {
                Share::First(axis) => format!("share.first[{axis}]"),
                Share::Part => "share.part".to_owned(),
                Share::Iterations => "share.iterations".to_owned(),
                Share::Row => "share.row".to_owned(),
                Share::Count(axis) => format!("share.count[{axis}]"),
                Share::Stream => format!("share.stream.0 + {}", 4 * WORDS_BEFORE_ITERATION),
            };
            (value, false)
        }
        StreamWord::Texture { texture, parameter, sampling } => {
            let words = match sampling {
                Sampling::Automatic => "words",
                Sampling::Level => "level_words",
                Sampling::Nearest => "nearest_words",
                Sampling::Texel => "texel_words",
            };
            (format!("self.{}.{words}()[{parameter}]", texture_name(interface, texture)), false)
        }
        StreamWord::TextureSize { texture, axis, level, form } => {
            let side = match axis {
                Axis::Width => 0,
                Axis::Height => 1,
            };
            let size = format!("self.{}.size_px({level})[{side}]", texture_name(interface, texture));
            match form {
                SizeForm::Integer => (size, false),
                SizeForm::Float => (format!("{size} as f32"), true),
                SizeForm::Inverse => (format!("1.0 / {size} as f32"), true),
            }
        }
        StreamWord::TextureLevels { texture } => (format!("self.{}.levels()", texture_name(interface, texture)), false),
    }
}

fn texture_name(interface: &Interface, number: u32) -> &str {
    interface.textures.get(number as usize).map_or("", |texture| texture.name.as_str())
}

/// An expression for an address plus an offset in bytes.
fn behind(address: &str, bytes: u32) -> String {
    if bytes == 0 { address.to_owned() } else { format!("{address} + {bytes}") }
}

/// Appends a program's words.
fn words(code: &mut String, name: &str, program: &Compiled) -> std::fmt::Result {
    let list: Vec<String> = program.words.iter().map(|word| format!("{word:#018x}")).collect();
    writeln!(code, "const {name}: [u64; {}] = [{}];", list.len(), list.join(", "))
}

//! Shaders that replace those of a build script, while the program runs.
//!
//! A pipeline of types that a build script has made ([`Pipeline`](crate::Pipeline)) has uniforms that are written in the order in which the built program reads
//! them. A source that was changed reads them in another order, and has other constants among them; so its fragment program gets them in its own order from
//! what the types have written, by name. For that, the device has to know the order of the built program: the first source of a file
//! ([`Device::replace_shader`]) is the one that was built, which is checked by its instructions, and later ones replace it.
//!
//! # Limits
//! A fragment shader may read only what the built one reads: of a uniform, only those components. A vertex shader is replaced if it reads the same words in the
//! same order, with the same constants. Varyings and attributes stay as they are. What is beyond that is an error, and the program has to be built again.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use shader_compiler::interface::{Interface, Stage};
use shader_compiler::ssa::{StreamWord, Viewport};
use shader_compiler::{Compiled, Compiler, Options, word_name};
use shader_interface::{PrimitiveKind, UniformStream};
use v3d::Platform;

use super::uniforms::of_viewport;
use crate::device::Device;
use crate::error::Error;
use crate::pipeline::programs::Programs;

/// The programs of a source.
#[derive(Clone, Debug)]
pub struct Variants {
    stages: Vec<Compiled>,
    /// The fragment program for targets of half floats, if there is one.
    half: Option<Compiled>,
}

impl Variants {
    /// Compiles a source as a build script does.
    ///
    /// # Errors
    /// When the source has an error, which has a place.
    pub fn compile(options: &Options, name: &str, source: &str) -> Result<Self, shader_compiler::Error> {
        let stages: Vec<Compiled> = Compiler::new(options.clone()).compile(name, source)?.stages().to_vec();
        let fragment = stages.iter().find(|stage| stage.stage == Stage::Fragment);
        let half = fragment.and_then(|fragment| {
            // What has too many values for half floats draws to bytes only.
            let halves = Compiler::new(Options { half_color: true, ..options.clone() }).compile(name, source).ok()?;
            let half = halves.stage(Stage::Fragment)?.clone();
            (half.interface.varyings == fragment.interface.varyings).then_some(half)
        });
        Ok(Self { stages, half })
    }

    /// The programs, without the variant for half floats.
    pub fn stages(&self) -> &[Compiled] {
        &self.stages
    }

    fn stage(&self, stage: Stage) -> Option<&Compiled> {
        self.stages.iter().find(|compiled| compiled.stage == stage)
    }
}

/// The first and the latest source of a file.
#[derive(Clone, Debug)]
struct Replacement {
    file: String,
    first: Rc<Variants>,
    latest: Rc<Variants>,
}

/// The sources of all files, and the files whose shaders pipelines were created with.
#[derive(Debug, Default)]
pub(crate) struct Replacements {
    all: Vec<Replacement>,
    files: Vec<&'static str>,
}

impl<P: Platform> Device<'_, P> {
    /// Has pipelines that are created from now on draw with these programs, in place of those that were built of the file. The first programs of a file have to
    /// be those that were built.
    ///
    /// # Errors
    /// When a pipeline is being created.
    pub fn replace_shader(&self, file: &str, programs: Variants) -> Result<(), Error> {
        let programs = Rc::new(programs);
        let all = &mut self.replacements()?.all;
        match all.iter_mut().find(|replacement| replacement.file == file) {
            Some(replacement) => replacement.latest = programs,
            None => all.push(Replacement { file: file.into(), first: Rc::clone(&programs), latest: programs }),
        }
        Ok(())
    }

    /// The files of the shaders that pipelines were created with since this was asked last.
    ///
    /// # Errors
    /// When a pipeline is being created.
    pub fn take_shader_files(&self) -> Result<Vec<&'static str>, Error> {
        Ok(core::mem::take(&mut self.replacements()?.files))
    }
}

/// A word of a fragment program's stream, in terms of what the types have written.
#[derive(Clone, Copy, Debug)]
enum Word {
    /// The word of this number.
    Written(usize),
    Constant(u32),
    Viewport(Viewport),
    Instance,
    OwnAddress(u32),
}

/// The stream of a fragment program that replaces another.
#[derive(Clone, Debug)]
pub(crate) struct Order(Vec<Word>);

impl Order {
    /// The order of `latest` in terms of the stream of `first`.
    fn new(first: &Interface, latest: &Interface) -> Result<Self, String> {
        let written: Vec<String> = first.stream.iter().map(|&word| word_name(first, word)).collect();
        let order = latest.stream.iter().map(|&word| {
            Ok(match word {
                StreamWord::Constant(bits) => Word::Constant(bits),
                StreamWord::Viewport(viewport) => Word::Viewport(viewport),
                StreamWord::Instance => Word::Instance,
                StreamWord::OwnAddress(number) => Word::OwnAddress(number),
                word => {
                    let name = word_name(latest, word);
                    let known = written.iter().position(|written| *written == name);
                    Word::Written(
                        known.ok_or_else(|| format!("it reads {name}, which the shader that was built does not"))?,
                    )
                }
            })
        });
        order.collect::<Result<_, String>>().map(Self)
    }

    /// The words, if all are constants.
    fn constants(&self) -> Option<Vec<u32>> {
        self.0.iter().map(|word| if let Word::Constant(bits) = word { Some(*bits) } else { None }).collect()
    }

    /// Appends the words to a stream; `push` writes them in the order of the program that was built.
    pub(crate) fn push(&self, push: impl FnOnce(&mut UniformStream<'_>), stream: &mut UniformStream<'_>) {
        let (mut words, mut owners) = (Vec::new(), Vec::new());
        let viewport = *stream.viewport();
        push(&mut UniformStream::new(&mut words, &mut owners, viewport).of_instance(stream.instance()));
        for word in &self.0 {
            match *word {
                Word::Written(number) => stream.word(words.get(number).copied().unwrap_or(0)),
                Word::Constant(bits) => stream.word(bits),
                Word::Viewport(part) => stream.float(of_viewport(part, &viewport)),
                Word::Instance => stream.word(stream.instance()),
                Word::OwnAddress(number) => stream.own_address(number),
            }
        }
        owners.into_iter().for_each(|owner| stream.keep(owner));
    }
}

/// The replacements of a pipeline's two sources.
#[derive(Debug)]
pub(crate) struct Replaced {
    label: &'static str,
    vertex: Option<Replacement>,
    fragment: Option<Replacement>,
}

/// How the fragment program's uniforms are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uniforms {
    /// In another order than the types write them.
    pub(crate) order: Option<Order>,
    /// Before those of the tail: of a program that was built without any uniforms.
    pub(crate) constants: Vec<u32>,
}

impl Replaced {
    /// What replaces these programs.
    pub(crate) fn find<P: Platform>(
        device: &Device<'_, P>,
        label: &'static str,
        programs: &Programs<'_>,
    ) -> Result<Self, Error> {
        let mut replacements = device.replacements()?;
        let vertex = programs.vertex.and_then(|vertex| vertex.vertex_origin).map(|origin| origin.file);
        let fragment = programs.fragment.origin.map(|origin| origin.file);
        for file in [vertex, fragment].into_iter().flatten() {
            if !replacements.files.contains(&file) {
                replacements.files.push(file);
            }
        }
        let find = |file: &'static str| replacements.all.iter().find(|known| known.file == file).cloned();
        Ok(Self { label, vertex: vertex.and_then(find), fragment: fragment.and_then(find) })
    }

    /// Puts the replacements into a pipeline's programs.
    pub(crate) fn put_into<'r>(&'r self, programs: &mut Programs<'r>, half_color: bool) -> Result<Uniforms, Error> {
        self.put_vertex(programs).and_then(|()| self.put_fragment(programs, half_color)).map_err(|(file, why)| {
            Error::Replaced { label: self.label, why: format!("{file} cannot be used without building again: {why}") }
        })
    }

    fn put_vertex<'r>(&'r self, programs: &mut Programs<'r>) -> Result<(), (String, String)> {
        let (Some(Replacement { file, first, latest }), Some(vertex)) = (&self.vertex, &mut programs.vertex) else {
            return Ok(());
        };
        let wrong = |why: &str| (file.clone(), why.to_string());
        for (stage, built) in [(Stage::Vertex, vertex.vertex), (Stage::Coordinate, vertex.coordinate)] {
            let (Some(first), Some(latest)) = (first.stage(stage), latest.stage(stage)) else {
                return Err(wrong("it has no vertex shader"));
            };
            if first.words != built {
                return Err(wrong("the program was built of another version of it"));
            }
            let (now, then) = (&latest.interface, &first.interface);
            let shape = |of: &Interface| (of.attributes.clone(), of.varyings, of.point_size);
            if shape(now) != shape(then) {
                return Err(wrong("its vertices or varyings have changed"));
            }
            let stream =
                |of: &Interface| -> Vec<String> { of.stream.iter().map(|&word| word_name(of, word)).collect() };
            if stream(now) != stream(then) {
                return Err(wrong("its vertex shader reads other uniforms or constants, or in another order"));
            }
        }
        if let (Some(new), Some(coordinate)) = (latest.stage(Stage::Vertex), latest.stage(Stage::Coordinate)) {
            (vertex.vertex, vertex.coordinate) = (&new.words, &coordinate.words);
            (vertex.vertex_origin, vertex.coordinate_origin) = (None, None);
        }
        Ok(())
    }

    fn put_fragment<'r>(&'r self, programs: &mut Programs<'r>, half_color: bool) -> Result<Uniforms, (String, String)> {
        let Some(Replacement { file, first, latest }) = &self.fragment else { return Ok(Uniforms::default()) };
        let wrong = |why: &str| (file.clone(), why.to_string());
        let fragment = &mut programs.fragment;
        let variant = |of: &'r Variants| if half_color { of.half.as_ref() } else { of.stage(Stage::Fragment) };
        let built = if half_color { fragment.half.map(|(code, _)| code) } else { Some(fragment.code) };
        let (Some(first), Some(latest), Some(built)) = (variant(first), variant(latest), built) else {
            return Err(wrong("it has no fragment shader for this target"));
        };
        if first.words != built {
            return Err(wrong("the program was built of another version of it"));
        }
        let now = &latest.interface;
        if now.varyings as usize != programs.varyings || now.points != (fragment.primitive == PrimitiveKind::Points) {
            return Err(wrong("its varyings have changed"));
        }
        let order = Order::new(&first.interface, now).map_err(|why| (file.clone(), why))?;
        fragment.code = &latest.words;
        fragment.threading = now.threading;
        fragment.half = fragment.half.map(|_| (latest.words.as_slice(), now.threading));
        fragment.flat_varyings = now.flat_varyings;
        (fragment.writes_depth, fragment.discards) = (now.writes_depth, now.discards);
        (fragment.origin, fragment.half_origin) = (None, None);
        if first.interface.stream.is_empty() {
            let constants = order.constants().ok_or_else(|| wrong("it reads uniforms, and was built without any"))?;
            return Ok(Uniforms { order: None, constants });
        }
        Ok(Uniforms { order: Some(order), constants: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shader_interface::ViewportUniforms;

    const DECLARED: &str = "struct Light { color: vec3<f32>, haze: vec3<f32>, share: f32 }
        @group(0) @binding(0) var<uniform> light: Light;";

    fn fragment(body: &str) -> Interface {
        let source = format!("{DECLARED} @fragment fn fs_main() -> @location(0) vec4<f32> {{ return {body}; }}");
        let variants = Variants::compile(&Options::default(), "a.wgsl", &source).unwrap();
        variants.stage(Stage::Fragment).unwrap().interface.clone()
    }

    /// A number for each word: `color[0]` to `color[2]` are 100 to 102, `haze` is 200 to 202, `share` 300.
    fn number(name: &str) -> u32 {
        let (field, index) = name.split_once('[').unwrap();
        let index: u32 = index.trim_end_matches(']').parse().unwrap();
        match field {
            "color" => 100 + index,
            "haze" => 200 + index,
            "share" => 300 + index,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn words_come_in_the_order_of_the_latest_program() {
        let first = fragment("vec4(light.color * light.share + light.haze, 1.0)");
        let latest = fragment("vec4(light.haze.zyx * light.share - 3.25 * light.color, 1.0)");
        let (mut words, mut owners) = (Vec::new(), Vec::new());
        let mut stream = UniformStream::new(&mut words, &mut owners, ViewportUniforms::NONE);
        let built = |stream: &mut UniformStream<'_>| {
            for &word in &first.stream {
                match word {
                    StreamWord::Constant(bits) => stream.word(bits),
                    word => stream.word(number(&word_name(&first, word))),
                }
            }
        };
        Order::new(&first, &latest).unwrap().push(built, &mut stream);
        let expected = latest.stream.iter().map(|&word| match word {
            StreamWord::Constant(bits) => bits,
            word => number(&word_name(&latest, word)),
        });
        assert_eq!(words, expected.collect::<Vec<_>>());
        assert!(words.contains(&3.25f32.to_bits()), "the constant is no word of the stream");
    }

    #[test]
    fn what_was_not_read_before_is_named() {
        let first = fragment("vec4(light.color, 1.0)");
        let why = Order::new(&first, &fragment("vec4(light.color + light.haze.y, 1.0)")).unwrap_err();
        assert_eq!(why, "it reads haze[1], which the shader that was built does not");
        assert!(Order::new(&first, &fragment("vec4(0.3)")).unwrap().constants().is_some());
        assert!(Order::new(&first, &first).unwrap().constants().is_none());
    }
}

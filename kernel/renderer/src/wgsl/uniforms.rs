//! Uniforms that are set by name.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use shader_compiler::interface::{Field, Interface, Number};
use shader_compiler::ssa::{Axis, Sampling, SizeForm, StreamWord, Viewport};
use shader_interface::{
    AnyKind, Storage, Texture2d, TextureBinding, TextureCube, UniformData, UniformStream, VertexUniforms,
    ViewportUniforms,
};

use super::values::{Values, described};
use super::{Error, Stages};

/// The uniforms, textures and storage buffers of a shader. A draw copies them, so they can be changed for the next draw.
#[derive(Clone, Debug)]
pub struct Uniforms {
    stages: Rc<Stages>,
    /// The words of each field.
    fields: Vec<Vec<u32>>,
    /// The texture of each declaration, with its type.
    textures: Vec<Option<TextureBinding<AnyKind>>>,
    buffers: Vec<Option<Storage<u32>>>,
}

impl Uniforms {
    pub(super) fn new(stages: Rc<Stages>) -> Self {
        let interface = stages.interface();
        let fields = interface.fields.iter().map(|field| vec![0; words_of_field(field)]).collect();
        let (textures, buffers) = (vec![None; interface.textures.len()], vec![None; interface.buffers.len()]);
        Self { stages, fields, textures, buffers }
    }

    fn interface(&self) -> &Interface {
        self.stages.interface()
    }

    /// Sets a uniform: a number, a vector, a matrix in row-major order ([`rows`](crate::rows)), or an array of these, from an array of numbers.
    ///
    /// # Errors
    /// When there is no such uniform, or its type or length is different.
    pub fn set<T>(&mut self, name: &str, values: T) -> Result<(), Error>
    where
        for<'a> &'a T: Into<Values<'a>>,
    {
        self.set_values(name, (&values).into())
    }

    /// The same from a slice of numbers.
    ///
    /// # Errors
    /// As [`Uniforms::set`].
    pub fn set_values(&mut self, name: &str, values: Values<'_>) -> Result<(), Error> {
        let number = self.stages.field(name)?;
        let field = &self.interface().fields[number];
        if field.number != values.number() || words_of_field(field) != values.len() {
            return Err(Error::Kind {
                shader: self.stages.name.clone(),
                name: name.to_string(),
                expected: described(field),
                given: values.described(),
            });
        }
        self.fields[number] = values.bits();
        Ok(())
    }

    /// Sets a texture.
    ///
    /// # Errors
    /// When there is no such texture, or it is a cube map.
    pub fn set_texture(&mut self, name: &str, texture: Texture2d) -> Result<(), Error> {
        let number = self.texture(name, false)?;
        self.textures[number] = Some(texture.of_any_kind());
        Ok(())
    }

    /// Sets a cube map.
    ///
    /// # Errors
    /// When there is no such texture, or it is not a cube map.
    pub fn set_cube(&mut self, name: &str, texture: TextureCube) -> Result<(), Error> {
        let number = self.texture(name, true)?;
        self.textures[number] = Some(texture.of_any_kind());
        Ok(())
    }

    /// Sets a storage buffer for vertex and fragment shaders, which read it.
    ///
    /// # Errors
    /// When there is no such buffer.
    pub fn set_buffer(&mut self, name: &str, buffer: Storage<u32>) -> Result<(), Error> {
        let buffers = &self.interface().buffers;
        let Some(number) = buffers.iter().position(|buffer| buffer.name == name) else {
            let known = buffers.iter().map(|buffer| format!("`{}`", buffer.name)).collect();
            return Err(self.stages.unknown("storage buffer", name, known));
        };
        self.buffers[number] = Some(buffer);
        Ok(())
    }

    fn texture(&self, name: &str, cube: bool) -> Result<usize, Error> {
        let textures = &self.interface().textures;
        let kind = |cube| if cube { "a cube map" } else { "a two-dimensional texture" };
        let Some(number) = textures.iter().position(|texture| texture.name == name) else {
            let known = textures.iter().map(|texture| format!("`{}` ({})", texture.name, kind(texture.cube)));
            return Err(self.stages.unknown("texture", name, known.collect()));
        };
        if textures[number].cube == cube {
            return Ok(number);
        }
        Err(Error::Kind {
            shader: self.stages.name.clone(),
            name: name.to_string(),
            expected: kind(!cube).to_string(),
            given: kind(cube).to_string(),
        })
    }

    /// Checks that they can be used with the programs of a pipeline.
    pub(super) fn check(&self, of_pipeline: &Rc<Stages>) -> Result<(), Error> {
        if !Rc::ptr_eq(&self.stages, of_pipeline) {
            let (shader, uniforms) = (of_pipeline.name.clone(), self.stages.name.clone());
            return Err(Error::OtherShader { shader, uniforms });
        }
        let interfaces =
            [&self.stages.coordinate, &self.stages.vertex, &self.stages.fragment].map(|stage| &stage.interface);
        let missing =
            |what, name: &String| Error::Missing { shader: self.stages.name.clone(), what, name: name.clone() };
        for (number, texture) in (0..).zip(&self.textures) {
            if texture.is_none() && interfaces.iter().any(|interface| interface.reads_texture(number)) {
                return Err(missing("texture", &self.interface().textures[number as usize].name));
            }
        }
        for (number, buffer) in (0..).zip(&self.buffers) {
            if buffer.is_none() && interfaces.iter().any(|interface| interface.reads_buffer(number)) {
                return Err(missing("storage buffer", &self.interface().buffers[number as usize].name));
            }
        }
        Ok(())
    }

    /// Appends the uniform stream of a program.
    fn push_stream(&self, interface: &Interface, stream: &mut UniformStream<'_>) {
        for word in &interface.stream {
            self.push_word(interface, *word, stream);
        }
        for (number, texture) in (0..).zip(&self.textures) {
            // The words were written already; this keeps the texture's memory allocated.
            if let Some(texture) = texture.as_ref().filter(|_| interface.reads_texture(number)) {
                texture.push(stream, 0, 0);
            }
        }
        for (number, (buffer, declared)) in (0..).zip(self.buffers.iter().zip(&interface.buffers)) {
            if let Some(buffer) = buffer.as_ref().filter(|_| interface.reads_buffer(number)) {
                buffer.keep(declared.fixed_bytes, declared.stride_bytes, stream);
            }
        }
    }

    fn push_word(&self, interface: &Interface, word: StreamWord, stream: &mut UniformStream<'_>) {
        let buffer = |number: u32| self.buffers.get(number as usize).and_then(Option::as_ref);
        let bound = |number: u32| self.textures.get(number as usize).and_then(Option::as_ref);
        match word {
            StreamWord::Field { field, index } => {
                let words = self.fields.get(field as usize);
                let word = words.and_then(|words| words.get(index as usize)).copied().unwrap_or(0);
                match interface.fields.get(field as usize) {
                    Some(Field { number: Number::Float, .. }) => stream.float(f32::from_bits(word)),
                    _ => stream.word(word),
                }
            }
            StreamWord::Viewport(part) => {
                let value = of_viewport(part, stream.viewport());
                stream.float(value);
            }
            StreamWord::Instance => stream.word(stream.instance()),
            StreamWord::OwnAddress(number) => stream.own_address(number),
            StreamWord::Constant(bits) => stream.word(bits),
            StreamWord::Buffer { buffer: number, offset } => {
                stream.word(buffer(number).map_or(0, |buffer| buffer.address().0 + offset));
            }
            StreamWord::Length(number) => {
                let declared = interface.buffers.get(number as usize).filter(|declared| declared.stride_bytes > 0);
                let length = declared
                    .zip(buffer(number))
                    .map_or(0, |(declared, buffer)| buffer.elements(declared.fixed_bytes, declared.stride_bytes));
                stream.word(length);
            }
            StreamWord::Texture { texture, parameter, sampling } => {
                let words = bound(texture).map_or([0; 4], |texture| parameters(texture, sampling));
                stream.word(words.get(usize::from(parameter)).copied().unwrap_or(0));
            }
            StreamWord::TextureSize { texture, axis, level, form } => {
                let size = bound(texture).map_or([1, 1], |texture| texture.size_px(u32::from(level)));
                let side = match axis {
                    Axis::Width => size[0],
                    Axis::Height => size[1],
                };
                match form {
                    SizeForm::Integer => stream.word(side),
                    SizeForm::Float => stream.float(side as f32),
                    SizeForm::Inverse => stream.float(1.0 / side as f32),
                }
            }
            StreamWord::TextureLevels { texture } => {
                stream.word(bound(texture).map_or(1, TextureBinding::levels));
            }
            // In compute programs only, which have no pipeline.
            StreamWord::WorkgroupMemory(_) | StreamWord::VpmMemory(_) | StreamWord::Share(_) => stream.word(0),
        }
    }
}

/// Parameter words of a lookup.
fn parameters(texture: &TextureBinding<AnyKind>, sampling: Sampling) -> [u32; 4] {
    match sampling {
        Sampling::Automatic => texture.words(),
        Sampling::Level => texture.level_words(),
        Sampling::Nearest => texture.nearest_words(),
        Sampling::Texel => texture.texel_words(),
    }
}

/// A part of the viewport.
pub(super) const fn of_viewport(part: Viewport, viewport: &ViewportUniforms) -> f32 {
    match part {
        Viewport::HalfWidth => viewport.half_width,
        Viewport::HalfHeight => viewport.half_height,
        Viewport::ZScale => viewport.z_scale,
        Viewport::ZOffset => viewport.z_offset,
    }
}

/// Words of a field.
pub(super) fn words_of_field(field: &Field) -> usize {
    field.components as usize * field.count.unwrap_or(1) as usize
}

impl UniformData for Uniforms {
    /// The number of words is known only after compiling; it must not be 0.
    const WORDS: usize = 1;

    fn most_words(&self) -> usize {
        self.stages.fragment.interface.stream.len()
    }

    fn push(&self, stream: &mut UniformStream<'_>) {
        self.push_stream(&self.stages.fragment.interface, stream);
    }
}

impl VertexUniforms for Uniforms {
    const WORDS: usize = 1;

    fn most_words(&self) -> usize {
        self.stages.vertex.interface.stream.len() + self.stages.coordinate.interface.stream.len()
    }

    fn push_vertex(&self, stream: &mut UniformStream<'_>) {
        self.push_stream(&self.stages.vertex.interface, stream);
    }

    fn push_coordinate(&self, stream: &mut UniformStream<'_>) {
        self.push_stream(&self.stages.coordinate.interface, stream);
    }
}

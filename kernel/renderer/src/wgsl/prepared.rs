//! Prepared draws of pipelines from WGSL.
//!
//! [`ShaderPipeline::draw`](super::ShaderPipeline::draw) goes through the words that each program reads, in every draw. A [`PreparedDraw`] has done that: it
//! has the words of vertex and coordinate shader in their order, and everything else in GPU memory as a [prepared draw of types](crate::PreparedDraw). All
//! uniforms are set by name before; a [`NamedUniform`], which is found by its name once, says where one is that changes from draw to draw.
//!
//! ```
//! # use renderer::{Device, Error, Mesh, Pass, glam::Mat4, rows, untyped::UntypedVertex, wgsl::{self, Shader, ShaderPipeline}};
//! # fn draw<P: v3d::Platform>(
//! #     device: &Device<'_, P>, shader: &Shader, pipeline: &ShaderPipeline, mesh: &Mesh<UntypedVertex>, pass: &mut Pass<'_, '_, P>, places: &[Mat4],
//! # ) -> Result<(), wgsl::Error> {
//! let mut uniforms = shader.uniforms();
//! uniforms.set("color", [0.2, 0.4, 0.9])?;
//! let mut fish = pipeline.prepare(device, mesh, &uniforms)?;
//! let matrix = shader.uniform::<[f32; 16]>("matrix")?;
//! for place in places {
//!     fish.set(&matrix, &rows(place))?;
//!     fish.draw(pass)?;
//! }
//! # Ok(()) }
//! ```

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::marker::PhantomData;

use shader_compiler::interface::Number;
use shader_compiler::ssa::{StreamWord, Viewport};
use shader_interface::{UniformStream, VertexUniforms, ViewportUniforms};
use v3d::Platform;
use v3d::pool::Owner;

use super::uniforms::{of_viewport, words_of_field};
use super::values::{described, described_as};
use super::{Error, Stages, Uniforms};
use crate::device::Device;
use crate::error::Stage;
use crate::mesh::Mesh;
use crate::pass::{self, Pass, expect_valid};
use crate::pipeline::Pipeline;
use crate::untyped::UntypedVertex;

/// The type of a uniform that is set with a [`NamedUniform`]: a number, or an array of numbers for a vector, a matrix in row-major order, or an array of these.
pub trait UniformType: sealed::Words {}

mod sealed {
    use shader_compiler::interface::Number;

    pub trait Words {
        const NUMBER: Number;
        const COUNT: usize;

        fn words(&self) -> &[u32];
    }
}

macro_rules! uniform_types {
    ($($number:ty: $kind:ident),*) => {$(
        impl sealed::Words for $number {
            const NUMBER: Number = Number::$kind;
            const COUNT: usize = 1;

            #[inline(always)]
            fn words(&self) -> &[u32] {
                bytemuck::cast_slice(core::slice::from_ref(self))
            }
        }

        impl UniformType for $number {}

        impl<const N: usize> sealed::Words for [$number; N] {
            const NUMBER: Number = Number::$kind;
            const COUNT: usize = N;

            #[inline(always)]
            fn words(&self) -> &[u32] {
                bytemuck::cast_slice(self.as_slice())
            }
        }

        impl<const N: usize> UniformType for [$number; N] {}
    )*};
}

uniform_types!(f32: Float, i32: Int, u32: Uint);

/// A uniform of a shader, found by its name: [`Shader::uniform`](super::Shader::uniform). It sets that uniform in each prepared draw of the shader.
#[derive(Clone, Debug)]
pub struct NamedUniform<T> {
    stages: Rc<Stages>,
    runs: Vec<Run>,
    of: PhantomData<fn(T)>,
}

/// Components of a uniform that the programs read one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// The first component.
    from: usize,
    /// Its index among the words of a draw.
    to: usize,
    len: usize,
}

impl<T: UniformType> NamedUniform<T> {
    pub(super) fn new(stages: &Rc<Stages>, name: &str) -> Result<Self, Error> {
        let number = stages.field(name)?;
        let field = &stages.interface().fields[number];
        if field.number != T::NUMBER || words_of_field(field) != T::COUNT {
            let (shader, name) = (stages.name.clone(), name.into());
            return Err(Error::Kind {
                shader,
                name,
                expected: described(field),
                given: described_as(T::COUNT, T::NUMBER),
            });
        }
        let reads = |word: &StreamWord| matches!(word, StreamWord::Field { field, .. } if *field as usize == number);
        if stages.interface().stream.iter().any(reads) {
            return Err(Error::Fixed { shader: stages.name.clone(), name: name.into() });
        }
        let mut runs: Vec<Run> = Vec::new();
        for (to, word) in (0..).zip(vertex_stream(stages)) {
            let StreamWord::Field { field, index } = word else { continue };
            let from = *index as usize;
            match runs.last_mut() {
                _ if *field as usize != number || from >= T::COUNT => {}
                Some(run) if run.from + run.len == from && run.to + run.len == to => run.len += 1,
                _ => runs.push(Run { from, to, len: 1 }),
            }
        }
        Ok(Self { stages: Rc::clone(stages), runs, of: PhantomData })
    }
}

/// Whether the words of the coordinate shader are the first ones of the vertex shader's, so that both read the same.
fn coordinate_reads_the_same(stages: &Stages) -> bool {
    stages.vertex.interface.stream.starts_with(&stages.coordinate.interface.stream)
}

/// The words of the vertex shader, and those of the coordinate shader unless they are the same.
fn vertex_stream(stages: &Stages) -> impl Iterator<Item = &StreamWord> {
    let coordinate = if coordinate_reads_the_same(stages) { &[][..] } else { &stages.coordinate.interface.stream };
    stages.vertex.interface.stream.iter().chain(coordinate)
}

/// The words that vertex and coordinate shader read, in order.
#[derive(Clone, Debug)]
struct Words {
    /// The vertex shader's words, and the coordinate shader's unless it reads the same.
    words: Vec<u32>,
    vertex_words: usize,
    coordinate_reads_the_same: bool,
    /// The indices of words that are addresses of words of their own stream, and the indices of those in the stream.
    own_addresses: Vec<(usize, u32)>,
}

impl Words {
    #[inline(always)]
    fn push(&self, start: usize, end: usize, stream: &mut UniformStream<'_>) {
        if self.own_addresses.is_empty() {
            stream.words(self.words.get(start..end).unwrap_or_default());
        } else {
            self.push_with_addresses(start, end, stream);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_with_addresses(&self, start: usize, end: usize, stream: &mut UniformStream<'_>) {
        for (at, &word) in self.words.iter().enumerate().take(end).skip(start) {
            match self.own_addresses.iter().find(|(own, _)| *own == at) {
                Some(&(_, index)) => stream.own_address(index),
                None => stream.word(word),
            }
        }
    }
}

impl VertexUniforms for Words {
    /// The number of words is known only after compiling.
    const WORDS: usize = 0;

    #[inline(always)]
    fn coordinate_reads_the_same(&self) -> bool {
        self.coordinate_reads_the_same
    }

    #[inline(always)]
    fn most_words(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    fn push_vertex(&self, stream: &mut UniformStream<'_>) {
        self.push(0, self.vertex_words, stream);
    }

    #[inline(always)]
    fn push_coordinate(&self, stream: &mut UniformStream<'_>) {
        self.push(self.vertex_words, self.words.len(), stream);
    }
}

/// A pipeline from WGSL, a mesh, and uniforms with their textures, ready to be drawn.
///
/// It has the values that the uniforms had when it was prepared, until [`PreparedDraw::set`] changes one. It can be drawn any number of times, in every pass
/// that suits the pipeline, and holds references to the memory of its parts, which may be dropped. A clone has uniforms of its own, and shares everything else.
#[derive(Clone, Debug)]
pub struct PreparedDraw {
    draw: pass::PreparedDraw<Words>,
    words: Words,
    /// The viewport that is among the words, and where.
    viewport: ViewportUniforms,
    viewport_words: Rc<[(usize, Viewport)]>,
    stages: Rc<Stages>,
    label: &'static str,
}

impl PreparedDraw {
    pub(super) fn new<P: Platform>(
        device: &Device<'_, P>,
        pipeline: &Pipeline<UntypedVertex, Uniforms, Uniforms>,
        (stages, mesh, uniforms): (&Rc<Stages>, &Mesh<UntypedVertex>, &Uniforms),
    ) -> Result<Self, Error> {
        uniforms.check(stages)?;
        let label = pipeline.label();
        let mut owners = Vec::new();
        let mut words = Vec::new();
        let viewport = ViewportUniforms::NONE;
        let coordinate_reads_the_same = coordinate_reads_the_same(stages);
        let read = |stage, words: &mut Vec<u32>, owners: &mut Vec<Owner>| -> Result<(), Error> {
            let mut stream = UniformStream::new(words, owners, viewport);
            match stage {
                Stage::Coordinate => uniforms.push_coordinate(&mut stream),
                _ => uniforms.push_vertex(&mut stream),
            }
            Ok(expect_valid(&stream, label, stage)?)
        };
        read(Stage::Vertex, &mut words, &mut owners)?;
        let vertex_words = words.len();
        if !coordinate_reads_the_same {
            read(Stage::Coordinate, &mut words, &mut owners)?;
        }
        let (mut own_addresses, mut viewport_words) = (Vec::new(), Vec::new());
        for (at, word) in vertex_stream(stages).enumerate() {
            match *word {
                StreamWord::OwnAddress(index) => own_addresses.push((at, index)),
                StreamWord::Viewport(part) => viewport_words.push((at, part)),
                _ => {}
            }
        }
        let words = Words { words, vertex_words, coordinate_reads_the_same, own_addresses };
        let draw = pass::PreparedDraw::keeping(device, pipeline, mesh, uniforms, owners)?;
        let viewport_words = viewport_words.into();
        Ok(Self { draw, words, viewport, viewport_words, stages: Rc::clone(stages), label })
    }

    /// Sets a uniform of the vertex shader for the draws that follow.
    ///
    /// # Errors
    /// When the uniform is another shader's, or a number is NaN. The uniform is then unchanged.
    #[inline]
    pub fn set<T: UniformType>(&mut self, uniform: &NamedUniform<T>, value: &T) -> Result<(), Error> {
        if !Rc::ptr_eq(&self.stages, &uniform.stages) {
            return Err(self.other_shader(&uniform.stages));
        }
        let values = value.words();
        if T::NUMBER == Number::Float {
            // Without a branch per number.
            let mut are_numbers = true;
            for &value in values {
                are_numbers &= !f32::from_bits(value).is_nan();
            }
            if !are_numbers {
                return Err(self.not_a_number(values, &uniform.runs));
            }
        }
        for &Run { from, to, len } in &uniform.runs {
            let place = self.words.words.get_mut(to..).and_then(|words| words.get_mut(..len));
            let values = values.get(from..).and_then(|values| values.get(..len));
            if let (Some(place), Some(values)) = (place, values) {
                for (place, &value) in place.iter_mut().zip(values) {
                    *place = value;
                }
            }
        }
        Ok(())
    }

    /// Draws with the uniforms as they are now.
    ///
    /// # Errors
    /// As [`Pass::draw_prepared`].
    #[inline]
    pub fn draw<P: Platform>(&mut self, pass: &mut Pass<'_, '_, P>) -> Result<(), Error> {
        if self.viewport != *pass.viewport() {
            self.see(pass.viewport());
        }
        Ok(pass.draw_prepared(&self.draw, &self.words)?)
    }

    /// Replaces the viewport's words.
    #[cold]
    #[inline(never)]
    fn see(&mut self, viewport: &ViewportUniforms) {
        for (at, part) in &*self.viewport_words {
            if let Some(word) = self.words.words.get_mut(*at) {
                *word = of_viewport(*part, viewport).to_bits();
            }
        }
        self.viewport = *viewport;
    }

    #[cold]
    fn other_shader(&self, other: &Stages) -> Error {
        Error::OtherShader { shader: self.stages.name.clone(), uniforms: other.name.clone() }
    }

    #[cold]
    fn not_a_number(&self, values: &[u32], runs: &[Run]) -> Error {
        let is_nan = |component: &usize| values.get(*component).is_some_and(|&bits| f32::from_bits(bits).is_nan());
        let word_of = |run: &Run| (run.from..run.from + run.len).find(is_nan).map(|at| run.to + at - run.from);
        let word = runs.iter().find_map(word_of).unwrap_or(0);
        let (stage, word) = match word.checked_sub(self.words.vertex_words) {
            Some(word) => (Stage::Coordinate, word),
            None => (Stage::Vertex, word),
        };
        crate::Error::NotANumber { label: self.label, stage, word }.into()
    }
}

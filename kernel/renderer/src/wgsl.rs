//! Pipelines from WGSL at run time, with the feature `wgsl`, which links the shader compiler into the program.
//!
//! The type system checks uniforms of shaders that a build script compiles; here they are checked when they are set: a uniform has a name, a type and a
//! length, and a mismatch is an error that lists what the shader declares. The compiled programs are the same, word for word.
//!
//! ```
//! # use renderer::{Device, Error, Primitive, Target, PassDescriptor, pipeline::state::State, wgsl::Shader};
//! # fn draw<P: v3d::Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Box<dyn core::error::Error>> {
//! let shader = Shader::compile("sky.wgsl", "
//!     @group(0) @binding(0) var<uniform> color: vec3<f32>;
//!     @vertex fn vs_main(@location(0) place: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(place, 0.0, 1.0); }
//!     @fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(color, 1.0); }")?;
//! let pipeline = shader.pipeline(device, "sky", &State::PLAIN)?;
//! let places = [-1.0, -1.0, 3.0, -1.0, -1.0, 3.0];
//! let mesh = shader.mesh(device, "all of the screen", Primitive::Triangles, &[("place", (&places).into())], None)?;
//! let mut uniforms = shader.uniforms();
//! uniforms.set("color", [0.2, 0.4, 0.9])?;
//! let mut frame = device.frame()?;
//! let mut pass = frame.pass(&PassDescriptor::to(screen))?;
//! pipeline.draw(&mut pass, &mesh, &uniforms)?;
//! frame.submit()?;
//! # Ok(()) }
//! ```

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use shader_compiler::interface::{Attribute, Field, Interface, Stage};
use shader_compiler::{Compiled, Compiler};
use shader_interface::{Ending, PrimitiveKind};
use v3d::Platform;

use crate::device::Device;
use crate::mesh::{Indices, Mesh, Primitive};
use crate::pass::Pass;
use crate::pipeline::programs::{FragmentCode, Programs, VertexCode};
use crate::pipeline::state::State;
use crate::pipeline::{BuiltPipeline, Pipeline};
use crate::untyped::UntypedVertex;

mod error;
mod prepared;
pub mod replacement;
mod uniforms;
mod values;
mod vertices;

pub use error::Error;
pub use prepared::{NamedUniform, PreparedDraw, UniformType};
pub use shader_compiler;
pub use uniforms::Uniforms;
pub use values::Values;

/// A vertex and a fragment shader, compiled together, and their interface.
#[derive(Clone, Debug)]
pub struct Shader(Rc<Stages>);

/// The programs of a shader.
#[derive(Debug)]
pub(crate) struct Stages {
    name: String,
    pub(crate) coordinate: Compiled,
    pub(crate) vertex: Compiled,
    pub(crate) fragment: Compiled,
}

impl Stages {
    /// The interface of the fragment shader; each stage has the declarations of its whole source.
    fn interface(&self) -> &Interface {
        &self.fragment.interface
    }

    fn attributes(&self) -> &[Attribute] {
        &self.vertex.interface.attributes
    }

    /// The index of a uniform with a name.
    fn field(&self, name: &str) -> Result<usize, Error> {
        let fields = &self.interface().fields;
        fields.iter().position(|field| field.name == name).ok_or_else(|| {
            let known = fields.iter().map(|field| format!("`{}` ({})", field.name, values::described(field)));
            self.unknown("uniform", name, known.collect())
        })
    }

    /// The error that nothing is declared with a name.
    fn unknown(&self, what: &'static str, name: &str, known: Vec<String>) -> Error {
        Error::Name { shader: self.name.clone(), what, name: name.into(), known: known.join(", ") }
    }
}

impl Shader {
    /// Compiles a source with default options. Errors contain `name`.
    ///
    /// # Errors
    /// When the source has an error, which has a place, or a stage is missing.
    pub fn compile(name: &str, source: &str) -> Result<Self, Error> {
        Self::compile_with(&Compiler::default(), name, source)
    }

    /// Compiles a source.
    ///
    /// # Errors
    /// As [`Shader::compile`].
    pub fn compile_with(compiler: &Compiler, name: &str, source: &str) -> Result<Self, Error> {
        Self::of(name, &compiler.compile(name, source)?)
    }

    /// A shader from the result of the compiler.
    ///
    /// # Errors
    /// When a stage is missing.
    pub fn of(name: &str, shader: &shader_compiler::Shader) -> Result<Self, Error> {
        Self::of_two(name, shader, shader)
    }

    /// A shader from two sources: a vertex shader without uniforms, textures and storage buffers, and a fragment shader that reads no varyings, such as one
    /// that covers the screen.
    ///
    /// # Errors
    /// When a stage is missing, or one of the conditions is not met.
    pub fn of_screen(
        name: &str,
        vertex: &shader_compiler::Shader,
        fragment: &shader_compiler::Shader,
    ) -> Result<Self, Error> {
        let shader = Self::of_two(name, vertex, fragment)?;
        let [_, vertex, fragment] = shader.programs().map(|compiled| &compiled.interface);
        let declares = !vertex.fields.is_empty() || !vertex.textures.is_empty() || !vertex.buffers.is_empty();
        if declares || vertex.varyings != 0 || fragment.varyings != 0 {
            return Err(Error::Varyings { shader: name.into() });
        }
        Ok(shader)
    }

    fn of_two(
        name: &str,
        of_vertex: &shader_compiler::Shader,
        of_fragment: &shader_compiler::Shader,
    ) -> Result<Self, Error> {
        let stage = |stage: Stage| {
            let shader = if stage == Stage::Fragment { of_fragment } else { of_vertex };
            let compiled = shader.stage(stage).cloned();
            compiled.ok_or_else(|| Error::Stage { shader: name.into(), stage: stage.name() })
        };
        Ok(Self(Rc::new(Stages {
            name: name.into(),
            vertex: stage(Stage::Vertex)?,
            coordinate: stage(Stage::Coordinate)?,
            fragment: stage(Stage::Fragment)?,
        })))
    }

    /// The name that it was compiled with.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The programs: coordinate, vertex and fragment shader.
    pub fn programs(&self) -> [&Compiled; 3] {
        [&self.0.coordinate, &self.0.vertex, &self.0.fragment]
    }

    /// The uniforms that the source declares.
    pub fn fields(&self) -> &[Field] {
        &self.0.interface().fields
    }

    /// Whether the source declares a uniform of this name.
    pub fn has_field(&self, name: &str) -> bool {
        self.fields().iter().any(|field| field.name == name)
    }

    /// The textures that the source declares.
    pub fn textures(&self) -> &[shader_compiler::interface::Texture] {
        &self.0.interface().textures
    }

    /// The attributes of a vertex.
    pub fn attributes(&self) -> &[Attribute] {
        self.0.attributes()
    }

    /// Uniforms for this shader, initially zero and without textures.
    pub fn uniforms(&self) -> Uniforms {
        Uniforms::new(Rc::clone(&self.0))
    }

    /// Finds a uniform of the vertex shader by its name, for [prepared draws](PreparedDraw) of this shader.
    ///
    /// # Errors
    /// When there is no such uniform, its type or length is different, or the fragment shader reads it, too: what that reads is fixed when a draw is prepared.
    pub fn uniform<T: UniformType>(&self, name: &str) -> Result<NamedUniform<T>, Error> {
        NamedUniform::new(&self.0, name)
    }

    /// Copies the programs to GPU memory and encodes the state.
    ///
    /// # Errors
    /// When the programs or the state exceed the hardware's limits or cannot be combined, or the pool has not enough memory.
    pub fn pipeline<P: Platform>(
        &self,
        device: &Device<'_, P>,
        label: &'static str,
        state: &State,
    ) -> Result<ShaderPipeline, Error> {
        let Stages { coordinate, vertex, fragment, .. } = &*self.0;
        let attribute = |attribute: &Attribute| shader_interface::Attribute {
            name: "",
            bytes: 4 * attribute.words() as u16,
            memory_offset: 4 * attribute.offset_words,
            vertex_offset: 4 * attribute.offset_words as u8,
            coordinate_offset: attribute.coordinate_offset_words.map(|words| 4 * words as u8),
        };
        let attributes: Vec<_> = self.attributes().iter().map(attribute).collect();
        let of_fragment = &fragment.interface;
        let programs = Programs {
            vertex: Some(VertexCode {
                vertex: &vertex.words,
                coordinate: &coordinate.words,
                attributes: &attributes,
                point_size: vertex.interface.point_size,
                vertex_origin: None,
                coordinate_origin: None,
            }),
            fragment: FragmentCode {
                code: &fragment.words,
                threading: of_fragment.threading,
                half: None,
                ending: if of_fragment.half_color { Ending::HalfColor } else { Ending::Color },
                primitive: if of_fragment.points { PrimitiveKind::Points } else { PrimitiveKind::Triangles },
                flat_varyings: of_fragment.flat_varyings,
                writes_depth: of_fragment.writes_depth,
                discards: of_fragment.discards,
                origin: None,
                half_origin: None,
            },
            vertex_bytes: vertices::stride(self.attributes()),
            varyings: of_fragment.varyings as usize,
        };
        let pipeline = Pipeline::of(BuiltPipeline::of_programs(device, label, &programs, state)?);
        Ok(ShaderPipeline { pipeline, stages: Rc::clone(&self.0) })
    }

    /// Creates a mesh from the values of each attribute, for all vertices in order. The vertex index is added if the source reads it.
    ///
    /// # Errors
    /// When an attribute is missing or unknown, or its values have a different type or number than the shader's, and as
    /// [`Mesh::with_indices`](crate::Mesh::with_indices).
    pub fn mesh<P: Platform>(
        &self,
        device: &Device<'_, P>,
        label: &'static str,
        primitive: Primitive,
        attributes: &[(&str, Values<'_>)],
        indices: Option<Indices<'_>>,
    ) -> Result<Mesh<UntypedVertex>, Error> {
        let vertices = vertices::interleaved(&self.0, attributes)?;
        let stride = vertices::stride(self.attributes());
        Ok(Mesh::of_stride(device, label, primitive, &vertices, stride, indices)?)
    }
}

/// A pipeline whose programs were compiled at run time.
#[derive(Clone, Debug)]
pub struct ShaderPipeline {
    pipeline: Pipeline<UntypedVertex, Uniforms, Uniforms>,
    stages: Rc<Stages>,
}

impl ShaderPipeline {
    /// Draws a mesh.
    ///
    /// # Errors
    /// When the uniforms are those of another shader or a texture is missing, and as [`Pass::draw`].
    pub fn draw<P: Platform>(
        &self,
        pass: &mut Pass<'_, '_, P>,
        mesh: &Mesh<UntypedVertex>,
        uniforms: &Uniforms,
    ) -> Result<(), Error> {
        uniforms.check(&self.stages)?;
        Ok(pass.draw(&self.pipeline, mesh, uniforms, uniforms)?)
    }

    /// Checks that a mesh can be drawn with these uniforms, and encodes the draw, so that drawing it does not go through the
    /// shader's declarations again. With a matrix that is set anew it takes 873 instructions; a [prepared draw of types](crate::PreparedDraw) takes 188
    /// [measured].
    ///
    /// # Errors
    /// As [`ShaderPipeline::draw`] and [`PreparedDraw::new`](crate::PreparedDraw::new).
    pub fn prepare<P: Platform>(
        &self,
        device: &Device<'_, P>,
        mesh: &Mesh<UntypedVertex>,
        uniforms: &Uniforms,
    ) -> Result<PreparedDraw, Error> {
        PreparedDraw::new(device, &self.pipeline, (&self.stages, mesh, uniforms))
    }
}

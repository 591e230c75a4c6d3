//! The compiler as a library: options in, programs and their interfaces out.

use alloc::vec::Vec;

use crate::compile::{Compiled, Options, compile};
use crate::diagnostic::Error;
use crate::interface::{Attribute, Buffer, Field, Stage, Texture};

/// A compiler with its options.
///
/// ```
/// use shader_compiler::{Compiler, Options, interface::Stage};
/// let source = "
///     struct Sky { color: vec3<f32>, brightness: f32 }
///     @group(0) @binding(0) var<uniform> sky: Sky;
///     @fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(sky.brightness * sky.color, 1.0); }";
/// let compiler = Compiler::new(Options { fast_math: true, ..Options::default() });
/// let shader = compiler.compile("sky.wgsl", source)?;
/// let names: Vec<&str> = shader.fields().iter().map(|field| field.name.as_str()).collect();
/// assert_eq!(names, ["color", "brightness"]);
/// assert!(!shader.stage(Stage::Fragment).unwrap().words.is_empty());
///
/// let error = compiler.compile("sky.wgsl", &source.replace("sky.color", "sky.colour")).unwrap_err();
/// let (line, column) = error.line_and_column(&source.replace("sky.color", "sky.colour")).unwrap();
/// assert_eq!((line, column, error.message.as_str()), (4, 89, "invalid field accessor `colour`"));
/// # Ok::<(), shader_compiler::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    options: Options,
}

impl Compiler {
    /// A compiler with these options.
    pub const fn new(options: Options) -> Self {
        Self { options }
    }

    /// Its options.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Compiles all stages of a source in WGSL. `name` stands in the text of errors.
    ///
    /// # Errors
    /// When the source has an error or uses an unsupported feature, with its place.
    pub fn compile(&self, name: &str, source: &str) -> Result<Shader, Error> {
        compile(source, name, &self.options).map(|stages| Shader { stages })
    }
}

/// The programs of a source, with their interface.
#[derive(Clone, Debug)]
pub struct Shader {
    stages: Vec<Compiled>,
}

impl Shader {
    /// All programs.
    pub fn stages(&self) -> &[Compiled] {
        &self.stages
    }

    /// The program of a stage, if the source has one.
    pub fn stage(&self, stage: Stage) -> Option<&Compiled> {
        self.stages.iter().find(|compiled| compiled.stage == stage)
    }

    /// Whether any program satisfies `reads`.
    fn any(&self, reads: impl Fn(&Compiled) -> bool) -> bool {
        self.stages.iter().any(reads)
    }

    /// The uniforms that the source declares, in order: members of structures, and variables that are not structures.
    pub fn fields(&self) -> &[Field] {
        self.stages.first().map_or(&[], |compiled| &compiled.interface.fields)
    }

    /// Whether a program reads a uniform.
    pub fn reads_field(&self, number: u32) -> bool {
        self.any(|compiled| compiled.interface.reads_field(number))
    }

    /// The textures that the source declares.
    pub fn textures(&self) -> &[Texture] {
        self.stages.first().map_or(&[], |compiled| &compiled.interface.textures)
    }

    /// Whether a program samples a texture, or queries its size.
    pub fn reads_texture(&self, number: u32) -> bool {
        self.any(|compiled| compiled.interface.reads_texture(number))
    }

    /// The storage buffers that the source declares.
    pub fn buffers(&self) -> &[Buffer] {
        self.stages.first().map_or(&[], |compiled| &compiled.interface.buffers)
    }

    /// Whether a program accesses a storage buffer.
    pub fn reads_buffer(&self, number: u32) -> bool {
        self.any(|compiled| compiled.interface.reads_buffer(number))
    }

    /// The attributes of a vertex, in their order in memory; none without a vertex stage.
    pub fn attributes(&self) -> &[Attribute] {
        self.stage(Stage::Vertex).map_or(&[], |compiled| &compiled.interface.attributes)
    }
}

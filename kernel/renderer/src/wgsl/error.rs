//! Errors of shaders at run time. An unknown name is reported with a list of the known ones.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// The reason that a shader could not be compiled, set up or drawn with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An error in the source, or a feature that is not supported.
    Source(Box<shader_compiler::Error>),
    /// A vertex or fragment shader is missing.
    Stage {
        /// The shader.
        shader: String,
        /// The stage.
        stage: &'static str,
    },
    /// A fragment shader that should cover the screen reads varyings.
    Varyings {
        /// The shader.
        shader: String,
    },
    /// The shader declares nothing with this name.
    Name {
        /// The shader.
        shader: String,
        /// What was expected: a uniform, a texture, a storage buffer, an attribute.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that are declared, as a list.
        known: String,
    },
    /// Values of a different type or number than the shader declares.
    Kind {
        /// The shader.
        shader: String,
        /// The uniform or attribute.
        name: String,
        /// What the shader declares.
        expected: String,
        /// What was passed.
        given: String,
    },
    /// A texture, a storage buffer or an attribute was not set.
    Missing {
        /// The shader.
        shader: String,
        /// What it is.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A uniform of a prepared draw is to be changed that is fixed.
    Fixed {
        /// The shader.
        shader: String,
        /// The uniform.
        name: String,
    },
    /// Uniforms that were made for another shader than the pipeline's.
    OtherShader {
        /// The shader of the pipeline.
        shader: String,
        /// The shader of the uniforms.
        uniforms: String,
    },
    /// An error of the renderer.
    Renderer(crate::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Stage { shader, stage } => write!(f, "{shader}: there is no {stage} shader"),
            Self::Varyings { shader } => {
                write!(f, "{shader}: the fragment shader reads varyings, which a vertex shader of its own must write")
            }
            Self::Name { shader, what, name, known } if known.is_empty() => {
                write!(f, "{shader}: there is no {what} `{name}`, and no other one")
            }
            Self::Name { shader, what, name, known } => {
                write!(f, "{shader}: there is no {what} `{name}`; there are {known}")
            }
            Self::Kind { shader, name, expected, given } => {
                write!(f, "{shader}: `{name}` is {expected}, and was given {given}")
            }
            Self::Missing { shader, what, name } => write!(f, "{shader}: the {what} `{name}` was not set"),
            Self::Fixed { shader, name } => write!(
                f,
                "{shader}: the fragment shader reads `{name}`, too, which is therefore fixed when a draw is prepared"
            ),
            Self::OtherShader { shader, uniforms } => {
                write!(
                    f,
                    "a pipeline of {shader} cannot draw with uniforms of {uniforms}, or of an earlier compilation"
                )
            }
            Self::Renderer(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Renderer(error)
    }
}

impl From<shader_compiler::Error> for Error {
    fn from(error: shader_compiler::Error) -> Self {
        Self::Source(Box::new(error))
    }
}

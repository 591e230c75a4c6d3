//! What does not fit to a shader: with a list of what there is.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// Why a shader could not be made, fed or drawn with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The source is wrong, or not possible.
    Source(Box<shader_compiler::Error>),
    /// A vertex or fragment shader is missing.
    Stage {
        /// The shader.
        shader: String,
        /// The stage.
        stage: &'static str,
    },
    /// A fragment shader that is to cover the screen reads varyings.
    Varyings {
        /// The shader.
        shader: String,
    },
    /// There is nothing of this name.
    Name {
        /// The shader.
        shader: String,
        /// What it would be: a uniform, a texture, a storage buffer, an attribute.
        what: &'static str,
        /// The name.
        name: String,
        /// All that there is, as a list.
        known: String,
    },
    /// Values are of another kind or number than the shader's.
    Kind {
        /// The shader.
        shader: String,
        /// The uniform or attribute.
        name: String,
        /// What the shader has.
        expected: String,
        /// What was given.
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
    /// Uniforms of another shader than the pipeline's.
    OtherShader {
        /// The pipeline's.
        shader: String,
        /// The uniforms'.
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

//! What is wrong with a shader, with its place.

use std::fmt;

use naga::{Span, WithSpan};

/// Why a shader is not compiled: rendered as naga renders its own errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// One sentence.
    pub message: String,
    /// Byte offsets of the place in the source, with what is there; none if the whole shader is meant.
    pub place: Option<(std::ops::Range<usize>, String)>,
    /// The text for people, with the lines of the source.
    pub rendered: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rendered.trim_end())
    }
}

impl std::error::Error for Error {}

/// A refusal inside of the compiler: a sentence and a place, without the text yet.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) span: Span,
}

/// What a pass gives.
pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// A refusal.
pub(crate) fn refuse<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Refusal { message: message.into(), span })
}

/// A message that naga can render.
#[derive(Debug)]
struct Message(String);

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Message {}

impl Refusal {
    /// The same for people.
    pub(crate) fn render(self, source: &str, path: &str) -> Error {
        let place = self.span.to_range().filter(|range| range.end <= source.len());
        let label = "not possible on this hardware, or not in this compiler";
        let mut message = WithSpan::new(Message(self.message.clone()));
        if place.is_some() {
            message = message.with_span(self.span, label);
        }
        let rendered = message.emit_to_string_with_path(source, path);
        Error { message: self.message, place: place.map(|range| (range, label.to_owned())), rendered }
    }
}

impl Error {
    pub(crate) fn parse(error: &naga::front::wgsl::ParseError, source: &str, path: &str) -> Self {
        let place = error.labels().next().and_then(|(span, text)| Some((span.to_range()?, text.to_owned())));
        let rendered = error.emit_to_string_with_path(source, path);
        Self { message: error.message().to_owned(), place, rendered }
    }

    pub(crate) fn validation(error: &WithSpan<naga::valid::ValidationError>, source: &str, path: &str) -> Self {
        let place = error.spans().next().and_then(|(span, text)| Some((span.to_range()?, text.clone())));
        let rendered = error.emit_to_string_with_path(source, path);
        Self { message: error.as_inner().to_string(), place, rendered }
    }
}

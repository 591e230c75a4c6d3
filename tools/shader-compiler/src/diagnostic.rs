//! Diagnostics of a shader, with their source location.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::Range;

use naga::{Span, WithSpan};

use crate::front_end::mistakes::explained;
use crate::limit::Limit;

/// An error, rendered like naga's own errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The limit that the source exceeds; `None` if the source is wrong.
    pub limit: Option<&'static Limit>,
    /// The message, one sentence.
    pub message: String,
    /// The range of bytes in the source, with a label; `None` if the error is about the whole shader.
    pub place: Option<(Range<usize>, String)>,
    /// The rendered text, with lines of the source.
    pub rendered: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rendered.trim_end())?;
        match self.limit {
            Some(limit) => write!(f, "\n = limit: {}", limit.name),
            None => Ok(()),
        }
    }
}

impl core::error::Error for Error {}

/// An error of a pass that is not rendered yet.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    reason: Reason,
    message: String,
    span: Span,
}

/// The reason for an error of a pass.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// The source uses a feature that the GPU or this compiler does not support.
    Limit(&'static Limit),
    /// The source has an error, or contradicts the options.
    Mistake,
    /// A bug of this compiler.
    Fault,
}

/// The result of a pass.
pub(crate) type Result<T> = core::result::Result<T, Refusal>;

/// The error of a source that exceeds a limit.
pub(crate) fn refuse<T>(span: Span, limit: &'static Limit) -> Result<T> {
    Err(Refusal { reason: Reason::Limit(limit), message: limit.message.to_owned(), span })
}

/// The error of a source that exceeds a limit, with the numbers of the case.
pub(crate) fn refuse_with<T>(span: Span, limit: &'static Limit, detail: impl fmt::Display) -> Result<T> {
    Err(Refusal { reason: Reason::Limit(limit), message: format!("{}: {detail}", limit.message), span })
}

/// The error for a number that exceeds a limit; the message contains `most` if it differs from `usual`, the number in the limit's text.
pub(crate) fn refuse_beyond<T>(span: Span, limit: &'static Limit, most: u64, usual: u64) -> Result<T> {
    if most == usual { refuse(span, limit) } else { refuse_with(span, limit, format_args!("here at most {most}")) }
}

/// The error for a source that does not match the options, or whose stages do not match.
pub(crate) fn mistake<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(mistake_of(span, message))
}

/// The error value for a mistake in the source.
pub(crate) fn mistake_of(span: Span, message: impl Into<String>) -> Refusal {
    Refusal { reason: Reason::Mistake, message: message.into(), span }
}

/// The error for a state that validation or an earlier pass excludes: a bug of this compiler.
pub(crate) fn fault<T>(span: Span, what: impl fmt::Display) -> Result<T> {
    Err(Refusal { reason: Reason::Fault, message: format!("a fault of the compiler: {what}"), span })
}

/// A message in the form that naga renders.
#[derive(Debug)]
struct Message(String);

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Message {}

impl Refusal {
    /// Whether this limit is the reason.
    pub(crate) fn is_for(&self, limit: &Limit) -> bool {
        matches!(self.reason, Reason::Limit(reason) if reason == limit)
    }

    /// Renders the error by naga.
    pub(crate) fn render(self, source: &str, path: &str) -> Error {
        let Self { reason, message, span } = self;
        let (limit, label) = match reason {
            Reason::Limit(limit) => (Some(limit), limit.cause.label()),
            Reason::Mistake => (None, "here"),
            Reason::Fault => (None, "please report this, with the source"),
        };
        let place = span.to_range().filter(|range| range.end <= source.len());
        if let Some(range) = &place
            && let Some(rendered) = without_line(&message, label, range.start, source, path)
        {
            return Error { limit, message, place: Some((range.clone(), label.to_owned())), rendered };
        }
        let mut rendering = WithSpan::new(Message(message.clone()));
        if place.is_some() {
            rendering = rendering.with_span(span, label);
        }
        let rendered = rendering.emit_to_string_with_path(source, path);
        Error { limit, message, place: place.map(|range| (range, label.to_owned())), rendered }
    }
}

/// Maximum length in bytes of a source line in an error.
const MAX_LINE_BYTES: usize = 1000;

/// The text of an error in a line that is too long to be shown; `None` if the line is short enough.
fn without_line(message: &str, label: &str, at: usize, source: &str, path: &str) -> Option<String> {
    let (before, behind) = (source.get(..at)?, source.get(at..)?);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let length = at - start + behind.find('\n').unwrap_or(behind.len());
    if length <= MAX_LINE_BYTES {
        return None;
    }
    let line = 1 + before.matches('\n').count();
    let column = 1 + before[start..].chars().count();
    Some(format!("error: {message}\n  --> {path}:{line}:{column}: {label}\n"))
}

impl Error {
    /// The range of the source that the error is about; none if it is the whole source.
    pub fn span(&self) -> Option<Range<usize>> {
        self.place.as_ref().map(|(range, _)| range.clone())
    }

    /// Line and column of the error in the compiled source, both counted from 1; columns count characters.
    pub fn line_and_column(&self, source: &str) -> Option<(usize, usize)> {
        let at = self.span()?.start;
        Some(qpu::source::line_and_column(source, at))
    }

    pub(crate) fn parse(error: &naga::front::wgsl::ParseError, source: &str, path: &str) -> Self {
        let place = error.labels().next().and_then(|(span, text)| Some((span.to_range()?, text.to_owned())));
        let message = error.message().to_owned();
        let short = place.as_ref().and_then(|(range, label)| without_line(&message, label, range.start, source, path));
        let rendered = short.unwrap_or_else(|| error.emit_to_string_with_path(source, path));
        Self { limit: None, message, place, rendered }
    }

    #[cfg(feature = "glsl")]
    pub(crate) fn glsl(errors: &naga::front::glsl::ParseErrors, source: &str, path: &str) -> Self {
        let first = errors.errors.first();
        let message = first.map_or_else(String::new, |error| error.kind.to_string());
        let range = first.and_then(|error| error.meta.to_range());
        let place = range.map(|range| (range, message.clone()));
        Self { limit: None, message, place, rendered: errors.emit_to_string_with_path(source, path) }
    }

    #[cfg(feature = "spirv")]
    pub(crate) fn spirv(error: &naga::front::spv::Error, path: &str) -> Self {
        Self::without_place(error.to_string(), path)
    }

    /// The error of a file that is not UTF-8.
    pub(crate) fn not_text(error: &alloc::string::FromUtf8Error, path: &str) -> Self {
        Self::without_place(error.to_string(), path)
    }

    pub(crate) fn without_place(message: String, path: &str) -> Self {
        let rendered = format!("error: {path}: {message}");
        Self { limit: None, message, place: None, rendered }
    }

    pub(crate) fn validation(
        module: &naga::Module,
        error: &WithSpan<naga::valid::ValidationError>,
        source: &str,
        path: &str,
    ) -> Self {
        let span = error.spans().next().map_or(Span::UNDEFINED, |(span, _)| *span);
        if let Some(mistake) = explained(module, source, span, error.as_inner()) {
            return mistake.render(source, path);
        }
        let place = error.spans().next().and_then(|(span, text)| Some((span.to_range()?, text.clone())));
        let message = error.as_inner().to_string();
        let short = place.as_ref().and_then(|(range, label)| without_line(&message, label, range.start, source, path));
        let rendered = short.unwrap_or_else(|| error.emit_to_string_with_path(source, path));
        Self { limit: None, message, place, rendered }
    }
}

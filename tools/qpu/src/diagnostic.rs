//! Diagnostics: what is wrong, where, why the hardware minds, and how to mend it.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::code::Code;
use crate::source::{Source, Span, line_and_column};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Probably not what is meant, but it has a meaning.
    Warning,
    /// No program comes of it.
    Error,
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Code, for `qpu explain`.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without a period.
    pub message: String,
    /// The place, where there is one.
    pub span: Option<Span>,
    /// Other places that belong to it, with what they are.
    pub related: Vec<(Span, String)>,
    /// Why it matters or how to mend it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, severity: Severity::Error, message, span: Some(span), related: Vec::new(), help: None }
    }

    /// A warning at a place.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// With another place.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related.push((span, what.into()));
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Diagnostics together with the sources that their places refer to.
///
/// As text (`Display`) each has the source line with a caret under the place.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// The diagnostics in the order in which they were found.
    pub list: Vec<Diagnostic>,
    /// The files.
    pub sources: Vec<Source>,
}

impl Diagnostics {
    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Number of errors and of warnings.
    pub fn count(&self) -> (usize, usize) {
        let errors = self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        (errors, self.list.len() - errors)
    }

    /// File, line and column of a place; line and column count from 1.
    pub fn place(&self, span: Span) -> Option<(&str, usize, usize)> {
        let source = self.sources.get(span.file as usize)?;
        let (line, column) = line_and_column(&source.text, span.start as usize);
        Some((&source.name, line, column))
    }

    /// The diagnostics as text, coloured or not.
    pub fn render(&self, colored: bool) -> String {
        let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for diagnostic in &self.list {
            text.push_str(&self.render_one(&renderer, diagnostic));
            text.push('\n');
        }
        text
    }

    fn render_one(&self, renderer: &Renderer, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let code = diagnostic.code.to_string();
        let title = level.primary_title(diagnostic.message.as_str()).id(code.as_str());
        let mut group = Group::with_title(title);
        let mut files: Vec<u32> = diagnostic.span.iter().map(|span| span.file).collect();
        files.extend(diagnostic.related.iter().map(|(span, _)| span.file));
        let mut seen = Vec::new();
        for file in files {
            if seen.contains(&file) {
                continue;
            }
            seen.push(file);
            let Some(source) = self.sources.get(file as usize) else { continue };
            let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str()).fold(true);
            if let Some(span) = diagnostic.span.filter(|span| span.file == file) {
                snippet = snippet.annotation(AnnotationKind::Primary.span(range(span, &source.text)));
            }
            for (span, what) in diagnostic.related.iter().filter(|(span, _)| span.file == file) {
                let kind = AnnotationKind::Context.span(range(*span, &source.text));
                snippet = snippet.annotation(kind.label(what.as_str()));
            }
            group = group.element(snippet);
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// The bytes of a span, inside the text and on character boundaries.
fn range(span: Span, text: &str) -> std::ops::Range<usize> {
    let inside = |byte: u32| {
        let mut byte = (byte as usize).min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    };
    let start = inside(span.start);
    start..inside(span.end).max(start)
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

//! Diagnostics: what is wrong, where, why, and how to fix it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::code::Code;
use crate::source::{Source, Span, line_and_column};

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Probably unintended, but the program is valid.
    Warning,
    /// The program is not assembled.
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
    /// Other places that are involved, each with a label.
    pub related: Vec<(Span, String)>,
    /// Why it matters or how to fix it.
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

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related.push((span, what.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Maximum number of diagnostics that are rendered; beyond that, errors take precedence over warnings.
pub const MAX_SHOWN: usize = 100;

/// Diagnostics together with the sources that their places refer to.
///
/// `Display` prints each with its source line, and a caret under the place.
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

    /// File, line and column of a place; lines and columns are counted from 1.
    pub fn place(&self, span: Span) -> Option<(&str, usize, usize)> {
        let source = self.sources.get(span.file as usize)?;
        let (line, column) = line_and_column(&source.text, span.start as usize);
        Some((&source.name, line, column))
    }

    /// The diagnostics as text, with or without colours: the first [`MAX_SHOWN`], and the number of those that are left out.
    pub fn render(&self, colored: bool) -> String {
        let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        let (errors, warnings) = self.count();
        let mut errors_left = errors.min(MAX_SHOWN);
        let mut warnings_left = warnings.min(MAX_SHOWN - errors_left);
        let more = (errors - errors_left, warnings - warnings_left);
        for diagnostic in &self.list {
            let left = match diagnostic.severity {
                Severity::Error => &mut errors_left,
                Severity::Warning => &mut warnings_left,
            };
            if *left > 0 {
                *left -= 1;
                text.push_str(&self.render_one(&renderer, diagnostic));
                text.push('\n');
            }
        }
        let counted = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 more {what}")),
            _ => Some(format!("{count} more {what}s")),
        };
        let more: Vec<String> = [counted(more.0, "error"), counted(more.1, "warning")].into_iter().flatten().collect();
        if !more.is_empty() {
            text.push_str(&format!("... and {}\n", more.join(", ")));
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
            let primary = diagnostic.span.filter(|span| span.file == file);
            let related = || diagnostic.related.iter().filter(|(span, _)| span.file == file);
            let all = primary.into_iter().chain(related().map(|&(span, _)| span));
            // The renderer scans all of its text, so it gets only the relevant lines and those between them.
            let (start, end) = lines(all, &source.text);
            let shown = source.text.get(start..end).unwrap_or_default();
            let inside = |span: Span| {
                let core::ops::Range { start: from, end: to } = range(span, &source.text);
                from - start..to - start
            };
            let first_line = source.text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let mut snippet = Snippet::source(shown).path(source.name.as_str()).line_start(first_line).fold(true);
            if let Some(span) = primary {
                snippet = snippet.annotation(AnnotationKind::Primary.span(inside(span)));
            }
            for (span, what) in related() {
                snippet = snippet.annotation(AnnotationKind::Context.span(inside(*span)).label(what.as_str()));
            }
            group = group.element(snippet);
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// The byte range from the first to the last line that a span is on, plus one line before and after, so that the renderer can show that there are more lines.
fn lines(spans: impl Iterator<Item = Span>, text: &str) -> (usize, usize) {
    let (mut first, mut last) = (text.len(), 0);
    for span in spans {
        let bytes = range(span, text);
        first = first.min(bytes.start);
        last = last.max(bytes.end);
    }
    let bytes = text.as_bytes();
    let mut newlines_before = bytes[..first].iter().enumerate().rev().filter(|&(_, &byte)| byte == b'\n');
    let start = newlines_before.nth(1).map_or(0, |(newline, _)| newline + 1);
    let newlines_behind = bytes[last..].iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    let end = newlines_behind.take(2).last().map_or(text.len(), |(newline, _)| last + newline + 1);
    (start, end.max(start))
}

/// The bytes of a span, clamped to the text and to character boundaries.
fn range(span: Span, text: &str) -> core::ops::Range<usize> {
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

impl core::error::Error for Diagnostics {}

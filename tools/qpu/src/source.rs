//! Source text and places in it.
//!
//! A place ([`Span`]) is a file number and a range of bytes; line and column are worked out only when a diagnostic is shown.

use std::path::PathBuf;

/// One source text handed to the assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name for diagnostics, and the path that relative includes start from.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// A source made of a name and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Reads a file; the error is the system's.
    pub fn read(path: impl Into<PathBuf>) -> std::io::Result<Self> {
        let path = path.into();
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        Ok(Self { name: path.display().to_string(), text })
    }
}

/// A range of bytes in one of the files of an assembly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Number of the file, in the order in which they were read.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
}

impl Span {
    /// From the start of `self` to the end of `last`; `self` if they are in different files.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        if self.file == last.file && last.end >= self.start { Self { end: last.end, ..self } } else { self }
    }
}

/// Line and column of a byte of a text, both counted from 1; the column counts characters.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let byte = byte.min(text.len());
    let before = &text.as_bytes()[..byte];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    (line, column)
}

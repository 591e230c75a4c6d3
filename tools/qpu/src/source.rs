//! Source texts and spans.
//!
//! A [`Span`] is a file number and a range of bytes; line and column are computed only when a diagnostic is rendered.

#[cfg(feature = "std")]
use alloc::format;
use alloc::string::String;
#[cfg(feature = "std")]
use alloc::string::ToString;
#[cfg(feature = "std")]
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::io::Read;
#[cfg(feature = "std")]
use std::path::{Path, PathBuf};

/// A source text for the assembler.
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

    #[cfg(feature = "std")]
    /// Reads a file of up to [`MAX_BYTES`]; a longer file is an error.
    pub fn read(path: impl Into<PathBuf>) -> std::io::Result<Self> {
        let path = path.into();
        let text = String::from_utf8_lossy(&read_bytes(&path, MAX_BYTES)?).into_owned();
        Ok(Self { name: path.display().to_string(), text })
    }
}

/// Maximum size in bytes of a source, and of all sources of an assembly together.
pub const MAX_BYTES: u64 = 16 << 20;

#[cfg(feature = "std")]
/// Reads a file of up to `max_bytes`. A longer one is an error, without reading it if its size is known.
pub fn read_bytes(path: &Path, max_bytes: u64) -> std::io::Result<Vec<u8>> {
    let too_long = || {
        let message = format!("the file is longer than {max_bytes} bytes, the most that is read");
        std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)
    };
    let file = std::fs::File::open(path)?;
    if file.metadata()?.len() > max_bytes {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    // The size of pipes and devices is not known.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_long()) } else { Ok(bytes) }
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

//! Output formats.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use qpu_text::Text;

use crate::assembler::Assembly;
use crate::source::line_and_column;

/// How words are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Bytes in the order in memory: little-endian.
    #[default]
    Bin,
    /// One word per line as two hexadecimal halves, low half first, with a comma after each.
    Hex,
    /// A C array of `uint32_t`.
    C,
    /// A Rust array of `u64`, with a constant for each label.
    Rust,
    /// Offset, word and source line.
    Listing,
}

impl Format {
    /// Names for the command line.
    pub const NAMED: &'static [(&'static str, Self)] =
        &[("bin", Self::Bin), ("hex", Self::Hex), ("c", Self::C), ("rust", Self::Rust), ("listing", Self::Listing)];
}

impl Assembly {
    /// The program in a format; `name` is the name of the array.
    pub fn output(&self, format: Format, name: &str) -> Vec<u8> {
        match format {
            Format::Bin => self.words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Format::Hex => self.hex().into_bytes(),
            Format::C => self.c(name).into_bytes(),
            Format::Rust => self.rust(name).into_bytes(),
            Format::Listing => self.listing().into_bytes(),
        }
    }

    fn hex(&self) -> String {
        let mut text = String::with_capacity(self.words.len() * 25);
        for &word in &self.words {
            let _ = writeln!(text, "{:#010x}, {:#010x},", word as u32, word >> 32);
        }
        text
    }

    fn c(&self, name: &str) -> String {
        let name = identifier(name);
        let mut text = format!("#include <stdint.h>\n\nconst uint32_t {name}[{}] = {{\n", self.words.len() * 2);
        for (at, &word) in self.words.iter().enumerate() {
            let comment = self.line_text(at).replace("*/", "* /");
            let _ = writeln!(text, "    {:#010x}, {:#010x}, /* {:04x}: {comment} */", word as u32, word >> 32, at * 8);
        }
        text.push_str("};\n");
        for (label, offset) in &self.labels {
            if label.starts_with(|first: char| !first.is_ascii_digit()) {
                let _ = writeln!(text, "const uint32_t {name}_{} = {offset};", identifier(label));
            }
        }
        text
    }

    fn rust(&self, name: &str) -> String {
        let name = identifier(name).to_uppercase();
        let mut text = format!("pub const {name}: [u64; {}] = [\n", self.words.len());
        for (at, &word) in self.words.iter().enumerate() {
            let _ = writeln!(text, "    {word:#018x}, // {:04x}: {}", at * 8, self.line_text(at));
        }
        text.push_str("];\n");
        for (label, offset) in &self.labels {
            if label.starts_with(|first: char| !first.is_ascii_digit()) {
                let _ = writeln!(text, "pub const {name}_{}: u32 = {offset};", identifier(label).to_uppercase());
            }
        }
        text
    }

    /// One line per word with its offset, value and source line; labels are on lines of their own.
    pub fn listing(&self) -> String {
        let mut text = String::new();
        let mut labels = self.labels.iter().peekable();
        for (at, &word) in self.words.iter().enumerate() {
            while let Some((label, offset)) = labels.next_if(|(_, offset)| *offset as usize <= at * 8) {
                let _ = writeln!(text, "{offset:05x}                   :{label}");
            }
            let place = self.place(at).map_or(String::new(), |(file, line)| format!("{file}:{line}"));
            let _ = writeln!(text, "{:05x}  {word:016x}  {:<72}  {place}", at * 8, self.line_text(at));
        }
        for (label, offset) in labels {
            let _ = writeln!(text, "{offset:05x}                   :{label}");
        }
        text
    }

    /// File and line of a word.
    fn place(&self, at: usize) -> Option<(&str, usize)> {
        let span = self.info.get(at)?.span;
        let source = self.warnings.sources.get(span.file as usize)?;
        Some((&source.name, line_and_column(&source.text, span.start as usize).0))
    }

    /// The text beside a word: its source line, or, if the program was optimized, its disassembly.
    fn line_text(&self, at: usize) -> Cow<'_, str> {
        match self.words.get(at) {
            Some(&word) if self.optimized => Cow::Owned(Text(word).to_string()),
            _ => Cow::Borrowed(self.source_line(at)),
        }
    }

    /// The source line that a word was assembled from.
    pub fn source_line(&self, at: usize) -> &str {
        let text = self.info.get(at).and_then(|info| {
            let source = self.warnings.sources.get(info.span.file as usize)?;
            source.text.get(info.span.start as usize..info.span.end as usize)
        });
        text.unwrap_or("").trim()
    }
}

/// A valid identifier of C and Rust.
fn identifier(name: &str) -> String {
    let mut identifier: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !identifier.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        identifier.insert(0, '_');
    }
    identifier
}

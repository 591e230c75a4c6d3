//! Memory and names of a captured job, as members of the line that describes it

use core::fmt::{self, Write};

use v3d::{
    platform::{Named, Names},
    validator::Span,
};

/// The members `buffers` and `names`: the pages that the job uses, and the names of what is in them.
#[derive(Debug)]
pub struct NamesInJson<'n> {
    /// The pages, by ascending address.
    pub pages: &'n [Span],
    /// The names, of these and other pages.
    pub names: &'n Names,
}

impl NamesInJson<'_> {
    /// Whether memory from this offset in RAM on belongs to the job.
    fn is_used(&self, offset: u32, bytes: u32) -> bool {
        let start_of = |page: &Span| page.address.offset();
        self.pages.iter().any(|page| offset < start_of(page) + page.bytes && start_of(page) < offset + bytes)
    }
}

impl fmt::Display for NamesInJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = self.pages.iter().map(|page| (page.address.offset(), page.bytes, "memory"));
        let memory = self.names.memory().filter(|&(at, bytes, _)| self.is_used(at, bytes));
        f.write_str("\"buffers\":[")?;
        for (number, (at, bytes, name)) in pages.chain(memory).enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{{\"address\":{at},\"size\":{bytes},\"kind\":{}}}", Text(name))?;
        }
        f.write_str("],\"names\":[")?;
        for (number, (at, what, name)) in self.names.others().filter(|&(at, ..)| self.is_used(at, 1)).enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{{\"kind\":\"{}\",\"address\":{at}", what.word_for_kind())?;
            match what {
                Named::Program { bytes } => write!(f, ",\"size\":{bytes}")?,
                Named::Uniform { word } => write!(f, ",\"word\":{word}")?,
                Named::Memory { .. } | Named::Pass | Named::Draw | Named::Line => {}
            }
            write!(f, ",\"name\":{}}}", Text(name))?;
        }
        f.write_char(']')
    }
}

/// A string in JSON [RFC 8259 section 7].
struct Text<'t>(&'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\0'..=' ' if character != ' ' => write!(f, "\\u{:04x}", character as u32)?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use v3d::hw::BusAddr;

    use super::*;

    #[test]
    fn names_of_pages_that_the_job_uses_are_told() {
        let mut names = Names::new(100);
        let mut set = |at: u32, what, name: &str| names.set(BusAddr(0xc000_0000 | at), what, format_args!("{name}"));
        set(0x2f00, Named::Memory { bytes: 0x200 }, "mesh \"sea\": vertices");
        set(0x3000, Named::Draw, "sea\n\\, instance 1");
        set(0x3010, Named::Program { bytes: 64 }, "sea: fragment");
        set(0x3018, Named::Line, "sea.wgsl:7");
        set(0x3010, Named::Uniform { word: 2 }, "time");
        set(0x5000, Named::Memory { bytes: 0x1000 }, "of another scene");
        set(0x5000, Named::Pass, "of another scene");
        let pages = [Span { address: BusAddr(0xc000_3000), bytes: 4096 }];
        assert_eq!(
            NamesInJson { pages: &pages, names: &names }.to_string(),
            r#""buffers":[{"address":12288,"size":4096,"kind":"memory"},{"address":12032,"size":512,"kind":"mesh \"sea\": vertices"}],"names":["#
                .to_string()
                + r#"{"kind":"draw","address":12288,"name":"sea\u000a\\, instance 1"},"#
                + r#"{"kind":"program","address":12304,"size":64,"name":"sea: fragment"},"#
                + r#"{"kind":"uniform","address":12304,"word":2,"name":"time"},"#
                + r#"{"kind":"line","address":12312,"name":"sea.wgsl:7"}]"#
        );
        assert_eq!(NamesInJson { pages: &[], names: &names }.to_string(), r#""buffers":[],"names":[]"#);
    }
}

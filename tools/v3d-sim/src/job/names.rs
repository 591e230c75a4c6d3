//! Names of what is in a job's memory.
//!
//! A job's description may have a member `names`, a list of objects:
//!
//! | `kind` | `address` is that of | further members |
//! |---|---|---|
//! | `"pass"` | a rendering list | `name` |
//! | `"draw"` | a shader record | `name` |
//! | `"program"` | a program's first instruction | `name`, `size`: bytes of the program |
//! | `"line"` | an instruction; those behind it are of the same line, to the next name of this kind | `name`: file and line of the source |
//! | `"uniform"` | a program's first instruction | `name`, `word`: number of the word in its uniforms |
//!
//! Names of memory are in the member `buffers`, as the `kind` of each. What has no name is shown by its address alone.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use v3d_hw::BusAddr;

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase", expecting = "the kind of a name")]
pub enum NameKind {
    /// A rendering list.
    Pass,
    /// A shader record.
    Draw,
    /// A program.
    Program,
    /// Instructions from this one on: a line of the source.
    Line,
    /// A word of a program's uniforms.
    Uniform,
}

/// One name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a name: an object with `address`, `kind` and `name`")]
pub struct Name {
    /// Where it is.
    pub address: u32,
    /// What it is.
    pub kind: NameKind,
    /// Its name.
    pub name: String,
    /// Bytes of a program.
    #[serde(default)]
    pub size: u32,
    /// Number of the word of a uniform.
    #[serde(default)]
    pub word: u32,
}

/// The names of a job, to look up.
#[derive(Clone, Debug, Default)]
pub struct Names<'n> {
    /// By kind, offset in memory, and word.
    names: BTreeMap<(NameKind, u32, u32), &'n Name>,
}

impl<'n> Names<'n> {
    /// The names of a job; of several for one thing the last counts.
    pub fn new(names: &'n [Name]) -> Self {
        let key = |name: &Name| (name.kind, BusAddr(name.address).offset(), name.word);
        Self { names: names.iter().map(|name| (key(name), name)).collect() }
    }

    fn get(&self, kind: NameKind, at: BusAddr, word: u32) -> Option<&'n str> {
        self.names.get(&(kind, at.offset(), word)).map(|name| name.name.as_str())
    }

    /// The name of the pass with this rendering list.
    pub fn pass(&self, list: BusAddr) -> Option<&'n str> {
        self.get(NameKind::Pass, list, 0)
    }

    /// The name of the draw with this shader record.
    pub fn draw(&self, record: BusAddr) -> Option<&'n str> {
        self.get(NameKind::Draw, record, 0)
    }

    /// The name of the program with this first instruction.
    pub fn program(&self, code: BusAddr) -> Option<&'n str> {
        self.get(NameKind::Program, code, 0)
    }

    /// The name of a word of the uniforms of the program with this first instruction.
    pub fn uniform(&self, code: BusAddr, word: u32) -> Option<&'n str> {
        self.get(NameKind::Uniform, code, word)
    }

    /// File and line of the source of an instruction.
    pub fn line(&self, instruction: BusAddr) -> Option<&'n str> {
        let at = instruction.offset();
        let before = |kind| self.names.range((kind, 0, 0)..=(kind, at, u32::MAX)).next_back().map(|(_, name)| *name);
        let program = before(NameKind::Program)?;
        let start = BusAddr(program.address).offset();
        let line = before(NameKind::Line).filter(|line| BusAddr(line.address).offset() >= start)?;
        (at - start < program.size).then_some(line.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_address() {
        let text = r#"[
            {"kind": "pass", "address": 16, "name": "screen"},
            {"kind": "draw", "address": 32, "name": "lit, ball"},
            {"kind": "program", "address": 64, "size": 32, "name": "lit: fragment shader"},
            {"kind": "line", "address": 72, "name": "a.wgsl:7"},
            {"kind": "line", "address": 88, "name": "a.wgsl:9"},
            {"kind": "uniform", "address": 64, "word": 1, "name": "matrix[3]"},
            {"kind": "program", "address": 96, "size": 8, "name": "other"}
        ]"#;
        let list: Vec<Name> = serde_json::from_str(text).unwrap();
        let names = Names::new(&list);
        // Bus addresses have alias bits.
        let at = |offset: u32| BusAddr(0xc000_0000 | offset);
        assert_eq!((names.pass(at(16)), names.pass(at(32))), (Some("screen"), None));
        assert_eq!((names.draw(at(32)), names.draw(at(16))), (Some("lit, ball"), None));
        assert_eq!((names.program(at(64)), names.program(at(72))), (Some("lit: fragment shader"), None));
        assert_eq!((names.uniform(at(64), 1), names.uniform(at(64), 0)), (Some("matrix[3]"), None));
        let lines = [56, 64, 72, 80, 88, 96, 104, 200].map(|offset| names.line(at(offset)));
        let expected = [None, None, Some("a.wgsl:7"), Some("a.wgsl:7"), Some("a.wgsl:9"), None, None, None];
        assert_eq!(lines, expected);
    }
}

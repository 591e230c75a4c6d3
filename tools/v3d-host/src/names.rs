//! Names of what is in the model's memory, as the renderer tells them: for captures.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use v3d::hw::BusAddr;
use v3d::platform::Named;

/// Kinds of names, as a job's description spells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Pass,
    Draw,
    Program,
    Line,
    Uniform,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Pass, Self::Draw, Self::Program, Self::Line, Self::Uniform];

    const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Draw => "draw",
            Self::Program => "program",
            Self::Line => "line",
            Self::Uniform => "uniform",
        }
    }
}

/// The names at present.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Size and name of allocations, by offset.
    memory: BTreeMap<u32, (u32, String)>,
    /// Size and name of everything else, by kind, offset, and word of a uniform.
    others: BTreeMap<(Kind, u32, u32), (u32, String)>,
}

impl Names {
    /// Names something. Of memory that is used again the former names go.
    pub(crate) fn set(&mut self, address: BusAddr, what: Named, name: String) {
        let at = address.offset();
        let (kind, word, bytes) = match what {
            Named::Memory { bytes } => {
                self.forget(at, bytes);
                self.memory.insert(at, (bytes, name));
                return;
            }
            Named::Pass => (Kind::Pass, 0, 0),
            Named::Draw => (Kind::Draw, 0, 0),
            Named::Program { bytes } => (Kind::Program, 0, bytes),
            Named::Line => (Kind::Line, 0, 0),
            Named::Uniform { word } => (Kind::Uniform, word, 0),
        };
        self.others.insert((kind, at, word), (bytes, name));
    }

    /// Removes all names in memory that is allocated anew.
    fn forget(&mut self, start: u32, bytes: u32) {
        let end = start.saturating_add(bytes);
        self.memory.retain(|&at, (bytes, _)| at.saturating_add(*bytes) <= start || at >= end);
        for kind in Kind::ALL {
            let inside: Vec<_> = self.others.range((kind, start, 0)..(kind, end, 0)).map(|(key, _)| *key).collect();
            for key in inside {
                self.others.remove(&key);
            }
        }
    }

    /// Allocations, as the member `buffers` of a description has them.
    pub(crate) fn buffers(&self) -> Json {
        let buffer =
            |(at, (bytes, name)): (&u32, &(u32, String))| json!({ "address": at, "size": bytes, "kind": name });
        self.memory.iter().map(buffer).collect()
    }

    /// All other names, as the member `names` of a description has them.
    pub(crate) fn others(&self) -> Json {
        let name = |(&(kind, at, word), (bytes, name)): (&(Kind, u32, u32), &(u32, String))| match kind {
            Kind::Program => json!({ "kind": kind.name(), "address": at, "size": bytes, "name": name }),
            Kind::Uniform => json!({ "kind": kind.name(), "address": at, "word": word, "name": name }),
            Kind::Pass | Kind::Draw | Kind::Line => json!({ "kind": kind.name(), "address": at, "name": name }),
        };
        self.others.iter().map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_allocated_anew_has_new_names() {
        let mut names = Names::default();
        let mut set = |at: u32, what, name: &str| names.set(BusAddr(0xc000_0000 | at), what, name.to_owned());
        set(0x1000, Named::Memory { bytes: 0x100 }, "old");
        set(0x1040, Named::Program { bytes: 16 }, "shader");
        set(0x1040, Named::Line, "a.wgsl:1");
        set(0x1040, Named::Uniform { word: 2 }, "matrix");
        set(0x1100, Named::Memory { bytes: 0x100 }, "beside");
        set(0x1100, Named::Draw, "draw beside");
        set(0x1080, Named::Memory { bytes: 0x20 }, "new");
        assert_eq!(names.buffers().as_array().unwrap().len(), 2);
        assert_eq!(names.others().as_array().unwrap().len(), 4, "only what is in the new allocation is forgotten");
        names.set(BusAddr(0x1000), Named::Memory { bytes: 0x100 }, "newest".to_owned());
        let expected = json!([
            { "address": 0x1000, "size": 0x100, "kind": "newest" },
            { "address": 0x1100, "size": 0x100, "kind": "beside" },
        ]);
        assert_eq!(names.buffers(), expected);
        assert_eq!(names.others(), json!([{ "kind": "draw", "address": 0x1100, "name": "draw beside" }]));
    }
}

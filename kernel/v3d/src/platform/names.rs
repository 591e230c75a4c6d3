//! The names of what is in the pool, kept by platforms that tell them with captures.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use core::fmt;

use super::Named;
use v3d_hw::BusAddr;

/// Names at present: of allocations, and of what is in them.
#[derive(Debug)]
pub struct Names {
    /// Size and name of allocations, by offset.
    memory: BTreeMap<u32, (u32, String)>,
    /// Everything else, by offset, kind and word of a uniform.
    others: BTreeMap<(u32, u8, u32), (Named, String)>,
    /// Most names of either sort.
    most: usize,
}

impl Names {
    /// No names yet, and at most `most` of allocations and as many of other things: names beyond are left out.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { memory: BTreeMap::new(), others: BTreeMap::new(), most }
    }

    /// Names something. Of memory that is allocated again the former names go.
    pub fn set(&mut self, address: BusAddr, what: Named, name: fmt::Arguments<'_>) {
        let at = address.offset();
        let (kind, word) = match what {
            Named::Memory { bytes } => {
                self.forget(at, bytes);
                if self.memory.len() < self.most {
                    self.memory.insert(at, (bytes, name.to_string()));
                }
                return;
            }
            Named::Pass => (0, 0),
            Named::Draw => (1, 0),
            Named::Program { .. } => (2, 0),
            Named::Line => (3, 0),
            Named::Uniform { word } => (4, word),
        };
        let key = (at, kind, word);
        if self.others.len() < self.most || self.others.contains_key(&key) {
            self.others.insert(key, (what, name.to_string()));
        }
    }

    /// Removes all names in memory that is allocated anew.
    fn forget(&mut self, start: u32, bytes: u32) {
        let end = start.saturating_add(bytes);
        self.memory.retain(|&at, (bytes, _)| at.saturating_add(*bytes) <= start || at >= end);
        while let Some((&key, _)) = self.others.range((start, 0, 0)..(end, 0, 0)).next() {
            self.others.remove(&key);
        }
    }

    /// Allocations by ascending offset: offset, size in bytes, name.
    pub fn memory(&self) -> impl Iterator<Item = (u32, u32, &str)> {
        self.memory.iter().map(|(&at, (bytes, name))| (at, *bytes, name.as_str()))
    }

    /// Everything else by ascending offset: offset, what it is, name.
    pub fn others(&self) -> impl Iterator<Item = (u32, Named, &str)> {
        self.others.iter().map(|(&(at, ..), (what, name))| (at, *what, name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn memory_that_is_allocated_anew_has_new_names() {
        let mut names = Names::new(100);
        let mut set = |at: u32, what, name: &str| names.set(BusAddr(0xc000_0000 | at), what, format_args!("{name}"));
        set(0x1000, Named::Memory { bytes: 0x100 }, "old");
        set(0x1040, Named::Program { bytes: 16 }, "shader");
        set(0x1040, Named::Line, "a.wgsl:1");
        set(0x1040, Named::Uniform { word: 2 }, "matrix");
        set(0x1100, Named::Memory { bytes: 0x100 }, "beside");
        set(0x1100, Named::Draw, "draw beside");
        set(0x1080, Named::Memory { bytes: 0x20 }, "new");
        assert_eq!(names.memory().count(), 2);
        assert_eq!(names.others().count(), 4, "only what is in the new allocation is forgotten");
        names.set(BusAddr(0x1000), Named::Memory { bytes: 0x100 }, format_args!("newest"));
        let memory: Vec<_> = names.memory().collect();
        assert_eq!(memory, [(0x1000, 0x100, "newest"), (0x1100, 0x100, "beside")]);
        assert_eq!(names.others().collect::<Vec<_>>(), vec![(0x1100, Named::Draw, "draw beside")]);
    }

    #[test]
    fn names_beyond_the_limit_are_left_out() {
        let mut names = Names::new(2);
        for at in 1..5 {
            names.set(BusAddr(0x100 * at), Named::Memory { bytes: 16 }, format_args!("memory {at}"));
            names.set(BusAddr(0x100 * at), Named::Draw, format_args!("draw {at}"));
        }
        assert_eq!((names.memory().count(), names.others().count()), (2, 2));
        names.set(BusAddr(0x100), Named::Draw, format_args!("renamed"));
        assert_eq!(names.others().next(), Some((0x100, Named::Draw, "renamed")));
    }
}

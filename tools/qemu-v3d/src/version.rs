//! Versions of the plugin interface, and which of them a QEMU accepts.
//!
//! QEMU loads the library, reads its symbol `qemu_plugin_version` and rejects a number outside of its own range. No number is in the ranges of all versions, so
//! it is chosen when the library is loaded, before QEMU reads it:
//!
//! | QEMU | accepts | recognised by |
//! |---|---|---|
//! | 6.0 to 8.2 | 0 to 1 | none of the functions below |
//! | 9.0, 9.1 | from 2 on | `qemu_plugin_scoreboard_new` |
//! | 9.2, 10.0 | 2 to 4 | `qemu_plugin_read_memory_vaddr` |
//! | 10.1, 10.2 | up to 5 | `qemu_plugin_write_register` |
//! | 11.0 | up to 6 | `qemu_plugin_set_pc` |
//! | 11.1 | 7 | its release number: version 7 changed functions and added none |
//!
//! The lower end of the range has risen twice, so the highest number that is certainly accepted is declared. To a QEMU newer than all of these, the highest
//! known number is declared, and QEMU reports an error if that is too low.
//!
//! # Sources
//! QEMU's `qemu-plugin.h` (its list of versions) and `plugins/plugin.h` (the lower end). The ranges of 7.2.22, 10.0.13 and 11.1.3
//! are what these programs answer to a library with an impossible number [measured].

use std::ffi::{CStr, c_int};

/// A release of QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release {
    /// 11 of 11.1.3.
    pub(crate) major: i64,
    /// 1 of 11.1.3.
    pub(crate) minor: i64,
}

/// From this version on, callbacks have a user data pointer as their last argument, and no longer the plugin's number as their first.
pub(crate) const WITH_USER_DATA: c_int = 7;

/// The first release that has [`WITH_USER_DATA`].
const FIRST_WITH_USER_DATA: Release = Release { major: 11, minor: 1 };

/// A function that came with a version of the interface, newest first.
const CAME_WITH: [(&CStr, c_int); 4] = [
    (c"qemu_plugin_set_pc", 6),
    (c"qemu_plugin_write_register", 5),
    (c"qemu_plugin_read_memory_vaddr", 4),
    (c"qemu_plugin_scoreboard_new", 2),
];

/// The interface's version before any of these functions.
const OLDEST: c_int = 1;

/// The version of the plugin interface to declare to a QEMU of this release, if it is known, that exports the functions for which `exports` returns true.
pub(crate) fn interface(release: Option<Release>, exports: impl Fn(&CStr) -> bool) -> c_int {
    if release.is_some_and(|release| release >= FIRST_WITH_USER_DATA) {
        return WITH_USER_DATA;
    }
    CAME_WITH.into_iter().find(|(name, _)| exports(name)).map_or(OLDEST, |(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The symbols that distinguish versions, as `nm -D` shows them for Debian's programs, and the range that each program reports for a library with an
    /// impossible number.
    #[test]
    fn each_tested_qemu_gets_a_number_in_its_range() {
        let scoreboard: &[&CStr] = &[c"qemu_plugin_scoreboard_new", c"qemu_plugin_read_memory_vaddr"];
        let newest = [scoreboard, &[c"qemu_plugin_write_register", c"qemu_plugin_set_pc"]].concat();
        for (major, minor, exported, range) in
            [(7, 2, &[][..], 0..=1), (10, 0, scoreboard, 2..=4), (11, 1, &newest[..], 7..=7)]
        {
            let release = Release { major, minor };
            let chosen = interface(Some(release), |name| exported.contains(&name));
            assert!(range.contains(&chosen), "{release:?}: {chosen}");
        }
    }

    #[test]
    fn a_release_that_is_not_told_is_judged_by_its_functions() {
        assert_eq!(interface(None, |_| false), 1);
        assert_eq!(interface(None, |name| name == c"qemu_plugin_scoreboard_new"), 2);
        assert_eq!(interface(None, |_| true), 6);
        assert_eq!(interface(Some(Release { major: 12, minor: 0 }), |_| true), 7);
    }
}

//! Options in cmdline.txt on the SD card
//!
//! The firmware adds words of its own, so unknown words are ignored.

/// The options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootOptions {
    /// Wait for the V3D by interrupt from the beginning.
    pub v3d_interrupts: bool,
    /// Run `selftest board` if nothing is received on the serial line within this number of seconds after the boot.
    pub selftest_after_s: Option<u32>,
}

impl BootOptions {
    /// Parses a command line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let mut options = Self::default();
        for word in line.split_ascii_whitespace() {
            match word.split_once('=') {
                Some(("v3d.interrupts", "on")) => options.v3d_interrupts = true,
                Some(("v3d.interrupts", "off")) => options.v3d_interrupts = false,
                Some(("selftest.after", "never")) => options.selftest_after_s = None,
                Some(("selftest.after", seconds)) => {
                    options.selftest_after_s = seconds.parse().ok().or(options.selftest_after_s);
                }
                _ => {}
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::BootOptions;

    #[test]
    fn known_words_are_found_among_others() {
        assert_eq!(BootOptions::parse(""), BootOptions { v3d_interrupts: false, selftest_after_s: None });
        assert!(BootOptions::parse("coherent_pool=1M v3d.interrupts=on\n").v3d_interrupts);
        assert!(!BootOptions::parse("v3d.interrupts=on x v3d.interrupts=off").v3d_interrupts);
        assert!(!BootOptions::parse("xv3d.interrupts=on").v3d_interrupts);
    }

    #[test]
    fn the_test_starts_after_a_number_of_seconds_or_never() {
        let after = |line| BootOptions::parse(line).selftest_after_s;
        assert_eq!(after("bcm2708_fb.fbwidth=1280 selftest.after=30\n"), Some(30));
        assert_eq!(after("selftest.after=30 selftest.after=5"), Some(5));
        assert_eq!(after("selftest.after=30 selftest.after=never"), None);
        assert_eq!(after("selftest.after=30 selftest.after=soon"), Some(30));
        assert_eq!(after("selftest.after"), None);
    }
}

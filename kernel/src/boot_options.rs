//! Options in cmdline.txt on the SD card
//!
//! The firmware adds words of its own, so unknown words are ignored.

/// The options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootOptions {
    /// Wait for the V3D by interrupt from the beginning.
    pub v3d_interrupts: bool,
}

impl BootOptions {
    /// Parses a command line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let mut options = Self::default();
        for word in line.split_ascii_whitespace() {
            match word {
                "v3d.interrupts=on" => options.v3d_interrupts = true,
                "v3d.interrupts=off" => options.v3d_interrupts = false,
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
        assert_eq!(BootOptions::parse(""), BootOptions { v3d_interrupts: false });
        assert!(BootOptions::parse("coherent_pool=1M v3d.interrupts=on\n").v3d_interrupts);
        assert!(!BootOptions::parse("v3d.interrupts=on x v3d.interrupts=off").v3d_interrupts);
        assert!(!BootOptions::parse("xv3d.interrupts=on").v3d_interrupts);
    }
}

//! The revision code, which identifies the board
//!
//! New-style codes (bit 23 set) consist of fields: revision 3:0, type 11:4, processor 15:12, manufacturer 19:16, memory 22:20.
//!
//! # Sources
//! raspberrypi.com documentation, "Raspberry Pi revision codes".

use core::fmt;

/// A revision code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision(pub u32);

/// A board model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Raspberry Pi 2 Model B, revision 1.2: the same chip on the older board.
    Pi2B,
    /// Raspberry Pi 3 Model B.
    Pi3B,
    /// Raspberry Pi 3 Model B+.
    Pi3BPlus,
    /// Raspberry Pi 3 Model A+.
    Pi3APlus,
    /// Compute Module 3.
    ComputeModule3,
    /// Compute Module 3+.
    ComputeModule3Plus,
    /// Raspberry Pi Zero 2 W.
    Zero2W,
    /// A board that this kernel does not support, by its type number.
    Other(u8),
}

impl Model {
    /// The board's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pi2B => "Raspberry Pi 2 Model B",
            Self::Pi3B => "Raspberry Pi 3 Model B",
            Self::Pi3BPlus => "Raspberry Pi 3 Model B+",
            Self::Pi3APlus => "Raspberry Pi 3 Model A+",
            Self::ComputeModule3 => "Compute Module 3",
            Self::ComputeModule3Plus => "Compute Module 3+",
            Self::Zero2W => "Raspberry Pi Zero 2 W",
            Self::Other(_) => "a board this kernel does not know",
        }
    }
}

impl Revision {
    /// The board.
    #[must_use]
    pub fn model(self) -> Model {
        if !self.is_new_style() {
            return Model::Other(0);
        }
        match (self.0 >> 4) as u8 {
            0x04 => Model::Pi2B,
            0x08 => Model::Pi3B,
            0x0a => Model::ComputeModule3,
            0x0d => Model::Pi3BPlus,
            0x0e => Model::Pi3APlus,
            0x10 => Model::ComputeModule3Plus,
            0x12 => Model::Zero2W,
            other => Model::Other(other),
        }
    }

    /// Size of the board's memory in bytes, including the firmware's part.
    #[must_use]
    pub fn memory_bytes(self) -> Option<u64> {
        let code = self.0 >> 20 & 7;
        (self.is_new_style() && code <= 5).then(|| (256 << 20) << code)
    }

    /// Whether the chip is a BCM2837 (BCM2710 to Linux), by the processor field.
    #[must_use]
    pub fn is_bcm2837(self) -> bool {
        self.is_new_style() && self.0 >> 12 & 0xf == 2
    }

    /// The board's revision as printed on it, in two parts.
    #[must_use]
    pub fn board_revision(self) -> (u32, u32) {
        (1, self.0 & 0xf)
    }

    fn is_new_style(self) -> bool {
        self.0 & 1 << 23 != 0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.board_revision();
        write!(f, "{} revision {major}.{minor} (code {:06x}", self.model().name(), self.0)?;
        if let Some(bytes) = self.memory_bytes() {
            write!(f, ", {} MiB", bytes >> 20)?;
        }
        if !self.is_bcm2837() {
            f.write_str(", not a BCM2837")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes from the table of the manufacturer's documentation.
    #[test]
    fn published_codes_are_told_apart() {
        let cases = [
            (0xa0_2082, Model::Pi3B, 1024, (1, 2)),
            (0xa2_2082, Model::Pi3B, 1024, (1, 2)),
            (0xa0_20d3, Model::Pi3BPlus, 1024, (1, 3)),
            (0x90_20e0, Model::Pi3APlus, 512, (1, 0)),
            (0xa0_20a0, Model::ComputeModule3, 1024, (1, 0)),
            (0xa0_2100, Model::ComputeModule3Plus, 1024, (1, 0)),
            (0x90_2120, Model::Zero2W, 512, (1, 0)),
            (0xa0_2042, Model::Pi2B, 1024, (1, 2)),
        ];
        for (code, model, mebibytes, revision) in cases {
            let board = Revision(code);
            assert_eq!(board.model(), model, "{code:x}");
            assert_eq!(board.memory_bytes(), Some(mebibytes << 20), "{code:x}");
            assert_eq!(board.board_revision(), revision, "{code:x}");
            assert!(board.is_bcm2837(), "{code:x}");
        }
    }

    #[test]
    fn other_boards_are_named_as_such() {
        assert_eq!(Revision(0xc0_3111).model(), Model::Other(0x11));
        assert!(!Revision(0xc0_3111).is_bcm2837());
        assert_eq!(Revision(0x000e).model(), Model::Other(0));
        assert_eq!(Revision(0x000e).memory_bytes(), None);
        assert_eq!(Revision(0xa0_2082).to_string(), "Raspberry Pi 3 Model B revision 1.2 (code a02082, 1024 MiB)");
    }
}

//! The card's CSD register: its size, and whether it may be written
//!
//! # Sources
//! SD Physical Layer Simplified Specification 6.00, 5.3.

use super::BLOCK_BYTES;

/// The register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Csd(u128);

impl Csd {
    /// The register in a long answer, whose words lack its lowest eight bits, a checksum.
    pub(super) fn of_answer(words: [u32; 4]) -> Self {
        let register = words.iter().rev().fold(0u128, |register, &word| register << 32 | u128::from(word));
        Self(register << 8)
    }

    /// Bits from `low` to `high`.
    const fn field(self, high: u32, low: u32) -> u32 {
        (self.0 >> low) as u32 & (u32::MAX >> (31 - (high - low)))
    }

    /// Its layout, counted from 0.
    pub(super) const fn structure(self) -> u32 {
        self.field(127, 126)
    }

    /// Number of blocks of 512 bytes; `None` of a layout that is not known.
    pub(super) fn blocks(self) -> Option<u32> {
        match self.structure() {
            0 => {
                let (size, multiplier, length) = (self.field(73, 62), self.field(49, 47), self.field(83, 80));
                let bytes = (u64::from(size) + 1) << (multiplier + 2 + length);
                u32::try_from(bytes / BLOCK_BYTES as u64).ok()
            }
            // In units of 512 KiB.
            1 => (self.field(69, 48) + 1).checked_mul(1024),
            _ => None,
        }
    }

    /// Whether the card must not be written, permanently or temporarily.
    pub(super) const fn is_write_protected(self) -> bool {
        self.field(13, 12) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A register with values at the bits that the specification gives them.
    fn answer(fields: &[(u128, u32)]) -> [u32; 4] {
        let register = fields.iter().fold(0, |register, &(value, low)| register | value << low);
        [8, 40, 72, 104].map(|bit| (register >> bit) as u32)
    }

    /// The specification's example of 2 GB is C_SIZE 4095, C_SIZE_MULT 7, READ_BL_LEN 10.
    #[test]
    fn sizes_are_those_of_the_specification() {
        let blocks = |fields: &[(u128, u32)]| Csd::of_answer(answer(fields)).blocks();
        assert_eq!(blocks(&[(4095, 62), (7, 47), (10, 80)]), Some(4_194_304));
        assert_eq!(blocks(&[(3783, 62), (7, 47), (9, 80)]), Some(1_937_408));
        assert_eq!(blocks(&[(1, 126), (0xe8f7, 48)]), Some(61_071_360));
        assert_eq!(blocks(&[(1, 126), (0x3f_ffff, 48)]), None);
        assert_eq!(blocks(&[(2, 126)]), None);
        // The whole register of a card of 32 GB.
        let register: u128 = 0x400e_0032_5b59_0000_e8f7_7f80_0a40_4000;
        let csd = Csd::of_answer(answer(&[(register, 0)]));
        assert_eq!((csd.blocks(), csd.is_write_protected()), (Some(61_071_360), false));
    }

    #[test]
    fn either_protection_counts() {
        for bit in [12, 13] {
            assert!(Csd::of_answer(answer(&[(1, bit)])).is_write_protected());
        }
        assert!(!Csd::of_answer(answer(&[(1, 14)])).is_write_protected());
    }
}

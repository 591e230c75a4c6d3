//! The display's own description: its preferred size, from the EDID base block
//!
//! 128 bytes: the header 00 FF FF FF FF FF FF 00, a checksum that makes the sum 0, and at byte 54 the first detailed timing,
//! which is the preferred one.
//!
//! # Sources
//! VESA E-EDID 1.4, sections 3.1, 3.10.

/// Pixels across and down that the display prefers, if the block is whole and says so.
#[must_use]
pub fn preferred_size(block: &[u8; 128]) -> Option<(u32, u32)> {
    const HEADER: [u8; 8] = [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0];
    let sum = block.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    if block[..8] != HEADER || sum != 0 {
        return None;
    }
    let timing = &block[54..72];
    let pixel_clock = u16::from_le_bytes([timing[0], timing[1]]);
    let width = u32::from(timing[2]) | u32::from(timing[4] & 0xf0) << 4;
    let height = u32::from(timing[5]) | u32::from(timing[7] & 0xf0) << 4;
    (pixel_clock != 0 && width != 0 && height != 0).then_some((width, height))
}

#[cfg(test)]
mod tests {
    use super::preferred_size;

    /// A block with the standard's own detailed timing of 1280x720 at 60 Hz (CEA-861 format 4).
    fn block() -> [u8; 128] {
        let mut block = [0; 128];
        block[..8].copy_from_slice(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]);
        block[54..72].copy_from_slice(&[
            0x01, 0x1d, 0x00, 0x72, 0x51, 0xd0, 0x1e, 0x20, 0x6e, 0x28, 0x55, 0x00, 0xc4, 0x8e, 0x21, 0x00, 0x00, 0x1e,
        ]);
        let sum = block.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        block[127] = 0u8.wrapping_sub(sum);
        block
    }

    #[test]
    fn the_first_detailed_timing_is_the_preferred_size() {
        assert_eq!(preferred_size(&block()), Some((1280, 720)));
    }

    #[test]
    fn damaged_blocks_say_nothing() {
        let mut damaged = block();
        damaged[60] ^= 1;
        assert_eq!(preferred_size(&damaged), None);
        assert_eq!(preferred_size(&[0; 128]), None);
    }
}

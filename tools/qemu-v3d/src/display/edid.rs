//! What the screen says of itself: an EDID.
//!
//! It has a mode that the screen prefers, and the established timings 640x480, 800x600 and 1024x768.
//! It has no extension, so that a driver takes it for a DVI screen: no sound, and colours over their whole range.
//!
//! # Sources
//! VESA E-EDID, release A, revision 2: blocks, detailed timings, established timings. Timings: VESA DMT (1024x768, 800x600, 640x480), CTA-861 (1280x720,
//! 1920x1080).

/// Bytes of an EDID.
pub(crate) const BYTES: usize = 128;

/// A mode: pixels, lines and clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Its name: width and height.
    pub(crate) name: &'static str,
    /// Clock in units of 10 kHz.
    clock: u16,
    /// Pixels of a row, of its blanking, of the blanking before the synchronization, and of the synchronization.
    horizontal: [u16; 4],
    /// Lines, likewise.
    vertical: [u16; 4],
    /// Whether the synchronization, vertical and horizontal, is positive.
    positive: bool,
}

impl Mode {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::new("640x480", 2518, [640, 160, 16, 96], [480, 45, 10, 2], false),
        Self::new("800x600", 4000, [800, 256, 40, 128], [600, 28, 1, 4], true),
        Self::new("1024x768", 6500, [1024, 320, 24, 136], [768, 38, 3, 6], false),
        Self::new("1280x720", 7425, [1280, 370, 110, 40], [720, 30, 5, 5], true),
        Self::new("1920x1080", 14850, [1920, 280, 88, 44], [1080, 45, 4, 5], true),
    ];
    /// The mode of the screen if no other is named.
    pub(crate) const DEFAULT: Self = Self::ALL[3];

    const fn new(name: &'static str, clock: u16, horizontal: [u16; 4], vertical: [u16; 4], positive: bool) -> Self {
        Self { name, clock, horizontal, vertical, positive }
    }

    /// The mode of a name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name == name)
    }

    /// Width and height in pixels.
    #[cfg(test)]
    pub(crate) const fn size(self) -> (u16, u16) {
        (self.horizontal[0], self.vertical[0])
    }

    /// The detailed timing of an EDID: 18 bytes.
    fn detailed(self) -> [u8; 18] {
        let low = |value: u16| value as u8;
        let nibbles = |high: u16, low: u16| ((high >> 8) as u8) << 4 | (low >> 8) as u8;
        let [width, blank, before, sync] = self.horizontal;
        let [height, lines_blank, lines_before, lines_sync] = self.vertical;
        let [clock_low, clock_high] = self.clock.to_le_bytes();
        let sync_high =
            (before >> 8 & 3) << 6 | (sync >> 8 & 3) << 4 | (lines_before >> 4 & 3) << 2 | lines_sync >> 4 & 3;
        // The size in millimetres is that of 96 dots an inch.
        let [across, down] = [width, height].map(|pixels| (u32::from(pixels) * 254 / 960) as u16);
        [
            clock_low,
            clock_high,
            low(width),
            low(blank),
            nibbles(width, blank),
            low(height),
            low(lines_blank),
            nibbles(height, lines_blank),
            low(before),
            low(sync),
            low((lines_before & 15) << 4 | lines_sync & 15),
            low(sync_high),
            low(across),
            low(down),
            nibbles(across, down),
            0,
            0,
            // Digital, separate synchronization.
            if self.positive { 0x1e } else { 0x18 },
        ]
    }

    /// The EDID of a screen with this mode.
    pub(crate) fn edid(self) -> [u8; BYTES] {
        let mut edid = [0; BYTES];
        let mut put = |at: usize, bytes: &[u8]| edid[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]);
        // The maker's three letters, 5 bits each: V3D has a digit, so it is VCD. Product and serial number 1, week 1 of 2026.
        put(8, &(0b10110_00011_00100_u16).to_be_bytes());
        put(10, &[1, 0, 1, 0, 0, 0, 1, (2026 - 1990) as u8]);
        // Version 1.3; digital; no size; gamma 2.2; RGB, and the first timing is the preferred one.
        put(18, &[1, 3, 0x80, 0, 0, 120, 0x0a]);
        // The colours of sRGB.
        put(25, &[0xee, 0x91, 0xa3, 0x54, 0x4c, 0x99, 0x26, 0x0f, 0x50, 0x54]);
        // Established timings at 60 Hz: 640x480 and 800x600, 1024x768.
        put(35, &[0x21, 0x08, 0x00]);
        // No standard timings.
        put(38, &[0x01; 16]);
        put(54, &self.detailed());
        // A name, and limits: 50 to 75 Hz, 30 to 70 kHz, 160 MHz; then a place that is not used.
        put(72, b"\0\0\0\xfc\0V3D model\n   ");
        put(90, b"\0\0\0\xfd\0\x32\x4b\x1e\x46\x10\0\n      ");
        put(108, b"\0\0\0\x10\0");
        let sum = edid.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        edid[BYTES - 1] = sum.wrapping_neg();
        edid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The detailed timing of 1280x720 as other screens' EDIDs have it (`edid-decode` reads it as 1280x720p60, 74.25 MHz), but for the size at 12 to 14.
    #[test]
    fn the_preferred_timing_is_as_screens_have_it() {
        let edid = Mode::DEFAULT.edid();
        let timing = &edid[54..72];
        assert_eq!(timing[..12], [0x01, 0x1d, 0x00, 0x72, 0x51, 0xd0, 0x1e, 0x20, 0x6e, 0x28, 0x55, 0x00]);
        // 338 and 190 mm.
        assert_eq!(timing[12..], [0x52, 0xbe, 0x10, 0, 0, 0x1e]);
    }

    #[test]
    fn every_edid_has_a_head_and_a_sum_of_zero() {
        for mode in Mode::ALL {
            let edid = mode.edid();
            assert_eq!(edid[..8], [0, 255, 255, 255, 255, 255, 255, 0]);
            assert_eq!(edid.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte)), 0);
            let width = u16::from(edid[56]) | u16::from(edid[58] & 0xf0) << 4;
            let height = u16::from(edid[59]) | u16::from(edid[61] & 0xf0) << 4;
            assert_eq!((width, height), mode.size());
            assert_eq!(format!("{width}x{height}"), mode.name);
            // 60 frames a second, within half of one.
            let pixels = mode.horizontal[..2].iter().sum::<u16>() as u32;
            let lines = mode.vertical[..2].iter().sum::<u16>() as u32;
            let rate = f64::from(mode.clock) * 10_000.0 / f64::from(pixels * lines);
            assert!((59.5..60.5).contains(&rate), "{rate}");
            assert_eq!(Mode::parse(mode.name), Some(mode));
        }
        assert_eq!(Mode::parse("1280x1024"), None);
    }
}

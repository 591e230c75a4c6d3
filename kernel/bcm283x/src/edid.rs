//! The display's preferred resolution, from the EDID base block
//!
//! The block has 128 bytes: the header 00 FF FF FF FF FF FF 00, at byte 54 the first detailed timing, which is the preferred one, and a checksum that makes the
//! sum of all bytes 0.
//!
//! # Sources
//! VESA E-EDID 1.4, sections 3.1, 3.10.

/// Width and height in pixels of the preferred timing, if the block is valid.
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

    /// EDID blocks of real displays, and the resolutions that their makers state.
    const DISPLAYS: [(&str, &str, (u32, u32)); 4] = [
        (
            "the example of the E-EDID standard, Dell UR111",
            "00ffffffffffff0010acab50000000002a0901030e261d96efee91a3544c9926\
            0f5054a54300a94fa9597159615945593159c28f0101863d00c05100304040a0\
            13007c221100001e000000ff003535333437424f4e5a4834370a000000fc0044\
            454c4c2055523131310a2020000000fd0030a01e791c02002850100e8046008d",
            (1280, 1024),
        ),
        (
            "Dell P1911 [linux salvator-vga-dell-p1911.dtso]",
            "00ffffffffffff0010ac74a0554b55302b14010380291a78eeee95a3544c9926\
            0f5054bfef809500714f8180950f81000101010101019a29a0d0518422305098\
            360098ff1000001c000000ff0031574b4a5630414b30554b550a000000fc0044\
            454c4c2050313931310a2020000000fd00384b1e530e000a20202020202000ba",
            (1440, 900),
        ),
        (
            "Dell 1708FP [beagleboard.org wiki]",
            "00ffffffffffff0010ac24405a3941411f11010380221b78eeaea5a6544c9926\
            145054a54b00714f8180010101010101010101010101302a009851002a403070\
            1300520e1100001e000000ff00504d3036313738324141395a0a000000fc0044\
            454c4c203137303846500a20000000fd00384c1e510e000a2020202020200036",
            (1280, 1024),
        ),
        (
            "Dell U2723QE",
            "00ffffffffffff0010ac79424c475a420f220104b53c22783adf15ad5044ad25\
            0f5054a54b00d100d1c0b300a94081808100714fe1c04dd000a0f0703e803020\
            350055502100001a000000ff0032335a534a30340a2020202020000000fc0044\
            454c4c20553237323351450a000000fd0017560f8c36010a202020202020012a",
            (3840, 2160),
        ),
    ];

    #[test]
    fn displays_are_understood() {
        for (name, digits, size) in DISPLAYS {
            let mut block = [0; 128];
            for (byte, digits) in block.iter_mut().zip(digits.as_bytes().chunks(2)) {
                *byte = u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
            }
            assert_eq!(preferred_size(&block), Some(size), "{name}");
            block[127] ^= 1;
            assert_eq!(preferred_size(&block), None, "{name}, damaged");
        }
    }

    #[test]
    fn damaged_blocks_say_nothing() {
        let mut damaged = block();
        damaged[60] ^= 1;
        assert_eq!(preferred_size(&damaged), None);
        assert_eq!(preferred_size(&[0; 128]), None);
    }
}

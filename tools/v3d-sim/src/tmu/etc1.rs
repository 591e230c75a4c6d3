//! ETC1: a block of 4x4 texels in 64 bits [OES_compressed_ETC1_RGB8_texture].
//!
//! A block has two halves, side by side or, with the flip bit, one above the other. Each has a base colour: two of 4 bits in individual mode; one of
//! 5 bits and a difference of 3 in differential mode. Each texel adds one of four values of the half's table to all channels.

/// Modifiers by table and by index bits (high, low): table 3.17.2 of the extension.
const MODIFIERS: [[i32; 4]; 8] = [
    [2, 8, -2, -8],
    [5, 17, -5, -17],
    [9, 29, -9, -29],
    [13, 42, -13, -42],
    [18, 60, -18, -60],
    [24, 80, -24, -80],
    [33, 106, -33, -106],
    [47, 183, -47, -183],
];

/// The colour of the texel in column `x` and row `y` of a block, packed RGBA8888, opaque. The first byte of the block is the highest of `high`.
#[inline(always)]
pub(super) fn texel(high: u32, low: u32, x: u32, y: u32) -> u32 {
    let (x, y) = (x & 3, y & 3);
    let flip = high & 1 == 1;
    let differential = high >> 1 & 1 == 1;
    let second = if flip { y } else { x } >> 1;
    let table = high >> (5 - 3 * second) & 7;
    let texel = 4 * x + y;
    let index = low >> (15 + texel) & 2 | low >> texel & 1;
    let modifier = MODIFIERS[table as usize][index as usize];
    let channel = |shift: u32| {
        let four = high >> (shift + 4 - 4 * second) & 15;
        // Three bits with their sign.
        let difference = (high >> shift << 29) as i32 >> 29;
        let five = (high >> (shift + 3)).wrapping_add((difference as u32).wrapping_mul(second)) & 31;
        let base = if differential { five << 3 | five >> 2 } else { four * 17 };
        (base as i32 + modifier).clamp(0, 255) as u32
    };
    channel(24) | channel(16) << 8 | channel(8) << 16 | 0xff << 24
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A texel of a block as one number of 64 bits, whose first byte is the highest.
    fn texel_of(block: u64, x: u32, y: u32) -> u32 {
        texel((block >> 32) as u32, block as u32, x, y)
    }

    /// A block from the fields of the extension's table 3.17.1.
    fn individual(colors: [[u64; 3]; 2], tables: [u64; 2], flip: bool, msb: u64, lsb: u64) -> u64 {
        let [[r1, g1, b1], [r2, g2, b2]] = colors;
        r1 << 60
            | r2 << 56
            | g1 << 52
            | g2 << 48
            | b1 << 44
            | b2 << 40
            | tables[0] << 37
            | tables[1] << 34
            | u64::from(flip) << 32
            | msb << 16
            | lsb
    }

    #[test]
    fn individual_mode_has_two_colours_of_4_bits() {
        // Texel (0, 0) is bit 0, texel (3, 3) bit 15; the texels run down the columns.
        let block = individual([[15, 0, 8], [1, 2, 3]], [0, 7], false, 0x8000, 0x8001);
        assert_eq!(texel_of(block, 0, 0), 0xff00_0000 | 255 | 8 << 8 | (136 + 8) << 16);
        assert_eq!(texel_of(block, 0, 1), 0xff00_0000 | 255 | 2 << 8 | (136 + 2) << 16);
        // Index 3: -183.
        assert_eq!(texel_of(block, 3, 3), 0xff00_0000);
        assert_eq!(texel_of(block, 2, 0), 0xff00_0000 | (17 + 47) | (34 + 47) << 8 | (51 + 47) << 16);
    }

    #[test]
    fn flip_puts_the_halves_above_each_other() {
        let block = individual([[4, 4, 4], [12, 12, 12]], [0, 0], true, 0, 0);
        for x in 0..4 {
            assert_eq!(texel_of(block, x, 1) & 0xff, 4 * 17 + 2);
            assert_eq!(texel_of(block, x, 2) & 0xff, 12 * 17 + 2);
        }
    }

    #[test]
    fn differential_mode_adds_a_signed_difference() {
        // Red 16 - 4, green 10 + 3, blue 31 + 0; both tables 1, all indices 2: -5.
        let block =
            16u64 << 59 | 0b100 << 56 | 10 << 51 | 3 << 48 | 31 << 43 | 1 << 37 | 1 << 34 | 1 << 33 | 0xffff << 16;
        let five = |bits: u32| (bits << 3 | bits >> 2) - 5;
        assert_eq!(texel_of(block, 0, 0), 0xff00_0000 | five(16) | five(10) << 8 | five(31) << 16);
        assert_eq!(texel_of(block, 2, 0), 0xff00_0000 | five(12) | five(13) << 8 | five(31) << 16);
    }
}

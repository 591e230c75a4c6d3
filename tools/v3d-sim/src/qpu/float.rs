//! The QPU's floating point arithmetic: the reference meaning of sums, products and conversions.
//!
//! Single precision without the edges: denormals and -0 are read as +0 and never produced, rounding is toward zero, and there are no NaN results, only
//! infinities. [`qpu::isa::alu`](crate::qpu::isa::alu) has the sources, and the other operations.

pub(crate) const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

/// Biased exponent of a float.
const fn exponent(x: u32) -> i32 {
    (x >> 23 & 0xff) as i32
}

/// The 24-bit significand of a normal float.
const fn significand(x: u32) -> u32 {
    x & 0x7f_ffff | 0x80_0000
}

/// Denormals and -0 as +0.
const fn flush(x: u32) -> u32 {
    if exponent(x) == 0 { 0 } else { x }
}

/// A float from a sign, a magnitude and the biased exponent that it has if bit 23 is the magnitude's highest; rounded toward zero.
fn normalise(sign: u32, magnitude: u128, exponent_at_23: i32) -> u32 {
    if magnitude == 0 {
        return 0;
    }
    let highest = 127 - magnitude.leading_zeros() as i32;
    let exponent = exponent_at_23 + highest - 23;
    let significand = if highest >= 23 { magnitude >> (highest - 23) } else { magnitude << (23 - highest) } as u32;
    match exponent {
        ..=0 => 0,
        255.. => sign | INFINITY,
        _ => sign | (exponent as u32) << 23 | significand & 0x7f_ffff,
    }
}

/// Adds, rounding toward zero.
pub(crate) fn fadd(a: u32, b: u32) -> u32 {
    for special in [b, a] {
        if exponent(special) == 255 {
            return special & SIGN | INFINITY;
        }
    }
    let (a, b) = (flush(a), flush(b));
    if a == 0 || b == 0 {
        return a | b;
    }
    let (large, small) = if a & !SIGN >= b & !SIGN { (a, b) } else { (b, a) };
    // 64 bits below the larger significand; what the smaller one loses even there can only matter by not being nothing.
    let distance = (exponent(large) - exponent(small)) as u32;
    let large_bits = u128::from(significand(large)) << 64;
    let small_bits = u128::from(significand(small)) << 64;
    let (aligned, lost) =
        if distance < 100 { (small_bits >> distance, small_bits & ((1 << distance) - 1) != 0) } else { (0, true) };
    let magnitude = if (a ^ b) & SIGN == 0 { large_bits + aligned } else { large_bits - aligned - u128::from(lost) };
    normalise(large & SIGN, magnitude, exponent(large) - 64)
}

/// Multiplies, rounding toward zero.
pub(crate) fn fmul(a: u32, b: u32) -> u32 {
    let (a, b) = (flush(a), flush(b));
    if a == 0 || b == 0 {
        return 0;
    }
    let sign = (a ^ b) & SIGN;
    if exponent(a) == 255 || exponent(b) == 255 {
        return sign | INFINITY;
    }
    let product = u128::from(significand(a)) * u128::from(significand(b));
    normalise(sign, product, exponent(a) + exponent(b) - 127 - 23)
}

/// The low 32 bits of a float's integer part; 0 for infinities and NaN.
///
/// Mesa divides integers by `f2u32(rcp * 4294966784.0)`, which is out of an integer's range where it divides by 1, and passes on boards [deqp]; rows of
/// 2^97 and -2^97, which become 0, are [silicon].
pub(crate) fn ftoi(x: u32) -> u32 {
    let shift = exponent(x) - 127;
    let magnitude = match shift {
        ..0 => 0,
        0..=23 => significand(x) >> (23 - shift),
        24..=54 => significand(x) << (shift - 23),
        _ => 0,
    };
    if x & SIGN == 0 { magnitude } else { magnitude.wrapping_neg() }
}

/// A signed integer as a float, rounded toward zero.
pub(crate) fn itof(x: u32) -> u32 {
    normalise(x & SIGN, u128::from((x as i32).unsigned_abs()), 127 + 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_low_bits() {
        for (float, integer) in [
            (0x4eff_ffff, 0x7fff_ff80), // 2^31 - 128
            (0x4f00_0000, 0x8000_0000), // 2^31
            (0xcf00_0000, 0x8000_0000), // -2^31
            (0x4f7f_fffe, 0xffff_fe00), // 4294966784 = 2^32 - 512, what Mesa divides with
            (0x4f7f_ffff, 0xffff_ff00), // 2^32 - 256
            (0x4f80_0000, 0),           // 2^32
            (0x4f80_0001, 512),         // 2^32 + 512
            (0xcf00_0001, 0x7fff_ff00), // -2^31 - 256
            (0xcf80_0001, 512_u32.wrapping_neg()),
            (0x5a80_0001, 0x8000_0000), // 2^54 + 2^31
            (0xda80_0001, 0x8000_0000),
            (0x5b00_0001, 0), // 2^55 + 2^32
            (0x7000_0000, 0), // 2^97, as recorded on a board
            (0xf000_0000, 0),
            (0x7f7f_ffff, 0),
            (0x7f80_0000, 0), // infinite
            (0xff80_0000, 0),
            (0x7fff_ffff, 0), // NaN
            (0xbfff_ffff, 1_u32.wrapping_neg()),
        ] {
            assert_eq!(ftoi(float), integer, "{float:08x}");
        }
    }

    #[test]
    fn products_are_rounded_toward_zero() {
        // 0.4 has the significand 13421773; times 17 it is 228170141, which has 28 bits. The lowest four, 13 of 16, are cut off.
        let significand = (13_421_773_u32 * 17) >> 4;
        let product = 129 << 23 | significand & 0x7f_ffff;
        let (minus_two_fifths, seventeen) = (0xbecc_cccd, 0x4188_0000);
        assert_eq!(fmul(minus_two_fifths ^ SIGN, seventeen), product);
        assert_eq!(fmul(minus_two_fifths, seventeen), product | SIGN);
    }
}

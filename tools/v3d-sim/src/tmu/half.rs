//! 16-bit floats: 1 bit of sign, 5 of exponent, 10 of mantissa [AG p.39].

/// The value of a half.
#[inline]
pub(super) fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half >> 15) << 31;
    let exponent = u32::from(half >> 10 & 31);
    let mantissa = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => (mantissa as f32 / 16_777_216.0).to_bits(),
        31 => 0x7f80_0000 | mantissa << 13,
        _ => (exponent + 112) << 23 | mantissa << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// The nearest half, ties to even.
#[inline]
pub(super) fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00
    } else if magnitude >= 0x477f_f000 {
        // 65520 and above round to infinity.
        0x7c00
    } else if magnitude >= 0x3880_0000 {
        let odd = magnitude >> 13 & 1;
        ((magnitude - (112 << 23) + 0xfff + odd) >> 13) as u16
    } else {
        // Denormal: units of 2^-24.
        (f32::from_bits(magnitude) * 16_777_216.0).round_ties_even() as u16
    };
    sign | half
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the IEEE 754 binary16 format.
    #[test]
    fn halves_have_their_ieee_values() {
        let table = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ];
        for (half, value) in table {
            assert_eq!(to_f32(half), value, "{half:#x}");
            assert_eq!(from_f32(value), half, "{value}");
        }
        assert!(to_f32(0x7e00).is_nan());
        assert_eq!(from_f32(f32::NAN), 0x7e00);
        assert_eq!(from_f32(65519.0), 0x7bff);
        assert_eq!(from_f32(65520.0), 0x7c00);
    }

    #[test]
    fn every_half_survives() {
        for half in 0..=u16::MAX {
            if !to_f32(half).is_nan() {
                assert_eq!(from_f32(to_f32(half)), half, "{half:#x}");
            }
        }
    }
}

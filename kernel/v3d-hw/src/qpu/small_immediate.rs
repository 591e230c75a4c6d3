//! Small immediates and rotations: six bits in place of the file B read address [AG p.29-30].

use core::fmt;

/// The meaning of a small immediate code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallImmediate {
    /// An integer, -16 to 15: codes 0 to 31.
    Integer(i8),
    /// A power of two as a float, exponent -8 to 7: codes 32 to 47.
    Power(i8),
    /// The mul ALU's result is rotated by r5, element 0, bits 3:0: code 48.
    RotateByR5,
    /// The mul ALU's result is rotated upwards by 1 to 15 elements: codes 49 to 63.
    Rotate(u8),
}

impl SmallImmediate {
    /// The first code that is a rotation.
    pub const FIRST_ROTATION: u8 = 48;

    /// The meaning of a code; bits above 5:0 are ignored.
    pub const fn from_code(code: u8) -> Self {
        let code = code & 63;
        match code {
            0..=15 => Self::Integer(code as i8),
            16..=31 => Self::Integer(code as i8 - 32),
            32..=39 => Self::Power(code as i8 - 32),
            40..=47 => Self::Power(code as i8 - 48),
            Self::FIRST_ROTATION => Self::RotateByR5,
            _ => Self::Rotate(code - Self::FIRST_ROTATION),
        }
    }

    /// The code; `None` for values that have none.
    pub const fn code(self) -> Option<u8> {
        Some(match self {
            Self::Integer(value @ 0..=15) => value as u8,
            Self::Integer(value @ -16..=-1) => (value + 32) as u8,
            Self::Power(exponent @ 0..=7) => (exponent + 32) as u8,
            Self::Power(exponent @ -8..=-1) => (exponent + 48) as u8,
            Self::RotateByR5 => Self::FIRST_ROTATION,
            Self::Rotate(by @ 1..=15) => by + Self::FIRST_ROTATION,
            _ => return None,
        })
    }

    /// The 32 bits that an operand reads; `None` for rotations.
    ///
    /// What an operand reads from a rotation code is not documented.
    pub const fn value(self) -> Option<u32> {
        match self {
            Self::Integer(value) => Some(value as i32 as u32),
            Self::Power(exponent) => Some(((127 + exponent as i32) as u32) << 23),
            Self::RotateByR5 | Self::Rotate(_) => None,
        }
    }

    /// The immediate that reads as these 32 bits, if there is one.
    pub const fn from_value(value: u32) -> Option<Self> {
        let (integer, exponent) = (value as i32, (value >> 23) as i32 - 127);
        if integer >= -16 && integer < 16 {
            Some(Self::Integer(integer as i8))
        } else if value & 0x7f_ffff == 0 && exponent >= -8 && exponent < 8 {
            Some(Self::Power(exponent as i8))
        } else {
            None
        }
    }
}

impl fmt::Display for SmallImmediate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Power(exponent @ 0..) => write!(f, "{}.0", 1u32 << exponent),
            Self::Power(exponent) => write!(f, "{}", 1.0 / f64::from(1u32 << -exponent)),
            Self::RotateByR5 => f.write_str("rotate by r5"),
            Self::Rotate(by) => write!(f, "rotate by {by}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the guide's table 5.
    #[test]
    fn codes_mean_what_table_5_says() {
        let value = |code| SmallImmediate::from_code(code).value();
        assert_eq!(value(0), Some(0));
        assert_eq!(value(15), Some(15));
        assert_eq!(value(16), Some(-16i32 as u32));
        assert_eq!(value(31), Some(-1i32 as u32));
        assert_eq!(value(32), Some(0x3f80_0000));
        assert_eq!(value(33), Some(0x4000_0000));
        assert_eq!(value(38), Some(0x4280_0000));
        assert_eq!(value(39), Some(0x4300_0000));
        assert_eq!(value(40), Some(0x3b80_0000));
        assert_eq!(value(41), Some(0x3c00_0000));
        assert_eq!(value(46), Some(0x3e80_0000));
        assert_eq!(value(47), Some(0x3f00_0000));
        assert_eq!(SmallImmediate::from_code(48), SmallImmediate::RotateByR5);
        assert_eq!(SmallImmediate::from_code(63), SmallImmediate::Rotate(15));
    }

    #[test]
    fn values_are_found() {
        for immediate in (0..SmallImmediate::FIRST_ROTATION).map(SmallImmediate::from_code) {
            let value = immediate.value().unwrap();
            assert_eq!(SmallImmediate::from_value(value), Some(immediate), "{value:#x}");
        }
        // 16; -17; 256.0; 1/512; -1.0; 1.5
        for value in [16, -17i32 as u32, 0x4380_0000, 0x3b00_0000, 0xbf80_0000, 0x3fc0_0000] {
            assert_eq!(SmallImmediate::from_value(value), None, "{value:#x}");
        }
    }

    #[test]
    fn every_code_survives_a_round_trip() {
        for code in 0..64 {
            assert_eq!(SmallImmediate::from_code(code).code(), Some(code));
        }
        assert_eq!(SmallImmediate::Integer(16).code(), None);
        assert_eq!(SmallImmediate::Rotate(0).code(), None);
    }
}

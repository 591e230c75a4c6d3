//! The constants of translated code.
//!
//! Hosts read them from the frame, from [`Numbers`], or from a table with a whole vector of each.

use super::frame::{CONSTANTS, at};
use super::numbers::{NUMBERS, Numbers};
use crate::qpu::isa::sfu;
use std::mem::offset_of;

/// Where a constant stands. Hosts of AArch64 take all of them from the table.
#[cfg_attr(target_arch = "aarch64", allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A word at an offset in the frame.
    Frame(i32),
    /// A word at an offset in the numbers.
    Number(i32),
    /// A double at an offset in the numbers.
    Double(i32),
}

/// Bytes of an entry of [`VECTORS`].
pub(super) const VECTOR_BYTES: usize = 32;

/// A constant in all elements.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct WholeVector([u32; VECTOR_BYTES / 4]);

const fn words(word: u32) -> WholeVector {
    WholeVector([word; VECTOR_BYTES / 4])
}

const fn double(value: u64) -> WholeVector {
    let (low, high) = (value as u32, (value >> 32) as u32);
    WholeVector([low, high, low, high, low, high, low, high])
}

/// The bits that stand for a part's elements in the model's flags.
const fn element_bits(first: u32) -> WholeVector {
    let mut bits = [0; VECTOR_BYTES / 4];
    let mut i = 0;
    while i < bits.len() {
        bits[i] = 1 << (first as usize + i);
        i += 1;
    }
    WholeVector(bits)
}

/// Declares the constants: of the frame, words and doubles of the numbers, and those that only [`VECTORS`] has.
macro_rules! constants {
    (
        frame { $( $frame:ident = $frame_at:ident, $frame_bits:expr; )* }
        numbers { $( $number:ident = $number_field:ident, $number_bits:expr; )* }
        doubles { $( $double:ident = $double_field:ident, $double_bits:expr; )* }
        vectors { $( $vector:ident = $vector_value:expr; )* }
    ) => {
        /// A constant. Not every host needs all of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        #[cfg_attr(target_arch = "aarch64", allow(dead_code))]
        pub(super) enum Constant {
            $( $frame, )* $( $number, )* $( $double, )* $( $vector, )*
            /// A coefficient of EXP's series.
            ExpSeries(u8),
            /// A coefficient of LOG's series.
            LogSeries(u8),
        }

        /// Constants without a number.
        #[repr(u8)]
        #[allow(dead_code)]
        enum Plain { $( $frame, )* $( $number, )* $( $double, )* $( $vector, )* Count }

        /// Number of constants before the series.
        const PLAIN: usize = Plain::Count as usize;

        impl Constant {
            /// Its place, if it has one beside its vector.
            #[cfg_attr(target_arch = "aarch64", allow(dead_code))]
            pub(super) const fn place(self) -> Option<Place> {
                Some(match self {
                    $( Self::$frame => Place::Frame(at::$frame_at), )*
                    $( Self::$number => Place::Number(offset_of!(Numbers, $number_field) as i32), )*
                    $( Self::$double => Place::Double(offset_of!(Numbers, $double_field) as i32), )*
                    $( Self::$vector => return None, )*
                    Self::ExpSeries(i) => Place::Double(offset_of!(Numbers, exp_series) as i32 + 8 * i as i32),
                    Self::LogSeries(i) => Place::Double(offset_of!(Numbers, log_series) as i32 + 8 * i as i32),
                })
            }

            /// The word that it is in all elements; `None` if these differ.
            #[cfg(target_arch = "aarch64")]
            pub(super) fn word(self) -> Option<u32> {
                let WholeVector([word, others @ ..]) = VECTORS[self.index()];
                others.iter().all(|&other| other == word).then_some(word)
            }

            /// Its index in [`VECTORS`].
            pub(super) const fn index(self) -> usize {
                match self {
                    $( Self::$frame => Plain::$frame as usize, )*
                    $( Self::$number => Plain::$number as usize, )*
                    $( Self::$double => Plain::$double as usize, )*
                    $( Self::$vector => Plain::$vector as usize, )*
                    Self::ExpSeries(i) => PLAIN + i as usize,
                    Self::LogSeries(i) => PLAIN + sfu::EXP_SERIES.len() + i as usize,
                }
            }
        }

        /// All constants, by their index.
        pub(super) static VECTORS: [WholeVector; PLAIN + sfu::EXP_SERIES.len() + sfu::LOG_SERIES.len()] = {
            let mut all = [words(0); PLAIN + sfu::EXP_SERIES.len() + sfu::LOG_SERIES.len()];
            $( all[Plain::$frame as usize] = words($frame_bits); )*
            $( all[Plain::$number as usize] = words($number_bits); )*
            $( all[Plain::$double as usize] = double($double_bits); )*
            $( all[Plain::$vector as usize] = $vector_value; )*
            let mut i = 0;
            while i < sfu::EXP_SERIES.len() {
                all[PLAIN + i] = double(sfu::EXP_SERIES[i].to_bits());
                i += 1;
            }
            i = 0;
            while i < sfu::LOG_SERIES.len() {
                all[PLAIN + sfu::EXP_SERIES.len() + i] = double(sfu::LOG_SERIES[i].to_bits());
                i += 1;
            }
            all
        };
    };
}

constants! {
    frame {
        Magnitude = MAGNITUDE, CONSTANTS.magnitude;
        IntegerLimit = INTEGER_LIMIT, CONSTANTS.integer_limit;
        Significand = SIGNIFICAND, CONSTANTS.significand;
        HighestPlace = HIGHEST_PLACE, CONSTANTS.highest_place;
        IntegerExponent = INTEGER_EXPONENT, CONSTANTS.integer_exponent;
        Low24Bits = LOW_24_BITS, CONSTANTS.low_24_bits;
        ShiftBits = SHIFT_BITS, CONSTANTS.shift_bits;
        OneOfFrame = ONE, CONSTANTS.one.to_bits();
        HalfOfFrame = HALF, CONSTANTS.half.to_bits();
        Bytes = BYTES, CONSTANTS.bytes.to_bits();
        ByteShare = BYTE_SHARE, CONSTANTS.byte_share.to_bits();
        ByteRest = BYTE_REST, CONSTANTS.byte_rest.to_bits();
        EveryByte = EVERY_BYTE, CONSTANTS.every_byte;
        LowByte = LOW_BYTE, CONSTANTS.low_byte;
        WordRounding = WORD_ROUNDING, CONSTANTS.word_rounding;
        WordQuotient = WORD_QUOTIENT, CONSTANTS.word_quotient;
        HalfBias = HALF_BIAS, CONSTANTS.half_bias;
        HalfDenormals = HALF_DENORMALS, CONSTANTS.half_denormals;
        HalfFinite = HALF_FINITE, CONSTANTS.half_finite;
        HalfRounding = HALF_ROUNDING, CONSTANTS.half_rounding;
        HalfInfinity = HALF_INFINITY, CONSTANTS.half_infinity;
        HalfBiasOfHalf = HALF_BIAS_OF_HALF, CONSTANTS.half_bias_of_half;
        HalfDenormalsOfHalf = HALF_DENORMALS_OF_HALF, CONSTANTS.half_denormals_of_half;
    }
    numbers {
        One = one, NUMBERS.one.to_bits();
        Steps = steps, NUMBERS.steps.to_bits();
        StepSize = step_size, NUMBERS.step_size.to_bits();
        Infinity = infinity, NUMBERS.infinity;
        MinusInfinity = minus_infinity, NUMBERS.minus_infinity;
        Smallest = smallest, NUMBERS.smallest;
        Mantissa = mantissa, NUMBERS.mantissa;
        MantissaAndOdd = mantissa_and_odd, NUMBERS.mantissa_and_odd;
        Odd = odd, NUMBERS.odd;
        Kept = kept, NUMBERS.kept;
        Step = step, NUMBERS.step;
        TwoSteps = two_steps, NUMBERS.two_steps;
        LastPlaces = last_places, NUMBERS.last_places;
        Low15Bits = low_15_bits, NUMBERS.low_15_bits;
        Bias = bias, NUMBERS.bias;
        LargestExponent = largest_exponent, NUMBERS.largest_exponent;
        BeyondExp = beyond_exp, NUMBERS.beyond_exp;
        MostSteps = most_steps, NUMBERS.most_steps;
    }
    doubles {
        Half = half, NUMBERS.half.to_bits();
        OneDouble = one_double, NUMBERS.one_double.to_bits();
        Root = root, NUMBERS.root.to_bits();
        StepsDouble = steps_double, NUMBERS.steps_double.to_bits();
        ExpOffset = exp_offset, NUMBERS.exp_offset.to_bits();
        LogOffset = log_offset, NUMBERS.log_offset.to_bits();
        Certain = certain, NUMBERS.certain.to_bits();
        MagnitudeDouble = magnitude_double, NUMBERS.magnitude_double;
    }
    vectors {
        Zero = words(0);
        Ones = words(!0);
        Sign = words(1 << 31);
        // Added to a magnitude, makes those negative that are the greatest float or beyond.
        BeyondGreatest = words((1 << 31) - CONSTANTS.greatest);
        // What that makes of infinity.
        InfinityBeyondGreatest = words(NUMBERS.infinity + (1 << 31) - CONSTANTS.greatest);
        // The same for infinities and NaN, and for floats from 2^127 on.
        BeyondFinite = words((1 << 31) - NUMBERS.infinity);
        BeyondHalfOfRange = words((1 << 31) - (254 << 23));
        // The smallest magnitude that is no denormal.
        SmallestNormal = words(1 << 23);
        // The same for floats from 2^SMALL on.
        BeyondSmall = words((1 << 31) - CONSTANTS.large);
        // The bits of each byte of a word, except for the lowest byte.
        SecondByte = words(0xff << 8);
        ThirdByte = words(0xff << 16);
        HighByte = words(0xff << 24);
        WordBits = words(32);
        // The biased exponent of 2^31, for leading zeros.
        LeadingExponent = words(127 + 31);
        ElementBits0 = element_bits(0);
        ElementBits8 = element_bits(8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector of a constant, as words.
    fn check(constant: Constant, expected: [u32; 2]) {
        let WholeVector(words) = VECTORS[constant.index()];
        for pair in words.chunks(2) {
            assert_eq!(pair, expected, "{constant:?}");
        }
    }

    #[test]
    fn vectors_hold_the_constants() {
        check(Constant::Magnitude, [0x7fff_ffff; 2]);
        check(Constant::WordQuotient, [0x8081_8081; 2]);
        check(Constant::StepSize, [0x3800_0000; 2]);
        check(Constant::OneDouble, [0, 0x3ff0_0000]);
        check(Constant::ExpSeries(0), [0, 1].map(|i| (sfu::EXP_SERIES[0].to_bits() >> (32 * i)) as u32));
        let last = sfu::LOG_SERIES.len() - 1;
        check(Constant::LogSeries(last as u8), [0, 1].map(|i| (sfu::LOG_SERIES[last].to_bits() >> (32 * i)) as u32));
    }
}

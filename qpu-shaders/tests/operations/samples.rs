//! Operands: edge cases and named random ranges.

/// Types of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandKind {
    /// A word.
    Word,
    /// A 16-bit value in a word whose high half is 0.
    Half,
    /// An 8-bit value in a word, of which the other bits are 0.
    Byte,
    /// A float of 16 bits in a word whose high half is 0.
    HalfFloat,
    /// A float of a magnitude from 2^-7 to 2.
    NearOne,
    /// Mostly 0.
    Rare,
    /// The lower word of a float of 64 bits.
    DoubleLow,
    /// The same; half of them with few significant bits, for ties.
    Fraction,
    /// The higher one.
    DoubleHigh,
    /// The same for doubles in the range of 16-bit floats and slightly beyond; half of them with few significant bits, for ties.
    DoubleAsHalf,
    /// The same from 2^-3 to 2^61; half of them with few significant bits, for ties.
    DoubleWithFraction,
    /// The four flags.
    Flags,
    /// Zero or nonzero: in each vector one of the two is rare, so that often all elements agree.
    Truth,
    /// A shift count.
    Count,
    /// A float.
    Float,
}

const WORDS: [u32; 17] = [
    0,
    1,
    2,
    0x7f,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xc000_0001,
    0xdfff_ffff,
    0xe000_0000,
    0xffff_ffff,
];
/// Zeros, denormals, the smallest and the largest normal numbers, infinities, NaN, 1 and its neighbours, integers, a half-integer that is a tie.
const FLOATS: [u32; 31] = [
    0,
    0x8000_0000,
    1,
    0x807f_ffff,
    0x80_0000,
    0x8080_0000,
    0x80_0001,
    0x100_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x3f7f_fffe,
    0x3f80_0001,
    0xbf80_0001,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0x4020_0000,
    0x4040_0000,
    0x4b00_0001,
    0x4b80_0000,
    0x4eff_ffff,
    0x4f00_0000,
    0x4f80_0000,
    0x3380_0000,
];
const HALVES: [u32; 8] = [0, 1, 2, 0xff, 0x7fff, 0x8000, 0x8001, 0xffff];
const BYTES: [u32; 7] = [0, 1, 2, 0x7f, 0x80, 0x81, 0xff];
const HALF_FLOATS: [u32; 12] = [0, 0x8000, 1, 0x83ff, 0x400, 0x8401, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0xffff];
const DOUBLES: [u32; 18] = [
    0,
    0x8000_0000,
    0x8000_0001,
    0x0010_0000,
    0x3ff0_0000,
    0xbff0_0000,
    0x7fef_ffff,
    0x7ff0_0000,
    0xfff0_0000,
    0xfff8_0000,
    0x3fe0_0000,
    0x3fd0_0000,
    0x41df_ffff,
    0xc1e0_0000,
    0x41ef_ffff,
    0x41f0_0000,
    0x380f_ffff,
    0xb80f_ffff,
];
/// Zeros, denormals, 2^-25 and 2^-24 with their neighbours, the midpoint of the largest denormal and the smallest normal number of 16 bits, ties about 1, the
/// largest number and the midpoint of it and 2^16, floats of 32 bits at the ends of the range, the largest number, infinities, NaN.
const DOUBLES_AS_HALVES: [u32; 28] = [
    0,
    0x8000_0000,
    0x0000_0001,
    0x8010_0000,
    0x380f_ffff,
    0x3e5f_ffff,
    0x3e60_0000,
    0xbe60_0000,
    0x3e60_0001,
    0x3e70_0000,
    0x3e78_0000,
    0x3f0f_fc00,
    0xbf0f_fbff,
    0x3f10_0000,
    0xbf10_0200,
    0x3ff0_0200,
    0x3ff0_0600,
    0xbff0_01ff,
    0x40ef_fc00,
    0xc0ef_fdff,
    0x40ef_fe00,
    0x40f0_0000,
    0x47ef_ffff,
    0xc7f0_0000,
    0x7fef_ffff,
    0x7ff0_0000,
    0xfff0_0000,
    0x7ff8_0000,
];
/// Zeros, denormals, numbers about 1/2, 1, 3/2, 5/2, 2^20, 2^21, 2^51, 2^52 and 2^53, the largest one, infinities, NaN.
const DOUBLES_WITH_FRACTIONS: [u32; 32] = [
    0,
    0x8000_0000,
    0x8000_0001,
    0x0010_0000,
    0x3fd0_0000,
    0x3fdf_ffff,
    0x3fe0_0000,
    0xbfe0_0000,
    0xbfe0_0001,
    0x3fef_ffff,
    0x3ff0_0000,
    0xbff8_0000,
    0x3fff_ffff,
    0x4004_0000,
    0xc003_ffff,
    0x4124_0000,
    0xc12f_ffff,
    0x4130_0000,
    0x4134_0001,
    0xc13f_ffff,
    0x4140_0000,
    0x4147_ffff,
    0x4310_0000,
    0xc31f_ffff,
    0x432f_ffff,
    0xc320_0001,
    0x4330_0000,
    0x433f_ffff,
    0x7fef_ffff,
    0x7ff0_0000,
    0xfff0_0000,
    0xfff8_0001,
];
const COUNTS: [u32; 14] = [0, 1, 2, 7, 8, 15, 16, 17, 30, 31, 32, 33, 64, 0xffff_ffff];
const FLAGS: [u32; 6] = [0, 1, 4, 7, 8, 15];

impl OperandKind {
    /// Values at boundaries.
    pub(crate) fn edges(self) -> &'static [u32] {
        match self {
            Self::Word => &WORDS,
            Self::Half => &HALVES,
            Self::Flags => &FLAGS,
            Self::Float => &FLOATS,
            Self::Byte => &BYTES,
            Self::HalfFloat => &HALF_FLOATS,
            Self::NearOne => &[0x3f80_0000, 0xbf80_0000, 0x3f7f_ffff, 0x3c00_0001],
            Self::Rare => &[0, 0, 0, 1],
            Self::DoubleLow => &[0, 1, 0x8000_0000, 0xffff_ffff],
            Self::Fraction => &[0, 1, 0x8000_0000, 0xffe0_0000, 0xfff0_0000],
            Self::DoubleHigh => &DOUBLES,
            Self::DoubleAsHalf => &DOUBLES_AS_HALVES,
            Self::DoubleWithFraction => &DOUBLES_WITH_FRACTIONS,
            Self::Count => &COUNTS,
            Self::Truth => &[0, 1, 0x8000_0000],
        }
    }

    /// A random value: half of the words have few bits set, so that carries and equal operands are not rare.
    pub(crate) fn random(self, random: &mut Random) -> u32 {
        let word = random.next();
        match self {
            Self::Word if word & 1 == 0 => random.next() >> (word >> 1 & 31),
            Self::Word => random.next(),
            Self::NearOne => word & 0x83ff_ffff | 0x3c00_0000,
            Self::Rare if word.is_multiple_of(5) => random.next(),
            Self::Rare => 0,
            Self::Fraction if word & 1 == 0 => random.next() & 0xc000_0000,
            Self::Fraction => random.next(),
            // Few different values, so that some are equal.
            Self::DoubleLow => word & 3,
            Self::DoubleHigh if word & 1 == 0 => word & 0x8000_000e | 0x3ff0_0000,
            Self::DoubleHigh if word & 6 == 0 => random.next(),
            // From 2^-2 to 2^46, some with few bits, to test rounding in conversions to integers.
            Self::DoubleHigh if word & 8 == 0 => {
                (random.next() & if word & 16 == 0 { 0x82ff_0000 } else { 0x82ff_ffff }).wrapping_add(0x3fd0_0000)
            }
            // The range of floats of 32 bits, and slightly beyond.
            Self::DoubleHigh => (random.next() & 0x8fff_ffff).wrapping_add(0x3800_0000),
            Self::DoubleAsHalf | Self::DoubleWithFraction => {
                let (least, exponents) = if self == Self::DoubleAsHalf { (1023 - 27, 45) } else { (1023 - 3, 64) };
                let fraction = random.next() & if word & 1 == 0 { 0xf_fe00 } else { 0xf_ffff };
                word & 0x8000_0000 | (least + (word >> 1 & 0xffff) % exponents) << 20 | fraction
            }
            Self::Byte => word & 0xff,
            Self::Half | Self::HalfFloat => word & 0xffff,
            Self::Flags => word & 15,
            // Half of them close to 1, so that sums are rounded in all ways.
            Self::Float if word & 1 == 0 => random.next() & 0x87ff_ffff | 0x3c00_0000,
            Self::Count => word % 40,
            Self::Float => random.next(),
            Self::Truth => {
                if word.is_multiple_of(23) {
                    0
                } else {
                    word
                }
            }
        }
    }
}

/// Random words, seeded by a name, so that an operation always gets the same ones.
pub(crate) struct Random(v3d_sim::random::Random);

impl Random {
    pub(crate) fn named(name: &str) -> Self {
        Self(v3d_sim::random::Random::named(name))
    }

    pub(crate) fn next(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// A number below a limit, which is not 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    /// A float in a range.
    pub(crate) fn within(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next() >> 8) as f32 / (1 << 24) as f32
    }
}

/// Maximum number of sets of edge cases: with more operands, each has fewer edge cases.
const MAX_EDGE_SETS: usize = 1024;
/// Number of random sets.
const RANDOM_SETS: usize = 480;

/// Sets of operands: all combinations of edge cases unless there are too many, then random ones.
pub(crate) fn operand_sets(name: &str, kinds: &[OperandKind]) -> Vec<Vec<u32>> {
    let mut random = Random::named(name);
    let combinations: usize = kinds.iter().map(|kind| kind.edges().len()).product();
    let mut sets = Vec::new();
    for n in 0..combinations.min(MAX_EDGE_SETS) {
        // If there are too many combinations, a random subset.
        let mut n = if combinations > MAX_EDGE_SETS { random.next() as usize % combinations } else { n };
        let set = kinds.iter().map(|kind| {
            let edges = kind.edges();
            let edge = edges[n % edges.len()];
            n /= edges.len();
            edge
        });
        sets.push(set.collect());
    }
    sets.extend((0..RANDOM_SETS).map(|_| kinds.iter().map(|kind| kind.random(&mut random)).collect()));
    sets
}

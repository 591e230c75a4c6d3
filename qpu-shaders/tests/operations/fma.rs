//! Fused multiply-add of floats of 64 bits: rounded once.

use crate::case::Case;
use crate::convert::{ROUNDINGS, Rounding};
use crate::samples::{OperandKind, Random};
use crate::table::{Document, LargestError, Row};

/// Words of 64 bits that hold each finite product or number exactly, in units of 2^-2148, and a sum of two.
const WORDS: usize = 68;
/// The exponent of the unit.
const UNIT: i32 = -2148;

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let row = |(letter, rounding): (&str, Rounding)| {
        let nearest = rounding == Rounding::Nearest;
        let (document, operation) = if nearest {
            (Document::Instructions, "fma f64".to_owned())
        } else {
            (Document::Beside, format!("fma r{letter} f64"))
        };
        let case = Case::new(document, operation, "fma.qinc", format!("fma_f64 round_{letter}"));
        let case = case.input("r0", OperandKind::DoubleLow).input("r1", OperandKind::DoubleHigh);
        let case = case.input("r2", OperandKind::DoubleLow).input("r3", OperandKind::DoubleHigh);
        let case =
            case.input("sa0", OperandKind::DoubleLow).input("sb0", OperandKind::DoubleHigh).outputs(&["r0", "r1"]);
        let compare = |operands: &[u32], results: &[u32]| {
            let double = |words: &[u32]| f64::from_bits(u64::from(words[1]) << 32 | u64::from(words[0]));
            let [a, b, c] = [0, 2, 4].map(|at| double(&operands[at..]));
            let (expected, result) = (exact_fma(a, b, c, rounding), double(results));
            let is_right = |expected: f64| {
                result.to_bits() == expected.to_bits() || result.to_bits() == 0x7ff8 << 48 && expected.is_nan()
            };
            if is_right(expected) && (!nearest || is_right(a.mul_add(b, c))) {
                Ok(LargestError::Exact)
            } else {
                Err(format!("{:016x}", expected.to_bits()))
            }
        };
        case.check(operand_sets(), compare)
    };
    ROUNDINGS.into_iter().map(row).collect()
}

/// Sets of operands, words in the order of the operands' registers: random ones of named ranges, then edge cases.
fn operand_sets() -> Vec<Vec<Vec<u32>>> {
    /// Zeros, the smallest and the largest denormal, the smallest normal number, 1 and neighbours, 2^-53, the largest number, infinities, NaN.
    const EDGES: [u64; 14] = [
        0,
        1 << 63,
        1,
        0x800f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbff0_0000_0000_0001,
        0x3fef_ffff_ffff_ffff,
        0x3ca0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0xffe0_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff0_0000_0000_0001,
    ];
    let set = |[a, b, c]: [u64; 3]| [a, b, c].into_iter().flat_map(|x| [x as u32, (x >> 32) as u32]).collect();
    let random = |name: &str, draw: fn(&mut Random) -> [u64; 3]| -> Vec<Vec<u32>> {
        let mut random = Random::named(name);
        (0..512).map(|_| set(draw(&mut random))).collect()
    };
    let edge = |n: usize| EDGES[n % EDGES.len()];
    let triples = 0..EDGES.len().pow(3);
    let edges = triples.map(|n| set([edge(n), edge(n / EDGES.len()), edge(n / EDGES.len().pow(2))])).collect();
    vec![
        random("fma near one", |random| [near(random, 1023, 4), near(random, 1023, 4), near(random, 1023, 120)]),
        random("fma few bits", |random| [few(random, 1023, 4), few(random, 1023, 4), few(random, 1023, 120)]),
        random("fma cancellation", |random| {
            let [a, b] = [few(random, 1023, 60), near(random, 1023, 60)];
            let product = -(f64::from_bits(a) * f64::from_bits(b));
            [a, b, product.to_bits().wrapping_add(u64::from(random.next() % 5)).wrapping_sub(2)]
        }),
        random("fma denormal results", |random| [near(random, 512, 60), near(random, 512, 60), near(random, 0, 120)]),
        random("fma denormal operands", |random| {
            let denormal = any(random) & (1 << 63 | u64::MAX >> (12 + random.next() % 52)) | 1;
            [denormal, near(random, 2000, 90), near(random, 1023 - 130, 120)]
        }),
        random("fma large", |random| [near(random, 1534, 4), near(random, 1534, 4), near(random, 2030, 33)]),
        random("fma any", |random| [any(random), any(random), any(random)]),
        edges,
    ]
}

fn any(random: &mut Random) -> u64 {
    u64::from(random.next()) << 32 | u64::from(random.next())
}

/// A double whose exponent field is within half of `range` of `middle`, but not below 0.
fn near(random: &mut Random, middle: u32, range: u32) -> u64 {
    let exponent = (middle + random.next() % range).saturating_sub(range / 2).min(2046);
    any(random) & !(0x7ff << 52) | u64::from(exponent) << 52
}

/// The same, with few bits at one or both ends of the fraction.
fn few(random: &mut Random, middle: u32, range: u32) -> u64 {
    let masks = [0, 7 << 49, 7, 0xf << 48 | 3];
    let mask = masks[random.next() as usize % 4];
    near(random, middle, range) & (0xfff << 52 | mask)
}

/// The sum as an exact integer, rounded. NaN and infinities are those of the host.
fn exact_fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        // A product that only overflows is not infinite here.
        let product = if a.is_finite() && b.is_finite() { 0.0 } else { a * b };
        return product + c;
    }
    let [(ma, ea), (mb, eb), (mc, ec)] = [a, b, c].map(parts);
    let product = integer(u128::from(ma) * u128::from(mb), ea + eb);
    let summand = integer(u128::from(mc), ec);
    let [product_negative, negative] = [a.is_sign_negative() != b.is_sign_negative(), c.is_sign_negative()];
    let (sum, negative) = if product_negative == negative {
        (sum(&product, &summand), negative)
    } else if product.iter().rev().gt(summand.iter().rev()) {
        (difference(&product, &summand), product_negative)
    } else if product == summand {
        return if rounding == Rounding::Down { -0.0 } else { 0.0 };
    } else {
        (difference(&summand, &product), negative)
    };
    let outward = match rounding {
        Rounding::Nearest | Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    let magnitude = rounded(&sum, rounding, outward);
    if negative { -magnitude } else { magnitude }
}

/// Significand and exponent.
fn parts(x: f64) -> (u64, i32) {
    let (field, fraction) = ((x.to_bits() >> 52 & 0x7ff) as i32, x.to_bits() & ((1 << 52) - 1));
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}

/// A number times a power of 2 in [`UNIT`]s, the lowest word first.
fn integer(x: u128, exponent: i32) -> [u64; WORDS] {
    let (word, bit) = ((exponent - UNIT) as usize / 64, (exponent - UNIT) as u32 % 64);
    let mut words = [0; WORDS];
    words[word] = (x << bit) as u64;
    words[word + 1] = (x << bit >> 64) as u64;
    words[word + 2] = (x >> 64 >> (64 - bit).min(63) >> u32::from(bit == 0)) as u64;
    words
}

fn sum(a: &[u64; WORDS], b: &[u64; WORDS]) -> [u64; WORDS] {
    let mut carry = 0;
    std::array::from_fn(|word| {
        let sum = u128::from(a[word]) + u128::from(b[word]) + carry;
        carry = sum >> 64;
        sum as u64
    })
}

/// The first minus the second, which is not greater.
fn difference(a: &[u64; WORDS], b: &[u64; WORDS]) -> [u64; WORDS] {
    let mut borrow = false;
    std::array::from_fn(|word| {
        let (once, first) = a[word].overflowing_sub(b[word]);
        let (twice, second) = once.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        twice
    })
}

/// The double for an integer of [`UNIT`]s. Rounding modes other than to nearest round away from 0 if `outward`, otherwise toward 0.
fn rounded(x: &[u64; WORDS], rounding: Rounding, outward: bool) -> f64 {
    let bit = |n: usize| x[n / 64] >> (n % 64) & 1;
    let length = (0..64 * WORDS).rev().find(|&n| bit(n) == 1).map_or(0, |n| n + 1);
    // The lowest bit that is in the double's significand.
    let lowest = length.saturating_sub(53).max((-1074 - UNIT) as usize);
    let significand = (lowest..lowest + 53).rev().fold(0, |bits, n| bits << 1 | bit(n));
    let rest = |n: usize| (0..n).any(|n| bit(n) == 1);
    let up = match rounding {
        Rounding::Nearest => bit(lowest - 1) == 1 && (significand & 1 == 1 || rest(lowest - 1)),
        _ => outward && rest(lowest),
    };
    // The exponent field is one more if the significand has 53 bits, because its highest bit is added to it.
    let field = (lowest as i32 - (-1074 - UNIT)) as u64;
    let bits = (field << 52) + significand + u64::from(up);
    match bits >> 52 {
        0..0x7ff => f64::from_bits(bits),
        _ if rounding == Rounding::Nearest || outward => f64::INFINITY,
        _ => f64::MAX,
    }
}

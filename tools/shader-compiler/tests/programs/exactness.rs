//! Results that must be exact, and functions at the limits of their ranges.

use shader_compiler::interface::Stage;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;

use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, text};

/// Executes an expression of the floats `a` and `b` for pairs of operands; returns the results.
fn results(expression: &str, pairs: &[(f32, f32)]) -> Vec<f32> {
    let source = format!(
        "struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: f32 }}
        @vertex fn vs_main(@location(0) a: f32, @location(1) b: f32) -> Out {{ return Out(vec4(0.0, 0.0, 0.0, 1.0), {expression}); }}"
    );
    let program = stage(&source, Stage::Vertex);
    let mut found = Vec::new();
    for sixteen in pairs.chunks(16) {
        let of = |number: fn(&(f32, f32)) -> f32| {
            Lanes::from_f32(std::array::from_fn(|at| number(&sixteen[at % sixteen.len()])))
        };
        let given = Inputs::new(vec![of(|pair| pair.0), of(|pair| pair.1)], Vec::new());
        let outputs = run(&program, &given);
        assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
        found.extend_from_slice(&outputs.words[3].to_f32()[..sixteen.len()]);
    }
    found
}

/// Executes an expression; each result must equal the expected one to within a relative error of `margin`.
fn check(expression: &str, pairs: &[(f32, f32)], expected: impl Fn(f64, f64) -> f64, margin: f64) {
    for (&(a, b), found) in pairs.iter().zip(results(expression, pairs)) {
        let expected = expected(a.into(), b.into());
        let off = (f64::from(found) - expected).abs();
        assert!(off <= margin * expected.abs(), "{expression} of {a:e} and {b:e} is {found:e}, not {expected:e}");
    }
}

/// Integers from -40 to 40, with divisors from 1 to 26 and their negatives.
fn small_pairs() -> Vec<(f32, f32)> {
    let divisors = (1..=26).flat_map(|divisor| [divisor as f32, -(divisor as f32)]);
    divisors.flat_map(|divisor| (-40..=40).map(move |dividend| (dividend as f32, divisor))).collect()
}

/// Products of an integer quotient below 2^20 and a divisor, with at most 24 bits, times a power of two.
fn exact_pairs(count: usize) -> Vec<(f32, f32)> {
    let mut random = Random::named("exact quotients");
    let mut pairs = Vec::new();
    while pairs.len() < count {
        let bits = 1 + random.below(20);
        let (quotient, divisor) = (1 + random.below(1 << bits), 1 + random.below(1 << (24 - bits)));
        if u64::from(quotient) * u64::from(divisor) < 1 << 24 {
            let scale = 2f32.powi(random.below(40) as i32 - 20);
            pairs.push(((quotient * divisor) as f32 * scale, divisor as f32));
        }
    }
    pairs
}

#[test]
fn quotients_of_whole_numbers_are_exact() {
    let divisible: Vec<(f32, f32)> = small_pairs().into_iter().filter(|(a, b)| a % b == 0.0).collect();
    check("a / b", &divisible, |a, b| a / b, 0.0);
    check("a / b", &exact_pairs(20_000), |a, b| a / b, 0.0);
    check("a / a", &exact_pairs(2000), |_, _| 1.0, 0.0);
    let powers: Vec<(f32, f32)> = (-100..100).map(|power| (1.0, 2f32.powi(power))).collect();
    for dividend in ["a", "1.0", "2.0", "-0.25", "1024.0"] {
        check(&format!("{dividend} / b"), &powers, |_, b| dividend.parse().unwrap_or(1.0) / b, 0.0);
    }
}

#[test]
fn floors_of_quotients_of_whole_numbers_are_exact() {
    check("floor(a / b)", &small_pairs(), |a, b| (a / b).floor(), 0.0);
}

#[test]
fn remainders_of_whole_numbers_are_exact() {
    check("a % b", &small_pairs(), |a, b| a % b, 0.0);
}

/// `a - n * floor(a / n)` of an integer is its low bits, for all magnitudes; of other numbers, and with other factors, it is what is written.
#[test]
fn remainders_by_powers_of_two_are_exact() {
    let mut random = Random::named("remainders by powers of two");
    let mut float = || {
        let magnitude = 2f32.powi(random.below(80) as i32 - 10) * (1.0 + random.below(1 << 23) as f32 / 8_388_608.0);
        if random.below(2) == 0 { magnitude } else { -magnitude }
    };
    let mut pairs: Vec<(f32, f32)> = (0..2000).map(|_| (float(), 0.0)).collect();
    pairs.extend([0.0, 1.0, -1.0, 16_777_215.0, -16_777_216.0, 2_147_483_648.0, -4_294_967_296.0].map(|a| (a, 0.0)));
    for n in [2.0, 4.0, 8.0, 16.0, 32.0] {
        let remainder = |x: f64| x - n * (x / n).floor();
        check(&format!("floor(a) - {n:?} * floor(floor(a) / {n:?})"), &pairs, |a, _| remainder(a.floor()), 0.0);
        check(&format!("trunc(a) - floor(trunc(a) * {:?}) * {n:?}", 1.0 / n), &pairs, |a, _| remainder(a.trunc()), 0.0);
    }
    let near: Vec<(f32, f32)> = (-64..64).map(|a| (a as f32 / 8.0, 0.0)).collect();
    check("a - 2.0 * floor(a / 2.0)", &near, |a, _| a - 2.0 * (a / 2.0).floor(), 0.0);
    let sum = "(floor(a) * 3.0 + 5.0)";
    let of_sum = |a: f64| (a.floor() * 3.0 + 5.0).rem_euclid(8.0);
    check(&format!("{sum} - 8.0 * floor({sum} / 8.0)"), &near, |a, _| of_sum(a), 0.0);
    check("floor(a) - 2.0 * floor(floor(a) / 4.0)", &near, |a, _| a.floor() - 2.0 * (a.floor() / 4.0).floor(), 0.0);
    check(
        "floor(a) - 2.0 * floor(floor(a + 1.0) / 2.0)",
        &near,
        |a, _| a.floor() - 2.0 * ((a.floor() + 1.0) / 2.0).floor(),
        0.0,
    );
}

/// 49 and 41 are divisors for which no reciprocal is accurate enough for products alone.
#[test]
fn quotients_by_constants_are_exact() {
    for divisor in [2, 3, 5, 6, 7, 9, 10, 11, 13, 41, 47, 49, 55, 60, 61, 82, 83, 97, 98, 100, 255, 360, 1000, 1023] {
        let pairs: Vec<(f32, f32)> = (0..2000).map(|quotient| ((quotient * divisor) as f32, divisor as f32)).collect();
        check(&format!("a / {divisor}.0"), &pairs, |a, b| a / b, 0.0);
        let pairs: Vec<(f32, f32)> = (0..100).map(|dividend| (dividend as f32, divisor as f32)).collect();
        check(&format!("a % {divisor}.0"), &pairs, |a, b| a % b, 0.0);
    }
}

/// WGSL: 2.5 units in the last place, which is 2.5 * 2^-23 of the smallest number with this exponent.
#[test]
fn quotients_are_as_near_as_they_must_be() {
    let mut random = Random::named("quotients");
    let mut number =
        || f32::from_bits(0x3000_0000 + random.below(0x2000_0000)) * if random.below(2) == 0 { 1.0 } else { -1.0 };
    let pairs: Vec<(f32, f32)> = (0..20_000).map(|_| (number(), number())).collect();
    check("a / b", &pairs, |a, b| a / b, 2.5 / 8_388_608.0);
    check("1.0 / b", &pairs, |_, b| 1.0 / b, 2.5 / 8_388_608.0);
    check("a / 49.0", &pairs, |a, _| a / 49.0, 2.5 / 8_388_608.0);
}

#[test]
fn minus_zero_is_not_less_than_zero() {
    let zeros = [(-0.0, 1.0), (0.0, 1.0), (-0.0, -0.0), (f32::MIN_POSITIVE, 0.0), (-f32::MIN_POSITIVE, 0.0)];
    check("sign(a)", &zeros, |a, _| if a == 0.0 { 0.0 } else { a.signum() }, 0.0);
    check("select(1.0, 2.0, a < 0.0)", &zeros, |a, _| if a < 0.0 { 2.0 } else { 1.0 }, 0.0);
    check("select(1.0, 2.0, a >= 0.0)", &zeros, |a, _| if a >= 0.0 { 2.0 } else { 1.0 }, 0.0);
    check("select(1.0, 2.0, 0.0 > a)", &zeros, |a, _| if a < 0.0 { 2.0 } else { 1.0 }, 0.0);
}

/// From the smallest to the largest floats, all powers of two and values between them.
#[test]
fn roots_are_right_in_the_whole_range() {
    let numbers = (-126..128).flat_map(|power| [1.0, 1.2345, 1.9999999].map(|part| part * 2f32.powi(power)));
    let pairs: Vec<(f32, f32)> = numbers.map(|number| (number, 0.0)).collect();
    check("sqrt(a)", &pairs, |a, _| a.sqrt(), 4.5 / 8_388_608.0);
    check("inverseSqrt(a)", &pairs, |a, _| 1.0 / a.sqrt(), 2.0 / 8_388_608.0);
    check("sqrt(a)", &[(0.0, 0.0)], |_, _| 0.0, 0.0);
    // Numbers whose squares are in range.
    let medium: Vec<(f32, f32)> = pairs.into_iter().filter(|(a, _)| (1e-18..4e18).contains(a)).collect();
    check("length(vec2(a, 0.0))", &medium, |a, _| a, 1e-6);
    check("normalize(vec2(a, a)).x", &medium, |_, _| 0.5f64.sqrt(), 1e-6);
}

/// Beyond 2^23 all floats are integers; beyond 2^31 the QPU cannot convert them to integers.
#[test]
fn large_numbers_are_whole() {
    let magnitudes = (20..128).flat_map(|power| [1.0, 1.000_000_1, 1.5, 1.9999999].map(|part| part * 2f32.powi(power)));
    let pairs: Vec<(f32, f32)> = magnitudes.flat_map(|number| [(number, 0.0), (-number, 0.0)]).collect();
    check("floor(a)", &pairs, |a, _| a.floor(), 0.0);
    check("ceil(a)", &pairs, |a, _| a.ceil(), 0.0);
    check("trunc(a)", &pairs, |a, _| a.trunc(), 0.0);
    check("round(a)", &pairs, |a, _| a.round_ties_even(), 0.0);
    check("fract(a)", &pairs, |a, _| a - a.floor(), 0.0);
    check("modf(a).whole", &pairs, |a, _| a.trunc(), 0.0);
    check("modf(a).fract", &pairs, |a, _| a.fract(), 0.0);
    let whole: Vec<(f32, f32)> = pairs.into_iter().filter(|(a, _)| (2.5e9..1e30).contains(&a.abs())).collect();
    check("a % 1.0", &whole, |_, _| 0.0, 0.0);
}

#[test]
fn inverse_hyperbolic_functions_of_large_numbers_are_right() {
    let magnitudes = (4..128).map(|power| 1.7 * 2f32.powi(power));
    let pairs: Vec<(f32, f32)> = magnitudes.flat_map(|number| [(number, 0.0), (-number, 0.0)]).collect();
    check("asinh(a)", &pairs, |a, _| a.asinh(), 1e-6);
    let positive: Vec<(f32, f32)> = pairs.into_iter().filter(|(a, _)| *a > 0.0).collect();
    check("acosh(a)", &positive, |a, _| a.acosh(), 1e-6);
}

/// Exactly the discarded elements have no samples.
#[test]
fn what_is_discarded_has_no_samples() {
    let source =
        "@fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> { if (x > 2.5) { discard; } return vec4(x); }";
    let program = stage(source, Stage::Fragment);
    let given = Inputs::new(vec![Lanes::from_f32(std::array::from_fn(|at| at as f32))], Vec::new());
    let samples = run(&program, &given).samples;
    assert_eq!(samples, Lanes(std::array::from_fn(|at| if at > 2 { 0 } else { 15 })), "{}", text(&program));
}

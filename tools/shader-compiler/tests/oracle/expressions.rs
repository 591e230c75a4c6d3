//! Expressions of two operands: their text, operands, and the accuracy that WGSL requires.
//!
//! Each is a compute shader. Results of an independent implementation are recorded in `expressions.tsv`.
//!
//! # Sources
//! Error bounds: WGSL, "Concrete Floating Point Accuracy".

use super::random::Random;

/// Number of operands for each expression.
pub(crate) const COUNT: usize = 64;

/// The range of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Floats from -100 to 100, including small integers and halves.
    Floats,
    /// Floats from -10 to 10.
    Small,
    /// Floats from 2^-20 to 2^20.
    Positive,
    /// Floats from -1 to 1.
    Unit,
    /// Floats from -pi to pi.
    Angle,
    /// Floats of any size, beyond the range of integers.
    Large,
    /// Integers: small ones, powers of two and their neighbours, random ones.
    Words,
}

/// The maximum error, by operands and exact result.
pub(crate) type Bound = fn(f64, f64, f64) -> f64;

/// How a result is compared.
#[derive(Clone, Copy)]
pub(crate) enum Judge {
    /// Equal to the recorded bits; the two zeros are equal.
    Same,
    /// With an exact result and a maximum error.
    Near(fn(f64, f64) -> f64, Bound),
}

/// An expression of `a` and `b`.
#[derive(Clone, Copy)]
pub(crate) struct Expression {
    /// Its text in WGSL.
    pub(crate) text: &'static str,
    /// Type of the operands: `f32`, `i32` or `u32`.
    pub(crate) operands: &'static str,
    /// Their range.
    pub(crate) domain: Domain,
    /// The comparison.
    pub(crate) judge: Judge,
}

/// Distance from a number to the next float.
pub(crate) fn ulp(x: f64) -> f64 {
    let x = x.abs().max(f64::from(f32::MIN_POSITIVE));
    2f64.powi(x.log2().floor() as i32 - 23)
}

const fn float(text: &'static str, domain: Domain, exact: fn(f64, f64) -> f64, bound: Bound) -> Expression {
    Expression { text, operands: "f32", domain, judge: Judge::Near(exact, bound) }
}

const fn same(text: &'static str, operands: &'static str, domain: Domain) -> Expression {
    Expression { text, operands, domain, judge: Judge::Same }
}

const fn signed(text: &'static str) -> Expression {
    same(text, "i32", Domain::Words)
}

const fn unsigned(text: &'static str) -> Expression {
    same(text, "u32", Domain::Words)
}

fn one_ulp(_: f64, _: f64, exact: f64) -> f64 {
    ulp(exact)
}

fn sine_bound(_: f64, _: f64, _: f64) -> f64 {
    2f64.powi(-11)
}

fn arc_tangent_bound(_: f64, _: f64, exact: f64) -> f64 {
    4096.0 * ulp(exact)
}

fn arc_sine_bound(_: f64, _: f64, exact: f64) -> f64 {
    (4096.0 * ulp(exact)).max(6.77e-5)
}

fn exponential_bound(a: f64, _: f64, exact: f64) -> f64 {
    (3.0 + 2.0 * a.abs()) * ulp(exact)
}

fn logarithm_bound(a: f64, _: f64, exact: f64) -> f64 {
    if (0.5..=2.0).contains(&a) { 2f64.powi(-21) } else { 3.0 * ulp(exact) }
}

/// `exp2(b * log2(a))`.
fn power_bound(a: f64, b: f64, exact: f64) -> f64 {
    let logarithm = a.log2();
    let exponent = b * logarithm;
    let off = b.abs() * logarithm_bound(a, b, logarithm) + ulp(exponent);
    exact * (off * std::f64::consts::LN_2) + (3.0 + 2.0 * exponent.abs()) * ulp(exact)
}

fn root_bound(_: f64, _: f64, exact: f64) -> f64 {
    4.5 * ulp(exact)
}

/// For sums of products of both operands.
fn sum_bound(a: f64, b: f64, exact: f64) -> f64 {
    4.0 * ulp(a * b).max(ulp(a)).max(ulp(b)).max(ulp(exact))
}

/// `a - b * trunc(a / b)`. If the quotient is very close to an integer, either side is accepted.
fn remainder_bound(a: f64, b: f64, exact: f64) -> f64 {
    let quotient = a / b;
    let off = 2.5 * ulp(quotient);
    let next = if (quotient - quotient.round()).abs() <= off { b.abs() } else { 0.0 };
    ulp(a).max(ulp(exact)) + off * b.abs() + next
}

fn hyperbolic_bound(a: f64, _: f64, exact: f64) -> f64 {
    let (up, down) = (a.exp(), (-a).exp());
    (3.0 + 2.0 * a.abs()) * (ulp(up) + ulp(down)) + ulp(exact)
}

/// The maximum error of `sinh(a) / cosh(a)`, or 1e-5.
fn hyperbolic_tangent_bound(a: f64, b: f64, exact: f64) -> f64 {
    (2.0 * hyperbolic_bound(a, b, a.sinh()) / a.cosh()).max(1e-5) + 2.5 * ulp(exact)
}

fn smooth(a: f64, low: f64, high: f64) -> f64 {
    let t = ((a - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// All expressions.
pub(crate) const ALL: &[Expression] = &[
    float("a + b", Domain::Floats, |a, b| a + b, one_ulp),
    float("a - b", Domain::Floats, |a, b| a - b, one_ulp),
    float("a * b", Domain::Floats, |a, b| a * b, one_ulp),
    float("a / b", Domain::Positive, |a, b| a / b, |_, _, exact| 2.5 * ulp(exact)),
    float("a % b", Domain::Small, |a, b| a % b, remainder_bound),
    float("sqrt(a)", Domain::Positive, |a, _| a.sqrt(), root_bound),
    float("inverseSqrt(a)", Domain::Positive, |a, _| 1.0 / a.sqrt(), |_, _, exact| 2.0 * ulp(exact)),
    float("exp(a)", Domain::Small, |a, _| a.exp(), exponential_bound),
    float("exp2(a)", Domain::Small, |a, _| a.exp2(), exponential_bound),
    float("log(a)", Domain::Positive, |a, _| a.ln(), logarithm_bound),
    float("log2(a)", Domain::Positive, |a, _| a.log2(), logarithm_bound),
    float(
        "pow(abs(a) + 0.25, b)",
        Domain::Small,
        |a, b| (a.abs() + 0.25).powf(b),
        |a, b, exact| power_bound(a.abs() + 0.25, b, exact),
    ),
    float("sin(a)", Domain::Angle, |a, _| a.sin(), sine_bound),
    float("cos(a)", Domain::Angle, |a, _| a.cos(), sine_bound),
    float(
        "tan(a * 0.45)",
        Domain::Angle,
        |a, _| (a * 0.45).tan(),
        |a, _, exact| {
            let cosine = (a * 0.45).cos();
            2f64.powi(-11) * (1.0 + exact.abs()) / (cosine - 2f64.powi(-11)) + 2.5 * ulp(exact)
        },
    ),
    float("asin(a)", Domain::Unit, |a, _| a.asin(), arc_sine_bound),
    float("acos(a)", Domain::Unit, |a, _| a.acos(), arc_sine_bound),
    float("atan(a)", Domain::Floats, |a, _| a.atan(), arc_tangent_bound),
    float("atan2(a, b)", Domain::Floats, f64::atan2, arc_tangent_bound),
    float("sinh(a)", Domain::Small, |a, _| a.sinh(), hyperbolic_bound),
    float("cosh(a)", Domain::Small, |a, _| a.cosh(), hyperbolic_bound),
    float("tanh(a)", Domain::Small, |a, _| a.tanh(), hyperbolic_tangent_bound),
    float("fma(a, b, a)", Domain::Small, |a, b| a * b + a, sum_bound),
    float("mix(a, b, 0.25)", Domain::Small, |a, b| a * 0.75 + b * 0.25, sum_bound),
    float("smoothstep(-4.0, 5.0, a)", Domain::Small, |a, _| smooth(a, -4.0, 5.0), |_, _, _| 16.0 * ulp(1.0)),
    float("degrees(a)", Domain::Small, |a, _| a.to_degrees(), |_, _, exact| 2.0 * ulp(exact)),
    float("radians(a)", Domain::Floats, |a, _| a.to_radians(), |_, _, exact| 2.0 * ulp(exact)),
    float("fract(a)", Domain::Floats, |a, _| a - a.floor(), |a, _, exact| ulp(a).max(ulp(exact))),
    float(
        "length(vec3(a, b, 1.0))",
        Domain::Small,
        |a, b| (a * a + b * b + 1.0).sqrt(),
        |_, _, exact| 8.0 * ulp(exact),
    ),
    float(
        "distance(vec2(a, b), vec2(b, 2.0))",
        Domain::Small,
        |a, b| (a - b).hypot(b - 2.0),
        |a, b, exact| 8.0 * ulp(exact).max(ulp(a)).max(ulp(b)),
    ),
    float(
        "normalize(vec3(a, b, 1.0)).x",
        Domain::Small,
        |a, b| a / (a * a + b * b + 1.0).sqrt(),
        |_, _, exact| 12.0 * ulp(exact),
    ),
    float("dot(vec2(a, b), vec2(b, 2.0))", Domain::Small, |a, b| a * b + b * 2.0, sum_bound),
    float(
        "cross(vec3(a, b, 1.0), vec3(b, 2.0, a)).z",
        Domain::Small,
        |a, b| a * 2.0 - b * b,
        |a, b, exact| 4.0 * ulp(b * b).max(ulp(2.0 * a)).max(ulp(exact)),
    ),
    same("floor(a)", "f32", Domain::Floats),
    same("ceil(a)", "f32", Domain::Floats),
    same("trunc(a)", "f32", Domain::Floats),
    same("round(a)", "f32", Domain::Floats),
    same("floor(a)", "f32", Domain::Large),
    same("abs(a)", "f32", Domain::Floats),
    same("sign(a)", "f32", Domain::Floats),
    same("min(a, b)", "f32", Domain::Floats),
    same("max(a, b)", "f32", Domain::Floats),
    same("clamp(a, -2.5, 7.25)", "f32", Domain::Floats),
    same("saturate(a)", "f32", Domain::Floats),
    same("step(a, b)", "f32", Domain::Floats),
    same("select(a, b, a < b)", "f32", Domain::Floats),
    same("select(0u, 1u, a <= b) + select(0u, 2u, a == trunc(a)) + select(0u, 4u, a != b)", "f32", Domain::Floats),
    same("i32(a)", "f32", Domain::Floats),
    same("u32(abs(a))", "f32", Domain::Floats),
    same("i32(a)", "f32", Domain::Large),
    same("u32(a)", "f32", Domain::Large),
    same("u32(a)", "f32", Domain::Floats),
    same("bitcast<u32>(a) ^ bitcast<u32>(b)", "f32", Domain::Large),
    same("ldexp(a, i32(trunc(b * 0.1)))", "f32", Domain::Floats),
    same("frexp(a).exp", "f32", Domain::Floats),
    same("frexp(a).fract", "f32", Domain::Floats),
    same("modf(a).whole", "f32", Domain::Floats),
    same("quantizeToF16(a)", "f32", Domain::Floats),
    same("pack4x8unorm(vec4(a, b, abs(a) * 0.5, 1.0))", "f32", Domain::Unit),
    same("pack4x8snorm(vec4(a, b, abs(a) * 0.5, -1.0))", "f32", Domain::Unit),
    same("pack2x16float(vec2(a, b))", "f32", Domain::Floats),
    same("pack2x16unorm(vec2(a, b) * 0.99)", "f32", Domain::Unit),
    same("pack2x16snorm(vec2(a, b))", "f32", Domain::Unit),
    same("unpack2x16float((a & 0xbbffbbffu) | 0x04000400u).y", "u32", Domain::Words),
    unsigned("a + b"),
    unsigned("a - b"),
    unsigned("a * b"),
    unsigned("a / b"),
    unsigned("a % b"),
    unsigned("a & b"),
    unsigned("a | b"),
    unsigned("a ^ b"),
    unsigned("~a"),
    unsigned("a << (b & 31u)"),
    unsigned("a >> (b & 31u)"),
    unsigned("min(a, b)"),
    unsigned("max(a, b)"),
    unsigned("clamp(a, 5u, 0x80000001u)"),
    unsigned("select(0u, 1u, a < b) + select(0u, 2u, a <= b) + select(0u, 4u, a == b)"),
    unsigned("countOneBits(a)"),
    unsigned("countLeadingZeros(a)"),
    unsigned("countTrailingZeros(a)"),
    unsigned("firstLeadingBit(a)"),
    unsigned("firstTrailingBit(a)"),
    unsigned("reverseBits(a)"),
    unsigned("extractBits(a, b & 31u, 7u)"),
    unsigned("extractBits(a, 3u, b)"),
    unsigned("insertBits(a, b, 9u, 11u)"),
    unsigned("insertBits(a, 0xa5a5u, b & 31u, 9u)"),
    unsigned("dot4U8Packed(a, b)"),
    unsigned("dot(vec3(a, b, 7u), vec3(b, 3u, a))"),
    unsigned("u32(i32(a))"),
    unsigned("u32(a != 0u)"),
    unsigned("bitcast<u32>(f32(a >> 8u))"),
    signed("a + b"),
    signed("a - b"),
    signed("a * b"),
    signed("a / b"),
    signed("a % b"),
    signed("-a"),
    signed("abs(a)"),
    signed("sign(a)"),
    signed("min(a, b)"),
    signed("max(a, b)"),
    signed("clamp(a, -70000, b & 0xffff)"),
    signed("a << (bitcast<u32>(b) & 31u)"),
    signed("a >> (bitcast<u32>(b) & 31u)"),
    signed("select(0, 1, a < b) + select(0, 2, a >= b) + select(0, 4, a != b)"),
    signed("countOneBits(a)"),
    signed("firstLeadingBit(a)"),
    signed("firstTrailingBit(a)"),
    signed("reverseBits(a)"),
    signed("extractBits(a, 4u, 9u)"),
    signed("insertBits(a, b, 20u, 12u)"),
    signed("dot4I8Packed(bitcast<u32>(a), bitcast<u32>(b))"),
    signed("bitcast<i32>(f32(a >> 8u))"),
    signed("i32(f32(a >> 8u) * 0.5)"),
];

/// The operands of an expression, as words.
pub(crate) fn operands(number: usize, expression: &Expression) -> [Vec<u32>; 2] {
    let mut random = Random::new(0x0b5e_0000 + number as u64);
    [(), ()].map(|()| (0..COUNT).map(|at| operand(&mut random, expression.domain, at)).collect())
}

/// Further operands of an expression.
pub(crate) fn many_operands(random: &mut Random, expression: &Expression, count: usize) -> Vec<u32> {
    (0..count).map(|at| operand(random, expression.domain, at)).collect()
}

fn operand(random: &mut Random, domain: Domain, at: usize) -> u32 {
    let fraction = random.below(1 << 24) as f32 / (1u32 << 24) as f32;
    let between = |low: f32, high: f32| (low + fraction * (high - low)).to_bits();
    match domain {
        // A multiple of a half.
        Domain::Floats if at.is_multiple_of(4) => (((fraction * 400.0).floor() - 200.0) * 0.5).to_bits(),
        Domain::Floats => between(-100.0, 100.0),
        Domain::Small => between(-10.0, 10.0),
        Domain::Positive => (fraction * 40.0 - 20.0).exp2().to_bits(),
        Domain::Unit => between(-1.0, 1.0),
        Domain::Angle => between(-std::f32::consts::PI, std::f32::consts::PI),
        Domain::Large => {
            let size = (fraction * 60.0 - 20.0).exp2();
            if at.is_multiple_of(2) { size.to_bits() } else { (-size).to_bits() }
        }
        Domain::Words => match random.below(4) {
            0 => random.below(20) as u32,
            1 => (1u32 << random.below(32)).wrapping_add(random.below(3) as u32).wrapping_sub(1),
            2 => 0u32.wrapping_sub(random.below(300) as u32),
            _ => random.below(1 << 32) as u32,
        },
    }
}

/// A compute shader for `COUNT` pairs of operands: the results are in binding 0, the operands in 1 and 2.
pub(crate) fn source(expression: &Expression) -> String {
    let Expression { text, operands, .. } = expression;
    format!(
        "@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<storage, read> first: array<{operands}>;
@group(0) @binding(2) var<storage, read> second: array<{operands}>;
@compute @workgroup_size(16) fn cs_main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let a = first[id.x];
    let b = second[id.x] {};
    results[id.x] = bitcast<u32>({text});
}}
",
        // Makes sure that the second operand is used.
        match *operands {
            "f32" => "+ a * 0.0",
            "i32" => "+ a * 0",
            _ => "+ a * 0u",
        }
    )
}

//! Built-in functions and operators, compared with plain Rust.

use shader_compiler::Options;
use shader_compiler::interface::Stage;
use v3d_sim::qpu::lanes::Lanes;

use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, stage_with, text};

/// The expected result, as a function of two inputs.
type Case = fn(f32, f32) -> f32;

/// Executes an expression of `a` and `b` in a vertex shader; `margin` is the maximum error, absolute or relative to the result.
fn check(expression: &str, expected: Case, inputs: [f32; 16], others: [f32; 16], margin: f32) {
    check_with(&Options::default(), expression, expected, inputs, others, margin);
}

fn check_with(options: &Options, expression: &str, expected: Case, inputs: [f32; 16], others: [f32; 16], margin: f32) {
    let source = format!(
        "struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: f32 }}
        @vertex fn vs_main(@location(0) a: f32, @location(1) b: f32) -> Out {{ return Out(vec4(0.0, 0.0, 0.0, 1.0), {expression}); }}"
    );
    let program = stage_with(&source, Stage::Vertex, options);
    let given = Inputs::new(vec![Lanes::from_f32(inputs), Lanes::from_f32(others)], Vec::new());
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
    let found = outputs.words[3].to_f32();
    for ((found, a), b) in found.into_iter().zip(inputs).zip(others) {
        let expected = expected(a, b);
        let near = (found - expected).abs() <= margin * expected.abs().max(1.0);
        assert!(near, "{expression} of {a} and {b} is {found}, not {expected}\n{}", text(&program));
    }
}

const A: [f32; 16] = [-7.75, -3.5, -2.5, -1.5, -1.0, -0.5, -0.25, 0.0, 0.125, 0.5, 0.75, 1.0, 1.5, 2.5, 3.25, 9.0];
const B: [f32; 16] = [2.0, -1.5, 3.0, 0.5, 1.0, -2.0, 4.0, 1.0, 0.25, 8.0, 1.5, -3.0, 2.0, 0.75, 5.0, 1.25];
const POSITIVE: [f32; 16] = [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0, 7.5, 20.0, 100.0, 1000.0];
const UNIT: [f32; 16] = [-1.0, -0.9, -0.75, -0.5, -0.3, -0.2, -0.1, 0.0, 0.05, 0.15, 0.25, 0.4, 0.6, 0.8, 0.95, 1.0];

#[test]
fn operators_and_built_ins_are_what_rust_says() {
    let exact: [(&str, Case); 22] = [
        ("a + b", |a, b| a + b),
        ("a - b", |a, b| a - b),
        ("a * b", |a, b| a * b),
        ("-a", |a, _| -a),
        ("abs(a)", |a, _| a.abs()),
        ("min(a, b)", f32::min),
        ("max(a, b)", f32::max),
        ("clamp(a, -1.0, 2.0)", |a, _| a.clamp(-1.0, 2.0)),
        ("saturate(a)", |a, _| a.clamp(0.0, 1.0)),
        ("floor(a)", |a, _| a.floor()),
        ("ceil(a)", |a, _| a.ceil()),
        ("trunc(a)", |a, _| a.trunc()),
        ("round(a)", |a, _| a.round_ties_even()),
        ("fract(a)", |a, _| a - a.floor()),
        ("sign(a)", |a, _| if a == 0.0 { 0.0 } else { a.signum() }),
        ("step(a, b)", |a, b| if b < a { 0.0 } else { 1.0 }),
        ("select(a, b, a < b)", |a, b| if a < b { b } else { a }),
        ("select(1.0, 2.0, a <= b && b != 1.0)", |a, b| if a <= b && b != 1.0 { 2.0 } else { 1.0 }),
        ("mix(a, b, 0.25)", |a, b| a + (b - a) * 0.25),
        ("f32(i32(a) + i32(b))", |a, b| (a as i32 + b as i32) as f32),
        ("f32(u32(abs(a)) << 2u)", |a, _| ((a.abs() as u32) << 2) as f32),
        ("dot(vec2(a, b), vec2(b, 2.0))", |a, b| a * b + b * 2.0),
    ];
    for (expression, expected) in exact {
        check(expression, expected, A, B, 1e-6);
    }
}

#[test]
fn approximated_built_ins_are_as_near_as_stated() {
    let near: [(&str, Case, [f32; 16], f32); 16] = [
        ("a / b", |a, b| a / b, A, 1e-6),
        (
            "a % b",
            |a, b| a % b,
            [-7.7, -3.4, 2.4, 1.3, 5.1, -0.4, 0.3, 0.1, 0.2, 9.1, 3.3, 7.9, 6.6, 8.2, 3.1, 2.2],
            1e-5,
        ),
        ("sqrt(a)", |a, _| a.sqrt(), POSITIVE, 1e-6),
        ("sqrt(a - a)", |_, _| 0.0, POSITIVE, 0.0),
        ("inverseSqrt(a)", |a, _| 1.0 / a.sqrt(), POSITIVE, 1e-6),
        ("sin(a)", |a, _| a.sin(), A, 1e-5),
        ("cos(a)", |a, _| a.cos(), A, 1e-5),
        ("tan(a)", |a, _| a.tan(), UNIT, 3e-5),
        ("asin(a)", |a, _| a.asin(), UNIT, 1e-5),
        ("acos(a)", |a, _| a.acos(), UNIT, 1e-5),
        ("atan(a)", |a, _| a.atan(), A, 1e-5),
        ("atan2(a, b)", f32::atan2, A, 1e-5),
        (
            "smoothstep(-1.0, 2.0, a)",
            |a, _| {
                let t = ((a + 1.0) / 3.0).clamp(0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            },
            A,
            1e-6,
        ),
        ("tanh(a)", |a, _| a.tanh(), A, 1e-6),
        ("length(vec3(a, b, 1.0))", |a, b| (a * a + b * b + 1.0).sqrt(), A, 1e-6),
        ("frexp(a).fract * 2.0 + f32(frexp(b).exp)", |a, b| frexp(a).0 * 2.0 + frexp(b).1 as f32, A, 0.0),
    ];
    for (expression, expected, inputs, margin) in near {
        check(expression, expected, inputs, B, margin);
    }
}

#[test]
fn exponentials_and_logarithms_are_exact_or_fast() {
    const ZERO: [f32; 16] = [0.0; 16];
    let cases: [(&str, Case, [f32; 16], f32, f32); 13] = [
        ("exp2(a)", |a, _| a.exp2(), A, 3e-7, 3e-4),
        ("exp2(floor(a) * 12.0 - 6.0)", |a, _| (a.floor() * 12.0 - 6.0).exp2(), A, 0.0, 4e-4),
        ("log2(a)", |a, _| a.log2(), POSITIVE, 4e-7, 3e-4),
        ("exp(a)", |a, _| a.exp(), A, 2e-6, 3e-4),
        ("log(a)", |a, _| a.ln(), POSITIVE, 4e-7, 3e-4),
        ("log2(exp2(floor(a)))", |a, _| a.floor(), A, 0.0, 3e-4),
        ("pow(a, 1.5)", |a, _| a.powf(1.5), POSITIVE, 4e-6, 2e-3),
        ("pow(a, b)", f32::powf, POSITIVE, 3e-5, 3e-2),
        ("pow(a, 0.1)", |_, _| 0.0, ZERO, 0.0, 0.0),
        ("pow(a, 20.0)", |a, _| a.powi(20), B.map(f32::abs), 4e-6, 2e-2),
        ("asinh(a)", |a, _| a.asinh(), POSITIVE, 1e-6, 3e-4),
        ("acosh(a + 1.5)", |a, _| (a + 1.5).acosh(), POSITIVE, 1e-6, 3e-4),
        ("atanh(a * 0.9)", |a, _| (a * 0.9).atanh(), UNIT, 2e-6, 3e-4),
    ];
    for (expression, expected, inputs, exact, fast) in cases {
        for (fast_math, margin) in [(false, exact), (true, fast)] {
            let options = Options { fast_math, ..Options::default() };
            check_with(&options, expression, expected, inputs, B, margin);
        }
    }
}

/// `frexp`: a fraction from 0.5 to 1 and a power of two.
fn frexp(a: f32) -> (f32, i32) {
    let mut exponent = 0;
    while a != 0.0 && a.abs() / 2f32.powi(exponent) >= 1.0 {
        exponent += 1;
    }
    while a != 0.0 && a.abs() / 2f32.powi(exponent) < 0.5 {
        exponent -= 1;
    }
    (a / 2f32.powi(exponent), exponent)
}

/// Executes an expression of two integers.
fn check_words(expression: &str, expected: fn(u32, u32) -> u32, ty: &str) {
    let source = format!(
        "struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: f32 }}
        @vertex fn vs_main(@location(0) a: {ty}, @location(1) b: {ty}) -> Out {{
            return Out(vec4(0.0, 0.0, 0.0, 1.0), bitcast<f32>({expression}));
        }}"
    );
    let program = stage(&source, Stage::Vertex);
    let words = [
        0,
        1,
        2,
        3,
        7,
        31,
        255,
        65535,
        65537,
        0x00ff_ffff,
        0x0100_0001,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xdead_beef,
        0xffff_ffff,
    ];
    for shift in 0..16 {
        let (a, b) = (Lanes(words), Lanes(std::array::from_fn(|at| words[(at + shift) % 16])));
        let given = Inputs::new(vec![a, b], Vec::new());
        let outputs = run(&program, &given);
        assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
        for at in 0..16 {
            let (found, expected) = (outputs.words[3].0[at], expected(a.0[at], b.0[at]));
            assert_eq!(found, expected, "{expression} of {:#x} and {:#x}", a.0[at], b.0[at]);
        }
    }
}

/// The sum over the bytes of two words.
fn bytes(a: u32, b: u32, product: fn(u8, u8) -> i32) -> u32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.map(|(a, b)| product(a, b)).sum::<i32>() as u32
}

#[test]
fn integers_are_exact() {
    check_words("a * b", u32::wrapping_mul, "u32");
    check_words("a + b", u32::wrapping_add, "u32");
    check_words("a / b", |a, b| a.checked_div(b).unwrap_or(a), "u32");
    check_words("a % b", |a, b| a.checked_rem(b).unwrap_or(0), "u32");
    check_words("a / b", |a, b| if b == 0 { a } else { (a as i32).wrapping_div(b as i32) as u32 }, "i32");
    check_words("a % b", |a, b| if b == 0 { 0 } else { (a as i32).wrapping_rem(b as i32) as u32 }, "i32");
    check_words("select(0, 1, a < b)", |a, b| ((a as i32) < b as i32).into(), "i32");
    check_words("select(0, 1, a >= b)", |a, b| (a as i32 >= b as i32).into(), "i32");
    check_words("select(0u, 1u, a < b)", |a, b| (a < b).into(), "u32");
    check_words("min(a, b) ^ max(a, b)", |a, b| a.min(b) ^ a.max(b), "u32");
    check_words("countOneBits(a)", |a, _| a.count_ones(), "u32");
    check_words("countTrailingZeros(a)", |a, _| a.trailing_zeros(), "u32");
    check_words("countLeadingZeros(a)", |a, _| a.leading_zeros(), "u32");
    check_words("reverseBits(a)", |a, _| a.reverse_bits(), "u32");
    check_words("extractBits(a, 5u, 9u)", |a, _| a >> 5 & 0x1ff, "u32");
    check_words("insertBits(a, b, 5u, 9u)", |a, b| a & !(0x1ff << 5) | (b & 0x1ff) << 5, "u32");
    check_words(
        "bitcast<u32>(dot4I8Packed(a, b))",
        |a, b| bytes(a, b, |a, b| i32::from(a as i8) * i32::from(b as i8)),
        "u32",
    );
    check_words("dot4U8Packed(a, b)", |a, b| bytes(a, b, |a, b| i32::from(a) * i32::from(b)), "u32");
    check_words(
        "pack4xI8Clamp(vec4(a, b, 3, -200))",
        |a, b| u32::from_le_bytes([a as i32, b as i32, 3, -200].map(|n| n.clamp(-128, 127) as u8)),
        "i32",
    );
    check_words(
        "pack4xU8Clamp(vec4(a, b, 3u, 300u))",
        |a, b| u32::from_le_bytes([a, b, 3, 300].map(|n| n.min(255) as u8)),
        "u32",
    );
    check_words("firstLeadingBit(a)", |a, _| 31u32.wrapping_sub(a.leading_zeros()), "u32");
}

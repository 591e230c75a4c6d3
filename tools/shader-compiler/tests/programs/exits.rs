//! `return` and `discard` in nested loops and branches, and in functions that are called.

use std::collections::HashSet;
use std::fmt::Write;

use shader_compiler::interface::Stage;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;

use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, text};

/// A fragment program with a flat integer `n` from 0 to 15, for which a function `f` returns a value from 0 to 255; checks the result for each element: the
/// value, or discarded.
fn check(functions: &str, uniform: u32, expected: impl Fn(i32) -> Option<i32>) -> usize {
    let source = format!(
        "@group(0) @binding(0) var<uniform> count: i32;
        {functions}
        @fragment fn fs_main(@location(0) @interpolate(flat, either) n: i32) -> @location(0) vec4<f32> {{
            return vec4(f32(f(n)) / 255.0, 0.0, 0.0, 1.0);
        }}"
    );
    let program = stage(&source, Stage::Fragment);
    let given = Inputs::new(vec![Lanes::from_f32(std::array::from_fn(|lane| lane as f32))], vec![vec![uniform]]);
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{source}\n{}", text(&program));
    for lane in 0..16 {
        let found = (outputs.samples.0[lane] != 0).then_some((outputs.color.0[lane] & 0xff) as i32);
        assert_eq!(found, expected(lane as i32), "{lane} of {source}\n{}", text(&program));
    }
    program.words.len()
}

#[test]
fn functions_return_from_loops() {
    let first_multiple = |n: i32| (0..10).find(|i| i * 7 > n * 3).unwrap_or(99);
    let source =
        "fn f(n: i32) -> i32 { for (var i = 0; i < count; i++) { if i * 7 > n * 3 { return i; } } return 99; }";
    check(source, 10, |n| Some(first_multiple(n)));
    check(source, 3, |n| Some(if first_multiple(n) < 3 { first_multiple(n) } else { 99 }));
    // A loop that is left by `return` only has no code after it.
    let source = "fn f(n: i32) -> i32 { var i = 0; loop { i += 3; if i > n { return i; } } return 7; }";
    check(source, 0, |n| Some(n / 3 * 3 + 3));
}

#[test]
fn functions_return_from_loops_within_loops() {
    let source = "fn f(n: i32) -> i32 {
        var sum = 0;
        for (var i = 0; i < count; i++) {
            for (var j = 0; j < count; j++) {
                if i * j == n { return 10 * i + j; }
                if j > i { break; }
                switch j { case 3: { if sum > 40 { return 200 + i; } } default: { sum += j; } }
            }
            sum += i;
        }
        return sum;
    }";
    check(source, 6, |n| {
        let mut sum = 0;
        for i in 0..6 {
            for j in 0..6 {
                if i * j == n {
                    return Some(10 * i + j);
                }
                if j > i {
                    break;
                }
                if j == 3 && sum > 40 {
                    return Some(200 + i);
                }
                sum += if j == 3 { 0 } else { j };
            }
            sum += i;
        }
        Some(sum)
    });
}

#[test]
fn fragments_are_discarded_in_loops() {
    let source = "fn f(n: i32) -> i32 {
        var i = 0;
        while i < count { if i * i == n { discard; } i++; if i == 12 && n > 7 { return 7; } }
        return i;
    }";
    check(source, 3, |n| (![0, 1, 4].contains(&n)).then_some(3));
    check(source, 20, |n| (![0, 1, 4, 9].contains(&n)).then_some(if n > 7 { 7 } else { 20 }));
}

/// A loop of many iterations is not unrolled, even if it is left by `return`.
#[test]
fn loops_with_returns_are_not_unrolled() {
    let source = "fn f(n: i32) -> i32 { for (var i = 0; i < 200; i++) { if i * i > n * 20 { return i; } } return 0; }";
    let length = check(source, 0, |n| (0..200).find(|i| i * i > n * 20));
    assert!(length < 60, "{length} instructions");
}

/// Statements, as source text and as an interpreter: whether the function has returned, and its result.
fn statements(random: &mut Random, text: &mut String, depth: u32, loops: u32) {
    for _ in 0..1 + random.below(3) {
        let (a, b) = (random.pick(&["x", "y", "n"]), random.pick(&["x", "y"]));
        let number = 1 + random.below(9);
        match random.below(if depth == 0 { 3 } else { 8 }) {
            0..2 => writeln!(text, "{b} = ({b} * 3 + {a} + {number}) % 97;").unwrap(),
            2 => {
                let exits: &[&str] = if loops > 0 {
                    &["return x;", "return y + 100;", "discard;", "break;", "continue;"]
                } else {
                    &["return x;", "discard;"]
                };
                writeln!(text, "if {a} % {number} == 2 {{ {} }}", random.pick(exits)).unwrap();
            }
            3..5 => {
                writeln!(text, "if {a} % {number} < 3 {{").unwrap();
                statements(random, text, depth - 1, loops);
                writeln!(text, "}} else {{").unwrap();
                statements(random, text, depth - 1, loops);
                writeln!(text, "}}").unwrap();
            }
            5 => writeln!(text, "{b} = g({a}, {number});").unwrap(),
            _ => {
                writeln!(text, "for (var i{depth} = 0; i{depth} < count; i{depth}++) {{").unwrap();
                statements(random, text, depth - 1, loops + 1);
                writeln!(text, "{b} = ({b} + i{depth}) % 89;\n}}").unwrap();
            }
        }
    }
}

/// Number of random programs.
const PROGRAMS: u64 = 120;

#[test]
fn random_exits_are_what_the_interpreter_and_one_element_alone_say() {
    let mut distinct = HashSet::new();
    for number in 0..PROGRAMS {
        let mut random = Random::named(&format!("exits {number}"));
        let mut body = String::new();
        statements(&mut random, &mut body, 3, 0);
        let source = format!(
            "@group(0) @binding(0) var<uniform> count: i32;
            fn g(a: i32, b: i32) -> i32 {{
                var x = a; for (var k = 0; k < count; k++) {{ if (x + k) % 5 == b % 5 {{ return k; }} x += b; }} return x % 50;
            }}
            fn f(n: i32) -> i32 {{ var x = n; var y = 5; {body} return (x + y) % 100; }}
            @fragment fn fs_main(@location(0) @interpolate(flat, either) n: i32) -> @location(0) vec4<f32> {{
                return vec4(f32(f(n)) / 255.0, 0.0, 0.0, 1.0);
            }}"
        );
        let program = stage(&source, Stage::Fragment);
        let lanes =
            |of: &dyn Fn(usize) -> f32| Inputs::new(vec![Lanes::from_f32(std::array::from_fn(of))], vec![vec![4]]);
        let given = lanes(&|lane| lane as f32);
        let together = run(&program, &given);
        assert_eq!(together, interpret(&program, &given), "program {number}:\n{source}\n{}", text(&program));
        // If all elements are the same, none waits for another: the result must be the same as among different elements.
        for lane in [0, 3, 7, 10, 15] {
            let alone = run(&program, &lanes(&|_| lane as f32));
            let one = |outputs: &crate::machine::Outputs, at: usize| (outputs.samples.0[at], outputs.color.0[at]);
            let (found, expected) = (one(&together, lane), one(&alone, 0));
            assert!(found == expected || (found.0, expected.0) == (0, 0), "program {number}, {lane}:\n{source}");
        }
        distinct.insert((together.samples.0, together.color.0));
    }
    assert!(distinct.len() > 90, "{} of {PROGRAMS} leave something of their own", distinct.len());
}

//! Random programs: execution in the model, compared with the interpreter of scalar values, bit by bit.

use std::fmt::Write;

use shader_compiler::interface::Stage;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;

use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, text};

/// Programs of a suite.
const RANGE: std::ops::Range<u64> = 0..200;

const VARIABLES: [&str; 6] = ["x", "y", "z", "w", "p", "q"];

fn float(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(4) {
            0 => random.pick(&["1.0", "0.5", "-2.0", "0.3", "17.25", "0.0"]).to_owned(),
            1 => random.pick(&["u.a", "u.b.x", "u.b.y", "u.b.z"]).to_owned(),
            _ => random.pick(&VARIABLES).to_owned(),
        };
    }
    let (a, b) = (float(random, depth - 1), float(random, depth - 1));
    match random.below(14) {
        0..3 => format!("({a} + {b})"),
        3..5 => format!("({a} - {b})"),
        5..8 => format!("({a} * {b})"),
        8 => format!("min({a}, {b})"),
        9 => format!("max({a}, {b})"),
        10 => format!("abs({a})"),
        11 => format!("fract({a})"),
        12 => format!("select({a}, {b}, {})", condition(random, depth - 1)),
        _ => format!("(1.0 / (abs({a}) + 1.0))"),
    }
}

fn condition(random: &mut Random, depth: u32) -> String {
    let (a, b) = (float(random, depth.min(1)), float(random, 0));
    match random.below(6) {
        0 => format!("({a} < {b} || {b} > 0.7)"),
        1 => format!("({a} >= {b} && {a} != 1.0)"),
        _ => format!("{a} {} {b}", random.pick(&["<", "<=", ">", ">="])),
    }
}

fn statements(random: &mut Random, text: &mut String, depth: u32, in_loop: bool) {
    for _ in 0..1 + random.below(3) {
        match random.below(if depth == 0 { 3 } else { 6 }) {
            0..3 => {
                let variable = random.pick(&VARIABLES);
                let levels = 1 + random.below(2);
                writeln!(text, "{variable} = clamp({}, -50.0, 50.0);", float(random, levels)).unwrap();
            }
            3 | 4 => {
                writeln!(text, "if {} {{", condition(random, 1)).unwrap();
                statements(random, text, depth - 1, in_loop);
                if in_loop && random.one_in(3) {
                    text.push_str(random.pick(&["break;\n", "continue;\n"]));
                }
                if random.one_in(2) {
                    text.push_str("} else {\n");
                    statements(random, text, depth - 1, in_loop);
                }
                text.push_str("}\n");
            }
            _ if in_loop => {}
            _ => {
                let turns = random.pick(&[2, 5, 100]);
                let bound = if turns == 100 { "i32(abs(u.a)) + 2".to_owned() } else { turns.to_string() };
                writeln!(text, "for (var i = 0; i < {bound}; i++) {{").unwrap();
                statements(random, text, depth - 1, true);
                text.push_str("}\n");
            }
        }
    }
}

/// Compiles, executes and interprets the programs of a suite.
fn check(suite: u64, depth: u32) {
    let mut distinct = std::collections::HashSet::new();
    for number in RANGE {
        let mut random = Random::new(suite, number);
        let mut body = String::new();
        statements(&mut random, &mut body, depth, false);
        let source = format!(
            "struct U {{ a: f32, b: vec3<f32> }}
            @group(0) @binding(0) var<uniform> u: U;
            struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: vec4<f32>, @location(1) s: vec2<f32> }}
            @vertex fn vs_main(@location(0) a: vec4<f32>) -> Out {{
                var x = a.x; var y = a.y; var z = a.z; var w = a.w; var p = 0.25; var q = a.x - a.y;
                {body}
                return Out(vec4(0.0, 0.0, 0.0, 1.0), vec4(x, y, z, w), vec2(p, q));
            }}"
        );
        let program = stage(&source, Stage::Vertex);
        let mut lane = |_| (random.below(2000) as f32 / 100.0 - 10.0).to_bits();
        let streams = (0..4).map(|_| Lanes(std::array::from_fn(&mut lane))).collect();
        let fields = vec![vec![3.5f32.to_bits()], [0.6f32, -1.25, 8.0].map(f32::to_bits).to_vec()];
        let given = Inputs::new(streams, fields);
        let (found, expected) = (run(&program, &given), interpret(&program, &given));
        assert_eq!(found, expected, "program {number} of suite {suite}:\n{source}\n{}", text(&program));
        distinct.insert(format!("{:?}", found.words));
    }
    assert!(distinct.len() > 120, "most programs leave something of their own: {}", distinct.len());
}

#[test]
fn expressions() {
    check(1, 0);
}

#[test]
fn branches_and_loops() {
    check(2, 2);
}

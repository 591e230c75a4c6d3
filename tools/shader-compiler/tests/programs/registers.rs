//! Programs that need most of the registers, or more than there are if all values were kept in registers.

use std::collections::HashSet;
use std::f32::consts::PI;
use std::fmt::Write;

use shader_compiler::interface::Stage;
use shader_compiler::limit::Limit;
use shader_compiler::{Compiled, Options, compile};
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;

use crate::image::channel_of;
use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, text};

type Vector = [f32; 3];

fn of(components: impl Fn(usize) -> f32) -> Vector {
    std::array::from_fn(components)
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn normalized(a: Vector) -> Vector {
    a.map(|component| component / dot(a, a).sqrt())
}

fn words(numbers: impl IntoIterator<Item = f32>) -> Vec<u32> {
    numbers.into_iter().map(f32::to_bits).collect()
}

/// Sixteen vectors as varyings.
fn streams(vectors: &[[Vector; 16]]) -> Vec<Lanes> {
    let component = |vectors: &[Vector; 16], at: usize| Lanes::from_f32(std::array::from_fn(|lane| vectors[lane][at]));
    vectors.iter().flat_map(|vectors| (0..3).map(move |at| component(vectors, at))).collect()
}

/// Executes a fragment program, and checks its colours.
fn check(program: &Compiled, given: &Inputs, expected: impl Fn(usize) -> Vector) {
    let outputs = run(program, given);
    assert_eq!(outputs, interpret(program, given), "{}", text(program));
    for (at, color) in outputs.color.0.into_iter().enumerate() {
        for (component, expected) in expected(at).into_iter().enumerate() {
            let found = channel_of(color, component);
            let near = (found - f64::from(expected.clamp(0.0, 1.0))).abs() < 0.004;
            assert!(near, "{at}, {component}: {found}, not {expected}\n{}", text(program));
        }
    }
}

const PLACES: fn(usize) -> Vector = |lane| of(|at| 0.3 * lane as f32 - at as f32);
const NORMALS: fn(usize) -> Vector = |lane| of(|at| (1 + lane * (at + 2) % 7) as f32 - 2.5);
const LIGHT: fn(usize) -> [Vector; 2] =
    |number| [of(|at| 2.0 + (3 * number + at) as f32 % 5.0), of(|at| 0.2 + 0.1 * ((number + 2 * at) % 6) as f32)];

/// The words in memory of a structure of two vectors: each vector has four words.
fn in_memory(lights: usize) -> Vec<u32> {
    (0..lights).flat_map(|number| LIGHT(number).into_iter().flat_map(|v| words([v[0], v[1], v[2], 0.0]))).collect()
}

/// The same numbers as a field.
fn in_field(lights: usize) -> Vec<u32> {
    (0..lights).flat_map(|number| words(LIGHT(number).concat())).collect()
}

/// A uniform number of lights, out of an array of `count`.
fn check_lights(count: usize, lights: usize) {
    let source = format!(
        "struct Light {{ position: vec3<f32>, color: vec3<f32> }}
        struct Scene {{ count: i32, lights: array<Light, {lights}> }}
        @group(0) @binding(0) var<uniform> scene: Scene;
        @fragment fn fs_main(@location(0) place: vec3<f32>, @location(1) normal: vec3<f32>) -> @location(0) vec4<f32> {{
            let n = normalize(normal);
            var sum = vec3(0.05);
            for (var i = 0; i < scene.count; i++) {{
                let to_light = scene.lights[i].position - place;
                sum += scene.lights[i].color * max(dot(n, normalize(to_light)), 0.0) / (1.0 + dot(to_light, to_light));
            }}
            return vec4(sum, 1.0);
        }}"
    );
    let program = stage(&source, Stage::Fragment);
    let own = streams(&[std::array::from_fn(PLACES), std::array::from_fn(NORMALS)]);
    let mut given = Inputs::new(own, vec![vec![count as u32], in_field(lights)]);
    given.buffers = vec![in_memory(lights)];
    check(&program, &given, |lane| {
        let (place, normal) = (PLACES(lane), normalized(NORMALS(lane)));
        (0..count).map(LIGHT).fold([0.05; 3], |sum, [position, color]| {
            let to_light = of(|at| position[at] - place[at]);
            let share = dot(normal, normalized(to_light)).max(0.0) / (1.0 + dot(to_light, to_light));
            of(|at| sum[at] + color[at] * share)
        })
    });
}

#[test]
fn arrays_of_lights_have_dynamic_indices() {
    for lights in 4..=10 {
        check_lights(lights - 1, lights);
    }
}

/// The material model of <https://learnopengl.com/PBR/Lighting>.
#[test]
fn four_lights_on_a_physically_based_material() {
    const BASE: Vector = [0.8, 0.5, 0.3];
    const AMBIENT: Vector = [0.03, 0.04, 0.05];
    const EYE: Vector = [4.0, 3.0, 7.0];
    const METALLIC: f32 = 0.25;
    const ROUGHNESS: f32 = 0.4;
    let program = stage(include_str!("registers/four_lights.wgsl"), Stage::Fragment);
    let tint = |lane: usize| of(|at| 1.0 - 0.02 * (lane + at) as f32);
    let own = streams(&[std::array::from_fn(PLACES), std::array::from_fn(NORMALS), std::array::from_fn(tint)]);
    let names = |name: &str| match name {
        "eye" => words(EYE),
        "ambient" => words(AMBIENT),
        "lights" => in_field(4),
        "base" => words(BASE),
        "metallic" => words([METALLIC]),
        "roughness" => words([ROUGHNESS]),
        other => panic!("{other}"),
    };
    let fields = program.interface.fields.iter().map(|field| names(&field.name)).collect();
    let given = Inputs { buffers: vec![in_memory(4)], ..Inputs::new(own, fields) };
    let smith = |cosine: f32| {
        let k = (ROUGHNESS + 1.0).powi(2) / 8.0;
        cosine / (cosine * (1.0 - k) + k)
    };
    check(&program, &given, |lane| {
        let (place, n, tint) = (PLACES(lane), normalized(NORMALS(lane)), tint(lane));
        let v = normalized(of(|at| EYE[at] - place[at]));
        let albedo = of(|at| BASE[at] * tint[at]);
        let f0 = of(|at| 0.04 + (albedo[at] - 0.04) * METALLIC);
        let mut sum = [0.0; 3];
        for [position, color] in (0..4).map(LIGHT) {
            let to_light = of(|at| position[at] - place[at]);
            let l = normalized(to_light);
            let h = normalized(of(|at| v[at] + l[at]));
            let [n_v, n_l, n_h, h_v] = [(n, v), (n, l), (n, h), (h, v)].map(|(a, b)| dot(a, b).max(0.0));
            let a2 = ROUGHNESS.powi(4);
            let d = n_h * n_h * (a2 - 1.0) + 1.0;
            let distribution = a2 / (PI * d * d);
            let strength = distribution * smith(n_v) * smith(n_l) / (4.0 * n_v * n_l + 0.0001);
            for at in 0..3 {
                let f = f0[at] + (1.0 - f0[at]) * (1.0 - h_v).clamp(0.0, 1.0).powi(5);
                let diffuse = (1.0 - f) * (1.0 - METALLIC) * albedo[at] / PI;
                sum[at] += (diffuse + strength * f) * color[at] / dot(to_light, to_light) * n_l;
            }
        }
        of(|at| {
            let color = AMBIENT[at] * albedo[at] + sum[at];
            (color / (color + 1.0)).powf(1.0 / 2.2)
        })
    });
}

/// Values that are all computed before the first use, in a loop that keeps their order: their number of registers is needed.
#[test]
fn both_register_files_are_used_up() {
    for count in [24, 32, 40, 44, 48, 50] {
        let declared: String = (0..count).map(|at| format!("var v{at} = u.a * {at}.0 + f32(n);\n")).collect();
        let turned: String = (0..count).map(|at| format!("v{at} = v{at} * 0.5 + v{};\n", (at + 1) % count)).collect();
        let sum: String = (0..count).map(|at| format!(" + v{at}")).collect();
        let source = format!(
            "struct U {{ a: f32, turns: i32 }}
            @group(0) @binding(0) var<uniform> u: U;
            struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: f32 }}
            @vertex fn vs_main(@location(0) n: i32) -> Out {{
                {declared}
                for (var i = 0; i < u.turns; i++) {{ {turned} }}
                return Out(vec4(0.0, 0.0, 0.0, 1.0), 0.0{sum});
            }}"
        );
        let program = stage(&source, Stage::Vertex);
        let fields = vec![words([0.25]), vec![3]];
        let given = Inputs::new(vec![Lanes(std::array::from_fn(|lane| lane as u32))], fields);
        let outputs = run(&program, &given);
        assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
        for (lane, found) in outputs.words[3].to_f32().into_iter().enumerate() {
            let mut v: Vec<f32> = (0..count).map(|at| 0.25 * at as f32 + lane as f32).collect();
            for _ in 0..3 {
                for at in 0..count {
                    v[at] = v[at] * 0.5 + v[(at + 1) % count];
                }
            }
            let expected: f32 = v.iter().sum();
            assert!(
                (found - expected).abs() <= 1e-4 * expected.abs(),
                "{count} values, {lane}: {found}, not {expected}"
            );
        }
    }
}

/// Random programs with so many variables that most of the registers are used, with nested loops and branches.
fn crowded(random: &mut Random) -> String {
    let count = 16 + random.below(24);
    let declared: String = (0..count)
        .map(|at| match random.below(3) {
            0 => format!("var v{at} = u.a * {at}.5;\n"),
            1 => format!("var v{at} = u.b[{}] - x;\n", random.below(4)),
            _ => format!("var v{at} = x * {at}.0;\n"),
        })
        .collect();
    let mut body = String::new();
    statements(random, &mut body, count, 3);
    let sum: String = (0..count).map(|at| format!(" + v{at}")).collect();
    format!(
        "struct U {{ a: f32, b: vec4<f32>, turns: i32 }}
        @group(0) @binding(0) var<uniform> u: U;
        struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: f32 }}
        @vertex fn vs_main(@location(0) x: f32) -> Out {{
            {declared}
            {body}
            return Out(vec4(0.0, 0.0, 0.0, 1.0), 0.0{sum});
        }}"
    )
}

fn statements(random: &mut Random, text: &mut String, count: u32, depth: u32) {
    for _ in 0..2 + random.below(4) {
        let [a, b, c] = [(); 3].map(|()| random.below(count));
        match random.below(if depth == 0 { 4 } else { 7 }) {
            0..4 => {
                let op = random.pick(&["+", "-", "*"]);
                writeln!(text, "v{a} = clamp(v{b} {op} v{c}, -100.0, 117.3) * 0.3125;").unwrap();
            }
            4 | 5 => {
                writeln!(text, "if v{a} < v{b} {{").unwrap();
                statements(random, text, count, depth - 1);
                writeln!(text, "}} else {{").unwrap();
                statements(random, text, count, depth - 1);
                writeln!(text, "}}").unwrap();
            }
            _ => {
                writeln!(text, "for (var i{depth} = 0; i{depth} < u.turns; i{depth}++) {{").unwrap();
                statements(random, text, count, depth - 1);
                writeln!(text, "if v{a} > 90.25 {{ break; }}\n}}").unwrap();
            }
        }
    }
}

/// Number of random programs of a suite, and the maximum number that may be refused: the current value.
const PROGRAMS: u64 = 40;
const MOST_REFUSED: usize = 10;

/// When a program is refused, no register is free except r4, the register for results of lookups and functions.
#[test]
fn crowded_random_programs_are_right_or_take_all_registers() {
    let (mut refused, mut distinct) = (0, HashSet::new());
    for number in 0..PROGRAMS {
        let mut random = Random::named(&format!("crowded {number}"));
        let source = crowded(&mut random);
        let compiled = match compile(&source, "test.wgsl", &Options::default()) {
            Ok(programs) => programs,
            Err(error) => {
                assert_eq!(error.limit, Some(&Limit::REGISTERS), "{error}");
                let is_full = ["64 values here, for 65 registers", "65 values here, for 65 registers"];
                assert!(is_full.iter().any(|full| error.message.ends_with(full)), "{error}");
                refused += 1;
                continue;
            }
        };
        let program = compiled.into_iter().find(|program| program.stage == Stage::Vertex).unwrap();
        let fields = vec![words([0.75]), words([1.5, -2.0, 0.125, 7.0]), vec![3]];
        let lanes = Lanes::from_f32(std::array::from_fn(|lane| lane as f32 * 0.75 - 4.0));
        let given = Inputs::new(vec![lanes], fields);
        let outputs = run(&program, &given);
        assert_eq!(outputs, interpret(&program, &given), "program {number}:\n{source}\n{}", text(&program));
        distinct.insert(outputs.words[3].0);
    }
    println!("{refused} of {PROGRAMS} are refused");
    assert!(refused <= MOST_REFUSED && distinct.len() + refused == PROGRAMS as usize, "{refused}, {}", distinct.len());
}

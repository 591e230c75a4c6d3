//! Fragment programs for two threads compute the same as those for one thread, from the same sources.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write;

use shader_compiler::interface::Stage;
use shader_compiler::{Compiled, Options, compile};
use v3d_hw::qpu::{Instruction, WriteTarget};
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;

use crate::image::Image;
use crate::machine::{Inputs, Outputs, run, stage, stage_with, text};

/// The suite of random programs, and the range that is executed.
const SUITE: u64 = 17;
const RANGE: std::ops::Range<u64> = 0..300;
/// Minimum number of programs for two threads, and minimum number of different results.
const FOR_TWO_THREADS: usize = 200;
const DISTINCT: usize = 250;

const VARIABLES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn number(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(5) {
            0 => random.pick(&["1.0", "0.5", "0.3", "2.25", "0.125"]).to_owned(),
            1 => random.pick(&["u.a", "u.b.x", "u.b.y", "u.b.z"]).to_owned(),
            2 => random.pick(&["p.x", "p.y"]).to_owned(),
            _ => random.pick(&VARIABLES).to_owned(),
        };
    }
    let (a, b) = (number(random, depth - 1), number(random, depth - 1));
    match random.below(10) {
        0..3 => format!("({a} + {b})"),
        3..6 => format!("({a} * {b})"),
        6 => format!("({a} - {b})"),
        7 => format!("max({a}, {b})"),
        8 => format!("select({a}, {b}, {a} < 0.5)"),
        _ => format!("inverseSqrt(abs({a}) + 1.0)"),
    }
}

/// Statements with lookups, some at positions that are results of others.
fn body(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..2 + random.below(6) {
        let variable = random.pick(&VARIABLES);
        let (s, t) = (number(random, 1), number(random, 1));
        let statement = match random.below(9) {
            0..4 => {
                format!("{variable} = textureSample(image, how, vec2({s}, {t})).{};", random.pick(&["x", "y", "w"]))
            }
            4 => format!("{variable} = dot(textureSampleBias(image, how, vec2({s}, {t}), u.a), vec4(0.4));"),
            5 => format!("if {s} < {t} {{ {variable} = {}; }}", number(random, 2)),
            6 => format!("{variable} += dpdx({s});"),
            7 => format!("for (var i = 0; i < i32(u.a) + 2; i++) {{ {variable} = {variable} * 0.5 + {t}; }}"),
            _ => format!("{variable} = {};", number(random, 3)),
        };
        writeln!(text, "{statement}").unwrap();
    }
    if random.one_in(4) {
        writeln!(text, "if {} < 0.25 {{ discard; }}", random.pick(&VARIABLES)).unwrap();
    }
    text
}

fn as_one_thread() -> Options {
    Options { one_thread: true, ..Options::default() }
}

fn execute(program: &Compiled, random: &mut Random) -> Outputs {
    let mut lane = |_| random.below(2000) as f32 / 1000.0 - 0.5;
    let streams = (0..4).map(|_| Lanes::from_f32(std::array::from_fn(&mut lane))).collect();
    let fields = vec![vec![1.5f32.to_bits()], [0.6f32, 0.25, 3.0].map(f32::to_bits).to_vec()];
    let mut inputs = Inputs::new(streams, fields);
    inputs.image = Some(Image::random(16, 8, 1));
    run(program, &inputs)
}

/// Two threads share the FIFO of lookups and the set of parameters: a lookup is requested between two switches, and its result is loaded between the next
/// two. Each thread may use half of the FIFO's 8 entries [AG p.39].
fn check_lookups(program: &Compiled) {
    if program.interface.threads() == 1 {
        return;
    }
    // For each outstanding lookup its phase and its number of parameters.
    let (mut asked, mut parameters) = (VecDeque::new(), Vec::new());
    let (mut stage, mut switch_in) = (0, None);
    for &word in &program.words {
        let accesses = Instruction::decode(word).accesses();
        for write in accesses.written() {
            let WriteTarget::Tmu { .. } = write.target else { continue };
            parameters.push(stage);
            if write.target.starts_lookup() {
                assert!(parameters.iter().all(|at| *at == stage), "a switch among parameters\n{}", text(program));
                asked.push_back((stage, parameters.len()));
                parameters.clear();
            }
            let entries = parameters.len() + asked.iter().map(|(_, entries)| entries).sum::<usize>();
            assert!(entries <= 4, "{entries} entries\n{}", text(program));
        }
        if accesses.signal.loads_tmu().is_some() {
            let (from, _) = asked.pop_front().expect("a lookup was asked for");
            assert_eq!(stage, from + 1, "stage of a result\n{}", text(program));
        }
        if accesses.signal.switches_threads() {
            switch_in = Some(3);
        }
        switch_in = switch_in.map(|left| left - 1).filter(|left| {
            stage += usize::from(*left == 0);
            *left > 0
        });
    }
    assert!(asked.is_empty() && stage > 0);
}

#[test]
fn random_programs_do_the_same_as_one_thread_and_as_two() {
    let (mut dual, mut distinct) = (0, HashSet::new());
    for case in RANGE {
        let mut random = Random::new(SUITE, case);
        let source = format!(
            "struct U {{ a: f32, b: vec3<f32> }}
            @group(0) @binding(0) var<uniform> u: U;
            @group(0) @binding(1) var image: texture_2d<f32>;
            @group(0) @binding(2) var how: sampler;
            @fragment fn fs_main(@location(0) p: vec2<f32>, @location(1) q: vec2<f32>) -> @location(0) vec4<f32> {{
                var a = q.x; var b = q.y; var c = p.x * q.y; var d = 0.75; var e = p.x - p.y + u.b.x * u.b.y * u.b.z * u.a;
                {}
                return vec4(a, b, c + textureSample(image, how, vec2(c, d)).x, d * e);
            }}",
            body(&mut random)
        );
        let (two, one) = (stage(&source, Stage::Fragment), stage_with(&source, Stage::Fragment, &as_one_thread()));
        assert_eq!(one.interface.threads(), 1);
        dual += usize::from(two.interface.threads() == 2);
        check_lookups(&two);
        let found = execute(&two, &mut random.clone());
        assert_eq!(found, execute(&one, &mut random), "case {case}:\n{source}\n{}{}", text(&two), text(&one));
        distinct.insert(format!("{found:?}"));
    }
    assert!(dual >= FOR_TWO_THREADS, "{dual} programs are for two threads");
    assert!(distinct.len() >= DISTINCT, "{} results", distinct.len());
}

/// A fragment shader that samples a texture and returns `result`, an expression of the texel t and the position p.
fn looking(result: &str) -> String {
    format!(
        "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var how: sampler;
        @fragment fn fs_main(@location(0) p: vec2<f32>) -> @location(0) vec4<f32> {{
            let t = textureSample(image, how, p);
            return {result};
        }}"
    )
}

#[test]
fn lookups_decide_how_many_threads_there_are() {
    let check = |source: &str, threads: u8| {
        let program = stage(source, Stage::Fragment);
        assert_eq!(program.interface.threads(), threads, "{source}\n{}", text(&program));
    };
    check(&looking("t"), 2);
    check(&looking("textureSample(image, how, t.xy)"), 2);
    check("@fragment fn fs_main(@location(0) c: vec4<f32>) -> @location(0) vec4<f32> { return c; }", 1);
    // 32 numbers that are live across the lookup do not fit half of the registers.
    let product = (0..32).map(|at| format!("n[{at}]")).collect::<Vec<_>>().join(" * ");
    let polynomial = (0..32).fold("t.x".to_owned(), |sum, at| format!("({sum} * t.x + n[{at}])"));
    let many = format!(
        "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var how: sampler;
        @fragment fn fs_main(@location(0) p: vec2<f32>) -> @location(0) vec4<f32> {{
            let n = array({});
            let t = textureSample(image, how, vec2({product}, 0.5));
            return t * {polynomial};
        }}",
        (0..32).map(|at| format!("sqrt(p.x + {at}.3)")).collect::<Vec<_>>().join(", "),
    );
    check(&many, 1);
}

/// The code that a pipeline appends is after the last switch as well.
#[test]
fn ends_stand_behind_programs_of_two_threads() {
    use shader_interface::tail::blend::Blend;
    use shader_interface::tail::{Compare, Depth, TailState};
    let depth = Depth { test: Compare::Less, write: true };
    for state in [
        TailState::PLAIN,
        TailState { depth, blend: Blend::ALPHA, ..TailState::PLAIN },
        TailState { samples: 4, depth, blend: Blend::MULTIPLY, ..TailState::PLAIN },
    ] {
        let programs = compile(&looking("t.zyxw * p.x"), "test.wgsl", &Options::default()).unwrap();
        let [fragment] = <[Compiled; 1]>::try_from(programs).unwrap();
        assert_eq!(fragment.interface.threads(), 2);
        fragment.with_end(&state).unwrap_or_else(|error| panic!("{error}"));
    }
}

//! Inputs and outputs of fragments other than their colour: flat varyings, depths.

use shader_compiler::interface::Stage;
use shader_compiler::{Options, compile};
use shader_interface::f16;
use shader_interface::tail::TailState;
use v3d_sim::qpu::lanes::Lanes;

use crate::image::channel_of;
use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, stage_with, text};

#[test]
fn flat_varyings_are_the_coefficients() {
    let source =
        "@fragment fn fs_main(@location(0) smoothed: f32, @location(1) @interpolate(flat, either) number: vec2<u32>,
            @location(2) @interpolate(flat) share: f32) -> @location(0) vec4<f32> {
            return vec4(smoothed, f32(number.x >> 2) / 255.0, f32(number.y % 100) / 255.0, share);
        }";
    let program = stage(source, Stage::Fragment);
    assert_eq!(program.interface.flat_varyings, 0b1110);
    let floats = |of: fn(f32) -> f32| Lanes::from_f32(std::array::from_fn(|at| of(at as f32)));
    let streams = vec![floats(|n| n / 16.0), floats(|n| 64.0 * n), floats(|n| 1000.0 + n), floats(|n| 1.0 - n / 16.0)];
    let given = Inputs::new(streams, Vec::new());
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
    for (at, color) in (0u32..).zip(outputs.color.0) {
        let expected = [at as f32 / 16.0, (16 * at) as f32 / 255.0, at as f32 / 255.0, 1.0 - at as f32 / 16.0];
        for (component, expected) in expected.into_iter().enumerate() {
            let found = channel_of(color, component);
            assert!((found - f64::from(expected)).abs() < 0.003, "{at}, {component}: {found}, not {expected}");
        }
    }
}

#[test]
fn vertices_hand_flat_integers_on_as_floats() {
    let source = "struct Out { @builtin(position) p: vec4<f32>, @location(0) @interpolate(flat, either) n: i32 }
        @vertex fn vs_main(@location(0) n: i32) -> Out { return Out(vec4(0.0, 0.0, 0.0, 1.0), n - 3); }";
    let program = stage(source, Stage::Vertex);
    assert_eq!(program.interface.flat_varyings, 1);
    let given = Inputs::new(vec![Lanes(std::array::from_fn(|at| at as u32))], Vec::new());
    let found = run(&program, &given).words[3].to_f32();
    assert_eq!(found, std::array::from_fn(|at| at as f32 - 3.0));
}

#[test]
fn stages_agree_on_what_is_flat() {
    let source = "struct Out { @builtin(position) p: vec4<f32>, @location(0) @interpolate(flat, either) n: f32 }
        @vertex fn vs_main(@location(0) n: f32) -> Out { return Out(vec4(0.0, 0.0, 0.0, 1.0), n); }
        @fragment fn fs_main(@location(0) n: f32) -> @location(0) vec4<f32> { return vec4(n); }";
    let error = compile(source, "test.wgsl", &Options::default()).unwrap_err();
    assert!(error.message.contains("flat"), "{error}");
}

#[test]
fn fragments_leave_a_depth_of_their_own() {
    let source = "struct Out { @location(0) color: vec4<f32>, @builtin(frag_depth) depth: f32 }
        @fragment fn fs_main(@builtin(position) at: vec4<f32>, @location(0) v: f32) -> Out {
            return Out(vec4(at.z), v + 0.25 * at.z);
        }";
    let program = stage(source, Stage::Fragment);
    assert!(program.interface.writes_depth);
    let given = Inputs::new(vec![Lanes::from_f32(std::array::from_fn(|at| at as f32 / 8.0 - 0.5))], Vec::new());
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
    for at in 0..16 {
        let own = f64::from(given.depth.0[at]) / 16_777_215.0;
        let expected = (at as f64 / 8.0 - 0.5 + 0.25 * own).clamp(0.0, 1.0) * 16_777_215.0;
        assert!(
            (f64::from(outputs.depth.0[at]) - expected).abs() <= 2.0,
            "{at}: {}, not {expected}",
            outputs.depth.0[at]
        );
        assert!((channel_of(outputs.color.0[at], 0) - own).abs() < 0.003);
    }
    // The pipeline's tail reads rb15, which is possible two instructions after a write at the earliest.
    let writes_depth = |word: &&u64| (**word >> 32) & 0x1fff == (1 << 12 | 15 << 6 | 39);
    let last = program.words.iter().rposition(|word| writes_depth(&word));
    assert!(last.is_none_or(|last| program.words.len() >= last + 2), "{}", text(&program));
}

/// Early Z must not be updated by fragments that are discarded, so a pipeline has to know about them.
#[test]
fn programs_say_whether_they_discard() {
    let check = |body: &str, expected: bool| {
        let source = format!(
            "fn cut(v: f32) {{ if v < 0.5 {{ discard; }} }}
            @fragment fn fs_main(@location(0) v: f32) -> @location(0) vec4<f32> {{ {body} return vec4(v); }}"
        );
        let interface = stage(&source, Stage::Fragment).interface;
        assert_eq!((interface.discards, interface.writes_depth), (expected, false), "{body}");
    };
    check("", false);
    check("if v > 2.0 { discard; }", true);
    check("cut(v);", true);
}

/// The end that is appended to a program is that of a pipeline with the same state.
#[test]
fn programs_can_have_the_end_of_a_pipeline() {
    use shader_interface::tail::blend::Blend;
    use shader_interface::tail::{Depth, TailState};
    let source = "@fragment fn fs_main(@location(0) v: vec4<f32>) -> @location(0) vec4<f32> { return v; }";
    let program = stage(source, Stage::Fragment);
    let state = TailState { samples: 4, depth: Depth::LESS, blend: Blend::ALPHA, ..TailState::PLAIN };
    let tail = state.build().unwrap();
    let ended = program.clone().with_end(&state).unwrap();
    assert_eq!(ended.words, tail.append_to(&program.words).words);
    assert_eq!(ended.interface.stream.len(), program.interface.stream.len() + tail.uniforms.len());
    let text = shader_compiler::qasm(&ended, source);
    let assembled = qpu::assemble(&[qpu::Source::new("test.qasm", &text)], &qpu::Options::default()).unwrap();
    assert_eq!(assembled.words, ended.words);
    assert!(!qpu::check::check_assembly(&assembled).has_errors());
}

#[test]
fn points_have_coordinates_and_a_size() {
    let source = "struct Out { @builtin(position) p: vec4<f32>, @location(0) c: f32, @location(3) point_size: f32 }
        @vertex fn vs_main(@location(0) c: f32) -> Out { return Out(vec4(0.0, 0.0, 0.0, 1.0), c, c * 4.0); }
        @fragment fn fs_main(@location(0) c: f32, @location(9) point_coord: vec2<f32>) -> @location(0) vec4<f32> {
            return vec4(point_coord, c, 1.0);
        }";
    let lanes = |of: fn(f32) -> f32| Lanes::from_f32(std::array::from_fn(|at| of(at as f32)));
    let program = stage(source, Stage::Fragment);
    assert!(program.interface.points && program.interface.varyings == 1);
    let given = Inputs::new(vec![lanes(|n| n / 16.0), lanes(|n| 1.0 - n / 32.0), lanes(|n| n / 64.0)], Vec::new());
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
    for (at, color) in outputs.color.0.into_iter().enumerate() {
        let n = at as f64;
        for (component, expected) in [n / 16.0, 1.0 - n / 32.0, n / 64.0, 1.0].into_iter().enumerate() {
            assert!((channel_of(color, component) - expected).abs() < 0.003, "{at}, {component}");
        }
    }
    for (of, place) in [(Stage::Coordinate, 6 + 1), (Stage::Vertex, 3)] {
        let program = stage(source, of);
        assert!(program.interface.point_size);
        let words = run(&program, &Inputs::new(vec![lanes(|n| n)], Vec::new())).words;
        assert_eq!(words[place].to_f32(), std::array::from_fn(|at| (at as f32 * 4.0).max(0.125)), "{}", text(&program));
    }
}

/// Colours for targets of half floats; the margin, 2^-10 of the colour, is the sum of their rounding and of the arithmetic before it.
#[test]
fn colours_of_half_floats_are_not_clamped() {
    let source = "@fragment fn fs_main(@location(0) v: vec4<f32>) -> @location(0) vec4<f32> {
            return vec4(v.xyz * v.w * 3.0, v.w - 0.75);
        }";
    let program = stage_with(source, Stage::Fragment, &Options { half_color: true, ..Options::default() });
    let value = |at: usize, component: usize| (at as f64 - 7.5) * [0.75, -40.0, 0.25, 1.0][component];
    let streams = (0..4).map(|component| Lanes::from_f32(std::array::from_fn(|at| value(at, component) as f32)));
    let given = Inputs::new(streams.collect(), Vec::new());
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
    for at in 0..16 {
        let halves = [outputs.color.0[at], outputs.blue_alpha.0[at]].map(|word| [word as u16, (word >> 16) as u16]);
        let w = value(at, 3);
        let expected = [value(at, 0) * w * 3.0, value(at, 1) * w * 3.0, value(at, 2) * w * 3.0, w - 0.75];
        for (half, expected) in halves.as_flattened().iter().zip(expected) {
            let found = f16::from_bits(*half).to_f64();
            assert!((found - expected).abs() <= expected.abs() / 1024.0, "{at}: {found}, not {expected}");
        }
    }
}

#[test]
fn a_colour_of_halves_needs_an_end_for_halves() {
    let source = "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.3, 2.0, -1.0, 0.7); }";
    for half_color in [false, true] {
        let program = stage_with(source, Stage::Fragment, &Options { half_color, ..Options::default() });
        for is_half in [false, true] {
            let ended = program.clone().with_end(&TailState { is_half, ..TailState::PLAIN });
            assert_eq!(ended.is_ok(), half_color == is_half, "{half_color} {is_half}: {:?}", ended.err());
        }
    }
}

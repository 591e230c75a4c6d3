//! Varyings between the vertex shader and the fragment shader of one source.

use shader_compiler::interface::Stage;
use shader_compiler::{Options, compile};
use v3d_sim::qpu::lanes::Lanes;

use crate::image::channel_of;
use crate::machine::{Inputs, run};

/// Four varyings, in another order than that of their locations.
const VERTEX: &str = "struct Out {
        @builtin(position) position: vec4<f32>,
        @location(5) four: vec4<f32>,
        @location(0) two: vec2<f32>,
        @location(1) three: vec3<f32>,
        @location(2) @interpolate(flat, either) number: u32,
    }
    @vertex fn vs_main(@location(0) v: f32) -> Out {
        return Out(vec4(0.0, 0.0, 0.0, 1.0), vec4(v, 2.0 * v, 3.0 * v, 4.0 * v), vec2(5.0 * v, 6.0 * v), vec3(7.0 * v), u32(64.0 * v));
    }";

/// Executes a fragment shader with `VERTEX`, for 0 to 15 sixteenths: checks how many components are passed, which are flat, and the red and green of each, as
/// multiples of the input.
fn check(fragment: &str, components: u32, flat: u32, expected: [f32; 2]) {
    let source = format!("{VERTEX}\n{fragment}");
    let programs = compile(&source, "test.wgsl", &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let of = |stage: Stage| programs.iter().find(|program| program.stage == stage).unwrap();
    let (vertex, fragment) = (of(Stage::Vertex), of(Stage::Fragment));
    for program in [vertex, fragment] {
        assert_eq!((program.interface.varyings, program.interface.flat_varyings), (components, flat));
    }
    let places = Lanes::from_f32(std::array::from_fn(|at| at as f32 / 16.0));
    let words = run(vertex, &Inputs::new(vec![places], Vec::new())).words;
    // Screen position, depth and 1/W come before the varyings.
    assert_eq!(words.len(), 3 + components as usize);
    let colors = run(fragment, &Inputs::new(words[3..].to_vec(), Vec::new())).color;
    for (at, color) in (0u16..).zip(colors.0) {
        for (channel, factor) in expected.into_iter().enumerate() {
            let (found, expected) = (channel_of(color, channel), f64::from(factor) * f64::from(at) / 16.0);
            assert!((found - expected).abs() < 0.003, "{at}, {channel}: {found}, not {expected}");
        }
    }
}

#[test]
fn all_components_travel_if_all_are_used() {
    let fragment = "@fragment fn fs_main(in: Out) -> @location(0) vec4<f32> {
            let all = dot(in.two, vec2(1.0)) + dot(in.three, vec3(1.0)) + dot(in.four, vec4(1.0)) + f32(in.number);
            return vec4(all / 1000.0, in.three.z / 8.0, 0.0, 1.0);
        }";
    check(fragment, 10, 0b10_0000, [(11.0 + 21.0 + 10.0 + 64.0) / 1000.0, 7.0 / 8.0]);
}

#[test]
fn components_without_use_do_not_travel() {
    let fragment = "@fragment fn fs_main(in: Out) -> @location(0) vec4<f32> {
            return vec4(in.four.y / 8.0, f32(in.number) / 64.0, 0.0, 1.0);
        }";
    check(fragment, 2, 0b01, [2.0 / 8.0, 1.0]);
}

#[test]
fn a_fragment_shader_may_read_fewer_locations() {
    let fragment =
        "@fragment fn fs_main(@location(5) four: vec4<f32>, @location(0) two: vec2<f32>) -> @location(0) vec4<f32> {
            return vec4(two.y / 8.0, four.w / 8.0, 0.0, 1.0);
        }";
    check(fragment, 2, 0, [6.0 / 8.0, 4.0 / 8.0]);
}

#[test]
fn a_fragment_shader_may_read_none() {
    check("@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.0); }", 0, 0, [0.0, 0.0]);
}

#[test]
fn stages_that_do_not_fit_are_refused() {
    let refused = |inputs: &str, message: &str| {
        let source =
            format!("{VERTEX}\n@fragment fn fs_main({inputs}) -> @location(0) vec4<f32> {{ return vec4(0.0); }}");
        let error = compile(&source, "test.wgsl", &Options::default()).unwrap_err();
        assert_eq!(error.message, message);
    };
    refused("@location(3) x: f32", "the fragment shader reads @location(3), which the vertex shader does not write");
    refused(
        "@location(0) x: vec3<f32>",
        "the vertex shader writes 2 components to @location(0), and the fragment shader reads 3",
    );
    refused(
        "@location(0) @interpolate(flat, either) x: vec2<f32>",
        "@location(0) is flat in one stage, and interpolated in the other",
    );
}

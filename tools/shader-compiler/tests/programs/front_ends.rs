//! naga's other front ends compile to the same programs as WGSL.

use shader_compiler::interface::Stage;
use shader_compiler::{Compiled, Error, Options, compile, compile_module, read};
use v3d_sim::qpu::lanes::Lanes;

use crate::image::channel_of;
use crate::machine::{Inputs, run};

fn programs(source: &[u8], path: &str) -> Result<Vec<Compiled>, Error> {
    let parsed = read(source, path)?;
    compile_module(&parsed.module, &parsed.text, path, &Options::default())
}

const WGSL: &str = "struct Wave { matrix: mat4x4<f32>, count: f32 }
    @group(0) @binding(0) var<uniform> wave: Wave;
    struct Out { @builtin(position) place: vec4<f32>, @location(0) at: vec2<f32> }
    @vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) at: vec2<f32>) -> Out {
        return Out(wave.matrix * vec4(place, 1.0), at);
    }
    @fragment fn fs_main(@location(0) at: vec2<f32>) -> @location(0) vec4<f32> {
        let height = 0.5 + 0.5 * cos(length(at) * wave.count);
        return vec4(height, at, 1.0);
    }";

/// The words of all stages.
fn words(programs: &[Compiled]) -> Vec<Vec<u64>> {
    programs.iter().map(|program| program.words.clone()).collect()
}

#[test]
fn spirv_gives_the_same_programs() {
    let module = naga::front::wgsl::parse_str(WGSL).unwrap();
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = validator.validate(&module).unwrap();
    // As in WGSL, y is upwards.
    let flags = naga::back::spv::WriterFlags::DEBUG;
    let options = naga::back::spv::Options { flags, ..Default::default() };
    let written = naga::back::spv::write_vec(&module, &info, &options, None).unwrap();
    let bytes: Vec<u8> = written.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (found, expected) = (programs(&bytes, "wave.spv").unwrap(), programs(WGSL.as_bytes(), "wave.wgsl").unwrap());
    assert_eq!(words(&found), words(&expected));
}

#[test]
fn glsl_gives_programs_of_the_same_length() {
    let vertex = "#version 450
        layout(set = 0, binding = 0) uniform Wave { mat4 matrix; float count; } wave;
        layout(location = 0) in vec3 place;
        layout(location = 1) in vec2 coordinates;
        layout(location = 0) out vec2 at;
        void main() { gl_Position = wave.matrix * vec4(place, 1.0); at = coordinates; }";
    let fragment = "#version 450
        layout(set = 0, binding = 0) uniform Wave { mat4 matrix; float count; } wave;
        layout(location = 0) in vec2 at;
        layout(location = 0) out vec4 color;
        void main() { color = vec4(0.5 + 0.5 * cos(length(at) * wave.count), at, 1.0); }";
    let mut found = programs(vertex.as_bytes(), "wave.vert").unwrap();
    found.extend(programs(fragment.as_bytes(), "wave.frag").unwrap());
    let expected = programs(WGSL.as_bytes(), "wave.wgsl").unwrap();
    let lengths = |programs: &[Compiled]| programs.iter().map(|program| program.words.len()).collect::<Vec<_>>();
    assert_eq!(lengths(&found), lengths(&expected));
    assert_eq!(found[1].interface.fields, expected[1].interface.fields);
}

/// `gl_PointCoord` is 0 at the upper edge of a point and 1 at the lower one, and the hardware's own position is 0 at the lower edge [OpenGL ES 3 reference:
/// gl_PointCoord; mesa vc4_program.c].
#[test]
fn the_position_in_a_point_goes_down_in_glsl() {
    let source = "#version 450
        layout(location = 0) in float depth;
        layout(location = 0) out vec4 color;
        void main() { color = vec4(gl_PointCoord, depth, 1.0); }";
    let found = programs(source.as_bytes(), "point.frag").unwrap();
    let [program] = found.as_slice() else { panic!("{} programs", found.len()) };
    assert!(program.interface.points);
    let lanes = |of: fn(f32) -> f32| Lanes::from_f32(std::array::from_fn(|at| of(at as f32)));
    let given = Inputs::new(vec![lanes(|n| n / 16.0), lanes(|n| n / 32.0), lanes(|n| n / 64.0)], Vec::new());
    let color = run(program, &given).color;
    for (at, color) in color.0.into_iter().enumerate() {
        let n = at as f64;
        for (component, expected) in [n / 16.0, 1.0 - n / 32.0, n / 64.0, 1.0].into_iter().enumerate() {
            assert!((channel_of(color, component) - expected).abs() < 0.003, "{at}, {component}");
        }
    }
}

#[test]
fn mistakes_of_other_languages_have_a_place_where_there_is_text() {
    let source = "#version 450\nvoid main() { gl_Position = vec4(q); }";
    let error = programs(source.as_bytes(), "wave.vert").unwrap_err();
    assert_eq!(error.place.map(|(range, _)| &source[range]), Some("q"), "{}", error.rendered);
    assert!(error.rendered.contains("wave.vert:2"), "{}", error.rendered);
    let error = programs(&[3, 2, 35, 7, 0, 0, 1, 0], "wave.spv").unwrap_err();
    assert!(error.place.is_none() && error.to_string().contains("wave.spv"), "{error}");
    assert!(programs(&[0xff, 0xfe], "wave.wgsl").unwrap_err().to_string().contains("utf-8"));
}

/// Entry points may have any name; only if there are several, one has to be named.
#[test]
fn the_only_entry_point_of_a_stage_needs_no_name() {
    let vertex = "@vertex fn place(@location(0) p: vec4<f32>) -> @builtin(position) vec4<f32> { return p; }";
    let fragment = |name: &str| format!("@fragment fn {name}() -> @location(0) vec4<f32> {{ return vec4(1.0); }}");
    let source = format!("{vertex}\n{}", fragment("paint"));
    let stages: Vec<Stage> =
        compile(&source, "test.wgsl", &Options::default()).unwrap().iter().map(|program| program.stage).collect();
    assert_eq!(stages, [Stage::Coordinate, Stage::Vertex, Stage::Fragment]);
    let several = format!("{source}\n{}", fragment("glow"));
    let error = compile(&several, "test.wgsl", &Options::default()).unwrap_err();
    assert!(error.message.contains("paint, glow"), "{error}");
    let named = Options { fragment: Some("glow".to_owned()), ..Options::default() };
    assert_eq!(compile(&several, "test.wgsl", &named).unwrap().len(), 3);
}

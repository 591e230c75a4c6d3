//! Vertex and fragment shaders that read memory: storage buffers, and uniforms that are too long for selects.

use shader_compiler::Compiled;
use shader_compiler::interface::Stage;
use shader_interface::f16;
use v3d_sim::qpu::lanes::Lanes;

use crate::interpret::interpret;
use crate::machine::{Inputs, run, stage, text};

/// Computes `expression` of a flat integer `n` in a fragment shader, with a uniform `u` of type `ty`, and in a vertex shader; returns the value for each `n`.
fn results(declarations: &str, expression: &str, given: &Inputs) -> (Compiled, [f32; 16]) {
    let source = format!(
        "{declarations}
        struct Out {{ @builtin(position) p: vec4<f32>, @location(0) r: f32 }}
        @vertex fn vs_main(@location(0) n: i32) -> Out {{ return Out(vec4(0.0, 0.0, 0.0, 1.0), {expression}); }}
        @fragment fn fs_main(@location(0) @interpolate(flat, either) r: f32) -> @location(0) vec4<f32> {{
            let n = i32(r);
            return unpack4x8unorm(bitcast<u32>({expression}));
        }}"
    )
    .replace("@location(0) r: f32 }", "@location(0) @interpolate(flat, either) r: f32 }");
    let vertex = stage(&source, Stage::Vertex);
    let outputs = run(&vertex, given);
    assert_eq!(outputs, interpret(&vertex, given), "{}", text(&vertex));
    let fragment = stage(&source, Stage::Fragment);
    let floats =
        Inputs { streams: vec![Lanes::from_f32(given.streams[0].0.map(|n| n as i32 as f32))], ..given.clone() };
    let colors = run(&fragment, &floats);
    assert_eq!(colors, interpret(&fragment, &floats), "{}", text(&fragment));
    let found = outputs.words[3];
    assert_eq!(colors.color, found, "both stages compute the same\n{}", text(&fragment));
    (fragment, found.to_f32())
}

/// Indices, some of which are out of bounds at either end.
fn numbers() -> Lanes {
    Lanes([-70, -3, -1, 0, 1, 2, 3, 4, 7, 12, 15, 20, 29, 31, 40, 1000].map(|n: i32| n as u32))
}

fn given(fields: Vec<Vec<u32>>, buffers: Vec<Vec<u32>>) -> Inputs {
    Inputs { buffers, ..Inputs::new(vec![numbers()], fields) }
}

/// Words of distinct floats.
fn floats(count: u32, first: f32) -> Vec<u32> {
    (0..count).map(|at| (first + at as f32 * 0.25).to_bits()).collect()
}

/// An index, clamped to the array.
fn within(n: i32, count: i32) -> f32 {
    n.clamp(0, count - 1) as f32
}

fn expect(found: [f32; 16], of: impl Fn(i32) -> f32) {
    let expected = numbers().0.map(|n| of(n as i32));
    assert_eq!(found, expected);
    assert!(expected.iter().any(|value| *value != expected[0]));
}

#[test]
fn storage_buffers_are_read_by_vertices_and_fragments() {
    let declarations = "@group(0) @binding(0) var<storage, read> s: array<f32>;";
    let (program, found) = results(declarations, "s[n] + f32(arrayLength(&s))", &given(vec![], vec![floats(30, 1.0)]));
    expect(found, |n| 31.0 + 0.25 * within(n, 30));
    assert_eq!((program.interface.buffers.len(), program.interface.fields.len()), (1, 0));
}

#[test]
fn long_uniform_arrays_are_buffers() {
    let declarations = "struct U { scale: f32, table: array<vec4<f32>, 32>, short: array<vec4<f32>, 8> }
        @group(0) @binding(0) var<uniform> u: U;";
    let expression = "u.scale * u.table[n].z + u.table[3].x + u.short[n].y";
    let fields = vec![vec![2f32.to_bits()], floats(32, 100.0)];
    let (program, found) = results(declarations, expression, &given(fields, vec![floats(128, 1.0)]));
    // In an array that is indexed by selects, an out-of-bounds index yields the first element.
    let short = |n: i32| if (0..8).contains(&n) { n as f32 } else { 0.0 };
    expect(found, |n| 2.0 * (1.5 + within(n, 32)) + 4.0 + 100.25 + short(n));
    let interface = &program.interface;
    let names: Vec<&str> = interface.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!((names, interface.buffers[0].name.as_str()), (vec!["scale", "short"], "table"));
    assert_eq!((interface.buffers[0].fixed_bytes, interface.buffers[0].stride_bytes), (512, 0));
}

#[test]
fn long_arrays_with_known_indices_stay_fields() {
    let declarations = "@group(0) @binding(0) var<uniform> u: array<vec4<f32>, 32>;";
    let expression = "u[31].x + f32(n)";
    let (program, found) = results(declarations, expression, &given(vec![floats(128, 1.0)], vec![]));
    expect(found, |n| 32.0 + n as f32);
    assert_eq!((program.interface.buffers.len(), program.interface.fields.len()), (0, 1));
}

#[test]
fn structures_of_one_type_of_numbers_are_fields() {
    let declarations = "struct Light { place: vec3<f32>, strength: f32, turn: mat2x3<f32> }
        struct U { lights: array<Light, 3>, sun: Light }
        @group(0) @binding(0) var<uniform> u: U;";
    // The matrix, 10 numbers, is in row-major order.
    let fields = vec![floats(30, 1.0), floats(10, 50.0)];
    let expression = "u.lights[n].strength + u.lights[2].turn[1].x + u.sun.turn[0].z";
    let (_, found) = results(declarations, expression, &given(fields, vec![]));
    let chosen = |n: i32| if (0..3).contains(&n) { n as f32 } else { 0.0 };
    expect(found, |n| 1.75 + 2.5 * chosen(n) + (1.0 + 0.25 * 25.0) + (50.0 + 0.25 * 8.0));
}

#[test]
fn structures_of_several_types_of_numbers_are_buffers() {
    let declarations = "struct Item { kind: u32, size: f32 }
        struct U { items: array<Item, 40>, factor: f32 }
        @group(0) @binding(0) var<uniform> u: U;";
    let words: Vec<u32> = (0..40).flat_map(|at| [at * 2, (at as f32 + 0.5).to_bits(), 0, 0]).collect();
    let declarations = declarations.replace("{ kind: u32,", "{ @align(16) kind: u32,");
    let fields = vec![vec![4f32.to_bits()]];
    let expression = "u.factor * u.items[n].size + f32(u.items[n].kind)";
    let (program, found) = results(&declarations, expression, &given(fields, vec![words]));
    expect(found, |n| 4.0 * (within(n, 40) + 0.5) + 2.0 * within(n, 40));
    assert_eq!(program.interface.buffers[0].number, None);
}

#[test]
fn loops_read_memory() {
    let declarations = "@group(0) @binding(0) var<storage, read> s: array<f32>;
        fn sum(n: i32) -> f32 {
            var total = 0.0;
            for (var i = 0; i <= min(n, 500); i++) { total += s[i]; }
            return total;
        }";
    let (program, found) = results(declarations, "sum(n)", &given(vec![], vec![floats(50, 0.0)]));
    expect(found, |n| (0..=n.min(500)).map(|i| 0.25 * within(i, 50)).sum());
    assert!(program.ssa.to_string().contains("loop 0"), "{}", text(&program));
}

/// Words of 16-bit floats, the first of two in the lower half.
fn halves(numbers: &[f32]) -> Vec<u32> {
    let bits = |number: f32| u32::from(f16::from_f32(number).to_bits());
    numbers.chunks(2).map(|pair| bits(pair[0]) | bits(*pair.get(1).unwrap_or(&0.0)) << 16).collect()
}

#[test]
fn halves_are_read_from_memory() {
    let numbers: Vec<f32> = (0..30).map(|at| at as f32 * 0.25 - 3.0).collect();
    let declarations = "enable f16;\n@group(0) @binding(0) var<storage, read> s: array<f16, 30>;";
    let (program, found) = results(declarations, "f32(s[n] * 2.0h + s[5])", &given(vec![], vec![halves(&numbers)]));
    expect(found, |n| 2.0 * numbers[within(n, 30) as usize] + numbers[5]);
    assert_eq!(program.interface.buffers[0].number, None);

    let declarations = "enable f16;
        struct Item { a: f16, b: f16, c: f32, d: vec3<f16>, e: mat2x2<f16> }
        @group(0) @binding(0) var<storage, read> s: array<Item>;";
    let item = |at: u32| {
        let first = at as f32;
        [
            halves(&[first, first + 0.5]),
            vec![(first * 3.0).to_bits()],
            halves(&[first + 1.0, 2.0, 3.0, 0.0, 4.0, 5.0, first - 6.0, 7.0]),
        ]
        .concat()
    };
    let words: Vec<u32> = (0..20).flat_map(item).collect();
    // In these tests the length of a buffer is that of an array of single words.
    let expression =
        "f32(s[clamp(n, 0, 19)].b) + s[clamp(n, 0, 19)].c + f32(s[clamp(n, 0, 19)].d.x + s[clamp(n, 0, 19)].e[1].x)";
    let (_, found) = results(declarations, expression, &given(vec![], vec![words]));
    expect(found, |n| {
        let first = within(n, 20);
        first + 0.5 + 3.0 * first + (first + 1.0) + (first - 6.0)
    });
}

#[test]
fn halves_of_uniforms_are_floats_of_fields() {
    let declarations = "enable f16;
        struct U { scale: f16, offsets: vec2<f16> }
        @group(0) @binding(0) var<uniform> u: U;";
    let fields = vec![vec![0.5f32.to_bits()], vec![1f32.to_bits(), 3f32.to_bits()]];
    let (_, found) = results(declarations, "f32(u.scale * f16(n) + u.offsets.y)", &given(fields, vec![]));
    expect(found, |n| 0.5 * n as f32 + 3.0);
}

#[test]
fn halves_of_vertices_take_half_a_word() {
    let source = "enable f16;
        struct Out { @builtin(position) p: vec4<f32>, @location(0) r: f32, @location(1) h: vec3<f16> }
        @vertex fn vs_main(@location(0) a: vec3<f16>, @location(1) b: f32) -> Out {
            return Out(vec4(0.0, 0.0, 0.0, 1.0), f32(a.x) + b, a);
        }";
    let program = stage(source, Stage::Vertex);
    let words: Vec<(u32, u32)> =
        program.interface.attributes.iter().map(|attribute| (attribute.words(), attribute.components)).collect();
    assert_eq!(words, [(2, 3), (1, 1)]);
    let numbers = |of: fn(f32) -> [f32; 2]| Lanes(std::array::from_fn(|at| halves(&of(at as f32))[0]));
    let streams = vec![numbers(|n| [n, -n]), numbers(|n| [n * 0.5, 9.0]), Lanes::from_f32([0.25; 16])];
    let given = Inputs::new(streams, Vec::new());
    let outputs = run(&program, &given);
    assert_eq!(outputs, interpret(&program, &given), "{}", text(&program));
    let found: Vec<[f32; 16]> = outputs.words[3..].iter().map(|word| word.to_f32()).collect();
    let expected: [fn(f32) -> f32; 4] = [|n| n + 0.25, |n| n, |n| -n, |n| n * 0.5];
    for (found, expected) in found.into_iter().zip(expected) {
        // Negative zeros are converted to 0.
        assert_eq!(found, std::array::from_fn(|at| expected(at as f32) + 0.0));
    }
}

//! All operations on textures: executed in the model with a small texture, and compared with a sampler in plain Rust.

use shader_compiler::interface::Stage;
use v3d_sim::qpu::lanes::Lanes;

use crate::image::{Image, channel_of, depth_of};
use crate::machine::{Inputs, run, stage, text};

/// Positions inside the texture and beyond, none at the centre or edge of a texel of any level.
const S: [f32; 16] = [0.03, 0.17, 0.29, 0.41, 0.57, 0.66, 0.71, 0.93, 1.13, 1.27, -0.12, -0.31, 0.44, 0.83, 0.21, 0.37];
const T: [f32; 16] = [0.61, 0.07, 0.92, 0.33, 0.18, 0.27, 0.79, 0.53, 0.47, -0.22, 0.68, 0.14, 1.36, 0.04, 0.88, 0.59];
/// Another number for each position.
const U: [f32; 16] = [0.0, 0.25, 0.5, 1.0, 1.25, 1.75, 2.0, 2.5, 3.0, 3.5, -1.0, 0.75, 2.25, 0.9, 1.6, 4.0];

/// Executes a function body of position `p` and number `u` in a vertex shader; returns four floats.
fn sampled(image: &Image, ty: &str, body: &str) -> [[f32; 16]; 4] {
    let source = format!(
        "@group(0) @binding(0) var image: {ty};
        @group(0) @binding(1) var how: sampler;
        @group(0) @binding(2) var compares: sampler_comparison;
        struct Out {{ @builtin(position) position: vec4<f32>, @location(0) result: vec4<f32> }}
        fn looked(p: vec2<f32>, u: f32) -> vec4<f32> {{ {body} }}
        @vertex fn vs_main(@location(0) p: vec2<f32>, @location(1) u: f32) -> Out {{
            return Out(vec4(0.0, 0.0, 0.0, 1.0), looked(p, u));
        }}"
    );
    let program = stage(&source, Stage::Vertex);
    let mut given = Inputs::new([S, T, U].map(Lanes::from_f32).to_vec(), Vec::new());
    given.image = Some(image.clone());
    let words = run(&program, &given).words;
    std::array::from_fn(|component| words[3 + component].to_f32())
}

/// Executes the same in a fragment shader, where quads have levels of detail; returns the four bytes of the colour.
fn drawn(image: &Image, ty: &str, [s, t]: [[f32; 16]; 2], body: &str) -> [u32; 16] {
    let source = format!(
        "@group(0) @binding(0) var image: {ty};
        @group(0) @binding(1) var how: sampler;
        @fragment fn fs_main(@location(0) p: vec2<f32>) -> @location(0) vec4<f32> {{ {body} }}"
    );
    let program = stage(&source, Stage::Fragment);
    let mut given = Inputs::new([s, t].map(Lanes::from_f32).to_vec(), Vec::new());
    given.image = Some(image.clone());
    run(&program, &given).color.0
}

/// Compares with a formula of the index of the element and of the component.
fn expect(found: [[f32; 16]; 4], margin: f64, what: &str, expected: impl Fn(usize, usize) -> f64) {
    for (component, lanes) in found.iter().enumerate() {
        for (at, &found) in lanes.iter().enumerate() {
            let expected = expected(at, component);
            // NaN accepts any value.
            let near = expected.is_nan() || (f64::from(found) - expected).abs() <= margin;
            assert!(near, "{what}: component {component} of element {at} is {found}, not {expected}");
        }
    }
}

fn place(at: usize) -> [f32; 2] {
    [S[at], T[at]]
}

const COLORS: &str = "texture_2d<f32>";
const DEPTHS: &str = "texture_depth_2d";
/// Maximum error of the model's filtering, whose weights have 8 bits.
const BLENDED: f64 = 0.012;
const EXACT: f64 = 1e-6;

#[test]
fn loads_are_single_texels() {
    let image = Image::random(16, 8, 1);
    let body = "return textureLoad(image, vec2<i32>(floor(p * 8.0)), i32(u));";
    expect(sampled(&image, COLORS, body), EXACT, body, |at, component| {
        let level = (U[at] as i32).clamp(0, 4) as u32;
        let [x, y] = place(at).map(|p| (p * 8.0).floor() as i64);
        channel_of(image.texel(0, level, x, y), component)
    });
    let body = "return textureLoad(image, vec2<u32>(vec2(abs(p)) * 7.0), 1u);";
    expect(sampled(&image, COLORS, body), EXACT, body, |at, component| {
        let [x, y] = place(at).map(|p| (p.abs() * 7.0) as i64);
        channel_of(image.texel(0, 1, x, y), component)
    });
    let body = "return vec4(textureLoad(image, vec2<i32>(floor(p * 8.0)), 0));";
    expect(sampled(&image, DEPTHS, body), EXACT, body, |at, _| {
        let [x, y] = place(at).map(|p| (p * 8.0).floor() as i64);
        depth_of(image.texel(0, 0, x, y))
    });
}

#[test]
fn sizes_are_those_of_the_texture() {
    let image = Image::random(16, 8, 1);
    let body = "let d = vec2<f32>(textureDimensions(image, i32(u))); let e = vec2<f32>(textureDimensions(image, 2));
        return vec4(d, e.y, f32(textureNumLevels(image)) + f32(textureDimensions(image).x));";
    expect(sampled(&image, COLORS, body), 0.0, body, |at, component| {
        let level = (U[at] as i32).clamp(0, 4) as u32;
        f64::from([image.size(level)[0], image.size(level)[1], 2, 5 + 16][component])
    });
}

#[test]
fn samples_take_the_level_that_they_are_told() {
    let image = Image::random(16, 8, 1);
    let body = "return textureSampleLevel(image, how, p, u);";
    expect(sampled(&image, COLORS, body), BLENDED, body, |at, component| {
        image.trilinear(0, f64::from(U[at]), place(at), component)
    });
    let body = "return textureSampleLevel(image, how, p, 1.0, vec2(-1, 2));";
    expect(sampled(&image, COLORS, body), BLENDED, body, |at, component| {
        image.linear(0, 1, [S[at] - 1.0 / 8.0, T[at] + 2.0 / 4.0], component)
    });
    let body = "return textureSampleLevel(image, how, p, u, vec2(3, 0));";
    expect(sampled(&image, COLORS, body), BLENDED, body, |at, component| {
        let level = ((U[at].max(0.0) + 0.5) as u32).min(4);
        image.linear(0, level, [S[at] + 3.0 / image.size(level)[0] as f32, T[at]], component)
    });
    let body = "return vec4(textureSampleLevel(image, how, p, i32(u)));";
    expect(sampled(&image, DEPTHS, body), EXACT, body, |at, _| {
        let level = (U[at] as i32).clamp(0, 4) as u32;
        let size = image.size(level);
        let [x, y] = [0, 1].map(|axis| (place(at)[axis] * size[axis] as f32).floor() as i64);
        depth_of(image.texel(0, level, x, y))
    });
    let body = "return textureSampleBaseClampToEdge(image, how, p);";
    expect(sampled(&image, COLORS, body), BLENDED, body, |at, component| {
        let within = [S[at].clamp(0.5 / 16.0, 1.0 - 0.5 / 16.0), T[at].clamp(0.5 / 8.0, 1.0 - 0.5 / 8.0)];
        image.linear(0, 0, within, component)
    });
}

#[test]
fn gradients_choose_the_level() {
    let image = Image::random(16, 8, 1);
    let body = "return textureSampleGrad(image, how, p, vec2(u * 0.1, 0.02), vec2(0.03, u * 0.07));";
    expect(sampled(&image, COLORS, body), 2.0 * BLENDED, body, |at, component| {
        let u = f64::from(U[at]);
        let (x, y) = ((u * 1.6).hypot(0.16), 0.48f64.hypot(u * 0.56));
        image.trilinear(0, x.max(y).log2(), place(at), component)
    });
}

#[test]
fn gathers_are_the_four_texels_around() {
    let image = Image::random(16, 8, 1);
    const CORNERS: [[i64; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];
    for (channel, body) in
        [(0, "return textureGather(0, image, how, p);"), (2, "return textureGather(2, image, how, p);")]
    {
        expect(sampled(&image, COLORS, body), EXACT, body, |at, component| {
            let ([x, y], _) = image.footprint(0, place(at));
            let [right, up] = CORNERS[component];
            channel_of(image.texel(0, 0, x + right, y + up), channel)
        });
    }
    let body = "return textureGather(image, how, p, vec2(2, -1));";
    expect(sampled(&image, DEPTHS, body), EXACT, body, |at, component| {
        let ([x, y], _) = image.footprint(0, place(at));
        let [right, up] = CORNERS[component];
        depth_of(image.texel(0, 0, x + right + 2, y + up - 1))
    });
    let body = "return textureGatherCompare(image, compares, p, u * 0.25);";
    expect(sampled(&image, DEPTHS, body), 0.0, body, |at, component| {
        let ([x, y], _) = image.footprint(0, place(at));
        let [right, up] = CORNERS[component];
        let passes = f64::from(U[at]) * 0.25 <= depth_of(image.texel(0, 0, x + right, y + up));
        f64::from(u8::from(passes))
    });
}

#[test]
fn comparisons_are_blended() {
    let image = Image::random(16, 8, 1);
    let body = "return vec4(textureSampleCompareLevel(image, compares, p, u * 0.25));";
    expect(sampled(&image, DEPTHS, body), 1e-4, body, |at, _| {
        let ([x, y], [right, up]) = image.footprint(0, place(at));
        let passes = |x, y| f64::from(u8::from(f64::from(U[at]) * 0.25 <= depth_of(image.texel(0, 0, x, y))));
        let low = passes(x, y) * (1.0 - right) + passes(x + 1, y) * right;
        let high = passes(x, y + 1) * (1.0 - right) + passes(x + 1, y + 1) * right;
        low * (1.0 - up) + high * up
    });
}

#[test]
fn cube_maps_are_looked_up_by_direction() {
    let image = Image::random(8, 8, 6);
    // The face +y: s is x / y, t is z / y [AG p.44].
    let body = "return textureSampleLevel(image, how, vec3(p.x - 0.5, 2.0, p.y - 0.4), 0.0);";
    expect(sampled(&image, "texture_cube<f32>", body), BLENDED, body, |at, component| {
        let [x, z] = [(S[at] - 0.5) / 2.0, (T[at] - 0.4) / 2.0];
        image.linear(2, 0, [0.5 * (x + 1.0), 0.5 * (z + 1.0)], component)
    });
    let body =
        "return textureSampleGrad(image, how, vec3(p.x - 0.5, 2.0, p.y - 0.4), vec3(0.5 + u, u, 0.0), vec3(0.1));";
    expect(sampled(&image, "texture_cube<f32>", body), 2.0 * BLENDED, body, |at, component| {
        let [x, z] = [(S[at] - 0.5) / 2.0, (T[at] - 0.4) / 2.0].map(f64::from);
        let u = f64::from(U[at]);
        let change = |[dx, dy, dz]: [f64; 3]| (4.0 * (dx - x * dy) / 2.0).hypot(4.0 * (dz - z * dy) / 2.0);
        let detail = change([0.5 + u, u, 0.0]).max(change([0.1; 3])).log2();
        image.trilinear(2, detail, [(0.5 * (x + 1.0)) as f32, (0.5 * (z + 1.0)) as f32], component)
    });
}

/// Coordinates with given derivatives along x and y, in four quads.
fn quads(along_x: [f32; 2], along_y: [f32; 2]) -> [[f32; 16]; 2] {
    std::array::from_fn(|axis| {
        std::array::from_fn(|at| {
            let (right, down) = ((at & 1) as f32, (at >> 1 & 1) as f32);
            [0.11, 0.27][axis] + 0.23 * (at / 4) as f32 + right * along_x[axis] + down * along_y[axis]
        })
    })
}

#[test]
fn quads_choose_the_level() {
    let image = Image::random(16, 8, 1);
    let places = quads([0.11, 0.02], [-0.01, 0.09]);
    let detail = (0.11f64 * 16.0).hypot(0.02 * 8.0).max((0.01f64 * 16.0).hypot(0.09 * 8.0)).log2();
    let check = |body: &str, expected: &dyn Fn([f32; 2], usize) -> f64| {
        for (at, color) in drawn(&image, COLORS, places, body).into_iter().enumerate() {
            for component in 0..4 {
                let expected = expected([places[0][at], places[1][at]], component);
                let found = channel_of(color, component);
                assert!(
                    (found - expected).abs() <= 1.5 * BLENDED,
                    "{body}: {at}, {component}: {found}, not {expected}"
                );
            }
        }
    };
    check("return textureSample(image, how, p);", &|place, component| image.trilinear(0, detail, place, component));
    check("return textureSampleBias(image, how, p, 0.7);", &|place, component| {
        image.trilinear(0, detail + 0.7, place, component)
    });
    // With an offset, the nearest level is sampled, of 8 by 4 texels.
    check("return textureSample(image, how, p, vec2(1, -2));", &|[s, t], component| {
        image.linear(0, 1, [s + 1.0 / 8.0, t - 2.0 / 4.0], component)
    });
    check("return textureSampleBias(image, how, p, 1.0, vec2(1, -2));", &|[s, t], component| {
        image.linear(0, 2, [s + 1.0 / 4.0, t - 2.0 / 2.0], component)
    });
}

/// Derivatives are differences between the two columns or rows of a quad.
#[test]
fn derivatives_have_their_signs() {
    let source = "@fragment fn fs_main(@location(0) p: vec2<f32>) -> @location(0) vec4<f32> {
            return vec4(dpdx(p.x), dpdy(p.x), dpdx(p.y), dpdy(p.y)) * 0.5 + 0.5;
        }";
    let program = stage(source, Stage::Fragment);
    let places = quads([0.5, -0.25], [-0.75, 1.0]);
    let given = Inputs::new(places.map(Lanes::from_f32).to_vec(), Vec::new());
    for color in run(&program, &given).color.0 {
        for (component, expected) in [0.5, -0.75, -0.25, 1.0].into_iter().enumerate() {
            let found = 2.0 * channel_of(color, component) - 1.0;
            assert!((found - expected).abs() < 0.01, "{component}: {found}, not {expected}\n{}", text(&program));
        }
    }
}

/// Lookups in loops whose number of iterations is known at run time only, nested, with uniforms and constants in, between and after the loops. Each iteration
/// rereads its part of the stream.
#[test]
fn loops_of_any_length_can_have_lookups() {
    let image = Image::random(16, 8, 1);
    let source = "
        struct Counts { outer: i32, inner: i32, first: f32, factor: f32, last: f32 }
        @group(0) @binding(0) var<uniform> counts: Counts;
        @group(0) @binding(1) var image: texture_2d<f32>;
        @group(0) @binding(2) var how: sampler;
        struct Out { @builtin(position) position: vec4<f32>, @location(0) result: vec4<f32> }
        @vertex fn vs_main(@location(0) p: vec2<f32>, @location(1) u: f32) -> Out {
            var sum = counts.first;
            var turns = 0.0;
            for (var y = 0; y < counts.outer; y++) {
                sum += textureLoad(image, vec2(0, y), 0).y * counts.factor;
                for (var x = 0; x < counts.inner; x++) {
                    if (sum > u * 4.0) { break; }
                    sum += textureLoad(image, vec2(x, y), 0).x * 0.3125 + counts.factor * 0.0078125;
                    turns += 1.0;
                }
                sum += counts.last * 0.01171875;
            }
            let behind = textureSampleLevel(image, how, p, 0.0).z;
            return Out(vec4(0.0, 0.0, 0.0, 1.0), vec4(sum, turns, behind, counts.last));
        }";
    let program = stage(source, Stage::Vertex);
    for [outer, inner] in [[1, 1], [3, 5], [8, 16], [5, 1]] {
        let numbers = [0.125f32, 0.75, 0.5];
        let mut fields = vec![vec![outer as u32], vec![inner as u32]];
        fields.extend(numbers.map(|number| vec![number.to_bits()]));
        let mut given = Inputs::new([S, T, U].map(Lanes::from_f32).to_vec(), fields);
        given.image = Some(image.clone());
        let words = run(&program, &given).words;
        let found = std::array::from_fn(|component| words[3 + component].to_f32());
        let [first, factor, last] = numbers.map(f64::from);
        expect(found, BLENDED, &format!("{outer} by {inner}"), |at, component| {
            let (mut sum, mut turns) = (first, 0.0);
            for y in 0..outer {
                sum += channel_of(image.texel(0, 0, 0, y), 1) * factor;
                for x in 0..inner {
                    if sum > f64::from(U[at]) * 4.0 {
                        break;
                    }
                    sum += channel_of(image.texel(0, 0, x, y), 0) * 0.3125 + factor * 0.007_812_5;
                    turns += 1.0;
                }
                sum += last * 0.011_718_75;
            }
            [sum, turns, image.linear(0, 0, place(at), 2), last][component]
        });
    }
}

/// A loop of a fragment shader whose exit depends on texels; after it, the pipeline continues to read the stream.
#[test]
fn loops_that_texels_end_can_have_lookups() {
    let image = Image::random(16, 8, 1);
    // No byte times 2.9 / 255 is near an integer, and no sum of bytes near 2.5 * 255, so that rounding decides nothing.
    let body = "var sum = 0.0; var at = vec2<i32>(floor(p * 8.0)); var turns = 0;
        loop {
            let texel = textureLoad(image, at, 0);
            sum += texel.x;
            turns++;
            if (sum > 2.5) { break; }
            at.x += 1 + i32(texel.y * 2.9);
        }
        return vec4(sum * 0.25, f32(turns) / 51.0, textureLoad(image, at, 0).z, 0.0);";
    for (at, color) in drawn(&image, COLORS, [S, T], body).into_iter().enumerate() {
        let [mut x, y] = place(at).map(|p| (p * 8.0).floor() as i64);
        let (mut sum, mut turns) = (0.0, 0.0);
        let last = loop {
            let texel = image.texel(0, 0, x, y);
            sum += channel_of(texel, 0);
            turns += 1.0;
            if sum > 2.5 {
                break channel_of(texel, 2);
            }
            x += 1 + (channel_of(texel, 1) * 2.9) as i64;
        };
        for (component, expected) in [sum * 0.25, turns / 51.0, last, 0.0].into_iter().enumerate() {
            let found = channel_of(color, component);
            assert!((found - expected).abs() < 0.005, "element {at}, component {component}: {found}, not {expected}");
        }
    }
}

/// A loop that is unrolled, although it has many iterations and divergent exits.
#[test]
fn loops_whose_iterations_are_counted_can_have_lookups() {
    let image = Image::random(16, 8, 1);
    let bodies = [
        "var sum = 0.0; var i = 0;
        for (; i < 60; i++) {
            if (sum > u * 3.0) { break; }
            if ((i & 3) == 2) { continue; }
            sum += textureLoad(image, vec2(i, 3), 0).x;
        }
        return vec4(sum, f32(i), 0.0, 0.0);",
        "var sum = 0.0;
        for (var i = 0; i < 60; i++) {
            if (sum > u * 3.0) { return vec4(sum, f32(i), 0.0, 0.0); }
            if ((i & 3) != 2) { sum += textureLoad(image, vec2(i, 3), 0).x; }
        }
        return vec4(sum, 60.0, 0.0, 0.0);",
        "var sum = 0.0; var i = 0;
        loop {
            if (i == 60) { break; }
            if (sum > u * 3.0) { break; }
            if ((i & 3) != 2) { sum += textureLoad(image, vec2(i, 3), 0).x; }
            continuing { i++; break if i > 200 || u > 1e9; }
        }
        return vec4(sum, f32(i), 0.0, 0.0);",
    ];
    for body in bodies {
        expect(sampled(&image, COLORS, body), 1e-4, body, |at, component| {
            let (mut sum, mut turn) = (0.0, 0);
            while turn < 60 && sum <= f64::from(U[at]) * 3.0 {
                sum += if turn & 3 == 2 { 0.0 } else { channel_of(image.texel(0, 0, turn, 3), 0) };
                turn += 1;
            }
            [sum, turn as f64, 0.0, 0.0][component]
        });
    }
}

/// Faces of a cube map by OpenGL 2.0, table 3.21: s, t and the largest component in terms of x, y and z, each as an axis and a sign.
const FACES: [[(usize, f64); 3]; 6] = [
    [(2, -1.0), (1, -1.0), (0, 1.0)],
    [(2, 1.0), (1, -1.0), (0, -1.0)],
    [(0, 1.0), (2, 1.0), (1, 1.0)],
    [(0, 1.0), (2, -1.0), (1, -1.0)],
    [(0, 1.0), (1, -1.0), (2, 1.0)],
    [(0, -1.0), (1, -1.0), (2, -1.0)],
];

/// The face that a direction points to, and the position there, from 0 to 1.
fn on_face(direction: [f64; 3]) -> (usize, [f64; 2]) {
    let along = |face: &[(usize, f64); 3]| direction[face[2].0] * face[2].1;
    let face = (0..6).max_by(|&a, &b| along(&FACES[a]).total_cmp(&along(&FACES[b]))).unwrap();
    let [s, t, largest] = FACES[face].map(|(axis, sign)| direction[axis] * sign);
    (face, [s, t].map(|at| 0.5 * (at / largest + 1.0)))
}

/// The four texels around a direction, counterclockwise from the lower left; none where three faces meet.
fn around(image: &Image, direction: [f64; 3]) -> [Option<u32>; 4] {
    let (face, place) = on_face(direction);
    let size = f64::from(image.size(0)[0]);
    [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)].map(|(right, up)| {
        let first = place.map(|at| (at * size - 0.5).floor());
        let centre = [first[0] + right, first[1] + up].map(|at| 2.0 * (at + 0.5) / size - 1.0);
        if centre.iter().all(|at| at.abs() > 1.0) {
            return None;
        }
        let mut towards = [0.0; 3];
        for ((axis, sign), along) in FACES[face].into_iter().zip([centre[0], centre[1], 1.0]) {
            towards[axis] = sign * along;
        }
        let (face, place) = on_face(towards);
        let [x, y] = place.map(|at| (at * size).floor() as i64);
        Some(image.texel(face, 0, x, y))
    })
}

#[test]
fn cube_maps_give_the_four_texels_around_a_direction() {
    let image = Image::random(8, 8, 6);
    for (face, [across, up, _]) in FACES.iter().enumerate() {
        // Including positions beyond the edges of the face.
        let direction = |at: usize| {
            let mut direction = [0.0; 3];
            for ((axis, sign), along) in FACES[face].into_iter().zip([1.6 * S[at] - 0.8, 1.6 * T[at] - 0.8, 1.0]) {
                direction[axis] = sign * f64::from(along);
            }
            direction
        };
        let mut axes = ["1.0", "1.0", "1.0"].map(str::to_owned);
        axes[FACES[face][2].0] = format!("{:?}", FACES[face][2].1);
        axes[across.0] = format!("{:?} * (1.6 * p.x - 0.8)", across.1);
        axes[up.0] = format!("{:?} * (1.6 * p.y - 0.8)", up.1);
        let direction_text = axes.join(", ");
        let body = format!("return textureGather(1, image, how, vec3({direction_text}));");
        let mut seen = 0;
        expect(sampled(&image, "texture_cube<f32>", &body), EXACT, &body, |at, component| {
            let texel = around(&image, direction(at))[component];
            texel.map_or(f64::NAN, |texel| channel_of(texel, 1))
        });
        let body = format!("return vec4(textureSampleCompareLevel(image, compares, vec3({direction_text}), 0.5));");
        let found = sampled(&image, "texture_depth_cube", &body)[0];
        for (at, found) in found.into_iter().enumerate() {
            let texels = around(&image, direction(at));
            let [Some(low_left), Some(low_right), Some(high_right), Some(high_left)] = texels else { continue };
            let passes = |texel: u32| f64::from(u8::from(depth_of(texel) >= 0.5));
            let (_, place) = on_face(direction(at));
            let [x, y] = place.map(|at| (at * 8.0 - 0.5) - (at * 8.0 - 0.5).floor());
            // Rows of the texture are upwards: the lower row of a gather is the second one.
            let low = passes(low_left) * (1.0 - x) + passes(low_right) * x;
            let high = passes(high_left) * (1.0 - x) + passes(high_right) * x;
            let expected = high * (1.0 - y) + low * y;
            assert!((f64::from(found) - expected).abs() < 1e-4, "face {face}, element {at}: {found}, not {expected}");
            seen += 1;
        }
        assert!(seen > 8, "{seen} of face {face}");
    }
}

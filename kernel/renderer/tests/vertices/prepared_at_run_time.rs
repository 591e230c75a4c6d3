//! Prepared draws of pipelines from WGSL.
//!
//! They draw the same pictures as other draws of these pipelines, in targets of any size, and their errors name the uniform.

use renderer::glam::{Mat4, Vec3};
use renderer::pipeline::state::State;
use renderer::texture::TextureType;
use renderer::wgsl::{Error, Shader, Uniforms};
use renderer::{
    Depth, Device, Indices, Mesh, Primitive, Sampler, Texture, TextureDescriptor, rows, untyped::UntypedVertex,
};

use crate::scene::{CLEAR, Model, Picture, Random, device, model};

/// Positions and colours, in a program whose coordinate shader reads the same words as its vertex shader, and a tint for the fragments.
const COLORED: &str = "
    struct Transform { matrix: mat4x4<f32> }
    @group(0) @binding(0) var<uniform> transform: Transform;
    struct Look { tint: vec3<f32> }
    @group(0) @binding(1) var<uniform> look: Look;
    struct Shaded { @builtin(position) at: vec4<f32>, @location(0) shade: vec3<f32> }
    @vertex fn vs_main(@location(0) place: vec3<f32>) -> Shaded {
        return Shaded(transform.matrix * vec4(place, 1.0), 0.5 + 0.5 * place);
    }
    @fragment fn fs_main(shaded: Shaded) -> @location(0) vec4<f32> { return vec4(look.tint * shaded.shade, 1.0); }";

/// Vertices are moved by texels, of which there are as many as a uniform says: a loop with lookups, which rereads its uniforms from where they are. The
/// fragment shader looks another texture up.
const MOVED: &str = "
    struct Transform { matrix: mat4x4<f32>, count: i32, brightness: vec2<f32> }
    @group(0) @binding(0) var<uniform> transform: Transform;
    @group(0) @binding(1) var heights: texture_2d<f32>;
    @group(0) @binding(2) var image: texture_2d<f32>;
    @group(0) @binding(3) var nearest: sampler;
    struct Shaded { @builtin(position) at: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) light: f32 }
    @vertex fn vs_main(@location(0) place: vec3<f32>) -> Shaded {
        var height = 0.0;
        for (var n = 0; n < transform.count; n++) { height += textureLoad(heights, vec2(n, 0), 0).x; }
        let light = transform.brightness.x + transform.brightness.y * height;
        return Shaded(transform.matrix * vec4(place + vec3(0.0, 0.2 * height, 0.0), 1.0), place.xy, light);
    }
    @fragment fn fs_main(shaded: Shaded) -> @location(0) vec4<f32> {
        return vec4(shaded.light * textureSample(image, nearest, shaded.uv).xyz, 1.0);
    }";

fn shader(source: &str) -> Shader {
    Shader::compile("test.wgsl", source).unwrap()
}

/// A tetrahedron.
fn mesh(shader: &Shader, device: &Device<'_, Model>) -> Mesh<UntypedVertex> {
    let places = [-1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 0.0, 1.0, -0.5, 0.0, 0.0, 1.0f32];
    let indices = Indices::U16(&[0, 1, 2, 0, 1, 3, 1, 2, 3, 2, 0, 3]);
    shader.mesh(device, "body", Primitive::Triangles, &[("place", (&places).into())], Some(indices)).unwrap()
}

fn texture(device: &Device<'_, Model>, label: &'static str, size: u32) -> Texture {
    let pixels: Vec<u8> = (0..4 * size * size).map(|n| (37 * n + 11 * (n / 7)) as u8).collect();
    Texture::from_pixels(device, &TextureDescriptor::new(label, TextureType::Rgba8888, size, size), &pixels).unwrap()
}

/// A matrix at a random place.
fn matrix(random: &mut Random) -> [f32; 16] {
    let mut unit = || random.bits() as f32 / (1 << 24) as f32;
    let place = Vec3::new(1.6 * unit() - 0.8, 1.6 * unit() - 0.8, unit() - 0.5);
    rows(&(Mat4::from_translation(place) * Mat4::from_rotation_z(6.0 * unit()) * Mat4::from_scale(Vec3::splat(0.3))))
}

const DEEP: State = State { depth: Depth::LESS, ..State::PLAIN };

#[test]
fn they_draw_what_other_draws_do() {
    let model = model();
    let device = device(&model);
    let shader = shader(COLORED);
    let pipeline = shader.pipeline(&device, "coloured", &DEEP).unwrap();
    let mesh = mesh(&shader, &device);
    let tinted = |tint: [f32; 3]| -> Uniforms {
        let mut uniforms = shader.uniforms();
        uniforms.set("tint", tint).unwrap();
        uniforms
    };
    let tints = [[1.0, 0.7, 0.2], [0.2, 0.6, 1.0]];
    let name = shader.uniform::<[f32; 16]>("matrix").unwrap();
    // The matrix at the time of preparing does not matter, once it is set.
    let mut prepared = tints.map(|tint| pipeline.prepare(&device, &mesh, &tinted(tint)).unwrap());
    // The viewport's words change with the size of the target, for draws that were drawn before, and back again.
    for (seed, size) in [(1, (100, 100)), (2, (64, 160)), (3, (100, 100))] {
        let mut random = Random::new(seed);
        let expected = Picture::draw(&model, &device, size, |pass| {
            for n in 0..30 {
                let mut uniforms = tinted(tints[n / 3 % 2]);
                uniforms.set("matrix", matrix(&mut random)).unwrap();
                pipeline.draw(pass, &mesh, &uniforms).unwrap();
            }
        });
        let drawn = (0..size.0 * size.1).filter(|at| expected.pixel(at % size.0, at / size.0) != CLEAR).count();
        assert!(drawn > 1000, "only {drawn} pixels are drawn");
        let mut random = Random::new(seed);
        let found = Picture::draw(&model, &device, size, |pass| {
            for n in 0..30 {
                let draw = &mut prepared[n / 3 % 2];
                draw.set(&name, &matrix(&mut random)).unwrap();
                draw.draw(pass).unwrap();
            }
        });
        assert!(found == expected, "seed {seed}");
    }
}

#[test]
fn textures_and_loops_of_vertex_shaders_are_prepared_and_nothing_else_is_needed() {
    let model = model();
    let device = device(&model);
    let shader = shader(MOVED);
    let all = |heights: &Texture, image: &Texture| -> Uniforms {
        let mut uniforms = shader.uniforms();
        uniforms.set("matrix", matrix(&mut Random::new(9))).unwrap();
        uniforms.set("count", 1i32).unwrap();
        uniforms.set("brightness", [0.5, 0.5]).unwrap();
        uniforms.set_texture("heights", heights.bind(&Sampler::NEAREST).unwrap()).unwrap();
        uniforms.set_texture("image", image.bind(&Sampler::NEAREST).unwrap()).unwrap();
        uniforms
    };
    let count = shader.uniform::<i32>("count").unwrap();
    let brightness = shader.uniform::<[f32; 2]>("brightness").unwrap();
    let pipeline = shader.pipeline(&device, "moved", &DEEP).unwrap();
    let draw = {
        let (heights, image) = (texture(&device, "heights", 8), texture(&device, "image", 16));
        let pipeline = pipeline.clone();
        pipeline.prepare(&device, &mesh(&shader, &device), &all(&heights, &image)).unwrap()
    };
    let (heights, image) = (texture(&device, "heights", 8), texture(&device, "image", 16));
    let mesh = mesh(&shader, &device);
    let mut pictures = Vec::new();
    for (number, light) in [(1, [0.5, 0.5]), (4, [0.9, 0.1]), (8, [0.2, 0.3])] {
        let expected = Picture::draw(&model, &device, (90, 90), |pass| {
            let mut uniforms = all(&heights, &image);
            uniforms.set("count", number).unwrap();
            uniforms.set("brightness", light).unwrap();
            pipeline.draw(pass, &mesh, &uniforms).unwrap();
        });
        // A clone has uniforms of its own.
        let mut draw = draw.clone();
        draw.set(&count, &number).unwrap();
        draw.set(&brightness, &light).unwrap();
        let found = Picture::draw(&model, &device, (90, 90), |pass| draw.draw(pass).unwrap());
        assert!(found == expected, "{number} texels");
        assert!(!pictures.contains(&found), "{number} texels draw what fewer do");
        pictures.push(found);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_name() {
    let model = model();
    let device = device(&model);
    let [shader, other] = [(); 2].map(|()| shader(COLORED));
    let check = |error: Error, expected: &str| assert_eq!(error.to_string(), expected);
    check(
        shader.uniform::<[f32; 16]>("place").unwrap_err(),
        "test.wgsl: there is no uniform `place`; there are `matrix` (16 of f32), `tint` (3 of f32)",
    );
    check(
        shader.uniform::<[f32; 12]>("matrix").unwrap_err(),
        "test.wgsl: `matrix` is 16 of f32, and was given 12 of f32",
    );
    check(
        shader.uniform::<[u32; 16]>("matrix").unwrap_err(),
        "test.wgsl: `matrix` is 16 of f32, and was given 16 of u32",
    );
    check(
        shader.uniform::<[f32; 3]>("tint").unwrap_err(),
        "test.wgsl: the fragment shader reads `tint`, too, which is therefore fixed when a draw is prepared",
    );
    let pipeline = shader.pipeline(&device, "coloured", &State::PLAIN).unwrap();
    let mesh = mesh(&shader, &device);
    check(
        pipeline.prepare(&device, &mesh, &other.uniforms()).unwrap_err(),
        "a pipeline of test.wgsl cannot draw with uniforms of test.wgsl, or of an earlier compilation",
    );
    let mut draw = pipeline.prepare(&device, &mesh, &shader.uniforms()).unwrap();
    let of_other = other.uniform::<[f32; 16]>("matrix").unwrap();
    check(
        draw.set(&of_other, &[0.0; 16]).unwrap_err(),
        "a pipeline of test.wgsl cannot draw with uniforms of test.wgsl, or of an earlier compilation",
    );
    let name = shader.uniform::<[f32; 16]>("matrix").unwrap();
    let mut wrong = [0.5; 16];
    wrong[7] = f32::NAN;
    let refused = draw.set(&name, &wrong);
    assert!(
        matches!(refused, Err(Error::Renderer(renderer::Error::NotANumber { label: "coloured", .. }))),
        "{refused:?}"
    );
    let mut uniforms = shader.uniforms();
    uniforms.set("matrix", wrong).unwrap();
    let refused = pipeline.prepare(&device, &mesh, &uniforms).map(drop);
    assert!(
        matches!(refused, Err(Error::Renderer(renderer::Error::NotANumber { label: "coloured", .. }))),
        "{refused:?}"
    );
    let (heights, image) = (texture(&device, "heights", 8), texture(&device, "image", 16));
    let moved = self::shader(MOVED);
    let pipeline = moved.pipeline(&device, "moved", &State::PLAIN).unwrap();
    let mesh = self::mesh(&moved, &device);
    let mut uniforms = moved.uniforms();
    uniforms.set_texture("image", image.bind(&Sampler::NEAREST).unwrap()).unwrap();
    check(pipeline.prepare(&device, &mesh, &uniforms).unwrap_err(), "test.wgsl: the texture `heights` was not set");
    uniforms.set_texture("heights", heights.bind(&Sampler::NEAREST).unwrap()).unwrap();
    let other_model = self::model();
    let other_device = self::device(&other_model);
    let refused = pipeline.prepare(&other_device, &mesh, &uniforms).map(drop);
    assert_eq!(refused, Err(Error::Renderer(renderer::Error::ForeignDevice { label: "moved" })));
    // A texture that only the vertex shader reads, of another device.
    let foreign = texture(&other_device, "foreign", 8);
    uniforms.set_texture("heights", foreign.bind(&Sampler::NEAREST).unwrap()).unwrap();
    let refused = pipeline.prepare(&device, &mesh, &uniforms).map(drop);
    assert_eq!(refused, Err(Error::Renderer(renderer::Error::ForeignDevice { label: "moved" })));
}

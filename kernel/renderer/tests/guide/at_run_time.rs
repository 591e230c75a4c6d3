//! Shaders that are compiled at run time draw the same pictures as those compiled by a build script.

use guide_shaders::planet;
use renderer::pipeline::state::State;
use renderer::texture::TextureType;
use renderer::wgsl::{Error, Shader, Values};
use renderer::{PassDescriptor, Primitive, Sampler, Texture, TextureDescriptor};
use v3d_host::{Config, Model, Picture};

use crate::steps::{self, shader_at_run_time as example};

fn source() -> String {
    std::fs::read_to_string(example::SOURCE).unwrap()
}

#[test]
fn programs_are_those_of_the_build_script() {
    let shader = Shader::compile("planet.wgsl", &source()).unwrap();
    let [coordinate, vertex, fragment] = shader.programs();
    assert_eq!(coordinate.words, planet::SHADING.coordinate());
    assert_eq!(vertex.words, planet::SHADING.vertex());
    assert_eq!(fragment.words, planet::FRAGMENT.code());
}

#[test]
fn the_picture_is_that_of_step_11() {
    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let screen = v3d_host::screen(&device, example::SIZE_PX).unwrap();
    example::draw(&device, &screen, "planet.wgsl", &source()).unwrap();
    assert_eq!(model.take_faults(), []);
    assert!(Picture::of_target(&device, &screen).unwrap() == *steps::picture(11), "the pictures differ");
}

/// A loop with a texture lookup whose number of iterations is a uniform: the program resets its uniform pointer in each iteration, to the address where the
/// draw has placed the uniforms.
#[test]
fn a_loop_of_any_length_looks_a_texture_up() {
    let source = "
        @group(0) @binding(0) var<uniform> count: i32;
        @group(0) @binding(1) var image: texture_2d<f32>;
        @vertex fn vs_main(@location(0) place: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(place, 0.0, 1.0); }
        @fragment fn fs_main() -> @location(0) vec4<f32> {
            var sum = vec4(0.0);
            for (var x = 0; x < count; x++) { sum += textureLoad(image, vec2(x, 0), 0); }
            return sum;
        }";
    let texel = |x: u32| [3 * x, 5 * x + 1, 20 - x, 7].map(|channel| channel as u8);
    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let screen = v3d_host::screen(&device, example::SIZE_PX).unwrap();
    let descriptor = TextureDescriptor::new("row", TextureType::Rgba8888, 16, 1);
    let texels: Vec<u8> = (0..16).flat_map(texel).collect();
    let texture = Texture::from_pixels(&device, &descriptor, &texels).unwrap();
    let shader = Shader::compile("sums", source).unwrap();
    let pipeline = shader.pipeline(&device, "sums", &State::PLAIN).unwrap();
    let places = [-1.0, -1.0, 3.0, -1.0, -1.0, 3.0];
    let mesh = shader.mesh(&device, "all", Primitive::Triangles, &[("place", (&places).into())], None).unwrap();
    for count in [1u32, 4, 9] {
        let mut uniforms = shader.uniforms();
        uniforms.set("count", count as i32).unwrap();
        uniforms.set_texture("image", texture.bind(&Sampler::NEAREST).unwrap()).unwrap();
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&screen)).unwrap();
        pipeline.draw(&mut pass, &mesh, &uniforms).unwrap();
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        assert_eq!(model.take_faults(), []);
        let found = Picture::of_target(&device, &screen).unwrap().pixel(5, 9);
        for (channel, found) in found.into_iter().enumerate() {
            let expected: u32 = (0..count).map(|x| u32::from(texel(x)[channel])).sum();
            assert!(expected.abs_diff(found.into()) <= 1, "{count} texels, channel {channel}: {found}, not {expected}");
        }
    }
}

/// Checks the error of a call.
fn check<T: std::fmt::Debug>(result: Result<T, Error>, expected: &str) {
    assert_eq!(result.unwrap_err().to_string(), expected);
}

#[test]
fn what_does_not_fit_is_refused_with_what_there_is() {
    let shader = Shader::compile("planet", &source()).unwrap();
    let mut uniforms = shader.uniforms();
    let all = "`matrix` (16 of f32), `eye` (3 of f32), `to_sun` (3 of f32), `air` (3 of f32)";
    check(uniforms.set("sun", [0.0; 3]), &format!("planet: there is no uniform `sun`; there are {all}"));
    check(uniforms.set("eye", [0.0; 4]), "planet: `eye` is 3 of f32, and was given 4 of f32");
    check(uniforms.set("eye", [0u32; 3]), "planet: `eye` is 3 of f32, and was given 3 of u32");
    check(uniforms.set("eye", 1.0), "planet: `eye` is 3 of f32, and was given 1 of f32");
    uniforms.set("eye", [0.0, 1.0, 2.0]).unwrap();

    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let mesh = |attributes: &[(&str, Values<'_>)]| {
        shader.mesh(&device, "mesh", Primitive::Triangles, attributes, None).map(|_| ())
    };
    let (nine, eight, whole) = ([0.0; 9], [0.0; 8], [0i32; 9]);
    assert!(mesh(&[("place", (&nine).into())]).is_ok());
    check(mesh(&[]), "planet: the attribute `place` was not set");
    let per_vertex = "planet: `place` is 3 of f32 for each vertex, and was given";
    check(mesh(&[("place", (&eight).into())]), &format!("{per_vertex} 8 of f32"));
    check(mesh(&[("place", (&whole).into())]), &format!("{per_vertex} 9 of i32"));
    let unknown = mesh(&[("place", (&nine).into()), ("normal", (&nine).into())]);
    check(unknown, "planet: there is no attribute `normal`; there are `place` (3 of f32)");
}

#[test]
fn uniforms_of_another_compilation_are_refused_and_mistakes_have_a_place() {
    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let screen = v3d_host::screen(&device, example::SIZE_PX).unwrap();
    let [one, other] = [(); 2].map(|()| Shader::compile("planet", &source()).unwrap());
    let pipeline = one.pipeline(&device, "planet", &State::PLAIN).unwrap();
    let places = [0.0; 9];
    let mesh = one.mesh(&device, "mesh", Primitive::Triangles, &[("place", (&places).into())], None).unwrap();
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&renderer::PassDescriptor::to(&screen)).unwrap();
    let refused = pipeline.draw(&mut pass, &mesh, &other.uniforms());
    check(refused, "a pipeline of planet cannot draw with uniforms of planet, or of an earlier compilation");

    let textured = "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var linear: sampler;
        @vertex fn vs_main(@location(0) place: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(place, 0.0, 1.0); }
        @fragment fn fs_main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
            return textureSample(image, linear, at.xy / 100.0);
        }";
    let shader = Shader::compile("textured", textured).unwrap();
    let pipeline = shader.pipeline(&device, "textured", &State::PLAIN).unwrap();
    let places = [0.0; 6];
    let mesh = shader.mesh(&device, "mesh", Primitive::Triangles, &[("place", (&places).into())], None).unwrap();
    check(pipeline.draw(&mut pass, &mesh, &shader.uniforms()), "textured: the texture `image` was not set");

    let Err(Error::Source(error)) = Shader::compile("planet", &source().replace("CLOUD, band", "CLOUT, band")) else {
        panic!("a name that is not declared")
    };
    assert_eq!(error.line_and_column(&source()), Some((37, 26)));
    let fragment = "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(1.0); }";
    check(Shader::compile("half", fragment), "half: there is no vertex shader");
}

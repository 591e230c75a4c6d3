//! A shader that is compiled at run time.
//!
//! The planet of step 11 without a build script: the source is read and compiled when the program starts, and uniforms are set by name. `-- FILE.wgsl`
//! compiles another source; an error in it is printed with its place. The compiled programs are the same, word for word, and so is the picture.

use core::f32::consts::{FRAC_PI_4, PI, TAU};

use renderer::{
    Cull, Device, Indices, PassDescriptor, Primitive, Target,
    glam::{
        Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    pipeline::state::State,
    rows, unorm,
    wgsl::{Error, Shader},
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 360];
/// The source, if the command line does not name another one.
pub const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/guide/shaders/shaders/planet.wgsl");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Arguments that begin with `--` are options of `v3d_host`.
    let path = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).unwrap_or(SOURCE.to_owned());
    let source = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    if let Err(error) = draw(&device, &screen, &path, &source) {
        eprintln!("{error}");
        std::process::exit(1);
    }
    v3d_host::show(&model, &device, &screen, "12_shader_at_run_time")?;
    Ok(())
}

/// Draws a sphere with a shader.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target, name: &str, source: &str) -> Result<(), Error> {
    let shader = Shader::compile(name, source)?;
    let pipeline = shader.pipeline(device, "planet", &State { cull: Cull::Back, ..State::PLAIN })?;
    let (places, indices) = sphere();
    let attributes = [("place", (&places).into())];
    let sphere = shader.mesh(device, "sphere", Primitive::Triangles, &attributes, Some(Indices::U16(&indices)))?;

    let eye = Vec3::new(0.0, 0.7, 3.25);
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(eye, Vec3::ZERO, Vec3::Y);
    let mut uniforms = shader.uniforms();
    uniforms.set("matrix", rows(&camera))?;
    uniforms.set("eye", eye.to_array())?;
    uniforms.set("to_sun", [-0.75, 0.35, 0.561_249])?;
    uniforms.set("air", [0.4, 0.54, 0.9])?;

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm([4, 5, 12, 255])))?;
    pipeline.draw(&mut pass, &sphere, &uniforms)?;
    let fence = frame.submit()?;
    Ok(device.wait(fence)?)
}

/// A sphere of radius 1: three coordinates for each vertex, along circles of latitude from the north pole on; and the indices of its triangles.
fn sphere() -> (Vec<f32>, Vec<u16>) {
    const ROUND: u16 = 96;
    const DOWN: u16 = 48;
    let corner = |n: u16| {
        let Vec2 { x: height, y: radius } = Vec2::from_angle(PI * f32::from(n / (ROUND + 1)) / f32::from(DOWN));
        let Vec2 { x, y: z } = radius * Vec2::from_angle(TAU * f32::from(n % (ROUND + 1)) / f32::from(ROUND));
        [x, height, -z]
    };
    let quad = |n: u16| {
        let (upper, lower) = (n / ROUND * (ROUND + 1) + n % ROUND, (n / ROUND + 1) * (ROUND + 1) + n % ROUND);
        [upper, lower, lower + 1, upper, lower + 1, upper + 1]
    };
    ((0..(ROUND + 1) * (DOWN + 1)).flat_map(corner).collect(), (0..ROUND * DOWN).flat_map(quad).collect())
}

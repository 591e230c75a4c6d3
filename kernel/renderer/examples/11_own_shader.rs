//! Step 11: your own shader, in WGSL.
//!
//! The crate `guide-shaders` has the structure of every crate of shaders: sources in WGSL, and a build script of one line that compiles them. The generated
//! module has the types of vertices and uniforms: each member of a structure in the shader is a field, and a missing field or another type does not compile.

use core::f32::consts::{FRAC_PI_4, PI, TAU};

use guide_shaders::planet::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex};
use renderer::{
    Cull, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target,
    glam::{
        Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows, unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 360];
/// The background: red, green, blue, alpha.
pub const SPACE: [u8; 4] = [4, 5, 12, 255];
/// Position of the camera, in radii of the planet; it looks at the origin.
pub const EYE: Vec3 = Vec3::new(0.0, 0.7, 3.25);
/// Direction to the sun, of length 1.
pub const TO_SUN: Vec3 = Vec3::new(-0.75, 0.35, 0.561_249);
/// The colour of the atmosphere at the rim.
pub const AIR: Vec3 = Vec3::new(0.4, 0.54, 0.9);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "11_own_shader")?;
    Ok(())
}

/// A sphere of radius 1: circles of latitude, from the north pole on.
fn sphere<P: Platform>(device: &Device<'_, P>) -> Result<Mesh<Vertex>, Error> {
    const ROUND: u16 = 96;
    const DOWN: u16 = 48;
    let corner = |n: u16| {
        let Vec2 { x: height, y: radius } = Vec2::from_angle(PI * f32::from(n / (ROUND + 1)) / f32::from(DOWN));
        let Vec2 { x, y: z } = radius * Vec2::from_angle(TAU * f32::from(n % (ROUND + 1)) / f32::from(ROUND));
        Vertex { place: [x, height, -z] }
    };
    let corners: Vec<Vertex> = (0..(ROUND + 1) * (DOWN + 1)).map(corner).collect();
    let quad = |n: u16| {
        let (upper, lower) = (n / ROUND * (ROUND + 1) + n % ROUND, (n / ROUND + 1) * (ROUND + 1) + n % ROUND);
        [upper, lower, lower + 1, upper, lower + 1, upper + 1]
    };
    let indices: Vec<u16> = (0..ROUND * DOWN).flat_map(quad).collect();
    Mesh::indexed(device, "sphere", Primitive::Triangles, &corners, &indices)
}

/// Draws the planet.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let sphere = sphere(device)?;
    let shading = PipelineDescriptor::new("planet", &SHADING, &FRAGMENT);
    let pipeline = Pipeline::new(device, &PipelineDescriptor { cull: Cull::Back, ..shading })?;
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(EYE, Vec3::ZERO, Vec3::Y);
    let uniforms = Uniforms { matrix: rows(&camera), eye: EYE.to_array() };
    let sky = FragmentUniforms { to_sun: TO_SUN.to_array(), air: AIR.to_array() };

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(SPACE)))?;
    pass.draw(&pipeline, &sphere, &uniforms, &sky)?;
    let fence = frame.submit()?;
    device.wait(fence)
}

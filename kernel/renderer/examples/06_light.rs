//! Step 6: light.
//!
//! The brightness of a diffuse surface is the cosine between its normal and the direction to the light. The vertex shader computes it for each vertex, and
//! the hardware interpolates. Surfaces that face away have ambient light only. The normals are half floats, which the vertex shader unpacks; models from glTF
//! files have the same vertices.

use core::f32::consts::{FRAC_PI_4, PI, TAU};

use qpu_shaders::{
    f16,
    model::{SHADING, Uniforms, Vertex},
    model_colored::{FRAGMENT, FragmentUniforms},
};
use renderer::{
    Cull, Depth, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target,
    glam::{
        Mat3, Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows, unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 360];
/// The background: red, green, blue, alpha.
pub const SPACE: [u8; 4] = [8, 9, 18, 255];
/// Position of the camera, which looks at the origin.
pub const EYE: Vec3 = Vec3::new(0.0, 0.6, 6.0);
/// Direction to the light; its length is the brightness.
pub const TO_LIGHT: Vec3 = Vec3::new(-0.55, 0.45, 0.6);
/// Ambient light, from all directions.
pub const AMBIENT: f32 = 0.08;
/// Centre, radius and colour.
pub const BALLS: [(Vec3, f32, [f32; 4]); 4] = [
    (Vec3::new(-0.3, 0.0, 0.0), 1.45, [0.93, 0.55, 0.27, 1.0]),
    (Vec3::new(1.6, 0.75, 1.0), 0.4, [0.72, 0.75, 0.8, 1.0]),
    (Vec3::new(1.5, -0.9, -0.8), 0.6, [0.35, 0.66, 0.94, 1.0]),
    (Vec3::new(-0.75, 0.35, 2.1), 0.2, [0.95, 0.93, 0.86, 1.0]),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "06_light")?;
    Ok(())
}

/// Two half floats in a word, as the vertex shader unpacks them: the first one in the lower half.
fn half_floats(pair: [f32; 2]) -> u32 {
    let [low, high] = pair.map(|number| u32::from(f16::from_f32(number).to_bits()));
    low | high << 16
}

/// A sphere around the origin with a radius of 1: circles of latitude, from the north pole on.
fn ball<P: Platform>(device: &Device<'_, P>) -> Result<Mesh<Vertex>, Error> {
    const ROUND: u16 = 64;
    const DOWN: u16 = 32;
    let corner = |n: u16| {
        let Vec2 { x: height, y: radius } = Vec2::from_angle(PI * f32::from(n / (ROUND + 1)) / f32::from(DOWN));
        let Vec2 { x, y: z } = radius * Vec2::from_angle(TAU * f32::from(n % (ROUND + 1)) / f32::from(ROUND));
        // On the unit sphere, a position is its own normal.
        let position = [x, height, -z];
        Vertex { position, normal: [[x, height], [-z, 0.0]].map(half_floats), uv: [0.0; 2] }
    };
    let corners: Vec<Vertex> = (0..(ROUND + 1) * (DOWN + 1)).map(corner).collect();
    let quad = |n: u16| {
        let (upper, lower) = (n / ROUND * (ROUND + 1) + n % ROUND, (n / ROUND + 1) * (ROUND + 1) + n % ROUND);
        [upper, lower, lower + 1, upper, lower + 1, upper + 1]
    };
    let indices: Vec<u16> = (0..ROUND * DOWN).flat_map(quad).collect();
    Mesh::indexed(device, "ball", Primitive::Triangles, &corners, &indices)
}

/// Draws the balls.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let ball = ball(device)?;
    let shading = PipelineDescriptor::new("lit", &SHADING, &FRAGMENT);
    let pipeline = Pipeline::new(device, &PipelineDescriptor { depth: Depth::LESS, cull: Cull::Back, ..shading })?;
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(EYE, Vec3::ZERO, Vec3::Y);

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(SPACE)))?;
    for (middle, radius, base_color) in BALLS {
        let matrix = camera * Mat4::from_translation(middle) * Mat4::from_scale(Vec3::splat(radius));
        let uniforms = Uniforms {
            matrix: rows(&matrix),
            // The spheres are not rotated, so neither are their normals.
            normal_matrix: Mat3::IDENTITY.to_cols_array(),
            to_light: TO_LIGHT.to_array(),
            ambient: AMBIENT,
        };
        pass.draw(&pipeline, &ball, &uniforms, &FragmentUniforms { base_color })?;
    }
    let fence = frame.submit()?;
    device.wait(fence)
}

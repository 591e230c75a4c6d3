//! Step 14: a thousand draws.
//!
//! A thousand pillars, each with a matrix of its own. What is the same in all of them, pipeline, mesh and the fragment shader's uniforms, is checked and
//! encoded once, when the draw is prepared; a draw then copies a shader record and a matrix. It takes a Pi's CPU less than 200 instructions [measured].

use core::f32::consts::{FRAC_PI_4, PI};

use qpu_shaders::{
    NoUniforms, smooth,
    transformed::{SHADING, Uniforms, Vertex},
};
use renderer::{
    Cull, Depth, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, PreparedDraw, Primitive, Samples,
    Target,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows, unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 360];
/// The background: red, green, blue, alpha.
pub const DUSK: [u8; 4] = [24, 20, 38, 255];
/// Pillars.
pub const COUNT: u16 = 1000;
/// Position of the camera.
pub const EYE: Vec3 = Vec3::new(0.0, 7.6, 10.6);
/// Where it looks.
pub const LOOKS_AT: Vec3 = Vec3::new(0.0, -0.4, 0.0);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "14_prepared_draws")?;
    Ok(())
}

/// The colour of a place of a pillar, each coordinate from -1 to 1: brighter upwards and to the left.
pub fn color([x, y, z]: [f32; 3]) -> [f32; 3] {
    let height = 0.5 + 0.5 * y;
    [0.24 + 0.62 * height - 0.1 * x, 0.14 + 0.54 * height - 0.12 * x, 0.36 - 0.06 * height + 0.12 * z]
}

/// A cube from -1 to 1.
fn pillar<P: Platform>(device: &Device<'_, P>) -> Result<Mesh<Vertex>, Error> {
    let corner = |n: u8| {
        let position = [n & 1, n >> 1 & 1, n >> 2].map(|side| 2.0 * f32::from(side) - 1.0);
        Vertex { position, color: color(position) }
    };
    let corners: [Vertex; 8] = core::array::from_fn(|n| corner(n as u8));
    // Counterclockwise as seen from outside, two triangles per side: left, right, bottom, top, back, front.
    #[rustfmt::skip]
    let indices = [
        0, 4, 6, 0, 6, 2,  1, 3, 7, 1, 7, 5,  0, 1, 5, 0, 5, 4,
        2, 6, 7, 2, 7, 3,  0, 2, 3, 0, 3, 1,  4, 5, 7, 4, 7, 6,
    ];
    Mesh::indexed(device, "pillar", Primitive::Triangles, &corners, &indices)
}

/// Where a pillar stands: as the seeds of a sunflower do, each turned by the golden angle from the one before. A wave runs outwards through their heights.
pub fn place(n: u16) -> Mat4 {
    let golden = PI * (3.0 - 5.0f32.sqrt());
    let radius = 0.175 * f32::from(n + 1).sqrt();
    let Vec2 { x, y: z } = radius * Vec2::from_angle(golden * f32::from(n));
    let height = 0.42 + 0.34 * (2.1 * radius - 0.6).sin();
    Mat4::from_translation(Vec3::new(x, height, z))
        * Mat4::from_rotation_y(-golden * f32::from(n))
        * Mat4::from_scale(Vec3::new(0.09, height, 0.09))
}

/// Draws the pillars.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let mesh = pillar(device)?;
    let shading = PipelineDescriptor::new("pillar", &SHADING, &smooth::FRAGMENT);
    let state = PipelineDescriptor { depth: Depth::LESS, cull: Cull::Back, samples: Samples::Four, ..shading };
    let pipeline = Pipeline::new(device, &state)?;
    // The last argument is the fragment shader's uniforms: this one has none, another one has its textures there.
    let pillar = PreparedDraw::new(device, &pipeline, &mesh, &NoUniforms)?;
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(EYE, LOOKS_AT, Vec3::Y);

    let mut frame = device.frame()?;
    let descriptor = PassDescriptor { samples: Samples::Four, ..PassDescriptor::to(screen).clear(unorm(DUSK)) };
    let mut pass = frame.pass(&descriptor)?;
    for n in 0..COUNT {
        pass.draw_prepared(&pillar, &Uniforms { matrix: rows(&(camera * place(n))) })?;
    }
    let fence = frame.submit()?;
    device.wait(fence)
}

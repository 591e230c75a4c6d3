//! Step 4: one mesh, many transformations.
//!
//! A cube is eight vertices and twelve triangles, which refer to the vertices by index. It is stored in GPU memory once and drawn fifteen times, each time
//! with another matrix, which is a uniform of the vertex shader. The matrix transforms a vertex from model coordinates to world coordinates (rotation and
//! translation), to those of the camera, and to clip coordinates (perspective projection).

use core::f32::consts::FRAC_PI_4;

use qpu_shaders::{
    NoUniforms, smooth,
    transformed::{SHADING, Uniforms, Vertex},
};
use renderer::{
    Cull, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target,
    glam::{
        Mat4, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows, unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [480, 300];
/// The background: red, green, blue, alpha.
pub const BACKGROUND: [u8; 4] = [24, 26, 34, 255];
/// Position of the camera, which looks at the origin.
pub const EYE: Vec3 = Vec3::new(0.0, 0.0, 11.5);
/// Distance between the cubes.
pub const SPACING: f32 = 2.5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(8 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "04_transform")?;
    Ok(())
}

/// A cube from -0.7 to 0.7 whose colour is its position: red to the right, green upwards, blue towards the eye.
fn cube<P: Platform>(device: &Device<'_, P>) -> Result<Mesh<Vertex>, Error> {
    let corner = |n: u8| {
        let place = [n & 1, n >> 1 & 1, n >> 2].map(f32::from);
        Vertex { position: place.map(|side| 1.4 * side - 0.7), color: place.map(|side| 0.15 + 0.8 * side) }
    };
    let corners: [Vertex; 8] = core::array::from_fn(|n| corner(n as u8));
    // Counterclockwise as seen from outside, two triangles per side: left, right, bottom, top, back, front.
    #[rustfmt::skip]
    let indices = [
        0, 4, 6, 0, 6, 2,  1, 3, 7, 1, 7, 5,  0, 1, 5, 0, 5, 4,
        2, 6, 7, 2, 7, 3,  0, 2, 3, 0, 3, 1,  4, 5, 7, 4, 7, 6,
    ];
    Mesh::indexed(device, "cube", Primitive::Triangles, &corners, &indices)
}

/// The rotation of a cube: more about the vertical axis from left to right, more about the horizontal one from top to bottom.
pub fn turned(column: i8, row: i8) -> Mat4 {
    Mat4::from_rotation_y(0.4 * f32::from(column)) * Mat4::from_rotation_x(0.3 - 0.45 * f32::from(row))
}

/// Draws three rows of five cubes.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let cube = cube(device)?;
    // The visible faces of a convex body are exactly its front faces: back faces are culled.
    let shading = PipelineDescriptor::new("cube", &SHADING, &smooth::FRAGMENT);
    let pipeline = Pipeline::new(device, &PipelineDescriptor { cull: Cull::Back, ..shading })?;
    let camera = perspective(FRAC_PI_4, screen.aspect(), 0.1, 100.0) * look_at_mat4(EYE, Vec3::ZERO, Vec3::Y);

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(BACKGROUND)))?;
    for (column, row) in (-1..=1).flat_map(|row| (-2..=2).map(move |column| (column, row))) {
        let place = SPACING * Vec3::new(f32::from(column), f32::from(row), 0.0);
        let matrix = camera * Mat4::from_translation(place) * turned(column, row);
        pass.draw(&pipeline, &cube, &Uniforms { matrix: rows(&matrix) }, &NoUniforms)?;
    }
    let fence = frame.submit()?;
    device.wait(fence)
}

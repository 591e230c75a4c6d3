//! Step 2: a triangle.
//!
//! A draw needs three things: a mesh (what), a pipeline (how), and a pass (to where). A pipeline consists of programs for the GPU's processors, here from
//! `qpu-shaders`, and of fixed state. The programs define the vertex type, and the compiler checks it: a vertex without a colour is a type error.

use qpu_shaders::{
    NoUniforms, smooth,
    triangle::{SHADING, Uniforms, Vertex},
};
use renderer::{Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target, unorm};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [320, 240];
/// The background: red, green, blue, alpha.
pub const NIGHT: [u8; 4] = [18, 22, 38, 255];

/// The vertices: positions from -1 to 1, x to the right, y upwards; and colours from 0 to 1.
pub const CORNERS: [Vertex; 3] = [
    Vertex { position: [-0.8, -0.8, 0.0], color: [0.95, 0.26, 0.21] },
    Vertex { position: [0.8, -0.8, 0.0], color: [0.13, 0.59, 0.95] },
    Vertex { position: [0.0, 0.85, 0.0], color: [1.0, 0.92, 0.23] },
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(4 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "02_triangle")?;
    Ok(())
}

/// Draws the triangle. Every value here owns GPU memory, which is freed when the value is dropped and the GPU is done with it.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let mesh = Mesh::new(device, "triangle", Primitive::Triangles, &CORNERS)?;
    // `triangle` is the vertex shader; the fragment shader `smooth` outputs the interpolated colour.
    let pipeline = Pipeline::new(device, &PipelineDescriptor::new("triangle", &SHADING, &smooth::FRAGMENT))?;

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(NIGHT)))?;
    // Both programs read nothing but the vertices, so there are no uniforms.
    pass.draw(&pipeline, &mesh, &Uniforms, &NoUniforms)?;
    let fence = frame.submit()?;
    device.wait(fence)
}

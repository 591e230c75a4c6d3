//! Step 7: transparency, and the order of drawing.
//!
//! Blending is a part of the pipeline: on this GPU it is code that is appended to the fragment shader, and the renderer generates it. Above, alpha blending:
//! alpha is the coverage, and the last draw is on top, so that left and right, drawn in opposite orders, differ. Below, additive blending: colours are added,
//! and the order does not matter.

use core::f32::consts::{FRAC_PI_2, TAU};

use qpu_shaders::{NoUniforms, smooth_alpha};
use renderer::{
    Blend, BlendPart, Device, Error, Factor, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading, Target,
    glam::Vec2, shaded_vertex::ShadedVertex, unorm,
};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [400, 400];
/// The background.
pub const WALL: [u8; 4] = [30, 32, 44, 255];
/// Red, green, blue, alpha of the discs, from 0 to 1.
pub const DISCS: [[f32; 4]; 3] = [[0.95, 0.30, 0.25, 0.7], [0.25, 0.80, 0.40, 0.7], [0.20, 0.45, 0.95, 0.7]];
/// Radius of a disc in pixels.
pub const RADIUS_PX: f32 = 52.0;
/// Distance of a disc's centre from the centre of its group of three, in pixels.
pub const OFF_MIDDLE_PX: f32 = 34.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(4 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "07_blend")?;
    Ok(())
}

/// The centre of a disc, in pixels from the target's centre; y is upwards.
pub fn middle(disc: usize, right: f32, up: f32) -> Vec2 {
    100.0 * Vec2::new(right, up) + OFF_MIDDLE_PX * Vec2::from_angle(FRAC_PI_2 + TAU / 3.0 * disc as f32)
}

/// A triangle fan. These vertices need no vertex shader: they are in screen coordinates, and the GPU reads them as they are.
fn disc(screen: &Target, middle: Vec2, color: [f32; 4]) -> Vec<ShadedVertex<4>> {
    let viewport = screen.viewport();
    let (half_width, half_height) = (screen.width_px() as f32 / 2.0, screen.height_px() as f32 / 2.0);
    let corner = |at: Vec2| {
        let (x, y) = (at.x / half_width, at.y / half_height);
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, color)
    };
    let rim = (0..=64).map(|n: u8| corner(middle + RADIUS_PX * Vec2::from_angle(TAU / 64.0 * f32::from(n))));
    core::iter::once(corner(middle)).chain(rim).collect()
}

/// Draws three discs four times.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let shading = PipelineDescriptor::new("disc", Shading::PreShaded, &smooth_alpha::FRAGMENT);
    let paint = Pipeline::new(device, &PipelineDescriptor { blend: Blend::ALPHA, ..shading })?;
    // The source colour times its alpha, plus the destination colour.
    let add = Blend::both(BlendPart::sum(Factor::SourceAlpha, Factor::One));
    let light = Pipeline::new(device, &PipelineDescriptor { blend: add, ..shading })?;

    let mut frame = device.frame()?;
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(WALL)))?;
    for (right, order) in [(-1.0, [0, 1, 2]), (1.0, [2, 1, 0])] {
        for (up, pipeline) in [(1.0, &paint), (-1.0, &light)] {
            for n in order {
                let disc = disc(screen, middle(n, right, up), DISCS[n]);
                // Transient vertices, which are copied to the frame's memory.
                pass.draw_vertices(pipeline, Primitive::TriangleFan, &disc, &NoUniforms, &NoUniforms)?;
            }
        }
    }
    let fence = frame.submit()?;
    device.wait(fence)
}

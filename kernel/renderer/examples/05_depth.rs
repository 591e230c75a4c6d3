//! Step 5: depth.
//!
//! Bands that are woven over and under each other cannot be drawn correctly in any order without a depth test. The GPU keeps the depth of each pixel beside
//! its colour, and discards fragments that are farther away. The depths exist in the tile buffer only: they are never stored, and use no memory.

use qpu_shaders::{
    NoUniforms, smooth,
    triangle::{SHADING, Uniforms, Vertex},
};
use renderer::{Depth, Device, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Target, unorm};
use v3d::Platform;
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [300, 300];
/// The background: red, green, blue, alpha.
pub const TABLE: [u8; 4] = [46, 32, 24, 255];
/// Number of bands in each direction.
pub const BANDS: u16 = 6;
/// Half of a band's width.
pub const HALF: f32 = 0.12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::new(4 << 20, Config::default());
    v3d_host::begin(&model)?;
    let device = model.device()?;
    let screen = v3d_host::screen(&device, SIZE_PX)?;
    draw(&device, &screen)?;
    v3d_host::show(&model, &device, &screen, "05_depth")?;
    Ok(())
}

/// Position of a band's middle, from -1 to 1.
pub fn middle(number: u16) -> f32 {
    (2.0 * f32::from(number) + 1.0) / f32::from(BANDS) - 1.0
}

/// A band across the whole picture, nearer to the eye at every other crossing: z is a depth, and smaller is nearer.
fn band(number: u16, upright: bool) -> Vec<Vertex> {
    let share = f32::from(number) / f32::from(BANDS - 1);
    let color = if upright { [0.93, 0.55 + 0.25 * share, 0.25] } else { [0.16, 0.45 + 0.2 * share, 0.55] };
    let steps = (0..=2 * BANDS).flat_map(|step| {
        // Level, over, level, under: crossings are at odd steps, and neighbouring bands alternate.
        let along = f32::from(step) / f32::from(BANDS) - 1.0;
        let over = (step / 2 + number) % 2 == u16::from(upright);
        let depth = match step % 2 {
            0 => 0.0,
            _ if over => -0.4,
            _ => 0.4,
        };
        // Deeper parts are darker.
        let color = color.map(|channel: f32| channel * (0.8 - 0.5 * depth));
        [-HALF, HALF].map(|side| {
            let across = middle(number) + side;
            let [x, y] = if upright { [across, along] } else { [along, across] };
            Vertex { position: [x, y, depth], color }
        })
    });
    steps.collect()
}

/// Draws all horizontal bands, and then all vertical ones: without the depth test the vertical ones would cover the others everywhere.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let shading = PipelineDescriptor::new("band", &SHADING, &smooth::FRAGMENT);
    let pipeline = Pipeline::new(device, &PipelineDescriptor { depth: Depth::LESS, ..shading })?;

    let mut frame = device.frame()?;
    // A pass starts with the maximum depth everywhere.
    let mut pass = frame.pass(&PassDescriptor::to(screen).clear(unorm(TABLE)))?;
    for upright in [false, true] {
        for number in 0..BANDS {
            let mesh = Mesh::new(device, "band", Primitive::TriangleStrip, &band(number, upright))?;
            // The mesh can be dropped after the draw: the frame keeps its memory.
            pass.draw(&pipeline, &mesh, &Uniforms, &NoUniforms)?;
        }
    }
    let fence = frame.submit()?;
    device.wait(fence)
}

//! Step 1: an empty frame.
//!
//! A frame is a list of passes, and a pass draws to one target. This one draws nothing: it only clears the target to a colour. The GPU renders tile by tile,
//! 64 by 64 pixels: the colour is written to the tile buffer on the chip, once for each tile, and stored from there to memory.

use renderer::{Device, Error, Format, PassDescriptor, Target, TargetDescriptor, unorm};
use v3d::{Platform, hw::tiling::Tiling};
use v3d_host::{Config, Model};

/// Width and height of the picture.
pub const SIZE_PX: [u32; 2] = [320, 240];
/// Red, green, blue, alpha.
pub const EVENING: [u8; 4] = [31, 78, 121, 255];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The model of the GPU, with 4 MiB of memory; step 10 shows what replaces it on a Pi.
    let model = Model::new(4 << 20, Config::default());
    v3d_host::begin(&model)?;
    // The driver detects the V3D and initialises it; the device creates all other objects.
    let device = model.device()?;
    // An image in GPU memory, with its rows one after the other (raster), as a display reads them.
    let ([width_px, height_px], format, tiling) = (SIZE_PX, Format::Rgba8888, Tiling::Raster);
    let descriptor = TargetDescriptor { label: "screen", width_px, height_px, format, tiling };
    let screen = Target::new(&device, &descriptor)?;

    draw(&device, &screen)?;

    // Writes target/guide/01_frame.png, or to the path that is the argument. `--dump` prints the GPU's input, decoded.
    v3d_host::show(&model, &device, &screen, "01_frame")?;
    Ok(())
}

/// Fills a target with one colour. A platform is an environment with a V3D: the same code runs on the model and on a Pi.
pub fn draw<P: Platform>(device: &Device<'_, P>, screen: &Target) -> Result<(), Error> {
    let mut frame = device.frame()?;
    frame.pass(&PassDescriptor::to(screen).clear(unorm(EVENING)))?;
    let fence = frame.submit()?; // the GPU starts
    device.wait(fence) // and is done
}

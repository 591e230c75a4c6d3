//! Start and end of example programs: creates a target, and writes it to a PNG file.

use std::io::Write;
use std::path::{Path, PathBuf};

use renderer::{Device, Format, Target, TargetDescriptor};
use v3d::Platform;
use v3d::hw::tiling::Tiling;

use crate::{Model, Picture, PictureError};

/// A target as a display has one, with rows of 32-bit pixels; `size_px` is its width and height.
///
/// # Errors
/// As [`Target::new`].
pub fn screen<P: Platform>(device: &Device<'_, P>, size_px: [u32; 2]) -> Result<Target, renderer::Error> {
    let [width_px, height_px] = size_px;
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    Target::new(device, &TargetDescriptor { label: "screen", width_px, height_px, format, tiling })
}

/// Ends an example with the contents of a target, see [`show_picture`].
///
/// # Errors
/// As [`save_png`](crate::save_png).
pub fn show(machine: &Model, device: &Device<'_, Model>, screen: &Target, name: &str) -> Result<(), PictureError> {
    show_picture(machine, &Picture::of_target(device, screen)?, name)
}

/// Ends an example: writes its picture to the path that is its argument, or to `target/guide/NAME.png`, and prints the path. With the argument `--dump` it
/// first prints the last job that was started.
///
/// # Errors
/// When the file cannot be written.
pub fn show_picture(machine: &Model, picture: &Picture, name: &str) -> Result<(), PictureError> {
    let (options, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let path = paths.first().map_or_else(|| default_path(name), PathBuf::from);
    picture.save_png(&path)?;
    let dump = if options.iter().any(|option| option == "--dump") { machine.dump() } else { String::new() };
    // A reader of only the first lines closes the pipe.
    let _ = writeln!(std::io::stdout(), "{dump}{}", path.display());
    for fault in machine.take_faults() {
        eprintln!("the model reports: {fault}");
    }
    Ok(())
}

fn default_path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."));
    root.join("target/guide").join(name).with_extension("png")
}

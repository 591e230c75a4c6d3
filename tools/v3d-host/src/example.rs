//! Start and end of example programs: creates a target, writes it to a PNG file, and captures the jobs that drew it.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use lexopt::prelude::*;
use renderer::{Device, Format, Target, TargetDescriptor};
use v3d::Platform;
use v3d::hw::tiling::Tiling;
use v3d_sim::job::capture::refuse_existing;

use crate::{CaptureError, Model, Picture, PictureError};

/// Why an example could not begin or end. A program that returns it from `main` prints the sentence.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ExampleError {
    /// Its arguments are wrong.
    #[error("{0}; an example takes [--dump] [--capture DIR] [PNG]")]
    Arguments(#[from] lexopt::Error),
    /// Its jobs could not be saved.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Its picture could not be written.
    #[error(transparent)]
    Picture(#[from] PictureError),
}

impl fmt::Debug for ExampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The arguments of an example.
#[derive(Debug, Default)]
struct Arguments {
    dump: bool,
    capture: Option<PathBuf>,
    picture: Option<PathBuf>,
}

impl Arguments {
    fn parse(mut parser: lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut arguments = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("dump") => arguments.dump = true,
                Long("capture") => arguments.capture = Some(parser.value()?.into()),
                Value(path) if arguments.picture.is_none() => arguments.picture = Some(path.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(arguments)
    }
}

/// Begins an example: with the argument `--capture DIR` the model records its jobs, which the example's end writes to DIR.
///
/// # Errors
/// When the arguments are wrong, or DIR exists.
pub fn begin(machine: &Model) -> Result<(), ExampleError> {
    if let Some(folder) = Arguments::parse(lexopt::Parser::from_env())?.capture {
        refuse_existing(&folder).map_err(CaptureError::from)?;
        machine.record();
    }
    Ok(())
}

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
/// As [`show_picture`], and when the target cannot be read.
pub fn show(machine: &Model, device: &Device<'_, Model>, screen: &Target, name: &str) -> Result<(), ExampleError> {
    show_picture(machine, &Picture::of_target(device, screen)?, name)
}

/// Ends an example: writes its picture to the path that is its argument, or to `target/guide/NAME.png`, and prints the path. With the argument `--dump` it
/// first prints the last job that was started; with `--capture DIR` it also does what [`finish`] does.
///
/// # Errors
/// When the arguments are wrong, or a file cannot be written.
pub fn show_picture(machine: &Model, picture: &Picture, name: &str) -> Result<(), ExampleError> {
    let Arguments { dump, picture: path, .. } = Arguments::parse(lexopt::Parser::from_env())?;
    let path = path.unwrap_or_else(|| default_path(name));
    picture.save_png(&path)?;
    let dump = if dump { machine.dump() } else { String::new() };
    // A reader of only the first lines closes the pipe.
    let _ = writeln!(std::io::stdout(), "{dump}{}", path.display());
    finish(machine, name)
}

/// Ends an example without a picture: writes its jobs to the folder of the argument `--capture`, if there is one, and prints the faults that the model has
/// reported.
///
/// # Errors
/// When the arguments are wrong, or the folder cannot be written.
pub fn finish(machine: &Model, name: &str) -> Result<(), ExampleError> {
    if let Some(folder) = Arguments::parse(lexopt::Parser::from_env())?.capture {
        machine.capture(name, &folder)?;
        let _ = writeln!(std::io::stdout(), "{}", folder.display());
    }
    for fault in machine.take_faults() {
        eprintln!("the model reports: {fault}");
    }
    Ok(())
}

fn default_path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."));
    root.join("target/guide").join(name).with_extension("png")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_names_and_what_is_unknown_is_refused() {
        let parse = |arguments: &[&str]| {
            Arguments::parse(lexopt::Parser::from_args(arguments))
                .map(|Arguments { dump, capture, picture }| (dump, capture, picture))
                .map_err(|error| error.to_string())
        };
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(parse(&[]), Ok((false, None, None)));
        assert_eq!(parse(&["--dump", "a.png"]), Ok((true, None, path("a.png"))));
        assert_eq!(parse(&["a.png", "--capture", "job"]), Ok((false, path("job"), path("a.png"))));
        assert_eq!(parse(&["--capture=job"]), Ok((false, path("job"), None)));
        for (arguments, named) in [(&["--dumb"][..], "--dumb"), (&["--capture"], "--capture"), (&["a", "b"], "\"b\"")] {
            assert!(parse(arguments).unwrap_err().contains(named), "{arguments:?}");
        }
    }
}

//! Scenes that move: shown in a window, or saved as an animated PNG file.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use lexopt::prelude::*;
use minifb::{Key, Window, WindowOptions};
use renderer::{Device, Target};
use v3d::Fence;

use crate::{Model, Picture, PictureError, screen};

/// Pictures a second of a film.
const FILM_RATE: u16 = 24;
/// Pictures of a film, if the arguments do not say how many.
const FILM_FRAMES: u32 = 48;

const HELP: &str = "\
Options:
  --save FILE   save a film as an animated PNG file, instead of showing a window
  --frames N    pictures of the film, 24 a second (default 48)

Without --save a window shows the scene until it is closed or Escape is pressed. Without a display a film is saved.
";

/// Time and keys of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// Time since the first frame in seconds.
    pub seconds: f32,
    /// Time since the frame before in seconds.
    pub step_s: f32,
    /// The keys that are down. A film has none.
    pub keys: Vec<Key>,
}

impl Moment {
    /// Whether a key is down.
    #[must_use]
    pub fn is_down(&self, key: Key) -> bool {
        self.keys.contains(&key)
    }
}

/// Why a scene could not be shown. A program that returns it from `main` prints the sentence.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AnimationError {
    /// The arguments are wrong.
    #[error("{0}; --help lists the options")]
    Arguments(#[from] lexopt::Error),
    /// The scene failed.
    #[error("frame {number}: {error}")]
    Scene {
        /// The frame, counted from 0.
        number: u32,
        /// The scene's error.
        error: Box<dyn Error>,
    },
    /// The screen could not be created.
    #[error(transparent)]
    Screen(#[from] renderer::Error),
    /// A picture could not be read.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The film could not be written.
    #[error("{}: {error}", path.display())]
    Film {
        /// Its file.
        path: PathBuf,
        /// The encoder's error.
        error: png::EncodingError,
    },
    /// The window failed.
    #[error("the window: {0}")]
    Window(#[from] minifb::Error),
}

impl std::fmt::Debug for AnimationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Arguments {
    save: Option<PathBuf>,
    frames: u32,
    help: bool,
}

impl Arguments {
    fn parse(mut parser: lexopt::Parser) -> Result<Self, lexopt::Error> {
        let mut arguments = Self { save: None, frames: FILM_FRAMES, help: false };
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") | Short('h') => arguments.help = true,
                Long("save") => arguments.save = Some(parser.value()?.into()),
                Long("frames") => {
                    arguments.frames = parser.value()?.parse_with(|text| match text.parse() {
                        Ok(0) => Err("a film has a picture at least".to_owned()),
                        Ok(frames) => Ok(frames),
                        Err(error) => Err(format!("{error}")),
                    })?;
                }
                other => return Err(other.unexpected()),
            }
        }
        Ok(arguments)
    }
}

/// Shows a scene: in a window until it is closed, or, with the argument `--save FILE` or without a display, as a film. `name` is the window's title, and the
/// film's file without the argument. `frame` draws the scene at a moment and submits it.
///
/// # Errors
/// When the arguments are wrong, a frame fails, or the film cannot be written.
pub fn animate<E: Into<Box<dyn Error>>>(
    machine: &Model,
    device: &Device<'_, Model>,
    name: &str,
    size_px: [u32; 2],
    mut frame: impl FnMut(&Target, &Moment) -> Result<Fence, E>,
) -> Result<(), AnimationError> {
    let Arguments { save, frames, help } = Arguments::parse(lexopt::Parser::from_env())?;
    if help {
        // A reader of only the first lines closes the pipe.
        let _ = write!(io::stdout(), "{name} [OPTIONS]\n\n{HELP}");
        return Ok(());
    }
    let screen = screen(device, size_px)?;
    let mut number = 0;
    let mut draw = |moment: &Moment| {
        let drawn = frame(&screen, moment).map_err(Into::into).and_then(|fence| Ok(device.wait(fence)?));
        drawn.map_err(|error| AnimationError::Scene { number, error })?;
        number += 1;
        for fault in machine.take_faults() {
            eprintln!("the model reports: {fault}");
        }
        Ok(Picture::of_target(device, &screen)?)
    };
    let window = if save.is_none() { open(name, size_px) } else { None };
    if let Some(window) = window {
        return show(window, size_px, draw);
    }
    let path = save.unwrap_or_else(|| PathBuf::from(name).with_extension("apng"));
    let picture = |number: u32| {
        // Progress, which may be closed.
        let _ = write!(io::stderr(), "\rpicture {} of {frames}", number + 1);
        let step_s = 1.0 / f32::from(FILM_RATE);
        draw(&Moment { seconds: number as f32 * step_s, step_s, keys: Vec::new() })
    };
    save_film(&path, size_px, frames, picture)?;
    let _ = writeln!(io::stderr());
    let _ = writeln!(io::stdout(), "{}", path.display());
    Ok(())
}

/// A window, if there is a display.
fn open(name: &str, [width, height]: [u32; 2]) -> Option<Window> {
    let has_display =
        cfg!(not(target_os = "linux")) || std::env::var_os("DISPLAY").is_some_and(|name| !name.is_empty());
    if !has_display {
        eprintln!("there is no display, so a film is saved");
        return None;
    }
    Window::new(name, width as usize, height as usize, WindowOptions::default())
        .inspect_err(|error| eprintln!("no window can be opened, so a film is saved: {error}"))
        .ok()
}

fn show(
    mut window: Window,
    [width, height]: [u32; 2],
    mut draw: impl FnMut(&Moment) -> Result<Picture, AnimationError>,
) -> Result<(), AnimationError> {
    window.set_target_fps(60);
    let start = Instant::now();
    let mut before = 0.0;
    while window.is_open() && !window.is_key_down(Key::Escape) {
        let seconds = start.elapsed().as_secs_f32();
        let picture = draw(&Moment { seconds, step_s: seconds - before, keys: window.get_keys() })?;
        before = seconds;
        let word = |[red, green, blue, _]: &[u8; 4]| u32::from_be_bytes([0, *red, *green, *blue]);
        let words: Vec<u32> = picture.pixels.iter().map(word).collect();
        window.update_with_buffer(&words, width as usize, height as usize)?;
    }
    Ok(())
}

/// Writes pictures to an animated PNG file.
fn save_film(
    path: &Path,
    [width, height]: [u32; 2],
    frames: u32,
    mut picture: impl FnMut(u32) -> Result<Picture, AnimationError>,
) -> Result<(), AnimationError> {
    let failed = |error| AnimationError::Film { path: path.to_owned(), error };
    let file = File::create(path).map_err(|error| failed(error.into()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_animated(frames, 0).map_err(failed)?;
    encoder.set_frame_delay(1, FILM_RATE).map_err(failed)?;
    let mut writer = encoder.write_header().map_err(failed)?;
    for number in 0..frames {
        let Picture { pixels, .. } = picture(number)?;
        let bytes: Vec<u8> = pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
        writer.write_image_data(&bytes).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_choose_between_a_window_and_a_film() {
        let parse = |arguments: &[&str]| Arguments::parse(lexopt::Parser::from_args(arguments));
        assert_eq!(parse(&[]).unwrap(), Arguments { save: None, frames: 48, help: false });
        let film = Arguments { save: Some("a.apng".into()), frames: 3, help: false };
        assert_eq!(parse(&["--save", "a.apng", "--frames=3"]).unwrap(), film);
        for (arguments, named) in
            [(&["--frames", "0"][..], "a picture at least"), (&["--fps"], "--fps"), (&["x"], "\"x\"")]
        {
            assert!(parse(arguments).unwrap_err().to_string().contains(named), "{arguments:?}");
        }
    }

    /// The pictures of a film as the PNG decoder reads them.
    #[test]
    fn a_film_has_all_pictures() {
        let path = std::env::temp_dir().join(format!("v3d-host-film-{}.apng", std::process::id()));
        let picture =
            |number: u32| Ok(Picture { width_px: 2, height_px: 1, pixels: vec![[number as u8, 2, 3, 255]; 2] });
        save_film(&path, [2, 1], 3, picture).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
        assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(3));
        for number in 0..3 {
            let mut bytes = [0; 6];
            reader.next_frame(&mut bytes).unwrap();
            assert_eq!(bytes, [number, 2, 3, number, 2, 3]);
        }
        std::fs::remove_file(&path).unwrap();
    }
}

//! Convolution and resampling of pictures.

use alloc::vec::Vec;

use v3d::Platform;

use crate::division::grid_jobs;
use crate::programs::{convolve, resample};
use crate::{Error, Image, Session, Work};

/// Maximum number of neighbours of a convolution.
const MAX_NEIGHBOURS: usize = 1024;

/// An element of a convolution kernel: a relative position and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Columns to the right.
    pub right: i32,
    /// Rows down.
    pub down: i32,
    /// The factor of its channels.
    pub weight: f32,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Convolves a picture: each channel of a pixel, including alpha, becomes `bias` (1 is 255) plus the weighted sum
    /// of its neighbours', clamped to 0 to 255 and rounded. Coordinates are clamped to the edges.
    ///
    /// # Errors
    /// When there are no neighbours, more than 1024, or one more than 2048 pixels away; when the pictures differ in size; when one belongs to another driver;
    /// the driver's.
    pub fn convolve(
        &mut self,
        source: &Image,
        neighbours: &[Neighbour],
        bias: f32,
        target: &mut Image,
    ) -> Result<(), Error> {
        self.expect_image(source)?;
        self.expect_image(target)?;
        let size = |given, allowed| Error::Size { operation: "convolve", given, allowed };
        if !(1..=MAX_NEIGHBOURS).contains(&neighbours.len()) {
            return Err(size(neighbours.len(), "1 to 1024 neighbours"));
        }
        let distances = neighbours.iter().flat_map(|neighbour| [neighbour.right, neighbour.down]);
        if let Some(far) = distances.map(|distance| distance.unsigned_abs() as usize).find(|&far| far > 2048) {
            return Err(size(far, "a distance of at most 2048 pixels"));
        }
        Error::expect_sides("convolve", target.sides(), source.sides())?;
        let words = neighbours
            .iter()
            .flat_map(|neighbour| [neighbour.right as u32, neighbour.down as u32, neighbour.weight.to_bits()]);
        let list = self.array(&words.collect::<Vec<u32>>())?;
        let jobs = grid_jobs!(convolve, target.grid(), {
            source: source.address(),
            source_pitch: source.pitch_bytes(),
            right: source.width() as u32 - 1,
            bottom: source.height() as u32 - 1,
            list: list.address(),
            count: neighbours.len() as u32,
            bias: bias,
            target: target.address(),
            pitch: target.pitch_bytes(),
        });
        self.launch(&convolve::PROGRAM, &jobs)?;
        let pixels = (source.width() * source.height()) as u64;
        let lookups = pixels * neighbours.len() as u64;
        self.account(Work {
            operations: 8 * lookups,
            lookups: lookups / 16,
            looked_up_bytes: 4 * pixels,
            stored_bytes: 4 * pixels,
        });
        Ok(())
    }

    /// Resizes a picture by bilinear interpolation.
    ///
    /// When a side shrinks to less than half, pixels are skipped: convolve the picture first.
    ///
    /// # Errors
    /// When a picture belongs to another driver; the driver's.
    pub fn resample(&mut self, source: &Image, target: &mut Image) -> Result<(), Error> {
        self.expect_image(source)?;
        self.expect_image(target)?;
        let scale_x = source.width() as f32 / target.width() as f32;
        let scale_y = source.height() as f32 / target.height() as f32;
        let jobs = grid_jobs!(resample, target.grid(), {
            source: source.address(),
            source_pitch: source.pitch_bytes(),
            right: source.width() as u32 - 1,
            bottom: source.height() as u32 - 1,
            scale_x: scale_x,
            scale_y: scale_y,
            first_x: 0.5 * scale_x - 0.5,
            first_y: 0.5 * scale_y - 0.5,
            target: target.address(),
            pitch: target.pitch_bytes(),
        });
        self.launch(&resample::PROGRAM, &jobs)?;
        let (read, written) = (source.width() * source.height(), target.width() * target.height());
        self.account(Work {
            operations: 32 * written as u64,
            lookups: written as u64 / 4,
            looked_up_bytes: 4 * read as u64,
            stored_bytes: 4 * written as u64,
        });
        Ok(())
    }
}

//! Convolution and resampling of pictures.

use alloc::vec::Vec;

use v3d::Platform;

use crate::image::Grid;
use crate::programs::{convolve, resample};
use crate::{Error, Image, Session, Work};

/// Most neighbours of a pixel.
const MAX_NEIGHBOURS: usize = 1024;

/// A pixel near another, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Columns to the right.
    pub right: i32,
    /// Rows down.
    pub down: i32,
    /// What its channels are multiplied by.
    pub weight: f32,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Each channel of a pixel, alpha too, becomes `bias` (1 is 255) and the sum of its neighbours' times their weights, held to 0 to 255 and rounded.
    /// Beyond the edges are the nearest pixels.
    ///
    /// # Errors
    /// When there are no neighbours, or more than 1024, or one further than a picture can be large; when the pictures differ in size; when one is
    /// another driver's; the driver's.
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
        for (given, needed) in [(target.width(), source.width()), (target.height(), source.height())] {
            if given != needed {
                return Err(Error::Lengths { operation: "convolve", given, needed });
            }
        }
        let words = neighbours
            .iter()
            .flat_map(|neighbour| [neighbour.right as u32, neighbour.down as u32, neighbour.weight.to_bits()]);
        let list = self.array(&words.collect::<Vec<u32>>())?;
        let jobs: Vec<convolve::Uniforms> = target
            .grid()
            .map(|Grid { number, others, column, row, step, across, blocks }| convolve::Uniforms {
                number,
                others,
                column,
                row,
                step,
                across,
                blocks,
                source: source.address(),
                source_pitch: source.pitch_bytes(),
                right: source.width() as u32 - 1,
                bottom: source.height() as u32 - 1,
                list: list.address(),
                count: neighbours.len() as u32,
                bias,
                target: target.address(),
                pitch: target.pitch_bytes(),
            })
            .collect();
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

    /// Makes a picture of another size: each pixel of the four pixels of the source that are around its middle, by how near they are.
    ///
    /// Of a picture that becomes less than half as large, pixels are left out: convolve it before.
    ///
    /// # Errors
    /// When a picture is another driver's; the driver's.
    pub fn resample(&mut self, source: &Image, target: &mut Image) -> Result<(), Error> {
        self.expect_image(source)?;
        self.expect_image(target)?;
        let scale_x = source.width() as f32 / target.width() as f32;
        let scale_y = source.height() as f32 / target.height() as f32;
        let jobs: Vec<resample::Uniforms> = target
            .grid()
            .map(|Grid { number, others, column, row, step, across, blocks }| resample::Uniforms {
                number,
                others,
                column,
                row,
                step,
                across,
                blocks,
                source: source.address(),
                source_pitch: source.pitch_bytes(),
                right: source.width() as u32 - 1,
                bottom: source.height() as u32 - 1,
                scale_x,
                scale_y,
                first_x: 0.5 * scale_x - 0.5,
                first_y: 0.5 * scale_y - 0.5,
                target: target.address(),
                pitch: target.pitch_bytes(),
            })
            .collect();
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

//! The Mandelbrot set.

use alloc::vec::Vec;

use v3d::Platform;

use crate::image::Grid;
use crate::programs::mandelbrot;
use crate::{Array, Error, Image, Session, Work};

/// Iterations between two looks whether all have escaped.
const ROUND: usize = 4;

/// A part of the complex plane: that of a picture whose rows go down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Real part of the first pixel.
    pub left: f32,
    /// Imaginary part of the first row.
    pub top: f32,
    /// From a pixel to the next, to the right and down.
    pub pixel: f32,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Draws the Mandelbrot set: a pixel becomes the colour `palette[n]`, where n is how many of z, z² + c and so on, from 0, are within 2, at most all
    /// but one of the palette.
    ///
    /// # Errors
    /// When the palette has not a multiple of 4 colours, and one; when picture or palette are another driver's; the driver's.
    pub fn mandelbrot(&mut self, view: View, palette: &Array<u32>, target: &mut Image) -> Result<(), Error> {
        self.expect_own(palette)?;
        self.expect_image(target)?;
        let rounds = palette.length.wrapping_sub(1);
        if palette.length < 1 + ROUND || !rounds.is_multiple_of(ROUND) {
            let allowed = "a multiple of 4 colours, and one";
            return Err(Error::Size { operation: "mandelbrot", given: palette.length, allowed });
        }
        let jobs: Vec<mandelbrot::Uniforms> = target
            .grid()
            .map(|Grid { number, others, column, row, step, across, blocks }| mandelbrot::Uniforms {
                number,
                others,
                column,
                row,
                step,
                across,
                blocks,
                left: view.left,
                top: view.top,
                size: view.pixel,
                rounds: rounds as u32,
                palette: palette.address(),
                target: target.address(),
                pitch: target.pitch_bytes(),
            })
            .collect();
        self.launch(&mandelbrot::PROGRAM, &jobs)?;
        // How many iterations there are nobody knows before.
        self.account(Work { stored_bytes: 4 * (target.width() * target.height()) as u64, ..Work::NONE });
        Ok(())
    }
}

//! The Mandelbrot set.

use v3d::Platform;

use crate::division::grid_jobs;
use crate::programs::mandelbrot;
use crate::{Array, Error, Image, Session, Work};

/// Number of iterations between checks whether all points have escaped.
const ROUND: usize = 4;

/// A part of the complex plane; a picture's rows go down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Real part of the first pixel.
    pub left: f32,
    /// Imaginary part of the first row.
    pub top: f32,
    /// Distance of two pixels, to the right and down.
    pub pixel: f32,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Draws the Mandelbrot set: a pixel becomes `palette[n]`, where n is the number of iterations of z² + c from z = 0
    /// with |z| <= 2, at most the palette's last index.
    ///
    /// # Errors
    /// When the palette's length is not a multiple of 4 plus 1; when picture or palette belong to another driver; the driver's.
    pub fn mandelbrot(&mut self, view: View, palette: &Array<u32>, target: &mut Image) -> Result<(), Error> {
        self.expect_own(palette)?;
        self.expect_image(target)?;
        let rounds = palette.length.wrapping_sub(1);
        if palette.length < 1 + ROUND || !rounds.is_multiple_of(ROUND) {
            let allowed = "a multiple of 4 colours plus 1";
            return Err(Error::Size { operation: "mandelbrot", given: palette.length, allowed });
        }
        let jobs = grid_jobs!(mandelbrot, target.grid(), {
            left: view.left,
            top: view.top,
            size: view.pixel,
            rounds: rounds as u32,
            palette: palette.address(),
            target: target.address(),
            pitch: target.pitch_bytes(),
        });
        self.launch(&mandelbrot::PROGRAM, &jobs)?;
        // The number of iterations is not known in advance.
        self.account(Work { stored_bytes: 4 * (target.width() * target.height()) as u64, ..Work::NONE });
        Ok(())
    }
}

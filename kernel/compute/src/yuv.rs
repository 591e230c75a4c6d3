//! Conversion from planes of YUV to pixels.

use alloc::vec::Vec;

use v3d::Platform;

use crate::division::{Grid, grid_jobs};
use crate::programs::yuv;
use crate::{Array, Error, Image, Session, Work};

/// Width and height of a block in pixels.
const BLOCK: [usize; 2] = [64, 4];

/// A YUV 4:2:0 picture: a plane of Y, and planes of U and V of half the width and height, four bytes per word.
#[derive(Debug)]
pub struct Planes {
    y: Array<u32>,
    u: Array<u32>,
    v: Array<u32>,
    width: usize,
    height: usize,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Creates a picture from planes of bytes, row by row. Y is 16 for black and 235 for white, U and V are 128 for
    /// grey (BT.601).
    ///
    /// # Errors
    /// When the width is not a multiple of 64 or the height not a multiple of 4, or a side is not 1 to 2048; when the length of a plane does not match; when
    /// the pool has not enough memory.
    pub fn planes(&mut self, [y, u, v]: [&[u8]; 3], width: usize, height: usize) -> Result<Planes, Error> {
        if !width.is_multiple_of(BLOCK[0]) || !(1..=2048).contains(&width) {
            let allowed = "a multiple of 64 pixels across, at most 2048";
            return Err(Error::Size { operation: "planes", given: width, allowed });
        }
        if !height.is_multiple_of(BLOCK[1]) || !(1..=2048).contains(&height) {
            let allowed = "a multiple of 4 pixels down, at most 2048";
            return Err(Error::Size { operation: "planes", given: height, allowed });
        }
        for (plane, needed) in [(y, width * height), (u, width * height / 4), (v, width * height / 4)] {
            Error::expect_length("planes", plane.len(), needed)?;
        }
        let words =
            |plane: &[u8]| plane.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect::<Vec<u32>>();
        let [y, u, v] = [y, u, v].map(words);
        Ok(Planes { y: self.array(&y)?, u: self.array(&u)?, v: self.array(&v)?, width, height })
    }

    /// Converts planes to opaque pixels, with each channel clamped to 0 to 255 and rounded. 2 x 2 pixels share their
    /// chroma.
    ///
    /// # Errors
    /// When the sizes differ; when planes or picture belong to another driver; the driver's.
    pub fn yuv_to_rgb(&mut self, planes: &Planes, target: &mut Image) -> Result<(), Error> {
        self.expect_own(&planes.y)?;
        self.expect_image(target)?;
        Error::expect_sides("yuv_to_rgb", target.sides(), [planes.width, planes.height])?;
        let (across, down) = ((planes.width / BLOCK[0]) as u32, (planes.height / BLOCK[1]) as u32);
        let jobs = grid_jobs!(yuv, Grid::of(across, down), {
            y_plane: planes.y.address(),
            u_plane: planes.u.address(),
            v_plane: planes.v.address(),
            y_pitch: planes.width as u32,
            target: target.address(),
            pitch: target.pitch_bytes(),
        });
        self.launch(&yuv::PROGRAM, &jobs)?;
        let pixels = (planes.width * planes.height) as u64;
        self.account(Work {
            operations: 12 * pixels,
            lookups: pixels * 3 / 2 / 64,
            looked_up_bytes: pixels * 3 / 2,
            stored_bytes: 4 * pixels,
        });
        Ok(())
    }
}

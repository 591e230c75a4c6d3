//! Fourier transforms: of single signals, of batches, and of planes in both directions.
//!
//! A transform is a number of passes over the whole signal, each of radix 16, except that the last may have radix 2, 4 or 8. Every pass stores its results in
//! the order in which the next one loads them (Stockham's algorithm), so no reordering is needed. With n points left to transform and s signals interleaved
//! so far, a pass transforms x\[q + s (p + n/16 j)\] for 16 values of j into y\[q + s (16 p + j)\] and multiplies it by the twiddle factor of angle -2 pi p j
//! / n. The columns of a plane are transformed likewise: its rows are interleaved signals from the start.

use alloc::rc::Rc;
use alloc::vec::Vec;

use v3d::Platform;
use v3d::pool::Buffer;

use crate::division::Share;
use crate::programs::{fft_first, fft_last, fft_middle, fft_middle_far, fft_rows2, fft_rows4, fft_rows8, fft_rows16};
use crate::twiddle_factors::{Layout, PIECE_BYTES, PIECE_POINTS, TwiddleFactors};
use crate::{Array, Error, Session, Work};

/// Offset of a piece's imaginary parts in bytes.
const IMAGINARY_BYTES: u32 = 64;
/// Points of a block: 16 for each of 16 elements.
const BLOCK_POINTS: usize = 256;
/// Maximum distance of a store's rows in pieces: the stride has 16 bits.
const FARTHEST_PIECES: u32 = 512;
/// Combined with a stride in bytes, this makes a set-up word [AG p.59].
const STRIDE_SETUP: u32 = 3 << 30;

/// Complex numbers in GPU-visible memory, and a buffer of the same size for intermediate results: one or more signals
/// of the same length, or the rows of a plane.
#[derive(Debug)]
pub struct Signal {
    points: Array<f32>,
    scratch: Array<f32>,
    length: usize,
    count: usize,
}

impl Signal {
    /// Points per signal.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Number of signals.
    pub const fn count(&self) -> usize {
        self.count
    }
}

/// One pass of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    /// Points that are transformed at once: 2, 4, 8 or 16.
    radix: usize,
    /// Number of points that are left to transform at the start of the pass.
    left: usize,
    /// Number of interleaved signals at the start of the pass.
    interleaved: usize,
}

/// The passes that transform `length` points of interleaved signals.
fn passes(length: usize, interleaved: usize) -> Vec<Pass> {
    let (mut left, mut interleaved, mut passes) = (length, interleaved, Vec::new());
    while left > 1 {
        let radix = left.min(16);
        passes.push(Pass { radix, left, interleaved });
        left /= radix;
        interleaved *= radix;
    }
    passes
}

/// Direction of a transform; the inverse divides by the number of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Inverse,
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Creates signals of `length` points, each a real and an imaginary part, one signal after the other.
    ///
    /// # Errors
    /// When `length` is not a power of two from 2^8 to 2^20, when the number of points is 0 or not a multiple of it; when the pool has not enough memory.
    pub fn signal(&mut self, points: &[[f32; 2]], length: usize) -> Result<Signal, Error> {
        if !length.is_power_of_two() || !(1 << 8..=1 << 20).contains(&length) {
            return Err(Error::Size { operation: "signal", given: length, allowed: "a power of two from 2^8 to 2^20" });
        }
        let count = points.len() / length;
        if count == 0 || points.len() != count * length {
            let needed = points.len().next_multiple_of(length).max(length);
            return Err(Error::Lengths { operation: "signal", given: points.len(), needed });
        }
        let parts: Vec<f32> = points
            .chunks(PIECE_POINTS)
            .flat_map(|piece| piece.iter().map(|point| point[0]).chain(piece.iter().map(|point| point[1])))
            .collect();
        let (points, scratch) = (self.array(&parts)?, self.undefined(parts.len())?);
        Ok(Signal { points, scratch, length, count })
    }

    /// Reads the points of all signals.
    ///
    /// # Errors
    /// When the signals belong to another driver.
    pub fn read_signal(&self, signal: &Signal) -> Result<Vec<[f32; 2]>, Error> {
        let parts = self.read(&signal.points)?;
        let pieces = parts.chunks_exact(2 * PIECE_POINTS).map(|piece| piece.split_at(PIECE_POINTS));
        Ok(pieces.flat_map(|(re, im)| re.iter().zip(im).map(|(&re, &im)| [re, im])).collect())
    }

    /// Transforms each signal: X\[k\] is the sum of x\[j\] e^(-2 pi i j k / length), without a scale.
    ///
    /// # Errors
    /// When the pool has not enough memory for tables; the driver's.
    pub fn fft(&mut self, signal: &mut Signal) -> Result<(), Error> {
        self.transform(signal, signal.length, passes(signal.length, 1), Direction::Forward)
    }

    /// The inverse of [`Session::fft`].
    ///
    /// # Errors
    /// As [`Session::fft`].
    pub fn inverse_fft(&mut self, signal: &mut Signal) -> Result<(), Error> {
        self.transform(signal, signal.length, passes(signal.length, 1), Direction::Inverse)
    }

    /// Transforms a plane whose rows are the signals: first along its rows, then along its columns.
    ///
    /// # Errors
    /// When the number of signals is not a power of two, or there are more than 2^22 points; as [`Session::fft`].
    pub fn fft_2d(&mut self, plane: &mut Signal) -> Result<(), Error> {
        self.transform_2d(plane, Direction::Forward)
    }

    /// The inverse of [`Session::fft_2d`].
    ///
    /// # Errors
    /// As [`Session::fft_2d`].
    pub fn inverse_fft_2d(&mut self, plane: &mut Signal) -> Result<(), Error> {
        self.transform_2d(plane, Direction::Inverse)
    }

    fn transform_2d(&mut self, plane: &mut Signal, direction: Direction) -> Result<(), Error> {
        let Signal { length, count, .. } = *plane;
        let operation = match direction {
            Direction::Forward => "fft_2d",
            Direction::Inverse => "inverse_fft_2d",
        };
        if !count.is_power_of_two() {
            return Err(Error::Size { operation, given: count, allowed: "a power of two rows" });
        }
        if length * count > 1 << 22 {
            return Err(Error::Size { operation, given: length * count, allowed: "at most 2^22 points" });
        }
        self.transform(plane, length, passes(length, 1), direction)?;
        self.transform(plane, length * count, passes(count, length), direction)
    }

    /// Executes the passes of transforms of `whole` points each.
    fn transform(
        &mut self,
        signal: &mut Signal,
        whole: usize,
        passes: Vec<Pass>,
        direction: Direction,
    ) -> Result<(), Error> {
        self.expect_own(&signal.points)?;
        let points = (signal.length * signal.count) as u64;
        let length = passes.first().map_or(1, |pass| pass.left);
        for pass in &passes {
            self.pass(signal, whole, *pass, length, direction)?;
            core::mem::swap(&mut signal.points, &mut signal.scratch);
            self.account(Work {
                operations: 5 * points * u64::from(pass.radix.ilog2()),
                lookups: points / 8,
                looked_up_bytes: 8 * points,
                stored_bytes: 8 * points,
            });
        }
        Ok(())
    }

    fn pass(
        &mut self,
        signal: &Signal,
        whole: usize,
        pass: Pass,
        length: usize,
        direction: Direction,
    ) -> Result<(), Error> {
        let Pass { radix, left, interleaved } = pass;
        let last = radix == left;
        // Exchanging real and imaginary parts turns the forward transform into the inverse.
        let [real, imaginary] = match direction {
            Direction::Forward => [0, IMAGINARY_BYTES],
            Direction::Inverse => [IMAGINARY_BYTES, 0],
        };
        let scale = if last && direction == Direction::Inverse { 1.0 / length as f32 } else { 1.0 };
        let [source, target] = [signal.points.address(), signal.scratch.address()];
        let blocks = (signal.length * signal.count / BLOCK_POINTS) as u32;
        let load_mask = (whole / BLOCK_POINTS) as u32 - 1;
        let pieces = (interleaved / PIECE_POINTS).max(1) as u32;
        let load_step = (whole / (radix * PIECE_POINTS)) as u32 * PIECE_BYTES;
        let store_step = pieces * PIECE_BYTES;
        let step = blocks.min(crate::QPUS);
        let factors = match (interleaved, last) {
            (1, _) => Some(Layout::Neighbours),
            (_, false) => Some(Layout::Blocks),
            (_, true) => None,
        };
        let factors = factors.map(|layout| self.twiddle_factors(left, layout)).transpose()?;
        let factors_address = factors.as_ref().map_or(0, |factors| factors.address().0);
        let stride = STRIDE_SETUP | (store_step - IMAGINARY_BYTES);
        let far = pieces > FARTHEST_PIECES;
        let [source_re, source_im] = [(source + real).0, (source + imaginary).0];
        let [target_re, target_im] = [(target + real).0, (target + imaginary).0];
        let by_rows = last && interleaved > 1 && (radix < 16 || far);
        let first_half = if by_rows {
            [source_re, source_im, load_mask, load_step, 0, 0, 0, 0]
        } else {
            let shift = pieces.ilog2();
            [source_re, source_im, load_mask, pieces - 1, load_step, factors_address, load_mask, shift]
        };
        let second_half = if by_rows {
            [target_re, scale.to_bits(), target_im, step]
        } else if last && interleaved > 1 {
            [target_re, target_im, stride, scale.to_bits()]
        } else if far {
            [target_re, store_step, target_im, step]
        } else {
            [target_re, target_im, stride, step]
        };
        let mut parameters: Vec<u32> = first_half.into_iter().chain(second_half).collect();
        parameters.extend([step; 4]);
        let parameters = self.array(&parameters)?;
        macro_rules! launch {
            ($program:ident) => {{
                let jobs: Vec<$program::Uniforms> = Share::of(blocks)
                    .map(|share| $program::Uniforms {
                        quarter: share.quarter(),
                        others: share.others(),
                        block: share.number,
                        blocks: share.blocks,
                        parameters: parameters.address(),
                    })
                    .collect();
                self.launch(&$program::PROGRAM, &jobs)
            }};
        }
        match (interleaved, last, radix) {
            (1, ..) => launch!(fft_first),
            (_, false, _) if far => launch!(fft_middle_far),
            (_, false, _) => launch!(fft_middle),
            (_, true, 2) => launch!(fft_rows2),
            (_, true, 4) => launch!(fft_rows4),
            (_, true, 8) => launch!(fft_rows8),
            (_, true, _) if far => launch!(fft_rows16),
            (_, true, _) => launch!(fft_last),
        }
    }

    /// The table of twiddle factors for `length` points, created at its first use.
    fn twiddle_factors(&mut self, length: usize, layout: Layout) -> Result<Rc<Buffer>, Error> {
        let known = &mut self.compute.twiddle_factors;
        if let Some(factors) = known.iter().find(|factors| factors.is_for(length, layout, self.driver.pool())) {
            return Ok(factors.buffer());
        }
        let factors = TwiddleFactors::new(self.driver, length, layout)?;
        let buffer = factors.buffer();
        known.push(factors);
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(length: usize, interleaved: usize, expected: &[(usize, usize, usize)]) {
        let found: Vec<(usize, usize, usize)> =
            passes(length, interleaved).iter().map(|pass| (pass.radix, pass.left, pass.interleaved)).collect();
        assert_eq!(found, expected, "{length} points");
    }

    #[test]
    fn passes_take_sixteen_points_as_long_as_there_are_as_many() {
        check(256, 1, &[(16, 256, 1), (16, 16, 16)]);
        check(512, 1, &[(16, 512, 1), (16, 32, 16), (2, 2, 256)]);
        check(32, 1024, &[(16, 32, 1024), (2, 2, 16384)]);
    }
}

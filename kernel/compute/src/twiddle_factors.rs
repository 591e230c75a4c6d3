//! Tables of twiddle factors in GPU-visible memory.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::f64::consts::TAU;

use v3d::pool::{Buffer, Pool};
use v3d::{Driver, Platform};

use crate::Error;

/// Points of a piece of a signal: 16 real parts, then 16 imaginary parts.
pub(crate) const PIECE_POINTS: usize = 16;
/// Bytes of a piece.
pub(crate) const PIECE_BYTES: u32 = 128;
/// Bytes of a block's twiddle factors: 15 of four words, and four words of padding.
const FACTORS_BYTES: usize = 256;

/// Layout of a table of twiddle factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each element of a vector has its own factor, in pieces.
    Neighbours,
    /// All elements of a block share their factors: one row per block.
    Blocks,
}

/// The factors e^(-2 pi i j / length).
#[derive(Clone, Debug)]
pub(crate) struct TwiddleFactors {
    length: usize,
    layout: Layout,
    buffer: Rc<Buffer>,
}

impl TwiddleFactors {
    /// Computes the factors in double precision and stores them.
    pub(crate) fn new<P: Platform>(driver: &mut Driver<'_, P>, length: usize, layout: Layout) -> Result<Self, Error> {
        let words = words(length, layout);
        let buffer = driver.allocate(4 * words.len() as u32, PIECE_BYTES)?;
        buffer.region().store_words(driver.platform(), &words)?;
        Ok(Self { length, layout, buffer: Rc::new(buffer) })
    }

    /// Whether this is the table for `length` points, in this layout and in memory of this pool.
    pub(crate) fn is_for(&self, length: usize, layout: Layout, pool: &Pool) -> bool {
        self.length == length && self.layout == layout && self.buffer.is_of(pool)
    }

    /// Its memory.
    pub(crate) fn buffer(&self) -> Rc<Buffer> {
        self.buffer.clone()
    }
}

fn words(length: usize, layout: Layout) -> Vec<u32> {
    let factor = |steps: usize| {
        let angle = -TAU * steps as f64 / length as f64;
        [(libm::cos(angle) as f32).to_bits(), (libm::sin(angle) as f32).to_bits()]
    };
    let mut words = Vec::with_capacity(length / 16 * FACTORS_BYTES / 4);
    match layout {
        Layout::Neighbours => {
            for first in (0..length / 16).step_by(PIECE_POINTS) {
                let factors: Vec<[u32; 2]> = (first..first + PIECE_POINTS).map(factor).collect();
                words.extend(factors.iter().map(|factor| factor[0]).chain(factors.iter().map(|factor| factor[1])));
            }
        }
        Layout::Blocks => {
            for block in 0..length / 16 {
                words.extend((1..16).map(|result| factor(block * result)).flat_map(|[re, im]| [re, im, im, re]));
                words.extend([0; 4]);
            }
        }
    }
    words
}

//! Batches: up to four quads that a fragment shader processes together.

use super::super::fep::{CoveredBlock, pixel_in_block};
use super::super::pse::STEPS;
use super::super::tlb::Shape;
use crate::qpu::Varying;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::simd::vectors::Vectors;
use v3d_hw::qpu::LANES;

/// Maximum number of quads in a batch.
pub(super) const BATCH_QUADS: usize = 4;

/// Column and row in its block of each quad's first pixel.
const QUAD_IN_BLOCK: [(i32, i32); BATCH_QUADS] =
    [pixel_in_block(0), pixel_in_block(4), pixel_in_block(8), pixel_in_block(12)];

/// The same in 1/16 pixel.
const QUAD_DISTANCE: [(f64, f64); BATCH_QUADS] = {
    let mut distances = [(0.0, 0.0); BATCH_QUADS];
    let mut quad = 0;
    while quad < BATCH_QUADS {
        let (column, row) = QUAD_IN_BLOCK[quad];
        distances[quad] = ((column * STEPS) as f64, (row * STEPS) as f64);
        quad += 1;
    }
    distances
};

/// One quad of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quad {
    /// Number of its first pixel in the tile buffer.
    pub(super) pixel: usize,
    /// Index of its primitive's coefficients.
    pub(super) coefficients: usize,
    /// Screen coordinates of its first pixel.
    pub(super) screen: [u32; 2],
}

/// Up to four quads that are shaded together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(super) count: usize,
    pub(super) quads: [Quad; BATCH_QUADS],
    /// Offset of each quad's first pixel from its primitive's origin in 1/16 pixel, along x and y.
    pub(super) distance: [[f64; BATCH_QUADS]; 2],
    /// Multisample masks.
    pub(super) flags: Lanes,
    /// Pixels of reverse facing primitives.
    pub(super) reverse: Mask,
    /// A program has moved quads, which may now be in the same position.
    pub(super) moved: bool,
    /// The varyings, once they are interpolated.
    pub(super) varyings: Vec<Varying>,
    /// They are those of this batch.
    pub(super) interpolated: bool,
    /// All of these are [small](crate::qpu::io::SMALL_VARYING).
    pub(super) small_varyings: bool,
    /// Depth of each pixel, 24 bits: rb15 of the program.
    pub z: Lanes,
    /// W of each pixel: ra15 of the program.
    pub w: Lanes,
}

/// Samples of 16 pixels: a bit for each pixel, 16 for the first sample, then those for the next one. Without multisampling a pixel has only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::render) struct Samples(u64);

impl Samples {
    /// None.
    pub(in crate::render) const NONE: Self = Self(0);
    /// Those of the first quad.
    const QUAD: u64 = 0x000f_000f_000f_000f;
}

/// A quad to be added to a batch: four pixels of a block.
#[derive(Clone, Copy, Debug)]
pub struct NewQuad<'b> {
    /// The block.
    pub block: &'b CoveredBlock,
    /// The quad's first element in the block.
    pub lane: usize,
    /// Multisample masks of the block's pixels.
    pub masks: &'b Lanes,
    /// W of the block's pixels.
    pub w: &'b Lanes,
    /// Number of the quad's first pixel in the tile buffer.
    pub pixel: usize,
    /// Its primitive is reverse facing.
    pub reverse: bool,
    /// Index of its primitive's coefficients.
    pub coefficients: usize,
}

impl Batch {
    /// Whether it has no quad.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether it is full.
    pub const fn is_full(&self) -> bool {
        self.count == BATCH_QUADS
    }

    /// Whether the quad that begins with this pixel is in it.
    #[inline]
    pub fn contains(&self, pixel: usize) -> bool {
        self.quads[..self.count].iter().any(|quad| quad.pixel == pixel)
    }

    /// Whether a quad of the block that begins with this pixel is in it.
    #[inline]
    pub fn has_quad_of(&self, block: usize) -> bool {
        self.quads[..self.count].iter().any(|quad| quad.pixel & !(LANES - 1) == block)
    }

    /// The element of the pixel with this number, if the pixel is covered.
    pub fn element_of(&self, pixel: usize) -> Option<usize> {
        let quads = self.quads[..self.count].iter();
        let element = quads.enumerate().find(|(_, quad)| quad.pixel == pixel & !3).map(|(i, _)| 4 * i + pixel % 4)?;
        (self.flags.0[element] != 0).then_some(element)
    }

    /// The numbers of its quads' first pixels.
    pub fn pixels(&self) -> [Option<usize>; BATCH_QUADS] {
        std::array::from_fn(|i| self.quads[..self.count].get(i).map(|quad| quad.pixel))
    }

    /// Removes all quads. The elements of quads that a batch does not have are cleared when its first one is [added](Self::push).
    #[inline]
    pub const fn clear(&mut self) {
        (self.count, self.reverse, self.moved, self.interpolated) = (0, 0, false, false);
    }

    /// Fills an empty batch with all quads of a block, each of which is as [`NewQuad`] has it; `new` is the first of them.
    #[inline(always)]
    pub fn fill(&mut self, new: &NewQuad<'_>) {
        let NewQuad { block, pixel, coefficients, .. } = *new;
        let (dx, dy) = block.distance;
        for (i, quad) in self.quads.iter_mut().enumerate() {
            let (column, row) = pixel_in_block(4 * i);
            let screen = [(block.x + column) as u32, (block.y + row) as u32];
            *quad = Quad { pixel: pixel + 4 * i, coefficients, screen };
            self.distance[0][i] = dx + f64::from(column * STEPS);
            self.distance[1][i] = dy + f64::from(row * STEPS);
        }
        (self.flags, self.z, self.w) = (*new.masks, block.z, *new.w);
        self.reverse = if new.reverse { ALL } else { 0 };
        self.count = BATCH_QUADS;
    }

    /// Adds a quad; a full batch ignores it.
    #[inline(always)]
    pub fn push(&mut self, new: &NewQuad<'_>) {
        let (number, block) = (self.count, new.block);
        if number >= BATCH_QUADS {
            return;
        }
        if number == 0 {
            (self.flags, self.z, self.w) = Default::default();
        }
        let of_block = new.lane / 4 % BATCH_QUADS;
        let (column, row) = QUAD_IN_BLOCK[of_block];
        let screen = [(block.x + column) as u32, (block.y + row) as u32];
        self.quads[number] = Quad { pixel: new.pixel, coefficients: new.coefficients, screen };
        for (all, of_pixels) in [(&mut self.flags, new.masks), (&mut self.z, &block.z), (&mut self.w, new.w)] {
            all.0[4 * number..4 * number + 4].copy_from_slice(&of_pixels.0[4 * of_block..4 * of_block + 4]);
        }
        let (right, up) = QUAD_DISTANCE[of_block];
        self.distance[0][number] = block.distance.0 + right;
        self.distance[1][number] = block.distance.1 + up;
        self.reverse |= if new.reverse { 0xf << (4 * number) } else { 0 };
        self.count = number + 1;
    }

    /// Whether its quads are those of a block, in their order.
    #[inline(always)]
    pub(super) fn is_block(&self) -> bool {
        let first = self.quads[0].pixel;
        let follow = (1..BATCH_QUADS).all(|number| self.quads[number].pixel == first + 4 * number);
        self.count == BATCH_QUADS && first.is_multiple_of(LANES) && follow
    }

    /// The samples in its masks.
    #[inline(always)]
    pub(super) fn samples<V: Vectors>(&self, shape: Shape) -> Samples {
        let plane = |bits: u32| u64::from(!V::zero(&self.flags.map(|flags| flags & bits)));
        let elements = u64::from(self.elements());
        if shape.multisample {
            Samples((0..4).fold(0, |samples, sample| samples | (plane(1 << sample) & elements) << (16 * sample)))
        } else {
            Samples(plane(0xf) & elements)
        }
    }

    /// Takes samples that are covered from a batch's, and covers those that are left; returns them. `covered` has the samples of each block of 16 pixels.
    #[inline(always)]
    pub(in crate::render) fn hide(&self, samples: Samples, covered: &mut [Samples]) -> Samples {
        if self.is_block() {
            let Some(covered) = covered.get_mut(self.quads[0].pixel / LANES) else { return Samples::NONE };
            let left = samples.0 & !covered.0;
            covered.0 |= left;
            return Samples(left);
        }
        let mut left = Samples::NONE;
        for (number, quad) in self.quads[..self.count].iter().enumerate() {
            let Some(covered) = covered.get_mut(quad.pixel / LANES) else { continue };
            let place = (quad.pixel % LANES) & !3;
            let visible = samples.0 >> (4 * number) & Samples::QUAD & !(covered.0 >> place);
            covered.0 |= visible << place;
            left.0 |= visible << (4 * number);
        }
        left
    }

    /// Takes all other samples from its masks.
    pub(in crate::render) fn keep_samples(&mut self, samples: Samples, shape: Shape) {
        for (element, flags) in self.flags.0.iter_mut().enumerate() {
            let of_element = samples.0 >> element;
            *flags = if shape.multisample {
                (0..4).fold(0, |flags, sample| flags | (of_element >> (16 * sample) & 1) << sample) as u32
            } else {
                *flags * (of_element & 1) as u32
            };
        }
    }

    /// Exchanges the room for varyings.
    #[inline]
    pub(in crate::render) const fn exchange_varyings(&mut self, varyings: &mut Vec<Varying>) {
        std::mem::swap(&mut self.varyings, varyings);
    }

    /// The elements with a covered pixel.
    #[inline]
    pub(super) const fn elements(&self) -> Mask {
        ((1u32 << (4 * self.count)) - 1) as Mask
    }

    /// Columns (0) or rows (1) of the pixels.
    pub(super) fn screen(&self, axis: usize) -> Lanes {
        let mut lanes = Lanes::default();
        for (lanes, quad) in lanes.0.chunks_exact_mut(4).zip(&self.quads[..self.count]) {
            for (element, lane) in (0..).zip(lanes) {
                *lane = quad.screen[axis] + (element >> axis & 1);
            }
        }
        lanes
    }
}

//! Tile buffer: colour, Z, stencil and alpha mask of one tile [AG section 5].
//!
//! The buffer has 4096 samples with 32-bit colour, or 2048 with 64-bit colour. Without multisampling each sample is a pixel; with it a pixel has
//! four. Z (24 bits) and stencil (8 bits) of a sample share a word, depth in 31:8, as in memory.
//!
//! Pixels are ordered by block, as the rasteriser visits them, and within a block by quad, as quad processors access them: a block is 4x4 pixels or
//! four quads, and its 16 words are one vector. Blocks stand in rows. The samples of a pixel are in separate planes, and so are the two words of a
//! 64-bit colour.
//!
//! # Sources
//! Comparison functions and stencil operations [AG p.49-50]; sizes [AG p.46]. That the first colour of Clear Colors goes to even and the second to
//! odd columns is inferred: the guide only says that there are two [AG p.71], and drivers set both alike [linux vc4_render_cl.c].

use super::early_z::EarlyDepths;
use crate::qpu::lanes::{ALL, Lanes, Mask};
use crate::simd::vectors::Vectors;
use crate::simd::words::Words;
use std::ops::Range;
use v3d_hw::control_list::{ClearColors, CompareFunction};
use v3d_hw::tile_buffer::{StencilConfiguration, StencilOp, tile_size_px};

/// Samples of a tile with 32-bit colour; also words of its colour buffer, whatever the colour depth.
pub const SAMPLES: usize = 64 * 64;

/// How the tile buffer is divided, fixed for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Four samples a pixel.
    pub multisample: bool,
    /// Two words of colour a sample.
    pub color_64_bit: bool,
    /// Width of a tile in pixels.
    pub width_px: u32,
    /// Height of a tile in pixels.
    pub height_px: u32,
}

impl Shape {
    /// The division for a rendering mode.
    pub const fn new(multisample: bool, color_64_bit: bool, double_buffer: bool) -> Self {
        let (width_px, height_px) = tile_size_px(multisample, color_64_bit, double_buffer);
        Self { multisample, color_64_bit, width_px, height_px }
    }

    /// Pixels of a tile.
    pub const fn pixels(self) -> usize {
        (self.width_px * self.height_px) as usize
    }

    /// Samples of a pixel.
    pub const fn samples(self) -> usize {
        if self.multisample { 4 } else { 1 }
    }

    /// Words of a sample's colour.
    pub const fn color_words(self) -> usize {
        if self.color_64_bit { 2 } else { 1 }
    }

    /// Number of a pixel, by its tile coordinates: its index within a plane. Bits 1:0 are the element of its quad, bits 3:2 the quad of its block.
    #[inline]
    pub const fn pixel(self, x: u32, y: u32) -> usize {
        self.block(x, y) | ((y >> 1 & 1) << 3 | (x >> 1 & 1) << 2 | (y & 1) << 1 | x & 1) as usize
    }

    /// Number of a block's first pixel, by its tile coordinates.
    #[inline(always)]
    pub const fn block(self, x: u32, y: u32) -> usize {
        (((y / 4) * (self.width_px / 4) + x / 4) * 16) as usize
    }

    /// The numbers of the first pixels of all quads, in rows of quads.
    fn quads(self) -> impl Iterator<Item = usize> {
        (0..self.height_px).step_by(2).flat_map(move |y| (0..self.width_px).step_by(2).map(move |x| self.pixel(x, y)))
    }

    /// Copies the words of a buffer's first plane to rows of pixels, as they are on the screen.
    pub fn to_rows(self, words: &[u32], rows: &mut [u32]) {
        let width = self.width_px as usize;
        for (blocks, rows) in words.chunks_exact(4 * width).zip(rows.chunks_exact_mut(4 * width)) {
            let (low, high) = rows.split_at_mut(2 * width);
            let (row0, row1) = low.split_at_mut(width);
            let (row2, row3) = high.split_at_mut(width);
            let rows = row0.chunks_exact_mut(4).zip(row1.chunks_exact_mut(4));
            let rows = rows.zip(row2.chunks_exact_mut(4).zip(row3.chunks_exact_mut(4)));
            for (block, ((row0, row1), (row2, row3))) in blocks.chunks_exact(16).zip(rows) {
                row0.copy_from_slice(&[block[0], block[1], block[4], block[5]]);
                row1.copy_from_slice(&[block[2], block[3], block[6], block[7]]);
                row2.copy_from_slice(&[block[8], block[9], block[12], block[13]]);
                row3.copy_from_slice(&[block[10], block[11], block[14], block[15]]);
            }
        }
    }

    /// The order of a buffer's words in a full-resolution dump.
    ///
    /// Quad after quad in rows; of each quad one sample after the other, each with its four pixels. Mesa's shaders read multisampled pictures in this
    /// order [mesa vc4_nir_lower_txf_ms.c]. That dumps without multisampling, of depth and of 64-bit colour have the same order is a guess.
    pub fn dump_order(self) -> impl Iterator<Item = usize> {
        let (pixels, planes) = (self.pixels(), SAMPLES / self.pixels());
        self.quads().flat_map(move |quad| {
            (0..planes).flat_map(move |plane| (0..4).map(move |element| plane * pixels + quad + element))
        })
    }

    /// The order of the alpha mask's bytes in a full-resolution dump: plane after plane, in each quad after quad in rows. That is a guess.
    pub fn mask_dump_order(self) -> impl Iterator<Item = usize> {
        let (pixels, planes) = (self.pixels(), SAMPLES / self.pixels());
        (0..planes)
            .flat_map(move |plane| self.quads().flat_map(move |quad| plane * pixels + quad..plane * pixels + quad + 4))
    }
}

/// The values that fill the buffer when a tile is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearValues {
    /// Colour of the samples in even and in odd columns (32 bits), or the lower and upper word of the colour (64 bits).
    pub color: [u32; 2],
    /// Depth, 24 bits.
    pub z: u32,
    /// Stencil.
    pub stencil: u8,
    /// Alpha mask.
    pub vg_mask: u8,
}

impl From<ClearColors> for ClearValues {
    fn from(record: ClearColors) -> Self {
        Self {
            color: [record.color as u32, (record.color >> 32) as u32],
            z: record.z & 0xff_ffff,
            stencil: record.stencil,
            vg_mask: record.vg_mask,
        }
    }
}

/// The tile buffer.
#[derive(Clone, Debug)]
pub struct Tlb {
    shape: Shape,
    /// Colour words: a plane of pixels for each sample; with 64-bit colour the upper words follow all lower ones.
    pub color: Box<[u32; SAMPLES]>,
    /// Depth and stencil of each sample: depth in 31:8.
    pub zs: Box<[u32; SAMPLES]>,
    /// The depths that early Z compares with.
    pub early: EarlyDepths,
    /// Alpha mask of each sample.
    pub vg_mask: Box<[u8]>,
    /// Zeros, in the place of quads that a batch does not have: no mask selects their samples, so that they stay zeros.
    pub(super) no_quads: Box<[u32; SAMPLES]>,
}

impl Tlb {
    /// A tile buffer of zeros.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            color: Box::new([0; SAMPLES]),
            zs: Box::new([0; SAMPLES]),
            early: EarlyDepths::default(),
            vg_mask: vec![0; SAMPLES].into_boxed_slice(),
            no_quads: Box::new([0; SAMPLES]),
        }
    }

    /// How it is divided.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Sets the division; the contents are meaningless until they are cleared.
    pub fn set_shape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// Fills the colour buffer.
    pub fn clear_color(&mut self, values: &ClearValues) {
        let [first, second] = values.color;
        if self.shape.color_64_bit {
            let (low, high) = self.color.split_at_mut(SAMPLES / 2);
            low.fill(first);
            high.fill(second);
        } else if first == second {
            self.color.fill(first);
        } else {
            for pair in self.color.chunks_exact_mut(2) {
                pair[0] = first;
                pair[1] = second;
            }
        }
    }

    /// Fills depth and stencil.
    pub fn clear_zs(&mut self, values: &ClearValues) {
        self.zs.fill(values.z << 8 | u32::from(values.stencil));
        self.early.follow();
    }

    /// Tests a sample by its index in the Z buffer, and updates it. `z` has 24 bits.
    pub fn test_sample(&mut self, index: usize, z: u32, z_test: ZTest, stencil: Option<&StencilTest>) -> Outcome {
        let mut zs = self.zs[index];
        let outcome = test_sample(&mut zs, z, z_test, stencil);
        if outcome == Outcome::Passed
            && let Some(early) = self.early.written_with(&self.zs, z_test)
        {
            early[index] = z << 8;
        }
        self.zs[index] = zs;
        outcome
    }

    /// Fills the alpha mask.
    pub fn clear_vg_mask(&mut self, values: &ClearValues) {
        self.vg_mask.fill(values.vg_mask);
    }

    /// Index of a word of a sample's colour; `pixel` by [`Shape::pixel`].
    #[inline]
    pub const fn color_index(&self, pixel: usize, sample: usize, word: usize) -> usize {
        word * (SAMPLES / 2) + sample * self.shape.pixels() + pixel
    }

    /// Index of a sample's depth and stencil.
    #[inline]
    pub const fn zs_index(&self, pixel: usize, sample: usize) -> usize {
        sample * self.shape.pixels() + pixel
    }
}

/// The words of a block; `first` is a multiple of 16.
#[inline(always)]
pub fn block_of(words: &[u32; SAMPLES], first: usize) -> Lanes {
    let first = (first % SAMPLES) & !15;
    let mut lanes = Lanes::default();
    lanes.0.copy_from_slice(&words[first..first + 16]);
    lanes
}

/// The words of four quads; the firsts are multiples of four.
#[inline(always)]
pub fn gather(words: &[u32; SAMPLES], firsts: [usize; 4]) -> Lanes {
    let mut lanes = Lanes::default();
    for (quad, first) in lanes.0.chunks_exact_mut(4).zip(firsts) {
        let first = (first % SAMPLES) & !3;
        quad.copy_from_slice(&words[first..first + 4]);
    }
    lanes
}

/// Writes the selected elements to the words of four quads.
#[inline(always)]
pub fn scatter(words: &mut [u32; SAMPLES], firsts: [usize; 4], quads: Range<usize>, lanes: &Lanes) {
    for (number, (quad, first)) in lanes.0.chunks_exact(4).zip(firsts).enumerate() {
        if quads.contains(&number) {
            let first = (first % SAMPLES) & !3;
            words[first..first + 4].copy_from_slice(quad);
        }
    }
}

/// Whether `new` FUNCTION `stored` holds.
#[inline(always)]
pub fn compare(function: CompareFunction, new: u32, stored: u32) -> bool {
    match function {
        CompareFunction::Never => false,
        CompareFunction::Less => new < stored,
        CompareFunction::Equal => new == stored,
        CompareFunction::LessOrEqual => new <= stored,
        CompareFunction::Greater => new > stored,
        CompareFunction::NotEqual => new != stored,
        CompareFunction::GreaterOrEqual => new >= stored,
        CompareFunction::Always => true,
    }
}

/// A comparison of depths for 16 elements at once: masks for less, equal and greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    less: Mask,
    equal: Mask,
    greater: Mask,
}

impl From<CompareFunction> for Passing {
    fn from(function: CompareFunction) -> Self {
        let elements = |holds: bool| if holds { ALL } else { 0 };
        Self {
            less: elements(compare(function, 0, 1)),
            equal: elements(compare(function, 1, 1)),
            greater: elements(compare(function, 1, 0)),
        }
    }
}

impl Passing {
    /// All bits set where depths pass that are less than the stored ones, equal to them, or greater.
    #[inline(always)]
    pub fn words(self) -> [u32; 3] {
        [self.less, self.equal, self.greater].map(|elements| if elements == ALL { !0 } else { 0 })
    }

    /// The elements for which it holds. `z` has 24 bits, `zs` is depth and stencil from the tile buffer.
    #[inline(always)]
    pub fn of<V: Vectors>(self, z: &Lanes, zs: &Lanes) -> Mask {
        let (z, stored) = (V::Words::load(z), V::Words::shift_right(V::Words::load(zs), 8));
        // The answer for equal depths, flipped where the depth is less or greater and the answer for that is different.
        let [less, equal, greater] = self.words();
        let less_held = V::Words::greater(stored, z);
        let greater_held = V::Words::greater(z, stored);
        let passed = V::Words::keep(V::Words::splat(less ^ equal), less_held);
        let passed = V::Words::xor(passed, V::Words::keep(V::Words::splat(greater ^ equal), greater_held));
        V::negative(&V::Words::store(V::Words::xor(passed, V::Words::splat(equal))))
    }
}

/// The Z test: state of the control list that every fragment shader starts with [AG p.47].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZTest {
    /// Comparison of the new with the stored depth.
    pub function: CompareFunction,
    /// Samples that pass are written.
    pub update: bool,
    /// Such a write also updates the depths of early Z.
    pub early_update: bool,
}

/// Stencil configuration of one facing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StencilTest {
    /// Functions, reference and function mask.
    pub configuration: StencilConfiguration,
    /// Bits that may change.
    pub write_mask: u8,
}

/// Result of the tests of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It failed the stencil test.
    StencilFailed,
    /// It passed the stencil test and failed the Z test.
    ZFailed,
    /// It passed both.
    Passed,
}

fn stencil_op(op: StencilOp, old: u8, reference: u8) -> u8 {
    match op {
        StencilOp::Zero => 0,
        StencilOp::Keep => old,
        StencilOp::Replace => reference,
        StencilOp::IncrementSaturated => old.saturating_add(1),
        StencilOp::DecrementSaturated => old.saturating_sub(1),
        StencilOp::Invert => !old,
        StencilOp::Increment => old.wrapping_add(1),
        StencilOp::Decrement => old.wrapping_sub(1),
    }
}

/// Tests a sample and updates it. `z` has 24 bits.
#[inline(always)]
pub fn test_sample(zs: &mut u32, z: u32, z_test: ZTest, stencil: Option<&StencilTest>) -> Outcome {
    let old = *zs;
    let Some(stencil) = stencil else {
        if !compare(z_test.function, z, old >> 8) {
            return Outcome::ZFailed;
        }
        if z_test.update {
            *zs = z << 8 | old & 0xff;
        }
        return Outcome::Passed;
    };
    let configuration = &stencil.configuration;
    let old_stencil = old as u8;
    let mask = configuration.mask;
    let (outcome, op) =
        if !compare(configuration.function, u32::from(configuration.reference & mask), u32::from(old_stencil & mask)) {
            (Outcome::StencilFailed, configuration.stencil_fail)
        } else if compare(z_test.function, z, old >> 8) {
            (Outcome::Passed, configuration.z_pass)
        } else {
            (Outcome::ZFailed, configuration.z_fail)
        };
    let new_stencil = stencil_op(op, old_stencil, configuration.reference);
    let new_stencil = old_stencil & !stencil.write_mask | new_stencil & stencil.write_mask;
    let depth = if outcome == Outcome::Passed && z_test.update { z << 8 } else { old & !0xff };
    *zs = depth | u32::from(new_stencil);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::layout::Layout;
    use v3d_hw::tile_buffer::{StencilSelect, StencilWriteMask};

    const ALWAYS: ZTest = ZTest { function: CompareFunction::Always, update: true, early_update: true };

    fn stencil(function: CompareFunction, op: StencilOp, reference: u8, mask: u8, write_mask: u8) -> StencilTest {
        let configuration = StencilConfiguration {
            select: StencilSelect::Both,
            write_mask: StencilWriteMask::Bits8,
            z_fail: StencilOp::Keep,
            z_pass: op,
            stencil_fail: StencilOp::Keep,
            function,
            reference,
            mask,
        };
        // Words with the guide's bits [AG p.49].
        assert_eq!(configuration.to_word().unwrap() >> 28, 0xf);
        StencilTest { configuration, write_mask }
    }

    #[test]
    fn comparisons_are_new_against_stored() {
        let passes = |function| [(1, 2), (2, 2), (3, 2)].map(|(new, stored)| compare(function, new, stored));
        assert_eq!(passes(CompareFunction::Never), [false, false, false]);
        assert_eq!(passes(CompareFunction::Less), [true, false, false]);
        assert_eq!(passes(CompareFunction::Equal), [false, true, false]);
        assert_eq!(passes(CompareFunction::LessOrEqual), [true, true, false]);
        assert_eq!(passes(CompareFunction::Greater), [false, false, true]);
        assert_eq!(passes(CompareFunction::NotEqual), [true, false, true]);
        assert_eq!(passes(CompareFunction::GreaterOrEqual), [false, true, true]);
        assert_eq!(passes(CompareFunction::Always), [true, true, true]);
    }

    #[test]
    fn depth_is_kept_if_updates_are_off() {
        let mut zs = 0x1234_5678;
        let test = ZTest { function: CompareFunction::Less, update: false, early_update: true };
        assert_eq!(test_sample(&mut zs, 0x111111, test, None), Outcome::Passed);
        assert_eq!(zs, 0x1234_5678);
        assert_eq!(test_sample(&mut zs, 0x111111, ZTest { update: true, ..test }, None), Outcome::Passed);
        assert_eq!(zs, 0x1111_1178);
        assert_eq!(test_sample(&mut zs, 0x111111, ZTest { update: true, ..test }, None), Outcome::ZFailed);
    }

    #[test]
    fn every_stencil_operation_does_what_its_name_says() {
        let cases: [(StencilOp, u8, u8); 12] = [
            (StencilOp::Zero, 0x55, 0),
            (StencilOp::Keep, 0x55, 0x55),
            (StencilOp::Replace, 0x55, 0xab),
            (StencilOp::IncrementSaturated, 0xfe, 0xff),
            (StencilOp::IncrementSaturated, 0xff, 0xff),
            (StencilOp::DecrementSaturated, 1, 0),
            (StencilOp::DecrementSaturated, 0, 0),
            (StencilOp::Invert, 0x0f, 0xf0),
            (StencilOp::Increment, 0xff, 0),
            (StencilOp::Increment, 0x7f, 0x80),
            (StencilOp::Decrement, 0, 0xff),
            (StencilOp::Decrement, 0x80, 0x7f),
        ];
        for (op, old, new) in cases {
            let mut zs = 0xaaaaaa00 | u32::from(old);
            let test = stencil(CompareFunction::Always, op, 0xab, 0xff, 0xff);
            assert_eq!(test_sample(&mut zs, 0xbbbbbb, ALWAYS, Some(&test)), Outcome::Passed);
            assert_eq!(zs, 0xbbbbbb00 | u32::from(new), "{op:?} of {old:#x}");
        }
    }

    #[test]
    fn stencil_masks_limit_what_is_compared_and_what_is_written() {
        let mut zs = 0x0000_00f5;
        let test = stencil(CompareFunction::Equal, StencilOp::Invert, 0x05, 0x0f, 0xf0);
        assert_eq!(test_sample(&mut zs, 1, ALWAYS, Some(&test)), Outcome::Passed);
        assert_eq!(zs, 0x0000_0105);
        let test = stencil(CompareFunction::Less, StencilOp::Invert, 0x05, 0x0f, 0xff);
        assert_eq!(test_sample(&mut zs, 1, ALWAYS, Some(&test)), Outcome::StencilFailed, "5 < 5 does not hold");
        assert_eq!(zs, 0x0000_0105);
    }

    #[test]
    fn rows_have_each_pixel_in_its_place() {
        let shape = Shape::new(false, true, false);
        let words: [u32; SAMPLES] = std::array::from_fn(|word| word as u32);
        let mut rows = vec![0; shape.pixels()];
        shape.to_rows(&words, &mut rows);
        for (y, x) in (0..shape.height_px).flat_map(|y| (0..shape.width_px).map(move |x| (y, x))) {
            assert_eq!(rows[(y * shape.width_px + x) as usize], shape.pixel(x, y) as u32);
        }
    }

    #[test]
    fn places_of_pixels_are_a_permutation() {
        for (multisample, color_64_bit, double) in [
            (false, false, false),
            (true, false, false),
            (false, true, false),
            (true, true, false),
            (false, false, true),
        ] {
            let shape = Shape::new(multisample, color_64_bit, double);
            let tlb = Tlb::new(shape);
            let mut seen = vec![false; SAMPLES];
            for (x, y) in (0..shape.height_px).flat_map(|y| (0..shape.width_px).map(move |x| (x, y))) {
                for (sample, word) in
                    (0..shape.samples()).flat_map(|s| (0..shape.color_words()).map(move |word| (s, word)))
                {
                    let index = tlb.color_index(shape.pixel(x, y), sample, word);
                    assert!(!std::mem::replace(&mut seen[index], true));
                }
            }
            assert_eq!(seen.iter().filter(|&&taken| taken).count(), if double { SAMPLES / 2 } else { SAMPLES });
        }
    }
}

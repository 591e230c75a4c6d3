//! Early Z: fragments that are hidden never reach a quad processor [AG p.14, p.69, p.71].
//!
//! The early test does not read the Z buffer. It compares with a depth of its own, "a reduced resolution shadow of the tile's Z-buffer, which is maintained
//! by the tile buffer block" [AG p.14], here the *early depth*.
//!
//! # What is known of the early depth
//! - It is cleared with the tile [AG p.46].
//! - A write of Z by a fragment shader updates it, if early-Z updates are on [AG p.47]. Fragments that the shader discards, or that fail a test, thus do not.
//! - With early-Z updates off it stays as it is. A board lost pixels in this way: a full-screen quad that always passes wrote the farthest depth without
//!   early-Z updates, and primitives behind what the tile had shown before were rejected [bm docs/DRIVERS.md].
//!
//! # What is inferred from drivers
//! - With early-Z updates on it follows a Z that moves away, too. Broadcom's and Mesa's drivers leave updates on in all draws, whatever their depth test, and
//!   turn on early Z for Less and LessOrEqual in the same tile [brcm glxx_hw_4.c] [mesa vc4_state.c]. Boards pass dEQP's tests of random depth tests with that.
//! - Updates do nothing while Z updates are off: those drivers leave them on then, too, and draw things without depth first. Broadcom's driver for the V3D's
//!   successor says so of that [brcm vc5 gfx_ez.c].
//! - Loading Z sets it: those drivers use early Z after loads, except for multisampled ones of full resolution. There it may keep the depths of an earlier tile
//!   (HW-2905) [mesa vc4_emit.c], which is reported when primitives are drawn.
//!
//! # What is guessed
//! - The resolution. Here each sample has an early depth of 24 bits, so that early Z rejects whatever the Z test would where the depths agree. Silicon may let
//!   hidden fragments pass, which the Z test then rejects.
//! - The comparison: here it is that of the Z test. The direction in Tile Rendering Mode Configuration is not used.
//!
//! While the depths agree nothing but the Z buffer is stored. A fragment that the early test rejects and the Z test would not is reported.

use super::tlb::{Passing, SAMPLES, Tlb, ZTest, block_of};
use crate::qpu::lanes::{Lanes, Mask};
use crate::simd::vectors::Vectors;

/// The early depths of a tile.
#[derive(Clone, Debug, Default)]
pub struct EarlyDepths {
    /// Depths in 31:8, in the order of the Z buffer; bits 7:0 have no meaning. There are none until a tile needs them.
    words: Option<Box<[u32; SAMPLES]>>,
    /// They differ from the Z buffer, or did since the tile was cleared or loaded.
    apart: bool,
}

impl EarlyDepths {
    /// Makes them those of the Z buffer: it was cleared or loaded.
    pub fn follow(&mut self) {
        self.apart = false;
    }

    /// The words, if they are not those of the Z buffer.
    #[inline(always)]
    pub fn words(&self) -> Option<&[u32; SAMPLES]> {
        if self.apart { self.words.as_deref() } else { None }
    }

    /// Called before Z is written: the words that are to be written as well, if there are any.
    #[inline(always)]
    pub fn written_with(&mut self, zs: &[u32; SAMPLES], test: ZTest) -> Option<&mut [u32; SAMPLES]> {
        if !test.update {
            return None;
        }
        if !test.early_update {
            self.part(zs);
            return None;
        }
        if self.apart { self.words.as_deref_mut() } else { None }
    }

    /// Keeps the depths of now, because the Z buffer is about to change without them.
    fn part(&mut self, zs: &[u32; SAMPLES]) {
        if self.apart {
            return;
        }
        match &mut self.words {
            Some(words) => words.copy_from_slice(zs),
            None => self.words = Some(Box::new(*zs)),
        }
        self.apart = true;
    }
}

/// The masks of a block without the samples that fail the early test, and the elements that have any left. `pixel`: number of the block's first pixel;
/// `covered`: elements whose mask is not 0.
#[inline(always)]
pub fn visible<V: Vectors>(
    tlb: &Tlb,
    test: Passing,
    pixel: usize,
    z: &Lanes,
    masks: &Lanes,
    covered: Mask,
) -> (Lanes, Mask) {
    let depths = tlb.early.words().unwrap_or(&tlb.zs);
    let mut visible = *masks;
    if !tlb.shape().multisample {
        let passed = test.of::<V>(z, &block_of(depths, pixel));
        V::blend(&mut visible, &Lanes::default(), !passed);
        return (visible, covered & passed);
    }
    for sample in 0..4 {
        let without = visible.map(|mask| mask & !(1 << sample));
        V::blend(&mut visible, &without, !test.of::<V>(z, &block_of(depths, tlb.zs_index(pixel, sample))));
    }
    (visible, !V::zero(&visible))
}

/// The elements of a block of which the early test rejects samples that the Z test would not. `masks`: before the early test, `visible`: after it.
#[inline(always)]
pub fn wrongly_hidden<V: Vectors>(
    tlb: &Tlb,
    test: Passing,
    pixel: usize,
    z: &Lanes,
    masks: &Lanes,
    visible: &Lanes,
) -> Mask {
    let shape = tlb.shape();
    let rejected = masks.zip(*visible, |mask, visible| mask & !visible);
    let mut wrongly = 0;
    // Not a fold: its closure would be compiled without the vectors.
    for sample in 0..shape.samples() {
        // Without multisampling a mask other than 0 selects the pixel.
        let of_sample = if shape.multisample { rejected.map(|mask| mask & 1 << sample) } else { rejected };
        let passed = test.of::<V>(z, &block_of(&tlb.zs, tlb.zs_index(pixel, sample)));
        wrongly |= passed & !V::zero(&of_sample);
    }
    wrongly
}

#[cfg(test)]
mod tests {
    use super::super::tlb::{ClearValues, Shape, compare};
    use super::*;
    use crate::qpu::lanes::ALL;
    use crate::random::Random;
    use crate::simd::vectors::Portable;
    use crate::simd::{SimdDispatch, SimdLevel, SimdTask};
    use v3d_hw::control_list::CompareFunction;

    #[test]
    fn only_samples_that_fail_are_removed() {
        let test = Passing::from(CompareFunction::Less);
        let visible = |tlb: &Tlb, z: u32, mask: u32| {
            let (z, masks) = (Lanes::splat(z), Lanes::splat(mask));
            visible::<Portable<false>>(tlb, test, 16, &z, &masks, ALL).0.0
        };
        let mut tlb = Tlb::new(Shape::new(false, false, false));
        tlb.zs[16..20].copy_from_slice(&[0x100 << 8, 0x200 << 8 | 0xff, 0x300 << 8, 0x400 << 8]);
        tlb.zs[31] = 0x201 << 8;
        assert_eq!(visible(&tlb, 0x200, 0xf), [0, 0, 0xf, 0xf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf]);
        assert_eq!(visible(&tlb, 0x200, 0), [0; 16]);

        let mut tlb = Tlb::new(Shape::new(true, false, false));
        for sample in 0..4 {
            let index = tlb.zs_index(25, sample);
            tlb.zs[index] = (sample as u32) << 8;
        }
        let seen = visible(&tlb, 1, 0xf);
        assert_eq!((seen[9], seen.iter().sum::<u32>()), (0b1100, 0b1100));
    }

    const WITHOUT: ZTest = ZTest { function: CompareFunction::Always, update: true, early_update: false };
    const WITH: ZTest = ZTest { early_update: true, ..WITHOUT };

    /// Writes a depth to all of a tile, as a fragment shader would.
    fn write(tlb: &mut Tlb, z: u32, test: ZTest) {
        if let Some(early) = tlb.early.written_with(&tlb.zs, test) {
            early.fill(z << 8);
        }
        if test.update {
            tlb.zs.fill(z << 8);
        }
    }

    #[test]
    fn early_depths_stay_until_they_are_updated_cleared_or_loaded() {
        let seen = |tlb: &Tlb| tlb.early.words().unwrap_or(&tlb.zs)[77] >> 8;
        let mut tlb = Tlb::new(Shape::new(false, false, false));
        write(&mut tlb, 5, WITH);
        assert_eq!(seen(&tlb), 5, "updated");
        write(&mut tlb, 9, WITHOUT);
        assert_eq!((seen(&tlb), tlb.zs[77] >> 8), (5, 9), "not updated");
        write(&mut tlb, 7, ZTest { update: false, ..WITH });
        assert_eq!((seen(&tlb), tlb.zs[77] >> 8), (5, 9), "Z is not updated");
        write(&mut tlb, 8, WITH);
        assert_eq!(seen(&tlb), 8, "updated although apart");
        write(&mut tlb, 3, WITHOUT);
        tlb.clear_zs(&ClearValues { z: 6, ..ClearValues::default() });
        assert_eq!(seen(&tlb), 6, "cleared");
    }

    struct WronglyHidden<'a>(&'a Tlb, Passing, usize, &'a Lanes, &'a Lanes, &'a Lanes);

    impl SimdTask for WronglyHidden<'_> {
        type Output = Mask;

        #[inline(always)]
        fn run<V: Vectors>(self) -> Self::Output {
            let Self(tlb, test, pixel, z, masks, visible) = self;
            wrongly_hidden::<V>(tlb, test, pixel, z, masks, visible)
        }
    }

    struct Visible<'a>(&'a Tlb, Passing, usize, &'a Lanes, &'a Lanes);

    impl SimdTask for Visible<'_> {
        type Output = (Lanes, Mask);

        #[inline(always)]
        fn run<V: Vectors>(self) -> Self::Output {
            let Self(tlb, test, pixel, z, masks) = self;
            visible::<V>(tlb, test, pixel, z, masks, !V::zero(masks))
        }
    }

    /// In each engine, and with early depths of their own: the samples are those that pass one by one.
    #[test]
    fn blocks_are_tested_as_their_samples_one_by_one() {
        crate::simd::report_missing_levels();
        let mut random = Random::new(0, 3);
        let mut next = move |limit| random.below(limit);
        let functions = CompareFunction::ALL.iter().copied();
        let (mut rejected, mut wrong) = (0, 0);
        for (round, function) in functions.cycle().take(4000).enumerate() {
            let mut tlb = Tlb::new(Shape::new(round % 3 == 0, false, false));
            tlb.zs.iter_mut().for_each(|zs| *zs = next(4) << 8 | next(256));
            if round % 2 == 0 {
                tlb.early.written_with(&tlb.zs, WITHOUT);
                tlb.zs.iter_mut().for_each(|zs| *zs = next(4) << 8 | next(256));
            }
            let depths = *tlb.early.words().unwrap_or(&tlb.zs);
            let pixel = 16 * next(tlb.shape().pixels() as u32 / 16) as usize;
            let z = Lanes(std::array::from_fn(|_| next(4)));
            let masks = Lanes(std::array::from_fn(|_| if tlb.shape().multisample { next(16) } else { 0xf * next(2) }));
            let mut expected = masks;
            let mut wrongly = 0;
            for element in 0..16 {
                for sample in 0..tlb.shape().samples() {
                    let bits = if tlb.shape().multisample { 1 << sample } else { 0xf };
                    let index = tlb.zs_index(pixel + element, sample);
                    if masks.0[element] & bits != 0 && !compare(function, z.0[element], depths[index] >> 8) {
                        expected.0[element] &= !bits;
                        if compare(function, z.0[element], tlb.zs[index] >> 8) {
                            wrongly |= 1 << element;
                        }
                    }
                }
            }
            for level in [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512] {
                let visible = Visible(&tlb, function.into(), pixel, &z, &masks);
                let left =
                    (0..16).filter(|&element| expected.0[element] != 0).fold(0, |left, element| left | 1 << element);
                assert_eq!(SimdDispatch::limited_to(level).run(visible), (expected, left), "round {round}, {level:?}");
                let hidden = WronglyHidden(&tlb, function.into(), pixel, &z, &masks, &expected);
                assert_eq!(SimdDispatch::limited_to(level).run(hidden), wrongly, "round {round}, {level:?}");
            }
            rejected += usize::from(expected != masks);
            wrong += usize::from(wrongly != 0);
        }
        assert!(rejected > 2000 && wrong > 1000, "the suite rejects something: {rejected}, {wrong} of them wrongly");
    }
}

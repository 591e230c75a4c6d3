//! Early Z: fragments that are hidden never reach a quad processor [AG p.14, p.69, p.71].
//!
//! Silicon tests against a shadow of the Z buffer of reduced resolution, whose bounds move in one direction only; it may let hidden fragments pass,
//! which the Z test proper then rejects. Here the test is against the Z buffer itself: everything before a quad has been shaded when the quad is
//! tested, so it rejects exactly what the Z test would. That relies on what drivers have to ensure anyway when they enable early Z: the shader writes
//! the interpolated Z, and nothing happens on failure of the Z test (no stencil operation).
//!
//! # Sources
//! When drivers enable it: [mesa vc4_state.c].

use super::tlb::{Passing, Tlb, block_of};
use crate::lanes::Lanes;
use crate::simd::vectors::Vectors;

/// The masks of a block without the samples that fail the Z test. `pixel`: number of the block's first pixel.
#[inline(always)]
pub fn visible<V: Vectors>(tlb: &Tlb, test: Passing, pixel: usize, z: &Lanes, masks: &Lanes) -> Lanes {
    let mut visible = *masks;
    if !tlb.shape().multisample {
        V::blend(&mut visible, &Lanes::default(), !test.of::<V>(z, &block_of(&tlb.zs, pixel)));
        return visible;
    }
    for sample in 0..4 {
        let without = visible.map(|mask| mask & !(1 << sample));
        V::blend(&mut visible, &without, !test.of::<V>(z, &block_of(&tlb.zs, tlb.zs_index(pixel, sample))));
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::super::tlb::Shape;
    use super::*;
    use crate::simd::vectors::Portable;
    use v3d_hw::control_list::CompareFunction;

    #[test]
    fn only_samples_that_fail_are_removed() {
        let test = Passing::from(CompareFunction::Less);
        let visible = |tlb: &Tlb, z: u32, mask: u32| {
            let (z, masks) = (Lanes::splat(z), Lanes::splat(mask));
            visible::<Portable<false>>(tlb, test, 16, &z, &masks).0
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
}

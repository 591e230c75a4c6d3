//! Early Z: fragments that are hidden never reach a quad processor [AG p.14, p.69, p.71].
//!
//! The silicon tests against a shadow of the Z buffer of reduced resolution, whose bounds move in one direction only; it may let hidden fragments pass, which the
//! Z test proper then stops. Here the test is against the Z buffer itself: everything before a quad has been shaded when the quad is tested, so it stops exactly
//! what the Z test would stop. That presumes what drivers have to ensure anyway when they enable early Z: the shader writes the interpolated Z, and
//! nothing happens on failure of the Z test (no stencil operation).
//!
//! # Sources
//! When drivers enable it: [mesa vc4_state.c].

use super::tlb::{Tlb, ZTest, compare};

/// Takes the samples of a quad that fail the Z test out of its masks. `pixel` is the number of the quad's first pixel.
#[inline]
pub fn remove_hidden(tlb: &Tlb, test: ZTest, pixel: usize, z: &[u32; 4], masks: &mut [u8; 4]) {
    let multisample = tlb.shape().multisample;
    for (element, (mask, &z)) in masks.iter_mut().zip(z).enumerate() {
        if !multisample {
            if !compare(test.function, z, tlb.zs[pixel + element] >> 8) {
                *mask = 0;
            }
            continue;
        }
        for sample in 0..4 {
            if !compare(test.function, z, tlb.zs[tlb.zs_index(pixel + element, sample)] >> 8) {
                *mask &= !(1 << sample);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tlb::Shape;
    use super::*;
    use v3d_hw::control_list::CompareFunction;

    #[test]
    fn only_samples_that_fail_are_removed() {
        let test = ZTest { function: CompareFunction::Less, update: true };
        let mut tlb = Tlb::new(Shape::new(false, false, false));
        tlb.zs[8..12].copy_from_slice(&[0x100 << 8, 0x200 << 8 | 0xff, 0x300 << 8, 0x400 << 8]);
        let mut masks = [0xf, 0xf, 0, 0xf];
        remove_hidden(&tlb, test, 8, &[0x200; 4], &mut masks);
        assert_eq!(masks, [0, 0, 0, 0xf]);

        let mut tlb = Tlb::new(Shape::new(true, false, false));
        for sample in 0..4 {
            let index = tlb.zs_index(9, sample);
            tlb.zs[index] = (sample as u32) << 8;
        }
        let mut masks = [0xf; 4];
        remove_hidden(&tlb, test, 8, &[1; 4], &mut masks);
        assert_eq!(masks, [0, 0b1100, 0, 0]);
    }
}

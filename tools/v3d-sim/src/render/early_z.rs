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

/// The masks of a quad without the samples that fail the Z test. `pixel` is the number of the quad's first pixel.
#[inline]
pub fn visible(tlb: &Tlb, test: ZTest, pixel: usize, z: &[u32; 4], masks: [u32; 4]) -> [u32; 4] {
    let multisample = tlb.shape().multisample;
    std::array::from_fn(|element| {
        let (mask, z, place) = (masks[element], z[element], pixel + element);
        let passes = |sample: usize| compare(test.function, z, tlb.zs[tlb.zs_index(place, sample)] >> 8);
        if mask == 0 {
            0
        } else if multisample {
            (0..4).fold(mask, |mask, sample| if passes(sample) { mask } else { mask & !(1 << sample) })
        } else if passes(0) {
            mask
        } else {
            0
        }
    })
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
        assert_eq!(visible(&tlb, test, 8, &[0x200; 4], [0xf, 0xf, 0, 0xf]), [0, 0, 0, 0xf]);

        let mut tlb = Tlb::new(Shape::new(true, false, false));
        for sample in 0..4 {
            let index = tlb.zs_index(9, sample);
            tlb.zs[index] = (sample as u32) << 8;
        }
        assert_eq!(visible(&tlb, test, 8, &[1; 4], [0xf; 4]), [0, 0b1100, 0, 0]);
    }
}

//! Level of detail: which levels of a texture a quad is sampled from [AG p.43].
//!
//! The four elements of a quad are a square of 2x2 pixels, so that the differences between them are the derivatives of the coordinates: one vector in
//! texels of level 0 from pixel to pixel along x, one along y. The level of detail is the binary logarithm of the length of the longer one, as OpenGL
//! defines it, plus the bias. How exactly the hardware comes to it, the guide does not say.

use v3d_hw::qpu::LANES;
use v3d_hw::texture::{MagFilter, MinFilter};

/// Which levels to sample, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Selection {
    /// The finer level.
    pub(super) level: usize,
    /// Share of the next level, in 1/256; 0: it is not sampled.
    pub(super) next_share: u32,
    /// Blend 2x2 texels of a level.
    pub(super) linear: bool,
}

/// The square of the length of the longer derivative, of coordinates in texels of level 0.
///
/// Elements are left and right of the first row, left and right of the second.
#[inline(always)]
pub(super) fn longer_squared<const N: usize>(coordinates: [[f32; 4]; N]) -> f32 {
    let squared = |neighbour: usize| {
        coordinates.iter().map(|c| c[neighbour] - c[0]).map(|difference| difference * difference).sum::<f32>()
    };
    squared(1).max(squared(2))
}

/// The same for the four quads of a vector.
#[inline(always)]
pub(super) fn longer_squared_of_quads<const N: usize>(coordinates: [[f32; LANES]; N]) -> [f32; LANES / 4] {
    std::array::from_fn(|quad| {
        longer_squared(coordinates.map(|c| [c[4 * quad], c[4 * quad + 1], c[4 * quad + 2], c[4 * quad + 3]]))
    })
}

/// The level of detail of the square of a derivative, without bias. No change at all gives a very small one.
#[inline(always)]
pub(super) fn level_of_detail(squared: f32) -> f32 {
    if squared > 0.0 { 0.5 * log2(squared) } else { -126.0 }
}

/// The binary logarithm of a number above 0: of our own, because libraries differ in their last bits.
#[inline(always)]
fn log2(value: f32) -> f32 {
    /// The sum of `z^(2n) / (2n + 1)`, highest power first. What is left off is less than 1e-15.
    const TERMS: [f64; 9] =
        [1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0];
    /// The upper half of the root of 1/2.
    const ROOT_OF_HALF: u32 = (std::f64::consts::FRAC_1_SQRT_2.to_bits() >> 32) as u32;
    let bits = f64::from(value).to_bits();
    // The exponent for which the rest is between the roots of 1/2 and of 2.
    let exponent = ((bits >> 32) as u32).wrapping_sub(ROOT_OF_HALF) as i32 >> 20;
    let rest = f64::from_bits(bits.wrapping_sub(u64::from(exponent as u32) << 52));
    // ln x = 2 artanh z = 2 (z + z^3 / 3 + z^5 / 5 + ...)
    let z = (rest - 1.0) / (rest + 1.0);
    let sum = TERMS.iter().fold(0.0, |sum, term| sum * (z * z) + term);
    let result = f64::from(exponent) + 2.0 * std::f64::consts::LOG2_E * z * sum;
    if value == f32::INFINITY { value } else { result as f32 }
}

/// Whether filters ever look at the level of detail.
pub(super) fn matters(mag: MagFilter, min: MinFilter) -> bool {
    !matches!((mag, min), (MagFilter::Linear, MinFilter::Linear) | (MagFilter::Nearest, MinFilter::Nearest))
}

/// Applies the filters to a level of detail.
#[inline]
pub(super) fn select(lod: f32, mag: MagFilter, min: MinFilter, last_level: u32) -> Selection {
    let last = last_level.min(15);
    if lod.is_nan() || lod <= 0.0 {
        return Selection { level: 0, next_share: 0, linear: mag == MagFilter::Linear };
    }
    let nearest_level = || (lod + 0.5).min(last as f32) as usize;
    let two_levels = || {
        let fixed = (lod.min(last as f32) * 256.0) as u32;
        ((fixed / 256) as usize, fixed % 256)
    };
    let (linear, (level, next_share)) = match min {
        MinFilter::Linear => (true, (0, 0)),
        MinFilter::Nearest | MinFilter::Reserved(_) => (false, (0, 0)),
        MinFilter::NearMipNear => (false, (nearest_level(), 0)),
        MinFilter::NearMipLin => (false, two_levels()),
        MinFilter::LinMipNear => (true, (nearest_level(), 0)),
        MinFilter::LinMipLin => (true, two_levels()),
    };
    Selection { level, next_share, linear }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_derivative_decides() {
        // 3 texels to the right; 0 and 8 downwards.
        let x = [10.0, 13.0, 10.0, 13.0];
        let y = [0.0, 0.0, 8.0, 8.0];
        assert_eq!(level_of_detail(longer_squared([x, y])), 3.0);
        // 3 and 4 to the right: 5.
        assert_eq!(longer_squared([[0.0, 3.0, 0.0, 3.0], [0.0, 4.0, 1.0, 5.0]]), 25.0);
        assert!(level_of_detail(longer_squared([[1.0; 4], [2.0; 4]])) < -100.0);
    }

    /// Against the host's, which is not exact to the last bit either, and exactly where the result is a whole number.
    #[test]
    fn logarithms_are_right_to_the_last_bit_but_one() {
        for bits in (1..0x7f80_0000u32).step_by(1009) {
            let value = f32::from_bits(bits);
            let (own, host) = (log2(value), value.log2());
            let difference = (own.to_bits() as i32 - host.to_bits() as i32).abs();
            assert!(
                difference <= 1 || own.abs() < 1e-6 && (own - host).abs() < 1e-12,
                "{value:e}: {own} instead of {host}"
            );
        }
        for exponent in -149..128 {
            assert_eq!(log2(2f64.powi(exponent) as f32), exponent as f32);
        }
        assert_eq!(log2(f32::INFINITY), f32::INFINITY);
    }

    #[test]
    fn filters_choose_levels_as_table_19_says() {
        let check = |lod, min, level, next_share, linear| {
            let expected = Selection { level, next_share, linear };
            assert_eq!(select(lod, MagFilter::Nearest, min, 4), expected, "{lod} {min:?}");
        };
        check(-0.5, MinFilter::LinMipLin, 0, 0, false);
        check(2.75, MinFilter::Linear, 0, 0, true);
        check(2.75, MinFilter::Nearest, 0, 0, false);
        check(2.75, MinFilter::NearMipNear, 3, 0, false);
        check(2.25, MinFilter::NearMipNear, 2, 0, false);
        check(2.75, MinFilter::NearMipLin, 2, 192, false);
        check(2.75, MinFilter::LinMipNear, 3, 0, true);
        check(2.75, MinFilter::LinMipLin, 2, 192, true);
        check(99.0, MinFilter::LinMipLin, 4, 0, true);
        check(f32::INFINITY, MinFilter::LinMipNear, 4, 0, true);
    }
}

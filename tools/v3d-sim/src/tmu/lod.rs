//! Level of detail: the levels of a texture that a quad is sampled from [AG p.43].
//!
//! The four elements of a quad are a square of 2x2 pixels, so that the differences between them are the derivatives of the coordinates: one for each
//! axis of the texture in texels of level 0 from pixel to pixel along x, and one along y. The level of detail is the binary logarithm of the greater
//! of the two changes, plus the bias.
//!
//! # Surprises
//! - The change of a cube map's direction is the sum of the absolute values of its derivatives, which OpenGL allows in place of their length.
//! - The change along an axis counts at most as the size of the texture.
//! - The limit between magnification and minification is a level of detail of 0.5 if the former blends and the latter takes the nearest texel of one
//!   of several levels, as in section 3.7.8 of OpenGL ES 2.0; else 0.
//!
//! # Sources
//! All of it follows from which tests of dEQP-GLES2 a Pi 3 passes and fails [deqp]: the sums from six with cube maps, the limit from four with
//! textures that are not square, the 0.5 from six with cube maps. No test distinguishes sums from lengths in flat textures: all 503 of them give the
//! same result. Software renderers, with which the captured jobs are compared, approximate lengths; sums would be off by up to half a level.

use crate::simd::logarithm::log2;
use v3d_hw::texture::{MagFilter, MinFilter};

/// The levels to sample, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Selection {
    /// The finer level.
    pub(super) level: usize,
    /// Share of the next level, in 1/256; 0: it is not sampled.
    pub(super) next_share: u32,
    /// Blend 2x2 texels of a level.
    pub(super) linear: bool,
}

/// The derivatives along x and y, in texels of level 0; each axis has this many texels.
///
/// Elements are left and right of the first row, left and right of the second.
#[inline(always)]
fn derivatives<const N: usize>(coordinates: [[f32; 4]; N], texels: [f32; N]) -> [[f32; N]; 2] {
    [1, 2].map(|neighbour: usize| {
        std::array::from_fn(|axis| {
            let derivative = (coordinates[axis][neighbour] - coordinates[axis][0]).abs();
            if derivative > texels[axis] { texels[axis] } else { derivative }
        })
    })
}

/// The greater change of coordinates in a flat texture, as a length.
#[inline(always)]
pub(super) fn flat_change(coordinates: [[f32; 4]; 2], texels: [f32; 2]) -> f32 {
    let [x, y] = derivatives(coordinates, texels).map(|[s, t]| s * s + t * t);
    x.max(y).sqrt()
}

/// The greater change of directions into a cube map with faces of this width, as a sum.
#[inline(always)]
pub(super) fn cube_change(directions: [[f32; 4]; 3], texels: f32) -> f32 {
    let [x, y] = derivatives(directions, [texels; 3]).map(|[s, t, r]| s + t + r);
    x.max(y)
}

/// The level of detail of a change of 0.
pub(super) const NO_CHANGE: f32 = -150.0;

/// The level of detail of a change in texels, without bias.
#[inline(always)]
pub(super) fn level_of_detail(change: f32) -> f32 {
    if change > 0.0 { log2(change) } else { NO_CHANGE }
}

/// The maximum level of detail at which a texture is magnified.
#[inline(always)]
pub(super) fn magnified_up_to(mag: MagFilter, min: MinFilter) -> f32 {
    match (mag, min) {
        (MagFilter::Linear, MinFilter::NearMipNear | MinFilter::NearMipLin) => 0.5,
        _ => 0.0,
    }
}

/// Whether the filters depend on the level of detail.
pub(super) fn matters(mag: MagFilter, min: MinFilter) -> bool {
    !matches!((mag, min), (MagFilter::Linear, MinFilter::Linear) | (MagFilter::Nearest, MinFilter::Nearest))
}

/// Applies the filters to a level of detail.
#[inline]
pub(super) fn select(lod: f32, mag: MagFilter, min: MinFilter, last_level: u32) -> Selection {
    let last = last_level.min(15);
    if lod.is_nan() || lod <= magnified_up_to(mag, min) {
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
    fn the_greater_change_decides() {
        // 3 texels to the right; 0 and 8 downwards.
        let x = [10.0, 13.0, 10.0, 13.0];
        let y = [0.0, 0.0, 8.0, 8.0];
        assert_eq!(level_of_detail(flat_change([x, y], [64.0; 2])), 3.0);
        // 3 and -4 to the right: 5.
        assert_eq!(flat_change([[0.0, 3.0, 0.0, 3.0], [0.0, -4.0, 1.0, 5.0]], [64.0; 2]), 5.0);
        assert!(level_of_detail(flat_change([[1.0; 4], [2.0; 4]], [64.0; 2])) < -100.0);
    }

    /// 1, -2 and -5 to the right: 8, while their length is the root of 30; 3, 3 and 3 downwards are 9.
    #[test]
    fn the_derivatives_of_directions_are_summed_up() {
        let directions = |down: f32| [[0.0, 1.0, down, 0.0], [0.0, -2.0, down, 0.0], [7.0, 2.0, 7.0 + down, 7.0]];
        assert_eq!(level_of_detail(cube_change(directions(0.0), 64.0)), 3.0);
        assert_eq!(cube_change(directions(3.0), 64.0), 9.0);
        assert_eq!(cube_change(directions(0.0), 4.0), 7.0);
    }

    #[test]
    fn an_axis_changes_by_the_whole_texture_at_most() {
        // A texture of 12 by 5 texels, 3 times in a pixel along both axes: 36 and 15 texels, which count as 12 and 5.
        let along = |texels: f32| [0.0, texels, 0.0, texels];
        assert_eq!(flat_change([along(36.0), along(15.0)], [12.0, 5.0]), 13.0);
        assert_eq!(flat_change([along(-36.0), along(0.0)], [12.0, 5.0]), 12.0);
        assert_eq!(flat_change([along(9.0), along(-4.0)], [12.0, 5.0]), 97f32.sqrt());
        assert_eq!(flat_change([along(0.0), along(-15.0)], [12.0, 5.0]), 5.0);
    }

    #[test]
    fn linear_magnification_goes_on_to_half_a_level_over_nearest_mipmaps() {
        let linear = |lod, mag, min| select(lod, mag, min, 4).linear;
        for min in [MinFilter::NearMipNear, MinFilter::NearMipLin] {
            assert!(linear(0.5, MagFilter::Linear, min) && !linear(0.51, MagFilter::Linear, min), "{min:?}");
            // Nothing of the next level is in it up to there.
            assert_eq!(select(0.5, MagFilter::Linear, min, 4).next_share, 0);
            assert_eq!(select(0.25, MagFilter::Nearest, MinFilter::NearMipLin, 4).next_share, 64);
        }
        // With any other filters the border is at 0.
        assert!(!linear(0.01, MagFilter::Linear, MinFilter::Nearest));
        assert!(
            linear(0.01, MagFilter::Nearest, MinFilter::LinMipNear)
                && !linear(0.0, MagFilter::Nearest, MinFilter::LinMipNear)
        );
        assert_eq!(select(0.25, MagFilter::Linear, MinFilter::LinMipLin, 4).next_share, 64);
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

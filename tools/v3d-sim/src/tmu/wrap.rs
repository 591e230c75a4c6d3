//! Wrap modes: which texel stands in for one outside of the image [AG p.41].

use v3d_hw::texture::Wrap;

/// The texel of an image of `size` texels that stands at `position`; `None`: the border.
#[inline]
pub(super) fn wrap(mode: Wrap, position: i32, size: u32) -> Option<u32> {
    let size = size as i32;
    if (0..size).contains(&position) {
        return Some(position as u32);
    }
    Some(match mode {
        Wrap::Repeat => position.rem_euclid(size),
        Wrap::Clamp => position.clamp(0, size - 1),
        Wrap::Mirror => {
            let within = position.rem_euclid(2 * size);
            if within < size { within } else { 2 * size - 1 - within }
        }
        Wrap::Border => return None,
    } as u32)
}

/// A coordinate in texels of an image of `size` texels, bounded so that integers can hold it.
///
/// Repeated coordinates lose their whole part first, and so keep their exactness. What is not a number counts as 0.
#[inline]
pub(super) fn scale(mode: Wrap, coordinate: f32, size: u32) -> f32 {
    const BOUND: f32 = 16_777_216.0;
    let coordinate = if coordinate.is_finite() { coordinate } else { 0.0 };
    let within = if mode == Wrap::Repeat { coordinate - coordinate.floor() } else { coordinate };
    (within * size as f32).clamp(-BOUND, BOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of texels as OpenGL ES 2 section 3.7.7 has them, for an image of three.
    #[test]
    fn each_mode_continues_the_image_in_its_own_way() {
        let row = |mode| (-4..8).map(|position| wrap(mode, position, 3)).collect::<Vec<_>>();
        let texels = |row: [u32; 12]| row.map(Some).to_vec();
        assert_eq!(row(Wrap::Repeat), texels([2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]));
        assert_eq!(row(Wrap::Clamp), texels([0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]));
        assert_eq!(row(Wrap::Mirror), texels([2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]));
        let border = row(Wrap::Border);
        assert_eq!(border[3..8], [None, Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn wild_coordinates_stay_in_bounds() {
        for coordinate in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38] {
            for mode in [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::Border] {
                let scaled = scale(mode, coordinate, 2048);
                assert!(scaled.abs() <= 16_777_216.0, "{mode:?} {coordinate}: {scaled}");
            }
        }
        assert_eq!(scale(Wrap::Repeat, -0.25, 8), 6.0);
    }
}

//! Wrap modes: which texel replaces one outside of the image [AG p.41].

use v3d_hw::texture::Wrap;

/// The texel that replaces a position in the border.
pub(super) const BORDER: u32 = u32::MAX;

/// Positions are clamped to this many texels, so that integers can hold 256 times as much.
pub(super) const BOUND_TEXELS: f32 = 4_194_304.0;

/// One axis of a level, for the conversion of coordinates to texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// Wrap mode.
    pub(super) mode: Wrap,
    /// Texels that the coordinates 0 to 1 span.
    pub(super) size: u32,
    /// Texels before them: the offset of a child image.
    pub(super) offset: u32,
    /// The last texel of the level if the axis is reversed.
    pub(super) flipped_from: Option<u32>,
}

impl Axis {
    /// The position of a coordinate in texels, rounded down to 1/256.
    ///
    /// Repeated coordinates lose their integer part first, and so keep their precision. NaN counts as 0.
    pub(super) fn position(&self, coordinate: f32) -> i32 {
        let within = match self.mode {
            Wrap::Repeat => fraction(coordinate),
            _ => coordinate,
        };
        floor((within * self.size as f32).clamp(-BOUND_TEXELS, BOUND_TEXELS) * 256.0)
    }

    /// The column or row in memory of a texel; [`BORDER`] in the border.
    pub(super) fn texel(&self, position: i32) -> u32 {
        let size = self.size as i32;
        let within = if (0..size).contains(&position) { position as u32 } else { outside(self.mode, position, size) };
        match self.flipped_from {
            _ if within == BORDER => BORDER,
            Some(last) => last.saturating_sub(within + self.offset),
            None => within + self.offset,
        }
    }
}

/// The texel of an image of `size` texels that replaces one outside.
fn outside(mode: Wrap, position: i32, size: i32) -> u32 {
    match mode {
        Wrap::Repeat => position.rem_euclid(size) as u32,
        Wrap::Clamp => position.clamp(0, size - 1) as u32,
        Wrap::Mirror => {
            let within = position.rem_euclid(2 * size);
            (if within < size { within } else { 2 * size - 1 - within }) as u32
        }
        Wrap::Border => BORDER,
    }
}

/// The integer below, for numbers that fit a 32-bit integer.
fn floor(value: f32) -> i32 {
    let truncated = value as i32;
    truncated - i32::from(truncated as f32 > value)
}

/// The fraction.
fn fraction(value: f32) -> f32 {
    // From 2^23 on, floats have no fraction.
    if value.abs() < 8_388_608.0 { value - floor(value) as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(mode: Wrap, size: u32) -> Axis {
        Axis { mode, size, offset: 0, flipped_from: None }
    }

    /// Rows of texels by section 3.7.7 of OpenGL ES 2, for an image of three.
    #[test]
    fn each_mode_continues_the_image_in_its_own_way() {
        let row = |mode| (-4..8).map(|position| axis(mode, 3).texel(position)).collect::<Vec<_>>();
        assert_eq!(row(Wrap::Repeat), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(row(Wrap::Clamp), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(row(Wrap::Mirror), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
        assert_eq!(row(Wrap::Border)[3..8], [BORDER, 0, 1, 2, BORDER]);
    }

    #[test]
    fn wild_coordinates_stay_in_bounds() {
        for coordinate in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38, 1e7, -1e7] {
            for mode in [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror] {
                let axis = axis(mode, 2048);
                assert!(axis.texel(axis.position(coordinate) >> 8) < 2048, "{mode:?} {coordinate}");
            }
        }
        assert_eq!(axis(Wrap::Repeat, 8).position(-0.25), 6 * 256);
        assert_eq!(axis(Wrap::Clamp, 8).position(-0.25), -2 * 256);
    }

    #[test]
    fn floor_and_fraction_are_those_of_floats() {
        for value in [-2.5f32, -2.0, -0.1, 0.0, 0.1, 2.0, 2.9, 1_000_000.5] {
            assert_eq!(floor(value) as f32, value.floor());
            assert_eq!(fraction(value), value - value.floor());
        }
    }
}

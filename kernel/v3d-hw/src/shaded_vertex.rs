//! Shaded vertices: what PTB and PSE read from the VPM, and NV mode from memory [AG p.60-61, p.81].
//!
//! A vertex is a column of 32-bit words. The coordinate shader writes the clip header (Xc, Yc, Zc, Wc) in front of the screen
//! coordinates; the vertex shader leaves it out and appends the varyings. In NV mode vertices stand in memory in the vertex
//! shader's format, with the header in front if the shader record says so.
//!
//! Xs and Ys are signed 12.4 fixed point in pixels, relative to the viewport centre; all else is 32-bit float.

use crate::layout;

layout! {
    /// The word that holds both screen coordinates.
    pub struct ScreenXy: 32 bits "Ys, Xs" {
        /// Ys in 1/16 pixel, relative to the viewport centre.
        31:16 y: i16,
        /// Xs in 1/16 pixel, relative to the viewport centre.
        15:0 x: i16,
    }
}

/// The order of the words of one vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Clip coordinates Xc, Yc, Zc, Wc come first.
    pub clip_header: bool,
    /// The point size follows 1/Wc.
    pub point_size: bool,
}

impl Format {
    /// Word of Xc; Yc, Zc and Wc follow. Only with a clip header.
    pub const CLIP: u32 = 0;
    /// Words of the clip header.
    pub const CLIP_WORDS: u32 = 4;

    /// Word of Ys, Xs.
    pub const fn screen_xy(self) -> u32 {
        if self.clip_header { Self::CLIP_WORDS } else { 0 }
    }

    /// Word of Zs.
    pub const fn screen_z(self) -> u32 {
        self.screen_xy() + 1
    }

    /// Word of 1/Wc.
    pub const fn reciprocal_w(self) -> u32 {
        self.screen_xy() + 2
    }

    /// Word of the point size, if there is one.
    pub const fn point_size(self) -> Option<u32> {
        if self.point_size { Some(self.screen_xy() + 3) } else { None }
    }

    /// Word of the first varying: the number of words of a vertex without varyings.
    pub const fn varyings(self) -> u32 {
        self.screen_xy() + 3 + self.point_size as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The four columns of figure 12 [AG p.81], byte offsets as printed there.
    #[test]
    fn offsets_are_those_of_figure_12() {
        let bytes = |clip_header, point_size| {
            let format = Format { clip_header, point_size };
            [format.screen_xy(), format.screen_z(), format.reciprocal_w(), format.varyings()].map(|word| 4 * word)
        };
        assert_eq!(bytes(false, true), [0x00, 0x04, 0x08, 0x10]);
        assert_eq!(bytes(false, false), [0x00, 0x04, 0x08, 0x0c]);
        assert_eq!(bytes(true, true), [0x10, 0x14, 0x18, 0x20]);
        assert_eq!(bytes(true, false), [0x10, 0x14, 0x18, 0x1c]);
    }
}

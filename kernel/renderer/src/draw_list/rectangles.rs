//! Rectangles of pixels, and their corners as shaded vertices.

use v3d::draw_state::Viewport;
use v3d::hw::shaded_vertex::ScreenXy;

use crate::shaded_vertex::ShadedVertex;

/// Pixels of a picture: from the left and top edge to before the right and bottom one. 0 to 2048.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: u16,
    pub(super) top: u16,
    pub(super) right: u16,
    pub(super) bottom: u16,
}

impl Area {
    pub(super) const fn width(&self) -> u16 {
        self.right - self.left
    }

    pub(super) const fn height(&self) -> u16 {
        self.bottom - self.top
    }

    pub(super) const fn pixels(&self) -> usize {
        self.width() as usize * self.height() as usize
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// Left, right; top, bottom: in the order in which two triangles take them.
    fn corners(&self, viewport: &Viewport) -> [ScreenXy; 4] {
        let along = |pixels: u16, center: i16| {
            // 16 * 2048 is the most, and the centre of the largest target is half of that.
            (16 * i32::from(pixels) - i32::from(center)) as i16
        };
        let (left, right) = (along(self.left, viewport.center_x), along(self.right, viewport.center_x));
        let (top, bottom) = (along(self.top, viewport.center_y), along(self.bottom, viewport.center_y));
        [(left, top), (right, top), (left, bottom), (right, bottom)].map(|(x, y)| ScreenXy { x, y })
    }
}

/// The corners of a rectangle's two triangles.
const TRIANGLES: [usize; 6] = [0, 1, 2, 2, 1, 3];

/// A rectangle of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flat {
    pub(super) area: Area,
    pub(super) color: [u8; 3],
}

impl Flat {
    /// Becomes one with a rectangle that is drawn next, if that has the same colour and both are a rectangle together.
    pub(super) fn join(&mut self, next: &Self) -> bool {
        let (area, other) = (&mut self.area, &next.area);
        if self.color != next.color {
            return false;
        }
        if area.top == other.top
            && area.bottom == other.bottom
            && (area.right == other.left || area.left == other.right)
        {
            (area.left, area.right) = (area.left.min(other.left), area.right.max(other.right));
            return true;
        }
        if area.left == other.left
            && area.right == other.right
            && (area.bottom == other.top || area.top == other.bottom)
        {
            (area.top, area.bottom) = (area.top.min(other.top), area.bottom.max(other.bottom));
            return true;
        }
        false
    }

    /// Two triangles, all corners with the colour.
    pub(super) fn vertices(&self, viewport: &Viewport) -> [ShadedVertex<3>; 6] {
        let corners = self.area.corners(viewport);
        let varyings = self.color.map(|channel| f32::from(channel) / 255.0);
        TRIANGLES.map(|n| ShadedVertex { position: corners[n], depth: 0.0, reciprocal_w: 1.0, varyings })
    }
}

/// An image that stands on a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) area: Area,
    /// Column and row of its first texel.
    pub(super) texel: [u16; 2],
}

impl Placed {
    /// Two triangles, the corners with texture coordinates on a sheet of `width` by `height` texels.
    pub(super) fn vertices(&self, viewport: &Viewport, [width, height]: [u32; 2]) -> [ShadedVertex<2>; 6] {
        let corners = self.area.corners(viewport);
        let [left, top] = self.texel;
        let along = |texel: u16, size: u32| f32::from(texel) / size as f32;
        let (u, v) = (along(left, width), along(top, height));
        let (u_end, v_end) = (along(left + self.area.width(), width), along(top + self.area.height(), height));
        let coordinates = [[u, v], [u_end, v], [u, v_end], [u_end, v_end]];
        TRIANGLES.map(|n| ShadedVertex {
            position: corners[n],
            depth: 0.0,
            reciprocal_w: 1.0,
            varyings: coordinates[n],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn flat(left: u16, top: u16, right: u16, bottom: u16, red: u8) -> Flat {
        Flat { area: Area { left, top, right, bottom }, color: [red, 0, 0] }
    }

    #[test]
    fn only_rectangles_that_make_one_are_joined() {
        let base = flat(10, 20, 14, 22, 1);
        let joined = |next| {
            let mut both = base;
            both.join(&next).then_some(both)
        };
        assert_eq!(joined(flat(14, 20, 15, 22, 1)), Some(flat(10, 20, 15, 22, 1)), "to the right");
        assert_eq!(joined(flat(8, 20, 10, 22, 1)), Some(flat(8, 20, 14, 22, 1)), "to the left");
        assert_eq!(joined(flat(10, 22, 14, 23, 1)), Some(flat(10, 20, 14, 23, 1)), "below");
        assert_eq!(joined(flat(10, 0, 14, 20, 1)), Some(flat(10, 0, 14, 22, 1)), "above");
        assert_eq!(joined(flat(14, 20, 15, 22, 2)), None, "another colour");
        assert_eq!(joined(flat(15, 20, 16, 22, 1)), None, "a gap");
        assert_eq!(joined(flat(14, 20, 15, 21, 1)), None, "less high");
        assert_eq!(joined(flat(10, 22, 13, 23, 1)), None, "less wide");
    }
}

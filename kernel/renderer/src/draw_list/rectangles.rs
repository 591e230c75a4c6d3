//! Single-coloured rectangles, single pixels and images, and their vertices.
//!
//! A rectangle is four shaded vertices and six indices, which form two triangles; a pixel is a point of one vertex. Vertices are written directly as words,
//! because there can be many thousands in a frame.

use alloc::vec::Vec;
use v3d::draw_state::Viewport;

/// An area of a picture in pixels, 0 to 2048; `right` and `bottom` are exclusive.
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

    #[inline]
    pub(super) const fn is_pixel(&self) -> bool {
        self.width() == 1 && self.height() == 1
    }

    /// Extends the area by one pixel if that makes a longer row or column, and returns whether it did.
    #[inline]
    pub(super) const fn extend(&mut self, x: u16, y: u16) -> bool {
        if y == self.top && self.height() == 1 {
            if x == self.right {
                self.right += 1;
                return true;
            }
            if x + 1 == self.left {
                self.left -= 1;
                return true;
            }
        }
        if x == self.left && self.width() == 1 {
            if y == self.bottom {
                self.bottom += 1;
                return true;
            }
            if y + 1 == self.top {
                self.top -= 1;
                return true;
            }
        }
        false
    }

    /// Positions of the corners: top left, top right, bottom left, bottom right.
    #[inline]
    fn corners(&self, viewport: &Viewport) -> [u32; 4] {
        let (left, right) = (along(self.left, 0, viewport.center_x), along(self.right, 0, viewport.center_x));
        let (top, bottom) = (along(self.top, 0, viewport.center_y), along(self.bottom, 0, viewport.center_y));
        [place(left, top), place(right, top), place(left, bottom), place(right, bottom)]
    }
}

/// Sixteenths of a pixel from the viewport's centre. The greatest value is 16 * 2048, and the centre of the largest
/// target is half of that.
#[inline]
const fn along(pixels: u16, sixteenths: i32, center: i16) -> i16 {
    (16 * pixels as i32 + sixteenths - center as i32) as i16
}

/// The word of a [`ScreenXy`](v3d::hw::shaded_vertex::ScreenXy), in two instructions, which are faster than its general encoder.
#[inline]
const fn place(x: i16, y: i16) -> u32 {
    x as u16 as u32 | (y as u16 as u32) << 16
}

/// The vertices of a rectangle's two triangles.
const TRIANGLES: [u16; 6] = [0, 1, 2, 2, 1, 3];

/// An index buffer of two triangles per rectangle.
pub(super) fn indices(rectangles: usize) -> Vec<u8> {
    let of = |rectangle: usize| TRIANGLES.map(|corner| (4 * rectangle as u16 + corner).to_le_bytes());
    (0..rectangles).flat_map(of).flatten().collect()
}

/// Four vertices as words: position, depth 0, 1/Wc = 1, and the varyings of each corner.
#[inline]
fn vertices<const N: usize, const WORDS: usize>(places: [u32; 4], varyings: [[f32; N]; 4]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (vertex, (place, varyings)) in words.chunks_exact_mut(3 + N).zip(places.into_iter().zip(varyings)) {
        vertex[0] = place;
        vertex[2] = 1.0f32.to_bits();
        for (word, varying) in vertex[3..].iter_mut().zip(varyings) {
            *word = varying.to_bits();
        }
    }
    words
}

/// Words of a single-coloured rectangle: four vertices with one varying.
pub(super) const FLAT_WORDS: usize = 4 * 4;
/// Words of a pixel: one vertex with one varying.
pub(super) const POINT_WORDS: usize = 4;
/// Words of an image: four vertices with two varyings.
pub(super) const IMAGE_WORDS: usize = 4 * 5;

/// A single-coloured rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flat {
    pub(super) area: Area,
    /// Red in the lowest byte.
    pub(super) color: u32,
}

impl Flat {
    /// Merges with a rectangle that is drawn later, if both have the same colour and their union is a rectangle. Returns whether it did.
    #[inline]
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

    /// Whether the next rectangle overlaps it and has another colour.
    #[inline]
    pub(super) const fn hides(&self, next: &Self) -> bool {
        let (area, other) = (&self.area, &next.area);
        self.color != next.color
            && area.left < other.right
            && other.left < area.right
            && area.top < other.bottom
            && other.top < area.bottom
    }

    /// Four vertices of the rectangle's colour.
    #[inline]
    pub(super) fn vertices(&self, viewport: &Viewport) -> [u32; FLAT_WORDS] {
        const ONE: u32 = 1.0f32.to_bits();
        // A float represents 24 bits exactly.
        let color = (self.color as f32).to_bits();
        let [a, b, c, d] = self.area.corners(viewport);
        [a, 0, ONE, color, b, 0, ONE, color, c, 0, ONE, color, d, 0, ONE, color]
    }
}

/// A pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dot {
    /// 0 to 2047.
    pub(super) x: u16,
    pub(super) y: u16,
    /// Red in the lowest byte.
    pub(super) color: u32,
}

impl Dot {
    /// A point at the centre of the pixel.
    #[inline]
    pub(super) fn vertex(&self, viewport: &Viewport) -> [u32; POINT_WORDS] {
        let place = place(along(self.x, 8, viewport.center_x), along(self.y, 8, viewport.center_y));
        [place, 0, 1.0f32.to_bits(), (self.color as f32).to_bits()]
    }
}

/// An image that is on a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) area: Area,
    /// Column and row of its first texel.
    pub(super) texel: [u16; 2],
}

impl Placed {
    /// Four vertices with texture coordinates on a sheet of `width` by `height` texels.
    pub(super) fn vertices(&self, viewport: &Viewport, [width, height]: [u32; 2]) -> [u32; IMAGE_WORDS] {
        let [left, top] = self.texel;
        let along = |texel: u16, size: u32| f32::from(texel) / size as f32;
        let (u, v) = (along(left, width), along(top, height));
        let (u_end, v_end) = (along(left + self.area.width(), width), along(top + self.area.height(), height));
        vertices(self.area.corners(viewport), [[u, v], [u_end, v], [u, v_end], [u_end, v_end]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d::hw::Layout;
    use v3d::hw::shaded_vertex::ScreenXy;

    const fn flat(left: u16, top: u16, right: u16, bottom: u16, color: u32) -> Flat {
        Flat { area: Area { left, top, right, bottom }, color }
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

    #[test]
    fn pixels_make_a_row_or_a_column() {
        let extended = |(left, top, right, bottom): (u16, u16, u16, u16), x, y| {
            let mut area = Area { left, top, right, bottom };
            area.extend(x, y).then_some((area.left, area.top, area.right, area.bottom))
        };
        for (area, (x, y), expected) in [
            ((5, 5, 6, 6), (6, 5), Some((5, 5, 7, 6))),
            ((5, 5, 6, 6), (4, 5), Some((4, 5, 6, 6))),
            ((5, 5, 6, 6), (5, 6), Some((5, 5, 6, 7))),
            ((5, 5, 6, 6), (5, 4), Some((5, 4, 6, 6))),
            ((5, 5, 6, 6), (6, 6), None),
            ((5, 5, 6, 6), (5, 5), None),
            ((5, 5, 8, 6), (8, 5), Some((5, 5, 9, 6))),
            ((5, 5, 8, 6), (5, 6), None),
            ((5, 5, 6, 8), (6, 5), None),
            ((5, 5, 6, 8), (5, 8), Some((5, 5, 6, 9))),
            ((0, 0, 1, 1), (1, 1), None),
        ] {
            assert_eq!(extended(area, x, y), expected, "({x}, {y}) beside {area:?}");
        }
    }

    #[test]
    fn only_another_colour_hides() {
        let base = flat(10, 20, 14, 22, 1);
        assert!(base.hides(&flat(13, 21, 20, 30, 2)));
        assert!(!base.hides(&flat(13, 21, 20, 30, 1)), "the same colour");
        for beside in
            [flat(14, 20, 16, 22, 2), flat(8, 20, 10, 22, 2), flat(10, 22, 14, 23, 2), flat(10, 19, 14, 20, 2)]
        {
            assert!(!base.hides(&beside), "{beside:?}");
        }
    }

    #[test]
    fn places_are_the_hardware_s() {
        for x in (i16::MIN..=i16::MAX).step_by(257) {
            for y in (i16::MIN..=i16::MAX).step_by(263) {
                assert_eq!(Ok(place(x, y)), ScreenXy { x, y }.to_word());
            }
        }
    }

    #[test]
    fn vertices_are_what_the_hardware_reads() {
        let viewport = Viewport::display(64, 32);
        let words = flat(32, 16, 34, 17, 0x00c0_8040).vertices(&viewport);
        // The centre is at (32, 16); y is in the upper half.
        for (vertex, place) in words.chunks(4).zip([0, 32, 16 << 16, 16 << 16 | 32]) {
            assert_eq!(vertex, [place, 0, 1.0f32.to_bits(), 12_615_744.0f32.to_bits()]);
        }
        let dot = Dot { x: 33, y: 16, color: 0x00c0_8040 }.vertex(&viewport);
        assert_eq!(dot, [8 << 16 | 24, 0, 1.0f32.to_bits(), 12_615_744.0f32.to_bits()]);
        let image = Placed { area: Area { left: 32, top: 16, right: 34, bottom: 17 }, texel: [4, 6] };
        let words = image.vertices(&viewport, [16, 8]);
        let last = [16 << 16 | 32, 0, 1.0f32.to_bits(), 0.375f32.to_bits(), 0.875f32.to_bits()];
        assert_eq!(words[15..], last);
    }

    #[test]
    fn indices_make_two_triangles_of_four_corners() {
        let indices = indices(16_000);
        let found = |at: usize| u16::from_le_bytes([indices[2 * at], indices[2 * at + 1]]);
        assert_eq!(core::array::from_fn(found), [0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7]);
        assert_eq!((indices.len(), found(95_999)), (192_000, 63_999));
    }
}

//! Rectangles of pixels, and their corners as they stand in memory.
//!
//! A rectangle is four shaded vertices, of which indices make two triangles. They are written as words at once, because there are many.

use alloc::vec::Vec;
use v3d::draw_state::Viewport;
use v3d::hw::Layout;
use v3d::hw::shaded_vertex::ScreenXy;

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

    /// Places of the corners: top left, top right, bottom left, bottom right.
    fn corners(&self, viewport: &Viewport) -> [u32; 4] {
        // 16 * 2048 is the most, and the centre of the largest target is half of that.
        let along = |pixels: u16, center: i16| (16 * i32::from(pixels) - i32::from(center)) as i16;
        let (left, right) = (along(self.left, viewport.center_x), along(self.right, viewport.center_x));
        let (top, bottom) = (along(self.top, viewport.center_y), along(self.bottom, viewport.center_y));
        // Both halves are 16 bits wide: they always fit.
        [(left, top), (right, top), (left, bottom), (right, bottom)]
            .map(|(x, y)| ScreenXy { x, y }.to_word().unwrap_or(0))
    }
}

/// The corners of a rectangle's two triangles.
const TRIANGLES: [u16; 6] = [0, 1, 2, 2, 1, 3];

/// Indices that make triangles of rectangles, as bytes.
pub(super) fn indices(rectangles: usize) -> Vec<u8> {
    let of = |rectangle: usize| TRIANGLES.map(|corner| (4 * rectangle as u16 + corner).to_le_bytes());
    (0..rectangles).flat_map(of).flatten().collect()
}

/// Four vertices as words: place, depth 0, 1/Wc = 1, and the varyings of each corner.
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

/// Words of a rectangle of one colour: four vertices with one varying.
pub(super) const FLAT_WORDS: usize = 4 * 4;
/// Words of an image: four vertices with two varyings.
pub(super) const IMAGE_WORDS: usize = 4 * 5;

/// A rectangle of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flat {
    pub(super) area: Area,
    /// Red in the lowest byte.
    pub(super) color: u32,
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

    /// Four vertices, all with the colour.
    pub(super) fn vertices(&self, viewport: &Viewport) -> [u32; FLAT_WORDS] {
        // 24 bits: a float holds them all.
        vertices(self.area.corners(viewport), [[self.color as f32]; 4])
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
    fn vertices_are_what_the_hardware_reads() {
        let viewport = Viewport::display(64, 32);
        let words = flat(32, 16, 34, 17, 0x00c0_8040).vertices(&viewport);
        // The centre is at (32, 16); y is in the upper half.
        for (vertex, place) in words.chunks(4).zip([0, 32, 16 << 16, 16 << 16 | 32]) {
            assert_eq!(vertex, [place, 0, 1.0f32.to_bits(), 12_615_744.0f32.to_bits()]);
        }
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
